//! Ratios that are shown together, judged together.
//!
//! A table has two families of comparisons: the means of its rows, and the
//! cells of its workloads. Each family has half of the error that a report may
//! make ([`ALPHA`](crate::verdict::ALPHA)), so that all of a table's verdicts
//! together err in one campaign of twenty.

use std::collections::BTreeSet;

use crate::NoEstimate;
use crate::figure::Figure;
use crate::noise::{Floor, NoiseFloor};
use crate::order::median;
use crate::ratio::{self, Logs, Ratio};
use crate::row::Row;
use crate::summary::{RowRatio, Summary, WorkloadRatio};
use crate::verdict::{ALPHA_PART, Judged, Verdict, detectable, verdicts};

/// Ratios with their verdicts, in the order in which they were asked for.
#[derive(Clone, Debug)]
pub struct Table {
    /// One for each pair of rows.
    pub ratios: Vec<RowRatio>,
}

/// A pair of rows, or one of each suite, before it is judged.
struct Pair {
    mean: Result<Ratio, NoEstimate>,
    mean_floor: Option<Floor>,
    /// By name.
    cells: Vec<(String, Ratio, Option<Floor>)>,
    missing: Vec<String>,
}

impl Table {
    /// Each inner list is one comparison: a row and the one it is compared
    /// with, in one suite or in several.
    pub(crate) fn of(
        summary: &Summary,
        figure: Figure,
        noise: &NoiseFloor,
        comparisons: &[Vec<(&Row, &Row)>],
    ) -> Table {
        let pairs = comparisons.iter();
        let pairs: Vec<Pair> = pairs
            .map(|rows| Pair::of(summary, figure, noise, rows))
            .collect();
        let means: Vec<Judged> = pairs
            .iter()
            .map(|pair| (pair.mean.as_ref().ok().copied(), pair.mean_floor))
            .collect();
        let cells: Vec<Judged> = pairs
            .iter()
            .flat_map(|pair| &pair.cells)
            .map(|(_, ratio, floor)| (Some(*ratio), *floor))
            .collect();
        let counts = (means.len(), cells.len());
        let of_means = verdicts(&means, ALPHA_PART);
        let mut of_cells = verdicts(&cells, ALPHA_PART).into_iter();
        let ratios = pairs
            .into_iter()
            .zip(of_means)
            .map(|(pair, verdict)| pair.judged(verdict, &mut of_cells, counts))
            .collect();
        Table { ratios }
    }

    /// What the table could have seen in a mean and in a cell, relative: the
    /// differences that half of them would have shown eight times of ten.
    pub fn detectable(&self) -> (Option<f64>, Option<f64>) {
        let means: Vec<f64> = self
            .ratios
            .iter()
            .filter_map(|one| one.detectable)
            .collect();
        let cells: Vec<f64> = self
            .ratios
            .iter()
            .flat_map(|one| &one.workloads)
            .filter_map(|one| one.detectable)
            .collect();
        (median(&means), median(&cells))
    }
}

impl Pair {
    fn of(summary: &Summary, figure: Figure, noise: &NoiseFloor, rows: &[(&Row, &Row)]) -> Pair {
        let mut all: Vec<Logs> = Vec::new();
        let (mut cells, mut missing) = (Vec::new(), Vec::new());
        for (row, to) in rows {
            let names: BTreeSet<&str> = summary
                .workloads_of(row)
                .chain(summary.workloads_of(to))
                .collect();
            let mut logs: Vec<Logs> = Vec::new();
            let mut found: Vec<&str> = Vec::new();
            for name in names {
                match summary.logs(figure, (row, to), name) {
                    Some(one) => {
                        logs.push(one);
                        found.push(name);
                    }
                    None => missing.push(name.to_owned()),
                }
            }
            let ratios = ratio::each(&logs, noise.serial);
            cells.extend(found.into_iter().zip(ratios).filter_map(|(name, ratio)| {
                let floor = noise.of_ratio(row, to, Some(name));
                Some((name.to_owned(), ratio.ok()?, floor))
            }));
            all.extend(logs);
        }
        let floors: Option<Vec<Floor>> = rows
            .iter()
            .map(|(row, to)| noise.of_ratio(row, to, None))
            .collect();
        Pair {
            mean: ratio::mean(&all, noise.serial),
            mean_floor: floors.and_then(|floors| floors.into_iter().reduce(Floor::max)),
            cells,
            missing,
        }
    }

    /// With its verdicts. `counts` are how many means and cells were judged.
    fn judged(
        self,
        verdict: Verdict,
        of_cells: &mut impl Iterator<Item = Verdict>,
        (means, cells): (usize, usize),
    ) -> RowRatio {
        let workloads = self
            .cells
            .into_iter()
            .zip(of_cells)
            .map(|((workload, ratio, _), verdict)| WorkloadRatio {
                workload,
                ratio,
                verdict,
                detectable: detectable(&ratio, cells, ALPHA_PART),
            })
            .collect();
        let mean = self.mean.as_ref().ok();
        let seen = mean.and_then(|mean| detectable(mean, means, ALPHA_PART));
        RowRatio {
            verdict,
            detectable: seen,
            geomean: self.mean,
            workloads,
            missing: self.missing,
        }
    }
}
