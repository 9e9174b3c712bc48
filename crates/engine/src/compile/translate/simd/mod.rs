//! Vector instructions (core specification §4.4.3): constants, lanes, bits.
//!
//! A `v128` operand keeps the lane shape of its producer; [`Translator::pop_vector`]
//! relabels it where the consumer wants another, which costs nothing at run
//! time. Comparisons of float vectors leave integer lanes of all ones or zeros.

mod compare;
mod float;
mod integer;
mod memory;
mod relaxed;

use cranelift_codegen::ir::{ConstantData, Immediate, InstBuilder, Type, Value, types};
use wasmparser::Operator;

use super::Translator;
use types::{F32X4, F64X2, I8, I8X16, I16, I16X8, I32, I32X4, I64X2};

impl Translator<'_> {
    /// Translates a vector instruction; `false` when it is not one.
    pub(super) fn simd(&mut self, op: &Operator<'_>) -> bool {
        self.simd_memory(op)
            || self.lanes_and_bits(op)
            || self.vector_integer(op)
            || self.vector_float(op)
            || self.vector_compare(op)
            || self.relaxed(op)
    }

    /// Constants, lanes, shuffles and bitwise instructions.
    fn lanes_and_bits(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        match *op {
            O::V128Const { ref value } => {
                let value = self.vector_constant(*value.bytes());
                self.push(value);
            }
            O::I8x16Shuffle { lanes } => self.shuffle(lanes),
            O::I8x16Swizzle => {
                let (x, y) = self.pop_vectors(I8X16);
                let value = self.b.ins().swizzle(x, y);
                self.push(value);
            }

            O::I8x16Splat => self.splat_narrow(I8, I8X16),
            O::I16x8Splat => self.splat_narrow(I16, I16X8),
            O::I32x4Splat => self.splat(I32X4),
            O::I64x2Splat => self.splat(I64X2),
            O::F32x4Splat => self.splat(F32X4),
            O::F64x2Splat => self.splat(F64X2),

            O::I8x16ExtractLaneS { lane } => self.extract_narrow(I8X16, lane, true),
            O::I8x16ExtractLaneU { lane } => self.extract_narrow(I8X16, lane, false),
            O::I16x8ExtractLaneS { lane } => self.extract_narrow(I16X8, lane, true),
            O::I16x8ExtractLaneU { lane } => self.extract_narrow(I16X8, lane, false),
            O::I32x4ExtractLane { lane } => self.extract(I32X4, lane),
            O::I64x2ExtractLane { lane } => self.extract(I64X2, lane),
            O::F32x4ExtractLane { lane } => self.extract(F32X4, lane),
            O::F64x2ExtractLane { lane } => self.extract(F64X2, lane),

            O::I8x16ReplaceLane { lane } => self.replace_narrow(I8, I8X16, lane),
            O::I16x8ReplaceLane { lane } => self.replace_narrow(I16, I16X8, lane),
            O::I32x4ReplaceLane { lane } => self.replace(I32X4, lane),
            O::I64x2ReplaceLane { lane } => self.replace(I64X2, lane),
            O::F32x4ReplaceLane { lane } => self.replace(F32X4, lane),
            O::F64x2ReplaceLane { lane } => self.replace(F64X2, lane),

            O::V128Not => {
                let x = self.pop_same();
                let value = self.b.ins().bnot(x);
                self.push(value);
            }
            O::V128And => self.bitwise(|t, x, y| t.b.ins().band(x, y)),
            O::V128AndNot => self.bitwise(|t, x, y| t.b.ins().band_not(x, y)),
            O::V128Or => self.bitwise(|t, x, y| t.b.ins().bor(x, y)),
            O::V128Xor => self.bitwise(|t, x, y| t.b.ins().bxor(x, y)),
            O::V128Bitselect => self.bitselect(),
            O::V128AnyTrue => {
                let x = self.pop_same();
                let value = self.b.ins().vany_true(x);
                self.push(value);
            }
            _ => return false,
        }
        true
    }

    /// A constant vector, as bytes.
    pub(super) fn vector_constant(&mut self, bytes: [u8; 16]) -> Value {
        let data = ConstantData::from(bytes.as_slice());
        let constant = self.b.func.dfg.constants.insert(data);
        self.b.ins().vconst(I8X16, constant)
    }

    /// Pops a vector in the shape it has.
    fn pop_same(&mut self) -> Value {
        self.state.pop_raw()
    }

    /// Pops two vectors with the lanes of `ty`, the lower one first.
    fn pop_vectors(&mut self, ty: Type) -> (Value, Value) {
        let y = self.pop_vector(ty);
        let x = self.pop_vector(ty);
        (x, y)
    }

    /// An operation on bits: done in the shape of its first operand, so that
    /// the operands of a chain are not relabelled back and forth.
    fn bitwise(&mut self, emit: fn(&mut Self, Value, Value) -> Value) {
        let y = self.state.pop_raw();
        let x = self.state.pop_raw();
        let ty = self.b.func.dfg.value_type(x);
        let y = self.vector_as(y, ty);
        let value = emit(self, x, y);
        self.push(value);
    }

    fn bitselect(&mut self) {
        let mask = self.state.pop_raw();
        let (x, y) = (self.state.stack.len() - 2, self.state.stack.len() - 1);
        let ty = self.b.func.dfg.value_type(self.state.stack[x]);
        let mask = self.vector_as(mask, ty);
        let no = self.vector_as(self.state.stack[y], ty);
        let yes = self.state.stack[x];
        self.state.stack.truncate(x);
        let value = self.b.ins().bitselect(mask, yes, no);
        self.push(value);
    }

    fn shuffle(&mut self, lanes: [u8; 16]) {
        let (x, y) = self.pop_vectors(I8X16);
        let data = ConstantData::from(lanes.as_slice());
        let mask: Immediate = self.b.func.dfg.immediates.push(data);
        let value = self.b.ins().shuffle(x, y, mask);
        self.push(value);
    }

    fn splat(&mut self, ty: Type) {
        let lane = self.pop();
        let value = self.b.ins().splat(ty, lane);
        self.push(value);
    }

    fn splat_narrow(&mut self, lane_ty: Type, ty: Type) {
        let wide = self.pop();
        let lane = self.b.ins().ireduce(lane_ty, wide);
        let value = self.b.ins().splat(ty, lane);
        self.push(value);
    }

    fn extract(&mut self, ty: Type, lane: u8) {
        let x = self.pop_vector(ty);
        let value = self.b.ins().extractlane(x, lane);
        self.push(value);
    }

    fn extract_narrow(&mut self, ty: Type, lane: u8, signed: bool) {
        let x = self.pop_vector(ty);
        let narrow = self.b.ins().extractlane(x, lane);
        let value = if signed {
            self.b.ins().sextend(I32, narrow)
        } else {
            self.b.ins().uextend(I32, narrow)
        };
        self.push(value);
    }

    fn replace(&mut self, ty: Type, lane: u8) {
        let value = self.pop();
        let x = self.pop_vector(ty);
        let value = self.b.ins().insertlane(x, value, lane);
        self.push(value);
    }

    fn replace_narrow(&mut self, lane_ty: Type, ty: Type, lane: u8) {
        let wide = self.pop();
        let narrow = self.b.ins().ireduce(lane_ty, wide);
        let x = self.pop_vector(ty);
        let value = self.b.ins().insertlane(x, narrow, lane);
        self.push(value);
    }

    /// Pops a vector of `ty`, pushes what `emit` makes of it.
    fn vector_unary(&mut self, ty: Type, emit: impl FnOnce(&mut Self, Value) -> Value) {
        let x = self.pop_vector(ty);
        let value = emit(self, x);
        self.push(value);
    }

    /// Pops two vectors of `ty`, pushes what `emit` makes of them.
    fn vector_binary(&mut self, ty: Type, emit: impl FnOnce(&mut Self, Value, Value) -> Value) {
        let (x, y) = self.pop_vectors(ty);
        let value = emit(self, x, y);
        self.push(value);
    }
}
