//! A profile as a table, and as JSON.

use std::fmt::Write as _;

use fathom_report::json::FORMAT;
use fathom_stats::sampled::{Lineless, Part, Place, Row, Title};
use serde::Serialize;

use super::{By, Shown};
use crate::one_line::{clipped_to, printable};

/// Letters of a name in the table.
const NAME_MAX: usize = 44;

impl By {
    /// A row, in a word.
    fn word(self) -> &'static str {
        match self {
            By::Function => "function",
            By::Line => "line",
        }
    }
}

/// A row's name. What is no function, and no line, stands in brackets.
fn named(title: &Title, by: By) -> String {
    match title {
        Title::Of(Place::Function(name)) => clipped_to(name, NAME_MAX),
        Title::Of(Place::Line(place)) => clipped_in_front(&printable(place)),
        Title::Of(Place::Further { places }) => format!("({places} further {}s)", by.word()),
        Title::Of(Place::Lineless(why)) => match why {
            Lineless::Undescribed => "(no line in the DWARF)".to_owned(),
            Lineless::Added => "(code of no Wasm instruction)".to_owned(),
            Lineless::Ambiguous => "(functions of one name)".to_owned(),
        },
        Title::Of(Place::Engine) => "(engine)".to_owned(),
        Title::Of(Place::Unnamed) => "(code without a name)".to_owned(),
        Title::Of(Place::Kernel) => "(kernel)".to_owned(),
        Title::Functions => "all functions".to_owned(),
        Title::All => "all".to_owned(),
    }
}

/// The table: for each engine milliseconds of processor time, its share, and how many times
/// the baseline's it is.
pub fn table(engines: &[Shown], by: By, rows: &[Row]) -> String {
    let has_ratio = |at: usize| at > 0 && rows.iter().any(|row| row.parts[at].ratio.is_some());
    let names: Vec<String> = rows.iter().map(|row| named(&row.title, by)).collect();
    let first = names.iter().map(|name| name.chars().count()).max();
    let first = first.unwrap_or(0).max(by.word().len());
    let width = |at: usize| {
        let cells = if has_ratio(at) { 26 } else { 18 };
        cells.max(engines[at].name.chars().count())
    };
    let mut text = " ".repeat(first);
    for (at, engine) in engines.iter().enumerate() {
        let _ = write!(text, "  {:>1$}", engine.name, width(at));
    }
    let _ = write!(text, "\n{:first$}", by.word());
    for at in 0..engines.len() {
        let times = if has_ratio(at) { "  ×native" } else { "" };
        let _ = write!(
            text,
            "  {:>1$}",
            format!("self ms   share{times}"),
            width(at)
        );
    }
    text.push('\n');
    for (row, name) in rows.iter().zip(&names) {
        let mut line = format!("{name:first$}");
        for (at, part) in row.parts.iter().enumerate() {
            let _ = write!(line, "  {:>1$}", cell(part, has_ratio(at)), width(at));
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn cell(part: &Part, has_ratio: bool) -> String {
    let ratio = match (has_ratio, part.ratio) {
        (false, _) => String::new(),
        (true, Some(times)) => format!("  {:>7.2}", times.value),
        (true, None) => format!("  {:>7}", "-"),
    };
    if part.samples == 0 {
        return format!("{:>9}  {:>7}{ratio}", "-", "");
    }
    let ms = part.self_ns as f64 / 1e6;
    format!("{ms:>9.1}  {:>5.1} %{ratio}", 100.0 * part.share)
}

/// Of a place the end, which has its line.
fn clipped_in_front(place: &str) -> String {
    match place.chars().count().checked_sub(NAME_MAX) {
        None | Some(0) => place.to_owned(),
        Some(more) => ['…']
            .into_iter()
            .chain(place.chars().skip(more + 1))
            .collect(),
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    format: u32,
    module: &'a str,
    engines: Vec<Engine<'a>>,
    rows: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Engine<'a> {
    name: &'a str,
    samples: u64,
    period_ns: u64,
    /// As the kernel says.
    cpu_ns: Option<u64>,
    sees_kernel: bool,
    lost: u64,
}

#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    name: Option<&'a str>,
    parts: Vec<Cell>,
}

#[derive(Serialize)]
struct Cell {
    samples: u64,
    self_ns: u64,
    share: f64,
    ratio: Option<f64>,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
}

/// The same with all that is known, every function in a row.
///
/// # Errors
/// What serde reports, which is nothing for such an answer.
pub fn json(module: &str, engines: &[Shown], rows: &[Row]) -> anyhow::Result<String> {
    let shown = engines.iter().map(|one| Engine {
        name: &one.name,
        samples: one.profile.samples(),
        period_ns: one.profile.period_ns,
        cpu_ns: one.cpu_ns,
        sees_kernel: one.profile.sees_kernel,
        lost: one.profile.lost,
    });
    let answer = Answer {
        format: FORMAT,
        module,
        engines: shown.collect(),
        rows: rows.iter().map(line).collect(),
    };
    Ok(serde_json::to_string_pretty(&answer)? + "\n")
}

fn line(row: &Row) -> Line<'_> {
    let (kind, name) = match &row.title {
        Title::Of(Place::Function(name)) => ("function", Some(name.as_str())),
        Title::Of(Place::Line(place)) => ("line", Some(place.as_str())),
        Title::Of(Place::Further { .. }) => ("further", None),
        Title::Of(Place::Lineless(why)) => match why {
            Lineless::Undescribed => ("no_line", None),
            Lineless::Added => ("no_wasm", None),
            Lineless::Ambiguous => ("ambiguous", None),
        },
        Title::Of(Place::Engine) => ("engine", None),
        Title::Of(Place::Unnamed) => ("unnamed", None),
        Title::Of(Place::Kernel) => ("kernel", None),
        Title::Functions => ("functions", None),
        Title::All => ("all", None),
    };
    let cell = |part: &Part| Cell {
        samples: part.samples,
        self_ns: part.self_ns,
        share: part.share,
        ratio: part.ratio.map(|times| times.value),
        ratio_low: part.ratio.map(|times| times.interval.low),
        ratio_high: part.ratio.map(|times| times.interval.high),
    };
    Line {
        kind,
        name,
        parts: row.parts.iter().map(cell).collect(),
    }
}
