//! What a processor does ahead of the checks (`bounds/spectre.rs`), where checks
//! are left out, and their guards with them.
//!
//! A fact says that an access went well; a processor that goes ahead does not
//! wait for that. So where an access has a guard, a fact is not enough to leave its
//! check out: its address has to be computed from one that is inside the
//! reservation by arithmetic alone.
//!
//! - *range*: it is arithmetic.
//! - *dominated*: the address is that of the access before, an [`Anchor`], and the
//!   difference of the two indices, which is a constant or of known range. What the access
//!   before added itself is taken off its address first, behind it and once for all that
//!   follow: they share that address, and add what none but they have.
//! - *joins*: there are several accesses before, and so no one address. The guard stays.
//!   The check goes where the guard is a mask or the lower half of the index, and what is
//!   known of the index is that it is in `0 .. R`: then the guard leaves it as it is, and
//!   the access goes, and faults, where it would have. So for any other fact for which
//!   there is no anchor near enough.
//! - *loops*: the first address is that of an access in front of the loop and the
//!   difference, as with *dominated*; or the first index is `umin(x, T)`, which is
//!   arithmetic. An iteration adds between `a` and `b`, and a processor
//!   that has gone wrong is not ahead by more than [`AHEAD_MAX`] iterations: so
//!   many times `a` and `b` the pages around the memory have to absorb. Greater
//!   strides keep their check.
//!
//! Where 32-bit accesses have no guard the reservation has room for every index,
//! and it is enough that nothing but such an index is added to the base. The base
//! of a loop, which is moved where the first index is outside, is moved upwards by a
//! few bytes only ([`MOVED`]) and not by the difference of two indices.
//!
//! What must stay true: an anchor's address is `base + t` with `t` in what it says,
//! on every way that leads to it.

use std::collections::HashMap;

use cranelift_codegen::ir::{Value, types};

use super::facts::{Needs, Room};
use super::form::{Linear, Root};
use super::loops::{Affine, sum_of_ranges};
use super::range::Range;
use super::rewrite::{Emitter, set_sum};
use super::{Index, Pass};
use crate::bounds::Site;

/// Iterations of a loop that a processor can have begun and not retired. One is two
/// instructions at least, and the largest processors have about a thousand
/// instructions in flight.
pub(in crate::compile) const AHEAD_MAX: i64 = 4096;

/// Accesses before that are looked through for one, the last ones first.
const ANCHORS_MAX: usize = 8;

/// What the base of a loop is moved by where a 32-bit first index is outside: so
/// that no access straddles, and as little as possible.
pub(super) const MOVED: i64 = 16;

/// An address that is in the reservation whatever its check says, or by a known range beside.
#[derive(Clone)]
pub(super) struct Anchor {
    /// The index operand as a sum of known values.
    pub form: Linear,
    /// Its address without the constant offset.
    pub sum: Value,
    /// What of that is more than the memory's first byte; `hi` is more than the
    /// greatest index that a guard leaves ([`Room::behind_indices`]).
    at: Range,
}

/// An anchor of an access, and what its address is more than the base then.
struct Anchored {
    anchor: Anchor,
    at: Range,
}

/// The anchors at a place, by memory and the root of what went well.
#[derive(Default)]
pub(super) struct Anchors {
    known: HashMap<(u32, Root), Vec<Anchor>>,
    undo: Vec<(u32, Root)>,
}

impl Anchors {
    /// Where the walk is.
    pub fn mark(&self) -> usize {
        self.undo.len()
    }

    fn push(&mut self, key: (u32, Root), anchor: Anchor) {
        self.known.entry(key).or_default().push(anchor);
        self.undo.push(key);
    }

    /// Whether there is one for a root alone.
    fn is_bare(&self, key: (u32, Root), of: &Linear) -> bool {
        let known = self.known.get(&key).into_iter().flatten();
        known
            .rev()
            .take(ANCHORS_MAX)
            .any(|anchor| anchor.form.terms == of.terms)
    }

    /// Forget those since.
    pub fn back_to(&mut self, mark: usize) {
        for key in self.undo.drain(mark..).rev() {
            self.known.get_mut(&key).and_then(Vec::pop);
        }
    }
}

/// What the guard of an access leaves of its index.
const GUARDED: Range = Range { lo: 0, hi: 0 };

