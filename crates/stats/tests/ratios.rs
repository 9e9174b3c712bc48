//! Ratios: known answers, and what must hold of any values.

mod common;

use fathom_stats::ratio::{Logs, geomean, paired};
use fathom_stats::{Floor, NoEstimate};
use proptest::prelude::*;

#[test]
fn constant_ratios_are_known_exactly() {
    let pairs = [(2.0, 1.0), (20.0, 10.0), (6.0, 3.0), (4.0, 2.0), (8.0, 4.0)];
    let ratio = paired(&pairs).unwrap();
    let interval = ratio.interval.unwrap();
    for value in [ratio.value, interval.low, interval.high] {
        assert!((value - 2.0).abs() < 1e-12, "{value}");
    }
    assert_eq!((ratio.rounds, ratio.workloads), (5, 1));
}

#[test]
fn rounds_in_common_cancel() {
    // Each round is off by up to a factor of 4, both cells alike.
    let pairs: Vec<(f64, f64)> = [1.0, 4.0, 2.0, 0.5, 3.0]
        .into_iter()
        .zip([1.0, 1.001, 0.999, 1.0, 1.0005])
        .map(|(round, off)| (1.2 * round * off, round))
        .collect();
    let interval = paired(&pairs).unwrap().interval.unwrap();
    assert!(interval.low > 1.19 && interval.high < 1.21, "{interval:?}");
}

#[test]
fn a_mean_over_workloads_is_geometric() {
    let double = Logs::paired(&[(2.0, 1.0); 5]).unwrap();
    let half = Logs::paired(&[(1.0, 2.0); 6]).unwrap();
    let mean = geomean(&[double, half]).unwrap();
    assert!((mean.value - 1.0).abs() < 1e-12);
    assert_eq!((mean.rounds, mean.workloads), (5, 2));
    assert!(mean.interval.is_ok());
}

#[test]
fn an_interval_is_that_of_student() {
    // By hand: the mean of the logarithms ± 2.776445 standard errors.
    let pairs = [1.01, 1.02, 1.00, 1.03, 1.04].map(|one| (one, 1.0));
    let interval = paired(&pairs).unwrap().interval.unwrap();
    assert!(
        (interval.low.ln() - 0.000_456_6).abs() < 1e-5,
        "{interval:?}"
    );
    assert!(
        (interval.high.ln() - 0.038_956_4).abs() < 1e-5,
        "{interval:?}"
    );
}

#[test]
fn what_rounds_do_not_show_widens_and_is_divided_among_workloads() {
    let one = || {
        Logs::paired(&[(2.0, 1.0); 5])
            .unwrap()
            .with_systematic(0.02 * 0.02)
    };
    let error = |logs: &[Logs]| geomean(logs).unwrap().error.unwrap().log;
    assert!((error(&[one()]) - 0.02).abs() < 1e-9);
    assert!((error(&[one(), one(), one(), one()]) - 0.01).abs() < 1e-9);
}

#[test]
fn too_little_is_said_to_be_too_little() {
    let few = |have, need| NoEstimate::TooFewSamples { have, need };
    assert_eq!(paired(&[]), Err(few(0, 1)));
    assert_eq!(geomean(&[]).unwrap_err(), few(0, 1));
    let one = paired(&[(3.0, 2.0)]).unwrap();
    assert!((one.value - 1.5).abs() < 1e-12);
    assert_eq!(one.interval, Err(few(1, 5)));
    assert_eq!(paired(&[(3.0, 2.0); 4]).unwrap().interval, Err(few(4, 5)));
    let four = Logs::paired(&[(3.0, 2.0); 4]).unwrap();
    let several = Logs::paired(&[(3.0, 2.0); 9]).unwrap();
    assert_eq!(geomean(&[four, several]).unwrap().interval, Err(few(4, 5)));
    assert_eq!(few(1, 5).to_string(), "too few rounds (1, needs 5)");
}

#[test]
fn what_has_no_logarithm_has_no_ratio() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            paired(&[(1.0, 1.0), (bad, 1.0)]),
            Err(NoEstimate::NotPositive),
            "{bad}"
        );
        assert_eq!(
            paired(&[(1.0, 1.0), (1.0, bad)]),
            Err(NoEstimate::NotPositive),
            "{bad}"
        );
    }
}

fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    proptest::collection::vec((1.0..1e9, 1.0..1e9), 5..11)
}

fn close(one: f64, other: f64) -> bool {
    (one.ln() - other.ln()).abs() < 1e-9
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_estimate_lies_in_its_interval_and_among_the_rounds(pairs in pairs()) {
        let ratio = paired(&pairs).unwrap();
        prop_assert!(ratio.interval.unwrap().contains(ratio.value));
        let low = pairs.iter().map(|(a, b)| a / b).fold(f64::INFINITY, f64::min);
        let high = pairs.iter().map(|(a, b)| a / b).fold(0.0, f64::max);
        prop_assert!(low * 0.999_999 <= ratio.value && ratio.value <= high * 1.000_001);
    }

    #[test]
    fn a_faster_clock_changes_nothing(pairs in pairs(), scale in 1e-3..1e3) {
        let scaled: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (a * scale, b * scale)).collect();
        let (one, other) = (paired(&pairs).unwrap(), paired(&scaled).unwrap());
        prop_assert!(close(one.value, other.value));
        prop_assert!(close(one.interval.unwrap().low, other.interval.unwrap().low));
        prop_assert!(close(one.interval.unwrap().high, other.interval.unwrap().high));
    }

    #[test]
    fn the_order_of_rounds_changes_nothing(pairs in pairs(), by in 0usize..10) {
        let mut turned = pairs.clone();
        let length = turned.len();
        turned.rotate_left(by % length);
        let (one, other) = (paired(&pairs).unwrap(), paired(&turned).unwrap());
        prop_assert!(close(one.value, other.value));
        prop_assert!(close(one.interval.unwrap().low, other.interval.unwrap().low));
    }

    #[test]
    fn a_cell_against_itself_is_one(pairs in pairs()) {
        let same: Vec<(f64, f64)> = pairs.iter().map(|(a, _)| (*a, *a)).collect();
        let ratio = paired(&same).unwrap();
        prop_assert_eq!(ratio.value, 1.0);
        prop_assert!(ratio.interval.unwrap().contains(1.0));
    }

    #[test]
    fn the_order_of_workloads_changes_nothing(many in proptest::collection::vec(pairs(), 1..6)) {
        let forward: Vec<Logs> = many.iter().map(|pairs| Logs::paired(pairs).unwrap()).collect();
        let backward: Vec<Logs> = forward.iter().rev().cloned().collect();
        let (one, other) = (geomean(&forward).unwrap(), geomean(&backward).unwrap());
        prop_assert!(close(one.value, other.value));
        prop_assert!(close(one.interval.unwrap().high, other.interval.unwrap().high));
    }

    #[test]
    fn any_bits_are_answered(bits in proptest::collection::vec((any::<u64>(), any::<u64>()), 0..6)) {
        let pairs: Vec<(f64, f64)> = bits.into_iter().map(|(a, b)| (f64::from_bits(a), f64::from_bits(b))).collect();
        if let Ok(ratio) = paired(&pairs) {
            prop_assert!(ratio.value >= 0.0);
            let _ = (ratio.interval, Floor::of(&ratio));
        }
    }
}
