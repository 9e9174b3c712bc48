//! Instruction sets without protection keys: no engine locks its Wasm here
//! (`fathom_sys::pkeys::keys` says so), and nothing of this is reached.

#![allow(unsafe_code)]

use super::{Activation, arch};
use crate::facts::libcall::Libcall;
use crate::facts::vmctx::VmHostFunc;

/// As [`super::arch::enter`].
///
/// # Safety
/// As there.
pub(super) unsafe fn enter(
    callee_vmctx: *mut u8,
    caller_vmctx: *mut u8,
    code: *const u8,
    values: *mut u128,
    entry: *const u8,
    activation: *mut Activation,
) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { arch::enter(callee_vmctx, caller_vmctx, code, values, entry, activation) }
}

/// As [`super::arch::catch_address`].
pub(super) fn catch_address() -> usize {
    arch::catch_address()
}

/// As [`VmHostFunc::direct`].
///
/// # Safety
/// As there.
pub(super) unsafe extern "C" fn shim(
    host: *const VmHostFunc,
    ctx: *mut u8,
    slots: *mut u128,
) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { ((*host).direct)(host, ctx, slots) }
}

/// No gate.
pub(super) fn address(_: Libcall) -> *const () {
    std::ptr::null()
}
