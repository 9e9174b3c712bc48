//! Functions: of a module or of the host, called by value or by type.

#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::facts::error::{Error, Result};
use crate::facts::types::{FuncType, Gone, TypeHold, TypeId, ValType};
use crate::facts::vmctx::VmFuncRef;
use crate::run::host::{Caller, HostDef, IntoHostFunc};
use crate::run::store::{AsContext, AsContextMut, StoreOpaque, call_raw, opaque_mut};
use crate::run::values::{Val, WasmTy, each_arity};

/// A function of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Func {
    pub(crate) store: u64,
    pub(crate) raw: NonNull<VmFuncRef>,
}

// SAFETY: the address is only used together with its store.
unsafe impl Send for Func {}
// SAFETY: as above.
unsafe impl Sync for Func {}

impl Func {
    /// A host function of runtime type `ty`.
    ///
    /// # Errors
    /// Where its trampoline cannot be compiled.
    pub fn new<C, F>(mut store: C, ty: FuncType, func: F) -> Result<Func>
    where
        C: AsContextMut,
        F: Fn(Caller<'_, C::Data>, &[Val], &mut [Val]) -> anyhow::Result<()>
            + Send
            + Sync
            + 'static,
    {
        // SAFETY: the definition is made for this store's data type.
        unsafe { Func::place(&HostDef::dynamic(ty, func), opaque_mut(&mut store)) }
    }

    /// A host function whose type is the closure's.
    ///
    /// # Errors
    /// As [`Func::new`].
    pub fn wrap<C, P, R>(mut store: C, func: impl IntoHostFunc<C::Data, P, R>) -> Result<Func>
    where
        C: AsContextMut,
    {
        // SAFETY: the definition is made for this store's data type.
        unsafe { Func::place(&func.into_def(), opaque_mut(&mut store)) }
    }

    /// # Safety
    /// The store's data has the type the definition was made for.
    pub(crate) unsafe fn place(def: &HostDef, store: &mut StoreOpaque) -> Result<Func> {
        let (id, _hold) = TypeHold::of(&def.ty).map_err(gone)?;
        let trampolines = store.engine.trampolines(id)?;
        let func = std::iter::once(def.func(id, &trampolines)).collect();
        let made_of = Arc::new((def.clone(), trampolines));
        // SAFETY: the caller's promise.
        let raw = unsafe { store.place(&func, made_of) }.next();
        Ok(Func {
            store: store.id,
            raw: raw.expect("there is one"),
        })
    }

    /// The parameters and results of the function.
    ///
    /// # Panics
    /// Of another store's function.
    pub fn ty(&self, store: impl AsContext) -> FuncType {
        assert_eq!(self.store, store.opaque().id, "function of another store");
        self.ty_in(store.opaque())
    }

    pub(crate) fn ty_in(&self, store: &StoreOpaque) -> FuncType {
        TypeId::signature(self.type_number_in(store))
    }

    /// The id of its signature.
    pub(crate) fn type_id_in(&self, store: &StoreOpaque) -> TypeId {
        TypeId::from_number(self.type_number_in(store))
    }

    /// The number of its signature, which its store holds.
    pub(crate) fn type_number_in(&self, store: &StoreOpaque) -> u32 {
        debug_assert_eq!(self.store, store.id);
        // SAFETY: of this store, hence alive.
        unsafe { self.raw.as_ref() }.type_id
    }

    /// Call it. `results` must have one entry for each result; they are
    /// overwritten.
    ///
    /// # Errors
    /// A mismatch of arguments, a trap, or a host function's error.
    pub fn call(
        &self,
        mut store: impl AsContextMut,
        args: &[Val],
        results: &mut [Val],
    ) -> Result<()> {
        let opaque = opaque_mut(&mut store);
        opaque.owns(self.store, "function")?;
        opaque.collect_externs();
        let ty = self.ty_in(opaque);
        check_args(&ty, args, opaque)?;
        if results.len() != ty.results().len() {
            return Err(Error::mismatch(format!(
                "{} results expected, room for {}",
                ty.results().len(),
                results.len()
            )));
        }
        let count = ty.params().len().max(ty.results().len()).max(1);
        let mut slots: SmallVec<[u128; 8]> = smallvec![0; count];
        for (slot, arg) in slots.iter_mut().zip(args) {
            *slot = arg.to_slot(opaque)?;
        }
        // SAFETY: of this store; the slots are filled as its type says.
        unsafe {
            call_raw(opaque, self.raw, slots.as_mut_ptr())?;
            for ((result, slot), ty) in results.iter_mut().zip(&slots).zip(ty.results()) {
                *result = Val::from_slot(*slot, *ty, opaque);
            }
        }
        Ok(())
    }

    /// The function with its type checked once, for quicker calls.
    ///
    /// # Errors
    /// Where its type is not the one asked for.
    pub fn typed<P: WasmParams, R: WasmResults>(
        &self,
        store: impl AsContext,
    ) -> Result<TypedFunc<P, R>> {
        let opaque = store.opaque();
        opaque.owns(self.store, "function")?;
        let (ty, wanted) = (self.ty_in(opaque), FuncType::new(P::types(), R::types()));
        if ty != wanted {
            return Err(Error::mismatch(format!("function is {ty}, not {wanted}")));
        }
        Ok(TypedFunc::of(*self))
    }
}

fn gone(gone: Gone) -> Error {
    Error::mismatch(format!("function type: {gone}"))
}

fn check_args(ty: &FuncType, args: &[Val], store: &StoreOpaque) -> Result<()> {
    let params = ty.params();
    if args.len() != params.len() {
        return Err(Error::mismatch(format!(
            "{} arguments expected, {} given",
            params.len(),
            args.len()
        )));
    }
    for (i, (arg, param)) in args.iter().zip(params).enumerate() {
        arg.check(*param, store)
            .map_err(|error| Error::mismatch(format!("argument {i}: {error}")))?;
    }
    Ok(())
}

/// A function whose type is known to the compiler.
#[derive(Debug)]
pub struct TypedFunc<P, R> {
    func: Func,
    shape: PhantomData<fn(P) -> R>,
}

impl<P, R> Clone for TypedFunc<P, R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P, R> Copy for TypedFunc<P, R> {}

/// Parameters of a typed function: a tuple of up to sixteen values, or one value.
///
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the parameters of a function",
    note = "parameters are a tuple of up to 16 values, or one value: `i32`, `u32`, `i64`, `u64`, \
            `f32`, `f64`, `u128`, `Option<Func>`, `Option<ExternRef>`"
)]
pub trait WasmParams: private::Values {}
/// Results of a typed function: a tuple of up to sixteen values, or one value.
///
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the results of a function",
    note = "results are a tuple of up to 16 values, or one value: `i32`, `u32`, `i64`, `u64`, \
            `f32`, `f64`, `u128`, `Option<Func>`, `Option<ExternRef>`"
)]
pub trait WasmResults: private::Values {}

