//! The prompt: lines with history and completion, which together are statements.
//!
//! ```text
//!  a line ─► with those before it ─► `Script` ─► statements that are whole
//!  Ctrl-C  abandons what was written so far, or the query that runs
//!  Ctrl-D  ends
//! ```

use std::{borrow::Cow, path::PathBuf};

use anyhow::Context as _;
use fathom_sql::{
    Session,
    script::{Script, Unread},
};
use rustyline::{
    Context, Editor, Helper,
    completion::{Completer, FilenameCompleter, Pair},
    error::ReadlineError,
    highlight::Highlighter,
    hint::Hinter,
    history::FileHistory,
    validate::Validator,
};

/// Statements that are kept.
const HISTORY_MAX: usize = 1000;

const KEYWORDS: [&str; 43] = [
    "AGGREGATE",
    "AND",
    "AS",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "COUNT",
    "CREATE",
    "DESC",
    "DISTINCT",
    "DROP",
    "ELSE",
    "END",
    "EXISTS",
    "EXPLAIN",
    "FROM",
    "FULL",
    "FUNCTION",
    "GROUP",
    "HAVING",
    "JOIN",
    "LANGUAGE",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NOT",
    "NULL",
    "ORDER",
    "OVER",
    "PARALLEL",
    "PARTITION",
    "REPLACE",
    "RETURNS",
    "SELECT",
    "SHARED",
    "TABLE",
    "THEN",
    "UNION",
    "VALUES",
    "WHEN",
    "WHERE",
    "WITH",
];

/// Where lines come from.
pub struct Prompt {
    editor: Editor<Words, FileHistory>,
    history: Option<PathBuf>,
    /// What was written and not run.
    script: Script,
}

/// What was read.
pub enum Line {
    /// One or more statements.
    Statements(Result<String, Unread>),
    /// Nothing more comes; what was left of a statement.
    End(Option<Result<String, Unread>>),
}

impl Prompt {
    /// One with the history of earlier ones.
    ///
    /// # Errors
    /// The terminal cannot be used.
    pub fn new() -> anyhow::Result<Prompt> {
        let config = rustyline::Config::builder()
            .max_history_size(HISTORY_MAX)?
            .auto_add_history(false)
            .build();
        let mut editor = Editor::with_config(config).context("the terminal")?;
        editor.set_helper(Some(Words::default()));
        let history = history_file();
        if let Some(file) = &history {
            // The first time there is none.
            let _ = editor.load_history(file);
        }
        Ok(Prompt {
            editor,
            history,
            script: Script::default(),
        })
    }

    /// The next statements.
    ///
    /// # Errors
    /// The terminal fails.
    pub fn read(&mut self, session: &Session) -> anyhow::Result<Line> {
        if let Some(words) = self.editor.helper_mut() {
            words.names = session.names();
        }
        let dialect = session.dialect();
        loop {
            let prompt = match self.script.is_begun() {
                false => "sql> ",
                true => "...> ",
            };
            match self.editor.readline(prompt) {
                Ok(line) => self.script.push(format!("{line}\n").as_bytes()),
                Err(ReadlineError::Interrupted) => {
                    self.abandon();
                    continue;
                }
                Err(ReadlineError::Eof) => {
                    return Ok(Line::End(self.script.rest(dialect.as_ref())));
                }
                Err(error) => return Err(error).context("the terminal"),
            }
            if let Some(whole) = self.script.whole(dialect.as_ref()) {
                if let Ok(text) = &whole {
                    self.keep(text);
                }
                return Ok(Line::Statements(whole));
            }
        }
    }

    /// Forgets what was written and not run.
    pub fn abandon(&mut self) {
        self.script = Script::default();
    }

    /// Adds statements to the history. That it cannot be kept is no reason to stop.
    fn keep(&mut self, text: &str) {
        let _ = self.editor.add_history_entry(text.trim());
        if let Some(file) = &self.history {
            let _ = file.parent().map(std::fs::create_dir_all);
            let _ = self.editor.append_history(file);
        }
    }
}

