//! Queries with functions in WebAssembly, and as native code the same in plain SQL: on the same tables,
//! in sessions of DataFusion's.
//!
//! What must stay true: no iteration has a time whose answer is not that of native code.

mod kmeans;

use std::{path::Path, sync::Arc};

use anyhow::{Context, Result, anyhow, bail, ensure};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, cast::AsArray, types::Int64Type};
use datafusion::{
    arrow::datatypes::{Field, Schema},
    datasource::MemTable,
    prelude::SessionConfig,
};
use fathom_runner::record::protocol::Measure;
use fathom_sql::{Session, session::in_a_line};
use tokio::runtime::{Builder, Runtime};

use crate::{
    SHARED, native,
    points::{BATCH_ROWS, pairs, starts},
    processors,
    work::{By, Work, done},
};

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

/// A query of a kind over so many rows, on all processors where its operator has one memory.
///
/// # Errors
/// A module is not there, or it is no query.
pub fn work<'a>(measure: &Measure, by: &By<'_>, what: &str, count: usize) -> Result<Work<'a>> {
    let is_plain = matches!(by, By::Native);
    let module = Module::of(&measure.module)?;
    let threads = match what.ends_with(SHARED) {
        true => processors(),
        false => 1,
    };
    let home = Home::new(module.folder, threads)?;
    match what {
        "query-kmeans" | "query-kmeans-shared" => {
            kmeans::work(home, is_plain, module.file, count, threads)
        }
        "query-gcd" => gcd(home, is_plain, module.file, count),
        "query-collatz" => collatz(home, is_plain, module.file, count),
        _ => bail!("{what} is no query"),
    }
}

/// Where a session finds it.
struct Module<'a> {
    folder: &'a Path,
    file: &'a str,
}

impl Module<'_> {
    fn of(path: &Path) -> Result<Module<'_>> {
        let parts = path
            .parent()
            .zip(path.file_name().and_then(|name| name.to_str()));
        let (folder, file) = parts.with_context(|| path.display().to_string())?;
        Ok(Module { folder, file })
    }
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

fn gcd<'a>(home: Home, is_plain: bool, file: &str, rows: usize) -> Result<Work<'a>> {
    let pairs = pairs(rows.div_ceil(BATCH_ROWS), BATCH_ROWS);
    let answers = pairs.iter().map(|[a, b]| {
        let [a, b] = [a, b].map(|column| column.as_primitive::<Int64Type>());
        native::gcd(a, b)
    });
    let answer = weighed(answers);
    home.table("pairs", &["id", "a", "b"], &numbered(&pairs), 1)?;
    if is_plain {
        return Ok(number(home, GCD, answer));
    }
    home.run(&format!(
        "CREATE FUNCTION wasm_gcd(bigint, bigint) RETURNS bigint LANGUAGE wasm AS '{file}', 'gcd'"
    ))?;
    let function = "SELECT sum(wasm_gcd(a, b) * (id % 1000)) FROM pairs";
    Ok(number(home, function, answer))
}

fn collatz<'a>(home: Home, is_plain: bool, file: &str, rows: usize) -> Result<Work<'a>> {
    let all = starts(rows);
    let cut = |from| [all.slice(from, BATCH_ROWS.min(rows - from))];
    let batches: Vec<[ArrayRef; 1]> = (0..rows).step_by(BATCH_ROWS).map(cut).collect();
    let mut steps = Vec::new();
    for [start] in &batches {
        let own = native::collatz(start.as_primitive::<Int64Type>())?;
        let wide = own.iter().map(|steps| steps.map(i64::from));
        steps.push(wide.collect::<Int64Array>());
    }
    let answer = weighed(steps.into_iter());
    home.table("starts", &["id", "a"], &numbered(&batches), 1)?;
    if is_plain {
        return Ok(number(home, COLLATZ, answer));
    }
    home.run(&format!(
        "CREATE FUNCTION collatz(bigint) RETURNS int LANGUAGE wasm AS '{file}', 'collatz'"
    ))?;
    let function = "SELECT sum(collatz(a) * (id % 1000)) FROM starts";
    Ok(number(home, function, answer))
}

/// A query that returns this number.
fn number<'a>(home: Home, sql: &'static str, answer: i64) -> Work<'a> {
    Box::new(move || {
        done(|| {
            let found = home.number(sql)?;
            ensure!(found == answer, "it answers {found} instead of {answer}");
            Ok(found as u64)
        })
    })
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
