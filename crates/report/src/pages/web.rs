//! Applications of npm: who is first for which, by how much, and whether other suites say so.
//!
//! ```text
//!  Context ─▶ Web ─┬─ firsts       a line an application: what it does, who is first
//!                  ├─ ratios       the same, an engine a column, over the first row
//!                  ├─ prediction   an earlier campaign each: rank correlations   ─▶ web.md, .html
//!                  └─ sheet        a line an application and engine              ─▶ web.csv
//! ```
//!
//! What must stay true: nothing is estimated here; who is first is told of all pairs of rows,
//! judged together, so that whoever it is may be told; who is not told apart from it is named,
//! and below five rounds nobody is first.

mod prediction;

use std::fmt::Write;

use fathom_record::Names;
use fathom_record::campaign::WorkloadNote;
use fathom_stats::interval::ROUNDS_MIN;
use fathom_stats::{Ratio, Row, RowSummary, Summary, Table as Judged, Verdict, WorkloadRatio};

use super::{Context, PageOutput, Printed, at_once};
use crate::about::{self, absent};
use crate::document::Document;
use crate::figures::{self, NONE};
use crate::plain::Tone;
use crate::sheet::{Column, Entry, Sheet, Unit};
use crate::table::Table;
use prediction::Prediction;

const COLUMNS: [Column; 6] = [
    ("application", "application", Unit::Text),
    ("engine", "engine", Unit::Text),
    ("takes", "median_ns", Unit::Time),
    ("over the first row", "ratio", Unit::Interval),
    ("difference", "verdict", Unit::Text),
    ("place", "place", Unit::Text),
];
const FIRSTS: &str = "Who is first";

/// What the experiment adds: who is first, and the predictions, behind the general report.
pub fn output(context: &Context<'_>) -> PageOutput {
    let web = Web::of(context);
    let name = &context.campaign.header.name;
    PageOutput {
        printed: Printed::Behind(web.plain()),
        files: super::files("web", &web.document(name), Some(web.sheet().csv())),
        paper: Vec::new(),
    }
}

/// Who is first for an application; rows by their position.
struct First<'a> {
    note: &'a WorkloadNote,
    /// The fastest of those that have rounds enough.
    first: Option<usize>,
    /// Those that it was not told apart from.
    level: Vec<usize>,
    /// Those that have too few rounds to say.
    unknown: Vec<usize>,
}

struct Web<'a> {
    context: &'a Context<'a>,
    /// Sandboxes with a time, the baseline first, then by their means.
    rows: Vec<&'a RowSummary>,
    names: Names,
    firsts: Vec<First<'a>>,
    predictions: Vec<Prediction>,
}

