//! A program of WASI: what it reads is given, what it writes is kept, and its exit status
//! is an error of yours to look at.

use fathom_engine::{Engine, Linker, Module, Store};
use fathom_wasi::{MemoryInputPipe, MemoryOutputPipe, ProcExit, WasiCtx, WasiCtxBuilder};

/// Copies its standard input, and ends with status 3.
const TEXT: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read"
    (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write"
    (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 64))
    (i32.store (i32.const 4) (i32.const 1024))
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 4)))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
    (call $exit (i32.const 3))))"#;

/// Runs it.
pub fn main() -> anyhow::Result<()> {
    let engine = Engine::default();
    let module = Module::new(&engine, wat::parse_str(TEXT)?)?;
    let mut linker = Linker::new(&engine);
    fathom_wasi::add_to_linker(&mut linker, |context: &mut WasiCtx| context)?;
    // What the module imports is looked up once, however many instances there will be.
    let program = linker.instantiate_pre(&module)?;

    for text in ["first", "second"] {
        // Nothing of the host's is given but what is said here.
        let output = MemoryOutputPipe::new(64 << 10);
        let context = WasiCtxBuilder::new()
            .stdin(MemoryInputPipe::new(text))
            .stdout(output.clone())
            .arg("copy")?
            .build()?;
        let mut store = Store::new(&engine, context);
        let instance = program.instantiate(&mut store)?;
        let start = instance.get_typed_func::<(), ()>(&mut store, "_start")?;
        let error = start.call(&mut store, ()).unwrap_err();
        assert_eq!(error.downcast_ref(), Some(&ProcExit(3)));
        assert_eq!(output.contents(), text.as_bytes());
    }
    Ok(())
}
