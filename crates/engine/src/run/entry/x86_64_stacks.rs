//! The gates between the stacks of continuations and the host: x86-64, System V calling
//! convention. Where the thread's own stack runs they only go on.
//!
//! ```text
//!  continuation's stack           thread's own stack
//!   frames of Wasm                 frames of Wasm, up to the `resume` that left it
//!   return address, rbp ────────►  libcall, host function
//! ```
//!
//! What must stay true: a gate writes no more than 16 bytes below where it is called,
//! which prologues account for.

#![allow(unsafe_code)]

use std::arch::naked_asm;
use std::mem::offset_of;

use crate::facts::libcall::{Libcalls, runtime_functions};
use crate::facts::vmcont::VmSegmentEnd;
use crate::facts::vmcont::offsets::{CONT_LIMIT, CURRENT, FREE_SEGMENTS, LIMIT_MIN, ROOT, ROOT_SP};
use crate::facts::vmctx::offsets::RUNTIME_STACK_LIMIT;
use crate::facts::vmctx::{VMCTX_RUNTIME, VmHostFunc};
use crate::run::entry::throw;
use crate::run::runtime::TABLE as DIRECT;
use crate::run::stacks::SEGMENT_BYTES;

/// Calls the function at this offset of the table of libcalls.
///
/// # Safety
/// As that function; its first argument is a context.
#[unsafe(naked)]
unsafe extern "C" fn libcall<const OFFSET: usize>() {
    naked_asm!(
        "mov r11, [rdi + {runtime}]",
        "lea r10, [rip + {table}]",
        "mov r10, [r10 + {offset}]",
        "jmp {pass}",
        runtime = const VMCTX_RUNTIME,
        table = sym DIRECT,
        offset = const OFFSET,
        pass = sym pass,
    )
}

/// Calls what a host function does, which has its runtime where a context has it.
///
/// # Safety
/// As [`VmHostFunc::direct`].
#[unsafe(naked)]
pub(super) unsafe extern "C" fn shim(_: *const VmHostFunc, _: *mut u8, _: *mut u128) -> u32 {
    naked_asm!(
        "mov r11, [rdi + {runtime}]",
        "mov r10, [rdi + {direct}]",
        "jmp {pass}",
        runtime = const VMCTX_RUNTIME,
        direct = const offset_of!(VmHostFunc, direct),
        pass = sym pass,
    )
}

/// Calls the function at r10 on the thread's own stack, with the arguments in
/// registers. r11 is the runtime.
///
/// # Safety
/// Only jumped to by the gates above.
#[unsafe(naked)]
unsafe extern "C" fn pass() {
    naked_asm!(
        "lea rax, [r11 + {root}]",
        "cmp rax, [r11 + {current}]",
        "je 2f",
        "push rbp",
        "mov rbp, rsp",
        "mov rsp, [r11 + {root_sp}]",
        "call r10",
        "mov rsp, rbp",
        "pop rbp",
        "ret",
        "2:",
        "jmp r10",
        root = const ROOT,
        current = const CURRENT,
        root_sp = const ROOT_SP,
    )
}

/// Where a frame returns to that began on a segment: its stack goes on where it was used
/// up, at the frame's caller. Nothing but r11 may be changed, for results are in registers,
/// and others are preserved.
///
/// # Safety
/// Only returned to, with the stack pointer at the end of what the frame was given.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn back() {
    naked_asm!(
        "push rax",
        "push rcx",
        "push rdx",
        "mov r11, rsp",
        "or r11, {mask}",
        "sub r11, {end} - 1",
        "mov rax, [r11 + {runtime}]",
        // The limit is what it was before.
        "mov rdx, [rax + {current}]",
        "mov rcx, [r11 + {limit_before}]",
        "mov [rdx + {cont_limit}], rcx",
        "cmp rcx, [rax + {limit_min}]",
        "cmovb rcx, [rax + {limit_min}]",
        "mov [rax + {limit}], rcx",
        // The segment is free; nothing interrupts what still runs on it.
        "mov rcx, [rax + {free}]",
        "mov [r11 + {next}], rcx",
        "mov [rax + {free}], r11",
        // The return address again, below where the stack pointer will be.
        "mov rcx, [r11 + {returns_to}]",
        "mov r11, [r11 + {distance}]",
        "lea r11, [rsp + r11 + 16]",
        "mov [r11], rcx",
        "pop rdx",
        "pop rcx",
        "pop rax",
        "mov rsp, r11",
        "ret",
        mask = const SEGMENT_BYTES - 1,
        end = const size_of::<VmSegmentEnd>(),
        runtime = const offset_of!(VmSegmentEnd, runtime),
        limit_before = const offset_of!(VmSegmentEnd, limit_before),
        next = const offset_of!(VmSegmentEnd, next),
        returns_to = const offset_of!(VmSegmentEnd, returns_to),
        distance = const offset_of!(VmSegmentEnd, distance),
        current = const CURRENT,
        cont_limit = const CONT_LIMIT,
        limit_min = const LIMIT_MIN,
        limit = const RUNTIME_STACK_LIMIT,
        free = const FREE_SEGMENTS,
    )
}

macro_rules! table {
    ($(
        $(#[$doc:meta])*
        $Variant:ident = $name:ident($($param:ident: $ty:ident),*) $(-> $result:ident)?;
    )*) => {
        /// The table for contexts whose code may run on any stack.
        #[expect(
            clippy::missing_transmute_annotations,
            reason = "each field has the type that its function has"
        )]
        pub(super) static TABLE: Libcalls = Libcalls {
            $($name: gate!($name),)*
        };
    };
}

/// The one that does not return sees to the stack itself.
macro_rules! gate {
    (throw) => {
        throw
    };
    ($name:ident) => {
        // SAFETY: a gate takes and returns what its function does, in the same
        // registers.
        unsafe {
            std::mem::transmute::<*const (), _>(
                libcall::<{ offset_of!(Libcalls, $name) }> as *const (),
            )
        }
    };
}

runtime_functions!(table);
