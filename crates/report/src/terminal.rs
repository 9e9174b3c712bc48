//! The report on a terminal: the table, what may be said of it, and where the
//! rest is.

use crate::columns;
use crate::document::Document;
use crate::plain::{Style, Tone};
use crate::view::View;

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
    let mut page = Document::default();
    page.say(Tone::Strong, &view.headline);
    for line in &view.checks {
        page.say(Tone::Plain, line);
    }
    page.say(Tone::Faint, &view.subject);
    page.say(Tone::Faint, format!("host: {}", view.host_line));
    for note in &view.notes {
        page.say(Tone::Bad, note);
    }
    for (is_bad, line) in probe_lines(view) {
        page.say(if is_bad { Tone::Bad } else { Tone::Good }, line);
    }
    for group in &view.groups {
        columns::section(&mut page, group, view.has_load(), "");
    }
    failures(view, &mut page);
    let mut text = page.terminal(style);
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

fn failures(view: &View, page: &mut Document) {
    if view.failures.is_empty() {
        return;
    }
    page.say(Tone::Plain, "");
    page.say(Tone::Bad, "not measured:");
    let listed = view.failures.iter().take(FAILURES_MAX);
    let listed = listed.map(|failure| (Tone::Plain, failure.line()));
    let rest = view.failures.len().saturating_sub(FAILURES_MAX);
    let rest = (rest > 0).then(|| format!("… and {rest} more in the report"));
    page.list(listed.chain(rest.map(|rest| (Tone::Plain, rest))));
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
