//! Atomic accesses, all of them sequentially consistent and volatile.

use cranelift_codegen::ir::{AtomicRmwOp, Inst, InstructionData, Opcode};

use super::{Printer, Printing, name_of, unknown};

impl Printer<'_> {
    /// Prints an atomic access; `false` when it is not one.
    pub(super) fn atomic(&mut self, inst: Inst) -> Printing<bool> {
        match self.opcode(inst) {
            Opcode::AtomicLoad => self.atomic_load(inst),
            Opcode::AtomicStore => self.atomic_store(inst),
            Opcode::AtomicRmw => self.modify(inst),
            Opcode::AtomicCas => self.exchange_if(inst),
            Opcode::Fence => {
                self.line("fence seq_cst");
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn atomic_load(&mut self, inst: Inst) -> Printing<bool> {
        let ty = self.result_ty(inst);
        let Some((flags, address, offset)) = self.plain(inst) else {
            return Ok(false);
        };
        let access = self.access(flags, address, offset, ty, true)?;
        let (name, pointer, behind) = (name_of(ty)?, access.pointer, access.behind);
        self.result(
            inst,
            &format!("load atomic volatile {name}, {pointer} seq_cst, {behind}"),
        )
    }

    fn atomic_store(&mut self, inst: Inst) -> Printing<bool> {
        let Some((flags, address, offset)) = self.plain(inst) else {
            return Ok(false);
        };
        let value = self.args(inst)[0];
        let (ty, text) = (self.ty(value), self.op(value));
        let access = self.access(flags, address, offset, ty, true)?;
        let (name, pointer, behind) = (name_of(ty)?, access.pointer, access.behind);
        self.line(&format!(
            "store atomic volatile {name} {text}, {pointer} seq_cst, {behind}"
        ));
        Ok(true)
    }

    fn modify(&mut self, inst: Inst) -> Printing<bool> {
        let InstructionData::AtomicRmw { op, .. } = self.func.dfg.insts[inst] else {
            return Ok(false);
        };
        let what = match op {
            AtomicRmwOp::Add => "add",
            AtomicRmwOp::Sub => "sub",
            AtomicRmwOp::And => "and",
            AtomicRmwOp::Or => "or",
            AtomicRmwOp::Xor => "xor",
            AtomicRmwOp::Xchg => "xchg",
            other => return unknown(format!("atomic_rmw {other}")),
        };
        let Some((flags, address, offset)) = self.plain(inst) else {
            return Ok(false);
        };
        let value = self.args(inst)[1];
        let (ty, text) = (self.ty(value), self.op(value));
        let access = self.access(flags, address, offset, ty, true)?;
        let (name, pointer, behind) = (name_of(ty)?, access.pointer, access.behind);
        self.result(
            inst,
            &format!("atomicrmw volatile {what} {pointer}, {name} {text} seq_cst, {behind}"),
        )
    }

    fn exchange_if(&mut self, inst: Inst) -> Printing<bool> {
        let Some((flags, address, offset)) = self.plain(inst) else {
            return Ok(false);
        };
        let args = self.args(inst);
        let ty = self.ty(args[1]);
        let (expected, value) = (self.op(args[1]), self.op(args[2]));
        let access = self.access(flags, address, offset, ty, true)?;
        let (name, pointer, behind) = (name_of(ty)?, access.pointer, access.behind);
        let both = self.temp(&format!(
            "cmpxchg volatile {pointer}, {name} {expected}, {name} {value} seq_cst seq_cst, {behind}"
        ));
        self.result(inst, &format!("extractvalue {{ {name}, i1 }} {both}, 0"))
    }
}
