//! Rounds that resemble the one before, and what they are worth.
//!
//! A machine that is warm in one round is warm in the next. If the rounds of a
//! ratio are correlated by ρ from one to the next, ρ² over two and so on, their
//! mean is known worse than as many independent ones would make it, and their
//! scatter is smaller than what they scatter by in the long run. Both follow
//! from ρ and the number of rounds alone, so neither is left to a formula for
//! long series:
//!
//! ```text
//!   Var(mean)     = γ v(ρ, n) / n        v = 1 + 2 Σ (1 − k/n) ρᵏ
//!   E[Σ (x − x̄)²] = γ (n − v)
//!   widening      = v (n − 1) / (n − v)                      1 for ρ = 0
//! ```
//!
//! The correlation of one cell's nine rounds says nothing: its error is a third.
//! So it is estimated from all cells of a campaign together, and with the bias
//! that short series have taken out: for n independent rounds the first sample
//! correlation is −1/n in the mean, not 0.

use std::collections::BTreeMap;

/// The correlation that a campaign's rounds have from one to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Serial {
    rho: f64,
}

/// What correlated rounds are worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Worth {
    /// What the variance of the mean is larger by than independent rounds
    /// would make it.
    pub(crate) widening: f64,
    /// Degrees of freedom of the rounds' scatter.
    pub(crate) freedom: f64,
}

/// Beyond this nothing can be told from a drift.
const RHO_MAX: f64 = 0.95;

/// What the errors of two ratios' correlations have in common if they share the
/// baseline: their rounds are correlated by a half, their errors by its square.
const SHARED: f64 = 0.25;

/// Rounds below which a series says nothing of its correlation.
const ROUNDS_MIN: usize = 4;

/// Rounds from which the formula for long series is exact enough.
const ROUNDS_LONG: usize = 64;

impl Serial {
    /// No correlation.
    pub(crate) const NONE: Serial = Serial { rho: 0.0 };

    /// From the rounds of many ratios, in their order. The ratios of one inner
    /// list are of one pair of rows and scatter alike; `sharing` is how many
    /// ratios are to the same baseline. What the series are too few to show is
    /// shrunk towards 0 by how well it is known.
    pub(crate) fn of(families: &[Vec<Vec<f64>>], sharing: usize) -> Serial {
        // Sums before quotients: a short series' own quotient is biased further.
        // Each family counts by its rounds, however much it scatters.
        let mut pooled = Pooled::default();
        for family in families {
            let sums: Vec<Sums> = family.iter().filter_map(|one| Sums::of(one)).collect();
            let scatter: f64 = sums.iter().map(|one| one.squares).sum();
            let freedom: f64 = sums.iter().map(Sums::freedom).sum();
            for one in &sums {
                pooled.add(one, freedom / scatter);
            }
        }
        if pooled.squares <= 0.0 {
            return Serial::NONE;
        }
        let seen = pooled.products / pooled.squares;
        let expected = |rho: f64| pooled.expected(rho);
        let rho = solve(seen, expected);
        if rho <= 0.0 {
            return Serial::NONE;
        }
        // The error of what was seen, taken to ρ by how the one follows the other.
        let slope = (expected(0.05) - expected(0.0)) / 0.05;
        let shared = 1.0 + SHARED * sharing.saturating_sub(1) as f64;
        let square = shared * pooled.error / (pooled.squares * slope).powi(2);
        let known = rho * rho / (rho * rho + square);
        Serial {
            rho: (known * (rho + square.sqrt())).min(RHO_MAX),
        }
    }

    /// What so many rounds are worth.
    pub(crate) fn worth(self, rounds: usize) -> Worth {
        let n = rounds as f64;
        if self.rho <= 0.0 || rounds < 2 {
            return Worth {
                widening: 1.0,
                freedom: n - 1.0,
            };
        }
        let v = of_mean(rounds, self.rho);
        Worth {
            widening: v * (n - 1.0) / (n - v),
            freedom: freedom(rounds, self.rho),
        }
    }
}

