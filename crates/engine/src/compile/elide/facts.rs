//! What is known of roots at one place of a function, and whether it makes an
//! access exact without its check.
//!
//! What must stay true: a fact holds at the place that the walk has reached,
//! and so at every place that this one dominates, as long as the walk stays
//! below it ([`Facts::mark`], [`Facts::back_to`]).

use super::form::Root;
use super::range::Range;
use crate::bounds::{MemoryPlan, Slack};

/// A number that a value is congruent to is at least `lo`, and at most `hi`, or
/// `hi` more than the most bytes that a memory can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub lo: i64,
    pub hi: i64,
    /// The memory, by index, where `hi` counts from its maximum.
    pub beyond: Option<u32>,
}

/// Numbers beyond are not computed with: sums of a few never overflow.
const MAGNITUDE_MAX: i64 = 1 << 60;

impl Interval {
    /// The numbers that are added to are moved by these.
    pub fn plus(self, range: Range) -> Option<Interval> {
        let moved = Interval {
            lo: self.lo.checked_add(range.lo)?,
            hi: self.hi.checked_add(range.hi)?,
            ..self
        };
        let is_small = |number| (-MAGNITUDE_MAX..=MAGNITUDE_MAX).contains(&number);
        (is_small(moved.lo) && is_small(moved.hi)).then_some(moved)
    }

    /// Moved by a constant.
    pub fn moved(self, by: i64) -> Option<Interval> {
        self.plus(Range { lo: by, hi: by })
    }

    /// The least interval with both, if they count from the same.
    pub fn hull(self, other: Interval) -> Option<Interval> {
        (self.beyond == other.beyond).then(|| Interval {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            ..self
        })
    }

    /// The greatest number in it.
    fn most(self, rooms: &[Room]) -> i64 {
        let beyond = self
            .beyond
            .map_or(0, |memory| rooms[memory as usize].most_max);
        self.hi + beyond
    }

    /// Whether no two numbers in it are congruent modulo `2^bits`. With 64 bits none are, for
    /// numbers beyond [`MAGNITUDE_MAX`] are not computed with.
    fn is_within_turn(self, bits: u32, rooms: &[Room]) -> bool {
        bits >= 64 || self.most(rooms) - self.lo < 1 << bits
    }
}

impl From<Range> for Interval {
    fn from(range: Range) -> Interval {
        Interval {
            lo: range.lo,
            hi: range.hi,
            beyond: None,
        }
    }
}

/// The facts at a place.
#[derive(Default)]
pub(super) struct Facts {
    known: Vec<Option<Interval>>,
    undo: Vec<(Root, Option<Interval>)>,
}

impl Facts {
    pub fn of(&self, root: Root) -> Option<Interval> {
        self.known.get(root.index()).copied().flatten()
    }

    /// Learn one more. What two say of the same root is true of one number only where both
    /// cannot mean two that are congruent: the root is `2^31 + 1`, one says that of it, and the
    /// other of `1 - 2^31`. Otherwise that is kept which is further from wrapping.
    pub fn learn(&mut self, root: Root, fact: Interval, bits: u32, rooms: &[Room]) {
        let before = self.of(root);
        let together = before.and_then(|known| Some((known, known.hull(fact)?)));
        let both = match together {
            Some((known, hull)) if hull.is_within_turn(bits, rooms) => Interval {
                lo: known.lo.max(fact.lo),
                hi: known.hi.min(fact.hi),
                ..fact
            },
            Some((known, _)) if known.lo > fact.lo => known,
            _ => fact,
        };
        if self.known.len() <= root.index() {
            self.known.resize(root.index() + 1, None);
        }
        self.undo.push((root, before));
        self.known[root.index()] = Some(both);
    }

    /// Where the walk is.
    pub fn mark(&self) -> usize {
        self.undo.len()
    }

    /// Forget what was learnt since.
    pub fn back_to(&mut self, mark: usize) {
        for (root, before) in self.undo.drain(mark..).rev() {
            self.known[root.index()] = before;
        }
    }
}

/// A memory, as far as leaving checks out is concerned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    slack: Slack,
    /// The most bytes it can have, between these: of an imported one it is not
    /// known.
    least_max: i64,
    pub most_max: i64,
    pub imported: bool,
    /// Whether another thread may grow it at any time.
    pub shared: bool,
    /// Whether its accesses are guarded against speculation.
    pub spectre: bool,
    /// Indices up to it are left as they are by a mask, or by taking their lower half.
    greatest_index: i64,
}

impl Room {
    pub fn new(plan: &MemoryPlan) -> Room {
        let slack = plan.slack();
        let (least_max, most_max) = slack.max_bytes;
        Room {
            slack,
            least_max,
            most_max,
            imported: plan.imported,
            shared: plan.shared,
            spectre: plan.spectre,
            greatest_index: i64::MAX >> (i64::BITS - 1).saturating_sub(plan.index_bits()),
        }
    }

    /// Whether a mask leaves every index of an interval as it is. That of an import is at
    /// least its length.
    pub fn leaves(&self, memory: u32, index: Interval) -> bool {
        let is_below = match index.beyond {
            Some(beyond) => beyond == memory && index.hi < 0,
            None => !self.imported && index.hi <= self.greatest_index,
        };
        index.lo >= 0 && is_below
    }

    /// Inaccessible bytes right in front of the first byte.
    pub fn front(&self) -> i64 {
        self.slack.front
    }

    /// Bytes reserved behind the greatest index that a guard leaves.
    pub fn behind_indices(&self) -> i64 {
        self.slack.behind_indices
    }

    /// Whether an access whose 32-bit index is `moved` upwards is in the reservation,
    /// and faults where the index is not below the length.
    pub fn holds_moved(&self, needs: &Needs, moved: i64) -> bool {
        let last = i64::from(u32::MAX) + moved + needs.end;
        last <= self.least_max + self.slack.behind
    }

    /// What an access that did not fault says of its index: it is at most the
    /// length less offset and width.
    pub fn inside(&self, memory: u32, end: i64) -> Interval {
        match self.imported {
            true => Interval {
                lo: 0,
                hi: -end,
                beyond: Some(memory),
            },
            false => Interval {
                lo: 0,
                hi: self.most_max - end,
                beyond: None,
            },
        }
    }
}

/// What has to be known of an access to leave its check out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    pub memory: u32,
    /// Width of the index in bits.
    pub bits: u32,
    pub offset: i64,
    /// Offset and width.
    pub end: i64,
}

impl Needs {
    /// Whether an access with an index out of an interval faults iff the
    /// specification traps: the inequalities (1) to (3) at the head of the pass.
    pub fn are_met_by(&self, index: Interval, rooms: &[Room]) -> bool {
        let room = &rooms[self.memory as usize];
        // (3): a wrapped 32-bit index comes back at the other end.
        let wraps = self.bits < 64 && index.lo < 0;
        let hi_fits = match index.beyond {
            Some(memory) if memory == self.memory && !wraps => {
                index.hi <= room.slack.behind - self.end
            }
            _ => {
                let wrapped = if wraps { i64::from(u32::MAX) } else { 0 };
                index.most(rooms).max(wrapped) <= room.least_max + room.slack.behind - self.end
            }
        };
        let lo_fits = match self.bits {
            // (2)
            64.. => index.lo >= 0 || (self.offset == 0 && index.lo >= -room.slack.front),
            _ => true,
        };
        lo_fits && hi_fits
    }
}
