//! Control instructions (core specification §4.4.8).
//!
//! Results of blocks travel as block parameters. A loop needs no block for its
//! end: control reaches it only by falling through, with the results on the
//! stack already. An `if` without `else` and without parameters branches to its
//! end directly.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use cranelift_codegen::ir::{
    Block, BlockArg, BlockCall, Inst, InstBuilder, JumpTableData, Value, types,
};
use cranelift_codegen::settings::OptLevel;
use wasmparser::{BlockType, BrTable, Operator};

use super::Translator;
use super::env::ResultTypes;
use super::state::{Frame, FrameKind};
use crate::compile::elide::range::only_computes;
use crate::facts::trap;
use crate::facts::types::ValType;

/// Where the entries of a table go, by depth: no larger than the table, however
/// many frames are open.
type TableEdges = HashMap<u32, Block>;

impl Translator<'_> {
    /// Translates a control instruction; `false` when it is not one.
    pub(super) fn control(&mut self, op: &Operator<'_>) -> bool {
        match op {
            Operator::Block { blockty } => self.open_block(*blockty),
            Operator::Loop { blockty } => self.open_loop(*blockty),
            Operator::If { blockty } => self.open_if(*blockty),
            Operator::Else => self.switch_to_else(),
            Operator::End => self.close_frame(),
            Operator::Br { relative_depth } => self.branch(*relative_depth),
            Operator::BrIf { relative_depth } => self.branch_if(*relative_depth),
            Operator::BrTable { targets } => self.branch_table(targets),
            Operator::Return => self.return_from_body(),
            Operator::Unreachable => {
                self.keep_trap_apart();
                self.b.ins().trap(trap::UNREACHABLE);
                self.state.reachable = false;
            }
            Operator::BrOnNull { relative_depth } => self.branch_on_null(*relative_depth),
            Operator::BrOnNonNull { relative_depth } => self.branch_on_non_null(*relative_depth),
            _ => return false,
        }
        true
    }

    /// In unreachable code only the nesting matters.
    pub(super) fn unreachable_operator(&mut self, op: &Operator<'_>) {
        match op {
            Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::TryTable { .. }
            | Operator::Try { .. } => {
                self.state.push_dead_frame();
            }
            Operator::Else => self.switch_to_else(),
            Operator::Catch { tag_index } => self.switch_to_clause(Some(*tag_index)),
            Operator::CatchAll => self.switch_to_clause(None),
            Operator::Delegate { relative_depth } => self.delegate(*relative_depth),
            Operator::End => self.close_frame(),
            _ => {}
        }
    }

    /// Opens the frame of the function itself.
    pub(super) fn open_function(&mut self, results: &[ValType]) {
        let exit = self.b.create_block();
        self.append_params(exit, ResultTypes::Many(results));
        self.state
            .push_frame(FrameKind::Func, exit, 0, results.len());
    }

    pub(super) fn append_params(&mut self, block: Block, types: ResultTypes<'_>) {
        for ty in types.iter() {
            self.b.append_block_param(block, ty);
        }
    }

    fn open_block(&mut self, ty: BlockType) {
        let (params, results) = self.block_types(ty);
        let end = self.b.create_block();
        self.append_params(end, results);
        self.state
            .push_frame(FrameKind::Block, end, params.len(), results.len());
    }

    fn open_loop(&mut self, ty: BlockType) {
        let (params, results) = self.block_types(ty);
        self.before_loop();
        let header = self.b.create_block();
        self.append_params(header, ResultTypes::Many(params));
        self.jump(header, params.len());
        self.begin_here(header);
        self.b.switch_to_block(header);
        self.state.dominators += 1;
        self.keep_stores();
        let height = self.state.stack.len() - params.len();
        self.state.stack.truncate(height);
        self.state
            .stack
            .extend_from_slice(self.b.block_params(header));
        self.state
            .push_frame(FrameKind::Loop, header, params.len(), results.len());
        // Behind its parameters: a variable that is used here becomes one more.
        self.fuel_at_loop();
        if height == 0 && params.is_empty() {
            self.leave_at_loop();
        }
    }

    /// In front of a trap that is all its block does. Cranelift would make one instruction of it
    /// and the branch to it, and that has the branch's place in the module.
    fn keep_trap_apart(&mut self) {
        if self.env.module.isa.flags().opt_level() == OptLevel::None {
            return;
        }
        let (dfg, layout) = (&self.b.func.dfg, &self.b.func.layout);
        // A block is in the layout with its first instruction: the function's entry before others.
        let is_another = |block: &Block| layout.entry_block().is_some_and(|entry| entry != *block);
        let is_alone = |block: &Block| {
            layout
                .block_insts(*block)
                .all(|inst| only_computes(dfg, inst))
        };
        let block = self.b.current_block().filter(is_another).filter(is_alone);
        if let Some(block) = block {
            self.b.set_cold_block(block);
            self.b.ins().sequence_point();
        }
    }

    /// At the head of a loop: what was stored before is there, if the loop ends or
    /// not.
    ///
    /// Cranelift leaves a store out that a later one overwrites on every way out
    /// of the function, where nothing in between can see it. A way that never gets
    /// out counts for nothing there, so the store would be lost with its trap. An
    /// instruction that can trap sees every store. That this one never does is
    /// found by the same pass, behind that analysis: it leaves no code. Without the
    /// pass no store is left out.
    fn keep_stores(&mut self) {
        if self.env.module.isa.flags().opt_level() == OptLevel::None {
            return;
        }
        let never = self.b.ins().iconst(types::I32, 0);
        self.b.ins().trapnz(never, trap::UNREACHABLE);
    }

    fn open_if(&mut self, ty: BlockType) {
        let condition = self.pop_condition();
        let (params, results) = self.block_types(ty);
        let end = self.b.create_block();
        self.append_params(end, results);
        let then_block = self.b.create_block();
        let else_block = self.b.create_block();
        let branch = self
            .b
            .ins()
            .brif(condition, then_block, &[], else_block, &[]);
        let kind = FrameKind::If { else_block, branch };
        self.state
            .push_frame(kind, end, params.len(), results.len());
        self.go_on_in(then_block);
    }

    /// Goes on in a block that only the current one leads to.
    pub(super) fn go_on_in(&mut self, next: Block) {
        self.b.switch_to_block(next);
        self.b.seal_block(next);
        self.state.dominators += 1;
    }

    fn switch_to_else(&mut self) {
        let frame = *self.state.frame(0);
        let FrameKind::If { else_block, .. } = frame.kind else {
            debug_assert_eq!(frame.kind, FrameKind::Dead);
            return;
        };
        if self.state.reachable {
            self.jump(frame.label, frame.results);
            self.innermost().branched = true;
        }
        self.innermost().kind = FrameKind::Else;
        self.state.restore_params(&frame);
        self.state.dominators = frame.dominators;
        self.go_on_in(else_block);
        self.state.reachable = true;
    }

    pub(super) fn innermost(&mut self) -> &mut Frame {
        self.state
            .frames
            .last_mut()
            .expect("validated: a frame is open")
    }

    fn close_frame(&mut self) {
        let mut frame = self.state.frames.pop().expect("validated: a frame is open");
        match frame.kind {
            FrameKind::Dead => return,
            FrameKind::Loop => {
                // Only falling through leaves a loop: the results are in place.
                self.state.loops -= 1;
                self.b.seal_block(frame.label);
                return;
            }
            FrameKind::Func if !frame.branched => {
                if self.state.reachable {
                    self.return_values(frame.results);
                }
                return;
            }
            FrameKind::Block | FrameKind::Else if self.state.reachable && !frame.branched => {
                // Nothing else comes here: go on in the current block.
                debug_assert_eq!(self.state.stack.len(), frame.height + frame.results);
                return;
            }
            FrameKind::Func | FrameKind::Block | FrameKind::Else => self.jump_to_end(&mut frame),
            FrameKind::Try => {
                self.jump_to_end(&mut frame);
                self.close_try();
            }
            FrameKind::LegacyTry => {
                self.jump_to_end(&mut frame);
                let outside = self.state.handlers.len() - 1;
                self.hand_over(outside);
            }
            FrameKind::Clause(caught) => {
                self.jump_to_end(&mut frame);
                self.close_clauses(caught);
            }
            FrameKind::If { else_block, branch } => {
                self.jump_to_end(&mut frame);
                self.close_false_edge(&mut frame, else_block, branch);
            }
        }
        self.enter_end(&frame);
    }

    pub(super) fn jump_to_end(&mut self, frame: &mut Frame) {
        if self.state.reachable {
            self.jump(frame.label, frame.results);
            frame.branched = true;
        }
    }

    /// The false edge of an `if` without `else` hands its parameters through.
    fn close_false_edge(&mut self, frame: &mut Frame, else_block: Block, branch: Inst) {
        if frame.params == 0 {
            self.b
                .change_jump_destination(branch, else_block, frame.label);
        } else {
            self.state.restore_params(frame);
            self.b.switch_to_block(else_block);
            self.b.seal_block(else_block);
            self.jump(frame.label, frame.results);
        }
        frame.branched = true;
    }

    /// Goes on behind the end of a frame, if anything leads there.
    pub(super) fn enter_end(&mut self, frame: &Frame) {
        self.state.stack.truncate(frame.height);
        self.state.reachable = frame.branched;
        if !frame.branched {
            return;
        }
        self.state.dominators = frame.dominators;
        self.go_on_in(frame.label);
        self.state
            .stack
            .extend_from_slice(self.b.block_params(frame.label));
        if frame.kind == FrameKind::Func {
            self.return_values(frame.results);
        }
    }

    /// Makes the top `count` operands canonical, in place, and collects them
    /// as arguments of a branch.
    fn collect_args(&mut self, count: usize) -> Vec<BlockArg> {
        let mut args = std::mem::take(&mut self.state.args);
        args.clear();
        self.state.work.handed_on(count);
        let first = self.state.stack.len() - count;
        for i in first..self.state.stack.len() {
            let raw: Value = self.state.stack[i];
            let value = self.canonical(raw);
            self.state.stack[i] = value;
            args.push(BlockArg::Value(value));
        }
        args
    }

    /// Jumps to a block with the top `count` operands, which stay on the stack.
    fn jump(&mut self, block: Block, count: usize) {
        let args = self.collect_args(count);
        self.b.ins().jump(block, &args);
        self.state.args = args;
    }

    fn branch(&mut self, depth: u32) {
        let (block, arity) = self.state.branch_to(depth);
        self.jump(block, arity);
        self.state.reachable = false;
    }

    fn branch_if(&mut self, depth: u32) {
        let condition = self.pop_condition();
        let (block, arity) = self.state.branch_to(depth);
        let args = self.collect_args(arity);
        let next = self.b.create_block();
        self.b.ins().brif(condition, block, &args, next, &[]);
        self.state.args = args;
        self.go_on_in(next);
    }

    /// `br_on_null`: the reference goes on where it is not null.
    fn branch_on_null(&mut self, depth: u32) {
        let reference = self.pop();
        let (block, arity) = self.state.branch_to(depth);
        let args = self.collect_args(arity);
        let next = self.b.create_block();
        self.b.ins().brif(reference, next, &[], block, &args);
        self.state.args = args;
        self.go_on_in(next);
        self.state.push(reference);
    }

    /// `br_on_non_null`: the branch carries the reference.
    fn branch_on_non_null(&mut self, depth: u32) {
        let reference = self.pop();
        self.state.push(reference);
        let (block, arity) = self.state.branch_to(depth);
        let args = self.collect_args(arity);
        let next = self.b.create_block();
        self.b.ins().brif(reference, block, &args, next, &[]);
        self.state.args = args;
        self.go_on_in(next);
        self.state.pop_raw();
    }

    /// Branches where a condition holds, or where it does not; the operands stay.
    pub(super) fn branch_where(&mut self, depth: u32, condition: Value, holds: bool) {
        let (block, arity) = self.state.branch_to(depth);
        let args = self.collect_args(arity);
        let next = self.b.create_block();
        match holds {
            true => self.b.ins().brif(condition, block, &args, next, &[]),
            false => self.b.ins().brif(condition, next, &[], block, &args),
        };
        self.state.args = args;
        self.go_on_in(next);
    }

    /// A table without operands jumps to the labels themselves. With operands
    /// an entry jumps to a block of its label's own, which hands them on:
    /// written into every entry, they would take memory, and moves, for each
    /// of what may be thousands.
    fn branch_table(&mut self, targets: &BrTable<'_>) {
        let index = self.pop();
        let (_, arity) = self.state.branch_to(targets.default());
        let args = self.collect_args(arity);
        self.state.work.entries(targets.len() as usize);
        let mut edges = HashMap::new();
        let mut calls = Vec::with_capacity(targets.len() as usize);
        for target in targets.targets() {
            let depth = target.expect("validated: the targets decode");
            calls.push(self.table_edge(depth, arity, &mut edges));
        }
        let default = self.table_edge(targets.default(), arity, &mut edges);
        let table = self
            .b
            .create_jump_table(JumpTableData::new(default, &calls));
        self.b.ins().br_table(index, table);
        if arity > 0 {
            self.close_table_edges(edges, &args);
        }
        self.state.args = args;
        self.state.reachable = false;
    }

    /// Where an entry of a table goes: the label, or the block made for it. The
    /// operands are handed on there, once for each label and not for each entry.
    fn table_edge(&mut self, depth: u32, arity: usize, edges: &mut TableEdges) -> BlockCall {
        let block = match edges.entry(depth) {
            Entry::Occupied(edge) => *edge.get(),
            Entry::Vacant(edge) => {
                let (label, _) = self.state.branch_to(depth);
                *edge.insert(match arity {
                    0 => label,
                    _ => self.b.create_block(),
                })
            }
        };
        BlockCall::new(block, [], &mut self.b.func.dfg.value_lists)
    }

    fn close_table_edges(&mut self, edges: TableEdges, args: &[BlockArg]) {
        let mut edges: Vec<(u32, Block)> = edges.into_iter().collect();
        // The order of the code must not be the map's.
        edges.sort_unstable();
        for (depth, edge) in edges {
            let (label, _) = self.state.branch_to(depth);
            self.b.switch_to_block(edge);
            self.b.seal_block(edge);
            self.b.ins().jump(label, args);
        }
    }

    /// Leaves the function, or the inlined body for what is behind its call.
    fn return_from_body(&mut self) {
        match self.state.inlined.frame() {
            None => self.return_values(self.state.frames[0].results),
            Some(frame) => self.branch((self.state.frames.len() - 1 - frame) as u32),
        }
    }

    /// Returns the top `count` operands.
    fn return_values(&mut self, count: usize) {
        self.fuel_write();
        let mut results = std::mem::take(&mut self.state.call_args);
        results.resize(count, Value::from_u32(0));
        for slot in results.iter_mut().rev() {
            *slot = self.pop();
        }
        self.b.ins().return_(&results);
        results.clear();
        self.state.call_args = results;
        self.state.reachable = false;
    }
}
