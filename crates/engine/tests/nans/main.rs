//! What arithmetic makes of a NaN is a quiet NaN, by all code generators (core
//! specification 4.3.3, NaN propagation): `x * 1` is not `x` where `x` is a signalling one.
//!
//! Two generated modules. In the first one, operations get an operand of ±1 or ±0 that a
//! compiler can find out in many ways. The second one has chains of up to three operators
//! over constants, parameters and what a branch or selection says of them.
//!
//! Without `.tools/zig` (`make setup`) the tests say SKIPPED.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod known;
mod loops;
#[path = "../common/ways.rs"]
mod ways;

use std::fmt::Write as _;

use fathom_engine::*;

use known::{Known, known_scalars, known_vectors};
use ways::Way;

/// What lanes are.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    /// The prefix of its instructions.
    name: &'static str,
    /// The prefix of those on integers of as many bits.
    integer: &'static str,
    /// As parameters and results have it.
    ty: &'static str,
    /// The scalar that lanes are, and its integer.
    lane: (&'static str, &'static str),
    lanes: usize,
}

const SHAPES: [Shape; 4] = [
    shape("f32", "i32", "f32", ("f32", "i32"), 1),
    shape("f64", "i64", "f64", ("f64", "i64"), 1),
    shape("f32x4", "i32x4", "v128", ("f32", "i32"), 4),
    shape("f64x2", "i64x2", "v128", ("f64", "i64"), 2),
];

const fn shape(
    name: &'static str,
    integer: &'static str,
    ty: &'static str,
    lane: (&'static str, &'static str),
    lanes: usize,
) -> Shape {
    Shape {
        name,
        integer,
        ty,
        lane,
        lanes,
    }
}

impl Shape {
    fn is_vector(self) -> bool {
        self.lanes > 1
    }

    fn is_wide(self) -> bool {
        self.lane.0 == "f64"
    }

    /// A constant; of a vector, in each lane.
    fn constant(self, value: &str) -> String {
        match self.is_vector() {
            false => format!("({}.const {value})", self.name),
            true => format!(
                "(v128.const {}{})",
                self.name,
                format!(" {value}").repeat(self.lanes)
            ),
        }
    }

    /// An instruction's text.
    fn op(self, op: &str, args: &[&str]) -> String {
        format!("({}.{op} {})", self.name, args.join(" "))
    }

    /// The bits of a scalar.
    fn bits(self, value: f64) -> u64 {
        match self.is_wide() {
            true => value.to_bits(),
            false => u64::from((value as f32).to_bits()),
        }
    }

    /// A value of which each lane has these bits.
    fn value(self, bits: u64) -> Val {
        match (self.is_vector(), self.is_wide()) {
            (false, false) => Val::F32(bits as u32),
            (false, true) => Val::F64(bits),
            (true, false) => Val::V128(u128::from(bits) * (1 | 1 << 32 | 1 << 64 | 1 << 96)),
            (true, true) => Val::V128(u128::from(bits) * (1 | 1 << 64)),
        }
    }

    /// NaNs, quiet and signalling, and what is none; the signalling ones first.
    fn specials(self) -> Vec<u64> {
        let nans = match self.is_wide() {
            true => [
                0x7ff0_0000_0000_0001,
                0xfff4_0000_0000_0000,
                0x7ff8_0000_0000_0000,
                0xffff_ffff_ffff_ffff,
            ],
            false => [0x7f80_0001, 0xffa0_0000, 0x7fc0_0000, 0xffff_ffff],
        };
        let others = [1.0, -0.0, -2.5, f64::INFINITY].map(|value| self.bits(value));
        nans.into_iter().chain(others).collect()
    }

    /// Lanes of a result.
    fn lanes_of(self, value: &Val) -> Vec<u64> {
        match value {
            Val::F32(bits) => vec![u64::from(*bits)],
            Val::F64(bits) => vec![*bits],
            Val::V128(bits) if self.is_wide() => vec![*bits as u64, (*bits >> 64) as u64],
            Val::V128(bits) => (0..4)
                .map(|i| (bits >> (32 * i)) as u64 & 0xffff_ffff)
                .collect(),
            other => panic!("{other:?}"),
        }
    }

