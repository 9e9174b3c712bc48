//! What the user wants measured, for how long and where it goes: the options of the
//! commands that measure, as clap reads them.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, bail};
use clap::{Arg, builder::Resettable::Reset};
use fathom_bench::{
    choose::Wanted,
    experiment::{Command, of_command},
    request::Strategies,
    shard::Shard,
};
use fathom_record::{Variant, Yardstick};

use super::settings::Settings;
use crate::library;

/// Measure a suite, or a WASI program of your own, on every engine
#[derive(clap::Args, Clone, Debug)]
#[command(
    next_help_heading = "What",
    after_help = after_help()
)]
pub struct Args {
    #[arg(help_heading = Reset, help = target_help())]
    pub target: Option<String>,
    /// Arguments of the program; put -- before the first that starts with -
    #[arg(value_name = "ARGS", help_heading = Reset)]
    pub args: Vec<String>,

    /// Problem size of the suite [default: medium]
    #[arg(long)]
    pub size: Option<String>,
    /// Only these workloads of the suite
    #[arg(long, alias = "kernels", value_delimiter = ',', value_name = "NAMES")]
    pub workloads: Vec<String>,
    /// Builds of the suite: wasm, wasm-simd, wasm-opt, wasm32, wasm64 [default: wasm-simd]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub variant: Vec<Variant>,
    /// Engines as NAME[@VERSION][:STRATEGY[:BACKEND]], builds of your own as NAME=PATH or
    /// NAME="COMMAND {}"; all engines that are installed by default
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub engines: Vec<Wanted>,
    /// Strategies of our engine; `auto` is the cheapest exact one [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub bounds: Vec<Strategies>,
    /// How our engine is set.
    #[command(flatten)]
    pub settings: Settings,
    /// Numbers of instances that run at once, each on a pinned thread [default: 1]
    #[arg(long, value_delimiter = ',', value_name = "COUNTS")]
    pub threads: Vec<u32>,
    /// Only every n-th workload, from the i-th: one of n machines measures them. `auto` takes i
    /// and n from a Slurm array; `auto/n` takes i from a Kubernetes indexed job or GNU parallel
    #[arg(long, value_name = "I/N|auto[/N]")]
    pub shard: Option<Shard>,
    /// Workloads that every shard measures, by which `fathom merge` tells machines apart
    /// [default: 3, fewer where there are few workloads]
    #[arg(long, value_name = "N", requires = "shard")]
    pub anchors: Option<u32>,

    /// What programs are measured by: time, or instructions, which do not scatter: two rounds are
    /// enough, on any machine
    #[arg(long, value_name = "NAME", default_value_t, hide_default_value = true)]
    pub metric: Yardstick,

    /// How a library is made a program.
    #[command(flatten)]
    pub library: library::Options,
    /// What the program is given.
    #[command(flatten)]
    pub given: Given,
    /// How long to measure.
    #[command(flatten)]
    pub pace: Pace,
    /// Where results go.
    #[command(flatten)]
    pub results: Results,
}

/// What a program is given.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Program")]
pub struct Given {
    /// Folder the program may use; with `:ro` it gets a copy, so that no engine changes the
    /// folder
    #[arg(long = "dir", value_name = "HOST[::GUEST][:ro|:rw]")]
    pub dirs: Vec<String>,
    /// Environment variable of the program
    #[arg(long = "env", value_name = "K=V")]
    pub env: Vec<String>,
    /// File for the program's standard input
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,
    /// Exit status that counts as success, besides 0; may be repeated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..256))]
    pub allow_exit: Vec<i32>,
    /// Do not compare what engines print
    #[arg(long)]
    pub any_output: bool,
}

