//! What pages say of a campaign as a whole: its noise, its rounds, and what is not in it.

use fathom_record::{Campaign, FailureKind, Names};
use fathom_stats::{RowSummary, Summary};

use crate::figures;

/// What means differ by that are of one and the same.
pub(crate) fn floor(summary: &Summary) -> String {
    let floor = summary.noise.geomean(1);
    floor.map_or_else(
        || "unknown: no control, or too few rounds of it".to_owned(),
        |floor| figures::percent(floor.relative()),
    )
}

/// How many rounds the means of rows have: `3 to 5 rounds`.
pub(crate) fn rounds<'a>(rows: impl Iterator<Item = &'a RowSummary>) -> String {
    let rounds = rows.filter_map(|row| Some(row.to_baseline.geomean.as_ref().ok()?.rounds));
    let rounds: Vec<usize> = rounds.collect();
    match (rounds.iter().min(), rounds.iter().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most} rounds"),
        (least, _) => figures::plural(least.copied().unwrap_or(0), "round"),
    }
}

/// Engines that are not there, each with the reason.
pub(crate) fn absent(campaign: &Campaign) -> Vec<String> {
    let absent = campaign.header.config.absent.iter();
    absent
        .map(|one| format!("{}: {}", one.engine, one.why))
        .collect()
}

/// What has no time, a line for each engine and reason.
pub(crate) fn failures(campaign: &Campaign) -> Vec<String> {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for failure in &campaign.failures {
        let Some(cell) = failure.cell.as_ref().and_then(|id| campaign.cell(id)) else {
            continue;
        };
        let name = Names::sandbox(&cell.sandbox);
        let at_once = match cell.threads {
            1 => String::new(),
            more => format!(", {more} at once"),
        };
        let kind: FailureKind = failure.kind;
        let line = format!(
            "{name}, {}{at_once}: {kind}: {}",
            cell.variant, failure.message
        );
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, count)) => *count += 1,
            None => lines.push((line, 1)),
        }
    }
    let lines = lines.into_iter();
    lines
        .map(|(line, count)| format!("{line} ({})", figures::plural(count, "cell")))
        .collect()
}
