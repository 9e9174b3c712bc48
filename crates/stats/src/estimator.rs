//! What the rounds of one cell come to.
//!
//! Machines are disturbed from one side: nothing makes a program faster than it is, and
//! whatever else runs makes it slower. The mean over all rounds is then the mean of what
//! else ran. The **faster half** of a cell's rounds (of n the (n + 1) / 2 fastest) contains
//! little of it, and its mean is as regular as any:
//!
//! ```text
//!   T     =  mean of the h smallest of x₁ … xₙ
//!   wᵢ    =  xᵢ, but no more than the largest of those        winsorised from above
//!   vᵢ    =  T + (wᵢ − w̄) · n/h · √( h (n−1) / n (h−1) )
//! ```
//!
//! The mean of the vᵢ is T, and their variance over n is that of T after Yuen ("The
//! two-sample trimmed t for unequal population variances", 1974), trimmed at one end, with
//! h − 1 degrees of freedom. So whatever is made of means can be made of them: they belong
//! to their rounds, differences of two cells are taken round by round, and what a round has
//! in common cancels as far as both cells count it.
//!
//! **Each cell has its own faster half**, and no pair of cells has one: the fastest ratios
//! are those of rounds in which the other cell was slow.
//!
//! What must stay true: the two cells of a ratio are taken in the same rounds, since a half
//! of five rounds lies less deep than one of fifteen. And where rounds scatter evenly to both
//! sides, a noisy cell's faster half lies deeper below its middle than a quiet one's. How deep is known
//! ([`Series::depth`]), and what two rows differ by in it is an error of their ratio.

use fathom_record::Estimator;

use crate::order::sorted;
use crate::student::quantile_two_sided;

/// The rounds of a cell, such that what is wanted is their mean.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    /// One value for each round, in the order of the rounds.
    pub(crate) values: Vec<f64>,
    /// Rounds that the mean is known by.
    pub(crate) counted: usize,
    /// How far below the middle of all rounds the mean is, if they scatter evenly
    /// (normally) to both sides of it.
    pub(crate) depth: f64,
}

impl Series {
    /// From logarithms that are numbers.
    pub(crate) fn of(logs: &[f64], by: Estimator) -> Series {
        let half = logs.len().div_ceil(2);
        match by {
            // Of one alone nothing is known.
            Estimator::FasterHalf if half > 1 => Series::of_faster(logs, half),
            _ => Series {
                values: logs.to_vec(),
                counted: logs.len(),
                depth: 0.0,
            },
        }
    }

    fn of_faster(logs: &[f64], half: usize) -> Series {
        let Some(order) = sorted(logs) else {
            return Series::of(logs, Estimator::Mean);
        };
        let (n, h) = (logs.len() as f64, half as f64);
        let (counted, last) = (&order[..half], order[half - 1]);
        let mean = counted.iter().sum::<f64>() / h;
        let winsorised: Vec<f64> = logs.iter().map(|log| log.min(last)).collect();
        let middle = winsorised.iter().sum::<f64>() / n;
        let scale = n / h * (h * (n - 1.0) / (n * (h - 1.0))).sqrt();
        Series {
            values: winsorised
                .iter()
                .map(|log| mean + (log - middle) * scale)
                .collect(),
            counted: half,
            depth: (last - mean) * depth_of_reach(logs.len(), half),
        }
    }
}

/// Of normal values: how far the mean of the `half` smallest of `n` is below the middle, in
/// what it is below the largest of those.
fn depth_of_reach(n: usize, half: usize) -> f64 {
    // Blom's approximation of what the ranks of normal values are in the mean.
    let rank = |at: usize| {
        let p = (at as f64 - 0.375) / (n as f64 + 0.25);
        match p {
            p if p < 0.5 => -quantile_two_sided(2.0 * p, f64::INFINITY),
            p if p > 0.5 => quantile_two_sided(2.0 * (1.0 - p), f64::INFINITY),
            _ => 0.0,
        }
    };
    let mean = (1..=half).map(rank).sum::<f64>() / half as f64;
    -mean / (rank(half) - mean)
}

#[cfg(test)]
mod tests;
