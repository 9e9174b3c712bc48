//! What the first call of a function runs that is compiled then: x86-64.
//!
//! Each module that is compiled lazily has a copy of this code in its own text, so that a stack
//! that is used up is found there as in any function. Its stub comes here with the callee's context
//! in rax, the function's index in r11, and with what any function is called with: arguments in the registers of the
//! System V convention, which Cranelift's `tail` uses too, and on the stack. They are all as
//! they were when the function is jumped to that the compiler has made; r10, r11 and rax hold
//! nothing at a function's beginning.
//!
//! What must stay true: it writes [`FRAME_BYTES`] below the saved frame pointer, and a gate 16
//! more below that, which it compares with the stack's limit first: the inequality is
//! `rsp - (FRAME_BYTES + 16) >= limit`. It begins as a function does that can begin again on a
//! segment (`stacks/segments.rs`).

#![allow(unsafe_code)]

use std::arch::naked_asm;

use crate::facts::libcall::FIRST_CALL;
use crate::facts::vmctx::offsets::RUNTIME_STACK_LIMIT;
use crate::facts::vmctx::{VMCTX_LIBCALLS, VMCTX_RUNTIME};
use crate::run::lazy::FirstCall;

/// Six integers and eight vectors: what arguments are in.
const FRAME_BYTES: usize = 6 * 8 + 8 * 16;

/// The code that is copied into a module.
pub(crate) fn first_call() -> FirstCall {
    // SAFETY: it returns the address of three numbers, followed by as many bytes of code as the
    // first says: all of it is in the text of this program.
    unsafe {
        let head = template();
        let [len, exhausted, failed] = head.read_unaligned();
        FirstCall {
            code: std::slice::from_raw_parts(head.add(1).cast(), len as usize),
            exhausted,
            failed,
        }
    }
}

/// The address of the code's length and of the offsets of its two traps; the code follows.
#[unsafe(naked)]
unsafe extern "C" fn template() -> *const [u32; 3] {
    naked_asm!(
        "lea rax, [rip + 2f]",
        "ret",
        "2:",
        ".long 9f - 3f",
        ".long 7f - 3f",
        ".long 8f - 3f",
        "3:",
        "push rbp",
        "mov rbp, rsp",
        "mov r10, [rax + {runtime}]",
        "mov r10, [r10 + {stack_limit}]",
        "add r10, {needed}",
        "cmp rsp, r10",
        "jb 7f",
        "sub rsp, {frame}",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "movups [rsp + 48], xmm0",
        "movups [rsp + 64], xmm1",
        "movups [rsp + 80], xmm2",
        "movups [rsp + 96], xmm3",
        "movups [rsp + 112], xmm4",
        "movups [rsp + 128], xmm5",
        "movups [rsp + 144], xmm6",
        "movups [rsp + 160], xmm7",
        "mov rdi, rax",
        "mov esi, r11d",
        "mov rax, [rdi + {libcalls}]",
        "call [rax + {compile}]",
        "test rax, rax",
        "jz 8f",
        "mov rdi, [rsp]",
        "mov rsi, [rsp + 8]",
        "mov rdx, [rsp + 16]",
        "mov rcx, [rsp + 24]",
        "mov r8, [rsp + 32]",
        "mov r9, [rsp + 40]",
        "movups xmm0, [rsp + 48]",
        "movups xmm1, [rsp + 64]",
        "movups xmm2, [rsp + 80]",
        "movups xmm3, [rsp + 96]",
        "movups xmm4, [rsp + 112]",
        "movups xmm5, [rsp + 128]",
        "movups xmm6, [rsp + 144]",
        "movups xmm7, [rsp + 160]",
        "mov rsp, rbp",
        "pop rbp",
        "jmp rax",
        "7:",
        "ud2",
        "8:",
        "ud2",
        "9:",
        runtime = const VMCTX_RUNTIME,
        stack_limit = const RUNTIME_STACK_LIMIT,
        needed = const FRAME_BYTES + 16,
        frame = const FRAME_BYTES,
        libcalls = const VMCTX_LIBCALLS,
        compile = const FIRST_CALL,
    )
}
