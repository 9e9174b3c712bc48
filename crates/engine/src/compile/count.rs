//! Counting what programs do, for who asks ([`crate::Config::count`]): increments
//! in the generated code.
//!
//! ```text
//!  translation    one in front of each access, indirect call and growth
//!  trampolines    one in front of each call of a host function
//!  afterwards     behind each access's, one for its check: it is executed, or it
//!                 was left out
//! ```
//!
//! The counters are in the store's runtime block. A store is one thread's, so an
//! increment is a load, an addition and a store, and nothing is lost; the engine
//! adds up what stores have counted when they go.
//!
//! What must stay true: without counting not one instruction is added. With it,
//! nothing that a program computes with is touched, so it does what it would
//! have done. An access is counted before it is checked: one that traps counts.

use std::ops::AddAssign;

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::{Function, Inst, InstructionData, MemFlagsData};
use smallvec::SmallVec;

use crate::bounds::offset_and_check;
use crate::facts::vmctx::Counter;

/// Where the runtime block is never changes.
pub(crate) fn runtime_flags() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly().with_can_move()
}

/// Appends to what `$b.ins()` appends to: one more of `$counter`, in the runtime
/// of the context `$vmctx`. Its value is the last instruction.
macro_rules! increment {
    ($b:expr, $vmctx:expr, $counter:expr) => {{
        use cranelift_codegen::ir::{InstBuilder, MemFlagsData, types};
        let (flags, offset) = (MemFlagsData::trusted(), $counter.offset());
        let fixed = $crate::compile::count::runtime_flags();
        let at = $crate::facts::vmctx::VMCTX_RUNTIME;
        let runtime = $b.ins().load(types::I64, fixed, $vmctx, at);
        let count = $b.ins().load(types::I64, flags, runtime, offset);
        let more = $b.ins().iadd_imm_s(count, 1);
        $b.ins().store(flags, more, runtime, offset)
    }};
}
pub(crate) use increment;

/// Checks in the code of a function or a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CheckSites {
    /// Accesses with a check.
    pub emitted: u32,
    /// Accesses whose check was left out.
    pub left_out: u32,
}

impl AddAssign for CheckSites {
    fn add_assign(&mut self, other: CheckSites) {
        self.emitted += other.emitted;
        self.left_out += other.left_out;
    }
}

/// An access that translation gave a check.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The end of its increment.
    after: Inst,
    /// What traps; none where the check does not trap, as one that clamps.
    traps: SmallVec<[Inst; 2]>,
}

/// The checked ones among the accesses whose increments end with `counted`.
pub(crate) fn checked(func: &Function, counted: &[Inst]) -> Vec<Checked> {
    let all = counted.iter().map(|&after| checked_access(func, after));
    all.flatten().collect()
}

/// The instructions of one access follow each other, and have its location.
fn checked_access(func: &Function, after: Inst) -> Option<Checked> {
    let offset = |inst| offset_and_check(func.srcloc(inst));
    let (location, _) = offset(after)?;
    let mut found = Checked {
        after,
        traps: SmallVec::new(),
    };
    let mut has_check = false;
    let mut at = next(func, after);
    while let Some((inst, (_, is_check))) =
        at.and_then(|inst| Some((inst, offset(inst).filter(|(o, _)| *o == location)?)))
    {
        has_check |= is_check;
        if is_check && traps(func, inst) {
            found.traps.push(inst);
        }
        at = next(func, inst);
    }
    has_check.then_some(found)
}

/// The next instruction, in this block or at the start of the one behind it.
fn next(func: &Function, inst: Inst) -> Option<Inst> {
    let layout = &func.layout;
    layout.next_inst(inst).or_else(|| {
        let behind = layout.next_block(layout.inst_block(inst)?)?;
        layout.first_inst(behind)
    })
}

fn traps(func: &Function, inst: Inst) -> bool {
    match func.dfg.insts[inst] {
        InstructionData::CondTrap { .. } => true,
        InstructionData::Load { flags, .. } => !func.dfg.mem_flags[flags].notrap(),
        _ => false,
    }
}

/// Counts the checks, which may have been left out in the meantime.
pub(crate) fn count_checks(func: &mut Function, all: &[Checked]) -> CheckSites {
    let mut sites = CheckSites::default();
    let Some(vmctx) = func
        .layout
        .entry_block()
        .map(|entry| func.dfg.block_params(entry)[0])
    else {
        return sites;
    };
    for access in all {
        // One that loads stays, as a constant: see `elide::rewrite::remove`.
        let is_gone = |inst: &Inst| func.layout.inst_block(*inst).is_none() || !traps(func, *inst);
        let left_out = !access.traps.is_empty() && access.traps.iter().all(is_gone);
        let counter = match left_out {
            true => Counter::ChecksLeftOut,
            false => Counter::Checks,
        };
        sites += CheckSites {
            emitted: u32::from(!left_out),
            left_out: u32::from(left_out),
        };
        let location = func.srcloc(access.after);
        let mut cursor = FuncCursor::new(func).after_inst(access.after);
        cursor.set_srcloc(location);
        increment!(cursor, vmctx, counter);
    }
    sites
}

/// For a trampoline out to the host, called by `caller`.
pub(crate) fn count_host_call(
    b: &mut cranelift_frontend::FunctionBuilder<'_>,
    caller: cranelift_codegen::ir::Value,
) {
    increment!(b, caller, Counter::HostCalls);
}
