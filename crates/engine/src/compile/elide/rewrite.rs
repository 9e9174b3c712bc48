//! What the pass changes of a function: the first value of a loop's parameter,
//! or the base of its addresses. The proofs are at the head of the pass.

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    BlockArg, Function, Inst, InstBuilder, InstructionData, Opcode, SourceLoc, Type, Value,
    ValueDef, types,
};
use cranelift_codegen::loop_analysis::Loop;

use super::ahead::{Anchor, MOVED};
use super::form::{Linear, Root, signed};
use super::loops::{Affine, Shape, defined_in, first_value};
use super::range::only_computes;
use super::{Index, Pass};
use crate::bounds::Site;
use crate::facts::vmctx::offsets::MEMORY_LEN;

/// A base that a loop has for indices of one root.
pub(super) struct Rebased {
    of: Loop,
    memory: u32,
    root: Root,
    /// The constant of the index it was made for.
    constant: u64,
    base: Value,
    /// What is added to it.
    varying: Linear,
}

/// The index before it was extended to 64 bits.
pub(super) fn operand(func: &Function, site: &Site) -> Option<Value> {
    let dfg = &func.dfg;
    let index = dfg.resolve_aliases(site.index);
    if site.memory64 {
        return Some(index);
    }
    let inst = dfg.value_def(index).inst()?;
    match dfg.insts[inst].opcode() {
        Opcode::Uextend => Some(dfg.resolve_aliases(dfg.inst_args(inst)[0])),
        _ => None,
    }
}

/// Instructions of a header that are looked through, and values in it that are
/// followed, for one access: beyond, it keeps its check.
const INSTRUCTIONS_MAX: usize = 2000;
const VALUES_MAX: usize = 32;

/// Bases of loops that are looked through for one access, the last ones first.
const BASES_MAX: usize = 64;

/// What an index has to be below in the first iteration.
#[derive(Clone, Copy)]
enum Threshold {
    /// The most bytes the memory can have.
    Maximum(i64),
    /// Its length in front of the loop: only of a memory that no other thread grows.
    Length,
}

