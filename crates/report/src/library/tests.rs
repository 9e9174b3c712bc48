//! The page, from a campaign made of formulas.

use fathom_record::campaign::{Failure, WorkloadNote};
use fathom_record::{Cell, Experiment, FailureKind, Record, Setting};

use super::*;
use crate::formula::{self, cell};

/// Programs, their groups, and what native code for this machine takes of them.
const PROGRAMS: [(&str, &str, f64); 4] = [
    ("aead_aegis128l", "aead", 0.02),
    ("aead_chacha", "aead", 0.5),
    ("auth", "auth", 0.5),
    ("auth2", "auth", 0.5),
];

fn truth(cell: &Cell) -> f64 {
    let tuned = PROGRAMS.iter().find(|(name, ..)| *name == cell.workload);
    match (cell.sandbox.engine.as_str(), cell.variant) {
        (_, Variant::NativeTuned) => tuned.map_or(1.0, |(.., tuned)| *tuned),
        ("native", _) => 1.0,
        ("fathom", _) => 1.1,
        ("wasmtime", _) => 1.2,
        ("bun", _) if cell.workload.starts_with("auth") => 4.8,
        _ => 2.4,
    }
}

fn campaign() -> Campaign {
    campaign_of(Variant::Wasm)
}

/// With modules of this build.
fn campaign_of(build: Variant) -> Campaign {
    let mut cells = Vec::new();
    for (program, ..) in PROGRAMS {
        let program = ("libsodium", program);
        let mut wasmtime = cell("wasmtime", "guard", build, program);
        wasmtime.sandbox = wasmtime.sandbox.with(Setting::Codegen, "cranelift");
        cells.push(cell("fathom", "auto", build, program));
        cells.push(cells[cells.len() - 1].control());
        cells.push(wasmtime);
        cells.push(cell("bun", "guard", build, program));
        cells.push(cell("leaky", "none", Variant::WasmMvp, program));
        cells.push(cell("native", "none", Variant::Native, program));
        cells.push(cell("native", "none", Variant::NativeTuned, program));
    }
    let note = |(name, category, _): (&str, &str, f64)| WorkloadNote {
        suite: "libsodium".to_owned(),
        name: name.to_owned(),
        why: String::new(),
        answer: None,
        category: Some(category.to_owned()),
        bytes: None,
        ..WorkloadNote::default()
    };
    let notes = PROGRAMS.map(note).to_vec();
    formula::campaign("libsodium-2023-mini", notes, &cells, truth)
}

fn failed(mut campaign: Campaign, engine: &str, workload: &str) -> Campaign {
    let cells = &campaign.header.cells;
    let cell = cells
        .iter()
        .find(|cell| cell.sandbox.engine == engine && cell.workload == workload);
    let cell = cell.map(Cell::id);
    campaign.push(Record::Failure(Failure {
        cell,
        round: None,
        kind: FailureKind::WrongAnswer,
        message: "does not know <memory.copy>".to_owned(),
    }));
    campaign
}

fn own(campaign: &Campaign, name: &str) -> String {
    formula::file(campaign, Experiment::Libsodium, name)
}

/// The line of a section which begins with a name, its fields without blanks.
fn line(page: &str, section: &str, name: &str) -> Vec<String> {
    let (_, rest) = page.split_once(section).expect(section);
    let start = format!("| {name}");
    let line = rest.lines().find(|line| line.starts_with(&start));
    let fields = line.expect(name).trim_matches('|').split('|');
    fields.map(|field| field.trim().to_owned()).collect()
}

#[test]
fn figures_are_over_the_median_of_sandboxes_and_over_native_code() {
    let page = own(&campaign(), "library.md");
    let median = "## Over the median engine";
    assert_eq!(
        line(&page, median, "fathom auto"),
        ["fathom auto", "0.92 (0.895–0.939)", "0.92", "0.92"]
    );
    assert_eq!(
        line(&page, median, "bun"),
        ["bun", "2.83 (2.761–2.898)", "2.00", "4.00"],
        "what keeps nothing in a sandbox does not move the median"
    );
    let native = "## Over portable native code";
    assert_eq!(
        line(&page, native, "wasmtime cranelift"),
        ["wasmtime cranelift", "1.20 (1.167–1.234)", "1.20", "1.20"]
    );
    let place = |name: &str| page.find(&format!("\n| {name} ")).expect(name);
    assert!(place("fathom auto") < place("wasmtime cranelift"));
    assert!(place("bun") < place("leaky"), "unranked rows are last");
}

