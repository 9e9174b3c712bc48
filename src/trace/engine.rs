//! A module that counts its own calls, on any engine: one run through the runner
//! protocol.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use fathom_bench::choose::{self, OWN, Wanted};
use fathom_bench::driver::{Conversation, DriveError, Driver, ProcessDriver};
use fathom_bench::engines::{self, EngineSpec, Presence};
use fathom_bench::generator;
use fathom_bench::home::Home;
use fathom_bench::mistyped::did_you_mean;
use fathom_record::protocol::{Measure, Request};
use fathom_record::{Setting, Settings};
use fathom_sys::handed;
use fathom_sys::regular;
use fathom_trace::counts::Counts;
use fathom_trace::kernel::Tracer;
use fathom_trace::rewrite::{Stream, counting};
use fathom_trace::trace::Wasi;

use super::{Args, Given, Ran};
use crate::run::{Dir, load};

/// An engine says something at last, or it hangs: nobody waits for ever unasked.
const LIMIT: Duration = Duration::from_secs(24 * 3600);

/// Rewrites the module and runs it.
///
/// # Errors
/// It cannot be rewritten, or the engine does not run it.
pub(super) fn rewritten(
    args: &Args,
    engine: &Wanted,
    module: &Path,
    tracer: Option<&Tracer>,
) -> anyhow::Result<Ran> {
    let wasm = load::program(module, &module.display().to_string())?;
    let wasm = counting(&wasm, Stream::Stdout, args.seen())
        .with_context(|| module.display().to_string())?;
    let mut ran = run(args, engine, module, wasm, tracer)?;
    if ran.wasi.is_none() && ran.missing.is_empty() {
        let why = "WASI calls: it trapped, or wrote nothing at its end";
        ran.missing.push(why.to_owned());
    }
    Ok(ran)
}

/// Runs the module as it is.
///
/// # Errors
/// The engine does not run it.
pub(super) fn as_it_is(
    args: &Args,
    engine: &Wanted,
    module: &Path,
    tracer: Option<&Tracer>,
) -> anyhow::Result<Ran> {
    run(
        args,
        engine,
        module,
        load::program(module, &module.display().to_string())?,
        tracer,
    )
}

fn run(
    args: &Args,
    engine: &Wanted,
    module: &Path,
    wasm: Vec<u8>,
    tracer: Option<&Tracer>,
) -> anyhow::Result<Ran> {
    let scratch = tempfile::tempdir().context("no folder for its output")?;
    let (driver, request) = prepared(&args.given(), engine, module, &wasm, scratch.path())?;
    if let Some(tracer) = tracer {
        tracer.follow();
    }
    let began = Instant::now();
    let conversation = match asked(&driver, &request) {
        Err(DriveError::Stopped) => return Ok(stopped(&driver, began)),
        conversation => conversation.context(module.display().to_string())?,
    };
    let (counts, status) = outputs(&conversation, scratch.path())?;
    Ok(Ran {
        command: driver.command(),
        status,
        wall_ns: conversation.outside.wall_ns.unwrap_or(0),
        wasi: counts.map(Wasi::rewritten),
        missing: Vec::new(),
        left: None,
    })
}

/// An engine's runner, and the request of one run of a module, which is put in the folder.
///
/// # Errors
/// There is no such engine here; what the program is given cannot be given to a runner.
pub fn prepared(
    given: &Given<'_>,
    engine: &Wanted,
    module: &Path,
    wasm: &[u8],
    scratch: &Path,
) -> anyhow::Result<(ProcessDriver, Request)> {
    let written = scratch.join("module");
    fs::create_dir(&written)?;
    // Programs are told the name of their file.
    let name = module.file_name().unwrap_or(module.as_os_str());
    let written = written.join(&*name.to_string_lossy());
    fs::write(&written, wasm).context("a copy of the module")?;
    let (driver, strategy, backend) = found(given, engine)?;
    let request = Request::from(Measure {
        module: written,
        args: utf8(given.words)?,
        env: env(given.env)?,
        dirs: dirs(given.dirs)?,
        stdin: stdin(given.stdin)?,
        strategy,
        settings: backend.map_or_else(Settings::new, |name| {
            Settings::new().with(Setting::Codegen, &name)
        }),
        threads: 1,
        cpus: Vec::new(),
        warmup: 0,
        iterations: 1,
        scratch: scratch.to_owned(),
        seed: 0,
        cache: None,
        cycle: false,
        stack_bytes: None,
        load: None,
        unsafe_no_bounds: false,
    });
    handed::listen().context("signals")?;
    Ok((driver, request))
}

/// Asks a runner, until it has answered or a signal was for it.
///
/// # Errors
/// Why there is no answer.
pub fn asked(driver: &ProcessDriver, request: &Request) -> Result<Conversation, DriveError> {
    driver.clone().ask(request, LIMIT, handed::is_told())
}

