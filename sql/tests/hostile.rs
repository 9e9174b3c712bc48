//! Modules that are wrong, hostile or both: each fails its query in one line, within its
//! deadline, and the next query works.

mod common;

use std::path::Path;

use common::{Bench, COMMON};
use fathom_sql::statement::{Statement, parse};

/// Functions of one bigint, by their bodies, and what their queries say.
const SCALARS: [(&str, &str); 15] = [
    (
        "(loop (br 0)) (i32.const 1)",
        "a batch of 3 rows: it took longer than its deadline of 300ms",
    ),
    ("unreachable", "a batch of 3 rows: trap: unreachable"),
    (
        "(i32.load (i32.const -8))",
        "trap: out of bounds memory access",
    ),
    (
        "(i32.div_u (i32.const 1) (i32.const 0))",
        "trap: integer divide by zero",
    ),
    ("(call $deeper)", "trap: call stack exhausted"),
    ("(i32.const -1)", "it reports failure -1"),
    // It has no memory any more, or as much as it may have: -1 is returned, which it ignores.
    (
        "(loop (br_if 0 (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable",
        "trap: unreachable",
    ),
    (
        "(i32.store (local.get 1) (i32.const 2)) (i32.const 1)",
        "it returned 2 rows for 3",
    ),
    (
        "(i32.store (local.get 1) (i32.const -1)) (i32.const 1)",
        "it returned 4294967295 rows for 3",
    ),
    (
        "(i32.store offset=4 (local.get 1) (i32.const 9)) (i32.const 1)",
        "it returned 9 columns where 1 are declared",
    ),
    (
        "(i32.store offset=8 (local.get 1) (i32.const -4)) (i32.const 1)",
        "it returned columns of 16 bytes at 0xfffffffc are outside its memory",
    ),
    (
        "(i32.store (call $column (local.get 1)) (i32.const 3)) (i32.const 1)",
        "it returned column 1 is of type number 3, not bigint",
    ),
    (
        "(i32.store offset=4 (call $column (local.get 1)) (i32.const 131072)) (i32.const 1)",
        "it returned the bitmap of column 1 of 1 bytes at 0x20000 are outside its memory",
    ),
    (
        "(i32.store offset=8 (call $column (local.get 1)) (i32.const 131064)) (i32.const 1)",
        "it returned the values of column 1 of 24 bytes at 0x1fff8 are outside its memory",
    ),
    ("(call $import) (i32.const 1)", "system"),
];

#[tokio::test(flavor = "multi_thread")]
async fn functions_of_rows() {
    let bench = Bench::new();
    for (i, (body, expected)) in SCALARS.iter().enumerate() {
        bench.module(
            &format!("f{i}.wasm"),
            &format!(
                r#"(module (import "env" "system" (func $import)) {COMMON}
                  (func $deeper (result i32) (i32.add (call $deeper) (i32.const 1)))
                  (func $column (param i32) (result i32) (i32.load offset=8 (local.get 0)))
                  (func (export "f{i}") (param i32 i32) (result i32) {body}))"#
            ),
        );
        let sql = format!(
            "CREATE FUNCTION f{i}(bigint) RETURNS bigint LANGUAGE wasm AS 'f{i}.wasm'
             WITH (deadline = '300ms', memory = '4 MiB')"
        );
        assert_eq!(bench.run(&sql).await, Ok(0), "{sql}");
        let line = bench
            .refused(&format!("SELECT f{i}(a) FROM (VALUES (1), (2), (3)) t(a)"))
            .await;
        assert!(line.starts_with(&format!("function f{i}, ")), "{line}");
        assert!(line.contains(expected), "{body}: {line}");
    }
}

