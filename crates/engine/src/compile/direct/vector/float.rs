//! Vectors of floats, and conversions between them and vectors of integers.
//!
//! The instructions quiet signalling NaNs as those for one float do. Of minimum and maximum they
//! know neither NaN nor -0, and of conversions not what does not fit.

use wasmparser::Operator;

use super::{One, Two, each, one, one_of, two, two_of};
use crate::compile::direct::Generator;
use crate::compile::direct::code::emit;
use crate::compile::direct::float::{DOWN, NEAREST, TRUNCATE, UP};
use crate::compile::direct::registers::{SCRATCH_XMM, Xmm, XmmRm};

/// Predicates of `vcmpps` and `vcmppd` (SDM vol. 2, table 3-1).
const EQUAL: u8 = 0;
const LESS: u8 = 1;
const LESS_OR_EQUAL: u8 = 2;
const UNORDERED: u8 = 3;
const NOT_EQUAL: u8 = 4;

/// 2^31 - 1, 2^32 - 1 and 2^52.
const I32_MAX: f64 = 2_147_483_647.0;
const U32_MAX: f64 = 4_294_967_295.0;
const ONE_IS_LAST_BIT: f64 = 4_503_599_627_370_496.0;

/// One instruction: of lanes of 32 or of 64 bits.
macro_rules! of_lanes {
    ($this:ident, $is_wide:expr, $single:ident, $double:ident, ($($arg:expr),*)) => {
        match $is_wide {
            false => emit!($this.code, $single($($arg),*)),
            true => emit!($this.code, $double($($arg),*)),
        }
    };
}

/// What one instruction does with two operands.
pub(super) fn two(op: &Operator<'_>) -> Option<Two> {
    two_of! { op;
        F32x4Add: vaddps_b,
        F64x2Add: vaddpd_b,
        F32x4Sub: vsubps_b,
        F64x2Sub: vsubpd_b,
        F32x4Mul: vmulps_b,
        F64x2Mul: vmulpd_b,
        F32x4Div: vdivps_b,
        F64x2Div: vdivpd_b,
        F32x4Eq: vcmpps_b(EQUAL),
        F64x2Eq: vcmppd_b(EQUAL),
        F32x4Ne: vcmpps_b(NOT_EQUAL),
        F64x2Ne: vcmppd_b(NOT_EQUAL),
        F32x4Lt: vcmpps_b(LESS),
        F64x2Lt: vcmppd_b(LESS),
        F32x4Le: vcmpps_b(LESS_OR_EQUAL),
        F64x2Le: vcmppd_b(LESS_OR_EQUAL),
        F32x4RelaxedMin: vminps_b,
        F64x2RelaxedMin: vminpd_b,
        F32x4RelaxedMax: vmaxps_b,
        F64x2RelaxedMax: vmaxpd_b,
    }
}

/// The same with the operands the other way round. The instructions give their second operand
/// where neither is less: the first of `pmin` and `pmax`.
pub(super) fn swapped(op: &Operator<'_>) -> Option<Two> {
    two_of! { op;
        F32x4Gt: vcmpps_b(LESS),
        F64x2Gt: vcmppd_b(LESS),
        F32x4Ge: vcmpps_b(LESS_OR_EQUAL),
        F64x2Ge: vcmppd_b(LESS_OR_EQUAL),
        F32x4PMin: vminps_b,
        F64x2PMin: vminpd_b,
        F32x4PMax: vmaxps_b,
        F64x2PMax: vmaxpd_b,
    }
}

/// What one instruction does with an operand.
pub(super) fn one(op: &Operator<'_>) -> Option<One> {
    one_of! { op;
        F32x4Sqrt: vsqrtps_b,
        F64x2Sqrt: vsqrtpd_b,
        F32x4Ceil: vroundps_rmi(UP),
        F64x2Ceil: vroundpd_rmi(UP),
        F32x4Floor: vroundps_rmi(DOWN),
        F64x2Floor: vroundpd_rmi(DOWN),
        F32x4Trunc: vroundps_rmi(TRUNCATE),
        F64x2Trunc: vroundpd_rmi(TRUNCATE),
        F32x4Nearest: vroundps_rmi(NEAREST),
        F64x2Nearest: vroundpd_rmi(NEAREST),
        F32x4ConvertI32x4S: vcvtdq2ps_a,
        F64x2ConvertLowI32x4S: vcvtdq2pd_a,
        F32x4DemoteF64x2Zero: vcvtpd2ps_a,
        F64x2PromoteLowF32x4: vcvtps2pd_a,
        I32x4RelaxedTruncF32x4S: vcvttps2dq_a,
        I32x4RelaxedTruncF64x2SZero: vcvttpd2dq_a,
    }
}

