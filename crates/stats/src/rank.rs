//! Whether one order is like another: does a suite say how engines rank on other programs?
//!
//! ```text
//!  log times, a row × a workload ── levels ──▶ a number a row ── mid_ranks ──▶ spearman
//!         └─ workloads drawn again ── levels ──▶ …            ── quantiles ──▶ its interval
//! ```
//!
//! A row's level is the mean of its log times with what each workload takes everybody taken
//! out, by least squares: where every row has every workload, rows are in the order of their
//! geometric means, and where one lacks some, it is not ahead for having been spared the long
//! ones.
//!
//! What must stay true: equal values share their places; the interval is of the workloads that
//! were drawn, for these rows: other rows would be other ranks. Where rows are nearer to each
//! other than workloads differ it is nearer to 0 than the truth, never farther from it.

use crate::interval::Interval;
use crate::order::quantile;
use crate::rng::Rng;

/// How often workloads are drawn again.
const DRAWS: u64 = 2000;
/// Orders at random among which one is looked for.
const SHUFFLES: u32 = 10_000;
/// The least squares are found by then, and mostly at once.
const STEPS_MAX: usize = 500;
/// A step that changes no logarithm by more is the last.
const STEP_MIN: f64 = 1e-12;

/// Logarithms of times by row and workload; nothing where there is no time.
pub type LogTimes = Vec<Vec<Option<f64>>>;

/// A rank correlation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankCorrelation {
    /// Spearman's, from -1 to 1.
    pub value: f64,
    /// Its 95 % interval: quantiles of what other draws of the workloads come to.
    pub interval: Interval,
    /// The part of orders at random that are as alike, or more.
    pub chance: f64,
}

/// The place of each value, the smallest first, from 1; equal ones share the middle of theirs.
/// `None` if one is not a number.
pub fn mid_ranks(values: &[f64]) -> Option<Vec<f64>> {
    let has_all = values.iter().all(|value| !value.is_nan());
    let place = |value: &f64| {
        let smaller = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        smaller as f64 + (equal as f64 + 1.0) / 2.0
    };
    has_all.then(|| values.iter().map(place).collect())
}

/// Spearman's rank correlation ("The proof and measurement of association between two things",
/// 1904), with mid-ranks: Pearson's of the places. `None` of lists of different length, of
/// fewer than two values, and where all are equal.
pub fn spearman(one: &[f64], other: &[f64]) -> Option<f64> {
    let (one, other) = (mid_ranks(one)?, mid_ranks(other)?);
    if one.len() != other.len() {
        return None;
    }
    let middle = (one.len() as f64 + 1.0) / 2.0;
    let sum = |a: &[f64], b: &[f64]| -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| (a - middle) * (b - middle)).sum()
    };
    let scale = (sum(&one, &one) * sum(&other, &other)).sqrt();
    (scale > 0.0).then(|| (sum(&one, &other) / scale).clamp(-1.0, 1.0))
}

/// The level of each row, the mean of all being 0; `None` where a row has nothing.
pub fn levels(logs: &LogTimes) -> Option<Vec<f64>> {
    let columns: Vec<usize> = (0..logs.first()?.len()).collect();
    levels_of(logs, &columns)
}

/// The same by some of the workloads, of which one may be there more than once.
fn levels_of(logs: &LogTimes, columns: &[usize]) -> Option<Vec<f64>> {
    let mut rows = vec![0.0; logs.len()];
    for _ in 0..STEPS_MAX {
        // What each workload takes everybody, then what each row takes beyond that.
        let of_column = |column: &usize| {
            let each = logs.iter().zip(&rows);
            mean(each.filter_map(|(row, level)| Some(row[*column]? - level)))
        };
        let common: Vec<Option<f64>> = columns.iter().map(of_column).collect();
        let of_row = |row: &Vec<Option<f64>>| {
            let each = columns.iter().zip(&common);
            mean(each.filter_map(|(column, common)| Some(row[*column]? - (*common)?)))
        };
        let next = logs.iter().map(of_row).collect::<Option<Vec<f64>>>()?;
        let middle = mean(next.iter().copied())?;
        let next: Vec<f64> = next.iter().map(|level| level - middle).collect();
        let steps = next.iter().zip(&rows).map(|(new, old)| (new - old).abs());
        let step = steps.fold(0.0, f64::max);
        rows = next;
        if step <= STEP_MIN {
            break;
        }
    }
    Some(rows)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), one| (count + 1, sum + one));
    (count > 0).then(|| sum / f64::from(count))
}

