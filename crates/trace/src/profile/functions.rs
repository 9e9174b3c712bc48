//! The functions of a program or a library by where they are in the file.

use std::cmp::Reverse;
use std::rc::Rc;

use super::ranges::Ranges;
use crate::elf::{self, Symbol};

/// The functions of a file, by offset. Of names of one function one is taken, always the
/// same; of functions inside others the inner one.
///
/// # Errors
/// One line: it is no ELF file of 64 bits.
pub fn of(bytes: &[u8]) -> Result<Ranges<Rc<str>>, String> {
    let elf = elf::parse(bytes)?;
    let mut symbols = Vec::new();
    let mut without_size = Vec::new();
    for found in elf::functions(&elf) {
        let bytes = found.bytes.min(found.left);
        match bytes {
            0 => without_size.push(Symbol {
                bytes: found.left,
                ..found
            }),
            _ => symbols.push(Symbol { bytes, ..found }),
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
            left: bytes,
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
