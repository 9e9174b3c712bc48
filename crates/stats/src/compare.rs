//! Two campaigns, cell by cell: has anything become slower?
//!
//! Cells are matched by id. Their rounds were measured apart, so ratios are not
//! paired; what the two campaigns have in common is lost and intervals are
//! wider. Two bases:
//!
//! * [`Basis::Time`]: the times themselves. Native code is the same program in
//!   both campaigns, so what *it* changed by is the machine's drift, and joins
//!   the noise floor.
//! * [`Basis::ToBaseline`]: each campaign's ratio to its own baseline, in which
//!   a machine's drift cancels. The only one that means something between two
//!   hosts.

use std::collections::{BTreeMap, BTreeSet};

use fathom_record::{Cell, CellId, Variant};

use crate::noise::{Floor, Verdict};
use crate::ratio::{self, Logs, Ratio};
use crate::row::Row;
use crate::summary::{CellSummary, NoTime, RowSummary, Summary, floor_for};

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// Times as they are.
    Time,
    /// Each campaign's ratio to its own baseline.
    ToBaseline,
}

impl Basis {
    /// Times on the same host, ratios to the baseline on different ones.
    pub fn of(before: &Summary, after: &Summary) -> Basis {
        if before.host == after.host {
            Basis::Time
        } else {
            Basis::ToBaseline
        }
    }
}

/// What became of two campaigns' common cells.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What was compared.
    pub basis: Basis,
    /// The relative slowdown that is tolerated: 0.05 for 5 %.
    pub threshold: f64,
    /// Whether both ran on the same kind of host.
    pub is_same_host: bool,
    /// What native code changed by, by number of instances: the drift.
    pub drift: BTreeMap<u32, Ratio>,
    /// Rows that both have, in the order of the later.
    pub rows: Vec<RowChange>,
    /// Cells that had a time and have none any more, with the reason.
    pub lost: Vec<(CellId, NoTime)>,
    /// Cells only the earlier campaign has.
    pub only_before: Vec<CellId>,
    /// Cells only the later campaign has.
    pub only_after: Vec<CellId>,
}

/// A row in both campaigns.
#[derive(Clone, Debug)]
pub struct RowChange {
    /// The row.
    pub row: Row,
    /// The geometric mean over the workloads that both have a time for; absent
    /// if there are none.
    pub geomean: Option<Change>,
    /// Each such workload.
    pub workloads: Vec<(String, Change)>,
}

/// The later over the earlier.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The ratio; above 1 is slower.
    pub ratio: Ratio,
    /// What it is worth.
    pub verdict: Verdict,
    /// The floor it was judged by.
    pub floor: Option<Floor>,
    /// Whether it is a real slowdown past the threshold.
    pub is_regression: bool,
}

impl Comparison {
    /// Whether the later campaign should be refused: a real slowdown past the
    /// threshold, or a time that was lost. Never for a difference inside the
    /// noise floor.
    pub fn is_refused(&self) -> bool {
        !self.lost.is_empty() || self.regressions().next().is_some()
    }

    /// Every real slowdown past the threshold: its row, and its workload unless
    /// it is the row's mean.
    pub fn regressions(&self) -> impl Iterator<Item = (&Row, Option<&str>, &Change)> {
        self.rows.iter().flat_map(|row| {
            let mean = row
                .geomean
                .iter()
                .map(move |change| (&row.row, None, change));
            let each = row
                .workloads
                .iter()
                .map(move |(name, change)| (&row.row, Some(name.as_str()), change));
            mean.chain(each)
                .filter(|(_, _, change)| change.is_regression)
        })
    }
}

/// Compares two campaigns. `threshold` is the relative slowdown tolerated.
pub fn compare(before: &Summary, after: &Summary, threshold: f64, basis: Basis) -> Comparison {
    let drift = drift(before, after);
    let judge = Judge {
        before,
        after,
        threshold,
        basis,
        drift: &drift,
    };
    let rows = after
        .rows
        .iter()
        .filter_map(|row| Some((before.rows.iter().find(|other| other.row == row.row)?, row)))
        .map(|(before, after)| judge.row(before, after))
        .collect();
    let lost = after
        .cells
        .iter()
        .filter(|cell| {
            before
                .cell(&cell.id)
                .is_some_and(|before| before.times.is_ok())
        })
        .filter_map(|cell| Some((cell.id.clone(), cell.times.as_ref().err()?.clone())))
        .collect();
    Comparison {
        basis,
        threshold,
        is_same_host: before.host == after.host,
        rows,
        lost,
        only_before: missing(before, after),
        only_after: missing(after, before),
        drift,
    }
}

fn missing(from: &Summary, other: &Summary) -> Vec<CellId> {
    from.cells
        .iter()
        .filter(|cell| other.cell(&cell.id).is_none())
        .map(|cell| cell.id.clone())
        .collect()
}

