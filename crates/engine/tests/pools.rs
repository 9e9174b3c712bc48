//! Instances that are used again: nothing of one life is seen in the next, under
//! every form of every strategy, for 32-bit and for 64-bit memories.
//!
//! The property: what a sequence of operations yields in an instance of a pool, of
//! whatever came before it, is what it yields in an instance of its own.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fathom_engine::trap::TrapCode;
use fathom_engine::*;
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestRunner};

/// Memories as they are declared, and the bytes of the first data segment: none;
/// one page; an image that is mapped; one beyond what is compared page by page;
/// one that may not grow.
const SHAPES: [(&str, usize); 5] = [
    ("0 9", 0),
    ("1 40", 20),
    ("2 40", 40_000),
    ("20 40", 300_000),
    ("1 1", 17_000),
];

/// `I` is the type of an index, `MEMORY` the memory's.
const MODULE: &str = r#"(module
  (import "host" "fail" (func $fail))
  (import "host" "number" (func $number (result i32)))
  (memory (export "memory") MEMORY)
  (table $t (export "table") 4 30 funcref)
  (table $e (export "refs") 2 9 externref)
  (global $g (mut i64) (i64.const 77))
  (global $v (mut v128) (v128.const i64x2 5 6))
  (global $x (mut externref) (ref.null extern))
  (global $r (mut funcref) (ref.func $seven))
  (tag $oops (param i32))
  DATA
  (data $passive "passive bytes")
  (elem (table $t) (i32.const 1) func $seven)
  (elem $later func $seven $number)
  (start $begin)
  (func $seven (export "seven") (result i32) (i32.const 7))
  (func $begin (global.set $g (i64.add (global.get $g) (i64.extend_i32_s (call $number)))))
  (func (export "store") (param I i64) (i64.store (local.get 0) (local.get 1)))
  (func (export "load") (param I) (result i64) (i64.load (local.get 0)))
  (func (export "fill") (param I I i32)
    (memory.fill (local.get 0) (local.get 2) (local.get 1)))
  (func (export "grow") (param I) (result I) (memory.grow (local.get 0)))
  (func (export "size") (result I) (memory.size))
  (func (export "init") (param I i32 i32)
    (memory.init $passive (local.get 0) (local.get 1) (local.get 2)))
  (func (export "drop") (data.drop $passive) (elem.drop $later))
  (func (export "global") (result i64)
    (i64.add (global.get $g) (i64x2.extract_lane 1 (global.get $v))))
  (func (export "set") (param i64)
    (global.set $g (local.get 0))
    (global.set $v (i64x2.splat (local.get 0)))
    (global.set $r (ref.null func)))
  (func (export "table_init") (param i32) (table.init $t $later (local.get 0) (i32.const 0) (i32.const 2)))
  (func (export "table_set") (param i32) (table.set $t (local.get 0) (global.get $r)))
  (func (export "table_grow") (param i32) (result i32)
    (drop (table.grow $e (global.get $x) (i32.const 1)))
    (table.grow $t (ref.func $seven) (local.get 0)))
  (func (export "table_call") (param i32) (result i32)
    (call_indirect $t (result i32) (local.get 0)))
  (func (export "keep") (param externref)
    (global.set $x (local.get 0)) (table.set $e (i32.const 1) (local.get 0)))
  (func (export "kept") (result i32)
    (i32.add
      (ref.is_null (global.get $x))
      (i32.add (ref.is_null (table.get $e (i32.const 1))) (table.size $e))))
  (func (export "throw") (throw $oops (i32.const 3)))
  (func (export "host") (call $fail))
  (func (export "deep") (call $deep))
  (func $deep (call $deep)))"#;

