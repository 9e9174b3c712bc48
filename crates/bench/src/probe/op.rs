//! The instructions that touch a memory at one address: what each is called,
//! how many bytes it touches, how it is encoded, and what it gives or writes.
//!
//! Every load is wrapped in a function `(index: i32) -> bits` and every store
//! in one `(index: i32, value: i64)`. Floats cross as the bits of an integer
//! and vectors as two, because not every host can pass them unharmed.

use fathom_record::protocol::WireValue;
use wasm_encoder::{Instruction, MemArg, MemArgTarget, ValType};

/// Lanes that a `load…_lane` does not load keep these bytes.
const LANE_BACKGROUND: u128 = 0x4f4e_4d4c_4b4a_4948_4746_4544_4342_4140;

/// An access at `offset` of the only memory; alignment is a hint and not given.
pub(super) fn memarg(offset: u64) -> MemArg {
    MemArg {
        offset,
        align: 0,
        target: MemArgTarget::Memory(0),
        ordering: None,
    }
}

/// What an access does with the bytes it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Integer or float load, to 4 or 8 bytes; the sign bit spread if `signed`.
    Load { bits: u8, signed: bool },
    /// 16 bytes.
    LoadVector,
    /// 8 bytes; each lane of `lane` bytes becomes one of twice that.
    LoadExtend { lane: u8, signed: bool },
    /// One lane's bytes, in all lanes.
    LoadSplat,
    /// One lane's bytes in lane 0, zeros elsewhere.
    LoadZero,
    /// One lane's bytes in lane `lane` of [`LANE_BACKGROUND`].
    LoadLane { lane: u8 },
    /// The low bytes of an `i32`, `i64`, `f32` or `f64`.
    Store,
    /// 16 bytes.
    StoreVector,
    /// The bytes of lane `lane`.
    StoreLane { lane: u8 },
    /// Atomic load, to 4 or 8 bytes.
    AtomicLoad { bits: u8 },
    /// Atomic store of the low bytes.
    AtomicStore,
    /// Atomic exchange: stores the low bytes, gives those that were there.
    Exchange { bits: u8 },
}

/// One instruction.
#[derive(Clone, Copy)]
pub(super) struct Op {
    /// Its name in the text format; lane instructions end in the lane.
    pub name: &'static str,
    /// Bytes it touches.
    pub width: u8,
    /// What it does with them.
    pub kind: Kind,
    encode: fn(MemArg) -> Instruction<'static>,
}

/// Which integer or float type a scalar access has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scalar {
    I32,
    I64,
    F32,
    F64,
}

impl Op {
    /// Whether it writes.
    pub fn is_store(&self) -> bool {
        matches!(
            self.kind,
            Kind::Store
                | Kind::StoreVector
                | Kind::StoreLane { .. }
                | Kind::AtomicStore
                | Kind::Exchange { .. }
        )
    }

    /// Whether an address that is no multiple of the width traps.
    pub fn is_atomic(&self) -> bool {
        matches!(
            self.kind,
            Kind::AtomicLoad { .. } | Kind::AtomicStore | Kind::Exchange { .. }
        )
    }

    /// Atomic instructions must give their alignment.
    fn memarg(&self, offset: u64) -> MemArg {
        match self.is_atomic() {
            true => MemArg {
                align: self.width.trailing_zeros(),
                ..memarg(offset)
            },
            false => memarg(offset),
        }
    }

    /// Whether it needs vectors.
    pub fn is_vector(&self) -> bool {
        self.name.starts_with("v128")
    }

