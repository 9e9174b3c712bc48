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
//! - **Each value that LLVM could make an address from is there itself, or all that it is made of
//!   is.** Followed back from the address of an access, or of what the runtime is to copy, through
//!   arithmetic, selections and parameters of blocks; a value that comes from elsewhere is a
//!   reference or an address, as it was loaded, returned or given.
//! - **The stores are volatile**, as calls are not left out nor moved past one: LLVM's language
//!   reference, "Volatile Memory Accesses". So no word rests on what an optimiser does.
//! - A reference of which no address is made is kept as it is, like those to functions of the host
//!   (`run/marks.rs`).
//!
//! A word keeps what it had until the next store: an object may live longer, none is freed early.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::{
    Block, BlockArg, Function, Inst, InstructionData, Opcode, Value, ValueDef, types,
};

use super::{Printer, Printing, unknown};
use crate::compile::translate::{accesses_objects, is_of_object};

/// Bits of the sets of one function, at most: 2 MiB.
const BITS_MAX: usize = 1 << 24;
/// What is stored in a function, at most.
const STORES_MAX: usize = 1 << 16;
/// How far it is followed what a value is made of, to leave out a store.
const DEPTH_MAX: u32 = 8;

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
            let mut behind = live.at_end(row);
            for inst in func.layout.block_insts(*block).rev() {
                for result in func.dfg.inst_results(inst) {
                    behind.remove(&parts, *result);
                }
                if may_collect(func.dfg.insts[inst].opcode()) {
                    let kept = parts.stored(&behind);
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
struct Parts<'a> {
    func: &'a Function,
    values: Vec<Value>,
    places: BTreeMap<Value, usize>,
}

impl Parts<'_> {
    fn of<'f>(func: &'f Function, blocks: &[Block]) -> Parts<'f> {
        let handed = handed(func, blocks);
        let mut work = addresses(func, blocks);
        let mut all = BTreeSet::new();
        while let Some(value) = work.pop() {
            if !may_be_part(func, value) || !all.insert(value) {
                continue;
            }
            match handed.get(&value) {
                Some(values) => work.extend(values),
                None => work.extend(operands(func, value)),
            }
        }
        let values: Vec<Value> = all.into_iter().collect();
        let places = values.iter().enumerate();
        let places = places.map(|(place, value)| (*value, place)).collect();
        Parts {
            func,
            values,
            places,
        }
    }

    /// Of what is used later, what is to be stored: not what is made of nothing but the others.
    fn stored(&self, live: &Set) -> Vec<Value> {
        let all = live.places().map(|place| self.values[place]);
        all.filter(|value| !self.is_made_of(*value, live, DEPTH_MAX))
            .collect()
    }

    /// Whether all that a value is made of is used later itself, or made of what is.
    fn is_made_of(&self, value: Value, live: &Set, depth: u32) -> bool {
        let parts = operands(self.func, value);
        let mut parts = parts
            .into_iter()
            .filter(|part| self.places.contains_key(part));
        let is_kept = |part: Value| {
            live.has(self.places[&part]) || depth > 0 && self.is_made_of(part, live, depth - 1)
        };
        let Some(first) = parts.next() else {
            return false;
        };
        is_kept(first) && parts.all(is_kept)
    }
}

/// Where objects are accessed, or the runtime is to do so.
fn addresses(func: &Function, blocks: &[Block]) -> Vec<Value> {
    let dfg = &func.dfg;
    let mut all = Vec::new();
    for inst in blocks
        .iter()
        .flat_map(|block| func.layout.block_insts(*block))
    {
        let data = &dfg.insts[inst];
        let args = dfg.inst_args(inst).iter();
        let args = args.map(|value| dfg.resolve_aliases(*value));
        if data.opcode().is_call() {
            all.extend(args.filter(|value| !operands(func, *value).is_empty()));
        } else if is_of_object(func, inst) {
            // A store's first operand is what it stores.
            let skipped = usize::from(data.opcode().can_store());
            all.extend(args.skip(skipped));
        }
    }
    all
}