fn wat(memory64: bool, (memory, data): (&str, usize)) -> String {
    let data = match data {
        0 => String::new(),
        bytes => {
            let at = if bytes == 20 { 1000 } else { 3 };
            let (text, ty) = ("\\2a".repeat(bytes), if memory64 { "i64" } else { "i32" });
            format!("(data ({ty}.const {at}) \"{text}\") (data ({ty}.const 8) \"over\")")
        }
    };
    let (index, prefix) = if memory64 {
        ("i64", "i64 ")
    } else {
        ("i32", "")
    };
    MODULE
        .replace("MEMORY", &format!("{prefix}{memory}"))
        .replace("DATA", &data)
        .replace("param I I", &format!("param {index} {index}"))
        .replace("param I", &format!("param {index}"))
        .replace("result I", &format!("result {index}"))
}

#[derive(Clone, Debug)]
enum Op {
    Store(u64, i64),
    Load(u64),
    Fill(u64, u64, u8),
    Grow(u64),
    Init(u64, i32),
    Drop,
    Set(i64),
    TableInit(i32),
    TableSet(i32),
    TableGrow(i32),
    TableCall(i32),
    Keep,
    Throw,
    Host,
    Deep,
    HostWrites(u64, u8),
    Neighbour,
}

/// Addresses: everywhere in what there may be, near the ends of pages, and beyond.
fn address() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..(45u64 << 16),
        (0u64..45, 0u64..16).prop_map(|(page, back)| (page << 16).saturating_sub(back)),
        0..200u64,
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (address(), any::<i64>()).prop_map(|(at, value)| Op::Store(at, value)),
        6 => address().prop_map(Op::Load),
        3 => (address(), 0..(3u64 << 16), any::<u8>()).prop_map(|(a, n, v)| Op::Fill(a, n, v)),
        2 => (0..20u64).prop_map(Op::Grow),
        2 => (address(), 0..15i32).prop_map(|(at, len)| Op::Init(at, len)),
        1 => Just(Op::Drop),
        1 => any::<i64>().prop_map(Op::Set),
        1 => (0..6i32).prop_map(Op::TableInit),
        1 => (0..6i32).prop_map(Op::TableSet),
        1 => (0..9i32).prop_map(Op::TableGrow),
        2 => (0..9i32).prop_map(Op::TableCall),
        1 => Just(Op::Keep),
        1 => Just(Op::Throw),
        1 => Just(Op::Host),
        1 => Just(Op::Deep),
        1 => (address(), any::<u8>()).prop_map(|(at, value)| Op::HostWrites(at, value)),
        1 => Just(Op::Neighbour),
    ]
}

/// A module under a strategy, and what calls it.
struct Subject {
    module: Module,
    linker: Linker<i32>,
    memory64: bool,
}

impl Subject {
    fn new(bounds: Bounds, memory64: bool, shape: (&str, usize)) -> Option<Subject> {
        let named = BoundsChoice::Named(bounds);
        let config = match memory64 {
            true => Config::new().bounds64(named),
            false => Config::new().bounds(named),
        };
        let wat = wat(memory64, shape);
        let engine = common::engine_with(config.opt(Opt::None), bounds, &wat)?;
        let module = Module::new(&engine, &wat::parse_str(&wat).unwrap()).unwrap();
        let mut linker = Linker::new(&engine);
        linker.func_wrap("host", "fail", |_: Caller<'_, i32>| -> Result<()> {
            Err(Error::host("it fails"))
        });
        linker.func_wrap("host", "number", |caller: Caller<'_, i32>| *caller.data());
        Some(Subject {
            module,
            linker,
            memory64,
        })
    }

    fn index(&self, at: u64) -> Val {
        match self.memory64 {
            true => Val::I64(at.cast_signed()),
            false => Val::I32((at as u32).cast_signed()),
        }
    }

