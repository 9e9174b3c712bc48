//! The embedding API as a host uses it, under every strategy.

use fathom_engine::*;

fn engine(bounds: Bounds) -> Engine {
    let config = Config::new()
        .bounds(BoundsChoice::Named(bounds))
        .allow_unchecked(true);
    Engine::new(&config).unwrap()
}

fn each(test: impl Fn(&Engine)) {
    for bounds in Bounds::all_for(false) {
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(&engine(bounds)))) {
            Ok(()) => {}
            Err(panic) => {
                eprintln!("under {bounds}");
                std::panic::resume_unwind(panic)
            }
        }
    }
}

fn module(engine: &Engine, wat: &str) -> Module {
    Module::new(engine, &wat::parse_str(wat).unwrap()).unwrap()
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
        let exact = engine.bounds(false).guarantee() == Guarantee::Exact;
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
                if exact {
                    let error = result.unwrap_err();
                    let trap = error.trap().unwrap();
                    assert_eq!(trap.code, TrapCode::MemoryOutOfBounds);
                    assert_eq!(trap.frames.len(), 1);
                    assert_eq!(trap.frames[0].func_name.as_deref(), Some("load"));
                    assert!(trap.frames[0].offset.is_some());
                } else {
                    result.unwrap();
                }
            }
            assert_eq!(
                grow.call(&mut store, 1).unwrap(),
                if pages < 3 { pages } else { -1 }
            );
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
        linker.func_wrap(
            "h",
            "f",
            |mut caller: Caller<'_, u32>, n: u32| -> Result<()> {
                *caller.data_mut() += n;
                Err(Error::host(NoMore(n)))
            },
        );
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
        linker.func_wrap(
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
        );
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
    linker.func_wrap("h", "f", |_: Caller<'_, ()>| -> Result<()> {
        panic!("from the host")
    });
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

#[test]
fn the_cache_survives_damage() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::new().cache_dir(Some(dir.path().to_owned()));
    let engine = Engine::new(&config).unwrap();
    assert!(!module(&engine, MEMORY).from_cache());
    assert!(module(&engine, MEMORY).from_cache());
    let entry = std::fs::read_dir(dir.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let good = std::fs::read(&entry).unwrap();
    for damage in 0..3 {
        let mut bad = good.clone();
        match damage {
            0 => bad.truncate(good.len() / 2),
            1 => bad[good.len() / 2] ^= 1,
            _ => bad.clear(),
        }
        std::fs::write(&entry, bad).unwrap();
        assert!(!module(&engine, MEMORY).from_cache(), "damage {damage}");
        assert_eq!(std::fs::read(&entry).unwrap(), good, "mended");
    }
}
