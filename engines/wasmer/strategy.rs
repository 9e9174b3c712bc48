//! The two ways in which wasmer checks bounds. It chooses one by itself; its
//! tunables are where an embedder chooses another.

use std::ptr::NonNull;

use fathom_runner::{Refusal, record::FailureKind};
use wasmer::sys::engine::Engine;
use wasmer::sys::{BaseTunables, Tunables};
use wasmer::{MemoryError, MemoryType, TableType};
use wasmer_vm::{
    MemoryStyle, TableStyle, VMConfig, VMMemory, VMMemoryDefinition, VMTable, VMTableDefinition,
};

/// Inaccessible bytes behind a memory that is compared with its size, by which
/// small constant offsets need no addition.
const OFFSET_GUARD_BYTES: u64 = 1 << 16;

/// How accesses are kept inside memory.
#[derive(Clone, Copy)]
pub enum Strategy {
    /// The engine's own choice: the whole reach reserved, guard pages behind.
    Guard,
    /// A comparison before each access.
    Trap,
}

impl Strategy {
    /// The strategy of a request.
    pub fn named(name: &str) -> Result<Self, Refusal> {
        match name {
            "guard" => Ok(Self::Guard),
            "trap" => Ok(Self::Trap),
            _ => {
                let message = format!("wasmer has no strategy \"{name}\": use guard or trap");
                Err(Refusal::new(FailureKind::Unsupported, message))
            }
        }
    }

    /// Makes an engine use it.
    pub fn set(self, engine: &mut Engine) {
        match self {
            Self::Guard => engine.set_tunables(BaseTunables::new()),
            Self::Trap => engine.set_tunables(Compared(BaseTunables::new())),
        }
    }
}

/// What the engine does by itself, but for the style of memories.
struct Compared(BaseTunables);

impl Tunables for Compared {
    fn memory_style(&self, _: &MemoryType) -> MemoryStyle {
        MemoryStyle::Dynamic {
            offset_guard_size: OFFSET_GUARD_BYTES,
        }
    }

    fn table_style(&self, table: &TableType) -> TableStyle {
        self.0.table_style(table)
    }

    fn create_host_memory(
        &self,
        ty: &MemoryType,
        style: &MemoryStyle,
    ) -> Result<VMMemory, MemoryError> {
        self.0.create_host_memory(ty, style)
    }

    unsafe fn create_vm_memory(
        &self,
        ty: &MemoryType,
        style: &MemoryStyle,
        definition: NonNull<VMMemoryDefinition>,
    ) -> Result<VMMemory, MemoryError> {
        // SAFETY: the caller's promise, handed on.
        unsafe { self.0.create_vm_memory(ty, style, definition) }
    }

    fn create_host_table(&self, ty: &TableType, style: &TableStyle) -> Result<VMTable, String> {
        self.0.create_host_table(ty, style)
    }

    unsafe fn create_vm_table(
        &self,
        ty: &TableType,
        style: &TableStyle,
        definition: NonNull<VMTableDefinition>,
    ) -> Result<VMTable, String> {
        // SAFETY: the caller's promise, handed on.
        unsafe { self.0.create_vm_table(ty, style, definition) }
    }

    fn vmconfig(&self) -> &VMConfig {
        self.0.vmconfig()
    }
}
