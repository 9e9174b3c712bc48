//! Vectors of integers.

use wasmparser::Operator;

use super::{One, Two, UPPER, each, one, one_of, two, two_of};
use crate::compile::direct::Generator;
use crate::compile::direct::code::{Condition, emit};
use crate::compile::direct::registers::{SCRATCH_XMM, Xmm, XmmRm};
use crate::compile::direct::values::{Kind, Place};

/// What one instruction does with two operands.
pub(super) fn two(op: &Operator<'_>) -> Option<Two> {
    arithmetic(op).or_else(|| narrowing(op))
}

fn arithmetic(op: &Operator<'_>) -> Option<Two> {
    two_of! { op;
        V128And: vpand_b,
        V128Or: vpor_b,
        V128Xor: vpxor_b,
        I8x16Add: vpaddb_b,
        I16x8Add: vpaddw_b,
        I32x4Add: vpaddd_b,
        I64x2Add: vpaddq_b,
        I8x16Sub: vpsubb_b,
        I16x8Sub: vpsubw_b,
        I32x4Sub: vpsubd_b,
        I64x2Sub: vpsubq_b,
        I16x8Mul: vpmullw_b,
        I32x4Mul: vpmulld_b,
        I8x16AddSatS: vpaddsb_b,
        I8x16AddSatU: vpaddusb_b,
        I16x8AddSatS: vpaddsw_b,
        I16x8AddSatU: vpaddusw_b,
        I8x16SubSatS: vpsubsb_b,
        I8x16SubSatU: vpsubusb_b,
        I16x8SubSatS: vpsubsw_b,
        I16x8SubSatU: vpsubusw_b,
        I8x16MinS: vpminsb_b,
        I8x16MinU: vpminub_b,
        I16x8MinS: vpminsw_b,
        I16x8MinU: vpminuw_b,
        I32x4MinS: vpminsd_b,
        I32x4MinU: vpminud_b,
        I8x16MaxS: vpmaxsb_b,
        I8x16MaxU: vpmaxub_b,
        I16x8MaxS: vpmaxsw_b,
        I16x8MaxU: vpmaxuw_b,
        I32x4MaxS: vpmaxsd_b,
        I32x4MaxU: vpmaxud_b,
        I8x16AvgrU: vpavgb_b,
        I16x8AvgrU: vpavgw_b,
    }
}

fn narrowing(op: &Operator<'_>) -> Option<Two> {
    two_of! { op;
        I8x16Eq: vpcmpeqb_b,
        I16x8Eq: vpcmpeqw_b,
        I32x4Eq: vpcmpeqd_b,
        I64x2Eq: vpcmpeqq_b,
        I8x16GtS: vpcmpgtb_b,
        I16x8GtS: vpcmpgtw_b,
        I32x4GtS: vpcmpgtd_b,
        I64x2GtS: vpcmpgtq_b,
        I8x16NarrowI16x8S: vpacksswb_b,
        I8x16NarrowI16x8U: vpackuswb_b,
        I16x8NarrowI32x4S: vpackssdw_b,
        I16x8NarrowI32x4U: vpackusdw_b,
        I32x4DotI16x8S: vpmaddwd_b,
        I8x16RelaxedSwizzle: vpshufb_b,
        I16x8RelaxedQ15mulrS: vpmulhrsw_b,
    }
}

/// The same with the operands the other way round.
pub(super) fn swapped(op: &Operator<'_>) -> Option<Two> {
    two_of! { op;
        V128AndNot: vpandn_b,
        I8x16LtS: vpcmpgtb_b,
        I16x8LtS: vpcmpgtw_b,
        I32x4LtS: vpcmpgtd_b,
        I64x2LtS: vpcmpgtq_b,
        // The second operand, of seven bits, is the one without a sign.
        I16x8RelaxedDotI8x16I7x16S: vpmaddubsw_b,
    }
}

