//! The embedding API as a host uses it, under every strategy.

mod common;

use fathom_engine::*;

fn engine(bounds: Bounds) -> Engine {
    let config = Config::new()
        .bounds(BoundsChoice::Named(bounds))
        .allow_unchecked(true);
    Engine::new(&config).unwrap()
}

fn each(test: impl Fn(&Engine)) {
    for bounds in Bounds::forms_for(false) {
        let Some(engine) = common::engine(bounds) else {
            continue;
        };
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(&engine))) {
            Ok(()) => {}
            Err(panic) => {
                eprintln!("under {bounds}");
                std::panic::resume_unwind(panic)
            }
        }
    }
}

fn module(engine: &Engine, wat: &str) -> Module {
    Module::new(engine, wat::parse_str(wat).unwrap()).unwrap()
}

#[test]
fn typed_calls_return() {
    each(|engine| {
        let m = module(
            engine,
            r#"(module (func (export "add") (param i32 i32) (result i32)
            local.get 0 local.get 1 i32.add))"#,
        );
        let mut store = Store::new(engine, ());
        let i = Instance::new(&mut store, &m, &[]).unwrap();
        let add = i
            .get_func(&store, "add")
            .unwrap()
            .typed::<(i32, i32), i32>(&store)
            .unwrap();
        assert_eq!(add.call(&mut store, (40, 2)).unwrap(), 42);
    });
}

const MEMORY: &str = r#"(module $probe (memory (export "memory") 1 3)
    (func $load (export "load") (param i32) (result i32) local.get 0 i32.load offset=4)
    (func (export "store") (param i32 i32) local.get 0 local.get 1 i32.store)
    (func (export "grow") (param i32) (result i32) local.get 0 memory.grow))"#;

#[test]
fn accesses_beyond_the_end_trap_with_a_place() {
    each(|engine| {
        let guarantee = engine.bounds(false).guarantee();
        let m = module(engine, MEMORY);
        let mut store = Store::new(engine, ());
        let i = Instance::new(&mut store, &m, &[]).unwrap();
        let load = i
            .get_func(&store, "load")
            .unwrap()
            .typed::<i32, i32>(&store)
            .unwrap();
        let grow = i
            .get_func(&store, "grow")
            .unwrap()
            .typed::<i32, i32>(&store)
            .unwrap();
        for pages in 1..=3 {
            let end = pages * 65536;
            assert_eq!(load.call(&mut store, end - 8).unwrap(), 0);
            for index in [end - 7, end, -4, -1, i32::MIN, i32::MAX] {
                let result = load.call(&mut store, index);
                // A partial one may trap: there may be something of the host's.
                match result {
                    Ok(_) => assert_ne!(guarantee, Guarantee::Exact),
                    Err(error) => {
                        assert!(matches!(guarantee, Guarantee::Exact | Guarantee::Partial));
                        let trap = error.trap().unwrap();
                        assert_eq!(trap.code, TrapCode::MemoryOutOfBounds);
                        assert_eq!(trap.frames.len(), 1);
                        assert_eq!(trap.frames[0].func_name.as_deref(), Some("load"));
                        assert!(trap.frames[0].offset.is_some());
                    }
                }
            }
            assert_eq!(
                grow.call(&mut store, 1).unwrap(),
                if pages < 3 { pages } else { -1 }
            );
        }
    });
}

