//! Structures, and the allocation of objects (core specification §4.4.7): what
//! `translate/object.rs` does, in one pass.
//!
//! What must stay true:
//! - A reference has 32 bits before it is added to the heap's base.
//! - Where an object is made all operands are in their slots, where a collection finds them.
//! - What is overwritten while a collection is under way is told to it before.
//! - Registers are taken in front of a branch: for one an operand may go to its slot, and that is
//!   done whichever way is taken.

use cranelift_assembler_x64::Scale;
use wasmparser::Operator;

use super::Generator;
use super::code::{Condition, emit};
use super::integer::Alu;
use super::registers::{CONTEXT, Gpr, Mem, R8, R9, RAX, RCX, RDX, Rm, SCRATCH, Xmm, at, indexed};
use super::registers::{SCRATCH_XMM, trapping};
use super::table::Argument;
use super::values::{Kind, Place, Value};
use crate::facts::libcall::Libcall;
use crate::facts::object::{self, ALIGN, Cell, Extension, Field, HEADER_BYTES, NULL_BYTES};
use crate::facts::trap;
use crate::facts::vmctx::{self, VMCTX_RUNTIME, offsets};

/// The length of an object that is made.
#[derive(Clone, Copy)]
pub(super) enum Length {
    /// Of so many bytes: a structure, or an array of so many elements.
    Known { word: u32, bytes: u64 },
    /// Of an array with as many elements as an operand says that is in its slot.
    Of(Value, Cell),
}

/// A value in a register that is written to a cell.
#[derive(Clone, Copy)]
pub(super) enum Source {
    Gpr(Gpr),
    Xmm(Xmm),
}

