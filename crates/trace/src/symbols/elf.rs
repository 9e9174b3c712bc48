//! The functions of a program or a library: names, and where they begin in the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use object::Object;

use super::SymbolError;
use crate::elf;

/// What a symbol table says of functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// Offsets in the file by name: of local functions several may have one.
    by_name: BTreeMap<String, BTreeSet<u64>>,
    /// Those of them that are in the middle of another function.
    inner: BTreeSet<u64>,
    /// Whether it is a program in Go.
    pub is_go: bool,
}

impl Functions {
    /// Reads a file's symbol tables, the one that is stripped and the one that is not.
    ///
    /// # Errors
    /// [`SymbolError`]: it cannot be read, is no ELF file of 64 bits, or has no functions.
    pub fn read(path: &Path) -> Result<Functions, SymbolError> {
        let bytes = fs::read(path).map_err(|source| SymbolError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Functions::of(&bytes).map_err(|why| SymbolError::NoSymbols {
            path: path.to_owned(),
            why,
        })
    }

    /// From a file's bytes.
    ///
    /// # Errors
    /// One line.
    pub fn of(bytes: &[u8]) -> Result<Functions, String> {
        let elf = elf::parse(bytes)?;
        let is_go = elf.section_by_name(".gopclntab").is_some()
            || elf.section_by_name(".go.buildinfo").is_some();
        let mut by_name: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        // Where each begins and ends, and where it is probed.
        let mut all = BTreeSet::new();
        for elf::Symbol {
            name,
            start,
            bytes: size,
            ..
        } in elf::functions(&elf)
        {
            let probed = match is_go {
                true => start.saturating_add(behind_stack_check(bytes, start)),
                false => start,
            };
            all.insert((start, start.saturating_add(size), probed));
            by_name.entry(name.to_owned()).or_default().insert(probed);
        }
        if by_name.is_empty() {
            return Err("it has no symbols of functions: it is stripped".to_owned());
        }
        Ok(Functions {
            by_name,
            inner: inner(all),
            is_go,
        })
    }

    /// Where the functions of a name begin; where there is none, those that it fits, with
    /// `*` for any letters.
    pub fn named(&self, name: &str) -> BTreeSet<u64> {
        if let Some(offsets) = self.by_name.get(name) {
            return offsets.clone();
        }
        if !name.contains('*') {
            return BTreeSet::new();
        }
        let fitting = self.by_name.iter().filter(|(other, _)| fits(name, other));
        fitting.flat_map(|(_, offsets)| offsets).copied().collect()
    }

    /// Whether a function begins in the middle of another one, where nothing may be probed.
    pub fn is_inner(&self, offset: u64) -> bool {
        self.inner.contains(&offset)
    }

    /// Names that are one function each, and where it begins; of names of one function the
    /// first.
    pub fn single(&self) -> impl Iterator<Item = (&str, u64)> {
        let mut seen = BTreeSet::new();
        let all = self.by_name.iter();
        let all = all.filter_map(|(name, offsets)| match offsets.len() {
            1 => offsets.first().map(|offset| (name.as_str(), *offset)),
            _ => None,
        });
        all.filter(move |(_, offset)| !self.is_inner(*offset) && seen.insert(*offset))
    }
}

/// Of functions by start, end and place, the places of those that begin inside another.
fn inner(all: BTreeSet<(u64, u64, u64)>) -> BTreeSet<u64> {
    let mut inside = BTreeSet::new();
    // The one that reaches farthest of those that begin in front.
    let mut before = (0, 0);
    for (start, end, probed) in all {
        if start > before.0 && start < before.1 {
            inside.insert(probed);
        }
        if end > before.1 {
            before = (start, end);
        }
    }
    inside
}

/// Whether a name is a pattern, in which `*` is any letters.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut name) = name.strip_prefix(first) else {
        return false;
    };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        match name.split_once(part) {
            Some((_, behind)) => name = behind,
            None => return false,
        }
    }
    name.ends_with(last)
}

/// Bytes from a function's first instruction to the one behind its stack check, in Go on
/// x86-64: what is in front is run again when the stack was moved, or the scheduler asked.
///
/// `cmp rsp, [r14+16]`, or `lea r12, [rsp-…]` and `cmp r12, [r14+16]`; `jbe`; `push rbp`, which
/// is the instruction that is probed. Where that is not what is there: none.
fn behind_stack_check(bytes: &[u8], offset: u64) -> u64 {
    let code = usize::try_from(offset).ok().and_then(|at| bytes.get(at..));
    let mut code = code.unwrap_or_default();
    let all = code.len();
    let small = code.strip_prefix(&[0x4c, 0x8d, 0x64, 0x24]);
    let large = code.strip_prefix(&[0x4c, 0x8d, 0xa4, 0x24]);
    let frame = (small.and_then(|code| code.get(1..))).or(large.and_then(|code| code.get(4..)));
    let compare: &[u8] = match frame {
        Some(behind) => {
            code = behind;
            &[0x4d, 0x3b, 0x66, 0x10]
        }
        None => &[0x49, 0x3b, 0x66, 0x10],
    };
    let branch = code.strip_prefix(compare).unwrap_or_default();
    let near = branch.strip_prefix(&[0x76]).and_then(|code| code.get(1..));
    let far = branch
        .strip_prefix(&[0x0f, 0x86])
        .and_then(|code| code.get(4..));
    match near.or(far) {
        Some(behind @ [0x55, ..]) => (all - behind.len()) as u64,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::{behind_stack_check, fits, inner};

    #[test]
    fn what_begins_inside_another_function_is_known() {
        let all = [
            (10, 20, 10),
            (10, 30, 10),
            (15, 16, 15),
            (29, 29, 29),
            (30, 40, 36),
        ];
        assert_eq!(Vec::from_iter(inner(all.into())), [15, 29]);
    }

    #[test]
    fn a_pattern_fits_what_it_says() {
        for (pattern, name, expected) in [
            ("a*b", "ab", true),
            ("a*b", "axxb", true),
            ("a*b", "axbc", false),
            ("a*b*c", "a1b2c", true),
            ("a*bc*c", "abc", false),
            ("a*b*b", "ab", false),
            ("*", "anything", true),
            ("a", "a", true),
            ("a", "ab", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_stack_check_of_go_is_slid_past() {
        let near = [0x49, 0x3b, 0x66, 0x10, 0x76, 0x20, 0x55, 0x48];
        assert_eq!(behind_stack_check(&near, 0), 6);
        let far = [0, 0x49, 0x3b, 0x66, 0x10, 0x0f, 0x86, 1, 2, 3, 4, 0x55];
        assert_eq!(behind_stack_check(&far, 1), 10);
        let mut frame = vec![0x4c, 0x8d, 0x64, 0x24, 0xc0, 0x4d, 0x3b, 0x66, 0x10];
        frame.extend([0x76, 0x20, 0x55]);
        assert_eq!(behind_stack_check(&frame, 0), 11);
        // A leaf, one that does not go on as expected, one that ends.
        assert_eq!(behind_stack_check(&[0x48, 0x89, 0xe5], 0), 0);
        assert_eq!(behind_stack_check(&[&near[..6], &[0x90]].concat(), 0), 0);
        for end in 0..near.len() - 1 {
            assert_eq!(behind_stack_check(&near[..end], 0), 0);
        }
        assert_eq!(behind_stack_check(&near, 1 << 40), 0);
    }
}
