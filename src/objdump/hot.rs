//! `fathom objdump --hot`: how much of a program's time is at each instruction of a function.
//!
//! ```text
//!  fathom run --perf-map, sampled ─► Within: samples by offset ─► in front of the listing's lines
//! ```
//!
//! What must stay true: what is listed is the code that ran. Both are compiled with the same
//! options; a sample between two instructions of the listing shows that they differ.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use fathom_bench::home::Home;
use fathom_engine::{CodeLine, Listing, Symbols};
use fathom_report::figures::plural;
use fathom_trace::profile::names::Names;
use fathom_trace::profile::{Profile, Within};

use crate::one_line::printable;
use crate::profile::Program;
use crate::run::{Dir, code::Code};
use crate::source;
use crate::trace::Given;

/// Lines of the sources that are named.
const LINES: usize = 5;

/// The program, where its function is looked at while it runs.
#[derive(clap::Args)]
pub struct Hot {
    /// Run the program with ARGS, and show how much of the function's time is at each
    /// instruction
    #[arg(long, requires = "func", conflicts_with_all = ["clif", "json", "stub_imports"])]
    hot: bool,

    /// Arguments of the program; put -- before the first that starts with -
    #[arg(value_name = "ARGS", requires = "runs")]
    words: Vec<OsString>,

    /// Give the program a folder, as `fathom run` does; may be repeated
    #[arg(long, value_name = "HOST[::GUEST][:ro|:rw]", requires = "runs")]
    dir: Vec<Dir>,

    /// Set an environment variable of the program; may be repeated
    #[arg(long, value_name = "NAME=VALUE", requires = "runs")]
    env: Vec<String>,

    /// File for the standard input of the program [default: empty]
    #[arg(long, value_name = "FILE", requires = "runs")]
    stdin: Option<PathBuf>,

    /// Samples a second of processor time
    #[arg(long, value_name = "HZ", default_value_t = 997, requires = "hot", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    frequency: u32,
}

impl Hot {
    /// Whether it was asked for.
    pub fn is_wanted(&self) -> bool {
        self.hot
    }

    /// The program as it is run.
    pub fn program<'a>(
        &'a self,
        module: &'a Path,
        wasm: &'a [u8],
        home: Option<&'a Home>,
    ) -> Program<'a> {
        Program {
            path: module,
            wasm,
            given: Given {
                home,
                dirs: &self.dir,
                env: &self.env,
                stdin: self.stdin.as_deref(),
                words: &self.words,
            },
            frequency_hz: self.frequency,
        }
    }

    /// Runs the program, and tells where it was in a function.
    ///
    /// # Errors
    /// It cannot be sampled, or does not run.
    pub fn seen(
        &self,
        program: &Program<'_>,
        code: &Code,
        names: &Names,
        func: u32,
    ) -> anyhow::Result<Within> {
        let module = program.path;
        let own = std::env::current_exe().context("cannot find this executable")?;
        let mut command = Command::new(own);
        command.args(["run", "--perf-map", "--compilation=eager"]);
        command.args(code.words());
        for dir in &self.dir {
            command.arg("--dir").arg(dir.text());
        }
        for pair in &self.env {
            command.args(["--env", pair]);
        }
        command.arg(module).arg("--").args(&self.words);
        let ran = program.ended(command)?;
        let profile = Profile::of(&ran.recorded);
        if let Some(trouble) = ran.trouble {
            bail!("{}: {trouble}", module.display());
        }
        let wanted = names.indexed(func);
        Ok(Within::of(&profile, |made| {
            Some(Some(names.listed(made)?) == wanted)
        }))
    }
}

/// The machine code, with the share of the function's samples in front of each instruction.
///
/// # Errors
/// There is no sample, or one that is between two instructions.
pub fn asm(
    title: &str,
    listing: &Listing,
    symbols: &Symbols,
    seen: &Within,
) -> anyhow::Result<String> {
    let own = seen.own();
    let all = plural(seen.all as usize, "sample");
    ensure!(
        own > 0,
        "{title}: none of {all} of the program was in it: a longer run, or --frequency, sees more"
    );
    let is_instruction = |offset: &u64| {
        let code = &listing.code;
        let found = code.binary_search_by_key(offset, |line| line.offset.into());
        found.is_ok()
    };
    ensure!(
        seen.samples.keys().all(is_instruction),
        "{title}: the code that ran is not what is listed, or another function has its name"
    );
    let share = |line: Option<&CodeLine>| {
        let samples = line.and_then(|line| seen.samples.get(&line.offset.into()));
        match samples {
            Some(samples) => format!("{:5.1} %", *samples as f64 * 100.0 / own as f64),
            None => " ".repeat("100.0 %".len()),
        }
    };
    Ok(format!(
        "{title}: {own} of {all} of the program in it ({:.1} %)\n\
         (in front of an instruction its share of them; ! marks what the strategy added)\n{}{}\n",
        own as f64 * 100.0 / seen.all as f64,
        hottest(listing, symbols, seen),
        listing.beside(share, |offset| super::above(symbols, offset)),
    ))
}

/// The lines of the sources that most samples are of, where lines are known.
fn hottest(listing: &Listing, symbols: &Symbols, seen: &Within) -> String {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for line in &listing.code {
        let samples = seen.samples.get(&line.offset.into());
        let place = line.wasm_offset.and_then(|at| symbols.at(at).first());
        let place = place.and_then(source::line);
        if let (Some(samples), Some(place)) = (samples, place) {
            *lines.entry(place).or_default() += samples;
        }
    }
    let mut lines: Vec<_> = lines.into_iter().collect();
    lines.sort_by_key(|(_, samples)| Reverse(*samples));
    let share = |samples: u64| samples as f64 * 100.0 / seen.own() as f64;
    let told = lines.iter().take(LINES).map(|(place, samples)| {
        let place = printable(place);
        format!("{:5.1} % {place}", share(*samples))
    });
    let mut told: Vec<String> = told.collect();
    if told.is_empty() {
        return String::new();
    }
    let without = seen.own() - lines.iter().map(|(_, samples)| samples).sum::<u64>();
    if without > 0 {
        told.push(format!("{:5.1} % of no known line", share(without)));
    }
    format!("lines with most of them:\n{}\n", told.join("\n"))
}
