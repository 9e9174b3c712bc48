//! `fathom probe`: does every sandbox keep what it promises?
//!
//! Each sandbox is an engine with a strategy, asked through its runner like for
//! a measurement; what is tried and how it is judged is in the crate
//! `fathom-bench`. The exit status is a failure when one does not keep its
//! promise, or when one that was asked for by name could not be probed.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use fathom_bench::choose::{self, Absent, Menu, Row, Wanted};
use fathom_bench::engines::{EngineSpec, Presence};
use fathom_bench::generator;
use fathom_bench::home::Home;
use fathom_bench::probe::{self, Extent, Findings, Progress, Runner, SubjectError};
use fathom_engine::{Bounds, BoundsChoice, UnknownBounds};
use fathom_record::Guarantee;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::bench::args::duration;
use crate::bench::settings::Settings;
use crate::invocation::Invocation;
use crate::report::print;
use crate::stopped::{self, Stopped};

/// Accesses at random that a plan, which is made whole before it is tried, has room for.
const RANDOM_MAX: u64 = 10_000_000;

/// Test whether each strategy keeps a program inside its memory
#[derive(clap::Args)]
#[command(after_help = "\
Every load, store, vector access and bulk operation is tried at every edge of memories \
from 0 pages to 4 GiB, 32-bit and 64-bit, with offsets up to 2^64-1, and compared with \
the specification. Without options, it probes our engine under every strategy, and every installed \
engine under each of its strategies.")]
pub struct Args {
    /// Strategy of our engine, or `all`
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = known)]
    bounds: Vec<String>,
    /// Engines as NAME[@VERSION][:STRATEGY[:BACKEND]]
    #[arg(long, alias = "engine", value_name = "NAMES", value_delimiter = ',')]
    engines: Vec<Wanted>,
    /// How our engine is set.
    #[command(flatten)]
    settings: Settings,
    /// Also try N random accesses to each kind of memory
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(..=RANDOM_MAX))]
    random: u64,
    /// Random seed of these accesses
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Time limit for a call, and for compiling a module; a sandbox that takes longer fails
    #[arg(long, value_parser = duration, default_value = "2m")]
    time_limit: Duration,
    /// Number of violations to show per sandbox
    #[arg(long, value_name = "N", default_value_t = Extent::EXAMPLES)]
    examples: usize,
    /// Print one JSON object per sandbox
    #[arg(long)]
    json: bool,
}

/// Probes what was asked for.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let stop = stopped::on_signals()?;
    let home = invocation.home()?;
    let mut args = args;
    let described = choose::described(home.as_ref(), &mut args.engines);
    let (outside, errors) = described.map_err(anyhow::Error::msg)?;
    for error in errors {
        say!("fathom: {error}");
    }
    // Words that mean nothing are found before any engine is asked whether it is here.
    let nowhere = |_: &EngineSpec| Presence::Absent { why: String::new() };
    chosen(&args, home.as_ref(), &with(nowhere, &outside))?;
    let outside = with(EngineSpec::presence, &outside);
    let (rows, mut failed) = rows(&args, home.as_ref(), &outside)?;
    let own = generator::own_driver(home.as_ref());
    let own = own.context("cannot find this program's own file")?;
    let mut drivers = vec![own; choose::NATIVE_DRIVER + 1];
    drivers.extend(outside.iter().map(|(spec, _)| spec.driver()));
    let bar = progress_bar(rows.len());
    for (number, row) in rows.iter().enumerate() {
        let name = row.sandbox.id().to_string();
        bar.set_message(name.clone());
        let mut runner = Runner {
            driver: &drivers[row.driver],
            sandbox: &row.sandbox,
            time_limit: args.time_limit,
            cancel: &stop,
        };
        let claimed = probe::claimed(&row.sandbox);
        let extent = Extent {
            random: args.random,
            seed: args.seed,
            examples: args.examples,
            ..Extent::of(&row.sandbox)
        };
        let outcome = probe::probe(
            &mut runner,
            extent,
            claimed,
            &mut |Progress { done, all }| {
                bar.set_position(number as u64 * PARTS + done as u64 * PARTS / all.max(1) as u64);
            },
        );
        bar.set_position((number as u64 + 1) * PARTS);
        if let Err(SubjectError::Cancelled) = outcome {
            bar.finish_and_clear();
            return Err(Stopped.into());
        }
        failed |= !outcome.as_ref().is_ok_and(Findings::is_kept);
        bar.suspend(|| show(&name, &outcome, args.json))?;
    }
    bar.finish_and_clear();
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// What is probed, and whether something asked for by name is not here.
fn rows(
    args: &Args,
    home: Option<&Home>,
    outside: &[(EngineSpec, Presence)],
) -> anyhow::Result<(Vec<Row>, bool)> {
    let (wanted, rows, absent) = chosen(args, home, outside)?;
    if wanted.iter().any(|wanted| wanted.engine == choose::OWN) && all_are_meant(&args.bounds) {
        for bounds in Bounds::FORMS {
            if let Some(missing) = bounds.missing() {
                say!("{} {bounds}: not probed: {missing}", choose::OWN);
            }
        }
    }
    let mut is_missing = false;
    for absent in absent {
        say!("{}: not probed: {}", absent.engine, absent.why);
        is_missing |= !args.engines.is_empty() || absent.is_wanted;
    }
    Ok((rows, is_missing))
}

