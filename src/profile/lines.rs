//! Self time by line of the source, in code of our engine's.
//!
//! ```text
//!  Profile::made ─► function ─► its listing ─► Wasm offset ─► DWARF ─► file:line
//!                      │           │                             └ no line there
//!                      │           └ code that stems from no Wasm
//!                      └ several functions have that name
//! ```
//!
//! What must stay true: each sample is in one row; what has no line is in the row of its cause;
//! what is listed is the code that ran, compiled with the same configuration.

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};
use fathom_bench::choose::{OWN, Wanted};
use fathom_engine::{Codegen, DebugInfo, Listing, Module, Symbols};
use fathom_stats::sampled::{Column, Lineless, Place};
use fathom_trace::profile::Profile;
use fathom_trace::profile::names::Names;

use super::Program;
use super::columns::{self, Kind};
use crate::one_line::say;
use crate::source;

/// That the module tells lines at all.
///
/// # Errors
/// It does not.
pub fn check(wasm: &[u8]) -> anyhow::Result<()> {
    ensure!(
        DebugInfo::of(wasm).is_some(),
        "it has no DWARF, and so no lines: compile it with -g, and do not strip it"
    );
    Ok(())
}

/// That lines are known of code that an engine makes.
///
/// # Errors
/// They are not, and why.
pub fn check_engine(wanted: &Wanted) -> anyhow::Result<()> {
    let codegen = wanted.backend.as_deref().map(str::parse::<Codegen>);
    ensure!(
        wanted.engine == OWN,
        "no lines: it does not tell which Wasm its code stems from"
    );
    ensure!(
        !codegen.is_some_and(|codegen| codegen.is_ok_and(Codegen::has_tiers)),
        "no lines: its code is replaced while it runs; fathom, fathom:direct and fathom:llvm have them"
    );
    Ok(())
}

/// The rows of a profile of our engine.
///
/// # Errors
/// The code cannot be listed, or is not the code that ran.
pub fn column(
    program: &Program<'_>,
    wanted: &Wanted,
    profile: &Profile,
    names: &Names,
) -> anyhow::Result<Column> {
    let mut column = columns::column(profile, Kind::Engine);
    let is_function = |place: &Place| matches!(place, Place::Function(_));
    column.samples.retain(|place, _| !is_function(place));
    let mut seen: BTreeMap<u32, &BTreeMap<u64, u64>> = BTreeMap::new();
    let made = profile.made.iter();
    for (name, samples) in made.filter(|(name, _)| names.listed(name).is_some()) {
        match names.indices(name)[..] {
            [func] => {
                seen.insert(func, samples);
            }
            _ => {
                let place = Place::Lineless(Lineless::Ambiguous);
                *column.samples.entry(place).or_default() += samples.values().sum::<u64>();
            }
        }
    }
    let funcs: Vec<u32> = seen.keys().copied().collect();
    let listings = Module::disassemble(&program.engine(wanted)?, program.wasm, Some(&funcs))?;
    let symbols = source::of_listings(program.wasm, &listings);
    if let Some(trouble) = symbols.trouble() {
        say(&source::trouble(
            &program.path.display().to_string(),
            trouble,
        ));
    }
    for listing in &listings {
        let samples = seen.remove(&listing.func).context("a function unasked")?;
        for (offset, count) in samples {
            let place = place(listing, &symbols, *offset)?;
            *column.samples.entry(place).or_default() += count;
        }
    }
    ensure!(seen.is_empty(), "functions without a listing");
    Ok(column)
}

/// Where a sample of a function belongs.
fn place(listing: &Listing, symbols: &Symbols, offset: u64) -> anyhow::Result<Place> {
    let code = &listing.code;
    let Ok(at) = code.binary_search_by_key(&offset, |line| line.offset.into()) else {
        bail!(
            "the code of function {} that ran is not what it is compiled to again",
            listing.func
        );
    };
    let Some(wasm_offset) = code[at].wasm_offset else {
        return Ok(Place::Lineless(Lineless::Added));
    };
    let innermost = symbols.at(wasm_offset).first();
    let line = innermost.filter(|symbol| symbol.line().is_some());
    let undescribed = Place::Lineless(Lineless::Undescribed);
    Ok(line.and_then(source::line).map_or(undescribed, Place::Line))
}
