//! Programs that have many operands at a time: of what code in one pass keeps in registers, and
//! puts into slots where there is none left.
//!
//! ```text
//!  seed ─ Program ─┬─ memories, globals, a table of functions
//!                  ├─ functions: each calls those before it; some are left to Cranelift
//!                  └─ calls: a function with numbers at the edges
//! ```
//!
//! A function is a row of instructions, each of which takes what is on the stack or has more
//! pushed first (`body.rs`). Up to `body::DEPTH_MAX` operands wait below. What is left in the
//! end goes into a checksum, so that each of them counts. NaNs become one NaN wherever their bits
//! could be seen.
//!
//! What must stay true: a program ends, for functions call those before them, and loops count.

mod body;
mod ops;
mod rarer;

use std::fmt::Write as _;

use crate::generate::Below;
use body::Body;

/// A type of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ty {
    I32,
    I64,
    F32,
    F64,
}

impl Ty {
    const ALL: [Ty; 4] = [Ty::I32, Ty::I64, Ty::F32, Ty::F64];

    fn name(self) -> &'static str {
        match self {
            Ty::I32 => "i32",
            Ty::I64 => "i64",
            Ty::F32 => "f32",
            Ty::F64 => "f64",
        }
    }

    /// Numbers at its edges.
    fn constants(self) -> &'static [&'static str] {
        match self {
            Ty::I32 => &[
                "0",
                "1",
                "-1",
                "7",
                "31",
                "32",
                "0x80",
                "0x7fffffff",
                "0x80000000",
                "0x12345678",
            ],
            Ty::I64 => &[
                "0",
                "1",
                "-1",
                "5",
                "63",
                "0x7fffffff",
                "0x80000000",
                "0xffffffff",
                "0x100000000",
                "-0x80000001",
                "0x8000000000000000",
                "0x7fffffffffffffff",
                "0x123456789abcdef0",
            ],
            Ty::F32 => &[
                "0",
                "-0",
                "1.5",
                "-2.5",
                "0x1p-149",
                "inf",
                "-inf",
                "nan",
                "-nan:0x200001",
                "0x1p31",
                "-0x1p63",
                "0x1.fffffep63",
            ],
            Ty::F64 => &[
                "0",
                "-0",
                "0.5",
                "-3.5",
                "0x1p-1074",
                "inf",
                "-inf",
                "nan",
                "-nan:0x4000000000001",
                "2147483647.5",
                "-2147483648.9",
                "0x1p63",
                "0x1.fffffffffffffp63",
            ],
        }
    }
}

/// What a function takes and gives.
#[derive(Clone, Debug)]
struct Signature {
    params: Vec<Ty>,
    results: Vec<Ty>,
}

impl Signature {
    /// Often with the results of the one before, so that it may end in a call of that.
    fn random(below: Below<'_>, before: Option<&Signature>) -> Signature {
        let before = before.filter(|_| below(2) == 0);
        let mut types = |most: usize| {
            let count = below(most + 1);
            (0..count).map(|_| Ty::ALL[below(4)]).collect()
        };
        Signature {
            params: types(14),
            results: before.map_or_else(|| types(9), |before| before.results.clone()),
        }
    }

    /// As it stands in a type.
    fn text(&self) -> String {
        format!(
            "{}{}",
            list("param", &self.params),
            list("result", &self.results)
        )
    }
}

/// Types behind a word.
fn list(word: &str, types: &[Ty]) -> String {
    let mut text = String::new();
    if !types.is_empty() {
        let _ = write!(text, " ({word}");
        types.iter().for_each(|ty| text.extend([" ", ty.name()]));
        text.push(')');
    }
    text
}

/// What all functions of a program have.
struct Shape {
    /// Whether the index of each memory has 64 bits.
    memories: Vec<bool>,
    signatures: Vec<Signature>,
}

/// Functions of a program.
const FUNCTIONS: usize = 4;
/// Calls of each.
const CALLS: usize = 3;

/// A module that exports calls of its functions, its memories and its globals.
pub fn module(below: Below<'_>) -> String {
    let memories = (0..1 + below(2)).map(|_| below(3) == 0).collect();
    let mut signatures: Vec<Signature> = Vec::new();
    for _ in 0..FUNCTIONS {
        let next = Signature::random(below, signatures.last());
        signatures.push(next);
    }
    let shape = Shape {
        memories,
        signatures,
    };
    let mut text = String::from("(module\n");
    for (at, wide) in shape.memories.iter().enumerate() {
        let ty = if *wide { "i64" } else { "" };
        let _ = writeln!(text, "(memory (export \"m{at}\") {ty} 1 2)");
        let _ = writeln!(
            text,
            "(data (memory {at}) ({} 16) \"\\ff\\80\\01\\00\\c0\\7f\\f8\\00\\12\\ff\")",
            if *wide { "i64.const" } else { "i32.const" }
        );
    }
    for ty in Ty::ALL {
        let name = ty.name();
        let first = ty.constants()[3];
        let _ = writeln!(
            text,
            "(global $g-{name} (export \"g-{name}\") (mut {name}) ({name}.const {first}))"
        );
    }
    for (at, signature) in shape.signatures.iter().enumerate() {
        // A function's own type may be below the one that it is called by.
        let func = format!("(func{})", signature.text());
        let _ = match below(2) {
            0 => writeln!(text, "(type $t{at} {func}) (type $own{at} {func})"),
            _ => writeln!(
                text,
                "(type $t{at} (sub {func})) (type $own{at} (sub $t{at} {func}))"
            ),
        };
    }
    text.push_str("(type $open (sub (func)))\n");
    let many = (1..=9).map(|at| format!(" i64.const {at}"));
    let _ = writeln!(
        text,
        "(func $many (result {}){})",
        "i64 ".repeat(9),
        many.collect::<String>()
    );
    let _ = writeln!(
        text,
        "(table $t 5 6 funcref) (elem (table $t) (i32.const 0) func $f0 $f1 $f2)"
    );
    for at in 0..FUNCTIONS {
        text.push_str(&Body::new(&shape, at, below).text());
    }
    for at in 0..FUNCTIONS {
        for nth in 0..CALLS {
            let signature = &shape.signatures[at];
            let results = list("result", &signature.results);
            let _ = write!(text, "(func (export \"c{at}-{nth}\"){results}");
            for ty in &signature.params {
                let all = ty.constants();
                let _ = write!(text, " {}.const {}", ty.name(), all[below(all.len())]);
            }
            let _ = writeln!(text, " call $f{at})");
        }
    }
    text.push(')');
    text
}
