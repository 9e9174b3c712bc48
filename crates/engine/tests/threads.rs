//! Shared memories and threads as a host uses them, under every strategy.

mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fathom_engine::*;

fn engine(bounds: Bounds) -> Engine {
    let config = Config::new()
        .bounds(BoundsChoice::Named(bounds))
        .allow_unchecked(true);
    Engine::new(&config).unwrap()
}

/// Every strategy for 32-bit memories.
fn each(test: impl Fn(&Engine)) {
    for bounds in Bounds::forms_for(false) {
        if let Some(engine) = common::engine(bounds) {
            eprintln!("under {bounds}");
            test(&engine);
        }
    }
}

fn module(engine: &Engine, wat: &str) -> Module {
    Module::new(engine, wat::parse_str(wat).unwrap()).unwrap()
}

fn shared(min: u64, max: u64) -> MemoryType {
    MemoryType {
        min,
        max: Some(max),
        shared: true,
        ..MemoryType::default()
    }
}

/// A store of its own with an instance that imports the memory.
fn instance(engine: &Engine, module: &Module, memory: &SharedMemory) -> (Store<()>, Instance) {
    let mut store = Store::new(engine, ());
    let mut linker = Linker::new(engine);
    linker.define_shared("env", "memory", memory).unwrap();
    let instance = linker.instantiate(&mut store, module).unwrap();
    (store, instance)
}

fn func<P: WasmParams, R: WasmResults>(
    store: &Store<()>,
    instance: Instance,
    name: &str,
) -> TypedFunc<P, R> {
    let func = instance.get_func(store, name).expect("exported");
    func.typed(store).unwrap()
}

const THREADS: u64 = 4;
const MAX_PAGES: u64 = 200;

/// Each thread grows the memory by pages and writes to the ends of what it got;
/// it also counts, and reads wherever the memory's size says that it may.
const GROWING: &str = r#"(module
    (import "env" "memory" (memory 1 200 shared))
    ;; Grows by a page until that fails; returns how many pages it got.
    (func (export "grow") (param $mark i32) (result i32)
      (local $old i32) (local $got i32)
      (loop $more
        (local.set $old (memory.grow (i32.const 1)))
        (if (i32.eq (local.get $old) (i32.const -1)) (then (return (local.get $got))))
        (local.set $got (i32.add (local.get $got) (i32.const 1)))
        ;; The new page is ours alone, and zero.
        (local.set $old (i32.mul (local.get $old) (i32.const 65536)))
        (if (i32.load (local.get $old)) (then unreachable))
        (if (i64.ne (i64.load offset=65528 (local.get $old)) (i64.const 0)) (then unreachable))
        (i32.store (local.get $old) (local.get $mark))
        (i64.store offset=65528 (local.get $old) (i64.const -1))
        (drop (i32.atomic.rmw.add (i32.const 0) (i32.const 1)))
        ;; Every page below the size is there, whoever made it.
        (drop (i32.load8_u (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 1))))
        (drop (i32.atomic.load offset=65532
          (i32.mul (i32.sub (memory.size) (i32.const 1)) (i32.const 65536))))
        (br $more))
      unreachable)
    (func (export "fill") (memory.fill (i32.const 4096) (i32.const 7) (i32.const 50000)))
    (func (export "copy") (memory.copy (i32.const 4097) (i32.const 4096) (i32.const 50000)))
    (func (export "load") (param i32) (result i32) (i32.load (local.get 0)))
    (func (export "add") (param i32) (result i32)
      (i32.atomic.rmw.add (local.get 0) (i32.const 1)))
    (func (export "store") (param i32) (i64.store (local.get 0) (i64.const -1))))"#;

