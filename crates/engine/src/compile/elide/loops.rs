//! Loops: how they are entered and repeated, and what a value becomes from one
//! iteration to the next.

use std::collections::HashMap;

use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::{Block, BlockArg, Function, Inst, Opcode, Value, ValueDef};
use cranelift_codegen::loop_analysis::{Loop, LoopAnalysis};
use smallvec::SmallVec;

use super::form::{Forms, Linear, is_integer, signed};
use super::range::{self, Range};

/// Joins that are followed from one value, one after the other, and ways in all.
const DEPTH_MAX: u32 = 3;
const WAYS_MAX: u32 = 200;
/// Branches back to a header.
const LATCHES_MAX: usize = 16;
/// An index that changes by more from one iteration to the next keeps its check.
const STEP_MAX: i64 = 1 << 32;

/// A loop that is entered by one jump.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub header: Block,
    /// The jump, at the end of the block in front of the loop.
    pub entry: Inst,
    /// The branches back to the header, and their blocks.
    latches: SmallVec<[(Block, Inst); 2]>,
}

/// What the pass knows of loops.
pub(super) struct Loops<'a> {
    cfg: &'a ControlFlowGraph,
    domtree: &'a DominatorTree,
    analysis: &'a LoopAnalysis,
    /// The numbers of a loop and of all inside it, which follow one another.
    numbers: SecondaryMap<Loop, (u32, u32)>,
    shapes: HashMap<Loop, Option<Shape>>,
    steps: HashMap<Value, Option<Range>>,
}

/// An index inside a loop.
pub(super) struct Affine {
    /// What it is in the first iteration, in terms of values outside.
    pub first: Linear,
    /// What one iteration adds.
    pub step: Range,
    /// The terms that do not change in the loop, and the constant.
    pub fixed: Linear,
    /// The other terms: parameters of the header.
    pub varying: Linear,
}

