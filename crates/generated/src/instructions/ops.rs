//! The instructions, as rows: which opcodes, what they take and what they give.
//!
//! What an operand or a result is, is a letter, since what may follow what depends
//! on more than its type: the bits of a NaN that arithmetic makes are not laid down,
//! so they must not reach an instruction that looks at bits.
//!
//! | letter | type | as an operand | as a result |
//! |---|---|---|---|
//! | `i` `I` | `i32` `i64` | any | exact |
//! | `f` `F` | `f32` `f64` | its bits matter | exact, NaN included |
//! | `n` `N` | `f32` `f64` | a number: of a NaN only that it is one | up to the bits of a NaN |
//! | `v` | `v128` | its bits matter | exact |
//! | `p` `P` | `v128` | four `f32`, two `f64`: numbers | up to the bits of NaNs |
//! | `q` `Q` | `v128` | – | as `p` `P`, and of a NaN or a zero the engine's own choice |
//! | `r` | `funcref` | null or not | |

/// Beyond the opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    /// Nothing.
    None,
    /// A lane below this number.
    Lane(u8),
    /// Sixteen lanes of two vectors.
    Shuffle,
    /// An access of 2^n bytes to one of the two memories, and a lane below this
    /// number where there is one.
    Access { log2_bytes: u8, lanes: u8 },
    /// The same, whose alignment must be its width.
    Atomic { log2_bytes: u8 },
    /// These bytes.
    Bytes(&'static [u8]),
}

/// An instruction with one signature.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// 0 for none, else 0xfc, 0xfd or 0xfe.
    pub prefix: u8,
    /// The opcode after it.
    pub code: u32,
    /// Letters of the operands, without the address of an access.
    pub takes: &'static str,
    /// Letters of the results.
    pub gives: &'static str,
    /// What follows the opcode.
    pub immediate: Immediate,
}

impl Op {
    /// Whether it reads or writes a memory or a table.
    pub fn has_state(&self) -> bool {
        matches!(
            self.immediate,
            Immediate::Access { .. } | Immediate::Atomic { .. }
        ) || self.prefix == 0xfc && self.code >= 8 && self.code <= 17
            || matches!(self.code, 0x11 | 0x25 | 0x26 | 0x3f | 0x40) && self.prefix == 0
            || self.prefix == 0xfe
    }
}

type Row = (
    u8,
    std::ops::RangeInclusive<u32>,
    &'static str,
    &'static str,
    Immediate,
);
use Immediate::{Access, Atomic, Bytes, Lane, None, Shuffle};

