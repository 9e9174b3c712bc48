//! The functions of a program or a library by where they are in the file.

use std::cmp::Reverse;
use std::rc::Rc;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSegment, ObjectSymbol, SymbolKind};

use super::ranges::Ranges;

/// A symbol of a function: where it is in the file, for so many bytes.
struct Symbol<'a> {
    start: u64,
    bytes: u64,
    is_global: bool,
    name: &'a str,
}

/// The functions of a file, by offset. Of names of one function one is taken, always the
/// same; of functions inside others the inner one.
///
/// # Errors
/// One line: it is no ELF file of 64 bits.
pub fn of(bytes: &[u8]) -> Result<Ranges<Rc<str>>, String> {
    let elf = ElfFile64::<Endianness>::parse(bytes)
        .map_err(|error| format!("not an ELF file of 64 bits: {error}"))?;
    let segments: Vec<(u64, u64, u64)> = elf
        .segments()
        .map(|segment| {
            let (offset, size) = segment.file_range();
            (segment.address(), size, offset)
        })
        .collect();
    let place = |address: u64| {
        let holds = |(start, size, _): &&(u64, u64, u64)| {
            address.checked_sub(*start).is_some_and(|far| far < *size)
        };
        let (start, size, offset) = segments.iter().find(holds)?;
        let offset = offset.checked_add(address - start)?;
        Some((offset, size - (address - start)))
    };
    let mut symbols = Vec::new();
    let mut without_size = Vec::new();
    for symbol in elf.symbols().chain(elf.dynamic_symbols()) {
        if symbol.kind() != SymbolKind::Text || !symbol.is_definition() {
            continue;
        }
        let (Ok(name), Some((start, left))) = (symbol.name(), place(symbol.address())) else {
            continue;
        };
        let found = Symbol {
            start,
            bytes: symbol.size().min(left),
            is_global: symbol.is_global(),
            name,
        };
        match found.bytes {
            0 => without_size.push(Symbol {
                bytes: left,
                ..found
            }),
            _ => symbols.push(found),
        }
    }
    Ok(laid(symbols, without_size))
}

/// Lays them over each other: what has no size reaches to the next, and is under all that
/// has one; the large under the small; of equals the better name last.
fn laid(mut symbols: Vec<Symbol<'_>>, mut without_size: Vec<Symbol<'_>>) -> Ranges<Rc<str>> {
    let underscores = |name: &str| name.bytes().take_while(|byte| *byte == b'_').count();
    without_size.sort_by_key(|one| (one.start, one.is_global, one.name));
    symbols.sort_by_cached_key(|one| {
        let worse = Reverse((underscores(one.name), one.name));
        (Reverse(one.bytes), one.start, one.is_global, worse)
    });
    let mut functions = Ranges::default();
    for one in without_size.into_iter().chain(symbols) {
        functions.put(one.start, one.bytes, Rc::from(one.name));
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_functions_better_names_and_sizes_count() {
        let symbol = |start, bytes, is_global, name| Symbol {
            start,
            bytes,
            is_global,
            name,
        };
        let functions = laid(
            vec![
                symbol(10, 10, true, "__memcpy"),
                symbol(10, 10, true, "memcpy"),
                symbol(10, 10, false, "a_local_name"),
                symbol(12, 2, false, "inner"),
            ],
            vec![symbol(0, 100, true, "start"), symbol(30, 70, true, "end")],
        );
        let name = |address| functions.at(address).map(|(_, name)| &**name);
        assert_eq!(name(0), Some("start"));
        assert_eq!(name(11), Some("memcpy"));
        assert_eq!(name(13), Some("inner"));
        assert_eq!(name(14), Some("memcpy"));
        assert_eq!(name(20), Some("start"));
        assert_eq!(name(99), Some("end"));
        assert_eq!(name(100), None);
    }

    #[test]
    fn this_program_has_this_function() {
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        let functions = of(&bytes).unwrap();
        // Where it is, the kernel has mapped it.
        let here = this_program_has_this_function as fn() as usize as u64;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let offset = maps.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            let (start, end) = words.next()?.split_once('-')?;
            let hex = |text| u64::from_str_radix(text, 16).ok();
            let from = hex(words.nth(1)?)?;
            let range = hex(start)?..hex(end)?;
            range.contains(&here).then(|| here - range.start + from)
        });
        let (_, name) = functions.at(offset.unwrap()).unwrap();
        assert!(name.contains("this_program_has_this_function"), "{name}");
        assert!(of(b"\x7fELF").unwrap_err().starts_with("not an ELF file"));
    }
}
