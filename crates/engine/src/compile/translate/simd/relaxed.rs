//! Relaxed vector instructions (core specification §4.3, "relaxed operations"):
//! those whose result may differ from host to host within a stated set.
//!
//! Which result we give: where the host has one instruction for an allowed
//! result, that one; else the result of the instruction's strict sibling. It
//! depends on nothing but the host's features, never on the optimisation level
//! or the strategy. `docs/RELAXED_SIMD.md` lists the results by instruction set.
//!
//! "Minimum", "maximum" and "trunc" below name what x86-64 does: its minimum is
//! `x < y ? x : y`, its conversion gives the smallest integer for whatever does
//! not fit.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use wasmparser::Operator;

use super::super::Translator;
use types::{F32X4, F64X2, I8X16, I16X8, I32X4, I64X2};

impl Translator<'_> {
    /// Translates a relaxed instruction; `false` when it is not one.
    pub(super) fn relaxed(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        match op {
            O::I8x16RelaxedSwizzle => self.vector_binary(I8X16, |t, x, y| t.any_swizzle(x, y)),
            O::I32x4RelaxedTruncF32x4S => {
                self.vector_unary(F32X4, |t, x| match t.is_x86() {
                    true => t.b.ins().x86_cvtt2dq(I32X4, x),
                    false => t.b.ins().fcvt_to_sint_sat(I32X4, x),
                });
            }
            O::I32x4RelaxedTruncF32x4U => {
                self.vector_unary(F32X4, |t, x| t.b.ins().fcvt_to_uint_sat(I32X4, x));
            }
            O::I32x4RelaxedTruncF64x2SZero => self.vector_unary(F64X2, |t, x| {
                let wide = match t.is_x86() {
                    true => t.b.ins().x86_cvtt2dq(I64X2, x),
                    false => t.b.ins().fcvt_to_sint_sat(I64X2, x),
                };
                let zero = t.zero_lanes(I64X2);
                t.b.ins().snarrow(wide, zero)
            }),
            O::I32x4RelaxedTruncF64x2UZero => self.vector_unary(F64X2, |t, x| {
                let wide = t.b.ins().fcvt_to_uint_sat(I64X2, x);
                let zero = t.zero_lanes(I64X2);
                t.b.ins().uunarrow(wide, zero)
            }),
            O::F32x4RelaxedMadd => self.multiply_add(F32X4, false),
            O::F64x2RelaxedMadd => self.multiply_add(F64X2, false),
            O::F32x4RelaxedNmadd => self.multiply_add(F32X4, true),
            O::F64x2RelaxedNmadd => self.multiply_add(F64X2, true),
            O::I8x16RelaxedLaneselect => self.lane_select(I8X16),
            O::I16x8RelaxedLaneselect => self.lane_select(I16X8),
            O::I32x4RelaxedLaneselect => self.lane_select(I32X4),
            O::I64x2RelaxedLaneselect => self.lane_select(I64X2),
            O::F32x4RelaxedMin => self.any_min(F32X4),
            O::F64x2RelaxedMin => self.any_min(F64X2),
            O::F32x4RelaxedMax => self.any_max(F32X4),
            O::F64x2RelaxedMax => self.any_max(F64X2),
            O::I16x8RelaxedQ15mulrS => self.vector_binary(I16X8, |t, x, y| {
                match t.env.module.isa.has_x86_pmulhrsw_lowering() {
                    true => t.b.ins().x86_pmulhrsw(x, y),
                    false => t.b.ins().sqmul_round_sat(x, y),
                }
            }),
            O::I16x8RelaxedDotI8x16I7x16S => self.vector_binary(I8X16, |t, x, y| t.any_dot(x, y)),
            O::I32x4RelaxedDotI8x16I7x16AddS => {
                let sum = self.pop_vector(I32X4);
                self.vector_binary(I8X16, |t, x, y| {
                    let products = t.any_dot(x, y);
                    let low = t.b.ins().swiden_low(products);
                    let high = t.b.ins().swiden_high(products);
                    let pairs = t.b.ins().iadd_pairwise(low, high);
                    t.b.ins().iadd(pairs, sum)
                });
            }
            _ => return false,
        }
        true
    }

    fn is_x86(&self) -> bool {
        self.env.module.isa.name() == "x64"
    }

    /// An index beyond 15 selects 0, or on x86-64, when it is below 128, lane
    /// `index % 16`.
    fn any_swizzle(&mut self, x: Value, indices: Value) -> Value {
        match self.env.module.isa.has_x86_pshufb_lowering() {
            true => self.b.ins().x86_pshufb(x, indices),
            false => self.b.ins().swizzle(x, indices),
        }
    }

    /// `±(x · y) + z`, rounded once where the host can, else twice.
    fn multiply_add(&mut self, ty: Type, negated: bool) {
        let z = self.pop_vector(ty);
        self.vector_binary(ty, |t, x, y| {
            let x = if negated { t.b.ins().fneg(x) } else { x };
            if t.env.module.isa.has_native_fma() {
                t.b.ins().fma(x, y, z)
            } else {
                let product = t.b.ins().fmul(x, y);
                t.b.ins().fadd(product, z)
            }
        });
    }

    /// By the mask's bits, or where the host can by the top bit of each lane.
    fn lane_select(&mut self, ty: Type) {
        let mask = self.pop_vector(ty);
        self.vector_binary(ty, |t, x, y| {
            match t.env.module.isa.has_blendv_lowering(ty) {
                true => t.b.ins().blendv(mask, x, y),
                false => t.b.ins().bitselect(mask, x, y),
            }
        });
    }

    fn any_min(&mut self, ty: Type) {
        self.vector_binary(ty, |t, x, y| {
            if !t.is_x86() {
                return t.b.ins().fmin(x, y);
            }
            let smaller = t.b.ins().fcmp(FloatCC::LessThan, x, y);
            let mask = t.vector_as(smaller, ty);
            t.b.ins().bitselect(mask, x, y)
        });
    }

    fn any_max(&mut self, ty: Type) {
        self.vector_binary(ty, |t, x, y| {
            if !t.is_x86() {
                return t.b.ins().fmax(x, y);
            }
            let larger = t.b.ins().fcmp(FloatCC::LessThan, y, x);
            let mask = t.vector_as(larger, ty);
            t.b.ins().bitselect(mask, x, y)
        });
    }

    /// Sums of the products of neighbouring lanes, signed; where the second
    /// operand needs an eighth bit, x86-64 takes it as unsigned and saturates.
    fn any_dot(&mut self, x: Value, y: Value) -> Value {
        if self.env.module.isa.has_x86_pmaddubsw_lowering() {
            return self.b.ins().x86_pmaddubsw(x, y);
        }
        let x_low = self.b.ins().swiden_low(x);
        let y_low = self.b.ins().swiden_low(y);
        let low = self.b.ins().imul(x_low, y_low);
        let x_high = self.b.ins().swiden_high(x);
        let y_high = self.b.ins().swiden_high(y);
        let high = self.b.ins().imul(x_high, y_high);
        self.b.ins().iadd_pairwise(low, high)
    }
}
