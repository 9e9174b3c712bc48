//! Stacks of continuations that are used up and go on in segments: with arguments and
//! results of all kinds over the end, suspended there, left by exceptions and traps.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::fmt::Write as _;

use fathom_engine::{
    Caller, Codegen, Compilation, Config, Engine, ExternRef, Instance, Linker, Module, Opt, Quota,
    Resource, Result, Store, TrapCode, Val,
};

#[path = "common/ways.rs"]
mod ways;

/// A configuration that compiles as it is asked for.
fn config() -> Config {
    ways::Way::asked_for().of(Config::new())
}

const OPTS: [Opt; 2] = [Opt::Speed, Opt::None];

fn instance(config: &Config, body: &str) -> (Store<u64>, Instance) {
    let engine = Engine::new(config).unwrap();
    let wasm = wat::parse_str(body).unwrap_or_else(|error| panic!("{error}"));
    let module = Module::new(&engine, wasm).unwrap();
    let mut store = Store::new(&engine, 0);
    let mut linker = Linker::new(&engine);
    let count = |mut caller: Caller<'_, u64>| *caller.data_mut() += 1;
    linker.func_wrap("host", "count", count).unwrap();
    let instance = linker.instantiate(&mut store, &module).unwrap();
    (store, instance)
}

fn call(store: &mut Store<u64>, instance: Instance, name: &str, args: &[Val]) -> Result<Vec<Val>> {
    let func = instance.get_func(&*store, name).unwrap();
    let mut results = vec![Val::I32(0); func.ty(&*store).results().len()];
    func.call(store, args, &mut results)?;
    Ok(results)
}

fn ints(values: &[Val]) -> Vec<i64> {
    let int = |value: &Val| match value {
        Val::I32(value) => i64::from(*value),
        Val::I64(value) => *value,
        Val::F64(bits) => f64::from_bits(*bits) as i64,
        other => panic!("{other:?}"),
    };
    values.iter().map(int).collect()
}

