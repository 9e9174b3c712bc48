//! All code generators do the same, also where something traps: results, memory,
//! globals, the kind of the trap and the frames behind it.
//!
//! Without `.tools/zig` (`make setup`) the tests of LLVM say SKIPPED.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_engine::*;

/// What is called: a function and its arguments.
type Calls<'a> = &'a [(&'a str, &'a [Val])];

fn zig() -> Option<PathBuf> {
    let zig = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/zig/ziglang/zig");
    if !zig.is_file() {
        eprintln!("SKIPPED: no .tools/zig: make setup");
        return None;
    }
    Some(zig)
}

/// An engine that generates by LLVM.
fn llvm(config: Config) -> Option<Engine> {
    let config = config.codegen(Codegen::Llvm).clang(Some(zig()?));
    Some(Engine::new(&config).expect("it works with this compiler"))
}

/// An engine that makes code in one pass.
fn direct(config: Config) -> Engine {
    Engine::new(&config.codegen(Codegen::Direct)).expect("it is made for this processor")
}

/// What a call returns.
fn call(store: &mut Store<()>, func: Func, args: &[Val]) -> Result<Vec<Val>> {
    let mut results = vec![Val::I32(0); func.ty(&*store).results().len()];
    func.call(store, args, &mut results)?;
    Ok(results)
}

/// What calls come to, one after another in one instance: each with the memory and the
/// global behind it.
fn observed(engine: &Engine, wat: &str, calls: Calls<'_>) -> Vec<String> {
    let module = Module::new(engine, wat::parse_str(wat).unwrap()).unwrap();
    let mut store = Store::new(engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let mut seen = Vec::new();
    for (name, args) in calls {
        let func = instance.get_func(&store, name).expect("it is exported");
        let came_to = match call(&mut store, func, args) {
            Ok(results) => format!("{results:?}"),
            Err(error) => {
                let frames: Vec<String> = error.frames().iter().map(Frame::to_string).collect();
                format!("{error}: {}", frames.join(", "))
            }
        };
        let memory = instance.get_memory(&store, "m");
        let bytes = memory.map(|memory| memory.data(&store)[..64].to_vec());
        let global = instance.get_global(&store, "g").map(|g| g.get(&store));
        seen.push(format!("{name}: {came_to}, {bytes:?}, {global:?}"));
    }
    seen
}

/// Compares the generators under both ways to check; what Cranelift does is returned.
fn compare(wat: &str, calls: Calls<'_>) -> Vec<String> {
    let mut expected = Vec::new();
    for bounds in [Bounds::Guard, Bounds::Trap] {
        let config = Config::new().bounds(BoundsChoice::Named(bounds));
        expected = observed(&Engine::new(&config).unwrap(), wat, calls);
        for compilation in Compilation::ALL {
            let engine = direct(config.clone().compilation(compilation));
            let seen = observed(&engine, wat, calls);
            assert_eq!(seen, expected, "{bounds} in one pass, {compilation}");
        }
        if let Some(engine) = llvm(config) {
            let module = Module::new(&engine, wat::parse_str(wat).unwrap()).unwrap();
            assert_eq!(module.fallbacks(), [], "{bounds}");
            assert_eq!(observed(&engine, wat, calls), expected, "{bounds}");
        }
    }
    expected
}

#[test]
fn what_was_stored_before_a_trap_is_there_and_nothing_else() {
    let wat = r#"(module (memory (export "m") 1) (global $g (export "g") (mut i32) (i32.const 0))
        (func (export "load") (param i32)
            (i32.store (i32.const 0) (i32.const 1))
            (global.set $g (i32.const 1))
            (drop (i32.load (local.get 0)))
            (i32.store (i32.const 0) (i32.const 2))
            (global.set $g (i32.const 2)))
        (func (export "store") (param i32)
            (i64.store (i32.const 8) (i64.const 3))
            (global.set $g (i32.const 3))
            (i64.store (local.get 0) (i64.const -1))
            (i64.store (i32.const 8) (i64.const 4))
            (global.set $g (i32.const 4)))
        (func (export "twice") (param i32)
            (i32.store (local.get 0) (i32.const 5))
            (loop (br_if 0 (i32.load (i32.const 40))))
            (i32.store (local.get 0) (i32.const 6)))
        (func (export "divide") (param i32) (result i32)
            (global.set $g (i32.const 7))
            (i32.store (i32.const 16) (i32.const 7))
            (i32.rem_s (i32.div_u (i32.const 5) (local.get 0)) (local.get 0)))
        (func (export "fill") (param i32) (local i32)
            (loop
                (i32.store8 (local.get 1) (local.get 1))
                (br_if 0 (i32.ne (local.tee 1 (i32.add (local.get 1) (local.get 0)))
                    (i32.const 70000))))))"#;
    let at = |at: i32| [Val::I32(at)];
    let calls: Calls<'_> = &[
        ("load", &at(0)),
        ("load", &at(65533)),
        ("load", &at(-1)),
        ("store", &at(65528)),
        ("store", &at(65529)),
        ("store", &at(-8)),
        ("twice", &at(20)),
        ("twice", &at(65536)),
        ("divide", &at(-1)),
        ("divide", &at(0)),
        ("fill", &at(1)),
    ];
    let seen = compare(wat, calls);
    let trapped = seen
        .iter()
        .filter(|seen| seen.contains("out of bounds"))
        .count();
    assert_eq!(trapped, 6, "{seen:#?}");
}

