//! Programs that start threads, in text format, under every strategy: how they
//! share what they were given, and how they end.

#[path = "../../engine/tests/common/mod.rs"]
mod common;

use std::fs::File;
use std::io::{Read, Seek};
use std::time::{Duration, Instant};

use fathom_engine::{Bounds, Config, Engine, Linker, Module, TrapCode};
use fathom_wasi::{ProcExit, Stream, ThreadError, WasiCtx, WasiCtxBuilder};
use fathom_wasi::{add_to_linker, run_with_threads, uses_threads};

/// What every program begins with; `$spawn` starts a thread and traps where
/// that fails.
const HEAD: &str = r#"(module
  (import "env" "memory" (memory 1 4 shared))
  (import "wasi" "thread-spawn" (func $thread_spawn (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write"
    (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read"
    (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff"
    (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (export "memory" (memory 0))
  (func $spawn (param $arg i32) (result i32) (local $tid i32)
    (local.set $tid (call $thread_spawn (local.get $arg)))
    (if (i32.le_s (local.get $tid) (i32.const 0)) (then unreachable))
    (local.get $tid))
  (func $spin (loop $again (br $again)))
  (func $sleep (drop (memory.atomic.wait32 (i32.const 60000) (i32.const 0) (i64.const -1))))
"#;

struct Ran {
    result: Result<(), ThreadError>,
    output: String,
    elapsed: Duration,
}

fn run(engine: &Engine, body: &str) -> Ran {
    let wasm = wat::parse_str(format!("{HEAD}{body})")).unwrap();
    let module = Module::new(engine, &wasm).unwrap();
    assert!(uses_threads(&module));
    let mut stdout = tempfile::tempfile().unwrap();
    // Standard input is a pipe that nobody writes to.
    let (silent, _writer) = std::io::pipe().unwrap();
    let ctx = WasiCtxBuilder::new()
        .stdin(Stream::Given(silent.into()))
        .stdout(Stream::from(stdout.try_clone().unwrap()))
        .build()
        .unwrap();
    let mut linker = Linker::new(engine);
    add_to_linker(&mut linker, |ctx: &mut WasiCtx| ctx).unwrap();
    let start = Instant::now();
    let result = run_with_threads(
        &module,
        &linker,
        move || ctx.clone(),
        |store, instance| {
            let start = instance.get_func(&*store, "_start").expect("exported");
            start.call(&mut *store, &[], &mut [])
        },
    );
    let elapsed = start.elapsed();
    Ran {
        result,
        output: read(&mut stdout),
        elapsed,
    }
}

fn read(file: &mut File) -> String {
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

fn each(body: &str, check: impl Fn(Ran)) {
    for bounds in Bounds::forms_for(false) {
        if let Some(engine) = common::engine(bounds) {
            eprintln!("under {bounds}");
            check(run(&engine, body));
        }
    }
}

#[test]
fn threads_count_print_and_are_waited_for() {
    // Each thread counts to 1,000 at address 8, prints its argument, a letter,
    // and says at address 4 that it has done so.
    let body = r#"
      (func (export "wasi_thread_start") (param $tid i32) (param $letter i32)
        (local $i i32) (local $at i32)
        (loop $more
          (drop (i32.atomic.rmw.add (i32.const 8) (i32.const 1)))
          (br_if $more (i32.lt_u
            (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 1000))))
        (local.set $at (i32.mul (local.get $tid) (i32.const 64)))
        (i32.store8 offset=16 (local.get $at) (local.get $letter))
        (i32.store8 offset=17 (local.get $at) (i32.const 10))
        (i32.store (local.get $at) (i32.add (local.get $at) (i32.const 16)))
        (i32.store offset=4 (local.get $at) (i32.const 2))
        (if (call $fd_write (i32.const 1) (local.get $at) (i32.const 1)
              (i32.add (local.get $at) (i32.const 8)))
          (then unreachable))
        (drop (i32.atomic.rmw.add (i32.const 4) (i32.const 1)))
        (drop (memory.atomic.notify (i32.const 4) (i32.const 1))))
      (func (export "_start") (local $n i32) (local $done i32)
        (loop $more
          (if (i32.ne (call $spawn (i32.add (local.get $n) (i32.const 97)))
                      (i32.add (local.get $n) (i32.const 1)))
            (then unreachable))
          (br_if $more (i32.lt_u
            (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 6))))
        (loop $wait
          (local.set $done (i32.atomic.load (i32.const 4)))
          (if (i32.lt_u (local.get $done) (i32.const 6))
            (then
              (drop (memory.atomic.wait32 (i32.const 4) (local.get $done) (i64.const -1)))
              (br $wait))))
        (if (i32.ne (i32.atomic.load (i32.const 8)) (i32.const 6000)) (then unreachable)))"#;
    each(body, |ran| {
        ran.result.unwrap();
        let mut letters: Vec<&str> = ran.output.lines().collect();
        letters.sort_unstable();
        assert_eq!(letters.concat(), "abcdef");
    });
}

#[test]
fn a_trap_in_a_thread_ends_the_program_and_its_threads() {
    for (main, other) in [("spin", "sleep"), ("sleep", "spin")] {
        let body = format!(
            r#"(func $fails (export "wasi_thread_start") (param i32) (param $what i32)
                 (if (local.get $what) (then (call ${other})))
                 (drop (i32.div_u (i32.const 1) (local.get $what))))
               (func (export "_start")
                 (drop (call $spawn (i32.const 1)))
                 (drop (call $spawn (i32.const 0)))
                 (call ${main}))"#
        );
        each(&body, |ran| {
            let failure = ran.result.unwrap_err();
            assert_eq!(failure.thread, Some(2));
            let trap = failure.error.trap().expect("a trap");
            assert_eq!(trap.code, TrapCode::IntegerDivideByZero);
            assert_eq!(trap.frames[0].func_name.as_deref(), Some("fails"));
        });
    }
}

#[test]
fn an_exit_in_any_thread_is_the_programs() {
    let body = r#"
      (func (export "wasi_thread_start") (param i32 i32) (call $proc_exit (i32.const 7)))
      (func (export "_start") (drop (call $spawn (i32.const 0))) (call $spin))"#;
    each(body, |ran| {
        let failure = ran.result.unwrap_err();
        assert_eq!(failure.error.downcast_ref(), Some(&ProcExit(7)));
        assert_eq!(failure.thread, Some(1));
    });
    let body = r#"
      (func (export "wasi_thread_start") (param i32 i32) (call $spin))
      (func (export "_start") (drop (call $spawn (i32.const 0))) (call $proc_exit (i32.const 8)))"#;
    each(body, |ran| {
        let failure = ran.result.unwrap_err();
        assert_eq!(failure.error.downcast_ref(), Some(&ProcExit(8)));
        assert_eq!(failure.thread, None);
    });
}

#[test]
fn the_return_of_main_ends_threads_that_wait_and_nobody_waits_for_them() {
    // One thread reads from a silent pipe, one waits at an address, one polls
    // for ever; the main thread can still write, and returns.
    let body = r#"
      (func (export "wasi_thread_start") (param i32) (param $what i32)
        (drop (i32.atomic.rmw.add (i32.const 4) (i32.const 1)))
        (if (i32.eq (local.get $what) (i32.const 0)) (then (call $sleep)))
        (if (i32.eq (local.get $what) (i32.const 1)) (then
          (drop (call $fd_read (i32.const 0) (i32.const 256) (i32.const 1) (i32.const 264)))))
        (if (i32.eq (local.get $what) (i32.const 2)) (then
          (drop (call $poll_oneoff (i32.const 512) (i32.const 600) (i32.const 1) (i32.const 700)))))
        (call $spin))
      (func (export "_start")
        ;; Where the second reads to, and what the third subscribes to: input.
        (i32.store (i32.const 256) (i32.const 1024))
        (i32.store (i32.const 260) (i32.const 16))
        (i32.store8 (i32.const 520) (i32.const 1))
        (drop (call $spawn (i32.const 0)))
        (drop (call $spawn (i32.const 1)))
        (drop (call $spawn (i32.const 2)))
        (loop $wait (br_if $wait (i32.lt_u (i32.atomic.load (i32.const 4)) (i32.const 3))))
        ;; Give them time to begin to wait.
        (drop (memory.atomic.wait32 (i32.const 40000) (i32.const 0) (i64.const 20000000)))
        (i32.store (i32.const 128) (i32.const 136))
        (i32.store (i32.const 132) (i32.const 3))
        (i32.store (i32.const 136) (i32.const 0x0a6b6f))
        (if (call $fd_write (i32.const 1) (i32.const 128) (i32.const 1) (i32.const 144))
          (then unreachable)))"#;
    each(body, |ran| {
        ran.result.unwrap();
        assert_eq!(ran.output, "ok\n");
        assert!(ran.elapsed < Duration::from_secs(60));
    });
}

#[test]
fn a_program_without_a_start_for_threads_is_refused() {
    let engine = common::engine(Bounds::Guard).expect("this host has it");
    let ran = run(&engine, r#"(func (export "_start"))"#);
    let message = format!("{:#}", ran.result.unwrap_err().error);
    assert!(
        message.contains("exports no wasi_thread_start(i32, i32)"),
        "{message}"
    );
}

#[test]
fn a_thread_gets_half_of_the_fuel_of_the_one_that_starts_it() {
    let engine = |fuel| {
        let config = Config::new().consume_fuel(true).initial_fuel(fuel);
        Engine::new(&config).unwrap()
    };
    // Both count; the thread ends before the main thread goes on.
    let counts = r#"
      (func $count (local $n i32)
        (loop $more
          (br_if $more (i32.lt_u
            (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 100)))))
      (func (export "wasi_thread_start") (param i32 i32)
        (call $count)
        (i32.atomic.store (i32.const 0) (i32.const 1))
        (drop (memory.atomic.notify (i32.const 0) (i32.const 1))))
      (func (export "_start")
        (drop (call $thread_spawn (i32.const 0)))
        (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1)))
        (call $count))"#;
    run(&engine(2000), counts).result.unwrap();
    let failed = run(&engine(1000), counts).result.unwrap_err();
    assert_eq!(failed.error.trap().unwrap().code, TrapCode::OutOfFuel);
    // Each starts the next one: there is an end to it.
    let chain = r#"
      (func $next (drop (call $thread_spawn (i32.const 0))))
      (func (export "wasi_thread_start") (param i32 i32) (call $next))
      (func (export "_start") (call $next)
        (drop (memory.atomic.wait32 (i32.const 0) (i32.const 0) (i64.const -1))))"#;
    let failed = run(&engine(1 << 40), chain).result.unwrap_err();
    assert_eq!(failed.error.trap().unwrap().code, TrapCode::OutOfFuel);
    assert!(failed.thread.is_some_and(|tid| (30..45).contains(&tid)));
}
