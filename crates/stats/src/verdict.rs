//! Three verdicts, and what many of them at once are worth.
//!
//! ```text
//!  different      the two differ: chance would show as much in one table of twenty
//!  equivalent     they differ by less than δ, known as surely
//!  undecided      neither was shown
//! ```
//!
//! Not to have found a difference is not to have found that there is none: that
//! takes a test of its own, against both ends of the margin δ (Schuirmann, "A
//! comparison of the two one-sided tests procedure and the power approach",
//! 1987).
//!
//! A table of two hundred cells would show ten differences of identical cells at
//! the usual level. What is promised is about the whole table: of twenty
//! campaigns of identical cells, at most one says "different" anywhere. So the
//! chances of a table's cells are adjusted by Holm ("A simple sequentially
//! rejective multiple test procedure", 1979), which needs nothing to be known of
//! how they depend on each other: all ratios are to one baseline. Of all pairs of some rows,
//! which are judged so that the first may be told from the others whoever it is, less can
//! happen than of as many ratios that have nothing to do with each other: their largest
//! difference is a range, and the smaller of both bounds counts at each step. Benjamini and
//! Hochberg's procedure promises that few of the differences shown are false,
//! and breaks the first promise in every campaign that shows any.

use crate::noise::Floor;
use crate::ratio::Ratio;
use crate::student::{quantile_two_sided, upper};

/// How often anything at all may be called different in a campaign of
/// identical cells.
pub const ALPHA: f64 = 0.05;

/// The part of [`ALPHA`] that the cells of a comparison of campaigns have; its means have the
/// other.
pub(crate) const ALPHA_PART: f64 = ALPHA / 2.0;

/// The part of [`ALPHA`] that the pairs of a report's rows have, by which the first is told from
/// the others.
pub(crate) const ALPHA_PAIRS: f64 = 0.4 * ALPHA;

/// The part that a table's means have, to what they are compared with.
pub(crate) const ALPHA_MEANS: f64 = 0.3 * ALPHA;

/// The part that its cells have.
pub(crate) const ALPHA_CELLS: f64 = 0.3 * ALPHA;

/// The margin within which two are equivalent. Two placements of the same code
/// are a per cent or two apart, and so may be the next build of either: a
/// smaller difference is none to choose by. It is what `fathom compare`
/// tolerates too.
pub const DELTA: f64 = 0.02;

/// What a difference is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The two differ, and by more than the noise floor.
    Different,
    /// They differ by less than [`DELTA`].
    Equivalent,
    /// Neither was shown.
    Undecided,
    /// There are too few rounds for an interval.
    TooFew,
    /// Undecided, because no A/A control says what the noise is.
    Uncontrolled,
}

impl Verdict {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Different => "different",
            Verdict::Equivalent => "equivalent",
            Verdict::Undecided | Verdict::Uncontrolled => "undecided",
            Verdict::TooFew => "too few rounds",
        }
    }
}

/// A ratio that is to be judged, and the floor it is judged by.
pub(crate) type Judged = (Option<Ratio>, Option<Floor>);

/// Ratios that are judged together: together they err in one of `1 / alpha` tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    /// How many they are.
    pub(crate) count: usize,
    /// Of how many rows they are all pairs, where they are that.
    pub(crate) among: Option<usize>,
}

/// The verdicts on all ratios of a table that are each of something else.
pub(crate) fn verdicts(table: &[Judged], alpha: f64) -> Vec<Verdict> {
    let family = Family {
        count: table.len(),
        among: None,
    };
    family.verdicts(table, alpha)
}

impl Family {
    /// All pairs of so many rows.
    pub(crate) fn of_pairs(rows: usize) -> Family {
        Family {
            count: rows * rows.saturating_sub(1) / 2,
            among: Some(rows),
        }
    }

