//! Numeric instructions of the scalar types (core specification §4.4.1),
//! sign extension and the saturating conversions.
//!
//! Cranelift's operations were shaped after these, so almost every one is a
//! single instruction. Divisions and the trapping conversions carry
//! Cranelift's own trap codes, which `trap.rs` maps to WebAssembly's.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{
    InstBuilder, InstructionData, MemFlagsData, Opcode, Type, Value, types,
};
use wasmparser::Operator;

use super::Translator;
use crate::compile::has_vectors;
use types::{F32, F64, I8, I16, I32, I64};

/// Pops two operands, pushes `$method` of them.
macro_rules! binary {
    ($t:ident, $method:ident) => {{
        let (x, y) = $t.pop2();
        let value = $t.b.ins().$method(x, y);
        $t.state.push(value);
    }};
}

/// Pops an operand, pushes `$method` of it.
macro_rules! unary {
    ($t:ident, $method:ident) => {{
        let x = $t.pop();
        let value = $t.b.ins().$method(x);
        $t.state.push(value);
    }};
}

/// Pops an operand, pushes its conversion to a type.
macro_rules! convert {
    ($t:ident, $method:ident, $ty:expr) => {{
        let x = $t.pop();
        let value = $t.b.ins().$method($ty, x);
        $t.state.push(value);
    }};
}

