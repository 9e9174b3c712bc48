//! Batches whose text is more than a function's memory: they are cut, and nobody notices.

mod common;

use common::Bench;

/// A memory that grows as far as it may, and the bytes of the first column of a batch.
const COMMON: &str = r#"
  (memory (export "memory") 1)
  (func (export "fathom_reserve") (param $bytes i32) (result i32) (local $more i32)
    (local.set $more (i32.sub
      (i32.div_u (i32.add (local.get $bytes) (i32.const 131071)) (i32.const 65536))
      (memory.size)))
    (if (i32.gt_s (local.get $more) (i32.const 0))
      (then (if (i32.eq (memory.grow (local.get $more)) (i32.const -1))
        (then (return (i32.const 0))))))
    (i32.const 1024))
  (func $column (param i32) (result i32) (i32.load offset=8 (local.get 0)))
  (func $offset (param $batch i32) (param $row i32) (result i32)
    (i32.load (i32.add (i32.load offset=12 (call $column (local.get $batch)))
      (i32.mul (local.get $row) (i32.const 4)))))
  (func $bytes (param $batch i32) (result i32)
    (call $offset (local.get $batch) (i32.load (local.get $batch))))
  (func $store (param $result i32) (param $value i64)
    (i64.store (i32.load offset=8 (call $column (local.get $result))) (local.get $value)))"#;

/// The length of each text.
const LENGTHS: &str = r#"
  (func (export "lengths") (param $batch i32) (param $result i32) (result i32)
    (local $row i32) (local $to i32)
    (local.set $to (i32.load offset=8 (call $column (local.get $result))))
    (loop $next (if (i32.lt_u (local.get $row) (i32.load (local.get $batch))) (then
      (i64.store (i32.add (local.get $to) (i32.mul (local.get $row) (i32.const 8)))
        (i64.extend_i32_u (i32.sub
          (call $offset (local.get $batch) (i32.add (local.get $row) (i32.const 1)))
          (call $offset (local.get $batch) (local.get $row)))))
      (local.set $row (i32.add (local.get $row) (i32.const 1)))
      (br $next))))
    (i32.const 1))"#;

/// Each text as it is, where it lies.
const SAME: &str = r#"
  (func (export "same") (param $batch i32) (param $result i32) (result i32)
    (i32.store offset=8 (call $column (local.get $result))
      (i32.load offset=8 (call $column (local.get $batch))))
    (i32.store offset=12 (call $column (local.get $result))
      (i32.load offset=12 (call $column (local.get $batch))))
    (i32.const 1))"#;

/// All bytes, in a table of one row.
const TOTAL: &str = r#"
  (global $total (mut i64) (i64.const 0)) (global $done (mut i32) (i32.const 0))
  (func (export "total_open") (result i32) (i32.const 8))
  (func (export "total_consume") (param i32) (param $batch i32) (result i32)
    (global.set $total (i64.add (global.get $total) (i64.extend_i32_u (call $bytes (local.get $batch)))))
    (i32.const 1))
  (func (export "total_produce") (param i32) (param $result i32) (result i32)
    (if (global.get $done) (then (return (i32.const 0))))
    (global.set $done (i32.const 1))
    (i32.store (local.get $result) (i32.const 1))
    (i32.store offset=8 (call $column (local.get $result)) (i32.const 512))
    (i64.store (i32.const 512) (global.get $total))
    (i32.const 1))"#;

/// All bytes, as an aggregate of one group: each accumulator of an instance has a number of its own.
const SUM: &str = r#"
  (data (i32.const 600) "n bigint\00")
  (global $free (mut i32) (i32.const 616))
  (func (export "bytes_columns") (result i32) (i32.const 600))
  (func (export "bytes_open") (result i32)
    (if (i32.ge_u (global.get $free) (i32.const 1024)) (then (return (i32.const 0))))
    (i64.store (global.get $free) (i64.const 0))
    (global.set $free (i32.add (global.get $free) (i32.const 8)))
    (i32.sub (global.get $free) (i32.const 8)))
  (func $add (param $sum i32) (param $bytes i64)
    (i64.store (local.get $sum) (i64.add (i64.load (local.get $sum)) (local.get $bytes))))
  (func (export "bytes_update") (param $sum i32) (param i32) (param $batch i32) (result i32)
    (call $add (local.get $sum) (i64.extend_i32_u (call $bytes (local.get $batch))))
    (i32.const 1))
  (func (export "bytes_merge") (param $sum i32) (param i32) (param $batch i32) (result i32)
    (call $add (local.get $sum) (i64.load (i32.load offset=8 (call $column (local.get $batch)))))
    (i32.const 1))
  (func (export "bytes_state") (param $sum i32) (param i32) (param $result i32) (result i32)
    (call $store (local.get $result) (i64.load (local.get $sum))) (i32.const 1))
  (func (export "bytes_finish") (param $sum i32) (param i32) (param $result i32) (result i32)
    (call $store (local.get $result) (i64.load (local.get $sum))) (i32.const 1))
  (func (export "bytes_close") (param i32))"#;

/// How often a query whose condition holds is answered: once.
async fn holds(bench: &Bench, query: &str) {
    assert_eq!(bench.run(query).await, Ok(1), "{query}");
}

#[tokio::test(flavor = "multi_thread")]
async fn text_of_any_length_is_taken() {
    let bench = Bench::new();
    for (name, body) in [
        ("lengths", LENGTHS),
        ("same", SAME),
        ("total", TOTAL),
        ("bytes", SUM),
    ] {
        bench.module(
            &format!("{name}.wasm"),
            &format!("(module {COMMON} {body})"),
        );
    }
    for create in [
        "FUNCTION lengths(varchar) RETURNS bigint",
        "FUNCTION same(varchar) RETURNS varchar",
        "FUNCTION total(table) RETURNS TABLE (n bigint)",
        "AGGREGATE FUNCTION bytes(varchar) RETURNS bigint",
    ] {
        let name = create
            .split([' ', '('])
            .find(|word| word.chars().all(char::is_lowercase));
        let sql = format!(
            "CREATE {create} LANGUAGE wasm AS '{}.wasm' WITH (memory = '4 MiB')",
            name.unwrap()
        );
        assert_eq!(bench.run(&sql).await, Ok(0), "{sql}");
    }
    // 400 texts of 50 to 60 kB are 22 MB, in a batch.
    let texts = "SELECT repeat('x', 50000 + v * 25) AS s FROM generate_series(1, 400) t(v)";
    let sum = 400 * 50_000 + 25 * 400 * 401 / 2;
    holds(&bench, &format!("SELECT 1 FROM (SELECT count(*) AS c FROM ({texts}) WHERE lengths(s) = length(s)) WHERE c = 400")).await;
    holds(
        &bench,
        &format!(
            "SELECT 1 FROM (SELECT count(*) AS c FROM ({texts}) WHERE same(s) = s) WHERE c = 400"
        ),
    )
    .await;
    holds(
        &bench,
        &format!("SELECT 1 FROM total(TABLE ({texts})) WHERE n = {sum}"),
    )
    .await;
    holds(
        &bench,
        &format!("SELECT 1 FROM (SELECT bytes(s) AS n FROM ({texts})) WHERE n = {sum}"),
    )
    .await;
    // A row that is more than the memory is what does not fit.
    let line = bench
        .refused("SELECT lengths(repeat('x', v * 2200000)) FROM generate_series(1, 3) t(v)")
        .await;
    assert!(line.starts_with("function lengths, a batch of 3 rows: rows 2 to 2: it has no memory for a batch of 44000"), "{line}");
}