#[test]
fn a_program_without_a_time_is_marked_and_named() {
    let campaign = failed(campaign(), "bun", "auth2");
    let page = own(&campaign, "library.md");
    let median = "## Over the median engine";
    assert_eq!(
        line(&page, median, "bun")[1..],
        ["2.52* (2.450–2.591)", "2.00", "4.00*"]
    );
    assert!(
        page.contains("does not know &lt;memory.copy&gt; (1 cell)"),
        "{page}"
    );
    assert_eq!(line(&page, "## Configuration in force", "bun")[5], "3 of 4");
    let html = own(&campaign, "library.html");
    assert!(html.contains("does not know &lt;memory.copy&gt;"));
    assert!(!html.contains("<memory.copy>"));
}

#[test]
fn every_figure_is_in_the_csv() {
    let csv = own(&campaign(), "library.csv");
    // A head; six rows to the median and to native code, all and two groups.
    assert_eq!(csv.lines().count(), 1 + 6 * 2 * 3);
    let line = "wasmtime cranelift,wasmtime/guard/speed:cranelift,wasm,native,auth,1.";
    assert!(csv.contains(line), "{csv}");
}

#[test]
fn the_seeds_statements_stand_beside_ours() {
    let campaign = campaign();
    let files = formula::output(&campaign, Experiment::Libsodium).paper;
    let page = &files[0].1;
    let says = "## What the 2023 study says";
    // The fastest is ours: 1.1 over 0.5, and over 0.02.
    let native = line(page, says, "slower than native code, median");
    assert_eq!(native[1..3], ["2.32", "2.20 × (95 %: 2.200–2.201)"]);
    let aes = line(page, says, "slower where native code");
    assert!(aes[2].starts_with("55.0 × (95 %: "), "{aes:?}");
    let bun = line(page, says, "JavaScriptCore shows serious room");
    let found = "4.00 × (95 %: 3.865–4.139), different";
    assert_eq!(bun[2..], [found, "bun over the median, auth"]);
    let iwasm = line(page, says, "iwasm was");
    assert_eq!(iwasm[2], "–");
    assert!(iwasm[3].starts_with("wamr aot (not here)"), "{iwasm:?}");
    let drawn: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        drawn,
        [
            "libsodium-runtimes-2023.md",
            "libsodium-2023/cumulative.svg",
            "libsodium-2023/aead.svg",
            "libsodium-2023/auth.svg",
            "libsodium-2023/native.svg"
        ]
    );
    for name in &drawn[1..] {
        assert!(page.contains(&format!("]({name})")), "{name}");
    }
}

#[test]
fn modules_that_went_through_the_optimiser_are_told_apart() {
    let page = |campaign: &Campaign| own(campaign, "libsodium-runtimes-2023.md");
    let plain = page(&campaign());
    assert!(plain.contains("was not run over these") && !plain.contains("auto wasm-opt"));
    let campaign = campaign_of(Variant::WasmOpt);
    let optimised = page(&campaign);
    assert!(optimised.contains("ran modules after `wasm-opt -O4`"));
    assert!(!optimised.contains("was not run over these"));
    assert!(optimised.contains("| wasmtime cranelift · wasm-opt -O4 "));
    assert!(own(&campaign, "library.md").contains("Rows named wasm-opt"));
}

#[test]
fn a_row_with_too_few_rounds_is_not_in_the_median() {
    let mut campaign = campaign();
    let rests = |cell: &CellId, round: u32| cell.as_str().starts_with("bun/") && round > 1;
    campaign.samples.retain(|one| !rests(&one.cell, one.round));
    campaign
        .processes
        .retain(|one| !rests(&one.cell, one.round));
    let page = own(&campaign, "library.md");
    let median = "## Over the median engine";
    // Between 1.1 and 1.2, without bun's 2.4 and 4.8.
    assert_eq!(line(&page, median, "fathom auto")[2..], ["0.96", "0.96"]);
    assert!(page.contains("2 to "), "{page}");
}
