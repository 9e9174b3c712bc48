//! Pages of campaigns that are about something of their own: a frame and a table,
//! in the style of the general report.
//!
//! What must stay true: a page loads nothing and runs nothing, and what is put into
//! a table is escaped.

use std::fmt::Write;

use crate::chart::svg::escape;

/// A self-contained page; the body is markup.
pub fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>{} · Fathom</title><style>{}</style></head><body>{body}</body></html>\n",
        escape(title),
        include_str!("../templates/style.css"),
    )
}

/// A table whose first line is its head, and its caption, which is markup.
pub fn table(caption: &str, table: &[Vec<String>]) -> String {
    let mut text = format!("<h3>{caption}</h3><div class=\"scroll stick\" tabindex=\"0\"><table>");
    for (number, line) in table.iter().enumerate() {
        let (open, close, cell) = match number {
            0 => ("<thead><tr>", "</tr></thead><tbody>", "th"),
            _ => ("<tr>", "</tr>", "td"),
        };
        text.push_str(open);
        for (column, field) in line.iter().enumerate() {
            let cell = if column == 0 { "th" } else { cell };
            let left = if column == 0 { " class=\"l\"" } else { "" };
            let _ = write!(text, "<{cell}{left}>{}</{cell}>", escape(field));
        }
        text.push_str(close);
    }
    text.push_str("</tbody></table></div>");
    text
}
