//! A page, said once: headings, paragraphs, lists, tables and figures, which become Markdown, HTML
//! or lines for a terminal.
//!
//! ```text
//!  pages ── Document ─┬─▶ markdown    escaped
//!                     ├─▶ plain       the same as it is read in a terminal
//!                     ├─▶ terminal    in colours, and tables without bars
//!                     └─▶ html        a self-contained page, with the figures
//! ```
//!
//! What must stay true: text is text until a writer escapes it, each where it becomes markup and
//! so once; backticks alone mean something in it, and what is between them is code. A page loads
//! nothing and runs nothing.

use crate::chart::svg::escape;
use crate::html;
use crate::markdown;
use crate::plain::{Style, Tone};
use crate::table::Table;

/// A page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    title: String,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq)]
enum Block {
    Heading(String),
    Paragraph(Tone, String),
    List(Vec<(Tone, String)>),
    Table(Table),
    Figure(String),
}

impl Document {
    /// Nothing but its title yet.
    pub fn new(title: impl Into<String>) -> Document {
        Document {
            title: title.into(),
            blocks: Vec::new(),
        }
    }

    /// The heading of what follows.
    pub fn heading(&mut self, title: impl Into<String>) {
        self.blocks.push(Block::Heading(title.into()));
    }

    /// A paragraph.
    pub fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.blocks.push(Block::Paragraph(tone, text.into()));
    }

    /// A paragraph in front of all that there is yet.
    pub fn say_first(&mut self, tone: Tone, text: impl Into<String>) {
        self.blocks.insert(0, Block::Paragraph(tone, text.into()));
    }

    /// A list; nothing if it has no items.
    pub fn list(&mut self, items: impl IntoIterator<Item = (Tone, String)>) {
        let items: Vec<_> = items.into_iter().collect();
        if !items.is_empty() {
            self.blocks.push(Block::List(items));
        }
    }

    /// A heading and a list; nothing if it has no items.
    pub fn listed(&mut self, title: &str, items: Vec<String>) {
        if !items.is_empty() {
            self.heading(title);
            self.list(items.into_iter().map(|item| (Tone::Plain, item)));
        }
    }

    /// A table.
    pub fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    /// A drawing and what belongs to it, which is markup; HTML alone has it.
    pub fn figure(&mut self, markup: impl Into<String>) {
        self.blocks.push(Block::Figure(markup.into()));
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        self.lines(markdown::prose)
    }

    /// As Markdown that nobody reads as markup: nothing is escaped.
    pub fn plain(&self) -> String {
        self.lines(str::to_owned)
    }

    fn lines(&self, inline: fn(&str) -> String) -> String {
        let mut text = format!("# {}\n", inline(&self.title));
        for block in &self.blocks {
            text.push_str(&match block {
                Block::Heading(title) => format!("\n## {}\n", inline(title)),
                Block::Paragraph(Tone::Bad, words) => format!("\n> {}\n", inline(words)),
                Block::Paragraph(tone, words) => format!("\n{}\n", toned(*tone, inline(words))),
                Block::List(items) => {
                    let items = items.iter();
                    let items = items.map(|(tone, item)| toned(*tone, inline(item)));
                    let items = items.map(|item| format!("- {item}\n"));
                    format!("\n{}", items.collect::<String>())
                }
                Block::Table(table) => format!("\n{}", table.markdown(inline)),
                Block::Figure(_) => String::new(),
            });
        }
        text
    }

    /// Its title, for a terminal.
    pub fn title(&self, style: Style) -> String {
        let mut text = String::new();
        style.say(&mut text, Tone::Strong, &self.title);
        text.push('\n');
        text
    }

    /// For a terminal; without its title.
    pub fn terminal(&self, style: Style) -> String {
        let mut text = String::new();
        let mut before: Option<&Block> = None;
        for block in &self.blocks {
            let is_apart = match (before, block) {
                (None, _) => false,
                (Some(Block::Table(_)), _) | (_, Block::Heading(_)) => true,
                (Some(Block::List(_)), Block::Table(_)) => true,
                _ => false,
            };
            if is_apart {
                text.push('\n');
            }
            match block {
                Block::Heading(title) => style.say(&mut text, Tone::Strong, title),
                Block::Paragraph(tone, words) => style.say(&mut text, *tone, words),
                Block::List(items) => {
                    for (tone, item) in items {
                        style.say(&mut text, *tone, &format!(" {item}"));
                    }
                }
                Block::Table(table) => text.push_str(&table.terminal(style)),
                Block::Figure(_) => continue,
            }
            before = Some(block);
        }
        text
    }

    /// As a page of its own.
    pub fn html(&self) -> String {
        let mut body = format!("<h1>{}</h1>\n", html::marked(&self.title));
        for block in &self.blocks {
            body.push_str(&match block {
                Block::Heading(title) => format!("<h2>{}</h2>\n", html::prose(title)),
                Block::Paragraph(tone, words) => {
                    format!("<p{}>{}</p>\n", class(*tone), html::prose(words))
                }
                Block::List(items) => {
                    let items = items.iter().map(|(tone, item)| {
                        format!("<li{}>{}</li>\n", class(*tone), html::prose(item))
                    });
                    format!("<ul class=\"say\">\n{}</ul>\n", items.collect::<String>())
                }
                Block::Table(table) => table.html(),
                Block::Figure(markup) => format!("<figure>{markup}</figure>\n"),
            });
        }
        format!(
            "{}</head>\n<body>\n{body}</body></html>\n",
            head(&self.title)
        )
    }
}

