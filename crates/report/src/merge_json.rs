//! Shards of one campaign together, for a program (`docs/COMMANDS.md` has the shape).

use fathom_stats::merge::{Merged, MergedRow};
use fathom_stats::{Ratio, Verdict};
use serde::Serialize;

use crate::compare_json::{self, RatioOut};
use crate::json::FORMAT;
use crate::merge::Shown;

#[derive(Serialize)]
struct Answer<'a> {
    format: u32,
    count: u32,
    anchors: &'a [String],
    #[serde(rename = "remarks")]
    warnings: &'a [String],
    shards: Vec<ShardOut<'a>>,
    rows: Vec<RowOut>,
}

#[derive(Serialize)]
struct ShardOut<'a> {
    index: u32,
    folder: &'a str,
    host: &'a str,
}

#[derive(Serialize)]
struct RowOut {
    row: String,
    baseline: String,
    mean: Option<JudgedOut>,
    why_not: Option<String>,
    machines: Vec<JudgedOut>,
    interaction: Option<f64>,
    workloads: Vec<WorkloadOut>,
    missing: Vec<String>,
}

#[derive(Serialize)]
struct WorkloadOut {
    workload: String,
    shard: Option<u32>,
    #[serde(flatten)]
    ratio: JudgedOut,
}

#[derive(Serialize)]
struct JudgedOut {
    #[serde(flatten)]
    ratio: RatioOut,
    verdict: &'static str,
}

/// The estimates; ends with a line break.
///
/// # Errors
/// A value that JSON has no form for; there is none.
pub fn render(merged: &Merged, shown: &Shown<'_>) -> Result<String, serde_json::Error> {
    let shards = shown.shards.iter().map(|shard| ShardOut {
        index: shard.index,
        folder: &shard.folder,
        host: &shard.host,
    });
    let answer = Answer {
        format: FORMAT,
        count: shown.count,
        anchors: shown.anchors,
        warnings: shown.warnings,
        shards: shards.collect(),
        rows: merged.rows.iter().map(|one| row(one, shown)).collect(),
    };
    Ok(serde_json::to_string_pretty(&answer)? + "\n")
}

fn row(row: &MergedRow, shown: &Shown<'_>) -> RowOut {
    let estimates = row.estimates.as_ref().ok();
    let machines = estimates.iter().flat_map(|one| &one.machines);
    let workloads = estimates.iter().flat_map(|one| &one.workloads);
    let workloads = workloads.map(|one| WorkloadOut {
        workload: one.workload.clone(),
        shard: one.shard.map(|at| shown.shards[at].index),
        ratio: judged(&one.ratio, one.verdict),
    });
    RowOut {
        row: row.row.to_string(),
        baseline: row.baseline.to_string(),
        mean: estimates.map(|one| judged(&one.geomean.0, one.geomean.1)),
        why_not: row.estimates.as_ref().err().map(ToString::to_string),
        machines: machines
            .map(|(one, verdict)| judged(one, *verdict))
            .collect(),
        interaction: estimates.map(|one| one.interaction),
        workloads: workloads.collect(),
        missing: row.missing.clone(),
    }
}

fn judged(ratio: &Ratio, verdict: Verdict) -> JudgedOut {
    JudgedOut {
        ratio: compare_json::ratio(ratio),
        verdict: verdict.name(),
    }
}
