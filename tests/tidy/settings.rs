//! The rules about settings of our engine: nobody asks which one it is but who makes a
//! configuration, a design or a page of it, and the glossary lists them all.

use std::fs;

use fathom_record::Setting;

use crate::{none_wrong, root, sources};

/// Who may name a setting: the list; rows and the engine's configuration; the code
/// generator in a word of `--engines`; designs that measure one; the pages about checks.
const SETTING_MODULES: [&str; 8] = [
    "crates/record/src/setting.rs",
    "crates/bench/src/settings.rs",
    "crates/bench/src/choose.rs",
    "crates/bench/src/generator.rs",
    "crates/bench/src/experiment",
    "crates/report/src/bounds.rs",
    "crates/report/src/pages/hardware/lines.rs",
    "src/trace/engine.rs",
];
/// Whose settings these are.
const ASKING: [&str; 12] = [
    "crates/record/src/",
    "crates/stats/src/",
    "crates/runner/src/",
    "crates/bench/src/",
    "crates/report/src/",
    "src/bench",
    "src/compare",
    "src/probe",
    "src/report",
    "src/reproduce",
    "src/suite",
    "src/waterfall",
];

/// Whether a line asks which setting it is, or has the option of one.
fn asks_which_setting(line: &str) -> bool {
    let names_one = line.split("Setting::").skip(1).any(|rest| {
        let mut letters = rest.chars();
        let first = letters.next().unwrap_or(' ');
        // `Setting::ALL` and functions name none.
        let is_variant = first.is_uppercase() && letters.next().is_some_and(char::is_lowercase);
        is_variant || first == '{' || first == '*'
    });
    let has_option = Setting::ALL.iter().any(|setting| {
        let option = format!("\"--{setting}");
        line.match_indices(&option).any(|(at, found)| {
            let behind = line[at + found.len()..].chars().next();
            behind.is_none_or(|next| !next.is_alphanumeric() && next != '-')
        })
    });
    names_one || has_option || line.contains("Setting as ")
}

#[test]
fn nobody_asks_which_setting_it_is() {
    let mut wrong = Vec::new();
    for source in sources(&["rs"]) {
        let path = source.path.as_str();
        let is_module = SETTING_MODULES
            .iter()
            .any(|module| path.starts_with(module));
        let asks = ASKING.iter().any(|module| path.starts_with(module));
        let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
        if is_module || !asks || is_test {
            continue;
        }
        let tests = source.text.find("#[cfg(test)]\nmod tests {");
        let end = tests.map_or(usize::MAX, |at| source.text[..at].lines().count());
        let code = source.code().filter(|(number, _)| *number <= end);
        let asking = code.filter(|(_, line)| asks_which_setting(line));
        wrong.extend(asking.map(|(number, line)| format!("{path}:{number}: {line}")));
    }
    none_wrong("a setting is asked what it is in its modules alone", &wrong);
}

#[test]
fn the_glossary_lists_the_settings() {
    let page = fs::read_to_string(root().join("docs/GLOSSARY.md")).expect("the glossary");
    let page: Vec<&str> = page.split_whitespace().collect();
    let page = page.join(" ");
    for setting in Setting::ALL {
        let values = setting.choices().iter();
        let values: Vec<String> = values.map(|one| format!("`{}`", one.name)).collect();
        let line = format!(
            "- `--{setting}` ({}; by default `{}`): {}",
            values.join(", "),
            setting.default(),
            setting.help()
        );
        assert!(page.contains(&line), "docs/GLOSSARY.md has no \"{line}\"");
    }
    let listed = page.split("- `--").skip(1);
    let listed: Vec<&str> = listed.filter_map(|rest| rest.split('`').next()).collect();
    let ours: Vec<String> = Setting::ALL.iter().map(Setting::to_string).collect();
    assert_eq!(listed, ours, "docs/GLOSSARY.md lists other settings");
}

#[test]
fn a_question_which_setting_it_is_is_seen() {
    for planted in [
        "if setting == Setting::Spectre {",
        "use fathom_record::Setting::{Elide, Opt};",
        "let off = settings.get(Setting::Elide) == Some(\"off\");",
        "words.push(\"--codegen\".to_owned());",
        "format!(\"--opt {level}\")",
    ] {
        assert!(asks_which_setting(planted), "{planted}");
    }
    for harmless in [
        "for setting in Setting::ALL {",
        "let settings = Settings::new();",
        "add(\"--options\", value);",
        "let rule = Setting::rule;",
    ] {
        assert!(!asks_which_setting(harmless), "{harmless}");
    }
}
