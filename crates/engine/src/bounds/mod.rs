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

mod about;
mod auto;
pub(crate) mod check;
mod clamp;
mod debug;
mod guard;
mod guard64;
mod mark;
#[cfg(test)]
mod model;
mod none;
mod pkeys;
mod rows;
mod shadow;
mod shadow_compressed;
mod site;
mod spectre;
#[cfg(thesis_formula)]
mod thesis;
mod trap;
mod uffd;

pub use about::Guarantee;
pub(crate) use auto::candidates;
pub(crate) use mark::{begin_check, check_location, end_check, offset_and_check};
pub use rows::{Bounds, BoundsChoice, Growth, HighBits, Probing, UnknownBounds};
pub(crate) use shadow::{Place, Shadow};
pub(crate) use site::{BlockEnd, Site, Touch};

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;

use crate::facts::types::MemoryType;
use crate::facts::vmctx::offsets::MEMORY_LEN;
use about::{About, Fit};
use check::{CheckBuilder, Clif, Span, Target};

/// Bytes of a Wasm page.
pub const WASM_PAGE_BYTES: u64 = 65_536;
/// Pages a 32-bit memory can have at most.
pub const MAX_PAGES_32: u64 = 65_536;
/// Pages a 64-bit memory can have at most here: 1 TiB. The specification allows
/// 2^48, which no address space holds.
pub const MAX_PAGES_64: u64 = 1 << 24;
/// Pages that are reserved for a 64-bit memory which declares no maximum unless
/// configured: 64 GiB, so that more than a thousand such memories fit a process.
pub const DEFAULT_PAGES_64: u64 = 1 << 20;
/// Indices of a 32-bit memory.
const INDEX_SPACE_32: u64 = 1 << 32;
/// Bytes the constant offset and the width of one access add at most:
/// `(2^32 - 1) + 16`, rounded up to a Wasm page. Greater offsets, which only
/// 64-bit memories have, are added to the index before the check.
pub(crate) const REACH: u64 = (1 << 32) + WASM_PAGE_BYTES;
/// Inaccessible bytes in front of a 64-bit memory whose checks can be left out:
/// as far as an index may fall below 0 without a check and still fault. Less
/// than what rounding a reservation up to GiB mostly leaves unused.
const FRONT_GUARD: u64 = 256 << 20;

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
    /// Inaccessible bytes in front of all others of the reservation.
    pub front_guard_bytes: u64,
    /// Readable and writable bytes in front of the memory's first byte.
    pub front_bytes: u64,
    /// Bytes reserved from the first byte on; more where the shadow of the
    /// memory lies so that more are in reach (`Shadow::reserved_bytes`).
    pub reserved_bytes: u64,
    /// How pages become accessible.
    pub backing: Backing,
    /// The shadow that is read in front of an access, where there is one.
    pub shadow: Option<Shadow>,
    /// Whether an access may go anywhere, because nothing keeps it near the memory.
    pub strays: bool,
    /// Whether it is an import of the module: the memory that is given may be
    /// of a type with another maximum, so only its definition knows what is
    /// reserved for it.
    pub imported: bool,
    /// Whether threads share it, so that another one may grow it at any time.
    pub shared: bool,
    /// Whether accesses are kept inside the reservation ahead of their checks,
    /// too: see `spectre.rs`.
    pub spectre: bool,
    /// Whether it has huge pages, where the host has them.
    pub huge_pages: bool,
    /// Whether accesses are checked wrongly, see `thesis.rs`.
    #[cfg(thesis_formula)]
    pub thesis_formula: bool,
}

/// How far around a memory an access without a check surely faults: what the
/// elision of checks relies on ([`crate::compile::elide`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slack {
    /// Inaccessible bytes right in front of the first byte.
    pub front: i64,
    /// Bytes reserved behind the most that the memory can grow to, and
    /// inaccessible like all from its length on.
    pub behind: i64,
    /// Bytes reserved behind the greatest index that a guard against speculation leaves.
    pub behind_indices: i64,
    /// The most bytes it can grow to: between these.
    pub max_bytes: (i64, i64),
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
    /// Address of its [`crate::facts::vmctx::VmMemory`].
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
    /// What it says of itself.
    fn about(&'static self) -> &'static About;

    /// Front, reservation and backing for a memory of at most `max_bytes` with
    /// 64-bit or 32-bit indices.
    fn layout(&self, max_bytes: u64, memory64: bool) -> Layout;

    /// Inaccessible bytes in front of all that the layout names.
    fn front_guard_bytes(&self, _max_bytes: u64, _memory64: bool) -> u64 {
        0
    }

    /// Make the check, if any, and say where the access goes.
    fn emit(&self, check: &mut dyn CheckBuilder, plan: &MemoryPlan, span: &Span) -> Target;
}

