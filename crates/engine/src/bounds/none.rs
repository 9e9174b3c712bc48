//! `none`: no check. The baseline that the others are compared with.
//!
//! ```text
//!  base                       base+len                          base + 8 GiB + 64 KiB
//!   |---------- memory ----------|---- mapped, belongs to nobody ----|
//!   |<------------------- readable and writable --------------------->|
//! ```
//!
//! Inequality: none for the length. `i < 2^32`, `o < 2^32`, `n <= 16` give
//! `i + o + n < 2^33 + 16`, so an access stays inside the reservation and
//! other memories are safe from it; it reads zeros or earlier stray stores
//! where it should trap. Growth would expose those stray stores, which is one
//! reason more why the strategy is refused unless it is asked for by name.
//!
//! No access faults, so loads and stores are marked as not trapping, as
//! native code's are.

use cranelift_frontend::FunctionBuilder;

use super::{
    Access, Backing, HostAddress, Layout, REACH_32, Strategy, extended_index, plain_address,
};

pub(super) struct None;

impl Strategy for None {
    fn layout(&self, _max_bytes: u64) -> Layout {
        Layout {
            front_bytes: 0,
            reserved_bytes: (1 << 32) + REACH_32,
            backing: Backing::Whole,
        }
    }

    fn emit(&self, builder: &mut FunctionBuilder<'_>, access: &Access) -> HostAddress {
        let index = extended_index(builder, access.index);
        plain_address(builder, access, index, access.heap_flags.with_notrap())
    }
}
