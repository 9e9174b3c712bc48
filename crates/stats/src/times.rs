//! A cell's rounds, one value per figure each.
//!
//! ```text
//!  samples of (round, thread)  ── median ──▶  the thread's value
//!  threads of a round          ── median ──▶  the round's value
//!  rounds of a cell            ── median ──▶  the cell's estimate
//! ```
//!
//! Samples of one child share its code layout, its memory and its moment, so
//! they say little more than one of them would; only rounds are independent.
//! Of several threads the middle one counts: a user waits for a request, and a
//! request is one of them.

use std::collections::BTreeMap;

use fathom_record::campaign::{CpuTime, Process, Sample, Window};
use fathom_record::{Campaign, CellId, INSTANCES_PER_CYCLE, Phase};

use crate::NoEstimate;
use crate::exact::{REACH, ROUNDS_MIN_COUNT, is_exact};
use crate::figure::Figure;
use crate::interval::{Interval, ROUNDS_MIN};
use crate::order::{mad, median, median_ends, quantile, sorted};

/// What a cell came to in one round.
pub type Round = BTreeMap<Figure, f64>;

/// Everything measured of one cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// The whole rounds of the cell by their number.
    pub rounds: BTreeMap<u32, Round>,
    /// Every counted sample of the compared figure, for pictures.
    pub samples: Vec<Point>,
}

/// One sample of the compared figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The round that the sample is of.
    pub round: u32,
    /// The worker that took the sample.
    pub thread: u32,
    /// Its value in nanoseconds; as it is, where it is a count.
    pub ns: f64,
}

/// A figure of one cell over its rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The median of the rounds, in the figure's unit.
    pub median: f64,
    /// The smallest round.
    pub min: f64,
    /// The largest round.
    pub max: f64,
    /// Median absolute deviation of the rounds, scaled as a standard deviation.
    pub mad: f64,
    /// Round values in order of size.
    pub values: Vec<f64>,
    /// What the logarithm of each may be off by where they are counts.
    exact: Option<f64>,
}

impl Estimate {
    /// From round values; `None` if there are none or one is not a number.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let values = sorted(values)?;
        Some(Estimate {
            median: median(&values)?,
            min: *values.first()?,
            max: *values.last()?,
            mad: mad(&values)?,
            values,
            exact: None,
        })
    }

    /// Rounds it rests on.
    pub fn rounds(&self) -> usize {
        self.values.len()
    }

    /// The quantile of the rounds for `p` in 0..=1.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        quantile(&self.values, p)
    }

    /// The 95 % interval of the median, its rounds taken as independent and their distribution
    /// as any ([`median_ends`]): noise here is on one side, so that an interval of their mean
    /// may lie beside it. It is for reading one cell alone: cells are compared by their ratio,
    /// which knows what their rounds have in common. That of a count is what its rounds span, and
    /// what each of them may be off by.
    ///
    /// # Errors
    /// Too few rounds, or a value that is not positive.
    pub fn interval(&self) -> Result<Interval, NoEstimate> {
        if let Some(off) = self.exact.filter(|_| self.rounds() >= ROUNDS_MIN_COUNT) {
            let (low, high) = (self.min * (-off).exp(), self.max * off.exp());
            return Ok(Interval { low, high });
        }
        let (have, need) = (self.rounds(), ROUNDS_MIN);
        let few = NoEstimate::TooFewSamples { have, need };
        let (low, high) = median_ends(have).ok_or(few)?;
        let (low, high) = (self.values[low], self.values[high]);
        (self.min > 0.0)
            .then_some(Interval { low, high })
            .ok_or(NoEstimate::NotPositive)
    }
}

impl Times {
    /// A figure over the rounds that have it.
    pub fn estimate(&self, figure: Figure) -> Option<Estimate> {
        let values: Vec<f64> = self
            .rounds
            .values()
            .filter_map(|round| round.get(&figure).copied())
            .collect();
        let exact = is_exact(figure).then_some(REACH);
        Estimate::of(&values).map(|estimate| Estimate { exact, ..estimate })
    }

