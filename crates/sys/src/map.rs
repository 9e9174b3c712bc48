//! Reservations: ranges of address space with one owner.

use std::io;
use std::ops::Range;
use std::ptr::NonNull;

use rustix::mm::{
    Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap, mmap_anonymous, mprotect, munmap,
};

use crate::appended::Appended;
use crate::frozen::Frozen;
use crate::pkeys::{self, Key};
use crate::{low, space};

/// A count of bytes that is a multiple of the host's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageBytes(usize);

impl PageBytes {
    /// `bytes` rounded up to whole pages; `None` where that overflows.
    pub fn round_up(bytes: usize) -> Option<PageBytes> {
        bytes.checked_next_multiple_of(page_bytes()).map(PageBytes)
    }

    /// The count in bytes.
    pub fn get(self) -> usize {
        self.0
    }
}

/// Bytes of the host's page.
pub fn page_bytes() -> usize {
    rustix::param::page_size()
}

/// Which access a fresh reservation allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// None: every byte faults.
    None,
    /// Reads and writes.
    ReadWrite,
}

impl Access {
    fn prot(self) -> ProtFlags {
        match self {
            Access::None => ProtFlags::empty(),
            Access::ReadWrite => ProtFlags::READ | ProtFlags::WRITE,
        }
    }
}

/// A mapped range of private, zeroed memory, unmapped when dropped.
///
/// No swap is set aside for it, so reservations far larger than the machine's
/// memory are had where the kernel's overcommit policy allows.
#[derive(Debug)]
pub struct Reservation {
    start: NonNull<u8>,
    bytes: PageBytes,
    placed: Option<space::Placed>,
    // Given back after it is unmapped.
    low: Option<low::Low>,
    /// The protection key of its pages, unless it is that of all others.
    key: Option<Key>,
}

// SAFETY: a reservation is a range of address space, not tied to a thread; it
// hands out raw pointers only.
unsafe impl Send for Reservation {}
// SAFETY: as above; the methods that change the mapping are system calls,
// which the kernel serialises.
unsafe impl Sync for Reservation {}