/// What one instruction does with an operand.
pub(super) fn one(op: &Operator<'_>) -> Option<One> {
    one_of! { op;
        I8x16Abs: vpabsb_a,
        I16x8Abs: vpabsw_a,
        I32x4Abs: vpabsd_a,
        I16x8ExtendLowI8x16S: vpmovsxbw_a,
        I16x8ExtendLowI8x16U: vpmovzxbw_a,
        I32x4ExtendLowI16x8S: vpmovsxwd_a,
        I32x4ExtendLowI16x8U: vpmovzxwd_a,
        I64x2ExtendLowI32x4S: vpmovsxdq_a,
        I64x2ExtendLowI32x4U: vpmovzxdq_a,
    }
}

/// How the lanes of one half become wider, what multiplies them then, and whether it is the upper
/// half.
fn widening(op: &Operator<'_>) -> Option<(One, Option<Two>, bool)> {
    each! { op;
        I16x8ExtMulLowI8x16S: (one!(vpmovsxbw_a), Some(two!(vpmullw_b)), false),
        I16x8ExtMulLowI8x16U: (one!(vpmovzxbw_a), Some(two!(vpmullw_b)), false),
        I16x8ExtendHighI8x16S: (one!(vpmovsxbw_a), None, true),
        I16x8ExtMulHighI8x16S: (one!(vpmovsxbw_a), Some(two!(vpmullw_b)), true),
        I16x8ExtendHighI8x16U: (one!(vpmovzxbw_a), None, true),
        I16x8ExtMulHighI8x16U: (one!(vpmovzxbw_a), Some(two!(vpmullw_b)), true),
        I32x4ExtMulLowI16x8S: (one!(vpmovsxwd_a), Some(two!(vpmulld_b)), false),
        I32x4ExtMulLowI16x8U: (one!(vpmovzxwd_a), Some(two!(vpmulld_b)), false),
        I32x4ExtendHighI16x8S: (one!(vpmovsxwd_a), None, true),
        I32x4ExtMulHighI16x8S: (one!(vpmovsxwd_a), Some(two!(vpmulld_b)), true),
        I32x4ExtendHighI16x8U: (one!(vpmovzxwd_a), None, true),
        I32x4ExtMulHighI16x8U: (one!(vpmovzxwd_a), Some(two!(vpmulld_b)), true),
        I64x2ExtMulLowI32x4S: (one!(vpmovsxdq_a), Some(two!(vpmuldq_b)), false),
        I64x2ExtMulLowI32x4U: (one!(vpmovzxdq_a), Some(two!(vpmuludq_b)), false),
        I64x2ExtendHighI32x4S: (one!(vpmovsxdq_a), None, true),
        I64x2ExtMulHighI32x4S: (one!(vpmovsxdq_a), Some(two!(vpmuldq_b)), true),
        I64x2ExtendHighI32x4U: (one!(vpmovzxdq_a), None, true),
        I64x2ExtMulHighI32x4U: (one!(vpmovzxdq_a), Some(two!(vpmuludq_b)), true),
    }
}

/// A comparison whose result is inverted, and whether the operands are the other way round.
fn inverted(op: &Operator<'_>) -> Option<(Two, bool)> {
    each! { op;
        I8x16Ne: (two!(vpcmpeqb_b), false),
        I16x8Ne: (two!(vpcmpeqw_b), false),
        I32x4Ne: (two!(vpcmpeqd_b), false),
        I64x2Ne: (two!(vpcmpeqq_b), false),
        I8x16LeS: (two!(vpcmpgtb_b), false),
        I16x8LeS: (two!(vpcmpgtw_b), false),
        I32x4LeS: (two!(vpcmpgtd_b), false),
        I64x2LeS: (two!(vpcmpgtq_b), false),
        I8x16GeS: (two!(vpcmpgtb_b), true),
        I16x8GeS: (two!(vpcmpgtw_b), true),
        I32x4GeS: (two!(vpcmpgtd_b), true),
        I64x2GeS: (two!(vpcmpgtq_b), true),
    }
}

