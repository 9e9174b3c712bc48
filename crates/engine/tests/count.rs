//! Counting: a program whose loads, stores, calls and growths are known by hand,
//! under every strategy, with and without optimisation and elision.

use fathom_engine::{
    Bounds, BoundsChoice, Config, Counts, Elide, Engine, Linker, Module, Opt, SharedMemory, Store,
};

/// `run n` does, for each of `n`: an i32 load and a v128 store, an atomic addition,
/// a call through the table and one through a reference, a call of the host. Once:
/// two growths, of which one fails, and a fill, which is no load or store.
fn program(index: &str) -> String {
    format!(
        r#"(module
          (import "host" "tick" (func $tick))
          (memory {index} 1 2)
          (table 1 funcref)
          (type $nothing (func))
          (elem (i32.const 0) $leaf)
          (elem declare func $leaf)
          (func $leaf)
          (func (export "run") (param $n i32) (local $i i32)
            (drop (memory.grow ({index}.const 1)))
            (drop (memory.grow ({index}.const 1)))
            (memory.fill ({index}.const 0) (i32.const 1) ({index}.const 64))
            (loop $again
              (drop (i32.load offset=4 ({at})))
              (v128.store offset=128 ({at}) (v128.const i64x2 1 2))
              (drop (i32.atomic.rmw.add ({index}.const 512) (i32.const 1)))
              (call_indirect (type $nothing) (i32.const 0))
              (call_ref $nothing (ref.func $leaf))
              (call $tick)
              (local.set $i (i32.add (local.get $i) (i32.const 1)))
              (br_if $again (i32.lt_u (local.get $i) (local.get $n)))))
          (func (export "beyond")
            (i32.store ({index}.const 0x30000) (i32.const 1))))"#,
        at = match index {
            "i64" => "i64.extend_i32_u (i32.shl (local.get $i) (i32.const 4))",
            _ => "i32.shl (local.get $i) (i32.const 4)",
        },
    )
}

const TIMES: u64 = 5;

/// What five rounds do, whatever checks the accesses.
fn expected(checks: u64, checks_left_out: u64) -> Counts {
    Counts {
        loads: 2 * TIMES,
        stores: 2 * TIMES,
        checks,
        checks_left_out,
        indirect_calls: 2 * TIMES,
        host_calls: TIMES,
        growths: 2,
        key_switches: 0,
    }
}

fn engine(bounds: Bounds, opt: Opt, elide: Elide) -> Option<Engine> {
    let config = Config::new()
        .bounds(BoundsChoice::Named(bounds))
        .opt(opt)
        .elide(elide)
        .allow_unchecked(true)
        .count(true);
    match Engine::new(&config) {
        Ok(engine) => Some(engine),
        Err(error) => {
            eprintln!("SKIPPED {bounds}: {error}");
            None
        }
    }
}

fn linker(engine: &Engine) -> Linker<()> {
    let mut linker = Linker::new(engine);
    linker
        .func_wrap("host", "tick", |_: fathom_engine::Caller<'_, ()>| {})
        .unwrap();
    linker
}

fn counted(engine: &Engine, wat: &str) -> (Counts, Module) {
    let module = Module::new(engine, wat::parse_str(wat).unwrap()).unwrap();
    let mut store = Store::new(engine, ());
    let instance = linker(engine).instantiate(&mut store, &module).unwrap();
    let run = instance.get_func(&store, "run").unwrap();
    let run = run.typed::<(i32,), ()>(&store).unwrap();
    run.call(&mut store, (TIMES as i32,)).unwrap();
    // How often keys were switched is no matter of the accesses.
    let key_switches = 0;
    let counts = Counts {
        key_switches,
        ..store.counts()
    };
    (counts, module)
}

/// Whether a strategy has code of its own in front of each access.
fn checks(bounds: Bounds, memory64: bool) -> bool {
    match bounds {
        Bounds::None | Bounds::Pkeys | Bounds::Guard => false,
        // Only the high bits of 64-bit indices.
        Bounds::Uffd => memory64,
        _ => true,
    }
}

#[test]
fn every_strategy_counts_the_same_accesses_and_its_own_checks() {
    for (index, memory64) in [("i32", false), ("i64", true)] {
        for bounds in Bounds::forms_for(memory64) {
            for opt in Opt::ALL {
                let Some(engine) = engine(bounds, opt, Elide::Off) else {
                    continue;
                };
                let (counts, module) = counted(&engine, &program(index));
                let is_checked = checks(bounds, memory64);
                let accesses = if is_checked { 3 * TIMES } else { 0 };
                assert_eq!(counts, expected(accesses, 0), "{bounds} {index} {opt}");
                let sites = module.check_sites();
                let emitted = if is_checked { 4 } else { 0 };
                assert_eq!(
                    (sites.emitted, sites.left_out),
                    (emitted, 0),
                    "{bounds} {index}"
                );
            }
        }
    }
}

#[test]
fn checks_that_are_left_out_are_counted_as_such() {
    for (index, memory64) in [("i32", false), ("i64", true)] {
        // The second load is at the first one's address, the third below it.
        let wat = format!(
            r#"(module
              (import "host" "tick" (func))
              (memory {index} 1)
              (global $somewhere (mut {index}) ({index}.const 64))
              (func (export "run") (param i32) (local $at {index})
                (local.set $at (global.get $somewhere))
                (drop (i32.load offset=8 (local.get $at)))
                (drop (i32.load offset=8 (local.get $at)))
                (drop (i32.load offset=4 (local.get $at)))))"#
        );
        for bounds in Bounds::forms_for(memory64).filter(|form| leaves_out(*form, memory64)) {
            let Some(engine) = engine(bounds, Opt::Speed, Elide::Dominated) else {
                continue;
            };
            let (counts, module) = counted(&engine, &wat);
            let found = (counts.loads, counts.checks, counts.checks_left_out);
            assert_eq!(found, (3, 1, 2), "{bounds} {index}");
            let sites = module.check_sites();
            assert_eq!((sites.emitted, sites.left_out), (1, 2), "{bounds} {index}");
        }
    }
}

