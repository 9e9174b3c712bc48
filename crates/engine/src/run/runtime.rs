//! What the runtime does for compiled code: growth, bulk operations, segments.
//!
//! Each comes twice: here over an instance with typed results, for instantiation
//! too, and in `entries.rs` as the C function that compiled code calls. Bulk operations
//! check both ranges before they change anything, under every strategy.

#![allow(unsafe_code)]

mod entries;
mod objects;

pub(crate) use objects::{new_array, new_filled_array, new_struct};

pub(super) use entries::TABLE;

use std::panic::{AssertUnwindSafe, catch_unwind};

use fathom_sys::cells::Domain;

use crate::facts::error::Error;
use crate::facts::libcall::Status;
use crate::facts::trap::TrapCode;
use crate::facts::vmctx::VMCTX_INSTANCE;
use crate::run::entry;
use crate::run::instance::InstanceData;
use crate::run::limits::Grown;
use crate::run::store::{StoreOpaque, trap_error};

/// The table for the contexts of a domain.
pub(crate) fn table(domain: Domain) -> *const *const () {
    match domain {
        Domain::Open => (&raw const TABLE).cast(),
        Domain::Locked => entry::locked_table(),
    }
}

type Outcome = Result<(), TrapCode>;

/// # Safety
/// `vmctx` is the context of an instance whose Wasm is running.
pub(crate) unsafe fn instance<'a>(vmctx: *mut u8) -> &'a mut InstanceData {
    // SAFETY: a context holds its instance's address there; while Wasm runs
    // nobody else borrows the instance.
    unsafe {
        &mut **vmctx
            .add(VMCTX_INSTANCE as usize)
            .cast::<*mut InstanceData>()
    }
}

/// 0, or 1 with the trap left in the store for compiled code to raise.
///
/// An interrupt that comes while a function of the runtime runs finds no compiled code to
/// leave, and what calls such functions all the time may never be found in any: so it is
/// looked for at the end of each that can take long.
pub(crate) fn status(data: &mut InstanceData, outcome: Outcome) -> Status {
    // SAFETY: an instance's store is alive while the instance is.
    let store = unsafe { &mut *data.store };
    let outcome = outcome.and_then(|()| not_interrupted(store));
    let Err(code) = outcome else {
        return 0;
    };
    store.pending = Some(trap_error(code, Vec::new()));
    1
}

/// The trap where the store is interrupted.
fn not_interrupted(store: &StoreOpaque) -> Outcome {
    match store.is_interrupted() {
        true => Err(TrapCode::Interrupted),
        false => Ok(()),
    }
}

impl InstanceData {
    pub(crate) fn memory(&self, index: u32) -> &crate::run::memory::LinearMemory {
        // SAFETY: memories are alive as long as the store.
        unsafe { self.memories[index as usize].as_ref() }
    }

    fn table(&mut self, index: u32) -> &mut crate::run::table::TableData {
        // SAFETY: as for memories.
        unsafe { &mut *self.tables[index as usize].as_ptr() }
    }
}

fn memory_copy(
    data: &mut InstanceData,
    to: u32,
    dst: u64,
    from: u32,
    src: u64,
    len: u64,
) -> Outcome {
    let (source, target) = (data.memory(from), data.memory(to));
    // SAFETY: unless they are shared, the memories are exclusively the store's
    // while Wasm of it runs.
    unsafe { target.copy(dst, source, src, len) }.map_err(|_| TrapCode::MemoryOutOfBounds)
}

fn memory_fill(data: &mut InstanceData, index: u32, dst: u64, value: u8, len: u64) -> Outcome {
    let memory = data.memory(index);
    // SAFETY: unless it is shared, it is exclusively the store's while Wasm of
    // it runs.
    unsafe { memory.fill(dst, value, len) }.map_err(|_| TrapCode::MemoryOutOfBounds)
}

