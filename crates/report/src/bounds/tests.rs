//! The page, from a campaign made of formulas.

use fathom_record::{Cell, FailureKind, Record, Setting, campaign::Failure};

use super::*;
use crate::formula::{self, cell};

/// Two widths, three strategies each, another engine, two suites.
fn campaign() -> Campaign {
    let mut cells = Vec::new();
    for workload in [
        ("polybench", "gemm"),
        ("polybench", "lu"),
        ("pointers", "graph"),
    ] {
        for (variant, own) in [
            (Variant::Wasm32, ["auto", "none", "guard"]),
            (Variant::Wasm64, ["auto", "none", "trap"]),
        ] {
            cells.extend(own.map(|strategy| cell("fathom", strategy, variant, workload)));
            if variant.has_memory64() {
                let mut kept = cell("fathom", "trap", variant, workload);
                kept.sandbox = kept.sandbox.with(Setting::Elide, "off");
                cells.insert(cells.len() - 3, kept);
            }
            cells.push(cell("other", "guard", variant, workload));
            let control = cells[cells.len() - 4].control();
            cells.push(control);
        }
    }
    formula::campaign("bounds-mini", Vec::new(), &cells, truth)
}

fn truth(cell: &Cell) -> f64 {
    let width = if cell.variant.has_memory64() {
        1.2
    } else {
        1.0
    };
    let check = match (cell.sandbox.strategy.as_str(), cell.workload.as_str()) {
        _ if cell.sandbox.engine == "other" => 1.3,
        ("auto", _) if cell.variant.has_memory64() => 1.02,
        ("trap", _) if cell.sandbox.settings.get(Setting::Elide) == Some("off") => 1.65,
        ("trap", "gemm") => 1.5,
        ("trap", _) => 1.1,
        _ => 1.0,
    };
    width * check
}

fn page(campaign: &Campaign) -> String {
    document(campaign, &Summary::from_campaign(campaign)).markdown()
}

/// The line of a section which begins with a name.
fn line<'a>(page: &'a str, section: &str, name: &str) -> &'a str {
    let (_, rest) = page.split_once(section).expect(section);
    let start = format!("| {name} ");
    rest.lines()
        .find(|line| line.starts_with(&start))
        .expect(name)
}

#[test]
fn every_comparison_is_there() {
    let page = page(&campaign());
    let trap = line(&page, "## 64-bit memories: each strategy", "trap");
    // The mean of gemm's 1.5 and lu's 1.1, of graph, of all three, the worst.
    for part in ["1.285 (", "1.100 (", "1.220 (", "1.500 gemm"] {
        assert!(trap.contains(part), "{part} in {trap}");
    }
    let auto = line(&page, "## 32-bit memories: each strategy", "auto");
    assert!(auto.contains('~'), "{auto}");
    let widths = "## 64 bits over 32 bits";
    assert!(line(&page, widths, "fathom none over none: what the width costs").contains("1.200"));
    assert!(line(&page, widths, "fathom auto over guard: what users pay").contains("1.224"));
    assert!(line(&page, widths, "other guard over itself").contains("1.200"));
    let peer = line(
        &page,
        "## Our `auto` over other engines",
        "over other guard",
    );
    assert!(peer.contains("0.785"), "{peer}");
    let gemm = line(&page, "## 64-bit memories, workload by workload", "gemm");
    assert!(gemm.contains("1.500") && gemm.contains("1.020"), "{gemm}");
    // 1.5, 1.1 and 1.1 over 1.65.
    let section = "## 64-bit memories: checks left out";
    let worth = line(&page, section, "trap: loops over off");
    assert!(
        worth.contains("0.739 (") && worth.contains("0.909 gemm"),
        "{worth}"
    );
    let section = "## 64-bit memories, workload by workload: checks left out";
    assert!(line(&page, section, "lu").contains("0.667"));
    assert!(!page.contains("32-bit memories: checks left out"));
    assert!(!page.contains("Not measured"));
}

#[test]
fn what_checks_cost_is_said_of_each_code_generator() {
    let mut cells = Vec::new();
    for strategy in ["none", "trap"] {
        for backend in ["cranelift", "llvm"] {
            let mut made = cell("fathom", strategy, Variant::Wasm32, ("pointers", "graph"));
            if backend != Setting::Codegen.default() {
                made.sandbox = made.sandbox.with(Setting::Codegen, backend);
            }
            cells.push(made);
        }
    }
    let truth = |cell: &Cell| match (cell.sandbox.settings.backend(), &*cell.sandbox.strategy) {
        (None, "none") => 1.0,
        (None, _) => 1.25,
        (Some(_), "none") => 0.8,
        (Some(_), _) => 1.6,
    };
    let page = page(&formula::campaign("bounds-mini", Vec::new(), &cells, truth));
    let checks = "## 32-bit memories: each strategy";
    assert!(line(&page, checks, "trap").contains("1.250 ("), "{page}");
    assert!(
        line(&page, checks, "trap llvm").contains("2.000 ("),
        "{page}"
    );
    let generators = "## 32-bit memories: code generators";
    assert!(
        line(&page, generators, "none llvm").contains("0.800"),
        "{page}"
    );
    assert!(
        line(&page, generators, "trap llvm").contains("1.280"),
        "{page}"
    );
}

#[test]
fn what_has_no_time_is_named_and_not_in_a_mean_unsaid() {
    let mut campaign = campaign();
    let lost = cell("fathom", "trap", Variant::Wasm64, ("polybench", "gemm"));
    campaign.push(Record::Failure(Failure {
        cell: Some(lost.id()),
        round: Some(0),
        kind: FailureKind::WrongAnswer,
        message: "not what it should be".to_owned(),
    }));
    let page = page(&campaign);
    let trap = line(&page, "## 64-bit memories: each strategy", "trap");
    assert!(trap.contains("without gemm"), "{trap}");
    assert!(page.contains("- fathom trap, wasm64: "), "{page}");
    assert!(page.contains("not what it should be (1 cell)"), "{page}");
}

#[test]
fn a_campaign_of_nothing_is_a_heading() {
    let mut empty = campaign();
    empty.samples.clear();
    empty.processes.clear();
    let page = page(&empty);
    assert!(page.starts_with("# Bounds checks: bounds-mini\n"), "{page}");
    assert!(page.contains("unknown: no control, or too few rounds of it"));
}