    /// The verdicts on them.
    pub(crate) fn verdicts(&self, table: &[Judged], alpha: f64) -> Vec<Verdict> {
        let error =
            |ratio: &Option<Ratio>| Some((ratio.as_ref()?.value.ln(), ratio.as_ref()?.error.ok()?));
        let differ = self.adjusted(table.iter().map(|(ratio, _)| {
            let (log, error) = error(ratio)?;
            Some(error.chance_of(log))
        }));
        // Not two-sided: what the range of several says is of both sides.
        let single = Family {
            among: None,
            ..*self
        };
        let agree = single.adjusted(table.iter().map(|(ratio, _)| {
            let (log, error) = error(ratio)?;
            Some(error.chance_within(log, DELTA.ln_1p()))
        }));
        let each = table.iter().zip(differ.into_iter().zip(agree));
        each.map(|((_, floor), chances)| {
            let (Some(differ), Some(agree)) = chances else {
                return Verdict::TooFew;
            };
            if floor.is_none() {
                return Verdict::Uncontrolled;
            }
            if differ <= alpha {
                Verdict::Different
            } else if agree <= alpha {
                Verdict::Equivalent
            } else {
                Verdict::Undecided
            }
        })
        .collect()
    }

    /// Chances adjusted for being the smallest of so many, step by step (Holm): each is at
    /// most `alpha` only if it, and all smaller ones, would be so by their share of it. What is
    /// no comparison takes no share.
    fn adjusted(&self, chances: impl Iterator<Item = Option<f64>>) -> Vec<Option<f64>> {
        let mut all: Vec<Option<f64>> = chances.collect();
        let mut order: Vec<usize> = (0..all.len()).filter(|at| all[*at].is_some()).collect();
        let chance = |all: &[Option<f64>], at: usize| all[at].unwrap_or(1.0);
        order.sort_by(|one, other| chance(&all, *one).total_cmp(&chance(&all, *other)));
        let mut largest: f64 = 0.0;
        for (rank, at) in order.iter().enumerate() {
            let share = (order.len() - rank) as f64;
            largest = largest.max(self.of_smallest(chance(&all, *at), share));
            all[*at] = Some(largest);
        }
        all
    }

    /// The chance that the smallest of `share` chances is as small as this: no more than so
    /// many times it, nor, for pairs of rows, than that the two rows farthest apart are so far.
    fn of_smallest(&self, chance: f64, share: f64) -> f64 {
        let all = (share * chance).min(1.0);
        match self.among {
            Some(rows) if chance > 0.0 => all.min(range_chance(chance, rows)),
            _ => all,
        }
    }

    /// The chance that one of them is shown by alone, were it the smallest of all.
    pub(crate) fn level(&self, alpha: f64) -> f64 {
        let each = alpha / self.count.max(1) as f64;
        // Between that and all of it, by halving on a scale of logarithms.
        let (mut low, mut high) = (each, alpha);
        if self.among.is_none() {
            return each;
        }
        for _ in 0..30 {
            let middle = (low * high).sqrt();
            match self.of_smallest(middle, self.count as f64) <= alpha {
                true => low = middle,
                false => high = middle,
            }
        }
        low
    }
}

/// The difference that a ratio judged at a level would have shown eight times of ten,
/// relative: 0.03 for 3 %.
pub(crate) fn detectable(ratio: &Ratio, level: f64) -> Option<f64> {
    let error = ratio.error.ok()?;
    Some(error.detectable(level).exp_m1())
}

