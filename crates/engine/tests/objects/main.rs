//! Structures and arrays: what is referred to stays, what is not goes, wherever the
//! references are, and a heap is no larger than it may be.

mod host;
mod limits;
mod reuse;
mod roots;
mod steps;
#[path = "../common/ways.rs"]
mod ways;

use fathom_engine::*;
use ways::Way;

/// Bytes between two collections: at every allocation, at every few blocks, as it is by
/// default.
const STEPS: [u64; 3] = [0, 64 << 10, 4 << 20];

fn config(step: u64) -> Config {
    Config::new().collection_bytes(step)
}

/// Engines for every way to compile that is here, with every step.
fn each(test: impl Fn(&Engine, u64)) {
    for way in Way::all_and_llvm() {
        for step in STEPS {
            // Each function is a process of clang's there.
            if way.codegen == Codegen::TieredLlvm && step > 0 {
                continue;
            }
            eprintln!("{way}, {step} bytes");
            test(&Engine::new(&way.of(config(step))).unwrap(), step);
        }
    }
}

fn instance(engine: &Engine, store: &mut Store<()>, wat: &str) -> Instance {
    let module = Module::new(engine, wat::parse_str(wat).unwrap()).unwrap();
    Instance::new(store, &module, &[]).unwrap()
}

fn call(store: &mut Store<()>, instance: &Instance, name: &str, args: &[Val]) -> Result<Val> {
    let func = instance.get_func(&*store, name).unwrap();
    let count = func.ty(&*store).results().len();
    let mut results = vec![Val::I32(0); count];
    func.call(&mut *store, args, &mut results)?;
    Ok(results.pop().unwrap_or(Val::I32(0)))
}

fn trap_of(result: Result<Val>) -> TrapCode {
    result.unwrap_err().trap().expect("a trap").code
}

