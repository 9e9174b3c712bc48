//! Atomic instructions (threads proposal): loads, stores, read-modify-write,
//! fence, wait and notify.
//!
//! An access that is not naturally aligned traps, whether it is in bounds or
//! not: alignment is checked first, as the proposal's reference interpreter
//! does. Where the access goes and what checks its bounds is the memory plan's
//! business, as for plain ones; memories begin at page boundaries, so that the
//! host's address is aligned when the guest's is.
//!
//! What must stay true: an instruction that can fault has a record of it, or
//! the fault is taken for a defect of the engine. Cranelift's expansions carry
//! the flags' trap code on every faulting instruction on x86-64 (each is one
//! instruction with a memory operand, or a load and a compare-exchange which
//! both record it) and on aarch64 (both halves of exclusive loops do); those
//! of riscv64 drop it. There, a plain load of the same bytes goes first: what
//! is readable is writable and memories never shrink, so that the atomic
//! access cannot fault once the load has not.
//!
//! On aarch64 without its atomic instructions (LSE), Cranelift's loop for a
//! compare-exchange of 32 bits compares whole registers, but an `i32` says
//! nothing about its register's upper half. There, what is expected is extended
//! in a way that no optimisation undoes. On riscv64 its loop for a byte or two
//! loads the word around them once to compare and once more to store, and loses
//! what another thread stored in between: there, the translation makes one of the
//! whole word.
//!
//! Cranelift moves no access across an atomic one or a call, and forgets there
//! what it has loaded (`has_memory_fence_semantics` in its alias analysis): a
//! memory's length that a check uses is at least as new as the last
//! synchronisation with another thread.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AtomicRmwOp, InstBuilder, MemFlagsData, TrapCode, Type, Value, types};
use types::{I8, I16, I32, I64};
use wasmparser::{MemArg, Operator};

use super::Translator;
use super::memory::memory_index;
use crate::compile::has;
use crate::facts::libcall::Libcall;
use crate::facts::trap;
use crate::facts::vmctx::Counter;

/// What an atomic access does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Load,
    Store,
    Rmw(AtomicRmwOp),
    CompareExchange,
}

/// A compare-exchange whose address is checked.
struct Exchange {
    flags: MemFlagsData,
    address: Value,
    expected: Value,
    replacement: Value,
}

/// Where, the type on the operand stack, and the type in memory.
pub(crate) type Shape<'o> = (&'o MemArg, Type, Type);

/// `access`, from a table: a kind, and its operator in each of seven widths.
macro_rules! accesses {
    ($($kind:expr => $i32:ident $i32_8:ident $i32_16:ident
        $i64:ident $i64_8:ident $i64_16:ident $i64_32:ident;)*) => {
        /// What an operator does and how wide, `None` where it is no atomic
        /// access.
        pub(crate) fn access<'o>(op: &'o Operator<'_>) -> Option<(Kind, Shape<'o>)> {
            Some(match op {
                $(
                    Operator::$i32 { memarg } => ($kind, (memarg, I32, I32)),
                    Operator::$i32_8 { memarg } => ($kind, (memarg, I32, I8)),
                    Operator::$i32_16 { memarg } => ($kind, (memarg, I32, I16)),
                    Operator::$i64 { memarg } => ($kind, (memarg, I64, I64)),
                    Operator::$i64_8 { memarg } => ($kind, (memarg, I64, I8)),
                    Operator::$i64_16 { memarg } => ($kind, (memarg, I64, I16)),
                    Operator::$i64_32 { memarg } => ($kind, (memarg, I64, I32)),
                )*
                _ => return None,
            })
        }
    };
}

