//! What a slow half is, and what chance explains.

use super::*;

#[test]
fn a_slow_half_is_over_the_fast_one() {
    let e = std::f64::consts::E;
    // Three count, of five; of six, too.
    assert_eq!(slow_half(&[1.0, e, 1.0, e, 1.0]), Some(e));
    let six = slow_half(&[1.0, e, 1.0, e, 1.0, 1.0]).unwrap();
    assert!((six.ln() - 2.0 / 3.0).abs() < 1e-12);
    for values in [&[1.0; 4][..], &[0.0; 5], &[1.0, 1.0, 1.0, 1.0, f64::NAN]] {
        assert_eq!(slow_half(values), None);
    }
}

#[test]
fn slowed_is_what_takes_a_twentieth_more_than_the_fastest_third() {
    let half = Half::of(&[90.0, 100.0, 103.0, 104.9, 105.1]).unwrap();
    assert!((half.floor - 100.0).abs() < 1e-9);
}

#[test]
fn chances_are_those_of_fisher() {
    let children = |slowed, all| Children { slowed, all };
    // By hand, from binomial coefficients.
    for (own, beside, chance) in [
        (children(3, 10), children(4, 70), 0.038_450),
        (children(0, 10), children(7, 70), 1.0),
        (children(10, 10), children(0, 10), 1.0 / 184_756.0),
    ] {
        let found = chance_of_more(own, beside);
        assert!((found / chance - 1.0).abs() < 1e-4, "{found} {chance}");
    }
    assert_eq!(children(0, 0).share(), None);
}
