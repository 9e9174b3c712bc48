//! Loops whose accesses LLVM is told not to fault, where that is proved in front: they do
//! what Cranelift's do, also at the edges of the proof.
//!
//! Loops are made up from a seed: indices that go up and down, by strides, with constants
//! around them; ends that are met, passed or missed; bounds one off; sources and
//! destinations that overlap by a few bytes. Every other one was unrolled before, or nearly:
//! one turn may be another one, or stand elsewhere. `FATHOM_PROVED=N` makes N rounds.
//!
//! Without `.tools/zig` (`make setup`) the tests say SKIPPED.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fathom_engine::*;

#[expect(dead_code, reason = "only the generator of numbers is used")]
#[path = "common/loops.rs"]
mod loops;
use loops::Numbers;

/// Functions of one module, and how often each is called.
const FUNCTIONS: usize = 40;
const CALLS: usize = 24;
const PAGE: i32 = 65536;

fn engine(bounds: Bounds, codegen: Codegen, spectre: bool) -> Option<Engine> {
    let zig: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/zig/ziglang/zig");
    if !zig.is_file() {
        eprintln!("SKIPPED: no .tools/zig: make setup");
        return None;
    }
    let config = Config::new()
        .bounds(BoundsChoice::Named(bounds))
        .spectre(spectre)
        .codegen(codegen)
        .clang(Some(zig));
    Some(Engine::new(&config).expect("it works with this compiler"))
}

/// An index: a start, so many times a counter, and a constant; sometimes computed in
/// another way, or a pointer that is moved itself.
fn index(numbers: &mut Numbers) -> String {
    let start = numbers.one_of(&["$a", "$b", "$a", "$b", "$c"]);
    let i = numbers.one_of(&["$i", "$i", "$i", "$j"]);
    let scale = numbers.one_of(&[1, 2, 4, 8, 8, 16, 24]);
    let more = numbers.one_of(&[0, 0, 0, 1, 4, 8, -8, -1, 16, 64]);
    let scaled = match scale {
        1 => format!("(local.get {i})"),
        24 => format!("(i32.mul (local.get {i}) (i32.const 24))"),
        _ => format!(
            "(i32.shl (local.get {i}) (i32.const {}))",
            i32::trailing_zeros(scale)
        ),
    };
    let sum = match numbers.below(4) {
        0 => format!("(i32.sub (local.get {start}) {scaled})"),
        _ => format!("(i32.add (local.get {start}) {scaled})"),
    };
    match more {
        0 => sum,
        more => format!("(i32.add {sum} (i32.const {more}))"),
    }
}

/// An operand of a store and what it is stored by.
fn stored(numbers: &mut Numbers) -> (&'static str, String) {
    let offset = numbers.one_of(&[0, 0, 0, 0, 1, 8, 64, 256, 65528, 0x7fff_fff0]);
    let at = |numbers: &mut Numbers| format!("offset={offset} {}", index(numbers));
    let (from, other) = (at(numbers), at(numbers));
    match numbers.below(8) {
        0 => (
            "f64.store",
            format!("(f64.add (f64.load {from}) (f64.load {other}))"),
        ),
        1 => (
            "f64.store",
            format!("(f64.mul (f64.load {from}) (f64.const 1))"),
        ),
        2 => (
            "f32.store",
            format!("(f32.sub (f32.load {from}) (f32.const 0.5))"),
        ),
        3 => (
            "i32.store",
            format!("(i32.add (i32.load {from}) (local.get $i))"),
        ),
        4 => ("i64.store", format!("(i64.load {from})")),
        5 => (
            "i32.store8",
            format!("(i32.xor (i32.load8_u {from}) (i32.load8_s {other}))"),
        ),
        6 => ("i32.store16", "(local.get $j)".to_owned()),
        _ => ("i64.store", "(i64.extend_i32_s (local.get $i))".to_owned()),
    }
}

