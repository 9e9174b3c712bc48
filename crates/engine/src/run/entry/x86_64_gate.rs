//! The gates between locked Wasm and its host: x86-64, System V calling
//! convention. PKRU is written by `wrpkru` from eax, with ecx and edx zero.

#![allow(unsafe_code)]

use std::arch::naked_asm;
use std::mem::offset_of;

use super::Activation;
use super::arch::leave;
use super::throw::{Resume, find_handler};
use crate::facts::libcall::{Libcall, Libcalls, runtime_functions};
use crate::facts::vmctx::offsets::{HOST_SP, LOCKED, OPENED, WASM_SP, WRITES};
use crate::facts::vmctx::{VMCTX_RUNTIME, VmHostFunc};
use crate::run::runtime::TABLE;

/// As [`super::arch::enter`], but locked and on the stack of Wasm. The activation
/// has the stack pointer and the runtime with the values of PKRU.
///
/// # Safety
/// As there; `values` is on the stack of Wasm.
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
        // What is needed afterwards, in registers that callees preserve.
        "mov rbx, [r9 + {runtime}]",
        "mov r12, rsp",
        "mov [rbx + {host_sp}], rsp",
        "mov r10, rdx",
        "mov r11, rcx",
        "mov rsp, [r9 + {start_sp}]",
        // The chain of frames ends here.
        "xor ebp, ebp",
        "mov eax, [rbx + {locked}]",
        "xor ecx, ecx",
        "xor edx, edx",
        "wrpkru",
        "mov rdx, r10",
        "mov rcx, r11",
        "call r8",
        "mov eax, [rbx + {opened}]",
        "xor ecx, ecx",
        "xor edx, edx",
        "wrpkru",
        "mov rsp, r12",
        "xor eax, eax",
        "jmp {leave}",
        catch_sp = const offset_of!(Activation, catch_sp),
        start_sp = const offset_of!(Activation, start_sp),
        runtime = const offset_of!(Activation, runtime),
        host_sp = const HOST_SP,
        locked = const LOCKED,
        opened = const OPENED,
        leave = sym leave,
    )
}

/// Continues with the stack pointer of a catch point, which is locked: opens
/// everything, for where PKRU's value is kept is locked too.
///
/// # Safety
/// As [`super::arch::catch_address`].
#[unsafe(naked)]
unsafe extern "C" fn catch() {
    naked_asm!(
        "xor eax, eax",
        "xor ecx, ecx",
        "xor edx, edx",
        "wrpkru",
        "mov eax, 1",
        "jmp {leave}",
        leave = sym leave,
    )
}

/// Where the fault handler resumes.
pub(super) fn catch_address() -> usize {
    catch as *const () as usize
}

/// Calls the function at this offset of the table of libcalls for locked Wasm, whose
/// context is the first argument.
///
/// # Safety
/// As that function.
#[unsafe(naked)]
unsafe extern "C" fn libcall<const OFFSET: usize>() {
    naked_asm!(
        "mov r11, [rdi + {runtime}]",
        "lea r10, [rip + {table}]",
        "add r10, {offset}",
        "jmp {pass}",
        runtime = const VMCTX_RUNTIME,
        table = sym TABLE,
        offset = const OFFSET,
        pass = sym pass,
    )
}

/// Calls what a host function does, for locked Wasm, whose context is the second argument.
///
/// # Safety
/// As [`VmHostFunc::direct`].
#[unsafe(naked)]
pub(super) unsafe extern "C" fn shim(_: *const VmHostFunc, _: *mut u8, _: *mut u128) -> u32 {
    naked_asm!(
        "mov r11, [rsi + {runtime}]",
        "lea r10, [rdi + {direct}]",
        "jmp {pass}",
        runtime = const VMCTX_RUNTIME,
        direct = const offset_of!(VmHostFunc, direct),
        pass = sym pass,
    )
}

