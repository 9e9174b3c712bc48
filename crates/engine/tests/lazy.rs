//! Functions that are compiled when they are first called do what they do if all are compiled
//! first, whoever calls them first and whatever with.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use fathom_engine::*;

mod common;

use common::{call, instance};

fn engine(compilation: Compilation) -> Engine {
    Engine::new(&Config::new().compilation(compilation)).unwrap()
}

/// Whether there are first calls here.
fn is_lazy(engine: &Engine) -> bool {
    let is_lazy = engine.compilation() == Compilation::Lazy;
    if !is_lazy {
        eprintln!("SKIPPED: nothing is compiled lazily on this host");
    }
    is_lazy
}

/// The types of a list, one after the other.
fn types(kinds: &str, count: usize) -> Vec<&'static str> {
    let kind = |kind| match kind {
        'i' => "i32",
        'l' => "i64",
        'f' => "f32",
        'd' => "f64",
        _ => "v128",
    };
    kinds.chars().cycle().take(count).map(kind).collect()
}

/// A value that no other place has.
fn constant(ty: &str, place: usize) -> String {
    match ty {
        "v128" => format!("(v128.const i64x2 {} {})", 7 * place + 1, 1000 + place),
        _ => format!("({ty}.const {})", 7 * place + 1),
    }
}