accesses! {
    Kind::Load => I32AtomicLoad I32AtomicLoad8U I32AtomicLoad16U
        I64AtomicLoad I64AtomicLoad8U I64AtomicLoad16U I64AtomicLoad32U;
    Kind::Store => I32AtomicStore I32AtomicStore8 I32AtomicStore16
        I64AtomicStore I64AtomicStore8 I64AtomicStore16 I64AtomicStore32;
    Kind::Rmw(AtomicRmwOp::Add) => I32AtomicRmwAdd I32AtomicRmw8AddU I32AtomicRmw16AddU
        I64AtomicRmwAdd I64AtomicRmw8AddU I64AtomicRmw16AddU I64AtomicRmw32AddU;
    Kind::Rmw(AtomicRmwOp::Sub) => I32AtomicRmwSub I32AtomicRmw8SubU I32AtomicRmw16SubU
        I64AtomicRmwSub I64AtomicRmw8SubU I64AtomicRmw16SubU I64AtomicRmw32SubU;
    Kind::Rmw(AtomicRmwOp::And) => I32AtomicRmwAnd I32AtomicRmw8AndU I32AtomicRmw16AndU
        I64AtomicRmwAnd I64AtomicRmw8AndU I64AtomicRmw16AndU I64AtomicRmw32AndU;
    Kind::Rmw(AtomicRmwOp::Or) => I32AtomicRmwOr I32AtomicRmw8OrU I32AtomicRmw16OrU
        I64AtomicRmwOr I64AtomicRmw8OrU I64AtomicRmw16OrU I64AtomicRmw32OrU;
    Kind::Rmw(AtomicRmwOp::Xor) => I32AtomicRmwXor I32AtomicRmw8XorU I32AtomicRmw16XorU
        I64AtomicRmwXor I64AtomicRmw8XorU I64AtomicRmw16XorU I64AtomicRmw32XorU;
    Kind::Rmw(AtomicRmwOp::Xchg) => I32AtomicRmwXchg I32AtomicRmw8XchgU I32AtomicRmw16XchgU
        I64AtomicRmwXchg I64AtomicRmw8XchgU I64AtomicRmw16XchgU I64AtomicRmw32XchgU;
    Kind::CompareExchange => I32AtomicRmwCmpxchg I32AtomicRmw8CmpxchgU I32AtomicRmw16CmpxchgU
        I64AtomicRmwCmpxchg I64AtomicRmw8CmpxchgU I64AtomicRmw16CmpxchgU I64AtomicRmw32CmpxchgU;
}

