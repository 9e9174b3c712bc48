//! Campaigns made of formulas.

#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;

use fathom_record::campaign::{Config, CpuTime, Failure, Process, Sample};
use fathom_record::{
    Campaign, Cell, CellId, FailureKind, Header, Host, Metric, Phase, Record, Sandbox, Span,
    Variant,
};
use fathom_stats::rng::Rng;

/// A standard normal value (Box and Muller).
pub fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

pub fn cell(engine: &str, strategy: &str, variant: Variant, workload: &str, threads: u32) -> Cell {
    Cell {
        sandbox: Sandbox::new(engine, strategy),
        suite: "polybench".to_owned(),
        workload: workload.to_owned(),
        variant,
        size: "mini".to_owned(),
        threads,
        control_of: None,
    }
}

/// `workloads` × (native, fathom none, fathom guard, fathom trap), each with
/// `threads` instances, and A/A controls of guard.
pub fn header(workloads: usize, threads: u32) -> Header {
    let mut cells = Vec::new();
    for workload in 0..workloads {
        let name = format!("k{workload:02}");
        cells.push(cell("native", "none", Variant::Native, &name, threads));
        for strategy in ["none", "guard", "trap"] {
            cells.push(cell("fathom", strategy, Variant::Wasm, &name, threads));
        }
        let control = cells[cells.len() - 2].control();
        cells.push(control);
    }
    Header {
        format: 1,
        tool: "test".to_owned(),
        name: "test".to_owned(),
        date: "2026-11-20T12:00:00Z".to_owned(),
        command: Vec::new(),
        request: None,
        host: Host::default(),
        config: Config::default(),
        workloads: Vec::new(),
        cells,
    }
}

/// How long a cell of [`header`] truly takes of native's time.
pub fn true_ratio(cell: &Cell) -> f64 {
    match (cell.sandbox.engine.as_str(), cell.sandbox.strategy.as_str()) {
        ("native", _) => 1.0,
        (_, "none") => 1.10,
        (_, "guard") => 1.12,
        (_, "trap") => 1.50,
        _ => unreachable!("not in this campaign"),
    }
}

pub fn sample(cell: &CellId, round: u32, thread: u32, index: u32, ns: u64) -> Record {
    let span = |wall_ns| Span {
        wall_ns,
        cpu_ns: Some(wall_ns / 2),
    };
    Record::Sample(Sample {
        cell: cell.clone(),
        round,
        thread,
        index,
        kernel_ns: Some(ns),
        phases: BTreeMap::from([
            (Phase::Instantiate, span(1_000)),
            (Phase::Run, span(ns.saturating_add(500))),
            (Phase::Teardown, span(100)),
        ]),
    })
}

pub fn process(cell: &CellId, round: u32) -> Record {
    let span = |wall_ns| Span {
        wall_ns,
        cpu_ns: None,
    };
    Record::Process(Process {
        phases: BTreeMap::from([(Phase::Load, span(10)), (Phase::Compile, span(20_000))]),
        metrics: BTreeMap::from([
            (Metric::RssPeakBytes, 1 << 20),
            (Metric::CtxVoluntary, 30),
            (Metric::CtxInvoluntary, 20),
        ]),
        wall_ns: Some(1_000_000),
        cpu_ns: Some(500_000_000),
        cpu_host: Some(CpuTime {
            user_ms: 1,
            idle_ms: 3,
            ..CpuTime::default()
        }),
        ..Process::new(cell.clone(), round)
    })
}

pub fn failure(cell: Option<&CellId>, round: Option<u32>, kind: FailureKind) -> Record {
    Record::Failure(Failure {
        cell: cell.cloned(),
        round,
        kind,
        message: "because".to_owned(),
    })
}

/// A whole campaign: each round of each cell is off by its own `noise` (a
/// standard deviation of the logarithm) and by the round's own, common to all
/// cells; samples within a round are off by a third of it.
pub fn campaign(workloads: usize, threads: u32, rounds: u32, noise: f64, seed: u64) -> Campaign {
    campaign_of(header(workloads, threads), rounds, noise, seed, true_ratio)
}

pub fn campaign_of(
    header: Header,
    rounds: u32,
    noise: f64,
    seed: u64,
    truth: impl Fn(&Cell) -> f64,
) -> Campaign {
    let mut rng = Rng::new(seed, 0);
    let mut campaign = Campaign::new(header);
    let cells = campaign.header.cells.clone();
    for round in 0..rounds {
        let common = 5.0 * noise * normal(&mut rng);
        for cell in &cells {
            let id = cell.id();
            let off = noise * normal(&mut rng) + common;
            for thread in 0..cell.threads {
                for index in 0..3 {
                    let own = noise / 3.0 * normal(&mut rng);
                    let ns = 1e9 * truth(cell) * (off + own).exp();
                    campaign.push(sample(&id, round, thread, index, ns as u64));
                }
            }
            campaign.push(process(&id, round));
        }
    }
    campaign
}
