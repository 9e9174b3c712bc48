//! Fuel: the same fuel ends a program at the same place, with the same memory and as
//! much left, under every strategy, with every choice of what is left out or inlined
//! and at every level.

mod common;

use fathom_engine::*;

/// A bit of everything: loops in loops, branches of each kind, small functions that are
/// inlined, one in the other too, calls by name and through a table, exceptions that are caught
/// here and in a caller, bulk operations, calls of the host, accesses of which some trap.
const PROGRAM: &str = r#"(module
  (type $inlines_what_calls (struct))
  (import "h" "f" (func $host (param i32) (result i32)))
  (memory (export "memory") 1)
  (table 10 funcref)
  (elem (i32.const 0) func $small $recursive)
  (type $unary (func (param i32) (result i32)))
  (tag $t (param i32))
  (func $small (type $unary)
    (if (result i32) (i32.and (local.get 0) (i32.const 1))
      (then (i32.mul (local.get 0) (i32.const 3)))
      (else (return (i32.add (local.get 0) (i32.const 7))))))
  (func $put (param i32 i32) (i32.store (local.get 0) (local.get 1)))
  (func $nests (type $unary)
    (call $put (i32.const 104) (call $small (local.get 0)))
    (if (i32.eq (local.get 0) (i32.const 6)) (then (return (call $even (i32.const 3)))))
    (call $small (call $host (call $tail (local.get 0)))))
  (func $even (type $unary)
    (if (i32.eqz (local.get 0)) (then (return (i32.const 1))))
    (call $odd (i32.sub (local.get 0) (i32.const 1))))
  (func $odd (type $unary)
    (if (i32.eqz (local.get 0)) (then (return (i32.const 0))))
    (call $even (i32.sub (local.get 0) (i32.const 1))))
  (func $stops (param i32) (if (i32.eqz (local.get 0)) (then unreachable)))
  (func $recursive (type $unary)
    (if (result i32) (i32.eqz (local.get 0))
      (then (i32.const 1))
      (else (i32.add (i32.const 1) (call $recursive (i32.sub (local.get 0) (i32.const 1)))))))
  (func $tail (type $unary)
    (if (i32.eqz (local.get 0)) (then (return (i32.const 5))))
    (return_call $tail (i32.sub (local.get 0) (i32.const 1))))
  (func $carries (type $unary)
    (i32.const 1) (local.get 0)
    (loop $l (param i32 i32) (result i32)
      (local.set 0 (i32.add (i32.const 1)))
      (i32.mul (i32.const 3))
      (br_if $l (local.get 0) (i32.lt_u (local.get 0) (i32.const 9)))
      (drop)))
  (func $throws (param i32) (throw $t (local.get 0)))
  (func $caught (type $unary)
    (block $h (result i32)
      (try_table (catch $t $h)
        (call $put (i32.const 96) (local.get 0))
        (if (i32.and (local.get 0) (i32.const 2))
          (then (call $throws (local.get 0)))
          (else (throw $t (i32.const 11)))))
      (unreachable)))
  (func $older (type $unary)
    try (result i32)
      try (result i32)
        (call $throws (local.get 0))
        (i32.const 1)
      catch $t
        (if (i32.and (i32.const 1)) (then (rethrow 1)))
        try (result i32) (call $caught (local.get 0)) delegate 0
      end
    catch_all
      (i32.const 3)
    end)
  (func $switch (type $unary)
    (block $c (block $b (block $a
      (br_table $a $b $c (i32.rem_u (local.get 0) (i32.const 4))))
      (call $put (i32.const 100) (local.get 0)) (return (i32.const 1)))
      (memory.fill (i32.const 200) (local.get 0) (i32.const 100)))
    (i32.const 2))
  (func (export "run") (param $n i32) (param $end i32) (result i32)
    (local $i i32) (local $j i32) (local $sum i32)
    (loop $outer
      (local.set $j (i32.const 0))
      (loop $inner
        (call $put (i32.add (i32.const 1000) (i32.mul (local.get $j) (i32.const 4)))
          (call $small (i32.add (local.get $i) (local.get $j))))
        (i32.store8 (i32.mul (local.get $j) (i32.const 64)) (local.get $i))
        (local.set $j (i32.add (local.get $j) (i32.const 1)))
        (br_if $inner (i32.lt_u (local.get $j) (i32.const 5))))
      (local.set $sum (i32.add (local.get $sum) (call $switch (local.get $i))))
      (local.set $sum (i32.add (local.get $sum) (call $caught (local.get $i))))
      (local.set $sum (i32.add (local.get $sum) (call $older (local.get $i))))
      (local.set $sum (i32.add (local.get $sum)
        (call_indirect (type $unary) (local.get $i) (i32.and (local.get $i) (i32.const 1)))))
      (local.set $sum (i32.add (local.get $sum) (call $tail (local.get $i))))
      (local.set $sum (i32.add (local.get $sum) (call $nests (local.get $i))))
      (local.set $sum (i32.add (local.get $sum) (call $host (local.get $i))))
      (local.set $sum (i32.add (local.get $sum) (call $carries (local.get $i))))
      (memory.copy (i32.const 2000) (i32.const 1000) (i32.const 40))
      (call $stops (i32.sub (local.get $i) (local.get $end)))
      (i32.store (i32.const 500) (local.get $sum))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $outer (i32.lt_u (local.get $i) (local.get $n))))
    (i32.load (i32.mul (local.get $n) (i32.const 8000)))))"#;

