//! Made-up histories: noise alone, and steps of known size and place.

use super::*;
use crate::rng::Rng;

const ALPHA: f64 = 0.05;

/// A normal value (Box and Muller).
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// How campaigns scatter.
#[derive(Clone, Copy, Debug)]
enum World {
    /// As their own rounds say, all alike.
    Rounds,
    /// By far more than their rounds say.
    Between,
    /// As their rounds say, some ten times as badly known as others.
    Uneven,
    /// With one campaign of ten five times as far off (Tukey's contaminated normal).
    Wild,
}

impl World {
    const ALL: [World; 4] = [World::Rounds, World::Between, World::Uneven, World::Wild];

    /// A campaign of this world; errors are about 1 %, of which rounds show all or a little.
    fn draw(self, rng: &mut Rng) -> Observation {
        let (error, scatter) = match self {
            World::Rounds => (0.01, 0.01),
            World::Between => (0.002, 0.01),
            World::Uneven => {
                let error = 0.002 * 10_f64.powf(rng.unit());
                (error, error)
            }
            World::Wild if rng.unit() < 0.1 => (0.005, 0.05),
            World::Wild => (0.005, 0.01),
        };
        let log = scatter * normal(rng);
        Observation { log, error }
    }

    fn series(self, rng: &mut Rng, len: usize) -> Vec<Observation> {
        (0..len).map(|_| self.draw(rng)).collect()
    }
}

#[test]
fn noise_alone_shows_a_change_in_one_history_of_twenty_at_most() {
    const TRIALS: usize = 1000;
    // What chance adds to 5 % of so many trials, at most once in a thousand such tests.
    let most = 0.05 * TRIALS as f64 + 3.1 * (0.05 * 0.95 * TRIALS as f64).sqrt();
    let mut all = 0;
    for world in World::ALL {
        for len in [4, 6, 10, 20, 60] {
            let mut rng = Rng::new(20, len as u64);
            let found = (0..TRIALS)
                .filter(|_| {
                    !segment(&world.series(&mut rng, len), ALPHA)
                        .changes
                        .is_empty()
                })
                .count();
            assert!(
                (found as f64) < most,
                "{world:?} {len}: {found} of {TRIALS}"
            );
            all += found;
        }
    }
    assert!(all > 0, "a test that never errs sees nothing");
}

#[test]
fn a_step_is_found_where_it_is_and_its_intervals_hold_it() {
    const TRIALS: usize = 400;
    for world in [World::Rounds, World::Between, World::Uneven] {
        let (mut found, mut holds, mut near, mut more) = (0, 0, 0, 0);
        let mut rng = Rng::new(21, 0);
        for _ in 0..TRIALS {
            let mut series = world.series(&mut rng, 20);
            for one in &mut series[12..] {
                one.log += 1.05_f64.ln();
            }
            let seen = segment(&series, ALPHA).changes;
            let nearest = seen.iter().min_by_key(|change| change.at.abs_diff(12));
            let Some(change) = nearest else {
                continue;
            };
            found += 1;
            more += usize::from(seen.len() > 1);
            holds += usize::from(change.interval.contains(1.05));
            near += usize::from((change.places.0..=change.places.1).contains(&12));
            assert!((change.places.0..=change.places.1).contains(&change.at));
        }
        let of = |count: usize| count as f64 / found as f64;
        assert!(found > TRIALS * 98 / 100, "{world:?}: {found} of {TRIALS}");
        assert!(of(holds) > 0.93, "{world:?}: {}", of(holds));
        assert!(of(near) > 0.93, "{world:?}: {}", of(near));
        assert!(of(more) < 0.07, "{world:?}: {}", of(more));
    }
}

#[test]
fn several_steps_are_told_apart() {
    let mut rng = Rng::new(22, 0);
    let mut series = World::Between.series(&mut rng, 40);
    for (at, one) in series.iter_mut().enumerate() {
        one.log += match at {
            0..10 => 0.0,
            10..25 => 0.2,
            _ => -0.1,
        };
    }
    let seen = segment(&series, ALPHA);
    let places: Vec<usize> = seen.changes.iter().map(|change| change.at).collect();
    assert_eq!(places, [10, 25]);
    assert!(seen.changes[0].ratio > 1.2 && seen.changes[1].ratio < 0.77);
    let stretches: Vec<(usize, usize)> = seen
        .stretches
        .iter()
        .map(|one| (one.from, one.to))
        .collect();
    assert_eq!(stretches, [(0, 10), (10, 25), (25, 40)]);
    let seen = seen.detectable.unwrap();
    assert!((0.005..0.05).contains(&seen), "{seen}");
}

#[test]
fn what_would_be_found_is_found_eight_times_of_ten() {
    const TRIALS: usize = 500;
    let quiet = vec![
        Observation {
            log: 0.0,
            error: 0.01
        };
        16
    ];
    let seen = segment(&quiet, ALPHA).detectable.unwrap();
    let mut rng = Rng::new(23, 0);
    let found = (0..TRIALS)
        .filter(|_| {
            let mut series = World::Rounds.series(&mut rng, 16);
            series[8..]
                .iter_mut()
                .for_each(|one| one.log += seen.ln_1p());
            !segment(&series, ALPHA).changes.is_empty()
        })
        .count();
    assert!((350..480).contains(&found), "{found} of {TRIALS}");
}

#[test]
fn one_campaign_that_is_off_is_no_change() {
    let mut rng = Rng::new(24, 0);
    for at in [0, 7, 14] {
        let mut series = World::Rounds.series(&mut rng, 15);
        series[at].log += 0.5;
        assert_eq!(segment(&series, ALPHA).changes, []);
    }
}

#[test]
fn no_series_is_too_odd() {
    let point = |log: f64, error: f64| Observation { log, error };
    assert_eq!(segment(&[], ALPHA), Segmentation::default());
    let one = segment(&[point(1.0, 0.1)], ALPHA);
    assert_eq!((one.changes.len(), one.stretches.len()), (0, 1));
    assert_eq!(
        segment(&[point(f64::NAN, 0.1); 9], ALPHA),
        Segmentation::default()
    );
    let same = segment(&[point(3.0, 0.0); 9], ALPHA);
    assert_eq!(same.changes, []);
    let mut step = vec![point(0.0, 0.0); 9];
    step[5..].fill(point(0.1, 0.0));
    let changes = segment(&step, ALPHA).changes;
    assert_eq!(
        (changes.len(), changes[0].at, changes[0].places),
        (1, 5, (5, 5))
    );
}
