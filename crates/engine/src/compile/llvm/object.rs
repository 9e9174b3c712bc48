//! Clang's object, taken apart into functions.
//!
//! ```text
//!  .text…wfN        the code of function N; its relocations say whom it calls and
//!                   which constants it reads
//!  .rodata…         constants and tables of jumps: copied behind the code of each
//!                   function that reads them, a table with what it points to
//!  ft               places of accesses that may fault, each group with its site
//!  .fathom.traps    place, function and site of each undefined instruction
//!  .debug_line      from which line of the text each instruction stems
//! ```
//!
//! Nothing that clang says of its code is believed where a guest could gain by its being wrong.
//! How long the code is: the disassembler ends there, or the function is refused. Frames, calls and
//! tables of jumps: `frame.rs` reads the instructions. Places of accesses: an instruction that may
//! fault without one is refused (`verify.rs`); a place where no instruction begins is never
//! asked for. Alignment of constants: at most a line, at which LLVM's functions begin (`link.rs`
//! shifts those alone whose loops it knows, Cranelift's). Lines: only shown.
//!
//! What must stay true: a function's code refers to nothing but itself, functions of
//! the module and starts of its continuations. Whatever else it would need, one of LLVM's
//! own functions say, is an error, and the function is left to Cranelift.

use std::collections::{BTreeMap, HashMap};

use cranelift_codegen::binemit::Reloc;
use object::elf::{R_X86_64_64, R_X86_64_PC32, R_X86_64_PLT32};
use object::read::elf::ElfFile64;
use object::{
    Object as _, ObjectSection as _, ObjectSymbol as _, Relocation, RelocationFlags,
    RelocationTarget, SectionIndex,
};

use crate::compile::function::CallSite;

/// Constants need no more than a line of the cache.
const ALIGN: usize = 64;

/// A call in a function's code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Of the distance, from the start of the code.
    pub offset: u32,
    /// The index of who is called.
    pub callee: u32,
    /// Added to the callee's address.
    pub addend: i64,
}

impl Call {
    /// As it is linked.
    fn site(&self, is_start: bool) -> CallSite {
        CallSite {
            offset: self.offset,
            kind: Reloc::X86CallPCRel4,
            callee: self.callee,
            is_start,
            addend: self.addend,
        }
    }
}

/// A function as the object has it.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// Code, and constants behind it.
    pub code: Vec<u8>,
    /// Bytes of it that are instructions.
    pub code_bytes: u32,
    pub calls: Vec<Call>,
    /// Where the address of a start of continuations is taken; a callee is its type.
    pub starts: Vec<Call>,
    /// What may fault: place and site.
    pub accesses: Vec<(u32, u32)>,
    /// Undefined instructions: place and site.
    pub traps: Vec<(u32, u32)>,
    /// From which line the instructions from a place on stem; 0 where from none.
    pub lines: Vec<(u32, u32)>,
    /// Whether it jumps by a table.
    pub has_table: bool,
    /// Where to.
    pub targets: Vec<u32>,
}

impl Piece {
    /// What is linked to others.
    pub(super) fn sites(&self) -> impl Iterator<Item = CallSite> {
        let calls = self.calls.iter().map(|call| call.site(false));
        calls.chain(self.starts.iter().map(|start| start.site(true)))
    }
}

/// Tables of jumps: distances from the start of each, which the code takes the address of.
#[derive(Default)]
struct Tables {
    /// What the code takes the address of, if the distance to it ends its instruction.
    starts: Vec<i64>,
    /// Where distances to places in the code stand.
    entries: Vec<usize>,
}

impl Tables {
    /// The places that they are to.
    fn targets(mut self, code: &[u8]) -> Failed<Vec<u32>> {
        self.starts.sort_unstable();
        let target = |at: usize| {
            let behind = self.starts.partition_point(|start| *start <= at as i64);
            let start = self.starts.get(behind.checked_sub(1)?)?;
            let distance = *code.get(at..)?.first_chunk()?;
            u32::try_from(start + i64::from(i32::from_le_bytes(distance))).ok()
        };
        let all = self.entries.iter().map(|at| target(*at));
        let all: Option<Vec<u32>> = all.collect();
        all.ok_or_else(|| "a table that nobody reads".to_owned())
    }
}

type Elf<'a> = ElfFile64<'a>;
type Failed<T = ()> = Result<T, String>;

