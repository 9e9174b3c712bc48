//! Whether the order of engines in an earlier campaign is that on the applications.
//!
//! What must stay true: orders are of rows that are in both campaigns with rounds enough for
//! most of the programs of each; of fewer than four of them nothing is said.

use std::collections::BTreeSet;

use fathom_record::campaign::Header;
use fathom_record::protocol::Hello;
use fathom_stats::interval::ROUNDS_MIN;
use fathom_stats::rank::{LogTimes, RankCorrelation, correlation, levels, mid_ranks, spearman};
use fathom_stats::verdict::ALPHA;
use fathom_stats::{Row, RowSummary, Summary};

use super::{Table, Web};
use crate::against::Against;
use crate::figures;

/// Rows below which no order is compared.
const ROWS_MIN: usize = 4;
/// What the tier of an interpreter is called.
const INTERPRETER: &str = "interpreter";
/// Where an interval begins above this the order is predicted; above 0, in part.
const PREDICTS: f64 = 0.9;

/// A row in both campaigns.
#[derive(Clone)]
struct Common {
    row: Row,
    name: String,
    is_interpreter: bool,
    /// Logarithms of times: on the applications, and in the earlier campaign.
    here: Vec<Option<f64>>,
    there: Vec<Option<f64>>,
}

/// What an earlier campaign says of the applications.
pub(super) struct Prediction {
    /// The campaign's name.
    pub(super) name: String,
    /// Programs, and the day.
    about: String,
    rows: Vec<Common>,
    all: Option<RankCorrelation>,
}

impl Prediction {
    pub(super) fn of(web: &Web<'_>, against: &Against) -> Prediction {
        let (here, there) = (web.context.summary, &against.summary);
        let rows: Vec<Common> = web
            .rows
            .iter()
            .filter_map(|row| {
                let other = counterpart(here, row, there)?;
                Some(Common {
                    name: web.name(&row.row),
                    is_interpreter: is_interpreter(here, row),
                    here: logs(here, &row.row, &programs(here, web.rows.iter().copied())),
                    there: logs(there, &other.row, &programs(there, there.rows.iter())),
                    row: row.row.clone(),
                })
            })
            .filter(|one| has_most(&one.here) && has_most(&one.there))
            .collect();
        Prediction {
            name: against.campaign.header.name.clone(),
            about: about(&against.campaign.header, there),
            all: rank_correlation(&rows),
            rows,
        }
    }

    /// Whether it says anything.
    pub(super) fn is_known(&self) -> bool {
        self.all.is_some()
    }

    /// What it says.
    pub(super) fn sentence(&self) -> String {
        let Prediction { name, about, .. } = self;
        let Some(all) = self.all else {
            let names: Vec<&str> = self.rows.iter().map(|row| row.name.as_str()).collect();
            let names = match names.is_empty() {
                true => String::new(),
                false => format!(" ({})", names.join(", ")),
            };
            return format!(
                "{name} ({about}) says nothing of the applications: {}{names} in both campaigns \
                 with {ROUNDS_MIN} rounds of most programs, and a rank correlation takes {ROWS_MIN}.",
                figures::plural(self.rows.len(), "row")
            );
        };
        let compilers = self.rows.iter().filter(|row| !row.is_interpreter);
        let compilers: Vec<Common> = compilers.cloned().collect();
        let without = match (
            compilers.len() < self.rows.len(),
            rank_correlation(&compilers),
        ) {
            (false, _) => String::new(),
            (true, None) => " Without interpreters there are too few rows to say.".to_owned(),
            (true, Some(one)) => format!(
                " Without interpreters ({} rows): {}; {}.",
                compilers.len(),
                with_ends(&one),
                worth(&one)
            ),
        };
        format!(
            "{name} ({about}) and the applications put the {} rows that both have in orders with \
             a rank correlation of {}: {}.{without}",
            self.rows.len(),
            with_ends(&all),
            worth(&all)
        )
    }

    /// The correlation of one application's order with the campaign's.
    pub(super) fn of_application(&self, web: &Web<'_>, name: &str) -> Option<f64> {
        let time = |row: &&Common| web.median(&row.row, name);
        let rows: Vec<&Common> = self.rows.iter().filter(|row| time(row).is_some()).collect();
        let here: Vec<f64> = rows.iter().filter_map(time).collect();
        let there: LogTimes = rows.iter().map(|row| row.there.clone()).collect();
        let is_enough = rows.len() >= ROWS_MIN;
        spearman(&here, &levels(&there)?).filter(|_| is_enough)
    }

    /// The place of each row in both orders.
    pub(super) fn places(&self) -> Table {
        let places = |of: fn(&Common) -> &Vec<Option<f64>>| {
            let logs: LogTimes = self.rows.iter().map(|row| of(row).clone()).collect();
            levels(&logs).and_then(|levels| mid_ranks(&levels))
        };
        let (here, there) = (places(|row| &row.here), places(|row| &row.there));
        let mut table = Table::new(["engine", &self.name, "here"]);
        let places = there.into_iter().flatten().zip(here.into_iter().flatten());
        let mut lines: Vec<_> = self.rows.iter().zip(places).collect();
        lines.sort_by(|(_, (_, one)), (_, (_, other))| one.total_cmp(other));
        for (row, (there, here)) in lines {
            table.push([row.name.clone(), there.to_string(), here.to_string()]);
        }
        table
    }
}

