//! Shards of one campaign, each measured on a machine of its own, as one answer.
//!
//! Only ratios that were paired on one machine are brought together, never times. A
//! workload that is measured on one machine alone has the machine's effect in its ratio:
//! what the machine is kinder to one engine than to the other. The **anchors**, which
//! every shard measures, tell it:
//!
//! ```text
//!   y(w,s)  =  θ(w) + m(s) + i(w,s) + noise      ln of a row over its baseline
//!
//!   m̂(s)    =  mean over anchors of y(a,s)  −  the same over anchors and shards
//!   θ̂(w)    =  y(w,s) − m̂(s)                    a workload of one shard
//!   θ̂(a)    =  mean over shards of y(a,s)       an anchor
//! ```
//!
//! The m(s) add up to 0: what is estimated is what an average of *these* machines shows,
//! not of all that there are. i(w,s) is what one machine does to one workload alone. Its
//! variance τ² is what anchors leave over after both effects, less what their rounds
//! explain; rows with the same baseline have it in common, so that each row's is made
//! sharper by the others'. It stands in every interval, with its own degrees of freedom,
//! also where it was estimated as 0.
//!
//! Every estimate is a weighted sum of the y(w,s), so that what two estimates share is
//! not counted twice. Of shards equally long the machines' effects cancel in the mean.
//!
//! What must stay true: with fewer than two anchors that all shards have a time for, a
//! row has no estimate at all, since a slower machine cannot be told from a slower
//! workload.

use std::collections::BTreeMap;

use crate::interval::{Group, Interaction, Sum};
use crate::moderate::{Prior, Variance};
use crate::noise::{Floor, Inflation};
use crate::order::median;
use crate::ratio::{self, Logs, Ratio};
use crate::row::Row;
use crate::summary::{RowSummary, Summary};
use crate::verdict::{ALPHA, ALPHA_PART, Judged, Verdict, detectable, verdicts};

/// Anchors that it takes to tell machines apart.
pub const ANCHORS_MIN: usize = 2;

/// What shards say together.
#[derive(Clone, Debug)]
pub struct Merged {
    /// Every shard's rows, in the order of the first that has them, without the baselines.
    pub rows: Vec<MergedRow>,
    /// The differences that half of the means, and half of the cells, would have shown
    /// eight times of ten, relative.
    pub detectable: (Option<f64>, Option<f64>),
}

/// One row against its baseline.
#[derive(Clone, Debug)]
pub struct MergedRow {
    /// The row.
    pub row: Row,
    /// What its times are divided by.
    pub baseline: Row,
    /// What follows of it, or why nothing does.
    pub estimates: Result<Estimates, NoMerge>,
    /// Workloads of its shards that one of the two has no time for, or an anchor that one
    /// shard lacks.
    pub missing: Vec<String>,
}

/// What shards say of a row.
#[derive(Clone, Debug)]
pub struct Estimates {
    /// The geometric mean over all workloads of all shards, with its verdict.
    pub geomean: (Ratio, Verdict),
    /// What each shard's machine shows of an average one, and whether the two differ; in
    /// the order of the shards.
    pub machines: Vec<(Ratio, Verdict)>,
    /// How far one workload's ratio on one machine is from what both let expect: the
    /// standard deviation of its logarithm.
    pub interaction: f64,
    /// Each workload, with the shard that measured it; anchors are every shard's.
    pub workloads: Vec<MergedWorkload>,
}

/// One workload of a row.
#[derive(Clone, Debug)]
pub struct MergedWorkload {
    /// Its name.
    pub workload: String,
    /// The place of its shard among those merged; `None` for an anchor.
    pub shard: Option<usize>,
    /// The ratio, with the machine's effect taken off.
    pub ratio: Ratio,
    /// What it is worth.
    pub verdict: Verdict,
}

/// Why a row has no estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoMerge {
    /// The machines cannot be told apart.
    #[error("{have} of the anchors have a time in all shards, {ANCHORS_MIN} are needed")]
    TooFewAnchors {
        /// Anchors that all shards have a time for.
        have: usize,
    },
    /// The shards take its ratio to different rows.
    #[error("its baseline is not the same in all shards")]
    Baselines,
    /// A shard lacks it.
    #[error("a shard does not have it")]
    Absent,
}

