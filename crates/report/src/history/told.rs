//! A history as text: what changed first, and then every value.

use fathom_record::Estimator;
use fathom_stats::compare::Basis;

use super::{Change, History, Line, Point, Section, Series, Told};
use crate::document::Document;
use crate::figures::{self, NONE};
use crate::plain::{Style, Tone};
use crate::table::Table;
use crate::view::range;

/// Changes of workloads that are told of one row at most; the others are counted.
const WORKLOADS_MAX: usize = 8;

/// For a terminal.
pub fn terminal(history: &History, style: Style) -> String {
    document(history).terminal(style)
}

/// As Markdown.
pub fn markdown(history: &History) -> String {
    document(history).markdown()
}

fn document(history: &History) -> Document {
    let mut page = Document::new("History");
    for section in &history.sections {
        page.heading(section.title());
        for line in about(history, section) {
            page.say(Tone::Faint, line);
        }
        page.list(findings(history, section));
        page.table(table(history, section));
    }
    page
}

/// What a section is of.
pub(crate) fn about(history: &History, section: &Section) -> Vec<String> {
    let what = match &section.baseline {
        Some(baseline) => format!("ratios to {baseline}"),
        None => "times, since not every campaign measured native code".to_owned(),
    };
    let how = match section.estimator {
        Estimator::Mean => "all rounds",
        Estimator::FasterHalf => "the faster half of rounds",
    };
    let campaigns = section.campaigns.iter();
    let span = span(campaigns.map(|at| &history.campaigns[*at]));
    vec![
        format!(
            "{}, {span} · {} · geometric means of {}, by {how}",
            figures::plural(section.campaigns.len(), "campaign"),
            figures::plural(section.workloads.len(), "workload"),
            what
        ),
        format!("host {}: {}", section.host, section.host_line),
    ]
}

/// The days of campaigns: `2026-10-01 to 2026-11-12`.
pub(crate) fn span<'a>(mut campaigns: impl DoubleEndedIterator<Item = &'a Told>) -> String {
    match (campaigns.next(), campaigns.next_back()) {
        (Some(first), Some(last)) if first.day() != last.day() => {
            format!("{} to {}", first.day(), last.day())
        }
        (first, _) => first.map_or(NONE, Told::day).to_owned(),
    }
}

/// What is said of a section: its changes, or that there are none, and what would have been
/// found.
pub(crate) fn findings(history: &History, section: &Section) -> Vec<(Tone, String)> {
    let mut said = Vec::new();
    for line in &section.lines {
        for change in &line.mean.changes {
            said.push(finding(history, line, None, &line.mean, change));
        }
        let mut alone = alone(line);
        alone.sort_by(|a, b| b.2.ratio.ln().abs().total_cmp(&a.2.ratio.ln().abs()));
        for (name, series, change) in alone.iter().take(WORKLOADS_MAX) {
            said.push(finding(history, line, Some(name), series, change));
        }
        if alone.len() > WORKLOADS_MAX {
            let more = figures::plural(alone.len() - WORKLOADS_MAX, "more change");
            let text = format!("{}: {more} of single workloads (--json has all)", line.name);
            said.push((Tone::Plain, text));
        }
    }
    let short = section.lines.iter().all(|line| line.mean.is_short());
    if short {
        let text =
            "too few campaigns to say: a change needs two on either side, of five rounds each";
        return vec![(Tone::Faint, text.to_owned())];
    }
    if said.is_empty() {
        said.push((Tone::Good, "no change was found".to_owned()));
    }
    let seen = section.lines.iter().filter_map(|line| line.mean.detectable);
    let mut seen: Vec<f64> = seen.collect();
    seen.sort_by(f64::total_cmp);
    if let Some(middle) = seen.get(seen.len() / 2) {
        let text = format!(
            "In the middle of the longest stretch without one, a change of {} of a typical row would have been \
             found (80 % power).",
            figures::percent(*middle)
        );
        said.push((Tone::Faint, text));
    }
    said
}

/// Changes of workloads that are not at the place of one of the mean, which tells of them.
fn alone(line: &Line) -> Vec<(&str, &Series, &Change)> {
    let is_told = |change: &Change| {
        let mut means = line.mean.changes.iter();
        means.any(|mean| mean.after == change.after)
    };
    let each = line.workloads.iter().flat_map(|(name, series)| {
        let changes = series.changes.iter();
        changes.map(move |change| (name.as_str(), series, change))
    });
    each.filter(|(_, _, change)| !is_told(change)).collect()
}

