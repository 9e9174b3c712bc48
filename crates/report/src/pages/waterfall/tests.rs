//! A bar of a made-up campaign, in every form.

use std::collections::BTreeMap;

use fathom_record::campaign::{Failure, Process, Sample};
use fathom_record::waterfall::{NOT_RUN, SUITE, TOUCHED, UNTOUCHED};
use fathom_record::{Cell, Experiment, FailureKind, Metric, Phase, Record, Span, Variant};

use super::*;
use crate::formula;

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (engine, strategy, variant) in [
        ("fathom", "trap", Variant::Wasm),
        ("fathom", "none", Variant::Wasm),
        ("native", "none", Variant::Native),
    ] {
        let names = [NOT_RUN, TOUCHED, UNTOUCHED];
        let beside = names.map(|name| (SUITE, name)).into_iter();
        let beside = beside.filter(|_| variant.is_wasm());
        for program in beside.chain([("module", "a<b.wasm")]) {
            let mut cell = formula::cell(engine, strategy, variant, program);
            cell.size.clear();
            cells.push(cell);
        }
    }
    cells
}

/// Milliseconds: 10 natively, 12 as WebAssembly, 11 with checks (which does happen).
fn campaign() -> Campaign {
    let cells = cells();
    let mut campaign = formula::campaign("a<b", Vec::new(), &cells, |_| 1.0);
    campaign.samples.clear();
    campaign.processes.clear();
    let span = |ms: f64| Span {
        wall_ns: (ms * 1e6) as u64,
        cpu_ns: None,
    };
    for round in 0..6 {
        for cell in &cells {
            let strategy = cell.sandbox.strategy.as_str();
            let (ms, faults) = match (cell.workload.as_str(), strategy) {
                (NOT_RUN, _) => (0.0, 100),
                (TOUCHED, _) => (4.0, 8100),
                (UNTOUCHED, _) => (0.0, 100),
                (_, "trap") => (11.0, 600),
                _ if !cell.variant.is_wasm() => (10.0, 500),
                _ => (12.0, 600),
            };
            let ms = ms + f64::from(round % 3) * 0.01;
            campaign.push(Record::Sample(Sample {
                cell: cell.id(),
                round,
                thread: 0,
                index: 0,
                kernel_ns: None,
                phases: BTreeMap::from([(Phase::Run, span(ms)), (Phase::Instantiate, span(0.1))]),
            }));
            campaign.push(Record::Process(Process {
                phases: BTreeMap::from([(Phase::Compile, span(3.0))]),
                metrics: BTreeMap::from([(Metric::FaultsMinor, faults)]),
                wall_ns: Some(((ms + 3.1 + 2.0) * 1e6) as u64),
                ..Process::new(cell.id(), round)
            }));
        }
    }
    campaign
}

fn own_of(campaign: &Campaign) -> PageOutput {
    formula::output(campaign, Experiment::Waterfall)
}

fn file(output: &PageOutput, name: &str) -> String {
    let found = output.files.iter().find(|(file, _)| file == name);
    found.unwrap_or_else(|| panic!("no {name}")).1.clone()
}

#[test]
fn a_terminal_shows_parts_one_behind_the_other() {
    let Printed::Instead(text) = own_of(&campaign()).printed else {
        panic!("not in the place of the general report")
    };
    let shown: Vec<&str> = text.lines().collect();
    assert_eq!(shown[0], "a<b.wasm on fathom trap: 16.1 ms");
    let part = |name: &str| {
        let found = shown
            .iter()
            .find(|line| line.trim_start().starts_with(name));
        *found.unwrap_or_else(|| panic!("no {name}: {text}"))
    };
    assert!(part("native").contains(" 10.1 ms"), "{text}");
    // 12 - 10 without the 0.1 ms in which native code is started.
    assert!(part("format").contains("1.90 ms"), "{text}");
    assert!(part("checks").contains("-1.00 ms"), "{text}");
    assert!(part("checks").contains('░'), "{text}");
    let begins = |name: &str| part(name).chars().position(|sign| "█░▏".contains(sign));
    assert!(begins("native") < begins("format") && begins("format") < begins("start-up"));
    assert_eq!(begins("whole"), begins("native"));
    let end = |name: &str| part(name).trim_end().chars().count();
    assert_eq!(end("start-up"), end("whole"));
    assert!(text.contains("cannot be told from nothing"), "{text}");
    assert!(
        text.contains("\"system calls\" is not told apart"),
        "{text}"
    );
    assert!(part("page faults").contains("500 × 500 ns"), "{text}");
}

#[test]
fn a_page_a_drawing_and_tables_say_the_same() {
    let own = own_of(&campaign());
    let csv = file(&own, "waterfall.csv");
    let line = csv
        .lines()
        .find(|line| line.starts_with("checks,"))
        .unwrap();
    assert!(line.starts_with("checks,-1000000,"), "{line}");
    let page = file(&own, "waterfall.html");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(page.contains("a&lt;b.wasm on fathom trap") && !page.contains("a<b.wasm"));
    assert_eq!(
        page.matches("class=\"plot\"").count(),
        csv.lines().count() - 1
    );
    let drawing = file(&own, "waterfall.svg");
    assert!(drawing.starts_with("<svg xmlns") && drawing.trim_end().ends_with("</svg>"));
    assert!(!drawing.contains("a<b") && !drawing.contains("NaN") && !drawing.contains("=\"-"));
    let markdown = file(&own, "waterfall.md");
    assert!(markdown.contains("| checks ") && markdown.contains("- The parts add up to"));
}

#[test]
fn where_there_is_no_bar_it_is_said_why() {
    let mut campaign = campaign();
    let native = cells().pop().unwrap();
    campaign.push(Record::Failure(Failure {
        cell: Some(native.id()),
        round: Some(0),
        kind: FailureKind::WrongAnswer,
        message: "it printed something else".to_owned(),
    }));
    let Printed::Instead(text) = own_of(&campaign).printed else {
        panic!("nothing in its place")
    };
    assert!(text.starts_with("No waterfall: native/none"), "{text}");
    assert!(
        text.contains("a<b.wasm on native: wrong_answer: it printed"),
        "{text}"
    );
}
