//! Memory-safety strategies: how an access beyond a memory is kept out.
//!
//! A strategy is one row of [`Bounds`] and one file of this folder. It decides
//! once for each memory, in a [`MemoryPlan`], what is reserved, what is mapped,
//! which check is emitted and what a fault means; the translator, the memory
//! and the trap code only read that plan.
//!
//! Notation in the proofs: `i` is the index operand zero-extended to 64 bits,
//! `o` the constant offset, `n` the width of the access in bytes, `len` the
//! current length. The specification (§4.4.7) traps iff `i + o + n > len`,
//! computed without wrapping.

mod clamp;
mod guard;
mod none;
mod trap;
mod uffd;

use std::fmt;
use std::str::FromStr;

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;

use crate::types::MemoryType;
use crate::vmctx::offsets::MEMORY_LEN;

/// Bytes of a Wasm page.
pub const WASM_PAGE_BYTES: u64 = 65_536;
/// Pages a 32-bit memory can have at most.
pub const MAX_PAGES_32: u64 = 65_536;
/// Bytes the constant offset and the width of one access add at most on a
/// 32-bit memory: `(2^32 - 1) + 16`, rounded up to a Wasm page.
const REACH_32: u64 = (1 << 32) + WASM_PAGE_BYTES;

/// What a strategy promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guarantee {
    /// Traps exactly where the specification says.
    Exact,
    /// Never leaves the memory, but may go on where the specification traps.
    Contained,
    /// Faults outside the memory but for what the strategy's help names.
    Partial,
    /// None at all.
    Unchecked,
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Guarantee::Exact => "exact",
            Guarantee::Contained => "contained",
            Guarantee::Partial => "partial",
            Guarantee::Unchecked => "unchecked",
        })
    }
}

/// A strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// No check at all.
    None,
    /// Select the memory's end when out of bounds.
    Clamp,
    /// Compare and branch.
    Trap,
    /// Guard pages, grown by mprotect.
    Guard,
    /// Pages supplied on demand through userfaultfd.
    Uffd,
}

impl Bounds {
    /// Every strategy, weakest guarantee first.
    pub const ALL: [Bounds; 5] = [
        Bounds::None,
        Bounds::Clamp,
        Bounds::Trap,
        Bounds::Guard,
        Bounds::Uffd,
    ];

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            Bounds::None => "none",
            Bounds::Clamp => "clamp",
            Bounds::Trap => "trap",
            Bounds::Guard => "guard",
            Bounds::Uffd => "uffd",
        }
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        match self {
            Bounds::None => "no checks, the whole reach mapped: a baseline, not a sandbox",
            Bounds::Clamp => "out-of-bounds addresses are redirected to the memory's end",
            Bounds::Trap => "compare with the length and branch to a trap",
            Bounds::Guard => "inaccessible pages around the memory, grown by mprotect",
            Bounds::Uffd => "pages supplied on demand by userfaultfd, growth without mprotect",
        }
    }

    /// What it promises.
    pub fn guarantee(self) -> Guarantee {
        match self {
            Bounds::None => Guarantee::Unchecked,
            Bounds::Clamp => Guarantee::Contained,
            Bounds::Trap | Bounds::Guard | Bounds::Uffd => Guarantee::Exact,
        }
    }

    /// What it needs of the host, for messages; empty for nothing special.
    pub fn needs(self) -> &'static str {
        match self {
            Bounds::None | Bounds::Clamp | Bounds::Trap | Bounds::Guard => "",
            Bounds::Uffd => "userfaultfd with the SIGBUS feature",
        }
    }

    fn strategy(self) -> &'static dyn Strategy {
        match self {
            Bounds::None => &none::None,
            Bounds::Clamp => &clamp::Clamp,
            Bounds::Trap => &trap::Trap,
            Bounds::Guard => &guard::Guard,
            Bounds::Uffd => &uffd::Uffd,
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no strategy's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown strategy '{0}' (one of: auto, none, clamp, trap, guard, uffd)")]
pub struct UnknownBounds(String);

impl FromStr for Bounds {
    type Err = UnknownBounds;

    fn from_str(name: &str) -> Result<Bounds, UnknownBounds> {
        Bounds::ALL
            .into_iter()
            .find(|b| b.name() == name)
            .ok_or_else(|| UnknownBounds(name.to_owned()))
    }
}

/// Which strategy to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BoundsChoice {
    /// The cheapest exact one for each memory on this host.
    #[default]
    Auto,
    /// This one.
    Named(Bounds),
}

impl BoundsChoice {
    /// The strategy for 32-bit memories.
    ///
    /// `guard` emits no instruction at all, so nothing exact is cheaper.
    pub fn resolve(self) -> Bounds {
        match self {
            BoundsChoice::Auto => Bounds::Guard,
            BoundsChoice::Named(bounds) => bounds,
        }
    }
}

impl fmt::Display for BoundsChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BoundsChoice::Auto => f.write_str("auto"),
            BoundsChoice::Named(bounds) => write!(f, "{bounds}"),
        }
    }
}

impl FromStr for BoundsChoice {
    type Err = UnknownBounds;

