//! Vectors of floats, and conversions between them and vectors of integers.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use wasmparser::Operator;

use super::super::Translator;
use types::{F32X4, F64X2, I32X4, I64X2};

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

impl Translator<'_> {
    /// Translates an instruction on float lanes; `false` when it is not one.
    pub(super) fn vector_float(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        match op {
            O::F32x4Abs => unary!(self, F32X4, fabs),
            O::F64x2Abs => unary!(self, F64X2, fabs),
            O::F32x4Neg => unary!(self, F32X4, fneg),
            O::F64x2Neg => unary!(self, F64X2, fneg),
            O::F32x4Sqrt => unary!(self, F32X4, sqrt),
            O::F64x2Sqrt => unary!(self, F64X2, sqrt),
            O::F32x4Ceil => unary!(self, F32X4, ceil),
            O::F64x2Ceil => unary!(self, F64X2, ceil),
            O::F32x4Floor => unary!(self, F32X4, floor),
            O::F64x2Floor => unary!(self, F64X2, floor),
            O::F32x4Trunc => unary!(self, F32X4, trunc),
            O::F64x2Trunc => unary!(self, F64X2, trunc),
            O::F32x4Nearest => unary!(self, F32X4, nearest),
            O::F64x2Nearest => unary!(self, F64X2, nearest),
            O::F32x4Add => binary!(self, F32X4, fadd),
            O::F64x2Add => binary!(self, F64X2, fadd),
            O::F32x4Sub => binary!(self, F32X4, fsub),
            O::F64x2Sub => binary!(self, F64X2, fsub),
            O::F32x4Mul => binary!(self, F32X4, fmul),
            O::F64x2Mul => binary!(self, F64X2, fmul),
            O::F32x4Div => binary!(self, F32X4, fdiv),
            O::F64x2Div => binary!(self, F64X2, fdiv),
            O::F32x4Min => binary!(self, F32X4, fmin),
            O::F64x2Min => binary!(self, F64X2, fmin),
            O::F32x4Max => binary!(self, F32X4, fmax),
            O::F64x2Max => binary!(self, F64X2, fmax),
            O::F32x4PMin => self.pseudo_min(F32X4),
            O::F64x2PMin => self.pseudo_min(F64X2),
            O::F32x4PMax => self.pseudo_max(F32X4),
            O::F64x2PMax => self.pseudo_max(F64X2),

            O::F32x4ConvertI32x4S => {
                self.vector_unary(I32X4, |t, x| t.b.ins().fcvt_from_sint(F32X4, x));
            }
            O::F32x4ConvertI32x4U => {
                self.vector_unary(I32X4, |t, x| t.b.ins().fcvt_from_uint(F32X4, x));
            }
            O::F64x2ConvertLowI32x4S => self.vector_unary(I32X4, |t, x| {
                let wide = t.b.ins().swiden_low(x);
                t.b.ins().fcvt_from_sint(F64X2, wide)
            }),
            O::F64x2ConvertLowI32x4U => self.vector_unary(I32X4, |t, x| {
                let wide = t.b.ins().uwiden_low(x);
                t.b.ins().fcvt_from_uint(F64X2, wide)
            }),
            O::F32x4DemoteF64x2Zero => unary!(self, F64X2, fvdemote),
            O::F64x2PromoteLowF32x4 => unary!(self, F32X4, fvpromote_low),
            O::I32x4TruncSatF32x4S => {
                self.vector_unary(F32X4, |t, x| t.b.ins().fcvt_to_sint_sat(I32X4, x));
            }
            O::I32x4TruncSatF32x4U => {
                self.vector_unary(F32X4, |t, x| t.b.ins().fcvt_to_uint_sat(I32X4, x));
            }
            O::I32x4TruncSatF64x2SZero => self.vector_unary(F64X2, |t, x| {
                let wide = t.b.ins().fcvt_to_sint_sat(I64X2, x);
                let zero = t.zero_lanes(I64X2);
                t.b.ins().snarrow(wide, zero)
            }),
            O::I32x4TruncSatF64x2UZero => self.vector_unary(F64X2, |t, x| {
                let wide = t.b.ins().fcvt_to_uint_sat(I64X2, x);
                let zero = t.zero_lanes(I64X2);
                t.b.ins().uunarrow(wide, zero)
            }),
            _ => return false,
        }
        true
    }

    /// `y < x ? y : x`, lane by lane: what C's comparison and choice do, unlike
    /// the minimum of IEEE 754.
    fn pseudo_min(&mut self, ty: Type) {
        self.vector_binary(ty, |t, x, y| {
            let smaller = t.b.ins().fcmp(FloatCC::LessThan, y, x);
            let mask = t.vector_as(smaller, ty);
            t.b.ins().bitselect(mask, y, x)
        });
    }

    /// `x < y ? y : x`, lane by lane.
    fn pseudo_max(&mut self, ty: Type) {
        self.vector_binary(ty, |t, x, y| {
            let larger = t.b.ins().fcmp(FloatCC::LessThan, x, y);
            let mask = t.vector_as(larger, ty);
            t.b.ins().bitselect(mask, y, x)
        });
    }

    /// A vector of zeros in the shape of `ty`.
    pub(super) fn zero_lanes(&mut self, ty: Type) -> Value {
        let constant = self.b.func.dfg.constants.insert([0; 16].as_slice().into());
        self.b.ins().vconst(ty, constant)
    }
}
