//! Instructions of one iteration, counted: a driver that asks another one twice under a counter,
//! and says by what the longer answer was more.
//!
//! ```text
//!  start, compile, warm-up, 1 iteration       ─ counter ─▶ instructions
//!  start, compile, warm-up, 1 + n iterations  ─ counter ─▶ instructions
//!                                       difference / n: those of one iteration
//! ```
//!
//! No engine takes part, so each is counted alike: what one iteration takes, its instance made,
//! run and dropped, of all threads and, where programs are processes, of these. What differs
//! between two starts of one engine (hashes with random keys, threads that compile) stays in
//! the difference, so n is as large as makes it small. Where each iteration is a process
//! and the counter tells processes apart, theirs alone are counted, which have no start beside
//! them.
//!
//! The engine is asked once without the counter before: what it says of itself is in force where
//! nobody looks on, and a program that does not run is not the counter's fault.
//!
//! What must stay true: no time is taken meanwhile. Whoever counts slows a program down some
//! fifty times, and its phases are left out of the answer.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::AtomicBool,
    time::Duration,
};

use fathom_record::{
    FailureKind, Metric,
    protocol::{COUNT_ENV, Job, Measure, Request},
};
use fathom_sys::{perf, regular};

use crate::{
    driver::{Conversation, DriveError, Driver, Outside, ProcessDriver},
    plan::EMPTY,
    session::scratch,
};

/// The difference is to be so many times what a start takes: two starts differ by up to 0.3 %.
const STARTS: u64 = 8;
/// And at least this many instructions.
const LEAST: u64 = 50_000_000;
/// Lines at the head of a file of callgrind's.
const HEAD_LINES: usize = 16;
/// Iterations that are counted at most: each has files of its own.
const ITERATIONS_MAX: u64 = 4_000;

/// Programs that runners start before the first iteration, which would take minutes.
const COMPILERS: &str = "*/cc,*/gcc*,*/clang*,*/zig*";

/// How instructions are counted on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counter {
    /// By the processor, which `perf` asks.
    Processor,
    /// By callgrind, which runs each instruction in software; its version.
    Callgrind(String),
}

impl Counter {
    /// The one there is: the processor's own, else callgrind.
    ///
    /// # Errors
    /// One line why there is none, and what to do about it.
    pub fn find() -> Result<Counter, String> {
        let no_counters = match perf::hardware_counters() {
            Ok(()) if has_perf() => return Ok(Counter::Processor),
            Ok(()) => "they are read by perf, which is missing".to_owned(),
            Err(why) => why,
        };
        match first_line("valgrind", &["--version"]) {
            Some(version) => Ok(Counter::Callgrind(version)),
            None => Err(format!(
                "instructions cannot be counted: by the processor: {no_counters}; by callgrind: \
                 no valgrind here (Debian: apt-get install valgrind)"
            )),
        }
    }

    /// What a report says of it.
    pub fn how(&self) -> String {
        match self {
            Counter::Processor => "the processor's counter, user mode (perf stat)".to_owned(),
            Counter::Callgrind(version) => format!("callgrind of {version}"),
        }
    }

    /// Whether it cannot run an engine that [`EngineSpec::uncounted`] says something of.
    ///
    /// [`EngineSpec::uncounted`]: crate::engines::EngineSpec::uncounted
    pub fn is_software(&self) -> bool {
        matches!(self, Counter::Callgrind(_))
    }

    /// Whether what the programs of this runner take is counted without what it takes itself.
    fn tells_apart(&self, runner: &ProcessDriver) -> bool {
        self.is_software() && runner.starts_processes()
    }

