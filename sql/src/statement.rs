//! The statements that are ours, before DataFusion sees the others.
//!
//! ```text
//! CREATE [OR REPLACE] [AGGREGATE] FUNCTION name ( type, … | name type, … | table )
//!     RETURNS type | TABLE [ ( name type, … ) ]
//!     LANGUAGE wasm [ SECURITY DEFINER ] [ PARALLEL SAFE | UNSAFE | SHARED ]
//!     AS 'file.wasm' [ , 'Export' ]
//!     [ WITH ( memory = '64 MiB', deadline = '1s', bounds = 'trap', rows = '1000000',
//!            reuse = 'off' ) ]
//! DROP [AGGREGATE] FUNCTION [ IF EXISTS ] name
//! ```
//!
//! No dialect of the parser has both `f(TABLE (SELECT …))` and CREATE FUNCTION, so the first
//! becomes `f((SELECT …))`, which all have.

use std::{ops::Range, path::PathBuf, time::Duration};

use datafusion::sql::sqlparser::{
    dialect::{Dialect, GenericDialect},
    tokenizer::{Token, TokenWithSpan},
};
use fathom_engine::BoundsChoice;
use fathom_guest::{
    Options,
    column::{self, ColumnType},
};

use crate::{error::Error, script};

mod text;

/// What a function is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A value for each row of these.
    Scalar {
        /// Of its arguments.
        arguments: Vec<ColumnType>,
        /// Of its value.
        result: ColumnType,
    },
    /// A value for each group of rows of these.
    Aggregate {
        /// Of its arguments.
        arguments: Vec<ColumnType>,
        /// Of its value.
        result: ColumnType,
    },
    /// A table from a table; its columns, if the statement says them and not the module.
    Operator {
        /// With their names.
        columns: Option<Vec<(String, ColumnType)>>,
        /// Which instances it has, if the statement says it and not the module.
        parallel: Option<Parallel>,
    },
}

/// Which instances of an operator a query has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parallel {
    /// One, which sees all rows.
    Unsafe,
    /// One for each partition, which sees its rows.
    Safe,
    /// One for each thread, all over one memory.
    Shared,
}

/// A function that is to be. As text it is its statement, which is parsed to the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Create {
    /// Its name in SQL.
    pub name: String,
    /// Whether one that is there may be replaced.
    pub is_replacing: bool,
    /// What it is.
    pub kind: Kind,
    /// The module.
    pub file: PathBuf,
    /// What its exports are called.
    pub export: String,
    /// What it may take.
    pub options: Options,
}

/// One statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// CREATE FUNCTION.
    Create(Create),
    /// DROP FUNCTION.
    Drop {
        /// Its name.
        name: String,
        /// Whether it is no error that there is none.
        if_exists: bool,
    },
    /// DataFusion's, as it is to see it.
    Other(String),
}

/// The statements of a text.
///
/// # Errors
/// What is no SQL, or a statement of ours that is not as above.
pub fn parse(sql: &str) -> Result<Vec<Statement>, Error> {
    parse_in(&GenericDialect {}, sql)
}

/// The statements of a text in a dialect.
///
/// # Errors
/// As [`parse`].
pub fn parse_in(dialect: &dyn Dialect, sql: &str) -> Result<Vec<Statement>, Error> {
    let tokens = script::tokens(dialect, sql);
    if let Some(error) = tokens.refused {
        return Err(Error::Statement(error.to_string()));
    }
    let parts = tokens.tokens.split(|(token, _)| *token == Token::SemiColon);
    let said = parts.filter(|part| part.iter().any(is_said));
    said.map(|part| statement(sql, part)).collect()
}

/// A token with its place.
type Placed = (TokenWithSpan, Range<usize>);

fn is_said((token, _): &Placed) -> bool {
    !matches!(token.token, Token::Whitespace(_))
}