    /// Whether a lane is a NaN, and whether it is a quiet one.
    fn nan(self, lane: u64) -> (bool, bool) {
        match self.is_wide() {
            true => (f64::from_bits(lane).is_nan(), lane >> 51 & 1 == 1),
            false => (f32::from_bits(lane as u32).is_nan(), lane >> 22 & 1 == 1),
        }
    }
}

/// A function that was generated.
struct Made {
    shape: Shape,
    name: String,
    /// Whether its result is made by arithmetic of its first parameter.
    is_quiet: bool,
}

/// A module that is being made.
#[derive(Default)]
struct Generated {
    wat: String,
    made: Vec<Made>,
}

impl Generated {
    /// A function of these parameters: two numbers, one that is 2 when it is called, the
    /// integer 1, and the bits of 1.
    fn add(&mut self, shape: Shape, body: &str, is_quiet: bool) {
        let name = format!("{} {}", self.made.len(), body.replace('"', "'"));
        let Shape { ty, lane, .. } = shape;
        writeln!(
            self.wat,
            "(func (export \"{name}\") (param $x {ty}) (param $y {ty}) (param $k {ty}) \
             (param $i i32) (param $b {}) (result {ty}) {body})",
            lane.1
        )
        .unwrap();
        self.made.push(Made {
            shape,
            name,
            is_quiet,
        });
    }

    fn text(&self) -> String {
        format!("(module (memory 1)\n{})", self.wat)
    }
}

/// Arithmetic that leaves a number as it is, or its negative: `x` on the left, then on the
/// right, where that is so.
fn neutral(value: f64) -> Vec<(&'static str, bool)> {
    match value == 0.0 {
        true => vec![("add", true), ("add", false), ("sub", true), ("sub", false)],
        false => vec![("mul", true), ("mul", false), ("div", true)],
    }
}

/// Arithmetic with an operand that a compiler may find out.
fn with_known() -> Generated {
    let mut module = Generated::default();
    for shape in SHAPES {
        let known = match shape.is_vector() {
            true => known_vectors(shape),
            false => known_scalars(shape),
        };
        for Known { value, text, guard } in known {
            for (op, is_left) in neutral(value) {
                let made = match is_left {
                    true => shape.op(op, &["(local.get $x)", &text]),
                    false => shape.op(op, &[&text, "(local.get $x)"]),
                };
                let Some(guard) = &guard else {
                    module.add(shape, &made, true);
                    continue;
                };
                let nine = shape.constant("nan");
                let ty = shape.ty;
                module.add(
                    shape,
                    &format!("(if (result {ty}) {guard} (then {made}) (else {nine}))"),
                    true,
                );
                module.add(shape, &format!("(select {made} {nine} {guard})"), true);
            }
        }
        lane_by_lane(&mut module, shape);
        back_and_forth(&mut module, shape);
    }
    module
}

/// Selections of lanes by a comparison.
fn lane_by_lane(module: &mut Generated, shape: Shape) {
    if !shape.is_vector() {
        return;
    }
    let (v, i) = (shape.name, shape.integer);
    let c = |value: &str| shape.constant(value);
    let k = "(local.get $k)";
    let half = format!("({v}.mul {k} {})", c("0.5"));
    let none = format!("({v}.sub {k} {})", c("2"));
    let two = format!(
        "(v128.const {i}{})",
        format!(" {}", shape.bits(2.0)).repeat(shape.lanes)
    );
    for condition in [
        format!("({v}.eq {k} {})", c("2")),
        format!("(v128.not ({v}.ne {k} {}))", c("2")),
        format!("(v128.and ({v}.le {k} {0}) ({v}.ge {k} {0}))", c("2")),
        format!("({i}.eq {k} {two})"),
        format!("({i}.eq (v128.xor {k} {two}) (v128.const i64x2 0 0))"),
        format!("({i}.eq ({i}.sub {k} {two}) (v128.const i64x2 0 0))"),
    ] {
        for (op, known) in [("mul", &half), ("div", &half), ("sub", &none)] {
            let made = shape.op(op, &["(local.get $x)", known]);
            module.add(
                shape,
                &format!("(v128.bitselect {made} {} {condition})", c("nan")),
                true,
            );
        }
    }
}

