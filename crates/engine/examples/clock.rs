//! What an embedder waits for, in nanoseconds: medians of rounds in which each
//! measurement has its turn.
//!
//! ```sh
//! cargo run --release -p fathom-engine --example clock
//! ```
//!
//! | line | what is timed |
//! |---|---|
//! | compile | [`Module::new`] of a small module with fifteen imports, in a new engine |
//! | first instance | the first one of that engine: store, imports, instance |
//! | warm instance | the next one, in a store of its own |
//! | call | a typed call of a function that adds two numbers |
//! | call back | the same, of one that calls a host function once |
//! | new reference | a call with a reference to a value of the host's that is new |

use std::time::Instant;

use fathom_engine::{Caller, Config, Engine, ExternRef, Instance, Linker, Module, Result, Store};

const ROUNDS: usize = 31;
/// Calls between two looks at the clock.
const CALLS: u32 = 20_000;
const IMPORTS: usize = 15;

/// A module that imports functions of as many types as WASI's programs do.
fn text() -> String {
    let mut text = String::from("(module\n");
    for n in 0..IMPORTS {
        let params = "i32 ".repeat(n / 2);
        let last = ["i32", "i64"][n % 2];
        text += &format!("(import \"host\" \"f{n}\" (func $f{n} (param {params}{last})))\n");
    }
    text += r#"(memory (export "memory") 1)
        (func (export "add") (param i32 i32) (result i32)
          (i32.add (local.get 0) (local.get 1)))
        (func (export "back") (call $f0 (i32.const 1)))
        (func (export "take") (param externref)))"#;
    text
}

fn linker(engine: &Engine, module: &Module) -> Result<Linker<()>> {
    let mut linker = Linker::new(engine);
    for (from, name, ty) in module.imports() {
        if let fathom_engine::ExternType::Func(ty) = ty {
            let ignore = |_: Caller<'_, ()>, _: &[_], _: &mut [_]| Ok(());
            linker.func_new(from, name, ty, ignore)?;
        }
    }
    Ok(linker)
}

fn instance(linker: &Linker<()>, module: &Module) -> Result<(Store<()>, Instance)> {
    let mut store = Store::new(linker.engine(), ());
    let instance = linker.instantiate(&mut store, module)?;
    Ok((store, instance))
}

/// How long something takes, in nanoseconds, and what it gives.
fn timed<R>(times: &mut Vec<f64>, each: u32, what: impl FnOnce() -> Result<R>) -> Result<R> {
    let start = Instant::now();
    let made = what()?;
    times.push(start.elapsed().as_nanos() as f64 / f64::from(each));
    Ok(made)
}

fn main() -> Result<()> {
    let wasm = wat::parse_str(text()).expect("the text is well-formed");
    let names = [
        "compile",
        "first instance",
        "warm instance",
        "call",
        "call back",
        "new reference",
    ];
    let mut times: [Vec<f64>; 6] = Default::default();
    for _ in 0..ROUNDS {
        let engine = Engine::new(&Config::new())?;
        let module = timed(&mut times[0], 1, || Module::new(&engine, &wasm))?;
        let linker = linker(&engine, &module)?;
        let first = timed(&mut times[1], 1, || instance(&linker, &module))?;
        drop(first);
        let (mut store, instance) = timed(&mut times[2], 1, || instance(&linker, &module))?;
        let export = |name| instance.get_func(&store, name).expect("it is exported");
        let add = export("add").typed::<(i32, i32), i32>(&store)?;
        let back = export("back").typed::<(), ()>(&store)?;
        let take = export("take").typed::<Option<ExternRef>, ()>(&store)?;
        timed(&mut times[3], CALLS, || {
            (0..CALLS).try_for_each(|n| add.call(&mut store, (n as i32, 1)).map(drop))
        })?;
        timed(&mut times[4], CALLS, || {
            (0..CALLS).try_for_each(|_| back.call(&mut store, ()))
        })?;
        timed(&mut times[5], CALLS, || {
            (0..CALLS).try_for_each(|n| take.call(&mut store, Some(ExternRef::new(n))))
        })?;
    }
    for (name, mut times) in names.into_iter().zip(times) {
        times.sort_by(f64::total_cmp);
        let [low, middle, high] = [1, 2, 3].map(|quarter| times[ROUNDS * quarter / 4]);
        println!("{name:15} {middle:12.1} ns   half of them within {low:.1} and {high:.1}");
    }
    Ok(())
}
