//! The report as JSON: what the CSV has and what was not measured, for a program
//! (`docs/COMMANDS.md` has the shape).
//!
//! What must stay true: a field that changes its meaning, or goes, makes another
//! [`FORMAT`]; one that comes does not.

use fathom_stats::Figure;
use fathom_stats::times::Estimate;
use serde::Serialize;

use crate::csv::unit;
use crate::view::{CellView, Group, Interval, OverFirst, Row, View};

/// The number of the shape of everything this program prints as JSON.
pub const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Answer<'a> {
    format: u32,
    name: &'a str,
    date: &'a str,
    tool: &'a str,
    command: &'a str,
    samples: &'a str,
    headline: &'a str,
    groups: Vec<GroupOut<'a>>,
    not_measured: Vec<Missing<'a>>,
}

#[derive(Serialize)]
struct GroupOut<'a> {
    suite: &'a str,
    size: &'a str,
    threads: u32,
    /// The figure that rows are compared by.
    figure: &'static str,
    baseline: &'a str,
    headline: &'a str,
    noise_floor: Option<f64>,
    /// The first row that is ranked.
    first: Option<&'a str>,
    over_first: Vec<OverFirstOut<'a>>,
    rows: Vec<RowOut<'a>>,
}

#[derive(Serialize)]
struct OverFirstOut<'a> {
    row: &'a str,
    ratio: Option<Estimated>,
    verdict: &'static str,
    detectable: Option<f64>,
}

#[derive(Serialize)]
struct RowOut<'a> {
    name: &'a str,
    engine: &'a str,
    version: Option<&'a str>,
    strategy: &'a str,
    opt: String,
    backend: Option<&'a str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    settings: String,
    variant: String,
    checks: &'a str,
    ratio_to_baseline: Option<Estimated>,
    slow_half: Option<f64>,
    slow_half_of_control: Option<f64>,
    cells: Vec<CellOut<'a>>,
}

#[derive(Serialize)]
struct CellOut<'a> {
    cell: String,
    workload: &'a str,
    ratio_to_baseline: Option<Estimated>,
    verdict: Option<&'static str>,
    figures: Vec<FigureOut>,
}

/// A value with the ends of its 95 % interval, where there are rounds enough for one.
#[derive(Serialize)]
struct Estimated {
    value: f64,
    low_95: Option<f64>,
    high_95: Option<f64>,
}

#[derive(Serialize)]
struct FigureOut {
    figure: &'static str,
    unit: &'static str,
    median: f64,
    low_95: Option<f64>,
    high_95: Option<f64>,
    min: f64,
    max: f64,
    rounds: usize,
}

#[derive(Serialize)]
struct Missing<'a> {
    what: &'a str,
    rounds: &'a str,
    kind: &'a str,
    why: &'a str,
}

/// The whole report; ends with a line break.
///
/// # Errors
/// A value that JSON has no form for; there is none.
pub fn render(view: &View) -> Result<String, serde_json::Error> {
    let answer = Answer {
        format: FORMAT,
        name: &view.title,
        date: &view.date,
        tool: &view.tool,
        command: &view.command,
        samples: &view.samples_file,
        headline: &view.headline,
        groups: view.groups.iter().map(group).collect(),
        not_measured: missing(view),
    };
    Ok(serde_json::to_string_pretty(&answer)? + "\n")
}

fn group(group: &Group) -> GroupOut<'_> {
    GroupOut {
        suite: &group.suite,
        size: &group.size,
        threads: group.threads,
        figure: group.figure.name(),
        baseline: &group.baseline,
        headline: &group.headline,
        noise_floor: group.noise_floor,
        first: (group.rows.iter().find(|row| row.is_ranked())).map(|row| row.name.as_str()),
        over_first: group.over_first.iter().map(over_first).collect(),
        rows: group.rows.iter().map(|one| row(group, one)).collect(),
    }
}

fn row<'a>(group: &'a Group, row: &'a Row) -> RowOut<'a> {
    let sandbox = &row.key.sandbox;
    let cells = row.cells.iter().zip(&group.workloads);
    RowOut {
        name: &row.name,
        engine: &sandbox.engine,
        version: Some(row.in_force.as_str()).filter(|version| !version.is_empty()),
        strategy: &sandbox.strategy,
        opt: sandbox.settings.opt().to_string(),
        backend: sandbox.settings.backend(),
        settings: sandbox.settings.for_programs(),
        variant: row.key.variant.to_string(),
        checks: &row.checks,
        ratio_to_baseline: row.to_baseline.map(estimated),
        slow_half: row.slow_half,
        slow_half_of_control: row.slow_half_of_control,
        cells: cells
            .filter_map(|(one, workload)| Some(cell(one.as_ref()?, &workload.name)))
            .collect(),
    }
}

fn over_first(over: &OverFirst) -> OverFirstOut<'_> {
    OverFirstOut {
        row: &over.name,
        ratio: over.ratio.map(estimated),
        verdict: over.verdict.name(),
        detectable: over.detectable,
    }
}

fn cell<'a>(cell: &CellView, workload: &'a str) -> CellOut<'a> {
    CellOut {
        cell: cell.id.to_string(),
        workload,
        ratio_to_baseline: cell.to_baseline.map(estimated),
        verdict: cell.verdict.map(|verdict| verdict.name()),
        figures: (cell.figures.iter())
            .map(|(figure, estimate)| figure_out(*figure, estimate))
            .collect(),
    }
}

fn estimated(interval: Interval) -> Estimated {
    Estimated {
        value: interval.value,
        low_95: interval.ends.map(|(low, _)| low),
        high_95: interval.ends.map(|(_, high)| high),
    }
}

fn figure_out(figure: Figure, estimate: &Estimate) -> FigureOut {
    let interval = estimate.interval().ok();
    FigureOut {
        figure: figure.name(),
        unit: unit(figure.unit()),
        median: estimate.median,
        low_95: interval.map(|interval| interval.low),
        high_95: interval.map(|interval| interval.high),
        min: estimate.min,
        max: estimate.max,
        rounds: estimate.rounds(),
    }
}

fn missing(view: &View) -> Vec<Missing<'_>> {
    let each = view.failures.iter().map(|failure| Missing {
        what: &failure.what,
        rounds: &failure.rounds,
        kind: &failure.kind,
        why: &failure.message,
    });
    each.collect()
}
