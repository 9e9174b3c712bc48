//! `fathom bench`: what a program costs on every engine, under every strategy,
//! beside native code.
//!
//! ```text
//!  Args ─▶ request ─▶ Request ─▶ prepare ─▶ Prepared ─▶ probe ─▶ Session ─▶ finish
//!             ▲ --resume: the request in the campaign's header
//! ```
//!
//! `args` is what clap reads, `request` what it means, `show` shows how far it is,
//! `finish` makes the reports; what is measured and measuring itself are in the crate
//! `fathom-bench`.

pub mod args;
mod counts;
mod finish;
pub mod idle;
mod probe;
pub mod request;
pub mod settings;
pub mod show;
pub mod stopping;
mod traced;

use std::{
    path::Path,
    process::ExitCode,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use fathom_bench::{
    experiment::Counting,
    prepare::{Prepared, prepare},
    request::{Request, RequestError},
    results::{Results, ResultsError, same_campaign},
    session::Session,
};
use fathom_record::{
    Record,
    campaign::{FILE_NAME, Resumed},
};
use fathom_report::against;

pub use args::Args;
use request::IntoRequest;

use crate::{invocation::Invocation, stopped};

/// What is recorded as the version.
pub const TOOL: &str = env!("CARGO_PKG_VERSION");

/// Measures, and reports.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let (results, further) = (args.results.clone(), Extension::from(&args.pace));
    run_as(args, &results, further, invocation)
}

/// How far a campaign goes on; as it said itself where absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extension {
    /// To so many rounds in all.
    pub rounds: Option<u32>,
    /// For so long, and for as many rounds as that allows.
    pub budget: Option<Duration>,
    /// With so long for a cell in a round.
    pub time_limit: Option<Duration>,
    /// Waiting so long for other programs.
    pub wait_idle: Option<Duration>,
    /// Until a difference of this size would be found.
    pub detect: Option<f64>,
}

impl From<&args::Pace> for Extension {
    fn from(pace: &args::Pace) -> Extension {
        Extension {
            rounds: pace.rounds,
            budget: pace.budget,
            time_limit: pace.time_limit,
            wait_idle: pace.wait_idle,
            detect: pace.detect,
        }
    }
}

/// Measures what the options of any command ask for, or goes on with a campaign.
pub fn run_as(
    args: impl IntoRequest,
    results: &args::Results,
    further: Extension,
    invocation: &Invocation,
) -> anyhow::Result<ExitCode> {
    match &results.resume {
        Some(folder) => resume(folder, results.resume_anywhere, further, invocation),
        None => begin(args.into_request(&std::env::current_dir()?)?, invocation),
    }
}

/// A new campaign.
pub fn begin(request: Request, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let stop = stopped::on_signals()?;
    let request = &invocation.placed(request)?;
    // Before anything is written: an earlier campaign must stay as it is.
    if let Some(folder) = &request.out
        && folder.join(FILE_NAME).exists()
    {
        return Err(ResultsError::Taken(folder.clone()).into());
    }
    let against = against::read(&request.against)?;
    let mut prepared = prepare_built(request, &invocation.words)?;
    against::is_of_use(&against, &prepared.header)?;
    if let Err(error) = prepared.run_trial(&stop) {
        show::last_words(&error);
        return Err(error.into());
    }
    let mut results = prepared.begin()?;
    against::keep(&against, &prepared.header, &prepared.folder)?;
    measure(&prepared, &mut results, &stop)
}

/// A campaign prepared; in the user's own home, what is missing of its workloads is
/// built first.
fn prepare_built(request: &Request, words: &[String]) -> anyhow::Result<Prepared> {
    let mut last = None;
    loop {
        let missing = match prepare(request, words, TOOL) {
            Err(RequestError::NotBuilt(missing)) => missing,
            prepared => return Ok(prepared?),
        };
        let home = request.home.as_ref().filter(|home| home.is_of_user());
        match home {
            Some(home) if last.as_ref() != Some(&missing) => {
                say!(
                    "building what is missing of {}: with a C compiler that is fetched once",
                    missing.suite
                );
                missing
                    .build(home)
                    .with_context(|| format!("{} cannot be built", missing.suite))?;
                last = Some(missing);
            }
            _ => return Err(RequestError::NotBuilt(missing).into()),
        }
    }
}

/// The campaign in a folder, prepared by what its header says was asked for.
pub fn resume(
    folder: &Path,
    any_host: bool,
    further: Extension,
    invocation: &Invocation,
) -> anyhow::Result<ExitCode> {
    let stop = stopped::on_signals()?;
    let folder = std::path::absolute(folder)?;
    let paused = Results::take_up(&folder)?;
    let campaign = paused.campaign();
    let header = &campaign.header;
    let campaign_rounds = header.config.rounds;
    let given_in = match &header.config.folder {
        Some(folder) => folder.clone(),
        None => std::env::current_dir()?,
    };
    let mut request = invocation.placed(request::of_campaign(header, &given_in)?)?;
    request.out = Some(folder.clone());
    request.duration = request.duration.further(further.rounds, further.budget);
    if let Some(wanted) = further.detect {
        request.duration.detect = Some(wanted);
        request.duration.rounds = None;
    }
    request.duration.wait_idle = further.wait_idle.or(request.duration.wait_idle);
    let mut prepared = prepare(&request, &header.command, TOOL)?;
    let rounds = match (further.rounds, further.budget) {
        (None, None) if further.detect.is_some() => Some(prepared.plan.config.rounds),
        (None, None) => Some(campaign_rounds),
        (rounds, _) => rounds,
    };
    let rounds = prepared.adopt(campaign, rounds);
    if let Some(limit) = further.time_limit {
        prepared.plan.config.limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    }
    same_campaign(&folder, header, &prepared.header, any_host)?;
    if let Some(engine) = prepared.rebuilt(&header.config.engines) {
        ensure!(
            any_host,
            "{}: it was measured with another build of {engine}; begin a new campaign, or say \
             --resume-anywhere",
            folder.display()
        );
    }
    let mut results = Results::resume(paused)?;
    results.append(vec![Record::Resumed(Resumed {
        date: fathom_bench::date::rfc3339(std::time::SystemTime::now()),
        command: invocation.words.clone(),
        rounds: (rounds != campaign_rounds).then_some(rounds),
    })])?;
    measure(&prepared, &mut results, &stop)
}

fn measure(
    prepared: &Prepared,
    results: &mut Results,
    stop: &AtomicBool,
) -> anyhow::Result<ExitCode> {
    show::announce(prepared);
    if !prepared.skips_probe {
        probe::exclude_unsound(prepared, results, stop)?;
    }
    // A verdict is found once for a build: that is no part of what is measured.
    let began = Instant::now();
    idle::wait_for(prepared, stop);
    traced::pass(prepared, results, stop)?;
    let mut pace = prepared.pace.clone();
    pace.budget = pace
        .budget
        .map(|budget| budget.saturating_sub(began.elapsed()));
    let mut shown = show::Shown::new();
    let mut drivers = prepared.boxed_drivers();
    let ended = Session {
        plan: &prepared.plan,
        drivers: &mut drivers,
        results,
        pace,
        stopping: &stopping::Estimates,
        stop,
        observer: &mut shown,
    }
    .run();
    shown.finish();
    let folder = prepared.folder.display();
    let ended = ended.with_context(|| format!("continue with `fathom bench --resume {folder}`"))?;
    if prepared.design.counting == Counting::Yes {
        counts::pass(prepared, results, stop)?;
    }
    finish::finish(prepared, results, ended)
}
