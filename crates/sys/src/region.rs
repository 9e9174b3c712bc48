//! What the fault handler knows of an address: a table over the whole user
//! address space, one cell for each GiB, read without a lock.
//!
//! ```text
//!  address >> 30 ──► TABLE[0 .. 131,072] ──► Region { start, end, kind }
//!  address >> 16 ──► LOW[0 .. 1,048,576]   the same for the low addresses
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

use crate::low;

/// Bytes a cell of the table stands for.
pub const UNIT_BYTES: usize = 1 << 30;
/// Cells: 2^47 bytes of user address space.
pub const UNITS: usize = 1 << 17;

static TABLE: [AtomicPtr<Region>; UNITS] = [const { AtomicPtr::new(null_mut()) }; UNITS];

static LOW: [AtomicPtr<Region>; low::END / low::UNIT_BYTES] =
    [const { AtomicPtr::new(null_mut()) }; low::END / low::UNIT_BYTES];

/// One past the highest address of a low region there ever was; 0 without.
static LOW_TOP: AtomicUsize = AtomicUsize::new(0);

/// A reserved range that holds a memory, its shadow or both, as the fault
/// handler sees it.
#[derive(Debug)]
pub struct Region {
    addresses: Range<usize>,
    kind: Kind,
}

/// What the fault handler does for a region.
#[derive(Debug)]
pub enum Kind {
    /// Nothing but knowing it.
    Plain,
    /// It supplies pages.
    OnDemand(OnDemand),
    /// It lets probes of shadow memory through.
    Shadow(Shadow),
}

/// Shadow memory part of which stays inaccessible although the bytes that it
/// stands for are in bounds.
#[derive(Debug)]
pub struct Shadow {
    /// One past its last address: that of the memory's first bytes.
    pub end: usize,
    /// A byte of it stands for `2^shift` bytes.
    pub shift: u32,
    /// The memory's current length in bytes.
    pub len: *const AtomicUsize,
}

impl Shadow {
    /// Whether a byte at `address` stands for bytes that are in bounds.
    fn is_in_bounds(&self, address: usize) -> bool {
        // SAFETY: whoever registered the region keeps the length alive as long.
        let len = unsafe { (*self.len).load(Ordering::Acquire) };
        let back = self.end.checked_sub(address + 1);
        back.is_some_and(|back| ((back as u128) << self.shift) < len as u128)
    }
}

/// Where pages are supplied on demand.
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

    /// Pages supplied on demand, where the region has them: the part of the
    /// memory that may be supplied now.
    pub(crate) fn suppliable(&self) -> Option<Range<usize>> {
        let Kind::OnDemand(on_demand) = &self.kind else {
            return None;
        };
        // SAFETY: whoever registered the region keeps the length alive as long.
        let len = unsafe { (*on_demand.len).load(Ordering::Acquire) };
        Some(on_demand.start..on_demand.start + len)
    }

    /// Whether a probe of shadow memory at `address` is to go on.
    pub fn lets_through(&self, address: usize) -> bool {
        match &self.kind {
            Kind::Shadow(shadow) => shadow.is_in_bounds(address),
            Kind::Plain | Kind::OnDemand(_) => false,
        }
    }
}

/// Enter a range into the table.
///
/// # Safety
/// `addresses` belong to one placed or low reservation that outlives the
/// registration, and so does what the kind's `len` points to.
pub unsafe fn register(addresses: Range<usize>, kind: Kind) -> Registration {
    let cells = cells(&addresses);
    if addresses.start < low::END {
        LOW_TOP.fetch_max(addresses.end, Ordering::Release);
    }
    let region = Box::into_raw(Box::new(Region { addresses, kind }));
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
    let cell = match address < low::END {
        true => LOW.get(address / low::UNIT_BYTES)?,
        false => TABLE.get(address / UNIT_BYTES)?,
    };
    let region = cell.load(Ordering::Acquire);
    // SAFETY: regions in the table are alive (see the module's head).
    let region = unsafe { region.as_ref()? };
    region.contains(address).then_some(region)
}

/// Hand over the addresses of every region whose pages are supplied on demand, until
/// one fails. Async-signal-safe.
pub(crate) fn for_each_on_demand(
    mut visit: impl FnMut(Range<usize>) -> io::Result<()>,
) -> io::Result<()> {
    let mut last = null_mut();
    for cell in &TABLE {
        let region = cell.load(Ordering::Acquire);
        if region == last {
            continue;
        }
        last = region;
        // SAFETY: regions in the table are alive (see the module's head); nobody
        // removes one, for there is one thread.
        match unsafe { region.as_ref() } {
            Some(region) if matches!(region.kind, Kind::OnDemand(_)) => {
                visit(region.addresses.clone())?;
            }
            _ => {}
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
    let (table, unit): (&'static [_], _) = match addresses.start < low::END {
        true => (&LOW, low::UNIT_BYTES),
        false => (&TABLE, UNIT_BYTES),
    };
    &table[addresses.start / unit..addresses.end.div_ceil(unit)]
}

/// Whether `address` may be where the byte of an index beyond every memory is
/// looked for: there are low regions, and it is below one, or beyond user space
/// because it wrapped. Async-signal-safe.
pub fn is_beyond_low(address: usize) -> bool {
    let top = LOW_TOP.load(Ordering::Acquire);
    top != 0 && (address < top || address > usize::MAX / 2)
}
