//! Statements from lines: where one ends is what the parser's own tokens say, so nothing that is
//! in a string, a comment or a quoted name ends one.
//!
//! ```text
//!            ┌ given out ┐┌ whole, in `ends` ┐┌ begun ┐┌ open ┐
//!  text      SELECT 1;     SELECT 2; SELECT 3;  SELECT   'four
//!                        start                          looked
//! ```
//!
//! Tokens are not looked at twice, but for one that is open: it is looked at again from its
//! beginning when a line comes that may close it. So text of any length is read in its own time.
//!
//! What must stay true: a statement is given out once it is whole, and not before; what the
//! tokenizer refuses is passed over as far as it reaches, and is in a statement that the parser
//! refuses.

use std::{any::TypeId, collections::VecDeque, iter::Peekable, ops::Range, str::CharIndices};

use datafusion::sql::sqlparser::{
    dialect::Dialect,
    tokenizer::{Location, Token, TokenWithSpan, Tokenizer, TokenizerError},
};

/// Lines, and the statements in them.
#[derive(Default)]
pub struct Script {
    text: String,
    /// Of what is not given out.
    start: usize,
    /// Of what is not looked at, or of a token that is open.
    looked: usize,
    /// Behind each statement that is whole.
    ends: VecDeque<usize>,
    open: Option<Open>,
    /// Before it nothing closes what is open.
    unclosed: usize,
    /// Whether there is more than spaces and comments behind the last of them, but for what is
    /// open.
    is_begun: bool,
    /// Where there were bytes that are not UTF-8.
    broken: VecDeque<usize>,
    /// Lines before `text`.
    lines: usize,
    dialect: Option<TypeId>,
}

/// What has no end yet.
#[derive(Clone, Copy)]
struct Open {
    what: &'static str,
    /// What a line has that closes it.
    close: char,
}

impl Open {
    /// Whether this may close it, of which whole lines are asked: a line's end is in no
    /// quote that is doubled.
    fn may_close(self, lines: &str) -> bool {
        match self.close {
            '/' => lines.contains("*/"),
            '$' => lines.contains('$'),
            quote => {
                let others = |c: char| c != quote;
                let mut runs = lines.split(others).map(str::len);
                // A backslash may stand for the quote behind it.
                lines.contains('\\') || runs.any(|bytes| bytes % 2 == 1)
            }
        }
    }
}

/// Why something is no statement.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// Bytes that are no text.
    #[error("line {line}: it is not UTF-8")]
    Text {
        /// From 1.
        line: usize,
    },
    /// It ends in the middle of a token.
    #[error("line {line}: {what} begins here and does not end")]
    Open {
        /// From 1.
        line: usize,
        /// What kind of token.
        what: &'static str,
    },
}

