//! `fathom.toml` in the working folder: what options are where the command line does not
//! say.
//!
//! ```text
//!  command line ─▶ clap ─▶ what it gives ─┐
//!  fathom.toml ─▶ its keys, each an option ┴─▶ Taken ─▶ defaults, which clap reads again
//! ```
//!
//! What must stay true: an option that was given wins; what is taken is recorded with the
//! campaign, so it goes on the same way without the file; a key or a value that means
//! nothing is refused with its line, as the option itself refuses it.

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, bail};
use clap::builder::Resettable;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, Id};
use fathom_sys::regular;
use serde::Deserialize;
use toml::Spanned;

/// The file's name.
pub const FILE: &str = "fathom.toml";

/// The command that runs a program, within limits.
const RUN: &str = "run";
/// Commands that measure. The first has every option for which the file has a key.
const MEASURING: [&str; 4] = ["bench", "suite", "reproduce", "waterfall"];
/// Who says one of these has said how long.
const HOW_LONG: [&str; 5] = ["rounds", "budget", "width", "detect", "quick"];
/// With one of these a campaign has said all, or nothing is measured.
const SAID_ALL: [&str; 2] = ["resume", "page-only"];

/// The file: every key is an option of that name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    #[serde(default)]
    engines: Vec<Spanned<Value>>,
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

/// A value as on the command line; a plain number needs no quotes. What it may be, the option
/// says.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Value(toml::Value);

impl Value {
    fn word(&self) -> String {
        match &self.0 {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// What the file says of one option; nothing if there are no values.
type Key = (&'static str, Vec<Spanned<Value>>);

impl File {
    /// Options of what measures, and of what runs.
    fn keys(self) -> (Vec<Key>, Vec<Key>) {
        let limits = self.limits;
        let measuring = [
            ("rounds", self.rounds),
            ("budget", self.budget),
            ("time-limit", self.time_limit),
            ("wait-idle", self.wait_idle),
        ];
        let running = [
            ("timeout", limits.timeout),
            ("fuel", limits.fuel),
            ("max-memory", limits.max_memory),
            ("max-tables", limits.max_tables),
            ("max-table-elements", limits.max_table_elements),
            ("max-threads", limits.max_threads),
        ];
        let one = |(option, value): (_, Option<_>)| (option, value.into_iter().collect());
        let engines = std::iter::once(("engines", self.engines));
        (
            engines.chain(measuring.into_iter().map(one)).collect(),
            running.into_iter().map(one).collect(),
        )
    }
}

/// What a command takes from the file.
#[derive(Debug)]
pub struct Taken {
    command: String,
    options: Vec<(&'static str, String)>,
}

impl Taken {
    /// What the command of this line takes from the file of a folder, if anything.
    ///
    /// # Errors
    /// A file that cannot be read, or says something that means nothing.
    pub fn of(cli: &Command, line: &ArgMatches, folder: &Path) -> anyhow::Result<Option<Taken>> {
        let Some((name, line)) = line.subcommand() else {
            return Ok(None);
        };
        let is_running = name == RUN;
        let command = cli.find_subcommand(name);
        let Some(command) = command.filter(|_| is_running || MEASURING.contains(&name)) else {
            return Ok(None);
        };
        let text = match regular::read_to_string(&folder.join(FILE)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).context(FILE),
        };
        let (measuring, running) = read(&text, cli)?;
        let mut options = match is_running {
            true => running,
            false => measuring,
        };
        let open = Open::of(command, line);
        options.retain(|(option, _)| open.has(option));
        let command = name.to_owned();
        Ok((!options.is_empty()).then_some(Taken { command, options }))
    }

    /// The command line with that for defaults.
    pub fn below(&self, cli: Command) -> Command {
        cli.mut_subcommand(&self.command, |command| {
            command.mut_args(|arg| {
                let is_it = |(option, _): &&(&str, _)| arg.get_long() == Some(option);
                match self.options.iter().find(is_it) {
                    // Wanted for as long as there is a command line: all of the process.
                    Some((_, value)) => arg.default_value(&*value.clone().leak()),
                    None => arg,
                }
            })
        })
    }

    /// The words by which the command line would have said it.
    pub fn words(&self) -> impl Iterator<Item = String> {
        let options = self.options.iter();
        options.flat_map(|(option, value)| [format!("--{option}"), value.clone()])
    }

    /// A line about that, of what measures.
    pub fn remark(&self) -> Option<String> {
        let words: Vec<String> = self.words().collect();
        (self.command != RUN).then(|| format!("{FILE}: {}", words.join(" ")))
    }
}

/// What a command line leaves open.
struct Open<'a> {
    command: &'a Command,
    given: BTreeSet<&'a str>,
    says_all: bool,
}

impl Open<'_> {
    fn of<'a>(command: &'a Command, line: &ArgMatches) -> Open<'a> {
        let is_given = |arg: &&Arg| {
            let id = arg.get_id();
            line.ids().any(|given| given == id)
                && line.value_source(id.as_str()) == Some(ValueSource::CommandLine)
        };
        let given = command.get_arguments().filter(is_given);
        let given: BTreeSet<&str> = given.filter_map(Arg::get_long).collect();
        Open {
            command,
            says_all: line.subcommand().is_some()
                || SAID_ALL.iter().any(|option| given.contains(option)),
            given,
        }
    }

