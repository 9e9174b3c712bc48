//! Before the rounds: some runs under tracers, of which no time is taken but that of the
//! calls which they see.
//!
//! ```text
//!  our engine      fathom run --trace-wasi      calls of WASI and their times
//!                  fathom run, eBPF             system calls of the main thread
//!  native          the program, eBPF            the same
//!  other engines   their runner, eBPF           those of the thread that computed most
//!                  the module rewritten         calls of WASI, where all is wanted (`whole`)
//! ```
//!
//! Our engine finds the module compiled: the threads that compile would be waited for, a
//! different time in each run, and no part of the run is looked for there.
//!
//! What must stay true: each way sees a run of its own, so that neither is slowed down by
//! the other; a program that does not end as it should is not traced, and that is said;
//! nothing that a program started outlives its run.

mod whole;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use fathom_bench::choose::{NATIVE_DRIVER, OWN_DRIVER};
use fathom_bench::driver::Driver;
use fathom_bench::driver::family::{self, End};
use fathom_bench::experiment::Traces;
use fathom_bench::plan::{Task, WORKING};
use fathom_bench::prepare::Prepared;
use fathom_bench::results::Results;
use fathom_bench::scratch::Scratch;
use fathom_bench::session::scratch;
use fathom_record::Record;
use fathom_record::campaign::{Seen, Traced};
use fathom_record::protocol::{Job, Measure, Request};
use fathom_sys::usage::Ended;
use fathom_trace::kernel::{Kernel, Thread, Tracer};
use fathom_trace::times::Times;
use fathom_trace::trace::{Cost, Wasi};

use crate::trace::calibrate;

/// Of a budget, so much is for traced runs; the first of each is always made.
const PART: u32 = 3;

/// Traces what the experiment wants traced and is not yet.
///
/// # Errors
/// Results cannot be written.
pub fn pass(prepared: &Prepared, results: &mut Results, stop: &AtomicBool) -> anyhow::Result<()> {
    let tasks = prepared.plan.tasks.iter();
    let tasks: Vec<&Task> = tasks
        .filter(|task| prepared.counter.is_none() && (prepared.design.is_traced)(task))
        .collect();
    let is_done = |results: &Results, task: &Task, repeat| {
        let id = task.cell.id();
        let mut traced = results.campaign().traced.iter();
        traced.any(|one| one.cell == id && one.repeat == repeat)
    };
    let repeats = 0..prepared.design.traced;
    let is_left = |repeat| tasks.iter().any(|task| !is_done(results, task, repeat));
    if !repeats.clone().any(is_left) {
        return Ok(());
    }
    say!("tracing runs of {} cells, untimed", tasks.len());
    let eyes = Eyes::open();
    let (began, limit) = (Instant::now(), prepared.pace.budget.map(|all| all / PART));
    for repeat in repeats {
        if repeat > 0 && limit.is_some_and(|limit| began.elapsed() > limit) {
            return Ok(());
        }
        for task in &tasks {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if is_done(results, task, repeat) {
                continue;
            }
            match eyes.look(prepared, task, repeat, stop) {
                Ok(traced) => results.append(vec![Record::Traced(traced)])?,
                // Its times stand; a part of the bar is missing.
                Err(error) => {
                    say!(
                        "not traced: {}: {error:#}",
                        super::show::describe(&task.cell)
                    );
                    // A bar needs all of its parts, a table not all of its lines.
                    if prepared.design.traces == Traces::Run {
                        return Ok(());
                    }
                }
            }
        }
    }
    Ok(())
}

/// The ways to look that there are.
struct Eyes {
    /// What it costs that a system call is seen; absent where none can be.
    kernel: Option<Cost>,
}

impl Eyes {
    fn open() -> Eyes {
        let kernel = match Tracer::attach() {
            Ok(tracer) => {
                drop(tracer);
                calibrate::kernel()
            }
            Err(error) => {
                say!("system calls are not traced: {error} ({})", error.remedy());
                None
            }
        };
        Eyes { kernel }
    }

