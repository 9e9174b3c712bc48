//! `fathom suite sql`: hands over to `fathom-sql-suite`, which measures functions in SQL.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::invocation::Invocation;
use crate::sql::Program;

/// Functions in SQL beside native code; a checkout builds the program for it
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
In a checkout the program is built first, again when its sources have changed, and with Apache
DataFusion for the part `plain`, which takes long. `make sql-suite` also installs what the
functions are compiled with. What it takes: fathom suite sql -- --help; what it has measured:
docs/SQL.md")]
pub struct Args {
    /// Handed over as they are, such as kmeans --points 1000000
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

const SUITE: Program = Program {
    name: "fathom-sql-suite",
    what: "measuring SQL",
    first: "to measure functions in SQL, once: this takes minutes",
    features: &[],
};

/// With queries.
const QUERIES: Program = Program {
    first: "to measure functions in SQL, with Apache DataFusion, once: this takes long",
    features: &["datafusion"],
    ..SUITE
};

/// The part that consists of queries.
const PLAIN: &str = "plain";

/// Becomes that program.
///
/// # Errors
/// There is none, and no checkout to build it from.
pub fn run(args: &Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let program = match args.args.iter().any(|word| word == PLAIN) {
        true => QUERIES,
        false => SUITE,
    };
    program.become_it(&args.args, invocation)
}
