//! Shards whose truth is known, merged: what the intervals hold, and what is refused.
//!
//! The seeds are fixed, so what is checked does not flicker.

mod common;

use common::{cell, normal, process, sample};
use fathom_record::campaign::ANEW;
use fathom_record::{Campaign, Cell, Header, Variant};
use fathom_stats::merge::{Merged, NoMerge, merge};
use fathom_stats::rng::Rng;
use fathom_stats::{Interval, Ratio, Summary, Verdict};

/// A campaign on several machines.
#[derive(Clone, Copy)]
struct World {
    shards: usize,
    anchors: usize,
    /// Workloads of each shard that are no anchors.
    own: usize,
    rounds: u32,
    /// Standard deviation of a round's logarithm.
    noise: f64,
    /// Of a machine's effect on a row.
    machine: f64,
    /// Of a machine's effect on one workload of a row.
    interaction: f64,
}

/// The usual one: machines differ by 3 %, and by 1 % for each workload.
const WORLD: World = World {
    shards: 3,
    anchors: 3,
    own: 6,
    rounds: 7,
    noise: 0.01,
    machine: 0.03,
    interaction: 0.01,
};

/// What each row truly takes of native's time, in the middle of the workloads.
const ROWS: [(&str, f64); 3] = [("none", 1.0), ("guard", 1.12), ("trap", 1.5)];

struct Drawn {
    shards: Vec<Summary>,
    anchors: Vec<String>,
    /// By row: the logarithm of each workload's ratio.
    truth: Vec<Vec<(String, f64)>>,
    /// By row: each machine's effect.
    machines: Vec<Vec<f64>>,
}

fn own_name(shard: usize, index: usize) -> String {
    format!("own-{shard}-{index}")
}

impl World {
    fn draw(&self, rng: &mut Rng) -> Drawn {
        let anchors: Vec<String> = (0..self.anchors).map(|at| format!("anchor-{at}")).collect();
        let own = (0..self.shards).flat_map(|s| (0..self.own).map(move |i| own_name(s, i)));
        let names: Vec<String> = anchors.iter().cloned().chain(own).collect();
        let truth = ROWS.map(|(_, ratio)| {
            let each = names.iter();
            let each = each.map(|name| (name.clone(), ratio.ln() + 0.2 * normal(rng)));
            each.collect::<Vec<_>>()
        });
        let machines = ROWS.map(|_| {
            let each: Vec<f64> = (0..self.shards)
                .map(|_| self.machine * normal(rng))
                .collect();
            let mean = each.iter().sum::<f64>() / each.len() as f64;
            each.iter().map(|one| one - mean).collect::<Vec<_>>()
        });
        let shards = (0..self.shards).map(|shard| {
            let own = (0..self.own).map(|index| own_name(shard, index));
            let names: Vec<String> = anchors.iter().cloned().chain(own).collect();
            self.shard(rng, &names, |row, name| {
                let same = truth[row].iter().find(|(other, _)| other == name).unwrap();
                same.1 + machines[row][shard]
            })
        });
        Drawn {
            shards: shards.collect(),
            anchors: anchors
                .iter()
                .map(|name| format!("polybench:{name}"))
                .collect(),
            truth: truth.to_vec(),
            machines: machines.to_vec(),
        }
    }

    fn shard(&self, rng: &mut Rng, names: &[String], log: impl Fn(usize, &str) -> f64) -> Summary {
        let mut cells: Vec<(Cell, f64)> = Vec::new();
        for name in names {
            cells.push((cell("native", "none", Variant::Native, name, 1), 0.0));
            for (row, (strategy, _)) in ROWS.iter().enumerate() {
                let log = log(row, name) + self.interaction * normal(rng);
                let own = cell("fathom", strategy, Variant::Wasm, name, 1);
                cells.push((own.control(), log));
                cells.push((own, log));
            }
        }
        let header = Header {
            cells: cells.iter().map(|(cell, _)| cell.clone()).collect(),
            ..common::header(0, 1)
        };
        let mut campaign = Campaign::new(header);
        // No allowance for layouts: intervals are to hold by what is estimated.
        campaign.header.config.layout_varies = true;
        campaign.header.config.layouts.insert(Variant::Native, ANEW);
        for (cell, log) in &cells {
            for round in 0..self.rounds {
                let ns = 1e9 * (log + self.noise * normal(rng)).exp();
                campaign.push(sample(&cell.id(), round, 0, 0, ns as u64));
                campaign.push(process(&cell.id(), round));
            }
        }
        Summary::from_campaign(&campaign)
    }
}

/// How often intervals held the truth: means, workloads, machines.
#[derive(Debug, Default)]
struct Held {
    means: (u32, u32),
    cells: (u32, u32),
    machines: (u32, u32),
    /// Campaigns in which machines were said to differ.
    machines_differ: u32,
}

fn count(held: &mut (u32, u32), ratio: &Ratio, truth: f64) {
    let Interval { low, high } = ratio.interval.unwrap();
    held.0 += u32::from((low.ln()..=high.ln()).contains(&truth));
    held.1 += 1;
}

