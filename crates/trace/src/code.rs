//! Machine code that other engines and compilers made of a function.
//!
//! ```text
//!  jitdump      what an engine writes down of its code while it makes it
//!  native       the code of a function in a program's file
//!  listing      its instructions, and what they come to
//! ```
//!
//! What must stay true: any bytes are read; what is no instruction is shown as data and counted
//! as none.

pub mod jitdump;
pub mod listing;

use crate::elf;

/// The code of the functions of a program's file that are meant, by their symbols, in the order
/// of the file.
///
/// # Errors
/// One line: it is no ELF file of 64 bits.
pub fn native(
    file: &[u8],
    is_meant: impl Fn(&str) -> bool,
) -> Result<Vec<(String, &[u8])>, String> {
    let elf = elf::parse(file)?;
    let mut found: Vec<_> = elf::functions(&elf)
        .filter(|symbol| symbol.bytes > 0 && is_meant(symbol.name))
        .collect();
    found.sort_by_key(|symbol| (symbol.start, !symbol.is_global));
    found.dedup_by_key(|symbol| symbol.start);
    let code = found.into_iter().filter_map(|symbol| {
        let start = usize::try_from(symbol.start).ok()?;
        let bytes = usize::try_from(symbol.bytes.min(symbol.left)).ok()?;
        let code = file.get(start..)?.get(..bytes)?;
        Some((symbol.name.to_owned(), code))
    });
    Ok(code.collect())
}
