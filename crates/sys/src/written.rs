//! Which pages of a private mapping may differ from what they were mapped as,
//! asked of the kernel (pagemap: Documentation/admin-guide/mm/pagemap.rst).
//!
//! Both ways to ask are about pages that are there, in memory or swapped out,
//! and belong to the process alone: a page that was only read is the one page of
//! zeros or still the file's. The kernel does not say when a page was written:
//! one that was, once, is among them until its contents are dropped.
//!
//! The file answers for the address space of the process that opened it: a forked
//! child opens its own.

use std::fs::File;
use std::io;
use std::ops::{ControlFlow, Range};
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::forked::{Own, Use};
use crate::map::page_bytes;

/// `PAGEMAP_SCAN`, Linux 6.7.
const SCAN: u64 = 0xc060_6610;
const IS_FILE: u64 = 1 << 2;
const IS_PRESENT: u64 = 1 << 3;
const IS_SWAPPED: u64 = 1 << 4;
const IS_ZERO: u64 = 1 << 5;

/// Bytes of pages that are looked up one by one, at most.
const READ_BYTES_MAX: usize = 1 << 30;

/// Ranges that one call of the kernel names.
const RANGES: usize = 32;

/// `struct pm_scan_arg`
#[repr(C)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// `struct page_region`
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct PageRegion {
    start: u64,
    end: u64,
    categories: u64,
}

static OWN: Own = Own::new(Use::Pagemap);
/// This process's file, never closed.
static PAGEMAP: AtomicI32 = AtomicI32::new(-1);

fn pagemap() -> io::Result<BorrowedFd<'static>> {
    OWN.ensure(|| {
        let file = File::open("/proc/self/pagemap")?;
        PAGEMAP.store(file.into_raw_fd(), Ordering::Release);
        Ok(())
    })?;
    // SAFETY: opened above, and never closed.
    Ok(unsafe { BorrowedFd::borrow_raw(PAGEMAP.load(Ordering::Acquire)) })
}

/// Set once the kernel has refused [`SCAN`].
static LACKS_SCAN: AtomicBool = AtomicBool::new(false);

/// Hand over the addresses of all pages in `addresses`, which begin and end with
/// a page, that may have been written; until `visit` breaks.
///
/// # Errors
/// Where the kernel has no `/proc/self/pagemap` or does not let it be read; before Linux 6.7
/// where they are more than 1 GiB. Some pages may have been handed over before.
pub fn for_each_written(
    addresses: Range<usize>,
    mut visit: impl FnMut(Range<usize>) -> ControlFlow<()>,
) -> io::Result<()> {
    let pagemap = pagemap()?;
    if !LACKS_SCAN.load(Ordering::Relaxed) {
        match scan(pagemap, addresses.clone(), &mut visit) {
            Err(error) if error.raw_os_error() == Some(libc::ENOTTY) => {
                LACKS_SCAN.store(true, Ordering::Relaxed);
            }
            done => return done,
        }
    }
    if addresses.len() > READ_BYTES_MAX {
        return Err(io::ErrorKind::Unsupported.into());
    }
    read(pagemap, addresses, &mut visit)
}

fn scan(
    pagemap: BorrowedFd<'_>,
    addresses: Range<usize>,
    visit: &mut impl FnMut(Range<usize>) -> ControlFlow<()>,
) -> io::Result<()> {
    let mut found = [PageRegion::default(); RANGES];
    let mut start = addresses.start;
    while start < addresses.end {
        let mut scan = Scan {
            size: size_of::<Scan>() as u64,
            flags: 0,
            start: start as u64,
            end: addresses.end as u64,
            walk_end: 0,
            vec: found.as_mut_ptr() as u64,
            vec_len: RANGES as u64,
            max_pages: 0,
            // Neither the file's nor zeros, and there or swapped out.
            category_inverted: IS_FILE | IS_ZERO,
            category_mask: IS_FILE | IS_ZERO,
            category_anyof_mask: IS_PRESENT | IS_SWAPPED,
            return_mask: IS_PRESENT,
        };
        // SAFETY: the argument is the struct this request takes, and its vector
        // has room for as many regions as it says.
        let count = unsafe { libc::ioctl(pagemap.as_raw_fd(), SCAN as _, &raw mut scan) };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        for region in found.iter().take(count) {
            let range = region.start as usize..region.end as usize;
            if visit(range).is_break() {
                return Ok(());
            }
        }
        let reached = scan.walk_end as usize;
        // The kernel got nowhere, and would not the next time.
        if reached <= start {
            return Err(io::ErrorKind::InvalidData.into());
        }
        start = reached;
    }
    Ok(())
}

