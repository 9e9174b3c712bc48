//! Trials: a campaign is drawn, summarised as every campaign is, and what was
//! said of it held against what is true.

use std::collections::BTreeSet;

use fathom_record::campaign::Sample;
use fathom_record::{Campaign, CellId};
use fathom_stats::forecast::extended;
use fathom_stats::interval::ROUNDS_MIN;
use fathom_stats::rng::Rng;
use fathom_stats::table::Table;
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
    /// Rounds of campaigns that go on until a difference would be found, and of those that were
    /// forecast by the first rounds, summed.
    pub rounds: u32,
    /// The forecasts of the first campaigns, summed, and how many those are.
    pub forecast: u32,
    /// They are costly.
    pub forecasts: u32,
    /// Campaigns that ended since it would be.
    pub reached: u32,
    /// Pairs of the last row and another that are called different.
    pub pairs_different: u32,
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
        let measured = match (world.width, world.detect) {
            (Some(width), _) => &precise(&simulated.campaign, width),
            (None, Some(wanted)) => &self.detected(&simulated.campaign, wanted, world.held),
            (None, None) => &simulated.campaign,
        };
        let summary = Summary::from_campaign(measured);
        let before = (self.different, self.means_different);
        self.pairs_different += last_parted(&summary);
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

    /// What a campaign is that goes on until a difference of so much would be found.
    fn detected(&mut self, campaign: &Campaign, wanted: f64, in_a_row: u32) -> Campaign {
        let most = campaign.header.config.rounds;
        let is_enough = |campaign: &Campaign| seen(campaign).is_some_and(|seen| seen <= wanted);
        if self.forecasts < FORECASTS_MAX {
            let pilot = until(campaign, PILOT);
            let forecast = (ROUNDS_MIN as u32..most).find(|&rounds| {
                let drawn = extended(&pilot, rounds, 1.0, 0);
                drawn.is_some_and(|drawn| is_enough(&drawn))
            });
            let forecast = forecast.map(|rounds| rounds + in_a_row - 1);
            self.forecast += forecast.map_or(most, |rounds| rounds.min(most));
            self.forecasts += 1;
        }
        let mut all = (ROUNDS_MIN as u32..most).map(|rounds| until(campaign, rounds));
        let mut held = 0;
        let found = all.find(|so_far| {
            held = if is_enough(so_far) { held + 1 } else { 0 };
            held == in_a_row
        });
        self.reached += u32::from(found.is_some());
        let ended = found.unwrap_or_else(|| campaign.clone());
        self.rounds += ended
            .processes
            .iter()
            .map(|one| one.round + 1)
            .max()
            .unwrap_or(0);
        ended
    }
}

/// Rounds that a forecast is made by.
const PILOT: u32 = 3;
/// Campaigns of which it is made.
const FORECASTS_MAX: u32 = 20;

/// The first rounds of a campaign.
fn until(campaign: &Campaign, rounds: u32) -> Campaign {
    let mut first = campaign.clone();
    first.samples.retain(|sample| sample.round < rounds);
    first.processes.retain(|process| process.round < rounds);
    first
}

/// What a report says could have been found: of all pairs of rows.
fn seen(campaign: &Campaign) -> Option<f64> {
    pairs(&Summary::from_campaign(campaign)).detectable().0
}

/// Pairs of the last row and another that are called different.
fn last_parted(summary: &Summary) -> u32 {
    let ratios = pairs(summary).ratios;
    let last = ratios
        .iter()
        .rev()
        .take(summary.rows.len().saturating_sub(2));
    last.filter(|ratio| is_different(ratio.verdict)).count() as u32
}

/// Every pair of rows but for the baseline.
fn pairs(summary: &Summary) -> Table {
    let rows: Vec<&Row> = (summary.rows.iter())
        .filter(|row| row.row != row.baseline)
        .map(|row| &row.row)
        .collect();
    summary.pairs(summary.compared, &summary.noise, &rows)
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
        let so_far = until(&now, round);
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
