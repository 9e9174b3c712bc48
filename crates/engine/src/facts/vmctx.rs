//! What compiled code sees: the layout of an instance's context and of the
//! cells it points to.
//!
//! ```text
//! VmCtx (one per instance, 16-byte aligned)
//!   +0   runtime    *VmRuntime   stack limit, last exit, counts: one per store
//!   +8   libcalls   *[fn]        table of runtime functions, by `Libcall`
//!   +16  type_ids   *[u32]       module type index -> engine-wide type id
//!   +24  instance   *Instance    for the runtime only
//!   +32  memories   {base, *VmMemory}   16 bytes each, imported ones too
//!        tables     *VmTable            8 bytes each, imported ones too
//!        imports    VmFuncImport        16 bytes each, imported functions
//!        gimports   *u128 cell          8 bytes each, imported globals
//!        tags       *VmTag              8 bytes each, imported ones too
//!        globals    u128 cell           16 bytes each, 16-byte aligned
//!        funcrefs   VmFuncRef           32 bytes each, escaping functions
//! ```
//!
//! What must stay true: everything but `globals` is written before the first
//! instruction runs and never after, so translation may load it `readonly`.
//! A memory's base never moves (each strategy reserves its whole range).

use std::ops::AddAssign;

use crate::facts::module::ModuleInfo;

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

/// A field of [`Counts`] that compiled code increments, in its order.
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
        offsets::RUNTIME_COUNTS + self as i32 * size_of::<u64>() as i32
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
    /// Its tag.
    pub tag: *const VmTag,
    /// Not 0 once compiled code took an `exnref` to it: its memory is not reused
    /// before it is found to be unreachable.
    pub referenced: u32,
    /// Not 0 once the host has a reference to it: it is kept.
    pub held: u32,
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

/// Status of a host function that throws the exception in its first slot.
pub(crate) const THROWN: u32 = 2;

/// Byte offsets inside [`VmRuntime`], [`VmMemory`], [`VmTable`],
/// [`VmFuncImport`] and [`VmFuncRef`].
pub mod offsets {
    use super::*;
    use std::mem::offset_of;

    /// [`VmRuntime::stack_limit`].
    pub const RUNTIME_STACK_LIMIT: i32 = offset_of!(VmRuntime, stack_limit) as i32;
    /// [`VmRuntime::exit_fp`].
    pub const RUNTIME_EXIT_FP: i32 = offset_of!(VmRuntime, exit_fp) as i32;
    /// [`VmRuntime::exit_pc`].
    pub const RUNTIME_EXIT_PC: i32 = offset_of!(VmRuntime, exit_pc) as i32;
    /// [`VmRuntime::fuel`].
    pub const RUNTIME_FUEL: i32 = offset_of!(VmRuntime, fuel) as i32;
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
    pub const HOST_FUNC_CALL: i32 = 0;
}

/// Offset of the pointer to [`VmRuntime`] in a context.
pub const VMCTX_RUNTIME: i32 = 0;
/// Offset of the pointer to the table of libcalls.
pub const VMCTX_LIBCALLS: i32 = 8;
/// Offset of the pointer to the engine-wide type ids.
pub const VMCTX_TYPE_IDS: i32 = 16;
/// Offset of the pointer to the runtime's instance.
pub const VMCTX_INSTANCE: i32 = 24;
const VMCTX_HEADER: u32 = 32;

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
    escaping: Vec<u32>,
}

impl VmLayout {
    /// The layout for instances of `info`.
    pub fn new(info: &ModuleInfo) -> VmLayout {
        let memories = VMCTX_HEADER;
        let tables = memories + 16 * info.memories.len() as u32;
        let imports = tables + 8 * info.tables.len() as u32;
        let global_imports = imports + 16 * info.imported_funcs;
        let tags = global_imports + 8 * info.imported_globals;
        let globals = (tags + 8 * info.tags.len() as u32).next_multiple_of(16);
        let funcrefs = globals + 16 * info.global_defs.len() as u32;
        let size = funcrefs + size_of::<VmFuncRef>() as u32 * info.escaping.len() as u32;
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
            escaping: info.escaping.clone(),
        }
    }

    /// Bytes of a context.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// Offset of a memory's base address.
    pub fn memory_base(&self, memory: u32) -> i32 {
        (self.memories + 16 * memory) as i32
    }

    /// Offset of the pointer to a memory's [`VmMemory`].
    pub fn memory_def(&self, memory: u32) -> i32 {
        self.memory_base(memory) + 8
    }

    /// Offset of the pointer to a table's [`VmTable`].
    pub fn table_def(&self, table: u32) -> i32 {
        (self.tables + 8 * table) as i32
    }

    /// Offset of an imported function's [`VmFuncImport`].
    pub fn func_import(&self, func: u32) -> i32 {
        (self.imports + 16 * func) as i32
    }

    /// Offset of the pointer to a tag's [`VmTag`].
    pub fn tag(&self, tag: u32) -> i32 {
        (self.tags + 8 * tag) as i32
    }

    /// Where a global's cell is.
    pub fn global(&self, global: u32) -> GlobalPlace {
        match global.checked_sub(self.imported_globals) {
            Some(defined) => GlobalPlace::Inline((self.globals + 16 * defined) as i32),
            None => GlobalPlace::Pointer((self.global_imports + 8 * global) as i32),
        }
    }

    /// The words of 16 bytes that hold the cells of defined globals.
    pub fn global_words(&self) -> std::ops::Range<usize> {
        self.globals as usize / 16..self.funcrefs as usize / 16
    }

    /// Offset of the [`VmFuncRef`] of an escaping function, `None` where its
    /// reference is never taken.
    pub fn funcref(&self, func: u32) -> Option<i32> {
        // Where nearly all functions escape, one is as far behind the first as its
        // index is.
        let guess = func.wrapping_sub(*self.escaping.first()?) as usize;
        let slot = match self.escaping.get(guess) {
            Some(found) if *found == func => guess,
            _ => self.escaping.binary_search(&func).ok()?,
        };
        Some((self.funcrefs + slot as u32 * size_of::<VmFuncRef>() as u32) as i32)
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