/// Every engine whose code consumes fuel, with what to call it.
fn engines() -> Vec<(String, Engine)> {
    let mut all = Vec::new();
    // What the others do beyond a memory's end is not the same.
    let exact = |bounds: &Bounds| bounds.guarantee() == Guarantee::Exact;
    for bounds in Bounds::forms_for(false).filter(exact) {
        // The others of a strategy's configurations differ in nothing that fuel sees.
        let (elides, opts) = match bounds {
            Bounds::Trap | Bounds::Guard => (&Elide::ALL[..], &Opt::ALL[..]),
            _ => (&[Elide::Loops][..], &[Opt::Speed][..]),
        };
        for (elide, opt, inline) in elides
            .iter()
            .flat_map(|elide| opts.iter().map(move |opt| (*elide, *opt)))
            .flat_map(|(elide, opt)| [(elide, opt, true), (elide, opt, false)])
        {
            let config = Config::new()
                .bounds(BoundsChoice::Named(bounds))
                .elide(elide)
                .opt(opt)
                .inline(inline)
                .consume_fuel(true);
            let name = format!("{bounds}, elide {elide}, opt {opt}, inline {inline}");
            if let Some(engine) = common::engine_with(config, bounds, "(module (memory 1))") {
                all.push((name, engine));
            }
        }
    }
    all
}

/// Function and offset of each frame.
type Frames = Vec<(u32, Option<u32>)>;

/// How a run ended: its result, or why and where not.
#[derive(Debug, PartialEq)]
struct End {
    result: Result<i32, (TrapCode, Frames)>,
    left: u64,
    memory: Vec<u8>,
}

struct Program {
    engine: Engine,
    module: Module,
    linker: Linker<Vec<u64>>,
}

