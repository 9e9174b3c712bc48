//! Who may ask which strategy it is: the list of them, and `auto`, which chooses one.
//!
//! All others ask what a strategy says of itself, or read the plan that it made. Tests
//! name strategies to try them, so what is compiled for tests only is not looked at.

use std::collections::BTreeSet;

use fathom_engine::Bounds;

use super::{Source, none_wrong, sources};

/// Where the engine's sources are.
const ENGINE: &str = "crates/engine/src/";
/// The list, and who chooses from it.
const MAY_NAME: [&str; 2] = ["bounds/rows.rs", "bounds/auto.rs"];

#[test]
fn nobody_asks_which_strategy_it_is() {
    let engine: Vec<Source> = sources(&["rs"])
        .into_iter()
        .filter(|source| source.path.starts_with(ENGINE))
        .collect();
    let tests: BTreeSet<String> = engine.iter().flat_map(|s| tests_of(&s.text)).collect();
    let mut wrong = Vec::new();
    for source in &engine {
        let path = &source.path[ENGINE.len()..];
        let is_test = tests.iter().any(|file| path.ends_with(file.as_str()));
        if !is_test && !MAY_NAME.contains(&path) {
            wrong.extend(named(path, &source.text));
        }
    }
    none_wrong("nobody asks which strategy it is", &wrong);
    for path in MAY_NAME {
        let source = engine.iter().find(|s| s.path == format!("{ENGINE}{path}"));
        let names = source.map_or(0, |s| named(path, &s.text).len());
        assert!(names > 0, "{path} names none: it needs no leave to");
    }
}

/// The files that a file declares as tests.
fn tests_of(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let declared = lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]");
    declared
        .filter_map(|pair| pair[1].strip_prefix("mod ")?.strip_suffix(';'))
        .map(|name| format!("/{name}.rs"))
        .collect()
}

/// The lines, but for those of a module of tests at the end, that name a strategy.
fn named(path: &str, text: &str) -> Vec<String> {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let names: BTreeSet<String> = Bounds::FORMS
        .iter()
        .map(|form| format!("{form:?}"))
        .map(|name| name.split('(').next().unwrap_or_default().to_owned())
        .chain(["GUARD64".to_owned()])
        .collect();
    let names_one = |line: &str| {
        let behind = line
            .match_indices("Bounds::")
            .chain(line.match_indices("B::"));
        behind
            .map(|(at, found)| &line[at + found.len()..])
            .map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next())
            .any(|word| word.is_some_and(|word| names.contains(word)))
    };
    text[..end]
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("//") && names_one(line))
        .map(|(number, line)| format!("{ENGINE}{path}:{}: {}", number + 1, line.trim()))
        .collect()
}

#[test]
fn a_question_which_strategy_it_is_is_seen() {
    for line in [
        "if self.bounds == Bounds::Debug {",
        "match bounds { Bounds::Clamp | Bounds::Trap => {}",
        "(true, Bounds::Shadow(_)) => MAX_PAGES_SHADOWED,",
        "strategies.contains(&Bounds::Pkeys)",
        "B::Guard64(_) => memory64,",
    ] {
        let text = format!("//! A file.\n{line}\n");
        assert_eq!(named("run/engine.rs", &text).len(), 1, "{line}");
    }
    for line in [
        "for bounds in Bounds::FORMS {",
        "/// As [`Bounds::Trap`].",
        "strategies.into_iter().any(Bounds::is_locked)",
        "#[cfg(test)]\nmod tests {\n    let bounds = Bounds::Guard;",
    ] {
        assert_eq!(named("run/engine.rs", line), [""; 0], "{line}");
    }
    let declared = "#[cfg(test)]\nmod wild;\n\nmod gate;\n";
    assert_eq!(tests_of(declared), ["/wild.rs"]);
}
