//! References that are in the frame while something is called.
//!
//! ```text
//!  ref ─► base + ref ─► … + 16       of these LLVM keeps what it still needs, or what it makes
//!   │                                of them: an address in front of the object, say
//!   └──► store volatile, before each call behind which one of them is used
//! ```
//!
//! The collector finds an object by its reference or by an address inside (`run/heap/collect.rs`).
//! It may run in any call. What addresses of objects are made of is therefore stored in words of
//! the frame, in front of a call that it is used behind; in a function that allocates, most calls
//! are out of the way.
//!
//! What must stay true:
//! - **Each value that LLVM could make an address from is there itself.** Followed back from the
//!   address of an access, or of what the runtime is to copy, through whatever is computed and
//!   through parameters of blocks; a value that is loaded, returned or given is a reference or an
//!   address as it is.
//! - **The stores are volatile**, as calls are not left out nor moved past one: LLVM's language
//!   reference, "Volatile Memory Accesses". So no word rests on what an optimiser does.
//! - A reference of which no address is made is kept as it is, like those to functions of the host
//!   (`run/marks.rs`).
//!
//! A word keeps what it had until the next store: an object may live longer, none is freed early.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::{
    ArgumentPurpose, Block, BlockArg, Function, Inst, InstructionData, Opcode, Value, ValueDef,
    types,
};
use cranelift_codegen::isa::CallConv;

use super::{Printer, Printing, unknown};
use crate::compile::translate::{accesses_objects, part_of_object};

/// Bits of the sets of one function, at most: 2 MiB.
const BITS_MAX: usize = 1 << 24;
/// What is stored in a function, at most.
const STORES_MAX: usize = 1 << 16;

/// What is stored, and where.
#[derive(Default)]
pub(super) struct Roots {
    before: BTreeMap<Inst, Vec<Value>>,
    words: usize,
}

impl Roots {
    /// Those of a function, of which these blocks can be reached.
    pub(super) fn of(func: &Function, blocks: &[Block]) -> Printing<Roots> {
        if !accesses_objects(func) {
            return Ok(Roots::default());
        }
        let parts = Parts::of(func, blocks);
        if parts.values.len().saturating_mul(blocks.len()) > BITS_MAX {
            return unknown("references to objects in too many blocks");
        }
        let live = Live::of(func, blocks, &parts);
        let mut before = BTreeMap::new();
        let mut stores = 0;
        for (row, block) in blocks.iter().enumerate() {
            let mut behind = live.at_end[row].clone();
            for inst in func.layout.block_insts(*block).rev() {
                for result in func.dfg.inst_results(inst) {
                    behind.remove(&parts, *result);
                }
                if may_collect(func.dfg.insts[inst].opcode()) {
                    let kept: Vec<Value> =
                        behind.places().map(|place| parts.values[place]).collect();
                    stores += kept.len();
                    if stores > STORES_MAX {
                        return unknown("references to objects across too many calls");
                    }
                    before.insert(inst, kept);
                }
                for value in func.dfg.inst_values(inst) {
                    behind.insert(&parts, func.dfg.resolve_aliases(value));
                }
            }
        }
        let words = before.values().map(Vec::len).max().unwrap_or(0);
        Ok(Roots { before, words })
    }

    /// The words of the frame, as a line in front of the first block.
    pub(super) fn allocated(&self) -> String {
        match self.words {
            0 => String::new(),
            words => format!("  %roots = alloca [{words} x i64], align 8\n"),
        }
    }
}

impl Printer<'_> {
    /// Stores what an instruction may have the collector look for.
    pub(super) fn store_roots(&mut self, inst: Inst) {
        let kept = self.roots.before.remove(&inst).unwrap_or_default();
        for (word, value) in kept.into_iter().enumerate() {
            let bytes = word * size_of::<u64>();
            let at = self.temp(&format!("getelementptr i8, ptr %roots, i64 {bytes}"));
            let value = self.op(value);
            self.line(&format!("store volatile i64 {value}, ptr {at}, align 8"));
        }
    }
}

/// Whether objects may be allocated, and so collected, while an instruction is under way.
fn may_collect(opcode: Opcode) -> bool {
    opcode.is_call() || opcode == Opcode::StackSwitch
}

/// What addresses of objects are made of, and the addresses.
struct Parts {
    values: Vec<Value>,
    places: BTreeMap<Value, usize>,
}

impl Parts {
    fn of(func: &Function, blocks: &[Block]) -> Parts {
        let handed = handed(func, blocks);
        let mut work = addresses(func, blocks);
        let mut seen = BTreeSet::new();
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            match handed.get(&value) {
                Some(values) => work.extend(values),
                None => work.extend(operands(func, value)),
            }
        }
        let values = seen.into_iter().filter(|value| is_kept(func, *value));
        let values: Vec<Value> = values.collect();
        let places = values.iter().enumerate();
        let places = places.map(|(place, value)| (*value, place)).collect();
        Parts { values, places }
    }
}

/// Where objects are accessed, or the runtime is to do so.
fn addresses(func: &Function, blocks: &[Block]) -> Vec<Value> {
    let dfg = &func.dfg;
    let mut all = Vec::new();
    let insts = blocks.iter().map(|block| func.layout.block_insts(*block));
    for inst in insts.flatten() {
        let args = dfg.inst_args(inst).iter();
        let args = args.map(|value| dfg.resolve_aliases(*value));
        let called = dfg
            .call_signature(inst)
            .map(|of| dfg.signatures[of].call_conv);
        if called.is_some_and(|convention| convention != CallConv::Tail) {
            all.extend(args);
        } else if part_of_object(func, inst).is_some() {
            // A store's first operand is what it stores.
            let skipped = usize::from(dfg.insts[inst].opcode().can_store());
            all.extend(args.skip(skipped));
        }
    }
    all
}

