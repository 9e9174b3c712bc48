//! Signals that end a program, handed on to the one that this process runs and waits for.
//!
//! ```text
//!  Ctrl-C on a terminal   the kernel tells all of its programs: nobody hands it on
//!  kill(2)                ─▶ this process ─▶ its program; a second time it is killed
//! ```
//!
//! What must stay true: what was ignored when this process began stays ignored, here and in
//! what it runs; a signal that comes before there is a program is handed on when there is
//! one.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

const SIGNALS: [libc::c_int; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];
/// `si_code` of a signal that the kernel sends by itself, as a terminal does.
const SI_KERNEL: libc::c_int = 0x80;

/// Who is told; 0 while there is nobody.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// The last signal that came; 0 before the first.
static LAST: AtomicI32 = AtomicI32::new(0);
/// Whether one came at all.
static IS_TOLD: AtomicBool = AtomicBool::new(false);
/// Whether one was sent by a process.
static IS_SENT: AtomicBool = AtomicBool::new(false);

/// From here on these signals do not end this process; those that it ignores stay ignored.
///
/// # Errors
/// What `sigaction(2)` says.
pub fn listen() -> io::Result<()> {
    for signal in SIGNALS {
        // SAFETY: actions of zeroes are actions; the handler takes what SA_SIGINFO gives, and
        // calls nothing but kill(2).
        let done = unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut before);
            if before.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = heard as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
            libc::sigaction(signal, &action, std::ptr::null_mut())
        };
        if done != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Whether a signal came.
pub fn is_told() -> &'static AtomicBool {
    &IS_TOLD
}

/// The last signal that came.
pub fn last() -> Option<i32> {
    match LAST.load(Ordering::SeqCst) {
        0 => None,
        signal => Some(signal),
    }
}

/// Signals are handed on to a child of this process until what this returns is dropped, which
/// must be before it has been waited for or right after.
pub fn to(pid: u32) -> HandedTo {
    PROGRAM.store(pid as i32, Ordering::SeqCst);
    if let Some(signal) = last() {
        send(signal);
    }
    HandedTo(())
}

/// Somebody signals are handed on to.
#[must_use]
pub struct HandedTo(());

impl Drop for HandedTo {
    fn drop(&mut self) {
        PROGRAM.store(0, Ordering::SeqCst);
    }
}

fn send(signal: libc::c_int) {
    let pid = PROGRAM.load(Ordering::SeqCst);
    if pid > 0 {
        // SAFETY: kill(2) may be called anywhere (signal-safety(7)).
        unsafe { libc::kill(pid, signal) };
    }
}

extern "C" fn heard(signal: libc::c_int, info: *const libc::siginfo_t, _: *const libc::c_void) {
    // SAFETY: errno is this thread's own; the kernel gives what SA_SIGINFO asks for.
    let (errno, code) = unsafe { (*libc::__errno_location(), (*info).si_code) };
    LAST.store(signal, Ordering::SeqCst);
    IS_TOLD.store(true, Ordering::SeqCst);
    if code != SI_KERNEL {
        let again = IS_SENT.swap(true, Ordering::SeqCst);
        send(if again { libc::SIGKILL } else { signal });
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}
