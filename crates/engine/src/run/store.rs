//! Stores: what owns instances, memories, tables, globals and host functions.
//!
//! ```text
//!  Store<T> ──owns──► StoreInner<T> { opaque: StoreOpaque, data: T }
//!                          ▲   boxed entities, addresses stable until drop
//!  handles (Func, Memory, …) = { store id, address }: Copy, checked when used
//! ```
//!
//! What must stay true: entities are never freed before the store is, so a
//! handle whose store id matches is valid; `StoreInner` is `repr(C)` with
//! `opaque` first, so that one pointer serves as both.

#![allow(unsafe_code)]

use std::any::Any;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_sys::cells::Placed;
use fathom_sys::pkeys::Key;
use fathom_sys::uffd;

use crate::facts::error::{Error, ErrorKind, Result};
use crate::facts::thrown::{ExnRef, Uncaught};
use crate::facts::trap::{self, AccessReport, Frame, Trap, TrapCode};
use crate::facts::types::TypeHold;
use crate::facts::vmcont::VmStacks;
use crate::facts::vmctx::{
    Counts, Crossing, Shim, VmArguments, VmFuncRef, VmHeader, VmHeap, VmRuntime, VmTag,
};
use crate::run::code;
use crate::run::engine::Engine;
use crate::run::entry::{self, Callee, Raised};
use crate::run::exception::Exceptions;
use crate::run::fuel;
use crate::run::handle::Module;
use crate::run::heap::{Heap, Hosts};
use crate::run::host::HostFuncs;
use crate::run::instance::InstanceData;
use crate::run::interrupt::Interrupt;
use crate::run::limits::{Account, Allowance, Limiter, Question, ResourceLimiter};
use crate::run::memory::LinearMemory;
use crate::run::references::Externs;
use crate::run::runtime;
use crate::run::stacks::Stacks;
use crate::run::table::TableData;

/// Owns everything that is instantiated in it, and data of the host's.
///
/// No instance, memory, table, global or function in a store is freed before the store is.
pub struct Store<T> {
    inner: NonNull<StoreInner<T>>,
    /// Functions of the host take and give it, so it has no other lifetime (see `Linker`).
    data: PhantomData<fn(T) -> T>,
}

// SAFETY: the store owns what is behind the pointer; its parts are `Send`
// (host closures are required to be) when the data is.
unsafe impl<T: Send> Send for Store<T> {}
// SAFETY: a shared store only hands out shared data.
unsafe impl<T: Sync> Sync for Store<T> {}

#[repr(C)]
pub struct StoreInner<T> {
    pub opaque: StoreOpaque,
    pub data: T,
}

/// The part of a store that does not depend on the host's data.
#[expect(
    clippy::vec_box,
    reason = "compiled code and handles keep the addresses"
)]
pub struct StoreOpaque {
    pub id: u64,
    pub engine: Engine,
    pub(crate) runtime: Placed<VmRuntime>,
    /// The context that host calls pass as the caller's: a runtime, no instance.
    host_context: Placed<VmHeader>,
    pub(crate) instances: Vec<Box<InstanceData>>,
    /// Shared ones belong to other stores, too.
    pub(crate) memories: Vec<Arc<LinearMemory>>,
    pub(crate) tables: Vec<Box<TableData>>,
    pub(crate) globals: Vec<Placed<u128>>,
    pub(crate) tags: Vec<Placed<VmTag>>,
    pub(crate) exceptions: Exceptions,
    pub(crate) host_funcs: Vec<HostFuncs>,
    /// Types of items that the host made; those of instances are their modules'.
    pub(crate) types: Vec<TypeHold>,
    pub(crate) externs: Externs,
    /// Where its structures and arrays are, if a module in it has such.
    pub(crate) heap: Option<Box<Heap>>,
    /// What of the host's Wasm has made references of the heap's form.
    pub(crate) hosts: Hosts,
    pub(crate) stacks: Stacks,
    /// Whether its code may run on other stacks than the thread's.
    pub(crate) switches: bool,
    /// An error that a libcall or host function left for compiled code to
    /// raise.
    pub pending: Option<Error>,
    /// A panic of a host function, to go on with once Wasm was left.
    pub panic: Option<Box<dyn Any + Send>>,
    /// What may stop what runs in it.
    pub(crate) interrupt: Option<Interrupt>,
    /// What it has taken of its quota.
    pub(crate) account: Account,
    /// Whom to ask before something is taken.
    pub(crate) limiter: Option<Limiter>,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// The first of `count` ids that no other store has.
pub(crate) fn take_ids(count: u64) -> u64 {
    NEXT_ID.fetch_add(count, Ordering::Relaxed)
}

impl<T> Store<T> {
    /// An empty store, with the quota of the engine's configuration for itself.
    pub fn new(engine: &Engine, data: T) -> Store<T> {
        Store::within(engine, data, &Allowance::new(engine.quota()))
    }

