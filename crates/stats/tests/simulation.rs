//! A small part of what `examples/simulate` shows at length: under each noise a
//! campaign of identical cells says nothing, its intervals hold the truth, and
//! what is really different is found.
//!
//! The seeds are fixed, so what is checked does not flicker.

#[path = "../examples/simulate/noise.rs"]
mod noise;
#[path = "../examples/simulate/trial.rs"]
mod trial;
#[path = "../examples/simulate/world.rs"]
mod world;

use fathom_record::Estimator;
use fathom_stats::rng::Rng;
use fathom_stats::{Figure, RowHalves, Summary};
use noise::Noise;
use trial::{Gate, Told};
use world::{Controls, World};

const TRIALS: u32 = 8;
const SEED: u64 = 14;

fn world(noise: Noise, rounds: usize) -> World {
    World {
        noise,
        cells: 200,
        workloads: 20,
        rounds,
        estimator: Estimator::FasterHalf,
        controls: Controls::Every,
        planted: 0.0,
        row_slower: 0.0,
        width: None,
        detect: None,
        held: 3,
    }
}

#[test]
fn identical_cells_are_not_called_different_and_are_covered() {
    for noise in Noise::ALL {
        for rounds in [5, 9] {
            let told = Told::of(&world(noise, rounds), TRIALS, SEED);
            let what = format!(
                "{} ({}), {rounds} rounds: {told:?}",
                noise.name(),
                noise.help()
            );
            assert!(told.campaigns_different <= 1, "{what}");
            let covered = |part: u32, of: u32| f64::from(part) / f64::from(of);
            assert!(covered(told.covered, told.cells) > 0.9, "{what}");
            assert!(covered(told.means_covered, told.means) > 0.8, "{what}");
        }
    }
}

#[test]
fn what_is_planted_is_found_on_a_quiet_machine() {
    // Half of the rounds say less where noise is even: what it costs.
    for (estimator, rounds) in [(Estimator::Mean, 9), (Estimator::FasterHalf, 16)] {
        let planted = World {
            planted: 0.03,
            estimator,
            ..world(Noise::Independent, rounds)
        };
        let told = Told::of(&planted, TRIALS, SEED);
        assert!(told.found + 1 >= TRIALS, "{estimator}: {told:?}");
        assert!(told.seen_mean < 0.01 && told.seen_cell < 0.03, "{told:?}");
    }
}

/// What the faster half is for.
#[test]
fn rows_that_differ_a_little_are_told_apart_on_a_disturbed_machine() {
    let by = |estimator| {
        let slower = World {
            row_slower: 0.015,
            estimator,
            ..world(Noise::OneSided, 10)
        };
        Told::of(&slower, TRIALS, SEED)
    };
    let (half, mean) = (by(Estimator::FasterHalf), by(Estimator::Mean));
    assert!(half.found_mean + 1 >= TRIALS, "{half:?}");
    assert!(mean.found_mean <= 1, "{mean:?}");
    assert!(
        half.half_widths < 0.2 * mean.half_widths,
        "{half:?} {mean:?}"
    );
}

/// Stopping where an interval is narrow makes it no liar.
#[test]
fn cells_that_are_measured_until_they_are_known_are_covered_too() {
    // By the mean and where rows differ in noise, a cell that is left alone at 1 % makes the
    // noisiest ones' smallest difference 5.69 % instead of 5.71 %: not the same.
    for (estimator, noise, width) in [
        (Estimator::Mean, Noise::Independent, 0.01),
        (Estimator::FasterHalf, Noise::Independent, 0.02),
        (Estimator::FasterHalf, Noise::Uneven, 0.02),
    ] {
        let all = World {
            estimator,
            ..world(noise, 9)
        };
        let until = World {
            width: Some(width),
            ..all
        };
        until_known(&until, &all);
    }
}

fn until_known(until: &World, all: &World) {
    let noise = all.noise;
    let told = Told::of(until, TRIALS / 2, SEED);
    let what = format!("{} ({}): {told:?}", noise.name(), noise.help());
    assert!(told.campaigns_different <= 1, "{what}");
    assert!(
        f64::from(told.covered) > 0.93 * f64::from(told.cells),
        "{what}"
    );
    // Fewer rounds than nine of everything: quiet cells are known less well, and
    // what is seen in the noisiest, which are never known so well, is the same.
    let all = Told::of(all, TRIALS / 2, SEED);
    assert!(told.seen_cell >= all.seen_cell, "{what} {all:?}");
    assert!(told.equivalent < all.equivalent, "{what} {all:?}");
}

