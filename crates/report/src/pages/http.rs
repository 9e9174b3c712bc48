//! Servers under load: a line for each demand and server, what of it is the program's own
//! processor time, and what the talk "Benchmarking WasmFX" states of its own.
//!
//! What must stay true: what is over Asyncify is of the same rounds and judged as the general
//! report judges; a server whose requests failed has no numbers; a rate that a server cannot
//! serve is told of, for its latencies are those of a queue; times that are named together are
//! means over the same demands.

use std::collections::BTreeSet;

use fathom_record::{Demand, Variant};
use fathom_stats::{Figure, Row, RowRatio, Summary};

use super::wasmfx::{Served, served};
use super::{Context, PageOutput, at_once};
use crate::ReportError;
use crate::figures;
use crate::sheet::{Column, Entry, Sheet, Unit};

const COLUMNS: [Column; 19] = [
    ("asked, 1/s", "rate_per_s", Unit::Text),
    ("connections", "connections", Unit::Whole),
    ("server", "server", Unit::Text),
    ("rounds", "rounds", Unit::Whole),
    ("answers, 1/s", "answers_per_s", Unit::Whole),
    ("over Asyncify", "answers_over_asyncify", Unit::Interval),
    ("own time", "answer_user_ns", Unit::Time),
    ("over Asyncify", "user_over_asyncify", Unit::Interval),
    ("kernel", "answer_system_ns", Unit::Time),
    ("over Asyncify", "system_over_asyncify", Unit::Interval),
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
/// What is compared with Asyncify's.
const COMPARED: [Figure; 6] = [
    Figure::Answers,
    Figure::AnswerUser,
    Figure::AnswerSystem,
    Figure::LatencyP99,
    Figure::LatencyP999,
    Figure::LatencyMax,
];
/// A row, and what it is over Asyncify in a figure.
type Over<'a> = Vec<(&'a Row, RowRatio)>;
/// Parts of what the slowest server takes that suit constant rates: the last is the most.
const PARTS: [f64; 3] = [0.5, 0.7, 0.9];

/// What the experiment adds: its table, behind the general report.
///
/// # Errors
/// [`ReportError::Data`] if the talk's figures cannot be read; a test reads them.
pub fn output(context: &Context<'_>) -> Result<PageOutput, ReportError> {
    let published = served()?.into_iter().map(stated);
    let summary = context.summary;
    let rows: Vec<&Row> = summary.rows.iter().map(|row| &row.row).collect();
    let over = COMPARED.map(|figure| over_asyncify(summary, &rows, figure));
    let workloads = context.campaign.header.workloads.iter();
    let names: Vec<&str> = workloads.map(|note| note.name.as_str()).collect();
    let sheet = Sheet {
        title: format!(
            "{}HTTP on loopback: medians of rounds, the longest latency of all. Own time and \
             kernel are the server's processor time for each answer while it is driven. At a \
             constant rate latencies count from when a request was due. What is over Asyncify is \
             of the same rounds, with 95 % intervals. Published is the talk \"Benchmarking \
             WasmFX\"{}",
            own_time(summary, &rows, &over[1]).unwrap_or_default(),
            advice(summary, &names)
        ),
        columns: &COLUMNS,
        lines: lines(context, &rows, &over, &names)
            .into_iter()
            .chain(published)
            .collect(),
    };
    Ok(PageOutput::behind("http", &sheet, context))
}

