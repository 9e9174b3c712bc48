//! Ranges of guest memory: as a guest names them, checked, present.
//!
//! ```text
//!  pointer, length ──GuestMemory::checked──► Checked ──present──► Present<Checked>
//!  list of them    ──Iovecs::read──────────► Iovecs  ──present──► Present<Iovecs>
//!                    in their Place, from the first to the last
//! ```
//!
//! What must stay true: the kernel works on nothing but [`Present`] ranges. A system
//! call does not raise the fault that would map a missing page, it fails with EFAULT;
//! so a range is inside the memory, and its pages are there, before a call hears of it.
//! Both are types: [`GuestMemory::scatter`], [`GuestMemory::gather`] and
//! [`GuestMemory::fill`], by which the kernel gets at guest memory, take `Present`
//! only, and nobody but this file can make one. A memory never shrinks, so what was
//! checked stays inside.

use crate::errno::Errno;
use crate::memory::GuestMemory;
use smallvec::SmallVec;
use std::ops::Range;

/// The most ranges that one system call takes (`IOV_MAX`); a longer list is
/// cut, which a caller sees as a short read or write.
pub(crate) const IOVECS_MAX: usize = 1024;

/// The most bytes that one call transfers: the kernel's own limit
/// (`MAX_RW_COUNT`), so that no more is made present than it will touch.
pub(crate) const TRANSFER_BYTES_MAX: u64 = 0x7fff_f000;

/// What a range takes in a list: its pointer and its length.
const PAIR_BYTES: u32 = 8;

/// How much of a long range is worked on at once.
pub(crate) const PIECE_BYTES: u32 = 64 << 10;

/// Lists up to this length are kept without an allocation, and read without asking
/// whether to stop. C libraries have one range, or two: what is in a buffer, and what is
/// not.
pub(crate) const SHORT: u32 = 2;

/// A short list for one system call.
pub(crate) type Vectors<T> = SmallVec<[T; SHORT as usize]>;

/// Whether the guest has been told to stop; asked by calls that work long.
pub(crate) type Stopped<'a> = &'a dyn Fn() -> bool;

/// A range that is inside the guest's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Checked {
    ptr: u32,
    len: u32,
}

impl Checked {
    /// No byte.
    const EMPTY: Checked = Checked { ptr: 0, len: 0 };

    /// The range `ptr..ptr + len` of a memory of `bytes` bytes.
    ///
    /// # Errors
    /// `Errno::Fault` when it is not inside.
    #[inline]
    pub(crate) fn new(bytes: usize, ptr: u32, len: u32) -> Result<Checked, Errno> {
        // usize has 64 bits on every host this runs on, so the sum cannot wrap.
        match ptr as usize + len as usize <= bytes {
            true => Ok(Checked { ptr, len }),
            false => Err(Errno::Fault),
        }
    }

    /// Where it begins, in bytes.
    #[inline]
    pub(crate) fn ptr(self) -> u32 {
        self.ptr
    }

    /// Its length in bytes.
    #[inline]
    pub(crate) fn len(self) -> u32 {
        self.len
    }

    /// Its bytes by their position in the memory.
    #[inline]
    pub(crate) fn bytes(self) -> Range<usize> {
        self.ptr as usize..self.ptr as usize + self.len as usize
    }

    /// Its first `len` bytes, or all where it has fewer.
    #[inline]
    pub(crate) fn first(self, len: u64) -> Checked {
        let len = u32::try_from(len).map_or(self.len, |len| len.min(self.len));
        Checked { len, ..self }
    }

    /// The range in pieces of [`PIECE_BYTES`], the last one shorter.
    pub(crate) fn pieces(self) -> impl Iterator<Item = Checked> {
        let Checked { ptr, len } = self;
        (0..len)
            .step_by(PIECE_BYTES as usize)
            .map(move |at| Checked {
                // Inside a memory of 32 bits, so the sum does not wrap.
                ptr: ptr + at,
                len: PIECE_BYTES.min(len - at),
            })
    }

    /// The range with its pages there.
    ///
    /// # Errors
    /// `Errno::Fault` where they cannot be had.
    pub(crate) fn present(self, pages: &impl Pages) -> Result<Present<Checked>, Errno> {
        pages.populate(self)?;
        Ok(Present(self))
    }
}