/// The chance that of so many equal rows the two farthest apart are as far as a pair that was
/// named before would be with chance `chance`: the range of normal values (Tukey's studentised
/// range, whose errors are known as well as can be). Where errors are known by few degrees of
/// freedom they are so for all pairs together, and the true chance is smaller.
fn range_chance(chance: f64, rows: usize) -> f64 {
    const STEP: f64 = 0.1;
    const END: f64 = 8.0;
    let reach = std::f64::consts::SQRT_2 * quantile_two_sided(chance, f64::INFINITY);
    let below = |z: f64| 1.0 - upper(z, f64::INFINITY);
    let density = |z: f64| (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    let steps = (2.0 * END / STEP) as i32;
    // The largest is at z and all others within reach below it.
    let within: f64 = (0..=steps)
        .map(|step| {
            let z = STEP * f64::from(step) - END;
            let others = (rows.max(2) - 1) as i32;
            density(z) * (below(z) - below(z - reach)).max(0.0).powi(others)
        })
        .sum();
    (1.0 - rows.max(2) as f64 * STEP * within).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio::paired;

    #[test]
    fn chances_are_adjusted_as_in_the_literature() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
        let all = [0.01, 0.04, 0.03, 0.005].map(Some);
        let family = Family {
            count: 4,
            among: None,
        };
        let found = family.adjusted(all.into_iter().chain([None]));
        let wanted = [Some(0.03), Some(0.06), Some(0.06), Some(0.02), None];
        for (found, wanted) in found.iter().zip(wanted) {
            let close = |(a, b): (f64, f64)| (a - b).abs() < 1e-12;
            assert!(
                found
                    .zip(wanted)
                    .map_or(found.is_none() == wanted.is_none(), close)
            );
        }
    }

    fn ratio(value: f64, noise: f64) -> Option<Ratio> {
        let off = [0.0, 1.0, -1.0, 0.5, -0.5, 0.2, -0.2];
        let pairs = off.map(|off| (value * (noise * off).exp(), 1.0));
        paired(&pairs).ok()
    }

    #[test]
    fn a_verdict_is_one_of_three() {
        let floor = Some(Floor::from_log(0.005));
        let judge = |ratio, floor| verdicts(&[(ratio, floor)], ALPHA)[0];
        assert_eq!(judge(ratio(1.05, 0.01), floor), Verdict::Different);
        assert_eq!(judge(ratio(0.95, 0.01), floor), Verdict::Different);
        assert_eq!(judge(ratio(1.003, 0.01), floor), Verdict::Equivalent);
        assert_eq!(judge(ratio(1.003, 0.1), floor), Verdict::Undecided);
        assert_eq!(judge(ratio(1.05, 0.01), None), Verdict::Uncontrolled);
        assert_eq!(judge(None, floor), Verdict::TooFew);
        assert_eq!(judge(paired(&[(2.0, 1.0); 4]).ok(), floor), Verdict::TooFew);
        // A floor is what is shown, and no hurdle beside the test.
        let loud = Some(Floor::from_log(0.1));
        assert_eq!(judge(ratio(1.05, 0.01), loud), Verdict::Different);
    }

    #[test]
    fn the_range_of_several_is_that_of_the_tables() {
        // R: ptukey(c(3.6332, 4.4741, 4.5517), c(4, 10, 11), Inf, lower.tail = FALSE) is 0.05.
        for (rows, reach) in [(4, 3.633_2), (10, 4.474_1), (11, 4.551_7)] {
            let chance = 2.0 * upper(reach / std::f64::consts::SQRT_2, f64::INFINITY);
            let found = range_chance(chance, rows);
            assert!((found - 0.05).abs() < 5e-4, "{rows}: {found}");
        }
        // Two rows are one pair.
        assert!((range_chance(0.03, 2) - 0.03).abs() < 1e-4);
    }

    #[test]
    fn pairs_are_judged_by_their_range_and_never_harder_than_by_holm() {
        let family = |among| Family { count: 55, among };
        let (pairs, any) = (family(Some(11)), family(None));
        assert!(pairs.level(ALPHA) > 1.2 * any.level(ALPHA));
        let chances = || (0..55).map(|at| Some(0.0005 * f64::from(at + 1)));
        let both = pairs
            .adjusted(chances())
            .into_iter()
            .zip(any.adjusted(chances()));
        assert!(both.clone().all(|(one, other)| one <= other));
        assert!(both.clone().any(|(one, other)| one < other));
    }

    #[test]
    fn of_many_each_must_be_surer() {
        let floor = Some(Floor::from_log(0.0));
        let one = (ratio(1.02, 0.02), floor);
        assert_eq!(verdicts(&[one], ALPHA)[0], Verdict::Different);
        let mut many = vec![(ratio(1.0, 0.02), floor); 200];
        many.push(one);
        assert_eq!(verdicts(&many, ALPHA)[200], Verdict::Undecided);
    }
}