/// Unlocks, calls the function whose address is at r10 on the host's stack with
/// the arguments in registers, and locks again. r11 is the runtime.
///
/// # Safety
/// Only jumped to by the gates above.
#[unsafe(naked)]
unsafe extern "C" fn pass() {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rdx",
        "push rcx",
        "mov eax, [r11 + {opened}]",
        "xor ecx, ecx",
        "xor edx, edx",
        "wrpkru",
        "pop rcx",
        "pop rdx",
        "mov [r11 + {wasm_sp}], rsp",
        "add qword ptr [r11 + {writes}], 2",
        "mov rsp, [r11 + {host_sp}]",
        // Twice, for the stack's alignment.
        "push r11",
        "push r11",
        "call [r10]",
        "pop r11",
        "mov rsp, rbp",
        "mov r10, rax",
        // What the host has made of its rights meanwhile is what it is given back.
        "xor ecx, ecx",
        "rdpkru",
        "mov [r11 + {opened}], eax",
        "mov eax, [r11 + {locked}]",
        "xor edx, edx",
        "wrpkru",
        "mov rax, r10",
        "pop rbp",
        "ret",
        opened = const OPENED,
        locked = const LOCKED,
        wasm_sp = const WASM_SP,
        host_sp = const HOST_SP,
        writes = const WRITES,
    )
}

/// A [`Resume`] and the runtime's address; the stack stays aligned for a call.
const THROW_ROOM: usize = (size_of::<Resume>() + size_of::<usize>()).next_multiple_of(16);

/// As [`super::arch::throw`], for locked Wasm.
///
/// # Safety
/// As there.
#[unsafe(naked)]
unsafe extern "C" fn throw(_vmctx: *mut u8, _exception: u64) {
    naked_asm!(
        "mov r11, [rdi + {runtime}]",
        "mov rdi, rsi",
        "mov rsi, [rsp]",
        "mov eax, [r11 + {opened}]",
        "xor ecx, ecx",
        "xor edx, edx",
        "wrpkru",
        "mov rdx, rbp",
        "mov [r11 + {wasm_sp}], rsp",
        "add qword ptr [r11 + {writes}], 2",
        "mov rsp, [r11 + {host_sp}]",
        "sub rsp, {room}",
        "mov [rsp + {resume}], r11",
        "mov rcx, rsp",
        "call {find}",
        "mov r11, [rsp + {resume}]",
        "mov rsi, [rsp + {pc}]",
        "mov rdi, [rsp + {sp}]",
        "mov rbp, [rsp + {fp}]",
        "mov r8, [rsp + {exception}]",
        "mov eax, [r11 + {locked}]",
        "xor ecx, ecx",
        "xor edx, edx",
        "wrpkru",
        "mov rsp, rdi",
        "mov rax, r8",
        "jmp rsi",
        opened = const OPENED,
        locked = const LOCKED,
        wasm_sp = const WASM_SP,
        host_sp = const HOST_SP,
        writes = const WRITES,
        runtime = const VMCTX_RUNTIME,
        pc = const offset_of!(Resume, pc),
        sp = const offset_of!(Resume, sp),
        fp = const offset_of!(Resume, fp),
        resume = const size_of::<Resume>(),
        room = const THROW_ROOM,
        exception = const offset_of!(Resume, exception),
        find = sym find_handler,
    )
}

macro_rules! gates {
    ($(
        $(#[$doc:meta])*
        $Variant:ident = $name:ident($($param:ident: $ty:ident),*) $(-> $result:ident)?;
    )*) => {
        /// The gate of a libcall.
        pub(super) fn address(which: Libcall) -> *const () {
            match which {
                $(Libcall::$Variant => gate!($name),)*
            }
        }
    };
}

/// The one that does not return has a gate of its own.
macro_rules! gate {
    (throw) => {
        throw as *const ()
    };
    ($name:ident) => {
        libcall::<{ offset_of!(Libcalls, $name) }> as *const ()
    };
}

runtime_functions!(gates);
