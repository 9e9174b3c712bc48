//! Test cases as JUnit XML, which every CI system reads: a suite a row.
//!
//! The elements are those of the schema that Jenkins has
//! (<https://github.com/jenkinsci/xunit-plugin>, `junit-10.xsd`).

use std::fmt::Write as _;

use super::{Case, Found};
use crate::chart::svg::escape;

/// The file; `name` says what was compared.
pub fn render(name: &str, cases: &[Case]) -> String {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let _ = writeln!(xml, "<testsuites{}>", totals(name, cases.iter()));
    let mut rows: Vec<&str> = Vec::new();
    for case in cases {
        if !rows.contains(&case.row.as_str()) {
            rows.push(&case.row);
        }
    }
    for row in rows {
        let of_row = || cases.iter().filter(|case| case.row == row);
        let _ = writeln!(xml, "  <testsuite{}>", totals(row, of_row()));
        for case in of_row() {
            xml.push_str(&element(case));
        }
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}

/// What a suite says of its cases.
fn totals<'a>(name: &str, cases: impl Iterator<Item = &'a Case> + Clone) -> String {
    let failures = cases.clone().filter(|case| case.found.is_failure());
    let skipped = cases.clone().filter(|case| case.found == Found::Unclear);
    let time: f64 = cases.clone().filter_map(|case| case.time_s).sum();
    format!(
        " name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{}\"",
        escape(name),
        cases.count(),
        failures.count(),
        skipped.count(),
        seconds(time)
    )
}

fn element(case: &Case) -> String {
    let time = case
        .time_s
        .map_or_else(String::new, |time| format!(" time=\"{}\"", seconds(time)));
    let (kind, text) = (case.found.name(), escape(&case.text));
    let found = match case.found {
        Found::Passed => format!("<system-out>{text}</system-out>"),
        Found::Unclear => format!("<skipped message=\"{kind}: {text}\"/>"),
        Found::Slower | Found::Unconfirmed | Found::Lost => {
            format!("<failure type=\"{kind}\" message=\"{text}\">{text}</failure>")
        }
    };
    format!(
        "    <testcase classname=\"{}\" name=\"{}\"{time}>\n      {found}\n    </testcase>\n",
        escape(&case.row),
        escape(&case.name)
    )
}

/// To the nanosecond, as a plain decimal number.
fn seconds(time: f64) -> String {
    format!("{time:.9}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_does_not_allow_is_not_there() {
        let text = "it said \u{1b}[31m\u{0}\r\n\u{ffff}]]></failure>".to_owned();
        let row = "<a b=\"c\">".to_owned();
        let lost = Case::new(row, "x & y".to_owned(), Found::Lost, text);
        let xml = render("a'b", &[lost]);
        let is_barred = |c: char| c != '\n' && c.is_control() || c == '\u{ffff}';
        assert!(!xml.contains(is_barred), "{xml}");
        assert!(!xml.contains("]]></f") && xml.contains("]]&gt;&lt;/failure&gt;</failure>"));
        assert!(xml.contains("classname=\"&lt;a b=&quot;c&quot;&gt;\" name=\"x &amp; y\">"));
    }
}
