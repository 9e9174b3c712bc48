//! The end of a guest.
//!
//! A guest ends itself, never the process it runs in: `proc_exit` and a raised
//! signal that would kill a process both become the error [`ProcExit`], which
//! unwinds the guest as a trap does and carries the exit status.

use crate::errno::Errno;

/// The guest has ended with this status. Found by downcasting the engine's
/// host error; the embedder makes an exit status of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the program exited with status {0}")]
pub struct ProcExit(pub u32);

/// What a signal does.
enum Action {
    Ignore,
    /// End with the signal's number on Linux, as in `128 + n`.
    End(u32),
}

/// `proc_raise`. The guest can catch no signal, so each does what the
/// specification says it does by default.
///
/// # Errors
/// The outer error ends the guest. The inner one is `Errno::Inval` for an
/// unknown signal and `Errno::Notsup` for those that stop a process.
pub(crate) fn proc_raise(signal: u32) -> Result<Result<(), Errno>, ProcExit> {
    use Action::{End, Ignore};
    let action = match signal {
        // none, pipe, chld, cont, urg, winch
        0 | 13 | 16 | 17 | 22 | 27 => Ignore,
        1..=6 => End(signal),   // hup, int, quit, ill, trap, abrt
        7 => End(7),            // bus
        8..=12 => End(signal),  // fpe, kill, usr1, segv, usr2
        14 | 15 => End(signal), // alrm, term
        23 => End(24),          // xcpu
        24 => End(25),          // xfsz
        25 => End(26),          // vtalrm
        26 => End(27),          // prof
        28 => End(29),          // poll
        29 => End(30),          // pwr
        30 => End(31),          // sys
        18..=21 => return Ok(Err(Errno::Notsup)), // stop, tstp, ttin, ttou
        _ => return Ok(Err(Errno::Inval)),
    };
    match action {
        Ignore => Ok(Ok(())),
        End(number) => Err(ProcExit(128 + number)),
    }
}

/// `sched_yield`.
pub(crate) fn sched_yield() {
    rustix::thread::sched_yield();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_do_what_they_do_by_default() {
        assert_eq!(proc_raise(0), Ok(Ok(())));
        assert_eq!(proc_raise(6), Err(ProcExit(134)));
        assert_eq!(proc_raise(11), Err(ProcExit(139)));
        assert_eq!(proc_raise(18), Ok(Err(Errno::Notsup)));
        assert_eq!(proc_raise(31), Ok(Err(Errno::Inval)));
    }
}
