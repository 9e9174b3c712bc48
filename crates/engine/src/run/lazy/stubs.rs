//! The stubs of functions that are compiled late, as they are behind a module's trampolines.
//!
//! ```text
//!  trampolines | first call | stub 0, stub 1 … | index 0, index 1 … |  (page)  | word 0, word 1 …
//!                    ▲        jmp [word]         rax and r11                        data
//!                    └─────────────────────────── jmp
//! ```
//!
//! What must stay true: a stub changes no register and nothing on the stack, and what gives the
//! index changes rax and r11 only, which hold nothing at a function's beginning.

use cranelift_codegen::ir::TrapCode;

use crate::compile::argument_passing::returns_to_memory;
use crate::compile::{Artifact, CodeRange, Position, TrapSite};
use crate::facts::module::ModuleInfo;
use crate::facts::trap;
use crate::run::code::{CodeMemory, whole_pages};
use crate::run::entry::first_call;

/// What first calls run, to be copied into each module: it is position independent.
pub(crate) struct FirstCall {
    /// All of it.
    pub code: &'static [u8],
    /// Where it traps because there is no stack left, in bytes from its start.
    pub exhausted: u32,
    /// Where it raises what the compiler left pending.
    pub failed: u32,
}

/// Bytes of a stub, and of what gives its index.
const STUB_BYTES: usize = 8;
const INDEX_BYTES: usize = 16;

/// Fills what is never run: `int3`.
const FILL: u8 = 0xcc;

/// Adds a stub of each function to a module's trampolines, which is where its functions are;
/// the words for them are behind the text.
pub(crate) fn add_stubs(artifact: &mut Artifact, info: &ModuleInfo) {
    let first_func = info.imported_funcs;
    let count = info.bodies.len();
    let template = first_call();
    let text = &mut artifact.text;
    text.resize(text.len().next_multiple_of(Artifact::ALIGN), FILL);
    let common = text.len();
    text.extend_from_slice(template.code);
    for (at, code) in [
        (template.exhausted, TrapCode::STACK_OVERFLOW),
        (template.failed, trap::PENDING),
    ] {
        artifact.traps.push(TrapSite {
            offset: common as u32 + at,
            code: code.as_raw().get(),
        });
    }
    artifact.positions.push(Position {
        offset: common as u32,
        module_offset: Position::NONE,
    });
    artifact.first_call = Some(CodeRange {
        offset: common as u32,
        len: template.code.len() as u32,
    });
    text.resize(text.len().next_multiple_of(INDEX_BYTES), FILL);
    let stubs = text.len();
    let len = stubs + count * (STUB_BYTES + INDEX_BYTES);
    let words = whole_pages(len);
    for index in 0..count {
        let at = stubs + index * STUB_BYTES;
        // jmp [rip + distance]
        let distance = words + index * size_of::<usize>() - (at + 6);
        text.extend([0xff, 0x25]);
        text.extend((distance as i32).to_le_bytes());
        text.resize(at + STUB_BYTES, FILL);
        artifact.functions.push(CodeRange {
            offset: at as u32,
            len: STUB_BYTES as u32,
        });
    }
    for (func, at) in (first_func..).zip((text.len()..len).step_by(INDEX_BYTES)) {
        // mov rax, rsi or rdi
        let context = match returns_to_memory(info.func_type(func)) {
            true => 0xf0,
            false => 0xf8,
        };
        text.extend([0x48, 0x89, context]);
        // mov r11d, func
        text.extend([0x41, 0xbb]);
        text.extend(func.to_le_bytes());
        // jmp rip + distance
        text.push(0xe9);
        let distance = common as i32 - (at as i32 + 14);
        text.extend(distance.to_le_bytes());
        text.resize(at + INDEX_BYTES, FILL);
    }
}

/// Where the word of the function at this position, of `count`, points to at first.
pub(super) fn first_call_of(code: &CodeMemory, position: usize, count: usize) -> u32 {
    let indices = code.len() - count * INDEX_BYTES;
    (indices + position * INDEX_BYTES) as u32
}