#[test]
fn numbers_are_the_same_bits() {
    let wat = r#"(module
        (func (export "one") (param i64) (result i64)
            (i64.reinterpret_f64 (f64.mul (f64.reinterpret_i64 (local.get 0)) (f64.const 1))))
        (func (export "minus_zero") (param i64) (result i64)
            (i64.reinterpret_f64 (f64.sub (f64.reinterpret_i64 (local.get 0)) (f64.const 0))))
        (func (export "made") (param i64) (result i64)
            (i64.reinterpret_f64 (f64.div (f64.reinterpret_i64 (local.get 0))
                (f64.sub (f64.const 3) (f64.const 2)))))
        (func (export "converted") (param i64) (result i64)
            (i64.reinterpret_f64 (f64.div (f64.reinterpret_i64 (local.get 0))
                (f64.convert_i32_s (i32.const 1)))))
        (func (export "narrow") (param i32) (result i32)
            (i32.reinterpret_f32 (f32.demote_f64 (f64.promote_f32
                (f32.reinterpret_i32 (local.get 0))))))
        (func (export "least") (param i64 i64) (result i64)
            (i64.reinterpret_f64 (f64.min (f64.reinterpret_i64 (local.get 0))
                (f64.reinterpret_i64 (local.get 1)))))
        (func (export "shift") (param i32) (result i32)
            (i32.shl (i32.const 3) (local.get 0)))
        (func (export "trunc") (param i64) (result i32)
            (i32.trunc_f64_s (f64.reinterpret_i64 (local.get 0))))
        (func (export "remainder") (param i32 i32) (result i32)
            (i32.rem_s (local.get 0) (local.get 1)))
        (func (export "quotient") (param i32 i32) (result i32)
            (i32.div_s (local.get 0) (local.get 1))))"#;
    const SIGNALLING: i64 = 0x7ff4_0000_0000_0001;
    let bits = |value: f64| Val::I64(value.to_bits().cast_signed());
    let nan = [Val::I64(SIGNALLING)];
    let (least, minus_one) = (Val::I32(i32::MIN), Val::I32(-1));
    let calls: Calls<'_> = &[
        ("one", &nan),
        ("minus_zero", &nan),
        ("made", &nan),
        ("converted", &nan),
        ("narrow", &[Val::I32(0x7fa0_0001)]),
        ("least", &[bits(-0.0), bits(0.0)]),
        ("least", &[bits(0.0), bits(-0.0)]),
        ("shift", &[Val::I32(33)]),
        ("shift", &[Val::I32(-1)]),
        ("trunc", &[bits(-2147483648.9)]),
        ("trunc", &[bits(2147483647.9)]),
        ("trunc", &[bits(2147483648.0)]),
        ("trunc", &[bits(f64::NAN)]),
        ("remainder", &[least.clone(), minus_one.clone()]),
        ("quotient", &[least, minus_one]),
        ("quotient", &[Val::I32(1), Val::I32(0)]),
    ];
    let seen = compare(wat, calls);
    assert!(
        seen[0].contains(&format!("{}", SIGNALLING | 1 << 51)),
        "{seen:#?}"
    );
}

