//! Queries with functions in WebAssembly beside the same in plain SQL: on the same tables, in
//! sessions of DataFusion's, the results compared each time.
//!
//! ```text
//!  tables ─► Home (a session for each number of threads) ─queries─► cells ─rounds─► ratios
//! ```
//!
//! What must stay true: no sample has a time whose answer is not that of native code.

mod kmeans;

use std::{path::Path, sync::Arc};

use anyhow::{Context, Result, anyhow, ensure};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, cast::AsArray, types::Int64Type};
use datafusion::{
    arrow::datatypes::{Field, Schema},
    datasource::MemTable,
    prelude::SessionConfig,
};
use fathom_sql::{Session, session::in_a_line};
use tokio::runtime::{Builder, Runtime};

use crate::{
    native,
    points::{BATCH_ROWS, pairs, starts},
    rounds::{Cell, Pace, measure, timed},
    show,
};

/// Rows of gcd.
const PAIRS: usize = 1 << 20;
/// Rows of collatz: as many are in the table of each step of a recursive query at first.
const STARTS: usize = 1 << 17;

/// What the cells of plain SQL are called: what others are compared with.
const PLAIN: &str = "plain SQL";

/// Each row begins a chain; one that has come to y = 0 ends there.
const GCD: &str = "WITH RECURSIVE euclid(id, x, y) AS (
    SELECT id, a, b FROM pairs WHERE a IS NOT NULL AND b IS NOT NULL
    UNION ALL SELECT id, y, x % y FROM euclid WHERE y <> 0)
SELECT sum(x * (id % 1000)) FROM euclid WHERE y = 0";

const COLLATZ: &str = "WITH RECURSIVE walk(id, n, steps) AS (
    SELECT id, a, 0 FROM starts
    UNION ALL SELECT id, CASE n % 2 WHEN 0 THEN n / 2 ELSE 3 * n + 1 END, steps + 1 FROM walk WHERE n <> 1)
SELECT sum(steps * (id % 1000)) FROM walk WHERE n = 1";

/// A session, and what runs its queries.
struct Home {
    session: Session,
    runtime: Runtime,
}

/// Measures k-means by number of points, gcd and collatz, and shows them.
///
/// # Errors
/// A module is not there, or two answers differ.
pub fn run(modules: &Path, pace: Pace<'_>, points: &[usize]) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    for count in points {
        kmeans::run(modules, pace, *count, threads.max(2))?;
    }
    let home = Home::new(modules, 1)?;
    gcd(&home, pace)?;
    collatz(&home, pace)
}

impl Home {
    /// One whose queries have as many partitions.
    fn new(modules: &Path, threads: usize) -> Result<Home> {
        let config = SessionConfig::new().with_target_partitions(threads);
        let session = Session::new(config, modules.to_owned()).map_err(|error| said(&error))?;
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(threads).enable_all().build()?;
        Ok(Home { session, runtime })
    }

    /// What a statement returns, nothing of one that returns nothing.
    fn run(&self, sql: &str) -> Result<Vec<RecordBatch>> {
        let results = self.runtime.block_on(self.session.run(sql));
        let results = results.map_err(|error| said(&error))?;
        Ok(results.into_iter().flatten().collect())
    }

    /// Has a table of these batches, in as many parts.
    fn table(
        &self,
        name: &str,
        columns: &[&str],
        batches: &[Vec<ArrayRef>],
        parts: usize,
    ) -> Result<()> {
        let first = batches.first().context("a table of no rows")?;
        let fields = columns.iter().zip(first);
        let fields: Vec<Field> = fields
            .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let mut all = vec![Vec::new(); parts];
        for (at, batch) in batches.iter().enumerate() {
            all[at % parts].push(RecordBatch::try_new(schema.clone(), batch.clone())?);
        }
        let table = MemTable::try_new(schema, all).map_err(|error| said(&error))?;
        let registered = self.session.context().register_table(name, Arc::new(table));
        registered.map_err(|error| said(&error))?;
        Ok(())
    }

