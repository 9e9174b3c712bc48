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
//! Such code may be left in turn, for code of the last tier that begins at a loop: it stores all
//! locals where it has them from, and that code takes its place.
//!
//! What must stay true: the loop has no operands below it or of its own, so that locals are all
//! that its head needs.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, Inst, InstBuilder, MemFlagsData, Signature, SourceLoc, Value, types,
};
use wasmparser::{FuncValidator, FunctionBody, Operator, WasmModuleResources};

use super::env::clif_type;
use super::{ModuleEnv, TranslateError, Translator};
use crate::compile::direct::local_offset;
use crate::facts::libcall::{IS_OPTIMISED, Libcall};
use crate::facts::types::FuncType;

/// Where code that begins at a loop comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// The block that leads to the loop; filled when its head is known.
    block: Block,
    /// The branch that ends the first block.
    branch: Inst,
    is_filled: bool,
    /// The address of the frame.
    frame: Value,
    /// How many locals there are in it, and bytes of each.
    locals: u32,
    local_bytes: i32,
}

/// The loops of a body that code is left at, in order: those that have others in them, and those
/// that are in none. What innermost loops of others take would be felt, and whatever runs in them
/// for long gets to the loop around. What does not decode is told later.
pub(super) fn left_loops(body: &FunctionBody<'_>) -> Vec<u32> {
    struct Loop {
        offset: u32,
        is_outermost: bool,
        is_innermost: bool,
    }
    let mut loops: Vec<Loop> = Vec::new();
    // Of each open construct, the innermost loop.
    let mut open: Vec<Option<usize>> = Vec::new();
    let reader = body.get_operators_reader().into_iter();
    let operators = reader.flat_map(|reader| reader.into_iter_with_offsets());
    for (operator, offset) in operators.map_while(Result::ok) {
        let around = open.last().copied().flatten();
        match operator {
            Operator::Loop { .. } => {
                if let Some(around) = around {
                    loops[around].is_innermost = false;
                }
                open.push(Some(loops.len()));
                loops.push(Loop {
                    offset: offset as u32,
                    is_outermost: around.is_none(),
                    is_innermost: true,
                });
            }
            Operator::Block { .. }
            | Operator::If { .. }
            | Operator::TryTable { .. }
            | Operator::Try { .. } => open.push(around),
            Operator::End | Operator::Delegate { .. } => {
                open.pop();
            }
            _ => {}
        }
    }
    let are_left = loops
        .iter()
        .filter(|one| one.is_outermost || !one.is_innermost);
    are_left.map(|one| one.offset).collect()
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

    fn load_local(&mut self, local: u32, bytes: i32, ty: types::Type) -> Value {
        let frame = self.frame();
        let flags = MemFlagsData::trusted();
        let place = local_offset(local, bytes);
        self.b.ins().load(ty, flags, frame, place)
    }

    /// Binds the parameters to what the frame has of them, where a local has so many bytes.
    pub(super) fn load_params(&mut self, ty: &FuncType, bytes: i32) {
        for (local, ty) in (0..).zip(ty.params()) {
            let value = self.load_local(local, bytes, clif_type(*ty));
            self.declare_param(value);
        }
    }

    /// Gives all other locals what the frame has of them, so many bytes for each, and begins the
    /// start.
    pub(super) fn fork<R: WasmModuleResources>(
        &mut self,
        validator: &FuncValidator<R>,
        bytes: i32,
    ) -> Entry {
        for local in 0..validator.len_locals() {
            let ty = validator.get_local_type(local).expect("it is declared");
            if self.is_local_used(local) {
                let value = self.load_local(local, bytes, super::env::parsed_clif_type(ty));
                self.set_local(local, value);
            }
        }
        let frame = self.frame();
        let [start, block] = [(); 2].map(|()| self.b.create_block());
        let never = self.b.ins().iconst(types::I32, 0);
        let branch = self.b.ins().brif(never, start, &[], block, &[]);
        self.b.seal_block(block);
        self.go_on_in(start);
        Entry {
            block,
            branch,
            is_filled: false,
            frame,
            locals: validator.len_locals(),
            local_bytes: bytes,
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

    /// At the head of a loop: counts down, and goes on in better code where there is some.
    pub(super) fn leave_at_loop(&mut self) {
        let here = self.b.srcloc();
        let countdowns = self.env.module.countdowns;
        let (Some(entry), Some(countdowns)) = (self.state.entry, countdowns) else {
            return;
        };
        let is_left = self.state.left_loops.binary_search(&here.bits()).is_ok();
        if !is_left || self.state.inlined.frame().is_some() {
            return;
        }
        let func = self.b.func.name.get_user().map_or(0, |name| name.index);
        let position = (func - self.env.module.info.imported_funcs) as usize;
        let [cold, better, next] = [(); 3].map(|()| self.b.create_block());
        let flags = MemFlagsData::trusted();
        let countdown = std::ptr::from_ref(&countdowns[position]).addr();
        let countdown = self
            .b
            .ins()
            .iconst(types::I64, countdown.cast_signed() as i64);
        let left = self.b.ins().load(types::I32, flags, countdown, 0);
        let left = self.b.ins().iadd_imm_s(left, -1);
        self.b.ins().store(flags, left, countdown, 0);
        let is_over = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, left, 0);
        self.b.ins().brif(is_over, cold, &[], next, &[]);

        self.go_on_in(cold);
        self.b.set_cold_block(cold);
        for local in 0..entry.locals {
            if self.is_local_used(local) {
                let value = self.get_local(local);
                let place = local_offset(local, entry.local_bytes);
                self.b.ins().store(flags, value, entry.frame, place);
            }
        }
        let place = here.bits() | IS_OPTIMISED;
        let asked = [func, place].map(|word| self.b.ins().iconst(types::I32, i64::from(word)));
        let code = self.libcall(Libcall::TierUp, &asked);
        let code = code.expect("it returns an address");
        self.b.ins().brif(code, better, &[], next, &[]);

        self.go_on_in(better);
        self.b.set_cold_block(better);
        // Of no place: what is called has the place of what runs.
        self.b.set_srcloc(SourceLoc::default());
        let ty = self.env.module.info.func_type(func);
        let signature = self.b.import_signature(signature(self.env.module, ty));
        let args = [self.env.vmctx, self.env.vmctx, entry.frame];
        self.b.ins().return_call_indirect(signature, code, &args);
        self.b.set_srcloc(here);
        self.go_on_in(next);
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
