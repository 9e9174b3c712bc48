//! Control instructions (core specification §4.4.8).
//!
//! Where ways meet, operands are in their slots: in front of a block all are settled, and
//! what a branch hands on is moved to the slots of its label. So the code behind a label needs to
//! know nothing of how it was reached.

use std::collections::BTreeMap;

use cranelift_assembler_x64::Scale;
use wasmparser::{BlockType, BrTable, Operator};

use super::code::{Condition, Label, emit, place_of};
use super::exception::Clause;
use super::registers::{Gpr, Rm, SCRATCH, indexed};
use super::values::{Kind, Place, Value, kinds};
use super::{Generator, Refusal};
use crate::facts::trap;
use crate::facts::types::ValType;

/// The most operands that labels of one table may take, all in all.
const TABLE_OPERANDS_MAX: usize = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    Func,
    Block,
    Loop,
    /// With the label of what is done where the condition does not hold.
    If(Label),
    Else,
    /// Of a `try_table`.
    Try,
    /// Of a `try`, in front of its clauses.
    LegacyTry,
    /// In a clause of a `try`; of none where no exception gets there.
    Clause(Option<Clause>),
    /// Opened where nothing gets to.
    Dead,
}

/// A block that is open.
pub(super) struct Frame {
    pub kind: FrameKind,
    /// Its head, if it is a loop, else its end.
    label: Label,
    /// Operands below its parameters.
    pub height: u32,
    params: Vec<Kind>,
    results: Vec<Kind>,
    is_branched: bool,
    /// Handlers around it.
    pub handlers: usize,
}

impl Frame {
    /// The operands that a branch to it hands on.
    fn arity(&self) -> usize {
        match self.kind {
            FrameKind::Loop => self.params.len(),
            _ => self.results.len(),
        }
    }
}

