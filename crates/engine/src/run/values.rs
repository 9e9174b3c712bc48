//! Values as the host sees them, and as 16-byte slots at the border to
//! compiled code.

#![allow(unsafe_code)]

use std::any::Any;
use std::num::{NonZeroU32, NonZeroU64};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::facts::error::{Error, Result};
use crate::facts::object::{self, tag};
use crate::facts::thrown::ExnRef;
use crate::facts::types::{HeapType, Hierarchy, RefType, TypeId, ValType};
use crate::run::func::Func;
use crate::run::store::{AsContext, AsContextMut, StoreOpaque, opaque_mut};

/// Hands a macro the types and places of each number of values that a call can have: none,
/// `A0 0`, `A0 0, A1 1` and so on. As many as [`super::func`] has slots for.
macro_rules! each_arity {
    ($then:ident) => {
        each_arity! {
            $then [] A0 0, A1 1, A2 2, A3 3, A4 4, A5 5, A6 6, A7 7, A8 8, A9 9, A10 10, A11 11,
            A12 12, A13 13, A14 14, A15 15,
        }
    };
    ($then:ident [$($ty:ident $at:tt),*]) => { $then! { $($ty $at),* } };
    ($then:ident [$($ty:ident $at:tt),*] $next:ident $place:tt, $($rest:tt)*) => {
        $then! { $($ty $at),* }
        each_arity! { $then [$($ty $at,)* $next $place] $($rest)* }
    };
}
pub(crate) use each_arity;

/// A value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Val {
    /// 32-bit integer.
    I32(i32),
    /// 64-bit integer.
    I64(i64),
    /// 32-bit float, as its bits: a NaN's payload is kept.
    F32(u32),
    /// 64-bit float, as its bits.
    F64(u64),
    /// 128-bit vector, lane 0 in the lowest bits.
    V128(u128),
    /// Function or null.
    FuncRef(Option<Func>),
    /// Something of the host or null.
    ExternRef(Option<ExternRef>),
    /// Exception or null.
    ExnRef(Option<ExnRef>),
    /// Continuation or null.
    ContRef(Option<ContRef>),
    /// Structure, array, integer of 31 bits, something of the host's that was made one of
    /// these, or null.
    AnyRef(Option<AnyRef>),
}

/// A structure, an array or an integer of 31 bits, or something of the host's that Wasm made
/// one of these. Structures and arrays that the host has seen live as long as their store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnyRef {
    store: u64,
    raw: NonZeroU32,
}

/// A reference of a heap that Wasm made an `externref`: what such a one has inside.
struct Inside(AnyRef);

impl AnyRef {
    /// An integer of 31 bits; the highest bit of `value` is lost.
    pub fn i31(value: i32) -> AnyRef {
        let raw = value.cast_unsigned() << 1 | tag::I31;
        let raw = NonZeroU32::new(raw).expect("its lowest bit is set");
        AnyRef { store: 0, raw }
    }

    /// The integer, where it is one: its sign is that of its highest bit.
    pub fn as_i31(&self) -> Option<i32> {
        let raw = self.raw.get();
        (raw & tag::I31 != 0).then_some(raw.cast_signed() >> 1)
    }

    /// What Wasm gets for a value of the host's by `any.convert_extern`.
    ///
    /// # Errors
    /// One that is a reference of another store's, or more than the store has room for.
    pub fn from_extern(mut store: impl AsContextMut, value: &ExternRef) -> Result<AnyRef> {
        let opaque = opaque_mut(&mut store);
        opaque.collect_externs();
        let raw = opaque.extern_to_raw(Some(value))?;
        let any = u64::from(opaque.any_of_extern(raw));
        Ok(AnyRef::from_raw(any, opaque).expect("it is of something"))
    }

    /// What Wasm gets for it by `extern.convert_any`.
    ///
    /// # Panics
    /// For one of another store.
    pub fn to_extern(&self, store: impl AsContext) -> ExternRef {
        let opaque = store.opaque();
        assert!(self.is_of(opaque), "reference of another store");
        let raw = opaque.extern_of_any(self.raw.get());
        let value = opaque.extern_from_raw(raw);
        value.expect("what is not null is kept")
    }

