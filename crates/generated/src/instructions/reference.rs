//! What scalar instructions give, computed by the Rust compiler's own arithmetic.
//!
//! Integers, conversions and the exact operations on floats, without vectors. What
//! must stay true: nothing here shares a line with a translation.

use super::Outcome;
use super::ops::Op;
use crate::observe::{Bits, Ended};
use std::ops::{Add, Div, Mul, Sub};

/// The right answer, where this knows the instruction.
pub fn evaluate(op: &Op, operands: &[u128]) -> Option<Outcome> {
    let a = operands.first().copied().unwrap_or(0);
    let b = operands.get(1).copied().unwrap_or(0);
    let result = match (op.prefix, op.code) {
        (0, 0x45..=0x4f) => compared(op.code - 0x45, u64::from(a as u32), u64::from(b as u32), 32),
        (0, 0x50..=0x5a) => compared(op.code - 0x50, a as u64, b as u64, 64),
        (0, 0x5b..=0x60) => ordered(op.code - 0x5b, f64::from(single(a)), f64::from(single(b))),
        (0, 0x61..=0x66) => ordered(op.code - 0x61, double(a), double(b)),
        (0, 0x67..=0x78) => return integer(op.code - 0x67, a as u64, b as u64, 32),
        (0, 0x79..=0x8a) => return integer(op.code - 0x79, a as u64, b as u64, 64),
        (0, 0x8b..=0x98) => float::<f32>(op.code - 0x8b, a, b),
        (0, 0x99..=0xa6) => float::<f64>(op.code - 0x99, a, b),
        (0, 0xa7) => a as u32 as u128,
        (0, 0xa8..=0xab | 0xae..=0xb1) => return truncated(op.code, a),
        (0xfc, 0..=7) => saturated(op.code, a),
        (0, 0xac) => a as i32 as i64 as u64 as u128,
        (0, 0xad) => a as u32 as u128,
        (0, 0xb2..=0xbb) => converted(op.code, a),
        (0, 0xbc..=0xbf) => a,
        (0, 0xc0) => a as i8 as i32 as u32 as u128,
        (0, 0xc1) => a as i16 as i32 as u32 as u128,
        (0, 0xc2) => a as i8 as i64 as u64 as u128,
        (0, 0xc3) => a as i16 as i64 as u64 as u128,
        (0, 0xc4) => a as i32 as i64 as u64 as u128,
        (0xfc, 0x13..=0x16) => return wide(op.code, operands),
        _ => return None,
    };
    Some(Ok(vec![Bits::Number(result)]))
}

fn single(bits: u128) -> f32 {
    f32::from_bits(bits as u32)
}

fn double(bits: u128) -> f64 {
    f64::from_bits(bits as u64)
}

/// A number's value, sign included, of as many bits.
fn signed(value: u64, bits: u32) -> i64 {
    (value << (64 - bits)) as i64 >> (64 - bits)
}

fn compared(which: u32, a: u64, b: u64, bits: u32) -> u128 {
    let (x, y) = (signed(a, bits), signed(b, bits));
    let holds = [
        a == 0,
        a == b,
        a != b,
        x < y,
        a < b,
        x > y,
        a > b,
        x <= y,
        a <= b,
        x >= y,
        a >= b,
    ];
    holds[which as usize].into()
}

fn ordered(which: u32, a: f64, b: f64) -> u128 {
    [a == b, a != b, a < b, a > b, a <= b, a >= b][which as usize].into()
}

fn trapped(name: &'static str) -> Option<Outcome> {
    Some(Err(Ended::Trapped(name)))
}

fn integer(which: u32, a: u64, b: u64, bits: u32) -> Option<Outcome> {
    let mask = u64::MAX >> (64 - bits);
    let (a, b) = (a & mask, b & mask);
    let (x, y) = (signed(a, bits), signed(b, bits));
    let by = b as u32 % bits;
    let rotated = |left: u32| match left % bits {
        0 => a,
        left => a << left | a >> (bits - left),
    };
    if (6..=9).contains(&which) && b == 0 {
        return trapped("integer divide by zero");
    }
    if which == 6 && y == -1 && x == signed(1 << (bits - 1), bits) {
        return trapped("integer overflow");
    }
    let result = match which {
        0 => u64::from(a.leading_zeros() - (64 - bits)),
        1 => u64::from(a.trailing_zeros().min(bits)),
        2 => u64::from(a.count_ones()),
        3 => a.wrapping_add(b),
        4 => a.wrapping_sub(b),
        5 => a.wrapping_mul(b),
        6 => x.wrapping_div(y) as u64,
        7 => a / b,
        8 => x.wrapping_rem(y) as u64,
        9 => a % b,
        10 => a & b,
        11 => a | b,
        12 => a ^ b,
        13 => a << by,
        14 => (x >> by) as u64,
        15 => a >> by,
        16 => rotated(by),
        17 => rotated(bits - by),
        _ => return None,
    };
    Some(Ok(vec![Bits::Number(u128::from(result & mask))]))
}

/// What floats of both widths can do.
trait Float:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// How many bits it has.
    const WIDTH: u32;
    /// The NaN that the engine makes of every NaN that it computes.
    const NAN: Self;
    /// The one of these bits; higher ones are not looked at.
    fn of(bits: u128) -> Self;
    fn bits(self) -> u128;
    fn is_nan(self) -> bool;
    /// The operations with one operand, by their place behind `neg`.
    fn unary(self, which: u32) -> Option<Self>;
}