/// In how many workloads there is a change at the same place, and by how much.
fn in_workloads(line: &Line, change: &Change) -> Option<String> {
    let each = line.workloads.iter();
    let same = each.flat_map(|(_, series)| series.changes.iter());
    let ratios: Vec<f64> = same
        .filter(|other| other.after == change.after)
        .map(|other| other.ratio)
        .collect();
    let least = ratios.iter().copied().reduce(f64::min)?;
    let most = ratios.iter().copied().reduce(f64::max)?;
    let by = match ratios.len() {
        1 => figures::signed_percent(least - 1.0),
        _ => range(least, most),
    };
    Some(format!(
        "; in {} of {} workloads, by {by}",
        ratios.len(),
        line.workloads.len()
    ))
}

fn finding(
    history: &History,
    line: &Line,
    workload: Option<&str>,
    series: &Series,
    change: &Change,
) -> (Tone, String) {
    let (tone, sign) = match change.ratio > 1.0 {
        true => (Tone::Bad, "✗"),
        false => (Tone::Good, "✓"),
    };
    let name = match workload {
        Some(workload) => format!("{} · {workload}", line.name),
        None => line.name.clone(),
    };
    let mut words = change_in_words(history, line, series, change);
    if workload.is_none() {
        words.extend(in_workloads(line, change));
    }
    (tone, format!("{sign} {name}: {words}"))
}

/// `+20 % (95 %: +19 % to +21 %) between 2026-10-20 08:00 (1.0) and …`, and what speaks
/// against the engine as its cause.
pub fn change_in_words(history: &History, line: &Line, series: &Series, change: &Change) -> String {
    let point = |at: usize| &series.points[at];
    let minute = |at: usize| history.campaigns[point(at).campaign].minute();
    let (before, after) = (point(change.before), point(change.after));
    let mut words = format!(
        "{} ({}) between {}{} and {}{}",
        figures::signed_percent(change.ratio - 1.0),
        with_ends(change),
        minute(change.before),
        version_of(before),
        minute(change.after),
        match same_version(before, after) {
            true => ", the same version".to_owned(),
            false => version_of(after),
        },
    );
    if (change.before, change.after) != change.surely {
        let (first, last) = change.surely;
        words.push_str(&format!(
            "; it may be anywhere between {} and {}",
            minute(first),
            minute(last)
        ));
    }
    if !line.row.variant.is_wasm() {
        words.push_str("; native code's own time: the machine, its system or the compiler");
    }
    for other in &change.others {
        words.push_str(&format!("; {other}"));
    }
    words
}

fn with_ends(change: &Change) -> String {
    let (low, high) = change.ends;
    format!("95 %: {}", range(low, high))
}

fn version_of(point: &Point) -> String {
    let build = point.build.as_deref().and_then(|build| build.get(..8));
    match (point.version.as_str(), build) {
        ("" | "unknown", None) => String::new(),
        ("" | "unknown", Some(build)) => format!(" (build {build})"),
        (version, None) => format!(" ({version})"),
        (version, Some(build)) => format!(" ({version}, build {build})"),
    }
}

/// Whether both are known to be the same.
fn same_version(before: &Point, after: &Point) -> bool {
    !version_of(before).is_empty()
        && (&before.version, &before.build) == (&after.version, &after.build)
}

/// Every value of every row, with its heads first.
pub(crate) fn table(history: &History, section: &Section) -> Table {
    let basis = |line: &Line| line.basis == Basis::ToBaseline;
    let value = match (
        &section.baseline,
        section.lines.iter().find(|line| basis(line)),
    ) {
        (Some(_), Some(line)) => section.heading(line),
        _ => section
            .lines
            .first()
            .map_or_else(String::new, |line| section.heading(line)),
    };
    let heads = ["row", "date", "version", &value, "95 %", "change", ""];
    let mut table = Table::new(heads).left([1, 2, 5, 6]);
    for line in &section.lines {
        for (at, point) in line.mean.points.iter().enumerate() {
            let change = line.mean.changes.iter().find(|change| change.after == at);
            let shown = |value: f64| section.shown(line, value);
            let ends = point.value.and_then(|value| value.ends);
            table.push([
                if at == 0 {
                    line.name.clone()
                } else {
                    String::new()
                },
                history.campaigns[point.campaign].minute(),
                point.version.clone(),
                point
                    .value
                    .map_or(NONE.to_owned(), |value| shown(value.value)),
                ends.map_or(NONE.to_owned(), |ends| section.ends(line, ends)),
                change.map_or_else(String::new, |change| {
                    figures::signed_percent(change.ratio - 1.0)
                }),
                remark(section, line, at),
            ]);
        }
    }
    table
}

/// What is to be said of a point beside its value.
fn remark(section: &Section, line: &Line, at: usize) -> String {
    let all = section.workloads.len();
    match &line.mean.points[at].why_not {
        Some(why) => why.clone(),
        None if line.timed < all && at == 0 => format!("{} of {all} workloads", line.timed),
        None => String::new(),
    }
}
