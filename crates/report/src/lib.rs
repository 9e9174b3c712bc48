//! Campaign files to terminal, HTML, Markdown and CSV.
//!
//! ```text
//!  samples.jsonl ── file ──▶ Campaign ── stats::Summary ──▶ view::View
//!                                                             │
//!             terminal ◀── plain ◀── columns ◀────────────────┤
//!             Markdown ◀──────────── columns ◀────────────────┤
//!             CSV      ◀──────────────────────────────────────┤
//!             HTML     ◀── chart ◀── columns ◀────────────────┘
//!
//!  a campaign about strategies ──▶ bounds ──▶ Markdown, terminal
//!  instances side by side ──▶ scaling ──▶ Markdown, terminal, HTML, CSV
//!  a paper measured again ──▶ leaps ──▶ Markdown with pictures
//!  a library's programs by group ──▶ library ──▶ Markdown, terminal, HTML, CSV, a page with pictures
//!  two Summaries ── stats::compare ──▶ compare ──▶ terminal
//! ```
//!
//! What must stay true: a report is made of a results folder alone, on any
//! machine; nothing is measured or estimated here; what a reader is told is
//! decided in [`view`] and is the same in every format; a file is written whole
//! or not at all.

pub mod bounds;
pub mod chart;
pub mod columns;
pub mod compare;
pub mod csv;
pub mod figures;
pub mod file;
#[cfg(test)]
mod formula;
pub mod html;
pub mod leaps;
pub mod library;
pub mod markdown;
mod own_html;
pub mod plain;
pub mod scaling;
mod stated;
pub mod terminal;
pub mod view;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use fathom_stats::{Figure, Summary};

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
}

