//! What is tried: scenarios, each a module and calls to one instance of it, with
//! what the specification says must become of every call.
//!
//! ```text
//!  load   access
//!  store  access, peek, restore
//!           │       │     └ digest of the bytes a wrong store could have hit
//!           │       │       (memory's start, its end, around the address), then
//!           │       │       the pattern again
//!           │       └ a byte read at the very address: tells whether a store
//!           │         outside went somewhere it can be read from
//!           └ the instruction under test
//! ```
//!
//! The calls do not depend on the oracle's rule, only the expectations do, so an
//! engine that follows another rule can be imitated by planning with that rule.

mod bulk;
mod random;
mod stages;

use std::collections::BTreeSet;
use std::ops::Range;

use fathom_record::protocol::{Call, WireValue};

use super::access::{Access, AccessText};
use super::model::{Model, PAGE_BYTES, Rule, store_value};
use super::module::{self, CONSTANT_OFFSETS, Index, Instructions, Memory, SEGMENT};
use stages::STAGES;

pub(super) use random::random;

use super::op::{self, Op};

/// Bytes watched at each end of the memory and around an address.
const WATCHED_BYTES: u64 = 64;
/// Of these, how many lie before the address.
const WATCHED_BEFORE: u64 = 16;
/// Memories up to this are compared whole at the end of a stage.
const WHOLE_COMPARED_BYTES: u64 = 4 * PAGE_BYTES;

/// A module and the calls to one instance of it.
pub(super) struct Scenario {
    /// What is special about its memory.
    pub name: &'static str,
    /// Whether any engine and machine must be able to do it; the others need
    /// an address space or memory that may be refused.
    pub essential: bool,
    /// The binary.
    pub module: Vec<u8>,
    /// The calls, in order.
    pub steps: Vec<Step>,
}

/// A call and what must become of it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub call: Call,
    pub wanted: Wanted,
    pub what: What,
}

/// What the specification says becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// "out of bounds memory access".
    Trap,
    /// Of an atomic access, outside or misaligned or both: for whichever reason, of
    /// which the specification says nothing (scripts in `tests/wast` ask our engine).
    AtomicTrap,
    /// These results.
    Values(Vec<WireValue>),
}

impl Wanted {
    /// Whether it is one.
    pub fn is_trap(&self) -> bool {
        !matches!(self, Wanted::Values(_))
    }
}

/// Why a call is made.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// It is tried itself. What follows up to the next one belongs to it.
    Access(Access),
    /// A byte at the address of the store before, itself an access.
    Peek(Access),
    /// What memory holds after the access before.
    Digest,
    /// Preparation.
    Setup,
    /// Growth, which an engine may refuse.
    Growth,
}

/// The scenarios for memories of an index type.
pub(super) fn scenarios(index: Index) -> impl Iterator<Item = usize> {
    (0..STAGES.len()).filter(move |number| STAGES[*number].memory.index == index)
}

/// The `number`th scenario as `rule` sees it, from 0, of no more than some
/// instructions.
pub(super) fn scenario(rule: Rule, number: usize, instructions: Instructions) -> Scenario {
    let stages = &STAGES[number];
    let memory = Memory {
        instructions,
        ..stages.memory
    };
    let lens: Vec<u64> = stages
        .pages
        .iter()
        .map(|pages| pages * PAGE_BYTES)
        .collect();
    let mut plan = Plan::new(rule, memory, lens);
    for &pages in stages.pages {
        plan.grow_to(pages);
        plan.sweep();
    }
    plan.grow_past(memory.max);
    plan.drop_segment();
    Scenario {
        name: stages.name,
        essential: stages.essential,
        module: module::build(memory, &plan.lens),
        steps: plan.steps,
    }
}

/// A scenario in the making.
struct Plan {
    memory: Memory,
    index: Index,
    model: Model,
    lens: Vec<u64>,
    stores: u64,
    segment_len: u64,
    steps: Vec<Step>,
}

/// Where 64-bit indices meet limits: of signed numbers, of 32 bits, of address
/// spaces.
const LANDMARKS: [i128; 8] = [
    0,
    1 << 31,
    1 << 32,
    1 << 36,
    1 << 47,
    1 << 48,
    1 << 63,
    1 << 64,
];

impl Plan {
    fn new(rule: Rule, memory: Memory, lens: Vec<u64>) -> Plan {
        Plan {
            memory,
            index: memory.index,
            model: Model::new(rule, memory.min),
            lens,
            stores: 0,
            segment_len: SEGMENT.len() as u64,
            steps: Vec::new(),
        }
    }

    fn push(&mut self, export: String, args: &[WireValue], wanted: Wanted, what: What) {
        let args = args.iter().map(WireValue::to_string).collect();
        self.steps.push(Step {
            call: Call { export, args },
            wanted,
            what,
        });
    }

