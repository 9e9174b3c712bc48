//! Two campaigns, cell by cell: has anything become slower?
//!
//! Cells are matched by id. Their rounds were measured apart, so no round of one
//! campaign belongs to a round of the other. Two bases:
//!
//! * [`Basis::Time`]: the times themselves, net of the machine's **drift**. Native
//!   code is the same program in both campaigns, so what *it* changed by is the
//!   machine's doing. It is taken off round by round: each cell's logarithm less
//!   the mean of native code's in the same round. So whatever slowed a whole
//!   round cancels, and what is not known of the drift is in the scatter that is
//!   left, and with it in the interval.
//! * [`Basis::ToBaseline`]: each campaign's ratio to its own baseline, workload by
//!   workload. The only one that means something between two hosts.
//!
//! ```text
//!  cell      z  =  ln t  −  mean of native's ln t, round by round
//!  row       mean of its cells' z, round by round
//!  change    mean of the later's z  −  mean of the earlier's
//! ```
//!
//! A row's mean is one series, not the sum of its workloads': what its
//! workloads have in common in a round is then in its scatter.
//!
//! No layout is allowed for. Where it is fixed, it is the same in both.

use std::collections::{BTreeMap, BTreeSet};

use fathom_record::{CellId, Variant};

use crate::estimator;
use crate::exact;
use crate::figure::Figure;
use crate::interval::Group;
use crate::noise::{Floor, Inflation};
use crate::order::median;
use crate::ratio::{self, Ratio, positive_ln};
use crate::row::Row;
use crate::serial::Serial;
use crate::summary::{CellSummary, NoTime, RowSummary, Summary};
use crate::verdict::{ALPHA_PART, Judged, Verdict, detectable, verdicts};

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
    /// The figure of the later campaign that was.
    pub figure: Figure,
    /// The relative slowdown that is tolerated: 0.05 for 5 %.
    pub threshold: f64,
    /// Whether both ran on the same kind of host.
    pub is_same_host: bool,
    /// What native code changed by, by number of instances: the drift. On the
    /// basis of times it is taken off every change.
    pub drift: BTreeMap<u32, Ratio>,
    /// The changes that half of the means, and half of the cells, would have
    /// shown eight times of ten, relative.
    pub detectable: (Option<f64>, Option<f64>),
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
    /// Whether it is a slowdown that was shown, past the threshold.
    pub is_regression: bool,
}

impl Comparison {
    /// Whether the later campaign should be refused: a slowdown past the
    /// threshold that was shown, or a time that was lost. Never for a difference
    /// inside the noise floor.
    pub fn is_refused(&self) -> bool {
        !self.lost.is_empty() || self.regressions().next().is_some()
    }

    /// Every slowdown that was shown past the threshold: its row, and its workload unless
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
    let sides = [Side::of(before, after), Side::of(after, before)];
    let [earlier, later] = &sides;
    let pairs: Vec<RowPair<'_>> = after
        .rows
        .iter()
        .filter_map(|row| {
            let old = before.rows.iter().find(|other| other.row == row.row)?;
            Some(RowPair::of([earlier, later], [old, row], basis))
        })
        .collect();
    let serial = serial(&pairs, later);
    let rows: Vec<Unjudged<'_>> = pairs.iter().map(|pair| pair.changes(serial)).collect();
    let (rows, detectable) = judged(&rows, threshold);
    let lost = after
        .cells
        .iter()
        // Where the budget leaves controls out, the others' are used.
        .filter(|cell| !(cell.cell.is_control() && matches!(cell.times, Err(NoTime::NotMeasured))))
        .filter(|cell| {
            before
                .cell(&cell.id)
                .is_some_and(|before| before.times.is_ok())
        })
        .filter_map(|cell| Some((cell.id.clone(), cell.times.as_ref().err()?.clone())))
        .collect();
    Comparison {
        basis,
        figure: after.compared,
        threshold,
        is_same_host: before.host == after.host,
        detectable,
        rows,
        lost,
        only_before: missing(before, after),
        only_after: missing(after, before),
        drift: drift(&sides, serial),
    }
}

