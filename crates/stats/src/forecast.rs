//! What more rounds would tell: a campaign of as many, made of those that there are.
//!
//! ```text
//!  rounds so far ─▶ of each program one is drawn for each round to come (the bootstrap),
//!                   all its cells from the same ─▶ a campaign ─▶ whatever estimates
//! ```
//!
//! Of k rounds that are drawn from, the variance is too small by (k − 1) / k: each is moved
//! away from the cell's middle by as much as mends that. A control is moved to where its
//! original is: what the two differ by in a few rounds is chance, and would be taken for more
//! than that in many. What a round has in common stays common to the cells of a program, so
//! that it cancels as it will.
//!
//! Of fewer rounds than an interval takes, a cell's own say little: they are then moved half the
//! way to where those of the cell in the middle are, in the order of size. Chance would else make
//! cells of two rows look unlike, in however many rounds.
//!
//! What must stay true: what is forecast is a width, and nothing that was measured changes.

use std::collections::BTreeMap;

use fathom_record::campaign::{Process, Sample};
use fathom_record::{Campaign, Cell, CellId};

use crate::interval::ROUNDS_MIN;
use crate::order::{median, sorted};
use crate::ratio::positive_ln;
use crate::rng::Rng;
use crate::summary::Summary;

/// Rounds below which nothing is known of scatter.
const KNOWN_MIN: usize = 2;

/// What the cells of one round of one program have.
type Program<'a> = (&'a str, &'a str, &'a str, u32);

/// A campaign of so many rounds that scatter as those of this one do, or `scatter` times as
/// much; `stream` tells one from another. `None` where there are too few rounds of everything.
pub fn extended(campaign: &Campaign, rounds: u32, scatter: f64, stream: u64) -> Option<Campaign> {
    let known = Known::of(campaign, scatter);
    let mut drawn = Campaign::new(campaign.header.clone());
    drawn.header.config.rounds = rounds;
    drawn.in_force.clone_from(&campaign.in_force);
    drawn.probes.clone_from(&campaign.probes);
    drawn.failures.clone_from(&campaign.failures);
    for round in 0..rounds {
        let mut rng = Rng::new(campaign.header.config.seed ^ stream, u64::from(round));
        for (program, cells) in &known.programs {
            let from = known.rounds.get(program)?;
            let taken = *from.get(rng.below(from.len()))?;
            for id in cells {
                known.copy(id, taken, round, &mut drawn);
            }
        }
    }
    (!drawn.processes.is_empty()).then_some(drawn)
}

/// What there is to draw from.
struct Known<'a> {
    programs: BTreeMap<Program<'a>, Vec<CellId>>,
    /// Rounds that all cells of a program have which have a time at all.
    rounds: BTreeMap<Program<'a>, Vec<u32>>,
    samples: BTreeMap<(CellId, u32), Vec<&'a Sample>>,
    processes: BTreeMap<(CellId, u32), &'a Process>,
    /// By what a round of a cell is moved away from its middle.
    factors: BTreeMap<(CellId, u32), f64>,
}

impl<'a> Known<'a> {
    fn of(campaign: &'a Campaign, scatter: f64) -> Known<'a> {
        let summary = Summary::from_campaign(campaign);
        let mut known = Known {
            programs: BTreeMap::new(),
            rounds: BTreeMap::new(),
            samples: BTreeMap::new(),
            processes: BTreeMap::new(),
            factors: BTreeMap::new(),
        };
        let ids = campaign.header.cells.iter().map(Cell::id);
        let all: BTreeMap<CellId, BTreeMap<u32, f64>> = ids
            .map(|id| (id.clone(), logs(&summary, &id)))
            .filter(|(_, logs)| logs.len() >= KNOWN_MIN)
            .collect();
        let alike = alike(all.values());
        let spreads = all.iter().map(|(id, logs)| {
            let spread = Spread::of(logs, alike.as_deref(), scatter);
            (id, spread)
        });
        let spreads: BTreeMap<&CellId, Spread> = spreads.collect();
        for cell in &campaign.header.cells {
            let id = cell.id();
            let (Some(logs), Some(spread)) = (all.get(&id), spreads.get(&id)) else {
                continue;
            };
            let original = cell.control_of.as_ref().and_then(|id| spreads.get(id));
            let off = original.map_or(0.0, |original| original.faster - spread.faster);
            let moved = logs.values().zip(&spread.moved);
            let each = logs.keys().zip(moved).map(|(round, (log, moved))| {
                let factor = (moved - log + off).exp();
                ((id.clone(), *round), factor)
            });
            known.factors.extend(each);
            let program = program(cell);
            let has = |round: &u32| logs.contains_key(round);
            let rounds = known.rounds.entry(program);
            let rounds = rounds.or_insert_with(|| logs.keys().copied().collect());
            rounds.retain(has);
            known.programs.entry(program).or_default().push(id);
        }
        for sample in &campaign.samples {
            let key = (sample.cell.clone(), sample.round);
            known.samples.entry(key).or_default().push(sample);
        }
        let each = campaign.processes.iter();
        known.processes = each
            .map(|one| ((one.cell.clone(), one.round), one))
            .collect();
        known
    }

    /// A round of a cell again, as another.
    fn copy(&self, id: &CellId, taken: u32, round: u32, to: &mut Campaign) {
        let key = (id.clone(), taken);
        let factor = self.factors.get(&key).copied().unwrap_or(1.0);
        let moved = |ns: u64| (ns as f64 * factor) as u64;
        for &sample in self.samples.get(&key).into_iter().flatten() {
            let mut sample = sample.clone();
            sample.round = round;
            sample.kernel_ns = sample.kernel_ns.map(moved);
            for span in sample.phases.values_mut() {
                span.wall_ns = moved(span.wall_ns);
            }
            to.samples.push(sample);
        }
        if let Some(&process) = self.processes.get(&key) {
            let mut process = process.clone();
            process.round = round;
            to.processes.push(process);
        }
    }
}

fn program(cell: &Cell) -> Program<'_> {
    (&cell.suite, &cell.workload, &cell.size, cell.threads)
}

