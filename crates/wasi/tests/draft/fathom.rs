//! A host of plugins: their functions, their memory, their output.

use fathom_engine::*;
use fathom_wasi::{MemoryOutputPipe, WasiCtxBuilder, p1, p1::WasiP1Ctx};

const PLUGIN: &str = r#"(module
  (import "host" "scale" (func $scale (param i32 i32) (result i32)))
  (import "host" "log" (func $log (param i32 i32)))
  (import "wasi_snapshot_preview1" "fd_write"
    (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (global (export "calls") (mut i32) (i32.const 0))
  (data (i32.const 0) "\08\00\00\00\06\00\00\00hello\n")
  (func (export "area") (param i32 i32) (result i32)
    (global.set 0 (i32.add (global.get 0) (i32.const 1)))
    (call $scale (local.get 0) (local.get 1)))
  (func (export "half") (param f64) (result f64) (f64.div (local.get 0) (f64.const 2)))
  (func (export "report") (param i32 i32) (call $log (local.get 0) (local.get 1)))
  (func (export "_start")
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 32))))
  (func (export "fail") (unreachable)))"#;

struct Host {
    wasi: WasiP1Ctx,
    log: Vec<String>,
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::default();
    let module = Module::new(&engine, wat::parse_str(PLUGIN)?)?;

    let mut linker: Linker<Host> = Linker::new(&engine);
    p1::add_to_linker_sync(&mut linker, |host| &mut host.wasi)?;
    linker
        .func_wrap("host", "scale", |factor: i32, by: i32| factor * by)?
        .func_wrap(
            "host",
            "log",
            |mut caller: Caller<'_, Host>, ptr: i32, len: i32| -> Result<()> {
                let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
                    return Err(Error::msg("the plugin exports no memory"));
                };
                let (bytes, host) = memory.data_and_store_mut(&mut caller);
                let text = bytes
                    .get(ptr as usize..)
                    .and_then(|rest| rest.get(..len as usize));
                let text = text.ok_or_else(|| Error::msg("the text is not in the memory"))?;
                host.log.push(String::from_utf8_lossy(text).into_owned());
                Ok(())
            },
        )?;

    let stdout = MemoryOutputPipe::new(4096);
    let wasi = WasiCtxBuilder::new().stdout(stdout.clone()).build()?;
    let mut store = Store::new(
        &engine,
        Host {
            wasi,
            log: Vec::new(),
        },
    );
    let instance = linker.instantiate_pre(&module)?.instantiate(&mut store)?;

    let area = instance.get_typed_func::<(i32, i32), i32>(&mut store, "area")?;
    assert_eq!(area.call(&mut store, (6, 7))?, 42);
    let calls = instance
        .get_global(&mut store, "calls")
        .expect("it is exported");
    assert_eq!(calls.get(&mut store).unwrap_i32(), 1);
    calls.set(&mut store, Val::I32(0))?;

    let half = instance
        .get_func(&mut store, "half")
        .expect("it is exported");
    let mut results = [Val::F64(0)];
    half.call(&mut store, &[Val::F64(5.0f64.to_bits())], &mut results)?;
    assert_eq!(results[0].unwrap_f64(), 2.5);

    let memory = instance
        .get_memory(&mut store, "memory")
        .expect("it is exported");
    memory.write(&mut store, 64, b"from the host")?;
    let report = instance.get_typed_func::<(i32, i32), ()>(&mut store, "report")?;
    report.call(&mut store, (64, 13))?;
    assert_eq!(store.data().log, ["from the host"]);
    assert!(report.call(&mut store, (-1, 13)).is_err());

    let start = instance.get_typed_func::<(), ()>(&mut store, "_start")?;
    start.call(&mut store, ())?;
    assert_eq!(&stdout.contents()[..], b"hello\n");

    let fail = instance.get_typed_func::<(), ()>(&mut store, "fail")?;
    let error = fail.call(&mut store, ()).unwrap_err();
    assert_eq!(error.downcast_ref(), Some(&TrapCode::Unreachable));
    println!("{error:?}");
    Ok(())
}
