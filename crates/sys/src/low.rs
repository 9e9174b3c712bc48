//! The lowest addresses that are free: what a shadow memory whose addresses
//! wrap out of user space is placed at.
//!
//! Units of [`UNIT_BYTES`] are handed out, the lowest gap first, below
//! [`END`]. Whatever else is mapped there (a program that is linked to a fixed
//! address, its heap) is found when the kernel says EEXIST, and left alone.

use std::collections::BTreeMap;
use std::io;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Bytes of a unit.
pub const UNIT_BYTES: usize = 1 << 16;
/// One past the highest address that is handed out: 64 GiB.
pub const END: usize = 1 << 36;

/// What is known to be taken: from a first address to one past the last.
static TAKEN: LazyLock<Mutex<BTreeMap<usize, Taken>>> = LazyLock::new(Mutex::default);

#[derive(Clone, Copy)]
struct Taken {
    end: usize,
    /// Handed out here; the others were found by asking the kernel.
    is_ours: bool,
}

/// Addresses that are the owner's.
#[derive(Debug)]
pub(crate) struct Low {
    start: usize,
}

impl Low {
    pub(crate) fn start(&self) -> usize {
        self.start
    }
}

impl Drop for Low {
    fn drop(&mut self) {
        lock().remove(&self.start);
    }
}

fn lock() -> std::sync::MutexGuard<'static, BTreeMap<usize, Taken>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes that a reservation of `bytes` takes: whole units.
pub(crate) fn rounded(bytes: usize) -> Option<usize> {
    bytes.max(1).checked_next_multiple_of(UNIT_BYTES)
}

/// The first address that the kernel lets a process map, from
/// `vm.mmap_min_addr`.
fn first() -> usize {
    let limit = crate::caps::lowest_address().ok();
    // Not 0 even where that is allowed: null stays inaccessible.
    let limit = limit.map_or(UNIT_BYTES, |limit| limit as usize);
    limit.max(UNIT_BYTES).next_multiple_of(UNIT_BYTES)
}

/// Take `bytes`, a multiple of the unit, and `map` them: a function that
/// answers EEXIST where something is there already.
///
/// # Errors
/// ENOMEM where no gap is large enough, or what `map` says.
pub(crate) fn take(bytes: usize, mut map: impl FnMut(usize) -> io::Result<()>) -> io::Result<Low> {
    let mut taken = lock();
    let mut has_asked = false;
    loop {
        let start = gap(&taken, bytes).ok_or_else(none_left)?;
        match map(start) {
            Ok(()) => {
                let end = start + bytes;
                taken.insert(start, Taken { end, is_ours: true });
                return Ok(Low { start });
            }
            Err(error) if error.raw_os_error() == Some(libc::EEXIST) => {
                if has_asked {
                    // It came meanwhile, or the kernel does not list it.
                    let end = start + UNIT_BYTES;
                    taken.insert(
                        start,
                        Taken {
                            end,
                            is_ours: false,
                        },
                    );
                } else {
                    note_foreign(&mut taken);
                    has_asked = true;
                }
            }
            Err(error) => return Err(error),
        }
    }
}

fn none_left() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOMEM)
}

/// The lowest gap of `bytes`.
fn gap(taken: &BTreeMap<usize, Taken>, bytes: usize) -> Option<usize> {
    let mut start = first();
    for (from, taken) in taken {
        if start + bytes <= *from {
            break;
        }
        start = start.max(taken.end.next_multiple_of(UNIT_BYTES));
    }
    (start.checked_add(bytes)? <= END).then_some(start)
}

/// Take down what the kernel says is mapped, in place of what it said before.
fn note_foreign(taken: &mut BTreeMap<usize, Taken>) {
    taken.retain(|_, taken| taken.is_ours);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for line in maps.lines() {
        let range = line
            .split_whitespace()
            .next()
            .and_then(|w| w.split_once('-'));
        let Some((start, end)) = range else { continue };
        let parse = |text| usize::from_str_radix(text, 16).ok();
        let (Some(start), Some(end)) = (parse(start), parse(end)) else {
            continue;
        };
        if start >= END {
            break;
        }
        let start = start - start % UNIT_BYTES;
        let is_ours = false;
        taken.entry(start).or_insert(Taken { end, is_ours });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_gap_is_taken_and_used_again() {
        let mut taken = BTreeMap::new();
        let first = first();
        let is_ours = true;
        assert_eq!(gap(&taken, UNIT_BYTES), Some(first));
        let end = first + UNIT_BYTES;
        taken.insert(first, Taken { end, is_ours });
        let second = first + 3 * UNIT_BYTES;
        let end = second + 1;
        taken.insert(second, Taken { end, is_ours });
        assert_eq!(gap(&taken, 2 * UNIT_BYTES), Some(first + UNIT_BYTES));
        assert_eq!(gap(&taken, 3 * UNIT_BYTES), Some(second + UNIT_BYTES));
        assert_eq!(gap(&taken, END), None);
    }

    #[test]
    fn what_is_there_already_is_gone_round() {
        let foreign = first();
        let mut tried = Vec::new();
        let low = take(UNIT_BYTES, |start| {
            tried.push(start);
            match start < foreign + 2 * UNIT_BYTES {
                true => Err(io::Error::from_raw_os_error(libc::EEXIST)),
                false => Ok(()),
            }
        })
        .unwrap();
        assert!(low.start() >= foreign + 2 * UNIT_BYTES, "{tried:x?}");
    }
}
