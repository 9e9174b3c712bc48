//! What an embedder writes: closures and their errors, modules with their imports found,
//! modules as bytes.

#![allow(unsafe_code)]

use std::error::Error as StdError;
use std::num::ParseIntError;

use fathom_engine::*;

fn module(engine: &Engine, wat: &str) -> Module {
    Module::new(engine, wat::parse_str(wat).unwrap()).unwrap()
}

/// A module that hands `f` of the host sixteen numbers.
const SIXTEEN: &str = r#"(module
    (import "host" "f" (func $f
      (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64) (result i64 i32)))
    (func (export "run") (param i32) (result i64 i32)
      (local.get 0) (local.get 0) (local.get 0) (local.get 0) (local.get 0) (local.get 0)
      (local.get 0) (local.get 0) (local.get 0) (local.get 0) (local.get 0) (local.get 0)
      (local.get 0) (local.get 0) (local.get 0) (i64.const 9) (call $f)))"#;

#[test]
fn closures_take_a_caller_or_none_and_sixteen_values() {
    let engine = Engine::default();
    let sixteen = module(&engine, SIXTEEN);
    let mut with: Linker<i64> = Linker::new(&engine);
    with.func_wrap(
        "host",
        "f",
        #[allow(clippy::too_many_arguments)]
        |caller: Caller<'_, i64>,
         a: i32,
         b: i32,
         c: i32,
         d: i32,
         e: i32,
         f: i32,
         g: i32,
         h: i32,
         i: i32,
         j: i32,
         k: i32,
         l: i32,
         m: i32,
         n: i32,
         o: i32,
         p: i64| {
            let sum = [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o]
                .iter()
                .sum::<i32>();
            (caller.data() + i64::from(sum) + p, o)
        },
    )
    .unwrap();
    let mut without: Linker<i64> = Linker::new(&engine);
    without
        .func_wrap(
            "host",
            "f",
            #[allow(clippy::too_many_arguments)]
            |a: i32,
             _: i32,
             _: i32,
             _: i32,
             _: i32,
             _: i32,
             _: i32,
             _: i32,
             _: i32,
             _: i32,
             _: i32,
             _: i32,
             _: i32,
             _: i32,
             o: i32,
             p: i64| { (i64::from(a + o) + p, o) },
        )
        .unwrap();
    for (linker, sum) in [(with, 100 + 15 * 2 + 9), (without, 2 + 2 + 9)] {
        let mut store = Store::new(&engine, 100);
        let instance = linker.instantiate(&mut store, &sixteen).unwrap();
        let run = instance
            .get_typed_func::<i32, (i64, i32)>(&store, "run")
            .unwrap();
        assert_eq!(run.call(&mut store, 2).unwrap(), (sum, 2));
    }
}

#[test]
fn typed_functions_take_sixteen_values() {
    let engine = Engine::default();
    let wide = module(
        &engine,
        r#"(module (func (export "last")
            (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64)
            (result i64 i32) (local.get 15) (local.get 14)))"#,
    );
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &wide, &[]).unwrap();
    type Wide = (
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i64,
    );
    let last = instance
        .get_typed_func::<Wide, (i64, i32)>(&store, "last")
        .unwrap();
    let given = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, i64::MIN);
    assert_eq!(last.call(&mut store, given).unwrap(), (i64::MIN, 14));
    let wrong = instance
        .get_typed_func::<i32, i32>(&store, "last")
        .unwrap_err();
    assert!(
        wrong.to_string().starts_with("export 'last': function is "),
        "{wrong}"
    );
    let none = instance
        .get_typed_func::<i32, i32>(&store, "first")
        .unwrap_err();
    assert_eq!(none.to_string(), "the instance exports no function 'first'");
}

#[derive(Debug, thiserror::Error)]
#[error("status {0}")]
struct Status(i32);

const CALLING: &str = r#"(module $m (import "host" "f" (func $f))
    (func $inner (call $f)) (func (export "run") (call $inner)))"#;

/// What a program gets of which `f` is this.
fn fails<P, R>(f: impl IntoHostFunc<(), P, R>) -> Error {
    let engine = Engine::default();
    let mut linker: Linker<()> = Linker::new(&engine);
    linker.func_wrap("host", "f", f).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = linker
        .instantiate(&mut store, &module(&engine, CALLING))
        .unwrap();
    let run = instance.get_typed_func::<(), ()>(&store, "run").unwrap();
    run.call(&mut store, ()).unwrap_err()
}

