//! What is known of a value from the instruction that makes it: the numbers
//! between which it lies.

use cranelift_codegen::ir::{DataFlowGraph, Inst, InstructionData, Opcode, Type, Value, ValueDef};

use super::form::constant;

/// A value lies between these, both included, read as an unsigned number
/// that fits 62 bits, or as the signed number it is congruent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub lo: i64,
    pub hi: i64,
}

/// Instructions that are followed from one value.
const DEPTH_MAX: u32 = 6;
/// Numbers beyond are not computed with.
const MAGNITUDE_MAX: i64 = 1 << 60;

impl Range {
    fn new(lo: i64, hi: i64) -> Option<Range> {
        (lo >= -MAGNITUDE_MAX && hi <= MAGNITUDE_MAX).then_some(Range { lo, hi })
    }

    /// All numbers of `bits` bits; nothing for 64.
    fn unsigned(bits: u32) -> Option<Range> {
        (bits < 60).then(|| Range {
            lo: 0,
            hi: (1 << bits) - 1,
        })
    }

    /// How many numbers, less one.
    pub fn width(self) -> i64 {
        self.hi - self.lo
    }

    /// `factor` times it.
    pub fn times(self, factor: i64) -> Option<Range> {
        let (a, b) = (self.lo.checked_mul(factor)?, self.hi.checked_mul(factor)?);
        Range::new(a.min(b), a.max(b))
    }

    /// The sums.
    pub fn plus(self, other: Range) -> Option<Range> {
        Range::new(
            self.lo.checked_add(other.lo)?,
            self.hi.checked_add(other.hi)?,
        )
    }

    /// The least range with both.
    pub fn hull(self, other: Range) -> Range {
        Range {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
        }
    }
}

/// The range of a value. Of one with less than 64 bits it is that of the
/// unsigned number; nothing where that is any number of its type.
pub(super) fn of(dfg: &DataFlowGraph, value: Value) -> Option<Range> {
    known(dfg, value, DEPTH_MAX)
}

fn known(dfg: &DataFlowGraph, value: Value, depth: u32) -> Option<Range> {
    if let Some(number) = constant(dfg, value) {
        let number = match dfg.value_type(value).bits() {
            64 => number.cast_signed(),
            _ => i64::try_from(number).ok()?,
        };
        return Range::new(number, number);
    }
    let ValueDef::Result(inst, _) = dfg.value_def(dfg.resolve_aliases(value)) else {
        return None;
    };
    if depth == 0 {
        return None;
    }
    of_result(dfg, inst, dfg.value_type(value), depth - 1)
}

/// As [`known`], of a value of less than 64 bits, whose type is known at least.
fn narrow(dfg: &DataFlowGraph, value: Value, depth: u32) -> Option<Range> {
    known(dfg, value, depth).or_else(|| Range::unsigned(dfg.value_type(value).bits()))
}

fn of_result(dfg: &DataFlowGraph, inst: Inst, ty: Type, depth: u32) -> Option<Range> {
    let args = dfg.inst_args(inst);
    let arg = |i: usize| known(dfg, args[i], depth);
    let range = match dfg.insts[inst].opcode() {
        Opcode::Uextend => narrow(dfg, args[0], depth),
        Opcode::Sextend if ty.bits() == 64 => {
            let half = 1 << (dfg.value_type(args[0]).bits() - 1);
            match arg(0) {
                Some(range) if range.hi < half => Some(range),
                _ => Range::new(-half, half - 1),
            }
        }
        Opcode::Ireduce => arg(0).filter(|range| fits(*range, ty)),
        Opcode::Band => least(arg(0).filter(is_natural), arg(1).filter(is_natural)),
        Opcode::Ushr => shifted_right(dfg, args, ty, depth),
        Opcode::Ishl => {
            let by = constant(dfg, args[1])? % u64::from(ty.bits());
            arg(0)?.times(1i64.checked_shl(by as u32).filter(|f| *f > 0)?)
        }
        Opcode::Iadd => arg(0)?.plus(arg(1)?),
        Opcode::Isub => arg(0)?.plus(arg(1)?.times(-1)?),
        Opcode::Imul => {
            let (left, right) = (arg(0)?, arg(1)?);
            match is_natural(&left) && is_natural(&right) {
                true => Range::new(
                    left.lo.checked_mul(right.lo)?,
                    left.hi.checked_mul(right.hi)?,
                ),
                false => None,
            }
        }
        Opcode::Urem => {
            let modulus = constant(dfg, args[1]).and_then(|m| i64::try_from(m).ok())?;
            Range::new(0, modulus.checked_sub(1)?.max(0))
        }
        Opcode::Umin => least(arg(0).filter(is_natural), arg(1).filter(is_natural)),
        Opcode::Select => Some(arg(1)?.hull(arg(2)?)),
        Opcode::Clz | Opcode::Ctz | Opcode::Popcnt => Range::new(0, i64::from(ty.bits())),
        Opcode::Uload8 => Range::unsigned(8),
        Opcode::Uload16 => Range::unsigned(16),
        Opcode::Uload32 => Range::unsigned(32),
        Opcode::Icmp | Opcode::Fcmp => Range::new(0, 1),
        _ => None,
    };
    // Below 64 bits it must be the unsigned number itself, and say something.
    let all = Range::unsigned(ty.bits());
    range.filter(|range| ty.bits() == 64 || (fits(*range, ty) && Some(*range) != all))
}

fn is_natural(range: &Range) -> bool {
    range.lo >= 0
}

fn fits(range: Range, ty: Type) -> bool {
    Range::unsigned(ty.bits()).is_none_or(|all| range.lo >= 0 && range.hi <= all.hi)
}

/// Of a bitwise and, or the smaller of two: at most either.
fn least(left: Option<Range>, right: Option<Range>) -> Option<Range> {
    let hi = match (left, right) {
        (Some(left), Some(right)) => left.hi.min(right.hi),
        (Some(one), None) | (None, Some(one)) => one.hi,
        (None, None) => return None,
    };
    Range::new(0, hi)
}

fn shifted_right(dfg: &DataFlowGraph, args: &[Value], ty: Type, depth: u32) -> Option<Range> {
    let by = constant(dfg, args[1])? % u64::from(ty.bits());
    match known(dfg, args[0], depth).filter(is_natural) {
        Some(range) => Range::new(range.lo >> by, range.hi >> by),
        None if by > 0 => Range::unsigned(ty.bits() - by as u32),
        None => None,
    }
}

/// Whether an instruction only computes: it can be left out or done twice
/// without anybody seeing it.
pub(in crate::compile) fn only_computes(dfg: &DataFlowGraph, inst: Inst) -> bool {
    let opcode = dfg.insts[inst].opcode();
    let is_constant_load = match dfg.insts[inst] {
        InstructionData::Load { flags, .. } => {
            let flags = dfg.mem_flags[flags];
            flags.readonly() && flags.notrap()
        }
        _ => false,
    };
    is_constant_load
        || !(opcode.can_load()
            || opcode.can_store()
            || opcode.can_trap()
            || opcode.is_call()
            || opcode.is_branch()
            || opcode.is_terminator()
            || opcode.other_side_effects())
}
