//! `uffd`: userfaultfd in SIGBUS mode supplies pages on demand.
//!
//! ```text
//!  base                       base+len                          base + 8 GiB + 64 KiB
//!   |---------- memory ----------|-------- registered, missing ------|
//!   |<---- readable, writable, registered with userfaultfd --------->|
//! ```
//!
//! Inequality: as for `guard`, every access ends inside the reservation; for a
//! 64-bit memory the index's high bits are tested as `guard64` does, and the
//! reservation is `R + 4 GiB + 64 KiB` as there, with the same 256 MiB in front,
//! registered and missing. A page at or above `len` is never supplied, so touching it raises SIGBUS,
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

use super::about::{About, Guarantee};
use super::check::{CheckBuilder, Span, Target};
use super::guard64::{index_space, within_index_space};
use super::{Backing, FRONT_GUARD, HighBits, Layout, MemoryPlan, REACH, Strategy, folded_offset};

const ABOUT: About = About {
    needs: "userfaultfd with the SIGBUS feature",
    missing,
    ..About::new(
        "uffd",
        "pages supplied on demand by userfaultfd, growth without mprotect",
        Guarantee::Exact,
    )
};

fn missing() -> Option<String> {
    let remedy = "Linux 5.11 with CONFIG_USERFAULTFD; in a container, allow the system call";
    let error = fathom_sys::uffd::open().err()?;
    Some(format!("{error} ({remedy})"))
}

pub(super) struct Uffd;

impl Strategy for Uffd {
    fn about(&'static self) -> &'static About {
        &ABOUT
    }

    fn layout(&self, max_bytes: u64, _memory64: bool) -> Layout {
        Layout {
            front_bytes: 0,
            reserved_bytes: index_space(max_bytes) + REACH,
            backing: Backing::OnDemand,
            shadow: None,
        }
    }

    fn front_guard_bytes(&self, _max_bytes: u64, memory64: bool) -> u64 {
        if memory64 { FRONT_GUARD } else { 0 }
    }

    fn emit(&self, check: &mut dyn CheckBuilder, plan: &MemoryPlan, span: &Span) -> Target {
        if !span.memory64 {
            return span.target();
        }
        let span = folded_offset(check, span);
        within_index_space(check, plan, HighBits::Mask, &span).target()
    }
}