fn held(world: World, campaigns: u32, seed: u64) -> Held {
    let mut rng = Rng::new(seed, 0);
    let mut held = Held::default();
    for _ in 0..campaigns {
        let drawn = world.draw(&mut rng);
        let merged = merge(&drawn.shards, &drawn.anchors);
        let mut differ = false;
        for (at, row) in merged.rows.iter().enumerate() {
            let estimates = row.estimates.as_ref().unwrap();
            let truth = &drawn.truth[at];
            let mean = truth.iter().map(|(_, log)| log).sum::<f64>() / truth.len() as f64;
            count(&mut held.means, &estimates.geomean.0, mean);
            assert_eq!(estimates.workloads.len(), truth.len());
            for one in &estimates.workloads {
                let same = truth.iter().find(|(name, _)| *name == one.workload);
                count(&mut held.cells, &one.ratio, same.unwrap().1);
            }
            for ((ratio, verdict), truth) in estimates.machines.iter().zip(&drawn.machines[at]) {
                count(&mut held.machines, ratio, *truth);
                differ |= *verdict == Verdict::Different;
            }
        }
        held.machines_differ += u32::from(differ);
    }
    held
}

fn share((part, of): (u32, u32)) -> f64 {
    f64::from(part) / f64::from(of)
}

/// Campaigns of each world: a few here, `FATHOM_MERGES` where the shares are wanted.
fn campaigns() -> u32 {
    let asked = std::env::var("FATHOM_MERGES");
    asked.map_or(60, |count| count.parse().expect("a number"))
}

#[test]
fn intervals_hold_the_truth_whatever_machines_do() {
    let worlds = [
        ("usual", WORLD),
        ("two shards", World { shards: 2, ..WORLD }),
        (
            "two anchors",
            World {
                anchors: 2,
                ..WORLD
            },
        ),
        (
            "no interaction",
            World {
                interaction: 0.0,
                ..WORLD
            },
        ),
        (
            "much interaction",
            World {
                interaction: 0.05,
                ..WORLD
            },
        ),
        (
            "noisy",
            World {
                noise: 0.05,
                ..WORLD
            },
        ),
        (
            "uneven",
            World {
                own: 1,
                shards: 5,
                ..WORLD
            },
        ),
    ];
    for (name, world) in worlds {
        let held = held(world, campaigns(), 19);
        let shares = [held.means, held.cells, held.machines].map(share);
        eprintln!("{name}: of means, workloads, machines {shares:.3?}");
        assert!(share(held.means) >= 0.93, "{name}: {held:?}");
        assert!(share(held.cells) >= 0.93, "{name}: {held:?}");
        assert!(share(held.machines) >= 0.93, "{name}: {held:?}");
    }
}

#[test]
fn machines_that_are_alike_are_not_called_different_and_others_are() {
    let alike = World {
        machine: 0.0,
        ..WORLD
    };
    let found = held(alike, 100, 20);
    assert!(found.machines_differ <= 7, "{found:?}");
    let apart = World {
        machine: 0.2,
        ..WORLD
    };
    let found = held(apart, 20, 21);
    assert!(found.machines_differ >= 19, "{found:?}");
}

/// Workloads of one shard alone would be off by what its machine does.
#[test]
fn a_workload_of_one_machine_is_what_an_average_machine_shows() {
    let world = World {
        shards: 2,
        noise: 1e-4,
        interaction: 1e-4,
        machine: 0.3,
        ..WORLD
    };
    let drawn = world.draw(&mut Rng::new(22, 0));
    let merged = merge(&drawn.shards, &drawn.anchors);
    for (row, truth) in merged.rows.iter().zip(&drawn.truth) {
        for one in &row.estimates.as_ref().unwrap().workloads {
            let same = truth.iter().find(|(name, _)| *name == one.workload);
            let off = one.ratio.value.ln() - same.unwrap().1;
            assert!(off.abs() < 0.002, "{} {}: {off}", row.row, one.workload);
            assert_eq!(one.shard.is_none(), one.workload.starts_with("anchor"));
        }
    }
}

fn why(merged: &Merged) -> Vec<Option<NoMerge>> {
    let rows = merged.rows.iter();
    rows.map(|row| row.estimates.as_ref().err().copied())
        .collect()
}

#[test]
fn machines_that_cannot_be_told_apart_give_no_estimate() {
    let drawn = WORLD.draw(&mut Rng::new(23, 0));
    let few = merge(&drawn.shards, &drawn.anchors[..1]);
    assert_eq!(why(&few), [Some(NoMerge::TooFewAnchors { have: 1 }); 3]);
    let one = merge(&drawn.shards[..1], &drawn.anchors);
    assert!(why(&one).iter().all(Option::is_some));
    assert!(merge(&[], &drawn.anchors).rows.is_empty());
    let unknown = merge(&drawn.shards, &["polybench:none".to_owned()]);
    assert_eq!(why(&unknown), [Some(NoMerge::TooFewAnchors { have: 0 }); 3]);
    // A shard without one of the rows.
    let mut world = WORLD.draw(&mut Rng::new(24, 0));
    let last = world.shards.last_mut().unwrap();
    last.rows.retain(|row| row.row.sandbox.strategy != "trap");
    let merged = merge(&world.shards, &world.anchors);
    assert_eq!(why(&merged), [None, None, Some(NoMerge::Absent)]);
    let rounds = World { rounds: 4, ..WORLD }.draw(&mut Rng::new(25, 0));
    let merged = merge(&rounds.shards, &rounds.anchors);
    let first = merged.rows[0].estimates.as_ref().unwrap();
    assert_eq!(first.geomean.1, Verdict::TooFew);
    assert!(first.geomean.0.interval.is_err());
}
