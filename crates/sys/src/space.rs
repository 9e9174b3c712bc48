//! Address space in units of 1 GiB: which of them placed reservations own.
//!
//! Units are handed out upwards and used again last in, first
//! out by reservations of the same number of units, so that page tables stay
//! warm; when none are left, ranges that touch are made one, and larger ones
//! divided. Nothing is mapped here; the kernel has the last word when the caller
//! maps with `MAP_FIXED_NOREPLACE`.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::{LazyLock, Mutex, PoisonError};

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::region::UNIT_BYTES;

/// Bits of address space a process can have, the most first: 47 on x86-64 and
/// on riscv64 with Sv48 (aarch64 has 48, one of which the table of regions
/// leaves out), 42 and 39 on aarch64 with fewer levels of page tables, 38 on
/// riscv64 with Sv39.
const ADDRESS_BITS: [u32; 4] = [47, 42, 39, 38];

/// The addresses that are handed out: above programs and heaps as far as there
/// is room, below the area where the kernel puts its own choices (which grow
/// down from the top).
fn handed_out(bits: u32) -> Range<usize> {
    let top = 1 << bits;
    let first = (top / 4).min(1 << 40);
    first..top - top / 128
}

/// What this kernel and processor have, found by asking for the highest unit.
fn available() -> Range<usize> {
    ADDRESS_BITS
        .map(handed_out)
        .into_iter()
        .find(|range| exists(range.end - UNIT_BYTES))
        .unwrap_or(0..0)
}

/// Whether `address` is in the process's address space: it can be mapped, or
/// something is mapped there.
fn exists(address: usize) -> bool {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
    // SAFETY: FIXED_NOREPLACE never replaces an existing mapping; what is
    // mapped is unmapped before anybody learns of it.
    unsafe {
        match mmap_anonymous(address as *mut _, 1, ProtFlags::empty(), flags) {
            Ok(start) => munmap(start, 1).is_ok() && start as usize == address,
            Err(error) => error == Errno::EXIST,
        }
    }
}

struct Space {
    next: usize,
    end: usize,
    free: HashMap<usize, Vec<usize>>,
}

impl Space {
    /// Units of the same number that are free, fresh ones, or part of more.
    fn take(&mut self, bytes: usize) -> Option<Placed> {
        if let Some(start) = self.free.get_mut(&bytes).and_then(Vec::pop) {
            return Some(Placed { start, bytes });
        }
        let start = self.next;
        match start.checked_add(bytes) {
            Some(end) if end <= self.end => {
                self.next = end;
                Some(Placed { start, bytes })
            }
            _ => self.part_of_larger(bytes),
        }
    }

    /// Make one of free ranges that touch: they were given back one by one.
    fn merge(&mut self) {
        let ranges = self.free.drain();
        let ranges =
            ranges.flat_map(|(size, starts)| starts.into_iter().map(move |start| (start, size)));
        let mut ranges: Vec<(usize, usize)> = ranges.collect();
        ranges.sort_unstable();
        let mut merged: Vec<(usize, usize)> = Vec::new();
        for (start, size) in ranges {
            match merged.last_mut() {
                Some((before, length)) if *before + *length == start => *length += size,
                _ => merged.push((start, size)),
            }
        }
        if let Some((start, size)) = merged.last().copied()
            && start + size == self.next
        {
            self.next = start;
            merged.pop();
        }
        for (start, size) in merged {
            self.free.entry(size).or_default().push(start);
        }
    }

    /// The first units of the smallest free range that is larger; what is left
    /// of it stays free.
    fn part_of_larger(&mut self, bytes: usize) -> Option<Placed> {
        let sizes = self.free.iter().filter(|(_, starts)| !starts.is_empty());
        let size = *sizes
            .map(|(size, _)| size)
            .filter(|size| **size > bytes)
            .min()?;
        let start = self.free.get_mut(&size)?.pop()?;
        let rest = self.free.entry(size - bytes).or_default();
        rest.push(start + bytes);
        Some(Placed { start, bytes })
    }
}

static SPACE: LazyLock<Mutex<Space>> = LazyLock::new(|| {
    let available = available();
    Mutex::new(Space {
        next: available.start,
        end: available.end,
        free: HashMap::new(),
    })
});

/// Units that one reservation owns.
#[derive(Debug)]
pub struct Placed {
    start: usize,
    bytes: usize,
}

impl Placed {
    /// First address.
    pub fn start(&self) -> usize {
        self.start
    }

    /// The units are free again.
    pub fn give_back(self) {
        let mut space = SPACE.lock().unwrap_or_else(PoisonError::into_inner);
        space.free.entry(self.bytes).or_default().push(self.start);
    }

    /// The units are somebody else's, for good.
    pub fn forget(self) {}
}

/// Take units for `bytes`.
///
/// # Errors
/// ENOMEM where none are left.
pub fn take(bytes: usize) -> io::Result<Placed> {
    let none_left = || io::Error::from_raw_os_error(libc::ENOMEM);
    let bytes = bytes
        .max(1)
        .checked_next_multiple_of(UNIT_BYTES)
        .ok_or_else(none_left)?;
    let mut space = SPACE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(placed) = space.take(bytes) {
        return Ok(placed);
    }
    space.merge();
    space.take(bytes).ok_or_else(none_left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::UNITS;

    #[test]
    fn every_size_of_address_space_leaves_room_for_memories() {
        for bits in ADDRESS_BITS {
            let range = handed_out(bits);
            assert!(range.end <= UNITS * UNIT_BYTES);
            assert!(range.start.is_multiple_of(UNIT_BYTES));
            // Twenty memories of 4 GiB with as much of guard.
            assert!(range.len() > 20 * (8 << 30));
        }
    }

    #[test]
    fn a_larger_range_is_divided_when_there_is_no_other() {
        let free = HashMap::from([(3 * UNIT_BYTES, vec![7 * UNIT_BYTES])]);
        let (next, end) = (0, 0);
        let mut space = Space { next, end, free };
        let mut start = || space.part_of_larger(UNIT_BYTES).map(|placed| placed.start);
        assert_eq!(start(), Some(7 * UNIT_BYTES));
        assert_eq!(start(), Some(8 * UNIT_BYTES));
        // The last is of its size.
        assert_eq!(start(), None);
        assert_eq!(space.free[&UNIT_BYTES], [9 * UNIT_BYTES]);
    }

    #[test]
    fn ranges_that_touch_are_made_one() {
        let unit = UNIT_BYTES;
        let free = HashMap::from([
            (unit, vec![4 * unit, 9 * unit]),
            (2 * unit, vec![2 * unit, 7 * unit]),
        ]);
        let (next, end) = (10 * unit, 10 * unit);
        let mut space = Space { next, end, free };
        assert!(space.take(3 * unit).is_none());
        space.merge();
        assert_eq!(space.next, 7 * unit);
        let mut start = |units: usize| space.take(units * unit).map(|placed| placed.start);
        assert_eq!(start(3), Some(2 * unit));
        assert_eq!(start(3), Some(7 * unit));
        assert_eq!(start(1), None);
    }

    #[test]
    fn an_address_beyond_the_space_does_not_exist() {
        assert!(!exists(1 << 57));
        assert!(!available().is_empty());
    }
}
