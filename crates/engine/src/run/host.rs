//! Host functions: closures that Wasm calls.
//!
//! ```text
//!  Wasm ─► exit trampoline ─► direct::<closure>(store, caller, slots)
//!           │ status ◄────────┘ errors and panics wait in the store
//!           └► gate ─► direct::<closure>         where Wasm is locked or switches stacks
//! ```
//!
//! A closure is compiled into a function of its own: where the kernel guards its returns, a
//! return to a frame from before a system call is mispredicted, and each frame between
//! the call and Wasm takes 6 ns.
//!
//! What must stay true: code and closure of a placed function live as long as its
//! [`HostFuncs`], which stay where they are; only their addresses are in it.

#![allow(unsafe_code)]

mod closures;

pub use closures::{HostReturn, IntoHostFunc};

use std::any::Any;
use std::marker::PhantomData;
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use fathom_sys::cells::Placed;
use fathom_sys::pkeys::Key;
use smallvec::SmallVec;

use crate::facts::error::{Error, Result};
use crate::facts::trap::TrapCode;
use crate::facts::types::{FuncType, TypeId};
use crate::facts::vmctx::{Shim, THROWN, VMCTX_INSTANCE, VmFuncRef, VmHostFunc};
use crate::run::engine::{Engine, Trampolines};
use crate::run::externs::{Extern, Memory};
use crate::run::instance::{InstanceData, export_of};
use crate::run::interrupt::Interrupt;
use crate::run::store::private::Sealed;
use crate::run::store::{AsContext, AsContextMut, StoreInner, StoreOpaque, trap_error};
use crate::run::values::Val;

/// A host function: what compiled code sees of it first.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct HostFunc {
    vm: VmHostFunc,
    /// The reference to it.
    func_ref: VmFuncRef,
    store: *mut StoreOpaque,
    /// The closure, which `direct` knows.
    body: NonNull<()>,
}

/// Host functions that no store has yet, ready to be placed in any.
pub(crate) struct HostFuncsPre(Box<[HostFunc]>);

// SAFETY: their addresses are of code and of bodies, which are `Send + Sync`; those of a store
// are null.
unsafe impl Send for HostFuncsPre {}
// SAFETY: as above.
unsafe impl Sync for HostFuncsPre {}

impl FromIterator<HostFunc> for HostFuncsPre {
    fn from_iter<I: IntoIterator<Item = HostFunc>>(funcs: I) -> HostFuncsPre {
        HostFuncsPre(funcs.into_iter().collect())
    }
}

/// Host functions that were placed in a store at once.
pub(crate) struct HostFuncs {
    funcs: Placed<[HostFunc]>,
    /// Keeps their bodies, the code that calls them, and their types.
    _made_of: Arc<dyn Any + Send + Sync>,
}

impl HostFuncs {
    /// They are called through what this makes of them from now on.
    pub fn call_through(&mut self, gate: impl Fn(Shim) -> Shim) {
        for func in &mut *self.funcs {
            func.vm.call = gate(func.vm.direct);
        }
    }
}

// Exit trampolines have the address of the one for that of the other.
const _: () = assert!(offset_of!(HostFunc, vm) == 0);

// SAFETY: the store pointer is that of the store which owns the function and
// moves with it; the body is `Send + Sync`.
unsafe impl Send for HostFunc {}

/// What a host function does, whatever the type of its store's data: takes the
/// store, the calling instance's context and the slots.
///
/// Only called with a store whose data has the type it was made for.
type Body = dyn Fn(*mut StoreOpaque, *mut u8, *mut u128) -> Result<()> + Send + Sync;

/// A body with its type, ready for any store with the same data type.
#[derive(Clone)]
pub struct HostDef {
    pub ty: FuncType,
    body: Arc<Body>,
    /// Calls the body without asking for its type: `direct` of it.
    direct: Shim,
}

/// Values of a call, few of them as a rule.
type Values = SmallVec<[Val; 4]>;

/// A host function's view of its store and of the instance that called it.
pub struct Caller<'a, T> {
    store: NonNull<StoreInner<T>>,
    instance: Option<NonNull<InstanceData>>,
    borrow: PhantomData<&'a mut T>,
}

