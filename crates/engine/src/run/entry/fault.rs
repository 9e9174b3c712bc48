//! Which faults of this process are traps of Wasm.
//!
//! ```text
//!  signal            what compilation recorded of the instruction    address
//!  SIGILL            any trap: a branch to an undefined instruction  –
//!  SIGFPE            a division                                      –
//!  SIGSEGV, SIGBUS   an access to a memory        out of bounds of one of the store's
//!                    a call through a reference   a field of a reference at null
//!                    an access to an object       behind null of the store's heap
//!  SIGURG            –                            an interrupt was raised
//! ```
//!
//! Nothing else is: an instruction of which nothing was recorded, an access that is
//! near no memory of the store which runs, or in bounds of it, a signal that a process
//! sent. That is a defect of this engine or of the host's, which must not be mistaken
//! for the program's: it goes to the handler that was there before. The store is that of the
//! innermost entry, whose Wasm it is that runs; all memories that an instance can have
//! are in the list of its store, the shared and the imported ones too.
//!
//! What must stay true: everything here is async-signal-safe. The list of memories is
//! not changed meanwhile, for only host code of the same thread changes it.

#![allow(unsafe_code)]

use std::sync::atomic::Ordering;

use cranelift_codegen::ir::TrapCode as ClifTrap;
use fathom_sys::fault::{Fault, Signal};

use super::{Activation, CURRENT};
use crate::facts::trap;
use crate::facts::vmctx::VmFuncRef;
use crate::run::code;
use crate::run::memory::Meaning;

/// No stack pointer is as high; half of what an address can be, because large
/// frames add their size to the limit.
const NO_STACK: usize = usize::MAX / 2;

/// Decides on a fault of this process. Async-signal-safe.
pub(super) fn on_fault(fault: &mut Fault<'_>) -> bool {
    if fault.signal == Signal::Urg {
        return on_poke(fault);
    }
    let current = CURRENT.get();
    if current.is_null() {
        return false;
    }
    let Some(recorded) = code::trap_at(fault.pc()) else {
        return false;
    };
    // SAFETY: the current activation is alive while Wasm of this thread runs, which a
    // trap was recorded of.
    match unsafe { meaning(fault, recorded, current) } {
        Some(Meaning::OutOfBounds) => {
            if recorded != ClifTrap::STACK_OVERFLOW || !goes_on(fault, current) {
                leave(fault, current);
            }
            true
        }
        // SAFETY: compiled code can be read as well as run.
        Some(Meaning::Probe) => unsafe { fault.read_zero() },
        None => false,
    }
}

/// Have a function begin again on a segment that has found its stack used up; false where
/// it is to trap.
fn goes_on(fault: &mut Fault<'_>, current: *mut Activation) -> bool {
    let (fp, pc) = (fault.fp(), fault.pc());
    let Some(start) = code::start_of(pc).filter(|_| fault.sp() == fp) else {
        return false;
    };
    // SAFETY: the current activation is alive, and so is its store, whose Wasm was
    // interrupted: nobody has borrowed it. A prologue compares right behind the
    // instructions that set the frame pointer, which is the stack pointer then.
    unsafe {
        let store = (*current).store.cast_mut();
        let Some(sp) = (*store).begin_on_segment(start, fp) else {
            return false;
        };
        let fp = *(fp as *const usize);
        fault.resume_at(start, sp);
        fault.set_fp(fp);
    }
    true
}

/// What a fault of an instruction means of which `recorded` is known; nothing where it
/// is no trap.
///
/// # Safety
/// `current` is the thread's innermost activation, whose Wasm was interrupted.
unsafe fn meaning(
    fault: &Fault<'_>,
    recorded: ClifTrap,
    current: *const Activation,
) -> Option<Meaning> {
    let is_trap = match (fault.signal, recorded) {
        (Signal::Ill, _) => true,
        (Signal::Fpe, ClifTrap::INTEGER_DIVISION_BY_ZERO | ClifTrap::INTEGER_OVERFLOW) => true,
        (Signal::Segv | Signal::Bus, ClifTrap::HEAP_OUT_OF_BOUNDS) => {
            // SAFETY: the caller's promise; nobody changes the store meanwhile.
            return unsafe { meaning_of_access(fault.address, current) };
        }
        (Signal::Segv, trap::NULL_ELEMENT | trap::NULL_FUNCTION) => {
            let is_field = |address| address < size_of::<VmFuncRef>();
            fault.address.is_some_and(is_field)
        }
        (Signal::Segv, trap::NULL_STRUCTURE | trap::NULL_ARRAY) => {
            // SAFETY: the caller's promise; nobody changes the store meanwhile.
            let heap = unsafe { (*(*current).store).heap.as_deref() };
            let address = fault.address;
            heap.is_some_and(|heap| address.is_some_and(|address| heap.is_null_access(address)))
        }
        _ => false,
    };
    is_trap.then_some(Meaning::OutOfBounds)
}

/// The same of an access to a memory. One of its shadow wins: where the address is
/// also out of bounds of another memory, the access itself, which follows, faults.
///
/// # Safety
/// As [`meaning`].
unsafe fn meaning_of_access(address: Option<usize>, current: *const Activation) -> Option<Meaning> {
    // SAFETY: the caller's promise.
    let memories = unsafe { &(*(*current).store).memories };
    let mut found = None;
    for memory in memories {
        match memory.meaning_of_fault(address) {
            Some(Meaning::Probe) => return Some(Meaning::Probe),
            Some(meaning) => found = Some(meaning),
            None => {}
        }
    }
    found
}

/// Decides on a signal that asks this thread to look whether it was
/// interrupted. Async-signal-safe.
///
/// Compiled code is left wherever it is, as by a trap: it holds nothing that
/// has to be given back, and its frames are chained at every instruction.
/// Elsewhere a host function is running, on top of Wasm frames or not.
fn on_poke(fault: &mut Fault<'_>) -> bool {
    let current = CURRENT.get();
    let mut ours = false;
    let mut at = current;
    while !at.is_null() {
        // SAFETY: activations in the chain are alive, and so are their
        // runtimes; the flag is, as long as the runtime points to it.
        unsafe {
            let runtime = (*at).runtime;
            let flag = (*runtime).interrupted;
            if !flag.is_null() && (*flag).load(Ordering::SeqCst) {
                ours = true;
                (*runtime).stack_limit = NO_STACK;
                // A switch that comes before the next prologue writes another limit.
                (*runtime).stacks.limit_min = NO_STACK;
                if at == current && code::contains(fault.pc()) {
                    (*current).interrupted = true;
                    leave(fault, current);
                }
            }
            at = (*at).previous;
        }
    }
    ours
}

/// Note where Wasm was left, and resume at the innermost catch point.
fn leave(fault: &mut Fault<'_>, current: *mut Activation) {
    // SAFETY: the current activation is alive while Wasm of this thread runs,
    // and Wasm is what was interrupted.
    let activation = unsafe { &mut *current };
    // SAFETY: the current activation; compiled code keeps frame pointers.
    unsafe { activation.note_place(fault.pc(), fault.fp()) };
    fault.resume_at(activation.catch_pc(), activation.catch_sp);
}
