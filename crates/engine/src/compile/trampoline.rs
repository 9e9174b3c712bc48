//! The ways into and out of compiled code, one of each for a function type.
//!
//! ```text
//!  host ── entry(callee ctx, caller ctx, code, slots) ──▶ code(ctx, ctx, params…)
//!  Wasm ── exit(host function, caller ctx, params…) ──▶ call(host function, ctx, slots)
//!  resume ── start(runtime), arguments at the stack's top ──▶ code(ctx, ctx, params…)
//! ```
//!
//! `slots` is an array of 16 bytes a value, parameters on the way in, results
//! on the way back; both share it from its start. The host's side is the C
//! calling convention, the other Cranelift's `tail`.
//!
//! The exit trampoline leaves the frame and the return address of its Wasm
//! caller in the runtime before it calls, so that a backtrace taken in the host
//! starts there. A status other than 0 is a trap that the host left pending.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Function, InstBuilder, MemFlagsData, Signature, StackSlotData, StackSlotKind,
    UserFuncName, Value, types,
};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

use crate::compile::argument_passing::Passing;
use crate::compile::count::count_host_call;
use crate::compile::translate::{
    clif_type, set_stack_limit, set_stack_limit_of_runtime, start_signature,
};
use crate::facts::libcall::Libcall;
use crate::facts::module::{ImportKind, ModuleInfo};
use crate::facts::trap;
use crate::facts::types::{FuncType, ValType};
use crate::facts::vmctx::{self, THROWN, offsets};

mod start;

/// Bytes of a value between host and Wasm.
const SLOT_BYTES: u32 = 16;

/// Which way a trampoline goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trampoline {
    /// From the host into Wasm.
    Entry,
    /// From Wasm out to the host.
    Exit,
    /// From a `resume` into a continuation; entered by a jump, left by one.
    Start,
}

/// The trampolines a module needs: entries for what the host can get hold of, which
/// is also what it supplies, and exits for that.
pub(super) fn needed(info: &ModuleInfo) -> Vec<(Trampoline, u32)> {
    let mut exits: Vec<u32> = info
        .imports
        .iter()
        .filter_map(|import| match import.kind {
            ImportKind::Func(ty) => Some(ty),
            _ => None,
        })
        .collect();
    let mut entries: Vec<u32> = info
        .escaping
        .iter()
        .chain(&info.start)
        .map(|func| info.funcs[*func as usize])
        .chain(exits.iter().copied())
        .collect();
    for types in [&mut entries, &mut exits] {
        types.sort_unstable();
        types.dedup();
    }
    let entries = entries.into_iter().map(|ty| (Trampoline::Entry, ty));
    let starts = info.cont_types.iter().map(|ty| (Trampoline::Start, *ty));
    entries
        .chain(exits.into_iter().map(|ty| (Trampoline::Exit, ty)))
        .chain(starts)
        .collect()
}

/// What else trampolines depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways {
    /// How arguments get to functions.
    pub passing: Passing,
    /// Whether what goes out is counted.
    pub count: bool,
}

/// Builds a trampoline for functions of type `ty`, which counts what goes out of
/// it where it is to, into `func`, which must be empty.
pub(super) fn build(
    kind: Trampoline,
    isa: &dyn TargetIsa,
    ty: &FuncType,
    Ways { passing, count }: Ways,
    func: &mut Function,
    buffers: &mut FunctionBuilderContext,
) {
    func.name = UserFuncName::user(1, kind as u32);
    func.signature = match kind {
        Trampoline::Entry => entry_signature(isa),
        Trampoline::Exit => passing.signature(ty),
        Trampoline::Start => start_signature(),
    };
    // It may be on the stack of a continuation, whose end nothing guards.
    match kind {
        Trampoline::Entry => {}
        Trampoline::Exit => set_stack_limit(func),
        Trampoline::Start => set_stack_limit_of_runtime(func),
    }
    let mut b = FunctionBuilder::new(func, buffers);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    b.seal_block(block);
    let params = b.block_params(block).to_vec();
    match kind {
        Trampoline::Entry => build_entry(&mut b, (passing, ty), &params),
        Trampoline::Exit => {
            if count {
                count_host_call(&mut b, params[1]);
            }
            build_exit(&mut b, isa, passing, ty, &params);
        }
        Trampoline::Start => start::build(&mut b, passing, ty, params[0]),
    }
    b.finalize(isa.frontend_config());
}

/// `(callee ctx, caller ctx, code, slots)`
fn entry_signature(isa: &dyn TargetIsa) -> Signature {
    let mut signature = Signature::new(isa.default_call_conv());
    signature.params.extend([AbiParam::new(types::I64); 4]);
    signature
}