/// The logarithm of each round of a cell.
fn logs(summary: &Summary, id: &CellId) -> BTreeMap<u32, f64> {
    let times = summary.cell(id).and_then(|cell| cell.times.as_ref().ok());
    let rounds = times.into_iter().flat_map(|times| &times.rounds);
    let logs = rounds.filter_map(|(round, values)| {
        let log = positive_ln(*values.get(&summary.compared)?);
        log.is_finite().then_some((*round, log))
    });
    logs.collect()
}

/// By how much the slowest, the next … round of a cell is off its middle, where rounds are so
/// few that a cell's own say little of how it scatters: as the cell in the middle is.
fn alike<'a>(all: impl Iterator<Item = &'a BTreeMap<u32, f64>> + Clone) -> Option<Vec<f64>> {
    let count = all.clone().map(BTreeMap::len).max()?;
    let cells = all.filter(|logs| logs.len() == count);
    let offs: Vec<Vec<f64>> = cells.filter_map(|logs| sorted(&offs(logs))).collect();
    let at = |rank: usize| median(&offs.iter().map(|one| one[rank]).collect::<Vec<f64>>());
    let typical: Option<Vec<f64>> = (0..count).map(at).collect();
    typical.filter(|_| count < ROUNDS_MIN)
}

/// The logarithms less their mean.
fn offs(logs: &BTreeMap<u32, f64>) -> Vec<f64> {
    let middle = logs.values().sum::<f64>() / logs.len() as f64;
    logs.values().map(|log| log - middle).collect()
}

/// Where the rounds of a cell are drawn.
struct Spread {
    /// Its logarithms, in the order of the rounds.
    moved: Vec<f64>,
    /// The mean of the faster half of what is drawn from them.
    faster: f64,
}

impl Spread {
    fn of(logs: &BTreeMap<u32, f64>, alike: Option<&[f64]>, scatter: f64) -> Spread {
        let count = logs.len() as f64;
        let middle = logs.values().sum::<f64>() / count;
        let more = scatter * (count / (count - 1.0)).sqrt();
        let offs = offs(logs);
        let rank = |off: f64| offs.iter().filter(|other| **other < off).count();
        let alike = alike.filter(|alike| alike.len() == offs.len());
        let moved = offs.iter().map(|off| {
            let off = alike.map_or(*off, |alike| 0.5 * (off + alike[rank(*off)]));
            middle + more * off
        });
        let moved: Vec<f64> = moved.collect();
        let order = sorted(&moved).unwrap_or_default();
        // The one in the middle of an odd number is in both halves.
        let half = 0.5 * count;
        let part = |at: usize| (half - at as f64).clamp(0.0, 1.0);
        let parts = order.iter().enumerate();
        let faster = parts.map(|(at, value)| part(at) * value).sum::<f64>() / half;
        Spread { moved, faster }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logs(values: &[f64]) -> BTreeMap<u32, f64> {
        (0..).zip(values.iter().copied()).collect()
    }

    #[test]
    fn few_rounds_of_a_cell_are_spread_as_those_of_others_are() {
        let all = [
            logs(&[0.0, 0.3, 0.0]),
            logs(&[1.0, 1.3, 1.6]),
            logs(&[5.0, 5.6, 5.3]),
        ];
        let alike = alike(all.iter()).unwrap();
        let near = |one: &[f64], other: &[f64]| {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(a, b)| (a - b).abs() < 1e-12)
        };
        assert!(near(&alike, &[-0.3, 0.0, 0.3]), "{alike:?}");
        let spread = Spread::of(&all[2], Some(&alike), 1.0);
        let more = 0.3 * 1.5_f64.sqrt();
        assert!(near(&spread.moved, &[5.3 - more, 5.3 + more, 5.3]));
        let half = Spread::of(&all[0], Some(&alike), 1.0 / 1.5_f64.sqrt());
        assert!(near(&half.moved, &[-0.1, 0.35, -0.1]), "{:?}", half.moved);
        // Two thirds of what is drawn of the faster half are the fastest.
        assert!(near(&[spread.faster], &[5.3 - more * 2.0 / 3.0]));
        let still = Spread::of(&all[0], None, 0.0);
        assert!(near(&still.moved, &[0.1, 0.1, 0.1]) && near(&[still.faster], &[0.1]));
        let many = logs(&[0.0, 0.1, 0.2, 0.3, 0.4]);
        assert!(self::alike([&many].into_iter()).is_none());
    }
}
