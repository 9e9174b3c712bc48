//! What a guest can take of the host by its calls, under every strategy: how
//! many descriptors, how many subscriptions, how much time once it is stopped.

#[path = "../../engine/tests/common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

use fathom_engine::{Bounds, Engine, Instance, Interrupt, Linker, Module, Store, TrapCode};
use fathom_wasi::{DirPerms, Errno, FilePerms, WasiCtx, WasiCtxBuilder, add_to_linker};

/// A guest with the folder that it was given.
struct Guest {
    store: Store<WasiCtx>,
    instance: Instance,
    _folder: tempfile::TempDir,
}

impl Guest {
    fn new(engine: &Engine, text: &str) -> Guest {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "text").unwrap();
        let ctx = WasiCtxBuilder::new()
            .preopened_dir(folder.path(), ".", DirPerms::all(), FilePerms::all())
            .and_then(WasiCtxBuilder::build)
            .unwrap();
        let module = Module::new(engine, wat::parse_str(text).unwrap()).unwrap();
        let mut linker = Linker::new(engine);
        add_to_linker(&mut linker, |ctx: &mut WasiCtx| ctx).unwrap();
        let mut store = Store::new(engine, ctx);
        let instance = linker.instantiate(&mut store, &module).unwrap();
        Guest {
            store,
            instance,
            _folder: folder,
        }
    }

    fn call(&mut self, name: &str, arg: i32) -> Result<i32, fathom_engine::Error> {
        let func = self.instance.get_func(&self.store, name).expect("exported");
        let func = func.typed::<i32, i32>(&self.store)?;
        func.call(&mut self.store, arg)
    }

    /// Calls it and stops it after a moment; how long that took.
    fn stop(&mut self, name: &str, arg: i32) -> Duration {
        let interrupt = Interrupt::new();
        self.store.set_interrupt(&interrupt);
        let start = Instant::now();
        let stopper = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            assert!(interrupt.stop(Duration::from_secs(60)));
        });
        let error = self.call(name, arg).unwrap_err();
        stopper.join().unwrap();
        assert_eq!(
            error.trap().map(|trap| trap.code),
            Some(TrapCode::Interrupted)
        );
        start.elapsed()
    }
}

fn each(text: &str, check: impl Fn(Guest)) {
    for bounds in Bounds::forms_for(false) {
        if let Some(engine) = common::engine(bounds) {
            eprintln!("under {bounds}");
            check(Guest::new(&engine, text));
        }
    }
}

/// Opens `file` so often; how many are open when that fails, negative, or the
/// last number.
const OPENS: &str = r#"(module
  (import "wasi_snapshot_preview1" "path_open" (func $open
    (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 100) "file")
  (global $errno (mut i32) (i32.const 0))
  (func (export "errno") (param i32) (result i32) (global.get $errno))
  (func (export "go") (param $n i32) (result i32) (local $i i32)
    (loop $more
      (global.set $errno (call $open (i32.const 3) (i32.const 1) (i32.const 100) (i32.const 4)
        (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 200)))
      (if (global.get $errno) (then (return (i32.sub (i32.const 0) (local.get $i)))))
      (br_if $more (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (i32.load (i32.const 200))))"#;

#[test]
fn descriptors() {
    let own = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    each(OPENS, |mut guest| {
        let before = own();
        // Three streams and the folder are among them.
        assert_eq!(guest.call("go", 100_000).unwrap(), -1020);
        assert_eq!(guest.call("errno", 0).unwrap(), Errno::Mfile as i32);
        assert!(own() <= before + 1100, "{before} to {}", own());
    });
}

/// As many subscriptions as fit, all to the same moment: now.
const POLLS: &str = r#"(module
  (import "wasi_snapshot_preview1" "poll_oneoff"
    (func $poll (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 1048) "\ff\ff\ff\ff\ff\ff\ff\0f")
  (func (export "go") (param $pages i32) (result i32)
    (drop (memory.grow (local.get $pages)))
    (call $poll (i32.const 0) (i32.const 0)
      (i32.div_u (i32.sub (i32.shl (memory.size) (i32.const 16)) (i32.const 64)) (i32.const 48))
      (i32.const 0)))
  ;; Waits for a clock: ten seconds, so that a failure ends too.
  (func (export "wait") (param i32) (result i32)
    (i64.store (i32.const 1040) (i64.const 1))
    (i64.store (i32.const 1048) (i64.const 10000000000))
    (call $poll (i32.const 1024) (i32.const 2048) (i32.const 1) (i32.const 4096))))"#;

#[test]
fn subscriptions() {
    each(POLLS, |mut guest| {
        assert_eq!(guest.call("go", 1).unwrap(), 0);
        assert_eq!(guest.call("go", 6400).unwrap(), Errno::Inval as i32);
    });
}

#[test]
fn a_wait_of_a_guest_without_threads_is_stopped() {
    each(POLLS, |mut guest| {
        assert!(guest.stop("wait", 0) < Duration::from_secs(9));
    });
}

/// Seconds of work in one call.
const RANDOM: &str = r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 16384)
  (func (export "go") (param $bytes i32) (result i32)
    (call $random (i32.const 1) (local.get $bytes)))
  (func (export "sum") (param $at i32) (result i32)
    (i32.load offset=0 (local.get $at))))"#;

#[test]
fn random_bytes_are_stopped_on_the_way() {
    let bytes: i32 = (1 << 30) - 1;
    each(RANDOM, |mut guest| {
        assert_eq!(guest.call("go", 200_000).unwrap(), 0);
        // Eight zero bytes hardly come by chance.
        assert!((0..2).any(|i| guest.call("sum", 200_000 - 7 + i * 4).unwrap() != 0));
        assert_eq!(guest.call("sum", 200_001).unwrap(), 0);
        guest.stop("go", bytes);
        let memory = guest.instance.get_memory(&guest.store, "memory").unwrap();
        let (mut first, mut last) = ([0; 64], [0; 64]);
        memory.read(&guest.store, 1, &mut first).unwrap();
        memory
            .read(&guest.store, (1 << 30) - 64, &mut last)
            .unwrap();
        assert_ne!(first, [0; 64]);
        assert_eq!(last, [0; 64]);
    });
}
