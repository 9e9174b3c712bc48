//! What compiled code sees: the layout of an instance's context and of the
//! cells it points to.
//!
//! ```text
//! VmCtx (one per instance, 16-byte aligned)
//!   VmHeader    runtime, libcalls, type_ids, instance
//!   memories    VmMemoryPlace      imported ones too
//!   tables      *VmTable           imported ones too
//!   imports     VmFuncImport       imported functions
//!   gimports    *u128 cell         imported globals
//!   tags        *VmTag             imported ones too
//!   globals     u128 cell          16-byte aligned
//!   funcrefs    VmFuncRef          escaping functions
//! ```
//!
//! What must stay true: everything but `globals` is written before the first
//! instruction runs and never after, so translation may load it `readonly`.
//! A memory's base never moves (each strategy reserves its whole range). Offsets and
//! sizes are those of the types here, which are laid out as C would.

use std::mem::offset_of;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::facts::module::ModuleInfo;
use crate::facts::vmcont::VmStacks;

/// What a context begins with.
#[repr(C)]
#[derive(Debug)]
pub struct VmHeader {
    /// Stack limit, last exit, counts: one for a store.
    pub runtime: *mut VmRuntime,
    /// The table of runtime functions, see [`crate::libcall`].
    pub libcalls: *const *const (),
    /// From a module's type index to the id of the type.
    pub type_ids: *const u32,
    /// The instance, for the runtime only.
    pub instance: *mut (),
}

/// What a context has of a memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VmMemoryPlace {
    /// Its first byte.
    pub base: *mut u8,
    /// The rest of it.
    pub def: *const VmMemory,
}

/// Per store: what compiled code needs of the thread it runs on.
#[repr(C)]
#[derive(Debug)]
pub struct VmRuntime {
    /// Lowest stack address Wasm frames may reach; prologues compare with it.
    pub stack_limit: usize,
    /// Frame pointer of the last Wasm frame when it left for the host.
    pub exit_fp: usize,
    /// Return address into that frame.
    pub exit_pc: usize,
    /// Set when what runs is to end, see [`crate::Interrupt`]; may be null.
    pub interrupted: *const std::sync::atomic::AtomicBool,
    /// What is left of the fuel, where code consumes it; less than 0 is none.
    pub fuel: i64,
    /// What was counted, where that was asked for; else nothing writes it.
    pub counts: Counts,
    /// What a way in or out of locked Wasm needs.
    pub crossing: Crossing,
    /// The continuations of the store, and which of them runs.
    pub stacks: VmStacks,
    /// Arguments on their way.
    pub arguments: VmArguments,
    /// Where objects are, and the next one will be.
    pub heap: VmHeap,
}

/// The heap of a store as compiled code sees it; see `run/heap.rs`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VmHeap {
    /// What references are offsets from. Never changes once a module with objects is there.
    pub base: *mut u8,
    /// Where the next object can be, as an offset.
    pub next: u64,
    /// Behind the last byte that can be taken; no more than `next` where there is none.
    pub end: u64,
    /// Where compiled code writes the next reference that is overwritten in an object while a
    /// collection is under way; null while none is.
    pub log_next: *mut u32,
    /// The last place that there is for one.
    pub log_last: *mut u32,
}

impl Default for VmHeap {
    fn default() -> VmHeap {
        VmHeap {
            base: std::ptr::null_mut(),
            next: 0,
            end: 0,
            log_next: std::ptr::null_mut(),
            log_last: std::ptr::null_mut(),
        }
    }
}

/// Arguments for which a call has no registers, where they are not on the stack; see
/// `compile/argument_passing.rs`.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug)]
pub struct VmArguments([u128; VmArguments::CELLS]);

impl VmArguments {
    /// How many there can be.
    pub const CELLS: usize = 32;
}

impl Default for VmArguments {
    fn default() -> VmArguments {
        VmArguments([0; VmArguments::CELLS])
    }
}

