//! `fathom compare`: has anything become slower since?
//!
//! Each slowdown that is found is looked for again in a campaign of its own, where the
//! later campaign can be measured here. Exit status 0 if there is none, or none came again;
//! 1 if one did, or a time was lost; 3 if one was found and could not be looked for. Never
//! for a difference inside the noise.

mod confirm;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::ensure;
use fathom_record::Campaign;
use fathom_report::Results;
use fathom_report::compare::{self as text, Standing};
use fathom_report::compare_json::{self, Outcome};
use fathom_stats::{Basis, Comparison, Summary, compare};

use crate::bench::args::percent;
use crate::invocation::Invocation;
use crate::report::{print, stdout_style};

/// Compare two campaigns; a slowdown beyond threshold and noise is a failure
///
/// A slowdown beyond the threshold is measured again, in a campaign that is kept in the later
/// one's folder, if the later one was measured on this host by this version. Exit status 1: a
/// slowdown was confirmed, or a cell has lost its time; 3: a slowdown could not be measured
/// again; 0: neither.
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
    /// Measure nothing again: any slowdown is status 1
    #[arg(long)]
    no_confirm: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The exit status where a slowdown was found and could not be looked for again.
const UNCONFIRMED: u8 = 3;

/// Reads both, compares, and says so in the exit status.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let before = Summary::from_campaign(&load(&args.before)?);
    let campaign = load(&args.after)?;
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
    let names = (earlier.as_str(), later.as_str());
    if !args.json {
        print(&text::render(&comparison, names, standing, style))?;
    }
    let again = (standing == Standing::ToConfirm).then(|| {
        let found = (&before, &comparison);
        let again = confirm::again(found, &args.after, &campaign, basis, invocation);
        again.map_err(|error| format!("{error:#}"))
    });
    let outcome = outcome(&comparison, again.as_ref());
    let again = again.as_ref().map(Result::as_ref);
    match (args.json, again) {
        (true, _) => print(&compare_json::render(&comparison, names, again, outcome)?)?,
        (false, Some(again)) => print(&text::confirmation(&comparison, again, style))?,
        (false, None) => {}
    }
    Ok(match outcome {
        Outcome::Accepted => ExitCode::SUCCESS,
        Outcome::Refused => ExitCode::FAILURE,
        Outcome::Unconfirmed => ExitCode::from(UNCONFIRMED),
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
        false => Outcome::Accepted,
    }
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
