//! Arguments and results of a function called by name, as text.

use std::ffi::OsString;

use fathom_engine::{FuncType, Val, ValType};

/// Reads arguments for a function of type `ty`; the error is a line for the
/// user.
pub fn parse(name: &str, ty: &FuncType, args: &[OsString]) -> Result<Vec<Val>, String> {
    let params = ty.params();
    if params.len() != args.len() {
        let types: Vec<String> = params.iter().map(ToString::to_string).collect();
        let types = types.join(", ");
        return Err(format!("{name} takes ({types}), {} given", args.len()));
    }
    params
        .iter()
        .zip(args)
        .enumerate()
        .map(|(index, (ty, text))| {
            let text = text.to_string_lossy();
            value(*ty, &text).ok_or_else(|| {
                let number = index + 1;
                format!("argument {number} of {name} must be {ty}, not '{text}'")
            })
        })
        .collect()
}

/// One value. Integers may be signed or unsigned, decimal or hexadecimal.
fn value(ty: ValType, text: &str) -> Option<Val> {
    Some(match ty {
        ValType::I32 => {
            let value = integer(text)?;
            let in_range = i128::from(i32::MIN)..=i128::from(u32::MAX);
            // The low 32 bits are the value in either reading.
            Val::I32(in_range.contains(&value).then_some(value as i32)?)
        }
        ValType::I64 => {
            let value = integer(text)?;
            let in_range = i128::from(i64::MIN)..=i128::from(u64::MAX);
            Val::I64(in_range.contains(&value).then_some(value as i64)?)
        }
        ValType::F32 => Val::F32(text.parse::<f32>().ok()?.to_bits()),
        ValType::F64 => Val::F64(text.parse::<f64>().ok()?.to_bits()),
        ValType::V128 => Val::V128(u128::from_str_radix(text.strip_prefix("0x")?, 16).ok()?),
        ValType::Ref(ty) if ty.nullable && text == "null" => Val::default_for(ValType::Ref(ty)),
        ValType::Ref(_) => return None,
    })
}

fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x") {
        // A sign here would be a second one.
        Some(hex) if !hex.starts_with(['+', '-']) => u64::from_str_radix(hex, 16).ok()?,
        Some(_) => return None,
        None if digits.starts_with(['+', '-']) => return None,
        None => digits.parse::<u64>().ok()?,
    };
    let magnitude = i128::from(magnitude);
    Some(if negative { -magnitude } else { magnitude })
}

/// A result as text.
pub fn display(value: &Val) -> String {
    match value {
        Val::I32(value) => value.to_string(),
        Val::I64(value) => value.to_string(),
        Val::F32(bits) => f32::from_bits(*bits).to_string(),
        Val::F64(bits) => f64::from_bits(*bits).to_string(),
        Val::V128(bits) => format!("{bits:#034x}"),
        Val::FuncRef(None) | Val::ExternRef(None) | Val::ExnRef(None) | Val::ContRef(None) => {
            "null".to_owned()
        }
        Val::FuncRef(Some(_)) => "funcref".to_owned(),
        Val::ExternRef(Some(_)) => "externref".to_owned(),
        Val::ExnRef(Some(_)) => "exnref".to_owned(),
        Val::ContRef(Some(_)) => "contref".to_owned(),
        other => other.ty().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(ty: ValType, text: &str) -> Option<String> {
        value(ty, text).map(|value| display(&value))
    }

    #[test]
    fn integers_have_a_sign_or_not() {
        let ok = |ty, text, shown: &str| assert_eq!(parsed(ty, text).as_deref(), Some(shown));
        ok(ValType::I32, "-1", "-1");
        ok(ValType::I32, "4294967295", "-1");
        ok(ValType::I32, "0x80000000", "-2147483648");
        ok(ValType::I64, "18446744073709551615", "-1");
        ok(ValType::I64, "-0x8000000000000000", "-9223372036854775808");
        for text in [
            "4294967296",
            "-2147483649",
            "",
            "-",
            "x",
            "1.5",
            "--1",
            "0x-1",
            "+-1",
        ] {
            assert_eq!(parsed(ValType::I32, text), None, "{text}");
        }
    }

    #[test]
    fn other_values() {
        assert_eq!(parsed(ValType::F64, "1.5e3").unwrap(), "1500");
        assert_eq!(parsed(ValType::F32, "-inf").unwrap(), "-inf");
        assert_eq!(parsed(ValType::F32, "nan").unwrap(), "NaN");
        assert_eq!(
            parsed(ValType::V128, "0x1").unwrap(),
            format!("0x{:032x}", 1)
        );
        assert_eq!(parsed(ValType::V128, "1"), None);
        assert_eq!(parsed(ValType::FUNCREF, "null").unwrap(), "null");
        assert_eq!(parsed(ValType::EXTERNREF, "7"), None);
    }

    #[test]
    fn misfits_are_said_in_a_line() {
        let ty = FuncType::new([ValType::I32, ValType::F64], []);
        let words = |texts: &[&str]| texts.iter().map(OsString::from).collect::<Vec<_>>();
        let error = parse("f", &ty, &words(&["1"])).unwrap_err();
        assert_eq!(error, "f takes (i32, f64), 1 given");
        let error = parse("f", &ty, &words(&["1", "y"])).unwrap_err();
        assert_eq!(error, "argument 2 of f must be f64, not 'y'");
    }
}