/// To the other width and back.
fn back_and_forth(module: &mut Generated, shape: Shape) {
    let x = "(local.get $x)";
    match shape.name {
        "f32" => {
            let wide = format!("(f64.promote_f32 {x})");
            for between in [
                wide.clone(),
                format!("(f64.neg {wide})"),
                format!("(f64.abs {wide})"),
                format!("(f64.copysign {wide} (f64.const -1))"),
                format!("(f64.add {wide} (f64.const -0))"),
                format!("(f64.mul {wide} (f64.const 1))"),
                format!("(f64.floor {wide})"),
                format!("(f64.min {wide} (f64.const inf))"),
                format!("(select {wide} (f64.const 3) (local.get $i))"),
                format!("(f64x2.extract_lane 0 (f64x2.splat {wide}))"),
                format!("(f64x2.extract_lane 0 (f64x2.promote_low_f32x4 (f32x4.splat {x})))"),
            ] {
                module.add(shape, &format!("(f32.demote_f64 {between})"), true);
            }
        }
        "f32x4" => {
            let wide = format!("(f64x2.promote_low_f32x4 {x})");
            for between in [
                wide.clone(),
                format!("(f64x2.neg {wide})"),
                format!("(f64x2.abs {wide})"),
            ] {
                let narrow = format!("(f32x4.demote_f64x2_zero {between})");
                let both =
                    format!("(i8x16.shuffle 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 {narrow} {narrow})");
                module.add(shape, &both, true);
            }
        }
        _ => {}
    }
}

/// A deterministic stream: SplitMix64 (Steele, Lea and Flood, 2014).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }
}

const UNARY: [&str; 7] = ["abs", "neg", "sqrt", "ceil", "floor", "trunc", "nearest"];
const BINARY: [&str; 6] = ["add", "sub", "mul", "div", "min", "max"];
/// Which of vectors only.
const OF_VECTORS: [&str; 2] = ["pmin", "pmax"];
const CONSTANTS: [&str; 8] = ["1", "-1", "0", "-0", "2", "0.5", "inf", "nan"];

/// Chains: the first of each operator in turn, then of each pair, then any of three.
fn chains(count: usize) -> Generated {
    let mut module = Generated::default();
    let mut dice = Dice(1);
    for shape in SHAPES {
        let mut ops: Vec<&str> = UNARY.iter().chain(&BINARY).copied().collect();
        ops.push("copysign");
        if shape.is_vector() {
            ops.retain(|op| *op != "copysign");
            ops.extend(OF_VECTORS);
        }
        for first in &ops {
            for second in &ops {
                let text = step(shape, &mut dice, first, "(local.get $x)");
                let text = step(shape, &mut dice, second, &text);
                module.add(shape, &text, false);
            }
        }
        for _ in 0..count {
            let mut text = "(local.get $x)".to_owned();
            for _ in 0..3 {
                let op = dice.one(&ops);
                text = step(shape, &mut dice, op, &text);
            }
            module.add(shape, &text, false);
        }
    }
    module
}

/// One more operator; nothing looks at the sign of what arithmetic made, which may differ.
fn step(shape: Shape, dice: &mut Dice, op: &str, text: &str) -> String {
    if UNARY.contains(&op) {
        return shape.op(op, &[text]);
    }
    let other = match dice.below(4) {
        0 => "(local.get $y)".to_owned(),
        1 => "(local.get $k)".to_owned(),
        _ => shape.constant(dice.one(&CONSTANTS)),
    };
    if op != "copysign" && dice.below(2) == 0 {
        return shape.op(op, &[&other, text]);
    }
    let made = shape.op(op, &[text, &other]);
    let k = shape.constant("2");
    match (dice.below(4), shape.is_vector()) {
        (0, false) => format!("(select {made} {k} ({}.eq (local.get $k) {k}))", shape.name),
        (0, true) => format!(
            "(v128.bitselect {made} {k} ({}.eq (local.get $k) {k}))",
            shape.name
        ),
        _ => made,
    }
}

