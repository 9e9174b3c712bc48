//! Functions compiled ahead of their first calls, by threads that have nothing else to do.
//!
//! ```text
//!  f is called ──▶ what f calls ─────────────┐ the last first
//!                                            ├──▶ a thread ──▶ compiled, but not yet called
//!  g is compiled ahead ──▶ what g calls ─────┘ the first first, if nothing else is to do
//! ```
//!
//! What must stay true: nobody's result depends on it. A function that is compiled ahead is the
//! one that its first call would have had compiled; a thread that cannot be had is done without,
//! and so are those of the process that this one was forked of.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Threads of one module at most: what runs calls functions one after the other.
const THREADS_MAX: usize = 3;

/// How long a thread waits for more: in a process with a second thread each system call on a
/// descriptor takes longer ([`crate::Config::end_threads`]).
const PATIENCE: Duration = Duration::from_millis(10);

/// What is to be compiled ahead: functions by position.
pub(super) struct Ahead {
    shared: Arc<Shared>,
    /// The process that the threads are of.
    process: u32,
}

impl Default for Ahead {
    fn default() -> Ahead {
        Ahead {
            shared: Arc::default(),
            process: std::process::id(),
        }
    }
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    is_changed: Condvar,
}

#[derive(Default)]
struct Queue {
    /// Called by what was called.
    next: Vec<usize>,
    /// Called by what was compiled ahead.
    later: VecDeque<usize>,
    /// Threads there are, and how many of them wait.
    threads: usize,
    idle: usize,
    is_over: bool,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next function; nothing when it is over, or when there was none for long.
    fn take(&self) -> Option<usize> {
        let mut queue = self.queue();
        let mut is_late = false;
        loop {
            if !queue.is_over
                && let Some(position) = queue.next.pop().or_else(|| queue.later.pop_front())
            {
                return Some(position);
            }
            if queue.is_over || is_late {
                queue.threads -= 1;
                return None;
            }
            queue.idle += 1;
            let woken = self.is_changed.wait_timeout(queue, PATIENCE);
            let (again, timeout) = woken.unwrap_or_else(PoisonError::into_inner);
            (queue, is_late) = (again, timeout.timed_out());
            queue.idle -= 1;
        }
    }

    /// Do what there is to do, as one of the threads that there are.
    fn work(&self, compile: &dyn Fn(usize) -> Option<Vec<usize>>) {
        let _counted = Counted(self);
        while let Some(position) = self.take() {
            match compile(position) {
                Some(callees) => self.queue().later.extend(callees),
                // The module is gone.
                None => self.queue().is_over = true,
            }
        }
    }
}

/// A thread among those that there are. One that has nothing to do says so itself, before
/// anybody can count on it ([`Shared::take`]); for one that panics it is said here.
struct Counted<'a>(&'a Shared);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.queue().threads -= 1;
        }
    }
}

/// Processors that this process may run on, beside the one that it runs on.
pub(super) static SPARE_PROCESSORS: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(0, |all| all.get() - 1));

impl Ahead {
    /// Whether the threads are of this process and not of the one that it was forked of, whose
    /// locks nobody gives back here.
    pub fn is_here(&self) -> bool {
        self.process == std::process::id()
    }

    /// Have functions compiled, in this order, that one calls which was called just now. The
    /// threads do what `compile` returns, which says what the function calls that it has
    /// compiled, or nothing where its module is gone. False where there are no threads.
    pub fn push<C>(
        &self,
        callees: impl DoubleEndedIterator<Item = usize>,
        compile: impl Fn() -> C,
    ) -> bool
    where
        C: Fn(usize) -> Option<Vec<usize>> + Send + 'static,
    {
        let most = THREADS_MAX.min(*SPARE_PROCESSORS);
        if most == 0 || !self.is_here() {
            return false;
        }
        let mut queue = self.shared.queue();
        queue.next.extend(callees.rev());
        if queue.next.is_empty() {
            return true;
        }
        if queue.idle > 0 {
            self.shared.is_changed.notify_one();
        } else if queue.threads < most {
            let (shared, compile) = (self.shared.clone(), compile());
            let thread = thread::Builder::new().name("compile".to_owned());
            let spawned = thread.spawn(move || shared.work(&compile));
            queue.threads += usize::from(spawned.is_ok());
        }
        queue.threads > 0
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if self.is_here() {
            self.shared.queue().is_over = true;
            self.shared.is_changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn threads_are_counted_until_they_end() {
        let shared = Shared::default();
        let thread = |compile: &dyn Fn(usize) -> Option<Vec<usize>>| {
            shared.queue().threads += 1;
            let ended = catch_unwind(AssertUnwindSafe(|| shared.work(compile)));
            let queue = shared.queue();
            (ended.is_ok(), queue.threads, queue.next.len())
        };
        shared.queue().next = vec![1, 2, 3];
        assert_eq!(thread(&|_| panic!("the compiler")), (false, 0, 2));
        // Another does what is left.
        assert_eq!(thread(&|_| Some(Vec::new())), (true, 0, 0));
        shared.queue().next = vec![1];
        assert_eq!(thread(&|_| None), (true, 0, 0));
    }
}
