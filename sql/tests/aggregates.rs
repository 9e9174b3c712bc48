//! Aggregates that are wrong, hostile or both; and what is right beside them.

mod common;

use common::{Bench, COMMON};

/// The exports of an aggregate, of which one has this body.
fn module(name: &str, part: &str, body: &str) -> String {
    let usual = [
        ("columns", "(result i32)", "(i32.const 512)"),
        ("open", "(result i32)", "(i32.const 8)"),
        (
            "update",
            "(param i32 i32 i32) (result i32)",
            "(i32.const 1)",
        ),
        ("merge", "(param i32 i32 i32) (result i32)", "(i32.const 1)"),
        ("state", "(param i32 i32 i32) (result i32)", "(i32.const 1)"),
        (
            "finish",
            "(param i32 i32 i32) (result i32)",
            "(i32.const 1)",
        ),
        ("close", "(param i32)", ""),
    ];
    let exports = usual.map(|(own, ty, usual)| {
        let body = if own == part { body } else { usual };
        format!(r#"(func (export "{name}_{own}") {ty} {body})"#)
    });
    format!(
        r#"(module {COMMON} (data (i32.const 512) "n bigint\00")
          (func $deeper (result i32) (i32.add (call $deeper) (i32.const 1)))
          (func $column (param i32) (result i32) (i32.load offset=8 (local.get 0)))
          {})"#,
        exports.join("\n")
    )
}

fn create(name: &str) -> String {
    format!(
        "CREATE OR REPLACE AGGREGATE FUNCTION {name}(bigint) RETURNS bigint LANGUAGE wasm
         AS '{name}.wasm' WITH (deadline = '300ms', memory = '4 MiB')"
    )
}

/// Which export does what, and what the query says.
const HOSTILE: [(&str, &str, &str); 20] = [
    (
        "open",
        "(i32.const 0)",
        "before its first row: it has no memory for its groups",
    ),
    (
        "open",
        "unreachable",
        "before its first row: trap: unreachable",
    ),
    (
        "open",
        "(loop (br 0)) (i32.const 1)",
        "before its first row: it took longer than its deadline of 300ms",
    ),
    ("update", "unreachable", "rows: trap: unreachable"),
    (
        "update",
        "(loop (br 0)) (i32.const 1)",
        "rows: it took longer than its deadline of 300ms",
    ),
    ("update", "(call $deeper)", "trap: call stack exhausted"),
    ("update", "(i32.const -3)", "it reports failure -3"),
    (
        "update",
        "(loop (br_if 0 (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable",
        "trap: unreachable",
    ),
    (
        "update",
        "(i32.load (i32.const -8))",
        "trap: out of bounds memory access",
    ),
    ("merge", "unreachable", "states: trap: unreachable"),
    (
        "merge",
        "(loop (br 0)) (i32.const 1)",
        "states: it took longer than its deadline of 300ms",
    ),
    ("merge", "(i32.const -9)", "it reports failure -9"),
    ("state", "unreachable", "groups: trap: unreachable"),
    (
        "state",
        "(i32.store (local.get 2) (i32.const 9)) (i32.const 1)",
        "groups: it returned 9 rows for",
    ),
    (
        "state",
        "(i32.store (call $column (local.get 2)) (i32.const 5)) (i32.const 1)",
        "it returned column 1 is of type number 5, not bigint",
    ),
    (
        "state",
        "(i32.store offset=8 (call $column (local.get 2)) (i32.const 131070)) (i32.const 1)",
        "are outside its memory",
    ),
    (
        "finish",
        "(i32.store offset=4 (local.get 2) (i32.const 0)) (i32.const 1)",
        "groups: it returned 0 columns where 1 are declared",
    ),
    (
        "finish",
        "(i32.store (local.get 2) (i32.const -1)) (i32.const 1)",
        "it returned 4294967295 rows for",
    ),
    (
        "finish",
        "(i32.store offset=8 (local.get 2) (i32.const -4)) (i32.const 1)",
        "it returned columns of 16 bytes at 0xfffffffc are outside its memory",
    ),
    (
        "finish",
        "(loop (br 0)) (i32.const 1)",
        "groups: it took longer than its deadline of 300ms",
    ),
];