    fn has(&self, option: &str) -> bool {
        let mut all = self.command.get_arguments();
        let is_said = match HOW_LONG.contains(&option) {
            true => HOW_LONG.iter().any(|other| self.given.contains(other)),
            false => self.given.contains(option),
        };
        !self.says_all && !is_said && all.any(|arg| arg.get_long() == Some(option))
    }
}

/// Options of what measures and of what runs, each with a value that it takes.
type Options = Vec<(&'static str, String)>;

fn read(text: &str, cli: &Command) -> anyhow::Result<(Options, Options)> {
    let file: File = toml::from_str(text).map_err(|error| {
        let place = error.span().map_or(String::new(), |span| line(text, &span));
        anyhow::anyhow!("{FILE}:{place} {}", error.message().replace('\n', " "))
    })?;
    let (measuring, running) = file.keys();
    let read = |name: &str, keys| {
        let command = cli.find_subcommand(name).context("no such command")?;
        read_keys(text, command, keys)
    };
    Ok((read(MEASURING[0], measuring)?, read(RUN, running)?))
}

fn read_keys(text: &str, command: &Command, keys: Vec<Key>) -> anyhow::Result<Options> {
    let mut options = Options::new();
    for (option, values) in keys {
        let mut all = command.get_arguments();
        let arg = all.find(|arg| arg.get_long() == Some(option));
        let arg = arg.with_context(|| format!("no --{option}"))?;
        for value in &values {
            if let Err(why) = check(arg, &value.get_ref().word()) {
                bail!("{FILE}:{} {why}", line(text, &value.span()));
            }
        }
        let words: Vec<String> = values.iter().map(|value| value.get_ref().word()).collect();
        if !words.is_empty() {
            options.push((option, words.join(",")));
        }
    }
    Ok(options)
}

/// Whether an option takes a value; if not, what it says of it on the command line.
fn check(arg: &Arg, value: &str) -> Result<(), String> {
    let option = arg.get_long().unwrap_or_default();
    // The options that it may not stand beside are not in this command.
    let arg = arg.clone().conflicts_with(Resettable::<Id>::Reset);
    let alone = Command::new(FILE).no_binary_name(true).arg(arg);
    match alone.try_get_matches_from([format!("--{option}={value}")]) {
        Ok(_) => Ok(()),
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Err(first.trim_start_matches("error: ").to_owned())
        }
    }
}

