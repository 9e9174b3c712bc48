//! `fathom suite`: a named selection of workloads, builds and comparisons in one
//! interleaved campaign.
//!
//! It is a campaign as `fathom bench` makes one, with what is measured decided by
//! the selection, and a page of comparisons of its own (`bounds.md`).

use std::process::ExitCode;

use clap::builder::Resettable::Reset;
use fathom_bench::choose::Wanted;
use fathom_record::{Elide, Spectre, Variant};

use crate::bench::args::{Given, Pace, Results, Selection};
use crate::bench::{self, Args as BenchArgs};

/// Measure a named selection of workloads and compare what it is about
#[derive(clap::Args, Clone, Debug)]
#[command(
    next_help_heading = "What",
    after_help = "\
`bounds`: the PolyBench kernels and programs that follow pointers, each built for 32-bit and \
64-bit memories from one source. Every strategy that this host has against `none`, 64-bit \
`auto` against 32-bit `guard` of the same program, and other engines that run 64-bit memories. \
Its tables are printed, and kept as bounds.md beside the samples.\n\n\
`scaling`: 1, 2, 4 and 16 pinned instances at once of short programs, which are made, run and \
dropped again and again, and of long ones: throughput, CPU use, context switches, page faults, \
memory and, counted apart, system calls. Its page is kept as scaling.html, .md and .csv.\n\n\
`libsodium`: 92 of the library's own programs in fifteen groups, on every engine with each of its \
code generators and natively; each against the median engine and against native code. Its page is \
kept as library.html, .md and .csv. Needs `python3 workloads/build.py --suite libsodium`, and for \
its modules after wasm-opt -O4 the same with `--variant wasm-opt`."
)]
pub struct Args {
    /// Which selection
    #[arg(value_name = "NAME", required_unless_present = "resume", help_heading = Reset)]
    target: Option<Selection>,

    /// Only these workloads
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    workloads: Vec<String>,
    /// Problem size [default: medium]
    #[arg(long)]
    size: Option<String>,
    /// Builds of a library in order of preference: of each engine the first that it takes;
    /// `wasm-opt,wasm-mvp` after wasm-opt -O4 where an engine takes it [default: wasm,wasm-mvp]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    variant: Vec<Variant>,
    /// Strategies of our engine beside `auto` and `none`; `forms` for every form of each
    /// [default: each that this host has, in its usual form]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    bounds: Vec<String>,
    /// Which checks to leave out, beside those that are by default
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "CHOICES",
        default_value = "off,dominated"
    )]
    elide: Vec<Elide>,
    /// Our engine with guards against speculation or without, beside what is the
    /// default: on, off
    #[arg(long, value_delimiter = ',', value_name = "CHOICES")]
    spectre: Vec<Spectre>,
    /// Engines as NAME[:STRATEGY[:BACKEND]]; all that are installed by default
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    engines: Vec<Wanted>,

    /// Instances at once, one pinned thread each, for `scaling` [default: 1,2,4,16]
    #[arg(long, value_delimiter = ',', value_name = "COUNTS")]
    threads: Vec<u32>,

    #[command(flatten)]
    pace: Pace,
    #[command(flatten)]
    results: Results,
}

/// Measures, and reports.
///
/// # Errors
/// Whatever keeps the campaign from beginning or going on.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    bench::run(args.into())
}

impl From<Args> for BenchArgs {
    fn from(args: Args) -> BenchArgs {
        BenchArgs {
            target: None,
            args: Vec::new(),
            selection: args.target,
            spec: None,
            elide: args.elide,
            spectre: args.spectre,
            size: args.size,
            kernels: args.workloads,
            variant: args.variant,
            engines: args.engines,
            bounds: args.bounds,
            opt: Vec::new(),
            threads: args.threads,
            given: Given::default(),
            pace: args.pace,
            results: args.results,
        }
    }
}
