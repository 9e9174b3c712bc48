//! Counts and times of a guest's calls, by function and thread, for those who ask.
//!
//! ```text
//!  add_to_linker           ── () ────► the call itself: nothing of this is compiled in
//!  add_to_linker_watched   ── Watch ─► clock, call, clock ─► this thread's table
//!                               └ calls() reads the tables of all threads
//! ```
//!
//! What must stay true: a call does the same, watched or not. A table is written by its
//! own thread alone, so a count is a load and a store; who reads it meanwhile sees each
//! number as it was at some time.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use fathom_engine::{Caller, Error};

use crate::bind::{NAMES, read_u32};

/// Buckets of a histogram of times: 0 ns, then a power of two each.
pub const WATCH_BUCKETS: usize = 40;
/// Error numbers end here.
const ERRNOS: usize = 77;

/// Sees the calls of every guest whose linker it was given to.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Watched>);

#[derive(Debug)]
struct Watched {
    tables: Mutex<Vec<Arc<Table>>>,
    /// Where each function says how many bytes went through it.
    moved: Vec<Option<Moved>>,
}

/// One thread's.
#[derive(Debug)]
struct Table(Vec<Row>);

#[derive(Debug)]
struct Row {
    results: [AtomicU64; ERRNOS + 1],
    bytes: AtomicU64,
    total_ns: AtomicU64,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
    buckets: [AtomicU64; WATCH_BUCKETS],
}

impl Default for Row {
    fn default() -> Row {
        Row {
            results: std::array::from_fn(|_| AtomicU64::new(0)),
            bytes: AtomicU64::new(0),
            total_ns: AtomicU64::new(0),
            min_ns: AtomicU64::new(u64::MAX),
            max_ns: AtomicU64::new(0),
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
        }
    }
}

/// What a function moved is in the argument of this number.
#[derive(Clone, Copy, Debug)]
enum Moved {
    /// The argument is the number.
    In(usize),
    /// The argument is the number's address.
    At(usize),
}

fn moved(name: &str) -> Option<Moved> {
    Some(match name {
        "fd_read" | "fd_write" => Moved::At(3),
        "fd_pread" | "fd_pwrite" | "fd_readdir" | "sock_recv" | "sock_send" => Moved::At(4),
        "path_readlink" => Moved::At(5),
        "random_get" => Moved::In(1),
        _ => return None,
    })
}

/// The calls of one function in one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedCalls {
    /// The function's name.
    pub name: &'static str,
    /// The thread's number, in the order of their first calls.
    pub thread: usize,
    /// Error numbers, 0 for success, and how often the function came to each; calls that
    /// ended the guest came to success.
    pub results: Vec<(u32, u64)>,
    /// Bytes that went through it, as it said itself.
    pub bytes: u64,
    /// Time in it, system calls included, nanoseconds.
    pub total_ns: u64,
    /// The shortest call.
    pub min_ns: u64,
    /// The longest call.
    pub max_ns: u64,
    /// Bucket 0: calls of 0 ns; bucket i: of 2^(i-1) ns to 2^i.
    pub buckets: [u64; WATCH_BUCKETS],
}

impl Default for Watch {
    fn default() -> Watch {
        Watch::new()
    }
}

impl Watch {
    /// One that has seen nothing.
    #[must_use]
    pub fn new() -> Watch {
        Watch(Arc::new(Watched {
            tables: Mutex::new(Vec::new()),
            moved: NAMES.iter().map(|name| moved(name)).collect(),
        }))
    }

    /// What was called so far.
    #[must_use]
    pub fn calls(&self) -> Vec<WatchedCalls> {
        let tables = self.0.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Vec::new();
        for (thread, table) in tables.iter().enumerate() {
            for (name, row) in NAMES.iter().zip(&table.0) {
                all.extend(row.read(name, thread));
            }
        }
        all
    }

    /// What watching takes, measured now: how much longer a call takes by it, and what part
    /// of that is in its times, nanoseconds. Nothing is counted.
    #[must_use]
    pub fn cost_ns() -> (f64, f64) {
        const CALLS: u32 = 20_000;
        let watch = Watch::new();
        let mut seen = 0;
        let begin = Instant::now();
        for _ in 0..CALLS {
            let start = Instant::now();
            let ns = std::hint::black_box(start).elapsed().as_nanos() as u64;
            watch.with_table(|table| table.0[0].add(0, 0, ns));
            seen += ns;
        }
        let whole = begin.elapsed().as_nanos() as f64;
        (whole / f64::from(CALLS), seen as f64 / f64::from(CALLS))
    }