impl<T> Caller<'_, T> {
    /// # Safety
    /// `store` is alive, its data is a `T`, and it is borrowed by nobody else
    /// while the caller exists; `vmctx` is null or a context of that store.
    unsafe fn new<'a>(store: *mut StoreOpaque, vmctx: *mut u8) -> Caller<'a, T> {
        // SAFETY: a context holds its instance's address at that offset.
        unsafe {
            let instance = match vmctx.is_null() {
                true => None,
                false => NonNull::new(
                    *vmctx
                        .add(VMCTX_INSTANCE as usize)
                        .cast::<*mut InstanceData>(),
                ),
            };
            Caller {
                store: NonNull::new_unchecked(store.cast()),
                instance,
                borrow: PhantomData,
            }
        }
    }

    /// The host's data.
    pub fn data(&self) -> &T {
        // SAFETY: see `new`.
        unsafe { &self.store.as_ref().data }
    }

    /// The host's data, to change.
    pub fn data_mut(&mut self) -> &mut T {
        // SAFETY: see `new`.
        unsafe { &mut self.store.as_mut().data }
    }

    /// What may stop the store, where it was given something. A host function
    /// that works long asks it now and then and returns early; what it returns is
    /// then discarded for the trap "interrupted".
    pub fn interrupt(&self) -> Option<&Interrupt> {
        self.opaque().interrupt.as_ref()
    }

    /// The engine of the store.
    pub fn engine(&self) -> &Engine {
        &self.opaque().engine
    }

    /// An export of the instance that called; nothing when the host called.
    pub fn get_export(&self, name: &str) -> Option<Extern> {
        export_of(self.opaque(), self.instance?, name)
    }

    /// The memory that the instance which called exports as `memory`, as WASI and others
    /// have it: quicker than by name.
    #[inline]
    pub fn memory(&self) -> Option<Memory> {
        // SAFETY: instances are alive as long as their store.
        let raw = unsafe { self.instance?.as_ref() }.memory?;
        let store = self.opaque().id;
        Some(Memory { store, raw })
    }
}

impl<T> Sealed for Caller<'_, T> {
    fn opaque(&self) -> &StoreOpaque {
        // SAFETY: see `new`.
        unsafe { &self.store.as_ref().opaque }
    }
    fn opaque_ptr(&self) -> *mut StoreOpaque {
        self.store.as_ptr().cast()
    }
}
impl<T> AsContext for Caller<'_, T> {
    type Data = T;
}
impl<T> AsContextMut for Caller<'_, T> {}

/// Called by exit trampolines and gates; the body is compiled into it. 0 on success; else an
/// error or a panic waits in the store.
///
/// # Safety
/// `host` begins a [`HostFunc`] of the store whose Wasm is running, and its body is a `B`;
/// `values` holds its arguments and has room for its results.
unsafe extern "C" fn direct<B>(host: *const VmHostFunc, caller: *mut u8, values: *mut u128) -> u32
where
    B: Fn(*mut StoreOpaque, *mut u8, *mut u128) -> Result<()>,
{
    let host: *const HostFunc = host.cast();
    // SAFETY: the caller's promise.
    unsafe {
        let body = (*host).body.cast::<B>();
        called((*host).store, caller, values, body.as_ref())
    }
}

/// # Safety
/// As [`direct`]: the store's Wasm is running, `values` are a body's.
#[inline(always)]
unsafe fn called(
    store: *mut StoreOpaque,
    caller: *mut u8,
    values: *mut u128,
    body: &impl Fn(*mut StoreOpaque, *mut u8, *mut u128) -> Result<()>,
) -> u32 {
    // SAFETY: the caller's promise. A panic must not unwind through Wasm.
    unsafe {
        let run = || {
            (*store).collect_externs();
            body(store, caller, values)
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) if (*store).is_interrupted() => interrupted(store),
            Ok(Ok(())) => 0,
            Ok(Err(error)) => failed(store, values, error),
            Err(payload) => {
                (*store).panic = Some(payload);
                1
            }
        }
    }
}

/// # Safety
/// The store is alive, and its Wasm is running.
#[cold]
unsafe fn interrupted(store: *mut StoreOpaque) -> u32 {
    let trap = trap_error(TrapCode::Interrupted, Vec::new());
    // SAFETY: the caller's promise.
    unsafe { (*store).pending = Some(trap) };
    1
}

