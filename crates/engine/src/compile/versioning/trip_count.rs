//! How often a loop comes back.
//!
//! `E` is the number of iterations that have a next one: the least `k` in which the
//! condition of the way out holds. All is computed in 64 bits, of numbers below `2^62`.
//!
//! - *meets*: the loop goes on while `d ≠ 0`, of a `d` that starts at `d0` and changes by
//!   `s ≠ 0` modulo `2^b`. With `n = -d0` for `s > 0` and `n = d0` for `s < 0`, modulo
//!   `2^b`, `d` is first 0 in iteration `n / |s|` if `|s|` divides `n`: `n` is the least
//!   number that is congruent to what has to be walked. Where it does not divide it,
//!   nothing is said.
//! - *below*: the loop goes on while `x < y`, of an `x` that grows by `s > 0` and of a `y`
//!   that does not change. Read as the numbers that the comparison takes them for, `x` is
//!   first not below `y` in iteration `E = max(0, ⌈(y - x0) / s⌉)`, if no number up to
//!   `x0 + E × s ≤ max(x0, y + s - 1)` is beyond the type's greatest. `x ≤ y` is
//!   `x < y + 1`; `x > y` of an `x` that falls is the same downwards.
//!
//! Where both sides are numbers of 32 bits with zeros in preheader, those are compared instead, as
//! natural numbers: each relation between them is the same one.

use cranelift_codegen::ir::condcodes::{CondCode as _, IntCC};
use cranelift_codegen::ir::{Function, InstBuilder, InstructionData, Opcode, Value, types};

use super::preheader::Preheader;
use super::shape::Shape;
use super::walk::{Both, Walk, Walks};
use crate::compile::elide::form::constant;

/// What an iteration may add to what is compared.
const STEP_MAX: i64 = 1 << 30;

/// When a loop ends.
#[derive(Debug)]
pub(super) enum Trips {
    /// Where a difference is 0.
    Meets(Walk),
    /// Where one is not below, or not above, another.
    Passes {
        from: Walk,
        to: Walk,
        is_signed: bool,
        /// Whether the loop goes on where both are equal.
        or_equal: bool,
    },
}

/// How the way out of a loop can be counted, if it can.
pub(super) fn of(func: &Function, shape: &Shape, walks: &mut Walks<'_>) -> Option<Trips> {
    let InstructionData::Brif { arg, .. } = func.dfg.insts[shape.exit] else {
        return None;
    };
    let mut value = func.dfg.resolve_aliases(arg);
    let mut stays_if = !shape.leaves_if;
    // A comparison with 0 turns a condition around.
    for _ in 0..4 {
        let Some(inst) = func.dfg.value_def(value).inst() else {
            break;
        };
        let args = func.dfg.inst_args(inst);
        match func.dfg.insts[inst] {
            InstructionData::Unary {
                opcode: Opcode::Uextend,
                ..
            } => value = func.dfg.resolve_aliases(args[0]),
            InstructionData::IntCompare { cond, .. } => {
                let is_zero = constant(&func.dfg, args[1]) == Some(0);
                let truth = truth_of(func, args[0]).filter(|_| is_zero);
                match (cond, truth) {
                    (IntCC::Equal, Some(truth)) => (value, stays_if) = (truth, !stays_if),
                    (IntCC::NotEqual, Some(truth)) => value = truth,
                    _ => {
                        let cond = if stays_if { cond } else { cond.complement() };
                        return compared(walks, cond, args[0], args[1]);
                    }
                }
            }
            _ => break,
        }
    }
    let walk = walks.of(value).filter(|_| stays_if)?;
    meets(walk)
}

/// The comparison that an integer is the outcome of.
fn truth_of(func: &Function, value: Value) -> Option<Value> {
    let value = func.dfg.resolve_aliases(value);
    let inst = func.dfg.value_def(value).inst()?;
    match func.dfg.insts[inst].opcode() {
        Opcode::Icmp => Some(value),
        Opcode::Uextend => truth_of(func, func.dfg.inst_args(inst)[0]),
        _ => None,
    }
}

fn meets(walk: Walk) -> Option<Trips> {
    (walk.step != 0 && walk.step.abs() <= STEP_MAX).then_some(Trips::Meets(walk))
}