/// Functions from text to text: where they say that the text and its offsets are.
const TEXTS: [(&str, u32, &str); 4] = [
    (
        "\\00\\00\\00\\00\\02\\00\\00\\00\\01\\00\\00\\00",
        512,
        "it returned column 1: the offsets of row 2 go back",
    ),
    (
        "\\00\\00\\00\\00\\01\\00\\00\\00\\ff\\ff\\ff\\7f",
        512,
        "it returned the text of column 1 of 2147483647 bytes at 0x200 are outside its memory",
    ),
    (
        "\\00\\00\\00\\00\\01\\00\\00\\00\\02\\00\\00\\00",
        600,
        "it returned column 1 is not UTF-8",
    ),
    (
        "\\05\\00\\00\\00\\05\\00\\00\\00\\05\\00\\00\\00",
        0xffff_fffe,
        "are outside its memory",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn text_that_is_none() {
    let bench = Bench::new();
    for (i, (offsets, values, expected)) in TEXTS.iter().enumerate() {
        bench.module(
            &format!("t{i}.wasm"),
            &format!(
                r#"(module {COMMON} (data (i32.const 256) "{offsets}") (data (i32.const 600) "\ff\fe")
                  (func (export "t{i}") (param i32 i32) (result i32) (local $column i32)
                    (local.set $column (i32.load offset=8 (local.get 1)))
                    (i32.store offset=8 (local.get $column) (i32.const {values}))
                    (i32.store offset=12 (local.get $column) (i32.const 256))
                    (i32.const 1)))"#
            ),
        );
        let sql =
            format!("CREATE FUNCTION t{i}(varchar) RETURNS varchar LANGUAGE wasm AS 't{i}.wasm'");
        assert_eq!(bench.run(&sql).await, Ok(0));
        let line = bench
            .refused(&format!("SELECT t{i}(a) FROM (VALUES ('x'), ('y')) t(a)"))
            .await;
        assert!(line.contains(expected), "{offsets}: {line}");
    }
}

/// Operators, by their three functions.
const OPERATORS: [(&str, &str, &str, &str); 10] = [
    (
        "(i32.const 0)",
        "(i32.const 1)",
        "(i32.const 0)",
        "before its first row: it has no memory for its state",
    ),
    (
        "unreachable",
        "(i32.const 1)",
        "(i32.const 0)",
        "before its first row: trap: unreachable",
    ),
    (
        "(i32.const 8)",
        "(loop (br 0)) (i32.const 1)",
        "(i32.const 0)",
        "rows 1 to 3: it took longer than its deadline of 300ms",
    ),
    (
        "(i32.const 8)",
        "(i32.const -7)",
        "(i32.const 0)",
        "rows 1 to 3: it reports failure -7",
    ),
    (
        "(i32.const 8)",
        "(i32.const 1)",
        "unreachable",
        "its output for 3 rows: trap: unreachable",
    ),
    (
        "(i32.const 8)",
        "(i32.const 1)",
        "(loop (br 0)) (i32.const 1)",
        "its output for 3 rows: it took longer",
    ),
    (
        "(i32.const 8)",
        "(i32.const 1)",
        "(i32.store (local.get 1) (i32.const 99999)) (i32.const 1)",
        "the values of column 1 of 799992 bytes at 0x0 are outside its memory",
    ),
    (
        "(i32.const 8)",
        "(i32.const 1)",
        "(i32.store offset=4 (local.get 1) (i32.const 0)) (i32.const 1)",
        "0 columns where 1 are declared",
    ),
    (
        "(i32.const 8)",
        "(i32.const 1)",
        "(i32.const 1)",
        "its output for 3 rows: a batch without rows",
    ),
    // Without end, a few rows at a time.
    (
        "(i32.const 8)",
        "(i32.const 1)",
        "(i32.store (local.get 1) (i32.const 1000)) (i32.const 1)",
        "its output for 3 rows: more than 1000000 rows",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn operators() {
    let bench = Bench::new();
    for (i, (open, consume, produce, expected)) in OPERATORS.iter().enumerate() {
        bench.module(
            &format!("o{i}.wasm"),
            &format!(
                r#"(module {COMMON}
                  (func (export "o{i}_open") (result i32) {open})
                  (func (export "o{i}_consume") (param i32 i32) (result i32) {consume})
                  (func (export "o{i}_produce") (param i32 i32) (result i32) {produce}))"#
            ),
        );
        let sql = format!(
            "CREATE FUNCTION o{i}(table) RETURNS TABLE (x bigint) LANGUAGE wasm AS 'o{i}.wasm'
             WITH (deadline = '300ms', rows = '1000000')"
        );
        assert_eq!(bench.run(&sql).await, Ok(0));
        let call = format!("SELECT * FROM o{i}(TABLE (SELECT * FROM (VALUES (1), (2), (3)) t(a)))");
        let line = bench.refused(&call).await;
        assert!(line.starts_with(&format!("function o{i}, ")), "{line}");
        assert!(line.contains(expected), "{i}: {line}");
    }
}

fn put_modules_that_are_none(bench: &Bench) {
    let folder: &Path = bench.folder.path();
    std::fs::write(folder.join("empty.wasm"), b"").unwrap();
    std::fs::write(folder.join("text.wasm"), b"SELECT 1").unwrap();
    bench.module("bare.wasm", "(module)");
    bench.module(
        "other.wasm",
        &format!(r#"(module {COMMON} (func (export "g")))"#),
    );
    bench.module(
        "types.wasm",
        &format!(r#"(module {COMMON} (func (export "f")))"#),
    );
    bench.module(
        "start.wasm",
        &format!(
            r#"(module {COMMON} (func $s (loop (br 0))) (start $s)
          (func (export "f") (param i32 i32) (result i32) (i32.const 1)))"#
        ),
    );
    bench.module(
        "wild.wasm",
        r#"(module (memory (export "memory") 1)
          (func (export "fathom_reserve") (param i32) (result i32) (i32.const -8))
          (func (export "f") (param i32 i32) (result i32) (i32.const 1)))"#,
    );
    bench.module(
        "large.wasm",
        r#"(module (memory (export "memory") 2000)
          (func (export "fathom_reserve") (param i32) (result i32) (i32.const 1024))
          (func (export "f") (param i32 i32) (result i32) (i32.const 1)))"#,
    );
    bench.module(
        "shared.wasm",
        r#"(module (memory (export "memory") 1 1 shared)
          (func (export "fathom_reserve") (param i32) (result i32) (i32.const 1024))
          (func (export "f") (param i32 i32) (result i32) (i32.const 1)))"#,
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn modules_that_are_none() {
    let bench = Bench::new();
    put_modules_that_are_none(&bench);
    let create = |file: &str| {
        format!(
            "CREATE OR REPLACE FUNCTION f(bigint) RETURNS bigint LANGUAGE wasm AS '{file}' WITH (deadline = '300ms', memory = '8 MiB')"
        )
    };
    for (file, expected) in [
        ("missing.wasm", "No such file"),
        ("empty.wasm", "empty.wasm: "),
        ("text.wasm", "text.wasm: "),
        ("bare.wasm", "bare.wasm: no export memory (there are: )"),
        (
            "other.wasm",
            "other.wasm: no export f (there are: memory, fathom_reserve, g)",
        ),
        (
            "shared.wasm",
            "shared.wasm: its memory is shared, but not imported",
        ),
    ] {
        let line = bench.refused(&create(file)).await;
        assert!(
            line.starts_with("function f: ") && line.contains(expected),
            "{line}"
        );
    }
    for (file, expected) in [
        ("types.wasm", "function f, a batch of 1 rows: "),
        ("start.wasm", "it took longer than its deadline of 300ms"),
        ("wild.wasm", "fathom_reserve returned 0xfffffff8"),
        ("large.wasm", "function f, a batch of 1 rows: "),
    ] {
        assert_eq!(bench.run(&create(file)).await, Ok(0), "{file}");
        let line = bench.refused("SELECT f(1)").await;
        assert!(line.contains(expected), "{file}: {line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_do_not_fit() {
    let bench = Bench::new();
    bench.module(
        "o.wasm",
        &format!(
            r#"(module {COMMON} (func (export "o_open") (result i32) (i32.const 8))
              (func (export "o_consume") (param i32 i32) (result i32) (i32.const 1))
              (func (export "o_produce") (param i32 i32) (result i32) (i32.const 0)))"#
        ),
    );
    let create = "CREATE FUNCTION o(table) RETURNS TABLE (x bigint) LANGUAGE wasm AS 'o.wasm'";
    assert_eq!(bench.run(create).await, Ok(0));
    assert_eq!(
        bench.refused(create).await,
        "function o is there: CREATE OR REPLACE FUNCTION replaces it"
    );
    let line = bench.refused("SELECT * FROM o(1)").await;
    assert!(
        line.contains("function o takes one table: o(TABLE (SELECT …))"),
        "{line}"
    );
    let line = bench
        .refused("SELECT * FROM o(TABLE (SELECT DATE '2026-01-01' AS d))")
        .await;
    assert!(
        line.contains("function o: column d is of type Date32"),
        "{line}"
    );
    // An empty table is one.
    assert_eq!(
        bench
            .run("SELECT * FROM o(TABLE (SELECT 1 WHERE false))")
            .await,
        Ok(0)
    );
    assert_eq!(bench.run("DROP FUNCTION o").await, Ok(0));
    assert_eq!(
        bench.refused("DROP FUNCTION o").await,
        "there is no function o"
    );
    assert_eq!(bench.run("DROP FUNCTION IF EXISTS o").await, Ok(0));
    bench.refused("SELECT * FROM o(TABLE (SELECT 1))").await;
}

/// Two operators of one module: `one`, whose output is the bigint 7, and `two`, which returns
/// the sum of what it is given; each body as a case wants it.
fn pair(consume: &str, produce: &str) -> String {
    format!(
        r#"(module {COMMON} (global $done (mut i32) (i32.const 0)) (global $sum (mut i64) (i64.const 0))
          (data (i32.const 512) "\07\00\00\00\00\00\00\00")
          (func $column (param i32) (result i32) (i32.load offset=8 (local.get 0)))
          (func $return (param $out i32) (param $at i32) (result i32)
            (i32.store (local.get $out) (i32.const 1))
            (i32.store offset=8 (call $column (local.get $out)) (local.get $at))
            (i32.const 1))
          (func (export "one_open") (result i32) (i32.const 8))
          (func (export "one_consume") (param i32 i32) (result i32) (i32.const 1))
          (func (export "one_produce") (param i32 i32) (result i32) {produce})
          (func (export "two_open") (result i32) (i32.const 16))
          (func (export "two_consume") (param i32 i32) (result i32) {consume})
          (func (export "two_produce") (param i32 i32) (result i32)
            (if (i32.eq (global.get $done) (i32.const 9)) (then (return (i32.const 0))))
            (global.set $done (i32.const 9))
            (i64.store (i32.const 520) (global.get $sum))
            (call $return (local.get 1) (i32.const 520))))"#
    )
}

const SEVEN_TWICE: &str = "
  (if (i32.eq (global.get $done) (i32.const 2)) (then (return (i32.const 0))))
  (global.set $done (i32.add (global.get $done) (i32.const 1)))
  (call $return (local.get 1) (i32.const 512))";

const ADD: &str = "
  (global.set $sum (i64.add (global.get $sum) (i64.load (i32.load offset=8 (call $column (local.get 1))))))
  (i32.const 1)";

/// What the second takes, what the first returns, and what the query says.
const HOSTILE_PAIRS: [(&str, &str, &str); 8] = [
    (
        "unreachable",
        SEVEN_TWICE,
        "function two, rows 1 to 1: trap: unreachable",
    ),
    (
        "(loop (br 0)) (i32.const 1)",
        SEVEN_TWICE,
        "function two, rows 1 to 1: it took longer",
    ),
    (
        ADD,
        "unreachable",
        "function one, its output for 1 rows: trap: unreachable",
    ),
    (
        ADD,
        "(i32.store (call $column (local.get 1)) (i32.const 5)) (i32.const 1)",
        "function one, its output for 1 rows: it returned column 1 is of type number 5, not bigint",
    ),
    (
        ADD,
        "(i32.store offset=8 (local.get 1) (i32.const -4)) (i32.const 1)",
        "columns of 16 bytes at 0xfffffffc are outside its memory",
    ),
    (
        ADD,
        "(i32.const 1)",
        "function one, its output for 1 rows: a batch without rows",
    ),
    (
        ADD,
        "(call $return (local.get 1) (i32.const 512))",
        "function one, its output for 1 rows: more than 1000 rows",
    ),
    // Only the second reads there, and only its own memory.
    (
        ADD,
        "(call $return (local.get 1) (i32.const -8))",
        "function two, rows 1 to 1: trap: out of bounds memory access",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn operators_of_one_module_share_an_instance() {
    let bench = Bench::new();
    let chain = "SELECT x FROM two(TABLE (SELECT * FROM one(TABLE (SELECT 1))))";
    let create = |name: &str, file: &str| {
        format!(
            "CREATE OR REPLACE FUNCTION {name}(table) RETURNS TABLE (x bigint) LANGUAGE wasm
             AS '{file}.wasm', '{name}' WITH (deadline = '300ms', rows = '1000')"
        )
    };
    bench.module("pair.wasm", &pair(ADD, SEVEN_TWICE));
    for name in ["one", "two"] {
        assert_eq!(bench.run(&create(name, "pair")).await, Ok(0));
    }
    assert_eq!(bench.run(&format!("{chain} WHERE x = 14")).await, Ok(1));
    let plan = bench
        .session
        .run(&format!("EXPLAIN {chain}"))
        .await
        .unwrap();
    let plan = format!("{plan:?}");
    assert!(plan.contains("WasmOperatorExec: one > two"), "{plan}");
    // Of two modules, or with other options, there is a copy between them, and the same answer.
    bench.module(
        "other.wasm",
        &format!("{} ;; another", pair(ADD, SEVEN_TWICE)).replace("16", "24"),
    );
    assert_eq!(bench.run(&create("one", "other")).await, Ok(0));
    assert_eq!(bench.run(&format!("{chain} WHERE x = 14")).await, Ok(1));
    for (consume, produce, expected) in HOSTILE_PAIRS {
        bench.module("pair.wasm", &pair(consume, produce));
        for name in ["one", "two"] {
            assert_eq!(bench.run(&create(name, "pair")).await, Ok(0));
        }
        let line = bench.refused(chain).await;
        assert!(line.contains(expected), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_have_instances_of_their_own() {
    let bench = Bench::new();
    // It returns one row, the number of rows that it was given.
    let counter = |consume: &str| {
        format!(
            r#"(module {COMMON} (global $rows (mut i64) (i64.const 0)) (global $done (mut i32) (i32.const 0))
              (func (export "c_open") (result i32) (i32.const 8))
              (func (export "c_consume") (param i32 i32) (result i32)
                (global.set $rows (i64.add (global.get $rows) (i64.load32_u (local.get 1)))) {consume})
              (func (export "c_produce") (param i32 i32) (result i32)
                (if (global.get $done) (then (return (i32.const 0))))
                (global.set $done (i32.const 1))
                (i64.store (i32.const 512) (global.get $rows))
                (i32.store (local.get 1) (i32.const 1))
                (i32.store offset=8 (i32.load offset=8 (local.get 1)) (i32.const 512))
                (i32.const 1)))"#
        )
    };
    let create = |parallel: &str| {
        format!(
            "CREATE OR REPLACE FUNCTION c(table) RETURNS TABLE (x bigint) LANGUAGE wasm {parallel}
             AS 'c.wasm'"
        )
    };
    let rows = "SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3";
    let counts = format!("SELECT x FROM c(TABLE ({rows}))");
    bench.module("c.wasm", &counter("(i32.const 1)"));
    for (parallel, partitions) in [("", 1), ("PARALLEL UNSAFE", 1), ("PARALLEL SAFE", 3)] {
        assert_eq!(bench.run(&create(parallel)).await, Ok(0));
        assert_eq!(bench.run(&counts).await, Ok(partitions), "{parallel}");
        let all = format!("SELECT 1 FROM ({counts}) HAVING sum(x) = 3");
        assert_eq!(bench.run(&all).await, Ok(1), "{parallel}");
    }
    bench.module("c.wasm", &counter("unreachable"));
    assert_eq!(bench.run(&create("PARALLEL SAFE")).await, Ok(0));
    let line = bench.refused(&counts).await;
    assert!(line.starts_with("function c, partition "), "{line}");
    assert!(line.contains(", rows 1 to 1: trap: unreachable"), "{line}");
}

/// A function that counts its batches in its memory.
#[tokio::test(flavor = "multi_thread")]
async fn instances_are_ready_and_reused_or_fresh() {
    let bench = Bench::new();
    bench.module(
        "n.wasm",
        &format!(
            r#"(module {COMMON} (global $batches (mut i64) (i64.const 0))
              (func (export "n") (param i32 i32) (result i32)
                (global.set $batches (i64.add (global.get $batches) (i64.const 1)))
                (i64.store (i32.load offset=8 (i32.load offset=8 (local.get 1))) (global.get $batches))
                (i32.const 1)))"#
        ),
    );
    for (reuse, expected) in [("on", "5"), ("off", "1")] {
        let create = format!(
            "CREATE OR REPLACE FUNCTION n() RETURNS bigint LANGUAGE wasm AS 'n.wasm' WITH (reuse = '{reuse}')"
        );
        assert_eq!(bench.run(&create).await, Ok(0));
        let mut seen = Vec::new();
        for _ in 0..40 {
            let value = bench.session.run("SELECT n() AS n").await.unwrap();
            seen.push(format!("{value:?}").contains(&format!("\n  {expected},\n")));
        }
        // Of two that are ready the last is taken first, so one has the fifth batch.
        let is_right = if reuse == "on" {
            seen.contains(&true)
        } else {
            !seen.contains(&false)
        };
        assert!(is_right, "reuse {reuse}: {seen:?}");
    }
    let programs = fathom_sql::Programs::default();
    let sql = "CREATE FUNCTION n() RETURNS bigint LANGUAGE wasm AS 'n.wasm'";
    let load = || {
        let Some(Statement::Create(create)) = parse(sql).unwrap().pop() else {
            panic!("{sql} creates none");
        };
        programs.load(create, bench.folder.path(), 3).unwrap()
    };
    let (program, _same) = (load(), load());
    let began = std::time::Instant::now();
    while program.ready() < 3 && began.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(program.ready(), 3);
}
