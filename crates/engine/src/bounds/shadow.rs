//! `shadow`: a byte of shadow memory is read before each access, one that is
//! readable iff the index is in bounds. Also what `shadow-compressed` shares.
//!
//! ```text
//!  in front of the memory: every index has a byte of it
//!   |---- shadow ----|-- slack --|-------- memory --------|-- inaccessible --|
//!                    s           base
//!   |<- closed ->|<-- readable ->|<- readable, writable ->|
//!
//!  below: high indices share the low addresses, or wrap
//!   0 ... |---- shadow ----|-- slack --| ...  base |---- memory ----|-- inaccessible --|
//!                          s                       |<------- at least s << k -------->|
//! ```
//!
//! The byte of index `i` is at `s + !(i >> k)`, that is `s - 1 - (i >> k)`:
//! backwards, so that it leaves the address space at its lower end. One host
//! page of shadow is for a *chunk* of `page << k` bytes of the memory; here
//! `k = 4`, so that with pages of 4 KiB a chunk is one Wasm page. The shadow of
//! a 32-bit memory, 256 MiB, is in front of it, that of a 64-bit one below.
//!
//! The shadow is opened (read-only, zeros) with the memory: each page whose
//! chunk begins below `len`. So the probe of every `i < len` succeeds. Where it
//! succeeds, `i` is below `len` rounded up to a chunk, or, below, is one of those
//! with a readable byte that is not the shadow's.
//!
//! Inequality: let the probe of `i` succeed. *In front*, the shadow has a byte
//! for each of the 2^32 or 2^64 indices, so the byte is the memory's own, and
//! `i < ceil(len, chunk) <= ceil(max, chunk)`. *Below*, the byte is at an
//! address of user space or in the page that x86-64 Linux keeps for old system
//! calls, 10 MiB below 2^64; all others from 2^64 - 2^60 on are the kernel's or
//! not canonical, and fault. So `i >> k < s + 10 MiB`, and as many bytes, shifted
//! by `k`, are reserved for the memory. Hence `i` is inside the reservation in
//! both cases, which goes on for `o + n <= 2^32 + 2^16` more bytes, all of them
//! inaccessible beyond `len`: the access faults iff `i + o + n > len`. Where the
//! probe traps, `i >= len`, so the specification traps too. An offset of 2^32 and
//! more is added to the index first, its overflow a trap (`folded_offset`).
//!
//! A probe that faults has not stopped the access behind it yet, so that has a guard
//! against speculation. *In front*, it is `i & (R - 1)`, for `R` a power of two that is
//! at least the maximum and a chunk; where the probe succeeds, `i < R`, and `R + REACH`
//! are reserved. *Below*, a probe succeeds also for indices far beyond, which a
//! mask would lead back into the memory; there an index that is not below `len` is
//! replaced by `len`, from where on nothing is accessible. Where threads share the
//! memory, one may have grown it since `len` was read: there it traps, as under
//! `trap`. The probe itself has no guard: nothing is made of what it reads.
//!
//! The idea, `k` and the reverse order are Döllerer's (Hardware-Accelerated
//! Bounds Checking for WebAssembly, §4.6 and §4.7), who probes the *last* byte
//! of an access, whose address wraps: 8 bytes at -4 go through. Here the index
//! alone is probed, and pages absorb the rest.
//!
//! The instruction that probes is a load of one byte, which Cranelift makes
//! `movzx`, or of four, `mov`, both with a result that nobody uses. A `test` whose
//! flags nobody reads cannot be had of it: it is dropped, the load is not. So
//! the form `test` has a branch to a trap as well, never taken, for what the
//! shadow holds is zero. `mov` and `test` read three bytes beyond their own;
//! slack is a page that is always readable.
//!
//! Why the shadow's address is no constant: code is compiled once for all the
//! instances of a module, and they have memories of their own. In front, it is a
//! displacement from `base`, which is at hand; below, it is read from the
//! memory's definition, once for a function or a loop.
//!
//! Arm ignores the top byte of an address, so nothing wraps out of user space:
//! shadows below are for x86-64 only.

use fathom_sys::map::page_bytes;

use super::about::{About, Fit, Guarantee};
use super::check::{Cell, CheckBuilder, Comparison, Operand, Span, Target};
use super::spectre::{masked, selected};
use super::{
    Backing, FRONT_GUARD, Growth, Layout, MemoryPlan, Probing, REACH, Strategy, WASM_PAGE_BYTES,
    folded_offset, guard64::index_space,
};

/// A memory's shadow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shadow {
    /// `k`: a byte of shadow is for `2^k` bytes of the memory.
    pub shift: u32,
    /// Bytes of it.
    pub bytes: u64,
    /// Where it is.
    pub place: Place,
    /// Which of its pages are readable.
    pub growth: Growth,
}

/// Where a shadow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In the memory's reservation.
    InFront,
    /// In a reservation of its own at the lowest addresses that are free.
    Below,
}

/// The page behind a shadow in front. As large as any host's.
pub const SLACK_BYTES: u64 = WASM_PAGE_BYTES;

/// From the page of old system calls to the end of the address space.
const VSYSCALL_BYTES: u64 = 10 << 20;

impl Shadow {
    /// Bytes in front of the memory that are the shadow's, slack and all.
    pub fn lead_bytes(&self) -> u64 {
        match self.place {
            Place::InFront => self.bytes + SLACK_BYTES,
            Place::Below => 0,
        }
    }

    /// Bytes that a page of it is for.
    pub fn chunk_bytes(&self) -> u64 {
        (page_bytes() as u64) << self.shift
    }