/// A correlation as it is shown; a little less than nothing is nothing, without a sign.
pub(super) fn shown(value: f64) -> String {
    format!("{:.2}", (value * 100.0).round() / 100.0 + 0.0)
}

fn with_ends(one: &RankCorrelation) -> String {
    let (low, high) = (shown(one.interval.low), shown(one.interval.high));
    format!(
        "{} (95 %: {low} to {high}; of orders at random {} are as alike)",
        shown(one.value),
        figures::percent(one.chance)
    )
}

/// What a correlation is worth, in words. Of few rows orders are alike by chance, whatever
/// applications are drawn.
fn worth(one: &RankCorrelation) -> &'static str {
    match one.interval.low {
        low if low <= 0.0 || one.chance > ALPHA => "it was not shown to predict their order",
        low if low >= PREDICTS => "it predicts their order",
        _ => "it predicts their order in part",
    }
}

fn rank_correlation(rows: &[Common]) -> Option<RankCorrelation> {
    if rows.len() < ROWS_MIN {
        return None;
    }
    let here: LogTimes = rows.iter().map(|row| row.here.clone()).collect();
    let there: LogTimes = rows.iter().map(|row| row.there.clone()).collect();
    correlation(&here, &levels(&there)?)
}

/// The row of the same engine, as it is set, in another campaign, whatever it was built from:
/// the one of the same name or, since one campaign says `auto` and another what that comes to,
/// the only one that was in force as this one was.
fn counterpart<'a>(here: &Summary, row: &RowSummary, there: &'a Summary) -> Option<&'a RowSummary> {
    let is_alike = |other: &&RowSummary| {
        let (one, other) = (&row.row, &other.row);
        other.variant.is_wasm()
            && other.threads == one.threads
            && (&other.sandbox.engine, &other.sandbox.version)
                == (&one.sandbox.engine, &one.sandbox.version)
            && other.sandbox.settings == one.sandbox.settings
    };
    let alike: Vec<&RowSummary> = there.rows.iter().filter(is_alike).collect();
    let named = |other: &&&RowSummary| other.row.sandbox == row.row.sandbox;
    if let Some(same) = alike.iter().find(named) {
        return Some(same);
    }
    let ours = in_force(here, row)?;
    let mut same = alike.into_iter().filter(|other| {
        in_force(there, other).is_some_and(|hello| {
            (&hello.backend, &hello.tier, hello.checks) == (&ours.backend, &ours.tier, ours.checks)
        })
    });
    same.next().filter(|_| same.next().is_none())
}

/// What the first runner of a row that said anything said.
fn in_force<'a>(summary: &'a Summary, row: &RowSummary) -> Option<&'a Hello> {
    let mut cells = row.cells.iter().filter_map(|id| summary.cell(id));
    cells.find_map(|cell| cell.in_force.as_ref())
}

fn is_interpreter(summary: &Summary, row: &RowSummary) -> bool {
    in_force(summary, row).is_some_and(|hello| hello.tier == INTERPRETER)
}

/// The programs of some rows, by name.
fn programs<'a>(
    summary: &'a Summary,
    rows: impl Iterator<Item = &'a RowSummary>,
) -> BTreeSet<&'a str> {
    rows.flat_map(|row| summary.workloads_of(&row.row))
        .collect()
}

/// Of what has rounds enough to say something.
fn logs(summary: &Summary, row: &Row, programs: &BTreeSet<&str>) -> Vec<Option<f64>> {
    let log = |name: &&str| {
        let cell = summary.cell_of(row, name)?;
        let estimate = cell.estimate(summary.compared)?;
        let log = estimate.median.ln();
        Some(log).filter(|log| log.is_finite() && estimate.rounds() >= ROUNDS_MIN)
    };
    programs.iter().map(log).collect()
}

fn has_most(logs: &[Option<f64>]) -> bool {
    2 * logs.iter().flatten().count() > logs.len()
}

fn about(header: &Header, summary: &Summary) -> String {
    let programs = programs(summary, summary.rows.iter()).len();
    let day = header.date.split('T').next().unwrap_or(&header.date);
    format!("{}, {day}", figures::plural(programs, "program"))
}

#[cfg(test)]
mod tests {
    use fathom_stats::Interval;

    use super::*;

    #[test]
    fn what_may_be_chance_predicts_nothing() {
        let worth = |low, chance| {
            let interval = Interval { low, high: 1.0 };
            worth(&RankCorrelation {
                value: 0.95,
                interval,
                chance,
            })
        };
        assert_eq!(worth(0.92, 0.01), "it predicts their order");
        assert_eq!(worth(0.77, 0.03), "it predicts their order in part");
        let not_shown = "it was not shown to predict their order";
        assert_eq!(worth(0.92, 0.06), not_shown);
        assert_eq!(worth(-0.1, 0.01), not_shown);
    }
}
