//! Programs that are run as they are: any command, and modules on our engine.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use fathom_bench::choose::Wanted;
use fathom_engine::Features;
use fathom_sys::handed::{Run, Running};
use fathom_trace::kernel::Tracer;
use fathom_trace::trace::Wasi;

use super::{Args, Given, Level, Ran, texts};
use crate::module::{self, Purpose};
use crate::run::load;

/// Runs a command with this process's streams.
///
/// # Errors
/// It cannot be started.
pub fn command(words: &[OsString], tracer: Option<&Tracer>) -> anyhow::Result<Ran> {
    let (program, rest) = words.split_first().context("no command")?;
    let mut command = Command::new(found(program));
    command.args(rest);
    let run = watched(command, &program.to_string_lossy(), tracer)?;
    Ok(Ran {
        command: texts(words),
        status: run.ended.status(),
        wall_ns: run.wall_ns,
        wasi: None,
        missing: Vec::new(),
        left: Some(run.left),
    })
}

/// The file of a program: looking for it here, once, keeps failing attempts out of the
/// counts.
fn found(program: &OsStr) -> std::path::PathBuf {
    if program.as_bytes().contains(&b'/') {
        return program.into();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let files = std::env::split_paths(&folders).map(|folder| folder.join(program));
    let mut files = files.filter(|file| file.is_file());
    files.next().unwrap_or_else(|| program.into())
}

/// Runs a program of this machine in the first of the folders that a module would be given,
/// for comparison with modules.
///
/// # Errors
/// It cannot be started.
pub fn native(args: &Args, program: &Path, tracer: Option<&Tracer>) -> anyhow::Result<Ran> {
    let file = program.display().to_string();
    let path = fs::canonicalize(program).with_context(|| file.clone())?;
    let given = args.given();
    let mut command = given.native(&path)?;
    input(&given, &mut command)?;
    let run = watched(command, &file, tracer)?;
    let words = std::iter::once(file).chain(texts(&args.words));
    Ok(Ran {
        command: words.collect(),
        status: run.ended.status(),
        wall_ns: run.wall_ns,
        wasi: None,
        missing: Vec::new(),
        left: Some(run.left),
    })
}

/// It reads what we do, where no file is named.
fn input(given: &Given<'_>, command: &mut Command) -> anyhow::Result<()> {
    if let Some(file) = given.input()? {
        command.stdin(file);
    }
    Ok(())
}

/// Runs a module on our engine, in a process of its own.
///
/// # Errors
/// It cannot be started, or its counts cannot be read.
pub fn own(
    args: &Args,
    engine: &Wanted,
    module: &Path,
    tracer: Option<&Tracer>,
) -> anyhow::Result<Ran> {
    // Told by itself, instead of with a trace of the engine that finds it out.
    let wasm = load::read(module)?;
    if let Err(why) = module::check(&wasm, Purpose::Run(None, Features::all())) {
        anyhow::bail!("{}: {why}", module.display());
    }
    let program = std::env::current_exe().context("where this program is")?;
    let scratch = tempfile::tempdir().context("no folder for counts")?;
    let counts = scratch.path().join("wasi");
    let sees_wasi = args.by.is_empty() || args.by.contains(&Level::Process);
    let mut words = vec![OsString::from("run")];
    for dir in &args.dir {
        words.extend(["--dir".as_ref(), dir.text()].map(OsStr::to_owned));
    }
    for pair in &args.env {
        words.extend(["--env", pair].map(OsString::from));
    }
    if let Some(strategy) = &engine.strategy {
        words.extend(["--bounds", strategy].map(OsString::from));
    }
    let mut shown = words.clone();
    if sees_wasi {
        words.push("--trace-wasi".into());
        words.push(counts.as_os_str().to_owned());
    }
    for list in [&mut shown, &mut words] {
        list.extend([module.as_os_str(), "--".as_ref()].map(OsStr::to_owned));
        list.extend(args.words.iter().cloned());
    }
    let mut command = Command::new(&program);
    command.args(&words);
    input(&args.given(), &mut command)?;
    let run = watched(command, "fathom", tracer)?;
    let mut missing = Vec::new();
    let wasi = match fs::read_to_string(&counts) {
        Ok(text) => Some(serde_json::from_str::<Wasi>(&text).context("its counts")?),
        Err(_) => {
            let why = match run.ended.status() {
                ..128 => "the program did not begin",
                _ => "the program was killed before it could tell",
            };
            missing.extend(sees_wasi.then(|| format!("WASI calls: {why}")));
            None
        }
    };
    shown.insert(0, "fathom".into());
    Ok(Ran {
        command: texts(&shown),
        status: run.ended.status(),
        wall_ns: run.wall_ns,
        wasi,
        missing,
        left: Some(run.left),
    })
}

/// Runs it to its end.
fn watched(mut command: Command, name: &str, tracer: Option<&Tracer>) -> anyhow::Result<Run> {
    if let Some(tracer) = tracer {
        tracer.follow();
    }
    // Signals are for the program; what it did until then is still told.
    let run = Running::start(&mut command).and_then(Running::wait);
    run.with_context(|| name.to_owned())
}