/// Where locked Wasm and its host go on, on stacks of their own; see
/// `entry/locked.rs`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Crossing {
    /// The host's stack, as the innermost entry left it.
    pub host_sp: usize,
    /// The stack of Wasm, as it left for the host last.
    pub wasm_sp: usize,
    /// PKRU while the host runs.
    pub opened: u32,
    /// PKRU while Wasm runs.
    pub locked: u32,
}

/// How often programs did something.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Loads from memories; an atomic read-modify-write is one and a store.
    pub loads: u64,
    /// Stores to memories.
    pub stores: u64,
    /// Accesses that a check of their own went before.
    pub checks: u64,
    /// Accesses whose check was left out, because something made it superfluous.
    pub checks_left_out: u64,
    /// Calls through a table or a reference.
    pub indirect_calls: u64,
    /// Calls of functions of the host.
    pub host_calls: u64,
    /// `memory.grow`, successful or not.
    pub growths: u64,
    /// Writes of the register with the rights to protection keys, under the
    /// strategy `pkeys`: two for an entry, a host call or a runtime function.
    /// Counted always, by the ways in and out and not by compiled code.
    pub key_switches: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.loads += other.loads;
        self.stores += other.stores;
        self.checks += other.checks;
        self.checks_left_out += other.checks_left_out;
        self.indirect_calls += other.indirect_calls;
        self.host_calls += other.host_calls;
        self.growths += other.growths;
        self.key_switches += other.key_switches;
    }
}

/// A field of [`Counts`] that compiled code increments.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counter {
    Loads,
    Stores,
    Checks,
    ChecksLeftOut,
    IndirectCalls,
    HostCalls,
    Growths,
}

impl Counter {
    /// In the store's runtime block.
    pub(crate) fn offset(self) -> i32 {
        let offset = match self {
            Counter::Loads => offset_of!(Counts, loads),
            Counter::Stores => offset_of!(Counts, stores),
            Counter::Checks => offset_of!(Counts, checks),
            Counter::ChecksLeftOut => offset_of!(Counts, checks_left_out),
            Counter::IndirectCalls => offset_of!(Counts, indirect_calls),
            Counter::HostCalls => offset_of!(Counts, host_calls),
            Counter::Growths => offset_of!(Counts, growths),
        };
        offsets::RUNTIME_COUNTS + offset as i32
    }
}

/// A linear memory as compiled code sees it.
#[repr(C)]
#[derive(Debug)]
pub struct VmMemory {
    /// First byte. Never changes.
    pub base: *mut u8,
    /// Current length in bytes. Only grows.
    pub len: std::sync::atomic::AtomicUsize,
    /// First byte behind its shadow, where it has one. Never changes.
    pub shadow: *const u8,
    /// The bits no index in its reservation has. Never changes.
    pub high_bits: u64,
    /// The number of the other bits. Never changes.
    pub index_bits: u64,
}

/// A table as compiled code sees it: `len` cells of 8 bytes.
#[repr(C)]
#[derive(Debug)]
pub struct VmTable {
    /// First element. Moves when the table grows.
    pub base: *mut u64,
    /// Number of elements.
    pub len: u64,
}

/// A tag; its address is its identity.
#[repr(C)]
#[derive(Debug)]
pub struct VmTag {
    /// Process-wide id of its type.
    pub type_id: u32,
}

/// An exception; its values follow, 16 bytes each.
#[repr(C)]
#[derive(Debug)]
pub struct VmException {
    /// The tag that the exception was thrown with.
    pub tag: *const VmTag,
    /// Not 0 once compiled code took an `exnref` to it: its memory is not reused
    /// before it is found to be unreachable.
    pub referenced: u32,
    /// Not 0 once the host has a reference to it, which several threads may take at once: it is
    /// kept.
    pub held: AtomicU32,
}

impl VmException {
    /// Keeps it, for the host has a reference to it.
    pub fn hold(&self) {
        self.held.store(1, Ordering::Relaxed);
    }

    /// Whether the host has a reference to it.
    pub fn is_held(&self) -> bool {
        self.held.load(Ordering::Relaxed) != 0
    }
}