const SCALAR: &[Row] = &[
    (0, 0x45..=0x45, "i", "i", None),
    (0, 0x46..=0x4f, "ii", "i", None),
    (0, 0x50..=0x50, "I", "i", None),
    (0, 0x51..=0x5a, "II", "i", None),
    (0, 0x5b..=0x60, "nn", "i", None),
    (0, 0x61..=0x66, "NN", "i", None),
    (0, 0x67..=0x69, "i", "i", None),
    (0, 0x6a..=0x78, "ii", "i", None),
    (0, 0x79..=0x7b, "I", "I", None),
    (0, 0x7c..=0x8a, "II", "I", None),
    (0, 0x8b..=0x8c, "f", "f", None),
    (0, 0x8d..=0x91, "n", "n", None),
    (0, 0x92..=0x97, "nn", "n", None),
    (0, 0x98..=0x98, "ff", "f", None),
    (0, 0x99..=0x9a, "F", "F", None),
    (0, 0x9b..=0x9f, "N", "N", None),
    (0, 0xa0..=0xa5, "NN", "N", None),
    (0, 0xa6..=0xa6, "FF", "F", None),
    (0, 0xa7..=0xa7, "I", "i", None),
    (0, 0xa8..=0xa9, "n", "i", None),
    (0, 0xaa..=0xab, "N", "i", None),
    (0, 0xac..=0xad, "i", "I", None),
    (0, 0xae..=0xaf, "n", "I", None),
    (0, 0xb0..=0xb1, "N", "I", None),
    (0, 0xb2..=0xb3, "i", "f", None),
    (0, 0xb4..=0xb5, "I", "f", None),
    (0, 0xb6..=0xb6, "N", "n", None),
    (0, 0xb7..=0xb8, "i", "F", None),
    (0, 0xb9..=0xba, "I", "F", None),
    (0, 0xbb..=0xbb, "n", "N", None),
    (0, 0xbc..=0xbc, "f", "i", None),
    (0, 0xbd..=0xbd, "F", "I", None),
    (0, 0xbe..=0xbe, "i", "f", None),
    (0, 0xbf..=0xbf, "I", "F", None),
    (0, 0xc0..=0xc1, "i", "i", None),
    (0, 0xc2..=0xc4, "I", "I", None),
    (0, 0x1b..=0x1b, "iii", "i", None),
    (0, 0x1b..=0x1b, "IIi", "I", None),
    (0, 0x1b..=0x1b, "ffi", "f", None),
    (0, 0x1b..=0x1b, "FFi", "F", None),
    (0, 0x1b..=0x1b, "vvi", "v", None),
    // `if` with a number in either arm: a comparison that is branched on.
    (
        0,
        0x04..=0x04,
        "i",
        "i",
        Bytes(&[0x7f, 0x41, 1, 0x05, 0x41, 2, 0x0b]),
    ),
    (0xfc, 0..=1, "n", "i", None),
    (0xfc, 2..=3, "N", "i", None),
    (0xfc, 4..=5, "n", "I", None),
    (0xfc, 6..=7, "N", "I", None),
    (0xfc, 0x13..=0x14, "IIII", "II", None),
    (0xfc, 0x15..=0x16, "II", "II", None),
];