/// A balanced tree, made and counted again and again beside one that stays.
const TREES: &str = r#"(module
  (type $node (struct (field $left (mut (ref null $node))) (field $right (ref null $node))
    (field $tag i64)))
  (global $kept (mut (ref null $node)) (ref.null $node))
  (func $make (param $depth i32) (result (ref $node))
    (if (result (ref $node)) (i32.eqz (local.get $depth))
      (then (struct.new $node (ref.null $node) (ref.null $node) (i64.const 1)))
      (else (struct.new $node
        (call $make (i32.sub (local.get $depth) (i32.const 1)))
        (call $make (i32.sub (local.get $depth) (i32.const 1)))
        (i64.const 1)))))
  (func $count (param $node (ref null $node)) (result i64)
    (if (result i64) (ref.is_null (local.get $node))
      (then (i64.const 0))
      (else (i64.add (struct.get $node $tag (local.get $node)) (i64.add
        (call $count (struct.get $node $left (local.get $node)))
        (call $count (struct.get $node $right (local.get $node))))))))
  (func (export "keep") (param $depth i32) (global.set $kept (call $make (local.get $depth))))
  (func (export "kept") (result i64) (call $count (global.get $kept)))
  (func (export "drop") (global.set $kept (ref.null $node)))
  (func (export "churn") (param $depth i32) (param $times i32) (result i64)
    (local $sum i64)
    (loop $again
      (local.set $sum (i64.add (local.get $sum) (call $count (call $make (local.get $depth)))))
      (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
    (local.get $sum)))"#;

#[test]
fn what_is_referred_to_stays_and_what_is_not_goes() {
    each(|engine, step| {
        let mut store = Store::new(engine, ());
        let trees = instance(engine, &mut store, TREES);
        let (kept, depth, times) = if step == 0 { (6, 5, 4) } else { (12, 10, 300) };
        call(&mut store, &trees, "keep", &[Val::I32(kept)]).unwrap();
        let nodes = |depth: i32| (2i64 << depth) - 1;
        let args = [Val::I32(depth), Val::I32(times)];
        let sum = call(&mut store, &trees, "churn", &args).unwrap();
        assert_eq!(sum.unwrap_i64(), nodes(depth) * i64::from(times));
        let sum = call(&mut store, &trees, "kept", &[]).unwrap();
        assert_eq!(sum.unwrap_i64(), nodes(kept));
        let stats = store.heap_stats();
        assert!(stats.pauses.count() > 0, "{stats:?}");
        assert!(stats.heap_bytes < 16 << 20, "{stats:?}");
        call(&mut store, &trees, "drop", &[]).unwrap();
        store.collect();
        let live = store.heap_stats().live_bytes;
        assert!(live < 16 << 10, "{live} bytes are live");
    });
}

/// Cells that refer to one another at random, beside a model of them: each has a number,
/// and references are changed, cells replaced and sums compared.
const GRAPH: &str = r#"(module
  (type $cell (sub (struct (field $number i32) (field $next (mut (ref null $cell))))))
  (type $wide (sub final $cell (struct (field $number i32) (field $next (mut (ref null $cell)))
    (field $more (mut i64)) (field $other (mut (ref null $cell))))))
  (type $cells (array (mut (ref null $cell))))
  (global $cells (mut (ref null $cells)) (ref.null $cells))
  (func (export "begin") (param $count i32)
    (global.set $cells (array.new_default $cells (local.get $count))))
  (func (export "put") (param $at i32) (param $number i32) (param $from i32)
    (array.set $cells (global.get $cells) (local.get $at)
      (if (result (ref $cell)) (i32.and (local.get $number) (i32.const 1))
        (then (struct.new $wide (local.get $number)
          (array.get $cells (global.get $cells) (local.get $from)) (i64.const 7)
          (array.get $cells (global.get $cells) (local.get $at))))
        (else (struct.new $cell (local.get $number)
          (array.get $cells (global.get $cells) (local.get $from)))))))
  (func (export "cut") (param $at i32)
    (local $cell (ref null $cell))
    (local.set $cell (array.get $cells (global.get $cells) (local.get $at)))
    (if (i32.eqz (ref.is_null (local.get $cell)))
      (then (struct.set $cell $next (local.get $cell) (ref.null $cell)))))
  (func (export "sum") (param $at i32) (result i32)
    (local $cell (ref null $cell)) (local $sum i32) (local $steps i32)
    (local.set $cell (array.get $cells (global.get $cells) (local.get $at)))
    (block $end
      (loop $again
        (br_if $end (ref.is_null (local.get $cell)))
        (br_if $end (i32.ge_u (local.get $steps) (i32.const 64)))
        (local.set $steps (i32.add (local.get $steps) (i32.const 1)))
        (local.set $sum (i32.add (i32.mul (local.get $sum) (i32.const 31))
          (struct.get $cell $number (local.get $cell))))
        (local.set $cell
          (block $narrow (result (ref null $cell))
            (block $wide (result (ref $wide))
              (br_on_cast $wide (ref null $cell) (ref $wide) (local.get $cell))
              (br $narrow (struct.get $cell $next)))
            (drop (struct.get $wide $more))
            (struct.get $cell $next (local.get $cell))))
        (br $again)))
    (local.get $sum)))"#;

/// Cells by number in the order of their making: (number, next).
#[derive(Default)]
struct Cells {
    made: Vec<(i32, Option<usize>)>,
    at: Vec<Option<usize>>,
}

impl Cells {
    fn put(&mut self, at: usize, number: i32, from: usize) {
        self.made.push((number, self.at[from]));
        self.at[at] = Some(self.made.len() - 1);
    }

    fn cut(&mut self, at: usize) {
        if let Some(cell) = self.at[at] {
            self.made[cell].1 = None;
        }
    }

    fn sum(&self, at: usize) -> i32 {
        let mut sum = 0i32;
        let mut cell = self.at[at];
        for _ in 0..64 {
            let Some(index) = cell else { break };
            let (number, next) = self.made[index];
            sum = sum.wrapping_mul(31).wrapping_add(number);
            cell = next;
        }
        sum
    }
}