impl Program {
    fn new(engine: &Engine) -> Program {
        let module = Module::new(engine, wat::parse_str(PROGRAM).unwrap()).unwrap();
        let mut linker = Linker::new(engine);
        linker
            .func_wrap(
                "h",
                "f",
                |mut caller: Caller<'_, Vec<u64>>, i: i32| -> Result<i32> {
                    let left = caller.get_fuel()?;
                    caller.data_mut().push(left);
                    if i == 3 {
                        caller.set_fuel(left / 2)?;
                    }
                    Ok(i + 1)
                },
            )
            .unwrap();
        let engine = engine.clone();
        Program {
            engine,
            module,
            linker,
        }
    }

    fn run(&self, fuel: u64, n: i32, end: i32) -> (End, Vec<u64>) {
        let mut store = Store::new(&self.engine, Vec::new());
        let i = self.linker.instantiate(&mut store, &self.module).unwrap();
        store.set_fuel(fuel).unwrap();
        let run = i.get_func(&store, "run").unwrap();
        let run = run.typed::<(i32, i32), i32>(&store).unwrap();
        let result = run.call(&mut store, (n, end)).map_err(|error| {
            let trap = error.trap().unwrap_or_else(|| panic!("{error}"));
            let frames = trap.frames.iter().map(|f| (f.func_index, f.offset));
            (trap.code, frames.collect())
        });
        let memory = i.get_memory(&store, "memory").unwrap();
        let end = End {
            result,
            left: store.get_fuel().unwrap(),
            memory: memory.data(&store)[..4096].to_vec(),
        };
        (end, store.data().clone())
    }
}

#[test]
fn the_same_fuel_ends_at_the_same_place() {
    // One iteration takes some 400; a number without pattern between two tries.
    let fuels: Vec<u64> = (0..150).map(|i| i * 17).chain([100_000]).collect();
    let runs = [(9, -1), (9, 4), (7, -1)];
    let mut first: Option<Vec<(End, Vec<u64>)>> = None;
    for (name, engine) in engines() {
        let program = Program::new(&engine);
        let ends: Vec<_> = runs
            .iter()
            .flat_map(|(n, end)| fuels.iter().map(|fuel| (*fuel, *n, *end)))
            .map(|(fuel, n, end)| program.run(fuel, n, end))
            .collect();
        match &first {
            None => {
                let out = ends
                    .iter()
                    .filter(|(end, _)| matches!(end.result, Err((TrapCode::OutOfFuel, _))));
                assert!(out.count() > 100, "most run out of it");
                first = Some(ends);
            }
            Some(first) => {
                for (at, (a, b)) in first.iter().zip(&ends).enumerate() {
                    let (run, fuel) = (runs[at / fuels.len()], fuels[at % fuels.len()]);
                    assert_eq!(a.0.result, b.0.result, "{name}: {run:?}, {fuel}");
                    assert_eq!(a.0.left, b.0.left, "{name}: {run:?}, {fuel}");
                    assert_eq!(a.1, b.1, "{name}: {run:?}, {fuel}: seen by the host");
                    assert!(a.0.memory == b.0.memory, "{name}: {run:?}, {fuel}: memory");
                }
            }
        }
    }
}

fn used(wat: &str, fuel: u64) -> (Result<()>, u64) {
    let engine = Engine::new(&Config::new().consume_fuel(true)).unwrap();
    let module = Module::new(&engine, wat::parse_str(wat).unwrap()).unwrap();
    let mut store = Store::new(&engine, ());
    let i = Instance::new(&mut store, &module, &[]).unwrap();
    store.set_fuel(fuel).unwrap();
    let f = i.get_func(&store, "f").unwrap();
    let result = f.call(&mut store, &[], &mut []);
    (result, fuel - store.get_fuel().unwrap())
}