/// A loop that goes on while a comparison holds.
fn compared(walks: &mut Walks<'_>, cond: IntCC, x: Value, y: Value) -> Option<Trips> {
    let Both {
        forms: [mut x, y],
        bits,
        is_extended,
    } = walks.of_both(x, y)?;
    if cond == IntCC::NotEqual {
        x.add(&y, u64::MAX, bits).then_some(())?;
        return walks.of_form(x, bits).and_then(meets);
    }
    let cond = if is_extended { cond.unsigned() } else { cond };
    let (x, y) = (walks.of_form(x, bits)?, walks.of_form(y, bits)?);
    let (from, to, cond) = match (x.step, y.step) {
        (step, 0) if step != 0 => (x, y, cond),
        (0, step) if step != 0 => (y, x, cond.swap_args()),
        _ => return None,
    };
    let (grows, or_equal) = match cond {
        IntCC::SignedLessThan | IntCC::UnsignedLessThan => (true, false),
        IntCC::SignedLessThanOrEqual | IntCC::UnsignedLessThanOrEqual => (true, true),
        IntCC::SignedGreaterThan | IntCC::UnsignedGreaterThan => (false, false),
        IntCC::SignedGreaterThanOrEqual | IntCC::UnsignedGreaterThanOrEqual => (false, true),
        _ => return None,
    };
    let is_signed = cond != cond.unsigned();
    (grows == (from.step > 0) && from.step.abs() <= STEP_MAX).then_some(Trips::Passes {
        from,
        to,
        is_signed,
        or_equal,
    })
}

impl Trips {
    /// What it is computed of.
    pub(super) fn walks(&self) -> impl Iterator<Item = &Walk> {
        let (first, second) = match self {
            Trips::Meets(walk) => (walk, None),
            Trips::Passes { from, to, .. } => (from, Some(to)),
        };
        std::iter::once(first).chain(second)
    }

    /// Appends the computation of `E`, and of what must not be negative for it to hold.
    /// It is below `2^32` then.
    pub(super) fn emit(&self, preheader: &mut Preheader<'_>) -> Value {
        match self {
            Trips::Meets(walk) => meets_at(preheader, walk),
            Trips::Passes {
                from,
                to,
                is_signed,
                or_equal,
            } => passes_at(preheader, from, to, *is_signed, *or_equal),
        }
    }
}

fn meets_at(preheader: &mut Preheader<'_>, walk: &Walk) -> Value {
    let mut n = preheader.first(walk);
    if walk.step > 0 {
        n = preheader.ins().ineg(n);
    }
    if walk.bits < 64 {
        n = preheader.ins().uextend(types::I64, n);
    } else {
        let high = preheader.ins().ushr_imm_u(n, 32);
        preheader.must_be_zero(high);
    }
    let by = walk.step.abs();
    if by == 1 {
        return n;
    }
    let rest = match by & (by - 1) {
        0 => preheader.ins().band_imm_u(n, by - 1),
        _ => {
            let by = preheader.ins().iconst(types::I64, by);
            preheader.ins().urem(n, by)
        }
    };
    preheader.must_be_zero(rest);
    preheader.quotient(n, by)
}

fn passes_at(
    preheader: &mut Preheader<'_>,
    from: &Walk,
    to: &Walk,
    is_signed: bool,
    or_equal: bool,
) -> Value {
    let [x, y] = [from, to].map(|walk| {
        let value = preheader.first(walk);
        match (walk.bits, is_signed) {
            (64.., _) => {
                preheader.must_be_small(value);
                value
            }
            (_, true) => preheader.ins().sextend(types::I64, value),
            (_, false) => preheader.ins().uextend(types::I64, value),
        }
    });
    let (least, greatest) = match (from.bits, is_signed) {
        (64.., true) => (-(1 << 62), (1 << 62) - 1),
        (64.., false) => (0, (1 << 62) - 1),
        (_, true) => (i64::from(i32::MIN), i64::from(i32::MAX)),
        (_, false) => (0, i64::from(u32::MAX)),
    };
    let by = from.step.abs();
    // What is walked beyond the bound at most.
    let beyond = by - i64::from(!or_equal);
    let (distance, room) = match from.step > 0 {
        true => {
            let last = preheader.ins().iconst(types::I64, greatest - beyond);
            (preheader.ins().isub(y, x), preheader.ins().isub(last, y))
        }
        false => {
            let last = preheader.ins().iconst(types::I64, least + beyond);
            (preheader.ins().isub(x, y), preheader.ins().isub(y, last))
        }
    };
    preheader.must_be_natural(room);
    // ⌈n / by⌉ of the numbers that are to be walked, which are one more where both may be
    // equal.
    let distance = preheader.ins().iadd_imm_s(distance, beyond);
    let none = preheader.ins().iconst(types::I64, 0);
    let distance = preheader.ins().smax(distance, none);
    let trips = preheader.quotient(distance, by);
    if from.bits >= 64 {
        let high = preheader.ins().ushr_imm_u(trips, 32);
        preheader.must_be_zero(high);
    }
    trips
}
