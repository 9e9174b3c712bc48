//! The instructions of a body as text, for listings.
//!
//! The names are made from the parser's own, which are the text format's in
//! another spelling, so that no instruction is without one.

use wasmparser::{FunctionBody, Operator};

use crate::facts::error::Refused;

/// An instruction of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WasmLine {
    /// Its offset, in bytes from the start of the module.
    pub offset: u32,
    /// Its name in the text format, and those of its immediates that are
    /// numbers.
    pub text: String,
}

/// The instructions of a body, in order.
pub(super) fn read(body: &FunctionBody<'_>) -> Result<Vec<WasmLine>, Refused> {
    let mut lines = Vec::new();
    let mut reader = body.get_operators_reader()?;
    while !reader.eof() {
        let (operator, offset) = reader.read_with_offset()?;
        lines.push(WasmLine {
            offset: offset as u32,
            text: text(&operator),
        });
    }
    Ok(lines)
}

fn text(operator: &Operator<'_>) -> String {
    match operator {
        Operator::F32Const { value } => format!("f32.const {:?}", f32::from_bits(value.bits())),
        Operator::F64Const { value } => format!("f64.const {:?}", f64::from_bits(value.bits())),
        Operator::V128Const { value } => {
            format!("v128.const {:#034x}", value.i128().cast_unsigned())
        }
        _ => {
            let debug = format!("{operator:?}");
            let (variant, rest) = debug.split_once(' ').unwrap_or((&debug, ""));
            format!("{}{}", name(variant), immediates(rest))
        }
    }
}

/// `I32Load8S` to `i32.load8_s`.
fn name(variant: &str) -> String {
    let mut snake = String::with_capacity(variant.len() + 4);
    for (i, c) in variant.char_indices() {
        if c.is_ascii_uppercase() && i > 0 {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    const JOINED: [(&str, &str); 7] = [
        ("typed_select_multi", "select"),
        ("typed_select", "select"),
        ("ext_add", "extadd"),
        ("ext_mul", "extmul"),
        ("and_not", "andnot"),
        ("q15_mulr", "q15mulr"),
        ("atomic_", "atomic."),
    ];
    for (apart, joined) in JOINED {
        snake = snake.replace(apart, joined);
    }
    if let Some((front, operation)) = snake.split_once("rmw") {
        // Its width stands between points.
        snake = format!("{front}rmw{}", operation.replacen('_', ".", 1));
    }
    for pseudo in ["_p_min", "_p_max"] {
        snake = snake.replace(pseudo, &pseudo.replacen("_p_", "_p", 1));
    }
    const PREFIXES: [&str; 18] = [
        "i32", "i64", "f32", "f64", "v128", "i8x16", "i16x8", "i32x4", "i64x2", "f32x4", "f64x2",
        "local", "global", "table", "memory", "elem", "data", "ref",
    ];
    match snake.split_once('_') {
        Some((prefix, rest)) if PREFIXES.contains(&prefix) => format!("{prefix}.{rest}"),
        _ => snake,
    }
}

/// The numbers among the fields of a variant's debug text; of a memory
/// argument what is not 0.
fn immediates(fields: &str) -> String {
    let is_access = fields.contains("memarg");
    let mut text = String::new();
    let mut words = fields.split([' ', ',', '{', '}']).filter(|w| !w.is_empty());
    let mut field = "";
    for word in words.by_ref() {
        if let Some(named) = word.strip_suffix(':') {
            field = named;
        } else if word.parse::<i64>().is_ok() {
            match field {
                "align" | "max_align" => {}
                "offset" | "memory" if is_access => {
                    if word != "0" {
                        text.push_str(&format!(" {field}={word}"));
                    }
                }
                _ => text.push_str(&format!(" {word}")),
            }
        } else if word.contains('(') {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_text_format() {
        let pairs = [
            ("I32Load8S", "i32.load8_s"),
            ("LocalGet", "local.get"),
            ("BrTable", "br_table"),
            ("I8x16ExtractLaneS", "i8x16.extract_lane_s"),
            ("I16x8Q15MulrSatS", "i16x8.q15mulr_sat_s"),
            ("I16x8ExtAddPairwiseI8x16S", "i16x8.extadd_pairwise_i8x16_s"),
            ("F32x4PMin", "f32x4.pmin"),
            ("V128AndNot", "v128.andnot"),
            ("I32AtomicRmw8AddU", "i32.atomic.rmw8.add_u"),
            ("MemoryAtomicWait32", "memory.atomic.wait32"),
            ("TypedSelect", "select"),
            ("RefAsNonNull", "ref.as_non_null"),
            ("ReturnCallRef", "return_call_ref"),
            ("CatchAll", "catch_all"),
        ];
        for (variant, expected) in pairs {
            assert_eq!(name(variant), expected);
        }
    }

    #[test]
    fn immediates_are_numbers() {
        let access = "{ memarg: MemArg { align: 2, max_align: 2, offset: 8, memory: 0 } }";
        assert_eq!(immediates(access), " offset=8");
        assert_eq!(immediates("{ local_index: 3 }"), " 3");
        assert_eq!(immediates("{ type_index: 1, table_index: 0 }"), " 1 0");
        assert_eq!(immediates("{ blockty: Empty }"), "");
        assert_eq!(immediates("{ relative_depth: 1 }"), " 1");
        assert_eq!(immediates(""), "");
    }
}
