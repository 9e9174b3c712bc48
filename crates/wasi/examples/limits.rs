//! A guest that is not trusted: how much memory it may have, how long it may run, and how
//! many instructions.

use std::time::Duration;

use fathom_engine::{
    Config, Engine, Instance, Interrupt, Module, Store, StoreLimits, StoreLimitsBuilder, TrapCode,
};

const TEXT: &str = r#"(module
  (memory (export "memory") 1)
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "spin") (loop (br 0))))"#;

/// Runs it.
pub fn main() -> anyhow::Result<()> {
    let engine = Engine::default();
    let module = Module::new(&engine, wat::parse_str(TEXT)?)?;
    let limits = StoreLimitsBuilder::new().memory_size(4 << 16).build();
    let mut store: Store<StoreLimits> = Store::new(&engine, limits);
    store.limiter(|limits| limits);
    let instance = Instance::new(&mut store, &module, &[])?;

    // Memory: growth beyond is refused, as WebAssembly has it, by -1.
    let grow = instance.get_typed_func::<i32, i32>(&mut store, "grow")?;
    assert_eq!(grow.call(&mut store, 3)?, 1);
    assert_eq!(grow.call(&mut store, 1)?, -1);

    // Time: another thread ends what runs. It costs the guest nothing.
    let interrupt = Interrupt::new();
    store.set_interrupt(&interrupt);
    let spin = instance.get_typed_func::<(), ()>(&mut store, "spin")?;
    let error = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            interrupt.stop(Duration::from_secs(10))
        });
        spin.call(&mut store, ()).unwrap_err()
    });
    assert_eq!(
        error.trap().map(|trap| trap.code),
        Some(TrapCode::Interrupted)
    );
    // The store can be used again once the interrupt is taken back.
    assert!(interrupt.clear());
    assert_eq!(grow.call(&mut store, 0)?, 4);

    // Instructions: the same number is the same place, on every machine.
    let config = Config::new().consume_fuel(true);
    let counting = Engine::new(&config)?;
    let module = Module::new(&counting, wat::parse_str(TEXT)?)?;
    let mut store = Store::new(&counting, ());
    store.set_fuel(10_000)?;
    let instance = Instance::new(&mut store, &module, &[])?;
    let spin = instance.get_typed_func::<(), ()>(&mut store, "spin")?;
    let error = spin.call(&mut store, ()).unwrap_err();
    assert_eq!(
        error.trap().map(|trap| trap.code),
        Some(TrapCode::OutOfFuel)
    );
    Ok(())
}