impl<'a> Web<'a> {
    fn of(context: &'a Context<'a>) -> Web<'a> {
        let summary = context.summary;
        let rows = rows(summary);
        let names = Names::short(
            rows.iter()
                .map(|row| (&row.row.sandbox, Some(row.row.variant))),
        );
        let is_there = |note: &&WorkloadNote| {
            let mut all = rows.iter();
            all.any(|row| summary.cell_of(&row.row, &note.name).is_some())
        };
        let notes = context.campaign.header.workloads.iter().filter(is_there);
        let ranked: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].is_ranked).collect();
        let keys: Vec<&Row> = ranked.iter().map(|at| &rows[*at].row).collect();
        let pairs = summary.pairs(summary.compared, &summary.noise, &keys);
        let firsts = notes.map(|note| {
            let (first, level, unknown) = first(&pairs, summary, &keys, &note.name);
            let at = |all: Vec<usize>| all.into_iter().map(|at| ranked[at]).collect();
            First {
                note,
                first: first.map(|at| ranked[at]),
                level: at(level),
                unknown: at(unknown),
            }
        });
        let mut web = Web {
            context,
            firsts: firsts.collect(),
            rows,
            names,
            predictions: Vec::new(),
        };
        let each = context.against.iter();
        web.predictions = each.map(|one| Prediction::of(&web, one)).collect();
        web
    }

    fn name(&self, row: &Row) -> String {
        at_once(
            self.names.name(&row.sandbox, Some(row.variant)),
            row.threads,
        )
    }

    fn name_at(&self, at: usize) -> String {
        self.name(&self.rows[at].row)
    }

    fn median(&self, row: &Row, workload: &str) -> Option<f64> {
        let summary = self.context.summary;
        let cell = summary.cell_of(row, workload)?;
        Some(cell.estimate(summary.compared)?.median)
    }

    /// Names of rows, one after the other.
    fn named(&self, rows: &[usize]) -> String {
        let names: Vec<String> = rows.iter().map(|at| self.name_at(*at)).collect();
        names.join(", ")
    }

    /// Who is first, in words.
    fn first_words(&self, first: &First<'_>) -> String {
        let Some(one) = first.first else {
            let why = match first.unknown.is_empty() {
                true => "no engine has a time",
                false => "too few rounds to say",
            };
            return why.to_owned();
        };
        let mut text = self.name_at(one);
        if !first.level.is_empty() {
            let level = self.named(&first.level);
            let _ = write!(text, "; no difference from {level} was shown");
        }
        text
    }

    /// How often each is first, alone.
    fn tally(&self) -> String {
        let alone = self.firsts.iter().filter(|first| first.level.is_empty());
        let alone: Vec<usize> = alone.filter_map(|first| first.first).collect();
        let of = |at: usize| alone.iter().filter(|one| **one == at).count();
        let mut counts: Vec<(usize, usize)> = (0..self.rows.len())
            .map(|at| (of(at), at))
            .filter(|(count, _)| *count > 0)
            .collect();
        counts.sort_by_key(|(count, at)| (usize::MAX - count, *at));
        let counts = counts
            .into_iter()
            .map(|(count, at)| format!("{} of {count}", self.name_at(at)));
        let counts: Vec<String> = counts.collect();
        let all = figures::plural(self.firsts.len(), "application");
        let mut text = match counts.is_empty() {
            true => format!("Of {all} no engine was shown to be first alone."),
            false => format!(
                "Of {all}, first alone: {}; of {} nobody.",
                counts.join(", "),
                self.firsts.len() - alone.len()
            ),
        };
        let is_unknown = |at: &usize| self.firsts.iter().any(|first| first.unknown.contains(at));
        let unknown: Vec<usize> = (0..self.rows.len()).filter(is_unknown).collect();
        if !unknown.is_empty() {
            let _ = write!(
                text,
                " Below {ROUNDS_MIN} rounds, and so not judged: {}.",
                self.named(&unknown)
            );
        }
        text
    }

    fn firsts(&self) -> Table {
        let known = || self.predictions.iter().filter(|one| one.is_known());
        let mut table = Table::new(["application", "does", "first"])
            .and(known().map(|one| format!("like {}", one.name)))
            .left([1, 2]);
        for first in &self.firsts {
            let mut line = vec![
                first.note.name.clone(),
                first.note.why.clone(),
                self.first_words(first),
            ];
            line.extend(known().map(|one| {
                let value = one.of_application(self, &first.note.name);
                value.map_or_else(|| NONE.to_owned(), prediction::shown)
            }));
            table.push(line);
        }
        table
    }

    /// The first row's times, and the others over them.
    fn ratios(&self) -> Table {
        let Some((base, others)) = self.rows.split_first() else {
            return Table::default();
        };
        let names = self.rows.iter().map(|row| self.name(&row.row));
        let mut table = Table::new(["application"]).and(names);
        for First { note, .. } in &self.firsts {
            let takes = self.median(&base.row, &note.name);
            let takes = takes.map_or_else(|| NONE.to_owned(), figures::time);
            let each = others
                .iter()
                .map(|row| shown(workload(row, &note.name).map(|one| &one.ratio)));
            table.push([note.name.clone(), takes].into_iter().chain(each));
        }
        let means = others.iter().map(|row| {
            let mark = match row.to_baseline.missing.is_empty() {
                true => "",
                false => "*",
            };
            shown(row.to_baseline.geomean.as_ref().ok()) + mark
        });
        let words = ["geometric mean".to_owned(), NONE.to_owned()];
        table.push(words.into_iter().chain(means));
        table
    }

    fn sheet(&self) -> Sheet {
        let mut lines = Vec::new();
        for one in &self.firsts {
            for (at, row) in self.rows.iter().enumerate() {
                let First { note, .. } = one;
                let Some(ratio) = workload(row, &note.name) else {
                    continue;
                };
                let place = match one.first {
                    _ if !row.is_ranked => "not ranked",
                    _ if one.unknown.contains(&at) => Verdict::TooFew.name(),
                    Some(first) if first == at => "first",
                    _ if one.level.contains(&at) => "not told apart from the first",
                    _ => "slower",
                };
                lines.push(vec![
                    note.name.clone().into(),
                    self.name(&row.row).into(),
                    self.median(&row.row, &note.name).into(),
                    Entry::Ratio(Some(ratio.ratio)),
                    match at {
                        0 => String::new().into(),
                        _ => ratio.verdict.name().into(),
                    },
                    place.into(),
                ]);
            }
        }
        Sheet {
            title: String::new(),
            columns: &COLUMNS,
            lines,
        }
    }

    /// What is compared, and how sure it is.
    fn head(&self) -> String {
        let header = &self.context.campaign.header;
        format!(
            "{} on {}, {} ({}), {}, {}, {}. Times of whole runs without compiling; ratios \
             are of the same round, with 95 % intervals from five rounds on. Noise floor of the \
             means: {}.",
            figures::plural(self.firsts.len(), "application"),
            figures::plural(self.rows.len(), "row"),
            header.host.cpu_model,
            figures::plural(header.config.cpus.len(), "processor"),
            header.host.kernel,
            header.date,
            about::rounds(self.rows.iter().skip(1).copied()),
            about::floor(self.context.summary),
        )
    }

    fn tables(&self) -> Vec<(String, Table)> {
        let mut tables = vec![(FIRSTS.to_owned(), self.firsts())];
        if let Some(base) = self.rows.first() {
            let title = format!("Times of {}, and the others over it", self.name(&base.row));
            tables.push((title, self.ratios()));
        }
        for one in self.predictions.iter().filter(|one| one.is_known()) {
            tables.push((format!("Places, {} and here", one.name), one.places()));
        }
        tables
    }

    fn sentences(&self) -> Vec<String> {
        let mut sentences = vec![self.tally()];
        sentences.extend(self.predictions.iter().map(Prediction::sentence));
        if self.predictions.is_empty() {
            let how = "Whether other suites predict this order is said by `fathom report FOLDER \
                       --against FOLDER… --pages`, given the results of PolyBench and libsodium.";
            sentences.push(how.to_owned());
        }
        sentences
    }

    /// What has no time, with the reason: engines, and applications on some.
    fn not_measured(&self) -> Vec<String> {
        let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
        for cell in &self.context.summary.cells {
            let Err(why) = &cell.times else { continue };
            if cell.cell.is_control() {
                continue;
            }
            let line = (Names::sandbox(&cell.cell.sandbox), why.to_string());
            let line = format!("{}: {}", line.0, line.1);
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, names)) => names.push(&cell.cell.workload),
                None => lines.push((line, vec![&cell.cell.workload])),
            }
        }
        let cells = lines.into_iter();
        let cells = cells.map(|(line, names)| format!("{line} ({})", names.join(", ")));
        cells.chain(absent(self.context.campaign)).collect()
    }

    fn plain(&self) -> String {
        let names = || self.firsts.iter().map(|first| first.note.name.len());
        let width = names().max().unwrap_or(0);
        let mut text = format!("{FIRSTS}\n");
        for first in &self.firsts {
            let words = self.first_words(first);
            let _ = writeln!(text, "  {:width$}  {words}", first.note.name);
        }
        for sentence in self.sentences() {
            let _ = write!(text, "\n{sentence}\n");
        }
        text
    }

    fn document(&self, name: &str) -> Document {
        let mut page = Document::new(name);
        page.say(Tone::Plain, self.head());
        for sentence in self.sentences() {
            page.say(Tone::Plain, sentence);
        }
        for (title, table) in self.tables() {
            page.heading(title);
            page.table(table);
        }
        page.say(Tone::Plain, self.notes());
        page.listed("Not measured", self.not_measured());
        page
    }

    fn notes(&self) -> String {
        let mut text = String::new();
        let mut rows = self.rows.iter();
        if rows.any(|row| !row.to_baseline.missing.is_empty()) {
            text.push_str("* A mean over the applications that both have. ");
        }
        text.push_str(
            "These are replays: the time of the host is not in it (docs/REPLAY.md). First is who \
             has the shortest time, where its difference from each other engine was shown.",
        );
        if self.predictions.iter().any(Prediction::is_known) {
            text.push_str(
                " “Like” is the rank correlation of an application by itself with a suite; those \
                 of two suites are in docs/METHODOLOGY.md.",
            );
        }
        text
    }
}

