//! Whom to choose: the fastest, the smallest and the soonest ready, each with how
//! far the next is behind and how sure that is; and whom not to trust.
//!
//! What must stay true: only exact sandboxes with a time for every workload are
//! named as a choice, and only where there is another to choose; who is fastest is told of
//! the same order and the same verdicts as in the headline; two rows are parted only by a verdict of
//! [`Verdict::Different`], and the margin is the interval of their ratio.

use fathom_record::Guarantee;
use fathom_stats::{Figure, RowRatio, Summary, Verdict};

use super::compared_figure::{self, ComparedFigure, Pairs};
use super::group::Shown;
use super::{Kind, sentences};
use crate::figures;

/// What somebody may want of an engine.
struct Aim {
    figure: Figure,
    /// Who has the least of it.
    best: &'static str,
}

/// Advice on a group whose rows are compared by how long they run.
///
/// `shown` is in the order of the table, and `pairs` what the headline was made of.
pub fn of_group(
    shown: &[Shown<'_>],
    compared: &ComparedFigure<'_>,
    pairs: &Pairs<'_>,
) -> Vec<String> {
    if !matches!(compared.figure, Figure::Kernel | Figure::Run) {
        return Vec::new();
    }
    let choices: Vec<&Shown<'_>> = shown.iter().filter(|row| is_choice(row)).collect();
    let fastest = match shown.iter().find(|row| row.row.is_ranked()) {
        Some(first) if !is_choice(first) => "Fastest of those that trap exactly",
        _ => "Fastest",
    };
    let aims = [
        (compared.figure, fastest),
        (Figure::RssPeak, "Smallest"),
        (Figure::Start, "Fastest start"),
    ];
    aims.into_iter()
        .filter_map(|(figure, best)| {
            let aim = Aim { figure, best };
            match figure == compared.figure {
                true => best_of(&aim, &choices, compared, pairs),
                false => by_figure(&aim, &choices, compared.summary),
            }
        })
        .chain(warning(shown))
        .collect()
}

/// Exact, and measured on everything.
fn is_choice(shown: &Shown<'_>) -> bool {
    shown.row.is_ranked() && shown.row.kind != Kind::Inexact
}

/// The best by another figure than the table's.
fn by_figure(aim: &Aim, choices: &[&Shown<'_>], summary: &Summary) -> Option<String> {
    let compared = ComparedFigure::new(summary, aim.figure);
    let mut rows: Vec<(f64, &Shown<'_>)> = choices
        .iter()
        .filter_map(|row| Some((summary.typical(&row.from.row, aim.figure)?, *row)))
        .collect();
    rows.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    // What another process took is in no sample: who has one is not known to be small.
    let (in_part, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, row)| {
        aim.figure == Figure::RssPeak && sentences::compiler_outside(&row.from.row).is_some()
    });
    let rows: Vec<&Shown<'_>> = rows.into_iter().map(|(_, row)| row).collect();
    let keys: Vec<_> = rows.iter().map(|row| &row.from.row).collect();
    let text = best_of(aim, &rows, &compared, &compared.pairs(&keys))?;
    let least = summary.typical(&rows.first()?.from.row, aim.figure)?;
    let apart: Vec<String> = in_part
        .iter()
        .filter(|(value, _)| *value < least)
        .filter_map(|(value, row)| {
            let compiler = sentences::compiler_outside(&row.from.row)?;
            let value = compared_figure::shown(aim.figure, *value);
            Some(format!(
                " {} needs {value} without {compiler}.",
                row.row.name
            ))
        })
        .collect();
    Some(text + &apart.concat())
}

/// The first row, those that are level with it or not shown to be behind, and the first
/// that is. Nothing where there is no other.
fn best_of(
    aim: &Aim,
    rows: &[&Shown<'_>],
    compared: &ComparedFigure<'_>,
    pairs: &Pairs<'_>,
) -> Option<String> {
    let (first, others) = rows
        .split_first()
        .filter(|(_, others)| !others.is_empty())?;
    let least = compared.summary.typical(&first.from.row, aim.figure)?;
    let mut text = format!("{}: {}", aim.best, first.row.name);
    let is_ran = matches!(aim.figure, Figure::Kernel | Figure::Run);
    if !is_ran && sentences::is_known(&first.row) {
        text.push_str(&format!(" ({})", compared_figure::shown(aim.figure, least)));
    }
    let (mut level, mut open) = (Vec::new(), Vec::new());
    let mut behind = None;
    let mut doubt = None;
    for other in others {
        let ratio = pairs.ratio(&other.from.row, &first.from.row);
        match ratio.verdict {
            Verdict::Different => behind = Some((*other, ratio)),
            Verdict::Equivalent => level.push(other.row.name.as_str()),
            Verdict::Undecided => open.push(other.row.name.as_str()),
            verdict => doubt = sentences::doubt(verdict, pairs.figure()),
        }
        if behind.is_some() || doubt.is_some() {
            break;
        }
    }
    if !level.is_empty() {
        text.push_str(&format!(", equivalent to {}", sentences::named(&level)));
    }
    if !open.is_empty() {
        text.push_str(&format!(", undecided against {}", sentences::named(&open)));
    }
    if let Some((other, ratio)) = behind {
        text.push_str(&format!("; {} {}", other.row.name, margin(aim, &ratio)));
    }
    text.push('.');
    if let Some(doubt) = doubt {
        text.push_str(&format!(" {doubt}"));
    }
    Some(text)
}

/// `takes 1.3–2.1 % longer (95 %)`.
fn margin(aim: &Aim, ratio: &RowRatio) -> String {
    let (more, verb) = match aim.figure {
        Figure::RssPeak => ("more", "needs"),
        _ => ("longer", "takes"),
    };
    let Some(ratio) = ratio.geomean.as_ref().ok() else {
        return format!("{verb} {more}");
    };
    match ratio.interval {
        Ok(ends) if ends.low >= 2.0 => format!(
            "{verb} {}–{} as {} (95 %)",
            figures::ratio(ends.low).trim_end_matches(" ×"),
            figures::ratio(ends.high),
            if more == "longer" { "long" } else { "much" },
        ),
        Ok(ends) => format!(
            "{verb} {} {more} (95 %)",
            sentences::range(ends.low, ends.high)
        ),
        Err(_) => format!("{verb} {} {more}", figures::percent(ratio.value - 1.0)),
    }
}

/// Rows that no sandbox should be chosen from.
fn warning(shown: &[Shown<'_>]) -> Option<String> {
    let unsafe_rows: Vec<&str> = shown
        .iter()
        .filter(|row| is_no_sandbox(row))
        .map(name)
        .collect();
    if unsafe_rows.is_empty() {
        return None;
    }
    // A needless trap breaks a promise, too: what the probe saw is with the row.
    let are = match unsafe_rows.len() {
        1 => "is not a sound sandbox and is",
        _ => "are not sound sandboxes and are",
    };
    Some(format!(
        "{} {are} never ranked: nothing is checked, or the probe found a violation.",
        unsafe_rows.join(", ")
    ))
}

fn name<'a>(shown: &'a Shown<'_>) -> &'a str {
    &shown.row.name
}

/// Whether programs may get out: by what the strategy says of itself, or because it
/// did not keep what it promises when it was probed.
fn is_no_sandbox(shown: &Shown<'_>) -> bool {
    if !shown.from.row.variant.is_wasm() {
        return false;
    }
    match &shown.from.probe {
        Some(probe) => probe.is_unsound() || probe.claimed == Guarantee::Unchecked,
        None => shown.row.kind == Kind::Inexact && shown.from.row.sandbox.strategy == "none",
    }
}