    /// Locals of a function that loads: where its vector is taken apart.
    pub fn locals(&self) -> &'static [ValType] {
        match self.is_vector() {
            true => &[ValType::V128],
            false => &[],
        }
    }

    fn scalar(&self) -> Scalar {
        match &self.name[..3] {
            "i32" => Scalar::I32,
            "i64" => Scalar::I64,
            "f32" => Scalar::F32,
            _ => Scalar::F64,
        }
    }

    /// What the wrapping function of a load returns.
    pub fn result_types(&self) -> Vec<ValType> {
        match self.kind {
            Kind::Load { bits: 32, .. }
            | Kind::AtomicLoad { bits: 32 }
            | Kind::Exchange { bits: 32 } => vec![ValType::I32],
            Kind::Load { .. } | Kind::AtomicLoad { .. } | Kind::Exchange { .. } => {
                vec![ValType::I64]
            }
            _ if self.is_store() => vec![],
            _ => vec![ValType::I64, ValType::I64],
        }
    }

    /// Appends the access; `push_index` appends what leaves the index on the
    /// stack. A load leaves its bits, spread over [`Op::result_types`] with the
    /// help of the vector local `vector`; a store takes the `i64` local `value`.
    pub fn emit(
        &self,
        code: &mut Vec<Instruction<'static>>,
        push_index: Instruction<'static>,
        offset: u64,
        value: u32,
        vector: u32,
    ) {
        code.push(push_index);
        if matches!(self.kind, Kind::LoadLane { .. }) {
            code.push(Instruction::V128Const(LANE_BACKGROUND.cast_signed()));
        }
        if self.is_store() {
            self.emit_operand(code, value);
        }
        code.push((self.encode)(self.memarg(offset)));
        if self.is_vector() && !self.is_store() {
            code.extend([
                Instruction::LocalTee(vector),
                Instruction::I64x2ExtractLane(0),
                Instruction::LocalGet(vector),
                Instruction::I64x2ExtractLane(1),
            ]);
        } else if !self.is_store() {
            match self.scalar() {
                Scalar::F32 => code.push(Instruction::I32ReinterpretF32),
                Scalar::F64 => code.push(Instruction::I64ReinterpretF64),
                Scalar::I32 | Scalar::I64 => {}
            }
        }
    }

    /// What a store stores, made of the `i64` local `value`.
    fn emit_operand(&self, code: &mut Vec<Instruction<'static>>, value: u32) {
        code.push(Instruction::LocalGet(value));
        if self.is_vector() {
            code.extend([
                Instruction::I64x2Splat,
                Instruction::LocalGet(value),
                Instruction::I64Const(i64::from(HIGH_ROTATION)),
                Instruction::I64Rotl,
                Instruction::I64x2ReplaceLane(1),
            ]);
            return;
        }
        match self.scalar() {
            Scalar::I32 => code.push(Instruction::I32WrapI64),
            Scalar::I64 => {}
            Scalar::F32 => code.extend([Instruction::I32WrapI64, Instruction::F32ReinterpretI32]),
            Scalar::F64 => code.push(Instruction::F64ReinterpretI64),
        }
    }

    /// What a load makes of the bytes it touches.
    pub fn loaded(&self, bytes: &[u8]) -> Vec<WireValue> {
        let word = little(bytes);
        let width = u32::from(self.width);
        let vector = match self.kind {
            Kind::Load { bits, signed } => {
                let wide = if signed {
                    spread(word, width * 8)
                } else {
                    word
                };
                return vec![if bits == 32 {
                    WireValue::I32(wide as u32)
                } else {
                    WireValue::I64(wide as u64)
                }];
            }
            Kind::AtomicLoad { bits: 32 } | Kind::Exchange { bits: 32 } => {
                return vec![WireValue::I32(word as u32)];
            }
            Kind::AtomicLoad { .. } | Kind::Exchange { .. } => {
                return vec![WireValue::I64(word as u64)];
            }
            Kind::LoadVector | Kind::LoadZero => word,
            Kind::LoadExtend { lane, signed } => extended(bytes, usize::from(lane), signed),
            Kind::LoadSplat => {
                (0..16 / width).fold(0, |all, lane| all | word << (lane * width * 8))
            }
            Kind::LoadLane { lane } => {
                let shift = u32::from(lane) * width * 8;
                let mask = ((1u128 << (width * 8)) - 1) << shift;
                LANE_BACKGROUND & !mask | word << shift
            }
            Kind::Store | Kind::StoreVector | Kind::StoreLane { .. } | Kind::AtomicStore => {
                return vec![];
            }
        };
        vec![
            WireValue::I64(vector as u64),
            WireValue::I64((vector >> 64) as u64),
        ]
    }

    /// The bytes a store writes when it is given `value`.
    pub fn stored(&self, value: u64) -> Vec<u8> {
        let vector = u128::from(value) | u128::from(value.rotate_left(HIGH_ROTATION)) << 64;
        let first = match self.kind {
            Kind::StoreLane { lane } => usize::from(lane) * usize::from(self.width),
            _ => 0,
        };
        vector.to_le_bytes()[first..][..usize::from(self.width)].to_vec()
    }
}

