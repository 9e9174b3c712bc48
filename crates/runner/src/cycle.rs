//! The measured loop: T pinned threads, each making an instance, running it
//! and letting it go, again and again ("Leaps and bounds", section 3.5).
//!
//! ```text
//! thread 0  warm-up │ counted counted counted │ uncounted …│
//! thread 1  warm-up …│ counted  counted  counted ──────────│ end
//!              gate ─┘            the last has finished ───┘
//! ```
//!
//! No thread begins its counted iterations before all are warm, and none
//! stops before all have finished theirs, so that each counted iteration has
//! the same company. A failure in one thread ends them all.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Condvar, Mutex, PoisonError},
    time::Instant,
};

use fathom_record::{Phase, Span, protocol::Iteration};
use fathom_sys::{pin::pin_thread, usage::thread_cpu_ns};

/// A program which can be run again and again, from several threads at once.
pub trait Program: Sync {
    /// What one iteration works with.
    type Instance;
    /// Why an iteration failed.
    type Error: Send;

    /// Makes an instance which reads and writes these files.
    ///
    /// # Errors
    /// Whatever keeps it from being made.
    fn instantiate(&self, streams: &Streams) -> Result<Self::Instance, Self::Error>;

    /// Runs it to its end.
    ///
    /// # Errors
    /// Whatever ends it other than its own exit.
    fn run(&self, instance: &mut Self::Instance) -> Result<RunEnd, Self::Error>;

    /// Lets it go; what this costs is the teardown phase.
    fn teardown(&self, instance: Self::Instance);
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// The program's exit status.
    pub exit: i32,
    /// Processor time, nanoseconds, where it was not spent on the calling
    /// thread (a program in a process of its own).
    pub cpu_ns: Option<u64>,
}

/// The files one iteration writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streams {
    /// The program's standard output.
    pub stdout: PathBuf,
    /// The program's standard error.
    pub stderr: PathBuf,
}

impl Streams {
    /// Those of one iteration of one thread, in a folder.
    pub fn of(scratch: &Path, thread: u32, index: u32) -> Self {
        Self {
            stdout: scratch.join(format!("stdout.{thread}.{index}")),
            stderr: scratch.join(format!("stderr.{thread}.{index}")),
        }
    }
}

/// Does something, and says what it took on this thread.
pub fn timed<R>(work: impl FnOnce() -> R) -> (R, Span) {
    timed_by(thread_cpu_ns, work)
}

