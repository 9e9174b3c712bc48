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
//! Bulk operations are runtime functions and trap exactly.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;

use super::mark::plainly;
use super::{Access, Backing, HostAddress, Layout, MemoryPlan, Strategy, WASM_PAGE_BYTES};
use crate::vmctx::offsets::MEMORY_LEN;

pub(super) struct Clamp;

impl Strategy for Clamp {
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
        _: &MemoryPlan,
        access: &Access,
    ) -> HostAddress {
        let start = match access.memory64 {
            true => saturating_start(builder, access),
            false => builder
                .ins()
                .iadd_imm_s(access.index, access.offset.cast_signed()),
        };
        let len = builder
            .ins()
            .load(types::I64, access.cell_flags, access.def, MEMORY_LEN);
        let last = builder.ins().iadd_imm_s(len, -i64::from(access.width));
        let outside = builder.ins().icmp(IntCC::SignedGreaterThan, start, last);
        let clamped = builder.ins().select(outside, last, start);
        let address = plainly(builder, |builder| builder.ins().iadd(access.base, clamped));
        HostAddress {
            address,
            displacement: 0,
            flags: access.heap_flags.with_notrap(),
        }
    }
}

/// `i + o` of a 64-bit memory, at most the greatest signed number.
fn saturating_start(builder: &mut FunctionBuilder<'_>, access: &Access) -> Value {
    let most = builder.ins().iconst(types::I64, i64::MAX);
    let Ok(offset) = i64::try_from(access.offset) else {
        return most;
    };
    // Two numbers of at most 2^63 - 1 do not wrap as unsigned ones.
    let index = builder.ins().umin(access.index, most);
    if offset == 0 {
        return index;
    }
    let start = builder.ins().iadd_imm_s(index, offset);
    builder.ins().umin(start, most)
}
