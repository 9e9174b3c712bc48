//! libsodium's own programs: what each prints on our engine must be what the
//! library's authors say.
//!
//! `workloads/libsodium/suite.toml` has the answers, hashes of the library's `.exp`
//! files; `python3 workloads/build.py --suite libsodium --variant wasm,wasm-simd`
//! builds the programs. Each is passed through once with the default strategy; with
//! the word `every` under every strategy that keeps a sandbox, and with the fast
//! compiler; with `llvm` and with `direct` by those code generators, with and without checks. A
//! line for what is wrong, and one at the end.
//!
//! What must stay true: nothing is left out silently. Where nothing has been built
//! it says SKIPPED, and how to build it.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use fathom_bench::suite::{Suite, Workload};
use fathom_engine::Bounds;
use rayon::prelude::*;

/// Builds of the programs.
const VARIANTS: [&str; 2] = ["wasm", "wasm-simd"];
/// The size at which a program is passed through once.
const SIZE: &str = "mini";

fn main() -> ExitCode {
    let has = |wanted: &str| std::env::args().any(|word| word == wanted);
    let is_every = has("every");
    let generator = ["llvm", "direct"].into_iter().find(|name| has(name));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads/libsodium");
    let suite = Suite::load(&folder).expect("the suite's description");
    let start = Instant::now();
    let mut runs = Vec::new();
    for variant in VARIANTS {
        let built = |workload: &&Workload| suite.artifact(variant, SIZE, &workload.name).exists();
        let programs: Vec<&Workload> = suite.workloads.iter().filter(built).collect();
        if programs.is_empty() {
            println!(
                "SKIPPED: libsodium is not built as {variant} (python3 workloads/build.py --suite \
                 libsodium --variant {variant})"
            );
        }
        let modes = match (is_every, generator) {
            (true, _) => every(),
            (false, Some(generator)) => by(generator),
            (false, None) => vec![Vec::new()],
        };
        for mode in modes {
            let run = |workload| (variant, workload, mode.clone());
            runs.extend(programs.iter().copied().map(run));
        }
        // Vectors are for those who ask: most programs have few.
        if !is_every {
            break;
        }
    }
    let wrong = |(variant, workload, mode): &(&str, &Workload, Vec<String>)| {
        let module = suite.artifact(variant, SIZE, &workload.name);
        let why = failure(&module, workload, mode)?;
        println!(
            "WRONG    {} {variant} {}: {why}",
            workload.name,
            mode.join(" ")
        );
        Some(())
    };
    let differ = runs.par_iter().filter_map(wrong).count();
    println!(
        "libsodium: {} runs answer as the library's authors say, {differ} do not, in {:.0} s",
        runs.len() - differ,
        start.elapsed().as_secs_f64()
    );
    match differ {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// The arguments of each way to run: strategies that this host has, and `--opt none`.
fn every() -> Vec<Vec<String>> {
    let words = |words: [&str; 2]| words.map(str::to_owned).to_vec();
    let mut modes = vec![Vec::new(), words(["--opt", "none"])];
    for bounds in Bounds::ALL {
        let has = bounds.supports(false) && bounds.missing().is_none();
        if has && bounds != Bounds::None {
            modes.push(words(["--bounds", bounds.name()]));
        }
    }
    modes
}

/// The same of another code generator.
fn by(generator: &str) -> Vec<Vec<String>> {
    let mode = |bounds| ["--codegen", generator, "--bounds", bounds].map(str::to_owned);
    ["guard", "trap"]
        .map(|bounds| mode(bounds).to_vec())
        .to_vec()
}

/// What is wrong with a run; `None` for a right answer.
fn failure(module: &Path, workload: &Workload, mode: &[String]) -> Option<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.arg("run").args(mode).arg(module).arg("--");
    command.args(workload.args_at(SIZE)).stdin(Stdio::null());
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return Some(format!("does not start: {error}")),
    };
    let printed = String::from_utf8_lossy(&output.stdout);
    let expected = format!("fathom: answer={} ", workload.answer_at(SIZE)?);
    let last = printed.lines().last().unwrap_or_default();
    if output.status.success() && last.starts_with(&expected) {
        return None;
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().last().unwrap_or(last);
    Some(format!("{}: {said}", output.status))
}
