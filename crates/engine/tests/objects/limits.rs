//! How much of a heap there may be.

use std::time::Duration;

use super::*;

const LIMITS: &str = r#"(module
  (type $bytes (array (mut i8)))
  (type $longs (array (mut i64)))
  (type $vectors (array (mut v128)))
  (type $list (struct (field $next (ref null $list)) (field $bytes (ref $bytes))))
  (func (export "list") (param $bytes i32) (result i32)
    (local $list (ref null $list))
    (loop $again
      (local.set $list
        (struct.new $list (local.get $list) (array.new_default $bytes (local.get $bytes))))
      (br $again))
    (unreachable))
  (func (export "bytes") (param i32) (result i32)
    (array.len (array.new_default $bytes (local.get 0))))
  (func (export "longs") (param i32) (result i32)
    (array.len (array.new $longs (i64.const 3) (local.get 0))))
  (func (export "vectors") (param i32) (result i32)
    (array.len (array.new_default $vectors (local.get 0))))
  (func $deep (export "deep") (param $depth i32) (result i32)
    (if (result i32) (i32.eqz (local.get $depth))
      (then (i32.const 0))
      (else (i32.add (i32.const 1)
        (call $deep (i32.sub (local.get $depth) (i32.const 1)))))))
  (func (export "garbage") (param $bytes i32) (param $times i32) (result i32)
    (local $sum i32)
    (loop $again
      (local.set $sum (i32.add (local.get $sum)
        (array.len (array.new_default $bytes (local.get $bytes)))))
      (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
    (local.get $sum)))"#;

#[test]
fn a_heap_is_no_larger_than_its_quota() {
    let ways = Way::all_and_llvm();
    let found = ways.iter().map(|way| (way, Collector::MarkRegion));
    for (way, collector) in found.chain([(&ways[0], Collector::Null)]) {
        let sizes: &[u64] = match (way.codegen, collector) {
            (Codegen::Cranelift, Collector::MarkRegion) => &[0, 64 << 10, 300 << 10, 3 << 20],
            _ => &[300 << 10],
        };
        for &heap_bytes in sizes {
            let quota = Quota {
                heap_bytes,
                ..Quota::default()
            };
            let config = way.of(config(4 << 20).collector(collector).quota(quota));
            let engine = Engine::new(&config).unwrap();
            let mut store = Store::new(&engine, ());
            let limits = instance(&engine, &mut store, LIMITS);
            for bytes in [0, 1, 200, 5_000, 40_000, 1 << 20] {
                let result = call(&mut store, &limits, "list", &[Val::I32(bytes)]);
                assert_eq!(trap_of(result), TrapCode::LimitExceeded);
                assert!(store.heap_stats().heap_bytes <= heap_bytes);
            }
            for (name, len) in [("bytes", -1), ("longs", i32::MAX), ("vectors", -1)] {
                let result = call(&mut store, &limits, name, &[Val::I32(len)]);
                assert_eq!(trap_of(result), TrapCode::LimitExceeded, "{name}");
            }
            if heap_bytes > 64 << 10 && collector == Collector::MarkRegion {
                // What the lists had is there again, once the stack was used for something else;
                // not in a heap of one block, which one word that is left may keep.
                call(&mut store, &limits, "deep", &[Val::I32(500)]).unwrap();
                let args = [Val::I32(3_000), Val::I32(20_000)];
                let sum = call(&mut store, &limits, "garbage", &args).unwrap();
                assert_eq!(sum.unwrap_i32(), 60_000_000);
            }
            let allowance = store.allowance().clone();
            drop(store);
            assert_eq!(allowance.used(Resource::HeapBytes), 0);
        }
    }
}

#[test]
fn large_arrays_are_made_and_collected() {
    each(|engine, step| {
        let mut store = Store::new(engine, ());
        let limits = instance(engine, &mut store, LIMITS);
        let times = if step == 0 { 50 } else { 2_000 };
        for bytes in [8_000, 9_000, 33_000, 1_000_000] {
            let args = [Val::I32(bytes), Val::I32(times)];
            let sum = call(&mut store, &limits, "garbage", &args).unwrap();
            assert_eq!(sum.unwrap_i32(), bytes * times);
        }
        let stats = store.heap_stats();
        assert!(stats.heap_bytes < 64 << 20, "{stats:?}");
    });
}

const INDICES: &str = r#"(module
  (type $longs (array (mut i64)))
  (type $bytes (array (mut i8)))
  (data $data "abcdefgh")
  (global $longs (ref $longs) (array.new_default $longs (i32.const 10)))
  (global $bytes (ref $bytes) (array.new_default $bytes (i32.const 10)))
  (func (export "get") (param i32 i32) (result i64)
    (array.get $longs (global.get $longs) (local.get 0)))
  (func (export "set") (param i32 i32) (array.set $longs (global.get $longs) (local.get 0) (i64.const 1)))
  (func (export "get_byte") (param i32 i32) (result i32)
    (array.get_u $bytes (global.get $bytes) (local.get 0)))
  (func (export "fill") (param i32 i32)
    (array.fill $longs (global.get $longs) (local.get 0) (i64.const 1) (local.get 1)))
  (func (export "copy_to") (param i32 i32)
    (array.copy $longs $longs (global.get $longs) (local.get 0) (global.get $longs) (i32.const 0)
      (local.get 1)))
  (func (export "copy_from") (param i32 i32)
    (array.copy $longs $longs (global.get $longs) (i32.const 0) (global.get $longs) (local.get 0)
      (local.get 1)))
  (func (export "init") (param i32 i32)
    (array.init_data $bytes $data (global.get $bytes) (local.get 0) (i32.const 0) (local.get 1))))"#;

