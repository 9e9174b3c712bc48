//! The half of its rounds that a cell does not count, and what slows children.
//!
//! ```text
//!  slow half   mean of ln over the slower half − mean of ln over the faster half
//!  slowed      a round more than 5 % above the slowest of the fastest third
//! ```
//!
//! The faster half says nothing of a program that is slow in some of its layouts, or each
//! second time. Whoever asks for that reads the slow half. What else ran on the machine is in
//! it as well, so it is no property of a row alone: it is shown beside that of other rows and
//! of the row's control, and has no verdict.
//!
//! **A row stands out** where more of its children are slowed than of the rows beside it,
//! in the same rounds of the same workloads, than chance explains (Fisher's exact test at 1 %
//! over all rows of a table), and its slow half is at least [`DELTA`] above the middle one of
//! theirs. Beside it are the rows whose fastest third there is within half as much again: what disturbs
//! for a tenth of a second slows a short program by more than a long one.
//!
//! Of a third, because half of the rounds of a program with two equally likely modes are
//! in the slow one, or a few more: then no round would be above the slowest of the half.
//!
//! What must stay true: what slows all rows alike makes none stand out; a cell below five
//! rounds is counted nowhere.

use std::collections::BTreeMap;

use crate::figure::{Figure, FigureUnit};
use crate::interval::ROUNDS_MIN;
use crate::order::{median, sorted};
use crate::ratio::positive_ln;
use crate::row::Row;
use crate::student::ln_gamma;
use crate::summary::{CellSummary, Summary};
use crate::verdict::DELTA;

/// What a child takes longer than the slowest of the fastest third of its cell's to be called
/// slowed.
pub const SLOWED: f64 = 0.05;

/// How much longer a row may take than another to be beside it.
const BESIDE: f64 = 1.5;

/// The chance of calling any row of a table out of the ordinary if none is.
const ALPHA: f64 = 0.01;

/// Some children, and how many of them were slowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Children {
    /// Those that were.
    pub slowed: usize,
    /// All.
    pub all: usize,
}

impl Children {
    /// The part that was slowed; `None` of no children.
    pub fn share(self) -> Option<f64> {
        (self.all > 0).then(|| self.slowed as f64 / self.all as f64)
    }

    /// Both together.
    #[must_use]
    pub fn with(self, other: Children) -> Children {
        Children {
            slowed: self.slowed + other.slowed,
            all: self.all + other.all,
        }
    }

    fn count(slowed: impl Iterator<Item = bool>) -> Children {
        slowed.fold(Children::default(), |sum, is_slowed| Children {
            slowed: sum.slowed + usize::from(is_slowed),
            all: sum.all + 1,
        })
    }
}

/// The slower half of a row's rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowHalves {
    /// The slower half over the faster, the geometric mean over the row's workloads; absent
    /// where one has too few rounds.
    pub slow: Option<f64>,
    /// The same of its controls, over the workloads that have one.
    pub control: Option<f64>,
    /// Its children and those of its controls.
    pub children: Children,
    /// Where it stands out: its own children, and those of the rows beside it.
    pub apart: Option<(Children, Children)>,
}

/// The slower half of some values over the faster; `None` below five, and of values that
/// are not positive.
pub fn slow_half(values: &[f64]) -> Option<f64> {
    Some(Half::of(values)?.slow.exp())
}

/// What the rounds of a cell show.
struct Half {
    /// The logarithm of the slower half over the faster.
    slow: f64,
    /// What the slowest of the fastest third took.
    floor: f64,
}

impl Half {
    fn of(values: &[f64]) -> Option<Half> {
        if values.len() < ROUNDS_MIN {
            return None;
        }
        let logs = sorted(&values.iter().map(|ns| positive_ln(*ns)).collect::<Vec<_>>())?;
        let (fast, slow) = logs.split_at(logs.len().div_ceil(2));
        let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
        let slow = mean(slow) - mean(fast);
        let floor = logs[logs.len().div_ceil(3) - 1].exp();
        slow.is_finite().then_some(Half { slow, floor })
    }
}

/// A cell by its rounds.
struct Rounds {
    half: Half,
    is_slowed: BTreeMap<u32, bool>,
}

impl Rounds {
    fn of(cell: &CellSummary, figure: Figure) -> Option<Rounds> {
        let rounds = &cell.times.as_ref().ok()?.rounds;
        let values: BTreeMap<u32, f64> = rounds
            .iter()
            .filter_map(|(round, values)| Some((*round, *values.get(&figure)?)))
            .collect();
        let plain: Vec<f64> = values.values().copied().collect();
        let half = Half::of(&plain)?;
        let limit = half.floor * (1.0 + SLOWED);
        let is_slowed = values.iter().map(|(round, ns)| (*round, *ns > limit));
        Some(Rounds {
            is_slowed: is_slowed.collect(),
            half,
        })
    }