fn missing(from: &Summary, other: &Summary) -> Vec<CellId> {
    from.cells
        .iter()
        .filter(|cell| other.cell(&cell.id).is_none())
        .map(|cell| cell.id.clone())
        .collect()
}

/// The rounds of a cell or a row: what their mean is wanted of, by round.
#[derive(Clone, Debug, Default)]
struct Series {
    values: BTreeMap<u32, f64>,
    counted: usize,
    /// How deep below the middle their mean is where rounds scatter evenly; the baseline's
    /// taken off.
    depth: f64,
}

/// A campaign as the other sees it.
struct Side<'a> {
    summary: &'a Summary,
    /// The later campaign's.
    figure: Figure,
    /// The mean of native code's logarithms by number of instances: of the
    /// workloads that both campaigns have natively.
    native: BTreeMap<u32, Series>,
    /// How many those are, where fewest.
    native_workloads: usize,
}

impl<'a> Side<'a> {
    fn of(summary: &'a Summary, other: &Summary) -> Side<'a> {
        let mut all: BTreeMap<u32, Vec<Series>> = BTreeMap::new();
        let native = summary
            .cells
            .iter()
            .filter(|cell| cell.cell.variant == Variant::Native && !cell.cell.is_control());
        let side = Side {
            summary,
            figure: summary.compared,
            native: BTreeMap::new(),
            native_workloads: 0,
        };
        for cell in native {
            let is_common = other
                .cell(&cell.id)
                .is_some_and(|other| other.times.is_ok());
            if let Some(series) = side.logs(cell).filter(|_| is_common) {
                all.entry(cell.cell.threads).or_default().push(series);
            }
        }
        let native_workloads = all.values().map(Vec::len).min().unwrap_or(0);
        let native = all
            .into_iter()
            .map(|(threads, all)| (threads, Series::mean(&all)))
            .collect();
        Side {
            native,
            native_workloads,
            ..side
        }
    }

    /// A workload of a row, on a basis.
    fn series(&self, row: &RowSummary, workload: &str, basis: Basis) -> Option<Series> {
        let own = self.logs(self.summary.cell_of(&row.row, workload)?)?;
        let base = match basis {
            Basis::Time => self.native.get(&row.row.threads).cloned(),
            Basis::ToBaseline => Some(self.logs(self.summary.cell_of(&row.baseline, workload)?)?),
        };
        Some(match base {
            Some(base) => own.less(&base),
            None => own,
        })
    }

    /// A cell's rounds; `None` if it has no time or one of them none.
    fn logs(&self, cell: &CellSummary) -> Option<Series> {
        let rounds = &cell.times.as_ref().ok()?.rounds;
        let (rounds, logs): (Vec<u32>, Vec<f64>) = rounds
            .iter()
            .filter_map(|(round, values)| Some((*round, positive_ln(*values.get(&self.figure)?))))
            .unzip();
        let is_whole = !logs.is_empty() && logs.iter().all(|log| log.is_finite());
        let of = || estimator::Series::of(&logs, self.summary.estimator_of(self.figure));
        is_whole.then(of).map(|series| Series {
            values: rounds.into_iter().zip(series.values).collect(),
            counted: series.counted,
            depth: series.depth,
        })
    }

    fn inflation(&self, row: &RowSummary) -> Inflation {
        self.summary.noise.inflation(row.row.threads)
    }

    fn floor(&self, row: &RowSummary, workload: Option<&str>, basis: Basis) -> Option<Floor> {
        let noise = &self.summary.noise;
        match basis {
            Basis::Time => noise.of_row(&row.row, workload),
            Basis::ToBaseline => noise.of_ratio(&row.row, &row.baseline, workload),
        }
    }
}

impl Series {
    /// Less another, in the rounds that both have.
    fn less(self, base: &Series) -> Series {
        let values = self.values.into_iter();
        Series {
            values: values
                .filter_map(|(round, log)| Some((round, log - base.values.get(&round)?)))
                .collect(),
            counted: self.counted.min(base.counted),
            depth: self.depth - base.depth,
        }
    }

