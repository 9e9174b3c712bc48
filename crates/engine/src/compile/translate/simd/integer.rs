//! Vectors of integers.

use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use wasmparser::Operator;

use super::super::Translator;
use types::{I8X16, I16X8, I32, I32X4, I64X2};

/// Pops a vector, pushes `$method` of it.
macro_rules! unary {
    ($t:ident, $ty:expr, $method:ident) => {
        $t.vector_unary($ty, |t, x| t.b.ins().$method(x))
    };
}

/// Pops two vectors, pushes `$method` of them.
macro_rules! binary {
    ($t:ident, $ty:expr, $method:ident) => {
        $t.vector_binary($ty, |t, x, y| t.b.ins().$method(x, y))
    };
}

/// Pops a scalar count and a vector, pushes the lanes shifted by the count
/// modulo the lane's width.
macro_rules! shift {
    ($t:ident, $ty:expr, $method:ident) => {{
        let count = $t.pop();
        $t.vector_unary($ty, |t, x| t.b.ins().$method(x, count))
    }};
}

/// Pops two vectors, widens one half of each and pushes their product.
macro_rules! extended_multiply {
    ($t:ident, $ty:expr, $widen:ident) => {
        $t.vector_binary($ty, |t, x, y| {
            let x = t.b.ins().$widen(x);
            let y = t.b.ins().$widen(y);
            t.b.ins().imul(x, y)
        })
    };
}

/// Pops a vector, pushes the sums of neighbouring lanes, widened.
macro_rules! pairwise_sum {
    ($t:ident, $ty:expr, $low:ident, $high:ident) => {
        $t.vector_unary($ty, |t, x| {
            let low = t.b.ins().$low(x);
            let high = t.b.ins().$high(x);
            t.b.ins().iadd_pairwise(low, high)
        })
    };
}

