//! What every long target is made of: seeds, a clock, progress, what is kept of a
//! failure, the closing line.
//!
//! ```text
//!  src/bin/NAME.rs:  Target::new("NAME", "modules", COUNT).configurations(N).run(|case| …)
//!
//!  NAME [--count N | --minutes N] [--from SEED] [--threads N]
//!    a worker each thread: seed ─► case ─► Ok, Err(difference) or a panic
//!    the clock:            progress to the terminal, the end of time, a case that hangs
//!    artifacts/NAME-SEED.txt, .wasm     what a difference was, and what showed it
//!    artifacts/NAME.running             the seeds in hand, for when the process dies
//!  NAME: 20000 modules, 11 configurations, 0 differences, from seed 0 [ran 18203]
//! ```
//!
//! What must stay true: a case depends on its seed alone, so that `--from SEED
//! --count 1` shows it again. The closing line is what `fuzz/run.py` reads.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(20);
/// Between two looks at the clock.
const TICK: Duration = Duration::from_millis(200);
/// How long a case may take unless its target says otherwise.
const CASE_LIMIT: Duration = Duration::from_secs(300);
/// So many times as long where it is not given the processor: on a loaded machine it
/// has not had its time.
const STARVED: u32 = 8;
/// Bytes of a thread's stack: those of a main thread.
const STACK_BYTES: usize = 8 << 20;
/// Differences after which nothing new is to be learned.
const MOST_DIFFERENCES: usize = 100;
/// Bytes of a thread's line in the list of seeds in hand.
const LINE_BYTES: usize = 21;
/// No seed in hand.
const IDLE: u64 = u64::MAX;

thread_local! {
    /// What this thread's last panic said.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}
/// What the last panic of any thread said: a compiler's worker passes its own on.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// A long target.
pub struct Target {
    name: &'static str,
    unit: &'static str,
    count: u64,
    configurations: usize,
    threads: usize,
    case_limit: Duration,
}

/// One seed's work.
pub struct Case<'t> {
    /// The seed: all that the case may depend on.
    pub seed: u64,
    kept: Vec<u8>,
    counts: &'t Mutex<BTreeMap<&'static str, u64>>,
}

impl Case<'_> {
    /// The module in hand: written beside a difference's description.
    pub fn keep(&mut self, module: &[u8]) {
        self.kept = module.to_vec();
    }

    /// Add to a number of the closing line, besides that of the cases.
    pub fn count(&self, what: &'static str, by: u64) {
        *locked(self.counts).entry(what).or_default() += by;
    }
}

/// What the workers and the clock share.
struct Shared {
    from: u64,
    next: AtomicU64,
    /// Where seeds end.
    end: u64,
    /// No new case is begun after it.
    deadline: Option<Instant>,
    stop: AtomicBool,
    done: AtomicU64,
    counts: Mutex<BTreeMap<&'static str, u64>>,
    differences: Mutex<Vec<String>>,
    in_hand: Vec<Mutex<InHand>>,
    running: File,
}

/// What a thread has in hand.
#[derive(Clone, Copy)]
struct InHand {
    seed: u64,
    since: Instant,
    /// Processor time of the process then.
    used: Duration,
}

impl InHand {
    fn now(seed: u64) -> InHand {
        InHand {
            seed,
            since: Instant::now(),
            used: processor_time(),
        }
    }

    /// Whether it has had more time than a case may take.
    fn is_over(&self, limit: Duration) -> bool {
        let waited = self.since.elapsed();
        let worked = processor_time().saturating_sub(self.used);
        self.seed != IDLE && waited > limit && (worked > limit / 2 || waited > limit * STARVED)
    }
}

/// Processor time of this process, of all its threads.
pub fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

impl Target {
    /// A target that runs `count` cases where no other number or time is asked for;
    /// `unit` is what a case is, in plural: `modules`.
    pub fn new(name: &'static str, unit: &'static str, count: u64) -> Target {
        Target {
            name,
            unit,
            count,
            configurations: 1,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            case_limit: CASE_LIMIT,
        }
    }

    /// In how many configurations each case is run, for the closing line.
    pub fn configurations(mut self, count: usize) -> Target {
        self.configurations = count;
        self
    }

