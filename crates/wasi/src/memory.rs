//! Guest memory as the calls see it.
//!
//! [`GuestMemory`] is the whole linear memory, as one slice unless other threads
//! may access it too: then every byte is copied. Every access goes through a
//! checked range, so a wrong guest pointer is [`Errno::Fault`] and nothing else.
//! Pointers and lengths have 32 bits, sums are made in 64.
//!
//! What the host holds of a guest's memory during a call is bounded, whatever the
//! guest asks: [`PIECE_BYTES`] of what is worked through in pieces, a path that the
//! kernel would take, [`BUFFER_BYTES`] of a transfer that needs a buffer.
//!
//! [`Iovecs`] is a checked list of guest ranges which becomes a list of host
//! slices over the same bytes: the kernel reads and writes guest memory itself.
//! What must stay true: whoever hands such a list to the kernel has populated
//! the ranges before (a system call does not raise the fault that would map a
//! missing page, it fails with EFAULT).

use crate::errno::Errno;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::io::{IoSlice, IoSliceMut};
use std::ops::Range;

/// The most ranges that one system call takes (`IOV_MAX`); a longer list is
/// cut, which a caller sees as a short read or write.
const IOVECS_MAX: usize = 1024;

/// The most bytes that one call transfers: the kernel's own limit
/// (`MAX_RW_COUNT`), so that no more is made present than it will touch.
const TRANSFER_BYTES_MAX: u64 = 0x7fff_f000;

/// The most bytes that one call transfers through a buffer, which a shared memory
/// and ranges that overlap need; more is a short read or write.
pub(crate) const BUFFER_BYTES: usize = 1 << 20;

/// How much of a long range is worked on at once.
pub(crate) const PIECE_BYTES: u32 = 64 << 10;

/// The longest path, in bytes without its NUL: the kernel's own limit
/// (`PATH_MAX`).
const PATH_BYTES_MAX: u32 = 4095;

/// Lists up to this length are kept without an allocation.
const INLINE: usize = 8;

/// A guest's linear memory.
pub struct GuestMemory<'a>(Bytes<'a>);

enum Bytes<'a> {
    Own(&'a mut [u8]),
    Shared(Box<dyn SharedBytes>),
}

/// Bytes that other threads may change at any time. They never become fewer.
pub(crate) trait SharedBytes {
    /// How many there are now.
    fn len(&self) -> usize;

    /// Copies those at `start` out; false beyond the end.
    fn read(&self, start: usize, into: &mut [u8]) -> bool;

    /// Copies bytes to `start`; false beyond the end.
    fn write(&self, start: usize, from: &[u8]) -> bool;
}

impl<'a> GuestMemory<'a> {
    /// Takes the whole memory.
    pub fn new(bytes: &'a mut [u8]) -> GuestMemory<'a> {
        GuestMemory(Bytes::Own(bytes))
    }

    /// Takes a memory that other threads have, too.
    pub(crate) fn shared(bytes: Box<dyn SharedBytes>) -> GuestMemory<'static> {
        GuestMemory(Bytes::Shared(bytes))
    }

    /// The range `ptr..ptr + len`, when it is inside the memory.
    fn checked(&self, ptr: u32, len: u32) -> Result<Range<usize>, Errno> {
        checked(self.len(), ptr, len)
    }

    fn len(&self) -> usize {
        match &self.0 {
            Bytes::Own(bytes) => bytes.len(),
            Bytes::Shared(bytes) => bytes.len(),
        }
    }

