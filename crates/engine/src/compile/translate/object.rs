//! Structures, and the allocation of objects (core specification §4.4.7).
//!
//! ```text
//!  next, end of the runtime's heap:  next + bytes ≤ end?
//!      │ yes: next is the object, next + bytes the new next, the header is written
//!      └ no, out of the way: the runtime makes it, and collects where it is time
//! ```
//!
//! What must stay true: a reference has 32 bits before it is added to the heap's base, so an
//! address is inside of the heap's reservation. Null is where nothing can be accessed: an
//! access faults there, and the fault is the trap; beyond [`NULL_BYTES`], and for LLVM, a
//! reference is compared with null first. An object that the runtime gives is zero, and so is what is
//! taken here. A store of a reference into an object that is not new tells of the one that
//! it overwrites before ([`Translator::cell_overwritten`]).

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use wasmparser::Operator;

use super::Translator;
use crate::facts::libcall::Libcall;
use crate::facts::object::{self, ALIGN, Cell, Extension, Field, HEADER_BYTES, NULL_BYTES};
use crate::facts::trap;
use crate::facts::vmctx::{self, offsets};

impl Translator<'_> {
    /// Translates an instruction on structures; `false` when it is not one.
    pub(super) fn structure(&mut self, op: &Operator<'_>) -> bool {
        let get = |this: &mut Self, ty: u32, field: u32, extension: Extension| {
            let field = this.env.module.info.fields(ty)[field as usize];
            let object = this.pop();
            let value = this.load_field(object, field, extension);
            this.push(value);
        };
        match *op {
            Operator::StructNew { struct_type_index } => self.struct_new(struct_type_index),
            Operator::StructNewDefault { struct_type_index } => {
                let object = self.new_struct(struct_type_index);
                self.push(object);
            }
            Operator::StructGet {
                struct_type_index,
                field_index,
            }
            | Operator::StructGetU {
                struct_type_index,
                field_index,
            } => get(self, struct_type_index, field_index, Extension::Unsigned),
            Operator::StructGetS {
                struct_type_index,
                field_index,
            } => get(self, struct_type_index, field_index, Extension::Signed),
            Operator::StructSet {
                struct_type_index,
                field_index,
            } => {
                let (object, value) = self.pop2();
                let fields = self.env.module.info.fields(struct_type_index);
                let field = fields[field_index as usize];
                let flags = self.null_flags(object, field.offset);
                let address = self.object_address(object);
                self.cell_overwritten(field.cell, address, field.offset, flags);
                self.store_cell(field.cell, value, address, field.offset, flags);
            }
            _ => return false,
        }
        true
    }

    fn struct_new(&mut self, ty: u32) {
        let fields = self.env.module.info.fields(ty);
        let first = self.state.stack.len() - fields.len();
        for at in first..self.state.stack.len() {
            self.state.stack[at] = self.canonical(self.state.stack[at]);
        }
        let object = self.new_struct(ty);
        let address = self.object_address(object);
        let flags = self.object_flags();
        for (at, field) in fields.iter().enumerate() {
            let value = self.state.stack[first + at];
            self.store_cell(field.cell, value, address, field.offset, flags);
        }
        self.state.stack.truncate(first);
        self.push(object);
    }

    fn new_struct(&mut self, ty: u32) -> Value {
        let layout = self.env.module.info.layout(ty);
        let bytes = self
            .b
            .ins()
            .iconst(types::I64, layout.bytes(0).cast_signed());
        let length = i64::from(object::NO_LENGTH);
        let length = self.b.ins().iconst(types::I32, length);
        self.new_object(ty, length, bytes)
    }

    /// A new object of so many bytes: its header is written, all else is zero.
    pub(super) fn new_object(&mut self, ty: u32, length: Value, bytes: Value) -> Value {
        let runtime = self.runtime();
        let flags = self.cell_flags();
        let ins = self.b.ins();
        let next = ins.load(types::I64, flags, runtime, offsets::HEAP_NEXT);
        let ins = self.b.ins();
        let end = ins.load(types::I64, flags, runtime, offsets::HEAP_END);
        let after = self.b.ins().iadd(next, bytes);
        let is_full = self.b.ins().icmp(IntCC::UnsignedGreaterThan, after, end);
        let [here, slow, done] = [(); 3].map(|()| self.b.create_block());
        self.b.set_cold_block(slow);
        let object = self.b.append_block_param(done, types::I64);
        self.b.ins().brif(is_full, slow, &[], here, &[]);

        self.b.switch_to_block(here);
        self.b.seal_block(here);
        let number = self.type_number(ty);
        let address = self.object_address(next);
        let header = self.header_flags();
        self.b.ins().store(header, number, address, object::TYPE);
        self.b.ins().store(header, length, address, object::LENGTH);
        // Last: an interrupt leaves the code anywhere, and what is in use has a header.
        let ins = self.b.ins();
        ins.store(flags, after, runtime, offsets::HEAP_NEXT);
        self.b.ins().jump(done, &[next.into()]);

        self.b.switch_to_block(slow);
        self.b.seal_block(slow);
        let ty = self.b.ins().iconst(types::I32, i64::from(ty));
        let made = self.libcall(Libcall::ObjectNew, &[ty, length]);
        let made = made.expect("it returns a reference");
        self.b.ins().trapz(made, trap::PENDING);
        self.b.ins().jump(done, &[made.into()]);

        self.b.switch_to_block(done);
        self.b.seal_block(done);
        object
    }

    /// The number of a type of the module's.
    pub(super) fn type_number(&mut self, ty: u32) -> Value {
        let ids = self.context_constant(types::I64, vmctx::VMCTX_TYPE_IDS);
        let flags = self.constant_flags();
        let ins = self.b.ins();
        ins.load(types::I32, flags, ids, ty.cast_signed() * 4)
    }

    /// What references are offsets from. In a module without types of objects a heap may
    /// come while it runs, with an instance that its host makes.
    pub(super) fn heap_base(&mut self) -> Value {
        let runtime = self.runtime();
        let flags = match self.env.module.info.has_objects {
            true => self.constant_flags(),
            false => self.cell_flags(),
        };
        let ins = self.b.ins();
        ins.load(types::I64, flags, runtime, offsets::HEAP_BASE)
    }

    /// Where a reference refers to.
    pub(super) fn object_address(&mut self, reference: Value) -> Value {
        let base = self.heap_base();
        let offset = self.b.ins().ireduce(types::I32, reference);
        let offset = self.b.ins().uextend(types::I64, offset);
        self.b.ins().iadd(base, offset)
    }

    /// Flags of an access at an offset of an object which traps where the reference is null.
    pub(super) fn null_flags(&mut self, reference: Value, offset: u32) -> MemFlagsData {
        let flags = self.object_flags();
        let is_compared = self.env.module.compares_null;
        if is_compared || offset + Cell::V128.bytes() > NULL_BYTES {
            self.b.ins().trapz(reference, trap::NULL_STRUCTURE);
        }
        match is_compared {
            true => flags,
            false => flags.with_trap_code(Some(trap::NULL_STRUCTURE)),
        }
    }

    fn load_field(&mut self, object: Value, field: Field, extension: Extension) -> Value {
        let flags = self.null_flags(object, field.offset);
        let address = self.object_address(object);
        self.load_cell(field.cell, extension, address, field.offset, flags)
    }

    /// The value in a cell.
    pub(super) fn load_cell(
        &mut self,
        cell: Cell,
        extension: Extension,
        address: Value,
        offset: u32,
        flags: MemFlagsData,
    ) -> Value {
        let offset = offset.cast_signed();
        let ins = self.b.ins();
        match (cell, extension) {
            (Cell::I8, Extension::Signed) => ins.sload8(types::I32, flags, address, offset),
            (Cell::I8, _) => ins.uload8(types::I32, flags, address, offset),
            (Cell::I16, Extension::Signed) => ins.sload16(types::I32, flags, address, offset),
            (Cell::I16, _) => ins.uload16(types::I32, flags, address, offset),
            (Cell::Collected, _) => ins.uload32(flags, address, offset),
            (Cell::I32, _) => ins.load(types::I32, flags, address, offset),
            (Cell::F32, _) => ins.load(types::F32, flags, address, offset),
            (Cell::F64, _) => ins.load(types::F64, flags, address, offset),
            (Cell::V128, _) => ins.load(types::I8X16, flags, address, offset),
            (Cell::I64 | Cell::Extern | Cell::Word, _) => {
                ins.load(types::I64, flags, address, offset)
            }
        }
    }

    /// Writes a value into a cell.
    pub(super) fn store_cell(
        &mut self,
        cell: Cell,
        value: Value,
        address: Value,
        offset: u32,
        flags: MemFlagsData,
    ) {
        let offset = offset.cast_signed();
        let ins = self.b.ins();
        match cell {
            Cell::I8 => ins.istore8(flags, value, address, offset),
            Cell::I16 => ins.istore16(flags, value, address, offset),
            Cell::Collected => ins.istore32(flags, value, address, offset),
            _ => ins.store(flags, value, address, offset),
        };
    }

    /// Tells a collection of the reference in a cell, which is about to be overwritten: it is
    /// written to a log of the runtime's. There is no call, for which all that is in registers
    /// would have to be put on the stack.
    pub(super) fn cell_overwritten(
        &mut self,
        cell: Cell,
        address: Value,
        offset: u32,
        flags: MemFlagsData,
    ) {
        self.while_marking(cell, |this, next| {
            let old = this.load_cell(cell, Extension::Unsigned, address, offset, flags);
            let reference = match cell {
                // All bits where it is a reference of the heap's, none where it is the host's.
                Cell::Extern => {
                    let is_inside = this.b.ins().sshr_imm_u(old, 63);
                    this.b.ins().band(old, is_inside)
                }
                _ => old,
            };
            let flags = this.cell_flags();
            let runtime = this.runtime();
            this.b.ins().istore32(flags, reference, next, 0);
            let ins = this.b.ins();
            let last = ins.load(types::I64, flags, runtime, offsets::HEAP_LOG_LAST);
            // The last place is written to again and again: so the runtime sees that it is full.
            let after = this.b.ins().iadd_imm_s(next, 4);
            let after = this.b.ins().umin(after, last);
            let ins = this.b.ins();
            ins.store(flags, after, runtime, offsets::HEAP_LOG_NEXT);
        });
    }

    /// Does something where a collection is under way and cells of this kind have references to
    /// objects, out of the way, with the next place of its log. What is overwritten between two
    /// steps would be lost to it: see `run/heap/collect.rs`.
    pub(super) fn while_marking(&mut self, cell: Cell, tell: impl FnOnce(&mut Self, Value)) {
        if !cell.is_collected() {
            return;
        }
        let runtime = self.runtime();
        let flags = self.cell_flags();
        let ins = self.b.ins();
        let next = ins.load(types::I64, flags, runtime, offsets::HEAP_LOG_NEXT);
        let [marking, done] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(marking);
        self.b.ins().brif(next, marking, &[], done, &[]);
        self.b.switch_to_block(marking);
        self.b.seal_block(marking);
        tell(self, next);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        self.b.seal_block(done);
    }

    /// Bytes of an array with so many elements.
    pub(super) fn array_bytes(&mut self, cell: Cell, len: Value) -> Value {
        let len = self.extended(len);
        let bytes = self.b.ins().ishl_imm_u(len, i64::from(cell.shift()));
        let most = i64::from(HEADER_BYTES + ALIGN - 1);
        let bytes = self.b.ins().iadd_imm_s(bytes, most);
        self.b.ins().band_imm_s(bytes, -i64::from(ALIGN))
    }
}
