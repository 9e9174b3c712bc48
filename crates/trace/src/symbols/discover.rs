//! Which functions are WASI's, by a module whose calls are known.
//!
//! ```text
//!  module()  calls each WASI function a number of times that no other is called, nor a sum;
//!            the second run has the numbers in the other order, so that no chance is believed
//!  candidates  functions whose names speak of WASI or of one of its functions
//!  told()    those that were entered as often as it was called: alone, or two of one name
//!  lasting()   their symbols without what a compiler adds in each build
//! ```
//!
//! What must stay true: nothing is guessed. A function that no symbol was entered as often as
//! is not in the map, and is told.

use std::collections::BTreeMap;

use super::Functions;
use crate::kernel::Probed;

/// WASI functions that can be called without effect, how often each is, and with which
/// arguments: all fail or do little.
///
/// Numbers are primes between 1,000 and 2,000, no two of which add up to a third. They are an
/// even number, so that in the other order each function has another.
pub const KNOWN: [(&str, u32, &str); 14] = [
    ("args_sizes_get", 1009, "ii"),
    ("clock_res_get", 1021, "Ii"),
    ("clock_time_get", 1033, "Ili"),
    ("environ_sizes_get", 1049, "ii"),
    ("fd_close", 1061, "b"),
    ("fd_fdstat_get", 1087, "bi"),
    ("fd_filestat_get", 1097, "bi"),
    ("fd_prestat_get", 1109, "bi"),
    ("fd_read", 1123, "biZi"),
    ("fd_seek", 1151, "blZi"),
    ("fd_tell", 1163, "bi"),
    ("fd_write", 1181, "biZi"),
    ("random_get", 1193, "iZ"),
    ("sched_yield", 1201, ""),
];

/// One of the two runs of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// With the numbers as they are.
    First,
    /// In the other order.
    Second,
}

impl Turn {
    /// How often the function at this place of [`KNOWN`] is called.
    fn calls(self, at: usize) -> u32 {
        match self {
            Turn::First => KNOWN[at].1,
            Turn::Second => KNOWN[KNOWN.len() - 1 - at].1,
        }
    }
}

/// The module, as text: `i` is an address of scratch memory, `l` a 64-bit zero, `b` a
/// descriptor that is not there, `I` the monotonic clock, `Z` zero.
pub fn module(turn: Turn) -> String {
    let mut imports = String::new();
    let mut calls = String::new();
    for (at, (name, _, args)) in KNOWN.into_iter().enumerate() {
        let count = turn.calls(at);
        let (mut params, mut given) = (String::new(), String::new());
        for letter in args.chars() {
            let (ty, value) = match letter {
                'l' => ("i64", "0"),
                'b' => ("i32", "9999"),
                'I' => ("i32", "1"),
                'Z' => ("i32", "0"),
                _ => ("i32", "64"),
            };
            params += &format!(" {ty}");
            given += &format!(" ({ty}.const {value})");
        }
        imports += &format!(
            "  (import \"wasi_snapshot_preview1\" \"{name}\" (func ${name} (param{params}) (result i32)))\n"
        );
        calls += &format!(
            "    (local.set $n (i32.const {count}))\n    (loop $again\n      \
             (drop (call ${name}{given}))\n      \
             (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))\n"
        );
    }
    format!(
        "(module\n{imports}  (memory (export \"memory\") 1)\n  \
         (func (export \"_start\") (local $n i32)\n{calls}))\n"
    )
}

/// Functions that are probed at most.
const CANDIDATES_MAX: usize = 4000;

/// The functions of a program whose names speak of WASI or of one of its functions, the
/// first of them where there are too many.
pub fn candidates(of: &Functions) -> Vec<(String, u64)> {
    let known: Vec<String> = KNOWN.iter().map(|(name, ..)| plain(name)).collect();
    let speaks = |(name, _): &(&str, u64)| {
        let name = plain(name);
        name.contains("wasi") || known.iter().any(|known| name.contains(known))
    };
    let all = of.single().filter(speaks);
    let all = all.map(|(name, offset)| (name.to_owned(), offset));
    all.take(CANDIDATES_MAX).collect()
}

