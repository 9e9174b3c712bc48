//! Arguments of a script as the engine's values, and results against patterns.

use fathom_engine::{AnyRef, ExternRef, HeapType as Heap, RefType, Store, Val};
use wast::core::{AbstractHeapType, HeapType, NanPattern, V128Pattern, WastArgCore, WastRetCore};
use wast::token::{F32, F64};
use wast::{WastArg, WastRet};

/// An argument. The value itself is made when it is passed, in the thread
/// that passes it.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    I32(i32),
    I64(i64),
    F32(u32),
    F64(u64),
    V128(u128),
    Null(Hierarchy),
    Extern(u32),
    /// A value of the host's as `anyref`.
    Host(u32),
    /// Something that only components have.
    Other,
}

/// The family of references that a null belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hierarchy {
    Func,
    Extern,
    Exn,
    /// Structures, arrays, small integers.
    Any,
}

/// What a result may be.
#[derive(Clone, Debug)]
pub enum Pattern {
    I32(i32),
    I64(i64),
    F32(NanPattern<F32>),
    F64(NanPattern<F64>),
    V128(V128Pattern),
    /// A null reference, of this hierarchy if one is named.
    Null(Option<Hierarchy>),
    /// A function reference that is not null.
    Func,
    /// A host's reference that is not null, of this number if one is named.
    Extern(Option<u32>),
    /// One of these: what may differ from implementation to implementation.
    Either(Vec<Pattern>),
    /// An `anyref` of this type that is not null.
    Any(Heap),
    /// A value of the host's as `anyref`.
    Host(u32),
    /// Something that the engine does not have.
    Other,
}

impl Arg {
    pub fn read(arg: &WastArg<'_>) -> Arg {
        let WastArg::Core(arg) = arg else {
            return Arg::Other;
        };
        match arg {
            WastArgCore::I32(v) => Arg::I32(*v),
            WastArgCore::I64(v) => Arg::I64(*v),
            WastArgCore::F32(v) => Arg::F32(v.bits),
            WastArgCore::F64(v) => Arg::F64(v.bits),
            WastArgCore::V128(v) => Arg::V128(u128::from_le_bytes(v.to_le_bytes())),
            WastArgCore::RefNull(ty) => Arg::Null(Hierarchy::of(ty)),
            WastArgCore::RefExtern(n) => Arg::Extern(*n),
            WastArgCore::RefHost(n) => Arg::Host(*n),
        }
    }

    /// The engine's value; nothing where it has none.
    pub fn value(self, store: &mut Store<()>) -> Option<Val> {
        Some(match self {
            Arg::I32(v) => Val::I32(v),
            Arg::I64(v) => Val::I64(v),
            Arg::F32(v) => Val::F32(v),
            Arg::F64(v) => Val::F64(v),
            Arg::V128(v) => Val::V128(v),
            Arg::Null(Hierarchy::Func) => Val::FuncRef(None),
            Arg::Null(Hierarchy::Extern) => Val::ExternRef(None),
            Arg::Extern(n) => Val::ExternRef(Some(ExternRef::new(n))),
            Arg::Null(Hierarchy::Exn) => Val::ExnRef(None),
            Arg::Null(Hierarchy::Any) => Val::AnyRef(None),
            Arg::Host(n) => {
                let any = AnyRef::from_extern(store, &ExternRef::new(n));
                Val::AnyRef(Some(any.ok()?))
            }
            Arg::Other => return None,
        })
    }
}

impl Hierarchy {
    fn of(ty: &HeapType<'_>) -> Hierarchy {
        use AbstractHeapType as A;
        match ty {
            HeapType::Abstract { ty, .. } => match ty {
                A::Func | A::NoFunc => Hierarchy::Func,
                A::Extern | A::NoExtern => Hierarchy::Extern,
                A::Exn | A::NoExn => Hierarchy::Exn,
                _ => Hierarchy::Any,
            },
            // Without the garbage collector, what a module defines are
            // functions.
            _ => Hierarchy::Func,
        }
    }
}

impl Pattern {
    pub fn read(expected: &WastRet<'_>) -> Pattern {
        match expected {
            WastRet::Core(core) => Pattern::core(core),
            _ => Pattern::Other,
        }
    }