    fn look(
        &self,
        prepared: &Prepared,
        task: &Task,
        repeat: u32,
        stop: &AtomicBool,
    ) -> anyhow::Result<Traced> {
        let mut traced = Traced {
            cell: task.cell.id(),
            repeat,
            wasi: None,
            calls: None,
            functions: None,
            threads: None,
        };
        if prepared.design.traces == Traces::Whole {
            self.look_at_all(&mut traced, || Run::new(prepared, task, repeat, stop))?;
            return Ok(traced);
        }
        if task.driver == OWN_DRIVER {
            let run = Run::new(prepared, task, repeat, stop)?;
            let wasi = run.wasi()?;
            traced.wasi = Some(Seen {
                count: wasi.total(),
                total_ns: wasi.total_ns().unwrap_or(0),
                each_ns: wasi.cost.map_or(0.0, |cost| cost.least_ns),
            });
        }
        if let Some(cost) = self.kernel {
            let run = Run::new(prepared, task, repeat, stop)?;
            let (kernel, thread) = run.kernel()?;
            traced.calls = Some(calls(&kernel, thread, cost));
        }
        Ok(traced)
    }
}

/// The calls of a thread. Beside what was recorded, a call takes the way into the kernel
/// and back, which is not; what a call that does nothing takes tells both.
fn calls(kernel: &Kernel, thread: u32, cost: Cost) -> BTreeMap<String, Seen> {
    let own = kernel.calls.iter().filter(|call| call.thread == thread);
    own.map(|call| (call.name.clone(), seen(&call.times, cost)))
        .collect()
}

fn seen(times: &Times, cost: Cost) -> Seen {
    Seen {
        count: times.count,
        total_ns: times.total_ns,
        each_ns: cost.least_ns - cost.plain_ns.unwrap_or(cost.least_ns),
    }
}

/// A run of a task.
struct Run<'a> {
    prepared: &'a Prepared,
    task: &'a Task,
    request: Request,
    scratch: Scratch,
    stop: &'a AtomicBool,
}

