//! The page, from campaigns made of formulas.

use fathom_record::campaign::Process;
use fathom_record::{Cell, Experiment};

use super::*;
use crate::formula;

const TRIPS: u64 = 1_000_000;

fn note(category: &str, name: &str) -> WorkloadNote {
    WorkloadNote {
        suite: "fibers".to_owned(),
        name: name.to_owned(),
        category: Some(category.to_owned()),
        trips: Some(TRIPS),
        builds: [
            (Variant::WasmAsyncify, 40_000),
            (Variant::WasmSwitch, 30_000),
        ]
        .into(),
        ..WorkloadNote::default()
    }
}

/// Nanoseconds a round trip: Asyncify's grow with the depth, those of a switch do not.
fn truth(cell: &Cell) -> f64 {
    let depth: Option<f64> = cell
        .workload
        .strip_prefix("depth-")
        .and_then(|text| text.parse().ok());
    let ns = match cell.variant {
        Variant::WasmAsyncify => 20.0 + 8.0 * depth.unwrap_or(1.0),
        Variant::WasmSwitch => 40.0,
        _ => 2.0,
    };
    ns * 1e-9 * TRIPS as f64
}

pub(in crate::pages) fn campaign() -> Campaign {
    let notes = vec![
        note("programs", "sieve"),
        note("patterns", "create"),
        note("depth", "depth-1"),
        note("depth", "depth-2"),
        note("depth", "depth-3"),
        note("depth", "depth-100"),
        note("live", "live-1"),
        note("live", "live-10000"),
    ];
    let ways = [
        ("fathom", "guard", Variant::WasmAsyncify),
        ("fathom", "guard", Variant::WasmSwitch),
        ("fathom", "guard", Variant::WasmState),
        ("wasmtime", "guard", Variant::WasmAsyncify),
        ("native", "none", Variant::Native),
    ];
    let cells = notes.iter().flat_map(|note| {
        let cell = |(engine, strategy, variant)| {
            formula::cell(engine, strategy, variant, ("fibers", &note.name))
        };
        ways.map(cell)
    });
    let cells: Vec<Cell> = cells.collect();
    let mut campaign = formula::campaign("fibers-mini", notes, &cells, truth);
    let peak = |process: &Process| match process.cell.as_str() {
        id if id.contains("live-10000/") => 50_000_000 + 9_999 * 4096,
        _ => 50_000_000,
    };
    for process in &mut campaign.processes {
        let bytes = peak(process);
        process.metrics.insert(Metric::RssPeakBytes, bytes);
    }
    campaign
}

fn files() -> Vec<(String, String)> {
    formula::output(&campaign(), Experiment::Fibers).files
}

fn line<'a>(text: &'a str, title: &str, begins: &[&str]) -> Vec<&'a str> {
    let at = text.find(&format!("## {title}\n")).unwrap();
    let lines = text[at..]
        .lines()
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let of = |fields: &Vec<&str>| fields.len() > begins.len() && fields[1..].starts_with(begins);
    lines.into_iter().find(of).unwrap()
}

#[test]
fn times_are_by_resumption() {
    let text = &files()[0].1;
    let trips = line(text, "Nanoseconds a resumption", &["fathom", "Asyncify"]);
    assert_eq!(trips[3], "28.0");
    let native = line(text, "Nanoseconds a resumption", &["native", "own stacks"]);
    assert_eq!(native[3], "2.00");
}

#[test]
fn the_depth_is_told_from_which_a_switch_is_ahead() {
    let text = &files()[0].1;
    // 28, 36, 44 and 820 ns against 40.
    let fathom = line(
        text,
        "Depth from which stack switching is ahead",
        &["fathom"],
    );
    assert_eq!(fathom[2], "from depth 3 on");
    assert!(!text.contains("| wasmtime | from"), "it has no switch here");
}

#[test]
fn ratios_are_to_asyncify_on_the_same_engine() {
    let text = &files()[0].1;
    let title = "Ratio to Asyncify on the same engine, with 95 % intervals";
    let ratio = line(text, title, &["fathom", "stack switching"]);
    assert!(ratio[3].starts_with("1.43 ("), "{ratio:?}");
    let csv = &files()[2].1;
    let of_native = csv
        .lines()
        .find(|line| line.contains("own stacks,sieve"))
        .unwrap();
    assert!(
        of_native.ends_with(",,,,"),
        "neither over Asyncify nor a module: {of_native}"
    );
}

#[test]
fn memory_is_what_more_fibers_take_more() {
    let text = &files()[0].1;
    let memory = line(
        text,
        "Memory of a suspended fiber",
        &["fathom", "stack switching"],
    );
    assert_eq!(memory[3], "4.10 kB");
    let sizes = line(text, "Bytes of a module", &["Asyncify"]);
    assert_eq!(sizes[2], "40,000");
}

#[test]
fn without_resumptions_there_is_no_figure() {
    let mut campaign = campaign();
    for note in &mut campaign.header.workloads {
        note.trips = None;
    }
    let summary = Summary::from_campaign(&campaign);
    let fibers = Fibers::of(&campaign, &summary);
    let trips = fibers.trips("programs");
    assert!(trips.lines.iter().all(|(_, line)| line[2] == NONE));
    assert_eq!(fibers.csv().lines().count(), 1);
}

#[test]
fn tables_of_nothing_are_left_out() {
    let mut campaign = campaign();
    let notes = &mut campaign.header.workloads;
    notes.retain(|note| note.category.as_deref() == Some("programs"));
    let summary = Summary::from_campaign(&campaign);
    let tables = Fibers::of(&campaign, &summary).tables();
    let titles: Vec<&str> = tables.iter().map(|(title, _)| *title).collect();
    let ratios = "Ratio to Asyncify on the same engine, with 95 % intervals";
    assert_eq!(titles, ["Nanoseconds a resumption", ratios, SIZES]);
}