impl Pass<'_> {
    /// As [`Pass::plain_site`], for an access with a guard: where its check stays,
    /// so does that.
    pub(super) fn guarded_site(&mut self, site: &Site, index: &Index, affine: Option<&Affine>) {
        let at = match self.without_guard(site, index, affine) {
            Some(at) => {
                self.leave_out(site);
                at
            }
            None => {
                if self.is_left_by_mask(site, index) {
                    self.leave_out(site);
                }
                GUARDED
            }
        };
        let form = &index.form;
        if index.needs.bits < u64::BITS {
            return;
        }
        self.anchor(site, form, form.clone(), at);
        for left_out in 0..form.terms.len() {
            if form.terms.len() > 1
                && self
                    .range_of_term(form, left_out, index.needs.bits)
                    .is_some()
            {
                self.anchor(site, form, form.without(left_out), at);
            }
        }
    }

    /// Whether what is known of an index is enough without its check, and makes its guard
    /// leave it as it is.
    fn is_left_by_mask(&mut self, site: &Site, Index { form, needs }: &Index) -> bool {
        site.is_masked
            && needs.bits == u64::BITS
            && self.is_known(form, needs, |index, rooms| {
                rooms[needs.memory as usize].leaves(needs.memory, index)
                    && needs.are_met_by(index, rooms)
            })
    }

    fn anchor(&mut self, site: &Site, form: &Linear, of: Linear, at: Range) {
        let key = (site.memory, self.forms.root(&of, u64::BITS));
        if at != GUARDED && self.anchors.is_bare(key, &of) {
            return;
        }
        let (form, sum) = (form.clone(), self.func.dfg.first_result(site.sum));
        self.anchors.push(key, Anchor { form, sum, at });
    }

    /// Has an access go where it goes without its guard, if that is safe without
    /// its check, too: what its address is more than the base then.
    fn without_guard(
        &mut self,
        site: &Site,
        index: &Index,
        affine: Option<&Affine>,
    ) -> Option<Range> {
        let Index { form, needs } = index;
        if self.is_in_range(form, needs) {
            let range = sum_of_ranges(self.func, form, needs.bits)?;
            set_sum(self.func, site, site.base, site.index);
            return Some(range);
        }
        if needs.bits < u64::BITS {
            return None;
        }
        if self.is_exact(form, needs)
            && let Some(at) = self.by_anchor(site, index)
        {
            return Some(at);
        }
        let affine = affine.filter(|affine| self.stays_exact(affine, needs))?;
        let many = affine.step.times(AHEAD_MAX)?.hull(Range { lo: 0, hi: 0 });
        if self.is_in_range(&affine.first, needs) {
            let at = sum_of_ranges(self.func, &affine.first, needs.bits)?.plus(many)?;
            return self.is_near(at, needs).then(|| {
                set_sum(self.func, site, site.base, site.index);
                at
            });
        }
        if self.is_exact(&affine.first, needs)
            && let Some(anchored) = self.anchored(&affine.first, needs, many)
            && self.base_from(site, index, affine, &anchored.anchor)
        {
            return Some(anchored.at);
        }
        let at = GUARDED.plus(many)?;
        (self.is_near(at, needs) && self.make_safe(site, index, affine)).then_some(at)
    }

    /// Computes the address from that of an access before.
    fn by_anchor(&mut self, site: &Site, index: &Index) -> Option<Range> {
        let Index { form, needs } = index;
        let anchored = self.anchored(form, needs, Range { lo: 0, hi: 0 })?;
        let at = anchored.at;
        let from = self.bare(site, anchored.anchor, form)?;
        let mut more = form.clone();
        more.add(&from.form, u64::MAX, needs.bits).then_some(())?;
        let location = self.func.srcloc(site.sum);
        let mut here = Emitter::before(self.func, site.sum, location);
        let more = here.sum(&[&more], types::I64);
        set_sum(self.func, site, from.sum, more);
        Some(at)
    }

    /// An anchor without the terms that an index does not have, which are taken off behind
    /// it, once: accesses to elements of one array add their own each to the same address,
    /// rather than the difference to the one before.
    fn bare(&mut self, site: &Site, anchor: Anchor, form: &Linear) -> Option<Anchor> {
        let own = anchor.form.terms_not_in(form);
        if own.terms.is_empty() {
            return Some(anchor);
        }
        let at = anchor
            .at
            .plus(sum_of_ranges(self.func, &own, u64::BITS)?.times(-1)?)?;
        let mut common = anchor.form;
        common.add(&own, u64::MAX, u64::BITS).then_some(())?;
        let made = self.func.dfg.value_def(anchor.sum).inst()?;
        let behind = self.func.layout.next_inst(made)?;
        let location = self.func.srcloc(made);
        let sum = Emitter::before(self.func, behind, location).less(anchor.sum, &own);
        let key = (site.memory, self.forms.root(&common, u64::BITS));
        let bare = Anchor {
            form: common,
            sum,
            at,
        };
        self.anchors.push(key, bare.clone());
        Some(bare)
    }

    /// The access before whose address differs from that of an index by a known range, such
    /// that `many` more is inside the reservation: of the last ones that with the fewest
    /// terms of its own.
    fn anchored(&mut self, form: &Linear, needs: &Needs, many: Range) -> Option<Anchored> {
        let mut roots = vec![form.clone()];
        roots.extend((0..form.terms.len()).map(|left_out| form.without(left_out)));
        let mut best: Option<(usize, Anchored)> = None;
        for of in roots {
            let key = (needs.memory, self.forms.root(&of, needs.bits));
            let known = self.anchors.known.get(&key).into_iter().flatten();
            for anchor in known.rev().take(ANCHORS_MAX) {
                let own = anchor.form.terms_not_in(form).terms.len();
                if best.as_ref().is_some_and(|(fewest, _)| *fewest <= own) {
                    continue;
                }
                let mut more = form.clone();
                if !more.add(&anchor.form, u64::MAX, needs.bits) {
                    continue;
                }
                let range = sum_of_ranges(self.func, &more, needs.bits);
                let at = range.and_then(|range| anchor.at.plus(range)?.plus(many));
                if let Some(at) = at.filter(|at| self.is_near(*at, needs)) {
                    let anchor = anchor.clone();
                    best = Some((own, Anchored { anchor, at }));
                }
            }
        }
        best.map(|(_, anchored)| anchored)
    }

    /// Whether an access at these addresses is inside the reservation.
    fn is_near(&self, at: Range, needs: &Needs) -> bool {
        let room: &Room = &self.rooms[needs.memory as usize];
        let lo_fits = at.lo >= -room.front();
        lo_fits && at.hi <= room.behind_indices() - needs.end
    }
}

#[cfg(test)]
mod tests;
