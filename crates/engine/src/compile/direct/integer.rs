//! Integers: constants, comparisons and arithmetic (core specification §4.4.1).

use cranelift_assembler_x64::{Imm8, TrapCode as AsmTrap};
use cranelift_codegen::ir::TrapCode;
use wasmparser::Operator;

use super::Generator;
use super::code::{Condition, emit};
use super::registers::{Gpr, RAX, RCX, RDX, Rm, SCRATCH};
use super::values::{Kind, Place, Value, immediate};

/// An operation of two operands, of which the first takes the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alu {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Compare,
}

#[derive(Clone, Copy)]
enum Shift {
    Left,
    RightSigned,
    Right,
    RotateLeft,
    RotateRight,
}

#[derive(Clone, Copy)]
enum Divide {
    DivS,
    DivU,
    RemS,
    RemU,
}

/// One instruction of an operation: of 32 or 64 bits.
macro_rules! of_width {
    ($this:ident, $wide:expr, $narrow:ident, $long:ident, ($($arg:expr),*)) => {
        match $wide {
            false => emit!($this.code, $narrow($($arg),*)),
            true => emit!($this.code, $long($($arg),*)),
        }
    };
}

impl Generator<'_> {
    /// Translates an instruction on integers; `false` when it is none.
    pub(super) fn integer(&mut self, op: &Operator<'_>) -> bool {
        use Condition as C;
        use Operator as O;
        match *op {
            O::I32Const { value } => {
                self.push(Kind::I32, Place::Constant(u64::from(value as u32)));
            }
            O::I64Const { value } => {
                self.push(Kind::I64, Place::Constant(value.cast_unsigned()));
            }
            O::I32Eqz | O::I64Eqz => self.eqz(),
            O::I32Eq | O::I64Eq => self.compare(C::Equal),
            O::I32Ne | O::I64Ne => self.compare(C::NotEqual),
            O::I32LtS | O::I64LtS => self.compare(C::Less),
            O::I32LtU | O::I64LtU => self.compare(C::Below),
            O::I32GtS | O::I64GtS => self.compare(C::Greater),
            O::I32GtU | O::I64GtU => self.compare(C::Above),
            O::I32LeS | O::I64LeS => self.compare(C::LessOrEqual),
            O::I32LeU | O::I64LeU => self.compare(C::BelowOrEqual),
            O::I32GeS | O::I64GeS => self.compare(C::GreaterOrEqual),
            O::I32GeU | O::I64GeU => self.compare(C::AboveOrEqual),
            O::I32Add | O::I64Add => self.binary(Alu::Add),
            O::I32Sub | O::I64Sub => self.binary(Alu::Sub),
            O::I32And | O::I64And => self.binary(Alu::And),
            O::I32Or | O::I64Or => self.binary(Alu::Or),
            O::I32Xor | O::I64Xor => self.binary(Alu::Xor),
            O::I32Mul | O::I64Mul => self.multiply(),
            O::I32DivS | O::I64DivS => self.divide(Divide::DivS),
            O::I32DivU | O::I64DivU => self.divide(Divide::DivU),
            O::I32RemS | O::I64RemS => self.divide(Divide::RemS),
            O::I32RemU | O::I64RemU => self.divide(Divide::RemU),
            O::I32Shl | O::I64Shl => self.shift(Shift::Left),
            O::I32ShrS | O::I64ShrS => self.shift(Shift::RightSigned),
            O::I32ShrU | O::I64ShrU => self.shift(Shift::Right),
            O::I32Rotl | O::I64Rotl => self.shift(Shift::RotateLeft),
            O::I32Rotr | O::I64Rotr => self.shift(Shift::RotateRight),
            O::I32Clz | O::I64Clz => self.leading_zeros(),
            O::I32Ctz | O::I64Ctz => self.trailing_zeros(),
            O::I64Add128 => self.wide_sum(true),
            O::I64Sub128 => self.wide_sum(false),
            O::I64MulWideS => self.wide_product(true),
            O::I64MulWideU => self.wide_product(false),
            O::I32Popcnt | O::I64Popcnt if self.features.popcnt => {
                let x = self.pop();
                let wide = x.kind.is_wide();
                let operand = self.operand(x);
                self.release(x);
                let to = self.take();
                of_width!(self, wide, popcntl_rm, popcntq_rm, (to, operand));
                self.push_gpr(x.kind, to);
            }
            _ => return false,
        }
        true
    }

    /// `to ← to op from`
    pub(super) fn alu(&mut self, alu: Alu, wide: bool, to: Gpr, from: Rm) {
        match alu {
            Alu::Add => of_width!(self, wide, addl_rm, addq_rm, (to, from)),
            Alu::Sub => of_width!(self, wide, subl_rm, subq_rm, (to, from)),
            Alu::And => of_width!(self, wide, andl_rm, andq_rm, (to, from)),
            Alu::Or => of_width!(self, wide, orl_rm, orq_rm, (to, from)),
            Alu::Xor => of_width!(self, wide, xorl_rm, xorq_rm, (to, from)),
            Alu::Compare => of_width!(self, wide, cmpl_rm, cmpq_rm, (to, from)),
        }
    }

    /// The same with an immediate operand.
    pub(super) fn alu_immediate(&mut self, alu: Alu, wide: bool, to: Rm, bits: i32) {
        if let Ok(few) = i8::try_from(bits) {
            return match alu {
                Alu::Add => of_width!(self, wide, addl_mi_sxb, addq_mi_sxb, (to, few)),
                Alu::Sub => of_width!(self, wide, subl_mi_sxb, subq_mi_sxb, (to, few)),
                Alu::And => of_width!(self, wide, andl_mi_sxb, andq_mi_sxb, (to, few)),
                Alu::Or => of_width!(self, wide, orl_mi_sxb, orq_mi_sxb, (to, few)),
                Alu::Xor => of_width!(self, wide, xorl_mi_sxb, xorq_mi_sxb, (to, few)),
                Alu::Compare => of_width!(self, wide, cmpl_mi_sxb, cmpq_mi_sxb, (to, few)),
            };
        }
        match alu {
            Alu::Add => of_width!(self, wide, addl_mi, addq_mi_sxl, (to, bits)),
            Alu::Sub => of_width!(self, wide, subl_mi, subq_mi_sxl, (to, bits)),
            Alu::And => of_width!(self, wide, andl_mi, andq_mi_sxl, (to, bits)),
            Alu::Or => of_width!(self, wide, orl_mi, orq_mi_sxl, (to, bits)),
            Alu::Xor => of_width!(self, wide, xorl_mi, xorq_mi_sxl, (to, bits)),
            Alu::Compare => of_width!(self, wide, cmpl_mi, cmpq_mi, (to, bits)),
        }
    }

    /// `to ← to op y`, for an operand that was popped.
    fn alu_value(&mut self, alu: Alu, to: Gpr, y: Value) {
        let wide = y.kind.is_wide();
        match immediate(y) {
            Some(bits) => self.alu_immediate(alu, wide, Rm::Gpr(to), bits),
            None => {
                let from = self.operand(y);
                self.alu(alu, wide, to, from);
                self.release(y);
            }
        }
    }

    /// Pops two operands; the one that is better changed comes first where their order is
    /// of no matter.
    fn pop_pair(&mut self, is_commutative: bool) -> (Value, Value) {
        let y = self.pop();
        let x = self.pop();
        let is_better = matches!(y.place, Place::Gpr(_)) || matches!(x.place, Place::Constant(_));
        match is_commutative && is_better && !matches!(x.place, Place::Gpr(_)) {
            true => (y, x),
            false => (x, y),
        }
    }

    fn binary(&mut self, alu: Alu) {
        let (x, y) = self.pop_pair(alu != Alu::Sub);
        let local = self.result_local(x.kind, Some(y));
        let to = self.become_result(x, local);
        self.alu_value(alu, to, y);
        self.push_result(x.kind, local, Place::Gpr(to));
    }

    fn multiply(&mut self) {
        let (x, y) = self.pop_pair(true);
        let wide = x.kind.is_wide();
        if let Some(bits) = immediate(y) {
            let local = self.result_local(x.kind, None);
            let from = self.operand(x);
            self.release(x);
            let to = self.result(local);
            of_width!(self, wide, imull_rmi, imulq_rmi_sxl, (to, from, bits));
            return self.push_result(x.kind, local, Place::Gpr(to));
        }
        let local = self.result_local(x.kind, Some(y));
        let to = self.become_result(x, local);
        let from = self.operand(y);
        of_width!(self, wide, imull_rm, imulq_rm, (to, from));
        self.release(y);
        self.push_result(x.kind, local, Place::Gpr(to));
    }

    /// The sum of two numbers of 128 bits, or their difference (wide-arithmetic proposal).
    fn wide_sum(&mut self, is_sum: bool) {
        let [y_high, y_low, x_high, x_low] = [(); 4].map(|()| self.pop());
        let (low, high) = (self.own(x_low), self.own(x_high));
        // Nothing between changes the flags.
        let from = self.operand(y_low);
        self.alu(if is_sum { Alu::Add } else { Alu::Sub }, true, low, from);
        let from = self.operand(y_high);
        match is_sum {
            true => emit!(self.code, adcq_rm(high, from)),
            false => emit!(self.code, sbbq_rm(high, from)),
        }
        self.release(y_low);
        self.release(y_high);
        self.push_gpr(Kind::I64, low);
        self.push_gpr(Kind::I64, high);
    }

    /// The product of two numbers of 64 bits in full.
    fn wide_product(&mut self, is_signed: bool) {
        let y = self.pop();
        let x = self.pop();
        self.load_for_rax_and_rdx(x, y);
        let by = Rm::Gpr(SCRATCH);
        match is_signed {
            true => emit!(self.code, imulq_m(RAX, RDX, by)),
            false => emit!(self.code, mulq_m(RAX, RDX, by)),
        }
        self.push_gpr(Kind::I64, RAX);
        self.push_gpr(Kind::I64, RDX);
    }

    /// Loads a popped operand into rax and the other into [`SCRATCH`]; rdx is taken, too.
    fn load_for_rax_and_rdx(&mut self, x: Value, y: Value) {
        self.load_gpr(SCRATCH, y);
        self.release(y);
        if x.place != Place::Gpr(RAX) {
            self.take_this(RAX);
            self.load_gpr(RAX, x);
            self.release(x);
        }
        self.take_this(RDX);
    }

    fn eqz(&mut self) {
        let x = self.pop();
        let condition = match (x.place, x.kind.is_wide()) {
            (Place::Flags(condition), _) => condition.opposite(),
            (Place::Gpr(gpr), wide) => {
                of_width!(self, wide, testl_mr, testq_mr, (Rm::Gpr(gpr), gpr));
                Condition::Equal
            }
            (_, wide) => {
                let operand = self.operand(x);
                self.alu_immediate(Alu::Compare, wide, operand, 0);
                Condition::Equal
            }
        };
        self.release(x);
        self.push(Kind::I32, Place::Flags(condition));
    }

    /// Whether two numbers compare so.
    pub(super) fn compare(&mut self, condition: Condition) {
        let y = self.pop();
        let x = self.pop();
        let wide = x.kind.is_wide();
        let (x, y, condition) = match immediate(x) {
            Some(_) => (y, x, condition.swapped()),
            None => (x, y, condition),
        };
        match immediate(y) {
            Some(bits) => {
                let operand = self.operand(x);
                self.alu_immediate(Alu::Compare, wide, operand, bits);
                self.release(x);
            }
            None => {
                let (gpr, x) = self.read(x);
                let from = self.operand(y);
                self.alu(Alu::Compare, wide, gpr, from);
                self.release(y);
                self.release(x);
            }
        }
        self.push(Kind::I32, Place::Flags(condition));
    }

    fn shift(&mut self, shift: Shift) {
        let y = self.pop();
        let mut x = self.pop();
        let wide = x.kind.is_wide();
        if let Place::Constant(count) = y.place {
            let local = self.result_local(x.kind, None);
            let to = self.become_result(x, local);
            self.shift_by(shift, wide, to, count as u8 & if wide { 63 } else { 31 });
            return self.push_result(x.kind, local, Place::Gpr(to));
        }
        if x.place == Place::Gpr(RCX) {
            let gpr = self.take();
            emit!(self.code, movq_rm(gpr, Rm::Gpr(RCX)));
            self.free.give(RCX);
            x.place = Place::Gpr(gpr);
        }
        if y.place != Place::Gpr(RCX) {
            self.take_this(RCX);
            self.load_gpr(RCX, y);
            self.release(y);
        }
        let to = self.own(x);
        let rm = Rm::Gpr(to);
        match shift {
            Shift::Left => of_width!(self, wide, shll_mc, shlq_mc, (rm, RCX)),
            Shift::RightSigned => of_width!(self, wide, sarl_mc, sarq_mc, (rm, RCX)),
            Shift::Right => of_width!(self, wide, shrl_mc, shrq_mc, (rm, RCX)),
            Shift::RotateLeft => of_width!(self, wide, roll_mc, rolq_mc, (rm, RCX)),
            Shift::RotateRight => of_width!(self, wide, rorl_mc, rorq_mc, (rm, RCX)),
        }
        self.free.give(RCX);
        self.push_gpr(x.kind, to);
    }

    fn shift_by(&mut self, shift: Shift, wide: bool, to: Gpr, count: u8) {
        let (rm, count) = (Rm::Gpr(to), Imm8::new(count));
        match shift {
            Shift::Left => of_width!(self, wide, shll_mi, shlq_mi, (rm, count)),
            Shift::RightSigned => of_width!(self, wide, sarl_mi, sarq_mi, (rm, count)),
            Shift::Right => of_width!(self, wide, shrl_mi, shrq_mi, (rm, count)),
            Shift::RotateLeft => of_width!(self, wide, roll_mi, rolq_mi, (rm, count)),
            Shift::RotateRight => of_width!(self, wide, rorl_mi, rorq_mi, (rm, count)),
        }
    }

    /// The divisor is in [`SCRATCH`], the rest where the instruction wants it.
    fn divide(&mut self, how: Divide) {
        let y = self.pop();
        let x = self.pop();
        let (kind, wide) = (x.kind, x.kind.is_wide());
        self.load_for_rax_and_rdx(x, y);
        let divisor = Rm::Gpr(SCRATCH);
        of_width!(self, wide, testl_mr, testq_mr, (divisor, SCRATCH));
        let by_zero = TrapCode::INTEGER_DIVISION_BY_ZERO;
        self.code.trap_if(Condition::Equal, by_zero);
        let code = AsmTrap(by_zero.as_raw());
        match how {
            Divide::DivU | Divide::RemU => {
                emit!(self.code, xorl_rm(RDX, Rm::Gpr(RDX)));
                of_width!(self, wide, divl_m, divq_m, (RAX, RDX, divisor, code));
            }
            Divide::DivS | Divide::RemS => self.divide_signed(how, wide, code),
        }
        let (result, other) = match how {
            Divide::DivS | Divide::DivU => (RAX, RDX),
            Divide::RemS | Divide::RemU => (RDX, RAX),
        };
        self.free.give(other);
        self.push_gpr(kind, result);
    }

    /// By -1 the instruction would fault where the quotient has no room.
    fn divide_signed(&mut self, how: Divide, wide: bool, code: AsmTrap) {
        let (divisor, end) = (Rm::Gpr(SCRATCH), self.code.label());
        let usual = self.code.label();
        self.alu_immediate(Alu::Compare, wide, divisor, -1);
        self.code.jump_if(Condition::NotEqual, usual);
        if let Divide::RemS = how {
            self.load_constant(RDX, 0);
            self.code.jump(end);
        } else {
            let least = match wide {
                true => i64::MIN.cast_unsigned(),
                false => u64::from(i32::MIN.cast_unsigned()),
            };
            self.load_constant(RDX, least);
            self.alu(Alu::Compare, wide, RAX, Rm::Gpr(RDX));
            let overflow = TrapCode::INTEGER_OVERFLOW;
            self.code.trap_if(Condition::Equal, overflow);
        }
        self.code.bind(usual);
        match wide {
            false => emit!(self.code, cltd_zo(RDX, RAX)),
            true => emit!(self.code, cqto_zo(RDX, RAX)),
        }
        of_width!(self, wide, idivl_m, idivq_m, (RAX, RDX, divisor, code));
        self.code.bind(end);
    }

    fn leading_zeros(&mut self) {
        let x = self.pop();
        let wide = x.kind.is_wide();
        let to = self.own(x);
        let rm = Rm::Gpr(to);
        if self.features.lzcnt {
            of_width!(self, wide, lzcntl_rm, lzcntq_rm, (to, rm));
            return self.push_gpr(x.kind, to);
        }
        // The number of the highest bit, -1 where there is none; less than the width by one.
        self.load_constant(SCRATCH, if wide { u64::MAX } else { u64::from(u32::MAX) });
        of_width!(self, wide, bsrl_rm, bsrq_rm, (to, rm));
        self.code.move_if(Condition::Equal, to, Rm::Gpr(SCRATCH));
        of_width!(self, wide, negl_m, negq_m, (rm));
        self.alu_immediate(Alu::Add, wide, rm, if wide { 63 } else { 31 });
        self.push_gpr(x.kind, to);
    }

    fn trailing_zeros(&mut self) {
        let x = self.pop();
        let wide = x.kind.is_wide();
        let to = self.own(x);
        let rm = Rm::Gpr(to);
        if self.features.tzcnt {
            of_width!(self, wide, tzcntl_a, tzcntq_a, (to, rm));
            return self.push_gpr(x.kind, to);
        }
        self.load_constant(SCRATCH, if wide { 64 } else { 32 });
        of_width!(self, wide, bsfl_rm, bsfq_rm, (to, rm));
        self.code.move_if(Condition::Equal, to, Rm::Gpr(SCRATCH));
        self.push_gpr(x.kind, to);
    }
}
