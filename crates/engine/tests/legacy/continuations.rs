//! Continuations that are suspended in a body or in a clause of a `try`: the handlers are
//! there when they go on, and so is the exception, whatever was thrown meanwhile.

use fathom_engine::*;

const MODULE: &str = r#"(module
  (type $p (func)) (type $c (cont $p))
  (type $r (func (result i32))) (type $d (cont $r))
  (tag $t) (tag $x (param i32))
  (type $q (func (param i32) (result i32)))
  (type $j (cont $q))
  (global $kept (mut (ref null $d)) (ref.null $d))
  (func $in_a_body (param i32) (result i32)
    try (result i32)
      try (result i32)
        (suspend $t)
        (throw $x (local.get 0))
      delegate 0
    catch $x
      (i32.add (i32.const 100))
    end)
  (func $in_a_clause (param i32) (result i32)
    try (result i32)
      (throw $x (local.get 0))
    catch $x
      (drop)
      (suspend $t)
      (rethrow 0)
    end)
  (func $for_others (param i32) (result i32)
    try (result i32)
      (suspend $t)
      (i32.const 1)
    catch $x
      (i32.add (local.get 0))
    end)
  (elem declare func $in_a_body $in_a_clause $for_others)
  (func $begin (param i32 (ref $j))
    (block $h (result (ref $d))
      (drop (resume $j (on $t $h) (local.get 0) (local.get 1)))
      (return))
    (global.set $kept))
  (func (export "body") (param i32)
    (call $begin (local.get 0) (cont.new $j (ref.func $in_a_body))))
  (func (export "clause") (param i32)
    (call $begin (local.get 0) (cont.new $j (ref.func $in_a_clause))))
  (func (export "others") (param i32)
    (call $begin (local.get 0) (cont.new $j (ref.func $for_others))))
  (func (export "litter") (param i32)
    (loop $l
      try
        try (throw $x (local.get 0)) catch_all (rethrow 0) end
      catch $x
        (drop)
      end
      (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
  (func (export "go on") (result i32)
    try (result i32)
      (resume $d (global.get $kept))
    catch $x
      (i32.add (i32.const 1000))
    end)
  (func (export "throw into") (result i32)
    (resume_throw $d $x (i32.const 7) (global.get $kept))))"#;

#[test]
fn handlers_wait_with_a_continuation() {
    let engine = Engine::new(&Config::new()).unwrap();
    let module = Module::new(&engine, wat::parse_str(MODULE).unwrap()).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    for (how, then, expected) in [
        ("body", "go on", 141),
        ("clause", "go on", 1041),
        ("others", "go on", 1),
        ("others", "throw into", 48),
        ("body", "throw into", 107),
    ] {
        for (name, arg) in [(how, 41), ("litter", 5000)] {
            let func = instance.get_func(&store, name).unwrap();
            func.call(&mut store, &[Val::I32(arg)], &mut []).unwrap();
        }
        let func = instance.get_func(&store, then).unwrap();
        let mut results = [Val::I32(0)];
        func.call(&mut store, &[], &mut results).unwrap();
        assert_eq!(results[0].i32(), Some(expected), "{how}, {then}");
    }
}