    /// Pairs of a figure in the rounds that both cells have.
    pub fn pairs(&self, other: &Times, figure: Figure) -> Vec<(f64, f64)> {
        self.rounds
            .iter()
            .filter_map(|(round, values)| {
                let theirs = other.rounds.get(round)?;
                Some((*values.get(&figure)?, *theirs.get(&figure)?))
            })
            .collect()
    }
}

/// One round's samples by (thread, index).
type Samples<'a> = BTreeMap<(u32, u32), &'a Sample>;

/// The whole rounds of every cell that has any.
pub(crate) fn gather(campaign: &Campaign, compared: Figure) -> BTreeMap<CellId, Times> {
    // By key, so that the later of two samples with the same key counts.
    let mut samples: BTreeMap<(&CellId, u32), Samples<'_>> = BTreeMap::new();
    for sample in &campaign.samples {
        samples
            .entry((&sample.cell, sample.round))
            .or_default()
            .insert((sample.thread, sample.index), sample);
    }
    let processes: BTreeMap<(&CellId, u32), &Process> = campaign
        .processes
        .iter()
        .map(|process| ((&process.cell, process.round), process))
        .collect();
    let mut cells: BTreeMap<CellId, Times> = BTreeMap::new();
    for ((cell, number), process) in processes {
        let Some(samples) = samples.get(&(cell, number)) else {
            continue;
        };
        let times = cells.entry(cell.clone()).or_default();
        let round = round(samples, process);
        if let Some(value) = round.get(&compared) {
            let counted = is_exact(compared).then_some(Point {
                round: number,
                thread: 0,
                ns: *value,
            });
            times.samples.extend(counted);
            times.samples.extend(points(samples, number, compared));
        }
        times.rounds.insert(number, round);
    }
    cells
}

fn points(samples: &Samples<'_>, round: u32, compared: Figure) -> Vec<Point> {
    samples
        .values()
        .filter_map(|sample| {
            Some(Point {
                round,
                thread: sample.thread,
                ns: sample_value(sample, compared)?,
            })
        })
        .collect()
}

fn round(samples: &Samples<'_>, process: &Process) -> Round {
    let mut round = Round::new();
    for figure in [
        Figure::Kernel,
        Figure::Run,
        Figure::RunCpu,
        Figure::Instantiate,
        Figure::Teardown,
        Figure::Instance,
    ] {
        if let Some(value) = over_threads(samples, figure) {
            round.insert(figure, value);
        }
    }
    let once = |phase: Phase| process.phases.get(&phase).map(|span| span.wall_ns as f64);
    let (load, compile) = (once(Phase::Load), once(Phase::Compile));
    let instantiate = round.get(&Figure::Instantiate).copied();
    let start = (load.is_some() || compile.is_some())
        .then(|| instantiate.map(|ns| ns + load.unwrap_or(0.0) + compile.unwrap_or(0.0)))
        .flatten();
    let metrics = process
        .metrics
        .iter()
        .filter_map(|(metric, value)| Some((Figure::of_metric(*metric)?, Some(*value as f64))));
    let rest = [
        (Figure::Load, load),
        (Figure::Compile, compile),
        (Figure::Start, start),
        (Figure::Child, process.wall_ns.map(|ns| ns as f64)),
        (Figure::CtxRate, switches_per_cpu_second(process)),
    ];
    round.extend(
        metrics
            .chain(rest)
            .chain(watched(process))
            .filter_map(|(figure, value)| Some((figure, value?))),
    );
    round
}