impl<'a> Loops<'a> {
    pub fn new(
        cfg: &'a ControlFlowGraph,
        domtree: &'a DominatorTree,
        analysis: &'a LoopAnalysis,
    ) -> Loops<'a> {
        Loops {
            cfg,
            domtree,
            analysis,
            numbers: numbers(analysis),
            shapes: HashMap::new(),
            steps: HashMap::new(),
        }
    }

    /// The innermost loop around a block, if the block is in each of its
    /// iterations that reaches a next one, and entered by one jump.
    pub fn around(&mut self, func: &Function, block: Block) -> Option<(Loop, Shape)> {
        let innermost = self.analysis.innermost_loop(block)?;
        let shape = self.shape(func, innermost)?;
        let always = shape
            .latches
            .iter()
            .all(|(latch, _)| self.domtree.block_dominates(block, *latch));
        always.then_some((innermost, shape))
    }

    /// Whether a block is in a loop.
    pub fn contains(&self, of: Loop, block: Block) -> bool {
        self.analysis
            .innermost_loop(block)
            .is_some_and(|innermost| {
                let (first, behind) = self.numbers[of];
                (first..behind).contains(&self.numbers[innermost].0)
            })
    }

    fn shape(&mut self, func: &Function, of: Loop) -> Option<Shape> {
        if let Some(known) = self.shapes.get(&of) {
            return known.clone();
        }
        let header = self.analysis.loop_header(of);
        let mut latches = SmallVec::new();
        let mut entries: SmallVec<[Inst; 1]> = SmallVec::new();
        for pred in self.cfg.pred_iter(header) {
            if self.domtree.block_dominates(header, pred.block) {
                latches.push((pred.block, pred.inst));
            } else if self.domtree.is_reachable(pred.block) {
                entries.push(pred.inst);
            }
        }
        let shape = match entries[..] {
            [entry]
                if func.dfg.insts[entry].opcode() == Opcode::Jump
                    && latches.len() <= LATCHES_MAX =>
            {
                Some(Shape {
                    header,
                    entry,
                    latches,
                })
            }
            _ => None,
        };
        self.shapes.insert(of, shape.clone());
        shape
    }

    /// An index taken apart, if what varies of it in the loop does so by steps.
    pub fn affine(
        &mut self,
        func: &Function,
        forms: &mut Forms,
        of: Loop,
        shape: &Shape,
        index: &Linear,
        bits: u32,
    ) -> Option<Affine> {
        let constant = Linear {
            constant: index.constant,
            ..Linear::default()
        };
        let mut found = Affine {
            first: constant.clone(),
            step: Range { lo: 0, hi: 0 },
            fixed: constant,
            varying: Linear::default(),
        };
        for &(value, factor) in &index.terms {
            let term = Linear {
                terms: SmallVec::from_slice(&[(value, factor)]),
                constant: 0,
            };
            if !self.contains(of, defined_in(func, value)?) {
                found.first.add(&term, 1, bits).then_some(())?;
                found.fixed.add(&term, 1, bits).then_some(())?;
                continue;
            }
            let step = self.step(func, forms, shape, value)?;
            found.step = found.step.plus(step.times(signed(factor, bits))?)?;
            let first = first_value(func, shape, value)?;
            let first = forms.linear(&func.dfg, first);
            found.first.add(&first, factor, bits).then_some(())?;
            found.varying.add(&term, 1, bits).then_some(())?;
        }
        let is_small = found.step.lo.max(-STEP_MAX) == found.step.lo && found.step.hi <= STEP_MAX;
        is_small.then_some(found)
    }

    /// What one iteration adds to a parameter of the header.
    fn step(
        &mut self,
        func: &Function,
        forms: &mut Forms,
        shape: &Shape,
        value: Value,
    ) -> Option<Range> {
        if let Some(known) = self.steps.get(&value) {
            return *known;
        }
        let step = self.step_of(func, forms, shape, value);
        self.steps.insert(value, step);
        step
    }

    fn step_of(
        &self,
        func: &Function,
        forms: &mut Forms,
        shape: &Shape,
        value: Value,
    ) -> Option<Range> {
        let ValueDef::Param(block, number) = func.dfg.value_def(value) else {
            return None;
        };
        if block != shape.header {
            return None;
        }
        let mut all: Option<Range> = None;
        let mut most = WAYS_MAX;
        for &(_, latch) in &shape.latches {
            for next in args_to(func, latch, block, number)? {
                let step = self.difference(func, forms, next, value, DEPTH_MAX, &mut most)?;
                all = Some(all.map_or(step, |all| all.hull(step)));
            }
        }
        all
    }

    /// `next - from`, where `next` is `from` and something of a known range, on
    /// each way that leads to it.
    fn difference(
        &self,
        func: &Function,
        forms: &mut Forms,
        next: Value,
        from: Value,
        depth: u32,
        most: &mut u32,
    ) -> Option<Range> {
        *most = most.checked_sub(1)?;
        let dfg = &func.dfg;
        let bits = dfg.value_type(from).bits();
        let form = forms.linear(dfg, next);
        let at = form.terms.iter().position(|term| *term == (from, 1));
        if let Some(at) = at {
            return sum_of_ranges(func, &form.without(at), bits);
        }
        // The join of several ways, none of them around the loop again.
        let &[(join, 1)] = &form.terms[..] else {
            return None;
        };
        if depth == 0 {
            return None;
        }
        let constant = signed(form.constant, bits);
        let constant = Range {
            lo: constant,
            hi: constant,
        };
        let mut ways: SmallVec<[Value; 4]> = SmallVec::new();
        match dfg.value_def(join) {
            ValueDef::Param(block, number) => {
                if self.analysis.is_loop_header(block).is_some() {
                    return None;
                }
                for pred in self.cfg.pred_iter(block) {
                    ways.extend(args_to(func, pred.inst, block, number)?);
                }
            }
            ValueDef::Result(inst, _) if dfg.insts[inst].opcode() == Opcode::Select => {
                ways.extend_from_slice(&dfg.inst_args(inst)[1..]);
            }
            _ => return None,
        }
        let mut all: Option<Range> = None;
        for way in ways {
            let step = self.difference(func, forms, way, from, depth - 1, most)?;
            all = Some(all.map_or(step, |all| all.hull(step)));
        }
        all?.plus(constant)
    }
}

