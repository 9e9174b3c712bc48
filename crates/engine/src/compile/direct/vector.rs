//! Vectors (core specification §4.4.2), by the instructions of AVX, which have a register of their
//! own for the result and take operands in memory wherever they are.
//!
//! A vector is in a register or has 16 bytes of the frame, as all operands have of a function
//! with vectors. What must stay true: half an instruction is written to no register that the other
//! half reads: operations of more than one have registers of their own.

mod float;
mod integer;
mod memory;
mod shift;

use wasmparser::Operator;

use super::Generator;
use super::code::{Code, Condition, emit};
use super::registers::{Rm, SCRATCH, SCRATCH_XMM, Xmm, XmmRm};
use super::values::{Kind, Place, Value};

/// An instruction of two operands, and of one: the code, the result, and them.
type Two = fn(&mut Code, Xmm, Xmm, XmmRm);
type One = fn(&mut Code, Xmm, XmmRm);

/// An instruction of two operands, perhaps with an immediate one, and of one.
macro_rules! two {
    ($inst:ident $(($imm:expr))?) => {
        (|code, to, x, y| emit!(*code, $inst(to, x, y $(, $imm)?)))
            as $crate::compile::direct::vector::Two
    };
}
use two;
macro_rules! one {
    ($inst:ident $(($imm:expr))?) => {
        (|code, to, x| emit!(*code, $inst(to, x $(, $imm)?)))
            as $crate::compile::direct::vector::One
    };
}
use one;

/// What an operator has in a table.
macro_rules! each {
    ($op:expr; $($Op:ident: $value:expr,)*) => {
        match $op {
            $(wasmparser::Operator::$Op { .. } => Some($value),)*
            _ => None,
        }
    };
}
use each;

/// The instruction that an operator has in a table.
macro_rules! two_of {
    ($op:expr; $($Op:ident: $inst:ident $(($imm:expr))?,)*) => {
        each! { $op; $($Op: two!($inst $(($imm))?),)* }
    };
}
use two_of;
macro_rules! one_of {
    ($op:expr; $($Op:ident: $inst:ident $(($imm:expr))?,)*) => {
        each! { $op; $($Op: one!($inst $(($imm))?),)* }
    };
}
use one_of;

/// The lower and the upper half of a vector, as immediate of `vpshufd`: twice that half.
const LOWER: u8 = 0x44;
const UPPER: u8 = 0xee;

