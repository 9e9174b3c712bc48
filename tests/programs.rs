//! Real programs and languages: what each prints on our engine must be what its
//! native build prints, and so must the exit status.
//!
//! `workloads/programs/programs.toml` says which there are and why;
//! `make programs` builds them and lists them in `build/built.json`. Every module
//! runs as a user would run it, with the default strategy; those marked `quick`
//! also with explicit checks, with the fast compiler and with code made in one pass. A line
//! for each.
//!
//! What must stay true: nothing is left out silently. A program that this machine
//! lacks the tools for, and the whole check where nothing has been built, says
//! SKIPPED and why; one whose build failed counts as different.
//!
//! `cargo test --test programs -- lua wasm32` runs what has every word given in
//! its name; `llvm` has that code generator make the code, `direct` that one, of every module.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::Deserialize;

/// A program that runs longer hangs.
const TIMEOUT: Duration = Duration::from_secs(600);

/// What every module is run with, and what the quick ones are run with besides.
const MODES: &[&[&str]] = match cfg!(target_arch = "x86_64") {
    true => &[
        &[],
        &["--bounds", "trap"],
        &["--opt", "none"],
        &["--codegen", "direct"],
        &["--codegen", "cranelift"],
    ],
    false => &[&[], &["--bounds", "trap"], &["--opt", "none"]],
};

/// What every module is run with where the words ask for `direct`.
const IN_ONE_PASS: [&[&str]; 2] = [
    &["--codegen", "direct"],
    &["--codegen", "direct", "--bounds", "trap"],
];

/// What every module is run with where the words ask for `llvm`, which takes a minute for a
/// megabyte.
const BY_LLVM: [&[&str]; 2] = [
    &["--codegen", "llvm", "--bounds", "auto"],
    &["--codegen", "llvm", "--bounds", "trap"],
];

/// An entry of `built.json`.
#[derive(Deserialize)]
struct Program {
    name: String,
    version: String,
    args: Vec<String>,
    files: Vec<String>,
    /// What `--dir` is given.
    dir: String,
    quick: bool,
    variants: BTreeMap<String, Variant>,
}

/// Where a build is, or why there is none: it cannot be made on this machine, or
/// it should have been.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Variant {
    Path(PathBuf),
    Skipped(String),
    Failed(String),
}

/// What a run left behind.
#[derive(PartialEq)]
struct Outcome {
    stdout: Vec<u8>,
    /// None after a signal.
    status: Option<i32>,
}