    fn grow_to(&mut self, pages: u64) {
        let before = self.model.pages();
        if pages > before {
            let wanted = Wanted::Values(vec![self.index.value(before)]);
            let args = [self.index.value(pages - before)];
            self.push("grow".to_owned(), &args, wanted, What::Growth);
            self.model.grow_to(pages);
        }
        let wanted = Wanted::Values(vec![self.index.value(pages)]);
        self.push("size".to_owned(), &[], wanted, What::Setup);
    }

    /// Growth beyond the maximum must fail and change nothing.
    fn grow_past(&mut self, max: u64) {
        let pages = self.model.pages();
        for more in [max - pages + 1, u64::MAX] {
            let refused = Wanted::Values(vec![self.index.value(u64::MAX)]);
            let more = self.index.value(more);
            self.push("grow".to_owned(), &[more], refused, What::Setup);
        }
        let wanted = Wanted::Values(vec![self.index.value(pages)]);
        self.push("size".to_owned(), &[], wanted, What::Setup);
    }

    /// Everything, at the memory's present length.
    fn sweep(&mut self) {
        self.restore(0);
        for op in self.memory.ops() {
            for &offset in self.index.offsets() {
                for index in self.indices(u64::from(op.width), offset) {
                    self.access(op, offset, index);
                }
            }
            for offset in CONSTANT_OFFSETS {
                for index in module::constant_indices(self.index, op, offset, &self.lens) {
                    self.constant(op, offset, index);
                }
            }
        }
        for &pair in self.index.pairs() {
            for index in self.indices(8, pair.0.max(pair.1)) {
                self.pair(pair, index);
            }
        }
        self.runs();
        self.bulk();
        self.compare_whole();
    }

    /// Indices at which an access of `width` bytes at `offset` is on, before or
    /// behind an edge: of the memory, of the index space, of 31 and 32 bits.
    fn indices(&self, width: u64, offset: u64) -> BTreeSet<u64> {
        let (len, width, offset) = (
            i128::from(self.model.len()),
            i128::from(width),
            i128::from(offset),
        );
        let space = self.index.space();
        let half = space / 2;
        let last = len - offset - width;
        let edges = [
            [0, 1, width, last - 1, last, last + 1],
            [
                len - offset - 1,
                len - offset,
                len - offset + 1,
                len - width,
                len - 1,
                len,
            ],
            [
                half - offset - width,
                half - offset,
                half - width,
                half - 1,
                half,
                half + 1,
            ],
            [
                space - offset - width,
                space - offset - 1,
                space - offset,
                space - width,
                space - 1,
                space - 2,
            ],
        ];
        let landmarks = match self.index {
            Index::I32 => &[][..],
            Index::I64 => &LANDMARKS,
        };
        // An index that reaches a landmark with its offset, or without.
        let landmarks = landmarks.iter().chain([&len]).flat_map(|landmark| {
            let near = [-16, -width, -1, 0, 1, 8];
            let ends = [-offset - width, -offset];
            near.into_iter().chain(ends).map(move |by| landmark + by)
        });
        let landmarks = landmarks.filter(|_| self.index == Index::I64);
        // Sums that wrap to the memory's beginning or its end.
        let wrapped = [0, 1, len - width, len].map(|sum| sum - offset + space);
        let edges = edges.into_iter().flatten();
        edges
            .chain(landmarks)
            .chain(wrapped)
            .filter(|index| *index < space)
            .filter_map(|index| u64::try_from(index).ok())
            .collect()
    }

    /// What a load gives, or what a store's trap is.
    fn wanted_of(&self, op: &Op, offset: u64, index: u64, used: bool) -> Wanted {
        let width = u64::from(op.width);
        let outside = !self.model.contains(index, offset, width);
        // Widths divide 2^64, so that the sum may wrap.
        let is_misaligned = !index.wrapping_add(offset).is_multiple_of(width);
        if op.is_atomic() && (outside || is_misaligned) {
            Wanted::AtomicTrap
        } else if outside {
            Wanted::Trap
        } else if !used {
            Wanted::Values(vec![])
        } else {
            Wanted::Values(op.loaded(&self.model.read(index + offset, width)))
        }
    }

    fn note(&self, text: AccessText, wanted: &Wanted, stores: Option<u8>) -> Access {
        Access {
            text,
            pages: self.model.pages(),
            outside: wanted.is_trap(),
            stores,
        }
    }

    fn access(&mut self, op: &Op, offset: u64, index: u64) {
        let name = module::access_name(op, offset);
        let text = AccessText::Plain(op.name, offset, index);
        if op.is_store() {
            let operand = self.index.value(index);
            self.store(op, offset, index, name, &[operand], text);
            return;
        }
        let wanted = self.wanted_of(op, offset, index, true);
        let access = self.note(text, &wanted, None);
        self.push(
            name,
            &[self.index.value(index)],
            wanted,
            What::Access(access),
        );
        // With all the indices of 64 bits, not with every offset.
        if self.index == Index::I64 && offset != 0 && offset != 1 << 32 {
            return;
        }
        let wanted = self.wanted_of(op, offset, index, false);
        let text = AccessText::Dropped(op.name, offset, index);
        let access = self.note(text, &wanted, None);
        let name = module::dropped_name(op, offset);
        self.push(
            name,
            &[self.index.value(index)],
            wanted,
            What::Access(access),
        );
    }

