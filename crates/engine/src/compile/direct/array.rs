//! Arrays (core specification §4.4.7): what `translate/array.rs` does, in one pass.
//!
//! What must stay true: an index is compared with the array's length before the element's
//! address is used, and the address is null behind a comparison that a processor has not made yet,
//! where guards against speculation are on. Sums of indices and lengths have 64 bits.

use cranelift_assembler_x64::Scale;
use wasmparser::Operator;

use super::Generator;
use super::code::{Condition, emit};
use super::object::Length;
use super::registers::trapping;
use super::registers::{CONTEXT, Gpr, Mem, R8, R9, RAX, RCX, RDX, RSI, Rm, SCRATCH, at, indexed};
use super::table::Argument;
use super::values::{Kind, Place, Value};
use crate::facts::libcall::Libcall;
use crate::facts::object::{self, Cell, Extension, Field, HEADER_BYTES};
use crate::facts::trap;
use crate::facts::vmctx::{VMCTX_RUNTIME, offsets};

/// The first element, in bytes from where an array begins.
const FIRST: i32 = HEADER_BYTES.cast_signed();

impl Generator<'_> {
    /// Translates an instruction on arrays; `false` when it is none.
    pub(super) fn array(&mut self, op: &Operator<'_>) -> bool {
        use Extension::{Signed, Unsigned};
        match *op {
            Operator::ArrayNew { array_type_index } => self.array_new(array_type_index),
            Operator::ArrayNewDefault { array_type_index } => {
                let cell = self.env.info.element(array_type_index);
                let [len] = self.pop_operands();
                self.new_object(array_type_index, Length::Of(len, cell));
                self.free.take(RAX);
                self.push_gpr(Kind::I64, RAX);
            }
            Operator::ArrayNewFixed {
                array_type_index,
                array_size,
            } => self.array_new_fixed(array_type_index, array_size),
            Operator::ArrayNewData {
                array_type_index,
                array_data_index,
            } => self.array_of(Libcall::ArrayNewData, array_type_index, array_data_index),
            Operator::ArrayNewElem {
                array_type_index,
                array_elem_index,
            } => self.array_of(Libcall::ArrayNewElem, array_type_index, array_elem_index),
            Operator::ArrayGet { array_type_index } | Operator::ArrayGetU { array_type_index } => {
                self.array_get(self.env.info.element(array_type_index), Unsigned);
            }
            Operator::ArrayGetS { array_type_index } => {
                self.array_get(self.env.info.element(array_type_index), Signed);
            }
            Operator::ArraySet { array_type_index } => {
                self.array_set(self.env.info.element(array_type_index))
            }
            Operator::ArrayLen => self.array_len(),
            Operator::ArrayFill { array_type_index } => {
                self.array_fill(self.env.info.element(array_type_index));
            }
            Operator::ArrayCopy {
                array_type_index_dst,
                ..
            } => self.array_copy(self.env.info.element(array_type_index_dst)),
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

    fn array_new(&mut self, ty: u32) {
        let cell = self.env.info.element(ty);
        let value = self.values[self.values.len() - 2];
        let is_zero = value.place == Place::Constant(0);
        let [value, len] = self.pop_operands();
        self.new_object(ty, Length::Of(len, cell));
        if is_zero {
            self.free.take(RAX);
            return self.push_gpr(Kind::I64, RAX);
        }
        self.load_gpr(R8, len);
        let first = self.height();
        self.load_fill(cell, value);
        // In the slot where the value was.
        let slot = self.slot(first);
        emit!(self.code, movq_mr(Rm::Mem(slot), RAX));
        self.push_settled(Kind::I64);
        self.load_heap_base(RSI);
        emit!(self.code, addq_rm(RSI, Rm::Gpr(RAX)));
        self.add_header(RSI);
        self.fill(cell);
    }

    fn add_header(&mut self, to: Gpr) {
        emit!(self.code, leaq_rm(to, at(to, FIRST)));
    }

    /// Loads what elements are set to, from its slot: into rdx, of a vector its other half into rcx.
    fn load_fill(&mut self, cell: Cell, value: Value) {
        match (cell, value.place) {
            (Cell::V128, Place::Slot(height)) => {
                let slot = self.slot(height);
                emit!(self.code, leaq_rm(RCX, slot));
                emit!(self.code, movq_rm(RDX, Rm::Mem(at(RCX, 0))));
                emit!(self.code, movq_rm(RCX, Rm::Mem(at(RCX, 8))));
            }
            _ => self.load_gpr(RDX, value),
        }
    }

    /// Sets elements: from rsi on, as many as r8 says, to what [`Self::load_fill`] has loaded.
    fn fill(&mut self, cell: Cell) {
        let [address, low, high, len] = [RSI, RDX, RCX, R8].map(in_register);
        match cell {
            Cell::V128 => {
                self.checked_libcall(Libcall::FillVectors, &[address, low, high, len]);
            }
            _ => {
                let shift = Argument::Constant(cell.shift().into());
                self.checked_libcall(Libcall::FillCells, &[address, low, shift, len]);
            }
        }
    }

    fn array_new_fixed(&mut self, ty: u32, count: u32) {
        let cell = self.env.info.element(ty);
        self.settle();
        let bytes = self.env.info.layout(ty).bytes(count);
        self.new_object(ty, Length::Known { word: count, bytes });
        let place = |nth| Field {
            cell,
            offset: HEADER_BYTES + (nth << cell.shift()),
        };
        self.fill_new(&(0..count).map(place).collect::<Vec<_>>());
    }

    /// An array from a segment, which the runtime makes.
    fn array_of(&mut self, libcall: Libcall, ty: u32, segment: u32) {
        let [src, len] = self.pop_settled();
        let [ty, segment] = [ty, segment].map(|index| Argument::Constant(index.into()));
        self.libcall(libcall, &[ty, segment, src, len]);
        self.trap_at_null_of_runtime();
        self.free.take(RAX);
        self.push_gpr(Kind::I64, RAX);
    }

    /// Elements of a segment into an array.
    fn array_init(&mut self, libcall: Libcall, segment: u32) {
        let [array, dst, src, len] = self.pop_operands();
        self.load_gpr(RAX, array);
        emit!(self.code, testq_mr(Rm::Gpr(RAX), RAX));
        self.code.trap_if(Condition::Equal, trap::NULL_ARRAY);
        let segment = Argument::Constant(segment.into());
        let [array, dst, src, len] = [array, dst, src, len].map(Argument::Value);
        self.checked_libcall(libcall, &[segment, array, dst, src, len]);
    }

    /// Makes the reference in a register its array's address; the heap's base goes to [`SCRATCH`].
    fn array_address(&mut self, gpr: Gpr) {
        emit!(self.code, movl_rm(gpr, Rm::Gpr(gpr)));
        self.load_heap_base(SCRATCH);
        emit!(self.code, addq_rm(gpr, Rm::Gpr(SCRATCH)));
    }

    /// The length of the array at an address, whose load traps where that is the heap's base.
    fn length_at(address: Gpr) -> Mem {
        trapping(at(address, object::LENGTH), trap::NULL_ARRAY)
    }

    /// The length. There may be no heap, and so nothing behind null that faults, in a module
    /// without types of objects.
    fn array_len(&mut self) {
        let array = self.pop();
        let gpr = self.own(array);
        if !self.env.info.has_objects {
            emit!(self.code, testq_mr(Rm::Gpr(gpr), gpr));
            self.code.trap_if(Condition::Equal, trap::NULL_ARRAY);
        }
        self.array_address(gpr);
        emit!(self.code, movl_rm(gpr, Rm::Mem(Self::length_at(gpr))));
        self.push_gpr(Kind::I32, gpr);
    }

    /// The element of a popped array at a popped index, and the register in it; flags are those of
    /// the comparison with the length.
    fn element(&mut self, cell: Cell) -> (Mem, Gpr) {
        let index = self.pop();
        let array = self.pop();
        let gpr = self.own(array);
        let nth = self.own(index);
        emit!(self.code, movl_rm(nth, Rm::Gpr(nth)));
        self.array_address(gpr);
        let len = Self::length_at(gpr);
        emit!(self.code, cmpl_rm(nth, Rm::Mem(len)));
        let outside = trap::ARRAY_OUT_OF_BOUNDS;
        self.code.trap_if(Condition::AboveOrEqual, outside);
        self.add_scaled(gpr, nth, cell);
        self.guard(Condition::AboveOrEqual, gpr);
        self.free.give(nth);
        (at(gpr, FIRST), gpr)
    }

    /// `to ← to + nth × bytes of a cell`; changes no flags.
    fn add_scaled(&mut self, to: Gpr, nth: Gpr, cell: Cell) {
        let scale = match cell.shift() {
            0 => Scale::One,
            1 => Scale::Two,
            2 => Scale::Four,
            _ => Scale::Eight,
        };
        emit!(self.code, leaq_rm(to, indexed(to, nth, scale, 0)));
        if cell == Cell::V128 {
            emit!(self.code, leaq_rm(to, indexed(to, nth, scale, 0)));
        }
    }

    fn array_get(&mut self, cell: Cell, extension: Extension) {
        let (from, gpr) = self.element(cell);
        self.load_cell(cell, extension, from, gpr);
    }

    fn array_set(&mut self, cell: Cell) {
        let value = self.pop();
        let (source, value) = self.read_source(value);
        let (to, gpr) = self.element(cell);
        let log = self.log_registers(cell);
        self.tell_overwritten(cell, to, log);
        self.store_cell(cell, source, to);
        self.free.give(gpr);
        self.release(value);
    }

    /// Loads into rax where elements of an array begin, into r8 how many there are, all of them
    /// operands in their slots; traps where they are not inside. r9 stays what it is.
    fn elements(&mut self, [array, index, len]: [Value; 3], cell: Cell) {
        self.load_gpr(RAX, array);
        self.load_gpr(RCX, index);
        self.load_gpr(R8, len);
        self.array_address(RAX);
        emit!(self.code, movl_rm(RDX, Rm::Mem(Self::length_at(RAX))));
        emit!(self.code, leaq_rm(RSI, indexed(RCX, R8, Scale::One, 0)));
        emit!(self.code, cmpq_rm(RSI, Rm::Gpr(RDX)));
        let outside = trap::ARRAY_OUT_OF_BOUNDS;
        self.code.trap_if(Condition::Above, outside);
        self.add_scaled(RAX, RCX, cell);
        emit!(self.code, leaq_rm(RAX, at(RAX, FIRST)));
        self.guard(Condition::Above, RAX);
    }

    fn array_fill(&mut self, cell: Cell) {
        let [array, index, value, len] = self.pop_operands();
        let all = [array, index, len];
        if cell.is_collected() {
            self.elements(all, cell);
            self.elements_overwritten(all);
        }
        self.elements(all, cell);
        self.load_fill(cell, value);
        emit!(self.code, movq_rm(RSI, Rm::Gpr(RAX)));
        self.fill(cell);
    }

    fn array_copy(&mut self, cell: Cell) {
        let [target, at_target, source, from, len] = self.pop_operands();
        let (to, from) = ([target, at_target, len], [source, from, len]);
        if cell.is_collected() {
            self.elements(to, cell);
            self.elements(from, cell);
            self.elements_overwritten(to);
        }
        // In this order: a null target traps first.
        self.elements(to, cell);
        emit!(self.code, movq_rm(R9, Rm::Gpr(RAX)));
        self.elements(from, cell);
        emit!(self.code, shlq_mi(Rm::Gpr(R8), cell.shift() as u8));
        let arguments = [R9, RAX, R8].map(in_register);
        self.checked_libcall(Libcall::CopyCells, &arguments);
    }

    /// Tells a collection that is under way of elements that are inside and about to be
    /// overwritten.
    fn elements_overwritten(&mut self, elements: [Value; 3]) {
        let done = self.code.label();
        emit!(
            self.code,
            movq_rm(SCRATCH, Rm::Mem(at(CONTEXT, VMCTX_RUNTIME)))
        );
        let next = Rm::Mem(at(SCRATCH, offsets::HEAP_LOG_NEXT));
        emit!(self.code, cmpq_mi_sxb(next, 0i8));
        self.code.jump_if(Condition::Equal, done);
        let arguments = elements.map(Argument::Value);
        self.libcall(Libcall::ElementsOverwritten, &arguments);
        self.code.bind(done);
    }
}

/// An argument that is in a register already, of none of the arguments in front of it.
fn in_register(gpr: Gpr) -> Argument {
    Argument::Value(Value {
        kind: Kind::I64,
        place: Place::Gpr(gpr),
    })
}
