//! `fathom bisect`: since which release of an engine a program is slower, or faster.
//!
//! ```text
//!  good, bad ─▶ a campaign of both ─▶ different? ─▶ the middle release, beside both ─▶ … ─▶ the two
//!                                     no: said so    as good, as bad, or broken              again
//! ```
//!
//! Each step is a campaign as `fathom bench` makes one, in a folder of its own, judged by the
//! estimates and verdicts of reports; `halving` decides what is looked at next.
//!
//! What must stay true: a release is named only where the two around the change were shown
//! to differ in a campaign of the two alone, or it is said that they were not.

mod commits;
mod halving;
mod measured;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use fathom_bench::choose::Wanted;
use fathom_bench::home::Home;
use fathom_record::release;
use fathom_report::figures::{ends, ratio as figure, ratio_among};
use fathom_stats::{DELTA, Figure, RowRatio, Verdict};

use self::commits::Commits;
use self::halving::{Found, Halving, nearer, side};
use self::measured::{Source, Steps, Told};
use crate::bench;
use crate::engines;
use crate::invocation::Invocation;
use crate::report::print;

/// A difference was found, and no release shown to be the one.
const UNCONFIRMED: u8 = 3;
/// It cannot be said whether there is a difference.
const TOO_NOISY: u8 = 4;

/// Find the release of an engine since which a program is slower
#[derive(clap::Args)]
#[group(skip)]
#[command(
    override_usage = "fathom bisect --engine <NAME> --good <VERSION> --bad <VERSION> [OPTIONS] [TARGET] [ARGS]...",
    after_help = "\
Measures both releases. Where they differ, it installs the release in the middle and measures it beside \
both, until two neighbours are left, and measures these once more. A release that cannot be installed, \
or does not run the program, is left out. Exit statuses: 0 if a release was found, or both are the same within 2 %; \
3 if they differ and no release was shown to be the one; 4 if it is too noisy to say."
)]
pub struct Args {
    /// The engine, as NAME[:STRATEGY[:BACKEND]]; with --build a build of your own, as NAME=WHAT
    #[arg(long, value_name = "NAME")]
    engine: Wanted,
    /// A release, or with --build a commit, that is as it should be
    #[arg(long, value_name = "VERSION")]
    good: String,
    /// One that is not; it may be the older one
    #[arg(long, value_name = "VERSION")]
    bad: String,
    /// Look among installed releases only: nothing is installed, and no registry asked
    #[arg(long)]
    installed: bool,
    /// Look among commits: in a work tree of each, at {tree}, this command builds what --engine
    /// names; a commit for which it fails is left out
    #[arg(long, value_name = "COMMAND", conflicts_with = "installed")]
    build: Option<String>,
    /// The repository of these commits
    #[arg(long, value_name = "DIR", default_value = ".", requires = "build")]
    repo: PathBuf,
    /// Compare by this figure (compile, start, rss_peak…) instead of the usual one
    #[arg(long, value_name = "FIGURE", value_parser = fathom_report::view::figure)]
    by: Option<Figure>,
    /// What is measured, and for how long.
    #[command(flatten)]
    bench: bench::Args,
}

/// Looks for the release.
///
/// # Errors
/// One line: a release that is not to be had, or what keeps both from being measured.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    ensure!(
        args.bench.engines.is_empty(),
        "--engines: bisect takes one, by --engine"
    );
    ensure!(
        args.bench.shard.is_none(),
        "--shard: bisect measures on one machine"
    );
    ensure!(
        args.bench.results.resume.is_none(),
        "--resume: begin anew; what is installed stays"
    );
    let plain =
        args.engine.version.is_none() && args.engine.build.is_some() == args.build.is_some();
    ensure!(
        plain,
        "--engine {}: NAME[:STRATEGY[:BACKEND]], its releases are --good and --bad; NAME=WHAT with --build",
        args.engine
    );
    let home = invocation.home()?;
    let home = home.context("there is no checkout of fathom around this folder")?;
    let (source, releases) = source(&home, &args)?;
    let mut steps = Steps::new(args.engine, source, args.by, args.bench, home, invocation)?;
    let [first, .., last] = &releases[..] else {
        bail!("--good and --bad are one release, {}", releases[0]);
    };
    for release in [first, last] {
        steps.install(release)?.map_err(anyhow::Error::msg)?;
    }
    let whole = compared(&mut steps, first, last)?;
    tell(&format!("{last} over {first}: {}\n", said(&whole)))?;
    match whole.verdict {
        Verdict::Different => search(&mut steps, &releases, &whole),
        Verdict::Equivalent => {
            tell(&format!(
                "no difference: {last} is within {:.0} % of {first}\n",
                DELTA * 100.0
            ))?;
            Ok(ExitCode::SUCCESS)
        }
        Verdict::Undecided | Verdict::Uncontrolled | Verdict::TooFew => {
            tell("no difference was shown, and none ruled out: measure more rounds\n")?;
            Ok(ExitCode::from(TOO_NOISY))
        }
    }
}

/// Where releases come from, and those from the good one to the bad one.
fn source(home: &Home, args: &Args) -> anyhow::Result<(Source, Vec<String>)> {
    if let Some(command) = &args.build {
        let commits = Commits::of(&args.repo, command.clone(), &args.engine)?;
        let all = commits.between(&args.good, &args.bad)?;
        return Ok((Source::Commits(Box::new(commits)), all));
    }
    let source = match args.installed {
        true => Source::Installed,
        false => Source::Registry,
    };
    Ok((source, between(home, args)?))
}

