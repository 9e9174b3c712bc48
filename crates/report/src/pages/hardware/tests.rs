//! The thesis's page, from campaigns made of formulas.

use std::collections::BTreeMap;

use fathom_record::campaign::{AbsentNote, WorkloadNote};
use fathom_record::{Cell, Phase, Setting, Span, Variant};

use super::lines::KMEANS;
use super::tables::POINTS;
use super::*;
use crate::formula::{self, cell};

/// As published, by two generators on both widths, and one strategy as users get it; k-means at
/// two sizes.
fn campaign() -> Campaign {
    let mut cells = Vec::new();
    for (suite, workload, size) in [
        ("pointers", "graph", "medium"),
        ("pointers", KMEANS, "medium"),
        ("pointers", "kmeans-small", "small"),
        ("polybench", "heat-3d", "medium"),
    ] {
        for codegen in ["direct", "cranelift"] {
            for (variant, own) in [
                (Variant::Wasm64, ["none", "guard64", "shadow", "trap"]),
                (Variant::Wasm32, ["none", "guard", "shadow", "trap"]),
            ] {
                for strategy in own {
                    let mut cell = cell("fathom", strategy, variant, (suite, workload));
                    size.clone_into(&mut cell.size);
                    if codegen != Setting::Codegen.default() {
                        cell.sandbox = cell.sandbox.with(Setting::Codegen, codegen);
                    }
                    if ["none", "trap"].contains(&strategy) && size == "medium" {
                        cells.push(cell.clone());
                    }
                    cell.sandbox = cell.sandbox.with(Setting::Spectre, "off");
                    if ["shadow", "trap"].contains(&strategy) {
                        cell.sandbox = cell.sandbox.with(Setting::Elide, "off");
                    }
                    cells.push(cell);
                }
            }
        }
    }
    cells.extend(cells[..2].iter().map(Cell::control).collect::<Vec<_>>());
    let notes = ["graph", KMEANS, "kmeans-small", "heat-3d"].map(|name| WorkloadNote {
        name: name.to_owned(),
        ..WorkloadNote::default()
    });
    let mut campaign = formula::campaign("thesis", notes.to_vec(), &cells, truth);
    for process in &mut campaign.processes {
        let is_direct = process.cell.as_str().contains("direct");
        let span = Span {
            wall_ns: if is_direct { 2_000_000 } else { 10_000_000 },
            cpu_ns: None,
        };
        process.phases = BTreeMap::from([(Phase::Compile, span)]);
    }
    campaign.header.config.absent = [
        ("fathom llvm", "no clang"),
        ("fathom pkeys", "no protection keys"),
    ]
    .map(|(engine, why)| AbsentNote {
        engine: engine.to_owned(),
        why: why.to_owned(),
        install: None,
    })
    .to_vec();
    campaign
}

fn truth(cell: &Cell) -> f64 {
    let settings = &cell.sandbox.settings;
    let is_direct = settings.value(Setting::Codegen) == "direct";
    let is_used = settings.get(Setting::Spectre).is_none();
    let check = match cell.sandbox.strategy.as_str() {
        "none" | "guard" => 1.0,
        "trap" if is_used => 1.05,
        "trap" if is_direct => 1.4,
        "trap" if cell.workload == "graph" => 2.5,
        "trap" => 2.0,
        "guard64" if is_direct => 1.2,
        "shadow" if is_direct => 1.6,
        "guard64" => 1.8,
        _ => 1.1,
    };
    if is_direct { 1.4 * check } else { check }
}

fn page(campaign: &Campaign) -> String {
    let thesis: Thesis = publications::read(NAME, DATA).unwrap();
    let summary = Summary::from_campaign(campaign);
    Page::of(campaign, &summary).text(&thesis)
}

/// The line of a section that begins so.
fn line<'a>(page: &'a str, section: &str, begins: &str) -> &'a str {
    let (_, rest) = page.split_once(section).expect(section);
    let found = rest.lines().find(|line| line.starts_with(begins));
    found.unwrap_or_else(|| panic!("{begins} in {section}"))
}