/// `name type, …`, as a module says it: names as they are written.
pub(crate) fn parse_columns(text: &str) -> Option<Vec<(String, ColumnType)>> {
    let column = |part: &str| {
        let (name, ty) = part.trim().split_once(char::is_whitespace)?;
        Some((name.to_owned(), ColumnType::parse(ty.trim())?))
    };
    text.split(',').map(column).collect()
}

/// How statements of ours begin: whether they replace, and whether they are of aggregates.
const CREATES: [(bool, bool, &[&str]); 4] = [
    (false, false, &["create", "function"]),
    (true, false, &["create", "or", "replace", "function"]),
    (false, true, &["create", "aggregate", "function"]),
    (
        true,
        true,
        &["create", "or", "replace", "aggregate", "function"],
    ),
];

fn statement(sql: &str, tokens: &[Placed]) -> Result<Statement, Error> {
    let said = tokens.iter().filter(|token| is_said(token));
    let said: Vec<&Token> = said.map(|(token, _)| &token.token).collect();
    let mut words = Words { rest: &said };
    for (is_replacing, is_aggregate, begin) in CREATES {
        if words.skip(begin) {
            return create(words, is_replacing, is_aggregate).map(Statement::Create);
        }
    }
    if words.skip(&["drop", "function"]) || words.skip(&["drop", "aggregate", "function"]) {
        let if_exists = words.skip(&["if", "exists"]);
        let name = words.name("the name of a function")?;
        words.end()?;
        return Ok(Statement::Drop { name, if_exists });
    }
    Ok(Statement::Other(without_table(sql, tokens)))
}

/// `( TABLE ( …` becomes `( ( …`. All else is as it was written: a token that is written anew
/// can mean something else.
fn without_table(sql: &str, tokens: &[Placed]) -> String {
    let is_next = |token: Option<&Placed>| token.is_some_and(|(token, _)| *token == Token::LParen);
    let mut text = String::new();
    for (i, (token, place)) in tokens.iter().enumerate() {
        let is_argument = is_word(&token.token, "table")
            && is_next(tokens[..i].iter().rev().find(|token| is_said(token)))
            && is_next(tokens[i + 1..].iter().find(|token| is_said(token)));
        if !is_argument {
            text.push_str(&sql[place.clone()]);
        }
    }
    text
}

fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(found) if found.quote_style.is_none()
        && found.value.eq_ignore_ascii_case(word))
}

fn create(mut words: Words<'_>, is_replacing: bool, is_aggregate: bool) -> Result<Create, Error> {
    let name = words.name("the name of a function")?;
    words.expect(&Token::LParen)?;
    let arguments = match words.skip(&["table"]) {
        true => words.expect(&Token::RParen).map(|()| None)?,
        false => Some(words.arguments()?),
    };
    words.keyword("returns")?;
    let mut kind = match (arguments, words.skip(&["table"])) {
        (Some(arguments), false) if is_aggregate => Kind::Aggregate {
            arguments,
            result: words.column_type()?,
        },
        _ if is_aggregate => {
            let what = format!("function {name} is an aggregate: it takes and returns values");
            return Err(Error::Statement(what));
        }
        (Some(arguments), false) => Kind::Scalar {
            arguments,
            result: words.column_type()?,
        },
        (None, true) => Kind::Operator {
            columns: words.columns()?,
            parallel: None,
        },
        (Some(_), true) => {
            let what = format!("function {name} returns a table: its argument is (table)");
            return Err(Error::Statement(what));
        }
        (None, false) => {
            let what = format!("function {name} takes a table: it RETURNS TABLE");
            return Err(Error::Statement(what));
        }
    };
    words.language(&name)?;
    if words.skip(&["security"]) && !words.skip(&["definer"]) {
        return Err(words.expected("DEFINER: a module has no rights of the user's"));
    }
    words.parallel(&name, &mut kind)?;
    words.keyword("as")?;
    let file = words.string("the module's file, in quotes")?.into();
    let export = match words.skip_token(&Token::Comma) {
        true => words.string("the name of an export, in quotes")?,
        false => name.clone(),
    };
    let options = words.options()?;
    words.end()?;
    Ok(Create {
        name,
        is_replacing,
        kind,
        file,
        export,
        options,
    })
}

