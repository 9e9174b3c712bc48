//! Functions of Rust, called from WebAssembly: with values, with the guest's memory and
//! with errors.

use fathom_engine::{Caller, Engine, Extern, Linker, Module, Store, TrapCode};

const TEXT: &str = r#"(module
  (import "host" "scale" (func $scale (param i32 i32) (result i32)))
  (import "host" "log" (func $log (param i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "a message")
  (func (export "run") (result i32)
    (call $log (i32.const 16) (i32.const 9))
    (call $scale (i32.const 6) (i32.const 7)))
  (func (export "wild")
    (call $log (i32.const -1) (i32.const 9)))
  (func (export "trap") (unreachable)))"#;

/// What a store has of yours: each guest its own.
#[derive(Default)]
struct Host {
    log: Vec<String>,
}

/// A range of the guest's that is not inside its memory.
#[derive(Debug, thiserror::Error)]
#[error("the guest names {len} bytes at {start:#x}, which it has not")]
struct Wild {
    start: u32,
    len: u32,
}

/// Runs it.
pub fn main() -> anyhow::Result<()> {
    let engine = Engine::default();
    let module = Module::new(&engine, wat::parse_str(TEXT)?)?;

    let mut linker: Linker<Host> = Linker::new(&engine);
    // Values only.
    linker.func_wrap("host", "scale", |factor: i32, by: i32| factor * by)?;
    // With the store: its data, and the exports of the instance that calls. `?` ends the
    // guest with any error.
    let log = |mut caller: Caller<'_, Host>, start: u32, len: u32| -> anyhow::Result<()> {
        let memory = caller.get_export("memory").and_then(Extern::into_memory);
        let memory = memory.ok_or_else(|| anyhow::anyhow!("the guest exports no memory"))?;
        let (bytes, host) = memory.data_and_store_mut(&mut caller);
        let bytes = bytes
            .get(start as usize..)
            .and_then(|rest| rest.get(..len as usize));
        let text = std::str::from_utf8(bytes.ok_or(Wild { start, len })?)?;
        host.log.push(text.to_owned());
        Ok(())
    };
    linker.func_wrap("host", "log", log)?;

    let mut store = Store::new(&engine, Host::default());
    let instance = linker.instantiate(&mut store, &module)?;
    let run = instance.get_typed_func::<(), i32>(&mut store, "run")?;
    assert_eq!(run.call(&mut store, ())?, 42);
    assert_eq!(store.data().log, ["a message"]);

    // An error of yours comes out as it went in, with where the guest was.
    let wild = instance.get_typed_func::<(), ()>(&mut store, "wild")?;
    let error = wild.call(&mut store, ()).unwrap_err();
    assert_eq!(error.downcast_ref::<Wild>().map(|wild| wild.len), Some(9));
    assert_eq!(error.frames()[0].func_name.as_deref(), Some("wild"));

    // So does a trap.
    let trap = instance.get_typed_func::<(), ()>(&mut store, "trap")?;
    let error = trap.call(&mut store, ()).unwrap_err();
    assert_eq!(
        error.trap().map(|trap| trap.code),
        Some(TrapCode::Unreachable)
    );
    println!("{error:?}");
    Ok(())
}