/// An engine for each way to compile, Cranelift's first.
fn engines() -> impl Iterator<Item = (Way, Engine)> {
    let all = Way::all_and_llvm().into_iter();
    all.map(|way| {
        let engine = Engine::new(&way.of(Config::new()));
        (way, engine.expect("the engine works on this machine"))
    })
}

/// LLVM takes all; what is made in one pass is all without vectors.
fn only_vectors_are_left(module: &Module) {
    let (left, all) = (module.fallbacks(), module.code_places().count());
    match (module.engine().codegen(), module.engine().compilation()) {
        (Codegen::Direct, Compilation::Eager) => assert!(left.len() < all || all == 1, "{left:?}"),
        (Codegen::Direct | Codegen::Tiered | Codegen::TieredLlvm, _) => {}
        _ => assert_eq!(left, []),
    }
    let is_vectors = |one: &Fallback| one.why.starts_with("vectors");
    assert!(left.iter().all(is_vectors), "{left:?}");
}

/// What each function gives for each pair of special values.
fn results(engine: &Engine, wasm: &[u8], made: &[Made]) -> Vec<Vec<Vec<u64>>> {
    let module = Module::new(engine, wasm).unwrap();
    only_vectors_are_left(&module);
    let mut store = Store::new(engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let mut all = Vec::new();
    for Made { shape, name, .. } in made {
        let func = instance.get_func(&store, name).expect("it is exported");
        let bits = match shape.is_wide() {
            true => Val::I64(1.0_f64.to_bits().cast_signed()),
            false => Val::I32(1.0_f32.to_bits().cast_signed()),
        };
        let two = shape.value(shape.bits(2.0));
        let specials = shape.specials();
        let mut of_one = Vec::new();
        for (at, x) in specials.iter().enumerate() {
            for y in [specials[at], specials[4], specials[0]] {
                let (x, y) = (shape.value(*x), shape.value(y));
                let args = [x, y, two.clone(), Val::I32(1), bits.clone()];
                let mut result = [shape.value(0)];
                func.call(&mut store, &args, &mut result).unwrap();
                of_one.push(shape.lanes_of(&result[0]));
            }
        }
        all.push(of_one);
    }
    all
}

/// Compares the ways to compile: the same bits, or quiet NaNs of both.
fn compare(module: &Generated) {
    let wasm = wat::parse_str(module.text()).unwrap();
    let mut expected = None;
    for (way, engine) in engines() {
        let seen = results(&engine, &wasm, &module.made);
        let expected = expected.get_or_insert_with(|| seen.clone());
        check(&way, module, &seen, expected);
    }
}

fn check(way: &Way, module: &Generated, seen: &[Vec<Vec<u64>>], expected: &[Vec<Vec<u64>>]) {
    let mut wrong = Vec::new();
    for (made, (seen, expected)) in module.made.iter().zip(seen.iter().zip(expected)) {
        let same = |(a, b): (&u64, &u64)| {
            let [a_nan, b_nan] = [a, b].map(|lane| made.shape.nan(*lane));
            match made.is_quiet && a_nan.0 {
                true => a_nan.1 && b_nan == (true, true),
                false => a == b || a_nan == (true, true) && b_nan == (true, true),
            }
        };
        let all = seen.iter().zip(expected);
        if !all.into_iter().all(|(a, b)| a.iter().zip(b).all(same)) {
            wrong.push(made.name.as_str());
        }
    }
    let count = module.made.len();
    assert!(
        wrong.is_empty(),
        "{way}: {} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn arithmetic_with_what_is_known_quiets() {
    compare(&with_known());
}

#[test]
fn chains_of_operators_are_the_same() {
    compare(&chains(400));
}