/// The ρ in 0..=[`RHO_MAX`] by which `expected` is what was seen.
fn solve(seen: f64, expected: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, RHO_MAX);
    if expected(low) >= seen {
        return low;
    }
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if expected(middle) < seen {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// What a series adds to the correlation of all.
struct Sums {
    rounds: usize,
    squares: f64,
    products: f64,
}

impl Sums {
    /// `None` of rounds that are too few or equal.
    fn of(series: &[f64]) -> Option<Sums> {
        if series.len() < ROUNDS_MIN {
            return None;
        }
        let mean = series.iter().sum::<f64>() / series.len() as f64;
        let squares: f64 = series.iter().map(|x| (x - mean) * (x - mean)).sum();
        let products = series.windows(2);
        Some(Sums {
            rounds: series.len(),
            squares,
            products: products
                .map(|pair| (pair[0] - mean) * (pair[1] - mean))
                .sum(),
        })
        .filter(|sums| sums.squares > 0.0 && sums.products.is_finite())
    }

    fn freedom(&self) -> f64 {
        (self.rounds - 1) as f64
    }
}

/// The sums of all series.
#[derive(Default)]
struct Pooled {
    products: f64,
    squares: f64,
    /// The variance of `products` if nothing is correlated.
    error: f64,
    by_rounds: BTreeMap<usize, f64>,
}

impl Pooled {
    fn add(&mut self, sums: &Sums, weight: f64) {
        let squares = weight * sums.squares;
        self.products += weight * sums.products;
        self.squares += squares;
        self.error += squares * squares / sums.freedom();
        *self.by_rounds.entry(sums.rounds).or_default() += squares;
    }

    /// What products over squares come to in the mean.
    fn expected(&self, rho: f64) -> f64 {
        let parts = self.by_rounds.iter();
        parts
            .map(|(rounds, squares)| squares * expected_correlation(*rounds, rho))
            .sum::<f64>()
            / self.squares
    }
}

/// `v`: the variance of the mean, in that of a round divided by their number.
fn of_mean(rounds: usize, rho: f64) -> f64 {
    let n = rounds as f64;
    let (mut sum, mut power) = (0.0, 1.0);
    for lag in 1..rounds {
        power *= rho;
        sum += (1.0 - lag as f64 / n) * power;
    }
    1.0 + 2.0 * sum
}

/// What a series' products over its squares come to, each in the mean.
fn expected_correlation(rounds: usize, rho: f64) -> f64 {
    let n = rounds as f64;
    let v = of_mean(rounds, rho);
    // The first round's covariance with the mean of all.
    let first = (1.0 - rho.powi(rounds as i32)) / (1.0 - rho) / n;
    let products = (n - 1.0) * rho - 2.0 * v + 2.0 * first + (n - 1.0) * v / n;
    products / (n - v)
}

/// Degrees of freedom of the scatter about the mean: those of the chi-square
/// that has its mean and its variance.
fn freedom(rounds: usize, rho: f64) -> f64 {
    let n = rounds as f64;
    if rounds > ROUNDS_LONG {
        return (n - 1.0) * (1.0 - rho * rho) / (1.0 + rho * rho);
    }
    let covariance = |one: usize, other: usize| rho.powi(one.abs_diff(other) as i32);
    let with_mean: Vec<f64> = (0..rounds)
        .map(|one| (0..rounds).map(|other| covariance(one, other)).sum::<f64>() / n)
        .collect();
    let of_mean = with_mean.iter().sum::<f64>() / n;
    let (mut trace, mut squares) = (0.0, 0.0);
    for one in 0..rounds {
        for other in 0..rounds {
            let about = covariance(one, other) - with_mean[one] - with_mean[other] + of_mean;
            squares += about * about;
            if one == other {
                trace += about;
            }
        }
    }
    trace * trace / squares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn independent_rounds_are_worth_what_they_are() {
        for rounds in [2, 5, 9, 100] {
            let worth = Serial::NONE.worth(rounds);
            assert_eq!((worth.widening, worth.freedom), (1.0, (rounds - 1) as f64));
            assert!((expected_correlation(rounds, 0.0) + 1.0 / rounds as f64).abs() < 1e-12);
            if rounds <= ROUNDS_LONG {
                assert!((freedom(rounds, 0.0) - (rounds - 1) as f64).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn correlated_rounds_are_worth_less() {
        // By hand: 1 + 2 (0.48 + 0.216 + 0.0864 + 0.02592) = 2.61664.
        let worth = Serial { rho: 0.6 }.worth(5);
        assert!((worth.widening - 2.616_64 * 4.0 / (5.0 - 2.616_64)).abs() < 1e-9);
        assert!((1.5..4.0).contains(&worth.freedom), "{worth:?}");
        // Of many rounds (1 + ρ) / (1 − ρ) times, by the well-known formula.
        let many = Serial { rho: 0.6 }.worth(2_000);
        assert!((many.widening - 4.0).abs() < 0.02, "{many:?}");
    }

    /// Series of a known correlation.
    fn drawn(rho: f64, series: usize, rounds: usize) -> Vec<Vec<Vec<f64>>> {
        let mut rng = Rng::new(7, 7);
        let mut fresh = || (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
        let mut one = || {
            let mut last = fresh();
            let mut values = Vec::new();
            for _ in 0..rounds {
                values.push(last);
                last = rho * last + (1.0 - rho * rho).sqrt() * fresh();
            }
            values
        };
        vec![(0..series).map(|_| one()).collect()]
    }

    #[test]
    fn the_correlation_of_short_series_comes_back() {
        for rounds in [5, 9, 15] {
            for rho in [0.3, 0.6] {
                let found = Serial::of(&drawn(rho, 1_000, rounds), 1).rho;
                assert!((found - rho).abs() < 0.08, "{rounds} {rho}: {found}");
            }
            let none = Serial::of(&drawn(0.0, 1_000, rounds), 1).rho;
            assert!(none < 0.05, "{rounds}: {none}");
        }
    }

    #[test]
    fn what_is_no_series_has_no_correlation() {
        assert_eq!(Serial::of(&[], 1), Serial::NONE);
        let none = vec![vec![1.0; 9], vec![1.0, 2.0]];
        assert_eq!(Serial::of(&[none], 1), Serial::NONE);
    }
}
