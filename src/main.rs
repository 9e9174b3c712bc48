//! The command line: one module for each command.
//!
//! A module has `Args` (what clap reads) and `run` (what it does). What must
//! stay true: an error is one line on stderr, `fathom: what: why: …`, and exit
//! status 1; a wrong command line is status 2; a guest's own status is passed
//! through by `run`. Nothing a user can cause panics.

mod bench;
mod compare;
mod doctor;
mod engines;
mod objdump;
mod one_line;
mod probe;
mod report;
mod reproduce;
mod run;
mod runner;
mod suite;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What WebAssembly costs: on every engine, under every memory-safety
/// strategy, compared with native code, and where the time goes.
#[derive(Parser)]
#[command(name = "fathom", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a WASI program on our engine
    Run(run::Args),
    Objdump(objdump::Args),
    Bench(Box<bench::Args>),
    Suite(Box<suite::Args>),
    Probe(probe::Args),
    Report(report::Args),
    Compare(compare::Args),
    Engines(engines::Args),
    Reproduce(reproduce::Args),
    /// Say what this machine can and cannot do, and what to do about it
    Doctor(doctor::Args),
    #[command(hide = true)]
    Runner(runner::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Run(args) => run::run(args),
        Command::Objdump(args) => objdump::run(args),
        Command::Bench(args) => bench::run(*args),
        Command::Suite(args) => suite::run(*args),
        Command::Probe(args) => probe::run(args),
        Command::Report(args) => report::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Engines(args) => engines::run(args),
        Command::Reproduce(args) => reproduce::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Runner(args) => runner::run(args),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("{}", one_line::one_line(&error));
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
