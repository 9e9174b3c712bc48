//! Closures of Rust's as host functions: which may be, and how their values cross.

#![allow(unsafe_code)]

use std::error::Error as StdError;
use std::marker::PhantomData;

use super::{Caller, HostDef};
use crate::facts::error::{Error, Result};
use crate::facts::types::{FuncType, ValType};
use crate::run::store::StoreOpaque;
use crate::run::values::{WasmTy, each_arity};

/// What a typed host closure may return: nothing, a value, a tuple of values, or a
/// `Result` of those with an error of any type.
///
/// An error ends the program that called, and is found again among the causes of what
/// its caller gets ([`Error::downcast_ref`]); one of the engine's stays what it is.
///
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "a host function cannot return `{Self}`",
    note = "it returns nothing, a value (`i32`, `u32`, `i64`, `u64`, `f32`, `f64`, `u128`, \
            `Option<Func>`, `Option<ExternRef>`), a tuple of values, or a `Result` of those"
)]
pub trait HostReturn: private::Return {}

/// A closure that [`crate::Func::wrap`] and [`crate::Linker::func_wrap`] accept: it takes
/// a [`Caller`] first, or none, and up to sixteen values.
///
/// A value of another type is refused where it is compiled:
///
/// ```compile_fail,E0277
/// # let mut linker = fathom_engine::Linker::<()>::new(&fathom_engine::Engine::default());
/// linker.func_wrap("host", "log", |text: String| println!("{text}")).unwrap();
/// ```
///
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a host function",
    label = "not a host function",
    note = "a host function is `Fn(Caller<'_, T>, …) -> R` or `Fn(…) -> R`, `Send`, `Sync` and \
            `'static`, with up to 16 values `i32`, `u32`, `i64`, `u64`, `f32`, `f64`, `u128`, \
            `Option<Func>` or `Option<ExternRef>`; their types, and that of the caller, have to \
            be written in the closure",
    note = "`R` is nothing, a value, a tuple of values, or a `Result` of those",
    note = "a string or a struct is handed over in a memory: `caller.get_export(\"memory\")`"
)]
pub trait IntoHostFunc<T, Params, Return>: private::Into<T, Params, Return> {}

pub(crate) mod private {
    use super::*;

    /// Results to slots.
    pub trait Return {
        /// Types of the results.
        fn types() -> Vec<ValType>;
        /// Writes the results.
        ///
        /// # Safety
        /// `values` has room for them.
        unsafe fn store(self, store: *mut StoreOpaque, values: *mut u128) -> Result<()>;
    }

    /// Closure to definition.
    #[allow(private_interfaces)]
    pub trait Into<T, Params, Return> {
        /// The definition.
        fn into_def(self) -> HostDef;
    }

    /// Parameters behind a [`Caller`]; tells closures with one from those without.
    #[derive(Debug)]
    pub struct WithCaller<Params>(PhantomData<Params>);
}

macro_rules! returns {
    ($($ty:ident $at:tt),*) => {
        impl<$($ty: WasmTy),*> private::Return for ($($ty,)*) {
            fn types() -> Vec<ValType> {
                vec![$($ty::TYPE),*]
            }
            #[inline]
            #[allow(unused_variables, unused_unsafe)]
            unsafe fn store(self, store: *mut StoreOpaque, values: *mut u128) -> Result<()> {
                // SAFETY: the caller's promise.
                unsafe { $(*values.add($at) = self.$at.into_slot(&mut *store)?;)* }
                Ok(())
            }
        }
        impl<$($ty: WasmTy),*> HostReturn for ($($ty,)*) {}
    };
}

each_arity!(returns);

impl<R: WasmTy> private::Return for R {
    fn types() -> Vec<ValType> {
        vec![R::TYPE]
    }
    #[inline]
    unsafe fn store(self, store: *mut StoreOpaque, values: *mut u128) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { *values = self.into_slot(&mut *store)? };
        Ok(())
    }
}
impl<R: WasmTy> HostReturn for R {}

impl<R, E> private::Return for Result<R, E>
where
    R: HostReturn,
    E: Into<Box<dyn StdError + Send + Sync>> + 'static,
{
    fn types() -> Vec<ValType> {
        R::types()
    }
    #[inline]
    unsafe fn store(self, store: *mut StoreOpaque, values: *mut u128) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.map_err(Error::of_host)?.store(store, values) }
    }
}
impl<R, E> HostReturn for Result<R, E>
where
    R: HostReturn,
    E: Into<Box<dyn StdError + Send + Sync>> + 'static,
{
}

/// Two rows of implementations for each number of values: with a caller and without.
macro_rules! closures {
    ($($ty:ident $at:tt),*) => {
        closures! { @one private::WithCaller<($($ty,)*)>, (Caller<'_, T>), $($ty $at),* }
        closures! { @one ($($ty,)*), (), $($ty $at),* }
    };
    (@one $params:ty, ($($caller:ty)?), $($ty:ident $at:tt),*) => {
        impl<T, F, R, $($ty),*> private::Into<T, $params, R> for F
        where
            F: Fn($($caller,)? $($ty),*) -> R + Send + Sync + 'static,
            R: HostReturn,
            $($ty: WasmTy,)*
        {
            fn into_def(self) -> HostDef {
                let ty = FuncType::new([$($ty::TYPE),*], R::types());
                #[allow(unused_variables)]
                let body = move |store: *mut StoreOpaque, vmctx: *mut u8, values: *mut u128| {
                    // SAFETY: `Body`'s condition and the shim's.
                    unsafe {
                        let returned = self(
                            $(<$caller>::new(store, vmctx),)?
                            $($ty::out_of_slot(values.add($at), &*store)),*
                        );
                        returned.store(store, values)
                    }
                };
                HostDef::new(ty, body)
            }
        }
        impl<T, F, R, $($ty),*> IntoHostFunc<T, $params, R> for F
        where
            F: Fn($($caller,)? $($ty),*) -> R + Send + Sync + 'static,
            R: HostReturn,
            $($ty: WasmTy,)*
        {}
    };
}

each_arity!(closures);