    /// An empty store that shares a quota with others.
    pub fn within(engine: &Engine, data: T, allowance: &Allowance) -> Store<T> {
        let domain = engine.domain();
        let runtime = VmRuntime {
            stack_limit: 0,
            exit_fp: 0,
            exit_pc: 0,
            interrupted: std::ptr::null(),
            fuel: fuel::to_cell(engine.config().initial_fuel),
            counts: Counts::default(),
            crossing: Crossing::default(),
            stacks: VmStacks::new(),
            arguments: VmArguments::default(),
            heap: VmHeap::default(),
        };
        let mut runtime = Placed::new(domain, Key::Inside, runtime);
        runtime.stacks.begin();
        let host_context = VmHeader {
            runtime: runtime.address().as_ptr(),
            libcalls: runtime::table(domain),
            type_ids: std::ptr::null(),
            instance: std::ptr::null_mut(),
        };
        let host_context = Placed::new(domain, Key::Fixed, host_context);
        let opaque = StoreOpaque {
            id: take_ids(1),
            engine: engine.clone(),
            runtime,
            host_context,
            instances: Vec::new(),
            memories: Vec::new(),
            tables: Vec::new(),
            globals: Vec::new(),
            tags: Vec::new(),
            exceptions: Exceptions::default(),
            host_funcs: Vec::new(),
            types: Vec::new(),
            externs: Externs::with_room(engine.quota().extern_refs),
            heap: None,
            hosts: Hosts::default(),
            stacks: Stacks::new(engine.config().continuation_stack),
            switches: false,
            pending: None,
            panic: None,
            interrupt: None,
            account: Account::new(allowance),
            limiter: None,
        };
        let inner = Box::new(StoreInner { opaque, data });
        Store {
            inner: NonNull::from(Box::leak(inner)),
            data: PhantomData,
        }
    }

    /// The host's data.
    pub fn data(&self) -> &T {
        // SAFETY: alive as long as the store; shared borrow.
        unsafe { &self.inner.as_ref().data }
    }

    /// The host's data, to change.
    pub fn data_mut(&mut self) -> &mut T {
        // SAFETY: alive as long as the store; exclusive borrow.
        unsafe { &mut self.inner.as_mut().data }
    }

    /// The host's data, without the store.
    pub fn into_data(self) -> T {
        let store = std::mem::ManuallyDrop::new(self);
        // SAFETY: made by `new`; the store's destructor does not run.
        unsafe { Box::from_raw(store.inner.as_ptr()) }.data
    }

    /// Let an [`Interrupt`] end what runs in this store; it takes the place of
    /// an earlier one.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        let opaque = opaque_mut(self);
        opaque.runtime.interrupted = interrupt.flag();
        opaque.interrupt = Some(interrupt.clone());
    }

