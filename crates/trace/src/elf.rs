//! Where the functions of a program or a library are in its file, by its symbol tables.

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSegment, ObjectSymbol, SymbolKind};

/// A file of 64 bits.
pub(crate) type Elf<'a> = ElfFile64<'a, Endianness>;

/// A symbol of a function.
pub(crate) struct Symbol<'a> {
    pub name: &'a str,
    /// Where it begins in the file.
    pub start: u64,
    /// For how long; 0 where nobody has said so.
    pub bytes: u64,
    /// Bytes from there to the end of what is mapped with it.
    pub left: u64,
    pub is_global: bool,
}

/// Reads a file's headers.
///
/// # Errors
/// One line: it is no such file.
pub(crate) fn parse(bytes: &[u8]) -> Result<Elf<'_>, String> {
    ElfFile64::parse(bytes).map_err(|error| format!("not an ELF file of 64 bits: {error}"))
}

/// The functions that it defines, of the symbol table that is stripped and of the one that is
/// not. What is mapped from no place in the file is left out.
pub(crate) fn functions<'a>(elf: &'a Elf<'a>) -> impl Iterator<Item = Symbol<'a>> {
    let segments: Vec<(u64, u64, u64)> = elf
        .segments()
        .map(|segment| {
            let (offset, size) = segment.file_range();
            (segment.address(), size, offset)
        })
        .collect();
    let place = move |address: u64| {
        let holds = |(start, size, _): &&(u64, u64, u64)| {
            address.checked_sub(*start).is_some_and(|far| far < *size)
        };
        let (start, size, offset) = segments.iter().find(holds)?;
        let far = address - start;
        Some((offset.checked_add(far)?, size - far))
    };
    let all = elf.symbols().chain(elf.dynamic_symbols());
    let functions = all.filter(|one| one.kind() == SymbolKind::Text && one.is_definition());
    functions.filter_map(move |symbol| {
        let (start, left) = place(symbol.address())?;
        Some(Symbol {
            name: symbol.name().ok()?,
            start,
            bytes: symbol.size(),
            left,
            is_global: symbol.is_global(),
        })
    })
}