impl Reservation {
    /// Reserve `bytes` anywhere.
    ///
    /// # Errors
    /// What `mmap(2)` says: ENOMEM where the address space, the overcommit
    /// policy or `vm.max_map_count` does not allow it.
    pub fn new(bytes: PageBytes, access: Access) -> io::Result<Reservation> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // The kernel refuses to map nothing, and an empty memory must have an address.
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice.
        let start =
            unsafe { mmap_anonymous(std::ptr::null_mut(), bytes.0.max(1), access.prot(), flags)? };
        Ok(Reservation {
            start: non_null(start.cast())?,
            bytes,
            placed: None,
            low: None,
            key: None,
        })
    }

    /// Reserve `bytes`, rounded up to whole units of [`low::UNIT_BYTES`], at the
    /// lowest addresses that are free.
    ///
    /// # Errors
    /// As [`Reservation::new`]; ENOMEM where there is no gap below
    /// [`low::END`].
    pub fn low(bytes: PageBytes, access: Access) -> io::Result<Reservation> {
        let bytes = low::rounded(bytes.0).and_then(PageBytes::round_up);
        let bytes = bytes.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        let low = low::take(bytes.0, |start| {
            let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
            // SAFETY: FIXED_NOREPLACE never replaces an existing mapping.
            unsafe { mmap_anonymous(start as *mut _, bytes.0, access.prot(), flags)? };
            Ok(())
        })?;
        Ok(Reservation {
            start: non_null(low.start() as *mut u8)?,
            bytes,
            placed: None,
            low: Some(low),
            key: None,
        })
    }

    /// Find out where [`Reservation::placed`] can place, which its first call does
    /// otherwise.
    pub fn prepare_places() {
        space::prepare();
    }

    /// Reserve `bytes` so that no other placed reservation shares a unit of
    /// [`crate::region::UNIT_BYTES`] with it: what [`crate::region`] needs.
    ///
    /// # Errors
    /// As [`Reservation::new`]; ENOMEM where all units are taken.
    pub fn placed(bytes: PageBytes, access: Access) -> io::Result<Reservation> {
        loop {
            let placed = space::take(bytes.0)?;
            let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
            // SAFETY: FIXED_NOREPLACE never replaces an existing mapping.
            let mapped =
                unsafe { mmap_anonymous(placed.start() as *mut _, bytes.0, access.prot(), flags) };
            match mapped {
                Ok(start) if start as usize == placed.start() => {
                    let start = non_null(start.cast())?;
                    return Ok(Reservation {
                        start,
                        bytes,
                        placed: Some(placed),
                        low: None,
                        key: None,
                    });
                }
                // A kernel before 4.17 takes the address as a hint.
                Ok(start) => {
                    // SAFETY: just mapped, not handed out.
                    unsafe { munmap(start, bytes.0)? };
                    return Err(io::Error::other(
                        "the kernel lacks MAP_FIXED_NOREPLACE (4.17)",
                    ));
                }
                // Somebody else's mapping is there: leave these units alone.
                Err(rustix::io::Errno::EXIST) => placed.forget(),
                Err(error) => {
                    placed.give_back();
                    return Err(error.into());
                }
            }
        }
    }

    /// Give its pages, all of which still have `access`, a protection key. They
    /// keep it whatever they are opened or closed for.
    ///
    /// # Errors
    /// ENOSYS where there are no keys, or what `pkey_mprotect(2)` says.
    pub fn keyed(mut self, access: Access, key: Key) -> io::Result<Reservation> {
        self.set_key(0..self.bytes.0, access, key)?;
        self.key = Some(key);
        Ok(self)
    }

    fn set_key(&self, range: Range<usize>, access: Access, key: Key) -> io::Result<()> {
        let keys = pkeys::keys().map_err(|_| io::Error::from_raw_os_error(libc::ENOSYS))?;
        let (start, bytes) = self.span(range)?;
        let (prot, number) = (access.prot().bits(), keys.number(key));
        // SAFETY: the pages are this reservation's.
        let set = unsafe { libc::syscall(libc::SYS_pkey_mprotect, start, bytes, prot, number) };
        match set {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// First byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Length.
    pub fn bytes(&self) -> PageBytes {
        self.bytes
    }

    /// The addresses it covers.
    pub fn addresses(&self) -> Range<usize> {
        let start = self.start.as_ptr() as usize;
        start..start + self.bytes.0
    }

    /// Make `range` (offsets, rounded out to pages) readable and writable.
    ///
    /// # Errors
    /// What `mprotect(2)` says; EINVAL for a range that is not inside.
    pub fn open(&self, range: Range<usize>) -> io::Result<()> {
        self.protect(range, MprotectFlags::READ | MprotectFlags::WRITE)
    }

    /// Make `range` readable and not writable.
    ///
    /// # Errors
    /// As [`Reservation::open`].
    pub fn open_read_only(&self, range: Range<usize>) -> io::Result<()> {
        self.protect(range, MprotectFlags::READ)
    }

    /// Make `range` readable and executable and no longer writable.
    ///
    /// # Errors
    /// As [`Reservation::open`].
    pub fn make_executable(&self, range: Range<usize>) -> io::Result<()> {
        self.protect(range, MprotectFlags::READ | MprotectFlags::EXEC)
    }

    /// Make `range` inaccessible; its contents stay.
    ///
    /// # Errors
    /// As [`Reservation::open`].
    pub fn lock(&self, range: Range<usize>) -> io::Result<()> {
        self.protect(range, MprotectFlags::empty())
    }

    /// Drop the contents of `range` and make it inaccessible again.
    ///
    /// # Errors
    /// As [`Reservation::open`].
    pub fn close(&self, range: Range<usize>) -> io::Result<()> {
        let (start, bytes) = self.span(range.clone())?;
        // Mapped anew, in place of madvise and mprotect: it takes away what was laid
        // there too, and in one step.
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
        // SAFETY: replaces pages of this reservation only; the owner says that
        // nobody uses them any more.
        unsafe { mmap_anonymous(start.cast(), bytes, ProtFlags::empty(), flags)? };
        match self.key {
            // What was mapped just now has the key of all other pages.
            Some(key) => self.set_key(range, Access::None, key),
            None => Ok(()),
        }
    }

    /// Drop the contents of `range`, which is zero again; what was laid there is
    /// as it was laid.
    ///
    /// # Errors
    /// As [`Reservation::open`].
    pub fn empty(&self, range: Range<usize>) -> io::Result<()> {
        let (start, bytes) = self.span(range)?;
        // SAFETY: pages of this reservation; the owner says that nobody uses
        // their contents any more.
        unsafe { madvise(start.cast(), bytes, Advice::LinuxDontNeed)? };
        Ok(())
    }

    /// Have the pages of `range` in memory, as if each had been written to. They are
    /// readable and writable.
    ///
    /// # Errors
    /// What `madvise(2)` says: EINVAL before Linux 5.14.
    pub fn populate(&self, range: Range<usize>) -> io::Result<()> {
        let (start, bytes) = self.span(range)?;
        // SAFETY: pages of this reservation; their contents stay.
        unsafe { madvise(start.cast(), bytes, Advice::LinuxPopulateWrite)? };
        Ok(())
    }

    /// Have huge pages under `range`, where the host has them.
    ///
    /// # Errors
    /// What `madvise(2)` says: EINVAL where the kernel was built without.
    pub fn prefer_huge(&self, range: Range<usize>) -> io::Result<()> {
        let (start, bytes) = self.span(range)?;
        // SAFETY: pages of this reservation; their contents stay.
        unsafe { madvise(start.cast(), bytes, Advice::LinuxHugepage)? };
        Ok(())
    }

    /// Put frozen bytes, whole pages, at an offset: readable, and writable without
    /// anybody else seeing it. They are read from the file's pages until then.
    ///
    /// # Errors
    /// As [`Reservation::open`]; ENOSYS for pages with a key, which would lose it.
    pub fn lay(&self, at: usize, frozen: &Frozen) -> io::Result<()> {
        if self.key.is_some() {
            return Err(io::Error::from_raw_os_error(libc::ENOSYS));
        }
        let (start, bytes) = self.span(at..at + frozen.bytes().len())?;
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
        // SAFETY: replaces pages of this reservation only; the owner says that
        // nobody uses their contents any more.
        unsafe { mmap(start.cast(), bytes, prot, flags, frozen.file(), 0)? };
        Ok(())
    }

    /// Put code that grows, whole pages, at an offset: readable and executable.
    ///
    /// # Errors
    /// As [`Reservation::lay`]; EACCES where the host allows no such mapping.
    pub fn lay_code(&self, at: usize, code: &Appended) -> io::Result<()> {
        if self.key.is_some() {
            return Err(io::Error::from_raw_os_error(libc::ENOSYS));
        }
        let (start, bytes) = self.span(at..at + code.bytes())?;
        let prot = ProtFlags::READ | ProtFlags::EXEC;
        let flags = MapFlags::SHARED | MapFlags::NORESERVE | MapFlags::FIXED;
        // SAFETY: as for `lay`; nobody can write to these pages.
        unsafe { mmap(start.cast(), bytes, prot, flags, code.file(), 0)? };
        Ok(())
    }

    fn protect(&self, range: Range<usize>, flags: MprotectFlags) -> io::Result<()> {
        let (start, bytes) = self.span(range)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the pages are this reservation's.
        unsafe { mprotect(start.cast(), bytes, flags)? };
        Ok(())
    }

    fn span(&self, range: Range<usize>) -> io::Result<(*mut u8, usize)> {
        let page = page_bytes();
        let start = range.start - range.start % page;
        let end = range.end.checked_next_multiple_of(page);
        match end {
            Some(end) if start <= end && end <= self.bytes.0 => {
                // SAFETY: `start` is inside the reservation.
                Ok((unsafe { self.start.as_ptr().add(start) }, end - start))
            }
            _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: the owner is gone, so nobody uses the range any more.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.bytes.0.max(1)) };
        if let Some(placed) = self.placed.take() {
            match unmapped {
                Ok(()) => placed.give_back(),
                // Still mapped (ENOMEM: too many mappings): never used again.
                Err(_) => placed.forget(),
            }
        }
        if unmapped.is_err() {
            // As above.
            std::mem::forget(self.low.take());
        }
    }
}

