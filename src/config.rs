//! `fathom.toml` in the working folder: what options are where the command line does not
//! say.
//!
//! ```text
//!  words of the command line ─┐
//!  fathom.toml ───────────────┴─▶ words with options put behind the command's name
//! ```
//!
//! What must stay true: an option that was given wins; a campaign records the words that
//! were put in, so it goes on the same way without the file; a key or a value that means
//! nothing is refused with its line.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, bail};
use fathom_bench::choose::Wanted;
use fathom_sys::regular;
use serde::Deserialize;
use toml::Spanned;

use crate::bench::args::duration;
use crate::run::code::bytes;

/// The file's name.
pub const FILE: &str = "fathom.toml";

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Config {
    engines: Option<Vec<Spanned<String>>>,
    rounds: Option<Spanned<Value>>,
    budget: Option<Spanned<Value>>,
    time_limit: Option<Spanned<Value>>,
    wait_idle: Option<Spanned<Value>>,
    #[serde(default)]
    limits: Limits,
}

/// What `fathom run` allows a program.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Limits {
    timeout: Option<Spanned<Value>>,
    fuel: Option<Spanned<Value>>,
    max_memory: Option<Spanned<Value>>,
    max_tables: Option<Spanned<Value>>,
    max_table_elements: Option<Spanned<Value>>,
    max_threads: Option<Spanned<Value>>,
}

/// A value as on the command line; a plain number needs no quotes.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Value {
    Number(u64),
    Text(String),
}

impl Value {
    fn word(&self) -> String {
        match self {
            Value::Number(number) => number.to_string(),
            Value::Text(text) => text.clone(),
        }
    }
}

/// An option with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Added {
    option: &'static str,
    value: String,
}

/// The words of the command line with what the file of the folder adds, and a line about
/// that.
///
/// # Errors
/// A file that cannot be read, or says something that means nothing.
pub fn completed(
    words: Vec<OsString>,
    folder: &Path,
) -> anyhow::Result<(Vec<OsString>, Option<String>)> {
    let Some(at) = command_at(&words) else {
        return Ok((words, None));
    };
    let command = words[at].to_str().unwrap_or_default().to_owned();
    let is_measuring = match command.as_str() {
        "bench" | "suite" | "reproduce" | "waterfall" => true,
        "run" => false,
        _ => return Ok((words, None)),
    };
    let path = folder.join(FILE);
    let text = match regular::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((words, None)),
        Err(error) => return Err(error).context(FILE),
    };
    let config = parse(&text)?;
    let given = Given(&words[at..]);
    let added = match is_measuring {
        // One program on one engine, which the command line names.
        true if command == "waterfall" => pace(&config, &given),
        // A server is driven, or another program measures: there are no engines to choose, and its
        // times are others.
        true if command == "suite" && given.names_any(&["http", "sql"]) => Vec::new(),
        true => measuring(&config, &given),
        false => running(&config.limits, &given),
    };
    if added.is_empty() {
        return Ok((words, None));
    }
    let put: Vec<String> = added
        .into_iter()
        .flat_map(|one| [one.option.to_owned(), one.value])
        .collect();
    let line = is_measuring.then(|| format!("{FILE}: {}", put.join(" ")));
    let mut all = words;
    all.splice(at + 1..at + 1, put.into_iter().map(OsString::from));
    Ok((all, line))
}

/// Where the command's name stands.
fn command_at(words: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.to_str() {
            Some("--root") => at += 2,
            Some(word) if word.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
    None
}

/// The words of a command line before what belongs to the program.
struct Given<'a>(&'a [OsString]);

