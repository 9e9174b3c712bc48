//! Ends calls that take too long: one thread for all, which sleeps until the next deadline.
//!
//! A call that ended does not wake it: it looks once the time has come that it slept for, and
//! finds nothing. So it is woken at most once in the time of a deadline, however many calls
//! there are, and a call costs no system call.
//!
//! What must stay true: a call that has ended is not watched any more, so an interrupt is
//! raised for the call that it is about and no later one; the thread never sleeps beyond the
//! first deadline.

use std::{
    collections::BTreeMap,
    sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use fathom_engine::Interrupt;

/// How long a guest has to leave after it was told to: it can be in the engine's own code.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

type Key = (Instant, u64);

#[derive(Default)]
struct Watched {
    next: u64,
    calls: BTreeMap<Key, Interrupt>,
    /// When the thread looks by itself; never while it waits to be told.
    wakes: Option<Instant>,
}

static WATCHED: Mutex<Watched> = Mutex::new(Watched {
    next: 0,
    calls: BTreeMap::new(),
    wakes: None,
});
static SOONER: Condvar = Condvar::new();
static THREAD: LazyLock<std::io::Result<()>> = LazyLock::new(|| {
    let named = std::thread::Builder::new().name("deadlines".to_owned());
    named.spawn(watch).map(|_| ())
});

fn watched() -> MutexGuard<'static, Watched> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch() {
    let mut all = watched();
    loop {
        let now = Instant::now();
        let first = all.calls.first_key_value();
        all.wakes = first.map(|((at, _), _)| *at);
        all = match all.calls.first_entry() {
            None => SOONER.wait(all).unwrap_or_else(PoisonError::into_inner),
            Some(first) if first.key().0 <= now => {
                // Under the lock: whoever ends meanwhile waits, and is not reused before.
                first.remove().stop(PATIENCE);
                all
            }
            Some(first) => {
                let time = first.key().0 - now;
                let woken = SOONER.wait_timeout(all, time);
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
        };
    }
}

/// A call that is watched until this is dropped.
pub(crate) struct Deadline(Key);

impl Deadline {
    /// Raises `interrupt` after this time.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub(crate) fn after(time: Duration, interrupt: &Interrupt) -> Result<Deadline, String> {
        if let Err(error) = &*THREAD {
            return Err(format!("no thread to watch its deadline: {error}"));
        }
        let at = Instant::now() + time;
        let mut all = watched();
        let key = (at, all.next);
        all.next += 1;
        all.calls.insert(key, interrupt.clone());
        let is_sooner = all.wakes.is_none_or(|wakes| at < wakes);
        if is_sooner {
            all.wakes = Some(at);
        }
        drop(all);
        if is_sooner {
            SOONER.notify_one();
        }
        Ok(Deadline(key))
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        watched().calls.remove(&self.0);
    }
}