    /// For cases that are about the whole process: signals, forks, limits.
    pub fn one_thread(mut self) -> Target {
        self.threads = 1;
        self
    }

    /// How long a case may take before it counts as one that does not end.
    pub fn case_limit(mut self, limit: Duration) -> Target {
        self.case_limit = limit;
        self
    }

    /// Run cases as the command line says. A case's error is a difference; so is a
    /// panic. Status 1 where there was one.
    pub fn run(self, one: impl Fn(&mut Case) -> Result<(), String> + Sync) -> ExitCode {
        let Options {
            count,
            minutes,
            from,
            threads,
        } = match asked(std::env::args().skip(1)) {
            Ok(Some(asked)) => asked,
            Ok(None) => {
                println!("{}", self.usage());
                return ExitCode::SUCCESS;
            }
            Err(wrong) => {
                eprintln!("{}: {wrong}\n{}", self.name, self.usage());
                return ExitCode::from(2);
            }
        };
        let most = if minutes.is_some() { IDLE } else { self.count };
        let threads = threads.map_or(self.threads, |n| n.clamp(1, self.threads));
        let now = Instant::now();
        fs::create_dir_all(artifacts()).expect("a folder for artifacts");
        let running = artifacts().join(format!("{}.running", self.name));
        let shared = Shared {
            from,
            next: AtomicU64::new(from),
            end: from.saturating_add(count.unwrap_or(most)),
            deadline: minutes.map(|minutes| now + Duration::from_secs_f64(60.0 * minutes)),
            stop: AtomicBool::new(false),
            done: AtomicU64::new(0),
            counts: Mutex::default(),
            differences: Mutex::default(),
            in_hand: (0..threads)
                .map(|_| Mutex::new(InHand::now(IDLE)))
                .collect(),
            running: File::create(&running).expect("a file for the seeds in hand"),
        };
        remember_panics();
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|thread| {
                    let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
                    let (target, shared, one) = (&self, &shared, &one);
                    let work = move || target.work(shared, thread, one);
                    builder.spawn_scoped(scope, work).expect("a thread")
                })
                .collect();
            self.watch(&shared, now, || {
                workers.iter().all(|worker| worker.is_finished())
            });
        });
        fs::remove_file(running).ok();
        match self.close(&shared) {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        }
    }

    fn usage(&self) -> String {
        format!(
            "usage: {} [--count N | --minutes N] [--from SEED] [--threads N]\n\
             {} {} from seed 0 unless it is said otherwise; see fuzz/README.md",
            self.name, self.count, self.unit
        )
    }

    fn work(&self, shared: &Shared, thread: usize, one: &impl Fn(&mut Case) -> Result<(), String>) {
        while !shared.is_over() {
            let seed = shared.next.fetch_add(1, Ordering::Relaxed);
            if seed >= shared.end {
                break;
            }
            shared.take(thread, seed);
            let mut case = Case {
                seed,
                kept: Vec::new(),
                counts: &shared.counts,
            };
            PANIC.take();
            let outcome = catch_unwind(AssertUnwindSafe(|| one(&mut case)));
            let said = || PANIC.take().unwrap_or_else(|| locked(&LAST_PANIC).clone());
            let outcome = outcome.unwrap_or_else(|_| Err(said()));
            shared.done.fetch_add(1, Ordering::Relaxed);
            if let Err(difference) = outcome {
                self.report(shared, seed, &difference, &case.kept);
            }
        }
        shared.take(thread, IDLE);
    }

    fn report(&self, shared: &Shared, seed: u64, difference: &str, module: &[u8]) {
        let line = format!("{} seed {seed}: {difference}", self.name);
        println!("{line}");
        let file = |extension| artifacts().join(format!("{}-{seed}.{extension}", self.name));
        let mut written = fs::write(file("txt"), format!("{line}\n"));
        if !module.is_empty() {
            written = written.and_then(|()| fs::write(file("wasm"), module));
        }
        if let Err(error) = written {
            eprintln!("seed {seed} is not kept: {error}");
        }
        let mut differences = locked(&shared.differences);
        differences.push(line);
        if differences.len() >= MOST_DIFFERENCES {
            shared.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Show progress until the workers have ended. A case that does not end, ends
    /// the process: there is no other way to take its thread back.
    fn watch(&self, shared: &Shared, began: Instant, ended: impl Fn() -> bool) {
        let mut last = began;
        while !ended() {
            std::thread::sleep(TICK);
            for cell in &shared.in_hand {
                let case = *locked(cell);
                if case.is_over(self.case_limit) {
                    let waited = case.since.elapsed().as_secs();
                    let said = format!("does not end in {waited} s");
                    self.report(shared, case.seed, &said, &[]);
                    self.close(shared);
                    std::process::exit(1);
                }
            }
            if last.elapsed() >= PROGRESS {
                last = Instant::now();
                eprintln!(
                    "{}: {} {} in {:.1} min, {} differences",
                    self.name,
                    shared.done.load(Ordering::Relaxed),
                    self.unit,
                    began.elapsed().as_secs_f64() / 60.0,
                    locked(&shared.differences).len()
                );
            }
        }
    }

    /// Print the closing line; whether there was no difference.
    fn close(&self, shared: &Shared) -> bool {
        let differences = locked(&shared.differences).len();
        let mut line = format!(
            "{}: {} {}, {} configurations, {differences} differences, from seed {}",
            self.name,
            shared.done.load(Ordering::Relaxed),
            self.unit,
            self.configurations,
            shared.from
        );
        let counts = locked(&shared.counts);
        let counts: Vec<String> = counts
            .iter()
            .map(|(what, n)| format!("{what} {n}"))
            .collect();
        if !counts.is_empty() {
            write!(line, " [{}]", counts.join(", ")).expect("a string takes it");
        }
        println!("{line}");
        differences == 0
    }
}

impl Shared {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// Write down what a thread has in hand.
    fn take(&self, thread: usize, seed: u64) {
        *locked(&self.in_hand[thread]) = InHand::now(seed);
        let shown = if seed == IDLE {
            String::new()
        } else {
            seed.to_string()
        };
        let line = format!("{shown:20}\n");
        // Without it a crash does not name its seed, and nothing else is lost.
        self.running
            .write_all_at(line.as_bytes(), (thread * LINE_BYTES) as u64)
            .ok();
    }
}

/// A lock that a panic has not made useless.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Where what failed is kept.
fn artifacts() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/artifacts"))
}

