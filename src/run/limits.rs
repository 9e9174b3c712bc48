//! What a program may take: of the host's memory by its quota, of time by a deadline.
//!
//! ```text
//!  Deadline::start ─► a thread that waits ── over in time ─► nothing
//!                       └─ time is up ─► Interrupt ─► the program's trap, with its place
//!                                          └─ nobody comes back ─► says so, ends the process
//! ```
//!
//! What must stay true: the program's code pays nothing for the deadline, and whatever
//! happens the process ends soon after it: while it compiles, in a loop, or in a call
//! of the host's.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fathom_engine::{Config, Interrupt, Quota, Trap, TrapCode};
use fathom_wasi::THREADS_MAX;

use super::code::bytes;
use super::say;

/// The exit status of a program whose time is up, as of timeout(1).
pub const TIMED_OUT: u8 = 124;

/// How long the program has to come back once its time is up.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a program may have: memory, tables, threads, fuel and time.
#[derive(clap::Args)]
pub struct Limits {
    /// End the program after this time, such as 500ms, 2s or 1m, with status 124; compiling
    /// counts
    #[arg(long, value_name = "DURATION", value_parser = crate::bench::args::duration)]
    timeout: Option<Duration>,

    /// End the program after N units of fuel: about one per instruction, the same on every
    /// machine. Host functions cost none. Code that counts fuel is slower
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,

    /// Largest total size of the program's memories, such as 512M [default: 4G]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    max_memory: Option<u64>,

    /// Largest number of tables [default: 10000]
    #[arg(long, value_name = "N")]
    max_tables: Option<u64>,

    /// Largest total number of table elements [default: 10000000]
    #[arg(long, value_name = "N")]
    max_table_elements: Option<u64>,

    /// Size of each continuation's first stack, such as 64K [default: 4K]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    continuation_stack: Option<u64>,

    /// Largest total size of the stacks of continuations, such as 4G [default: 1G]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    max_stacks: Option<u64>,

    /// Largest total size of the program's structures and arrays, such as 4G [default: 1G]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    max_heap: Option<u64>,

    /// Largest number of threads that run at the same time
    #[arg(long, value_name = "N", default_value_t = THREADS_MAX)]
    pub max_threads: usize,
}

impl Limits {
    /// What all stores of the program may have together.
    pub fn quota(&self) -> Quota {
        let default = Quota::default();
        Quota {
            memory_bytes: self.max_memory.unwrap_or(default.memory_bytes),
            tables: self.max_tables.unwrap_or(default.tables),
            table_elements: self.max_table_elements.unwrap_or(default.table_elements),
            stack_bytes: self.max_stacks.unwrap_or(default.stack_bytes),
            heap_bytes: self.max_heap.unwrap_or(default.heap_bytes),
            ..default
        }
    }

    /// The configuration with them.
    pub fn config(&self, config: Config) -> Config {
        let config = config.quota(self.quota());
        let config = match self.continuation_stack {
            Some(bytes) => config.continuation_stack(usize::try_from(bytes).unwrap_or(usize::MAX)),
            None => config,
        };
        match self.fuel {
            Some(fuel) => config.consume_fuel(true).initial_fuel(fuel),
            None => config,
        }
    }

    /// From now on the time runs.
    pub fn start(&self, file: &str) -> Deadline {
        let deadline = Deadline(Arc::new(Inner {
            file: file.to_owned(),
            after: self.timeout,
            interrupt: Interrupt::new(),
            is_up: AtomicBool::new(false),
            runs: AtomicBool::new(false),
            over: Mutex::new(false),
            changed: Condvar::new(),
        }));
        if let Some(after) = self.timeout {
            let watched = deadline.0.clone();
            let watch = move || watched.watch(Instant::now() + after);
            let thread = std::thread::Builder::new().name("deadline".to_owned());
            if let Err(error) = thread.spawn(watch) {
                say(&format!("fathom: --timeout: no thread for it: {error}"));
                process::exit(1);
            }
        }
        deadline
    }
}

/// When the program is to end.
pub struct Deadline(Arc<Inner>);

struct Inner {
    file: String,
    after: Option<Duration>,
    interrupt: Interrupt,
    is_up: AtomicBool,
    /// Whether it is compiled.
    runs: AtomicBool,
    /// Whether it ended.
    over: Mutex<bool>,
    changed: Condvar,
}

impl Deadline {
    /// What ends the program.
    pub fn interrupt(&self) -> &Interrupt {
        &self.0.interrupt
    }

    /// The program is compiled, and runs from now on.
    pub fn runs(&self) {
        self.0.runs.store(true, Ordering::SeqCst);
    }

    /// The program ended; what is to be said is said by the caller.
    pub fn over(&self) {
        *self.0.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }

    /// The line about a trap that this was the reason for, without the file's name.
    pub fn explain(&self, trap: &Trap) -> Option<String> {
        let is_ours = trap.code == TrapCode::Interrupted && self.0.is_up.load(Ordering::SeqCst);
        let after = self.0.after.filter(|_| is_ours)?;
        let place = trap.frames.first().map(|frame| format!(", in {frame}"));
        let place = place.unwrap_or_default();
        Some(format!("timeout: it ran for longer than {after:?}{place}"))
    }
}

impl Inner {
    fn watch(&self, end: Instant) {
        if self.is_over_by(end) {
            return;
        }
        self.is_up.store(true, Ordering::SeqCst);
        let last = Instant::now() + PATIENCE;
        self.interrupt.stop(PATIENCE);
        // Held while it is said: nobody else says anything after this.
        if self.is_over_by(last) {
            return;
        }
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        if !*over {
            let (file, after) = (&self.file, self.after.unwrap_or_default());
            let what = match self.runs.load(Ordering::SeqCst) {
                true => format!("it ran for longer than {after:?}, in a call of the host"),
                false => format!("it was compiled for longer than {after:?}"),
            };
            say(&format!("fathom: {file}: timeout: {what}"));
            process::exit(TIMED_OUT.into());
        }
    }

    /// Waits until then; whether the program is over.
    fn is_over_by(&self, then: Instant) -> bool {
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*over {
            let left = then.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(over, left);
            (over, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        true
    }
}
