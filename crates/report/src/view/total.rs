//! What so many runs take in all: load and compile once, then instantiate and run each
//! time; and where one row overtakes another.
//!
//! ```text
//!  total(n) = load + compile + n × (instantiate + run)
//! ```
//!
//! Without teardown: for V8 that is a full garbage collection, which no user waits for.
//! Over several workloads it is the geometric mean of their totals.
//!
//! What must stay true: only rows that trap exactly, with a time for every workload, can
//! lead; who leads for one run is told alone only where it is told apart from every other, by
//! the interval of their ratio or by all rounds; an overtaking is told only where every round
//! has it; a row below five rounds has no figure and does not lead.

use fathom_record::Estimator;
use fathom_stats::interval::ROUNDS_MIN;
use fathom_stats::ratio::{self, Logs};
use fathom_stats::times::Round;
use fathom_stats::{CellSummary, Figure, Summary};

use super::group::{Shown, has_times};
use super::{Kind, Total, Totals, Workload, sentences};
use crate::figures;

/// Numbers of runs that have a column.
pub const COUNTS: [u64; 4] = [1, 10, 100, 1000];
/// Runs beyond which nobody asks.
const RUNS_MAX: u64 = 1_000_000;

/// A workload on a row: what it takes once, and each time.
#[derive(Clone, Copy)]
struct Cost {
    once: f64,
    each: f64,
}

impl Cost {
    fn of(value: impl Fn(Figure) -> Option<f64>) -> Option<Cost> {
        let sum = |figures: &[Figure]| figures.iter().map(|figure| value(*figure)).sum();
        // Native code has nothing to compile.
        let once = [Figure::Load, Figure::Compile].map(|figure| value(figure).unwrap_or(0.0));
        let each: Option<f64> = sum(&[Figure::Instantiate, Figure::Run]);
        Some(Cost {
            once: once.iter().sum(),
            each: each?,
        })
    }
}

/// A row over its workloads, by the medians and in each round.
struct Costs {
    median: Vec<Cost>,
    rounds: Vec<Vec<Cost>>,
}

/// The geometric mean of what so many runs take.
fn total(costs: &[Cost], runs: u64) -> f64 {
    let logs = costs
        .iter()
        .map(|cost| (cost.once + runs as f64 * cost.each).ln());
    (logs.sum::<f64>() / costs.len() as f64).exp()
}

/// What the rows of a group take in all, if there are two to choose from.
pub fn of_group(shown: &[Shown<'_>], summary: &Summary, workloads: &[Workload]) -> Option<Totals> {
    let rounds = common_rounds(shown, summary, workloads);
    let rows: Vec<Part<'_>> = shown
        .iter()
        .filter_map(|row| {
            Some(Part {
                row,
                costs: costs(row, summary, workloads, &rounds)?,
                has_enough: has_enough(row, summary, workloads),
            })
        })
        .collect();
    let choices = || rows.iter().filter(|part| is_choice(part.row));
    if choices().count() < 2 {
        return None;
    }
    let (known, unknown): (Vec<_>, Vec<_>) = choices().partition(|part| part.has_enough);
    let known: Vec<(&str, &Costs)> = known
        .iter()
        .map(|part| (part.row.row.name.as_str(), &part.costs))
        .collect();
    let unknown: Vec<&str> = unknown
        .iter()
        .map(|part| part.row.row.name.as_str())
        .collect();
    Some(Totals {
        sentence: sentence(&known, rounds.len(), &unknown, summary.estimator),
        rows: rows.iter().map(Part::shown).collect(),
    })
}

/// Exact and measured on everything; a row of too few rounds is named, not judged.
fn is_choice(shown: &Shown<'_>) -> bool {
    has_times(shown) && shown.row.kind != Kind::Inexact
}

/// A row's part of it.
struct Part<'a> {
    row: &'a Shown<'a>,
    costs: Costs,
    has_enough: bool,
}

impl Part<'_> {
    fn shown(&self) -> Total {
        let ns = || COUNTS.map(|runs| total(&self.costs.median, runs)).to_vec();
        Total {
            name: self.row.row.name.clone(),
            ns: self.has_enough.then(ns),
        }
    }
}

/// Whether each of its workloads has the rounds that anything takes to be said.
fn has_enough(row: &Shown<'_>, summary: &Summary, workloads: &[Workload]) -> bool {
    cells(row, summary, workloads).all(|cell| {
        let rounds = cell.and_then(rounds_of);
        rounds.is_some_and(|rounds| rounds.len() >= ROUNDS_MIN)
    })
}

fn cells<'a>(
    row: &'a Shown<'_>,
    summary: &'a Summary,
    workloads: &'a [Workload],
) -> impl Iterator<Item = Option<&'a CellSummary>> {
    workloads
        .iter()
        .map(|workload| summary.cell_of(&row.from.row, &workload.name))
}

