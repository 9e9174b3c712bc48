//! The thesis's k-means: an operator that is given batches, and then asked for its output.

use std::sync::Arc;

use anyhow::{Result, anyhow, ensure};
use arrow_array::{Array, ArrayRef, cast::AsArray, types::Int32Type};
use fathom_engine::BoundsChoice;
use fathom_guest::{Pool, batch::Input, column::ColumnType};

use crate::{
    module::Modules,
    native::KMeans,
    points::points,
    rounds::{Cell, Pace, measure, timed},
    show,
};

const GIVEN: [ColumnType; 3] = [ColumnType::Double, ColumnType::Double, ColumnType::BigInt];
const RETURNED: [ColumnType; 4] = [
    ColumnType::Double,
    ColumnType::Double,
    ColumnType::BigInt,
    ColumnType::Int,
];

/// Measures it with this many points, and shows it.
///
/// # Errors
/// A module is not there, or answers something else than the native operator.
pub fn run(modules: &Modules, pace: Pace, count: usize) -> Result<()> {
    let batches = points(count);
    let expected = native(&batches)?;
    let variants = modules.by_strategy("udo_kmeans.64.wasm")?;
    let sample = |answer: Result<u64>| {
        ensure!(
            answer? == expected,
            "another answer than the native operator's"
        );
        Ok(())
    };
    let (batches, sample) = (&batches, &sample);
    let mut cells = vec![Cell::new("native", move || {
        timed(|| sample(native(batches))).map(|(ns, ())| ns)
    })];
    for variant in &variants {
        cells.push(Cell::new(variant.name.clone(), move || {
            timed(|| sample(guest(&variant.pool, batches))).map(|(ns, ())| ns)
        }));
    }
    let series = measure(cells, pace)?;
    let auto = BoundsChoice::Auto.resolve(true);
    let title = format!("k-means of {count} points, 64-bit memory; auto is {auto}");
    show::table(
        &title,
        &series,
        &["native", "none, cranelift", "none, llvm"],
    );
    Ok(())
}

/// A number that another assignment would hardly have.
fn sum(sum: u64, clusters: &ArrayRef) -> u64 {
    let clusters = clusters.as_primitive::<Int32Type>().values().iter();
    let weighed = clusters
        .enumerate()
        .map(|(i, cluster)| (i as u64 + 1) * *cluster as u64);
    sum.wrapping_mul(31).wrapping_add(weighed.sum())
}

fn native(batches: &[[ArrayRef; 3]]) -> Result<u64> {
    let mut operator = KMeans::default();
    for batch in batches {
        operator.consume(batch)?;
    }
    let mut answer = 0;
    while let Some(batch) = operator.produce() {
        answer = sum(answer, &batch[3]);
    }
    Ok(answer)
}

fn guest(pool: &Arc<Pool>, batches: &[[ArrayRef; 3]]) -> Result<u64> {
    let answer = || {
        let mut guest = pool.take()?;
        let state = guest.address("KMeans_open")?;
        for batch in batches {
            let columns: Vec<_> = GIVEN.into_iter().zip(batch.iter().cloned()).collect();
            let input = Input::new(batch[0].len(), &columns).map_err(|unfit| unfit.to_string())?;
            let (at, _) = guest.give(&input, &[])?;
            guest.status("KMeans_consume", state, at)?;
        }
        let nothing = Input::new(0, &[]).map_err(|unfit| unfit.to_string())?;
        let mut answer = 0;
        loop {
            let (_, result) = guest.give(&nothing, &RETURNED)?;
            if guest.status("KMeans_produce", state, result)? == 0 {
                return Ok(answer);
            }
            answer = sum(answer, &guest.take(result, &RETURNED, None)?[3]);
        }
    };
    answer().map_err(|what: String| anyhow!(what))
}
