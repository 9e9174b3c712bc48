//! Floating-point numbers.
//!
//! LLVM computes as IEEE 754 says, but for one thing: it takes `x * 1.0`, `x - 0.0` and
//! the like for `x`, and so leaves a signalling NaN as it is, where WebAssembly has it
//! become a quiet one. So LLVM is never let know that a number is ±0.0 or ±1.0: constants
//! of these values and results of operations on nothing but what it may know
//! (not [`Printer::settled`]) go through an empty instruction of assembly, which costs none.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{Inst, InstructionData, Opcode, Type, Value, types};

use super::memory::register_of;
use super::{Printer, Printing, name_of, unknown};

/// What LLVM must not know, as bits: ±0.0 and ±1.0.
const TELLING_32: [u32; 4] = [0, 1 << 31, 0x3f80_0000, 0xbf80_0000];
const TELLING_64: [u64; 4] = [0, 1 << 63, 0x3ff0_0000_0000_0000, 0xbff0_0000_0000_0000];

impl Printer<'_> {
    /// Prints an instruction of floats; `false` when it is not one.
    pub(super) fn float(&mut self, inst: Inst) -> Printing<bool> {
        match self.opcode(inst) {
            Opcode::F32const | Opcode::F64const => self.float_constant(inst),
            Opcode::Fadd => self.arithmetic(inst, "fadd"),
            Opcode::Fsub => self.arithmetic(inst, "fsub"),
            Opcode::Fmul => self.arithmetic(inst, "fmul"),
            Opcode::Fdiv => self.arithmetic(inst, "fdiv"),
            Opcode::Sqrt => self.function(inst, "sqrt"),
            Opcode::Ceil => self.function(inst, "ceil"),
            Opcode::Floor => self.function(inst, "floor"),
            Opcode::Trunc => self.function(inst, "trunc"),
            Opcode::Nearest => self.function(inst, "roundeven"),
            Opcode::Fabs => self.function(inst, "fabs"),
            Opcode::Fcopysign => self.copy_sign(inst),
            // The operand is hidden, not the result: the sign goes into what multiplies it.
            Opcode::Fneg if self.result_ty(inst).is_vector() => {
                let (ty, args) = (name_of(self.result_ty(inst))?, self.lanes(inst)?);
                self.result(inst, &format!("fneg {ty} {}", args[0]))
            }
            Opcode::Fneg => {
                let x = self.args(inst)[0];
                let text = format!("fneg {} {}", self.name(x)?, self.op(x));
                self.settle(inst, &text)
            }
            Opcode::Fmin => self.extremum(inst, "olt", "or"),
            Opcode::Fmax => self.extremum(inst, "ogt", "and"),
            Opcode::Fcmp => self.fcmp(inst),
            _ => Ok(false),
        }
    }

    /// A float of given bits.
    pub(super) fn float_of(&mut self, ty: Type, bits: u64) -> Printing<(String, bool)> {
        let telling = match ty {
            types::F32 => TELLING_32.contains(&(bits as u32)),
            types::F64 => TELLING_64.contains(&bits),
            _ => return unknown("a constant of another type"),
        };
        let text = match ty {
            types::F32 => format!("bitcast i32 {} to float", bits as u32),
            _ => format!("bitcast i64 {} to double", bits.cast_signed()),
        };
        Ok((text, telling))
    }

    fn float_constant(&mut self, inst: Inst) -> Printing<bool> {
        let (ty, bits) = match self.func.dfg.insts[inst] {
            InstructionData::UnaryIeee32 { imm, .. } => (types::F32, u64::from(imm.bits())),
            InstructionData::UnaryIeee64 { imm, .. } => (types::F64, imm.bits()),
            _ => return Ok(false),
        };
        self.float_result(inst, ty, bits)
    }

    /// A float of given bits as an instruction's result.
    pub(super) fn float_result(&mut self, inst: Inst, ty: Type, bits: u64) -> Printing<bool> {
        let (text, telling) = self.float_of(ty, bits)?;
        match telling {
            true => self.hidden(inst, &text),
            false => self.result(inst, &text),
        }
    }

    /// An instruction's result, of which LLVM does not know what it is.
    pub(super) fn hidden(&mut self, inst: Inst, text: &str) -> Printing<bool> {
        let result = self.func.dfg.first_result(inst);
        let known = self.temp(text);
        let ty = self.ty(result);
        let (name, of) = (name_of(ty)?, register_of(ty));
        self.settled.insert(result);
        self.result(
            inst,
            &format!("call {name} asm \"\", \"={of},0\"({name} {known}) #3"),
        )
    }

    /// A float that an instruction makes of floats: hidden unless it is made of one that
    /// LLVM cannot know.
    pub(super) fn settle(&mut self, inst: Inst, text: &str) -> Printing<bool> {
        let args = self.args(inst);
        match args.iter().any(|arg| self.settled.contains(arg)) {
            true => {
                self.settled.insert(self.func.dfg.first_result(inst));
                self.result(inst, text)
            }
            false => self.hidden(inst, text),
        }
    }

    fn arithmetic(&mut self, inst: Inst, what: &str) -> Printing<bool> {
        let ty = name_of(self.result_ty(inst))?;
        if self.result_ty(inst).is_vector() {
            let args = self.lanes(inst)?;
            return self.result(inst, &format!("{what} {ty} {}, {}", args[0], args[1]));
        }
        let args = self.args(inst);
        let text = format!("{what} {ty} {}, {}", self.op(args[0]), self.op(args[1]));
        self.settle(inst, &text)
    }

    /// A sign is all that the result has of its second operand: without it, what is left is
    /// the first one.
    fn copy_sign(&mut self, inst: Inst) -> Printing<bool> {
        let text = self.intrinsic_text(inst, "copysign")?;
        let size = self.args(inst)[0];
        match self.settled.contains(&size) {
            true => self.settle(inst, &text),
            false => self.hidden(inst, &text),
        }
    }

    fn function(&mut self, inst: Inst, what: &str) -> Printing<bool> {
        let text = self.intrinsic_text(inst, what)?;
        self.settle(inst, &text)
    }

    /// The lesser or the greater: the sum, a quiet NaN, where one is a NaN; of zeros, the
    /// one with the sign that wins.
    fn extremum(&mut self, inst: Inst, wins: &str, of_equals: &str) -> Printing<bool> {
        let args = self.args(inst);
        let ty = self.name(args[0])?;
        let (bits, truth) = match self.ty(args[0]) {
            types::F32 => ("i32", "i1"),
            types::F64 => ("i64", "i1"),
            types::F32X4 => ("<4 x i32>", "<4 x i1>"),
            types::F64X2 => ("<2 x i64>", "<2 x i1>"),
            other => return unknown(format!("the extremum of {other}")),
        };
        let (x, y) = (self.compared(args[0])?, self.compared(args[1])?);
        let x_bits = self.temp(&format!("bitcast {ty} {x} to {bits}"));
        let y_bits = self.temp(&format!("bitcast {ty} {y} to {bits}"));
        let both = self.temp(&format!("{of_equals} {bits} {x_bits}, {y_bits}"));
        let both = self.temp(&format!("bitcast {bits} {both} to {ty}"));
        let sum = self.temp(&format!("fadd {ty} {x}, {y}"));
        let is_first = self.temp(&format!("fcmp {wins} {ty} {x}, {y}"));
        let is_equal = self.temp(&format!("fcmp oeq {ty} {x}, {y}"));
        let is_nan = self.temp(&format!("fcmp uno {ty} {x}, {y}"));
        let one = self.temp(&format!("select {truth} {is_first}, {ty} {x}, {ty} {y}"));
        let one = self.temp(&format!(
            "select {truth} {is_equal}, {ty} {both}, {ty} {one}"
        ));
        let text = format!("select {truth} {is_nan}, {ty} {sum}, {ty} {one}");
        self.settled.insert(self.func.dfg.first_result(inst));
        self.result(inst, &text)
    }

    fn fcmp(&mut self, inst: Inst) -> Printing<bool> {
        let InstructionData::FloatCompare { cond, .. } = self.func.dfg.insts[inst] else {
            return Ok(false);
        };
        let args = self.args(inst);
        let text = self.float_comparison(cond, args[0], args[1])?;
        let holds = self.temp(&text);
        self.truth_result(inst, &holds)
    }

    fn float_comparison(&mut self, cond: FloatCC, x: Value, y: Value) -> Printing<String> {
        let ty = self.name(x)?;
        let cond = condition(cond);
        let (x, y) = (self.compared(x)?, self.compared(y)?);
        Ok(format!("fcmp {cond} {ty} {x}, {y}"))
    }

    /// An operand of a comparison, hidden where it could be a constant: see `known.rs`.
    fn compared(&mut self, value: Value) -> Printing<String> {
        let is_known = match self.ty(value).is_vector() {
            true => !self.settled.contains(&value),
            false => self.known.is_told(value),
        };
        match is_known {
            true => self.concealed(value),
            false => Ok(self.op(value)),
        }
    }
}

/// LLVM's name of a comparison.
fn condition(cond: FloatCC) -> &'static str {
    match cond {
        FloatCC::Ordered => "ord",
        FloatCC::Unordered => "uno",
        FloatCC::Equal => "oeq",
        FloatCC::NotEqual => "une",
        FloatCC::OrderedNotEqual => "one",
        FloatCC::UnorderedOrEqual => "ueq",
        FloatCC::LessThan => "olt",
        FloatCC::LessThanOrEqual => "ole",
        FloatCC::GreaterThan => "ogt",
        FloatCC::GreaterThanOrEqual => "oge",
        FloatCC::UnorderedOrLessThan => "ult",
        FloatCC::UnorderedOrLessThanOrEqual => "ule",
        FloatCC::UnorderedOrGreaterThan => "ugt",
        FloatCC::UnorderedOrGreaterThanOrEqual => "uge",
    }
}
