//! Rewritten modules are valid, keep what they had, and refuse what cannot be counted.

use super::*;

/// A program with all kinds of references to an imported function.
const REFERS: &str = r#"(module
  (type $t (func (result i32)))
  (import "env" "other" (func $other))
  (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1 1)
  (table 2 funcref)
  (global $g (mut i32) (i32.const 7))
  (elem (i32.const 0) $yield $own)
  (elem declare func $yield)
  (func $own (result i32) (call_indirect (type $t) (i32.const 0)))
  (func $first (drop (ref.func $yield)))
  (start $first)
  (export "again" (func $yield))
  (func (export "_start")
    (call $other) (drop (call $yield)) (drop (call $own)) (call $exit (global.get $g))))"#;

fn module(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

fn validated(wasm: &[u8]) -> Vec<u8> {
    validated_as(wasm, Seen::Counts)
}

fn validated_as(wasm: &[u8], seen: Seen) -> Vec<u8> {
    let counting = counting(wasm, Stream::Stderr, seen).unwrap();
    let mut validator = wasmparser::Validator::new_with_features(wasmparser::WasmFeatures::all());
    validator.validate_all(&counting).unwrap();
    counting
}

#[test]
fn whatever_refers_to_an_import_refers_to_its_wrapper() {
    let wasm = module(REFERS);
    let before = scan::scan(&wasm).unwrap();
    let after = scan::scan(&validated(&wasm)).unwrap();
    assert_eq!(after.rows, ["sched_yield", "proc_exit", "fd_write"]);
    assert_eq!(after.func_imports, before.func_imports + 1);
    assert_eq!(after.memory.1.maximum, Some(2));
    // 18 counters of two functions.
    assert_eq!(after.globals, before.globals + 18);
}

#[test]
fn shared_and_wide_memories_and_groups_of_types_are_written_again() {
    let programs = [
        r#"(module (import "env" "memory" (memory 2 2 shared)) (export "memory" (memory 0))
             (import "wasi" "thread-spawn" (func $spawn (param i32) (result i32)))
             (func (export "wasi_thread_start") (param i32 i32))
             (func $grown (drop (memory.size))) (start $grown)
             (func (export "_start") (drop (call $spawn (i32.const 1)))))"#,
        r#"(module (import "wasi_snapshot_preview1" "random_get" (func $r (param i32 i32) (result i32)))
             (memory (export "memory") i64 1)
             (func (export "_start") (drop (call $r (i32.const 8) (i32.const 8)))))"#,
        r#"(module (rec (type $s (struct (field i32))) (type $f (func (param (ref null $s)))))
             (import "wasi_unstable" "fd_write" (func (param i32 i32 i32 i32) (result i32)))
             (memory 1) (memory $m (export "memory") 1)
             (func (type $f)) (func (export "_start")))"#,
        r#"(module (memory (export "memory") 0) (func (export "_start")))"#,
        r#"(module (import "wasi_snapshot_preview1" "sched_yield" (func $y (result i32)))
             (tag $t (param i32)) (memory (export "memory") 1)
             (func (export "_start")
               try try (result i32) (throw $t (call $y)) delegate 0 drop
               catch $t (drop) try (rethrow 1) catch_all end catch_all end))"#,
    ];
    for program in programs {
        let wasm = module(program);
        validated(&wasm);
        match counting(&wasm, Stream::Stdout, Seen::Times) {
            Ok(_) => drop(validated_as(&wasm, Seen::Times)),
            Err(why) => assert!(matches!(why, RewriteError::Times(_)), "{program}: {why}"),
        }
    }
}

/// wasm3 looks for an export among names as well.
#[test]
fn nothing_but_the_export_is_named_as_the_start() {
    let program = r#"(module (memory (export "memory") 1)
      (func $other) (func $_start (export "_start") (call $other)))"#;
    let counting = validated(&module(program));
    let named = |name: &[u8]| counting.windows(name.len()).filter(|b| *b == name).count();
    assert_eq!((named(b"_start"), named(b"other")), (1, 1));
}

#[test]
fn a_module_that_times_its_calls_has_a_clock() {
    let before = scan::scan(&module(REFERS)).unwrap();
    let after = scan::scan(&validated_as(&module(REFERS), Seen::Times)).unwrap();
    // fd_write, and behind it the clock.
    assert_eq!(after.func_imports, before.func_imports + 2);
    assert_eq!(after.clock, Some(before.func_imports + 1));
    assert_eq!(after.globals, before.globals + 20);
    let own = r#"(module
      (import "wasi_snapshot_preview1" "clock_time_get" (func $c (param i32 i64 i32) (result i32)))
      (memory (export "memory") 1)
      (func (export "_start") (drop (call $c (i32.const 0) (i64.const 1) (i32.const 64)))))"#;
    let after = scan::scan(&validated_as(&module(own), Seen::Times)).unwrap();
    assert_eq!((after.func_imports, after.clock), (2, Some(0)));
}

#[test]
fn what_cannot_be_counted_is_refused_in_a_line() {
    let refused = [
        (
            r#"(module (memory (export "memory") 1))"#,
            RewriteError::NoStart,
        ),
        (
            r#"(module (func (export "_start")))"#,
            RewriteError::NoMemory,
        ),
        (
            r#"(module (memory (export "memory") 65536 65536 shared) (func (export "_start")))"#,
            RewriteError::SharedMemory("all pages there are"),
        ),
    ];
    for (text, why) in refused {
        let refused = counting(&module(text), Stream::Stdout, Seen::Counts);
        assert_eq!(refused, Err(why), "{text}");
    }
    let wasm = module(REFERS);
    for cut in 0..wasm.len() {
        // Whole sections may be missing from the end of a module that is still one.
        if let Err(error) = counting(&wasm[..cut], Stream::Stdout, Seen::Counts) {
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
        }
    }
    assert!(counting(b"\0asm\x0d\0\x01\0", Stream::Stdout, Seen::Counts).is_err());
}
