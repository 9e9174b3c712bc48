//! Where handlers of signals run.
//!
//! A handler that was installed without `SA_ONSTACK` runs on whatever stack its thread is
//! on, and takes several kilobytes of it: more than a small stack of Wasm has left.

use std::io;

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