    fn is_of(&self, store: &StoreOpaque) -> bool {
        self.as_i31().is_some() || self.store == store.id
    }

    /// The reference that something stands for; nothing for null. Objects are kept from now on.
    pub(crate) fn from_raw(raw: u64, store: &StoreOpaque) -> Option<AnyRef> {
        let raw = NonZeroU32::new(raw as u32)?;
        if raw.get() & tag::I31 != 0 {
            return Some(AnyRef { store: 0, raw });
        }
        if let Some(heap) = &store.heap {
            heap.hold(raw.get());
        }
        let store = store.id;
        Some(AnyRef { store, raw })
    }

    /// What stands for it in a store.
    ///
    /// # Errors
    /// One of another store.
    fn to_raw(self, store: &StoreOpaque) -> Result<u64> {
        if self.as_i31().is_none() {
            store.owns(self.store, "reference")?;
        }
        Ok(u64::from(self.raw.get()))
    }

    /// The nearest type that it is of.
    pub(crate) fn heap_type(self, store: &StoreOpaque) -> HeapType {
        let raw = self.raw.get();
        let heap = match raw & tag::MASK {
            0 => store.heap.as_deref().filter(|_| self.store == store.id),
            tag::HOST => return HeapType::Any,
            _ => return HeapType::I31,
        };
        let Some(heap) = heap else {
            return HeapType::Eq;
        };
        let (number, len) = heap.header(raw);
        let id = TypeId::from_number(number);
        match len {
            object::NO_LENGTH => HeapType::ConcreteStruct(id),
            _ => HeapType::ConcreteArray(id),
        }
    }

    /// The type that it is of.
    ///
    /// # Panics
    /// For one of another store.
    pub fn ty(&self, store: impl AsContext) -> RefType {
        let store = store.opaque();
        assert!(self.is_of(store), "reference of another store");
        let heap = self.heap_type(store);
        RefType {
            nullable: false,
            heap,
        }
    }
}

/// A continuation of a store, to be handed back to Wasm. The host cannot resume it, and
/// Wasm can once, whoever has references to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContRef {
    store: u64,
    raw: NonZeroU64,
    /// What Wasm said that it is.
    heap: HeapType,
}

#[cfg(all(test, target_arch = "x86_64"))]
impl ContRef {
    /// What Wasm has.
    pub(crate) fn raw(&self) -> NonZeroU64 {
        self.raw
    }

    /// The same with something else.
    pub(crate) fn with_raw(self, raw: NonZeroU64) -> ContRef {
        ContRef { raw, ..self }
    }
}

/// Something of the host that Wasm can hold but not look into. Clones are the
/// same reference.
#[derive(Clone)]
pub struct ExternRef(Arc<dyn Any + Send + Sync>);

impl ExternRef {
    /// Make a value one that Wasm can hold.
    pub fn new(value: impl Any + Send + Sync) -> ExternRef {
        ExternRef(Arc::new(value))
    }

    /// The value, if it is a `T`.
    pub fn downcast_ref<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }

    /// Where the value is, which tells references apart.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).cast::<()>() as usize
    }

    /// One that is a reference of a heap.
    pub(crate) fn inside(any: AnyRef) -> ExternRef {
        ExternRef::new(Inside(any))
    }

    /// That reference, where it is one.
    pub(crate) fn as_inside(&self, store: &StoreOpaque) -> Option<Result<u64>> {
        let Inside(any) = self.downcast_ref()?;
        Some(any.to_raw(store))
    }

    /// Whether both are the same reference.
    pub fn ptr_eq(&self, other: &ExternRef) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::fmt::Debug for ExternRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ExternRef({:p})", Arc::as_ptr(&self.0))
    }
}

impl Val {
    /// Its type, for references the most general one.
    pub fn ty(&self) -> ValType {
        match self {
            Val::I32(_) => ValType::I32,
            Val::I64(_) => ValType::I64,
            Val::F32(_) => ValType::F32,
            Val::F64(_) => ValType::F64,
            Val::V128(_) => ValType::V128,
            Val::FuncRef(_) => ValType::FUNCREF,
            Val::ExternRef(_) => ValType::EXTERNREF,
            Val::ExnRef(_) => ValType::EXNREF,
            Val::ContRef(_) => ValType::Ref(RefType::CONTREF),
            Val::AnyRef(_) => ValType::Ref(RefType::ANYREF),
        }
    }

