//! Entering Wasm and leaving it by a trap.
//!
//! ```text
//!  host frames
//!   enter()         saves callee-saved registers; Activation.catch_sp ──┐
//!    entry trampoline                                                   │
//!     Wasm frames                                                       │
//!      (exit trampoline, host frames, enter(), … : own Activation)      │
//!     Wasm frame ── fault ──► handler: backtrace into the activation,   │
//!                             resume at `enter`'s catch point with it ◄─┘
//! ```
//!
//! What must stay true: between a catch point and the instruction that traps
//! there are only Wasm frames and trampolines, so no host frame is ever
//! skipped. A libcall or host function reports an error by its status, and the
//! trap is raised by compiled code after it has returned.

#![allow(unsafe_code)]

#[cfg(target_arch = "aarch64")]
#[path = "aarch64.rs"]
mod arch;
#[cfg(target_arch = "riscv64")]
#[path = "riscv64.rs"]
mod arch;
#[cfg(target_arch = "x86_64")]
#[path = "x86_64.rs"]
mod arch;

#[cfg(target_arch = "x86_64")]
#[path = "x86_64_gate.rs"]
mod gate;
#[cfg(not(target_arch = "x86_64"))]
#[path = "no_gate.rs"]
mod gate;

#[cfg(target_arch = "x86_64")]
#[path = "x86_64_first_call.rs"]
mod first_call;
#[cfg(target_arch = "x86_64")]
#[path = "x86_64_stacks.rs"]
mod stacks_gate;

mod fault;
mod locked;
mod throw;
#[cfg(test)]
mod wild;

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::null;

use fathom_sys::cells::Domain;
use fathom_sys::stack;

use crate::facts::error::{Error, Result};
use crate::facts::vmcont::{VmCont, VmControl};
use crate::facts::vmctx::{Crossing, Shim, VmRuntime};
use crate::run::code;
use crate::run::stacks::Stacks;
use crate::run::store::StoreOpaque;

pub(crate) use arch::throw;
#[cfg(target_arch = "x86_64")]
pub(crate) use first_call::first_call;
pub(crate) use locked::{shim, table as locked_table};
pub(crate) use throw::is_made as exception_is_made;

/// Frames kept of a backtrace, the innermost ones.
pub(crate) const MAX_FRAMES: usize = 64;
/// More bytes than a frame of `for_each_stack_word` has.
const OWN_FRAME_BYTES: usize = 1024;
/// Bytes of stack that Wasm leaves to host functions, libcalls and drops.
const HOST_RESERVE_BYTES: usize = 192 << 10;

thread_local! {
    static CURRENT: Cell<*mut Activation> = const { Cell::new(std::ptr::null_mut()) };
}

/// One entry into Wasm, on the stack of [`enter`]'s caller.
#[repr(C)]
struct Activation {
    /// Stack pointer of the catch point.
    catch_sp: usize,
    previous: *mut Activation,
    /// Whose Wasm it runs.
    store: *const StoreOpaque,
    runtime: *mut VmRuntime,
    /// Where locked Wasm starts on the stack of its own; 0 where it is not locked.
    start_sp: usize,
    /// Where the previous activation's Wasm left for the host, when this one
    /// was entered from there.
    outer_exit: Exit,
    /// The continuation that it was left in, or the root; null without one.
    outer_cont: *const VmCont,
    /// Where its thread's own stack goes on, if a continuation does.
    outer_root: VmControl,
    /// An exception that is on its way from one stack to the next.
    passing: usize,
    fault_pc: usize,
    /// The exception that nothing caught, if that ended it.
    thrown: usize,
    /// Left for an interrupt.
    interrupted: bool,
    frames: [MaybeUninit<usize>; MAX_FRAMES],
    frames_len: usize,
}

/// Frame pointer and return address of a Wasm frame that called the host.
#[derive(Clone, Copy)]
struct Exit {
    fp: usize,
    pc: usize,
}