/// Vector instructions that LLVM has no word for, by the number of their operands.
const PACKED: [(&str, usize); 19] = [
    ("i8x16.swizzle", 2),
    ("i16x8.q15mulr_sat_s", 2),
    ("i8x16.relaxed_swizzle", 2),
    ("i16x8.relaxed_q15mulr_s", 2),
    ("i16x8.relaxed_dot_i8x16_i7x16_s", 2),
    ("i32x4.relaxed_dot_i8x16_i7x16_add_s", 3),
    ("i32x4.relaxed_trunc_f32x4_s", 1),
    ("i32x4.relaxed_trunc_f32x4_u", 1),
    ("i32x4.relaxed_trunc_f64x2_s_zero", 1),
    ("i32x4.relaxed_trunc_f64x2_u_zero", 1),
    ("i32x4.trunc_sat_f64x2_s_zero", 1),
    ("i32x4.trunc_sat_f64x2_u_zero", 1),
    ("f32x4.relaxed_madd", 3),
    ("f32x4.relaxed_nmadd", 3),
    ("f64x2.relaxed_madd", 3),
    ("i8x16.relaxed_laneselect", 3),
    ("i16x8.relaxed_laneselect", 3),
    ("i32x4.relaxed_laneselect", 3),
    ("i64x2.relaxed_laneselect", 3),
];

#[test]
fn vectors_are_the_same_bits() {
    let mut wat = String::from("(module");
    for (op, count) in PACKED {
        let operand = |i: usize| {
            let (low, high) = (2 * i, 2 * i + 1);
            format!("(i64x2.replace_lane 1 (i64x2.splat (local.get {low})) (local.get {high}))")
        };
        let operands: Vec<String> = (0..count).map(operand).collect();
        wat.push_str(&format!(
            "(func (export \"{op}\") (param i64 i64 i64 i64 i64 i64) (result i64 i64) (local v128)
            (local.set 6 ({op} {}))
            (i64x2.extract_lane 0 (local.get 6)) (i64x2.extract_lane 1 (local.get 6)))",
            operands.join(" ")
        ));
    }
    wat.push(')');
    let floats = |values: [f64; 6]| values.map(|value| Val::I64(value.to_bits().cast_signed()));
    let narrow = |low: f32, high: f32| i64::from(high.to_bits()) << 32 | i64::from(low.to_bits());
    let inputs = [
        // Indices below and beyond 15, and beyond 127; a mask of which each lane has both bits.
        [
            -1,
            0x0102_0304_0506_0708,
            0x7f80_0f10_8fff_7071,
            0x000f_100e_01f0_7fff,
            i64::MIN,
            1,
        ],
        // -2^15 in each lane: the product that does not fit.
        [i64::from_ne_bytes([0, 0x80, 0, 0x80, 0, 0x80, 1, 0x80]); 6],
        [
            narrow(0.5, -3e9),
            narrow(f32::NAN, 4.2e9),
            narrow(1e-3, 7.0),
            narrow(-0.0, 3.0),
            5,
            6,
        ],
    ];
    let inputs = inputs.map(|input| input.map(Val::I64));
    let wide = [
        floats([
            -2_147_483_649.5,
            f64::NAN,
            3.0,
            1.0 + f64::EPSILON,
            2.0,
            -1.0,
        ]),
        floats([4_294_967_295.5, -1.5, 1e300, 1e-300, -0.0, 1e300]),
    ];
    let inputs: Vec<[Val; 6]> = inputs.into_iter().chain(wide).collect();
    // Of two NaN either may come out of a sum; the first input has some.
    let of = |op: &str| &inputs[usize::from(op.contains("madd"))..];
    let calls = PACKED
        .iter()
        .flat_map(|(op, _)| of(op).iter().map(move |input| (*op, &input[..])));
    let calls: Vec<(&str, &[Val])> = calls.collect();
    compare(&wat, &calls);
}

