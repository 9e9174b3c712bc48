//! What a rewritten module hands out at its end: how often it called each WASI function and,
//! where it was asked to look at the clock, for how long.
//!
//! ```text
//!  …the guest's own output\n{"fathom":"wasi-counts","version":1,"calls":{NAME:[bytes,ok,…],…}}\n
//!  …version":2,"clock":[ns,readings],"calls":{NAME:[bytes,ok,…,ns],…}}\n
//! ```
//!
//! What must stay true: the line is the last one of the stream, and taking it away
//! leaves what the guest wrote, byte for byte.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Kinds of results, in the order in which they are handed out.
///
/// The numbers are those of `errno` in `wasi_snapshot_preview1.witx`.
pub const CLASSES: [Class; 8] = [
    Class::of("ok", &[0]),
    Class::of("again", &[6]),
    Class::of("exists", &[20]),
    Class::of("missing", &[44, 54]),
    Class::of("denied", &[2, 63, 69, 76]),
    Class::of("bad descriptor", &[8]),
    Class::of("invalid", &[28]),
    Class::of("other", &[]),
];

/// What begins the line: nothing that a program prints by accident.
const LINE: &str = "{\"fathom\":\"wasi-counts\",\"version\":";
/// What follows it where calls are counted.
pub(crate) const HEAD: &str = "{\"fathom\":\"wasi-counts\",\"version\":1,\"calls\":{";
/// The same where they are timed, up to and behind what the clock takes.
pub(crate) const TIMED: [&str; 2] = [
    "{\"fathom\":\"wasi-counts\",\"version\":2,\"clock\":[",
    "],\"calls\":{",
];
/// What ends it.
pub(crate) const TAIL: &str = "}}\n";

/// One kind of result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// What people call it.
    pub name: &'static str,
    /// The error numbers that belong to it; none for all that belong to no other.
    pub errnos: &'static [u32],
}

impl Class {
    const fn of(name: &'static str, errnos: &'static [u32]) -> Class {
        Class { name, errnos }
    }

    /// The position in [`CLASSES`] of an error number's class.
    pub fn position(errno: u32) -> usize {
        let named = CLASSES.iter().position(|c| c.errnos.contains(&errno));
        named.unwrap_or(CLASSES.len() - 1)
    }
}

/// The calls of one function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// Bytes that went through it, as it said itself.
    pub bytes: u64,
    /// How often it came to each of [`CLASSES`].
    pub results: [u64; CLASSES.len()],
    /// How often it was called where what it came to was not seen.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unseen: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Calls {
    /// How often it was called.
    pub fn count(&self) -> u64 {
        self.results.iter().sum::<u64>() + self.unseen
    }

    /// How often it came to anything but success.
    pub fn failed(&self) -> u64 {
        self.results[1..].iter().sum()
    }
}

/// The calls of a program, by function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// A row for each function that the module imports, called or not.
    pub functions: BTreeMap<String, Calls>,
    /// How long they took, where that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocked: Option<Clocked>,
}

/// Times by the engine's own clock, read in front of each call and behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocked {
    /// What so many readings of the clock in a row took, in nanoseconds, and how many.
    pub readings: (u64, u64),
    /// By function, in nanoseconds; one reading is in the time of each call.
    pub total_ns: BTreeMap<String, u64>,
}

impl Clocked {
    /// What one reading takes: so much of each call's time is not the call's.
    pub fn reading_ns(&self) -> f64 {
        let (ns, count) = self.readings;
        ns as f64 / count.max(1) as f64
    }
}

#[derive(Deserialize)]
struct Line {
    clock: Option<(u64, u64)>,
    calls: BTreeMap<String, Vec<u64>>,
}

