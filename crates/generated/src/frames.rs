//! Functions with frames of random shapes at every depth around the end of a continuation's
//! stack, by Cranelift and in another way.
//!
//! ```text
//!  │ waits │ VmCont │        … function, padding, recursion │ VmCont │
//!    below            end of the stack                    the one that runs
//! ```
//!
//! Recursion moves a function by its frame, padding by 16 bytes each: together they leave
//! every remainder of the stack once. What waits below is resumed after each, with values on
//! its stack.

use std::fmt::Write as _;
use std::path::PathBuf;

use fathom_engine::{Config, Engine, Error, Instance, Linker, Module, Store, TrapCode, Val};

use crate::ours::ways::Way;
use crate::ours::{choice, exact};

#[expect(dead_code, reason = "shapes are made up here, not taken by name")]
#[path = "../../engine/tests/common/frames.rs"]
mod shapes;
use shapes::Kind;

/// Functions with one more value of 16 bytes each: more than recursion takes.
const PADDINGS: usize = 5;
/// Calls into recursion: the smallest stack, at 32 bytes each, and some more.
const DEPTHS: i32 = 140;
/// Below what most frames and their callees need, depths are of no interest.
const DEPTHS_FROM: i32 = 8;
/// Bytes of all stacks together where there are no segments.
const STACK_BYTES: usize = 16 << 10;

/// The same configuration for Cranelift and another way to compile.
pub struct Pair {
    name: String,
    cranelift: Engine,
    other: Engine,
}

/// What was seen.
#[derive(Debug, Default)]
pub struct Seen {
    pub depths: u64,
    /// Depths at which there was no room in the other way.
    pub full: u64,
    /// Functions that Cranelift compiled nevertheless.
    pub kept: u64,
}

/// Under each exact strategy, with segments and without, in each other way that takes its accesses;
/// by this clang or the one that is found.
///
/// # Errors
/// There is no clang.
pub fn pairs(clang: Option<PathBuf>) -> Result<Vec<Pair>, Error> {
    let load = "(module (memory 1) (func (param i32) (drop (i32.load (local.get 0)))))";
    let load = wat::parse_str(load).expect("it is well-formed");
    let mut ways = Way::all();
    ways[0] = Way::llvm(clang);
    let mut all = Vec::new();
    for bounds in exact() {
        for segments in [true, false] {
            let mut config = Config::new().bounds(choice(bounds));
            if !segments {
                config = config.max_wasm_stack(STACK_BYTES);
            }
            for way in &ways {
                let other = Engine::new(&way.of(config.clone()))?;
                if Module::new(&other, &load)?.fallbacks().is_empty() {
                    all.push(Pair {
                        name: format!("{way}, {bounds}, segments: {segments}"),
                        cranelift: Engine::new(&config)?,
                        other,
                    });
                }
            }
        }
    }
    Ok(all)
}

/// A level of a chain.
fn kind(below: &mut impl FnMut(usize) -> usize) -> Kind {
    let ty = ["i64", "f64", "f32", "v128"][below(4)];
    match below(16) {
        0..4 => Kind::Live(ty, 1 + below(60)),
        4..8 => Kind::Wide(14 + below(40)),
        8 => Kind::Arguments(1 + below(40)),
        9 => Kind::Results(1 + below(24)),
        10 => Kind::Tail(1 + below(40)),
        11 => Kind::Caught,
        12 => Kind::Table(2 + below(12)),
        13..15 => Kind::Loop(1 + below(30)),
        _ => [Kind::Host, Kind::Runtime, Kind::Nested][below(3)],
    }
}