#[test]
fn what_is_taken_is_what_the_documentation_says() {
    for (body, cost) in [
        ("", 1),
        ("(nop)", 1),
        ("(drop (i32.const 1))", 2),
        ("(call $g)", 3),
        ("(call_ref $none (ref.func $g))", 4),
        ("(call_indirect (type $none) (i32.const 9))", 4),
        ("(return_call_ref $none (ref.func $g))", 4),
        ("(block (br 0) (drop (i32.const 1)))", 2),
        (
            "(if (i32.const 0) (then (drop (i32.const 1))) (else nop))",
            3,
        ),
        (
            "(if (i32.const 1) (then (drop (i32.const 1))) (else nop))",
            4,
        ),
        // What was consumed up to the exception is gone: a handler goes on behind it.
        ("(block $h (try_table (catch $e $h) (call $throws)))", 4),
        ("(block $h (try_table (catch $e $h) (call $passes)))", 6),
        ("try (call $throws) catch $e end", 4),
        ("try (call $passes) catch_all end", 6),
        (
            "try (throw $e) catch $e (drop (i32.const 1)) catch_all end",
            3,
        ),
        (
            "try try (call $throws) catch $e (rethrow 0) end catch_all end",
            5,
        ),
        ("try try (call $throws) delegate 0 catch_all end", 4),
        // Each time: the head, get, const, sub, tee, br_if.
        (
            "(local i32) (local.set 0 (i32.const 10))
             (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))",
            3 + 10 * 6,
        ),
        (
            "(memory.fill (i32.const 0) (i32.const 0) (i32.const 800))",
            5 + 100,
        ),
        (
            "(table.fill (i32.const 0) (ref.null func) (i32.const 9))",
            5 + 9,
        ),
    ] {
        let wat = format!(
            r#"(module (memory 1) (table 10 funcref) (tag $e) (type $none (func))
              (func $g) (elem (i32.const 9) $g)
              (func $throws (throw $e)) (func $passes (call $throws))
              (func (export "f") {body}))"#
        );
        let (result, taken) = used(&wat, 1000);
        result.unwrap();
        assert_eq!(taken, cost, "{body}");
        used(&wat, cost).0.unwrap();
        if body.contains("loop") || body.contains("fill") || body.contains("call") {
            assert!(used(&wat, 1).0.is_err(), "{body}");
        }
    }
}

#[test]
fn bulk_operations_are_not_begun_without_fuel() {
    let wat = r#"(module (memory 2) (func (export "f")
      (memory.fill (i32.const 0) (i32.const 1) (i32.const 131072))))"#;
    let error = used(wat, 16_000).0.unwrap_err();
    assert_eq!(error.trap().unwrap().code, TrapCode::OutOfFuel);
    used(wat, 17_000).0.unwrap();
    // A length beyond all is no fuel that is won.
    let wat = r#"(module (memory i64 1) (table i64 1 funcref) (func (export "f")
      (table.fill (i64.const 0) (ref.null func) (i64.const -1))))"#;
    let error = used(wat, 1000).0.unwrap_err();
    assert_eq!(error.trap().unwrap().code, TrapCode::OutOfFuel);
}

#[test]
fn a_store_begins_with_what_the_engine_says() {
    let wat = r#"(module (func $s (loop (br_if 0 (i32.const 0)))) (start $s)
      (func (export "f") (loop (br 0))))"#;
    let engine = |fuel| {
        let config = Config::new().consume_fuel(true).initial_fuel(fuel);
        Engine::new(&config).unwrap()
    };
    let none = engine(0);
    let module = Module::new(&none, wat::parse_str(wat).unwrap()).unwrap();
    let error = Instance::new(Store::new(&none, ()), &module, &[]).unwrap_err();
    assert_eq!(error.trap().unwrap().code, TrapCode::OutOfFuel);
    assert!(
        error
            .to_string()
            .starts_with("all fuel consumed in s (function 0) at 0x"),
        "{error}"
    );
    let some = engine(100);
    let module = Module::new(&some, wat::parse_str(wat).unwrap()).unwrap();
    let pool = Pool::new(&Linker::new(&some), &module, PoolLimits::default()).unwrap();
    for _ in 0..3 {
        let mut lease = pool.instantiate(()).unwrap();
        assert_eq!(lease.get_fuel().unwrap(), 96);
        let f = lease.instance().get_func(&lease, "f").unwrap();
        let error = f.call(&mut lease, &[], &mut []).unwrap_err();
        assert_eq!(error.trap().unwrap().code, TrapCode::OutOfFuel);
        assert_eq!(lease.get_fuel().unwrap(), 0);
    }
    let plain = Engine::new(&Config::new()).unwrap();
    let mut store = Store::new(&plain, ());
    assert!(store.set_fuel(1).is_err() && store.get_fuel().is_err());
}
