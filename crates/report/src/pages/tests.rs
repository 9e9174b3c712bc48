//! What every page has in common: no two lines of it are called the same.
//!
//! All that is measured here takes the same time, so lines with one name are one line.

use std::collections::{BTreeMap, BTreeSet};

use fathom_record::campaign::WorkloadNote;
use fathom_record::{Cell, Metric, Phase, Sandbox, Setting, Span, Variant};

use super::*;
use crate::{formula, view};

/// Our engine with every value of every setting, each said even where it is the default,
/// as older files have it, and with all at once; another engine with two generators;
/// native code.
fn sandboxes() -> Vec<Sandbox> {
    let plain = Sandbox::new("fathom", "guard");
    let mut all = vec![plain.clone(), Sandbox::new("fathom", "trap")];
    let mut every = plain.clone();
    for setting in Setting::ALL.iter().copied() {
        let choices = setting.choices().iter();
        all.extend(choices.map(|choice| plain.clone().with(setting, choice.name)));
        every = every.with(setting, setting.choices()[1].name);
    }
    all.push(every);
    let node = Sandbox::new("node", "guard");
    all.extend(["turbofan", "liftoff"].map(|name| node.clone().with(Setting::Codegen, name)));
    all.sort();
    all.dedup();
    all
}

fn note(suite: &str, name: &str, category: &str) -> WorkloadNote {
    WorkloadNote {
        suite: suite.to_owned(),
        name: name.to_owned(),
        category: Some(category.to_owned()),
        trips: Some(1000),
        bytes: Some(1000),
        ..WorkloadNote::default()
    }
}

/// A campaign of an experiment in which every page finds lines, all with the same figures.
fn campaign(experiment: Experiment) -> Campaign {
    let notes = vec![
        note("calls", "loop", "aead"),
        note("calls", "call", "auth"),
        note("calls", "sieve", "programs"),
    ];
    let mut cells = Vec::new();
    for note in &notes {
        for sandbox in sandboxes() {
            for variant in [Variant::Wasm, Variant::WasmSwitch] {
                for threads in [1, 4] {
                    let program = ("calls", note.name.as_str());
                    cells.push(Cell {
                        sandbox: sandbox.clone(),
                        size: "1000".to_owned(),
                        threads,
                        ..formula::cell("", "", variant, program)
                    });
                }
            }
        }
        let native = formula::cell("native", "none", Variant::Native, ("calls", &note.name));
        cells.push(Cell {
            size: "1000".to_owned(),
            ..native
        });
    }
    let mut campaign = formula::campaign("names", notes, &cells, |_| 1.0);
    campaign.header.config.experiment = experiment;
    let span = Span {
        wall_ns: 1_000_000,
        cpu_ns: Some(1_000_000),
    };
    for sample in &mut campaign.samples {
        let phases = [
            Phase::Instantiate,
            Phase::Run,
            Phase::Teardown,
            Phase::Cycle,
        ];
        sample.kernel_ns = Some(1_000_000);
        sample.phases = phases.map(|phase| (phase, span)).into();
    }
    for process in &mut campaign.processes {
        process.phases = [Phase::Load, Phase::Compile]
            .map(|phase| (phase, span))
            .into();
        process.metrics = BTreeMap::from([(Metric::RssPeakBytes, 1 << 20)]);
    }
    campaign
}

/// The lines of each table of a file.
fn tables<'a>(name: &str, text: &'a str) -> Vec<Vec<&'a str>> {
    if name.ends_with(".csv") {
        return vec![text.lines().collect()];
    }
    let mut tables = vec![Vec::new()];
    for line in text.lines() {
        match (line.starts_with('|'), tables.last_mut()) {
            (true, Some(table)) => table.push(line),
            _ => tables.push(Vec::new()),
        }
    }
    tables
}

#[test]
fn no_two_lines_of_a_report_have_the_same_name() {
    let mut wrong = Vec::new();
    for experiment in Experiment::ALL.iter().copied() {
        let campaign = campaign(experiment);
        let summary = Summary::from_campaign(&campaign);
        let page = of(experiment);
        let figure = page.figure.unwrap_or(summary.compared);
        let view = view::from_campaign(&campaign, &summary, figure, "samples.jsonl", "results");
        for group in &view.groups {
            let mut names = BTreeSet::new();
            let mut labels = BTreeSet::new();
            for row in &group.rows {
                if !names.insert(row.name.clone()) || !labels.insert(row.label()) {
                    wrong.push(format!(
                        "{experiment}: two rows: {}, {}",
                        row.name,
                        row.label()
                    ));
                }
            }
        }
        let context = Context {
            campaign: &campaign,
            summary: &summary,
            view: &view,
            against: &[],
        };
        let output = (page.output)(&context).unwrap_or_default();
        for (name, text) in output.files.iter().chain(&output.paper) {
            if ![".csv", ".md"].iter().any(|end| name.ends_with(end)) {
                continue;
            }
            for table in tables(name, text) {
                let mut seen = BTreeSet::new();
                // What is the same as above is left empty.
                let mut above = "";
                let twice = table.into_iter().filter(|line| {
                    let first = line.split('|').nth(1).unwrap_or_default().trim();
                    if !first.is_empty() {
                        above = first;
                    }
                    !seen.insert((above, *line))
                });
                wrong.extend(twice.map(|line| format!("{experiment}: {name}: twice: {line}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_has_too_few_rounds_says_so_first() {
    let pages = [
        (Experiment::Bounds, "bounds.md"),
        (Experiment::Scaling, "scaling.md"),
        (Experiment::Fibers, "fibers.md"),
        (Experiment::BenchmarkingWasmfx, "benchmarking-wasmfx.md"),
        (Experiment::Libsodium2023, "libsodium-runtimes-2023.md"),
        (Experiment::Ewapa, "ewapa.md"),
        (
            Experiment::HardwareBoundsChecking,
            "hardware-bounds-checking.md",
        ),
        (Experiment::LeapsAndBounds, "leaps-and-bounds.md"),
    ];
    for (experiment, name) in pages {
        let mut campaign = campaign(experiment);
        let says = |campaign: &Campaign| {
            let page = formula::file(campaign, experiment, name);
            let (first, _) = page.split_once("\n## ").unwrap_or((&page, ""));
            let first = first.split("\n|").next().unwrap_or_default();
            first.contains("Too few rounds to find anything here: 2 of the 5")
        };
        assert!(!says(&campaign), "{name}");
        campaign.processes.retain(|process| process.round < 2);
        campaign.samples.retain(|sample| sample.round < 2);
        assert!(says(&campaign), "{name}");
    }
}
