//! Comparisons of vectors: lanes of all ones or all zeros.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Type, types};
use wasmparser::Operator;

use super::super::Translator;
use types::{F32X4, F64X2, I8X16, I16X8, I32X4, I64X2};

impl Translator<'_> {
    /// Translates a comparison of vectors; `false` when it is not one.
    pub(super) fn vector_compare(&mut self, op: &Operator<'_>) -> bool {
        use FloatCC as F;
        use IntCC as I;
        use Operator as O;
        match op {
            O::I8x16Eq => self.compare_lanes(I8X16, I::Equal),
            O::I16x8Eq => self.compare_lanes(I16X8, I::Equal),
            O::I32x4Eq => self.compare_lanes(I32X4, I::Equal),
            O::I64x2Eq => self.compare_lanes(I64X2, I::Equal),
            O::I8x16Ne => self.compare_lanes(I8X16, I::NotEqual),
            O::I16x8Ne => self.compare_lanes(I16X8, I::NotEqual),
            O::I32x4Ne => self.compare_lanes(I32X4, I::NotEqual),
            O::I64x2Ne => self.compare_lanes(I64X2, I::NotEqual),
            O::I8x16LtS => self.compare_lanes(I8X16, I::SignedLessThan),
            O::I16x8LtS => self.compare_lanes(I16X8, I::SignedLessThan),
            O::I32x4LtS => self.compare_lanes(I32X4, I::SignedLessThan),
            O::I64x2LtS => self.compare_lanes(I64X2, I::SignedLessThan),
            O::I8x16LtU => self.compare_lanes(I8X16, I::UnsignedLessThan),
            O::I16x8LtU => self.compare_lanes(I16X8, I::UnsignedLessThan),
            O::I32x4LtU => self.compare_lanes(I32X4, I::UnsignedLessThan),
            O::I8x16GtS => self.compare_lanes(I8X16, I::SignedGreaterThan),
            O::I16x8GtS => self.compare_lanes(I16X8, I::SignedGreaterThan),
            O::I32x4GtS => self.compare_lanes(I32X4, I::SignedGreaterThan),
            O::I64x2GtS => self.compare_lanes(I64X2, I::SignedGreaterThan),
            O::I8x16GtU => self.compare_lanes(I8X16, I::UnsignedGreaterThan),
            O::I16x8GtU => self.compare_lanes(I16X8, I::UnsignedGreaterThan),
            O::I32x4GtU => self.compare_lanes(I32X4, I::UnsignedGreaterThan),
            O::I8x16LeS => self.compare_lanes(I8X16, I::SignedLessThanOrEqual),
            O::I16x8LeS => self.compare_lanes(I16X8, I::SignedLessThanOrEqual),
            O::I32x4LeS => self.compare_lanes(I32X4, I::SignedLessThanOrEqual),
            O::I64x2LeS => self.compare_lanes(I64X2, I::SignedLessThanOrEqual),
            O::I8x16LeU => self.compare_lanes(I8X16, I::UnsignedLessThanOrEqual),
            O::I16x8LeU => self.compare_lanes(I16X8, I::UnsignedLessThanOrEqual),
            O::I32x4LeU => self.compare_lanes(I32X4, I::UnsignedLessThanOrEqual),
            O::I8x16GeS => self.compare_lanes(I8X16, I::SignedGreaterThanOrEqual),
            O::I16x8GeS => self.compare_lanes(I16X8, I::SignedGreaterThanOrEqual),
            O::I32x4GeS => self.compare_lanes(I32X4, I::SignedGreaterThanOrEqual),
            O::I64x2GeS => self.compare_lanes(I64X2, I::SignedGreaterThanOrEqual),
            O::I8x16GeU => self.compare_lanes(I8X16, I::UnsignedGreaterThanOrEqual),
            O::I16x8GeU => self.compare_lanes(I16X8, I::UnsignedGreaterThanOrEqual),
            O::I32x4GeU => self.compare_lanes(I32X4, I::UnsignedGreaterThanOrEqual),

            O::F32x4Eq => self.compare_float_lanes(F32X4, F::Equal),
            O::F64x2Eq => self.compare_float_lanes(F64X2, F::Equal),
            O::F32x4Ne => self.compare_float_lanes(F32X4, F::NotEqual),
            O::F64x2Ne => self.compare_float_lanes(F64X2, F::NotEqual),
            O::F32x4Lt => self.compare_float_lanes(F32X4, F::LessThan),
            O::F64x2Lt => self.compare_float_lanes(F64X2, F::LessThan),
            O::F32x4Gt => self.compare_float_lanes(F32X4, F::GreaterThan),
            O::F64x2Gt => self.compare_float_lanes(F64X2, F::GreaterThan),
            O::F32x4Le => self.compare_float_lanes(F32X4, F::LessThanOrEqual),
            O::F64x2Le => self.compare_float_lanes(F64X2, F::LessThanOrEqual),
            O::F32x4Ge => self.compare_float_lanes(F32X4, F::GreaterThanOrEqual),
            O::F64x2Ge => self.compare_float_lanes(F64X2, F::GreaterThanOrEqual),
            _ => return false,
        }
        true
    }

    fn compare_lanes(&mut self, ty: Type, condition: IntCC) {
        self.vector_binary(ty, |t, x, y| t.b.ins().icmp(condition, x, y));
    }

    fn compare_float_lanes(&mut self, ty: Type, condition: FloatCC) {
        self.vector_binary(ty, |t, x, y| t.b.ins().fcmp(condition, x, y));
    }
}
