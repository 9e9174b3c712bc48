//! Parts of made-up campaigns, of which every one is known.

use std::collections::BTreeMap;

use fathom_record::campaign::{
    Config, FORMAT_VERSION, Failure, Process, Sample, Seen as Calls, Traced,
};
use fathom_record::{FailureKind, Header, Record, Span, Variant};

use super::*;

/// What a row of the made-up machine takes: its own code, WASI, system calls, page faults.
#[derive(Clone, Copy)]
struct Row {
    engine: &'static str,
    strategy: &'static str,
    code: f64,
    wasi: f64,
    calls: f64,
    faults: f64,
}

const NATIVE: Row = Row {
    engine: "native",
    strategy: "none",
    code: 10e6,
    wasi: 0.0,
    calls: 2e6,
    faults: 100.0,
};
/// Our engine without checks: its code takes 3 ms longer than native's.
const FORMAT: Row = Row {
    engine: "fathom",
    strategy: "none",
    code: 13e6,
    wasi: 0.5e6,
    calls: 2.5e6,
    faults: 300.0,
};
/// With checks: 1 ms more.
const ENGINE: Row = Row {
    strategy: "guard",
    code: 14e6,
    ..FORMAT
};

const PRICE: f64 = 500.0;
const COMPILE: f64 = 4e6;
const INSTANCE: f64 = 0.2e6;
const START: f64 = 1.5e6;
/// What the process of the program takes more at its end than that of the one not run.
const ODD: f64 = 0.1e6;
/// Faults of an engine's process before it runs anything.
const FAULTS_BEFORE: f64 = 900.0;
/// What seeing adds to a call.
const EACH: f64 = 200.0;
const COUNT: u64 = 1000;
/// Of the start of an engine's process.
const CALLS_BEFORE: u64 = 40;

fn cell(row: &Row, suite: &str, workload: &str) -> Cell {
    Cell {
        sandbox: Sandbox::new(row.engine, row.strategy),
        suite: suite.to_owned(),
        workload: workload.to_owned(),
        variant: match row.engine {
            "native" => Variant::Native,
            _ => Variant::Wasm,
        },
        size: String::new(),
        threads: 1,
        control_of: None,
    }
}

/// A machine: rows, and how much rounds scatter.
struct Machine {
    rows: Vec<Row>,
    scatter: f64,
    rounds: u32,
    traces: bool,
    sees_calls: bool,
    faults_known: bool,
}

impl Machine {
    fn of(rows: &[Row]) -> Machine {
        Machine {
            rows: rows.to_vec(),
            scatter: 0.0,
            rounds: 8,
            traces: true,
            sees_calls: true,
            faults_known: true,
        }
    }

    fn cells(&self) -> Vec<(Cell, Row)> {
        let mut cells = Vec::new();
        for row in &self.rows {
            cells.push((cell(row, "module", "app.wasm"), *row));
        }
        for row in self.rows.iter().filter(|row| row.engine != "native") {
            for name in [NOT_RUN, TOUCHED, UNTOUCHED] {
                cells.push((cell(row, SUITE, name), *row));
            }
        }
        cells
    }

    fn campaign(&self) -> Campaign {
        let cells = self.cells();
        let mut campaign = Campaign::new(Header {
            format: FORMAT_VERSION,
            tool: "test".to_owned(),
            name: "test".to_owned(),
            date: "2026-11-20T12:00:00Z".to_owned(),
            command: Vec::new(),
            request: None,
            host: fathom_record::Host::default(),
            config: Config::default(),
            workloads: Vec::new(),
            cells: cells.iter().map(|(cell, _)| cell.clone()).collect(),
        });
        for round in 0..self.rounds {
            for (number, (cell, row)) in cells.iter().enumerate() {
                self.round(&mut campaign, round, number, cell, row);
            }
        }
        for repeat in 0..if self.traces { 5 } else { 0 } {
            for (cell, row) in &cells {
                self.trace(&mut campaign, repeat, cell, row);
            }
        }
        campaign
    }

