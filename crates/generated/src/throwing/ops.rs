//! Instructions that compute: what each takes, gives and is. Floats are only moved, and changed bit
//! by bit, so that no result depends on which NaN a processor chooses.

use wasm_encoder::Instruction;

use super::program::Ty;

/// What the lanes of 64 bits of two vectors come to.
fn lanes(a: u128, b: u128, of: impl Fn(u64, u64) -> u64) -> u128 {
    let high = of((a >> 64) as u64, (b >> 64) as u64);
    u128::from(high) << 64 | u128::from(of(a as u64, b as u64))
}

/// The same of 32 bits.
fn quarters(a: u128, b: u128, of: impl Fn(u32, u32) -> u32) -> u128 {
    let lane = |nth: u32| u128::from(of((a >> (32 * nth)) as u32, (b >> (32 * nth)) as u32));
    (0..4).fold(0, |sum, nth| sum | lane(nth) << (32 * nth))
}

fn word(value: u32) -> u128 {
    u128::from(value)
}

fn long(value: u64) -> u128 {
    u128::from(value)
}

/// One list for what an instruction is and what it does; nothing comes of what traps.
macro_rules! ops {
    ($($op:ident ($($param:ident),*) $result:ident, $instruction:expr,
       |$($x:ident),*| $value:expr;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Op { $($op),* }

        impl Op {
            pub const ALL: &'static [Op] = &[$(Op::$op),*];

            pub fn params(self) -> &'static [Ty] {
                match self { $(Op::$op => &[$(Ty::$param),*]),* }
            }

            pub fn result(self) -> Ty {
                match self { $(Op::$op => Ty::$result),* }
            }

            pub fn instruction(self) -> Instruction<'static> {
                use Instruction::*;
                match self { $(Op::$op => $instruction),* }
            }

            /// What it makes of operands; nothing where it divides by zero.
            pub fn apply(self, operands: &[u128]) -> Option<u128> {
                match self {
                    $(Op::$op => match operands {
                        [$($x),*] => { $(let $x = *$x;)* $value }
                        _ => unreachable!("{self:?} of {operands:?}"),
                    }),*
                }
            }
        }
    };
}

ops! {
    I32Sum(I32, I32) I32, I32Add, |a, b| Some(word((a as u32).wrapping_add(b as u32)));
    I32Less(I32, I32) I32, I32Sub, |a, b| Some(word((a as u32).wrapping_sub(b as u32)));
    I32Times(I32, I32) I32, I32Mul, |a, b| Some(word((a as u32).wrapping_mul(b as u32)));
    I32Both(I32, I32) I32, I32And, |a, b| Some(a & b);
    I32IsZero(I32) I32, I32Eqz, |a| Some(u128::from(a == 0));
    I32Below(I32, I32) I32, I32LtU, |a, b| Some(u128::from(a < b));
    I32Divided(I32, I32) I32, I32DivU, |a, b| (a as u32).checked_div(b as u32).map(word);
    I64Sum(I64, I64) I64, I64Add, |a, b| Some(long((a as u64).wrapping_add(b as u64)));
    I64Times(I64, I64) I64, I64Mul, |a, b| Some(long((a as u64).wrapping_mul(b as u64)));
    I64Differs(I64, I64) I64, I64Xor, |a, b| Some(a ^ b);
    I64Turned(I64, I64) I64, I64Rotl, |a, b| Some(long((a as u64).rotate_left(b as u32 % 64)));
    I64Below(I64, I64) I32, I64LtU, |a, b| Some(u128::from(a < b));
    I64Remainder(I64, I64) I64, I64RemU, |a, b| (a as u64).checked_rem(b as u64).map(long);
    Wrapped(I64) I32, I32WrapI64, |a| Some(word(a as u32));
    Extended(I32) I64, I64ExtendI32S, |a| Some(long((a as i32 as i64).cast_unsigned()));
    F32Bits(F32) I32, I32ReinterpretF32, |a| Some(a);
    F32Of(I32) F32, F32ReinterpretI32, |a| Some(a);
    F64Bits(F64) I64, I64ReinterpretF64, |a| Some(a);
    F64Of(I64) F64, F64ReinterpretI64, |a| Some(a);
    F32Negated(F32) F32, F32Neg, |a| Some(a ^ 1 << 31);
    F64Negated(F64) F64, F64Neg, |a| Some(a ^ 1 << 63);
    F64Signed(F64, F64) F64, F64Copysign, |a, b| Some(a & !(1 << 63) | b & 1 << 63);
    F32Signed(F32, F32) F32, F32Copysign, |a, b| Some(a & !(1 << 31) | b & 1 << 31);
    Splat(I64) V128, I64x2Splat, |a| Some(a << 64 | a);
    Lane0(V128) I64, I64x2ExtractLane(0), |a| Some(long(a as u64));
    Lane1(V128) I64, I64x2ExtractLane(1), |a| Some(a >> 64);
    Lane3(V128) I32, I32x4ExtractLane(3), |a| Some(a >> 96);
    FloatLane1(V128) F64, F64x2ExtractLane(1), |a| Some(a >> 64);
    Replaced(V128, I64) V128, I64x2ReplaceLane(1), |a, b| Some(long(a as u64) | b << 64);
    FloatReplaced(V128, F32) V128, F32x4ReplaceLane(2),
        |a, b| Some(a & !(0xffff_ffff << 64) | b << 64);
    Vectors(V128, V128) V128, V128Xor, |a, b| Some(a ^ b);
    Longs(V128, V128) V128, I64x2Add, |a, b| Some(lanes(a, b, u64::wrapping_add));
    Words(V128, V128) V128, I32x4Sub, |a, b| Some(quarters(a, b, u32::wrapping_sub));
    Products(V128, V128) V128, I32x4Mul, |a, b| Some(quarters(a, b, u32::wrapping_mul));
    Shifted(V128, I32) V128, I64x2ShrS, |a, by| Some(lanes(a, a, |lane, _| {
        (lane.cast_signed() >> (by % 64)).cast_unsigned()
    }));
    Any(V128) I32, V128AnyTrue, |a| Some(u128::from(a != 0));
}
