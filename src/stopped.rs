//! What Ctrl-C and SIGTERM do to a command that has something to keep or to take away: it
//! ends in its own way, with the status that a shell gives to whoever died of SIGINT.

use std::{
    error::Error,
    fmt,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Context;

/// 128 and the number of SIGINT.
const STATUS: u8 = 130;

/// A command was told to stop and has nothing to show.
#[derive(Debug)]
pub struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped")
    }
}

impl Error for Stopped {}

/// The status of a command that was told to stop.
pub fn status() -> ExitCode {
    ExitCode::from(STATUS)
}

/// The status of a command that ended with this error.
pub fn status_of(error: &anyhow::Error) -> ExitCode {
    match error.is::<Stopped>() {
        true => status(),
        false => ExitCode::FAILURE,
    }
}

/// The flag which Ctrl-C and termination set. A second one ends us at once; children die
/// with us.
///
/// # Errors
/// The system refuses to tell of signals.
pub fn on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(STATUS));
        }
        crate::one_line::say_lines("\nstopping (Ctrl-C again ends at once)");
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(stop)
}
