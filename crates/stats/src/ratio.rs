//! Ratios of times, one by one and as geometric means.
//!
//! All are estimated as differences of logarithms, so that 2 and 1/2 are
//! equally far from 1 and a ratio of swapped cells is the reciprocal.

use crate::NoEstimate;
use crate::bootstrap::{self, Group, Interval};

/// A ratio and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The estimate; above 1 the first is slower (larger) than the second.
    pub value: f64,
    /// Its 95 % interval, or why it has none.
    pub interval: Result<Interval, NoEstimate>,
    /// Rounds it rests on; the smallest number among the workloads of a mean.
    pub rounds: usize,
    /// Workloads it is a mean over; 1 for a single one.
    pub workloads: usize,
}

impl Ratio {
    /// Half the interval's width relative to the estimate: the "± noise" of a
    /// table, 0.01 meaning 1 %.
    pub fn half_width(&self) -> Option<f64> {
        let interval = self.interval.ok()?;
        Some((interval.high / interval.low).sqrt() - 1.0)
    }

    fn from_groups(groups: &[(f64, Group)], workloads: usize) -> Result<Ratio, NoEstimate> {
        let rounds = groups
            .iter()
            .map(|(_, group)| group.rounds)
            .min()
            .unwrap_or(0);
        let value = bootstrap::sum(groups).exp();
        if rounds == 0 {
            return Err(NoEstimate::TooFewSamples { have: 0, need: 1 });
        }
        let interval = bootstrap::interval(groups).map(|interval| interval.map(f64::exp));
        Ok(Ratio {
            value,
            interval,
            rounds,
            workloads,
        })
    }
}

/// The logarithms of one workload's ratio in each round: what ratios are
/// estimated from.
#[derive(Clone, Copy, Debug)]
pub struct Logs {
    group: Group,
}

impl Logs {
    /// From values that belong to the same round: `(a, b)` gives `ln(a / b)`.
    /// `name` decides the stream of random draws: one name, one stream.
    ///
    /// # Errors
    /// No rounds, or a value that is not positive and finite.
    pub fn paired(pairs: &[(f64, f64)], name: &str) -> Result<Logs, NoEstimate> {
        let logs: Vec<f64> = pairs
            .iter()
            .map(|(a, b)| positive_ln(*a) - positive_ln(*b))
            .collect();
        Group::draw(&logs, stream(name)).map(|group| Logs { group })
    }

    /// From values of one cell alone.
    ///
    /// # Errors
    /// As [`Logs::paired`].
    pub fn single(values: &[f64], name: &str) -> Result<Logs, NoEstimate> {
        let logs: Vec<f64> = values.iter().copied().map(positive_ln).collect();
        Group::draw(&logs, stream(name)).map(|group| Logs { group })
    }

    /// The estimated ratio of this workload.
    pub fn ratio(&self) -> Ratio {
        Ratio {
            value: self.group.estimate.exp(),
            interval: bootstrap::interval(&[(1.0, self.group)])
                .map(|interval| interval.map(f64::exp)),
            rounds: self.group.rounds,
            workloads: 1,
        }
    }
}

/// The ratio `a / b` of two cells, paired by round.
///
/// # Errors
/// No rounds, or a value that is not positive and finite.
pub fn paired(pairs: &[(f64, f64)]) -> Result<Ratio, NoEstimate> {
    Logs::paired(pairs, "").map(|logs| logs.ratio())
}

/// The geometric mean over workloads of ratios that are paired by round. The
/// names given to [`Logs::paired`] must differ.
///
/// # Errors
/// No workloads.
pub fn geomean(workloads: &[&Logs]) -> Result<Ratio, NoEstimate> {
    let weight = 1.0 / workloads.len() as f64;
    let groups: Vec<(f64, Group)> = workloads.iter().map(|logs| (weight, logs.group)).collect();
    Ratio::from_groups(&groups, workloads.len())
}

/// The geometric mean over workloads of `after / before`, where the two were
/// measured apart and no round of one belongs to a round of the other. A
/// single pair gives the ratio of one cell.
///
/// # Errors
/// No workloads.
pub fn unpaired(workloads: &[(&Logs, &Logs)]) -> Result<Ratio, NoEstimate> {
    let weight = 1.0 / workloads.len() as f64;
    let groups: Vec<(f64, Group)> = workloads
        .iter()
        .flat_map(|(after, before)| [(weight, after.group), (-weight, before.group)])
        .collect();
    Ratio::from_groups(&groups, workloads.len())
}

/// NaN for what has no logarithm; [`Group::draw`] refuses it.
fn positive_ln(value: f64) -> f64 {
    if value > 0.0 { value.ln() } else { f64::NAN }
}

/// FNV-1a of a name.
fn stream(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
