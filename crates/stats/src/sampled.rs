//! One program's time by function, on several engines: counts of samples to shares and
//! ratios.
//!
//! A sample stands for a period of processor time, so that a function's own time is its
//! samples times that. Samples come at a fixed distance of processor time; a count of them
//! varies no more than one of a Poisson process would, and that is what intervals are for:
//! they are too wide rather than too narrow.

use std::collections::{BTreeMap, BTreeSet};

use crate::Interval;

/// Of fewer samples no share is told.
pub const SAMPLES_MIN: u64 = 100;
/// Of fewer samples, in either, no ratio is told.
pub const RATIO_SAMPLES_MIN: u64 = 25;
/// Of a normal distribution, for 95 %.
const Z: f64 = 1.959_964;

/// What a row is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A function of the program.
    Function(String),
    /// A line of the program's source.
    Line(String),
    /// Functions, or lines, that have no row.
    Further {
        /// How many.
        places: usize,
    },
    /// The program's, of no line that is known.
    Lineless(Lineless),
    /// The engine: its compiler, its runtime, what it runs besides the program.
    Engine,
    /// Code without a name.
    Unnamed,
    /// The kernel.
    Kernel,
}

/// Why code of the program has no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lineless {
    /// Its debug information has none.
    Undescribed,
    /// It stems from no instruction of the module.
    Added,
    /// Several functions have its name.
    Ambiguous,
}

impl Place {
    /// Whether it has a row of its own among the first.
    fn is_named(&self) -> bool {
        matches!(self, Place::Function(_) | Place::Line(_))
    }
}

/// The samples of one engine.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// By where they were.
    pub samples: BTreeMap<Place, u64>,
    /// What one stands for, of processor time.
    pub period_ns: u64,
}

impl Column {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.samples.values().sum()
    }
}

/// How many times the baseline's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// The best guess.
    pub value: f64,
    /// Its 95 % interval.
    pub interval: Interval,
}

/// A row's part in a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Samples.
    pub samples: u64,
    /// Processor time.
    pub self_ns: u64,
    /// Of the column's whole; 0 where that is nothing.
    pub share: f64,
    /// The baseline's time goes into this so often; none where there are too few samples.
    pub ratio: Option<Times>,
}

/// What a row is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Title {
    /// One place.
    Of(Place),
    /// The sum of all that is the program's.
    Functions,
    /// The sum of all.
    All,
}

/// A row, with a part for each column.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is.
    pub title: Title,
    /// In the order of columns.
    pub parts: Vec<Part>,
}

/// Rows of functions, or of lines, at most so many, and first those that take the largest part of the
/// program's own time anywhere; then what is left of them, the rest, and the sums. Each sample
/// of a column is in one of the rows in front of the sums.
pub fn rows(columns: &[Column], baseline: Option<usize>, named_max: usize) -> Vec<Row> {
    let places: BTreeSet<&Place> = columns.iter().flat_map(|one| one.samples.keys()).collect();
    let (mut first, others): (Vec<&Place>, Vec<&Place>) =
        places.into_iter().partition(|place| place.is_named());
    let sums = |places: &[&Place]| -> Vec<u64> {
        let sum = |column: &Column| places.iter().map(|place| count(column, place)).sum();
        columns.iter().map(sum).collect()
    };
    let lineless = others
        .iter()
        .filter(|place| matches!(place, Place::Lineless(_)));
    let of_program: Vec<&Place> = first.iter().chain(lineless).copied().collect();
    let programs = sums(&of_program);
    let most = |place: &Place| {
        let columns = columns.iter().zip(&programs);
        let shares = columns.map(|(column, all)| share(count(column, place), *all));
        shares.fold(0.0, f64::max)
    };
    first.sort_by(|one, other| most(other).total_cmp(&most(one)));
    let left = first.split_off(named_max.min(first.len()));
    let named = |place: &&Place| (Title::Of((*place).clone()), sums(&[place]));
    let mut rows: Vec<(Title, Vec<u64>)> = first.iter().map(named).collect();
    if !left.is_empty() {
        let places = left.len();
        rows.push((Title::Of(Place::Further { places }), sums(&left)));
    }
    rows.extend(others.iter().map(named));
    let totals = columns.iter().map(Column::total).collect();
    rows.extend([(Title::Functions, programs), (Title::All, totals)]);
    let row = |(title, counts): (Title, Vec<u64>)| Row {
        title,
        parts: parts(columns, baseline, &counts),
    };
    rows.into_iter().map(row).collect()
}