/// A trap in a function that was translated in the place of its call has the frames
/// of a call, with the offsets of the instructions: also in one that is called in another's
/// place, and below a call that is one.
#[test]
fn inlined_functions_are_frames_of_a_trap() {
    const SMALL: &str = r#"(module
        (type (struct))
        (memory 1)
        (func $store (param i32) (i32.store (local.get 0) (i32.const 1)))
        (func $fill (param i32) (memory.fill (local.get 0) (i32.const 0) (i32.const 9)))
        (func $deep (param i32) (call $deeper (local.get 0)) (call $store (i32.const 0)))
        (func $deeper (param i32) (call $store (i32.const 4)) (call $store (local.get 0)))
        (func $again (param i32) (loop (call $deep (local.get 0)) (br 0)))
        (func $behind (param i32) (call $store (i32.const 8)) (call $again (local.get 0)))
        (func (export "store") (param i32) (call $store (local.get 0)))
        (func (export "fill") (param i32) (call $fill (local.get 0)))
        (func (export "deep") (param i32) (call $deep (i32.const 0)) (call $deep (local.get 0)))
        (func (export "behind") (param i32) (call $behind (local.get 0))))"#;
    each(|engine| {
        if engine.bounds(false).guarantee() != Guarantee::Exact {
            return;
        }
        let inlining = module(engine, SMALL);
        let config = Config::new()
            .bounds(BoundsChoice::Named(engine.bounds(false)))
            .inline(false);
        let calling = module(&Engine::new(&config).unwrap(), SMALL);
        let frames = |m: &Module, name: &str| {
            let mut store = Store::new(m.engine(), ());
            let i = Instance::new(&mut store, m, &[]).unwrap();
            let func = i.get_func(&store, name).unwrap();
            let error = func.call(&mut store, &[Val::I32(-4)], &mut []).unwrap_err();
            error.trap().unwrap().clone()
        };
        let of_store = ["store", "deeper", "deep", "deep"];
        let of_loop = ["store", "deeper", "deep", "again", "behind", "behind"];
        for (name, funcs) in [
            ("store", &["store"; 2][..]),
            ("fill", &["fill"; 2]),
            ("deep", &of_store),
            ("behind", &of_loop),
        ] {
            let trap = frames(&inlining, name);
            assert_eq!(trap, frames(&calling, name), "{name}");
            let names = trap.frames.iter().map(|frame| frame.func_name.as_deref());
            assert!(names.eq(funcs.iter().map(|func| Some(*func))), "{trap:?}");
            assert!(trap.frames.iter().all(|frame| frame.offset.is_some()));
        }
    });
}

#[test]
fn the_host_sees_what_wasm_wrote() {
    each(|engine| {
        let m = module(engine, MEMORY);
        let mut store = Store::new(engine, 7u8);
        let i = Instance::new(&mut store, &m, &[]).unwrap();
        let f = i
            .get_func(&store, "store")
            .unwrap()
            .typed::<(i32, i32), ()>(&store)
            .unwrap();
        f.call(&mut store, (60000, 0x01020304)).unwrap();
        let memory = i.get_memory(&store, "memory").unwrap();
        assert_eq!(memory.data(&store)[60000..60004], [4, 3, 2, 1]);
        memory.populate(&store, 0, 65536).unwrap();
        assert_eq!(memory.populate(&store, 1, 65536), Err(OutOfBounds));
        let (bytes, data) = memory.data_and_store_mut(&mut store);
        bytes[0] = *data;
        assert_eq!(memory.data(&store)[0], 7);
        assert_eq!(memory.grow(&mut store, 2).unwrap(), 1);
        assert!(memory.grow(&mut store, 1).is_err());
        assert_eq!(memory.data(&store).len(), 3 * 65536);
        assert_eq!(memory.data(&store)[3 * 65536 - 1], 0);
    });
}

#[derive(Debug, thiserror::Error)]
#[error("no more")]
struct NoMore(u32);

#[test]
fn host_errors_come_out_typed_with_frames() {
    each(|engine| {
        let m = module(
            engine,
            r#"(module (import "h" "f" (func $f (param i32)))
            (func $inner i32.const 9 call $f) (func (export "run") call $inner))"#,
        );
        let mut store = Store::new(engine, 0u32);
        let mut linker = Linker::new(engine);
        linker
            .func_wrap(
                "h",
                "f",
                |mut caller: Caller<'_, u32>, n: u32| -> Result<()> {
                    *caller.data_mut() += n;
                    Err(Error::host(NoMore(n)))
                },
            )
            .unwrap();
        let i = linker.instantiate(&mut store, &m).unwrap();
        let run = i.get_func(&store, "run").unwrap();
        let error = run.call(&mut store, &[], &mut []).unwrap_err();
        assert_eq!(error.downcast_ref::<NoMore>().unwrap().0, 9);
        let names: Vec<_> = error
            .frames()
            .iter()
            .map(|f| f.func_name.clone().unwrap())
            .collect();
        assert_eq!(names, ["inner", "run"]);
        assert_eq!(*store.data(), 9);
    });
}

