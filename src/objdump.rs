//! `fathom objdump`: the code of a module's functions beside the Wasm it stems
//! from, with what the strategy added marked.
//!
//! What it costs is the difference to the same function without checks: the
//! code generator forgets where an instruction came from when it rewrites it,
//! so that the marked ones are the least there are.

mod beside;
mod hot;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::ArgGroup;
use fathom_engine::{
    Bounds, BoundsChoice, CodeCost, Engine, Listing, Module, ModuleInfo, NoSuchFunc, Symbols,
};
use fathom_report::json::FORMAT;
use fathom_sys::handed;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use serde::Serialize;

use crate::invocation::Invocation;
use crate::library;
use crate::module::{self, Purpose};
use crate::one_line::{printable, say};
use crate::profile::columns;
use crate::report;
use crate::run::{code::Code, load};
use crate::source;
use beside::{Beside, Column};
use hot::Hot;

/// Show the machine code of functions, and what their checks cost
#[derive(clap::Args)]
#[command(group = ArgGroup::new("runs").args(["hot", "engines"]).multiple(true))]
pub struct Args {
    /// A module in the binary or the text format
    module: PathBuf,

    /// Show only this function, by index, export or name, as in the module or as listed.
    /// Without it, and without --asm and --clif, every function is listed with its size, the
    /// costliest checks first
    #[arg(long, value_name = "FUNCTION")]
    func: Option<String>,

    /// Show also, as functions that trap, what the module imports and nobody provides: the code
    /// that --stub-imports has elsewhere
    #[arg(long)]
    stub_imports: bool,

    /// Show machine code, with the lines of its source where the module has DWARF (-g); the
    /// default for one function
    #[arg(long)]
    asm: bool,

    /// Show the intermediate code (CLIF) before optimisation
    #[arg(long, conflicts_with = "asm")]
    clif: bool,

    /// Print JSON: the table, and the code if --func is given
    #[arg(long, conflicts_with_all = ["asm", "clif"])]
    json: bool,

    #[command(flatten)]
    beside: Beside,

    #[command(flatten)]
    hot: Hot,

    #[command(flatten)]
    code: Code,
}

/// Prints what is asked for.
///
/// # Errors
/// A module that is missing, malformed or asks for what there is not; no such
/// function.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let file = args.module.display().to_string();
    let mut wasm = load::read(&args.module)?;
    if args.stub_imports {
        wasm = library::stubbed(&wasm, &file)?;
    }
    if let Err(why) = module::check(&wasm, Purpose::Compile(args.code.features)) {
        anyhow::bail!("{file}: {why}");
    }
    // Nothing is run: a strategy without guarantee harms nobody.
    let config = args.code.config(invocation)?.allow_unchecked(true);
    let engine = Engine::new(&config)?;
    let declared = Module::declarations(&wasm, args.code.features).with_context(|| file.clone())?;
    let func = match &args.func {
        Some(wanted) => Some(select(&declared, wanted).with_context(|| file.clone())?),
        None => None,
    };
    let funcs = func.as_ref().map(std::slice::from_ref);
    if args.clif {
        let listings = Module::disassemble(&engine, &wasm, funcs).with_context(|| file.clone())?;
        let text: String = listings.iter().map(clif).collect();
        return print(&text);
    }
    let bare = Engine::new(&config.bounds(BoundsChoice::Named(Bounds::None)))?;
    let is_shown = args.asm || func.is_some();
    let (listings, costs) = disassembled([&engine, &bare], &wasm, &declared, funcs, is_shown)
        .with_context(|| file.clone())?;
    let symbols = symbols(&args, &file, &wasm, &listings);
    if let (Some(func), Some(listing)) = (func, listings.first()) {
        let home = invocation.home()?;
        let program = args.hot.program(&args.module, &wasm, home.as_ref());
        let names = columns::names(&declared);
        if args.hot.is_wanted() {
            let seen = args.hot.seen(&program, &args.code, &names, func);
            if let Some(signal) = handed::last() {
                return Ok(ExitCode::from((128 + signal) as u8));
            }
            return print(&hot::asm(&title(listing), listing, &symbols, &seen?)?);
        }
        if args.beside.is_wanted() {
            let (columns, is_missing) = args.beside.columns(listing, &program, &names)?;
            let text = match args.json {
                true => json(&listings, &costs, &symbols, true, &columns[1..])?,
                false => beside::text(&columns),
            };
            print(&text)?;
            return Ok(ExitCode::from(u8::from(is_missing)));
        }
    }
    if args.json {
        return print(&json(&listings, &costs, &symbols, func.is_some(), &[])?);
    }
    let text = match args.asm || func.is_some() {
        true => {
            let both = listings.iter().zip(&costs);
            both.map(|(listing, costs)| asm(listing, costs, &symbols))
                .collect()
        }
        false => table(&listings, &costs),
    };
    print(&text)
}