/// Checked ranges of guest memory, in the order the guest gave them.
#[derive(Debug)]
pub(crate) struct Iovecs(List);

#[derive(Debug)]
enum List {
    /// The first so many.
    Short([Checked; SHORT as usize], usize),
    Long(Vec<Checked>),
}

impl Iovecs {
    /// Reads a list of `count` ranges, each a pointer and a length, at `ptr`, and
    /// checks that every range up to the last one taken is inside the memory.
    /// Those of length 0 are left out: a thousand of them must not hide what
    /// follows, which a reader would take for the end of the file. `stopped` is
    /// asked now and then: a list can have half a thousand million of them.
    ///
    /// # Errors
    /// `Errno::Fault` when the list or one of its ranges is not inside,
    /// `Errno::Intr` when the guest is stopped.
    pub(crate) fn read(
        memory: &GuestMemory,
        ptr: u32,
        count: u32,
        stopped: Stopped,
    ) -> Result<Iovecs, Errno> {
        let list_bytes = u32::try_from(u64::from(count) * 8).map_err(|_| Errno::Fault)?;
        let (mut out, mut room) = (Vec::new(), TRANSFER_BYTES_MAX);
        for piece in memory.checked(ptr, list_bytes)?.pieces() {
            // A shared memory is copied: in pieces, so that a list of 4 GiB is not.
            for entry in memory.slice(piece.ptr, piece.len)?.chunks_exact(8) {
                let buf = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
                let len = u32::from_le_bytes([entry[4], entry[5], entry[6], entry[7]]);
                // The whole range, though less may be used: a wrong pointer is wrong
                // however long the ranges before it are.
                let range = memory.checked(buf, len)?.first(room);
                if range.len == 0 {
                    continue;
                }
                out.push(range);
                room -= u64::from(range.len);
                if out.len() == IOVECS_MAX || room == 0 {
                    return Ok(Iovecs(List::Long(out)));
                }
            }
            if stopped() {
                return Err(Errno::Intr);
            }
        }
        Ok(Iovecs(List::Long(out)))
    }

    /// The same of a list of [`SHORT`] at most, which takes no time, in place of this one.
    ///
    /// # Errors
    /// `Errno::Fault` when the list or one of its ranges is not inside.
    #[inline(always)]
    fn read_short(&mut self, memory: &GuestMemory, ptr: u32, count: u32) -> Result<(), Errno> {
        memory.check(ptr, count * PAIR_BYTES)?;
        let range = |at: u32, room: u64| -> Result<Checked, Errno> {
            let [buf, len] = memory.pair(ptr + at * PAIR_BYTES)?;
            Ok(memory.checked(buf, len)?.first(room))
        };
        let first = match count {
            0 => Checked::EMPTY,
            _ => range(0, TRANSFER_BYTES_MAX)?,
        };
        let room = TRANSFER_BYTES_MAX - u64::from(first.len);
        let second = match count {
            SHORT if room > 0 => range(1, room)?,
            _ => Checked::EMPTY,
        };
        self.0 = match (first.len, second.len) {
            (0, 0) => List::Short([Checked::EMPTY; 2], 0),
            (0, _) => List::Short([second, Checked::EMPTY], 1),
            (_, 0) => List::Short([first, Checked::EMPTY], 1),
            (_, _) => List::Short([first, second], 2),
        };
        Ok(())
    }

    /// One range, checked.
    ///
    /// # Errors
    /// `Errno::Fault` when it is not inside the memory.
    #[cfg(test)]
    pub(crate) fn one(memory: &GuestMemory, ptr: u32, len: u32) -> Result<Iovecs, Errno> {
        let range = memory.checked(ptr, len)?;
        Ok(Iovecs(List::Short([range, Checked::EMPTY], 1)))
    }

    /// The ranges, in the order that bytes fill them or are taken from them.
    #[inline]
    pub(crate) fn ranges(&self) -> &[Checked] {
        match &self.0 {
            List::Short(ranges, count) => &ranges[..*count],
            List::Long(ranges) => ranges,
        }
    }

    /// The list with the pages of all its ranges there.
    ///
    /// # Errors
    /// `Errno::Fault` where they cannot be had.
    #[cfg(test)]
    pub(crate) fn present(self, pages: &impl Pages) -> Result<Present<Iovecs>, Errno> {
        self.populate(pages)?;
        Ok(Present(self))
    }

