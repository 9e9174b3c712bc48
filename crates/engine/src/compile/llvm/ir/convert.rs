//! Conversions between numbers.

use cranelift_codegen::ir::{Inst, InstructionData, Opcode, TrapCode, Type, Value, types};

use super::{Printer, Printing, name_of, suffix, unknown};

impl Printer<'_> {
    /// Prints a conversion; `false` when it is not one.
    pub(super) fn conversion(&mut self, inst: Inst) -> Printing<bool> {
        match self.opcode(inst) {
            Opcode::Bitcast => self.bitcast(inst),
            Opcode::Extractlane => self.constant_lane(inst),
            Opcode::FcvtFromSint => self.int_to_float(inst, "sitofp"),
            Opcode::FcvtFromUint => self.int_to_float(inst, "uitofp"),
            Opcode::FcvtToSint => self.float_to_int(inst, true),
            Opcode::FcvtToUint => self.float_to_int(inst, false),
            Opcode::FcvtToSintSat => self.saturate(inst, "fptosi.sat"),
            Opcode::FcvtToUintSat => self.saturate(inst, "fptoui.sat"),
            Opcode::Fpromote => self.widen(inst),
            Opcode::Fdemote => self.demote(inst),
            _ => Ok(false),
        }
    }

    fn bitcast(&mut self, inst: Inst) -> Printing<bool> {
        let x = self.args(inst)[0];
        let to = self.result_ty(inst);
        let text = format!(
            "bitcast {} {} to {}",
            self.name(x)?,
            self.op(x),
            name_of(to)?
        );
        if self.settled.contains(&x) && !self.known.is_mixed(x) {
            self.settled.insert(self.func.dfg.first_result(inst));
        }
        match to.is_int() || to.is_vector() {
            true => self.result(inst, &text),
            false => self.hidden(inst, &text),
        }
    }

    /// A lane of a constant, which translation makes of floats in loops; `false` where it
    /// is something else.
    fn constant_lane(&mut self, inst: Inst) -> Printing<bool> {
        let ty = self.result_ty(inst);
        let vector = self.args(inst)[0];
        let constant = self.maker(vector).map(|inst| self.func.dfg.insts[inst]);
        let (
            Some(InstructionData::UnaryConst {
                opcode: Opcode::Vconst,
                constant_handle,
            }),
            InstructionData::BinaryImm8 { imm: 0, .. },
            types::F32 | types::F64,
        ) = (constant, self.func.dfg.insts[inst], ty)
        else {
            return Ok(false);
        };
        let bytes = self.func.dfg.constants.get(constant_handle).as_slice();
        let mut low = [0; 8];
        let count = ty.bytes() as usize;
        low[..count].copy_from_slice(&bytes[..count]);
        self.float_result(inst, ty, u64::from_le_bytes(low))
    }

    fn int_to_float(&mut self, inst: Inst, what: &str) -> Printing<bool> {
        let x = self.args(inst)[0];
        let to = name_of(self.result_ty(inst))?;
        let (from, x) = (self.name(x)?, self.unfolded(x)?);
        self.hidden(inst, &format!("{what} {from} {x} to {to}"))
    }

    /// A conversion that traps on NaN and beyond the range.
    fn float_to_int(&mut self, inst: Inst, is_signed: bool) -> Printing<bool> {
        let x = self.args(inst)[0];
        let to = self.result_ty(inst);
        let (from, text) = (self.name(x)?, self.op(x));
        let nan = self.temp(&format!("fcmp uno {from} {text}, {text}"));
        self.trap_if(&nan, TrapCode::BAD_CONVERSION_TO_INTEGER);
        let (below, least, most) = range(self.ty(x), to, is_signed)?;
        for (comparison, bits) in [(below, least), ("oge", most)] {
            let bound = self.bound(x, bits)?;
            let beyond = self.temp(&format!("fcmp {comparison} {from} {text}, {bound}"));
            self.trap_if(&beyond, TrapCode::INTEGER_OVERFLOW);
        }
        let what = if is_signed { "fptosi" } else { "fptoui" };
        self.result(inst, &format!("{what} {from} {text} to {}", name_of(to)?))
    }

    /// A constant of the type of `x`.
    fn bound(&mut self, x: Value, bound: f64) -> Printing<String> {
        let text = match self.ty(x) {
            types::F32 => format!("bitcast i32 {} to float", (bound as f32).to_bits()),
            types::F64 => format!("bitcast i64 {} to double", bound.to_bits().cast_signed()),
            _ => return unknown("a conversion of another type"),
        };
        Ok(self.temp(&text))
    }

    fn saturate(&mut self, inst: Inst, what: &str) -> Printing<bool> {
        let x = self.args(inst)[0];
        let to = self.result_ty(inst);
        let (from, text) = (self.name(x)?, self.op(x));
        let (suffixes, to) = ((suffix(to)?, suffix(self.ty(x))?), name_of(to)?);
        let (into, of) = suffixes;
        self.result(
            inst,
            &format!("call {to} @llvm.{what}.{into}.{of}({from} {text})"),
        )
    }

    fn widen(&mut self, inst: Inst) -> Printing<bool> {
        let x = self.args(inst)[0];
        let to = name_of(self.result_ty(inst))?;
        let text = format!("fpext {} {} to {to}", self.name(x)?, self.op(x));
        self.settle(inst, &text)
    }

    /// To 32 bits. LLVM takes it for the inverse of the conversion to 64 bits, also of
    /// signalling NaNs, unless it does not see that one.
    fn demote(&mut self, inst: Inst) -> Printing<bool> {
        let x = self.args(inst)[0];
        let is_seen = self.maker(x).is_some_and(|made| match self.opcode(made) {
            Opcode::Fadd | Opcode::Fsub | Opcode::Fmul | Opcode::Fdiv => true,
            // What was stored before is what is loaded from a slot, or in a loop of two versions.
            Opcode::Load => {
                let flags = self.plain(made).map(|(flags, _, _)| flags);
                let is_checked = flags.is_some_and(|flags| flags.trap_code().is_some());
                is_checked || !self.known.has_promotion()
            }
            _ => false,
        });
        let (from, mut text) = (self.name(x)?, self.op(x));
        if !is_seen {
            text = self.temp(&format!("call {from} asm \"\", \"=x,0\"({from} {text}) #3"));
        }
        let to = name_of(self.result_ty(inst))?;
        self.settle(inst, &format!("fptrunc {from} {text} to {to}"))
    }
}

/// What converts without overflow: how what is below compares with the first bound, and
/// both bounds. The second is beyond the range, the first too where `below` is `ole`; all
/// are numbers of the type of the operand.
fn range(from: Type, to: Type, is_signed: bool) -> Printing<(&'static str, f64, f64)> {
    let power = |bits: i32| 2_f64.powi(bits);
    Ok(match (from, to, is_signed) {
        (types::F64, types::I32, true) => ("ole", -power(31) - 1.0, power(31)),
        (types::F32, types::I32, true) => ("olt", -power(31), power(31)),
        (types::F32 | types::F64, types::I64, true) => ("olt", -power(63), power(63)),
        (types::F32 | types::F64, types::I32, false) => ("ole", -1.0, power(32)),
        (types::F32 | types::F64, types::I64, false) => ("ole", -1.0, power(64)),
        _ => return unknown("a conversion of other types"),
    })
}