#[test]
fn threads_grow_and_access_one_memory() {
    each(|engine| {
        let module = module(engine, GROWING);
        let memory = SharedMemory::new(engine, shared(1, MAX_PAGES)).unwrap();
        let total = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for mark in 1..=THREADS {
                let (total, module, memory) = (&total, &module, &memory);
                scope.spawn(move || {
                    let (mut store, i) = instance(engine, module, memory);
                    let grow = func::<i32, i32>(&store, i, "grow");
                    let got = grow.call(&mut store, mark as i32).unwrap();
                    func::<(), ()>(&store, i, "fill")
                        .call(&mut store, ())
                        .unwrap();
                    func::<(), ()>(&store, i, "copy")
                        .call(&mut store, ())
                        .unwrap();
                    total.fetch_add(got as usize, Ordering::Relaxed);
                });
            }
        });
        // Every page was given out once and counted once.
        assert_eq!(total.into_inner() as u64, MAX_PAGES - 1);
        assert_eq!(memory.size(), MAX_PAGES);
        let count = memory.atomic_u32(0).unwrap().load(Ordering::SeqCst);
        assert_eq!(u64::from(count), MAX_PAGES - 1);
        for page in 1..MAX_PAGES {
            let mark = memory.atomic_u32(page * 65536).unwrap();
            assert!((1..=THREADS as u32).contains(&mark.load(Ordering::Relaxed)));
            let last = memory.atomic_u64(page * 65536 + 65528).unwrap();
            assert_eq!(last.load(Ordering::Relaxed), u64::MAX);
        }
        assert!(memory.grow(1).is_err());
        the_end_is_exact(engine, &module, &memory);
    });
}

/// Accesses at and beyond the end of a memory that threads have grown.
fn the_end_is_exact(engine: &Engine, module: &Module, memory: &SharedMemory) {
    let (mut store, i) = instance(engine, module, memory);
    let end = memory.data_size() as i32;
    let load = func::<i32, i32>(&store, i, "load");
    let add = func::<i32, i32>(&store, i, "add");
    let put = func::<i32, ()>(&store, i, "store");
    assert_eq!(load.call(&mut store, end - 4).unwrap(), -1);
    assert_eq!(add.call(&mut store, end - 4).unwrap(), -1);
    assert_eq!(load.call(&mut store, end - 4).unwrap(), 0);
    put.call(&mut store, end - 8).unwrap();
    if engine.bounds(false).guarantee() != Guarantee::Exact {
        return;
    }
    let code = |error: Error| error.trap().expect("a trap").code;
    for at in [end - 3, end, end + 4, -4] {
        let error = load.call(&mut store, at).unwrap_err();
        assert_eq!(code(error), TrapCode::MemoryOutOfBounds, "load at {at}");
        let error = put.call(&mut store, at).unwrap_err();
        assert_eq!(code(error), TrapCode::MemoryOutOfBounds, "store at {at}");
    }
    let error = add.call(&mut store, end).unwrap_err();
    assert_eq!(code(error), TrapCode::MemoryOutOfBounds);
    let error = add.call(&mut store, end - 1).unwrap_err();
    assert_eq!(code(error), TrapCode::UnalignedAtomic);
}

/// Counts by compare-exchange in each width: those of one byte and of two bytes in
/// one word of memory, of which another byte is counted at the same time.
fn counting() -> String {
    let loops = [
        ("8", "load8_u", "rmw8.cmpxchg_u", 1),
        ("16", "load16_u", "rmw16.cmpxchg_u", 2),
        ("32", "load", "rmw.cmpxchg", 4),
    ]
    .map(|(bits, load, exchange, at)| {
        format!(
            r#"(func (export "exchange{bits}") (local $old i32) (local $i i32)
              (loop $more
                (local.set $old (i32.atomic.{load} (i32.const {at})))
                (br_if $more (i32.ne (local.get $old)
                  (i32.atomic.{exchange} (i32.const {at}) (local.get $old)
                    (i32.add (local.get $old) (i32.const 1)))))
                (br_if $more (i32.lt_u
                  (local.tee $i (i32.add (local.get $i) (i32.const 1)))
                  (i32.const {COUNT})))))"#
        )
    });
    format!(
        r#"(module (import "env" "memory" (memory 1 1 shared)) {}
          (func (export "add8") (local $i i32)
            (loop $more
              (drop (i32.atomic.rmw8.add_u (i32.const 0) (i32.const 1)))
              (br_if $more (i32.lt_u
                (local.tee $i (i32.add (local.get $i) (i32.const 1)))
                (i32.const {COUNT}))))))"#,
        loops.concat()
    )
}

