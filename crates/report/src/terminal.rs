//! The report on a terminal: the table, what may be said of it, and where the
//! rest is.

use fathom_stats::Figure;

use crate::chart;
use crate::columns::{self, Column};
use crate::plain::{Style, TextTable, Tone};
use crate::view::{Group, Kind, Rank, Row, Totals, View};

/// Where the other forms of the report are, as a reader can reach them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The HTML file, if it is there.
    pub report: Option<String>,
}

/// Failures listed at most; the HTML has them all.
const FAILURES_MAX: usize = 12;

/// The report as lines of text.
pub fn render(view: &View, places: &Places, style: Style) -> String {
    let mut text = String::new();
    let mut say = |tone: Tone, line: &str| style.say(&mut text, tone, line);
    say(Tone::Strong, &view.headline);
    for line in &view.checks {
        say(Tone::Plain, line);
    }
    say(Tone::Faint, &view.subject);
    say(Tone::Faint, &format!("host: {}", view.host_line));
    for note in &view.notes {
        say(Tone::Bad, note);
    }
    for (is_bad, line) in probe_lines(view) {
        say(if is_bad { Tone::Bad } else { Tone::Good }, &line);
    }
    for group in &view.groups {
        group_text(group, view.has_load(), &mut text, style);
    }
    failures(view, &mut text, style);
    footer(view, places, &mut text, style);
    text
}

/// `probe ✓ 9 sandboxes sound` and a line for each that is not, or not exact.
fn probe_lines(view: &View) -> Vec<(bool, String)> {
    if view.probes.is_empty() {
        return vec![(true, "probe: no sandbox was probed".to_owned())];
    }
    let sound = view
        .probes
        .iter()
        .filter(|probe| !probe.is_unsound && !probe.is_overcautious)
        .count();
    let kept = match sound {
        1 => "1 sandbox keeps its guarantee".to_owned(),
        many => format!("{many} sandboxes keep their guarantees"),
    };
    let when = view.probed();
    let when = when.map_or_else(String::new, |when| format!(" (probed {when})"));
    let mut lines = vec![(false, format!("probe ✓ {kept}{when}"))];
    for probe in view.probes.iter().filter(|probe| probe.is_overcautious) {
        lines.push((
            true,
            format!(
                "probe ! {} is contained, not exact: {} of {} accesses trapped inside its memory",
                probe.sandbox,
                probe.broken(),
                probe.tried()
            ),
        ));
    }
    for probe in view.probes.iter().filter(|probe| probe.is_unsound) {
        lines.push((
            true,
            format!(
                "probe ✗ {} violates its guarantee: {} of {} accesses (shown last, never ranked)",
                probe.sandbox,
                probe.broken(),
                probe.tried()
            ),
        ));
    }
    lines
}

fn group_text(group: &Group, with_load: bool, text: &mut String, style: Style) {
    let mut say = |tone: Tone, line: &str| style.say(text, tone, line);
    say(Tone::Plain, "");
    say(Tone::Strong, &group.title);
    text.push_str(&table(group, columns::numbers(group), style, true));
    if with_load {
        text.push('\n');
        text.push_str(&table(group, columns::load(group), style, false));
    }
    if let Some(totals) = &group.totals {
        text.push_str(&total_table(totals, style));
    }
    let mut say = |tone: Tone, line: &str| style.say(text, tone, line);
    say(Tone::Plain, "");
    for (index, note) in group.footnotes.iter().enumerate() {
        say(Tone::Faint, &format!(" {}) {note}", index + 1));
    }
    for caveat in group.caveats() {
        say(Tone::Faint, &format!(" {caveat}"));
    }
    for finding in &group.findings {
        say(Tone::Plain, &format!(" {}", finding.text));
    }
    if let Some(why) = group.no_floor() {
        say(Tone::Plain, &format!(" {why}"));
    }
    if let Some(totals) = &group.totals {
        say(Tone::Strong, &format!(" {}", totals.sentence));
    }
    for advice in &group.advice {
        say(Tone::Strong, &format!(" {advice}"));
    }
}

fn total_table(totals: &Totals, style: Style) -> String {
    let heads = Totals::heads();
    let table = TextTable {
        is_left: std::iter::once(true)
            .chain(heads.iter().map(|_| false))
            .collect(),
        head: std::iter::once(Totals::TITLE.to_owned())
            .chain(heads)
            .collect(),
        lines: totals
            .rows
            .iter()
            .map(|row| {
                let name = std::iter::once(row.name.clone());
                (Tone::Plain, name.chain(row.fields()).collect())
            })
            .collect(),
    };
    format!("\n{}", table.render(style))
}

/// The table, without the columns that a narrow terminal has no room for.
fn table(group: &Group, mut columns: Vec<Column>, style: Style, with_tone: bool) -> String {
    columns.retain(|column| column.spare < 9);
    loop {
        let table = laid_out(group, &columns, with_tone);
        let is_fitting = style.width.is_none_or(|width| table.width(style) <= width);
        let most = columns.iter().map(|column| column.spare).max().unwrap_or(0);
        if is_fitting || most == 0 {
            return table.render(style);
        }
        let last = columns.iter().rposition(|column| column.spare == most);
        last.map(|last| columns.remove(last));
    }
}

fn laid_out(group: &Group, columns: &[Column], with_tone: bool) -> TextTable {
    let mut table = TextTable {
        head: vec![String::new(), "engine".to_owned()],
        is_left: vec![false, true],
        lines: Vec::new(),
    };
    for column in columns {
        table.head.push(column.name.clone());
        table.is_left.push(column.is_text);
    }
    for row in &group.rows {
        let mut fields = vec![chart::rank(row), name(row)];
        fields.extend(columns.iter().map(|column| (column.show)(row)));
        let tone = if with_tone { tone(row) } else { Tone::Plain };
        table.lines.push((tone, fields));
    }
    table
}

fn name(row: &Row) -> String {
    match row.footnote {
        Some(note) => format!("{} {} {note})", row.engine_and_version(), row.detail),
        None => row.label(),
    }
}

fn tone(row: &Row) -> Tone {
    match row.rank {
        Rank::Place { place: 1, .. } => Tone::Strong,
        Rank::Place { .. } | Rank::Reference => Tone::Plain,
        Rank::Unranked if row.kind != Kind::Inexact && !row.costs.contains_key(&Figure::Run) => {
            Tone::Bad
        }
        Rank::Unranked => Tone::Faint,
    }
}

fn failures(view: &View, text: &mut String, style: Style) {
    if view.failures.is_empty() {
        return;
    }
    let mut say = |tone: Tone, line: &str| style.say(text, tone, line);
    say(Tone::Plain, "");
    say(Tone::Bad, "not measured:");
    for failure in view.failures.iter().take(FAILURES_MAX) {
        say(
            Tone::Plain,
            &format!(
                " {} ({}): {}: {}",
                failure.what, failure.rounds, failure.kind, failure.message
            ),
        );
    }
    if view.failures.len() > FAILURES_MAX {
        let rest = view.failures.len() - FAILURES_MAX;
        say(Tone::Plain, &format!(" … and {rest} more in the report"));
    }
}

fn footer(view: &View, places: &Places, text: &mut String, style: Style) {
    let mut line = String::new();
    if let Some(report) = &places.report {
        line.push_str(&format!("report: {report}   "));
    }
    line.push_str(&format!("samples: {}", view.samples_file));
    text.push('\n');
    text.push_str(&style.clean(&line));
    text.push('\n');
    text.push_str(&style.clean(&format!("measure more rounds: {}", view.resume)));
    text.push('\n');
}
