//! From a `throw` to its handler.
//!
//! ```text
//!  Wasm frame with the handler      ◄── sp, fp, exception ──┐
//!   …  Wasm frames, trampolines: left behind                │
//!    throwing frame ── libcall ─► arch::throw ─► find_handler (returns first)
//! ```
//!
//! The stack is walked by its frame pointers up to the activation's catch
//! point, looking each return address up in its module's table of handlers.
//! Only Wasm frames and trampolines are left behind: [`find_handler`] has
//! returned when the stack pointer moves, and where nothing handles the
//! exception it goes on at the catch point, as a trap does.

#![allow(unsafe_code)]

use super::CURRENT;
use crate::run::code;

/// Where an exception goes on; read by the assembly.
#[repr(C)]
pub(super) struct Resume {
    pub pc: usize,
    pub sp: usize,
    pub fp: usize,
    pub exception: usize,
}

/// Fill in where `exception`, thrown by the frame `fp` whose call returns to
/// `pc`, goes on.
///
/// # Safety
/// Called by `arch::throw` for compiled code that runs in the current
/// activation; `fp` begins an intact chain of frame pointers.
pub(super) unsafe extern "C" fn find_handler(
    exception: usize,
    mut pc: usize,
    mut fp: usize,
    resume: *mut Resume,
) {
    // SAFETY: the current activation is alive while its Wasm runs; frames are
    // {previous frame pointer, return address} up to the catch point.
    unsafe {
        let activation = &mut *CURRENT.get();
        activation.note_place(pc - 1, fp);
        while fp != 0 && fp < activation.frames_end() {
            if let Some(handler) = code::handler_of(pc) {
                let sp = fp - handler.frame_bytes;
                let pc = handler.pc;
                resume.write(Resume {
                    pc,
                    sp,
                    fp,
                    exception,
                });
                return;
            }
            pc = *(fp as *const usize).add(1);
            fp = *(fp as *const usize);
        }
        activation.thrown = exception;
        resume.write(Resume {
            pc: activation.catch_pc(),
            sp: activation.catch_sp,
            fp: 0,
            exception,
        });
    }
}
