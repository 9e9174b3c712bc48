//! Threads that compile end with the module where that is asked for. A program of its own:
//! it counts the threads of its process.

use std::time::{Duration, Instant};

use fathom_engine::{Config, Engine, Module};

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn threads_that_compile_end_where_that_is_asked_for() {
    let wasm = wat::parse_str(
        r#"(module (func (export "a") (result i32) i32.const 1)
             (func (export "b") (param i32) (result i32) local.get 0))"#,
    )
    .unwrap();
    let before = threads();
    let engine = Engine::new(&Config::new().end_threads(true)).unwrap();
    Module::new(&engine, &wasm).unwrap();
    // They have done their work; the kernel may still be taking them away.
    let limit = Instant::now() + Duration::from_secs(10);
    while threads() > before && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(threads(), before);
    let engine = Engine::new(&Config::new()).unwrap();
    Module::new(&engine, &wasm).unwrap();
    assert!(threads() > before, "by default they wait for the next one");
}
