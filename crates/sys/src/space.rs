//! Address space in units of 1 GiB: which of them placed reservations own.
//!
//! Where a reservation goes is random, so that a distance which a program learns in
//! one process tells it nothing of another:
//!
//! ```text
//!  |unit|unit|unit|unit|unit|unit|unit|unit|unit|    9 units fit a place
//!  |- slack -|---------- reservation ---|- slack -|   which place, of thousands; and
//!                                                    where in it, by steps of 2 MiB
//! ```
//!
//! Places are multiples of a size, so that reservations of one size leave no gaps
//! between them. What is given back is used again by reservations of the same size, last in,
//! first out, so that page tables stay warm; when no place is left, ranges that touch
//! are made one, and whatever is large enough is taken. Nothing is mapped here; the kernel
//! has the last word when the caller maps with `MAP_FIXED_NOREPLACE`.
//!
//! Chance is the kernel's (getrandom(2)), but for a process that it was told to place
//! the same way each time (`setarch --addr-no-randomize`, personality(2)).

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;
use std::sync::{LazyLock, Mutex, PoisonError};

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::region::UNIT_BYTES;

/// Bits of address space a process can have, the most first: 47 on x86-64 and
/// on riscv64 with Sv48 (aarch64 has 48, one of which the table of regions
/// leaves out), 42 and 39 on aarch64 with fewer levels of page tables, 38 on
/// riscv64 with Sv39.
const ADDRESS_BITS: [u32; 4] = [47, 42, 39, 38];

/// What reservations begin at a multiple of: a large page of every host.
pub const STEP_BYTES: usize = 2 << 20;

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

/// Where chance comes from.
enum Chance {
    /// The kernel.
    Kernel,
    /// This number: the same each time.
    Fixed(u64),
}

impl Chance {
    /// What the process was started for.
    fn of_process() -> Chance {
        /// Asks and changes nothing (personality(2)).
        const ASK: libc::c_ulong = 0xffff_ffff;
        // SAFETY: changes nothing.
        let persona = unsafe { libc::personality(ASK) };
        match persona != -1 && persona & libc::ADDR_NO_RANDOMIZE != 0 {
            true => Chance::Fixed(0),
            false => Chance::Kernel,
        }
    }

    /// A number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        let number = match self {
            Chance::Kernel => from_kernel(),
            Chance::Fixed(last) => {
                // SplitMix64 (Steele, Lea, Flood 2014).
                *last = last.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut mixed = (*last ^ *last >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                mixed ^ mixed >> 31
            }
        };
        // The high half of a product: as even as 64 bits divide.
        ((u128::from(number) * end as u128) >> 64) as usize
    }
}

/// Eight random bytes; of a kernel without any (before 3.17), those with which every
/// process begins (`AT_RANDOM`, getauxval(3)), which is what it randomises by itself.
fn from_kernel() -> u64 {
    let mut bytes = [0; 8];
    match getrandom(&mut bytes, GetRandomFlags::empty()) {
        Ok(8) => u64::from_ne_bytes(bytes),
        _ => {
            // SAFETY: sixteen bytes of the process's own, or null.
            unsafe {
                let bytes = libc::getauxval(libc::AT_RANDOM) as *const u64;
                bytes.as_ref().map_or(0, |_| bytes.read_unaligned())
            }
        }
    }
}

struct Space {
    all: Range<usize>,
    /// Free ranges by start, whole units: neither is in the other list.
    free: BTreeMap<usize, usize>,
    /// What was given back, by the size of the reservation: units and where in them.
    warm: HashMap<usize, Vec<Placed>>,
    chance: Chance,
}

impl Space {
    fn new(all: Range<usize>, chance: Chance) -> Space {
        Space {
            free: BTreeMap::from([(all.start, all.len())]),
            all,
            warm: HashMap::new(),
            chance,
        }
    }

