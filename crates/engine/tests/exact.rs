//! Exact strategies are exact about order, too: a store that traps does so before
//! anything behind it is begun, be that a loop that never ends, and what was stored
//! before is there, at whatever a call ends.
//!
//! A failure would be a call that does not end, so each is interrupted when it takes
//! too long.

mod common;

use std::sync::mpsc;
use std::time::Duration;

use fathom_engine::*;

/// How long a call may take that is to end by itself.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long one is left in its loop that is to be interrupted.
const MEANWHILE: Duration = Duration::from_millis(15);

/// A store, something that goes on for ever if `$n` is not 0, and a store to the same
/// place: `ty` is the type of indices.
const SHAPES: [(&str, &str); 11] = [
    (
        "a loop",
        "(i32.store $m (local.get $p) (i32.const 1))
         (loop $l (br_if $l (local.get $n)))
         (i32.store $m (local.get $p) (i32.const 2))",
    ),
    (
        "a loop with an end inside",
        "(i64.store $m (local.get $p) (i64.const 1))
         (block $out (loop $l (br_if $out (i32.eqz (local.get $n))) (br $l)))
         (i64.store $m (local.get $p) (i64.const 2))",
    ),
    (
        "a loop without an end, on one way",
        "(i32.store $m (local.get $p) (i32.const 1))
         (if (local.get $n) (then (loop $l (br $l))))
         (i32.store $m (local.get $p) (i32.const 2))",
    ),
    (
        "a table's way into a loop",
        "(f64.store $m (local.get $p) (f64.const 1))
         (block $out (block $in (br_table $out $in (local.get $n))) (loop $l (br $l)))
         (f64.store $m (local.get $p) (f64.const 2))",
    ),
    (
        "a loop that computes",
        "(i32.store $m (local.get $p) (i32.const 1))
         (loop $l
           (local.set $i (i32.add (i32.mul (local.get $i) (i32.const 5)) (i32.const 3)))
           (br_if $l (i32.or (local.get $n) (i32.lt_u (local.get $i) (i32.const 100)))))
         (i32.store $m (local.get $p) (local.get $i))",
    ),
    (
        "a loop that reads a global",
        "(v128.store $m (local.get $p) (v128.const i64x2 1 1))
         (loop $l (br_if $l (i32.and (local.get $n) (i32.eqz (global.get $g)))))
         (v128.store $m (local.get $p) (v128.const i64x2 2 2))",
    ),
    (
        "loops in loops",
        "(i32.store16 $m offset=1 (local.get $p) (i32.const 1))
         (loop $l
           (local.set $i (i32.const 3))
           (loop $k (br_if $k (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
           (br_if $l (local.get $n)))
         (i32.store16 $m offset=1 (local.get $p) (i32.const 2))",
    ),
    (
        "a loop with parameters",
        "(i32.store $m (local.get $p) (i32.const 1))
         (i32.const 5)
         (loop $l (param i32) (result i32)
           (i32.add (i32.const 1)) (br_if $l (local.get $n)))
         (local.set $i)
         (i32.store $m (local.get $p) (local.get $i))",
    ),
    (
        "small functions that store",
        "(call $put (local.get $p) (i32.const 1))
         (loop $l (br_if $l (local.get $n)))
         (call $put (local.get $p) (i32.const 2))",
    ),
    (
        "one more store of each kind",
        "(i32.store $m (local.get $p) (i32.const 1))
         (loop $l (br_if $l (local.get $n)))
         (global.set $g (i32.const 7))
         (table.set $t (i32.const 0) (ref.null func))
         (i32.store $m (local.get $p) (i32.const 2))",
    ),
    (
        "a loop, and one more in front of the end",
        "(i32.store $m (local.get $p) (i32.const 1))
         (loop $l (br_if $l (local.get $n)))
         (loop $k (br_if $k (local.get $n)))
         (i32.store $m (local.get $p) (i32.const 2))",
    ),
];

/// The shapes as functions "0", "1" and so on; and one whose loop never ends if its
/// parameter is not 0, between stores of each kind.
fn wat(memory64: bool) -> String {
    let ty = if memory64 { "i64" } else { "i32" };
    let declared = if memory64 { "i64 1 1" } else { "1 1" };
    let mut funcs = String::new();
    for (at, (_, body)) in SHAPES.iter().enumerate() {
        funcs += &format!(
            "(func (export \"{at}\") (param $p {ty}) (param $n i32) (local $i i32) {body})\n"
        );
    }
    let stores = |number: u32, element: &str| {
        format!(
            "(i32.store $m ({ty}.const 64) (i32.const {number}))
             (i32.store8 $m offset=2 ({ty}.const 80) (i32.const {number}))
             (global.set $g (i32.const {number}))
             (global.set $ig (i32.const {number}))
             (table.set $t (i32.const 0) {element})
             (table.set $it (i32.const 0) {element})"
        )
    };
    format!(
        r#"(module
          (import "host" "global" (global $ig (mut i32)))
          (import "host" "table" (table $it 1 1 funcref))
          (memory $m (export "memory") {declared})
          (global $g (export "global") (mut i32) (i32.const 0))
          (table $t (export "table") 1 1 funcref)
          (elem declare func $put)
          (func $put (param {ty} i32) (i32.store $m (local.get 0) (local.get 1)))
          {funcs}
          (func (export "kept") (param $n i32)
            {}
            (loop $l (br_if $l (local.get $n)))
            {}))"#,
        stores(1, "(ref.func $put)"),
        stores(2, "(ref.null func)"),
    )
}

/// Each engine whose strategy for these memories is exact.
fn each(memory64: bool, test: impl Fn(&Engine, &Module, &str)) {
    let wat = wat(memory64);
    let exact = |bounds: &Bounds| bounds.guarantee() == Guarantee::Exact;
    for bounds in Bounds::forms_for(memory64).filter(exact) {
        for opt in Opt::ALL {
            for elide in [Elide::Off, Elide::Loops] {
                let choice = BoundsChoice::Named(bounds);
                let config = Config::new().opt(opt).elide(elide);
                let config = match memory64 {
                    true => config.bounds64(choice),
                    false => config.bounds(choice),
                };
                let Some(engine) = common::engine_with(config, bounds, &wat) else {
                    continue;
                };
                let module = Module::new(&engine, wat::parse_str(&wat).unwrap()).unwrap();
                let name = format!(
                    "{bounds} --opt {opt} --elide {elide}, {} bits",
                    if memory64 { 64 } else { 32 }
                );
                test(&engine, &module, &name);
            }
        }
    }
}

struct Running {
    store: Store<()>,
    instance: Instance,
    global: Global,
    table: Table,
}

fn start(engine: &Engine, module: &Module) -> Running {
    let mut store = Store::new(engine, ());
    let imports: Vec<Extern> = module
        .imports()
        .map(|(_, _, ty)| match ty {
            ExternType::Global(ty) => Global::new(&mut store, ty, Val::I32(0)).unwrap().into(),
            ExternType::Table(ty) => Table::new(&mut store, ty, Val::FuncRef(None))
                .unwrap()
                .into(),
            other => panic!("imports {other:?}"),
        })
        .collect();
    let instance = Instance::new(&mut store, module, &imports).unwrap();
    let global = imports[0].into_global().unwrap();
    let table = imports[1].into_table().unwrap();
    Running {
        store,
        instance,
        global,
        table,
    }
}

impl Running {
    /// How the call of an export ends that is interrupted after a while.
    fn call(&mut self, name: &str, args: &[Val], patience: Duration) -> Option<TrapCode> {
        let func = self.instance.get_func(&self.store, name).unwrap();
        let interrupt = Interrupt::new();
        self.store.set_interrupt(&interrupt);
        let (done, is_done) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                if is_done.recv_timeout(patience).is_err() {
                    interrupt.stop(PATIENCE);
                }
            });
            let result = func.call(&mut self.store, args, &mut []);
            // Nobody listens where it was interrupted.
            let _ = done.send(());
            result.err().map(|error| error.trap().expect("a trap").code)
        })
    }

    fn byte(&self, at: usize) -> u8 {
        let memory = self.instance.get_memory(&self.store, "memory").unwrap();
        memory.data(&self.store)[at]
    }

    fn number(&self, global: &Global) -> i32 {
        match global.get(&self.store) {
            Val::I32(number) => number,
            other => panic!("{other:?}"),
        }
    }

    fn is_null(&self, table: &Table) -> bool {
        matches!(table.get(&self.store, 0), Some(Val::FuncRef(None)))
    }
}

