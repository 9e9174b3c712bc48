//! Loops of a shape that can be counted: innermost, with one way out and one way back.

use cranelift_codegen::Context;
use cranelift_codegen::entity::EntitySet;
use cranelift_codegen::ir::{Block, BlockArg, Function, Inst, InstructionData, Value, ValueDef};

/// Instructions of a loop at most: a second version of a longer one costs more than it
/// gives.
const INSTRUCTIONS_MAX: usize = 600;

/// An innermost loop.
#[derive(Debug)]
pub(super) struct Shape {
    pub header: Block,
    /// Its blocks, in the order of the layout.
    pub blocks: Vec<Block>,
    inside: EntitySet<Block>,
    /// The branch back to the header.
    pub latch: Inst,
    /// The branch that leaves, in each iteration that has a next one.
    pub exit: Inst,
    /// Whether it leaves where its condition holds.
    pub leaves_if: bool,
}

impl Shape {
    pub(super) fn contains(&self, block: Block) -> bool {
        self.inside.contains(block)
    }

    /// Whether a value, no alias, is one of the loop's.
    pub(super) fn defines(&self, func: &Function, value: Value) -> bool {
        defined_in(func, value).is_none_or(|block| self.contains(block))
    }

    /// What the branch that leaves hands to the block behind.
    pub(super) fn handed_out(&self, func: &Function) -> Vec<Value> {
        let InstructionData::Brif { blocks, .. } = func.dfg.insts[self.exit] else {
            return Vec::new();
        };
        let call = blocks[usize::from(!self.leaves_if)];
        let args = call.args(&func.dfg.value_lists);
        let values = args.filter_map(|arg| match arg {
            BlockArg::Value(value) => Some(func.dfg.resolve_aliases(value)),
            _ => None,
        });
        values.collect()
    }

    /// What an iteration hands to the next one as a parameter of the header.
    pub(super) fn next(&self, func: &Function, number: usize) -> Option<Value> {
        let dfg = &func.dfg;
        let pool = &dfg.value_lists;
        let calls =
            dfg.insts[self.latch].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
        let call = calls.iter().find(|call| call.block(pool) == self.header)?;
        match call.args(pool).nth(number)? {
            BlockArg::Value(value) => Some(dfg.resolve_aliases(value)),
            _ => None,
        }
    }
}

/// The block that a value is defined in.
fn defined_in(func: &Function, value: Value) -> Option<Block> {
    match func.dfg.value_def(value) {
        ValueDef::Param(block, _) => Some(block),
        ValueDef::Result(inst, _) => func.layout.inst_block(inst),
        ValueDef::Union(..) => None,
    }
}

/// The loops of a function, whose loop analysis is there.
pub(super) fn find(context: &Context) -> Vec<Shape> {
    let (func, analysis) = (&context.func, &context.loop_analysis);
    let count = analysis.loops().count();
    let mut blocks: Vec<Vec<Block>> = vec![Vec::new(); count];
    let mut is_innermost = vec![true; count];
    for of in analysis.loops() {
        if let Some(parent) = analysis.loop_parent(of) {
            is_innermost[parent.as_u32() as usize] = false;
        }
    }
    for block in func.layout.blocks() {
        if let Some(of) = analysis.innermost_loop(block) {
            blocks[of.as_u32() as usize].push(block);
        }
    }
    let mut shapes = Vec::new();
    for of in analysis.loops() {
        let at = of.as_u32() as usize;
        if is_innermost[at] {
            let blocks = std::mem::take(&mut blocks[at]);
            shapes.extend(shape(context, analysis.loop_header(of), blocks));
        }
    }
    shapes
}

fn shape(context: &Context, header: Block, blocks: Vec<Block>) -> Option<Shape> {
    let func = &context.func;
    if func.layout.entry_block() == Some(header) {
        return None;
    }
    let mut inside = EntitySet::new();
    for block in &blocks {
        inside.insert(*block);
    }
    let count: usize = blocks
        .iter()
        .map(|block| func.layout.block_insts(*block).count())
        .sum();
    if count > INSTRUCTIONS_MAX {
        return None;
    }
    let (mut latches, mut exits) = (Vec::new(), Vec::new());
    for block in &blocks {
        let branch = func.layout.last_inst(*block)?;
        let calls = match &func.dfg.insts[branch] {
            InstructionData::Jump { destination, .. } => std::slice::from_ref(destination),
            InstructionData::Brif { blocks, .. } => &blocks[..],
            _ => return None,
        };
        for (i, call) in calls.iter().enumerate() {
            let to = call.block(&func.dfg.value_lists);
            if to == header {
                latches.push((*block, branch));
            } else if !inside.contains(to) {
                exits.push((*block, branch, i == 0));
            }
        }
    }
    let ([(latch_block, latch)], [(exit_block, exit, leaves_if)]) = (&latches[..], &exits[..])
    else {
        return None;
    };
    let is_branch = matches!(func.dfg.insts[*exit], InstructionData::Brif { .. });
    let in_each = context.domtree.block_dominates(*exit_block, *latch_block);
    (is_branch && in_each).then_some(Shape {
        header,
        blocks,
        inside,
        latch: *latch,
        exit: *exit,
        leaves_if: *leaves_if,
    })
}
