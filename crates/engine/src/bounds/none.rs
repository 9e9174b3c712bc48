//! `none`: no check. The baseline that the others are compared with.
//!
//! ```text
//!  base                       base+len                          base + 8 GiB + 64 KiB
//!   |---------- memory ----------|---- mapped, belongs to nobody ----|
//!   |<------------------- readable and writable --------------------->|
//! ```
//!
//! Inequality: none for the length. `i < 2^32`, `o < 2^32`, `n <= 16` give
//! `i + o + n < 2^33 + 16`, so an access stays inside the reservation and
//! other memories are safe from it; it reads zeros or earlier stray stores
//! where it should trap. Growth would expose those stray stores, which is one
//! reason more why the strategy is refused unless it is asked for by name.
//!
//! An index of a 64-bit memory is added to the base as it is, `i + o` wrapping:
//! nothing keeps it inside anything. What the reservation is there for is that
//! a program without defects runs. A Wasm page in front of the memory, readable
//! and writable, is met by small negative sums.
//!
//! Accesses to 32-bit memories never fault, so they are marked as not trapping,
//! as native code's are; those to 64-bit ones may, anywhere.

use super::about::{About, Guarantee};
use super::check::{CheckBuilder, Span, Target};
use super::{Backing, INDEX_SPACE_32, Layout, MemoryPlan, REACH, Strategy, WASM_PAGE_BYTES};

const ABOUT: About = About {
    strays_64: true,
    ..About::new(
        "none",
        "no checks; all 4 GiB mapped: a baseline, not a sandbox",
        Guarantee::Unchecked,
    )
};

pub(super) struct None;

impl Strategy for None {
    fn about(&'static self) -> &'static About {
        &ABOUT
    }

    fn layout(&self, max_bytes: u64, memory64: bool) -> Layout {
        Layout {
            front_bytes: if memory64 { WASM_PAGE_BYTES } else { 0 },
            reserved_bytes: max_bytes.max(INDEX_SPACE_32) + REACH,
            backing: Backing::Whole,
            shadow: Option::None,
        }
    }

    fn emit(&self, _: &mut dyn CheckBuilder, _: &MemoryPlan, span: &Span) -> Target {
        Target {
            may_fault: span.memory64,
            ..span.target()
        }
    }
}