/// A module as text and in the binary format.
///
/// # Errors
/// It is not well-formed, which is a defect here.
pub fn module(below: &mut impl FnMut(usize) -> usize) -> Result<(String, Vec<u8>), String> {
    let chain: Vec<Kind> = (0..1 + below(3)).map(|_| kind(below)).collect();
    let mut functions = String::new();
    let mut names = Vec::new();
    for padding in 0..PADDINGS {
        let name = format!("f{padding}");
        let mut all = vec![Kind::Live("v128", padding)];
        all.extend(&chain);
        functions.push_str(&shapes::functions(&name, &all));
        let _ = write!(
            functions,
            "(func $deep-{name} (param $p i32) (result i64)
               (if (result i64) (local.get $p)
                 (then (call $deep-{name} (i32.sub (local.get $p) (i32.const 1))))
                 (else (call ${name}))))
             (func $runs-{name} (type $f) (suspend $y) (call $deep-{name} (global.get $depth)))
             (elem declare func $runs-{name})
             (func (export \"go-{name}\") (param $p i32) (result i64) (local $k (ref null $k))
               (global.set $depth (local.get $p))
               (block $h (result (ref $k))
                 (return (resume $k (on $y $h) (cont.new $k (ref.func $runs-{name})))))
               (local.set $k)
               (resume $k (local.get $k)))\n"
        );
        names.push(name);
    }
    functions.push_str(
        "(global $depth (mut i32) (i32.const 0)) (global $below (mut (ref null $k)) (ref.null $k))
         (func $waits (type $f) (local $r i64) (local $s i64)
           (local.set $r (i64.load (i32.const 1024))) (local.set $s (i64.load (i32.const 1040)))
           (suspend $y)
           (i64.sub (local.get $r) (local.get $s)))
         (elem declare func $waits)
         (func (export \"wait\") (result i64)
           (block $h (result (ref $k))
             (return (resume $k (on $y $h) (cont.new $k (ref.func $waits)))))
           (global.set $below) (i64.const 0))
         (func (export \"look\") (result i64) (resume $k (global.get $below)))",
    );
    let text = shapes::module(&names, &functions);
    match wat::parse_str(&text) {
        Ok(module) => Ok((text, module)),
        Err(error) => Err(format!("not well-formed: {error}\n{text}")),
    }
}

/// An instance in one way.
struct Guest {
    store: Store<()>,
    instance: Instance,
}

impl Guest {
    fn new(engine: &Engine, module: &Module) -> Result<Guest, String> {
        let mut store = Store::new(engine, ());
        let mut linker = Linker::new(engine);
        let twice = |x: i64| x.wrapping_mul(2);
        let defined = linker.func_wrap("host", "count", twice).map(|_| ());
        defined.map_err(|error| error.to_string())?;
        let instance = linker.instantiate(&mut store, module);
        let instance = instance.map_err(|error| error.to_string())?;
        Ok(Guest { store, instance })
    }

    /// What a call returns; nothing where there is no room.
    fn call(&mut self, name: &str, args: &[Val]) -> Result<Option<i64>, String> {
        let func = self.instance.get_func(&self.store, name);
        let func = func.ok_or_else(|| format!("no function '{name}'"))?;
        let mut results = [Val::I64(0)];
        match func.call(&mut self.store, args, &mut results) {
            Ok(()) => Ok(results[0].i64()),
            Err(error) => match error.trap().map(|trap| trap.code) {
                Some(TrapCode::StackExhausted) => Ok(None),
                _ => Err(format!("{name}: {error}")),
            },
        }
    }

    /// What a function comes to at a depth, and what waits below then.
    fn at(&mut self, name: &str, depth: i32) -> Result<(Option<i64>, Option<i64>), String> {
        self.call("wait", &[])?;
        let came_to = self.call(name, &[Val::I32(depth)])?;
        Ok((came_to, self.call("look", &[])?))
    }
}

/// Runs a module both ways at every depth.
///
/// # Errors
/// In what they differ.
pub fn check(pair: &Pair, module: &[u8]) -> Result<Seen, String> {
    let told = |what: String| format!("{}: {what}", pair.name);
    let compiled = |engine| Module::new(engine, module).map_err(|error| told(error.to_string()));
    let (expected, found) = (compiled(&pair.cranelift)?, compiled(&pair.other)?);
    let mut seen = Seen {
        kept: found.fallbacks().len() as u64,
        ..Seen::default()
    };
    let mut expected = Guest::new(&pair.cranelift, &expected).map_err(told)?;
    let mut found = Guest::new(&pair.other, &found).map_err(told)?;
    for depth in DEPTHS_FROM..DEPTHS {
        for padding in 0..PADDINGS {
            let name = format!("go-f{padding}");
            let should = expected.at(&name, depth).map_err(told)?;
            let does = found.at(&name, depth).map_err(told)?;
            let is_same = should.1 == does.1
                && (should.0 == does.0 || should.0.is_none() || does.0.is_none());
            if !is_same {
                return Err(told(format!(
                    "{name} at {depth}: {does:?} instead of {should:?}"
                )));
            }
            seen.depths += 1;
            seen.full += u64::from(does.0.is_none());
        }
    }
    Ok(seen)
}
