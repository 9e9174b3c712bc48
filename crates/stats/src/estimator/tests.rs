//! What a faster half is, and that its error is as large as it should be.

use super::*;
use crate::rng::Rng;

/// Nearly normal.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of the mean of values.
fn variance(values: &[f64]) -> f64 {
    let (n, middle) = (values.len() as f64, mean(values));
    let squares = values.iter().map(|x| (x - middle) * (x - middle));
    squares.sum::<f64>() / (n * (n - 1.0))
}

#[test]
fn the_faster_half_is_that_of_the_rounds_of_the_cell() {
    let logs = [0.3, 0.1, 9.0, 0.2, 7.0];
    let half = Series::of(&logs, Estimator::FasterHalf);
    assert!((mean(&half.values) - 0.2).abs() < 1e-12);
    assert_eq!(half.counted, 3);
    // Rounds stay where they are, and the slow ones are as slow as the slowest that counts.
    assert!((half.values[2] - half.values[0]).abs() < 1e-12);
    assert!(half.values[1] < half.values[3] && half.values[3] < half.values[0]);
    let all = Series::of(&logs, Estimator::Mean);
    assert_eq!(
        (all.values, all.counted, all.depth),
        (logs.to_vec(), 5, 0.0)
    );
}

#[test]
fn its_error_is_that_of_yuen() {
    // By hand: winsorised 1 2 3 3 3, squares 3.2; trimmed to 3 of 5: 3.2 / (3 · 2).
    let half = Series::of(&[1.0, 2.0, 3.0, 50.0, 60.0], Estimator::FasterHalf);
    assert!((variance(&half.values) - 3.2 / 6.0).abs() < 1e-12);
    assert!((mean(&half.values) - 2.0).abs() < 1e-12);
}

#[test]
fn errors_are_as_large_as_they_should_be_and_depth_is_known() {
    let mut rng = Rng::new(3, 4);
    for rounds in [5, 6, 10, 15] {
        let (mut squares, mut variances, mut middles) = (0.0, 0.0, 0.0);
        const TRIALS: u32 = 4_000;
        let all: Vec<Series> = (0..TRIALS)
            .map(|_| {
                let logs: Vec<f64> = (0..rounds).map(|_| normal(&mut rng)).collect();
                Series::of(&logs, Estimator::FasterHalf)
            })
            .collect();
        let whole = mean(&all.iter().map(|one| mean(&one.values)).collect::<Vec<_>>());
        for one in &all {
            squares += (mean(&one.values) - whole).powi(2);
            variances += variance(&one.values);
            middles += mean(&one.values) + one.depth;
        }
        let honest = squares / variances;
        assert!((0.85..1.12).contains(&honest), "{rounds} rounds: {honest}");
        let middle: f64 = middles / f64::from(TRIALS);
        assert!(middle.abs() < 0.05, "{rounds} rounds: {middle}");
    }
}

#[test]
fn what_is_too_little_for_a_half_is_taken_whole() {
    for logs in [&[][..], &[1.0], &[1.0, 2.0]] {
        let half = Series::of(logs, Estimator::FasterHalf);
        assert_eq!(half, Series::of(logs, Estimator::Mean));
    }
    let three = Series::of(&[1.0, 2.0, 3.0], Estimator::FasterHalf);
    assert_eq!(three.counted, 2);
}