/// How long a campaign takes.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "How long")]
pub struct Pace {
    /// Number of rounds; by default as many as fit into the budget. With --resume, the total
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,
    /// Counted iterations per cell and round; by default chosen by how long one takes
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: Option<u32>,
    /// Warm-up iterations before them [default: 1; 0 for startup]
    #[arg(long)]
    pub warmup: Option<u32>,
    /// Time for measuring, such as 90s or 10m; the first round is always finished, and probing
    /// comes before
    #[arg(long, value_parser = duration)]
    pub budget: Option<Duration>,
    /// Stop measuring a workload when its ratio is known to within this, to either side
    /// [default: 0.5%]
    #[arg(long, value_parser = percent, value_name = "PERCENT", conflicts_with = "rounds")]
    pub width: Option<f64>,
    /// Go on until a difference of this size between rows would be found eight times of ten; what
    /// that takes is said after three rounds, and --budget ends it [default: 30m]
    #[arg(long, value_parser = difference, value_name = "PERCENT",
          conflicts_with_all = ["rounds", "width"])]
    pub detect: Option<f64>,
    /// Time limit for one cell in one round [default: 60s; 5m for libsodium and web]
    #[arg(long, value_parser = duration)]
    pub time_limit: Option<Duration>,
    /// Wait at most this long for other programs to leave enough processors idle; 0s measures
    /// at once [default: 60s]
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub wait_idle: Option<Duration>,
    /// A first impression: a few kernels, small, one minute
    #[arg(long)]
    pub quick: bool,
}

/// Where results go. The last of a command's options: it has a word on all before.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Results", mut_args = beside_resume)]
pub struct Results {
    /// Folder for the results
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Continue the campaign in this folder
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// Continue even if the host, or the build of an engine, is another
    #[arg(long, requires = "resume")]
    pub resume_anywhere: bool,
    /// Random seed of orders and layouts; from the clock by default
    #[arg(long)]
    pub seed: Option<u64>,
    /// Do not probe strategies for soundness before measuring
    #[arg(long)]
    pub no_probe: bool,
    /// Probe again; by default a verdict is kept until the engine, its configuration, the
    /// kernel or the processor changes
    #[arg(long, conflicts_with = "no_probe")]
    pub probe_again: bool,
}

/// What may be said where a campaign goes on: how long, and on what host. All else it has said
/// itself.
const GOES_ON: [&str; 7] = [
    "resume",
    "resume_anywhere",
    "rounds",
    "budget",
    "detect",
    "time_limit",
    "wait_idle",
];

/// An option, refused where a campaign goes on unless it says how.
fn beside_resume(arg: Arg) -> Arg {
    match GOES_ON.contains(&arg.get_id().as_str()) {
        true => arg,
        false => arg.conflicts_with("resume"),
    }
}

/// What TARGET may be.
fn target_help() -> String {
    let names: Vec<String> = of_command(Command::Bench)
        .map(|design| format!("`{}`", design.name()))
        .collect();
    let (last, others) = names.split_last().expect("bench is asked for experiments");
    let others = others.join(", ");
    format!("A suite's name, a WASI program (app.wasm), {others} or {last}")
}

/// What the experiments are that TARGET may name.
fn after_help() -> String {
    let each = of_command(Command::Bench);
    let each: Vec<String> = each
        .map(|design| format!("`{}` {}", design.name(), design.help))
        .collect();
    format!(
        "Without TARGET, the PolyBench kernels are measured. {}.",
        each.join("; ")
    )
}

/// A part of 1 that two can differ by.
fn difference(text: &str) -> Result<f64, String> {
    match percent(text)? {
        part if part > 0.0 && part < 1.0 => Ok(part),
        _ => Err("a difference is more than 0 % and less than 100 %".to_owned()),
    }
}

/// `2%`, `2 %` or `0.5%`, as a part of 1; a plain number is per cent too.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent >= 0.0 => Ok(percent / 100.0),
        _ => Err("it is per cent, 0 or more, such as 2%".to_owned()),
    }
}