fn build_entry(b: &mut FunctionBuilder<'_>, (passing, ty): (Passing, &FuncType), params: &[Value]) {
    let &[callee, caller, code, slots] = params else {
        unreachable!("the signature has four parameters")
    };
    let mut args = vec![callee, caller];
    load_slots(b, ty.params(), slots, &mut args);
    passing.hand_over(b, ty, &mut args);
    let signature = b.import_signature(passing.signature(ty));
    let call = b.ins().call_indirect(signature, code, &args);
    let results = b.inst_results(call).to_vec();
    store_slots(b, &results, slots);
    b.ins().return_(&[]);
}

fn build_exit(
    b: &mut FunctionBuilder<'_>,
    isa: &dyn TargetIsa,
    passing: Passing,
    ty: &FuncType,
    params: &[Value],
) {
    let args = passing.take_over(b, ty, params);
    let (host, caller) = (params[0], params[1]);
    let flags = MemFlagsData::trusted();
    let runtime = b
        .ins()
        .load(types::I64, flags, caller, vmctx::VMCTX_RUNTIME);
    let frame = b.ins().get_frame_pointer(types::I64);
    let wasm_frame = b.ins().load(types::I64, flags, frame, 0);
    let wasm_pc = b.ins().get_return_address(types::I64);
    b.ins()
        .store(flags, wasm_frame, runtime, offsets::RUNTIME_EXIT_FP);
    b.ins()
        .store(flags, wasm_pc, runtime, offsets::RUNTIME_EXIT_PC);

    let count = ty.params().len().max(ty.results().len()).max(1) as u32;
    let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, count * SLOT_BYTES, 4);
    let slot = b.create_sized_stack_slot(slot);
    let slots = b.ins().stack_addr(types::I64, slot, 0);
    store_slots(b, &args, slots);

    let mut signature = Signature::new(isa.default_call_conv());
    signature.params.extend([AbiParam::new(types::I64); 3]);
    signature.returns.push(AbiParam::new(types::I32));
    let signature = b.import_signature(signature);
    let code = b
        .ins()
        .load(types::I64, flags, host, offsets::HOST_FUNC_CALL);
    let call = b
        .ins()
        .call_indirect(signature, code, &[host, caller, slots]);
    let status = b.inst_results(call)[0];
    raise_thrown(b, isa, status, caller, slots);
    b.ins().trapnz(status, trap::PENDING);

    let mut results = Vec::with_capacity(ty.results().len());
    load_slots(b, ty.results(), slots, &mut results);
    b.ins().return_(&results);
}

/// Where the host threw, raise the exception whose address is in the first
/// slot; the handler is in one of the Wasm frames above the trampoline's.
fn raise_thrown(
    b: &mut FunctionBuilder<'_>,
    isa: &dyn TargetIsa,
    status: Value,
    caller: Value,
    slots: Value,
) {
    let (raise, next) = (b.create_block(), b.create_block());
    b.set_cold_block(raise);
    let thrown = b.ins().icmp_imm_u(IntCC::Equal, status, i64::from(THROWN));
    b.ins().brif(thrown, raise, &[], next, &[]);
    b.switch_to_block(raise);
    b.seal_block(raise);
    let flags = MemFlagsData::trusted();
    let exception = b.ins().load(types::I64, slot_flags(), slots, 0);
    let table = b
        .ins()
        .load(types::I64, flags, caller, vmctx::VMCTX_LIBCALLS);
    let throw = Libcall::Throw;
    let code = b.ins().load(types::I64, flags, table, throw.table_offset());
    let signature = b.import_signature(throw.signature(isa.default_call_conv()));
    b.ins().call_indirect(signature, code, &[caller, exception]);
    b.ins().trap(trap::UNREACHABLE);
    b.switch_to_block(next);
    b.seal_block(next);
}

fn load_slots(b: &mut FunctionBuilder<'_>, tys: &[ValType], slots: Value, out: &mut Vec<Value>) {
    for (i, ty) in tys.iter().enumerate() {
        let offset = i as i32 * SLOT_BYTES as i32;
        let value = b.ins().load(clif_type(*ty), slot_flags(), slots, offset);
        out.push(value);
    }
}

fn store_slots(b: &mut FunctionBuilder<'_>, values: &[Value], slots: Value) {
    for (i, value) in values.iter().enumerate() {
        b.ins()
            .store(slot_flags(), *value, slots, i as i32 * SLOT_BYTES as i32);
    }
}

fn slot_flags() -> MemFlagsData {
    MemFlagsData::trusted().with_endianness(cranelift_codegen::ir::Endianness::Little)
}
