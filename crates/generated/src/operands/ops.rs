//! The instructions that functions are made of.

use super::Ty;

pub(super) const INTEGER: [&str; 15] = [
    "add", "sub", "mul", "and", "or", "xor", "shl", "shr_s", "shr_u", "rotl", "rotr", "div_s",
    "div_u", "rem_s", "rem_u",
];
pub(super) const FLOAT: [&str; 7] = ["add", "sub", "mul", "div", "min", "max", "copysign"];
pub(super) const INTEGER_COMPARED: [&str; 10] = [
    "eq", "ne", "lt_s", "lt_u", "gt_s", "gt_u", "le_s", "le_u", "ge_s", "ge_u",
];
pub(super) const FLOAT_COMPARED: [&str; 6] = ["eq", "ne", "lt", "gt", "le", "ge"];
pub(super) const FLOAT_UNARY: [&str; 7] =
    ["abs", "neg", "ceil", "floor", "trunc", "nearest", "sqrt"];

/// What makes one type of another: from, to, the instruction.
pub(super) const CONVERSIONS: [(Ty, Ty, &str); 35] = {
    use Ty::{F32, F64, I32, I64};
    [
        (I32, I32, "i32.clz"),
        (I32, I32, "i32.ctz"),
        (I32, I32, "i32.popcnt"),
        (I32, I32, "i32.eqz"),
        (I32, I32, "i32.extend8_s"),
        (I32, I32, "i32.extend16_s"),
        (I64, I64, "i64.clz"),
        (I64, I64, "i64.ctz"),
        (I64, I64, "i64.popcnt"),
        (I64, I32, "i64.eqz"),
        (I64, I64, "i64.extend8_s"),
        (I64, I64, "i64.extend16_s"),
        (I64, I64, "i64.extend32_s"),
        (I64, I32, "i32.wrap_i64"),
        (I32, I64, "i64.extend_i32_s"),
        (I32, I64, "i64.extend_i32_u"),
        (I32, F32, "f32.convert_i32_s"),
        (I32, F32, "f32.convert_i32_u"),
        (I64, F32, "f32.convert_i64_s"),
        (I64, F32, "f32.convert_i64_u"),
        (I32, F64, "f64.convert_i32_u"),
        (I64, F64, "f64.convert_i64_s"),
        (I64, F64, "f64.convert_i64_u"),
        (F32, F64, "f64.promote_f32"),
        (F64, F32, "f32.demote_f64"),
        (F32, I32, "i32.trunc_sat_f32_u"),
        (F32, I64, "i64.trunc_sat_f32_u"),
        (F64, I32, "i32.trunc_sat_f64_s"),
        (F64, I64, "i64.trunc_sat_f64_u"),
        (F64, I32, "i32.trunc_f64_s"),
        (F32, I64, "i64.trunc_f32_s"),
        (F32, I32, "i32.reinterpret_f32"),
        (F64, I64, "i64.reinterpret_f64"),
        (I32, F32, "f32.reinterpret_i32"),
        (I64, F64, "f64.reinterpret_i64"),
    ]
};

/// Accesses: type, width in bits as a suffix of the instruction.
pub(super) const LOADS: [(Ty, &str); 14] = {
    use Ty::{F32, F64, I32, I64};
    [
        (I32, "load"),
        (I32, "load8_s"),
        (I32, "load8_u"),
        (I32, "load16_s"),
        (I32, "load16_u"),
        (I64, "load"),
        (I64, "load8_s"),
        (I64, "load8_u"),
        (I64, "load16_s"),
        (I64, "load16_u"),
        (I64, "load32_s"),
        (I64, "load32_u"),
        (F32, "load"),
        (F64, "load"),
    ]
};
pub(super) const STORES: [(Ty, &str); 9] = {
    use Ty::{F32, F64, I32, I64};
    [
        (I32, "store"),
        (I32, "store8"),
        (I32, "store16"),
        (I64, "store"),
        (I64, "store8"),
        (I64, "store16"),
        (I64, "store32"),
        (F32, "store"),
        (F64, "store"),
    ]
};
pub(super) const OFFSETS: [&str; 6] = ["0", "3", "65532", "70000", "0x7ffffffc", "0xffffffff"];
pub(super) const LARGE_OFFSETS: [&str; 3] =
    ["0x100000000", "0x7fffffffffffffff", "0xfffffffffffffff8"];