    /// Units for `bytes`: those of a reservation that is gone, or new ones.
    fn take(&mut self, bytes: usize) -> Option<Placed> {
        if let Some(placed) = self.warm.get_mut(&bytes).and_then(Vec::pop) {
            return Some(placed);
        }
        let units = bytes.checked_next_multiple_of(UNIT_BYTES)?;
        let start = self.place(units).or_else(|| self.anywhere(units))?;
        self.split(start, units);
        let steps = (units - bytes) / STEP_BYTES;
        let slack = STEP_BYTES * self.chance.below(steps + 1);
        Some(Placed {
            units: start..start + units,
            slack,
            bytes,
        })
    }

    /// A free place, the first one from a random one on.
    fn place(&mut self, units: usize) -> Option<usize> {
        let places = self.all.len() / units;
        if places == 0 {
            return None;
        }
        let from = self.all.start + units * self.chance.below(places);
        self.first_place(from..self.all.end, units)
            .or_else(|| self.first_place(self.all.start..from, units))
    }

    /// The first free place that begins in a range.
    fn first_place(&self, within: Range<usize>, units: usize) -> Option<usize> {
        let before = self.free.range(..within.start).next_back();
        let later = self.free.range(within.clone());
        let free = before.into_iter().chain(later);
        let place = |(start, len): (&usize, &usize)| {
            let offset = (*start).max(within.start) - self.all.start;
            let place = self.all.start + offset.next_multiple_of(units);
            (place + units <= start + len && place < within.end).then_some(place)
        };
        free.filter_map(place).next()
    }

    /// Any free range that is large enough.
    fn anywhere(&self, units: usize) -> Option<usize> {
        let fits = |(_, len): &(&usize, &usize)| **len >= units;
        self.free.iter().find(fits).map(|(start, _)| *start)
    }

    /// Take units out of the free range around them.
    fn split(&mut self, start: usize, units: usize) {
        let around = self.free.range(..=start).next_back();
        let (&from, &len) = around.expect("a free range around what was found");
        self.free.remove(&from);
        if start > from {
            self.free.insert(from, start - from);
        }
        let rest = from + len - (start + units);
        if rest > 0 {
            self.free.insert(start + units, rest);
        }
    }

    /// Make free ranges of what was given back, one of those that touch.
    fn merge(&mut self) {
        let given = self.warm.drain().flat_map(|(_, placed)| placed);
        let given: Vec<Range<usize>> = given.map(|placed| placed.units).collect();
        self.free
            .extend(given.into_iter().map(|units| (units.start, units.len())));
        let mut merged: Vec<(usize, usize)> = Vec::new();
        for (start, len) in std::mem::take(&mut self.free) {
            match merged.last_mut() {
                Some((before, length)) if *before + *length == start => *length += len,
                _ => merged.push((start, len)),
            }
        }
        self.free.extend(merged);
    }
}

static SPACE: LazyLock<Mutex<Space>> =
    LazyLock::new(|| Mutex::new(Space::new(available(), Chance::of_process())));

/// Units that one reservation owns, and where in them it begins.
#[derive(Debug)]
pub struct Placed {
    units: Range<usize>,
    slack: usize,
    bytes: usize,
}

impl Placed {
    /// First address of the reservation.
    pub fn start(&self) -> usize {
        self.units.start + self.slack
    }

    /// The units are free again.
    pub fn give_back(self) {
        let mut space = SPACE.lock().unwrap_or_else(PoisonError::into_inner);
        space.warm.entry(self.bytes).or_default().push(self);
    }

    /// The units are somebody else's, for good.
    pub fn forget(self) {}
}

/// Ask the kernel what address space there is, which the first [`take`] does otherwise.
pub fn prepare() {
    LazyLock::force(&SPACE);
}

