//! What each process of a campaign took, by cell and round.

use super::{
    BTreeMap, BTreeSet, Campaign, Cell, CellId, Metric, NOT_RUN, Phase, Summary, TOUCHED,
    UNTOUCHED, beside,
};

/// One process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Lap {
    /// Reading and compiling.
    pub(super) compile_ns: f64,
    /// Making and dropping the instance.
    pub(super) instance_ns: f64,
    /// The program itself; of native code with its start.
    pub(super) run_ns: f64,
    /// From the process's start to its end.
    pub(super) wall_ns: f64,
    /// Its page faults, where they are known.
    pub(super) faults: Option<f64>,
}

impl Lap {
    /// What is in no phase.
    pub(super) fn rest_ns(&self) -> f64 {
        self.wall_ns - self.compile_ns - self.instance_ns - self.run_ns
    }
}

/// All of them.
pub(super) struct Laps(BTreeMap<CellId, BTreeMap<u32, Lap>>);

impl Laps {
    /// Of the cells that have a time.
    pub(super) fn of(campaign: &Campaign, summary: &Summary) -> Laps {
        let mut laps: BTreeMap<CellId, BTreeMap<u32, Lap>> = BTreeMap::new();
        let has_time = |id: &CellId| summary.cell(id).is_some_and(|one| one.times.is_ok());
        let ns = |phases: &BTreeMap<Phase, fathom_record::Span>, phase| {
            phases.get(&phase).map_or(0.0, |span| span.wall_ns as f64)
        };
        for process in campaign.processes.iter().filter(|one| has_time(&one.cell)) {
            let Some(wall_ns) = process.wall_ns else {
                continue;
            };
            let faults = process.metrics.get(&Metric::FaultsMinor);
            let lap = Lap {
                compile_ns: ns(&process.phases, Phase::Load) + ns(&process.phases, Phase::Compile),
                wall_ns: wall_ns as f64,
                faults: faults.map(|count| *count as f64),
                ..Lap::default()
            };
            let of_cell = laps.entry(process.cell.clone()).or_default();
            of_cell.insert(process.round, lap);
        }
        for sample in &campaign.samples {
            let of_cell = laps.get_mut(&sample.cell);
            if let Some(lap) = of_cell.and_then(|rounds| rounds.get_mut(&sample.round)) {
                // There is one; the later of two counts.
                lap.run_ns = ns(&sample.phases, Phase::Run);
                lap.instance_ns =
                    ns(&sample.phases, Phase::Instantiate) + ns(&sample.phases, Phase::Teardown);
            }
        }
        // A native program's start is the first part of its life.
        for cell in campaign
            .header
            .cells
            .iter()
            .filter(|one| !one.variant.is_wasm())
        {
            for lap in laps
                .get_mut(&cell.id())
                .into_iter()
                .flat_map(BTreeMap::values_mut)
            {
                lap.run_ns += lap.instance_ns;
                lap.instance_ns = 0.0;
            }
        }
        Laps(laps)
    }

    pub(super) fn get(&self, id: &CellId, round: u32) -> Option<&Lap> {
        self.0.get(id)?.get(&round)
    }

    /// Of a round that is known to be there.
    pub(super) fn of_round(&self, id: &CellId, round: u32) -> Lap {
        self.get(id, round).copied().unwrap_or_default()
    }

    pub(super) fn rounds(&self, id: &CellId) -> BTreeSet<u32> {
        let rounds = self.0.get(id).into_iter().flat_map(BTreeMap::keys);
        rounds.copied().collect()
    }

    /// The rounds that all of them have.
    pub(super) fn common(&self, ids: &[CellId]) -> BTreeSet<u32> {
        let mut each = ids.iter().map(|id| self.rounds(id));
        let first = each.next().unwrap_or_default();
        each.fold(first, |all, rounds| &all & &rounds)
    }

    pub(super) fn has_faults(&self, id: &CellId) -> bool {
        let laps = self.0.get(id).into_iter().flat_map(BTreeMap::values);
        let mut laps = laps.peekable();
        laps.peek().is_some() && laps.all(|lap| lap.faults.is_some())
    }

    /// Whether the page faults of a row and what one takes are known.
    pub(super) fn is_priced(&self, cell: &Cell) -> bool {
        let beside = [NOT_RUN, TOUCHED, UNTOUCHED].map(|name| beside(cell, name));
        let has_faults = |id: &CellId| self.has_faults(id);
        has_faults(&cell.id()) && beside.iter().all(has_faults)
    }
}
