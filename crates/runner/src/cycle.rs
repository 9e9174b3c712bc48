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
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Condvar, Mutex, PoisonError},
    time::Instant,
};

use fathom_record::{INSTANCES_PER_CYCLE, Phase, Span, protocol::Iteration};
use fathom_sys::{pin::pin_thread, usage::thread_cpu_ns};

/// A program which can be run again and again, from several threads at once.
pub trait Program: Sync {
    /// What of the host an instance is given: its files, arguments, folders.
    type World;
    /// What one iteration works with.
    type Instance;
    /// Why an iteration failed.
    type Error: Send;

    /// Prepares what an instance is given of the host, with these files, before any clock
    /// starts: opening a folder is not the engine's time.
    ///
    /// # Errors
    /// Whatever cannot be given.
    fn enter(&self, streams: Streams) -> Result<Self::World, Self::Error>;

    /// Makes an instance in its world; what this costs is the instantiate phase.
    ///
    /// # Errors
    /// Whatever keeps it from being made.
    fn instantiate(&self, world: Self::World) -> Result<Self::Instance, Self::Error>;

    /// Makes an instance that has no files, of a program that imports nothing;
    /// `None` for other programs, or where this is not offered.
    fn instantiate_bare(&self) -> Option<Result<Self::Instance, Self::Error>> {
        None
    }

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

/// The files one iteration reads and writes, open before its clock starts.
#[derive(Debug)]
pub struct Streams {
    /// The program's standard input; empty if none.
    pub stdin: Option<File>,
    /// The program's standard output.
    pub stdout: File,
    /// The program's standard error.
    pub stderr: File,
}

impl Streams {
    fn open(stdin: Option<&Path>, stdout: &Path, stderr: &Path) -> Result<Streams, FileError> {
        let with = |path: &Path, opened: io::Result<File>| {
            opened.map_err(|source| FileError {
                path: path.to_owned(),
                source,
            })
        };
        Ok(Self {
            stdin: stdin.map(|path| with(path, File::open(path))).transpose()?,
            stdout: with(stdout, File::create(stdout))?,
            stderr: with(stderr, File::create(stderr))?,
        })
    }
}

/// A file of an iteration which cannot be opened.
#[derive(Debug)]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
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
    /// Threads that run the program at once, an instance each.
    pub threads: u32,
    /// The processors they are pinned to, in turn; not pinned if empty.
    pub cpus: Vec<u32>,
    /// Iterations before the counted ones.
    pub warmup: u32,
    /// Counted iterations per thread.
    pub iterations: u32,
    /// What each program reads; nothing if absent.
    pub stdin: Option<PathBuf>,
    /// The folder for what the programs print.
    pub scratch: PathBuf,
    /// Whether many instances in a row are timed as well.
    pub cycle: bool,
}