/// Two loads that LLVM would make one of, and one that it would fold and take out again.
#[test]
fn what_is_loaded_on_two_ways_has_two_places() {
    let wat = r#"(module (memory (export "m") 1)
        (func (export "either") (param i32 i32) (result i64)
            (if (result i64) (local.get 0)
                (then (i64.load (i32.add (i32.load offset=4 (local.get 1)) (i32.const 8))))
                (else (i64.load (i32.add (i32.load offset=8 (local.get 1)) (i32.const 24))))))
        (func (export "digits") (param $n i64) (param $p i32) (param $table i32) (param $mask i32)
            (loop
                (i32.store8 (local.tee $p (i32.sub (local.get $p) (i32.const 1)))
                    (i32.or
                        (i32.load8_u (i32.add (local.get $table)
                            (i32.wrap_i64 (i64.and (local.get $n) (i64.const 15)))))
                        (local.get $mask)))
                (br_if 0 (i64.ne (local.tee $n (i64.shr_u (local.get $n) (i64.const 4)))
                    (i64.const 0))))))"#;
    let [zero, one] = [0, 1].map(Val::I32);
    let at = |at: i32| Val::I32(at);
    let digits = |n: i64, p: i32, table: i32| [Val::I64(n), at(p), at(table), at(32)];
    let calls: [(&str, &[Val]); 7] = [
        ("digits", &digits(0x1234_5678, 48, 0)),
        ("either", &[one.clone(), at(16)]),
        ("either", &[zero.clone(), at(40)]),
        ("either", &[one, at(35)]),
        ("either", &[zero, at(31)]),
        ("digits", &digits(0x0fff, 20, 65530)),
        ("digits", &digits(0x0f_ffff, 2, 100)),
    ];
    let seen = compare(wat, &calls);
    let trapped = |seen: &&String| seen.contains("out of bounds");
    assert!(seen.iter().filter(trapped).count() >= 3, "{seen:#?}");
}

#[test]
fn stacks_end_and_loops_do_not() {
    let wat = r#"(module (memory (export "m") 1)
        (func $deep (export "deep") (param i32) (result i32)
            (i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1)))
            (i32.add (i32.const 1) (call $deep (local.get 0))))
        (func (export "endless") (loop (br 0)))
        (func (export "counted") (result i32) (i32.load (i32.const 0))))"#;
    let Some(engine) = llvm(Config::new()) else {
        return;
    };
    let module = Module::new(&engine, wat::parse_str(wat).unwrap()).unwrap();
    assert_eq!(module.fallbacks(), []);
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let deep = instance.get_func(&store, "deep").unwrap();
    let error = call(&mut store, deep, &[Val::I32(0)]).unwrap_err();
    assert_eq!(
        error.trap().map(|trap| trap.code),
        Some(TrapCode::StackExhausted)
    );
    assert!(error.frames().iter().all(|frame| frame.func_index == 0));
    let counted = instance.get_func(&store, "counted").unwrap();
    let counted = call(&mut store, counted, &[]).unwrap();
    assert!(matches!(counted[..], [Val::I32(1000..)]), "{counted:?}");

    let interrupt = Interrupt::new();
    store.set_interrupt(&interrupt);
    let endless = instance.get_func(&store, "endless").unwrap();
    let waiting = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        interrupt.stop(Duration::from_secs(10))
    });
    let error = call(&mut store, endless, &[]).unwrap_err();
    assert_eq!(
        error.trap().map(|trap| trap.code),
        Some(TrapCode::Interrupted)
    );
    assert!(waiting.join().unwrap());
}

