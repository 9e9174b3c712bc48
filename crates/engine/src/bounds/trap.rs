//! `trap`: compare the index with the length and branch to a trap.
//!
//! ```text
//!  base - front       base                       base+len    base+max        base + max + 4 GiB + 64 KiB
//!   |-- inaccessible --|---------- memory ----------|--- inaccessible ---|--- inaccessible ---|
//!                      |<--- readable, writable --->|
//! ```
//!
//! The check is `i >= len -> trap`: the index alone, so that accesses with the
//! same index and other offsets share one check. The reservation absorbs the
//! rest.
//!
//! Inequality: `i >= len` implies `i + o + n > len`, so no trap is raised too
//! early. Where the check passes, `i < len <= max`, and with `o < 2^32` and
//! `n <= 16`, `i + o + n < max + 2^32 + 2^16`: the access ends inside the
//! reservation, whose bytes are accessible iff below `len`. So it faults iff
//! `i + o + n > len`. Both ways to trap are "out of bounds memory access".
//!
//! The same holds for 64-bit indices: the passed check bounds `i` by `max`,
//! and an offset of `2^32` and more is added to the index first, with its
//! overflow a trap (`folded_offset`), so that again `o < 2^32`.
//!
//! The guard against speculation replaces an index that is not below `len` by
//! `len`, from where `REACH` bytes are reserved and inaccessible.
//!
//! The front, 256 MiB for 64-bit memories and nothing for others, is for accesses
//! whose check is left out ([`crate::compile::elide`]). The reservation would catch every
//! 32-bit index without any check, which is the strategy `guard`: here a check
//! is only left out for one that was done.

use super::about::{About, Guarantee};
use super::check::{Cell, CheckBuilder, Comparison, Span, Target};
use super::{
    Backing, FRONT_GUARD, Layout, MemoryPlan, REACH, Strategy, folded_offset, spectre::selected,
};

const ABOUT: About = About {
    compares_length: true,
    ..About::new(
        "trap",
        "compare with the length and branch to a trap",
        Guarantee::Exact,
    )
};

pub(super) struct Trap;

impl Strategy for Trap {
    fn about(&'static self) -> &'static About {
        &ABOUT
    }

    fn layout(&self, max_bytes: u64, _memory64: bool) -> Layout {
        Layout {
            front_bytes: 0,
            reserved_bytes: max_bytes + REACH,
            backing: Backing::Protect,
            shadow: None,
        }
    }

    fn front_guard_bytes(&self, _max_bytes: u64, memory64: bool) -> u64 {
        if memory64 { FRONT_GUARD } else { 0 }
    }

    fn emit(&self, check: &mut dyn CheckBuilder, plan: &MemoryPlan, span: &Span) -> Target {
        let span = folded_offset(check, span);
        let len = check.cell(Cell::Length);
        let outside = check.compare(Comparison::AtLeast, span.index, len);
        check.trap_if(outside);
        selected(check, plan, &span, outside, len).target()
    }
}