impl Counts {
    /// Takes the line off the end of a stream: what the guest wrote, and the counts.
    /// None where there is no whole line, as after a trap.
    pub fn split(stream: &[u8]) -> Option<(&[u8], Counts)> {
        let head = LINE.as_bytes();
        let at = stream
            .windows(head.len())
            .rposition(|bytes| bytes == head)?;
        let line = &stream[at..];
        let whole = line.ends_with(TAIL.as_bytes()) && at > 0 && stream[at - 1] == b'\n';
        if !whole {
            return None;
        }
        let line: Line = serde_json::from_slice(line).ok()?;
        let mut counts = Counts {
            functions: BTreeMap::new(),
            clocked: line.clock.map(|readings| Clocked {
                readings,
                total_ns: BTreeMap::new(),
            }),
        };
        for (name, numbers) in line.calls {
            let (bytes, mut results) = numbers.split_first()?;
            if let Some(clocked) = &mut counts.clocked {
                let (total_ns, others) = results.split_last()?;
                clocked.total_ns.insert(name.clone(), *total_ns);
                results = others;
            }
            let (bytes, results) = (*bytes, results.try_into().ok()?);
            counts.functions.insert(
                name,
                Calls {
                    bytes,
                    results,
                    unseen: 0,
                },
            );
        }
        Some((&stream[..at - 1], counts))
    }

    /// All calls.
    pub fn total(&self) -> u64 {
        self.functions.values().map(Calls::count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_number_has_one_class() {
        for errno in 0..=77 {
            let of = CLASSES.iter().filter(|c| c.errnos.contains(&errno));
            assert!(of.count() <= 1, "{errno}");
        }
        assert_eq!(Class::position(0), 0);
        assert_eq!(CLASSES[Class::position(76)].name, "denied");
        assert_eq!(CLASSES[Class::position(29)].name, "other");
    }

    #[test]
    fn a_line_is_taken_off_and_the_rest_is_the_guests() {
        let line = format!("\n{HEAD}\"fd_write\":[10,2,0,0,0,0,1,0,0]{TAIL}");
        let stream = format!("hello{line}");
        let (own, counts) = Counts::split(stream.as_bytes()).unwrap();
        assert_eq!(own, b"hello");
        let calls = counts.functions["fd_write"];
        assert_eq!((calls.count(), calls.failed(), calls.bytes), (3, 1, 10));
        // What looks like a line and is not the last one is the guest's.
        let stream = format!("{line}{line}");
        let (own, _) = Counts::split(stream.as_bytes()).unwrap();
        assert_eq!(own, line.as_bytes());
    }

    #[test]
    fn times_stand_behind_the_counts() {
        let [before, behind] = TIMED;
        let line = format!("\n{before}1280,64{behind}\"fd_write\":[10,2,0,0,0,0,1,0,0,900]{TAIL}");
        let (own, counts) = Counts::split(line.as_bytes()).unwrap();
        assert_eq!(own, b"");
        assert_eq!(counts.functions["fd_write"].count(), 3);
        let clocked = counts.clocked.unwrap();
        assert_eq!(clocked.total_ns["fd_write"], 900);
        assert!((clocked.reading_ns() - 20.0).abs() < 1e-9);
        let without = line.replace(",900]", "]");
        assert_eq!(Counts::split(without.as_bytes()), None);
    }

    #[test]
    fn what_is_no_whole_line_has_no_counts() {
        let line = format!("\n{HEAD}\"f\":[0,0,0,0,0,0,0,0,0]{TAIL}");
        assert!(Counts::split(line.as_bytes()).is_some());
        for cut in 0..line.len() {
            assert_eq!(Counts::split(&line.as_bytes()[..cut]), None, "{cut}");
        }
        for bad in [
            "\"f\":[1,2]",
            "\"f\":[]",
            "\"f\":{}",
            "\"f\":[-1,0,0,0,0,0,0,0,0]",
        ] {
            let line = format!("\n{HEAD}{bad}{TAIL}");
            assert_eq!(Counts::split(line.as_bytes()), None, "{bad}");
        }
        assert_eq!(Counts::split(format!("x{}", &line[1..]).as_bytes()), None);
    }
}
