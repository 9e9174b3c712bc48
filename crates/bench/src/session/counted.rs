//! How many iterations the children of a program count, and which of them need none before
//! those.
//!
//! ```text
//!  round 0        as the design has it: what everything costs is not known
//!  round 1        as many as fit into the cell's target, judged by round 0
//!  from round 2   what varies within children against what varies between them, and
//!                 what a start costs against a lap, both from rounds 0 and 1
//! ```
//!
//! What must stay true: the same number for all cells that are compared, so that none
//! is favoured; judged by the first rounds alone, lest the number drift with the samples
//! and so that a campaign goes on after a break as it would have gone on before.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fathom_record::campaign::{Process, Sample};
use fathom_record::{CellId, Compared};

use super::Session;
use crate::plan::Task;
use crate::stopping::Pilot;

/// Rounds by which it is judged.
const PILOT_ROUNDS: u32 = 2;
/// What is compared should be read over at least so long in each child: in one iteration
/// or in several, as far as the cell's target lets it.
const READING_MIN: Duration = Duration::from_millis(5);

/// From here on an iteration is long.
const LONG: Duration = Duration::from_millis(50);
/// What a first iteration may take, as a part of a later one, and yet be as good.
const COLD: f64 = 1.01;

/// What cells of a workload that are compared share: its name and size, and how
/// many run at once, since many on few processors take many times as long.
pub(super) type Program = (String, String, u32);

/// The counted iterations of the cells of a program, by round.
type Cells<'a> = BTreeMap<&'a CellId, BTreeMap<u32, Vec<&'a Sample>>>;