    /// Ask a limiter, which is found in the store's data, before a memory, a table or
    /// an instance is made and before a memory or a table grows. It takes the place
    /// of an earlier one.
    pub fn limiter(
        &mut self,
        limiter: impl (Fn(&mut T) -> &mut dyn ResourceLimiter) + Send + Sync + 'static,
    ) where
        T: 'static,
    {
        // SAFETY: alive as long as the store; only the address is taken.
        let data = unsafe { NonNull::new_unchecked(&raw mut (*self.inner.as_ptr()).data) };
        // SAFETY: the data stays where it is as long as the store.
        opaque_mut(self).limiter = Some(unsafe { limiter_in(data, limiter) });
    }

    /// The quota that it shares, and what of it is in use.
    pub fn allowance(&self) -> &Allowance {
        self.opaque().account.allowance()
    }

    /// The engine it was made for.
    pub fn engine(&self) -> &Engine {
        &self.opaque().engine
    }

    /// What its programs have done so far; nothing unless the engine counts, but
    /// for the switches of keys.
    pub fn counts(&self) -> Counts {
        self.opaque().runtime.counts
    }
}

/// The address of a store's data.
struct DataAddress<T>(NonNull<T>);

// SAFETY: what it points to moves with the store that has the limiter, and is only
// touched while that store is exclusively borrowed.
unsafe impl<T> Send for DataAddress<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for DataAddress<T> {}

impl<T> DataAddress<T> {
    /// Of the whole, which can be sent, and not of the pointer in it.
    fn get(&self) -> *mut T {
        self.0.as_ptr()
    }
}

/// The limiter that `find` finds in the data of a store.
///
/// # Safety
/// The data is alive and stays where it is as long as the limiter is used.
pub(crate) unsafe fn limiter_in<T: 'static>(
    data: NonNull<T>,
    find: impl (Fn(&mut T) -> &mut dyn ResourceLimiter) + Send + Sync + 'static,
) -> Limiter {
    let data = DataAddress(data);
    Limiter::new(move |question: Question<'_>| {
        // SAFETY: alive by the promise above; who asks has borrowed the store
        // exclusively, and nobody has borrowed its data through it meanwhile.
        question(find(unsafe { &mut *data.get() }));
    })
}

impl<T> Drop for Store<T> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, freed once.
        drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Store<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("data", self.data())
            .finish_non_exhaustive()
    }
}

/// What gives shared access to a store: a store, or a host function's caller.
///
/// Sealed.
pub trait AsContext: private::Sealed {
    /// Type of the host's data.
    type Data;
}

/// What gives exclusive access to a store.
///
/// Sealed.
pub trait AsContextMut: AsContext {}

pub(crate) mod private {
    use super::*;

    pub trait Sealed {
        /// The store behind it.
        fn opaque(&self) -> &StoreOpaque;
        /// The store behind it; called through exclusive borrows only.
        fn opaque_ptr(&self) -> *mut StoreOpaque;
    }
}

use private::Sealed;

impl<T> Sealed for Store<T> {
    fn opaque(&self) -> &StoreOpaque {
        // SAFETY: alive as long as the store; shared borrow.
        unsafe { &self.inner.as_ref().opaque }
    }
    fn opaque_ptr(&self) -> *mut StoreOpaque {
        self.inner.as_ptr().cast()
    }
}

impl<T> AsContext for Store<T> {
    type Data = T;
}
impl<T> AsContextMut for Store<T> {}

impl<C: Sealed> Sealed for &C {
    fn opaque(&self) -> &StoreOpaque {
        (**self).opaque()
    }
    fn opaque_ptr(&self) -> *mut StoreOpaque {
        (**self).opaque_ptr()
    }
}
impl<C: AsContext> AsContext for &C {
    type Data = C::Data;
}

impl<C: Sealed> Sealed for &mut C {
    fn opaque(&self) -> &StoreOpaque {
        (**self).opaque()
    }
    fn opaque_ptr(&self) -> *mut StoreOpaque {
        (**self).opaque_ptr()
    }
}
impl<C: AsContext> AsContext for &mut C {
    type Data = C::Data;
}
impl<C: AsContextMut> AsContextMut for &mut C {}

/// The store behind an exclusive context.
pub(crate) fn opaque_mut<C: AsContextMut>(context: &mut C) -> &mut StoreOpaque {
    // SAFETY: an exclusive borrow of the context is one of its store.
    unsafe { &mut *context.opaque_ptr() }
}