impl Exit {
    /// # Safety
    /// `runtime` is alive.
    unsafe fn of(runtime: *const VmRuntime) -> Exit {
        // SAFETY: the caller's promise.
        unsafe {
            Exit {
                fp: (*runtime).exit_fp,
                pc: (*runtime).exit_pc,
            }
        }
    }
}

/// What to call.
pub(crate) struct Callee {
    /// Callee's context.
    pub vmctx: *mut u8,
    /// Context that stands for the host as caller.
    pub caller: *mut u8,
    /// Its code, in the Wasm calling convention.
    pub code: *const u8,
    /// Entry trampoline of its type.
    pub entry: *const u8,
    /// Slots that its type needs.
    pub slots: usize,
    /// Whether it runs locked.
    pub domain: Domain,
}

/// How Wasm ended early.
pub(crate) enum Raised {
    /// At this instruction, with these program counters, innermost first.
    Trap {
        /// Address of the instruction.
        pc: usize,
        /// Return addresses of the live frames, the faulting one first.
        backtrace: Vec<usize>,
    },
    /// By an exception that nothing caught.
    Exception {
        /// Its address.
        raw: usize,
        /// As of a trap, where it was thrown.
        backtrace: Vec<usize>,
    },
    /// The store was told to stop.
    Interrupted {
        /// As for a trap.
        backtrace: Vec<usize>,
    },
    /// There was no stack left to begin with.
    NoStack,
}

/// Prepare the calling thread and the process: fault handler, signal stack.
///
/// # Errors
/// What the operating system says.
pub(crate) fn prepare() -> Result<()> {
    fathom_sys::fault::install(fault::on_fault)
        .map_err(|e| Error::resource("cannot install the fault handler", e))
}

/// See to it that signals are handled elsewhere than on the small stacks of
/// continuations.
///
/// # Errors
/// What the operating system says.
pub(crate) fn guard_stacks() -> Result<()> {
    fathom_sys::signals::keep_off_small_stacks()
        .map_err(|e| Error::resource("cannot keep handlers of signals off small stacks", e))
}

/// What first calls run that have a function compiled.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn first_call() -> crate::run::lazy::FirstCall {
    unreachable!("nothing is compiled lazily here")
}

/// Where frames return to that began on a segment: back to where the stack was used up.
pub(crate) fn back_address() -> usize {
    #[cfg(target_arch = "x86_64")]
    return stacks_gate::back as *const () as usize;
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// The libcalls for code that may run on the stack of a continuation.
pub(crate) fn switching_table() -> *const *const () {
    #[cfg(target_arch = "x86_64")]
    return (&raw const stacks_gate::TABLE).cast();
    #[cfg(not(target_arch = "x86_64"))]
    crate::run::runtime::table(Domain::Open)
}

/// The shim for host functions that may be called from there, which do `direct`.
#[cfg_attr(
    target_arch = "x86_64",
    expect(unused_variables, reason = "the gate finds it")
)]
pub(crate) fn switching_shim(direct: Shim) -> Shim {
    #[cfg(target_arch = "x86_64")]
    return stacks_gate::shim;
    #[cfg(not(target_arch = "x86_64"))]
    direct
}

/// The continuations of a store that this thread left for the host.
pub(crate) fn running_conts(store: &StoreOpaque) -> Vec<*const VmCont> {
    let mut running: Vec<*const VmCont> = vec![store.runtime.stacks.current];
    let mut at = CURRENT.get();
    // SAFETY: activations of this thread are alive until they return.
    while let Some(activation) = unsafe { at.as_ref() } {
        // SAFETY: as above, and so is whatever it was entered from.
        if let Some(previous) = unsafe { activation.previous.as_ref() }
            && std::ptr::eq(previous.store, store)
        {
            running.push(activation.outer_cont);
        }
        at = activation.previous;
    }
    running
}