#[test]
fn a_graph_is_what_a_model_says() {
    each(|engine, step| {
        let mut store = Store::new(engine, ());
        let graph = instance(engine, &mut store, GRAPH);
        let count = 40;
        let turns = if step == 0 { 3_000 } else { 60_000 };
        call(&mut store, &graph, "begin", &[Val::I32(count)]).unwrap();
        let mut cells = Cells {
            at: vec![None; count as usize],
            ..Cells::default()
        };
        let typed = |name: &str, store: &mut Store<()>| {
            graph
                .get_typed_func::<(i32, i32, i32), ()>(&*store, name)
                .unwrap()
        };
        let put = typed("put", &mut store);
        let cut = graph.get_typed_func::<i32, ()>(&store, "cut").unwrap();
        let sum = graph.get_typed_func::<i32, i32>(&store, "sum").unwrap();
        let mut random = 0x9e37_79b9_u64;
        let mut below = |bound: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((random >> 33) % bound) as i32
        };
        for turn in 0..turns {
            let (at, from) = (below(count as u64), below(count as u64));
            match below(8) {
                0 => {
                    cut.call(&mut store, at).unwrap();
                    cells.cut(at as usize);
                }
                1 => {
                    let found = sum.call(&mut store, at).unwrap();
                    assert_eq!(found, cells.sum(at as usize), "turn {turn}");
                }
                _ => {
                    put.call(&mut store, (at, turn, from)).unwrap();
                    cells.put(at as usize, turn, from as usize);
                }
            }
        }
        for at in 0..count {
            assert_eq!(sum.call(&mut store, at).unwrap(), cells.sum(at as usize));
        }
    });
}

/// References in every kind of place, while others are made.
const PLACES: &str = r#"(module
  (type $box (struct (field $value (mut i64))))
  (type $boxes (array (mut (ref null $box))))
  (type $any (struct (field $any anyref) (field $extern externref)))
  (table $table 4 anyref)
  (table $externs 4 externref)
  (global $global (mut anyref) (ref.null any))
  (global $first (ref $box) (struct.new $box (i64.const 1)))
  (elem $segment (ref $box) (struct.new $box (i64.const 2)))
  (tag $tag (param (ref $box)))
  (func $noise (param $count i32)
    (loop $again
      (drop (struct.new $box (i64.const 99)))
      (drop (array.new_default $boxes (i32.const 100)))
      (br_if $again (local.tee $count (i32.sub (local.get $count) (i32.const 1))))))
  (func $of (param (ref null any)) (result i64)
    (struct.get $box $value (ref.cast (ref $box) (local.get 0))))
  (func (export "local") (param $count i32) (result i64)
    (local $box (ref null $box)) (local $boxes (ref null $boxes))
    (local.set $box (struct.new $box (i64.const 3)))
    (local.set $boxes (array.new $boxes (struct.new $box (i64.const 4)) (i32.const 3000)))
    (call $noise (local.get $count))
    (i64.add (struct.get $box $value (local.get $box))
      (struct.get $box $value (array.get $boxes (local.get $boxes) (i32.const 2999)))))
  (func (export "operand") (param $count i32) (result i64)
    (struct.new $box (i64.const 5))
    (call $noise (local.get $count))
    (struct.get $box $value))
  (func (export "table") (param $count i32) (result i64)
    (table.set $table (i32.const 1) (struct.new $box (i64.const 6)))
    (call $noise (local.get $count))
    (call $of (table.get $table (i32.const 1))))
  (func (export "extern") (param $count i32) (result i64)
    (table.set $externs (i32.const 1) (extern.convert_any (struct.new $box (i64.const 7))))
    (call $noise (local.get $count))
    (call $of (any.convert_extern (table.get $externs (i32.const 1)))))
  (func (export "field") (param $count i32) (result i64)
    (global.set $global (struct.new $any (struct.new $box (i64.const 8))
      (extern.convert_any (struct.new $box (i64.const 80)))))
    (call $noise (local.get $count))
    (i64.add
      (call $of (struct.get $any $any (ref.cast (ref $any) (global.get $global))))
      (call $of (any.convert_extern
        (struct.get $any $extern (ref.cast (ref $any) (global.get $global)))))))
  (func (export "segment") (param $count i32) (result i64)
    (call $noise (local.get $count))
    (i64.add (struct.get $box $value (global.get $first))
      (struct.get $box $value (array.get $boxes
        (array.new_elem $boxes $segment (i32.const 0) (i32.const 1)) (i32.const 0)))))
  (func (export "exception") (param $count i32) (result i64)
    (local $exn exnref)
    (block $caught (result (ref $box) exnref)
      (try_table (catch_ref $tag $caught) (throw $tag (struct.new $box (i64.const 9))))
      (unreachable))
    (local.set $exn)
    (drop)
    (call $noise (local.get $count))
    (block $again (result (ref $box))
      (try_table (catch $tag $again) (throw_ref (local.get $exn)))
      (unreachable))
    (struct.get $box $value))
  (func (export "inside") (param $count i32) (result i64)
    ;; An element's address may be all that is left of the array between the two.
    (local $boxes (ref null $boxes)) (local $i i32)
    (local.set $boxes (array.new_default $boxes (i32.const 2000)))
    (local.set $i (i32.const 1999))
    (array.set $boxes (local.get $boxes) (local.get $i) (struct.new $box (i64.const 10)))
    (call $noise (local.get $count))
    (struct.get $box $value (array.get $boxes (local.get $boxes) (local.get $i)))))"#;