    fn round(&self, to: &mut Campaign, round: u32, number: usize, cell: &Cell, row: &Row) {
        // A scatter whose mean over eight rounds is nothing.
        let turn = (round as usize + number) % 8;
        let off = self.scatter * (turn as f64 - 3.5);
        let is_native = row.engine == "native";
        let (run, faults) = match cell.workload.as_str() {
            NOT_RUN => (0.0, 0.0),
            TOUCHED => (8000.0 * PRICE + 1e5, 8000.0),
            UNTOUCHED => (1e5, 0.0),
            _ => (
                row.code + row.wasi + row.calls + row.faults * PRICE,
                row.faults,
            ),
        };
        let run = run + off;
        let odd = match cell.workload.as_str() {
            "app.wasm" => ODD,
            _ => 0.0,
        };
        let span = |ns: f64| Span {
            wall_ns: ns.max(0.0) as u64,
            cpu_ns: None,
        };
        let phases = match is_native {
            true => BTreeMap::from([
                (Phase::Instantiate, span(1e5)),
                (Phase::Run, span(run - 1e5)),
            ]),
            false => BTreeMap::from([
                (Phase::Instantiate, span(INSTANCE / 2.0)),
                (Phase::Run, span(run)),
                (Phase::Teardown, span(INSTANCE / 2.0)),
            ]),
        };
        let once = match is_native {
            true => BTreeMap::new(),
            false => BTreeMap::from([
                (Phase::Load, span(COMPILE / 4.0)),
                (Phase::Compile, span(COMPILE * 0.75)),
            ]),
        };
        let around = if is_native { 0.0 } else { COMPILE + INSTANCE };
        let before = if is_native { 0.0 } else { FAULTS_BEFORE };
        let all_faults = (faults + before) as u64;
        let metrics = match self.faults_known {
            true => BTreeMap::from([(Metric::FaultsMinor, all_faults)]),
            false => BTreeMap::new(),
        };
        to.push(Record::Sample(Sample {
            cell: cell.id(),
            round,
            thread: 0,
            index: 0,
            kernel_ns: None,
            phases,
        }));
        to.push(Record::Process(Process {
            phases: once,
            metrics,
            wall_ns: Some((run.max(0.0) + around + START + odd) as u64),
            ..Process::new(cell.id(), round)
        }));
    }

    fn trace(&self, to: &mut Campaign, repeat: u32, cell: &Cell, row: &Row) {
        let is_native = row.engine == "native";
        let (runs, before) = match cell.workload.as_str() {
            NOT_RUN => (false, CALLS_BEFORE),
            TOUCHED | UNTOUCHED => return,
            _ => (true, if is_native { 0 } else { CALLS_BEFORE }),
        };
        let seen = |count: u64, ns: f64| Calls {
            count,
            total_ns: (ns + count as f64 * EACH) as u64,
            each_ns: EACH,
        };
        let calls = match runs {
            true => seen(COUNT + before, row.calls + before as f64 * 50.0),
            false => seen(before, before as f64 * 50.0),
        };
        // As many in both: that they take another time each time is no part of the run.
        let start = seen(20, f64::from(repeat + u32::from(runs)) * 1e6);
        let calls = [("write", calls), ("futex", start), ("mmap", seen(2, 0.0))];
        let calls = calls.map(|(name, seen)| (name.to_owned(), seen));
        let calls = calls
            .into_iter()
            .filter(|(name, _)| !is_native || name == "write");
        let wasi = match runs {
            true => seen(COUNT, row.calls + row.wasi),
            false => seen(0, 0.0),
        };
        to.push(Record::Traced(Traced {
            cell: cell.id(),
            repeat,
            wasi: (!is_native).then_some(wasi),
            calls: self.sees_calls.then(|| calls.collect()),
            functions: None,
            threads: None,
        }));
    }

    fn waterfall(&self) -> Result<Waterfall, NoWaterfall> {
        of(&self.campaign())
    }
}

fn of(campaign: &Campaign) -> Result<Waterfall, NoWaterfall> {
    Waterfall::of(campaign, &Summary::from_campaign(campaign))
}

