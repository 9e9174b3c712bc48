//! Arguments of a script as the engine's values, and results against patterns.

use fathom_engine::{ExternRef, Val};
use wast::WastArg;
use wast::core::{AbstractHeapType, HeapType, NanPattern, V128Pattern, WastArgCore, WastRetCore};
use wast::token::{F32, F64};

/// The engine's value; nothing for those of proposals beyond 2.0.
pub fn argument(arg: &WastArg<'_>) -> Option<Val> {
    let WastArg::Core(arg) = arg else { return None };
    Some(match arg {
        WastArgCore::I32(v) => Val::I32(*v),
        WastArgCore::I64(v) => Val::I64(*v),
        WastArgCore::F32(v) => Val::F32(v.bits),
        WastArgCore::F64(v) => Val::F64(v.bits),
        WastArgCore::V128(v) => Val::V128(u128::from_le_bytes(v.to_le_bytes())),
        WastArgCore::RefNull(HeapType::Abstract { ty, .. }) => match ty {
            AbstractHeapType::Func => Val::FuncRef(None),
            AbstractHeapType::Extern => Val::ExternRef(None),
            _ => return None,
        },
        WastArgCore::RefExtern(n) => Val::ExternRef(Some(ExternRef::new(*n))),
        _ => return None,
    })
}

/// Whether a result is what a pattern allows.
pub fn matches(value: &Val, expected: &WastRetCore<'_>) -> bool {
    match (value, expected) {
        (_, WastRetCore::Either(cases)) => cases.iter().any(|case| matches(value, case)),
        (Val::I32(v), WastRetCore::I32(e)) => v == e,
        (Val::I64(v), WastRetCore::I64(e)) => v == e,
        (Val::F32(v), WastRetCore::F32(e)) => f32_matches(*v, e),
        (Val::F64(v), WastRetCore::F64(e)) => f64_matches(*v, e),
        (Val::V128(v), WastRetCore::V128(e)) => v128_matches(*v, e),
        (Val::FuncRef(None), WastRetCore::RefNull(ty)) => is_null_of(ty, AbstractHeapType::Func),
        (Val::ExternRef(None), WastRetCore::RefNull(ty)) => {
            is_null_of(ty, AbstractHeapType::Extern)
        }
        (Val::FuncRef(Some(_)), WastRetCore::RefFunc(None)) => true,
        (Val::ExternRef(Some(_)), WastRetCore::RefExtern(None)) => true,
        (Val::ExternRef(Some(v)), WastRetCore::RefExtern(Some(e))) => {
            v.downcast_ref::<u32>() == Some(e)
        }
        _ => false,
    }
}

fn is_null_of(ty: &Option<HeapType<'_>>, wanted: AbstractHeapType) -> bool {
    match ty {
        None => true,
        Some(HeapType::Abstract { ty, .. }) => *ty == wanted,
        Some(_) => false,
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
