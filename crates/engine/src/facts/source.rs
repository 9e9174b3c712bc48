//! Source lines: what a module's DWARF says of places in its code.
//!
//! ```text
//!  module ─► DebugInfo   where its sections are; none is read
//!               │ symbols(offsets)
//!               ▼
//!             Units      units whose ranges have an offset
//!               ├─► lines    rows of the line program ─► file, line, column
//!               └─► entries  functions and inlined calls around an offset ─► names
//! ```
//!
//! Addresses are offsets from the start of the code section's contents ("DWARF for
//! WebAssembly", yurydelendik.github.io/webassembly-dwarf).
//!
//! What must stay true: nothing is guessed. A place is told if the function around it begins and
//! ends where one of the module does: tools that change code leave its DWARF as it was. Reading
//! ends, whoever made the module: each byte that is read, each attribute and each place that is
//! found costs steps, of which there are [`STEPS_MAX`] (`meter.rs`); what is kept of a unit is
//! bounded by [`UNIT_BYTES_MAX`]; entries are walked without recursion. Names are as the file has
//! them: who shows them escapes them.

mod entries;
mod lines;
mod meter;
mod units;

use std::collections::BTreeMap;
use std::sync::Arc;

use gimli::{Dwarf, SectionId};
use wasmparser::{Parser, Payload};

use meter::{Meter, Metered};
use units::Units;

/// What reading may cost: one to three seconds of processor time.
const STEPS_MAX: u64 = 1 << 28;

/// Bytes of a unit's abbreviations, root and tables of files, which become up to a hundred times
/// as many in memory.
const UNIT_BYTES_MAX: u64 = 1 << 20;

/// A longer path or name is none.
const TEXT_BYTES_MAX: usize = 4096;

/// Inlined calls around a place that are told.
const INLINED_MAX: usize = 64;

/// Places of a module's code in its sources, by its DWARF sections. Nothing is read before
/// [`symbols`](Self::symbols).
#[derive(Clone, Debug)]
pub struct DebugInfo<'a> {
    /// Where the code section's contents begin.
    code: u32,
    /// Where functions begin and end, by address.
    bodies: Vec<(u64, u64)>,
    sections: BTreeMap<&'a str, &'a [u8]>,
    trouble: Option<NoSymbols>,
}

/// Why a place in the code has no place in a source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoSymbols {
    /// The sections are not what DWARF has.
    #[error("its DWARF is damaged: {0}")]
    Damaged(String),
    /// Reading them would take more than it may.
    #[error("its DWARF would take too long to read")]
    TooMuch,
    /// Sections are compressed.
    #[error("its DWARF is compressed ({0})")]
    Compressed(String),
    /// They are in another file.
    #[error("its DWARF is in another file: {0}")]
    Elsewhere(String),
    /// Functions are elsewhere than it says.
    #[error("its DWARF is of other code: a tool has changed the code, and not its DWARF")]
    Stale,
    /// A part of them is in other files.
    #[error("its DWARF is split: inlined functions are in another file")]
    Split,
}

/// A place in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameSymbol {
    name: Option<Arc<str>>,
    file: Option<Arc<str>>,
    line: Option<u32>,
    column: Option<u32>,
}

impl FrameSymbol {
    /// The function, as its source has it: without what is around it, and not mangled.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The file, as the compiler was told; with the folder it ran in where it was told no
    /// absolute path.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The line, from 1 on. Nothing for what the compiler made without one.
    pub fn line(&self) -> Option<u32> {
        self.line
    }

    /// The column, from 1 on.
    pub fn column(&self) -> Option<u32> {
        self.column
    }
}

/// Places that were found.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    found: BTreeMap<u32, Vec<FrameSymbol>>,
    trouble: Option<NoSymbols>,
}

impl Symbols {
    /// Of an instruction: its place, and those of the calls by whose inlining it came there,
    /// innermost first. Nothing where the module does not tell.
    pub fn at(&self, offset: u32) -> &[FrameSymbol] {
        self.found.get(&offset).map_or(&[], Vec::as_slice)
    }

    /// Why there may be places that were not found.
    pub fn trouble(&self) -> Option<&NoSymbols> {
        self.trouble.as_ref()
    }
}

impl<'a> DebugInfo<'a> {
    /// That of a module in the binary format; nothing where it has none.
    pub fn of(wasm: &'a [u8]) -> Option<DebugInfo<'a>> {
        let mut code = None;
        let mut bodies = Vec::new();
        let mut sections = BTreeMap::new();
        let mut trouble = None;
        for payload in Parser::new(0).parse_all(wasm) {
            match payload {
                Ok(Payload::CodeSectionStart {
                    unchecked_range, ..
                }) => code = Some(unchecked_range.start),
                Ok(Payload::CodeSectionEntry(body)) => {
                    let code = code.unwrap_or_default();
                    bodies.push((body.range().start - code, body.range().end - code));
                }
                Ok(Payload::CustomSection(custom)) => {
                    let name = custom.name();
                    if name.starts_with(".debug_") {
                        sections.entry(name).or_insert(custom.data());
                    } else if name.starts_with(".zdebug_") {
                        trouble = Some(NoSymbols::Compressed(name.to_owned()));
                    } else if name == "external_debug_info" {
                        trouble = Some(NoSymbols::Elsewhere(external(custom.data())));
                    }
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        let has_lines = sections.contains_key(SectionId::DebugInfo.name());
        (has_lines || trouble.is_some()).then_some(DebugInfo {
            code: u32::try_from(code?).ok()?,
            bodies,
            sections,
            trouble,
        })
    }

    /// The places of instructions, each by its offset from the start of the module, as
    /// [`Frame`](crate::Frame) and [`Listing`](crate::Listing) have it. Many at a time take
    /// little longer than one.
    pub fn symbols(&self, offsets: impl IntoIterator<Item = u32>) -> Symbols {
        self.within(offsets, STEPS_MAX)
    }

    fn within(&self, offsets: impl IntoIterator<Item = u32>, steps_max: u64) -> Symbols {
        let addresses = offsets
            .into_iter()
            .filter_map(|at| at.checked_sub(self.code));
        let mut addresses: Vec<u64> = addresses.map(u64::from).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let meter = Meter::new(steps_max);
        let section = |id: SectionId| {
            let bytes = self.sections.get(id.name()).copied();
            Ok::<_, gimli::Error>(Metered::new(bytes.unwrap_or_default(), &meter))
        };
        let dwarf = match Dwarf::load(section) {
            Ok(dwarf) => dwarf,
            Err(error) => return self.nothing(&error),
        };
        let mut units = Units::new(&dwarf, &meter, &addresses, &self.bodies);
        let trouble = units.read().err();
        let found = units.found().into_iter();
        Symbols {
            // A sum of two parts of a file of 4 GiB at most.
            found: found
                .map(|(at, found)| (at as u32 + self.code, found))
                .collect(),
            trouble: self.trouble.clone().or(trouble),
        }
    }

    fn nothing(&self, error: &gimli::Error) -> Symbols {
        Symbols {
            found: BTreeMap::new(),
            trouble: Some(NoSymbols::Damaged(error.to_string())),
        }
    }
}

/// The address of another file, as its section has it: a name with its length.
fn external(data: &[u8]) -> String {
    let mut reader = wasmparser::BinaryReader::new(data, 0);
    reader.read_string().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