/// Hand over every word of this thread's stack from here up to the outermost
/// entry into Wasm, the registers that callees preserve among them.
pub(crate) fn for_each_stack_word(mut visit: impl FnMut(usize)) {
    // SAFETY: the chain of this thread begins there.
    unsafe { locked::for_each_stack_word(CURRENT.get(), &mut visit) };
    let mut outermost = 0;
    let mut at = CURRENT.get();
    // SAFETY: activations of this thread are alive until they return.
    while let Some(activation) = unsafe { at.as_ref() } {
        outermost = activation.catch_sp;
        at = activation.previous;
    }
    let mut registers = [0; arch::PRESERVED];
    // SAFETY: it has room for them all.
    unsafe { arch::preserved_registers(registers.as_mut_ptr()) };
    registers.into_iter().for_each(&mut visit);
    // Some below, for what this function itself may have put there.
    let here = std::ptr::from_ref(&registers) as usize - OWN_FRAME_BYTES;
    for address in (here..outermost).step_by(size_of::<usize>()) {
        // SAFETY: this thread's stack, aligned; it reaches further down.
        visit(unsafe { (address as *const usize).read_volatile() });
    }
}

/// Call into Wasm; arguments and results are in `values`.
///
/// # Safety
/// `callee` and `values` belong together (code, context and trampoline of one
/// function, as many slots as its type needs), all of them and `store` stay
/// alive during the call, and `store` is that of the callee.
pub(crate) unsafe fn enter(
    store: *mut StoreOpaque,
    callee: &Callee,
    values: *mut u128,
    max_wasm_stack: usize,
) -> Result<(), Raised> {
    let previous = CURRENT.get();
    // SAFETY: the caller keeps the store alive.
    let runtime: *mut VmRuntime = unsafe { &mut *(*store).runtime };
    let mut activation = Activation {
        catch_sp: 0,
        previous,
        store,
        runtime,
        start_sp: 0,
        outer_exit: Exit { fp: 0, pc: 0 },
        outer_cont: null(),
        outer_root: VmControl::default(),
        passing: 0,
        fault_pc: 0,
        thrown: 0,
        interrupted: false,
        frames: [const { MaybeUninit::uninit() }; MAX_FRAMES],
        frames_len: 0,
    };
    // SAFETY: the caller keeps the runtime alive; it is this thread's while it
    // is in here.
    unsafe {
        if let Some(previous) = previous.as_ref() {
            activation.outer_exit = Exit::of(previous.runtime);
            activation.outer_cont = (*previous.runtime).stacks.current;
            activation.outer_root = (*previous.runtime).stacks.root.control;
        }
        let exit = Exit::of(runtime);
        let Crossing {
            host_sp, wasm_sp, ..
        } = (*runtime).crossing;
        let outer_limit = (*runtime).stack_limit;
        let outer = Outer::leave(runtime);
        let Some((here, lowest)) = activation.begin(callee, max_wasm_stack) else {
            outer.come_back(runtime);
            return Err(Raised::NoStack);
        };
        // Only the first entry of a store sets the limit, so that nested ones
        // share one stack budget.
        if outer_limit == 0 {
            (*runtime).stacks.limit_min = 0;
            (*runtime).stacks.root.limit = lowest;
            (*runtime).stack_limit = lowest;
        }
        let trapped = if here <= (*runtime).stack_limit {
            None
        } else {
            CURRENT.set(&mut activation);
            let trapped = activation.run(callee, values);
            CURRENT.set(previous);
            Some(trapped)
        };
        (*runtime).crossing.host_sp = host_sp;
        (*runtime).crossing.wasm_sp = wasm_sp;
        outer.come_back(runtime);
        (*runtime).exit_fp = exit.fp;
        (*runtime).exit_pc = exit.pc;
        match trapped {
            Some(false) => Ok(()),
            Some(true) => Err(activation.raised()),
            None => Err(Raised::NoStack),
        }
    }
}