impl Translator<'_> {
    /// Translates a scalar numeric instruction; `false` when it is not one.
    pub(super) fn numeric(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        match *op {
            O::I32Const { value } => {
                let value = self.b.ins().iconst(I32, i64::from(value as u32));
                self.state.push(value);
            }
            O::I64Const { value } => {
                let value = self.b.ins().iconst(I64, value);
                self.state.push(value);
            }
            O::F32Const { value } => {
                let value = self.float_constant(F32, u64::from(value.bits()));
                self.state.push(value);
            }
            O::F64Const { value } => {
                let value = self.float_constant(F64, value.bits());
                self.state.push(value);
            }

            O::I32Eqz | O::I64Eqz => self.eqz(),
            O::I32Eq | O::I64Eq => self.icmp(IntCC::Equal),
            O::I32Ne | O::I64Ne => self.icmp(IntCC::NotEqual),
            O::I32LtS | O::I64LtS => self.icmp(IntCC::SignedLessThan),
            O::I32LtU | O::I64LtU => self.icmp(IntCC::UnsignedLessThan),
            O::I32GtS | O::I64GtS => self.icmp(IntCC::SignedGreaterThan),
            O::I32GtU | O::I64GtU => self.icmp(IntCC::UnsignedGreaterThan),
            O::I32LeS | O::I64LeS => self.icmp(IntCC::SignedLessThanOrEqual),
            O::I32LeU | O::I64LeU => self.icmp(IntCC::UnsignedLessThanOrEqual),
            O::I32GeS | O::I64GeS => self.icmp(IntCC::SignedGreaterThanOrEqual),
            O::I32GeU | O::I64GeU => self.icmp(IntCC::UnsignedGreaterThanOrEqual),
            O::F32Eq | O::F64Eq => self.fcmp(FloatCC::Equal),
            O::F32Ne | O::F64Ne => self.fcmp(FloatCC::NotEqual),
            O::F32Lt | O::F64Lt => self.fcmp(FloatCC::LessThan),
            O::F32Gt | O::F64Gt => self.fcmp(FloatCC::GreaterThan),
            O::F32Le | O::F64Le => self.fcmp(FloatCC::LessThanOrEqual),
            O::F32Ge | O::F64Ge => self.fcmp(FloatCC::GreaterThanOrEqual),

            O::I32Clz | O::I64Clz => unary!(self, clz),
            O::I32Ctz | O::I64Ctz => unary!(self, ctz),
            O::I32Popcnt | O::I64Popcnt => unary!(self, popcnt),
            O::I32Add => binary!(self, iadd),
            O::I64Add => {
                let (x, y) = self.pop2();
                let sum = self.add64(x, y);
                self.push(sum);
            }
            O::I32Sub | O::I64Sub => binary!(self, isub),
            O::I32Mul | O::I64Mul => binary!(self, imul),
            O::I32DivS | O::I64DivS => binary!(self, sdiv),
            O::I32DivU | O::I64DivU => binary!(self, udiv),
            O::I32RemS | O::I64RemS => binary!(self, srem),
            O::I32RemU | O::I64RemU => binary!(self, urem),
            O::I32And | O::I64And => binary!(self, band),
            O::I32Or => binary!(self, bor),
            O::I64Or => {
                let (x, y) = self.pop2();
                let either = self.or64(x, y);
                self.push(either);
            }
            O::I32Xor | O::I64Xor => binary!(self, bxor),
            O::I32Shl | O::I64Shl => binary!(self, ishl),
            O::I32ShrS | O::I64ShrS => binary!(self, sshr),
            O::I32ShrU | O::I64ShrU => binary!(self, ushr),
            O::I32Rotl | O::I64Rotl => binary!(self, rotl),
            O::I32Rotr | O::I64Rotr => binary!(self, rotr),

            O::F32Abs | O::F64Abs => unary!(self, fabs),
            O::F32Neg | O::F64Neg => unary!(self, fneg),
            O::F32Ceil | O::F64Ceil => unary!(self, ceil),
            O::F32Floor | O::F64Floor => unary!(self, floor),
            O::F32Trunc | O::F64Trunc => unary!(self, trunc),
            O::F32Nearest | O::F64Nearest => unary!(self, nearest),
            O::F32Sqrt | O::F64Sqrt => unary!(self, sqrt),
            O::F32Add | O::F64Add => binary!(self, fadd),
            O::F32Sub | O::F64Sub => binary!(self, fsub),
            O::F32Mul | O::F64Mul => binary!(self, fmul),
            O::F32Div | O::F64Div => binary!(self, fdiv),
            O::F32Min | O::F64Min => binary!(self, fmin),
            O::F32Max | O::F64Max => binary!(self, fmax),
            O::F32Copysign | O::F64Copysign => binary!(self, fcopysign),

            O::I32WrapI64 => convert!(self, ireduce, I32),
            O::I32TruncF32S | O::I32TruncF64S => convert!(self, fcvt_to_sint, I32),
            O::I32TruncF32U | O::I32TruncF64U => convert!(self, fcvt_to_uint, I32),
            O::I64TruncF32S | O::I64TruncF64S => convert!(self, fcvt_to_sint, I64),
            O::I64TruncF32U | O::I64TruncF64U => convert!(self, fcvt_to_uint, I64),
            O::I32TruncSatF32S | O::I32TruncSatF64S => convert!(self, fcvt_to_sint_sat, I32),
            O::I32TruncSatF32U | O::I32TruncSatF64U => convert!(self, fcvt_to_uint_sat, I32),
            O::I64TruncSatF32S | O::I64TruncSatF64S => convert!(self, fcvt_to_sint_sat, I64),
            O::I64TruncSatF32U | O::I64TruncSatF64U => convert!(self, fcvt_to_uint_sat, I64),
            O::I64ExtendI32S => convert!(self, sextend, I64),
            O::I64ExtendI32U => convert!(self, uextend, I64),
            O::F32ConvertI32S | O::F32ConvertI64S => convert!(self, fcvt_from_sint, F32),
            O::F32ConvertI32U | O::F32ConvertI64U => convert!(self, fcvt_from_uint, F32),
            O::F64ConvertI32S | O::F64ConvertI64S => convert!(self, fcvt_from_sint, F64),
            O::F64ConvertI32U | O::F64ConvertI64U => convert!(self, fcvt_from_uint, F64),
            O::F32DemoteF64 => convert!(self, fdemote, F32),
            O::F64PromoteF32 => convert!(self, fpromote, F64),
            O::I32ReinterpretF32 => self.reinterpret(I32),
            O::I64ReinterpretF64 => self.reinterpret(I64),
            O::F32ReinterpretI32 => self.reinterpret(F32),
            O::F64ReinterpretI64 => self.reinterpret(F64),

            O::I32Extend8S => self.extend_low(I8, I32),
            O::I32Extend16S => self.extend_low(I16, I32),
            O::I64Extend8S => self.extend_low(I8, I64),
            O::I64Extend16S => self.extend_low(I16, I64),
            O::I64Extend32S => self.extend_low(I32, I64),
            _ => return false,
        }
        true
    }

    /// A float of type `ty`.
    ///
    /// Cranelift makes float constants anew in each block that uses them, by
    /// way of an integer register, also in the innermost loop. The first few of
    /// those met in loops are taken from a vector instead, which it loads once
    /// in front of the loop; the rest stay, so that they do not fill the
    /// registers. So do all on a processor without vectors.
    fn float_constant(&mut self, ty: Type, bits: u64) -> Value {
        if bits != 0 && self.state.hoists_constant(bits) && has_vectors(self.env.module.isa) {
            let lanes = ty.by(128 / ty.bits()).expect("a vector of 128 bits");
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&bits.to_le_bytes());
            let data = self.b.func.dfg.constants.insert(bytes.as_slice().into());
            let vector = self.b.ins().vconst(lanes, data);
            return self.b.ins().extractlane(vector, 0);
        }
        match ty {
            F32 => self.b.ins().f32const(Ieee32::with_bits(bits as u32)),
            _ => self.b.ins().f64const(Ieee64::with_bits(bits)),
        }
    }

    /// Tests for zero. Of a comparison's `i8` this is its negation, without a
    /// detour through `i32`.
    fn eqz(&mut self) {
        let x = self.state.pop_raw();
        let x = if self.is_step(x) {
            self.b.ins().uextend(I64, x)
        } else {
            x
        };
        let value = self.b.ins().icmp_imm_u(IntCC::Equal, x, 0);
        self.state.push(value);
    }

    fn icmp(&mut self, condition: IntCC) {
        let (mut x, mut y) = self.pop2();
        if matches!(condition, IntCC::Equal | IntCC::NotEqual)
            && self.is_step(x)
            && let Some(limit) = self.constant_of(y)
        {
            x = self.b.ins().uextend(I64, x);
            y = self.b.ins().iconst(I64, i64::from(limit as u32));
        }
        let value = self.b.ins().icmp(condition, x, y);
        self.state.push(value);
    }

    /// Whether an `i32` is a sum with a constant, as a loop's counter is after
    /// its step.
    ///
    /// Cranelift turns `x + a == b` into `x == b - a`. In a loop that keeps `x`
    /// alive beside the sum, which costs a copy, a block for it and a second
    /// jump in every round. Compared as 64-bit values, which costs nothing, the
    /// sum stays what is compared.
    fn is_step(&self, value: Value) -> bool {
        let dfg = &self.b.func.dfg;
        if dfg.value_type(value) != I32 {
            return false;
        }
        let Some(inst) = dfg.value_def(value).inst() else {
            return false;
        };
        match dfg.insts[inst] {
            InstructionData::Binary {
                opcode: Opcode::Iadd,
                args: [x, y],
            } => self.constant_of(x).is_some() || self.constant_of(y).is_some(),
            _ => false,
        }
    }

    /// The value of an integer constant.
    pub(super) fn constant_of(&self, value: Value) -> Option<i64> {
        let dfg = &self.b.func.dfg;
        match dfg.insts[dfg.value_def(value).inst()?] {
            InstructionData::UnaryImm {
                opcode: Opcode::Iconst,
                imm,
            } => Some(imm.bits()),
            _ => None,
        }
    }

    fn fcmp(&mut self, condition: FloatCC) {
        let (x, y) = self.pop2();
        let value = self.b.ins().fcmp(condition, x, y);
        self.state.push(value);
    }

    fn reinterpret(&mut self, ty: Type) {
        let x = self.pop();
        let value = self.b.ins().bitcast(ty, MemFlagsData::new(), x);
        self.state.push(value);
    }

    /// Sign-extends the low `from` bits of a `to`.
    fn extend_low(&mut self, from: Type, to: Type) {
        let x = self.pop();
        let low: Value = self.b.ins().ireduce(from, x);
        let value = self.b.ins().sextend(to, low);
        self.state.push(value);
    }
}