impl<'a> Run<'a> {
    fn new(
        prepared: &'a Prepared,
        task: &'a Task,
        repeat: u32,
        stop: &'a AtomicBool,
    ) -> anyhow::Result<Run<'a>> {
        let scratch = scratch()?;
        let request = prepared
            .plan
            .request(task, repeat, prepared.plan.laps(1), scratch.path());
        let request = request.with_context(|| task.artifact.display().to_string())?;
        Ok(Run {
            prepared,
            task,
            request,
            scratch,
            stop,
        })
    }

    /// What it calls of WASI, on our engine.
    fn wasi(&self) -> anyhow::Result<Wasi> {
        let counts = self.scratch.path().join("wasi");
        let mut command = self.own()?;
        command.arg(format!("--trace-wasi={}", counts.display()));
        self.ended(arguments(command, self.measure()?), None)?;
        let text = fs::read_to_string(&counts).context("its counts")?;
        serde_json::from_str(&text).context("its counts")
    }

    /// What it asks of the kernel, and the thread that did.
    fn kernel(&self) -> anyhow::Result<(Kernel, u32)> {
        let tracer = Tracer::attach()?;
        let measure = self.measure()?;
        let is_first = match self.task.driver {
            OWN_DRIVER => {
                self.ended(arguments(self.own()?, measure), Some(&tracer))?;
                true
            }
            NATIVE_DRIVER => {
                self.ended(native(measure), Some(&tracer))?;
                true
            }
            driver => {
                let mut driver = self.prepared.drivers[driver].clone();
                tracer.follow();
                driver.ask(&self.request, self.limit(), self.stop)?;
                false
            }
        };
        let kernel = tracer.answer().context("reading the kernel's counts")?;
        if kernel.lost.any() {
            bail!("some of its system calls were not counted");
        }
        let computed = |thread: &&Thread| {
            let waits = [thread.preempted, thread.in_calls, thread.in_faults];
            let waited: u64 = waits.iter().map(|waits| waits.total_ns).sum();
            thread.lived_ns.saturating_sub(waited)
        };
        let threads = kernel.threads.iter();
        let thread = match is_first {
            true => kernel.threads.first(),
            false => threads.max_by_key(computed),
        };
        let thread = thread.context("it made no system calls")?.thread;
        Ok((kernel, thread))
    }

    /// Our engine, as `fathom run` has it, without the module.
    fn own(&self) -> anyhow::Result<Command> {
        let measure = self.measure()?;
        let mut command = Command::new(std::env::current_exe().context("where this program is")?);
        command.args(["run", "--bounds", &measure.strategy]);
        for (setting, value) in measure.settings.named() {
            command.arg(format!("--{setting}={value}"));
        }
        if let Some(cache) = &self.prepared.plan.cache {
            command.arg("--cache").arg(cache);
        }
        if measure.unsafe_no_bounds {
            command.arg("--unsafe-no-bounds");
        }
        for (host, guest) in &measure.dirs {
            // A name that ends in `:ro` is not taken for more than a name.
            command.arg(format!("--dir={}::{guest}:rw", host.display()));
        }
        for (name, value) in &measure.env {
            command.arg(format!("--env={name}={value}"));
        }
        // Nothing of a file in the working folder is to decide.
        command.current_dir("/");
        Ok(command)
    }

    fn measure(&self) -> anyhow::Result<&Measure> {
        match &self.request.job {
            Job::Measure(measure) => Ok(measure),
            Job::Probe(_) => bail!("a probe is not traced"),
        }
    }

    fn limit(&self) -> Duration {
        Duration::from_millis(self.prepared.plan.config.limit_ms)
    }

    /// Runs it to its end, which must be the one that is wanted; what it started ends with it.
    fn ended(&self, mut command: Command, tracer: Option<&Tracer>) -> anyhow::Result<()> {
        let file = |name: &str| {
            let path = self.scratch.path().join(name);
            File::create(&path).with_context(|| path.display().to_string())
        };
        let stdin = match &self.measure()?.stdin {
            Some(path) => {
                let opened = File::open(path);
                Stdio::from(opened.with_context(|| path.display().to_string())?)
            }
            None => Stdio::null(),
        };
        command
            .stdin(stdin)
            .stdout(file("stdout")?)
            .stderr(file("stderr")?);
        if let Some(tracer) = tracer {
            tracer.follow();
        }
        let ended = family::run(&mut command, self.limit(), self.stop);
        match ended.context("it cannot be started")? {
            End::Own(Ended::Exited(code)) if self.prepared.plan.allows(code) => Ok(()),
            End::Own(ended) => bail!("{}", said(self.scratch.path(), ended)),
            End::TimedOut | End::Flooded => bail!("the time limit passed"),
            End::Cancelled => bail!("stopped"),
        }
    }
}

/// The last line that it said, or else how it ended.
fn said(scratch: &Path, ended: Ended) -> String {
    let text = fs::read(scratch.join("stderr")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    last.map_or_else(|| ended.to_string(), str::to_owned)
}

fn arguments(mut command: Command, measure: &Measure) -> Command {
    command.arg(&measure.module).arg("--").args(&measure.args);
    command
}

/// The program of the host, as its runner starts it.
fn native(measure: &Measure) -> Command {
    let mut command = Command::new(&measure.module);
    let folder = measure.dirs.iter().find(|(_, guest)| guest == WORKING);
    if let Some((folder, _)) = folder {
        command.current_dir(folder);
    }
    let env = measure.env.iter();
    command.args(&measure.args).env_clear();
    command.envs(env.map(|(name, value)| (name, value)));
    command
}
