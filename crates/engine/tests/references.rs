//! Values of the host's that Wasm holds: kept for as long as it does, and let go
//! afterwards, under every strategy.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fathom_engine::*;

/// A value that counts itself.
struct Counted {
    number: u64,
    alive: Arc<AtomicUsize>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Makes values, and knows how many there are.
#[derive(Clone, Default)]
struct Maker(Arc<AtomicUsize>);

impl Maker {
    fn make(&self, number: u64) -> ExternRef {
        let alive = Arc::clone(&self.0);
        alive.fetch_add(1, Ordering::Relaxed);
        ExternRef::new(Counted { number, alive })
    }

    fn alive(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn number(value: Option<&ExternRef>) -> Option<u64> {
    value?
        .downcast_ref::<Counted>()
        .map(|counted| counted.number)
}

fn each(test: impl Fn(&Engine)) {
    for bounds in Bounds::forms_for(false) {
        if let Some(engine) = common::engine(bounds) {
            eprintln!("under {bounds}");
            test(&engine);
        }
    }
}

/// Passes so many that a store must have let some go.
const MANY: u64 = 10_000;
/// More than a store keeps for nobody.
const MOST_ALIVE: usize = 6_000;

const PLACES: &str = r#"(module
  (import "host" "make" (func $make (param i64) (result externref)))
  (import "host" "churn" (func $churn))
  (import "host" "same" (func $same (param externref i64)))
  (tag $tag (param externref))
  (table $refs (export "refs") 3 externref)
  (table $thrown 1 exnref)
  (global $global (mut externref) (ref.null extern))
  (func (export "drop") (param externref))
  (func $throw (param externref) (throw $tag (local.get 0)))
  (func (export "hold") (param externref) (local $a externref) (local $b externref)
    (table.set $refs (i32.const 1) (call $make (i64.const 1)))
    (global.set $global (call $make (i64.const 2)))
    (local.set $a (call $make (i64.const 3)))
    (local.set $b (call $make (i64.const 4)))
    (table.set $thrown (i32.const 0)
      (block $caught (result exnref)
        (try_table (catch_all_ref $caught) (call $throw (call $make (i64.const 5))))
        unreachable))
    (call $make (i64.const 6)) ;; an operand
    (call $churn)
    (call $same (i64.const 6))
    (call $same (table.get $refs (i32.const 1)) (i64.const 1))
    (call $same (global.get $global) (i64.const 2))
    (call $same (local.get $a) (i64.const 3))
    (call $same (local.get $b) (i64.const 4))
    (call $churn)
    (call $same
      (block $again (result externref)
        (try_table (catch $tag $again) (throw_ref (table.get $thrown (i32.const 0))))
        unreachable)
      (i64.const 5))
    (call $same (local.get 0) (i64.const 7))
    (call $same (local.get $a) (i64.const 3))))"#;

/// A linker with what [`PLACES`] imports; `churn` makes a store collect.
fn linker(engine: &Engine, maker: &Maker) -> Linker<()> {
    let mut linker = Linker::new(engine);
    let of = maker.clone();
    linker
        .func_wrap("host", "make", move |_: Caller<'_, ()>, number: u64| {
            Some(of.make(number))
        })
        .unwrap();
    let of = maker.clone();
    linker
        .func_wrap(
            "host",
            "churn",
            move |mut caller: Caller<'_, ()>| -> Result<()> {
                let drop = caller.get_export("drop").and_then(Extern::into_func);
                let drop = drop.unwrap().typed::<Option<ExternRef>, ()>(&caller)?;
                for number in 0..MANY {
                    drop.call(&mut caller, Some(of.make(1000 + number)))?;
                    assert!(of.alive() < MOST_ALIVE, "{} are alive", of.alive());
                }
                Ok(())
            },
        )
        .unwrap();
    linker
        .func_wrap(
            "host",
            "same",
            |_: Caller<'_, ()>, value: Option<ExternRef>, wanted: u64| {
                assert_eq!(number(value.as_ref()), Some(wanted));
            },
        )
        .unwrap();
    linker
}

fn module(engine: &Engine, wat: &str) -> Module {
    Module::new(engine, wat::parse_str(wat).unwrap()).unwrap()
}

#[test]
fn what_wasm_holds_is_kept_wherever_it_is() {
    each(|engine| {
        let maker = Maker::default();
        let mut store = Store::new(engine, ());
        let module = module(engine, PLACES);
        let instance = linker(engine, &maker).instantiate(&mut store, &module);
        let instance = instance.unwrap();
        let hold = instance.get_func(&store, "hold").unwrap();
        let hold = hold.typed::<Option<ExternRef>, ()>(&store).unwrap();
        for _ in 0..3 {
            hold.call(&mut store, Some(maker.make(7))).unwrap();
        }
        drop(store);
        assert_eq!(maker.alive(), 0);
    });
}

