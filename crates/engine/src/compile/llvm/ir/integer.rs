//! Integers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Inst, InstructionData, Opcode, TrapCode, Value, types};

use crate::bounds::offset_and_check;

use super::{Printer, Printing, name_of, suffix, unknown};

impl Printer<'_> {
    /// Prints an instruction of integers; `false` when it is not one.
    pub(super) fn integer(&mut self, inst: Inst) -> Printing<bool> {
        match self.opcode(inst) {
            // Printed where it is used.
            Opcode::Iconst => Ok(true),
            Opcode::Iadd => self.binary(inst, "add"),
            Opcode::Isub => self.binary(inst, "sub"),
            Opcode::Imul => self.binary(inst, "mul"),
            Opcode::Band => self.bitwise(inst, "and"),
            Opcode::Bor => self.bitwise(inst, "or"),
            Opcode::Bxor => self.bitwise(inst, "xor"),
            Opcode::Bnot => self.bnot(inst),
            Opcode::Ineg => self.ineg(inst),
            Opcode::Ishl => self.shift(inst, "shl"),
            Opcode::Ushr => self.shift(inst, "lshr"),
            Opcode::Sshr => self.shift(inst, "ashr"),
            Opcode::Rotl => self.rotate(inst, "fshl"),
            Opcode::Rotr => self.rotate(inst, "fshr"),
            Opcode::Clz => self.count_zeros(inst, "ctlz"),
            Opcode::Ctz => self.count_zeros(inst, "cttz"),
            Opcode::Popcnt => self.intrinsic(inst, "ctpop"),
            Opcode::Umin => self.intrinsic(inst, "umin"),
            Opcode::Umax => self.intrinsic(inst, "umax"),
            Opcode::Smin => self.intrinsic(inst, "smin"),
            Opcode::Smax => self.intrinsic(inst, "smax"),
            Opcode::Udiv => self.divide(inst, "udiv"),
            Opcode::Urem => self.divide(inst, "urem"),
            Opcode::Sdiv => self.divide(inst, "sdiv"),
            Opcode::Srem => self.divide(inst, "srem"),
            Opcode::Icmp => self.icmp(inst),
            Opcode::Select => self.select(inst),
            Opcode::SelectSpectreGuard => self.guard(inst),
            Opcode::Bitselect => self.bitselect(inst),
            Opcode::Uextend if self.is_half_of_check(inst) => self.lower_half(inst),
            Opcode::Uextend => self.resize(inst, "zext"),
            Opcode::Sextend => self.resize(inst, "sext"),
            Opcode::Ireduce => self.resize(inst, "trunc"),
            Opcode::Iconcat => self.concat(inst),
            Opcode::Isplit => self.split(inst),
            Opcode::Umulhi => self.high_product(inst, "zext"),
            Opcode::Smulhi => self.high_product(inst, "sext"),
            Opcode::UaddOverflowTrap => self.add_or_trap(inst),
            _ => Ok(false),
        }
    }

    /// `what TYPE x, y`.
    fn binary(&mut self, inst: Inst, what: &str) -> Printing<bool> {
        let args = self.args(inst);
        let ty = name_of(self.result_ty(inst))?;
        let (x, y) = (self.unfolded(args[0])?, self.unfolded(args[1])?);
        self.result(inst, &format!("{what} {ty} {x}, {y}"))
    }

    /// An operand that stays an instruction of its own where it is an access that may
    /// fault: folded into arithmetic, a selection or a conversion, and taken out again where
    /// registers ask for it, it would lose its site.
    pub(super) fn unfolded(&mut self, value: Value) -> Printing<String> {
        let text = self.op(value);
        let made = self.maker(value).filter(|inst| {
            let is_load = self.opcode(*inst) == Opcode::Load;
            let flags = self.plain(*inst).map(|(flags, _, _)| flags);
            is_load && flags.is_some_and(|flags| flags.trap_code().is_some())
        });
        let ty = self.ty(value);
        if made.is_none() || !ty.is_int() || ty.bits() > 64 {
            return Ok(text);
        }
        let ty = name_of(ty)?;
        Ok(self.temp(&format!("call {ty} asm \"\", \"=r,0\"({ty} {text}) #3")))
    }

    /// A value as bits: a number, or two where it is a vector. LLVM's type and the operand.
    fn bits(&mut self, value: Value) -> Printing<(&'static str, String)> {
        let (ty, text) = (self.name(value)?, self.op(value));
        match self.ty(value).is_vector() {
            true => {
                let bits = self.temp(&format!("bitcast {ty} {text} to <2 x i64>"));
                Ok(("<2 x i64>", bits))
            }
            false => Ok((ty, text)),
        }
    }

    /// The reverse, as an instruction's result.
    fn of_bits(&mut self, inst: Inst, text: &str) -> Printing<bool> {
        let ty = self.result_ty(inst);
        match ty.is_vector() {
            true => {
                let bits = self.temp(text);
                let to = name_of(ty)?;
                self.result(inst, &format!("bitcast <2 x i64> {bits} to {to}"))
            }
            false => self.result(inst, text),
        }
    }

    /// All bits set.
    fn ones(ty: &str) -> &'static str {
        match ty.starts_with('<') {
            true => "splat (i64 -1)",
            false => "-1",
        }
    }

    /// `x what y`.
    fn bitwise(&mut self, inst: Inst, what: &str) -> Printing<bool> {
        if self.result_ty(inst).is_int() {
            return self.binary(inst, what);
        }
        let args = self.args(inst);
        let (ty, x) = self.bits(args[0])?;
        let (_, y) = self.bits(args[1])?;
        self.of_bits(inst, &format!("{what} {ty} {x}, {y}"))
    }

    fn bnot(&mut self, inst: Inst) -> Printing<bool> {
        let x = self.args(inst)[0];
        let (ty, x) = self.bits(x)?;
        self.of_bits(inst, &format!("xor {ty} {x}, {}", Self::ones(ty)))
    }

    fn ineg(&mut self, inst: Inst) -> Printing<bool> {
        let x = self.args(inst)[0];
        let zero = match self.ty(x).is_vector() {
            true => "zeroinitializer",
            false => "0",
        };
        let text = format!("sub {} {zero}, {}", self.name(x)?, self.op(x));
        self.result(inst, &text)
    }

    /// Vectors of what is only known of scalars are left to Cranelift.
    pub(super) fn scalar(&self, value: Value) -> Printing {
        match self.ty(value).is_vector() {
            true => unknown("vectors"),
            false => Ok(()),
        }
    }

    /// The amount of a shift, below the bits of what is shifted.
    fn amount(&mut self, x: Value, amount: Value) -> Printing<String> {
        let lane = self.ty(x).lane_type();
        let (ty, bits) = (name_of(lane)?, lane.bits());
        if let Some(constant) = self.constant(amount) {
            return Ok((constant & i64::from(bits - 1)).to_string());
        }
        let (from, text) = (self.name(amount)?, self.op(amount));
        let same = match self.ty(amount).bits().cmp(&bits) {
            std::cmp::Ordering::Less => self.temp(&format!("zext {from} {text} to {ty}")),
            std::cmp::Ordering::Equal => text,
            std::cmp::Ordering::Greater => self.temp(&format!("trunc {from} {text} to {ty}")),
        };
        Ok(self.temp(&format!("and {ty} {same}, {}", bits - 1)))
    }

    fn shift(&mut self, inst: Inst, what: &str) -> Printing<bool> {
        let args = self.args(inst);
        let mut amount = self.amount(args[0], args[1])?;
        if self.ty(args[0]).is_vector() {
            let text = self.splat_of(self.ty(args[0]), &amount)?;
            amount = self.temp(&text);
        }
        let text = format!(
            "{what} {} {}, {amount}",
            self.name(args[0])?,
            self.op(args[0])
        );
        self.result(inst, &text)
    }

    fn rotate(&mut self, inst: Inst, what: &str) -> Printing<bool> {
        let args = self.args(inst);
        self.scalar(args[0])?;
        let amount = self.amount(args[0], args[1])?;
        let (ty, x) = (self.name(args[0])?, self.op(args[0]));
        let text = format!("call {ty} @llvm.{what}.{ty}({ty} {x}, {ty} {x}, {ty} {amount})");
        self.result(inst, &text)
    }

    fn count_zeros(&mut self, inst: Inst, what: &str) -> Printing<bool> {
        let x = self.args(inst)[0];
        self.scalar(x)?;
        let (ty, x) = (self.name(x)?, self.op(x));
        self.result(
            inst,
            &format!("call {ty} @llvm.{what}.{ty}({ty} {x}, i1 false)"),
        )
    }

    /// A function of LLVM's of one type.
    pub(super) fn intrinsic(&mut self, inst: Inst, what: &str) -> Printing<bool> {
        let text = self.intrinsic_text(inst, what)?;
        self.result(inst, &text)
    }

    pub(super) fn intrinsic_text(&self, inst: Inst, what: &str) -> Printing<String> {
        let ty = self.result_ty(inst);
        let (name, suffix) = (name_of(ty)?, suffix(ty)?);
        let args: Vec<String> = self
            .args(inst)
            .iter()
            .map(|arg| format!("{name} {}", self.op(*arg)))
            .collect();
        Ok(format!(
            "call {name} @llvm.{what}.{suffix}({})",
            args.join(", ")
        ))
    }

    /// A division: what hardware or CLIF traps on is a branch here, and what LLVM leaves
    /// undefined does not reach it.
    fn divide(&mut self, inst: Inst, what: &str) -> Printing<bool> {
        let args = self.args(inst);
        let (x, y) = (self.op(args[0]), self.op(args[1]));
        let (ty, bits) = (self.name(args[0])?, self.ty(args[0]).bits());
        let constant = self.constant(args[1]);
        if constant.is_none_or(|divisor| divisor == 0) {
            let zero = self.temp(&format!("icmp eq {ty} {y}, 0"));
            self.trap_if(&zero, TrapCode::INTEGER_DIVISION_BY_ZERO);
        }
        let may_be_minus_one = constant.is_none_or(|divisor| divisor == -1);
        let mut divisor = y.clone();
        if may_be_minus_one && what == "sdiv" {
            let least = -1_i128 << (bits - 1);
            let minus_one = self.temp(&format!("icmp eq {ty} {y}, -1"));
            let least = self.temp(&format!("icmp eq {ty} {x}, {least}"));
            let both = self.temp(&format!("and i1 {minus_one}, {least}"));
            self.trap_if(&both, TrapCode::INTEGER_OVERFLOW);
        }
        if may_be_minus_one && what == "srem" {
            // The remainder is 0 for both, and 1 does not overflow.
            let minus_one = self.temp(&format!("icmp eq {ty} {y}, -1"));
            divisor = self.temp(&format!("select i1 {minus_one}, {ty} 1, {ty} {y}"));
        }
        self.result(inst, &format!("{what} {ty} {x}, {divisor}"))
    }

    fn icmp(&mut self, inst: Inst) -> Printing<bool> {
        let InstructionData::IntCompare { cond, .. } = self.func.dfg.insts[inst] else {
            return Ok(false);
        };
        let args = self.args(inst);
        let ty = self.name(args[0])?;
        let (x, y) = (self.op(args[0]), self.op(args[1]));
        let holds = self.temp(&format!("icmp {} {ty} {x}, {y}", condition(cond)));
        self.truth_result(inst, &holds)
    }

    /// What a comparison says, as CLIF has it: a byte, or all bits of each lane.
    pub(super) fn truth_result(&mut self, inst: Inst, holds: &str) -> Printing<bool> {
        let ty = self.result_ty(inst);
        let name = name_of(ty)?;
        match ty.is_vector() {
            true => {
                let count = ty.lane_count();
                self.result(inst, &format!("sext <{count} x i1> {holds} to {name}"))
            }
            false => self.result(inst, &format!("zext i1 {holds} to {name}")),
        }
    }

    /// Whether a value is not 0.
    pub(super) fn truth(&mut self, value: Value) -> Printing<String> {
        self.scalar(value)?;
        let text = format!("icmp ne {} {}, 0", self.name(value)?, self.op(value));
        Ok(self.temp(&text))
    }

    fn select(&mut self, inst: Inst) -> Printing<bool> {
        let args = self.args(inst);
        let condition = self.truth(args[0])?;
        let ty = self.name(args[1])?;
        let (x, mut y) = (self.unfolded(args[1])?, self.unfolded(args[2])?);
        // Of two constants LLVM would make a table, which it reads without a site.
        if args[1..].iter().all(|arg| self.is_float_constant(*arg)) {
            y = self.untold(args[2], y)?;
        }
        self.result(inst, &format!("select i1 {condition}, {ty} {x}, {ty} {y}"))
    }

    fn is_float_constant(&self, value: Value) -> bool {
        let opcode = self.maker(value).map(|inst| self.opcode(inst));
        let constant = [Opcode::F32const, Opcode::F64const, Opcode::Extractlane];
        opcode.is_some_and(|opcode| constant.contains(&opcode))
    }

    /// A selection that no branch is ever made of, by instructions that LLVM does not look
    /// into. Behind a branch on its condition LLVM would know what that is, and select
    /// nothing; so the comparison is among them.
    fn guard(&mut self, inst: Inst) -> Printing<bool> {
        let args = self.args(inst);
        if self.ty(args[1]) != types::I64 || self.ty(args[0]) != types::I8 {
            return unknown("select_spectre_guard of another type");
        }
        let compared = self.maker(args[0]);
        let Some((compared, InstructionData::IntCompare { cond, .. })) =
            compared.map(|inst| (inst, self.func.dfg.insts[inst]))
        else {
            return unknown("a guard that compares nothing");
        };
        let operands = self.args(compared);
        let ty = self.name(operands[0])?;
        let (x, y) = (self.op(operands[0]), self.op(operands[1]));
        let (then, other) = (self.op(args[1]), self.op(args[2]));
        let width = match self.ty(operands[0]) {
            types::I32 => 'l',
            types::I64 => 'q',
            _ => return unknown("a guard that compares another type"),
        };
        let text = format!(
            "call i64 asm \"cmp{width} $2, $1\\0Acmov{}q $3, $0\", \"=&r,r,re,r,0,~{{flags}}\"\
             ({ty} {x}, {ty} {y}, i64 {then}, i64 {other}) #3",
            on_flags(cond)
        );
        self.result(inst, &text)
    }

    /// Whether a check takes the lower half of an index.
    fn is_half_of_check(&self, inst: Inst) -> bool {
        let is_check = offset_and_check(self.func.srcloc(inst)).is_some_and(|(_, is)| is);
        let made = self.maker(self.args(inst)[0]);
        is_check && made.is_some_and(|made| self.opcode(made) == Opcode::Ireduce)
    }

    /// The lower half of an index, by an instruction that LLVM does not look into: behind a
    /// comparison with the index it would know that both are the same number, and access by
    /// the index.
    fn lower_half(&mut self, inst: Inst) -> Printing<bool> {
        let index = self
            .maker(self.args(inst)[0])
            .map(|made| self.args(made)[0]);
        let Some(index) = index.filter(|index| self.ty(*index) == types::I64) else {
            return unknown("a half of nothing");
        };
        let index = self.op(index);
        let text = format!("call i64 asm \"movl ${{1:k}}, ${{0:k}}\", \"=r,r\"(i64 {index}) #3");
        self.result(inst, &text)
    }

    fn bitselect(&mut self, inst: Inst) -> Printing<bool> {
        let args = self.args(inst);
        let (ty, c) = self.bits(args[0])?;
        let ((_, x), (_, y)) = (self.bits(args[1])?, self.bits(args[2])?);
        let first = self.temp(&format!("and {ty} {c}, {x}"));
        let not = self.temp(&format!("xor {ty} {c}, {}", Self::ones(ty)));
        let second = self.temp(&format!("and {ty} {not}, {y}"));
        self.of_bits(inst, &format!("or {ty} {first}, {second}"))
    }

    fn resize(&mut self, inst: Inst, what: &str) -> Printing<bool> {
        let x = self.args(inst)[0];
        self.scalar(x)?;
        let to = name_of(self.result_ty(inst))?;
        let text = format!("{what} {} {} to {to}", self.name(x)?, self.op(x));
        self.result(inst, &text)
    }

    fn concat(&mut self, inst: Inst) -> Printing<bool> {
        let args = self.args(inst);
        if self.ty(args[0]) != types::I64 {
            return unknown("iconcat of another type");
        }
        let low = self.temp(&format!("zext i64 {} to i128", self.op(args[0])));
        let high = self.temp(&format!("zext i64 {} to i128", self.op(args[1])));
        let high = self.temp(&format!("shl i128 {high}, 64"));
        self.result(inst, &format!("or i128 {low}, {high}"))
    }

    fn split(&mut self, inst: Inst) -> Printing<bool> {
        let x = self.args(inst)[0];
        if self.ty(x) != types::I128 {
            return unknown("isplit of another type");
        }
        let x = self.op(x);
        let results = self.func.dfg.inst_results(inst).to_vec();
        let high = self.temp(&format!("lshr i128 {x}, 64"));
        self.set(results[0], &format!("trunc i128 {x} to i64"));
        self.set(results[1], &format!("trunc i128 {high} to i64"));
        Ok(true)
    }

    fn high_product(&mut self, inst: Inst, extend: &str) -> Printing<bool> {
        let args = self.args(inst);
        if self.ty(args[0]) != types::I64 {
            return unknown("half a product of another type");
        }
        let x = self.temp(&format!("{extend} i64 {} to i128", self.op(args[0])));
        let y = self.temp(&format!("{extend} i64 {} to i128", self.op(args[1])));
        let product = self.temp(&format!("mul i128 {x}, {y}"));
        let high = self.temp(&format!("lshr i128 {product}, 64"));
        self.result(inst, &format!("trunc i128 {high} to i64"))
    }

    fn add_or_trap(&mut self, inst: Inst) -> Printing<bool> {
        let InstructionData::IntAddTrap { code, .. } = self.func.dfg.insts[inst] else {
            return Ok(false);
        };
        let args = self.args(inst);
        let ty = self.name(args[0])?;
        let (x, y) = (self.op(args[0]), self.op(args[1]));
        let both = self.temp(&format!(
            "call {{ {ty}, i1 }} @llvm.uadd.with.overflow.{ty}({ty} {x}, {ty} {y})"
        ));
        let over = self.temp(&format!("extractvalue {{ {ty}, i1 }} {both}, 1"));
        self.trap_if(&over, code);
        self.result(inst, &format!("extractvalue {{ {ty}, i1 }} {both}, 0"))
    }
}