impl Given<'_> {
    fn has(&self, option: &str) -> bool {
        let own = self.0.iter().take_while(|word| *word != OsStr::new("--"));
        own.filter_map(|word| word.to_str()).any(|word| {
            let rest = word.strip_prefix(option);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    }

    /// Whether a word is one of these names, and no folder that an option is given.
    fn names_any(&self, names: &[&str]) -> bool {
        let folders = ["--out", "--root", "--resume"].map(OsStr::new);
        let is_one = |word: &OsString| names.iter().any(|name| word == name);
        let mut pairs = self.0.windows(2);
        pairs.any(|pair| is_one(&pair[1]) && !folders.contains(&pair[0].as_os_str()))
    }

    fn has_any(&self, options: &[&str]) -> bool {
        options.iter().any(|option| self.has(option))
    }
}

fn measuring(config: &Config, given: &Given<'_>) -> Vec<Added> {
    let mut added = Vec::new();
    // A campaign that goes on has all of it in its own command line.
    if given.has_any(&["--resume", "--page-only"]) {
        return added;
    }
    if let Some(engines) = &config.engines
        && !given.has("--engines")
    {
        let names: Vec<&str> = engines.iter().map(|name| name.as_ref().as_str()).collect();
        added.push(Added {
            option: "--engines",
            value: names.join(","),
        });
    }
    added.extend(pace(config, given));
    added
}

fn pace(config: &Config, given: &Given<'_>) -> Vec<Added> {
    let mut added = Vec::new();
    if given.has("--resume") {
        return added;
    }
    // Who says anything of how long has said how long.
    let is_free = !given.has_any(&["--rounds", "--budget", "--width", "--quick"]);
    let length = [("--rounds", &config.rounds), ("--budget", &config.budget)];
    push(&mut added, length.into_iter().filter(|_| is_free), given);
    let others = [
        ("--time-limit", &config.time_limit),
        ("--wait-idle", &config.wait_idle),
    ];
    push(&mut added, others, given);
    added
}

fn running(limits: &Limits, given: &Given<'_>) -> Vec<Added> {
    let mut added = Vec::new();
    let all = [
        ("--timeout", &limits.timeout),
        ("--fuel", &limits.fuel),
        ("--max-memory", &limits.max_memory),
        ("--max-tables", &limits.max_tables),
        ("--max-table-elements", &limits.max_table_elements),
        ("--max-threads", &limits.max_threads),
    ];
    push(&mut added, all, given);
    added
}

fn push<'a>(
    added: &mut Vec<Added>,
    options: impl IntoIterator<Item = (&'static str, &'a Option<Spanned<Value>>)>,
    given: &Given<'_>,
) {
    for (option, value) in options {
        if let Some(value) = value
            && !given.has(option)
        {
            added.push(Added {
                option,
                value: value.as_ref().word(),
            });
        }
    }
}

fn parse(text: &str) -> anyhow::Result<Config> {
    let config: Config = toml::from_str(text).map_err(|error| {
        let place = error.span().map_or(String::new(), |span| line(text, &span));
        anyhow::anyhow!("{FILE}:{place} {}", error.message().replace('\n', " "))
    })?;
    check(text, &config)?;
    Ok(config)
}

/// ` line N:`, of where this begins.
fn line(text: &str, span: &Range<usize>) -> String {
    let before = &text.as_bytes()[..span.start.min(text.len())];
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    format!(" line {}:", lines + 1)
}