/// Takes an object apart: each function, or why it cannot be used.
pub(super) fn read(bytes: &[u8]) -> Failed<BTreeMap<u32, Failed<Piece>>> {
    let elf = Elf::parse(bytes).map_err(|error| format!("clang's object: {error}"))?;
    let mut functions: HashMap<SectionIndex, u32> = HashMap::new();
    for section in elf.sections() {
        let name = section.name().unwrap_or_default();
        // Between the two may stand how likely it is to run.
        let number = name
            .strip_prefix(".text.")
            .and_then(|rest| rest.rsplit_once("wf"));
        if let Some((_, number)) = number {
            let func = number.parse().map_err(|_| format!("a section '{name}'"))?;
            functions.insert(section.index(), func);
        }
    }
    let reader = Reader { elf, functions };
    let mut pieces = BTreeMap::new();
    for (section, func) in &reader.functions {
        pieces.insert(*func, reader.piece(*section));
    }
    reader.accesses(&mut pieces)?;
    reader.traps(&mut pieces)?;
    reader.lines(&mut pieces)?;
    Ok(pieces)
}

struct Reader<'a> {
    elf: Elf<'a>,
    /// Functions by their sections.
    functions: HashMap<SectionIndex, u32>,
}

/// What a relocation refers to.
enum Target<'a> {
    /// A place in a section.
    Place(SectionIndex, u64),
    /// A name that is defined elsewhere.
    Name(&'a str),
}