/// Three partitions, so that there is something to merge.
const ROWS: &str = "(SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3) t";

#[tokio::test(flavor = "multi_thread")]
async fn hostile_ones() {
    let bench = Bench::new();
    for (i, (part, body, expected)) in HOSTILE.iter().enumerate() {
        let name = format!("a{i}");
        bench.module(&format!("{name}.wasm"), &module(&name, part, body));
        assert_eq!(bench.run(&create(&name)).await, Ok(0), "{part} {body}");
        for groups in ["", " GROUP BY a % 2"] {
            let line = bench
                .refused(&format!("SELECT {name}(a) FROM {ROWS}{groups}"))
                .await;
            assert!(line.starts_with(&format!("function {name}, ")), "{line}");
            assert!(line.contains(expected), "{part} {body}{groups}: {line}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_no_harm() {
    let bench = Bench::new();
    let null =
        "(i32.store8 (i32.load offset=4 (call $column (local.get 2))) (i32.const 0)) (i32.const 1)";
    for (i, (part, body)) in [("close", "unreachable"), ("state", null), ("finish", null)]
        .iter()
        .enumerate()
    {
        let name = format!("h{i}");
        bench.module(&format!("{name}.wasm"), &module(&name, part, body));
        assert_eq!(bench.run(&create(&name)).await, Ok(0));
        let one = format!("SELECT {name}(a) FROM {ROWS}");
        assert_eq!(bench.run(&one).await, Ok(1));
        let is_null = format!("SELECT 1 FROM ({one}) WHERE \"{name}(t.a)\" IS NULL");
        let nulls = usize::from(*part == "finish");
        assert_eq!(bench.run(&is_null).await, Ok(nulls), "{part}");
        assert_eq!(
            bench.run(&format!("{one} GROUP BY a % 2")).await,
            Ok(2),
            "{part}"
        );
        let none = format!("SELECT {name}(a) FROM {ROWS} WHERE a > 9");
        assert_eq!(bench.run(&none).await, Ok(1));
    }
    let name = "create aggregate function h0(bigint) returns bigint language wasm as 'h0.wasm'";
    let line = bench.refused(name).await;
    assert!(line.contains("function h0 is there"), "{line}");
    assert_eq!(bench.run("DROP AGGREGATE FUNCTION h0").await, Ok(0));
    bench.refused(&format!("SELECT h0(a) FROM {ROWS}")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_that_are_none() {
    let bench = Bench::new();
    for (part, body, expected) in [
        ("columns", "unreachable", "its columns: trap: unreachable"),
        (
            "columns",
            "(loop (br 0)) (i32.const 1)",
            "its columns: it took longer",
        ),
        (
            "columns",
            "(i32.const 600)",
            "expected `name type, …` with types of",
        ),
        ("columns", "(i32.const -1)", "found ``"),
    ] {
        bench.module("d.wasm", &module("d", part, body));
        let line = bench.refused(&create("d")).await;
        assert!(line.contains(expected), "{line}");
    }
    bench.module("d.wasm", &module("e", "", ""));
    let line = bench.refused(&create("d")).await;
    assert!(line.contains("no export d_columns (there are: "), "{line}");
    let line = bench
        .refused("CREATE AGGREGATE FUNCTION d(table) RETURNS TABLE LANGUAGE wasm AS 'd.wasm'")
        .await;
    assert_eq!(
        line,
        "function d is an aggregate: it takes and returns values"
    );
    bench.module("d.wasm", &module("d", "", ""));
    assert_eq!(bench.run(&create("d")).await, Ok(0));
    let line = bench
        .refused(&format!("SELECT d(DISTINCT a), d(a) FROM {ROWS}"))
        .await;
    assert!(line.contains("function d: DISTINCT beside"), "{line}");
    let line = bench
        .refused(&format!("SELECT d(a ORDER BY a) FROM {ROWS}"))
        .await;
    assert!(line.contains("function d: ORDER BY within"), "{line}");
}
