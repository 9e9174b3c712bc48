//! Servers under load: a line for each rate and server, and what the talk "Benchmarking
//! WasmFX" states of its own.
//!
//! What must stay true: what is over Asyncify is of the same rounds and judged as the general
//! report judges; a server whose requests failed has no numbers; a rate that a server cannot
//! serve is told of, for its latencies are those of a queue.

use fathom_record::Variant;
use fathom_stats::{Figure, Row, RowRatio, Summary};

use super::wasmfx::{Served, served};
use super::{Context, PageOutput, at_once};
use crate::ReportError;
use crate::figures;
use crate::sheet::{Column, Entry, Sheet, Unit};

const COLUMNS: [Column; 14] = [
    ("asked, 1/s", "rate_per_s", Unit::Text),
    ("server", "server", Unit::Text),
    ("rounds", "rounds", Unit::Whole),
    ("answers, 1/s", "answers_per_s", Unit::Whole),
    ("over Asyncify", "answers_over_asyncify", Unit::Interval),
    ("median", "p50_ns", Unit::Time),
    ("90 %", "p90_ns", Unit::Time),
    ("99 %", "p99_ns", Unit::Time),
    ("over Asyncify", "p99_over_asyncify", Unit::Interval),
    ("99.9 %", "p999_ns", Unit::Time),
    ("over Asyncify", "p999_over_asyncify", Unit::Interval),
    ("longest", "max_ns", Unit::Time),
    ("over Asyncify", "max_over_asyncify", Unit::Interval),
    ("memory", "rss_peak_bytes", Unit::Bytes),
];
/// The workload that sends as many requests as are answered.
const PEAK: &str = "peak";
/// What is compared with Asyncify's.
const COMPARED: [Figure; 4] = [
    Figure::Answers,
    Figure::LatencyP99,
    Figure::LatencyP999,
    Figure::LatencyMax,
];
/// Parts of what the slowest server takes that suit constant rates: the last is the most.
const PARTS: [f64; 3] = [0.5, 0.7, 0.9];

/// What the experiment adds: its table, behind the general report.
///
/// # Errors
/// [`ReportError::Data`] if the talk's figures cannot be read; a test reads them.
pub fn output(context: &Context<'_>) -> Result<PageOutput, ReportError> {
    let published = served()?.into_iter().map(stated);
    let summary = context.summary;
    let workloads = context.campaign.header.workloads.iter();
    let names: Vec<&str> = workloads.map(|note| note.name.as_str()).collect();
    let sheet = Sheet {
        title: format!(
            "HTTP on loopback: medians of rounds, the longest latency of all. At a constant rate \
             latencies count from when a request was due. What is over Asyncify is of the same \
             rounds, with 95 % intervals. Published is the talk \"Benchmarking WasmFX\"{}",
            advice(summary, &names)
        ),
        columns: &COLUMNS,
        lines: lines(context, &names)
            .into_iter()
            .chain(published)
            .collect(),
    };
    Ok(PageOutput::behind("http", &sheet, context))
}

