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
use crate::order::median;
use crate::ratio::{self, Logs, Ratio};
use crate::row::Row;
use crate::summary::Summary;
use crate::times::Times;

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
                Against::Row(other) => self.logs(self.compared, (row, other), workload, ""),
                Against::Median(rows) => self.logs_to_median(row, rows, workload),
            };
            match one {
                Some(one) => logs.push(one),
                None => missing.push(workload.to_owned()),
            }
        }
        GroupRatio {
            geomean: ratio::geomean(&logs.iter().collect::<Vec<_>>()),
            missing,
        }
    }

    fn logs_to_median(&self, row: &Row, rows: &[Row], workload: &str) -> Option<Logs> {
        let times =
            |row: &Row| -> Option<&Times> { self.cell_of(row, workload)?.times.as_ref().ok() };
        let own = times(row)?;
        let all: Vec<&Times> = rows.iter().filter_map(times).collect();
        let pair = |round: &u32| {
            let value = |times: &Times| times.rounds.get(round)?.get(&self.compared).copied();
            let values = all.iter().map(|times| value(times));
            let values: Vec<f64> = values.collect::<Option<_>>()?;
            Some((value(own)?, median(&values)?))
        };
        let pairs: Vec<(f64, f64)> = own.rounds.keys().filter_map(pair).collect();
        let stream = format!("median {row} {workload}");
        Logs::paired(&pairs, &stream).ok()
    }
}