/// How alike the order of rows on some workloads is to that of their `others`, which are as
/// they are. A draw that leaves a row nothing is none; the interval holds the value, since
/// draws are of fewer workloads than there are, and so less alike.
pub fn correlation(logs: &LogTimes, others: &[f64]) -> Option<RankCorrelation> {
    let value = spearman(&levels(logs)?, others)?;
    let count = logs.first()?.len();
    let draw = |stream: u64| {
        let mut rng = Rng::new(0, stream);
        let columns: Vec<usize> = (0..count).map(|_| rng.below(count)).collect();
        spearman(&levels_of(logs, &columns)?, others)
    };
    let drawn: Vec<f64> = (0..DRAWS).filter_map(draw).collect();
    let interval = Interval {
        low: quantile(&drawn, 0.025)?.min(value),
        high: quantile(&drawn, 0.975)?.max(value),
    };
    Some(RankCorrelation {
        value,
        interval,
        chance: chance(others, value)?,
    })
}

/// The part of orders at random that are as like an order as that, itself among them.
fn chance(order: &[f64], value: f64) -> Option<f64> {
    let mut rng = Rng::new(0, u64::MAX);
    let mut shuffled = order.to_vec();
    let mut as_alike = 1;
    for _ in 0..SHUFFLES {
        for at in (1..shuffled.len()).rev() {
            shuffled.swap(at, rng.below(at + 1));
        }
        // Sums of the same places in another order may differ in their last digit.
        let is_as_alike = spearman(&shuffled, order)? >= value - 1e-9;
        as_alike += u32::from(is_as_alike);
    }
    Some(f64::from(as_alike) / f64::from(SHUFFLES + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::Rng;

    fn is_near(one: Option<f64>, other: f64) -> bool {
        one.is_some_and(|one| (one - other).abs() < 1e-9)
    }

    #[test]
    fn equal_values_share_their_places() {
        let ranks = mid_ranks(&[3.0, 1.0, 2.0, 2.0, 2.0]).unwrap();
        assert_eq!(ranks, [5.0, 1.0, 3.0, 3.0, 3.0]);
        assert_eq!(mid_ranks(&[1.0, f64::NAN]), None);
        assert_eq!(mid_ranks(&[]), Some(Vec::new()));
    }

    /// R: `cor(x, y, method = "spearman")`, and by hand.
    #[test]
    fn known_correlations() {
        // Ten people's IQ and hours of television: 1 - 6 × 194 / 990.
        let iq = [
            86.0, 97.0, 99.0, 100.0, 101.0, 103.0, 106.0, 110.0, 112.0, 113.0,
        ];
        let hours = [2.0, 20.0, 28.0, 27.0, 50.0, 29.0, 7.0, 17.0, 6.0, 12.0];
        assert!(is_near(spearman(&iq, &hours), -29.0 / 165.0));
        // Places 1, 2.5, 2.5, 4 and 1 to 4: 4.5 / √(4.5 × 5).
        let tied = spearman(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]);
        assert!(is_near(tied, 0.9_f64.sqrt()), "{tied:?}");
        assert_eq!(spearman(&[1.0, 2.0, 9.0], &[3.0, 5.0, 6.0]), Some(1.0));
        assert_eq!(spearman(&[1.0, 2.0, 9.0], &[6.0, 5.0, 3.0]), Some(-1.0));
        for (one, other) in [
            (&[1.0, 1.0][..], &[1.0, 2.0][..]),
            (&[1.0], &[1.0]),
            (&[], &[]),
            (&[1.0, 2.0], &[1.0, 2.0, 3.0]),
            (&[1.0, f64::NAN], &[1.0, 2.0]),
        ] {
            assert_eq!(spearman(one, other), None, "{one:?} {other:?}");
        }
    }

    #[test]
    fn where_nothing_is_missing_levels_are_means() {
        let logs = vec![
            vec![Some(1.0), Some(5.0)],
            vec![Some(2.0), Some(3.0)],
            vec![Some(3.0), Some(4.0)],
        ];
        let levels = levels(&logs).unwrap();
        for (level, mean) in levels.iter().zip([0.0, -0.5, 0.5]) {
            assert!((level - mean).abs() < 1e-9, "{levels:?}");
        }
    }

    /// Rows 0, 1 and 2 above the first, on workloads of 0, 10 and 20.
    #[test]
    fn a_row_that_lacks_the_longest_is_not_ahead_for_it() {
        let time = |row: u32, workload: u32| Some(f64::from(row + 10 * workload));
        let mut logs: LogTimes = (0..3)
            .map(|row| (0..3).map(|workload| time(row, workload)).collect())
            .collect();
        logs[2][2] = None;
        logs[0][0] = None;
        let levels = levels(&logs).unwrap();
        for (level, made) in levels.iter().zip([-1.0, 0.0, 1.0]) {
            assert!((level - made).abs() < 1e-6, "{levels:?}");
        }
        logs[1] = vec![None; 3];
        assert_eq!(super::levels(&logs), None);
        assert_eq!(super::levels(&Vec::new()), None);
    }

    #[test]
    fn what_every_workload_agrees_on_is_sure_and_what_they_do_not_is_not() {
        let others = [1.0, 2.0, 3.0, 4.0, 5.0];
        let agreed: LogTimes = (0..5)
            .map(|row| {
                (0..12)
                    .map(|workload| Some(f64::from(row * row + workload)))
                    .collect()
            })
            .collect();
        let found = correlation(&agreed, &others).unwrap();
        let Interval { low, high } = found.interval;
        assert_eq!((found.value, low, high), (1.0, 1.0, 1.0));
        // Half of the workloads have the order the other way round, and a little less.
        let torn: LogTimes = (0..5)
            .map(|row| {
                (0..12)
                    .map(|workload| {
                        let sign = if workload % 2 == 0 { 1.01 } else { -1.0 };
                        Some(sign * f64::from(row))
                    })
                    .collect()
            })
            .collect();
        let found = correlation(&torn, &others).unwrap();
        assert_eq!(found.value, 1.0);
        assert_eq!((found.interval.low, found.interval.high), (-1.0, 1.0));
        assert_eq!(correlation(&torn, &[1.0; 5]), None);
    }

    /// Rows of these levels on fifteen workloads, each of which has normal noise of size 1.
    fn noisy(levels: &[f64], rng: &mut Rng) -> LogTimes {
        let mut noise = || (0..12).map(|_| rng.unit() - 0.5).sum::<f64>();
        let row = |level: &f64| (0..15).map(|_| Some(level + noise())).collect();
        levels.iter().map(row).collect()
    }

    /// As often as it says, where rows differ as much as workloads do.
    #[test]
    fn the_interval_holds_the_truth() {
        let truth = [0.0, 0.6, 1.2, 1.0, 2.4, 3.0];
        let others = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let all = spearman(&truth, &others).unwrap();
        let held = (0..200).filter(|trial| {
            let logs = noisy(&truth, &mut Rng::new(7, *trial));
            let Interval { low, high } = correlation(&logs, &others).unwrap().interval;
            low <= all && all <= high
        });
        let held = held.count();
        assert!(held >= 185, "{held} of 200");
    }

    /// Where rows hardly differ draws scramble them, and an order that is like another is not
    /// shown to be; but one that is like none is no more often than it may.
    #[test]
    fn what_is_unlike_is_not_shown_to_be_alike() {
        let others = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        for size in [0.1, 1.0] {
            let shown = (0..200).filter(|trial| {
                let mut rng = Rng::new(9, *trial);
                let truth = others.map(|_| size * 6.0 * rng.unit());
                let found = correlation(&noisy(&truth, &mut rng), &others).unwrap();
                found.interval.low > 0.0 && found.chance <= 0.05
            });
            let shown = shown.count();
            assert!(shown <= 14, "{shown} of 200 at {size}");
        }
    }

    /// Of 24 orders of four one is the same, and four are 0.8 or more (Zar, "Significance testing
    /// of the Spearman rank correlation coefficient", 1972).
    #[test]
    fn orders_at_random_are_alike_as_often_as_tables_say() {
        let order = [3.0, 1.0, 4.0, 2.0];
        for (value, part) in [(1.0, 1.0 / 24.0), (0.8, 4.0 / 24.0), (-1.0, 1.0)] {
            let found = chance(&order, value).unwrap();
            assert!((found - part).abs() < 0.01, "{value}: {found}");
        }
    }

    proptest! {
        #[test]
        fn a_correlation_is_one_both_ways_and_in_range(
            pairs in proptest::collection::vec((-9_i8..9, -9_i8..9), 0..12),
        ) {
            let (one, other): (Vec<f64>, Vec<f64>) =
                pairs.iter().map(|(a, b)| (f64::from(*a), f64::from(*b))).unzip();
            let found = spearman(&one, &other);
            prop_assert_eq!(found, spearman(&other, &one));
            prop_assert!(found.is_none_or(|value| (-1.0..=1.0).contains(&value)));
            // Any growing function leaves it as it is.
            let grown: Vec<f64> = one.iter().map(|value| value.powi(3) + 2.0).collect();
            prop_assert_eq!(spearman(&grown, &other), found);
        }
    }
}