/// Our lines, rate by rate.
fn lines(context: &Context<'_>, workloads: &[&str]) -> Vec<Vec<Entry>> {
    let (summary, names) = (context.summary, context.names());
    let rows: Vec<&Row> = summary.rows.iter().map(|row| &row.row).collect();
    let over = COMPARED.map(|figure| over_asyncify(summary, &rows, figure));
    let of = |workload: &str, row: &Row| {
        let cell = summary.cell_of(row, workload)?;
        let name = names.name(&row.sandbox, Some(row.variant));
        let rounds = cell.times.as_ref().map_or(0, |times| times.rounds.len());
        let middle = |figure| Some(cell.estimate(figure)?.median);
        let [answers, p99, p999, longest] = over.each_ref().map(|ratios| {
            let own = ratios.iter().find(|(of, _)| *of == row);
            let mut of_workloads = own.into_iter().flat_map(|(_, ratio)| &ratio.workloads);
            let ratio = of_workloads.find(|ratio| ratio.workload == workload);
            Entry::Ratio(ratio.map(|ratio| ratio.ratio))
        });
        Some(vec![
            workload.into(),
            at_once(name, row.threads).into(),
            (rounds as u32).into(),
            middle(Figure::Answers).into(),
            answers,
            middle(Figure::LatencyP50).into(),
            middle(Figure::LatencyP90).into(),
            middle(Figure::LatencyP99).into(),
            p99,
            middle(Figure::LatencyP999).into(),
            p999,
            cell.estimate(Figure::LatencyMax).map(|all| all.max).into(),
            longest,
            middle(Figure::RssPeak).into(),
        ])
    };
    let of = &of;
    let each = workloads
        .iter()
        .flat_map(|workload| rows.iter().filter_map(move |row| of(workload, row)));
    each.collect()
}

/// Each row over the Asyncify build of its engine, native code over the first of all; judged
/// together.
fn over_asyncify<'a>(
    summary: &Summary,
    rows: &[&'a Row],
    figure: Figure,
) -> Vec<(&'a Row, RowRatio)> {
    let is_base = |row: &&&Row| row.variant == Variant::WasmAsyncify;
    let base = |row: &Row| {
        let is_like = |base: &&&Row| {
            let own = !row.variant.is_wasm() || base.sandbox == row.sandbox;
            own && base.threads == row.threads && base.is_comparable_to(row)
        };
        rows.iter().filter(is_base).find(is_like).copied()
    };
    let others = rows.iter().filter(|row| !is_base(row));
    let pairs: Vec<(&Row, &Row)> = others.filter_map(|row| Some((*row, base(row)?))).collect();
    let table = summary.table(figure, &summary.noise_in(figure), &pairs);
    let rows = pairs.into_iter().map(|(row, _)| row);
    rows.zip(table.ratios).collect()
}

/// What the talk states, as a line.
fn stated(served: Served) -> Vec<Entry> {
    let (answers, longest) = match served.rate {
        None => (Some(served.is), None),
        Some(_) => (None, Some(served.is * 1e6)),
    };
    let unknown = || Entry::Number(None);
    vec![
        served
            .rate
            .map_or_else(|| PEAK.to_owned(), |rate| rate.to_string())
            .into(),
        format!("published: {}", served.of).into(),
        unknown(),
        answers.into(),
        Entry::Ratio(None),
        unknown(),
        unknown(),
        unknown(),
        Entry::Ratio(None),
        unknown(),
        Entry::Ratio(None),
        longest.into(),
        Entry::Ratio(None),
        unknown(),
    ]
}

/// Sentences on rates that a server can hardly serve, and which would suit.
fn advice(summary: &Summary, workloads: &[&str]) -> String {
    let rows = summary.rows.iter();
    let peaks = rows.filter_map(|row| summary.cell_of(&row.row, PEAK)?.estimate(Figure::Answers));
    let slowest = peaks.map(|peak| peak.median).fold(f64::INFINITY, f64::min);
    let most = slowest * PARTS[2];
    let is_too_high = |rate: &u32| f64::from(*rate) > most;
    let high = workloads.iter().filter_map(|name| name.parse().ok());
    let high: Vec<String> = high
        .filter(is_too_high)
        .map(|rate| figures::count(f64::from(rate)))
        .collect();
    if high.is_empty() {
        return String::new();
    }
    // In hundreds: a rate that can be said.
    let parts = PARTS.map(|part| ((slowest * part / 100.0).floor().max(1.0) * 100.0).to_string());
    format!(
        ". {} a second is more than 90 % of what the slowest server takes ({}), and latencies \
         there are those of a queue: --workloads peak,{} has 50, 70 and 90 % of it",
        high.join(" and "),
        figures::count(slowest),
        parts.join(",")
    )
}

#[cfg(test)]
mod tests;
