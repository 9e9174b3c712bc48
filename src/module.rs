//! What a module is, known from its first sections: in milliseconds, however large it is,
//! and before anything is compiled.
//!
//! ```text
//!  bytes ─▶ outline   imports, exports, custom sections, tags      nothing is validated
//!              │
//!              ├─▶ kind      who made it, for what, and what to do about it
//!              └─▶ missing   what Fathom has not: imports, features, a function to run
//! ```
//!
//! What must stay true: what is refused here would be refused later; what is let through
//! here, the engine still judges. A refusal is one line: the cause, then what helps.

mod component;
mod kind;
mod outline;

use std::collections::BTreeSet;

use fathom_bench::mistyped::nearest;
use fathom_engine::{Feature, Features};

use crate::one_line::clipped;
pub use component::check as check_component;
use kind::Kind;
use outline::{Import, Outline};

/// What makes threads: a module's name and a function's.
pub const THREADS: (&str, &str) = ("wasi", "thread-spawn");

/// Imports that are named where many are missing.
const NAMED: usize = 3;

/// Functions that are all named; of more, a few.
const LISTED: usize = 5;

/// What is to be done with a module.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'a> {
    /// Our engine calls this function, or else runs the program, with these features.
    Run(Option<&'a str>, Features),
    /// Any engine runs the program.
    Measure,
    /// Any engine calls this function, or else runs the program.
    Call(Option<&'a str>),
    /// The same, where what nobody provides traps.
    CallStubbed(Option<&'a str>),
    /// Our engine does that.
    RunStubbed(Option<&'a str>),
    /// Our engine compiles it, with these features.
    Compile(Features),
}

/// Whether that can be done, as far as the first sections tell.
///
/// # Errors
/// One line: what it is or lacks, and what would help.
pub fn check(wasm: &[u8], purpose: Purpose<'_>) -> Result<(), String> {
    let outline = Outline::of(wasm);
    if let Some(cut) = &outline.cut {
        return Err(cut.to_string());
    }
    // The engine says what is wrong with it.
    if outline.is_malformed {
        return Ok(());
    }
    let needs_imports = match purpose {
        Purpose::Run(..) | Purpose::Measure | Purpose::Call(_) => true,
        Purpose::CallStubbed(_) | Purpose::RunStubbed(_) | Purpose::Compile(_) => false,
    };
    if needs_imports {
        imports(&outline)?;
    }
    if let Purpose::Run(_, features) | Purpose::Compile(features) = purpose {
        allowed(&outline, wasm, features)?;
    }
    match purpose {
        Purpose::Run(Some(name), _)
        | Purpose::RunStubbed(Some(name))
        | Purpose::Call(Some(name))
        | Purpose::CallStubbed(Some(name)) => named(&outline, name),
        Purpose::Run(None, _) | Purpose::RunStubbed(None) => start(&outline, "run"),
        Purpose::Measure | Purpose::Call(None) | Purpose::CallStubbed(None) => {
            start(&outline, "bench")
        }
        Purpose::Compile(_) => Ok(()),
    }
}

fn imports(outline: &Outline<'_>) -> Result<(), String> {
    let missing: Vec<&Import<'_>> = outline.imports.iter().filter(|i| !i.is_given()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let kind = Kind::of(outline, &missing);
    Err(format!(
        "{}: {}; {}",
        list(&missing),
        kind.what(),
        kind.remedy(outline)
    ))
}

/// How many there are, and the first of them.
fn list(missing: &[&Import<'_>]) -> String {
    let modules: BTreeSet<&str> = missing.iter().map(|import| import.module).collect();
    let quoted = |text: &str| format!("'{}'", clipped(text));
    if let [import] = missing {
        let (module, name) = (quoted(import.module), quoted(import.name));
        return format!("import {module} {name} is missing");
    }
    let each = missing
        .iter()
        .take(NAMED)
        .map(|import| match modules.len() {
            1 => quoted(import.name),
            _ => format!("{} {}", quoted(import.module), quoted(import.name)),
        });
    let mut names = each.collect::<Vec<_>>().join(", ");
    if missing.len() > NAMED {
        names.push_str(&format!(" and {} more", missing.len() - NAMED));
    }
    let count = missing.len();
    match (modules.len(), missing) {
        (1, [first, ..]) => format!(
            "{count} imports from {} are missing ({names})",
            quoted(first.module)
        ),
        _ => format!("{count} imports are missing ({names})"),
    }
}

fn allowed(outline: &Outline<'_>, wasm: &[u8], features: Features) -> Result<(), String> {
    let objects = Feature::Gc;
    if outline.has_gc && !features.contains(objects) {
        return Err(format!(
            "it needs garbage collection (structs and arrays), and {objects} is turned off; allow \
             it (--features)"
        ));
    }
    let old = Feature::LegacyExceptions;
    if !features.contains(old) && outline.has_tags && outline.has_old_exceptions(wasm) {
        return Err(format!(
            "its exceptions are of the older form (try, catch), and {old} is turned off; allow it \
             (--features), translate the module by `wasm-opt --all-features \
             --translate-to-exnref`, or build it with `-mllvm -wasm-use-legacy-eh=false` \
             (emcc: -sWASM_LEGACY_EXCEPTIONS=0)"
        ));
    }
    Ok(())
}

/// Whether it is a program; if not, which command calls another function.
fn start(outline: &Outline<'_>, command: &str) -> Result<(), String> {
    let functions = &outline.functions;
    if functions.contains(&"_start") {
        return Ok(());
    }
    let own: Vec<&str> = functions
        .iter()
        .copied()
        .filter(|name| *name != "_initialize")
        .collect();
    match own.is_empty() {
        true => Err("it exports no function to run".to_owned()),
        false => Err(format!(
            "a library, not a program: it exports no function _start; call another by \
             `fathom {command} --invoke` {}",
            offered(&own, "")
        )),
    }
}

fn named(outline: &Outline<'_>, name: &str) -> Result<(), String> {
    if outline.functions.contains(&name) {
        return Ok(());
    }
    Err(no_function(name, &outline.functions))
}

/// What is said where there is no exported function of a name.
fn no_function(name: &str, functions: &[&str]) -> String {
    format!(
        "it exports no function {} {}",
        clipped(name),
        offered(functions, name)
    )
}

/// Functions that there are, in brackets: all of few, else those whose names are nearest to
/// what was wanted.
fn offered(functions: &[&str], wanted: &str) -> String {
    let shown = |name: &&str| match *name {
        "" => "''".to_owned(),
        name => clipped(name),
    };
    let words = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(shown).collect();
        names.join(", ")
    };
    let count = functions.len();
    if count == 0 {
        return "(there is none)".to_owned();
    }
    if count <= LISTED {
        return format!("(there are: {})", words(functions));
    }
    let near = match wanted {
        "" => Vec::new(),
        wanted => nearest(wanted, functions.iter().copied()),
    };
    match &near[..] {
        [] => format!(
            "(there are {count}: {}, …)",
            words(&functions[..LISTED.min(count)])
        ),
        near => format!("(of {count}, nearest: {})", words(near)),
    }
}

#[cfg(test)]
mod tests;
