//! Instances over one shared memory: that they share it, and what one of them can do to the
//! others and to the host.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use arrow_array::{Array, ArrayRef, Int64Array, cast::AsArray, types::Int64Type};
use fathom_engine::{Bounds, BoundsChoice};
use fathom_guest::{Guest, Options, Pool, batch::Input, column::ColumnType};

/// What modules here begin with: rooms for batches that are one instance's own, by what
/// `fathom_thread_start` was given; 8 for the first.
const COMMON: &str = r#"
  (import "env" "memory" (memory 2 16 shared)) (export "memory" (memory 0))
  (global $room (mut i32) (i32.const 4096)) (global $next (mut i32) (i32.const 4096))
  (func (export "fathom_thread_open") (result i32)
    (global.set $next (i32.add (global.get $next) (i32.const 16384))) (global.get $next))
  (func (export "fathom_thread_start") (param i32) (global.set $room (local.get 0)))
  (func (export "fathom_reserve") (param i32) (result i32) (global.get $room))"#;

fn pool(options: Options, functions: &str) -> Result<Arc<Pool>, String> {
    let module = wat::parse_str(format!("(module {COMMON} {functions})")).unwrap();
    Pool::new(module, options).map(Arc::new)
}

/// The strategies that this machine has, but the one that is no sandbox.
fn strategies() -> impl Iterator<Item = Options> {
    let all = Bounds::ALL.into_iter();
    let here = all.filter(|bounds| bounds.missing().is_none() && bounds.name() != "none");
    here.map(|bounds| Options {
        bounds: BoundsChoice::Named(bounds),
        deadline: Duration::from_secs(10),
        ..Options::default()
    })
}

/// Those of them that a memory of 32 bits can have.
fn crews(functions: &str, count: usize) -> Vec<(BoundsChoice, Vec<Guest>)> {
    let made = strategies().filter_map(|options| {
        let crew = pool(options, functions).ok()?.crew(count);
        Some((options.bounds, crew.unwrap()))
    });
    let made: Vec<_> = made.collect();
    assert!(made.len() >= 3, "{}", made.len());
    made
}

fn batch(rows: std::ops::Range<i64>) -> Input {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(rows));
    Input::new(column.len(), &[(ColumnType::BigInt, column)]).unwrap()
}