    /// What an operation yields, as text.
    fn apply<C>(&self, store: &mut C, instance: Instance, op: &Op) -> String
    where
        C: AsContextMut<Data = i32>,
    {
        let at = |at: &u64| self.index(*at);
        let (name, args) = match op {
            Op::Store(a, value) => ("store", vec![at(a), Val::I64(*value)]),
            Op::Load(a) => ("load", vec![at(a)]),
            Op::Fill(a, n, v) => ("fill", vec![at(a), at(n), Val::I32(i32::from(*v))]),
            Op::Grow(n) => ("grow", vec![at(n)]),
            Op::Init(a, len) => ("init", vec![at(a), Val::I32(0), Val::I32(*len)]),
            Op::Drop => ("drop", vec![]),
            Op::Set(value) => ("set", vec![Val::I64(*value)]),
            Op::TableInit(i) => ("table_init", vec![Val::I32(*i)]),
            Op::TableSet(i) => ("table_set", vec![Val::I32(*i)]),
            Op::TableGrow(n) => ("table_grow", vec![Val::I32(*n)]),
            Op::TableCall(i) => ("table_call", vec![Val::I32(*i)]),
            Op::Keep => ("keep", vec![Val::ExternRef(Some(ExternRef::new(5u8)))]),
            Op::Throw => ("throw", vec![]),
            Op::Host => ("host", vec![]),
            Op::Deep => ("deep", vec![]),
            Op::HostWrites(a, value) => {
                let memory = instance.get_memory(&*store, "memory").unwrap();
                return format!("{:?}", memory.write(&mut *store, *a, &[*value; 3]));
            }
            Op::Neighbour => return self.neighbour(store),
        };
        call(store, instance, name, &args)
    }

    /// More in the same store: it must be gone with the life.
    fn neighbour<C: AsContextMut<Data = i32>>(&self, store: &mut C) -> String {
        let other = self.linker.instantiate(&mut *store, &self.module).unwrap();
        let stored = call(store, other, "store", &[self.index(0), Val::I64(-1)]);
        let global = call(store, other, "global", &[]);
        let ty = GlobalType {
            content: ValType::I32,
            mutable: true,
        };
        Global::new(&mut *store, ty, &Val::I32(1)).unwrap();
        format!("{stored} {global}")
    }

    /// All that can be seen of an instance.
    fn look<C>(&self, store: &mut C, instance: Instance) -> (String, Vec<u8>)
    where
        C: AsContextMut<Data = i32>,
    {
        let mut seen = String::new();
        for name in ["size", "global", "kept", "seven"] {
            seen += &call(store, instance, name, &[]);
        }
        for i in 0..40 {
            seen += &call(store, instance, "table_call", &[Val::I32(i)]);
        }
        let memory = instance.get_memory(&*store, "memory").unwrap();
        memory
            .populate(&*store, 0, memory.data_size(&*store) as u64)
            .unwrap();
        let mut bytes = vec![0; memory.data_size(&*store)];
        memory.read(&*store, 0, &mut bytes).unwrap();
        let table = instance
            .get_export(&*store, "refs")
            .unwrap()
            .into_table()
            .unwrap();
        (format!("{seen} {} refs", table.size(&*store)), bytes)
    }

    /// Around the end of the memory, where accesses begin to trap.
    fn edge<C: AsContextMut<Data = i32>>(&self, store: &mut C, instance: Instance) -> String {
        let memory = instance.get_memory(&*store, "memory").unwrap();
        let end = memory.data_size(&*store) as u64;
        let around = [
            end.saturating_sub(8),
            end.saturating_sub(7),
            end,
            end + 4096,
        ];
        let beyond = [end + 65_536, end + 100_000, 40 << 16, 44 << 16];
        let all = around.into_iter().chain(beyond);
        all.map(|at| call(store, instance, "load", &[self.index(at)]))
            .collect()
    }
}

fn call<C: AsContextMut<Data = i32>>(
    store: &mut C,
    instance: Instance,
    name: &str,
    args: &[Val],
) -> String {
    let func = instance.get_func(&*store, name).unwrap();
    let mut results = vec![Val::I32(0); func.ty(&*store).results().len()];
    match func.call(&mut *store, args, &mut results) {
        Ok(()) => format!("{name} {results:?};"),
        Err(error) => format!("{name} {error};"),
    }
}