#[test]
fn what_the_thesis_states_is_data_that_can_be_read() {
    let thesis: Thesis = publications::read(NAME, DATA).unwrap();
    assert_eq!((thesis.method.len(), thesis.form.len()), (7, 3));
    let places = thesis.statement.iter().map(|one| &one.place);
    assert!(thesis.statement.len() > 10 && places.clone().all(|place| !place.is_empty()));
    let here = thesis.statement.iter().map(|one| &one.here);
    let here: std::collections::BTreeSet<_> = here.collect();
    assert_eq!(
        here.len(),
        thesis.statement.len(),
        "an answer is there twice"
    );
}

#[test]
fn every_statement_is_answered_by_generator() {
    let page = page(&campaign());
    // One pass against LLVM, which is absent.
    assert_eq!(page.matches("not in this campaign").count(), 1, "{page}");
    let found = "## What was found";
    let trap = line(&page, found, "| software checks, 64-bit");
    assert!(
        trap.contains("one pass 1.400 (") && trap.contains("Cranelift 2.154 ("),
        "{trap}"
    );
    assert!(trap.contains("| LLVM not measured; "), "{trap}");
    let worst = line(&page, found, "| 32-bit memories: software checks");
    assert!(worst.contains("Cranelift 2.50 × (graph)"), "{worst}");
    let cheapest = line(&page, found, "| the cheapest way");
    assert!(
        cheapest.contains(
            "one pass `guard64`, measured without `shadow-compressed`; Cranelift `shadow`"
        ),
        "{cheapest}"
    );
    let compile = line(&page, found, "| compile time of a program");
    assert!(compile.contains("one pass 2.00 ms to 2.00 ms"), "{compile}");
    let points = line(&page, found, "| k-means: overheads");
    assert!(
        points.contains("`trap` 2.00 at 10,000, 2.00 at 400,000"),
        "{points}"
    );
}

#[test]
fn published_figures_stand_beside_ours() {
    let page = page(&campaign());
    let guard64 = line(&page, "## Figure 5.1", "| Guard64 ");
    for part in ["1.948 (94.8 % more)", "absent", "1.200 (", "1.800 ("] {
        assert!(guard64.contains(part), "{part} in {guard64}");
    }
    let pkeys = line(&page, "## Figure 5.1", "| PKeys ");
    assert_eq!(pkeys.matches("absent").count(), 3, "{pkeys}");
    let small = line(&page, "## Figure 5.2", "| Software (`trap`)");
    assert!(
        small.contains(" 10,000 ") && small.contains("2.000 ("),
        "{small}"
    );
    let cranelift = page.split("### Cranelift").nth(1).unwrap();
    let trap = cranelift
        .lines()
        .find(|line| line.starts_with("| Software "));
    // Graph, k-means, the stencil, and the mean of the three.
    for part in ["2.500 (", "2.000 (", "2.154 ("] {
        assert!(trap.unwrap().contains(part), "{part} in {trap:?}");
    }
    let form = line(&page, "## Figure A.6", "| SHR ");
    assert_eq!(form.matches("not measured").count(), 2, "{form}");
    let used = line(&page, "## Beyond the thesis", "| Software ");
    assert_eq!(used.matches("1.050").count(), 2, "{used}");
    assert!(page.contains("- fathom llvm: absent: no clang"), "{page}");
    assert!(line(&page, "## Figure 5.6", "| 505.mcf_r").contains("4,071,029,758"));
}

#[test]
fn a_campaign_of_nothing_has_a_page_that_says_so() {
    let mut empty = campaign();
    empty.samples.clear();
    empty.processes.clear();
    let page = page(&empty);
    assert!(
        page.contains("Too few rounds to find anything here: 0 of"),
        "{page}"
    );
    empty.header.cells.clear();
    empty.header.workloads.clear();
    assert!(self::page(&empty).contains("not in this campaign"));
}

#[test]
fn k_means_has_as_many_points_as_its_source_says() {
    let source = include_str!("../../../../../workloads/pointers/kmeans.c");
    let points = POINTS.map(|(_, points)| points.to_string());
    let extent = format!("POINTS = EXTENT({})", points.join(", "));
    assert!(source.contains(&extent), "{extent}");
}