fn statement(numbers: &mut Numbers) -> String {
    let offset = numbers.one_of(&[0, 0, 0, 0, 1, 8, 64]);
    match numbers.below(10) {
        0 => format!(
            "(local.set $sum (i32.add (local.get $sum) (i32.load {})))",
            index(numbers)
        ),
        1 => {
            let (store, value) = stored(numbers);
            format!(
                "(if (i32.and (local.get $i) (i32.const 1)) \
                 (then ({store} offset={offset} {} {value})))",
                index(numbers)
            )
        }
        2 => "(local.set $sum (i32.xor (local.get $sum) (local.get $i)))".to_owned(),
        _ => {
            let (store, value) = stored(numbers);
            format!("({store} offset={offset} {} {value})", index(numbers))
        }
    }
}

/// A comparison, of both with zeros in front where it is wide.
fn compared(compare: &str, is_wide: bool, x: &str, y: &str) -> String {
    match (is_wide, y.strip_prefix("(i32.const ")) {
        (false, _) => format!("(i32.{compare} {x} {y})"),
        (true, Some(number)) => {
            format!("(i64.{compare} (i64.extend_i32_u {x}) (i64.const {number})")
        }
        (true, None) => format!("(i64.{compare} (i64.extend_i32_u {x}) (i64.extend_i32_u {y}))"),
    }
}

/// A function: parameters `a`, `b` are places, `s` and `n` where the counter starts and
/// ends; `c` is computed, `j` goes along with the counter.
fn function(number: usize, numbers: &mut Numbers) -> String {
    let step = numbers.one_of(&[1, 1, 1, 1, 2, 3, 4, -1, -1, -2, 8]);
    let up = if step > 0 {
        ["lt", "le", "ne"]
    } else {
        ["gt", "ge", "ne"]
    };
    let compare = match numbers.one_of(&up) {
        "ne" => "ne".to_owned(),
        one => format!("{one}_{}", numbers.one_of(&["s", "u", "s"])),
    };
    let end = match numbers.below(5) {
        0 => format!("(i32.const {})", numbers.one_of(&[0, 8, 100, 1000])),
        _ => "(local.get $n)".to_owned(),
    };
    let is_wide = numbers.below(4) == 0;
    let compared = |x: &str, y: &str| compared(&compare, is_wide, x, y);
    let next = format!("(i32.add (local.get $i) (i32.const {step}))");
    let along = numbers.one_of(&[1, 2, -1, 8]);
    let body: String = (0..1 + numbers.below(4))
        .map(|_| statement(numbers))
        .collect();
    // An access in each iteration, so that it ends.
    let anyway = format!(
        "(i32.store8 (i32.add (local.get $a) (i32.shl (local.get $i) (i32.const {}))) \
         (local.get $i))",
        numbers.below(3)
    );
    let along = format!("(local.set $j (i32.add (local.get $j) (i32.const {along})))");
    let loops = match numbers.below(4) {
        0 => format!(
            "(block $out (loop $again (br_if $out (i32.eqz {})) \
             {body} {anyway} {along} (local.set $i {next}) (br $again)))",
            compared("(local.get $i)", &end)
        ),
        1 => format!(
            "(loop $again {anyway} {body} {along} (local.set $i {next}) \
             (br_if $again {}))",
            compared("(local.get $i)", &end)
        ),
        2 => format!(
            "(block $out (loop $again {body} (br_if $out {}) \
             {anyway} {along} (local.set $i {next}) (br $again)))",
            compared(&end, "(local.get $i)")
        ),
        _ => format!(
            "(loop $again {body} {anyway} {along} \
             (br_if $again {}))",
            compared(&format!("(local.tee $i {next})"), &end)
        ),
    };
    let loops = match numbers.below(6) {
        0 => format!(
            "(loop $outer {loops} (local.set $i (local.get $s)) \
             (br_if $outer (i32.lt_u (local.tee $k (i32.add (local.get $k) (i32.const 1))) \
             (i32.const 3))))"
        ),
        _ => loops,
    };
    format!(
        "(func (export \"f{number}\") (param $a i32) (param $b i32) (param $s i32) (param $n i32) \
         (result i32 i32) (local $i i32) (local $j i32) (local $k i32) (local $c i32) \
         (local $sum i32) (local.set $i (local.get $s)) \
         (local.set $c (i32.and (local.get $b) (i32.const 0xfff8))) {loops} \
         (local.get $i) (i32.add (local.get $sum) (local.get $j)))\n"
    )
}

