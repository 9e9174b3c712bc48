//! The tables of the built-in experiments, from their samples.
//!
//! What the general table has no column for: instances per second of a loop
//! which makes, grows, runs and drops them, with the faults and switches that
//! go with it; and the time of compiling alone.

use std::collections::BTreeSet;

use fathom_record::{
    Campaign, Cell, INSTANCES_PER_CYCLE, Metric, Phase,
    campaign::{Process, Sample},
};
use fathom_stats::order;

use super::startup;

/// Growth under load: a line per program, threads and row.
///
/// Faults and switches are the whole process's, divided by its counted
/// instances and its warm-up; the engine's start is in them. The kernel's
/// share is of the processors it was pinned to.
pub fn growth(campaign: &Campaign) -> String {
    let mut table = Table::new(&[
        "program",
        "threads",
        "engine",
        "instances/s",
        "make",
        "run",
        "drop",
        "faults",
        "switches",
        "in kernel",
    ]);
    for cell in cells(campaign) {
        if let Some(line) = growth_line(campaign, cell) {
            table.row(&line);
        }
    }
    format!(
        "Growth under load: median times; faults and switches per instance, start-up included\n{}",
        table.text()
    )
}

fn growth_line(campaign: &Campaign, cell: &Cell) -> Option<[String; 10]> {
    let id = cell.id();
    let samples: Vec<_> = campaign
        .samples
        .iter()
        .filter(|sample| sample.cell == id)
        .collect();
    let phase = |phase: Phase| {
        median(
            samples
                .iter()
                .filter_map(|sample| Some(sample.phases.get(&phase)?.wall_ns)),
        )
    };
    let whole = |sample: &&Sample| sample.phases.values().map(|span| span.wall_ns).sum();
    let all = median(samples.iter().map(whole)).filter(|&ns| ns > 0.0)?;
    let processes = of_cell(campaign, cell);
    // Sums over all rounds, so that start-up weighs as little as it can.
    let made: f64 = processes
        .iter()
        .map(|process| instances(campaign, cell, process.round))
        .sum();
    let metric = |wanted: &[Metric]| {
        let counts = processes.iter().flat_map(|process| {
            wanted
                .iter()
                .map(|metric| process.metrics.get(metric).copied())
        });
        let count: u64 = counts.sum::<Option<u64>>()?;
        Some(count as f64 / made)
    };
    let shares = processes.iter().filter_map(|process| kernel_share(process));
    let kernel = order::median(&shares.collect::<Vec<f64>>());
    Some([
        cell.workload.clone(),
        cell.threads.to_string(),
        engine(cell),
        format!("{:.0}", f64::from(cell.threads) * 1e9 / all),
        time(phase(Phase::Instantiate)),
        time(phase(Phase::Run)),
        time(phase(Phase::Teardown)),
        count(metric(&[Metric::FaultsMinor])),
        count(metric(&[Metric::CtxVoluntary, Metric::CtxInvoluntary])),
        kernel.map_or("–".into(), |share| format!("{:.0} %", share * 100.0)),
    ])
}

/// The share of its processors' time that the kernel took for itself.
fn kernel_share(process: &Process) -> Option<f64> {
    let spent = process.cpu_pinned?;
    let kernel = spent.system_ms + spent.hardirq_ms + spent.softirq_ms;
    let all = kernel + spent.user_ms + spent.idle_ms;
    (all > 0).then(|| kernel as f64 / all as f64)
}

fn of_cell<'a>(campaign: &'a Campaign, cell: &Cell) -> Vec<&'a Process> {
    let id = cell.id();
    campaign
        .processes
        .iter()
        .filter(|process| process.cell == id)
        .collect()
}

/// Compiling: a line per module and row.
pub fn compile(campaign: &Campaign) -> String {
    let mut table = Table::new(&[
        "module",
        "engine",
        "compile",
        "CPU",
        "code",
        "peak memory",
        "rounds",
    ]);
    for cell in cells(campaign) {
        let processes = of_cell(campaign, cell);
        let spans = || {
            processes
                .iter()
                .filter_map(|process| process.phases.get(&Phase::Compile))
        };
        let metric = |metric: Metric| {
            median(
                processes
                    .iter()
                    .filter_map(|process| process.metrics.get(&metric).copied()),
            )
        };
        table.row(&[
            cell.workload.clone(),
            engine(cell),
            time(median(spans().map(|span| span.wall_ns))),
            time(median(
                processes.iter().filter_map(|process| process.cpu_ns),
            )),
            bytes(metric(Metric::CodeBytes)),
            bytes(metric(Metric::RssPeakBytes)),
            processes.len().to_string(),
        ]);
    }
    format!(
        "Compiling: medians; CPU and memory are the whole process's, a short run included\n{}",
        table.text()
    )
}