fn count(column: &Column, place: &Place) -> u64 {
    column.samples.get(place).copied().unwrap_or(0)
}

fn parts(columns: &[Column], baseline: Option<usize>, counts: &[u64]) -> Vec<Part> {
    let part = |at: usize| {
        let (samples, column) = (counts[at], &columns[at]);
        let base = baseline.filter(|base| *base != at);
        let ratio = base.and_then(|base| {
            let periods = column.period_ns as f64 / columns[base].period_ns as f64;
            ratio(samples, counts[base], periods)
        });
        Part {
            samples,
            self_ns: samples * column.period_ns,
            share: share(samples, column.total()),
            ratio,
        }
    };
    (0..columns.len()).map(part).collect()
}

fn share(samples: u64, total: u64) -> f64 {
    match total {
        0 => 0.0,
        _ => samples as f64 / total as f64,
    }
}

/// The ratio of two counts, times a factor that is known.
fn ratio(samples: u64, base: u64, factor: f64) -> Option<Times> {
    if samples.min(base) < RATIO_SAMPLES_MIN || !factor.is_finite() {
        return None;
    }
    let (above, below) = (samples as f64, base as f64);
    let value = above / below * factor;
    let far = (Z * (1.0 / above + 1.0 / below).sqrt()).exp();
    Some(Times {
        value,
        interval: Interval {
            low: value / far,
            high: value * far,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(samples: &[(&str, u64)], engine: u64) -> Column {
        let function = |(name, count): &(&str, u64)| (Place::Function((*name).to_owned()), *count);
        let mut samples: BTreeMap<Place, u64> = samples.iter().map(function).collect();
        samples.insert(Place::Engine, engine);
        let period_ns = 1000;
        Column { samples, period_ns }
    }

    #[test]
    fn each_sample_is_in_one_row_and_the_largest_share_is_first() {
        let columns = [
            column(&[("a", 10), ("b", 80), ("c", 3), ("d", 1)], 6),
            column(&[("a", 900), ("b", 50), ("e", 50)], 1000),
        ];
        let rows = rows(&columns, Some(0), 2);
        let titles: Vec<_> = rows.iter().map(|row| row.title.clone()).collect();
        let function = |name: &str| Title::Of(Place::Function(name.to_owned()));
        let expected = [
            function("a"),
            function("b"),
            Title::Of(Place::Further { places: 3 }),
            Title::Of(Place::Engine),
            Title::Functions,
            Title::All,
        ];
        assert_eq!(titles, expected);
        for (at, column) in columns.iter().enumerate() {
            let (sum, all) = (&rows[..4], &rows[5].parts[at]);
            let sum: u64 = sum.iter().map(|row| row.parts[at].samples).sum();
            assert_eq!((sum, all.samples), (column.total(), column.total()));
            assert_eq!(all.self_ns, column.total() * 1000);
            assert!((all.share - 1.0).abs() < 1e-12);
            let engine = rows[3].parts[at].samples;
            assert_eq!(rows[4].parts[at].samples + engine, all.samples);
        }
        assert_eq!(rows[2].parts[1].samples, 50);
    }

    #[test]
    fn a_ratio_needs_samples_and_has_an_interval() {
        let columns = [
            column(&[("a", 100), ("b", 24)], 0),
            column(&[("a", 150), ("b", 500)], 0),
        ];
        let rows = rows(&columns, Some(0), 9);
        let of = |name: &str| {
            let title = Title::Of(Place::Function(name.to_owned()));
            rows.iter().find(|row| row.title == title).unwrap()
        };
        let times = of("a").parts[1].ratio.unwrap();
        assert!((times.value - 1.5).abs() < 1e-9);
        // exp(1.96 √(1/100 + 1/150)) = 1.288
        assert!(
            (times.interval.high / times.value - 1.288).abs() < 1e-3,
            "{times:?}"
        );
        assert!((times.value / times.interval.low - 1.288).abs() < 1e-3);
        assert_eq!(of("a").parts[0].ratio, None);
        assert_eq!(of("b").parts[1].ratio, None);
    }

    #[test]
    fn nothing_has_no_share() {
        let rows = rows(&[Column::default()], None, 5);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].parts[0].samples, rows[0].parts[0].share), (0, 0.0));
    }
}
