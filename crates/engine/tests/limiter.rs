//! What a store may have: the quota that is always there, the limiter of an embedder,
//! and that all of it is given back; under every strategy.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use fathom_engine::*;

/// A memory and a table that grow, and what they answer.
const GROWS: &str = r#"(module
  (memory (export "memory") 1 100)
  (table (export "table") 1 100 funcref)
  (func (export "memory.grow") (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "memory.size") (result i32) (memory.size))
  (func (export "table.grow") (param i32) (result i32)
    (table.grow (ref.null func) (local.get 0)))
  (func (export "table.size") (result i32) (table.size)))"#;

const PAGE: usize = 65_536;

/// The strategies that there are here, each with an engine.
fn engines(quota: Quota) -> Vec<(Bounds, Engine)> {
    let config = |bounds| {
        let named = BoundsChoice::Named(bounds);
        Config::new().opt(Opt::None).bounds(named).quota(quota)
    };
    let engine = |bounds| common::engine_with(config(bounds), bounds, "(module (memory 1))");
    let named = |bounds| engine(bounds).map(|engine| (bounds, engine));
    Bounds::forms_for(false).filter_map(named).collect()
}

fn module(engine: &Engine, wat: &str) -> Module {
    Module::new(engine, wat::parse_str(wat).unwrap()).unwrap()
}

fn call<C: AsContextMut>(store: &mut C, i: Instance, name: &str, arg: i32) -> Result<i32> {
    let func = i.get_func(&*store, name).unwrap();
    match func.ty(&*store).params().is_empty() {
        true => func.typed::<(), i32>(&*store)?.call(store, ()),
        false => func.typed::<i32, i32>(&*store)?.call(store, arg),
    }
}

/// Writes down what it is asked, and refuses what is beyond its numbers.
#[derive(Default)]
struct Asked {
    memory_bytes: usize,
    elements: usize,
    heard: Vec<String>,
    fails: bool,
}

impl ResourceLimiter for Asked {
    fn memory_growing(&mut self, from: usize, to: usize, max: Option<usize>) -> Result<bool> {
        self.heard.push(format!("memory {from} {to} {max:?}"));
        if self.fails {
            return Err(Error::host("no more"));
        }
        Ok(to <= self.memory_bytes)
    }
    fn memory_grow_failed(&mut self, error: Error) -> Result<()> {
        self.heard.push(format!("failed: {error}"));
        Ok(())
    }
    fn table_growing(&mut self, from: usize, to: usize, max: Option<usize>) -> Result<bool> {
        self.heard.push(format!("table {from} {to} {max:?}"));
        if self.fails {
            return Err(Error::host("no more"));
        }
        Ok(to <= self.elements)
    }
    fn table_grow_failed(&mut self, error: Error) -> Result<()> {
        self.heard.push(format!("failed: {error}"));
        Ok(())
    }
}

#[test]
fn a_limiter_is_asked_first_and_hears_what_fails() {
    for (bounds, engine) in engines(Quota::default()) {
        let module = module(&engine, GROWS);
        let data = Asked {
            memory_bytes: 200 * PAGE,
            elements: 200,
            ..Asked::default()
        };
        let mut store = Store::new(&engine, data);
        store.limiter(|asked| asked);
        let i = Instance::new(&mut store, &module, &[]).unwrap();
        assert_eq!(
            call(&mut store, i, "memory.grow", 0).unwrap(),
            1,
            "{bounds}"
        );
        assert_eq!(
            call(&mut store, i, "memory.grow", 2).unwrap(),
            1,
            "{bounds}"
        );
        // Beyond its maximum; beyond what the limiter allows; beyond all numbers.
        for pages in [98, 300, -1] {
            assert_eq!(
                call(&mut store, i, "memory.grow", pages).unwrap(),
                -1,
                "{bounds}"
            );
        }
        assert_eq!(
            call(&mut store, i, "memory.size", 0).unwrap(),
            3,
            "{bounds}"
        );
        for (elements, answer) in [(0, 1), (2, 1), (98, -1), (300, -1)] {
            let grown = call(&mut store, i, "table.grow", elements).unwrap();
            assert_eq!(grown, answer, "{bounds}");
        }
        assert_eq!(call(&mut store, i, "table.size", 0).unwrap(), 3, "{bounds}");
        let max = Some(100 * PAGE);
        let memory =
            |from: usize, to: usize| format!("memory {} {} {max:?}", from * PAGE, to * PAGE);
        let mut expected = vec![
            memory(0, 1),
            "table 0 1 Some(100)".to_owned(),
            memory(1, 3),
            memory(3, 101),
            "failed: cannot grow a memory of 3 pages by 98: it is at its maximum".to_owned(),
            memory(3, 303),
            memory(3, (1 << 32) + 2),
        ];
        expected.extend(
            [
                "table 1 3 Some(100)",
                "table 3 101 Some(100)",
                "failed: table cannot grow that far",
                "table 3 303 Some(100)",
            ]
            .map(str::to_owned),
        );
        assert_eq!(store.data().heard, expected, "{bounds}");
    }
}

