//! What continuations cost: a round trip with few of them, with many, from a depth; one
//! that is created and runs to its end; what a suspended one takes of memory.
//!
//! `cargo run --release -p fathom-engine --example stacks -- [LIVE [BYTES]]`: the least of
//! several repetitions, in nanoseconds. LIVE is the most that are suspended at a time, BYTES
//! the stack of each.

use std::time::Instant;

use fathom_engine::{Config, Engine, Linker, Module, Quota, Store, TypedFunc};

const PROGRAM: &str = r#"
(module
  (type $p (func))
  (type $c (cont $p))
  (type $q (func (param i32)))
  (type $d (cont $q))
  (tag $t)
  (table $all 1 1000001 (ref null $c))
  (func $forever (loop $l (suspend $t) (br $l)))
  (func $nothing)
  (func $down (param i32)
    (if (local.get 0)
      (then (call $down (i32.sub (local.get 0) (i32.const 1))))
      (else (loop $l (suspend $t) (br $l)))))
  (elem declare func $forever $nothing $down)
  ;; One that suspends at a depth, resumed so many times.
  (func (export "depth") (param $depth i32) (param $times i32)
    (local $c (ref null $c))
    (block $h (result (ref $c))
      (resume $d (on $t $h) (local.get $depth) (cont.new $d (ref.func $down)))
      (return))
    (local.set $c)
    (loop $l
      (block $h (result (ref $c))
        (resume $c (on $t $h) (local.get $c))
        (return))
      (local.set $c)
      (br_if $l (local.tee $times (i32.sub (local.get $times) (i32.const 1))))))
  (func (export "create") (param $times i32)
    (loop $l
      (resume $c (cont.new $c (ref.func $nothing)))
      (br_if $l (local.tee $times (i32.sub (local.get $times) (i32.const 1))))))
  ;; As many more that are suspended, in the table.
  (func (export "fill") (param $count i32)
    (loop $l
      (if (i32.lt_u (table.size $all) (local.get $count))
        (then
          (drop (table.grow $all
            (block $h (result (ref $c))
              (resume $c (on $t $h) (cont.new $c (ref.func $forever)))
              (return))
            (i32.const 1)))
          (br $l)))))
  ;; Each of the first `count` resumed `rounds` times; a step apart, all the same.
  (func (export "around") (param $count i32) (param $step i32) (param $times i32)
    (local $at i32)
    (loop $l
      (table.set $all (local.get $at)
        (block $h (result (ref $c))
          (resume $c (on $t $h) (table.get $all (local.get $at)))
          (return)))
      (local.set $at (i32.rem_u (i32.add (local.get $at) (local.get $step)) (local.get $count)))
      (br_if $l (local.tee $times (i32.sub (local.get $times) (i32.const 1))))))
  (func (export "first")
    (table.set $all (i32.const 0)
      (block $h (result (ref $c))
        (resume $c (on $t $h) (cont.new $c (ref.func $forever)))
        (return))))
)"#;

/// The least of so many repetitions, each of so many times, in nanoseconds a time.
fn least(repetitions: u32, times: i32, mut run: impl FnMut(i32)) -> f64 {
    let one = |run: &mut dyn FnMut(i32)| {
        let start = Instant::now();
        run(times);
        start.elapsed().as_nanos() as f64 / f64::from(times)
    };
    (0..repetitions)
        .map(|_| one(&mut run))
        .fold(f64::INFINITY, f64::min)
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let words = line.and_then(|line| line.split_whitespace().nth(1));
    words.and_then(|word| word.parse().ok()).unwrap_or(0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let number = |at| std::env::args().nth(at).map(|arg| arg.parse::<u32>());
    let most = number(1).transpose()?.unwrap_or(10_000) as i32;
    let mut config = Config::new().quota(Quota::UNLIMITED);
    if let Some(bytes) = number(2).transpose()? {
        config = config.continuation_stack(bytes as usize);
    }
    let engine = Engine::new(&config)?;
    let module = Module::new(&engine, wat::parse_str(PROGRAM)?)?;
    let mut store = Store::new(&engine, ());
    let instance = Linker::new(&engine).instantiate(&mut store, &module)?;
    let get = |name| instance.get_func(&store, name).ok_or("not exported");
    let depth: TypedFunc<(i32, i32), ()> = get("depth")?.typed(&store)?;
    let create: TypedFunc<i32, ()> = get("create")?.typed(&store)?;
    let fill: TypedFunc<i32, ()> = get("fill")?.typed(&store)?;
    let around: TypedFunc<(i32, i32, i32), ()> = get("around")?.typed(&store)?;
    let first: TypedFunc<(), ()> = get("first")?.typed(&store)?;

    for deep in [0, 1, 5, 10, 20, 100, 1000] {
        if depth.call(&mut store, (deep, 1)).is_err() {
            println!("round trip at depth {deep}: no room");
            continue;
        }
        let ns = least(7, 3_000_000, |times| {
            depth.call(&mut store, (deep, times)).expect("it ends");
        });
        println!("round trip at depth {deep}: {ns:.1} ns");
    }
    let ns = least(7, 3_000_000, |times| {
        create.call(&mut store, times).expect("it ends");
    });
    println!("create and finish: {ns:.1} ns");
    first.call(&mut store, ())?;
    let before = resident_kib();
    for live in [1, 10, 100, 1000, 10_000, 100_000, 1_000_000] {
        if live > most {
            break;
        }
        let start = Instant::now();
        fill.call(&mut store, live)?;
        let filled = start.elapsed().as_nanos() as f64 / f64::from(live);
        let bytes = (resident_kib() - before) * 1024 / live as u64;
        // Coprime to any power of ten, and far from a neighbour.
        let step = (live / 3 + 7) | 1;
        let step = if step % 5 == 0 { step + 2 } else { step };
        let ns = least(5, 2_000_000.max(2 * live), |times| {
            around
                .call(&mut store, (live, step, times))
                .expect("it ends");
        });
        println!(
            "round trip with {live} live: {ns:.1} ns; made in {filled:.0} ns, {bytes} bytes each"
        );
    }
    Ok(())
}
