//! What calls of functions in SQL are made of: a fit to batches of many shapes, round by round.
//!
//! ```text
//!  nothing-4x4-128, gcd-32-new, udo_kmeans-16384-32 ─shape─▶ terms ─┐
//!  times of a round ───────────────────────────────────────────────┴─fit─▶ ns a term, of this round
//! ```
//!
//! What must stay true: what stands in a line is the median of the rounds' fits, beside the
//! interval of their geometric mean; there is none where a round has a term below nothing.

use fathom_record::Names;
use fathom_stats::{Medians, fit::fit, order, ratio};

use super::{Context, PageOutput, engine};
use crate::sheet::{Column, Entry, Sheet, Unit};

const COLUMNS: [Column; 6] = [
    ("engine", "engine", Unit::Text),
    ("function", "function", Unit::Text),
    ("a", "term", Unit::Text),
    ("costs", "ns", Unit::Time),
    ("at least", "ns_low", Unit::Time),
    ("at most", "ns_high", Unit::Time),
];
const OF_NOTHING: &[&str] = &["batch", "column", "KiB copied in", "KiB copied out", "row"];
const OF_FUNCTION: &[&str] = &["call", "row", "new instance", "row more by a new one"];
const OF_OPERATOR: &[&str] = &["call", "row", "instance"];
/// Rows of an iteration of a function, and its calls where they have none; calls of nothing
/// (`sql/suite`'s `model.rs` and `calls.rs`).
const ROWS: f64 = 32_768.0;
const EMPTY_CALLS: f64 = 200.0;
const CALLS: f64 = 100.0;
/// Rows of a batch that the operator returns.
const BATCH_ROWS: f64 = 8192.0;

/// What a workload's iteration has of each term of its function.
struct Shape<'a> {
    function: &'a str,
    terms: &'static [&'static str],
    has: Vec<f64>,
}

/// What the experiment adds: its table, behind the general report.
pub fn output(context: &Context<'_>) -> PageOutput {
    let (all, names) = (context.medians(), context.names());
    let sheet = Sheet {
        title: "What a call is made of: medians of a fit to each round, with 95 % intervals"
            .to_owned(),
        columns: &COLUMNS,
        lines: lines(&all, &names),
    };
    PageOutput::behind("sql-calls", &sheet, context)
}

fn lines(all: &[Medians<'_>], names: &Names) -> Vec<Vec<Entry>> {
    let mut groups: Vec<(String, &str, &[&str], Vec<_>)> = Vec::new();
    for one in all {
        let Some(shape) = shape(&one.cell.workload) else {
            continue;
        };
        let engine = engine(names, one.cell);
        let (function, terms) = (shape.function, shape.terms);
        let part = (shape.has, one.kernel_by_round());
        let mut have = groups.iter_mut();
        match have.find(|(of, name, ..)| *of == engine && *name == function) {
            Some((.., parts)) => parts.push(part),
            None => groups.push((engine, function, terms, vec![part])),
        }
    }
    let mut lines = Vec::new();
    for (engine, function, terms, parts) in groups {
        let has: Vec<Vec<f64>> = parts.iter().map(|(has, _)| has.clone()).collect();
        let rounds = parts
            .first()
            .into_iter()
            .flat_map(|(_, times)| times.keys());
        let of_round = |round: &u32| {
            let times = parts.iter().map(|(_, times)| times.get(round).copied());
            fit(&has, &times.collect::<Option<Vec<f64>>>()?)
        };
        // Fewer shapes than terms say nothing.
        let fits: Vec<Vec<f64>> = match has.len() < terms.len() {
            true => Vec::new(),
            false => rounds.filter_map(of_round).collect(),
        };
        for (at, term) in terms.iter().enumerate() {
            let values: Vec<f64> = fits.iter().map(|fit| fit[at]).collect();
            let level = ratio::Logs::single(&values).and_then(|logs| ratio::geomean(&[logs]));
            let ends = level.and_then(|level| level.interval).ok();
            lines.push(vec![
                engine.clone().into(),
                function.into(),
                (*term).into(),
                order::median(&values).into(),
                ends.map(|ends| ends.low).into(),
                ends.map(|ends| ends.high).into(),
            ]);
        }
    }
    lines
}

/// What the name of a workload says; nothing for those that are in no fit.
fn shape(workload: &str) -> Option<Shape<'_>> {
    let (name, is_new) = match workload.strip_suffix("-new") {
        Some(name) => (name, true),
        None => (workload, false),
    };
    let mut parts = name.split('-');
    let (function, first) = (parts.next()?, parts.next()?);
    let second: Option<f64> = parts.next().and_then(|part| part.parse().ok());
    let of = |terms, has| {
        Some(Shape {
            function,
            terms,
            has,
        })
    };
    match function {
        // By an instance that is used again: the new one is no shape of the fit.
        "nothing" if !is_new => {
            let (given, returned) = first.split_once('x')?;
            let (given, returned): (f64, f64) = (given.parse().ok()?, returned.parse().ok()?);
            let rows = second?;
            let kib = |columns: f64| columns * rows * 8.0 / 1024.0;
            let each = [1.0, given + returned, kib(given), kib(returned), rows];
            of(OF_NOTHING, each.map(|one| CALLS * one).to_vec())
        }
        "udo_kmeans" => {
            let (points, rows): (f64, f64) = (first.parse().ok()?, second?);
            let calls = (points / rows).ceil() + (points / BATCH_ROWS).ceil() + 1.0;
            of(OF_OPERATOR, vec![calls, points, 1.0])
        }
        _ => {
            let rows: f64 = first.parse().ok().filter(|_| function != "copy")?;
            let calls = if rows > 0.0 { ROWS / rows } else { EMPTY_CALLS };
            let new = f64::from(u8::from(is_new));
            let each = [1.0, rows, new, new * rows];
            of(OF_FUNCTION, each.map(|one| calls * one).to_vec())
        }
    }
}

#[cfg(test)]
mod tests;