fn rounds_of(cell: &CellSummary) -> Option<&std::collections::BTreeMap<u32, Round>> {
    Some(&cell.times.as_ref().ok()?.rounds)
}

/// The rounds that every choice has of every workload, of those that have enough.
fn common_rounds(shown: &[Shown<'_>], summary: &Summary, workloads: &[Workload]) -> Vec<u32> {
    let mut all: Option<Vec<u32>> = None;
    let is_asked = |row: &&Shown<'_>| is_choice(row) && has_enough(row, summary, workloads);
    for row in shown.iter().filter(is_asked) {
        for cell in cells(row, summary, workloads).flatten() {
            let Some(rounds) = rounds_of(cell) else {
                continue;
            };
            all = Some(match all {
                None => rounds.keys().copied().collect(),
                Some(known) => known
                    .into_iter()
                    .filter(|one| rounds.contains_key(one))
                    .collect(),
            });
        }
    }
    all.unwrap_or_default()
}

fn costs(
    row: &Shown<'_>,
    summary: &Summary,
    workloads: &[Workload],
    rounds: &[u32],
) -> Option<Costs> {
    let median = cells(row, summary, workloads)
        .map(|cell| Cost::of(|figure| Some(cell?.estimate(figure)?.median)))
        .collect::<Option<Vec<Cost>>>()?;
    let in_round = |round: &u32| {
        cells(row, summary, workloads)
            .map(|cell| {
                let values = rounds_of(cell?)?.get(round)?;
                Cost::of(|figure| values.get(&figure).copied())
            })
            .collect::<Option<Vec<Cost>>>()
    };
    Some(Costs {
        median,
        rounds: rounds.iter().filter_map(in_round).collect(),
    })
}

/// Who takes least for so many runs.
fn leader(choices: &[(&str, &Costs)], runs: u64, of: impl Fn(&Costs) -> &[Cost]) -> usize {
    let totals = choices.iter().map(|(_, costs)| total(of(costs), runs));
    let least = totals
        .enumerate()
        .min_by(|(_, one), (_, other)| one.total_cmp(other));
    least.map_or(0, |(at, _)| at)
}

/// The fewest runs for which one takes less than another; it does for [`RUNS_MAX`].
fn crossing(one: &[Cost], other: &[Cost]) -> u64 {
    let (mut low, mut high) = (1, RUNS_MAX);
    while low < high {
        let middle = low.midpoint(high);
        match total(one, middle) < total(other, middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

/// A row that leads from a number of runs on, the median of its rounds; fewest and most of them.
struct Step {
    row: usize,
    from: u64,
    range: (u64, u64),
}

fn steps(choices: &[(&str, &Costs)]) -> Vec<Step> {
    let first = leader(choices, 1, |costs| &costs.median);
    let mut steps = vec![Step {
        row: first,
        from: 1,
        range: (1, 1),
    }];
    let mut runs = 1;
    while runs < RUNS_MAX {
        runs = (runs * 2).min(RUNS_MAX);
        let last = steps.last().expect("there is the first");
        let next = leader(choices, runs, |costs| &costs.median);
        if next == last.row {
            continue;
        }
        let (old, new) = (choices[last.row].1, choices[next].1);
        let pairs = || new.rounds.iter().zip(&old.rounds);
        let is_before =
            |(new, old): (&Vec<Cost>, &Vec<Cost>)| total(new, RUNS_MAX) < total(old, RUNS_MAX);
        // What some round has the other way round may be noise.
        if pairs().len() == 0 || !pairs().all(is_before) {
            continue;
        }
        let mut all: Vec<u64> = pairs().map(|(new, old)| crossing(new, old)).collect();
        all.sort_unstable();
        steps.push(Step {
            row: next,
            from: all[all.len() / 2].max(last.from),
            range: (all[0], all[all.len() - 1]),
        });
    }
    steps
}

/// Whether one takes less than another for one run: all rounds have it so, or the interval of
/// their ratio.
fn is_less(one: &Costs, other: &Costs, estimator: Estimator) -> bool {
    let totals = one.rounds.iter().zip(&other.rounds);
    let pairs: Vec<(f64, f64)> = totals
        .map(|(one, other)| (total(one, 1), total(other, 1)))
        .collect();
    if !pairs.is_empty() && pairs.iter().all(|(one, other)| one < other) {
        return true;
    }
    let ratio = Logs::between(&pairs, estimator).and_then(|logs| ratio::geomean(&[logs]));
    let interval = ratio.and_then(|ratio| ratio.interval);
    interval.is_ok_and(|ends| ends.high < 1.0)
}

fn sentence(
    choices: &[(&str, &Costs)],
    rounds: usize,
    unknown: &[&str],
    estimator: Estimator,
) -> String {
    const TITLE: &str = Totals::TITLE;
    if choices.len() < 2 || rounds < ROUNDS_MIN {
        return format!("{TITLE}: too few rounds to name the fastest; it takes {ROUNDS_MIN}.");
    }
    let steps = steps(choices);
    let first = &steps[0];
    let (name, costs) = choices[first.row];
    let others = choices
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != first.row);
    let open: Vec<&str> = others
        .filter(|(_, (_, other))| !is_less(costs, other, estimator))
        .map(|(_, (name, _))| *name)
        .collect();
    let open = match open.is_empty() {
        true => String::new(),
        false => format!(", not told apart from {}", sentences::named(&open)),
    };
    let takes = figures::time(total(&costs.median, 1));
    let mut text = format!("{TITLE}: for one run {name} ({takes}{open})");
    for step in &steps[1..] {
        let (low, high) = step.range;
        let range = match low == high {
            true => String::new(),
            false => format!(" ({}–{} by round)", runs(low), runs(high)),
        };
        let (from, name) = (runs(step.from), choices[step.row].0);
        text.push_str(&format!(", from {from} runs on{range} {name}"));
    }
    if steps.len() == 1 {
        text.push_str(", and no row was shown to overtake it with more runs");
    }
    text.push('.');
    if !unknown.is_empty() {
        let names = sentences::named(unknown);
        text.push_str(&format!(" Too few rounds to place {names}."));
    }
    text
}

fn runs(count: u64) -> String {
    figures::count(count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: Estimator = Estimator::FasterHalf;

    fn costs(rounds: &[(f64, f64)]) -> Costs {
        let cost = |(once, each): &(f64, f64)| {
            vec![Cost {
                once: once * 1e6,
                each: each * 1e6,
            }]
        };
        Costs {
            median: cost(&rounds[rounds.len() / 2]),
            rounds: rounds.iter().map(cost).collect(),
        }
    }

    #[test]
    fn who_overtakes_whom_and_when() {
        // 20 ms to compile and 4 a run, against 1 and 7: 19 / 3 more runs.
        let slow = costs(&[(1.0, 7.0); 5]);
        let fast = costs(&[
            (20.0, 4.0),
            (20.0, 4.0),
            (20.0, 4.0),
            (23.0, 4.0),
            (20.0, 4.0),
        ]);
        let text = sentence(&[("fast", &fast), ("slow", &slow)], 5, &[], HALF);
        assert_eq!(
            text,
            "Start, compile and run together: for one run slow (8.00 ms), from 7 runs on \
             (7–8 by round) fast."
        );
    }

    /// Medians over rounds are of no round, and may meet where none of them does.
    #[test]
    fn the_number_of_runs_is_one_of_its_rounds() {
        let slow = costs(&[(1.0, 7.0); 5]);
        let fast = Costs {
            median: costs(&[(200.0, 4.0)]).median,
            ..costs(&[(20.0, 4.0); 5])
        };
        let text = sentence(&[("fast", &fast), ("slow", &slow)], 5, &[], HALF);
        assert!(text.ends_with(", from 7 runs on fast."), "{text}");
    }

    #[test]
    fn what_not_every_round_has_is_no_overtaking() {
        let one = costs(&[(1.0, 7.0); 5]);
        let level = costs(&[(2.0, 6.9), (2.0, 7.1), (2.0, 6.9), (2.0, 7.1), (2.0, 6.9)]);
        let text = sentence(&[("one", &one), ("level", &level)], 5, &[], HALF);
        assert!(
            text.contains("for one run one (8.00 ms), and no row"),
            "{text}"
        );
        // Shown by an interval though one round has it the other way round.
        let disturbed = [(1.0, 7.9), (1.0, 7.9), (1.0, 7.9), (1.0, 7.9), (1.0, 6.5)];
        let slow = costs(&[disturbed, disturbed, disturbed, disturbed].concat());
        let quick = costs(&[(1.0, 7.0); 20]);
        let choices = [("quick", &quick), ("slow", &slow)];
        for (estimator, is_open) in [(Estimator::Mean, false), (HALF, true)] {
            let text = sentence(&choices, 20, &[], estimator);
            assert_eq!(text.contains("not told apart"), is_open, "{text}");
        }
        let near = costs(&[(0.5, 7.6), (0.5, 7.6), (0.5, 7.4), (0.5, 7.2), (0.5, 7.5)]);
        let text = sentence(&[("one", &one), ("level", &near)], 5, &[], HALF);
        assert!(
            text.contains("for one run level (7.90 ms, not told apart from one)"),
            "{text}"
        );
        let text = sentence(&[("one", &one), ("level", &near)], 5, &["other"], HALF);
        assert!(text.ends_with(" Too few rounds to place other."), "{text}");
        let too_few = "Start, compile and run together: too few rounds to name the fastest; \
             it takes 5.";
        assert_eq!(
            sentence(&[("one", &one), ("level", &near)], 4, &[], HALF),
            too_few
        );
        assert_eq!(sentence(&[("one", &one)], 5, &["other"], HALF), too_few);
    }
}