/// Have panics kept for the report of their case.
fn remember_panics() {
    std::panic::set_hook(Box::new(|info| {
        let said = info.payload_as_str().unwrap_or("nothing");
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let said = format!("panicked at {place}: {said}");
        locked(&LAST_PANIC).clone_from(&said);
        PANIC.set(Some(said));
    }));
}

/// What the command line asks for.
#[derive(Debug, Default, PartialEq)]
struct Options {
    count: Option<u64>,
    minutes: Option<f64>,
    from: u64,
    threads: Option<usize>,
}

/// Reads the words behind the program's name; `None` where they ask for help.
fn asked(mut words: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    fn number<T: FromStr>(name: &str, word: Option<String>) -> Result<T, String> {
        let word = word.unwrap_or_default();
        let wrong = |_| format!("{name} wants a number, not '{word}'");
        word.parse().map_err(wrong)
    }
    let mut asked = Options::default();
    while let Some(name) = words.next() {
        match name.as_str() {
            "--count" => asked.count = Some(number(&name, words.next())?),
            "--minutes" => asked.minutes = Some(number(&name, words.next())?),
            "--from" => asked.from = number(&name, words.next())?,
            "--threads" => asked.threads = Some(number(&name, words.next())?),
            "--help" | "-h" => return Ok(None),
            _ => return Err(format!("nothing is known of '{name}'")),
        }
    }
    Ok(Some(asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Option<Options>, String> {
        asked(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_command_line_is_read_whole() {
        let all = read("--count 3 --minutes 0.5 --from 7 --threads 2");
        let expected = Options {
            count: Some(3),
            minutes: Some(0.5),
            from: 7,
            threads: Some(2),
        };
        assert_eq!(all, Ok(Some(expected)));
        assert_eq!(read("--from 7 --help"), Ok(None));
    }

    #[test]
    fn what_is_not_known_is_an_error() {
        for line in [
            "--seed 3",
            "3",
            "--count",
            "--count x",
            "--minutes --from 3",
        ] {
            let wrong = read(line).expect_err(line);
            assert!(!wrong.contains('\n'), "{wrong}");
        }
    }
}