/// A vector to store is `value` and, above, `value` rotated by this many bits.
const HIGH_ROTATION: u32 = 24;

fn little(bytes: &[u8]) -> u128 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, byte| word << 8 | u128::from(*byte))
}

/// The lowest `bits` bits with their sign spread over the rest.
fn spread(word: u128, bits: u32) -> u128 {
    let shift = 128 - bits;
    ((word << shift).cast_signed() >> shift).cast_unsigned()
}

fn extended(bytes: &[u8], lane_bytes: usize, signed: bool) -> u128 {
    let bits = lane_bytes as u32 * 8;
    let lanes = bytes.chunks(lane_bytes).map(little);
    lanes.enumerate().fold(0, |all, (lane, word)| {
        let wide = if signed { spread(word, bits) } else { word };
        let mask = (1u128 << (2 * bits)) - 1;
        all | (wide & mask) << (lane as u32 * 2 * bits)
    })
}

macro_rules! ops {
    ($($name:literal $width:literal $kind:expr, $instruction:expr;)+) => {
        &[$(Op { name: $name, width: $width, kind: $kind, encode: $instruction }),+]
    };
}

const fn load(bits: u8, signed: bool) -> Kind {
    Kind::Load { bits, signed }
}

const fn extend(lane: u8, signed: bool) -> Kind {
    Kind::LoadExtend { lane, signed }
}

/// Every load and store of WebAssembly 2.0, lane instructions with their first
/// and last lane (spec §2.4.3, §2.4.7).
pub(super) const ALL: &[Op] = ops! {
    "i32.load" 4 load(32, false), Instruction::I32Load;
    "i32.load8_s" 1 load(32, true), Instruction::I32Load8S;
    "i32.load8_u" 1 load(32, false), Instruction::I32Load8U;
    "i32.load16_s" 2 load(32, true), Instruction::I32Load16S;
    "i32.load16_u" 2 load(32, false), Instruction::I32Load16U;
    "i64.load" 8 load(64, false), Instruction::I64Load;
    "i64.load8_s" 1 load(64, true), Instruction::I64Load8S;
    "i64.load8_u" 1 load(64, false), Instruction::I64Load8U;
    "i64.load16_s" 2 load(64, true), Instruction::I64Load16S;
    "i64.load16_u" 2 load(64, false), Instruction::I64Load16U;
    "i64.load32_s" 4 load(64, true), Instruction::I64Load32S;
    "i64.load32_u" 4 load(64, false), Instruction::I64Load32U;
    "f32.load" 4 load(32, false), Instruction::F32Load;
    "f64.load" 8 load(64, false), Instruction::F64Load;
    "v128.load" 16 Kind::LoadVector, Instruction::V128Load;
    "v128.load8x8_s" 8 extend(1, true), Instruction::V128Load8x8S;
    "v128.load8x8_u" 8 extend(1, false), Instruction::V128Load8x8U;
    "v128.load16x4_s" 8 extend(2, true), Instruction::V128Load16x4S;
    "v128.load16x4_u" 8 extend(2, false), Instruction::V128Load16x4U;
    "v128.load32x2_s" 8 extend(4, true), Instruction::V128Load32x2S;
    "v128.load32x2_u" 8 extend(4, false), Instruction::V128Load32x2U;
    "v128.load8_splat" 1 Kind::LoadSplat, Instruction::V128Load8Splat;
    "v128.load16_splat" 2 Kind::LoadSplat, Instruction::V128Load16Splat;
    "v128.load32_splat" 4 Kind::LoadSplat, Instruction::V128Load32Splat;
    "v128.load64_splat" 8 Kind::LoadSplat, Instruction::V128Load64Splat;
    "v128.load32_zero" 4 Kind::LoadZero, Instruction::V128Load32Zero;
    "v128.load64_zero" 8 Kind::LoadZero, Instruction::V128Load64Zero;
    "v128.load8_lane 0" 1 Kind::LoadLane { lane: 0 }, |memarg| Instruction::V128Load8Lane { memarg, lane: 0 };
    "v128.load8_lane 15" 1 Kind::LoadLane { lane: 15 }, |memarg| Instruction::V128Load8Lane { memarg, lane: 15 };
    "v128.load16_lane 0" 2 Kind::LoadLane { lane: 0 }, |memarg| Instruction::V128Load16Lane { memarg, lane: 0 };
    "v128.load16_lane 7" 2 Kind::LoadLane { lane: 7 }, |memarg| Instruction::V128Load16Lane { memarg, lane: 7 };
    "v128.load32_lane 0" 4 Kind::LoadLane { lane: 0 }, |memarg| Instruction::V128Load32Lane { memarg, lane: 0 };
    "v128.load32_lane 3" 4 Kind::LoadLane { lane: 3 }, |memarg| Instruction::V128Load32Lane { memarg, lane: 3 };
    "v128.load64_lane 0" 8 Kind::LoadLane { lane: 0 }, |memarg| Instruction::V128Load64Lane { memarg, lane: 0 };
    "v128.load64_lane 1" 8 Kind::LoadLane { lane: 1 }, |memarg| Instruction::V128Load64Lane { memarg, lane: 1 };
    "i32.store" 4 Kind::Store, Instruction::I32Store;
    "i32.store8" 1 Kind::Store, Instruction::I32Store8;
    "i32.store16" 2 Kind::Store, Instruction::I32Store16;
    "i64.store" 8 Kind::Store, Instruction::I64Store;
    "i64.store8" 1 Kind::Store, Instruction::I64Store8;
    "i64.store16" 2 Kind::Store, Instruction::I64Store16;
    "i64.store32" 4 Kind::Store, Instruction::I64Store32;
    "f32.store" 4 Kind::Store, Instruction::F32Store;
    "f64.store" 8 Kind::Store, Instruction::F64Store;
    "v128.store" 16 Kind::StoreVector, Instruction::V128Store;
    "v128.store8_lane 0" 1 Kind::StoreLane { lane: 0 }, |memarg| Instruction::V128Store8Lane { memarg, lane: 0 };
    "v128.store8_lane 15" 1 Kind::StoreLane { lane: 15 }, |memarg| Instruction::V128Store8Lane { memarg, lane: 15 };
    "v128.store16_lane 0" 2 Kind::StoreLane { lane: 0 }, |memarg| Instruction::V128Store16Lane { memarg, lane: 0 };
    "v128.store16_lane 7" 2 Kind::StoreLane { lane: 7 }, |memarg| Instruction::V128Store16Lane { memarg, lane: 7 };
    "v128.store32_lane 0" 4 Kind::StoreLane { lane: 0 }, |memarg| Instruction::V128Store32Lane { memarg, lane: 0 };
    "v128.store32_lane 3" 4 Kind::StoreLane { lane: 3 }, |memarg| Instruction::V128Store32Lane { memarg, lane: 3 };
    "v128.store64_lane 0" 8 Kind::StoreLane { lane: 0 }, |memarg| Instruction::V128Store64Lane { memarg, lane: 0 };
    "v128.store64_lane 1" 8 Kind::StoreLane { lane: 1 }, |memarg| Instruction::V128Store64Lane { memarg, lane: 1 };
};

