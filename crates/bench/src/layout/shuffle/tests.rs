//! A shuffled program answers like the one it was; what cannot be shuffled is found out.

use std::collections::BTreeSet;

use fathom_engine::{Engine, Linker, Module as Compiled, Store, Val};

use super::*;

/// Whatever names a function: calls, tail calls, references, elements of both forms,
/// globals, the start, exports and names.
const ALL: &str = r#"(module
  (type $n (func (param i64) (result i64)))
  (import "env" "seen" (func $seen (param i64)))
  (tag $e (param i64))
  (global $started (mut i64) (i64.const 0))
  (global $kept (ref func) (ref.func $five))
  (table $t 8 funcref)
  (table $u 1 funcref)
  (elem (table $t) (i32.const 0) func $one $two $three)
  (elem (table $t) (i32.const 3) funcref (ref.func $four) (ref.null func) (ref.func $one))
  (elem $passive func $two)
  (elem declare func $five $three)
  (start $begin)
  (func $begin (global.set $started (i64.const 40)))
  (func $one (type $n) (i64.mul (local.get 0) (i64.const 3)))
  (func $two (type $n) (i64.add (call $one (local.get 0)) (i64.const 5)))
  (func $three (type $n) (call $seen (local.get 0)) (return_call $two (i64.xor (local.get 0) (i64.const 77))))
  (func $four (type $n) (local $other i64)
    (local.set $other (i64.sub (call $two (local.get 0)) (call $three (local.get 0))))
    (i64.rotl (local.get $other) (i64.const 7)))
  (func $five (result i64) (global.get $started))
  (func $six (type $n) (throw $e (call $one (local.get 0))))
  (func (export "at") (param i32 i64) (result i64)
    (call_indirect $t (type $n) (local.get 1) (local.get 0)))
  (func (export "by reference") (param i64) (result i64)
    (call_ref $n (local.get 0) (ref.func $three)))
  (func (export "started") (result i64)
    (table.set $u (i32.const 0) (global.get $kept))
    (call_indirect $u (result i64) (i32.const 0)))
  (func (export "older exceptions") (param i64) (result i64)
    try (result i64)
      try (result i64)
        try (result i64) (call $six (local.get 0)) delegate 0
      catch $e
        (drop)
        (rethrow 0)
      catch_all
        (call $two (local.get 0))
      end
    catch $e
      (i64.add (i64.const 9))
    end)
  (func (export "passive") (param i64) (result i64)
    (table.init $t $passive (i32.const 7) (i32.const 0) (i32.const 1))
    (call_indirect $t (type $n) (local.get 0) (i32.const 7)))
)"#;

/// Everything that the program can be asked, and what it told its host.
fn answers(module: &[u8]) -> Vec<String> {
    let engine = Engine::new(&fathom_engine::Config::default()).unwrap();
    let compiled = Compiled::new(&engine, module).unwrap();
    let mut store = Store::new(&engine, Vec::new());
    let mut linker = Linker::new(&engine);
    let _ = linker.func_wrap(
        "env",
        "seen",
        |mut caller: fathom_engine::Caller<'_, Vec<i64>>, value: i64| {
            caller.data_mut().push(value);
        },
    );
    let instance = linker.instantiate(&mut store, &compiled).unwrap();
    let mut said = Vec::new();
    let mut ask = |store: &mut Store<Vec<i64>>, name: &str, args: &[Val]| {
        let function = instance.get_func(&mut *store, name).unwrap();
        let mut results = [Val::I64(0)];
        match function.call(&mut *store, args, &mut results) {
            Ok(()) => said.push(format!("{name} {args:?}: {results:?}")),
            // Without the place: it names an index.
            Err(_) => said.push(format!("{name} {args:?}: trap")),
        }
    };
    ask(&mut store, "started", &[]);
    for value in [0, 1, -1, 1 << 40] {
        ask(&mut store, "by reference", &[Val::I64(value)]);
        ask(&mut store, "passive", &[Val::I64(value)]);
        ask(&mut store, "older exceptions", &[Val::I64(value)]);
        for at in 0..9 {
            ask(&mut store, "at", &[Val::I32(at), Val::I64(value)]);
        }
    }
    said.push(format!("{:?}", store.data()));
    said
}

fn names(module: &[u8]) -> Vec<(u32, String)> {
    let mut names = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        if let Payload::CustomSection(section) = payload.unwrap()
            && let wasmparser::KnownCustom::Name(all) = section.as_known()
        {
            for one in all {
                if let Name::Function(map) = one.unwrap() {
                    names.extend(map.into_iter().map(|naming| {
                        let naming = naming.unwrap();
                        (naming.index, naming.name.to_owned())
                    }));
                }
            }
        }
    }
    names
}

#[test]
fn a_shuffled_program_is_the_same_program() {
    let module = wat::parse_str(ALL).unwrap();
    assert!(can_shuffle(&module));
    let expected = answers(&module);
    let mut orders = BTreeSet::new();
    for seed in 0..200 {
        let shuffled = shuffle(&module, seed).unwrap();
        assert_eq!(answers(&shuffled), expected, "seed {seed}");
        orders.insert(names(&shuffled));
    }
    assert!(orders.len() > 190, "{} orders", orders.len());
}

#[test]
fn names_go_with_their_functions_and_stay_in_order() {
    let module = wat::parse_str(ALL).unwrap();
    let shuffled = shuffle(&module, 7).unwrap();
    let names = names(&shuffled);
    assert!(names.is_sorted());
    assert_eq!(names[0], (0, "seen".to_owned()), "an import stays");
    let text: BTreeSet<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(text.len(), 8);
}

#[test]
fn what_cannot_be_shuffled_is_found_out() {
    let parse = |text: &str| wat::parse_str(text).unwrap();
    assert!(can_shuffle(&parse("(module (func) (func))")));
    assert!(!can_shuffle(&parse("(module (func))")), "one has one order");
    assert!(!can_shuffle(&parse("(module)")));
    assert!(!can_shuffle(b"\0asm\x01\0\0\0\x0a\x80"), "cut off");
    assert!(!can_shuffle(&parse("(component)")));
    let hints = r#"(module (func) (func) (@custom "metadata.code.branch_hint" "\00"))"#;
    assert!(!can_shuffle(&parse(hints)), "places in code");
    let more_types = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x03\x02\0\0\x0a\x04\x01\x02\0\x0b";
    assert!(!can_shuffle(more_types), "two functions and one body");
}

#[test]
fn a_copy_has_its_name_and_lies_in_the_scratch_folder() {
    let temp = tempfile::tempdir().unwrap();
    let module = temp.path().join("gemm.wasm");
    fs::write(&module, wat::parse_str(ALL).unwrap()).unwrap();
    let copy = place(&module, 3, temp.path()).unwrap();
    assert_eq!(copy, temp.path().join("shuffled/gemm.wasm"));
    assert!(can_shuffle(&fs::read(copy).unwrap()));
    fs::write(&module, "no").unwrap();
    let error = place(&module, 3, temp.path()).unwrap_err();
    assert_eq!(error.to_string(), "not a module any more");
}