/// The standard library has the same methods for both types, and no trait of them.
macro_rules! float {
    ($ty:ident, $bits:ident) => {
        impl Float for $ty {
            const WIDTH: u32 = $bits::BITS;
            const NAN: $ty = $ty::NAN;

            fn of(bits: u128) -> $ty {
                $ty::from_bits(bits as $bits)
            }

            fn bits(self) -> u128 {
                u128::from(self.to_bits())
            }

            fn is_nan(self) -> bool {
                $ty::is_nan(self)
            }

            fn unary(self, which: u32) -> Option<$ty> {
                Some(match which {
                    0 => self.ceil(),
                    1 => self.floor(),
                    2 => self.trunc(),
                    3 => self.round_ties_even(),
                    4 => self.sqrt(),
                    _ => return None,
                })
            }
        }
    };
}

float!(f32, u32);
float!(f64, u64);

fn float<F: Float>(which: u32, a: u128, b: u128) -> u128 {
    let mask = u128::MAX >> (128 - F::WIDTH);
    let (a, b) = (a & mask, b & mask);
    let (x, y) = (F::of(a), F::of(b));
    let sign = 1 << (F::WIDTH - 1);
    let result = match which {
        // Signs are bits: those of a NaN too, and its payload stays.
        0 => return a & !sign,
        1 => return a ^ sign,
        13 => return a & !sign | b & sign,
        2..=6 => x.unary(which - 2).unwrap_or(F::NAN),
        7 => x + y,
        8 => x - y,
        9 => x * y,
        10 => x / y,
        11 | 12 if x.is_nan() || y.is_nan() => F::NAN,
        // Equal and not the same: zeros, of which the negative one is less.
        11 if x == y => F::of(a | b),
        12 if x == y => F::of(a & b),
        11 if x < y => x,
        12 if x > y => x,
        _ => y,
    };
    match result.is_nan() {
        true => F::NAN.bits(),
        false => result.bits(),
    }
}

/// To an integer, or a trap where none is nearest towards zero.
fn truncated(code: u32, a: u128) -> Option<Outcome> {
    let from_single = matches!(code, 0xa8 | 0xa9 | 0xae | 0xaf);
    // Every f32 is an f64, with the same value towards zero.
    let value = if from_single {
        f64::from(single(a))
    } else {
        double(a)
    };
    if value.is_nan() {
        return trapped("invalid conversion to integer");
    }
    let whole = value.trunc();
    let is_signed = matches!(code, 0xa8 | 0xaa | 0xae | 0xb0);
    let bits = if code < 0xac { 32 } else { 64 };
    let (low, high) = match is_signed {
        true => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)),
        false => (0.0, 2f64.powi(bits)),
    };
    if whole < low || whole >= high {
        return trapped("integer overflow");
    }
    let number = whole as i128 as u128;
    let mask = u128::MAX >> (128 - bits);
    Some(Ok(vec![Bits::Number(number & mask)]))
}

fn saturated(code: u32, a: u128) -> u128 {
    let (x, y) = (single(a), double(a));
    match code {
        0 => u128::from(x as i32 as u32),
        1 => u128::from(x as u32),
        2 => u128::from(y as i32 as u32),
        3 => u128::from(y as u32),
        4 => u128::from(x as i64 as u64),
        5 => u128::from(x as u64),
        6 => u128::from(y as i64 as u64),
        _ => u128::from(y as u64),
    }
}

fn converted(code: u32, a: u128) -> u128 {
    match code {
        0xb2 => u128::from((a as i32 as f32).to_bits()),
        0xb3 => u128::from((a as u32 as f32).to_bits()),
        0xb4 => u128::from((a as i64 as f32).to_bits()),
        0xb5 => u128::from((a as u64 as f32).to_bits()),
        0xb6 if double(a).is_nan() => u128::from(f32::NAN.to_bits()),
        0xb6 => u128::from((double(a) as f32).to_bits()),
        0xb7 => u128::from(f64::from(a as i32).to_bits()),
        0xb8 => u128::from(f64::from(a as u32).to_bits()),
        0xb9 => u128::from((a as i64 as f64).to_bits()),
        0xba => u128::from((a as u64 as f64).to_bits()),
        _ if single(a).is_nan() => u128::from(f64::NAN.to_bits()),
        _ => u128::from(f64::from(single(a)).to_bits()),
    }
}

fn wide(code: u32, operands: &[u128]) -> Option<Outcome> {
    let pair = |low: u128, high: u128| high << 64 | low;
    let result = match (code, operands) {
        (0x13, [a, b, c, d]) => pair(*a, *b).wrapping_add(pair(*c, *d)),
        (0x14, [a, b, c, d]) => pair(*a, *b).wrapping_sub(pair(*c, *d)),
        (0x15, [a, b]) => (i128::from(*a as i64) * i128::from(*b as i64)).cast_unsigned(),
        (0x16, [a, b]) => a * b,
        _ => return None,
    };
    Some(Ok(vec![
        Bits::Number(result & u128::from(u64::MAX)),
        Bits::Number(result >> 64),
    ]))
}
