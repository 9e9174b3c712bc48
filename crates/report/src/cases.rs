//! A comparison of two campaigns as test cases, for whoever runs it after each change.
//!
//! ```text
//!  Comparison ─┐
//!  second look ┼─▶ Case… ─▶ junit ─▶ a file
//!  Summary ────┘      └───▶ annotations ─▶ lines that GitHub shows beside a change
//! ```
//!
//! What must stay true: a case fails if and only if the exit status counts what it is about,
//! so that a file without a failure is a comparison without one; each case says what the
//! terminal says.

pub mod annotations;
pub mod junit;

use std::path::PathBuf;

use fathom_record::Cell;
use fathom_stats::compare::{Change, Comparison, RowChange};
use fathom_stats::{FigureUnit, Row, Summary, Verdict};

use crate::compare::{RowNames, came_again, in_words, judged, reaches_past};
use crate::figures;

/// The second look at slowdowns, or why there is none; absent where nobody looked.
pub type Again<'a> = Option<Result<&'a (Comparison, PathBuf), &'a String>>;

/// One thing that was judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The row, as the terminal calls it.
    pub row: String,
    /// The workload, or that it is their mean.
    pub name: String,
    /// What it takes now, in seconds: the median of rounds. Absent for means, and for
    /// figures that are no times.
    pub time_s: Option<f64>,
    /// What became of it.
    pub found: Found,
    /// The same in words.
    pub text: String,
}

/// What became of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// No slowdown past the threshold, or none that came again.
    Passed,
    /// One.
    Slower,
    /// One that could not be looked for again.
    Unconfirmed,
    /// It had a time and has none any more.
    Lost,
    /// A slowdown past the threshold would have gone unseen.
    Unclear,
}

impl Found {
    /// Whether the case failed.
    pub fn is_failure(self) -> bool {
        matches!(self, Found::Slower | Found::Unconfirmed | Found::Lost)
    }

    /// In a few words.
    pub fn name(self) -> &'static str {
        match self {
            Found::Passed => "no slowdown",
            Found::Slower => "slower",
            Found::Unconfirmed => "slower, unconfirmed",
            Found::Lost => "not measured",
            Found::Unclear => "too noisy to say",
        }
    }
}

/// Everything a comparison judged: of each row the mean of its workloads and each of these,
/// then what was lost. `after` is the later campaign.
pub fn cases(comparison: &Comparison, after: &Summary, again: Again<'_>) -> Vec<Case> {
    let names = RowNames::of(comparison.rows.iter().map(|row| &row.row));
    let cases = Cases {
        comparison,
        after,
        again,
    };
    let mut all: Vec<Case> = Vec::new();
    for row in &comparison.rows {
        all.extend(cases.of_row(row, &names.name(&row.row)));
    }
    for (id, reason) in &comparison.lost {
        let cell = after.cell(id).map(|cell| &cell.cell);
        let of_row = |cell: &Cell| (names.name(&Row::of(cell)), cell.workload.clone());
        let (row, name) = cell.map_or_else(|| (id.to_string(), id.to_string()), of_row);
        let text = format!("was measured before, not now: {reason}");
        all.push(Case::new(row, name, Found::Lost, text));
    }
    if comparison.rows.is_empty() {
        let text = "the two have no row in common: nothing was compared".to_owned();
        let name = "rows in common".to_owned();
        all.push(Case::new("comparison".to_owned(), name, Found::Lost, text));
    }
    all
}

impl Case {
    fn new(row: String, name: String, found: Found, text: String) -> Case {
        Case {
            row,
            name,
            time_s: None,
            found,
            text,
        }
    }
}

/// A change, and the workload that it is of unless it is a row's mean.
type Named<'a> = (Option<&'a str>, &'a Change);

struct Cases<'a> {
    comparison: &'a Comparison,
    after: &'a Summary,
    again: Again<'a>,
}

