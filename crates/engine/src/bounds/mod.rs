//! Memory-safety strategies: how an access beyond a memory is kept out.
//!
//! A strategy is one row of [`Bounds`] and one file of this folder. It decides
//! once for each memory, in a [`MemoryPlan`], what is reserved, what is mapped,
//! which check is emitted and what a fault means; the translator, the memory
//! and the trap code only read that plan.
//!
//! Notation in the proofs: `i` is the index operand, zero-extended to 64 bits
//! where it has 32, `o` the constant offset, `n` the width of the access in bytes, `len` the
//! current length. The specification (§4.4.7) traps iff `i + o + n > len`,
//! computed without wrapping.

mod clamp;
mod guard;
mod guard64;
mod mark;
mod none;
mod trap;
mod uffd;

pub(crate) use mark::offset_and_check;

use std::fmt;
use std::str::FromStr;

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, TrapCode, Value, types};
use cranelift_frontend::FunctionBuilder;

use crate::types::MemoryType;
use crate::vmctx::offsets::MEMORY_LEN;

/// Bytes of a Wasm page.
pub const WASM_PAGE_BYTES: u64 = 65_536;
/// Pages a 32-bit memory can have at most.
pub const MAX_PAGES_32: u64 = 65_536;
/// Pages a 64-bit memory can have at most here: 1 TiB. The specification allows
/// 2^48, which no address space holds.
pub const MAX_PAGES_64: u64 = 1 << 24;
/// Pages that are reserved for a 64-bit memory which declares no maximum:
/// 64 GiB, so that about two thousand such memories fit a process.
pub const DEFAULT_PAGES_64: u64 = 1 << 20;
/// Indices of a 32-bit memory.
const INDEX_SPACE_32: u64 = 1 << 32;
/// Bytes the constant offset and the width of one access add at most:
/// `(2^32 - 1) + 16`, rounded up to a Wasm page. Greater offsets, which only
/// 64-bit memories have, are added to the index before the check.
const REACH: u64 = (1 << 32) + WASM_PAGE_BYTES;

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
    /// The high bits of 64-bit indices tested, guard pages for the rest.
    Guard64,
    /// Pages supplied on demand through userfaultfd.
    Uffd,
}

impl Bounds {
    /// Every strategy, weakest guarantee first.
    pub const ALL: [Bounds; 6] = [
        Bounds::None,
        Bounds::Clamp,
        Bounds::Trap,
        Bounds::Guard,
        Bounds::Guard64,
        Bounds::Uffd,
    ];

    /// Those that guard memories of an index type, 64-bit or 32-bit.
    pub fn all_for(memory64: bool) -> impl Iterator<Item = Bounds> {
        Bounds::ALL
            .into_iter()
            .filter(move |bounds| bounds.supports(memory64))
    }

    /// Whether it guards memories of an index type, 64-bit or 32-bit.
    pub fn supports(self, memory64: bool) -> bool {
        match self {
            Bounds::None | Bounds::Clamp | Bounds::Trap | Bounds::Uffd => true,
            Bounds::Guard => !memory64,
            Bounds::Guard64 => memory64,
        }
    }

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            Bounds::None => "none",
            Bounds::Clamp => "clamp",
            Bounds::Trap => "trap",
            Bounds::Guard => "guard",
            Bounds::Guard64 => "guard64",
            Bounds::Uffd => "uffd",
        }
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        match self {
            Bounds::None => "no checks, the whole reach mapped: a baseline, not a sandbox",
            Bounds::Clamp => "out-of-bounds addresses are redirected to the memory's end",
            Bounds::Trap => "compare with the length and branch to a trap",
            Bounds::Guard => {
                "inaccessible pages around the memory, grown by mprotect (32-bit memories)"
            }
            Bounds::Guard64 => {
                "the index's high bits tested, guard pages for the rest (64-bit memories)"
            }
            Bounds::Uffd => "pages supplied on demand by userfaultfd, growth without mprotect",
        }
    }

    /// What it promises.
    pub fn guarantee(self) -> Guarantee {
        match self {
            Bounds::None => Guarantee::Unchecked,
            Bounds::Clamp => Guarantee::Contained,
            Bounds::Trap | Bounds::Guard | Bounds::Guard64 | Bounds::Uffd => Guarantee::Exact,
        }
    }

    /// What it needs of the host, for messages; empty for nothing special.
    pub fn needs(self) -> &'static str {
        match self {
            Bounds::None | Bounds::Clamp | Bounds::Trap | Bounds::Guard | Bounds::Guard64 => "",
            Bounds::Uffd => "userfaultfd with the SIGBUS feature",
        }
    }

    fn strategy(self) -> &'static dyn Strategy {
        match self {
            Bounds::None => &none::None,
            Bounds::Clamp => &clamp::Clamp,
            Bounds::Trap => &trap::Trap,
            Bounds::Guard => &guard::Guard,
            Bounds::Guard64 => &guard64::Guard64,
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
#[error("unknown strategy '{0}' (one of: auto, none, clamp, trap, guard, guard64, uffd)")]
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
    /// The strategy for memories of an index type, 64-bit or 32-bit.
    ///
    /// `guard` emits no instruction at all, so nothing exact is cheaper; for 64
    /// bits `guard64` emits least, one test of a register with another.
    pub fn resolve(self, memory64: bool) -> Bounds {
        match self {
            BoundsChoice::Auto if memory64 => Bounds::Guard64,
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
    /// Bytes it can grow to: the declared maximum or what its index type, or
    /// this implementation, allows.
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
    /// The index operand as it stands on the Wasm stack, i32 or i64; extended to
    /// i64 before a strategy sees it.
    pub index: Value,
    /// Whether the memory has 64-bit indices.
    pub memory64: bool,
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

/// Whether a store across two pages may write the first part before it faults on
/// the second. x86-64 never does; Arm and RISC-V leave it to the processor.
const STORES_TEAR: bool = !cfg!(target_arch = "x86_64");

/// What each strategy decides. One file each, no other implementors.
trait Strategy {
    /// Front, reservation and backing for a memory of at most `max_bytes` with
    /// 64-bit or 32-bit indices.
    fn layout(&self, max_bytes: u64, memory64: bool) -> Layout;

    /// Emit the check, if any, and the address. The index is an i64.
    fn emit(
        &self,
        builder: &mut FunctionBuilder<'_>,
        max_bytes: u64,
        access: &Access,
    ) -> HostAddress;
}

/// The part of a plan that a strategy decides.
struct Layout {
    front_bytes: u64,
    reserved_bytes: u64,
    backing: Backing,
}

/// Why there is no plan for a memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The strategy is one for the other index type.
    #[error(
        "strategy '{bounds}' does not guard {index}-bit memories (one of: auto, {others})",
        others = named(*index == 64)
    )]
    IndexType {
        /// The strategy.
        bounds: Bounds,
        /// Bits of an index.
        index: u32,
    },
    /// More pages at first than a memory can have.
    #[error("{pages} pages are beyond the limit of {limit} pages of 64 KiB")]
    TooLarge {
        /// Pages asked for.
        pages: u64,
        /// Pages it can have.
        limit: u64,
    },
}