/// What was seen from outside while counted iterations ran, where they could be watched.
fn watched(process: &Process) -> [(Figure, Option<f64>); 9] {
    let window = process.window.as_deref();
    let host = window.and_then(|window| window.cpu_host);
    let pinned = window.and_then(|window| window.cpu_pinned);
    // Never of the child's whole life: that is starting and compiling as well.
    let use_of = |time: Option<CpuTime>| time.and_then(|time| time.utilisation());
    let per_run = |count: Option<u64>| {
        let window = window.filter(|window| window.iterations > 0)?;
        Some(count? as f64 / window.iterations as f64)
    };
    let mean = |of: fn(&Window) -> Option<u64>| window.and_then(of).map(|bytes| bytes as f64);
    [
        (Figure::CpuUseHost, use_of(host)),
        (Figure::CpuUsePinned, use_of(pinned)),
        (Figure::KernelShare, pinned.and_then(kernel_share)),
        (
            Figure::CpuUseProcess,
            window.and_then(|window| {
                let all_ms = window.cpu_pinned.map(all_ms).filter(|ms| *ms > 0)?;
                Some(window.cpu_ns? as f64 / 1e6 / all_ms as f64)
            }),
        ),
        (
            Figure::Throughput,
            window
                .filter(|window| window.wall_ns > 0)
                .map(|window| window.iterations as f64 / (window.wall_ns as f64 / 1e9)),
        ),
        (
            Figure::FaultsPerRun,
            per_run(window.and_then(|window| window.faults)),
        ),
        (Figure::RssMean, mean(|window| window.rss_mean_bytes)),
        (
            Figure::VirtualMean,
            mean(|window| window.virtual_mean_bytes),
        ),
        (
            Figure::HostMemory,
            mean(|window| window.host_used_mean_bytes),
        ),
    ]
}

/// The part of the time of some CPUs that the kernel took for itself.
pub(crate) fn kernel_share(spent: CpuTime) -> Option<f64> {
    let kernel = spent.system_ms + spent.hardirq_ms + spent.softirq_ms;
    let all = all_ms(spent);
    (all > 0).then(|| kernel as f64 / all as f64)
}

/// All that the utilisation formula speaks of.
fn all_ms(spent: CpuTime) -> u64 {
    let kernel = spent.system_ms + spent.hardirq_ms + spent.softirq_ms;
    kernel + spent.user_ms + spent.idle_ms
}

/// The paper's figure 5: context switches per second of CPU time.
fn switches_per_cpu_second(process: &Process) -> Option<f64> {
    use fathom_record::Metric::{CtxInvoluntary, CtxVoluntary};
    let switches =
        *process.metrics.get(&CtxVoluntary)? as f64 + *process.metrics.get(&CtxInvoluntary)? as f64;
    let cpu_ns = process.cpu_ns? as f64;
    (cpu_ns > 0.0).then(|| switches / (cpu_ns / 1e9))
}

/// The median over threads of each thread's median; `None` if a single sample
/// lacks the figure, since the rest would be a choice.
fn over_threads(samples: &Samples<'_>, figure: Figure) -> Option<f64> {
    let mut threads: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for sample in samples.values() {
        threads
            .entry(sample.thread)
            .or_default()
            .push(sample_value(sample, figure)?);
    }
    let threads: Option<Vec<f64>> = threads.values().map(|values| median(values)).collect();
    median(&threads?)
}

fn sample_value(sample: &Sample, figure: Figure) -> Option<f64> {
    let wall = |phase: Phase| sample.phases.get(&phase).map(|span| span.wall_ns as f64);
    match figure {
        Figure::Kernel => sample.kernel_ns.map(|ns| ns as f64),
        Figure::Run => wall(Phase::Run),
        Figure::RunCpu => sample.phases.get(&Phase::Run)?.cpu_ns.map(|ns| ns as f64),
        Figure::Instantiate => wall(Phase::Instantiate),
        Figure::Teardown => wall(Phase::Teardown),
        Figure::Instance => Some(wall(Phase::Cycle)? / f64::from(INSTANCES_PER_CYCLE)),
        _ => None,
    }
}
