//! Globals (core specification §4.4.5).
//!
//! A defined global is a cell in the instance's own context, an imported one a
//! cell behind a pointer. Immutable ones whose value the module states are
//! folded into the code.

use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};

use super::Translator;
use super::env::clif_type;
use crate::facts::module::ConstOp;
use crate::facts::vmctx::GlobalPlace;

impl Translator<'_> {
    pub(super) fn global_get(&mut self, index: u32) {
        if let Some(constant) = self.env.module.info.constant_global(index)
            && let Some(value) = self.constant(constant)
        {
            self.push(value);
            return;
        }
        let ty = self.env.module.info.globals[index as usize];
        let (base, offset, mut flags) = self.global_cell(index);
        if !ty.mutable {
            flags = flags.with_readonly().with_can_move();
        }
        let value = self
            .b
            .ins()
            .load(clif_type(ty.content), flags, base, offset);
        self.push(value);
    }

    pub(super) fn global_set(&mut self, index: u32) {
        let value = self.pop();
        let (base, offset, flags) = self.global_cell(index);
        self.b.ins().store(flags, value, base, offset);
    }

    fn constant(&mut self, constant: ConstOp) -> Option<Value> {
        Some(match constant {
            ConstOp::I32(value) => self
                .b
                .ins()
                .iconst(types::I32, i64::from(value.cast_unsigned())),
            ConstOp::I64(value) => self.b.ins().iconst(types::I64, value),
            ConstOp::F32(bits) => self.b.ins().f32const(Ieee32::with_bits(bits)),
            ConstOp::F64(bits) => self.b.ins().f64const(Ieee64::with_bits(bits)),
            ConstOp::V128(bits) => self.vector_constant(bits.to_le_bytes()),
            _ => return None,
        })
    }

    /// Base address, offset and flags of a global's cell.
    fn global_cell(&mut self, index: u32) -> (Value, i32, MemFlagsData) {
        match self.env.module.layout.global(index) {
            GlobalPlace::Inline(offset) => {
                let defined = index - self.env.module.info.imported_globals;
                (self.env.vmctx, offset, self.global_flags(Some(defined)))
            }
            GlobalPlace::Pointer(offset) => {
                let cell = self.context_constant(types::I64, offset);
                (cell, 0, self.global_flags(None))
            }
        }
    }
}
