//! The page, from campaigns made of formulas.

use fathom_record::campaign::WorkloadNote;
use fathom_record::{Campaign, Cell, Experiment, Metric};

use super::*;
use crate::formula;

const BUILDS: [(&str, &str, Variant); 3] = [
    ("fathom", "guard", Variant::WasmAsyncify),
    ("fathom", "guard", Variant::WasmSwitch),
    ("native", "none", Variant::Native),
];

/// Servers that answer 10,000 requests a second at most, and latencies in milliseconds by
/// build and round; stack switching has half of Asyncify's.
fn campaign(workloads: &[&str]) -> Campaign {
    let notes = workloads.iter().map(|name| WorkloadNote {
        suite: "http".to_owned(),
        name: (*name).to_owned(),
        ..WorkloadNote::default()
    });
    let notes: Vec<WorkloadNote> = notes.collect();
    let cells = notes.iter().flat_map(|note| {
        BUILDS.map(|(engine, strategy, variant)| {
            formula::cell(engine, strategy, variant, ("http", &note.name))
        })
    });
    let cells: Vec<Cell> = cells.collect();
    let mut campaign = formula::campaign("http-small", notes, &cells, |_| 1.0);
    for process in &mut campaign.processes {
        let is_switch = process.cell.as_str().contains("wasm-switch");
        let ms = [10, 20, 40, 80, 160][process.round as usize] / (1 + u64::from(is_switch));
        let ns = ms * 1_000_000;
        process.metrics = [
            (Metric::AnswersPerS, 10_000),
            (Metric::LatencyP50Ns, ns),
            (Metric::LatencyP90Ns, 2 * ns),
            (Metric::LatencyP99Ns, 3 * ns),
            (Metric::LatencyP999Ns, 4 * ns),
            (Metric::LatencyMaxNs, 5 * ns),
            (Metric::RssPeakBytes, 1 << 20),
        ]
        .into();
    }
    campaign
}

fn files(campaign: &Campaign) -> Vec<(String, String)> {
    formula::output(campaign, Experiment::Http).files
}

fn csv(campaign: &Campaign) -> String {
    let mut files = files(campaign).into_iter();
    files.find(|(name, _)| name == "http.csv").unwrap().1
}

#[test]
fn lines_are_medians_by_rate_and_the_talk_is_behind() {
    let csv = csv(&campaign(&["peak", "500"]));
    let lines: Vec<&str> = csv.lines().skip(1).collect();
    let base = "10000,,,,40000000,80000000,120000000,,,,160000000,,,,800000000,,,,1048576";
    assert_eq!(lines[0], format!("peak,fathom guard · Asyncify,5,{base}"));
    assert_eq!(lines[3], format!("500,fathom guard · Asyncify,5,{base}"));
    assert!(
        lines[4].starts_with("500,fathom guard · stack switching,5,10000,1,"),
        "{}",
        lines[4]
    );
    assert!(lines[6].starts_with("peak,published: "), "{}", lines[6]);
    assert!(lines.contains(&"80000,published: WasmFX (dev),,,,,,,,,,,,,,,,8000000,,,,"));
}

#[test]
fn a_latency_is_compared_with_asyncifys_of_its_round() {
    let csv = csv(&campaign(&["500"]));
    let switch = csv.lines().find(|line| line.contains("stack switching"));
    let fields: Vec<&str> = switch.unwrap().split(',').collect();
    for at in [10, 14, 18] {
        let ratio: f64 = fields[at].parse().unwrap();
        // Rounds differ by sixteen times; the two of one round do not but by two.
        assert!((ratio - 0.5).abs() < 1e-9, "{fields:?}");
    }
}

#[test]
fn a_server_without_a_time_has_no_numbers() {
    let mut campaign = campaign(&["500"]);
    let id = campaign.header.cells[1].id();
    campaign.push(fathom_record::Record::Failure(
        fathom_record::campaign::Failure {
            cell: Some(id),
            round: Some(3),
            kind: fathom_record::FailureKind::WrongAnswer,
            message: "3 of 1000 requests failed".to_owned(),
        },
    ));
    let csv = csv(&campaign);
    let switch = csv.lines().find(|line| line.contains("stack switching"));
    let numbers: Vec<&str> = switch.unwrap().split(',').skip(3).collect();
    assert!(numbers.iter().all(|field| field.is_empty()), "{numbers:?}");
}

#[test]
fn rates_that_are_too_high_are_told_of() {
    let told = |workloads: &[&str]| {
        let page = files(&campaign(workloads)).remove(0).1;
        page.contains("queue")
            .then(|| page.lines().nth(2).unwrap().to_owned())
    };
    assert_eq!(told(&["peak", "9000"]), None);
    assert_eq!(told(&["9001"]), None, "no peak says what is too high");
    let words = told(&["peak", "500", "9001", "20000"]).unwrap();
    assert!(words.contains(". 9,001 and 20,000 a second"), "{words}");
    assert!(
        words.contains("--workloads peak,5000,7000,9000 has"),
        "{words}"
    );
}
