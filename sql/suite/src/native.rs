//! The same operators in Rust, on the same arrays: what WebAssembly is measured against.
//!
//! They copy what they are given, as an operator does that keeps it, and return arrays.

use std::sync::Arc;

use anyhow::{Result, ensure};
use arrow_array::{Array, ArrayRef, Float64Array, Int32Array, Int64Array, cast::AsArray, types};

/// As in `operators/udo_kmeans.c`.
const CLUSTERS: usize = 8;
const ITERATIONS: usize = 10;
const ROWS: usize = 8192;

/// k-means after Lloyd.
#[derive(Default)]
pub struct KMeans {
    x: Vec<f64>,
    y: Vec<f64>,
    payload: Vec<i64>,
    cluster: Vec<i32>,
    produced: usize,
}

impl KMeans {
    /// Takes a batch.
    ///
    /// # Errors
    /// Nulls.
    pub fn consume(&mut self, columns: &[ArrayRef; 3]) -> Result<()> {
        ensure!(
            columns.iter().all(|column| column.null_count() == 0),
            "k-means of a null"
        );
        let [x, y, payload] = columns;
        self.x
            .extend_from_slice(x.as_primitive::<types::Float64Type>().values());
        self.y
            .extend_from_slice(y.as_primitive::<types::Float64Type>().values());
        let payload = payload.as_primitive::<types::Int64Type>();
        self.payload.extend_from_slice(payload.values());
        Ok(())
    }

    /// The next batch of the output, while there is one.
    pub fn produce(&mut self) -> Option<[ArrayRef; 4]> {
        if self.cluster.is_empty() {
            self.assign();
        }
        let from = self.produced;
        let to = self.x.len().min(from + ROWS);
        self.produced = to;
        (from < to).then(|| {
            let [x, y] = [&self.x, &self.y]
                .map(|all| Arc::new(Float64Array::from(all[from..to].to_vec())) as ArrayRef);
            let payload = Arc::new(Int64Array::from(self.payload[from..to].to_vec()));
            let cluster = Arc::new(Int32Array::from(self.cluster[from..to].to_vec()));
            [x, y, payload, cluster]
        })
    }

    /// The first points that differ.
    fn first_centres(&self) -> Vec<(f64, f64)> {
        let mut centres = Vec::new();
        for point in self.x.iter().copied().zip(self.y.iter().copied()) {
            if centres.len() == CLUSTERS {
                break;
            }
            if !centres.contains(&point) {
                centres.push(point);
            }
        }
        centres
    }

    fn assign(&mut self) {
        let mut centres = self.first_centres();
        self.cluster = vec![-1; self.x.len()];
        for _ in 0..ITERATIONS {
            let mut sums = [(0.0, 0.0, 0u32); CLUSTERS];
            let mut moved = 0u32;
            for ((x, y), own) in self.x.iter().zip(&self.y).zip(&mut self.cluster) {
                let best = nearest(*x, *y, &centres);
                moved += u32::from(*own != best as i32);
                *own = best as i32;
                sums[best].0 += x;
                sums[best].1 += y;
                sums[best].2 += 1;
            }
            if moved == 0 {
                break;
            }
            for (centre, (x, y, members)) in centres.iter_mut().zip(sums) {
                if members > 0 {
                    *centre = (x / f64::from(members), y / f64::from(members));
                }
            }
        }
    }
}

fn nearest(x: f64, y: f64, centres: &[(f64, f64)]) -> usize {
    let mut best = 0;
    let mut least = f64::INFINITY;
    for (i, (cx, cy)) in centres.iter().enumerate() {
        let distance = (x - cx) * (x - cx) + (y - cy) * (y - cy);
        if distance < least {
            least = distance;
            best = i;
        }
    }
    best
}

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
