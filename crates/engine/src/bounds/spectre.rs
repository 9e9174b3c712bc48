//! Guards against what a processor does ahead of a check (Spectre, variant 1: a
//! branch predicted wrong, or a fault that is not raised yet).
//!
//! A check traps before anybody sees what an access behind it did; its traces in
//! the caches stay. So the address of an access is computed from an index that
//! cannot leave the reservation, whatever the check said: the index goes through
//! arithmetic that changes nothing where the check passes.
//!
//! ```text
//!  index ──► check: trapnz                       what the program sees
//!    └─────► guard: and not mask, or cmov ──► base + …   what the processor does
//! ```
//!
//! What must stay true: on every way through a function, whatever its branches
//! decide and its accesses fault, an access is at `base + t` with `t` from the front
//! guard's first byte to the reservation's last.
//!
//! - *absorbed*: a 32-bit index is extended to 64 bits, so `i < 2^32` holds on
//!   every way. Where `2^32 - 1 + o + n` is within the reservation, nothing is
//!   emitted: always under `guard` and `uffd`, mostly under the others that
//!   have `REACH` behind the maximum.
//! - *masked*: `i & (R - 1)`, for reservations of `R` and `REACH`. The mask is a
//!   value that is loaded, so the code generator cannot know that the check made
//!   it superfluous.
//! - *halved*: the lower half of `i`, where `R` is 4 GiB. A move of 32 bits, which
//!   processors do by renaming registers, so that it takes no time between a pointer and
//!   what it points to. No code generator may know either what the check found of it.
//! - *selected*: `i < len ? i : len` by `select_spectre_guard`, which becomes a
//!   conditional move and never a branch.
//!
//! Where a check is left out, so is its guard: see [`crate::compile::elide`].

use super::check::{Cell, CheckBuilder, Operand, Selection, Span};
use super::{INDEX_SPACE_32, MemoryPlan, REACH};

impl MemoryPlan {
    /// The plan with guards or without.
    #[cfg(test)]
    pub fn spectre(self, spectre: bool) -> MemoryPlan {
        MemoryPlan { spectre, ..self }
    }

    /// Whether an access may leave the reservation ahead of its check.
    pub(super) fn needs_guard(&self, span: &Span) -> bool {
        self.spectre && !self.absorbs(span)
    }

    /// Whether so many bytes from any index on are within the reservation, so that no
    /// guard is needed ahead of their check.
    pub fn reserves_behind(&self, memory64: bool, bytes: u64) -> bool {
        !memory64 && INDEX_SPACE_32 - 1 + bytes <= self.sure_bytes()
    }

    /// Bytes that are surely reserved from the first byte on.
    fn sure_bytes(&self) -> u64 {
        match self.imported {
            // Its definition may declare another maximum, not less than this.
            true => self.min_bytes + REACH,
            false => self.reserved_bytes,
        }
    }

    /// Whether the reservation has room for every index of 32 bits.
    fn absorbs(&self, span: &Span) -> bool {
        let sure = self.sure_bytes();
        let end = span.offset.checked_add(u64::from(span.width));
        let end = end.and_then(|end| end.checked_add(INDEX_SPACE_32 - 1));
        !span.memory64 && end.is_some_and(|end| end <= sure)
    }
}

/// The span with an index below `R`, which its check found it to be.
pub(super) fn masked(check: &mut dyn CheckBuilder, plan: &MemoryPlan, span: &Span) -> Span {
    if !plan.needs_guard(span) {
        return *span;
    }
    let index = match plan.has_half_indices() {
        true => check.low_half(span.index),
        false => {
            let mask = check.cell(Cell::HighBits);
            let low_bits = check.not(mask);
            check.forget(mask);
            let index = check.and(span.index, low_bits);
            check.forget(low_bits);
            index
        }
    };
    Span { index, ..*span }
}

/// The span with the index, or with `instead` where `outside` holds, which its
/// check found not to.
pub(super) fn selected(
    check: &mut dyn CheckBuilder,
    plan: &MemoryPlan,
    span: &Span,
    outside: Operand,
    instead: Operand,
) -> Span {
    if !plan.needs_guard(span) {
        return *span;
    }
    let index = check.select(Selection::NoBranch, outside, instead, span.index);
    Span { index, ..*span }
}

/// A selection, where nothing but it keeps an access inside: with guards, never a branch.
pub(super) fn select(
    check: &mut dyn CheckBuilder,
    plan: &MemoryPlan,
    condition: Operand,
    then: Operand,
    otherwise: Operand,
) -> Operand {
    let how = match plan.spectre {
        true => Selection::NoBranch,
        false => Selection::Any,
    };
    check.select(how, condition, then, otherwise)
}
