//! What a row came to in one campaign, for its history.
//!
//! What is shown is the report's own ratio, with its interval. What campaigns are compared by is
//! its **error by rounds**: a layout that is fixed is the same in all of them, so nothing is
//! allowed for it; what campaigns differ by beside that is seen in the history itself
//! ([`change_points`](crate::change_points)).

use crate::NoEstimate;
use crate::change_points::Observation;
use crate::compare::Basis;
use crate::ratio::{self, Logs, Ratio};
use crate::summary::{RowSummary, Summary};

/// A row's mean, or one of its workloads, in one campaign.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// The ratio to the baseline; on the basis of times, nanoseconds or what else the compared
    /// figure's unit is.
    pub value: Ratio,
    /// As a history has it; absent below five rounds.
    pub observation: Option<Observation>,
}

/// A row in one campaign.
#[derive(Clone, Debug)]
pub struct RowLevel {
    /// The geometric mean over the workloads that have a value.
    pub mean: Option<Level>,
    /// Each of them by name.
    pub workloads: Vec<(String, Level)>,
    /// Workloads without a value: a mean over fewer is another mean.
    pub missing: Vec<String>,
}

impl RowLevel {
    /// A row on a basis.
    pub fn of(summary: &Summary, row: &RowSummary, basis: Basis) -> RowLevel {
        let (mut names, mut logs, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for name in summary.workloads_of(&row.row) {
            match logs_of(summary, row, basis, name) {
                Some(one) => {
                    names.push(name.to_owned());
                    logs.push(one);
                }
                None => missing.push(name.to_owned()),
            }
        }
        let serial = summary.noise.serial;
        let inflation = match basis {
            Basis::Time => summary.noise.inflation(row.row.threads),
            Basis::ToBaseline => summary.noise.inflation_of(&row.row, &row.baseline),
        };
        let by_rounds: Vec<Logs> = logs.iter().cloned().map(Logs::by_rounds).collect();
        let each = ratio::each(&logs, serial)
            .into_iter()
            .zip(ratio::each(&by_rounds, serial));
        let workloads = names.into_iter().zip(each);
        RowLevel {
            mean: Level::of(
                ratio::mean(&logs, serial),
                ratio::mean(&by_rounds, serial),
                inflation.means,
            ),
            workloads: workloads
                .filter_map(|(name, (shown, by_rounds))| {
                    Some((name, Level::of(shown, by_rounds, inflation.cells)?))
                })
                .collect(),
            missing,
        }
    }
}

impl Level {
    fn of(
        shown: Result<Ratio, NoEstimate>,
        by_rounds: Result<Ratio, NoEstimate>,
        times: f64,
    ) -> Option<Level> {
        let by_rounds = by_rounds.ok()?.widened(times);
        let observation = by_rounds.error.ok().map(|error| Observation {
            log: by_rounds.value.ln(),
            error: error.log,
        });
        Some(Level {
            value: shown.ok()?.widened(times),
            observation,
        })
    }
}

/// The rounds of a workload; `None` if a value is missing.
fn logs_of(summary: &Summary, row: &RowSummary, basis: Basis, workload: &str) -> Option<Logs> {
    let figure = summary.compared;
    match basis {
        Basis::ToBaseline => summary.logs(figure, &row.row, &row.baseline, workload),
        Basis::Time => {
            let times = summary.cell_of(&row.row, workload)?.times.as_ref().ok()?;
            let rounds = times.rounds.values();
            let pairs: Option<Vec<(f64, f64)>> = rounds
                .map(|round| Some((*round.get(&figure)?, 1.0)))
                .collect();
            let logs = Logs::between(&pairs?, summary.estimator_of(figure));
            Some(logs.ok()?.of_figure(figure, 1))
        }
    }
}
