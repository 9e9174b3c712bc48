//! What functions are given: the same numbers each time.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array};
use fathom_stats::rng::Rng;

/// Rows of a batch of DataFusion's.
pub const BATCH_ROWS: usize = 8192;

/// Batches of points, `x`, `y` and a number, from one square. Their places are multiples of
/// 1/64, so that sums of them are exact, in whatever order they are added.
pub fn points(count: usize) -> Vec<[ArrayRef; 3]> {
    let mut rng = Rng::new(42, 0);
    let mut place = || rng.below(64_000) as f64 / 64.0;
    let x: Vec<f64> = (0..count).map(|_| place()).collect();
    let y: Vec<f64> = (0..count).map(|_| place()).collect();
    let payload: Vec<i64> = (0..count as i64).collect();
    let columns: [ArrayRef; 3] = [
        Arc::new(Float64Array::from(x)),
        Arc::new(Float64Array::from(y)),
        Arc::new(Int64Array::from(payload)),
    ];
    let parts = (0..count).step_by(BATCH_ROWS);
    parts
        .map(|from| {
            let rows = BATCH_ROWS.min(count - from);
            columns.each_ref().map(|column| column.slice(from, rows))
        })
        .collect()
}

/// Batches of pairs below a million, some of them null.
pub fn pairs(batches: usize, rows: usize) -> Vec<[ArrayRef; 2]> {
    let mut rng = Rng::new(7, 0);
    let mut column = || -> ArrayRef {
        let mut value = || {
            let value = rng.below(1_000_000) as i64;
            (value % 11 != 3).then_some(value)
        };
        let values: Int64Array = (0..rows).map(|_| value()).collect();
        Arc::new(values)
    };
    (0..batches).map(|_| [column(), column()]).collect()
}
