//! Text for a terminal, safe to show whatever names hold.
//!
//! What must stay true: no control character and no character that turns the
//! direction of text reaches the terminal, so a name cannot recolour, move or
//! disguise anything.

use crate::html::tied;

/// How a terminal is written to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether to colour.
    pub has_colour: bool,
    /// Whether only ASCII can be shown.
    pub is_ascii: bool,
    /// Columns there are; tables leave some of theirs out to fit.
    pub width: Option<usize>,
}

/// What a line is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As any other.
    Plain,
    /// Stands out.
    Strong,
    /// Stands back.
    Faint,
    /// Good news.
    Good,
    /// Bad news.
    Bad,
}

impl Tone {
    /// Its name in the style sheet; empty if it has none.
    pub fn class(self) -> &'static str {
        match self {
            Tone::Plain | Tone::Strong => "",
            Tone::Faint => "soft",
            Tone::Good => "good",
            Tone::Bad => "bad",
        }
    }
}

impl Style {
    /// A line in a tone.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            _ if !self.has_colour => return text.to_owned(),
            Tone::Strong => 1,
            Tone::Faint => 2,
            Tone::Good => 32,
            Tone::Bad => 31,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// A sentence of its own lines: cleaned, broken between words where the
    /// terminal is narrower, and painted.
    pub fn say(self, to: &mut String, tone: Tone, line: &str) {
        let line = self.clean(line);
        for part in wrapped(&line, self.width) {
            to.push_str(&self.paint(tone, &part));
            to.push('\n');
        }
    }

    /// Text that this terminal can show.
    pub fn clean(self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        for character in text.chars() {
            match character {
                '\t' | '\n' => clean.push(' '),
                bad if bad.is_control() || turns_text(bad) => clean.push('?'),
                plain if !self.is_ascii || plain.is_ascii() => clean.push(plain),
                other => clean.push_str(in_ascii(other)),
            }
        }
        clean
    }
}

/// Characters that change the direction of text or are not seen at all.
fn turns_text(character: char) -> bool {
    matches!(
        character,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
    )
}

fn in_ascii(character: char) -> &'static str {
    match character {
        '×' => "x",
        '–' | '−' | '—' => "-",
        '·' => "|",
        '±' => "+-",
        'µ' => "u",
        '✓' => "+",
        '✗' => "!",
        '…' => "...",
        '\u{a0}' => " ",
        _ => "?",
    }
}

/// Columns a text takes: wide characters two, combining ones none.
pub fn width(text: &str) -> usize {
    text.chars()
        .map(|character| match character as u32 {
            0x300..=0x36f => 0,
            0x1100..=0x115f
            | 0x2e80..=0xa4cf
            | 0xac00..=0xd7a3
            | 0xf900..=0xfaff
            | 0xfe30..=0xfe6f
            | 0xff00..=0xff60
            | 0x1f300..=0x1faff
            | 0x20000..=0x3fffd => 2,
            _ => 1,
        })
        .sum()
}

/// A line in parts that fit, the further ones indented by two more than the
/// first. A word that is wider than the terminal stays whole.
fn wrapped(line: &str, wide: Option<usize>) -> Vec<String> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let wide = match wide {
        Some(wide) if width(line) > wide => wide,
        _ => return vec![line.to_owned()],
    };
    let mut parts: Vec<String> = Vec::new();
    let mut part = " ".repeat(indent);
    let mut is_fresh = true;
    // A number stays with its sign or unit.
    for word in tied(line).split(' ').filter(|word| !word.is_empty()) {
        if !is_fresh && width(&part) + 1 + width(word) > wide {
            parts.push(std::mem::replace(&mut part, " ".repeat(indent + 2)));
            is_fresh = true;
        }
        if !is_fresh {
            part.push(' ');
        }
        part.push_str(word);
        is_fresh = false;
    }
    parts.push(part);
    parts
        .iter()
        .map(|part| part.replace('\u{a0}', " "))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_command_the_terminal() {
        let style = Style::default();
        assert_eq!(
            style.clean("a\x1b[31mb\u{202e}c\u{9b}d\r\n"),
            "a?[31mb?c?d? "
        );
        let ascii = Style {
            is_ascii: true,
            ..style
        };
        assert_eq!(ascii.clean("1.08 × ± 0.6 % – é"), "1.08 x +- 0.6 % - ?");
    }

    #[test]
    fn sentences_fit_the_terminal() {
        let style = Style {
            width: Some(20),
            ..Style::default()
        };
        let mut text = String::new();
        style.say(&mut text, Tone::Plain, " one two three four five six");
        style.say(&mut text, Tone::Plain, "short");
        style.say(&mut text, Tone::Plain, "");
        assert_eq!(text, " one two three four\n   five six\nshort\n\n");
    }
}