/// Brings shards together. `anchors` are `suite:name`.
pub fn merge(shards: &[Summary], anchors: &[String]) -> Merged {
    let mut rows: Vec<&RowSummary> = Vec::new();
    for row in shards.iter().flat_map(|shard| &shard.rows) {
        if row.row != row.baseline && rows.iter().all(|other| other.row != row.row) {
            rows.push(row);
        }
    }
    let all = rows.into_iter();
    let mut all: Vec<(&RowSummary, Result<Observed, NoMerge>)> = all
        .map(|row| (row, Observed::of(row, shards, anchors)))
        .collect();
    moderate(&mut all);
    judged(all)
}

/// One workload in one shard.
struct One {
    workload: String,
    shard: usize,
    group: Group,
    floor: Option<Floor>,
}

/// What shards measured of a row.
struct Observed {
    all: Vec<One>,
    /// Places in it of each anchor, by shard.
    anchors: Vec<Vec<usize>>,
    /// Places in it of the others.
    own: Vec<usize>,
    shards: usize,
    missing: Vec<String>,
    floor: Option<Floor>,
    interaction: Interaction,
    /// What each shard's ratios have in common, since the row scatters otherwise than its
    /// baseline.
    unequal: Vec<f64>,
    inflation: Inflation,
}

impl Observed {
    fn of(row: &RowSummary, shards: &[Summary], anchors: &[String]) -> Result<Observed, NoMerge> {
        let (mut all, mut missing, mut floors) = (Vec::new(), Vec::new(), Vec::new());
        let (mut unequal, mut inflation) = (Vec::new(), Inflation::NONE);
        for (at, shard) in shards.iter().enumerate() {
            let same = shard.rows.iter().find(|other| other.row == row.row);
            let same = same.ok_or(NoMerge::Absent)?;
            if same.baseline != row.baseline {
                return Err(NoMerge::Baselines);
            }
            floors.extend(shard.noise.of_ratio(&row.row, &row.baseline, None));
            let (measured, without, of_scatter) = in_shard(shard, at, same);
            all.extend(measured);
            unequal.push(of_scatter);
            inflation = inflation.max(shard.noise.inflation_of(&row.row, &row.baseline));
            missing.extend(without);
        }
        let (mut by_anchor, mut own) = (BTreeMap::<&str, Vec<usize>>::new(), Vec::new());
        for (place, one) in all.iter().enumerate() {
            match anchors.contains(&format!("{}:{}", row.row.suite, one.workload)) {
                true => by_anchor.entry(&one.workload).or_default().push(place),
                false => own.push(place),
            }
        }
        let is_whole = |places: &Vec<usize>| places.len() == shards.len();
        let (whole, partial): (Vec<_>, Vec<_>) = by_anchor.into_values().partition(is_whole);
        let partial = partial.iter().flatten();
        missing.extend(partial.map(|place| all[*place].workload.clone()));
        missing.sort();
        missing.dedup();
        if whole.len() < ANCHORS_MIN || shards.len() < 2 {
            return Err(NoMerge::TooFewAnchors { have: whole.len() });
        }
        Ok(Observed {
            interaction: interaction(&all, &whole),
            all,
            anchors: whole,
            own,
            shards: shards.len(),
            missing,
            floor: floors.into_iter().reduce(Floor::max),
            unequal,
            inflation,
        })
    }

    /// The effect of a shard's machine.
    fn machine(&self, shard: usize) -> Weights {
        let mut weights = self.nothing();
        let (anchors, shards) = (self.anchors.len() as f64, self.shards as f64);
        for place in self.anchors.iter().flatten() {
            let is_own = self.all[*place].shard == shard;
            weights[*place] = (f64::from(u8::from(is_own)) - 1.0 / shards) / anchors;
        }
        weights
    }

    /// Each workload: where one of its ratios is, its shard if only one has it, and how it
    /// is estimated.
    fn workloads(&self) -> Vec<(usize, Option<usize>, Weights)> {
        let anchors = self.anchors.iter().map(|places| {
            let mut weights = self.nothing();
            for place in places {
                weights[*place] = 1.0 / self.shards as f64;
            }
            (places[0], None, weights)
        });
        let own = self.own.iter().map(|place| {
            let shard = self.all[*place].shard;
            let mut weights = self.machine(shard);
            for weight in &mut weights {
                *weight = -*weight;
            }
            weights[*place] = 1.0;
            (*place, Some(shard), weights)
        });
        anchors.chain(own).collect()
    }