/// What is known of a program that a signal ended: what the kernel saw until then.
fn stopped(driver: &ProcessDriver, began: Instant) -> Ran {
    Ran {
        command: driver.command(),
        status: 128 + handed::last().unwrap_or(0),
        wall_ns: u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX),
        wasi: None,
        missing: vec!["WASI calls: it was stopped before its end".to_owned()],
        left: None,
    }
}

/// Our engine, and every other one that is installed.
///
/// # Errors
/// There is no checkout around.
pub fn installed(args: &Args) -> anyhow::Result<Vec<Wanted>> {
    let (specs, _) = engines::all(home(args.home.as_ref())?);
    let here = specs
        .iter()
        .filter(|spec| matches!(spec.presence(), Presence::Installed { .. }));
    let named = here.map(|spec| Wanted {
        engine: spec.name.clone(),
        ..Wanted::own()
    });
    Ok(std::iter::once(Wanted::own()).chain(named).collect())
}

/// Where outside engines are.
pub fn home(home: Option<&Home>) -> anyhow::Result<&Home> {
    home.context("not inside a checkout: there are no outside engines")
}

/// The driver of an engine, and what it is asked for.
fn found(
    given: &Given<'_>,
    wanted: &Wanted,
) -> anyhow::Result<(ProcessDriver, String, Option<String>)> {
    let strategy = |default: &str| {
        let named = wanted.strategy.clone();
        named.unwrap_or_else(|| default.to_owned())
    };
    let name = wanted.engine.as_str();
    if name == OWN {
        let driver = generator::own_driver(given.home).context("where this program is")?;
        return Ok((driver, strategy("auto"), wanted.backend.clone()));
    }
    let mut word = [wanted.clone()];
    let described = choose::described(Some(home(given.home)?), &mut word);
    let (specs, _) = described.map_err(anyhow::Error::msg)?;
    let [wanted] = &word;
    let names = || -> Vec<&str> { specs.iter().map(|spec| spec.name.as_str()).collect() };
    let spec: &EngineSpec = specs.iter().find(|spec| wanted.is(spec)).with_context(|| {
        let known = names();
        let meant = did_you_mean(name, known.iter().copied().chain([OWN]));
        format!(
            "no engine {name} (there are: fathom, {}){meant}",
            known.join(", ")
        )
    })?;
    if let Presence::Absent { why } = spec.presence() {
        bail!("{}: {}", spec.id(), spec.not_here(&why));
    }
    let backend = wanted.backend.clone();
    Ok((spec.driver(), strategy(&spec.strategies[0]), backend))
}

/// Arguments as runners are told them, in JSON.
fn utf8(words: &[OsString]) -> anyhow::Result<Vec<String>> {
    let text = |word: &OsString| {
        let text = word.to_str().map(str::to_owned);
        text.with_context(|| {
            let word = word.display();
            format!("argument '{word}' is not UTF-8, which runners are told arguments in")
        })
    };
    words.iter().map(text).collect()
}

pub(super) fn env(pairs: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let split = |pair: &String| {
        let (name, value) = pair
            .split_once('=')
            .with_context(|| format!("--env {pair}: NAME=VALUE"))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    pairs.iter().map(split).collect()
}

/// Folders as runners are given them: they know no read-only ones.
fn dirs(dirs: &[Dir]) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let folder = |dir: &Dir| {
        if dir.is_read_only() {
            bail!(
                "--dir {dir}: engines can only be given writable folders; leave :ro out, or copy the folder"
            );
        }
        let host = fs::canonicalize(dir.host()).with_context(|| format!("--dir {dir}"))?;
        Ok((host, dir.guest()?.to_owned()))
    };
    dirs.iter().map(folder).collect()
}

fn stdin(file: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
    let absolute =
        |file: &Path| fs::canonicalize(file).with_context(|| format!("--stdin {}", file.display()));
    file.map(absolute).transpose()
}

/// Hands on what the program wrote, without the counts, and its status.
fn outputs(conversation: &Conversation, scratch: &Path) -> anyhow::Result<(Option<Counts>, i32)> {
    let iteration = conversation.iterations.last();
    let iteration = iteration.context("the engine reported no run")?;
    let file = iteration.stdout.as_ref();
    let file = file.context("the engine did not keep what it wrote")?;
    let stdout = regular::read(file).context("what it wrote")?;
    // Runners that can tell the two apart keep the other one beside it.
    let stderr = file.file_name().map(|name| {
        let name = name.to_string_lossy().replace("stdout", "stderr");
        fs::read(scratch.join(name)).unwrap_or_default()
    });
    let stderr = stderr.unwrap_or_default();
    let mut counts = None;
    let mut own = |stream: &[u8], mut to: Box<dyn Write>| {
        let (own, found) = match Counts::split(stream) {
            Some((own, found)) => (own.to_vec(), Some(found)),
            None => (stream.to_vec(), None),
        };
        counts = counts.take().or(found);
        let _ = to.write_all(&own);
        let _ = to.flush();
    };
    own(&stdout, Box::new(std::io::stdout()));
    own(&stderr, Box::new(std::io::stderr()));
    Ok((counts, iteration.exit))
}