/// A function `$f` that turns its parameters into its results, each of which is one of the
/// parameters of its type or a constant; and ways to call it first.
fn passes(kinds: &str, params: usize, results: usize) -> String {
    let (params, results) = (types(kinds, params), types(kinds, results));
    let list = |what: &str, all: &[&str]| match all.is_empty() {
        true => String::new(),
        false => format!("({what} {})", all.join(" ")),
    };
    let ty = format!("{} {}", list("param", &params), list("result", &results));
    let mut body = String::new();
    for (place, result) in results.iter().enumerate().rev() {
        let same = (0..params.len()).filter(|at| params[*at] == *result);
        let _ = match same.cycle().nth(place) {
            Some(at) => write!(body, "(local.get {at})"),
            None => write!(body, "{}", constant(result, 50 + place)),
        };
    }
    // What a stack of results has last is written first above.
    let body: Vec<&str> = body.split_inclusive(')').collect();
    let body: String = body.into_iter().rev().collect();
    let args: String = (0..params.len())
        .map(|at| constant(params[at], at))
        .collect();
    let results = list("result", &results);
    format!(
        "(module (type $t (func {ty})) (table funcref (elem $f)) (global $r (ref $t) (ref.func $f))
           (func $f (export \"host\") (type $t) {body})
           (func (export \"direct\") {results} (call $f {args}))
           (func (export \"tail\") {results} (return_call $f {args}))
           (func (export \"table\") {results} (call_indirect (type $t) {args} (i32.const 0)))
           (func (export \"reference\") {results} (call_ref $t {args} (global.get $r)))
           (func (export \"tail-reference\") {results} (return_call_ref $t {args} (global.get $r))))"
    )
}

#[test]
fn arguments_and_results_of_every_number_survive_the_first_call() {
    let engines = [Compilation::Eager, Compilation::Lazy].map(engine);
    if !is_lazy(&engines[1]) {
        return;
    }
    for kinds in ["i", "l", "d", "v", "ld", "ivlfd", "fv"] {
        for (params, results) in (0..22).map(|n| (n, n)).chain([(1, 9), (12, 1), (0, 17)]) {
            let text = passes(kinds, params, results);
            for name in ["direct", "tail", "table", "reference", "tail-reference"] {
                let [expected, found] = engines.each_ref().map(|engine| {
                    let (mut store, instance, _) = instance(engine, &text);
                    format!("{:?}", call(&mut store, instance, name, &[]).unwrap())
                });
                assert_eq!(
                    found, expected,
                    "{name} of {params} to {results} of {kinds}"
                );
            }
        }
    }
}

#[test]
fn only_what_is_called_has_code() {
    let engine = engine(Compilation::Lazy);
    if !is_lazy(&engine) {
        return;
    }
    let text = r#"(module
      (func $a (export "a") (result i32) (i32.const 1))
      (func (export "b") (result i32) (loop (result i32) (i32.add (call $c) (i32.const 2))))
      (func $c (result i32) (loop (result i32) (i32.const 40)))
      (func $never (export "never") (result i32) (unreachable)))"#;
    let (mut store, instance, module) = instance(&engine, text);
    assert_eq!(module.compiled_functions(), (4, 0));
    let sum = call(&mut store, instance, "b", &[]).unwrap()[0].i32();
    assert_eq!(sum, Some(42));
    let compiled: Vec<u32> = module.code_places().map(|(func, ..)| func).collect();
    assert_eq!(compiled, [1, 2]);
    assert_eq!(module.compiled_functions(), (4, 2));
}

#[test]
fn a_trap_has_the_frames_that_it_has_otherwise() {
    let text = r#"(module $m (memory 1)
      (func $inner (param i32) (result i32) (loop (result i32) (i32.load (local.get 0))))
      (func $middle (param i32) (result i32) (loop (result i32)
        (i32.add (i32.const 1) (call $inner (local.get 0)))))
      (func (export "go") (param i32) (result i32) (loop (result i32)
        (i32.add (i32.const 1) (call $middle (local.get 0))))))"#;
    let told = [Compilation::Eager, Compilation::Lazy].map(|compilation| {
        let (mut store, instance, _) = instance(&engine(compilation), text);
        let far = [Val::I32(-8)];
        let first = call(&mut store, instance, "go", &far).unwrap_err();
        let again = call(&mut store, instance, "go", &far).unwrap_err();
        let frames = |error: &Error| {
            let trap = error.trap().expect("a trap");
            let frame = |frame: &Frame| format!("{frame}");
            trap.frames.iter().map(frame).collect::<Vec<_>>()
        };
        assert_eq!(frames(&first), frames(&again));
        (first.to_string(), frames(&first))
    });
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0].1.len(), 3);
}

#[test]
fn what_is_not_valid_is_refused_before_anything_runs() {
    let wrong = [
        "(module (func (export \"_start\")) (func (result i32)))",
        "(module (func (export \"_start\")) (func (param i64) (drop (i32.add (local.get 0) (i32.const 1)))))",
        "(module (type $s (struct (field i32))) (func (export \"_start\")) (func (drop (struct.new $s))))",
    ];
    for text in wrong {
        let wasm = wat::parse_str(text).unwrap();
        let told = [Compilation::Eager, Compilation::Lazy].map(|compilation| {
            let refused = Module::new(&engine(compilation), &wasm);
            refused.expect_err("it is refused").to_string()
        });
        assert_eq!(told[0], told[1]);
    }
}

/// Functions that call two others each.
fn tree(count: usize) -> String {
    let mut text = String::from("(module (memory 1)");
    for i in 0..count {
        let callee = |child: usize| match child < count {
            true => format!("(call $f{child} (i32.add (local.get 0) (i32.const {child})))"),
            false => "(i32.load offset=8 (local.get 0))".to_owned(),
        };
        let _ = write!(
            text,
            "(func $f{i} (export \"f{i}\") (param i32) (result i32) (loop (result i32)
               (i32.add {} {})))",
            callee(2 * i + 1),
            callee(2 * i + 2)
        );
    }
    text + ")"
}

#[test]
fn threads_that_call_the_same_functions_first_agree() {
    let wasm = wat::parse_str(tree(200)).unwrap();
    let sum = |engine: &Engine, module: &Module, name: &str| {
        let mut store = Store::new(engine, ());
        let instance = Linker::new(engine).instantiate(&mut store, module).unwrap();
        call(&mut store, instance, name, &[Val::I32(0)]).unwrap()[0].i32()
    };
    let eager = engine(Compilation::Eager);
    let expected = sum(&eager, &Module::new(&eager, &wasm).unwrap(), "f0");
    for _ in 0..10 {
        let engine = engine(Compilation::Lazy);
        let module = Module::new(&engine, &wasm).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| assert_eq!(sum(&engine, &module, "f0"), expected));
            }
        });
    }
}

#[test]
fn a_module_goes_while_its_functions_are_compiled() {
    let wasm = wat::parse_str(tree(60)).unwrap();
    for round in 0..100 {
        let engine = engine(Compilation::Lazy);
        let module = Module::new(&engine, &wasm).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = Linker::new(&engine)
            .instantiate(&mut store, &module)
            .unwrap();
        // A leaf, or what has some below it.
        let name = format!("f{}", 59 - round % 45);
        call(&mut store, instance, &name, &[Val::I32(0)]).unwrap();
    }
}

#[test]
fn what_is_kept_is_the_same_code() {
    let wasm = wat::parse_str(tree(20)).unwrap();
    let kept = [Compilation::Eager, Compilation::Lazy].map(|compilation| {
        let module = Module::new(&engine(compilation), &wasm).unwrap();
        module.serialize().unwrap()
    });
    assert!(kept[0] == kept[1]);
}

#[test]
fn a_host_function_calls_what_was_not_called_before() {
    let engine = engine(Compilation::Lazy);
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let mut linker: Linker<()> = Linker::new(&engine);
    let turn = move |mut caller: Caller<'_, ()>, x: i32| -> Result<i32> {
        counted.fetch_add(1, Ordering::Relaxed);
        let func = caller
            .get_export("back")
            .and_then(Extern::into_func)
            .unwrap();
        let mut results = [Val::I32(0)];
        func.call(&mut caller, &[Val::I32(x)], &mut results)?;
        Ok(results[0].i32().unwrap())
    };
    linker.func_wrap("host", "turn", turn).unwrap();
    let text = r#"(module (import "host" "turn" (func $turn (param i32) (result i32)))
      (func $back (export "back") (param i32) (result i32)
        (if (result i32) (i32.eqz (local.get 0))
          (then (i32.const 3))
          (else (i32.add (i32.const 1) (call $turn (i32.sub (local.get 0) (i32.const 1)))))))
      (func $start (drop (call $turn (i32.const 4))))
      (start $start))"#;
    let module = Module::new(&engine, wat::parse_str(text).unwrap()).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = linker.instantiate(&mut store, &module).unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 5);
    let sum = call(&mut store, instance, "back", &[Val::I32(7)]).unwrap();
    assert_eq!(sum[0].i32(), Some(10));
}

