//! Wasm values as text: `i32:65532`, `f64:0x3ff0000000000000`.
//!
//! Integers are decimal, floats and vectors the hexadecimal digits of their
//! bits, so that a NaN survives the journey. Written unsigned; a sign or
//! hexadecimal digits are understood in integers too.

use std::fmt;
use std::str::FromStr;

/// A value on its way to or from an exported function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WireValue {
    /// The bits of an `i32`.
    I32(u32),
    /// The bits of an `i64`.
    I64(u64),
    /// The bits of an `f32`.
    F32(u32),
    /// The bits of an `f64`.
    F64(u64),
    /// The bits of a `v128`, lane 0 lowest.
    V128(u128),
}

/// A text that is no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no value (i32:5, i64:-1, f32:0x3f800000, f64:0x…, v128:0x…)")]
pub struct UnknownValue(String);

impl fmt::Display for WireValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireValue::I32(bits) => write!(f, "i32:{bits}"),
            WireValue::I64(bits) => write!(f, "i64:{bits}"),
            WireValue::F32(bits) => write!(f, "f32:{bits:#010x}"),
            WireValue::F64(bits) => write!(f, "f64:{bits:#018x}"),
            WireValue::V128(bits) => write!(f, "v128:{bits:#034x}"),
        }
    }
}

impl FromStr for WireValue {
    type Err = UnknownValue;

    fn from_str(text: &str) -> Result<WireValue, UnknownValue> {
        parse(text).ok_or_else(|| UnknownValue(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<WireValue> {
    let (kind, digits) = text.split_once(':')?;
    Some(match kind {
        "i32" => {
            let wide = integer(digits)?;
            // Either reading of the 32 bits is welcome: -1 and 4294967295.
            let bits = u32::try_from(wide)
                .ok()
                .or_else(|| i32::try_from(wide).ok().map(i32::cast_unsigned))?;
            WireValue::I32(bits)
        }
        "i64" => {
            let wide = integer(digits)?;
            let bits = u64::try_from(wide)
                .ok()
                .or_else(|| i64::try_from(wide).ok().map(i64::cast_unsigned))?;
            WireValue::I64(bits)
        }
        "f32" => WireValue::F32(hex(digits)?.try_into().ok()?),
        "f64" => WireValue::F64(hex(digits)?.try_into().ok()?),
        "v128" => WireValue::V128(hex(digits)?),
        _ => return None,
    })
}

fn integer(digits: &str) -> Option<i128> {
    match hex(digits) {
        Some(bits) => i128::try_from(bits).ok(),
        None => digits.parse().ok(),
    }
}

fn hex(digits: &str) -> Option<u128> {
    let digits = digits.strip_prefix("0x")?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if plain {
        u128::from_str_radix(digits, 16).ok()
    } else {
        None
    }
}
