//! Any bytes as the file of a record, and as events of a module: a program or an error,
//! and a program that is valid.
#![no_main]

use fathom_replay::program::replay;
use fathom_replay::record::{Given, Record, Sized, Value};
use libfuzzer_sys::fuzz_target;

/// One of each kind that events are about.
const MODULE: &str = r#"(module
  (import "env" "f" (func $f (param i32 funcref) (result i64 externref)))
  (import "env" "memory" (memory 1 4))
  (import "env" "table" (table 2 funcref))
  (import "env" "base" (global i32))
  (global (mut f64) (f64.const 0))
  (func (export "run") (param i32 externref) (result i64)
    (call $f (local.get 0) (ref.null func)) drop))"#;

fuzz_target!(|bytes: &[u8]| {
    let _ = Record::read(bytes, bytes.len() as u64);
    let wasm = wat::parse_str(MODULE).expect("our own module");
    let sized = |size, max| Sized {
        index: 0,
        size,
        max: Some(max),
    };
    let given = Given {
        memories: vec![sized(1, 4)],
        tables: vec![sized(2, 10)],
        globals: vec![Value { index: 0, bits: 7 }],
        functions: vec![0],
    };
    let count = u64::from(bytes.first().copied().unwrap_or_default());
    let events = bytes.get(1..).unwrap_or_default().to_vec();
    let record = Record::new(&wasm, String::new(), given, events, count);
    if let Ok(made) = replay(&record, &wasm) {
        let features = wasmparser::WasmFeatures::all();
        let mut validator = wasmparser::Validator::new_with_features(features);
        validator
            .validate_all(&made.wasm)
            .expect("a program of ours");
    }
});
