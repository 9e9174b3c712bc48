//! Ratios: known answers, and what must hold of any values.

mod common;

use common::normal;
use fathom_stats::ratio::{Logs, geomean, paired, unpaired};
use fathom_stats::rng::Rng;
use fathom_stats::{Floor, NoEstimate, Verdict};
use proptest::prelude::*;

#[test]
fn constant_ratios_are_known_exactly() {
    let ratio = paired(&[(2.0, 1.0), (20.0, 10.0), (6.0, 3.0)]).unwrap();
    let interval = ratio.interval.unwrap();
    for value in [ratio.value, interval.low, interval.high] {
        assert!((value - 2.0).abs() < 1e-12, "{value}");
    }
    assert_eq!((ratio.rounds, ratio.workloads), (3, 1));
}

#[test]
fn one_wild_round_of_five_moves_the_estimate_little() {
    let calm = [(1.01, 1.0), (1.02, 1.0), (1.00, 1.0), (1.03, 1.0)];
    let mut wild = calm.to_vec();
    wild.push((9.0, 1.0));
    let (calm, wild) = (paired(&calm).unwrap(), paired(&wild).unwrap());
    assert!(
        (wild.value / calm.value).ln().abs() < 0.02,
        "{} {}",
        wild.value,
        calm.value
    );
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
    let double = Logs::paired(&[(2.0, 1.0), (2.0, 1.0)], "a").unwrap();
    let half = Logs::paired(&[(1.0, 2.0), (1.0, 2.0)], "b").unwrap();
    let mean = geomean(&[&double, &half]).unwrap();
    assert!((mean.value - 1.0).abs() < 1e-12);
    assert_eq!((mean.rounds, mean.workloads), (2, 2));
    assert!(
        mean.interval.is_ok(),
        "two workloads of two rounds have two degrees of freedom"
    );
}

#[test]
fn too_little_is_said_to_be_too_little() {
    let few = |have, need| NoEstimate::TooFewSamples { have, need };
    assert_eq!(paired(&[]), Err(few(0, 1)));
    assert_eq!(geomean(&[]).unwrap_err(), few(0, 1));
    assert_eq!(unpaired(&[]).unwrap_err(), few(0, 1));
    let one = paired(&[(3.0, 2.0)]).unwrap();
    assert!((one.value - 1.5).abs() < 1e-12);
    assert_eq!(one.interval, Err(few(1, 3)));
    assert_eq!(
        paired(&[(3.0, 2.0), (3.0, 2.0)]).unwrap().interval,
        Err(few(2, 3))
    );
    let single = Logs::paired(&[(3.0, 2.0)], "").unwrap();
    let several = Logs::paired(&[(3.0, 2.0); 9], "").unwrap();
    assert_eq!(
        geomean(&[&single, &several]).unwrap().interval,
        Err(few(1, 2))
    );
    assert_eq!(few(1, 3).to_string(), "too few rounds (1, needs 3)");
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

#[test]
fn a_verdict_needs_an_interval_a_floor_and_a_difference() {
    let sure =
        |value: f64| paired(&[(value, 1.0), (value * 1.001, 1.0), (value * 0.999, 1.0)]).unwrap();
    let floor = Some(Floor::from_log(0.02));
    assert_eq!(Verdict::of(&sure(1.05), floor), Verdict::Real);
    assert_eq!(Verdict::of(&sure(0.95), floor), Verdict::Real);
    assert_eq!(Verdict::of(&sure(1.015), floor), Verdict::WithinNoise);
    assert_eq!(Verdict::of(&sure(1.05), None), Verdict::Uncontrolled);
    assert_eq!(Verdict::of(&sure(1.0), None), Verdict::WithinNoise);
    assert_eq!(
        Verdict::of(&paired(&[(2.0, 1.0)]).unwrap(), floor),
        Verdict::TooFewSamples
    );
}

fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    proptest::collection::vec((1.0..1e9, 1.0..1e9), 3..11)
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
        prop_assert_eq!(paired(&pairs), paired(&turned));
    }

    #[test]
    fn a_cell_against_itself_is_one(pairs in pairs()) {
        let same: Vec<(f64, f64)> = pairs.iter().map(|(a, _)| (*a, *a)).collect();
        let ratio = paired(&same).unwrap();
        prop_assert_eq!(ratio.value, 1.0);
        prop_assert!(ratio.interval.unwrap().contains(1.0));
        prop_assert_eq!(Verdict::of(&ratio, Some(Floor::from_log(0.0))), Verdict::WithinNoise);
    }

    #[test]
    fn the_order_of_workloads_changes_nothing(many in proptest::collection::vec(pairs(), 1..6)) {
        let logs: Vec<Logs> = many.iter().enumerate().map(|(index, pairs)| Logs::paired(pairs, &index.to_string()).unwrap()).collect();
        let forward: Vec<&Logs> = logs.iter().collect();
        let backward: Vec<&Logs> = logs.iter().rev().collect();
        let (one, other) = (geomean(&forward).unwrap(), geomean(&backward).unwrap());
        prop_assert!(close(one.value, other.value));
        prop_assert!(close(one.interval.unwrap().high, other.interval.unwrap().high));
    }

    #[test]
    fn any_bits_are_answered(bits in proptest::collection::vec((any::<u64>(), any::<u64>()), 0..6)) {
        let pairs: Vec<(f64, f64)> = bits.into_iter().map(|(a, b)| (f64::from_bits(a), f64::from_bits(b))).collect();
        if let Ok(ratio) = paired(&pairs) {
            prop_assert!(ratio.value >= 0.0);
            let _ = (Verdict::of(&ratio, Some(Floor::from_log(f64::NAN))), ratio.half_width(), Floor::of(&ratio));
        }
    }
}

#[test]
fn identical_cells_are_hardly_ever_called_different() {
    let mut rng = Rng::new(7, 7);
    let mut pairs = |count: usize| -> Vec<(f64, f64)> {
        (0..count)
            .map(|_| {
                (
                    (0.01 * normal(&mut rng)).exp(),
                    (0.01 * normal(&mut rng)).exp(),
                )
            })
            .collect()
    };
    let mut real = 0;
    for _ in 0..400 {
        let floor = Floor::of(&paired(&pairs(5)).unwrap());
        let ratio = paired(&pairs(5)).unwrap();
        real += u32::from(Verdict::of(&ratio, floor) == Verdict::Real);
    }
    println!("called real: {real} of 400");
    assert!(real <= 8, "{real} of 400");
}
