//! `fathom site`: a history as a folder of pages.

use std::path::PathBuf;
use std::process::ExitCode;

use fathom_record::Estimator;
use fathom_report::figures::plural;
use fathom_report::history::{self, History};
use fathom_report::site::{self, SiteError, place::Beside};

use crate::one_line::say;
use crate::report::print;
use crate::stopped;

/// Write a static site: campaigns over time, each campaign's report, and its samples
///
/// The site is made of files alone, loads nothing and runs no script: it is read from a file
/// system as well as from a server. A site that is there is replaced whole once the new one is
/// complete; its folder `campaigns` can be named for the next one, with what is new.
#[derive(clap::Args)]
pub struct Args {
    /// Results folders of campaigns, or folders that hold some
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Where the site is to be: an empty folder, a site of before, or nothing yet
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// What the rounds of a cell come to: mean or faster-half. By default what each campaign says,
    /// and over time what the latest says
    #[arg(long, value_name = "ESTIMATOR")]
    estimator: Option<Estimator>,
}

/// Reads all, writes the site beside its place, and puts it there.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let stop = stopped::on_signals()?;
    // What cannot be written is said before anything is read.
    let beside = Beside::of(&args.out)?;
    let history = History::of(history::find(&args.folders)?, args.estimator)?;
    match site::write(&history, args.estimator, beside.folder(), &stop) {
        Err(stopped @ SiteError::Stopped) => {
            say(&format!("fathom: {stopped}"));
            return Ok(stopped::status());
        }
        written => written?,
    }
    beside.publish()?;
    print(&format!(
        "{}: {}\n",
        args.out.join("index.html").display(),
        plural(history.campaigns.len(), "campaign")
    ))?;
    Ok(ExitCode::SUCCESS)
}
