//! Loads and stores of vectors, of their lanes, and loads that extend or
//! splat.

use cranelift_codegen::ir::{InstBuilder, Type, types};
use wasmparser::{MemArg, Operator};

use super::super::Translator;
use types::{I8, I8X16, I16, I16X8, I32, I32X4, I64, I64X2};

/// Loads 8 bytes and extends each lane through `$method`.
macro_rules! extending_load {
    ($t:ident, $memarg:expr, $method:ident) => {{
        let at = $t.load_address($memarg, 8);
        let value = $t.b.ins().$method(at.flags, at.address, at.displacement);
        $t.push(value);
    }};
}

impl Translator<'_> {
    /// Translates a vector load or store; `false` when it is not one.
    pub(super) fn simd_memory(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        match op {
            O::V128Load { memarg } => self.load(memarg, I8X16),
            O::V128Load8x8S { memarg } => extending_load!(self, memarg, sload8x8),
            O::V128Load8x8U { memarg } => extending_load!(self, memarg, uload8x8),
            O::V128Load16x4S { memarg } => extending_load!(self, memarg, sload16x4),
            O::V128Load16x4U { memarg } => extending_load!(self, memarg, uload16x4),
            O::V128Load32x2S { memarg } => extending_load!(self, memarg, sload32x2),
            O::V128Load32x2U { memarg } => extending_load!(self, memarg, uload32x2),
            O::V128Load8Splat { memarg } => self.load_splat(memarg, I8, I8X16),
            O::V128Load16Splat { memarg } => self.load_splat(memarg, I16, I16X8),
            O::V128Load32Splat { memarg } => self.load_splat(memarg, I32, I32X4),
            O::V128Load64Splat { memarg } => self.load_splat(memarg, I64, I64X2),
            O::V128Load32Zero { memarg } => self.load_zero(memarg, I32, I32X4),
            O::V128Load64Zero { memarg } => self.load_zero(memarg, I64, I64X2),
            O::V128Store { memarg } => {
                // The shape of the lanes does not matter to memory.
                let value = self.state.pop_raw();
                self.store_value(memarg, 16, value);
            }
            O::V128Load8Lane { memarg, lane } => self.load_lane(memarg, I8X16, *lane),
            O::V128Load16Lane { memarg, lane } => self.load_lane(memarg, I16X8, *lane),
            O::V128Load32Lane { memarg, lane } => self.load_lane(memarg, I32X4, *lane),
            O::V128Load64Lane { memarg, lane } => self.load_lane(memarg, I64X2, *lane),
            O::V128Store8Lane { memarg, lane } => self.store_lane(memarg, I8X16, *lane),
            O::V128Store16Lane { memarg, lane } => self.store_lane(memarg, I16X8, *lane),
            O::V128Store32Lane { memarg, lane } => self.store_lane(memarg, I32X4, *lane),
            O::V128Store64Lane { memarg, lane } => self.store_lane(memarg, I64X2, *lane),
            _ => return false,
        }
        true
    }

    fn load_splat(&mut self, memarg: &MemArg, lane: Type, ty: Type) {
        let value = self.load_value(memarg, lane);
        let value = self.b.ins().splat(ty, value);
        self.push(value);
    }

    fn load_zero(&mut self, memarg: &MemArg, lane: Type, ty: Type) {
        let value = self.load_value(memarg, lane);
        let value = self.b.ins().scalar_to_vector(ty, value);
        self.push(value);
    }

    fn load_lane(&mut self, memarg: &MemArg, ty: Type, lane: u8) {
        let vector = self.pop_vector(ty);
        let value = self.load_value(memarg, ty.lane_type());
        let value = self.b.ins().insertlane(vector, value, lane);
        self.push(value);
    }

    fn store_lane(&mut self, memarg: &MemArg, ty: Type, lane: u8) {
        let vector = self.pop_vector(ty);
        let value = self.b.ins().extractlane(vector, lane);
        self.store_value(memarg, ty.lane_type().bytes() as u8, value);
    }
}