    fn from_str(name: &str) -> Result<BoundsChoice, UnknownBounds> {
        match name {
            "auto" => Ok(BoundsChoice::Auto),
            _ => name.parse().map(BoundsChoice::Named),
        }
    }
}

/// How the pages of a memory come to be accessible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backing {
    /// The whole reservation is readable and writable from the start.
    Whole,
    /// Inaccessible at first; growth opens pages by `mprotect`.
    Protect,
    /// Readable and writable, but registered with userfaultfd: a missing page
    /// raises SIGBUS, which supplies it inside the length and traps beyond.
    OnDemand,
}

/// Everything decided about one memory, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemoryPlan {
    /// The strategy.
    pub bounds: Bounds,
    /// Bytes at first.
    pub min_bytes: u64,
    /// Bytes it can grow to: the declared maximum or the index type's.
    pub max_bytes: u64,
    /// Readable and writable bytes in front of the memory's first byte.
    pub front_bytes: u64,
    /// Bytes reserved from the first byte on.
    pub reserved_bytes: u64,
    /// How pages become accessible.
    pub backing: Backing,
}

/// An access whose address is to be made safe.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The index operand as it stands on the Wasm stack (i32).
    pub index: Value,
    /// The constant offset.
    pub offset: u64,
    /// Width in bytes, 1 to 16.
    pub width: u8,
    /// The memory's first byte: a host address.
    pub base: Value,
    /// Address of its [`crate::vmctx::VmMemory`].
    pub def: Value,
    /// Flags for loads of the memory's length: not trapping, in the region of
    /// the runtime's cells.
    pub cell_flags: MemFlagsData,
    /// Flags for the access itself, little-endian, in the heap's region; the
    /// strategy adds whether it may trap.
    pub heap_flags: MemFlagsData,
}

/// Where and how to access the host's memory.
#[derive(Clone, Copy, Debug)]
pub struct HostAddress {
    /// Host address.
    pub address: Value,
    /// Displacement to fold into the instruction.
    pub displacement: i32,
    /// Flags of the access.
    pub flags: MemFlagsData,
}

/// What each strategy decides. One file each, no other implementors.
trait Strategy {
    /// Front, reservation and backing for a memory of at most `max_bytes`.
    fn layout(&self, max_bytes: u64) -> Layout;

    /// Emit the check, if any, and the address.
    fn emit(&self, builder: &mut FunctionBuilder<'_>, access: &Access) -> HostAddress;
}

/// The part of a plan that a strategy decides.
struct Layout {
    front_bytes: u64,
    reserved_bytes: u64,
    backing: Backing,
}

impl MemoryPlan {
    /// The plan for a memory of type `ty` under `bounds`.
    pub fn new(bounds: Bounds, ty: &MemoryType) -> MemoryPlan {
        let max_pages = ty.max.unwrap_or(MAX_PAGES_32).min(MAX_PAGES_32);
        let max_bytes = max_pages * WASM_PAGE_BYTES;
        let Layout {
            front_bytes,
            reserved_bytes,
            backing,
        } = bounds.strategy().layout(max_bytes);
        MemoryPlan {
            bounds,
            min_bytes: ty.min * WASM_PAGE_BYTES,
            max_bytes,
            front_bytes,
            reserved_bytes,
            backing,
        }
    }

    /// Emit what the accesses of a loop can share, in front of it: the length,
    /// where the check compares with it. Cranelift reuses the loaded value in
    /// the loop as long as nothing there can change it, and drops it where it
    /// is not used.
    pub fn emit_loop_entry(
        &self,
        builder: &mut FunctionBuilder<'_>,
        def: Value,
        cell_flags: MemFlagsData,
    ) {
        match self.bounds {
            Bounds::Clamp | Bounds::Trap => {
                builder.ins().load(types::I64, cell_flags, def, MEMORY_LEN);
            }
            Bounds::None | Bounds::Guard | Bounds::Uffd => {}
        }
    }

    /// Emit what makes `access` safe and return where it goes.
    pub fn emit_address(&self, builder: &mut FunctionBuilder<'_>, access: &Access) -> HostAddress {
        self.bounds.strategy().emit(builder, access)
    }
}

/// `i`: the index operand as a 64-bit value.
fn extended_index(builder: &mut FunctionBuilder<'_>, index: Value) -> Value {
    match builder.func.dfg.value_type(index) {
        types::I32 => builder.ins().uextend(types::I64, index),
        _ => index,
    }
}

/// `base + i` with `o` as displacement where it fits one, else added.
fn plain_address(
    builder: &mut FunctionBuilder<'_>,
    access: &Access,
    index: Value,
    flags: MemFlagsData,
) -> HostAddress {
    let address = builder.ins().iadd(access.base, index);
    match i32::try_from(access.offset) {
        Ok(displacement) => HostAddress {
            address,
            displacement,
            flags,
        },
        Err(_) => {
            let offset = builder
                .ins()
                .iconst(types::I64, access.offset.cast_signed());
            let address = builder.ins().iadd(address, offset);
            HostAddress {
                address,
                displacement: 0,
                flags,
            }
        }
    }
}