const fn atomic_load(bits: u8) -> Kind {
    Kind::AtomicLoad { bits }
}

const fn exchange(bits: u8) -> Kind {
    Kind::Exchange { bits }
}

/// Atomic loads, stores and exchanges of every width (threads proposal).
pub(super) const ATOMIC: &[Op] = ops! {
    "i32.atomic.load" 4 atomic_load(32), Instruction::I32AtomicLoad;
    "i32.atomic.load8_u" 1 atomic_load(32), Instruction::I32AtomicLoad8U;
    "i32.atomic.load16_u" 2 atomic_load(32), Instruction::I32AtomicLoad16U;
    "i64.atomic.load" 8 atomic_load(64), Instruction::I64AtomicLoad;
    "i64.atomic.load8_u" 1 atomic_load(64), Instruction::I64AtomicLoad8U;
    "i64.atomic.load16_u" 2 atomic_load(64), Instruction::I64AtomicLoad16U;
    "i64.atomic.load32_u" 4 atomic_load(64), Instruction::I64AtomicLoad32U;
    "i32.atomic.store" 4 Kind::AtomicStore, Instruction::I32AtomicStore;
    "i32.atomic.store8" 1 Kind::AtomicStore, Instruction::I32AtomicStore8;
    "i32.atomic.store16" 2 Kind::AtomicStore, Instruction::I32AtomicStore16;
    "i64.atomic.store" 8 Kind::AtomicStore, Instruction::I64AtomicStore;
    "i64.atomic.store8" 1 Kind::AtomicStore, Instruction::I64AtomicStore8;
    "i64.atomic.store16" 2 Kind::AtomicStore, Instruction::I64AtomicStore16;
    "i64.atomic.store32" 4 Kind::AtomicStore, Instruction::I64AtomicStore32;
    "i32.atomic.rmw.xchg" 4 exchange(32), Instruction::I32AtomicRmwXchg;
    "i32.atomic.rmw8.xchg_u" 1 exchange(32), Instruction::I32AtomicRmw8XchgU;
    "i32.atomic.rmw16.xchg_u" 2 exchange(32), Instruction::I32AtomicRmw16XchgU;
    "i64.atomic.rmw.xchg" 8 exchange(64), Instruction::I64AtomicRmwXchg;
    "i64.atomic.rmw8.xchg_u" 1 exchange(64), Instruction::I64AtomicRmw8XchgU;
    "i64.atomic.rmw16.xchg_u" 2 exchange(64), Instruction::I64AtomicRmw16XchgU;
    "i64.atomic.rmw32.xchg_u" 4 exchange(64), Instruction::I64AtomicRmw32XchgU;
};