#[test]
fn closures_fail_with_errors_of_any_type() {
    let parse = fails(|| -> Result<(), ParseIntError> { "x".parse::<i32>().map(drop) });
    assert!(parse.is::<ParseIntError>());
    let boxed = fails(|| -> Result<(), Box<dyn StdError + Send + Sync>> {
        "x".parse::<i32>()?;
        Ok(())
    });
    assert!(boxed.is::<ParseIntError>());
    let inferred = fails(|| {
        "x".parse::<i32>()?;
        anyhow::Ok(())
    });
    assert!(inferred.is::<ParseIntError>());
    let text = fails(|| -> Result<(), &'static str> { Err("in words") });
    assert_eq!(format!("{text:#}").rsplit(": ").next(), Some("in words"));
    let ours = fails(|| -> Result<()> { Err(Error::host(Status(3))) });
    assert_eq!(ours.downcast_ref::<Status>().unwrap().0, 3);
    let anyhow = fails(|| -> anyhow::Result<()> { Err(Status(4).into()) });
    assert_eq!(anyhow.downcast_ref::<Status>().unwrap().0, 4);
    let deeper = fails(|| -> anyhow::Result<()> {
        Err(anyhow::Error::from(Status(5)).context("while at work"))
    });
    assert_eq!(deeper.downcast_ref::<Status>().unwrap().0, 5);
    let text = format!("{deeper:#}");
    assert!(text.ends_with(": while at work: status 5"), "{text}");
}

/// A trap that a host function hands on is one, whatever it was wrapped in.
#[test]
fn a_trap_stays_one_through_a_host_function() {
    fn trapping(caller: &mut Caller<'_, ()>) -> Result<()> {
        let wasm = wat::parse_str("(module (func unreachable) (start 0))").unwrap();
        let module = Module::new(caller.engine(), wasm)?;
        Instance::new(caller, &module, &[]).map(drop)
    }
    let errors = [
        fails(|mut caller: Caller<'_, ()>| trapping(&mut caller)),
        fails(|mut caller: Caller<'_, ()>| -> anyhow::Result<()> { Ok(trapping(&mut caller)?) }),
        fails(
            |mut caller: Caller<'_, ()>| -> Result<(), Box<dyn StdError + Send + Sync>> {
                Ok(trapping(&mut caller)?)
            },
        ),
        fails(|mut caller: Caller<'_, ()>| -> anyhow::Result<()> {
            trapping(&mut caller).map_err(|error| anyhow::Error::from(error).context("nested"))
        }),
    ];
    for error in errors {
        assert_eq!(
            error.trap().map(|trap| trap.code),
            Some(TrapCode::Unreachable),
            "{error:?}"
        );
    }
}

/// One line, the causes once, and the frames.
#[test]
fn errors_say_each_thing_once() {
    let error = fails(|| -> Result<(), Status> { Err(Status(7)) });
    let text = error.to_string();
    assert!(
        text.starts_with("the host reported an error in inner (function 1) in m at 0x"),
        "{text}"
    );
    assert_eq!(format!("{error:#}"), format!("{text}: status 7"));
    let through_anyhow = anyhow::Error::from(error);
    assert_eq!(format!("{through_anyhow:#}").matches("status 7").count(), 1);
    let error = through_anyhow.downcast::<Error>().unwrap();
    let debug = format!("{error:?}");
    let lines: Vec<&str> = debug.lines().collect();
    assert_eq!(lines[0], text);
    assert_eq!(lines[1..5], ["", "Caused by:", "    status 7", ""]);
    assert_eq!(lines[5], "Frames of Wasm, the innermost first:");
    assert!(
        lines[6].starts_with("    0: inner (function 1) in m at 0x"),
        "{debug}"
    );
    assert!(
        lines[7].starts_with("    1: run (function 2) in m at 0x"),
        "{debug}"
    );
    assert_eq!(lines.len(), 8);
}

#[test]
fn imports_are_found_once_for_many_instances() {
    let engine = Engine::default();
    let sixteen = module(&engine, SIXTEEN);
    let mut linker: Linker<i32> = Linker::new(&engine);
    let missing = linker.instantiate_pre(&sixteen).unwrap_err();
    assert_eq!(missing.to_string(), "import 'host' 'f': unknown import");
    linker.func_wrap("host", "f", || 1i32).unwrap();
    let wrong = linker.instantiate_pre(&sixteen).unwrap_err();
    assert!(
        wrong.to_string().contains("incompatible import type"),
        "{wrong}"
    );

    let calling = module(&engine, CALLING);
    let mut linker: Linker<i32> = Linker::new(&engine);
    linker
        .func_wrap("host", "f", |mut caller: Caller<'_, i32>| {
            *caller.data_mut() += 1
        })
        .unwrap();
    let pre = linker.instantiate_pre(&calling).unwrap();
    drop(linker);
    let stores: Vec<i32> = std::thread::scope(|scope| {
        let work = |start: i32| {
            let pre = pre.clone();
            move || {
                let mut store = Store::new(pre.module().engine(), start);
                for _ in 0..3 {
                    let instance = pre.instantiate(&mut store).unwrap();
                    let run = instance.get_typed_func::<(), ()>(&store, "run").unwrap();
                    run.call(&mut store, ()).unwrap();
                }
                store.into_data()
            }
        };
        let threads: Vec<_> = (0..4).map(|n| scope.spawn(work(n * 10))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(stores, [3, 13, 23, 33]);
}

#[test]
fn host_functions_live_as_long_as_a_store_that_has_them() {
    let engine = &Engine::default();
    let text = r#"(module
        (import "host" "one" (func $one (result i32)))
        (import "host" "two" (func $two (param i32) (result i32)))
        (func (export "both") (result i32) (call $two (call $one))))"#;
    let owner = std::sync::Arc::new(40);
    let (mut first, mut second) = (Store::new(engine, 1), Store::new(engine, 2));
    let both = {
        let mut linker: Linker<i32> = Linker::new(engine);
        let one = owner.clone();
        linker.func_wrap("host", "one", move || *one).unwrap();
        let two = owner.clone();
        let add = move |caller: Caller<'_, i32>, given: i32| given + caller.data() + *two - 40;
        linker.func_wrap("host", "two", add).unwrap();
        let pre = linker.instantiate_pre(&module(engine, text)).unwrap();
        [&mut first, &mut second].map(|store| {
            let instance = pre.instantiate(&mut *store).unwrap();
            instance.get_typed_func::<(), i32>(&*store, "both").unwrap()
        })
    };
    assert_eq!(std::sync::Arc::strong_count(&owner), 3);
    assert_eq!(both[0].call(&mut first, ()).unwrap(), 41);
    drop(first);
    assert_eq!(both[1].call(&mut second, ()).unwrap(), 42);
    drop(second);
    assert_eq!(std::sync::Arc::strong_count(&owner), 1);
}

#[test]
fn what_is_not_defined_fails_when_it_is_called() {
    let engine = Engine::default();
    let calling = module(&engine, CALLING);
    let mut linker: Linker<()> = Linker::new(&engine);
    linker.define_unknown_imports_as_traps(&calling).unwrap();
    // What is defined stays.
    linker.define_unknown_imports_as_traps(&calling).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = linker.instantiate(&mut store, &calling).unwrap();
    let run = instance.get_typed_func::<(), ()>(&store, "run").unwrap();
    let error = run.call(&mut store, ()).unwrap_err();
    let unknown = error.downcast_ref::<UnknownImportError>().unwrap();
    assert_eq!((unknown.module(), unknown.name()), ("host", "f"));
    assert_eq!(error.frames().len(), 2);
}

#[test]
fn a_linker_hands_out_what_it_has() {
    let engine = Engine::default();
    let mut linker: Linker<()> = Linker::new(&engine);
    linker
        .func_wrap("host", "f", |n: i32| n + 1)
        .and_then(|linker| linker.alias("host", "f", "env", "g"))
        .unwrap();
    let mut store = Store::new(&engine, ());
    let g = linker
        .get(&mut store, "env", "g")
        .unwrap()
        .into_func()
        .unwrap();
    assert_eq!(
        g.typed::<i32, i32>(&store)
            .unwrap()
            .call(&mut store, 4)
            .unwrap(),
        5
    );
}

const WITH_DATA: &str = r#"(module $kept
    (memory (export "memory") 1 2)
    (data (i32.const 16) "abc") (data $passive "xyz")
    (table 1 funcref) (elem (i32.const 0) $fail)
    (func $fail (export "fail") unreachable)
    (func (export "init") (param i32)
      (memory.init $passive (local.get 0) (i32.const 0) (i32.const 3)))
    (func (export "indirect") (call_indirect (i32.const 0))))"#;

#[test]
fn a_module_is_itself_again_out_of_its_bytes() {
    let engine = Engine::default();
    let compiled = module(&engine, WITH_DATA);
    let bytes = compiled.serialize().unwrap();
    // SAFETY: they were made right here.
    let read = unsafe { Module::deserialize(&engine, &bytes) }.unwrap();
    assert_eq!(read.serialize().unwrap(), bytes);
    drop(compiled);
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &read, &[]).unwrap();
    let init = instance.get_typed_func::<i32, ()>(&store, "init").unwrap();
    init.call(&mut store, 32).unwrap();
    let memory = instance.get_memory(&store, "memory").unwrap();
    assert_eq!(
        (&memory.data(&store)[16..19], &memory.data(&store)[32..35]),
        (&b"abc"[..], &b"xyz"[..])
    );
    let indirect = instance
        .get_typed_func::<(), ()>(&store, "indirect")
        .unwrap();
    let error = indirect.call(&mut store, ()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("unreachable in fail (function 0) in kept at 0x"),
        "{text}"
    );
    let from = module(&engine, WITH_DATA);
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &from, &[]).unwrap();
    let indirect = instance
        .get_typed_func::<(), ()>(&store, "indirect")
        .unwrap();
    assert_eq!(indirect.call(&mut store, ()).unwrap_err().to_string(), text);
}

