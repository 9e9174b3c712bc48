//! A command line of the user's own as an engine: a process for each iteration, as for
//! native code, which is given the module's path where `{}` stands.
//!
//! What it does inside nobody sees: its figures are of the whole process, with what it takes
//! to compile, and it cannot be probed.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, OnceLock, atomic::AtomicBool},
};

use fathom_record::{
    Checks, FailureKind,
    protocol::{Event, Hello, Job, Measure, Request},
};
use fathom_runner::{Emitter, Refusal};

use super::native::{NativeProgram, measured};
use crate::{engines::MODULE, plan::WORKING, scratch::Scratch};

/// What the environment of a command has of ours: engines look for caches and programs.
const KEPT: [&str; 3] = ["HOME", "PATH", "LD_LIBRARY_PATH"];

/// What a command must print of the program that it is tried on.
const ANSWER: &str = "fathom: answer=2a\n";

/// A program of WASI that prints it.
const PROGRAM: &str = r#"(module
    (import "wasi_snapshot_preview1" "fd_write"
        (func $write (param i32 i32 i32 i32) (result i32)))
    (memory (export "memory") 1)
    (data (i32.const 64) "fathom: answer=2a\n")
    (func (export "_start")
        (i32.store (i32.const 0) (i32.const 64))
        (i32.store (i32.const 4) (i32.const 18))
        (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))))"#;

/// Serves a request with a command.
///
/// # Errors
/// Whatever keeps it from being measured.
pub fn command(words: &[OsString], request: &Request, emitter: &Emitter) -> Result<(), Refusal> {
    let unsupported = |message: &str| Refusal::new(FailureKind::Unsupported, message);
    let Job::Measure(measure) = &request.job else {
        return Err(unsupported(
            "a command line takes no calls, so it cannot be probed",
        ));
    };
    if measure.load.is_some() {
        return Err(unsupported(
            "a command line cannot be given a socket to serve",
        ));
    }
    if !measure.env.is_empty() {
        return Err(unsupported(
            "a command line passes no environment on: put it into the command",
        ));
    }
    emitter.send(&Event::Hello(Hello {
        engine: Path::new(&words[0])
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into(),
        version: "unknown".into(),
        backend: "unknown".into(),
        tier: "unknown".into(),
        checks: Checks::Unknown,
        evidence: "a command line: what it does inside is not seen".into(),
    }))?;
    measured(&program(words, measure), measure, emitter)
}

fn program(words: &[OsString], measure: &Measure) -> NativeProgram {
    let mut words = filled(words, &measure.module);
    let executable = PathBuf::from(words.remove(0));
    words.extend(measure.args.iter().map(Into::into));
    let folder = measure.dirs.iter().find(|(_, guest)| guest == WORKING);
    let kept = KEPT
        .iter()
        .filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
    NativeProgram {
        executable,
        args: words,
        folder: folder.map(|(host, _)| host.clone()),
        env: kept.collect(),
        seed: measure.seed,
        used: Mutex::default(),
        memory: OnceLock::new(),
        is_looked_at: AtomicBool::new(measure.warmup == 0 && measure.iterations == 1),
    }
}

/// The words with the module's path where it belongs.
fn filled(words: &[OsString], module: &Path) -> Vec<OsString> {
    let module = module.to_string_lossy();
    let fill = |word: &OsString| word.to_string_lossy().replace(MODULE, &module).into();
    words.iter().map(fill).collect()
}

/// Tries a command on a program whose answer is known; what it says of itself then.
///
/// # Errors
/// One line: it does not start, fails, or answers something else.
pub fn check_command(words: &[OsString]) -> Result<String, String> {
    let wasm = wat::parse_str(PROGRAM).map_err(|error| error.to_string())?;
    let folder = Scratch::new().map_err(|error| format!("no folder for a module: {error}"))?;
    let module = folder.path().join("answer.wasm");
    fs::write(&module, wasm).map_err(|error| format!("{}: {error}", module.display()))?;
    let filled = filled(words, &module);
    let output = Command::new(&filled[0])
        .args(&filled[1..])
        .stdin(Stdio::null())
        .output();
    let output = output.map_err(|error| format!("{}: {error}", filled[0].to_string_lossy()))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    let complaint = complaint.lines().find(|line| !line.trim().is_empty());
    let complaint = complaint
        .map(|line| format!(": {}", line.trim()))
        .unwrap_or_default();
    if !output.status.success() {
        return Err(format!(
            "on a program that prints a line: {}{complaint}",
            output.status
        ));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    if printed != ANSWER {
        let printed: String = printed.chars().take(80).collect();
        return Err(format!(
            "a program that prints {ANSWER:?} printed {printed:?}"
        ));
    }
    Ok(format!(
        "{}: runs a program of WASI",
        words[0].to_string_lossy()
    ))
}