/// The extreme of two lanes, what finds out whether the first operand equals it, and whether that
/// is inverted.
fn unsigned(op: &Operator<'_>) -> Option<(Two, Two, bool)> {
    each! { op;
        I8x16GeU: (two!(vpmaxub_b), two!(vpcmpeqb_b), false),
        I8x16LtU: (two!(vpmaxub_b), two!(vpcmpeqb_b), true),
        I8x16LeU: (two!(vpminub_b), two!(vpcmpeqb_b), false),
        I8x16GtU: (two!(vpminub_b), two!(vpcmpeqb_b), true),
        I16x8GeU: (two!(vpmaxuw_b), two!(vpcmpeqw_b), false),
        I16x8LtU: (two!(vpmaxuw_b), two!(vpcmpeqw_b), true),
        I16x8LeU: (two!(vpminuw_b), two!(vpcmpeqw_b), false),
        I16x8GtU: (two!(vpminuw_b), two!(vpcmpeqw_b), true),
        I32x4GeU: (two!(vpmaxud_b), two!(vpcmpeqd_b), false),
        I32x4LtU: (two!(vpmaxud_b), two!(vpcmpeqd_b), true),
        I32x4LeU: (two!(vpminud_b), two!(vpcmpeqd_b), false),
        I32x4GtU: (two!(vpminud_b), two!(vpcmpeqd_b), true),
    }
}

/// The comparison with zeros by which all lanes are looked at.
fn all_lanes(op: &Operator<'_>) -> Option<Two> {
    two_of! { op;
        I8x16AllTrue: vpcmpeqb_b,
        I16x8AllTrue: vpcmpeqw_b,
        I32x4AllTrue: vpcmpeqd_b,
        I64x2AllTrue: vpcmpeqq_b,
    }
}

/// What subtracts lanes from zeros.
fn negation(op: &Operator<'_>) -> Option<Two> {
    two_of! { op;
        I8x16Neg: vpsubb_b,
        I16x8Neg: vpsubw_b,
        I32x4Neg: vpsubd_b,
        I64x2Neg: vpsubq_b,
    }
}

