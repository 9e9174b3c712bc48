//! `fathom merge`: what shards of one campaign say together.

use std::path::PathBuf;
use std::process::ExitCode;

use fathom_bench::shard::whole::{self, Named};
use fathom_record::{Estimator, Header};
use fathom_report::Results;
use fathom_report::merge::{self as text, Shard, Shown};
use fathom_report::merge_json;
use fathom_report::view::host_line;
use fathom_stats::Summary;
use fathom_stats::merge::{ANCHORS_MIN, merge};

use crate::report::{print, stdout_style};

/// Bring the shards of one campaign together: ratios, with the machines' effects taken off
///
/// Each shard was measured by `fathom bench --shard i/n` on a machine of its own. What was
/// compared on one machine is brought to an average of these machines by the anchors, the
/// workloads that every shard measured. Times of different machines are not compared.
#[derive(clap::Args)]
pub struct Args {
    /// The results folder of each shard
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Merge also where shards are missing; the means are then over the workloads of the others
    #[arg(long)]
    partial: bool,
    /// What the rounds of a cell come to: mean or faster-half. By default what the first shard
    /// says, for all
    #[arg(long, value_name = "ESTIMATOR")]
    estimator: Option<Estimator>,
    /// List each workload
    #[arg(long)]
    workloads: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reads all, checks that they are of one campaign, and says what they say.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let folders = args.folders.iter();
    let mut campaigns = folders
        .map(|folder| Ok(Results::find(folder)?.load()?))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let first = campaigns.first().map(|first| first.header.config.estimator);
    for campaign in &mut campaigns {
        campaign.header.config.estimator = args.estimator.or(first).unwrap_or_default();
    }
    let names: Vec<String> = (args.folders.iter())
        .map(|folder| folder.display().to_string())
        .collect();
    let named = names.iter().zip(&campaigns).map(|(name, campaign)| Named {
        name,
        header: &campaign.header,
    });
    let named: Vec<Named<'_>> = named.collect();
    let whole = whole::check(&named, ANCHORS_MIN, args.partial)?;
    let summaries: Vec<Summary> = (whole.order.iter())
        .map(|at| Summary::from_campaign(&campaigns[*at]))
        .collect();
    let shards: Vec<Shard> = (whole.order.iter())
        .map(|at| Shard {
            index: index(named[*at].header),
            folder: names[*at].clone(),
            host: host_line(&named[*at].header.host),
        })
        .collect();
    let shown = Shown {
        shards: &shards,
        count: whole.note.count,
        anchors: &whole.note.anchors,
        warnings: &whole.warnings,
        has_workloads: args.workloads,
    };
    let merged = merge(&summaries, &whole.note.anchors);
    print(&match args.json {
        true => merge_json::render(&merged, &shown)?,
        false => text::render(&merged, &shown, stdout_style()),
    })?;
    Ok(match merged.rows.iter().any(|row| row.estimates.is_ok()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn index(header: &Header) -> u32 {
    header.config.shard.as_ref().map_or(0, |note| note.index)
}