/// Does something, and says what it took by the wall and by a processor clock.
pub fn timed_by<R>(cpu_ns: fn() -> u64, work: impl FnOnce() -> R) -> (R, Span) {
    let cpu = cpu_ns();
    let wall = Instant::now();
    let result = work();
    let wall_ns = u64::try_from(wall.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let cpu_ns = Some(cpu_ns() - cpu);
    (result, Span { wall_ns, cpu_ns })
}

/// How much is to be run, and where.
#[derive(Clone, Debug)]
pub struct Laps {
    /// How many threads.
    pub threads: u32,
    /// The processors they are pinned to, in turn; not pinned if empty.
    pub cpus: Vec<u32>,
    /// Iterations before the counted ones.
    pub warmup: u32,
    /// Counted iterations per thread.
    pub iterations: u32,
    /// Where outputs go.
    pub scratch: PathBuf,
}

/// Why the loop ended early.
#[derive(Debug)]
pub enum CycleError<E> {
    /// A thread could not be pinned.
    Pin {
        /// The processor asked for.
        cpu: u32,
        /// What the system said.
        source: std::io::Error,
    },
    /// The program failed.
    Program(E),
}

/// Runs the program on all its threads.
///
/// `report` is called outside the timed phases, from the measured threads.
///
/// # Errors
/// The first failure of any thread; the others stop after the iteration they
/// are in.
pub fn cycle<P: Program>(
    program: &P,
    laps: &Laps,
    report: impl Fn(Iteration) + Sync,
) -> Result<(), CycleError<P::Error>> {
    let gate = Gate::new(laps.threads as usize);
    let first_error = Mutex::new(None);
    std::thread::scope(|scope| {
        for thread in 0..laps.threads {
            let (gate, first_error, report) = (&gate, &first_error, &report);
            scope.spawn(move || {
                // A panic must not leave the others waiting at the gate.
                let abort = AbortOnDrop(gate);
                if let Err(error) = one_thread(program, laps, thread, gate, report) {
                    lock(first_error).get_or_insert(error);
                    return;
                }
                std::mem::forget(abort);
            });
        }
    });
    let first = first_error
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    first.map_or(Ok(()), Err)
}

fn one_thread<P: Program>(
    program: &P,
    laps: &Laps,
    thread: u32,
    gate: &Gate,
    report: &(impl Fn(Iteration) + Sync),
) -> Result<(), CycleError<P::Error>> {
    if !laps.cpus.is_empty() {
        let cpu = laps.cpus[thread as usize % laps.cpus.len()];
        pin_thread(cpu as usize).map_err(|source| CycleError::Pin { cpu, source })?;
    }
    let mut index = 0;
    let mut one = |counted: bool| {
        let lap = one_lap(program, &laps.scratch, thread, index, counted);
        index += 1;
        lap.map(report).map_err(CycleError::Program)
    };
    for _ in 0..laps.warmup {
        one(false)?;
    }
    gate.pass_together();
    for _ in 0..laps.iterations {
        if gate.aborted() {
            return Ok(());
        }
        one(true)?;
    }
    gate.finish();
    while !gate.all_finished() {
        one(false)?;
    }
    Ok(())
}

fn one_lap<P: Program>(
    program: &P,
    scratch: &Path,
    thread: u32,
    index: u32,
    counted: bool,
) -> Result<Iteration, P::Error> {
    let streams = Streams::of(scratch, thread, index);
    let (instance, instantiate) = timed(|| program.instantiate(&streams));
    let mut instance = instance?;
    let (end, mut run) = timed(|| program.run(&mut instance));
    let end = end?;
    let ((), teardown) = timed(|| program.teardown(instance));
    run.cpu_ns = end.cpu_ns.or(run.cpu_ns);
    Ok(Iteration {
        thread,
        index,
        counted,
        phases: BTreeMap::from([
            (Phase::Instantiate, instantiate),
            (Phase::Run, run),
            (Phase::Teardown, teardown),
        ]),
        exit: end.exit,
        stdout: Some(streams.stdout),
    })
}

/// Where the threads wait for each other, unless one of them has failed.
struct Gate {
    threads: usize,
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    warm: usize,
    finished: usize,
    aborted: bool,
}

impl Gate {
    fn new(threads: usize) -> Self {
        Self {
            threads,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Returns when every thread is here, or one has failed.
    fn pass_together(&self) {
        let mut state = lock(&self.state);
        state.warm += 1;
        self.changed.notify_all();
        while state.warm < self.threads && !state.aborted {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn finish(&self) {
        lock(&self.state).finished += 1;
    }

    fn all_finished(&self) -> bool {
        let state = lock(&self.state);
        state.finished >= self.threads || state.aborted
    }

    fn aborted(&self) -> bool {
        lock(&self.state).aborted
    }
}

struct AbortOnDrop<'a>(&'a Gate);

impl Drop for AbortOnDrop<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).aborted = true;
        self.0.changed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Thread 1 is slower; iteration `fails_at` of any thread fails.
    struct Fake {
        fails_at: Option<u32>,
    }

    impl Program for Fake {
        type Instance = String;
        type Error = String;

        fn instantiate(&self, streams: &Streams) -> Result<String, String> {
            Ok(streams
                .stdout
                .file_name()
                .unwrap()
                .to_string_lossy()
                .into_owned())
        }

        fn run(&self, instance: &mut String) -> Result<RunEnd, String> {
            if instance.starts_with("stdout.1.") {
                std::thread::sleep(Duration::from_millis(10));
            }
            if self
                .fails_at
                .is_some_and(|at| instance.ends_with(&format!(".{at}")))
            {
                return Err(format!("{instance} failed"));
            }
            Ok(RunEnd {
                exit: 7,
                cpu_ns: None,
            })
        }

        fn teardown(&self, _: String) {}
    }

    fn laps(threads: u32) -> Laps {
        let cpu = fathom_sys::pin::allowed_cpus().unwrap()[0];
        Laps {
            threads,
            cpus: vec![cpu as u32],
            warmup: 2,
            iterations: 3,
            scratch: PathBuf::from("/scratch"),
        }
    }

    fn recorded(program: &Fake, laps: &Laps) -> (Vec<Iteration>, Result<(), CycleError<String>>) {
        let done = Mutex::new(Vec::new());
        let result = cycle(program, laps, |lap| done.lock().unwrap().push(lap));
        (done.into_inner().unwrap(), result)
    }

    #[test]
    fn one_thread_warms_up_and_counts() {
        let (done, result) = recorded(&Fake { fails_at: None }, &laps(1));
        result.unwrap();
        let counted: Vec<_> = done.iter().map(|lap| (lap.index, lap.counted)).collect();
        assert_eq!(
            counted,
            [(0, false), (1, false), (2, true), (3, true), (4, true)]
        );
        assert_eq!(done[0].stdout, Some("/scratch/stdout.0.0".into()));
        assert_eq!(done[0].exit, 7);
    }

    #[test]
    fn all_are_warm_before_any_counts_and_all_stay_until_the_last_has_finished() {
        let (done, result) = recorded(&Fake { fails_at: None }, &laps(2));
        result.unwrap();
        let first_counted = done.iter().position(|lap| lap.counted).unwrap();
        let warm = done[..first_counted].iter();
        assert_eq!(warm.filter(|lap| lap.index < 2).count(), 4);
        // The fast one kept the slow one company.
        let last_counted = done.iter().rposition(|lap| lap.counted).unwrap();
        let company = |lap: &&Iteration| lap.thread == 0 && lap.index >= 5 && !lap.counted;
        assert!(done[..last_counted].iter().any(|lap| company(&lap)));
        assert_eq!(done.iter().filter(|lap| lap.counted).count(), 6);
    }

    #[test]
    fn a_failure_ends_every_thread_and_is_reported_once() {
        for at in [0, 1, 3] {
            let (_, result) = recorded(&Fake { fails_at: Some(at) }, &laps(3));
            let Err(CycleError::Program(why)) = result else {
                panic!("{result:?}")
            };
            assert!(why.ends_with(&format!(".{at} failed")));
        }
    }

    #[test]
    fn an_absent_processor_is_an_error() {
        let mut laps = laps(2);
        laps.cpus.push(1023);
        let (_, result) = recorded(&Fake { fails_at: None }, &laps);
        assert!(matches!(result, Err(CycleError::Pin { cpu: 1023, .. })));
    }
}
