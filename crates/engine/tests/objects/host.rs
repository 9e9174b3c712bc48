//! Objects that the host has references to, and values of the host's in objects.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const HELD: &str = r#"(module
  (type $box (struct (field $value i64)))
  (func (export "make") (param i64) (result anyref) (struct.new $box (local.get 0)))
  (func (export "make_extern") (param i64) (result externref)
    (extern.convert_any (struct.new $box (local.get 0))))
  (func (export "value") (param anyref) (result i64)
    (struct.get $box $value (ref.cast (ref $box) (local.get 0))))
  (func (export "value_extern") (param externref) (result i64)
    (struct.get $box $value (ref.cast (ref $box) (any.convert_extern (local.get 0)))))
  (func (export "noise") (param $count i32)
    (loop $again
      (drop (struct.new $box (i64.const 99)))
      (br_if $again (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))))"#;

#[test]
fn what_the_host_has_seen_stays() {
    each(|engine, step| {
        let mut store = Store::new(engine, ());
        let held = instance(engine, &mut store, HELD);
        let count = if step == 0 { 20 } else { 300_000 };
        for (make, value) in [("make", "value"), ("make_extern", "value_extern")] {
            let boxes: Vec<Val> = (0..50)
                .map(|n| call(&mut store, &held, make, &[Val::I64(n)]).unwrap())
                .collect();
            call(&mut store, &held, "noise", &[Val::I32(count)]).unwrap();
            for (n, made) in boxes.into_iter().enumerate() {
                let found = call(&mut store, &held, value, &[made]).unwrap();
                assert_eq!(found.unwrap_i64(), n as i64);
            }
        }
    });
}

/// Counts how many are there.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

const HOSTS: &str = r#"(module
  (type $pair (struct (field $extern externref) (field $any anyref)))
  (type $pairs (array (mut (ref null $pair))))
  (global $pairs (ref $pairs) (array.new_default $pairs (i32.const 64)))
  (func (export "put") (param $at i32) (param $a externref) (param $b externref)
    (array.set $pairs (global.get $pairs) (local.get $at)
      (struct.new $pair (local.get $a) (any.convert_extern (local.get $b)))))
  (func (export "first") (param $at i32) (result externref)
    (struct.get $pair $extern (array.get $pairs (global.get $pairs) (local.get $at))))
  (func (export "second") (param $at i32) (result externref)
    (extern.convert_any
      (struct.get $pair $any (array.get $pairs (global.get $pairs) (local.get $at))))))"#;

#[test]
fn values_of_the_host_live_as_long_as_objects_that_have_them() {
    each(|engine, step| {
        let alive = Arc::new(AtomicUsize::new(0));
        let make = || {
            alive.fetch_add(1, Ordering::Relaxed);
            ExternRef::new(Counted(alive.clone()))
        };
        let mut store = Store::new(engine, ());
        let hosts = instance(engine, &mut store, HOSTS);
        let put = hosts.get_func(&store, "put").unwrap();
        let turns = if step == 0 { 3_000 } else { 30_000 };
        let mut last = Vec::new();
        for turn in 0..turns {
            let pair = [make(), make()];
            let args = pair.clone().map(|value| Val::ExternRef(Some(value)));
            let args = [Val::I32(turn % 64), args[0].clone(), args[1].clone()];
            put.call(&mut store, &args, &mut []).unwrap();
            if turn >= turns - 64 {
                last.push((turn % 64, pair));
            }
        }
        for (at, pair) in &last {
            for (name, value) in ["first", "second"].into_iter().zip(pair) {
                let found = call(&mut store, &hosts, name, &[Val::I32(*at)]).unwrap();
                let Val::ExternRef(Some(found)) = found else {
                    panic!("{name} of {at} is {found:?}");
                };
                assert!(found.ptr_eq(value), "{name} of {at}");
            }
        }
        let alive = alive.load(Ordering::Relaxed);
        assert!(alive < 40_000, "{alive} are alive");
        if step == 0 {
            assert!(alive < 10_000, "{alive} are alive");
        }
    });
}

#[test]
fn a_reference_of_another_store_is_refused() {
    let engine = Engine::new(&config(0)).unwrap();
    let mut stores = [(); 2].map(|()| Store::new(&engine, ()));
    let held: Vec<Instance> = stores
        .iter_mut()
        .map(|store| instance(&engine, store, HELD))
        .collect();
    let made = call(&mut stores[0], &held[0], "make", &[Val::I64(1)]).unwrap();
    let made_extern = call(&mut stores[0], &held[0], "make_extern", &[Val::I64(1)]).unwrap();
    let (store, held) = (&mut stores[1], &held[1]);
    for (name, made) in [("value", made), ("value_extern", made_extern)] {
        let error = call(store, held, name, &[made]).unwrap_err().to_string();
        assert!(error.contains("reference of another store"), "{error}");
    }
    let small = Val::AnyRef(Some(AnyRef::i31(-5)));
    assert_eq!(
        trap_of(call(store, held, "value", &[small])),
        TrapCode::CastFailure
    );
    assert_eq!(AnyRef::i31(-5).as_i31(), Some(-5));
    assert_eq!(AnyRef::i31(i32::MAX).as_i31(), Some(-1));
}

/// A module without types of objects, which the host hands one while it runs: the heap was not
/// there when it began.
#[test]
fn a_heap_that_comes_while_a_module_runs_is_seen() {
    const WAT: &str = r#"(module
      (func $make (import "host" "make") (param i32) (result anyref))
      (func (export "kinds") (result i32)
        (local $i i32) (local $sum i32) (local $any anyref)
        (local.set $any (ref.i31 (i32.const 1)))
        (loop $again
          (local.set $sum (i32.add (local.get $sum) (i32.add
            (ref.test (ref struct) (local.get $any))
            (i32.mul (i32.const 10) (ref.test (ref array) (local.get $any))))))
          (local.set $any (call $make (local.get $i)))
          (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
            (i32.const 5))))
        (local.get $sum)))"#;
    const OBJECTS: &str = r#"(module
      (type $s (struct)) (type $a (array i32))
      (global (export "struct") anyref (struct.new $s))
      (global (export "array") anyref (array.new_default $a (i32.const 3))))"#;
    each(|engine, _| {
        let objects = Module::new(engine, wat::parse_str(OBJECTS).unwrap()).unwrap();
        let ty = FuncType::new([ValType::I32], [ValType::Ref(RefType::ANYREF)]);
        let mut linker = Linker::new(engine);
        let make = move |mut caller: Caller<'_, ()>, args: &[Val], results: &mut [Val]| {
            let made = Instance::new(&mut caller, &objects, &[])?;
            let name = ["struct", "array"][args[0].unwrap_i32() as usize % 2];
            let global = made.get_global(&caller, name).unwrap();
            results[0] = global.get(&caller);
            Ok(())
        };
        linker.func_new("host", "make", ty, make).unwrap();
        let mut store = Store::new(engine, ());
        let module = Module::new(engine, wat::parse_str(WAT).unwrap()).unwrap();
        let instance = linker.instantiate(&mut store, &module).unwrap();
        // What the host made in turns 0 to 3: two structures and two arrays.
        let sum = call(&mut store, &instance, "kinds", &[]).unwrap();
        assert_eq!(sum.unwrap_i32(), 22);
    });
}
