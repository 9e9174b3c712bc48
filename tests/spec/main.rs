//! The official test suite, and scripts of our own, under every strategy.
//!
//! ```text
//!  groups::GROUPS ─► script::Script, parsed and encoded once
//!     × modes (strategy × optimisation level)  = jobs, run in parallel
//!  job ─ run::run ─► an Outcome for each directive
//!        expected::Expected ─► which failures are the strategy's nature, and
//!                              what is beyond the engine
//!        tally::Table ─► totals by group and strategy
//! ```
//!
//! What must stay true: no directive is left out silently: what the engine
//! leaves out stands in `expected/beyond.txt`, what a strategy does not fulfil
//! in `expected/STRATEGY.txt`, each with its reason, and one that is listed but
//! passes is an error too. `FATHOM_BLESS=1` rewrites those files, but only with
//! what may be excused so.
//!
//! `cargo test --test spec -- [--bounds NAME,…] [--opt NAME,…] [--elide NAME,…]
//! [--spectre on,off] [--codegen NAME,…] [--compilation eager,lazy] [--group NAME,…] [WORD]…` runs the scripts of these groups (`all` for every one) whose `mode
//! group/file` contains every word, in these modes; `FATHOM_SPEC` holds more
//! such arguments, for runners that cannot pass any. `FATHOM_TRACE=1` names each
//! job as it starts, to find one that ends the process. The code generator `llvm` is only
//! run where it is asked for: it needs the compiler that `make setup` installs, and takes
//! some minutes.

mod choice;
mod expected;
mod groups;
mod packages;
mod run;
mod script;
mod spectest;
mod tally;
mod values;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fathom_engine::{
    Bounds, BoundsChoice, Codegen, Compilation, Config, Elide, Engine, Opt, Quota,
};
use rayon::prelude::*;

use choice::Choice;
use expected::Expected;
use groups::Source;
use run::Report;
use script::Script;
use tally::{Table, Tally};

/// How far 64-bit memories without a declared maximum can grow: many are alive
/// at once, and some strategies have few low addresses for them.
const GROWTH_LIMIT: u64 = 64 << 20;
/// The same of code that is not optimised: beyond what indices of 32 bits reach.
const FAR_GROWTH_LIMIT: u64 = 8 << 30;
/// The memories of a script together: one has 4 GiB in full beside others.
const SCRIPT_BYTES: u64 = 8 << 30;

/// How the scripts are run.
#[derive(Clone, Copy)]
pub struct Mode {
    bounds: Bounds,
    opt: Opt,
    elide: Elide,
    spectre: bool,
    codegen: Codegen,
    compilation: Compilation,
}

impl Mode {
    fn name(self) -> String {
        let elide = match self.elide == Elide::default() {
            true => String::new(),
            false => format!(" --elide {}", self.elide),
        };
        let spectre = if self.spectre { "" } else { " --spectre off" };
        let codegen = match self.codegen {
            Codegen::Cranelift => "",
            Codegen::Llvm => " --codegen llvm",
            Codegen::Direct => " --codegen direct",
            Codegen::Tiered => " --codegen tiered",
            Codegen::TieredLlvm => " --codegen tiered:llvm",
        };
        let compilation = match self.compilation {
            Compilation::Eager => "",
            Compilation::Lazy => " --compilation lazy",
        };
        format!(
            "{} --opt {}{elide}{spectre}{codegen}{compilation}",
            self.bounds, self.opt
        )
    }

    /// Whether the checks are left out that are by default, and the others guarded, by the
    /// default's code generator.
    fn is_default(self) -> bool {
        self.elide == Elide::default()
            && self.spectre
            && self.codegen == Codegen::default()
            && self.compilation == Compilation::default()
    }