/// The access used to look at one byte: zero-extended, 1 wide.
pub(super) fn peek() -> &'static Op {
    &ALL[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(name: &str) -> &'static Op {
        ALL.iter().find(|op| op.name == name).unwrap()
    }

    #[test]
    fn the_peek_is_what_it_says() {
        assert_eq!(peek().name, "i32.load8_u");
    }

    #[test]
    fn names_and_widths_agree() {
        for op in ALL {
            let digits: String = op
                .name
                .split_once('.')
                .unwrap()
                .1
                .chars()
                .skip_while(|c| !c.is_ascii_digit() && *c != ' ')
                .take_while(char::is_ascii_digit)
                .collect();
            let bits = digits.parse().unwrap_or_else(|_| match &op.name[..4] {
                "v128" => 128,
                "i32." | "f32." => 32,
                _ => 64,
            });
            let lanes = if op.name.contains('x') { 64 / bits } else { 1 };
            assert_eq!(u32::from(op.width) * 8, bits * lanes, "{}", op.name);
        }
    }

    #[test]
    fn loads_mean_what_the_specification_says() {
        let bytes = [0x80, 0xff, 1, 2, 3, 4, 5, 0x86];
        let lo = |name: &str, width| op(name).loaded(&bytes[..width])[0];
        assert_eq!(lo("i32.load8_s", 1), WireValue::I32(0xffff_ff80));
        assert_eq!(lo("i32.load16_u", 2), WireValue::I32(0xff80));
        assert_eq!(lo("i64.load8_s", 1), WireValue::I64(0xffff_ffff_ffff_ff80));
        assert_eq!(lo("f64.load", 8), WireValue::I64(0x8605_0403_0201_ff80));
        assert_eq!(
            lo("v128.load8x8_s", 8),
            WireValue::I64(0x0002_0001_ffff_ff80)
        );
        assert_eq!(
            lo("v128.load8x8_u", 8),
            WireValue::I64(0x0002_0001_00ff_0080)
        );
        assert_eq!(
            lo("v128.load16_splat", 2),
            WireValue::I64(0xff80_ff80_ff80_ff80)
        );
        assert_eq!(lo("v128.load32_zero", 4), WireValue::I64(0x0201_ff80));
        let lane = op("v128.load8_lane 15").loaded(&bytes[..1]);
        assert_eq!(lane[0], WireValue::I64(LANE_BACKGROUND as u64));
        assert_eq!(lane[1], WireValue::I64(0x804e_4d4c_4b4a_4948));
        let last = op("v128.load32x2_s").loaded(&bytes)[1];
        assert_eq!(last, WireValue::I64(0xffff_ffff_8605_0403));
    }

    #[test]
    fn stores_write_the_low_bytes_or_the_lane() {
        let value = 0x0807_0605_0403_0201;
        assert_eq!(op("i64.store16").stored(value), [1, 2]);
        assert_eq!(op("v128.store8_lane 15").stored(value), [5]);
        assert_eq!(
            op("v128.store").stored(value),
            [1, 2, 3, 4, 5, 6, 7, 8, 6, 7, 8, 1, 2, 3, 4, 5]
        );
    }
}
