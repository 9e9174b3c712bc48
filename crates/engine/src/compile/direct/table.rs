//! Tables, references, globals, and what the runtime's functions do.

use cranelift_assembler_x64::Scale;
use cranelift_codegen::ir::TrapCode;
use wasmparser::Operator;

use super::code::{Condition, emit};
use super::integer::Alu;
use super::registers::{C_ARGUMENTS, CONTEXT, Gpr, Mem, RAX, RDI, Rm, SCRATCH, at, indexed};
use super::values::{Kind, Place, Value};
use super::{Generator, Refusal};
use crate::facts::libcall::Libcall;
use crate::facts::module::ConstOp;
use crate::facts::trap;
use crate::facts::vmctx::{self, GlobalPlace, offsets};

/// log2 of the bytes of a Wasm page.
const PAGE_SHIFT: u8 = 16;

/// An argument of a function of the runtime.
#[derive(Clone, Copy)]
pub(super) enum Argument {
    Constant(u64),
    /// An operand in its slot.
    Value(Value),
    /// The number of a type of the module's.
    TypeNumber(u32),
    /// What is in a register that no argument before it is handed over in.
    Gpr(Gpr),
}

impl Generator<'_> {
    /// Translates an instruction on tables, references or globals, or on memories as wholes;
    /// `false` when it is none.
    pub(super) fn table(&mut self, op: &Operator<'_>) -> Result<bool, Refusal> {
        match *op {
            Operator::GlobalGet { global_index } => self.global_get(global_index),
            Operator::GlobalSet { global_index } => self.global_set(global_index),
            Operator::TableGet { table } => {
                let index = self.pop();
                let address = self.element_address(table, index, trap::TABLE_OUT_OF_BOUNDS);
                emit!(self.code, movq_rm(address, Rm::Mem(at(address, 0))));
                self.push_gpr(Kind::I64, address);
            }
            Operator::TableSet { table } => {
                let value = self.pop();
                let from = self.own(value);
                let index = self.pop();
                let address = self.element_address(table, index, trap::TABLE_OUT_OF_BOUNDS);
                emit!(self.code, movq_mr(Rm::Mem(at(address, 0)), from));
                self.free.give(from);
                self.free.give(address);
            }
            Operator::TableSize { table } => self.table_size(table),
            Operator::RefNull { .. } => self.push(Kind::I64, Place::Constant(0)),
            Operator::RefIsNull => {
                let reference = self.pop();
                let operand = self.operand(reference);
                self.alu_immediate(Alu::Compare, true, operand, 0);
                self.release(reference);
                self.push(Kind::I32, Place::Flags(Condition::Equal));
            }
            Operator::RefFunc { function_index } => {
                let place = self.env.layout.funcref(function_index);
                let place = place.expect("validated: the reference was declared");
                let to = self.take();
                emit!(self.code, leaq_rm(to, at(CONTEXT, place)));
                self.push_gpr(Kind::I64, to);
            }
            Operator::RefAsNonNull => {
                let reference = self.pop();
                let gpr = self.own(reference);
                emit!(self.code, testq_mr(Rm::Gpr(gpr), gpr));
                self.code.trap_if(Condition::Equal, trap::NULL_REFERENCE);
                self.push_gpr(Kind::I64, gpr);
            }
            Operator::MemorySize { mem } => self.memory_size(mem),
            _ => return Ok(self.bulk(op)),
        }
        Ok(true)
    }

    /// Translates what functions of the runtime do.
    fn bulk(&mut self, op: &Operator<'_>) -> bool {
        use Argument::Constant;
        match *op {
            Operator::MemoryGrow { mem } => {
                let is_64 = self.env.info.memories[mem as usize].memory64;
                let [delta] = self.pop_settled();
                let arguments = [Constant(mem.into()), delta];
                self.grow(Libcall::MemoryGrow, &arguments, is_64);
            }
            Operator::TableGrow { table } => {
                let is_64 = self.env.info.tables[table as usize].table64;
                let [init, delta] = self.pop_settled();
                let arguments = [Constant(table.into()), init, delta];
                self.grow(Libcall::TableGrow, &arguments, is_64);
            }
            Operator::MemoryFill { mem } => {
                let [dst, value, len] = self.pop_settled();
                let arguments = [Constant(mem.into()), dst, value, len];
                self.checked_libcall(Libcall::MemoryFill, &arguments);
            }
            Operator::TableFill { table } => {
                let [dst, value, len] = self.pop_settled();
                let arguments = [Constant(table.into()), dst, value, len];
                self.checked_libcall(Libcall::TableFill, &arguments);
            }
            Operator::MemoryCopy { dst_mem, src_mem } => {
                self.copy(Libcall::MemoryCopy, dst_mem, src_mem);
            }
            Operator::TableCopy {
                dst_table,
                src_table,
            } => self.copy(Libcall::TableCopy, dst_table, src_table),
            Operator::MemoryInit { data_index, mem } => {
                self.init(Libcall::MemoryInit, mem, data_index);
            }
            Operator::TableInit { elem_index, table } => {
                self.init(Libcall::TableInit, table, elem_index);
            }
            Operator::DataDrop { data_index } => {
                self.settle();
                self.libcall(Libcall::DataDrop, &[Constant(data_index.into())]);
            }
            Operator::ElemDrop { elem_index } => {
                self.settle();
                self.libcall(Libcall::ElemDrop, &[Constant(elem_index.into())]);
            }
            _ => return false,
        }
        true
    }

    fn copy(&mut self, libcall: Libcall, to: u32, from: u32) {
        let [dst, src, len] = self.pop_settled();
        let [to, from] = [to, from].map(|item| Argument::Constant(item.into()));
        self.checked_libcall(libcall, &[to, dst, from, src, len]);
    }

    fn init(&mut self, libcall: Libcall, item: u32, segment: u32) {
        let [dst, src, len] = self.pop_settled();
        let [item, segment] = [item, segment].map(|index| Argument::Constant(index.into()));
        self.checked_libcall(libcall, &[item, segment, dst, src, len]);
    }

    fn grow(&mut self, libcall: Libcall, arguments: &[Argument], is_64: bool) {
        self.libcall(libcall, arguments);
        self.free.take(RAX);
        self.alu_immediate(Alu::Compare, true, Rm::Gpr(RAX), -1);
        self.code.trap_if(Condition::Less, trap::PENDING);
        if !is_64 {
            emit!(self.code, movl_rm(RAX, Rm::Gpr(RAX)));
        }
        let kind = if is_64 { Kind::I64 } else { Kind::I32 };
        self.push_gpr(kind, RAX);
    }

    /// Pops operands, lowest first, after all have gone to their slots.
    pub(super) fn pop_operands<const N: usize>(&mut self) -> [Value; N] {
        self.settle();
        let mut values = [(); N].map(|()| self.pop());
        values.reverse();
        values
    }

    /// The same as arguments.
    pub(super) fn pop_settled<const N: usize>(&mut self) -> [Argument; N] {
        self.pop_operands().map(Argument::Value)
    }

    /// Calls a function of the runtime, when all operands are in their slots: no register
    /// has anything, and a collection of references finds them all.
    pub(super) fn libcall(&mut self, libcall: Libcall, arguments: &[Argument]) {
        self.store_lent();
        for (argument, to) in arguments.iter().zip(&C_ARGUMENTS[1..]) {
            match *argument {
                Argument::Constant(bits) => self.load_constant(*to, bits),
                Argument::Value(value) => self.load_gpr(*to, value),
                Argument::TypeNumber(ty) => self.load_type_number(*to, ty),
                Argument::Gpr(gpr) => emit!(self.code, movl_rm(*to, Rm::Gpr(gpr))),
            }
        }
        emit!(self.code, movq_rm(RDI, Rm::Gpr(CONTEXT)));
        let functions = at(CONTEXT, vmctx::VMCTX_LIBCALLS);
        emit!(self.code, movq_rm(SCRATCH, Rm::Mem(functions)));
        let function = at(SCRATCH, libcall.table_offset());
        emit!(self.code, callq_m(Rm::Mem(function)));
        self.load_lent();
    }

    /// The same of one that returns a status.
    pub(super) fn checked_libcall(&mut self, libcall: Libcall, arguments: &[Argument]) {
        self.libcall(libcall, arguments);
        emit!(self.code, testl_mr(Rm::Gpr(RAX), RAX));
        self.code.trap_if(Condition::NotEqual, trap::PENDING);
    }

    /// The length of a table that never grows.
    fn fixed_len(&self, table: u32) -> Option<u64> {
        let ty = &self.env.info.tables[table as usize];
        (ty.max == Some(ty.min)).then_some(ty.min)
    }

    fn load_table(&mut self, to: Gpr, table: u32) {
        let place = self.env.layout.table_def(table);
        emit!(self.code, movq_rm(to, Rm::Mem(at(CONTEXT, place))));
    }

    fn table_size(&mut self, table: u32) {
        let kind = match self.env.info.tables[table as usize].table64 {
            true => Kind::I64,
            false => Kind::I32,
        };
        if let Some(len) = self.fixed_len(table) {
            return self.push(kind, Place::Constant(len));
        }
        let to = self.take();
        self.load_table(to, table);
        let len = at(to, offsets::TABLE_LEN);
        emit!(self.code, movq_rm(to, Rm::Mem(len)));
        self.push_gpr(kind, to);
    }

    /// The address of the element at a popped index, in a register of the caller's.
    pub(super) fn element_address(&mut self, table: u32, index: Value, code: TrapCode) -> Gpr {
        let gpr = self.own(index);
        if let (Place::Gpr(_), Kind::I32) = (index.place, index.kind) {
            emit!(self.code, movl_rm(gpr, Rm::Gpr(gpr)));
        }
        let to = self.take();
        self.load_table(to, table);
        match self.fixed_len(table) {
            Some(len) => {
                self.load_constant(SCRATCH, len);
                emit!(self.code, cmpq_rm(gpr, Rm::Gpr(SCRATCH)));
            }
            None => emit!(self.code, cmpq_rm(gpr, Rm::Mem(at(to, offsets::TABLE_LEN)))),
        }
        self.code.trap_if(Condition::AboveOrEqual, code);
        emit!(self.code, movq_rm(to, Rm::Mem(at(to, offsets::TABLE_BASE))));
        emit!(self.code, leaq_rm(to, indexed(to, gpr, Scale::Eight, 0)));
        self.guard(Condition::AboveOrEqual, to);
        self.free.give(gpr);
        to
    }

    fn memory_size(&mut self, memory: u32) {
        let kind = match self.env.info.memories[memory as usize].memory64 {
            true => Kind::I64,
            false => Kind::I32,
        };
        let to = self.take();
        let place = self.env.layout.memory_def(memory);
        emit!(self.code, movq_rm(to, Rm::Mem(at(CONTEXT, place))));
        let len = at(to, offsets::MEMORY_LEN);
        emit!(self.code, movq_rm(to, Rm::Mem(len)));
        emit!(self.code, shrq_mi(Rm::Gpr(to), PAGE_SHIFT));
        self.push_gpr(kind, to);
    }

    fn global_get(&mut self, index: u32) {
        let ty = self.env.info.globals[index as usize].content;
        let kind = Kind::of(ty);
        let constant = match self.env.info.constant_global(index) {
            Some(ConstOp::I32(value)) => Some(u64::from(value.cast_unsigned())),
            Some(ConstOp::I64(value)) => Some(value.cast_unsigned()),
            Some(ConstOp::F32(bits)) => Some(u64::from(bits)),
            Some(ConstOp::F64(bits)) => Some(bits),
            _ => None,
        };
        if let Some(bits) = constant {
            return self.push(kind, Place::Constant(bits));
        }
        let cell = self.global_cell(index);
        match kind {
            Kind::F32 | Kind::F64 | Kind::V128 => {
                let to = self.take_xmm();
                self.load_xmm_from(to, kind, cell);
                self.push_xmm(kind, to);
            }
            Kind::I32 => {
                let to = self.take();
                emit!(self.code, movl_rm(to, Rm::Mem(cell)));
                self.push_gpr(kind, to);
            }
            Kind::I64 => {
                let to = self.take();
                emit!(self.code, movq_rm(to, Rm::Mem(cell)));
                self.push_gpr(kind, to);
            }
        }
    }

    fn global_set(&mut self, index: u32) {
        let value = self.pop();
        // [`SCRATCH`] has the cell's address.
        let place = match value.kind.is_in_xmm() {
            true => Place::Xmm(self.own_xmm(value)),
            false => Place::Gpr(self.own(value)),
        };
        let value = Value { place, ..value };
        let cell = self.global_cell(index);
        self.store_value(value, cell);
        self.release(value);
    }

    /// The cell of a global, perhaps behind [`SCRATCH`].
    fn global_cell(&mut self, index: u32) -> Mem {
        match self.env.layout.global(index) {
            GlobalPlace::Inline(offset) => at(CONTEXT, offset),
            GlobalPlace::Pointer(offset) => {
                emit!(self.code, movq_rm(SCRATCH, Rm::Mem(at(CONTEXT, offset))));
                at(SCRATCH, 0)
            }
        }
    }
}