const COUNT: u32 = 51_234;

#[test]
fn no_exchange_is_lost_in_any_width() {
    let engine = engine(Bounds::Guard);
    let module = module(&engine, &counting());
    let memory = SharedMemory::new(&engine, shared(1, 1)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            for name in ["exchange8", "exchange16", "exchange32", "add8"] {
                let (module, memory, engine) = (&module, &memory, &engine);
                scope.spawn(move || {
                    let (mut store, i) = instance(engine, module, memory);
                    let count = func::<(), ()>(&store, i, name);
                    count.call(&mut store, ()).unwrap();
                });
            }
        }
    });
    let all = THREADS as u32 * COUNT;
    let word = |at| memory.atomic_u32(at).unwrap().load(Ordering::SeqCst);
    let [added, exchanged, ..] = word(0).to_le_bytes();
    assert_eq!(word(4), all);
    assert_eq!(word(0) >> 16, all & 0xffff);
    assert_eq!(u32::from(exchanged), all & 0xff);
    assert_eq!(u32::from(added), all & 0xff);
}

/// One thread grows; another sees it by a flag, and by the size alone.
const SEES: &str = r#"(module
    (import "env" "memory" (memory 1 2 shared))
    (func (export "publish")
      (drop (memory.grow (i32.const 1)))
      (i32.atomic.store (i32.const 8) (i32.const 1)))
    ;; Has read the length before it waits: it must be read again.
    (func (export "by-flag") (result i32)
      (i32.store (i32.const 16) (i32.const 1))
      (loop $wait (br_if $wait (i32.eqz (i32.atomic.load (i32.const 8)))))
      (i32.load (i32.const 131068)))
    (func (export "by-size") (result i32)
      (i32.store (i32.const 16) (i32.const 1))
      (loop $wait (br_if $wait (i32.lt_u (memory.size) (i32.const 2))))
      (i32.load (i32.const 131068))))"#;

#[test]
fn a_growth_is_seen_by_who_synchronises_with_it() {
    each(|engine| {
        let module = module(engine, SEES);
        for how in ["by-flag", "by-size"] {
            let memory = SharedMemory::new(engine, shared(1, 2)).unwrap();
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| {
                    let (mut store, i) = instance(engine, &module, &memory);
                    func::<(), i32>(&store, i, how)
                        .call(&mut store, ())
                        .unwrap()
                });
                let (mut store, i) = instance(engine, &module, &memory);
                std::thread::sleep(Duration::from_millis(20));
                func::<(), ()>(&store, i, "publish")
                    .call(&mut store, ())
                    .unwrap();
                assert_eq!(waiting.join().unwrap(), 0, "{how}");
            });
        }
    });
}

const WAITING: &str = r#"(module
    (import "env" "memory" (memory 1 1 shared))
    (func (export "wait") (param i32 i64) (result i32)
      (memory.atomic.wait32 (i32.const 64) (local.get 0) (local.get 1)))
    (func (export "spin") (loop $again (br $again))))"#;

