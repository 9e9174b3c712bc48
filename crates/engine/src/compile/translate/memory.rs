//! Memory instructions of the scalar types (core specification §4.4.7) and
//! bulk memory.
//!
//! Where an access goes and what checks it is the memory plan's business; here
//! it only gets its width, its offset and its flags.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use wasmparser::{MemArg, MemArgTarget, Operator};

use super::Translator;
use crate::bounds::{Access, BlockEnd, HostAddress, Site, Touch, begin_check, end_check};
use crate::facts::libcall::Libcall;
use crate::facts::trap;
use crate::facts::vmctx::Counter;
use types::{F32, F64, I32, I64};

/// The memory that an access names.
pub(super) fn memory_index(memarg: &MemArg) -> u32 {
    match memarg.target {
        MemArgTarget::Memory(index) => index,
        // The validator refuses accesses to arrays with the features we allow.
        MemArgTarget::Array(_) => unreachable!("validated: an access to a memory"),
    }
}

/// log2 of the bytes of a Wasm page.
const PAGE_SHIFT: i64 = 16;

/// Loads through `$method`, which extends to `$ty`.
macro_rules! extending_load {
    ($t:ident, $memarg:expr, $width:expr, $method:ident($($ty:expr)?)) => {{
        let at = $t.load_address($memarg, $width);
        let value = $t.b.ins().$method($($ty,)? at.flags, at.address, at.displacement);
        $t.push(value);
    }};
}

/// Stores the low bytes through `$method`.
macro_rules! narrow_store {
    ($t:ident, $memarg:expr, $width:expr, $method:ident) => {{
        let value = $t.pop();
        let at = $t.store_address($memarg, $width);
        $t.b.ins()
            .$method(at.flags, value, at.address, at.displacement);
    }};
}

