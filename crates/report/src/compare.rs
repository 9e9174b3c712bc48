//! Two campaigns side by side, as text.

use std::collections::BTreeSet;

use fathom_stats::compare::{Basis, Change, Comparison};
use fathom_stats::{Row, Verdict};

use crate::figures;
use crate::plain::{Style, TextTable, Tone};
use crate::view::{could_have_seen, label, range};

/// Workloads listed under a row at most.
const WORKLOADS_MAX: usize = 8;

/// What became of the common rows, the verdict last.
pub fn render(comparison: &Comparison, before: &str, after: &str, style: Style) -> String {
    let mut text = String::new();
    let mut say = |tone: Tone, line: &str| style.say(&mut text, tone, line);
    say(Tone::Strong, &format!("{after} against {before}"));
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
        let table = table(comparison).render(style);
        text.push('\n');
        text.push_str(&table);
    }
    endings(comparison, &mut text, style);
    text
}

fn basis(comparison: &Comparison) -> &'static str {
    match (comparison.basis, comparison.is_same_host) {
        (Basis::Time, true) => "same kind of host: times are compared",
        (Basis::Time, false) => "different hosts, and yet times are compared: mind the result",
        (Basis::ToBaseline, true) => "ratios to each campaign's own baseline are compared",
        (Basis::ToBaseline, false) => {
            "different hosts: ratios to each campaign's own baseline are compared"
        }
    }
}

fn table(comparison: &Comparison) -> TextTable {
    let heads = ["", "row", "change", "95 %", "noise floor", "verdict"];
    let names = Names::of(comparison);
    let mut table = TextTable {
        head: heads.map(str::to_owned).to_vec(),
        is_left: vec![true, true, false, false, false, true],
        lines: Vec::new(),
    };
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

/// What tells rows apart, and nothing that they all share.
struct Names {
    has_suites: bool,
    has_sizes: bool,
    has_variants: bool,
}

impl Names {
    fn of(comparison: &Comparison) -> Names {
        let differs = |part: fn(&Row) -> String| {
            let parts: BTreeSet<String> = comparison
                .rows
                .iter()
                .filter(|row| row.row.variant.is_wasm())
                .map(|row| part(&row.row))
                .collect();
            parts.len() > 1
        };
        Names {
            has_suites: differs(|row| row.suite.clone()),
            has_sizes: differs(|row| row.size.clone()),
            has_variants: differs(|row| row.variant.to_string()),
        }
    }

    fn name(&self, row: &Row) -> String {
        let (engine, detail) = label(row, self.has_variants);
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

fn judged(change: &Change) -> (Tone, &'static str, &'static str) {
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

fn endings(comparison: &Comparison, text: &mut String, style: Style) {
    let mut say = |tone: Tone, line: &str| style.say(text, tone, line);
    say(Tone::Plain, "");
    for (cell, reason) in &comparison.lost {
        say(
            Tone::Bad,
            &format!("✗ {cell} had a time and has none now: {reason}"),
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
            why.push(format!(
                "{} past the threshold of {threshold}",
                figures::plural(slower, "slowdown")
            ));
        }
        if !comparison.lost.is_empty() {
            why.push(format!(
                "{} without a time",
                figures::plural(comparison.lost.len(), "cell")
            ));
        }
        say(Tone::Bad, &format!("refused: {}", why.join(", ")));
    } else if !is_judged(comparison) {
        say(
            Tone::Faint,
            "nothing could be judged: too few rounds, or no controls",
        );
    } else {
        say(
            Tone::Good,
            &format!("accepted: no slowdown past {threshold} was shown"),
        );
    }
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