impl Pass<'_> {
    /// Makes the first access of a loop safe; false where there is no way to.
    pub(super) fn make_safe(&mut self, site: &Site, index: &Index, affine: &Affine) -> bool {
        let Some(loops) = &mut self.loops else {
            return false;
        };
        let Some((of, shape)) = loops.around(self.func, site.block) else {
            return false;
        };
        let room = &self.rooms[site.memory as usize];
        let threshold = match room.imported || index.needs.bits < 64 {
            false => Threshold::Maximum(room.most_max),
            true if !room.shared && is_length_unchanged(self.func, &shape, site) => {
                Threshold::Length
            }
            true => return false,
        };
        let parameter = match affine.varying.terms[..] {
            [(value, 1)] if affine.fixed.terms.is_empty() => Some(value),
            _ => None,
        };
        match parameter.filter(|value| is_unseen(self.func, &shape, site, *value)) {
            Some(parameter) => {
                let is_safe = start(self.func, site, &shape, threshold, parameter, index);
                if is_safe {
                    set_sum(self.func, site, site.base, site.index);
                }
                is_safe
            }
            None => self.rebase(site, index, affine, of, &shape, threshold),
        }
    }

    /// Gives the loop a base of its own for this index.
    fn rebase(
        &mut self,
        site: &Site,
        index: &Index,
        affine: &Affine,
        of: Loop,
        shape: &Shape,
        threshold: Threshold,
    ) -> bool {
        let Some(first) = self.first_terms(&affine.varying, shape) else {
            return false;
        };
        let room = &self.rooms[site.memory as usize];
        let is_ahead = room.spectre && index.needs.bits < 64;
        if is_ahead && !room.holds_moved(&index.needs, MOVED) {
            return false;
        }
        let is_known = affine.varying.terms.is_empty() && !self.is_defined_in(of, site.index);
        let location = self.func.srcloc(site.checks[0]);
        let mut front = Emitter::before(self.func, shape.entry, location);
        let base = front.copy(site.base);
        if !is_folded(&affine.varying) || index.needs.bits < 64 {
            // Only what is added to the address changes: the index stays.
            let first = front.wide_sum(&[&affine.fixed, &first], index.needs.bits);
            let threshold = front.threshold(site, threshold);
            let moved = match is_ahead {
                true => front.a_few_bytes(first, threshold),
                false => {
                    let safe = front.least(site, first, threshold);
                    front.cursor.ins().isub(safe, first)
                }
            };
            // What does not change takes one register in the loop so, and the base none of its own.
            let (left, right) = match affine.varying.terms.is_empty() {
                true => (site.base, front.cursor.ins().iadd(first, moved)),
                false => (front.cursor.ins().iadd(base, moved), site.index),
            };
            set_sum(self.func, site, left, right);
            return true;
        }
        let at_first = front.sum_if_any(&first, types::I64);
        let first = match (at_first, is_known) {
            (_, true) => site.index,
            (Some(at_first), _) if affine.fixed == Linear::default() => at_first,
            (at_first, _) => {
                let fixed = front.sum(&[&affine.fixed], types::I64);
                match at_first {
                    Some(at_first) => front.cursor.ins().iadd(fixed, at_first),
                    None => fixed,
                }
            }
        };
        let threshold = front.threshold(site, threshold);
        let mut safe = front.least(site, first, threshold);
        if let Some(at_first) = at_first {
            safe = front.cursor.ins().isub(safe, at_first);
        }
        let base = front.cursor.ins().iadd(base, safe);
        self.rebased.push(Rebased {
            of,
            memory: site.memory,
            root: self.forms.root(&index.form, index.needs.bits),
            constant: index.form.constant,
            base,
            varying: affine.varying.clone(),
        });
        self.use_base_of_loop(site, index);
        true
    }

    /// Has the addresses of an index start from that of an access in front of the loop, of
    /// which they are a difference apart; false where that access is in the loop.
    pub(super) fn base_from(
        &mut self,
        site: &Site,
        index: &Index,
        affine: &Affine,
        anchor: &Anchor,
    ) -> bool {
        let around = self.loops.as_mut().and_then(|loops| {
            let (of, shape) = loops.around(self.func, site.block)?;
            let block = defined_in(self.func, anchor.sum)?;
            (!loops.contains(of, block)).then_some(shape)
        });
        let Some(shape) = around else { return false };
        let is_folded = is_folded(&affine.varying);
        // Of the index, what is added in front of the loop.
        let mut more = match is_folded {
            true => affine.fixed.clone(),
            false => Linear::default(),
        };
        if !more.add(&anchor.form, u64::MAX, index.needs.bits) {
            return false;
        }
        let location = self.func.srcloc(site.checks[0]);
        let mut front = Emitter::before(self.func, shape.entry, location);
        let more = front.sum(&[&more], types::I64);
        let base = front.cursor.ins().iadd(anchor.sum, more);
        let mut here = Emitter::before(self.func, site.sum, location);
        let varying = match is_folded {
            true => here
                .sum_if_any(&affine.varying, types::I64)
                .unwrap_or_else(|| here.constant(types::I64, 0)),
            false => site.index,
        };
        set_sum(self.func, site, base, varying);
        true
    }

    /// Terms of the first iteration: the first values of parameters.
    fn first_terms(&self, varying: &Linear, shape: &Shape) -> Option<Linear> {
        let mut first = Linear::default();
        for &(value, factor) in &varying.terms {
            let value = first_value(self.func, shape, value)?;
            match first.terms.iter_mut().find(|term| term.0 == value) {
                Some(term) => term.1 = term.1.wrapping_add(factor),
                None => first.terms.push((value, factor)),
            }
        }
        Some(first)
    }

    fn is_defined_in(&self, of: Loop, value: Value) -> bool {
        let block = defined_in(self.func, self.func.dfg.resolve_aliases(value));
        match (&self.loops, block) {
            (Some(loops), Some(block)) => loops.contains(of, block),
            _ => true,
        }
    }

    /// Has an access whose check is left out use the base that a loop around has
    /// for its root.
    pub(super) fn use_base_of_loop(&mut self, site: &Site, index: &Index) {
        let root = self.forms.root(&index.form, index.needs.bits);
        let Some(loops) = &self.loops else {
            return;
        };
        let Some(rebased) = self.rebased.iter().rev().take(BASES_MAX).find(|rebased| {
            rebased.root == root
                && rebased.memory == site.memory
                && loops.contains(rebased.of, site.block)
        }) else {
            return;
        };
        let location = self.func.srcloc(site.sum);
        let mut here = Emitter::before(self.func, site.sum, location);
        let more = index.form.constant.wrapping_sub(rebased.constant);
        let varying = here.sum_if_any(&rebased.varying, types::I64);
        let (left, right) = match (varying, more) {
            (Some(varying), 0) => (rebased.base, varying),
            (Some(varying), more) => {
                let address = here.cursor.ins().iadd(rebased.base, varying);
                (address, here.constant(types::I64, more))
            }
            (None, more) => (rebased.base, here.constant(types::I64, more)),
        };
        set_sum(self.func, site, left, right);
    }
}

