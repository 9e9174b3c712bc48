//! `fathom objdump --engines`, `--native`: the code that engines and a compiler made of one
//! function, side by side.
//!
//! ```text
//!  our own engine   its listing               ┐
//!  an engine        a run, and its jitdump    ├─► lines, and what they come to ─► columns, JSON
//!  a program        its file's symbols        ┘
//! ```
//!
//! What must stay true: what an engine does not write down is a line that says so, and the
//! others are shown.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fathom_bench::choose::{NATIVE, OWN, Wanted};
use fathom_engine::{Listing, Module};
use fathom_trace::code::listing::{Cost, Disassembler, Line};
use fathom_trace::code::native;
use fathom_trace::profile::names::{self, Names};
use serde::Serialize;

use super::readable;
use crate::one_line::{clipped_to, one_line, printable, say};
use crate::profile::Program;
use crate::waterfall;

/// Letters of a line of code in its column.
const WIDTH_MAX: usize = 48;

/// Whose code stands beside.
#[derive(clap::Args)]
pub struct Beside {
    /// Show the code that other engines make of the function beside it, as
    /// NAME[@VERSION][:STRATEGY[:BACKEND]] (see `fathom engines`), after a run with ARGS
    #[arg(long, alias = "engine", value_name = "NAMES", value_delimiter = ',', requires = "func", conflicts_with_all = ["clif", "hot", "stub_imports"])]
    engines: Vec<Wanted>,

    /// Show the code of the same function in this program, built for this machine, beside it
    #[arg(long, value_name = "PROGRAM", requires = "func", conflicts_with_all = ["clif", "hot", "stub_imports"])]
    native: Option<PathBuf>,
}

/// The code of one of them.
#[derive(Serialize)]
pub struct Column {
    engine: String,
    /// What its maker calls the function.
    called: String,
    #[serde(flatten)]
    cost: Cost,
    code: Vec<Shown>,
}

#[derive(Serialize)]
struct Shown {
    offset: u32,
    text: String,
    is_data: bool,
}

impl Column {
    fn new(engine: &str, called: &str, bytes: usize, lines: Vec<Line>) -> Column {
        let cost = Cost::of(bytes, &lines);
        let code = lines.into_iter().map(|line| Shown {
            offset: line.offset,
            is_data: line.does.is_none(),
            text: line.text,
        });
        Column {
            engine: engine.to_owned(),
            called: called.to_owned(),
            cost,
            code: code.collect(),
        }
    }

    /// Our own, with what the listing knows more of it: checks, callees, data.
    fn own(name: &str, listing: &Listing, disassembler: &Disassembler) -> Column {
        let lines = listing.code.iter().map(|line| {
            let mark = if line.is_check { "! " } else { "" };
            let callee = line.callee.map(|func| format!("  ; function {func}"));
            Line {
                offset: line.offset,
                text: format!("{mark}{}{}", line.text, callee.unwrap_or_default()),
                does: (!line.is_data).then(|| disassembler.does(&line.bytes).unwrap_or_default()),
            }
        });
        let called = super::title(listing);
        Column::new(name, &called, listing.cost().bytes, lines.collect())
    }
}

impl Beside {
    /// Whether it was asked for.
    pub fn is_wanted(&self) -> bool {
        !self.engines.is_empty() || self.native.is_some()
    }

    /// The code of a function, as listed and of those that were asked for; whether that of one
    /// of them is missing.
    ///
    /// # Errors
    /// There is no disassembler for this machine.
    pub fn columns(
        &self,
        listing: &Listing,
        program: &Program<'_>,
        names: &Names,
    ) -> anyhow::Result<(Vec<Column>, bool)> {
        let disassembler = Disassembler::new().map_err(anyhow::Error::msg)?;
        let meant = names.indexed(listing.func).context("no function")?;
        let mut columns = vec![Column::own(OWN, listing, &disassembler)];
        let mut is_missing = false;
        let mut add = |name: &str, made: anyhow::Result<Column>| match made {
            Ok(column) => columns.push(column),
            Err(error) => {
                is_missing = true;
                say(&one_line(&error.context(name.to_owned())));
            }
        };
        for wanted in &self.engines {
            let name = wanted.to_string();
            let made = match wanted.engine.as_str() {
                OWN => own(&name, program, wanted, listing.func, &disassembler),
                NATIVE => Err(anyhow::anyhow!("name the program: --native PROGRAM")),
                _ => dumped(&name, program, wanted, (names, meant), &disassembler),
            };
            add(&name, made);
        }
        if let Some(path) = &self.native {
            add(NATIVE, of_program(path, meant, &disassembler));
        }
        Ok((columns, is_missing))
    }
}

