//! `debug`: a runtime function checks each access and, where it is out of
//! bounds, says which: the trap's message has the memory, its length, the
//! index, the offset and the width.
//!
//! ```text
//!  base                       base+len              base+max
//!   |---------- memory ----------|---- inaccessible ----|
//!   |<--- readable, writable --->|    (growth: mprotect)
//! ```
//!
//! Inequality: the function computes `i + o + n` without wrapping and compares
//! it with `len`: exact by itself, so that nothing is reserved beyond the
//! maximum (but for an empty one, for nothing cannot be reserved). A memory never shrinks, so what was inside stays inside, and an
//! access that passed cannot fault; it is marked as not trapping.

use cranelift_frontend::FunctionBuilder;

use super::{
    Access, Backing, HostAddress, Layout, MemoryPlan, Strategy, WASM_PAGE_BYTES, plain_address,
};

pub(super) struct Debug;

impl Strategy for Debug {
    fn layout(&self, max_bytes: u64, _memory64: bool) -> Layout {
        Layout {
            front_bytes: 0,
            reserved_bytes: max_bytes.max(WASM_PAGE_BYTES),
            backing: Backing::Protect,
            shadow: None,
        }
    }

    /// The call was emitted in front of this ([`MemoryPlan::is_checked_by_call`]).
    fn emit(
        &self,
        builder: &mut FunctionBuilder<'_>,
        _: &MemoryPlan,
        access: &Access,
    ) -> HostAddress {
        plain_address(builder, access, access.heap_flags.with_notrap())
    }
}