    /// The number that a query returns.
    fn number(&self, sql: &str) -> Result<i64> {
        let batches = self.run(sql)?;
        let column = batches.first().map(|batch| batch.column(0));
        let numbers = column.and_then(|column| column.as_primitive_opt::<Int64Type>());
        let number = numbers.filter(|numbers| numbers.len() == 1 && numbers.is_valid(0));
        Ok(number.context("a query that returns no number")?.value(0))
    }
}

fn gcd(home: &Home, pace: Pace<'_>) -> Result<()> {
    let pairs = pairs(PAIRS / BATCH_ROWS, BATCH_ROWS);
    let answers = pairs.iter().map(|[a, b]| {
        let [a, b] = [a, b].map(|column| column.as_primitive::<Int64Type>());
        native::gcd(a, b)
    });
    let answer = weighed(answers);
    home.table("pairs", &["id", "a", "b"], &numbered(&pairs), 1)?;
    home.run("CREATE FUNCTION wasm_gcd(bigint, bigint) RETURNS bigint LANGUAGE wasm AS 'gcd.wasm', 'gcd'")?;
    let of = |name: &str| format!("SELECT sum({name}(a, b) * (id % 1000)) FROM pairs");
    let queries = [
        (PLAIN, GCD.to_owned()),
        ("DataFusion's own function", of("gcd")),
        ("function in WebAssembly", of("wasm_gcd")),
    ];
    let title = format!("A query of gcd over {PAIRS} rows, one thread");
    compare(&title, home, &queries, answer, pace)
}

fn collatz(home: &Home, pace: Pace<'_>) -> Result<()> {
    let all = starts(STARTS);
    let cut = |from| [all.slice(from, BATCH_ROWS)];
    let batches: Vec<[ArrayRef; 1]> = (0..STARTS).step_by(BATCH_ROWS).map(cut).collect();
    let mut steps = Vec::new();
    for [start] in &batches {
        let own = native::collatz(start.as_primitive::<Int64Type>())?;
        let wide = own.iter().map(|steps| steps.map(i64::from));
        steps.push(wide.collect::<Int64Array>());
    }
    let answer = weighed(steps.into_iter());
    home.table("starts", &["id", "a"], &numbered(&batches), 1)?;
    home.run("CREATE FUNCTION collatz(bigint) RETURNS int LANGUAGE wasm AS 'collatz.wasm'")?;
    let function = "SELECT sum(collatz(a) * (id % 1000)) FROM starts";
    let queries = [
        (PLAIN, COLLATZ.to_owned()),
        ("function in WebAssembly", function.to_owned()),
    ];
    let title = format!("A query of collatz over {STARTS} rows, one thread");
    compare(&title, home, &queries, answer, pace)
}

/// Queries that return the same number.
fn compare(
    title: &str,
    home: &Home,
    queries: &[(&str, String)],
    answer: i64,
    pace: Pace<'_>,
) -> Result<()> {
    let cells = queries.iter().map(|(name, sql)| {
        Cell::new(*name, move || {
            let (ns, found) = timed(|| home.number(sql))?;
            ensure!(found == answer, "it answers {found} instead of {answer}");
            Ok(ns)
        })
    });
    let series = measure(title, cells.collect(), pace)?;
    show::table(title, &series, &[PLAIN]);
    Ok(())
}

/// Batches with the number of each row in front.
fn numbered<const N: usize>(batches: &[[ArrayRef; N]]) -> Vec<Vec<ArrayRef>> {
    let mut next = 0;
    let number = |batch: &[ArrayRef; N]| {
        let ids = next..next + batch[0].len() as i64;
        next = ids.end;
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(ids));
        [ids].into_iter().chain(batch.iter().cloned()).collect()
    };
    batches.iter().map(number).collect()
}

/// A sum that changes with the order of rows: each value times its row's number, modulo 1000.
fn weighed(batches: impl Iterator<Item = Int64Array>) -> i64 {
    let values = batches.flat_map(|batch| batch.iter().collect::<Vec<_>>());
    let weighed = values.zip(0_i64..);
    weighed
        .map(|(value, row)| value.unwrap_or(0) * (row % 1000))
        .sum()
}

/// An error of a query's in one line.
fn said(error: &datafusion::error::DataFusionError) -> anyhow::Error {
    anyhow!(in_a_line(error))
}