/// Whether a strategy has checks that another access makes superfluous.
fn leaves_out(bounds: Bounds, memory64: bool) -> bool {
    checks(bounds, memory64) && !matches!(bounds, Bounds::Clamp | Bounds::Debug)
}

#[test]
fn counting_changes_no_decision_about_checks() {
    for memory64 in [false, true] {
        let wat = program(if memory64 { "i64" } else { "i32" });
        for bounds in Bounds::all_for(memory64) {
            let Some(engine) = engine(bounds, Opt::Speed, Elide::Loops) else {
                continue;
            };
            let (counts, _) = counted(&engine, &wat);
            let all = if checks(bounds, memory64) {
                3 * TIMES
            } else {
                0
            };
            assert_eq!(counts.checks + counts.checks_left_out, all, "{bounds}");
            assert_eq!(counts, expected(counts.checks, counts.checks_left_out));
        }
    }
}

#[test]
fn an_access_that_traps_counts_and_so_does_its_check() {
    for bounds in [Bounds::Guard, Bounds::Trap] {
        let engine = engine(bounds, Opt::Speed, Elide::Off).unwrap();
        let module = Module::new(&engine, wat::parse_str(program("i32")).unwrap()).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = linker(&engine).instantiate(&mut store, &module).unwrap();
        let beyond = instance.get_func(&store, "beyond").unwrap();
        assert!(beyond.call(&mut store, &[], &mut []).is_err());
        let counts = store.counts();
        let checked = u64::from(bounds == Bounds::Trap);
        assert_eq!((counts.stores, counts.checks), (1, checked), "{bounds}");
    }
}

#[test]
fn stores_of_several_threads_add_up() {
    const THREADS: u64 = 4;
    let engine = engine(Bounds::Trap, Opt::Speed, Elide::Off).unwrap();
    let wat = program("i32").replace(
        "(memory i32 1 2)",
        "(import \"host\" \"memory\" (memory 1 2 shared))",
    );
    let wat = wat.replace("(drop (memory.grow (i32.const 1)))", "");
    let module = Module::new(&engine, wat::parse_str(wat).unwrap()).unwrap();
    let memory = module.imports().find_map(|(_, _, ty)| match ty {
        fathom_engine::ExternType::Memory(ty) => Some(ty),
        _ => None,
    });
    let memory = SharedMemory::new(&engine, memory.unwrap()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut linker = linker(&engine);
                linker.define_shared("host", "memory", &memory).unwrap();
                let mut store = Store::new(&engine, ());
                let instance = linker.instantiate(&mut store, &module).unwrap();
                let run = instance.get_func(&store, "run").unwrap();
                let run = run.typed::<(i32,), ()>(&store).unwrap();
                run.call(&mut store, (TIMES as i32,)).unwrap();
            });
        }
    });
    let counts = engine.counts();
    assert_eq!(counts.loads, THREADS * 2 * TIMES);
    assert_eq!(counts.checks, THREADS * 3 * TIMES);
    assert_eq!(counts.host_calls, THREADS * TIMES);
}

#[test]
fn without_being_asked_nothing_is_counted() {
    let engine = Engine::new(&Config::new()).unwrap();
    let (counts, module) = counted(&engine, &program("i32"));
    assert_eq!(counts, Counts::default());
    assert_eq!(module.check_sites().emitted, 0);
}

#[test]
fn the_cache_keeps_code_that_counts_apart() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config::new().cache_dir(Some(folder.path().to_owned()));
    let wat = program("i32");
    for count in [true, false, true, false] {
        let engine = Engine::new(&config.clone().count(count)).unwrap();
        let (counts, module) = counted(&engine, &wat);
        let loads = if count { 2 * TIMES } else { 0 };
        assert_eq!(
            counts.loads,
            loads,
            "from the cache: {}",
            module.from_cache()
        );
    }
    let engine = Engine::new(&config.count(true)).unwrap();
    assert!(counted(&engine, &wat).1.from_cache());
}
