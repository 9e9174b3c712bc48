//! `fathom bench`: what a program costs on every engine, under every strategy,
//! beside native code.
//!
//! ```text
//!  Args ─▶ prepare ─▶ Prepared ─▶ probe ─▶ Session ─▶ finish
//!            ▲ --resume: the Args of the campaign's own command line
//! ```
//!
//! `prepare` decides what is measured, `show` shows how far it is, `finish`
//! makes the reports; measuring itself is in the crate `fathom-bench`.

pub mod args;
mod bounds;
mod counts;
mod finish;
mod library;
mod prepare;
mod probe;
mod scaling;
mod show;
pub mod spec;
mod startup;
mod target;

use std::{
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use anyhow::{Context, bail};
use fathom_bench::{
    results::{Results, same_campaign},
    session::Session,
};
use fathom_record::{
    Record,
    campaign::{FILE_NAME, Resumed},
};

pub use args::Args;
use prepare::Prepared;

/// Measures, and reports.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let stop = stop_on_signals()?;
    let (prepared, mut results) = match &args.results.resume {
        None => begin(&args, &stop)?,
        Some(folder) => go_on(&args, folder)?,
    };
    measure(&prepared, &mut results, &stop)
}

/// A new campaign.
fn begin(args: &Args, stop: &AtomicBool) -> anyhow::Result<(Prepared, Results)> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // Before anything is written: an earlier campaign must stay as it is.
    if let Some(taken) = args
        .results
        .out
        .as_ref()
        .map(|out| out.join(FILE_NAME))
        .filter(|path| path.exists())
    {
        let folder = args.results.out.as_deref().unwrap_or(&taken).display();
        bail!("{folder} holds a campaign already: choose another --out, or --resume {folder}");
    }
    let mut prepared = prepare::prepare(args, &words)?;
    prepared.look_first(stop)?;
    let results = Results::create(&prepared.folder, prepared.header.clone())?;
    Ok((prepared, results))
}

/// The campaign in a folder, prepared by its own command line.
fn go_on(args: &Args, folder: &std::path::Path) -> anyhow::Result<(Prepared, Results)> {
    let folder = std::path::absolute(folder)?;
    let campaign = Results::read(&folder)?;
    let header = &campaign.header;
    if let Some(cwd) = &header.config.folder {
        std::env::set_current_dir(cwd).with_context(|| cwd.display().to_string())?;
    }
    let mut before = args::again(&header.command)?;
    before.results.out = Some(folder.clone());
    before.pace.budget = args.pace.budget.or(before.pace.budget);
    let mut prepared = prepare::prepare(&before, &header.command)?;
    prepared.adopt(&campaign);
    same_campaign(
        &folder,
        header,
        &prepared.header,
        args.results.resume_anywhere,
    )?;
    let mut results = Results::resume(&folder, campaign)?;
    results.append(vec![Record::Resumed(Resumed {
        date: fathom_bench::date::rfc3339(std::time::SystemTime::now()),
        command: std::env::args().skip(1).collect(),
    })])?;
    Ok((prepared, results))
}

fn measure(
    prepared: &Prepared,
    results: &mut Results,
    stop: &AtomicBool,
) -> anyhow::Result<ExitCode> {
    let began = Instant::now();
    prepared.announce();
    if !prepared.skips_probe {
        probe::exclude_unsound(prepared, results, stop)?;
    }
    let mut shown = show::Shown::new();
    let mut drivers = prepared.boxed_drivers();
    let mut pace = prepared.pace.clone();
    pace.budget = pace
        .budget
        .map(|budget| budget.saturating_sub(began.elapsed()));
    let ended = Session {
        plan: &prepared.plan,
        drivers: &mut drivers,
        results,
        pace,
        stop,
        observer: &mut shown,
    }
    .run();
    shown.finish();
    let folder = prepared.folder.display();
    let ended = ended.with_context(|| format!("go on with `fathom bench --resume {folder}`"))?;
    if prepared.kind == target::Kind::Scaling && !prepared.is_spec {
        counts::pass(prepared, results, stop)?;
    }
    finish::finish(prepared, results, ended)
}

/// The flag which Ctrl-C and termination set. A second one ends us at once;
/// children die with us.
fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        eprintln!("\nstopping: what was measured is kept (once more to end at once)");
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(stop)
}
