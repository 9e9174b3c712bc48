//! Campaign files to terminal, HTML, Markdown, CSV and JSON.
//!
//! ```text
//!  samples.jsonl ── file ──▶ Campaign ── stats::Summary ──▶ view::View
//!                                                             │
//!   terminal, Markdown ◀── document ◀── columns ◀───────────┤
//!             CSV, JSON ◀─────────────────────────────────────┤
//!             HTML     ◀── chart ◀── columns ◀────────────────┘
//!
//!  Experiment ── pages ──▶ what it adds: a document or a sheet in every form; papers' pages
//!  earlier campaigns ── against ──▶ the page of one that is set beside them
//!  Campaign      ── spent   ──▶ where its time went: terminal, Markdown, CSV
//!  a trace       ── traced ──▶ HTML
//!  two Summaries ── stats::compare ──▶ compare ──▶ terminal, JSON; cases ──▶ JUnit
//!  shards        ── stats::merge   ──▶ merge ──▶ terminal
//!  campaigns     ── history ──▶ terminal, Markdown, JSON; site ──▶ a folder of pages
//! ```
//!
//! What must stay true: a report is made of a results folder alone, on any
//! machine; nothing is measured or estimated here; what a reader is told is
//! decided in [`view`] and is the same in every format; a file is written whole
//! or not at all.
//!
//! ```
//! use std::path::Path;
//!
//! use fathom_report::{Format, Report, Style};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A folder of results, or its file of samples.
//! let report = Report::open(Path::new("tests/data/suite.jsonl"))?;
//! let page = report.render(Format::Markdown, Style::default())?;
//! assert!(page.starts_with("# "));
//! # Ok(())
//! # }
//! ```

mod about;
pub mod against;
mod bounds;
pub mod cases;
pub mod chart;
mod columns;
pub mod compare;
pub mod compare_json;
pub mod csv;
mod document;
pub mod figures;
pub mod file;
#[cfg(test)]
mod formula;
pub mod history;
mod html;
pub mod json;
mod leaps;
mod library;
mod markdown;
pub mod merge;
pub mod merge_json;
pub mod pages;
mod parquet;
mod pictures;
mod plain;
pub mod programs;
mod publications;
pub mod samples;
mod scaling;
mod sheet;
pub mod site;
pub mod spent;
mod table;
mod terminal;
pub mod traced;
pub mod view;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use fathom_record::{Estimator, Experiment};
use fathom_stats::{Figure, Summary};

use pages::{Context, PageOutput, Printed};

pub use file::{LoadError, Results, write_whole};
pub use plain::Style;
pub use view::View;

/// A form of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// A table for a terminal.
    #[default]
    Terminal,
    /// One self-contained page.
    Html,
    /// Markdown.
    Markdown,
    /// Comma-separated values.
    Csv,
    /// JSON.
    Json,
}

