//! Test cases as annotations: lines that GitHub shows beside the change that they are about
//! (<https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>).

use super::{Case, Found};

/// GitHub shows so many errors of a step.
const ERRORS_MAX: usize = 10;

/// A line for each case that failed, no more than are shown; where none did and `is_unclear`, a
/// warning that says so, with the first reason.
pub fn render(cases: &[Case], is_unclear: bool) -> Vec<String> {
    let failed: Vec<&Case> = (cases.iter())
        .filter(|case| case.found.is_failure())
        .collect();
    let left = failed.len().saturating_sub(ERRORS_MAX);
    let mut lines: Vec<String> = failed
        .iter()
        .take(ERRORS_MAX)
        .enumerate()
        .map(|(at, case)| {
            let mut text = format!("{} · {}: {}", case.row, case.name, case.text);
            if at + 1 == ERRORS_MAX && left > 0 {
                text += &format!("; and {left} more, which the log lists");
            }
            line("error", case.found, &text)
        })
        .collect();
    if lines.is_empty() && is_unclear {
        let unclear = cases.iter().find(|case| case.found == Found::Unclear);
        let text = unclear.map_or_else(String::new, |case| {
            format!("{} · {}: {}", case.row, case.name, case.text)
        });
        lines.push(line("warning", Found::Unclear, &text));
    }
    lines
}

fn line(level: &str, found: Found, text: &str) -> String {
    let title = property(&format!("fathom compare: {}", found.name()));
    format!("::{level} title={title}::{}", data(text))
}

/// A message, escaped as GitHub wants it.
fn data(text: &str) -> String {
    let text = text.replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

/// A property's value: what ends one is escaped, too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, found: Found) -> Case {
        let text = "slower: +5 %\r\n::error::no".to_owned();
        Case::new("fathom trap".to_owned(), name.to_owned(), found, text)
    }

    #[test]
    fn what_ends_a_message_or_a_property_is_escaped() {
        let lines = render(&[case("a,b:c\n%41", Found::Slower)], false);
        assert_eq!(
            lines,
            [
                "::error title=fathom compare%3A slower::fathom trap · a,b:c%0A%2541: \
              slower: +5 %25%0D%0A::error::no"
            ]
        );
        assert_eq!(property("a,b:c\n%"), "a%2Cb%3Ac%0A%25");
    }

    #[test]
    fn no_more_than_are_shown_and_a_warning_only_where_nothing_could_be_seen() {
        let many = vec![case("one", Found::Slower); 12];
        let lines = render(&many, true);
        assert_eq!(lines.len(), ERRORS_MAX);
        assert!(lines[9].ends_with("; and 2 more, which the log lists"));
        assert!(!lines[8].contains("more"));
        let unclear = [case("one", Found::Passed), case("two", Found::Unclear)];
        let lines = render(&unclear, true);
        assert!(lines[0].starts_with("::warning title=fathom compare%3A too noisy to say::"));
        assert!(render(&unclear, false).is_empty());
    }
}
