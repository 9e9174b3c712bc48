//! Atomic instructions (threads proposal), in the order of x86-64: a load is a plain one, a store
//! has a fence behind it, and what changes memory has the lock prefix or exchanges, which has it
//! anyway.
//!
//! What must stay true:
//! - Alignment is checked before bounds, as `translate/atomic.rs` says.
//! - Where the check of an access is made, no register that an instruction needs by name has an
//!   operand.

use cranelift_codegen::ir::{AtomicRmwOp, Type};
use wasmparser::{MemArg, Operator};

use super::Generator;
use super::code::{Condition, emit};
use super::integer::Alu;
use super::memory::memory_of;
use super::registers::{Gpr, Mem, RAX, Rm, SCRATCH};
use super::table::Argument;
use super::values::{Kind, Place, Value};
use crate::compile::translate::atomic::{Kind as Access, Shape, access};
use crate::facts::libcall::Libcall;
use crate::facts::trap;

/// An instruction of a width in bytes.
macro_rules! of_bytes {
    ($this:ident, $bytes:expr, $byte:ident $word:ident $long:ident $quad:ident, ($($arg:expr),*)) => {
        match $bytes {
            1 => emit!($this.code, $byte($($arg),*)),
            2 => emit!($this.code, $word($($arg),*)),
            4 => emit!($this.code, $long($($arg),*)),
            _ => emit!($this.code, $quad($($arg),*)),
        }
    };
}

