//! Ratios of times, one by one and as geometric means.
//!
//! All are estimated as differences of logarithms, so that 2 and 1/2 are
//! equally far from 1 and a ratio of swapped cells is the reciprocal.

use fathom_record::Estimator;

use crate::NoEstimate;
use crate::estimator::Series;
use crate::exact::{self, rounds_min};
use crate::figure::Figure;
use crate::interval::{Error, Group, Interaction, Interval, ROUNDS_MIN, Sum};
use crate::order::{mad, median};
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
    /// With an error that is so many times as large.
    pub(crate) fn widened(self, times: f64) -> Ratio {
        let error = self.error.map(|error| Error {
            log: times * error.log,
            ..error
        });
        let (estimate, error) = (self.value.ln(), error);
        let sum = Sum { estimate, error };
        Ratio {
            interval: sum.interval().map(|interval| interval.map(f64::exp)),
            error,
            ..self
        }
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
    /// Rounds that count, of the side that has fewer.
    counted: usize,
    /// Rounds below which they have no error.
    least: usize,
    systematic: f64,
    /// How deep below the middle either side's estimate is where rounds scatter evenly.
    depths: [f64; 2],
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

    /// As [`Logs::paired`], each side by what an estimator makes of its own rounds.
    ///
    /// # Errors
    /// As [`Logs::paired`].
    pub fn between(pairs: &[(f64, f64)], by: Estimator) -> Result<Logs, NoEstimate> {
        let side = |of: fn(&(f64, f64)) -> f64| {
            let values = pairs.iter().map(|pair| positive_ln(of(pair)));
            Logs::of(values).map(|logs| Series::of(&logs.values, by))
        };
        let (own, other) = (side(|pair| pair.0)?, side(|pair| pair.1)?);
        let differences = own.values.iter().zip(&other.values);
        let logs = Logs::of(differences.map(|(one, other)| one - other))?;
        Ok(Logs {
            counted: own.counted.min(other.counted),
            depths: [own.depth, other.depth],
            ..logs
        })
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
            counted: values.len(),
            least: ROUNDS_MIN,
            values,
            systematic: 0.0,
            depths: [0.0; 2],
        })
    }

    /// With a variance of the logarithm that rounds do not show.
    pub fn with_systematic(self, variance: f64) -> Logs {
        Logs {
            systematic: variance,
            ..self
        }
    }

    /// Of a figure: of what is counted, few rounds are enough, and there is a variance that they
    /// do not show, once for each side.
    pub(crate) fn of_figure(self, figure: Figure, sides: u32) -> Logs {
        Logs {
            least: rounds_min(figure),
            systematic: self.systematic + f64::from(sides) * exact::variance(figure),
            ..self
        }
    }

    /// Whether they are enough to have an error.
    pub(crate) fn are_enough(&self) -> bool {
        self.values.len() >= self.least
    }

    /// With nothing but what rounds show.
    pub(crate) fn by_rounds(self) -> Logs {
        Logs {
            systematic: 0.0,
            depths: [0.0; 2],
            ..self
        }
    }

    /// Round by round.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn group(&self, serial: Serial) -> Group {
        Group::of(&self.values, self.counted, self.systematic, serial).with_least(self.least)
    }
}

/// What one pair of rows may be off by, since one of them scatters more than the other: the
/// variance of the logarithm of each of its ratios, and of their mean, as they have it in
/// common. It is what their typical depths differ by, less what that is known by, so that rows
/// that scatter alike have none; medians, so that a few wild rounds do not count.
pub(crate) fn unequal<'a>(workloads: impl Iterator<Item = &'a Logs>) -> f64 {
    let differences = workloads.map(|logs| logs.depths[0] - logs.depths[1]);
    unequal_depths(&differences.collect::<Vec<f64>>())
}

/// The same of what the depths of each workload differ by.
pub(crate) fn unequal_depths(differences: &[f64]) -> f64 {
    /// The variance of a median in that of a mean of as many normal values.
    const OF_MEDIAN: f64 = std::f64::consts::FRAC_PI_2;
    let known = median(differences).zip(mad(differences));
    known.map_or(0.0, |(typical, spread)| {
        let error = OF_MEDIAN * spread * spread / differences.len() as f64;
        (typical.powi(2) - error).max(0.0)
    })
}

/// The ratio of each workload of one pair of rows, whose variances are made
/// sharper by each other.
pub(crate) fn each(workloads: &[Logs], serial: Serial) -> Vec<Result<Ratio, NoEstimate>> {
    let groups: Vec<Group> = workloads.iter().map(|logs| logs.group(serial)).collect();
    let moderated = Group::moderated(&groups);
    let ratios = moderated.iter();
    let unequal = unequal(workloads.iter());
    ratios
        .map(|group| {
            let group = [(1.0, *group)];
            Ratio::of_sum(Sum::with(&group, Interaction::NONE, unequal), &group, 1)
        })
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
    let sum = Sum::with(&groups, Interaction::NONE, unequal(workloads.iter()));
    Ratio::of_sum(sum, &groups, workloads.len())
}

/// The ratio of one group of values to another that was measured apart, so that
/// no round of one belongs to a round of the other; a mean over `workloads`.
/// `unequal` is the variance that the two have by scattering differently.
pub(crate) fn apart(
    after: Group,
    before: Group,
    workloads: usize,
    unequal: f64,
) -> Result<Ratio, NoEstimate> {
    let groups = [(1.0, after), (-1.0, before)];
    let sum = Sum::with(&groups, Interaction::NONE, unequal);
    Ratio::of_sum(sum, &groups, workloads)
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
    apart(
        after.group(Serial::NONE),
        before.group(Serial::NONE),
        1,
        0.0,
    )
}

/// NaN for what has no logarithm; [`Logs`] refuses it.
pub(crate) fn positive_ln(value: f64) -> f64 {
    if value > 0.0 { value.ln() } else { f64::NAN }
}