    /// The path at `ptr`.
    ///
    /// # Errors
    /// `Errno::Fault`; `Errno::Nametoolong`, which the kernel would answer, but
    /// only after it was given a copy.
    pub(crate) fn path(&self, ptr: u32, len: u32) -> Result<Cow<'_, [u8]>, Errno> {
        self.check(ptr, len)?;
        match len > PATH_BYTES_MAX {
            true => Err(Errno::Nametoolong),
            false => self.slice(ptr, len),
        }
    }

    /// The bytes at `ptr`, which may be copied: the caller bounds `len`.
    pub(crate) fn slice(&self, ptr: u32, len: u32) -> Result<Cow<'_, [u8]>, Errno> {
        let range = self.checked(ptr, len)?;
        match &self.0 {
            Bytes::Own(bytes) => Ok(Cow::Borrowed(&bytes[range])),
            Bytes::Shared(bytes) => {
                let mut copy = vec![0; range.len()];
                match bytes.read(range.start, &mut copy) {
                    true => Ok(Cow::Owned(copy)),
                    false => Err(Errno::Fault),
                }
            }
        }
    }

    /// Lets `fill` write to the bytes at `ptr`, which may be copied: the caller
    /// bounds `len`. Returns what it returns, the number of bytes it wrote, from
    /// the first on.
    pub(crate) fn fill<F, T>(&mut self, ptr: u32, len: u32, fill: F) -> Result<T, Errno>
    where
        F: FnOnce(&mut [u8]) -> Result<T, Errno>,
        T: Filled,
    {
        let range = self.checked(ptr, len)?;
        match &mut self.0 {
            Bytes::Own(bytes) => fill(&mut bytes[range]),
            Bytes::Shared(bytes) => {
                let mut copy = vec![0; range.len()];
                let filled = fill(&mut copy)?;
                let new = &copy[..filled.bytes().min(copy.len())];
                match bytes.write(range.start, new) {
                    true => Ok(filled),
                    false => Err(Errno::Fault),
                }
            }
        }
    }

    /// Copies `bytes` to `ptr`.
    pub(crate) fn write(&mut self, ptr: u32, bytes: &[u8]) -> Result<(), Errno> {
        let len = u32::try_from(bytes.len()).map_err(|_| Errno::Fault)?;
        let range = self.checked(ptr, len)?;
        let written = match &mut self.0 {
            Bytes::Own(own) => {
                own[range].copy_from_slice(bytes);
                true
            }
            Bytes::Shared(shared) => shared.write(range.start, bytes),
        };
        written.then_some(()).ok_or(Errno::Fault)
    }

    /// Fails unless a record of `len` bytes can be written at `ptr`. Calls with
    /// side effects ask before they act, so a bad pointer changes nothing.
    pub(crate) fn check(&self, ptr: u32, len: u32) -> Result<(), Errno> {
        self.checked(ptr, len).map(|_| ())
    }

    /// Writes a 32-bit integer.
    pub(crate) fn write_u32(&mut self, ptr: u32, value: u32) -> Result<(), Errno> {
        self.write(ptr, &value.to_le_bytes())
    }

    /// Writes a 64-bit integer.
    pub(crate) fn write_u64(&mut self, ptr: u32, value: u64) -> Result<(), Errno> {
        self.write(ptr, &value.to_le_bytes())
    }

    /// Lets `drain` read the ranges in order, as a gathering write does.
    pub(crate) fn gather<F, T>(&self, iovecs: &Iovecs, drain: F) -> Result<T, Errno>
    where
        F: FnOnce(&[IoSlice<'_>]) -> Result<T, Errno>,
    {
        match &self.0 {
            Bytes::Own(bytes) => {
                let mut slices = Vectors::new();
                for &(ptr, len) in iovecs.ranges() {
                    slices.push(IoSlice::new(&bytes[self.checked(ptr, len)?]));
                }
                drain(&slices)
            }
            Bytes::Shared(_) => drain(&[IoSlice::new(&self.gathered(iovecs)?)]),
        }
    }

    /// A copy of the first [`BUFFER_BYTES`] bytes of the ranges.
    fn gathered(&self, iovecs: &Iovecs) -> Result<Vec<u8>, Errno> {
        let mut copy = Vec::new();
        for &(ptr, len) in iovecs.ranges() {
            let room = BUFFER_BYTES - copy.len();
            self.check(ptr, len)?;
            copy.extend_from_slice(&self.slice(ptr, len.min(room as u32))?);
        }
        Ok(copy)
    }

    /// Lets `fill` write to the ranges in order, as a scattering read does;
    /// returns what `fill` returns, the number of bytes it wrote.
    ///
    /// Ranges that overlap cannot be handed out as slices; such a list, which
    /// no sensible program makes, is filled through a buffer.
    pub(crate) fn scatter<F, T>(&mut self, iovecs: &Iovecs, fill: F) -> Result<T, Errno>
    where
        F: FnOnce(&mut [IoSliceMut<'_>]) -> Result<T, Errno>,
        T: Filled,
    {
        for &(ptr, len) in iovecs.ranges() {
            self.check(ptr, len)?;
        }
        if let Bytes::Own(bytes) = &mut self.0 {
            if let [(ptr, len)] = *iovecs.ranges() {
                let slice = &mut bytes[ptr as usize..][..len as usize];
                return fill(&mut [IoSliceMut::new(slice)]);
            }
            if let Some(mut slices) = split(bytes, iovecs.ranges()) {
                return fill(&mut slices);
            }
        }
        self.scatter_buffered(iovecs, fill)
    }

    /// The list may name the same bytes a thousand times.
    fn scatter_buffered<F, T>(&mut self, iovecs: &Iovecs, fill: F) -> Result<T, Errno>
    where
        F: FnOnce(&mut [IoSliceMut<'_>]) -> Result<T, Errno>,
        T: Filled,
    {
        let total: usize = iovecs.ranges().iter().map(|&(_, len)| len as usize).sum();
        let mut buffer = vec![0; total.min(BUFFER_BYTES)];
        let filled = fill(&mut [IoSliceMut::new(&mut buffer)])?;
        let mut rest = &buffer[..filled.bytes().min(buffer.len())];
        for &(ptr, len) in iovecs.ranges() {
            let (now, later) = rest.split_at(rest.len().min(len as usize));
            self.write(ptr, now)?;
            rest = later;
        }
        Ok(filled)
    }
}

/// What a scattering read reports.
pub(crate) trait Filled {
    /// How many bytes it wrote.
    fn bytes(&self) -> usize;
}

impl Filled for usize {
    fn bytes(&self) -> usize {
        *self
    }
}

/// The range `ptr..ptr + len`, when it is inside a memory of `bytes` bytes.
fn checked(bytes: usize, ptr: u32, len: u32) -> Result<Range<usize>, Errno> {
    let start = ptr as usize;
    // usize has 64 bits on every host this runs on, so the sum cannot wrap.
    let end = start + len as usize;
    if end <= bytes {
        Ok(start..end)
    } else {
        Err(Errno::Fault)
    }
}

/// Lends the ranges, which are inside `bytes`, as disjoint slices in their
/// order; nothing when two of them overlap.
fn split<'m>(bytes: &'m mut [u8], ranges: &[(u32, u32)]) -> Option<Vectors<IoSliceMut<'m>>> {
    let mut order: Vectors<usize> = (0..ranges.len()).collect();
    order.sort_unstable_by_key(|&i| ranges[i]);
    let mut slices: Vectors<Option<IoSliceMut<'m>>> = ranges.iter().map(|_| None).collect();
    let (mut rest, mut at) = (bytes, 0usize);
    for index in order {
        let (ptr, len) = (ranges[index].0 as usize, ranges[index].1 as usize);
        if len == 0 {
            slices[index] = Some(IoSliceMut::new(&mut []));
            continue;
        }
        let skip = ptr.checked_sub(at)?;
        let (_, tail) = rest.split_at_mut(skip);
        let (slice, tail) = tail.split_at_mut(len);
        slices[index] = Some(IoSliceMut::new(slice));
        (rest, at) = (tail, ptr + len);
    }
    slices.into_iter().collect()
}

/// Checked ranges of guest memory, in the order the guest gave them.
#[derive(Debug)]
pub struct Iovecs(SmallVec<[(u32, u32); INLINE]>);

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
    pub fn read(
        memory: &GuestMemory,
        ptr: u32,
        count: u32,
        stopped: Stopped,
    ) -> Result<Iovecs, Errno> {
        let list_bytes = u32::try_from(u64::from(count) * 8).map_err(|_| Errno::Fault)?;
        memory.check(ptr, list_bytes)?;
        let (mut out, mut room) = (SmallVec::new(), TRANSFER_BYTES_MAX);
        for (ptr, bytes) in pieces(ptr, list_bytes) {
            for entry in memory.slice(ptr, bytes)?.chunks_exact(8) {
                let buf = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
                let len = u32::from_le_bytes([entry[4], entry[5], entry[6], entry[7]]);
                memory.check(buf, len)?;
                // At most `len`, so it has 32 bits.
                let len = room.min(len.into()) as u32;
                if len == 0 {
                    continue;
                }
                out.push((buf, len));
                room -= u64::from(len);
                if out.len() == IOVECS_MAX || room == 0 {
                    return Ok(Iovecs(out));
                }
            }
            if stopped() {
                return Err(Errno::Intr);
            }
        }
        Ok(Iovecs(out))
    }

    /// One range, checked.
    ///
    /// # Errors
    /// `Errno::Fault` when it is not inside the memory.
    #[cfg(test)]
    pub fn one(memory: &GuestMemory, ptr: u32, len: u32) -> Result<Iovecs, Errno> {
        memory.check(ptr, len)?;
        Ok(Iovecs(smallvec::smallvec![(ptr, len)]))
    }

    /// The ranges, each a pointer and a length in bytes.
    #[must_use]
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }
}

/// The range in pieces of [`PIECE_BYTES`], the last one shorter. It must be inside
/// a memory.
pub(crate) fn pieces(ptr: u32, len: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..len)
        .step_by(PIECE_BYTES as usize)
        .map(move |at| (ptr + at, PIECE_BYTES.min(len - at)))
}