/// Functions, and what their code costs, by two engines, of which the other checks nothing. Of those
/// that are not shown there is a line each: instructions are counted and forgotten.
fn disassembled(
    engines: [&Engine; 2],
    wasm: &[u8],
    declared: &ModuleInfo,
    funcs: Option<&[u32]>,
    is_shown: bool,
) -> fathom_engine::Result<(Vec<Listing>, Vec<Costs>)> {
    let [engine, bare] = engines;
    let imported = declared.imported_funcs as usize;
    let count = funcs.map_or(declared.funcs.len() - imported, <[u32]>::len);
    let progress = progress(2 * count);
    let listed = Module::disassemble_each(engine, wasm, funcs, |listing| {
        progress.inc(1);
        let cost = listing.cost();
        match is_shown {
            true => (listing, cost),
            false => (without_code(listing), cost),
        }
    })?;
    let bare = Module::disassemble_each(bare, wasm, funcs, |listing| {
        progress.inc(1);
        listing.cost()
    });
    let each = listed.into_iter().zip(bare?);
    Ok(each
        .map(|((listing, cost), bare)| (listing, Costs { cost, bare }))
        .unzip())
}

fn without_code(listing: Listing) -> Listing {
    Listing {
        wasm: Vec::new(),
        inlined: Vec::new(),
        clif: String::new(),
        code: Vec::new(),
        ..listing
    }
}

/// Functions that are compiled, where somebody looks on and it takes a while.
fn progress(count: usize) -> ProgressBar {
    const AT_ONCE: usize = 2_000;
    if count < AT_ONCE {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(
        "functions compiled: {pos} of {len} (with and without checks)",
    );
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(count as u64).with_style(style);
    bar.with_finish(ProgressFinish::AndClear)
}

/// Places in the sources, where code is shown and the module tells them.
fn symbols(args: &Args, file: &str, wasm: &[u8], listings: &[Listing]) -> Symbols {
    if !args.asm && args.func.is_none() {
        return Symbols::default();
    }
    let symbols = source::of_listings(wasm, listings);
    if let Some(trouble) = symbols.trouble() {
        say(&source::trouble(file, trouble));
    }
    symbols
}

/// What the code of a function costs, and without checks.
struct Costs {
    cost: CodeCost,
    bare: CodeCost,
}

impl Costs {
    /// Bytes and instructions that there would not be without checks.
    fn of_checks(&self) -> (isize, isize) {
        let Costs { cost, bare } = self;
        (
            difference(cost.bytes, bare.bytes),
            difference(cost.instructions, bare.instructions),
        )
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    format: u32,
    functions: Vec<Function<'a>>,
}

#[derive(Serialize)]
struct Function<'a> {
    index: u32,
    name: Option<String>,
    bytes: usize,
    instructions: usize,
    /// Why the code is Cranelift's, where another generator was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<&'a str>,
    /// Beside the same function without checks.
    check_bytes: isize,
    check_instructions: isize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    code: Vec<Instruction<'a>>,
    /// Of other engines, where it was asked for.
    #[serde(skip_serializing_if = "<[Column]>::is_empty")]
    beside: &'a [Column],
}

#[derive(Serialize)]
struct Instruction<'a> {
    offset: u32,
    text: &'a str,
    is_check: bool,
    wasm_offset: Option<u32>,
    /// As `file:line:column`, where the module has DWARF.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

/// In the order of the module.
fn json(
    listings: &[Listing],
    costs: &[Costs],
    symbols: &Symbols,
    has_code: bool,
    beside: &[Column],
) -> anyhow::Result<String> {
    let functions = listings.iter().zip(costs).map(|(listing, costs)| Function {
        index: listing.func,
        name: listing.name.as_deref().map(readable),
        kept: listing.fallback.as_deref(),
        bytes: costs.cost.bytes,
        instructions: costs.cost.instructions,
        check_bytes: costs.of_checks().0,
        check_instructions: costs.of_checks().1,
        code: match has_code {
            true => instructions(listing, symbols),
            false => Vec::new(),
        },
        beside,
    });
    let answer = Answer {
        format: FORMAT,
        functions: functions.collect(),
    };
    Ok(serde_json::to_string_pretty(&answer)? + "\n")
}

fn instructions<'a>(listing: &'a Listing, symbols: &Symbols) -> Vec<Instruction<'a>> {
    let lines = listing.code.iter().map(|line| Instruction {
        offset: line.offset,
        text: &line.text,
        is_check: line.is_check,
        wasm_offset: line.wasm_offset,
        source: line.wasm_offset.and_then(|offset| {
            let innermost = symbols.at(offset).first();
            innermost.and_then(source::place)
        }),
    });
    lines.collect()
}

