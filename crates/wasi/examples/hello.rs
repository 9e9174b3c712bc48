//! A function of WebAssembly, called from Rust.

use fathom_engine::{Engine, Instance, Module, Store};

const TEXT: &str = r#"(module
  (func (export "add") (param i32 i32) (result i32)
    (i32.add (local.get 0) (local.get 1))))"#;

/// Runs it.
pub fn main() -> anyhow::Result<()> {
    // Compiles, and holds what all stores share. One for a process is enough.
    let engine = Engine::default();
    let module = Module::new(&engine, wat::parse_str(TEXT)?)?;

    // Owns instances and your data; one thread uses it at a time.
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[])?;

    // The type is compared once, and not in each call.
    let add = instance.get_typed_func::<(i32, i32), i32>(&mut store, "add")?;
    assert_eq!(add.call(&mut store, (40, 2))?, 42);
    Ok(())
}