fn named(memory64: bool) -> String {
    let names: Vec<&str> = Bounds::all_for(memory64).map(Bounds::name).collect();
    names.join(", ")
}

/// Pages that a memory of this type can grow to.
fn max_pages(ty: &MemoryType) -> Result<u64, PlanError> {
    let limit = if ty.memory64 {
        MAX_PAGES_64
    } else {
        MAX_PAGES_32
    };
    if ty.min > limit {
        let pages = ty.min;
        return Err(PlanError::TooLarge { pages, limit });
    }
    let default = if ty.memory64 { DEFAULT_PAGES_64 } else { limit };
    Ok(ty.max.unwrap_or(default.max(ty.min)).min(limit))
}

impl MemoryPlan {
    /// The plan for a memory of type `ty` under `bounds`.
    ///
    /// # Errors
    /// A strategy for the other index type; a memory beyond the implementation's
    /// limits.
    pub fn new(bounds: Bounds, ty: &MemoryType) -> Result<MemoryPlan, PlanError> {
        if !bounds.supports(ty.memory64) {
            let index = if ty.memory64 { 64 } else { 32 };
            return Err(PlanError::IndexType { bounds, index });
        }
        let max_bytes = max_pages(ty)? * WASM_PAGE_BYTES;
        let Layout {
            front_bytes,
            reserved_bytes,
            backing,
        } = bounds.strategy().layout(max_bytes, ty.memory64);
        Ok(MemoryPlan {
            bounds,
            min_bytes: ty.min * WASM_PAGE_BYTES,
            max_bytes,
            front_bytes,
            reserved_bytes,
            backing,
        })
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
                mark::checking(builder, |builder| {
                    builder.ins().load(types::I64, cell_flags, def, MEMORY_LEN)
                });
            }
            Bounds::None | Bounds::Guard | Bounds::Guard64 | Bounds::Uffd => {}
        }
    }

    /// Emit what makes `access` safe and return where it goes.
    pub fn emit_address(&self, builder: &mut FunctionBuilder<'_>, access: &Access) -> HostAddress {
        let mut access = *access;
        if builder.func.dfg.value_type(access.index) == types::I32 {
            access.index = builder.ins().uextend(types::I64, access.index);
        }
        let strategy = self.bounds.strategy();
        mark::checking(builder, |builder| {
            strategy.emit(builder, self.max_bytes, &access)
        })
    }

    /// Emit what makes a store of `width` bytes to `at` change nothing where it
    /// traps: a load of the same bytes in front of it. Where they are not all
    /// accessible the load faults, before anything is written.
    pub fn emit_before_store(
        &self,
        builder: &mut FunctionBuilder<'_>,
        at: &HostAddress,
        width: u8,
    ) {
        if !STORES_TEAR || self.bounds.guarantee() != Guarantee::Exact {
            return;
        }
        let ty = match width {
            // A byte is written or it is not.
            1 => return,
            2 => types::I16,
            4 => types::I32,
            8 => types::I64,
            _ => types::I8X16,
        };
        builder
            .ins()
            .load(ty, at.flags, at.address, at.displacement);
    }
}

/// The access with an offset below `2^32`: a greater one is added to the index,
/// trapping where the sum overflows, for then it is beyond every memory.
fn folded_offset(builder: &mut FunctionBuilder<'_>, access: &Access) -> Access {
    if access.offset < 1 << 32 {
        return *access;
    }
    let offset = builder
        .ins()
        .iconst(types::I64, access.offset.cast_signed());
    let code = TrapCode::HEAP_OUT_OF_BOUNDS;
    let index = builder.ins().uadd_overflow_trap(access.index, offset, code);
    Access {
        index,
        offset: 0,
        ..*access
    }
}

/// `base + i` with `o` as displacement where it fits one, else added.
fn plain_address(
    builder: &mut FunctionBuilder<'_>,
    access: &Access,
    flags: MemFlagsData,
) -> HostAddress {
    mark::plainly(builder, |builder| {
        let address = builder.ins().iadd(access.base, access.index);
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
    })
}
