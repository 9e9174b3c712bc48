//! `pkeys`: no check. While Wasm runs, its thread is locked by protection keys:
//! it reaches what its process's Wasm needs and nothing else.
//!
//! ```text
//!  base                       base+len              base+max       + 4 GiB + 64 KiB
//!   |---------- memory ----------|-------------- inaccessible -----------|
//!   |<--- readable, writable --->|    (growth: mprotect)
//!   |<------------------------ key: Inside ------------------------------>|
//!
//!  elsewhere   key 0                 the host: locked
//!              key Inside            other memories, globals, tables, stacks of Wasm
//!              key Fixed             code, function references, lengths: read only
//! ```
//!
//! Inequality, 32-bit memories: as `guard`: `i < 2^32`, `o < 2^32`, `n <= 16`
//! give `i + o + n < 2^33 + 16`, inside the reservation.
//!
//! 64-bit memories: an offset of `2^32` and more is added to the index, trapping
//! where the sum overflows. What is left is an access to `base + i + o`, wrapping,
//! for any `i` and `o < 2^32`. It faults unless those bytes have a key, and are
//! accessible. So out of bounds it goes on
//!
//! - where `i + o` wraps to less than `len`: `i >= 2^64 - o`, a negative index
//!   whose offset leads back into the memory;
//! - where `i` is the distance to another place that has a key: the stack that
//!   Wasm runs on, which must have one, or one of those above.
//!
//! So the strategy is no sandbox: it stops what is out of bounds by accident,
//! not who knows the addresses.

use super::about::{About, Guarantee};
use super::check::{CheckBuilder, Span, Target};
use super::{Backing, INDEX_SPACE_32, Layout, MemoryPlan, REACH, Strategy, folded_offset};

const ABOUT: About = About {
    needs: "memory protection keys (x86-64 with PKU) and Linux 6.12",
    missing: || Some(fathom_sys::pkeys::keys().err()?.to_string()),
    strays_64: true,
    is_locked: true,
    ..About::new(
        "pkeys",
        "no checks: protection keys lock the host while Wasm runs; its stack stays reachable",
        Guarantee::Partial,
    )
};

pub(super) struct Pkeys;

impl Strategy for Pkeys {
    fn about(&'static self) -> &'static About {
        &ABOUT
    }

    fn layout(&self, max_bytes: u64, memory64: bool) -> Layout {
        let indices = if memory64 { max_bytes } else { INDEX_SPACE_32 };
        Layout {
            front_bytes: 0,
            reserved_bytes: indices + REACH,
            backing: Backing::Protect,
            shadow: None,
        }
    }

    fn emit(&self, check: &mut dyn CheckBuilder, _: &MemoryPlan, span: &Span) -> Target {
        folded_offset(check, span).target()
    }
}
