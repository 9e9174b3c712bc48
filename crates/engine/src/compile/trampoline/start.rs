//! Where a continuation begins and ends.
//!
//! ```text
//!  arguments of 16 bytes, in order │ VmStackTop │ VmCont
//!                                  ▲ VmCont::stack
//! ```
//!
//! Its function is called as any other; what it returns goes to the frame of the `resume`
//! that it returns to. Then the continuation is free for the next one, with its stack, which
//! the few instructions of the switch still run on: nothing interrupts them but a trap's or
//! an interrupt's way out, and that reads neither.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;

use super::{SLOT_BYTES, load_slots, slot_flags};
use crate::compile::argument_passing::Passing;
use crate::facts::trap;
use crate::facts::types::FuncType;
use crate::facts::vmcont::offsets as at;
use crate::facts::vmctx::offsets;

/// From the frame pointer to the arguments: it was pushed below what stands for a return address.
const FRAME_TO_SLOTS: i64 = 16;

pub(super) fn build(b: &mut FunctionBuilder<'_>, passing: Passing, ty: &FuncType, runtime: Value) {
    let flags = MemFlagsData::trusted();
    let get =
        |b: &mut FunctionBuilder<'_>, from, offset| b.ins().load(types::I64, flags, from, offset);
    // From the frame, which is the first: nothing waits for what the switch has just written.
    let frame = b.ins().get_frame_pointer(types::I64);
    let slots = b.ins().iadd_imm_s(frame, FRAME_TO_SLOTS);
    let bytes = i64::from(SLOT_BYTES) * ty.params().len() as i64;
    let top = b.ins().iadd_imm_s(slots, bytes);
    let func = get(b, top, at::TOP_FUNC);
    let caller = get(b, top, at::TOP_CALLER);
    let code = get(b, func, offsets::FUNCREF_CODE);
    let callee = get(b, func, offsets::FUNCREF_VMCTX);
    let mut args = vec![callee, caller];
    load_slots(b, ty.params(), slots, &mut args);
    passing.hand_over(b, ty, &mut args);
    let signature = b.import_signature(passing.signature(ty));
    let call = b.ins().call_indirect(signature, code, &args);
    let results = b.inst_results(call).to_vec();

    // It may be another one by now (`Libcall::ContRenew`).
    let cont = get(b, runtime, at::CURRENT);
    let site = get(b, cont, at::CONT_SITE);
    for (i, value) in results.iter().enumerate() {
        b.ins().store(slot_flags(), *value, site, at::site_value(i));
    }
    let parent = get(b, cont, at::CONT_LINK);
    let parent = root_or(b, runtime, parent);
    b.ins().store(flags, parent, runtime, at::CURRENT);
    let limit = get(b, parent, at::CONT_LIMIT);
    let least = get(b, runtime, at::LIMIT_MIN);
    let limit = b.ins().umax(limit, least);
    b.ins()
        .store(flags, limit, runtime, offsets::RUNTIME_STACK_LIMIT);
    let next = get(b, runtime, at::FREE_STACKS);
    b.ins().store(flags, next, cont, at::CONT_LINK);
    b.ins().store(flags, cont, runtime, at::FREE_STACKS);
    let scratch = b.ins().iadd_imm_s(runtime, i64::from(at::SCRATCH));
    b.ins().stack_switch(scratch, parent, runtime);
    b.ins().trap(trap::UNREACHABLE);
}

/// The parent, which is the root as a rule and is taken before it is read, so that nothing
/// waits for the continuation to come from memory.
fn root_or(b: &mut FunctionBuilder<'_>, runtime: Value, parent: Value) -> Value {
    let root = b.ins().iadd_imm_s(runtime, i64::from(at::ROOT));
    let is_root = b.ins().icmp(IntCC::Equal, parent, root);
    let (other, next) = (b.create_block(), b.create_block());
    b.append_block_param(next, types::I64);
    let taken = |value| [BlockArg::Value(value)];
    b.ins().brif(is_root, next, &taken(root), other, &[]);
    b.switch_to_block(other);
    b.seal_block(other);
    b.ins().jump(next, &taken(parent));
    b.switch_to_block(next);
    b.seal_block(next);
    b.block_params(next)[0]
}