/// Whether the terms take no instructions of their own: machines have
/// addresses with these.
fn is_folded(varying: &Linear) -> bool {
    matches!(varying.terms[..], [] | [(_, 1 | 2 | 4 | 8)])
}

/// Takes an instruction that may trap away. What it loads is used by other parts
/// of a check at most.
pub(super) fn remove(func: &mut Function, check: Inst) {
    if func.dfg.inst_results(check).is_empty() {
        func.layout.remove_inst(check);
        return;
    }
    func.dfg.insts[check] = InstructionData::UnaryImm {
        opcode: Opcode::Iconst,
        imm: 0.into(),
    };
}

/// Has the address be another sum.
pub(super) fn set_sum(func: &mut Function, site: &Site, left: Value, right: Value) {
    func.dfg.insts[site.sum] = InstructionData::Binary {
        opcode: Opcode::Iadd,
        args: [left, right],
    };
}

/// Gives a parameter a first value for which the access is safe.
fn start(
    func: &mut Function,
    site: &Site,
    shape: &Shape,
    threshold: Threshold,
    parameter: Value,
    index: &Index,
) -> bool {
    let Some(first) = first_value(func, shape, parameter) else {
        return false;
    };
    let ty = func.dfg.value_type(parameter);
    let location = func.srcloc(site.checks[0]);
    let mut front = Emitter::before(func, shape.entry, location);
    let moved = match index.form.constant {
        0 => first,
        by => {
            let by = front.constant(ty, by);
            front.cursor.ins().iadd(first, by)
        }
    };
    let mut threshold = front.threshold(site, threshold);
    if ty != types::I64 {
        // An i32 that is not below 2^32 - 1 is 2^32 - 1, and stays what it is.
        let most = front.constant(types::I64, u64::from(u32::MAX));
        threshold = front.cursor.ins().umin(threshold, most);
        threshold = front.cursor.ins().ireduce(ty, threshold);
    }
    let mut safe = front.least(site, moved, threshold);
    if index.form.constant != 0 {
        let by = front.constant(ty, index.form.constant);
        safe = front.cursor.ins().isub(safe, by);
    }
    let ValueDef::Param(_, number) = func.dfg.value_def(parameter) else {
        return false;
    };
    set_argument(func, shape.entry, number, safe);
    true
}

/// Has a jump hand on another value.
fn set_argument(func: &mut Function, jump: Inst, number: usize, value: Value) {
    let dfg = &mut func.dfg;
    let mut calls = dfg.insts[jump]
        .branch_destination_mut(&mut dfg.jump_tables, &mut dfg.exception_tables)
        .iter_mut();
    if let Some(call) = calls.next() {
        let mut at = 0;
        call.update_args(&mut dfg.value_lists, |arg| {
            at += 1;
            match at == number + 1 {
                true => BlockArg::Value(value),
                false => arg,
            }
        });
    }
}

/// Whether the access is in the header, and what comes before it there has no
/// effect that depends on a parameter.
fn is_unseen(func: &Function, shape: &Shape, site: &Site, parameter: Value) -> bool {
    if site.block != shape.header {
        return false;
    }
    let dfg = &func.dfg;
    let mut computed = vec![parameter];
    for inst in func.layout.block_insts(shape.header).take(INSTRUCTIONS_MAX) {
        if inst == site.sum {
            return true;
        }
        let uses = dfg
            .inst_args(inst)
            .iter()
            .any(|arg| computed.contains(&dfg.resolve_aliases(*arg)));
        if !uses || site.checks.contains(&inst) {
            continue;
        }
        if !only_computes(dfg, inst) || computed.len() > VALUES_MAX {
            return false;
        }
        computed.extend_from_slice(dfg.inst_results(inst));
    }
    false
}

/// Whether the access is in the header, and nothing before it there can grow the
/// memory.
fn is_length_unchanged(func: &Function, shape: &Shape, site: &Site) -> bool {
    if site.block != shape.header {
        return false;
    }
    for inst in func.layout.block_insts(shape.header).take(INSTRUCTIONS_MAX) {
        if inst == site.sum {
            return true;
        }
        if func.dfg.insts[inst].opcode().is_call() {
            return false;
        }
    }
    false
}

/// Appends instructions in front of one.
pub(super) struct Emitter<'f> {
    cursor: FuncCursor<'f>,
}

