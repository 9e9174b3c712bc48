//! Casts, small integers and conversions of references (core specification §4.4.6).
//!
//! ```text
//!  reference   0                  null
//!              …1                 an integer of 31 bits
//!              …010               a value of the host's
//!              …000               an object: its header has its type's number
//! ```
//!
//! Whether an object is of a type that has others below it says the row of its own type:
//! at the depth of the wanted type there is that type, or another (`run/heap.rs`).

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use wasmparser::{AbstractHeapType, Operator};

use super::Translator;
use crate::facts::libcall::Libcall;
use crate::facts::module::ModuleInfo;
use crate::facts::object::{self, ROW_BYTES, tag};
use crate::facts::trap;
use crate::facts::vmctx::offsets;

/// What a reference is compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// Every reference that is not null.
    Any,
    /// None but null.
    None,
    /// What is not the host's.
    Eq,
    I31,
    Struct,
    Array,
    /// Objects of the module's type at this index.
    Object(u32),
    /// Functions of the module's type at this index.
    Func(u32),
}

/// What a type of a module's stands for.
pub(crate) fn wanted(info: &ModuleInfo, heap: wasmparser::HeapType) -> Wanted {
    use AbstractHeapType as A;
    match heap {
        wasmparser::HeapType::Abstract { ty, .. } => match ty {
            A::None | A::NoFunc | A::NoExtern | A::NoExn | A::NoCont => Wanted::None,
            A::Any | A::Func | A::Extern | A::Exn | A::Cont => Wanted::Any,
            A::Eq => Wanted::Eq,
            A::I31 => Wanted::I31,
            A::Struct => Wanted::Struct,
            A::Array => Wanted::Array,
        },
        wasmparser::HeapType::Concrete(index) | wasmparser::HeapType::Exact(index) => {
            let index = index.as_module_index().expect("a type of the module's");
            match info.layouts[index as usize] {
                Some(_) => Wanted::Object(index),
                None => Wanted::Func(index),
            }
        }
    }
}

