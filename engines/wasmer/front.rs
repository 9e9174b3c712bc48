//! Which of two programs serves a request. LLVM is in one of its own: what it takes of
//! memory, whether it compiles or not, would be counted for the other compilers too.

use std::convert::Infallible;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

use fathom_runner::record::protocol::{Job, Request};

/// The argument of a program that is to serve the request itself.
pub const SERVE: &str = "--serve";
/// Beside this program, where it was built with LLVM as well.
const WITH_LLVM: &str = "runner-llvm";

/// Goes on as the program for the request on standard input.
///
/// # Errors
/// Where that program cannot be started.
pub fn hand_over() -> io::Result<Infallible> {
    let mut request = Vec::new();
    io::stdin().lock().read_to_end(&mut request)?;
    let own = std::env::current_exe()?;
    let with_llvm = own.with_file_name(WITH_LLVM);
    let is_other = wants_llvm(&request) && with_llvm.exists();
    let program = if is_other { with_llvm } else { own };
    Err(Command::new(program)
        .arg(SERVE)
        .stdin(file_of(&request)?)
        .exec())
}

/// What is no request is for the program itself to refuse.
fn wants_llvm(request: &[u8]) -> bool {
    let settings = Request::parse(request).map(|request| match request.job {
        Job::Measure(measure) => measure.settings,
        Job::Probe(probe) => probe.settings,
    });
    settings.is_ok_and(|settings| settings.backend() == Some("llvm"))
}

/// A file without a name that holds the bytes.
fn file_of(bytes: &[u8]) -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("fathom-wasmer-{}", std::process::id()));
    let mut options = OpenOptions::new();
    let mut file = options
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    fs::remove_file(&path)?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}