    /// Bytes of shadow, back from its end, that are readable for a memory of
    /// `len` bytes.
    pub fn open_bytes(&self, len: u64) -> u64 {
        let chunk = self.chunk_bytes();
        page_bytes() as u64
            * match self.growth {
                Growth::MicroGuard => len.div_ceil(chunk),
                Growth::Segfault => len / chunk,
            }
    }

    /// Bytes to reserve for the memory itself where its plan says `planned` and
    /// the shadow ends at `end`: see the inequality.
    pub fn reserved_bytes(&self, planned: u64, end: u64) -> u64 {
        match self.place {
            Place::InFront => planned,
            Place::Below => planned.max(((end + VSYSCALL_BYTES) << self.shift) + REACH),
        }
    }
}

/// A strategy with a shadow.
pub(super) struct Shadowed {
    /// What it says of itself.
    pub about: About,
    /// `k` for 32-bit memories, whose shadow is in front.
    pub shift_32: u32,
    /// `k` for 64-bit memories.
    pub shift_64: u32,
    /// Where the shadow of those is.
    pub place_64: Place,
    /// Which pages of it are readable.
    pub growth: Growth,
    /// How it is read.
    pub probing: Probing,
}

/// Pages a 64-bit memory can have at most: 512 GiB, for half of the low addresses.
const MAX_PAGES: u64 = 1 << 23;

const fn page_granular(probing: Probing) -> Shadowed {
    let (name, help) = match probing {
        Probing::Movzx => (
            "shadow",
            "a byte of shadow memory read first, a page of it for a Wasm page",
        ),
        Probing::Mov => ("shadow:mov", "as shadow, four bytes of it read"),
        Probing::Test => ("shadow:test", "as shadow, tested in memory"),
    };
    Shadowed {
        about: About {
            needs: "x86-64 and low addresses, for 64-bit memories",
            wide: Fit::X86_64,
            max_pages_64: MAX_PAGES,
            ..About::new(name, help, Guarantee::Exact)
        },
        shift_32: 4,
        shift_64: 4,
        place_64: Place::Below,
        growth: Growth::MicroGuard,
        probing,
    }
}

/// The strategy in one of its forms.
pub(super) fn form(probing: Probing) -> &'static dyn Strategy {
    match probing {
        Probing::Movzx => const { &page_granular(Probing::Movzx) },
        Probing::Mov => const { &page_granular(Probing::Mov) },
        Probing::Test => const { &page_granular(Probing::Test) },
    }
}

impl Strategy for Shadowed {
    fn about(&'static self) -> &'static About {
        &self.about
    }

    fn layout(&self, max_bytes: u64, memory64: bool) -> Layout {
        let (shift, place, index_bits) = match memory64 {
            true => (self.shift_64, self.place_64, u64::BITS),
            false => (self.shift_32, Place::InFront, u32::BITS),
        };
        let page = page_bytes() as u64;
        let chunk = page << shift;
        let bytes = match place {
            Place::InFront => 1 << (index_bits - shift),
            Place::Below => max_bytes.div_ceil(chunk) * page,
        };
        Layout {
            front_bytes: 0,
            reserved_bytes: match place {
                Place::InFront => index_space(max_bytes).max(chunk) + REACH,
                Place::Below => max_bytes.next_multiple_of(chunk) + REACH,
            },
            backing: Backing::Protect,
            shadow: Some(Shadow {
                shift,
                bytes,
                place,
                growth: self.growth,
            }),
        }
    }

    /// Where the shadow is in front there is no room for more: its slack is next
    /// to the memory.
    fn front_guard_bytes(&self, _max_bytes: u64, memory64: bool) -> u64 {
        match (memory64, self.place_64) {
            (true, Place::Below) => FRONT_GUARD,
            _ => 0,
        }
    }

    fn emit(&self, check: &mut dyn CheckBuilder, plan: &MemoryPlan, span: &Span) -> Target {
        let span = folded_offset(check, span);
        let shadow = plan.shadow.as_ref().expect("the layout has one");
        let (address, displacement) = byte_of(check, plan, shadow, &span);
        check.probe(self.probing, address, displacement, span.index);
        check.forget(address);
        guarded(check, plan, shadow.place, &span).target()
    }
}

/// The address of the index's byte and its displacement.
fn byte_of(
    check: &mut dyn CheckBuilder,
    plan: &MemoryPlan,
    shadow: &Shadow,
    span: &Span,
) -> (Operand, i32) {
    let shift = check.constant(u64::from(shadow.shift));
    let granule = check.shift_right(span.index, shift);
    let back = check.not(granule);
    check.forget(granule);
    let (start, displacement) = match shadow.place {
        Place::InFront => {
            let behind = plan.lead_bytes() - shadow.bytes;
            let behind = i32::try_from(behind).expect("a shadow is just in front");
            (check.base(), -behind)
        }
        Place::Below => (check.cell(Cell::ShadowEnd), 0),
    };
    let address = check.add(start, back);
    check.forget(start);
    check.forget(back);
    (address, displacement)
}

/// The span behind its guard against speculation.
fn guarded(check: &mut dyn CheckBuilder, plan: &MemoryPlan, place: Place, span: &Span) -> Span {
    if !plan.needs_guard(span) {
        return *span;
    }
    match place {
        Place::InFront => masked(check, plan, span),
        Place::Below => {
            let len = check.cell(Cell::Length);
            let outside = check.compare(Comparison::AtLeast, span.index, len);
            if plan.shared {
                // Another thread may have made the byte at `len` accessible since.
                check.trap_if(outside);
            }
            selected(check, plan, span, outside, len)
        }
    }
}