/// An imported function: what a direct call to it needs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VmFuncImport {
    /// Code in the Wasm calling convention.
    pub code: *const u8,
    /// Context to pass as the callee's.
    pub vmctx: *mut u8,
}

/// A function reference; a `funcref` value is its address or 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VmFuncRef {
    /// Code in the Wasm calling convention.
    pub code: *const u8,
    /// Context to pass as the callee's.
    pub vmctx: *mut u8,
    /// Engine-wide id of its type.
    pub type_id: u32,
    /// Slots that a call from the host needs: as many as parameters or results.
    pub slots: u32,
    /// Entry trampoline of its type, for calls from the host.
    pub entry: *const u8,
}

/// What a host function begins with, as exit trampolines see it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct VmHostFunc {
    /// Its store's. In the place where a context has it.
    pub runtime: *mut VmRuntime,
    /// Called with this, the calling context and the slots; 0, [`THROWN`], or anything
    /// else with an error waiting in the store. It is a gate, or `direct`.
    pub call: Shim,
    /// What it does, where Wasm and the host share a stack and a key. Gates call it.
    pub direct: Shim,
}

/// The host's end of an exit trampoline.
pub(crate) type Shim = unsafe extern "C" fn(*const VmHostFunc, *mut u8, *mut u128) -> u32;

/// Status of a host function that throws the exception in its first slot.
pub(crate) const THROWN: u32 = 2;

/// Byte offsets inside [`VmRuntime`], [`VmMemory`], [`VmTable`],
/// [`VmFuncImport`] and [`VmFuncRef`].
pub mod offsets {
    use super::*;

