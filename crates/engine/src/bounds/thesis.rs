//! Not a strategy: the formula of the thesis that `shadow` is after (Döllerer,
//! §4.6, equation 4.5), to see that it is found out. It probes the byte of the
//! *last* address of an access, `s + !((i + o + n - 1) >> k)`, and that sum wraps:
//! 8 bytes at -4 are taken for those at 3, which are in bounds.
//!
//! Only the package in `tests/thesis` has it, which builds these sources for that.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, types};
use cranelift_frontend::FunctionBuilder;

use super::{Access, HostAddress, MemoryPlan, plain_address};

/// As the strategies of `shadow.rs` emit it, with a shadow in front.
pub(super) fn emit(
    builder: &mut FunctionBuilder<'_>,
    plan: &MemoryPlan,
    access: &Access,
) -> HostAddress {
    let shadow = plan.shadow.as_ref().expect("a strategy with a shadow");
    let reach = access.offset.wrapping_add(u64::from(access.width) - 1);
    let last = builder.ins().iadd_imm_s(access.index, reach.cast_signed());
    let granule = builder.ins().ushr_imm_u(last, i64::from(shadow.shift));
    let back = builder.ins().bnot(granule);
    let address = builder.ins().iadd(access.base, back);
    let behind = (plan.lead_bytes() - shadow.bytes).cast_signed();
    let address = builder.ins().iadd_imm_s(address, -behind);
    let flags = MemFlagsData::new().with_alias_region(access.cell_flags.alias_region());
    builder.ins().uload8(types::I32, flags, address, 0);
    plain_address(builder, access, access.heap_flags)
}