impl Translator<'_> {
    /// Translates an atomic instruction; `false` when it is not one.
    pub(super) fn atomic(&mut self, op: &Operator<'_>) -> bool {
        match op {
            // The format has one order, sequentially consistent, as Cranelift.
            Operator::AtomicFence { .. } => {
                self.b.ins().fence();
            }
            Operator::MemoryAtomicNotify { memarg } => self.atomic_notify(memarg),
            Operator::MemoryAtomicWait32 { memarg } => {
                self.atomic_wait(memarg, Libcall::AtomicWait32);
            }
            Operator::MemoryAtomicWait64 { memarg } => {
                self.atomic_wait(memarg, Libcall::AtomicWait64);
            }
            _ => match access(op) {
                Some((kind, shape)) => self.atomic_access(kind, shape),
                None => return false,
            },
        }
        true
    }

    fn atomic_access(&mut self, kind: Kind, (memarg, stack, memory): Shape<'_>) {
        match kind {
            Kind::Load => {
                let (flags, address) = self.atomic_address(memarg, memory, kind);
                let loaded = self.b.ins().atomic_load(memory, flags, address);
                self.push_widened(loaded, stack);
            }
            Kind::Store => {
                let value = self.pop_narrowed(memory);
                let (flags, address) = self.atomic_address(memarg, memory, kind);
                self.b.ins().atomic_store(flags, value, address);
            }
            Kind::Rmw(op) => {
                let value = self.pop_narrowed(memory);
                let (flags, address) = self.atomic_address(memarg, memory, kind);
                let ins = self.b.ins();
                let old = ins.atomic_rmw(memory, flags, op, address, value);
                self.push_widened(old, stack);
            }
            // What is expected is wrapped to the width in memory, too.
            Kind::CompareExchange => {
                let replacement = self.pop_narrowed(memory);
                let expected = self.pop_narrowed(memory);
                let (flags, address) = self.atomic_address(memarg, memory, kind);
                let exchange = Exchange {
                    flags,
                    address,
                    expected,
                    replacement,
                };
                let old = self.exchange(memory, exchange);
                self.push_widened(old, stack);
            }
        }
    }

    /// Pops an operand and keeps the bits that go to memory.
    fn pop_narrowed(&mut self, memory: Type) -> Value {
        let value = self.pop();
        match self.b.func.dfg.value_type(value) == memory {
            true => value,
            false => self.b.ins().ireduce(memory, value),
        }
    }

    /// Pushes what memory held, zero-extended.
    fn push_widened(&mut self, value: Value, stack: Type) {
        let value = match self.b.func.dfg.value_type(value) == stack {
            true => value,
            false => self.b.ins().uextend(stack, value),
        };
        self.push(value);
    }

    /// Pops an index, checks its alignment and has the memory's plan say where
    /// an access to a `ty` goes; atomic instructions take no displacement.
    fn atomic_address(&mut self, memarg: &MemArg, ty: Type, kind: Kind) -> (MemFlagsData, Value) {
        let bytes = ty.bytes() as u8;
        let index = self.pop();
        self.check_alignment(index, memarg.offset, bytes);
        self.push(index);
        self.count_access(match kind {
            Kind::Load => &[Counter::Loads],
            Kind::Store => &[Counter::Stores],
            Kind::Rmw(_) | Kind::CompareExchange => &[Counter::Loads, Counter::Stores],
        });
        let at = self.host_address(memarg, bytes);
        if at.flags.trap_code().is_some() && self.loses_atomic_traps() {
            let ins = self.b.ins();
            ins.load(ty, at.flags, at.address, at.displacement);
        }
        let address = match at.displacement {
            0 => at.address,
            by => self.b.ins().iadd_imm_s(at.address, i64::from(by)),
        };
        (at.flags, address)
    }

    /// Whether the target's expansions of atomic accesses have no trap record.
    fn loses_atomic_traps(&self) -> bool {
        self.env.module.isa.name() == "riscv64"
    }

    /// Exchanges where what is expected is found; what was there.
    fn exchange(&mut self, ty: Type, mut exchange: Exchange) -> Value {
        match ty {
            I8 | I16 if self.loads_twice() => return self.exchange_in_word(ty, &exchange),
            I32 if self.compares_whole_registers() => {
                exchange.expected = self.clear_upper_half(exchange.expected);
            }
            _ => {}
        }
        let Exchange {
            flags,
            address,
            expected,
            replacement,
        } = exchange;
        let ins = self.b.ins();
        ins.atomic_cas(flags, address, expected, replacement)
    }

    /// Whether the target's compare-exchange of a part of a word loads the word
    /// again, after the comparison, before it stores.
    fn loads_twice(&self) -> bool {
        self.env.module.isa.name() == "riscv64"
    }

    /// A compare-exchange of a byte or two by one of the word around them, again
    /// for as long as others change its other bytes; what was there. Nothing
    /// faults here: the word is in the page of the bytes that were looked at.
    fn exchange_in_word(&mut self, ty: Type, exchange: &Exchange) -> Value {
        let flags = exchange.flags.with_notrap();
        let word = self.b.ins().band_imm_s(exchange.address, !3);
        let byte = self.b.ins().ireduce(I32, exchange.address);
        let byte = self.b.ins().band_imm_u(byte, 3);
        let shift = self.b.ins().ishl_imm_u(byte, 3);
        let bits = self.b.ins().iconst(I32, (1 << ty.bits()) - 1);
        let mask = self.b.ins().ishl(bits, shift);
        let [expected, replacement] = [exchange.expected, exchange.replacement].map(|value| {
            let value = self.b.ins().uextend(I32, value);
            self.b.ins().ishl(value, shift)
        });
        let first = self.b.ins().atomic_load(I32, flags, word);

        let [compare, store, done] = [(); 3].map(|()| self.b.create_block());
        let old = self.b.append_block_param(compare, I32);
        let found = self.b.append_block_param(done, I32);
        self.b.ins().jump(compare, &[first.into()]);

        self.b.switch_to_block(compare);
        let present = self.b.ins().band(old, mask);
        let equal = self.b.ins().icmp(IntCC::Equal, present, expected);
        self.b.ins().brif(equal, store, &[], done, &[old.into()]);

        self.b.switch_to_block(store);
        let others = self.b.ins().band_not(old, mask);
        let new = self.b.ins().bor(others, replacement);
        let seen = self.b.ins().atomic_cas(flags, word, old, new);
        let stored = self.b.ins().icmp(IntCC::Equal, seen, old);
        let (found_old, seen) = ([old.into()], [seen.into()]);
        self.b.ins().brif(stored, done, &found_old, compare, &seen);

        for block in [compare, store, done] {
            self.b.seal_block(block);
        }
        self.b.switch_to_block(done);
        let found = self.b.ins().ushr(found, shift);
        self.b.ins().ireduce(ty, found)
    }

    /// Whether the target's compare-exchange of 32 bits sees 64 of what is expected.
    fn compares_whole_registers(&self) -> bool {
        let isa = self.env.module.isa;
        isa.name() == "aarch64" && !has(isa, "has_lse")
    }

    /// The same `i32` in a register whose upper half is zero. An extension and its
    /// reduction would cancel out; an addition that traps stays, and that of zero
    /// never does.
    fn clear_upper_half(&mut self, value: Value) -> Value {
        let zero = self.b.ins().iconst(I32, 0);
        let code = TrapCode::INTEGER_OVERFLOW;
        self.b.ins().uadd_overflow_trap(value, zero, code)
    }

    /// Traps unless `index + offset` is a multiple of `bytes`, a power of two:
    /// only the low bits matter, so that the sum may wrap.
    fn check_alignment(&mut self, index: Value, offset: u64, bytes: u8) {
        if bytes == 1 {
            return;
        }
        let mask = i64::from(bytes) - 1;
        let low = offset.cast_signed() & mask;
        let start = match low {
            0 => index,
            low => self.b.ins().iadd_imm_s(index, low),
        };
        let excess = self.b.ins().band_imm_u(start, mask);
        self.b.ins().trapnz(excess, trap::UNALIGNED_ATOMIC);
    }

    /// `memory.atomic.wait32` and `wait64`. The runtime checks the address: it
    /// has to find the memory anyway.
    fn atomic_wait(&mut self, memarg: &MemArg, libcall: Libcall) {
        let timeout = self.pop();
        let expected = self.pop();
        let (memory, index, offset) = self.atomic_operands(memarg);
        let args = [memory, index, offset, expected, timeout];
        self.atomic_libcall(libcall, &args);
    }

    fn atomic_notify(&mut self, memarg: &MemArg) {
        let count = self.pop();
        let (memory, index, offset) = self.atomic_operands(memarg);
        let args = [memory, index, offset, count];
        self.atomic_libcall(Libcall::AtomicNotify, &args);
    }

    fn atomic_operands(&mut self, memarg: &MemArg) -> (Value, Value, Value) {
        let index = self.pop_extended();
        let memory = i64::from(memory_index(memarg));
        let memory = self.b.ins().iconst(I32, memory);
        let offset = self.b.ins().iconst(I64, memarg.offset.cast_signed());
        (memory, index, offset)
    }

    /// Pushes the low half of the result, or traps where it is negative.
    fn atomic_libcall(&mut self, libcall: Libcall, args: &[Value]) {
        let result = self.libcall(libcall, args);
        let result = result.expect("waits and notifications return a number");
        let failed = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, result, 0);
        self.b.ins().trapnz(failed, trap::PENDING);
        let result = self.b.ins().ireduce(I32, result);
        self.push(result);
    }
}
