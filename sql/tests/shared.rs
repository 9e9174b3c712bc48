//! Operators over one shared memory: that all threads work on it, and hostile ones.

mod common;

use common::{Bench, COMMON};

/// Counts rows in one state at 64, and steps at 80; two threads have a room for 8192 rows each. It returns
/// one row, the number of rows.
fn module(consume: &str, work: &str, produce: &str) -> String {
    format!(
        r#"(module
          (import "env" "memory" (memory 5 16 shared)) (export "memory" (memory 0))
          (global $room (mut i32) (i32.const 4096)) (global $next (mut i32) (i32.const 4096))
          (func (export "fathom_thread_open") (result i32)
            (global.set $next (i32.add (global.get $next) (i32.const 131072))) (global.get $next))
          (func (export "fathom_thread_start") (param i32) (global.set $room (local.get 0)))
          (func (export "fathom_reserve") (param i32) (result i32) (global.get $room))
          (func $first (result i32) (i32.eq (global.get $room) (i32.const 4096)))
          (func (export "s_open") (result i32) (i32.const 64))
          (func (export "s_consume") (param $state i32) (param $batch i32) (result i32)
            (drop (i64.atomic.rmw.add (local.get $state) (i64.load32_u (local.get $batch)))) {consume})
          (func (export "s_work") (param $state i32) (param $step i32) (result i32)
            (drop (i64.atomic.rmw.add offset=16 (local.get $state) (i64.const 1))) {work})
          (func (export "s_produce") (param $state i32) (param $out i32) (result i32) {produce}))"#
    )
}

/// One row by whoever comes first: what is at an address.
fn once(at: u32) -> String {
    format!(
        "(if (i32.atomic.rmw.xchg offset=8 (local.get $state) (i32.const 1)) (then (return (i32.const 0))))
         (i32.store (local.get $out) (i32.const 1))
         (i32.store offset=8 (i32.load offset=8 (local.get $out)) (i32.const {at})) (i32.const 1)"
    )
}

const OK: &str = "(i32.const 1)";
const DONE: &str = "(i32.const 0)";

fn create(parallel: &str) -> String {
    format!(
        "CREATE OR REPLACE FUNCTION s(table) RETURNS TABLE (x bigint) LANGUAGE wasm {parallel}
         AS 's.wasm' WITH (deadline = '300ms', rows = '1000', memory = '1 MiB')"
    )
}

const ROWS: &str = "SELECT * FROM generate_series(1, 100000)";

#[tokio::test(flavor = "multi_thread")]
async fn all_threads_have_one_state() {
    let bench = Bench::new();
    let sum =
        |x: u64| format!("SELECT 1 FROM s(TABLE ({ROWS})) HAVING count(*) = 1 AND sum(x) = {x}");
    // By default a module that imports a shared memory is run on it.
    for parallel in ["", "PARALLEL SHARED", "PARALLEL UNSAFE"] {
        bench.module("s.wasm", &module(OK, DONE, &once(64)));
        assert_eq!(bench.run(&create(parallel)).await, Ok(0));
        assert_eq!(bench.run(&sum(100_000)).await, Ok(1), "{parallel}");
        // A query has a memory of its own.
        assert_eq!(bench.run(&sum(100_000)).await, Ok(1), "{parallel}");
    }
    // Of four steps each thread has had each.
    let steps = "(i32.lt_u (local.get $step) (i32.const 3))";
    bench.module("s.wasm", &module(OK, steps, &once(80)));
    assert_eq!(bench.run(&create("PARALLEL SHARED")).await, Ok(0));
    assert_eq!(bench.run(&sum(8)).await, Ok(1));
    // An empty table has no rows and the same steps.
    let empty = format!("SELECT 1 FROM s(TABLE ({ROWS} LIMIT 0)) HAVING sum(x) = 8");
    assert_eq!(bench.run(&empty).await, Ok(1));
    // As many rows as all threads return; a query that leaves early ends them.
    bench.module(
        "s.wasm",
        &module(
            OK,
            DONE,
            "(i32.store (local.get $out) (i32.const 7)) (i32.const 1)",
        ),
    );
    assert_eq!(bench.run(&create("PARALLEL SHARED")).await, Ok(0));
    let some = format!("SELECT * FROM s(TABLE ({ROWS})) LIMIT 20");
    assert_eq!(bench.run(&some).await, Ok(20));
}

const WAIT: &str = "(drop (memory.atomic.wait32 offset=32 (local.get $state) (i32.const 0) (i64.const -1))) (i32.const 1)";
const SPIN: &str = "(loop (br 0)) (i32.const 1)";

