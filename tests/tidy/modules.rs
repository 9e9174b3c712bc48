//! The modules of the engine: which may use which.
//!
//! What is read is paths, as they are written: `crate::MODULE::…`, and `super::` where it
//! leads out of a module. So each path begins at a module; one through the crate's face
//! would hide where it leads, and is refused but in the last module, which may use all.

use super::{none_wrong, sources};

/// Where the engine's sources are.
const ENGINE: &str = "crates/engine/src/";

/// A module uses itself and those in front of it.
const MODULES: [&str; 4] = ["facts", "bounds", "compile", "run"];

#[test]
fn the_engines_modules_use_those_in_front_of_them() {
    let mut wrong = Vec::new();
    let mut seen = [0; MODULES.len()];
    for source in sources(&["rs"]) {
        let Some(path) = source.path.strip_prefix(ENGINE) else {
            continue;
        };
        if path == "lib.rs" {
            continue;
        }
        match module_of(path) {
            Some(module) => seen[module] += 1,
            None => wrong.push(format!("{}: in none of the modules", source.path)),
        }
        wrong.extend(wrong_arrows(path, &source.text));
    }
    none_wrong("the engine's modules", &wrong);
    assert!(seen.iter().all(|files| *files > 0), "{MODULES:?}: {seen:?}");
}

/// The position of the module that a file is in; its path begins at the engine's sources.
fn module_of(path: &str) -> Option<usize> {
    let (first, _) = path.split_once('/')?;
    MODULES.iter().position(|module| *module == first)
}

/// What is wrong with the paths in a file.
fn wrong_arrows(path: &str, text: &str) -> Vec<String> {
    let Some(own) = module_of(path) else {
        return Vec::new();
    };
    let code = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("//"));
    let mut wrong = Vec::new();
    for (number, line) in code {
        for used in used_modules(path, line) {
            let at = format!("{ENGINE}{path}:{}", number + 1);
            match MODULES.iter().position(|module| *module == used) {
                Some(module) if module <= own => {}
                Some(_) => wrong.push(format!("{at}: {} → {used}", MODULES[own])),
                None if own + 1 == MODULES.len() => {}
                None => wrong.push(format!("{at}: crate::{used} begins at no module")),
            }
        }
    }
    wrong
}

/// What stands behind each `crate::` of a line, and behind each `super::` that leads to
/// a module.
fn used_modules<'a>(path: &str, line: &'a str) -> Vec<&'a str> {
    let name = |rest: &'a str| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    };
    let mut used: Vec<&str> = line
        .match_indices("crate::")
        .filter(|(at, _)| !line[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        .map(|(at, found)| name(&line[at + found.len()..]))
        .collect();
    let folders = path.matches('/').count();
    let levels = folders + usize::from(!path.ends_with("/mod.rs"));
    let mut rest = line;
    while let Some(at) = rest.find("super::") {
        rest = &rest[at..];
        let mut steps = 0;
        while let Some(behind) = rest.strip_prefix("super::") {
            rest = behind;
            steps += 1;
        }
        if steps >= levels && MODULES.contains(&name(rest)) {
            used.push(name(rest));
        }
    }
    used
}

#[test]
fn an_arrow_that_goes_the_wrong_way_is_seen() {
    let refused = [
        ("bounds/trap.rs", "use crate::run::store::StoreOpaque;"),
        ("facts/error.rs", "    let isa = crate::compile::has(x);"),
        (
            "facts/types/registry.rs",
            "use crate::bounds::{self, Bounds};",
        ),
        (
            "compile/translate/env.rs",
            "pub(crate) use crate::run::host;",
        ),
        (
            "compile/count.rs",
            "        $crate::run::store::increment!();",
        ),
        ("bounds/trap.rs", "use super::super::compile::elide;"),
        ("facts/mod.rs", "use super::run::store;"),
        ("bounds/mod.rs", "use crate::{compile, facts};"),
        ("compile/mod.rs", "use crate::Config;"),
    ];
    for (path, line) in refused {
        let text = format!("//! A file.\n\n{line}\n");
        let wrong = wrong_arrows(path, &text);
        assert_eq!(wrong.len(), 1, "{path}: {line}: {wrong:?}");
        let place = format!("{ENGINE}{path}:3: ");
        assert!(wrong[0].starts_with(&place), "{wrong:?}");
    }
    let allowed = [
        ("bounds/trap.rs", "use crate::facts::vmctx::offsets;"),
        ("run/store.rs", "use crate::compile::{self, Opt};"),
        (
            "compile/translate/simd/mod.rs",
            "use super::super::Translator;",
        ),
        ("compile/elide.rs", "//! As [`crate::run::store`] has it."),
        ("run/memory/fault.rs", "use crate::run::code;"),
        ("run/entry/wild.rs", "use crate::*;"),
        ("facts/trap.rs", "    #[test] use super::*;"),
    ];
    for (path, line) in allowed {
        assert_eq!(wrong_arrows(path, line), [""; 0], "{path}: {line}");
    }
}
