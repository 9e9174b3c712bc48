//! The runtime functions behind `memory.atomic.wait` and `notify`.
//!
//! An address is checked as compiled code does: its alignment first, then its
//! bounds; then a wait asks for a shared memory.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::facts::trap::TrapCode;
use crate::run::instance::InstanceData;
use crate::run::parking::{self, Waited};
use crate::run::runtime::{instance, status};

/// What is returned with a trap pending.
const TRAPPED: i64 = -1;

/// A timeout as compiled code gives it: in nanoseconds, none where negative.
fn duration(timeout_ns: i64) -> Option<Duration> {
    u64::try_from(timeout_ns).ok().map(Duration::from_nanos)
}

/// What `memory.atomic.wait` returns.
fn code(waited: Waited) -> Result<u32, TrapCode> {
    match waited {
        Waited::Woken => Ok(0),
        Waited::NotEqual => Ok(1),
        Waited::TimedOut => Ok(2),
        Waited::Interrupted => Err(TrapCode::Interrupted),
    }
}

fn wait(
    data: &mut InstanceData,
    memory: u32,
    index: u64,
    offset: u64,
    bytes: u64,
    is_expected: impl FnOnce(*mut u8) -> bool,
    timeout_ns: i64,
) -> Result<u32, TrapCode> {
    let memory = data.memory(memory);
    let address = memory.aligned(index, offset, bytes)?;
    if !memory.ty.shared {
        return Err(TrapCode::ExpectedSharedMemory);
    }
    // SAFETY: an instance's store is alive while its Wasm runs.
    let interrupt = unsafe { (*data.store).interrupt.clone() };
    code(parking::wait(
        address.addr(),
        || is_expected(address),
        duration(timeout_ns),
        interrupt.as_ref(),
    ))
}

fn notify(
    data: &mut InstanceData,
    memory: u32,
    index: u64,
    offset: u64,
    count: u32,
) -> Result<u32, TrapCode> {
    let memory = data.memory(memory);
    let address = memory.aligned(index, offset, 4)?;
    // Nobody can wait on a memory that is not shared.
    Ok(match memory.ty.shared {
        true => parking::notify(address.addr(), count),
        false => 0,
    })
}

/// For compiled code: the number, or a negative one with the trap pending.
fn answer(data: &mut InstanceData, outcome: Result<u32, TrapCode>) -> i64 {
    match outcome {
        Ok(number) => i64::from(number),
        Err(trap) => {
            status(data, Err(trap));
            TRAPPED
        }
    }
}

pub(crate) unsafe extern "C" fn atomic_wait32(
    vmctx: *mut u8,
    memory: u32,
    index: u64,
    offset: u64,
    expected: u32,
    timeout_ns: i64,
) -> i64 {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    // SAFETY: in bounds and aligned, and memories never shrink.
    let holds = |at: *mut u8| unsafe { AtomicU32::from_ptr(at.cast()) }.load(Ordering::SeqCst);
    let is_expected = |at| u32::from_le(holds(at)) == expected;
    let outcome = wait(data, memory, index, offset, 4, is_expected, timeout_ns);
    answer(data, outcome)
}

pub(crate) unsafe extern "C" fn atomic_wait64(
    vmctx: *mut u8,
    memory: u32,
    index: u64,
    offset: u64,
    expected: u64,
    timeout_ns: i64,
) -> i64 {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    // SAFETY: in bounds and aligned, and memories never shrink.
    let holds = |at: *mut u8| unsafe { AtomicU64::from_ptr(at.cast()) }.load(Ordering::SeqCst);
    let is_expected = |at| u64::from_le(holds(at)) == expected;
    let outcome = wait(data, memory, index, offset, 8, is_expected, timeout_ns);
    answer(data, outcome)
}

pub(crate) unsafe extern "C" fn atomic_notify(
    vmctx: *mut u8,
    memory: u32,
    index: u64,
    offset: u64,
    count: u32,
) -> i64 {
    // SAFETY: called by compiled code with its own context.
    let data = unsafe { instance(vmctx) };
    let outcome = notify(data, memory, index, offset, count);
    answer(data, outcome)
}
