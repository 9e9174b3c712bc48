//! The same functions in Rust, on the same arrays: what WebAssembly is measured against.
//!
//! Operators copy what they are given, as one does that keeps it, and return arrays.

pub mod kmeans;

use anyhow::{Result, ensure};
use arrow_array::{Int32Array, Int64Array};

/// The greatest common divisors, null where an argument is.
pub fn gcd(a: &Int64Array, b: &Int64Array) -> Int64Array {
    let one = |(a, b): (Option<i64>, Option<i64>)| {
        let (mut x, mut y) = (a?.unsigned_abs(), b?.unsigned_abs());
        while y != 0 {
            (x, y) = (y, x % y);
        }
        Some(x as i64)
    };
    a.iter().zip(b).map(one).collect()
}

/// Steps until 1.
///
/// # Errors
/// A start below 1, or a number of more than 64 bits.
pub fn collatz(starts: &Int64Array) -> Result<Int32Array> {
    let mut steps = Vec::with_capacity(starts.len());
    for start in starts {
        let Some(start) = start else {
            steps.push(None);
            continue;
        };
        ensure!(start >= 1, "collatz of a number below 1");
        let (mut n, mut count) = (start as u64, 0);
        while n != 1 {
            ensure!(
                n % 2 == 0 || n <= (u64::MAX - 1) / 3,
                "collatz: more than 64 bits"
            );
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            count += 1;
        }
        steps.push(Some(count));
    }
    Ok(Int32Array::from(steps))
}