/// Our lines, demand by demand.
fn lines(
    context: &Context<'_>,
    rows: &[&Row],
    over: &[Over<'_>; COMPARED.len()],
    workloads: &[&str],
) -> Vec<Vec<Entry>> {
    let (summary, names) = (context.summary, context.names());
    let of = |workload: &str, row: &Row| {
        let cell = summary.cell_of(row, workload)?;
        let name = names.name(&row.sandbox, Some(row.variant));
        let rounds = cell.times.as_ref().map_or(0, |times| times.rounds.len());
        let middle = |figure| Some(cell.estimate(figure)?.median);
        let [answers, user, system, p99, p999, longest] = over.each_ref().map(|ratios| {
            let own = ratios.iter().find(|(of, _)| *of == row);
            let mut of_workloads = own.into_iter().flat_map(|(_, ratio)| &ratio.workloads);
            let ratio = of_workloads.find(|ratio| ratio.workload == workload);
            Entry::Ratio(ratio.map(|ratio| ratio.ratio))
        });
        let (rate, connections) = asked(workload);
        Some(vec![
            rate.into(),
            connections.into(),
            at_once(name, row.threads).into(),
            (rounds as u32).into(),
            middle(Figure::Answers).into(),
            answers,
            middle(Figure::AnswerUser).into(),
            user,
            middle(Figure::AnswerSystem).into(),
            system,
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

/// What a workload asks for: requests a second, in words, and connections.
fn asked(workload: &str) -> (String, Option<f64>) {
    let Ok(demand) = workload.parse::<Demand>() else {
        return (workload.to_owned(), None);
    };
    let rate = Demand {
        connections: Demand::CONNECTIONS,
        ..demand
    };
    (rate.to_string(), Some(f64::from(demand.connections)))
}

/// A sentence on the processor time that is the program's own, by how its fibers switch: of the
/// first two builds of one engine that are compared, and of native code.
fn own_time(summary: &Summary, rows: &[&Row], over: &Over<'_>) -> Option<String> {
    let of = |variant| over.iter().find(|(row, _)| row.variant == variant);
    let (switch, ratio) = of(Variant::WasmSwitch)?;
    let asyncify = rows
        .iter()
        .find(|row| is_asyncify(row) && row.sandbox == switch.sandbox)?;
    let has = |row: &Row, workload: &str| {
        let cell = summary.cell_of(row, workload);
        cell.is_some_and(|cell| cell.estimate(Figure::AnswerUser).is_some())
    };
    let demands = summary.workloads_of(asyncify);
    let demands: Vec<&str> = demands
        .filter(|name| has(asyncify, name) && has(switch, name))
        .collect();
    let own = |row: &Row| mean(summary, row, Figure::AnswerUser, &demands);
    let share = |row: &Row| {
        let kernel = mean(summary, row, Figure::AnswerSystem, &demands)?;
        Some(kernel / (kernel + own(row)?))
    };
    let native = of(Variant::Native).and_then(|(row, _)| own(row));
    let native = native.map_or_else(String::new, |ns| {
        format!(", {} natively", figures::time(ns))
    });
    let shares = [share(asyncify)?, share(switch)?].map(|share| (share * 100.0).round());
    let shares = match shares {
        [one, other] if one == other => format!("{one} %"),
        [one, other] => format!("{one} and {other} %"),
    };
    let means = match demands.len() {
        1 => String::new(),
        count => format!(", in the geometric mean of {count} demands"),
    };
    Some(format!(
        "Of the program's own processor time a request takes {} with Asyncify, {} with stack \
         switching ({}, {}){native}{means}; the kernel has {shares} of the server's. ",
        figures::time(own(asyncify)?),
        figures::time(own(switch)?),
        figures::ratio_between(ratio.geomean.as_ref().ok()?),
        ratio.verdict.name(),
    ))
}

/// The geometric mean of a figure's medians over these workloads, all of which must have it.
fn mean(summary: &Summary, row: &Row, figure: Figure, workloads: &[&str]) -> Option<f64> {
    let each = workloads
        .iter()
        .map(|name| Some(summary.cell_of(row, name)?.estimate(figure)?.median.ln()));
    let logs: Vec<f64> = each.collect::<Option<_>>()?;
    let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    // A round whose ticks all fell into the kernel says nothing of the rest.
    (mean.is_finite() && mean > 0.0).then_some(mean)
}

fn is_asyncify(row: &Row) -> bool {
    row.variant == Variant::WasmAsyncify
}

/// Each row over the Asyncify build of its engine, native code over the first of all; judged
/// together.
fn over_asyncify<'a>(summary: &Summary, rows: &[&'a Row], figure: Figure) -> Over<'a> {
    let is_base = |row: &&&Row| is_asyncify(row);
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
    let rate = Demand {
        rate: served.rate,
        ..Demand::PEAK
    };
    vec![
        rate.to_string().into(),
        unknown(),
        format!("published: {}", served.of).into(),
        unknown(),
        answers.into(),
        Entry::Ratio(None),
        unknown(),
        Entry::Ratio(None),
        unknown(),
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

/// Sentences on rates that a server can hardly serve, and which would suit; rates and peaks are
/// compared over as many connections.
fn advice(summary: &Summary, workloads: &[&str]) -> String {
    let demands = workloads.iter().filter_map(|name| name.parse().ok());
    let demands: Vec<Demand> = demands.collect();
    let connections: BTreeSet<u32> = demands.iter().map(|demand| demand.connections).collect();
    let each = connections
        .into_iter()
        .filter_map(|connections| advice_over(summary, &demands, connections));
    each.collect()
}

fn advice_over(summary: &Summary, demands: &[Demand], connections: u32) -> Option<String> {
    let peak = Demand {
        connections,
        ..Demand::PEAK
    };
    let peak_name = peak.to_string();
    let cells = summary.rows.iter();
    let cells = cells.filter_map(|row| summary.cell_of(&row.row, &peak_name));
    let peaks = cells.filter_map(|cell| Some(cell.estimate(Figure::Answers)?.median));
    let slowest = peaks.fold(f64::INFINITY, f64::min);
    let most = slowest * PARTS[2];
    let alike = demands
        .iter()
        .filter(|demand| demand.connections == connections);
    let high = alike.filter_map(|demand| demand.rate.map(f64::from));
    let high: Vec<String> = high
        .filter(|rate| *rate > most)
        .map(figures::count)
        .collect();
    if high.is_empty() {
        return None;
    }
    // In hundreds: a rate that can be said.
    let named = |part: f64| Demand {
        rate: Some((slowest * part / 100.0).floor().max(1.0) as u32 * 100),
        ..peak
    };
    let parts = PARTS.map(|part| named(part).to_string());
    let over = match connections {
        Demand::CONNECTIONS => String::new(),
        count => format!(" over {} connections", figures::count(f64::from(count))),
    };
    Some(format!(
        ". {} a second{over} is more than 90 % of what the slowest server takes ({}), and \
         latencies there are those of a queue: --workloads {peak_name},{} has 50, 70 and 90 % of it",
        high.join(" and "),
        figures::count(slowest),
        parts.join(",")
    ))
}

#[cfg(test)]
mod tests;