impl Generator<'_> {
    /// Translates an atomic instruction; `false` when it is none.
    pub(super) fn atomic(&mut self, op: &Operator<'_>) -> bool {
        match op {
            Operator::AtomicFence { .. } => self.fence(),
            Operator::MemoryAtomicNotify { memarg } => {
                let [index, count] = self.pop_settled();
                self.atomic_libcall(Libcall::AtomicNotify, memarg, index, &[count]);
            }
            Operator::MemoryAtomicWait32 { memarg } => {
                let [index, expected, timeout] = self.pop_settled();
                self.atomic_libcall(Libcall::AtomicWait32, memarg, index, &[expected, timeout]);
            }
            Operator::MemoryAtomicWait64 { memarg } => {
                let [index, expected, timeout] = self.pop_settled();
                self.atomic_libcall(Libcall::AtomicWait64, memarg, index, &[expected, timeout]);
            }
            _ => match access(op) {
                Some((kind, shape)) => self.atomic_access(kind, shape),
                None => return false,
            },
        }
        true
    }

    fn fence(&mut self) {
        cranelift_assembler_x64::inst::mfence_zo::new().encode(&mut self.code);
    }

    fn atomic_access(&mut self, access: Access, (memarg, stack, memory): Shape<'_>) {
        let bytes = memory.bytes() as u8;
        let kind = kind_of(stack);
        match access {
            Access::Load => {
                self.check_alignment(memarg, bytes, 0);
                self.load_unsigned(memarg, kind, bytes);
            }
            Access::Store => {
                self.check_alignment(memarg, bytes, 1);
                self.store(memarg, bytes);
                self.fence();
            }
            Access::Rmw(op) => {
                self.check_alignment(memarg, bytes, 1);
                self.checked_by_call(memarg, bytes, 1);
                self.modify(op, memarg, kind, bytes);
            }
            Access::CompareExchange => {
                self.check_alignment(memarg, bytes, 2);
                self.checked_by_call(memarg, bytes, 2);
                self.compare_exchange(memarg, kind, bytes);
            }
        }
    }

    /// Traps unless the index so far below the top and the offset add up to a multiple of
    /// `bytes`: only the low bits matter, so that the sum may wrap.
    fn check_alignment(&mut self, memarg: &MemArg, bytes: u8, below: usize) {
        if bytes == 1 {
            return;
        }
        let mask = i32::from(bytes) - 1;
        let low = memarg.offset as i32 & mask;
        let index = self.values[self.values.len() - 1 - below];
        self.load_gpr(SCRATCH, index);
        if low != 0 {
            self.alu_immediate(Alu::Add, false, Rm::Gpr(SCRATCH), low);
        }
        self.alu_immediate(Alu::And, false, Rm::Gpr(SCRATCH), mask);
        let unaligned = trap::UNALIGNED_ATOMIC;
        self.code.trap_if(Condition::NotEqual, unaligned);
    }

    /// Changes what is in memory by a popped operand and pushes what was there.
    fn modify(&mut self, op: AtomicRmwOp, memarg: &MemArg, kind: Kind, bytes: u8) {
        let alu = match op {
            AtomicRmwOp::And => Some(Alu::And),
            AtomicRmwOp::Or => Some(Alu::Or),
            AtomicRmwOp::Xor => Some(Alu::Xor),
            _ => None,
        };
        if let Some(alu) = alu {
            return self.modify_by_exchanges(alu, memarg, kind, bytes);
        }
        let value = self.pop();
        let index = self.pop();
        let by = self.own(value);
        if let AtomicRmwOp::Sub = op {
            emit!(self.code, negq_m(Rm::Gpr(by)));
        }
        let at = self.address(index, memarg, bytes);
        match op {
            AtomicRmwOp::Xchg => {
                of_bytes!(self, bytes, xchgb_rm xchgw_rm xchgl_rm xchgq_rm, (by, at.operand));
            }
            _ => {
                of_bytes!(self, bytes,
                    lock_xaddb_mr lock_xaddw_mr lock_xaddl_mr lock_xaddq_mr, (at.operand, by));
            }
        }
        self.done_with(&at);
        self.zero_extend(by, bytes);
        self.push_gpr(kind, by);
    }

    /// The same by exchanges, one after the other until nothing else came between.
    fn modify_by_exchanges(&mut self, alu: Alu, memarg: &MemArg, kind: Kind, bytes: u8) {
        let value = self.pop_beside_rax();
        let index = self.pop_beside_rax();
        self.take_this(RAX);
        let (by, value) = self.read(value);
        let new = self.take();
        let at = self.address(index, memarg, bytes);
        let old = Rm::Mem(at.operand);
        of_bytes!(self, bytes, movzbl_rm movzwl_rm movl_rm movq_rm, (RAX, old));
        let again = self.code.label();
        self.code.bind(again);
        emit!(self.code, movq_rm(new, Rm::Gpr(RAX)));
        self.alu(alu, true, new, Rm::Gpr(by));
        self.exchange_if_rax(at.operand, new, bytes);
        self.code.jump_if(Condition::NotEqual, again);
        self.done_with(&at);
        self.free.give(new);
        self.release(value);
        self.push_gpr(kind, RAX);
    }

    /// Stores a popped operand where memory has what is expected; pushes what was there.
    fn compare_exchange(&mut self, memarg: &MemArg, kind: Kind, bytes: u8) {
        let replacement = self.pop_beside_rax();
        let expected = self.pop();
        let index = self.pop_beside_rax();
        if expected.place != Place::Gpr(RAX) {
            self.take_this(RAX);
            self.load_gpr(RAX, expected);
            self.release(expected);
        }
        let (new, replacement) = self.read(replacement);
        let at = self.address(index, memarg, bytes);
        self.exchange_if_rax(at.operand, new, bytes);
        self.done_with(&at);
        self.release(replacement);
        self.zero_extend(RAX, bytes);
        self.push_gpr(kind, RAX);
    }

    /// Compares with rax, which then has what was there; the flags say whether it was equal.
    fn exchange_if_rax(&mut self, at: Mem, new: Gpr, bytes: u8) {
        of_bytes!(self, bytes,
            lock_cmpxchgb_mr lock_cmpxchgw_mr lock_cmpxchgl_mr lock_cmpxchgq_mr, (at, new, RAX));
    }

    /// Pops an operand that is not in rax.
    fn pop_beside_rax(&mut self) -> Value {
        let value = self.pop();
        if value.place != Place::Gpr(RAX) {
            return value;
        }
        let gpr = self.take();
        emit!(self.code, movq_rm(gpr, Rm::Gpr(RAX)));
        self.free.give(RAX);
        let place = Place::Gpr(gpr);
        Value { place, ..value }
    }

    /// Only so many bytes of a register are what memory had.
    fn zero_extend(&mut self, gpr: Gpr, bytes: u8) {
        match bytes {
            1 => emit!(self.code, movzbl_rm(gpr, Rm::Gpr(gpr))),
            2 => emit!(self.code, movzwl_rm(gpr, Rm::Gpr(gpr))),
            4 => emit!(self.code, movl_rm(gpr, Rm::Gpr(gpr))),
            _ => {}
        }
    }

    /// Has the runtime wait or notify: it checks the address, as it has to find the memory anyway.
    fn atomic_libcall(
        &mut self,
        libcall: Libcall,
        memarg: &MemArg,
        index: Argument,
        others: &[Argument],
    ) {
        let memory = Argument::Constant(memory_of(memarg).into());
        let offset = Argument::Constant(memarg.offset);
        let arguments = [&[memory, index, offset], others].concat();
        self.libcall(libcall, &arguments);
        self.free.take(RAX);
        emit!(self.code, testq_mr(Rm::Gpr(RAX), RAX));
        self.code.trap_if(Condition::Sign, trap::PENDING);
        emit!(self.code, movl_rm(RAX, Rm::Gpr(RAX)));
        self.push_gpr(Kind::I32, RAX);
    }
}

fn kind_of(ty: Type) -> Kind {
    match ty.bits() {
        64 => Kind::I64,
        _ => Kind::I32,
    }
}