    /// Does something with this thread's table.
    fn with_table(&self, then: impl FnOnce(&Table)) {
        type Own = Vec<(*const Watched, Arc<Table>)>;
        thread_local! {
            static OWN: RefCell<Own> = const { RefCell::new(Vec::new()) };
        }
        OWN.with_borrow_mut(|own| {
            let this = Arc::as_ptr(&self.0);
            // An address is used again when nobody but this table is left.
            let known = own
                .iter()
                .position(|(of, table)| *of == this && Arc::strong_count(table) > 1);
            let at = known.unwrap_or_else(|| {
                own.retain(|(_, table)| Arc::strong_count(table) > 1);
                let rows = NAMES.iter().map(|_| Row::default()).collect();
                let table = Arc::new(Table(rows));
                let mut tables = self.0.tables.lock().unwrap_or_else(PoisonError::into_inner);
                tables.push(table.clone());
                own.push((this, table));
                own.len() - 1
            });
            then(&own[at].1);
        });
    }
}

/// Adds to a number that no other thread writes.
fn add(to: &AtomicU64, amount: u64) {
    to.store(to.load(Relaxed).wrapping_add(amount), Relaxed);
}

impl Row {
    fn add(&self, errno: u32, bytes: u64, ns: u64) {
        add(&self.results[(errno as usize).min(ERRNOS)], 1);
        add(&self.bytes, bytes);
        add(&self.total_ns, ns);
        if ns < self.min_ns.load(Relaxed) {
            self.min_ns.store(ns, Relaxed);
        }
        if ns > self.max_ns.load(Relaxed) {
            self.max_ns.store(ns, Relaxed);
        }
        let bucket = (u64::BITS - ns.leading_zeros()) as usize;
        add(&self.buckets[bucket.min(WATCH_BUCKETS - 1)], 1);
    }

    /// Its numbers; none where it was not called.
    fn read(&self, name: &'static str, thread: usize) -> Option<WatchedCalls> {
        let results = (0..).zip(&self.results);
        let results = results.map(|(errno, count)| (errno, count.load(Relaxed)));
        let results: Vec<(u32, u64)> = results.filter(|(_, count)| *count > 0).collect();
        (!results.is_empty()).then(|| WatchedCalls {
            name,
            thread,
            results,
            bytes: self.bytes.load(Relaxed),
            total_ns: self.total_ns.load(Relaxed),
            min_ns: self.min_ns.load(Relaxed),
            max_ns: self.max_ns.load(Relaxed),
            buckets: std::array::from_fn(|at| self.buckets[at].load(Relaxed)),
        })
    }
}

/// What a function of the interface returns.
pub(crate) trait Outcome {
    /// As an error number.
    fn errno(&self) -> u32;
}

impl Outcome for u32 {
    fn errno(&self) -> u32 {
        *self
    }
}

impl Outcome for () {
    fn errno(&self) -> u32 {
        0
    }
}

/// Who stands around every call: nobody, or a [`Watch`].
pub(crate) trait Around: Clone + Send + Sync + 'static {
    /// Makes the call of the function of this number with these arguments.
    fn around<T, R: Outcome>(
        &self,
        function: usize,
        caller: &mut Caller<'_, T>,
        args: &[u64],
        call: impl FnOnce(&mut Caller<'_, T>) -> Result<R, Error>,
    ) -> Result<R, Error>;
}

impl Around for () {
    #[inline(always)]
    fn around<T, R: Outcome>(
        &self,
        _: usize,
        caller: &mut Caller<'_, T>,
        _: &[u64],
        call: impl FnOnce(&mut Caller<'_, T>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        call(caller)
    }
}

impl Around for Watch {
    fn around<T, R: Outcome>(
        &self,
        function: usize,
        caller: &mut Caller<'_, T>,
        args: &[u64],
        call: impl FnOnce(&mut Caller<'_, T>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let start = Instant::now();
        let outcome = call(caller);
        let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let errno = outcome.as_ref().map_or(0, Outcome::errno);
        let bytes = match self.0.moved[function].filter(|_| outcome.is_ok() && errno == 0) {
            None => 0,
            Some(Moved::In(arg)) => args[arg],
            // It was just written there.
            Some(Moved::At(arg)) => read_u32(caller, args[arg] as u32).unwrap_or(0).into(),
        };
        self.with_table(|table| table.0[function].add(errno, bytes, ns));
        outcome
    }
}