    /// Whether it is one of a type's values.
    ///
    /// # Errors
    /// A mismatch that names both types; a function of another store.
    pub(crate) fn check(&self, ty: ValType, store: &StoreOpaque) -> Result<()> {
        let fits = match (self, ty) {
            (Val::FuncRef(None), ValType::Ref(RefType { nullable, heap })) => {
                nullable
                    && matches!(
                        heap,
                        HeapType::Func | HeapType::Concrete(_) | HeapType::NoFunc
                    )
            }
            (Val::FuncRef(Some(func)), ValType::Ref(RefType { heap, .. })) => {
                store.owns(func.store, "function")?;
                match heap {
                    HeapType::Func => true,
                    HeapType::Concrete(id) => func.type_id_in(store).is_subtype_of(id),
                    _ => false,
                }
            }
            (Val::ExternRef(value), ValType::Ref(ty)) => {
                (ty.heap == HeapType::Extern && (ty.nullable || value.is_some()))
                    || (ty.heap == HeapType::NoExtern && value.is_none())
            }
            (Val::ExnRef(value), ValType::Ref(ty)) => {
                (ty.heap == HeapType::Exn && (ty.nullable || value.is_some()))
                    || (ty.heap == HeapType::NoExn && value.is_none())
            }
            (Val::ContRef(None), ValType::Ref(ty)) => {
                let any = RefType::nullable(HeapType::NoCont);
                any.is_subtype_of(ty)
            }
            (Val::ContRef(Some(cont)), ValType::Ref(ty)) => {
                store.owns(cont.store, "continuation")?;
                RefType::nullable(cont.heap).is_subtype_of(RefType::nullable(ty.heap))
            }
            (Val::AnyRef(None), ValType::Ref(ty)) => {
                RefType::nullable(HeapType::None).is_subtype_of(ty)
            }
            (Val::AnyRef(Some(any)), ValType::Ref(ty)) => {
                any.to_raw(store)?;
                let heap = any.heap_type(store);
                RefType { heap, ..ty }.is_subtype_of(ty)
            }
            _ => self.ty() == ty,
        };
        if fits {
            return Ok(());
        }
        Err(Error::mismatch(format!(
            "{ty} expected, {} given",
            self.ty()
        )))
    }

    /// The zero or null of a type; null, too, for references that are never
    /// null.
    pub fn default_for(ty: ValType) -> Val {
        match ty {
            ValType::I32 => Val::I32(0),
            ValType::I64 => Val::I64(0),
            ValType::F32 => Val::F32(0),
            ValType::F64 => Val::F64(0),
            ValType::V128 => Val::V128(0),
            ValType::Ref(ty) => match ty.heap.hierarchy() {
                Hierarchy::Func => Val::FuncRef(None),
                Hierarchy::Extern => Val::ExternRef(None),
                Hierarchy::Exn => Val::ExnRef(None),
                Hierarchy::Cont => Val::ContRef(None),
                Hierarchy::Any => Val::AnyRef(None),
            },
        }
    }

    /// The integer of an `i32`.
    pub fn i32(&self) -> Option<i32> {
        match self {
            Val::I32(v) => Some(*v),
            _ => None,
        }
    }

    /// The integer of an `i64`.
    pub fn i64(&self) -> Option<i64> {
        match self {
            Val::I64(v) => Some(*v),
            _ => None,
        }
    }

    /// The number of an `f32`.
    pub fn f32(&self) -> Option<f32> {
        match self {
            Val::F32(v) => Some(f32::from_bits(*v)),
            _ => None,
        }
    }

    /// The number of an `f64`.
    pub fn f64(&self) -> Option<f64> {
        match self {
            Val::F64(v) => Some(f64::from_bits(*v)),
            _ => None,
        }
    }

