//! The answer, in a paragraph that a stranger can repeat: who is first, of whom, by how
//! much, who is level with it and who comes next; what the machine did meanwhile; and what
//! would have been found.
//!
//! What must stay true: who is called the fastest differs from all others by their
//! verdicts; those that share the place are named, as equivalent only where that was shown;
//! the next is told of only where it was shown to differ.

use fathom_record::{Estimator, Guarantee};
use fathom_stats::exact::rounds_min;
use fathom_stats::{Children, DELTA, Figure, FigureUnit, RowRatio, Verdict};

use super::compared_figure::{self, Pairs};
use super::group::Shown;
use super::sentences::{further, is_known, named};
use super::{Group, Rank, Row};
use crate::figures;

/// A part of all children from which on a campaign is better measured again.
const DISTURBED: f64 = 0.2;
/// A part that is not worth telling.
const HARDLY: f64 = 0.01;

/// What parts the first of a group from the others.
pub struct Lead {
    /// Those that share its place and are equivalent to it.
    level: Vec<String>,
    /// Those that share it, since no difference was shown.
    open: Vec<String>,
    /// The first row of another engine that was shown to differ from it, over it.
    next: Option<(String, RowRatio)>,
    /// The difference that would have been found.
    seen: Option<f64>,
}

/// What parts the first from the others.
pub fn lead(rows: &[Shown<'_>], pairs: &Pairs<'_>) -> Lead {
    let mut lead = Lead {
        level: Vec::new(),
        open: Vec::new(),
        next: None,
        seen: pairs.seen,
    };
    let mut ranked = rows.iter().filter(|shown| shown.row.is_ranked());
    let Some(best) = ranked.next() else {
        return lead;
    };
    for other in ranked {
        let ratio = pairs.ratio(&other.from.row, &best.from.row);
        let name = other.row.name.clone();
        let is_other = other.from.row.sandbox.engine != best.from.row.sandbox.engine;
        match (place(&other.row), ratio.verdict) {
            (Some(1), Verdict::Equivalent) => lead.level.push(name),
            (Some(1), _) => lead.open.push(name),
            (_, Verdict::Different) if is_other && lead.next.is_none() => {
                lead.next = Some((name, ratio));
            }
            _ => {}
        }
    }
    lead
}

/// The answer; `meanwhile` is what the machine did.
pub fn headline(group: &Group, lead: &Lead, meanwhile: Option<&str>) -> String {
    let subject = subject(group);
    let ranked = || group.rows.iter().filter(|row| row.is_ranked());
    let Some(best) = ranked().find(|row| place(row) == Some(1)) else {
        return format!(
            "On {subject}, no sandbox has a time for every workload: see what failed or is unfinished."
        );
    };
    if group.is_early() {
        let least = rounds_min(group.figure);
        return format!("On {subject}: too few rounds to say anything; it takes {least}.");
    }
    let has_rival = ranked().count() > 1;
    let mut text = format!("On {subject}, {}", first(best, group, lead, has_rival));
    if let Some((name, ratio)) = &lead.next
        && let Some(further) = further(ratio, group.figure)
    {
        text.push_str(&format!("; {name} takes {further}"));
    }
    text.push('.');
    let is_doubtful =
        |row: &Row| matches!(row.rank, Rank::Place { is_doubtful, .. } if is_doubtful);
    let is_judged = has_rival && !ranked().any(is_doubtful);
    let seen = lead.seen.filter(|_| is_judged);
    let seen = seen.map(|seen| match figures::detectable(seen) {
        Some(seen) => format!("A difference of {seen} would have been found."),
        None => "Not even a difference of 100 % would have been found.".to_owned(),
    });
    let alone = (!has_rival).then(|| "No other sandbox was measured.".to_owned());
    let doubt = group.doubt.clone().filter(|_| has_rival);
    let more = [doubt, alone, meanwhile.map(str::to_owned), seen];
    for sentence in more.into_iter().flatten() {
        text.push(' ');
        text.push_str(&sentence);
    }
    text
}

/// What it is about.
fn subject(group: &Group) -> String {
    let subject = match group.workloads.as_slice() {
        [only] => only.name.clone(),
        all => {
            let workloads = figures::plural(all.len(), &format!("{} workload", group.suite));
            match group.size.as_str() {
                "" => workloads,
                size => format!("{workloads} ({size})"),
            }
        }
    };
    match group.threads {
        1 => subject,
        many => format!("{subject}, {many} instances at once"),
    }
}

/// Who is first, by how much, and who is not told apart from it.
fn first(best: &Row, group: &Group, lead: &Lead, has_rival: bool) -> String {
    let cost = cost(best, group).map_or_else(String::new, |cost| format!(": {cost}"));
    let name = &best.name;
    if !has_rival {
        return match cost.is_empty() {
            true => format!("{name} has too few rounds for a time"),
            false => format!("{name}{cost}"),
        };
    }
    if lead.level.is_empty() && lead.open.is_empty() && group.doubt.is_none() {
        return format!("{name} {}{cost}", first_of(best, group));
    }
    let mut text = format!("{name} came out first of {}{cost}", among(group));
    let names = |names: &[String]| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        named(&names)
    };
    if !lead.level.is_empty() {
        let are = if lead.level.len() == 1 { "is" } else { "are" };
        let (level, within) = (names(&lead.level), figures::percent(DELTA));
        text.push_str(&format!("; {level} {are} equivalent within {within}"));
    }
    if !lead.open.is_empty() {
        let open = names(&lead.open);
        text.push_str(&format!("; no difference from {open} was shown"));
    }
    text
}