/// The sandboxes of a campaign with a time, of the first row's size and number of instances:
/// the baseline, then the others by their means.
fn rows(summary: &Summary) -> Vec<&RowSummary> {
    let has_time = |row: &&RowSummary| row.row.variant.is_wasm() && has_times(row);
    let Some(first) = summary.rows.iter().find(has_time) else {
        return Vec::new();
    };
    let is_like = |row: &&RowSummary| {
        row.row.is_comparable_to(&first.row) && row.row.threads == first.row.threads
    };
    let mut rows: Vec<&RowSummary> = summary
        .rows
        .iter()
        .filter(has_time)
        .filter(is_like)
        .collect();
    let mean = |row: &RowSummary| match &row.to_baseline.geomean {
        Ok(mean) => mean.value,
        Err(_) => f64::INFINITY,
    };
    rows.sort_by(|one, other| {
        let key = |row: &RowSummary| (row.row != row.baseline, mean(row));
        let ((is_other, one), (other_is, other)) = (key(one), key(other));
        is_other.cmp(&other_is).then(one.total_cmp(&other))
    });
    rows
}

fn has_times(row: &RowSummary) -> bool {
    row.without_time.len() < row.cells.len()
}

/// A row's ratio to the baseline for a workload.
fn workload<'a>(row: &'a RowSummary, name: &str) -> Option<&'a WorkloadRatio> {
    let mut all = row.to_baseline.workloads.iter();
    all.find(|one| one.workload == name)
}

