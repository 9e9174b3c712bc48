//! Directives counted: of one mode, and of all by group and strategy.

use std::collections::HashSet;

use fathom_engine::Bounds;

use crate::expected::Expected;
use crate::groups::GROUPS;
use crate::run::{Cause, FOLLOWS, Outcome, Report};

/// Failures printed for each mode; the rest is counted.
const SHOWN_MAX: usize = 40;

/// The sum over the scripts of a mode.
#[derive(Default)]
pub struct Tally {
    passed: usize,
    beyond: usize,
    expected: usize,
    wrong: Vec<String>,
}

impl Tally {
    pub fn of(reports: &[Report<'_>], [expected, either, beyond]: [&Expected; 3]) -> Tally {
        let mut tally = Tally::default();
        let mut met = HashSet::new();
        for report in reports {
            for (line, outcome) in &report.outcomes {
                let place = format!("{}:{line}", report.script.name);
                let is_beyond = beyond.contains(&place);
                let is_expected = expected.contains(&place);
                match outcome {
                    Outcome::Passed if is_beyond || is_expected => tally.wrong.push(format!(
                        "{place}: passes, but is listed as an expected failure"
                    )),
                    Outcome::Passed => tally.passed += 1,
                    Outcome::Failed(_) if is_beyond => tally.beyond += 1,
                    Outcome::Failed(_) if is_expected => tally.expected += 1,
                    Outcome::Failed(failure)
                        if failure.cause == Cause::Inexact && either.contains(&place) =>
                    {
                        tally.expected += 1;
                    }
                    Outcome::Failed(failure) => {
                        tally.wrong.push(format!("{place}: {}", failure.message));
                    }
                }
                met.insert(place);
            }
        }
        for listed in [expected, either, beyond] {
            tally.find_strays(reports, &met, listed);
        }
        tally
    }

    /// Lines of the files that name no directive of a script that was run.
    fn find_strays(&mut self, reports: &[Report<'_>], met: &HashSet<String>, listed: &Expected) {
        let run: HashSet<&str> = reports.iter().map(|r| r.script.name.as_str()).collect();
        for place in listed.places() {
            let script = place.rsplit_once(':').map_or(place, |(script, _)| script);
            if run.contains(script) && !met.contains(place) {
                self.wrong
                    .push(format!("{place}: is listed, but names no directive"));
            }
        }
    }

    /// Whether nothing is wrong.
    pub fn is_good(&self) -> bool {
        self.wrong.is_empty()
    }

    pub fn print(&self, mode: &str) {
        println!(
            "{mode:18} {} passed, {} failed, {} expected failures, {} beyond the engine",
            self.passed,
            self.wrong.len(),
            self.expected,
            self.beyond
        );
        // First what others follow from.
        let (follow, first): (Vec<&String>, Vec<&String>) =
            self.wrong.iter().partition(|line| line.contains(FOLLOWS));
        for line in first.into_iter().chain(follow).take(SHOWN_MAX) {
            println!("    {line}");
        }
        if self.wrong.len() > SHOWN_MAX {
            println!("    … and {} more", self.wrong.len() - SHOWN_MAX);
        }
    }
}

/// Directives passed of those run, by group and strategy, both optimisation
/// levels together.
pub struct Table {
    bounds: Vec<Bounds>,
    /// A row for each group: passed and run for each strategy.
    rows: Vec<Vec<(usize, usize)>>,
}

impl Table {
    pub fn new(bounds: &[Bounds]) -> Table {
        Table {
            bounds: bounds.to_vec(),
            rows: vec![vec![(0, 0); bounds.len()]; GROUPS.len()],
        }
    }

    /// Count one mode.
    pub fn add(&mut self, bounds: Bounds, reports: &[Report<'_>]) {
        let column = self.bounds.iter().position(|b| *b == bounds);
        for report in reports {
            let of = report.script.group.name;
            let row = GROUPS.iter().position(|group| group.name == of);
            if let (Some(row), Some(column)) = (row, column) {
                let cell = &mut self.rows[row][column];
                let passed = |(_, o): &&(usize, Outcome)| matches!(o, Outcome::Passed);
                cell.0 += report.outcomes.iter().filter(passed).count();
                cell.1 += report.outcomes.len();
            }
        }
    }

    pub fn print(&self) {
        // Only modes that are not in the table were run.
        if self.rows.iter().flatten().all(|cell| cell.1 == 0) {
            return;
        }
        print!("\n{:20}", "directives passed");
        for bounds in &self.bounds {
            print!(" {:>15}", bounds.name());
        }
        println!();
        for (group, row) in GROUPS.iter().zip(&self.rows) {
            if row.iter().any(|cell| cell.1 > 0) {
                print_row(group.name, row);
            }
        }
        let sum = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column]);
            cells.fold((0, 0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1))
        };
        let sums: Vec<(usize, usize)> = (0..self.bounds.len()).map(sum).collect();
        print_row("sum", &sums);
    }
}

/// `passed`, or `passed/run` where they differ.
fn print_row(name: &str, row: &[(usize, usize)]) {
    print!("{name:20}");
    for (passed, run) in row {
        let cell = match passed == run {
            true => passed.to_string(),
            false => format!("{passed}/{run}"),
        };
        print!(" {cell:>15}");
    }
    println!();
}
