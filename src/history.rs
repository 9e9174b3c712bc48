//! `fathom history`: campaigns over time, and where they changed.

use std::path::PathBuf;
use std::process::ExitCode;

use fathom_record::Estimator;
use fathom_report::history::{self, History};

use crate::report::{print, stdout_style};

/// Show campaigns over time: each row's ratio or time, and where it changed
///
/// Each machine, suite and set of workloads is a section of its own. A change is named with its
/// 95 % interval and with the date and the engine's version on either side; it takes two campaigns
/// on either side, of five rounds each. Of twenty sections in which nothing changed, at most one
/// names a change.
#[derive(clap::Args)]
pub struct Args {
    /// Results folders of campaigns, or folders that hold some
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// What the rounds of a cell come to: mean or faster-half. By default what the latest
    /// campaign says, for all
    #[arg(long, value_name = "ESTIMATOR")]
    estimator: Option<Estimator>,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads all, and says what became of each row.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let history = History::of(history::find(&args.folders)?, args.estimator)?;
    print(&match (args.json, args.markdown) {
        (true, _) => history::json(&history)?,
        (_, true) => history::markdown(&history),
        _ => history::terminal(&history, stdout_style()),
    })?;
    Ok(ExitCode::SUCCESS)
}
