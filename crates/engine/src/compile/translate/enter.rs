//! Code of a function that begins at the head of one of its loops, with the locals that a frame
//! of code has that was made in one pass (`compile/direct`).
//!
//! ```text
//!  entry: locals ◄── frame ──┬──▶ start ──▶ … ──▶ head of the loop ──▶ …
//!                            └─────────────────────▲
//! ```
//!
//! All of the function is translated. That its start is not reached is said at the end, and what
//! only it leads to is removed before anything is optimised.
//!
//! What must stay true: the loop has no operands below it or of its own, so that locals are all
//! that its head needs.

use cranelift_codegen::ir::{
    AbiParam, Block, Inst, InstBuilder, MemFlagsData, Signature, Value, types,
};
use wasmparser::{FuncValidator, WasmModuleResources};

use super::env::clif_type;
use super::{ModuleEnv, TranslateError, Translator};
use crate::compile::direct::local_offset;
use crate::facts::types::FuncType;

/// Where code that begins at a loop comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The block that leads to the loop; filled when its head is known.
    block: Block,
    /// The branch that ends the first block.
    branch: Inst,
    is_filled: bool,
}

/// Contexts, and the address of the frame.
pub(super) fn signature(module: &ModuleEnv<'_>, ty: &FuncType) -> Signature {
    let whole = module.passing.signature(ty);
    let mut signature = Signature::new(whole.call_conv);
    let contexts = whole.params.into_iter().take(2);
    signature.params.extend(contexts);
    signature.params.push(AbiParam::new(types::I64));
    signature.returns = whole.returns;
    signature
}

impl Translator<'_> {
    /// The address of the frame, in the entry block.
    fn frame(&self) -> Value {
        let entry = self.b.current_block().expect("the entry block is current");
        self.b.block_params(entry)[2]
    }

    fn load_local(&mut self, local: u32, ty: types::Type) -> Value {
        let frame = self.frame();
        let flags = MemFlagsData::trusted();
        let place = local_offset(local);
        self.b.ins().load(ty, flags, frame, place)
    }

    /// Binds the parameters to what the frame has of them.
    pub(super) fn load_params(&mut self, ty: &FuncType) {
        for (local, ty) in (0..).zip(ty.params()) {
            let value = self.load_local(local, clif_type(*ty));
            self.declare_param(value);
        }
    }

    /// Gives all other locals what the frame has of them, and begins the start.
    pub(super) fn fork<R: WasmModuleResources>(&mut self, validator: &FuncValidator<R>) -> Entry {
        for local in 0..validator.len_locals() {
            let ty = validator.get_local_type(local).expect("it is declared");
            if self.is_local_used(local) {
                let value = self.load_local(local, super::env::parsed_clif_type(ty));
                self.set_local(local, value);
            }
        }
        let [start, block] = [(); 2].map(|()| self.b.create_block());
        let never = self.b.ins().iconst(types::I32, 0);
        let branch = self.b.ins().brif(never, start, &[], block, &[]);
        self.b.seal_block(block);
        self.go_on_in(start);
        Entry {
            block,
            branch,
            is_filled: false,
        }
    }

    /// At the head of a loop: whether the code begins here.
    pub(super) fn begin_here(&mut self, head: Block) {
        let here = Some(self.b.srcloc().bits());
        let Some(entry) = self.state.entry else {
            return;
        };
        if here != self.env.module.entered_at || entry.is_filled {
            return;
        }
        self.b.switch_to_block(entry.block);
        self.b.ins().jump(head, &[]);
        self.state.entry = Some(Entry {
            is_filled: true,
            ..entry
        });
    }

    /// Has the code begin at its loop.
    pub(super) fn begin_at_loop(&mut self) -> Result<(), TranslateError> {
        let Some(entry) = self.state.entry else {
            return Ok(());
        };
        if !entry.is_filled {
            return Err(TranslateError::Unsupported {
                operator: "beginning at a loop that nothing gets to".to_owned(),
                offset: self.env.module.entered_at.unwrap_or_default() as usize,
            });
        }
        let jump = self.b.func.replace(entry.branch);
        jump.jump(entry.block, &[]);
        Ok(())
    }
}