impl Translator<'_> {
    /// Translates an instruction on integer lanes; `false` when it is not one.
    pub(super) fn vector_integer(&mut self, op: &Operator<'_>) -> bool {
        self.integer_arithmetic(op) || self.integer_widening(op)
    }

    /// What keeps the width of the lanes.
    fn integer_arithmetic(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        match op {
            O::I8x16Add => binary!(self, I8X16, iadd),
            O::I16x8Add => binary!(self, I16X8, iadd),
            O::I32x4Add => binary!(self, I32X4, iadd),
            O::I64x2Add => binary!(self, I64X2, iadd),
            O::I8x16Sub => binary!(self, I8X16, isub),
            O::I16x8Sub => binary!(self, I16X8, isub),
            O::I32x4Sub => binary!(self, I32X4, isub),
            O::I64x2Sub => binary!(self, I64X2, isub),
            O::I16x8Mul => binary!(self, I16X8, imul),
            O::I32x4Mul => binary!(self, I32X4, imul),
            O::I64x2Mul => binary!(self, I64X2, imul),
            O::I8x16AddSatS => binary!(self, I8X16, sadd_sat),
            O::I8x16AddSatU => binary!(self, I8X16, uadd_sat),
            O::I16x8AddSatS => binary!(self, I16X8, sadd_sat),
            O::I16x8AddSatU => binary!(self, I16X8, uadd_sat),
            O::I8x16SubSatS => binary!(self, I8X16, ssub_sat),
            O::I8x16SubSatU => binary!(self, I8X16, usub_sat),
            O::I16x8SubSatS => binary!(self, I16X8, ssub_sat),
            O::I16x8SubSatU => binary!(self, I16X8, usub_sat),
            O::I8x16MinS => binary!(self, I8X16, smin),
            O::I8x16MinU => binary!(self, I8X16, umin),
            O::I8x16MaxS => binary!(self, I8X16, smax),
            O::I8x16MaxU => binary!(self, I8X16, umax),
            O::I16x8MinS => binary!(self, I16X8, smin),
            O::I16x8MinU => binary!(self, I16X8, umin),
            O::I16x8MaxS => binary!(self, I16X8, smax),
            O::I16x8MaxU => binary!(self, I16X8, umax),
            O::I32x4MinS => binary!(self, I32X4, smin),
            O::I32x4MinU => binary!(self, I32X4, umin),
            O::I32x4MaxS => binary!(self, I32X4, smax),
            O::I32x4MaxU => binary!(self, I32X4, umax),
            O::I8x16AvgrU => binary!(self, I8X16, avg_round),
            O::I16x8AvgrU => binary!(self, I16X8, avg_round),
            O::I16x8Q15MulrSatS => binary!(self, I16X8, sqmul_round_sat),

            O::I8x16Abs => unary!(self, I8X16, iabs),
            O::I16x8Abs => unary!(self, I16X8, iabs),
            O::I32x4Abs => unary!(self, I32X4, iabs),
            O::I64x2Abs => unary!(self, I64X2, iabs),
            O::I8x16Neg => unary!(self, I8X16, ineg),
            O::I16x8Neg => unary!(self, I16X8, ineg),
            O::I32x4Neg => unary!(self, I32X4, ineg),
            O::I64x2Neg => unary!(self, I64X2, ineg),
            O::I8x16Popcnt => unary!(self, I8X16, popcnt),
            O::I8x16AllTrue => unary!(self, I8X16, vall_true),
            O::I16x8AllTrue => unary!(self, I16X8, vall_true),
            O::I32x4AllTrue => unary!(self, I32X4, vall_true),
            O::I64x2AllTrue => unary!(self, I64X2, vall_true),
            O::I8x16Bitmask => self.bitmask(I8X16),
            O::I16x8Bitmask => self.bitmask(I16X8),
            O::I32x4Bitmask => self.bitmask(I32X4),
            O::I64x2Bitmask => self.bitmask(I64X2),

            O::I8x16Shl => shift!(self, I8X16, ishl),
            O::I16x8Shl => shift!(self, I16X8, ishl),
            O::I32x4Shl => shift!(self, I32X4, ishl),
            O::I64x2Shl => shift!(self, I64X2, ishl),
            O::I8x16ShrS => shift!(self, I8X16, sshr),
            O::I16x8ShrS => shift!(self, I16X8, sshr),
            O::I32x4ShrS => shift!(self, I32X4, sshr),
            O::I64x2ShrS => shift!(self, I64X2, sshr),
            O::I8x16ShrU => shift!(self, I8X16, ushr),
            O::I16x8ShrU => shift!(self, I16X8, ushr),
            O::I32x4ShrU => shift!(self, I32X4, ushr),
            O::I64x2ShrU => shift!(self, I64X2, ushr),
            _ => return false,
        }
        true
    }

    /// What changes the width of the lanes.
    fn integer_widening(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        match op {
            O::I8x16NarrowI16x8S => binary!(self, I16X8, snarrow),
            O::I8x16NarrowI16x8U => binary!(self, I16X8, unarrow),
            O::I16x8NarrowI32x4S => binary!(self, I32X4, snarrow),
            O::I16x8NarrowI32x4U => binary!(self, I32X4, unarrow),
            O::I16x8ExtendLowI8x16S => unary!(self, I8X16, swiden_low),
            O::I16x8ExtendHighI8x16S => unary!(self, I8X16, swiden_high),
            O::I16x8ExtendLowI8x16U => unary!(self, I8X16, uwiden_low),
            O::I16x8ExtendHighI8x16U => unary!(self, I8X16, uwiden_high),
            O::I32x4ExtendLowI16x8S => unary!(self, I16X8, swiden_low),
            O::I32x4ExtendHighI16x8S => unary!(self, I16X8, swiden_high),
            O::I32x4ExtendLowI16x8U => unary!(self, I16X8, uwiden_low),
            O::I32x4ExtendHighI16x8U => unary!(self, I16X8, uwiden_high),
            O::I64x2ExtendLowI32x4S => unary!(self, I32X4, swiden_low),
            O::I64x2ExtendHighI32x4S => unary!(self, I32X4, swiden_high),
            O::I64x2ExtendLowI32x4U => unary!(self, I32X4, uwiden_low),
            O::I64x2ExtendHighI32x4U => unary!(self, I32X4, uwiden_high),
            O::I16x8ExtMulLowI8x16S => extended_multiply!(self, I8X16, swiden_low),
            O::I16x8ExtMulHighI8x16S => extended_multiply!(self, I8X16, swiden_high),
            O::I16x8ExtMulLowI8x16U => extended_multiply!(self, I8X16, uwiden_low),
            O::I16x8ExtMulHighI8x16U => extended_multiply!(self, I8X16, uwiden_high),
            O::I32x4ExtMulLowI16x8S => extended_multiply!(self, I16X8, swiden_low),
            O::I32x4ExtMulHighI16x8S => extended_multiply!(self, I16X8, swiden_high),
            O::I32x4ExtMulLowI16x8U => extended_multiply!(self, I16X8, uwiden_low),
            O::I32x4ExtMulHighI16x8U => extended_multiply!(self, I16X8, uwiden_high),
            O::I64x2ExtMulLowI32x4S => extended_multiply!(self, I32X4, swiden_low),
            O::I64x2ExtMulHighI32x4S => extended_multiply!(self, I32X4, swiden_high),
            O::I64x2ExtMulLowI32x4U => extended_multiply!(self, I32X4, uwiden_low),
            O::I64x2ExtMulHighI32x4U => extended_multiply!(self, I32X4, uwiden_high),
            O::I16x8ExtAddPairwiseI8x16S => {
                pairwise_sum!(self, I8X16, swiden_low, swiden_high)
            }
            O::I16x8ExtAddPairwiseI8x16U => {
                pairwise_sum!(self, I8X16, uwiden_low, uwiden_high)
            }
            O::I32x4ExtAddPairwiseI16x8S => {
                pairwise_sum!(self, I16X8, swiden_low, swiden_high)
            }
            O::I32x4ExtAddPairwiseI16x8U => {
                pairwise_sum!(self, I16X8, uwiden_low, uwiden_high)
            }
            O::I32x4DotI16x8S => self.vector_binary(I16X8, |t, x, y| t.dot_product(x, y)),
            _ => return false,
        }
        true
    }

    /// Sums of the products of neighbouring 16-bit lanes. Written the way the
    /// backends recognise as one instruction.
    fn dot_product(&mut self, x: Value, y: Value) -> Value {
        let x_low = self.b.ins().swiden_low(x);
        let y_low = self.b.ins().swiden_low(y);
        let low = self.b.ins().imul(x_low, y_low);
        let x_high = self.b.ins().swiden_high(x);
        let y_high = self.b.ins().swiden_high(y);
        let high = self.b.ins().imul(x_high, y_high);
        self.b.ins().iadd_pairwise(low, high)
    }

    fn bitmask(&mut self, ty: Type) {
        self.vector_unary(ty, |t, x| t.b.ins().vhigh_bits(I32, x));
    }
}
