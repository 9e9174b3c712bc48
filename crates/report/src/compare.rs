//! Two campaigns side by side, as text.

use std::collections::BTreeSet;
use std::path::PathBuf;

use fathom_record::Names;
use fathom_stats::compare::{Basis, Change, Comparison};
use fathom_stats::exact::is_exact;
use fathom_stats::{Row, Verdict};

use crate::figures;
use crate::plain::{Style, Tone};
use crate::table::Table;
use crate::view::{could_have_seen, range};

/// Workloads listed under a row at most.
const WORKLOADS_MAX: usize = 8;

/// Whether a comparison is the last word on what is slower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is.
    Last,
    /// What is slower is looked for again.
    ToConfirm,
}

/// What became of the common rows of the earlier and the later campaign, the verdict last;
/// `others` is how the programs of the two differ, told first.
pub fn render(
    comparison: &Comparison,
    before: &str,
    after: &str,
    others: &[String],
    standing: Standing,
    style: Style,
) -> String {
    let mut text = String::new();
    let mut say = |tone: Tone, line: &str| style.say(&mut text, tone, line);
    say(Tone::Strong, &format!("{after} against {before}"));
    for line in others {
        say(Tone::Bad, line);
    }
    if !others.is_empty() {
        let what = "what changed may be the programs, and not the engines";
        say(Tone::Bad, what);
    }
    say(Tone::Faint, basis(comparison));
    for (threads, drift) in &comparison.drift {
        if comparison.basis == Basis::Time {
            let ends = drift.interval.ok().map_or_else(String::new, |ends| {
                format!(" (95 %: {})", range(ends.low, ends.high))
            });
            let line = format!(
                "native code itself, {}: {}{ends}; this drift is taken off every change",
                figures::plural(*threads as usize, "instance"),
                figures::signed_percent(drift.value - 1.0)
            );
            say(Tone::Faint, &line);
        }
    }
    if comparison.rows.is_empty() {
        say(
            Tone::Bad,
            "The two have no row in common: nothing was compared.",
        );
    } else {
        let table = table(comparison).terminal(style);
        text.push('\n');
        text.push_str(&table);
    }
    endings(comparison, standing, &mut text, style);
    text
}

/// The slowdowns of a comparison that another found as well.
pub fn came_again<'a>(
    found: &'a Comparison,
    again: &'a Comparison,
) -> impl Iterator<Item = (&'a Row, Option<&'a str>, &'a Change)> {
    again.regressions().filter(|(row, workload, _)| {
        let mut first = found.regressions();
        first.any(|(other, name, _)| other == *row && name == *workload)
    })
}

/// What a second look at the slowdowns found, and where that campaign is, or why there is
/// none; the verdict last.
pub fn confirmation(
    found: &Comparison,
    again: Result<&(Comparison, PathBuf), &String>,
    style: Style,
) -> String {
    let mut text = String::new();
    let mut say = |tone: Tone, line: &str| style.say(&mut text, tone, line);
    let all = slowdowns(found);
    let (again, folder) = match again {
        Ok((again, folder)) => (again, folder),
        Err(why) => {
            say(
                Tone::Plain,
                &format!("it could not be measured again: {why}"),
            );
            say(Tone::Bad, &format!("refused, unconfirmed: {all}"));
            return text;
        }
    };
    let names = RowNames::of(found.rows.iter().map(|row| &row.row));
    for (row, workload, first) in found.regressions() {
        let mut same = again.rows.iter().filter(|one| one.row == *row);
        let second = same.find_map(|one| match workload {
            None => one.geomean.as_ref(),
            Some(name) => one
                .workloads
                .iter()
                .find(|(other, _)| other == name)
                .map(|(_, change)| change),
        });
        let seen = second.map_or("no time".to_owned(), in_words);
        let name = [Some(names.name(row)), workload.map(str::to_owned)];
        let name = name.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        say(
            Tone::Plain,
            &format!("{name}: {}; second measurement: {seen}", in_words(first)),
        );
    }
    say(
        Tone::Faint,
        &format!("its samples are in {}", folder.display()),
    );
    match came_again(found, again).count() {
        0 => say(
            Tone::Good,
            &format!("accepted: not confirmed by a second measurement: {all}"),
        ),
        count => say(
            Tone::Bad,
            &format!("refused: a second measurement confirmed {count} of {all}"),
        ),
    }
    text
}

