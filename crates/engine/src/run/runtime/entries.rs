//! The functions that compiled code calls, and the table of them.
//!
//! What must stay true: each has the name of its row in the list, and is found by it. So
//! none is in another's place, and none has another signature than its calls.

#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::facts::error::Result;
use crate::facts::libcall::{Libcalls, Status, runtime_functions};
use crate::facts::object::Cell;
use crate::facts::trap::AccessReport;
use crate::facts::types::TypeId;
use crate::run::entry::{exception_is_made, throw};
use crate::run::heap::{self, Collecting};
use crate::run::instance::InstanceData;
use crate::run::runtime::objects::{self, Segment};
use crate::run::runtime::{self, growth, instance, status};
use crate::run::stacks::{cont_drop, cont_find, cont_new, cont_renew, cont_stack};
use crate::run::store::access_error;
use crate::run::wait::{atomic_notify, atomic_wait32, atomic_wait64};

macro_rules! table {
    ($(
        $(#[$doc:meta])*
        $Variant:ident = $name:ident($($param:ident: $ty:ident),*) $(-> $result:ident)?;
    )*) => {
        /// The table that contexts point to.
        pub(crate) static TABLE: Libcalls = Libcalls { $($name,)* };
    };
}
runtime_functions!(table);

unsafe extern "C" fn check_access(
    vmctx: *mut u8,
    memory: u32,
    index: u64,
    offset: u64,
    width: u32,
) -> Status {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let checked = data.memory(memory);
    let start = index.checked_add(offset);
    if start.is_some_and(|start| checked.check(start, u64::from(width)).is_ok()) {
        return 0;
    }
    let access = AccessReport {
        memory,
        index,
        offset,
        width,
        memory_bytes: checked.len() as u64,
    };
    // SAFETY: an instance's store is alive while the instance is.
    unsafe { (*data.store).pending = Some(access_error(access)) };
    1
}

unsafe extern "C" fn memory_grow(vmctx: *mut u8, memory: u32, delta: u64) -> i64 {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let store = data.store;
    // SAFETY: an instance's store is alive while the instance is; nothing else of it
    // is borrowed while Wasm of it runs.
    unsafe { growth(store, |store| store.grow_memory(data.memory(memory), delta)) }
}

unsafe extern "C" fn memory_copy(
    vmctx: *mut u8,
    to: u32,
    dst: u64,
    from: u32,
    src: u64,
    len: u64,
) -> Status {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let outcome = runtime::memory_copy(data, to, dst, from, src, len);
    status(data, outcome)
}

unsafe extern "C" fn memory_fill(
    vmctx: *mut u8,
    memory: u32,
    dst: u64,
    value: u32,
    len: u64,
) -> Status {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let outcome = runtime::memory_fill(data, memory, dst, value as u8, len);
    status(data, outcome)
}

unsafe extern "C" fn move_bytes(_vmctx: *mut u8, to: u64, from: u64, len: u64) {
    // SAFETY: compiled code has found both ranges inside their memories, which are not
    // shared; they may overlap.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, len as usize) };
}

unsafe extern "C" fn fill_bytes(_vmctx: *mut u8, to: u64, value: u32, len: u64) {
    // SAFETY: compiled code has found the range inside its memory, which is not shared.
    unsafe { std::ptr::write_bytes(to as *mut u8, value as u8, len as usize) };
}

unsafe extern "C" fn memory_init(
    vmctx: *mut u8,
    memory: u32,
    segment: u32,
    dst: u64,
    src: u64,
    len: u64,
) -> Status {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let outcome = runtime::memory_init(data, memory, segment, dst, src, len);
    status(data, outcome)
}

unsafe extern "C" fn data_drop(vmctx: *mut u8, segment: u32) {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    data.dropped_data[segment as usize] = true;
}

unsafe extern "C" fn table_grow(vmctx: *mut u8, table: u32, init: u64, delta: u64) -> i64 {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let store = data.store;
    // SAFETY: as for memories.
    unsafe {
        growth(store, |store| {
            store.grow_table(data.table(table), delta, init)
        })
    }
}

unsafe extern "C" fn table_fill(
    vmctx: *mut u8,
    table: u32,
    dst: u64,
    value: u64,
    len: u64,
) -> Status {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let outcome = runtime::table_fill(data, table, dst, value, len);
    status(data, outcome)
}

unsafe extern "C" fn table_copy(
    vmctx: *mut u8,
    to: u32,
    dst: u64,
    from: u32,
    src: u64,
    len: u64,
) -> Status {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let outcome = runtime::table_copy(data, to, dst, from, src, len);
    status(data, outcome)
}

unsafe extern "C" fn table_init(
    vmctx: *mut u8,
    table: u32,
    segment: u32,
    dst: u64,
    src: u64,
    len: u64,
) -> Status {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let outcome = runtime::table_init(data, table, segment, dst, src, len);
    status(data, outcome)
}

unsafe extern "C" fn elem_drop(vmctx: *mut u8, segment: u32) {
    // SAFETY: called by compiled code with its own context.
    runtime::elem_drop(unsafe { instance(vmctx) }, segment);
}

unsafe extern "C" fn first_call(vmctx: *mut u8, func: u32) -> u64 {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    // SAFETY: an instance's store is alive while the instance is.
    let store = unsafe { &mut *data.store };
    match catch_unwind(AssertUnwindSafe(|| data.module.first_call(func))) {
        Ok(Ok(address)) => return address as u64,
        Ok(Err(error)) => store.pending = Some(error),
        Err(panic) => store.panic = Some(panic),
    }
    0
}

unsafe extern "C" fn tier_up(vmctx: *mut u8, func: u32, place: u32) -> u64 {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let code = catch_unwind(AssertUnwindSafe(|| data.module.tier_up(func, place)));
    // What runs can go on as before.
    code.map_or(0, |address| address as u64)
}

unsafe extern "C" fn exception_new(vmctx: *mut u8, tag: u32) -> u64 {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let tag = data.tags[tag as usize];
    exception_is_made();
    // SAFETY: an instance's store is alive while the instance is.
    let store = unsafe { &mut *data.store };
    match store.new_exception(tag) {
        Ok(exception) => exception.as_ptr() as u64,
        Err(error) => {
            store.pending = Some(error);
            0
        }
    }
}

/// A reference, or 0 with an error left for compiled code to raise.
fn reference(data: &mut InstanceData, made: Result<u32>) -> u64 {
    match made {
        Ok(object) if status(data, Ok(())) == 0 => u64::from(object),
        // What interrupts is left there.
        Ok(_) => 0,
        Err(error) => {
            // SAFETY: an instance's store is alive while the instance is.
            unsafe { (*data.store).pending = Some(error) };
            0
        }
    }
}

unsafe extern "C" fn object_new(vmctx: *mut u8, ty: u32, len: u32) -> u64 {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let made = objects::object_of(data, ty, len, Collecting::Allowed);
    reference(data, made)
}

unsafe extern "C" fn array_new_data(
    vmctx: *mut u8,
    ty: u32,
    segment: u32,
    src: u32,
    len: u32,
) -> u64 {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let made = objects::array_of(data, ty, Segment::Data(segment), src, len);
    reference(data, made)
}

unsafe extern "C" fn array_new_elem(
    vmctx: *mut u8,
    ty: u32,
    segment: u32,
    src: u32,
    len: u32,
) -> u64 {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let made = objects::array_of(data, ty, Segment::Elements(segment), src, len);
    reference(data, made)
}

unsafe extern "C" fn array_init_data(
    vmctx: *mut u8,
    segment: u32,
    array: u64,
    dst: u32,
    src: u32,
    len: u32,
) -> Status {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let outcome = objects::array_init(data, array as u32, dst, Segment::Data(segment), src, len);
    status(data, outcome)
}

unsafe extern "C" fn array_init_elem(
    vmctx: *mut u8,
    segment: u32,
    array: u64,
    dst: u32,
    src: u32,
    len: u32,
) -> Status {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let segment = Segment::Elements(segment);
    let outcome = objects::array_init(data, array as u32, dst, segment, src, len);
    status(data, outcome)
}

unsafe extern "C" fn elements_overwritten(vmctx: *mut u8, array: u64, from: u32, len: u64) {
    // SAFETY: called by compiled code with its own context, whose store is alive; nothing of
    // it is borrowed while Wasm of it runs.
    unsafe { (*instance(vmctx).store).elements_overwritten(array as u32, from, len as u32) };
}

unsafe extern "C" fn fill_cells(
    vmctx: *mut u8,
    to: u64,
    value: u64,
    shift: u32,
    len: u64,
) -> Status {
    // SAFETY: called by compiled code with its own context.
    unsafe { fill(vmctx, to, shift, value.into(), len) }
}

unsafe extern "C" fn fill_vectors(
    vmctx: *mut u8,
    to: u64,
    low: u64,
    high: u64,
    len: u64,
) -> Status {
    let value = u128::from(high) << 64 | u128::from(low);
    // SAFETY: called by compiled code with its own context.
    unsafe { fill(vmctx, to, Cell::V128.shift(), value, len) }
}

unsafe fn fill(vmctx: *mut u8, to: u64, shift: u32, value: u128, len: u64) -> Status {
    // SAFETY: compiled code has found the elements inside their array, where they are aligned,
    // and waits.
    unsafe { heap::fill(to as *mut u8, shift, len as usize, value) };
    // SAFETY: called by compiled code with its own context.
    status(unsafe { instance(vmctx) }, Ok(()))
}

unsafe extern "C" fn copy_cells(vmctx: *mut u8, to: u64, from: u64, bytes: u64) -> Status {
    // SAFETY: compiled code has found the elements inside their arrays; they may overlap.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes as usize) };
    // SAFETY: called by compiled code with its own context.
    status(unsafe { instance(vmctx) }, Ok(()))
}

unsafe extern "C" fn any_of_host(vmctx: *mut u8, value: u64) -> u64 {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    // SAFETY: an instance's store is alive while the instance is.
    u64::from(unsafe { &mut *data.store }.any_of_host(value))
}

unsafe extern "C" fn host_of_any(vmctx: *mut u8, reference: u64) -> u64 {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    // SAFETY: an instance's store is alive while the instance is.
    unsafe { &*data.store }.hosts.raw(reference as u32)
}

unsafe extern "C" fn is_subtype(_vmctx: *mut u8, found: u32, wanted: u32) -> u32 {
    let [found, wanted] = [found, wanted].map(TypeId::from_number);
    u32::from(found.is_subtype_of(wanted))
}
