//! Arrays (core specification §4.4.7).
//!
//! What must stay true: an index is compared with the array's length before the element's
//! address is used, and what a processor does ahead of that comparison has a null address
//! where guards against speculation are on. The length is loaded first: it traps where the
//! reference is null. Sums of indices and lengths have 64 bits and do not wrap.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use wasmparser::Operator;

use super::Translator;
use crate::facts::libcall::Libcall;
use crate::facts::object::{self, Cell, Extension, HEADER_BYTES};
use crate::facts::trap;

/// Elements of an array from an index on, which are inside.
#[derive(Clone, Copy)]
struct Elements {
    /// Of the first.
    address: Value,
    /// How many, as 64 bits.
    len: Value,
}

impl Translator<'_> {
    /// Translates an instruction on arrays; `false` when it is not one.
    pub(super) fn array(&mut self, op: &Operator<'_>) -> bool {
        match *op {
            Operator::ArrayNew { array_type_index } => self.array_new(array_type_index),
            Operator::ArrayNewDefault { array_type_index } => {
                let len = self.pop();
                let array = self.new_array(array_type_index, len);
                self.push(array);
            }
            Operator::ArrayNewFixed {
                array_type_index,
                array_size,
            } => self.array_new_fixed(array_type_index, array_size as usize),
            Operator::ArrayNewData {
                array_type_index,
                array_data_index,
            } => self.array_of(Libcall::ArrayNewData, array_type_index, array_data_index),
            Operator::ArrayNewElem {
                array_type_index,
                array_elem_index,
            } => self.array_of(Libcall::ArrayNewElem, array_type_index, array_elem_index),
            Operator::ArrayGetS { array_type_index } => {
                self.array_get(array_type_index, Extension::Signed);
            }
            Operator::ArrayGet { array_type_index } | Operator::ArrayGetU { array_type_index } => {
                self.array_get(array_type_index, Extension::Unsigned);
            }
            Operator::ArraySet { array_type_index } => self.array_set(array_type_index),
            Operator::ArrayLen => {
                let array = self.pop();
                let len = self.array_len(array);
                self.push(len);
            }
            Operator::ArrayFill { array_type_index } => self.array_fill(array_type_index),
            Operator::ArrayCopy {
                array_type_index_dst,
                ..
            } => self.array_copy(array_type_index_dst),
            Operator::ArrayInitData {
                array_data_index, ..
            } => self.array_init(Libcall::ArrayInitData, array_data_index),
            Operator::ArrayInitElem {
                array_elem_index, ..
            } => self.array_init(Libcall::ArrayInitElem, array_elem_index),
            _ => return false,
        }
        true
    }

    /// An array of zeros.
    fn new_array(&mut self, ty: u32, len: Value) -> Value {
        let wide = self.extended(len);
        self.fuel_for_elements(wide);
        let bytes = self.array_bytes(self.env.module.info.element(ty), len);
        self.new_object(ty, len, bytes)
    }

    fn array_new(&mut self, ty: u32) {
        let (value, len) = self.pop2();
        let array = self.new_array(ty, len);
        if !self.is_zero(value) {
            let address = self.object_address(array);
            let address = self.b.ins().iadd_imm_s(address, i64::from(HEADER_BYTES));
            let len = self.extended(len);
            self.fill(
                self.env.module.info.element(ty),
                Elements { address, len },
                value,
            );
        }
        self.push(array);
    }

    /// Whether a value is a constant of which all bits are zero.
    fn is_zero(&self, value: Value) -> bool {
        self.constant_of(value) == Some(0)
    }

    fn array_new_fixed(&mut self, ty: u32, count: usize) {
        let first = self.state.stack.len() - count;
        for at in first..self.state.stack.len() {
            self.state.stack[at] = self.canonical(self.state.stack[at]);
        }
        let len = self.b.ins().iconst(types::I32, count as i64);
        let array = self.new_array(ty, len);
        let address = self.object_address(array);
        let (flags, cell) = (self.object_flags(), self.env.module.info.element(ty));
        for at in 0..count {
            let value = self.state.stack[first + at];
            let offset = HEADER_BYTES + ((at as u32) << cell.shift());
            self.store_cell(cell, value, address, offset, flags);
        }
        self.state.stack.truncate(first);
        self.push(array);
    }

    /// An array from a segment, which the runtime makes.
    fn array_of(&mut self, libcall: Libcall, ty: u32, segment: u32) {
        let (src, len) = self.pop2();
        let wide = self.extended(len);
        self.fuel_for_elements(wide);
        let [ty, segment] = [ty, segment].map(|n| self.b.ins().iconst(types::I32, i64::from(n)));
        let made = self.libcall(libcall, &[ty, segment, src, len]);
        let made = made.expect("it returns a reference");
        self.b.ins().trapz(made, trap::PENDING);
        self.push(made);
    }

    /// Elements of a segment into an array.
    fn array_init(&mut self, libcall: Libcall, segment: u32) {
        let (src, len) = self.pop2();
        let (array, dst) = self.pop2();
        let wide = self.extended(len);
        self.fuel_for_elements(wide);
        self.b.ins().trapz(array, trap::NULL_ARRAY);
        let segment = self.b.ins().iconst(types::I32, i64::from(segment));
        self.trapping_libcall(libcall, &[segment, array, dst, src, len]);
    }

    /// The length, trapping where the reference is null. There may be no heap, and so
    /// nothing behind null that faults, in a module without types of objects.
    fn array_len(&mut self, array: Value) -> Value {
        let is_compared = self.env.module.compares_null;
        if is_compared || !self.env.module.info.has_objects {
            self.b.ins().trapz(array, trap::NULL_ARRAY);
        }
        let address = self.object_address(array);
        let mut flags = self.header_flags();
        if !is_compared {
            flags = flags.with_trap_code(Some(trap::NULL_ARRAY));
        }
        let ins = self.b.ins();
        ins.load(types::I32, flags, address, object::LENGTH)
    }

    /// The address in front of which the element at an index is by the header's bytes.
    fn element(&mut self, array: Value, index: Value, cell: Cell) -> (Value, MemFlagsData) {
        let len = self.array_len(array);
        let outside = IntCC::UnsignedGreaterThanOrEqual;
        let outside = self.b.ins().icmp(outside, index, len);
        self.b.ins().trapnz(outside, trap::ARRAY_OUT_OF_BOUNDS);
        let address = self.object_address(array);
        let index = self.extended(index);
        let bytes = self.b.ins().ishl_imm_u(index, i64::from(cell.shift()));
        let address = self.b.ins().iadd(address, bytes);
        (self.guarded(outside, address), self.object_flags())
    }

    fn array_get(&mut self, ty: u32, extension: Extension) {
        let (array, index) = self.pop2();
        let cell = self.env.module.info.element(ty);
        let (address, flags) = self.element(array, index, cell);
        let value = self.load_cell(cell, extension, address, HEADER_BYTES, flags);
        self.push(value);
    }

    fn array_set(&mut self, ty: u32) {
        let value = self.pop();
        let (array, index) = self.pop2();
        let cell = self.env.module.info.element(ty);
        let (address, flags) = self.element(array, index, cell);
        self.cell_overwritten(cell, address, HEADER_BYTES, flags);
        self.store_cell(cell, value, address, HEADER_BYTES, flags);
    }

    /// So many elements from an index on, trapping where they are not inside.
    fn elements(&mut self, array: Value, index: Value, len: Value, cell: Cell) -> Elements {
        let all = self.array_len(array);
        let all = self.extended(all);
        let index = self.extended(index);
        let end = self.b.ins().iadd(index, len);
        let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThan, end, all);
        self.b.ins().trapnz(outside, trap::ARRAY_OUT_OF_BOUNDS);
        let address = self.object_address(array);
        let bytes = self.b.ins().ishl_imm_u(index, i64::from(cell.shift()));
        let bytes = self.b.ins().iadd_imm_s(bytes, i64::from(HEADER_BYTES));
        let address = self.b.ins().iadd(address, bytes);
        let address = self.guarded(outside, address);
        Elements { address, len }
    }

    fn array_fill(&mut self, ty: u32) {
        let len = self.pop_extended();
        let value = self.pop();
        let (array, index) = self.pop2();
        self.fuel_for_elements(len);
        let cell = self.env.module.info.element(ty);
        let elements = self.elements(array, index, len, cell);
        self.elements_overwritten(cell, array, index, len);
        self.fill(cell, elements, value);
    }

    fn array_copy(&mut self, to: u32) {
        let len = self.pop_extended();
        let (source, from) = self.pop2();
        let (target, at) = self.pop2();
        self.fuel_for_elements(len);
        let cell = self.env.module.info.element(to);
        // In this order: a null target traps first.
        let to = self.elements(target, at, len, cell);
        let from = self.elements(source, from, len, cell);
        self.elements_overwritten(cell, target, at, len);
        let bytes = self.b.ins().ishl_imm_u(len, i64::from(cell.shift()));
        self.trapping_libcall(Libcall::CopyCells, &[to.address, from.address, bytes]);
    }

    /// Tells a collection of elements that are inside and about to be overwritten.
    fn elements_overwritten(&mut self, cell: Cell, array: Value, from: Value, len: Value) {
        self.while_marking(cell, |this, _| {
            this.libcall(Libcall::ElementsOverwritten, &[array, from, len]);
        });
    }

    /// Sets elements to a value.
    fn fill(&mut self, cell: Cell, elements: Elements, value: Value) {
        let bits = match cell {
            Cell::V128 => return self.fill_vectors(elements, value),
            Cell::F32 => self.bits(types::I32, value),
            Cell::F64 => self.bits(types::I64, value),
            _ => value,
        };
        let bits = self.extended(bits);
        let shift = self.b.ins().iconst(types::I32, i64::from(cell.shift()));
        let Elements { address, len } = elements;
        self.trapping_libcall(Libcall::FillCells, &[address, bits, shift, len]);
    }

    fn bits(&mut self, ty: Type, value: Value) -> Value {
        self.b.ins().bitcast(ty, MemFlagsData::new(), value)
    }

    /// The runtime takes no vector in an argument, so it has the halves.
    fn fill_vectors(&mut self, elements: Elements, value: Value) {
        let halves = self.vector_as(value, types::I64X2);
        let [low, high] = [0, 1].map(|lane| self.b.ins().extractlane(halves, lane));
        let Elements { address, len } = elements;
        self.trapping_libcall(Libcall::FillVectors, &[address, low, high, len]);
    }
}