#[test]
fn an_error_of_the_limiter_ends_the_program_where_it_is() {
    for (bounds, engine) in engines(Quota::default()) {
        let module = module(&engine, GROWS);
        let limits = Asked {
            memory_bytes: PAGE,
            elements: 1,
            ..Asked::default()
        };
        let mut store = Store::new(&engine, limits);
        store.limiter(|asked| asked);
        let i = Instance::new(&mut store, &module, &[]).unwrap();
        store.data_mut().fails = true;
        for (name, index) in [("memory.grow", 0), ("table.grow", 2)] {
            let error = call(&mut store, i, name, 1).unwrap_err();
            let text = format!("{error:#}");
            assert!(text.ends_with(": no more"), "{bounds}: {text}");
            assert_eq!(error.frames()[0].func_index, index, "{bounds}");
        }
        assert_eq!(
            call(&mut store, i, "memory.size", 0).unwrap(),
            1,
            "{bounds}"
        );
        // What may not be is not made, and leaves nothing behind.
        let refused = Instance::new(&mut store, &module, &[]).unwrap_err();
        assert!(
            format!("{refused:#}").ends_with(": no more"),
            "{bounds}: {refused:#}"
        );
        let used = store.allowance().used(Resource::Memories);
        assert_eq!(used, 1, "{bounds}");
    }
}

#[test]
fn store_limits_are_those_that_others_have() {
    struct Data(StoreLimits);
    for (bounds, engine) in engines(Quota::default()) {
        let module = module(&engine, GROWS);
        let store = |limits: StoreLimitsBuilder| {
            let mut store = Store::new(&engine, Data(limits.build()));
            store.limiter(|data| &mut data.0);
            store
        };
        let builder = StoreLimitsBuilder::new;
        for (limits, what) in [
            (builder().instances(0), "1 instances"),
            (builder().memories(0), "1 memories"),
            (builder().tables(0), "1 tables"),
            (builder().memory_size(PAGE - 1), "a memory of 1 pages"),
            (builder().table_elements(0), "a table of 1 elements"),
        ] {
            let error = Instance::new(store(limits), &module, &[]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Limit(_)), "{bounds}");
            let text = format!("the store's limiter refuses {what}");
            assert_eq!(error.to_string(), text, "{bounds}");
        }
        let limits = builder()
            .memory_size(2 * PAGE)
            .table_elements(2)
            .instances(1);
        let mut polite = store(limits.clone());
        let i = Instance::new(&mut polite, &module, &[]).unwrap();
        for name in ["memory.grow", "table.grow"] {
            assert_eq!(call(&mut polite, i, name, 1).unwrap(), 1, "{bounds}");
            assert_eq!(call(&mut polite, i, name, 1).unwrap(), -1, "{bounds}");
        }
        assert!(Instance::new(&mut polite, &module, &[]).is_err());
        let mut strict = store(limits.trap_on_grow_failure(true));
        let i = Instance::new(&mut strict, &module, &[]).unwrap();
        for (name, text) in [
            (
                "memory.grow",
                "growing a memory to 196608 is beyond the limit of 131072",
            ),
            (
                "table.grow",
                "growing a table to 3 is beyond the limit of 2",
            ),
        ] {
            let error = call(&mut strict, i, name, 2).unwrap_err();
            let whole = format!("{error:#}");
            assert!(whole.ends_with(&format!(": {text}")), "{bounds}: {whole}");
        }
    }
}

