//! Golden tests: `tests/clif/NAME.wat` → `tests/clif/NAME.clif`, and the same
//! for machine code in `tests/disas`: what `fathom objdump` prints. Every input
//! passes Cranelift's verifier.
//!
//! The first line of the input may choose the strategies, `;; bounds: guard trap`. The second
//! says which checks are left out, `;; elide: loops`; none are without it. A line `;; inline`
//! among the first three has small functions inlined, one `;; spectre: on` or `off on` guards
//! against speculation, of which there are none without it, and one `;; direct` has the code made
//! in one pass.
//! `FATHOM_BLESS=1` rewrites what is expected. What every form of every strategy makes of an
//! access is in `forms.rs`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{Inlinable, InlinableFuncs, ModuleEnv};
use crate::bounds::{Bounds, GrowthLimits, MemoryPlan};
use crate::compile::argument_passing::Passing;
use crate::compile::{CompileBudget, Elide, Listing, ModuleBudget, Target};
use crate::facts::features::Features;
use crate::facts::module::decode;
use crate::facts::vmctx::VmLayout;

/// What is written down of a function.
#[derive(Clone, Copy)]
enum Stage {
    /// What translation makes, before any optimisation.
    Clif,
    /// The machine code.
    Disas,
}

/// Each function of a module, translated and compiled.
pub(super) fn listings(wat: &str, bounds: Bounds, spectre: bool) -> Vec<Listing> {
    let wasm = wat::parse_str(wat).expect("the input is well-formed");
    let (info, bodies) = decode(&wasm, Features::all()).expect("the input validates");
    let layout = VmLayout::new(&info);
    let plans: Vec<MemoryPlan> = info
        .memories
        .iter()
        .map(|ty| MemoryPlan::new(bounds, ty, GrowthLimits::default()).expect("the strategy fits"))
        .map(|plan| plan.spectre(spectre))
        .collect();
    let target = Target::fixed();
    let funcs = match says(wat, ";; inline") {
        true => InlinableFuncs::choose(&info, &bodies),
        false => InlinableFuncs::none(),
    };
    let env = ModuleEnv {
        inlinable: Inlinable {
            funcs: &funcs,
            wasm: &wasm,
        },
        info: &info,
        layout: &layout,
        plans: &plans,
        isa: target.isa(),
        elide: elision(wat),
        spectre,
        passing: Passing::Stack,
        count: false,
        fuel: false,
        budget: &ModuleBudget::new(CompileBudget::OFF, 0),
        plain_isa: target.isa(),
        unplaced: [target.unplaced(); 2],
        plain: false,
        direct: says(wat, ";; direct"),
        countdowns: None,
        entered_at: None,
        is_left: false,
        compares_null: false,
    };
    let listed = crate::compile::listings(&env, bodies, None, None, |listing| listing);
    listed.expect("each translates, verifies and compiles")
}

fn render(wat: &str, bounds: Bounds, spectre: bool, stage: Stage) -> String {
    let mut text = String::new();
    for listing in listings(wat, bounds, spectre) {
        let guards = if spectre { ", spectre" } else { "" };
        let func = listing.func;
        writeln!(text, ";; {bounds}{guards}: function {func}").expect("a string takes all");
        match stage {
            Stage::Clif => text.push_str(&listing.clif),
            Stage::Disas => text.push_str(&listing.to_string()),
        }
        text.push('\n');
    }
    text
}

pub(in crate::compile) fn inputs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder of goldens is there");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "wat"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no goldens in {}", folder.display());
    paths
}

/// Those that are asked for.
fn strategies(wat: &str) -> Vec<Bounds> {
    let first = wat.lines().next().unwrap_or_default();
    match first.strip_prefix(";; bounds:") {
        Some(names) => names
            .split_whitespace()
            .map(|name| name.parse().expect("a strategy's name"))
            .collect(),
        None => vec![Bounds::Guard],
    }
}

pub(super) fn elision(wat: &str) -> Elide {
    let choice = wat
        .lines()
        .take(2)
        .find_map(|line| line.strip_prefix(";; elide:"));
    match choice {
        Some(name) => name.trim().parse().expect("a choice by its name"),
        None => Elide::Off,
    }
}

/// Without guards, with them, or one after the other.
pub(super) fn spectre(wat: &str) -> &'static [bool] {
    let choice = wat
        .lines()
        .take(3)
        .find_map(|line| line.strip_prefix(";; spectre:"));
    match choice.map(str::trim) {
        None | Some("off") => &[false],
        Some("on") => &[true],
        Some("off on") => &[false, true],
        Some(other) => panic!("'{other}' is none of: off, on, off on"),
    }
}

fn says(wat: &str, choice: &str) -> bool {
    wat.lines().take(3).any(|line| line == choice)
}

/// What is expected of an input.
fn golden(wat: &str, stage: Stage) -> String {
    let under = |bounds: Bounds| {
        let texts = spectre(wat).iter();
        texts
            .map(|on| render(wat, bounds, *on, stage))
            .collect::<String>()
    };
    strategies(wat).into_iter().map(under).collect()
}

/// Files that differ from what was found, which are rewritten where that is asked for.
pub(in crate::compile) fn expect(files: impl IntoIterator<Item = (PathBuf, String)>) {
    let bless = std::env::var_os("FATHOM_BLESS").is_some_and(|v| v == "1");
    let mut stale = Vec::new();
    for (file, found) in files {
        if bless {
            std::fs::write(&file, found).expect("the golden can be written");
        } else if std::fs::read_to_string(&file).unwrap_or_default() != found {
            stale.push(format!("--- {}\n{found}", file.display()));
        }
    }
    assert!(
        stale.is_empty(),
        "these differ from what is expected (FATHOM_BLESS=1 accepts them):\n{}",
        stale.join("\n")
    );
}

/// The folder of the tests' data.
pub(in crate::compile) fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder)
}

fn check(folder: &str, stage: Stage) {
    let extension = match stage {
        Stage::Clif => "clif",
        Stage::Disas => "disas",
    };
    let found = inputs(&data(folder)).into_iter().map(|path| {
        let wat = std::fs::read_to_string(&path).expect("the input can be read");
        (path.with_extension(extension), golden(&wat, stage))
    });
    expect(found);
}

/// Stores and calls of the host differ between instruction sets.
#[test]
#[cfg_attr(
    not(target_arch = "x86_64"),
    ignore = "SKIPPED: the goldens are those of x86-64"
)]
fn clif_goldens() {
    check("clif", Stage::Clif);
}

/// The code of one instruction set, with features that do not depend on the
/// machine.
#[test]
#[cfg_attr(
    not(target_arch = "x86_64"),
    ignore = "SKIPPED: the goldens are those of x86-64"
)]
fn machine_code_goldens() {
    check("disas", Stage::Disas);
}
