//! A signal to one thread of this process, to make it look up.

/// A thread of this process, as the kernel numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadId(libc::pid_t);

impl ThreadId {
    /// The calling thread.
    pub fn current() -> ThreadId {
        // SAFETY: takes no arguments, cannot fail (gettid(2)).
        ThreadId(unsafe { libc::gettid() })
    }
}

/// Send SIGURG to a thread; [`crate::fault`] hands it to the hook. Nothing
/// happens where the thread has ended; a later one of the same number gets a
/// signal that says nothing to it.
pub fn poke(thread: ThreadId) {
    // SAFETY: numbers only; a signal whose default action is to ignore it.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread.0, libc::SIGURG) };
}