/// What a quota of the first number allows, and of what it is.
fn quota_of(most: u64) -> Quota {
    Quota {
        memory_bytes: most * PAGE as u64,
        table_elements: most,
        ..Quota::default()
    }
}

#[test]
fn the_quota_is_for_all_of_a_store_together() {
    for (bounds, engine) in engines(quota_of(5)) {
        let module = module(&engine, GROWS);
        let mut store = Store::new(&engine, ());
        let one = Instance::new(&mut store, &module, &[]).unwrap();
        let two = Instance::new(&mut store, &module, &[]).unwrap();
        for (grow, resource, unit) in [
            ("memory.grow", Resource::MemoryBytes, PAGE as u64),
            ("table.grow", Resource::TableElements, 1),
        ] {
            assert_eq!(call(&mut store, one, grow, 3).unwrap(), 1, "{bounds}");
            assert_eq!(call(&mut store, two, grow, 1).unwrap(), -1, "{bounds}");
            let used = store.allowance().used(resource);
            assert_eq!(used, 5 * unit, "{bounds}");
        }
        let memory = one.get_memory(&store, "memory").unwrap();
        let error = memory.grow(&mut store, 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "384 KiB of memories are beyond the limit of 320 KiB",
            "{bounds}"
        );
        let error = Instance::new(&mut store, &module, &[]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Limit(_)), "{bounds}");
        assert!(error.limit().is_some());
        // Refused before anything was made or counted.
        let used = |resource| store.allowance().used(resource);
        assert_eq!(
            (used(Resource::Instances), used(Resource::Memories)),
            (2, 2),
            "{bounds}"
        );
    }
}

#[test]
fn stores_that_share_an_allowance_give_back_what_they_had() {
    for (bounds, engine) in engines(Quota::default()) {
        let module = module(&engine, GROWS);
        let allowance = Allowance::new(quota_of(4));
        let mut one = Store::within(&engine, (), &allowance);
        let mut other = Store::within(&engine, (), &allowance);
        let i = Instance::new(&mut one, &module, &[]).unwrap();
        let j = Instance::new(&mut other, &module, &[]).unwrap();
        assert_eq!(call(&mut one, i, "memory.grow", 2).unwrap(), 1, "{bounds}");
        assert_eq!(
            call(&mut other, j, "memory.grow", 1).unwrap(),
            -1,
            "{bounds}"
        );
        drop(one);
        assert_eq!(
            call(&mut other, j, "memory.grow", 3).unwrap(),
            1,
            "{bounds}"
        );
        drop(other);
        for resource in Resource::ALL {
            assert_eq!(allowance.used(resource), 0, "{bounds}: {resource:?}");
        }
    }
}

#[test]
fn a_lease_in_a_pool_gives_back_what_it_took() {
    for (bounds, engine) in engines(quota_of(3)) {
        let module = module(&engine, GROWS);
        let pool = Pool::new(&Linker::new(&engine), &module, PoolLimits::default()).unwrap();
        for _ in 0..3 {
            let mut lease = pool.instantiate(StoreLimits::default()).unwrap();
            let i = lease.instance();
            for name in ["memory.grow", "table.grow"] {
                assert_eq!(call(&mut lease, i, name, 2).unwrap(), 1, "{bounds}");
                assert_eq!(call(&mut lease, i, name, 1).unwrap(), -1, "{bounds}");
            }
        }
        // A limiter is one lease's.
        let mut lease = pool
            .instantiate(StoreLimitsBuilder::new().memory_size(PAGE).build())
            .unwrap();
        lease.limiter(|limits| limits);
        let i = lease.instance();
        assert_eq!(
            call(&mut lease, i, "memory.grow", 1).unwrap(),
            -1,
            "{bounds}"
        );
        drop(lease);
        let mut lease = pool.instantiate(StoreLimits::default()).unwrap();
        let i = lease.instance();
        assert_eq!(
            call(&mut lease, i, "memory.grow", 2).unwrap(),
            1,
            "{bounds}"
        );
    }
}