/// Which stack of the store an entry was made from, and how far it reached.
struct Outer {
    current: *mut VmCont,
    root: VmControl,
    limit: usize,
}

impl Outer {
    /// What is entered next begins on the thread's own stack.
    ///
    /// # Safety
    /// The runtime is alive and this thread's.
    unsafe fn leave(runtime: *mut VmRuntime) -> Outer {
        // SAFETY: the caller's promise.
        unsafe {
            let stacks = &mut (*runtime).stacks;
            let outer = Outer {
                current: stacks.current,
                root: stacks.root.control,
                limit: (*runtime).stack_limit,
            };
            if !stacks.is_on_root() {
                stacks.current = &raw mut stacks.root;
                (*runtime).stack_limit = stacks.root.limit.max(stacks.limit_min);
            }
            outer
        }
    }

    /// The same again. What was entered is over: whatever of it ran is given back.
    ///
    /// # Safety
    /// As [`Outer::leave`].
    unsafe fn come_back(&self, runtime: *mut VmRuntime) {
        // SAFETY: the caller's promise.
        unsafe {
            let stacks = &mut (*runtime).stacks;
            stacks.abandon();
            stacks.current = self.current;
            stacks.root.control = self.root;
            (*runtime).stack_limit = self.limit;
        }
    }
}

/// The lowest address that Wasm frames may reach, entered from here.
fn stack_limit(max_wasm_stack: usize) -> Option<usize> {
    let lowest = stack::ready().ok()?.checked_add(HOST_RESERVE_BYTES)?;
    let here = std::ptr::from_ref(&lowest) as usize;
    Some(here.saturating_sub(max_wasm_stack).max(lowest))
}

impl Activation {
    /// Where its Wasm starts, and the lowest address it may reach.
    ///
    /// # Safety
    /// The runtime is alive, and what came before is this thread's chain.
    unsafe fn begin(&mut self, callee: &Callee, max_wasm_stack: usize) -> Option<(usize, usize)> {
        // SAFETY: the caller's promise.
        unsafe {
            match callee.domain {
                Domain::Locked => {
                    let (runtime, previous) = (self.runtime, self.previous);
                    let begun = locked::begin(runtime, previous, callee.slots, max_wasm_stack)?;
                    self.start_sp = begun.0;
                    Some(begun)
                }
                Domain::Open => {
                    let here = std::ptr::from_ref(self) as usize;
                    match (*self.runtime).stack_limit {
                        0 => Some((here, stack_limit(max_wasm_stack)?)),
                        limit => Some((here, limit)),
                    }
                }
            }
        }
    }

