//! `fathom suite http`: an HTTP server on fibers, driven on loopback.
//!
//! ```text
//!  Load ─ peaks ─▶ rates ─ rounds ─▶ load.jsonl ─▶ http.md, .html, .csv
//! ```

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, ensure};
use fathom_bench::house::House;
use fathom_bench::http::{HttpError, Load, rates};
use fathom_bench::missing_builds::NotBuilt;
use fathom_bench::request::RequestError;
use fathom_record::Variant;
use fathom_record::load::{FILE_NAME, LoadRun};
use fathom_report::load;

use super::Args;
use crate::bench;
use crate::invocation::Invocation;
use crate::report::print;

/// What it is, for a list of selections.
pub const HELP: &str = "How many requests an HTTP server on fibers serves, and how fast";
/// A paragraph for the command's help.
pub const ABOUT: &str = "`http`: an HTTP/1.1 server in C on the library of fibers: with Asyncify and with stack switching in \
    Fathom, and native. oha drives it over loopback with 1000 connections, first at the highest rate, \
    then at constant rates, the same for all. --rounds repeats it [default: 1]; --quick drives for 2 \
    seconds instead of 10 (--time-limit sets another time); --variant chooses builds. The table is \
    written as http.md, .html and .csv. Needs `python3 workloads/build.py --suite http`.";
/// The name on the command line.
pub const NAME: &str = "http";

const BUILDS: [Variant; 3] = [Variant::WasmAsyncify, Variant::WasmSwitch, Variant::Native];
const SECONDS: u32 = 10;
const SECONDS_QUICK: u32 = 2;

/// Drives the servers, and reports.
///
/// # Errors
/// Whatever keeps it from beginning, or its files from being written.
pub fn run(args: &Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let is_plain = args.workloads.is_empty()
        && args.size.is_none()
        && args.bounds.is_empty()
        && args.engines.is_empty()
        && args.threads.is_empty();
    ensure!(
        is_plain,
        "http has no workloads, sizes, strategies, engines or threads to choose from"
    );
    args.settings.refuse(
        "suite http",
        "its servers are started as `fathom run` starts a program",
    )?;
    let house = invocation.house()?.ok_or(RequestError::NoHouse)?;
    let builds = match args.variant.as_slice() {
        [] => BUILDS.to_vec(),
        named => named.to_vec(),
    };
    let seconds = match (args.pace.time_limit, args.pace.quick) {
        (Some(limit), _) => (limit.as_secs() as u32).max(1),
        (None, true) => SECONDS_QUICK,
        (None, false) => SECONDS,
    };
    let load = load_built(&house, &builds, seconds)?;
    let header = load.header(env!("CARGO_PKG_VERSION"))?;
    let folder = folder(args, &house, invocation, &header.date)?;
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(FILE_NAME);
    ensure!(
        !path.exists(),
        "{}: something was measured there already",
        folder.display()
    );
    let mut file = File::create(&path).with_context(|| path.display().to_string())?;
    writeln!(file, "{}", serde_json::to_string(&header)?)?;
    let mut tell = |run: &LoadRun| -> anyhow::Result<()> {
        writeln!(file, "{}", serde_json::to_string(run)?)?;
        print(&said(run))?;
        Ok(())
    };
    // The server's and the driver's; Ctrl-C ends it.
    let wait = args.pace.wait_idle.unwrap_or(fathom_bench::idle::LIMIT);
    bench::idle::wait(2, wait, &AtomicBool::new(false));
    let mut runs = Vec::new();
    let mut constant = Vec::new();
    for round in 0..args.pace.rounds.unwrap_or(1) {
        let peaks = load.round(round, &[None], &mut tell)?;
        if round == 0 {
            constant = rates(&peaks);
        }
        runs.extend(peaks);
        runs.extend(load.round(round, &constant, &mut tell)?);
    }
    let sheet = load::sheet(&header, &runs)?;
    for (name, text) in sheet.files(NAME, "http") {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    let troubles = load::troubles(&runs);
    print(&format!(
        "\n{}{troubles}\n{}\n",
        sheet.plain(),
        folder.display()
    ))?;
    Ok(match troubles.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// What is to be driven; in the user's own house, what is missing of it is built first.
fn load_built(house: &House, builds: &[Variant], seconds: u32) -> anyhow::Result<Load> {
    match Load::of(house, builds, seconds) {
        Err(HttpError::Missing(first)) if house.is_of_user() => {
            eprintln!("building what is missing of {NAME}: the generator takes minutes, once");
            let lack = NotBuilt {
                first,
                cells: builds.len(),
                suite: NAME.to_owned(),
                size: String::new(),
                variants: builds.to_vec(),
                workloads: Vec::new(),
            };
            lack.build(house)
                .with_context(|| format!("{NAME} cannot be built"))?;
            Ok(Load::of(house, builds, seconds)?)
        }
        load => Ok(load?),
    }
}

fn folder(
    args: &Args,
    house: &House,
    invocation: &Invocation,
    date: &str,
) -> anyhow::Result<PathBuf> {
    let name = format!("{}-http", date.replace(':', ""));
    let here = std::env::current_dir()?;
    let results = || invocation.results(Some(house), &here).join(name);
    Ok(args.results.out.clone().unwrap_or_else(results))
}

fn said(run: &LoadRun) -> String {
    let rate = run
        .rate
        .map_or_else(|| "peak".to_owned(), |rate| format!("{rate}/s"));
    match &run.trouble {
        Some(why) => format!("{} {} {rate}: {why}\n", run.engine, run.build),
        None => format!(
            "{} {} {rate}: {:.0} answers/s, 99.9 % within {:.2} ms, largest {:.2} ms, {} failed\n",
            run.engine,
            run.build,
            run.per_second,
            run.p999_ns as f64 / 1e6,
            run.max_ns as f64 / 1e6,
            run.failed,
        ),
    }
}
