//! The ways in which machines are unkind, as formulas.
//!
//! A noise gives what a cell is off by in each of its rounds, as logarithms of
//! factors, and how much of that is the cell's true time: where a cell runs in
//! one of two modes its true time is the mean over both, since the next build
//! may be in either.

use fathom_stats::rng::Rng;

/// A kind of noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Log-normal and independent, 1 % a cell and round.
    Independent,
    /// The same with 3.2 %: a shared machine, as one cold campaign was seen.
    Loud,
    /// 0.5 %, and each child runs in one of two modes that are 10 % apart, each
    /// half of the time: where code happens to lie.
    Bimodal,
    /// The same with the slow mode one time in five.
    BimodalUneven,
    /// As [`Noise::Bimodal`] in every other row, the baseline not among them.
    BimodalOne,
    /// As [`Noise::BimodalUneven`] in every other row.
    BimodalUnevenOne,
    /// 1 %, correlated from one round to the next by 0.6.
    Serial,
    /// 1 %, and each cell keeps one layout in all rounds, which is worth 2 %.
    FixedLayout,
    /// 1 %, and 3 % in every other row, the first not among them.
    Uneven,
    /// 1 %, and one child in ten is hit by something that only slows: 20 %.
    Interfered,
    /// 1 %, and all cells of a round are off by 5 % together.
    Rounds,
}

/// Off by how much in one of two modes.
const MODE: f64 = 0.1;

impl Noise {
    /// Every one, in the order of the table.
    pub const ALL: [Noise; 11] = [
        Noise::Independent,
        Noise::Loud,
        Noise::Bimodal,
        Noise::BimodalUneven,
        Noise::BimodalOne,
        Noise::BimodalUnevenOne,
        Noise::Serial,
        Noise::FixedLayout,
        Noise::Uneven,
        Noise::Interfered,
        Noise::Rounds,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Noise::Independent => "independent",
            Noise::Loud => "loud",
            Noise::Bimodal => "bimodal",
            Noise::BimodalUneven => "bimodal-uneven",
            Noise::BimodalOne => "bimodal-one",
            Noise::BimodalUnevenOne => "bimodal-uneven-one",
            Noise::Serial => "serial",
            Noise::FixedLayout => "fixed-layout",
            Noise::Uneven => "uneven",
            Noise::Interfered => "interfered",
            Noise::Rounds => "rounds",
        }
    }

    /// What it is, for the table.
    pub fn help(self) -> &'static str {
        match self {
            Noise::Independent => "independent, 1 %",
            Noise::Loud => "independent, 3.2 %",
            Noise::Bimodal => "in one of two modes 10 % apart",
            Noise::BimodalUneven => "the same, one time in five the slow one",
            Noise::BimodalOne => "two modes in one of two that are compared",
            Noise::BimodalUnevenOne => "the same, one time in five the slow one",
            Noise::Serial => "serial correlation 0.6, 1 %",
            Noise::FixedLayout => "one fixed layout a cell, 2 %",
            Noise::Uneven => "half of the rows 3 %, half 1 %",
            Noise::Interfered => "one child in ten slowed by 20 %",
            Noise::Rounds => "whole rounds off by 5 % together",
        }
    }

    /// Whether the layout of code is the same in all rounds: a campaign of
    /// engines that cannot be told to vary it.
    pub fn is_layout_fixed(self) -> bool {
        self == Noise::FixedLayout
    }

    /// Draws all rounds of a cell of the `row`-th row. What it is off by in
    /// the mean over everything that could have been drawn belongs to its true
    /// time, and is the second value.
    pub fn draw(self, rng: &mut Rng, row: usize, rounds: usize) -> (Vec<f64>, f64) {
        let mut off: Vec<f64> = match self {
            Noise::Loud => normals(rng, rounds, 0.032),
            _ if self.slow(row) > 0.0 => normals(rng, rounds, 0.005),
            Noise::Serial => correlated(rng, rounds, 0.01, 0.6),
            Noise::Uneven if row > 0 && row.is_multiple_of(2) => normals(rng, rounds, 0.03),
            _ => normals(rng, rounds, 0.01),
        };
        let mut true_off = 0.0;
        let slow = self.slow(row);
        if slow > 0.0 {
            for value in &mut off {
                *value += if rng.unit() < slow { MODE } else { 0.0 };
            }
            true_off = slow * MODE;
        }
        if self == Noise::Interfered {
            for value in &mut off {
                if rng.unit() < 0.1 {
                    *value += (0.2 * normal(rng)).abs();
                }
            }
        }
        (off, true_off)
    }

    /// How often a child of a row is in the slow one of two modes.
    fn slow(self, row: usize) -> f64 {
        match self {
            Noise::Bimodal => 0.5,
            Noise::BimodalUneven => 0.2,
            Noise::BimodalOne if row % 2 == 1 => 0.5,
            Noise::BimodalUnevenOne if row % 2 == 1 => 0.2,
            _ => 0.0,
        }
    }

    /// What a cell's layout is worth in all rounds: of its control's too, since
    /// the two are one binary.
    pub fn layout(self, rng: &mut Rng) -> f64 {
        match self {
            Noise::FixedLayout => 0.02 * normal(rng),
            _ => 0.0,
        }
    }

    /// What all cells of a round are off by together.
    pub fn common(self, rng: &mut Rng) -> f64 {
        match self {
            Noise::Rounds => 0.05 * normal(rng),
            _ => 0.0,
        }
    }
}

/// A standard normal value (Box and Muller).
pub fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

fn normals(rng: &mut Rng, count: usize, deviation: f64) -> Vec<f64> {
    (0..count).map(|_| deviation * normal(rng)).collect()
}

/// An autoregressive series of the first order, as long running as wanted.
fn correlated(rng: &mut Rng, count: usize, deviation: f64, by: f64) -> Vec<f64> {
    let fresh = (1.0 - by * by).sqrt();
    let mut last = normal(rng);
    let mut series = Vec::with_capacity(count);
    for _ in 0..count {
        series.push(deviation * last);
        last = by * last + fresh * normal(rng);
    }
    series
}