const VECTOR: &[Row] = &[
    (0xfd, 0x0d..=0x0d, "vv", "v", Shuffle),
    (0xfd, 0x0e..=0x0e, "vv", "v", None),
    (0xfd, 0x0f..=0x11, "i", "v", None),
    (0xfd, 0x12..=0x12, "I", "v", None),
    (0xfd, 0x13..=0x13, "f", "v", None),
    (0xfd, 0x14..=0x14, "F", "v", None),
    (0xfd, 0x15..=0x16, "v", "i", Lane(16)),
    (0xfd, 0x17..=0x17, "vi", "v", Lane(16)),
    (0xfd, 0x18..=0x19, "v", "i", Lane(8)),
    (0xfd, 0x1a..=0x1a, "vi", "v", Lane(8)),
    (0xfd, 0x1b..=0x1b, "v", "i", Lane(4)),
    (0xfd, 0x1c..=0x1c, "vi", "v", Lane(4)),
    (0xfd, 0x1d..=0x1d, "v", "I", Lane(2)),
    (0xfd, 0x1e..=0x1e, "vI", "v", Lane(2)),
    (0xfd, 0x1f..=0x1f, "v", "f", Lane(4)),
    (0xfd, 0x1f..=0x1f, "p", "n", Lane(4)),
    (0xfd, 0x20..=0x20, "vf", "v", Lane(4)),
    (0xfd, 0x21..=0x21, "v", "F", Lane(2)),
    (0xfd, 0x21..=0x21, "P", "N", Lane(2)),
    (0xfd, 0x22..=0x22, "vF", "v", Lane(2)),
    (0xfd, 0x23..=0x40, "vv", "v", None),
    (0xfd, 0x41..=0x46, "pp", "v", None),
    (0xfd, 0x47..=0x4c, "PP", "v", None),
    (0xfd, 0x4d..=0x4d, "v", "v", None),
    (0xfd, 0x4e..=0x51, "vv", "v", None),
    (0xfd, 0x52..=0x52, "vvv", "v", None),
    (0xfd, 0x53..=0x53, "v", "i", None),
    (0xfd, 0x5e..=0x5e, "P", "p", None),
    (0xfd, 0x5f..=0x5f, "p", "P", None),
    (0xfd, 0x60..=0x62, "v", "v", None),
    (0xfd, 0x63..=0x64, "v", "i", None),
    (0xfd, 0x65..=0x66, "vv", "v", None),
    (0xfd, 0x67..=0x6a, "p", "p", None),
    (0xfd, 0x6b..=0x6d, "vi", "v", None),
    (0xfd, 0x6e..=0x73, "vv", "v", None),
    (0xfd, 0x74..=0x75, "P", "P", None),
    (0xfd, 0x76..=0x79, "vv", "v", None),
    (0xfd, 0x7a..=0x7a, "P", "P", None),
    (0xfd, 0x7b..=0x7b, "vv", "v", None),
    (0xfd, 0x7c..=0x81, "v", "v", None),
    (0xfd, 0x82..=0x82, "vv", "v", None),
    (0xfd, 0x83..=0x84, "v", "i", None),
    (0xfd, 0x85..=0x86, "vv", "v", None),
    (0xfd, 0x87..=0x8a, "v", "v", None),
    (0xfd, 0x8b..=0x8d, "vi", "v", None),
    (0xfd, 0x8e..=0x93, "vv", "v", None),
    (0xfd, 0x94..=0x94, "P", "P", None),
    (0xfd, 0x95..=0x99, "vv", "v", None),
    (0xfd, 0x9b..=0x9f, "vv", "v", None),
    (0xfd, 0xa0..=0xa1, "v", "v", None),
    (0xfd, 0xa3..=0xa4, "v", "i", None),
    (0xfd, 0xa7..=0xaa, "v", "v", None),
    (0xfd, 0xab..=0xad, "vi", "v", None),
    (0xfd, 0xae..=0xae, "vv", "v", None),
    (0xfd, 0xb1..=0xb1, "vv", "v", None),
    (0xfd, 0xb5..=0xba, "vv", "v", None),
    (0xfd, 0xbc..=0xbf, "vv", "v", None),
    (0xfd, 0xc0..=0xc1, "v", "v", None),
    (0xfd, 0xc3..=0xc4, "v", "i", None),
    (0xfd, 0xc7..=0xca, "v", "v", None),
    (0xfd, 0xcb..=0xcd, "vi", "v", None),
    (0xfd, 0xce..=0xce, "vv", "v", None),
    (0xfd, 0xd1..=0xd1, "vv", "v", None),
    (0xfd, 0xd5..=0xdf, "vv", "v", None),
    (0xfd, 0xe0..=0xe1, "v", "v", None),
    (0xfd, 0xe3..=0xe3, "p", "p", None),
    (0xfd, 0xe4..=0xeb, "pp", "p", None),
    (0xfd, 0xec..=0xed, "v", "v", None),
    (0xfd, 0xef..=0xef, "P", "P", None),
    (0xfd, 0xf0..=0xf7, "PP", "P", None),
    (0xfd, 0xf8..=0xf9, "p", "v", None),
    (0xfd, 0xfa..=0xfb, "v", "v", None),
    (0xfd, 0xfc..=0xfd, "P", "v", None),
    (0xfd, 0xfe..=0xff, "v", "v", None),
];

/// Relaxed: what they give is the engine's choice within a set, the same on both
/// engines where both choose the host's own instruction. Of a minimum and a maximum
/// that instruction depends on the order of operands, which is not laid down.
const RELAXED: &[Row] = &[
    (0xfd, 0x100..=0x100, "vv", "v", None),
    (0xfd, 0x101..=0x102, "p", "v", None),
    (0xfd, 0x103..=0x104, "P", "v", None),
    (0xfd, 0x105..=0x106, "ppp", "p", None),
    (0xfd, 0x107..=0x108, "PPP", "P", None),
    (0xfd, 0x109..=0x10c, "vvv", "v", None),
    (0xfd, 0x10d..=0x10e, "pp", "q", None),
    (0xfd, 0x10f..=0x110, "PP", "Q", None),
    (0xfd, 0x111..=0x112, "vv", "v", None),
    (0xfd, 0x113..=0x113, "vvv", "v", None),
];