    #[inline(always)]
    fn populate(&self, pages: &impl Pages) -> Result<(), Errno> {
        for &range in self.ranges() {
            pages.populate(range)?;
        }
        Ok(())
    }
}

/// Where a list is read, and stays until the call is over: to move one costs more than to
/// read a short one. Nobody gets at it before it is present.
pub(crate) struct Place(Present<Iovecs>);

impl Place {
    /// With no list in it.
    #[inline]
    pub(crate) fn new() -> Place {
        Place(Present(Iovecs(List::Short([Checked::EMPTY; 2], 0))))
    }

    /// Reads a list of [`SHORT`] at most, see [`Iovecs::read`].
    ///
    /// # Errors
    /// `Errno::Fault` when the list or one of its ranges is not inside.
    #[inline(always)]
    pub(crate) fn read_short(
        &mut self,
        memory: &GuestMemory,
        ptr: u32,
        count: u32,
    ) -> Result<(), Errno> {
        self.0.0.read_short(memory, ptr, count)
    }

    /// Reads a list of any length, see [`Iovecs::read`].
    ///
    /// # Errors
    /// `Errno::Fault` when the list or one of its ranges is not inside, `Errno::Intr` when
    /// the guest is stopped.
    pub(crate) fn read(
        &mut self,
        memory: &GuestMemory,
        ptr: u32,
        count: u32,
        stopped: Stopped,
    ) -> Result<(), Errno> {
        self.0.0 = Iovecs::read(memory, ptr, count, stopped)?;
        Ok(())
    }

    /// The list with the pages of all its ranges there.
    ///
    /// # Errors
    /// `Errno::Fault` where they cannot be had.
    #[inline(always)]
    pub(crate) fn present(&self, pages: &impl Pages) -> Result<&Present<Iovecs>, Errno> {
        self.0.0.populate(pages)?;
        Ok(&self.0)
    }
}

/// A range, or a list of them, that the kernel may work on.
#[derive(Debug)]
pub(crate) struct Present<R>(R);

impl<R> Present<R> {
    /// The ranges that are present.
    #[inline]
    pub(crate) fn get(&self) -> &R {
        &self.0
    }
}

/// The pages of the guest's memory.
pub(crate) trait Pages {
    /// Maps what is missing of the range.
    ///
    /// # Errors
    /// `Errno::Fault` where that cannot be done.
    fn populate(&self, range: Checked) -> Result<(), Errno>;
}

/// Pages that are there from the beginning: a test's own bytes.
#[cfg(test)]
pub(crate) struct Resident;

#[cfg(test)]
impl Pages for Resident {
    fn populate(&self, _: Checked) -> Result<(), Errno> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::list;

    fn read(memory: &GuestMemory, ptr: u32, count: u32) -> Result<Iovecs, Errno> {
        Iovecs::read(memory, ptr, count, &|| false)
    }

    fn pairs(iovecs: &Iovecs) -> Vec<(u32, u32)> {
        iovecs.ranges().iter().map(|r| (r.ptr, r.len)).collect()
    }

    fn count(ranges: &[(u32, u32)]) -> u32 {
        u32::try_from(ranges.len()).unwrap()
    }

    #[test]
    fn ranges_past_the_end_are_faults() {
        let mut memory = vec![0; 64];
        list(&[(0, 64), (60, 5)], &mut memory, 0);
        let memory = GuestMemory::new(&mut memory);
        assert_eq!(pairs(&read(&memory, 0, 1).unwrap()), [(0, 64)]);
        for (ptr, count) in [(0, 2), (60, 1), (0, u32::MAX), (u32::MAX, u32::MAX / 8)] {
            assert_eq!(read(&memory, ptr, count).unwrap_err(), Errno::Fault);
        }
    }

    #[test]
    fn short_lists_are_read_as_others_are() {
        let ends = [0, 1, 8, 56, 63, 64, 65, u32::MAX];
        let ranges = ends.iter().flat_map(|&ptr| ends.map(|len| (ptr, len)));
        let ranges: Vec<(u32, u32)> = ranges.collect();
        for (&first, &second) in ranges
            .iter()
            .flat_map(|a| ranges.iter().map(move |b| (a, b)))
        {
            let mut memory = vec![0; 64];
            list(&[first, second], &mut memory, 40);
            let memory = GuestMemory::new(&mut memory);
            for (ptr, count) in [(40, 0), (40, 1), (40, 2), (48, 2), (56, 2), (u32::MAX, 1)] {
                let long = read(&memory, ptr, count).map(|all| pairs(&all));
                let mut place = Place::new();
                let short = place.read_short(&memory, ptr, count);
                let short = short.map(|()| pairs(&place.0.0));
                assert_eq!(short, long, "{first:?} {second:?} {ptr} {count}");
            }
        }
    }