/// The part of a plan that a strategy decides.
struct Layout {
    front_bytes: u64,
    reserved_bytes: u64,
    backing: Backing,
    shadow: Option<Shadow>,
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
    /// The strategy is none for this instruction set.
    #[error("strategy '{bounds}' needs {} for a {index}-bit memory", bounds.needs())]
    Machine {
        /// The strategy.
        bounds: Bounds,
        /// Bits of an index.
        index: u32,
    },
}

fn named(memory64: bool) -> String {
    let names: Vec<&str> = Bounds::all_for(memory64).map(Bounds::name).collect();
    names.join(", ")
}

/// How far memories can grow, in pages, whatever they declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GrowthLimits {
    /// A 64-bit memory that declares no maximum.
    pub undeclared_64: u64,
    /// Any memory: less than its type allows where the host has little address
    /// space.
    pub most: u64,
}

impl Default for GrowthLimits {
    fn default() -> GrowthLimits {
        GrowthLimits {
            undeclared_64: DEFAULT_PAGES_64,
            most: MAX_PAGES_64,
        }
    }
}

/// Pages that a memory of this type can have: never less than its minimum, unless that is
/// more than any can have.
fn max_pages(bounds: Bounds, ty: &MemoryType, limits: GrowthLimits) -> u64 {
    let limit = match ty.memory64 {
        false => MAX_PAGES_32,
        true => bounds.about().max_pages_64,
    };
    let default = match ty.memory64 {
        true => limits.undeclared_64,
        false => limit,
    };
    let most = limit.min(limits.most);
    let least = ty.min.min(limit);
    ty.max.unwrap_or(default).min(most).max(least)
}

impl MemoryPlan {
    /// The plan for a memory of type `ty` under `bounds`.
    ///
    /// A type whose minimum is beyond the implementation's limits has a plan, for code can
    /// be compiled for it; there is no memory of it ([`MemoryPlan::holds`]).
    ///
    /// # Errors
    /// A strategy for the other index type, or none for this machine.
    pub fn new(
        bounds: Bounds,
        ty: &MemoryType,
        limits: GrowthLimits,
    ) -> Result<MemoryPlan, PlanError> {
        let index = if ty.memory64 { 64 } else { 32 };
        let about = bounds.about();
        let fit = about.fit(ty.memory64);
        if !fit.is_for_this_machine() {
            return Err(PlanError::Machine { bounds, index });
        }
        if fit == Fit::Nowhere {
            return Err(PlanError::IndexType { bounds, index });
        }
        let max_bytes = max_pages(bounds, ty, limits) * WASM_PAGE_BYTES;
        let Layout {
            front_bytes,
            reserved_bytes,
            backing,
            shadow,
        } = bounds.strategy().layout(max_bytes, ty.memory64);
        Ok(MemoryPlan {
            bounds,
            min_bytes: ty.min.saturating_mul(WASM_PAGE_BYTES).min(max_bytes),
            max_bytes,
            front_guard_bytes: bounds.strategy().front_guard_bytes(max_bytes, ty.memory64),
            front_bytes,
            reserved_bytes,
            backing,
            shadow,
            strays: about.strays_64 && ty.memory64,
            imported: false,
            shared: ty.shared,
            spectre: true,
            huge_pages: false,
            #[cfg(thesis_formula)]
            thesis_formula: false,
        })
    }

    /// Whether there can be a memory of so many pages.
    pub fn holds(&self, pages: u64) -> bool {
        pages <= self.max_bytes / WASM_PAGE_BYTES
    }

    /// The plan as a module that imports the memory sees it.
    pub fn imported(self, imported: bool) -> MemoryPlan {
        MemoryPlan { imported, ..self }
    }

