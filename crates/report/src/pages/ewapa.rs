//! The tables of the eWAPA study in their own form, ours beside.
//!
//! ```text
//!  data/ewapa.toml: what the study states ─┬▶ ewapa.md, its pictures
//!  samples.jsonl: rounds and traced runs ──┘
//!    here     what a statement is answered with
//!    tables   II, IV to VII, and all programs
//!    trends   times over sizes (figures 2, 3 and 5)
//!    draw     shares of the time (figure 6), start-up (figure 4)
//!    lines    times over sizes, drawn
//! ```
//!
//! What must stay true: what the study states is in that file alone and is called published;
//! a time has its interval from five rounds on; what a campaign does not hold
//! is "not measured", with the reason where there is one.

mod draw;
mod here;
mod lines;
mod tables;
mod trends;

use std::fmt::Write;

use fathom_record::waterfall::SUITE;
use fathom_record::{Campaign, Cell, Names, Variant};
use fathom_stats::waterfall::{Start, Value};
use fathom_stats::{RowRatio, Summary, Tracing, WorkloadRatio};
use serde::Deserialize;

use super::{Context, PageOutput, Printed, at_once};
use crate::about::failures;
use crate::markdown::escape;
use crate::publications::{self, Gap, Statement, listed, not_reproduced, statements};
use crate::view::{portable, relative};
use crate::{ReportError, figures};

const NAME: &str = "ewapa";
const DATA: &str = include_str!("../../data/ewapa.toml");

/// What the study states.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Publication {
    title: String,
    paper: String,
    how: String,
    io: Vec<Io>,
    each: Vec<Each>,
    statement: Vec<Statement>,
    gap: Vec<Gap>,
}

/// A table of WASI calls and system calls.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Io {
    workload: String,
    table: String,
    call: String,
    what: String,
    line: Vec<IoLine>,
}

/// A line of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct IoLine {
    of: String,
    wasi: String,
    wasi_count: String,
    wasi_each: String,
    calls: String,
    calls_count: String,
    calls_each: String,
}

/// A table of single functions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Each {
    table: String,
    workload: String,
    what: String,
    /// Of the C library.
    calls: Vec<String>,
    functions: Vec<String>,
    system: Vec<String>,
    line: Vec<EachLine>,
}

/// A line of it, a time for each function.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EachLine {
    of: String,
    is: Vec<String>,
}

/// An engine, or native code, over all programs.
struct Line<'a> {
    name: String,
    row: &'a fathom_stats::Row,
    /// Its times over native code's, judged together.
    to_native: Option<RowRatio>,
}

impl Line<'_> {
    fn is_native(&self) -> bool {
        !self.row.variant.is_wasm()
    }
}

/// A campaign seen in every way that the page needs.
struct Page<'a> {
    campaign: &'a Campaign,
    summary: &'a Summary,
    lines: Vec<Line<'a>>,
    starts: Vec<(&'a Cell, Start)>,
}

/// What the experiment adds: the page of the publication, and its pictures; printed, all programs.
///
/// # Errors
/// [`ReportError::Data`] if our own data cannot be read; a test reads it.
pub fn output(context: &Context<'_>) -> Result<PageOutput, ReportError> {
    let publication: Publication = publications::read(NAME, DATA)?;
    let page = Page::of(context.campaign, context.summary);
    Ok(PageOutput {
        printed: Printed::Behind(page.all_programs()),
        files: Vec::new(),
        paper: page.files(&publication),
    })
}

