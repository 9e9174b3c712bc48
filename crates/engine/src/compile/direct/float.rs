//! Floats: constants, comparisons and arithmetic (core specification §4.4.1).
//!
//! What must stay true: `abs`, `neg` and `copysign` change one bit and quiet no NaN, all others
//! quiet signalling ones, as the instructions do.

use wasmparser::Operator;

use super::Generator;
use super::code::{Condition, emit};
use super::registers::{Gpr, Rm, SCRATCH_XMM, Xmm, XmmRm};
use super::values::{Kind, Place, Value};

/// Bits of the immediate of `roundss` and `roundsd`: no exception for a rounding, and how
/// (SDM vol. 2, table 4-24).
const QUIETLY: u8 = 8;
pub(super) const NEAREST: u8 = QUIETLY;
pub(super) const DOWN: u8 = QUIETLY | 1;
pub(super) const UP: u8 = QUIETLY | 2;
pub(super) const TRUNCATE: u8 = QUIETLY | 3;

#[derive(Clone, Copy)]
enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
}

/// One instruction of an operation: of 32 or 64 bits.
macro_rules! of_kind {
    ($this:ident, $kind:expr, $single:ident, $double:ident, ($($arg:expr),*)) => {
        match $kind.is_wide() {
            false => emit!($this.code, $single($($arg),*)),
            true => emit!($this.code, $double($($arg),*)),
        }
    };
}

/// The sign of a float.
fn sign(kind: Kind) -> u64 {
    match kind.is_wide() {
        true => 1 << 63,
        false => 1 << 31,
    }
}

/// All bits but the sign.
fn magnitude(kind: Kind) -> u64 {
    match kind.is_wide() {
        true => !sign(kind),
        false => u64::from(u32::MAX) ^ sign(kind),
    }
}

