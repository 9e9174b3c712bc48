//! A program started to be sampled: natively, and by the runners of engines.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use fathom_bench::choose::{OWN, Wanted};
use fathom_bench::{generator, worker};
use fathom_engine::{Codegen, Engine};
use fathom_record::protocol::{Job, PERF_MAP_ENV, Request};
use fathom_sys::handed;
use fathom_sys::usage::{Ended, wait_with_usage};
use fathom_trace::profile::{Recorded, Recording};

use crate::trace::Given;
use crate::trace::engine;

/// Where Node takes switches of V8 from, and the one for that.
const NODE_OPTIONS: &str = "NODE_OPTIONS";
const V8_PERF_MAP: &str = "--perf-basic-prof";

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
        let mut command = Command::new(program);
        command.args(self.given.words);
        if let Some(dir) = self.given.dirs.first() {
            command.current_dir(dir.host());
        }
        for pair in self.given.env {
            if let Some((name, value)) = pair.split_once('=') {
                command.env(name, value);
            }
        }
        self.ended(command)
    }

    /// Runs it on an engine, by its runner, so many times in one process.
    ///
    /// # Errors
    /// There is none, it cannot be sampled, or it does not run the module.
    pub fn module(&self, wanted: &Wanted, iterations: u32) -> anyhow::Result<Ran> {
        let scratch = tempfile::tempdir().context("no folder for its output")?;
        let (driver, mut request) =
            engine::prepared(&self.given, wanted, self.path, self.wasm, scratch.path())?;
        let sampled = driver.under(&[OsString::from("env"), perf_map(), node_options()]);
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
        let conversation = conversation?;
        let mut statuses = conversation.iterations.iter().map(|one| one.exit);
        let status = statuses.find(|status| *status != 0);
        Ok(Ran {
            recorded,
            cpu_ns: conversation.outside.cpu_ns,
            trouble: status.map(|status| format!("exit status {status}")),
        })
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

    /// What it reads.
    fn read(&self, command: &mut Command) -> anyhow::Result<()> {
        let stdin = match self.given.stdin {
            Some(file) => {
                let opened = File::open(file);
                Stdio::from(opened.with_context(|| file.display().to_string())?)
            }
            None => Stdio::null(),
        };
        command.stdin(stdin);
        Ok(())
    }

    /// Runs a command to its end, whose output nobody wants.
    ///
    /// # Errors
    /// It cannot be started or sampled.
    pub fn ended(&self, mut command: Command) -> anyhow::Result<Ran> {
        self.read(&mut command)?;
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
    handed::listen().context("signals")?;
    let child = command.spawn().with_context(|| name.clone())?;
    let told = handed::to(child.id());
    let (ended, usage) = wait_with_usage(child.id()).with_context(|| name.clone())?;
    drop(told);
    let trouble = match ended {
        Ended::Exited(0) => None,
        ended => Some(
            last_line(said.path())
                .map_or_else(|| ended.to_string(), |line| format!("{ended}: {line}")),
        ),
    };
    Ok((usage.cpu_ns(), trouble))
}

fn last_line(file: &Path) -> Option<String> {
    let text = fs::read(file).ok()?;
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    last.map(|line| line.trim_start_matches("fathom: ").to_owned())
}

/// The user's own switches of Node, and that one.
fn node_options() -> OsString {
    let own = std::env::var_os(NODE_OPTIONS).unwrap_or_default();
    let mut words = OsString::from(format!("{NODE_OPTIONS}={V8_PERF_MAP} "));
    words.push(OsStr::from_bytes(own.as_bytes()));
    words
}

fn perf_map() -> OsString {
    OsString::from(format!("{PERF_MAP_ENV}=1"))
}

/// Where the code of an earlier run is.
fn kept_code(request: &Request) -> Option<&Path> {
    match &request.job {
        Job::Measure(measure) => measure.cache.as_deref(),
        Job::Probe(_) => None,
    }
}
