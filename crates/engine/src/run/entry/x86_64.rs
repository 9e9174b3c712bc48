//! The catch point on x86-64, System V calling convention.

#![allow(unsafe_code)]

use std::arch::naked_asm;
use std::mem::offset_of;

use super::Activation;
use super::throw::{Resume, find_handler};
use crate::facts::vmcont::offsets::{CURRENT, ROOT, ROOT_SP};
use crate::facts::vmctx::VMCTX_RUNTIME;

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
        "mov [r9 + {catch_sp}], rsp",
        "call r8",
        "xor eax, eax",
        "jmp {leave}",
        catch_sp = const offset_of!(Activation, catch_sp),
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
pub(super) unsafe extern "C" fn leave() {
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
/// Called by compiled code as [`crate::facts::libcall::Libcall::Throw`].
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn throw(_vmctx: *mut u8, _exception: u64) {
    naked_asm!(
        "mov r11, [rdi + {runtime}]",
        "mov rdi, rsi",
        "mov rsi, [rsp]",
        "mov rdx, rbp",
        // The search is on the thread's own stack.
        "lea rax, [r11 + {root}]",
        "cmp rax, [r11 + {current}]",
        "cmovne rsp, [r11 + {root_sp}]",
        "sub rsp, {resume}",
        "and rsp, -16",
        "mov rcx, rsp",
        "call {find}",
        "mov rcx, [rsp + {pc}]",
        "mov rbp, [rsp + {fp}]",
        "mov rax, [rsp + {exception}]",
        "mov rdi, [rsp + {word}]",
        "mov rsp, [rsp + {sp}]",
        "jmp rcx",
        runtime = const VMCTX_RUNTIME,
        root = const ROOT,
        current = const CURRENT,
        root_sp = const ROOT_SP,
        word = const offset_of!(Resume, word),
        pc = const offset_of!(Resume, pc),
        sp = const offset_of!(Resume, sp),
        fp = const offset_of!(Resume, fp),
        exception = const offset_of!(Resume, exception),
        resume = const size_of::<Resume>(),
        find = sym find_handler,
    )
}

/// How many registers a callee preserves, beside the frame's.
pub(super) const PRESERVED: usize = 5;

/// Write those registers as the caller has them: what the code of its callers
/// keeps there, or what it has put on the stack itself.
///
/// # Safety
/// `at` has room for [`PRESERVED`] words.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn preserved_registers(at: *mut usize) {
    naked_asm!(
        "mov [rdi + 0], rbx",
        "mov [rdi + 8], r12",
        "mov [rdi + 16], r13",
        "mov [rdi + 24], r14",
        "mov [rdi + 32], r15",
        "ret",
    )
}
