//! What lives across a switch of stacks, by every way to compile.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use fathom_engine::{Codegen, Compilation, Config, Engine, Instance, Module, Store, Val};

#[path = "common/ways.rs"]
mod ways;

/// For each of `count` registers, `each` with its number in the place of `N`, of its 8 bytes' place
/// in the place of `AT`.
fn all(count: usize, each: &str) -> String {
    let one = |i: usize| {
        each.replace('N', &i.to_string())
            .replace("AT", &(8 * i).to_string())
    };
    (0..count).map(one).collect()
}

/// Who leaves a stack and who goes on there have all registers full.
#[test]
fn nothing_is_lost_across_a_switch() {
    let locals = all(14, "(local $iN i64)") + &all(16, "(local $fN f64)");
    let values = all(14, "(local.set $iN (i64.load offset=AT (local.get $at)))")
        + &all(
            16,
            "(local.set $fN (f64.convert_i64_s (i64.load offset=AT (local.get $at))))",
        );
    let sums = all(
        14,
        "(local.set $s (i64.add (i64.rotl (local.get $s) (i64.const 5)) (local.get $iN)))",
    ) + &all(
        16,
        "(local.set $t (f64.add (f64.mul (local.get $t) (f64.const 1.5)) (local.get $fN)))",
    );
    let numbers = (0..200).map(|i| format!("\\{:02x}", (i * 37 + 11) % 251));
    let numbers: String = numbers.collect();
    let body = r#"(module (tag $w (param i64) (result i64))
        (type $f (func (param i64) (result i64))) (type $k (cont $f))
        (memory 1) (data (i32.const 0) "NUMBERS") (elem declare func $fiber)
        (func $fiber (type $f) (local $at i32) LOCALS (local $s i64) (local $t f64)
          (local.set $at (i32.wrap_i64 (local.get 0))) VALUES
          (local.set $s (suspend $w (i64.const 3))) SUMS
          (local.set $s (i64.add (local.get $s) (suspend $w (local.get $s)))) SUMS
          (i64.xor (local.get $s) (i64.reinterpret_f64 (local.get $t))))
        (func (export "run") (param $at i32) (result i64)
          (local $k (ref null $k)) LOCALS (local $s i64) (local $t f64) VALUES
          (block $first (result i64 (ref $k))
            (return (resume $k (on $w $first) (i64.const 16) (cont.new $k (ref.func $fiber)))))
          (local.set $k) (local.set $s) SUMS
          (block $second (result i64 (ref $k))
            (return (resume $k (on $w $second) (local.get $s) (local.get $k))))
          (local.set $k) (local.set $s (i64.xor (local.get $s))) SUMS
          (local.set $s (i64.add (resume $k (local.get $s) (local.get $k)) (local.get $s))) SUMS
          (i64.xor (local.get $s) (i64.reinterpret_f64 (local.get $t)))))"#;
    let body = body.replace("LOCALS", &locals).replace("VALUES", &values);
    let body = body.replace("SUMS", &sums).replace("NUMBERS", &numbers);
    let mut expected = None;
    for way in ways::Way::all_and_llvm() {
        let engine = Engine::new(&way.of(Config::new())).unwrap();
        let module = Module::new(&engine, wat::parse_str(&body).unwrap()).unwrap();
        // `direct` leaves what switches to Cranelift.
        let is_own = way.codegen == Codegen::Direct || module.fallbacks().is_empty();
        assert!(is_own, "{way}: {:?}", module.fallbacks());
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let run = instance.get_func(&store, "run").unwrap();
        let seen = [0, 24].map(|at| {
            let mut results = [Val::I64(0)];
            run.call(&mut store, &[Val::I32(at)], &mut results).unwrap();
            results
        });
        let seen = format!("{seen:?}");
        assert_eq!(*expected.get_or_insert(seen.clone()), seen, "{way}");
    }
}
