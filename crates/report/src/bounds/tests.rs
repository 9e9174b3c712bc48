//! The page, from a campaign made of formulas.

use std::collections::BTreeMap;

use fathom_record::campaign::{Config, Failure, Process, Sample};
use fathom_record::{Cell, Header, Opt, Record};

use super::*;

fn cell(engine: &str, strategy: &str, variant: Variant, (suite, workload): (&str, &str)) -> Cell {
    Cell {
        sandbox: Sandbox {
            engine: engine.to_owned(),
            version: None,
            strategy: strategy.to_owned(),
            opt: Opt::Speed,
            backend: None,
            elide: None,
        },
        suite: suite.to_owned(),
        workload: workload.to_owned(),
        variant,
        size: "mini".to_owned(),
        threads: 1,
        control_of: None,
    }
}

/// Two widths, three strategies each, another engine, two suites; five rounds
/// whose noise is of the fourth decimal.
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
                kept.sandbox.elide = Some(Elide::Off);
                cells.insert(cells.len() - 3, kept);
            }
            cells.push(cell("other", "guard", variant, workload));
            let control = cells[cells.len() - 4].control();
            cells.push(control);
        }
    }
    let header = Header {
        format: 1,
        tool: "test".to_owned(),
        name: "bounds-mini".to_owned(),
        date: "2026-11-20T12:00:00Z".to_owned(),
        command: Vec::new(),
        host: fathom_record::Host::default(),
        config: Config {
            other: BTreeMap::from([(SELECTION.to_owned(), NAME.to_owned())]),
            ..Config::default()
        },
        workloads: Vec::new(),
        cells: cells.clone(),
    };
    let mut campaign = Campaign::new(header);
    for round in 0..5 {
        for (number, cell) in cells.iter().enumerate() {
            let off = f64::from((number as u32 * 7 + round * 13) % 5) * 1e-4;
            let id = cell.id();
            campaign.push(Record::Sample(Sample {
                cell: id.clone(),
                round,
                thread: 0,
                index: 0,
                kernel_ns: Some((1e9 * truth(cell) * (1.0 + off)) as u64),
                phases: BTreeMap::new(),
            }));
            campaign.push(Record::Process(Process {
                cell: id,
                round,
                phases: BTreeMap::new(),
                metrics: BTreeMap::new(),
                wall_ns: None,
                cpu_ns: None,
                cpu_host: None,
                cpu_pinned: None,
                window: None,
                seed: None,
            }));
        }
    }
    campaign
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
        ("trap", _) if cell.sandbox.elide == Some(Elide::Off) => 1.65,
        ("trap", "gemm") => 1.5,
        ("trap", _) => 1.1,
        _ => 1.0,
    };
    width * check
}

fn page(campaign: &Campaign) -> String {
    assert!(is_about(campaign));
    render(campaign, &Summary::from_campaign(campaign))
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
    for part in ["1.284 (", "1.100 (", "1.220 (", "1.500 gemm"] {
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
    assert!(!page.contains("Without a time"));
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
    assert!(page.contains("unknown: no control was measured"));
    empty.header.config.other.clear();
    assert!(!is_about(&empty));
}