/// Rounds that go on until a difference would be found: that they end in a quiet moment makes
/// no difference out of none, and what they are said to find they find.
#[test]
fn rounds_that_end_when_a_difference_would_be_found_find_none_that_is_not() {
    const CAMPAIGNS: u32 = 40;
    let noises = [
        Noise::Independent,
        Noise::Serial,
        Noise::Interfered,
        Noise::OneSided,
    ];
    let (mut different, mut reached, mut found) = (0, 0, 0);
    for noise in noises {
        let same = World {
            cells: 2,
            workloads: 1,
            detect: Some(0.03),
            ..world(noise, 20)
        };
        let slower = World {
            row_slower: 0.03,
            ..same
        };
        let told = Told::of(&same, CAMPAIGNS, SEED);
        assert!(told.rounds < 20 * CAMPAIGNS, "{}: {told:?}", noise.name());
        different += told.campaigns_different;
        reached += told.reached;
        found += Told::of(&slower, CAMPAIGNS / 2, SEED).pairs_different;
    }
    let all = CAMPAIGNS * noises.len() as u32;
    assert!(different <= all / 20, "{different} of {all}");
    assert!(reached > all * 3 / 4, "{reached} of {all}");
    assert!(found >= all / 2 * 4 / 5, "{found} of {}", all / 2);
}

#[test]
fn a_gate_that_can_be_left_switched_on() {
    let refused = |slower: f64| {
        let machine = if slower > 0.0 { -0.06 } else { 0.0 };
        let gate = Gate { slower, machine };
        gate.refused(&world(Noise::Independent, 5), TRIALS, SEED)
    };
    assert!(refused(0.0) <= 1, "identical campaigns");
    assert_eq!(
        refused(0.03),
        TRIALS,
        "3 % behind a machine that is 6 % faster"
    );
}

#[test]
fn one_control_of_a_quiet_row_does_not_make_noisy_rows_sure() {
    let told = Told::of(
        &World {
            controls: Controls::First,
            ..world(Noise::Uneven, 9)
        },
        TRIALS,
        SEED,
    );
    assert!(told.campaigns_different <= 1, "{told:?}");
}

/// The slow halves of a campaign's rows, the baseline first.
fn halves(world: &World, trial: u32) -> Vec<RowHalves> {
    let mut rng = Rng::new(SEED, u64::from(trial));
    let summary = Summary::from_campaign(&world.draw(&mut rng, 0.0).campaign);
    let rows: Vec<_> = summary.rows.iter().map(|row| &row.row).collect();
    summary.halves(Figure::Kernel, &rows)
}

/// A suite and a single program, of seven engines beside native code.
fn of_seven(noise: Noise, workloads: usize, rounds: usize) -> World {
    World {
        cells: 7 * workloads,
        workloads,
        controls: Controls::First,
        ..world(noise, rounds)
    }
}

#[test]
fn what_slows_all_rows_alike_makes_none_stand_out() {
    // In these one row in two is slow by itself.
    let differ = |noise: &Noise| {
        let named = [Noise::Uneven, Noise::BimodalOne, Noise::BimodalUnevenOne];
        named.contains(noise)
    };
    for noise in Noise::ALL.into_iter().filter(|noise| !differ(noise)) {
        for (workloads, rounds, trials) in [(20, 6, TRIALS), (1, 10, 40), (1, 30, 40)] {
            let world = of_seven(noise, workloads, rounds);
            let apart = |trial: &u32| {
                let halves = halves(&world, *trial);
                halves.iter().any(|half| half.apart.is_some())
            };
            let told = (0..trials).filter(apart).count();
            let what = format!("{}, {workloads} of {rounds} rounds", noise.name());
            assert!(told <= 1, "{what}: {told}");
        }
    }
}

#[test]
fn a_row_that_is_slow_in_half_of_its_layouts_stands_out() {
    for (workloads, rounds) in [(20, 6), (20, 14), (1, 30)] {
        let world = of_seven(Noise::BimodalOne, workloads, rounds);
        let mut found = 0;
        for halves in (0..TRIALS).map(|trial| halves(&world, trial)) {
            for (at, half) in halves.iter().enumerate() {
                let is_slow = at % 2 == 1;
                found += u32::from(is_slow && half.apart.is_some());
                assert!(is_slow || half.apart.is_none(), "{at}: {half:?}");
            }
        }
        let rows = 4 * TRIALS;
        let least = if workloads > 1 { rows - 2 } else { rows / 3 };
        assert!(
            found >= least,
            "{workloads} of {rounds} rounds: {found} of {rows}"
        );
    }
}

#[test]
fn the_children_that_something_outside_slowed_are_counted() {
    for (noise, low, high) in [
        (Noise::Independent, 0.0, 0.001),
        (Noise::Interfered, 0.06, 0.10),
        (Noise::Bursts, 0.27, 0.33),
        (Noise::OneSided, 0.05, 0.12),
    ] {
        let halves = halves(&of_seven(noise, 20, 14), 0);
        let all = halves.iter().map(|half| half.children);
        let all = all.reduce(|one, other| one.with(other)).unwrap();
        assert_eq!(all.all, 9 * 20 * 14);
        let share = all.share().unwrap();
        assert!((low..high).contains(&share), "{}: {share}", noise.name());
    }
}
