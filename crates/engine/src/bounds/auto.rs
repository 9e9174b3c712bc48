//! `auto`: no strategy, but which of them is taken where none is named.
//!
//! `guard` emits no instruction at all, so nothing exact is cheaper; for 64 bits
//! `guard64` emits least: a move of 32 bits and a comparison. Behind the cheapest come
//! those that do with less where the host refuses address space: see `run/in_force.rs`.
//! `guard64` takes 10 GiB at least, `trap` half of that.

use super::{Bounds, MAX_PAGES_32, MAX_PAGES_64};

/// Pages of 1 GiB.
const PAGES_GIB: u64 = 1 << 14;

/// What is tried in order: a strategy, and the most pages a memory can grow to.
pub(crate) fn candidates(memory64: bool) -> &'static [(Bounds, u64)] {
    match memory64 {
        false => &[
            (Bounds::Guard, MAX_PAGES_32),
            (Bounds::Trap, MAX_PAGES_32 / 2),
            (Bounds::Trap, PAGES_GIB),
            (Bounds::Trap, PAGES_GIB / 8),
            (Bounds::Debug, PAGES_GIB),
            (Bounds::Debug, PAGES_GIB / 8),
        ],
        true => &[
            (Bounds::GUARD64, MAX_PAGES_64),
            (Bounds::GUARD64, 16 * PAGES_GIB),
            (Bounds::GUARD64, 4 * PAGES_GIB),
            (Bounds::GUARD64, PAGES_GIB),
            (Bounds::Trap, PAGES_GIB),
            (Bounds::Trap, PAGES_GIB / 8),
            (Bounds::Debug, PAGES_GIB),
            (Bounds::Debug, PAGES_GIB / 8),
        ],
    }
}

/// The one for memories of an index type where nothing is in its way.
pub(super) fn cheapest(memory64: bool) -> Bounds {
    candidates(memory64)[0].0
}
