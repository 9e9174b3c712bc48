//! The ways in which machines are unkind, as formulas.
//!
//! A noise gives what a cell is off by in each of its rounds, as logarithms of
//! factors, and how much of that is the cell's true time: where a cell runs in
//! one of two modes its true time is the mean over both, since the next build
//! may be in either.

use std::collections::BTreeMap;
use std::sync::Mutex;

use fathom_record::Estimator;
use fathom_stats::rng::Rng;

/// A kind of noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// 1 %, and three children in ten are slowed by 45 to 70 %, several in a row.
    Bursts,
    /// As a cold campaign was seen: children lie above a floor by 0.6 % (exponentially), one
    /// in five by 3 % more, and one in eighteen is slowed by 45 to 70 %.
    OneSided,
}

/// Children that a burst slows, in a row.
const BURST: f64 = 3.0;

/// Off by how much in one of two modes.
const MODE: f64 = 0.1;

impl Noise {
    /// Every one, in the order of the table.
    pub const ALL: [Noise; 13] = [
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
        Noise::Bursts,
        Noise::OneSided,
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
            Noise::Bursts => "bursts",
            Noise::OneSided => "one-sided",
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
            Noise::Bursts => "bursts: 30 % of children slowed by 45–70 %",
            Noise::OneSided => "one-sided, as a cold machine was seen",
        }
    }

    /// Whether the layout of code is the same in all rounds: a campaign of
    /// engines that cannot be told to vary it.
    pub fn is_layout_fixed(self) -> bool {
        self == Noise::FixedLayout
    }

    /// Draws all rounds of a cell of the `row`-th row.
    pub fn draw(self, rng: &mut Rng, row: usize, rounds: usize) -> Vec<f64> {
        let mut off: Vec<f64> = match self {
            Noise::Loud => normals(rng, rounds, 0.032),
            _ if self.slow(row) > 0.0 => normals(rng, rounds, 0.005),
            Noise::Serial => correlated(rng, rounds, 0.01, 0.6),
            Noise::Uneven if row > 0 && row.is_multiple_of(2) => normals(rng, rounds, 0.03),
            Noise::OneSided => (0..rounds).map(|_| one_sided(rng)).collect(),
            _ => normals(rng, rounds, 0.01),
        };
        let slow = self.slow(row);
        if slow > 0.0 {
            for value in &mut off {
                *value += if rng.unit() < slow { MODE } else { 0.0 };
            }
        }
        if self == Noise::Interfered {
            for value in &mut off {
                if rng.unit() < 0.1 {
                    *value += (0.2 * normal(rng)).abs();
                }
            }
        }
        off
    }

    /// What a cell of the `row`-th row is off by in the mean over all campaigns of so many
    /// rounds, by an estimator: its true time, as far as rows differ in it. Where rounds
    /// scatter evenly to both sides, their middle is, whatever the estimator.
    pub fn true_off(self, row: usize, rounds: usize, by: Estimator) -> f64 {
        static KNOWN: Mutex<BTreeMap<(Noise, bool, usize), f64>> = Mutex::new(BTreeMap::new());
        const DRAWS: usize = 20_000;
        let is_one_of_two = matches!(self, Noise::BimodalOne | Noise::BimodalUnevenOne);
        if by == Estimator::Mean || !is_one_of_two {
            return self.slow(row) * MODE;
        }
        let key = (self, row % 2 == 1, rounds);
        let Ok(mut known) = KNOWN.lock() else {
            return f64::NAN;
        };
        *known.entry(key).or_insert_with(|| {
            let mut rng = Rng::new(rounds as u64, row as u64 % 2);
            let mut half = || {
                let mut off = self.draw(&mut rng, row, rounds);
                off.sort_by(f64::total_cmp);
                let half = rounds.div_ceil(2);
                off[..half].iter().sum::<f64>() / half as f64
            };
            (0..DRAWS).map(|_| half()).sum::<f64>() / DRAWS as f64
        })
    }

    /// What bursts slow the children of one workload by in one round, which run one after the
    /// other in random order.
    pub fn bursts(self, rng: &mut Rng, children: usize) -> Vec<f64> {
        let share = match self {
            Noise::Bursts => 0.3,
            Noise::OneSided => 0.055,
            _ => return vec![0.0; children],
        };
        let mut is_slow = rng.unit() < share;
        let mut slowed: Vec<f64> = (0..children)
            .map(|_| {
                let ends = if is_slow {
                    1.0 / BURST
                } else {
                    share / (1.0 - share) / BURST
                };
                let own = if is_slow {
                    (1.45 + 0.25 * rng.unit()).ln()
                } else {
                    0.0
                };
                is_slow ^= rng.unit() < ends;
                own
            })
            .collect();
        for at in (1..children).rev() {
            slowed.swap(at, rng.below(at + 1));
        }
        slowed
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

fn one_sided(rng: &mut Rng) -> f64 {
    let mut above = |mean: f64| -mean * (1.0 - rng.unit()).ln();
    let (least, more) = (above(0.006), above(0.03));
    least + if rng.unit() < 0.2 { more } else { 0.0 }
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
