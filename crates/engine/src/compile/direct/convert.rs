//! Conversions between numbers (core specification §4.3.4).
//!
//! A float becomes an integer behind two comparisons, with the greatest float below the range
//! or the least in it, and with the least above: what is left is exact.

use cranelift_codegen::ir::TrapCode;
use wasmparser::Operator;

use super::Generator;
use super::code::{Condition, emit};
use super::registers::{Gpr, Rm, SCRATCH, SCRATCH_XMM, Xmm, XmmRm};
use super::values::{Kind, Place, Value};

/// An integer type that a float is converted to.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Integer {
    kind: Kind,
    is_signed: bool,
}

/// What becomes of a float without an integer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outside {
    Traps,
    Saturates,
}

const I32: Integer = Integer {
    kind: Kind::I32,
    is_signed: true,
};
const U32: Integer = Integer {
    kind: Kind::I32,
    is_signed: false,
};
const I64: Integer = Integer {
    kind: Kind::I64,
    is_signed: true,
};
const U64: Integer = Integer {
    kind: Kind::I64,
    is_signed: false,
};

impl Integer {
    /// The float that all in range are above, or the least that is in it, and which; the least
    /// above the range.
    fn range(self, from: Kind) -> (f64, bool, f64) {
        match (self.kind, self.is_signed) {
            // An f32 has none between.
            (Kind::I32, true) if from == Kind::F32 => (-2_147_483_648.0, true, 2_147_483_648.0),
            (Kind::I32, true) => (-2_147_483_649.0, false, 2_147_483_648.0),
            (Kind::I32, false) => (-1.0, false, 4_294_967_296.0),
            (_, true) => (
                -9_223_372_036_854_775_808.0,
                true,
                9_223_372_036_854_775_808.0,
            ),
            (_, false) => (-1.0, false, 18_446_744_073_709_551_616.0),
        }
    }

    /// The least and the greatest.
    fn limits(self) -> (u64, u64) {
        match (self.kind, self.is_signed) {
            (Kind::I32, true) => (
                u64::from(i32::MIN.cast_unsigned()),
                u64::from(i32::MAX.cast_unsigned()),
            ),
            (Kind::I32, false) => (0, u64::from(u32::MAX)),
            (_, true) => (i64::MIN.cast_unsigned(), i64::MAX.cast_unsigned()),
            (_, false) => (0, u64::MAX),
        }
    }
}

fn bits(kind: Kind, float: f64) -> u64 {
    match kind.is_wide() {
        true => float.to_bits(),
        false => u64::from((float as f32).to_bits()),
    }
}