/// Engines, and whether each is here.
fn with(
    presence: impl Fn(&EngineSpec) -> Presence,
    outside: &[EngineSpec],
) -> Vec<(EngineSpec, Presence)> {
    let both = |spec: &EngineSpec| (spec.clone(), presence(spec));
    outside.iter().map(both).collect()
}

/// What was asked for, and what that comes to.
fn chosen(
    args: &Args,
    home: Option<&Home>,
    outside: &[(EngineSpec, Presence)],
) -> anyhow::Result<(Vec<Wanted>, Vec<Row>, Vec<Absent>)> {
    let own_strategies = own_strategies(&args.bounds);
    let choices = args.settings.clone().choices();
    let menu = Menu {
        own_strategies: &own_strategies,
        own_settings: &choices,
        missing_values: &generator::missing(&choices, &args.engines, home),
        own_further: &[],
        natives: &[],
        outside,
    };
    let own = Wanted::own();
    let wanted = match (args.engines.is_empty(), args.bounds.is_empty()) {
        (false, _) => args.engines.clone(),
        // A strategy of ours was named, so it is ours that is meant.
        (true, false) => vec![own],
        (true, true) => std::iter::once(own).chain(every_way(outside)).collect(),
    };
    let (rows, absent) = choose::rows(&wanted, &menu).map_err(anyhow::Error::msg)?;
    Ok((wanted, rows, absent))
}

/// Every outside engine in each of its ways to check.
fn every_way(outside: &[(EngineSpec, Presence)]) -> impl Iterator<Item = Wanted> {
    outside.iter().flat_map(|(spec, presence)| {
        let ways = match presence {
            Presence::Installed { .. } => spec.strategies.as_slice(),
            // Said once that it is absent.
            Presence::Absent { .. } => &spec.strategies[..1],
        };
        ways.iter().map(|strategy| Wanted {
            engine: spec.name.clone(),
            strategy: Some(strategy.clone()),
            ..Wanted::own()
        })
    })
}

/// Whether no strategy of ours was chosen.
fn all_are_meant(bounds: &[String]) -> bool {
    bounds.is_empty() || bounds.iter().any(|name| name == "all")
}

/// Those chosen, or each that this host has.
fn own_strategies(bounds: &[String]) -> Vec<String> {
    if all_are_meant(bounds) {
        let here = Bounds::FORMS
            .iter()
            .filter(|bounds| bounds.missing().is_none());
        return here.map(Bounds::to_string).collect();
    }
    bounds.to_vec()
}

/// A strategy of ours by the name that its verdicts have, or all of them.
fn known(word: &str) -> Result<String, UnknownBounds> {
    match word {
        "all" => Ok(word.to_owned()),
        name => Ok(name.parse::<BoundsChoice>()?.to_string()),
    }
}

/// Parts of a sandbox's probe on the bar.
const PARTS: u64 = 100;