impl Translator<'_> {
    /// Translates a cast or a conversion; `false` when it is none.
    pub(super) fn cast(&mut self, op: &Operator<'_>) -> bool {
        match *op {
            Operator::RefEq => {
                let (x, y) = self.pop2();
                let are_equal = self.b.ins().icmp(IntCC::Equal, x, y);
                self.push(are_equal);
            }
            Operator::RefTestNonNull { hty } => self.ref_test(hty, false),
            Operator::RefTestNullable { hty } => self.ref_test(hty, true),
            Operator::RefCastNonNull { hty } => self.ref_cast(hty, false),
            Operator::RefCastNullable { hty } => self.ref_cast(hty, true),
            Operator::BrOnCast {
                relative_depth,
                to_ref_type: to,
                ..
            } => self.branch_on_cast(relative_depth, to, true),
            Operator::BrOnCastFail {
                relative_depth,
                to_ref_type: to,
                ..
            } => self.branch_on_cast(relative_depth, to, false),
            Operator::RefI31 => self.ref_i31(),
            Operator::I31GetS => {
                let value = self.pop_i31();
                let value = self.b.ins().sshr_imm_u(value, 1);
                self.push(value);
            }
            Operator::I31GetU => {
                let value = self.pop_i31();
                let value = self.b.ins().ushr_imm_u(value, 1);
                self.push(value);
            }
            Operator::AnyConvertExtern => self.any_of_extern(),
            Operator::ExternConvertAny => self.extern_of_any(),
            _ => return false,
        }
        true
    }

    fn ref_test(&mut self, heap: wasmparser::HeapType, nullable: bool) {
        let reference = self.pop();
        let is_of = self.is_of(reference, heap, nullable);
        self.push(is_of);
    }

    fn ref_cast(&mut self, heap: wasmparser::HeapType, nullable: bool) {
        let reference = self.pop();
        let is_of = self.is_of(reference, heap, nullable);
        self.b.ins().trapz(is_of, trap::CAST_FAILURE);
        self.push(reference);
    }

    fn branch_on_cast(&mut self, depth: u32, to: wasmparser::RefType, on_success: bool) {
        let reference = self.pop();
        let is_of = self.is_of(reference, to.heap_type(), to.is_nullable());
        self.push(reference);
        self.branch_where(depth, is_of, on_success);
    }

    /// Whether a reference is of a type: not 0 if it is.
    fn is_of(&mut self, reference: Value, heap: wasmparser::HeapType, nullable: bool) -> Value {
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, types::I32);
        let other = self.b.create_block();
        let of_null = self.b.ins().iconst(types::I32, i64::from(nullable));
        self.b
            .ins()
            .brif(reference, other, &[], done, &[of_null.into()]);
        self.b.switch_to_block(other);
        self.b.seal_block(other);
        let is_of = self.is_not_null_of(reference, wanted(self.env.module.info, heap), done);
        let is_of = self.canonical(is_of);
        self.b.ins().jump(done, &[is_of.into()]);
        self.b.switch_to_block(done);
        self.b.seal_block(done);
        result
    }

    /// The same of one that is not null; where it is none of an object's, `done` is told.
    fn is_not_null_of(&mut self, reference: Value, wanted: Wanted, done: Block) -> Value {
        match wanted {
            Wanted::Any => self.b.ins().iconst(types::I32, 1),
            Wanted::None => self.b.ins().iconst(types::I32, 0),
            Wanted::Eq => {
                let bits = self.tag_bits(reference, tag::MASK);
                let host = i64::from(tag::HOST);
                self.b.ins().icmp_imm_u(IntCC::NotEqual, bits, host)
            }
            Wanted::I31 => self.tag_bits(reference, tag::I31),
            Wanted::Struct => self.has_length(reference, IntCC::Equal, done),
            Wanted::Array => self.has_length(reference, IntCC::NotEqual, done),
            Wanted::Object(ty) => self.is_object_of(reference, ty, done),
            Wanted::Func(ty) => self.is_function_of(reference, ty),
        }
    }

    /// Some of the lowest bits of a reference, as 32 bits.
    fn tag_bits(&mut self, reference: Value, mask: u32) -> Value {
        let low = self.b.ins().ireduce(types::I32, reference);
        self.b.ins().band_imm_u(low, i64::from(mask))
    }

    /// Goes on where a reference that is not null is to an object.
    fn in_object(&mut self, reference: Value, done: Block) {
        self.state.work.object();
        let bits = self.tag_bits(reference, tag::MASK);
        let no = self.b.ins().iconst(types::I32, 0);
        let object = self.b.create_block();
        self.b.ins().brif(bits, done, &[no.into()], object, &[]);
        self.b.switch_to_block(object);
        self.b.seal_block(object);
    }

    /// How the length of an object compares with that of what is no array.
    fn has_length(&mut self, reference: Value, condition: IntCC, done: Block) -> Value {
        self.in_object(reference, done);
        let address = self.object_address(reference);
        let flags = self.header_flags();
        let ins = self.b.ins();
        let length = ins.load(types::I32, flags, address, object::LENGTH);
        let none = self
            .b
            .ins()
            .iconst(types::I32, i64::from(object::NO_LENGTH));
        self.b.ins().icmp(condition, length, none)
    }

    fn is_object_of(&mut self, reference: Value, ty: u32, done: Block) -> Value {
        self.in_object(reference, done);
        let address = self.object_address(reference);
        let flags = self.header_flags();
        let ins = self.b.ins();
        let found = ins.load(types::I32, flags, address, object::TYPE);
        let wanted = self.type_number(ty);
        let place = self.env.module.info.places[ty as usize];
        if place.is_final {
            return self.b.ins().icmp(IntCC::Equal, found, wanted);
        }
        // The row of type n begins (n + 1) rows below the base.
        let base = self.heap_base();
        let found = self.b.ins().uextend(types::I64, found);
        let below = self.b.ins().imul_imm_s(found, i64::from(ROW_BYTES));
        let row = self.b.ins().isub(base, below);
        let at = 4 * place.depth.cast_signed() - ROW_BYTES.cast_signed();
        let flags = self.constant_row_flags();
        let ancestor = self.b.ins().load(types::I32, flags, row, at);
        self.b.ins().icmp(IntCC::Equal, ancestor, wanted)
    }

    fn is_function_of(&mut self, reference: Value, ty: u32) -> Value {
        let flags = self.constant_row_flags();
        let ins = self.b.ins();
        let found = ins.load(types::I32, flags, reference, offsets::FUNCREF_TYPE_ID);
        let wanted = self.type_number(ty);
        self.is_type_below(found, wanted, ty)
    }

    /// Whether a type of functions, by its number, is the module's type or below it.
    pub(super) fn is_type_below(&mut self, found: Value, wanted: Value, ty: u32) -> Value {
        let is_it = self.b.ins().icmp(IntCC::Equal, found, wanted);
        if self.env.module.info.places[ty as usize].is_final {
            return is_it;
        }
        let [slow, done] = [(); 2].map(|()| self.b.create_block());
        let result = self.b.append_block_param(done, types::I32);
        let yes = self.b.ins().iconst(types::I32, 1);
        self.b.ins().brif(is_it, done, &[yes.into()], slow, &[]);
        self.b.switch_to_block(slow);
        self.b.seal_block(slow);
        let is_below = self.libcall(Libcall::IsSubtype, &[found, wanted]);
        let is_below = is_below.expect("it returns an answer");
        self.b.ins().jump(done, &[is_below.into()]);
        self.b.switch_to_block(done);
        self.b.seal_block(done);
        result
    }

    fn ref_i31(&mut self) {
        let value = self.pop();
        let value = self.b.ins().ishl_imm_u(value, 1);
        let value = self.b.ins().bor_imm_u(value, i64::from(tag::I31));
        let reference = self.b.ins().uextend(types::I64, value);
        self.push(reference);
    }

    /// Pops an integer of 31 bits, with its tag below it.
    fn pop_i31(&mut self) -> Value {
        let reference = self.pop();
        self.b.ins().trapz(reference, trap::NULL_I31);
        self.b.ins().ireduce(types::I32, reference)
    }

    /// `any.convert_extern`: what is inside has its reference in the lower half.
    fn any_of_extern(&mut self) {
        let raw = self.pop();
        let inside = self.b.ins().ireduce(types::I32, raw);
        let inside = self.b.ins().uextend(types::I64, inside);
        let is_host = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, raw, 0);
        self.convert(is_host, inside, Libcall::AnyOfHost, raw);
    }

    fn extern_of_any(&mut self) {
        let reference = self.pop();
        let mark = self.b.ins().iconst(types::I64, tag::INSIDE.cast_signed());
        let marked = self.b.ins().bor(reference, mark);
        let inside = self.b.ins().select(reference, marked, reference);
        let bits = self.tag_bits(reference, tag::MASK);
        let host = i64::from(tag::HOST);
        let is_host = self.b.ins().icmp_imm_u(IntCC::Equal, bits, host);
        self.convert(is_host, inside, Libcall::HostOfAny, reference);
    }

    /// Pushes what the runtime has for a value of the host's, else `inside`.
    fn convert(&mut self, is_host: Value, inside: Value, libcall: Libcall, of: Value) {
        let [slow, done] = [(); 2].map(|()| self.b.create_block());
        let result = self.b.append_block_param(done, types::I64);
        self.b
            .ins()
            .brif(is_host, slow, &[], done, &[inside.into()]);
        self.b.switch_to_block(slow);
        self.b.seal_block(slow);
        let found = self.libcall(libcall, &[of]);
        let found = found.expect("it returns a reference");
        self.b.ins().jump(done, &[found.into()]);
        self.b.switch_to_block(done);
        self.b.seal_block(done);
        self.push(result);
    }
}
