//! Pools: what they keep, what they refuse, whose handles are whose.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fathom_engine::TrapCode;
use fathom_engine::*;

fn tiny(wat: &str) -> (Engine, Module) {
    let engine = Engine::new(&Config::new()).unwrap();
    let module = Module::new(&engine, wat::parse_str(wat).unwrap()).unwrap();
    (engine, module)
}

const COUNTER: &str = r#"(module
  (global $n (mut i32) (i32.const 0))
  (memory 1)
  (func (export "next") (result i32)
    (global.set $n (i32.add (global.get $n) (i32.const 1)))
    (global.get $n)))"#;

#[test]
fn handles_of_the_lease_before_are_another_stores() {
    let (engine, module) = tiny(COUNTER);
    let pool = Pool::new(&Linker::<()>::new(&engine), &module, PoolLimits::default()).unwrap();
    let next = pool.func::<(), i32>("next").unwrap();
    let mut first = pool.instantiate(()).unwrap();
    let stale = first.func(&next).unwrap();
    assert_eq!(stale.call(&mut first, ()).unwrap(), 1);
    drop(first);
    let mut second = pool.instantiate(()).unwrap();
    let error = stale.call(&mut second, ()).unwrap_err();
    assert_eq!(error.to_string(), "function of another store");
    assert_eq!(
        second.func(&next).unwrap().call(&mut second, ()).unwrap(),
        1
    );
}

#[test]
fn a_pool_keeps_no_more_than_it_may_and_gives_back_where_it_took() {
    let (engine, module) = tiny(COUNTER);
    let limits = PoolLimits {
        lanes: 1,
        idle: 3,
        ..PoolLimits::default()
    };
    let pool = Pool::new(&Linker::<()>::new(&engine), &module, limits).unwrap();
    let all: Vec<_> = (0..5).map(|_| pool.instantiate(()).unwrap()).collect();
    assert_eq!(pool.idle(), 0);
    // On another thread.
    std::thread::spawn(move || drop(all)).join().unwrap();
    assert_eq!(pool.idle(), 3);
    let one = pool.instantiate(()).unwrap();
    assert_eq!(pool.idle(), 2);
    // The pool may go first.
    drop(pool);
    drop(one);
}

#[test]
fn threads_share_a_pool() {
    let (engine, module) = tiny(COUNTER);
    let pool = Pool::new(
        &Linker::<usize>::new(&engine),
        &module,
        PoolLimits::default(),
    )
    .unwrap();
    let next = pool.func::<(), i32>("next").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (pool, next) = (&pool, &next);
            scope.spawn(move || {
                for _ in 0..500 {
                    let mut instance = pool.instantiate(thread).unwrap();
                    let next = instance.func(next).unwrap();
                    assert_eq!(next.call(&mut instance, ()).unwrap(), 1);
                    assert_eq!(next.call(&mut instance, ()).unwrap(), 2);
                    assert_eq!(*instance.data(), thread);
                }
            });
        }
    });
}

/// Counts how often it was dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn the_hosts_data_is_dropped_with_each_life() {
    let (engine, module) = tiny(COUNTER);
    let pool = Pool::new(&Linker::new(&engine), &module, PoolLimits::default()).unwrap();
    let drops = Arc::new(AtomicUsize::new(0));
    for lease in 1..4 {
        let mut instance = pool.instantiate(Counted(drops.clone())).unwrap();
        *instance.data_mut() = Counted(drops.clone());
        drop(instance);
        assert_eq!(drops.load(Ordering::SeqCst), 2 * lease);
    }
    drop(pool);
    assert_eq!(drops.load(Ordering::SeqCst), 6);
}

#[test]
fn a_lease_that_fails_to_begin_is_an_error_and_costs_nothing() {
    let (engine, module) = tiny(
        r#"(module (import "" "fails" (func $fails)) (memory 1) (start $fails)
             (func (export "f")))"#,
    );
    let mut linker = Linker::new(&engine);
    linker
        .func_wrap("", "fails", |caller: Caller<'_, Counted>| -> Result<()> {
            match caller.data().0.load(Ordering::SeqCst) {
                odd if odd % 2 == 1 => Ok(()),
                _ => Err(Error::host("not now")),
            }
        })
        .unwrap();
    let pool = Pool::new(&linker, &module, PoolLimits::default()).unwrap();
    let drops = Arc::new(AtomicUsize::new(0));
    for lease in 0..6 {
        let made = pool.instantiate(Counted(drops.clone()));
        assert_eq!(made.is_ok(), lease % 2 == 1);
        drop(made);
        assert_eq!(drops.load(Ordering::SeqCst), lease + 1);
        assert_eq!(pool.idle(), 1);
    }
}