#[test]
fn a_shared_memory_is_charged_once_whoever_grows_it() {
    for (bounds, engine) in engines(Quota::default()) {
        let importing = GROWS.replace(
            r#"(memory (export "memory") 1 100)"#,
            r#"(import "m" "m" (memory 1 100 shared))"#,
        );
        let module = module(&engine, &importing);
        let allowance = Allowance::new(quota_of(5));
        let ty = MemoryType {
            min: 1,
            max: Some(100),
            shared: true,
            ..MemoryType::default()
        };
        let memory = SharedMemory::within(&engine, ty, &allowance).unwrap();
        let mut linker = Linker::new(&engine);
        linker.define_shared("m", "m", &memory).unwrap();
        let mut stores: Vec<_> = (0..3)
            .map(|_| Store::within(&engine, (), &allowance))
            .collect();
        let instances: Vec<_> = stores
            .iter_mut()
            .map(|store| linker.instantiate(store, &module).unwrap())
            .collect();
        for (store, i) in stores.iter_mut().zip(&instances) {
            call(store, *i, "memory.grow", 1).unwrap();
        }
        assert_eq!(memory.size(), 4, "{bounds}");
        memory.grow(1).unwrap();
        assert!(memory.grow(1).unwrap_err().limit().is_some(), "{bounds}");
        assert_eq!(
            call(&mut stores[0], instances[0], "memory.grow", 1).unwrap(),
            -1,
            "{bounds}"
        );
        // It is the linker's, too.
        drop((stores, memory));
        assert_eq!(
            allowance.used(Resource::MemoryBytes),
            5 * PAGE as u64,
            "{bounds}"
        );
        drop(linker);
        assert_eq!(allowance.used(Resource::MemoryBytes), 0, "{bounds}");
    }
}

/// `n` of something in a module.
fn many(n: usize, what: &str) -> String {
    format!("(module {})", what.repeat(n))
}

#[test]
fn totals_are_checked_before_anything_is_made() {
    let engine = Engine::new(&Config::new().opt(Opt::None)).unwrap();
    for (wat, text) in [
        (
            many(40, "(table 10000000 (ref null func) (ref.null func))"),
            "400000000 table elements are beyond the limit of 10000000",
        ),
        (
            many(100, "(memory 65536)"),
            "400 GiB of memories are beyond the limit of 4 GiB",
        ),
        (
            many(10_001, "(table 0 funcref)"),
            "10001 tables are beyond the limit of 10000",
        ),
    ] {
        let before = resident_bytes();
        let error =
            Instance::new(Store::new(&engine, ()), &module(&engine, &wat), &[]).unwrap_err();
        assert!(matches!(
            error.kind(),
            ErrorKind::Limit(LimitError::Quota { .. })
        ));
        assert_eq!(error.to_string(), text);
        assert!(resident_bytes() < before + (64 << 20), "{text}");
    }
}

/// What of this process is in the machine's memory.
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * fathom_sys::map::page_bytes() as u64
}

