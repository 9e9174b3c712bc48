//! A program started to be sampled: natively, and by the runners of engines.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use fathom_bench::choose::{OWN, Wanted};
use fathom_bench::{generator, worker};
use fathom_engine::{Codegen, Engine};
use fathom_record::protocol::{JITDUMP_ENV, Job, PERF_MAP_ENV, Request};
use fathom_sys::handed::Running;
use fathom_sys::usage::Ended;
use fathom_trace::code::jitdump::{self, Code};
use fathom_trace::profile::{Profile, Recorded, Recording};

use crate::trace::Given;
use crate::trace::engine;

/// Where Node and Deno take switches of V8 from, and what stands between them; and those for
/// that: functions are named, or written down with their code.
const V8_SWITCHES: [(&str, &str); 2] = [("NODE_OPTIONS", " "), ("DENO_V8_FLAGS", ",")];
const V8_PERF_MAP: &str = "--perf-basic-prof";
const V8_JITDUMP: &str = "--perf-prof";

/// One run.
pub struct Ran {
    /// What was sampled of it.
    pub recorded: Recorded,
    /// The processor time that the kernel says it took, with all that it started and waited
    /// for.
    pub cpu_ns: Option<u64>,
    /// How it ended, where that is not as it should.
    pub trouble: Option<String>,
}

/// What is run, and how.
pub struct Program<'a> {
    /// The file that was named.
    pub path: &'a Path,
    /// What is in it.
    pub wasm: &'a [u8],
    /// What it is given.
    pub given: Given<'a>,
    /// Samples a second.
    pub frequency_hz: u32,
}

impl Program<'_> {
    /// Samples of what this thread starts from now on.
    ///
    /// # Errors
    /// Why this host does not allow it.
    pub fn recording(&self) -> anyhow::Result<Recording> {
        Recording::start(self.frequency_hz).map_err(|why| anyhow::anyhow!("no samples: {why}"))
    }

    /// Runs it natively, in the first of the folders that the module is given.
    ///
    /// # Errors
    /// It cannot be started or sampled.
    pub fn native(&self, program: &Path) -> anyhow::Result<Ran> {
        self.ended(self.given.native(program)?)
    }

    /// Runs it on an engine, by its runner, so many times in one process.
    ///
    /// # Errors
    /// There is none, it cannot be sampled, or it does not run the module.
    pub fn module(&self, wanted: &Wanted, iterations: u32) -> anyhow::Result<Ran> {
        let scratch = tempfile::tempdir().context("no folder for its output")?;
        let (driver, mut request) =
            engine::prepared(&self.given, wanted, self.path, self.wasm, scratch.path())?;
        let sampled = driver.under(&told(scratch.path(), PERF_MAP_ENV, V8_PERF_MAP));
        let kept = tempfile::tempdir().context("no folder for compiled code")?;
        if let Job::Measure(measure) = &mut request.job {
            measure.iterations = iterations;
            // What makes good code slowly is not waited for among samples.
            let is_by_llvm =
                wanted.engine == OWN && wanted.backend.as_deref() == Some(Codegen::Llvm.name());
            measure.cache = is_by_llvm.then(|| kept.path().to_owned());
        }
        let ask = |driver| {
            let conversation = engine::asked(driver, &request);
            conversation.with_context(|| self.path.display().to_string())
        };
        if kept_code(&request).is_some() {
            // It is there in the run that is sampled.
            ask(&driver)?;
        }
        let recording = self.recording()?;
        let conversation = ask(&sampled);
        let recorded = recording.end();
        let conversation = conversation.inspect_err(|_| {
            // What it has listed until then is taken away.
            Profile::of(&recorded);
        })?;
        let mut statuses = conversation.iterations.iter().map(|one| one.exit);
        let status = statuses.find(|status| *status != 0);
        Ok(Ran {
            recorded,
            cpu_ns: conversation.outside.cpu_ns,
            trouble: status.map(|status| format!("exit status {status}")),
        })
    }

    /// The code that an engine makes of the module, as it writes it down: nothing where it
    /// cannot.
    ///
    /// # Errors
    /// There is no such engine, or it does not run the module.
    pub fn code(&self, wanted: &Wanted) -> anyhow::Result<Vec<Code>> {
        let scratch = tempfile::tempdir().context("no folder for its output")?;
        let (driver, request) =
            engine::prepared(&self.given, wanted, self.path, self.wasm, scratch.path())?;
        let told = driver.under(&told(scratch.path(), JITDUMP_ENV, V8_JITDUMP));
        let conversation = engine::asked(&told, &request);
        conversation.with_context(|| self.path.display().to_string())?;
        jitdump::read(scratch.path()).context("the code that it wrote down")
    }

    /// Our engine, as its runner has it.
    ///
    /// # Errors
    /// There is no such one here.
    pub fn engine(&self, wanted: &Wanted) -> anyhow::Result<Engine> {
        let scratch = tempfile::tempdir().context("no folder for a copy of the module")?;
        let (_, request) =
            engine::prepared(&self.given, wanted, self.path, self.wasm, scratch.path())?;
        let Job::Measure(measure) = &request.job else {
            bail!("no request to measure");
        };
        let clang = generator::clang(self.given.home);
        let made = worker::engine_of(measure, clang.as_deref());
        let (engine, ..) = made.map_err(|refusal| anyhow::anyhow!(refusal.message))?;
        Ok(engine)
    }

    /// Runs a command to its end, whose output nobody wants.
    ///
    /// # Errors
    /// It cannot be started or sampled.
    pub fn ended(&self, mut command: Command) -> anyhow::Result<Ran> {
        command.stdin(self.given.input()?.unwrap_or_else(Stdio::null));
        let recording = self.recording()?;
        let ended = waited(command);
        let recorded = recording.end();
        let (cpu_ns, trouble) = ended?;
        Ok(Ran {
            recorded,
            cpu_ns: Some(cpu_ns),
            trouble,
        })
    }
}