/// Each life in an instance of the pool and in one of its own.
fn same(subject: &Subject, lives: &[Vec<Op>], limits: PoolLimits) {
    let pool = Pool::new(&subject.linker, &subject.module, limits).unwrap();
    for (number, life) in (0..).zip(lives) {
        let mut pooled = pool.instantiate(number).unwrap();
        let reused = pooled.instance();
        let mut store = Store::new(subject.module.engine(), number);
        let own = subject
            .linker
            .instantiate(&mut store, &subject.module)
            .unwrap();
        let (seen, expected) = (
            subject.look(&mut pooled, reused),
            subject.look(&mut store, own),
        );
        assert_eq!(seen.0, expected.0, "at the beginning of life {number}");
        assert!(
            seen.1 == expected.1,
            "bytes at the beginning of life {number}"
        );
        let (seen, expected) = (
            subject.edge(&mut pooled, reused),
            subject.edge(&mut store, own),
        );
        assert_eq!(seen, expected, "at the end of the memory of life {number}");
        for op in life {
            let (seen, expected) = (
                subject.apply(&mut pooled, reused, op),
                subject.apply(&mut store, own, op),
            );
            assert_eq!(seen, expected, "{op:?} of life {number}");
        }
        let (seen, expected) = (
            subject.look(&mut pooled, reused),
            subject.look(&mut store, own),
        );
        assert_eq!(seen.0, expected.0, "at the end of life {number}");
        assert!(seen.1 == expected.1, "bytes at the end of life {number}");
    }
    assert_eq!(pool.idle(), limits.idle.min(1));
}

fn subjects() -> impl Iterator<Item = (Bounds, Subject)> {
    let widths = [false, true].into_iter();
    let pairs = widths
        .flat_map(|memory64| Bounds::forms_for(memory64).map(move |bounds| (bounds, memory64)));
    pairs.flat_map(|(bounds, memory64)| {
        // Forms of a strategy differ in instructions, not in memories.
        let shapes = match Bounds::ALL.contains(&bounds) {
            true => &SHAPES[..],
            false => &SHAPES[2..3],
        };
        let subject = move |shape: &_| Subject::new(bounds, memory64, *shape);
        shapes
            .iter()
            .filter_map(subject)
            .map(move |subject| (bounds, subject))
    })
}

/// The limits under which memories are cleaned, given back, or not kept.
const LIMITS: [PoolLimits; 3] = [
    PoolLimits {
        lanes: 1,
        idle: 2,
        resident_bytes: 64 << 20,
    },
    PoolLimits {
        lanes: 1,
        idle: 2,
        resident_bytes: 0,
    },
    PoolLimits {
        lanes: 3,
        idle: 0,
        resident_bytes: 1 << 20,
    },
];

#[test]
fn a_life_is_what_it_would_be_in_an_instance_of_its_own() {
    let lives = prop::collection::vec(prop::collection::vec(op(), 0..12), 2..4);
    for (_, subject) in subjects() {
        let cases = Cases {
            failure_persistence: None,
            ..Cases::with_cases(4)
        };
        let mut runner = TestRunner::new(cases);
        let each = (&lives, prop::sample::select(&LIMITS));
        let checked = runner.run(&each, |(lives, limits)| {
            same(&subject, &lives, limits);
            Ok(())
        });
        checked.unwrap();
    }
}