    #[test]
    fn long_lists_keep_their_order_and_are_cut() {
        let ranges: Vec<(u32, u32)> = (1..=2000).map(|i| (i, 1)).collect();
        let mut memory = vec![0; 1 << 16];
        list(&ranges, &mut memory, 0);
        let memory = GuestMemory::new(&mut memory);
        let iovecs = read(&memory, 0, count(&ranges)).unwrap();
        assert_eq!(pairs(&iovecs), &ranges[..IOVECS_MAX]);
    }

    #[test]
    fn empty_ranges_are_passed_over_and_checked() {
        let mut ranges = vec![(7, 0); 20_000];
        ranges.push((1, 2));
        let mut memory = vec![0; 4 << 16];
        list(&ranges, &mut memory, 0);
        let guest = GuestMemory::new(&mut memory);
        let iovecs = read(&guest, 0, count(&ranges)).unwrap();
        assert_eq!(pairs(&iovecs), [(1, 2)]);
        let stopped = Iovecs::read(&guest, 0, count(&ranges), &|| true);
        assert_eq!(stopped.unwrap_err(), Errno::Intr);
        ranges[10_000] = (u32::MAX, 0);
        list(&ranges, &mut memory, 0);
        let guest = GuestMemory::new(&mut memory);
        let outside = read(&guest, 0, count(&ranges));
        assert_eq!(outside.unwrap_err(), Errno::Fault);
    }

    #[test]
    fn a_list_has_no_more_bytes_than_the_kernel_transfers() {
        let most = u32::try_from(TRANSFER_BYTES_MAX).unwrap();
        let half = 1 << 30;
        let mut memory = vec![0; 1 << 31];
        list(&[(0, half), (1, half), (2, 5)], &mut memory, 64);
        let guest = GuestMemory::new(&mut memory);
        let iovecs = read(&guest, 64, 3).unwrap();
        assert_eq!(pairs(&iovecs), [(0, half), (1, most - half)]);
    }

    /// Notes what it is asked for; has nothing from an address on.
    struct Noted(std::cell::RefCell<Vec<Checked>>, u32);

    impl Pages for Noted {
        fn populate(&self, range: Checked) -> Result<(), Errno> {
            self.0.borrow_mut().push(range);
            match range.ptr < self.1 {
                true => Ok(()),
                false => Err(Errno::Fault),
            }
        }
    }

    #[test]
    fn a_list_is_present_when_every_range_of_it_is() {
        let mut memory = vec![0; 4096];
        list(&[(64, 8), (3000, 9), (128, 1)], &mut memory, 0);
        let guest = GuestMemory::new(&mut memory);
        let all = Noted(Default::default(), 4096);
        let present = read(&guest, 0, 3).unwrap().present(&all).unwrap();
        assert_eq!(*all.0.borrow(), present.get().ranges());
        assert_eq!(present.get().ranges().len(), 3);
        let some = Noted(Default::default(), 3000);
        let missing = read(&guest, 0, 3).unwrap().present(&some);
        assert_eq!(missing.unwrap_err(), Errno::Fault);
        let range = guest.checked(4000, 96).unwrap();
        assert_eq!(range.present(&some).unwrap_err(), Errno::Fault);
    }

    #[test]
    fn pieces_are_the_range() {
        let pieces = |ptr, len| Checked { ptr, len }.pieces().map(|p| (p.ptr, p.len));
        assert_eq!(pieces(7, 0).count(), 0);
        let all: Vec<_> = pieces(5, 2 * PIECE_BYTES + 1).collect();
        let (piece, at) = (PIECE_BYTES, 5 + 2 * PIECE_BYTES);
        assert_eq!(all, [(5, piece), (5 + piece, piece), (at, 1)]);
        // Up to the last byte that a pointer names.
        assert_eq!(pieces(u32::MAX - 1, 2).last(), Some((u32::MAX - 1, 2)));
    }
}