/// How it consumes, works and produces, and what is said of it.
fn hostile() -> Vec<(String, String, String, &'static str)> {
    let only = |body: &str, else_: &str| {
        format!("(if (result i32) (call $first) (then {body}) (else {else_}))")
    };
    let row = |consume: &str, work: &str, produce: &str, expected| {
        (
            consume.to_owned(),
            work.to_owned(),
            produce.to_owned(),
            expected,
        )
    };
    let one = once(64);
    vec![
        row("unreachable", DONE, &one, ": trap: unreachable"),
        row(SPIN, DONE, &one, ": it took longer than its deadline of 300ms"),
        row(WAIT, DONE, &one, ": it took longer than its deadline of 300ms"),
        row("(i32.const -5)", DONE, &one, ": it reports failure -5"),
        row("(i32.load (i32.const -4))", DONE, &one, ": trap: out of bounds memory access"),
        row("(i32.atomic.load (i32.const 65))", DONE, &one, ": trap: unaligned atomic"),
        // One fails while the others wait for it.
        row(OK, &only("unreachable", WAIT), &one, "step 0 of its work on 100000 rows: trap: unreachable"),
        row(OK, &only(SPIN, DONE), &one, "step 0 of its work on 100000 rows: it took longer"),
        row(OK, OK, &one, "its work on 100000 rows: it is not done after 10000 steps"),
        row(OK, DONE, &only("unreachable", WAIT), "its output for 100000 rows: trap: unreachable"),
        row(OK, DONE, SPIN, "its output for 100000 rows: it took longer"),
        row(OK, DONE, OK, "its output for 100000 rows: a batch without rows"),
        row(
            OK,
            DONE,
            "(i32.store (local.get $out) (i32.const 300)) (i32.const 1)",
            "its output for 100000 rows: more than 1000 rows",
        ),
        row(
            OK,
            DONE,
            "(i32.store (local.get $out) (i32.const 999999)) (i32.const 1)",
            "are outside its memory",
        ),
        // A bomb: it ends where the function's memory does.
        row(
            "(loop (br_if 0 (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
             (if (i32.ne (memory.size) (i32.const 16)) (then (return (i32.const -16)))) unreachable",
            DONE,
            &one,
            ": trap: unreachable",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_that_fails_ends_all() {
    let bench = Bench::new();
    for (i, (consume, work, produce, expected)) in hostile().iter().enumerate() {
        bench.module("s.wasm", &module(consume, work, produce));
        assert_eq!(bench.run(&create("PARALLEL SHARED")).await, Ok(0), "{i}");
        let line = bench
            .refused(&format!("SELECT * FROM s(TABLE ({ROWS}))"))
            .await;
        assert!(line.starts_with("function s, "), "{i}: {line}");
        assert!(line.contains(expected), "{i}: {line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_does_not_fit_the_module() {
    let bench = Bench::new();
    bench.module("s.wasm", &module(OK, DONE, &once(64)));
    let own = format!(
        r#"(module {COMMON}
          (func (export "s_open") (result i32) (i32.const 64))
          (func (export "s_consume") (param i32 i32) (result i32) (i32.const 1))
          (func (export "s_produce") (param i32 i32) (result i32) (i32.const 0)))"#
    );
    bench.module("own.wasm", &own);
    let imported = r#"(import "env" "memory" (memory 5 16 shared)) (export "memory" (memory 0))"#;
    let text = module(OK, DONE, &once(64));
    bench.module(
        "not.wasm",
        &text.replace(imported, r#"(memory (export "memory") 2 16 shared)"#),
    );
    for (sql, expected) in [
        (
            create("PARALLEL SHARED").replace("s.wasm", "own.wasm"),
            "function s: own.wasm: it imports no shared memory, which PARALLEL SHARED is about",
        ),
        (
            create("").replace("s.wasm", "not.wasm"),
            "function s: not.wasm: its memory is shared, but not imported: instances would have one each",
        ),
        (
            "CREATE FUNCTION f(bigint) RETURNS bigint LANGUAGE wasm PARALLEL SHARED AS 's.wasm'"
                .to_owned(),
            "function f is no operator: each partition has an instance of its own",
        ),
        (
            create("PARALLEL OFTEN"),
            "expected SAFE, UNSAFE or SHARED, found `OFTEN`",
        ),
    ] {
        assert_eq!(bench.refused(&sql).await, expected);
    }
    // More memory than the function may have, before its first row.
    let small = create("").replace("1 MiB", "64 KiB");
    assert_eq!(bench.run(&small).await, Ok(0));
    let line = bench
        .refused(&format!("SELECT * FROM s(TABLE ({ROWS}))"))
        .await;
    assert!(
        line.starts_with("function s, before its first row: "),
        "{line}"
    );
}