/// The engine of all ranked rows, if they are of one.
fn only_engine(group: &Group) -> Option<&str> {
    let engine = |row: &&Row| row.is_ranked();
    let mut engines = group.rows.iter().filter(engine);
    let first = engines.next()?.key.sandbox.engine.as_str();
    let is_alone = engines.all(|row| row.key.sandbox.engine == first);
    is_alone.then_some(first)
}

/// Of whom it is told: `7 exact sandboxes`.
fn among(group: &Group) -> String {
    let ranked = || group.rows.iter().filter(|row| row.is_ranked());
    let count = ranked().count();
    let is_exact = |row: &Row| row.guarantee == Some(Guarantee::Exact);
    match only_engine(group) {
        Some(engine) => format!("{engine}'s {count} configurations"),
        None if ranked().all(is_exact) => format!("{count} exact sandboxes"),
        None => format!("{count} sandboxes"),
    }
}

/// What the first of all is, by the group's figure: of all sandboxes only where another
/// engine was measured.
fn first_of(best: &Row, group: &Group) -> String {
    match (group.figure, only_engine(group)) {
        (Figure::Kernel | Figure::Run, Some(engine)) => {
            format!("is the fastest of {engine}'s configurations")
        }
        (Figure::Kernel | Figure::Run, None) => match best.guarantee {
            Some(Guarantee::Exact) => "is the fastest exact sandbox".to_owned(),
            Some(_) => "is the fastest sandbox, though it is not exact".to_owned(),
            None => "is the fastest sandbox".to_owned(),
        },
        (figure, _) if figure.unit() == FigureUnit::Nanoseconds => {
            format!("has the shortest {}", figure.noun())
        }
        (Figure::Instructions, _) => "takes the fewest instructions".to_owned(),
        (figure, _) => format!("has the least {}", figure.noun()),
    }
}

/// What the machine did meanwhile: how many children something slowed that is no property
/// of their rows; nothing where it was hardly any.
pub fn meanwhile(children: Children, estimator: Estimator) -> Option<String> {
    let share = children.share().filter(|share| *share >= HARDLY)?;
    let counts = match estimator {
        Estimator::FasterHalf => "each cell counts its faster half",
        Estimator::Mean => "the mean counts them all",
    };
    let again = match share > DISTURBED {
        true => " The machine was disturbed: run again, or with a longer --budget.",
        false => "",
    };
    Some(format!(
        "{} of children were slowed from outside; {counts}.{again}",
        figures::percent(share)
    ))
}

/// What a row costs, in a headline: its time where there is one workload, its
/// ratio where that is to something else, each with its interval; nothing where
/// there is none.
fn cost(row: &Row, group: &Group) -> Option<String> {
    let time = match row.cells.as_slice() {
        [Some(cell)] => cell.estimate.ends.map(|(low, high)| {
            let [value, low, high] =
                [cell.estimate.value, low, high].map(|ns| compared_figure::shown(group.figure, ns));
            format!("{value} (95 %: {low} to {high})")
        }),
        _ => None,
    };
    let to_other = row.to_baseline.filter(|_| group.baseline != row.name);
    let ratio = to_other.and_then(|ratio| {
        let (low, high) = ratio.ends?;
        let (value, ends) = (
            figures::ratio_among(ratio.value, low, high),
            figures::ends(low, high),
        );
        Some(format!("{value} × {} (95 %: {ends})", group.baseline))
    });
    let typical = || match row.costs.get(&group.figure).filter(|_| is_known(row)) {
        Some(typical) => format!(
            "typically {}",
            compared_figure::shown(group.figure, *typical)
        ),
        None => "not measured".to_owned(),
    };
    match (time, ratio) {
        (Some(time), Some(ratio)) => Some(format!("{time}, {ratio}")),
        (Some(one), None) | (None, Some(one)) => Some(one),
        (None, None) if to_other.is_some() || !is_known(row) => None,
        (None, None) => Some(typical()),
    }
}

fn place(row: &Row) -> Option<usize> {
    match row.rank {
        Rank::Place { place, .. } => Some(place),
        Rank::Reference | Rank::Unranked => None,
    }
}