/// How every page begins: what it may do, its title, and the style sheet.
pub fn head(title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         base-uri 'none'; form-action 'none'\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{} · Fathom</title>\n<style>\n{}</style>\n",
        escape(title),
        include_str!("../templates/style.css"),
    )
}

/// Markdown that stands out, if it should.
fn toned(tone: Tone, markdown: String) -> String {
    match tone {
        Tone::Strong => format!("**{markdown}**"),
        _ => markdown,
    }
}

fn class(tone: Tone) -> String {
    match tone.class() {
        "" => String::new(),
        class => format!(" class=\"{class}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names and messages of others, in every place that text has.
    fn document() -> Document {
        let hostile = "a|b <i> & &lt; *c* `d|e <u>`";
        let mut page = Document::new(hostile);
        page.heading(hostile);
        page.say(Tone::Strong, hostile);
        page.say(Tone::Bad, "- no list");
        let mut table = Table::new(["", hostile]);
        table.push([hostile.to_owned(), "1".to_owned()]);
        page.table(table);
        page.figure("<svg></svg>");
        page.listed("nothing", Vec::new());
        page.listed("some", vec![hostile.to_owned()]);
        page
    }

    #[test]
    fn text_is_escaped_once_where_it_becomes_html() {
        let page = document().html();
        let escaped = "a|b &lt;i&gt; &amp; &amp;lt; *c* ";
        let code = "<code>d|e &lt;u&gt;</code>";
        assert_eq!(page.matches(escaped).count(), 7, "{page}");
        // A browser's tab has no markup.
        assert_eq!(page.matches(&format!("{escaped}{code}")).count(), 6);
        assert!(!page.contains("<i>") && !page.contains("<u>"), "{page}");
        assert!(page.contains("<figure><svg></svg></figure>") && !page.contains("nothing"));
    }

    #[test]
    fn text_is_escaped_once_where_it_becomes_markdown() {
        let escaped = r"a\|b &lt;i&gt; & &amp;lt; \*c\*";
        let (code, in_a_cell) = ("`d|e <u>`", r"`d\|e <u>`");
        let wide = format!("{escaped} {in_a_cell}").len();
        assert_eq!(
            document().markdown(),
            format!(
                "# {escaped} {code}\n\n## {escaped} {code}\n\n**{escaped} {code}**\n\n> \\- no list\n\n\
                 |{blank} | {escaped} {in_a_cell} |\n|{dashes}-|{dashes}:|\n\
                 | {escaped} {in_a_cell} |{one}1 |\n\n## some\n\n- {escaped} {code}\n",
                blank = " ".repeat(wide + 1),
                dashes = "-".repeat(wide + 1),
                one = " ".repeat(wide),
            )
        );
    }

    #[test]
    fn a_terminal_has_text() {
        assert_eq!(
            document().terminal(Style::default()).lines().last(),
            Some(" a|b <i> & &lt; *c* `d|e <u>`")
        );
    }
}
