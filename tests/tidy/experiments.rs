//! The rules about experiments: each has its file, and nobody else asks which one it is.

use std::fs;
use std::path::Path;

use crate::{none_wrong, root, sources};

/// Who may ask which experiment it is: the list, what is measured for each, and the
/// report's part of each.
const EXPERIMENT_MODULES: [&str; 3] = [
    "crates/record/src/experiment.rs",
    "crates/bench/src/experiment",
    "crates/report/src/pages.rs",
];

/// Whether a line asks which experiment it is.
fn asks_which_experiment(line: &str) -> bool {
    let names_one = line.split("Experiment::").skip(1).any(|rest| {
        let mut letters = rest.chars();
        let first = letters.next().unwrap_or(' ');
        // `Experiment::ALL` and functions name none.
        let is_variant = first.is_uppercase() && letters.next().is_some_and(char::is_lowercase);
        is_variant || first == '{' || first == '*'
    });
    let line: String = line.split_whitespace().collect();
    let looks_at = ["experiment", "experiment.name()", "design.name()"]
        .iter()
        .any(|what| {
            ["==", "!=", "{"].iter().any(|after| {
                let place = line.find(&format!("{what}{after}"));
                place.is_some_and(|at| *after != "{" || line[..at].contains("match"))
            })
        });
    let renames = line.contains("Experimentas");
    names_one || looks_at || renames || line.contains("matches!(") && line.contains("experiment,")
}

#[test]
fn nobody_asks_which_experiment_it_is() {
    let mut wrong = Vec::new();
    for source in sources(&["rs"]) {
        let path = source.path.as_str();
        let is_module = EXPERIMENT_MODULES
            .iter()
            .any(|module| path.starts_with(module));
        let is_test = path
            .split('/')
            .any(|part| part == "tests" || part == "tests.rs");
        if is_module || is_test {
            continue;
        }
        for (number, line) in source.code() {
            if asks_which_experiment(line) {
                wrong.push(format!("{path}:{number}: {line}"));
            }
            // Format 1 kept in this map what decided something; a report only shows it.
            let reads_others = line.contains("config.other");
            let may = ["crates/record/", "crates/report/src/view/facts.rs"];
            if reads_others && !may.iter().any(|module| path.starts_with(module)) {
                wrong.push(format!(
                    "{path}:{number}: nothing is decided by notes: {line}"
                ));
            }
            if line.contains("set_current_dir") {
                wrong.push(format!("{path}:{number}: the working folder stays: {line}"));
            }
        }
    }
    none_wrong(
        "an experiment is asked what it is in its module alone",
        &wrong,
    );
}

#[test]
fn every_experiment_has_one_file() {
    let folder = root().join("crates/bench/src/experiment");
    let list = fs::read_to_string(folder.with_extension("rs")).expect("the list");
    let files = sources(&["rs"]).into_iter().filter(|source| {
        let rest = source.path.strip_prefix("crates/bench/src/experiment/");
        rest.is_some() && source.text.contains(": Design = Design {\n    experiment:")
    });
    let designs: usize = files
        .map(|source| {
            let name = Path::new(&source.path).file_stem().expect("a name");
            let line = format!("&{}::DESIGN", name.to_string_lossy());
            assert!(list.contains(&line), "{} is not in the list", source.path);
            source
                .text
                .matches("\n    experiment: Experiment::")
                .count()
        })
        .sum();
    assert_eq!(designs, fathom_record::Experiment::ALL.len());
}

#[test]
fn a_question_that_is_planted_is_seen() {
    for planted in [
        "if header.config.experiment == Experiment::Growth {",
        "    match config.experiment {",
        "use fathom_record::Experiment::{Bounds, Scaling};",
        "use fathom_record::Experiment as About;",
        "let own = matches!(experiment, About::Growth);",
        "if design.name() == \"growth\" {",
        "match header.config.experiment.name() {",
    ] {
        assert!(asks_which_experiment(planted), "{planted}");
    }
    for harmless in [
        "for experiment in Experiment::ALL {",
        "experiment: design.experiment,",
        "let page = pages::of(campaign.header.config.experiment);",
        "pub experiment: Experiment,",
    ] {
        assert!(!asks_which_experiment(harmless), "{harmless}");
    }
}
