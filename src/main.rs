//! The command line: one module for each command.
//!
//! A module has `Args` (what clap reads) and `run` (what it does). What must
//! stay true: an error is one line on stderr, `fathom: what: why: …`, and exit
//! status 1; a wrong command line is status 2; a guest's own status is passed
//! through by `run`. Nothing a user can cause panics.

mod bench;
mod compare;
mod doctor;
mod probe;
mod report;
mod run;
mod runner;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What WebAssembly costs: on every engine, under every memory-safety
/// strategy, beside native code, and why.
#[derive(Parser)]
#[command(name = "fathom", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(Box<bench::Args>),
    /// Say what this machine can and cannot do, and what to do about it
    Doctor(doctor::Args),
    Report(report::Args),
    Compare(compare::Args),
    Probe(probe::Args),
    /// Run a WASI program on our engine
    Run(run::Args),
    #[command(hide = true)]
    Runner(runner::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Bench(args) => bench::run(*args),
        Command::Doctor(args) => doctor::run(args),
        Command::Report(args) => report::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Probe(args) => probe::run(args),
        Command::Run(args) => run::run(args),
        Command::Runner(args) => runner::run(args),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("{}", one_line(&error));
        ExitCode::FAILURE
    })
}

/// The error and its causes in one line, whatever they contain. A cause that
/// the line above it already quotes is not said twice.
fn one_line(error: &anyhow::Error) -> String {
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
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn an_error_is_one_line_and_says_nothing_twice() {
        let cause = anyhow::anyhow!("line one\nline two");
        let error = cause.context("a.wasm");
        assert_eq!(one_line(&error), "fathom: a.wasm: line one line two");
        let repeated = anyhow::anyhow!("gone").context("open: gone");
        assert_eq!(one_line(&repeated), "fathom: open: gone");
    }
}
