//! Products of 64-bit integers in full, written with what WebAssembly has.
//!
//! WebAssembly has no instruction for the high half of a product, so compilers
//! multiply by halves of 32 bits. Processors have that instruction, and a cipher
//! on elliptic curves does little else.
//!
//! ```text
//!  x = x1·2³² + x0    y = y1·2³² + y0       p = x0·y0
//!
//!  carried twice:  t = (p >> 32) + x0·y1     m = (t & M) + x1·y0
//!                  high = x1·y1 + (t >> 32) + (m >> 32)
//!  carried once:   m = (p >> 32) + (x1·y0 & M) + x0·y1
//!                  high = x1·y1 + (x1·y0 >> 32) + (m >> 32)
//!  both:           low = (m << 32) | (p & M)            M = 2³² - 1
//!  compared:       m = x0·y1 + x1·y0                    c = m < x0·y1 or m < x1·y0
//!                  low = p + (m << 32)                  k = low < p or low < m << 32
//!                  high = x1·y1 + ((c << 32) | (m >> 32)) + k
//! ```
//!
//! Why these are the product, for all `x` and `y`: no sum wraps, as a product of
//! two numbers below 2³² is at most `(2³² - 1)² = 2⁶⁴ - 2·2³² + 1`, which leaves
//! room for two more such numbers. So `t` and `m` are what they are in the
//! integers, and
//!
//! ```text
//!  x·y = x1·y1·2⁶⁴ + (x0·y1 + x1·y0)·2³² + p
//!      = (x1·y1 + (t >> 32))·2⁶⁴ + ((t & M) + x1·y0)·2³² + (p & M)
//! ```
//!
//! for the first form, where the middle is `m`, and alike for the second, where
//! `x1·y0` is split instead of `t`. `m·2³²` adds `m >> 32` to the high half; of
//! the low half it has the upper 32 bits, `p & M` the lower ones. With `x` and `y`
//! changed for one another it is the same.
//!
//! In the third form two sums wrap. A sum of two terms is less than either just where
//! it does, so `c·2⁶⁴ + m` and `k·2⁶⁴ + low` are the sums in the integers, and
//!
//! ```text
//!  x·y = x1·y1·2⁶⁴ + (c·2⁶⁴ + m)·2³² + p
//!      = (x1·y1 + c·2³² + (m >> 32))·2⁶⁴ + (m << 32) + p
//! ```
//!
//! where `m << 32` has lost what `m >> 32` has, and `c·2³²` has no bit of `m >> 32`.
//!
//! The sums are matched in any order, and other terms may be among those of the
//! high half, as those of a product of 128-bit integers are. Nothing else is
//! taken for a product: what does not match stays as it is.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, InstructionData, Opcode, Value, ValueDef, types};
use smallvec::SmallVec;

use super::Translator;

/// Terms of a sum.
type Terms = SmallVec<[Value; 8]>;

/// The most terms of the high half's sum: what a product needs, and as many
/// besides.
const MOST_TERMS: usize = 6;

/// Bits of a half, and the mask of the low one.
const HALF: i64 = 32;
const LOW: i64 = 0xffff_ffff;

/// The two factors of a product, and the terms of its high half besides `m >> 32`.
struct Middle {
    x: Value,
    y: Value,
    /// `x0·y0`.
    lowest: Value,
    /// `t` or `x1·y0`, whose upper half is a term.
    split: Value,
}

