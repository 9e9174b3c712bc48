//! How many iterations a child should make, and how many rounds there should be.
//!
//! Iterations within a child tell of what varies within it; only further children
//! tell of what varies between them. What either costs decides between them
//! (Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013):
//!
//! ```text
//!   Var(mean)  =  between² / rounds  +  within² / (rounds · iterations)
//!   cost       =  rounds · ( start  +  iterations · lap )
//!
//!   iterations =  sqrt( start / lap ) · within / between       at the least cost
//! ```
//!
//! The number of rounds follows from the half width that is wanted. It is chosen
//! from what the noise is and never from what the difference is: who stops when a
//! difference shows finds one in noise.

use crate::interval::ROUNDS_MIN;
use crate::student::quantile_two_sided;

/// Where the scatter of a cell comes from and what looking again costs, all in
/// one unit of time or as parts of the cell's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Components {
    /// Standard deviation of the iterations of one child.
    pub within: f64,
    /// Standard deviation of children beyond what their iterations explain.
    pub between: f64,
    /// What a child takes before its first counted iteration, in nanoseconds.
    pub start_ns: f64,
    /// What an iteration takes, in nanoseconds.
    pub lap_ns: f64,
}

/// How to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Counted iterations of a child.
    pub iterations: u32,
    /// Rounds.
    pub rounds: u32,
}

impl Components {
    /// From the logarithms of the iterations of each child; `None` if there are
    /// fewer than two children, or none with two iterations.
    pub fn of(children: &[Vec<f64>], start_ns: f64, lap_ns: f64) -> Option<Components> {
        let with: Vec<&Vec<f64>> = children.iter().filter(|one| !one.is_empty()).collect();
        let count = with.len() as f64;
        let freedom: usize = with.iter().map(|one| one.len() - 1).sum();
        if with.len() < 2 || freedom == 0 {
            return None;
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let means: Vec<f64> = with.iter().map(|one| mean(one)).collect();
        let squares = |values: &[f64], about: f64| -> f64 {
            values.iter().map(|x| (x - about) * (x - about)).sum()
        };
        let inside = with.iter().zip(&means);
        let within = inside.map(|(one, mean)| squares(one, *mean)).sum::<f64>() / freedom as f64;
        // The means of children scatter by both; of unequal children, by the
        // harmonic mean of their iterations.
        let share = with.iter().map(|one| 1.0 / one.len() as f64).sum::<f64>() / count;
        let of_means = squares(&means, mean(&means)) / (count - 1.0);
        let between = (of_means - within * share).max(0.0);
        let found = Components {
            within: within.sqrt(),
            between: between.sqrt(),
            start_ns,
            lap_ns,
        };
        (found.within.is_finite() && found.between.is_finite()).then_some(found)
    }

    /// Iterations that make the best of a child's cost: at least 1, at most
    /// `most`.
    pub fn iterations(&self, most: u32) -> u32 {
        let best = (self.start_ns / self.lap_ns).sqrt() * self.within / self.between;
        match best {
            best if best.is_nan() => 1,
            best => best.round().clamp(1.0, f64::from(most.max(1))) as u32,
        }
    }

    /// Iterations, and the rounds after which the 95 % interval of a ratio of two
    /// such cells reaches no further than `half_width` (a logarithm) from its
    /// middle. At least [`ROUNDS_MIN`], at most `rounds_max`.
    pub fn allocate(&self, half_width: f64, iterations_max: u32, rounds_max: u32) -> Allocation {
        let iterations = self.iterations(iterations_max);
        let a_round = self.between.powi(2) + self.within.powi(2) / f64::from(iterations);
        let is_enough = |rounds: &u32| {
            let n = f64::from(*rounds);
            quantile_two_sided(0.05, n - 1.0) * (2.0 * a_round / n).sqrt() <= half_width
        };
        let least = ROUNDS_MIN as u32;
        Allocation {
            iterations,
            rounds: (least..rounds_max)
                .find(is_enough)
                .unwrap_or(rounds_max.max(least)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLD: Components = Components {
        within: 0.079,
        between: 0.088,
        start_ns: 18e6,
        lap_ns: 9e6,
    };

    #[test]
    fn a_cold_campaign_wants_rounds_and_not_iterations() {
        assert_eq!(COLD.iterations(20), 1);
        let slow_start = Components {
            start_ns: 900e6,
            ..COLD
        };
        assert_eq!(slow_start.iterations(20), 9);
        assert_eq!(
            Components {
                between: 0.0,
                ..COLD
            }
            .iterations(20),
            20
        );
        assert_eq!(
            Components {
                within: 0.0,
                between: 0.0,
                ..COLD
            }
            .iterations(20),
            1
        );
    }

    #[test]
    fn rounds_follow_from_the_width_that_is_wanted() {
        let wide = COLD.allocate(0.5, 20, 30);
        let narrow = COLD.allocate(0.1, 20, 30);
        assert_eq!(wide.rounds, 5);
        assert!((10..30).contains(&narrow.rounds), "{narrow:?}");
        assert_eq!(COLD.allocate(0.001, 20, 30).rounds, 30);
        assert_eq!(COLD.allocate(0.001, 20, 0).rounds, 5);
    }

    #[test]
    fn components_come_from_children() {
        let found = Components::of(&[vec![0.0, 0.2], vec![1.0, 1.2], vec![2.0, 2.2]], 1.0, 1.0);
        let found = found.unwrap();
        // Within: 0.02 each. Means 0.1, 1.1, 2.1: 1, of which 0.01 is within.
        assert!((found.within - 0.02_f64.sqrt()).abs() < 1e-12);
        assert!((found.between - 0.99_f64.sqrt()).abs() < 1e-12);
        assert_eq!(Components::of(&[vec![1.0, 2.0]], 1.0, 1.0), None);
        assert_eq!(Components::of(&[vec![1.0], vec![2.0]], 1.0, 1.0), None);
        let alike = Components::of(&[vec![0.0, 1.0], vec![0.0, 1.0]], 1.0, 1.0).unwrap();
        assert_eq!(alike.between, 0.0);
    }
}