/// Whether the guest has been told to stop; asked by calls that work long.
pub(crate) type Stopped<'a> = &'a dyn Fn() -> bool;

/// A short list for one system call.
pub(crate) type Vectors<T> = SmallVec<[T; INLINE]>;

#[cfg(test)]
mod tests {
    use super::*;

    fn list(ranges: &[(u32, u32)], memory: &mut [u8], at: usize) {
        for (i, (ptr, len)) in ranges.iter().enumerate() {
            memory[at + i * 8..][..4].copy_from_slice(&ptr.to_le_bytes());
            memory[at + i * 8 + 4..][..4].copy_from_slice(&len.to_le_bytes());
        }
    }

    fn read(memory: &GuestMemory, ptr: u32, count: u32) -> Result<Iovecs, Errno> {
        Iovecs::read(memory, ptr, count, &|| false)
    }

    fn count(ranges: &[(u32, u32)]) -> u32 {
        u32::try_from(ranges.len()).unwrap()
    }

    fn scatter(ranges: &[(u32, u32)], data: &[u8]) -> Vec<u8> {
        let mut memory = vec![0; 4096];
        list(ranges, &mut memory, 2048);
        let mut guest = GuestMemory::new(&mut memory);
        let iovecs = read(&guest, 2048, count(ranges)).unwrap();
        let wrote = guest
            .scatter(&iovecs, |slices| {
                let mut rest = data;
                for slice in slices {
                    let (now, later) = rest.split_at(rest.len().min(slice.len()));
                    slice[..now.len()].copy_from_slice(now);
                    rest = later;
                }
                Ok(data.len() - rest.len())
            })
            .unwrap();
        assert_eq!(wrote, data.len());
        memory.truncate(64);
        memory
    }

