//! Maps that are right and wrong, symbols of a program that is here: this one.

use super::discover::{self, KNOWN, Turn};
use super::*;
use crate::kernel::Probed;

const MAP: &str = "version = \"ours 1\"\nfile = \"{tools}/x\"\nends = \"return\"\n\
                   [functions]\nfd_write = [\"one\", \"two\"]\n";

#[test]
fn a_map_is_read_as_it_was_written() {
    let map = SymbolMap::parse(MAP).unwrap();
    assert_eq!(map.functions["fd_write"], ["one", "two"]);
    assert_eq!(SymbolMap::parse(&map.text().unwrap()).unwrap(), map);
    for (bad, expected) in [
        ("", "missing field"),
        ("version = 1", "invalid type"),
        (
            &MAP.replace("[\"one\", \"two\"]", "[]"),
            "fd_write has no symbol",
        ),
        (
            &MAP.replace("fd_write = [\"one\", \"two\"]", ""),
            "names no function",
        ),
        (&MAP.replace("return", "never"), "unknown variant"),
        (&(MAP.to_owned() + "[more]\n"), "unknown field"),
    ] {
        let error = SymbolMap::parse(bad).unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    }
}

#[inline(never)]
extern "C" fn fathom_symbols_of_this_test() -> u32 {
    std::hint::black_box(17)
}

/// This program, its functions, and the symbol of the one above.
fn own() -> (PathBuf, Functions, String) {
    assert_eq!(fathom_symbols_of_this_test(), 17);
    let path = std::env::current_exe().unwrap();
    let functions = Functions::read(&path).unwrap();
    let mut all = functions.single();
    let is_own = |(name, _): &(&str, u64)| name.contains("fathom_symbols_of_this_test");
    let symbol = all.find(is_own).unwrap().0.to_owned();
    drop(all);
    (path, functions, symbol)
}

#[test]
fn a_function_is_found_where_its_code_is() {
    let (path, functions, symbol) = own();
    let map = MAP.replace("\"one\", \"two\"", &format!("{symbol:?}"));
    let found = SymbolMap::parse(&map)
        .unwrap()
        .find(&path, &functions)
        .unwrap();
    let [(name, offset)] = &found.functions[..] else {
        panic!("{found:?}");
    };
    assert_eq!(name, "fd_write");
    // The kernel says which part of the file is where in memory.
    let address = fathom_symbols_of_this_test as *const () as u64;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let at = maps.lines().find_map(|line| {
        let number = |word: &str| u64::from_str_radix(word, 16).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let (start, end) = words[0].split_once('-').unwrap();
        let is_in = (number(start)..number(end)).contains(&address);
        is_in.then(|| address - number(start) + number(words[2]))
    });
    assert_eq!(Some(*offset), at);
}

#[test]
fn what_a_map_matches_too_little_or_too_much_is_said() {
    let (path, functions, symbol) = own();
    let find = |text: &str, of: &Functions| {
        let map = SymbolMap::parse(text).unwrap();
        map.find(&path, of).unwrap_err().to_string()
    };
    let error = find(MAP, &functions);
    assert!(
        error.contains("has no function `one` (fd_write): the map is for ours 1"),
        "{error}"
    );
    let twice = MAP.replace("\"one\", \"two\"", &format!("{symbol:?}"))
        + &format!("fd_read = [{symbol:?}]\n");
    assert!(find(&twice, &functions).contains("fd_read and fd_write are one function"));
    let mut go = functions.clone();
    go.is_go = true;
    assert!(find(&twice, &go).contains("in Go"));
    let error = Functions::of(b"\x7fELF").unwrap_err();
    assert!(error.contains("not an ELF file"), "{error}");
    assert!(Functions::read(Path::new("/no/such")).is_err());
    assert!(Functions::read(Path::new("/bin/sh")).is_err() || cfg!(not(target_os = "linux")));
}

fn seen(all: &[(&str, u64, u64)]) -> BTreeMap<String, Probed> {
    let one = |(name, entered, total_ns): &(&str, u64, u64)| {
        let mut probed = Probed {
            entered: *entered,
            ..Probed::default()
        };
        probed.times.total_ns = *total_ns;
        ((*name).to_owned(), probed)
    };
    all.iter().map(one).collect()
}

#[test]
fn functions_are_told_by_how_often_they_were_entered() {
    let first = seen(&[
        ("wasi_x", 1181, 0),
        ("wasi_fd_write_inner", 1181, 0),
        ("trampoline_17_wasi", 1181, 0),
        ("wasi_by_chance", 1181, 0),
        ("WASI::FdRead::Slow", 123, 0),
        ("WASI::FdRead::Fast", 1000, 0),
        ("WASI::Other::Fast", 1033 - 123, 0),
        ("wasi_close", 1062, 0),
        ("uv__random_getrandom", 1201, 0),
    ]);
    // The other order: fd_write has 1033, fd_read 1087, sched_yield 1009.
    let second = seen(&[
        ("wasi_x", 1033, 10),
        ("wasi_fd_write_inner", 1033, 50),
        ("trampoline_17_wasi", 1033, 90),
        ("wasi_by_chance", 1034, 900),
        ("WASI::FdRead::Slow", 87, 0),
        ("WASI::FdRead::Fast", 1000, 0),
        ("WASI::Other::Fast", 1000, 0),
        ("wasi_close", 1123, 0),
        ("uv__random_getrandom", 1009, 10),
    ]);
    let told = discover::told([&first, &second]);
    assert_eq!(told.functions["fd_write"], ["trampoline_17_wasi"]);
    assert_eq!(
        told.functions["fd_read"],
        ["WASI::FdRead::Fast", "WASI::FdRead::Slow"]
    );
    assert_eq!(told.functions.len(), 2);
    assert_eq!(told.unknown.len(), KNOWN.len() - 2);
    // Without times the name decides.
    let first = seen(&[("wasi_a", 1151, 0), ("wasi_fdSeekFn", 1151, 0)]);
    let second = seen(&[("wasi_a", 1061, 0), ("wasi_fdSeekFn", 1061, 0)]);
    let told = discover::told([&first, &second]);
    assert_eq!(told.functions["fd_seek"], ["wasi_fdSeekFn"]);
}

#[test]
fn what_a_compiler_adds_in_each_build_is_left_open() {
    let (_, functions, symbol) = own();
    let one = |symbol: &str| BTreeMap::from([("f".to_owned(), vec![symbol.to_owned()])]);
    let lasting = discover::lasting(one(&symbol), &functions);
    let pattern = &lasting["f"][0];
    assert!(pattern.contains('*') && *pattern != symbol, "{pattern}");
    assert_eq!(functions.named(pattern), functions.named(&symbol));
    // One that would fit more, or nothing, stays.
    for stays in ["main", "CsNOT_here", "_ZN4core3fmt17h0123456789abcdefE"] {
        assert_eq!(discover::lasting(one(stays), &functions), one(stays));
    }
}

#[test]
fn the_known_calls_can_be_told_apart() {
    let counts: Vec<u32> = KNOWN.iter().map(|(_, count, _)| *count).collect();
    for (at, one) in counts.iter().enumerate() {
        for other in &counts[at + 1..] {
            assert!(one != other && !counts.contains(&(one + other)));
        }
    }
    assert!(KNOWN.len().is_multiple_of(2));
    for turn in [Turn::First, Turn::Second] {
        assert!(wat::parse_str(discover::module(turn)).is_ok());
    }
}
