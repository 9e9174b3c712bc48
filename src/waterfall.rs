//! `fathom waterfall`: where the time of one program goes, from native code to an
//! engine's total.
//!
//! It is a campaign as `fathom bench` makes one, of the rows whose differences are the
//! parts, with some traced runs before it (`bench/traced.rs`), and a page of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::builder::Resettable::Reset;
use fathom_bench::choose::Wanted;
use fathom_bench::experiment::{Apart, Subject};
use fathom_bench::request::{Length, Library, Request};
use fathom_record::Variant;

use crate::bench;
use crate::bench::args::{Given, Results, duration};
use crate::bench::request::{IntoRequest, input, module};
use crate::bench::settings::Settings;
use crate::invocation::Invocation;

/// Show where the time of one program goes, from native code to an engine's total
#[derive(clap::Args, Clone, Debug)]
#[command(
    next_help_heading = "What",
    after_help = "\
The parts are the native program, the format (WebAssembly without checks, over native), code \
quality (the engine's code over that), checks, WASI, system calls, page faults, the instance, \
compilation and start-up. Each is a difference of two rows in the same rounds, or comes from \
traced runs, and has its interval; their sum is shown against the whole. Without a native program \
the bar begins with the program's own code without checks. docs/WATERFALL.md says how each part \
is measured."
)]
pub struct Args {
    /// A WASI program (app.wasm), or a workload as SUITE:NAME
    #[arg(required_unless_present = "resume", help_heading = Reset)]
    target: Option<String>,
    /// Arguments of the program; put -- before the first that starts with -
    #[arg(value_name = "ARGS", help_heading = Reset)]
    args: Vec<String>,

    /// The same program for this machine; a workload has its suite's native build
    #[arg(long, value_name = "PROGRAM")]
    native: Option<PathBuf>,
    /// The engine, as NAME[@VERSION][:STRATEGY[:BACKEND]] [default: fathom]
    #[arg(long, value_name = "NAME")]
    engine: Option<Wanted>,
    /// What stands for the format: WebAssembly without checks, such as wasm2c:guard
    /// [default: fathom:none]
    #[arg(long, value_name = "NAME")]
    format: Option<Wanted>,
    /// How our engine is set.
    #[command(flatten)]
    settings: Settings<true>,
    /// Problem size of a workload [default: medium]
    #[arg(long)]
    size: Option<String>,

    /// What the program is given.
    #[command(flatten)]
    given: Given,
    /// How long to measure.
    #[command(flatten)]
    pace: Pace,
    /// Where results go.
    #[command(flatten)]
    results: Results,
}

/// How long it takes.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "How long")]
struct Pace {
    /// Number of rounds; by default as many as fit into the budget. With --resume, the total
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Time for all of it, such as 90s or 10m; the first round is always finished [default: 2m]
    #[arg(long, value_parser = duration)]
    budget: Option<Duration>,
    /// Time limit for one run [default: 60s]
    #[arg(long, value_parser = duration)]
    time_limit: Option<Duration>,
    /// Wait at most this long for other programs to leave enough processors idle; 0s measures
    /// at once [default: 60s]
    #[arg(long, value_parser = duration, value_name = "TIME")]
    wait_idle: Option<Duration>,
}

/// Measures, and reports.
///
/// # Errors
/// Whatever keeps the campaign from beginning or going on.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let results = args.results.clone();
    let further = bench::Extension {
        rounds: args.pace.rounds,
        budget: args.pace.budget,
        time_limit: args.pace.time_limit,
        wait_idle: args.pace.wait_idle,
        ..bench::Extension::default()
    };
    bench::run_as(args, &results, further, invocation)
}

impl IntoRequest for Args {
    fn into_request(self, folder: &Path) -> anyhow::Result<Request> {
        let target = self.target.as_deref().context("no program to take apart")?;
        let apart = apart(target, &self, folder)?;
        let engines = engines(self.engine, self.format)?;
        Ok(Request {
            args: self.args,
            size: self.size,
            engines,
            settings: self.settings.exact()?,
            input: input(&self.given, folder)?,
            any_output: self.given.any_output,
            exits_allowed: self.given.allow_exit,
            duration: Length {
                rounds: self.pace.rounds,
                budget: self.pace.budget,
                limit: self.pace.time_limit,
                wait_idle: self.pace.wait_idle,
                ..Length::default()
            },
            seed: self.results.seed,
            skips_probe: self.results.no_probe,
            probes_again: self.results.probe_again,
            out: self.results.out.map(|out| folder.join(out)),
            ..Request::new(Subject::apart(apart), folder.to_owned())
        })
    }
}

/// What is taken apart.
fn apart(target: &str, args: &Args, folder: &Path) -> anyhow::Result<Apart> {
    let path = folder.join(target);
    let workload = target.split_once(':').filter(|_| !path.exists());
    if let Some((suite, name)) = workload {
        ensure!(
            args.native.is_none(),
            "--native: {target} has its suite's native build"
        );
        return Ok(Apart::Workload {
            suite: suite.to_owned(),
            name: name.to_owned(),
        });
    }
    if path.extension().is_none() && !path.is_file() {
        bail!("`{target}` is neither a file nor SUITE:NAME");
    }
    let native = args.native.as_ref();
    let module = module(target, &path, &args.args, Library::default())?;
    ensure!(
        !module.is_component(),
        "{target}: a component is measured as a whole, by `fathom bench`"
    );
    Ok(Apart::Module {
        module,
        native: native.map(|path| program(path, folder)).transpose()?,
    })
}

/// A program of this machine.
pub fn program(path: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let at = || format!("--native {}", path.display());
    let program = fs::canonicalize(folder.join(path)).with_context(at)?;
    let metadata = fs::metadata(&program).with_context(at)?;
    let may_run = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    ensure!(may_run, "{}: not a program that can be run", at());
    Ok(program)
}

/// The engine, and the format's where it is named.
fn engines(engine: Option<Wanted>, format: Option<Wanted>) -> anyhow::Result<Vec<Wanted>> {
    let named = [("--engine", &engine), ("--format", &format)];
    for (option, wanted) in named.iter().filter_map(|(o, w)| Some((o, w.as_ref()?))) {
        let variant = wanted.engine.parse::<Variant>();
        let is_native = variant.is_ok_and(|variant| !variant.is_wasm());
        ensure!(!is_native, "{option} {wanted}: native code is --native");
    }
    Ok(match (engine, format) {
        (engine, None) => engine.into_iter().collect(),
        (engine, format) => {
            let engine = engine.unwrap_or_else(Wanted::own);
            std::iter::once(engine).chain(format).collect()
        }
    })
}
