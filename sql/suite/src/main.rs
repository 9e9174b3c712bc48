//! Measures functions and operators in WebAssembly beside native ones, without a query engine; and
//! with the feature `datafusion`, queries beside plain SQL.
//!
//! ```text
//!  calls, create, kmeans, model, plain, rows ─cells─► rounds ─series─► estimate ─► show
//! ```

mod calls;
mod create;
mod estimate;
mod host;
mod kmeans;
mod memory;
mod model;
mod module;
mod native;
#[cfg(feature = "datafusion")]
mod plain;
mod points;
mod rounds;
mod rows;
mod show;

use std::{
    num::{NonZeroU64, NonZeroUsize},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::Result;
use clap::{Parser, ValueEnum};

use crate::{module::Modules, rounds::Pace};

/// Measure what functions in SQL cost, beside native ones
#[derive(Parser)]
struct Args {
    /// What is measured [default: all but plain]
    #[arg(value_enum, hide_default_value = true, default_values_t = ALONE)]
    parts: Vec<Part>,
    /// Rounds at most, each of which has every cell once
    #[arg(long, default_value = "15")]
    rounds: NonZeroUsize,
    /// Seconds after which no further round of a table begins
    #[arg(long, default_value = "120")]
    seconds: NonZeroU64,
    /// Points that k-means is given
    #[arg(long, value_delimiter = ',', default_values = ["10000", "100000", "1000000"])]
    points: Vec<NonZeroUsize>,
    /// Bits of the addresses of its memory, 64 or 32, in kmeans and shared
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Bits::B64])]
    bits: Vec<Bits>,
    /// Strategies of kmeans and shared; the other parts have auto
    #[arg(long, value_delimiter = ',', default_values_t = module::STRATEGIES.map(str::to_owned))]
    bounds: Vec<String>,
    /// Code generators; calls, model and plain have the one that functions in SQL have
    #[arg(long, value_delimiter = ',', default_values_t = ["cranelift", "llvm"].map(str::to_owned))]
    codegen: Vec<String>,
    /// Measure without guards against speculation, which functions in SQL have; plain has them
    #[arg(long)]
    no_spectre: bool,
    /// Append each sample to this file, a line of JSON
    #[arg(long)]
    samples: Option<PathBuf>,
    /// Rows of collatz
    #[arg(long, default_value = "1000000")]
    collatz: NonZeroUsize,
    /// Where the modules of sql/operators/build.py are
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/operators"))]
    modules: PathBuf,
}

/// Parts that need no query engine.
const ALONE: [Part; 6] = [
    Part::Calls,
    Part::Model,
    Part::Create,
    Part::Rows,
    Part::Kmeans,
    Part::Shared,
];

#[derive(Clone, Copy, ValueEnum)]
enum Part {
    /// The cost model of a call, by a function that does nothing
    Calls,
    /// The same of each function: a call, a row, an instance
    Model,
    /// Compiling each module, as CREATE FUNCTION does
    Create,
    /// gcd and collatz
    Rows,
    /// The thesis's k-means
    Kmeans,
    /// The same on all threads, over one memory
    Shared,
    /// Queries with functions beside the same in plain SQL, where the program was built with
    /// DataFusion
    Plain,
}

/// Bits of an address.
#[derive(Clone, Copy, ValueEnum)]
enum Bits {
    #[value(name = "64")]
    B64,
    #[value(name = "32")]
    B32,
}

fn main() -> ExitCode {
    fathom_guest::keep_freed_memory();
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fathom-sql-suite: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    let folder = args.modules.clone();
    let modules = Modules::new(folder, &args.bounds, &args.codegen, !args.no_spectre)?;
    println!("{}\n", host::line());
    args.parts
        .iter()
        .try_for_each(|part| measure(*part, args, &modules))
}

fn measure(part: Part, args: &Args, modules: &Modules) -> Result<()> {
    let pace = Pace {
        rounds: args.rounds.get(),
        seconds: args.seconds.get(),
        samples: args.samples.as_deref(),
    };
    let points: Vec<usize> = args.points.iter().map(|count| count.get()).collect();
    match part {
        Part::Calls => calls::run(modules, pace),
        Part::Model => model::run(modules, pace),
        Part::Create => create::run(modules, pace),
        Part::Rows => rows::run(modules, pace, args.collatz.get()),
        Part::Kmeans | Part::Shared => args.bits.iter().try_for_each(|&bits| {
            let is_shared = matches!(part, Part::Shared);
            kmeans::run(modules, pace, &points, kmeans::How { bits, is_shared })
        }),
        #[cfg(feature = "datafusion")]
        Part::Plain => plain::run(&args.modules, pace, &points),
        #[cfg(not(feature = "datafusion"))]
        Part::Plain => anyhow::bail!(
            "plain: this program was built without DataFusion: \
             cargo build --release --package fathom-sql-suite --features datafusion"
        ),
    }
}