/// What a longer time is taken for: nobody waits for its end, and no clock is beyond its range
/// with it.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Reads `90`, `90s`, `10m` or `2h`.
pub fn duration(text: &str) -> anyhow::Result<Duration> {
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
    let time = Duration::try_from_secs_f64(number * factor).context("a time is 0 or more")?;
    Ok(time.min(FOREVER))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use clap::{CommandFactory, error::ErrorKind};

    use super::*;

    /// What is said of a command line that cannot be.
    fn refused(line: &str) -> Option<(ErrorKind, String)> {
        let words = line.split_whitespace();
        let error = crate::Cli::command().try_get_matches_from(words).err()?;
        let first = error.to_string().lines().next().unwrap().to_owned();
        Some((error.kind(), first))
    }

    #[test]
    fn what_describes_another_campaign_is_refused_where_one_goes_on() {
        for (command, option) in [
            ("bench", "--engines node"),
            ("bench", "--bounds guard"),
            ("bench", "--codegen llvm"),
            ("bench", "--opt none"),
            ("bench", "--seed 1"),
            ("bench", "--threads 2"),
            ("bench", "--workloads gemm"),
            ("bench", "--size mini"),
            ("bench", "--variant wasm"),
            ("bench", "--dir ."),
            ("bench", "--env A=B"),
            ("bench", "--stdin in"),
            ("bench", "--metric instructions"),
            ("bench", "--quick"),
            ("bench", "--out r"),
            ("bench", "--no-probe"),
            ("suite", "--against r"),
            ("suite", "--engines node"),
            ("waterfall", "--native a"),
            ("waterfall", "--format fathom:none"),
        ] {
            let name = option.split(' ').next().unwrap();
            for line in [
                format!("--resume r {option}"),
                format!("{option} --resume r"),
            ] {
                let (kind, said) = refused(&format!("fathom {command} {line}")).unwrap();
                assert_eq!(kind, ErrorKind::ArgumentConflict, "{line}: {said}");
                assert!(said.contains(name) && said.contains("--resume"), "{said}");
            }
        }
        let (kind, said) = refused("fathom bench --resume r app.wasm").unwrap();
        assert_eq!(kind, ErrorKind::ArgumentConflict);
        assert!(said.contains("[TARGET]"), "{said}");
    }

    #[test]
    fn how_a_campaign_goes_on_may_be_said() {
        for options in [
            "",
            "--rounds 3 --budget 5m --time-limit 2m --wait-idle 0s --resume-anywhere",
            "--detect 2%",
        ] {
            let line = format!("fathom bench --root /x --resume r {options}");
            assert_eq!(refused(&line), None);
            let line = line.replace("bench", "suite");
            assert_eq!(refused(&line), None);
        }
        assert_eq!(refused("fathom waterfall --resume r --rounds 6"), None);
    }

    #[test]
    fn no_option_is_forgotten_where_a_campaign_goes_on() {
        let mut cli = crate::Cli::command();
        cli.build();
        let is_resume = |arg: &&Arg| arg.get_id() == "resume";
        for command in cli.get_subcommands() {
            let Some(resume) = command.get_arguments().find(is_resume) else {
                continue;
            };
            for arg in command.get_arguments() {
                let id = arg.get_id().as_str();
                if GOES_ON.contains(&id) || arg.is_global_set() || id == "help" || id == "version" {
                    continue;
                }
                let others = command.get_arg_conflicts_with(arg);
                let is_refused = others.iter().any(|other| other.get_id() == resume.get_id());
                assert!(is_refused, "{} --{id}", command.get_name());
            }
        }
    }

    #[test]
    fn parts_are_per_cent() {
        assert_eq!(percent("2%"), Ok(0.02));
        assert_eq!(percent("0.5 %"), Ok(0.005));
        assert_eq!(percent("3"), Ok(0.03));
        for bad in ["", "%", "-1%", "nan", "inf", "2x"] {
            assert!(percent(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_difference_is_some_and_not_all() {
        assert_eq!(difference("2%"), Ok(0.02));
        for bad in ["0%", "100%", "150%", "-1%", "much"] {
            assert!(difference(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_numbers_with_a_unit() {
        assert_eq!(duration("90").unwrap(), Duration::from_secs(90));
        assert_eq!(duration("1.5m").unwrap(), Duration::from_secs(90));
        // Whoever has a clock's time adds it.
        let longest = duration("9223372036854775807s").unwrap();
        assert!(Instant::now().checked_add(longest * 10).is_some());
        assert_eq!(duration("250ms").unwrap(), Duration::from_millis(250));
        for bad in ["", "m", "-1s", "1d", "1e999h", "s1"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
