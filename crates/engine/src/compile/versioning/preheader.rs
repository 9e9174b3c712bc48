//! What is computed in front of a loop: how often it comes back, where its accesses go,
//! and whether all of that is inside.
//!
//! Every condition is a number of 64 bits that is not negative where it holds, so that all
//! of them together are one comparison.

use std::collections::HashMap;

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, Function, InstBuilder, MemFlagsData, SourceLoc, Type, Value, types,
};

use super::body::{Body, Group};
use super::shape::Shape;
use super::walk::Walk;
use crate::compile::elide::form::signed;
use crate::facts::vmctx::offsets::MEMORY_LEN;

/// Appends instructions to blocks in front of a loop.
pub(super) struct Preheader<'f> {
    cursor: FuncCursor<'f>,
    shape: &'f Shape,
    /// Values of the loop, as they are in front of it.
    copies: HashMap<Value, Value>,
    /// What must not be negative.
    conditions: Option<Value>,
}

/// What the second version of a loop begins with.
pub(super) struct Start {
    /// Values that are the same in each iteration.
    pub copies: HashMap<Value, Value>,
    /// Iterations that have a next one.
    pub trips: Value,
    /// The first of the least addresses of each group.
    pub addresses: Vec<Value>,
}

/// The addresses of a group, which are what they say where all conditions hold.
struct Extent {
    /// The memory's first byte.
    base: Value,
    /// The least address of the first iteration.
    start: Value,
    /// The least address of all, and the one behind the last byte.
    least: Value,
    end: Value,
}

/// Appends to `check` the decision between two versions of a loop, and to `begin` what the
/// second one needs; `firsts` are the parameters of the header at first.
pub(super) fn emit(
    func: &mut Function,
    body: &Body<'_>,
    check: Block,
    begin: Block,
    firsts: &[Value],
    location: SourceLoc,
) -> Start {
    let params = func.dfg.block_params(body.shape.header).to_vec();
    let mut preheader = Preheader {
        cursor: FuncCursor::new(func).with_srcloc(location),
        shape: body.shape,
        copies: params.into_iter().zip(firsts.iter().copied()).collect(),
        conditions: None,
    };
    preheader.cursor.goto_bottom(check);
    let trips = body.trips.emit(&mut preheader);
    let groups = body.groups.iter();
    let places: Vec<Extent> = groups.map(|group| preheader.group(group, trips)).collect();
    for (first, second) in &body.pairs {
        preheader.must_be_apart(&places[*first], &places[*second]);
    }
    let all = preheader.conditions.expect("each group has a condition");
    let fails = preheader.ins().icmp_imm_s(IntCC::SignedLessThan, all, 0);
    let args: Vec<_> = firsts.iter().map(|value| (*value).into()).collect();
    let header = body.shape.header;
    preheader.ins().brif(fails, header, &args, begin, &[]);

    preheader.cursor.goto_bottom(begin);
    let mut addresses = Vec::new();
    for (group, extent) in body.groups.iter().zip(places) {
        let Extent { base, start, .. } = extent;
        addresses.push(match group.is_guarded {
            true => preheader.ins().select_spectre_guard(fails, base, start),
            false => start,
        });
    }
    // It is below 2^32, which is known here only.
    let mut trips = preheader.ins().band_imm_u(trips, i64::from(u32::MAX));
    if body.turns != 1 {
        let all = preheader.ins().iadd_imm_s(trips, 1);
        let turns = preheader.ins().iconst(types::I64, body.turns);
        let all = preheader.ins().imul(all, turns);
        trips = preheader.ins().iadd_imm_s(all, -1);
    }
    for block in &body.shape.blocks {
        let fixed = insts(preheader.cursor.func, *block);
        for inst in fixed.into_iter().filter(|inst| body.fixed.contains(*inst)) {
            for value in preheader.cursor.func.dfg.inst_results(inst).to_vec() {
                preheader.value(value);
            }
        }
    }
    Start {
        copies: preheader.copies,
        trips,
        addresses,
    }
}

/// The instructions of a block.
pub(super) fn insts(func: &Function, block: Block) -> Vec<cranelift_codegen::ir::Inst> {
    func.layout.block_insts(block).collect()
}

