//! `fathom suite`: a named selection of workloads, builds and comparisons in one
//! interleaved campaign.
//!
//! It is a campaign as `fathom bench` makes one, with what is measured decided by
//! the selection, and a page of comparisons of its own (`bounds.md`).

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser, Resettable::Reset};
use fathom_bench::{
    choose::Wanted,
    experiment::{Command, Subject, of_command},
    request::{Request, Strategies},
};
use fathom_record::{Variant, Yardstick};

use crate::bench;
use crate::bench::args::{Pace, Results};
use crate::bench::request::{IntoRequest, length};
use crate::bench::settings::Settings;
use crate::invocation::Invocation;

/// Measure a named selection of workloads and compare what it is about
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "What", after_help = paragraphs(Command::Suite))]
pub struct Args {
    /// Which selection
    #[arg(value_name = "NAME", required_unless_present = "resume", help_heading = Reset,
          value_parser = names(Command::Suite))]
    target: Option<String>,

    /// Only these workloads
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    workloads: Vec<String>,
    /// Problem size [default: medium]
    #[arg(long)]
    size: Option<String>,
    /// Builds of a library in order of preference: each engine gets the first that it can
    /// run. `wasm-opt,wasm-mvp` prefers modules after wasm-opt -O4 [default: wasm,wasm-mvp]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    variant: Vec<Variant>,
    /// Strategies of our engine besides `auto` and `none`; `forms` for every form of each
    /// [default: all that this host supports, in their usual form]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    bounds: Vec<Strategies>,
    /// How our engine is set; --elide is off,dominated by default for `bounds`.
    #[command(flatten)]
    settings: Settings,
    /// Engines as NAME[@VERSION][:STRATEGY[:BACKEND]]; all that are installed by default
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    engines: Vec<Wanted>,

    /// Numbers of instances that run at once, each on a pinned thread, for `scaling`
    /// [default: 1,2,4,16]
    #[arg(long, value_delimiter = ',', value_name = "COUNTS")]
    threads: Vec<u32>,

    /// For `web`: folders of earlier campaigns, of which the page says whether they predict the
    /// engines' order
    #[arg(long, num_args = 1.., value_name = "FOLDER")]
    against: Vec<PathBuf>,

    /// What programs are measured by: time, or instructions, which do not scatter: two rounds are
    /// enough, on any machine
    #[arg(long, value_name = "NAME", default_value_t, hide_default_value = true)]
    metric: Yardstick,

    #[command(flatten)]
    pace: Pace,
    #[command(flatten)]
    results: Results,
}

/// The experiments that a command is asked for by name, as values of an option.
pub fn names(command: Command) -> PossibleValuesParser {
    let value = |design: &fathom_bench::experiment::Design| {
        PossibleValue::new(design.name()).help(design.help)
    };
    PossibleValuesParser::new(of_command(command).map(value))
}

/// What there is to say of them.
pub fn paragraphs(command: Command) -> String {
    let each: Vec<&str> = of_command(command).map(|design| design.about).collect();
    each.join("\n\n")
}

/// Measures, and reports.
///
/// # Errors
/// Whatever keeps the campaign from beginning or going on.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let (results, further) = (args.results.clone(), bench::Extension::from(&args.pace));
    bench::run_as(args, &results, further, invocation)
}

impl IntoRequest for Args {
    fn into_request(self, folder: &Path) -> anyhow::Result<Request> {
        let name = self.target.unwrap_or_default();
        let subject = Subject::named(Command::Suite, &name);
        let subject = subject.with_context(|| format!("no selection `{name}`"))?;
        Ok(Request {
            size: self.size,
            workloads: self.workloads,
            variants: self.variant,
            engines: self.engines,
            strategies: self.bounds,
            settings: self.settings.choices(),
            threads: self.threads,
            metric: self.metric,
            duration: length(&self.pace),
            seed: self.results.seed,
            skips_probe: self.results.no_probe,
            probes_again: self.results.probe_again,
            out: self.results.out.map(|out| folder.join(out)),
            against: self.against.iter().map(|one| folder.join(one)).collect(),
            ..Request::new(subject, folder.to_owned())
        })
    }
}
