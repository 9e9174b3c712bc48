//! `fathom reproduce`: what a paper measured, measured again on this machine as far
//! as it can be had, and a page that sets both side by side.
//!
//! ```text
//!  Args ─▶ bench, a campaign in a folder ─▶ Report::own.paper ─▶ PAPER.md, its pictures
//!            ▲ a folder with a campaign: goes on with it
//! ```
//!
//! A paper is an experiment (what is measured) and a page of `fathom-report` (what is
//! shown, with what the paper states as data).

mod spec;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, ensure};
use fathom_bench::{
    choose::Wanted,
    experiment::{Command, Subject},
    request::{Length, Request, RequestError},
};
use fathom_record::{Variant, campaign::FILE_NAME};
use fathom_report::{Report, write_all};
use fathom_stats::interval::ROUNDS_MIN;

use crate::bench;
use crate::bench::args::duration;
use crate::bench::request::IntoRequest;
use crate::bench::settings::Settings;
use crate::invocation::Invocation;
use crate::report::print;
use crate::suite::{names, paragraphs};

/// Repeat the measurements of a paper, and compare its figures with ours
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = format!(
    "{}\n\nRun the same command again to continue where it stopped; the page is then rewritten.",
    paragraphs(Command::Reproduce)
))]
pub struct Args {
    /// Which paper
    #[arg(value_name = "PAPER", value_parser = names(Command::Reproduce))]
    paper: String,
    /// Folder for samples and page; a campaign in it is continued [default: results/PAPER,
    /// with --spec results/PAPER-spec]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Measure nothing: write the page from existing samples
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
    /// Engines as NAME[@VERSION][:STRATEGY[:BACKEND]]; the paper's by default
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    engines: Vec<Wanted>,
    /// How our engine is set.
    #[command(flatten)]
    settings: Settings,
    /// Only these workloads
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    workloads: Vec<String>,
    /// Problem size, for ewapa, for hardware-bounds-checking and for benchmarking-wasmfx, whose
    /// talk's ten million are `large` [default: medium]
    #[arg(long)]
    size: Option<String>,
    /// Builds in order of preference, for libsodium-2023: `wasm-opt,wasm-mvp` for modules
    /// after wasm-opt -O4, as in the study [default: wasm,wasm-mvp]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    variant: Vec<Variant>,
    /// Numbers of instances that run at once; by default the paper's and the number of
    /// processors
    #[arg(long, value_delimiter = ',', value_name = "COUNTS")]
    threads: Vec<u32>,
    /// A first impression: a few workloads, small
    #[arg(long)]
    quick: bool,
    /// Number of rounds; by default as many as fit into the budget
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Time for the whole campaign, such as 10m or 4h; the first round is always finished
    #[arg(long, value_parser = duration)]
    budget: Option<Duration>,
    /// Time limit for one cell in one round [default: 60s; 5m for libsodium-2023, 4h for
    /// --spec]
    #[arg(long, value_parser = duration)]
    time_limit: Option<Duration>,
    /// Wait at most this long for other programs to leave enough processors idle; 0s measures
    /// at once [default: 60s]
    #[arg(long, value_parser = duration, value_name = "TIME")]
    wait_idle: Option<Duration>,
    /// Do not probe strategies for soundness before measuring
    #[arg(long)]
    no_probe: bool,
    /// Probe again; by default a verdict is kept until the engine, its configuration, the
    /// kernel or the processor changes
    #[arg(long, conflicts_with = "no_probe")]
    probe_again: bool,
}

/// Measures what is left to measure, and writes the page.
///
/// # Errors
/// Whatever keeps the campaign from beginning or going on, or the page from
/// being written.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let folder = folder(&args, invocation)?;
    if let Some(copy) = &args.spec {
        // Before anything is built: is there anything of SPEC CPU in this paper?
        args.subject()?;
        if !args.page_only {
            let home = invocation.home()?.ok_or(RequestError::NoHome)?;
            spec::build(&home, copy, &args.spec_size, &args.workloads, &folder)?;
        }
    }
    let has_campaign = folder.join(FILE_NAME).exists();
    ensure!(
        has_campaign || !args.page_only,
        "{}: nothing was measured there; leave --page-only out",
        folder.display()
    );
    let code = match (args.page_only, has_campaign) {
        (true, _) => ExitCode::SUCCESS,
        (false, true) => {
            let further = bench::Extension {
                rounds: args.rounds,
                budget: args.budget,
                time_limit: args.time_limit,
                wait_idle: args.wait_idle,
                ..bench::Extension::default()
            };
            bench::resume(&folder, false, further, invocation)?
        }
        (false, false) => {
            let request = args.clone().into_request(&std::env::current_dir()?)?;
            let request = Request {
                out: Some(folder.clone()),
                ..request
            };
            bench::begin(request, invocation)?
        }
    };
    if !folder.join(FILE_NAME).exists() {
        return Ok(code);
    }
    let to = args.page.as_ref().unwrap_or(&folder);
    let page = Report::open(&folder)?.output.paper;
    let kind = "a campaign of another kind";
    ensure!(!page.is_empty(), "{}: {kind}", folder.display());
    write_all(to, &page)?;
    for (name, _) in &page {
        print(&format!("{}\n", to.join(name).display()))?;
    }
    Ok(code)
}

fn folder(args: &Args, invocation: &Invocation) -> anyhow::Result<PathBuf> {
    if let Some(folder) = &args.out {
        return Ok(std::path::absolute(folder)?);
    }
    let name = match args.spec {
        Some(_) => format!("{}-spec", args.paper),
        None => args.paper.to_owned(),
    };
    let here = std::env::current_dir()?;
    let home = invocation.home()?;
    Ok(invocation.results(home.as_ref(), &here).join(name))
}

impl Args {
    /// What the paper measured, of a copy of SPEC CPU where one is named.
    fn subject(&self) -> anyhow::Result<Subject> {
        let subject = Subject::named(Command::Reproduce, &self.paper);
        let subject = subject.with_context(|| format!("no paper `{}`", self.paper))?;
        Ok(match self.spec {
            Some(_) => subject.on_spec(&self.spec_size)?,
            None => subject,
        })
    }
}

impl IntoRequest for Args {
    fn into_request(self, folder: &Path) -> anyhow::Result<Request> {
        let subject = self.subject()?;
        Ok(Request {
            workloads: self.workloads,
            size: self.size,
            variants: self.variant,
            engines: self.engines,
            settings: self.settings.choices(),
            threads: self.threads,
            duration: Length {
                rounds: self.rounds,
                budget: self.budget,
                limit: self.time_limit,
                wait_idle: self.wait_idle,
                is_quick: self.quick,
                rounds_wanted: ROUNDS_MIN as u32,
                ..Length::default()
            },
            skips_probe: self.no_probe,
            probes_again: self.probe_again,
            ..Request::new(subject, folder.to_owned())
        })
    }
}
