//! The tables of "Benchmarking WasmFX" in their own form, ours beside.
//!
//! ```text
//!  data/benchmarking-wasmfx.toml: what the talk states ─┬▶ benchmarking-wasmfx.md
//!  Fibers: what a campaign found ───────────────────────┘
//! ```
//!
//! What must stay true: what the talk states is in that file alone, and is called published;
//! what a campaign does not hold is "not measured", with the reason where there is one.

use std::fmt::Write;

use fathom_record::Variant;
use fathom_record::campaign::WorkloadNote;
use fathom_stats::{NoTime, Row};
use serde::Deserialize;

use super::fibers::{Fibers, way};
use super::{Context, PageOutput};
use crate::table::Table;
use crate::{ReportError, figures, publications};

/// The page's file.
const PAGE: &str = "benchmarking-wasmfx.md";
const NAME: &str = "benchmarking-wasmfx";
/// What measures servers.
const SERVED: &str = "\n`fathom suite http` measures ours, and sets these beside them.\n";
const DATA: &str = include_str!("../../data/benchmarking-wasmfx.toml");

/// What the talk states.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Publication {
    title: String,
    paper: String,
    notes: String,
    benchmark: Vec<Benchmark>,
    server: Vec<Server>,
}

/// A micro-benchmark.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Benchmark {
    name: String,
    workload: String,
    what: String,
    line: Vec<Stated>,
}

/// A line of its table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    of: String,
    time: String,
    size: String,
}

/// A table of the server's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    /// Requests asked for in a second. The figures are the largest latencies in milliseconds;
    /// without a rate, of as many as it takes, answers in a second.
    rate: Option<u32>,
    line: Vec<Figure>,
}

impl Server {
    /// Its table's heading, and the unit of the figures.
    fn heading(&self) -> (String, &'static str) {
        match self.rate {
            None => (
                "HTTP server: peak throughput".to_owned(),
                "requests a second",
            ),
            Some(rate) => {
                let rate = figures::count(f64::from(rate));
                let what = format!("HTTP server: largest latency at {rate} requests a second");
                (what, "ms")
            }
        }
    }
}

/// A line of such a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    of: String,
    is: f64,
}

/// What the talk states of its server, at a rate or without.
pub(super) struct Served {
    /// Requests asked for in a second.
    pub rate: Option<u32>,
    /// By what its fibers switch.
    pub of: String,
    /// Answers in a second, where no rate is asked for; with one the largest latency in
    /// milliseconds.
    pub is: f64,
}

/// The talk's figures of its server.
///
/// # Errors
/// As [`own`].
pub(super) fn served() -> Result<Vec<Served>, ReportError> {
    let talk: Publication = publications::read(NAME, DATA)?;
    let of = |server: Server| {
        let rate = server.rate;
        let lines = server.line.into_iter();
        lines.map(move |Figure { of, is }| Served { rate, of, is })
    };
    Ok(talk.server.into_iter().flat_map(of).collect())
}

/// What the experiment adds: the page of fibers, and the talk's.
///
/// # Errors
/// [`ReportError::Data`] if our own data cannot be read; a test reads it.
pub fn output(context: &Context<'_>) -> Result<PageOutput, ReportError> {
    let talk: Publication = publications::read(NAME, DATA)?;
    let fibers = Fibers::of(context.campaign, context.summary);
    Ok(PageOutput {
        paper: vec![(PAGE.to_owned(), page(&talk, &fibers))],
        ..super::fibers::output(context)
    })
}

fn page(talk: &Publication, fibers: &Fibers<'_>) -> String {
    let (campaign, measured) = (fibers.campaign, fibers.head());
    let mut text = publications::head(campaign, NAME, &talk.title, &talk.paper, &measured);
    let _ = write!(text, "\n{}\n", talk.notes);
    for benchmark in &talk.benchmark {
        let _ = write!(
            text,
            "\n## {}\n\n{}\n\n{}",
            benchmark.name,
            benchmark.what,
            table(benchmark, fibers).source()
        );
    }
    for server in &talk.server {
        let (what, unit) = server.heading();
        let mut table = Table::new([String::new(), format!("published, {unit}")]);
        for line in &server.line {
            table.push([line.of.clone(), line.is.to_string()]);
        }
        let _ = write!(text, "\n## {what}\n\n{}", table.source());
    }
    text.push_str(SERVED);
    text
}

/// A benchmark's table: the talk's lines, then ours.
fn table(benchmark: &Benchmark, fibers: &Fibers<'_>) -> Table {
    let mut table = Table::new(["", "run-time ratio", "binary size ratio"]);
    for line in &benchmark.line {
        let of = format!("published: {}", line.of);
        table.push(vec![of, line.time.clone(), line.size.clone()]);
    }
    let mut notes = fibers.campaign.header.workloads.iter();
    let note = notes.find(|note| note.name == benchmark.workload);
    for row in &fibers.rows {
        if matches!(row.variant, Variant::WasmAsyncify | Variant::WasmSwitch) {
            let of = format!(
                "{} {}",
                fibers.engine(row),
                way(row.variant).unwrap_or_default()
            );
            let time = time(fibers, row, &benchmark.workload);
            table.push(vec![of, time, size(note, row.variant)]);
        }
    }
    table
}

/// A way's time over Asyncify's on the same engine, or why there is none.
fn time(fibers: &Fibers<'_>, row: &Row, workload: &str) -> String {
    let cell = fibers.summary.cell_of(row, workload);
    let times = cell.map(|cell| &cell.times);
    match (times, row.variant) {
        (None | Some(Err(NoTime::NotMeasured)), _) => "not measured yet".to_owned(),
        (Some(Err(NoTime::Unsound { .. })), _) => "none: not sound".to_owned(),
        (Some(Err(NoTime::Failed { message, .. })), _) => format!("none: {}", cause(message)),
        (Some(Ok(_)), Variant::WasmAsyncify) => "1.00".to_owned(),
        (Some(Ok(_)), _) => {
            let ratio = fibers.over_asyncify(row, workload);
            ratio.map_or_else(
                || "not measured yet".to_owned(),
                |ratio| figures::ratio_between(&ratio),
            )
        }
    }
}

/// The last of a chain of causes: a table has no room for the others.
fn cause(message: &str) -> &str {
    message.rsplit(": ").next().unwrap_or(message)
}

/// The size of a build over that by stack switching, and in bytes.
fn size(note: Option<&WorkloadNote>, variant: Variant) -> String {
    let bytes = |variant: Variant| note.and_then(|note| note.builds.get(&variant).copied());
    match (bytes(variant), bytes(Variant::WasmSwitch)) {
        (Some(own), Some(base)) if base > 0 => {
            let ratio = figures::ratio_bare(own as f64 / base as f64);
            format!("{ratio} ({})", figures::bytes(own as f64))
        }
        _ => "not measured yet".to_owned(),
    }
}

#[cfg(test)]
mod tests;