/// How one line of the result begins.
enum Verdict {
    Equal,
    Differs,
    Skipped,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads/programs");
    let list = folder.join("build/built.json");
    let Ok(text) = fs::read_to_string(&list) else {
        println!("SKIPPED: no programs have been built (make programs)");
        return ExitCode::SUCCESS;
    };
    let programs: Vec<Program> = serde_json::from_str(&text).expect("the builder's list");
    let start = Instant::now();
    let verdicts: Vec<Verdict> = programs
        .par_iter()
        .flat_map(|program| check(program, &folder, &words))
        .collect();
    let count = |wanted: fn(&Verdict) -> bool| verdicts.iter().filter(|v| wanted(v)).count();
    let differ = count(|v| matches!(v, Verdict::Differs));
    println!(
        "programs: {} runs give what the native builds give, {differ} do not, {} skipped, in {:.0} s",
        count(|v| matches!(v, Verdict::Equal)),
        count(|v| matches!(v, Verdict::Skipped)),
        start.elapsed().as_secs_f64(),
    );
    match differ {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Every run of a program whose name has all the words; prints a line for each.
fn check(program: &Program, folder: &Path, words: &[String]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let mut native: Option<Result<Outcome, String>> = None;
    for (variant, build) in program.variants.iter().filter(|(v, _)| *v != "native") {
        let has = |wanted: &str| words.iter().any(|word| word == wanted);
        let modes: &[&[&str]] = match program.quick {
            _ if has("llvm") => &BY_LLVM,
            _ if has("direct") => &IN_ONE_PASS,
            true => MODES,
            false => &MODES[..1],
        };
        for mode in modes {
            let name = format!("{} {variant} {}", program.name, mode.join(" "));
            if !words.iter().all(|word| name.contains(word)) {
                continue;
            }
            let paths = path_of(build).and_then(|module| {
                let native = path_of(&program.variants["native"])?;
                Ok((folder.join(module), folder.join(native)))
            });
            let (module, native_build) = match paths {
                Ok(paths) => paths,
                Err(absent) => {
                    verdicts.push(absent.said_of(&name));
                    break;
                }
            };
            let expected =
                native.get_or_insert_with(|| run(Command::new(native_build), program, folder));
            verdicts.push(compare(program, folder, &name, &module, mode, expected));
        }
    }
    verdicts
}

/// Why a build is not there.
enum Absent<'a> {
    Skipped(&'a str),
    Failed(&'a str),
}

impl Absent<'_> {
    fn said_of(&self, name: &str) -> Verdict {
        match self {
            Absent::Skipped(why) => {
                println!("SKIPPED  {name}: {why}");
                Verdict::Skipped
            }
            Absent::Failed(why) => {
                println!("DIFFERS  {name}: {why}");
                Verdict::Differs
            }
        }
    }
}

fn path_of(build: &Variant) -> Result<&Path, Absent<'_>> {
    match build {
        Variant::Path(path) => Ok(path),
        Variant::Skipped(why) => Err(Absent::Skipped(why)),
        Variant::Failed(why) => Err(Absent::Failed(why)),
    }
}

fn compare(
    program: &Program,
    folder: &Path,
    name: &str,
    module: &Path,
    mode: &[&str],
    expected: &Result<Outcome, String>,
) -> Verdict {
    let start = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.arg("run").args(mode).args(["--dir", &program.dir]);
    command.arg(module).arg("--");
    // Programs run in a folder of their own, where no compiler is found.
    let zig = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools/zig/ziglang/zig");
    if std::env::var_os("FATHOM_CLANG").is_none() && zig.is_file() {
        command.env("FATHOM_CLANG", zig);
    }
    let wrong = match (expected, run(command, program, folder)) {
        (Err(why), _) => Some(format!("the native build: {why}")),
        (_, Err(why)) => Some(why),
        (Ok(expected), Ok(got)) => difference(expected, &got),
    };
    let size = fs::metadata(module).map_or(0, |m| m.len()) as f64 / 1e6;
    let took = start.elapsed().as_secs_f64();
    match wrong {
        None => {
            println!(
                "equal    {name:34} {:18} {size:5.2} MB {took:6.1} s",
                program.version
            );
            Verdict::Equal
        }
        Some(why) => {
            println!("DIFFERS  {name}: {why}");
            Verdict::Differs
        }
    }
}

/// Runs a command in a folder of its own that holds the program's files.
fn run(mut command: Command, program: &Program, folder: &Path) -> Result<Outcome, String> {
    let scratch = tempfile::tempdir().map_err(|e| format!("no scratch folder: {e}"))?;
    for file in &program.files {
        let name = Path::new(file).file_name().expect("a file");
        fs::copy(folder.join(file), scratch.path().join(name))
            .map_err(|e| format!("{file}: {e}"))?;
    }
    let streams = tempfile::tempdir().map_err(|e| format!("no scratch folder: {e}"))?;
    let stream = |name: &str| File::create(streams.path().join(name)).expect("a new file");
    let mut child = command
        .args(&program.args)
        .current_dir(scratch.path())
        .stdin(Stdio::null())
        .stdout(stream("out"))
        .stderr(stream("err"))
        .spawn()
        .map_err(|e| format!("does not start: {e}"))?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) => break status,
            None if start.elapsed() > TIMEOUT => {
                child.kill().map_err(|e| e.to_string())?;
                child.wait().map_err(|e| e.to_string())?;
                return Err(format!("no end within {} s", TIMEOUT.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let stdout = fs::read(streams.path().join("out")).map_err(|e| e.to_string())?;
    let stderr = fs::read_to_string(streams.path().join("err")).unwrap_or_default();
    // Nothing is meant to complain; what does has failed, and says why.
    match stderr.lines().next() {
        Some(line) => Err(format!("{status}: {line}")),
        None => Ok(Outcome {
            stdout,
            status: status.code(),
        }),
    }
}

/// The first line in which two runs differ; None when they are the same.
fn difference(expected: &Outcome, got: &Outcome) -> Option<String> {
    if expected == got {
        return None;
    }
    let text = |outcome: &Outcome| String::from_utf8_lossy(&outcome.stdout).into_owned();
    let (native, ours) = (text(expected), text(got));
    let mut lines = native.lines().zip(ours.lines()).enumerate();
    Some(match lines.find(|(_, (a, b))| a != b) {
        Some((at, (a, b))) => format!("line {}: natively {a:?}, here {b:?}", at + 1),
        None => format!(
            "natively {} lines and status {:?}, here {} and {:?}",
            native.lines().count(),
            expected.status,
            ours.lines().count(),
            got.status
        ),
    })
}
