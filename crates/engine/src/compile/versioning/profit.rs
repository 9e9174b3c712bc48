//! Whether anything is gained by a second version of a loop.
//!
//! Gained is that several iterations run at once, that what is stored stays in a register, or
//! that a check is left out. What it costs is the comparison in front, each time that the loop
//! is begun. So a loop without stores and checks stays as it is where its iterations have to
//! wait for one another.
//!
//! They have to where an iteration makes a value of the one that it was handed, other than by
//! counting, and
//!
//! - it is no integer: a sum of floats is not computed in another order, a least one is chosen
//!   by a comparison that a NaN decides, and a vector stays as wide as it is, so LLVM keeps the
//!   order of all three;
//! - or another such value is made of it: the place of the least one, of the least one.
//!
//! Either version is exact, so nothing but time depends on this.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::{BlockArg, Function, Inst, InstructionData, Value};

use super::shape::Shape;
use super::walk::Walks;
use crate::bounds::offset_and_check;

/// Values that are handed on at most: a loop that hands on more is not looked into.
const CARRIED_MAX: usize = 64;

/// Whether a loop of these accesses should have a second version, each with
/// the address that the first version computes.
pub(super) fn is_some(
    func: &Function,
    shape: &Shape,
    walks: &mut Walks<'_>,
    accesses: &[(Inst, Value)],
) -> bool {
    if accesses
        .iter()
        .any(|(inst, _)| func.dfg.insts[*inst].opcode().can_store())
    {
        return true;
    }
    let sources = Sources::new(func, shape);
    let addresses = accesses.iter().map(|(_, address)| *address).collect();
    is_checked(&sources, walks, addresses) || !is_in_turn(&sources, walks)
}

/// Whether an iteration checks an access, or guards one against speculation.
fn is_checked(sources: &Sources<'_>, walks: &mut Walks<'_>, addresses: Vec<Value>) -> bool {
    let (func, shape) = (sources.func, sources.shape);
    let is_check = |inst: Inst| {
        let about = offset_and_check(func.srcloc(inst));
        about.is_some_and(|(_, is_check)| is_check)
    };
    let traps = |inst: Inst| matches!(func.dfg.insts[inst], InstructionData::CondTrap { .. });
    let mut blocks = shape.blocks.iter();
    if blocks.any(|block| {
        func.layout
            .block_insts(*block)
            .any(|inst| is_check(inst) && traps(inst))
    }) {
        return true;
    }
    let mut made_of = sources.of(addresses).into_iter();
    made_of.any(|value| {
        let inst = func.dfg.value_def(value).inst();
        inst.is_some_and(is_check) && !walks.is_fixed(value)
    })
}

/// Whether iterations have to wait for one another.
fn is_in_turn(sources: &Sources<'_>, walks: &mut Walks<'_>) -> bool {
    let (func, shape) = (sources.func, sources.shape);
    let params = func.dfg.block_params(shape.header);
    if params.len() > CARRIED_MAX {
        return false;
    }
    let mut carried = Vec::new();
    for (number, param) in params.iter().enumerate() {
        let next = shape.next(func, number).filter(|next| next != param);
        if let Some(next) = next
            && walks.of(*param).is_none()
        {
            carried.push((*param, sources.of(vec![next])));
        }
    }
    carried.iter().any(|(value, made_of)| {
        let is_integer = func.dfg.value_type(*value).is_int();
        let mut others = carried.iter().filter(|(other, _)| other != value);
        made_of.contains(value) && (!is_integer || others.any(|(_, of)| of.contains(value)))
    })
}

/// What values are made of in one iteration of a loop.
struct Sources<'a> {
    func: &'a Function,
    shape: &'a Shape,
    /// What its blocks hand to one another, by parameter.
    handed: HashMap<Value, Vec<Value>>,
}

impl<'a> Sources<'a> {
    fn new(func: &'a Function, shape: &'a Shape) -> Sources<'a> {
        let dfg = &func.dfg;
        let mut handed: HashMap<Value, Vec<Value>> = HashMap::new();
        let branches = shape
            .blocks
            .iter()
            .filter_map(|block| func.layout.last_inst(*block));
        for branch in branches {
            for call in
                dfg.insts[branch].branch_destination(&dfg.jump_tables, &dfg.exception_tables)
            {
                let to = call.block(&dfg.value_lists);
                if to == shape.header || !shape.contains(to) {
                    continue;
                }
                for (param, arg) in dfg.block_params(to).iter().zip(call.args(&dfg.value_lists)) {
                    if let BlockArg::Value(value) = arg {
                        handed.entry(*param).or_default().push(value);
                    }
                }
            }
        }
        Sources {
            func,
            shape,
            handed,
        }
    }

    /// Those values, what they are made of, and so on, up to parameters of the header.
    fn of(&self, mut work: Vec<Value>) -> HashSet<Value> {
        let dfg = &self.func.dfg;
        let mut found = HashSet::new();
        while let Some(value) = work.pop() {
            let value = dfg.resolve_aliases(value);
            if !self.shape.defines(self.func, value) || !found.insert(value) {
                continue;
            }
            match dfg.value_def(value).inst() {
                Some(inst) => work.extend_from_slice(dfg.inst_args(inst)),
                None => work.extend(self.handed.get(&value).into_iter().flatten()),
            }
        }
        found
    }
}