/// What LLVM does not take calls what it takes, and the other way round.
#[test]
fn functions_of_both_call_one_another() {
    let wat = r#"(module (tag $e (param i32))
        (type $two (func (param i32) (result i32 i64)))
        (table funcref (elem $pair $tail))
        (func $thrower (param i32) (result i32) (throw $e (local.get 0)))
        (func $between (param i32) (result i32)
            (i32.add (i32.const 1) (call $thrower (local.get 0))))
        (func (export "catches") (param i32) (result i32)
            (block (result i32)
                (try_table (result i32) (catch $e 0) (call $between (local.get 0)))))
        (func $pair (param i32) (result i32 i64)
            (i32.add (local.get 0) (i32.const 1)) (i64.const 5))
        (func $tail (param i32) (result i32 i64) (return_call $pair (local.get 0)))
        (func (export "pairs") (param i32 i32) (result i64)
            (local.get 1) (call_indirect (type $two) (local.get 0))
            (i64.add (i64.extend_i32_s)))
        (func $many (param i32 i32 i32 i32 i32 i32) (result i32)
            (i32.sub (local.get 5) (call $between2 (local.get 4))))
        (func $between2 (param i32) (result i32) (i32.mul (local.get 0) (i32.const 3)))
        (func (export "many") (param i32) (result i32)
            (call $many (i32.const 1) (i32.const 2) (i32.const 3) (i32.const 4)
                (local.get 0) (i32.const 60)))
        (func $leaves (param i32 i32 i32 i32 i32 i32) (result i32)
            (return_call $many (local.get 5) (local.get 4) (local.get 3) (local.get 2)
                (local.get 1) (local.get 0)))
        (func (export "leaves") (param i32) (result i32)
            (call $leaves (i32.const 70) (local.get 0) (i32.const 3) (i32.const 4)
                (i32.const 5) (i32.const 6)))
        (func $more (param MORE) (result i32) (i32.sub (local.get 39) (local.get 3)))
        (func (export "more") (param i32) (result i32) GIVEN
            (call $more)))"#;
    let wat = &wat
        .replace("(i64.add (i64.extend_i32_s))", "(drop) (i64.extend_i32_s)")
        .replace("MORE", &"i32 ".repeat(40))
        .replace(
            "GIVEN",
            &"(local.tee 0 (i32.mul (local.get 0) (i32.const 3)))".repeat(40),
        );
    let calls: Calls<'_> = &[
        ("catches", &[Val::I32(4)]),
        ("pairs", &[Val::I32(0), Val::I32(7)]),
        ("pairs", &[Val::I32(1), Val::I32(7)]),
        ("pairs", &[Val::I32(2), Val::I32(7)]),
        ("many", &[Val::I32(9)]),
        ("leaves", &[Val::I32(9)]),
        ("more", &[Val::I32(9)]),
    ];
    let expected = observed(&Engine::default(), wat, calls);
    assert_eq!(observed(&direct(Config::new()), wat, calls), expected);
    let Some(engine) = llvm(Config::new()) else {
        return;
    };
    assert_eq!(observed(&engine, wat, calls), expected);
    let module = Module::new(&engine, wat::parse_str(wat).unwrap()).unwrap();
    let kept: Vec<u32> = module.fallbacks().iter().map(|one| one.func).collect();
    // A handler, tail calls, and more arguments than there are places for.
    assert_eq!(kept, [2, 4, 9, 11], "{:?}", module.fallbacks());
}

/// What a listing shows of a function that both generators have.
const ADDS: &str = r#"(module (memory 1) (func (export "f") (param i32) (result f64)
    (f64.add (f64.const 0.5)
        (f64.convert_i32_u (i32.popcnt (i32.load8_u (local.get 0)))))))"#;