    fn nothing(&self) -> Weights {
        vec![0.0; self.all.len()]
    }

    /// The sum by these weights, as a mean over so many workloads.
    fn ratio(&self, weights: &[f64], workloads: usize) -> Result<Ratio, NoMerge> {
        let used = self
            .all
            .iter()
            .zip(weights)
            .filter(|(_, weight)| **weight != 0.0);
        let mut by_workload: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        let mut groups = Vec::new();
        let mut of_shards = vec![0.0; self.shards];
        for (one, weight) in used {
            of_shards[one.shard] += weight;
            let (rounds, systematic) = one.group.parted();
            groups.push((*weight, rounds));
            // A build has the same layout on every machine.
            let sum = by_workload
                .entry(&one.workload)
                .or_insert((0.0, systematic));
            sum.0 += weight;
        }
        let systematic = by_workload.values();
        let systematic = systematic.map(|(weight, variance)| weight * weight * variance);
        let unequal = of_shards.iter().zip(&self.unequal);
        let unequal: f64 = unequal.map(|(weight, one)| weight * weight * one).sum();
        let sum = Sum::with(&groups, self.interaction, systematic.sum::<f64>() + unequal);
        let ratio = Ratio::of_sum(sum, &groups, workloads).map_err(|_| NoMerge::Absent)?;
        Ok(ratio.widened(match workloads {
            1 => self.inflation.cells,
            _ => self.inflation.means,
        }))
    }

    fn estimated(&self) -> Result<Unjudged, NoMerge> {
        let workloads = self.workloads();
        let mut mean = self.nothing();
        for (_, _, weights) in &workloads {
            for (sum, weight) in mean.iter_mut().zip(weights) {
                *sum += weight / workloads.len() as f64;
            }
        }
        let machines = (0..self.shards).map(|shard| self.ratio(&self.machine(shard), 1));
        let cells = workloads.iter().map(|(place, shard, weights)| {
            let own = &self.all[*place];
            let same = self.all.iter().filter(|one| one.workload == own.workload);
            let floor = same.filter_map(|one| one.floor).reduce(Floor::max);
            Ok((own.workload.clone(), *shard, self.ratio(weights, 1)?, floor))
        });
        Ok(Unjudged {
            mean: self.ratio(&mean, workloads.len())?,
            machines: machines.collect::<Result<_, _>>()?,
            cells: cells.collect::<Result<_, _>>()?,
            floor: self.floor,
            interaction: self.interaction.variance().sqrt(),
        })
    }
}

/// What each ratio that was measured counts for in an estimate.
type Weights = Vec<f64>;

/// A row before it is judged.
struct Unjudged {
    mean: Ratio,
    machines: Vec<Ratio>,
    cells: Vec<(String, Option<usize>, Ratio, Option<Floor>)>,
    floor: Option<Floor>,
    interaction: f64,
}

/// The workloads of a row in one shard, and those without a time.
/// And what its ratios have in common.
fn in_shard(shard: &Summary, at: usize, row: &RowSummary) -> (Vec<One>, Vec<String>, f64) {
    let (mut names, mut all, mut missing) = (Vec::new(), Vec::<Logs>::new(), Vec::new());
    for workload in shard.workloads_of(&row.row) {
        match shard.logs(shard.compared, &row.row, &row.baseline, workload) {
            Some(logs) => {
                names.push(workload);
                all.push(logs);
            }
            None => missing.push(workload.to_owned()),
        }
    }
    let unequal = ratio::unequal(all.iter());
    let groups = all.iter().map(|logs| logs.group(shard.noise.serial));
    let groups = Group::moderated(&groups.collect::<Vec<Group>>());
    let all = names.into_iter().zip(groups).map(|(workload, group)| One {
        workload: workload.to_owned(),
        shard: at,
        group,
        floor: (shard.noise).of_ratio(&row.row, &row.baseline, Some(workload)),
    });
    (all.collect(), missing, unequal)
}

