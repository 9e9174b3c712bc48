//! Continuations for hours: created, resumed, suspended, cancelled, dropped, trapped at
//! random, on several threads, in stores that come and go. Says what memory the process had
//! after the first stores, and what it has at the end.
//!
//! `cargo run --release -p fathom-engine --example soak_stacks -- [SECONDS [THREADS]]`

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fathom_engine::{Config, Engine, Linker, Module, Store, TrapCode};

const PROGRAM: &str = r#"
(module
  (type $p (func (param i32) (result i32))) (type $k (cont $p))
  (type $c (func (result i32))) (type $d (cont $c))
  (tag $yield (param i32)) (tag $cancel)
  (table $all 1024 (ref null $d))
  (global $seed (mut i64) (i64.const 1))
  (func $random (param $below i32) (result i32)
    (global.set $seed (i64.add (i64.mul (global.get $seed) (i64.const 6364136223846793005))
      (i64.const 1442695040888963407)))
    (i32.rem_u (i32.wrap_i64 (i64.shr_u (global.get $seed) (i64.const 33))) (local.get $below)))
  ;; Yields from a depth, again and again; now and then it traps or makes others.
  (func $work (param $depth i32) (result i32)
    (if (local.get $depth)
      (then (return (i32.add (i32.const 1)
        (call $work (i32.sub (local.get $depth) (i32.const 1)))))))
    (loop $l
      (if (i32.eqz (call $random (i32.const 300))) (then (unreachable)))
      (if (i32.eqz (call $random (i32.const 20)))
        (then (drop (call $step))))
      (suspend $yield (local.get $depth))
      (br_if $l (call $random (i32.const 6))))
    (i32.const 0))
  (elem declare func $work)
  (func $step (result i32) (local $at i32) (local $it (ref null $d))
    (local.set $at (call $random (i32.const 1024)))
    (local.set $it (table.get $all (local.get $at)))
    (table.set $all (local.get $at) (ref.null $d))
    (block $yielded (result i32 (ref $d))
      (if (ref.is_null (local.get $it))
        (then
          (return (resume $k (on $yield $yielded)
            (call $random (select (i32.const 400) (i32.const 8) (i32.eqz (call $random (i32.const 50)))))
            (cont.new $k (ref.func $work))))))
      (if (i32.eqz (call $random (i32.const 10)))
        (then
          (block $over
            (try_table (catch $cancel $over)
              (drop (resume_throw $d $cancel (on $yield $yielded) (local.get $it)))))
          (return (i32.const 0))))
      (if (i32.eqz (call $random (i32.const 40))) (then (return (i32.const 1))))
      (return (resume $d (on $yield $yielded) (local.get $it))))
    (local.set $it)
    (drop)
    (table.set $all (local.get $at) (local.get $it))
    (i32.const 2))
  (func (export "run") (param $seed i64) (param $steps i32)
    (global.set $seed (local.get $seed))
    (loop $l
      (drop (call $step))
      (br_if $l (local.tee $steps (i32.sub (local.get $steps) (i32.const 1))))))
)"#;

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let words = line.and_then(|line| line.split_whitespace().nth(1));
    words.and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Stores until the time is up, each with some thousands of steps.
fn worker(engine: &Engine, module: &Module, thread: u64, until: Instant, counts: &[AtomicU64; 3]) {
    let mut round = 0;
    while Instant::now() < until {
        round += 1;
        let mut store = Store::new(engine, ());
        let instance = Linker::new(engine).instantiate(&mut store, module);
        let instance = instance.expect("it fits");
        let run = instance.get_func(&store, "run").expect("exported");
        let run = run.typed::<(i64, i32), ()>(&store).expect("its type");
        for call in 0..20 {
            let seed = (thread << 48 | round << 16 | call) as i64;
            counts[0].fetch_add(1, Ordering::Relaxed);
            match run.call(&mut store, (seed, 5000)) {
                Ok(()) => {}
                Err(error) => {
                    let code = error.trap().map(|trap| trap.code);
                    let known = [TrapCode::Unreachable, TrapCode::StackExhausted];
                    assert!(code.is_some_and(|code| known.contains(&code)), "{error}");
                    counts[1].fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        counts[2].fetch_add(1, Ordering::Relaxed);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let number = |at| std::env::args().nth(at).map(|arg| arg.parse::<u64>());
    let seconds = number(1).transpose()?.unwrap_or(60);
    let threads = number(2).transpose()?.unwrap_or(4);
    let engine = Engine::new(&Config::new())?;
    let module = Module::new(&engine, wat::parse_str(PROGRAM)?)?;
    let counts = [const { AtomicU64::new(0) }; 3];
    let for_seconds = |seconds| {
        let until = Instant::now() + Duration::from_secs(seconds);
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (engine, module, counts) = (&engine, &module, &counts);
                scope.spawn(move || worker(engine, module, thread, until, counts));
            }
        });
    };
    for_seconds((seconds / 20).max(1));
    let before = resident_kib();
    for_seconds(seconds);
    let after = resident_kib();
    let [calls, traps, stores] = counts.map(AtomicU64::into_inner);
    println!(
        "{threads} threads, {seconds} s: {stores} stores, {calls} calls of 5000 steps at most, \
         {traps} traps; resident {before} KiB, then {after} KiB"
    );
    Ok(())
}
