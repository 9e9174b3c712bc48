//! Values at the edges: where carries, signs, roundings and conversions turn.

use crate::generate::Stream;

/// `f32` by bits: zeros, ones, denormals, the largest, infinities, NaNs quiet and
/// signalling, and what lies beside 2^31, 2^32, 2^63 and 2^64.
const F32: [u32; 30] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_0000,
    0x7f80_0001,
    0xffbf_ffff,
    0x7fff_ffff,
    0x3f00_0000,
    0xbf00_0000,
    0x3fc0_0000,
    0x4b00_0000,
    0x4b7f_ffff,
    0x4eff_ffff,
    0x4f00_0000,
    0xcf00_0000,
    0xcf00_0001,
    0x4f7f_ffff,
    0x4f80_0000,
    0x5f00_0000,
    0x5f80_0000,
];

/// The same of `f64`, with what rounds to the edges of `f32` and `i32`.
const F64: [u64; 38] = [
    0,
    1 << 63,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    1,
    0x8000_0000_0000_0001,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0xfff8_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0xfff7_ffff_ffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x3fe0_0000_0000_0000,
    0xbfe0_0000_0000_0000,
    0x3ff8_0000_0000_0000,
    0x3fdf_ffff_ffff_ffff,
    0x4330_0000_0000_0000,
    0x433f_ffff_ffff_ffff,
    0x41df_ffff_ffc0_0000,
    0x41df_ffff_ffff_ffff,
    0x41e0_0000_0000_0000,
    0xc1e0_0000_0000_0000,
    0xc1e0_0000_001f_ffff,
    0xc1e0_0000_0020_0000,
    0x41ef_ffff_ffe0_0000,
    0x41ef_ffff_ffff_ffff,
    0x41f0_0000_0000_0000,
    0x43df_ffff_ffff_ffff,
    0x43e0_0000_0000_0000,
    0xc3e0_0000_0000_0000,
    0x43ef_ffff_ffff_ffff,
    0x47ef_ffff_f000_0000,
    0x3690_0000_0000_0001,
];

/// Numbers that are edges of the memories, of 65,536 bytes at first, and of tables.
const PLACES: [u64; 12] = [
    0, 1, 8, 10, 11, 65_520, 65_528, 65_532, 65_535, 65_536, 131_072, 196_608,
];

/// Bits of a value of a letter's type, small or at an edge more often than not.
pub fn edge(stream: &mut Stream, letter: char) -> u128 {
    match letter {
        'i' => u128::from(integer(stream) as u32),
        'I' => u128::from(integer(stream)),
        'f' | 'n' => u128::from(float32(stream)),
        'F' | 'N' => u128::from(float64(stream)),
        'r' => (stream.below(2) as u128) & 1,
        _ => vector(stream),
    }
}

fn integer(stream: &mut Stream) -> u64 {
    let near = |stream: &mut Stream| (stream.below(5) as u64).wrapping_sub(2);
    match stream.below(8) {
        0..=2 => (1u64 << stream.below(64)).wrapping_add(near(stream)),
        3 => (1u64 << stream.below(64))
            .wrapping_neg()
            .wrapping_add(near(stream)),
        4 => PLACES[stream.below(PLACES.len())].wrapping_add(near(stream)),
        5 => near(stream),
        // A pattern that repeats: what shuffles, masks and byte orders show.
        6 => (stream.next_u64() & 0xff) * 0x0101_0101_0101_0101,
        _ => stream.next_u64(),
    }
}

fn float32(stream: &mut Stream) -> u32 {
    match stream.below(8) {
        0 => stream.next_u64() as u32,
        1 => (integer(stream) as i64 as f32).to_bits(),
        _ => F32[stream.below(F32.len())],
    }
}

fn float64(stream: &mut Stream) -> u64 {
    match stream.below(8) {
        0 => stream.next_u64(),
        1 => (integer(stream) as i64 as f64).to_bits(),
        2 => f64::from(f32::from_bits(float32(stream))).to_bits(),
        _ => F64[stream.below(F64.len())],
    }
}

fn vector(stream: &mut Stream) -> u128 {
    let lanes = |stream: &mut Stream, bits: u32, of: fn(&mut Stream) -> u64| {
        let mask = u128::MAX >> (128 - bits);
        (0..128 / bits).fold(0, |all, _| {
            all << (bits - 1) << 1 | u128::from(of(stream)) & mask
        })
    };
    match stream.below(6) {
        0 => lanes(stream, 8, integer),
        1 => lanes(stream, 16, integer),
        2 => lanes(stream, 32, integer),
        3 => lanes(stream, 64, integer),
        4 => lanes(stream, 32, |stream| u64::from(float32(stream))),
        _ => lanes(stream, 64, float64),
    }
}