/// What one turn of an unrolled loop does to elements at `at`.
#[derive(Clone)]
struct Turn {
    /// Constants of the element stored and of two loaded.
    at: [i32; 3],
    /// What the second one is: near the first array, near the second, or the same always.
    other: &'static str,
    operation: &'static str,
    constant: i32,
}

/// The turns of a loop: the same, or one of them another, or two of them elsewhere.
fn turns(numbers: &mut Numbers, ty: &str, bytes: i32, spacing: i32) -> Vec<(i32, Turn)> {
    let count = numbers.one_of(&[2, 2, 3, 4, 4, 8]);
    let near =
        |numbers: &mut Numbers| bytes * (numbers.below(5) as i32 - 2) * numbers.one_of(&[0, 1, 1]);
    let operations: &[&str] = match ty.starts_with('f') {
        true => &["add", "mul", "sub"],
        false => &["add", "xor", "sub"],
    };
    let first = Turn {
        at: [near(numbers), near(numbers), near(numbers)],
        other: numbers.one_of(&["$a", "$b", "$b", "$c"]),
        operation: numbers.one_of(operations),
        constant: numbers.below(3) as i32,
    };
    let mut turns: Vec<(i32, Turn)> = (0..count).map(|turn| (turn, first.clone())).collect();
    if numbers.below(3) == 0 {
        let (_, one) = &mut turns[numbers.below(count as usize)];
        match numbers.below(4) {
            0 => one.operation = numbers.one_of(operations),
            1 => one.constant += 1,
            2 => one.at[numbers.below(3)] += spacing,
            _ => one.at[numbers.below(3)] += bytes / 2,
        }
    }
    if numbers.below(3) == 0 {
        let (from, to) = (numbers.below(turns.len()), numbers.below(turns.len()));
        turns.swap(from, to);
    }
    turns
}

/// A loop that a compiler has unrolled, or nearly: what its turns load may be what others
/// store.
fn unrolled(number: usize, numbers: &mut Numbers) -> String {
    let (ty, bytes) = numbers.one_of(&[("f64", 8), ("i32", 4), ("i64", 8), ("f32", 4)]);
    let spacing = bytes * numbers.one_of(&[1, 1, 1, 2, -1]);
    let turns = turns(numbers, ty, bytes, spacing);
    let from = numbers.one_of(&["$a", "$b", "$b"]);
    // Two parts of a turn can be two statements.
    let twice = numbers.below(4) == 0;
    let place = |of: &str, at: i32| match of {
        "$c" => "(local.get $c)".to_owned(),
        of => format!("(i32.add (local.get {of}) (i32.add (local.get $i) (i32.const {at})))"),
    };
    let loaded = |of: &str, at: i32| format!("({ty}.load {})", place(of, at));
    // Of two NaN either may be the outcome.
    let second = |of: &str, at: i32| match ty.starts_with('f') {
        true => format!("({ty}.const 1.5)"),
        false => loaded(of, at),
    };
    let mut body = String::new();
    for (turn, one) in &turns {
        let [to, x, y] = one.at.map(|at| at + turn * spacing);
        let (operation, constant) = (one.operation, one.constant);
        let (first, other) = (loaded(from, x), second(one.other, y));
        let value =
            format!("({ty}.{operation} ({ty}.add {first} ({ty}.const {constant})) {other})");
        body.push_str(&format!("({ty}.store {} {value})", place("$a", to)));
        if twice {
            let again = loaded("$a", to);
            body.push_str(&format!("({ty}.store {} {again})", place("$b", x)));
        }
    }
    let step = turns.len() as i32 * spacing;
    let compare = if step > 0 { "lt_s" } else { "gt_s" };
    let end = format!("(i32.mul (local.get $n) (i32.const {}))", spacing.signum());
    format!(
        "(func (export \"f{number}\") (param $a i32) (param $b i32) (param $s i32) (param $n i32) \
         (result i32 i32) (local $i i32) (local $c i32) \
         (local.set $n (i32.and (local.get $n) (i32.const 0x1fff))) \
         (local.set $c (i32.and (local.get $b) (i32.const 0xfff8))) \
         (loop $again {body} (br_if $again (i32.{compare} \
         (local.tee $i (i32.add (local.get $i) (i32.const {step}))) {end}))) \
         (local.get $a) (local.get $c))\n"
    )
}