    fn children(&self) -> Children {
        Children::count(self.is_slowed.values().copied())
    }

    fn is_beside(&self, other: &Rounds) -> bool {
        let ratio = self.half.floor / other.half.floor;
        (1.0 / BESIDE..=BESIDE).contains(&ratio)
    }
}

/// A row's cells by workload, and those of its controls.
struct Cells<'a> {
    own: BTreeMap<&'a str, Option<Rounds>>,
    controls: Vec<Rounds>,
}

impl Summary {
    /// The slower halves of rows that are shown together, by a figure that is a time; nothing
    /// of any other.
    pub fn halves(&self, figure: Figure, rows: &[&Row]) -> Vec<RowHalves> {
        if figure.unit() != FigureUnit::Nanoseconds {
            return vec![RowHalves::default(); rows.len()];
        }
        let cells: Vec<Cells<'_>> = rows.iter().map(|row| self.halved(row, figure)).collect();
        let mut halves: Vec<RowHalves> = cells.iter().map(Cells::halves).collect();
        let apart: Vec<_> = (0..rows.len())
            .map(|at| apart(&cells, &halves, at))
            .collect();
        for (half, apart) in halves.iter_mut().zip(apart) {
            half.apart = apart;
        }
        halves
    }

    fn halved(&self, row: &Row, figure: Figure) -> Cells<'_> {
        let cells = self.cells.iter();
        let (mut own, mut controls) = (BTreeMap::new(), Vec::new());
        for cell in cells.filter(|cell| Row::of(&cell.cell) == *row) {
            let rounds = Rounds::of(cell, figure);
            match cell.cell.is_control() {
                true => controls.extend(rounds),
                false => drop(own.insert(cell.cell.workload.as_str(), rounds)),
            }
        }
        Cells { own, controls }
    }
}

impl Cells<'_> {
    fn halves(&self) -> RowHalves {
        let own: Option<Vec<&Rounds>> = self.own.values().map(Option::as_ref).collect();
        let all = self.own.values().flatten().chain(&self.controls);
        RowHalves {
            slow: own.and_then(|own| mean(own.into_iter())),
            control: mean(self.controls.iter()),
            children: all.fold(Children::default(), |sum, cell| sum.with(cell.children())),
            apart: None,
        }
    }
}

fn mean<'a>(cells: impl Iterator<Item = &'a Rounds>) -> Option<f64> {
    let logs: Vec<f64> = cells.map(|cell| cell.half.slow).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    mean.is_finite().then(|| mean.exp())
}

/// The children of one row and of those beside it, if it stands out.
fn apart(cells: &[Cells<'_>], halves: &[RowHalves], at: usize) -> Option<(Children, Children)> {
    let slow = halves[at].slow?;
    let (mut own, mut beside) = (Children::default(), Children::default());
    let mut middles = BTreeMap::new();
    for (workload, rounds) in &cells[at].own {
        let Some(rounds) = rounds else { continue };
        let others = (0..cells.len()).filter(|other| *other != at);
        let others = others.filter_map(|other| {
            let theirs = cells[other].own.get(workload)?.as_ref()?;
            rounds.is_beside(theirs).then_some((other, theirs))
        });
        let mut theirs = Children::default();
        for (other, one) in others {
            let common = one.is_slowed.iter();
            let common = common.filter(|(round, _)| rounds.is_slowed.contains_key(round));
            theirs = theirs.with(Children::count(common.map(|(_, is_slowed)| *is_slowed)));
            middles.insert(other, halves[other].slow);
        }
        if theirs.all > 0 {
            own = own.with(rounds.children());
            beside = beside.with(theirs);
        }
    }
    let middles: Vec<f64> = middles.into_values().flatten().collect();
    let is_slower = slow >= median(&middles)? * (1.0 + DELTA);
    let is_more = chance_of_more(own, beside) < ALPHA / cells.len() as f64;
    (is_slower && is_more).then_some((own, beside))
}

/// The chance that at least so many of one's children are slowed as were, if it is by chance
/// which of all are: the upper tail of the hypergeometric distribution.
fn chance_of_more(own: Children, beside: Children) -> f64 {
    let all = own.with(beside);
    let ln_choose = |n: usize, k: usize| {
        let ln_factorial = |n: usize| ln_gamma(n as f64 + 1.0);
        ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
    };
    let chance = |slowed: usize| {
        let others = (all.all - all.slowed, own.all - slowed);
        match others.1 <= others.0 {
            true => {
                let ways = ln_choose(all.slowed, slowed) + ln_choose(others.0, others.1);
                (ways - ln_choose(all.all, own.all)).exp()
            }
            false => 0.0,
        }
    };
    (own.slowed..=own.all.min(all.slowed)).map(chance).sum()
}

#[cfg(test)]
mod tests;