#[test]
fn what_cannot_be_in_a_pool_is_refused() {
    let (engine, module) = tiny(r#"(module (import "a" "b" (global i32)))"#);
    let mut linker = Linker::new(&engine);
    let limits = PoolLimits::default();
    let refusal = |linker: &Linker<()>| Pool::new(linker, &module, limits).unwrap_err().to_string();
    assert!(refusal(&linker).contains("unknown import"));
    let mut store = Store::new(&engine, ());
    let ty = GlobalType {
        content: ValType::I32,
        mutable: false,
    };
    let global = Global::new(&mut store, ty, Val::I32(1)).unwrap();
    linker.define(&store, "a", "b", global).unwrap();
    assert!(
        refusal(&linker).contains("what a store owns"),
        "{}",
        refusal(&linker)
    );
    let (other, _) = tiny(COUNTER);
    let error = Pool::new(&Linker::<()>::new(&other), &module, limits).unwrap_err();
    assert!(error.to_string().contains("different engines"));
}

#[test]
fn functions_are_found_by_name_and_type() {
    let (engine, module) = tiny(COUNTER);
    let linker = Linker::<()>::new(&engine);
    let pool = Pool::new(&linker, &module, PoolLimits::default()).unwrap();
    let error = pool.func::<(), ()>("next").unwrap_err();
    assert!(error.to_string().contains("not"), "{error}");
    let error = pool.func::<(), ()>("absent").unwrap_err();
    assert_eq!(error.to_string(), "no exported function 'absent'");
    let again = Module::new(&engine, wat::parse_str(COUNTER).unwrap()).unwrap();
    let other = Pool::new(&linker, &again, PoolLimits::default()).unwrap();
    let next = other.func::<(), i32>("next").unwrap();
    let instance = pool.instantiate(()).unwrap();
    let error = instance.func(&next).unwrap_err();
    assert_eq!(error.to_string(), "function of another module");
}

#[test]
fn shared_memories_are_never_used_again_and_never_cleared() {
    let (engine, module) = tiny(
        r#"(module (memory (export "memory") 1 2 shared) (data (i32.const 0) "x")
             (func (export "store") (i32.store8 (i32.const 9) (i32.const 5))))"#,
    );
    let pool = Pool::new(&Linker::<()>::new(&engine), &module, PoolLimits::default()).unwrap();
    let instance = pool.instantiate(()).unwrap();
    let memory = instance.instance().get_memory(&instance, "memory").unwrap();
    let shared = memory.as_shared(&instance).unwrap();
    shared.write(0, b"kept").unwrap();
    drop(instance);
    assert_eq!(pool.idle(), 0);
    let mut bytes = [0; 4];
    shared.read(0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"kept");

    // One that is imported is the host's; its segments are applied each time.
    let (engine, module) =
        tiny(r#"(module (import "" "memory" (memory 1 2 shared)) (data (i32.const 0) "x"))"#);
    let ty = MemoryType {
        min: 1,
        max: Some(2),
        shared: true,
        ..MemoryType::default()
    };
    let shared = SharedMemory::new(&engine, ty).unwrap();
    let mut linker = Linker::<()>::new(&engine);
    linker.define_shared("", "memory", &shared).unwrap();
    let pool = Pool::new(&linker, &module, PoolLimits::default()).unwrap();
    for _ in 0..3 {
        shared.write(0, b"ab").unwrap();
        drop(pool.instantiate(()).unwrap());
        let mut bytes = [0; 2];
        shared.read(0, &mut bytes).unwrap();
        assert_eq!(&bytes, b"xb");
        assert_eq!(pool.idle(), 1);
    }
}

#[test]
fn an_interrupt_is_for_one_life() {
    let (engine, module) = tiny(COUNTER);
    let pool = Pool::new(&Linker::<()>::new(&engine), &module, PoolLimits::default()).unwrap();
    let next = pool.func::<(), i32>("next").unwrap();
    let interrupt = Interrupt::new();
    let mut instance = pool.instantiate(()).unwrap();
    instance.set_interrupt(&interrupt);
    interrupt.raise();
    let called = instance.func(&next).unwrap().call(&mut instance, ());
    assert_eq!(
        called.unwrap_err().trap().unwrap().code,
        TrapCode::Interrupted
    );
    drop(instance);
    let mut instance = pool.instantiate(()).unwrap();
    assert_eq!(
        instance
            .func(&next)
            .unwrap()
            .call(&mut instance, ())
            .unwrap(),
        1
    );
}

#[test]
fn a_panic_of_the_host_leaves_a_pool_as_it_was() {
    let (engine, module) = tiny(
        r#"(module (import "" "panics" (func $panics)) (memory (export "memory") 1)
             (func (export "f") (i32.store (i32.const 0) (i32.const 9)) (call $panics)))"#,
    );
    let mut linker = Linker::<()>::new(&engine);
    linker
        .func_wrap("", "panics", |_: Caller<'_, ()>| -> () {
            panic!("on purpose")
        })
        .unwrap();
    let pool = Pool::new(&linker, &module, PoolLimits::default()).unwrap();
    let f = pool.func::<(), ()>("f").unwrap();
    for _ in 0..2 {
        let lease = std::panic::AssertUnwindSafe(|| {
            let mut instance = pool.instantiate(()).unwrap();
            let memory = instance.instance().get_memory(&instance, "memory").unwrap();
            assert_eq!(memory.data(&instance)[0], 0);
            let _ = instance.func(&f).unwrap().call(&mut instance, ());
        });
        assert!(std::panic::catch_unwind(lease).is_err());
        assert_eq!(pool.idle(), 1);
    }
}

