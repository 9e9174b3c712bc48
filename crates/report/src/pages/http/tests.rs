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
            (Metric::AnswerUserNs, ns / 1000),
            (Metric::AnswerSystemNs, 30_000),
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
    let base = "10000,,,,40000,,,,30000,,,,40000000,80000000,120000000,,,,160000000,,,,800000000,\
                ,,,1048576";
    let asyncify = "fathom guard · Asyncify,5";
    assert_eq!(lines[0], format!("peak,1000,{asyncify},{base}"));
    assert_eq!(lines[3], format!("500,1000,{asyncify},{base}"));
    assert!(
        lines[4].starts_with("500,1000,fathom guard · stack switching,5,10000,1,"),
        "{}",
        lines[4]
    );
    assert!(lines[6].starts_with("peak,,published: "), "{}", lines[6]);
    assert!(lines.contains(&"80000,,published: WasmFX (dev),,,,,,,,,,,,,,,,,,,,,,,,8000000,,,,"));
}

#[test]
fn connections_are_a_column_and_no_part_of_the_rate() {
    let csv = csv(&campaign(&["500", "500@10000", "peak@3"]));
    for start in ["500,1000,fathom", "500,10000,fathom", "peak,3,fathom"] {
        assert!(
            csv.contains(&format!("\n{start} guard · Asyncify,5,")),
            "{csv}"
        );
    }
}

/// The page's first sentence, if it is one on processor time.
fn own_time(campaign: &Campaign) -> Option<String> {
    let page = files(campaign).remove(0).1;
    let words = page.lines().nth(2).unwrap().to_owned();
    let (first, _) = words.split_once(" HTTP on loopback").unwrap_or_default();
    first
        .starts_with("Of the program's own")
        .then(|| first.to_owned())
}

#[test]
fn what_a_request_takes_of_the_programs_own_is_said_first() {
    let mut campaign = campaign(&["500", "500@10000"]);
    assert_eq!(
        own_time(&campaign).unwrap(),
        "Of the program's own processor time a request takes 40.0 µs with Asyncify, 20.0 µs with \
         stack switching (0.50 (0.500–0.500), undecided), 40.0 µs natively, in the geometric mean \
         of 2 demands; the kernel has 43 and 60 % of the server's."
    );
    // Campaigns from before it was measured.
    for process in &mut campaign.processes {
        process.metrics.remove(&Metric::AnswerUserNs);
    }
    assert_eq!(own_time(&campaign), None);
}

#[test]
fn a_demand_that_one_server_fails_is_in_no_mean() {
    let mut campaign = campaign(&["500", "500@10000"]);
    let mut cells = campaign.header.cells.iter();
    let is_failing =
        |cell: &&Cell| cell.workload == "500@10000" && cell.variant == Variant::WasmSwitch;
    let id = cells.find(is_failing).unwrap().id();
    campaign.push(failure(id));
    let words = own_time(&campaign).unwrap();
    assert!(
        words.contains("40.0 µs natively; the kernel has"),
        "{words}"
    );
}

fn failure(cell: fathom_record::CellId) -> fathom_record::Record {
    fathom_record::Record::Failure(fathom_record::campaign::Failure {
        cell: Some(cell),
        round: Some(3),
        kind: fathom_record::FailureKind::WrongAnswer,
        message: "3 of 1000 requests failed".to_owned(),
    })
}

#[test]
fn a_latency_is_compared_with_asyncifys_of_its_round() {
    let csv = csv(&campaign(&["500"]));
    let switch = csv.lines().find(|line| line.contains("stack switching"));
    let fields: Vec<&str> = switch.unwrap().split(',').collect();
    // Own time, and latencies of 99 and 99.9 % and the longest.
    for at in [9, 19, 23, 27] {
        let ratio: f64 = fields[at].parse().unwrap();
        // Rounds differ by sixteen times; the two of one round do not but by two.
        assert!((ratio - 0.5).abs() < 1e-9, "{fields:?}");
    }
}

#[test]
fn a_server_without_a_time_has_no_numbers() {
    let mut campaign = campaign(&["500"]);
    let id = campaign.header.cells[1].id();
    campaign.push(failure(id));
    let csv = csv(&campaign);
    let switch = csv.lines().find(|line| line.contains("stack switching"));
    let numbers: Vec<&str> = switch.unwrap().split(',').skip(4).collect();
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
    // Of as many connections each.
    let words = told(&["peak", "peak@3", "500", "9001@3"]).unwrap();
    assert!(
        words.contains(". 9,001 a second over 3 connections"),
        "{words}"
    );
    assert!(
        words.contains("--workloads peak@3,5000@3,7000@3,9000@3 has"),
        "{words}"
    );
    assert_eq!(told(&["peak", "9001@3"]), None, "another peak");
}