/// The releases from the good one to the bad one, these first and last.
fn between(home: &Home, args: &Args) -> anyhow::Result<Vec<String>> {
    let name = &args.engine.engine;
    let mut releases = match args.installed {
        true => engines::installed(home, name)?,
        false => engines::offered(home, name)?,
    };
    let from = if args.installed {
        "installed"
    } else {
        "in its registry"
    };
    let position = |asked: &str| {
        let found = release::newest(asked, releases.iter().map(String::as_str));
        let at = found.and_then(|found| releases.iter().position(|one| one == found));
        let names = || {
            releases
                .iter()
                .take(6)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", ")
        };
        at.with_context(|| {
            format!(
                "{name}@{asked}: no such release is {from}; there is {}",
                names()
            )
        })
    };
    let (good, bad) = (position(&args.good)?, position(&args.bad)?);
    let ends = [releases[good].clone(), releases[bad].clone()];
    releases = releases[good.min(bad)..=good.max(bad)].to_vec();
    // What is not final is looked at where it was named.
    releases.retain(|one| release::is_final(one) || ends.contains(one));
    // The newest stood first.
    if good > bad {
        releases.reverse();
    }
    Ok(releases)
}

/// Halves what lies between, and measures what is left once more.
fn search(
    steps: &mut Steps<'_>,
    releases: &[String],
    whole: &RowRatio,
) -> anyhow::Result<ExitCode> {
    let (first, last) = (&releases[0], &releases[releases.len() - 1]);
    let mut halving = Halving::of(releases.len());
    while let Some(at) = halving.next() {
        let release = &releases[at];
        let found = match steps.install(release)? {
            Err(why) => broken(&why)?,
            Ok(()) => look(steps, [first, release, last])?,
        };
        halving.tell(at, found);
    }
    let (good, bad) = halving.ends();
    let (good, bad, between) = (&releases[good], &releases[bad], bad - good - 1);
    let engine = steps.engine();
    if between > 0 {
        let left_out = fathom_report::figures::plural(between, "release");
        tell(&format!(
            "{engine}: it changed after {good} and not after {bad}; {left_out} between cannot be measured\n"
        ))?;
    }
    let is_whole = releases.len() == 2;
    let pair = match is_whole {
        true => whole.clone(),
        false => compared(steps, good, bad)?,
    };
    let grew = whole.geomean.as_ref().map_or(1.0, |ratio| ratio.value);
    let same_way = pair
        .geomean
        .as_ref()
        .is_ok_and(|ratio| (ratio.value > 1.0) == (grew > 1.0));
    if pair.verdict != Verdict::Different || !same_way {
        tell(&format!(
            "{engine} {bad} over {good}, its neighbour: {}: not confirmed; it may have come in several steps\n",
            said(&pair)
        ))?;
        return Ok(ExitCode::from(UNCONFIRMED));
    }
    let way = if grew > 1.0 { "slower" } else { "faster" };
    tell(&format!(
        "{engine} {bad} is the first that is {way}: {} of {good}\n",
        said(&pair)
    ))?;
    Ok(match between {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(UNCONFIRMED),
    })
}

/// Two releases by themselves, and where that does not say, with more rounds.
fn compared(steps: &mut Steps<'_>, good: &String, bad: &String) -> anyhow::Result<RowRatio> {
    let pair = steps.measure(&[good, bad])?.ratio(bad, good)?;
    match pair.verdict {
        Verdict::Different | Verdict::Equivalent => Ok(pair),
        Verdict::Undecided | Verdict::Uncontrolled | Verdict::TooFew => {
            steps.measure_longer(&[good, bad])?.ratio(bad, good)
        }
    }
}

/// What the release in the middle is like, measured beside both ends.
fn look(steps: &mut Steps<'_>, [first, release, last]: [&String; 3]) -> anyhow::Result<Found> {
    let mut told = steps.measure(&[first, release, last])?;
    if let Some(why) = told.without_time(release) {
        return broken(&format!("{release}: {why}"));
    }
    let mut decided = decide(&told, [first, release, last])?;
    if decided.is_none() {
        // It may be either: twice the rounds tell more, and then the nearer one is taken.
        told = steps.measure_longer(&[first, release, last])?;
        decided = decide(&told, [first, release, last])?;
    }
    let ratio = told.ratio(release, first)?;
    let value = ratio
        .geomean
        .as_ref()
        .map_err(|_| anyhow::anyhow!("no ratio"))?
        .value;
    let (found, sure) = match decided {
        Some(found) => (found, ""),
        None => (nearer(value, told.value(last, first)?), ", as it seems"),
    };
    let like = if found == Found::Good { first } else { last };
    tell(&format!(
        "{release} over {first}: {}: as {like}{sure}\n",
        said(&ratio)
    ))?;
    Ok(found)
}

fn decide(told: &Told, [first, release, last]: [&String; 3]) -> anyhow::Result<Option<Found>> {
    let whole = told.value(last, first)?;
    let ratio = told.ratio(release, first)?;
    Ok(ratio.geomean.ok().and_then(|ratio| side(&ratio, whole)))
}

fn broken(why: &str) -> anyhow::Result<Found> {
    tell(&format!("left out: {why}\n"))?;
    Ok(Found::Broken)
}

/// A ratio with its interval and what it is worth.
fn said(ratio: &RowRatio) -> String {
    match &ratio.geomean {
        Err(why) => format!("{why}"),
        Ok(found) => match &found.interval {
            Ok(interval) => format!(
                "{} × ({}), {}",
                ratio_among(found.value, interval.low, interval.high),
                ends(interval.low, interval.high),
                ratio.verdict.name()
            ),
            Err(why) => format!("{} ({why})", figure(found.value)),
        },
    }
}

fn tell(text: &str) -> anyhow::Result<()> {
    Ok(print(text)?)
}
