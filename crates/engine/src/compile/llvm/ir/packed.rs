//! Vector instructions that LLVM IR has no word for: they are asked for by the name of the
//! processor's own instruction, or put together of it.
//!
//! What the relaxed ones give is what Cranelift's code gives (`translate/simd/relaxed.rs`).

use cranelift_codegen::ir::{Inst, Opcode, types};

use super::{Printer, Printing, name_of, suffix, unknown};

const BYTES: &str = "<16 x i8>";
const WORDS: &str = "<8 x i16>";

impl Printer<'_> {
    /// Prints one of them; `false` when an instruction is none.
    pub(super) fn packed(&mut self, inst: Inst) -> Printing<bool> {
        match self.opcode(inst) {
            Opcode::Swizzle => self.swizzle(inst),
            Opcode::X86Pshufb => {
                let args = self.args(inst);
                let (x, indices) = (self.op(args[0]), self.op(args[1]));
                let text = self.pshufb(&x, &indices)?;
                self.result(inst, &text)
            }
            Opcode::SqmulRoundSat => self.rounded_product(inst),
            Opcode::X86Pmulhrsw => {
                let text = self.pmulhrsw(inst)?;
                self.result(inst, &text)
            }
            Opcode::X86Pmaddubsw => {
                self.needs_ssse3()?;
                let args = self.args(inst);
                // Its first operand is the unsigned one.
                let (x, y) = (self.op(args[1]), self.op(args[0]));
                let text = format!(
                    "call {WORDS} @llvm.x86.ssse3.pmadd.ub.sw.128({BYTES} {x}, {BYTES} {y})"
                );
                self.result(inst, &text)
            }
            Opcode::X86Cvtt2dq => self.truncated(inst),
            Opcode::Fma => self.fused(inst),
            Opcode::Blendv => self.blend(inst),
            _ => Ok(false),
        }
    }

    fn needs_ssse3(&self) -> Printing {
        match self.around.has_ssse3 {
            true => Ok(()),
            false => unknown("an instruction of SSSE3"),
        }
    }

    /// Lanes by the lower four bits of each index, 0 where its top bit is set.
    fn pshufb(&self, x: &str, indices: &str) -> Printing<String> {
        self.needs_ssse3()?;
        Ok(format!(
            "call {BYTES} @llvm.x86.ssse3.pshuf.b.128({BYTES} {x}, {BYTES} {indices})"
        ))
    }

    /// The same with 0 for every index beyond 15: more than that is at least 128 with 112 more.
    fn swizzle(&mut self, inst: Inst) -> Printing<bool> {
        let args = self.args(inst);
        let (x, indices) = (self.op(args[0]), self.op(args[1]));
        let indices = self.temp(&format!(
            "call {BYTES} @llvm.uadd.sat.v16i8({BYTES} {indices}, {BYTES} splat (i8 112))"
        ));
        let text = self.pshufb(&x, &indices)?;
        self.result(inst, &text)
    }

    /// `(x × y + 2^14) >> 15`, which wraps for `-2^15 × -2^15` only.
    fn pmulhrsw(&mut self, inst: Inst) -> Printing<String> {
        self.needs_ssse3()?;
        let args = self.args(inst);
        let (x, y) = (self.op(args[0]), self.op(args[1]));
        Ok(format!(
            "call {WORDS} @llvm.x86.ssse3.pmul.hr.sw.128({WORDS} {x}, {WORDS} {y})"
        ))
    }

    /// The same, `2^15 - 1` where it wraps.
    fn rounded_product(&mut self, inst: Inst) -> Printing<bool> {
        let text = self.pmulhrsw(inst)?;
        let product = self.temp(&text);
        let wrapped = self.temp(&format!("icmp eq {WORDS} {product}, splat (i16 -32768)"));
        let wrapped = self.temp(&format!("sext <8 x i1> {wrapped} to {WORDS}"));
        self.result(inst, &format!("xor {WORDS} {product}, {wrapped}"))
    }

    /// To integers of 32 bits, -2^31 where there is none. Those of two numbers are extended.
    fn truncated(&mut self, inst: Inst) -> Printing<bool> {
        let x = self.args(inst)[0];
        let text = self.op(x);
        match self.ty(x) {
            types::F32X4 => {
                let call = "call <4 x i32> @llvm.x86.sse2.cvttps2dq(<4 x float>";
                self.result(inst, &format!("{call} {text})"))
            }
            types::F64X2 => {
                let call = "call <4 x i32> @llvm.x86.sse2.cvttpd2dq(<2 x double>";
                let both = self.temp(&format!("{call} {text})"));
                let low = self.temp(&format!(
                    "shufflevector <4 x i32> {both}, <4 x i32> poison, <2 x i32> <i32 0, i32 1>"
                ));
                self.result(inst, &format!("sext <2 x i32> {low} to <2 x i64>"))
            }
            other => unknown(format!("a conversion of {other}")),
        }
    }

    /// `x × y + z`, rounded once.
    fn fused(&mut self, inst: Inst) -> Printing<bool> {
        if !self.around.has_fma {
            return unknown("an instruction of FMA");
        }
        let ty = self.result_ty(inst);
        let (name, suffix) = (name_of(ty)?, suffix(ty)?);
        let args: Vec<String> = self.lanes(inst)?;
        let args: Vec<String> = args.iter().map(|arg| format!("{name} {arg}")).collect();
        let args = args.join(", ");
        self.result(inst, &format!("call {name} @llvm.fma.{suffix}({args})"))
    }

    /// By the top bit of each lane.
    fn blend(&mut self, inst: Inst) -> Printing<bool> {
        let args = self.args(inst);
        let (ty, count) = (self.name(args[0])?, self.ty(args[0]).lane_count());
        let [mask, x, y] = [0, 1, 2].map(|i| self.op(args[i]));
        let first = self.temp(&format!("icmp slt {ty} {mask}, zeroinitializer"));
        self.result(
            inst,
            &format!("select <{count} x i1> {first}, {ty} {x}, {ty} {y}"),
        )
    }
}