#[test]
fn code_for_every_processor_has_nothing_that_only_this_one_has() {
    let listed = |cpu| {
        let engine = Engine::new(&Config::new().cpu(cpu)).unwrap();
        let wasm = wat::parse_str(ADDS).unwrap();
        Module::disassemble(&engine, &wasm, None)
            .unwrap()
            .remove(0)
            .to_string()
    };
    let baseline = listed(Cpu::Baseline);
    assert!(
        baseline.contains("addsd") && !baseline.contains(" v"),
        "{baseline}"
    );
    assert!(baseline.contains("popcnt"), "{baseline}");
    let calls: Calls<'_> = &[("f", &[Val::I32(7)]), ("f", &[Val::I32(65536)])];
    let wat = ADDS.replace("(memory 1)", "(memory (export \"m\") 1)");
    let expected = observed(&Engine::default(), &wat, calls);
    let config = Config::new().cpu(Cpu::Baseline);
    assert_eq!(
        observed(&Engine::new(&config).unwrap(), &wat, calls),
        expected
    );
    assert_eq!(observed(&direct(config.clone()), &wat, calls), expected);
    if let Some(engine) = llvm(config) {
        assert_eq!(observed(&engine, &wat, calls), expected);
    }
}

#[test]
fn a_listing_is_of_the_generator_that_was_asked_for() {
    let wat = r#"(module (memory 1)
        (func $loads (export "loads") (param i32) (result i32)
            (i32.add (i32.load (local.get 0)) (i32.load offset=70000 (local.get 0))))
        (func (param i32) (result i32) (return_call $loads (local.get 0))))"#;
    let wasm = wat::parse_str(wat).unwrap();
    let config = Config::new().bounds(BoundsChoice::Named(Bounds::Trap));
    let cranelift = Module::disassemble(&Engine::new(&config).unwrap(), &wasm, None).unwrap();
    assert!(cranelift.iter().all(|listing| listing.fallback.is_none()));
    let Some(engine) = llvm(config) else { return };
    let listings = Module::disassemble(&engine, &wasm, None).unwrap();
    let [loads, tail] = &listings[..] else {
        panic!("two functions: {listings:?}")
    };
    assert_eq!(loads.fallback, None);
    assert_eq!(tail.fallback.as_deref(), Some("return_call"));
    assert_eq!(tail.code, cranelift[1].code);
    assert_ne!(loads.code, cranelift[0].code);
    let text = loads.to_string();
    for wanted in ["i32.load", "out of bounds memory access", "stack", " !  "] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert!(loads.cost().check_instructions >= 2, "{text}");
    // One function is listed as it is among all.
    let alone = Module::disassemble(&engine, &wasm, Some(&[0])).unwrap();
    assert_eq!(alone[0].code, loads.code);
}

