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

mod experiments;
mod finish;
mod prepare;
mod probe;
mod show;
mod target;

use std::{
    path::PathBuf,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use clap::Parser;
use fathom_bench::{
    choose::Wanted,
    results::{Results, same_campaign},
    session::Session,
};
use fathom_record::{
    Opt, Record, Variant,
    campaign::{FILE_NAME, Resumed},
};

use prepare::Prepared;

/// Measure a suite, or a WASI program of your own, on every engine
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
Without TARGET, the PolyBench kernels are measured. `growth` measures instances \
that are made, grown and dropped in a loop; `compile` measures compilation alone.")]
pub struct Args {
    /// A suite's name, a WASI program (app.wasm), `growth` or `compile`
    target: Option<String>,
    /// Arguments of the program, after `--`
    #[arg(last = true)]
    args: Vec<String>,

    /// Problem size of the suite [default: medium]
    #[arg(long, help_heading = "What")]
    size: Option<String>,
    /// Only these workloads of the suite
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAMES",
        help_heading = "What"
    )]
    kernels: Vec<String>,
    /// Builds of the suite: wasm, wasm-simd [default: wasm-simd]
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAMES",
        help_heading = "What"
    )]
    variant: Vec<Variant>,
    /// Engines as NAME[:STRATEGY[:BACKEND]]; all that are installed by default
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAMES",
        help_heading = "What"
    )]
    engines: Vec<Wanted>,
    /// Strategies of our engine; `auto` is the cheapest exact one [default: all]
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAMES",
        help_heading = "What"
    )]
    bounds: Vec<String>,
    /// How hard our engine compiles: speed, none [default: speed]
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "LEVELS",
        help_heading = "What"
    )]
    opt: Vec<Opt>,
    /// Instances at once, one pinned thread each [default: 1]
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "COUNTS",
        help_heading = "What"
    )]
    threads: Vec<u32>,

    /// Folder the program may use
    #[arg(long = "dir", value_name = "HOST[::GUEST]", help_heading = "Program")]
    dirs: Vec<String>,
    /// Environment variable of the program
    #[arg(long = "env", value_name = "K=V", help_heading = "Program")]
    env: Vec<String>,
    /// File for the program's standard input
    #[arg(long, value_name = "FILE", help_heading = "Program")]
    stdin: Option<PathBuf>,
    /// Do not compare what engines print
    #[arg(long, help_heading = "Program")]
    any_output: bool,

    /// Rounds; as many as fit into the budget by default
    #[arg(long, help_heading = "How long")]
    rounds: Option<u32>,
    /// Counted iterations per cell and round; by how long one takes by default
    #[arg(long, help_heading = "How long")]
    iterations: Option<u32>,
    /// Uncounted iterations before them
    #[arg(long, default_value_t = 1, help_heading = "How long")]
    warmup: u32,
    /// Time for the whole campaign, such as 90s or 10m; the first round is
    /// finished whatever it takes
    #[arg(long, value_parser = duration, help_heading = "How long")]
    budget: Option<Duration>,
    /// Time for one cell in one round
    #[arg(long, value_parser = duration, default_value = "60s", help_heading = "How long")]
    time_limit: Duration,
    /// A first impression: a few kernels, small, one minute
    #[arg(long, help_heading = "How long")]
    quick: bool,

    /// Folder for the results
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "resume",
        help_heading = "Results"
    )]
    out: Option<PathBuf>,
    /// Go on with the campaign in this folder
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "target",
        help_heading = "Results"
    )]
    resume: Option<PathBuf>,
    /// Go on even if the campaign is from another host
    #[arg(long, requires = "resume", help_heading = "Results")]
    resume_anywhere: bool,
    /// Decides orders and layouts; from the clock by default
    #[arg(long, help_heading = "Results")]
    seed: Option<u64>,
    /// Do not probe whether strategies are sound before measuring
    #[arg(long, help_heading = "Results")]
    no_probe: bool,
}

/// For reading a campaign's own command line again.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Again {
    #[command(flatten)]
    args: Args,
}

/// Measures, and reports.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let stop = stop_on_signals()?;
    let (prepared, mut results) = match &args.resume {
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
        .out
        .as_ref()
        .map(|out| out.join(FILE_NAME))
        .filter(|path| path.exists())
    {
        let folder = args.out.as_deref().unwrap_or(&taken).display();
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
    if let Some(cwd) = header.config.other.get("folder") {
        std::env::set_current_dir(cwd).with_context(|| cwd.clone())?;
    }
    // The first word is the command's name.
    let words = header.command.iter().skip(1);
    let before = Again::try_parse_from(words)
        .map_err(|error| anyhow::anyhow!("its command line is no longer understood: {error}"))?;
    let mut before = before.args;
    before.out = Some(folder.clone());
    before.budget = args.budget.or(before.budget);
    let mut prepared = prepare::prepare(&before, &header.command)?;
    prepared.adopt(&campaign);
    same_campaign(&folder, header, &prepared.header, args.resume_anywhere)?;
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

/// Reads `90`, `90s`, `10m` or `2h`.
fn duration(text: &str) -> anyhow::Result<Duration> {
    let (number, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let factor = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => bail!("a time is a number with ms, s, m or h"),
    };
    let number: f64 = number
        .parse()
        .context("a time is a number with ms, s, m or h")?;
    Duration::try_from_secs_f64(number * factor).context("not a time to wait for")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers_with_a_unit() {
        assert_eq!(duration("90").unwrap(), Duration::from_secs(90));
        assert_eq!(duration("1.5m").unwrap(), Duration::from_secs(90));
        assert_eq!(duration("250ms").unwrap(), Duration::from_millis(250));
        for bad in ["", "m", "-1s", "1d", "1e999h", "s1"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_campaigns_command_line_is_understood_again() {
        let words = [
            "polybench",
            "--size",
            "mini",
            "--engines",
            "fathom:guard,native",
            "--",
            "-x",
        ];
        let args = Again::try_parse_from(words).unwrap().args;
        assert_eq!(args.size.as_deref(), Some("mini"));
        assert_eq!(args.engines.len(), 2);
        assert_eq!(args.args, ["-x"]);
    }
}