fn parts(waterfall: &Waterfall) -> Vec<(Part, f64)> {
    let parts = waterfall.parts.iter();
    parts.map(|one| (one.part, one.value.ns.round())).collect()
}

#[test]
fn every_part_is_what_it_was_made_of() {
    let waterfall = Machine::of(&[ENGINE, FORMAT, NATIVE]).waterfall().unwrap();
    assert_eq!(
        parts(&waterfall),
        [
            (Part::Native, 12e6 + 100.0 * PRICE),
            (Part::Format, 3e6),
            (Part::Checks, 1e6),
            (Part::Wasi, 0.5e6),
            (Part::Calls, 0.5e6),
            (Part::Faults, 200.0 * PRICE),
            (Part::Instance, INSTANCE),
            (Part::Compile, COMPILE),
            (Part::Start, START),
        ]
    );
    let sum: f64 = waterfall.parts.iter().map(|one| one.value.ns).sum();
    assert!((sum - waterfall.sum.ns).abs() < 1.0, "{sum}");
    let left = waterfall.whole.ns - waterfall.sum.ns;
    assert!((left - ODD).abs() < 1.0 && (waterfall.unexplained.ns - left).abs() < 1e-6);
    assert!(waterfall.apart.is_empty(), "{:?}", waterfall.apart);
    let counts: Vec<_> = waterfall.parts.iter().filter_map(|one| one.count).collect();
    let [wasi, calls, faults] = counts[..] else {
        panic!("{counts:?}")
    };
    assert_eq!((wasi.count, wasi.each_ns.round()), (1000.0, 500.0));
    assert_eq!((calls.count, calls.each_ns.round()), (1000.0, 2500.0));
    assert_eq!((faults.count, faults.each_ns.round()), (300.0, PRICE));
}

#[test]
fn without_native_code_the_bar_begins_with_the_programs_own() {
    let waterfall = Machine::of(&[ENGINE, FORMAT]).waterfall().unwrap();
    let all = parts(&waterfall);
    assert_eq!(
        all[..3],
        [(Part::Code, 13e6), (Part::Checks, 1e6), (Part::Wasi, 0.5e6)]
    );
    assert!(all.contains(&(Part::Calls, 2.5e6)));
    let sum: f64 = all.iter().map(|(_, ns)| ns).sum();
    assert!((sum - waterfall.sum.ns).abs() < 4.0);
}

#[test]
fn another_engine_has_quality_and_a_format_of_its_own() {
    let row = |engine, strategy, code| Row {
        engine,
        strategy,
        code,
        ..FORMAT
    };
    let (checked, unchecked) = (row("other", "trap", 17e6), row("other", "guard", 15e6));
    let mut machine = Machine::of(&[checked, unchecked, FORMAT, NATIVE]);
    let all = parts(&machine.waterfall().unwrap());
    assert!(all.contains(&(Part::Format, 3e6)), "{all:?}");
    assert!(all.contains(&(Part::Quality, 2e6)), "{all:?}");
    assert!(all.contains(&(Part::Checks, 2e6)), "{all:?}");
    // One that cannot be had without checks has them in its quality.
    machine.rows.remove(1);
    let waterfall = machine.waterfall().unwrap();
    let all = parts(&waterfall);
    assert!(all.contains(&(Part::Quality, 4e6)), "{all:?}");
    assert!(all.iter().all(|(part, _)| *part != Part::Checks));
    assert_eq!(waterfall.apart, [(Part::Checks, Missing::NoUnchecked)]);
    // The format by itself has neither.
    let alone = parts(&Machine::of(&[FORMAT, NATIVE]).waterfall().unwrap());
    let has = |wanted| alone.iter().any(|(part, _)| *part == wanted);
    assert!(has(Part::Format) && !has(Part::Quality) && !has(Part::Checks));
}

