//! What an embedder gives a guest and takes from it: streams in memory, clocks, random
//! numbers.

use std::time::{Duration, Instant};

use fathom_engine::{Engine, Linker, Module, Store};
use fathom_wasi::{
    HostMonotonicClock, HostWallClock, MemoryInputPipe, MemoryOutputPipe, ProcExit, WasiCtx,
    WasiCtxBuilder, add_to_linker,
};

/// Run a program of these functions with its `_start`, and give its exit status.
fn status_of(context: WasiCtx, functions: &str) -> u32 {
    const HEAD: &str = r#"
        (import "wasi_snapshot_preview1" "fd_read"
          (func $read (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "fd_write"
          (func $write (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "fd_seek"
          (func $seek (param i32 i64 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "fd_filestat_set_size"
          (func $set_size (param i32 i64) (result i32)))
        (import "wasi_snapshot_preview1" "clock_time_get"
          (func $time (param i32 i64 i32) (result i32)))
        (import "wasi_snapshot_preview1" "poll_oneoff"
          (func $poll (param i32 i32 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "random_get"
          (func $random (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "args_sizes_get"
          (func $args (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "environ_sizes_get"
          (func $environ (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 4)
        (func $ok (param i32) (if (local.get 0) (then (call $exit (local.get 0)))))"#;
    let engine = Engine::default();
    let wasm = wat::parse_str(format!("(module {HEAD} {functions})")).unwrap();
    let module = Module::new(&engine, wasm).unwrap();
    let mut linker = Linker::new(&engine);
    add_to_linker(&mut linker, |ctx: &mut WasiCtx| ctx).unwrap();
    let mut store = Store::new(&engine, context);
    let instance = linker.instantiate(&mut store, &module).unwrap();
    let start = instance.get_typed_func::<(), ()>(&store, "_start").unwrap();
    match start.call(&mut store, ()) {
        Ok(()) => 0,
        Err(error) => {
            error
                .downcast_ref::<ProcExit>()
                .unwrap_or_else(|| panic!("{error:?}"))
                .0
        }
    }
}

/// Reads up to 1000 bytes at 100 again and again and writes them to both outputs.
const ECHO: &str = r#"
    (func (export "_start") (local $n i32)
      (loop $more
        (i32.store (i32.const 0) (i32.const 100))
        (i32.store (i32.const 4) (i32.const 1000))
        (call $ok (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
        (local.set $n (i32.load (i32.const 8)))
        (if (local.get $n) (then
          (i32.store (i32.const 4) (local.get $n))
          (call $ok (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
          (if (i32.ne (i32.load (i32.const 8)) (local.get $n)) (then (call $exit (i32.const 99))))
          (call $ok (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8)))
          (br $more)))))"#;

#[test]
fn a_guest_reads_what_it_is_given_and_what_it_writes_is_kept() {
    let text: Vec<u8> = (0..2600u32).map(|n| n.to_string().as_bytes()[0]).collect();
    let (output, errors) = (
        MemoryOutputPipe::new(1 << 20),
        MemoryOutputPipe::new(1 << 20),
    );
    let context = WasiCtxBuilder::new()
        .stdin(MemoryInputPipe::new(&text))
        .stdout(output.clone())
        .stderr(errors.clone())
        .build()
        .unwrap();
    assert_eq!(status_of(context, ECHO), 0);
    assert_eq!(output.contents(), text);
    assert_eq!(errors.contents(), text);
}

/// Beyond the capacity a write is cut, then refused: errno 51 is `nospc`.
#[test]
fn an_output_keeps_as_much_as_it_may() {
    let text = vec![b'x'; 2500];
    for (capacity, status, kept) in [
        (2500, 0, 2500),
        (2499, 99, 2499),
        (2000, 51, 2000),
        (0, 51, 0),
    ] {
        let output = MemoryOutputPipe::new(capacity);
        let context = WasiCtxBuilder::new()
            .stdin(MemoryInputPipe::new(&text))
            .stdout(output.clone())
            .build()
            .unwrap();
        assert_eq!(status_of(context, ECHO), status, "{capacity}");
        assert_eq!(output.contents().len(), kept, "{capacity}");
    }
}

/// Neither seeking (70, `spipe`, or 76, `notcapable`) nor a size.
#[test]
fn a_stream_in_memory_is_a_stream() {
    for functions in [
        r#"(func (export "_start")
             (call $ok (call $seek (i32.const 1) (i64.const 9) (i32.const 0) (i32.const 0))))"#,
        r#"(func (export "_start") (call $ok (call $set_size (i32.const 1) (i64.const 1))))"#,
        r#"(func (export "_start")
             (call $ok (call $seek (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 0))))"#,
    ] {
        let output = MemoryOutputPipe::new(10);
        let context = WasiCtxBuilder::new()
            .stdin(MemoryInputPipe::new("abc"))
            .stdout(output.clone())
            .build()
            .unwrap();
        let status = status_of(context, functions);
        assert!([28, 70, 76].contains(&status), "{status}");
        assert_eq!(output.contents(), b"");
    }
}

struct Fixed;

impl HostWallClock for Fixed {
    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }
    fn now(&self) -> Duration {
        Duration::from_secs(1_000_000_000)
    }
}

impl HostMonotonicClock for Fixed {
    fn resolution(&self) -> u64 {
        1
    }
    fn now(&self) -> u64 {
        5_000_000_000
    }
}

/// The time of each clock is compared; the clocks of the processor are refused.
const CLOCKS: &str = r#"
    (func (export "_start")
      (call $ok (call $time (i32.const 0) (i64.const 0) (i32.const 0)))
      (if (i64.ne (i64.load (i32.const 0)) (i64.const 1000000000000000000))
        (then (call $exit (i32.const 101))))
      (call $ok (call $time (i32.const 1) (i64.const 0) (i32.const 0)))
      (if (i64.ne (i64.load (i32.const 0)) (i64.const 5000000000))
        (then (call $exit (i32.const 102))))
      ;; A wait until 20 ms from now, by the monotonic clock.
      (i32.store (i32.const 16) (i32.const 1))
      (i64.store (i32.const 24) (i64.const 5020000000))
      (i32.store16 (i32.const 40) (i32.const 1))
      (call $ok (call $poll (i32.const 0) (i32.const 100) (i32.const 1) (i32.const 200)))
      (call $exit (call $time (i32.const 2) (i64.const 0) (i32.const 0))))"#;

#[test]
fn clocks_are_the_embedders() {
    let context = WasiCtxBuilder::new()
        .wall_clock(Fixed)
        .monotonic_clock(Fixed);
    let start = Instant::now();
    assert_eq!(status_of(context.build().unwrap(), CLOCKS), 58);
    assert!(start.elapsed() >= Duration::from_millis(20));
    let hosts = WasiCtxBuilder::new().build().unwrap();
    assert_eq!(status_of(hosts, CLOCKS), 101);
}

/// Asks for more than one piece, and gives the sum of all bytes.
const RANDOM: &str = r#"
    (func (export "_start") (local $at i32) (local $sum i32)
      (call $ok (call $random (i32.const 0) (i32.const 200000)))
      (loop $next
        (local.set $sum (i32.add (local.get $sum) (i32.load8_u (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br_if $next (i32.lt_u (local.get $at) (i32.const 200000))))
      (call $exit (local.get $sum)))"#;

#[test]
fn randomness_is_the_embedders() {
    let context = WasiCtxBuilder::new().secure_random(|bytes| bytes.fill(3));
    assert_eq!(status_of(context.build().unwrap(), RANDOM), 600_000);
}

#[test]
fn arguments_and_environment_are_inherited() {
    let counts = r#"(func (export "_start")
        (call $ok (call $args (i32.const 0) (i32.const 4)))
        (call $ok (call $environ (i32.const 8) (i32.const 12)))
        (call $exit (i32.add
          (i32.mul (i32.load (i32.const 0)) (i32.const 1000)) (i32.load (i32.const 8)))))"#;
    let context = WasiCtxBuilder::new().inherit_args().inherit_env();
    let (args, env) = (std::env::args_os().count(), std::env::vars_os().count());
    let expected = u32::try_from(args * 1000 + env).unwrap();
    assert_eq!(status_of(context.build().unwrap(), counts), expected);
}