impl Translator<'_> {
    /// Translates a load or a store of a scalar; `false` when it is not one.
    pub(super) fn memory_access(&mut self, op: &Operator<'_>) -> bool {
        use Operator as O;
        match op {
            O::I32Load { memarg } => self.load(memarg, I32),
            O::I64Load { memarg } => self.load(memarg, I64),
            O::F32Load { memarg } => self.load(memarg, F32),
            O::F64Load { memarg } => self.load(memarg, F64),
            O::I32Load8S { memarg } => extending_load!(self, memarg, 1, sload8(I32)),
            O::I32Load8U { memarg } => extending_load!(self, memarg, 1, uload8(I32)),
            O::I32Load16S { memarg } => extending_load!(self, memarg, 2, sload16(I32)),
            O::I32Load16U { memarg } => extending_load!(self, memarg, 2, uload16(I32)),
            O::I64Load8S { memarg } => extending_load!(self, memarg, 1, sload8(I64)),
            O::I64Load8U { memarg } => extending_load!(self, memarg, 1, uload8(I64)),
            O::I64Load16S { memarg } => extending_load!(self, memarg, 2, sload16(I64)),
            O::I64Load16U { memarg } => extending_load!(self, memarg, 2, uload16(I64)),
            O::I64Load32S { memarg } => extending_load!(self, memarg, 4, sload32()),
            O::I64Load32U { memarg } => extending_load!(self, memarg, 4, uload32()),
            O::I32Store { memarg } | O::F32Store { memarg } => self.store(memarg, 4),
            O::I64Store { memarg } | O::F64Store { memarg } => self.store(memarg, 8),
            O::I32Store8 { memarg } | O::I64Store8 { memarg } => {
                narrow_store!(self, memarg, 1, istore8)
            }
            O::I32Store16 { memarg } | O::I64Store16 { memarg } => {
                narrow_store!(self, memarg, 2, istore16)
            }
            O::I64Store32 { memarg } => narrow_store!(self, memarg, 4, istore32),
            _ => return false,
        }
        true
    }

    /// Translates bulk memory, growth, and what is done to tables; `false` when
    /// it is neither.
    pub(super) fn bulk(&mut self, op: &Operator<'_>) -> bool {
        match *op {
            Operator::MemorySize { mem } => self.memory_size(mem),
            Operator::MemoryGrow { mem } => self.memory_grow(mem),
            Operator::MemoryFill { mem } => self.memory_fill(mem),
            Operator::MemoryCopy { dst_mem, src_mem } => self.memory_copy(dst_mem, src_mem),
            Operator::MemoryInit { data_index, mem } => {
                self.segment_to_item(Libcall::MemoryInit, mem, data_index);
            }
            Operator::DataDrop { data_index } => {
                let segment = self.b.ins().iconst(I32, i64::from(data_index));
                self.libcall(Libcall::DataDrop, &[segment]);
            }
            _ => return self.table(op),
        }
        true
    }

    /// Pops an index and has the memory's plan say where a load of `width` bytes
    /// comes from.
    pub(super) fn load_address(&mut self, memarg: &MemArg, width: u8) -> HostAddress {
        self.count_access(&[Counter::Loads]);
        self.host_address(memarg, width)
    }

    /// Pops an index and has the memory's plan say where an access of `width`
    /// bytes goes.
    pub(super) fn host_address(&mut self, memarg: &MemArg, width: u8) -> HostAddress {
        let index = self.pop();
        let memory = memory_index(memarg);
        let (base, def) = self.memory_addresses(memory);
        let access = Access {
            index,
            memory64: self.memory64(memory),
            offset: memarg.offset,
            width,
            base,
            def,
            cell_flags: self.cell_flags(),
            heap_flags: self.heap_flags(memory),
        };
        let plan = self.env.module.plans[memory as usize];
        if plan.is_checked_by_call() {
            self.checked_by_call(memory, &access);
        }
        let start = BlockEnd::of(&self.b);
        let at = plan.emit_address(&mut self.b, &access);
        if let Some(site) = Site::since(start, &self.b, memory, &access) {
            self.note_site(site);
        }
        if self.keeps_touches()
            && let Some(touch) = Touch::since(start, &self.b, memory, index, &access, &at)
        {
            self.note_touch(touch);
        }
        at
    }

    /// Has a runtime function check an access.
    fn checked_by_call(&mut self, memory: u32, access: &Access) {
        let outside = begin_check(&mut self.b);
        let index = match self.b.func.dfg.value_type(access.index) {
            I64 => access.index,
            _ => self.b.ins().uextend(I64, access.index),
        };
        let memory = self.b.ins().iconst(I32, i64::from(memory));
        let offset = self.b.ins().iconst(I64, access.offset.cast_signed());
        let width = self.b.ins().iconst(I32, i64::from(access.width));
        self.trapping_libcall(Libcall::CheckAccess, &[memory, index, offset, width]);
        end_check(&mut self.b, outside);
    }

    /// As [`Self::load_address`], for a store.
    fn store_address(&mut self, memarg: &MemArg, width: u8) -> HostAddress {
        self.count_access(&[Counter::Stores]);
        let at = self.host_address(memarg, width);
        let plan = self.env.module.plans[memory_index(memarg) as usize];
        plan.emit_before_store(&mut self.b, &at, width);
        at
    }

    /// In front of a loop: what its accesses to the first memory share.
    pub(super) fn before_loop(&mut self) {
        if let Some(plan) = self.env.module.plans.first() {
            let (_, def) = self.memory_addresses(0);
            let flags = self.cell_flags();
            plan.emit_loop_entry(&mut self.b, def, flags);
        }
    }

    /// Loads a whole value of `ty`.
    pub(super) fn load(&mut self, memarg: &MemArg, ty: Type) {
        let value = self.load_value(memarg, ty);
        self.push(value);
    }

    /// Loads a whole value of `ty` without pushing it.
    pub(super) fn load_value(&mut self, memarg: &MemArg, ty: Type) -> Value {
        let at = self.load_address(memarg, ty.bytes() as u8);
        self.b.ins().load(ty, at.flags, at.address, at.displacement)
    }

    /// Stores a whole value of `width` bytes.
    pub(super) fn store(&mut self, memarg: &MemArg, width: u8) {
        let value = self.pop();
        self.store_value(memarg, width, value);
    }

    /// Stores `value`, of `width` bytes.
    pub(super) fn store_value(&mut self, memarg: &MemArg, width: u8, value: Value) {
        let at = self.store_address(memarg, width);
        self.b
            .ins()
            .store(at.flags, value, at.address, at.displacement);
    }

    /// Current size in pages.
    fn memory_size(&mut self, memory: u32) {
        let bytes = self.memory_bytes(memory);
        let pages = self.b.ins().ushr_imm_u(bytes, PAGE_SHIFT);
        let pages = self.index_result(pages, self.memory64(memory));
        self.push(pages);
    }

    /// Whether a memory has 64-bit indices.
    pub(super) fn memory64(&self, memory: u32) -> bool {
        self.env.module.info.memories[memory as usize].memory64
    }

    /// An i64 of the runtime as an index type's number.
    pub(super) fn index_result(&mut self, value: Value, is_64: bool) -> Value {
        match is_64 {
            true => value,
            false => self.b.ins().ireduce(I32, value),
        }
    }

    /// Raises the trap that a growth has left, where its answer says so.
    pub(super) fn trap_if_pending(&mut self, old: Value) {
        let pending = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, old, -1);
        self.b.ins().trapnz(pending, trap::PENDING);
    }

    fn memory_grow(&mut self, memory: u32) {
        self.count(Counter::Growths);
        let delta = self.pop_extended();
        let index = self.b.ins().iconst(I32, i64::from(memory));
        let old = self.libcall(Libcall::MemoryGrow, &[index, delta]);
        let old = old.expect("growth returns a size");
        self.trap_if_pending(old);
        let old = self.index_result(old, self.memory64(memory));
        self.push(old);
    }
}
