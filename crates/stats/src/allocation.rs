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
    /// As [`Components::of`], from several cells that share them: of each cell its
    /// children of the same rounds, in their order. What a whole round has in common is in
    /// neither component: ratios are paired by round, so it cancels.
    pub fn pooled(cells: &[Vec<Vec<f64>>], start_ns: f64, lap_ns: f64) -> Option<Components> {
        let rounds = cells.iter().map(Vec::len).max()?;
        let is_whole = |cell: &&Vec<Vec<f64>>| {
            cell.len() == rounds && cell.iter().all(|child| !child.is_empty())
        };
        let cells: Vec<&Vec<Vec<f64>>> = cells.iter().filter(is_whole).collect();
        if cells.len() < 2 || rounds < 2 {
            let one = cells.first()?;
            return Components::of(one, start_ns, lap_ns);
        }
        let children = || cells.iter().flat_map(|cell| cell.iter());
        let freedom: usize = children().map(|child| child.len() - 1).sum();
        if freedom == 0 {
            return None;
        }
        let within = children().map(|child| squares(child)).sum::<f64>() / freedom as f64;
        let count = (cells.len() * rounds) as f64;
        let share = children()
            .map(|child| 1.0 / child.len() as f64)
            .sum::<f64>()
            / count;
        // Cells × rounds less what a cell and what a round has in common.
        let of_cell = |cell: &[Vec<f64>]| -> Vec<f64> {
            let means: Vec<f64> = cell.iter().map(|child| mean(child)).collect();
            let middle = mean(&means);
            means.iter().map(|value| value - middle).collect()
        };
        let table: Vec<Vec<f64>> = cells.iter().map(|cell| of_cell(cell)).collect();
        let in_round = |round: usize| table.iter().map(move |cell| cell[round]);
        let left: f64 = (0..rounds)
            .map(|round| squares(&in_round(round).collect::<Vec<f64>>()))
            .sum();
        let of_means = left / ((cells.len() - 1) * (rounds - 1)) as f64;
        Components::new(within, of_means - within * share, start_ns, lap_ns)
    }

    /// From the logarithms of the iterations of each child; `None` if there are
    /// fewer than two children, or none with two iterations.
    pub fn of(children: &[Vec<f64>], start_ns: f64, lap_ns: f64) -> Option<Components> {
        let with: Vec<&Vec<f64>> = children.iter().filter(|one| !one.is_empty()).collect();
        let count = with.len() as f64;
        let freedom: usize = with.iter().map(|one| one.len() - 1).sum();
        if with.len() < 2 || freedom == 0 {
            return None;
        }
        let means: Vec<f64> = with.iter().map(|one| mean(one)).collect();
        let within = with.iter().map(|one| squares(one)).sum::<f64>() / freedom as f64;
        // The means of children scatter by both; of unequal children, by the
        // harmonic mean of their iterations.
        let share = with.iter().map(|one| 1.0 / one.len() as f64).sum::<f64>() / count;
        let of_means = squares(&means) / (count - 1.0);
        Components::new(within, of_means - within * share, start_ns, lap_ns)
    }

    /// From variances; one that came out negative is none.
    fn new(within: f64, between: f64, start_ns: f64, lap_ns: f64) -> Option<Components> {
        let found = Components {
            within: within.sqrt(),
            between: between.max(0.0).sqrt(),
            start_ns,
            lap_ns,
        };
        // `max` makes nothing of what is no number.
        (found.within.is_finite() && between.is_finite()).then_some(found)
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

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// About their own mean.
fn squares(values: &[f64]) -> f64 {
    let middle = mean(values);
    values.iter().map(|x| (x - middle) * (x - middle)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_say_together_what_none_says_alone() {
        // Two rounds that are 1 apart for everybody, and cells that are 0.2 off in them.
        let cell = |base: f64, off: f64| vec![vec![base, base + 0.1], vec![base + 1.0 + off; 2]];
        let cells = [cell(0.0, 0.2), cell(5.0, -0.2)];
        let found = Components::pooled(&cells, 1.0, 1.0).unwrap();
        // Within: 0.005 twice and 0 twice, over 4 degrees. The table's rests are
        // ± 0.1, with one degree.
        assert!((found.within - (0.01_f64 / 4.0).sqrt()).abs() < 1e-12);
        let between: f64 = 4.0 * 0.01 - found.within.powi(2) / 2.0;
        assert!((found.between - between.sqrt()).abs() < 1e-12, "{found:?}");
        assert_eq!(Components::pooled(&[], 1.0, 1.0), None);
        assert_eq!(
            Components::pooled(&[vec![vec![1.0]; 2], vec![vec![2.0]; 2]], 1.0, 1.0),
            None
        );
        let alone = Components::pooled(&[vec![vec![0.0, 0.1], vec![1.0, 1.1]]], 1.0, 1.0);
        assert!(alone.is_some());
    }

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
