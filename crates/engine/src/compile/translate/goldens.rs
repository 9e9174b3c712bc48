//! Golden tests: `tests/clif/NAME.wat` → `tests/clif/NAME.clif`, and the same
//! for machine code in `tests/disas`: what `fathom objdump` prints. Every input
//! passes Cranelift's verifier.
//!
//! The first line of the input may choose the strategies, `;; bounds: guard trap`, or
//! `;; bounds: every`, for each form of each that guards its memories: those have goldens
//! of their own, `tests/clif/NAME/STRATEGY.clif`. The second says which checks are left
//! out, `;; elide: loops`; none are without it. A line `;; inline` among the first three
//! has small functions inlined, one `;; spectre: on` or `off on` guards against
//! speculation; there are none without it.
//! `FATHOM_BLESS=1` rewrites what is expected.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{Inlinable, ModuleEnv};
use crate::bounds::{Bounds, GrowthLimits, MemoryPlan};
use crate::compile::passing::Passing;
use crate::compile::{CompileBudget, Elide, ModuleBudget, Target, list};
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

fn render(wat: &str, bounds: Bounds, spectre: bool, stage: Stage) -> String {
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
    let inlinable = match inlines(wat) {
        true => Inlinable::choose(&info, &bodies),
        false => Inlinable::default(),
    };
    let env = ModuleEnv {
        inlinable: &inlinable,
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
        plain: false,
    };
    let mut text = String::new();
    for body in bodies {
        let listing = list(&env, body, None).expect("it translates, verifies and compiles");
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

fn inputs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder of goldens is there");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "wat"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no goldens in {}", folder.display());
    paths
}

/// Whether each strategy has a golden of its own.
fn has_every(wat: &str) -> bool {
    wat.lines().next() == Some(";; bounds: every")
}

/// Those that are asked for; every form that guards its memories where all are.
fn strategies(wat: &str) -> Vec<Bounds> {
    if has_every(wat) {
        let wasm = wat::parse_str(wat).expect("the input is well-formed");
        let (info, _) = decode(&wasm, Features::all()).expect("the input validates");
        let fits = |form: &Bounds| info.memories.iter().all(|ty| form.supports(ty.memory64));
        return Bounds::FORMS.into_iter().filter(fits).collect();
    }
    let first = wat.lines().next().unwrap_or_default();
    match first.strip_prefix(";; bounds:") {
        Some(names) => names
            .split_whitespace()
            .map(|name| name.parse().expect("a strategy's name"))
            .collect(),
        None => vec![Bounds::Guard],
    }
}

fn elision(wat: &str) -> Elide {
    let second = wat.lines().nth(1).unwrap_or_default();
    match second.strip_prefix(";; elide:") {
        Some(name) => name.trim().parse().expect("a choice by its name"),
        None => Elide::Off,
    }
}

/// Without guards, with them, or one after the other.
fn spectre(wat: &str) -> &'static [bool] {
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

fn inlines(wat: &str) -> bool {
    wat.lines().take(3).any(|line| line == ";; inline")
}

/// The goldens of an input, and what they should be.
fn goldens(path: &Path, stage: Stage) -> Vec<(PathBuf, String)> {
    let wat = std::fs::read_to_string(path).expect("the input can be read");
    let extension = match stage {
        Stage::Clif => "clif",
        Stage::Disas => "disas",
    };
    let under = |bounds: Bounds| {
        let texts = spectre(&wat).iter();
        texts
            .map(|on| render(&wat, bounds, *on, stage))
            .collect::<String>()
    };
    let strategies = strategies(&wat).into_iter();
    if has_every(&wat) {
        let own = |bounds: Bounds| {
            let name = bounds.name().replace(':', "-");
            let golden = path.with_extension("").join(name);
            (golden.with_extension(extension), under(bounds))
        };
        return strategies.map(own).collect();
    }
    vec![(
        path.with_extension(extension),
        strategies.map(under).collect(),
    )]
}

/// The files of a folder, if there is one: a golden that no strategy has any more is
/// found there.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

fn check(folder: &str, stage: Stage) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let bless = std::env::var_os("FATHOM_BLESS").is_some_and(|v| v == "1");
    let mut stale = Vec::new();
    let mut forms = 0;
    for path in inputs(&folder) {
        let goldens = goldens(&path, stage);
        for (golden, found) in &goldens {
            if bless {
                let parent = golden.parent().expect("a golden is in a folder");
                std::fs::create_dir_all(parent).expect("its folder can be made");
                std::fs::write(golden, found).expect("the golden can be written");
            } else if std::fs::read_to_string(golden).unwrap_or_default() != *found {
                stale.push(format!("--- {}\n{found}", golden.display()));
            }
        }
        let is_one = |file: &PathBuf| goldens.iter().any(|(golden, _)| golden == file);
        let left = files(&path.with_extension("")).into_iter();
        let left = left.filter(|file| !is_one(file));
        stale.extend(left.map(|file| format!("--- {}: no strategy has it", file.display())));
        forms = forms.max(goldens.len());
    }
    assert!(
        stale.is_empty(),
        "these differ from what is expected (FATHOM_BLESS=1 accepts them):\n{}",
        stale.join("\n")
    );
    assert!(forms >= Bounds::ALL.len(), "no input is for every strategy");
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
