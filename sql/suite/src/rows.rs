//! Functions of rows: gcd in batches of 1024, collatz in larger ones.

use std::sync::Arc;

use anyhow::{Result, anyhow, ensure};
use arrow_array::{Array, ArrayRef, Int64Array, cast::AsArray, types::Int64Type};
use fathom_guest::{Pool, batch::Input, column::ColumnType};

use crate::{
    module::Modules,
    native,
    points::{BATCH_ROWS, pairs},
    rounds::{Cell, Pace, measure, timed},
    show,
};

const GCD_BATCHES: usize = 200;
const GCD_ROWS: usize = 1024;

/// Measures both, and shows them.
///
/// # Errors
/// A module is not there, or answers something else than native code.
pub fn run(modules: &Modules, pace: Pace<'_>, collatz_rows: usize) -> Result<()> {
    gcd(modules, pace)?;
    collatz(modules, pace, collatz_rows)
}

fn gcd(modules: &Modules, pace: Pace<'_>) -> Result<()> {
    let batches = pairs(GCD_BATCHES, GCD_ROWS);
    let own = |batch: &[ArrayRef; 2]| {
        let [a, b] = batch
            .each_ref()
            .map(|column| column.as_primitive::<Int64Type>());
        Ok(Arc::new(native::gcd(a, b)) as ArrayRef)
    };
    let title = format!(
        "gcd of {} rows in batches of {GCD_ROWS}",
        GCD_BATCHES * GCD_ROWS
    );
    compare(
        &title,
        modules,
        "gcd",
        ColumnType::BigInt,
        &batches,
        own,
        pace,
    )
}

fn collatz(modules: &Modules, pace: Pace<'_>, rows: usize) -> Result<()> {
    let batch = |from: usize| {
        let to = rows.min(from + BATCH_ROWS);
        let starts = (from as i64 + 1)..=to as i64;
        [Arc::new(Int64Array::from_iter_values(starts)) as ArrayRef]
    };
    let batches: Vec<[ArrayRef; 1]> = (0..rows).step_by(BATCH_ROWS).map(batch).collect();
    let own = |batch: &[ArrayRef; 1]| {
        let steps = native::collatz(batch[0].as_primitive::<Int64Type>())?;
        Ok(Arc::new(steps) as ArrayRef)
    };
    let title = format!("collatz of {rows} rows in batches of {BATCH_ROWS}");
    compare(
        &title,
        modules,
        "collatz",
        ColumnType::Int,
        &batches,
        own,
        pace,
    )
}

fn compare<const N: usize>(
    title: &str,
    modules: &Modules,
    export: &str,
    result: ColumnType,
    batches: &[[ArrayRef; N]],
    own: impl Fn(&[ArrayRef; N]) -> Result<ArrayRef> + Copy,
    pace: Pace<'_>,
) -> Result<()> {
    let variants = modules.by_codegen(&format!("{export}.wasm"))?;
    for variant in &variants {
        for batch in &batches[..batches.len().min(50)] {
            let found = call(&variant.pool, export, result, batch)?;
            ensure!(
                found.to_data() == own(batch)?.to_data(),
                "{export}: another answer"
            );
        }
    }
    let mut cells = vec![Cell::new("native", move || {
        timed(|| batches.iter().try_for_each(|batch| own(batch).map(drop))).map(|(ns, ())| ns)
    })];
    for variant in &variants {
        let work =
            move |batch: &[ArrayRef; N]| call(&variant.pool, export, result, batch).map(drop);
        cells.push(Cell::new(variant.name.clone(), move || {
            timed(|| batches.iter().try_for_each(work)).map(|(ns, ())| ns)
        }));
    }
    show::table(title, &measure(title, cells, pace)?, &["native"]);
    Ok(())
}

/// One batch, by an instance of the pool, as a query does it.
pub fn call(
    pool: &Arc<Pool>,
    export: &str,
    result: ColumnType,
    batch: &[ArrayRef],
) -> Result<ArrayRef> {
    let mut found = called(pool, export, &[result], ColumnType::BigInt, batch)?;
    Ok(found.remove(0))
}

/// The same with several results.
pub fn called(
    pool: &Arc<Pool>,
    export: &str,
    results: &[ColumnType],
    given: ColumnType,
    batch: &[ArrayRef],
) -> Result<Vec<ArrayRef>> {
    let rows = batch[0].len();
    let run = || {
        let columns: Vec<_> = batch.iter().map(|column| (given, column.clone())).collect();
        let input = Input::new(rows, &columns).map_err(|unfit| unfit.to_string())?;
        let mut guest = pool.take()?;
        let (at, result) = guest.give(&input, results)?;
        guest.status(export, at, result)?;
        let found = guest.take(result, results, Some(rows))?;
        pool.give(guest);
        Ok(found)
    };
    run().map_err(|what: String| anyhow!(what))
}