/// Numbers loops so that it takes one comparison to tell whether one is in
/// another, however deep they are. A loop stands behind the one it is in.
fn numbers(analysis: &LoopAnalysis) -> SecondaryMap<Loop, (u32, u32)> {
    let mut inside: SecondaryMap<Loop, u32> = SecondaryMap::with_default(1);
    for of in analysis.loops().rev() {
        if let Some(parent) = analysis.loop_parent(of) {
            inside[parent] += inside[of];
        }
    }
    let mut numbers: SecondaryMap<Loop, (u32, u32)> = SecondaryMap::new();
    // The next number inside a loop, and outside of all.
    let mut next: SecondaryMap<Loop, u32> = SecondaryMap::new();
    let mut outside = 0;
    for of in analysis.loops() {
        let first = match analysis.loop_parent(of) {
            Some(parent) => &mut next[parent],
            None => &mut outside,
        };
        let number = *first;
        *first += inside[of];
        next[of] = number + 1;
        numbers[of] = (number, number + inside[of]);
    }
    numbers
}

/// The block that a value is defined in.
pub(super) fn defined_in(func: &Function, value: Value) -> Option<Block> {
    match func.dfg.value_def(value) {
        ValueDef::Param(block, _) => Some(block),
        ValueDef::Result(inst, _) => func.layout.inst_block(inst),
        ValueDef::Union(..) => None,
    }
}

/// What a parameter of the header is in the first iteration.
pub(super) fn first_value(func: &Function, shape: &Shape, value: Value) -> Option<Value> {
    match func.dfg.value_def(value) {
        ValueDef::Param(block, number) if block == shape.header => {
            args_to(func, shape.entry, block, number)?.first().copied()
        }
        _ => None,
    }
}

/// What a branch hands to a block as its parameter of a number: one value for
/// each edge. Nothing where one is no value yet, but the result of a call.
pub(super) fn args_to(
    func: &Function,
    branch: Inst,
    block: Block,
    number: usize,
) -> Option<SmallVec<[Value; 2]>> {
    let dfg = &func.dfg;
    let calls = dfg.insts[branch].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
    calls
        .iter()
        .filter(|call| call.block(&dfg.value_lists) == block)
        .map(|call| match call.args(&dfg.value_lists).nth(number) {
            Some(BlockArg::Value(value)) => Some(dfg.resolve_aliases(value)),
            _ => None,
        })
        .collect()
}

/// The range of a form whose values all have one; nothing where one has not.
pub(super) fn sum_of_ranges(func: &Function, form: &Linear, bits: u32) -> Option<Range> {
    let constant = signed(form.constant, bits);
    let mut sum = Range {
        lo: constant,
        hi: constant,
    };
    for &(value, factor) in &form.terms {
        debug_assert!(is_integer(&func.dfg, value));
        let range = range::of(&func.dfg, value)?;
        sum = sum.plus(range.times(signed(factor, bits))?)?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::cursor::{Cursor, FuncCursor};
    use cranelift_codegen::ir::{InstBuilder, types};

    use super::*;

    /// A function whose blocks each lead to the next, and some back to another.
    fn function(back: &[Option<usize>]) -> Function {
        let mut func = Function::new();
        let blocks: Vec<Block> = back.iter().map(|_| func.dfg.make_block()).collect();
        let mut cursor = FuncCursor::new(&mut func);
        for (at, to) in back.iter().enumerate() {
            cursor.insert_block(blocks[at]);
            let condition = cursor.ins().iconst(types::I32, 1);
            match (to, blocks.get(at + 1)) {
                (Some(to), Some(next)) => {
                    cursor.ins().brif(condition, blocks[*to], &[], *next, &[]);
                }
                (None, Some(next)) => {
                    cursor.ins().jump(*next, &[]);
                }
                (_, None) => {
                    cursor.ins().return_(&[]);
                }
            }
        }
        func
    }

    #[test]
    fn numbers_tell_what_is_in_which_loop() {
        // 1..=7 with 2..=4 around 3, and 5..=6; then 8 alone.
        let back = [
            None,
            None,
            None,
            Some(3),
            Some(2),
            None,
            Some(5),
            Some(1),
            Some(8),
            None,
        ];
        let func = function(&back);
        let cfg = ControlFlowGraph::with_function(&func);
        let domtree = DominatorTree::with_function(&func, &cfg);
        let mut analysis = LoopAnalysis::new();
        analysis.compute(&func, &cfg, &domtree);
        assert_eq!(analysis.loops().count(), 5);
        let loops = Loops::new(&cfg, &domtree, &analysis);
        for of in analysis.loops() {
            for block in func.layout.blocks() {
                assert_eq!(loops.contains(of, block), analysis.is_in_loop(block, of));
            }
        }
    }
}
