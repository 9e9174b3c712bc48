//! `guard64`: the high bits of the index are tested, the rest is the page
//! table's. For 64-bit memories.
//!
//! ```text
//!  base - 256 MiB - S     base              base+len        base + R        base + R + 4 GiB + 64 KiB + S
//!   |---- inaccessible ----|---- memory -------|--- inaccessible ---|--- inaccessible ---|
//!                          |<- readable, ... ->|    (growth: mprotect)
//! ```
//!
//! `R` is a power of two, at least the memory's maximum, and at least 4 GiB. The check is
//! `i & !(R - 1) != 0 -> trap`: a test with a mask that stays in a register.
//! The form `guard64:shift` finds the same bits by `i >> log2(R)`.
//!
//! Where `R` is 4 GiB the check may be `i > low -> trap`, with `low` the lower half of `i`: a
//! move of 32 bits and a comparison of registers. There is no mask, and where the access is
//! guarded against speculation `low` is what is accessed: the guard is in it. An access that is
//! not guarded goes to `i`, and a test with a mask is then one instruction less, unless the mask
//! is loaded again for each, as code made in one pass does.
//!
//! A greater `R` is the memory's: a module that imports one may declare another maximum,
//! or none, so it loads mask or shift from the memory's definition. The mask is
//! loaded where the memory is the module's own, too, once for a function or in
//! front of a loop: as a constant it would be an operand in memory of each test,
//! which made whole kernels slower by half.
//!
//! Inequality: where the test finds a high bit, `i >= R >= len`, hence
//! `i + o + n > len`: no trap is raised too early. Where it finds none,
//! `i < R`, and with `o < 2^32` and `n <= 16`, `i + o + n < R + 2^32 + 2^16`
//! without wrapping: the access ends inside the reservation, whose bytes are
//! accessible iff below `len`. So it faults iff `i + o + n > len`. An offset
//! of `2^32` and more is added to the index first, and the sum's overflow is
//! a trap of its own (`folded_offset`); then `i` is the sum and `o` is 0.
//!
//! The guard against speculation is `i & (R - 1)`, which the reservation holds by
//! the same inequality; for 4 GiB `low`, which is the same number.
//!
//! The pages in front are for accesses whose check is left out ([`crate::compile::elide`]):
//! an index that is below 0 by at most `256 MiB + S`, with `o = 0`, faults there. `S`, on
//! both sides, is 16 GiB, or a quarter of a maximum below 4 GiB: an element of 8 bytes
//! whose number is an `int` is at most 16 GiB from an array's first, so that it needs no
//! check where the array itself was accessed. Address space is all that it takes.

use super::about::{About, Fit, Guarantee};
use super::check::{Cell, CheckBuilder, Comparison, Span, Target};
use super::{
    Backing, FRONT_GUARD, HighBits, INDEX_SPACE_32, Layout, MemoryPlan, REACH, Strategy,
    WASM_PAGE_BYTES, folded_offset, spectre::masked,
};

const MASK: About = About {
    narrow: Fit::Nowhere,
    ..About::new(
        "guard64",
        "the index's high bits tested, guard pages for the rest (64-bit memories)",
        Guarantee::Exact,
    )
};

const SHIFT: About = About {
    name: "guard64:shift",
    help: "as guard64, the high bits found by a shift (64-bit memories)",
    ..MASK
};

pub(super) struct Guard64(pub HighBits);

impl Strategy for Guard64 {
    fn about(&'static self) -> &'static About {
        match self.0 {
            HighBits::Mask => &MASK,
            HighBits::Shift => &SHIFT,
        }
    }

    fn layout(&self, max_bytes: u64, _memory64: bool) -> Layout {
        Layout {
            front_bytes: 0,
            reserved_bytes: index_space(max_bytes) + REACH + span(max_bytes),
            backing: Backing::Protect,
            shadow: None,
        }
    }

    fn front_guard_bytes(&self, max_bytes: u64, _memory64: bool) -> u64 {
        FRONT_GUARD + span(max_bytes)
    }

    fn emit(&self, check: &mut dyn CheckBuilder, plan: &MemoryPlan, span: &Span) -> Target {
        let span = folded_offset(check, span);
        within_index_space(check, plan, self.0, &span).target()
    }
}

/// What the number of an element can move an index by: as many times 8 bytes as an `i32`
/// has numbers on one side of 0.
const SPAN: u64 = 8 << 31;

/// `S`, whole pages.
fn span(max_bytes: u64) -> u64 {
    match max_bytes.next_power_of_two() {
        INDEX_SPACE_32.. => SPAN,
        // Where little may be reserved, it is for the memory.
        few => few / 4 / WASM_PAGE_BYTES * WASM_PAGE_BYTES,
    }
}

/// `R`: indices below it are in the reservation.
pub(super) fn index_space(max_bytes: u64) -> u64 {
    max_bytes.next_power_of_two().max(INDEX_SPACE_32)
}

/// Whether the check is a comparison with the index's lower half.
fn compares_half(check: &dyn CheckBuilder, plan: &MemoryPlan, span: &Span) -> bool {
    plan.has_half_indices() && (plan.needs_guard(span) || !check.keeps_cells())
}

/// Trap unless the index is below `R`; what is accessed then, whatever a processor does
/// ahead of the trap.
pub(super) fn within_index_space(
    check: &mut dyn CheckBuilder,
    plan: &MemoryPlan,
    form: HighBits,
    span: &Span,
) -> Span {
    let index = span.index;
    let outside = match form {
        HighBits::Mask if compares_half(check, plan, span) => {
            let low = check.low_half(index);
            let outside = check.compare(Comparison::Above, index, low);
            check.trap_if(outside);
            return match plan.needs_guard(span) {
                true => Span {
                    index: low,
                    ..*span
                },
                false => *span,
            };
        }
        HighBits::Mask => {
            let mask = check.cell(Cell::HighBits);
            let outside = check.and(index, mask);
            check.forget(mask);
            outside
        }
        HighBits::Shift => {
            let by = match plan.imported {
                true => check.cell(Cell::IndexBits),
                false => check.constant(u64::from(plan.index_bits())),
            };
            check.shift_right(index, by)
        }
    };
    check.trap_if(outside);
    check.forget(outside);
    masked(check, plan, span)
}
