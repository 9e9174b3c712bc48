//! What each experiment adds to the general report: the one place where the report
//! asks which experiment a campaign is of.
//!
//! ```text
//!  Experiment ── of ──▶ Page ─┬─ figure   what rows are compared by
//!                             └─ own ──▶ PageOutput: what is printed, files, a paper's page
//! ```
//!
//! What must stay true: every experiment has a line in [`of`]; a page is made of the
//! campaign alone, so that it can be made again on any machine.

mod calls;
mod compile;
mod ewapa;
mod fibers;
mod growth;
mod hardware;
mod http;
mod sql_calls;
mod startup;
mod wasmfx;
mod waterfall;
mod web;

use fathom_record::{Campaign, Cell, Experiment, Names};
use fathom_stats::{Figure, Medians, Summary};

use crate::against::Against;
use crate::document::Document;
use crate::leaps::Only;
use crate::plain::Tone;
use crate::publications::early;
use crate::sheet::Sheet;
use crate::view::View;
use crate::{ReportError, bounds, leaps, library, scaling};

/// A campaign seen in every way that a page needs.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Its records.
    pub campaign: &'a Campaign,
    /// Its estimates.
    pub summary: &'a Summary,
    /// What the general report shows of it.
    pub view: &'a View,
    /// Earlier campaigns that it is set beside.
    pub against: &'a [Against],
}

impl<'a> Context<'a> {
    /// Plain medians of each cell that has a time.
    pub fn medians(&self) -> Vec<Medians<'a>> {
        Medians::all(self.campaign, self.summary)
    }

    /// What its cells are called where each has its engine in a column.
    pub fn names(&self) -> Names {
        let cells = self.campaign.header.cells.iter();
        Names::of(cells.map(|cell| (&cell.sandbox, Some(cell.variant))))
    }
}

/// What the engine of a cell is called.
fn engine(names: &Names, cell: &Cell) -> String {
    names.name(&cell.sandbox, Some(cell.variant))
}

/// The same where no column says how many instances run at once.
fn engine_and_threads(names: &Names, cell: &Cell) -> String {
    at_once(engine(names, cell), cell.threads)
}

/// A name with the number of instances that run at once, where it is not one.
pub(crate) fn at_once(name: String, threads: u32) -> String {
    match threads {
        1 => name,
        threads => format!("{name} × {threads}"),
    }
}

/// What is printed in a terminal.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Printed {
    /// The general report alone.
    #[default]
    General,
    /// This behind the general report.
    Behind(String),
    /// This in its place.
    Instead(String),
}

/// What an experiment adds to the report of a campaign.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageOutput {
    /// In a terminal.
    pub printed: Printed,
    /// Files in the results folder, by name.
    pub files: Vec<(String, String)>,
    /// The page of the paper that it repeats, and its pictures, by name.
    pub paper: Vec<(String, String)>,
}

impl PageOutput {
    /// A table behind the general report, and its files.
    pub(crate) fn behind(name: &str, sheet: &Sheet, context: &Context<'_>) -> PageOutput {
        let document = sheet.document(&context.campaign.header.name);
        PageOutput {
            printed: Printed::Behind(sheet.terminal()),
            files: files(name, &document, Some(sheet.csv())),
            paper: Vec::new(),
        }
    }

    /// A page in the place of the general report, and its files. What has too few rounds for a
    /// finding says so before all else.
    pub(crate) fn instead(
        name: &str,
        campaign: &Campaign,
        mut page: Document,
        csv: Option<String>,
    ) -> PageOutput {
        if let Some(early) = early(campaign) {
            page.say_first(Tone::Strong, early);
        }
        PageOutput {
            printed: Printed::Instead(page.plain()),
            files: files(name, &page, csv),
            paper: Vec::new(),
        }
    }
}

/// A page's files in a results folder, by a name without its ending.
fn files(name: &str, page: &Document, csv: Option<String>) -> Vec<(String, String)> {
    let all = [
        ("md", Some(page.markdown())),
        ("html", Some(page.html())),
        ("csv", csv),
    ];
    let all = all.into_iter();
    all.filter_map(|(ending, text)| Some((format!("{name}.{ending}"), text?)))
        .collect()
}

/// An experiment's part in the report.
pub struct Page {
    /// What rows are compared by; what the campaign compares if absent.
    pub figure: Option<Figure>,
    /// Whether it says something of earlier campaigns.
    pub takes_against: bool,
    /// What is added.
    pub output: fn(&Context<'_>) -> Result<PageOutput, ReportError>,
}

/// The general report alone.
const GENERAL: Page = Page {
    figure: None,
    takes_against: false,
    output: |_| Ok(PageOutput::default()),
};

/// The general report, and what this adds to it.
fn adding(output: fn(&Context<'_>) -> Result<PageOutput, ReportError>) -> Page {
    Page { output, ..GENERAL }
}

/// The part of each experiment.
pub fn of(experiment: Experiment) -> Page {
    match experiment {
        Experiment::Suite | Experiment::Module | Experiment::Sql => GENERAL,
        Experiment::Waterfall => adding(|context| Ok(waterfall::output(context))),
        Experiment::Growth => adding(|context| Ok(growth::output(context))),
        Experiment::Compile => Page {
            // The run is only there to prove that what was compiled works.
            figure: Some(Figure::Compile),
            output: |context| Ok(compile::output(context)),
            ..GENERAL
        },
        Experiment::Startup => Page {
            figure: Some(Figure::Instance),
            output: |context| Ok(startup::output(context)),
            ..GENERAL
        },
        Experiment::Calls => adding(|context| Ok(calls::output(context))),
        Experiment::Bounds => adding(|context| Ok(bounds::output(context))),
        Experiment::Scaling => adding(|context| Ok(scaling::output(context))),
        Experiment::Libsodium | Experiment::Libsodium2023 => adding(library::output),
        Experiment::Web => Page {
            takes_against: true,
            output: |context| Ok(web::output(context)),
            ..GENERAL
        },
        Experiment::Fibers => adding(|context| Ok(fibers::output(context))),
        Experiment::Http => Page {
            // Of ten seconds and more it is what servers are asked about, and the first
            // requests of a thousand connections are beyond it.
            figure: Some(Figure::LatencyP99),
            output: http::output,
            ..GENERAL
        },
        Experiment::SqlCalls => adding(|context| Ok(sql_calls::output(context))),
        Experiment::Ewapa => adding(ewapa::output),
        Experiment::BenchmarkingWasmfx => adding(wasmfx::output),
        Experiment::HardwareBoundsChecking => adding(hardware::output),
        Experiment::LeapsAndBounds => adding(|context| leaps::output(context, Only::PolyBench)),
        Experiment::LeapsAndBoundsSpec => adding(|context| leaps::output(context, Only::Spec)),
    }
}

#[cfg(test)]
mod tests;