fn progress_bar(sandboxes: usize) -> ProgressBar {
    let bar = ProgressBar::new(sandboxes as u64 * PARTS);
    let style = ProgressStyle::with_template("{bar:24} {percent:>3} %  {msg}  ({eta} left)");
    // The template is ours; a default bar is no reason to give up.
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// A sandbox's findings as a program reads them.
#[derive(Serialize)]
struct Line<'a> {
    sandbox: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed: Option<Guarantee>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<Guarantee>,
    kept: bool,
    accesses: u64,
    outside: u64,
    trapped: u64,
    violations: u64,
    needless: u64,
    examples: &'a [String],
    not_tried: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

fn show(name: &str, outcome: &Result<Findings, SubjectError>, json: bool) -> anyhow::Result<()> {
    let text = match (json, outcome) {
        (true, outcome) => {
            let found = outcome.as_ref().ok();
            let line = Line {
                sandbox: name,
                claimed: found.map(|found| found.claimed),
                observed: found.map(|found| found.observed),
                kept: found.is_some_and(Findings::is_kept),
                accesses: found.map_or(0, |found| found.accesses),
                outside: found.map_or(0, |found| found.outside),
                trapped: found.map_or(0, |found| found.trapped),
                violations: found.map_or(0, |found| found.violations),
                needless: found.map_or(0, |found| found.needless),
                examples: found.map_or(&[], |found| &found.examples),
                not_tried: found.map_or(&[], |found| &found.not_tried),
                error: outcome.as_ref().err().map(SubjectError::to_string),
            };
            format!("{}\n", serde_json::to_string(&line)?)
        }
        (false, Ok(found)) => in_words(name, found, std::io::stdout().is_terminal()),
        (false, Err(error)) => format!("? {name}: not probed: {error}\n"),
    };
    Ok(print(&text)?)
}

fn in_words(name: &str, found: &Findings, colours: bool) -> String {
    let (sign, colour) = match (found.is_kept(), found.claimed) {
        (true, Guarantee::Unchecked) => ('–', "33"),
        (true, _) => ('✓', "32"),
        (false, _) => ('✗', "31"),
    };
    let sign = if colours {
        format!("\x1b[{colour}m{sign}\x1b[0m")
    } else {
        sign.to_string()
    };
    let verdict = match (found.is_kept(), found.claimed) {
        (true, Guarantee::Exact) => "exact: traps where the specification says, and nowhere else",
        (true, Guarantee::Contained) => "contained: never leaves its memory",
        (true, Guarantee::Partial) => "partial: stops what it says it stops",
        (true, Guarantee::Unchecked) => "unsound, and promises nothing",
        (false, _) if found.is_only_needless() => {
            "DOES NOT KEEP ITS PROMISE: traps inside its memory too, but never leaves it"
        }
        (false, _) => "DOES NOT KEEP ITS PROMISE",
    };
    let mut text = format!("{sign} {name:34} {verdict}\n");
    let counts = format!(
        "{} accesses, {} of the {} outside trapped",
        grouped(found.accesses),
        grouped(found.trapped),
        grouped(found.outside)
    );
    text.push_str(&format!("    {counts}"));
    if found.violations > 0 {
        let (claimed, count) = (found.claimed, grouped(found.violations));
        text.push_str(&format!("; {count} violations of '{claimed}', the first:"));
    } else if !found.examples.is_empty() {
        text.push_str("; such as:");
    }
    text.push('\n');
    // A few say it all for one that promises nothing.
    let shown = if found.is_kept() {
        2
    } else {
        found.examples.len()
    };
    for example in found.examples.iter().take(shown) {
        text.push_str(&format!("      {example}\n"));
    }
    for not_tried in &found.not_tried {
        text.push_str(&format!("    not tried: {not_tried}\n"));
    }
    text
}

/// 1234567 as "1,234,567".
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(claimed: Guarantee, observed: Guarantee, violations: u64) -> Findings {
        Findings {
            claimed,
            observed,
            accesses: 1_234_567,
            outside: 1000,
            trapped: 1000 - violations,
            violations,
            needless: 0,
            examples: vec![
                "i64.load offset=1 at address 0x2: expected trap, returned 0x0".into();
                3
            ],
            examples_max: 3,
            not_tried: vec!["4 GiB from the start: no memory".into()],
            without: Vec::new(),
            part_percent: None,
        }
    }

    #[test]
    fn a_broken_promise_is_shown_with_its_first_violations() {
        let text = in_words(
            "x/guard/speed",
            &found(Guarantee::Exact, Guarantee::Contained, 3),
            false,
        );
        assert!(text.starts_with("✗ x/guard/speed"), "{text}");
        assert!(text.contains("1,234,567 accesses, 997 of the 1,000 outside trapped"));
        assert!(text.contains("3 violations of 'exact', the first:"));
        assert_eq!(text.matches("expected trap").count(), 3);
        assert!(text.contains("not tried: 4 GiB from the start: no memory"));
    }

    #[test]
    fn who_traps_too_often_is_told_from_who_leaks() {
        let mut found = found(Guarantee::Exact, Guarantee::Contained, 3);
        found.needless = 3;
        let text = in_words("x/guard/speed", &found, false);
        assert!(text.starts_with("✗ x/guard/speed"), "{text}");
        let verdict = "DOES NOT KEEP ITS PROMISE: traps inside its memory too, but never leaves";
        assert!(text.contains(verdict), "{text}");
        found.needless = 2;
        let text = in_words("x/guard/speed", &found, false);
        assert!(text.contains("DOES NOT KEEP ITS PROMISE\n"), "{text}");
    }

    #[test]
    fn who_promises_nothing_is_called_unsound_and_is_no_failure() {
        let found = found(Guarantee::Unchecked, Guarantee::Unchecked, 0);
        assert!(found.is_kept());
        let text = in_words("fathom/none/speed", &found, false);
        assert!(text.contains("unsound, and promises nothing"), "{text}");
        assert_eq!(text.matches("expected trap").count(), 2);
    }

    #[test]
    fn a_strategy_that_does_not_exist_is_named() {
        let error = known("hope").unwrap_err();
        assert!(error.to_string().contains("hope"));
        let all = own_strategies(&["all".to_owned()]);
        // Whether there are protection keys is the host's business.
        let lacking = Bounds::FORMS.iter().filter(|form| form.missing().is_some());
        assert_eq!(all.len() + lacking.count(), Bounds::FORMS.len());
        assert!(
            ["guard", "trap"]
                .iter()
                .all(|name| all.iter().any(|form| form == name))
        );
        assert_eq!(known("auto").unwrap(), "auto");
    }
}
