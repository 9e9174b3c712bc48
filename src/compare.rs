//! `fathom compare`: has anything become slower since?
//!
//! Each slowdown that is found is looked for again in a campaign of its own, where the
//! later campaign can be measured here. Exit status 0 if there is none, or none came again;
//! 1 if one did, or a time was lost; 3 if one was found and could not be looked for; 4 if
//! what is tolerated could not have been seen. Never 1 for a difference inside the noise.

mod ci;
mod confirm;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::ensure;
use fathom_bench::choose::Wanted;
use fathom_record::{Campaign, Estimator, Sandbox};
use fathom_report::Results;
use fathom_report::cases::cases;
use fathom_report::compare::{self as text, Standing};
use fathom_report::compare_json::{self, Outcome};
use fathom_report::programs::differences;
use fathom_stats::{Basis, Comparison, Summary, compare};

use crate::bench::args::percent;
use crate::invocation::Invocation;
use crate::report::{print, stdout_style};

/// Compare two campaigns; a slowdown beyond threshold and noise is a failure
///
/// A slowdown beyond the threshold is measured again, in a campaign that is kept in the later
/// one's folder, if the later one was measured on this host by this version. Exit status 1: a
/// slowdown was confirmed, or what was measured before is not measured now; 3: a slowdown could
/// not be measured again; 4: too noisy to say; 0: no slowdown.
#[derive(clap::Args)]
pub struct Args {
    /// The earlier results folder
    before: PathBuf,
    /// The later results folder
    after: PathBuf,
    /// Slowdown that is tolerated
    #[arg(long, default_value = "2%", value_parser = percent, value_name = "PERCENT")]
    threshold: f64,
    /// Compare times, or ratios to each campaign's baseline; by default times if both ran on
    /// the same host
    #[arg(long, value_parser = basis, value_name = "time|ratio")]
    basis: Option<Basis>,
    /// Compare an engine of the earlier campaign with one that is called otherwise in the later
    /// one, as EARLIER=LATER, each NAME or NAME:STRATEGY
    #[arg(long, value_parser = map, value_name = "EARLIER=LATER")]
    map: Vec<Map>,
    /// What the rounds of a cell come to: mean or faster-half. By default what the later
    /// campaign says, for both
    #[arg(long, value_name = "ESTIMATOR")]
    estimator: Option<Estimator>,
    /// Measure nothing again: any slowdown is status 1
    #[arg(long)]
    no_confirm: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// What a CI system is told.
    #[command(flatten)]
    ci: ci::Options,
}

/// The exit status where a slowdown was found and could not be looked for again.
const UNCONFIRMED: u8 = 3;
/// The exit status where neither a slowdown nor that there is none could be seen.
const TOO_NOISY: u8 = 4;

/// An engine of the earlier campaign, and what it is called in the later one.
#[derive(Clone, Debug)]
struct Map {
    earlier: Wanted,
    later: Wanted,
}

/// Reads both, compares, and says so in the exit status.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    args.ci.prepare()?;
    let mut earlier = mapped(load(&args.before)?, &args.map)?;
    let mut campaign = load(&args.after)?;
    let estimator = args.estimator.unwrap_or(campaign.header.config.estimator);
    earlier.header.config.estimator = estimator;
    campaign.header.config.estimator = estimator;
    let before = Summary::from_campaign(&earlier);
    let others = differences(&earlier.header, &campaign.header);
    let after = Summary::from_campaign(&campaign);
    let basis = args.basis.unwrap_or_else(|| Basis::of(&before, &after));
    let comparison = compare(&before, &after, args.threshold, basis);
    ensure!(
        comparison.only_before.len() < before.cells.len(),
        "{} and {} have no cell in common, so nothing can be compared: the one measured {}, \
         the other {}",
        args.before.display(),
        args.after.display(),
        subject(&before),
        subject(&after)
    );
    let name = |path: &Path| path.display().to_string();
    let style = stdout_style();
    // A time that was lost needs no second look.
    let is_slower = comparison.lost.is_empty() && comparison.is_refused();
    let standing = match is_slower && !args.no_confirm {
        true => Standing::ToConfirm,
        false => Standing::Last,
    };
    let (earlier, later) = (name(&args.before), name(&args.after));
    if !args.json {
        let text = text::render(&comparison, &earlier, &later, &others, standing, style);
        print(&text)?;
    }
    let again = (standing == Standing::ToConfirm).then(|| {
        let after = &args.after;
        let again = confirm::again(&before, &comparison, after, &campaign, basis, invocation);
        again.map_err(|error| format!("{error:#}"))
    });
    let outcome = outcome(&comparison, again.as_ref());
    let again = again.as_ref().map(Result::as_ref);
    match (args.json, again) {
        (true, _) => {
            let text =
                compare_json::render(&comparison, &earlier, &later, &others, again, outcome)?;
            print(&text)?;
        }
        (false, Some(again)) => print(&text::confirmation(&comparison, again, style))?,
        (false, None) => {}
    }
    let title = format!("{later} against {earlier}");
    let cases = cases(&comparison, &after, again);
    args.ci.tell(&title, &cases, outcome)?;
    Ok(match outcome {
        Outcome::Accepted => ExitCode::SUCCESS,
        Outcome::Refused => ExitCode::FAILURE,
        Outcome::Unconfirmed => ExitCode::from(UNCONFIRMED),
        Outcome::TooNoisy => ExitCode::from(TOO_NOISY),
    })
}