    /// The mean in the rounds that all have. Its depth is that of a typical one.
    fn mean(all: &[Series]) -> Series {
        let Some((first, others)) = all.split_first() else {
            return Series::default();
        };
        let in_round = |(round, log): (&u32, &f64)| {
            let others = others.iter().map(|one| one.values.get(round).copied());
            let others: Option<Vec<f64>> = others.collect();
            let sum = log + others?.iter().sum::<f64>();
            let mean = sum / all.len() as f64;
            // All of native code less its own mean is what adding numbers rounds off.
            let is_rounding = mean.abs() < 1e-12;
            Some((*round, if is_rounding { 0.0 } else { mean }))
        };
        let depths: Vec<f64> = all.iter().map(|one| one.depth).collect();
        Series {
            values: first.values.iter().filter_map(in_round).collect(),
            counted: all.iter().map(|one| one.counted).min().unwrap_or(0),
            depth: median(&depths).unwrap_or(0.0),
        }
    }

    fn group(&self, serial: Serial, figure: Figure) -> Option<Group> {
        let values: Vec<f64> = self.values.values().copied().collect();
        let counted = self.counted.min(values.len());
        let group = || {
            Group::of(&values, counted, exact::variance(figure), serial)
                .with_least(exact::rounds_min(figure))
        };
        (!values.is_empty()).then(group)
    }
}

/// A row in both campaigns: the earlier first.
struct RowPair<'a> {
    row: &'a Row,
    /// Workloads that both have a time for.
    workloads: Vec<(&'a str, [Series; 2], Option<Floor>)>,
    floor: Option<Floor>,
    inflation: Inflation,
    figure: Figure,
}

impl<'a> RowPair<'a> {
    fn of(sides: [&Side<'a>; 2], rows: [&'a RowSummary; 2], basis: Basis) -> RowPair<'a> {
        let [before, after] = sides;
        let [old, new] = rows;
        // Another baseline or another figure in the earlier campaign would
        // compare apples with pears.
        let is_comparable =
            before.figure == after.figure && (basis == Basis::Time || old.baseline == new.baseline);
        let known: BTreeSet<&str> = before.summary.workloads_of(&old.row).collect();
        let common = after
            .summary
            .workloads_of(&new.row)
            .filter(|name| is_comparable && known.contains(name));
        let floor = |workload: Option<&str>| {
            let floor = before.floor(old, workload, basis)?;
            Some(floor.max(after.floor(new, workload, basis)?))
        };
        RowPair {
            row: &new.row,
            workloads: common
                .filter_map(|name| {
                    let series = [
                        before.series(old, name, basis)?,
                        after.series(new, name, basis)?,
                    ];
                    Some((name, series, floor(Some(name))))
                })
                .collect(),
            floor: floor(None),
            inflation: before.inflation(old).max(after.inflation(new)),
            figure: after.figure,
        }
    }

    fn side(&self, at: usize) -> Vec<Series> {
        let all = self.workloads.iter();
        all.map(|(_, series, _)| series[at].clone()).collect()
    }

    fn changes(&self, serial: Serial) -> Unjudged<'a> {
        let [before, after] = [0, 1].map(|at| {
            let all = self.side(at);
            let group = |one: &Series| one.group(serial, self.figure);
            let groups: Option<Vec<Group>> = all.iter().map(group).collect();
            let groups = groups.map(|groups| Group::moderated(&groups));
            (groups.unwrap_or_default(), group(&Series::mean(&all)))
        });
        let depths = self.workloads.iter();
        let depths: Vec<f64> = depths
            .map(|(_, [before, after], _)| after.depth - before.depth)
            .collect();
        let unequal = ratio::unequal_depths(&depths);
        let apart = |after, before, workloads, times| {
            let ratio = ratio::apart(after, before, workloads, unequal).ok()?;
            Some(ratio.widened(times))
        };
        let means = before.1.zip(after.1);
        let cells = before.0.iter().zip(&after.0).zip(&self.workloads);
        Unjudged {
            row: self.row,
            mean: means.and_then(|(before, after)| {
                apart(after, before, self.workloads.len(), self.inflation.means)
            }),
            floor: self.floor,
            cells: cells
                .filter_map(|((before, after), (name, _, floor))| {
                    let ratio = apart(*after, *before, 1, self.inflation.cells)?;
                    Some((*name, ratio, *floor))
                })
                .collect(),
        }
    }
}

