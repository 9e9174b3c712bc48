//! A table, once: for a terminal, as Markdown and as HTML.
//!
//! What must stay true: every field is cleaned or escaped here, whatever names hold, and a table
//! has as many columns in each form.

use crate::html;
use crate::plain::{Style, Tone, width};

/// Heads and lines of fields, in which commands may stand between backticks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Headings.
    pub head: Vec<String>,
    /// For each column, whether its fields stand to the left.
    pub is_left: Vec<bool>,
    /// Whether it holds sentences, which Markdown does not line up.
    pub is_words: bool,
    /// Which columns a narrow terminal leaves out first: 0 never, and [`NEVER_SHOWN`] are in none.
    pub spare: Vec<u8>,
    /// Lines of fields, with their tone.
    pub lines: Vec<(Tone, Vec<String>)>,
}

/// What a terminal has no room for, however wide it is.
pub const NEVER_SHOWN: u8 = 9;

impl Table {
    /// Without lines yet; the first column to the left, and numbers to the right.
    pub fn new<S: Into<String>>(heads: impl IntoIterator<Item = S>) -> Table {
        Table::default().and(heads)
    }

    /// Without lines yet; sentences, which stand to the left.
    pub fn words<S: Into<String>>(heads: impl IntoIterator<Item = S>) -> Table {
        let mut table = Table::new(heads);
        table.is_left.fill(true);
        table.is_words = true;
        table
    }

    /// With more columns of numbers.
    pub fn and<S: Into<String>>(mut self, heads: impl IntoIterator<Item = S>) -> Table {
        self.head.extend(heads.into_iter().map(Into::into));
        if self.is_left.is_empty() {
            self.is_left.push(true);
        }
        self.is_left.resize(self.head.len(), false);
        self
    }

    /// With these columns to the left.
    pub fn left<const N: usize>(mut self, columns: [usize; N]) -> Table {
        for column in columns {
            self.is_left[column] = true;
        }
        self
    }

    /// One more line.
    pub fn push(&mut self, fields: impl IntoIterator<Item = String>) {
        self.lines.push((Tone::Plain, fields.into_iter().collect()));
    }

    /// For a terminal: two columns of space between fields, indented by one.
    pub fn terminal(&self, style: Style) -> String {
        let all = self.shown(|field| style.clean(field));
        let widths = widths(&all);
        let columns = self.fitting(&widths, style.width);
        let tones = self.lines.iter().map(|(tone, _)| *tone);
        let mut text = String::new();
        for (tone, fields) in std::iter::once(Tone::Faint).chain(tones).zip(&all) {
            let mut line = String::new();
            for column in &columns {
                let field = fields.get(*column).map_or("", String::as_str);
                let gap = if line.is_empty() { " " } else { "  " };
                line.push_str(gap);
                line.push_str(&self.aligned(*column, field, widths[*column]));
            }
            text.push_str(&style.paint(tone, line.trim_end()));
            text.push('\n');
        }
        text
    }

    /// The columns that a terminal has room for.
    fn fitting(&self, widths: &[usize], wide: Option<usize>) -> Vec<usize> {
        let spare = |column: &usize| self.spare.get(*column).copied().unwrap_or(0);
        let shown = 0..widths.len();
        let mut columns: Vec<usize> = shown.filter(|one| spare(one) < NEVER_SHOWN).collect();
        let taken = |columns: &[usize]| columns.iter().map(|one| widths[*one] + 2).sum::<usize>();
        // One column of space before the first, and two between.
        while wide.is_some_and(|wide| taken(&columns) > wide + 1) {
            let most = columns.iter().map(spare).max().unwrap_or(0);
            match columns.iter().rposition(|one| spare(one) == most) {
                Some(last) if most > 0 => drop(columns.remove(last)),
                _ => break,
            }
        }
        columns
    }

    /// As Markdown, whose columns line up as they are read, too, but those of sentences: `inline` is what makes a field Markdown.
    pub fn markdown(&self, inline: impl Fn(&str) -> String) -> String {
        let all = self.shown(|field| cell(&inline(field)));
        let widths = match self.is_words {
            true => vec![0; self.head.len()],
            false => widths(&all),
        };
        let mut text = String::new();
        for (at, fields) in all.iter().enumerate() {
            let fields = fields.iter().zip(&widths).enumerate();
            let fields = fields.map(|(column, (field, wide))| self.aligned(column, field, *wide));
            let fields: Vec<String> = fields.collect();
            text.push_str(&format!("| {} |\n", fields.join(" | ")));
            if at == 0 {
                text.push('|');
                for (width, is_left) in widths.iter().zip(&self.is_left) {
                    let dashes = "-".repeat(width + if self.is_words { 3 } else { 1 });
                    text.push_str(&match (self.is_words, is_left) {
                        (true, _) => format!("{dashes}|"),
                        (_, true) => format!("{dashes}-|"),
                        (_, false) => format!("{dashes}:|"),
                    });
                }
                text.push('\n');
            }
        }
        text
    }

