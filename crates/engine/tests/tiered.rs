//! Functions that are optimised while they run do what they do if they never are: every value
//! that a loop has is there when better code goes on with it, and so are its traps, its callers
//! and its interrupts.
#![cfg(target_arch = "x86_64")]

use std::time::Duration;

use fathom_engine::*;

mod common;
#[path = "common/ways.rs"]
mod ways;

use common::{call, instance};
use ways::Way;

/// Optimising after so many turns: at 0 at once, on this thread.
fn tiered(turns: u32) -> Config {
    let config = Config::new().codegen(Codegen::Tiered).tier_up(turns);
    config.compilation(Compilation::Lazy)
}

/// The same, and by LLVM what was optimised; nothing where there is no clang.
fn to_the_last(turns: u32) -> Option<Config> {
    Some(Way::last_tier()?.of(Config::new()).tier_up(turns))
}

/// The loops below, by an engine with this configuration.
fn loops(config: &Config) -> (Store<()>, Instance, Module) {
    instance(&Engine::new(config).unwrap(), LOOPS)
}

/// A module with loops of every kind, and with locals of every type that are looked at behind them.
const LOOPS: &str = r#"(module
  (memory (export "memory") 1 4)
  (table 2 funcref) (elem (i32.const 0) $twice $thrice)
  (type $unary (func (param i64) (result i64)))
  (func $twice (type $unary) (i64.mul (local.get 0) (i64.const 2)))
  (func $thrice (type $unary) (i64.mul (local.get 0) (i64.const 3)))
  (func (export "mixed") (param $n i32) (param $a i64) (param $x f32) (param $y f64)
      (result i32 i64 f32 f64)
    (local $i i32) (local $b i64) (local $z f64) (local $never i64)
    (local.set $b (i64.const 0x123456789abcdef0))
    (loop $turn
      (local.set $a (i64.add (i64.rotl (local.get $a) (i64.const 7)) (local.get $b)))
      (local.set $b (i64.xor (local.get $b) (i64.extend_i32_u (local.get $i))))
      (local.set $x (f32.add (local.get $x) (f32.const 0.5)))
      (local.set $z (f64.sub (local.get $y) (local.get $z)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $turn (i32.lt_u (local.get $i) (local.get $n))))
    (i32.add (local.get $i) (i32.wrap_i64 (local.get $never)))
    (local.get $a) (local.get $x) (f64.add (local.get $z) (f64.convert_i64_s (local.get $b))))
  (func $many (export "many") (param $a i32) (param $b i64) (param $c i32) (param $d i64)
      (param $e i32) (param $f i64) (param $u f64) (param $v f32) (param f64 f64 f64 f64 f64 f64)
      (param $w f64) (param $x f32) (param $g i32) (result f64)
    (local $i i32) (local $s f64)
    (i32.store (i32.const 65528) (local.get $e))
    (if (i32.eqz (local.get $e)) (then (return (local.get $w))))
    (loop $turn
      (local.set $s (f64.add (f64.mul (local.get $s) (f64.const 0.5))
        (call $many (local.get $g) (local.get $f) (local.get $c) (local.get $b)
          (i32.sub (local.get $e) (i32.const 1)) (i64.add (local.get $d) (i64.const 1))
          (local.get $s) (local.get $x) (local.get 8) (local.get 9) (local.get $w) (local.get 11)
          (local.get 12) (local.get 13) (f64.add (local.get $u) (f64.convert_i64_s (local.get $f)))
          (f32.add (local.get $v) (f32.const 1)) (i32.add (local.get $a) (local.get $i)))))
      (local.set $s (f64.add (local.get $s) (f64.convert_i32_u (i32.load (i32.const 65528)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $turn (i32.lt_u (local.get $i) (i32.const 3))))
    (f64.add (f64.add (local.get $s) (f64.convert_i32_s (local.get $g)))
      (f64.promote_f32 (local.get $x))))
  (func (export "nested") (param $n i32) (result i32)
    (local $i i32) (local $j i32) (local $sum i32)
    (block $out
      (loop $outer
        (local.set $j (i32.const 0))
        (loop $inner
          (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31)) (local.get $j)))
          (local.set $j (i32.add (local.get $j) (i32.const 1)))
          (br_if $out (i32.eq (local.get $sum) (i32.const 123456)))
          (br_if $inner (i32.lt_u (local.get $j) (local.get $i))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $outer (i32.lt_u (local.get $i) (local.get $n)))))
    (local.get $sum))
  (func (export "operands") (param $n i32) (result i32)
    (local $i i32)
    (local.get $n)
    (loop $turn (result i32)
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $turn (i32.gt_s (local.get $n) (i32.const 0)))
      (i32.shl (local.get $i) (i32.const 3)))
    (i32.sub)
    (i32.const 7)
    (loop $more (param i32) (result i32)
      (i32.const 3) (i32.mul)
      (local.set $i (i32.sub (local.get $i) (i32.const 1)))
      (br_if $more (i32.gt_s (local.get $i) (i32.const 0))))
    (i32.add))
  (func (export "second") (param $n i32) (result i32)
    (local $i i32) (local $sum i32)
    (local.get $n)
    (loop $first
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $first (i32.lt_u (local.get $i) (local.get $n))))
    (local.set $sum)
    (loop $second
      (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 3)) (local.get $i)))
      (local.set $i (i32.sub (local.get $i) (i32.const 1)))
      (br_if $second (i32.gt_s (local.get $i) (i32.const 0))))
    (local.get $sum))
  (func $four (param $a i64) (param $b i64) (param $c i64) (param $d i64)
      (result i64 i64 i64 i64)
    (i64.add (i64.mul (local.get $a) (i64.const 2)) (local.get $d))
    (i64.add (i64.mul (local.get $b) (i64.const 3)) (local.get $a))
    (i64.add (i64.mul (local.get $c) (i64.const 5)) (local.get $b))
    (i64.add (i64.mul (local.get $d) (i64.const 7)) (local.get $c)))
  (func (export "arguments") (param $n i32) (result i64)
    (local $v i64)
    (local.set $v (i64.extend_i32_u (local.get $n)))
    (i64.add (local.get $v) (i64.const 1)) (i64.add (local.get $v) (i64.const 2))
    (i64.add (local.get $v) (i64.const 3)) (i64.add (local.get $v) (i64.const 4))
    (call $four
      (i64.add (local.get $v) (i64.const 5)) (i64.mul (local.get $v) (i64.const 6))
      (i64.sub (local.get $v) (i64.const 7)) (i64.xor (local.get $v) (i64.const 8)))
    (i64.sub) (i64.mul (i64.const 3)) (i64.sub) (i64.mul (i64.const 5)) (i64.sub)
    (i64.mul (i64.const 7)) (i64.sub) (i64.mul (i64.const 11)) (i64.sub)
    (i64.mul (i64.const 13)) (i64.sub) (i64.mul (i64.const 17)) (i64.sub))
  (func (export "waits") (param $n i32) (result i32)
    (local.get $n)
    (local.set $n (i32.add (local.get $n) (i32.const 3)))
    (local.get $n)
    (local.tee $n (i32.const 9))
    (i32.add) (i32.mul) (i32.xor (local.get $n)))
  (func (export "stores") (param $n i32)
    (local $i i32)
    (loop $turn
      (i32.store (i32.shl (local.get $i) (i32.const 2)) (local.get $i))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $turn (i32.lt_u (local.get $i) (local.get $n)))))
  (func (export "grows") (result i32)
    (local $i i32)
    (loop $turn
      (drop (memory.grow (i32.const 1)))
      (i32.store8 (i32.sub (i32.shl (memory.size) (i32.const 16)) (i32.const 1)) (i32.const 77))
      (local.set $i (i32.add (local.get $i) (i32.load8_u
        (i32.sub (i32.shl (memory.size) (i32.const 16)) (i32.const 1)))))
      (br_if $turn (i32.lt_u (local.get $i) (i32.const 5000))))
    (i32.add (local.get $i) (memory.size)))
  (func (export "calls") (param $n i32) (result i64)
    (local $i i32) (local $v i64)
    (local.set $v (i64.const 1))
    (loop $turn
      (local.set $v (i64.add (i64.const 1) (call_indirect (type $unary)
        (local.get $v) (i32.and (local.get $i) (i32.const 1)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $turn (i32.lt_u (local.get $i) (local.get $n))))
    (local.get $v))
  (func $deep (export "deep") (param $n i32) (result i32)
    (local $i i32) (local $sum i32)
    (if (i32.eqz (local.get $n)) (then (return (i32.const 1))))
    (loop $turn
      (local.set $sum (i32.add (local.get $sum)
        (call $deep (i32.sub (local.get $n) (i32.const 1)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $turn (i32.lt_u (local.get $i) (i32.const 2))))
    (local.get $sum))
  (func $spoiled (param $x f64) (result f64)
    (local $a f64) (local $b i64) (local $c i64) (local $d i64) (local $i i32)
    (local $e f64) (local $f f64)
    (loop $turn
      (local.set $a (f64.add (local.get $a) (f64.mul (local.get $x) (f64.const 0.375))))
      (local.set $e (f64.sub (local.get $a) (local.get $e)))
      (local.set $f (f64.add (local.get $e) (local.get $f)))
      (local.set $b (i64.add (local.get $b) (i64.const 3)))
      (local.set $c (i64.add (local.get $c) (local.get $b)))
      (local.set $d (i64.xor (local.get $d) (local.get $c)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $turn (i32.lt_u (local.get $i) (i32.const 4))))
    (f64.add (f64.add (local.get $a) (local.get $f)) (f64.convert_i64_s (local.get $d))))
  (func (export "pressed") (param $n i32) (param $a i64) (param $x f64) (result i64 f64 f32)
    (local $i i32) (local $b i64) (local $c i32) (local $d i64) (local $e i64)
    (local $y f64) (local $z f32) (local $w f64)
    (local.set $z (f32.const 0.1))
    (loop $turn
      (local.set $x (f64.add (f64.mul (local.get $x) (f64.const 0.5)) (local.get $y)))
      (local.set $y (f64.sub (local.get $x) (local.get $y)))
      (local.set $w (f64.add (local.get $w) (f64.add (local.get $x) (local.get $y))))
      (local.set $z (f32.sub (f32.demote_f64 (local.get $w)) (local.get $z)))
      (local.set $b (i64.sub (local.get $a) (local.get $b)))
      (local.set $d (i64.reinterpret_f64 (local.get $x)))
      (local.set $w (f64.mul (local.get $w) (f64.const 0.5)))
      (local.set $e (i64.mul (i64.add (local.get $e) (local.get $d)) (local.get $b)))
      (local.set $c (i32.mul (i32.sub (local.get $i) (local.get $c)) (i32.const -7)))
      (local.set $a (i64.shl (i64.xor (local.get $e) (i64.extend_i32_u (local.get $c)))
        (i64.const 1)))
      (if (i32.eqz (i32.and (local.get $i) (i32.const 15)))
        (then (local.set $y (f64.add (local.get $y) (call $spoiled (local.get $x))))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $turn (i32.lt_u (local.get $i) (local.get $n))))
    (i64.add (local.get $a) (i64.add (local.get $b) (local.get $d)))
    (f64.add (local.get $w) (f64.reinterpret_i64 (i64.and (local.get $e) (i64.const 0xffff))))
    (f32.add (local.get $z) (f32.convert_i32_s (local.get $c))))
  (func (export "endless") (loop $turn (br $turn)))
  (func $inner (param $n i32)
    (local $i i32)
    (loop $turn
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $turn (i32.lt_u (local.get $i) (local.get $n))))
    (unreachable))
  (func (export "outer") (param $n i32) (call $inner (local.get $n)))
)"#;

/// What is called, and with what.
fn calls() -> Vec<(&'static str, Vec<Val>)> {
    let mixed = [
        Val::I64(5),
        Val::F32(1.25_f32.to_bits()),
        Val::F64(3.5_f64.to_bits()),
    ];
    let mixed = |n| [&[Val::I32(n)], &mixed[..]].concat();
    let pressed = |n| vec![Val::I32(n), Val::I64(-9), Val::F64(2.5_f64.to_bits())];
    let double = |x: f64| Val::F64(x.to_bits());
    let single = |x: f32| Val::F32(x.to_bits());
    let mut many = [1, 2, 3, 4, 6, 7].map(|n| match n % 2 {
        1 => Val::I32(n),
        _ => Val::I64(n.into()),
    });
    many[5] = Val::I64(-7);
    let floats = (1..=8).map(|n| double(f64::from(n) * 0.25));
    let mut many: Vec<Val> = many.into_iter().chain(floats).collect();
    many[4] = Val::I32(6);
    many.insert(7, single(0.75));
    many.truncate(14);
    many.extend([double(-2.5), single(9.5), Val::I32(-11)]);
    let mut calls = vec![
        ("grows", vec![]),
        ("deep", vec![Val::I32(7)]),
        ("many", many),
    ];
    for n in [0, 1, 2, 3, 100, 20_000] {
        calls.push(("mixed", mixed(n)));
        calls.push(("arguments", vec![Val::I32(n)]));
        calls.push(("waits", vec![Val::I32(n)]));
        calls.push(("second", vec![Val::I32(n)]));
        calls.push(("operands", vec![Val::I32(n)]));
        calls.push(("calls", vec![Val::I32(n)]));
        calls.push(("nested", vec![Val::I32(n.min(300))]));
        calls.push(("stores", vec![Val::I32(n)]));
        calls.push(("pressed", pressed(n)));
        calls.push(("outer", vec![Val::I32(n)]));
    }
    calls
}

/// What each call comes to, with the memory behind it and the functions that a trap names.
fn observed(config: &Config) -> Vec<String> {
    let (mut store, instance, _) = loops(config);
    let memory = instance.get_memory(&store, "memory").unwrap();
    let mut all = Vec::new();
    for _ in 0..3 {
        for (name, args) in calls() {
            let came_to = match call(&mut store, instance, name, &args) {
                Ok(results) => format!("{results:?}"),
                Err(error) => {
                    let trap = error.trap().expect("a trap");
                    let frames = trap.frames.iter();
                    let frames: Vec<u32> = frames.map(|frame| frame.func_index).collect();
                    format!("{} {frames:?}", trap.code)
                }
            };
            let digest = memory.data(&store).iter().fold(0_u64, |digest, byte| {
                digest.wrapping_mul(31).wrapping_add(u64::from(*byte))
            });
            all.push(format!("{name} {args:?}: {came_to}, {digest:x}"));
        }
    }
    all
}

#[test]
fn what_is_optimised_while_it_runs_comes_to_the_same() {
    for bounds in [Bounds::Guard, Bounds::Trap, Bounds::Debug] {
        let choice = BoundsChoice::Named(bounds);
        let expected = observed(&Config::new().bounds(choice));
        let direct = Config::new().codegen(Codegen::Direct).bounds(choice);
        assert_eq!(observed(&direct), expected, "{bounds}");
        for turns in [0, 1, 2, 7, 1000] {
            let config = tiered(turns).bounds(choice);
            assert_eq!(observed(&config), expected, "{bounds}, after {turns}");
        }
        for turns in [0, 7] {
            let Some(config) = to_the_last(turns) else {
                continue;
            };
            let observed = observed(&config.bounds(choice));
            assert_eq!(observed, expected, "{bounds}, by LLVM after {turns}");
        }
    }
}

/// What is above an `i32` in a register is anything where it comes from the host or from a
/// function that somebody else compiled.
#[test]
fn upper_halves_of_integers_are_not_looked_at() {
    let wat = r#"(module
      (import "host" "minus" (func $minus (param i32) (result i32)))
      (func (export "wide") (param i32) (result i64)
        (i64.extend_i32_u (call $minus (local.get 0))))
      (func (export "converted") (param i32) (result i64)
        (i64.reinterpret_f64 (f64.convert_i32_u (call $minus (local.get 0)))))
      (func $narrow (param i64) (result i32)
        (i32.wrap_i64 (local.get 0)))
      (func (export "compared") (param i64) (result i32)
        (select (i32.const 1) (i32.const 2) (call $narrow (local.get 0)))))"#;
    let wasm = wat::parse_str(wat).unwrap();
    let codegens = [Codegen::Cranelift, Codegen::Direct, Codegen::Tiered];
    let all = codegens.map(|codegen| {
        let engine = Engine::new(&Config::new().codegen(codegen).tier_up(0)).unwrap();
        let module = Module::new(&engine, &wasm).unwrap();
        let mut store = Store::new(&engine, ());
        let mut linker = Linker::new(&engine);
        linker.func_wrap("host", "minus", |x: i32| -x).unwrap();
        let instance = linker.instantiate(&mut store, &module).unwrap();
        let mut called = |name: &str, arg: Val| call(&mut store, instance, name, &[arg]).unwrap();
        let wide = called("wide", Val::I32(5))[0].i64();
        let converted = called("converted", Val::I32(7))[0].i64();
        let compared = called("compared", Val::I64(1 << 32))[0].i32();
        (wide, converted, compared)
    });
    assert_eq!(all[0].0, Some(0xffff_fffb));
    assert_eq!(all[0].2, Some(2));
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
}

#[test]
fn a_loop_goes_on_in_optimised_code() {
    let (mut store, instance, module) = loops(&tiered(0));
    let before = module.optimised_functions();
    assert_eq!(before, 0);
    let args = [Val::I32(100)];
    call(&mut store, instance, "nested", &args).unwrap();
    assert_eq!(module.optimised_functions(), 1);
    assert_eq!(
        module.entered_loops(),
        1,
        "the inner one, and all that is around it with it"
    );
}

/// Code that begins at a loop is the whole function once more: a loop has it when it has run for
/// long itself.
#[test]
fn loops_that_turn_a_few_times_have_no_code_of_their_own() {
    let short = "(local.set $i (i32.const 5))
        (loop $turn
          (local.set $i (i32.sub (local.get $i) (i32.const 1)))
          (br_if $turn (local.get $i)))";
    let text = format!(
        r#"(module (import "" "goes on" (func $goes_on (result i32)))
          (func (export "f") (local $i i32)
            (loop $long (br_if $long (call $goes_on)))
            {}))"#,
        short.repeat(10)
    );
    let engine = Engine::new(&tiered(100)).unwrap();
    let module = Module::new(&engine, wat::parse_str(text).unwrap()).unwrap();
    let mut store = Store::new(&engine, module.clone());
    // The long one turns until it has its code.
    let goes_on = Func::wrap(&mut store, |caller: Caller<'_, Module>| {
        i32::from(caller.data().entered_loops() == 0)
    })
    .unwrap();
    let instance = Instance::new(&mut store, &module, &[goes_on.into()]).unwrap();
    let func = instance.get_func(&store, "f").unwrap();
    func.call(&mut store, &[], &mut []).unwrap();
    assert_eq!(module.entered_loops(), 1);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(module.entered_loops(), 1);
}

#[test]
fn a_function_that_is_called_often_is_optimised_by_another_thread() {
    let (mut store, instance, module) = loops(&tiered(100));
    let started = std::time::Instant::now();
    while module.optimised_functions() == 0 {
        call(&mut store, instance, "deep", &[Val::I32(5)]).unwrap();
        assert!(started.elapsed() < Duration::from_secs(60), "it never is");
    }
    let results = call(&mut store, instance, "deep", &[Val::I32(5)]).unwrap();
    assert_eq!(results[0].i32(), Some(32));
}

/// After how many turns LLVM is asked: at once, and in the background where that can be.
fn turns_to_the_last() -> &'static [u32] {
    match std::thread::available_parallelism().map_or(1, usize::from) {
        1 => {
            eprintln!("SKIPPED: in the background: there is one processor");
            &[0]
        }
        _ => &[0, 100],
    }
}

#[test]
fn a_function_that_runs_on_is_compiled_by_llvm() {
    for &turns in turns_to_the_last() {
        let Some(config) = to_the_last(turns) else {
            return;
        };
        let (mut store, instance, module) = loops(&config);
        let started = std::time::Instant::now();
        while module.functions_of_last_tier().0 == 0 {
            let results = call(&mut store, instance, "deep", &[Val::I32(5)]).unwrap();
            assert_eq!(results[0].i32(), Some(32));
            assert!(started.elapsed() < Duration::from_secs(300), "it never is");
        }
        let results = call(&mut store, instance, "deep", &[Val::I32(5)]).unwrap();
        assert_eq!(results[0].i32(), Some(32));
    }
}

/// Code by Cranelift that begins at a loop is left at one, for code by LLVM that begins there.
#[test]
fn a_loop_goes_on_in_code_by_llvm() {
    let Some(config) = to_the_last(0) else { return };
    let (mut store, instance, module) = loops(&config);
    call(&mut store, instance, "nested", &[Val::I32(100)]).unwrap();
    assert_eq!(module.functions_of_last_tier(), (1, 1), "the outer one");
    // In the background, where one call is long.
    let background = turns_to_the_last().get(1).copied();
    let Some(config) = background.and_then(to_the_last) else {
        return;
    };
    let interrupt = Interrupt::new();
    let (mut store, instance, module) = loops(&config);
    store.set_interrupt(&interrupt);
    let ender = std::thread::spawn(move || {
        let started = std::time::Instant::now();
        while module.functions_of_last_tier().1 == 0 {
            std::thread::sleep(Duration::from_millis(10));
            assert!(started.elapsed() < Duration::from_secs(300), "it never is");
        }
        std::thread::sleep(Duration::from_millis(50));
        interrupt.stop(Duration::from_secs(60))
    });
    let error = call(&mut store, instance, "endless", &[]).unwrap_err();
    assert_eq!(error.trap().expect("a trap").code, TrapCode::Interrupted);
    assert!(ender.join().unwrap(), "it has ended");
}

/// A module may go while clang compiles a function of it, and clang may not be there any more.
#[test]
fn nobody_waits_for_the_last_tier() {
    let Some(config) = to_the_last(10) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clang");
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && echo clang version 20.1.2 && exit\nexit 1\n";
    std::fs::write(&path, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&path, mode).unwrap();
    for config in [config.clone(), config.clang(Some(path))] {
        for wait in [0, 600] {
            let (mut store, instance, module) = loops(&config);
            while module.optimised_functions() == 0 {
                call(&mut store, instance, "deep", &[Val::I32(5)]).unwrap();
            }
            std::thread::sleep(Duration::from_millis(wait));
            let results = call(&mut store, instance, "deep", &[Val::I32(5)]).unwrap();
            assert_eq!(results[0].i32(), Some(32));
        }
    }
}

#[test]
fn an_endless_loop_in_optimised_code_is_interrupted() {
    let last = to_the_last(0);
    let configs = [0, 100].map(tiered).into_iter().chain(last);
    for config in configs {
        let interrupt = Interrupt::new();
        let (mut store, instance, _) = loops(&config);
        store.set_interrupt(&interrupt);
        let ender = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            interrupt.stop(Duration::from_secs(60))
        });
        let error = call(&mut store, instance, "endless", &[]).unwrap_err();
        assert_eq!(error.trap().expect("a trap").code, TrapCode::Interrupted);
        assert!(ender.join().unwrap(), "it has ended");
    }
}

