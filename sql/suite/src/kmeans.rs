//! The thesis's k-means: an operator that is given batches, and then asked for its output; by one
//! instance, and by one for each thread over one memory.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use anyhow::{Result, anyhow};
use arrow_array::{Array, ArrayRef, cast::AsArray, types};
use fathom_guest::{Guest, Pool, batch::Input, column::ColumnType};

use crate::{
    native,
    points::{BATCH_ROWS, points},
    work::{By, Work, checked, done},
};

const GIVEN: [ColumnType; 3] = [ColumnType::Double, ColumnType::Double, ColumnType::BigInt];
const RETURNED: [ColumnType; 4] = [
    ColumnType::Double,
    ColumnType::Double,
    ColumnType::BigInt,
    ColumnType::Int,
];

/// All of it, of so many points; on so many threads over one memory, or by one instance.
///
/// # Errors
/// The module does not compile.
pub fn work<'a>(by: &By<'_>, count: usize, shared: Option<usize>) -> Result<Work<'a>> {
    let batches = Arc::new(points(count, BATCH_ROWS));
    let all = Arc::clone(&batches);
    let native = move || done(|| native_sum(&all, shared.unwrap_or(1)));
    let By::Wasm(pool) = by else {
        return Ok(Box::new(native));
    };
    let pool = pool(false)?;
    let wasm = move || {
        done(|| match shared {
            Some(threads) => by_crew(&pool, &batches, threads),
            None => {
                let mut answer = 0;
                through(&pool, &batches, |batch| answer = sum(answer, &batch))?;
                Ok(answer)
            }
        })
    };
    Ok(checked(wasm, native))
}

/// A number that another assignment would hardly have, whatever the order of batches.
pub fn sum(sum: u64, batch: &[ArrayRef]) -> u64 {
    let payload = batch[2].as_primitive::<types::Int64Type>().values().iter();
    let clusters = batch[3].as_primitive::<types::Int32Type>().values().iter();
    let weighed = payload.zip(clusters).map(|(payload, cluster)| {
        (*payload as u64 + 1).wrapping_mul(*cluster as u64 * 0x9e37_79b9 + 1)
    });
    weighed.fold(sum, u64::wrapping_add)
}

fn native_sum(batches: &[[ArrayRef; 3]], threads: usize) -> Result<u64> {
    let produced = native::kmeans::run(batches, threads)?;
    Ok(produced.iter().fold(0, |before, batch| sum(before, batch)))
}

/// Batches go in, and all that come out are given to `seen`.
///
/// # Errors
/// The operator fails.
pub fn through(
    pool: &Arc<Pool>,
    batches: &[[ArrayRef; 3]],
    seen: impl FnMut(Vec<ArrayRef>),
) -> Result<()> {
    let run = || {
        let mut guest = pool.take()?;
        let state = guest.address("KMeans_open")?;
        for batch in batches {
            consume(&mut guest, state, batch)?;
        }
        produce(&mut guest, state, seen)
    };
    run().map_err(|what: String| anyhow!(what))
}

/// As an operator over one shared memory runs in a query: batches are what threads take.
fn by_crew(pool: &Arc<Pool>, batches: &[[ArrayRef; 3]], threads: usize) -> Result<u64> {
    let answer = || {
        let mut crew = pool.crew(threads)?;
        let state = crew[0].address("KMeans_open")?;
        let next = AtomicUsize::new(0);
        each(&mut crew, |guest| {
            while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                consume(guest, state, batch)?;
            }
            Ok(())
        })?;
        for step in 0.. {
            let done = each(&mut crew, |guest| guest.step("KMeans_work", state, step))?;
            if done.iter().all(|status| *status == 0) {
                break;
            }
        }
        let sums = each(&mut crew, |guest| {
            let mut answer = 0;
            produce(guest, state, |batch| answer = sum(answer, &batch))?;
            Ok(answer)
        })?;
        Ok(sums.into_iter().fold(0, u64::wrapping_add))
    };
    answer().map_err(|what: String| anyhow!(what))
}

/// On a thread each; one stays on this.
fn each<R: Send>(
    crew: &mut [Guest],
    work: impl Fn(&mut Guest) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let work = &work;
    thread::scope(|scope| {
        let (first, others) = crew.split_first_mut().ok_or("nobody is there")?;
        let others: Vec<_> = others
            .iter_mut()
            .map(|guest| scope.spawn(move || work(guest)))
            .collect();
        let first = work(first);
        let others = others.into_iter().map(|other| {
            let joined = other.join();
            joined.map_err(|_| "a thread panicked".to_owned())?
        });
        std::iter::once(first).chain(others).collect()
    })
}

fn consume(guest: &mut Guest, state: u64, batch: &[ArrayRef; 3]) -> Result<(), String> {
    let columns: Vec<_> = GIVEN.into_iter().zip(batch.iter().cloned()).collect();
    let input = Input::new(batch[0].len(), &columns).map_err(|unfit| unfit.to_string())?;
    let (at, _) = guest.give(&input, &[])?;
    guest.status("KMeans_consume", state, at).map(drop)
}

/// Gives all that it returns to `seen`.
fn produce(
    guest: &mut Guest,
    state: u64,
    mut seen: impl FnMut(Vec<ArrayRef>),
) -> Result<(), String> {
    let nothing = Input::new(0, &[]).map_err(|unfit| unfit.to_string())?;
    loop {
        let (_, result) = guest.give(&nothing, &RETURNED)?;
        if guest.status("KMeans_produce", state, result)? == 0 {
            return Ok(());
        }
        seen(guest.take(result, &RETURNED, None)?);
    }
}