#[test]
fn all_that_can_be_written_is_gone() {
    let everything = vec![
        Op::Fill(0, 1 << 16, 0xee),
        Op::Grow(9),
        Op::Grow(8),
        Op::Fill(0, 9 << 16, 0xdd),
        Op::Fill(0, 20 << 16, 0xcc),
        Op::Store(37 << 16, -1),
        Op::Store(200 << 16, -1),
        Op::Store(0, -1),
        Op::Init(4096, 13),
        Op::Drop,
        Op::Set(-5),
        Op::TableInit(0),
        Op::TableSet(1),
        Op::TableGrow(8),
        Op::Keep,
        Op::Throw,
        Op::Host,
        Op::HostWrites(60_000, 0xbb),
        Op::Neighbour,
        Op::Deep,
        Op::Load(u64::from(u32::MAX) - 10),
    ];
    for (bounds, subject) in subjects() {
        let reach = bounds.guarantee() != Guarantee::Unchecked || !subject.memory64;
        let life: Vec<Op> = everything
            .iter()
            .filter(|op| reach || !matches!(op, Op::Load(_)))
            .cloned()
            .collect();
        for limits in LIMITS {
            same(&subject, &[life.clone(), life.clone(), vec![]], limits);
        }
    }
}

fn tiny(wat: &str) -> (Engine, Module) {
    let engine = Engine::new(&Config::new()).unwrap();
    let module = Module::new(&engine, &wat::parse_str(wat).unwrap()).unwrap();
    (engine, module)
}

const COUNTER: &str = r#"(module
  (global $n (mut i32) (i32.const 0))
  (memory 1)
  (func (export "next") (result i32)
    (global.set $n (i32.add (global.get $n) (i32.const 1)))
    (global.get $n)))"#;

#[test]
fn handles_of_the_life_before_are_another_stores() {
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
    for life in 1..4 {
        let mut instance = pool.instantiate(Counted(drops.clone())).unwrap();
        *instance.data_mut() = Counted(drops.clone());
        drop(instance);
        assert_eq!(drops.load(Ordering::SeqCst), 2 * life);
    }
    drop(pool);
    assert_eq!(drops.load(Ordering::SeqCst), 6);
}

#[test]
fn a_life_that_fails_to_begin_is_an_error_and_costs_nothing() {
    let (engine, module) = tiny(
        r#"(module (import "" "fails" (func $fails)) (memory 1) (start $fails)
             (func (export "f")))"#,
    );
    let mut linker = Linker::new(&engine);
    linker.func_wrap("", "fails", |caller: Caller<'_, Counted>| -> Result<()> {
        match caller.data().0.load(Ordering::SeqCst) {
            odd if odd % 2 == 1 => Ok(()),
            _ => Err(Error::host("not now")),
        }
    });
    let pool = Pool::new(&linker, &module, PoolLimits::default()).unwrap();
    let drops = Arc::new(AtomicUsize::new(0));
    for life in 0..6 {
        let made = pool.instantiate(Counted(drops.clone()));
        assert_eq!(made.is_ok(), life % 2 == 1);
        drop(made);
        assert_eq!(drops.load(Ordering::SeqCst), life + 1);
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
    let global = Global::new(&mut store, ty, &Val::I32(1)).unwrap();
    linker.define("a", "b", global);
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
    let again = Module::new(&engine, &wat::parse_str(COUNTER).unwrap()).unwrap();
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
    linker.define_shared("", "memory", &shared);
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
    linker.func_wrap("", "panics", |_: Caller<'_, ()>| -> () {
        panic!("on purpose")
    });
    let pool = Pool::new(&linker, &module, PoolLimits::default()).unwrap();
    let f = pool.func::<(), ()>("f").unwrap();
    for _ in 0..2 {
        let life = std::panic::AssertUnwindSafe(|| {
            let mut instance = pool.instantiate(()).unwrap();
            let memory = instance.instance().get_memory(&instance, "memory").unwrap();
            assert_eq!(memory.data(&instance)[0], 0);
            let _ = instance.func(&f).unwrap().call(&mut instance, ());
        });
        assert!(std::panic::catch_unwind(life).is_err());
        assert_eq!(pool.idle(), 1);
    }
}
