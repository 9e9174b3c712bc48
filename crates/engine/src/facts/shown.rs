//! Text that a file gives, as a message may have it.

use std::fmt::{self, Write};

/// A name out of a module. What a terminal would obey, or would write other text in
/// another order by, is written as an escape (`\u{1b}`), so that a message is what it says.
pub(crate) struct Shown<'a>(pub &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match is_command(c) {
            true => write!(f, "{}", c.escape_default()),
            false => f.write_char(c),
        })
    }
}

/// Whether a character does more than to stand where it is: control characters, line and paragraph
/// separators, and what sets the direction of text (Unicode Bidirectional Algorithm §2). Names in
/// messages of this crate have escapes in their places.
pub fn is_command(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_an_escape() {
        let shown = |text| Shown(text).to_string();
        assert_eq!(shown("std::vec<int>/'ä'\\"), "std::vec<int>/'ä'\\");
        assert_eq!(shown("\x1b[2J\x07"), "\\u{1b}[2J\\u{7}");
        assert_eq!(shown("a\nb\r\u{9b}31m"), "a\\nb\\r\\u{9b}31m");
        assert_eq!(shown("\u{202e}cod.exe"), "\\u{202e}cod.exe");
    }
}