const fn access(log2_bytes: u8) -> Immediate {
    Access {
        log2_bytes,
        lanes: 0,
    }
}

const fn lane(log2_bytes: u8) -> Immediate {
    Access {
        log2_bytes,
        lanes: 16 >> log2_bytes,
    }
}

const fn atomic(log2_bytes: u8) -> Immediate {
    Atomic { log2_bytes }
}

const MEMORY: &[Row] = &[
    (0, 0x28..=0x28, "", "i", access(2)),
    (0, 0x29..=0x29, "", "I", access(3)),
    (0, 0x2a..=0x2a, "", "f", access(2)),
    (0, 0x2b..=0x2b, "", "F", access(3)),
    (0, 0x2c..=0x2d, "", "i", access(0)),
    (0, 0x2e..=0x2f, "", "i", access(1)),
    (0, 0x30..=0x31, "", "I", access(0)),
    (0, 0x32..=0x33, "", "I", access(1)),
    (0, 0x34..=0x35, "", "I", access(2)),
    (0, 0x36..=0x36, "i", "", access(2)),
    (0, 0x37..=0x37, "I", "", access(3)),
    (0, 0x38..=0x38, "f", "", access(2)),
    (0, 0x39..=0x39, "F", "", access(3)),
    (0, 0x3a..=0x3a, "i", "", access(0)),
    (0, 0x3b..=0x3b, "i", "", access(1)),
    (0, 0x3c..=0x3c, "I", "", access(0)),
    (0, 0x3d..=0x3d, "I", "", access(1)),
    (0, 0x3e..=0x3e, "I", "", access(2)),
    (0xfd, 0x00..=0x00, "", "v", access(4)),
    (0xfd, 0x01..=0x06, "", "v", access(3)),
    (0xfd, 0x07..=0x07, "", "v", access(0)),
    (0xfd, 0x08..=0x08, "", "v", access(1)),
    (0xfd, 0x09..=0x09, "", "v", access(2)),
    (0xfd, 0x0a..=0x0a, "", "v", access(3)),
    (0xfd, 0x0b..=0x0b, "v", "", access(4)),
    (0xfd, 0x54..=0x54, "v", "v", lane(0)),
    (0xfd, 0x55..=0x55, "v", "v", lane(1)),
    (0xfd, 0x56..=0x56, "v", "v", lane(2)),
    (0xfd, 0x57..=0x57, "v", "v", lane(3)),
    (0xfd, 0x58..=0x58, "v", "", lane(0)),
    (0xfd, 0x59..=0x59, "v", "", lane(1)),
    (0xfd, 0x5a..=0x5a, "v", "", lane(2)),
    (0xfd, 0x5b..=0x5b, "v", "", lane(3)),
    (0xfd, 0x5c..=0x5c, "", "v", access(2)),
    (0xfd, 0x5d..=0x5d, "", "v", access(3)),
];

const ATOMIC: &[Row] = &[
    (0xfe, 0x00..=0x00, "i", "i", atomic(2)),
    // A wait traps on a memory that is not shared.
    (0xfe, 0x01..=0x01, "iI", "i", atomic(2)),
    (0xfe, 0x02..=0x02, "II", "i", atomic(3)),
    (0xfe, 0x10..=0x10, "", "i", atomic(2)),
    (0xfe, 0x11..=0x11, "", "I", atomic(3)),
    (0xfe, 0x12..=0x12, "", "i", atomic(0)),
    (0xfe, 0x13..=0x13, "", "i", atomic(1)),
    (0xfe, 0x14..=0x14, "", "I", atomic(0)),
    (0xfe, 0x15..=0x15, "", "I", atomic(1)),
    (0xfe, 0x16..=0x16, "", "I", atomic(2)),
    (0xfe, 0x17..=0x17, "i", "", atomic(2)),
    (0xfe, 0x18..=0x18, "I", "", atomic(3)),
    (0xfe, 0x19..=0x19, "i", "", atomic(0)),
    (0xfe, 0x1a..=0x1a, "i", "", atomic(1)),
    (0xfe, 0x1b..=0x1b, "I", "", atomic(0)),
    (0xfe, 0x1c..=0x1c, "I", "", atomic(1)),
    (0xfe, 0x1d..=0x1d, "I", "", atomic(2)),
];

