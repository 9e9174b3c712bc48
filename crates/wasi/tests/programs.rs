//! Runs every program of `programs/` under every strategy, by the fast compiler and in one
//! pass, and on the engines that are installed, and compares what each prints with `NAME.out`.
//!
//! A program is C (compiled by the pinned compiler in `.tools`, else skipped)
//! or text format. It gets two arguments, two environment variables, its
//! `NAME.stdin`, and a folder with links that lead out. `FATHOM_BLESS=1` writes
//! what our engine prints under `guard` as the expectation. Where another
//! engine prints something else, `differs.txt` says why.

#[path = "programs/peer.rs"]
mod peer;

use fathom_engine::{Bounds, BoundsChoice, Codegen, Config, Engine, Linker, Module, Opt, Store};
use fathom_wasi::{DirPerms, FilePerms, ProcExit, Stream, WasiCtx, WasiCtxBuilder};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const ARGS: [&str; 2] = ["a b", "-x"];
const ENV: [(&str, &str); 2] = [("A", "1"), ("EMPTY", "")];

/// What became of one program in one place.
enum Outcome {
    Passed,
    Skipped(String),
    Failed(String),
}

fn main() -> ExitCode {
    let filter: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    if std::env::args().any(|arg| arg == "--list") {
        return ExitCode::SUCCESS;
    }
    let (mut passed, mut skipped, mut failed) = (0, 0, 0);
    for program in programs() {
        let name = stem(&program);
        if !filter.is_empty() && !filter.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        for (place, outcome) in run_everywhere(&program, &name) {
            match outcome {
                Outcome::Passed => passed += 1,
                Outcome::Skipped(why) => {
                    skipped += 1;
                    println!("{name} on {place}: skipped: {why}");
                }
                Outcome::Failed(why) => {
                    failed += 1;
                    println!("{name} on {place}: FAILED: {why}");
                }
            }
        }
    }
    println!("programs: {passed} passed, {failed} failed, {skipped} skipped");
    ExitCode::from(u8::from(failed > 0))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// The root of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn programs() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the folder of programs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|ext| ext == "c" || ext == "wat")
        })
        .collect();
    all.sort();
    all
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Whether the host has what a strategy needs; said where it has not.
fn is_here(bounds: &Bounds) -> bool {
    let missing = bounds.missing();
    if let Some(missing) = &missing {
        eprintln!("SKIPPED under {bounds}: {missing}");
    }
    missing.is_none()
}

fn run_everywhere(program: &Path, name: &str) -> Vec<(String, Outcome)> {
    let wasm = match binary(program, name) {
        Ok(wasm) => wasm,
        Err(why) => return vec![("every engine".to_owned(), why)],
    };
    let bytes = fs::read(&wasm).expect("what was just written");
    let mut outcomes = Vec::new();
    for bounds in Bounds::all_for(false).filter(is_here) {
        let bless = bounds == Bounds::Guard;
        let outcome = ours(&bytes, name, bounds, (Opt::Speed, Codegen::default()));
        let outcome = outcome.map_or_else(|outcome| outcome, |got| judge(name, &got, bless));
        outcomes.push((format!("{bounds} {}", Opt::Speed), outcome));
    }
    // One strategy is enough to see that fast compiles work too.
    let direct = cfg!(target_arch = "x86_64").then_some((Opt::Speed, Codegen::Direct));
    for (opt, codegen) in [(Opt::None, Codegen::default())].into_iter().chain(direct) {
        let outcome = ours(&bytes, name, Bounds::Guard, (opt, codegen));
        let outcome = outcome.map_or_else(|outcome| outcome, |got| judge(name, &got, false));
        outcomes.push((format!("{} {opt} {codegen}", Bounds::Guard), outcome));
    }
    for peer in peer::ALL {
        let outcome = match differs(name, peer.name) {
            Some(why) => Outcome::Skipped(why),
            None => {
                let place = Place::new(name);
                match peer.run(&root(), &wasm, &place, &ARGS, &ENV) {
                    Ok(got) => judge(name, &got, false),
                    Err(why) => Outcome::Skipped(why),
                }
            }
        };
        outcomes.push((peer.name.to_owned(), outcome));
    }
    outcomes
}

/// Why a program is not compared on an engine.
fn differs(name: &str, engine: &str) -> Option<String> {
    let list = fs::read_to_string(folder().join("differs.txt")).expect("the list of differences");
    list.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let is_it = words.next() == Some(name) && words.next() == Some(engine);
        is_it.then(|| words.collect::<Vec<_>>().join(" "))
    })
}

/// The program as a binary module.
fn binary(program: &Path, name: &str) -> Result<PathBuf, Outcome> {
    let wasm = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.wasm"));
    if program.extension().is_some_and(|ext| ext == "wat") {
        let bytes = wat::parse_file(program).map_err(|error| Outcome::Failed(error.to_string()))?;
        fs::write(&wasm, bytes).expect("a writable target folder");
        return Ok(wasm);
    }
    let zig = root().join(".tools/zig/ziglang/zig");
    if !zig.exists() {
        return Err(Outcome::Skipped("no .tools/zig: make setup".to_owned()));
    }
    let output = Command::new(zig)
        .args(["cc", "-target", "wasm32-wasi", "-O2", "-Wall", "-s", "-o"])
        .arg(&wasm)
        .arg(program)
        .output()
        .map_err(|error| Outcome::Failed(format!("zig: {error}")))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Outcome::Failed(text));
    }
    Ok(wasm)
}

