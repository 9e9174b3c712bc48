//! k-means in plain SQL: a query a round, whose text has the centres that the one before found.
//!
//! Clusters begin where those of the operator do. Their places are found in front of the clock, and
//! not by SQL, which has no hash of a double's bits.

use anyhow::{Context, Result};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, cast::AsArray, types};

use super::Home;
use crate::{
    kmeans::sum,
    native::kmeans::{self as native, ITERATIONS},
    points::{BATCH_ROWS, points},
    work::{Work, done},
};

/// What a query does by itself: a row of the table in, the same with its cluster out.
const OPERATOR: &str = "SELECT * FROM udo(TABLE (SELECT x, y, payload FROM points))";

/// It over so many points, by the operator or by plain SQL.
///
/// # Errors
/// A module is not there.
pub fn work<'a>(
    home: Home,
    is_plain: bool,
    file: &str,
    count: usize,
    threads: usize,
) -> Result<Work<'a>> {
    let batches = points(count, BATCH_ROWS);
    let seeds = native::seeds(&batches)?;
    let rows: Vec<Vec<ArrayRef>> = batches.iter().map(|batch| batch.to_vec()).collect();
    home.table("points", &["x", "y", "payload"], &rows, threads)?;
    if is_plain {
        return Ok(Box::new(move || {
            done(|| Ok(answer(&by_queries(&home, &seeds)?)))
        }));
    }
    home.run(&format!(
        "CREATE FUNCTION udo(table) RETURNS TABLE LANGUAGE wasm AS '{file}', 'KMeans'
         WITH (memory = '4 GiB', deadline = '10min')"
    ))?;
    Ok(Box::new(move || done(|| Ok(answer(&home.run(OPERATOR)?)))))
}

fn answer(found: &[RecordBatch]) -> u64 {
    let columns = found.iter().map(RecordBatch::columns);
    columns.fold(0, sum)
}

/// All rounds but the last find where clusters are; the last returns the points.
fn by_queries(home: &Home, seeds: &[(f64, f64)]) -> Result<Vec<RecordBatch>> {
    let mut centres = seeds.to_vec();
    for _ in 1..ITERATIONS {
        let assigned = assigned(&centres, "x, y");
        let found = home.run(&format!(
            "SELECT cluster, sum(x), sum(y), count(*) FROM ({assigned}) GROUP BY cluster"
        ))?;
        for batch in &found {
            renew(&mut centres, batch).context("clusters of other columns")?;
        }
    }
    home.run(&assigned(&centres, "x, y, payload"))
}

/// Rows with the first of the clusters that are nearest.
fn assigned(centres: &[(f64, f64)], columns: &str) -> String {
    let distance = |(i, (x, y)): (usize, &(f64, f64))| {
        format!("(x - {x:?}) * (x - {x:?}) + (y - {y:?}) * (y - {y:?}) AS d{i}")
    };
    let distances: Vec<String> = centres.iter().enumerate().map(distance).collect();
    let names: Vec<String> = (0..centres.len()).map(|i| format!("d{i}")).collect();
    let choices: Vec<String> = (0..centres.len())
        .map(|i| format!("WHEN d{i} THEN {i}"))
        .collect();
    let (distances, names, choices) = (distances.join(", "), names.join(", "), choices.join(" "));
    format!(
        "SELECT {columns}, CAST(CASE least({names}) {choices} END AS int) AS cluster
         FROM (SELECT {columns}, {distances} FROM points)"
    )
}

/// Centres of clusters that have points; others stay.
fn renew(centres: &mut [(f64, f64)], found: &RecordBatch) -> Option<()> {
    let clusters = found.column(0).as_primitive_opt::<types::Int32Type>()?;
    let sums = |column: usize| -> Option<&Float64Array> { found.column(column).as_primitive_opt() };
    let (x, y) = (sums(1)?, sums(2)?);
    let members: &Int64Array = found.column(3).as_primitive_opt()?;
    for row in 0..found.num_rows() {
        let centre = centres.get_mut(clusters.value(row) as usize)?;
        let count = members.value(row) as f64;
        *centre = (x.value(row) / count, y.value(row) / count);
    }
    Some(())
}