impl Generator<'_> {
    /// Translates an instruction on floats; `false` when it is none.
    pub(super) fn float(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        match *op {
            O::F32Const { value } => {
                self.push(Kind::F32, Place::Constant(u64::from(value.bits())));
            }
            O::F64Const { value } => self.push(Kind::F64, Place::Constant(value.bits())),
            O::F32Eq | O::F64Eq => self.equal(true),
            O::F32Ne | O::F64Ne => self.equal(false),
            O::F32Lt | O::F64Lt => self.greater(Condition::Above, true),
            O::F32Gt | O::F64Gt => self.greater(Condition::Above, false),
            O::F32Le | O::F64Le => self.greater(Condition::AboveOrEqual, true),
            O::F32Ge | O::F64Ge => self.greater(Condition::AboveOrEqual, false),
            O::F32Abs | O::F64Abs => self.abs(),
            O::F32Neg | O::F64Neg => self.neg(),
            O::F32Copysign | O::F64Copysign => self.copysign(),
            O::F32Ceil | O::F64Ceil => self.round(UP),
            O::F32Floor | O::F64Floor => self.round(DOWN),
            O::F32Trunc | O::F64Trunc => self.round(TRUNCATE),
            O::F32Nearest | O::F64Nearest => self.round(NEAREST),
            O::F32Sqrt | O::F64Sqrt => {
                let x = self.pop();
                let to = self.own_xmm(x);
                of_kind!(self, x.kind, sqrtss_a, sqrtsd_a, (to, XmmRm::Xmm(to)));
                self.push_xmm(x.kind, to);
            }
            O::F32Add | O::F64Add => self.arithmetic(Arithmetic::Add),
            O::F32Sub | O::F64Sub => self.arithmetic(Arithmetic::Sub),
            O::F32Mul | O::F64Mul => self.arithmetic(Arithmetic::Mul),
            O::F32Div | O::F64Div => self.arithmetic(Arithmetic::Div),
            O::F32Min | O::F64Min => self.least_or_greatest(true),
            O::F32Max | O::F64Max => self.least_or_greatest(false),
            _ => return false,
        }
        true
    }

    fn arithmetic(&mut self, op: Arithmetic) {
        let y = self.pop();
        let x = self.pop();
        let kind = x.kind;
        let local = self.result_local(kind, Some(y));
        let to = self.become_result_xmm(x, local);
        let from = self.operand_xmm(y);
        match op {
            Arithmetic::Add => of_kind!(self, kind, addss_a, addsd_a, (to, from)),
            Arithmetic::Sub => of_kind!(self, kind, subss_a, subsd_a, (to, from)),
            Arithmetic::Mul => of_kind!(self, kind, mulss_a, mulsd_a, (to, from)),
            Arithmetic::Div => of_kind!(self, kind, divss_a, divsd_a, (to, from)),
        }
        self.release(y);
        self.push_result(kind, local, Place::Xmm(to));
    }

    /// Compares two floats that are in registers, or one in memory.
    pub(super) fn compare_floats(&mut self, kind: Kind, x: Xmm, y: XmmRm) {
        of_kind!(self, kind, ucomiss_a, ucomisd_a, (x, y));
    }

    /// Equal, or not: unordered is not, and has two flags.
    fn equal(&mut self, is_equal: bool) {
        let y = self.pop();
        let x = self.pop();
        let (left, x) = self.read_xmm(x);
        let right = self.operand_xmm(y);
        let to = self.take();
        self.load_constant(to, u64::from(!is_equal));
        self.compare_floats(x.kind, left, right);
        self.release(y);
        self.release(x);
        // What holds where they are unordered or not equal is there already.
        let end = self.code.label();
        self.code.jump_if(Condition::Parity, end);
        let condition = match is_equal {
            true => Condition::Equal,
            false => Condition::NotEqual,
        };
        self.code.set_if(condition, to);
        self.code.bind(end);
        self.push_gpr(Kind::I32, to);
    }

    /// Greater, or less by comparing the other way round: unordered is neither.
    fn greater(&mut self, condition: Condition, is_swapped: bool) {
        let y = self.pop();
        let x = self.pop();
        let (left, right): (Value, Value) = match is_swapped {
            true => (y, x),
            false => (x, y),
        };
        let (xmm, left) = self.read_xmm(left);
        let other = self.operand_xmm(right);
        self.compare_floats(x.kind, xmm, other);
        self.release(right);
        self.release(left);
        self.push(Kind::I32, Place::Flags(condition));
    }

    fn abs(&mut self) {
        let x = self.pop();
        let to = self.own_xmm(x);
        self.load_float(SCRATCH_XMM, x.kind, magnitude(x.kind));
        emit!(self.code, andps_a(to, XmmRm::Xmm(SCRATCH_XMM)));
        self.push_xmm(x.kind, to);
    }

    fn neg(&mut self) {
        let x = self.pop();
        let to = self.own_xmm(x);
        self.load_float(SCRATCH_XMM, x.kind, sign(x.kind));
        emit!(self.code, xorps_a(to, XmmRm::Xmm(SCRATCH_XMM)));
        self.push_xmm(x.kind, to);
    }

    fn copysign(&mut self) {
        let y = self.pop();
        let x = self.pop();
        let to = self.own_xmm(x);
        let other = self.own_xmm(y);
        self.load_float(SCRATCH_XMM, x.kind, sign(x.kind));
        emit!(self.code, andps_a(other, XmmRm::Xmm(SCRATCH_XMM)));
        emit!(self.code, andnps_a(SCRATCH_XMM, XmmRm::Xmm(to)));
        emit!(self.code, orps_a(other, XmmRm::Xmm(SCRATCH_XMM)));
        self.free.give_xmm(to);
        self.push_xmm(x.kind, other);
    }

    /// By an instruction of SSE4.1, which every host has that code is made for.
    fn round(&mut self, how: u8) {
        let x = self.pop();
        let to = self.own_xmm(x);
        of_kind!(
            self,
            x.kind,
            roundss_rmi,
            roundsd_rmi,
            (to, XmmRm::Xmm(to), how)
        );
        self.push_xmm(x.kind, to);
    }

    /// `min` and `max`: a NaN wins, and -0 is less than 0, of which the instructions know
    /// nothing.
    fn least_or_greatest(&mut self, is_least: bool) {
        let y = self.pop();
        let x = self.pop();
        let kind = x.kind;
        let to = self.own_xmm(x);
        let other = self.own_xmm(y);
        let from = XmmRm::Xmm(other);
        let [differ, unordered, end] = [(); 3].map(|()| self.code.label());
        self.compare_floats(kind, to, from);
        self.code.jump_if(Condition::Parity, unordered);
        self.code.jump_if(Condition::NotEqual, differ);
        match is_least {
            true => emit!(self.code, orps_a(to, from)),
            false => emit!(self.code, andps_a(to, from)),
        }
        self.code.jump(end);
        self.code.bind(differ);
        match is_least {
            true => of_kind!(self, kind, minss_a, minsd_a, (to, from)),
            false => of_kind!(self, kind, maxss_a, maxsd_a, (to, from)),
        }
        self.code.jump(end);
        self.code.bind(unordered);
        of_kind!(self, kind, addss_a, addsd_a, (to, from));
        self.code.bind(end);
        self.free.give_xmm(other);
        self.push_xmm(kind, to);
    }

    /// The bits of a float in a register.
    pub(super) fn bits_of(&mut self, to: Gpr, kind: Kind, xmm: Xmm) {
        of_kind!(self, kind, movd_b, movq_b, (Rm::Gpr(to), xmm));
    }

    /// A float of the bits in a register.
    pub(super) fn float_of(&mut self, to: Xmm, kind: Kind, gpr: Gpr) {
        of_kind!(self, kind, movd_a, movq_a, (to, Rm::Gpr(gpr)));
    }
}
