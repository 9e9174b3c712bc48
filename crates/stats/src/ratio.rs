//! Ratios of times, one by one and as geometric means.
//!
//! All are estimated as differences of logarithms, so that 2 and 1/2 are
//! equally far from 1 and a ratio of swapped cells is the reciprocal.

use crate::NoEstimate;
use crate::interval::{Error, Group, Interval, Sum};
use crate::serial::Serial;

/// A ratio and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The estimate; above 1 the first is slower (larger) than the second.
    pub value: f64,
    /// Its 95 % interval, or why it has none. It stands alone: of twenty such,
    /// one does not hold its truth.
    pub interval: Result<Interval, NoEstimate>,
    /// The standard error of its logarithm.
    pub error: Result<Error, NoEstimate>,
    /// Rounds it rests on; the smallest number among the workloads of a mean.
    pub rounds: usize,
    /// Workloads it is a mean over; 1 for a single one.
    pub workloads: usize,
}

impl Ratio {
    fn of_groups(groups: &[(f64, Group)], workloads: usize) -> Result<Ratio, NoEstimate> {
        Ratio::of_sum(Sum::of(groups), groups, workloads)
    }

    /// From a sum of these groups.
    pub(crate) fn of_sum(
        sum: Sum,
        groups: &[(f64, Group)],
        workloads: usize,
    ) -> Result<Ratio, NoEstimate> {
        let rounds = groups.iter().map(|(_, group)| group.rounds).min();
        let rounds = rounds.ok_or(NoEstimate::TooFewSamples { have: 0, need: 1 })?;
        Ok(Ratio {
            value: sum.estimate.exp(),
            interval: sum.interval().map(|interval| interval.map(f64::exp)),
            error: sum.error,
            rounds,
            workloads,
        })
    }
}

/// The logarithms of one workload's ratio in each round, in the order of the
/// rounds: what ratios are estimated from.
#[derive(Clone, Debug)]
pub struct Logs {
    values: Vec<f64>,
    systematic: f64,
}

impl Logs {
    /// From values that belong to the same round: `(a, b)` gives `ln(a / b)`.
    ///
    /// # Errors
    /// No rounds, or a value that is not positive and finite.
    pub fn paired(pairs: &[(f64, f64)]) -> Result<Logs, NoEstimate> {
        let logs = pairs.iter();
        Logs::of(logs.map(|(a, b)| positive_ln(*a) - positive_ln(*b)))
    }

    /// From values of one cell alone.
    ///
    /// # Errors
    /// As [`Logs::paired`].
    pub fn single(values: &[f64]) -> Result<Logs, NoEstimate> {
        Logs::of(values.iter().copied().map(positive_ln))
    }

    /// From logarithms.
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Result<Logs, NoEstimate> {
        let values: Vec<f64> = values.collect();
        if values.is_empty() {
            return Err(NoEstimate::TooFewSamples { have: 0, need: 1 });
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(NoEstimate::NotPositive);
        }
        Ok(Logs {
            values,
            systematic: 0.0,
        })
    }

    /// With a variance of the logarithm that rounds do not show.
    pub fn with_systematic(self, variance: f64) -> Logs {
        Logs {
            systematic: variance,
            ..self
        }
    }

    /// Round by round.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn group(&self, serial: Serial) -> Group {
        Group::of(&self.values, self.systematic, serial)
    }
}

/// The ratio of each workload of one pair of rows, whose variances are made
/// sharper by each other.
pub(crate) fn each(workloads: &[Logs], serial: Serial) -> Vec<Result<Ratio, NoEstimate>> {
    let groups: Vec<Group> = workloads.iter().map(|logs| logs.group(serial)).collect();
    let moderated = Group::moderated(&groups);
    let ratios = moderated.iter();
    ratios
        .map(|group| Ratio::of_groups(&[(1.0, *group)], 1))
        .collect()
}

/// The geometric mean over workloads of ratios that are paired by round. Each
/// workload counts by its own variance: their sum is known well enough.
///
/// # Errors
/// No workloads.
pub(crate) fn mean(workloads: &[Logs], serial: Serial) -> Result<Ratio, NoEstimate> {
    let weight = 1.0 / workloads.len() as f64;
    let groups = workloads.iter();
    let groups: Vec<(f64, Group)> = groups.map(|logs| (weight, logs.group(serial))).collect();
    Ratio::of_groups(&groups, workloads.len())
}

/// The ratio of one group of values to another that was measured apart, so that
/// no round of one belongs to a round of the other; a mean over `workloads`.
pub(crate) fn apart(after: Group, before: Group, workloads: usize) -> Result<Ratio, NoEstimate> {
    Ratio::of_groups(&[(1.0, after), (-1.0, before)], workloads)
}

/// The ratio `a / b` of two cells, paired by round, of which nothing else is
/// known: rounds are taken as independent.
///
/// # Errors
/// No rounds, or a value that is not positive and finite.
pub fn paired(pairs: &[(f64, f64)]) -> Result<Ratio, NoEstimate> {
    geomean(&[Logs::paired(pairs)?])
}

/// The geometric mean over workloads, taking rounds as independent.
///
/// # Errors
/// No workloads.
pub fn geomean(workloads: &[Logs]) -> Result<Ratio, NoEstimate> {
    mean(workloads, Serial::NONE)
}

/// As [`paired`] of values that were measured apart.
///
/// # Errors
/// No rounds, or a value that is not positive and finite.
pub fn unpaired(after: &Logs, before: &Logs) -> Result<Ratio, NoEstimate> {
    apart(after.group(Serial::NONE), before.group(Serial::NONE), 1)
}

/// NaN for what has no logarithm; [`Logs`] refuses it.
pub(crate) fn positive_ln(value: f64) -> f64 {
    if value > 0.0 { value.ln() } else { f64::NAN }
}
