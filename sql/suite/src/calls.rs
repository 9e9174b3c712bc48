//! What a call costs by itself: a function that looks at nothing, with batches of many shapes; and
//! copies, which say what the memory of this machine allows.

use std::{hint::black_box, sync::Arc};

use arrow_array::{ArrayRef, Int64Array};
use fathom_guest::{Pool, column::ColumnType};

use crate::{
    rows::called,
    work::{Work, done, each},
};

/// Calls of an iteration, so that a clock's own time is nothing.
const CALLS: usize = 100;

/// Calls with columns given and returned, of so many rows.
pub fn nothing<'a>(pool: Arc<Pool>, given: usize, returned: usize, rows: usize) -> Work<'a> {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    let batches = vec![vec![column; given]; CALLS];
    let results = vec![ColumnType::BigInt; returned];
    Box::new(move || {
        each(&batches, |batch| {
            called(&pool, "nothing", &results, ColumnType::BigInt, batch)
        })
    })
}

/// Columns of 64 KiB, each to where one was freed.
pub fn copy<'a>(columns: usize) -> Work<'a> {
    let from = vec![vec![1_u8; 64 << 10]; columns];
    Box::new(move || {
        done(|| {
            for _ in 0..CALLS {
                black_box(black_box(&from).clone());
            }
            Ok(columns as u64)
        })
    })
}
