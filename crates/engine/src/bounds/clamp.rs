//! `clamp`: an address out of bounds becomes the memory's end.
//!
//! ```text
//!  base-64 KiB    base                    base+len              base+max
//!   |-- landing ---|---------- memory -------|---- inaccessible ----|
//!   |<-------- readable, writable ---------->|
//! ```
//!
//! The address is `base + min(i + o, len - n)`, compared as signed numbers.
//!
//! Inequality: `i + o < 2^33` does not wrap and is not negative. Where it is
//! at most `len - n`, the access is in bounds and unchanged. Else it goes to
//! `len - n`, which ends at `len`: for `len > 0`, `len >= 65,536 > n`, so it
//! is the memory's last `n` bytes; for `len = 0` it is `-n >= -16`, which is
//! in the landing page, readable and writable and nobody's. So an access is
//! always at `[base - 16, base + len - n]`: it never leaves the reservation,
//! never touches an inaccessible byte and never faults, hence is marked so.
//!
//! A 64-bit memory's `i + o` may wrap or look negative: it is replaced by the
//! greatest signed number where it does, which is beyond every length.
//!
//! There is no branch to predict wrong: with guards against speculation the
//! selections are such that no instruction set makes branches of them.
//!
//! Bulk operations are runtime functions and trap exactly.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;

use super::about::{About, Guarantee};
use super::mark::plainly;
use super::spectre::select;
use super::{Access, Backing, HostAddress, Layout, MemoryPlan, Strategy, WASM_PAGE_BYTES};
use crate::facts::vmctx::offsets::MEMORY_LEN;

const ABOUT: About = About {
    compares_length: true,
    ..About::new(
        "clamp",
        "out-of-bounds addresses are redirected to the memory's end",
        Guarantee::Contained,
    )
};

pub(super) struct Clamp;

impl Strategy for Clamp {
    fn about(&'static self) -> &'static About {
        &ABOUT
    }

    fn layout(&self, max_bytes: u64, _memory64: bool) -> Layout {
        Layout {
            front_bytes: WASM_PAGE_BYTES,
            reserved_bytes: max_bytes,
            backing: Backing::Protect,
            shadow: None,
        }
    }

    fn emit(
        &self,
        builder: &mut FunctionBuilder<'_>,
        plan: &MemoryPlan,
        access: &Access,
    ) -> HostAddress {
        let (start, last, outside) = compared(builder, plan, access);
        let clamped = select(builder, plan, outside, last, start);
        let address = plainly(builder, |builder| builder.ins().iadd(access.base, clamped));
        HostAddress {
            address,
            displacement: 0,
            flags: access.heap_flags.with_notrap(),
        }
    }
}

/// Where an access starts, the last place where it may, and whether it is beyond.
pub(super) fn compared(
    builder: &mut FunctionBuilder<'_>,
    plan: &MemoryPlan,
    access: &Access,
) -> (Value, Value, Value) {
    let start = match access.memory64 {
        true => saturating_start(builder, plan, access),
        false => builder
            .ins()
            .iadd_imm_s(access.index, access.offset.cast_signed()),
    };
    let len = builder
        .ins()
        .load(types::I64, access.cell_flags, access.def, MEMORY_LEN);
    let last = builder.ins().iadd_imm_s(len, -i64::from(access.width));
    let outside = builder.ins().icmp(IntCC::SignedGreaterThan, start, last);
    (start, last, outside)
}

/// `i + o` of a 64-bit memory, at most the greatest signed number.
fn saturating_start(
    builder: &mut FunctionBuilder<'_>,
    plan: &MemoryPlan,
    access: &Access,
) -> Value {
    let least = |builder: &mut FunctionBuilder<'_>, value, most| match plan.spectre {
        true => {
            let above = builder.ins().icmp(IntCC::UnsignedGreaterThan, value, most);
            builder.ins().select_spectre_guard(above, most, value)
        }
        false => builder.ins().umin(value, most),
    };
    let most = builder.ins().iconst(types::I64, i64::MAX);
    let Ok(offset) = i64::try_from(access.offset) else {
        return most;
    };
    // Two numbers of at most 2^63 - 1 do not wrap as unsigned ones.
    let index = least(builder, access.index, most);
    if offset == 0 {
        return index;
    }
    let start = builder.ins().iadd_imm_s(index, offset);
    least(builder, start, most)
}