    /// [`VmRuntime::stack_limit`].
    pub const RUNTIME_STACK_LIMIT: i32 = offset_of!(VmRuntime, stack_limit) as i32;
    /// [`VmRuntime::exit_fp`].
    pub const RUNTIME_EXIT_FP: i32 = offset_of!(VmRuntime, exit_fp) as i32;
    /// [`VmRuntime::exit_pc`].
    pub const RUNTIME_EXIT_PC: i32 = offset_of!(VmRuntime, exit_pc) as i32;
    /// [`VmRuntime::fuel`].
    pub const RUNTIME_FUEL: i32 = offset_of!(VmRuntime, fuel) as i32;
    /// [`VmRuntime::arguments`].
    pub const RUNTIME_ARGUMENTS: i32 = offset_of!(VmRuntime, arguments) as i32;
    /// [`VmHeap::base`] of [`VmRuntime::heap`].
    pub const HEAP_BASE: i32 = (offset_of!(VmRuntime, heap) + offset_of!(VmHeap, base)) as i32;
    /// [`VmHeap::next`] of [`VmRuntime::heap`].
    pub const HEAP_NEXT: i32 = (offset_of!(VmRuntime, heap) + offset_of!(VmHeap, next)) as i32;
    /// [`VmHeap::end`] of [`VmRuntime::heap`].
    pub const HEAP_END: i32 = (offset_of!(VmRuntime, heap) + offset_of!(VmHeap, end)) as i32;
    /// [`VmHeap::log_next`] of [`VmRuntime::heap`].
    pub const HEAP_LOG_NEXT: i32 =
        (offset_of!(VmRuntime, heap) + offset_of!(VmHeap, log_next)) as i32;
    /// [`VmHeap::log_last`] of [`VmRuntime::heap`].
    pub const HEAP_LOG_LAST: i32 =
        (offset_of!(VmRuntime, heap) + offset_of!(VmHeap, log_last)) as i32;
    /// [`VmRuntime::counts`].
    pub const RUNTIME_COUNTS: i32 = offset_of!(VmRuntime, counts) as i32;
    /// [`Crossing::host_sp`].
    pub const HOST_SP: usize = offset_of!(VmRuntime, crossing) + offset_of!(Crossing, host_sp);
    /// [`Crossing::wasm_sp`].
    pub const WASM_SP: usize = offset_of!(VmRuntime, crossing) + offset_of!(Crossing, wasm_sp);
    /// [`Crossing::opened`].
    pub const OPENED: usize = offset_of!(VmRuntime, crossing) + offset_of!(Crossing, opened);
    /// [`Crossing::locked`].
    pub const LOCKED: usize = offset_of!(VmRuntime, crossing) + offset_of!(Crossing, locked);
    /// [`Counts::key_switches`].
    pub const WRITES: usize = offset_of!(VmRuntime, counts) + offset_of!(Counts, key_switches);
    /// [`VmMemory::len`].
    pub const MEMORY_LEN: i32 = offset_of!(VmMemory, len) as i32;
    /// [`VmMemory::shadow`].
    pub const MEMORY_SHADOW: i32 = offset_of!(VmMemory, shadow) as i32;
    /// [`VmMemory::high_bits`].
    pub const MEMORY_HIGH_BITS: i32 = offset_of!(VmMemory, high_bits) as i32;
    /// [`VmMemory::index_bits`].
    pub const MEMORY_INDEX_BITS: i32 = offset_of!(VmMemory, index_bits) as i32;
    /// [`VmTable::base`].
    pub const TABLE_BASE: i32 = offset_of!(VmTable, base) as i32;
    /// [`VmTable::len`].
    pub const TABLE_LEN: i32 = offset_of!(VmTable, len) as i32;
    /// [`VmFuncImport::code`].
    pub const IMPORT_CODE: i32 = offset_of!(VmFuncImport, code) as i32;
    /// [`VmFuncImport::vmctx`].
    pub const IMPORT_VMCTX: i32 = offset_of!(VmFuncImport, vmctx) as i32;
    /// [`VmFuncRef::code`].
    pub const FUNCREF_CODE: i32 = offset_of!(VmFuncRef, code) as i32;
    /// [`VmFuncRef::vmctx`].
    pub const FUNCREF_VMCTX: i32 = offset_of!(VmFuncRef, vmctx) as i32;
    /// [`VmFuncRef::type_id`].
    pub const FUNCREF_TYPE_ID: i32 = offset_of!(VmFuncRef, type_id) as i32;
    /// [`VmException::tag`].
    pub const EXCEPTION_TAG: i32 = offset_of!(VmException, tag) as i32;
    /// [`VmException::referenced`].
    pub const EXCEPTION_REFERENCED: i32 = offset_of!(VmException, referenced) as i32;
    /// First value of a [`VmException`].
    pub const EXCEPTION_VALUES: i32 = size_of::<VmException>() as i32;
    /// Offset of `call` in the host function behind an exit trampoline.
    pub const HOST_FUNC_CALL: i32 = offset_of!(VmHostFunc, call) as i32;
}

/// Offset of the pointer to [`VmRuntime`] in a context.
pub const VMCTX_RUNTIME: i32 = offset_of!(VmHeader, runtime) as i32;
/// Offset of the pointer to the table of libcalls.
pub const VMCTX_LIBCALLS: i32 = offset_of!(VmHeader, libcalls) as i32;
/// Offset of the pointer to the engine-wide type ids.
pub const VMCTX_TYPE_IDS: i32 = offset_of!(VmHeader, type_ids) as i32;
/// Offset of the pointer to the runtime's instance.
pub const VMCTX_INSTANCE: i32 = offset_of!(VmHeader, instance) as i32;

/// Bytes of a pointer.
const POINTER: u32 = size_of::<*const u8>() as u32;
/// Bytes of a global's cell.
const CELL: u32 = size_of::<u128>() as u32;
/// Bytes of what a context has of a memory.
const MEMORY: u32 = size_of::<VmMemoryPlace>() as u32;
/// Bytes of an imported function.
const IMPORT: u32 = size_of::<VmFuncImport>() as u32;
/// Bytes of a function reference.
const FUNCREF: u32 = size_of::<VmFuncRef>() as u32;

