//! The catch point on x86-64, System V calling convention.

#![allow(unsafe_code)]

use std::arch::naked_asm;

use super::Activation;
use super::throw::find_handler;

/// Save the callee-saved registers, note the stack pointer in the activation
/// and call the entry trampoline. Returns 0 when it returns, 1 when a fault
/// resumed at [`catch_address`].
///
/// # Safety
/// As [`super::enter`]; the handler that resumes at the catch point restores
/// nothing but `rsp`.
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
        "push rbp",
        "mov rbp, rsp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "mov [r9], rsp",
        "call r8",
        "xor eax, eax",
        "jmp {leave}",
        leave = sym leave,
    )
}

/// Continues with the stack pointer of a catch point.
///
/// # Safety
/// Only jumped to, with `rsp` as [`enter`] noted it.
#[unsafe(naked)]
unsafe extern "C" fn catch() {
    naked_asm!("mov eax, 1", "jmp {leave}", leave = sym leave)
}

/// Restores what [`enter`] saved.
///
/// # Safety
/// As [`catch`].
#[unsafe(naked)]
unsafe extern "C" fn leave() {
    naked_asm!(
        "cld",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
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
/// Called by compiled code as [`crate::libcall::Libcall::Throw`].
#[unsafe(naked)]
pub(super) unsafe extern "C" fn throw(_vmctx: *mut u8, _exception: usize) {
    naked_asm!(
        "mov rdi, rsi",
        "mov rsi, [rsp]",
        "mov rdx, rbp",
        "sub rsp, 40",
        "mov rcx, rsp",
        "call {find}",
        "mov rcx, [rsp]",
        "mov rbp, [rsp + 16]",
        "mov rax, [rsp + 24]",
        "mov rsp, [rsp + 8]",
        "jmp rcx",
        find = sym find_handler,
    )
}

/// The registers that a callee preserves, as they are on entry: what the code
/// of the callers keeps in them.
pub(super) fn preserved_registers() -> [usize; 5] {
    let mut registers = [0; 5];
    // SAFETY: only reads registers.
    unsafe {
        std::arch::asm!(
            "mov [{at} + 0], rbx",
            "mov [{at} + 8], r12",
            "mov [{at} + 16], r13",
            "mov [{at} + 24], r14",
            "mov [{at} + 32], r15",
            at = in(reg) registers.as_mut_ptr(),
            options(nostack, preserves_flags),
        );
    }
    registers
}
