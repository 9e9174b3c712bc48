//! A loop gets a second version.
//!
//! ```text
//!           │                         │
//!           ▼                     ┌───▼────┐ no
//!      ┌─►header                  │ check  ├──────────┐
//!      │    ⋮                     └───┬────┘          ▼
//!      │   exit ──► behind            ▼ yes      ┌─►header
//!      └──latch                    begin         │    ⋮
//!                                     ▼          │   exit ─────┐
//!                                ┌─►header'      └──latch      │
//!                                │    ⋮                        ▼
//!                                │   exit' ──► end ─────────► join ──► behind
//!                                └──latch'
//! ```
//!
//! `begin` and `end` have a marker each that nothing moves across. What is used behind the
//! loop comes out of either version as a parameter of `join`.

use std::collections::HashMap;

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockArg, BlockCall, Function, Inst, InstBuilder, InstructionData, Value, types,
};

use super::body::{Body, Place};
use super::preheader::{self, Start, insts};
use super::{Apart, Part};

/// Gives each of these loops a second version. `out` is what of their values is used
/// outside of them.
pub(super) fn apply(func: &mut Function, bodies: &[(Body<'_>, Vec<Value>)]) -> Apart {
    let mut entries = entries(func, bodies);
    let mut of_block: SecondaryMap<Block, u32> = SecondaryMap::with_default(u32::MAX);
    for (number, (body, _)) in bodies.iter().enumerate() {
        for block in &body.shape.blocks {
            of_block[*block] = number as u32;
        }
    }
    let mut moved: HashMap<Value, (u32, Value)> = HashMap::new();
    let mut apart = Apart::new();
    for (number, (body, out)) in bodies.iter().enumerate() {
        let join = join(func, body, out, &mut entries);
        let params = func.dfg.block_params(join).iter().copied();
        let of_loop = params.map(|param| (number as u32, param));
        moved.extend(out.iter().copied().zip(of_loop));
        let places = double(func, body, out, join, &entries[&body.shape.header]);
        let part = |(inst, place): (Inst, Place)| {
            let part = Part {
                of_loop: number as u32,
                group: place.group,
                others: body.apart_from(place.group),
            };
            (inst, part)
        };
        apart.extend(places.into_iter().map(part));
    }
    rename(func, &of_block, &moved);
    apart
}

/// The branches to the headers from elsewhere.
fn entries(func: &Function, bodies: &[(Body<'_>, Vec<Value>)]) -> HashMap<Block, Vec<Inst>> {
    let bodies_by_header: HashMap<Block, &Body<'_>> = bodies
        .iter()
        .map(|(body, _)| (body.shape.header, body))
        .collect();
    let mut entries: HashMap<Block, Vec<Inst>> = bodies_by_header
        .keys()
        .map(|header| (*header, Vec::new()))
        .collect();
    for block in func.layout.blocks() {
        let Some(last) = func.layout.last_inst(block) else {
            continue;
        };
        let dfg = &func.dfg;
        let calls = dfg.insts[last].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
        for call in calls {
            let to = call.block(&dfg.value_lists);
            if let Some(body) = bodies_by_header.get(&to)
                && !body.shape.contains(block)
            {
                entries.get_mut(&to).expect("a header's").push(last);
            }
        }
    }
    entries
}

/// Where a branch goes.
fn calls_mut(func: &mut Function, branch: Inst) -> &mut [BlockCall] {
    let dfg = &mut func.dfg;
    dfg.insts[branch].branch_destination_mut(&mut dfg.jump_tables, &mut dfg.exception_tables)
}

/// Has a loop leave through a block of its own.
fn join(
    func: &mut Function,
    body: &Body<'_>,
    out: &[Value],
    entries: &mut HashMap<Block, Vec<Inst>>,
) -> Block {
    let join = func.dfg.make_block();
    func.layout.append_block(join);
    for value in out {
        let ty = func.dfg.value_type(*value);
        func.dfg.append_block_param(join, ty);
    }
    let exit = body.shape.exit;
    let at = usize::from(!body.shape.leaves_if);
    let call = calls_mut(func, exit)[at];
    let to = call.block(&func.dfg.value_lists);
    let args: Vec<BlockArg> = call.args(&func.dfg.value_lists).collect();
    let location = func.srcloc(exit);
    let mut cursor = FuncCursor::new(func).with_srcloc(location);
    cursor.goto_bottom(join);
    let jump = cursor.ins().jump(to, &args);
    let handed = out.iter().map(|value| BlockArg::Value(*value));
    let call = BlockCall::new(join, handed, &mut func.dfg.value_lists);
    calls_mut(func, exit)[at] = call;
    if let Some(branches) = entries.get_mut(&to) {
        for branch in branches.iter_mut().filter(|branch| **branch == exit) {
            *branch = jump;
        }
    }
    join
}

/// Appends the second version, and says where its accesses go.
fn double(
    func: &mut Function,
    body: &Body<'_>,
    out: &[Value],
    join: Block,
    entries: &[Inst],
) -> Vec<(Inst, Place)> {
    let header = body.shape.header;
    let [check, begin] = [(); 2].map(|()| {
        let block = func.dfg.make_block();
        func.layout.append_block(block);
        block
    });
    let mut firsts = Vec::new();
    for param in func.dfg.block_params(header).to_vec() {
        let ty = func.dfg.value_type(param);
        firsts.push(func.dfg.append_block_param(check, ty));
    }
    for entry in entries {
        redirect(func, *entry, header, check);
    }
    let location = func.srcloc(func.layout.first_inst(header).expect("a branch at least"));
    let start = preheader::emit(func, body, check, begin, &firsts, location);
    let (first, places) = Second::copy(func, body, start, out, join);
    let mut cursor = FuncCursor::new(func).with_srcloc(location);
    cursor.goto_bottom(begin);
    cursor.ins().sequence_point();
    let none = cursor.ins().iconst(types::I64, 0);
    let args = firsts.into_iter().chain([none]);
    let args: Vec<BlockArg> = args.map(BlockArg::Value).collect();
    cursor.ins().jump(first, &args);
    places
}

/// Has a branch go elsewhere.
fn redirect(func: &mut Function, branch: Inst, from: Block, to: Block) {
    let dfg = &mut func.dfg;
    let calls =
        dfg.insts[branch].branch_destination_mut(&mut dfg.jump_tables, &mut dfg.exception_tables);
    for call in calls {
        if call.block(&dfg.value_lists) == from {
            call.set_block(to, &mut dfg.value_lists);
        }
    }
}

/// The second version of a loop, in the making.
struct Second<'a> {
    body: &'a Body<'a>,
    start: Start,
    blocks: HashMap<Block, Block>,
    values: HashMap<Value, Value>,
    /// The number of the iteration, and that of the next one.
    iteration: Value,
    /// Where it leaves.
    end: Block,
    copied: Vec<Inst>,
    places: Vec<(Inst, Place)>,
}

impl Second<'_> {
    /// Copies a loop: its header, and where its accesses go.
    fn copy(
        func: &mut Function,
        body: &Body<'_>,
        start: Start,
        out: &[Value],
        join: Block,
    ) -> (Block, Vec<(Inst, Place)>) {
        let (mut blocks, mut values) = (HashMap::new(), start.copies.clone());
        for block in &body.shape.blocks {
            let copy = func.dfg.make_block();
            func.layout.append_block(copy);
            blocks.insert(*block, copy);
            for param in func.dfg.block_params(*block).to_vec() {
                let ty = func.dfg.value_type(param);
                values.insert(param, func.dfg.append_block_param(copy, ty));
            }
        }
        let header = blocks[&body.shape.header];
        let iteration = func.dfg.append_block_param(header, types::I64);
        let end = func.dfg.make_block();
        func.layout.append_block(end);
        let mut second = Second {
            body,
            start,
            blocks,
            values,
            iteration,
            end,
            copied: Vec::new(),
            places: Vec::new(),
        };
        for block in &body.shape.blocks {
            second.block(func, *block);
        }
        for inst in &second.copied {
            let args: Vec<Value> = func.dfg.inst_values(*inst).collect();
            let args: Vec<Value> = args
                .into_iter()
                .map(|value| second.value(func, value))
                .collect();
            func.dfg.overwrite_inst_values(*inst, args.into_iter());
        }
        let out = out.iter().map(|value| second.value(func, *value));
        let out: Vec<BlockArg> = out.map(BlockArg::Value).collect();
        let location = func.srcloc(body.shape.exit);
        let mut cursor = FuncCursor::new(func).with_srcloc(location);
        cursor.goto_bottom(end);
        cursor.ins().sequence_point();
        cursor.ins().jump(join, &out);
        (header, second.places)
    }

    fn value(&self, func: &Function, value: Value) -> Value {
        let value = func.dfg.resolve_aliases(value);
        self.values.get(&value).copied().unwrap_or(value)
    }

    fn block(&mut self, func: &mut Function, block: Block) {
        let to = self.blocks[&block];
        for inst in insts(func, block) {
            if !self.body.needed.contains(inst) || self.body.fixed.contains(inst) {
                continue;
            }
            let location = func.srcloc(inst);
            let is_branch = func.dfg.insts[inst].opcode().is_branch();
            let mut cursor = FuncCursor::new(func).with_srcloc(location);
            cursor.goto_bottom(to);
            let copy = cursor.func.dfg.clone_inst(inst);
            if let Some(place) = self.body.places.get(&inst) {
                self.places.push((copy, *place));
                let address = self.address(&mut cursor, inst);
                prove(cursor.func, copy, address);
            }
            match is_branch {
                true => self.branch(&mut cursor, inst, copy),
                false => cursor.insert_inst(copy),
            }
            let results = func.dfg.inst_results(inst).to_vec();
            let copied = func.dfg.inst_results(copy).to_vec();
            self.values.extend(results.into_iter().zip(copied));
            self.copied.push(copy);
        }
    }

    /// The address of an access, and what the access adds to it.
    fn address(&self, cursor: &mut FuncCursor<'_>, inst: Inst) -> (Value, i32) {
        let place = self.body.places[&inst];
        let (first, step) = (
            self.start.addresses[place.group],
            self.body.groups[place.group].walk.step / self.body.turns,
        );
        let walked = match step {
            0 => return (first, place.displacement),
            1 => self.iteration,
            step => {
                let step = cursor.ins().iconst(types::I64, step);
                cursor.ins().imul(self.iteration, step)
            }
        };
        (cursor.ins().iadd(first, walked), place.displacement)
    }

    /// Inserts a copied branch.
    fn branch(&self, cursor: &mut FuncCursor<'_>, inst: Inst, copy: Inst) {
        let shape = self.body.shape;
        if inst == shape.exit {
            let cond = if shape.leaves_if {
                IntCC::Equal
            } else {
                IntCC::NotEqual
            };
            let (at, trips) = (self.iteration, self.start.trips);
            let goes_on = cursor.ins().icmp(cond, at, trips);
            let leaves = usize::from(!shape.leaves_if);
            let to_end = BlockCall::new(self.end, [], &mut cursor.func.dfg.value_lists);
            if let InstructionData::Brif { arg, blocks, .. } = &mut cursor.func.dfg.insts[copy] {
                *arg = goes_on;
                blocks[leaves] = to_end;
            }
        }
        let next = (inst == shape.latch).then(|| cursor.ins().iadd_imm_s(self.iteration, 1));
        let header = self.blocks[&shape.header];
        let dfg = &mut cursor.func.dfg;
        let calls =
            dfg.insts[copy].branch_destination_mut(&mut dfg.jump_tables, &mut dfg.exception_tables);
        for call in calls {
            let Some(to) = self.blocks.get(&call.block(&dfg.value_lists)) else {
                continue;
            };
            call.set_block(*to, &mut dfg.value_lists);
            if let Some(next) = next.filter(|_| *to == header) {
                call.append_argument(next, &mut dfg.value_lists);
            }
        }
        cursor.insert_inst(copy);
    }
}

/// Makes an access one that does not fault, somewhere else.
fn prove(func: &mut Function, inst: Inst, (address, displacement): (Value, i32)) {
    let old = match func.dfg.insts[inst] {
        InstructionData::Load { flags, .. } | InstructionData::Store { flags, .. } => flags,
        _ => return,
    };
    let proved = func.dfg.mem_flags[old].with_notrap().with_can_move();
    let proved = func
        .dfg
        .mem_flags
        .insert(proved)
        .expect("one more for each memory");
    match &mut func.dfg.insts[inst] {
        InstructionData::Load {
            flags, arg, offset, ..
        } => (*flags, *arg, *offset) = (proved, address, displacement.into()),
        InstructionData::Store {
            flags,
            args,
            offset,
            ..
        } => (*flags, args[1], *offset) = (proved, address, displacement.into()),
        _ => {}
    }
}

/// Outside of a loop, its values are what the join has.
fn rename(
    func: &mut Function,
    of_block: &SecondaryMap<Block, u32>,
    moved: &HashMap<Value, (u32, Value)>,
) {
    let blocks: Vec<Block> = func.layout.blocks().collect();
    for block in blocks {
        for inst in insts(func, block) {
            let args: Vec<Value> = func.dfg.inst_values(inst).collect();
            let mut is_other = false;
            let args: Vec<Value> = args
                .into_iter()
                .map(|value| {
                    let value = func.dfg.resolve_aliases(value);
                    match moved.get(&value) {
                        Some((of, param)) if of_block[block] != *of => {
                            is_other = true;
                            *param
                        }
                        _ => value,
                    }
                })
                .collect();
            if is_other {
                func.dfg.overwrite_inst_values(inst, args.into_iter());
            }
        }
    }
}