/// A read-only private mapping of a whole file.
///
/// # Errors
/// What `mmap(2)` says.
pub fn map_file(file: &std::fs::File, bytes: usize) -> io::Result<MappedFile> {
    // SAFETY: a fresh mapping; private, and only ever read.
    let start = unsafe {
        mmap(
            std::ptr::null_mut(),
            bytes.max(1),
            ProtFlags::READ,
            MapFlags::PRIVATE,
            file,
            0,
        )?
    };
    Ok(MappedFile {
        start: non_null(start.cast())?,
        bytes,
    })
}

/// What [`map_file`] returns; unmapped when dropped.
#[derive(Debug)]
pub struct MappedFile {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: immutable bytes.
unsafe impl Send for MappedFile {}
// SAFETY: immutable bytes.
unsafe impl Sync for MappedFile {}

impl MappedFile {
    /// Its first byte. A truncated file faults (SIGBUS) when read beyond its
    /// end: only map files that are replaced by rename and never shortened.
    pub fn start(&self) -> *const u8 {
        self.start.as_ptr()
    }

    /// The length of the mapping in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: the owner is gone. A failure leaves it mapped, harmlessly.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes.max(1)) };
    }
}

fn non_null(start: *mut u8) -> io::Result<NonNull<u8>> {
    NonNull::new(start).ok_or_else(|| io::Error::other("mapped at address zero"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(n: usize) -> PageBytes {
        PageBytes::round_up(n).unwrap()
    }

    #[test]
    fn opened_pages_hold_data_and_closed_ones_are_zero_again() {
        let r = Reservation::new(bytes(1 << 20), Access::None).unwrap();
        r.open(0..8192).unwrap();
        // SAFETY: just opened.
        unsafe {
            r.start().as_ptr().add(8191).write(7);
            assert_eq!(r.start().as_ptr().add(8191).read(), 7);
        }
        r.close(0..8192).unwrap();
        r.open(0..8192).unwrap();
        // SAFETY: just opened.
        assert_eq!(unsafe { r.start().as_ptr().add(8191).read() }, 0);
    }

    #[test]
    fn ranges_beyond_are_refused() {
        let r = Reservation::new(bytes(1), Access::None).unwrap();
        assert!(r.open(0..page_bytes() + 1).is_err());
    }

    #[test]
    fn placed_reservations_do_not_share_a_unit() {
        let a = Reservation::placed(bytes(1), Access::None).unwrap();
        let b = Reservation::placed(bytes(1), Access::None).unwrap();
        let unit = crate::region::UNIT_BYTES;
        assert_ne!(a.addresses().start / unit, b.addresses().start / unit);
        let start = a.addresses().start;
        drop(a);
        let c = Reservation::placed(bytes(1), Access::None).unwrap();
        assert_eq!(c.addresses().start, start, "freed units are used again");
    }
}
