//! The soundness probe before the measuring: a sandbox which does not keep
//! what it promises has no time.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use fathom_bench::{
    choose::Row,
    prepare::Prepared,
    probe::{self, Findings, SubjectError, kept::Verdicts},
    results::Results,
};
use fathom_record::{
    FailureKind, Record, Sandbox,
    campaign::{Failure, ProbeRecord},
};

/// How often it is looked at whether to stop.
const TICK: Duration = Duration::from_millis(100);

/// Sees to it that every sandbox of a campaign has been probed, now or before, and gives
/// up the cells of those which fail.
pub fn exclude_unsound(
    prepared: &Prepared,
    results: &mut Results,
    stop: &AtomicBool,
) -> anyhow::Result<()> {
    let has_record = |row: &&Row| {
        let id = row.sandbox.id();
        let probes = &results.campaign().probes;
        probes.iter().any(|record| record.sandbox == id)
    };
    let sandboxes = prepared.rows.iter().filter(|row| row.native.is_none());
    let mut left: Vec<&Row> = sandboxes.filter(|row| !has_record(row)).collect();
    let verdicts = Verdicts::of_user(&prepared.header.host);
    if let Some(verdicts) = verdicts.as_ref().filter(|_| !prepared.probes_again) {
        left = take_kept(prepared, results, verdicts, left)?;
    }
    probe_all(prepared, results, verdicts.as_ref(), &left, stop)
}

/// Takes over the verdicts that still hold; the rows without one.
fn take_kept<'a>(
    prepared: &Prepared,
    results: &mut Results,
    verdicts: &Verdicts,
    rows: Vec<&'a Row>,
) -> anyhow::Result<Vec<&'a Row>> {
    let (mut left, mut dates) = (Vec::new(), Vec::new());
    for row in rows {
        let engine = &prepared.engines[row.driver];
        let kept = verdicts.find(&row.sandbox, engine);
        let Some(record) = kept.filter(|_| !engine.is_empty()) else {
            left.push(row);
            continue;
        };
        dates.extend(record.date.as_deref().map(|date| day(date).to_owned()));
        if record.is_unsound() || record.is_overcautious() {
            say!("probe: {}: {}", record.sandbox, in_words(&record));
        }
        conclude(prepared, results, &row.sandbox, record)?;
    }
    if let (Some(first), Some(last)) = (dates.iter().min(), dates.iter().max()) {
        let when = match first == last {
            true => first.clone(),
            false => format!("{first} to {last}"),
        };
        say!(
            "probe: {} as found on {when}, and nothing has changed (--probe-again probes anew)",
            fathom_report::figures::plural(dates.len(), "verdict")
        );
    }
    Ok(left)
}

/// The day of a date.
fn day(date: &str) -> &str {
    date.split('T').next().unwrap_or(date)
}

/// Probes rows, as many at a time as there are processors: nothing is timed by then.
fn probe_all(
    prepared: &Prepared,
    results: &mut Results,
    verdicts: Option<&Verdicts>,
    rows: &[&Row],
    stop: &AtomicBool,
) -> anyhow::Result<()> {
    let deadline = prepared.probe_limit.map(|limit| Instant::now() + limit);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = workers.min(rows.len());
    let until = |number: usize| turn_ends(deadline?, workers, rows.len() - number);
    let is_late = || deadline.is_some_and(|deadline| Instant::now() > deadline);
    let (halt, next) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (found, outcomes) = mpsc::channel();
    let mut late = Vec::new();
    let mut ended = Ok(());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let found = found.clone();
            let (halt, next, until) = (&halt, &next, &until);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(row) = rows.get(number) else { return };
                    let outcome = probe_one(prepared, row, until(number), halt);
                    if found.send((*row, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(found);
        loop {
            if stop.load(Ordering::Relaxed) || is_late() {
                halt.store(true, Ordering::Relaxed);
            }
            let (row, outcome) = match outcomes.recv_timeout(TICK) {
                Ok(one) => one,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let sandbox = &row.sandbox;
            match outcome {
                // What a signal cut short is probed again.
                Ok(findings) if findings.part_percent.is_some() && stop.load(Ordering::Relaxed) => {
                }
                Ok(findings) => {
                    let record = findings.record(sandbox);
                    say!("probe: {}: {}", record.sandbox, in_words(&record));
                    keep(verdicts, &prepared.engines[row.driver], sandbox, &record);
                    ended = conclude(prepared, results, sandbox, record);
                    if ended.is_err() {
                        halt.store(true, Ordering::Relaxed);
                        return;
                    }
                }
                Err(SubjectError::Cancelled) => late.push(sandbox.id().to_string()),
                // It could not even be asked: measuring it will say why.
                Err(error) => say!("probe: {}: not probed: {error}", sandbox.id()),
            }
        }
    });
    if !late.is_empty() && !stop.load(Ordering::Relaxed) {
        let names = late.join(", ");
        say!("probe: no time with --quick for {names}: not probed");
    }
    ended
}

/// When a row's turn ends: each of those left has the same part of the time, so that the
/// slow leave some to the others.
fn turn_ends(deadline: Instant, workers: usize, left: usize) -> Option<Instant> {
    let rows = u32::try_from(left).ok()?;
    let workers = u32::try_from(workers).ok()?.min(rows);
    let now = Instant::now();
    Some(now + deadline.saturating_duration_since(now) * workers / rows.max(1))
}

/// Keeps a whole verdict for the next time.
fn keep(verdicts: Option<&Verdicts>, engine: &str, sandbox: &Sandbox, record: &ProbeRecord) {
    let is_whole = record.part_percent.is_none();
    if let Some(verdicts) = verdicts.filter(|_| is_whole && !engine.is_empty()) {
        // It costs a probe the next time, and nothing else.
        let _ = verdicts.keep(sandbox, engine, record);
    }
}

fn probe_one(
    prepared: &Prepared,
    row: &Row,
    until: Option<Instant>,
    halt: &AtomicBool,
) -> Result<Findings, SubjectError> {
    if halt.load(Ordering::Relaxed) {
        return Err(SubjectError::Cancelled);
    }
    let mut runner = probe::Runner {
        driver: &prepared.drivers[row.driver],
        sandbox: &row.sandbox,
        time_limit: probe::TIME_LIMIT,
        cancel: halt,
    };
    let extent = probe::Extent {
        until,
        ..probe::Extent::of(&row.sandbox)
    };
    probe::probe(
        &mut runner,
        extent,
        probe::claimed(&row.sandbox),
        &mut |_| {},
    )
}

/// Records a verdict, and gives up the cells of who is unsound.
fn conclude(
    prepared: &Prepared,
    results: &mut Results,
    sandbox: &Sandbox,
    record: ProbeRecord,
) -> anyhow::Result<()> {
    let mut records = vec![Record::Probe(record.clone())];
    if record.is_unsound() {
        records.extend(give_up(prepared, sandbox, &in_words(&record)));
    }
    Ok(results.append(records)?)
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
    if let Some(part) = record.part_percent {
        text.push_str(&format!("; there was time for {part} % of it"));
    }
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
