//! Figures that are counted, of which few rounds say much.
//!
//! A time is known by how its rounds scatter. A count of instructions hardly scatters at all:
//! two runs of one build agree within 0.1 % (docs/COUNTS.md has the table by engine), and two
//! rounds that happen to agree to the digit say nothing of how well they do. So each side of
//! a ratio of counts has a **variance that rounds do not show**, known beforehand, beside what
//! they show: two rounds are enough to tell 1 % from nothing, and equal counts are no proof.

use crate::figure::Figure;
use crate::interval::ROUNDS_MIN;

/// What the logarithm of a count may be off by: that of a ratio of two is then within 0.1 %
/// nineteen times of twenty.
pub const DEVIATION: f64 = 0.000_35;

/// What the logarithm of a single count reaches to either side, with 95 %.
pub(crate) const REACH: f64 = 1.96 * DEVIATION;

/// Rounds below which nothing is said of a count: what two agree in is its repeatability.
pub const ROUNDS_MIN_COUNT: usize = 2;

/// Whether a figure is counted, so that it is the same each time but for a little.
pub fn is_exact(figure: Figure) -> bool {
    figure == Figure::Instructions
}

/// Rounds below which nothing has an interval in a figure.
pub fn rounds_min(figure: Figure) -> usize {
    match is_exact(figure) {
        true => ROUNDS_MIN_COUNT,
        false => ROUNDS_MIN,
    }
}

/// The variance of a figure's logarithm that rounds do not show; none of a time's.
pub(crate) fn variance(figure: Figure) -> f64 {
    match is_exact(figure) {
        true => DEVIATION * DEVIATION,
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Floor;
    use crate::ratio::{self, Logs};
    use crate::verdict::{ALPHA, Verdict, verdicts};

    fn judged(figure: Figure, pairs: &[(f64, f64)]) -> Verdict {
        let logs = Logs::paired(pairs).unwrap().of_figure(figure, 2);
        let ratio = ratio::geomean(&[logs]).unwrap();
        verdicts(&[(Some(ratio), Some(Floor::from_log(0.0)))], ALPHA)[0]
    }

    #[test]
    fn two_rounds_of_a_count_tell_one_per_cent_from_nothing() {
        let counts = |pairs| judged(Figure::Instructions, pairs);
        assert_eq!(counts(&[(1.0101, 1.0), (1.01, 1.0003)]), Verdict::Different);
        assert_eq!(counts(&[(0.99, 1.0), (0.9902, 1.0)]), Verdict::Different);
        assert_eq!(counts(&[(1.0004, 1.0), (0.9996, 1.0)]), Verdict::Equivalent);
        assert_eq!(judged(Figure::Run, &[(1.01, 1.0); 2]), Verdict::TooFew);
    }

    #[test]
    fn counts_that_agree_to_the_digit_are_no_proof() {
        let counts = |ratio| judged(Figure::Instructions, &[(ratio, 1.0); 2]);
        assert_eq!(counts(1.0), Verdict::Equivalent);
        assert_eq!(counts(1.0008), Verdict::Equivalent);
        assert_eq!(counts(1.002), Verdict::Different);
        let one = judged(Figure::Instructions, &[(1.5, 1.0)]);
        assert_eq!(one, Verdict::TooFew);
    }
}