/// `memory.init`, and the application of an active segment.
pub(crate) fn memory_init(
    data: &mut InstanceData,
    index: u32,
    segment: u32,
    dst: u64,
    src: u64,
    len: u64,
) -> Outcome {
    let module = data.module.clone();
    let bytes: &[u8] = match data.dropped_data[segment as usize] {
        true => &[],
        false => module.data_bytes(segment),
    };
    let oob = TrapCode::MemoryOutOfBounds;
    let end = src
        .checked_add(len)
        .filter(|end| *end <= bytes.len() as u64)
        .ok_or(oob)?;
    let memory = data.memory(index);
    // SAFETY: unless it is shared, it is exclusively the store's while Wasm of
    // it runs.
    unsafe { memory.write(dst, &bytes[src as usize..end as usize]) }.map_err(|_| oob)
}

fn table_fill(data: &mut InstanceData, index: u32, dst: u64, value: u64, len: u64) -> Outcome {
    let table = data.table(index);
    let range = table.check(dst, len).ok_or(TrapCode::TableOutOfBounds)?;
    table.elements_mut()[range].fill(value);
    Ok(())
}

fn table_copy(
    data: &mut InstanceData,
    to: u32,
    dst: u64,
    from: u32,
    src: u64,
    len: u64,
) -> Outcome {
    let oob = TrapCode::TableOutOfBounds;
    let src = data.table(from).check(src, len).ok_or(oob)?;
    let source = data.table(from).vm.base;
    let target = data.table(to);
    let dst = target.check(dst, len).ok_or(oob)?;
    // SAFETY: both ranges are inside their tables; they may overlap.
    unsafe {
        std::ptr::copy(
            source.add(src.start),
            target.vm.base.add(dst.start),
            src.len(),
        )
    };
    Ok(())
}

/// `table.init`, and the application of an active segment.
pub(crate) fn table_init(
    data: &mut InstanceData,
    index: u32,
    segment: u32,
    dst: u64,
    src: u64,
    len: u64,
) -> Outcome {
    let oob = TrapCode::TableOutOfBounds;
    let items = std::mem::take(&mut data.elements[segment as usize]);
    let present: &[u64] = match data.dropped_elements[segment as usize] {
        true => &[],
        false => &items,
    };
    let copy = |data: &mut InstanceData| {
        let end = src
            .checked_add(len)
            .filter(|end| *end <= present.len() as u64)
            .ok_or(oob)?;
        let table = data.table(index);
        let range = table.check(dst, len).ok_or(oob)?;
        table.elements_mut()[range].copy_from_slice(&present[src as usize..end as usize]);
        Ok(())
    };
    let outcome = copy(data);
    data.elements[segment as usize] = items;
    outcome
}

/// `elem.drop`
pub(crate) fn elem_drop(data: &mut InstanceData, segment: u32) {
    data.dropped_elements[segment as usize] = true;
}

/// -1 as compiled code returns it for a growth that failed.
const FAILED: i64 = -1;
/// Less: a trap is pending.
const PENDING: i64 = -2;

/// Grows, and what that answers to compiled code. A panic of the limiter's must not unwind
/// through Wasm.
///
/// # Safety
/// The store is alive.
unsafe fn growth(
    store: *mut StoreOpaque,
    grow: impl FnOnce(&mut StoreOpaque) -> Result<Grown, Error>,
) -> i64 {
    // SAFETY: the caller's promise.
    let store = unsafe { &mut *store };
    let grown = match catch_unwind(AssertUnwindSafe(|| grow(store))) {
        Ok(grown) => grown,
        Err(panic) => {
            store.panic = Some(panic);
            return PENDING;
        }
    };
    let goes_on = not_interrupted(store).map_err(|code| trap_error(code, Vec::new()));
    match grown.and_then(|old| goes_on.map(|()| old)) {
        Ok(old) => old.map_or(FAILED, u64::cast_signed),
        Err(error) => {
            store.pending = Some(error);
            PENDING
        }
    }
}