/// How the rounds of both campaigns resemble each other.
fn serial(pairs: &[RowPair<'_>], after: &Side<'_>) -> Serial {
    let families = pairs.iter().flat_map(|pair| {
        [0, 1].map(|at| {
            let all = pair.side(at);
            all.iter()
                .map(|series| series.values.values().copied().collect())
                .collect()
        })
    });
    let families: Vec<Vec<Vec<f64>>> = families.collect();
    // One native workload is in all cells; of many, each hardly.
    let sharing = match after.native_workloads {
        1 => pairs.len(),
        _ => 1,
    };
    Serial::of(&families, sharing)
}

/// What native code itself changed by.
fn drift([before, after]: &[Side<'_>; 2], serial: Serial) -> BTreeMap<u32, Ratio> {
    let each = after.native.iter().filter_map(|(threads, later)| {
        let earlier = before.native.get(threads)?;
        let unequal = (later.depth - earlier.depth).powi(2);
        let (later, earlier) = (
            later.group(serial, after.figure)?,
            earlier.group(serial, before.figure)?,
        );
        Some((*threads, ratio::apart(later, earlier, 1, unequal).ok()?))
    });
    each.collect()
}

/// A row's changes before they are judged.
struct Unjudged<'a> {
    row: &'a Row,
    mean: Option<Ratio>,
    floor: Option<Floor>,
    cells: Vec<(&'a str, Ratio, Option<Floor>)>,
}

/// All rows judged together, and what could have been seen.
fn judged(rows: &[Unjudged<'_>], threshold: f64) -> (Vec<RowChange>, (Option<f64>, Option<f64>)) {
    let means: Vec<Judged> = rows.iter().map(|row| (row.mean, row.floor)).collect();
    let cells: Vec<Judged> = rows
        .iter()
        .flat_map(|row| &row.cells)
        .map(|(_, ratio, floor)| (Some(*ratio), *floor))
        .collect();
    let seen = |all: &[Judged]| {
        let each = all.iter().filter_map(|(ratio, _)| ratio.as_ref());
        let level = ALPHA_PART / all.len().max(1) as f64;
        let each = each.filter_map(|ratio| detectable(ratio, level));
        median(&each.collect::<Vec<f64>>())
    };
    let could = (seen(&means), seen(&cells));
    let mut of_cells = verdicts(&cells, ALPHA_PART).into_iter();
    let change = |ratio: Ratio, floor: Option<Floor>, verdict: Verdict| Change {
        ratio,
        verdict,
        floor,
        is_regression: verdict == Verdict::Different && ratio.value > 1.0 + threshold,
    };
    let rows = rows.iter().zip(verdicts(&means, ALPHA_PART));
    let rows = rows.map(|(row, verdict)| RowChange {
        row: row.row.clone(),
        geomean: row.mean.map(|ratio| change(ratio, row.floor, verdict)),
        workloads: row
            .cells
            .iter()
            .zip(of_cells.by_ref())
            .map(|((name, ratio, floor), verdict)| {
                ((*name).to_owned(), change(*ratio, *floor, verdict))
            })
            .collect(),
    });
    (rows.collect(), could)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else native code, whose change is the drift that is taken off it, has changed.
    #[test]
    fn native_code_less_its_own_mean_is_nothing() {
        let one = |logs: [f64; 3]| Series {
            values: (0..).zip(logs).collect(),
            counted: 3,
            depth: 0.0,
        };
        let all = [[0.1, 4.7, 12.3], [0.2, 5.1, 11.9], [0.7, 4.9, 12.1]].map(one);
        let mean = Series::mean(&all);
        let less = all.map(|one| one.less(&mean));
        let values = Series::mean(&less).values.into_values();
        assert_eq!(values.collect::<Vec<f64>>(), [0.0; 3]);
    }
}