/// Why the loop ended early.
#[derive(Debug)]
pub enum CycleError<E> {
    /// A thread could not be pinned.
    Pin {
        /// The processor asked for.
        cpu: u32,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be opened.
    File(FileError),
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
    // On this thread: the kernel counts the uses of a descriptor in a process with two,
    // which native programs are not charged for.
    if laps.threads == 1 {
        return one_thread(program, laps, 0, &gate, &report);
    }
    let first_error = Mutex::new(None);
    std::thread::scope(|scope| {
        for thread in 0..laps.threads {
            let (gate, first_error, report) = (&gate, &first_error, &report);
            scope.spawn(move || {
                // A panic must not leave the others waiting at the gate.
                let abort = AbortOnDrop(gate);
                if let Err(error) = one_thread(program, laps, thread, gate, report) {
                    // Noted before the others are told (by `abort`, as this returns):
                    // what they run into then is a consequence.
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
        let lap = one_lap(program, laps, thread, index, counted);
        // Also the uncounted ones have a number: it names their files.
        index += 1;
        lap.map(report)
    };
    for _ in 0..laps.warmup {
        one(false)?;
    }
    // Who is warm first would run its counted iterations alone on the machine.
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
    laps: &Laps,
    thread: u32,
    index: u32,
    counted: bool,
) -> Result<Iteration, CycleError<P::Error>> {
    let path = |what: &str| laps.scratch.join(format!("{what}.{thread}.{index}"));
    let stdout = path("stdout");
    // Opened before any clock starts: a file system's time is not the engine's.
    let streams = Streams::open(laps.stdin.as_deref(), &stdout, &path("stderr"));
    let streams = streams.map_err(CycleError::File)?;
    let world = program.enter(streams).map_err(CycleError::Program)?;
    let (instance, instantiate) = timed(|| program.instantiate(world));
    let mut instance = instance.map_err(CycleError::Program)?;
    let (end, mut run) = timed(|| program.run(&mut instance));
    let end = end.map_err(CycleError::Program)?;
    let ((), teardown) = timed(|| program.teardown(instance));
    // A program in a process of its own used no time of this thread.
    run.cpu_ns = end.cpu_ns.or(run.cpu_ns);
    let mut phases = BTreeMap::from([
        (Phase::Instantiate, instantiate),
        (Phase::Run, run),
        (Phase::Teardown, teardown),
    ]);
    let mut exit = end.exit;
    if laps.cycle {
        let (last, span) = timed(|| many(program));
        if let Some(last) = last.map_err(CycleError::Program)? {
            exit = if exit == 0 { last } else { exit };
            phases.insert(Phase::Cycle, span);
        }
    }
    Ok(Iteration {
        thread,
        index,
        counted,
        phases,
        exit,
        stdout: Some(stdout),
    })
}

/// Instances one after the other; the first status that is not 0, or 0. Nothing
/// where they are not made without files.
fn many<P: Program>(program: &P) -> Result<Option<i32>, P::Error> {
    for _ in 0..INSTANCES_PER_CYCLE {
        let Some(instance) = program.instantiate_bare() else {
            return Ok(None);
        };
        let mut instance = instance?;
        let end = program.run(&mut instance)?;
        program.teardown(instance);
        if end.exit != 0 {
            return Ok(Some(end.exit));
        }
    }
    Ok(Some(0))
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

    /// "stdout.THREAD.INDEX", as the system knows the file.
    fn name_of(file: &File) -> String {
        use std::os::fd::AsRawFd;
        let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap();
        path.file_name().unwrap().to_string_lossy().into_owned()
    }

    impl Program for Fake {
        type World = File;
        type Instance = String;
        type Error = String;

        fn enter(&self, streams: Streams) -> Result<File, String> {
            Ok(streams.stdout)
        }

        fn instantiate(&self, stdout: File) -> Result<String, String> {
            Ok(name_of(&stdout))
        }

        fn instantiate_bare(&self) -> Option<Result<String, String>> {
            Some(Ok("bare".to_owned()))
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

    fn laps(threads: u32, scratch: &Path) -> Laps {
        let cpu = fathom_sys::pin::allowed_cpus().unwrap()[0];
        Laps {
            threads,
            cpus: vec![cpu as u32],
            warmup: 2,
            iterations: 3,
            stdin: None,
            scratch: scratch.to_owned(),
            cycle: false,
        }
    }

    type Recorded = (Vec<Iteration>, Result<(), CycleError<String>>);

    fn recorded(program: &Fake, threads: u32, change: impl Fn(&mut Laps)) -> Recorded {
        let folder = Scratch::new();
        let mut laps = laps(threads, &folder.0);
        change(&mut laps);
        let done = Mutex::new(Vec::new());
        let result = cycle(program, &laps, |lap| done.lock().unwrap().push(lap));
        (done.into_inner().unwrap(), result)
    }

    /// A folder for outputs, gone with the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new() -> Scratch {
            static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
            let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let name = format!("fathom-cycle-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::create_dir(&path).unwrap();
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn one_thread_warms_up_and_counts() {
        let (done, result) = recorded(&Fake { fails_at: None }, 1, |_| {});
        result.unwrap();
        let counted: Vec<_> = done.iter().map(|lap| (lap.index, lap.counted)).collect();
        assert_eq!(
            counted,
            [(0, false), (1, false), (2, true), (3, true), (4, true)]
        );
        assert!(done[0].stdout.as_ref().unwrap().ends_with("stdout.0.0"));
        assert_eq!(done[0].exit, 7);
    }

    #[test]
    fn all_are_warm_before_any_counts_and_all_stay_until_the_last_has_finished() {
        let (done, result) = recorded(&Fake { fails_at: None }, 2, |_| {});
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
    fn many_in_a_row_are_timed_where_that_is_asked_for() {
        let has_cycle = |lap: &Iteration| lap.phases.contains_key(&Phase::Cycle);
        for cycle in [false, true] {
            let (done, result) = recorded(&Fake { fails_at: None }, 1, |laps| laps.cycle = cycle);
            result.unwrap();
            assert!(done.iter().all(|lap| has_cycle(lap) == cycle));
        }
    }

    #[test]
    fn a_failure_ends_every_thread_and_is_reported_once() {
        for at in [0, 1, 3] {
            let (_, result) = recorded(&Fake { fails_at: Some(at) }, 3, |_| {});
            let Err(CycleError::Program(why)) = result else {
                panic!("{result:?}")
            };
            assert!(why.ends_with(&format!(".{at} failed")));
        }
    }

    #[test]
    fn an_absent_processor_is_an_error() {
        let fake = Fake { fails_at: None };
        let (_, result) = recorded(&fake, 2, |laps| laps.cpus.push(1023));
        assert!(matches!(result, Err(CycleError::Pin { cpu: 1023, .. })));
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error() {
        let fake = Fake { fails_at: None };
        let (_, result) = recorded(&fake, 2, |laps| laps.stdin = Some("/no/such".into()));
        assert!(
            matches!(&result, Err(CycleError::File(file)) if file.path == Path::new("/no/such"))
        );
    }
}