impl Generator<'_> {
    /// Translates an instruction on structures; `false` when it is none.
    pub(super) fn structure(&mut self, op: &Operator<'_>) -> bool {
        use Extension::{Signed, Unsigned};
        match *op {
            Operator::StructNew { struct_type_index } => self.struct_new(struct_type_index),
            Operator::StructNewDefault { struct_type_index } => {
                self.settle();
                self.new_struct(struct_type_index);
                self.free.take(RAX);
                self.push_gpr(Kind::I64, RAX);
            }
            Operator::StructGet {
                struct_type_index,
                field_index,
            }
            | Operator::StructGetU {
                struct_type_index,
                field_index,
            } => self.struct_get(self.field(struct_type_index, field_index), Unsigned),
            Operator::StructGetS {
                struct_type_index,
                field_index,
            } => self.struct_get(self.field(struct_type_index, field_index), Signed),
            Operator::StructSet {
                struct_type_index,
                field_index,
            } => self.struct_set(self.field(struct_type_index, field_index)),
            _ => return false,
        }
        true
    }

    fn field(&self, ty: u32, field: u32) -> Field {
        self.env.info.fields(ty)[field as usize]
    }

    fn struct_new(&mut self, ty: u32) {
        self.settle();
        self.new_struct(ty);
        self.fill_new(self.env.info.fields(ty));
    }

    fn new_struct(&mut self, ty: u32) {
        let bytes = self.env.info.layout(ty).bytes(0);
        let word = object::NO_LENGTH;
        self.new_object(ty, Length::Known { word, bytes });
    }

    /// Moves operands from their slots to the cells of the new object in rax, and pushes it.
    pub(super) fn fill_new(&mut self, fields: &[Field]) {
        let first = self.values.len() - fields.len();
        if !fields.is_empty() {
            self.load_heap_base(RCX);
            emit!(self.code, addq_rm(RCX, Rm::Gpr(RAX)));
        }
        for (nth, Field { cell, offset }) in fields.iter().enumerate() {
            let value = self.values[first + nth];
            let source = self.load_scratch(value);
            self.store_cell(*cell, source, at(RCX, offset.cast_signed()));
        }
        self.truncate(first as u32);
        self.free.take(RAX);
        self.push_gpr(Kind::I64, RAX);
    }

    /// Loads an operand in its slot for a moment.
    fn load_scratch(&mut self, value: Value) -> Source {
        match value.kind.is_in_xmm() {
            true => {
                self.load_xmm(SCRATCH_XMM, value);
                Source::Xmm(SCRATCH_XMM)
            }
            false => {
                self.load_gpr(SCRATCH, value);
                Source::Gpr(SCRATCH)
            }
        }
    }

    /// A new object in rax, when all operands are in their slots and no register has one: its
    /// header is written, all else is zero.
    pub(super) fn new_object(&mut self, ty: u32, length: Length) {
        let [slow, done] = [(); 2].map(|()| self.code.label());
        let runtime = RCX;
        emit!(
            self.code,
            movq_rm(runtime, Rm::Mem(at(CONTEXT, VMCTX_RUNTIME)))
        );
        let next = Rm::Mem(at(runtime, offsets::HEAP_NEXT));
        emit!(self.code, movq_rm(RAX, next));
        self.load_object_end(length);
        let end = Rm::Mem(at(runtime, offsets::HEAP_END));
        emit!(self.code, cmpq_rm(RDX, end));
        self.code.jump_if(Condition::Above, slow);
        self.load_type_number(SCRATCH, ty);
        emit!(
            self.code,
            movq_rm(R9, Rm::Mem(at(runtime, offsets::HEAP_BASE)))
        );
        let header = |offset| Rm::Mem(indexed(R9, RAX, Scale::One, offset));
        emit!(self.code, movl_mr(header(object::TYPE), SCRATCH));
        let word = header(object::LENGTH);
        match length {
            Length::Known { word: known, .. } => {
                emit!(self.code, movl_mi(word, known.cast_signed()));
            }
            Length::Of(..) => emit!(self.code, movl_mr(word, R8)),
        }
        // Last: an interrupt leaves the code anywhere, and what is in use has a header.
        let next = Rm::Mem(at(runtime, offsets::HEAP_NEXT));
        emit!(self.code, movq_mr(next, RDX));
        self.code.jump(done);
        self.code.bind(slow);
        let word = match length {
            Length::Known { word, .. } => Argument::Constant(word.into()),
            Length::Of(value, _) => Argument::Value(value),
        };
        self.libcall(Libcall::ObjectNew, &[Argument::Constant(ty.into()), word]);
        self.trap_at_null_of_runtime();
        self.code.bind(done);
    }

    /// Loads into rdx where an object ends that begins at rax; into r8 the length, if it is known
    /// to an operand only.
    fn load_object_end(&mut self, length: Length) {
        match length {
            Length::Known { bytes, .. } => match i32::try_from(bytes) {
                Ok(few) => emit!(self.code, leaq_rm(RDX, at(RAX, few))),
                Err(_) => {
                    self.load_constant(RDX, bytes);
                    emit!(self.code, addq_rm(RDX, Rm::Gpr(RAX)));
                }
            },
            Length::Of(value, cell) => {
                const MOST: i32 = (HEADER_BYTES + ALIGN - 1).cast_signed();
                self.load_gpr(R8, value);
                emit!(self.code, movl_rm(RDX, Rm::Gpr(R8)));
                emit!(self.code, shlq_mi(Rm::Gpr(RDX), cell.shift() as u8));
                self.alu_immediate(Alu::Add, true, Rm::Gpr(RDX), MOST);
                self.alu_immediate(Alu::And, true, Rm::Gpr(RDX), -ALIGN.cast_signed());
                emit!(self.code, addq_rm(RDX, Rm::Gpr(RAX)));
            }
        }
    }

    /// Traps where the runtime has made no object, but said why.
    pub(super) fn trap_at_null_of_runtime(&mut self) {
        emit!(self.code, testq_mr(Rm::Gpr(RAX), RAX));
        self.code.trap_if(Condition::Equal, trap::PENDING);
    }

    /// Loads the number of a type of the module's.
    pub(super) fn load_type_number(&mut self, to: Gpr, ty: u32) {
        let ids = at(CONTEXT, vmctx::VMCTX_TYPE_IDS);
        emit!(self.code, movq_rm(to, Rm::Mem(ids)));
        let number = at(to, ty.cast_signed() * 4);
        emit!(self.code, movl_rm(to, Rm::Mem(number)));
    }

    /// Compares a register with that number.
    pub(super) fn compare_type_number(&mut self, found: Gpr, ty: u32) {
        self.load_type_number(SCRATCH, ty);
        emit!(self.code, cmpl_rm(found, Rm::Gpr(SCRATCH)));
    }

    /// Loads what references are offsets from.
    pub(super) fn load_heap_base(&mut self, to: Gpr) {
        emit!(self.code, movq_rm(to, Rm::Mem(at(CONTEXT, VMCTX_RUNTIME))));
        emit!(self.code, movq_rm(to, Rm::Mem(at(to, offsets::HEAP_BASE))));
    }

    /// The popped reference as an operand at an offset of its object, whose access traps where it
    /// is null; [`SCRATCH`] and the register are in it.
    fn object_operand(&mut self, reference: Value, offset: u32) -> (Mem, Gpr) {
        let gpr = self.own(reference);
        if offset + Cell::V128.bytes() > NULL_BYTES {
            emit!(self.code, testq_mr(Rm::Gpr(gpr), gpr));
            self.code.trap_if(Condition::Equal, trap::NULL_STRUCTURE);
        }
        emit!(self.code, movl_rm(gpr, Rm::Gpr(gpr)));
        self.load_heap_base(SCRATCH);
        let operand = indexed(SCRATCH, gpr, Scale::One, offset.cast_signed());
        (trapping(operand, trap::NULL_STRUCTURE), gpr)
    }

    fn struct_get(&mut self, field: Field, extension: Extension) {
        let reference = self.pop();
        let (from, gpr) = self.object_operand(reference, field.offset);
        self.load_cell(field.cell, extension, from, gpr);
    }

    fn struct_set(&mut self, field: Field) {
        let value = self.pop();
        let reference = self.pop();
        let (source, value) = self.read_source(value);
        let log = self.log_registers(field.cell);
        let (to, gpr) = self.object_operand(reference, field.offset);
        self.tell_overwritten(field.cell, to, log);
        self.store_cell(field.cell, source, to);
        self.free.give(gpr);
        self.release(value);
    }

    /// A popped operand in a register, and what is to be released.
    pub(super) fn read_source(&mut self, value: Value) -> (Source, Value) {
        match value.kind.is_in_xmm() {
            true => {
                let (xmm, value) = self.read_xmm(value);
                (Source::Xmm(xmm), value)
            }
            false => {
                let (gpr, value) = self.read(value);
                (Source::Gpr(gpr), value)
            }
        }
    }

    /// Pushes what is in a cell, in this register if it is no float.
    pub(super) fn load_cell(&mut self, cell: Cell, extension: Extension, from: Mem, gpr: Gpr) {
        let rm = Rm::Mem(from);
        let kind = match cell {
            Cell::F32 => Kind::F32,
            Cell::F64 => Kind::F64,
            Cell::V128 => Kind::V128,
            Cell::I8 | Cell::I16 | Cell::I32 => Kind::I32,
            Cell::I64 | Cell::Collected | Cell::Extern | Cell::Word => Kind::I64,
        };
        match (cell, extension) {
            (Cell::F32 | Cell::F64 | Cell::V128, _) => {
                let to = self.take_xmm();
                self.load_xmm_from(to, kind, from);
                self.free.give(gpr);
                return self.push_xmm(kind, to);
            }
            (Cell::I8, Extension::Signed) => emit!(self.code, movsbl_rm(gpr, rm)),
            (Cell::I8, Extension::Unsigned) => emit!(self.code, movzbl_rm(gpr, rm)),
            (Cell::I16, Extension::Signed) => emit!(self.code, movswl_rm(gpr, rm)),
            (Cell::I16, Extension::Unsigned) => emit!(self.code, movzwl_rm(gpr, rm)),
            (Cell::I32 | Cell::Collected, _) => emit!(self.code, movl_rm(gpr, rm)),
            (Cell::I64 | Cell::Extern | Cell::Word, _) => emit!(self.code, movq_rm(gpr, rm)),
        }
        self.push(kind, Place::Gpr(gpr));
    }

    /// Writes a value into a cell.
    pub(super) fn store_cell(&mut self, cell: Cell, source: Source, to: Mem) {
        let rm = Rm::Mem(to);
        match (cell, source) {
            (Cell::F32, Source::Xmm(xmm)) => self.store_xmm(xmm, Kind::F32, to),
            (Cell::V128, Source::Xmm(xmm)) => self.store_xmm(xmm, Kind::V128, to),
            (_, Source::Xmm(xmm)) => self.store_xmm(xmm, Kind::F64, to),
            (Cell::I8, Source::Gpr(gpr)) => emit!(self.code, movb_mr(rm, gpr)),
            (Cell::I16, Source::Gpr(gpr)) => emit!(self.code, movw_mr(rm, gpr)),
            (Cell::I32 | Cell::Collected, Source::Gpr(gpr)) => {
                emit!(self.code, movl_mr(rm, gpr));
            }
            (_, Source::Gpr(gpr)) => emit!(self.code, movq_mr(rm, gpr)),
        }
    }

    /// Three registers for [`Self::tell_overwritten`], where cells of this kind are told of.
    pub(super) fn log_registers(&mut self, cell: Cell) -> Option<[Gpr; 3]> {
        cell.is_collected().then(|| [(); 3].map(|()| self.take()))
    }

    /// Writes the reference in a cell, which is about to be overwritten, to the log of a
    /// collection that is under way. The registers are given back.
    pub(super) fn tell_overwritten(&mut self, cell: Cell, from: Mem, log: Option<[Gpr; 3]>) {
        let Some([runtime, next, old]) = log else {
            return;
        };
        let done = self.code.label();
        emit!(
            self.code,
            movq_rm(runtime, Rm::Mem(at(CONTEXT, VMCTX_RUNTIME)))
        );
        let place = Rm::Mem(at(runtime, offsets::HEAP_LOG_NEXT));
        emit!(self.code, movq_rm(next, place));
        emit!(self.code, testq_mr(Rm::Gpr(next), next));
        self.code.jump_if(Condition::Equal, done);
        match cell {
            // Nothing where it is the host's.
            Cell::Extern => {
                let inside = self.code.label();
                emit!(self.code, movq_rm(old, Rm::Mem(from)));
                emit!(self.code, testq_mr(Rm::Gpr(old), old));
                self.code.jump_if(Condition::Sign, inside);
                self.load_constant(old, 0);
                self.code.bind(inside);
            }
            _ => emit!(self.code, movl_rm(old, Rm::Mem(from))),
        }
        emit!(self.code, movl_mr(Rm::Mem(at(next, 0)), old));
        // The last place is written to again and again: so the runtime sees that it is full.
        self.alu_immediate(Alu::Add, true, Rm::Gpr(next), 4);
        let last = Rm::Mem(at(runtime, offsets::HEAP_LOG_LAST));
        emit!(self.code, movq_rm(old, last));
        emit!(self.code, cmpq_rm(next, Rm::Gpr(old)));
        self.code.move_if(Condition::Above, next, Rm::Gpr(old));
        let place = Rm::Mem(at(runtime, offsets::HEAP_LOG_NEXT));
        emit!(self.code, movq_mr(place, next));
        self.code.bind(done);
        for gpr in [runtime, next, old] {
            self.free.give(gpr);
        }
    }
}
