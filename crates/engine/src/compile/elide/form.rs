//! Linear forms: an index as a sum of multiples of values, and a constant.
//!
//! Wasm's integers are a ring modulo `2^bits`, so the form is exact: additions,
//! subtractions and multiplications by constants may be taken apart and put
//! together again without a thought about overflow. Two indices whose forms
//! differ in the constant alone have the same *root*.

use std::collections::HashMap;

use cranelift_codegen::ir::{DataFlowGraph, Inst, InstructionData, Opcode, Value, ValueDef, types};
use smallvec::SmallVec;

/// Values that a form has at most; one that would have more is a term itself.
const TERMS_MAX: usize = 4;
/// Instructions that are followed from one index.
const DEPTH_MAX: u32 = 24;

/// A value and what it is multiplied by.
pub(in crate::compile) type Term = (Value, u64);

/// A sum: terms in the order of their values, none with the factor 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::compile) struct Linear {
    pub terms: SmallVec<[Term; TERMS_MAX]>,
    pub constant: u64,
}

impl Linear {
    fn of(value: Value) -> Linear {
        Linear {
            terms: SmallVec::from_slice(&[(value, 1)]),
            constant: 0,
        }
    }

    /// Adds `factor` times another one; false, and nothing is added, where there
    /// would be too many terms.
    pub fn add(&mut self, other: &Linear, factor: u64, bits: u32) -> bool {
        let mut sum = self.clone();
        for (value, times) in &other.terms {
            let times = times.wrapping_mul(factor);
            match sum.terms.binary_search_by_key(value, |term| term.0) {
                Ok(at) => {
                    let times = cut(sum.terms[at].1.wrapping_add(times), bits);
                    match times {
                        0 => drop(sum.terms.remove(at)),
                        times => sum.terms[at].1 = times,
                    }
                }
                Err(at) => match cut(times, bits) {
                    0 => {}
                    times => sum.terms.insert(at, (*value, times)),
                },
            }
        }
        let constant = other.constant.wrapping_mul(factor);
        sum.constant = cut(sum.constant.wrapping_add(constant), bits);
        if sum.terms.len() > TERMS_MAX {
            return false;
        }
        *self = sum;
        true
    }

    /// The terms that another form does not have.
    pub fn terms_not_in(&self, other: &Linear) -> Linear {
        let mut rest = self.clone();
        rest.terms.retain(|term| !other.terms.contains(term));
        rest.constant = 0;
        rest
    }

    /// The same without the term at a position.
    pub fn without(&self, position: usize) -> Linear {
        let mut rest = self.clone();
        rest.terms.remove(position);
        rest
    }
}

/// The low `bits` of a number.
fn cut(number: u64, bits: u32) -> u64 {
    match bits {
        64.. => number,
        _ => number & ((1 << bits) - 1),
    }
}

/// A number modulo `2^bits` as the signed one of the least magnitude.
pub(in crate::compile) fn signed(number: u64, bits: u32) -> i64 {
    let unused = u64::BITS - bits;
    (number << unused).cast_signed() >> unused
}

/// The terms of a form, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::compile) struct Root(u32);

impl Root {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The forms of a function's values.
#[derive(Default)]
pub(in crate::compile) struct Forms {
    known: HashMap<Value, Linear>,
    roots: HashMap<(u32, SmallVec<[Term; TERMS_MAX]>), Root>,
}

impl Forms {
    /// The form of a value of type i32 or i64.
    pub fn linear(&mut self, dfg: &DataFlowGraph, value: Value) -> Linear {
        self.follow(dfg, value, DEPTH_MAX)
    }

    fn follow(&mut self, dfg: &DataFlowGraph, value: Value, depth: u32) -> Linear {
        let value = dfg.resolve_aliases(value);
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        let parts = match dfg.value_def(value) {
            ValueDef::Result(inst, _) if depth > 0 => self.parts(dfg, value, inst, depth - 1),
            _ => None,
        };
        let linear = parts.unwrap_or_else(|| Linear::of(value));
        self.known.insert(value, linear.clone());
        linear
    }

    /// The form of an instruction's result; nothing where it is a term.
    fn parts(
        &mut self,
        dfg: &DataFlowGraph,
        value: Value,
        inst: Inst,
        depth: u32,
    ) -> Option<Linear> {
        let bits = dfg.value_type(value).bits();
        let mut sum = Linear::default();
        let args = dfg.inst_args(inst);
        match dfg.insts[inst].opcode() {
            Opcode::Iconst => sum.constant = cut(constant(dfg, value)?, bits),
            Opcode::Iadd => {
                sum = self.follow(dfg, args[0], depth);
                let right = self.follow(dfg, args[1], depth);
                return sum.add(&right, 1, bits).then_some(sum);
            }
            Opcode::Isub => {
                sum = self.follow(dfg, args[0], depth);
                let right = self.follow(dfg, args[1], depth);
                return sum.add(&right, u64::MAX, bits).then_some(sum);
            }
            Opcode::Ishl => {
                // The amount is taken modulo the width.
                let by = constant(dfg, args[1])? % u64::from(bits);
                let left = self.follow(dfg, args[0], depth);
                return sum.add(&left, 1 << by, bits).then_some(sum);
            }
            Opcode::Imul => {
                let (left, times) = match (constant(dfg, args[0]), constant(dfg, args[1])) {
                    (_, Some(times)) => (args[0], times),
                    (Some(times), None) => (args[1], times),
                    (None, None) => return None,
                };
                let left = self.follow(dfg, left, depth);
                return sum.add(&left, times, bits).then_some(sum);
            }
            _ => return None,
        }
        Some(sum)
    }

    /// The number of a form's terms.
    pub fn root(&mut self, linear: &Linear, bits: u32) -> Root {
        let next = Root(self.roots.len() as u32);
        *self
            .roots
            .entry((bits, linear.terms.clone()))
            .or_insert(next)
    }
}

/// The number that a value always is, zero-extended.
pub(in crate::compile) fn constant(dfg: &DataFlowGraph, value: Value) -> Option<u64> {
    let inst = dfg.value_def(dfg.resolve_aliases(value)).inst()?;
    match dfg.insts[inst] {
        InstructionData::UnaryImm {
            opcode: Opcode::Iconst,
            imm,
        } => Some(cut(
            imm.bits().cast_unsigned(),
            dfg.value_type(value).bits(),
        )),
        _ => None,
    }
}

/// Whether a value is one that forms are made of.
pub(in crate::compile) fn is_integer(dfg: &DataFlowGraph, value: Value) -> bool {
    matches!(dfg.value_type(value), types::I32 | types::I64)
}
