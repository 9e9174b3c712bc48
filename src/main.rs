//! The command line: one module for each command.
//!
//! A module has `Args` (what clap reads) and `run` (what it does). What must
//! stay true: an error is one line on stderr, `fathom: what: why: …`, and exit
//! status 1; a wrong command line is status 2; a guest's own status is passed
//! through by `run`. Nothing a user can cause panics.

// What a file says may be a command to the terminal: one_line.rs says things.
#![deny(clippy::print_stderr)]

#[macro_use]
mod one_line;

mod behind;
mod bench;
mod bisect;
mod compare;
mod completions;
mod config;
mod doctor;
mod engines;
mod explain;
mod history;
mod inputs;
mod invocation;
mod library;
mod manual;
mod merge;
mod module;
mod objdump;
mod probe;
mod profile;
mod record;
mod reduce;
mod replay;
mod report;
mod reproduce;
mod run;
mod runner;
mod site;
mod source;
mod sql;
mod stopped;
mod suite;
mod trace;
mod usage;
mod waterfall;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use config::Taken;
use fathom_sys::regular;
use invocation::Invocation;

/// What WebAssembly costs: on every engine, under every memory-safety
/// strategy, compared with native code, and where the time goes.
#[derive(Parser)]
#[command(name = "fathom", version, propagate_version = true)]
struct Cli {
    /// Take engines and suites from this checkout
    #[arg(
        long,
        global = true,
        value_name = "FOLDER",
        help_heading = "Everywhere"
    )]
    root: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a WASI program on our engine
    Run(run::Args),
    Objdump(objdump::Args),
    Bench(Box<bench::Args>),
    Bisect(Box<bisect::Args>),
    Suite(Box<suite::Args>),
    Sql(sql::Args),
    Probe(probe::Args),
    Trace(Box<trace::Args>),
    Explain(explain::Args),
    Waterfall(Box<waterfall::Args>),
    Profile(profile::Args),
    Record(record::Args),
    Replay(replay::Args),
    Reduce(reduce::Args),
    Report(report::Args),
    Compare(compare::Args),
    History(history::Args),
    Site(site::Args),
    Merge(merge::Args),
    Engines(engines::Args),
    Reproduce(reproduce::Args),
    /// Show what this machine supports, what it lacks, and how to get it
    Doctor(doctor::Args),
    Completions(completions::Args),
    Manual(manual::Args),
    #[command(hide = true)]
    Runner(runner::Args),
}

fn main() -> ExitCode {
    regular::outlive_size_limits();
    outcome().unwrap_or_else(|error| {
        one_line::say(&one_line::one_line(&error));
        stopped::status_of(&error)
    })
}

fn outcome() -> anyhow::Result<ExitCode> {
    let folder = std::env::current_dir().unwrap_or_default();
    let mut cli = Cli::command();
    cli.build();
    let words = behind::marked(std::env::args_os().collect(), &cli);
    let line = match Cli::command().try_get_matches_from(&words) {
        Ok(line) => line,
        Err(error) => return usage::tell(error, &cli),
    };
    let taken = Taken::of(&cli, &line, &folder)?;
    let line = match &taken {
        Some(taken) => taken.below(Cli::command()).try_get_matches_from(&words)?,
        None => line,
    };
    let cli = Cli::from_arg_matches(&line)?;
    if let Some(remark) = taken.as_ref().and_then(Taken::remark) {
        one_line::say(&remark);
    }
    let added = taken.iter().flat_map(Taken::words);
    let invocation = &Invocation::new(&words, added, cli.root);
    match cli.command {
        Command::Run(args) => run::run(args, invocation),
        Command::Objdump(args) => objdump::run(args, invocation),
        Command::Bench(args) => bench::run(*args, invocation),
        Command::Bisect(args) => bisect::run(*args, invocation),
        Command::Suite(args) => suite::run(*args, invocation),
        Command::Sql(args) => sql::run(args, invocation),
        Command::Probe(args) => probe::run(args, invocation),
        Command::Trace(args) => trace::run(*args, invocation),
        Command::Explain(args) => explain::run(args),
        Command::Waterfall(args) => waterfall::run(*args, invocation),
        Command::Profile(args) => profile::run(args, invocation),
        Command::Record(args) => record::run(args, invocation),
        Command::Replay(args) => replay::run(args),
        Command::Reduce(args) => reduce::run(args, invocation),
        Command::Report(args) => report::run(args),
        Command::Compare(args) => compare::run(args, invocation),
        Command::History(args) => history::run(args),
        Command::Site(args) => site::run(args),
        Command::Merge(args) => merge::run(args),
        Command::Engines(args) => engines::run(args, invocation),
        Command::Reproduce(args) => reproduce::run(args, invocation),
        Command::Doctor(args) => doctor::run(args, invocation),
        Command::Completions(args) => completions::run(args),
        Command::Manual(args) => manual::run(args),
        Command::Runner(args) => runner::run(args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