/// What a comparison came to, with what a second look found if there was one.
fn outcome(found: &Comparison, again: Option<&Result<(Comparison, PathBuf), String>>) -> Outcome {
    let is_refused = match again {
        None => found.is_refused() || found.rows.is_empty(),
        Some(Ok((again, _))) => text::came_again(found, again).next().is_some(),
        Some(Err(_)) => return Outcome::Unconfirmed,
    };
    match is_refused {
        true => Outcome::Refused,
        false if again.is_none() && text::is_blind(found) => Outcome::TooNoisy,
        false => Outcome::Accepted,
    }
}

/// A campaign with the names that the other one has for its engines.
fn mapped(campaign: Campaign, maps: &[Map]) -> anyhow::Result<Campaign> {
    let is_of = |wanted: &Wanted, sandbox: &Sandbox| {
        wanted.engine == sandbox.engine
            && (wanted.version.is_none() || wanted.version == sandbox.version)
            && wanted
                .strategy
                .as_ref()
                .is_none_or(|name| *name == sandbox.strategy)
    };
    for Map { earlier, .. } in maps {
        let mut cells = campaign.header.cells.iter();
        let is_there = cells.any(|cell| is_of(earlier, &cell.sandbox));
        ensure!(
            is_there,
            "--map {earlier}: the earlier campaign has no such row"
        );
    }
    Ok(campaign.renamed(|sandbox| {
        let map = maps.iter().find(|map| is_of(&map.earlier, sandbox));
        let mut named = sandbox.clone();
        if let Some(Map { later, .. }) = map {
            named.engine.clone_from(&later.engine);
            named.version.clone_from(&later.version);
            named.strategy = later.strategy.clone().unwrap_or(named.strategy);
        }
        named
    }))
}

fn map(text: &str) -> Result<Map, String> {
    let (earlier, later) = text.split_once('=').ok_or("EARLIER=LATER")?;
    Ok(Map {
        earlier: earlier.parse()?,
        later: later.parse()?,
    })
}

/// What a campaign measured, as somebody would say it.
fn subject(summary: &Summary) -> String {
    const NAMED_MAX: usize = 3;
    let mut names: Vec<String> = Vec::new();
    for cell in &summary.cells {
        let (suite, workload) = (&cell.cell.suite, &cell.cell.workload);
        let name = match suite.as_str() {
            "module" => workload.clone(),
            _ => format!("{suite} {workload}"),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.len() > NAMED_MAX {
        names.truncate(NAMED_MAX);
        names.push("others".to_owned());
    }
    match names.is_empty() {
        true => "nothing".to_owned(),
        false => names.join(", "),
    }
}

fn load(path: &Path) -> anyhow::Result<Campaign> {
    Ok(Results::find(path)?.load()?)
}

fn basis(text: &str) -> Result<Basis, String> {
    match text {
        "time" => Ok(Basis::Time),
        "ratio" => Ok(Basis::ToBaseline),
        _ => Err("a basis is time or ratio".to_owned()),
    }
}