#[test]
fn nested_entries_have_their_own_catch_points() {
    each(|engine| {
        let m = module(
            engine,
            r#"(module
            (import "h" "again" (func $again (param i32) (result i32)))
            (func $down (export "down") (param i32) (result i32)
              local.get 0 i32.eqz if unreachable end
              local.get 0 i32.const 1 i32.sub call $again i32.const 1 i32.add))"#,
        );
        let mut store = Store::new(engine, ());
        let mut linker = Linker::new(engine);
        linker
            .func_wrap(
                "h",
                "again",
                |mut caller: Caller<'_, ()>, n: i32| -> Result<i32> {
                    let down = caller.get_export("down").unwrap().into_func().unwrap();
                    let down = down.typed::<i32, i32>(&caller)?;
                    let inner = down.call(&mut caller, n);
                    match inner {
                        Ok(n) => Ok(n),
                        Err(e) if n == 0 => {
                            assert_eq!(e.trap().unwrap().code, TrapCode::Unreachable);
                            assert_eq!(e.frames().len(), 6, "{:?}", e.frames());
                            Ok(100)
                        }
                        Err(e) => Err(e),
                    }
                },
            )
            .unwrap();
        let i = linker.instantiate(&mut store, &m).unwrap();
        let down = i
            .get_func(&store, "down")
            .unwrap()
            .typed::<i32, i32>(&store)
            .unwrap();
        assert_eq!(down.call(&mut store, 5).unwrap(), 105);
    });
}

#[test]
fn a_host_panic_passes_through() {
    let engine = engine(Bounds::Guard);
    let m = module(
        &engine,
        r#"(module (import "h" "f" (func $f)) (func (export "run") call $f))"#,
    );
    let mut store = Store::new(&engine, ());
    let mut linker = Linker::new(&engine);
    linker
        .func_wrap("h", "f", |_: Caller<'_, ()>| -> Result<()> {
            panic!("from the host")
        })
        .unwrap();
    let i = linker.instantiate(&mut store, &m).unwrap();
    let run = i.get_func(&store, "run").unwrap();
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = run.call(&mut store, &[], &mut []);
    }));
    assert_eq!(
        panic.unwrap_err().downcast_ref::<&str>(),
        Some(&"from the host")
    );
}

#[test]
fn endless_recursion_exhausts_the_stack() {
    each(|engine| {
        let m = module(
            engine,
            r#"(module (func $f (export "f") (result i32) call $f i32.const 1 i32.add))"#,
        );
        let mut store = Store::new(engine, ());
        let i = Instance::new(&mut store, &m, &[]).unwrap();
        let f = i
            .get_func(&store, "f")
            .unwrap()
            .typed::<(), i32>(&store)
            .unwrap();
        for _ in 0..3 {
            let error = f.call(&mut store, ()).unwrap_err();
            assert_eq!(error.trap().unwrap().code, TrapCode::StackExhausted);
        }
    });
}

#[test]
fn many_threads_trap_at_once() {
    each(|engine| {
        let m = module(engine, MEMORY);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for n in 0..200 {
                        let mut store = Store::new(engine, ());
                        let i = Instance::new(&mut store, &m, &[]).unwrap();
                        let load = i
                            .get_func(&store, "load")
                            .unwrap()
                            .typed::<i32, i32>(&store)
                            .unwrap();
                        let result = load.call(&mut store, 65536 + n);
                        if engine.bounds(false).guarantee() == Guarantee::Exact {
                            assert!(result.unwrap_err().trap().is_some());
                        }
                    }
                });
            }
        });
    });
}

#[test]
fn host_functions_are_callable_from_the_host() {
    let engine = engine(Bounds::Guard);
    let mut store = Store::new(&engine, ());
    let f = Func::wrap(&mut store, |c: Caller<'_, ()>, a: i64, b: f64| -> f64 {
        assert!(c.get_export("x").is_none());
        a as f64 * b
    })
    .unwrap();
    let mut results = [Val::I32(0)];
    f.call(
        &mut store,
        &[Val::I64(3), Val::F64(2.5f64.to_bits())],
        &mut results,
    )
    .unwrap();
    assert_eq!(results[0].f64(), Some(7.5));
}

#[test]
fn unchecked_has_to_be_allowed() {
    let config = Config::new().bounds(BoundsChoice::Named(Bounds::None));
    assert!(Engine::new(&config).is_err());
}

#[test]
fn mismatches_are_errors() {
    let engine = engine(Bounds::Guard);
    let m = module(&engine, MEMORY);
    let mut store = Store::new(&engine, ());
    let i = Instance::new(&mut store, &m, &[]).unwrap();
    let load = i.get_func(&store, "load").unwrap();
    assert!(load.call(&mut store, &[], &mut [Val::I32(0)]).is_err());
    assert!(
        load.call(&mut store, &[Val::I64(0)], &mut [Val::I32(0)])
            .is_err()
    );
    assert!(load.call(&mut store, &[Val::I32(0)], &mut []).is_err());
    assert!(load.typed::<i64, i32>(&store).is_err());
    let mut other = Store::new(&engine, ());
    assert!(
        load.call(&mut other, &[Val::I32(0)], &mut [Val::I32(0)])
            .is_err()
    );
}