impl<'a> Page<'a> {
    fn of(campaign: &'a Campaign, summary: &'a Summary) -> Page<'a> {
        let rows = summary.rows.iter().map(|row| &row.row);
        let mut rows: Vec<_> = rows.filter(|row| row.suite != SUITE).collect();
        // As in the study: native code first.
        rows.sort_by_key(|row| row.variant.is_wasm());
        let native = rows.iter().copied().find(|row| !row.variant.is_wasm());
        let others = rows.iter().copied().filter(|row| row.variant.is_wasm());
        let pairs: Vec<_> = native
            .map(|native| others.map(|row| (row, native)).collect())
            .unwrap_or_default();
        let table = summary.table(summary.compared, &summary.noise, &pairs);
        let mut ratios = table.ratios.into_iter();
        let all = rows.iter().map(|row| (&row.sandbox, Some(row.variant)));
        let all = Names::short(all);
        let name = |row: &&fathom_stats::Row| match row.variant {
            // The study's native code is the only one, and gcc's.
            Variant::NativeGcc => row.sandbox.engine.clone(),
            variant => at_once(all.name(&row.sandbox, Some(variant)), row.threads),
        };
        let names: Vec<String> = rows.iter().map(name).collect();
        let lines = rows.into_iter().zip(names).map(|(row, name)| Line {
            name,
            row,
            to_native: match row.variant.is_wasm() {
                true => ratios.next(),
                false => None,
            },
        });
        Page {
            campaign,
            summary,
            lines: lines.collect(),
            starts: Start::all(campaign, summary),
        }
    }

    fn files(&self, publication: &Publication) -> Vec<(String, String)> {
        let mut text = self.head(publication);
        text.push_str(&statements(
            "What they found, and what was found here",
            "",
            "where in the paper",
            &publication.statement,
            |question| self.here(question),
        ));
        let (trends, mut pictures) = self.trends(&publication.io);
        text.push_str(&trends);
        let (start, picture) = self.start_up();
        text.push_str(&start);
        pictures.extend(picture);
        for each in &publication.each {
            text.push_str(&self.functions(each));
        }
        for io in &publication.io {
            text.push_str(&self.io(io));
            let (share, picture) = self.share(io);
            text.push_str(&share);
            pictures.extend(picture);
        }
        let _ = write!(
            text,
            "\n## All programs\n\nTimes are of the programs' own operations, medians of rounds; ratios are \
             of the same round, with 95 % intervals, and called different or equivalent together \
             (docs/METHODOLOGY.md).\n\n{}",
            self.all_programs()
        );
        text.push_str(&self.foot(publication));
        let mut files = vec![(format!("{NAME}.md"), text)];
        files.extend(pictures);
        files
    }

    fn head(&self, publication: &Publication) -> String {
        let header = &self.campaign.header;
        let rounds = self.campaign.processes.iter().map(|one| one.round + 1);
        let traced = self.campaign.traced.iter().map(|one| one.repeat + 1);
        let measured = format!(
            "Measured on {}: {}, {}; {}, up to {} of each cell.",
            header.date,
            escape(&header.host.cpu_model.to_string()),
            escape(&header.host.kernel.to_string()),
            figures::plural(rounds.max().unwrap_or(0) as usize, "round"),
            figures::plural(traced.max().unwrap_or(0) as usize, "traced run"),
        );
        let Publication {
            title, paper, how, ..
        } = publication;
        let mut text = publications::head(self.campaign, NAME, title, paper, &measured);
        let _ = write!(text, "\n{how}\n");
        text
    }

    fn foot(&self, publication: &Publication) -> String {
        let absent = self.campaign.header.config.absent.iter();
        let mut text = not_reproduced(publication.gap.iter(), absent);
        text.push_str(&listed("Not measured", failures(self.campaign)));
        let _ = write!(
            text,
            "\n## Reproduce\n\n```sh\npython3 workloads/build.py --suite wasi-io --variant \
             wasm,wasm-mvp,native-gcc\n{}\nfathom explain {}/traces\n```\n\nThe same command continues a \
             campaign that was stopped, and rewrites this page.\n",
            portable(&self.campaign.header),
            self.folder(),
        );
        text
    }

    /// Where its traces are, as its command says it.
    fn folder(&self) -> String {
        let words = &self.campaign.header.command;
        let out = words.iter().position(|word| word == "--out");
        let named = out.and_then(|at| words.get(at + 1));
        let here = self.campaign.header.config.folder.as_deref();
        named.map_or_else(|| format!("results/{NAME}"), |word| relative(word, here))
    }

    /// Programs of the suite, in its order.
    fn programs(&self) -> impl Iterator<Item = &'a str> {
        let notes = self.campaign.header.workloads.iter();
        notes
            .filter(|note| note.suite != SUITE && !trends::is_smaller(&note.name))
            .map(|note| note.name.as_str())
    }

    fn engines(&self) -> impl Iterator<Item = &Line<'a>> {
        self.lines.iter().filter(|line| !line.is_native())
    }

    fn native(&self) -> Option<&Line<'a>> {
        self.lines.iter().find(|line| line.is_native())
    }

    /// The cell of a program on a line, if it has a time: without one it answered wrongly,
    /// or not at all.
    fn cell(&self, line: &Line<'_>, program: &str) -> Option<&Cell> {
        let cell = self.summary.cell_of(line.row, program)?;
        cell.times.as_ref().ok().map(|_| &cell.cell)
    }

    fn tracing(&self, line: &Line<'_>, program: &str) -> Option<Tracing<'a>> {
        let tracing = Tracing::of(self.campaign, &self.cell(line, program)?.id());
        (tracing.runs() > 0).then_some(tracing)
    }

    /// How often a program calls the C library.
    fn library_calls(&self, program: &str) -> Option<u64> {
        let mut notes = self.campaign.header.workloads.iter();
        notes.find(|note| note.name == program)?.trips
    }
}

/// A ratio to native code of one program.
fn of_program<'a>(line: &'a Line<'_>, program: &str) -> Option<&'a WorkloadRatio> {
    let mut ratios = line.to_native.as_ref()?.workloads.iter();
    ratios.find(|one| one.workload == program)
}

/// A time and its interval.
fn shown(value: &Value) -> String {
    let ns = figures::time(value.ns);
    match value.interval {
        Ok(ends) => format!(
            "{ns} ({}–{})",
            figures::time(ends.low),
            figures::time(ends.high)
        ),
        Err(_) => ns,
    }
}

#[cfg(test)]
mod tests;