#[test]
fn indices_and_lengths_have_no_sign_and_do_not_wrap() {
    let beyond = [
        (10, 1),
        (-1, 1),
        (i32::MIN, 1),
        (11, 0),
        (5, 6),
        (9, -1),
        (-1, -1),
        (1, -1),
    ];
    each(|engine, _| {
        let mut store = Store::new(engine, ());
        let indices = instance(engine, &mut store, INDICES);
        for (index, len) in beyond {
            let args = [Val::I32(index), Val::I32(len)];
            for name in ["fill", "copy_to", "copy_from", "init"] {
                let code = trap_of(call(&mut store, &indices, name, &args));
                assert_eq!(code, TrapCode::ArrayOutOfBounds, "{name} {index} {len}");
            }
            for name in ["get", "set", "get_byte"] {
                let result = call(&mut store, &indices, name, &args);
                match (0..10).contains(&index) {
                    true => drop(result.unwrap()),
                    false => assert_eq!(trap_of(result), TrapCode::ArrayOutOfBounds, "{name}"),
                }
            }
        }
    });
}

/// A list whose numbers count down, and that begins anew when it is long.
const LIST: &str = r#"(module
  (type $cell (struct (field $number i32) (field $next (ref null $cell))))
  (global $list (mut (ref null $cell)) (ref.null $cell))
  (func $number (result i32)
    (if (result i32) (ref.is_null (global.get $list)) (then (i32.const -1))
      (else (struct.get $cell $number (global.get $list)))))
  (func (export "grow")
    (loop $again
      (global.set $list (struct.new $cell (i32.add (call $number) (i32.const 1)) (global.get $list)))
      (if (i32.gt_s (call $number) (i32.const 5000)) (then (global.set $list (ref.null $cell))))
      (br $again)))
  (func (export "noise") (param $count i32)
    (loop $again
      (drop (struct.new $cell (i32.const -7) (ref.null $cell)))
      (br_if $again (local.tee $count (i32.sub (local.get $count) (i32.const 1))))))
  (func (export "is_whole") (result i32)
    (local $cell (ref null $cell)) (local $number i32)
    (local.set $cell (global.get $list))
    (local.set $number (call $number))
    (loop $again
      (if (ref.is_null (local.get $cell)) (then (return (i32.eq (local.get $number) (i32.const -1)))))
      (if (i32.ne (struct.get $cell $number (local.get $cell)) (local.get $number))
        (then (return (i32.const 0))))
      (local.set $number (i32.sub (local.get $number) (i32.const 1)))
      (local.set $cell (struct.get $cell $next (local.get $cell)))
      (br $again))
    (unreachable)))"#;

/// An interrupt leaves compiled code anywhere, also while it makes an object.
#[test]
fn what_is_there_stays_when_an_allocation_is_interrupted() {
    let engine = Engine::new(&config(256 << 10)).unwrap();
    let mut store = Store::new(&engine, ());
    let list = instance(&engine, &mut store, LIST);
    let interrupt = Interrupt::new();
    store.set_interrupt(&interrupt);
    for turn in 0..100 {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_micros(200 + 37 * turn));
                interrupt.stop(Duration::from_secs(20));
            });
            let result = call(&mut store, &list, "grow", &[]);
            assert_eq!(trap_of(result), TrapCode::Interrupted);
        });
        interrupt.clear();
        for count in [1, 30_000] {
            call(&mut store, &list, "noise", &[Val::I32(count)]).unwrap();
            store.collect();
            let is_whole = call(&mut store, &list, "is_whole", &[]).unwrap();
            assert_eq!(is_whole.unwrap_i32(), 1, "turn {turn}");
        }
    }
}

/// Without a type of objects in any module there is no heap, and null is null.
#[test]
fn the_length_of_null_is_a_trap_without_a_heap() {
    const WAT: &str = r#"(module
      (func $len (param arrayref) (result i32) (array.len (local.get 0)))
      (func (export "null") (result i32) (call $len (ref.null array))))"#;
    each(|engine, _| {
        let mut store = Store::new(engine, ());
        let module = instance(engine, &mut store, WAT);
        assert_eq!(
            trap_of(call(&mut store, &module, "null", &[])),
            TrapCode::NullArray
        );
    });
}