/// What is left of a statement.
struct Words<'a> {
    rest: &'a [&'a Token],
}

impl Words<'_> {
    /// Goes past these words if they come next.
    fn skip(&mut self, words: &[&str]) -> bool {
        let are_next = self.rest.len() >= words.len()
            && self
                .rest
                .iter()
                .zip(words)
                .all(|(token, word)| is_word(token, word));
        if are_next {
            self.rest = &self.rest[words.len()..];
        }
        are_next
    }

    fn skip_token(&mut self, token: &Token) -> bool {
        let is_next = self.rest.first().is_some_and(|next| *next == token);
        if is_next {
            self.rest = &self.rest[1..];
        }
        is_next
    }

    fn expected(&self, what: &str) -> Error {
        let found = match self.rest.first() {
            None => "the end of the statement".to_owned(),
            Some(token) => format!("`{token}`"),
        };
        Error::Statement(format!("expected {what}, found {found}"))
    }

    fn expect(&mut self, token: &Token) -> Result<(), Error> {
        match self.skip_token(token) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{token}`"))),
        }
    }

    fn keyword(&mut self, word: &str) -> Result<(), Error> {
        match self.skip(&[word]) {
            true => Ok(()),
            false => Err(self.expected(&word.to_ascii_uppercase())),
        }
    }

    fn end(&self) -> Result<(), Error> {
        match self.rest.is_empty() {
            true => Ok(()),
            false => Err(self.expected("the end of the statement")),
        }
    }

    /// A name, in small letters unless it is in quotes.
    fn name(&mut self, what: &str) -> Result<String, Error> {
        let name = match self.rest.first() {
            Some(Token::Word(word)) if word.quote_style.is_some() => word.value.clone(),
            Some(Token::Word(word)) => word.value.to_ascii_lowercase(),
            Some(Token::SingleQuotedString(text)) => text.clone(),
            _ => return Err(self.expected(what)),
        };
        self.rest = &self.rest[1..];
        Ok(name)
    }

    fn string(&mut self, what: &str) -> Result<String, Error> {
        match self.rest.first() {
            Some(Token::SingleQuotedString(text)) => {
                self.rest = &self.rest[1..];
                Ok(text.clone())
            }
            _ => Err(self.expected(what)),
        }
    }

    fn column_type(&mut self) -> Result<ColumnType, Error> {
        let ty = match self.rest.first() {
            Some(Token::Word(word)) => ColumnType::parse(&word.value),
            _ => None,
        };
        let Some(ty) = ty else {
            return Err(self.expected(&format!("a type ({})", column::names())));
        };
        self.rest = &self.rest[1..];
        if ty == ColumnType::Double {
            self.skip(&["precision"]);
        }
        Ok(ty)
    }

    /// `name type` or `type`, up to the parenthesis.
    fn arguments(&mut self) -> Result<Vec<ColumnType>, Error> {
        let mut types = Vec::new();
        if self.skip_token(&Token::RParen) {
            return Ok(types);
        }
        loop {
            let is_named = matches!(
                self.rest,
                [Token::Word(_), Token::Word(second), ..] if ColumnType::parse(&second.value).is_some()
            );
            if is_named {
                self.rest = &self.rest[1..];
            }
            types.push(self.column_type()?);
            if !self.skip_token(&Token::Comma) {
                return self.expect(&Token::RParen).map(|()| types);
            }
        }
    }

    fn columns(&mut self) -> Result<Option<Vec<(String, ColumnType)>>, Error> {
        if !self.skip_token(&Token::LParen) {
            return Ok(None);
        }
        let mut columns = Vec::new();
        loop {
            let name = self.name("the name of a column")?;
            columns.push((name, self.column_type()?));
            if !self.skip_token(&Token::Comma) {
                return self.expect(&Token::RParen).map(|()| Some(columns));
            }
        }
    }

    fn language(&mut self, function: &str) -> Result<(), Error> {
        self.keyword("language")?;
        let language = self.name("a language")?;
        if !["wasm", "udo-wasm"].contains(&language.to_ascii_lowercase().as_str()) {
            let what =
                format!("function {function}: language {language} is not known; there is wasm");
            return Err(Error::Statement(what));
        }
        Ok(())
    }

    /// Whether partitions may be worked on at once: an operator says so, and all else does.
    fn parallel(&mut self, function: &str, kind: &mut Kind) -> Result<(), Error> {
        if !self.skip(&["parallel"]) {
            return Ok(());
        }
        let said = [
            ("unsafe", Parallel::Unsafe),
            ("safe", Parallel::Safe),
            ("shared", Parallel::Shared),
        ];
        let Some((_, said)) = said.into_iter().find(|(word, _)| self.skip(&[word])) else {
            return Err(self.expected("SAFE, UNSAFE or SHARED"));
        };
        match kind {
            Kind::Operator { parallel, .. } => *parallel = Some(said),
            _ if said == Parallel::Safe => {}
            _ => {
                let what = format!(
                    "function {function} is no operator: each partition has an instance of its own"
                );
                return Err(Error::Statement(what));
            }
        }
        Ok(())
    }

    fn options(&mut self) -> Result<Options, Error> {
        let mut options = Options::default();
        if !self.skip(&["with"]) {
            return Ok(options);
        }
        self.expect(&Token::LParen)?;
        loop {
            let name = self.name("an option (memory, deadline, bounds, rows, reuse)")?;
            self.expect(&Token::Eq)?;
            let value = self.string("its value, in quotes")?;
            set(&mut options, &name, &value).map_err(Error::Statement)?;
            if !self.skip_token(&Token::Comma) {
                return self.expect(&Token::RParen).map(|()| options);
            }
        }
    }
}

fn set(options: &mut Options, name: &str, value: &str) -> Result<(), String> {
    match name {
        "memory" => {
            let bytes = bytes(value);
            options.memory_bytes =
                bytes.ok_or_else(|| format!("no size such as 64 MiB: {value}"))?;
        }
        "deadline" => {
            let time = time(value);
            options.deadline =
                time.ok_or_else(|| format!("no time such as 500ms or 2s, at most a day: {value}"))?;
        }
        "bounds" => options.bounds = strategy(value)?,
        "rows" => {
            let rows = value.parse();
            options.rows_max = rows.map_err(|_| format!("no number of rows: {value}"))?;
        }
        "reuse" => {
            options.reuse = match value {
                "on" => true,
                "off" => false,
                _ => return Err(format!("reuse is on or off, not {value}")),
            };
        }
        other => {
            return Err(format!(
                "no option {other}; there are memory, deadline, bounds, rows and reuse"
            ));
        }
    }
    Ok(())
}

/// A strategy by its name. What is no sandbox is not for users' code.
fn strategy(value: &str) -> Result<BoundsChoice, String> {
    let choice: BoundsChoice = value.parse().map_err(|error| format!("{error}"))?;
    match value {
        "none" => {
            Err("bounds none is no sandbox: a function could read the whole process".to_owned())
        }
        _ => Ok(choice),
    }
}

/// A number and its unit.
fn split(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim()))
}

fn bytes(text: &str) -> Option<usize> {
    let (number, unit) = split(text)?;
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "kib" | "kb" => 10,
        "mib" | "mb" => 20,
        "gib" | "gb" => 30,
        _ => return None,
    };
    number.checked_mul(1 << shift)?.try_into().ok()
}

/// More than nothing, and at most a day.
fn time(text: &str) -> Option<Duration> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let time = match split(text)? {
        (number, "ms") => Duration::from_millis(number),
        (number, "s") => Duration::from_secs(number),
        (number, "m" | "min") => Duration::from_secs(number.checked_mul(60)?),
        _ => return None,
    };
    (time > Duration::ZERO && time <= DAY).then_some(time)
}

#[cfg(test)]
mod tests;
