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

use std::collections::BTreeSet;
use std::ops::Range;

use fathom_record::protocol::{Call, WireValue};

use super::access::{Access, AccessText};
use super::model::{Model, PAGE_BYTES, Rule, store_value};
use super::module::{self, CONSTANT_OFFSETS, Memory, OFFSETS, PAIRS, SEGMENT};
use super::op::{self, Op};

/// Bytes watched at each end of the memory and around an address.
const WATCHED_BYTES: u64 = 64;
/// Of these, how many lie before the address.
const WATCHED_BEFORE: u64 = 16;
/// Memories up to this are compared whole at the end of a stage.
const WHOLE_COMPARED_BYTES: u64 = 4 * PAGE_BYTES;
/// Bulk operations inside a memory go no further than this.
const BULK_INSIDE_BYTES: u64 = 65_536;
/// The index space of a 32-bit memory.
const SPACE: u64 = 1 << 32;

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
    /// These results.
    Values(Vec<WireValue>),
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

/// What a plan is for.
struct Stages {
    name: &'static str,
    essential: bool,
    memory: Memory,
    /// Lengths in pages at which everything is tried, in order; the memory
    /// grows in between.
    pages: &'static [u64],
}

const fn own(min: u64, max: u64) -> Memory {
    Memory {
        min,
        max,
        is_imported: false,
    }
}

const STAGES: [Stages; 6] = [
    Stages {
        name: "an empty memory, then 1 page",
        essential: true,
        memory: own(0, 1),
        pages: &[0, 1],
    },
    Stages {
        name: "1 page, grown to 2 and to its maximum of 4",
        essential: true,
        memory: own(1, 4),
        pages: &[1, 2, 4],
    },
    Stages {
        name: "an imported memory of 1 page, grown to 2",
        essential: true,
        memory: Memory {
            min: 1,
            max: 2,
            is_imported: true,
        },
        pages: &[1, 2],
    },
    Stages {
        name: "grown to 2 GiB and past it",
        essential: false,
        memory: own(1, 32_769),
        pages: &[32_768, 32_769],
    },
    Stages {
        name: "grown to 4 GiB",
        essential: false,
        memory: own(2, 65_536),
        pages: &[65_535, 65_536],
    },
    Stages {
        name: "4 GiB from the start",
        essential: false,
        memory: own(65_536, 65_536),
        pages: &[65_536],
    },
];

/// How many scenarios there are.
pub(super) const SCENARIOS: usize = STAGES.len();

/// The `number`th scenario as `rule` sees it, from 0.
pub(super) fn scenario(rule: Rule, number: usize) -> Scenario {
    let stages = &STAGES[number];
    let lens: Vec<u64> = stages
        .pages
        .iter()
        .map(|pages| pages * PAGE_BYTES)
        .collect();
    let mut plan = Plan {
        model: Model::new(rule, stages.memory.min),
        lens,
        stores: 0,
        segment_len: SEGMENT.len() as u64,
        steps: Vec::new(),
    };
    for &pages in stages.pages {
        plan.grow_to(pages);
        plan.sweep();
    }
    plan.grow_past(stages.memory.max);
    plan.drop_segment();
    Scenario {
        name: stages.name,
        essential: stages.essential,
        module: module::build(stages.memory, &plan.lens),
        steps: plan.steps,
    }
}

/// A scenario in the making.
struct Plan {
    model: Model,
    lens: Vec<u64>,
    stores: u64,
    segment_len: u64,
    steps: Vec<Step>,
}

fn i32_of(value: u64) -> WireValue {
    // Operands are below 2^32 and counts too.
    WireValue::I32(value as u32)
}

