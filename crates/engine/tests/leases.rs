//! Instances that are used again: nothing of one lease is seen in the next, under
//! every form of every strategy, for 32-bit and for 64-bit memories.
//!
//! The property: what a sequence of operations yields in an instance of a pool, of
//! whatever came before it, is what it yields in an instance of its own.

mod common;

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

fn wat(memory64: bool, memory: &str, data: usize) -> String {
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
    fn new(bounds: Bounds, memory64: bool, memory: &str, data: usize) -> Option<Subject> {
        let named = BoundsChoice::Named(bounds);
        let config = match memory64 {
            true => Config::new().bounds64(named),
            false => Config::new().bounds(named),
        };
        let wat = wat(memory64, memory, data);
        let engine = common::engine_with(config.opt(Opt::None), bounds, &wat)?;
        let module = Module::new(&engine, wat::parse_str(&wat).unwrap()).unwrap();
        let mut linker = Linker::new(&engine);
        linker
            .func_wrap("host", "fail", |_: Caller<'_, i32>| -> Result<()> {
                Err(Error::host("it fails"))
            })
            .unwrap();
        linker
            .func_wrap("host", "number", |caller: Caller<'_, i32>| *caller.data())
            .unwrap();
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

    /// More in the same store: it must be gone with the lease.
    fn neighbour<C: AsContextMut<Data = i32>>(&self, store: &mut C) -> String {
        let other = self.linker.instantiate(&mut *store, &self.module).unwrap();
        let stored = call(store, other, "store", &[self.index(0), Val::I64(-1)]);
        let global = call(store, other, "global", &[]);
        let ty = GlobalType {
            content: ValType::I32,
            mutable: true,
        };
        Global::new(&mut *store, ty, Val::I32(1)).unwrap();
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

/// Each lease in an instance of the pool and in one of its own.
fn same(subject: &Subject, leases: &[Vec<Op>], limits: PoolLimits) {
    let pool = Pool::new(&subject.linker, &subject.module, limits).unwrap();
    for (number, lease) in (0..).zip(leases) {
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
        assert_eq!(seen.0, expected.0, "at the beginning of lease {number}");
        assert!(
            seen.1 == expected.1,
            "bytes at the beginning of lease {number}"
        );
        let (seen, expected) = (
            subject.edge(&mut pooled, reused),
            subject.edge(&mut store, own),
        );
        assert_eq!(seen, expected, "at the end of the memory of lease {number}");
        for op in lease {
            let (seen, expected) = (
                subject.apply(&mut pooled, reused, op),
                subject.apply(&mut store, own, op),
            );
            assert_eq!(seen, expected, "{op:?} of lease {number}");
        }
        let (seen, expected) = (
            subject.look(&mut pooled, reused),
            subject.look(&mut store, own),
        );
        assert_eq!(seen.0, expected.0, "at the end of lease {number}");
        assert!(seen.1 == expected.1, "bytes at the end of lease {number}");
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
        let subject = move |shape: &_| {
            let (memory, data) = *shape;
            Subject::new(bounds, memory64, memory, data)
        };
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
fn a_lease_is_what_it_would_be_in_an_instance_of_its_own() {
    let leases = prop::collection::vec(prop::collection::vec(op(), 0..12), 2..4);
    for (_, subject) in subjects() {
        let cases = Cases {
            failure_persistence: None,
            ..Cases::with_cases(4)
        };
        let mut runner = TestRunner::new(cases);
        let each = (&leases, prop::sample::select(&LIMITS));
        let checked = runner.run(&each, |(leases, limits)| {
            same(&subject, &leases, limits);
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
        let lease: Vec<Op> = everything
            .iter()
            .filter(|op| reach || !matches!(op, Op::Load(_)))
            .cloned()
            .collect();
        for limits in LIMITS {
            // What one has grown by is locked; it is opened again by parts, or not.
            let [few, many] = [3, 17].map(|pages| vec![Op::Grow(pages), Op::Load(39 << 16)]);
            let leases = [
                lease.clone(),
                lease.clone(),
                vec![],
                few,
                lease.clone(),
                many,
            ];
            same(&subject, &leases, limits);
        }
    }
}