#[test]
fn tiers_begin_at_first_calls_or_not_at_all() {
    let config = Config::new().codegen(Codegen::Tiered);
    let engine = Engine::new(&config).unwrap();
    assert_eq!(engine.compilation(), Compilation::Lazy);
    assert_eq!(engine.codegen(), Codegen::Tiered);
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new(&config.cache_dir(Some(folder.path().into()))).unwrap();
    assert_eq!(engine.compilation(), Compilation::Eager);
    assert_eq!(engine.codegen(), Codegen::Cranelift);
}

/// What throws leaves frames behind that have saved their callers' registers.
#[test]
fn who_catches_finds_its_locals() {
    let wat = r#"(module
      (tag $tag (param i32))
      (func $throws (param $n i32) (throw $tag (local.get $n)))
      (func $between (param $n i32) (result i32)
        (local $a i32) (local $b i32) (local $c i32)
        (loop $turn
          (local.set $a (i32.add (local.get $a) (i32.const 3)))
          (local.set $b (i32.sub (local.get $a) (local.get $b)))
          (local.set $c (i32.add (local.get $c) (local.get $b)))
          (br_if $turn (i32.lt_u (local.get $a) (i32.const 30))))
        (if (i32.and (local.get $n) (i32.const 1)) (then (call $throws (local.get $n))))
        (i32.add (local.get $a) (i32.add (local.get $b) (local.get $c))))
      (func (export "catches") (param $n i32) (result i64)
        (local $i i32) (local $p i64) (local $q i64) (local $r i64) (local $s i64)
        (loop $turn
          (local.set $p (i64.add (local.get $p) (i64.const 5)))
          (local.set $q (i64.sub (local.get $p) (local.get $q)))
          (local.set $r (i64.xor (local.get $q) (local.get $r)))
          (local.set $s (i64.add (local.get $r) (local.get $s)))
          (local.set $s (i64.add (local.get $s) (i64.extend_i32_u
            (block $caught (result i32)
              (try_table (result i32) (catch $tag $caught) (call $between (local.get $i)))))))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $turn (i32.lt_u (local.get $i) (local.get $n))))
        (i64.add (i64.mul (local.get $p) (i64.const 3)) (i64.add (local.get $q)
          (i64.add (local.get $r) (local.get $s))))))"#;
    let called = |config: &Config| {
        let (mut store, instance, _) = instance(&Engine::new(config).unwrap(), wat);
        [1, 2, 50].map(|n| call(&mut store, instance, "catches", &[Val::I32(n)]).unwrap()[0].i64())
    };
    let expected = called(&Config::new());
    for config in [Config::new().codegen(Codegen::Direct), tiered(0), tiered(3)] {
        assert_eq!(called(&config), expected);
    }
}
