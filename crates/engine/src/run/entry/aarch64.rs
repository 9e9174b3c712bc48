//! The catch point on aarch64, procedure call standard AAPCS64.

#![allow(unsafe_code)]

use std::arch::naked_asm;
use std::mem::offset_of;

use super::Activation;
use super::throw::{Resume, find_handler};

/// Save the callee-saved registers (x19 to x30 and the low halves of v8 to
/// v15), note the stack pointer in the activation and call the entry
/// trampoline. Returns 0 when it returns, 1 when a fault resumed at
/// [`catch_address`].
///
/// # Safety
/// As [`super::enter`]; the handler that resumes at the catch point restores
/// nothing but `sp`.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn enter(
    callee_vmctx: *mut u8,
    caller_vmctx: *mut u8,
    code: *const u8,
    values: *mut u128,
    entry: *const u8,
    activation: *mut Activation,
) -> u32 {
    naked_asm!(
        "stp x29, x30, [sp, #-160]!",
        "mov x29, sp",
        "stp x19, x20, [sp, #16]",
        "stp x21, x22, [sp, #32]",
        "stp x23, x24, [sp, #48]",
        "stp x25, x26, [sp, #64]",
        "stp x27, x28, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "str x29, [x5, #{catch_sp}]",
        "blr x4",
        "mov w0, #0",
        "b {leave}",
        catch_sp = const offset_of!(Activation, catch_sp),
        leave = sym leave,
    )
}

/// Continues with the stack pointer of a catch point.
///
/// # Safety
/// Only jumped to, with `sp` as [`enter`] noted it.
#[unsafe(naked)]
unsafe extern "C" fn catch() {
    naked_asm!("mov w0, #1", "b {leave}", leave = sym leave)
}

/// Restores what [`enter`] saved.
///
/// # Safety
/// As [`catch`].
#[unsafe(naked)]
unsafe extern "C" fn leave() {
    naked_asm!(
        "ldp d14, d15, [sp, #144]",
        "ldp d12, d13, [sp, #128]",
        "ldp d10, d11, [sp, #112]",
        "ldp d8, d9, [sp, #96]",
        "ldp x27, x28, [sp, #80]",
        "ldp x25, x26, [sp, #64]",
        "ldp x23, x24, [sp, #48]",
        "ldp x21, x22, [sp, #32]",
        "ldp x19, x20, [sp, #16]",
        "ldp x29, x30, [sp], #160",
        "ret",
    )
}

/// Where the fault handler resumes.
pub(super) fn catch_address() -> usize {
    catch as *const () as usize
}

/// Raise an exception: never returns to its caller, but goes on in the handler
/// with the exception in the registers that Cranelift expects it in.
///
/// # Safety
/// Called by compiled code as [`crate::facts::libcall::Libcall::Throw`].
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn throw(_vmctx: *mut u8, _exception: u64) {
    naked_asm!(
        "sub sp, sp, #{resume}",
        "mov x0, x1",
        "mov x1, x30",
        "mov x2, x29",
        "mov x3, sp",
        "bl {find}",
        "ldr x9, [sp, #{pc}]",
        "ldr x10, [sp, #{sp}]",
        "ldr x29, [sp, #{fp}]",
        "ldr x0, [sp, #{exception}]",
        "mov sp, x10",
        "br x9",
        pc = const offset_of!(Resume, pc),
        sp = const offset_of!(Resume, sp),
        fp = const offset_of!(Resume, fp),
        exception = const offset_of!(Resume, exception),
        resume = const size_of::<Resume>(),
        find = sym find_handler,
    )
}

/// How many registers a callee preserves, beside the frame's.
pub(super) const PRESERVED: usize = 10;

/// Write those registers as the caller has them: what the code of its callers
/// keeps there, or what it has put on the stack itself.
///
/// # Safety
/// `at` has room for [`PRESERVED`] words.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn preserved_registers(at: *mut usize) {
    naked_asm!(
        "str x19, [x0, #0]",
        "str x20, [x0, #8]",
        "str x21, [x0, #16]",
        "str x22, [x0, #24]",
        "str x23, [x0, #32]",
        "str x24, [x0, #40]",
        "str x25, [x0, #48]",
        "str x26, [x0, #56]",
        "str x27, [x0, #64]",
        "str x28, [x0, #72]",
        "ret",
    )
}