    /// As Markdown, of fields that are Markdown already.
    pub fn source(&self) -> String {
        self.markdown(str::to_owned)
    }

    /// As HTML.
    pub fn html(&self) -> String {
        let row = |cell: &str, left: &str, fields: &[String]| {
            let fields = fields.iter().zip(&self.is_left).enumerate();
            let fields = fields.map(|(column, (field, is_left))| {
                let (name, class) = match (column, is_left) {
                    (0, _) => ("th", " class=\"l\""),
                    (_, true) => (cell, left),
                    (_, false) => (cell, ""),
                };
                format!("<{name}{class}>{}</{name}>", html::marked(field))
            });
            format!("<tr>{}</tr>", fields.collect::<String>())
        };
        let lines = self.lines.iter();
        let lines = lines.map(|(_, fields)| row("td", " class=\"wrap\"", fields) + "\n");
        format!(
            "<div class=\"scroll stick\" tabindex=\"0\"><table>\n<thead>{}</thead>\n<tbody>\n{}</tbody></table></div>\n",
            row("th", " class=\"l\"", &self.head),
            lines.collect::<String>()
        )
    }

    /// Head and lines.
    fn shown(&self, field: impl Fn(&str) -> String) -> Vec<Vec<String>> {
        let lines = self.lines.iter().map(|(_, fields)| fields);
        let all = std::iter::once(&self.head).chain(lines);
        all.map(|fields| fields.iter().map(|one| field(one)).collect())
            .collect()
    }

    fn aligned(&self, column: usize, field: &str, wide: usize) -> String {
        let space = " ".repeat(wide.saturating_sub(width(field)));
        match self.is_left[column] {
            true => format!("{field}{space}"),
            false => format!("{space}{field}"),
        }
    }
}

/// How wide each column is.
fn widths(lines: &[Vec<String>]) -> Vec<usize> {
    let columns = lines.first().map_or(0, Vec::len);
    let wide = |column: usize| {
        let fields = lines.iter().filter_map(|fields| fields.get(column));
        fields.map(|field| width(field)).max().unwrap_or(0)
    };
    (0..columns).map(wide).collect()
}

/// Markdown in which no bar ends a field: those of code are not escaped yet.
fn cell(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len());
    for character in markdown.chars() {
        if character == '|' && !text.ends_with('\\') {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::prose;

    fn table() -> Table {
        let mut table = Table::new(["engine"]).and(["run", "why"]).left([2]);
        table.push(["日本", "9 ms", "a|b `x|y` <i>"].map(str::to_owned));
        let fields = ["fathom guard", "412 ms", ""].map(str::to_owned);
        table.lines.push((Tone::Bad, fields.to_vec()));
        table
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(
            table().terminal(Style::default()),
            " engine           run  why\n 日本            9 ms  a|b `x|y` <i>\n fathom guard  412 ms\n"
        );
        assert_eq!(
            table().markdown(prose),
            "| engine       |    run | why                   |\n\
             |--------------|-------:|-----------------------|\n\
             | 日本         |   9 ms | a\\|b `x\\|y` &lt;i&gt; |\n\
             | fathom guard | 412 ms |                       |\n"
        );
    }

    #[test]
    fn a_narrow_terminal_has_fewer_columns() {
        let mut table = table();
        table.spare = vec![0, 1, 2];
        let heads = |wide| {
            let style = Style {
                width: Some(wide),
                ..Style::default()
            };
            let text = table.terminal(style);
            assert!(text.lines().all(|line| width(line) <= wide.max(13)));
            text.lines().next().unwrap().split_whitespace().count()
        };
        assert_eq!([36, 35, 21, 20, 1].map(heads), [3, 2, 2, 1, 1]);
        table.spare[1] = NEVER_SHOWN;
        let text = table.terminal(Style::default());
        assert!(text.starts_with(" engine        why\n"), "{text}");
    }

    #[test]
    fn words_are_not_lined_up() {
        let mut table = Table::words(["a", "b"]);
        table.push(["long sentence", ""].map(str::to_owned));
        assert_eq!(
            table.markdown(str::to_owned),
            "| a | b |\n|---|---|\n| long sentence |  |\n"
        );
    }

    #[test]
    fn names_are_no_markup() {
        let html = table().html();
        let line = "<tr><th class=\"l\">日本</th><td>9 ms</td>\
                    <td class=\"wrap\">a|b <code>x|y</code> &lt;i&gt;</td></tr>";
        assert!(html.contains(line), "{html}");
    }
}