/// What a word of the file says of its page.
const WORD_PRESENT: u64 = 1 << 63;
const WORD_SWAPPED: u64 = 1 << 62;
const WORD_FILE: u64 = 1 << 61;
/// Words that are read at once.
const WORDS: usize = 128;

fn read(
    pagemap: BorrowedFd<'_>,
    addresses: Range<usize>,
    visit: &mut impl FnMut(Range<usize>) -> ControlFlow<()>,
) -> io::Result<()> {
    let page = page_bytes();
    let mut start = addresses.start;
    while start < addresses.end {
        let mut words = [[0; size_of::<u64>()]; WORDS];
        let words = &mut words[..((addresses.end - start).div_ceil(page)).min(WORDS)];
        let at = start / page * size_of::<u64>();
        let into = words.as_flattened_mut();
        if rustix::io::pread(pagemap, &mut *into, at as u64)? != into.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for word in words {
            let word = u64::from_ne_bytes(*word);
            let is_there = word & (WORD_PRESENT | WORD_SWAPPED) != 0;
            let is_own = word & WORD_FILE == 0;
            if is_there && is_own && visit(start..start + page).is_break() {
                return Ok(());
            }
            start += page;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frozen::Frozen;
    use crate::map::{Access, PageBytes, Reservation};

    /// Hands ranges to who asks.
    type Way<'a> = dyn Fn(&mut dyn FnMut(Range<usize>)) -> io::Result<()> + 'a;

    /// Pages by their number that either way finds.
    fn found(reservation: &Reservation) -> [Vec<usize>; 2] {
        let pagemap = pagemap().expect("/proc/self/pagemap");
        let addresses = reservation.addresses();
        let pages = |way: &Way<'_>| {
            let mut pages = Vec::new();
            let done = way(&mut |range| {
                let first = range.start - addresses.start;
                pages.extend((first..range.end - addresses.start).step_by(page_bytes()));
            });
            done.map(|()| pages.iter().map(|at| at / page_bytes()).collect())
        };
        let read = pages(&|visit| {
            read(pagemap, addresses.clone(), &mut |range| {
                visit(range);
                ControlFlow::Continue(())
            })
        });
        let scan = pages(&|visit| {
            scan(pagemap, addresses.clone(), &mut |range| {
                visit(range);
                ControlFlow::Continue(())
            })
        });
        let read: Vec<usize> = read.unwrap();
        match scan {
            Ok(scan) => [read, scan],
            Err(error) => {
                eprintln!("SKIPPED: PAGEMAP_SCAN: {error}");
                [read.clone(), read]
            }
        }
    }

    #[test]
    fn pages_that_were_written_are_found_and_no_page_of_a_file() {
        let page = page_bytes();
        let pages = 300;
        let bytes = PageBytes::round_up(pages * page).unwrap();
        let reservation = Reservation::new(bytes, Access::ReadWrite).unwrap();
        let frozen = Frozen::new(&vec![1; 4 * page]).unwrap();
        reservation.lay(100 * page, &frozen).unwrap();
        let at = |number: usize| {
            // SAFETY: inside, readable and writable.
            unsafe { reservation.start().as_ptr().add(number * page) }
        };
        for number in [3, 102, 103, 299] {
            // SAFETY: as above.
            unsafe { at(number).write(5) };
        }
        // Every other, so that there are more ranges than fit one call.
        for number in (150..298).step_by(2) {
            // SAFETY: as above.
            unsafe { at(number).write(0) };
        }
        for number in [100, 101] {
            // SAFETY: as above.
            assert_eq!(unsafe { at(number).read_volatile() }, 1);
        }
        let mut expected = vec![3, 102, 103];
        expected.extend((150..298).step_by(2));
        expected.push(299);
        assert_eq!(found(&reservation), [expected.clone(), expected]);
    }

    #[test]
    fn whoever_has_seen_enough_is_left_alone() {
        let page = page_bytes();
        let bytes = PageBytes::round_up(8 * page).unwrap();
        let reservation = Reservation::new(bytes, Access::ReadWrite).unwrap();
        for number in [1, 3, 5] {
            // SAFETY: inside, readable and writable.
            unsafe { reservation.start().as_ptr().add(number * page).write(1) };
        }
        let mut seen = 0;
        let enough = |_| {
            seen += 1;
            ControlFlow::Break(())
        };
        for_each_written(reservation.addresses(), enough).unwrap();
        assert_eq!(seen, 1);
    }
}
