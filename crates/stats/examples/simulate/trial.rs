//! Trials: a campaign is drawn, summarised as every campaign is, and what was
//! said of it held against what is true.

use std::collections::BTreeSet;

use fathom_record::campaign::Sample;
use fathom_record::{Campaign, CellId};
use fathom_stats::interval::ROUNDS_MIN;
use fathom_stats::rng::Rng;
use fathom_stats::{Basis, Ratio, Row, Summary, Verdict, compare};

use super::world::{Simulated, World};

/// What was said of many campaigns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    /// Cells that were compared, and had an interval.
    pub cells: u32,
    /// Of those, intervals with the truth in them.
    pub covered: u32,
    /// Cells without a true difference that were called different.
    pub different: u32,
    /// Cells called equivalent.
    pub equivalent: u32,
    /// Means that were compared, and had an interval.
    pub means: u32,
    /// Of those, intervals with the truth in them.
    pub means_covered: u32,
    /// Means without a true difference that were called different.
    pub means_different: u32,
    /// Means of the last row, where all of it is slower, that had an interval.
    pub far: u32,
    /// Of those, intervals with the truth in them.
    pub far_covered: u32,
    /// Rounds that such a row was measured, of its first workload.
    pub far_rounds: u32,
    /// Campaigns that called anything different which is not.
    pub campaigns_different: u32,
    /// Of those, the ones that parted the first row from another.
    pub first_different: u32,
    /// Campaigns that found a row that is slower in all cells, by its mean.
    pub found_mean: u32,
    /// Half the widths of the intervals of means, summed.
    pub half_widths: f64,
    /// Campaigns that found what was planted.
    pub found: u32,
    /// What a mean could have seen in the last campaign, relative.
    pub seen_mean: f64,
    /// What a cell could have seen in the last campaign, relative.
    pub seen_cell: f64,
}

/// Differences of the truth below this are rounding.
const NOTHING: f64 = 1e-9;

impl Told {
    /// Draws `trials` campaigns of a world.
    pub fn of(world: &World, trials: u32, seed: u64) -> Told {
        let mut told = Told::default();
        for trial in 0..trials {
            let mut rng = Rng::new(seed, u64::from(trial));
            told.hear(world, &world.draw(&mut rng, 0.0));
        }
        told
    }

    fn hear(&mut self, world: &World, simulated: &Simulated) {
        let measured = match world.width {
            Some(width) => &precise(&simulated.campaign, width),
            None => &simulated.campaign,
        };
        let summary = Summary::from_campaign(measured);
        let before = (self.different, self.means_different);
        for row in summary.rows.iter().skip(1) {
            let truth = |workload: &str| {
                let of = |row| {
                    let cell = summary.cell_of(row, workload)?;
                    simulated.truth.get(cell.id.as_str()).copied()
                };
                Some(of(&row.row)? - of(&row.baseline)?)
            };
            let mut mean = 0.0;
            for one in &row.to_baseline.workloads {
                let Some(truth) = truth(&one.workload) else {
                    continue;
                };
                mean += truth / row.to_baseline.workloads.len() as f64;
                let is_planted = truth.abs() > NOTHING && world.planted > 0.0;
                let is_different = is_different(one.verdict);
                self.seen_cell = one.detectable.unwrap_or(self.seen_cell);
                self.found += u32::from(is_different && is_planted);
                self.different += u32::from(is_different && truth.abs() < NOTHING);
                self.equivalent += u32::from(one.verdict.name().starts_with("equivalent"));
                count(&one.ratio, truth, &mut self.cells, &mut self.covered);
            }
            self.seen_mean = row.to_baseline.detectable.unwrap_or(self.seen_mean);
            self.means_different +=
                u32::from(is_different(row.to_baseline.verdict) && mean.abs() < NOTHING);
            if let Ok(ratio) = &row.to_baseline.geomean {
                count(ratio, mean, &mut self.means, &mut self.means_covered);
                let half = |ends: fathom_stats::Interval| 0.5 * (ends.high / ends.low).ln();
                self.half_widths += ratio.interval.map_or(0.0, half);
                let is_last = summary.rows.last().is_some_and(|last| last.row == row.row);
                if world.row_slower > 0.0 && is_last {
                    self.found_mean += u32::from(is_different(row.to_baseline.verdict));
                    count(ratio, mean, &mut self.far, &mut self.far_covered);
                    let of_first = summary.cell_of(&row.row, &World::workload(0));
                    let is_of_first =
                        |sample: &&Sample| of_first.is_some_and(|cell| cell.id == sample.cell);
                    self.far_rounds += measured.samples.iter().filter(is_of_first).count() as u32;
                }
            }
        }
        let is_first_parted = is_first_parted(&summary, simulated);
        self.first_different += u32::from(is_first_parted);
        let is_any = (self.different, self.means_different) != before || is_first_parted;
        self.campaigns_different += u32::from(is_any);
    }
}