/// The geometric mean of native code's change, by number of instances.
fn drift(before: &Summary, after: &Summary) -> BTreeMap<u32, Ratio> {
    let mut logs: BTreeMap<u32, Vec<(Logs, Logs)>> = BTreeMap::new();
    let native = after
        .cells
        .iter()
        .filter(|cell| cell.cell.variant == Variant::Native && !cell.cell.is_control());
    for cell in native {
        let pair = before
            .cell(&cell.id)
            .and_then(|before| Some((times(after, cell)?, times_before(after, before)?)));
        if let Some(pair) = pair {
            logs.entry(cell.cell.threads).or_default().push(pair);
        }
    }
    logs.into_iter()
        .filter_map(|(threads, logs)| {
            let pairs: Vec<(&Logs, &Logs)> =
                logs.iter().map(|(after, before)| (after, before)).collect();
            Some((threads, ratio::unpaired(&pairs).ok()?))
        })
        .collect()
}

/// A cell's own times in the later campaign.
fn times(summary: &Summary, cell: &CellSummary) -> Option<Logs> {
    let estimate = cell.estimate(summary.compared)?;
    Logs::single(&estimate.values, &format!("after {}", cell.id)).ok()
}

/// A cell's own times in the earlier campaign, in the later one's figure.
fn times_before(after: &Summary, cell: &CellSummary) -> Option<Logs> {
    let estimate = cell.estimate(after.compared)?;
    Logs::single(&estimate.values, &format!("before {}", cell.id)).ok()
}

struct Judge<'a> {
    before: &'a Summary,
    after: &'a Summary,
    threshold: f64,
    basis: Basis,
    drift: &'a BTreeMap<u32, Ratio>,
}

impl Judge<'_> {
    fn row(&self, before: &RowSummary, after: &RowSummary) -> RowChange {
        let row = &after.row;
        let old: BTreeSet<&str> = self.before.workloads_of(row).collect();
        let common = self
            .after
            .workloads_of(row)
            .filter(|name| old.contains(name));
        let pairs: Vec<(&str, (Logs, Logs))> = common
            .filter_map(|name| Some((name, self.pair(before, after, name)?)))
            .collect();
        let workloads = pairs
            .iter()
            .filter_map(|(name, (after, before))| {
                let ratio = ratio::unpaired(&[(after, before)]).ok()?;
                Some(((*name).to_owned(), self.change(ratio, row, Some(name))))
            })
            .collect();
        let all: Vec<(&Logs, &Logs)> = pairs
            .iter()
            .map(|(_, (after, before))| (after, before))
            .collect();
        let geomean = ratio::unpaired(&all)
            .ok()
            .map(|ratio| self.change(ratio, row, None));
        RowChange {
            row: row.clone(),
            geomean,
            workloads,
        }
    }

    /// A workload in the later and the earlier campaign, on the chosen basis.
    fn pair(
        &self,
        before: &RowSummary,
        after: &RowSummary,
        workload: &str,
    ) -> Option<(Logs, Logs)> {
        match self.basis {
            Basis::Time => {
                let (new, old) = (
                    self.after.cell_of(&after.row, workload)?,
                    self.before.cell_of(&before.row, workload)?,
                );
                Some((times(self.after, new)?, times_before(self.after, old)?))
            }
            // Another baseline or another figure in the earlier campaign would
            // compare apples with pears.
            Basis::ToBaseline
                if before.baseline != after.baseline
                    || self.before.compared != self.after.compared =>
            {
                None
            }
            Basis::ToBaseline => Some((
                self.after.logs(
                    self.after.compared,
                    (&after.row, &after.baseline),
                    workload,
                    "after",
                )?,
                self.before.logs(
                    self.after.compared,
                    (&before.row, &before.baseline),
                    workload,
                    "before",
                )?,
            )),
        }
    }

    fn change(&self, ratio: Ratio, row: &Row, workload: Option<&str>) -> Change {
        let cell = workload
            .and_then(|workload| self.after.cell_of(row, workload))
            .map(|cell| &cell.cell);
        let floor = self.floor(cell, row.threads);
        let verdict = Verdict::of(&ratio, floor);
        let is_regression = verdict == Verdict::Real && ratio.value > 1.0 + self.threshold;
        Change {
            ratio,
            verdict,
            floor,
            is_regression,
        }
    }

    /// The larger of both campaigns' floors, and of the drift on the basis of
    /// times. Either of them unknown: none.
    fn floor(&self, cell: Option<&Cell>, threads: u32) -> Option<Floor> {
        let floor =
            floor_for(self.before, cell, threads)?.max(floor_for(self.after, cell, threads)?);
        let drift = match self.basis {
            Basis::Time => self.drift.get(&threads).and_then(Floor::of),
            Basis::ToBaseline => None,
        };
        Some(drift.map_or(floor, |drift| floor.max(drift)))
    }
}