/// # Safety
/// The store is alive, and its Wasm is running; `values` has room for one.
#[cold]
unsafe fn failed(store: *mut StoreOpaque, values: *mut u128, error: Error) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        match error.exception() {
            // The trampoline raises it; see `compile::trampoline`.
            Some(exception) if exception.store == (*store).id => {
                *values = exception.raw.as_ptr() as u128;
                THROWN
            }
            _ => {
                (*store).pending = Some(error);
                1
            }
        }
    }
}

impl HostDef {
    /// A body of this type.
    pub(crate) fn new<B>(ty: FuncType, body: B) -> HostDef
    where
        B: Fn(*mut StoreOpaque, *mut u8, *mut u128) -> Result<()> + Send + Sync + 'static,
    {
        HostDef {
            ty,
            body: Arc::new(body),
            direct: direct::<B>,
        }
    }

    /// A function of runtime type `ty`.
    pub fn dynamic<T, F>(ty: FuncType, func: F) -> HostDef
    where
        F: Fn(Caller<'_, T>, &[Val], &mut [Val]) -> anyhow::Result<()> + Send + Sync + 'static,
    {
        let signature = ty.clone();
        let body = move |store: *mut StoreOpaque, vmctx: *mut u8, values: *mut u128| {
            // SAFETY: `Body`'s condition and the shim's.
            unsafe {
                let slots = |i: usize| values.add(i);
                let args: Values = signature
                    .params()
                    .iter()
                    .enumerate()
                    .map(|(i, ty)| Val::from_slot(*slots(i), *ty, &*store))
                    .collect();
                let mut results: Values = signature
                    .results()
                    .iter()
                    .map(|ty| Val::default_for(*ty))
                    .collect();
                func(Caller::new(store, vmctx), &args, &mut results).map_err(Error::of_host)?;
                for (i, (value, ty)) in results.iter().zip(signature.results()).enumerate() {
                    value.check(*ty, &*store).map_err(|error| {
                        Error::mismatch(format!("result {i} of a host function: {error}"))
                    })?;
                    *slots(i) = value.to_slot(&mut *store)?;
                }
                Ok(())
            }
        };
        HostDef::new(ty, body)
    }

    /// As a function to be placed, of type `type_id`, which reads like its own, with
    /// trampolines of that type.
    pub(crate) fn func(&self, type_id: TypeId, trampolines: &Trampolines) -> HostFunc {
        HostFunc {
            vm: VmHostFunc {
                runtime: std::ptr::null_mut(),
                call: self.direct,
                direct: self.direct,
            },
            func_ref: VmFuncRef {
                code: trampolines.exit(),
                vmctx: std::ptr::null_mut(),
                type_id: type_id.number(),
                slots: self.ty.slots(),
                entry: trampolines.entry(),
            },
            store: std::ptr::null_mut(),
            body: NonNull::from(&*self.body).cast(),
        }
    }
}

impl StoreOpaque {
    /// Place functions. What refers to them, in order.
    ///
    /// # Safety
    /// The store's data has the type that their definitions were made for; `made_of` keeps these
    /// and the trampolines.
    pub(crate) unsafe fn place(
        &mut self,
        funcs: &HostFuncsPre,
        made_of: Arc<dyn Any + Send + Sync>,
    ) -> impl Iterator<Item = NonNull<VmFuncRef>> + use<> {
        let mut funcs = Placed::copied(self.engine.domain(), Key::Fixed, &funcs.0);
        let first = funcs.address().cast::<HostFunc>();
        for (index, func) in funcs.iter_mut().enumerate() {
            func.store = self;
            func.vm.runtime = self.runtime.address().as_ptr();
            func.vm.call = self.shim(func.vm.direct);
            // SAFETY: one of these.
            func.func_ref.vmctx = unsafe { first.add(index) }.as_ptr().cast();
        }
        let count = funcs.len();
        if count > 0 {
            self.host_funcs.push(HostFuncs {
                funcs,
                _made_of: made_of,
            });
        }
        // SAFETY: they stay where they are as long as the store.
        (0..count).map(move |index| unsafe {
            let func = first.add(index).as_ptr();
            NonNull::new_unchecked(&raw mut (*func).func_ref)
        })
    }
}
