//! What the user wants measured, for how long and where it goes: shared by the
//! commands that measure, and read again from a campaign's own command line.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, bail};
use clap::{Parser, builder::Resettable::Reset};
use fathom_bench::choose::Wanted;
use fathom_record::{Elide, Opt, Spectre, Variant};

/// Measure a suite, or a WASI program of your own, on every engine
#[derive(clap::Args, Clone, Debug)]
#[command(
    next_help_heading = "What",
    after_help = "\
Without TARGET, the PolyBench kernels are measured. `growth` measures instances \
that are made, grown and dropped in a loop; `compile` measures compilation alone; \
`startup` the way to the first instruction and from instance to instance."
)]
pub struct Args {
    /// A suite's name, a WASI program (app.wasm), `growth`, `compile` or `startup`
    #[arg(help_heading = Reset)]
    pub target: Option<String>,
    /// Arguments of the program, after `--`
    #[arg(last = true, help_heading = Reset)]
    pub args: Vec<String>,
    /// A selection instead of a target.
    #[arg(skip)]
    pub selection: Option<Selection>,
    /// SPEC's size, where a copy of SPEC CPU takes the place of a selection's programs.
    #[arg(skip)]
    pub spec: Option<String>,
    /// Which checks a selection leaves out, beside the default.
    #[arg(skip)]
    pub elide: Vec<Elide>,

    /// Problem size of the suite [default: medium]
    #[arg(long)]
    pub size: Option<String>,
    /// Only these workloads of the suite
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub kernels: Vec<String>,
    /// Builds of the suite: wasm, wasm-simd, wasm-opt, wasm32, wasm64 [default: wasm-simd]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub variant: Vec<Variant>,
    /// Engines as NAME[:STRATEGY[:BACKEND]]; all that are installed by default
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub engines: Vec<Wanted>,
    /// Strategies of our engine; `auto` is the cheapest exact one [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub bounds: Vec<String>,
    /// How hard our engine compiles: speed, none [default: speed]
    #[arg(long, value_delimiter = ',', value_name = "LEVELS")]
    pub opt: Vec<Opt>,
    /// Our engine with guards against speculation or without, beside what is the
    /// default: on, off
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub spectre: Vec<Spectre>,
    /// Instances at once, one pinned thread each [default: 1]
    #[arg(long, value_delimiter = ',', value_name = "COUNTS")]
    pub threads: Vec<u32>,

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
    /// Folder the program may use
    #[arg(long = "dir", value_name = "HOST[::GUEST]")]
    pub dirs: Vec<String>,
    /// Environment variable of the program
    #[arg(long = "env", value_name = "K=V")]
    pub env: Vec<String>,
    /// File for the program's standard input
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,
    /// Do not compare what engines print
    #[arg(long)]
    pub any_output: bool,
}

/// How long a campaign takes.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "How long")]
pub struct Pace {
    /// Rounds; as many as fit into the budget by default
    #[arg(long)]
    pub rounds: Option<u32>,
    /// Counted iterations per cell and round; by how long one takes by default
    #[arg(long)]
    pub iterations: Option<u32>,
    /// Uncounted iterations before them
    #[arg(long, default_value_t = 1)]
    pub warmup: u32,
    /// Time for the whole campaign, such as 90s or 10m; the first round is
    /// finished whatever it takes
    #[arg(long, value_parser = duration)]
    pub budget: Option<Duration>,
    /// Time for one cell in one round [default: 60s; 5m for libsodium]
    #[arg(long, value_parser = duration)]
    pub time_limit: Option<Duration>,
    /// A first impression: a few kernels, small, one minute
    #[arg(long)]
    pub quick: bool,
}

/// Where results go.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Results")]
pub struct Results {
    /// Folder for the results
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Go on with the campaign in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "target")]
    pub resume: Option<PathBuf>,
    /// Go on even if the campaign is from another host
    #[arg(long, requires = "resume")]
    pub resume_anywhere: bool,
    /// Decides orders and layouts; from the clock by default
    #[arg(long)]
    pub seed: Option<u64>,
    /// Do not probe whether strategies are sound before measuring
    #[arg(long)]
    pub no_probe: bool,
}

/// Workloads, builds and comparisons that belong together: what `fathom suite`
/// measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Selection {
    /// What bounds checks cost, on 32-bit and 64-bit memories
    Bounds,
    /// What instances cost that run side by side
    Scaling,
    /// What "Leaps and bounds" measured: `fathom reproduce` asks for it
    #[value(skip)]
    LeapsAndBounds,
    /// What libsodium's own programs take, by group
    Libsodium,
    /// What "Performance of WebAssembly runtimes in 2023" measured
    #[value(skip)]
    Libsodium2023,
}

impl Selection {
    /// Its name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Selection::Bounds => "bounds",
            Selection::Scaling => "scaling",
            Selection::LeapsAndBounds => "leaps-and-bounds",
            Selection::Libsodium => "libsodium",
            Selection::Libsodium2023 => "libsodium-2023",
        }
    }
}

/// For reading a campaign's own command line again, of any command that measures.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Again<A: clap::Args> {
    #[command(flatten)]
    args: A,
}

/// What the command line of a campaign asked for.
///
/// # Errors
/// One that this version does not understand.
pub fn again(command: &[String]) -> anyhow::Result<Args> {
    // The first word is the command's name.
    let (name, words) = command.split_first().context("it has no command line")?;
    match name.as_str() {
        "suite" => read::<crate::suite::Args>(words),
        "reproduce" => read::<crate::reproduce::Args>(words),
        _ => read::<Args>(words),
    }
}

fn read<A: clap::Args + Into<Args>>(words: &[String]) -> anyhow::Result<Args> {
    match Again::<A>::try_parse_from(words) {
        Ok(again) => Ok(again.args.into()),
        Err(error) => bail!("its command line is no longer understood: {error}"),
    }
}

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
    Duration::try_from_secs_f64(number * factor).context("not a time to wait for")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

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
        let line = words("bench polybench --size mini --engines fathom:guard,native -- -x");
        let args = again(&line).unwrap();
        assert_eq!(args.size.as_deref(), Some("mini"));
        assert_eq!(args.engines.len(), 2);
        assert_eq!(args.args, ["-x"]);
        let args = again(&words("suite bounds --rounds 3 --workloads gemm,graph")).unwrap();
        assert_eq!(args.selection, Some(Selection::Bounds));
        assert_eq!(args.kernels, ["gemm", "graph"]);
        assert_eq!(args.pace.rounds, Some(3));
        let args = again(&words("suite scaling --threads 1,8 --quick")).unwrap();
        assert_eq!(args.selection, Some(Selection::Scaling));
        assert_eq!(args.threads, [1, 8]);
        let args = again(&words("reproduce leaps-and-bounds --budget 1h")).unwrap();
        assert_eq!(args.selection, Some(Selection::LeapsAndBounds));
        assert_eq!(args.pace.budget, Some(Duration::from_secs(3600)));
        assert!(again(&words("suite nonsense")).is_err());
        assert!(again(&words("suite leaps-and-bounds")).is_err());
        assert!(again(&[]).is_err());
    }
}