    #[test]
    fn scatter_keeps_the_guests_order() {
        let memory = scatter(&[(10, 2), (0, 2), (5, 0), (4, 3)], b"abcdefg");
        assert_eq!(&memory[..12], b"cd\0\0efg\0\0\0ab");
    }

    #[test]
    fn scatter_over_overlapping_ranges_is_as_if_one_after_the_other() {
        let memory = scatter(&[(0, 4), (2, 4)], b"abcdefgh");
        assert_eq!(&memory[..6], b"abefgh");
    }

    #[test]
    fn ranges_past_the_end_are_faults() {
        let mut memory = vec![0; 64];
        list(&[(0, 64), (60, 5)], &mut memory, 0);
        let memory = GuestMemory::new(&mut memory);
        assert_eq!(read(&memory, 0, 1).unwrap().ranges(), [(0, 64)]);
        assert_eq!(read(&memory, 0, 2).unwrap_err(), Errno::Fault);
        assert_eq!(read(&memory, 60, 1).unwrap_err(), Errno::Fault);
        assert_eq!(read(&memory, 0, u32::MAX).unwrap_err(), Errno::Fault);
        assert_eq!(
            read(&memory, u32::MAX, u32::MAX / 8).unwrap_err(),
            Errno::Fault
        );
    }