impl<'f> Emitter<'f> {
    pub(super) fn before(func: &'f mut Function, inst: Inst, location: SourceLoc) -> Emitter<'f> {
        Emitter {
            cursor: FuncCursor::new(func).at_inst(inst).with_srcloc(location),
        }
    }

    fn constant(&mut self, ty: Type, number: u64) -> Value {
        self.cursor.ins().iconst(ty, signed(number, ty.bits()))
    }

    /// The value again: a constant of the context, which is loaded in each
    /// block that needs it.
    fn copy(&mut self, value: Value) -> Value {
        let dfg = &mut self.cursor.func.dfg;
        let value = dfg.resolve_aliases(value);
        match dfg.value_def(value).inst() {
            Some(inst) => {
                let copy = dfg.clone_inst(inst);
                self.cursor.insert_inst(copy);
                self.cursor.func.dfg.first_result(copy)
            }
            None => value,
        }
    }

    /// The sum of forms.
    pub(super) fn sum(&mut self, forms: &[&Linear], ty: Type) -> Value {
        let mut sum = None;
        let mut constant = 0u64;
        for form in forms {
            constant = constant.wrapping_add(form.constant);
            let terms = Linear {
                terms: form.terms.clone(),
                constant: 0,
            };
            let more = self.sum_if_any(&terms, ty);
            sum = match (sum, more) {
                (Some(sum), Some(more)) => Some(self.cursor.ins().iadd(sum, more)),
                (sum, more) => sum.or(more),
            };
        }
        match (sum, signed(constant, ty.bits())) {
            (Some(sum), 0) => sum,
            (Some(sum), _) => {
                let constant = self.constant(ty, constant);
                self.cursor.ins().iadd(sum, constant)
            }
            (None, _) => self.constant(ty, constant),
        }
    }

    /// A value less a form's terms.
    pub(super) fn less(&mut self, value: Value, form: &Linear) -> Value {
        match self.sum_if_any(form, types::I64) {
            Some(sum) => self.cursor.ins().isub(value, sum),
            None => value,
        }
    }

    /// The sum of forms of so many bits, 64 or 32, as one of 64.
    fn wide_sum(&mut self, forms: &[&Linear], bits: u32) -> Value {
        if bits == u64::BITS {
            return self.sum(forms, types::I64);
        }
        let sum = self.sum(forms, types::I32);
        self.cursor.ins().uextend(types::I64, sum)
    }

    /// The sum of a form's terms; nothing where it has none. Its constant is 0.
    fn sum_if_any(&mut self, form: &Linear, ty: Type) -> Option<Value> {
        let mut sum: Option<Value> = None;
        for &(value, factor) in &form.terms {
            let term = match factor {
                1 => value,
                factor if signed(factor, ty.bits()) == -1 => self.cursor.ins().ineg(value),
                factor if factor.is_power_of_two() => {
                    let by = self.constant(ty, u64::from(factor.trailing_zeros()));
                    self.cursor.ins().ishl(value, by)
                }
                factor => {
                    let factor = self.constant(ty, factor);
                    self.cursor.ins().imul(value, factor)
                }
            };
            sum = Some(match sum {
                Some(sum) => self.cursor.ins().iadd(sum, term),
                None => term,
            });
        }
        sum
    }

    /// The lesser of two; of an access with a guard never found by a branch, which some
    /// instruction sets make of `umin`.
    fn least(&mut self, site: &Site, value: Value, most: Value) -> Value {
        if !site.is_guarded {
            return self.cursor.ins().umin(value, most);
        }
        let ins = self.cursor.ins();
        let above = ins.icmp(IntCC::UnsignedGreaterThan, value, most);
        let ins = self.cursor.ins();
        ins.select_spectre_guard(above, most, value)
    }

    /// `MOVED` where an index is not below a threshold, else 0.
    fn a_few_bytes(&mut self, index: Value, threshold: Value) -> Value {
        let ins = self.cursor.ins();
        let outside = ins.icmp(IntCC::UnsignedGreaterThanOrEqual, index, threshold);
        let moved = self.cursor.ins().iconst(types::I64, MOVED);
        let not = self.cursor.ins().iconst(types::I64, 0);
        self.cursor.ins().select(outside, moved, not)
    }

    fn threshold(&mut self, site: &Site, threshold: Threshold) -> Value {
        match threshold {
            Threshold::Maximum(most) => self.cursor.ins().iconst(types::I64, most),
            Threshold::Length => {
                let def = self.copy(site.def);
                let ins = self.cursor.ins();
                ins.load(types::I64, site.cell_flags, def, MEMORY_LEN)
            }
        }
    }
}
