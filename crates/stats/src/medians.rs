//! Plain medians of one cell, for tables that show what happened and compare nothing.
//!
//! ```text
//!  counted iterations of whole rounds ── phase, whole, cycle   a value each
//!  processes of whole rounds          ── once, metric, cpu     a value each
//! ```
//!
//! What must stay true: nothing here has an interval, so no difference is read from
//! it: what is compared goes through [`crate::Summary`], by rounds. A cell without a
//! time has no medians, and what a break left of a round is in none.

use std::collections::BTreeMap;

use fathom_record::campaign::{Process, Sample};
use fathom_record::{Campaign, Cell, INSTANCES_PER_CYCLE, Metric, Phase};

use crate::order;
use crate::summary::Summary;
use crate::times::kernel_share;

/// What was measured of a cell.
#[derive(Clone, Debug)]
pub struct Medians<'a> {
    /// The cell.
    pub cell: &'a Cell,
    samples: Vec<&'a Sample>,
    processes: Vec<&'a Process>,
    /// Uncounted iterations of each worker and process.
    warmup: u32,
}

impl<'a> Medians<'a> {
    /// Every cell that has a time, controls left out, in the campaign's order.
    pub fn all(campaign: &'a Campaign, summary: &Summary) -> Vec<Medians<'a>> {
        let mut samples: BTreeMap<_, BTreeMap<_, &Sample>> = BTreeMap::new();
        for sample in &campaign.samples {
            // The later of two samples with the same key counts.
            let key = (sample.round, sample.thread, sample.index);
            samples.entry(&sample.cell).or_default().insert(key, sample);
        }
        let mut processes: BTreeMap<_, BTreeMap<u32, &Process>> = BTreeMap::new();
        for process in &campaign.processes {
            let rounds = processes.entry(&process.cell).or_default();
            rounds.insert(process.round, process);
        }
        let of = |cell: &'a Cell| {
            let id = cell.id();
            let has_time = summary.cell(&id).is_some_and(|one| one.times.is_ok());
            let processes = processes.get(&id).filter(|_| has_time)?;
            let samples = samples.get(&id).into_iter().flat_map(BTreeMap::values);
            Some(Medians {
                cell,
                samples: samples
                    .filter(|sample| processes.contains_key(&sample.round))
                    .copied()
                    .collect(),
                processes: processes.values().copied().collect(),
                warmup: campaign.header.config.warmup,
            })
        };
        let cells = campaign.header.cells.iter();
        let cells = cells.filter(|cell| !cell.is_control());
        cells.filter_map(of).collect()
    }

    /// Whole rounds.
    pub fn rounds(&self) -> usize {
        self.processes.len()
    }

    /// Nanoseconds of the program's kernel, by round: of each the median.
    pub fn kernel_by_round(&self) -> BTreeMap<u32, f64> {
        let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for sample in &self.samples {
            let kernel_ns = sample.kernel_ns.map(|ns| ns as f64);
            rounds.entry(sample.round).or_default().extend(kernel_ns);
        }
        let rounds = rounds.into_iter();
        let median = |(round, values): (u32, Vec<f64>)| Some((round, order::median(&values)?));
        rounds.filter_map(median).collect()
    }

    /// Wall time of a phase of an iteration, in nanoseconds.
    pub fn phase(&self, phase: Phase) -> Option<f64> {
        let spans = self.samples.iter();
        median(spans.filter_map(|sample| Some(sample.phases.get(&phase)?.wall_ns)))
    }

    /// Wall time of a phase of the first iteration of a process, in nanoseconds; nothing
    /// where that one was not counted.
    pub fn first(&self, phase: Phase) -> Option<f64> {
        let is_first = |sample: &&&Sample| self.is_first(sample);
        let spans = self.samples.iter().filter(is_first);
        median(spans.filter_map(|sample| Some(sample.phases.get(&phase)?.wall_ns)))
    }

    /// Wall time of a phase of all iterations but the first of a worker, in nanoseconds.
    pub fn warm(&self, phase: Phase) -> Option<f64> {
        let is_warm = |sample: &&&Sample| self.warmup > 0 || sample.index > 0;
        let spans = self.samples.iter().filter(is_warm);
        median(spans.filter_map(|sample| Some(sample.phases.get(&phase)?.wall_ns)))
    }

    /// Whether nothing ran in its process before it.
    fn is_first(&self, sample: &Sample) -> bool {
        (self.warmup, sample.thread, sample.index) == (0, 0, 0)
    }

    /// Wall time of all phases of an iteration together, in nanoseconds.
    pub fn whole(&self) -> Option<f64> {
        let whole = |sample: &&Sample| sample.phases.values().map(|span| span.wall_ns).sum();
        median(self.samples.iter().map(whole)).filter(|ns| *ns > 0.0)
    }

    /// Wall time of a phase of a process, in nanoseconds.
    pub fn once(&self, phase: Phase) -> Option<f64> {
        let spans = self.processes.iter();
        median(spans.filter_map(|process| Some(process.phases.get(&phase)?.wall_ns)))
    }

    /// A total of a process.
    pub fn metric(&self, metric: Metric) -> Option<f64> {
        let totals = self.processes.iter();
        median(totals.filter_map(|process| process.metrics.get(&metric).copied()))
    }

    /// CPU time of a process, in nanoseconds.
    pub fn cpu(&self) -> Option<f64> {
        median(self.processes.iter().filter_map(|process| process.cpu_ns))
    }

    /// The part of its processors' time that the kernel took for itself.
    pub fn kernel_share(&self) -> Option<f64> {
        let spent = self.processes.iter().filter_map(|one| one.cpu_pinned);
        order::median(&spent.filter_map(kernel_share).collect::<Vec<f64>>())
    }

    /// Totals of processes by instance, uncounted ones too. Sums over all rounds, so
    /// that start-up, which is in them, weighs as little as it can.
    pub fn per_instance(&self, metrics: &[Metric]) -> Option<f64> {
        let total = |process: &&Process| {
            let counts = metrics.iter().map(|metric| process.metrics.get(metric));
            counts.map(|count| count.copied()).sum::<Option<u64>>()
        };
        let count: u64 = self.processes.iter().map(total).sum::<Option<u64>>()?;
        let made: f64 = self.processes.iter().map(|one| self.made(one.round)).sum();
        Some(count as f64 / made)
    }

    /// Iterations of all workers in a second, from the median of their whole time.
    pub fn per_second(&self) -> Option<f64> {
        Some(f64::from(self.cell.threads) * 1e9 / self.whole()?)
    }

    /// Instances of all workers in a second where they were made in cycles.
    pub fn cycled_per_second(&self) -> Option<f64> {
        let ns = self.phase(Phase::Cycle).filter(|ns| *ns > 0.0)?;
        let instances = f64::from(self.cell.threads) * f64::from(INSTANCES_PER_CYCLE);
        Some(instances * 1e9 / ns)
    }

    /// Instances that the process of a round made.
    fn made(&self, round: u32) -> f64 {
        let counted = self.samples.iter().filter(|sample| sample.round == round);
        counted.count().max(1) as f64 + f64::from(self.warmup * self.cell.threads)
    }
}

fn median(values: impl Iterator<Item = u64>) -> Option<f64> {
    order::median(&values.map(|value| value as f64).collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests;