    /// Bytes of the reservation in front of the memory's first byte.
    pub fn lead_bytes(&self) -> u64 {
        self.front_guard_bytes + self.accessible_lead_bytes()
    }

    /// Those of them behind the front guard.
    fn accessible_lead_bytes(&self) -> u64 {
        self.shadow.map_or(0, |shadow| shadow.lead_bytes()) + self.front_bytes
    }

    /// What faults around the memory. Every strategy that leaves the rest to
    /// inaccessible pages has at least `REACH` of them behind the maximum, and
    /// `FRONT_GUARD` in front if any; that is all that is known of an import, which
    /// any maximum may be declared for.
    pub(crate) fn slack(&self) -> Slack {
        let front = match self.accessible_lead_bytes() {
            0 => self.front_guard_bytes,
            _ => 0,
        };
        if self.imported {
            let front = front.min(FRONT_GUARD);
            return Slack {
                front: front.cast_signed(),
                behind: REACH.cast_signed(),
                behind_indices: REACH.cast_signed(),
                max_bytes: (0, (MAX_PAGES_64 * WASM_PAGE_BYTES).cast_signed()),
            };
        }
        let behind = |bytes: u64| self.reserved_bytes.saturating_sub(bytes);
        let indices = 1 << self.index_bits();
        let max_bytes = self.max_bytes.cast_signed();
        Slack {
            front: front.cast_signed(),
            behind: behind(self.max_bytes).cast_signed(),
            behind_indices: behind(indices).max(REACH).cast_signed(),
            max_bytes: (max_bytes, max_bytes),
        }
    }

    /// Bits of the indices that the reservation holds, where the strategy tests
    /// the others or masks them.
    pub fn index_bits(&self) -> u32 {
        let chunk = self.shadow.map_or(1, |shadow| shadow.chunk_bytes());
        let space = guard64::index_space(self.max_bytes);
        space.max(chunk).trailing_zeros()
    }

    /// Whether every index that passes the check is one of 32 bits: of a memory that cannot
    /// have more than 4 GiB. Of an import only its definition knows.
    pub(crate) fn has_half_indices(&self) -> bool {
        !self.imported && self.index_bits() == u32::BITS
    }

    /// Whether the code that accesses it runs locked.
    pub fn is_locked(&self) -> bool {
        self.bounds.is_locked()
    }

    /// Whether a byte of a shadow is read in front of accesses, by an instruction that
    /// the fault handler looks at.
    pub fn is_probed(&self) -> bool {
        self.shadow.is_some()
    }

    /// Whether a runtime function checks each access, called in front of it.
    pub fn is_checked_by_call(&self) -> bool {
        self.bounds.about().is_checked_by_call
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
        if self.bounds.about().compares_length {
            mark::checking(builder, |builder| {
                builder.ins().load(types::I64, cell_flags, def, MEMORY_LEN)
            });
        }
    }

    /// Emit what makes `access` safe and return where it goes.
    pub fn emit_address(&self, builder: &mut FunctionBuilder<'_>, access: &Access) -> HostAddress {
        let mut access = *access;
        if builder.func.dfg.value_type(access.index) == types::I32 {
            access.index = builder.ins().uextend(types::I64, access.index);
        }
        mark::checking(builder, |builder| {
            let mut check = Clif::new(builder, &access);
            let span = check.span();
            let target = self.emit_check(&mut check, &span);
            check.address(target)
        })
    }

    /// Make what the strategy makes of an access.
    pub(crate) fn emit_check(&self, check: &mut dyn CheckBuilder, span: &Span) -> Target {
        #[cfg(thesis_formula)]
        if self.thesis_formula {
            return thesis::emit(check, self, span);
        }
        self.bounds.strategy().emit(check, self, span)
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

/// The span with an offset below `2^32`: a greater one is added to the index,
/// trapping where the sum overflows, for then it is beyond every memory.
fn folded_offset(check: &mut dyn CheckBuilder, span: &Span) -> Span {
    if span.offset < 1 << 32 {
        return *span;
    }
    let offset = check.constant(span.offset);
    Span {
        index: check.add_or_trap(span.index, offset),
        offset: 0,
        ..*span
    }
}
