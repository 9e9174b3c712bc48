//! Two campaigns side by side, for a program (`docs/COMMANDS.md` has the shape).

use std::path::PathBuf;

use fathom_stats::Ratio;
use fathom_stats::compare::{Basis, Change, Comparison, RowChange};
use serde::Serialize;

use crate::json::FORMAT;

#[derive(Serialize)]
struct Answer<'a> {
    format: u32,
    before: &'a str,
    after: &'a str,
    basis: &'static str,
    threshold: f64,
    is_same_host: bool,
    other_programs: &'a [String],
    outcome: Outcome,
    drift: Vec<Drift>,
    rows: Vec<RowOut<'a>>,
    lost: Vec<String>,
    only_before: Vec<String>,
    only_after: Vec<String>,
    confirmation: Option<Confirmation<'a>>,
}

/// What it came to, as the exit status has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Nothing became slower past the threshold, or did not again.
    Accepted,
    /// Something did, or a time was lost.
    Refused,
    /// Something did, and could not be looked for again.
    Unconfirmed,
    /// Nothing was found, and what was tolerated could not have been seen.
    TooNoisy,
}

#[derive(Serialize)]
struct Drift {
    threads: u32,
    #[serde(flatten)]
    ratio: RatioOut,
}

#[derive(Serialize)]
pub(crate) struct RatioOut {
    ratio: f64,
    low_95: Option<f64>,
    high_95: Option<f64>,
}

#[derive(Serialize)]
struct RowOut<'a> {
    row: String,
    mean: Option<ChangeOut>,
    workloads: Vec<WorkloadOut<'a>>,
}

#[derive(Serialize)]
struct WorkloadOut<'a> {
    workload: &'a str,
    #[serde(flatten)]
    change: ChangeOut,
}

#[derive(Serialize)]
struct ChangeOut {
    #[serde(flatten)]
    ratio: RatioOut,
    verdict: &'static str,
    is_regression: bool,
}

#[derive(Serialize)]
struct Confirmation<'a> {
    folder: Option<String>,
    error: Option<&'a str>,
    rows: Vec<RowOut<'a>>,
}

/// The comparison, what a second look found if there was one, and what both came to; ends
/// with a line break.
///
/// # Errors
/// A value that JSON has no form for; there is none.
pub fn render(
    comparison: &Comparison,
    before: &str,
    after: &str,
    others: &[String],
    again: Option<Result<&(Comparison, PathBuf), &String>>,
    outcome: Outcome,
) -> Result<String, serde_json::Error> {
    let ids = |ids: &[fathom_record::CellId]| ids.iter().map(ToString::to_string).collect();
    let drift = comparison.drift.iter().map(|(threads, drift)| Drift {
        threads: *threads,
        ratio: ratio(drift),
    });
    let answer = Answer {
        format: FORMAT,
        before,
        after,
        basis: match comparison.basis {
            Basis::Time => "time",
            Basis::ToBaseline => "ratio",
        },
        threshold: comparison.threshold,
        is_same_host: comparison.is_same_host,
        other_programs: others,
        outcome,
        drift: drift.collect(),
        rows: comparison.rows.iter().map(row).collect(),
        lost: (comparison.lost.iter())
            .map(|(cell, _)| cell.to_string())
            .collect(),
        only_before: ids(&comparison.only_before),
        only_after: ids(&comparison.only_after),
        confirmation: again.map(|again| match again {
            Ok((again, folder)) => Confirmation {
                folder: Some(folder.display().to_string()),
                error: None,
                rows: again.rows.iter().map(row).collect(),
            },
            Err(error) => Confirmation {
                folder: None,
                error: Some(error),
                rows: Vec::new(),
            },
        }),
    };
    Ok(serde_json::to_string_pretty(&answer)? + "\n")
}

fn row(row: &RowChange) -> RowOut<'_> {
    let workloads = row.workloads.iter().map(|(name, one)| WorkloadOut {
        workload: name,
        change: change(one),
    });
    RowOut {
        row: row.row.to_string(),
        mean: row.geomean.as_ref().map(change),
        workloads: workloads.collect(),
    }
}

fn change(change: &Change) -> ChangeOut {
    ChangeOut {
        ratio: ratio(&change.ratio),
        verdict: change.verdict.name(),
        is_regression: change.is_regression,
    }
}

pub(crate) fn ratio(ratio: &Ratio) -> RatioOut {
    let interval = ratio.interval.as_ref().ok();
    RatioOut {
        ratio: ratio.value,
        low_95: interval.map(|interval| interval.low),
        high_95: interval.map(|interval| interval.high),
    }
}
