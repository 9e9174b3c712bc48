//! The page, from a campaign made of formulas.

use fathom_record::campaign::{Config, Counts, FORMAT_VERSION, Failure, Process, Sample, Window};
use fathom_record::{Cell, FailureKind, Header, Phase, Record, Sandbox, Span, Variant};

use super::*;
use crate::view;

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for threads in [1, 4] {
        for (strategy, variant) in [
            ("guard", Variant::WasmSimd),
            ("uffd", Variant::WasmSimd),
            ("none", Variant::Native),
        ] {
            let own = if variant.is_wasm() {
                "fathom"
            } else {
                "native"
            };
            cells.push(Cell {
                sandbox: Sandbox::new(own, strategy),
                suite: "polybench".to_owned(),
                workload: "gemm".to_owned(),
                variant,
                size: "mini".to_owned(),
                threads,
                control_of: None,
            });
        }
    }
    cells.push(cells[0].control());
    cells.push(cells[3].control());
    cells
}

/// One and four instances on two processors, two strategies; `uffd` fails with
/// four.
pub(crate) fn campaign() -> Campaign {
    let cells = cells();
    let header = Header {
        format: FORMAT_VERSION,
        tool: "test".to_owned(),
        name: "scaling-mini".to_owned(),
        date: "2026-11-21T12:00:00Z".to_owned(),
        command: vec!["suite".to_owned(), "scaling".to_owned()],
        request: None,
        host: fathom_record::Host::default(),
        config: Config {
            cpus: vec![1, 0],
            baseline: Some(cells[2].sandbox.id()),
            ..Config::default()
        },
        workloads: Vec::new(),
        cells: cells.clone(),
    };
    let mut campaign = Campaign::new(header);
    for (number, cell) in cells.iter().enumerate() {
        let id = cell.id();
        if cell.sandbox.strategy == "uffd" && cell.threads == 4 {
            campaign.push(Record::Failure(Failure {
                cell: Some(id),
                round: None,
                kind: FailureKind::Crash,
                message: "out of memory".to_owned(),
            }));
            continue;
        }
        for round in 0..5 {
            for record in records(&id, cell.threads, round, number as u64) {
                campaign.push(record);
            }
        }
        campaign.push(Record::Counts(Counts {
            cell: id,
            instances: 10,
            calls: BTreeMap::from([("mprotect".to_owned(), 25)]),
            how: "by a tracer".to_owned(),
        }));
    }
    campaign
}

fn records(id: &CellId, threads: u32, round: u32, number: u64) -> [Record; 2] {
    let off = (u64::from(round) * 13 + number * 7) % 5;
    let phases = BTreeMap::from([(
        Phase::Run,
        Span {
            wall_ns: 1_000_000 + off,
            cpu_ns: None,
        },
    )]);
    // Four do 1.5 times as much in a second as one.
    let runs = if threads == 1 { 10_000 } else { 15_000 };
    [
        Record::Sample(Sample {
            cell: id.clone(),
            round,
            thread: 0,
            index: 0,
            kernel_ns: Some(1_000_000 + off * 100),
            phases,
        }),
        Record::Process(Process {
            window: Some(Box::new(Window {
                wall_ns: 1_000_000_000 + off * 1000,
                iterations: runs,
                faults: Some(runs * 3),
                rss_mean_bytes: Some(5_000_000),
                readings: 4,
                ..Window::default()
            })),
            ..Process::new(id.clone(), round)
        }),
    ]
}

fn scaling() -> Scaling {
    let campaign = campaign();
    let summary = Summary::from_campaign(&campaign);
    let view = view::from_campaign(&campaign, &summary, Figure::Kernel, "samples.jsonl", ".");
    of(&Context {
        campaign: &campaign,
        summary: &summary,
        view: &view,
        against: &[],
    })
}

#[test]
fn throughput_is_what_was_seen_to_end() {
    let scaling = scaling();
    let part = &scaling.parts[0];
    assert_eq!(part.threads, [1, 4]);
    let guard = part.lines.iter().find(|line| line.label.contains("guard"));
    let points: Vec<_> = guard.unwrap().points.iter().flatten().collect();
    assert!((points[0].runs_per_s.unwrap() - 10_000.0).abs() < 1.0);
    assert!(!points[0].is_over && points[0].relative.is_none());
    let Judged { ratio, verdict } = points[1].relative.unwrap();
    assert!((ratio.value - 1.5).abs() < 0.001, "{ratio:?}");
    assert_eq!(verdict, Verdict::Different);
    assert!(points[1].is_over);
    assert_eq!(points[1].costs[&Figure::FaultsPerRun], 3.0);
    assert_eq!(points[1].calls["mprotect"], 2.5);
}

#[test]
fn what_is_too_much_is_marked_and_what_failed_is_named() {
    let text = scaling().document().markdown();
    assert!(text.contains(" 4* |"), "{text}");
    assert!(text.contains("1.50 × ("), "{text}");
    assert!(
        text.contains("uffd, wasm-simd, 4 at once: crash: out of memory (1 cell)"),
        "{text}"
    );
    assert!(text.contains("System calls: by a tracer."), "{text}");
    let uffd = text.lines().find(|line| line.contains("fathom uffd"));
    assert!(uffd.unwrap().trim_end().ends_with("– |"), "{text}");
}

#[test]
fn a_native_runner_s_memory_is_not_that_of_its_programs() {
    let scaling = scaling();
    let native = scaling.parts[0]
        .lines
        .iter()
        .find(|line| line.label == "native");
    let point = native.unwrap().points[0].as_ref().unwrap();
    assert!(!point.costs.contains_key(&Figure::RssMean));
}

#[test]
fn the_other_forms_hold_the_same() {
    let scaling = scaling();
    let page = scaling.document().html();
    assert!(page.contains("<svg") && page.contains("more instances than processors"));
    assert!(!page.contains("<script") && page.ends_with("</html>\n"));
    let csv = scaling.csv();
    let fields = |line: &str| line.split(',').count();
    let heads = fields(csv.lines().next().unwrap());
    assert!(
        csv.lines().skip(1).all(|line| fields(line) == heads),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 1 + 5);
}
