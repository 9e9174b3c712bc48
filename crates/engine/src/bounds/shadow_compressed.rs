//! `shadow-compressed`: as `shadow`, one page of shadow for many Wasm pages.
//!
//! | | 32-bit memories | 64-bit memories |
//! |---|---|---|
//! | `shadow-compressed` | in front, k = 9: 8 MiB | in front, k = 26: 256 GiB |
//! | `shadow-compressed:segfault` | in front, k = 9: 8 MiB | below, k = 9 |
//!
//! With pages of 4 KiB a chunk is 2 MiB for `k = 9` and 256 GiB for `k = 26`, the
//! `k` for which a shadow of all 2^64 indices and a chunk together take least:
//! such a memory needs no low addresses, but half a TiB.
//!
//! A memory ends inside a chunk as a rule:
//!
//! ```text
//!  shadow  |------ page ------|------ page ------|
//!  memory  |------ chunk -----|--- chunk --|     |
//!                                         len
//!  micro-guard   readable           readable, and the memory inaccessible from len on
//!  segfault      readable           closed, and accesses below len are let through
//! ```
//!
//! *micro-guard*: the inequality of `shadow` as it stands.
//!
//! *segfault*: a page of shadow is opened once its chunk *ends* below `len`. A
//! probe in another page faults, and the fault handler goes on behind it where
//! `(i >> k) << k < len`. As `2^k` divides a Wasm page and so `len`, that is
//! where `i < len`. So a probe succeeds or is let through iff `i < len`, or the
//! byte is not the shadow's; the rest of the inequality is that of `shadow`. A
//! length that another thread has just raised is read by the handler as
//! by a check: an older one traps where the specification allows it to.
//!
//! Each access to the last chunk takes a signal then, some microseconds: a
//! program that does not grow by whole chunks is slower by orders of magnitude,
//! which is why the thesis gave the scheme up. Only on x86-64, whose instructions
//! the handler reads to go on behind one.

use super::about::{About, Fit, Guarantee};
use super::shadow::{Place, Shadowed};
use super::{Growth, Probing, Strategy};

const fn compressed(growth: Growth, probing: Probing) -> Shadowed {
    let (shift_64, place_64) = match growth {
        Growth::MicroGuard => (26, Place::InFront),
        Growth::Segfault => (9, Place::Below),
    };
    Shadowed {
        about: about(growth, probing),
        shift_32: 9,
        shift_64,
        place_64,
        growth,
        probing,
    }
}

const fn about(growth: Growth, probing: Probing) -> About {
    use Growth::{MicroGuard, Segfault};
    use Probing::{Mov, Movzx, Test};
    let (name, help) = match (growth, probing) {
        (MicroGuard, Movzx) => (
            "shadow-compressed",
            "as shadow, a page of it for many Wasm pages; guard pages inside the last",
        ),
        (MicroGuard, Mov) => (
            "shadow-compressed:mov",
            "as shadow-compressed, four bytes of it read",
        ),
        (MicroGuard, Test) => (
            "shadow-compressed:test",
            "as shadow-compressed, tested in memory",
        ),
        (Segfault, Movzx) => (
            "shadow-compressed:segfault",
            "as shadow-compressed, accesses to the last page let through by the fault handler",
        ),
        (Segfault, Mov) => (
            "shadow-compressed:segfault:mov",
            "as shadow-compressed:segfault, four bytes of it read",
        ),
        (Segfault, Test) => (
            "shadow-compressed:segfault:test",
            "as shadow-compressed:segfault, tested in memory",
        ),
    };
    let plain = About::new(name, help, Guarantee::Exact);
    match growth {
        MicroGuard => About {
            needs: "512 GiB of address space for a 64-bit memory",
            ..plain
        },
        Segfault => About {
            needs: "x86-64; low addresses, for 64-bit memories",
            narrow: Fit::X86_64,
            wide: Fit::X86_64,
            ..plain
        },
    }
}

/// The strategy in one of its forms.
pub(super) fn form(growth: Growth, probing: Probing) -> &'static dyn Strategy {
    use Growth::{MicroGuard, Segfault};
    use Probing::{Mov, Movzx, Test};
    match (growth, probing) {
        (MicroGuard, Movzx) => const { &compressed(MicroGuard, Movzx) },
        (MicroGuard, Mov) => const { &compressed(MicroGuard, Mov) },
        (MicroGuard, Test) => const { &compressed(MicroGuard, Test) },
        (Segfault, Movzx) => const { &compressed(Segfault, Movzx) },
        (Segfault, Mov) => const { &compressed(Segfault, Mov) },
        (Segfault, Test) => const { &compressed(Segfault, Test) },
    }
}
