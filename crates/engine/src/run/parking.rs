//! Where threads wait at addresses: `memory.atomic.wait` and `notify`.
//!
//! ```text
//!  address ──hash──► SHARDS[..]: Mutex<[ waiter, waiter, … ]>   in order of arrival
//!                                          │
//!                       { key, woken, thread, interrupt }
//! ```
//!
//! A waiter compares the value and joins its shard's list under the shard's
//! lock, and whoever notifies takes waiters off it under that lock: a
//! notification after the comparison finds the waiter. It then sleeps by
//! `park`, whose token is set by `unpark` even before: no wake-up is lost, and
//! a token left over costs a turn of the loop.
//!
//! Keys are host addresses: one memory is at one address in every store, and
//! no two memories share any. A memory's store keeps it alive while its thread
//! waits, so that no key is reused meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::run::interrupt::Interrupt;

const SHARDS: usize = 64;
static TABLE: [Mutex<Vec<Arc<Waiter>>>; SHARDS] = [const { Mutex::new(Vec::new()) }; SHARDS];

/// A thread that waits.
struct Waiter {
    key: usize,
    thread: Thread,
    /// Set under the shard's lock by whoever took it off the list.
    woken: AtomicBool,
    interrupt: Option<Interrupt>,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// Notified.
    Woken,
    /// The value was not the expected one; nobody slept.
    NotEqual,
    /// The time is over.
    TimedOut,
    /// The store was told to stop.
    Interrupted,
}

fn shard(key: usize) -> MutexGuard<'static, Vec<Arc<Waiter>>> {
    // Neighbouring addresses spread over the shards.
    let hash = (key as u64 >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    lock(&TABLE[hash as usize % SHARDS])
}

/// No code panics while it holds a lock here; were one to, the list is still
/// one of waiters.
fn lock(shard: &Mutex<Vec<Arc<Waiter>>>) -> MutexGuard<'_, Vec<Arc<Waiter>>> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wait at `key` until notified, as long as `is_expected` holds at first, for
/// at most `timeout`, for ever without one.
pub(crate) fn wait(
    key: usize,
    is_expected: impl FnOnce() -> bool,
    timeout: Option<Duration>,
    interrupt: Option<&Interrupt>,
) -> Waited {
    // A deadline beyond what the clock can say is none.
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let mut waiters = shard(key);
    if !is_expected() {
        return Waited::NotEqual;
    }
    let waiter = Arc::new(Waiter {
        key,
        thread: thread::current(),
        woken: AtomicBool::new(false),
        interrupt: interrupt.cloned(),
    });
    waiters.push(Arc::clone(&waiter));
    drop(waiters);
    loop {
        if waiter.woken.load(Ordering::Acquire) {
            return Waited::Woken;
        }
        if interrupt.is_some_and(Interrupt::is_raised) {
            return leave(&waiter, Waited::Interrupted);
        }
        match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
            None => thread::park(),
            Some(Duration::ZERO) => return leave(&waiter, Waited::TimedOut),
            Some(left) => thread::park_timeout(left),
        }
    }
}

/// Take a waiter off its list, unless somebody was faster: then it was woken.
fn leave(waiter: &Arc<Waiter>, reason: Waited) -> Waited {
    let mut waiters = shard(waiter.key);
    match waiters.iter().position(|w| Arc::ptr_eq(w, waiter)) {
        Some(at) => {
            waiters.remove(at);
            reason
        }
        None => Waited::Woken,
    }
}

/// Wake at most `count` of those who wait at `key`, in the order in which they
/// came; how many there were.
pub(crate) fn notify(key: usize, count: u32) -> u32 {
    let mut woken = 0;
    shard(key).retain(|waiter| {
        if waiter.key != key || woken == count {
            return true;
        }
        woken += 1;
        waiter.woken.store(true, Ordering::Release);
        waiter.thread.unpark();
        false
    });
    woken
}

/// Have everybody who waits under `interrupt`, which is raised, look at it.
pub(crate) fn rouse(interrupt: &Interrupt) {
    for shard in &TABLE {
        for waiter in lock(shard).iter() {
            if waiter.interrupt.as_ref() == Some(interrupt) {
                waiter.thread.unpark();
            }
        }
    }
}