/// Of our engine in another configuration.
fn own(
    name: &str,
    program: &Program<'_>,
    wanted: &Wanted,
    func: u32,
    disassembler: &Disassembler,
) -> anyhow::Result<Column> {
    let engine = program.engine(wanted)?;
    let listings = Module::disassemble(&engine, program.wasm, Some(&[func]))?;
    let listing = listings.first().context("no function")?;
    Ok(Column::own(name, listing, disassembler))
}

/// Of an engine that writes down what it makes: the last that it made of the function.
fn dumped(
    name: &str,
    program: &Program<'_>,
    wanted: &Wanted,
    (names, meant): (&Names, &str),
    disassembler: &Disassembler,
) -> anyhow::Result<Column> {
    let all = program.code(wanted)?;
    if all.is_empty() {
        bail!("it does not write down the code that it makes (jitdump)");
    }
    let mut all = all.iter().rev();
    let last = all.find(|code| names.listed(&code.name) == Some(meant));
    let code = last.context("it made no code of this function: it was not called, or inlined")?;
    let lines = disassembler.lines(&code.bytes, code.address);
    Ok(Column::new(name, &code.name, code.bytes.len(), lines))
}

fn of_program(path: &Path, meant: &str, disassembler: &Disassembler) -> anyhow::Result<Column> {
    let path = waterfall::program(path, &std::env::current_dir()?)?;
    let file = fs::read(&path)?;
    let is_meant = |symbol: &str| names::native(symbol, readable) == meant;
    let found = native(&file, is_meant).map_err(anyhow::Error::msg)?;
    // What was split off has its name with something behind it.
    let shortest = found.into_iter().min_by_key(|(symbol, _)| symbol.len());
    let (symbol, code) = shortest.with_context(|| {
        format!(
            "{}: no function '{meant}': inlined, or the symbols are stripped",
            path.display()
        )
    })?;
    let lines = disassembler.lines(code, 0);
    Ok(Column::new(NATIVE, &readable(&symbol), code.len(), lines))
}

/// What the code of each comes to, and the codes, a column each.
pub fn text(columns: &[Column]) -> String {
    format!("{}{}", table(columns), beside(columns))
}

fn table(columns: &[Column]) -> String {
    let width = columns.iter().map(|column| column.engine.chars().count());
    let width = width.max().unwrap_or_default();
    let mut text = format!(
        "{:width$}  {:>7}  {:>12}  {:>15}  {:>8}  {:>5}\n",
        "", "bytes", "instructions", "memory accesses", "branches", "calls"
    );
    for Column {
        engine,
        called,
        cost,
        ..
    } in columns
    {
        let _ = writeln!(
            text,
            "{engine:width$}  {:>7}  {:>12}  {:>15}  {:>8}  {:>5}  {}",
            cost.bytes,
            cost.instructions,
            cost.accesses,
            cost.branches,
            cost.calls,
            printable(called),
        );
    }
    text
}

fn beside(columns: &[Column]) -> String {
    let cells = |column: &Column| -> Vec<String> {
        let code = column.code.iter();
        let lines =
            code.map(|line| format!("{:5x}  {}", line.offset, clipped_to(&line.text, WIDTH_MAX)));
        std::iter::once(column.engine.clone())
            .chain(lines)
            .collect()
    };
    let all: Vec<Vec<String>> = columns.iter().map(cells).collect();
    let width = |cells: &[String]| cells.iter().map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = all.iter().map(|cells| width(cells).unwrap_or(0)).collect();
    let rows = all.iter().map(Vec::len).max().unwrap_or_default();
    let mut text = String::new();
    for row in 0..rows {
        let cells = all.iter().zip(&widths).map(|(cells, width)| {
            let cell = cells.get(row).map_or("", String::as_str);
            format!("{cell:width$}")
        });
        let line = cells.collect::<Vec<_>>().join(" │ ");
        let _ = write!(text, "\n{}", line.trim_end());
    }
    text + "\n"
}
