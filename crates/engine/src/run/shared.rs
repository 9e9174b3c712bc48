//! Memories that several stores, and so several threads, have in common.

#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::facts::error::{Error, Result};
use crate::facts::trap::TrapCode;
use crate::facts::types::MemoryType;
use crate::run::engine::Engine;
use crate::run::externs::Memory;
use crate::run::limits::{Allowance, Charge};
use crate::run::memory::{LinearMemory, OutOfBounds};
use crate::run::parking::{self, Waited};
use crate::run::store::{StoreOpaque, trap_error};

/// A shared memory. Clones are the same memory, which lives as long as one of
/// them or a store that it was brought into.
///
/// Its bytes may change at any time: there are no slices of it, only copies
/// and atomic cells. One thread runs one store; a module that imports the
/// memory is instantiated in each:
///
/// ```
/// use fathom_engine::{Config, Engine, Linker, MemoryType, Module, SharedMemory, Store};
///
/// # fn main() -> fathom_engine::Result<()> {
/// let engine = Engine::new(&Config::new())?;
/// let ty = MemoryType { min: 1, max: Some(2), shared: true, ..MemoryType::default() };
/// let memory = SharedMemory::new(&engine, ty)?;
/// // (module (import "env" "memory" (memory 1 2 shared)))
/// let module = Module::new(&engine, b"\0asm\x01\0\0\0\x02\x10\x01\x03env\x06memory\x02\x03\x01\x02")?;
/// let mut linker = Linker::new(&engine);
/// linker.define_shared("env", "memory", &memory)?;
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| {
///             let mut store = Store::new(&engine, ());
///             linker.instantiate(&mut store, &module).expect("it imports the memory only");
///         });
///     }
/// });
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SharedMemory {
    engine: Engine,
    memory: Arc<LinearMemory>,
}

impl SharedMemory {
    /// A memory with the strategy of the engine, and the quota of its configuration
    /// for itself.
    ///
    /// # Errors
    /// A type that is not shared, has no maximum or limits that are too large,
    /// or a host without room for it.
    pub fn new(engine: &Engine, ty: MemoryType) -> Result<SharedMemory> {
        SharedMemory::within(engine, ty, &Allowance::new(engine.quota()))
    }

    /// A memory that shares a quota with stores and other memories. Whoever grows
    /// it, it is charged to this.
    ///
    /// # Errors
    /// As [`SharedMemory::new`].
    pub fn within(engine: &Engine, ty: MemoryType, allowance: &Allowance) -> Result<SharedMemory> {
        if !ty.shared {
            return Err(Error::mismatch("the memory's type must be a shared one"));
        }
        Ok(SharedMemory {
            engine: engine.clone(),
            memory: LinearMemory::of_type(engine, ty, allowance)?,
        })
    }

    /// A shared memory of a store, for others.
    #[cold]
    pub(crate) fn of(store: &StoreOpaque, memory: NonNull<LinearMemory>) -> SharedMemory {
        let mut all = store.memories.iter();
        let found = all.find(|known| std::ptr::eq(&***known, memory.as_ptr()));
        SharedMemory {
            engine: store.engine.clone(),
            memory: Arc::clone(found.expect("a store keeps its memories")),
        }
    }

    /// Its type as declared.
    pub fn ty(&self) -> MemoryType {
        self.memory.ty
    }

    /// Current size in pages of 64 KiB; another thread may grow it.
    pub fn size(&self) -> u64 {
        self.memory.pages()
    }

    /// Current size in bytes.
    pub fn data_size(&self) -> usize {
        self.memory.len()
    }

    /// Grow by `delta` pages; returns the former size in pages.
    ///
    /// # Errors
    /// Beyond the maximum or its quota, or where the host has no room.
    pub fn grow(&self, delta: u64) -> Result<u64> {
        self.memory.grow_shared(delta)
    }

    /// Copy bytes out of it, each of which is read once.
    ///
    /// # Errors
    /// [`OutOfBounds`]; nothing is copied then.
    pub fn read(&self, start: u64, into: &mut [u8]) -> Result<(), OutOfBounds> {
        // SAFETY: it is shared.
        unsafe { self.memory.read(start, into) }
    }

    /// Copy bytes into it, each of which is written once.
    ///
    /// # Errors
    /// [`OutOfBounds`]; nothing is changed then.
    pub fn write(&self, start: u64, from: &[u8]) -> Result<(), OutOfBounds> {
        // SAFETY: it is shared.
        unsafe { self.memory.write(start, from) }
    }

    /// The byte at `address`.
    ///
    /// # Errors
    /// A trap's, out of bounds.
    pub fn atomic_u8(&self, address: u64) -> Result<&AtomicU8> {
        let at = self.cell(address, 1)?;
        // SAFETY: in bounds of a memory that never shrinks and is alive as long
        // as `self`; nobody has other references to its bytes.
        Ok(unsafe { AtomicU8::from_ptr(at) })
    }

    /// The 32 bits at `address`.
    ///
    /// # Errors
    /// A trap's, out of bounds or unaligned.
    pub fn atomic_u32(&self, address: u64) -> Result<&AtomicU32> {
        let at = self.cell(address, 4)?;
        // SAFETY: as for bytes, and aligned.
        Ok(unsafe { AtomicU32::from_ptr(at.cast()) })
    }

    /// The 64 bits at `address`.
    ///
    /// # Errors
    /// A trap's, out of bounds or unaligned.
    pub fn atomic_u64(&self, address: u64) -> Result<&AtomicU64> {
        let at = self.cell(address, 8)?;
        // SAFETY: as for bytes, and aligned.
        Ok(unsafe { AtomicU64::from_ptr(at.cast()) })
    }

    /// `memory.atomic.notify`: wakes at most `count` who wait at `address`;
    /// returns how many there were.
    ///
    /// # Errors
    /// A trap's, out of bounds or unaligned.
    pub fn notify(&self, address: u64, count: u32) -> Result<u32> {
        let at = self.cell(address, 4)?;
        Ok(parking::notify(at.addr(), count))
    }

    /// `memory.atomic.wait32`: waits until notified, as long as the 32 bits at
    /// `address` are `expected` at first; for ever without a timeout.
    ///
    /// # Errors
    /// A trap's, out of bounds or unaligned.
    pub fn wait32(&self, address: u64, expected: u32, timeout: Option<Duration>) -> Result<Waited> {
        let cell = self.atomic_u32(address)?;
        let is_expected = || cell.load(Ordering::SeqCst) == expected;
        let key = cell.as_ptr().addr();
        Ok(parking::wait(key, is_expected, timeout, None))
    }

    fn cell(&self, address: u64, bytes: u64) -> Result<*mut u8> {
        let at = self.memory.aligned(address, 0, bytes);
        at.map_err(|code| trap_error(code, Vec::new()))
    }

    /// The memory as one of a store's.
    pub(crate) fn bring_into(&self, store: &mut StoreOpaque) -> Result<Memory> {
        if !store.engine.same(&self.engine) {
            return Err(Error::mismatch("memory and store are of different engines"));
        }
        Ok(Memory::adopt(store, &self.memory))
    }
}

impl LinearMemory {
    /// A memory with the strategy of an engine. A shared one is charged to the
    /// allowance; for another the store has taken what it needs.
    ///
    /// # Errors
    /// Limits that are too large, or a host without room for it.
    pub(crate) fn of_type(
        engine: &Engine,
        ty: MemoryType,
        allowance: &Allowance,
    ) -> Result<Arc<LinearMemory>> {
        if ty.max.is_some_and(|max| max < ty.min) {
            return Err(Error::mismatch("a memory's limits must not fall"));
        }
        if ty.shared && ty.max.is_none() {
            return Err(Error::mismatch("a shared memory must have a maximum"));
        }
        let plan = engine.plan(&ty, "memory: ")?;
        let charge = match ty.shared {
            true => Some(Charge::new(allowance, plan.min_bytes)?),
            false => None,
        };
        let mut memory = LinearMemory::new(plan, ty, engine.domain())?;
        let unpublished = Arc::get_mut(&mut memory).expect("nobody else has it yet");
        unpublished.charge = charge;
        Ok(memory)
    }

    /// The host's address of `bytes` bytes, a power of two, at
    /// `index + offset`; its alignment is checked first.
    ///
    /// # Errors
    /// The trap.
    pub(crate) fn aligned(&self, index: u64, offset: u64, bytes: u64) -> Result<*mut u8, TrapCode> {
        // The width divides 2^64: a sum that wraps is as aligned as the true one.
        if !index.wrapping_add(offset).is_multiple_of(bytes) {
            return Err(TrapCode::UnalignedAtomic);
        }
        let start = index.checked_add(offset);
        let range = start.and_then(|start| self.check(start, bytes).ok());
        let range = range.ok_or(TrapCode::MemoryOutOfBounds)?;
        Ok(self.vm.base.wrapping_add(range.start))
    }
}