impl Drop for StoreOpaque {
    fn drop(&mut self) {
        self.engine.add_counts(self.runtime.counts);
    }
}

impl StoreOpaque {
    /// Whether a handle is one of this store's.
    pub fn owns(&self, store: u64, what: &str) -> Result<()> {
        if store == self.id {
            return Ok(());
        }
        Err(Error::mismatch(format!("{what} of another store")))
    }

    /// Whether a module is of its engine.
    pub fn is_for(&self, module: &Module) -> Result<()> {
        if self.engine.same(module.engine()) {
            return Ok(());
        }
        Err(Error::mismatch("module and store are of different engines"))
    }
}

impl StoreOpaque {
    /// From now on its code may run on the stacks of continuations, and leaves them
    /// before it calls the runtime or the host. What is under way runs on the thread's
    /// own stack, where it makes no difference.
    pub(crate) fn allow_switches(&mut self) {
        if std::mem::replace(&mut self.switches, true) {
            return;
        }
        self.host_context.libcalls = self.libcalls();
        let table = self.libcalls();
        for instance in &mut self.instances {
            instance.write_libcalls(table);
        }
        for funcs in &mut self.host_funcs {
            funcs.call_through(entry::switching_shim);
        }
    }

    /// The runtime functions for contexts of this store.
    pub(crate) fn libcalls(&self) -> *const *const () {
        match self.switches {
            true => entry::switching_table(),
            false => runtime::table(self.engine.domain()),
        }
    }

    /// The shim for a host function of its, whose own is `direct`.
    pub(crate) fn shim(&self, direct: Shim) -> Shim {
        match self.switches {
            true => entry::switching_shim(direct),
            false => entry::shim(self.engine.domain(), direct),
        }
    }
}

/// Call `func` with `values` as arguments and for results.
///
/// # Safety
/// `store` is the live store of `func`, exclusively ours; `values` has as many
/// slots as the function's type needs, filled with values of that type.
pub(crate) unsafe fn call_raw(
    store: *mut StoreOpaque,
    func: NonNull<VmFuncRef>,
    values: *mut u128,
) -> Result<()> {
    // SAFETY: the caller's promises are those of `enter`. The store is not
    // borrowed while Wasm runs: host functions borrow it again.
    unsafe {
        // A forked child has to see to it that missing pages fault there, too.
        uffd::ensure().map_err(|error| {
            Error::resource(
                "no memory can be guarded by userfaultfd after a fork",
                error,
            )
        })?;
        let interrupt = (*store).interrupt.clone();
        let _running = interrupt.as_ref().map(Interrupt::enter);
        if interrupt.is_some_and(|interrupt| interrupt.is_raised()) {
            return Err(trap_error(TrapCode::Interrupted, Vec::new()));
        }
        let VmFuncRef {
            code,
            vmctx,
            entry,
            slots,
            ..
        } = *func.as_ptr();
        let max = (*store).engine.config().max_wasm_stack;
        let caller = (*store).host_context.address().as_ptr().cast();
        let callee = Callee {
            vmctx,
            caller,
            code,
            entry,
            slots: slots as usize,
            domain: (*store).engine.domain(),
        };
        match entry::enter(store, &callee, values, max) {
            Ok(()) => Ok(()),
            Err(raised) => Err((*store).error_of(raised)),
        }
    }
}