impl Cases<'_> {
    fn of_row(&self, row: &RowChange, name: &str) -> Vec<Case> {
        let mean = row.geomean.as_ref().map(|change| (None, change));
        let each = row.workloads.iter();
        let each = each.map(|(workload, change)| (Some(workload.as_str()), change));
        let case = |title: String, changes: &[Named<'_>]| {
            let (found, text) = self.found(&row.row, changes);
            Case::new(name.to_owned(), title, found, text)
        };
        let timed = |workload: &str, changes: &[Named<'_>]| Case {
            time_s: self.time_s(&row.row, workload),
            ..case(workload.to_owned(), changes)
        };
        if let [(only, change)] = row.workloads.as_slice() {
            // The mean of one is that one, judged with other means.
            let both: Vec<Named<'_>> = mean.into_iter().chain([(Some(&**only), change)]).collect();
            return vec![timed(only, &both)];
        }
        let title = format!("geometric mean of {} workloads", row.workloads.len());
        let mean = mean.map(|mean| case(title, &[mean]));
        let each = each.map(|(name, change)| timed(name.unwrap_or_default(), &[(name, change)]));
        mean.into_iter().chain(each).collect()
    }

    /// What became of what is told as one: the worst of it.
    fn found(&self, row: &Row, changes: &[Named<'_>]) -> (Found, String) {
        let each = changes.iter().map(|one| self.of_change(row, *one));
        let rank = |found: Found| match found {
            found if found.is_failure() => 2,
            Found::Unclear => 1,
            _ => 0,
        };
        // The first of those that are equal: the mean, if there is one.
        let worst = each.reduce(|one, other| match rank(other.0) > rank(one.0) {
            true => other,
            false => one,
        });
        worst.unwrap_or((Found::Unclear, "nothing was compared".to_owned()))
    }

    fn of_change(&self, row: &Row, (workload, change): Named<'_>) -> (Found, String) {
        let threshold = self.comparison.threshold;
        let said = format!("{}: {}", judged(change).2, in_words(change));
        if change.is_regression {
            let allowed = figures::percent(threshold);
            return self.of_slowdown(row, workload, format!("{said}; tolerated: {allowed}"));
        }
        let (mean, cell) = self.comparison.detectable;
        let seen = match workload {
            None => mean,
            Some(_) => cell,
        };
        let is_blind = seen.is_none_or(|seen| seen > threshold);
        match change.verdict {
            Verdict::TooFew | Verdict::Uncontrolled => (Found::Unclear, said),
            _ if is_blind && reaches_past(change, threshold) => {
                let seen = seen.map_or_else(|| "none".to_owned(), figures::percent);
                (
                    Found::Unclear,
                    format!("{said}; could only have seen {seen}"),
                )
            }
            _ => (Found::Passed, said),
        }
    }

    /// A slowdown, by what the second look at it found.
    fn of_slowdown(&self, row: &Row, workload: Option<&str>, said: String) -> (Found, String) {
        let (again, _) = match self.again {
            None => return (Found::Slower, said),
            Some(Err(why)) => {
                let text = format!("{said}; it could not be measured again: {why}");
                return (Found::Unconfirmed, text);
            }
            Some(Ok(again)) => again,
        };
        let mut same = came_again(self.comparison, again);
        match same.find(|(other, name, _)| *other == row && *name == workload) {
            Some((_, _, second)) => {
                let second = in_words(second);
                (
                    Found::Slower,
                    format!("{said}; second measurement: {second}"),
                )
            }
            None => {
                let text = format!("not confirmed by a second measurement: {said}");
                (Found::Passed, text)
            }
        }
    }

    fn time_s(&self, row: &Row, workload: &str) -> Option<f64> {
        const NS_PER_S: f64 = 1e9;
        let figure = self.after.compared;
        let cell = self.after.cell_of(row, workload)?;
        let median = cell.estimate(figure)?.median;
        (figure.unit() == FigureUnit::Nanoseconds).then_some(median / NS_PER_S)
    }
}
