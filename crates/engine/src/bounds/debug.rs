//! `debug`: a runtime function checks each access and, where it is out of
//! bounds, says which: the trap's message has the memory, its length, the
//! index, the offset and the width.
//!
//! ```text
//!  base                       base+len              base+max
//!   |---------- memory ----------|---- inaccessible ----|
//!   |<--- readable, writable --->|    (growth: mprotect)
//! ```
//!
//! Inequality: the function computes `i + o + n` without wrapping and compares
//! it with `len`: exact by itself, so that nothing is reserved beyond the
//! maximum (but for an empty one, for nothing cannot be reserved). A memory never shrinks, so what was inside stays inside, and an
//! access that passed cannot fault; it is marked as not trapping.
//!
//! The guard against speculation computes the same once more in place: an access
//! beyond `len` becomes one to the first byte, which is reserved.

use super::about::{About, Guarantee};
use super::check::{CheckBuilder, Span, Target};
use super::clamp::compared;
use super::spectre::select;
use super::{Backing, Layout, MemoryPlan, Strategy, WASM_PAGE_BYTES};

const ABOUT: About = About {
    is_checked_by_call: true,
    is_diagnostic: true,
    ..About::new(
        "debug",
        "a call checks each access and says what was wrong with it: slow",
        Guarantee::Exact,
    )
};

pub(super) struct Debug;

impl Strategy for Debug {
    fn about(&'static self) -> &'static About {
        &ABOUT
    }

    fn layout(&self, max_bytes: u64, _memory64: bool) -> Layout {
        Layout {
            front_bytes: 0,
            reserved_bytes: max_bytes.max(WASM_PAGE_BYTES),
            backing: Backing::Protect,
            shadow: None,
        }
    }

    /// The call was emitted in front of this ([`MemoryPlan::is_checked_by_call`]).
    fn emit(&self, check: &mut dyn CheckBuilder, plan: &MemoryPlan, span: &Span) -> Target {
        if !plan.spectre {
            return Target {
                may_fault: false,
                ..span.target()
            };
        }
        let (start, _, outside) = compared(check, plan, span);
        let first = check.constant(0);
        Target {
            index: select(check, plan, outside, first, start),
            offset: 0,
            may_fault: false,
        }
    }
}