impl StoreOpaque {
    #[cold]
    fn error_of(&mut self, raised: Raised) -> Error {
        let (pc, backtrace) = match raised {
            Raised::NoStack => return trap_error(self.exhausted(), Vec::new()),
            Raised::Interrupted { backtrace } => {
                // What a libcall or host function had left is overtaken.
                (self.pending, self.panic) = (None, None);
                return trap_error(TrapCode::Interrupted, frames_of(&backtrace));
            }
            Raised::Trap { pc, backtrace } => (pc, backtrace),
            Raised::Exception { raw, backtrace } => {
                let exception = ExnRef::from_raw(raw as u64, self);
                let exception = exception.expect("a thrown exception is not null");
                let frames = frames_of(&backtrace);
                return ErrorKind::Exception(Box::new(Uncaught { exception, frames })).into();
            }
        };
        let frames = frames_of(&backtrace);
        match code::trap_at(pc) {
            Some(trap::PENDING) => {
                if let Some(payload) = self.panic.take() {
                    std::panic::resume_unwind(payload);
                }
                self.pending
                    .take()
                    .map(|error| with_frames(error, frames))
                    .unwrap_or_else(|| Error::mismatch("a runtime function failed silently"))
            }
            Some(code) => match TrapCode::from_clif(code) {
                Some(TrapCode::StackExhausted) => trap_error(self.exhausted(), frames),
                Some(code) => trap_error(code, frames),
                None => defect(pc),
            },
            None => defect(pc),
        }
    }
}

impl StoreOpaque {
    /// What a stack that is used up means: an interrupt moves its limit.
    fn exhausted(&self) -> TrapCode {
        match self.interrupt.as_ref().is_some_and(Interrupt::is_raised) {
            true => TrapCode::Interrupted,
            false => TrapCode::StackExhausted,
        }
    }
}

/// A fault where compiled code should have none: going on would hide a defect
/// of the engine, possibly an escape.
fn defect(pc: usize) -> ! {
    eprintln!("fathom: defect: fault at {pc:#x} in compiled code, where no trap is expected");
    std::process::abort()
}

pub(crate) fn trap_error(code: TrapCode, frames: Vec<Frame>) -> Error {
    ErrorKind::Trap(Box::new(Trap {
        code,
        frames,
        access: None,
        limit: None,
    }))
    .into()
}

/// The trap of an access out of bounds of which everything is known.
pub(crate) fn access_error(access: AccessReport) -> Error {
    ErrorKind::Trap(Box::new(Trap {
        code: TrapCode::MemoryOutOfBounds,
        frames: Vec::new(),
        access: Some(access),
        limit: None,
    }))
    .into()
}

/// Add frames to an error that has none yet: it was raised right here. An
/// error that passed through an inner activation has them already.
fn with_frames(error: Error, frames: Vec<Frame>) -> Error {
    match error.into_kind() {
        ErrorKind::Trap(mut trap) => {
            if trap.frames.is_empty() {
                trap.frames = frames;
            }
            ErrorKind::Trap(trap).into()
        }
        ErrorKind::Exception(mut uncaught) => {
            if uncaught.frames.is_empty() {
                uncaught.frames = frames;
            }
            ErrorKind::Exception(uncaught).into()
        }
        // What ran is over at its place: a limit that it met is a trap.
        ErrorKind::Limit(limit) => ErrorKind::Trap(Box::new(Trap {
            code: TrapCode::LimitExceeded,
            frames,
            access: None,
            limit: Some(limit),
        }))
        .into(),
        ErrorKind::Host {
            error,
            frames: known,
        } if known.is_empty() => ErrorKind::Host { error, frames }.into(),
        other => other.into(),
    }
}

fn frames_of(backtrace: &[usize]) -> Vec<Frame> {
    let places = backtrace.iter().flat_map(|pc| code::places_of(*pc));
    // A frame that waits for better code of its function has no place: that code has.
    let is_shown = |(nth, place): &(usize, code::Place)| *nth == 0 || place.offset.is_some();
    places
        .enumerate()
        .filter(is_shown)
        // A frame of the machine's is more than one where calls were inlined.
        .take(entry::MAX_FRAMES)
        .map(|(_, place)| place)
        .map(|place| {
            let module = place.module.upgrade();
            let module = module.as_deref();
            Frame {
                module_name: module.and_then(|m| m.name.clone()),
                func_index: place.func,
                func_name: module
                    .and_then(|m| m.func_name(place.func))
                    .map(str::to_owned),
                offset: place.offset,
            }
        })
        .collect()
}