/// Before its start function has run, for that may be what never ends.
#[test]
fn an_instance_is_made_ready_before_it_begins() {
    let (engine, module) = tiny("(module (func $go (loop (br 0))) (start $go))");
    let pool = Pool::new(&Linker::<()>::new(&engine), &module, PoolLimits::default()).unwrap();
    let interrupt = Interrupt::new();
    interrupt.raise();
    let ended = pool.instantiate_with((), |ready| ready.set_interrupt(&interrupt));
    let code = ended.unwrap_err().trap().expect("a trap").code;
    assert_eq!(code, TrapCode::Interrupted);
}

/// And what the slot has had all along, as a new instance is asked about.
#[test]
fn a_limiter_that_is_there_before_it_begins_is_asked_about_what_there_is() {
    let defines = [
        "(memory 3)",
        "(memory 1) (memory 3)",
        "(table 2000 funcref)",
    ];
    for (number, defines) in defines.into_iter().enumerate() {
        let (engine, module) = tiny(&format!("(module {defines})"));
        let linker = Linker::<StoreLimits>::new(&engine);
        let pool = Pool::new(&linker, &module, PoolLimits::default()).unwrap();
        for _ in 0..2 {
            let limits = |memory, table| {
                let limits = StoreLimitsBuilder::new().memory_size(memory);
                limits.table_elements(table).build()
            };
            let ready = |one: &mut Pooled<StoreLimits>| one.limiter(|limits| limits);
            let refused = pool.instantiate_with(limits(2 << 16, 1000), ready);
            let said = refused.unwrap_err().to_string();
            let mut store = Store::new(&engine, limits(2 << 16, 1000));
            store.limiter(|limits| limits);
            let expected = linker.instantiate(&mut store, &module).unwrap_err();
            assert_eq!(said, expected.to_string(), "{number}");
            drop(pool.instantiate_with(limits(3 << 16, 2000), ready).unwrap());
        }
    }
}

#[cfg(target_os = "linux")]
fn resident_mib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    (pages * fathom_sys::map::page_bytes() as u64) >> 20
}

/// What one lease has grown by stays while a later one writes elsewhere: together they are
/// no more than the bound, under every strategy.
#[cfg(target_os = "linux")]
#[test]
fn what_leases_leave_behind_is_within_the_bound_together() {
    if !common::is_alone("what_leases_leave_behind_is_within_the_bound_together")
        || common::is_emulated()
    {
        return;
    }
    const WAT: &str = r#"(module (memory 240 1000)
      (func (export "grown") (param i32)
        (drop (memory.grow (local.get 0)))
        (memory.fill (i32.const 15728640) (i32.const 1) (i32.mul (local.get 0) (i32.const 65536))))
      (func $first (export "first") (param i32)
        (memory.fill (i32.const 0) (i32.const 1) (i32.mul (local.get 0) (i32.const 65536))))
      (func (export "both") (param i32)
        (drop (memory.grow (i32.const 1)))
        (call $first (local.get 0))))"#;
    let wasm = wat::parse_str(WAT).unwrap();
    for bounds in Bounds::forms_for(false) {
        let config = Config::new().bounds(BoundsChoice::Named(bounds));
        let Some(engine) = common::engine_with(config, bounds, WAT) else {
            continue;
        };
        let module = Module::new(&engine, &wasm).unwrap();
        let limits = PoolLimits {
            lanes: 1,
            idle: 1,
            resident_bytes: 32 << 20,
        };
        let pool = Pool::new(&Linker::new(&engine), &module, limits).unwrap();
        let [grown, first, both] =
            ["grown", "first", "both"].map(|name| pool.func::<i32, ()>(name).unwrap());
        drop(pool.instantiate(()).unwrap());
        let before = resident_mib();
        let live = |func, pages| {
            let mut one = pool.instantiate(()).unwrap();
            one.func(func).unwrap().call(&mut one, pages).unwrap();
            drop(one);
            resident_mib().saturating_sub(before)
        };
        // 30 MiB by growth, then 14 MiB of what it is at first, alone and with a page of growth.
        let leases = [(&grown, 480), (&first, 224), (&grown, 480), (&both, 224)];
        for (func, pages) in leases.into_iter().chain([(&grown, 480), (&grown, 700)]) {
            let kept = live(func, pages);
            assert!(kept <= 34, "{bounds}: {kept} MiB after {pages} pages");
        }
    }
}