/// Whether every value is one that its option takes.
fn check(text: &str, config: &Config) -> anyhow::Result<()> {
    let refuse = |span: Range<usize>, why: String| -> anyhow::Result<()> {
        bail!("{FILE}:{} {why}", line(text, &span))
    };
    for engine in config.engines.iter().flatten() {
        if let Err(why) = engine.as_ref().parse::<Wanted>() {
            refuse(engine.span(), why.to_string())?;
        }
    }
    let limits = &config.limits;
    let time = |word: &str| duration(word).err().map(|error| format!("{error:#}"));
    let size = |word: &str| bytes(word).err();
    let number = |word: &str| {
        let count = word.parse::<u64>().ok().filter(|count| *count > 0);
        count.is_none().then(|| "a whole number above 0".to_owned())
    };
    type Check<'a> = &'a dyn Fn(&str) -> Option<String>;
    let all: [(&str, &Option<Spanned<Value>>, Check<'_>); 10] = [
        ("rounds", &config.rounds, &number),
        ("budget", &config.budget, &time),
        ("time-limit", &config.time_limit, &time),
        ("wait-idle", &config.wait_idle, &time),
        ("timeout", &limits.timeout, &time),
        ("fuel", &limits.fuel, &number),
        ("max-memory", &limits.max_memory, &size),
        ("max-tables", &limits.max_tables, &number),
        ("max-table-elements", &limits.max_table_elements, &number),
        ("max-threads", &limits.max_threads, &number),
    ];
    for (key, value, check) in all {
        let Some(value) = value else { continue };
        let word = value.as_ref().word();
        if let Some(why) = check(&word) {
            refuse(value.span(), format!("{key} = {word:?}: {why}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn with(file: &str, line: &str) -> anyhow::Result<String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), file).unwrap();
        let words = line.split(' ').map(OsString::from).collect();
        let (words, _) = completed(words, folder.path())?;
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        Ok(words.join(" "))
    }

    const FULL: &str = "engines = [\"fathom:guard\", \"native\"]\nrounds = 9\n\
                        time-limit = \"2m\"\nwait-idle = 0\n[limits]\nmax-memory = \"64M\"\nfuel = 7\n";

    #[test]
    fn what_is_not_given_comes_from_the_file() {
        let all = "fathom --root /x bench --engines fathom:guard,native --rounds 9 \
                   --time-limit 2m --wait-idle 0 a.wasm -- --rounds 3";
        let given = "fathom --root /x bench a.wasm -- --rounds 3";
        assert_eq!(with(FULL, given).unwrap(), all);
        let folder = "fathom suite --engines fathom:guard,native --rounds 9 --time-limit 2m \
                      --wait-idle 0 libsodium --out http";
        assert_eq!(
            with(FULL, "fathom suite libsodium --out http").unwrap(),
            folder
        );
        let limits = "fathom run --fuel 7 --max-memory 64M a.wasm";
        assert_eq!(with(FULL, "fathom run a.wasm").unwrap(), limits);
        for untouched in [
            "fathom doctor",
            "fathom",
            "fathom bench --resume x",
            "fathom suite http --quick",
            "fathom suite sql kmeans --points 3",
        ] {
            assert_eq!(with(FULL, untouched).unwrap(), untouched);
        }
    }

    #[test]
    fn what_is_given_wins() {
        let given = "fathom bench --engines=node --budget 5m";
        let all = "fathom bench --time-limit 2m --wait-idle 0 --engines=node --budget 5m";
        assert_eq!(with(FULL, given).unwrap(), all);
        let fall = "fathom waterfall --rounds 9 --time-limit 2m --wait-idle 0 a";
        assert_eq!(with(FULL, "fathom waterfall a").unwrap(), fall);
        let quick =
            "fathom bench --engines fathom:guard,native --time-limit 2m --wait-idle 0 --quick";
        assert_eq!(with(FULL, "fathom bench --quick").unwrap(), quick);
        let run = "fathom run --fuel 7 --max-memory 1G a";
        assert_eq!(with(FULL, "fathom run --max-memory 1G a").unwrap(), run);
    }

    #[test]
    fn what_means_nothing_is_refused_with_its_line() {
        let refused = |file: &str| {
            let error = with(file, "fathom bench").unwrap_err().to_string();
            assert!(!error.contains('\n'), "{error}");
            error
        };
        let unknown = refused("rounds = 3\nengins = []\n");
        assert!(
            unknown.starts_with("fathom.toml: line 2: unknown field `engins`"),
            "{unknown}"
        );
        for (file, words) in [
            ("\nrounds = 0", "line 2: rounds = \"0\": a whole number"),
            ("budget = \"soon\"", "line 1: budget = \"soon\": a time is"),
            ("[limits]\n\nmax-memory = \"x\"", "line 3: max-memory"),
            ("engines = [\n\"\"]", "line 2:"),
            ("rounds = ", "line 1:"),
        ] {
            let error = refused(file);
            assert!(error.contains(words), "{error}");
        }
    }
}