    #[test]
    fn long_lists_keep_their_order_and_are_cut() {
        let ranges: Vec<(u32, u32)> = (1..=2000).map(|i| (i, 1)).collect();
        let mut memory = vec![0; 1 << 16];
        list(&ranges, &mut memory, 0);
        let memory = GuestMemory::new(&mut memory);
        let iovecs = read(&memory, 0, count(&ranges)).unwrap();
        assert_eq!(iovecs.ranges(), &ranges[..IOVECS_MAX]);
    }

    #[test]
    fn writes_are_checked() {
        let mut bytes = [0; 8];
        let mut memory = GuestMemory::new(&mut bytes);
        assert_eq!(memory.write_u64(0, 1), Ok(()));
        assert_eq!(memory.write_u64(1, 1), Err(Errno::Fault));
        assert_eq!(memory.write_u32(u32::MAX, 1), Err(Errno::Fault));
    }

    #[test]
    fn empty_ranges_are_passed_over_and_checked() {
        let mut ranges = vec![(7, 0); 20_000];
        ranges.push((1, 2));
        let mut memory = vec![0; 4 << 16];
        list(&ranges, &mut memory, 0);
        let guest = GuestMemory::new(&mut memory);
        let iovecs = read(&guest, 0, count(&ranges)).unwrap();
        assert_eq!(iovecs.ranges(), [(1, 2)]);
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
        assert_eq!(iovecs.ranges(), [(0, half), (1, most - half)]);
    }

    /// Bytes of a shared memory; notes the most that was copied at once.
    struct Noted(
        std::cell::RefCell<Vec<u8>>,
        std::rc::Rc<std::cell::Cell<usize>>,
    );

    impl SharedBytes for Noted {
        fn len(&self) -> usize {
            self.0.borrow().len()
        }
        fn read(&self, start: usize, into: &mut [u8]) -> bool {
            self.1.set(self.1.get().max(into.len()));
            into.copy_from_slice(&self.0.borrow()[start..][..into.len()]);
            true
        }
        fn write(&self, start: usize, from: &[u8]) -> bool {
            self.1.set(self.1.get().max(from.len()));
            self.0.borrow_mut()[start..][..from.len()].copy_from_slice(from);
            true
        }
    }

    #[test]
    fn what_is_copied_of_a_shared_memory_is_bounded() {
        let most = std::rc::Rc::<std::cell::Cell<usize>>::default();
        let bytes = vec![0; 16 << 20];
        let noted = Noted(std::cell::RefCell::new(bytes), most.clone());
        let mut guest = GuestMemory::shared(Box::new(noted));
        let iovecs = read(&guest, 0, 1 << 20).unwrap();
        assert!(iovecs.ranges().is_empty());
        assert_eq!(most.get(), PIECE_BYTES as usize);
        assert_eq!(guest.path(0, 1 << 20), Err(Errno::Nametoolong));
        let all = Iovecs::one(&guest, 0, 16 << 20).unwrap();
        let count = guest.scatter(&all, |slices| Ok(slices[0].len()));
        assert_eq!(count, Ok(BUFFER_BYTES));
        let count = guest.gather(&all, |slices| Ok(slices[0].len()));
        assert_eq!(count, Ok(BUFFER_BYTES));
        assert_eq!(most.get(), BUFFER_BYTES);
    }

    #[test]
    fn ranges_that_overlap_are_filled_through_a_bounded_buffer() {
        let mut bytes = vec![0; 8 << 20];
        list(&[(1024, 4 << 20), (1025, 4 << 20)], &mut bytes, 0);
        let mut guest = GuestMemory::new(&mut bytes);
        let iovecs = read(&guest, 0, 2).unwrap();
        let count = guest.scatter(&iovecs, |slices| Ok(slices[0].len()));
        assert_eq!(count, Ok(BUFFER_BYTES));
    }

    #[test]
    fn pieces_are_the_range() {
        assert_eq!(pieces(7, 0).count(), 0);
        let all: Vec<_> = pieces(5, 2 * PIECE_BYTES + 1).collect();
        let (piece, at) = (PIECE_BYTES, 5 + 2 * PIECE_BYTES);
        assert_eq!(all, [(5, piece), (5 + piece, piece), (at, 1)]);
        // Up to the last byte that a pointer names.
        assert_eq!(pieces(u32::MAX - 1, 2).last(), Some((u32::MAX - 1, 2)));
    }
}
