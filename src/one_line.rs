//! How things are told on the command line: in one line, and so that a terminal does
//! nothing but show it.
//!
//! What must stay true: text that a file gives (names, messages about it, what a campaign
//! has in it) reaches a terminal through [`printable`] or [`lines`], whoever made the file.

use std::borrow::Cow;
use std::io::{self, Write};

/// Characters of a name that are shown.
const NAME_MAX: usize = 64;

/// Letters in which a mistyped name may differ from what was meant.
const DISTANCE_MAX: usize = 3;

/// Names that are offered for a mistyped one.
const OFFERED_MAX: usize = 3;

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

/// Whether a character does more than to stand where it is: control characters, line and
/// paragraph separators, what sets the direction of text (Unicode Bidirectional Algorithm
/// §2).
fn is_command(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A name in a message: printable, and its beginning where it is long.
pub fn clipped(name: &str) -> String {
    let shown = printable(name);
    match shown.char_indices().nth(NAME_MAX) {
        None => shown.into_owned(),
        Some((at, _)) => format!("{}…", &shown[..at]),
    }
}

/// Of these names, those that a mistyped one may have meant, the nearest first.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let most = wanted.len().div_ceil(3).min(DISTANCE_MAX);
    let near = names.filter_map(|name| {
        // A part of the name, or nearly all of it.
        let is_part = wanted.len() > 2 && name.contains(wanted) && name.len() <= NAME_MAX;
        let distance = distance(wanted, name, most).or(is_part.then_some(most + 1))?;
        Some((distance, name.len(), name))
    });
    let mut near: Vec<(usize, usize, &str)> = near.collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter()
        .take(OFFERED_MAX)
        .map(|(_, _, name)| name)
        .collect()
}

/// A question at the end of a message, about what may have been meant.
pub fn did_you_mean<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    match &nearest(wanted, names)[..] {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(", ")),
    }
}

/// Letters to insert, leave out or replace to make one of the other, if that is no more
/// than `most`.
fn distance(one: &str, other: &str, most: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > most || one.len() > NAME_MAX {
        return None;
    }
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[same..], &other[same..]);
    // Of the beginnings of both: a row for each letter of one, as far as it can matter.
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let (start, end) = (i.saturating_sub(most), (i + most + 1).min(other.len()));
        let mut left_above = row[start];
        row[start] = i + 1 - start;
        let mut least = row[start];
        for j in start..end {
            let replaced = left_above + usize::from(!a.eq_ignore_ascii_case(&other[j]));
            left_above = row[j + 1];
            row[j + 1] = replaced.min(left_above + 1).min(row[j] + 1);
            least = least.min(row[j + 1]);
        }
        if least > most {
            return None;
        }
    }
    row.last().copied().filter(|distance| *distance <= most)
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

    #[test]
    fn the_nearest_names_are_few() {
        let names = ["render", "reader", "read", "write", "readdir"];
        let near = |wanted| nearest(wanted, names.into_iter());
        assert_eq!(near("raed"), ["read"]);
        assert_eq!(near("readr"), ["read", "reader", "render"]);
        assert_eq!(near("zzz"), [""; 0]);
        assert_eq!(near("Write"), ["write"]);
        assert_eq!(
            did_you_mean("wirte", names.into_iter()),
            "; did you mean write?"
        );
    }
}