/// Wake waiters until `wanted` were woken.
fn wake(memory: &SharedMemory, mut wanted: u32) {
    while wanted > 0 {
        wanted -= memory.notify(64, wanted).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn waiters_are_woken_as_many_as_asked_for() {
    let engine = engine(Bounds::Guard);
    let module = module(&engine, WAITING);
    let memory = SharedMemory::new(&engine, shared(1, 1)).unwrap();
    let wait = |timeout_ns: i64| {
        let (mut store, i) = instance(&engine, &module, &memory);
        let wait = func::<(i32, i64), i32>(&store, i, "wait");
        wait.call(&mut store, (0, timeout_ns)).unwrap()
    };
    std::thread::scope(|scope| {
        let waiters: Vec<_> = (0..3).map(|_| scope.spawn(|| wait(-1))).collect();
        wake(&memory, 2);
        // Addresses and memories are told apart.
        assert_eq!(memory.notify(68, 9).unwrap(), 0);
        let other = SharedMemory::new(&engine, shared(1, 1)).unwrap();
        assert_eq!(other.notify(64, 9).unwrap(), 0);
        wake(&memory, 1);
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), 0);
        }
        // The host waits, too, and a value that changed is not waited for.
        let host = scope.spawn(|| memory.wait32(64, 0, None).unwrap());
        wake(&memory, 1);
        assert_eq!(host.join().unwrap(), Waited::Woken);
        let start = Instant::now();
        assert_eq!(wait(30_000_000), 2);
        assert!(start.elapsed() >= Duration::from_millis(30));
        memory.atomic_u32(64).unwrap().store(5, Ordering::SeqCst);
        assert_eq!(wait(-1), 1);
        assert_eq!(memory.notify(64, u32::MAX).unwrap(), 0);
        assert!(memory.notify(65, 1).is_err());
        assert!(memory.wait32(65536, 0, None).is_err());
    });
}

#[test]
fn an_interrupt_ends_waits_and_calls_to_come() {
    let engine = engine(Bounds::Guard);
    let module = module(&engine, WAITING);
    let memory = SharedMemory::new(&engine, shared(1, 1)).unwrap();
    let interrupt = Interrupt::new();
    let code = |error: Error| error.trap().expect("a trap").code;
    let wait = || {
        let (mut store, i) = instance(&engine, &module, &memory);
        store.set_interrupt(&interrupt);
        let wait = func::<(i32, i64), i32>(&store, i, "wait");
        wait.call(&mut store, (0, -1)).map_err(code)
    };
    std::thread::scope(|scope| {
        let waiter = scope.spawn(wait);
        // Another one, under no interrupt, goes on.
        let other = scope.spawn(|| {
            let (mut store, i) = instance(&engine, &module, &memory);
            func::<(i32, i64), i32>(&store, i, "wait")
                .call(&mut store, (0, -1))
                .map_err(code)
        });
        std::thread::sleep(Duration::from_millis(20));
        interrupt.raise();
        assert_eq!(waiter.join().unwrap(), Err(TrapCode::Interrupted));
        assert_eq!(wait(), Err(TrapCode::Interrupted));
        wake(&memory, 1);
        assert_eq!(other.join().unwrap(), Ok(0));
    });
}

#[test]
fn an_interrupt_ends_loops_and_what_host_functions_return_to() {
    let engine = engine(Bounds::Guard);
    let wat = r#"(module (import "host" "nap" (func $nap))
        (func $spin (export "spin") (loop $again (br $again)))
        (func (export "naps") (loop $again (call $nap) (br $again)))
        (func (export "nests") (call $nap) (call $spin)))"#;
    let module = module(&engine, wat);
    let mut linker = Linker::new(&engine);
    linker
        .func_wrap("host", "nap", |_: Caller<'_, ()>| {
            std::thread::sleep(Duration::from_millis(2));
        })
        .unwrap();
    for name in ["spin", "naps", "nests"] {
        let interrupt = Interrupt::new();
        let ready = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                let mut store = Store::new(&engine, ());
                store.set_interrupt(&interrupt);
                let i = linker.instantiate(&mut store, &module).unwrap();
                ready.store(true, Ordering::SeqCst);
                let error = func::<(), ()>(&store, i, name)
                    .call(&mut store, ())
                    .unwrap_err();
                assert_eq!(error.trap().unwrap().code, TrapCode::Interrupted, "{name}");
                // The thread itself is as good as before.
                let mut fresh = Store::new(&engine, ());
                let i = linker.instantiate(&mut fresh, &module).unwrap();
                assert!(i.get_func(&fresh, "spin").is_some());
            });
            while !ready.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_millis(20));
            assert!(!running.is_finished());
            assert!(interrupt.stop(Duration::from_secs(20)), "{name}");
            running.join().unwrap();
        });
    }
}

