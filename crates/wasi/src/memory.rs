//! Guest memory as the calls see it.
//!
//! [`GuestMemory`] is the whole linear memory, as one slice unless other threads
//! may access it too: then every byte is copied. Every access goes through a
//! checked range, so a wrong guest pointer is [`Errno::Fault`] and nothing else.
//! Pointers and lengths have 32 bits, sums are made in 64.
//!
//! What the host holds of a guest's memory during a call is bounded, whatever the
//! guest asks: a piece of what is worked through in pieces, a path that the
//! kernel would take, [`BUFFER_BYTES`] of a transfer that needs a buffer.
//!
//! A list of present ranges (`ranges.rs`) becomes a list of host slices over the
//! same bytes: the kernel reads and writes guest memory itself.

use crate::errno::Errno;
use crate::ranges::{Checked, Iovecs, Present, Vectors};
use std::borrow::Cow;
use std::io::{IoSlice, IoSliceMut};

/// The most bytes that one call transfers through a buffer, which a shared memory
/// and ranges that overlap need; more is a short read or write.
pub(crate) const BUFFER_BYTES: usize = 1 << 20;

/// The longest path, in bytes without its NUL: the kernel's own limit
/// (`PATH_MAX`).
const PATH_BYTES_MAX: u32 = 4095;

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
    ///
    /// # Errors
    /// `Errno::Fault`.
    #[inline]
    pub(crate) fn checked(&self, ptr: u32, len: u32) -> Result<Checked, Errno> {
        Checked::new(self.len(), ptr, len)
    }

    #[inline]
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
        let range = self.checked(ptr, len)?.bytes();
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

    /// Two numbers of 32 bits at `ptr`.
    #[inline]
    pub(crate) fn pair(&self, ptr: u32) -> Result<[u32; 2], Errno> {
        let range = self.checked(ptr, 8)?.bytes();
        let mut raw = [0; 8];
        match &self.0 {
            Bytes::Own(bytes) => raw.copy_from_slice(&bytes[range]),
            Bytes::Shared(bytes) if bytes.read(range.start, &mut raw) => {}
            Bytes::Shared(_) => return Err(Errno::Fault),
        }
        let both = u64::from_le_bytes(raw);
        Ok([both as u32, (both >> 32) as u32])
    }

    /// Lets `fill` write to the bytes of the range, which may be copied: the caller
    /// bounds its length. Returns what it returns, the number of bytes it wrote, from
    /// the first on.
    pub(crate) fn fill<F, T>(&mut self, range: &Present<Checked>, fill: F) -> Result<T, Errno>
    where
        F: FnOnce(&mut [u8]) -> Result<T, Errno>,
        T: Filled,
    {
        let range = range.get().bytes();
        match &mut self.0 {
            Bytes::Own(bytes) => fill(bytes.get_mut(range).ok_or(Errno::Fault)?),
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
    #[inline]
    pub(crate) fn write(&mut self, ptr: u32, bytes: &[u8]) -> Result<(), Errno> {
        let len = u32::try_from(bytes.len()).map_err(|_| Errno::Fault)?;
        let range = self.checked(ptr, len)?.bytes();
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
    #[inline]
    pub(crate) fn check(&self, ptr: u32, len: u32) -> Result<(), Errno> {
        self.checked(ptr, len).map(|_| ())
    }

    /// Writes a 32-bit integer.
    #[inline]
    pub(crate) fn write_u32(&mut self, ptr: u32, value: u32) -> Result<(), Errno> {
        self.write(ptr, &value.to_le_bytes())
    }

    /// Writes a 64-bit integer.
    pub(crate) fn write_u64(&mut self, ptr: u32, value: u64) -> Result<(), Errno> {
        self.write(ptr, &value.to_le_bytes())
    }

    /// Lets `drain` read the ranges in order, as a gathering write does.
    #[inline]
    pub(crate) fn gather<F, T>(&self, iovecs: &Present<Iovecs>, drain: F) -> Result<T, Errno>
    where
        F: FnOnce(&[IoSlice<'_>]) -> Result<T, Errno>,
    {
        match &self.0 {
            Bytes::Own(bytes) => {
                // What nearly every program asks for: no list.
                if let [range] = iovecs.get().ranges() {
                    let slice = bytes.get(range.bytes()).ok_or(Errno::Fault)?;
                    return drain(&[IoSlice::new(slice)]);
                }
                let mut slices = Vectors::new();
                for range in iovecs.get().ranges() {
                    let slice = bytes.get(range.bytes()).ok_or(Errno::Fault)?;
                    slices.push(IoSlice::new(slice));
                }
                drain(&slices)
            }
            Bytes::Shared(_) => drain(&[IoSlice::new(&self.gathered(iovecs.get())?)]),
        }
    }

    /// A copy of the first [`BUFFER_BYTES`] bytes of the ranges.
    #[cold]
    fn gathered(&self, iovecs: &Iovecs) -> Result<Vec<u8>, Errno> {
        let mut copy = Vec::new();
        for range in iovecs.ranges() {
            let room = BUFFER_BYTES - copy.len();
            let range = range.first(room as u64);
            copy.extend_from_slice(&self.slice(range.ptr(), range.len())?);
        }
        Ok(copy)
    }

    /// Lets `fill` write to the ranges in order, as a scattering read does;
    /// returns what `fill` returns, the number of bytes it wrote.
    ///
    /// Ranges that overlap cannot be handed out as slices; such a list, which
    /// no sensible program makes, is filled through a buffer.
    #[inline]
    pub(crate) fn scatter<F, T>(&mut self, iovecs: &Present<Iovecs>, fill: F) -> Result<T, Errno>
    where
        F: FnOnce(&mut [IoSliceMut<'_>]) -> Result<T, Errno>,
        T: Filled,
    {
        let ranges = iovecs.get().ranges();
        if let Bytes::Own(bytes) = &mut self.0 {
            // What nearly every program asks for: no list, no sorting.
            if let [range] = ranges {
                let slice = bytes.get_mut(range.bytes()).ok_or(Errno::Fault)?;
                return fill(&mut [IoSliceMut::new(slice)]);
            }
            // What C libraries ask for; where they overlap, it goes on below.
            if let [first, second] = ranges
                && let Ok(both) = bytes.get_disjoint_mut([first.bytes(), second.bytes()])
            {
                return fill(&mut both.map(IoSliceMut::new));
            }
            if let Some(mut slices) = split(bytes, ranges) {
                return fill(&mut slices);
            }
        }
        self.scatter_buffered(ranges, fill)
    }

    /// The list may name the same bytes a thousand times.
    #[cold]
    fn scatter_buffered<F, T>(&mut self, ranges: &[Checked], fill: F) -> Result<T, Errno>
    where
        F: FnOnce(&mut [IoSliceMut<'_>]) -> Result<T, Errno>,
        T: Filled,
    {
        let total: usize = ranges.iter().map(|range| range.len() as usize).sum();
        let mut buffer = vec![0; total.min(BUFFER_BYTES)];
        let filled = fill(&mut [IoSliceMut::new(&mut buffer)])?;
        let mut rest = &buffer[..filled.bytes().min(buffer.len())];
        for range in ranges {
            let (now, later) = rest.split_at(rest.len().min(range.len() as usize));
            self.write(range.ptr(), now)?;
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

/// Lends the ranges, which are inside `bytes`, as disjoint slices in their
/// order; nothing when two of them overlap.
#[inline(never)]
fn split<'m>(bytes: &'m mut [u8], ranges: &[Checked]) -> Option<Vectors<IoSliceMut<'m>>> {
    let mut order: Vectors<usize> = (0..ranges.len()).collect();
    order.sort_unstable_by_key(|&i| ranges[i]);
    let mut slices: Vectors<Option<IoSliceMut<'m>>> = ranges.iter().map(|_| None).collect();
    let (mut rest, mut at) = (bytes, 0usize);
    for index in order {
        let range = ranges[index].bytes();
        if range.is_empty() {
            slices[index] = Some(IoSliceMut::new(&mut []));
            continue;
        }
        // Nothing to skip to: it begins before the end of the one before.
        let skip = range.start.checked_sub(at)?;
        let (_, tail) = rest.split_at_mut_checked(skip)?;
        let (slice, tail) = tail.split_at_mut_checked(range.len())?;
        slices[index] = Some(IoSliceMut::new(slice));
        (rest, at) = (tail, range.end);
    }
    slices.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranges::{PIECE_BYTES, Resident};
    use crate::tests::list;

    fn read(memory: &GuestMemory, ptr: u32, count: u32) -> Present<Iovecs> {
        let iovecs = Iovecs::read(memory, ptr, count, &|| false).unwrap();
        iovecs.present(&Resident).unwrap()
    }

    fn count(ranges: &[(u32, u32)]) -> u32 {
        u32::try_from(ranges.len()).unwrap()
    }

    fn scatter(ranges: &[(u32, u32)], data: &[u8]) -> Vec<u8> {
        let mut memory = vec![0; 4096];
        list(ranges, &mut memory, 2048);
        let mut guest = GuestMemory::new(&mut memory);
        let iovecs = read(&guest, 2048, count(ranges));
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
    fn writes_are_checked() {
        let mut bytes = [0; 8];
        let mut memory = GuestMemory::new(&mut bytes);
        assert_eq!(memory.write_u64(0, 1), Ok(()));
        assert_eq!(memory.write_u64(1, 1), Err(Errno::Fault));
        assert_eq!(memory.write_u32(u32::MAX, 1), Err(Errno::Fault));
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
        let iovecs = read(&guest, 0, 1 << 20);
        assert!(iovecs.get().ranges().is_empty());
        assert_eq!(most.get(), PIECE_BYTES as usize);
        assert_eq!(guest.path(0, 1 << 20), Err(Errno::Nametoolong));
        let all = Iovecs::one(&guest, 0, 16 << 20).unwrap();
        let all = all.present(&Resident).unwrap();
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
        let iovecs = read(&guest, 0, 2);
        let count = guest.scatter(&iovecs, |slices| Ok(slices[0].len()));
        assert_eq!(count, Ok(BUFFER_BYTES));
    }
}