/// What anchors leave over after the effects of workloads and machines.
fn interaction(all: &[One], anchors: &[Vec<usize>]) -> Interaction {
    let shards = anchors[0].len();
    let value = |place: &usize| all[*place].group.estimate;
    let of_shard: Vec<f64> = (0..shards)
        .map(|at| mean(anchors.iter().map(|places| value(&places[at]))))
        .collect();
    let whole = mean(of_shard.iter().copied());
    let squares = anchors.iter().map(|places| {
        let own = mean(places.iter().map(value));
        let each = places.iter().zip(&of_shard);
        each.map(|(place, machine)| (value(place) - own - machine + whole).powi(2))
            .sum::<f64>()
    });
    let freedom = ((anchors.len() - 1) * (shards - 1)) as f64;
    let rounds = anchors.iter().flatten();
    Interaction {
        left: Variance {
            value: squares.sum::<f64>() / freedom,
            freedom,
        },
        noise: mean(rounds.map(|place| all[*place].group.parted().0.variance())),
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Makes what is left over in each row sharper by the others.
fn moderate(rows: &mut [(&RowSummary, Result<Observed, NoMerge>)]) {
    let all = rows.iter().filter_map(|(_, row)| row.as_ref().ok());
    let left: Vec<Variance> = all.map(|row| row.interaction.left).collect();
    let Some(prior) = Prior::of(&left) else {
        return;
    };
    for (_, row) in rows {
        if let Ok(row) = row {
            let left = &mut row.interaction.left;
            let most = SHARED_MOST * left.freedom;
            *left = prior.moderate(*left);
            left.freedom = left.freedom.min(most);
        }
    }
}

/// How many times its own degrees of freedom a row's interaction may count for: rows share
/// the baseline's, so that all together know little more of it than each.
const SHARED_MOST: f64 = 2.0;

fn judged(rows: Vec<(&RowSummary, Result<Observed, NoMerge>)>) -> Merged {
    let estimated = |row: &Result<Observed, NoMerge>| row.as_ref().map_err(|why| *why)?.estimated();
    let all: Vec<Result<Unjudged, NoMerge>> = rows.iter().map(|(_, row)| estimated(row)).collect();
    let of = |pick: fn(&Unjudged) -> Vec<Judged>| -> Vec<Judged> {
        all.iter().flatten().flat_map(pick).collect()
    };
    let means = of(|row| vec![(Some(row.mean), row.floor)]);
    let machines = of(|row| {
        let each = row.machines.iter();
        each.map(|ratio| (Some(*ratio), row.floor)).collect()
    });
    let cells = of(|row| {
        let each = row.cells.iter();
        each.map(|(_, _, ratio, floor)| (Some(*ratio), *floor))
            .collect()
    });
    let seen = |all: &[Judged]| {
        let each = all.iter().filter_map(|(ratio, _)| ratio.as_ref());
        let level = ALPHA_PART / all.len().max(1) as f64;
        let each = each.filter_map(|ratio| detectable(ratio, level));
        median(&each.collect::<Vec<f64>>())
    };
    let detectable = (seen(&means), seen(&cells));
    let mut of_means = verdicts(&means, ALPHA_PART).into_iter();
    // Another question than what rows differ by, so it has an error of its own.
    let mut of_machines = verdicts(&machines, ALPHA).into_iter();
    let mut of_cells = verdicts(&cells, ALPHA_PART).into_iter();
    let rows = rows
        .into_iter()
        .zip(all)
        .map(|((row, observed), unjudged)| MergedRow {
            row: row.row.clone(),
            baseline: row.baseline.clone(),
            estimates: unjudged.map(|unjudged| Estimates {
                geomean: (unjudged.mean, next(&mut of_means)),
                machines: (unjudged.machines.into_iter())
                    .map(|ratio| (ratio, next(&mut of_machines)))
                    .collect(),
                interaction: unjudged.interaction,
                workloads: (unjudged.cells.into_iter())
                    .map(|(workload, shard, ratio, _)| MergedWorkload {
                        workload,
                        shard,
                        ratio,
                        verdict: next(&mut of_cells),
                    })
                    .collect(),
            }),
            missing: observed.map_or_else(|_| Vec::new(), |one| one.missing),
        });
    Merged {
        rows: rows.collect(),
        detectable,
    }
}

/// The verdict on the next of as many as were judged.
fn next(verdicts: &mut impl Iterator<Item = Verdict>) -> Verdict {
    verdicts.next().unwrap_or(Verdict::TooFew)
}
