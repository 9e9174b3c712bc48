//! Ratios that are shown together, judged together.
//!
//! A report has three families of comparisons: all pairs of its rows, of which those of the first
//! are told; the means of the rows to what all are compared with; and the cells of their
//! workloads. Each has a part of the error that a report may make
//! ([`ALPHA`](crate::verdict::ALPHA)), so that all verdicts together err in one campaign of
//! twenty.

use std::collections::BTreeSet;

use crate::NoEstimate;
use crate::figure::Figure;
use crate::noise::{Floor, NoiseFloor};
use crate::order::median;
use crate::ratio::{self, Logs, Ratio};
use crate::row::Row;
use crate::summary::{RowRatio, Summary, WorkloadRatio};
use crate::verdict::{ALPHA_CELLS, ALPHA_MEANS, ALPHA_PAIRS, Family, Judged, Verdict, detectable};

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
        Table::judged(summary, figure, noise, comparisons, None)
    }

    /// Each row with each one before it.
    pub(crate) fn of_pairs(
        summary: &Summary,
        figure: Figure,
        noise: &NoiseFloor,
        rows: &[&Row],
    ) -> Table {
        let each = rows.iter().enumerate();
        let all: Vec<Vec<(&Row, &Row)>> = each
            .flat_map(|(at, row)| rows[..at].iter().map(|other| vec![(*row, *other)]))
            .collect();
        Table::judged(summary, figure, noise, &all, Some(rows.len()))
    }

    /// `among` is of how many rows the comparisons are all pairs.
    fn judged(
        summary: &Summary,
        figure: Figure,
        noise: &NoiseFloor,
        comparisons: &[Vec<(&Row, &Row)>],
        among: Option<usize>,
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
        let of_means = Family {
            count: means.len(),
            among,
        };
        let of_cells = Family {
            count: cells.len(),
            among: None,
        };
        let alpha = match among {
            Some(_) => ALPHA_PAIRS,
            None => ALPHA_MEANS,
        };
        let (of_mean, of_cell) = (of_means.level(alpha), of_cells.level(ALPHA_CELLS));
        let of_means = of_means.verdicts(&means, alpha);
        let mut of_cells = of_cells.verdicts(&cells, ALPHA_CELLS).into_iter();
        let ratios = pairs
            .into_iter()
            .zip(of_means)
            .map(|(pair, verdict)| pair.judged(verdict, &mut of_cells, of_mean, of_cell))
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
                match summary.logs(figure, row, to, name) {
                    Some(one) => {
                        logs.push(one);
                        found.push(name);
                    }
                    None => missing.push(name.to_owned()),
                }
            }
            let times = noise.inflation_of(row, to).cells;
            let ratios = ratio::each(&logs, noise.serial);
            let ratios = ratios
                .into_iter()
                .map(|ratio| Some(ratio.ok()?.widened(times)));
            cells.extend(found.into_iter().zip(ratios).filter_map(|(name, ratio)| {
                let floor = noise.of_ratio(row, to, Some(name));
                Some((name.to_owned(), ratio?, floor))
            }));
            all.extend(logs);
        }
        let floors: Option<Vec<Floor>> = rows
            .iter()
            .map(|(row, to)| noise.of_ratio(row, to, None))
            .collect();
        let inflations = rows
            .iter()
            .map(|(row, to)| noise.inflation_of(row, to).means);
        let inflation = inflations.fold(1.0, f64::max);
        Pair {
            mean: ratio::mean(&all, noise.serial).map(|mean| mean.widened(inflation)),
            mean_floor: floors.and_then(|floors| floors.into_iter().reduce(Floor::max)),
            cells,
            missing,
        }
    }

    /// With its verdicts. The levels are those at which one mean and one cell was judged.
    fn judged(
        self,
        verdict: Verdict,
        of_cells: &mut impl Iterator<Item = Verdict>,
        means: f64,
        cells: f64,
    ) -> RowRatio {
        let workloads = self
            .cells
            .into_iter()
            .zip(of_cells)
            .map(|((workload, ratio, _), verdict)| WorkloadRatio {
                workload,
                ratio,
                verdict,
                detectable: detectable(&ratio, cells),
            })
            .collect();
        let mean = self.mean.as_ref().ok();
        let seen = mean.and_then(|mean| detectable(mean, means));
        RowRatio {
            verdict,
            detectable: seen,
            geomean: self.mean,
            workloads,
            missing: self.missing,
        }
    }
}
