//! Does an answer count? From a conversation to records, or to a failure.

use std::collections::BTreeMap;

use fathom_record::{
    FailureKind, Phase, Record,
    campaign::{Process, Sample},
    protocol::Iteration,
};

use crate::{
    check::check_output,
    driver::{Conversation, DriveError},
    plan::{Plan, Task},
};

/// The records of a measured cell: its samples, and the process record which
/// seals them.
///
/// # Errors
/// A failure when anything is missing or wrong: then no time counts.
pub fn judge(
    plan: &Plan,
    task: &Task,
    round: u32,
    iterations: u32,
    conversation: &Conversation,
) -> Result<Vec<Record>, DriveError> {
    let protocol = |message: String| DriveError::failed(FailureKind::Protocol, message);
    if conversation.hello.is_none() {
        return Err(protocol("never said what is in force".into()));
    }
    let id = task.cell.id();
    let mut counted: BTreeMap<u32, u32> = BTreeMap::new();
    let mut records = Vec::new();
    let mut warmup_ns = None;
    // Who counts slows a program down: no time is one.
    let is_timed = !plan.config.compared.is_count();
    for iteration in &conversation.iterations {
        let kernel_ns = judge_iteration(plan, task, iteration)?;
        if !iteration.counted {
            // Those after the last counted one are company for other workers.
            if is_timed && iteration.thread == 0 && !counted.contains_key(&0) {
                *warmup_ns.get_or_insert(0) += wall_ns(iteration);
            }
            continue;
        }
        let index = counted.entry(iteration.thread).or_default();
        records.push(Record::Sample(Sample {
            cell: id.clone(),
            round,
            thread: iteration.thread,
            index: *index,
            kernel_ns: kernel_ns.filter(|_| is_timed),
            phases: match is_timed {
                true => iteration.phases.clone(),
                false => BTreeMap::new(),
            },
        }));
        *index += 1;
    }
    let is_complete = counted.len() == task.cell.threads as usize
        && counted.values().all(|&count| count == iterations);
    if !is_complete {
        return Err(protocol(format!(
            "counted {} iterations in {} threads instead of {iterations} in each of {}",
            counted.values().sum::<u32>(),
            counted.len(),
            task.cell.threads
        )));
    }
    let outside = conversation.outside;
    records.push(Record::Process(Process {
        cell: id,
        round,
        phases: conversation.phases.clone(),
        metrics: conversation.metrics.clone(),
        warmup_ns,
        wall_ns: outside.wall_ns,
        cpu_ns: outside.cpu_ns,
        cpu_host: outside.cpu_host,
        cpu_pinned: outside.cpu_pinned,
        window: outside.window.map(Box::new),
        seed: plan
            .config
            .layout_varies
            .then(|| plan.layout_seed(&task.cell, round)),
    }));
    Ok(records)
}

/// All of an iteration.
fn wall_ns(iteration: &Iteration) -> u64 {
    iteration.phases.values().map(|span| span.wall_ns).sum()
}

/// One iteration, warm-up and company included: a wrong answer is wrong
/// whether it counts or not. The kernel's time, where the program states one.
fn judge_iteration(
    plan: &Plan,
    task: &Task,
    iteration: &Iteration,
) -> Result<Option<u64>, DriveError> {
    if !iteration.phases.contains_key(&Phase::Run) {
        let message = format!("iteration {} has no run phase", iteration.index);
        return Err(DriveError::failed(FailureKind::Protocol, message));
    }
    if !plan.allows(iteration.exit) {
        let message = format!("the program ended with status {}", iteration.exit);
        return Err(DriveError::failed(FailureKind::Exit, message));
    }
    let Some(stdout) = &iteration.stdout else {
        let message = format!("iteration {} has no output to check", iteration.index);
        return Err(DriveError::failed(FailureKind::Protocol, message));
    };
    check_output(stdout, &task.expected)
        .map_err(|why| DriveError::failed(FailureKind::WrongAnswer, why))
}
