//! Between guest and host: what imports are now, and how the guest's functions are called.
//! Both take what the guest passes into the hash, and compare it.

use fathom_rewrite::shape::plain;
use wasm_encoder::{BlockType, Catch, Function, InstructionSink};

use super::super::canonical;
use super::super::script::NOBODY;
use super::{Cell, Emit, Own};

/// What is mixed into the hash in front of a call of the host, and of results.
const IMPORTED: i32 = 16;
const RETURNED: i32 = 17;
/// One NaN for all, of each width.
const NAN_32: i32 = 0x7fc0_0000;
const NAN_64: i64 = 0x7ff8_0000_0000_0000;

impl Emit<'_> {
    /// What an imported function is now.
    pub(super) fn stub(&self, func: u32) -> Function {
        let ty = self.func_type(func);
        let mut body = Function::new([]);
        let f = &mut body.instructions();
        let mix = self.own(Own::Mix);
        f.i32_const(IMPORTED).call(mix);
        let who = canonical(self.shape, func);
        f.i32_const(who.cast_signed()).call(mix);
        for (local, ty) in (0u32..).zip(ty.params()) {
            self.mix_local(f, local, *ty);
        }
        self.calls(f, who);
        f.call(self.own(Own::Check)).call(self.own(Own::Host));
        for ty in ty.results() {
            self.value(f, *ty);
        }
        f.end();
        body
    }

    /// Takes a local into the hash.
    fn mix_local(&self, f: &mut InstructionSink<'_>, local: u32, ty: wasmparser::ValType) {
        let mix = self.own(Own::Mix);
        let wide = |f: &mut InstructionSink<'_>, push: &dyn Fn(&mut InstructionSink<'_>)| {
            push(f);
            f.i32_wrap_i64().call(mix);
            push(f);
            f.i64_const(32).i64_shr_u().i32_wrap_i64().call(mix);
        };
        match ty {
            wasmparser::ValType::I32 => {
                f.local_get(local).call(mix);
            }
            wasmparser::ValType::I64 => wide(f, &|f| {
                f.local_get(local);
            }),
            wasmparser::ValType::F32 => {
                f.local_get(local).i32_reinterpret_f32().i32_const(NAN_32);
                f.local_get(local)
                    .local_get(local)
                    .f32_eq()
                    .select()
                    .call(mix);
            }
            wasmparser::ValType::F64 => wide(f, &|f| {
                f.local_get(local).i64_reinterpret_f64().i64_const(NAN_64);
                f.local_get(local).local_get(local).f64_eq().select();
            }),
            wasmparser::ValType::V128 => {}
            wasmparser::ValType::Ref(_) => {
                f.local_get(local).ref_is_null().i32_eqz().call(mix);
            }
        }
    }

    /// Calls a function with what the words say, and checks what it returns.
    pub(super) fn thunk(&self, func: u32) -> Function {
        let ty = self.func_type(func);
        let results = ty.results().iter().map(|ty| (1, plain(*ty)));
        let mut body = Function::new(results.collect::<Vec<_>>());
        let f = &mut body.instructions();
        for ty in ty.params() {
            self.value(f, *ty);
        }
        f.call(self.function(func));
        for local in (0..ty.results().len() as u32).rev() {
            f.local_set(local);
        }
        f.i32_const(RETURNED).call(self.own(Own::Mix));
        for (local, ty) in (0u32..).zip(ty.results()) {
            self.mix_local(f, local, *ty);
        }
        self.calls(f, NOBODY);
        f.call(self.own(Own::Check)).end();
        body
    }

    /// Notes who is called, where that is what is compared.
    fn calls(&self, f: &mut InstructionSink<'_>, who: u32) {
        if self.compares_others() {
            f.i32_const(who.cast_signed());
            f.global_set(self.cell(Cell::Other));
        }
    }

    /// The same of a function that is left by an exception; in the form that the module has
    /// others in, since some engines take no two.
    pub(super) fn catching(&self, func: u32) -> Function {
        let ty = self.func_type(func);
        let mut body = Function::new([]);
        let f = &mut body.instructions();
        let call = |f: &mut InstructionSink<'_>| {
            for ty in ty.params() {
                self.value(f, *ty);
            }
            f.call(self.function(func));
            for _ in ty.results() {
                f.drop();
            }
        };
        match self.shape.has_old_exceptions {
            true => {
                f.try_(BlockType::Empty);
                call(f);
                f.call(self.own(Own::Differ)).catch_all().end();
            }
            false => {
                f.block(BlockType::Empty);
                f.try_table(BlockType::Empty, [Catch::All { label: 0 }]);
                call(f);
                f.call(self.own(Own::Differ)).end();
                f.end();
            }
        }
        f.end();
        body
    }
}
