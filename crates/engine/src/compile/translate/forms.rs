//! What each form of each strategy adds to a program, as data that can be reviewed.
//!
//! ```text
//!   tests/forms/INPUT.wat ──▶ INPUT.txt      a line a form: the checks of each function,
//!                                            as operators of CLIF and as instructions
//!                         └─▶ STRATEGY.txt   the machine code of three accesses, whole,
//!                                            32 bits beside 64
//! ```
//!
//! The second line of an input may say which checks are left out, another whether accesses are
//! guarded against speculation (`goldens.rs`). `FATHOM_BLESS=1` rewrites what is expected.
//!
//! What must stay true: a form adds to `none` what is marked as a check, and nothing else
//! (before checks are left out).

use std::fmt::Write as _;
use std::path::PathBuf;

use super::goldens::{data, elision, expect, inputs, listings, spectre};
use crate::bounds::Bounds;
use crate::compile::{Elide, Listing};

/// An input, and what it is called.
fn all() -> Vec<(PathBuf, String)> {
    let read = |path: PathBuf| {
        let wat = std::fs::read_to_string(&path).expect("the input can be read");
        (path, wat)
    };
    inputs(&data("forms")).into_iter().map(read).collect()
}

/// The forms that guard the memories of an input.
fn forms(wat: &str) -> Vec<Bounds> {
    Bounds::forms_for(wat.contains("(memory i64") || wat.contains("(memory (;0;) i64")).collect()
}

/// The operators of CLIF, in order: those that a strategy added, or the others.
fn operators(listing: &Listing, of_checks: bool) -> Vec<String> {
    let lines = listing.clif.lines().filter(|line| line.starts_with('@'));
    let parts = lines.filter_map(|line| line.split_once(' '));
    let marked = parts.filter_map(|(_, rest)| match rest.strip_prefix('!') {
        Some(rest) => of_checks.then(|| rest.trim_start()),
        None => (!of_checks).then(|| rest.trim_start()),
    });
    let operator = |line: &str| {
        let line = line.split_once(" = ").map_or(line, |(_, line)| line);
        let name = line.split([' ', '.', '(']).next().unwrap_or_default();
        name.to_owned()
    };
    marked.map(operator).collect()
}

/// A row: what is added before the generator optimises, and what is left of it in the code.
fn row(name: &str, listing: &Listing) -> String {
    let clif = operators(listing, true).join(" ");
    let checks = listing.code.iter().filter(|line| line.is_check);
    let code: Vec<&str> = checks
        .filter_map(|line| line.text.split_whitespace().next())
        .collect();
    let bytes = listing.cost().bytes;
    format!("{name:<41} {bytes:>4} B  {clif}  →  {}\n", code.join(" "))
}

/// Every form of an input's functions: a paragraph a function, a row a form.
fn table(wat: &str) -> String {
    let mut functions: Vec<String> = Vec::new();
    for form in forms(wat) {
        for on in spectre(wat) {
            let name = match on {
                true => format!("{form}, spectre"),
                false => form.to_string(),
            };
            for (i, listing) in listings(wat, form, *on).iter().enumerate() {
                if functions.len() == i {
                    let name = listing.name.as_deref().unwrap_or_default();
                    functions.push(format!(";; {name}\n"));
                }
                functions[i].push_str(&row(&name, listing));
            }
        }
    }
    functions.join("\n")
}

#[test]
#[cfg_attr(
    not(target_arch = "x86_64"),
    ignore = "SKIPPED: the goldens are those of x86-64"
)]
fn what_each_form_adds() {
    let tables = all().into_iter();
    expect(tables.map(|(path, wat)| (path.with_extension("txt"), table(&wat))));
}

/// Functions of the inputs `access32` and `access64` whose code is shown whole.
const SHOWN: [&str; 3] = ["load64_near", "load32_far", "store64"];

/// The code of a strategy in its usual form.
fn code(strategy: Bounds) -> String {
    let mut text = String::new();
    for (path, wat) in all() {
        let input = path.file_stem().unwrap_or_default().to_string_lossy();
        if !input.starts_with("access") || !forms(&wat).contains(&strategy) {
            continue;
        }
        for listing in listings(&wat, strategy, true) {
            let name = listing.name.as_deref().unwrap_or_default();
            if SHOWN.contains(&name) {
                writeln!(text, ";; {input}: {name}\n{listing}").expect("a string takes all");
            }
        }
    }
    text
}

#[test]
#[cfg_attr(
    not(target_arch = "x86_64"),
    ignore = "SKIPPED: the goldens are those of x86-64"
)]
fn the_code_of_each_strategy() {
    let folder = data("forms/code");
    let files = Bounds::ALL.map(|strategy| {
        let name = strategy.name().replace(':', "-");
        (folder.join(name).with_extension("txt"), code(strategy))
    });
    let known: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
    expect(files);
    for entry in std::fs::read_dir(folder).expect("the folder of goldens is there") {
        let path = entry.expect("an entry").path();
        assert!(
            known.contains(&path),
            "{}: no strategy has it",
            path.display()
        );
    }
}

/// A check is what is marked; the rest stands without one, too, and in the same order. Less of
/// it may be left: `clamp` adds the offset itself. Elision moves what it keeps.
#[test]
fn a_form_adds_nothing_but_its_checks() {
    let mut compared = 0;
    let translated = all().into_iter();
    let translated = translated.filter(|(_, wat)| elision(wat) == Elide::Off);
    for (path, wat) in translated {
        for on in spectre(&wat) {
            let plain = listings(&wat, Bounds::None, *on);
            for form in forms(&wat) {
                for (plain, listing) in plain.iter().zip(&listings(&wat, form, *on)) {
                    let name = listing.name.as_deref().unwrap_or_default();
                    // Bulk operations are guarded as accesses to tables are, without a mark.
                    if name == "clear" {
                        continue;
                    }
                    let mut plain = operators(plain, false).into_iter();
                    for operator in operators(listing, false) {
                        let is_there = plain.any(|other| other == operator);
                        assert!(is_there, "{}: {form}: {name}: {operator}", path.display());
                    }
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 500, "{compared} functions were compared");
}