#[test]
fn little_stack_is_enough_to_compile() {
    let engine = engine(Compilation::Lazy);
    // What recurses leaves less of the thread's stack than compiling takes.
    let text = r#"(module
      (func $deep (export "deep") (param i32) (result i32) (local i64 i64 i64)
        (if (result i32) (i32.eqz (local.get 0))
          (then (call $last))
          (else (i32.add (i32.const 1) (call $deep (i32.sub (local.get 0) (i32.const 1)))))))
      (func $last (result i32) (loop (result i32) (i32.const 100))))"#;
    let thread = std::thread::Builder::new()
        .stack_size(512 << 10)
        .spawn(move || {
            let (mut store, instance, _) = instance(&engine, text);
            let sum = call(&mut store, instance, "deep", &[Val::I32(2000)]).unwrap();
            assert_eq!(sum[0].i32(), Some(2100));
        });
    thread.unwrap().join().unwrap();
}

#[test]
fn all_is_compiled_first_where_it_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config::new()
        .compilation(Compilation::Lazy)
        .cache_dir(Some(folder.path().to_path_buf()));
    let engine = Engine::new(&config).unwrap();
    assert_eq!(engine.compilation(), Compilation::Eager);
    if cfg!(target_arch = "x86_64") {
        assert_eq!(engine.not_lazy(), Some("a cache keeps whole modules"));
    }
    assert_eq!(Engine::new(&Config::new()).unwrap().not_lazy(), None);
}