    /// The bits of a `v128`.
    pub fn v128(&self) -> Option<u128> {
        match self {
            Val::V128(v) => Some(*v),
            _ => None,
        }
    }

    /// The slot that stands for it.
    ///
    /// # Errors
    /// A reference that belongs to another store, or one of the host's that the store
    /// has no room for.
    pub(crate) fn to_slot(&self, store: &mut StoreOpaque) -> Result<u128> {
        Ok(match self {
            Val::I32(v) => u128::from(v.cast_unsigned()),
            Val::I64(v) => u128::from(v.cast_unsigned()),
            Val::F32(v) => u128::from(*v),
            Val::F64(v) => u128::from(*v),
            Val::V128(v) => *v,
            Val::FuncRef(func) => u128::from(func_to_raw(*func, store)?),
            Val::ExternRef(value) => u128::from(store.extern_to_raw(value.as_ref())?),
            Val::ExnRef(None) => 0,
            Val::ExnRef(Some(exn)) => {
                store.owns(exn.store, "exception")?;
                exn.raw.as_ptr() as u128
            }
            Val::ContRef(None) => 0,
            Val::ContRef(Some(cont)) => {
                store.owns(cont.store, "continuation")?;
                u128::from(cont.raw.get())
            }
            Val::AnyRef(None) => 0,
            Val::AnyRef(Some(any)) => u128::from(any.to_raw(store)?),
        })
    }

    /// The value that a slot stands for.
    ///
    /// # Safety
    /// The slot holds a value of this type, of this store.
    pub(crate) unsafe fn from_slot(slot: u128, ty: ValType, store: &StoreOpaque) -> Val {
        match ty {
            ValType::I32 => Val::I32(slot as i32),
            ValType::I64 => Val::I64(slot as i64),
            ValType::F32 => Val::F32(slot as u32),
            ValType::F64 => Val::F64(slot as u64),
            ValType::V128 => Val::V128(slot),
            ValType::Ref(ty) => match ty.heap.hierarchy() {
                Hierarchy::Func => {
                    // SAFETY: the caller's promise.
                    Val::FuncRef(unsafe { func_from_raw(slot as u64, store) })
                }
                Hierarchy::Extern => Val::ExternRef(store.extern_from_raw(slot as u64)),
                Hierarchy::Exn => Val::ExnRef(ExnRef::from_raw(slot as u64, store)),
                Hierarchy::Cont => {
                    let raw = NonZeroU64::new(slot as u64);
                    Val::ContRef(raw.map(|raw| ContRef {
                        store: store.id,
                        raw,
                        heap: ty.heap,
                    }))
                }
                Hierarchy::Any => Val::AnyRef(AnyRef::from_raw(slot as u64, store)),
            },
        }
    }
}

macro_rules! unwrap {
    ($($name:ident $of:ident $ty:ty;)*) => {
        impl Val {$(
            #[doc = concat!("The value of [`Val::", stringify!($of), "`].")]
            ///
            /// # Panics
            /// For a value of another type.
            #[track_caller]
            pub fn $name(&self) -> $ty {
                match self.$of() {
                    Some(value) => value,
                    None => panic!("a value of type {} is no {}", self.ty(), stringify!($of)),
                }
            }
        )*}
    };
}
unwrap! {
    unwrap_i32 i32 i32;
    unwrap_i64 i64 i64;
    unwrap_f32 f32 f32;
    unwrap_f64 f64 f64;
}

macro_rules! from {
    ($($ty:ty, |$value:ident| $val:expr;)*) => {$(
        impl From<$ty> for Val {
            fn from($value: $ty) -> Val {
                $val
            }
        }
    )*};
}
from! {
    i32, |v| Val::I32(v);
    i64, |v| Val::I64(v);
    f32, |v| Val::F32(v.to_bits());
    f64, |v| Val::F64(v.to_bits());
    u128, |v| Val::V128(v);
    Func, |v| Val::FuncRef(Some(v));
    Option<Func>, |v| Val::FuncRef(v);
    ExternRef, |v| Val::ExternRef(Some(v));
    Option<ExternRef>, |v| Val::ExternRef(v);
    &Val, |v| v.clone();
}