    fn engine(self) -> fathom_engine::Result<Engine> {
        // Beside a strategy for one index type, the other memories have what
        // `auto` chooses: `guard` for 32-bit ones, `guard64` for 64-bit ones.
        let choice = |memory64| match self.bounds.supports(memory64) {
            true => BoundsChoice::Named(self.bounds),
            false => BoundsChoice::Auto,
        };
        // All modules of a script are in one store.
        let quota = Quota {
            memory_bytes: SCRIPT_BYTES,
            ..Quota::default()
        };
        let config = Config::new()
            .quota(quota)
            .bounds(choice(false))
            .bounds64(choice(true))
            .memory64_growth_limit(match self.opt {
                Opt::Speed => GROWTH_LIMIT,
                Opt::None => FAR_GROWTH_LIMIT,
            })
            .codegen(self.codegen)
            // At every place where it can be.
            .tier_up(0)
            .collection_bytes(match self.opt {
                Opt::Speed => 4 << 20,
                // At every allocation.
                Opt::None => 0,
            })
            .compilation(self.compilation)
            .clang(clang())
            .opt(self.opt)
            .elide(self.elide)
            .spectre(self.spectre)
            .allow_unchecked(true);
        Engine::new(&config)
    }
}

/// The project's folder. Two packages build this runner: the one there and
/// `tests/cross`.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = package.ancestors();
    let root = folders.find(|folder| folder.join("tests/spec").is_dir());
    root.unwrap_or(package).to_path_buf()
}

/// The compiler that `make setup` installs.
fn clang() -> Option<PathBuf> {
    let zig = root().join(".tools/zig/ziglang/zig");
    zig.is_file().then_some(zig)
}

fn main() -> ExitCode {
    let choice = match Choice::read() {
        Ok(choice) => choice,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let scripts = scripts(&choice);
    let bless = std::env::var_os("FATHOM_BLESS").is_some();
    let mut table = Table::new(&choice.bounds);
    let mut good = true;
    for mode in choice.modes() {
        let chosen: Vec<&Script> = scripts
            .iter()
            .filter(|script| choice.wants(mode, script))
            .collect();
        if !chosen.is_empty() {
            good &= run_mode(mode, &chosen, bless && choice.is_whole(), &mut table);
        }
    }
    table.print();
    match good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// The chosen groups' scripts, those that take longest first.
fn scripts(choice: &Choice) -> Vec<Script> {
    let sources: Vec<Source> = choice.groups.iter().flat_map(|g| g.sources()).collect();
    let mut scripts: Vec<Script> = sources.par_iter().map(Script::prepare).collect();
    scripts.sort_by_key(|script| std::cmp::Reverse(script.bytes));
    scripts
}

/// Run the scripts in one mode, print its line and whatever is wrong.
fn run_mode<'s>(mode: Mode, scripts: &[&'s Script], bless: bool, table: &mut Table) -> bool {
    let engine = match mode.engine() {
        Ok(engine) => engine,
        Err(error) => {
            println!("{:18} cannot run here: {error}", mode.name());
            return false;
        }
    };
    let (scripts, absent): (Vec<&Script>, Vec<&Script>) = scripts
        .iter()
        .partition(|script| expected::switches_stacks(mode.bounds) || !script.switches_stacks());
    if !absent.is_empty() {
        println!(
            "{:18} SKIPPED {} scripts: no stack switching under it",
            mode.name(),
            absent.len()
        );
    }
    let trace = std::env::var_os("FATHOM_TRACE").is_some();
    // A pool of their own: a script may wait for threads of its own, which compile
    // in the common one.
    let workers = rayon::ThreadPoolBuilder::new().build().expect("threads");
    let run_one = |script: &&'s Script| {
        if trace {
            eprintln!("{} {}", mode.name(), script.name);
        }
        run::run(&engine, script)
    };
    let mut reports: Vec<Report<'_>> =
        workers.install(|| scripts.par_iter().with_max_len(1).map(run_one).collect());
    reports.sort_by(|a, b| a.script.name.cmp(&b.script.name));
    if bless && mode.opt == Opt::Speed && mode.is_default() {
        expected::bless(mode.bounds, &reports);
    }
    let tally = Tally::of(
        &reports,
        [
            &Expected::of(mode.bounds),
            &Expected::either(mode.bounds),
            &Expected::beyond(mode.bounds),
        ],
    );
    tally.print(&mode.name());
    if mode.is_default() {
        table.add(mode.bounds, &reports);
    }
    tally.is_good()
}
