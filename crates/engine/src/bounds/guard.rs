//! `guard`: inaccessible pages behind the memory; the check is the page table.
//! For 32-bit memories.
//!
//! ```text
//!  base                       base+len                          base + 8 GiB + 64 KiB
//!   |---------- memory ----------|---------- inaccessible ----------|
//!   |<--- readable, writable --->|        (growth: mprotect)
//! ```
//!
//! Inequality: `i < 2^32`, `o < 2^32`, `n <= 16`, hence
//! `i + o + n <= (2^32 - 1) + (2^32 - 1) + 16 < 2^33 + 2^16`: every access ends
//! inside the reservation. `len` is a multiple of the host's page, so a byte
//! is accessible iff it is below `len`: the access faults iff
//! `i + o + n > len`. A store that straddles `len` faults before any byte is
//! written (Intel SDM vol. 3, §6.5: faults are precise).
//!
//! A fault in the inaccessible part is "out of bounds memory access".

use super::about::{About, Fit, Guarantee};
use super::check::{CheckBuilder, Span, Target};
use super::{Backing, INDEX_SPACE_32, Layout, MemoryPlan, REACH, Strategy};

const ABOUT: About = About {
    wide: Fit::Nowhere,
    ..About::new(
        "guard",
        "inaccessible pages around the memory, grown by mprotect (32-bit memories)",
        Guarantee::Exact,
    )
};

pub(super) struct Guard;

impl Strategy for Guard {
    fn about(&'static self) -> &'static About {
        &ABOUT
    }

    fn layout(&self, _max_bytes: u64, _memory64: bool) -> Layout {
        Layout {
            front_bytes: 0,
            reserved_bytes: INDEX_SPACE_32 + REACH,
            backing: Backing::Protect,
            shadow: None,
        }
    }

    fn emit(&self, _: &mut dyn CheckBuilder, _: &MemoryPlan, span: &Span) -> Target {
        span.target()
    }
}