fn module(numbers: &mut Numbers) -> String {
    let mut text = String::from("(module (memory (export \"m\") 1 2)\n");
    for number in 0..FUNCTIONS {
        text.push_str(&match number % 2 {
            0 => function(number, numbers),
            _ => unrolled(number, numbers),
        });
    }
    for at in [0, PAGE - 8192] {
        write!(text, "(data (i32.const {at}) \"").unwrap();
        for _ in 0..8192 {
            write!(text, "\\{:02x}", numbers.next() & 0xff).unwrap();
        }
        text.push_str("\")\n");
    }
    text.push(')');
    text
}

/// Places, a start and an end: mostly so that the loop ends near an edge.
fn arguments(numbers: &mut Numbers) -> [Val; 4] {
    let far = numbers.one_of(&[PAGE, PAGE, i32::MAX, -1, i32::MIN]);
    let place = |numbers: &mut Numbers| match numbers.below(8) {
        0 => numbers.below(8) as i32,
        1 => far.wrapping_sub(numbers.below(1200) as i32),
        2 => PAGE - 8 * numbers.below(200) as i32,
        _ => numbers.below(PAGE as usize) as i32,
    };
    let a = place(numbers);
    let b = match numbers.below(2) {
        0 => a.wrapping_add(numbers.below(65) as i32 - 32),
        _ => place(numbers),
    };
    let start = match numbers.below(4) {
        0 => numbers.one_of(&[i32::MAX - 20, -20, i32::MIN + 20, 100, 1000]),
        _ => 0,
    };
    let n = match numbers.below(6) {
        0 => numbers.one_of(&[0, 1, -1, i32::MAX, i32::MIN, i32::MAX - 1]),
        1 => start.wrapping_sub(numbers.below(150) as i32),
        2 => (PAGE.wrapping_sub(a)) / numbers.one_of(&[1, 2, 4, 8]) + numbers.below(5) as i32 - 2,
        _ => start.wrapping_add(numbers.below(150) as i32),
    };
    [a, b, start, n].map(Val::I32)
}

/// What calls come to, and the memory behind each; what was stored is left there.
fn observed(engine: &Engine, wat: &str, calls: &[(usize, [Val; 4])]) -> Vec<(String, Vec<u8>)> {
    let module = Module::new(engine, wat::parse_str(wat).unwrap()).unwrap();
    assert_eq!(module.fallbacks(), []);
    let mut store = Store::new(engine, ());
    let mut instance = Instance::new(&mut store, &module, &[]).unwrap();
    let mut seen = Vec::new();
    for (at, (number, args)) in calls.iter().enumerate() {
        if at % CALLS == 0 {
            instance = Instance::new(&mut store, &module, &[]).unwrap();
        }
        let func = instance.get_func(&store, &format!("f{number}")).unwrap();
        let mut results = [Val::I32(0), Val::I32(0)];
        let came_to = match func.call(&mut store, args, &mut results) {
            Ok(()) => format!("{results:?}"),
            // An instruction that does the work of two names the second.
            Err(error) => format!("{:?}", error.trap().map(|trap| trap.code)),
        };
        let memory = instance.get_memory(&store, "m").unwrap();
        seen.push((came_to, memory.data(&store).to_vec()));
    }
    seen
}

