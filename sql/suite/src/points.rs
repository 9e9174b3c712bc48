//! What functions are given: the same numbers each time.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, StringArray};
use fathom_stats::rng::Rng;

/// Rows of a batch of DataFusion's.
pub const BATCH_ROWS: usize = 8192;

/// Batches of points, `x`, `y` and a number, from one square; each has as many rows, but for
/// the last. Their places are multiples of
/// 1/64, so that sums of them are exact, in whatever order they are added.
pub fn points(count: usize, batch_rows: usize) -> Vec<[ArrayRef; 3]> {
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
    let parts = (0..count).step_by(batch_rows);
    parts
        .map(|from| {
            let rows = batch_rows.min(count - from);
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

/// Numbers from 1 to a million.
pub fn starts(count: usize) -> ArrayRef {
    let mut rng = Rng::new(11, 0);
    let start = |_| rng.below(1_000_000) as i64 + 1;
    Arc::new(Int64Array::from_iter_values((0..count).map(start)))
}

/// Two places on the earth a row: a latitude and a longitude each.
pub fn places(count: usize) -> Vec<ArrayRef> {
    let mut rng = Rng::new(13, 0);
    let mut column = |most: usize| -> ArrayRef {
        let degrees = |_| rng.below(2_000 * most + 1) as f64 / 1_000.0 - most as f64;
        Arc::new(Float64Array::from_iter_values((0..count).map(degrees)))
    };
    [90, 180, 90, 180].map(&mut column).into()
}

/// One to four words of one to twelve letters.
pub fn names(count: usize) -> ArrayRef {
    let mut rng = Rng::new(17, 0);
    let mut name = |_| {
        let mut text = String::new();
        for word in 0..=rng.below(4) {
            if word > 0 {
                text.push(' ');
            }
            for _ in 0..=rng.below(12) {
                text.push(char::from(b'a' + rng.below(26) as u8));
            }
        }
        text
    };
    let names: Vec<String> = (0..count).map(&mut name).collect();
    Arc::new(StringArray::from(names))
}
