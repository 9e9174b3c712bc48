//! Chains of operators, drawn at random: what rewriting makes of them differs by a
//! hundred, and no list says of which.
//!
//! A chain is a period that is repeated: a walk from a value of one type back to that
//! type, each step an operator that takes what is there. Its other operands are constants,
//! or parameters.

use crate::encode::{get, set, unsigned};

const I32: u8 = 0x7f;
const I64: u8 = 0x7e;
const F32: u8 = 0x7d;
const F64: u8 = 0x7c;
const V128: u8 = 0x7b;
/// There are as many parameters and as many locals, one of each type.
pub const TYPES: [u8; 5] = [I32, I64, F32, F64, V128];

/// An operator: its code with immediates, what it takes and what it gives.
struct Op {
    code: Vec<u8>,
    takes: Vec<u8>,
    gives: u8,
}

/// Numbers (SplitMix64).
pub struct Draw(pub u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Codes from one to another, both included, all of one type.
fn range(ops: &mut Vec<Op>, codes: std::ops::RangeInclusive<u8>, takes: &[u8], gives: u8) {
    for code in codes {
        ops.push(Op {
            code: vec![code],
            takes: takes.to_vec(),
            gives,
        });
    }
}

/// The same behind the prefix of vectors, or of saturating conversions.
fn prefixed(ops: &mut Vec<Op>, prefix: u8, codes: &[(usize, usize)], takes: &[u8], gives: u8) {
    for code in codes.iter().flat_map(|(first, last)| *first..=*last) {
        ops.push(Op {
            code: [vec![prefix], unsigned(code)].concat(),
            takes: takes.to_vec(),
            gives,
        });
    }
}

/// All that compute, as the specification numbers them.
fn all() -> Vec<Op> {
    let mut ops = Vec::new();
    let o = &mut ops;
    for (ty, test, compare, unary, binary) in [
        (I32, 0x45, 0x46..=0x4f, 0x67..=0x69, 0x6a..=0x78),
        (I64, 0x50, 0x51..=0x5a, 0x79..=0x7b, 0x7c..=0x8a),
    ] {
        range(o, test..=test, &[ty], I32);
        range(o, compare, &[ty; 2], I32);
        range(o, unary, &[ty], ty);
        range(o, binary, &[ty; 2], ty);
    }
    for (ty, compare, unary, binary) in [
        (F32, 0x5b..=0x60, 0x8b..=0x91, 0x92..=0x98),
        (F64, 0x61..=0x66, 0x99..=0x9f, 0xa0..=0xa6),
    ] {
        range(o, compare, &[ty; 2], I32);
        range(o, unary, &[ty], ty);
        range(o, binary, &[ty; 2], ty);
    }
    let conversions = [
        (0xa7..=0xa7, I64, I32),
        (0xac..=0xad, I32, I64),
        (0xb2..=0xb3, I32, F32),
        (0xb4..=0xb5, I64, F32),
        (0xb6..=0xb6, F64, F32),
        (0xb7..=0xb8, I32, F64),
        (0xb9..=0xba, I64, F64),
        (0xbb..=0xbb, F32, F64),
        (0xa8..=0xa9, F32, I32),
        (0xaa..=0xab, F64, I32),
        (0xae..=0xaf, F32, I64),
        (0xb0..=0xb1, F64, I64),
        (0xbc..=0xbc, F32, I32),
        (0xbd..=0xbd, F64, I64),
        (0xbe..=0xbe, I32, F32),
        (0xbf..=0xbf, I64, F64),
        (0xc0..=0xc1, I32, I32),
        (0xc2..=0xc4, I64, I64),
    ];
    for (codes, takes, gives) in conversions {
        range(o, codes, &[takes], gives);
    }
    for ty in TYPES {
        range(o, 0x1b..=0x1b, &[ty, ty, I32], ty);
    }
    for (first, takes, gives) in [(0, F32, I32), (2, F64, I32), (4, F32, I64), (6, F64, I64)] {
        prefixed(o, 0xfc, &[(first, first + 1)], &[takes], gives);
    }
    vectors(o);
    // Loads of what lies at the value.
    for (code, gives) in [
        (0x28, I32),
        (0x2c, I32),
        (0x29, I64),
        (0x2a, F32),
        (0x2b, F64),
    ] {
        ops.push(Op {
            code: vec![code, 0, 0],
            takes: vec![I32],
            gives,
        });
    }
    ops
}

/// Ranges of codes of one vector, that give one.
const UNARY: &[(usize, usize)] = &[
    (0x4d, 0x4d),
    (0x5e, 0x62),
    (0x67, 0x6a),
    (0x74, 0x75),
    (0x7a, 0x7a),
    (0x7c, 0x81),
    (0x87, 0x8a),
    (0x94, 0x94),
    (0xa0, 0xa1),
    (0xa7, 0xaa),
    (0xc0, 0xc1),
    (0xc7, 0xca),
    (0xe0, 0xe1),
    (0xe3, 0xe3),
    (0xec, 0xed),
    (0xef, 0xef),
    (0xf8, 0xff),
    (0x101, 0x104),
];

/// The same of two.
const BINARY: &[(usize, usize)] = &[
    (0x0e, 0x0e),
    (0x23, 0x4c),
    (0x4e, 0x51),
    (0x65, 0x66),
    (0x6e, 0x73),
    (0x76, 0x79),
    (0x7b, 0x7b),
    (0x82, 0x82),
    (0x85, 0x86),
    (0x8e, 0x93),
    (0x95, 0x99),
    (0x9b, 0x9f),
    (0xae, 0xae),
    (0xb1, 0xb1),
    (0xb5, 0xba),
    (0xbc, 0xbf),
    (0xce, 0xce),
    (0xd1, 0xd1),
    (0xd5, 0xdf),
    (0xe4, 0xeb),
    (0xf0, 0xf7),
    (0x100, 0x100),
    (0x10d, 0x112),
];

fn vectors(o: &mut Vec<Op>) {
    const V: u8 = 0xfd;
    for (code, lane) in [
        (15, I32),
        (16, I32),
        (17, I32),
        (18, I64),
        (19, F32),
        (20, F64),
    ] {
        prefixed(o, V, &[(code, code)], &[lane], V128);
    }
    let lanes = [(0x16, 0x17, I32), (0x19, 0x1a, I32), (0x1b, 0x1c, I32)];
    for (extract, replace, lane) in [(0x1d, 0x1e, I64), (0x1f, 0x20, F32), (0x21, 0x22, F64)]
        .into_iter()
        .chain(lanes)
    {
        for (code, takes, gives) in [
            (extract, vec![V128], lane),
            (replace, vec![V128, lane], V128),
        ] {
            o.push(Op {
                code: vec![V, code, 1],
                takes,
                gives,
            });
        }
    }
    o.push(Op {
        code: [&[V, 13][..], &(0..16).collect::<Vec<u8>>()].concat(),
        takes: vec![V128; 2],
        gives: V128,
    });
    prefixed(o, V, UNARY, &[V128], V128);
    prefixed(o, V, BINARY, &[V128; 2], V128);
    prefixed(
        o,
        V,
        &[(0x52, 0x52), (0x105, 0x10c), (0x113, 0x113)],
        &[V128; 3],
        V128,
    );
    let shifts = [(0x6b, 0x6d), (0x8b, 0x8d), (0xab, 0xad), (0xcb, 0xcd)];
    prefixed(o, V, &shifts, &[V128, I32], V128);
    let tests = [
        (0x53, 0x53),
        (0x63, 0x64),
        (0x83, 0x84),
        (0xa3, 0xa4),
        (0xc3, 0xc4),
    ];
    prefixed(o, V, &tests, &[V128], I32);
}

fn place(ty: u8) -> usize {
    TYPES.iter().position(|t| *t == ty).unwrap()
}

/// A constant, or the parameter of its type.
fn operand(ty: u8, draw: &mut Draw, constants: usize) -> Vec<u8> {
    if draw.below(4) >= constants {
        return get(place(ty));
    }
    // One byte of LEB128 has six bits and a sign.
    let small = draw.below(64) as u8 * 2 % 0x7f;
    match ty {
        I32 => vec![0x41, small & 0x7f],
        I64 => vec![0x42, small & 0x7f],
        F32 => [&[0x43][..], &f32::from(small).to_le_bytes()].concat(),
        F64 => [&[0x44][..], &f64::from(small).to_le_bytes()].concat(),
        _ => [&[0xfd, 12][..], &[small; 16]].concat(),
    }
}

/// One step from a value of a type, and the type that it leads to. The value is on the
/// stack; where it is not the first operand it waits in a local.
fn step(op: &Op, ty: u8, draw: &mut Draw, constants: usize) -> Vec<u8> {
    let own = op.takes.iter().position(|takes| *takes == ty).unwrap();
    let waits = TYPES.len() + place(ty);
    let mut code = Vec::new();
    if own > 0 {
        code.extend(set(waits));
    }
    for (at, takes) in op.takes.iter().enumerate() {
        match at == own {
            true if own == 0 => {}
            true => code.extend(get(waits)),
            false => code.extend(operand(*takes, draw, constants)),
        }
    }
    code.extend(&op.code);
    code
}

/// The type of a chain and its period.
pub fn period(draw: &mut Draw) -> (u8, Vec<u8>) {
    let all = all();
    let constants = draw.below(5);
    let length = 1 + draw.below(4);
    loop {
        let start = *draw.of(&TYPES);
        let (mut ty, mut code) = (start, Vec::new());
        for taken in 0..20 {
            if taken >= length && ty == start {
                return (start, code);
            }
            // In time, by those that lead back.
            let fits = |op: &&Op| {
                let leads_back = taken + 1 < length || op.gives == start;
                op.takes.contains(&ty) && (leads_back || taken % 2 == 0)
            };
            let fitting: Vec<&Op> = all.iter().filter(fits).collect();
            if fitting.is_empty() {
                break;
            }
            let op = *draw.of(&fitting);
            code.extend(step(op, ty, draw, constants));
            ty = op.gives;
        }
    }
}

/// The place of the parameter that a chain of a type begins with.
pub fn parameter(ty: u8) -> usize {
    place(ty)
}