impl Generator<'_> {
    /// Translates a control instruction; `false` when it is none.
    pub(super) fn control(&mut self, op: &Operator<'_>) -> Result<bool, Refusal> {
        match op {
            Operator::Block { blockty } => self.open(FrameKind::Block, *blockty)?,
            Operator::Loop { blockty } => {
                self.open(FrameKind::Loop, *blockty)?;
                let head = self.innermost().label;
                self.code.bind(head);
                self.count_turn(self.loop_place());
            }
            Operator::If { blockty } => {
                let condition = self.pop();
                let condition = self.tested(condition);
                let otherwise = self.code.label();
                self.open(FrameKind::If(otherwise), *blockty)?;
                self.code.jump_if(condition.opposite(), otherwise);
            }
            Operator::Else => self.switch_to_else(),
            Operator::End => self.close(),
            Operator::Br { relative_depth } => {
                self.hand_on(*relative_depth);
                let label = self.branched(*relative_depth);
                self.code.jump(label);
                self.is_reachable = false;
            }
            Operator::BrIf { relative_depth } => {
                let condition = self.pop();
                let condition = self.tested(condition);
                self.branch_if(condition, *relative_depth);
            }
            Operator::BrTable { targets } => self.branch_table(targets)?,
            Operator::BrOnNull { relative_depth } => {
                let reference = self.pop();
                let gpr = self.own(reference);
                emit!(self.code, testq_mr(Rm::Gpr(gpr), gpr));
                self.branch_if(Condition::Equal, *relative_depth);
                self.push_gpr(Kind::I64, gpr);
            }
            Operator::BrOnNonNull { relative_depth } => {
                let reference = self.pop();
                let gpr = self.own(reference);
                emit!(self.code, testq_mr(Rm::Gpr(gpr), gpr));
                self.push_gpr(Kind::I64, gpr);
                self.branch_if(Condition::NotEqual, *relative_depth);
                let reference = self.pop();
                self.release(reference);
            }
            Operator::Return => {
                let results = self.frames[0].results.clone();
                self.leave(&results);
                self.is_reachable = false;
            }
            Operator::Unreachable => {
                self.code.trap(trap::UNREACHABLE);
                self.is_reachable = false;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Where nothing gets to only the nesting matters.
    pub(super) fn unreachable_operator(&mut self, op: &Operator<'_>) -> Result<(), Refusal> {
        match op {
            Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::TryTable { .. }
            | Operator::Try { .. } => {
                let label = self.code.label();
                self.frames.push(Frame {
                    kind: FrameKind::Dead,
                    label,
                    height: self.height(),
                    params: Vec::new(),
                    results: Vec::new(),
                    is_branched: false,
                    handlers: self.handlers.len(),
                });
            }
            Operator::Else => self.switch_to_else(),
            Operator::End => self.close(),
            _ => return self.clause(op),
        }
        Ok(())
    }

    pub(super) fn open_function(&mut self, results: &[ValType]) {
        let label = self.code.label();
        self.frames.push(Frame {
            kind: FrameKind::Func,
            label,
            height: 0,
            params: Vec::new(),
            results: kinds(results),
            is_branched: false,
            handlers: self.handlers.len(),
        });
    }

    /// Opens a block, in front of which all operands are in their slots.
    pub(super) fn open(&mut self, kind: FrameKind, ty: BlockType) -> Result<(), Refusal> {
        let (params, results) = match ty {
            BlockType::Empty => (Vec::new(), Vec::new()),
            BlockType::Type(ty) => (Vec::new(), vec![Kind::parsed(ty)]),
            BlockType::FuncType(index) => {
                let ty = &self.env.info.types[index as usize];
                (kinds(ty.params()), kinds(ty.results()))
            }
        };
        self.see_types(params.len() + results.len())?;
        self.settle();
        let label = self.code.label();
        self.frames.push(Frame {
            kind,
            label,
            height: self.height() - params.len() as u32,
            params,
            results,
            is_branched: false,
            handlers: self.handlers.len(),
        });
        Ok(())
    }

    /// Types of many operands take work without code.
    pub(super) fn see_types(&mut self, count: usize) -> Result<(), Refusal> {
        self.types_seen += count;
        match self.types_seen > self.most {
            true => Err("more operands of blocks than its body may have".into()),
            false => Ok(()),
        }
    }

    pub(super) fn innermost(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("validated: a block is open")
    }

    /// Has operands come out of their slots down to a height that other ways have left.
    fn meet(&mut self, height: u32, kinds: &[Kind]) {
        self.truncate(height);
        for kind in kinds {
            self.push_settled(*kind);
        }
        self.settled = self.values.len();
    }

    fn switch_to_else(&mut self) {
        let mut frame = self.frames.pop().expect("validated: a block is open");
        if let FrameKind::If(otherwise) = frame.kind {
            if self.is_reachable {
                self.settle();
                self.code.jump(frame.label);
                frame.is_branched = true;
            }
            self.code.bind(otherwise);
            self.meet(frame.height, &frame.params);
            frame.kind = FrameKind::Else;
            self.is_reachable = true;
        }
        self.frames.push(frame);
    }

    /// Has what is on top go to the end of the innermost block, if anything gets here.
    pub(super) fn jump_to_end(&mut self) {
        if self.is_reachable {
            self.hand_on(0);
            let label = self.branched(0);
            self.code.jump(label);
            self.is_reachable = false;
        }
    }

    pub(super) fn close(&mut self) {
        if let FrameKind::Clause(Some(_)) = self.innermost().kind {
            self.jump_to_end();
        }
        let frame = self.frames.pop().expect("validated: a block is open");
        match frame.kind {
            FrameKind::Dead => return,
            FrameKind::Loop => {
                // Only falling through leaves a loop.
                return;
            }
            FrameKind::Func if self.is_reachable && !frame.is_branched => {
                return self.leave(&frame.results);
            }
            _ if self.is_reachable => self.settle(),
            _ => {}
        }
        match frame.kind {
            FrameKind::If(otherwise) => {
                // Without an `else` parameters are the results.
                self.code.bind(otherwise);
                self.is_reachable = true;
            }
            FrameKind::Try => self.close_try(),
            FrameKind::LegacyTry => self.close_without_clauses(frame.handlers),
            FrameKind::Clause(clause) => self.close_clauses(clause, frame.height),
            _ => {}
        }
        self.is_reachable |= frame.is_branched;
        if !self.is_reachable {
            return self.truncate(frame.height);
        }
        self.code.bind(frame.label);
        self.meet(frame.height, &frame.results);
        if frame.kind == FrameKind::Func {
            self.leave(&frame.results);
        }
    }

    pub(super) fn target(&self, depth: u32) -> &Frame {
        &self.frames[self.frames.len() - 1 - depth as usize]
    }

    /// The label that a branch goes to.
    pub(super) fn branched(&mut self, depth: u32) -> Label {
        let at = self.frames.len() - 1 - depth as usize;
        self.frames[at].is_branched = true;
        self.frames[at].label
    }

    /// Moves what a branch hands on to the slots of its label; operands stay where they are.
    fn hand_on(&mut self, depth: u32) {
        let frame = self.target(depth);
        let (to, count) = (frame.height, frame.arity());
        let first = self.values.len() - count;
        for at in 0..count {
            let value = self.values[first + at];
            let slot = self.slot(to + at as u32);
            self.store_value(value, slot);
        }
    }

    /// Branches where a condition holds.
    pub(super) fn branch_if(&mut self, condition: Condition, depth: u32) {
        let frame = self.target(depth);
        let (height, count) = (frame.height as usize, frame.arity());
        let first = self.values.len() - count;
        if count == 0 || first == height {
            self.settle_below(self.values.len() * usize::from(count > 0));
            let label = self.branched(depth);
            return self.code.jump_if(condition, label);
        }
        let next = self.code.label();
        self.code.jump_if(condition.opposite(), next);
        self.hand_on(depth);
        let label = self.branched(depth);
        self.code.jump(label);
        self.code.bind(next);
    }

    /// Refuses a table whose labels take so many operands that validating it takes long.
    pub(super) fn few_operands_of(&self, targets: &BrTable<'_>) -> Result<(), Refusal> {
        let mut all = 0;
        for depth in targets.targets() {
            // One that goes too far, or stands behind the end, is found by validation.
            let at = self.frames.len().checked_sub(1 + depth? as usize);
            all += at.map_or(0, |at| self.frames[at].arity());
            if all > TABLE_OPERANDS_MAX {
                return Err("tables whose labels take many operands".into());
            }
        }
        Ok(())
    }

    /// A jump by a table of distances. An index beyond it becomes the last entry's by a
    /// conditional move, which no processor predicts.
    fn branch_table(&mut self, targets: &BrTable<'_>) -> Result<(), Refusal> {
        let index = self.pop();
        let index = self.own(index);
        let table = self.code.label();
        emit!(self.code, movl_rm(index, Rm::Gpr(index)));
        self.load_constant(SCRATCH, u64::from(targets.len()));
        emit!(self.code, cmpq_rm(index, Rm::Gpr(SCRATCH)));
        self.code
            .move_if(Condition::AboveOrEqual, index, Rm::Gpr(SCRATCH));
        emit!(self.code, leaq_rm(SCRATCH, place_of(table)));
        let entry = indexed(SCRATCH, index, Scale::Four, 0);
        emit!(self.code, movslq_rm(index, Rm::Mem(entry)));
        emit!(self.code, addq_rm(index, Rm::Gpr(SCRATCH)));
        emit!(self.code, jmpq_m(Rm::Gpr(index)));
        self.free.give(index);
        self.code.bind(table);
        let start = self.code.offset();
        let mut edges: BTreeMap<u32, Label> = BTreeMap::new();
        for depth in targets.targets().chain([Ok(targets.default())]) {
            let depth = depth?;
            let label = self.edge(depth, &mut edges);
            self.code.entry(label, start);
        }
        for (depth, edge) in edges {
            let label = self.branched(depth);
            if edge != label {
                self.code.bind(edge);
                self.hand_on(depth);
                self.code.jump(label);
            }
            self.keep_within()?;
        }
        self.is_reachable = false;
        Ok(())
    }

    /// Where an entry of a table goes: the label, or what hands operands on to it.
    fn edge(&mut self, depth: u32, edges: &mut BTreeMap<u32, Label>) -> Label {
        if let Some(edge) = edges.get(&depth) {
            return *edge;
        }
        let edge = match self.target(depth).arity() {
            0 => self.branched(depth),
            _ => self.code.label(),
        };
        edges.insert(depth, edge);
        edge
    }

    /// The condition under which a popped operand is not 0.
    pub(super) fn tested(&mut self, value: Value) -> Condition {
        match value.place {
            Place::Flags(condition) => return condition,
            Place::Gpr(gpr) => self.test(gpr),
            Place::Constant(_) => {
                self.load_gpr(SCRATCH, value);
                self.test(SCRATCH);
            }
            _ => {
                let operand = self.operand(value);
                emit!(self.code, cmpl_mi_sxb(operand, 0i8));
            }
        }
        self.release(value);
        Condition::NotEqual
    }

    fn test(&mut self, gpr: Gpr) {
        emit!(self.code, testl_mr(Rm::Gpr(gpr), gpr));
    }
}
