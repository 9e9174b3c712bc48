//! Functions that are translated in the place of their calls, one in the other, do what they do
//! when they are called: programs of small functions that call each other, drawn by chance, end
//! alike with inlining and without, with the same frames, fuel, memory and objects.
//!
//! `FATHOM_INLINING=20000 cargo test --test inlining` draws so many programs.

mod common;

use fathom_engine::*;

use common::numbers;

/// Programs of a plain run.
const PROGRAMS: u64 = 60;
/// Small functions of each.
const FUNCS: usize = 12;
/// Ends what calls itself without end, and before the stack does.
const FUEL: u64 = 3000;

/// Writes one program.
struct Writer<F> {
    /// A number below another.
    number: F,
}

impl<F: FnMut(usize) -> usize> Writer<F> {
    /// Two parameters or a local.
    fn local(&mut self) -> usize {
        (self.number)(3)
    }

    /// Something that gives an i32, of no more than so many levels.
    fn value(&mut self, levels: usize) -> String {
        if levels == 0 {
            return match (self.number)(3) {
                0 => format!("(i32.const {})", (self.number)(9)),
                _ => format!("(local.get {})", self.local()),
            };
        }
        let levels = levels - 1;
        let (one, other) = (self.value(levels), self.value(levels));
        let func = (self.number)(FUNCS);
        match (self.number)(16) {
            0 => format!("(i32.add {one} {other})"),
            1 => format!("(i32.sub {one} {other})"),
            2 => format!("(i32.div_s {one} {other})"),
            3 => format!("(i32.load8_u offset=65530 {one})"),
            4 => format!("(local.tee {} {one})", self.local()),
            5 => format!("(block (result i32) (br_if 0 {one} {other}) (drop) {other})"),
            6 => format!("(if (result i32) {one} (then (return {other})) (else {one}))"),
            7 => format!("(call $bump {one})"),
            8 => format!("(call_indirect (type $f) {one} {other} (i32.const {func}))"),
            9 => format!("(call $throws {one})"),
            10 => format!("(call $get (call $new {one}))"),
            _ => format!("(call $f{func} {one} {other})"),
        }
    }

    fn program(&mut self) -> String {
        let levels = |at: usize| 1 + at % 3;
        let small = |at: usize| {
            let body = self.value(levels(at));
            format!("(func $f{at} (type $f) (local i32) {body})\n")
        };
        let funcs: String = (0..FUNCS).map(small).collect();
        let names: String = (0..FUNCS).map(|at| format!(" $f{at}")).collect();
        let (first, second, third) = (self.value(2), self.value(3), self.value(3));
        format!(
            r#"(module
            (type $f (func (param i32 i32) (result i32)))
            (type $object (struct (field i32)))
            (memory (export "memory") 1)
            (global $count (export "count") (mut i32) (i32.const 0))
            (tag $e (param i32))
            (table funcref (elem {names}))
            (func $bump (param i32) (result i32)
              (global.set $count (i32.add (global.get $count) (local.get 0)))
              (i32.store offset=65532 (i32.and (local.get 0) (i32.const 7)) (global.get $count))
              (global.get $count))
            (func $throws (param i32) (result i32)
              (if (i32.eq (i32.const 3) (i32.and (local.get 0) (i32.const 3)))
                (then (throw $e (local.get 0))))
              (i32.const 1))
            (func $new (param i32) (result (ref null $object))
              (if (i32.eqz (local.get 0)) (then (return (ref.null $object))))
              (struct.new $object (local.get 0)))
            (func $get (param (ref null $object)) (result i32)
              (struct.get $object 0 (local.get 0)))
            {funcs}
            (func (export "plain") (type $f) (local i32) (i32.add {first} {second}))
            (func (export "caught") (type $f) (local i32)
              (block $h (result i32)
                (try_table (result i32) (catch $e $h) (i32.add {third} {second}))
                (return))
              (i32.const 1000) (i32.add)))"#
        )
    }
}

/// How a call ended and what it left; the frames of a trap with their offsets.
fn ends(engine: &Engine, wasm: &[u8]) -> Vec<String> {
    let module = Module::new(engine, wasm).unwrap();
    let call = |(name, arg): (&str, i32)| {
        let mut store = Store::new(engine, ());
        let i = Instance::new(&mut store, &module, &[]).unwrap();
        store.set_fuel(FUEL).unwrap();
        let func = i.get_func(&store, name).unwrap();
        let func = func.typed::<(i32, i32), i32>(&store).unwrap();
        let end = match func.call(&mut store, (arg, 3 - arg)) {
            Ok(result) => result.to_string(),
            Err(error) => match error.trap() {
                Some(trap) => {
                    let frames = trap.frames.iter().map(|f| (f.func_index, f.offset));
                    format!("{:?} {:?}", trap.code, frames.collect::<Vec<_>>())
                }
                None => "exception".to_owned(),
            },
        };
        let memory = i.get_memory(&store, "memory").unwrap();
        // All that the programs write to.
        let memory = memory.data(&store)[65_528..].to_vec();
        let count = i.get_global(&store, "count").unwrap().get(&mut store);
        format!(
            "{end}; {:?} {memory:?} {count:?}",
            store.get_fuel().unwrap()
        )
    };
    let names = ["plain", "caught"];
    let calls = names
        .iter()
        .flat_map(|name| (-1..4).map(move |arg| (*name, arg)));
    calls.map(call).collect()
}

/// Each strategy, with inlining, and one without.
fn engines() -> (Engine, Vec<(Bounds, Engine)>) {
    let config = || Config::new().consume_fuel(true);
    let calling = Engine::new(&config().inline(false)).unwrap();
    let exact = |bounds: &Bounds| bounds.guarantee() == Guarantee::Exact;
    let inlining = Bounds::forms_for(false).filter(exact).filter_map(|bounds| {
        let config = config().bounds(BoundsChoice::Named(bounds));
        let engine = common::engine_with(config, bounds, "(module (memory 1))")?;
        Some((bounds, engine))
    });
    (calling, inlining.collect())
}

#[test]
fn inlined_or_called_is_the_same() {
    let programs = std::env::var("FATHOM_INLINING");
    let programs = programs.map_or(PROGRAMS, |text| text.parse().unwrap());
    let (calling, inlining) = engines();
    // Exceptions, what ran out of fuel, and traps below calls.
    let mut seen = [0; 3];
    for seed in 0..programs {
        let mut writer = Writer {
            number: numbers(seed),
        };
        let text = writer.program();
        let wasm = wat::parse_str(&text).unwrap();
        let expected = ends(&calling, &wasm);
        for (at, kind) in ["exception", "OutOfFuel", "), ("].iter().enumerate() {
            seen[at] += expected.iter().filter(|end| end.contains(kind)).count();
        }
        for (bounds, engine) in &inlining {
            assert_eq!(
                ends(engine, &wasm),
                expected,
                "{bounds}, seed {seed}\n{text}"
            );
        }
    }
    let [exceptions, out_of_fuel, deep] = seen;
    let calls = programs as usize * 10;
    assert!(
        exceptions > calls / 60 && out_of_fuel > calls / 10 && deep > calls / 2,
        "{seen:?} of {calls}"
    );
}
