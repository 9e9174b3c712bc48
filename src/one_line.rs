//! How things are told on the command line: in one line, and so that a terminal does
//! nothing but show it.
//!
//! What must stay true: text that a file gives (names, messages about it, what a campaign
//! has in it) reaches a terminal through [`printable`] or [`lines`], whoever made the file.

use std::borrow::Cow;
use std::io::{self, Write};

use fathom_engine::is_command;

/// Characters of a name that are shown.
const NAME_MAX: usize = 64;

/// The error and its causes in one line, whatever they contain. A cause that
/// the line above it already quotes is not said twice.
pub fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::from("fathom");
    let mut last = String::new();
    for cause in error.chain() {
        let text = cause.to_string().replace('\n', " ");
        if !last.ends_with(&text) {
            line.push_str(": ");
            line.push_str(&text);
        }
        last = text;
    }
    printable(&line).into_owned()
}

/// A line on standard error, if anybody listens.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(line));
}

/// As [`say`], of what is formatted: whoever says a thing says it by these.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::one_line::say(&format!($($text)*))
    };
}

/// Several lines on standard error, if anybody listens.
pub fn say_lines(text: &str) {
    let _ = writeln!(io::stderr(), "{}", lines(text));
}

/// Text in which a terminal finds nothing to obey: control characters, and those that set
/// the direction of text, are written as escapes.
pub fn printable(text: &str) -> Cow<'_, str> {
    match text.contains(is_command) {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.chars().fold(String::new(), |mut shown, c| {
            match is_command(c) {
                true => shown.extend(c.escape_default()),
                false => shown.push(c),
            }
            shown
        })),
    }
}

/// The same of several lines, in which colours of ours may be (ECMA-48, SGR): those stay,
/// as does a tabulator.
pub fn lines(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| is_command(c) && !matches!(c, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let len = match (c, colour(rest)) {
            (_, Some(len)) => {
                shown.push_str(&rest[..len]);
                len
            }
            ('\n' | '\t', None) => {
                shown.push(c);
                c.len_utf8()
            }
            _ => {
                shown.push_str(&printable(&rest[..c.len_utf8()]));
                c.len_utf8()
            }
        };
        rest = &rest[len..];
    }
    Cow::Owned(shown)
}

/// The length of the colour that a text begins with.
fn colour(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\x1b[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers[end..].starts_with('m').then_some(end + 3)
}

/// A name in a message: printable, and its beginning where it is long.
pub fn clipped(name: &str) -> String {
    clipped_to(&printable(name), NAME_MAX + 1)
}

/// A text of at most so many letters.
pub fn clipped_to(text: &str, most: usize) -> String {
    match text.chars().count() <= most {
        true => text.to_owned(),
        false => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_and_says_nothing_twice() {
        let cause = anyhow::anyhow!("line one\nline two");
        let error = cause.context("a.wasm");
        assert_eq!(one_line(&error), "fathom: a.wasm: line one line two");
        let repeated = anyhow::anyhow!("gone").context("open: gone");
        assert_eq!(one_line(&repeated), "fathom: open: gone");
    }

    #[test]
    fn a_terminal_is_told_nothing_to_do() {
        let error = anyhow::anyhow!("no '\x1b]0;title\x07\u{9b}2J'");
        assert_eq!(
            one_line(&error),
            "fathom: no '\\u{1b}]0;title\\u{7}\\u{9b}2J'"
        );
        assert_eq!(printable("\u{202e}fdp.exe"), "\\u{202e}fdp.exe");
        assert_eq!(printable("naïve 日本"), "naïve 日本");
    }

    #[test]
    fn of_several_lines_colours_and_ends_stay() {
        let text = "\x1b[1;31mred\x1b[0m\tand\nmore";
        assert_eq!(lines(text), text);
        assert_eq!(lines("a\x1b[2Jb\rc\x1b[31"), "a\\u{1b}[2Jb\\rc\\u{1b}[31");
    }

    #[test]
    fn long_names_have_an_end() {
        let long = "x".repeat(1 << 20);
        assert!(clipped(&long).len() < 100);
        assert_eq!(clipped("short\n"), "short\\n");
    }
}