/// As the XDG base directory specification has it.
fn history_file() -> Option<PathBuf> {
    let folder = |name: &str| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    let own = || folder("HOME").map(|home| home.join(".local/state"));
    let state = folder("XDG_STATE_HOME").or_else(own)?;
    Some(state.join("fathom/sql-history"))
}

/// What can be written: keywords, tables and functions; files between quotes.
#[derive(Default)]
struct Words {
    names: Vec<String>,
    files: FilenameCompleter,
}

impl Words {
    /// Words that begin as this one, in the case that it is written in.
    fn words(&self, begun: &str) -> Vec<Pair> {
        let is_small = !begun.contains(|c: char| c.is_ascii_uppercase());
        let keywords = KEYWORDS.iter().map(|word| match is_small {
            true => Cow::Owned(word.to_ascii_lowercase()),
            false => Cow::Borrowed(*word),
        });
        let names = self.names.iter().map(|name| Cow::Borrowed(name.as_str()));
        let begins = |word: &Cow<'_, str>| {
            let start = word.get(..begun.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(begun))
        };
        let mut found: Vec<String> = names
            .chain(keywords)
            .filter(begins)
            .map(Cow::into_owned)
            .collect();
        found.sort();
        found.dedup();
        let pair = |word: String| Pair {
            display: word.clone(),
            replacement: word,
        };
        found.into_iter().map(pair).collect()
    }
}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..at];
        if before.matches('\'').count() % 2 == 1 {
            return self.files.complete(line, at, context);
        }
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let start = before.rfind(|c| !is_part(c));
        let start = start.map_or(0, |last| {
            last + before[last..].chars().next().map_or(0, char::len_utf8)
        });
        let begun = &before[start..];
        match begun.is_empty() {
            true => Ok((at, Vec::new())),
            false => Ok((start, self.words(begun))),
        }
    }
}

impl Helper for Words {}
impl Highlighter for Words {}
impl Validator for Words {}

impl Hinter for Words {
    type Hint = String;
}

#[cfg(test)]
mod tests {
    use rustyline::history::DefaultHistory;

    use super::*;

    fn completed(line: &str) -> (usize, Vec<String>) {
        let names = ["wasm_gcd", "Wide", "points"].map(str::to_owned);
        let words = Words {
            names: names.into(),
            ..Words::default()
        };
        let history = DefaultHistory::new();
        let context = Context::new(&history);
        let (start, found) = words.complete(line, line.len(), &context).unwrap();
        (
            start,
            found.into_iter().map(|pair| pair.replacement).collect(),
        )
    }

    #[test]
    fn words_are_completed_in_their_case() {
        assert_eq!(completed("sel"), (0, vec!["select".to_owned()]));
        assert_eq!(completed("SELECT * FR"), (9, vec!["FROM".to_owned()]));
        let (start, found) = completed("select w");
        assert_eq!(start, 7);
        assert_eq!(found, ["Wide", "wasm_gcd", "when", "where", "with"]);
        assert_eq!(completed("select wasm_g").1, ["wasm_gcd"]);
        assert_eq!(completed("é"), (0, vec![]));
        assert_eq!(
            completed("select é,p").1,
            ["parallel", "partition", "points"]
        );
        assert_eq!(completed("select "), (7, vec![]));
        assert_eq!(completed(""), (0, vec![]));
    }

    #[test]
    fn files_are_completed_between_quotes() {
        let folder = env!("CARGO_MANIFEST_DIR");
        let (_, found) = completed(&format!("SELECT * FROM '{folder}/Cargo.to"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].ends_with("Cargo.toml"), "{found:?}");
        // Behind the quote that ends it words come again.
        assert_eq!(completed("SELECT * FROM 'a.csv' wher").1, ["where"]);
    }
}