impl Translator<'_> {
    /// `x + y`, both of 64 bits.
    pub(super) fn add64(&mut self, x: Value, y: Value) -> Value {
        match self.high_half(x, y).or_else(|| self.low_half(x, y, true)) {
            Some(value) => value,
            None => self.b.ins().iadd(x, y),
        }
    }

    /// `x | y`, both of 64 bits.
    pub(super) fn or64(&mut self, x: Value, y: Value) -> Value {
        match self.low_half(x, y, false) {
            Some(value) => value,
            None => self.b.ins().bor(x, y),
        }
    }

    /// `x + y`, where it is the high half of a product and perhaps other terms.
    fn high_half(&mut self, x: Value, y: Value) -> Option<Value> {
        // The last term that is added is one of the product's.
        let may_end = |value| {
            self.shifted(value, Opcode::Ushr).is_some()
                || self.of_highs(value)
                || self.less(value).is_some()
                || self.joined(value).is_some()
        };
        if !may_end(y) && !may_end(x) {
            return None;
        }
        let terms = self.terms([x, y]);
        let (x, y, others) = self
            .shifted_high(terms.clone())
            .or_else(|| self.compared_high(terms))?;
        let (_, high) = self.full_product(x, y);
        self.state.has_products = true;
        Some(
            others
                .into_iter()
                .fold(high, |sum, term| self.b.ins().iadd(sum, term)),
        )
    }

    /// The factors of which a sum is the high half in one of the first two forms, and
    /// what else is in the sum.
    fn shifted_high(&self, mut terms: Terms) -> Option<(Value, Value, Terms)> {
        let (middle, found) = terms.iter().enumerate().find_map(|(at, term)| {
            let middle = self.middle(self.shifted(*term, Opcode::Ushr)?)?;
            Some((middle, at))
        })?;
        terms.remove(found);
        let split = |term| self.shifted(term, Opcode::Ushr) == Some(middle.split);
        let found = terms.iter().position(|term| split(*term))?;
        terms.remove(found);
        let highest = |term| self.is_product(term, (middle.x, true), (middle.y, true));
        let found = terms.iter().position(|term| highest(*term))?;
        terms.remove(found);
        Some((middle.x, middle.y, terms))
    }

    /// The same in the third form.
    fn compared_high(&self, mut terms: Terms) -> Option<(Value, Value, Terms)> {
        let joined = |(at, term): (usize, &Value)| Some((self.joined(*term)?, at));
        let (middle, at) = terms.iter().enumerate().find_map(joined)?;
        terms.remove(at);
        let (x, y) = self.crossed(middle)?;
        let is_carry = |term: &Value| {
            self.less(*term).is_some_and(|[low, part]| {
                let of_lowest = self.is_product(part, (x, false), (y, false));
                let of_middle = self.shifted(part, Opcode::Ishl) == Some(middle);
                (of_lowest || of_middle) && self.is_low_of(low, x, y)
            })
        };
        let found = terms.iter().position(is_carry)?;
        terms.remove(found);
        let highest = |term: &Value| self.is_product(*term, (x, true), (y, true));
        let found = terms.iter().position(highest)?;
        terms.remove(found);
        Some((x, y, terms))
    }

    /// `m` of `(c << 32) | (m >> 32)`, where `c` says that the sum `m` has wrapped.
    fn joined(&self, value: Value) -> Option<Value> {
        let [a, b] = self.binary(value, Opcode::Bor)?;
        let (carry, middle) = match self.shifted(a, Opcode::Ishl) {
            Some(carry) => (carry, self.shifted(b, Opcode::Ushr)?),
            None => (
                self.shifted(b, Opcode::Ishl)?,
                self.shifted(a, Opcode::Ushr)?,
            ),
        };
        let [sum, term] = self.less(carry)?;
        let terms = self.binary(middle, Opcode::Iadd)?;
        (sum == middle && terms.contains(&term)).then_some(middle)
    }

    /// The factors of which a value is `x0·y1 + x1·y0`.
    fn crossed(&self, value: Value) -> Option<(Value, Value)> {
        let [one, other] = self.binary(value, Opcode::Iadd)?;
        let (x, y) = self.halves(one)?;
        self.is_product(other, (x, false), (y, true))
            .then_some((x, y))
    }

    /// The factor whose high half is in a product, and that whose low half is.
    fn halves(&self, product: Value) -> Option<(Value, Value)> {
        let [a, b] = self.binary(product, Opcode::Imul)?;
        match (self.shifted(a, Opcode::Ushr), self.masked(b)) {
            (Some(x), Some(y)) => Some((x, y)),
            _ => Some((self.shifted(b, Opcode::Ushr)?, self.masked(a)?)),
        }
    }

    /// The two values of which one is less than the other where a number is 1, and
    /// not where it is 0.
    fn less(&self, value: Value) -> Option<[Value; 2]> {
        let narrow = self.unary(value, Opcode::Uextend)?;
        let condition = self.unary(narrow, Opcode::Uextend).unwrap_or(narrow);
        match *self.definition(condition)? {
            InstructionData::IntCompare { args, cond, .. } => {
                let [a, b] = args.map(|arg| self.b.func.dfg.resolve_aliases(arg));
                match cond {
                    IntCC::UnsignedLessThan => Some([a, b]),
                    IntCC::UnsignedGreaterThan => Some([b, a]),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether a value is the low half of a product, as [`Self::full_product`] makes it.
    fn is_low_of(&self, value: Value, x: Value, y: Value) -> bool {
        let dfg = &self.b.func.dfg;
        let ValueDef::Result(_, 0) = dfg.value_def(dfg.resolve_aliases(value)) else {
            return false;
        };
        let factors = match self.unary(value, Opcode::Isplit) {
            Some(product) => self.binary(product, Opcode::Imul).and_then(|wide| {
                let [a, b] = wide.map(|factor| self.unary(factor, Opcode::Uextend));
                Some([a?, b?])
            }),
            None => self.binary(value, Opcode::Imul),
        };
        factors.is_some_and(|factors| factors == [x, y] || factors == [y, x])
    }

    /// `x | y`, or `x + y` where it says so, if it is the low half of a product.
    fn low_half(&mut self, x: Value, y: Value, is_sum: bool) -> Option<Value> {
        let (upper, lower) = match self.shifted(x, Opcode::Ishl) {
            Some(upper) => (upper, y),
            None => (self.shifted(y, Opcode::Ishl)?, x),
        };
        let (x, y) = match self.masked(lower) {
            Some(lowest) => {
                let middle = self.middle(upper)?;
                (lowest == middle.lowest).then_some((middle.x, middle.y))?
            }
            None => {
                let (x, y) = self.crossed(upper)?;
                let is_lowest = is_sum && self.is_product(lower, (x, false), (y, false));
                is_lowest.then_some((x, y))?
            }
        };
        Some(self.full_product(x, y).0)
    }

    /// What `m` is made of, if it is one.
    fn middle(&self, m: Value) -> Option<Middle> {
        let mut terms = self.terms(self.binary(m, Opcode::Iadd)?);
        let masked = |(at, term): (usize, &Value)| Some((self.masked(*term)?, at));
        let (split, at) = terms.iter().enumerate().find_map(masked)?;
        // Once: a sum can have the same term twice, and is none of these then.
        terms.remove(at);
        let (carry, product, other) = match terms[..] {
            // (t & M) + x1·y0, where t = (p >> 32) + x0·y1.
            [product] => {
                let [a, b] = self.binary(split, Opcode::Iadd)?;
                match self.shifted(a, Opcode::Ushr) {
                    Some(lowest) => (lowest, product, b),
                    None => (self.shifted(b, Opcode::Ushr)?, product, a),
                }
            }
            // (p >> 32) + (x1·y0 & M) + x0·y1.
            [a, b] => match self.shifted(a, Opcode::Ushr) {
                Some(lowest) => (lowest, split, b),
                None => (self.shifted(b, Opcode::Ushr)?, split, a),
            },
            _ => return None,
        };
        // Which factor is `x` does not matter: it is the one with the high half.
        let (x, y) = self.halves(product)?;
        let is_product = self.is_product(other, (x, false), (y, true))
            && self.is_product(carry, (x, false), (y, false));
        is_product.then_some(Middle {
            x,
            y,
            lowest: carry,
            split,
        })
    }

    /// Whether a value is the product of these halves, the high one where it says
    /// so.
    fn is_product(&self, value: Value, x: (Value, bool), y: (Value, bool)) -> bool {
        let half = |value, (whole, high)| match high {
            true => self.shifted(value, Opcode::Ushr) == Some(whole),
            false => self.masked(value) == Some(whole),
        };
        self.binary(value, Opcode::Imul)
            .is_some_and(|[a, b]| (half(a, x) && half(b, y)) || (half(b, x) && half(a, y)))
    }

    /// Whether a value is the product of two upper halves.
    fn of_highs(&self, value: Value) -> bool {
        let high = |value| self.shifted(value, Opcode::Ushr).is_some();
        self.binary(value, Opcode::Imul)
            .is_some_and(|[a, b]| high(a) && high(b))
    }

    /// The terms of a sum: a sum among them is one of its terms where there are
    /// too many.
    fn terms(&self, sum: [Value; 2]) -> Terms {
        let dfg = &self.b.func.dfg;
        let mut terms = Terms::from_slice(&sum.map(|term| dfg.resolve_aliases(term)));
        let mut at = 0;
        while at < terms.len() && terms.len() < MOST_TERMS {
            match self.binary(terms[at], Opcode::Iadd) {
                // Nearest first, so that a long sum that was there before the
                // product's terms were added to it is not taken apart.
                Some(parts) => {
                    terms.remove(at);
                    terms.extend(parts);
                }
                None => at += 1,
            }
        }
        terms
    }

    /// What is shifted by the bits of a half.
    fn shifted(&self, value: Value, shift: Opcode) -> Option<Value> {
        let [whole, by] = self.binary(value, shift)?;
        (self.known(by)? & 63 == HALF).then_some(whole)
    }

    /// That of which a value is the low half.
    fn masked(&self, value: Value) -> Option<Value> {
        if let Some([a, b]) = self.binary(value, Opcode::Band) {
            return match (self.known(a), self.known(b)) {
                (_, Some(LOW)) => Some(a),
                (Some(LOW), _) => Some(b),
                _ => None,
            };
        }
        let narrow = self.unary(value, Opcode::Uextend)?;
        let whole = self.unary(narrow, Opcode::Ireduce)?;
        (self.b.func.dfg.value_type(narrow) == types::I32).then_some(whole)
    }

    fn known(&self, value: Value) -> Option<i64> {
        match self.definition(value)? {
            InstructionData::UnaryImm {
                opcode: Opcode::Iconst,
                imm,
            } => Some(imm.bits()),
            _ => None,
        }
    }

    /// The operands of the operation that makes a value, if it is this one.
    fn binary(&self, value: Value, wanted: Opcode) -> Option<[Value; 2]> {
        match *self.definition(value)? {
            InstructionData::Binary { opcode, args } if opcode == wanted => {
                Some(args.map(|arg| self.b.func.dfg.resolve_aliases(arg)))
            }
            _ => None,
        }
    }

    fn unary(&self, value: Value, wanted: Opcode) -> Option<Value> {
        match *self.definition(value)? {
            InstructionData::Unary { opcode, arg } if opcode == wanted => {
                Some(self.b.func.dfg.resolve_aliases(arg))
            }
            _ => None,
        }
    }

    fn definition(&self, value: Value) -> Option<&InstructionData> {
        let dfg = &self.b.func.dfg;
        let inst = dfg.value_def(dfg.resolve_aliases(value)).inst()?;
        Some(&dfg.insts[inst])
    }
}