    /// Call into Wasm; whether it trapped.
    ///
    /// # Safety
    /// As [`enter`]; this is the current activation.
    unsafe fn run(&mut self, callee: &Callee, values: *mut u128) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            match callee.domain {
                Domain::Locked => locked::enter(callee, values, self),
                Domain::Open => {
                    let (vmctx, caller, code) = (callee.vmctx, callee.caller, callee.code);
                    arch::enter(vmctx, caller, code, values, callee.entry, self) != 0
                }
            }
        }
    }

    /// One past the highest address of its Wasm frames.
    fn frames_end(&self) -> usize {
        match self.start_sp {
            0 => self.catch_sp,
            start => start,
        }
    }

    /// Where it goes on after a trap.
    fn catch_pc(&self) -> usize {
        match self.start_sp {
            0 => arch::catch_address(),
            _ => gate::catch_address(),
        }
    }

    #[cold]
    fn raised(&self) -> Raised {
        let backtrace = self.frames[..self.frames_len]
            .iter()
            // SAFETY: `on_fault` has written the first `frames_len`.
            .map(|pc| unsafe { pc.assume_init() })
            .collect();
        match self.thrown {
            _ if self.interrupted => Raised::Interrupted { backtrace },
            0 => Raised::Trap {
                pc: self.fault_pc,
                backtrace,
            },
            raw => Raised::Exception { raw, backtrace },
        }
    }

    /// Note the instruction at `pc`, in the frame `fp`, and the frames above.
    ///
    /// # Safety
    /// This is the thread's current activation, and `fp` begins an intact
    /// chain of frame pointers of its Wasm.
    unsafe fn note_place(&mut self, pc: usize, fp: usize) {
        self.fault_pc = pc;
        self.frames_len = 0;
        self.push(pc);
        let mut exit = Exit { fp, pc: 0 };
        let mut at: *mut Activation = self;
        // SAFETY: compiled code keeps frame pointers; the chain ends at the
        // catch point, and the next activation's begins where its Wasm left for
        // the host.
        unsafe {
            let mut cont: *const VmCont = (*self.runtime).stacks.current;
            let mut root = (*self.runtime).stacks.root.control;
            while !at.is_null() {
                if exit.pc != 0 {
                    self.push(exit.pc - 1);
                }
                self.note_stacks(&*at, cont, root, exit.fp);
                (exit, cont, root) = ((*at).outer_exit, (*at).outer_cont, (*at).outer_root);
                at = (*at).previous;
                if exit.fp == 0 {
                    break;
                }
            }
        }
    }

    /// Note the frames from `fp` on the stack of `cont` up to where the activation `at`
    /// was entered, from stack to stack; `root` is where the thread's own goes on.
    ///
    /// # Safety
    /// `cont` is the root or runs in it, or runs where a switch was interrupted: then `fp`
    /// may be of another stack, and nothing is noted of it.
    unsafe fn note_stacks(
        &mut self,
        at: &Activation,
        mut cont: *const VmCont,
        root: VmControl,
        mut fp: usize,
    ) {
        // SAFETY: what runs ends at the root; parents have where they go on, without a frame
        // where they are just about to write it.
        unsafe {
            let stacks = &(*at.store).stacks;
            while !at.is_root(cont) && self.frames_len < MAX_FRAMES {
                walk(self, stacks, fp, |fp| stacks.contains(fp));
                cont = (*cont).link;
                let control = match at.is_root(cont) {
                    true => root,
                    false => (*cont).control,
                };
                fp = control.fp;
                if fp != 0 {
                    self.push(control.pc.saturating_sub(1));
                }
            }
            let end = at.frames_end();
            walk(self, stacks, fp, |fp| fp < end && !stacks.contains(fp));
        }
    }

    /// Whether this stands for the thread's own stack.
    fn is_root(&self, cont: *const VmCont) -> bool {
        // SAFETY: a runtime is alive as long as its activations.
        std::ptr::eq(cont, unsafe { &raw const (*self.runtime).stacks.root })
    }

    fn push(&mut self, pc: usize) {
        if let Some(slot) = self.frames.get_mut(self.frames_len) {
            slot.write(pc);
            self.frames_len += 1;
        }
    }
}

/// Push the return addresses of the frames from `fp` up to the end of its stack.
///
/// # Safety
/// `fp` is not `on` the stack, or the frame pointer of a live frame there whose chain is
/// intact.
unsafe fn walk(
    activation: &mut Activation,
    stacks: &Stacks,
    mut fp: usize,
    on: impl Fn(usize) -> bool,
) {
    while fp != 0 && on(fp) && activation.frames_len < MAX_FRAMES {
        // SAFETY: a frame is {previous frame pointer, return address}, as
        // Cranelift lays it out on each instruction set.
        let (next, pc) = unsafe { (*(fp as *const usize), *(fp as *const usize).add(1)) };
        // SAFETY: a live frame.
        let (pc, _) = unsafe { stacks.returns_to(pc, fp) };
        if code::contains(pc) {
            // The call, not the instruction after it.
            activation.push(pc - 1);
        }
        // From a segment it goes on anywhere.
        if next <= fp && !stacks.contains(fp) {
            break;
        }
        fp = next;
    }
}
