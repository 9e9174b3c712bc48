//! Functions of rows: gcd in batches of 1024, collatz in larger ones.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use arrow_array::{Array, ArrayRef, Int64Array, cast::AsArray, types::Int64Type};
use fathom_guest::{Pool, batch::Input, column::ColumnType};

use crate::{
    native,
    points::{BATCH_ROWS, pairs},
    work::{By, Work, checked, each},
};

const GCD_ROWS: usize = 1024;

/// Greatest common divisors of pairs.
///
/// # Errors
/// The module does not compile.
pub fn gcd<'a>(by: &By<'_>, rows: usize) -> Result<Work<'a>> {
    let batches = pairs(rows.div_ceil(GCD_ROWS), GCD_ROWS);
    work(by, "gcd", ColumnType::BigInt, batches, |batch| {
        let [a, b] = batch.each_ref().map(|column| column.as_primitive());
        Ok(Arc::new(native::gcd(a, b)))
    })
}

/// Steps of as many numbers from 1.
///
/// # Errors
/// The module does not compile.
pub fn collatz<'a>(by: &By<'_>, rows: usize) -> Result<Work<'a>> {
    let batch = |from: usize| {
        let to = rows.min(from + BATCH_ROWS);
        let starts = (from as i64 + 1)..=to as i64;
        [Arc::new(Int64Array::from_iter_values(starts)) as ArrayRef]
    };
    let batches = (0..rows).step_by(BATCH_ROWS).map(batch).collect();
    work(by, "collatz", ColumnType::Int, batches, |batch| {
        let steps = native::collatz(batch[0].as_primitive::<Int64Type>())?;
        Ok(Arc::new(steps))
    })
}

fn work<'a, const N: usize>(
    by: &By<'_>,
    export: &'static str,
    result: ColumnType,
    batches: Vec<[ArrayRef; N]>,
    own: fn(&[ArrayRef; N]) -> Result<ArrayRef>,
) -> Result<Work<'a>> {
    let batches = Arc::new(batches);
    let all = Arc::clone(&batches);
    let native = move || each(&all, |batch| Ok(vec![own(batch)?]));
    Ok(match by {
        By::Native => Box::new(native),
        By::Wasm(pool) => {
            let pool = pool(true)?;
            let one = move |batch: &[ArrayRef; N]| {
                called(&pool, export, &[result], ColumnType::BigInt, batch)
            };
            checked(move || each(&batches, &one), native)
        }
    })
}

/// One batch, by an instance of the pool, as a query does it.
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
