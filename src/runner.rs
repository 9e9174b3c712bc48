//! `fathom runner NAME`: the inside of a measurement, started by `fathom bench`
//! and `fathom probe` for each question anew. It reads one request from
//! standard input and writes events to the descriptor it was given.

use std::process::ExitCode;

use fathom_bench::worker;

/// Serve one request of the runner protocol
#[derive(clap::Args)]
pub struct Args {
    /// Who serves it
    #[arg(value_enum)]
    engine: Served,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Served {
    /// Our engine
    Fathom,
    /// The host's own processor
    Native,
}

/// Serves the request.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    Ok(match args.engine {
        Served::Fathom => worker::serve(worker::fathom),
        Served::Native => worker::serve(worker::native),
    })
}
