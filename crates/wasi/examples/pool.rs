//! Requests served by threads: an instance each, out of a pool of instances that are used
//! again.

use fathom_engine::{Caller, Engine, Linker, Module, Pool, PoolLimits};

const TEXT: &str = r#"(module
  (import "host" "number" (func $number (result i64)))
  (global $seen (mut i64) (i64.const 0))
  (func (export "serve") (result i64)
    (global.set $seen (i64.add (global.get $seen) (call $number)))
    (global.get $seen)))"#;

/// Runs it.
pub fn main() -> anyhow::Result<()> {
    let engine = Engine::default();
    let module = Module::new(&engine, wat::parse_str(TEXT)?)?;
    let mut linker: Linker<i64> = Linker::new(&engine);
    linker.func_wrap("host", "number", |caller: Caller<'_, i64>| *caller.data())?;

    // As many lists of idle instances as there are processors, so that threads meet in no
    // lock; the pool keeps no more than its limits say.
    let pool = Pool::new(&linker, &module, PoolLimits::default())?;
    let serve = pool.func::<(), i64>("serve")?;
    std::thread::scope(|scope| {
        for thread in 0..4i64 {
            let (pool, serve) = (&pool, &serve);
            scope.spawn(move || {
                for request in 0..1000 {
                    let number = thread * 1000 + request;
                    // Each lease has data of its own, and nothing of a lease before it:
                    // the global is zero again.
                    let mut instance = pool.instantiate(number).expect("there is room");
                    let func = instance.func(serve).expect("of this pool");
                    let answer = func.call(&mut instance, ()).expect("it returns");
                    assert_eq!(answer, number);
                    // It goes back to the pool here.
                }
            });
        }
    });
    Ok(())
}