impl Plan {
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
            let wanted = Wanted::Values(vec![i32_of(before)]);
            let args = [i32_of(pages - before)];
            self.push("grow".to_owned(), &args, wanted, What::Growth);
            self.model.grow_to(pages);
        }
        let wanted = Wanted::Values(vec![i32_of(pages)]);
        self.push("size".to_owned(), &[], wanted, What::Setup);
    }

    /// Growth beyond the maximum must fail and change nothing.
    fn grow_past(&mut self, max: u64) {
        for more in [1, SPACE - 1] {
            let refused = Wanted::Values(vec![WireValue::I32(u32::MAX)]);
            self.push("grow".to_owned(), &[i32_of(more)], refused, What::Setup);
        }
        let wanted = Wanted::Values(vec![i32_of(max)]);
        self.push("size".to_owned(), &[], wanted, What::Setup);
    }

    /// Everything, at the memory's present length.
    fn sweep(&mut self) {
        self.restore(0);
        for op in op::ALL {
            for offset in OFFSETS {
                for index in self.indices(u64::from(op.width), offset) {
                    self.access(op, offset, index);
                }
            }
            for offset in CONSTANT_OFFSETS {
                for index in module::constant_indices(op, offset, &self.lens) {
                    self.constant(op, offset, u64::from(index));
                }
            }
        }
        for pair in PAIRS {
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
        let (half, space) = (1i128 << 31, i128::from(SPACE));
        let last = len - offset - width;
        [
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
        ]
        .into_iter()
        .flatten()
        .filter_map(|index| u64::try_from(index).ok())
        .filter(|index| *index < SPACE)
        .collect()
    }

    /// What a load gives, or what a store's trap is.
    fn wanted_of(&self, op: &Op, offset: u64, index: u64, used: bool) -> Wanted {
        let width = u64::from(op.width);
        if !self.model.contains(index, offset, width) {
            Wanted::Trap
        } else if op.is_store() || !used {
            Wanted::Values(vec![])
        } else {
            Wanted::Values(op.loaded(&self.model.read(index + offset, width)))
        }
    }

    fn note(&self, text: AccessText, wanted: &Wanted, stores: Option<u8>) -> Access {
        Access {
            text,
            pages: self.model.pages(),
            outside: *wanted == Wanted::Trap,
            stores,
        }
    }

    fn access(&mut self, op: &Op, offset: u64, index: u64) {
        let name = module::access_name(op, offset);
        let text = AccessText::Plain(op.name, offset, index);
        if op.is_store() {
            self.store(op, offset, index, name, &[i32_of(index)], text);
            return;
        }
        let wanted = self.wanted_of(op, offset, index, true);
        let access = self.note(text, &wanted, None);
        self.push(name, &[i32_of(index)], wanted, What::Access(access));
        let wanted = self.wanted_of(op, offset, index, false);
        let text = AccessText::Dropped(op.name, offset, index);
        let access = self.note(text, &wanted, None);
        let name = module::dropped_name(op, offset);
        self.push(name, &[i32_of(index)], wanted, What::Access(access));
    }

    fn constant(&mut self, op: &Op, offset: u64, index: u64) {
        let name = module::constant_name(op, offset, index as u32);
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
        self.restore(index + offset);
    }

    fn peek(&mut self, offset: u64, index: u64) {
        let op = op::peek();
        let wanted = self.wanted_of(op, offset, index, true);
        let access = self.note(AccessText::Plain(op.name, offset, index), &wanted, None);
        let name = module::access_name(op, offset);
        self.push(name, &[i32_of(index)], wanted, What::Peek(access));
    }

    /// Where a store to `address`, right or wrong, could have left bytes.
    fn watched(&self, address: u64) -> [Range<u64>; 3] {
        let len = self.model.len();
        // An address computed in 32 bits would have wrapped to this.
        let near = (address % SPACE).saturating_sub(WATCHED_BEFORE);
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
            .flat_map(|range| [i32_of(range.start), i32_of(range.end - range.start)])
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
        let args = [i32_of(index), WireValue::I64(value)];
        self.push(module::pair_name(pair), &args, wanted, What::Access(access));
        self.restore(index + pair.0);
        self.restore(index + pair.1);
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
                // The address is an i32, so it wraps where the space ends.
                if !self.model.contains(address % SPACE, 0, 1) {
                    wanted = Wanted::Trap;
                    break;
                }
                self.model.write(address % SPACE, &[value as u8]);
            }
            let access = self.note(AccessText::Run(start, count), &wanted, None);
            let args = [i32_of(start), i32_of(count), WireValue::I64(value)];
            self.push("run".to_owned(), &args, wanted, What::Access(access));
            self.restore(start);
        }
    }

    fn bulk(&mut self) {
        let len = self.model.len();
        for count in [0, 1, 2, 8, 17, 64, 4096, 1 << 16, 1 << 31, SPACE - 1] {
            for edge in self.indices(count, 0) {
                self.fill(edge, count);
                self.copy(edge, 0, count);
                self.copy(0, edge, count);
                self.init(edge, 0, count);
                self.init(edge, 32, count);
                self.init(0, edge, count);
            }
        }
        // Overlapping copies, in both directions, at both ends.
        let end = len.saturating_sub(40);
        for (to, from) in [(0, 1), (1, 0), (end, end + 7), (end + 7, end), (end, end)] {
            self.copy(to, from, 33);
        }
    }

    /// Whether an operation is so far inside that it would take too long to be
    /// tried. By the specification, not by the plan's rule: see the module head.
    fn is_too_long(&self, to: u64, from: u64, count: u64) -> bool {
        let len = self.model.len();
        count > BULK_INSIDE_BYTES && to + count <= len && from + count <= len
    }

    fn bulk_call(&mut self, name: &'static str, operands: [u64; 3], bytes: Option<Vec<u8>>) {
        let wanted = match &bytes {
            Some(_) => Wanted::Values(vec![]),
            None => Wanted::Trap,
        };
        let access = self.note(AccessText::Bulk(name, operands), &wanted, None);
        if let Some(bytes) = bytes {
            self.model.write(operands[0], &bytes);
        }
        let args = operands.map(i32_of);
        self.push(name.to_owned(), &args, wanted, What::Access(access));
        self.restore(operands[0]);
    }

    fn fill(&mut self, to: u64, count: u64) {
        if self.is_too_long(to, 0, count) {
            return;
        }
        let byte = self.next_value() & 0xff;
        let inside = self.model.contains(to, 0, count);
        let bytes = inside.then(|| vec![byte as u8; count.min(BULK_INSIDE_BYTES) as usize]);
        self.bulk_call("fill", [to, byte, count], bytes);
    }

    fn copy(&mut self, to: u64, from: u64, count: u64) {
        if self.is_too_long(to, from, count) {
            return;
        }
        let inside = self.model.contains(to, 0, count) && self.model.contains(from, 0, count);
        let bytes = inside.then(|| self.model.read(from, count.min(BULK_INSIDE_BYTES)));
        self.bulk_call("copy", [to, from, count], bytes);
    }

    fn init(&mut self, to: u64, from: u64, count: u64) {
        let inside = self.model.contains(to, 0, count)
            && u128::from(from) + u128::from(count) <= u128::from(self.segment_len);
        let bytes = inside.then(|| SEGMENT[from as usize..][..count as usize].to_vec());
        self.bulk_call("init", [to, from, count], bytes);
    }

    /// A dropped segment is empty (spec §4.4.7, `data.drop`).
    fn drop_segment(&mut self) {
        self.push("drop".to_owned(), &[], Wanted::Values(vec![]), What::Setup);
        self.segment_len = 0;
        for (from, count) in [(0, 0), (0, 1), (1, 0), (32, 0)] {
            self.init(0, from, count);
        }
    }
}

#[cfg(test)]
mod tests;