fn title(listing: &Listing) -> String {
    let name = match &listing.name {
        Some(name) => format!(" '{}'", readable(name)),
        None => String::new(),
    };
    let kept = match &listing.fallback {
        Some(why) => format!(" (Cranelift's: {why})"),
        None => String::new(),
    };
    format!("function {}{name}{kept}", listing.func)
}

/// The function that is meant: by index, export or name, or else by the name that is
/// shown of it or its last parts, if only one has it.
fn select(declared: &ModuleInfo, wanted: &str) -> anyhow::Result<u32> {
    let error = match declared.select_func(wanted) {
        Err(error @ NoSuchFunc::Name { .. }) => error,
        found => return Ok(found?),
    };
    let is_meant = |func: &u32| {
        let name = declared.func_name(*func).map(readable).unwrap_or_default();
        let path = name.strip_suffix(wanted);
        path.is_some_and(|path| path.is_empty() || path.ends_with("::"))
    };
    let mut shown: Vec<u32> = (0..declared.funcs.len() as u32)
        .filter(|func| declared.defined_func(*func).is_some())
        .filter(is_meant)
        .collect();
    match (shown.pop(), &shown[..]) {
        (None, _) => Err(error.into()),
        (Some(func), []) => Ok(func),
        (Some(last), _) => {
            shown.push(last);
            Err(NoSuchFunc::Ambiguous {
                name: wanted.to_owned(),
                indices: shown,
            }
            .into())
        }
    }
}

/// A name as it was written in the source, without what a terminal would obey.
pub fn readable(name: &str) -> String {
    source::as_written(name).escape_debug().to_string()
}

fn clif(listing: &Listing) -> String {
    let title = title(listing);
    if listing.clif.is_empty() {
        return format!("{title} has none: its code is made in one pass\n\n");
    }
    format!(
        "{title} (! in front of what the strategy added)\n{}\n",
        listing.clif
    )
}

fn asm(listing: &Listing, costs: &Costs, symbols: &Symbols) -> String {
    let (cost, (bytes, instructions)) = (&costs.cost, costs.of_checks());
    format!(
        "{}: {} bytes, {} instructions; {bytes:+} bytes, {instructions:+} instructions against no checks\n\
         (! in front of what is known to be the strategy's: {} bytes, {} instructions)\n\
         {}\n",
        title(listing),
        cost.bytes,
        cost.instructions,
        cost.check_bytes,
        cost.check_instructions,
        listing.beside(|_| String::new(), |offset| above(symbols, offset)),
    )
}

/// A line above an instruction of Wasm.
fn above(symbols: &Symbols, offset: u32) -> Option<String> {
    let whence = source::whence(symbols.at(offset))?;
    Some(format!("; {}", printable(&whence)))
}

fn difference(with: usize, without: usize) -> isize {
    with.cast_signed() - without.cast_signed()
}

/// A line for each function, and their sum: its code, and how much of it there
/// would not be without checks. Where that is most stands first.
fn table(listings: &[Listing], costs: &[Costs]) -> String {
    let mut text = format!(
        "{:>9} {:>13} {:>13} {:>20}  function\n",
        "bytes", "instructions", "check bytes", "check instructions"
    );
    let mut row = |cost: [usize; 4], name: &str| {
        let [bytes, instructions, bare_bytes, bare_instructions] = cost;
        let _ = writeln!(
            text,
            "{bytes:>9} {instructions:>13} {:>+13} {:>+20}  {name}",
            difference(bytes, bare_bytes),
            difference(instructions, bare_instructions),
        );
    };
    let mut sum = [0; 4];
    let mut lines: Vec<_> = listings.iter().zip(costs).collect();
    lines.sort_by_key(|(_, costs)| std::cmp::Reverse(costs.of_checks()));
    for (listing, Costs { cost, bare }) in lines {
        let cells = [cost.bytes, cost.instructions, bare.bytes, bare.instructions];
        row(cells, &title(listing));
        for (sum, cell) in sum.iter_mut().zip(cells) {
            *sum += cell;
        }
    }
    row(sum, &format!("{} functions", listings.len()));
    text
}

fn print(text: &str) -> anyhow::Result<ExitCode> {
    report::print(text)?;
    Ok(ExitCode::SUCCESS)
}
