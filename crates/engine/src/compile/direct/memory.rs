//! Loads and stores of the scalar types (core specification §4.4.7).
//!
//! Where an access goes is decided by the memory's plan; here it becomes the operand of the
//! instruction that accesses.

use cranelift_assembler_x64::Scale;
use cranelift_codegen::ir::TrapCode;
use wasmparser::{MemArg, MemArgTarget, Operator};

use super::Generator;
use super::check::{Check, Number};
use super::code::emit;
use super::locals::Storage;
use super::registers::{BASE, CONTEXT, Gpr, Mem, Rm, SCRATCH, at, indexed, trapping};
use super::table::Argument;
use super::values::{Kind, Place, Value, immediate};
use crate::bounds::check::Span;
use crate::bounds::check_location;
use crate::facts::libcall::Libcall;

/// How what is loaded becomes an operand.
#[derive(Clone, Copy)]
enum Load {
    Whole,
    Signed,
    Unsigned,
}

/// An operand in memory, and the register in it that is to be given back.
pub(super) struct Address {
    pub operand: Mem,
    index: Option<Gpr>,
}

/// The memory that an access names.
pub(super) fn memory_of(memarg: &MemArg) -> u32 {
    match memarg.target {
        MemArgTarget::Memory(index) => index,
        MemArgTarget::Array(_) => unreachable!("validated: an access to a memory"),
    }
}