impl Format {
    /// Every form.
    pub const ALL: [Format; 5] = [
        Format::Terminal,
        Format::Html,
        Format::Markdown,
        Format::Csv,
        Format::Json,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Terminal => "terminal",
            Format::Html => "html",
            Format::Markdown => "markdown",
            Format::Csv => "csv",
            Format::Json => "json",
        }
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        match self {
            Format::Terminal => "a table and what may be said of it",
            Format::Html => "one self-contained page with pictures",
            Format::Markdown => "for an issue or a commit message",
            Format::Csv => "a line for each figure of each cell",
            Format::Json => "for a program",
        }
    }

    /// The file of this form in a results folder; none for those that are printed.
    pub fn file_name(self) -> Option<&'static str> {
        match self {
            Format::Terminal | Format::Json => None,
            Format::Html => Some("report.html"),
            Format::Markdown => Some("report.md"),
            Format::Csv => Some("report.csv"),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        let found = Format::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| {
            let known = Format::ALL.map(Format::name).join(", ");
            format!("unknown format '{name}' (one of: {known})")
        })
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The campaign cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// It cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The page's template failed.
    #[error("rendering the page failed: {0}")]
    Template(#[from] askama::Error),
    /// What a paper states, our own data, cannot be read.
    #[error("{name}: {error}")]
    Data {
        /// The paper, by the name of its page.
        name: &'static str,
        /// What is wrong with the data.
        error: String,
    },
    /// There is no such form of it.
    #[error("there is no {format} of {what}: {known}")]
    NoForm {
        /// Of what.
        what: &'static str,
        /// The form.
        format: Format,
        /// The forms there are.
        known: &'static str,
    },
    /// Its page says nothing of other campaigns.
    #[error("--against: a campaign of `{experiment}` is not set beside others")]
    Alone {
        /// What it is about.
        experiment: Experiment,
    },
    /// A file cannot be written.
    #[error("{}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// A campaign that was read, and where it is.
#[derive(Debug)]
pub struct Report {
    /// What is shown of it.
    pub view: View,
    /// What its experiment adds.
    pub output: PageOutput,
    results: Results,
}

impl Report {
    /// Reads a results folder, or its file of samples. Rows are compared by
    /// what the campaign is about.
    ///
    /// # Errors
    /// [`ReportError::Load`].
    pub fn open(path: &Path) -> Result<Report, ReportError> {
        Report::open_by(path, None, None)
    }

    /// As [`Report::open`], with rows compared by a figure, and their rounds read by another
    /// estimator than the campaign's.
    ///
    /// # Errors
    /// [`ReportError::Load`], [`ReportError::Data`].
    pub fn open_by(
        path: &Path,
        figure: Option<Figure>,
        estimator: Option<Estimator>,
    ) -> Result<Report, ReportError> {
        let results = Results::find(path)?;
        let mut campaign = results.load()?;
        if let Some(estimator) = estimator {
            campaign.header.config.estimator = estimator;
        }
        let summary = Summary::from_campaign(&campaign);
        let page = pages::of(campaign.header.config.experiment);
        let view = view::from_campaign(
            &campaign,
            &summary,
            figure.or(page.figure).unwrap_or(summary.compared),
            &results.samples.to_string_lossy(),
            &results.folder.to_string_lossy(),
        );
        // By another figure there is only the general report.
        let output = match figure {
            Some(_) => PageOutput::default(),
            None => (page.output)(&Context {
                campaign: &campaign,
                summary: &summary,
                view: &view,
                against: &match page.takes_against {
                    true => against::all(&results.folder)?,
                    false => Vec::new(),
                },
            })?,
        };
        Ok(Report {
            view,
            output,
            results,
        })
    }

    /// The report in a form; `style` is for the terminal alone.
    ///
    /// # Errors
    /// [`ReportError::Template`], [`ReportError::Json`].
    pub fn render(&self, format: Format, style: Style) -> Result<String, ReportError> {
        Ok(match format {
            Format::Terminal => self.printed(style),
            Format::Html => html::render(&self.view)?,
            Format::Markdown => markdown::render(&self.view),
            Format::Csv => csv::render(&self.view),
            Format::Json => json::render(&self.view)?,
        })
    }

    /// Where a form of the report lies in the results folder.
    pub fn file_of(&self, format: Format) -> Option<PathBuf> {
        Some(self.results.folder.join(format.file_name()?))
    }

    /// Writes every form that is a file, and what the experiment adds but for a
    /// paper's page, into the results folder, each whole.
    ///
    /// # Errors
    /// [`ReportError::Write`] for the first that cannot be written.
    pub fn save(&self) -> Result<(), ReportError> {
        write_all(&self.results.folder, &self.files()?)
    }

    /// Writes what [`Report::save`] writes, pictures and a paper's page, into a folder. What was
    /// written, in order.
    ///
    /// # Errors
    /// [`ReportError::Write`] for the first that cannot be written.
    pub fn save_all(&self, folder: Option<&Path>) -> Result<Vec<PathBuf>, ReportError> {
        let folder = folder.unwrap_or(&self.results.folder);
        let mut files = self.files()?;
        files.extend(pictures::files(&self.view));
        files.extend(self.output.paper.iter().cloned());
        write_all(folder, &files)?;
        Ok(files.iter().map(|(name, _)| folder.join(name)).collect())
    }

    /// The general report in each form that is a file, and the experiment's own files.
    fn files(&self) -> Result<Vec<(String, String)>, ReportError> {
        let mut files = Vec::new();
        for format in Format::ALL {
            if let Some(name) = format.file_name() {
                files.push((name.to_owned(), self.render(format, Style::default())?));
            }
        }
        files.extend(self.output.files.iter().cloned());
        Ok(files)
    }

    fn printed(&self, style: Style) -> String {
        let clean = |text: &str| -> String {
            let lines = text.lines().map(|line| style.clean(line) + "\n");
            lines.collect()
        };
        if let Printed::Instead(text) = &self.output.printed {
            return clean(text);
        }
        let page = self.file_of(Format::Html).filter(|page| page.exists());
        let places = terminal::Places {
            report: page.map(|page| page.to_string_lossy().into_owned()),
        };
        let mut text = terminal::render(&self.view, &places, style);
        if let Printed::Behind(table) = &self.output.printed {
            text.push('\n');
            text.push_str(&clean(table));
        }
        text
    }
}

/// Writes files by name below a folder, which is made if need be.
///
/// # Errors
/// [`ReportError::Write`] for the first that cannot be written.
pub fn write_all(folder: &Path, files: &[(String, String)]) -> Result<(), ReportError> {
    for (name, content) in files {
        let path = folder.join(name);
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| write_whole(&path, content.as_bytes()))
            .map_err(|error| ReportError::Write { path, error })?;
    }
    Ok(())
}
