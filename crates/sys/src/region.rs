//! Where pages are supplied on demand, as the fault handler finds it: a table over
//! the whole user address space, one cell for each GiB, read without a lock.
//!
//! ```text
//!  address >> 30 ──► TABLE[0 .. 131,072] ──► Region { addresses, memory, len }
//! ```
//!
//! What must stay true: a unit belongs to one region at most (placed
//! reservations see to it), and a region is entered before and removed after
//! the last access to its addresses. So whoever faults on an address finds
//! its region alive.

use std::io;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Bytes a cell of the table stands for.
pub const UNIT_BYTES: usize = 1 << 30;
/// Cells: 2^47 bytes of user address space.
pub const UNITS: usize = 1 << 17;

static TABLE: [AtomicPtr<Region>; UNITS] = [const { AtomicPtr::new(null_mut()) }; UNITS];

/// A reserved range with a memory, of whose pages those in bounds are supplied.
#[derive(Debug)]
pub struct Region {
    addresses: Range<usize>,
    memory: OnDemand,
}

/// What of it may be supplied.
#[derive(Debug)]
pub struct OnDemand {
    /// Address of the first byte of the memory.
    pub start: usize,
    /// The memory's current length in bytes.
    pub len: *const AtomicUsize,
}

/// Keeps a region in the table; removes it when dropped.
#[derive(Debug)]
pub struct Registration(*mut Region);

// SAFETY: the region behind it is immutable but for the atomic length.
unsafe impl Send for Registration {}
// SAFETY: as above.
unsafe impl Sync for Registration {}

impl Region {
    /// Whether `address` is inside.
    pub fn contains(&self, address: usize) -> bool {
        self.addresses.contains(&address)
    }

    /// The part of the memory that may be supplied now.
    pub(crate) fn suppliable(&self) -> Range<usize> {
        let OnDemand { start, len } = self.memory;
        // SAFETY: whoever registered the region keeps the length alive as long.
        start..start + unsafe { (*len).load(Ordering::Acquire) }
    }
}

/// Enter a range into the table.
///
/// # Safety
/// `addresses` belong to one placed reservation that outlives the registration, and
/// so does what `len` points to.
pub unsafe fn register(addresses: Range<usize>, memory: OnDemand) -> Registration {
    let cells = cells(&addresses);
    let region = Box::into_raw(Box::new(Region { addresses, memory }));
    for cell in cells {
        let before = cell.swap(region, Ordering::Release);
        debug_assert!(before.is_null(), "a unit belongs to one region");
    }
    Registration(region)
}

/// The region that `address` belongs to. Async-signal-safe.
///
/// The reference is good while the region is registered, hence as long as
/// somebody may fault on it.
pub fn find(address: usize) -> Option<&'static Region> {
    let region = TABLE.get(address / UNIT_BYTES)?.load(Ordering::Acquire);
    // SAFETY: regions in the table are alive (see the module's head).
    let region = unsafe { region.as_ref()? };
    region.contains(address).then_some(region)
}

/// Hand over the addresses of every region, until one fails. Async-signal-safe.
pub(crate) fn for_each(mut visit: impl FnMut(Range<usize>) -> io::Result<()>) -> io::Result<()> {
    let mut last = null_mut();
    for cell in &TABLE {
        let region = cell.load(Ordering::Acquire);
        // A region of several units has as many cells, one after the other.
        if region == last {
            continue;
        }
        last = region;
        // SAFETY: regions in the table are alive (see the module's head), and in a
        // child that has just begun nobody removes one.
        if let Some(region) = unsafe { region.as_ref() } {
            visit(region.addresses.clone())?;
        }
    }
    Ok(())
}

impl Drop for Registration {
    fn drop(&mut self) {
        // SAFETY: made by `register`, freed here only.
        let region = unsafe { Box::from_raw(self.0) };
        for cell in cells(&region.addresses) {
            cell.store(null_mut(), Ordering::Release);
        }
    }
}

fn cells(addresses: &Range<usize>) -> &'static [AtomicPtr<Region>] {
    &TABLE[addresses.start / UNIT_BYTES..addresses.end.div_ceil(UNIT_BYTES)]
}