#[test]
fn the_hosts_copies_are_checked() {
    each(|engine| {
        let memory = SharedMemory::new(engine, shared(1, 2)).unwrap();
        memory.write(65530, b"abcdef").unwrap();
        assert_eq!(memory.write(65531, b"abcdef"), Err(OutOfBounds));
        let mut bytes = [0; 7];
        memory.read(65529, &mut bytes).unwrap();
        assert_eq!(&bytes, b"\0abcdef");
        assert_eq!(memory.read(65530, &mut bytes), Err(OutOfBounds));
        assert_eq!(memory.read(u64::MAX, &mut bytes), Err(OutOfBounds));
        assert_eq!(memory.grow(1).unwrap(), 1);
        memory.read(65530, &mut bytes).unwrap();
        assert!(memory.atomic_u32(65530).is_err());
        assert!(memory.atomic_u64(u64::MAX - 7).is_err());
        assert_eq!(
            memory.atomic_u8(65535).unwrap().load(Ordering::SeqCst),
            b'f'
        );
    });
}

#[test]
fn imports_are_shared_or_not_as_declared() {
    let engine = engine(Bounds::Guard);
    let memory = SharedMemory::new(&engine, shared(1, 2)).unwrap();
    let mut linker = Linker::new(&engine);
    linker.define_shared("env", "memory", &memory).unwrap();
    let refused = |wat: &str| {
        let module = module(&engine, wat);
        let error = linker
            .instantiate(Store::new(&engine, ()), &module)
            .unwrap_err();
        assert!(
            error.to_string().contains("incompatible import type"),
            "{error}"
        );
    };
    refused(r#"(module (import "env" "memory" (memory 1 2)))"#);
    refused(r#"(module (import "env" "memory" (memory 1 1 shared)))"#);
    refused(r#"(module (import "env" "memory" (memory 2 2 shared)))"#);

    // What one instance exports, another store can import.
    let exporting = r#"(module (memory (export "memory") 1 3 shared)
        (func (export "get") (result i32) (i32.atomic.load (i32.const 0))))"#;
    let exporting = module(&engine, exporting);
    let mut store = Store::new(&engine, ());
    let first = Instance::new(&mut store, &exporting, &[]).unwrap();
    let theirs = first.get_memory(&store, "memory").unwrap();
    assert_eq!(theirs.ty(&store), shared(1, 3));
    let memory = theirs.as_shared(&store).expect("it is shared");
    drop(store);
    memory.atomic_u32(0).unwrap().store(9, Ordering::SeqCst);
    let importing = r#"(module (import "env" "memory" (memory 0 4 shared))
        (func (export "get") (result i32) (i32.atomic.load (i32.const 0))))"#;
    let (mut store, i) = instance(&engine, &module(&engine, importing), &memory);
    assert_eq!(
        func::<(), i32>(&store, i, "get")
            .call(&mut store, ())
            .unwrap(),
        9
    );

    let unshared = Memory::new(
        &mut store,
        MemoryType {
            shared: false,
            ..shared(1, 1)
        },
    )
    .unwrap();
    assert!(unshared.as_shared(&store).is_none());
    assert!(
        SharedMemory::new(
            &engine,
            MemoryType {
                shared: false,
                ..shared(1, 1)
            }
        )
        .is_err()
    );
    assert!(
        SharedMemory::new(
            &engine,
            MemoryType {
                max: None,
                ..shared(1, 1)
            }
        )
        .is_err()
    );
}