/// LLVM's name of a comparison.
pub(super) fn condition(cond: IntCC) -> &'static str {
    match cond {
        IntCC::Equal => "eq",
        IntCC::NotEqual => "ne",
        IntCC::SignedLessThan => "slt",
        IntCC::SignedGreaterThanOrEqual => "sge",
        IntCC::SignedGreaterThan => "sgt",
        IntCC::SignedLessThanOrEqual => "sle",
        IntCC::UnsignedLessThan => "ult",
        IntCC::UnsignedGreaterThanOrEqual => "uge",
        IntCC::UnsignedGreaterThan => "ugt",
        IntCC::UnsignedLessThanOrEqual => "ule",
    }
}

/// What an instruction on flags is called with, behind a comparison.
fn on_flags(cond: IntCC) -> &'static str {
    match cond {
        IntCC::Equal => "e",
        IntCC::NotEqual => "ne",
        IntCC::SignedLessThan => "l",
        IntCC::SignedGreaterThanOrEqual => "ge",
        IntCC::SignedGreaterThan => "g",
        IntCC::SignedLessThanOrEqual => "le",
        IntCC::UnsignedLessThan => "b",
        IntCC::UnsignedGreaterThanOrEqual => "ae",
        IntCC::UnsignedGreaterThan => "a",
        IntCC::UnsignedLessThanOrEqual => "be",
    }
}
