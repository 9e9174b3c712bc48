//! `fathom runner NAME`: the inside of a measurement, started by `fathom bench`
//! and `fathom probe` for each question anew. It reads one request from
//! standard input and writes events to the descriptor it was given.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use fathom_bench::worker;

/// Serve one request of the runner protocol
#[derive(clap::Args)]
pub struct Args {
    /// Who serves it
    #[arg(value_enum)]
    engine: Served,
    /// The words of a command
    #[arg(last = true, value_name = "WORD")]
    words: Vec<OsString>,
    /// Try a command on a program whose answer is known
    #[arg(long, conflicts_with = "clang")]
    check: bool,
    /// Where clang is, or zig, for the code generator that needs it
    #[arg(long, value_name = "PATH")]
    clang: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Served {
    /// Our engine
    Fathom,
    /// The host's own processor
    Native,
    /// A command that runs a program of WASI
    Command,
}

/// Serves the request.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    Ok(match args.engine {
        Served::Fathom => worker::serve(|request, emitter| {
            worker::fathom(request, args.clang.as_deref(), emitter)
        }),
        Served::Native => worker::serve(worker::native),
        Served::Command if args.words.is_empty() => bail!("no command"),
        Served::Command if args.check => {
            let says = worker::check_command(&args.words).map_err(anyhow::Error::msg)?;
            println!("{says}");
            ExitCode::SUCCESS
        }
        Served::Command => {
            worker::serve(|request, emitter| worker::command(&args.words, request, emitter))
        }
    })
}