pub(crate) mod private {
    use super::*;

    /// Values to and from slots.
    pub trait Values: Sized {
        /// Their types.
        fn types() -> Vec<ValType>;
        /// Write them.
        ///
        /// # Safety
        /// There are slots for them all.
        unsafe fn store(self, store: &mut StoreOpaque, slots: *mut u128) -> Result<()>;
        /// Read them.
        ///
        /// # Safety
        /// The slots hold values of these types, of this store.
        unsafe fn load(store: &StoreOpaque, slots: *const u128) -> Self;
    }
}

/// Slots a typed call has room for: as many as the longest tuple.
const TYPED_SLOTS: usize = 16;

impl<P, R> TypedFunc<P, R> {
    /// A function whose type has been compared.
    pub(crate) fn of(func: Func) -> TypedFunc<P, R> {
        let shape = PhantomData;
        TypedFunc { func, shape }
    }

    /// The function, without its type.
    pub fn func(&self) -> &Func {
        &self.func
    }
}

impl<P: WasmParams, R: WasmResults> TypedFunc<P, R> {
    /// Call it.
    ///
    /// # Errors
    /// A trap, or a host function's error.
    pub fn call(&self, mut store: impl AsContextMut, params: P) -> Result<R> {
        let opaque = opaque_mut(&mut store);
        opaque.owns(self.func.store, "function")?;
        opaque.collect_externs();
        let mut slots = MaybeUninit::<[u128; TYPED_SLOTS]>::uninit();
        let slots = slots.as_mut_ptr().cast::<u128>();
        // SAFETY: of this store; `typed` has compared the types: there is a slot for each
        // parameter and each result, and a call that returns has written the results.
        unsafe {
            params.store(opaque, slots)?;
            call_raw(opaque, self.func.raw, slots)?;
            Ok(R::load(opaque, slots))
        }
    }
}

impl<V: WasmTy> private::Values for V {
    fn types() -> Vec<ValType> {
        vec![V::TYPE]
    }
    unsafe fn store(self, store: &mut StoreOpaque, slots: *mut u128) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { *slots = self.into_slot(store)? };
        Ok(())
    }
    unsafe fn load(store: &StoreOpaque, slots: *const u128) -> V {
        // SAFETY: the caller's promise.
        unsafe { V::out_of_slot(slots, store) }
    }
}
impl<V: WasmTy> WasmParams for V {}
impl<V: WasmTy> WasmResults for V {}

macro_rules! tuples {
    ($($ty:ident $at:tt),*) => {
        impl<$($ty: WasmTy),*> private::Values for ($($ty,)*) {
            fn types() -> Vec<ValType> {
                vec![$($ty::TYPE),*]
            }
            #[allow(unused_variables, unused_unsafe)]
            unsafe fn store(self, store: &mut StoreOpaque, slots: *mut u128) -> Result<()> {
                // SAFETY: the caller's promise.
                unsafe { $(*slots.add($at) = self.$at.into_slot(store)?;)* }
                Ok(())
            }
            #[allow(unused_variables, unused_unsafe, clippy::unused_unit)]
            unsafe fn load(store: &StoreOpaque, slots: *const u128) -> Self {
                // SAFETY: the caller's promise.
                unsafe { ($($ty::out_of_slot(slots.add($at), store),)*) }
            }
        }
        impl<$($ty: WasmTy),*> WasmParams for ($($ty,)*) {}
        impl<$($ty: WasmTy),*> WasmResults for ($($ty,)*) {}
    };
}

each_arity!(tuples);
