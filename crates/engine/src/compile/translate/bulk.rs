//! `memory.copy` and `memory.fill`: checked in the code, and done there where they are
//! small.
//!
//! ```text
//!  both ranges inside, and short? ── no ──► the runtime function on indices: it raises the
//!        │ yes                              trap, or finds that another thread has grown the
//!        │                                  memory; behind what took long it looks for an interrupt
//!        ├ a constant length up to IN_PLACE_BYTES: loads, and then stores
//!        └ else the runtime function on addresses, which checks nothing
//! ```
//!
//! What must stay true: under every strategy a copy or a fill out of bounds traps before
//! a byte is written (core specification §4.4.7), and no strategy has a say in what is
//! in bounds: it is the length that the memory has. All loads come before the first
//! store, for the ranges may overlap. Ahead of the check an address is null, or within
//! the reservation: see `bounds/spectre.rs`.
//!
//! Bytes that threads share are copied in place as compiled code copies any, and else by
//! the runtime function on indices, which knows that they are shared. So are those of
//! locked code: what is outside of the lock takes no address from inside.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, TrapCode, Type, Value, types};
use smallvec::{SmallVec, smallvec};

use super::Translator;
use crate::facts::libcall::Libcall;
use crate::facts::vmctx::offsets;

/// The longest copy or fill that is done in place.
const IN_PLACE_BYTES: u64 = 128;
/// A length that takes a hundred nanoseconds.
const LONG_BYTES: i64 = 4096;

/// The widest access: instruction sets whose vectors may be missing use words.
const WIDEST: u64 = if cfg!(target_arch = "riscv64") { 8 } else { 16 };

/// The accesses of a short range: types, and offsets from its start.
type Pieces = SmallVec<[(Type, i32); 16]>;

/// Conditions under which a range is not inside its memory.
type Outside = SmallVec<[Value; 2]>;

/// A range of bytes of a memory: its index and its length are i64.
#[derive(Clone, Copy)]
struct Span {
    memory: u32,
    start: Value,
    len: Value,
}

/// How bytes are moved that are in bounds.
enum Way {
    /// By accesses in the code.
    InPlace(Pieces),
    /// By a runtime function on addresses.
    Addresses,
    /// By a runtime function on indices, which checks them again.
    Indices,
}

