//! Where handlers of signals run, and which signals a child is to ignore.
//!
//! A handler that was installed without `SA_ONSTACK` runs on whatever stack its thread is
//! on, and takes several kilobytes of it: more than a small stack of Wasm has left.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The highest number of a signal, and the bytes of a set of them, as the kernel has it.
const SIGNALS: libc::c_int = 64;
const SET_BYTES: usize = 8;

/// `struct kernel_sigaction` (x86-64 and what has a restorer).
#[repr(C)]
#[derive(Clone, Copy)]
struct Action {
    handler: usize,
    flags: libc::c_ulong,
    restorer: usize,
    mask: u64,
}

/// Have every handler that the process has by now run on the alternate stack of its
/// thread, where that has one. Nothing else of it is changed.
///
/// The kernel is asked itself: the C library does not say of the signals that it keeps for
/// its own. A handler that another thread installs at this very moment may be missed, and
/// so is one that is installed later.
///
/// # Errors
/// What `rt_sigaction(2)` says.
pub fn keep_off_small_stacks() -> io::Result<()> {
    if !cfg!(target_arch = "x86_64") {
        return Ok(());
    }
    for signal in 1..=SIGNALS {
        if signal == libc::SIGKILL || signal == libc::SIGSTOP {
            continue;
        }
        let mut action = Action {
            handler: libc::SIG_DFL,
            flags: 0,
            restorer: 0,
            mask: 0,
        };
        set(signal, std::ptr::null(), &mut action)?;
        let is_handled = action.handler != libc::SIG_DFL && action.handler != libc::SIG_IGN;
        let on_stack = libc::SA_ONSTACK as libc::c_ulong;
        if is_handled && action.flags & on_stack == 0 {
            action.flags |= on_stack;
            set(signal, &action, std::ptr::null_mut())?;
        }
    }
    Ok(())
}

fn set(signal: libc::c_int, new: *const Action, old: *mut Action) -> io::Result<()> {
    // SAFETY: both are null or point to what the kernel has here; what is installed is
    // what was, but for the stack that it runs on.
    let done = unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, new, old, SET_BYTES) };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Which of the signals that end a program were ignored at some moment: handlers of this
/// process become the default in a program that it executes, what it ignores stays ignored
/// (signal(7)). A process that handles such a signal later would undo what it was given.
pub struct Ignored(Vec<libc::c_int>);

impl Ignored {
    /// What is ignored now.
    pub fn now() -> Ignored {
        let ends = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];
        Ignored(
            ends.into_iter()
                .filter(|signal| is_ignored(*signal))
                .collect(),
        )
    }

    /// A program that is started by this command ignores it too.
    pub fn stay_so_in(self, command: &mut Command) {
        if self.0.is_empty() {
            return;
        }
        let ignore = move || {
            for signal in &self.0 {
                // SAFETY: signal(2) may be called between fork and exec (signal-safety(7)),
                // and no handler is named.
                unsafe { libc::signal(*signal, libc::SIG_IGN) };
            }
            Ok(())
        };
        // SAFETY: what runs in the child calls nothing but signal(2), and allocates nothing.
        unsafe { command.pre_exec(ignore) };
    }
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: only asks, and an action of zeroes is one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn handler(_: libc::c_int) {}

    fn flags(signal: libc::c_int) -> libc::c_int {
        // SAFETY: only asks.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action);
            action.sa_flags
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_handler_gets_the_alternate_stack_and_keeps_the_rest() {
        // SAFETY: a handler that does nothing, for a signal that nobody sends.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(libc::SIGUSR2, &action, std::ptr::null_mut());
        }
        assert_eq!(flags(libc::SIGUSR2) & libc::SA_ONSTACK, 0);
        keep_off_small_stacks().unwrap();
        let wanted = libc::SA_ONSTACK | libc::SA_RESTART;
        assert_eq!(flags(libc::SIGUSR2) & wanted, wanted);
    }
}
