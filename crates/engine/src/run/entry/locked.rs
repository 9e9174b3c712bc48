//! Wasm that runs locked by protection keys: on a stack of its own, with a gate
//! at every way in and out.
//!
//! ```text
//!  thread's stack (key 0)                 stack of Wasm (key Inside), one a thread
//!   host frames
//!    enter ───────── lock ──────────────►  slots, entry trampoline
//!                                           Wasm frames
//!    libcall, host function ◄─ unlock ────  gate
//!     enter ──────── lock ──────────────►    slots, entry trampoline …
//! ```
//!
//! What must stay true: compiled code and the gates touch nothing else than what
//! has a key; the host's frames are never on the stack of Wasm; each way out
//! unlocks before it touches the host's stack. Runtime functions take six
//! arguments at most, all in registers.

#![allow(unsafe_code)]

use std::cell::RefCell;
use std::sync::LazyLock;

use fathom_sys::cells::{Domain, Placed};
use fathom_sys::map::{Access, PageBytes, Reservation, page_bytes};
use fathom_sys::pkeys::{self, Key};
use fathom_sys::stack;

use super::{Activation, Callee, HOST_RESERVE_BYTES, gate};
use crate::facts::libcall::Libcall;
use crate::facts::vmctx::{Shim, VmRuntime};

/// Bytes of a slot.
const SLOT_BYTES: usize = 16;

thread_local! {
    static STACK: RefCell<Option<Stack>> = const { RefCell::new(None) };
}

/// What Wasm of a thread runs on.
struct Stack(Reservation);

impl Stack {
    /// One with room for `bytes` and what a trampoline takes; a page below is
    /// inaccessible.
    fn new(bytes: usize) -> Option<Stack> {
        let guard = page_bytes();
        let bytes = PageBytes::round_up(guard + bytes + HOST_RESERVE_BYTES)?;
        let pages = Reservation::new(bytes, Access::None).ok()?;
        let pages = pages.keyed(Access::None, Key::Inside).ok()?;
        pages.open(guard..bytes.get()).ok()?;
        Some(Stack(pages))
    }

    fn top(&self) -> usize {
        self.0.addresses().end
    }

    fn lowest(&self) -> usize {
        self.0.addresses().start + page_bytes() + HOST_RESERVE_BYTES
    }
}

/// The shim that exit trampolines of a domain call, for a host function with one of its
/// own, `direct`.
pub(crate) fn shim(domain: Domain, direct: Shim) -> Shim {
    match domain {
        Domain::Open => direct,
        Domain::Locked => gate::shim,
    }
}

/// The libcalls of locked Wasm, where it can read them.
pub(crate) fn table() -> *const *const () {
    static TABLE: LazyLock<Placed<[usize]>> = LazyLock::new(|| {
        let mut addresses = [0; Libcall::ALL.len()];
        for libcall in Libcall::ALL {
            let position = libcall.table_offset() as usize / size_of::<usize>();
            addresses[position] = gate::address(libcall) as usize;
        }
        Placed::copied(Domain::Locked, Key::Fixed, &addresses)
    });
    TABLE.as_ptr().cast()
}

/// The innermost entry into locked Wasm, from one on.
///
/// # Safety
/// It is one of this thread's chain, or null.
unsafe fn innermost<'a>(mut at: *const Activation) -> Option<&'a Activation> {
    // SAFETY: activations in the chain are alive.
    while let Some(activation) = unsafe { at.as_ref() } {
        if activation.start_sp != 0 {
            return Some(activation);
        }
        at = activation.previous;
    }
    None
}

/// Make the thread ready to enter, with its keys in the runtime: the stack
/// pointer there and the lowest one that Wasm may reach.
///
/// # Safety
/// `previous` begins the thread's chain of activations, `runtime` is alive.
#[inline(never)]
pub(super) unsafe fn begin(
    runtime: *mut VmRuntime,
    previous: *const Activation,
    slots: usize,
    max_wasm_stack: usize,
) -> Option<(usize, usize)> {
    pkeys::prepare_thread().ok()?;
    stack::ensure_alternate().ok()?;
    let keys = pkeys::keys().ok()?;
    let here = std::ptr::from_ref(&keys) as usize;
    if here
        < stack::lowest_address()
            .ok()?
            .checked_add(HOST_RESERVE_BYTES)?
    {
        return None;
    }
    // SAFETY: the caller's promise.
    let outer = unsafe { innermost(previous) };
    STACK.with_borrow_mut(|stack| {
        let fits = |stack: &Stack| stack.top() - stack.lowest() >= max_wasm_stack;
        if outer.is_none() && !stack.as_ref().is_some_and(fits) {
            *stack = Some(Stack::new(max_wasm_stack)?);
        }
        let stack = stack.as_ref()?;
        // SAFETY: the runtimes of activations are alive, and this one is.
        let top = unsafe {
            (*runtime).crossing.opened = pkeys::open();
            (*runtime).crossing.locked = keys.locked();
            outer.map_or(stack.top(), |outer| (*outer.runtime).crossing.wasm_sp)
        };
        let start = top.checked_sub(slots * SLOT_BYTES)? & !(SLOT_BYTES - 1);
        let lowest = start.saturating_sub(max_wasm_stack).max(stack.lowest());
        (start > lowest).then_some((start, lowest))
    })
}

/// Call into locked Wasm. Whether it trapped.
///
/// # Safety
/// As [`super::enter`]; the activation is the current one, begun by [`begin`].
#[inline(never)]
pub(super) unsafe fn enter(
    callee: &Callee,
    values: *mut u128,
    activation: &mut Activation,
) -> bool {
    let (start, runtime) = (activation.start_sp, activation.runtime);
    let slots = start as *mut u128;
    // SAFETY: the slots are on the stack of Wasm, above where it starts; it is
    // open to the host.
    unsafe {
        std::ptr::copy_nonoverlapping(values, slots, callee.slots);
        (*runtime).counts.key_switches += 2;
        let trapped = gate::enter(
            callee.vmctx,
            callee.caller,
            callee.code,
            slots,
            callee.entry,
            activation,
        );
        if trapped != 0 {
            // The way out opened everything.
            (*runtime).counts.key_switches += 1;
            pkeys::write((*runtime).crossing.opened);
            return true;
        }
        std::ptr::copy_nonoverlapping(slots, values, callee.slots);
    }
    false
}

/// Hand over every word that Wasm of this thread has on its stack.
///
/// # Safety
/// `current` begins the thread's chain of activations.
pub(super) unsafe fn for_each_stack_word(current: *const Activation, mut visit: impl FnMut(usize)) {
    // SAFETY: the caller's promise; Wasm left for the host there.
    let lowest = unsafe { innermost(current).map(|at| (*at.runtime).crossing.wasm_sp) };
    let top = STACK.with_borrow(|stack| stack.as_ref().map(Stack::top));
    if let (Some(lowest), Some(top)) = (lowest, top) {
        for address in (lowest..top).step_by(size_of::<usize>()) {
            // SAFETY: the part of the stack that is in use, aligned.
            visit(unsafe { (address as *const usize).read_volatile() });
        }
    }
}
