//! `uffd`: userfaultfd in SIGBUS mode supplies pages on demand.
//!
//! ```text
//!  base                       base+len                          base + 8 GiB + 64 KiB
//!   |---------- memory ----------|-------- registered, missing ------|
//!   |<---- readable, writable, registered with userfaultfd --------->|
//! ```
//!
//! Inequality: as for `guard`, every access ends inside the reservation. A
//! page at or above `len` is never supplied, so touching it raises SIGBUS,
//! and the handler compares the faulting address with `len`: below, it
//! supplies the page and the instruction runs again; at or above, it is "out
//! of bounds memory access". `len` is a multiple of the page, so a straddling
//! access touches a missing page and faults; its first page may have been
//! supplied before, zeroed, which no Wasm program can observe.
//!
//! Growth only raises `len`: no mprotect and no lock on the address space's
//! map. A *system call* that meets a missing page answers EFAULT instead of
//! raising the signal, so host code populates a range before it hands it to
//! the kernel (`Memory::populate`).

use cranelift_frontend::FunctionBuilder;

use super::{
    Access, Backing, HostAddress, Layout, REACH_32, Strategy, extended_index, plain_address,
};

pub(super) struct Uffd;

impl Strategy for Uffd {
    fn layout(&self, _max_bytes: u64) -> Layout {
        Layout {
            front_bytes: 0,
            reserved_bytes: (1 << 32) + REACH_32,
            backing: Backing::OnDemand,
        }
    }

    fn emit(&self, builder: &mut FunctionBuilder<'_>, access: &Access) -> HostAddress {
        let index = extended_index(builder, access.index);
        plain_address(builder, access, index, access.heap_flags)
    }
}
