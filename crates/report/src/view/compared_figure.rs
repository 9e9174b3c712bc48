//! The figure that rows are compared by, and what its differences are worth.
//!
//! A campaign compares one time, but its report can be made by any figure: a
//! campaign of compilations by `compile`, any campaign by memory.

use std::borrow::Cow;
use std::collections::BTreeMap;

use fathom_stats::times::Point;
use fathom_stats::{
    CellSummary, Figure, NoiseFloor, Row as Key, RowRatio, RowSummary, Summary, Verdict,
};

use super::Workload;
use crate::figures;

/// A summary seen by one figure.
pub struct ComparedFigure<'a> {
    /// The summary.
    pub summary: &'a Summary,
    /// The figure.
    pub figure: Figure,
    noise: Cow<'a, NoiseFloor>,
}

impl ComparedFigure<'_> {
    /// A summary by a figure; its noise is its own.
    pub fn new(summary: &Summary, figure: Figure) -> ComparedFigure<'_> {
        let noise = if figure == summary.compared {
            Cow::Borrowed(&summary.noise)
        } else {
            Cow::Owned(summary.noise_in(figure))
        };
        ComparedFigure {
            summary,
            figure,
            noise,
        }
    }

    /// One row over another.
    pub fn ratio(&self, row: &Key, to: &Key) -> RowRatio {
        self.summary.ratio_in(self.figure, &self.noise, row, to)
    }

    /// All rows over the base, judged together, and what could have been seen
    /// in a mean and in a cell.
    pub fn to_base(
        &self,
        rows: &[&RowSummary],
        base: Option<&Key>,
    ) -> (Vec<RowRatio>, (Option<f64>, Option<f64>)) {
        let base_of = |row: &&RowSummary| base.unwrap_or(&row.baseline).clone();
        let bases: Vec<Key> = rows.iter().map(base_of).collect();
        // A row is not compared with itself.
        let pairs = rows.iter().zip(&bases).map(|(row, base)| (&row.row, base));
        let pairs: Vec<(&Key, &Key)> = pairs.filter(|(row, base)| row != base).collect();
        let table = self.summary.table(self.figure, &self.noise, &pairs);
        let seen = table.detectable();
        let mut judged = table.ratios.into_iter();
        let ratios = rows.iter().zip(&bases).map(|(row, base)| {
            let own = (row.row == *base).then(|| self.ratio(&row.row, base));
            own.or_else(|| judged.next())
                .unwrap_or_else(|| self.ratio(&row.row, base))
        });
        (ratios.collect(), seen)
    }

    /// Every pair of some rows, judged together.
    pub fn pairs(&self, rows: &[&Key]) -> Pairs<'_> {
        let each = rows.iter().enumerate();
        let all: Vec<(&Key, &Key)> = each
            .flat_map(|(at, row)| rows[..at].iter().map(|other| (*row, *other)))
            .collect();
        let table = self.summary.pairs(self.figure, &self.noise, rows);
        let seen = table.detectable().0;
        let mut verdicts = BTreeMap::new();
        for ((row, to), ratio) in all.into_iter().zip(&table.ratios) {
            let told = (ratio.verdict, ratio.detectable);
            verdicts.insert((row.clone(), to.clone()), told);
            verdicts.insert((to.clone(), row.clone()), told);
        }
        Pairs {
            compared: self,
            seen,
            verdicts,
        }
    }

    /// The smallest floor of a group's rows: what the host lets be seen.
    pub fn quiet(&self, threads: u32) -> Option<f64> {
        self.noise.least(threads).map(|floor| floor.relative())
    }

    /// The floor below which none of a group's differences means anything: the noisiest row's.
    pub fn floor(&self, suite: &str, workloads: &[Workload], threads: u32) -> Option<f64> {
        let floor = match workloads {
            [only] => self
                .noise
                .workload(&format!("{suite}:{}", only.name), threads),
            _ => self.noise.geomean(threads),
        };
        floor.map(|floor| floor.relative())
    }

    /// Whether a row has the figure at all.
    pub fn has(&self, row: &Key) -> bool {
        self.summary.typical(row, self.figure).is_some()
    }

    /// Workloads of which a row has the figure as nothing in some round: no ratio has that.
    pub fn zeros(&self, row: &RowSummary) -> Vec<&str> {
        let is_zero = |cell: &CellSummary| self.points(cell).iter().any(|point| point.ns == 0.0);
        let cells = row.cells.iter().filter_map(|id| self.summary.cell(id));
        let zeros = cells.filter(|cell| is_zero(cell));
        zeros.map(|cell| cell.cell.workload.as_str()).collect()
    }

    /// The ranked row with the smallest figure, every workload measured.
    pub fn best<'r>(&self, rows: &[&'r RowSummary]) -> Option<&'r RowSummary> {
        rows.iter()
            .filter(|row| row.is_ranked && row.without_time.is_empty())
            .filter_map(|row| Some((self.summary.typical(&row.row, self.figure)?, *row)))
            .min_by(|(one, _), (other, _)| one.total_cmp(other))
            .map(|(_, row)| row)
    }

    /// The values of a cell: every sample of the compared figure, every round
    /// of any other.
    pub fn points(&self, cell: &CellSummary) -> Vec<Point> {
        let Ok(times) = &cell.times else {
            return Vec::new();
        };
        if self.figure == self.summary.compared {
            return times.samples.clone();
        }
        times
            .rounds
            .iter()
            .filter_map(|(round, values)| {
                Some(Point {
                    round: *round,
                    thread: 0,
                    ns: *values.get(&self.figure)?,
                })
            })
            .collect()
    }
}

/// Every pair of some rows, by one figure.
pub struct Pairs<'a> {
    compared: &'a ComparedFigure<'a>,
    /// The difference that half of the pairs would have shown, relative.
    pub seen: Option<f64>,
    verdicts: BTreeMap<(Key, Key), (Verdict, Option<f64>)>,
}

impl Pairs<'_> {
    /// What rows are compared by.
    pub fn figure(&self) -> Figure {
        self.compared.figure
    }

    /// One row over another, with the verdict that it has among all pairs.
    pub fn ratio(&self, row: &Key, to: &Key) -> RowRatio {
        let mut ratio = self.compared.ratio(row, to);
        if let Some((verdict, detectable)) = self.verdicts.get(&(row.clone(), to.clone())) {
            ratio.verdict = *verdict;
            ratio.detectable = *detectable;
        }
        ratio
    }
}

/// A figure by its name, with or without its unit: `compile_ns`, `compile`.
///
/// # Errors
/// A line that lists the names there are.
pub fn figure(name: &str) -> Result<Figure, String> {
    Figure::ALL
        .into_iter()
        .find(|figure| figure.name() == name || figure.bare_name() == name)
        .ok_or_else(|| {
            let known: Vec<&str> = Figure::ALL.into_iter().map(Figure::bare_name).collect();
            format!("unknown figure '{name}' (one of: {})", known.join(", "))
        })
}

/// A value of a figure with its unit.
pub fn shown(figure: Figure, value: f64) -> String {
    figures::quantity(value, figure.unit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_names_people_say() {
        assert_eq!(figure("compile"), Ok(Figure::Compile));
        assert_eq!(figure("rss_peak_bytes"), Ok(Figure::RssPeak));
        assert!(figure("speed").unwrap_err().contains("kernel, run,"));
    }
}
