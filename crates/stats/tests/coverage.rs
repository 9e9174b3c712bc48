//! Do 95 % intervals hold the truth 95 times out of a hundred?
//!
//! Simulated with few rounds, as they really are, and with noise that is worse
//! than normal. The bounds allow for the simulation's own error (± 0.7 % at
//! 4,000 trials) and for intervals that are a little too wide, never for ones
//! that are clearly too narrow.

mod common;

use common::normal;
use fathom_stats::ratio::{Logs, geomean, paired, unpaired};
use fathom_stats::rng::Rng;

const TRIALS: u32 = 4_000;

/// Draws one noise value.
type Noise = fn(&mut Rng) -> f64;

fn gaussian(rng: &mut Rng) -> f64 {
    0.02 * normal(rng)
}

/// A shared machine: one round in ten is hit by something that only slows.
fn interfered(rng: &mut Rng) -> f64 {
    let hit = if rng.unit() < 0.1 {
        (0.2 * normal(rng)).abs()
    } else {
        0.0
    };
    0.02 * normal(rng) + hit
}

/// Skewed throughout.
fn exponential(rng: &mut Rng) -> f64 {
    -0.03 * (1.0 - rng.unit()).ln()
}

const NOISES: [(&str, Noise); 3] = [
    ("gaussian", gaussian),
    ("interfered", interfered),
    ("exponential", exponential),
];

fn share(trials: u32, mut covered: impl FnMut(&mut Rng) -> bool) -> f64 {
    let mut rng = Rng::new(2026, 11);
    let hits = (0..trials).filter(|_| covered(&mut rng)).count();
    hits as f64 / f64::from(trials)
}

/// Regular noise must be covered at about the nominal rate; under interference
/// and skew intervals may be too wide, never too narrow.
fn assert_nominal(what: &str, noise: &str, share: f64) {
    println!("{what}, {noise}: {share:.3}");
    let most = if noise == "gaussian" { 0.99 } else { 1.0 };
    assert!((0.935..=most).contains(&share), "{what}, {noise}: {share}");
}

fn rounds(rng: &mut Rng, count: usize, time: f64, noise: Noise) -> Vec<f64> {
    (0..count).map(|_| time * noise(rng).exp()).collect()
}

#[test]
fn of_a_paired_ratio() {
    for (name, noise) in NOISES {
        for count in [5, 7, 10, 15] {
            let share = share(TRIALS, |rng| {
                let pairs: Vec<(f64, f64)> = (0..count)
                    .map(|_| {
                        let common = 1e6 * (0.3 * normal(rng)).exp();
                        (1.25 * common * noise(rng).exp(), common * noise(rng).exp())
                    })
                    .collect();
                paired(&pairs).unwrap().interval.unwrap().contains(1.25)
            });
            assert_nominal(&format!("paired, {count} rounds"), name, share);
        }
    }
}

#[test]
fn of_a_geometric_mean() {
    for (name, noise) in NOISES {
        for (workloads, count) in [(2, 5), (6, 5), (12, 9)] {
            let share = share(TRIALS / 2, |rng| {
                let logs: Vec<Logs> = (0..workloads)
                    .map(|workload| {
                        // The workloads differ; the mean of their ratios is 1.25.
                        let off = f64::from(workload) - f64::from(workloads - 1) / 2.0;
                        let truth = 1.25 * (0.1 * off).exp();
                        let pairs: Vec<(f64, f64)> = (0..count)
                            .map(|_| (truth * noise(rng).exp(), noise(rng).exp()))
                            .collect();
                        Logs::paired(&pairs).unwrap()
                    })
                    .collect();
                geomean(&logs).unwrap().interval.unwrap().contains(1.25)
            });
            assert_nominal(
                &format!("geomean, {workloads} workloads, {count} rounds"),
                name,
                share,
            );
        }
    }
}

#[test]
fn of_a_ratio_between_campaigns() {
    for (name, noise) in NOISES {
        for count in [5, 8] {
            let share = share(TRIALS / 2, |rng| {
                let after = Logs::single(&rounds(rng, count, 1.25e6, noise)).unwrap();
                let before = Logs::single(&rounds(rng, count, 1e6, noise)).unwrap();
                unpaired(&after, &before)
                    .unwrap()
                    .interval
                    .unwrap()
                    .contains(1.25)
            });
            assert_nominal(&format!("unpaired, {count} rounds"), name, share);
        }
    }
}
