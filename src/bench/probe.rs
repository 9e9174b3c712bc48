//! The soundness probe before the measuring: a sandbox which does not keep
//! what it promises has no time.

use std::sync::atomic::AtomicBool;

use fathom_bench::{prepare::Prepared, probe, results::Results};
use fathom_record::{
    FailureKind, Record, Sandbox,
    campaign::{Failure, ProbeRecord},
};

/// Probes every sandbox that has not been probed in this campaign, and gives
/// up the cells of those which fail.
pub fn exclude_unsound(
    prepared: &Prepared,
    results: &mut Results,
    stop: &AtomicBool,
) -> anyhow::Result<()> {
    for row in prepared.rows.iter().filter(|row| row.native.is_none()) {
        let id = row.sandbox.id();
        if results
            .campaign()
            .probes
            .iter()
            .any(|record| record.sandbox == id)
        {
            continue;
        }
        let mut runner = probe::Runner {
            driver: &prepared.drivers[row.driver],
            sandbox: &row.sandbox,
            time_limit: probe::TIME_LIMIT,
            cancel: stop,
        };
        let extent = probe::Extent::of(&row.sandbox);
        let claimed = probe::claimed(&row.sandbox);
        match probe::probe(&mut runner, extent, claimed, &mut |_| {}) {
            Ok(findings) => {
                let record = findings.record(&row.sandbox);
                eprintln!("probe: {}: {}", record.sandbox, in_words(&record));
                let mut records = vec![Record::Probe(record.clone())];
                if record.is_unsound() {
                    records.extend(give_up(prepared, &row.sandbox, &in_words(&record)));
                }
                results.append(records)?;
            }
            Err(probe::SubjectError::Cancelled) => return Ok(()),
            // It could not even be asked: measuring it will say why.
            Err(error) => eprintln!("probe: {id}: not probed: {error}"),
        }
    }
    Ok(())
}

fn in_words(record: &ProbeRecord) -> String {
    let claimed = record.claimed;
    let mut text = match record.examples.first() {
        Some(example) if record.is_unsound() => format!(
            "not {claimed}: {} of {} accesses, such as {example}",
            record.violations, record.accesses
        ),
        Some(example) if record.is_overcautious() => format!(
            "{}, not {claimed}: {} of {} accesses trapped inside the memory, such as {example}",
            record.observed, record.needless, record.accesses
        ),
        _ => format!("{} ({} accesses)", record.observed, record.accesses),
    };
    if !record.without.is_empty() {
        text.push_str(&format!("; not tried: {}", record.without.join(", ")));
    }
    text
}

fn give_up(prepared: &Prepared, sandbox: &Sandbox, why: &str) -> Vec<Record> {
    let cells = prepared.plan.tasks.iter().map(|task| &task.cell);
    cells
        .filter(|cell| cell.sandbox == *sandbox && cell.variant.is_wasm())
        .map(|cell| {
            Record::Failure(Failure {
                cell: Some(cell.id()),
                round: None,
                kind: FailureKind::Unsound,
                message: why.to_owned(),
            })
        })
        .collect()
}
