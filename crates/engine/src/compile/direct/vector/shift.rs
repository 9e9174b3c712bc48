//! Shifts of lanes by a number, of which the bits count that a lane has positions for.
//!
//! There is none of bytes, and none of 64 bits with signs: those are made of others.

use wasmparser::Operator;

use super::{Two, each, two, two_of};
use crate::compile::direct::Generator;
use crate::compile::direct::code::emit;
use crate::compile::direct::registers::{Rm, SCRATCH, SCRATCH_XMM, Xmm, XmmRm};
use crate::compile::direct::values::Place;

/// How bytes are shifted.
#[derive(Clone, Copy)]
enum Bytes {
    Left,
    RightUnsigned,
    RightSigned,
}

/// Where there is an instruction.
fn shift(op: &Operator<'_>) -> Option<Two> {
    two_of! { op;
        I16x8Shl: vpsllw_c,
        I32x4Shl: vpslld_c,
        I64x2Shl: vpsllq_c,
        I16x8ShrU: vpsrlw_c,
        I32x4ShrU: vpsrld_c,
        I64x2ShrU: vpsrlq_c,
        I16x8ShrS: vpsraw_c,
        I32x4ShrS: vpsrad_c,
    }
}

/// Bits of a lane.
fn lane_bits(op: &Operator<'_>) -> u8 {
    use Operator as O;
    match op {
        O::I8x16Shl | O::I8x16ShrS | O::I8x16ShrU => 8,
        O::I16x8Shl | O::I16x8ShrS | O::I16x8ShrU => 16,
        O::I32x4Shl | O::I32x4ShrS | O::I32x4ShrU => 32,
        _ => 64,
    }
}

impl Generator<'_> {
    /// Translates a shift of lanes; `false` when it is none.
    pub(super) fn vector_shift(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        let bytes = match op {
            O::I8x16Shl => Some(Bytes::Left),
            O::I8x16ShrU => Some(Bytes::RightUnsigned),
            O::I8x16ShrS => Some(Bytes::RightSigned),
            _ => None,
        };
        let whole = shift(op);
        if bytes.is_none() && whole.is_none() && !matches!(op, O::I64x2ShrS) {
            return false;
        }
        let by = self.distance(lane_bits(op));
        self.change(|this, x| match (bytes, whole) {
            (Some(how), _) => this.shift_bytes(how, x, by),
            (_, Some(shift)) => shift(&mut this.code, x, x, XmmRm::Xmm(by)),
            (None, None) => this.shift_signed(x, by),
        });
        self.free.give_xmm(by);
        true
    }

    /// By how much lanes of so many bits are shifted, in a register of its own.
    fn distance(&mut self, bits: u8) -> Xmm {
        let count = self.pop();
        let mask = bits - 1;
        if let Place::Constant(count) = count.place {
            self.load_constant(SCRATCH, count & u64::from(mask));
        } else {
            self.load_gpr(SCRATCH, count);
            emit!(self.code, andl_mi_sxb(Rm::Gpr(SCRATCH), mask as i8));
        }
        self.release(count);
        let by = self.take_xmm();
        emit!(self.code, vmovd_a(by, Rm::Gpr(SCRATCH)));
        by
    }

    /// The upper and the lower byte of each 16 bits apart, so that nothing gets from one to the
    /// other.
    fn shift_bytes(&mut self, how: Bytes, x: Xmm, by: Xmm) {
        let upper = self.take_xmm();
        let (count, lower_bytes) = (XmmRm::Xmm(by), SCRATCH_XMM);
        self.ones(lower_bytes);
        emit!(self.code, vpsrlw_d(lower_bytes, lower_bytes, 8u8));
        match how {
            Bytes::Left => {
                emit!(self.code, vpandn_b(upper, lower_bytes, XmmRm::Xmm(x)));
                emit!(self.code, vpsllw_c(upper, upper, count));
                emit!(self.code, vpsllw_c(x, x, count));
                emit!(self.code, vpand_b(x, x, XmmRm::Xmm(lower_bytes)));
            }
            Bytes::RightUnsigned => {
                emit!(self.code, vpsrlw_c(upper, x, count));
                emit!(self.code, vpandn_b(upper, lower_bytes, XmmRm::Xmm(upper)));
                emit!(self.code, vpand_b(x, x, XmmRm::Xmm(lower_bytes)));
                emit!(self.code, vpsrlw_c(x, x, count));
            }
            Bytes::RightSigned => {
                emit!(self.code, vpsraw_c(upper, x, count));
                emit!(self.code, vpandn_b(upper, lower_bytes, XmmRm::Xmm(upper)));
                emit!(self.code, vpsllw_d(x, x, 8u8));
                emit!(self.code, vpsraw_c(x, x, count));
                emit!(self.code, vpsrlw_d(x, x, 8u8));
            }
        }
        emit!(self.code, vpor_b(x, x, XmmRm::Xmm(upper)));
        self.free.give_xmm(upper);
    }

    /// A sign that was shifted as a bit is spread to the top: `(x ^ s) - s`.
    fn shift_signed(&mut self, x: Xmm, by: Xmm) {
        let sign = SCRATCH_XMM;
        self.ones(sign);
        emit!(self.code, vpsllq_d(sign, sign, 63u8));
        emit!(self.code, vpsrlq_c(sign, sign, XmmRm::Xmm(by)));
        emit!(self.code, vpsrlq_c(x, x, XmmRm::Xmm(by)));
        emit!(self.code, vpxor_b(x, x, XmmRm::Xmm(sign)));
        emit!(self.code, vpsubq_b(x, x, XmmRm::Xmm(sign)));
    }
}