/// Where the variable parts of a module's contexts are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmLayout {
    memories: u32,
    tables: u32,
    imports: u32,
    global_imports: u32,
    tags: u32,
    globals: u32,
    funcrefs: u32,
    size: u32,
    imported_globals: u32,
    /// The first escaping function.
    first: u32,
    /// By function from `first` on, its place among the escaping ones or [`CONFINED`].
    places: Vec<u32>,
}

/// The place of a function that does not escape.
const CONFINED: u32 = u32::MAX;

impl VmLayout {
    /// The layout for instances of `info`.
    pub fn new(info: &ModuleInfo) -> VmLayout {
        let memories = size_of::<VmHeader>() as u32;
        let tables = memories + MEMORY * info.memories.len() as u32;
        let imports = tables + POINTER * info.tables.len() as u32;
        let global_imports = imports + IMPORT * info.imported_funcs;
        let tags = global_imports + POINTER * info.imported_globals;
        let globals = (tags + POINTER * info.tags.len() as u32).next_multiple_of(CELL);
        let funcrefs = globals + CELL * info.global_defs.len() as u32;
        let size = funcrefs + FUNCREF * info.escaping.len() as u32;
        let first = info.escaping.first().copied().unwrap_or(0);
        let end = info.escaping.last().map_or(first, |last| last + 1);
        let mut places = vec![CONFINED; (end - first) as usize];
        for (place, func) in info.escaping.iter().enumerate() {
            places[(func - first) as usize] = place as u32;
        }
        VmLayout {
            memories,
            tables,
            imports,
            global_imports,
            tags,
            globals,
            funcrefs,
            size,
            imported_globals: info.imported_globals,
            first,
            places,
        }
    }

    /// Bytes of a context.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// Offset of a memory's base address.
    pub fn memory_base(&self, memory: u32) -> i32 {
        (self.memories + MEMORY * memory) as i32 + offset_of!(VmMemoryPlace, base) as i32
    }

    /// Offset of the pointer to a memory's [`VmMemory`].
    pub fn memory_def(&self, memory: u32) -> i32 {
        (self.memories + MEMORY * memory) as i32 + offset_of!(VmMemoryPlace, def) as i32
    }

    /// Offset of the pointer to a table's [`VmTable`].
    pub fn table_def(&self, table: u32) -> i32 {
        (self.tables + POINTER * table) as i32
    }

    /// Offset of an imported function's [`VmFuncImport`].
    pub fn func_import(&self, func: u32) -> i32 {
        (self.imports + IMPORT * func) as i32
    }

    /// Offset of the pointer to a tag's [`VmTag`].
    pub fn tag(&self, tag: u32) -> i32 {
        (self.tags + POINTER * tag) as i32
    }

    /// Where a global's cell is.
    pub fn global(&self, global: u32) -> GlobalPlace {
        match global.checked_sub(self.imported_globals) {
            Some(defined) => GlobalPlace::Inline((self.globals + CELL * defined) as i32),
            None => GlobalPlace::Pointer((self.global_imports + POINTER * global) as i32),
        }
    }

    /// The words of 16 bytes that hold the cells of defined globals.
    pub fn global_words(&self) -> std::ops::Range<usize> {
        (self.globals / CELL) as usize..(self.funcrefs / CELL) as usize
    }

    /// Offset of the [`VmFuncRef`] of an escaping function, `None` where its
    /// reference is never taken.
    pub fn funcref(&self, func: u32) -> Option<i32> {
        let place = *self.places.get(func.wrapping_sub(self.first) as usize)?;
        (place != CONFINED).then(|| self.funcref_at(place))
    }

    /// Offset of the [`VmFuncRef`] of the escaping function at a place among these.
    pub fn funcref_at(&self, place: u32) -> i32 {
        (self.funcrefs + FUNCREF * place) as i32
    }
}

/// Where a global's 16-byte cell is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalPlace {
    /// In the context itself, at this offset.
    Inline(i32),
    /// Behind the pointer in the context at this offset.
    Pointer(i32),
}