impl Translator<'_> {
    /// `memory.copy`
    pub(super) fn memory_copy(&mut self, to: u32, from: u32) {
        let len = self.pop();
        let constant = self.length_of(len);
        let len = self.extended(len);
        let [start, target] = [self.pop_extended(), self.pop_extended()];
        let source = Span {
            memory: from,
            start,
            len,
        };
        let target = Span {
            memory: to,
            start: target,
            len,
        };
        self.fuel_for_bytes(len);
        let indices = |t: &mut Self| {
            let [to, from] = [to, from].map(|index| t.b.ins().iconst(types::I32, i64::from(index)));
            let args = [to, target.start, from, source.start, len];
            t.trapping_libcall(Libcall::MemoryCopy, &args);
        };
        match self.way(&[to, from], constant) {
            Way::Indices => indices(self),
            Way::InPlace(pieces) => {
                let [to_outside, from_outside] = [target, source].map(|span| self.outside(&span));
                let done = self.where_inside(&[&to_outside, &from_outside], indices);
                let from_flags = self.bulk_flags(from);
                let to_flags = self.bulk_flags(to);
                let source = self.address(&source, &from_outside, constant);
                let target = self.address(&target, &to_outside, constant);
                let load = |&(ty, at): &(Type, i32)| self.b.ins().load(ty, from_flags, source, at);
                let values: SmallVec<[Value; 16]> = pieces.iter().map(load).collect();
                for (value, (_, at)) in values.into_iter().zip(pieces) {
                    self.b.ins().store(to_flags, value, target, at);
                }
                self.meet_again(done);
            }
            Way::Addresses => {
                let [to_outside, from_outside] = [target, source].map(|span| self.outside(&span));
                let long = self.long(len);
                let done = self.where_inside(&[&to_outside, &from_outside, &long], indices);
                let source = self.address(&source, &from_outside, constant);
                let target = self.address(&target, &to_outside, constant);
                self.libcall(Libcall::MoveBytes, &[target, source, len]);
                self.meet_again(done);
            }
        }
    }

    /// `memory.fill`
    pub(super) fn memory_fill(&mut self, memory: u32) {
        let len = self.pop();
        let constant = self.length_of(len);
        let len = self.extended(len);
        let value = self.pop();
        let start = self.pop_extended();
        let span = Span { memory, start, len };
        self.fuel_for_bytes(len);
        let indices = |t: &mut Self| {
            let memory = t.b.ins().iconst(types::I32, i64::from(memory));
            t.trapping_libcall(Libcall::MemoryFill, &[memory, start, value, len]);
        };
        match self.way(&[memory], constant) {
            Way::Indices => indices(self),
            Way::InPlace(pieces) => {
                let outside = self.outside(&span);
                let done = self.where_inside(&[&outside], indices);
                let flags = self.bulk_flags(memory);
                let address = self.address(&span, &outside, constant);
                let byte = self.b.ins().ireduce(types::I8, value);
                for (ty, at) in pieces {
                    let value = self.filled(ty, byte);
                    self.b.ins().store(flags, value, address, at);
                }
                self.meet_again(done);
            }
            Way::Addresses => {
                let outside = self.outside(&span);
                let long = self.long(len);
                let done = self.where_inside(&[&outside, &long], indices);
                let address = self.address(&span, &outside, constant);
                self.libcall(Libcall::FillBytes, &[address, value, len]);
                self.meet_again(done);
            }
        }
    }

    /// How bytes of these memories are moved.
    fn way(&self, memories: &[u32], constant: Option<u64>) -> Way {
        let mut plans = memories
            .iter()
            .map(|memory| &self.env.module.plans[*memory as usize]);
        match constant {
            Some(len @ 1..=IN_PLACE_BYTES) => Way::InPlace(pieces(len)),
            _ if plans.any(|plan| plan.shared || plan.is_locked()) => Way::Indices,
            _ => Way::Addresses,
        }
    }

    /// The length that a value is, where it is a constant.
    fn length_of(&self, value: Value) -> Option<u64> {
        let bits = self.constant_of(value)?.cast_unsigned();
        Some(match self.b.func.dfg.value_type(value) {
            types::I32 => bits & u64::from(u32::MAX),
            _ => bits,
        })
    }

    /// Conditions of which one holds where the range is not inside its memory. Computed
    /// without wrapping: indices and lengths of 32 bits are far from that.
    fn outside(&mut self, span: &Span) -> Outside {
        let &Span { memory, start, len } = span;
        let bytes = self.memory_bytes(memory);
        match self.memory64(memory) {
            false => {
                let end = self.b.ins().iadd(start, len);
                let is_behind = self.b.ins().icmp(IntCC::UnsignedGreaterThan, end, bytes);
                smallvec![is_behind]
            }
            true => {
                let is_long = self.b.ins().icmp(IntCC::UnsignedGreaterThan, len, bytes);
                let last = self.b.ins().isub(bytes, len);
                let is_late = self.b.ins().icmp(IntCC::UnsignedGreaterThan, start, last);
                smallvec![is_long, is_late]
            }
        }
    }

    /// Where a length takes long: that is done by functions which look for an interrupt when they
    /// are done. A loop of what is short is soon met in compiled code.
    fn long(&mut self, len: Value) -> Outside {
        let is_long = IntCC::UnsignedGreaterThanOrEqual;
        smallvec![self.b.ins().icmp_imm_u(is_long, len, LONG_BYTES)]
    }

    /// Length in bytes. That of a shared memory is read anew each time: a loop may wait
    /// for another thread to change it.
    pub(super) fn memory_bytes(&mut self, memory: u32) -> Value {
        let (_, def) = self.memory_addresses(memory);
        let flags = self.cell_flags();
        match self.env.module.plans[memory as usize].shared {
            true => {
                let len = self.b.ins().iadd_imm_s(def, i64::from(offsets::MEMORY_LEN));
                self.b.ins().atomic_load(types::I64, flags, len)
            }
            false => {
                let ins = self.b.ins();
                ins.load(types::I64, flags, def, offsets::MEMORY_LEN)
            }
        }
    }

    /// Branches: where something is outside, `otherwise` is done, out of the way. What
    /// is translated next is for the other way, until [`Self::meet_again`].
    fn where_inside(&mut self, outside: &[&Outside], otherwise: impl FnOnce(&mut Self)) -> Block {
        let [slow, done] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(slow);
        // A comparison and a branch each: cheaper than one branch on all.
        for condition in outside.iter().flat_map(|conditions| conditions.iter()) {
            let next = self.b.create_block();
            self.b.ins().brif(*condition, slow, &[], next, &[]);
            self.b.switch_to_block(next);
            self.b.seal_block(next);
        }
        let inside = self.b.current_block().expect("a block is current");
        self.b.switch_to_block(slow);
        self.b.seal_block(slow);
        otherwise(self);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(inside);
        done
    }

    /// Both ways meet again.
    fn meet_again(&mut self, done: Block) {
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        self.b.seal_block(done);
    }

    /// The host's address of a range that is inside, and ahead of the check nothing that
    /// is outside of the reservation.
    fn address(&mut self, span: &Span, outside: &Outside, constant: Option<u64>) -> Value {
        let (base, _) = self.memory_addresses(span.memory);
        let mut address = self.b.ins().iadd(base, span.start);
        let plan = &self.env.module.plans[span.memory as usize];
        let memory64 = self.memory64(span.memory);
        if !constant.is_some_and(|len| plan.reserves_behind(memory64, len)) {
            for condition in outside {
                address = self.guarded(*condition, address);
            }
        }
        address
    }

    /// Flags of accesses that are in bounds. Should one fault, it is taken for one that
    /// was not, instead of for a defect that ends the process.
    fn bulk_flags(&mut self, memory: u32) -> MemFlagsData {
        let flags = self.heap_flags(memory);
        flags.with_trap_code(Some(TrapCode::HEAP_OUT_OF_BOUNDS))
    }

    /// A value of which every byte is `byte`.
    fn filled(&mut self, ty: Type, byte: Value) -> Value {
        if ty == types::I8X16 {
            return self.b.ins().splat(ty, byte);
        }
        let word = self.b.ins().uextend(types::I64, byte);
        let word = self.b.ins().imul_imm_s(word, 0x0101_0101_0101_0101);
        match ty {
            types::I64 => word,
            _ => self.b.ins().ireduce(ty, word),
        }
    }
}

/// As few accesses as there can be; the last one may overlap the one before.
fn pieces(len: u64) -> Pieces {
    let width = WIDEST.min(1 << len.ilog2());
    let ty = match width {
        1 => types::I8,
        2 => types::I16,
        4 => types::I32,
        8 => types::I64,
        _ => types::I8X16,
    };
    let starts = (0..len).step_by(width as usize);
    let fitting = starts.map(|start| start.min(len - width));
    fitting.map(|start| (ty, start as i32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_every_byte_and_no_other() {
        for len in 1..=IN_PLACE_BYTES {
            let mut covered = vec![0; len as usize];
            for (ty, at) in pieces(len) {
                let at = at as usize;
                for byte in &mut covered[at..at + ty.bytes() as usize] {
                    *byte += 1;
                }
            }
            assert!(covered.iter().all(|count| (1..=2).contains(count)), "{len}");
        }
    }
}