impl Generator<'_> {
    /// Translates what takes several instructions; `false` when it is none.
    pub(super) fn vector_float(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        match op {
            O::F32x4Abs => self.change(|this, x| this.change_signs(x, false, true)),
            O::F64x2Abs => self.change(|this, x| this.change_signs(x, true, true)),
            O::F32x4Neg => self.change(|this, x| this.change_signs(x, false, false)),
            O::F64x2Neg => self.change(|this, x| this.change_signs(x, true, false)),
            O::F32x4Min => self.change_by(|this, x, y| this.least(x, y, false)),
            O::F64x2Min => self.change_by(|this, x, y| this.least(x, y, true)),
            O::F32x4Max => self.change_by(|this, x, y| this.greatest(x, y, false)),
            O::F64x2Max => self.change_by(|this, x, y| this.greatest(x, y, true)),
            O::F32x4ConvertI32x4U => self.change(Self::floats_of_unsigned),
            O::F64x2ConvertLowI32x4U => self.change(Self::doubles_of_unsigned),
            O::I32x4TruncSatF32x4S => self.change(Self::truncate_signed),
            O::I32x4TruncSatF32x4U | O::I32x4RelaxedTruncF32x4U => {
                self.change(Self::truncate_unsigned);
            }
            O::I32x4TruncSatF64x2SZero => self.change(Self::truncate_doubles_signed),
            O::I32x4TruncSatF64x2UZero | O::I32x4RelaxedTruncF64x2UZero => {
                self.change(Self::truncate_doubles_unsigned);
            }
            O::F32x4RelaxedMadd => self.multiply_add(false, false),
            O::F64x2RelaxedMadd => self.multiply_add(true, false),
            O::F32x4RelaxedNmadd => self.multiply_add(false, true),
            O::F64x2RelaxedNmadd => self.multiply_add(true, true),
            _ => return false,
        }
        true
    }

    /// Clears the signs, or changes them; quiets no NaN.
    fn change_signs(&mut self, x: Xmm, is_wide: bool, is_cleared: bool) {
        let mask = SCRATCH_XMM;
        self.ones(mask);
        match (is_wide, is_cleared) {
            (false, true) => emit!(self.code, vpsrld_d(mask, mask, 1u8)),
            (true, true) => emit!(self.code, vpsrlq_d(mask, mask, 1u8)),
            (false, false) => emit!(self.code, vpslld_d(mask, mask, 31u8)),
            (true, false) => emit!(self.code, vpsllq_d(mask, mask, 63u8)),
        }
        match is_cleared {
            true => emit!(self.code, vandps_b(x, x, XmmRm::Xmm(mask))),
            false => emit!(self.code, vxorps_b(x, x, XmmRm::Xmm(mask))),
        }
    }

    /// The minimum both ways round: `or` has the sign of -0, and is a NaN where one is.
    fn least(&mut self, x: Xmm, y: Xmm, is_wide: bool) {
        let first = SCRATCH_XMM;
        of_lanes!(self, is_wide, vminps_b, vminpd_b, (first, x, XmmRm::Xmm(y)));
        of_lanes!(self, is_wide, vminps_b, vminpd_b, (y, y, XmmRm::Xmm(x)));
        emit!(self.code, vorps_b(x, first, XmmRm::Xmm(y)));
        self.quiet(x, y, is_wide);
    }

    /// The maximum both ways round: what differs is a sign, which is taken off by subtracting
    /// it, or belongs to a NaN.
    fn greatest(&mut self, x: Xmm, y: Xmm, is_wide: bool) {
        let first = SCRATCH_XMM;
        of_lanes!(self, is_wide, vmaxps_b, vmaxpd_b, (first, x, XmmRm::Xmm(y)));
        of_lanes!(self, is_wide, vmaxps_b, vmaxpd_b, (y, y, XmmRm::Xmm(x)));
        emit!(self.code, vxorps_b(y, y, XmmRm::Xmm(first)));
        emit!(self.code, vorps_b(x, first, XmmRm::Xmm(y)));
        of_lanes!(self, is_wide, vsubps_b, vsubpd_b, (x, x, XmmRm::Xmm(y)));
        self.quiet(x, y, is_wide);
    }

    /// Makes lanes that are NaNs the one without a payload; has a register for it.
    fn quiet(&mut self, x: Xmm, nans: Xmm, is_wide: bool) {
        let lanes = XmmRm::Xmm(x);
        of_lanes!(
            self,
            is_wide,
            vcmpps_b,
            vcmppd_b,
            (nans, x, lanes, UNORDERED)
        );
        emit!(self.code, vorps_b(x, x, XmmRm::Xmm(nans)));
        // All but exponent and the bit behind it.
        match is_wide {
            false => emit!(self.code, vpsrld_d(nans, nans, 10u8)),
            true => emit!(self.code, vpsrlq_d(nans, nans, 13u8)),
        }
        emit!(self.code, vandnps_b(x, nans, XmmRm::Xmm(x)));
    }

    /// Both halves of 16 bits are exact; only their sum is rounded.
    fn floats_of_unsigned(&mut self, x: Xmm) {
        let lower = SCRATCH_XMM;
        emit!(self.code, vpslld_d(lower, x, 16u8));
        emit!(self.code, vpsrld_d(lower, lower, 16u8));
        emit!(self.code, vpsubd_b(x, x, XmmRm::Xmm(lower)));
        emit!(self.code, vcvtdq2ps_a(lower, XmmRm::Xmm(lower)));
        // Without the sign, which it is not.
        emit!(self.code, vpsrld_d(x, x, 1u8));
        emit!(self.code, vcvtdq2ps_a(x, XmmRm::Xmm(x)));
        emit!(self.code, vaddps_b(x, x, XmmRm::Xmm(x)));
        emit!(self.code, vaddps_b(x, x, XmmRm::Xmm(lower)));
    }

    /// As the last bits of 2^52, which is subtracted.
    fn doubles_of_unsigned(&mut self, x: Xmm) {
        let upper = ONE_IS_LAST_BIT.to_bits() >> 32;
        self.load_halves(SCRATCH_XMM, upper | upper << 32, upper | upper << 32);
        emit!(self.code, vunpcklps_b(x, x, XmmRm::Xmm(SCRATCH_XMM)));
        self.load_doubles(SCRATCH_XMM, ONE_IS_LAST_BIT);
        emit!(self.code, vsubpd_b(x, x, XmmRm::Xmm(SCRATCH_XMM)));
    }

    fn load_doubles(&mut self, to: Xmm, value: f64) {
        self.load_halves(to, value.to_bits(), value.to_bits());
    }

    /// NaNs become 0. What does not fit comes out as the least, which is inverted where it was
    /// positive.
    fn truncate_signed(&mut self, x: Xmm) {
        let signs = SCRATCH_XMM;
        emit!(self.code, vcmpps_b(signs, x, XmmRm::Xmm(x), EQUAL));
        emit!(self.code, vandps_b(x, x, XmmRm::Xmm(signs)));
        emit!(self.code, vxorps_b(signs, signs, XmmRm::Xmm(x)));
        emit!(self.code, vcvttps2dq_a(x, XmmRm::Xmm(x)));
        emit!(self.code, vpand_b(signs, signs, XmmRm::Xmm(x)));
        emit!(self.code, vpsrad_d(signs, signs, 31u8));
        emit!(self.code, vpxor_b(x, x, XmmRm::Xmm(signs)));
    }

    /// The sum of what fits in 31 bits and of what is above.
    fn truncate_unsigned(&mut self, x: Xmm) {
        let [above, too_much] = [(); 2].map(|()| self.take_xmm());
        self.zeros(SCRATCH_XMM);
        // The second operand where the first is a NaN.
        emit!(self.code, vmaxps_b(x, x, XmmRm::Xmm(SCRATCH_XMM)));
        self.ones(too_much);
        emit!(self.code, vpsrld_d(too_much, too_much, 1u8));
        // 2^31, to which 2^31 - 1 is rounded.
        emit!(self.code, vcvtdq2ps_a(too_much, XmmRm::Xmm(too_much)));
        emit!(self.code, vsubps_b(above, x, XmmRm::Xmm(too_much)));
        let upper = XmmRm::Xmm(above);
        emit!(
            self.code,
            vcmpps_b(too_much, too_much, upper, LESS_OR_EQUAL)
        );
        emit!(self.code, vcvttps2dq_a(above, XmmRm::Xmm(above)));
        emit!(self.code, vpxor_b(above, above, XmmRm::Xmm(too_much)));
        emit!(self.code, vpmaxsd_b(above, above, XmmRm::Xmm(SCRATCH_XMM)));
        emit!(self.code, vcvttps2dq_a(x, XmmRm::Xmm(x)));
        emit!(self.code, vpaddd_b(x, x, XmmRm::Xmm(above)));
        self.free.give_xmm(above);
        self.free.give_xmm(too_much);
    }

    /// What is too large becomes the greatest, a NaN 0; what is too small comes out right.
    fn truncate_doubles_signed(&mut self, x: Xmm) {
        let greatest = self.take_xmm();
        emit!(self.code, vcmppd_b(SCRATCH_XMM, x, XmmRm::Xmm(x), EQUAL));
        self.load_doubles(greatest, I32_MAX);
        emit!(
            self.code,
            vandps_b(SCRATCH_XMM, SCRATCH_XMM, XmmRm::Xmm(greatest))
        );
        emit!(self.code, vminpd_b(x, x, XmmRm::Xmm(SCRATCH_XMM)));
        emit!(self.code, vcvttpd2dq_a(x, XmmRm::Xmm(x)));
        self.free.give_xmm(greatest);
    }

    /// As the last bits of 2^52, which is added to whole numbers.
    fn truncate_doubles_unsigned(&mut self, x: Xmm) {
        let zeros = self.take_xmm();
        self.zeros(zeros);
        emit!(self.code, vmaxpd_b(x, x, XmmRm::Xmm(zeros)));
        self.load_doubles(SCRATCH_XMM, U32_MAX);
        emit!(self.code, vminpd_b(x, x, XmmRm::Xmm(SCRATCH_XMM)));
        emit!(self.code, vroundpd_rmi(x, XmmRm::Xmm(x), TRUNCATE));
        self.load_doubles(SCRATCH_XMM, ONE_IS_LAST_BIT);
        emit!(self.code, vaddpd_b(x, x, XmmRm::Xmm(SCRATCH_XMM)));
        // The lower half of each, and zeros.
        emit!(self.code, vshufps_b(x, x, XmmRm::Xmm(zeros), 0x88u8));
        self.free.give_xmm(zeros);
    }

    /// `±(x · y) + z`, rounded once where the host can, else twice.
    fn multiply_add(&mut self, is_wide: bool, is_negated: bool) {
        let z = self.pop();
        let z = self.own_xmm(z);
        let is_once = self.features.fma;
        self.change_by(|this, x, y| {
            let (factor, sum) = (y, XmmRm::Xmm(z));
            match (is_once, is_negated) {
                (true, false) => {
                    of_lanes!(
                        this,
                        is_wide,
                        vfmadd213ps_a,
                        vfmadd213pd_a,
                        (x, factor, sum)
                    );
                }
                (true, true) => {
                    of_lanes!(
                        this,
                        is_wide,
                        vfnmadd213ps_a,
                        vfnmadd213pd_a,
                        (x, factor, sum)
                    );
                }
                (false, _) => {
                    if is_negated {
                        this.change_signs(x, is_wide, false);
                    }
                    of_lanes!(this, is_wide, vmulps_b, vmulpd_b, (x, x, XmmRm::Xmm(y)));
                    of_lanes!(this, is_wide, vaddps_b, vaddpd_b, (x, x, sum));
                }
            }
        });
        self.free.give_xmm(z);
    }
}