#[test]
fn what_nobody_holds_is_let_go() {
    each(|engine| {
        let maker = Maker::default();
        let mut store = Store::new(engine, ());
        let module = module(
            engine,
            r#"(module (table (export "refs") 1 externref)
                 (global (export "global") (mut externref) (ref.null extern))
                 (func (export "same") (param externref) (result externref) local.get 0))"#,
        );
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let same = instance.get_func(&store, "same").unwrap();
        let typed = same
            .typed::<Option<ExternRef>, Option<ExternRef>>(&store)
            .unwrap();
        let table = instance.get_export(&store, "refs").unwrap();
        let table = table.into_table().unwrap();
        let global = instance.get_export(&store, "global").unwrap();
        let global = global.into_global().unwrap();
        for way in 0..4 {
            for n in 0..MANY {
                let value = maker.make(n);
                let back = match way {
                    0 => typed.call(&mut store, Some(value)).unwrap(),
                    1 => {
                        let mut results = [Val::ExternRef(None)];
                        let arguments = [Val::ExternRef(Some(value))];
                        same.call(&mut store, &arguments, &mut results).unwrap();
                        match results {
                            [Val::ExternRef(back)] => back,
                            _ => None,
                        }
                    }
                    2 => {
                        let value = Val::ExternRef(Some(value));
                        table.set(&mut store, 0, &value).unwrap();
                        match table.get(&store, 0) {
                            Some(Val::ExternRef(back)) => back,
                            _ => None,
                        }
                    }
                    _ => {
                        let value = Val::ExternRef(Some(value));
                        global.set(&mut store, &value).unwrap();
                        match global.get(&store) {
                            Val::ExternRef(back) => back,
                            _ => None,
                        }
                    }
                };
                assert_eq!(number(back.as_ref()), Some(n));
                assert!(maker.alive() < MOST_ALIVE, "{} are alive", maker.alive());
            }
        }
    });
}

/// Several values on their way into Wasm at once: none is let go before the last
/// has arrived.
#[test]
fn arguments_and_results_arrive_together() {
    each(|engine| {
        let maker = Maker::default();
        let mut linker = Linker::new(engine);
        let of = maker.clone();
        linker
            .func_wrap("host", "pair", move |_: Caller<'_, ()>, n: u64| {
                (Some(of.make(2 * n)), Some(of.make(2 * n + 1)))
            })
            .unwrap();
        let module = module(
            engine,
            r#"(module
                 (import "host" "pair" (func $pair (param i64) (result externref externref)))
                 (func (export "of") (param i64) (result externref externref)
                   local.get 0 call $pair)
                 (func (export "swap") (param externref externref) (result externref externref)
                   local.get 1 local.get 0))"#,
        );
        let mut store = Store::new(engine, ());
        let instance = linker.instantiate(&mut store, &module).unwrap();
        type Pair = (Option<ExternRef>, Option<ExternRef>);
        let of = instance.get_func(&store, "of").unwrap();
        let of = of.typed::<u64, Pair>(&store).unwrap();
        let swap = instance.get_func(&store, "swap").unwrap();
        let swap = swap.typed::<Pair, Pair>(&store).unwrap();
        for n in 0..MANY {
            let pair = of.call(&mut store, n).unwrap();
            assert_eq!(number(pair.0.as_ref()), Some(2 * n));
            assert_eq!(number(pair.1.as_ref()), Some(2 * n + 1));
            drop(pair);
            // One alone, so that a collection is due at the second of a pair, too.
            if n % 3 == 0 {
                swap.call(&mut store, (Some(maker.make(n)), None)).unwrap();
            }
            let given = (Some(maker.make(n)), Some(maker.make(n + 1)));
            let (b, a) = swap.call(&mut store, given).unwrap();
            assert_eq!(number(a.as_ref()), Some(n));
            assert_eq!(number(b.as_ref()), Some(n + 1));
        }
    });
}

/// Beyond the quota by what is held is an error; by what was held once, it is not.
#[test]
fn the_quota_counts_what_is_held() {
    let quota = Quota {
        extern_refs: 5000,
        ..Quota::default()
    };
    let engine = Engine::new(&Config::new().quota(quota)).unwrap();
    let maker = Maker::default();
    let mut store = Store::new(&engine, ());
    let module = module(
        &engine,
        r#"(module (table (export "refs") 10000 externref)
             (func (export "set") (param i32 externref)
               local.get 0 local.get 1 table.set 0))"#,
    );
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let set = instance.get_func(&store, "set").unwrap();
    let set = set.typed::<(u32, Option<ExternRef>), ()>(&store).unwrap();
    for n in 0..20_000 {
        let value = Some(maker.make(n));
        set.call(&mut store, (n as u32 % 100, value)).unwrap();
    }
    let beyond = (0..10_000).find_map(|n| {
        let value = Some(maker.make(n));
        set.call(&mut store, (n as u32, value)).err()
    });
    let beyond = beyond.expect("5,000 references are held");
    assert!(beyond.limit().is_some(), "{beyond}");
}