/// Runs a command to its end, whose output nobody wants: the processor time that it took, and
/// how it ended, where that is no success.
fn waited(mut command: Command) -> anyhow::Result<(u64, Option<String>)> {
    let name = command.get_program().to_string_lossy().into_owned();
    let said = tempfile::NamedTempFile::new().context("no file for what it says")?;
    command
        .stdout(Stdio::null())
        .stderr(said.reopen().context("no file for what it says")?);
    let run = Running::start(&mut command).and_then(Running::wait);
    let run = run.with_context(|| name)?;
    let trouble = match run.ended {
        Ended::Exited(0) => None,
        ended => Some(
            last_line(said.path())
                .map_or_else(|| ended.to_string(), |line| format!("{ended}: {line}")),
        ),
    };
    Ok((run.usage.cpu_ns(), trouble))
}

fn last_line(file: &Path) -> Option<String> {
    let text = fs::read(file).ok()?;
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    last.map(|line| line.trim_start_matches("fathom: ").to_owned())
}

/// What starts a runner that is told to list its functions: in a folder of its own, since V8
/// leaves a log there, by a variable, and by a switch of V8's in front of the user's own.
fn told(folder: &Path, variable: &str, switch: &str) -> Vec<OsString> {
    let mut words = vec![
        "env".into(),
        "-C".into(),
        folder.into(),
        format!("{variable}=1").into(),
    ];
    for (name, between) in V8_SWITCHES {
        let mut switches = OsString::from(format!("{name}={switch}"));
        if let Some(own) = std::env::var_os(name) {
            switches.push(between);
            switches.push(own);
        }
        words.push(switches);
    }
    words
}

/// Where the code of an earlier run is.
fn kept_code(request: &Request) -> Option<&Path> {
    match &request.job {
        Job::Measure(measure) => measure.cache.as_deref(),
        Job::Probe(_) => None,
    }
}