/// By parameter of a block, what it is handed.
fn handed(func: &Function, blocks: &[Block]) -> BTreeMap<Value, Vec<Value>> {
    let dfg = &func.dfg;
    let mut all: BTreeMap<Value, Vec<Value>> = BTreeMap::new();
    for inst in blocks
        .iter()
        .filter_map(|block| func.layout.last_inst(*block))
    {
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
/// is neither a constant nor the heap's base, which never changes.
fn may_be_part(func: &Function, value: Value) -> bool {
    let dfg = &func.dfg;
    if dfg.value_type(value) != types::I64 {
        return false;
    }
    let ValueDef::Result(inst, _) = dfg.value_def(value) else {
        return true;
    };
    match dfg.insts[inst] {
        InstructionData::UnaryImm { .. } => false,
        InstructionData::Load { flags, .. } => !dfg.mem_flags[flags].readonly(),
        _ => true,
    }
}

/// What an address or a reference is made of by arithmetic or selection; nothing where it is not.
fn operands(func: &Function, value: Value) -> Vec<Value> {
    let dfg = &func.dfg;
    let ValueDef::Result(inst, _) = dfg.value_def(value) else {
        return Vec::new();
    };
    let args = dfg.inst_args(inst).iter();
    let args: Vec<Value> = args.map(|value| dfg.resolve_aliases(*value)).collect();
    match dfg.insts[inst].opcode() {
        Opcode::Iadd | Opcode::Isub | Opcode::Band | Opcode::Bor => args,
        Opcode::Select | Opcode::SelectSpectreGuard => args[1..].to_vec(),
        // The lower half of a reference.
        Opcode::Uextend => match dfg.value_def(args[0]) {
            ValueDef::Result(inst, _) if dfg.insts[inst].opcode() == Opcode::Ireduce => {
                vec![dfg.resolve_aliases(dfg.inst_args(inst)[0])]
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Some of the values of [`Parts`].
#[derive(Clone, Default)]
struct Set(Vec<u64>);

impl Set {
    fn has(&self, place: usize) -> bool {
        let word = self.0.get(place / 64).copied().unwrap_or(0);
        word >> (place % 64) & 1 == 1
    }

    fn insert(&mut self, parts: &Parts<'_>, value: Value) {
        if let Some(place) = parts.places.get(&value) {
            self.0.resize(self.0.len().max(place / 64 + 1), 0);
            self.0[place / 64] |= 1 << (place % 64);
        }
    }

    fn remove(&mut self, parts: &Parts<'_>, value: Value) {
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
        (0..self.0.len() * 64).filter(|place| self.has(*place))
    }
}

/// What is used in or behind each block.
struct Live {
    /// By block: which come next.
    next: Vec<Vec<usize>>,
    at_start: Vec<Set>,
}

impl Live {
    fn of(func: &Function, blocks: &[Block], parts: &Parts<'_>) -> Live {
        let rows = blocks.iter().enumerate();
        let rows: BTreeMap<Block, usize> = rows.map(|(row, block)| (*block, row)).collect();
        let mut live = Live {
            next: Vec::new(),
            at_start: vec![Set::default(); blocks.len()],
        };
        let mut made = vec![Set::default(); blocks.len()];
        let dfg = &func.dfg;
        for (row, block) in blocks.iter().enumerate() {
            for inst in func.layout.block_insts(*block).rev() {
                for result in dfg.inst_results(inst) {
                    live.at_start[row].remove(parts, *result);
                    made[row].insert(parts, *result);
                }
                for value in dfg.inst_values(inst) {
                    live.at_start[row].insert(parts, dfg.resolve_aliases(value));
                }
            }
            for param in dfg.block_params(*block) {
                live.at_start[row].remove(parts, *param);
                made[row].insert(parts, *param);
            }
            let to = func.layout.last_inst(*block).map_or(&[][..], |last| {
                dfg.insts[last].branch_destination(&dfg.jump_tables, &dfg.exception_tables)
            });
            let to = to.iter().map(|call| rows[&call.block(&dfg.value_lists)]);
            live.next.push(to.collect());
        }
        live.settle(&made);
        live
    }

    /// Hands on to each block what is used behind it and not made in it.
    fn settle(&mut self, made: &[Set]) {
        let mut is_more = true;
        while is_more {
            is_more = false;
            for row in (0..made.len()).rev() {
                let behind = self.at_end(row);
                is_more |= self.at_start[row].take_in(&behind, &made[row]);
            }
        }
    }

    fn at_end(&self, row: usize) -> Set {
        let mut all = Set::default();
        for next in &self.next[row] {
            all.take_in(&self.at_start[*next], &Set::default());
        }
        all
    }
}
