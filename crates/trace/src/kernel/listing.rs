//! Compiled programs for the kernel, as text.
//!
//! ```text
//!  map NAME KIND KEY VALUE ENTRIES         numbers as in `struct map`, bytes
//!  program TRACEPOINT
//!  0000000000000018@NAME …                 instructions, 64 bits each; @: loads that map
//! ```
//!
//! The text is part of this program, so that tracing needs no compiler where it is used.
//! `bpf/trace.bpf.c` is what it is made of; `tests/listing.rs` makes it and holds the two
//! together.

use std::io;

use fathom_sys::bpf::{Code, Map, MapShape};

/// `bpf/trace.bpf.c`, compiled.
const LISTING: &str = include_str!("../../bpf/listing.txt");

/// A listing, read.
pub struct Listing {
    /// Maps by name.
    pub maps: Vec<(&'static str, MapShape)>,
    /// Instructions by tracepoint; each with the map that it loads.
    pub programs: Vec<(&'static str, Vec<Word>)>,
}

/// 64 bits, and the map whose address they load.
pub type Word = (u64, Option<&'static str>);

impl Listing {
    /// Reads our own; it is part of this program.
    ///
    /// # Panics
    /// If it is damaged, which a test would have seen.
    pub fn own() -> Listing {
        parse(LISTING).expect("tests read it")
    }
}

impl Listing {
    /// The instructions of a program, with the maps that were made for it.
    ///
    /// # Errors
    /// A map that is not there.
    pub fn code(words: &[Word], maps: &[(&'static str, Map)]) -> io::Result<Code> {
        let mut code = Code::default();
        for (word, name) in words {
            match name {
                None => code.push(*word),
                Some(name) => {
                    let map = maps.iter().find(|(of, _)| of == name);
                    let (_, map) = map.ok_or_else(|| io::Error::other(format!("no map {name}")))?;
                    code.push_map(*word, map);
                }
            }
        }
        Ok(code)
    }
}

fn parse(text: &'static str) -> Option<Listing> {
    let (mut maps, mut programs) = (Vec::new(), Vec::<(&str, Vec<Word>)>::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let first = words.next()?;
        match first {
            "map" => {
                let name = words.next()?;
                let numbers: Vec<u32> = words.map_while(|word| word.parse().ok()).collect();
                let [kind, key, value, entries] = numbers.try_into().ok()?;
                let shape = MapShape {
                    kind,
                    key,
                    value,
                    entries,
                };
                maps.push((name, shape));
            }
            "program" => programs.push((words.next()?, Vec::new())),
            _ => {
                let (_, code) = programs.last_mut()?;
                for word in std::iter::once(first).chain(words) {
                    let (bits, map) = match word.split_once('@') {
                        Some((bits, map)) => (bits, Some(map)),
                        None => (word, None),
                    };
                    code.push((u64::from_str_radix(bits, 16).ok()?, map));
                }
            }
        }
    }
    Some(Listing { maps, programs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_listing_names_the_maps_that_it_has() {
        let listing = Listing::own();
        assert!(listing.maps.len() >= 4 && listing.programs.len() >= 7);
        for (tracepoint, words) in &listing.programs {
            for (_, map) in words {
                let is_there = map.is_none_or(|map| listing.maps.iter().any(|(of, _)| *of == map));
                assert!(is_there, "{tracepoint}: {map:?}");
            }
        }
    }

    #[test]
    fn what_is_no_listing_is_refused() {
        for bad in ["map a 1 2 3", "00", "program", "program p\nxyz", ""] {
            let is_empty = bad.is_empty();
            assert_eq!(parse(bad).is_some(), is_empty, "{bad}");
        }
    }
}