/// A function that calls itself with all its parameters, of which some are on the stack, and
/// gives them back as results, of which some are in memory of the caller's.
fn wide(params: usize) -> String {
    let types = ["i32", "i64", "f64"];
    let all: String = (0..params).map(|i| format!(" {}", types[i % 3])).collect();
    let gets: String = (0..params)
        .map(|i| format!("(local.get {})", i + 1))
        .collect();
    let mut text = format!(
        "(module
          (import \"host\" \"count\" (func $count))
          (type $f (func (param i32{all}) (result{all}))) (type $k (cont $f))
          (elem declare func $down)
          (func $down (type $f)
            (if (result{all}) (local.get 0)
              (then (call $down (i32.sub (local.get 0) (i32.const 1)) {gets}))
              (else (call $count) {gets})))
          (func (export \"run\") (param i32) (result{all})
            (resume $k (local.get 0)"
    );
    for i in 0..params {
        let _ = write!(text, " ({}.const {})", types[i % 3], 1000 + i);
    }
    text.push_str(" (cont.new $k (ref.func $down)))))");
    text
}

#[test]
fn arguments_and_results_cross_the_end_of_a_stack() {
    for opt in OPTS {
        for params in [1, 3, 12, 40] {
            let config = config().opt(opt).max_wasm_stack(8 << 20);
            let (mut store, instance) = instance(&config, &wide(params));
            let expected: Vec<i64> = (0..params as i64).map(|i| 1000 + i).collect();
            for depth in (0..120).chain([400, 1000]) {
                let results = call(&mut store, instance, "run", &[Val::I32(depth)]).unwrap();
                assert_eq!(ints(&results), expected, "{opt}, {params} at {depth}");
            }
            assert_eq!(*store.data(), 122);
        }
    }
}

const DEEP: &str = r#"(module
  (import "host" "count" (func $count))
  (type $p (func (param i32) (result i32))) (type $k (cont $p))
  (type $r (func (result i32))) (type $d (cont $r))
  (type $e (func (param i32 externref) (result externref))) (type $ke (cont $e))
  (type $re (func (result externref))) (type $de (cont $re))
  (tag $t) (tag $x (param i32)) (tag $y)
  (global $held (mut (ref null $d)) (ref.null $d))
  (global $kept (mut (ref null $de)) (ref.null $de))
  (elem declare func $suspends $traps $throws $middle $keeps $churns)
  (func $suspends (param i32) (result i32)
    (if (result i32) (local.get 0)
      (then (i32.add (i32.const 1) (call $suspends (i32.sub (local.get 0) (i32.const 1)))))
      (else (suspend $t) (call $count) (i32.const 0))))
  (func $traps (param i32) (result i32)
    (if (result i32) (local.get 0)
      (then (i32.add (i32.const 1) (call $traps (i32.sub (local.get 0) (i32.const 1)))))
      (else (unreachable))))
  (func $throws (param i32) (result i32)
    (if (local.get 0)
      (then (drop (call $throws (i32.sub (local.get 0) (i32.const 1))))))
    (throw $x (i32.const 77)))
  (func $middle (param i32) (result i32)
    (if (i32.gt_u (local.get 0) (i32.const 300))
      (then (return (call $middle (i32.sub (local.get 0) (i32.const 1))))))
    (block $h (result i32)
      (try_table (catch $x $h) (drop (call $throws (local.get 0))))
      (unreachable))
    ;; Where it was caught the stack goes on, and over its end again.
    (drop (call $suspends (local.get 0))))
  (func $keeps (param i32 externref) (result externref)
    (if (result externref) (local.get 0)
      (then (call $keeps (i32.sub (local.get 0) (i32.const 1)) (ref.null extern)) (drop)
        (local.get 1))
      (else (suspend $t) (local.get 1))))
  ;; To and fro over the end.
  (func $churns (param i32) (result i32) (local $i i32)
    (if (result i32) (local.get 0)
      (then (call $churns (i32.sub (local.get 0) (i32.const 1))))
      (else (loop $l (drop (call $suspends-not (i32.const 20)))
        (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 200))))
        (local.get $i))))
  (func $suspends-not (param i32) (result i32)
    (if (result i32) (local.get 0)
      (then (i32.add (i32.const 1) (call $suspends-not (i32.sub (local.get 0) (i32.const 1)))))
      (else (i32.const 0))))
  (func (export "hold") (param i32)
    (block $h (result (ref $d))
      (drop (resume $k (on $t $h) (local.get 0) (cont.new $k (ref.func $suspends))))
      (return))
    (global.set $held))
  (func (export "go-on") (result i32) (resume $d (global.get $held)))
  (func (export "throw-into") (result i32)
    (block $h (result i32)
      (try_table (catch $x $h) (resume_throw $d $x (i32.const 5) (global.get $held)) (return))
      (unreachable)))
  (func (export "trap") (param i32) (result i32)
    (resume $k (local.get 0) (cont.new $k (ref.func $traps))))
  (func (export "throw") (param i32) (result i32)
    (block $h (result i32)
      (try_table (catch $x $h) (drop (resume $k (local.get 0) (cont.new $k (ref.func $throws)))))
      (unreachable)))
  (func (export "uncaught") (param i32) (result i32)
    (resume $k (local.get 0) (cont.new $k (ref.func $throws))))
  (func (export "caught") (param i32) (result i32)
    (block $h (result (ref $d))
      (return (resume $k (on $t $h) (local.get 0) (cont.new $k (ref.func $middle)))))
    (drop) (i32.const 8))
  (func (export "keep") (param i32 externref)
    (block $h (result (ref $de))
      (drop (resume $ke (on $t $h) (local.get 0) (local.get 1) (cont.new $ke (ref.func $keeps))))
      (return))
    (global.set $kept))
  (func (export "kept") (result externref) (resume $de (global.get $kept)))
  (func (export "drop") (param externref))
  (func (export "churn") (param i32) (result i32)
    (resume $k (local.get 0) (cont.new $k (ref.func $churns))))
)"#;

#[test]
fn a_stack_is_suspended_and_left_in_a_segment() {
    for opt in OPTS {
        let (mut store, instance) = instance(&config().opt(opt), DEEP);
        let mut run = |name: &str, args: &[i32]| {
            let args: Vec<Val> = args.iter().map(|arg| Val::I32(*arg)).collect();
            let results = call(&mut store, instance, name, &args);
            results.map(|results| ints(&results))
        };
        for depth in [0, 5, 10, 20, 21, 22, 23, 24, 25, 30, 100, 500, 1500] {
            run("hold", &[depth]).unwrap();
            assert_eq!(run("go-on", &[]).unwrap(), [i64::from(depth)], "{opt}");
            run("hold", &[depth]).unwrap();
            assert_eq!(run("throw-into", &[]).unwrap(), [5], "{opt} {depth}");
            assert_eq!(run("throw", &[depth]).unwrap(), [77], "{opt} {depth}");
            assert_eq!(run("caught", &[depth]).unwrap(), [8], "{opt} {depth}");
            assert_eq!(run("churn", &[depth]).unwrap(), [200], "{opt} {depth}");
            let trap = run("trap", &[depth]).unwrap_err();
            assert_eq!(trap.trap().unwrap().code, TrapCode::Unreachable);
            let frames = trap.frames();
            assert_eq!(frames.len(), (depth as usize + 2).min(64), "{opt} {depth}");
            assert!(
                frames[..frames.len() - 1]
                    .iter()
                    .all(|f| f.offset.is_some())
            );
            let uncaught = run("uncaught", &[depth]).unwrap_err();
            assert!(uncaught.exception().is_some(), "{uncaught}");
        }
        let trap = run("trap", &[10_000_000]).unwrap_err();
        assert_eq!(trap.trap().unwrap().code, TrapCode::StackExhausted);
    }
}

#[test]
fn segments_are_used_again_and_count() {
    let quota = Quota {
        stack_bytes: 1 << 20,
        ..Quota::default()
    };
    let (mut store, instance) = instance(&config().quota(quota), DEEP);
    for _ in 0..200 {
        for name in ["trap", "throw", "uncaught"] {
            let _ = call(&mut store, instance, name, &[Val::I32(1000)]);
        }
        call(&mut store, instance, "hold", &[Val::I32(1000)]).unwrap();
        call(&mut store, instance, "go-on", &[]).unwrap();
    }
    let used = store.allowance().used(Resource::StackBytes);
    assert!(used <= 1 << 20, "{used}");
}

#[test]
fn what_a_segment_refers_to_is_kept() {
    let quota = Quota {
        extern_refs: 200,
        ..Quota::default()
    };
    let (mut store, instance) = instance(&config().quota(quota), DEEP);
    for depth in [0, 10, 100, 1000] {
        let value = ExternRef::new(depth);
        let args = [Val::I32(depth), Val::ExternRef(Some(value.clone()))];
        call(&mut store, instance, "keep", &args).unwrap();
        for other in 0..1000 {
            let other = Val::ExternRef(Some(ExternRef::new(other)));
            call(&mut store, instance, "drop", &[other]).unwrap();
        }
        let results = call(&mut store, instance, "kept", &[]).unwrap();
        let [Val::ExternRef(Some(found))] = &results[..] else {
            panic!("it is gone at {depth}");
        };
        assert!(found.ptr_eq(&value));
    }
}

/// One that is suspended, and one on the next stack that catches what comes out of a segment
/// and then needs more than its own stack has.
const BESIDE: &str = r#"(module
  (import "host" "count" (func $count))
  (type $p (func (param i32) (result i32))) (type $k (cont $p))
  (type $r (func (result i32))) (type $d (cont $r))
  (tag $t) (tag $x (param i32))
  (global $held (mut (ref null $d)) (ref.null $d))
  (elem declare func $waits $catches)
  (func $waits (param i32) (result i32) (suspend $t) (local.get 0))
  (func $throws (param i32) (result i32)
    (if (local.get 0)
      (then (drop (call $throws (i32.sub (local.get 0) (i32.const 1))))))
    (throw $x (i32.const 77)))
  (func $deep (param i32) (result i32)
    (if (result i32) (local.get 0)
      (then (i32.add (i32.const 1) (call $deep (i32.sub (local.get 0) (i32.const 1)))))
      (else (i32.const 0))))
  (func $catches (param i32) (result i32)
    (block $h (result i32)
      (try_table (catch $x $h) (drop (call $throws (i32.const 2000))))
      (unreachable))
    (i32.add (call $deep (local.get 0))))
  (func (export "hold") (param i32)
    (block $h (result (ref $d))
      (drop (resume $k (on $t $h) (local.get 0) (cont.new $k (ref.func $waits))))
      (return))
    (global.set $held))
  (func (export "go-on") (result i32) (resume $d (global.get $held)))
  (func (export "catch") (param i32) (result i32)
    (resume $k (local.get 0) (cont.new $k (ref.func $catches))))
)"#;

#[test]
fn a_stack_that_caught_an_exception_from_a_segment_ends_where_it_ended() {
    for opt in OPTS {
        for depth in (30..300).step_by(10) {
            let (mut store, instance) = instance(&config().opt(opt), BESIDE);
            let mut run = |name: &str, args: &[i32]| {
                let args: Vec<Val> = args.iter().map(|arg| Val::I32(*arg)).collect();
                ints(&call(&mut store, instance, name, &args).unwrap())
            };
            run("hold", &[123]);
            for _ in 0..2 {
                assert_eq!(run("catch", &[depth]), [i64::from(depth) + 77], "{opt}");
            }
            assert_eq!(run("go-on", &[]), [123], "{opt} {depth}");
        }
    }
}