    fn core(expected: &WastRetCore<'_>) -> Pattern {
        match expected {
            WastRetCore::I32(v) => Pattern::I32(*v),
            WastRetCore::I64(v) => Pattern::I64(*v),
            WastRetCore::F32(v) => Pattern::F32(*v),
            WastRetCore::F64(v) => Pattern::F64(*v),
            WastRetCore::V128(v) => Pattern::V128(v.clone()),
            WastRetCore::RefNull(ty) => Pattern::Null(ty.as_ref().map(Hierarchy::of)),
            WastRetCore::RefFunc(_) => Pattern::Func,
            WastRetCore::RefExtern(n) => Pattern::Extern(*n),
            WastRetCore::Either(cases) => Pattern::Either(cases.iter().map(Self::core).collect()),
            WastRetCore::RefHost(n) => Pattern::Host(*n),
            WastRetCore::RefAny => Pattern::Any(Heap::Any),
            WastRetCore::RefEq => Pattern::Any(Heap::Eq),
            WastRetCore::RefArray => Pattern::Any(Heap::Array),
            WastRetCore::RefStruct => Pattern::Any(Heap::Struct),
            WastRetCore::RefI31 => Pattern::Any(Heap::I31),
            WastRetCore::RefI31Shared => Pattern::Other,
        }
    }

    /// Whether a result is what the pattern allows.
    pub fn matches(&self, value: &Val, store: &Store<()>) -> bool {
        match (value, self) {
            (_, Pattern::Either(cases)) => cases.iter().any(|case| case.matches(value, store)),
            (Val::I32(v), Pattern::I32(e)) => v == e,
            (Val::I64(v), Pattern::I64(e)) => v == e,
            (Val::F32(v), Pattern::F32(e)) => f32_matches(*v, e),
            (Val::F64(v), Pattern::F64(e)) => f64_matches(*v, e),
            (Val::V128(v), Pattern::V128(e)) => v128_matches(*v, e),
            (Val::FuncRef(None), Pattern::Null(None | Some(Hierarchy::Func))) => true,
            (Val::ExternRef(None), Pattern::Null(None | Some(Hierarchy::Extern))) => true,
            (Val::ExnRef(None), Pattern::Null(None | Some(Hierarchy::Exn))) => true,
            (Val::AnyRef(None), Pattern::Null(None | Some(Hierarchy::Any))) => true,
            (Val::AnyRef(Some(any)), Pattern::Any(heap)) => any.ty(store).is_subtype_of(RefType {
                nullable: false,
                heap: *heap,
            }),
            (Val::AnyRef(Some(any)), Pattern::Host(n)) => {
                let value = any.to_extern(store);
                value.downcast_ref::<u32>() == Some(n)
            }
            (Val::FuncRef(Some(_)), Pattern::Func) => true,
            (Val::ExternRef(Some(_)), Pattern::Extern(None)) => true,
            (Val::ExternRef(Some(v)), Pattern::Extern(Some(e))) => {
                v.downcast_ref::<u32>() == Some(e)
            }
            _ => false,
        }
    }
}

/// A canonical NaN has only the topmost bit of its payload set, an arithmetic
/// one at least that (core specification §4.3.3).
fn f32_matches(bits: u32, expected: &NanPattern<F32>) -> bool {
    const CANONICAL: u32 = 0x7fc0_0000;
    match expected {
        NanPattern::CanonicalNan => bits & 0x7fff_ffff == CANONICAL,
        NanPattern::ArithmeticNan => bits & CANONICAL == CANONICAL,
        NanPattern::Value(value) => bits == value.bits,
    }
}

fn f64_matches(bits: u64, expected: &NanPattern<F64>) -> bool {
    const CANONICAL: u64 = 0x7ff8_0000_0000_0000;
    match expected {
        NanPattern::CanonicalNan => bits & 0x7fff_ffff_ffff_ffff == CANONICAL,
        NanPattern::ArithmeticNan => bits & CANONICAL == CANONICAL,
        NanPattern::Value(value) => bits == value.bits,
    }
}

fn v128_matches(bits: u128, expected: &V128Pattern) -> bool {
    /// The lane of `N` bytes at an index.
    fn lane<const N: usize>(bits: u128, index: usize) -> [u8; N] {
        let bytes = bits.to_le_bytes();
        std::array::from_fn(|i| bytes[index * N + i])
    }
    match expected {
        V128Pattern::I8x16(e) => (0..16).all(|i| i8::from_le_bytes(lane(bits, i)) == e[i]),
        V128Pattern::I16x8(e) => (0..8).all(|i| i16::from_le_bytes(lane(bits, i)) == e[i]),
        V128Pattern::I32x4(e) => (0..4).all(|i| i32::from_le_bytes(lane(bits, i)) == e[i]),
        V128Pattern::I64x2(e) => (0..2).all(|i| i64::from_le_bytes(lane(bits, i)) == e[i]),
        V128Pattern::F32x4(e) => {
            (0..4).all(|i| f32_matches(u32::from_le_bytes(lane(bits, i)), &e[i]))
        }
        V128Pattern::F64x2(e) => {
            (0..2).all(|i| f64_matches(u64::from_le_bytes(lane(bits, i)), &e[i]))
        }
    }
}