impl Generator<'_> {
    /// Translates what takes several instructions; `false` when it is none.
    pub(super) fn vector_integer(&mut self, op: &Operator<'_>) -> bool {
        if let Some((compare, is_swapped)) = inverted(op) {
            self.two(compare, is_swapped);
            self.change(|this, x| this.invert(x));
        } else if let Some((extreme, equal, is_inverted)) = unsigned(op) {
            self.change_by(|this, x, y| {
                extreme(&mut this.code, y, x, XmmRm::Xmm(y));
                equal(&mut this.code, x, x, XmmRm::Xmm(y));
                if is_inverted {
                    this.invert(x);
                }
            });
        } else if let Some(equal) = all_lanes(op) {
            self.all_true(equal);
        } else if let Some(subtract) = negation(op) {
            self.change(|this, x| {
                this.zeros(SCRATCH_XMM);
                subtract(&mut this.code, x, SCRATCH_XMM, XmmRm::Xmm(x));
            });
        } else if let Some((widen, multiply, is_upper)) = widening(op) {
            self.widen(widen, multiply, is_upper);
        } else {
            return self.several(op);
        }
        true
    }

    fn several(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        match op {
            O::I64x2Mul => self.multiply_wide(),
            O::I64x2Abs => self.change(|this, x| {
                this.zeros(SCRATCH_XMM);
                emit!(this.code, vpsubq_b(SCRATCH_XMM, SCRATCH_XMM, XmmRm::Xmm(x)));
                // By the sign of each.
                emit!(this.code, vblendvpd_rvmr(x, x, XmmRm::Xmm(SCRATCH_XMM), x));
            }),
            O::I8x16Popcnt => self.count_bits(),
            O::I16x8Q15MulrSatS => self.change_by(|this, x, y| {
                emit!(this.code, vpmulhrsw_b(x, x, XmmRm::Xmm(y)));
                // Only the product of the two least is too large, and comes out as the least.
                let least = u64::from_le_bytes([0, 0x80, 0, 0x80, 0, 0x80, 0, 0x80]);
                this.load_halves(SCRATCH_XMM, least, least);
                emit!(this.code, vpcmpeqw_b(y, x, XmmRm::Xmm(SCRATCH_XMM)));
                emit!(this.code, vpxor_b(x, x, XmmRm::Xmm(y)));
            }),
            O::I8x16Bitmask => self.mask(1),
            O::I16x8Bitmask => self.mask(2),
            O::I32x4Bitmask => self.mask(4),
            O::I64x2Bitmask => self.mask(8),
            O::I16x8ExtAddPairwiseI8x16S => self.change(|this, x| {
                this.ones_of(1);
                emit!(this.code, vpmaddubsw_b(x, SCRATCH_XMM, XmmRm::Xmm(x)));
            }),
            O::I16x8ExtAddPairwiseI8x16U => self.change(|this, x| {
                this.ones_of(1);
                emit!(this.code, vpmaddubsw_b(x, x, XmmRm::Xmm(SCRATCH_XMM)));
            }),
            O::I32x4ExtAddPairwiseI16x8S => self.change(Self::add_pairs),
            O::I32x4ExtAddPairwiseI16x8U => self.change(|this, x| {
                emit!(this.code, vpsrld_d(SCRATCH_XMM, x, 16u8));
                emit!(this.code, vpslld_d(x, x, 16u8));
                emit!(this.code, vpsrld_d(x, x, 16u8));
                emit!(this.code, vpaddd_b(x, x, XmmRm::Xmm(SCRATCH_XMM)));
            }),
            O::I32x4RelaxedDotI8x16I7x16AddS => {
                let sum = self.pop();
                let sum = self.own_xmm(sum);
                self.change_by(|this, x, y| {
                    emit!(this.code, vpmaddubsw_b(x, y, XmmRm::Xmm(x)));
                    this.add_pairs(x);
                    emit!(this.code, vpaddd_b(x, x, XmmRm::Xmm(sum)));
                });
                self.free.give_xmm(sum);
            }
            O::I8x16RelaxedLaneselect | O::I32x4RelaxedLaneselect | O::I64x2RelaxedLaneselect => {
                self.select_lanes(op);
            }
            O::I16x8RelaxedLaneselect => self.select_bits(),
            _ => return false,
        }
        true
    }

    /// Has 1 in all lanes of so many bytes of the register that lasts for one instruction.
    fn ones_of(&mut self, bytes: u8) {
        let one = match bytes {
            1 => u64::from_le_bytes([1; 8]),
            _ => u64::from_le_bytes([1, 0, 1, 0, 1, 0, 1, 0]),
        };
        self.load_halves(SCRATCH_XMM, one, one);
    }

    /// Sums of neighbouring lanes of 16 bits, with their signs.
    fn add_pairs(&mut self, x: Xmm) {
        self.ones_of(2);
        emit!(self.code, vpmaddwd_b(x, x, XmmRm::Xmm(SCRATCH_XMM)));
    }

    fn widen(&mut self, widen: One, multiply: Option<Two>, is_upper: bool) {
        let half = |this: &mut Self, x: Xmm| {
            if is_upper {
                emit!(this.code, vpshufd_a(x, XmmRm::Xmm(x), UPPER));
            }
            widen(&mut this.code, x, XmmRm::Xmm(x));
        };
        match multiply {
            None => self.change(half),
            Some(multiply) => self.change_by(|this, x, y| {
                half(this, x);
                half(this, y);
                multiply(&mut this.code, x, x, XmmRm::Xmm(y));
            }),
        }
    }

    /// Whether no lane is zero: no lane of the comparison with zeros is set.
    fn all_true(&mut self, equal: Two) {
        let x = self.pop();
        let from = self.operand_xmm(x);
        let zeros = self.take_xmm();
        self.zeros(zeros);
        equal(&mut self.code, zeros, zeros, from);
        emit!(self.code, vptest_rm(zeros, XmmRm::Xmm(zeros)));
        self.free.give_xmm(zeros);
        self.release(x);
        self.push(Kind::I32, Place::Flags(Condition::Equal));
    }

    /// The top bits of lanes of so many bytes.
    fn mask(&mut self, bytes: u8) {
        let x = self.pop();
        let (mut xmm, x) = self.read_xmm(x);
        if bytes == 2 {
            self.zeros(SCRATCH_XMM);
            emit!(
                self.code,
                vpacksswb_b(SCRATCH_XMM, xmm, XmmRm::Xmm(SCRATCH_XMM))
            );
            xmm = SCRATCH_XMM;
        }
        let to = self.take();
        match bytes {
            1 | 2 => emit!(self.code, vpmovmskb_rm(to, xmm)),
            4 => emit!(self.code, vmovmskps_rm(to, xmm)),
            _ => emit!(self.code, vmovmskpd_rm(to, xmm)),
        }
        self.release(x);
        self.push_gpr(Kind::I32, to);
    }

    /// By products of halves of 32 bits: the two across are added in the upper half.
    fn multiply_wide(&mut self) {
        self.change_by(|this, x, y| {
            let across = this.take_xmm();
            emit!(this.code, vpsrlq_d(across, x, 32u8));
            emit!(this.code, vpmuludq_b(across, across, XmmRm::Xmm(y)));
            emit!(this.code, vpsrlq_d(SCRATCH_XMM, y, 32u8));
            emit!(
                this.code,
                vpmuludq_b(SCRATCH_XMM, SCRATCH_XMM, XmmRm::Xmm(x))
            );
            emit!(this.code, vpaddq_b(across, across, XmmRm::Xmm(SCRATCH_XMM)));
            emit!(this.code, vpsllq_d(across, across, 32u8));
            emit!(this.code, vpmuludq_b(x, x, XmmRm::Xmm(y)));
            emit!(this.code, vpaddq_b(x, x, XmmRm::Xmm(across)));
            this.free.give_xmm(across);
        });
    }

    /// By a table of how many bits each half of a byte has.
    fn count_bits(&mut self) {
        const BITS: [u8; 16] = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];
        const HALF: [u8; 16] = [0x0f; 16];
        self.change(|this, x| {
            let [upper, table] = [(); 2].map(|()| this.take_xmm());
            this.load_vector(SCRATCH_XMM, HALF);
            emit!(this.code, vpsrlw_d(upper, x, 4u8));
            emit!(this.code, vpand_b(upper, upper, XmmRm::Xmm(SCRATCH_XMM)));
            emit!(this.code, vpand_b(x, x, XmmRm::Xmm(SCRATCH_XMM)));
            this.load_vector(table, BITS);
            emit!(this.code, vpshufb_b(x, table, XmmRm::Xmm(x)));
            emit!(this.code, vpshufb_b(upper, table, XmmRm::Xmm(upper)));
            emit!(this.code, vpaddb_b(x, x, XmmRm::Xmm(upper)));
            this.free.give_xmm(upper);
            this.free.give_xmm(table);
        });
    }

    /// By the top bit of each lane of the mask.
    fn select_lanes(&mut self, op: &Operator<'_>) {
        let mask = self.pop();
        let (mask, held) = self.read_xmm(mask);
        self.change_by(|this, x, y| {
            let yes = XmmRm::Xmm(x);
            match op {
                Operator::I8x16RelaxedLaneselect => {
                    emit!(this.code, vpblendvb_rvmr(x, y, yes, mask));
                }
                Operator::I32x4RelaxedLaneselect => {
                    emit!(this.code, vblendvps_rvmr(x, y, yes, mask));
                }
                _ => emit!(this.code, vblendvpd_rvmr(x, y, yes, mask)),
            }
        });
        self.release(held);
    }
}
