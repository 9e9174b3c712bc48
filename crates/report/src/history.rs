//! Campaigns over time: what each row came to in each, and where it changed.
//!
//! ```text
//!  folders ── find ──▶ campaigns, by date ── build ──▶ History ─┬─▶ terminal, Markdown (told)
//!                                                               ├─▶ JSON
//!                                                               └─▶ site (site.rs)
//!  History ── Section, one for each machine, suite, size, number of instances and set of workloads
//!               └─ Line, one for each row ── Series of its mean, and of each workload
//!                                              ├─ Point    a campaign
//!                                              └─ Change   between two campaigns
//! ```
//!
//! What must stay true: what is told of a campaign is what its report says, by the same
//! estimator and the same gate: a wrong answer or an unsound sandbox has no value. Values of
//! different machines, or means over different workloads, are never in one series. All series of
//! a section together name a change in at most one of twenty sections in which nothing changed.

mod build;
mod find;
mod json;
pub(crate) mod told;

use fathom_record::{Estimator, Header};
use fathom_stats::change_points::Stretch;
use fathom_stats::compare::Basis;
use fathom_stats::{Figure, Row};

use crate::LoadError;
use crate::figures;
use crate::file::Results;
use crate::view;

pub use find::{Found, find};
pub use json::render as json;
pub use told::{change_in_words, markdown, terminal};

/// Why there is no history. Each is one line.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// A campaign cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A folder with no campaign in it.
    #[error("{folder}: no campaign in this folder, nor in those one level down")]
    Empty {
        /// The folder.
        folder: String,
    },
    /// One campaign in two places.
    #[error("{other} is the same campaign as {one} ({name}, {date}): name one of them")]
    Twice {
        /// The first place.
        one: String,
        /// The second place.
        other: String,
        /// What both are called.
        name: String,
        /// When both began.
        date: String,
    },
    /// Nothing that a history could be of.
    #[error("none of the {count} campaigns has a cell")]
    Nothing {
        /// How many were read.
        count: usize,
    },
}

/// Campaigns over time.
#[derive(Clone, Debug)]
pub struct History {
    /// Every campaign, the earliest first.
    pub campaigns: Vec<Told>,
    /// What can be compared, in the order in which campaigns have it.
    pub sections: Vec<Section>,
}

/// What a history says of a campaign itself.
#[derive(Clone, Debug)]
pub struct Told {
    /// Where it is.
    pub results: Results,
    /// Its first line.
    pub header: Header,
}

impl Told {
    /// When it began, to the minute: `2026-11-19 08:00`.
    pub fn minute(&self) -> String {
        let date = &self.header.date;
        date.get(..16).unwrap_or(date).replace('T', " ")
    }

    /// The day it began.
    pub fn day(&self) -> &str {
        let date = &self.header.date;
        date.split('T').next().unwrap_or(date)
    }
}

/// Campaigns that can be compared: on one kind of machine, of the same workloads.
#[derive(Clone, Debug)]
pub struct Section {
    /// The machine's fingerprint.
    pub host: String,
    /// The machine in words.
    pub host_line: String,
    /// The suite, or `module`.
    pub suite: String,
    /// The problem size; may be empty.
    pub size: String,
    /// Instances at once.
    pub threads: u32,
    /// What is compared.
    pub figure: Figure,
    /// What the rounds of a cell come to.
    pub estimator: Estimator,
    /// The workloads, by name.
    pub workloads: Vec<String>,
    /// What ratios are to; absent where times are told.
    pub baseline: Option<String>,
    /// Which of [`History::campaigns`] are in it, in order.
    pub campaigns: Vec<usize>,
    /// Its rows, in the order of the latest campaign.
    pub lines: Vec<Line>,
}

impl Section {
    /// `polybench · medium · 2 instances`.
    pub fn title(&self) -> String {
        let name = match (self.suite.as_str(), &self.workloads[..]) {
            ("module", [name]) => name,
            (suite, _) => suite,
        };
        let parts = [
            name.to_owned(),
            self.size.clone(),
            figures::plural(self.threads as usize, "instance"),
        ];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(" · ")
    }

    /// What the values of a line are, as the head of a column.
    pub fn heading(&self, line: &Line) -> String {
        match (line.basis, &self.baseline) {
            (Basis::ToBaseline, Some(baseline)) => format!("vs {baseline}"),
            _ => self.figure.noun(),
        }
    }

    /// A value of a line as text.
    pub fn shown(&self, line: &Line, value: f64) -> String {
        match line.basis {
            Basis::ToBaseline => figures::ratio(value),
            Basis::Time => view::shown(self.figure, value),
        }
    }

    /// The ends of an interval of a line as text.
    pub fn ends(&self, line: &Line, (low, high): (f64, f64)) -> String {
        match line.basis {
            Basis::ToBaseline => figures::ends(low, high),
            Basis::Time => format!(
                "{} to {}",
                view::shown(self.figure, low),
                view::shown(self.figure, high)
            ),
        }
    }

    /// Every change: its line, its workload unless it is the mean's, and itself.
    pub fn changes(&self) -> impl Iterator<Item = (&Line, Option<&str>, &Change)> {
        self.lines.iter().flat_map(|line| {
            let mean = line.mean.changes.iter();
            let mean = mean.map(move |change| (line, None, change));
            let each = line.workloads.iter().flat_map(move |(name, series)| {
                let changes = series.changes.iter();
                changes.map(move |change| (line, Some(name.as_str()), change))
            });
            mean.chain(each)
        })
    }
}

/// A row over time.
#[derive(Clone, Debug)]
pub struct Line {
    /// As reports call it, without what all rows share.
    pub name: String,
    /// The row; its engine's version only where the section has several of one engine side by
    /// side.
    pub row: Row,
    /// Ratios to the baseline, or times.
    pub basis: Basis,
    /// How many of the section's workloads its mean is over.
    pub timed: usize,
    /// The geometric mean over them.
    pub mean: Series,
    /// Each workload, where there are several.
    pub workloads: Vec<(String, Series)>,
}

/// Values over time.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// One for each campaign that has the row, in order.
    pub points: Vec<Point>,
    /// In order.
    pub changes: Vec<Change>,
    /// Between changes, by position in `points`; the logarithm of the level.
    pub stretches: Vec<Stretch>,
    /// The change between the halves of the longest stretch that would have been found eight
    /// times of ten, relative.
    pub detectable: Option<f64>,
}

/// A value in one campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Which of [`History::campaigns`].
    pub campaign: usize,
    /// The engine's version that was in force; empty where nobody said.
    pub version: String,
    /// What the engine's files were, where that is recorded.
    pub build: Option<String>,
    /// The value, if there is one.
    pub value: Option<view::Interval>,
    /// Why it is not in the series, where it is not.
    pub why_not: Option<String>,
}

/// A change between two campaigns that follow each other in a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The later level over the earlier; above 1 is slower.
    pub ratio: f64,
    /// The ends of its 95 % interval.
    pub ends: (f64, f64),
    /// The last point before it, by position in the series.
    pub before: usize,
    /// The first point after it.
    pub after: usize,
    /// The last point that is surely before it, and the first that is surely after it (95 %).
    pub surely: (usize, usize),
    /// What else differs between the campaigns on either side, a line each.
    pub others: Vec<String>,
}