/// The raw form of a function reference.
///
/// # Errors
/// A function of another store.
pub(crate) fn func_to_raw(func: Option<Func>, store: &StoreOpaque) -> Result<u64> {
    match func {
        None => Ok(0),
        Some(func) if func.store == store.id => Ok(func.raw.as_ptr() as u64),
        Some(_) => Err(Error::mismatch("function of another store")),
    }
}

/// # Safety
/// `raw` is 0 or the address of a `VmFuncRef` of this store.
pub(crate) unsafe fn func_from_raw(raw: u64, store: &StoreOpaque) -> Option<Func> {
    NonNull::new(raw as *mut _).map(|raw| Func {
        store: store.id,
        raw,
    })
}

/// A Rust type that stands for a Wasm value type in typed functions.
///
/// Sealed: the border to compiled code relies on the implementations here.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no value of WebAssembly's",
    note = "values are `i32`, `u32`, `i64`, `u64`, `f32`, `f64`, `u128`, `Option<Func>` and \
            `Option<ExternRef>`"
)]
pub trait WasmTy: Sized + private::Slot {}

pub(crate) mod private {
    use super::*;

    /// How a value crosses the border.
    pub trait Slot: Sized {
        /// Its type in Wasm.
        const TYPE: ValType;
        /// To a slot of `store`.
        fn into_slot(self, store: &mut StoreOpaque) -> Result<u128>;
        /// From a slot: its own bytes and no more. The others were not written, and a
        /// load that is wider than the store before it waits until that is in the cache.
        ///
        /// # Safety
        /// The slot holds a value of [`Self::TYPE`], of this store.
        unsafe fn out_of_slot(slot: *const u128, store: &StoreOpaque) -> Self;
    }
}

macro_rules! wasm_ty {
    ($($rust:ty => $wasm:ident, |$value:ident| $into:expr;)*) => {$(
        impl private::Slot for $rust {
            const TYPE: ValType = ValType::$wasm;
            #[inline]
            fn into_slot(self, _: &mut StoreOpaque) -> Result<u128> {
                let $value = self;
                Ok($into)
            }
            #[inline]
            unsafe fn out_of_slot(slot: *const u128, _: &StoreOpaque) -> $rust {
                // SAFETY: the caller's promise; a value's bytes are a slot's first.
                unsafe { slot.cast::<$rust>().read() }
            }
        }
        impl WasmTy for $rust {}
    )*};
}

wasm_ty! {
    i32 => I32, |v| u128::from(v.cast_unsigned());
    u32 => I32, |v| u128::from(v);
    i64 => I64, |v| u128::from(v.cast_unsigned());
    u64 => I64, |v| u128::from(v);
    f32 => F32, |v| u128::from(v.to_bits());
    f64 => F64, |v| u128::from(v.to_bits());
    u128 => V128, |v| v;
}

// A slot's first bytes are its lowest, here and in compiled code.
const _: () = assert!(cfg!(target_endian = "little"));

impl private::Slot for Option<Func> {
    const TYPE: ValType = ValType::FUNCREF;
    fn into_slot(self, store: &mut StoreOpaque) -> Result<u128> {
        func_to_raw(self, store).map(u128::from)
    }
    unsafe fn out_of_slot(slot: *const u128, store: &StoreOpaque) -> Option<Func> {
        // SAFETY: the caller's promise; references have 64 bits.
        unsafe { func_from_raw(slot.cast::<u64>().read(), store) }
    }
}
impl WasmTy for Option<Func> {}

impl private::Slot for Option<ExternRef> {
    const TYPE: ValType = ValType::EXTERNREF;
    fn into_slot(self, store: &mut StoreOpaque) -> Result<u128> {
        Ok(u128::from(store.extern_to_raw(self.as_ref())?))
    }
    unsafe fn out_of_slot(slot: *const u128, store: &StoreOpaque) -> Option<ExternRef> {
        // SAFETY: the caller's promise; references have 64 bits.
        store.extern_from_raw(unsafe { slot.cast::<u64>().read() })
    }
}
impl WasmTy for Option<ExternRef> {}
