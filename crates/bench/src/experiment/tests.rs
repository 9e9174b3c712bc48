//! The list, and what every design keeps to.

use std::collections::BTreeSet;

use super::*;

#[test]
fn every_experiment_has_one_design() {
    for experiment in Experiment::ALL {
        let designs = ALL.iter().filter(|one| one.experiment == *experiment);
        assert_eq!(designs.count(), 1, "{experiment}");
        assert_eq!(design(*experiment).unwrap().experiment, *experiment);
    }
}

#[test]
fn what_a_command_is_asked_for_has_a_name_and_help() {
    for command in [Command::Bench, Command::Suite, Command::Reproduce] {
        let mut names = BTreeSet::new();
        for design in of_command(command) {
            assert!(names.insert(design.name()), "{design:?} is there twice");
            assert!(!design.help.is_empty(), "{design:?} has no help");
            let has_about = command == Command::Bench || !design.about.is_empty();
            assert!(has_about, "{design:?} has no paragraph");
            let subject = Subject::named(command, design.name()).unwrap();
            assert_eq!(subject.design().name(), design.name());
        }
        assert!(!names.is_empty());
    }
    assert!(Subject::named(Command::Suite, "leaps-and-bounds").is_none());
}

#[test]
fn a_word_is_an_experiment_or_a_suite() {
    assert_eq!(Subject::word("growth").design().name(), "growth");
    let suite = Subject::word("polybench");
    assert_eq!(
        (suite.design().name(), suite.suite()),
        ("suite", "polybench")
    );
    let paper = Subject::named(Command::Reproduce, "leaps-and-bounds").unwrap();
    let spec = paper.on_spec("test").unwrap();
    assert_eq!(spec.spec_size(), "test");
    let refused = Subject::word("growth").on_spec("test").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "--spec: no part of SPEC CPU is built for growth"
    );
}

/// `make bench` builds what `--quick` measures, or the README's commands fail after it.
#[test]
fn what_a_first_impression_measures_is_built() {
    let makefile = include_str!("../../../../Makefile");
    let built = |name: &str| {
        let line = makefile.lines().find(|line| line.starts_with(name));
        let (_, list) = line.unwrap().split_once(":= ").unwrap();
        list.split(',').collect::<BTreeSet<_>>()
    };
    let mut all = built("QUICK :=");
    all.extend(built("QUICK_POINTERS :="));
    let wanted = suite::QUICK
        .iter()
        .chain(&bounds::QUICK)
        .chain(&scaling::LONG)
        .chain(&hardware::QUICK);
    assert_eq!(all, wanted.copied().collect());
    assert!(makefile.contains("--size small --kernel $(QUICK)\n"));
    assert!(makefile.contains("--suite pointers --size small --kernel $(QUICK_POINTERS)\n"));
}
