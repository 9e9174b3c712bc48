//! Address space in units of 1 GiB: which of them placed reservations own.
//!
//! Units are handed out upwards from [`FIRST`] and used again last in, first
//! out by reservations of the same number of units, so that page tables stay
//! warm. Nothing is mapped here; the kernel has the last word when the caller
//! maps with `MAP_FIXED_NOREPLACE`.

use std::collections::HashMap;
use std::io;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::region::{UNIT_BYTES, UNITS};

/// Lowest address handed out: above programs and heaps, below the area where
/// the kernel puts its own choices (which grow down from 2^47).
const FIRST: usize = 1 << 40;
/// End of what is handed out: 127 TiB.
const END: usize = UNITS * UNIT_BYTES - (1 << 40);

struct Space {
    next: usize,
    free: HashMap<usize, Vec<usize>>,
}

static SPACE: LazyLock<Mutex<Space>> = LazyLock::new(|| {
    Mutex::new(Space {
        next: FIRST,
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
    if let Some(start) = space.free.get_mut(&bytes).and_then(Vec::pop) {
        return Ok(Placed { start, bytes });
    }
    let start = space.next;
    match start.checked_add(bytes) {
        Some(end) if end <= END => {
            space.next = end;
            Ok(Placed { start, bytes })
        }
        _ => Err(none_left()),
    }
}
