//! A row over groups of workloads: against another row, or against what is in the
//! middle of several.
//!
//! ```text
//!  a workload in a round:   t(row) / t(other)     or    t(row) / median over rows of t
//!  a group:                 the geometric mean over its workloads
//! ```
//!
//! What must stay true: a middle is taken in each round of its own, of all rows
//! that have a time for the workload, so that a round in which one of them is
//! missing does not move it.

use crate::NoEstimate;
use crate::noise::Floor;
use crate::order::median;
use crate::ratio::{self, Logs, Ratio};
use crate::row::Row;
use crate::summary::{CellSummary, Summary};
use crate::times::Times;
use crate::verdict::{ALPHA, Judged, Verdict, verdicts};

/// A comparison that is made: a row, what it is divided by, and some workloads.
pub type Pairing<'a> = (&'a Row, Against<'a>, Vec<&'a str>);

/// The variance of a median in that of a mean of as many normal values.
const OF_MEDIAN: f64 = std::f64::consts::FRAC_PI_2;

/// What a row's times are divided by.
#[derive(Clone, Copy, Debug)]
pub enum Against<'a> {
    /// Those of a row.
    Row(&'a Row),
    /// The median of those of several rows.
    Median(&'a [Row]),
}

/// A row over some workloads.
#[derive(Clone, Debug)]
pub struct GroupRatio {
    /// The geometric mean over the workloads that both sides have.
    pub geomean: Result<Ratio, NoEstimate>,
    /// Workloads that one of them has no time for.
    pub missing: Vec<String>,
}

impl Summary {
    /// A row's compared times over those of others, for some workloads.
    pub fn over(&self, row: &Row, against: Against<'_>, workloads: &[&str]) -> GroupRatio {
        let (mut logs, mut missing) = (Vec::new(), Vec::new());
        for &workload in workloads {
            let one = match against {
                Against::Row(other) => self.logs(self.compared, row, other, workload),
                Against::Median(rows) => self.logs_to_median(row, rows, workload),
            };
            match one {
                Some(one) => logs.push(one),
                None => missing.push(workload.to_owned()),
            }
        }
        GroupRatio {
            geomean: ratio::mean(&logs, self.noise.serial)
                .map(|mean| mean.widened(self.noise.inflation(row.threads).means)),
            missing,
        }
    }

    /// Several comparisons with what they are worth, judged as one table: together they
    /// call something different that is not in one campaign of twenty.
    pub fn judged(&self, table: &[Pairing<'_>]) -> Vec<(GroupRatio, Verdict)> {
        let ratios: Vec<GroupRatio> = table
            .iter()
            .map(|(row, against, workloads)| self.over(row, *against, workloads))
            .collect();
        let floors = table.iter().map(|one| self.floor(one));
        let judged: Vec<Judged> = ratios
            .iter()
            .map(|ratio| ratio.geomean.as_ref().ok().copied())
            .zip(floors)
            .collect();
        let verdicts = verdicts(&judged, ALPHA);
        ratios.into_iter().zip(verdicts).collect()
    }

    /// The floor of a comparison: its noisier side's, where a median is as noisy as what
    /// is in its middle. Of some of the workloads it is that of the noisiest of them, since a
    /// mean over fewer is less sure than one over all.
    fn floor(&self, (row, against, workloads): &Pairing<'_>) -> Option<Floor> {
        let of = |row: &Row| {
            if workloads.len() == self.workloads_of(row).count() {
                return self.noise.of_row(row, None);
            }
            let floors = workloads.iter();
            let floors = floors.map(|name| self.noise.of_row(row, Some(name)));
            floors
                .collect::<Option<Vec<_>>>()?
                .into_iter()
                .reduce(Floor::max)
        };
        let other = match against {
            Against::Row(other) => of(other)?,
            Against::Median(rows) => {
                let floors = rows.iter().map(of).collect::<Option<Vec<_>>>()?;
                let logs: Vec<f64> = floors.iter().map(|floor| floor.log()).collect();
                Floor::from_log(median(&logs)?)
            }
        };
        Some(of(row)?.max(other))
    }

    fn logs_to_median(&self, row: &Row, rows: &[Row], workload: &str) -> Option<Logs> {
        let own = self.cell_of(row, workload)?;
        let others = rows.iter().filter_map(|row| self.cell_of(row, workload));
        let others: Vec<(&CellSummary, &Times)> = others
            .filter_map(|cell| Some((cell, cell.times.as_ref().ok()?)))
            .collect();
        let times = own.times.as_ref().ok()?;
        let pair = |round: &u32| {
            let value = |times: &Times| times.rounds.get(round)?.get(&self.compared).copied();
            let values = others.iter().map(|(_, times)| value(times));
            let values: Vec<f64> = values.collect::<Option<_>>()?;
            Some((value(times)?, median(&values)?))
        };
        let pairs: Vec<(f64, f64)> = times.rounds.keys().filter_map(pair).collect();
        // What is in the middle of several layouts scatters less than each.
        let systematic = |cell: &CellSummary| self.layouts.of_cell(&cell.cell, self.compared);
        let of_others: f64 = others.iter().map(|(cell, _)| systematic(cell)).sum();
        let count = others.len() as f64;
        let middle = OF_MEDIAN * of_others / (count * count);
        Some(
            Logs::between(&pairs, self.estimator_of(self.compared))
                .ok()?
                .with_systematic(systematic(own) + middle)
                .of_figure(self.compared, 2),
        )
    }
}
