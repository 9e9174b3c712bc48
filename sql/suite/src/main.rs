//! Measures functions and operators in WebAssembly beside native ones, without a query engine.
//!
//! ```text
//!  calls, kmeans, rows ─cells─► rounds ─series─► estimate ─► show
//! ```

mod calls;
mod estimate;
mod host;
mod kmeans;
mod memory;
mod module;
mod native;
mod points;
mod rounds;
mod rows;
mod show;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, ValueEnum};

use crate::rounds::Pace;

/// Measure what functions in SQL cost, beside native ones
#[derive(Parser)]
struct Args {
    /// What is measured
    #[arg(value_enum, default_values_t = [Part::Calls, Part::Rows, Part::Kmeans, Part::Shared])]
    parts: Vec<Part>,
    /// Rounds at most, each of which has every cell once
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// Seconds after which no further round of a table begins
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    /// Points that k-means is given
    #[arg(long, value_delimiter = ',', default_values_t = [10_000, 100_000, 1_000_000])]
    points: Vec<usize>,
    /// Bits of the addresses of its memory, 64 or 32
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Bits::B64])]
    bits: Vec<Bits>,
    /// Strategies
    #[arg(long, value_delimiter = ',', default_values_t = module::STRATEGIES.map(str::to_owned))]
    bounds: Vec<String>,
    /// Code generators
    #[arg(long, value_delimiter = ',', default_values_t = ["cranelift", "llvm"].map(str::to_owned))]
    codegen: Vec<String>,
    /// Measure without guards against speculation, which functions in SQL have
    #[arg(long)]
    no_spectre: bool,
    /// Append each sample to this file, a line of JSON
    #[arg(long)]
    samples: Option<PathBuf>,
    /// Rows of collatz
    #[arg(long, default_value_t = 1_000_000)]
    collatz: usize,
    /// Where the modules of sql/operators/build.py are
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/operators"))]
    modules: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Part {
    /// The cost model of a call
    Calls,
    /// gcd and collatz
    Rows,
    /// The thesis's k-means
    Kmeans,
    /// The same on all threads, over one memory
    Shared,
}

/// Bits of an address.
#[derive(Clone, Copy, ValueEnum)]
enum Bits {
    #[value(name = "64")]
    B64,
    #[value(name = "32")]
    B32,
}

fn main() -> Result<()> {
    let args = Args::parse();
    fathom_guest::keep_freed_memory();
    let pace = Pace {
        rounds: args.rounds,
        seconds: args.seconds,
        samples: args.samples.as_deref(),
    };
    let modules =
        module::Modules::new(args.modules, &args.bounds, &args.codegen, !args.no_spectre)?;
    println!("{}\n", host::line());
    for part in args.parts {
        match part {
            Part::Calls => calls::run(&modules, pace)?,
            Part::Rows => rows::run(&modules, pace, args.collatz)?,
            Part::Kmeans | Part::Shared => {
                let is_shared = matches!(part, Part::Shared);
                for &bits in &args.bits {
                    let how = kmeans::How { bits, is_shared };
                    kmeans::run(&modules, pace, &args.points, how)?;
                }
            }
        }
    }
    Ok(())
}