/// Where a program runs: a folder of its own, one beside it with a secret, and
/// links to that one.
struct Place {
    temp: tempfile::TempDir,
    stdin: Option<PathBuf>,
}

impl Place {
    fn new(name: &str) -> Place {
        let temp = tempfile::tempdir().expect("a temporary folder");
        let (inside, outside) = (temp.path().join("root"), temp.path().join("outside"));
        fs::create_dir(&inside).expect("a folder");
        fs::create_dir(&outside).expect("a folder");
        fs::write(outside.join("secret"), "secret").expect("a file");
        let link = std::os::unix::fs::symlink::<&Path, PathBuf>;
        link(Path::new("secret"), outside.join("link")).expect("a link");
        link(&outside, inside.join("out-absolute")).expect("a link");
        link(Path::new("../outside"), inside.join("out-relative")).expect("a link");
        let stdin = folder().join(format!("{name}.stdin"));
        Place {
            temp,
            stdin: stdin.exists().then_some(stdin),
        }
    }

    fn root(&self) -> PathBuf {
        self.temp.path().join("root")
    }
}

/// Runs on our engine; what it printed, and how it ended.
fn ours(
    wasm: &[u8],
    name: &str,
    bounds: Bounds,
    (opt, codegen): (Opt, Codegen),
) -> Result<String, Outcome> {
    let config = Config::new()
        .bounds(BoundsChoice::Named(bounds))
        .codegen(codegen)
        .opt(opt)
        .allow_unchecked(true);
    // Only a strategy that this machine lacks is refused here.
    let engine = Engine::new(&config).map_err(|error| Outcome::Skipped(error.to_string()))?;
    let place = Place::new(name);
    let printed = place.temp.path().join("stdout");
    let stdin = match &place.stdin {
        Some(path) => File::open(path).expect("the program's input").into(),
        None => Stream::Null,
    };
    let output = File::options()
        .create_new(true)
        .read(true)
        .write(true)
        .open(&printed)
        .expect("a new file");
    let ctx = ENV
        .iter()
        .try_fold(WasiCtxBuilder::new(), |builder, (name, value)| {
            builder.env(name, value)
        })
        .and_then(|builder| {
            builder.arg("program")?.args(ARGS)?.preopened_dir(
                place.root(),
                "/",
                DirPerms::all(),
                FilePerms::all(),
            )
        })
        .map(|builder| builder.stdin(stdin).stdout(output))
        .and_then(WasiCtxBuilder::build)
        .map_err(|error| Outcome::Failed(error.to_string()))?;
    let ended = execute(&engine, wasm, ctx);
    let mut text = fs::read(&printed).expect("what was printed");
    text.extend(format!("\n{ended}\n").into_bytes());
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn execute(engine: &Engine, wasm: &[u8], ctx: WasiCtx) -> String {
    let run = || -> Result<(), fathom_engine::Error> {
        let module = Module::new(engine, wasm)?;
        let mut linker = Linker::new(engine);
        fathom_wasi::add_to_linker(&mut linker, |ctx: &mut WasiCtx| ctx).unwrap();
        let mut store = Store::new(engine, ctx);
        let instance = linker.instantiate(&mut store, &module)?;
        let start = instance.get_func(&store, "_start").expect("a program");
        start.call(&mut store, &[], &mut [])
    };
    match run() {
        Ok(()) => "exit 0".to_owned(),
        Err(error) => match (error.downcast_ref(), error.trap()) {
            (Some(ProcExit(status)), _) => format!("exit {status}"),
            (None, Some(trap)) => format!("trap: {}", trap.code),
            // What the host said, without where: others give no place.
            (None, None) => match std::error::Error::source(&error) {
                Some(said) => format!("error: {said}"),
                None => format!("error: {error}"),
            },
        },
    }
}

/// Compares with the expectation, or makes it one.
fn judge(name: &str, got: &str, may_bless: bool) -> Outcome {
    let expected = folder().join(format!("{name}.out"));
    if may_bless && std::env::var_os("FATHOM_BLESS").is_some() {
        fs::write(&expected, got).expect("a writable folder of programs");
        return Outcome::Passed;
    }
    let Ok(expected) = fs::read_to_string(&expected) else {
        return Outcome::Failed("no expectation: run with FATHOM_BLESS=1".to_owned());
    };
    if expected == got {
        return Outcome::Passed;
    }
    let different = expected.lines().zip(got.lines()).find(|(e, g)| e != g);
    Outcome::Failed(match different {
        Some((expected, got)) => format!("expected '{expected}', got '{got}'"),
        None => format!(
            "{} lines expected, {} got",
            expected.lines().count(),
            got.lines().count()
        ),
    })
}