/// Adds up all values of its batches in one cell.
const ADD: &str = r#"
  (func (export "add") (param $state i32) (param $batch i32) (result i32) (local $at i32) (local $rows i32)
    (local.set $rows (i32.load (local.get $batch)))
    (local.set $at (i32.load offset=8 (i32.load offset=8 (local.get $batch))))
    (block (loop
      (br_if 1 (i32.eqz (local.get $rows)))
      (drop (i64.atomic.rmw.add (local.get $state) (i64.load (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br 0)))
    (i32.const 1))
  (func (export "sum") (param $state i32) (param $out i32) (result i32)
    (i32.store (local.get $out) (i32.const 1))
    (i32.store offset=8 (i32.load offset=8 (local.get $out)) (local.get $state))
    (i32.const 1))"#;

#[test]
fn all_add_to_one_memory() {
    const STATE: u64 = 64;
    for (bounds, mut crew) in crews(ADD, 4) {
        thread::scope(|scope| {
            for (guest, part) in crew.iter_mut().zip(0..) {
                scope.spawn(move || {
                    for i in (part * 250)..(part * 250 + 250) {
                        let (at, _) = guest.give(&batch(i * 100..i * 100 + 100), &[]).unwrap();
                        assert_eq!(guest.status("add", STATE, at), Ok(1), "{bounds}");
                    }
                });
            }
        });
        let types = [ColumnType::BigInt];
        for guest in &mut crew {
            let (_, result) = guest.give(&batch(0..0), &types).unwrap();
            guest.status("sum", STATE, result).unwrap();
            let found = guest.take(result, &types, Some(1)).unwrap();
            let found = found[0].as_primitive::<Int64Type>().value(0);
            assert_eq!(found, (0..100_000).sum::<i64>(), "{bounds}");
        }
    }
}

/// An instance that is taken alone has a memory of its own.
#[test]
fn alone_nothing_is_shared() {
    let pool = pool(Options::default(), ADD).unwrap();
    assert!(pool.is_shared());
    let mut alone = [pool.take().unwrap(), pool.take().unwrap()];
    for guest in &mut alone {
        let (at, result) = guest.give(&batch(0..10), &[ColumnType::BigInt]).unwrap();
        guest.status("add", 64, at).unwrap();
        guest.status("sum", 64, result).unwrap();
        let found = guest.take(result, &[ColumnType::BigInt], Some(1)).unwrap();
        assert_eq!(found[0].as_primitive::<Int64Type>().value(0), 45);
    }
    assert!(pool.crew(0).unwrap().len() == 1);
}

/// They are made ready by a thread of their own.
#[test]
fn crews_are_ready() {
    let pool = pool(Options::default(), ADD).unwrap();
    pool.want(3);
    let begun = Instant::now();
    while pool.ready() < 3 && begun.elapsed() < Duration::from_secs(30) {
        thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(pool.ready(), 3);
    // Of one that is ready there may be fewer or more.
    assert_eq!(pool.crew(2).unwrap().len(), 2);
    assert_eq!(pool.crew(5).unwrap().len(), 5);
}

const WAIT: &str = r#"
  (func (export "wait") (param $state i32) (param i32) (result i32)
    (drop (memory.atomic.wait32 (local.get $state) (i32.const 0) (i64.const -1))) (i32.const 1))
  (func (export "spin") (param i32 i32) (result i32) (loop (br 0)) (i32.const 1))
  (func (export "trap") (param i32 i32) (result i32) unreachable)"#;

/// One traps, the others wait for it or spin: they are ended, and the next crew works.
#[test]
fn who_waits_for_one_that_failed_is_ended() {
    for (bounds, mut crew) in crews(WAIT, 3) {
        let begun = Instant::now();
        let stops: Vec<_> = crew.iter().map(Guest::stop).collect();
        thread::scope(|scope| {
            let (first, others) = crew.split_first_mut().unwrap();
            for (guest, name) in others.iter_mut().zip(["wait", "spin"]) {
                scope.spawn(move || guest.status(name, 64, 0).unwrap_err());
            }
            thread::sleep(Duration::from_millis(20));
            let error = first.status("trap", 64, 0).unwrap_err();
            assert!(
                error.starts_with("trap: unreachable in "),
                "{bounds}: {error}"
            );
            stops.iter().for_each(fathom_guest::Stop::now);
        });
        assert!(begun.elapsed() < Duration::from_secs(5), "{bounds}");
    }
}

#[test]
fn each_has_its_deadline() {
    let options = Options {
        deadline: Duration::from_millis(100),
        ..Options::default()
    };
    let mut crew = pool(options, WAIT).unwrap().crew(2).unwrap();
    thread::scope(|scope| {
        for (guest, name) in crew.iter_mut().zip(["wait", "spin"]) {
            scope.spawn(move || {
                let error = guest.status(name, 64, 0).unwrap_err();
                assert_eq!(error, "it took longer than its deadline of 100ms", "{name}");
            });
        }
    });
}

/// All instances together have what the function may have, and no page more.
#[test]
fn a_bomb_has_the_memory_of_its_function() {
    let options = Options {
        memory_bytes: 9 << 16,
        ..Options::default()
    };
    let grow = r#"
      (func (export "grow") (param i32 i32) (result i32)
        (loop (br_if 0 (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (memory.size))"#;
    let mut crew = pool(options, grow).unwrap().crew(4).unwrap();
    thread::scope(|scope| {
        for guest in &mut crew {
            scope.spawn(move || assert_eq!(guest.status("grow", 0, 0), Ok(9)));
        }
    });
    assert_eq!(crew[0].bytes(), 9 << 16);
    let less = Options {
        memory_bytes: 1 << 16,
        ..Options::default()
    };
    let refused = pool(less, grow).unwrap().crew(2).err().unwrap();
    assert_eq!(
        refused,
        "128 KiB of memories are beyond the limit of 64 KiB"
    );
}

/// What the host checks is changed under it: it reads something that was there, or refuses.
#[test]
fn what_is_read_was_checked_whoever_writes() {
    let scribble = r#"
      (func (export "scribble") (param $at i32) (param $end i32) (result i32) (local $i i32) (local $word i32)
        (loop
          (local.set $word (i32.add (i32.mul (local.get $word) (i32.const 1103515245)) (i32.const 12345)))
          (local.set $i (local.get $at))
          (loop
            (i32.store (local.get $i) (i32.and (local.get $word) (i32.shr_s (local.get $word) (i32.const 15))))
            (local.set $i (i32.add (local.get $i) (i32.const 4)))
            (br_if 0 (i32.lt_u (local.get $i) (local.get $end))))
          (br_if 0 (i32.eqz (i32.atomic.load (i32.const 128)))))
        (i32.const 1))
      (func (export "end") (param i32) (i32.atomic.store (i32.const 128) (i32.const 1)))"#;
    let mut crew = pool(Options::default(), scribble).unwrap().crew(2).unwrap();
    let types = [ColumnType::Varchar, ColumnType::BigInt, ColumnType::Boolean];
    let columns: [(ColumnType, ArrayRef); 3] = [
        (
            ColumnType::Varchar,
            Arc::new(arrow_array::StringArray::from(vec!["a", "bc"])),
        ),
        (ColumnType::BigInt, Arc::new(Int64Array::from(vec![1, 2]))),
        (
            ColumnType::Boolean,
            Arc::new(arrow_array::BooleanArray::from(vec![true, false])),
        ),
    ];
    let input = Input::new(2, &columns).unwrap();
    let (writer, reader) = crew.split_at_mut(1);
    let (writer, reader) = (&mut writer[0], &mut reader[0]);
    let (at, _) = reader.give(&input, &[]).unwrap();
    assert_eq!(reader.take(at, &types, Some(2)).map(|all| all.len()), Ok(3));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            writer.status("scribble", at, at + 64).unwrap();
            is_over.store(true, Ordering::SeqCst);
        });
        let begun = Instant::now();
        let mut read = 0;
        while begun.elapsed() < Duration::from_millis(300) {
            let _ = reader.give(&input, &[]).unwrap();
            if let Ok(all) = reader.take(at, &types, None) {
                all.iter()
                    .for_each(|array| array.to_data().validate_full().unwrap());
                read += 1;
            }
            let _ = reader.shape(at, &types);
        }
        assert!(read > 0 && !is_over.load(Ordering::SeqCst));
        reader.end("end", 0).unwrap();
    });
}

#[test]
fn modules_that_make_no_crew() {
    let own = r#"(module (memory (export "memory") 1)
      (func (export "fathom_reserve") (param i32) (result i32) (i32.const 8)))"#;
    let made = |text: &str| Pool::new(wat::parse_str(text).unwrap(), Options::default());
    let pool_of_own = Arc::new(made(own).unwrap());
    assert!(!pool_of_own.is_shared());
    assert_eq!(
        pool_of_own.crew(2).err().unwrap(),
        "it imports no shared memory"
    );
    let not_imported = r#"(module (memory (export "memory") 1 1 shared))"#;
    assert_eq!(
        made(not_imported).err().unwrap(),
        "its memory is shared, but not imported: instances would have one each"
    );
    let two =
        r#"(module (import "a" "b" (memory 1 1 shared)) (import "a" "c" (memory 1 1 shared)))"#;
    let two = made(two).err().unwrap();
    assert!(two.contains('2') || two.contains("memories"), "{two}");
}

/// What the first says of the others' rooms.
#[test]
fn threads_without_room() {
    for (open, start, expected) in [
        ("(i32.const 0)", "", "it has no memory for 2 threads"),
        ("unreachable", "", "trap: unreachable"),
        ("(i32.const 64)", "unreachable", "trap: unreachable"),
        (
            "(i32.const -8)",
            "(i32.store (local.get 0) (i32.const 1)) (i32.store offset=8 (local.get 0) (i32.const 1))",
            "trap: out of bounds memory access",
        ),
        (
            "(loop (br 0)) (i32.const 8)",
            "",
            "it took longer than its deadline of 200ms",
        ),
    ] {
        let module = format!(
            r#"(module (import "env" "memory" (memory 1 4 shared)) (export "memory" (memory 0))
              (func (export "fathom_thread_open") (result i32) {open})
              (func (export "fathom_thread_start") (param i32) {start})
              (func (export "fathom_reserve") (param i32) (result i32) (i32.const 8)))"#
        );
        let options = Options {
            deadline: Duration::from_millis(200),
            ..Options::default()
        };
        let pool = Arc::new(Pool::new(wat::parse_str(module).unwrap(), options).unwrap());
        let error = pool.crew(2).err().unwrap();
        assert!(error.starts_with(expected), "{error}");
        assert_eq!(pool.crew(1).map(|crew| crew.len()), Ok(1));
    }
}
