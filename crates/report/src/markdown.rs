//! The report as Markdown, for an issue or a commit message.
//!
//! What must stay true: a name cannot become markup; everything from outside
//! passes through [`escape`].

use crate::columns;
use crate::document::Document;
use crate::figures;
use crate::html::CITE;
use crate::plain::Tone;
use crate::table::Table;
use crate::view::{FailureRow, Group, Row, View};

/// The report. `None` fields are dashes, as everywhere.
pub fn render(view: &View) -> String {
    let mut page = Document::new(&view.title);
    page.say(Tone::Strong, &view.headline);
    for line in &view.checks {
        page.say(Tone::Plain, line);
    }
    page.say(Tone::Plain, &view.subject);
    page.say(Tone::Plain, format!("{} · {}", view.host_line, view.date));
    for note in &view.notes {
        page.say(Tone::Bad, note);
    }
    for group in &view.groups {
        columns::section(&mut page, group, view.has_load(), "rank");
        if !group.is_single() {
            matrix(&mut page, group);
        }
    }
    soundness(&mut page, view);
    let failures = view.failures.iter().map(FailureRow::line);
    page.listed("Not measured", failures.collect());
    page.heading("Host and configuration");
    for facts in [&view.host, &view.config] {
        let facts = facts.iter();
        page.list(facts.map(|fact| (Tone::Plain, format!("{}: {}", fact.name, fact.value))));
    }
    page.say(Tone::Plain, format!("Measured by `{}`", view.command));
    page.say(Tone::Plain, format!("Raw samples: `{}`", view.samples_file));
    page.say(Tone::Plain, CITE);
    page.markdown()
}

/// Ratios by workload.
fn matrix(page: &mut Document, group: &Group) {
    let (what, baseline) = (group.what(), &group.baseline);
    page.say(Tone::Plain, format!("{what} as a multiple of {baseline}:"));
    let mut table = Table::new(["workload"]).and(group.rows.iter().map(Row::label));
    for (index, workload) in group.workloads.iter().enumerate() {
        let ratios = group.rows.iter().map(|row| {
            let cell = row.cells.get(index).and_then(Option::as_ref);
            let ratio = cell.and_then(|cell| cell.to_baseline);
            ratio.map_or_else(
                || figures::NONE.to_owned(),
                |ratio| figures::ratio_bare(ratio.value),
            )
        });
        table.push(std::iter::once(workload.name.clone()).chain(ratios));
    }
    page.table(table);
}

fn soundness(page: &mut Document, view: &View) {
    if view.probes.is_empty() {
        return;
    }
    let mut table = Table::new([
        "sandbox",
        "found",
        "claimed",
        "observed",
        "accesses",
        "violations",
        "probed",
    ])
    .left([1, 2, 3, 6]);
    for probe in &view.probes {
        table.push([
            probe.sandbox.to_string(),
            probe.found(),
            probe.claimed.to_string(),
            probe.observed.to_string(),
            probe.tried(),
            probe.broken(),
            probe.day().to_owned(),
        ]);
    }
    page.heading("Soundness");
    page.table(table);
}

/// Text in which no character is markup, and no more of it escaped than that takes: Markdown is
/// read as it is, too.
pub fn escape(text: &str) -> String {
    escaped(text, text)
}

/// A part of a text.
fn escaped(part: &str, text: &str) -> String {
    let mut escaped = String::with_capacity(part.len());
    let mut before = None;
    let mut rest = part.chars().peekable();
    while let Some(character) = rest.next() {
        let is_after_word = before.is_some_and(char::is_alphanumeric);
        let after = rest.peek().copied();
        let is_before_word = after.is_some_and(char::is_alphanumeric);
        let is_markup = match character {
            '\\' | '`' | '[' | ']' | '|' | '#' => true,
            // What begins a list, and what is between two of them.
            '-' | '+' => before.is_none() && after == Some(' '),
            '*' if before.is_none() && after == Some(' ') => true,
            '*' | '~' => text.matches(character).count() > 1,
            '_' => !is_after_word || !is_before_word,
            '@' => !is_after_word,
            _ => false,
        };
        match character {
            '\n' | '\t' | '\r' => escaped.push(' '),
            control if control.is_control() => escaped.push('\u{fffd}'),
            '&' if is_before_word || after == Some('#') => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            other => {
                escaped.extend(is_markup.then_some('\\'));
                escaped.push(other);
            }
        }
        before = Some(character);
    }
    escaped
}

/// Text as code, in a fence of more backticks than it holds.
fn code(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .collect();
    let mut fence = String::from("`");
    while text.contains(&fence) {
        fence.push('`');
    }
    let space = if text.contains('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A sentence in which commands stand between backticks.
pub(crate) fn prose(sentence: &str) -> String {
    let parts = sentence.split('`').enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        0 => escaped(part, sentence),
        _ => code(part),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        assert_eq!(
            escape("a|b <script> *x* [l](u) `c`\n# @me"),
            r"a\|b &lt;script&gt; \*x\* \[l\](u) \`c\` \# \@me"
        );
        assert_eq!(
            escape("* fd_read _x_ ~~y~~ R&D, a & b &#60;"),
            r"\* fd_read \_x\_ \~\~y\~\~ R&amp;D, a & b &amp;\#60;"
        );
        // As they are: nothing of it is markup.
        for text in ["~1.02 (0.99–1.05)", "16* (runs/s)", "wasmtime@48", "-1 + 2"] {
            assert_eq!(escape(text), text);
        }
        assert_eq!(code("a `b` c"), "`` a `b` c ``");
        assert_eq!(code("plain"), "`plain`");
    }
}