/// Of the read-modify-write instructions, the first opcode and how many operands.
const ATOMIC_CHANGES: &[(u32, usize)] = &[
    (0x1e, 1),
    (0x25, 1),
    (0x2c, 1),
    (0x33, 1),
    (0x3a, 1),
    (0x41, 1),
    (0x48, 2),
];

/// On memories 0 (32-bit) and 1 (64-bit), table 0 and segment 0.
const BULK: &[Row] = &[
    (0xfc, 8..=8, "iii", "", Bytes(&[0, 0])),
    (0xfc, 8..=8, "Iii", "", Bytes(&[0, 1])),
    (0xfc, 9..=9, "", "", Bytes(&[0])),
    (0xfc, 10..=10, "iii", "", Bytes(&[0, 0])),
    (0xfc, 10..=10, "III", "", Bytes(&[1, 1])),
    (0xfc, 10..=10, "iIi", "", Bytes(&[0, 1])),
    (0xfc, 10..=10, "Iii", "", Bytes(&[1, 0])),
    (0xfc, 11..=11, "iii", "", Bytes(&[0])),
    (0xfc, 11..=11, "IiI", "", Bytes(&[1])),
    (0xfc, 12..=12, "iii", "", Bytes(&[0, 0])),
    (0xfc, 14..=14, "iii", "", Bytes(&[0, 0])),
    (0xfc, 15..=15, "ri", "i", Bytes(&[0])),
    (0xfc, 16..=16, "", "i", Bytes(&[0])),
    (0xfc, 17..=17, "iri", "", Bytes(&[0])),
    (0, 0x3f..=0x3f, "", "i", Bytes(&[0])),
    (0, 0x3f..=0x3f, "", "I", Bytes(&[1])),
    (0, 0x40..=0x40, "i", "i", Bytes(&[0])),
    (0, 0x40..=0x40, "I", "I", Bytes(&[1])),
    // `table.get` and `ref.is_null`; `table.set`; a call to a function of its type.
    (0, 0x25..=0x25, "i", "i", Bytes(&[0, 0xd1])),
    (0, 0x26..=0x26, "ir", "", Bytes(&[0])),
    (0, 0x11..=0x11, "i", "i", Bytes(&[super::ANSWER_TYPE, 0])),
    (0xfe, 3..=3, "", "", Bytes(&[0])),
];

/// Every instruction.
pub fn all() -> Vec<Op> {
    let rows = [SCALAR, VECTOR, RELAXED, MEMORY, ATOMIC, BULK]
        .into_iter()
        .flatten();
    let rows = rows.flat_map(|(prefix, codes, takes, gives, immediate)| {
        codes.clone().map(|code| Op {
            prefix: *prefix,
            code,
            takes,
            gives,
            immediate: *immediate,
        })
    });
    rows.chain(atomic_changes()).collect()
}

fn atomic_changes() -> impl Iterator<Item = Op> {
    // i32 and i64 whole, then 8 and 16 bits of an i32, 8, 16 and 32 of an i64.
    const WIDTHS: [(char, u8); 7] = [
        ('i', 2),
        ('I', 3),
        ('i', 0),
        ('i', 1),
        ('I', 0),
        ('I', 1),
        ('I', 2),
    ];
    ATOMIC_CHANGES.iter().flat_map(|(first, operands)| {
        WIDTHS
            .iter()
            .enumerate()
            .map(move |(at, (letter, log2_bytes))| Op {
                prefix: 0xfe,
                code: first + at as u32,
                takes: match (letter, operands) {
                    ('i', 1) => "i",
                    ('i', _) => "ii",
                    (_, 1) => "I",
                    (_, _) => "II",
                },
                gives: if *letter == 'i' { "i" } else { "I" },
                immediate: atomic(*log2_bytes),
            })
    })
}