impl Generator<'_> {
    /// Translates a conversion; `false` when it is none.
    pub(super) fn conversion(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        use Outside::{Saturates, Traps};
        match *op {
            O::I32WrapI64 => self.wrap(),
            O::I64ExtendI32U => self.extend_by_zeros(),
            O::I64ExtendI32S | O::I64Extend32S => self.extend(Kind::I64, 4),
            O::I32Extend8S => self.extend(Kind::I32, 1),
            O::I32Extend16S => self.extend(Kind::I32, 2),
            O::I64Extend8S => self.extend(Kind::I64, 1),
            O::I64Extend16S => self.extend(Kind::I64, 2),
            O::I32TruncF32S | O::I32TruncF64S => self.truncate_float(I32, Traps),
            O::I32TruncF32U | O::I32TruncF64U => self.truncate_float(U32, Traps),
            O::I64TruncF32S | O::I64TruncF64S => self.truncate_float(I64, Traps),
            O::I64TruncF32U | O::I64TruncF64U => self.truncate_float(U64, Traps),
            O::I32TruncSatF32S | O::I32TruncSatF64S => self.truncate_float(I32, Saturates),
            O::I32TruncSatF32U | O::I32TruncSatF64U => self.truncate_float(U32, Saturates),
            O::I64TruncSatF32S | O::I64TruncSatF64S => self.truncate_float(I64, Saturates),
            O::I64TruncSatF32U | O::I64TruncSatF64U => self.truncate_float(U64, Saturates),
            O::F32ConvertI32S => self.convert(Kind::F32, I32),
            O::F32ConvertI32U => self.convert(Kind::F32, U32),
            O::F32ConvertI64S => self.convert(Kind::F32, I64),
            O::F32ConvertI64U => self.convert(Kind::F32, U64),
            O::F64ConvertI32S => self.convert(Kind::F64, I32),
            O::F64ConvertI32U => self.convert(Kind::F64, U32),
            O::F64ConvertI64S => self.convert(Kind::F64, I64),
            O::F64ConvertI64U => self.convert(Kind::F64, U64),
            O::F32DemoteF64 => {
                let x = self.pop();
                let to = self.own_xmm(x);
                emit!(self.code, cvtsd2ss_a(to, XmmRm::Xmm(to)));
                self.push_xmm(Kind::F32, to);
            }
            O::F64PromoteF32 => {
                let x = self.pop();
                let to = self.own_xmm(x);
                emit!(self.code, cvtss2sd_a(to, XmmRm::Xmm(to)));
                self.push_xmm(Kind::F64, to);
            }
            O::I32ReinterpretF32 | O::I64ReinterpretF64 => self.reinterpret_float(),
            O::F32ReinterpretI32 => self.reinterpret_integer(Kind::F32),
            O::F64ReinterpretI64 => self.reinterpret_integer(Kind::F64),
            _ => return false,
        }
        true
    }

    /// The low half of 64 bits, wherever they are.
    fn wrap(&mut self) {
        let x = self.pop();
        let half = Value {
            kind: Kind::I32,
            ..x
        };
        let to = self.own(half);
        if let Place::Gpr(gpr) = x.place {
            emit!(self.code, movl_rm(gpr, Rm::Gpr(gpr)));
        }
        self.push_gpr(Kind::I32, to);
    }

    fn extend_by_zeros(&mut self) {
        let x = self.pop();
        let to = self.own(x);
        if let Place::Gpr(gpr) = x.place {
            emit!(self.code, movl_rm(gpr, Rm::Gpr(gpr)));
        }
        self.push_gpr(Kind::I64, to);
    }

    /// Extends the lowest bytes by their sign.
    fn extend(&mut self, kind: Kind, bytes: u8) {
        let x = self.pop();
        let from = self.operand(x);
        self.release(x);
        let to = self.take();
        match (bytes, kind.is_wide()) {
            (1, false) => emit!(self.code, movsbl_rm(to, from)),
            (1, true) => emit!(self.code, movsbq_rm(to, from)),
            (2, false) => emit!(self.code, movswl_rm(to, from)),
            (2, true) => emit!(self.code, movswq_rm(to, from)),
            _ => emit!(self.code, movslq_rm(to, from)),
        }
        self.push_gpr(kind, to);
    }

    fn reinterpret_float(&mut self) {
        let x = self.pop();
        let kind = match x.kind.is_wide() {
            true => Kind::I64,
            false => Kind::I32,
        };
        let to = match x.place {
            Place::Xmm(xmm) => {
                let to = self.take();
                self.bits_of(to, x.kind, xmm);
                self.free.give_xmm(xmm);
                to
            }
            _ => self.own(Value { kind, ..x }),
        };
        self.push_gpr(kind, to);
    }

    fn reinterpret_integer(&mut self, kind: Kind) {
        let x = self.pop();
        let to = match x.place {
            Place::Gpr(gpr) => {
                let to = self.take_xmm();
                self.float_of(to, kind, gpr);
                self.free.give(gpr);
                to
            }
            _ => self.own_xmm(Value { kind, ..x }),
        };
        self.push_xmm(kind, to);
    }

    fn convert(&mut self, kind: Kind, from: Integer) {
        let x = self.pop();
        let gpr = self.own(x);
        let to = self.take_xmm();
        // The instruction keeps the rest of the register, which would be waited for.
        emit!(self.code, xorps_a(to, XmmRm::Xmm(to)));
        match from {
            I32 => match kind.is_wide() {
                true => emit!(self.code, cvtsi2sdl_a(to, Rm::Gpr(gpr))),
                false => emit!(self.code, cvtsi2ssl_a(to, Rm::Gpr(gpr))),
            },
            U32 => {
                emit!(self.code, movl_rm(gpr, Rm::Gpr(gpr)));
                self.convert_wide(kind, to, gpr);
            }
            I64 => self.convert_wide(kind, to, gpr),
            _ => self.convert_unsigned(kind, to, gpr),
        }
        self.free.give(gpr);
        self.push_xmm(kind, to);
    }

    fn convert_wide(&mut self, kind: Kind, to: Xmm, from: Gpr) {
        match kind.is_wide() {
            true => emit!(self.code, cvtsi2sdq_a(to, Rm::Gpr(from))),
            false => emit!(self.code, cvtsi2ssq_a(to, Rm::Gpr(from))),
        }
    }

    /// From 2^63 on by half of the number, whose last bit stays to be rounded by, doubled.
    fn convert_unsigned(&mut self, kind: Kind, to: Xmm, from: Gpr) {
        let [large, end] = [(); 2].map(|()| self.code.label());
        emit!(self.code, testq_mr(Rm::Gpr(from), from));
        self.code.jump_if(Condition::Sign, large);
        self.convert_wide(kind, to, from);
        self.code.jump(end);
        self.code.bind(large);
        emit!(self.code, movq_rm(SCRATCH, Rm::Gpr(from)));
        emit!(self.code, shrq_mi(Rm::Gpr(SCRATCH), 1u8));
        emit!(self.code, andl_mi_sxb(Rm::Gpr(from), 1i8));
        emit!(self.code, orq_rm(SCRATCH, Rm::Gpr(from)));
        self.convert_wide(kind, to, SCRATCH);
        match kind.is_wide() {
            true => emit!(self.code, addsd_a(to, XmmRm::Xmm(to))),
            false => emit!(self.code, addss_a(to, XmmRm::Xmm(to))),
        }
        self.code.bind(end);
    }

    fn truncate_float(&mut self, to: Integer, outside: Outside) {
        let x = self.pop();
        let xmm = self.own_xmm(x);
        let gpr = self.take();
        let (low, is_in_range, high) = to.range(x.kind);
        let below = match is_in_range {
            true => Condition::Below,
            false => Condition::BelowOrEqual,
        };
        let end = self.code.label();
        let (least, greatest) = to.limits();
        self.load_float(SCRATCH_XMM, x.kind, bits(x.kind, low));
        self.compare_floats(x.kind, xmm, XmmRm::Xmm(SCRATCH_XMM));
        match outside {
            Outside::Traps => {
                let invalid = TrapCode::BAD_CONVERSION_TO_INTEGER;
                self.code.trap_if(Condition::Parity, invalid);
                let overflow = TrapCode::INTEGER_OVERFLOW;
                self.code.trap_if(below, overflow);
            }
            Outside::Saturates => {
                self.load_constant(gpr, 0);
                self.code.jump_if(Condition::Parity, end);
                self.load_constant(gpr, least);
                self.code.jump_if(below, end);
            }
        }
        self.load_float(SCRATCH_XMM, x.kind, bits(x.kind, high));
        self.compare_floats(x.kind, xmm, XmmRm::Xmm(SCRATCH_XMM));
        match outside {
            Outside::Traps => {
                let overflow = TrapCode::INTEGER_OVERFLOW;
                self.code.trap_if(Condition::AboveOrEqual, overflow);
            }
            Outside::Saturates => {
                self.load_constant(gpr, greatest);
                self.code.jump_if(Condition::AboveOrEqual, end);
            }
        }
        self.truncate_in_range(to, x.kind, gpr, xmm);
        self.code.bind(end);
        self.free.give_xmm(xmm);
        self.push_gpr(to.kind, gpr);
    }

    fn truncate_in_range(&mut self, to: Integer, kind: Kind, gpr: Gpr, xmm: Xmm) {
        if to == I32 {
            return match kind.is_wide() {
                true => emit!(self.code, cvttsd2si_a(gpr, XmmRm::Xmm(xmm))),
                false => emit!(self.code, cvttss2si_a(gpr, XmmRm::Xmm(xmm))),
            };
        }
        if to != U64 {
            return self.truncate_wide(kind, gpr, xmm);
        }
        // From 2^63 on less by as much, which is added as the topmost bit.
        let [large, done] = [(); 2].map(|()| self.code.label());
        let half = bits(kind, 9_223_372_036_854_775_808.0);
        self.load_float(SCRATCH_XMM, kind, half);
        self.compare_floats(kind, xmm, XmmRm::Xmm(SCRATCH_XMM));
        self.code.jump_if(Condition::AboveOrEqual, large);
        self.truncate_wide(kind, gpr, xmm);
        self.code.jump(done);
        self.code.bind(large);
        match kind.is_wide() {
            true => emit!(self.code, subsd_a(xmm, XmmRm::Xmm(SCRATCH_XMM))),
            false => emit!(self.code, subss_a(xmm, XmmRm::Xmm(SCRATCH_XMM))),
        }
        self.truncate_wide(kind, gpr, xmm);
        self.load_constant(SCRATCH, 1 << 63);
        emit!(self.code, xorq_rm(gpr, Rm::Gpr(SCRATCH)));
        self.code.bind(done);
    }

    fn truncate_wide(&mut self, kind: Kind, gpr: Gpr, xmm: Xmm) {
        match kind.is_wide() {
            true => emit!(self.code, cvttsd2si_aq(gpr, XmmRm::Xmm(xmm))),
            false => emit!(self.code, cvttss2si_aq(gpr, XmmRm::Xmm(xmm))),
        }
    }
}
