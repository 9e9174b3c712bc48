//! Casts, small integers and conversions of references (core specification §4.4.6): what
//! `translate/cast.rs` does, in one pass.

use cranelift_assembler_x64::Scale;
use wasmparser::{HeapType, Operator, RefType};

use super::Generator;
use super::code::{Condition, emit};
use super::integer::Alu;
use super::registers::{Gpr, RAX, RCX, Rm, SCRATCH, at, indexed};
use super::table::Argument;
use super::values::Kind;
use crate::compile::translate::cast::{Wanted, wanted};
use crate::facts::libcall::Libcall;
use crate::facts::object::{self, ROW_BYTES, tag};
use crate::facts::trap;
use crate::facts::vmctx::offsets;

impl Generator<'_> {
    /// Translates a cast or a conversion; `false` when it is none.
    pub(super) fn cast(&mut self, op: &Operator<'_>) -> bool {
        match *op {
            Operator::RefEq => self.compare(Condition::Equal),
            Operator::RefTestNonNull { hty } => self.ref_test(hty, false),
            Operator::RefTestNullable { hty } => self.ref_test(hty, true),
            Operator::RefCastNonNull { hty } => self.ref_cast(hty, false),
            Operator::RefCastNullable { hty } => self.ref_cast(hty, true),
            Operator::BrOnCast {
                relative_depth,
                to_ref_type: to,
                ..
            } => self.branch_on_cast(relative_depth, to, Condition::NotEqual),
            Operator::BrOnCastFail {
                relative_depth,
                to_ref_type: to,
                ..
            } => self.branch_on_cast(relative_depth, to, Condition::Equal),
            Operator::RefI31 => {
                let value = self.pop();
                let gpr = self.own(value);
                emit!(self.code, shll_mi(Rm::Gpr(gpr), 1u8));
                self.alu_immediate(Alu::Or, false, Rm::Gpr(gpr), tag::I31.cast_signed());
                self.push_gpr(Kind::I64, gpr);
            }
            Operator::I31GetS => {
                let gpr = self.own_i31();
                emit!(self.code, sarl_mi(Rm::Gpr(gpr), 1u8));
                self.push_gpr(Kind::I32, gpr);
            }
            Operator::I31GetU => {
                let gpr = self.own_i31();
                emit!(self.code, shrl_mi(Rm::Gpr(gpr), 1u8));
                self.push_gpr(Kind::I32, gpr);
            }
            Operator::AnyConvertExtern => self.any_of_extern(),
            Operator::ExternConvertAny => self.extern_of_any(),
            _ => return false,
        }
        true
    }

    fn own_i31(&mut self) -> Gpr {
        let reference = self.pop();
        let gpr = self.own(reference);
        emit!(self.code, testq_mr(Rm::Gpr(gpr), gpr));
        self.code.trap_if(Condition::Equal, trap::NULL_I31);
        gpr
    }

    fn ref_test(&mut self, heap: HeapType, nullable: bool) {
        let (gpr, is_of) = self.is_of(heap, nullable);
        self.free.give(gpr);
        self.push_gpr(Kind::I32, is_of);
    }

    fn ref_cast(&mut self, heap: HeapType, nullable: bool) {
        let (gpr, is_of) = self.is_of(heap, nullable);
        emit!(self.code, testl_mr(Rm::Gpr(is_of), is_of));
        self.code.trap_if(Condition::Equal, trap::CAST_FAILURE);
        self.free.give(is_of);
        self.push_gpr(Kind::I64, gpr);
    }

    /// Branches where what a test gives compares so with 0.
    fn branch_on_cast(&mut self, depth: u32, to: RefType, how: Condition) {
        let (gpr, is_of) = self.is_of(to.heap_type(), to.is_nullable());
        self.push_gpr(Kind::I64, gpr);
        emit!(self.code, testl_mr(Rm::Gpr(is_of), is_of));
        self.free.give(is_of);
        self.branch_if(how, depth);
    }

    /// Whether the popped reference is of a type: 1 in the second register; the first has the
    /// reference.
    fn is_of(&mut self, heap: HeapType, nullable: bool) -> (Gpr, Gpr) {
        let info = self.env.info;
        let wanted = wanted(info, heap);
        if let Wanted::Func(ty) = wanted
            && !info.places[ty as usize].is_final
        {
            return self.is_of_open_function(ty, nullable);
        }
        let reference = self.pop();
        let gpr = self.own(reference);
        // Before any branch: for a register an operand may go to its slot.
        let [is_of, found] = [(); 2].map(|()| self.take());
        let done = self.code.label();
        self.load_constant(is_of, u64::from(nullable));
        emit!(self.code, testq_mr(Rm::Gpr(gpr), gpr));
        self.code.jump_if(Condition::Equal, done);
        self.load_constant(is_of, 0);
        match wanted {
            Wanted::Any => self.load_constant(is_of, 1),
            Wanted::None => {}
            Wanted::Eq => {
                self.load_tag(found, gpr, tag::MASK);
                let host = tag::HOST.cast_signed();
                self.alu_immediate(Alu::Compare, false, Rm::Gpr(found), host);
                self.code.set_if(Condition::NotEqual, is_of);
            }
            Wanted::I31 => self.load_tag(is_of, gpr, tag::I31),
            Wanted::Struct | Wanted::Array | Wanted::Object(_) => {
                self.load_tag(found, gpr, tag::MASK);
                self.code.jump_if(Condition::NotEqual, done);
                emit!(self.code, movl_rm(found, Rm::Gpr(gpr)));
                self.load_heap_base(SCRATCH);
                let how = self.compare_object(wanted, found);
                self.code.set_if(how, is_of);
            }
            Wanted::Func(ty) => {
                let number = at(gpr, offsets::FUNCREF_TYPE_ID);
                emit!(self.code, movl_rm(found, Rm::Mem(number)));
                self.compare_type_number(found, ty);
                self.code.set_if(Condition::Equal, is_of);
            }
        }
        self.code.bind(done);
        self.free.give(found);
        (gpr, is_of)
    }

    /// The same of a type of functions that may have others below it.
    fn is_of_open_function(&mut self, ty: u32, nullable: bool) -> (Gpr, Gpr) {
        let [reference] = self.pop_operands();
        self.load_gpr(RCX, reference);
        let done = self.code.label();
        self.load_constant(RAX, u64::from(nullable));
        emit!(self.code, testq_mr(Rm::Gpr(RCX), RCX));
        self.code.jump_if(Condition::Equal, done);
        let number = at(RCX, offsets::FUNCREF_TYPE_ID);
        emit!(self.code, movl_rm(RCX, Rm::Mem(number)));
        self.is_type_below(ty);
        self.code.bind(done);
        self.free.take(RAX);
        let gpr = self.take();
        self.load_gpr(gpr, reference);
        (gpr, RAX)
    }

    /// Whether a type of functions, by its number in rcx, is the module's type or below it: 1 in
    /// rax. All operands are in their slots.
    pub(super) fn is_type_below(&mut self, ty: u32) {
        let done = self.code.label();
        self.load_constant(RAX, 1);
        self.compare_type_number(RCX, ty);
        self.code.jump_if(Condition::Equal, done);
        let types = [Argument::Gpr(RCX), Argument::TypeNumber(ty)];
        self.libcall(Libcall::IsSubtype, &types);
        self.code.bind(done);
    }

    /// Some of the lowest bits of a reference; the flags say whether they are 0.
    fn load_tag(&mut self, to: Gpr, reference: Gpr, mask: u32) {
        emit!(self.code, movl_rm(to, Rm::Gpr(reference)));
        self.alu_immediate(Alu::And, false, Rm::Gpr(to), mask.cast_signed());
    }

    /// Compares the object of a reference in a register, which it takes for itself; the heap's
    /// base is in [`SCRATCH`]. The condition under which it is wanted.
    fn compare_object(&mut self, wanted: Wanted, found: Gpr) -> Condition {
        let ty = match wanted {
            Wanted::Object(ty) => ty,
            other => {
                let length = indexed(SCRATCH, found, Scale::One, object::LENGTH);
                let none = object::NO_LENGTH.cast_signed();
                self.alu_immediate(Alu::Compare, false, Rm::Mem(length), none);
                return match other {
                    Wanted::Struct => Condition::Equal,
                    _ => Condition::NotEqual,
                };
            }
        };
        let number = indexed(SCRATCH, found, Scale::One, object::TYPE);
        emit!(self.code, movl_rm(found, Rm::Mem(number)));
        let place = self.env.info.places[ty as usize];
        if !place.is_final {
            // The row of type n begins (n + 1) rows below the base.
            let bytes = ROW_BYTES.cast_signed();
            let up = 4 * place.depth.cast_signed() - bytes;
            emit!(self.code, imulq_rmi_sxl(found, Rm::Gpr(found), -bytes));
            let ancestor = indexed(SCRATCH, found, Scale::One, up);
            emit!(self.code, movl_rm(found, Rm::Mem(ancestor)));
        }
        self.compare_type_number(found, ty);
        Condition::Equal
    }

    /// What is inside has its reference in the lower half; what is the host's, the runtime knows.
    fn any_of_extern(&mut self) {
        let [raw] = self.pop_operands();
        self.load_gpr(RCX, raw);
        emit!(self.code, movl_rm(RAX, Rm::Gpr(RCX)));
        let done = self.code.label();
        emit!(self.code, testq_mr(Rm::Gpr(RCX), RCX));
        self.code.jump_if(Condition::LessOrEqual, done);
        self.libcall(Libcall::AnyOfHost, &[Argument::Value(raw)]);
        self.code.bind(done);
        self.free.take(RAX);
        self.push_gpr(Kind::I64, RAX);
    }

    fn extern_of_any(&mut self) {
        let [reference] = self.pop_operands();
        self.load_gpr(RAX, reference);
        let done = self.code.label();
        emit!(self.code, testq_mr(Rm::Gpr(RAX), RAX));
        self.code.jump_if(Condition::Equal, done);
        self.load_tag(RCX, RAX, tag::MASK);
        self.load_constant(SCRATCH, tag::INSIDE);
        emit!(self.code, orq_rm(RAX, Rm::Gpr(SCRATCH)));
        self.alu_immediate(Alu::Compare, false, Rm::Gpr(RCX), tag::HOST.cast_signed());
        self.code.jump_if(Condition::NotEqual, done);
        self.libcall(Libcall::HostOfAny, &[Argument::Value(reference)]);
        self.code.bind(done);
        self.free.take(RAX);
        self.push_gpr(Kind::I64, RAX);
    }
}
