//! The report as Markdown, for an issue or a commit message.
//!
//! What must stay true: a name cannot become markup; everything from outside
//! passes through [`escape`].

use crate::chart;
use crate::columns::{self, Column};
use crate::figures;
use crate::html::CITE;
use crate::view::{Fact, Group, Totals, View};

/// The report. `None` fields are dashes, as everywhere.
pub fn render(view: &View) -> String {
    let mut text = format!("# {}\n\n", escape(&view.title));
    paragraph(&mut text, &format!("**{}**", escape(&view.headline)));
    for line in &view.checks {
        paragraph(&mut text, &prose(line));
    }
    paragraph(&mut text, &escape(&view.subject));
    paragraph(
        &mut text,
        &format!("{} · {}", escape(&view.host_line), escape(&view.date)),
    );
    for note in &view.notes {
        paragraph(&mut text, &format!("> {}", escape(note)));
    }
    for group in &view.groups {
        section(group, view.has_load(), &mut text);
    }
    soundness(view, &mut text);
    failures(view, &mut text);
    text.push_str("## Host and configuration\n\n");
    facts(&mut text, &view.host);
    facts(&mut text, &view.config);
    paragraph(&mut text, &format!("Measured by {}", code(&view.command)));
    paragraph(
        &mut text,
        &format!("Raw samples: {}", code(&view.samples_file)),
    );
    paragraph(&mut text, CITE);
    text
}

/// Text in which no character is markup.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' | '\r' => escaped.push(' '),
            control if control.is_control() => escaped.push('\u{fffd}'),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '@' => {
                escaped.push('\\');
                escaped.push(character);
            }
            other => escaped.push(other),
        }
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

fn paragraph(text: &mut String, paragraph: &str) {
    text.push_str(paragraph);
    text.push_str("\n\n");
}

fn section(group: &Group, with_load: bool, text: &mut String) {
    text.push_str(&format!("## {}\n\n", escape(&group.title)));
    table(group, &columns::numbers(group), text);
    if with_load {
        text.push_str("Under load:\n\n");
        table(group, &columns::load(group), text);
    }
    if let Some(totals) = &group.totals {
        total_table(totals, text);
    }
    for (index, note) in group.footnotes.iter().enumerate() {
        text.push_str(&format!("- {}) {}\n", index + 1, escape(note)));
    }
    for caveat in group.caveats() {
        text.push_str(&format!("- {}\n", escape(&caveat)));
    }
    for finding in &group.findings {
        text.push_str(&format!("- {}\n", escape(&finding.text)));
    }
    if let Some(totals) = &group.totals {
        text.push_str(&format!("- **{}**\n", escape(&totals.sentence)));
    }
    for advice in &group.advice {
        text.push_str(&format!("- **{}**\n", escape(advice)));
    }
    text.push('\n');
    if !group.is_single() {
        matrix(group, text);
    }
}

fn total_table(totals: &Totals, text: &mut String) {
    let heads = Totals::heads();
    let head: Vec<String> = std::iter::once(Totals::TITLE.to_owned())
        .chain(heads)
        .collect();
    line(text, &head);
    let rule = head.iter().enumerate();
    let rule: Vec<&str> = rule
        .map(|(at, _)| if at == 0 { "---" } else { "---:" })
        .collect();
    line(text, &rule);
    for row in &totals.rows {
        let fields = std::iter::once(escape(&row.name)).chain(row.fields());
        line(text, &fields.collect::<Vec<_>>());
    }
    text.push('\n');
}

/// A sentence of ours, in which commands stand between backticks.
fn prose(sentence: &str) -> String {
    let parts = sentence.split('`').enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        0 => escape(part),
        _ => code(part),
    });
    parts.collect()
}

fn table(group: &Group, columns: &[Column], text: &mut String) {
    let mut head = vec!["rank".to_owned(), "engine".to_owned()];
    let mut rule = vec!["---:", "---"];
    for column in columns {
        head.push(escape(&column.name));
        rule.push(if column.is_text { "---" } else { "---:" });
    }
    line(text, &head);
    line(text, &rule);
    for row in &group.rows {
        let name = match row.footnote {
            Some(note) => format!("{} {} {note})", row.engine_and_version(), row.detail),
            None => row.label(),
        };
        let mut fields = vec![chart::rank(row), escape(&name)];
        fields.extend(columns.iter().map(|column| escape(&(column.show)(row))));
        line(text, &fields);
    }
    text.push('\n');
}

/// Ratios by workload.
fn matrix(group: &Group, text: &mut String) {
    let mut head = vec!["workload".to_owned()];
    head.extend(group.rows.iter().map(|row| escape(&row.label())));
    let mut rule = vec!["---"];
    rule.resize(head.len(), "---:");
    paragraph(
        text,
        &format!(
            "{} as a multiple of {}:",
            group.what(),
            escape(&group.baseline)
        ),
    );
    line(text, &head);
    line(text, &rule);
    for (index, workload) in group.workloads.iter().enumerate() {
        let mut fields = vec![escape(&workload.name)];
        fields.extend(group.rows.iter().map(|row| {
            row.cells
                .get(index)
                .and_then(|cell| cell.as_ref()?.to_baseline)
                .map_or_else(
                    || figures::NONE.to_owned(),
                    |ratio| figures::ratio_bare(ratio.value),
                )
        }));
        line(text, &fields);
    }
    text.push('\n');
}

fn soundness(view: &View, text: &mut String) {
    if view.probes.is_empty() {
        return;
    }
    text.push_str("## Soundness\n\n");
    line(
        text,
        &[
            "sandbox",
            "found",
            "claimed",
            "observed",
            "accesses",
            "violations",
            "probed",
        ],
    );
    line(text, &["---", "---", "---", "---", "---:", "---:", "---"]);
    for probe in &view.probes {
        line(
            text,
            &[
                escape(probe.sandbox.as_str()),
                probe.found(),
                probe.claimed.to_string(),
                probe.observed.to_string(),
                probe.tried(),
                probe.broken(),
                probe.day().to_owned(),
            ],
        );
    }
    text.push('\n');
}

fn failures(view: &View, text: &mut String) {
    if view.failures.is_empty() {
        return;
    }
    text.push_str("## Not measured\n\n");
    for failure in &view.failures {
        text.push_str(&format!(
            "- {} ({}): {}: {}\n",
            escape(&failure.what),
            escape(&failure.rounds),
            escape(&failure.kind),
            escape(&failure.message)
        ));
    }
    text.push('\n');
}

fn facts(text: &mut String, facts: &[Fact]) {
    for fact in facts {
        text.push_str(&format!(
            "- {}: {}\n",
            escape(&fact.name),
            escape(&fact.value)
        ));
    }
    text.push('\n');
}

fn line<S: AsRef<str>>(text: &mut String, fields: &[S]) {
    for field in fields {
        text.push_str("| ");
        text.push_str(field.as_ref());
        text.push(' ');
    }
    text.push_str("|\n");
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
        assert_eq!(code("a `b` c"), "`` a `b` c ``");
        assert_eq!(code("plain"), "`plain`");
    }
}