#[test]
fn what_was_not_seen_stays_where_it_is_and_is_named() {
    let mut machine = Machine::of(&[ENGINE, FORMAT, NATIVE]);
    machine.sees_calls = false;
    let waterfall = machine.waterfall().unwrap();
    // Without native's system calls those of the engine cannot be told from its code.
    assert!(parts(&waterfall).contains(&(Part::Format, 3e6 + 0.5e6 + 0.5e6)));
    let missing: Vec<Part> = waterfall.apart.iter().map(|(part, _)| *part).collect();
    assert_eq!(missing, [Part::Wasi, Part::Calls]);
    machine.rows.pop();
    let waterfall = machine.waterfall().unwrap();
    assert!(
        parts(&waterfall).contains(&(Part::Wasi, 3e6)),
        "with its system calls"
    );
    assert!(waterfall.wasi_has_calls);
    machine.traces = false;
    let waterfall = machine.waterfall().unwrap();
    assert!(parts(&waterfall).contains(&(Part::Code, 13e6 + 3e6)));
    machine.faults_known = false;
    let waterfall = machine.waterfall().unwrap();
    assert!(parts(&waterfall).contains(&(Part::Code, 16e6 + 300.0 * PRICE)));
    assert_eq!(waterfall.apart.len(), 3, "{:?}", waterfall.apart);
    let sum: f64 = waterfall.parts.iter().map(|one| one.value.ns).sum();
    assert!((sum - waterfall.sum.ns).abs() < 4.0, "whatever is seen");
}

#[test]
fn intervals_are_as_wide_as_rounds_scatter() {
    let mut machine = Machine::of(&[ENGINE, FORMAT, NATIVE]);
    machine.scatter = 1e4;
    let waterfall = machine.waterfall().unwrap();
    let native = waterfall.parts[0].value;
    // Eight values a step apart: s = 2.4495 steps, t(7) = 2.3646.
    let reach = 2.3646 * 2.4495e4 / 8_f64.sqrt();
    let ends = native.interval.unwrap();
    assert!((ends.high - native.ns - reach).abs() < 10.0, "{ends:?}");
    assert!((native.ns - ends.low - reach).abs() < 10.0, "{ends:?}");
    // What both share does not scatter, and is not nothing.
    assert!(!waterfall.unexplained.may_be_nothing());
    machine.rounds = 4;
    let waterfall = machine.waterfall().unwrap();
    let few = NoEstimate::TooFewSamples { have: 4, need: 5 };
    assert_eq!(waterfall.whole.interval, Err(few));
    assert!(!waterfall.unexplained.may_be_nothing());
}

#[test]
fn a_row_without_a_time_takes_the_bar_away() {
    let machine = Machine::of(&[ENGINE, FORMAT, NATIVE]);
    let mut campaign = machine.campaign();
    let lost = cell(&FORMAT, "module", "app.wasm").id();
    campaign.push(Record::Failure(Failure {
        cell: Some(lost.clone()),
        round: Some(0),
        kind: FailureKind::Trap,
        message: "unreachable".to_owned(),
    }));
    assert_eq!(of(&campaign), Err(NoWaterfall::NoTime(lost)));
    // What is beside it takes its part away alone.
    let mut campaign = machine.campaign();
    campaign.push(Record::Failure(Failure {
        cell: Some(cell(&ENGINE, SUITE, TOUCHED).id()),
        round: Some(0),
        kind: FailureKind::Trap,
        message: "unreachable".to_owned(),
    }));
    let waterfall = of(&campaign).unwrap();
    assert_eq!(waterfall.apart, [(Part::Faults, Missing::NoPrice)]);
    let mut none = Machine::of(&[ENGINE, FORMAT]);
    none.rounds = 0;
    assert!(none.waterfall().is_err());
    assert_eq!(
        of(&Machine::of(&[]).campaign()),
        Err(NoWaterfall::NoProgram)
    );
}

#[test]
fn a_break_between_rows_leaves_the_rounds_that_are_whole() {
    let machine = Machine::of(&[ENGINE, FORMAT, NATIVE]);
    let mut campaign = machine.campaign();
    let native = cell(&NATIVE, "module", "app.wasm").id();
    campaign
        .processes
        .retain(|one| one.cell != native || one.round != 7);
    assert_eq!(of(&campaign).unwrap().rounds, 7);
}