    /// What starts a runner, such that what is counted is in a folder.
    fn starter(&self, folder: &Path) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["env".into(), format!("{COUNT_ENV}=1").into()];
        let at = |option: &str, name: &str| {
            let mut word = OsString::from(option);
            word.push(folder.join(name));
            word
        };
        match self {
            Counter::Processor => {
                words.extend(["perf", "stat", "-x,", "-e", "instructions:u"].map(OsString::from));
                words.push(at("--output=", "perf"));
                words.push("--".into());
            }
            Counter::Callgrind(_) => {
                // Engines turn faults into traps by where they were: the program counter is
                // exact at each access to memory, and their code may change.
                words.extend(
                    [
                        "valgrind",
                        "--tool=callgrind",
                        "--quiet",
                        "--vgdb=no",
                        "--px-default=unwindregs-at-mem-access",
                        "--smc-check=all-non-file",
                        "--trace-children=yes",
                    ]
                    .map(OsString::from),
                );
                words.push(format!("--trace-children-skip={COMPILERS}").into());
                words.push(at("--log-file=", "log.%p"));
                words.push(at("--callgrind-out-file=", "out.%p"));
            }
        }
        words
    }

    /// What was counted, of all processes; of those of its programs alone where this runner
    /// starts one for each iteration and the counter tells them apart.
    fn counted(&self, folder: &Path, runner: &ProcessDriver) -> Option<u64> {
        let files = fs::read_dir(folder).ok()?.flatten().map(|file| file.path());
        let (name, read): (_, fn(&str) -> Option<u64>) = match self {
            Counter::Processor => ("perf", of_perf),
            Counter::Callgrind(_) => ("out.", of_callgrind),
        };
        let is_it = |path: &PathBuf| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            file.starts_with(name)
        };
        let texts = files
            .filter(is_it)
            .map(|path| regular::read_to_string(&path).ok());
        let mut texts: Vec<String> = texts.collect::<Option<_>>()?;
        if self.tells_apart(runner) {
            let own = runner.command().join(" ");
            let all = texts.len();
            texts.retain(|text| command_of(text) != Some(&own));
            if texts.len() + 1 != all {
                return None;
            }
        }
        let each: Vec<u64> = texts.iter().map(|text| read(text)).collect::<Option<_>>()?;
        (!each.is_empty()).then(|| each.iter().sum())
    }
}

/// How many more iterations are counted where one takes so much: what scatters is the start
/// beside them, so those of a long program need not be many.
fn repetitions(start: u64, one: u64, least: u64) -> u64 {
    let wanted = start.saturating_mul(STARTS).max(least);
    wanted.div_ceil(one.max(1)).clamp(1, ITERATIONS_MAX)
}

/// The command that a file of callgrind's is about.
fn command_of(text: &str) -> Option<&str> {
    let mut head = text.lines().take(HEAD_LINES);
    let command = head.find_map(|line| line.strip_prefix("cmd:"))?;
    Some(command.trim_start())
}

fn has_perf() -> bool {
    let words = ["stat", "-e", "instructions:u", "--", "true"];
    let mut command = Command::new("perf");
    command.args(words).stdin(Stdio::null());
    command.output().is_ok_and(|output| output.status.success())
}

fn first_line(program: &str, args: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    let output = command.args(args).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}

/// The total of a file of callgrind's: its last.
fn of_callgrind(text: &str) -> Option<u64> {
    let total = |line: &str| line.strip_prefix("totals:")?.trim().parse().ok();
    text.lines().rev().find_map(total)
}

/// The count in a line of `perf stat -x,`: `COUNT,,instructions:u,…`.
fn of_perf(text: &str) -> Option<u64> {
    let count = |line: &str| {
        let (count, rest) = line.split_once(',')?;
        let is_it = rest.contains("instructions");
        is_it.then(|| count.parse().ok()).flatten()
    };
    text.lines().find_map(count)
}

/// A driver whose answers have the instructions of an iteration, and no times.
pub struct CountingDriver {
    driver: ProcessDriver,
    counter: Counter,
}

/// One answer under the counter.
struct Counted {
    conversation: Conversation,
    instructions: u64,
}

impl CountingDriver {
    /// Counts what this one starts.
    pub fn new(driver: ProcessDriver, counter: Counter) -> CountingDriver {
        CountingDriver { driver, counter }
    }