/// A compiler that says that it is one, and does this with the folder it is to write to.
fn doing(script: &str) -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clang");
    let says = "[ \"$1\" = --version ] && echo clang version 20.1.2 && exit";
    std::fs::write(&path, format!("#!/bin/sh\n{says}\n{script}\n")).unwrap();
    let owner = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&path, owner).unwrap();
    let config = Config::new().codegen(Codegen::Llvm).clang(Some(path));
    // A script that was just written may still be open in another test's child.
    for _ in 0..100 {
        match Engine::new(&config) {
            Ok(engine) => return (folder, engine),
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    panic!("the script does not start");
}

#[test]
fn a_compiler_that_fails_leaves_functions_to_cranelift() {
    for (script, said) in [
        (
            "echo in.ll:7: error: odd >&2; exit 1",
            "clang: exit status: 1: in.ll:7: error: odd",
        ),
        ("kill -9 $$", "clang: signal: 9 (SIGKILL)"),
        ("exit 0", "clang left no object"),
        ("echo no", "clang's object"),
        ("rm \"$0\"; exit 1", "clang: exit status: 1"),
    ] {
        let (_folder, engine) = doing(script);
        let module = Module::new(&engine, wat::parse_str(ADDS).unwrap()).unwrap();
        let [kept] = &module.fallbacks()[..] else {
            panic!("{script}: {:?}", module.fallbacks())
        };
        assert!(
            kept.is_refused && kept.why.contains(said),
            "{script}: {kept:?}"
        );
        assert_eq!(kept.why.lines().count(), 1, "{kept:?}");
        let calls: Calls<'_> = &[("f", &[Val::I32(7)]), ("f", &[Val::I32(65536)])];
        let expected = observed(&Engine::default(), ADDS, calls);
        assert_eq!(observed(&engine, ADDS, calls), expected, "{script}");
    }
}

/// One function that clang does not do with keeps nothing from the others.
#[test]
fn a_text_that_fails_is_halved() {
    let Some(zig) = zig() else { return };
    let (folder, engine) = doing("");
    let script = format!(
        "#!/bin/sh\ncat > \"$0.$$\"\ngrep -q wf1\\( \"$0.$$\" && exit 1\n\
         exec {} clang \"$@\" < \"$0.$$\"\n",
        zig.display()
    );
    std::fs::write(folder.path().join("clang"), script).unwrap();
    let wat = "(module (func (result i32) i32.const 1) (func (result i32) i32.const 2)
        (func (result i32) i32.const 3) (func (result i32) i32.const 4))";
    let module = Module::new(&engine, wat::parse_str(wat).unwrap()).unwrap();
    let kept: Vec<u32> = module.fallbacks().iter().map(|one| one.func).collect();
    assert_eq!(kept, [1], "{:?}", module.fallbacks());
}

#[test]
fn a_missing_or_other_compiler_is_one_line() {
    for (path, said) in [
        ("/nowhere/clang", "cannot run /nowhere/clang"),
        ("/bin/echo", "needs clang 20"),
    ] {
        let config = Config::new()
            .codegen(Codegen::Llvm)
            .clang(Some(path.into()));
        let error = Engine::new(&config).map(drop).unwrap_err().to_string();
        assert!(
            error.contains(said) && error.lines().count() == 1,
            "{error}"
        );
    }
}

/// Also where Cranelift could make one instruction of it and the branch to it.
#[test]
fn an_unreachable_is_where_it_stands() {
    const WAT: &str = r#"(module
      (func (export "else") (param i32) (result i32)
        (if (result i32) (i32.eqz (local.get 0)) (then (i32.const 1)) (else (unreachable))))
      (func (export "block") (param i32) (result i32)
        (block (br_if 0 (local.get 0)) (return (i32.const 2)))
        (drop (i32.add (local.get 0) (i32.const 1)))
        (unreachable))
      (func (export "table") (param i32) (result i32)
        (block (block (br_table 0 1 (local.get 0))) (return (i32.const 3)))
        (unreachable)))"#;
    let wasm = wat::parse_str(WAT).unwrap();
    let mut engines = vec![direct(Config::new())];
    engines.extend([Opt::Speed, Opt::None].map(|opt| {
        let config = Config::new().codegen(Codegen::Cranelift).opt(opt);
        Engine::new(&config).unwrap()
    }));
    engines.extend(llvm(Config::new()));
    for engine in &engines {
        let module = Module::new(engine, &wasm).unwrap();
        let mut store = Store::new(engine, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        for name in ["else", "block", "table"] {
            let func = instance.get_func(&store, name).unwrap();
            let error = call(&mut store, func, &[Val::I32(7)]).unwrap_err();
            assert_eq!(error.trap().unwrap().code, TrapCode::Unreachable, "{name}");
            let at = error.frames()[0].offset.unwrap() as usize;
            assert_eq!(wasm[at], 0, "{name} at {at:#x}");
            call(&mut store, func, &[Val::I32(0)]).unwrap();
        }
    }
}