fn shown(ratio: Option<&Ratio>) -> String {
    match ratio {
        Some(ratio) if ratio.interval.is_ok() => figures::ratio_between(ratio),
        Some(ratio) => figures::ratio_bare(ratio.value),
        None => NONE.to_owned(),
    }
}

/// The fastest of the rows that have rounds enough for a workload, those of them that were not
/// shown to be slower, and those that have too few.
fn first(
    pairs: &Judged,
    summary: &Summary,
    rows: &[&Row],
    name: &str,
) -> (Option<usize>, Vec<usize>, Vec<usize>) {
    let estimate = |at: usize| {
        let cell = summary.cell_of(rows[at], name)?;
        cell.estimate(summary.compared)
    };
    let times = (0..rows.len()).filter_map(|at| Some((at, estimate(at)?)));
    let (known, few): (Vec<_>, Vec<_>) = times.partition(|(_, one)| one.rounds() >= ROUNDS_MIN);
    let mut unknown: Vec<usize> = few.iter().map(|(at, _)| *at).collect();
    let fastest = known
        .iter()
        .min_by(|(_, one), (_, other)| one.median.total_cmp(&other.median));
    // Alone among rows of which nothing is known it is not first.
    let is_told = known.len() > 1 || unknown.is_empty();
    let Some(&(first, _)) = fastest.filter(|_| is_told) else {
        unknown.extend(known.iter().map(|(at, _)| *at));
        return (None, Vec::new(), unknown);
    };
    // Each row has a pair with each before it, in this order.
    let pair = |at: usize| {
        let (low, high) = (first.min(at), first.max(at));
        let pair = pairs.ratios.get(high * high.saturating_sub(1) / 2 + low)?;
        let one = pair.workloads.iter().find(|one| one.workload == name)?;
        let is_slower = (one.ratio.value > 1.0) == (at > first);
        Some((one.verdict, is_slower))
    };
    let mut level = Vec::new();
    for (at, _) in known.iter().filter(|(at, _)| *at != first) {
        match pair(*at) {
            Some((Verdict::Different, true)) => {}
            Some((Verdict::TooFew, _)) => unknown.push(*at),
            Some(_) | None => level.push(*at),
        }
    }
    (Some(first), level, unknown)
}