impl<'a> Reader<'a> {
    fn target(&self, relocation: &Relocation) -> Failed<Target<'a>> {
        match relocation.target() {
            RelocationTarget::Section(index) => Ok(Target::Place(index, 0)),
            RelocationTarget::Symbol(index) => {
                let symbol = self.elf.symbol_by_index(index).map_err(|e| e.to_string())?;
                match symbol.section_index() {
                    Some(section) => Ok(Target::Place(section, symbol.address())),
                    None => Ok(Target::Name(symbol.name().map_err(|e| e.to_string())?)),
                }
            }
            other => Err(format!("a relocation to {other:?}")),
        }
    }

    fn data(&self, section: SectionIndex) -> Failed<&'a [u8]> {
        let section = self
            .elf
            .section_by_index(section)
            .map_err(|e| e.to_string())?;
        section.data().map_err(|error| error.to_string())
    }

    fn relocations(&self, section: SectionIndex) -> Failed<Vec<(u64, Relocation)>> {
        let section = self
            .elf
            .section_by_index(section)
            .map_err(|e| e.to_string())?;
        Ok(section.relocations().collect())
    }

    /// A function's code with what it needs.
    fn piece(&self, section: SectionIndex) -> Failed<Piece> {
        let code = self.data(section)?.to_vec();
        let mut piece = Piece {
            code_bytes: code.len() as u32,
            code,
            ..Piece::default()
        };
        // Where sections were copied to.
        let mut copies: HashMap<SectionIndex, usize> = HashMap::new();
        copies.insert(section, 0);
        let mut tables = Tables::default();
        let mut work = vec![section];
        while let Some(from) = work.pop() {
            let start = copies[&from];
            for (offset, relocation) in self.relocations(from)? {
                let at = start + offset as usize;
                let is_call = relocation_type(&relocation)?;
                match self.target(&relocation)? {
                    Target::Name(name) => {
                        let number = |prefix| name.strip_prefix(prefix)?.parse().ok();
                        let (callee, all) = match number("ws") {
                            Some(start) => (Some(start), &mut piece.starts),
                            None => (number("wc"), &mut piece.calls),
                        };
                        let Some(callee) = callee.filter(|_| from == section) else {
                            return Err(format!("it needs '{name}'"));
                        };
                        all.push(Call {
                            offset: at as u32,
                            callee,
                            addend: relocation.addend(),
                        });
                    }
                    Target::Place(_, _) if is_call => return Err("a call into itself".to_owned()),
                    Target::Place(to, place) => {
                        let target = match copies.get(&to) {
                            Some(start) => *start,
                            None => {
                                let start = self.copy(to, &mut piece)?;
                                copies.insert(to, start);
                                work.push(to);
                                start
                            }
                        };
                        let target = target as i64 + place as i64 + relocation.addend();
                        write(&mut piece.code, at, target - at as i64)?;
                        match (from == section, to == section) {
                            (true, false) => tables.starts.push(target + 4),
                            (false, true) => tables.entries.push(at),
                            _ => {}
                        }
                    }
                }
            }
        }
        piece.targets = tables.targets(&piece.code)?;
        Ok(piece)
    }

    /// Copies constants behind a function's code: where to.
    fn copy(&self, section: SectionIndex, piece: &mut Piece) -> Failed<usize> {
        let found = self
            .elf
            .section_by_index(section)
            .map_err(|e| e.to_string())?;
        let name = found.name().unwrap_or_default();
        if !name.starts_with(".rodata") || found.align() as usize > ALIGN {
            return Err(format!("it needs what is in '{name}'"));
        }
        piece.has_table |= found.relocations().next().is_some();
        let start = piece
            .code
            .len()
            .next_multiple_of(found.align().max(1) as usize);
        piece.code.resize(start, 0);
        piece.code.extend_from_slice(self.data(section)?);
        Ok(start)
    }

    /// The function whose code a relocation refers to, and where.
    fn place(&self, relocation: &Relocation) -> Failed<Option<(u32, u32)>> {
        let Target::Place(section, place) = self.target(relocation)? else {
            return Ok(None);
        };
        let at = (place as i64 + relocation.addend()) as u32;
        Ok(self.functions.get(&section).map(|func| (*func, at)))
    }

    /// Sections of a name, one for each function or one for all.
    fn named(&self, name: &str) -> Vec<SectionIndex> {
        let is_named =
            |section: &object::read::elf::ElfSection64<'_, '_>| section.name() == Ok(name);
        let all = self.elf.sections().filter(is_named);
        all.map(|section| section.index()).collect()
    }

    /// Accesses that may fault: words that are relocated are places, of the site in the
    /// first word behind them that is not.
    fn accesses(&self, pieces: &mut BTreeMap<u32, Failed<Piece>>) -> Failed {
        for section in self.named("ft") {
            let data = self.data(section)?;
            let places: BTreeMap<u64, Relocation> =
                self.relocations(section)?.into_iter().collect();
            let mut group = Vec::new();
            for (i, word) in data.chunks_exact(4).enumerate() {
                match places.get(&(4 * i as u64)) {
                    Some(relocation) => group.push(self.place(relocation)?),
                    None => {
                        let site = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                        for (func, at) in group.drain(..).flatten() {
                            if let Some(Ok(piece)) = pieces.get_mut(&func) {
                                piece.accesses.push((at, site));
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn traps(&self, pieces: &mut BTreeMap<u32, Failed<Piece>>) -> Failed {
        for section in self.named(".fathom.traps") {
            for entry in self.data(section)?.chunks_exact(12) {
                let word = |i: usize| {
                    let bytes = &entry[4 * i..4 * i + 4];
                    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
                };
                if let Some(Ok(piece)) = pieces.get_mut(&word(1)) {
                    piece.traps.push((word(0), word(2)));
                }
            }
        }
        Ok(())
    }

    /// Lines. An address in them is relocated to the function and the place in it: the
    /// function's section stands in its upper half.
    fn lines(&self, pieces: &mut BTreeMap<u32, Failed<Piece>>) -> Failed {
        for section in self.named(".debug_line") {
            let mut data = self.data(section)?.to_vec();
            for (offset, relocation) in self.relocations(section)? {
                let Some((func, at)) = self.place(&relocation)? else {
                    continue;
                };
                let address = (u64::from(func) << 32) + u64::from(at);
                let field = data.get_mut(offset as usize..offset as usize + 8);
                let field = field.ok_or("an address beyond its section")?;
                field.copy_from_slice(&address.to_le_bytes());
            }
            let rows = super::lines::read(&data).map_err(|error| error.to_string())?;
            for (address, line) in rows {
                let func = (address >> 32) as u32;
                if let Some(Ok(piece)) = pieces.get_mut(&func) {
                    piece.lines.push((address as u32, line));
                }
            }
        }
        Ok(())
    }
}

/// Whether a relocation is a call's; refuses those that are no distances of 32 bits.
fn relocation_type(relocation: &Relocation) -> Failed<bool> {
    match relocation.flags() {
        RelocationFlags::Elf { r_type } if r_type == R_X86_64_PC32 => Ok(false),
        RelocationFlags::Elf { r_type } if r_type == R_X86_64_PLT32 => Ok(true),
        RelocationFlags::Elf { r_type } if r_type == R_X86_64_64 => {
            Err("it needs an address".to_owned())
        }
        other => Err(format!("a relocation of kind {other:?}")),
    }
}

/// Writes a distance.
fn write(code: &mut [u8], at: usize, distance: i64) -> Failed {
    let distance = i32::try_from(distance).map_err(|_| "a distance beyond 2 GiB")?;
    let field = code
        .get_mut(at..at + 4)
        .ok_or("a relocation beyond the code")?;
    field.copy_from_slice(&distance.to_le_bytes());
    Ok(())
}