#[test]
fn a_reference_is_found_wherever_it_is() {
    let expected = [
        ("local", 7),
        ("operand", 5),
        ("table", 6),
        ("extern", 7),
        ("field", 88),
        ("segment", 3),
        ("exception", 9),
        ("inside", 10),
    ];
    each(|engine, step| {
        let mut store = Store::new(engine, ());
        let places = instance(engine, &mut store, PLACES);
        let count = if step == 0 { 40 } else { 20_000 };
        for _ in 0..2 {
            for (name, value) in expected {
                let found = call(&mut store, &places, name, &[Val::I32(count)]).unwrap();
                assert_eq!(found.unwrap_i64(), value, "{name}");
            }
        }
        assert!(store.heap_stats().pauses.count() > 0);
        assert!(store.heap_stats().heap_bytes < 32 << 20);
    });
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_reference_on_the_stack_of_a_continuation_is_found() {
    const WAT: &str = r#"(module
      (type $box (struct (field $value i64)))
      (type $f (func (result i64)))
      (type $c (cont $f))
      (tag $pause)
      (func $noise (param $count i32)
        (loop $again
          (drop (struct.new $box (i64.const 99)))
          (br_if $again (local.tee $count (i32.sub (local.get $count) (i32.const 1))))))
      (elem declare func $body)
      (func $body (result i64)
        (local $box (ref null $box))
        (local.set $box (struct.new $box (i64.const 11)))
        (suspend $pause)
        (struct.get $box $value (local.get $box)))
      (func (export "run") (param $count i32) (result i64)
        (local $c (ref null $c))
        (block $paused (result (ref $c))
          (resume $c (on $pause $paused) (cont.new $c (ref.func $body)))
          (return))
        (local.set $c)
        (call $noise (local.get $count))
        (resume $c (local.get $c))))"#;
    each(|engine, step| {
        let mut store = Store::new(engine, ());
        let conts = instance(engine, &mut store, WAT);
        let count = if step == 0 { 50 } else { 400_000 };
        let found = call(&mut store, &conts, "run", &[Val::I32(count)]).unwrap();
        assert_eq!(found.unwrap_i64(), 11);
        assert!(store.heap_stats().pauses.count() > 0);
    });
}

/// Far fields, at null and not: beyond what is behind null an access is compared with it.
#[test]
fn a_field_far_from_null_traps_at_null() {
    let fields = "(field (mut v128)) ".repeat(9_000);
    let wat = format!(
        r#"(module
          (type $far (struct {fields}))
          (func (export "get") (param $null i32) (param $value i64) (result i64)
            (local $far (ref null $far))
            (if (i32.eqz (local.get $null))
              (then (local.set $far (struct.new_default $far))
                (struct.set $far 8999 (local.get $far) (i64x2.splat (local.get $value)))
                (struct.set $far 4000 (local.get $far) (i64x2.splat (i64.const 5)))))
            (i64x2.extract_lane 1 (struct.get $far 8999 (local.get $far)))))"#
    );
    each(|engine, _| {
        let mut store = Store::new(engine, ());
        let far = instance(engine, &mut store, &wat);
        let found = call(&mut store, &far, "get", &[Val::I32(0), Val::I64(77)]).unwrap();
        assert_eq!(found.unwrap_i64(), 77);
        let result = call(&mut store, &far, "get", &[Val::I32(1), Val::I64(77)]);
        assert_eq!(trap_of(result), TrapCode::NullStructure);
    });
}

