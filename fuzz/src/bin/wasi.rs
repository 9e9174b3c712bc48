//! Sequences of WASI calls, and the same by native system calls on a twin folder.

use std::process::ExitCode;

use fathom_fuzz::target::Target;
use fathom_fuzz::wasi::{Forwarder, sequence};

fn main() -> ExitCode {
    let forwarder = Forwarder::new();
    // One thread: the descriptors of the process are counted.
    Target::new("wasi", "sequences", 5_000)
        .one_thread()
        .run(|case| {
            let before = descriptors();
            let ran = sequence(&forwarder, case.seed)?;
            case.count("calls", ran.calls);
            case.count("without an error", ran.succeeded);
            match descriptors().checked_sub(before) {
                None | Some(0) => Ok(()),
                Some(lost) => Err(format!("{lost} descriptors of the host are lost")),
            }
        })
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}
