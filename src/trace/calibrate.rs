//! What looking costs on this machine: measured in front of each trace.
//!
//! ```text
//!  fathom trace --calls N   N times getppid: nanoseconds a call
//!     once as it is, once traced by a tracer of its own: the difference is the cost
//! ```

use std::process::{Command, ExitCode};
use std::time::Instant;

use fathom_trace::kernel::Tracer;
use fathom_trace::trace::Cost;

/// Calls of one measurement, in batches; a batch that was disturbed is left out by taking
/// the least.
const CALLS: u32 = 20_000;
const BATCHES: u32 = 10;

/// Makes so many calls and prints what one took, nanoseconds.
pub fn calls(count: u32) -> ExitCode {
    let batch = (count / BATCHES).max(1);
    let times = (0..BATCHES).map(|_| {
        let start = Instant::now();
        for _ in 0..batch {
            std::hint::black_box(rustix::process::getppid());
        }
        start.elapsed().as_nanos() as f64 / f64::from(batch)
    });
    println!("{:.1}", times.fold(f64::INFINITY, f64::min));
    ExitCode::SUCCESS
}

/// What it costs that a system call is traced; none where that cannot be found out. Nothing
/// else may be traced meanwhile.
pub fn kernel() -> Option<Cost> {
    let plain = call_ns()?;
    let tracer = Tracer::attach().ok()?;
    tracer.follow();
    let traced = call_ns()?;
    let kernel = tracer.answer().ok()?;
    let least_ns = kernel.by_name().get("getppid")?.times.mean_ns();
    Some(Cost {
        call_ns: (traced - plain).max(0.0),
        least_ns,
        plain_ns: Some(plain),
    })
}

fn call_ns() -> Option<f64> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    let output = command
        .args(["trace", "--calls", &CALLS.to_string()])
        .output();
    String::from_utf8(output.ok()?.stdout)
        .ok()?
        .trim()
        .parse()
        .ok()
}
