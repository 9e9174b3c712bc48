//! How a ratio in the matrix of workloads and rows is tinted.

use fathom_stats::Verdict;

/// The class of a ratio to the baseline: `same` where no difference is known to
/// be real, `fast1…3` below 1, `slow1…5` above. The number itself always stands
/// in the field, so the tint only guides the eye.
pub fn class(ratio: f64, verdict: Option<Verdict>) -> &'static str {
    if !ratio.is_finite() {
        return "";
    }
    if ratio == 1.0 || verdict != Some(Verdict::Different) {
        return "same";
    }
    if ratio < 1.0 {
        return match ratio {
            ratio if ratio > 1.0 / 1.05 => "fast1",
            ratio if ratio > 1.0 / 1.25 => "fast2",
            _ => "fast3",
        };
    }
    match ratio {
        ratio if ratio < 1.05 => "slow1",
        ratio if ratio < 1.25 => "slow2",
        ratio if ratio < 1.6 => "slow3",
        ratio if ratio < 2.5 => "slow4",
        _ => "slow5",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tints_follow_the_ratio_and_respect_the_noise() {
        let ratios = [0.5, 0.9, 0.97, 1.0, 1.03, 1.1, 1.4, 2.0, 9.0, f64::NAN];
        assert_eq!(
            ratios
                .map(|ratio| class(ratio, Some(Verdict::Different)))
                .join(" "),
            "fast3 fast2 fast1 same slow1 slow2 slow3 slow4 slow5 "
        );
        assert_eq!(class(1.03, Some(Verdict::Undecided)), "same");
        assert_eq!(class(1.03, Some(Verdict::TooFew)), "same");
    }
}