#[test]
fn bytes_that_are_no_module_of_this_engine_are_refused() {
    let engine = Engine::default();
    let bytes = engine
        .precompile_module(&wat::parse_str(WITH_DATA).unwrap())
        .unwrap();
    let refusal = |engine: &Engine, bytes: &[u8]| {
        // SAFETY: what is refused is not executed, and each of these has to be.
        let error = unsafe { Module::deserialize(engine, bytes) }.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Serialized(_)),
            "{error:?}"
        );
        error.to_string()
    };
    let plain = Engine::new(&Config::new().opt(Opt::None)).unwrap();
    assert!(refusal(&plain, &bytes).contains("another configuration"));
    #[cfg(target_arch = "x86_64")]
    {
        let direct = Engine::new(&Config::new().codegen(Codegen::Direct)).unwrap();
        assert!(refusal(&direct, &bytes).contains("another configuration"));
        let wasm = wat::parse_str(WITH_DATA).unwrap();
        let bytes = direct.precompile_module(&wasm).unwrap();
        assert!(refusal(&engine, &bytes).contains("another configuration"));
    }
    assert!(refusal(&engine, b"").ends_with("it is none"));
    assert!(refusal(&engine, b"\0asm\x01\0\0\0").ends_with("it is none"));
    for at in (0..bytes.len()).step_by(97) {
        refusal(&engine, &bytes[..at]);
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        refusal(&engine, &damaged);
    }
}

