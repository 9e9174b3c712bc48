//! Accesses at random: instruction, offset and index from a seed, the index such
//! that inside, edges, wrapped sums and anything else are met about as often.

use super::stages::{own, wide};
use super::*;

/// Pages at first; two more are had on the way.
const PAGES: u64 = 2;

/// `count` random accesses to one memory that grows meanwhile.
pub(in super::super) fn random(
    rule: Rule,
    index: Index,
    instructions: Instructions,
    seed: u64,
    count: u64,
) -> Scenario {
    let memory = match index {
        Index::I32 => own(PAGES, PAGES + 2),
        Index::I64 => wide(PAGES, PAGES + 2),
    };
    let memory = Memory {
        instructions,
        ..memory
    };
    let ops: Vec<&Op> = memory.ops().collect();
    let mut plan = Plan::new(rule, memory, Vec::new());
    let mut random = Random(seed);
    for part in 0..3 {
        plan.grow_to(PAGES + part);
        for _ in 0..count.div_ceil(3) {
            plan.any_access(&ops, &mut random);
        }
        plan.compare_whole();
    }
    Scenario {
        name: match index {
            Index::I32 => "random accesses",
            Index::I64 => "64-bit: random accesses",
        },
        essential: false,
        module: module::build(memory, &[]),
        steps: plan.steps,
    }
}

impl Plan {
    fn any_access(&mut self, ops: &[&Op], random: &mut Random) {
        let op = ops[random.below(ops.len() as u64) as usize];
        let offsets = self.index.offsets();
        let offset = offsets[random.below(offsets.len() as u64) as usize];
        let index = self.any_index(random, u64::from(op.width), offset);
        let (text, name) = (
            AccessText::Plain(op.name, offset, index),
            module::access_name(op, offset),
        );
        let wanted = self.wanted_of(op, offset, index, true);
        let mut args = vec![self.index.value(index)];
        let mut stores = None;
        if op.is_store() {
            let value = self.next_value();
            let bytes = op.stored(value);
            if !wanted.is_trap() {
                self.model.write(index + offset, &bytes);
            }
            stores = bytes.first().copied();
            args.push(WireValue::I64(value));
        }
        let access = self.note(text, &wanted, stores);
        let may_have_gone_on = access.outside && op.is_store();
        self.push(name, &args, wanted, What::Access(access));
        if may_have_gone_on {
            // A strategy that is not exact may have changed bytes of the memory.
            self.restore(index.wrapping_add(offset));
        }
    }

    fn any_index(&self, random: &mut Random, width: u64, offset: u64) -> u64 {
        let len = self.model.len();
        let sum = match random.below(4) {
            // Inside, mostly.
            0 => random.below(len),
            // At the end.
            1 => (len - width - 16).wrapping_add(random.below(48)),
            // Of any size.
            2 => random.next() >> random.below(64),
            // Up to where sums wrap, and as much behind it.
            _ => random.below(64).wrapping_sub(32),
        };
        // So that it is the sum with the offset or the index that is there.
        let index = match random.below(3) {
            0 => sum,
            _ => sum.wrapping_sub(offset),
        };
        match self.index {
            Index::I32 => index % (1 << 32),
            Index::I64 => index,
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Below `end`, which is small enough for the remainder to be fair.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
