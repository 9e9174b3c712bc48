//! What a value is in iteration `k` of a loop: `first + k × step`, modulo the width.

use std::collections::HashMap;

use cranelift_codegen::ir::{Function, Inst, Opcode, Value, ValueDef, types};

use super::shape::Shape;
use crate::compile::elide::form::{Forms, Linear, constant, is_integer, signed};
use crate::compile::elide::range::only_computes;

/// Instructions that are followed from a value that does not change.
const DEPTH_MAX: u32 = 12;

/// A value in a loop.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// A sum of values that the loop does not change and of parameters of its header,
    /// which stand for what they are at first.
    pub form: Linear,
    /// What an iteration adds.
    pub step: i64,
    /// Bits of the value.
    pub bits: u32,
}

/// Two values that are compared, as sums.
pub(super) struct Both {
    pub forms: [Linear; 2],
    /// Bits of either.
    pub bits: u32,
    /// Whether the comparison is of both with zeros in front, so that none is negative.
    pub is_extended: bool,
}

/// The values of one loop.
pub(super) struct Walks<'a> {
    func: &'a Function,
    shape: &'a Shape,
    forms: &'a mut Forms,
    fixed: HashMap<Value, bool>,
}

impl<'a> Walks<'a> {
    pub(super) fn new(func: &'a Function, shape: &'a Shape, forms: &'a mut Forms) -> Walks<'a> {
        Walks {
            func,
            shape,
            forms,
            fixed: HashMap::new(),
        }
    }

    /// An integer's walk, if it has one.
    pub(super) fn of(&mut self, value: Value) -> Option<Walk> {
        let dfg = &self.func.dfg;
        if !is_integer(dfg, value) {
            return None;
        }
        let form = self.forms.linear(dfg, value);
        self.of_form(form, dfg.value_type(value).bits())
    }

    /// That of a sum.
    pub(super) fn of_form(&mut self, form: Linear, bits: u32) -> Option<Walk> {
        let mut step = 0i64;
        for &(value, factor) in &form.terms {
            if !self.is_fixed(value) {
                let one = self.step(value)?.checked_mul(signed(factor, bits))?;
                step = step.checked_add(one)?;
            }
        }
        Some(Walk { form, step, bits })
    }

    /// Two integers of one type that are compared.
    pub(super) fn of_both(&mut self, x: Value, y: Value) -> Option<Both> {
        let dfg = &self.func.dfg;
        if !is_integer(dfg, x) {
            return None;
        }
        if let (Some(x), Some(y)) = (self.narrow(x), self.narrow(y)) {
            return Some(Both {
                forms: [x, y],
                bits: 32,
                is_extended: true,
            });
        }
        Some(Both {
            forms: [x, y].map(|value| self.forms.linear(dfg, value)),
            bits: dfg.value_type(x).bits(),
            is_extended: false,
        })
    }

    /// The lower half of a number of 64 bits whose upper half is 0.
    fn narrow(&mut self, value: Value) -> Option<Linear> {
        let dfg = &self.func.dfg;
        let value = dfg.resolve_aliases(value);
        if dfg.value_type(value) != types::I64 {
            return None;
        }
        if let Some(constant) = constant(dfg, value) {
            let is_narrow = u32::try_from(constant).is_ok();
            return is_narrow.then(|| Linear {
                constant,
                ..Linear::default()
            });
        }
        let inst = dfg.value_def(value).inst()?;
        let narrow = dfg.inst_args(inst).first()?;
        let is_it =
            dfg.insts[inst].opcode() == Opcode::Uextend && dfg.value_type(*narrow) == types::I32;
        is_it.then(|| self.forms.linear(dfg, *narrow))
    }

    /// What an iteration adds to a parameter of the header.
    fn step(&mut self, value: Value) -> Option<i64> {
        let ValueDef::Param(block, number) = self.func.dfg.value_def(value) else {
            return None;
        };
        if block != self.shape.header {
            return None;
        }
        let next = self.shape.next(self.func, number)?;
        let form = self.forms.linear(&self.func.dfg, next);
        let bits = self.func.dfg.value_type(value).bits();
        (form.terms[..] == [(value, 1)]).then(|| signed(form.constant, bits))
    }

    /// Whether a value is the same in each iteration.
    pub(super) fn is_fixed(&mut self, value: Value) -> bool {
        self.is_fixed_within(self.func.dfg.resolve_aliases(value), DEPTH_MAX)
    }

    fn is_fixed_within(&mut self, value: Value, depth: u32) -> bool {
        if !self.shape.defines(self.func, value) {
            return true;
        }
        if let Some(known) = self.fixed.get(&value) {
            return *known;
        }
        let ValueDef::Result(inst, _) = self.func.dfg.value_def(value) else {
            return false;
        };
        let func = self.func;
        let args = func.dfg.inst_args(inst).iter();
        let is_fixed = depth > 0
            && is_pure(func, inst)
            && args
                .map(|arg| func.dfg.resolve_aliases(*arg))
                .all(|arg| self.is_fixed_within(arg, depth - 1));
        self.fixed.insert(value, is_fixed);
        is_fixed
    }
}

/// Whether an instruction can be done again, or not at all, without anybody seeing it.
pub(super) fn is_pure(func: &Function, inst: Inst) -> bool {
    let dfg = &func.dfg;
    let divisor = || dfg.inst_args(inst).get(1).and_then(|y| constant(dfg, *y));
    match dfg.insts[inst].opcode() {
        Opcode::Udiv | Opcode::Urem => divisor().is_some_and(|y| y != 0),
        Opcode::Sdiv | Opcode::Srem => divisor().is_some_and(|y| {
            let bits = dfg.ctrl_typevar(inst).bits();
            ![0, -1].contains(&signed(y, bits))
        }),
        _ => only_computes(dfg, inst),
    }
}
