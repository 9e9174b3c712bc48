//! `clamp`: an address out of bounds becomes the memory's end.
//!
//! ```text
//!  base-64 KiB    base                    base+len              base+max
//!   |-- landing ---|---------- memory -------|---- inaccessible ----|
//!   |<-------- readable, writable ---------->|
//! ```
//!
//! The address is `base + min(i + o, len - n)`, compared as signed numbers.
//!
//! Inequality: `i + o < 2^33` does not wrap and is not negative. Where it is
//! at most `len - n`, the access is in bounds and unchanged. Else it goes to
//! `len - n`, which ends at `len`: for `len > 0`, `len >= 65,536 > n`, so it
//! is the memory's last `n` bytes; for `len = 0` it is `-n >= -16`, which is
//! in the landing page, readable and writable and nobody's. So an access is
//! always at `[base - 16, base + len - n]`: it never leaves the reservation,
//! never touches an inaccessible byte and never faults, hence is marked so.
//!
//! A 64-bit memory's `i + o` may wrap or look negative: it is replaced by the
//! greatest signed number where it does, which is beyond every length.
//!
//! There is no branch to predict wrong: with guards against speculation the
//! selections are such that no instruction set makes branches of them.
//!
//! Bulk operations are runtime functions and trap exactly.

use super::about::{About, Guarantee};
use super::check::{Cell, CheckBuilder, Comparison, Operand, Selection, Span, Target};
use super::spectre::select;
use super::{Backing, Layout, MemoryPlan, Strategy, WASM_PAGE_BYTES};

const ABOUT: About = About {
    compares_length: true,
    ..About::new(
        "clamp",
        "out-of-bounds addresses are redirected to the memory's end",
        Guarantee::Contained,
    )
};

pub(super) struct Clamp;

impl Strategy for Clamp {
    fn about(&'static self) -> &'static About {
        &ABOUT
    }

    fn layout(&self, max_bytes: u64, _memory64: bool) -> Layout {
        Layout {
            front_bytes: WASM_PAGE_BYTES,
            reserved_bytes: max_bytes,
            backing: Backing::Protect,
            shadow: None,
        }
    }

    fn emit(&self, check: &mut dyn CheckBuilder, plan: &MemoryPlan, span: &Span) -> Target {
        let (start, last, outside) = compared(check, plan, span);
        Target {
            index: select(check, plan, outside, last, start),
            offset: 0,
            may_fault: false,
        }
    }
}

/// Where an access starts, the last place where it may, and whether it is beyond.
pub(super) fn compared(
    check: &mut dyn CheckBuilder,
    plan: &MemoryPlan,
    span: &Span,
) -> (Operand, Operand, Operand) {
    let start = match span.memory64 {
        true => saturating_start(check, plan, span),
        false => {
            let offset = check.constant(span.offset);
            check.add(span.index, offset)
        }
    };
    let len = check.cell(Cell::Length);
    let back = check.constant((-i64::from(span.width)).cast_unsigned());
    let last = check.add(len, back);
    let outside = check.compare(Comparison::AboveSigned, start, last);
    (start, last, outside)
}

/// `i + o` of a 64-bit memory, at most the greatest signed number.
fn saturating_start(check: &mut dyn CheckBuilder, plan: &MemoryPlan, span: &Span) -> Operand {
    let least = |check: &mut dyn CheckBuilder, number, most| match plan.spectre {
        true => {
            let above = check.compare(Comparison::Above, number, most);
            check.select(Selection::NoBranch, above, most, number)
        }
        false => check.least(number, most),
    };
    let most = check.constant(i64::MAX.cast_unsigned());
    if i64::try_from(span.offset).is_err() {
        return most;
    }
    // Two numbers of at most 2^63 - 1 do not wrap as unsigned ones.
    let index = least(check, span.index, most);
    if span.offset == 0 {
        return index;
    }
    let offset = check.constant(span.offset);
    let start = check.add(index, offset);
    least(check, start, most)
}