/// A change with its interval.
pub(crate) fn in_words(change: &Change) -> String {
    let ends = change.ratio.interval.ok();
    let ends = ends.map_or_else(String::new, |ends| {
        format!(" (95 %: {})", range(ends.low, ends.high))
    });
    format!(
        "{}{ends}",
        figures::signed_percent(change.ratio.value - 1.0)
    )
}

fn slowdowns(comparison: &Comparison) -> String {
    format!(
        "{} past the threshold of {}",
        figures::plural(comparison.regressions().count(), "slowdown"),
        figures::percent(comparison.threshold)
    )
}

fn basis(comparison: &Comparison) -> &'static str {
    match (comparison.basis, comparison.is_same_host) {
        (Basis::Time, _) if is_exact(comparison.figure) => "counts of instructions are compared",
        (Basis::Time, true) => "same kind of host: times are compared",
        (Basis::Time, false) => {
            "different hosts, but times are compared: treat the result with care"
        }
        (Basis::ToBaseline, true) => "ratios to each campaign's own baseline are compared",
        (Basis::ToBaseline, false) => {
            "different hosts: ratios to each campaign's own baseline are compared"
        }
    }
}

fn table(comparison: &Comparison) -> Table {
    let heads = ["", "row", "change", "95 %", "noise floor", "verdict"];
    let names = RowNames::of(comparison.rows.iter().map(|row| &row.row));
    let mut table = Table::new(heads).left([1, 5]);
    for row in &comparison.rows {
        if let Some(change) = &row.geomean {
            table.lines.push(line(&names.name(&row.row), change));
        }
        // A row of one workload has been told.
        if row.workloads.len() < 2 {
            continue;
        }
        let mut notable: Vec<&(String, Change)> = row
            .workloads
            .iter()
            .filter(|(_, change)| change.verdict == Verdict::Different)
            .collect();
        notable.sort_by(|(_, a), (_, b)| b.ratio.value.total_cmp(&a.ratio.value));
        for (workload, change) in notable.iter().take(WORKLOADS_MAX) {
            table.lines.push(line(&format!("  {workload}"), change));
        }
    }
    table
}

/// What tells rows of several groups apart, and nothing that they all share.
pub(crate) struct RowNames {
    has_suites: bool,
    has_sizes: bool,
    names: Names,
}

impl RowNames {
    pub(crate) fn of<'a>(rows: impl Iterator<Item = &'a Row> + Clone) -> RowNames {
        let differs = |part: fn(&Row) -> String| {
            let rows = rows.clone().filter(|row| row.variant.is_wasm());
            let parts: BTreeSet<String> = rows.map(part).collect();
            parts.len() > 1
        };
        let all = rows.clone().map(|row| (&row.sandbox, Some(row.variant)));
        RowNames {
            has_suites: differs(|row| row.suite.clone()),
            has_sizes: differs(|row| row.size.clone()),
            names: Names::with_builds(all),
        }
    }

    pub(crate) fn name(&self, row: &Row) -> String {
        let names = &self.names;
        let (engine, detail) = names.engine_and_detail(&row.sandbox, Some(row.variant));
        let mut parts = vec![format!("{engine} {detail}").trim_end().to_owned()];
        if self.has_suites {
            parts.push(row.suite.clone());
        }
        if self.has_sizes && !row.size.is_empty() {
            parts.push(row.size.clone());
        }
        if row.threads > 1 {
            parts.push(format!("{} instances", row.threads));
        }
        parts.join(" · ")
    }
}

fn line(name: &str, change: &Change) -> (Tone, Vec<String>) {
    let ends = change.ratio.interval.ok().map_or_else(
        || figures::NONE.to_owned(),
        |interval| range(interval.low, interval.high),
    );
    let floor = change.floor.map_or_else(
        || "unknown".to_owned(),
        |floor| figures::percent(floor.relative()),
    );
    let (tone, sign, verdict) = judged(change);
    let fields = vec![
        sign.to_owned(),
        name.to_owned(),
        figures::signed_percent(change.ratio.value - 1.0),
        ends,
        floor,
        verdict.to_owned(),
    ];
    (tone, fields)
}