/// ` line N:`, of where this begins.
fn line(text: &str, span: &Range<usize>) -> String {
    let before = &text.as_bytes()[..span.start.min(text.len())];
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    format!(" line {}:", lines + 1)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use clap::CommandFactory;
    use fathom_bench::choose::Wanted;

    use super::*;
    use crate::Cli;

    /// What a line takes from a file, as it is recorded, and the line as clap reads it then.
    fn with(file: &str, line: &str) -> anyhow::Result<(String, ArgMatches)> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join(FILE), file)?;
        let mut cli = Cli::command();
        cli.build();
        let words = line.split(' ');
        let matches = Cli::command().try_get_matches_from(words.clone())?;
        let taken = Taken::of(&cli, &matches, folder.path())?;
        let recorded: Vec<String> = taken.iter().flat_map(Taken::words).collect();
        let mut matches = match &taken {
            Some(taken) => taken.below(Cli::command()).try_get_matches_from(words)?,
            None => matches,
        };
        let (_, matches) = matches.remove_subcommand().context("no command")?;
        Ok((recorded.join(" "), matches))
    }

    fn engines(line: &ArgMatches) -> String {
        let all = line.get_many::<Wanted>("engines").unwrap();
        all.map(|one| format!("{one} ")).collect()
    }

    fn taken(file: &str, line: &str) -> String {
        with(file, line).unwrap().0
    }

    const FULL: &str = "engines = [\"fathom:guard\", \"native\"]\nrounds = 9\nbudget = \"5m\"\n\
                        time-limit = \"2m\"\nwait-idle = 0\n\
                        [limits]\nmax-memory = \"64M\"\nfuel = 7\nmax-threads = 2\n";
    const ALL: &str =
        "--engines fathom:guard,native --rounds 9 --budget 5m --time-limit 2m --wait-idle 0";

    #[test]
    fn what_is_not_given_comes_from_the_file() {
        let line = "fathom --root /x bench a.wasm -- --rounds 3";
        let (recorded, bench) = with(FULL, line).unwrap();
        assert_eq!(recorded, ALL);
        assert_eq!(engines(&bench), "fathom:guard native ");
        assert_eq!(bench.get_one("rounds"), Some(&9_u32));
        assert_eq!(bench.get_one("wait_idle"), Some(&Duration::ZERO));
        assert_eq!(taken(FULL, "fathom suite libsodium --out sql"), ALL);
        for line in ["fathom reproduce libsodium-2023", "fathom suite sql"] {
            assert_eq!(taken(FULL, line), ALL);
        }
        let (recorded, run) = with(FULL, "fathom run a.wasm").unwrap();
        assert_eq!(recorded, "--fuel 7 --max-memory 64M --max-threads 2");
        assert_eq!(run.get_one("max_memory"), Some(&(64_u64 << 20)));
        assert_eq!(run.get_one("max_threads"), Some(&2_usize));
        for untouched in [
            "fathom doctor",
            "fathom bench --resume x",
            "fathom reproduce libsodium-2023 --page-only",
        ] {
            assert_eq!(taken(FULL, untouched), "", "{untouched}");
        }
    }

    #[test]
    fn what_is_given_wins() {
        let (recorded, bench) = with(FULL, "fathom bench --engines=node --budget 7m").unwrap();
        assert_eq!(recorded, "--time-limit 2m --wait-idle 0");
        assert_eq!(engines(&bench), "node ");
        assert_eq!(bench.get_one::<u32>("rounds"), None);
        assert_eq!(bench.get_one("budget"), Some(&Duration::from_secs(7 * 60)));
        let fall = "--rounds 9 --budget 5m --time-limit 2m --wait-idle 0";
        assert_eq!(taken(FULL, "fathom waterfall a"), fall);
        let quick = "--engines fathom:guard,native --time-limit 2m --wait-idle 0";
        for line in
            ["--quick", "--width 2%", "--detect 2%"].map(|how| format!("fathom bench {how}"))
        {
            assert_eq!(taken(FULL, &line), quick);
        }
        let (recorded, run) = with(FULL, "fathom run --max-threads 8 a").unwrap();
        assert_eq!(recorded, "--fuel 7 --max-memory 64M");
        assert_eq!(run.get_one("max_threads"), Some(&8_usize));
    }

    #[test]
    fn what_means_nothing_is_refused_with_its_line() {
        let refused = |file: &str| {
            let error = with(file, "fathom bench").err().unwrap().to_string();
            assert!(!error.contains('\n'), "{error}");
            error
        };
        let unknown = refused("rounds = 3\nengins = []\n");
        assert!(
            unknown.starts_with("fathom.toml: line 2: unknown field `engins`"),
            "{unknown}"
        );
        for (file, words) in [
            ("\nrounds = 0", "line 2: invalid value '0' for '--rounds"),
            ("budget = \"soon\"", "line 1: invalid value 'soon' for '--b"),
            (
                "[limits]\n\nmax-memory = \"x\"",
                "line 3: invalid value 'x'",
            ),
            ("engines = [\n\"\"]", "line 2:"),
            ("rounds = ", "line 1:"),
            ("rounds = [3]", "line 1: invalid value '[3]' for '--rounds"),
            (
                "rounds = true",
                "line 1: invalid value 'true' for '--rounds",
            ),
            (
                "[limits]\nfuel = -1",
                "line 2: invalid value '-1' for '--fuel",
            ),
            (
                "[limits]\ntimeout = -1",
                "line 2: invalid value '-1' for '--timeout",
            ),
        ] {
            let error = refused(file);
            assert!(error.contains(words), "{error}");
        }
    }
}
