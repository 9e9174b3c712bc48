//! Not a strategy: the formula of the thesis that `shadow` is after (Döllerer,
//! §4.6, equation 4.5), to see that it is found out. It probes the byte of the
//! *last* address of an access, `s + !((i + o + n - 1) >> k)`, and that sum wraps:
//! 8 bytes at -4 are taken for those at 3, which are in bounds.
//!
//! Only the package in `tests/thesis` has it, which builds these sources for that.

use super::check::{CheckBuilder, Span, Target};
use super::{MemoryPlan, Probing};

/// As the strategies of `shadow.rs` emit it, with a shadow in front.
pub(super) fn emit(check: &mut dyn CheckBuilder, plan: &MemoryPlan, span: &Span) -> Target {
    let shadow = plan.shadow.as_ref().expect("a strategy with a shadow");
    let reach = check.constant(span.offset.wrapping_add(u64::from(span.width) - 1));
    let last = check.add(span.index, reach);
    let shift = check.constant(u64::from(shadow.shift));
    let granule = check.shift_right(last, shift);
    let back = check.not(granule);
    let base = check.base();
    let byte = check.add(base, back);
    let behind = (plan.lead_bytes() - shadow.bytes).cast_signed();
    let behind = i32::try_from(-behind).expect("a shadow is just in front");
    check.probe(Probing::Movzx, byte, behind, span.index);
    span.target()
}
