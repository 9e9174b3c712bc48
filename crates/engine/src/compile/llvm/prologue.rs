//! What a function begins with: the comparison of the stack pointer with the runtime's
//! limit, as Cranelift's prologues have it.
//!
//! ```text
//!   push rbp                        as Cranelift begins, up to the runtime: so that
//!   mov rbp, rsp                    `run/stacks/segments.rs` knows it for a function that
//!   mov r10, [rdi]                  can begin again on another piece of stack
//!   mov r10, [r10 + stack limit]
//!   lea r10, [r10 + frame]          read off the machine code (`frame.rs`)
//!   cmp rsp, r10
//!   jae go_on
//!   ud2                             the trap: the frame is in the chain
//! go_on:
//!   pop rbp                         LLVM's own prologue follows
//! ```
//!
//! What must stay true: r10 is no argument's register and free at a function's entry;
//! r10 plus a frame does not wrap (`run/entry/fault.rs` keeps limits that low).

use std::fmt::Write as _;

use crate::facts::vmctx::{VMCTX_RUNTIME, offsets};

/// Where the bytes of the frame stand.
const FRAME_AT: usize = 17;
/// Where the trap stands.
pub(super) const TRAP_AT: u32 = 26;
/// Bytes in all.
pub(super) const BYTES: usize = 29;
/// Bytes of the largest frame; far more would be a defect.
const FRAME_BYTES_MAX: u64 = 1 << 30;

/// The instructions, for a frame of 0 bytes.
fn bytes() -> Vec<u8> {
    let mut code = Vec::with_capacity(BYTES);
    code.extend([0x55, 0x48, 0x89, 0xe5]);
    // The context begins with the address of the runtime.
    const { assert!(VMCTX_RUNTIME == 0) };
    code.extend([0x4c, 0x8b, 0x17]);
    code.extend([0x4d, 0x8b, 0x92]);
    code.extend(offsets::RUNTIME_STACK_LIMIT.to_le_bytes());
    code.extend([0x4d, 0x8d, 0x92, 0, 0, 0, 0]);
    code.extend([0x4c, 0x39, 0xd4]);
    code.extend([0x73, 0x02, 0x0f, 0x0b]);
    code.push(0x5d);
    debug_assert_eq!(code.len(), BYTES);
    code
}

/// As a constant of LLVM's.
pub(super) fn text() -> String {
    let mut text = format!("[{BYTES} x i8] c\"");
    for byte in bytes() {
        write!(text, "\\{byte:02X}").expect("a string takes all");
    }
    text.push('"');
    text
}

/// Writes into a function's code what its frame needs below the frame pointer; false where
/// the code does not begin with these instructions.
pub(super) fn set_frame(code: &mut [u8], frame_bytes: u64) -> bool {
    if !code.starts_with(&bytes()) || frame_bytes > FRAME_BYTES_MAX {
        return false;
    }
    let frame = (frame_bytes as u32).to_le_bytes();
    code[FRAME_AT..FRAME_AT + 4].copy_from_slice(&frame);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_written_where_it_is_read() {
        let mut code = bytes();
        assert!(set_frame(&mut code, 0x0102_0304));
        assert_eq!(
            code[FRAME_AT - 3..FRAME_AT + 4],
            [0x4d, 0x8d, 0x92, 4, 3, 2, 1]
        );
        assert_eq!(code[TRAP_AT as usize..], [0x0f, 0x0b, 0x5d]);
        assert!(!set_frame(&mut [0x90; 40], 8));
        assert!(!set_frame(&mut bytes(), 1 << 40));
    }
}
