//! A slowdown that was found is looked for again, in a campaign of its own.
//!
//! ```text
//!  the later campaign's request ─▶ prepare ─▶ its regressed rows and workloads, what they
//!  are compared with, and controls ─▶ rounds ─▶ compared with the earlier campaign
//! ```
//!
//! What must stay true: what is measured is what the later campaign measured; where that
//! cannot be (another host, another version, a module that changed), nothing is.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use anyhow::{Context, bail, ensure};
use fathom_bench::{
    host,
    plan::Task,
    prepare::{Prepared, prepare},
    request::{Length, Request},
    results::{Results, same_module},
    session::{Ended, Session},
};
use fathom_record::{Campaign, Cell, Variant};
use fathom_stats::{Basis, Comparison, Figure, Row, Summary, compare, exact::rounds_min};

use crate::bench::{TOOL, idle, request, show, stopping};
use crate::invocation::Invocation;
use crate::stopped;

/// At most so many rounds: a slowdown past a threshold shows in fewer.
const ROUNDS_MAX: usize = 10;
/// Where the campaigns go, in the folder of the later one.
const FOLDER: &str = "confirmation";

/// The comparison with a campaign that was measured for it, and where that is.
///
/// # Errors
/// Why the slowdowns cannot be looked for again.
pub fn again(
    before: &Summary,
    found: &Comparison,
    after: &Path,
    campaign: &Campaign,
    basis: Basis,
    invocation: &Invocation,
) -> anyhow::Result<(Comparison, PathBuf)> {
    let header = &campaign.header;
    ensure!(
        header.tool == TOOL,
        "the later campaign was measured by version {}, this is {TOOL}",
        header.tool
    );
    ensure!(
        header.host.fingerprint() == host::collect().fingerprint(),
        "the later campaign was measured on another host"
    );
    let given_in = header.config.folder.as_deref();
    let given_in = given_in.context("the later campaign does not say where it was measured")?;
    let mut request = invocation.placed(request::of_campaign(header, given_in)?)?;
    let folder = free_folder(after)?;
    request.out = Some(folder.clone());
    request.duration = Length {
        rounds: Some(rounds(campaign)),
        budget: None,
        width: None,
        detect: None,
        ..request.duration
    };
    let prepared = prepared(&request, campaign, found).inspect_err(|_| {
        // A module that was written for it; the folder is new.
        let _ = fs::remove_dir_all(&folder);
    })?;
    let stop = stopped::on_signals()?;
    let measured = measure(&prepared, &stop)?;
    let own = Summary::from_campaign(&measured);
    Ok((compare(before, &own, found.threshold, basis), folder))
}

/// The later campaign again, as far as the slowdowns take it.
fn prepared(
    request: &Request,
    campaign: &Campaign,
    found: &Comparison,
) -> anyhow::Result<Prepared> {
    let header = &campaign.header;
    let mut prepared = prepare(request, &header.command, TOOL)?;
    same_module(header, &prepared.header).map_err(anyhow::Error::msg)?;
    prepared.adopt(campaign, None);
    prepared.header.config.rounds = rounds(campaign);
    prepared.header.config.budget_ms = None;
    prepared.plan.config = prepared.header.config.clone();
    narrow(&mut prepared, found)?;
    if let Some(engine) = prepared.rebuilt(&header.config.engines) {
        bail!("the later campaign was measured with another build of {engine}");
    }
    Ok(prepared)
}

/// As many as the later campaign has of its cells, within reason.
fn rounds(campaign: &Campaign) -> u32 {
    let rounds: BTreeSet<u32> = campaign.processes.iter().map(|one| one.round).collect();
    let least = rounds_min(Figure::of_compared(campaign.header.config.compared));
    rounds.len().clamp(least, ROUNDS_MAX) as u32
}

fn free_folder(after: &Path) -> anyhow::Result<PathBuf> {
    let base = match after.is_dir() {
        true => after,
        false => after.parent().unwrap_or(Path::new(".")),
    };
    let base = std::path::absolute(base)?;
    let names = (1..1000).map(|number| base.join(format!("{FOLDER}-{number}")));
    let free = names.into_iter().find(|path| !path.exists());
    free.with_context(|| format!("no free name for a campaign in {}", base.display()))
}

/// Leaves in a plan what tells whether the regressions are there: their cells, the cells
/// that those are compared with, native code for the drift, and what is controlled of
/// their engines.
fn narrow(prepared: &mut Prepared, found: &Comparison) -> anyhow::Result<()> {
    let (mut rows, mut cells): (BTreeSet<Row>, BTreeSet<(Row, String)>) = Default::default();
    for (row, workload, _) in found.regressions() {
        let of_row = found.rows.iter().find(|one| one.row == *row);
        let all = of_row.into_iter().flat_map(|one| &one.workloads);
        let names = all.map(|(name, _)| name.as_str());
        let names = names.filter(|name| workload.is_none_or(|only| only == *name));
        cells.extend(names.map(|name| (row.clone(), name.to_owned())));
        rows.insert(row.clone());
    }
    let baseline = prepared.header.config.baseline.clone();
    let tasks = &mut prepared.plan.tasks;
    let controlled: BTreeSet<Row> = tasks
        .iter()
        .filter(|task| task.cell.is_control())
        .map(|task| Row::of(&task.cell))
        .collect();
    let is_beside = |cell: &Cell| {
        let like = |row: &&Row| row.is_comparable_to(&Row::of(cell)) && row.threads == cell.threads;
        let mut like = rows.iter().filter(like);
        let is_reference = cell.variant == Variant::Native || Some(cell.sandbox.id()) == baseline;
        let is_controlled = controlled.contains(&Row::of(cell));
        like.any(|row| is_reference || is_controlled && row.sandbox.engine == cell.sandbox.engine)
    };
    let is_asked = |cell: &Cell| cells.contains(&(Row::of(cell), cell.workload.clone()));
    let workloads: BTreeSet<&String> = cells.iter().map(|(_, name)| name).collect();
    tasks.retain(|Task { cell, .. }| {
        is_asked(cell) || workloads.contains(&cell.workload) && is_beside(cell)
    });
    let left: BTreeSet<Row> = tasks.iter().map(|task| Row::of(&task.cell)).collect();
    if let Some(gone) = rows.iter().find(|row| !left.contains(row)) {
        bail!("{gone} is no longer available");
    }
    prepared.header.cells = prepared.plan.cells();
    Ok(())
}

fn measure(prepared: &Prepared, stop: &AtomicBool) -> anyhow::Result<Campaign> {
    say!(
        "measuring {} again, {} rounds → {}",
        fathom_report::figures::plural(prepared.plan.tasks.len(), "cell"),
        prepared.header.config.rounds,
        prepared.folder.display()
    );
    let mut results = Results::create(&prepared.folder, prepared.header.clone())?;
    idle::wait_for(prepared, stop);
    let mut shown = show::Shown::new();
    let mut drivers = prepared.boxed_drivers();
    let ended = Session {
        plan: &prepared.plan,
        drivers: &mut drivers,
        results: &mut results,
        pace: prepared.pace.clone(),
        stopping: &stopping::Estimates,
        stop,
        observer: &mut shown,
    }
    .run();
    shown.finish();
    ensure!(ended? != Ended::Stopped, "it was stopped");
    Ok(results.campaign().clone())
}
