//! A plain table of a campaign in every form: for a terminal, as Markdown, as a page,
//! and unrounded for a script.
//!
//! What must stay true: a number is kept as it was computed and rounded where it is
//! shown; what is not known is a dash, and empty for a script.

use fathom_stats::Ratio;

use crate::csv::{line, unrounded};
use crate::document::Document;
use crate::figures::{self, NONE};
use crate::plain::{Style, Tone};
use crate::table::Table;

/// What a column holds, and so how it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Words, to the left.
    Text,
    /// Nanoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// An average of counts, which may be small.
    Mean,
    /// A count, or a number in a second: shown without a fraction.
    Whole,
    /// A part of one.
    Share,
    /// One over another.
    Ratio,
    /// The same with the ends of its interval; three columns for a script.
    Interval,
}

/// A column: its heading, its name for a script, and what it holds.
pub type Column = (&'static str, &'static str, Unit);

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// Words.
    Text(String),
    /// A number in its column's unit, where it is known.
    Number(Option<f64>),
    /// A ratio in a column of [`Unit::Interval`], where it is known.
    Ratio(Option<Ratio>),
}

impl From<&str> for Entry {
    fn from(text: &str) -> Entry {
        Entry::Text(text.to_owned())
    }
}

impl From<String> for Entry {
    fn from(text: String) -> Entry {
        Entry::Text(text)
    }
}

impl From<u32> for Entry {
    fn from(number: u32) -> Entry {
        Entry::Number(Some(f64::from(number)))
    }
}

impl From<Option<f64>> for Entry {
    fn from(number: Option<f64>) -> Entry {
        Entry::Number(number)
    }
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// What it is, and what must be known to read it; one line.
    pub title: String,
    /// Its columns.
    pub columns: &'static [Column],
    /// Its lines, each with an entry a column.
    pub lines: Vec<Vec<Entry>>,
}

impl Sheet {
    /// For a terminal.
    pub fn terminal(&self) -> String {
        let style = Style::default();
        format!("{}\n{}", self.title, self.table().terminal(style))
    }

    /// A page of it, under the campaign's name.
    pub(crate) fn document(&self, campaign: &str) -> Document {
        let mut page = Document::new(campaign);
        page.say(Tone::Plain, self.title.as_str());
        page.table(self.table());
        page
    }

    /// For a script (RFC 4180): times in nanoseconds, nothing rounded.
    pub fn csv(&self) -> String {
        let names = self.columns.iter().flat_map(|(_, name, unit)| match unit {
            Unit::Interval => vec![
                (*name).to_owned(),
                format!("{name}_low"),
                format!("{name}_high"),
            ],
            _ => vec![(*name).to_owned()],
        });
        let mut text = line(names);
        for entries in &self.lines {
            text.push_str(&line(entries.iter().flat_map(fields)));
        }
        text
    }

    /// As it is shown.
    pub(crate) fn table(&self) -> Table {
        let mut table = Table::new(self.columns.iter().map(|(head, ..)| *head));
        let units = self.columns.iter().map(|(.., unit)| *unit);
        table.is_left = units.clone().map(|unit| unit == Unit::Text).collect();
        for entries in &self.lines {
            let fields = entries.iter().zip(units.clone());
            table.push(fields.map(|(entry, unit)| shown(entry, unit)));
        }
        table
    }
}

/// An entry's fields for a script.
fn fields(entry: &Entry) -> Vec<String> {
    match entry {
        Entry::Text(text) => vec![text.clone()],
        Entry::Number(value) => vec![unrounded(*value)],
        Entry::Ratio(ratio) => {
            let ends = ratio.and_then(|ratio| ratio.interval.ok());
            vec![
                unrounded(ratio.map(|ratio| ratio.value)),
                unrounded(ends.map(|ends| ends.low)),
                unrounded(ends.map(|ends| ends.high)),
            ]
        }
    }
}

fn shown(entry: &Entry, unit: Unit) -> String {
    let number = match entry {
        Entry::Text(text) => return text.clone(),
        Entry::Number(None) | Entry::Ratio(None) => return NONE.to_owned(),
        Entry::Ratio(Some(ratio)) => return figures::ratio_between(ratio),
        Entry::Number(Some(number)) => *number,
    };
    match unit {
        Unit::Time => figures::time(number),
        Unit::Bytes => figures::bytes(number),
        Unit::Mean if number < 10.0 => format!("{number:.1}"),
        Unit::Text | Unit::Mean | Unit::Whole => format!("{number:.0}"),
        // A little less than nothing is nothing, without a sign.
        Unit::Share => format!("{:.0} %", (number * 100.0).round() + 0.0),
        Unit::Ratio | Unit::Interval => format!("{number:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use fathom_stats::ratio;

    use super::*;

    fn sheet() -> Sheet {
        Sheet {
            title: "Two".to_owned(),
            columns: &[
                ("program", "program", Unit::Text),
                ("made", "made_ns", Unit::Time),
                ("in kernel", "kernel_share", Unit::Share),
                ("over it", "over_it", Unit::Interval),
            ],
            lines: vec![
                vec![
                    "é, <b>".into(),
                    Some(1500.25).into(),
                    Some(0.126).into(),
                    Entry::Ratio(ratio::paired(&[(1.0, 2.0); 5]).ok()),
                ],
                vec![
                    "longer name".into(),
                    None.into(),
                    None.into(),
                    Entry::Ratio(None),
                ],
            ],
        }
    }

    #[test]
    fn columns_line_up_words_to_the_left() {
        assert_eq!(
            sheet().terminal(),
            "Two\n program         made  in kernel             over it\n \
             é, <b>       1.50 µs       13 %  0.50 (0.500–0.500)\n \
             longer name        –          –                   –\n"
        );
    }

    #[test]
    fn a_script_gets_what_was_computed() {
        assert_eq!(
            sheet().csv(),
            "program,made_ns,kernel_share,over_it,over_it_low,over_it_high\r\n\
             \"é, <b>\",1500.25,0.126,0.5,0.5,0.5\r\nlonger name,,,,,\r\n"
        );
    }

    #[test]
    fn a_page_is_escaped_and_whole() {
        let page = sheet().document("a & b").html();
        assert!(page.contains("é, &lt;b&gt;") && page.contains("a &amp; b"));
        assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
        assert!(
            sheet()
                .document("name")
                .markdown()
                .contains("| longer name ")
        );
    }
}