/// Start-up: a line per module, threads and row.
///
/// The first instruction is behind loading, compiling (or finding in the cache) and
/// instantiating; the start of the process is not in it. `x 2` is how many times as
/// many instances a second two threads make as one.
pub fn startup(campaign: &Campaign) -> String {
    let mut table = Table::new(&[
        "program",
        "threads",
        "engine",
        "to first instruction",
        "compile",
        "MB/s",
        "an instance",
        "instances/s",
        "x 1 thread",
    ]);
    for cell in cells(campaign) {
        let once = |phase: Phase| {
            let processes = of_cell(campaign, cell).into_iter();
            median(processes.filter_map(|process| Some(process.phases.get(&phase)?.wall_ns)))
        };
        let (load, compile) = (once(Phase::Load), once(Phase::Compile));
        let made = of_samples(campaign, cell, Phase::Instantiate);
        let first = load.zip(compile).zip(made);
        let first = first.map(|((load, compile), made)| load + compile + made);
        let module = cell.workload.trim_end_matches("-cached");
        let remarks = &campaign.header.config.other;
        let bytes = remarks.get(&format!("{}{module}.wasm", startup::BYTES));
        let bytes: Option<f64> = bytes.and_then(|bytes| bytes.parse().ok());
        let speed = bytes.zip(compile).map(|(bytes, ns)| bytes * 1e3 / ns);
        let rate = rate(campaign, cell);
        let alone = Cell {
            threads: 1,
            ..cell.clone()
        };
        let gain = rate
            .zip(self::rate(campaign, &alone))
            .filter(|_| cell.threads > 1)
            .map(|(rate, alone)| rate / alone);
        table.row(&[
            cell.workload.clone(),
            cell.threads.to_string(),
            engine(cell),
            time(first),
            time(compile),
            count(speed),
            time(rate.map(|rate| f64::from(cell.threads) * 1e9 / rate)),
            rate.map_or("–".into(), |rate| format!("{rate:.0}")),
            gain.map_or("–".into(), |gain| format!("{gain:.2}")),
        ]);
    }
    format!("Start-up: medians\n{}", table.text())
}

/// Instances that all threads of a cell make, run and drop in a second.
fn rate(campaign: &Campaign, cell: &Cell) -> Option<f64> {
    let ns = of_samples(campaign, cell, Phase::Cycle)?;
    let instances = f64::from(cell.threads) * f64::from(INSTANCES_PER_CYCLE);
    (ns > 0.0).then(|| instances * 1e9 / ns)
}

/// The median of a phase over all samples of a cell.
fn of_samples(campaign: &Campaign, cell: &Cell, phase: Phase) -> Option<f64> {
    let id = cell.id();
    let samples = campaign.samples.iter().filter(|sample| sample.cell == id);
    median(samples.filter_map(|sample| Some(sample.phases.get(&phase)?.wall_ns)))
}

/// The cells which were measured, controls left out, in the plan's order.
fn cells(campaign: &Campaign) -> impl Iterator<Item = &Cell> {
    let measured: BTreeSet<_> = campaign
        .processes
        .iter()
        .map(|process| &process.cell)
        .collect();
    campaign
        .header
        .cells
        .iter()
        .filter(move |cell| !cell.is_control() && measured.contains(&cell.id()))
}

/// Instances the process of a round made, warm-up included.
fn instances(campaign: &Campaign, cell: &Cell, round: u32) -> f64 {
    let id = cell.id();
    let counted = campaign
        .samples
        .iter()
        .filter(|sample| sample.round == round && sample.cell == id)
        .count();
    let warmup = campaign.header.config.warmup * cell.threads;
    (counted.max(1) as f64) + f64::from(warmup)
}

fn engine(cell: &Cell) -> String {
    let sandbox = &cell.sandbox;
    if !cell.variant.is_wasm() {
        return cell.variant.to_string();
    }
    let opt = match sandbox.opt {
        fathom_record::Opt::Speed => String::new(),
        fathom_record::Opt::None => " --opt none".to_owned(),
    };
    let backend = sandbox
        .backend
        .as_ref()
        .map(|name| format!(" {name}"))
        .unwrap_or_default();
    format!("{} {}{backend}{opt}", sandbox.engine, sandbox.strategy)
}

fn median(values: impl Iterator<Item = u64>) -> Option<f64> {
    order::median(&values.map(|value| value as f64).collect::<Vec<f64>>())
}

fn time(ns: Option<f64>) -> String {
    ns.map_or("–".into(), fathom_report::figures::time)
}

fn bytes(value: Option<f64>) -> String {
    value.map_or("–".into(), fathom_report::figures::bytes)
}

fn count(value: Option<f64>) -> String {
    match value {
        None => "–".into(),
        Some(value) if value < 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

/// Columns as wide as their widest entry; the first left, figures right.
struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(heads: &[&str]) -> Self {
        Self {
            rows: vec![heads.iter().map(|&head| head.to_owned()).collect()],
        }
    }

    fn row(&mut self, entries: &[String]) {
        self.rows.push(entries.to_vec());
    }

    fn text(&self) -> String {
        let width = |column: usize| {
            let entries = self.rows.iter().map(|row| row[column].chars().count());
            entries.max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..self.rows[0].len()).map(width).collect();
        let is_text = |column: usize| {
            let head = self.rows[0][column].as_str();
            ["program", "module", "engine"].contains(&head)
        };
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (entry, width)) in row.iter().zip(&widths).enumerate() {
                let gap = " ".repeat(width - entry.chars().count());
                line.push_str("  ");
                if is_text(column) {
                    line.push_str(entry);
                    line.push_str(&gap);
                } else {
                    line.push_str(&gap);
                    line.push_str(entry);
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["program", "faults"]);
        table.row(&["é".to_owned(), "12".to_owned()]);
        table.row(&["longer name".to_owned(), "–".to_owned()]);
        assert_eq!(
            table.text(),
            "  program      faults\n  é                12\n  longer name       –\n"
        );
    }
}