#[test]
fn an_instance_of_a_pool_begins_with_what_its_module_says() {
    const WAT: &str = r#"(module
      (type $box (struct (field $value (mut i32))))
      (global $box (export "box") (ref $box) (struct.new $box (i32.const 1)))
      (func (export "next") (result i32)
        (struct.set $box $value (global.get $box)
          (i32.add (struct.get $box $value (global.get $box)) (i32.const 1)))
        (struct.get $box $value (global.get $box))))"#;
    let engine = Engine::new(&config(0)).unwrap();
    let module = Module::new(&engine, wat::parse_str(WAT).unwrap()).unwrap();
    let pool = Pool::new(&Linker::new(&engine), &module, PoolLimits::default()).unwrap();
    let next = pool.func::<(), i32>("next").unwrap();
    for _ in 0..20 {
        let mut instance = pool.instantiate(()).unwrap();
        for expected in 2..5 {
            let found = instance.func(&next).unwrap().call(&mut instance, ());
            assert_eq!(found.unwrap(), expected);
        }
    }
}

#[test]
fn garbage_collection_can_be_turned_off() {
    let config = Config::new().features("-gc".parse().unwrap());
    let engine = Engine::new(&config).unwrap();
    for wat in [
        "(type (struct (field i32)))",
        "(type (array i8))",
        "(type (sub (func)))",
        "(rec (type (func)) (type (func)))",
        "(func (param anyref))",
        "(func (result i32) (local i31ref) i32.const 1)",
        "(func (result i32) i32.const 1 ref.i31 i31.get_u)",
        "(type $t (func)) (func (param funcref) (result i32) local.get 0 ref.test (ref $t))",
        "(table 1 eqref)",
        "(global anyref (ref.null any))",
    ] {
        let wasm = wat::parse_str(format!("(module {wat})")).unwrap();
        let error = Module::new(&engine, &wasm).map(|_| ()).unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("unsupported at offset 0x"),
            "{wat}: {text}"
        );
        assert!(text.ends_with(": gc is turned off"), "{wat}: {text}");
    }
}

/// Makes and fills arrays of one value, and counts the elements that are it.
fn filled(cell: &str, value: &str, get: &str, eq: &str) -> String {
    format!(
        "(module (type $a (array (mut {cell})))
          (global $constant (ref $a) (array.new $a ({value}) (i32.const 30011)))
          (func $count (param $array (ref $a)) (result i32) (local $i i32) (local $n i32)
            (loop $again
              (local.get $array) (local.get $i) {get} {value} {eq}
              local.get $n i32.add local.set $n
              (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1)))
                (array.len (local.get $array)))))
            (local.get $n))
          (func (export \"made\") (result i32) (call $count (global.get $constant)))
          (func (export \"new\") (param $len i32) (result i32)
            (call $count (array.new $a ({value}) (local.get $len))))
          (func (export \"filled\") (param $len i32) (result i32) (local $array (ref $a))
            (local.set $array (array.new_default $a (i32.const 3000)))
            (array.fill $a (local.get $array) (i32.const 7) ({value}) (local.get $len))
            (call $count (local.get $array))))"
    )
}

/// Arrays that are made of one value, by constants and by code, are that value in every element.
#[test]
fn an_array_of_one_value_has_it_everywhere() {
    let cells = [
        ("i8", "i32.const -3", "array.get_s $a", "i32.eq"),
        ("i16", "i32.const 517", "array.get_u $a", "i32.eq"),
        ("f32", "f32.const -1.5", "array.get $a", "f32.eq"),
        ("i64", "i64.const -9", "array.get $a", "i64.eq"),
        (
            "v128",
            "v128.const i64x2 3 -5",
            "array.get $a",
            "i64x2.eq i64x2.all_true",
        ),
    ];
    for (cell, value, get, eq) in cells {
        let wat = filled(cell, value, get, eq);
        each(|engine, _| {
            let mut store = Store::new(engine, ());
            let arrays = instance(engine, &mut store, &wat);
            let mut count = |name: &str, args: &[Val]| {
                let counted = call(&mut store, &arrays, name, args).unwrap();
                counted.unwrap_i32()
            };
            assert_eq!(count("made", &[]), 30_011, "{cell}");
            for len in [1, 2, 511, 2_993] {
                assert_eq!(count("new", &[Val::I32(len)]), len, "{cell}");
                assert_eq!(count("filled", &[Val::I32(len)]), len, "{cell}");
            }
        });
    }
}