/// By parameter of a block, what it is handed.
fn handed(func: &Function, blocks: &[Block]) -> BTreeMap<Value, Vec<Value>> {
    let dfg = &func.dfg;
    let mut all: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
    let last = blocks.iter();
    for inst in last.filter_map(|block| func.layout.last_inst(*block)) {
        let to = dfg.insts[inst].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
        for call in to {
            let params = dfg.block_params(call.block(&dfg.value_lists));
            for (param, arg) in params.iter().zip(call.args(&dfg.value_lists)) {
                if let BlockArg::Value(value) = arg {
                    let value = dfg.resolve_aliases(value);
                    all.entry(*param).or_default().push(value);
                }
            }
        }
    }
    all
}

/// Whether a value may be a reference or an address of something in an object: it has 64 bits, and
/// is neither a constant nor the heap's base or the context, which never change.
fn is_kept(func: &Function, value: Value) -> bool {
    let dfg = &func.dfg;
    let is_fixed = |inst: Inst| match dfg.insts[inst] {
        InstructionData::UnaryImm { .. } => true,
        InstructionData::Load { flags, .. } => dfg.mem_flags[flags].readonly(),
        _ => false,
    };
    dfg.value_type(value) == types::I64
        && func.special_param(ArgumentPurpose::VMContext) != Some(value)
        && !dfg.value_def(value).inst().is_some_and(is_fixed)
}

/// The numbers that a value is computed of; nothing where it is loaded, returned or given.
fn operands(func: &Function, value: Value) -> Vec<Value> {
    let dfg = &func.dfg;
    let ValueDef::Result(inst, _) = dfg.value_def(value) else {
        return Vec::new();
    };
    let opcode = dfg.insts[inst].opcode();
    if opcode.can_load() || may_collect(opcode) {
        return Vec::new();
    }
    let args = dfg.inst_args(inst).iter();
    let args = args.map(|value| dfg.resolve_aliases(*value));
    args.filter(|value| [types::I32, types::I64].contains(&dfg.value_type(*value)))
        .collect()
}

/// Some of the values of [`Parts`].
#[derive(Clone, Default)]
struct Set(Vec<u64>);

impl Set {
    fn insert(&mut self, parts: &Parts, value: Value) {
        if let Some(place) = parts.places.get(&value) {
            self.0.resize(self.0.len().max(place / 64 + 1), 0);
            self.0[place / 64] |= 1 << (place % 64);
        }
    }

    fn remove(&mut self, parts: &Parts, value: Value) {
        if let Some(place) = parts.places.get(&value)
            && let Some(word) = self.0.get_mut(place / 64)
        {
            *word &= !(1 << (place % 64));
        }
    }

    /// Takes in what another has but these; whether that was more.
    fn take_in(&mut self, other: &Set, but: &Set) -> bool {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        let mut is_more = false;
        for (at, word) in other.0.iter().enumerate() {
            let more = word & !but.0.get(at).copied().unwrap_or(0) & !self.0[at];
            self.0[at] |= more;
            is_more |= more != 0;
        }
        is_more
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        let words = self.0.iter().enumerate().filter(|(_, word)| **word != 0);
        words.flat_map(|(at, word)| {
            let set = (0..64).filter(move |bit| word >> bit & 1 == 1);
            set.map(move |bit| at * 64 + bit)
        })
    }
}

/// What is used in or behind each block, and behind it.
struct Live {
    at_start: Vec<Set>,
    at_end: Vec<Set>,
}

impl Live {
    fn of(func: &Function, blocks: &[Block], parts: &Parts) -> Live {
        let dfg = &func.dfg;
        let rows = blocks.iter().enumerate();
        let rows: BTreeMap<Block, usize> = rows.map(|(row, block)| (*block, row)).collect();
        let mut live = Live {
            at_start: vec![Set::default(); blocks.len()],
            at_end: vec![Set::default(); blocks.len()],
        };
        let mut made = live.at_start.clone();
        let mut before = vec![Vec::new(); blocks.len()];
        for (row, block) in blocks.iter().enumerate() {
            for inst in func.layout.block_insts(*block).rev() {
                for result in dfg.inst_results(inst) {
                    live.at_start[row].remove(parts, *result);
                    made[row].insert(parts, *result);
                }
                for value in dfg.inst_values(inst) {
                    live.at_start[row].insert(parts, dfg.resolve_aliases(value));
                }
                let data = &dfg.insts[inst];
                let to = data.branch_destination(&dfg.jump_tables, &dfg.exception_tables);
                for call in to {
                    before[rows[&call.block(&dfg.value_lists)]].push(row);
                }
            }
            for param in dfg.block_params(*block) {
                live.at_start[row].remove(parts, *param);
                made[row].insert(parts, *param);
            }
        }
        live.settle(&made, &before);
        live
    }

    /// Hands on to the blocks before each what is used in or behind it and not made in them.
    fn settle(&mut self, made: &[Set], before: &[Vec<usize>]) {
        let mut work: Vec<usize> = (0..made.len()).collect();
        while let Some(row) = work.pop() {
            let used = self.at_start[row].clone();
            for &from in &before[row] {
                self.at_end[from].take_in(&used, &Set::default());
                if self.at_start[from].take_in(&used, &made[from]) {
                    work.push(from);
                }
            }
        }
    }
}