impl Session<'_> {
    pub(super) fn program_of(&self, task: &Task) -> Program {
        let cell = &task.cell;
        let name = match self.pace.is_by_cell {
            true => cell.id().to_string(),
            false => cell.workload.clone(),
        };
        (name, cell.size.clone(), cell.threads)
    }

    /// How many iterations to count, by workload, size and instances at once.
    pub(super) fn iterations(&self, round: u32) -> BTreeMap<Program, u32> {
        let Some(target) = self.pace.cell_target.filter(|_| round > 0) else {
            return BTreeMap::new();
        };
        let tasks = self.plan.tasks.iter();
        let of_cell: BTreeMap<CellId, Program> = tasks
            .map(|task| (task.cell.id(), self.program_of(task)))
            .collect();
        let mut programs: BTreeMap<&Program, Cells<'_>> = BTreeMap::new();
        let campaign = self.results.campaign();
        for sample in &campaign.samples {
            if sample.round < PILOT_ROUNDS
                && let Some(program) = of_cell.get(&sample.cell)
            {
                let cells = programs.entry(program).or_default();
                let rounds = cells.entry(&sample.cell).or_default();
                rounds.entry(sample.round).or_default().push(sample);
            }
        }
        let count = |(program, cells): (&Program, Cells<'_>)| {
            let fitting = self.fitting(target, program, &cells);
            let is_known = round >= PILOT_ROUNDS && self.pace.width.is_some();
            let chosen = match is_known {
                true => self.chosen(&cells, fitting),
                false => fitting,
            };
            (program.clone(), chosen)
        };
        programs.into_iter().map(count).collect()
    }

    /// The cells that need no warming up, by round 0.
    pub(super) fn warm(&self, round: u32) -> BTreeSet<CellId> {
        let warmup = self.plan.config.warmup;
        if round == 0 || warmup == 0 || !self.pace.spares_warmup {
            return BTreeSet::new();
        }
        let campaign = self.results.campaign();
        let mut counted: BTreeMap<&CellId, Vec<u64>> = BTreeMap::new();
        for sample in campaign.samples.iter().filter(|sample| sample.round == 0) {
            counted
                .entry(&sample.cell)
                .or_default()
                .push(lap_ns(sample));
        }
        let of_first = campaign.processes.iter().filter(|one| one.round == 0);
        let is_warm = |process: &&Process| {
            let Some(laps) = counted.get(&process.cell) else {
                return false;
            };
            let lap = median(laps.clone());
            let first = process.warmup_ns.map(|ns| ns / u64::from(warmup));
            u128::from(lap) > LONG.as_nanos()
                && first.is_some_and(|first| first as f64 <= COLD * lap as f64)
        };
        of_first
            .filter(is_warm)
            .map(|process| process.cell.clone())
            .collect()
    }

    /// As many as fit into the time that a cell should take, by the first round.
    fn fitting(&self, target: Duration, (_, _, threads): &Program, cells: &Cells<'_>) -> u32 {
        let least = self.plan.config.iterations;
        // Cells that are judged alone have company of their own: what is
        // bounded is what all of their workers do.
        let most = self.pace.iterations_max.max(least);
        let most = match self.pace.is_by_cell {
            true => (most / threads.max(&1)).max(least),
            false => most,
        };
        // The slowest cell must stay well within its time.
        let limit = Duration::from_millis(self.plan.config.limit_ms) / 10;
        let first = cells.values().filter_map(|rounds| rounds.get(&0));
        let laps: Vec<u64> = first
            .map(|samples| median(samples.iter().map(|sample| lap_ns(sample)).collect()))
            .collect();
        let slowest = laps.iter().copied().max().unwrap_or(1);
        let fits = |time: Duration, lap: u64| {
            u32::try_from(time.as_nanos() / u128::from(lap.max(1))).unwrap_or(most)
        };
        fits(target, median(laps))
            .min(fits(limit, slowest))
            .clamp(least, most)
    }

    /// What is best for what it costs; at least what a reading takes, and at most what fits.
    fn chosen(&self, cells: &Cells<'_>, fitting: u32) -> u32 {
        let least = self.plan.config.iterations;
        let (pilot, read_ns) = self.pilot(cells);
        let Some(best) = self.stopping.iterations(&pilot, fitting) else {
            return fitting;
        };
        let reading = READING_MIN.as_nanos() / u128::from(read_ns.max(1));
        let reading = u32::try_from(reading).unwrap_or(u32::MAX).saturating_add(1);
        best.max(reading).clamp(least, fitting.max(least))
    }

    /// What the first rounds say of a program, and what is read of it at once.
    fn pilot(&self, cells: &Cells<'_>) -> (Pilot, u64) {
        let campaign = self.results.campaign();
        let compared = campaign.header.config.compared;
        let (mut pilot, mut starts, mut laps, mut reads) =
            (Pilot::default(), vec![], vec![], vec![]);
        for (cell, rounds) in cells {
            let of_child = |samples: &Vec<&Sample>| -> Vec<u64> {
                samples
                    .iter()
                    .filter_map(|sample| read_ns(sample, compared))
                    .collect()
            };
            let children: Vec<Vec<u64>> = rounds.values().map(of_child).collect();
            let logs = |child: &Vec<u64>| child.iter().map(|ns| (*ns as f64).ln()).collect();
            pilot.cells.push(children.iter().map(logs).collect());
            reads.push(median(children.concat()));
            laps.push(median(
                rounds.values().flatten().map(|one| lap_ns(one)).collect(),
            ));
            let of_cell = |one: &&Process| one.cell == **cell && one.round < PILOT_ROUNDS;
            for process in campaign.processes.iter().filter(of_cell) {
                let counted: u64 = rounds
                    .get(&process.round)
                    .map_or(0, |samples| samples.iter().map(|one| lap_ns(one)).sum());
                let wall = process.wall_ns.unwrap_or(0);
                starts.push(wall.saturating_sub(counted));
            }
        }
        pilot.start_ns = median(starts) as f64;
        pilot.lap_ns = median(laps) as f64;
        (pilot, median(reads))
    }
}

/// What is compared of an iteration.
fn read_ns(sample: &Sample, compared: Compared) -> Option<u64> {
    let run = || sample.phases.get(&fathom_record::Phase::Run);
    let read = match compared {
        Compared::Kernel => sample.kernel_ns,
        Compared::Run => run().map(|span| span.wall_ns),
        Compared::Instructions => None,
    };
    read.filter(|ns| *ns > 0)
}

/// All of an iteration.
fn lap_ns(sample: &Sample) -> u64 {
    sample.phases.values().map(|span| span.wall_ns).sum()
}

/// The middle one; the mean of the two middle ones. Zero of none.
pub(super) fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    let half = values.len() / 2;
    match values.get(half) {
        Some(upper) if values.len().is_multiple_of(2) => upper.midpoint(values[half - 1]),
        Some(middle) => *middle,
        None => 0,
    }
}