/// Whether the first row is said to differ from one that takes as long.
fn is_first_parted(summary: &Summary, simulated: &Simulated) -> bool {
    let mut rows: Vec<(f64, &Row)> = summary
        .rows
        .iter()
        .filter(|row| row.row != row.baseline)
        .filter_map(|row| Some((row.to_baseline.geomean.as_ref().ok()?.value, &row.row)))
        .collect();
    rows.sort_by(|one, other| one.0.total_cmp(&other.0));
    let rows: Vec<&Row> = rows.into_iter().map(|(_, row)| row).collect();
    let truth = |row: &Row| {
        let names = summary.workloads_of(row);
        let cells = names.filter_map(|name| summary.cell_of(row, name));
        let truths = cells.filter_map(|cell| simulated.truth.get(cell.id.as_str()));
        truths.sum::<f64>()
    };
    let pairs = summary.pairs(summary.compared, &summary.noise, &rows);
    // Those of the first with the one at `at` come after those of all before that.
    (1..rows.len()).any(|at| {
        let ratio = &pairs.ratios[at * (at - 1) / 2];
        is_different(ratio.verdict) && (truth(rows[at]) - truth(rows[0])).abs() < NOTHING
    })
}

/// What is left of a campaign that measures cells no more whose ratio is known to a width.
fn precise(campaign: &Campaign, width: f64) -> Campaign {
    let mut now = campaign.clone();
    for round in ROUNDS_MIN as u32..campaign.header.config.rounds {
        now.processes = campaign.processes.clone();
        let mut so_far = now.clone();
        so_far.samples.retain(|sample| sample.round < round);
        so_far.processes.retain(|process| process.round < round);
        let open = Summary::from_campaign(&so_far).imprecise(width);
        let open: BTreeSet<CellId> = open
            .into_iter()
            .flat_map(|(one, base)| [one, base])
            .collect();
        let is_open = |cell: &CellId| {
            let text = cell.as_str();
            open.contains(text.strip_suffix("/control").unwrap_or(text))
        };
        now.samples
            .retain(|sample| sample.round != round || is_open(&sample.cell));
    }
    now
}

fn is_different(verdict: Verdict) -> bool {
    verdict == Verdict::Different
}

fn count(ratio: &Ratio, truth: f64, all: &mut u32, covered: &mut u32) {
    if let Ok(interval) = ratio.interval {
        *all += 1;
        *covered += u32::from(interval.contains(truth.exp()));
    }
}

/// Two campaigns, the later of which may be slower.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// What all cells of the last row take longer by: 0.03 for 3 %.
    pub slower: f64,
    /// What the machine takes longer by, in everything.
    pub machine: f64,
}

/// The slowdown that is tolerated.
const THRESHOLD: f64 = 0.0;

impl Gate {
    /// How many of so many later campaigns are refused.
    pub fn refused(&self, world: &World, trials: u32, seed: u64) -> u32 {
        let refused = (0..trials).filter(|trial| {
            let mut rng = Rng::new(seed, u64::from(*trial));
            let before = world.draw(&mut rng, 0.0);
            let after = World {
                row_slower: self.slower,
                ..*world
            }
            .draw(&mut rng, self.machine.ln_1p());
            let (before, after) = (
                Summary::from_campaign(&before.campaign),
                Summary::from_campaign(&after.campaign),
            );
            let basis = Basis::of(&before, &after);
            compare(&before, &after, THRESHOLD, basis).is_refused()
        });
        refused.count() as u32
    }
}
