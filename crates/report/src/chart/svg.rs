//! A very small builder of inline SVG.
//!
//! Horizontal places are per cent of the figure's width, vertical ones CSS
//! pixels, so a figure fits any screen without scaling its text. Colours come
//! from classes, so that one style sheet decides for light, dark and print.
//!
//! What must stay true: all text passes through [`escape`].

use std::fmt::Write;

/// The style of drawings that stand alone, on white, in a Markdown page: text, titles,
/// small words, grid, the line that is compared with, intervals.
pub const ALONE_STYLE: &str = "\
text{font:12px system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1a1d22}\
.t{font-size:14px;font-weight:600}.s{fill:#565e6b;font-size:11px}.g{stroke:#e3e5e9}\
.l{stroke:#1a1d22;stroke-dasharray:5 3}.w{stroke:#1a1d22}";

/// The beginning of a drawing that stands alone: white, with its title at the top; its end is
/// `</svg>`.
pub fn begin_alone(title: &str, width: f64, height: f64) -> String {
    let title = escape(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{title}\"><title>{title}</title><style>{ALONE_STYLE}</style>\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\
         <text class=\"t\" x=\"8\" y=\"18\">{title}</text>",
    )
}

/// A tick of such a drawing: a line between two heights, and what it says below.
pub fn tick_alone(x: f64, (top, foot): (f64, f64), label: &str) -> String {
    format!(
        "<line class=\"g\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top}\" y2=\"{foot}\"/>\
         <text class=\"s\" x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
        foot + 15.0,
        escape(label)
    )
}

/// A figure under construction.
#[derive(Debug)]
pub struct Svg {
    text: String,
}

/// Text for element content and attribute values.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' => escaped.push(' '),
            // Not allowed in XML, and of no use to a reader.
            barred if barred.is_control() || matches!(barred, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}');
            }
            other => escaped.push(other),
        }
    }
    escaped
}

/// Where a text stands relative to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// It is centred there.
    Middle,
    /// It ends there.
    End,
}

impl Svg {
    /// A figure of a height, with the sentence that stands for it where it
    /// cannot be seen (also shown when pointed at).
    pub fn new(class: &str, height_px: u32, meaning: &str) -> Svg {
        let meaning = escape(meaning);
        let mut text = String::new();
        push(
            &mut text,
            format_args!(
                r#"<svg class="{class}" width="100%" height="{height_px}" role="img" aria-label="{meaning}"><title>{meaning}</title>"#
            ),
        );
        Svg { text }
    }

    /// A figure that only decorates: an axis whose values are in a table too.
    pub fn decoration(class: &str, height_px: u32) -> Svg {
        let mut text = String::new();
        push(
            &mut text,
            format_args!(
                r#"<svg class="{class}" width="100%" height="{height_px}" aria-hidden="true">"#
            ),
        );
        Svg { text }
    }

    /// A rectangle from `from` to `to` per cent.
    pub fn span(&mut self, class: &str, from: f64, to: f64, y: f64, height: f64) {
        let (left, width) = (from.min(to), (to - from).abs());
        push(
            &mut self.text,
            format_args!(
                r#"<rect class="{class}" x="{}%" y="{}" width="{}%" height="{}"/>"#,
                short(left),
                short(y),
                short(width),
                short(height)
            ),
        );
    }

    /// A vertical line over a stretch of the height.
    pub fn vertical(&mut self, class: &str, place: f64, y1: f64, y2: f64) {
        push(
            &mut self.text,
            format_args!(
                r#"<line class="{class}" x1="{0}%" x2="{0}%" y1="{1}" y2="{2}"/>"#,
                short(place),
                short(y1),
                short(y2)
            ),
        );
    }

    /// A horizontal line.
    pub fn horizontal(&mut self, class: &str, from: f64, to: f64, y: f64) {
        push(
            &mut self.text,
            format_args!(
                r#"<line class="{class}" x1="{}%" x2="{}%" y1="{2}" y2="{2}"/>"#,
                short(from),
                short(to),
                short(y)
            ),
        );
    }

    /// A circle.
    pub fn circle(&mut self, class: &str, place: f64, y: f64, radius: f64) {
        push(
            &mut self.text,
            format_args!(
                r#"<circle class="{class}" cx="{}%" cy="{}" r="{}"/>"#,
                short(place),
                short(y),
                short(radius)
            ),
        );
    }

    /// A text.
    pub fn label(&mut self, class: &str, place: f64, y: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        push(
            &mut self.text,
            format_args!(
                r#"<text class="{class}" x="{}%" y="{}" text-anchor="{anchor}">{}</text>"#,
                short(place),
                short(y),
                escape(text)
            ),
        );
    }

    /// Many dots, given as (per cent, pixels), in a box of `height` pixels.
    ///
    /// One path of strokes without length: a stroke that is not scaled has
    /// round ends, so a dot costs some ten bytes, however wide the figure.
    pub fn dots(&mut self, class: &str, height: f64, dots: impl Iterator<Item = (f64, f64)>) {
        self.path(
            class,
            height,
            dots.map(|(place, y)| (place, y, "h0".to_owned())),
        );
    }

    /// Many vertical lines, given as (per cent, from and to in pixels), as cheap as dots.
    pub fn verticals(
        &mut self,
        class: &str,
        height: f64,
        lines: impl Iterator<Item = (f64, f64, f64)>,
    ) {
        self.path(
            class,
            height,
            lines.map(|(place, y1, y2)| (place, y1, format!("V{}", short(y2)))),
        );
    }

    fn path(
        &mut self,
        class: &str,
        height: f64,
        strokes: impl Iterator<Item = (f64, f64, String)>,
    ) {
        push(
            &mut self.text,
            format_args!(
                r#"<svg viewBox="0 0 1000 {0}" width="100%" height="{0}" preserveAspectRatio="none"><path class="{class}" d=""#,
                short(height)
            ),
        );
        for (place, y, stroke) in strokes {
            let x = short((place * 10.0).clamp(0.0, 1000.0));
            push(&mut self.text, format_args!("M{x} {}{stroke}", short(y)));
        }
        self.text.push_str(r#""/></svg>"#);
    }

    /// The finished figure.
    pub fn finish(mut self) -> String {
        self.text.push_str("</svg>");
        self.text
    }
}

/// One more piece of a drawing.
pub(super) fn push(to: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = to.write_fmt(text);
}

/// A coordinate with two digits after the point at most.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" || text.is_empty() {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_place() {
        let mut svg = Svg::new("bar", 10, "a\"><script>\u{7}\n&'");
        svg.label("t", 1.0, 2.0, Anchor::End, "</text>");
        assert_eq!(
            svg.finish(),
            "<svg class=\"bar\" width=\"100%\" height=\"10\" role=\"img\" aria-label=\"a&quot;&gt;&lt;script&gt;\u{fffd} &amp;&#39;\"><title>a&quot;&gt;&lt;script&gt;\u{fffd} &amp;&#39;</title><text class=\"t\" x=\"1%\" y=\"2\" text-anchor=\"end\">&lt;/text&gt;</text></svg>"
        );
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(
            [1.0, 0.126, 100.0, -0.001, 33.333].map(short).join(" "),
            "1 0.13 100 0 33.33"
        );
    }
}