const THROWING: &str = r#"(module
    (import "host" "tag" (tag $theirs (param i32 f64)))
    (import "host" "throw" (func $host (param i32)))
    (tag $ours (export "ours") (param i64))
    (func (export "throw") (param i64) local.get 0 throw $ours)
    (func (export "through") (param i32) local.get 0 call $host)
    (func (export "caught") (param i32) (result i32 f64)
        (block $caught (result i32 f64)
            (try_table (catch $theirs $caught) (call $host (local.get 0)))
            unreachable)))"#;

#[test]
fn exceptions_cross_the_border_both_ways() {
    each(|engine| {
        let m = module(engine, THROWING);
        let mut store = Store::new(engine, ());
        let ty = FuncType::new([ValType::I32, ValType::F64], []);
        let tag = Tag::new(&mut store, &ty).unwrap();
        let throw = Func::wrap(
            &mut store,
            move |mut caller: Caller<'_, ()>, n: i32| -> Result<()> {
                let values = [Val::I32(n), Val::F64(1.5f64.to_bits())];
                Err(ExnRef::new(&mut caller, tag, &values)?.into())
            },
        )
        .unwrap();
        let i = Instance::new(&mut store, &m, &[tag.into(), throw.into()]).unwrap();
        let call = |store: &mut Store<()>, name: &str, arg: Val, results: &mut [Val]| {
            let func = i.get_func(&*store, name).unwrap();
            func.call(store, &[arg], results)
        };

        let mut results = [Val::I32(0), Val::F64(0)];
        call(&mut store, "caught", Val::I32(7), &mut results).unwrap();
        assert_eq!(results[0].i32(), Some(7));
        assert_eq!(results[1].f64(), Some(1.5));

        let error = call(&mut store, "through", Val::I32(8), &mut []).unwrap_err();
        let exception = error.exception().expect("an exception");
        assert_eq!(exception.tag(&store), tag);
        assert_eq!(exception.values(&store)[0].i32(), Some(8));

        let error = call(&mut store, "throw", Val::I64(9), &mut []).unwrap_err();
        assert!(error.to_string().starts_with("uncaught exception in throw"));
        let exception = error.exception().expect("an exception");
        let ours = i.get_export(&store, "ours").unwrap().into_tag().unwrap();
        assert_eq!(exception.tag(&store), ours);
        assert_eq!(exception.values(&store)[0].i64(), Some(9));
    });
}

#[test]
fn a_reference_has_the_type_asked_for() {
    let engine = engine(Bounds::Guard);
    let m = module(
        &engine,
        r#"(module
        (type $unary (func (param i32) (result i32)))
        (func $double (export "double") (type $unary) local.get 0 i32.const 2 i32.mul)
        (func (export "other") (result i32) i32.const 1)
        (func (export "apply") (param (ref null $unary) i32) (result i32)
            local.get 1 local.get 0 call_ref $unary))"#,
    );
    let mut store = Store::new(&engine, ());
    let i = Instance::new(&mut store, &m, &[]).unwrap();
    let [double, other, apply] =
        ["double", "other", "apply"].map(|name| i.get_func(&store, name).unwrap());
    let mut results = [Val::I32(0)];
    let mut call = |func| {
        apply.call(
            &mut store,
            &[Val::FuncRef(func), Val::I32(21)],
            &mut results,
        )
    };
    call(Some(double)).unwrap();
    let wrong = call(Some(other)).unwrap_err().to_string();
    assert!(wrong.starts_with("argument 0: (ref null (type "), "{wrong}");
    let null = call(None).unwrap_err();
    assert_eq!(null.trap().map(|t| t.code), Some(TrapCode::NullFunction));
    assert_eq!(results[0].i32(), Some(42));
}