/// Nests exceptions, each with a reference to the one before.
const CHAIN: &str = r#"(module
  (tag $n (param exnref v128 v128 v128 v128))
  (func $nest (param $e exnref) (result exnref)
    (block $h (result exnref)
      (try_table (catch_all_ref $h)
        (throw $n (local.get $e) (v128.const i64x2 1 2) (v128.const i64x2 1 2)
          (v128.const i64x2 1 2) (v128.const i64x2 1 2)))
      (unreachable)))
  (func (export "keep") (param $n i32) (local $b exnref)
    (loop $l
      (local.set $b (call $nest (local.get $b)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $l (local.get $n))))
  (func (export "drop") (param $n i32)
    (loop $l
      (drop (call $nest (ref.null exn)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br_if $l (local.get $n)))))"#;

#[test]
fn exceptions_alive_are_limited_by_a_trap() {
    let quota = Quota {
        exception_bytes: 1 << 20,
        ..Quota::default()
    };
    for (bounds, engine) in engines(quota) {
        let mut store = Store::new(&engine, ());
        let i = Instance::new(&mut store, &module(&engine, CHAIN), &[]).unwrap();
        let mut run = |name| {
            let func = i.get_func(&store, name).unwrap();
            func.call(&mut store, &[Val::I32(50_000)], &mut [])
        };
        // Those that nothing refers to are no matter.
        run("drop").unwrap();
        let error = run("keep").unwrap_err();
        let trap = error.trap().unwrap();
        assert_eq!(trap.code, TrapCode::LimitExceeded, "{bounds}");
        let text = error.to_string();
        // Rounded, both would be 1 MiB.
        let within =
            " bytes of exceptions are beyond the limit of 1048576 bytes in nest (function 0) at";
        let amount = text.strip_prefix("limit exceeded: ");
        let amount = amount.and_then(|text| text.split_once(within)?.0.parse().ok());
        assert!(amount > Some(1_u64 << 20), "{bounds}: {text}");
        let used = store.allowance().used(Resource::ExceptionBytes);
        assert!(used <= 1 << 20, "{bounds}");
    }
}

#[test]
fn values_of_the_host_are_limited() {
    let quota = Quota {
        extern_refs: 100,
        ..Quota::default()
    };
    let wat = r#"(module
      (import "h" "new" (func $new (result externref)))
      (import "h" "same" (func $same (result externref)))
      (table $kept 0 externref)
      (func $keep (result externref)
        (drop (table.grow $kept (call $new) (i32.const 1))) (ref.null extern))
      (func (export "new") (param i32) (call $times (ref.func $keep) (local.get 0)))
      (func (export "same") (param i32) (call $times (ref.func $same) (local.get 0)))
      (type $f (func (result externref)))
      (func $times (param (ref $f) i32)
        (loop $l
          (drop (call_ref $f (local.get 0)))
          (local.set 1 (i32.sub (local.get 1) (i32.const 1)))
          (br_if $l (local.get 1))))
      (elem declare func $keep $same))"#;
    for (bounds, engine) in engines(quota) {
        let mut linker = Linker::new(&engine);
        linker
            .func_wrap("h", "new", |_: Caller<'_, ExternRef>| {
                Some(ExternRef::new(0))
            })
            .unwrap();
        linker
            .func_wrap("h", "same", |caller: Caller<'_, ExternRef>| {
                Some(caller.data().clone())
            })
            .unwrap();
        let mut store = Store::new(&engine, ExternRef::new(1));
        let i = linker
            .instantiate(&mut store, &module(&engine, wat))
            .unwrap();
        let mut run = |name, times| {
            let func = i.get_func(&store, name).unwrap();
            func.call(&mut store, &[Val::I32(times)], &mut [])
        };
        run("new", 99).unwrap();
        run("same", 1000).unwrap();
        let error = run("new", 1).unwrap_err();
        assert_eq!(
            error.trap().unwrap().code,
            TrapCode::LimitExceeded,
            "{bounds}"
        );
        assert!(
            error
                .to_string()
                .contains("101 references to values of the host"),
            "{bounds}: {error}"
        );
        run("same", 1000).unwrap();
    }
}

/// A limiter that panics when it is asked.
struct Panics;

impl ResourceLimiter for Panics {
    fn memory_growing(&mut self, current: usize, _: usize, _: Option<usize>) -> Result<bool> {
        assert!(current == 0, "asked about a memory");
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, _: usize, _: Option<usize>) -> Result<bool> {
        assert!(current == 0, "asked about a table");
        Ok(true)
    }
}

#[test]
fn a_panic_of_a_limiter_goes_on_behind_wasm() {
    for (bounds, engine) in engines(Quota::default()) {
        let module = module(&engine, GROWS);
        for (kind, expected) in [
            ("memory", "asked about a memory"),
            ("table", "asked about a table"),
        ] {
            let mut store = Store::new(&engine, Panics);
            store.limiter(|data| data);
            let instance = Instance::new(&mut store, &module, &[]).unwrap();
            let grow = instance.get_func(&store, &format!("{kind}.grow")).unwrap();
            let call = || grow.call(&mut store, &[Val::I32(1)], &mut [Val::I32(0)]);
            let panic = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&expected), "{bounds}");
            // Nothing was taken, and the store goes on.
            let size = instance.get_func(&store, &format!("{kind}.size")).unwrap();
            let mut found = [Val::I32(0)];
            size.call(&mut store, &[], &mut found).unwrap();
            assert!(matches!(found, [Val::I32(1)]), "{bounds}: {found:?}");
        }
    }
}