impl Script {
    /// Adds a line, with what ends it.
    pub fn push(&mut self, line: &[u8]) {
        self.drop_given();
        for chunk in line.utf8_chunks() {
            self.text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                self.broken.push_back(self.text.len());
                self.text.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }

    /// The next statement that is whole, with its semicolon.
    ///
    /// # Errors
    /// It is no text.
    pub fn next(&mut self, dialect: &dyn Dialect) -> Option<Result<String, Unread>> {
        self.look(dialect);
        let end = self.ends.pop_front()?;
        Some(self.give(end))
    }

    /// All statements that are whole.
    pub fn whole(&mut self, dialect: &dyn Dialect) -> Option<Result<String, Unread>> {
        self.look(dialect);
        let end = self.ends.pop_back()?;
        self.ends.clear();
        Some(self.give(end))
    }

    /// What is left where no more lines come, if it is more than spaces and comments.
    ///
    /// # Errors
    /// It is no text, or ends in the middle of a token.
    pub fn rest(&mut self, dialect: &dyn Dialect) -> Option<Result<String, Unread>> {
        self.open = None;
        self.look(dialect);
        if let Some(Open { what, .. }) = self.open {
            let line = self.line(self.looked);
            return Some(Err(Unread::Open { line, what }));
        }
        if !self.is_begun {
            return None;
        }
        self.is_begun = false;
        Some(self.give(self.text.len()))
    }

    /// Whether a statement is begun.
    pub fn is_begun(&self) -> bool {
        self.is_begun || self.open.is_some()
    }

    fn give(&mut self, end: usize) -> Result<String, Unread> {
        let own = self.start..end;
        self.start = end;
        let mut broken = None;
        while let Some(at) = self.broken.front().filter(|at| **at < end) {
            broken = broken.or(Some(*at));
            self.broken.pop_front();
        }
        match broken {
            Some(at) => Err(Unread::Text {
                line: self.line(at),
            }),
            None => Ok(self.text[own].to_owned()),
        }
    }

    /// The line of a place.
    fn line(&self, at: usize) -> usize {
        self.lines + newlines(&self.text[..at]) + 1
    }

    /// Forgets what was given out, and comments behind it.
    fn drop_given(&mut self) {
        let is_over = !self.is_begun && self.ends.is_empty() && self.looked == self.text.len();
        let given = if is_over { self.looked } else { self.start };
        self.lines += newlines(&self.text[..given]);
        self.text.drain(..given);
        self.start = 0;
        self.looked -= given;
        self.unclosed = self.unclosed.saturating_sub(given);
        for at in self.ends.iter_mut() {
            *at -= given;
        }
        self.broken.retain(|at| *at >= given);
        for at in self.broken.iter_mut() {
            *at -= given;
        }
    }

    /// Looks at what was not looked at.
    fn look(&mut self, dialect: &dyn Dialect) {
        if self.dialect != Some(dialect.dialect()) {
            // A statement can change it: what was seen of later ones was seen with other eyes.
            self.dialect = Some(dialect.dialect());
            self.looked = self.start;
            (self.open, self.is_begun) = (None, false);
            self.ends.clear();
        }
        let unclosed = std::mem::replace(&mut self.unclosed, self.text.len());
        if let Some(open) = self.open
            && !open.may_close(&self.text[unclosed..])
        {
            return;
        }
        self.open = None;
        while self.looked < self.text.len() {
            let unseen = &self.text[self.looked..];
            let seen = tokens(dialect, unseen);
            for (token, place) in &seen.tokens {
                match token.token {
                    Token::Whitespace(_) => {}
                    Token::SemiColon if unseen[place.clone()].starts_with(';') => {
                        self.ends.push_back(self.looked + place.end);
                        self.is_begun = false;
                    }
                    _ => self.is_begun = true,
                }
            }
            let behind = seen.tokens.last().map_or(0, |(_, place)| place.end);
            self.looked += behind;
            if seen.refused.is_none() {
                return;
            }
            match refused(&unseen[behind..]) {
                Refused::Over(bytes) => {
                    self.looked += bytes;
                    self.is_begun = true;
                }
                Refused::Open(open) => {
                    self.open = Some(open);
                    return;
                }
            }
        }
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// The tokens of a text with their places, up to one that is refused.
pub(crate) struct Tokens {
    pub(crate) tokens: Vec<(TokenWithSpan, Range<usize>)>,
    pub(crate) refused: Option<TokenizerError>,
}

/// The tokens that `text` has in a dialect.
pub(crate) fn tokens(dialect: &dyn Dialect, text: &str) -> Tokens {
    let mut tokens = Vec::new();
    let seen = Tokenizer::new(dialect, text).tokenize_with_location_into_buf(&mut tokens);
    let mut cursor = Cursor::new(text);
    let mut place = |token: TokenWithSpan| {
        let start = cursor.to(token.span.start);
        let end = cursor.to(token.span.end);
        (token, start..end)
    };
    Tokens {
        tokens: tokens.into_iter().map(&mut place).collect(),
        refused: seen.err(),
    }
}

/// Bytes of the places that the tokenizer counts in lines and characters.
struct Cursor<'a> {
    chars: Peekable<CharIndices<'a>>,
    bytes: usize,
    line: u64,
    column: u64,
}

impl Cursor<'_> {
    fn new(text: &str) -> Cursor<'_> {
        Cursor {
            chars: text.char_indices().peekable(),
            bytes: text.len(),
            line: 1,
            column: 1,
        }
    }

    /// The byte at a place, which is not before the last one that was asked for.
    fn to(&mut self, place: Location) -> usize {
        while (self.line, self.column) < (place.line, place.column) {
            match self.chars.next() {
                None => break,
                Some((_, '\n')) => (self.line, self.column) = (self.line + 1, 1),
                Some(_) => self.column += 1,
            }
        }
        self.chars.peek().map_or(self.bytes, |(at, _)| *at)
    }
}

/// Why a token is refused.
enum Refused {
    /// It has no end yet.
    Open(Open),
    /// It is none, and so many bytes long.
    Over(usize),
}

/// What `text` begins with, which is refused.
fn refused(text: &str) -> Refused {
    // Those with escapes are refused for one that is none, too.
    for (begin, escape) in [("e'", Some('\\')), ("u&'", None)] {
        let head = text.get(..begin.len());
        if head.is_some_and(|head| head.eq_ignore_ascii_case(begin)) {
            let body = &text[begin.len()..];
            return match closed(body, escape) {
                Some(bytes) => Refused::Over(begin.len() + bytes),
                None => open("a string", '\''),
            };
        }
    }
    // All others only where they do not end; letters in front say of what kind a string is.
    let body = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let mut chars = body.chars();
    match (chars.next(), chars.next()) {
        (Some('\''), _) => open("a string", '\''),
        (Some(quote @ ('"' | '`')), _) => open("a quoted name", quote),
        (Some('['), _) => open("a quoted name", ']'),
        (Some('$'), _) => open("a string", '$'),
        (Some('/'), Some('*')) => open("a comment", '/'),
        _ => Refused::Over(text.chars().next().map_or(0, char::len_utf8)),
    }
}

fn open(what: &'static str, close: char) -> Refused {
    Refused::Open(Open { what, close })
}

/// How far a string reaches whose opening quote is gone.
fn closed(body: &str, escape: Option<char>) -> Option<usize> {
    let mut chars = body.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if Some(c) == escape {
            chars.next();
        } else if c == '\'' && chars.next_if(|(_, next)| *next == '\'').is_none() {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests;