/// What is said of a change: how, its sign and its verdict.
pub(crate) fn judged(change: &Change) -> (Tone, &'static str, &'static str) {
    match change.verdict {
        _ if change.is_regression => (Tone::Bad, "✗", "slower, past the threshold"),
        Verdict::Different if change.ratio.value > 1.0 => {
            (Tone::Plain, "", "slower, within the threshold")
        }
        Verdict::Different => (Tone::Good, "✓", "faster"),
        Verdict::Equivalent => (Tone::Plain, "", "equivalent"),
        Verdict::Undecided => (Tone::Plain, "", "undecided"),
        Verdict::TooFew => (Tone::Faint, "", "too few rounds to say"),
        Verdict::Uncontrolled => (Tone::Faint, "", "undecided: no control"),
    }
}

fn endings(comparison: &Comparison, standing: Standing, text: &mut String, style: Style) {
    let mut say = |tone: Tone, line: &str| style.say(text, tone, line);
    say(Tone::Plain, "");
    for (cell, reason) in &comparison.lost {
        say(
            Tone::Bad,
            &format!("✗ {cell} was measured before, not now: {reason}"),
        );
    }
    for (cells, what) in [
        (&comparison.only_before, "earlier"),
        (&comparison.only_after, "later"),
    ] {
        if !cells.is_empty() {
            let cells = figures::plural(cells.len(), "cell");
            say(Tone::Faint, &format!("{cells} only in the {what} campaign"));
        }
    }
    let (mean, cell) = comparison.detectable;
    if let Some(seen) = could_have_seen(mean, cell) {
        say(Tone::Faint, &seen);
    }
    let slower = comparison.regressions().count();
    let threshold = figures::percent(comparison.threshold);
    if comparison.is_refused() {
        let mut why = Vec::new();
        if slower > 0 {
            why.push(slowdowns(comparison));
        }
        if !comparison.lost.is_empty() {
            why.push(format!(
                "{} not measured",
                figures::plural(comparison.lost.len(), "cell")
            ));
        }
        match standing {
            Standing::Last => say(Tone::Bad, &format!("refused: {}", why.join(", "))),
            Standing::ToConfirm => say(Tone::Bad, &format!("to be confirmed: {}", why.join(", "))),
        }
    } else if !is_judged(comparison) {
        say(
            Tone::Bad,
            "too little to say: too few rounds, or no controls",
        );
    } else if is_too_noisy(comparison) {
        let seen = mean.map_or_else(|| "none".to_owned(), figures::percent);
        let line = format!(
            "too noisy to say: no slowdown past {threshold} found; could only have seen {seen}"
        );
        say(Tone::Bad, &line);
    } else {
        say(
            Tone::Good,
            &format!("accepted: no slowdown past {threshold} found"),
        );
    }
}

/// Whether a slowdown past the threshold would have gone unseen.
pub fn is_blind(comparison: &Comparison) -> bool {
    !comparison.rows.is_empty() && (!is_judged(comparison) || is_too_noisy(comparison))
}

/// Whether nothing was found where a slowdown past the threshold could not have been: what
/// would have been found is more, and no interval excludes it.
fn is_too_noisy(comparison: &Comparison) -> bool {
    if comparison.is_refused() || !is_judged(comparison) {
        return false;
    }
    let (mean, _) = comparison.detectable;
    let mut means = comparison
        .rows
        .iter()
        .filter_map(|row| row.geomean.as_ref());
    let is_blind = mean.is_none_or(|mean| mean > comparison.threshold);
    is_blind && means.any(|change| reaches_past(change, comparison.threshold))
}

/// Whether an interval does not exclude a slowdown past the threshold.
pub(crate) fn reaches_past(change: &Change, threshold: f64) -> bool {
    let ends = change.ratio.interval.ok();
    ends.is_none_or(|ends| ends.high > 1.0 + threshold)
}

/// Whether anything at all can be said about any row.
fn is_judged(comparison: &Comparison) -> bool {
    comparison
        .rows
        .iter()
        .flat_map(|row| {
            row.geomean
                .iter()
                .chain(row.workloads.iter().map(|(_, change)| change))
        })
        .any(|change| !matches!(change.verdict, Verdict::TooFew | Verdict::Uncontrolled))
}