/// A name as it is compared: without what conventions of languages differ in.
fn plain(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// WASI functions, each with symbols that together were entered as often as it was called.
    pub functions: BTreeMap<String, Vec<String>>,
    /// Those that no symbol fits.
    pub unknown: Vec<&'static str>,
}

/// What was seen of a candidate in both runs.
#[derive(Clone, Debug)]
struct Seen<'a> {
    name: &'a str,
    entered: [u64; 2],
    total_ns: u64,
}

/// Tells WASI functions by how often candidates were entered in the two runs.
///
/// Of several that fit one, that which takes longest in the second is taken, since it calls
/// the others; where returns were not seen, that whose name has the function's, then the
/// first. What is named after one function is never another.
pub fn told(runs: [&BTreeMap<String, Probed>; 2]) -> Told {
    let [first, second] = runs;
    let both = first.iter().filter_map(|(name, one)| {
        let other = second.get(name)?;
        Some(Seen {
            name,
            entered: [one.entered, other.entered],
            total_ns: other.times.total_ns,
        })
    });
    let seen: Vec<Seen> = both.collect();
    let mut told = Told::default();
    for (at, (function, ..)) in KNOWN.iter().enumerate() {
        let calls = [Turn::First, Turn::Second].map(|turn| u64::from(turn.calls(at)));
        match symbols_of(function, calls, &seen) {
            Some(symbols) => {
                told.functions.insert((*function).to_owned(), symbols);
            }
            None => told.unknown.push(function),
        }
    }
    told
}

fn symbols_of(function: &str, calls: [u64; 2], seen: &[Seen]) -> Option<Vec<String>> {
    let is_named = |one: &&Seen| plain(one.name).contains(&plain(function));
    let is_other = |one: &&Seen| {
        let mut others = KNOWN.iter().filter(|(other, ..)| *other != function);
        others.any(|(other, ..)| plain(one.name).contains(&plain(other)))
    };
    let fits = seen.iter().filter(|one| one.entered == calls);
    let fits = fits.filter(|one| is_named(one) || !is_other(one));
    // The last of equal ones is `max_by_key`'s.
    if let Some(best) = fits.rev().max_by_key(|one| (one.total_ns, is_named(one))) {
        return Some(vec![best.name.to_owned()]);
    }
    // A slow and a fast way in, as V8 has them.
    let named: Vec<&Seen> = seen.iter().filter(is_named).collect();
    named.iter().enumerate().find_map(|(at, one)| {
        let mut others = named[at + 1..].iter();
        let sums = |other: &&&Seen| [0, 1].map(|run| one.entered[run] + other.entered[run]);
        let other = others.find(|other| sums(other) == calls)?;
        Some(vec![one.name.to_owned(), other.name.to_owned()])
    })
}

/// The symbols with `*` for the hashes that Rust's compiler adds in each build, where that
/// still is one function.
pub fn lasting(
    functions: BTreeMap<String, Vec<String>>,
    of: &Functions,
) -> BTreeMap<String, Vec<String>> {
    let lasts = |symbol: String| {
        let pattern = without_hashes(&symbol);
        match of.named(&pattern).len() {
            1 => pattern,
            _ => symbol,
        }
    };
    let all = functions.into_iter();
    all.map(|(name, symbols)| (name, symbols.into_iter().map(lasts).collect()))
        .collect()
}

/// `Cs` and up to `_` a crate's, as the new names have it; `17h`, 16 digits and `E` at the
/// end, as the old ones.
fn without_hashes(symbol: &str) -> String {
    if let Some((name, hash)) = symbol.rsplit_once("17h") {
        let is_hash = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if hash.strip_suffix('E').is_some_and(is_hash) {
            return format!("{name}17h*E");
        }
    }
    let mut parts = symbol.split("Cs");
    let mut pattern = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        pattern += "Cs";
        match part.split_once('_') {
            Some((hash, rest)) if is_crate_hash(hash) => {
                pattern += "*_";
                pattern += rest;
            }
            _ => pattern += part,
        }
    }
    pattern
}

/// Numbers of 64 bits to the base 62 have 10 or 11 digits, seldom fewer.
fn is_crate_hash(text: &str) -> bool {
    (8..=11).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
