//! Tables and references (core specification §4.4.2, §4.4.6).
//!
//! An element is one 8-byte cell. A table whose type fixes its length never
//! grows, hence never moves: its length is a constant of the code and its base
//! a constant of the instance.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, TrapCode, Type, Value, types};
use wasmparser::Operator;

use super::Translator;
use crate::facts::libcall::Libcall;
use crate::facts::trap;
use crate::facts::vmctx::offsets;

/// log2 of the bytes of an element.
const ELEMENT_SHIFT: i64 = 3;

impl Translator<'_> {
    /// Translates an instruction on tables or references; `false` when it is
    /// not one.
    pub(super) fn table(&mut self, op: &Operator<'_>) -> bool {
        match *op {
            Operator::TableGet { table } => {
                let index = self.pop();
                let value = self.table_element(table, index, trap::TABLE_OUT_OF_BOUNDS);
                self.push(value);
            }
            Operator::TableSet { table } => {
                let (index, value) = self.pop2();
                let code = trap::TABLE_OUT_OF_BOUNDS;
                let address = self.table_element_address(table, index, code);
                let flags = self.table_flags();
                self.b.ins().store(flags, value, address, 0);
            }
            Operator::TableSize { table } => {
                let len = self.table_len(table);
                self.push(len);
            }
            Operator::TableGrow { table } => self.table_grow(table),
            Operator::TableFill { table } => self.table_fill(table),
            Operator::TableCopy {
                dst_table,
                src_table,
            } => {
                self.table_move(Libcall::TableCopy, dst_table, src_table);
            }
            Operator::TableInit { elem_index, table } => {
                self.segment_to_item(Libcall::TableInit, table, elem_index);
            }
            Operator::ElemDrop { elem_index } => {
                let segment = self.b.ins().iconst(types::I32, i64::from(elem_index));
                self.libcall(Libcall::ElemDrop, &[segment]);
            }
            Operator::RefNull { .. } => {
                let null = self.b.ins().iconst(types::I64, 0);
                self.push(null);
            }
            Operator::RefIsNull => {
                let reference = self.pop();
                let is_null = self.b.ins().icmp_imm_u(IntCC::Equal, reference, 0);
                self.push(is_null);
            }
            Operator::RefFunc { function_index } => self.ref_func(function_index),
            Operator::RefAsNonNull => {
                let reference = self.pop();
                self.b.ins().trapz(reference, trap::NULL_REFERENCE);
                self.push(reference);
            }
            _ => return false,
        }
        true
    }

    fn ref_func(&mut self, index: u32) {
        let offset = self.env.module.layout.funcref(index);
        let offset = offset.expect("validated: the reference was declared");
        let value = self.b.ins().iadd_imm_s(self.env.vmctx, i64::from(offset));
        self.push(value);
    }

    fn table_is_fixed(&self, table: u32) -> bool {
        let ty = &self.env.module.info.tables[table as usize];
        ty.max == Some(ty.min)
    }

    /// Whether a table has 64-bit indices.
    fn table64(&self, table: u32) -> bool {
        self.env.module.info.tables[table as usize].table64
    }

    /// Type of a table's indices.
    fn table_index_type(&self, table: u32) -> Type {
        match self.table64(table) {
            true => types::I64,
            false => types::I32,
        }
    }

    /// Number of elements, of the index type: lengths fit 32 bits.
    fn table_len(&mut self, table: u32) -> Value {
        let ty = self.table_index_type(table);
        if self.table_is_fixed(table) {
            let len = self.env.module.info.tables[table as usize].min;
            return self.b.ins().iconst(ty, len.cast_signed());
        }
        let def = self.table_def(table);
        let flags = self.cell_flags();
        self.b.ins().load(ty, flags, def, offsets::TABLE_LEN)
    }

    fn table_def(&mut self, table: u32) -> Value {
        let offset = self.env.module.layout.table_def(table);
        self.context_constant(types::I64, offset)
    }

    /// Address of the element at `index`, trapping with `code` beyond the end.
    fn table_element_address(&mut self, table: u32, index: Value, code: TrapCode) -> Value {
        let len = self.table_len(table);
        let outside = self
            .b
            .ins()
            .icmp(IntCC::UnsignedGreaterThanOrEqual, index, len);
        self.b.ins().trapnz(outside, code);
        let def = self.table_def(table);
        let flags = if self.table_is_fixed(table) {
            self.constant_flags()
        } else {
            self.cell_flags()
        };
        let base = self
            .b
            .ins()
            .load(types::I64, flags, def, offsets::TABLE_BASE);
        let index = self.extended(index);
        let bytes = self.b.ins().ishl_imm_u(index, ELEMENT_SHIFT);
        let address = self.b.ins().iadd(base, bytes);
        self.guarded(outside, address)
    }

    /// The element at `index`, trapping with `code` beyond the end.
    pub(super) fn table_element(&mut self, table: u32, index: Value, code: TrapCode) -> Value {
        let address = self.table_element_address(table, index, code);
        let flags = self.table_flags();
        self.b.ins().load(types::I64, flags, address, 0)
    }

    fn table_grow(&mut self, table: u32) {
        let delta = self.pop_extended();
        let init = self.pop();
        self.fuel_for_elements(delta);
        let index = self.b.ins().iconst(types::I32, i64::from(table));
        let old = self.libcall(Libcall::TableGrow, &[index, init, delta]);
        let old = old.expect("table growth returns a length");
        self.trap_if_pending(old);
        let old = self.index_result(old, self.table64(table));
        self.push(old);
    }

    fn table_fill(&mut self, table: u32) {
        let len = self.pop_extended();
        let value = self.pop();
        let dst = self.pop_extended();
        self.fuel_for_elements(len);
        let table = self.b.ins().iconst(types::I32, i64::from(table));
        self.trapping_libcall(Libcall::TableFill, &[table, dst, value, len]);
    }

    /// `copy` between two items of a kind.
    fn table_move(&mut self, libcall: Libcall, dst_item: u32, src_item: u32) {
        let len = self.pop_extended();
        let src = self.pop_extended();
        let dst = self.pop_extended();
        self.fuel_for_items(libcall, len);
        let dst_item = self.b.ins().iconst(types::I32, i64::from(dst_item));
        let src_item = self.b.ins().iconst(types::I32, i64::from(src_item));
        self.trapping_libcall(libcall, &[dst_item, dst, src_item, src, len]);
    }

    /// `init`: from a segment to an item.
    pub(super) fn segment_to_item(&mut self, libcall: Libcall, item: u32, segment: u32) {
        let len = self.pop_extended();
        let src = self.pop_extended();
        let dst = self.pop_extended();
        self.fuel_for_items(libcall, len);
        let item = self.b.ins().iconst(types::I32, i64::from(item));
        let segment = self.b.ins().iconst(types::I32, i64::from(segment));
        self.trapping_libcall(libcall, &[item, segment, dst, src, len]);
    }

    /// Pops an index or a length, zero-extended to i64.
    pub(super) fn pop_extended(&mut self) -> Value {
        let value = self.pop();
        self.extended(value)
    }

    /// An index or a length, zero-extended to i64.
    pub(super) fn extended(&mut self, value: Value) -> Value {
        match self.b.func.dfg.value_type(value) {
            types::I32 => self.b.ins().uextend(types::I64, value),
            _ => value,
        }
    }

    /// Calls a runtime function that returns a status and raises the trap it
    /// left pending, if it did.
    pub(super) fn trapping_libcall(&mut self, libcall: Libcall, args: &[Value]) {
        let status = self.libcall(libcall, args).expect("it returns a status");
        self.b.ins().trapnz(status, trap::PENDING);
    }
}
