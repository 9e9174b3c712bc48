//! Vectors of 128 bits.
//!
//! Bitwise operations are those of two numbers of 64 bits, whatever the lanes are. For
//! floats `float.rs` says what LLVM must not know: here every operand of arithmetic that
//! it may know is hidden from it.

use cranelift_codegen::ir::{Inst, InstructionData, Opcode, Type, Value, types};

use super::{Precision, Printer, Printing, name_of, suffix, unknown};

impl Printer<'_> {
    /// Prints an instruction of vectors; `false` when it is not one.
    pub(super) fn vector(&mut self, inst: Inst) -> Printing<bool> {
        match self.opcode(inst) {
            Opcode::Vconst => self.vector_constant(inst),
            Opcode::Splat => self.splat(inst),
            Opcode::Extractlane => self.extract_lane(inst),
            Opcode::Insertlane => self.insert_lane(inst),
            Opcode::ScalarToVector => self.scalar_to_vector(inst),
            Opcode::Shuffle => self.shuffle(inst),
            Opcode::SaddSat => self.intrinsic(inst, "sadd.sat"),
            Opcode::UaddSat => self.intrinsic(inst, "uadd.sat"),
            Opcode::SsubSat => self.intrinsic(inst, "ssub.sat"),
            Opcode::UsubSat => self.intrinsic(inst, "usub.sat"),
            Opcode::Iabs => self.absolute(inst),
            Opcode::AvgRound => self.average(inst),
            Opcode::IaddPairwise => self.pairwise(inst),
            Opcode::VanyTrue => self.any_true(inst),
            Opcode::VallTrue => self.all_true(inst),
            Opcode::VhighBits => self.high_bits(inst),
            Opcode::SwidenLow => self.widen_half(inst, "sext", 0),
            Opcode::SwidenHigh => self.widen_half(inst, "sext", 1),
            Opcode::UwidenLow => self.widen_half(inst, "zext", 0),
            Opcode::UwidenHigh => self.widen_half(inst, "zext", 1),
            Opcode::Snarrow => self.narrow(inst, true, true),
            Opcode::Unarrow => self.narrow(inst, true, false),
            Opcode::Uunarrow => self.narrow(inst, false, false),
            Opcode::FvpromoteLow => self.promote_low(inst),
            Opcode::Fvdemote => self.demote_zero(inst),
            Opcode::Sload8x8 | Opcode::Sload16x4 | Opcode::Sload32x2 => {
                self.extending_load(inst, "sext")
            }
            Opcode::Uload8x8 | Opcode::Uload16x4 | Opcode::Uload32x2 => {
                self.extending_load(inst, "zext")
            }
            _ => Ok(false),
        }
    }

    fn vector_constant(&mut self, inst: Inst) -> Printing<bool> {
        let InstructionData::UnaryConst {
            constant_handle, ..
        } = self.func.dfg.insts[inst]
        else {
            return Ok(false);
        };
        let bytes = self.func.dfg.constants.get(constant_handle).as_slice();
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("i8 {byte}")).collect();
        let ty = name_of(self.result_ty(inst))?;
        let text = format!("bitcast <16 x i8> <{}> to {ty}", bytes.join(", "));
        self.result(inst, &text)
    }

    /// A vector of which each lane is `lane`.
    pub(super) fn splat_of(&mut self, ty: Type, lane: &str) -> Printing<String> {
        let (vector, scalar) = (name_of(ty)?, name_of(ty.lane_type())?);
        let first = self.temp(&format!(
            "insertelement {vector} poison, {scalar} {lane}, i64 0"
        ));
        let count = ty.lane_count();
        Ok(format!(
            "shufflevector {vector} {first}, {vector} poison, <{count} x i32> zeroinitializer"
        ))
    }

    fn splat(&mut self, inst: Inst) -> Printing<bool> {
        let lane = self.args(inst)[0];
        let text = self.op(lane);
        let text = self.splat_of(self.result_ty(inst), &text)?;
        self.settles_like(inst, &[lane]);
        self.result(inst, &text)
    }

    /// The result is one that LLVM cannot know where all of these are: floats, or vectors.
    /// Of an integer it knows what it is compared with.
    fn settles_like(&mut self, inst: Inst, args: &[Value]) {
        let is_settled = |arg: &Value| !self.ty(*arg).is_int() && self.settled.contains(arg);
        if args.iter().all(is_settled) {
            self.settled.insert(self.func.dfg.first_result(inst));
        }
    }

    fn extract_lane(&mut self, inst: Inst) -> Printing<bool> {
        let InstructionData::BinaryImm8 { imm, .. } = self.func.dfg.insts[inst] else {
            return Ok(false);
        };
        let vector = self.args(inst)[0];
        let text = format!(
            "extractelement {} {}, i64 {imm}",
            self.name(vector)?,
            self.op(vector)
        );
        match self.result_ty(inst).is_float() {
            true => self.settle(inst, &text),
            false => self.result(inst, &text),
        }
    }

    fn insert_lane(&mut self, inst: Inst) -> Printing<bool> {
        let InstructionData::TernaryImm8 { imm, .. } = self.func.dfg.insts[inst] else {
            return Ok(false);
        };
        let args = self.args(inst);
        self.settles_like(inst, &args);
        let text = format!(
            "insertelement {} {}, {} {}, i64 {imm}",
            self.name(args[0])?,
            self.op(args[0]),
            self.name(args[1])?,
            self.op(args[1])
        );
        self.result(inst, &text)
    }

    fn scalar_to_vector(&mut self, inst: Inst) -> Printing<bool> {
        let lane = self.args(inst)[0];
        let ty = name_of(self.result_ty(inst))?;
        let text = format!(
            "insertelement {ty} zeroinitializer, {} {}, i64 0",
            self.name(lane)?,
            self.op(lane)
        );
        self.result(inst, &text)
    }

    fn shuffle(&mut self, inst: Inst) -> Printing<bool> {
        let InstructionData::Shuffle { imm, .. } = self.func.dfg.insts[inst] else {
            return Ok(false);
        };
        let args = self.args(inst);
        self.settles_like(inst, &args);
        let lanes = self.func.dfg.immediates[imm].as_slice().to_vec();
        let lanes: Vec<String> = lanes.iter().map(|lane| format!("i32 {lane}")).collect();
        let text = format!(
            "shufflevector <16 x i8> {}, <16 x i8> {}, <16 x i32> <{}>",
            self.op(args[0]),
            self.op(args[1]),
            lanes.join(", ")
        );
        self.result(inst, &text)
    }

    fn absolute(&mut self, inst: Inst) -> Printing<bool> {
        let x = self.args(inst)[0];
        let (ty, suffix) = (self.name(x)?, suffix(self.ty(x))?);
        let text = format!(
            "call {ty} @llvm.abs.{suffix}({ty} {}, i1 false)",
            self.op(x)
        );
        self.result(inst, &text)
    }

    /// `(x + y + 1) / 2`, in numbers of twice the bits.
    fn average(&mut self, inst: Inst) -> Printing<bool> {
        let args = self.args(inst);
        let ty = self.ty(args[0]);
        let (count, bits) = (ty.lane_count(), 2 * ty.lane_bits());
        let (ty, wide) = (name_of(ty)?, format!("<{count} x i{bits}>"));
        let x = self.temp(&format!("zext {ty} {} to {wide}", self.op(args[0])));
        let y = self.temp(&format!("zext {ty} {} to {wide}", self.op(args[1])));
        let sum = self.temp(&format!("add {wide} {x}, {y}"));
        let sum = self.temp(&format!("add {wide} {sum}, splat (i{bits} 1)"));
        let half = self.temp(&format!("lshr {wide} {sum}, splat (i{bits} 1)"));
        self.result(inst, &format!("trunc {wide} {half} to {ty}"))
    }

    /// Sums of neighbours, of the first operand's and then of the second's.
    fn pairwise(&mut self, inst: Inst) -> Printing<bool> {
        let args = self.args(inst);
        let count = self.ty(args[0]).lane_count();
        let ty = self.name(args[0])?;
        let (x, y) = (self.op(args[0]), self.op(args[1]));
        let mut halves = Vec::new();
        for first in 0..2 {
            let lanes = (0..count).map(|lane| format!("i32 {}", 2 * lane + first));
            let lanes: Vec<String> = lanes.collect();
            halves.push(self.temp(&format!(
                "shufflevector {ty} {x}, {ty} {y}, <{count} x i32> <{}>",
                lanes.join(", ")
            )));
        }
        self.result(inst, &format!("add {ty} {}, {}", halves[0], halves[1]))
    }

    fn any_true(&mut self, inst: Inst) -> Printing<bool> {
        let x = self.args(inst)[0];
        let (ty, text) = (self.name(x)?, self.op(x));
        let whole = self.temp(&format!("bitcast {ty} {text} to i128"));
        let holds = self.temp(&format!("icmp ne i128 {whole}, 0"));
        self.result(inst, &format!("zext i1 {holds} to i8"))
    }

    fn all_true(&mut self, inst: Inst) -> Printing<bool> {
        let x = self.args(inst)[0];
        let count = self.ty(x).lane_count();
        let (ty, text) = (self.name(x)?, self.op(x));
        let zeros = self.temp(&format!("icmp eq {ty} {text}, zeroinitializer"));
        let zeros = self.temp(&format!("bitcast <{count} x i1> {zeros} to i{count}"));
        let holds = self.temp(&format!("icmp eq i{count} {zeros}, 0"));
        self.result(inst, &format!("zext i1 {holds} to i8"))
    }

    fn high_bits(&mut self, inst: Inst) -> Printing<bool> {
        let x = self.args(inst)[0];
        let count = self.ty(x).lane_count();
        let (ty, text) = (self.name(x)?, self.op(x));
        let to = name_of(self.result_ty(inst))?;
        let bits = self.temp(&format!("icmp slt {ty} {text}, zeroinitializer"));
        let bits = self.temp(&format!("bitcast <{count} x i1> {bits} to i{count}"));
        self.result(inst, &format!("zext i{count} {bits} to {to}"))
    }

    /// The lower or the upper half of the lanes.
    fn half(&mut self, x: Value, which: u32) -> Printing<(String, String)> {
        let ty = self.ty(x);
        let count = ty.lane_count() / 2;
        let lanes = (0..count).map(|lane| format!("i32 {}", lane + which * count));
        let lanes: Vec<String> = lanes.collect();
        let (name, lane) = (name_of(ty)?, name_of(ty.lane_type())?);
        let half = self.temp(&format!(
            "shufflevector {name} {}, {name} poison, <{count} x i32> <{}>",
            self.op(x),
            lanes.join(", ")
        ));
        Ok((format!("<{count} x {lane}>"), half))
    }

    fn widen_half(&mut self, inst: Inst, extend: &str, which: u32) -> Printing<bool> {
        let x = self.args(inst)[0];
        let (ty, half) = self.half(x, which)?;
        let to = name_of(self.result_ty(inst))?;
        self.result(inst, &format!("{extend} {ty} {half} to {to}"))
    }

    /// Both operands' lanes, signed or not, as the nearest numbers of half the bits.
    fn narrow(&mut self, inst: Inst, of_signed: bool, is_signed: bool) -> Printing<bool> {
        let args = self.args(inst);
        let ty = self.ty(args[0]);
        let (bits, count) = (ty.lane_bits() / 2, ty.lane_count());
        let (least, most) = match is_signed {
            true => (-(1_i64 << (bits - 1)), (1_i64 << (bits - 1)) - 1),
            false => (0, (1_i64 << bits) - 1),
        };
        let (name, suffix, wide) = (name_of(ty)?, suffix(ty)?, 2 * bits);
        let mut halves = Vec::new();
        for arg in args {
            let text = self.op(arg);
            let mut bound = |text: &str, what: &str, bound: i64| {
                self.temp(&format!(
                    "call {name} @llvm.{what}.{suffix}({name} {text}, {name} splat (i{wide} {bound}))"
                ))
            };
            let both = match of_signed {
                true => {
                    let low = bound(&text, "smax", least);
                    bound(&low, "smin", most)
                }
                false => bound(&text, "umin", most),
            };
            halves.push(self.temp(&format!("trunc {name} {both} to <{count} x i{bits}>")));
        }
        let lanes: Vec<String> = (0..2 * count).map(|lane| format!("i32 {lane}")).collect();
        let text = format!(
            "shufflevector <{count} x i{bits}> {}, <{count} x i{bits}> {}, <{} x i32> <{}>",
            halves[0],
            halves[1],
            2 * count,
            lanes.join(", ")
        );
        self.result(inst, &text)
    }

    fn promote_low(&mut self, inst: Inst) -> Printing<bool> {
        let x = self.args(inst)[0];
        let (ty, half) = self.half(x, 0)?;
        self.hidden(inst, &format!("fpext {ty} {half} to <2 x double>"))
    }

    fn demote_zero(&mut self, inst: Inst) -> Printing<bool> {
        let x = self.args(inst)[0];
        let x = self.concealed(x)?;
        let half = self.temp(&format!("fptrunc <2 x double> {x} to <2 x float>"));
        let text = format!(
            "shufflevector <2 x float> {half}, <2 x float> zeroinitializer, \
             <4 x i32> <i32 0, i32 1, i32 2, i32 3>"
        );
        self.hidden(inst, &text)
    }

    /// A float, or a vector of them, as one that LLVM does not know.
    pub(super) fn concealed(&mut self, x: Value) -> Printing<String> {
        let (ty, text) = (self.name(x)?, self.op(x));
        Ok(self.temp(&format!("call {ty} asm \"\", \"=x,0\"({ty} {text}) #3")))
    }

    /// The operands of arithmetic on vectors of floats.
    pub(super) fn lanes(&mut self, inst: Inst) -> Printing<Vec<String>> {
        let mut texts = Vec::new();
        for arg in self.args(inst) {
            texts.push(match self.settled.contains(&arg) {
                true => self.op(arg),
                false => self.concealed(arg)?,
            });
        }
        self.settled.insert(self.func.dfg.first_result(inst));
        Ok(texts)
    }

    fn extending_load(&mut self, inst: Inst, extend: &str) -> Printing<bool> {
        let part = match self.result_ty(inst) {
            types::I16X8 => types::I8X8,
            types::I32X4 => types::I16X4,
            types::I64X2 => types::I32X2,
            _ => return unknown("a load of other lanes"),
        };
        let ty = match part {
            types::I8X8 => "<8 x i8>",
            types::I16X4 => "<4 x i16>",
            _ => "<2 x i32>",
        };
        let loaded = self.load_whole(inst, types::I64)?;
        let lanes = self.temp(&format!("bitcast i64 {loaded} to {ty}"));
        let to = name_of(self.result_ty(inst))?;
        let text = format!("{extend} {ty} {lanes} to {to}");
        match self.around.precision {
            Precision::Loaded => self.hidden(inst, &text),
            _ => self.result(inst, &text),
        }
    }
}