impl Generator<'_> {
    /// Translates a load or a store; `false` when it is none.
    pub(super) fn memory_access(&mut self, op: &Operator<'_>) -> bool {
        use Kind::{F32, F64, I32, I64};
        use Load::{Signed, Unsigned, Whole};
        use Operator as O;
        match op {
            O::I32Load { memarg } => self.load(memarg, I32, Whole, 4),
            O::I64Load { memarg } => self.load(memarg, I64, Whole, 8),
            O::F32Load { memarg } => self.load(memarg, F32, Whole, 4),
            O::F64Load { memarg } => self.load(memarg, F64, Whole, 8),
            O::I32Load8S { memarg } => self.load(memarg, I32, Signed, 1),
            O::I32Load8U { memarg } => self.load(memarg, I32, Unsigned, 1),
            O::I32Load16S { memarg } => self.load(memarg, I32, Signed, 2),
            O::I32Load16U { memarg } => self.load(memarg, I32, Unsigned, 2),
            O::I64Load8S { memarg } => self.load(memarg, I64, Signed, 1),
            O::I64Load8U { memarg } => self.load(memarg, I64, Unsigned, 1),
            O::I64Load16S { memarg } => self.load(memarg, I64, Signed, 2),
            O::I64Load16U { memarg } => self.load(memarg, I64, Unsigned, 2),
            O::I64Load32S { memarg } => self.load(memarg, I64, Signed, 4),
            O::I64Load32U { memarg } => self.load(memarg, I64, Unsigned, 4),
            O::I32Store { memarg } | O::F32Store { memarg } => self.store(memarg, 4),
            O::I64Store { memarg } | O::F64Store { memarg } => self.store(memarg, 8),
            O::I32Store8 { memarg } | O::I64Store8 { memarg } => self.store(memarg, 1),
            O::I32Store16 { memarg } | O::I64Store16 { memarg } => self.store(memarg, 2),
            O::I64Store32 { memarg } => self.store(memarg, 4),
            _ => return false,
        }
        true
    }

    /// Loads so many bytes and extends them by zeros.
    pub(super) fn load_unsigned(&mut self, memarg: &MemArg, kind: Kind, bytes: u8) {
        let how = match (kind.is_wide(), bytes) {
            (false, 4) | (_, 8) => Load::Whole,
            _ => Load::Unsigned,
        };
        self.load(memarg, kind, how, bytes);
    }

    fn load(&mut self, memarg: &MemArg, kind: Kind, how: Load, bytes: u8) {
        self.checked_by_call(memarg, bytes, 0);
        // First, so that an index in the local of the result need not wait elsewhere.
        let index = self.pop();
        let local = self.result_local(kind, None);
        let at = self.address(index, memarg, bytes);
        let from = at.operand;
        if let Some(index) = at.index {
            self.free.give(index);
        }
        if kind.is_in_xmm() {
            let to = self.result_xmm(local);
            match kind.is_wide() {
                true => emit!(self.code, movsd_a_m(to, from)),
                false => emit!(self.code, movss_a_m(to, from)),
            }
            return self.push_result(kind, local, Place::Xmm(to));
        }
        let to = self.result(local);
        let rm = Rm::Mem(from);
        match (how, bytes, kind.is_wide()) {
            (Load::Signed, 1, false) => emit!(self.code, movsbl_rm(to, rm)),
            (Load::Signed, 1, true) => emit!(self.code, movsbq_rm(to, rm)),
            (Load::Signed, 2, false) => emit!(self.code, movswl_rm(to, rm)),
            (Load::Signed, 2, true) => emit!(self.code, movswq_rm(to, rm)),
            (Load::Signed, ..) => emit!(self.code, movslq_rm(to, rm)),
            (Load::Unsigned, 1, _) => emit!(self.code, movzbl_rm(to, rm)),
            (Load::Unsigned, 2, _) => emit!(self.code, movzwl_rm(to, rm)),
            (Load::Unsigned, ..) | (Load::Whole, _, false) => emit!(self.code, movl_rm(to, rm)),
            (Load::Whole, _, true) => emit!(self.code, movq_rm(to, rm)),
        }
        self.push_result(kind, local, Place::Gpr(to));
    }

    pub(super) fn store(&mut self, memarg: &MemArg, bytes: u8) {
        self.checked_by_call(memarg, bytes, 1);
        let value = self.pop();
        let index = self.pop();
        if value.kind.is_in_xmm() {
            let (from, value) = self.read_xmm(value);
            let at = self.address(index, memarg, bytes);
            match bytes {
                8 => emit!(self.code, movsd_c_m(at.operand, from)),
                _ => emit!(self.code, movss_c_m(at.operand, from)),
            }
            self.release(value);
            return self.done_with(&at);
        }
        if let Some(bits) = immediate(value) {
            let at = self.address(index, memarg, bytes);
            let rm = Rm::Mem(at.operand);
            match bytes {
                1 => emit!(self.code, movb_mi(rm, bits as u8)),
                2 => emit!(self.code, movw_mi(rm, bits as u16)),
                4 => emit!(self.code, movl_mi(rm, bits)),
                _ => emit!(self.code, movq_mi_sxl(rm, bits)),
            }
            return self.done_with(&at);
        }
        let (from, value) = self.read(value);
        let at = self.address(index, memarg, bytes);
        let rm = Rm::Mem(at.operand);
        match bytes {
            1 => emit!(self.code, movb_mr(rm, from)),
            2 => emit!(self.code, movw_mr(rm, from)),
            4 => emit!(self.code, movl_mr(rm, from)),
            _ => emit!(self.code, movq_mr(rm, from)),
        }
        self.release(value);
        self.done_with(&at);
    }

    pub(super) fn done_with(&mut self, at: &Address) {
        if let Some(index) = at.index {
            self.free.give(index);
        }
    }

    /// Has the memory's plan say where an access at a popped index goes.
    pub(super) fn address(&mut self, index: Value, memarg: &MemArg, width: u8) -> Address {
        let memory = memory_of(memarg);
        let memory64 = self.env.info.memories[memory as usize].memory64;
        let number = self.extended_index(index);
        let location = self.code.location();
        self.code.locate(check_location(location));
        let plan = self.env.plans[memory as usize];
        let mut check = Check::new(self, memory, number);
        let span = Span {
            index: Check::INDEX,
            memory64,
            offset: memarg.offset,
            width,
        };
        let target = plan.emit_check(&mut check, &span);
        let number = check.number(target.index);
        check.finish(match number {
            Number::Gpr(gpr) => Some(gpr),
            _ => None,
        });
        self.code.locate(location);
        let address = self.address_of(memory, number, target.offset);
        match target.may_fault {
            true => Address {
                operand: trapping(address.operand, TrapCode::HEAP_OUT_OF_BOUNDS),
                ..address
            },
            false => address,
        }
    }

    /// An index of 64 bits, which a local may have. That of a 32-bit memory is extended here,
    /// whatever is said of it: the reservation rests on it.
    fn extended_index(&mut self, index: Value) -> Number {
        match (index.place, index.kind) {
            (Place::Constant(bits), Kind::I32) => Number::Constant(u64::from(bits as u32)),
            (Place::Constant(bits), _) => Number::Constant(bits),
            (Place::Local(local), Kind::I64) if let Storage::Gpr(gpr) = self.storage(local) => {
                Number::Local(gpr)
            }
            (place, kind) => {
                let gpr = self.own(index);
                if let (Place::Gpr(_), Kind::I32) = (place, kind) {
                    emit!(self.code, movl_rm(gpr, Rm::Gpr(gpr)));
                }
                Number::Gpr(gpr)
            }
        }
    }

    /// `base + i + o`, as an operand.
    fn address_of(&mut self, memory: u32, index: Number, offset: u64) -> Address {
        let is_local = matches!(index, Number::Local(_));
        let (index, displacement) = match (index, i32::try_from(offset)) {
            (Number::Gpr(gpr) | Number::Local(gpr), Ok(displacement)) => (Some(gpr), displacement),
            (Number::Local(gpr), Err(_)) => {
                let sum = self.take();
                self.load_constant(sum, offset);
                emit!(self.code, addq_rm(sum, Rm::Gpr(gpr)));
                return self.address_of(memory, Number::Gpr(sum), 0);
            }
            (Number::Gpr(gpr), Err(_)) => {
                self.load_constant(SCRATCH, offset);
                emit!(self.code, addq_rm(gpr, Rm::Gpr(SCRATCH)));
                (Some(gpr), 0)
            }
            (Number::Constant(bits), _) => {
                let sum = bits.wrapping_add(offset);
                match i32::try_from(sum) {
                    Ok(displacement) => (None, displacement),
                    Err(_) => {
                        let gpr = self.take();
                        self.load_constant(gpr, sum);
                        (Some(gpr), 0)
                    }
                }
            }
            (other, _) => unreachable!("{other:?} is no index"),
        };
        let base = match memory {
            0 => BASE,
            _ => {
                self.load_memory_base(SCRATCH, memory);
                SCRATCH
            }
        };
        let operand = match index {
            Some(index) => indexed(base, index, Scale::One, displacement),
            None => at(base, displacement),
        };
        let index = index.filter(|_| !is_local);
        Address { operand, index }
    }

    pub(super) fn load_memory_base(&mut self, to: Gpr, memory: u32) {
        let place = self.env.layout.memory_base(memory);
        emit!(self.code, movq_rm(to, Rm::Mem(at(CONTEXT, place))));
    }

    /// Has a runtime function check an access whose index is so far below the top.
    pub(super) fn checked_by_call(&mut self, memarg: &MemArg, width: u8, below: usize) {
        let memory = memory_of(memarg);
        if !self.env.plans[memory as usize].is_checked_by_call() {
            return;
        }
        let location = self.code.location();
        self.code.locate(check_location(location));
        let index = self.values.len() - 1 - below;
        self.settle();
        let index = self.values[index];
        let arguments = [
            Argument::Constant(u64::from(memory)),
            Argument::Value(index),
            Argument::Constant(memarg.offset),
            Argument::Constant(u64::from(width)),
        ];
        self.checked_libcall(Libcall::CheckAccess, &arguments);
        self.code.locate(location);
    }
}