impl Generator<'_> {
    /// Translates an instruction on vectors; `false` when it is none.
    pub(super) fn vector(&mut self, op: &Operator<'_>) -> bool {
        let simple = integer::two(op).or_else(|| float::two(op));
        if let Some(emit) = simple {
            self.two(emit, false);
        } else if let Some(emit) = integer::swapped(op).or_else(|| float::swapped(op)) {
            self.two(emit, true);
        } else if let Some(emit) = integer::one(op).or_else(|| float::one(op)) {
            self.one(emit);
        } else {
            return self.vector_bits(op)
                || self.vector_lanes(op)
                || self.vector_integer(op)
                || self.vector_shift(op)
                || self.vector_float(op)
                || self.vector_access(op);
        }
        true
    }

    /// An instruction of the two operands on top, perhaps the other way round.
    fn two(&mut self, emit: Two, is_swapped: bool) {
        let y = self.pop();
        let x = self.pop();
        let (x, y) = match is_swapped {
            true => (y, x),
            false => (x, y),
        };
        let local = self.result_local(Kind::V128, None);
        let (left, x) = self.read_xmm(x);
        let right = self.operand_xmm(y);
        self.release(y);
        self.release(x);
        let to = self.result_xmm(local);
        emit(&mut self.code, to, left, right);
        self.push_result(Kind::V128, local, Place::Xmm(to));
    }

    fn one(&mut self, emit: One) {
        let x = self.pop();
        let local = self.result_local(Kind::V128, None);
        let from = self.operand_xmm(x);
        self.release(x);
        let to = self.result_xmm(local);
        emit(&mut self.code, to, from);
        self.push_result(Kind::V128, local, Place::Xmm(to));
    }

    /// Changes the operand on top, in a register of its own.
    fn change(&mut self, change: impl FnOnce(&mut Self, Xmm)) {
        let x = self.pop();
        let x = self.own_xmm(x);
        change(self, x);
        self.push_xmm(Kind::V128, x);
    }

    /// Makes the lower of two operands, each in a register of its own, their result.
    fn change_by(&mut self, change: impl FnOnce(&mut Self, Xmm, Xmm)) {
        let y = self.pop();
        let x = self.pop();
        let [x, y] = [x, y].map(|value| self.own_xmm(value));
        change(self, x, y);
        self.free.give_xmm(y);
        self.push_xmm(Kind::V128, x);
    }

    /// Sets all bits.
    fn ones(&mut self, to: Xmm) {
        emit!(self.code, vpcmpeqd_b(to, to, XmmRm::Xmm(to)));
    }

    fn zeros(&mut self, to: Xmm) {
        emit!(self.code, vpxor_b(to, to, XmmRm::Xmm(to)));
    }

    fn invert(&mut self, to: Xmm) {
        self.ones(SCRATCH_XMM);
        emit!(self.code, vpxor_b(to, to, XmmRm::Xmm(SCRATCH_XMM)));
    }

    /// Loads a vector of two halves.
    fn load_halves(&mut self, to: Xmm, low: u64, high: u64) {
        match (low, high) {
            (0, 0) => return self.zeros(to),
            (u64::MAX, u64::MAX) => return self.ones(to),
            _ => {}
        }
        self.load_constant(SCRATCH, low);
        emit!(self.code, vmovq_a(to, Rm::Gpr(SCRATCH)));
        if high == low {
            emit!(self.code, vpunpcklqdq_b(to, to, XmmRm::Xmm(to)));
        } else if high != 0 {
            self.load_constant(SCRATCH, high);
            emit!(self.code, vpinsrq_b(to, to, Rm::Gpr(SCRATCH), 1u8));
        }
    }

    fn load_vector(&mut self, to: Xmm, bytes: [u8; 16]) {
        let bits = u128::from_le_bytes(bytes);
        self.load_halves(to, bits as u64, (bits >> 64) as u64);
    }

    /// Constants and what is done with bits.
    fn vector_bits(&mut self, op: &Operator<'_>) -> bool {
        match *op {
            Operator::V128Const { value } => {
                let to = self.take_xmm();
                self.load_vector(to, *value.bytes());
                self.push_xmm(Kind::V128, to);
            }
            Operator::V128Not => self.change(|this, x| this.invert(x)),
            Operator::V128Bitselect => self.select_bits(),
            Operator::V128AnyTrue => {
                let x = self.pop();
                let (xmm, x) = self.read_xmm(x);
                emit!(self.code, vptest_rm(xmm, XmmRm::Xmm(xmm)));
                self.release(x);
                self.push(Kind::I32, Place::Flags(Condition::NotEqual));
            }
            _ => return false,
        }
        true
    }

    fn select_bits(&mut self) {
        let mask = self.pop();
        let mask = self.own_xmm(mask);
        self.change_by(|this, x, y| {
            emit!(this.code, vpand_b(x, x, XmmRm::Xmm(mask)));
            emit!(this.code, vpandn_b(y, mask, XmmRm::Xmm(y)));
            emit!(this.code, vpor_b(x, x, XmmRm::Xmm(y)));
        });
        self.free.give_xmm(mask);
    }

    /// Lanes that are moved, made of numbers and taken out.
    fn vector_lanes(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        match *op {
            O::I8x16Shuffle { lanes } => self.shuffle(lanes),
            O::I8x16Swizzle => self.change_by(|this, x, indices| {
                // More than 15 becomes more than 127, which selects 0.
                let splat = u64::from_le_bytes([0x70; 8]);
                this.load_halves(SCRATCH_XMM, splat, splat);
                emit!(
                    this.code,
                    vpaddusb_b(indices, indices, XmmRm::Xmm(SCRATCH_XMM))
                );
                emit!(this.code, vpshufb_b(x, x, XmmRm::Xmm(indices)));
            }),
            O::I8x16Splat => self.splat_integer(1),
            O::I16x8Splat => self.splat_integer(2),
            O::I32x4Splat => self.splat_integer(4),
            O::I64x2Splat => self.splat_integer(8),
            O::F32x4Splat | O::F64x2Splat => self.splat_float(),
            O::I8x16ExtractLaneS { lane } => self.extract(lane, 1, true),
            O::I8x16ExtractLaneU { lane } => self.extract(lane, 1, false),
            O::I16x8ExtractLaneS { lane } => self.extract(lane, 2, true),
            O::I16x8ExtractLaneU { lane } => self.extract(lane, 2, false),
            O::I32x4ExtractLane { lane } => self.extract(lane, 4, false),
            O::I64x2ExtractLane { lane } => self.extract(lane, 8, false),
            O::F32x4ExtractLane { lane } => self.extract_float(Kind::F32, lane),
            O::F64x2ExtractLane { lane } => self.extract_float(Kind::F64, lane * 2),
            O::I8x16ReplaceLane { lane } => self.replace(lane, 1),
            O::I16x8ReplaceLane { lane } => self.replace(lane, 2),
            O::I32x4ReplaceLane { lane } => self.replace(lane, 4),
            O::I64x2ReplaceLane { lane } => self.replace(lane, 8),
            O::F32x4ReplaceLane { lane } | O::F64x2ReplaceLane { lane } => {
                self.replace_float(lane);
            }
            _ => return false,
        }
        true
    }

    /// Bytes of two vectors by their positions.
    fn shuffle(&mut self, lanes: [u8; 16]) {
        const NONE: u8 = 0x80;
        let of = |first: u8| lanes.map(|lane| if lane / 16 == first { lane % 16 } else { NONE });
        self.change_by(|this, x, y| {
            this.load_vector(SCRATCH_XMM, of(0));
            emit!(this.code, vpshufb_b(x, x, XmmRm::Xmm(SCRATCH_XMM)));
            this.load_vector(SCRATCH_XMM, of(1));
            emit!(this.code, vpshufb_b(y, y, XmmRm::Xmm(SCRATCH_XMM)));
            emit!(this.code, vpor_b(x, x, XmmRm::Xmm(y)));
        });
    }

    /// Makes all lanes of so many bytes that of a popped integer.
    fn splat_integer(&mut self, bytes: u8) {
        let lane = self.pop();
        let from = self.operand(lane);
        self.release(lane);
        let to = self.take_xmm();
        match bytes {
            8 => emit!(self.code, vmovq_a(to, from)),
            _ => emit!(self.code, vmovd_a(to, from)),
        }
        self.splat(to, bytes);
        self.push_xmm(Kind::V128, to);
    }

    /// Makes all lanes the first one.
    fn splat(&mut self, to: Xmm, bytes: u8) {
        match bytes {
            1 => {
                self.zeros(SCRATCH_XMM);
                emit!(self.code, vpshufb_b(to, to, XmmRm::Xmm(SCRATCH_XMM)));
            }
            2 => {
                emit!(self.code, vpshuflw_a(to, XmmRm::Xmm(to), 0u8));
                emit!(self.code, vpshufd_a(to, XmmRm::Xmm(to), 0u8));
            }
            4 => emit!(self.code, vpshufd_a(to, XmmRm::Xmm(to), 0u8)),
            _ => emit!(self.code, vpshufd_a(to, XmmRm::Xmm(to), LOWER)),
        }
    }

    fn splat_float(&mut self) {
        let lane = self.pop();
        let bytes = if lane.kind.is_wide() { 8 } else { 4 };
        let to = self.own_xmm(lane);
        self.splat(to, bytes);
        self.push_xmm(Kind::V128, to);
    }

    fn extract(&mut self, lane: u8, bytes: u8, is_signed: bool) {
        let x = self.pop();
        let (xmm, x) = self.read_xmm(x);
        self.release(x);
        let to = self.take();
        let rm = Rm::Gpr(to);
        match bytes {
            1 => emit!(self.code, vpextrb_a(rm, xmm, lane)),
            2 => emit!(self.code, vpextrw_a(to, xmm, lane)),
            4 => emit!(self.code, vpextrd_a(rm, xmm, lane)),
            _ => emit!(self.code, vpextrq_a(rm, xmm, lane)),
        }
        match (is_signed, bytes) {
            (true, 1) => emit!(self.code, movsbl_rm(to, rm)),
            (true, _) => emit!(self.code, movswl_rm(to, rm)),
            (false, _) => {}
        }
        let kind = if bytes == 8 { Kind::I64 } else { Kind::I32 };
        self.push_gpr(kind, to);
    }

    /// Takes a float out, whose first 32 bits are that lane of 32.
    fn extract_float(&mut self, kind: Kind, lane: u8) {
        let x = self.pop();
        let to = self.own_xmm(x);
        match (kind, lane) {
            (_, 0) => {}
            (Kind::F64, _) => emit!(self.code, vpshufd_a(to, XmmRm::Xmm(to), UPPER)),
            (_, lane) => emit!(self.code, vpshufd_a(to, XmmRm::Xmm(to), lane)),
        }
        self.push_xmm(kind, to);
    }

    fn replace(&mut self, lane: u8, bytes: u8) {
        let value = self.pop();
        let (from, value) = self.read(value);
        let x = self.pop();
        let to = self.own_xmm(x);
        self.insert(to, Rm::Gpr(from), lane, bytes);
        self.release(value);
        self.push_xmm(Kind::V128, to);
    }

    /// Sets a lane of so many bytes.
    fn insert(&mut self, to: Xmm, from: Rm, lane: u8, bytes: u8) {
        match bytes {
            1 => emit!(self.code, vpinsrb_b(to, to, from, lane)),
            2 => emit!(self.code, vpinsrw_b(to, to, from, lane)),
            4 => emit!(self.code, vpinsrd_b(to, to, from, lane)),
            _ => emit!(self.code, vpinsrq_b(to, to, from, lane)),
        }
    }

    fn replace_float(&mut self, lane: u8) {
        let value: Value = self.pop();
        let (from, value) = self.read_xmm(value);
        let x = self.pop();
        let to = self.own_xmm(x);
        let other = XmmRm::Xmm(from);
        match (value.kind, lane) {
            (Kind::F32, lane) => emit!(self.code, vinsertps_b(to, to, other, lane << 4)),
            (_, 0) => emit!(self.code, vshufpd_b(to, from, XmmRm::Xmm(to), 2u8)),
            (_, _) => emit!(self.code, vshufpd_b(to, to, other, 0u8)),
        }
        self.release(value);
        self.push_xmm(Kind::V128, to);
    }
}