fn round(seed: u64, bounds: Bounds, spectre: bool) -> bool {
    let mut numbers = Numbers(seed);
    let wat = module(&mut numbers);
    let calls: Vec<(usize, [Val; 4])> = (0..FUNCTIONS * CALLS)
        .map(|at| (at / CALLS, arguments(&mut numbers)))
        .collect();
    let (Some(cranelift), Some(llvm)) = (
        engine(bounds, Codegen::Cranelift, spectre),
        engine(bounds, Codegen::Llvm, spectre),
    ) else {
        return false;
    };
    let expected = observed(&cranelift, &wat, &calls);
    let found = observed(&llvm, &wat, &calls);
    let trapped = expected
        .iter()
        .filter(|(came_to, _)| came_to.contains("OutOfBounds"));
    let trapped = trapped.count();
    let share = 100 * trapped / calls.len();
    assert!((10..=90).contains(&share), "{share} % of the calls trap");
    for (((number, args), expected), found) in calls.iter().zip(&expected).zip(&found) {
        let differs = expected.1.iter().zip(&found.1).position(|(x, y)| x != y);
        assert!(
            expected.0 == found.0 && differs.is_none(),
            "seed {seed:#x}, {bounds}, f{number}{args:?}: {} is {}, first byte {differs:?}\n{}",
            expected.0,
            found.0,
            wat.lines().nth(number + 1).unwrap()
        );
    }
    true
}

#[test]
fn made_up_loops_come_to_the_same() {
    let rounds = std::env::var("FATHOM_PROVED").map_or(2, |rounds| rounds.parse().unwrap());
    for at in 0..rounds {
        let bounds = [Bounds::Guard, Bounds::Trap][at as usize % 2];
        if !round(0x5eed + at, bounds, at % 4 < 3) {
            return;
        }
    }
}

/// What was stored before a trap is there, and nothing else: a loop that would be inside
/// but for its last iteration, or its first one on the way down.
#[test]
fn one_byte_too_far_is_one_byte_too_far() {
    let wat = r#"(module (memory (export "m") 1)
        (func (export "f0") (param $p i32) (param $q i32) (param $i i32) (param $n i32)
            (result i32 i32)
            (loop $again
                (i32.store8 (i32.add (local.get $p) (local.get $i)) (i32.const 7))
                (i32.store8 (i32.add (local.get $q) (local.get $i)) (i32.const 9))
                (br_if $again (i32.lt_s
                    (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
            (local.get $i) (local.get $n))
        (func (export "f1") (param $p i32) (param $q i32) (param $i i32) (param $n i32)
            (result i32 i32)
            (loop $again
                (i32.store8 (i32.add (local.get $p) (local.get $i)) (i32.const 7))
                (drop (memory.grow (i32.const 0)))
                (br_if $again (i32.ne
                    (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
            (local.get $i) (local.get $n)))"#;
    let mut calls = Vec::new();
    for more in -2..=2 {
        for func in [0, 1] {
            let args = [1000, PAGE - 500, 0, 500 + more].map(Val::I32);
            calls.push((func, args));
            calls.push((func, [PAGE - 100, 0, 0, 100 + more].map(Val::I32)));
            calls.push((func, [0, 0, -more, 3000].map(Val::I32)));
        }
    }
    for bounds in [Bounds::Guard, Bounds::Trap] {
        same(bounds, wat, &calls);
    }
    let wide = wat
        .replace("i32", "i64")
        .replace("\"m\") 1", "\"m\") i64 1");
    let calls: Vec<(usize, [Val; 4])> = calls
        .into_iter()
        .map(|(func, args)| (func, args.map(widened)))
        .collect();
    for bounds in ["guard64".parse().unwrap(), Bounds::Trap] {
        same(bounds, &wide, &calls);
    }
}

fn widened(value: Val) -> Val {
    match value {
        Val::I32(number) => Val::I64(number.into()),
        other => other,
    }
}

/// Compares the generators.
fn same(bounds: Bounds, wat: &str, calls: &[(usize, [Val; 4])]) {
    let engines = [Codegen::Cranelift, Codegen::Llvm].map(|codegen| engine(bounds, codegen, true));
    let [Some(cranelift), Some(llvm)] = engines else {
        return;
    };
    let expected = observed(&cranelift, wat, calls);
    let trapped = expected
        .iter()
        .filter(|seen| seen.0.contains("OutOfBounds"));
    assert!(trapped.count() > 5, "{bounds}");
    assert!(observed(&llvm, wat, calls) == expected, "{bounds}");
}
