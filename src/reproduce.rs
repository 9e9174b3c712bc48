//! `fathom reproduce`: what a paper measured, measured again on this machine as far
//! as it can be had, and a page that sets both side by side.
//!
//! ```text
//!  Args ─▶ bench::run, a campaign in a folder ─▶ page(folder) ─▶ PAPER.md, its pictures
//!            ▲ a folder with a campaign: goes on with it
//! ```
//!
//! A paper is a selection of `bench` (what is measured) and a page of
//! `fathom-report` (what is shown, with what the paper states as data).

mod spec;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use anyhow::ensure;
use fathom_bench::{choose::Wanted, house::House};
use fathom_record::{Variant, campaign::FILE_NAME};
use fathom_report::{Report, write_all};

use crate::bench::args::{Given, Pace, Results, Selection, duration};
use crate::bench::{self, Args as BenchArgs};
use crate::report::print;

/// Measure what a paper measured, and set its figures beside ours
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
`leaps-and-bounds`: Szewczyk, Stonehouse, Barbalace, Spink: Leaps and bounds, IISWC 2022. Five \
ways to check bounds, the paper's engines as far as they are installed, native code; PolyBench \
with 1, 4 and 16 pinned instances. SPEC CPU 2017 cannot be shipped: --spec builds the paper's part \
of your own copy, but for what the build names, and measures that in a campaign of its own. Its \
recipes follow the layout that is published and were never tried on SPEC's sources.\n\n\
`libsodium-2023`: Denis: Performance of WebAssembly runtimes in 2023. libsodium's own programs in \
the seed's groups, on its engines as far as they are installed, against the median and against \
native code. Needs `python3 workloads/build.py --suite libsodium`. The seed's modules went through \
wasm-opt -O4: build that with `--variant wasm-opt`, measure it with --variant wasm-opt,wasm-mvp.\n\n\
The same command again goes on where it stopped, and writes the page anew.")]
pub struct Args {
    /// Which paper
    #[arg(value_name = "PAPER")]
    paper: Paper,
    /// Folder for samples and page; goes on with a campaign that is there
    /// [default: results/PAPER, with --spec results/PAPER-spec]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Only write the page, from what was measured before
    #[arg(long)]
    page_only: bool,
    /// Folder for the page and its pictures instead of --out
    #[arg(long, value_name = "DIR")]
    page: Option<PathBuf>,
    /// The paper's part of your copy of SPEC CPU 2017 instead of PolyBench
    #[arg(long, value_name = "DIR")]
    spec: Option<PathBuf>,
    /// SPEC's size
    #[arg(long, value_name = "SIZE", default_value = "train", requires = "spec",
          value_parser = ["test", "train", "ref"])]
    spec_size: String,
    /// Engines as NAME[:STRATEGY[:BACKEND]]; the paper's by default
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    engines: Vec<Wanted>,
    /// Only these workloads
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    workloads: Vec<String>,
    /// Builds in order of preference, for libsodium-2023: `wasm-opt,wasm-mvp` are the
    /// seed's modules after wasm-opt -O4 [default: wasm,wasm-mvp]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    variant: Vec<Variant>,
    /// Instances at once; the paper's and as many as there are processors by default
    #[arg(long, value_delimiter = ',', value_name = "COUNTS")]
    threads: Vec<u32>,
    /// A first impression: a few workloads, small
    #[arg(long)]
    quick: bool,
    /// Rounds; as many as fit into the budget by default
    #[arg(long)]
    rounds: Option<u32>,
    /// Time for the whole campaign, such as 10m or 4h; the first round is finished
    /// whatever it takes
    #[arg(long, value_parser = duration)]
    budget: Option<Duration>,
    /// Time for one cell in one round [default: 60s; 5m for libsodium-2023, 4h for --spec]
    #[arg(long, value_parser = duration)]
    time_limit: Option<Duration>,
    /// Do not probe whether strategies are sound before measuring
    #[arg(long)]
    no_probe: bool,
}

/// A paper that can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Paper {
    /// Leaps and bounds: analysing WebAssembly's performance with a focus on bounds checking
    LeapsAndBounds,
    /// Performance of WebAssembly runtimes in 2023: libsodium on each of them
    #[value(name = "libsodium-2023")]
    Libsodium2023,
}

impl Paper {
    /// Its name, which is its selection's.
    fn name(self) -> &'static str {
        self.selection().name()
    }

    fn selection(self) -> Selection {
        match self {
            Paper::LeapsAndBounds => Selection::LeapsAndBounds,
            Paper::Libsodium2023 => Selection::Libsodium2023,
        }
    }
}

/// Measures what is left to measure, and writes the page.
///
/// # Errors
/// Whatever keeps the campaign from beginning or going on, or the page from
/// being written.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let folder = folder(&args)?;
    if let Some(copy) = &args.spec {
        ensure!(
            args.paper == Paper::LeapsAndBounds,
            "--spec: {} ran nothing of SPEC CPU",
            args.paper.name()
        );
        if !args.page_only {
            spec::build(copy, &args.spec_size, &args.workloads, &folder)?;
        }
    }
    let has_campaign = folder.join(FILE_NAME).exists();
    ensure!(
        has_campaign || !args.page_only,
        "{}: nothing was measured there; leave --page-only out",
        folder.display()
    );
    let mut code = ExitCode::SUCCESS;
    if !args.page_only {
        let mut measured = BenchArgs::from(args.clone());
        if has_campaign {
            measured.results.resume = Some(folder.clone());
        } else {
            measured.results.out = Some(folder.clone());
        }
        code = bench::run(measured)?;
    }
    if !folder.join(FILE_NAME).exists() {
        return Ok(code);
    }
    let to = args.page.as_ref().unwrap_or(&folder);
    let page = Report::open(&folder)?.own.paper;
    let kind = "a campaign of another kind";
    ensure!(!page.is_empty(), "{}: {kind}", folder.display());
    write_all(to, &page)?;
    for (name, _) in &page {
        print(&format!("{}\n", to.join(name).display()))?;
    }
    Ok(code)
}

fn folder(args: &Args) -> anyhow::Result<PathBuf> {
    let folder = match &args.out {
        Some(folder) => folder.clone(),
        None => House::find()
            .map_or_else(|| PathBuf::from("results"), |house| house.results())
            .join(match args.spec {
                Some(_) => format!("{}-spec", args.paper.name()),
                None => args.paper.name().to_owned(),
            }),
    };
    Ok(std::path::absolute(folder)?)
}

impl From<Args> for BenchArgs {
    fn from(args: Args) -> BenchArgs {
        BenchArgs {
            target: None,
            args: Vec::new(),
            selection: Some(args.paper.selection()),
            spec: args.spec.is_some().then_some(args.spec_size),
            elide: Vec::new(),
            spectre: Vec::new(),
            size: None,
            kernels: args.workloads,
            variant: args.variant,
            engines: args.engines,
            bounds: Vec::new(),
            opt: Vec::new(),
            threads: args.threads,
            given: Given::default(),
            pace: Pace {
                rounds: args.rounds,
                iterations: None,
                // Minutes of a program warm it up by themselves.
                warmup: u32::from(args.spec.is_none()),
                budget: args.budget,
                time_limit: args.time_limit,
                quick: args.quick,
            },
            results: Results {
                out: None,
                resume: None,
                resume_anywhere: false,
                seed: None,
                no_probe: args.no_probe,
            },
        }
    }
}
