//! k-means after Lloyd, on as many threads as there are parts; as in `operators/kmeans.h`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use anyhow::{Result, anyhow, ensure};
use arrow_array::{Array, ArrayRef, Float64Array, Int32Array, Int64Array, cast::AsArray, types};

const CLUSTERS: usize = 8;
/// Rounds at most.
pub const ITERATIONS: usize = 10;

/// What one thread has of the points: of batches one after the other.
#[derive(Default)]
struct Part {
    x: Vec<f64>,
    y: Vec<f64>,
    payload: Vec<i64>,
    cluster: Vec<i32>,
    /// Where each batch ends.
    ends: Vec<usize>,
    seeds: Seeds,
}

/// Points that differ, by rising hash.
#[derive(Default)]
struct Seeds(Vec<(u64, f64, f64)>);

/// What points of a part sum up to, by cluster.
#[derive(Default)]
struct Sums {
    of: [(f64, f64, u64); CLUSTERS],
    moved: u64,
}

/// The output's batches, in no order.
///
/// # Errors
/// Nulls.
pub fn run(batches: &[[ArrayRef; 3]], threads: usize) -> Result<Vec<[ArrayRef; 4]>> {
    let next = AtomicUsize::new(0);
    let mut parts = side_by_side(vec![Part::default(); threads], |mut part| {
        while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            part.consume(batch)?;
        }
        Ok(part)
    })?;
    let mut seeds = Seeds::default();
    let all = parts.iter().flat_map(|part| &part.seeds.0);
    all.for_each(|(hash, x, y)| seeds.keep(*hash, *x, *y));
    let mut centres = seeds.places();
    for _ in 0..ITERATIONS {
        let assigned = side_by_side(parts, |mut part| {
            let sums = part.assign(&centres);
            Ok((part, sums))
        })?;
        let sums = assigned
            .iter()
            .fold(Sums::default(), |sum, (_, own)| sum.with(own));
        parts = assigned.into_iter().map(|(part, _)| part).collect();
        if sums.moved == 0 {
            break;
        }
        for (centre, (x, y, members)) in centres.iter_mut().zip(sums.of) {
            if members > 0 {
                *centre = (x / members as f64, y / members as f64);
            }
        }
    }
    let produced = side_by_side(parts, |part| Ok(part.produce()))?;
    Ok(produced.into_iter().flatten().collect())
}

/// Where clusters begin.
///
/// # Errors
/// Nulls.
#[cfg(feature = "datafusion")]
pub fn seeds(batches: &[[ArrayRef; 3]]) -> Result<Vec<(f64, f64)>> {
    let mut part = Part::default();
    batches.iter().try_for_each(|batch| part.consume(batch))?;
    Ok(part.seeds.places())
}

/// Each on a thread of its own; one stays on this.
fn side_by_side<T: Send, R: Send>(
    all: Vec<T>,
    work: impl Fn(T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let work = &work;
    thread::scope(|scope| {
        let mut all = all.into_iter();
        let first = all.next();
        let others: Vec<_> = all.map(|one| scope.spawn(move || work(one))).collect();
        let first = first.map(work);
        let others = others.into_iter().map(|other| {
            let joined = other.join();
            joined.map_err(|_| anyhow!("a thread panicked"))?
        });
        first.into_iter().chain(others).collect()
    })
}

impl Clone for Part {
    /// Of one that is empty.
    fn clone(&self) -> Part {
        Part::default()
    }
}

impl Part {
    fn consume(&mut self, columns: &[ArrayRef; 3]) -> Result<()> {
        ensure!(
            columns.iter().all(|column| column.null_count() == 0),
            "k-means of a null"
        );
        let [x, y, payload] = columns;
        let x = x.as_primitive::<types::Float64Type>().values();
        let y = y.as_primitive::<types::Float64Type>().values();
        let payload = payload.as_primitive::<types::Int64Type>();
        self.x.extend_from_slice(x);
        self.y.extend_from_slice(y);
        self.payload.extend_from_slice(payload.values());
        self.ends.push(self.x.len());
        self.cluster.resize(self.x.len(), -1);
        for (x, y) in x.iter().zip(y) {
            let hash = hash(*x, *y);
            if self.seeds.wants(hash) {
                self.seeds.keep(hash, *x, *y);
            }
        }
        Ok(())
    }

    fn assign(&mut self, centres: &[(f64, f64)]) -> Sums {
        let mut sums = Sums::default();
        for ((x, y), own) in self.x.iter().zip(&self.y).zip(&mut self.cluster) {
            let best = nearest(*x, *y, centres);
            sums.moved += u64::from(*own != best as i32);
            *own = best as i32;
            sums.of[best].0 += x;
            sums.of[best].1 += y;
            sums.of[best].2 += 1;
        }
        sums
    }

    fn produce(&self) -> Vec<[ArrayRef; 4]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let batch = |(from, to): (&usize, &usize)| {
            let (from, to) = (*from, *to);
            let [x, y] = [&self.x, &self.y]
                .map(|all| Arc::new(Float64Array::from(all[from..to].to_vec())) as ArrayRef);
            let payload = Arc::new(Int64Array::from(self.payload[from..to].to_vec()));
            let cluster = Arc::new(Int32Array::from(self.cluster[from..to].to_vec()));
            [x, y, payload, cluster]
        };
        starts.zip(&self.ends).map(batch).collect()
    }
}

impl Seeds {
    fn places(&self) -> Vec<(f64, f64)> {
        self.0.iter().map(|(_, x, y)| (*x, *y)).collect()
    }

    fn wants(&self, hash: u64) -> bool {
        self.0.len() < CLUSTERS || self.0.last().is_some_and(|last| hash <= last.0)
    }

    fn keep(&mut self, hash: u64, x: f64, y: f64) {
        let at = self.0.partition_point(|seed| seed.0 < hash);
        let same = self.0[at..].iter().take_while(|seed| seed.0 == hash);
        let bits = |x: f64, y: f64| (x.to_bits(), y.to_bits());
        let mut same = same.map(|seed| bits(seed.1, seed.2));
        if !same.any(|seed| seed == bits(x, y)) {
            self.0.insert(at, (hash, x, y));
            self.0.truncate(CLUSTERS);
        }
    }
}

impl Sums {
    fn with(mut self, other: &Sums) -> Sums {
        for (own, other) in self.of.iter_mut().zip(&other.of) {
            *own = (own.0 + other.0, own.1 + other.1, own.2 + other.2);
        }
        self.moved += other.moved;
        self
    }
}

fn hash(x: f64, y: f64) -> u64 {
    let hash = (x.to_bits() ^ y.to_bits().rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
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
