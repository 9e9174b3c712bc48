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
//! how they depend on each other: all ratios are to one baseline. Benjamini and
//! Hochberg's procedure promises that few of the differences shown are false,
//! and breaks the first promise in every campaign that shows any.

use crate::noise::Floor;
use crate::ratio::Ratio;

/// How often anything at all may be called different in a campaign of
/// identical cells.
pub const ALPHA: f64 = 0.05;

/// The part of [`ALPHA`] that a report's cells have; its means have the other.
pub(crate) const ALPHA_PART: f64 = ALPHA / 2.0;

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

/// The verdicts on all ratios of a table: together they err in one of `1 / alpha`
/// tables.
pub(crate) fn verdicts(table: &[Judged], alpha: f64) -> Vec<Verdict> {
    let error =
        |ratio: &Option<Ratio>| Some((ratio.as_ref()?.value.ln(), ratio.as_ref()?.error.ok()?));
    let differ = adjusted(table.iter().map(|(ratio, _)| {
        let (log, error) = error(ratio)?;
        Some(error.chance_of(log))
    }));
    let agree = adjusted(table.iter().map(|(ratio, _)| {
        let (log, error) = error(ratio)?;
        Some(error.chance_within(log, DELTA.ln_1p()))
    }));
    let each = table.iter().zip(differ.into_iter().zip(agree));
    each.map(|((ratio, floor), chances)| {
        let (Some(ratio), (Some(differ), Some(agree))) = (ratio, chances) else {
            return Verdict::TooFew;
        };
        let Some(floor) = floor else {
            return Verdict::Uncontrolled;
        };
        if differ <= alpha && floor.is_exceeded_by(ratio.value) {
            Verdict::Different
        } else if agree <= alpha && floor.relative() < DELTA {
            Verdict::Equivalent
        } else {
            Verdict::Undecided
        }
    })
    .collect()
}

/// The difference that each ratio of a table of `count` would have shown eight
/// times of ten, relative: 0.03 for 3 %.
pub(crate) fn detectable(ratio: &Ratio, count: usize, alpha: f64) -> Option<f64> {
    let error = ratio.error.ok()?;
    Some(error.detectable(alpha / count.max(1) as f64).exp_m1())
}

/// Chances adjusted for being the smallest of so many, by Holm: each is at most
/// `alpha` only if it, and all smaller ones, would be so by their share of it.
/// What is no comparison takes no share.
fn adjusted(chances: impl Iterator<Item = Option<f64>>) -> Vec<Option<f64>> {
    let mut all: Vec<Option<f64>> = chances.collect();
    let mut order: Vec<usize> = (0..all.len()).filter(|at| all[*at].is_some()).collect();
    let chance = |all: &[Option<f64>], at: usize| all[at].unwrap_or(1.0);
    order.sort_by(|one, other| chance(&all, *one).total_cmp(&chance(&all, *other)));
    let mut largest: f64 = 0.0;
    for (rank, at) in order.iter().enumerate() {
        let share = (order.len() - rank) as f64;
        largest = largest.max((share * chance(&all, *at)).min(1.0));
        all[*at] = Some(largest);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio::paired;

    #[test]
    fn chances_are_adjusted_as_in_the_literature() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
        let all = [0.01, 0.04, 0.03, 0.005].map(Some);
        let found = adjusted(all.into_iter().chain([None]));
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
        // A difference inside the floor, and one that a loud floor hides.
        let loud = Some(Floor::from_log(0.1));
        assert_eq!(judge(ratio(1.05, 0.01), loud), Verdict::Undecided);
        assert_eq!(judge(ratio(1.003, 0.01), loud), Verdict::Undecided);
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
