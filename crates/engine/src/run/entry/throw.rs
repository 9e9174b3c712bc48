//! From a `throw` to its handler.
//!
//! ```text
//!  Wasm frame with the handler      ◄── sp, fp, exception ──┐
//!   …  Wasm frames, trampolines: left behind                │
//!    throwing frame ── libcall ─► arch::throw ─► find_handler (returns first)
//! ```
//!
//! The stack is walked by its frame pointers up to the activation's catch
//! point, looking each return address up in its module's table of handlers. Where a
//! continuation's stack ends it is over, and its `resume` raises the exception again.
//! Only Wasm frames and trampolines are left behind: [`find_handler`] has
//! returned when the stack pointer moves, and where nothing handles the
//! exception it goes on at the catch point, as a trap does.

#![allow(unsafe_code)]

use std::ptr::null_mut;

use super::CURRENT;
use crate::facts::vmcont::offsets::site_value;
use crate::facts::vmcont::{RAISED, VmControl, VmSegmentEnd, VmStacks};
use crate::facts::vmctx::VmRuntime;
use crate::run::code;

/// Where an exception goes on; read by the assembly.
#[repr(C)]
pub(super) struct Resume {
    pub pc: usize,
    pub sp: usize,
    pub fp: usize,
    pub exception: usize,
    /// What a `resume` is told that it goes on in.
    pub word: u64,
}

impl Resume {
    /// There, with this exception.
    fn at(control: VmControl, exception: usize, runtime: *mut VmRuntime) -> Resume {
        let VmControl { sp, fp, pc } = control;
        Resume {
            pc,
            sp,
            fp,
            exception,
            word: runtime as u64 | RAISED,
        }
    }
}

/// An exception is made: whatever was at its address is on no way any more.
pub(crate) fn is_made() {
    // SAFETY: the current activation is alive while its Wasm runs.
    if let Some(activation) = unsafe { CURRENT.get().as_mut() } {
        activation.passing = 0;
    }
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
        let runtime = activation.runtime;
        let stacks = &mut (*runtime).stacks;
        // One that comes out of a continuation was thrown elsewhere.
        if std::mem::take(&mut activation.passing) != exception {
            activation.note_place(pc - 1, fp);
        }
        let arena = &(*activation.store).stacks;
        let cont = stacks.current;
        let is_root = stacks.is_on_root();
        let end = activation.frames_end();
        let on = |fp: usize| match is_root {
            true => fp < end,
            false => arena.contains(fp),
        };
        // Segments that are left behind.
        let (mut left, mut last): (*mut VmSegmentEnd, *mut VmSegmentEnd) = (null_mut(), null_mut());
        while fp != 0 && on(fp) {
            if let Some(handler) = code::handler_of(pc) {
                leave_segments(stacks, left);
                (*runtime).stack_limit = (*cont).limit.max(stacks.limit_min);
                let (sp, pc) = (fp - handler.frame_bytes, handler.pc);
                resume.write(Resume::at(VmControl { sp, fp, pc }, exception, runtime));
                return;
            }
            let (returns_to, segment) = arena.returns_to(*(fp as *const usize).add(1), fp);
            if let Some(segment) = segment {
                // The last one, whose limit is the first one's, comes out last.
                (*segment).next = null_mut();
                match last.is_null() {
                    true => left = segment,
                    false => (*last).next = segment,
                }
                last = segment;
            }
            pc = returns_to;
            fp = *(fp as *const usize);
        }
        let control = match is_root {
            false => {
                activation.passing = exception;
                leave_continuation(&mut *runtime, exception)
            }
            true => {
                activation.thrown = exception;
                VmControl {
                    sp: activation.catch_sp,
                    fp: 0,
                    pc: activation.catch_pc(),
                }
            }
        };
        resume.write(Resume::at(control, exception, runtime));
    }
}

/// Give back the segments that an exception leaves, chained from the last one on: the stack
/// that runs has the limit again that it had before the first.
///
/// # Safety
/// They are those of the continuation that runs, and nothing goes on in them.
unsafe fn leave_segments(stacks: &mut VmStacks, mut left: *mut VmSegmentEnd) {
    // SAFETY: the caller's promise.
    unsafe {
        while !left.is_null() {
            let segment = left;
            left = (*segment).next;
            (*stacks.current).limit = (*segment).limit_before;
            stacks.release_segment(segment);
        }
    }
}

/// End the continuation that runs: where its `resume` goes on, which finds the exception as
/// its first value.
///
/// # Safety
/// A continuation runs, and nothing goes on in it.
unsafe fn leave_continuation(runtime: &mut VmRuntime, exception: usize) -> VmControl {
    let stacks = &mut runtime.stacks;
    // SAFETY: what runs has a parent, which has where it goes on; that one's frame has room for
    // a value.
    unsafe {
        let cont = stacks.current;
        let control = (*(*cont).link).control;
        let value: *mut usize = (*cont).site.offset(site_value(0) as isize).cast();
        value.write(exception);
        stacks.current = (*cont).link;
        stacks.release(cont);
        runtime.stack_limit = (*stacks.current).limit.max(stacks.limit_min);
        control
    }
}