#[test]
fn a_store_traps_before_an_endless_loop() {
    for memory64 in [false, true] {
        each(memory64, |engine, module, name| {
            let mut running = start(engine, module);
            let index = |at: i64| match memory64 {
                true => Val::I64(at),
                false => Val::I32(at as i32),
            };
            for (at, (shape, _)) in SHAPES.iter().enumerate() {
                for place in [65_534, 65_536, -1] {
                    let args = [index(place), Val::I32(1)];
                    let ended = running.call(&at.to_string(), &args, PATIENCE);
                    let expected = Some(TrapCode::MemoryOutOfBounds);
                    assert_eq!(ended, expected, "{shape} at {place} under {name}");
                }
                // In bounds it does what it says.
                let ended = running.call(&at.to_string(), &[index(64), Val::I32(0)], PATIENCE);
                assert_eq!(ended, None, "{shape} under {name}");
            }
            assert!((65_530..65_536).all(|at| running.byte(at) == 0), "{name}");
        });
    }
}

#[test]
fn what_was_stored_before_an_endless_loop_is_there() {
    for memory64 in [false, true] {
        each(memory64, |engine, module, name| {
            let mut running = start(engine, module);
            let own = running.instance.get_export(&running.store, "global");
            let own = own.unwrap().into_global().unwrap();
            let table = running.instance.get_export(&running.store, "table");
            let table = table.unwrap().into_table().unwrap();
            for (n, number, patience) in [(0, 2, PATIENCE), (1, 1, MEANWHILE)] {
                let ended = running.call("kept", &[Val::I32(n)], patience);
                assert_eq!(ended, (n == 1).then_some(TrapCode::Interrupted), "{name}");
                assert_eq!(i32::from(running.byte(64)), number, "{name}");
                assert_eq!(i32::from(running.byte(82)), number, "{name}");
                assert_eq!(running.number(&own), number, "{name}");
                assert_eq!(running.number(&running.global), number, "{name}");
                assert_eq!(running.is_null(&table), number == 2, "{name}");
                assert_eq!(running.is_null(&running.table), number == 2, "{name}");
            }
        });
    }
}