#[test]
fn modules_come_from_files() {
    let engine = Engine::default();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.wasm");
    std::fs::write(&path, wat::parse_str(WITH_DATA).unwrap()).unwrap();
    let module = Module::from_file(&engine, &path).unwrap();
    assert_eq!(module.name(), Some("kept"));
    std::fs::write(&path, module.serialize().unwrap()).unwrap();
    // SAFETY: it was written right here.
    let read = unsafe { Module::deserialize_file(&engine, &path) }.unwrap();
    assert_eq!(read.name(), Some("kept"));
    let error = Module::from_file(&engine, folder.path().join("none")).unwrap_err();
    assert!(error.to_string().starts_with("cannot read "), "{error}");
}

/// As perf(1) reads it: where a function is, how long, and its name.
#[test]
fn a_profiler_is_told_the_names_of_functions() {
    let config = Config::new().profiler(ProfilingStrategy::PerfMap);
    let engine = Engine::new(&config).unwrap();
    let named = module(
        &engine,
        r#"(module $mapped (func $one unreachable) (func (export "two") (call $one))
             (func (@name "a\nb")) (func (@name "")) (func))"#,
    );
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.splitn(3, ' ').collect())
        .collect();
    let names: Vec<&str> = lines.iter().map(|line| line[2]).collect();
    assert_eq!(
        names,
        [
            "mapped: one",
            "mapped: two",
            "mapped: a\\nb",
            "mapped: function 3",
            "mapped: function 4"
        ]
    );
    let mut bytes = 0;
    for line in &lines {
        assert!(usize::from_str_radix(line[0], 16).unwrap() > 4096);
        bytes += usize::from_str_radix(line[1], 16).unwrap();
    }
    assert!((5..=named.code_bytes()).contains(&bytes), "{bytes}");
}

/// A trap is found by its code alone, too.
#[test]
fn the_code_of_a_trap_is_found_by_its_type() {
    let engine = Engine::default();
    let failing = module(&engine, "(module (func unreachable) (start 0))");
    let error = Instance::new(Store::new(&engine, ()), &failing, &[]).unwrap_err();
    assert_eq!(error.downcast_ref(), Some(&TrapCode::Unreachable));
    assert_eq!(
        Error::msg("in words").to_string(),
        "the host reported an error"
    );
}