    fn count(
        &self,
        measure: &Measure,
        iterations: u64,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<Counted, DriveError> {
        let io = |what: &str| DriveError::failed(FailureKind::Io, what);
        let folder = scratch()?;
        let starter = self.counter.starter(folder.path());
        let request = Request::from(Measure {
            iterations: u32::try_from(iterations).unwrap_or(u32::MAX),
            ..measure.clone()
        });
        let conversation = self.driver.under(&starter).ask(&request, limit, stop)?;
        // The next one begins with an empty folder, too.
        let given = measure.scratch.join(EMPTY);
        if given.is_dir() {
            let emptied = fs::remove_dir_all(&given).and_then(|()| fs::create_dir(&given));
            emptied.map_err(|_| io("its folder cannot be emptied"))?;
        }
        let instructions = self.counter.counted(folder.path(), &self.driver);
        let instructions =
            instructions.ok_or_else(|| io("the counter left no count, or not whose it is"))?;
        Ok(Counted {
            conversation,
            instructions,
        })
    }

    fn measure(
        &self,
        measure: &Measure,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<Conversation, DriveError> {
        let first = u64::from(measure.iterations);
        let few = self.count(measure, first, limit, stop)?;
        let more_by = |more: u64| -> Result<u64, DriveError> {
            let many = self.count(measure, first + more, limit, stop)?;
            Ok(many.instructions.saturating_sub(few.instructions))
        };
        let mut difference = more_by(1)?;
        let before = first + u64::from(measure.warmup);
        let iterations = before.saturating_mul(difference);
        let start = few.instructions.saturating_sub(iterations);
        let least = match self.counter.tells_apart(&self.driver) {
            true => 0,
            false => LEAST,
        };
        let more = repetitions(start, difference, least);
        if more > 1 {
            difference = more_by(more)?;
        }
        let mut answer = few.conversation;
        answer.phases.clear();
        answer.outside = Outside::default();
        answer
            .metrics
            .retain(|metric, _| *metric == Metric::CodeBytes);
        answer.metrics.insert(
            Metric::Instructions,
            (difference as f64 / more as f64).round() as u64,
        );
        Ok(answer)
    }
}

impl Driver for CountingDriver {
    fn command(&self) -> Vec<String> {
        self.driver.command()
    }

    fn ask(
        &mut self,
        request: &Request,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<Conversation, DriveError> {
        let Job::Measure(measure) = &request.job else {
            return self.driver.ask(request, limit, stop);
        };
        // What an engine says of itself, and whether the program runs on it at all.
        let plain = self.driver.ask(request, limit, stop)?;
        match self.measure(measure, limit, stop) {
            Ok(counted) => Ok(Conversation {
                hello: plain.hello,
                ..counted
            }),
            Err(DriveError::Failed { kind, message }) => Err(DriveError::Failed {
                kind,
                message: format!("runs, but not while it is counted: {message}"),
            }),
            Err(DriveError::Stopped) => Err(DriveError::Stopped),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_both_counters_are_read() {
        let callgrind = "version: 1\nsummary: 12\n\nfn=(1) f\n1 12\n\ntotals: 160128019\n";
        assert_eq!(of_callgrind(callgrind), Some(160_128_019));
        assert_eq!(of_callgrind("version: 1\n"), None);
        let perf = "# started on Fri\n\n1234567,,instructions:u,1000000,100.00,,\n";
        assert_eq!(of_perf(perf), Some(1_234_567));
        assert_eq!(
            of_perf("<not supported>,,instructions:u,0,100.00,,\n"),
            None
        );
    }

    #[test]
    fn a_long_program_is_not_repeated_for_its_own_length() {
        // A start of 10 million and an iteration of 900 million.
        assert_eq!(repetitions(10_000_000, 900_000_000, LEAST), 1);
        // Iterations that a start outweighs are counted until they are eight starts.
        assert_eq!(repetitions(100_000_000, 1_000_000, LEAST), 800);
        // No start beside them; an iteration that took nothing.
        assert_eq!(repetitions(0, 1_000_000, LEAST), 50);
        assert_eq!(repetitions(0, 100_000, 0), 1);
        assert_eq!(repetitions(100_000_000, 0, LEAST), ITERATIONS_MAX);
    }

    #[test]
    fn programs_that_are_processes_are_counted_without_their_runner() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            (
                "out.1",
                "version: 1\npid: 1\ncmd:  /bin/fathom runner native\ntotals: 90\n",
            ),
            (
                "out.2",
                "version: 1\npid: 2\ncmd:  /tmp/gemm 7\ntotals: 4\n",
            ),
            (
                "out.3",
                "version: 1\npid: 3\ncmd:  /tmp/gemm 7\ntotals: 5\n",
            ),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let counter = Counter::Callgrind("valgrind-3".to_owned());
        let native = ProcessDriver::new("/bin/fathom", ["runner", "native"]);
        assert_eq!(counter.counted(folder.path(), &native), Some(9));
        // An engine that happens to start something else: all of it is its own.
        let engine = ProcessDriver::new("/bin/fathom", ["runner", "fathom"]);
        assert_eq!(counter.counted(folder.path(), &engine), Some(99));
        assert!(!Counter::Processor.tells_apart(&native));
        // Whose count is the runner's is not known: none is better than one that is too high.
        fs::remove_file(folder.path().join("out.1")).unwrap();
        assert_eq!(counter.counted(folder.path(), &native), None);
    }

    #[test]
    fn each_process_is_in_the_sum_and_none_may_be_unread() {
        let folder = tempfile::tempdir().unwrap();
        let counter = Counter::Callgrind("valgrind-3".to_owned());
        let engine = ProcessDriver::new("/bin/engine", ["serve"]);
        assert_eq!(counter.counted(folder.path(), &engine), None);
        for (name, text) in [
            ("out.1", "totals: 5\n"),
            ("out.2", "totals: 7\n"),
            ("log.1", ""),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        assert_eq!(counter.counted(folder.path(), &engine), Some(12));
        fs::write(folder.path().join("out.3"), "").unwrap();
        assert_eq!(counter.counted(folder.path(), &engine), None);
    }
}