impl<'f> Preheader<'f> {
    /// Appends an instruction.
    pub(super) fn ins<'c>(&'c mut self) -> impl InstBuilder<'c> {
        self.cursor.ins()
    }

    /// A value that the loop does not change, or a parameter of its header at first.
    fn value(&mut self, value: Value) -> Value {
        let dfg = &self.cursor.func.dfg;
        let value = dfg.resolve_aliases(value);
        if let Some(copy) = self.copies.get(&value) {
            return *copy;
        }
        if !self.shape.defines(self.cursor.func, value) {
            return value;
        }
        let inst = dfg.value_def(value).inst().expect("an instruction's");
        for arg in dfg.inst_args(inst).to_vec() {
            self.value(arg);
        }
        let func = &mut *self.cursor.func;
        let location = func.srcloc(inst);
        let copy = func.dfg.clone_inst(inst);
        let copies = &self.copies;
        let args: Vec<Value> = func.dfg.inst_args(copy).to_vec();
        let args = args.into_iter().map(|arg| {
            let arg = func.dfg.resolve_aliases(arg);
            copies.get(&arg).copied().unwrap_or(arg)
        });
        let args: Vec<Value> = args.collect();
        func.dfg.overwrite_inst_values(copy, args.into_iter());
        let results = func.dfg.inst_results(inst).to_vec();
        let copied = func.dfg.inst_results(copy).to_vec();
        self.copies.extend(results.into_iter().zip(copied));
        self.cursor.insert_inst(copy);
        self.cursor.func.set_srcloc(copy, location);
        self.copies[&value]
    }

    /// What a walk starts with.
    pub(super) fn first(&mut self, walk: &Walk) -> Value {
        let ty = if walk.bits < 64 {
            types::I32
        } else {
            types::I64
        };
        let mut sum = self.constant(ty, walk.form.constant);
        for &(value, factor) in &walk.form.terms {
            let mut term = self.value(value);
            if factor != 1 {
                let factor = self.constant(ty, factor);
                term = self.ins().imul(term, factor);
            }
            sum = self.ins().iadd(sum, term);
        }
        sum
    }

    fn constant(&mut self, ty: Type, number: u64) -> Value {
        self.ins().iconst(ty, signed(number, ty.bits()))
    }

    /// `n / by`, of a natural number and one that is above 0.
    pub(super) fn quotient(&mut self, n: Value, by: i64) -> Value {
        match by & (by - 1) {
            0 => self.ins().ushr_imm_u(n, i64::from(by.trailing_zeros())),
            _ => {
                let by = self.ins().iconst(types::I64, by);
                self.ins().udiv(n, by)
            }
        }
    }

    /// A condition: a number is not negative.
    pub(super) fn must_be_natural(&mut self, number: Value) {
        self.conditions = Some(match self.conditions {
            Some(all) => self.ins().bor(all, number),
            None => number,
        });
    }

    /// A condition: a number below `2^63` is 0.
    pub(super) fn must_be_zero(&mut self, number: Value) {
        let less = self.ins().ineg(number);
        self.must_be_natural(less);
    }

    /// A condition: an unsigned number is below `2^62`.
    pub(super) fn must_be_small(&mut self, number: Value) {
        let twice = self.ins().ishl_imm_u(number, 1);
        self.must_be_natural(number);
        self.must_be_natural(twice);
    }

    /// A condition: two groups have no byte in common. Addresses are below `2^62`, so no
    /// difference overflows.
    fn must_be_apart(&mut self, one: &Extent, two: &Extent) {
        let one_first = self.ins().isub(two.least, one.end);
        let two_first = self.ins().isub(one.least, two.end);
        let either = self.ins().band(one_first, two_first);
        self.must_be_natural(either);
    }

    /// A condition: all accesses of a group are inside; and where they are then.
    fn group(&mut self, group: &Group, trips: Value) -> Extent {
        let Group {
            touch,
            walk,
            least,
            end,
            ..
        } = group;
        let mut first = self.first(walk);
        match walk.bits {
            64.. => self.must_be_small(first),
            _ => first = self.ins().uextend(types::I64, first),
        }
        let mut last = first;
        if walk.step != 0 {
            let step = self.ins().iconst(types::I64, walk.step);
            let walked = self.ins().imul(trips, step);
            last = self.ins().iadd(first, walked);
        }
        let (lowest, highest) = match walk.step < 0 {
            true => {
                self.must_be_natural(last);
                (last, first)
            }
            false => (first, last),
        };
        let def = self.value(touch.def);
        let flags: MemFlagsData = touch.cell_flags;
        let len = self.ins().load(types::I64, flags, def, MEMORY_LEN);
        let end = self.ins().iadd_imm_s(highest, *end);
        let left = self.ins().isub(len, end);
        self.must_be_natural(left);
        let base = self.value(touch.base);
        let mut address = |index, more| {
            let index = self.ins().iadd_imm_s(index, more);
            self.ins().iadd(base, index)
        };
        Extent {
            base,
            start: address(first, *least),
            least: address(lowest, *least),
            end: address(end, 0),
        }
    }
}
