//! After the rounds: the system calls of some cells, counted in runs that are not
//! timed.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
};

use fathom_bench::{
    counts::{available, count, is_counted},
    driver::DriveError,
    plan::Task,
    prepare::Prepared,
    results::Results,
};
use fathom_record::Record;

/// Workloads of a suite that are counted: calls come with instances, and all
/// workloads make them alike.
const WORKLOADS_MAX: usize = 2;

/// Counts the system calls of cells with fewest and with most instances that
/// have a time and no count yet.
pub fn pass(prepared: &Prepared, results: &mut Results, stop: &AtomicBool) -> anyhow::Result<()> {
    let left = left(prepared, results);
    // A campaign of counts has no times that calls could explain.
    if left.is_empty() || prepared.counter.is_some() {
        return Ok(());
    }
    if let Err(why) = available() {
        say!("system calls: {why}");
        return Ok(());
    }
    say!("counting the system calls of {} cells, untimed", left.len());
    for task in left {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        match count(&prepared.plan, task, &prepared.drivers[task.driver], stop) {
            Ok(counts) => results.append(vec![Record::Counts(counts)])?,
            Err(DriveError::Stopped) => return Ok(()),
            // Its times stand; what it calls stays unknown.
            Err(error) => say!("system calls: {}: {error}", task.cell.id()),
        }
    }
    Ok(())
}

fn left<'a>(prepared: &'a Prepared, results: &Results) -> Vec<&'a Task> {
    let campaign = results.campaign();
    let tasks = &prepared.plan.tasks;
    let threads: BTreeSet<u32> = tasks.iter().map(|task| task.cell.threads).collect();
    let ends = [threads.first().copied(), threads.last().copied()];
    let mut workloads: Vec<(&str, &str)> = Vec::new();
    for task in tasks {
        let of = (task.cell.suite.as_str(), task.cell.workload.as_str());
        let known = workloads.iter().filter(|(suite, _)| *suite == of.0);
        if known.count() < WORKLOADS_MAX && !workloads.contains(&of) {
            workloads.push(of);
        }
    }
    tasks
        .iter()
        .filter(|task| is_counted(&task.cell) && ends.contains(&Some(task.cell.threads)))
        .filter(|task| workloads.contains(&(&task.cell.suite, &task.cell.workload)))
        .filter(|task| {
            let id = task.cell.id();
            let is_timed = campaign.processes.iter().any(|one| one.cell == id);
            is_timed && campaign.counts.iter().all(|counts| counts.cell != id)
        })
        .collect()
}