#[test]
fn a_feature_that_is_off_is_refused_with_its_name_and_place() {
    let samples = [
        (
            "multi-value",
            "(func (result i32 i32) i32.const 1 i32.const 2)",
        ),
        (
            "bulk-memory",
            "(memory 1) (func i32.const 0 i32.const 0 i32.const 0 memory.fill)",
        ),
        ("reference-types", "(table 1 externref)"),
        ("simd", "(func (result v128) i32.const 1 i8x16.splat)"),
        (
            "relaxed-simd",
            "(func (param v128) (result v128) local.get 0 i32x4.relaxed_trunc_f32x4_s)",
        ),
        (
            "extended-const",
            "(global i32 (i32.add (i32.const 1) (i32.const 2)))",
        ),
        ("tail-call", "(func return_call 0)"),
        ("multi-memory", "(memory 1) (memory 1)"),
        ("memory64", "(memory i64 1)"),
        (
            "function-references",
            "(type $t (func)) (func (param (ref $t)))",
        ),
        ("gc", "(type (struct))"),
        ("exceptions", "(tag)"),
        ("legacy-exceptions", "(func try catch_all end)"),
        ("threads", "(memory 1 1 shared)"),
        (
            "wide-arithmetic",
            "(func (param i64 i64) (result i64 i64) local.get 0 local.get 1 i64.mul_wide_u)",
        ),
        ("stack-switching", "(type $f (func)) (type (cont $f))"),
    ];
    assert_eq!(
        samples.map(|(name, _)| name),
        Feature::ALL.map(Feature::name)
    );
    for (feature, wat) in samples {
        let wasm = wat::parse_str(format!("(module {wat})")).unwrap();
        let config = Config::new().features(format!("-{feature}").parse().unwrap());
        let error = Module::new(&Engine::new(&config).unwrap(), &wasm).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("unsupported at offset 0x"), "{text}");
        assert!(
            text.ends_with(&format!(": {feature} is turned off")),
            "{text}"
        );
        assert!(error.offset().is_some_and(|offset| offset < wasm.len()));
    }
}

#[test]
fn a_strategy_for_the_other_index_type_is_refused() {
    for (bounds, wat) in [
        (Bounds::Guard, "(module (memory i64 1))"),
        (Bounds::GUARD64, "(module (memory 1))"),
    ] {
        let wasm = wat::parse_str(wat).unwrap();
        let error = Module::new(&engine(bounds), &wasm).unwrap_err().to_string();
        assert!(error.contains("does not guard"), "{error}");
    }
}

#[derive(Debug, thiserror::Error)]
#[error("status {0}")]
struct Status(i32);

/// What a host function returned is found behind `anyhow`, too.
#[test]
fn a_host_error_is_among_the_causes() {
    let engine = engine(Bounds::Guard);
    let calling = module(
        &engine,
        r#"(module (import "host" "f" (func $f)) (func (export "f") call $f))"#,
    );
    let mut linker: Linker<()> = Linker::new(&engine);
    linker
        .func_wrap("host", "f", |_: Caller<'_, ()>| -> Result<()> {
            Err(Error::host(Status(3)))
        })
        .unwrap();
    let mut store = Store::new(&engine, ());
    let instance = linker.instantiate(&mut store, &calling).unwrap();
    let f = instance.get_func(&store, "f").unwrap();
    let error = f.call(&mut store, &[], &mut []).unwrap_err();
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    let mut found = None;
    while let Some(error) = cause {
        found = found.or(error.downcast_ref::<Status>().map(|status| status.0));
        cause = error.source();
    }
    assert_eq!(found, Some(3));
}

/// An interrupt that was taken back lets its stores be entered again.
#[test]
fn an_interrupt_can_be_taken_back() {
    each(|engine| {
        let endless = module(
            engine,
            r#"(module (func (export "spin") (loop (br 0)))
                 (func (export "one") (result i32) i32.const 1))"#,
        );
        let mut store = Store::new(engine, ());
        let instance = Instance::new(&mut store, &endless, &[]).unwrap();
        let interrupt = Interrupt::new();
        store.set_interrupt(&interrupt);
        let spin = instance.get_func(&store, "spin").unwrap();
        let one = instance.get_func(&store, "one").unwrap();
        let one = one.typed::<(), i32>(&store).unwrap();
        for _ in 0..3 {
            let stopper = interrupt.clone();
            let stopping = std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(5));
                assert!(stopper.stop(std::time::Duration::from_secs(60)));
            });
            let error = spin.call(&mut store, &[], &mut []).unwrap_err();
            let code = error.trap().map(|trap| trap.code);
            assert_eq!(code, Some(TrapCode::Interrupted), "{error}");
            stopping.join().unwrap();
            assert!(one.call(&mut store, ()).is_err());
            let refused = Instance::new(&mut store, &endless, &[]).unwrap_err();
            assert_eq!(refused.trap().map(|trap| trap.code), code);
            assert!(interrupt.clear());
            assert_eq!(one.call(&mut store, ()).unwrap(), 1);
        }
    });
}
