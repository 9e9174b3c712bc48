//! The catch point on riscv64, ELF psABI with doubles in registers (LP64D).
//!
//! The frame is laid out as Cranelift's are, which differ from the psABI's: the
//! caller's frame pointer at the frame pointer, the return address above it.
//!
//! The assembler does not know here that the target has doubles, so the code
//! that saves them says so.

#![allow(unsafe_code)]

use std::arch::naked_asm;
use std::mem::offset_of;

use super::Activation;
use super::throw::{Resume, find_handler};

/// Save the callee-saved registers (ra, s0 to s11, fs0 to fs11), note the stack
/// pointer in the activation and call the entry trampoline. Returns 0 when it
/// returns, 1 when a fault resumed at [`catch_address`].
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
        ".option push",
        ".option arch, +d",
        "addi sp, sp, -208",
        "sd s0, 0(sp)",
        "sd ra, 8(sp)",
        "sd s1, 16(sp)",
        "sd s2, 24(sp)",
        "sd s3, 32(sp)",
        "sd s4, 40(sp)",
        "sd s5, 48(sp)",
        "sd s6, 56(sp)",
        "sd s7, 64(sp)",
        "sd s8, 72(sp)",
        "sd s9, 80(sp)",
        "sd s10, 88(sp)",
        "sd s11, 96(sp)",
        "fsd fs0, 104(sp)",
        "fsd fs1, 112(sp)",
        "fsd fs2, 120(sp)",
        "fsd fs3, 128(sp)",
        "fsd fs4, 136(sp)",
        "fsd fs5, 144(sp)",
        "fsd fs6, 152(sp)",
        "fsd fs7, 160(sp)",
        "fsd fs8, 168(sp)",
        "fsd fs9, 176(sp)",
        "fsd fs10, 184(sp)",
        "fsd fs11, 192(sp)",
        "mv s0, sp",
        "sd sp, {catch_sp}(a5)",
        "jalr a4",
        "li a0, 0",
        "tail {leave}",
        ".option pop",
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
    naked_asm!("li a0, 1", "tail {leave}", leave = sym leave)
}

/// Restores what [`enter`] saved.
///
/// # Safety
/// As [`catch`].
#[unsafe(naked)]
unsafe extern "C" fn leave() {
    naked_asm!(
        ".option push",
        ".option arch, +d",
        "fld fs11, 192(sp)",
        "fld fs10, 184(sp)",
        "fld fs9, 176(sp)",
        "fld fs8, 168(sp)",
        "fld fs7, 160(sp)",
        "fld fs6, 152(sp)",
        "fld fs5, 144(sp)",
        "fld fs4, 136(sp)",
        "fld fs3, 128(sp)",
        "fld fs2, 120(sp)",
        "fld fs1, 112(sp)",
        "fld fs0, 104(sp)",
        "ld s11, 96(sp)",
        "ld s10, 88(sp)",
        "ld s9, 80(sp)",
        "ld s8, 72(sp)",
        "ld s7, 64(sp)",
        "ld s6, 56(sp)",
        "ld s5, 48(sp)",
        "ld s4, 40(sp)",
        "ld s3, 32(sp)",
        "ld s2, 24(sp)",
        "ld s1, 16(sp)",
        "ld ra, 8(sp)",
        "ld s0, 0(sp)",
        "addi sp, sp, 208",
        "ret",
        ".option pop",
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
        "addi sp, sp, -{resume}",
        "mv a0, a1",
        "mv a1, ra",
        "mv a2, s0",
        "mv a3, sp",
        "call {find}",
        "ld t0, {pc}(sp)",
        "ld s0, {fp}(sp)",
        "ld a0, {exception}(sp)",
        "ld sp, {sp}(sp)",
        "jr t0",
        pc = const offset_of!(Resume, pc),
        sp = const offset_of!(Resume, sp),
        fp = const offset_of!(Resume, fp),
        exception = const offset_of!(Resume, exception),
        resume = const size_of::<Resume>(),
        find = sym find_handler,
    )
}

/// How many registers a callee preserves, beside the frame's.
pub(super) const PRESERVED: usize = 11;

/// Write those registers as the caller has them: what the code of its callers
/// keeps there, or what it has put on the stack itself.
///
/// # Safety
/// `at` has room for [`PRESERVED`] words.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn preserved_registers(at: *mut usize) {
    naked_asm!(
        "sd s1, 0(a0)",
        "sd s2, 8(a0)",
        "sd s3, 16(a0)",
        "sd s4, 24(a0)",
        "sd s5, 32(a0)",
        "sd s6, 40(a0)",
        "sd s7, 48(a0)",
        "sd s8, 56(a0)",
        "sd s9, 64(a0)",
        "sd s10, 72(a0)",
        "sd s11, 80(a0)",
        "ret",
    )
}
