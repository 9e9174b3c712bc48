//! Memory and numbers of types that are used again.

use super::*;

/// Arrays of every length that stay, beside others that do not; each has its number in every
/// element.
const ARRAYS: &str = r#"(module
  (type $longs (array (mut i32)))
  (type $pair (struct (field $longs (ref $longs)) (field $inside externref)))
  (type $all (array (mut (ref null $pair))))
  (global $all (ref $all) (array.new_default $all (i32.const 128)))
  (func $filled (param $len i32) (param $number i32) (result (ref $longs))
    (array.new $longs (local.get $number) (local.get $len)))
  (func $keep (export "keep") (param $at i32) (param $len i32) (param $number i32)
    (array.set $all (global.get $all) (local.get $at)
      (struct.new $pair (call $filled (local.get $len) (local.get $number))
        (extern.convert_any (call $filled (local.get $len) (local.get $number))))))
  (func (export "noise") (param $len i32) (param $times i32)
    (loop $again
      (drop (call $filled (local.get $len) (i32.const -1)))
      (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1))))))
  (func $is_filled (param $longs (ref $longs)) (param $number i32) (result i32)
    (local $at i32)
    (local.set $at (array.len (local.get $longs)))
    (block $no
      (loop $again
        (if (i32.eqz (local.get $at)) (then (return (i32.const 1))))
        (local.set $at (i32.sub (local.get $at) (i32.const 1)))
        (br_if $no (i32.ne (array.get $longs (local.get $longs) (local.get $at))
          (local.get $number)))
        (br $again)))
    (i32.const 0))
  (func (export "has") (param $at i32) (param $len i32) (param $number i32) (result i32)
    (local $pair (ref null $pair)) (local $inside (ref null $longs))
    (local.set $pair (array.get $all (global.get $all) (local.get $at)))
    (local.set $inside (ref.cast (ref $longs)
      (any.convert_extern (struct.get $pair $inside (local.get $pair)))))
    (i32.and
      (i32.and (call $is_filled (struct.get $pair $longs (local.get $pair)) (local.get $number))
        (i32.eq (array.len (local.get $inside)) (local.get $len)))
      (call $is_filled (ref.as_non_null (local.get $inside)) (local.get $number))))
  (func (export "zeros") (param $len i32) (result i32)
    (call $is_filled (array.new_default $longs (local.get $len)) (i32.const 0))))"#;

#[test]
fn arrays_of_every_length_keep_their_elements_and_new_ones_are_zero() {
    each(|engine, step| {
        let mut store = Store::new(engine, ());
        let arrays = instance(engine, &mut store, ARRAYS);
        let turns = if step == 0 { 2 } else { 40 };
        let len_of = |at: i32| at * at / 6;
        for turn in 0..turns {
            for at in 0..128 {
                let args = [at, len_of(at), turn * 1000 + at].map(Val::I32);
                call(&mut store, &arrays, "keep", &args).unwrap();
                let noise = [(at * 37) % 2500, 4].map(Val::I32);
                call(&mut store, &arrays, "noise", &noise).unwrap();
                let zeros = call(&mut store, &arrays, "zeros", &[noise[0].clone()]).unwrap();
                assert_eq!(zeros.unwrap_i32(), 1, "at {at}");
            }
            for at in 0..128 {
                let args = [at, len_of(at), turn * 1000 + at].map(Val::I32);
                let has = call(&mut store, &arrays, "has", &args).unwrap();
                assert_eq!(has.unwrap_i32(), 1, "turn {turn}, at {at}");
            }
        }
        assert!(store.heap_stats().pauses.count() > 0);
    });
}

/// An array of arrays, of which one after another is replaced in no order.
const REPLACED: &str = r#"(module
  (type $bytes (array (mut i8)))
  (type $all (array (mut (ref null $bytes))))
  (global $all (ref $all) (array.new_default $all (i32.const 20000)))
  (global $random (mut i32) (i32.const 1))
  (func $below (param $end i32) (result i32)
    (global.set $random (i32.add (i32.const 12345)
      (i32.mul (global.get $random) (i32.const 1103515245))))
    (i32.rem_u (i32.shr_u (global.get $random) (i32.const 8)) (local.get $end)))
  (func (export "replace") (param $times i32) (param $least i32) (param $more i32)
    (loop $again
      (array.set $all (global.get $all) (call $below (i32.const 20000))
        (array.new_default $bytes
          (i32.add (local.get $least) (call $below (local.get $more)))))
      (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))))"#;

/// However long objects are, there are holes that they fit in.
#[test]
fn a_heap_is_not_much_more_than_what_is_live() {
    let engine = Engine::new(&Config::new()).unwrap();
    for (least, more) in [(8, 200), (300, 700), (600, 1), (900, 3000), (5000, 3000)] {
        let mut store = Store::new(&engine, ());
        let arrays = instance(&engine, &mut store, REPLACED);
        let args = [400_000, least, more].map(Val::I32);
        call(&mut store, &arrays, "replace", &args).unwrap();
        store.collect();
        let stats = store.heap_stats();
        let times = stats.heap_bytes as f64 / stats.live_bytes as f64;
        assert!(stats.collections > 2, "{stats:?}");
        eprintln!("{least} to {} bytes: {times:.2}", least + more);
        assert!(
            times < 3.0,
            "{least} to {} bytes: {times:.2} times, {stats:?}",
            least + more
        );
    }
}

/// Types of a module that could not be instantiated are gone, and their numbers are
/// those of others: a heap must not have the layouts of the first ones.
#[test]
fn types_of_an_instance_that_failed_are_not_those_of_the_next() {
    let engine = Engine::new(&config(0)).unwrap();
    let mut store = Store::new(&engine, ());
    for turn in 0..20 {
        let failing = format!(
            "(module (type $t (struct (field i64) (field i{}) (field i{}))) (type $a (array i64))
               (global (ref $a) (array.new_default $a (i32.const 2000000000)))
               (func (param (ref null $t))))",
            if turn % 2 == 0 { 32 } else { 64 },
            if turn % 4 < 2 { 32 } else { 64 }
        );
        let module = Module::new(&engine, wat::parse_str(failing).unwrap()).unwrap();
        Instance::new(&mut store, &module, &[]).unwrap_err();
        drop(module);
        let last = turn + 8;
        let fields = "(field (mut i64))".repeat(last as usize + 1);
        let set = |field: i32| format!("(struct.set $t {field} (local.get $b) (i64.const 7))");
        let others: String = (0..=last).map(set).collect();
        let next = format!(
            r#"(module (type $t (struct {fields}))
              (func (export "last") (result i64)
                (local $a (ref null $t)) (local $b (ref null $t))
                (local.set $a (struct.new_default $t))
                (local.set $b (struct.new_default $t))
                (struct.set $t {last} (local.get $a) (i64.const 5))
                {others}
                (struct.get $t {last} (local.get $a))))"#
        );
        let next = instance(&engine, &mut store, &next);
        let found = call(&mut store, &next, "last", &[]).unwrap();
        assert_eq!(found.unwrap_i64(), 5, "turn {turn}");
    }
}
