//! Stopping what runs in stores, from another thread.
//!
//! ```text
//!  raise: flag set ─► those who wait at an address look at it (`parking`)
//!                  └► a signal to each thread inside, whose handler
//!                       in compiled code: leaves to the catch point, as a trap does
//!                       elsewhere: moves the stack limit, for the next prologue
//! ```
//!
//! Compiled code pays nothing for it: there is no check in it. A signal that
//! meets host code is not acted upon before the next function call; so whoever waits for the
//! threads to end sends it again and again. Functions of the runtime that fill or copy much look
//! at the flag when they are done: a loop of nothing else may never be met in compiled code.
//! Host functions are never cut short: what they return is discarded for the
//! trap when they have returned. They see EINTR from system calls that wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fathom_sys::poke::{self, ThreadId};

use crate::run::parking;
use crate::run::store::StoreOpaque;

/// How long to wait between two signals to the same thread.
const POKE_EVERY: Duration = Duration::from_millis(1);

/// Ends what runs in the stores that it was given to, by the trap
/// "interrupted", and what would be run or instantiated in them later. Clones are the same one.
///
/// It is sent as SIGURG, which is ignored by default; a handler that was
/// installed before the first engine is called for signals that are not ours.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    raised: AtomicBool,
    /// Threads inside a store, once for each entry.
    running: Mutex<Vec<ThreadId>>,
}

impl PartialEq for Interrupt {
    fn eq(&self, other: &Interrupt) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Interrupt {}

impl Interrupt {
    /// Not raised yet.
    pub fn new() -> Interrupt {
        Interrupt::default()
    }

    /// Whether it was raised.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.raised.load(Ordering::SeqCst)
    }

    /// Raise it, until it is cleared. Does not wait: a thread in a loop that calls nothing
    /// may miss it, see [`Interrupt::stop`].
    pub fn raise(&self) {
        self.0.raised.store(true, Ordering::SeqCst);
        parking::rouse(self);
        for thread in self.running().iter() {
            poke::poke(*thread);
        }
    }

    /// Take it back, so that its stores can be entered again; false, and nothing is
    /// changed, while something still runs in one of them ([`Interrupt::stop`] waits
    /// for that).
    pub fn clear(&self) -> bool {
        let running = self.running();
        let is_over = running.is_empty();
        if is_over {
            self.0.raised.store(false, Ordering::SeqCst);
        }
        is_over
    }

    /// Raise it until nothing runs in the stores any more; false where that
    /// takes longer than `patience`, because a host function does not return.
    pub fn stop(&self, patience: Duration) -> bool {
        let start = Instant::now();
        loop {
            self.raise();
            if self.running().is_empty() {
                return true;
            }
            if start.elapsed() >= patience {
                return false;
            }
            std::thread::sleep(POKE_EVERY);
        }
    }

    /// Where a signal handler looks whether it was raised.
    pub(crate) fn flag(&self) -> *const AtomicBool {
        &raw const self.0.raised
    }

    /// Note that the calling thread enters a store, until what is returned is
    /// dropped. Whoever raises the interrupt later finds it; whether it was
    /// raised before is to be asked after this.
    pub(crate) fn enter(&self) -> Running {
        let thread = ThreadId::current();
        self.running().push(thread);
        Running {
            interrupt: self.clone(),
            thread,
        }
    }

    /// Nobody panics while holding it.
    fn running(&self) -> MutexGuard<'_, Vec<ThreadId>> {
        self.0
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// An entry into a store.
pub(crate) struct Running {
    interrupt: Interrupt,
    thread: ThreadId,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = self.interrupt.running();
        if let Some(at) = running.iter().rposition(|thread| *thread == self.thread) {
            running.swap_remove(at);
        }
    }
}

impl StoreOpaque {
    /// Whether what runs in the store is to end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(Interrupt::is_raised)
    }
}