    fn constant(&mut self, op: &Op, offset: u64, index: u64) {
        let name = module::constant_name(op, offset, index);
        let text = AccessText::Constant(op.name, offset, index);
        if op.is_store() {
            self.store(op, offset, index, name, &[], text);
            return;
        }
        let wanted = self.wanted_of(op, offset, index, true);
        let access = self.note(text, &wanted, None);
        self.push(name, &[], wanted, What::Access(access));
    }

    fn next_value(&mut self) -> u64 {
        self.stores += 1;
        store_value(self.stores)
    }

    fn store(
        &mut self,
        op: &Op,
        offset: u64,
        index: u64,
        name: String,
        operands: &[WireValue],
        text: AccessText,
    ) {
        let value = self.next_value();
        let bytes = op.stored(value);
        let wanted = self.wanted_of(op, offset, index, true);
        let access = self.note(text, &wanted, bytes.first().copied());
        let mut args = operands.to_vec();
        args.push(WireValue::I64(value));
        if !access.outside {
            self.model.write(index + offset, &bytes);
        }
        self.push(name, &args, wanted, What::Access(access));
        self.peek(offset, index);
        self.restore(index.wrapping_add(offset));
    }

    fn peek(&mut self, offset: u64, index: u64) {
        let op = op::peek();
        let wanted = self.wanted_of(op, offset, index, true);
        let access = self.note(AccessText::Plain(op.name, offset, index), &wanted, None);
        let name = module::access_name(op, offset);
        self.push(name, &[self.index.value(index)], wanted, What::Peek(access));
    }

    /// Where a store to `address`, right or wrong, could have left bytes.
    fn watched(&self, address: u64) -> [Range<u64>; 3] {
        let len = self.model.len();
        // An address computed in 32 bits would have wrapped to this.
        let near = address % (1 << 32);
        let near = match self.index {
            Index::I64 if address < len => address,
            _ => near,
        };
        let near = near.saturating_sub(WATCHED_BEFORE);
        [
            0..len.min(WATCHED_BYTES),
            len.saturating_sub(WATCHED_BYTES)..len,
            near.min(len)..(near + WATCHED_BYTES).min(len),
        ]
    }

    /// Compares what is watched, and fills it with the pattern again.
    fn restore(&mut self, address: u64) {
        let watched = self.watched(address);
        self.digest("restore", &watched);
        for range in watched {
            self.model.fill(range);
        }
    }

    fn digest(&mut self, tool: &str, ranges: &[Range<u64>]) {
        let wanted = Wanted::Values(vec![WireValue::I64(self.model.digest(ranges))]);
        let args: Vec<_> = ranges
            .iter()
            .flat_map(|range| [range.start, range.end - range.start])
            .map(|value| self.index.value(value))
            .collect();
        self.push(tool.to_owned(), &args, wanted, What::Digest);
    }

    fn compare_whole(&mut self) {
        let len = self.model.len();
        if len <= WHOLE_COMPARED_BYTES {
            self.digest("digest", &[0..len, 0..0, 0..0]);
        }
    }

    /// Two stores with one index: where the second traps the first has happened,
    /// where the first traps the second has not.
    fn pair(&mut self, pair: (u64, u64), index: u64) {
        let value = self.next_value();
        let mut wanted = Wanted::Values(vec![]);
        for offset in [pair.0, pair.1] {
            if !self.model.contains(index, offset, 8) {
                wanted = Wanted::Trap;
                break;
            }
            self.model.write(index + offset, &value.to_le_bytes());
        }
        // A store before the trap may be read back: no sign of anything wrong.
        let access = self.note(AccessText::Pair(pair, index), &wanted, None);
        let args = [self.index.value(index), WireValue::I64(value)];
        self.push(module::pair_name(pair), &args, wanted, What::Access(access));
        self.restore(index.wrapping_add(pair.0));
        self.restore(index.wrapping_add(pair.1));
    }

    /// A store in a loop that runs over the memory's end: what comes before the
    /// end is written.
    fn runs(&mut self) {
        let len = self.model.len();
        for (before, count) in [(8, 8), (8, 9), (8, 24), (0, 4), (1, 64)] {
            let start = len.saturating_sub(before);
            let value = self.next_value();
            let mut wanted = Wanted::Values(vec![]);
            for address in start..start + count {
                // A 32-bit address wraps where the space ends.
                let address = match self.index {
                    Index::I32 => address % (1 << 32),
                    Index::I64 => address,
                };
                if !self.model.contains(address, 0, 1) {
                    wanted = Wanted::Trap;
                    break;
                }
                self.model.write(address, &[value as u8]);
            }
            let access = self.note(AccessText::Run(start, count), &wanted, None);
            let args = [
                self.index.value(start),
                self.index.value(count),
                WireValue::I64(value),
            ];
            self.push("run".to_owned(), &args, wanted, What::Access(access));
            self.restore(start);
        }
    }
}

#[cfg(test)]
mod tests;