/// Take units for `bytes`.
///
/// # Errors
/// ENOMEM where none are left.
pub fn take(bytes: usize) -> io::Result<Placed> {
    let none_left = || io::Error::from_raw_os_error(libc::ENOMEM);
    let bytes = bytes.max(1);
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
    use std::collections::HashSet;

    const UNIT: usize = UNIT_BYTES;

    fn space(units: usize, seed: u64) -> Space {
        Space::new(10 * UNIT..(10 + units) * UNIT, Chance::Fixed(seed))
    }

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
    fn nobody_shares_a_unit_and_nothing_is_lost() {
        for seed in 0..20 {
            let mut space = space(900, seed);
            let mut owned = HashSet::new();
            // As many as there is room for, wherever they went.
            for _ in 0..100 {
                let placed = space.take(8 * UNIT + 65_536).unwrap();
                assert!(placed.start().is_multiple_of(STEP_BYTES));
                assert!(placed.start() + 8 * UNIT + 65_536 <= placed.units.end);
                assert!(placed.units.start >= 10 * UNIT && placed.units.end <= 910 * UNIT);
                for unit in placed.units.step_by(UNIT) {
                    assert!(owned.insert(unit), "seed {seed}: {unit:#x}");
                }
            }
            assert!(space.take(1).is_none() && owned.len() == 900);
        }
    }

    #[test]
    fn sizes_that_differ_find_their_place_as_long_as_there_is_one() {
        for seed in 0..50 {
            let mut space = space(60, seed);
            let mut all = Vec::new();
            let sizes = [9, 1, 5, 2, 9, 1, 4];
            for size in sizes.iter().cycle().take(40) {
                space.merge();
                match space.take(size * UNIT) {
                    Some(placed) => all.push(placed),
                    None => {
                        let longest = space.free.values().max().copied().unwrap_or(0);
                        assert!(longest < size * UNIT, "seed {seed}, {size} units");
                        // The oldest goes.
                        let placed = all.remove(0);
                        space.warm.entry(placed.bytes).or_default().push(placed);
                    }
                }
            }
            let owned: usize = all.iter().map(|placed| placed.units.len()).sum();
            space
                .warm
                .drain()
                .for_each(|(_, placed)| all.extend(placed));
            space.warm.insert(0, all);
            space.merge();
            assert_eq!(space.free, BTreeMap::from([(10 * UNIT, 60 * UNIT)]));
            assert!(owned <= 60 * UNIT);
        }
    }

    #[test]
    fn what_was_given_back_is_used_again_as_it_was() {
        let mut space = space(900, 3);
        let first = space.take(3 * UNIT - 5).unwrap();
        let (start, bytes) = (first.start(), first.bytes);
        space.warm.entry(bytes).or_default().push(first);
        assert_ne!(
            space.take(3 * UNIT - 6).unwrap().start(),
            start,
            "another size"
        );
        assert_eq!(space.take(bytes).unwrap().start(), start);
        assert_ne!(space.take(bytes).unwrap().start(), start);
    }

    #[test]
    fn places_are_as_different_as_chance_has_it() {
        // Of a process that is placed the same way each time, the same.
        let starts = |seed| {
            let mut space = Space::new(handed_out(47), Chance::Fixed(seed));
            [(); 3].map(|()| space.take((8 << 30) + 65_536).unwrap().start())
        };
        assert_eq!(starts(5), starts(5));
        let seeds = 2000;
        let mut seen = [const { Vec::new() }; 4];
        for seed in 0..seeds {
            let [a, b, c] = starts(seed);
            let distances = [a, b.wrapping_sub(a), c.wrapping_sub(b), a % UNIT];
            for (seen, distance) in seen.iter_mut().zip(distances) {
                seen.push(distance);
            }
        }
        for (number, seen) in seen.into_iter().enumerate() {
            let different = seen.iter().collect::<HashSet<_>>().len();
            // 14,220 places; 512 steps in one.
            let least = if number == 3 { 450 } else { 1800 };
            assert!(different > least, "{number}: {different} of {seeds}");
        }
        let mut kernel = Chance::Kernel;
        let numbers: HashSet<usize> = (0..100).map(|_| kernel.below(1 << 40)).collect();
        assert!(numbers.len() > 95 && numbers.iter().all(|number| *number < 1 << 40));
        assert_eq!(kernel.below(1), 0);
    }

    #[test]
    fn an_address_beyond_the_space_does_not_exist() {
        assert!(!exists(1 << 57));
        assert!(!available().is_empty());
    }
}