impl Format {
    /// Every form.
    pub const ALL: [Format; 4] = [
        Format::Terminal,
        Format::Html,
        Format::Markdown,
        Format::Csv,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Terminal => "terminal",
            Format::Html => "html",
            Format::Markdown => "markdown",
            Format::Csv => "csv",
        }
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        match self {
            Format::Terminal => "a table and what may be said of it",
            Format::Html => "one self-contained page with pictures",
            Format::Markdown => "for an issue or a commit message",
            Format::Csv => "a line for each figure of each cell",
        }
    }

    /// The file of this form in a results folder; none for the terminal's.
    pub fn file_name(self) -> Option<&'static str> {
        match self {
            Format::Terminal => None,
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
    /// The page's template failed.
    #[error("rendering the page failed: {0}")]
    Template(#[from] askama::Error),
    /// What a paper states, our own data, cannot be read.
    #[error("{name}: {error}")]
    Data {
        /// Which paper.
        name: &'static str,
        /// Why not.
        error: String,
    },
    /// A file cannot be written.
    #[error("{}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

/// The pages of a campaign about a library's programs.
#[derive(Debug)]
pub struct LibraryPages {
    /// Its own, by file; the Markdown is the first.
    pub own: [(&'static str, String); 3],
    /// The one that sets the seed's figures beside ours, and its pictures.
    pub seed: Vec<(String, String)>,
}

/// A campaign that was read, and where it is.
#[derive(Debug)]
pub struct Report {
    /// What is shown of it.
    pub view: View,
    /// What strategies cost, for a campaign that is about them: Markdown.
    pub bounds: Option<String>,
    /// Instances side by side, for a campaign that is about them.
    pub scaling: Option<scaling::Scaling>,
    /// A library's programs by group, for a campaign that is about them.
    pub library: Option<LibraryPages>,
    results: Results,
}

impl Report {
    /// Reads a results folder, or its file of samples. Rows are compared by
    /// what the campaign is about.
    ///
    /// # Errors
    /// [`ReportError::Load`].
    pub fn open(path: &Path) -> Result<Report, ReportError> {
        Report::open_by(path, None)
    }

    /// As [`Report::open`], with rows compared by a figure.
    ///
    /// # Errors
    /// [`ReportError::Load`].
    pub fn open_by(path: &Path, figure: Option<Figure>) -> Result<Report, ReportError> {
        let results = Results::find(path)?;
        let campaign = results.load()?;
        let summary = Summary::from_campaign(&campaign);
        let view = view::from_campaign(
            &campaign,
            &summary,
            figure.unwrap_or_else(|| view::figure_of(&campaign, &summary)),
            &results.samples.to_string_lossy(),
            &results.folder.to_string_lossy(),
        );
        // By another figure there is only the general report.
        let is_about_bounds = figure.is_none() && bounds::is_about(&campaign);
        let bounds = is_about_bounds.then(|| bounds::render(&campaign, &summary));
        let is_about_scaling = figure.is_none() && scaling::is_about(&campaign);
        let scaling = is_about_scaling.then(|| scaling::of(&campaign, &summary, &view));
        let is_about_library = figure.is_none() && library::is_about(&campaign);
        let library = match is_about_library {
            true => Some(LibraryPages {
                own: library::files(&campaign, &summary),
                seed: library::seed_files(&campaign, &summary)?,
            }),
            false => None,
        };
        Ok(Report {
            view,
            bounds,
            scaling,
            library,
            results,
        })
    }

    /// The report in a form; `style` is for the terminal alone.
    ///
    /// # Errors
    /// [`ReportError::Template`].
    pub fn render(&self, format: Format, style: Style) -> Result<String, ReportError> {
        Ok(match format {
            Format::Terminal if self.own_page().is_some() => {
                let text = self.own_page().unwrap_or_default();
                text.lines().map(|line| style.clean(line) + "\n").collect()
            }
            Format::Terminal => {
                let page = self.file_of(Format::Html).filter(|page| page.exists());
                let places = terminal::Places {
                    report: page.map(|page| page.to_string_lossy().into_owned()),
                };
                terminal::render(&self.view, &places, style)
            }
            Format::Html => html::render(&self.view)?,
            Format::Markdown => markdown::render(&self.view),
            Format::Csv => csv::render(&self.view),
        })
    }

    /// Where a form of the report lies in the results folder.
    pub fn file_of(&self, format: Format) -> Option<PathBuf> {
        Some(self.results.folder.join(format.file_name()?))
    }

    /// Writes every form that is a file into the results folder, each whole.
    ///
    /// # Errors
    /// [`ReportError::Write`] for the first that cannot be written.
    pub fn save(&self) -> Result<(), ReportError> {
        for format in Format::ALL {
            let Some(path) = self.file_of(format) else {
                continue;
            };
            let content = self.render(format, Style::default())?;
            write_whole(&path, content.as_bytes())
                .map_err(|error| ReportError::Write { path, error })?;
        }
        for (name, content) in self.own_files() {
            let path = self.results.folder.join(name);
            write_whole(&path, content.as_bytes())
                .map_err(|error| ReportError::Write { path, error })?;
        }
        Ok(())
    }

    /// The page of what the campaign is about, as Markdown that lines up.
    fn own_page(&self) -> Option<String> {
        let scaling = self.scaling.as_ref().map(scaling::Scaling::markdown);
        let library = self.library.as_ref().map(|pages| pages.own[0].1.clone());
        self.bounds.clone().or(scaling).or(library)
    }

    /// The files of what the campaign is about.
    fn own_files(&self) -> Vec<(&'static str, String)> {
        let bounds = self.bounds.iter();
        let mut files: Vec<_> = bounds
            .map(|text| (bounds::FILE_NAME, text.clone()))
            .collect();
        if let Some(scaling) = &self.scaling {
            files.push(("scaling.md", scaling.markdown()));
            files.push(("scaling.html", scaling.html()));
            files.push(("scaling.csv", scaling.csv()));
        }
        files.extend(self.library.iter().flat_map(|pages| pages.own.clone()));
        files
    }
}
