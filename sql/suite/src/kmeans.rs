//! The thesis's k-means: an operator that is given batches, and then asked for its output; by one
//! instance, and by one for each thread over one memory.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use anyhow::{Result, anyhow, ensure};
use arrow_array::{Array, ArrayRef, cast::AsArray, types};
use fathom_engine::BoundsChoice;
use fathom_guest::{Guest, Pool, batch::Input, column::ColumnType};

use crate::{
    Bits, memory,
    module::{Modules, Variant},
    native,
    points::{BATCH_ROWS, points},
    rounds::{Cell, Pace, Series, measure, timed},
    show,
};

const GIVEN: [ColumnType; 3] = [ColumnType::Double, ColumnType::Double, ColumnType::BigInt];
const RETURNED: [ColumnType; 4] = [
    ColumnType::Double,
    ColumnType::Double,
    ColumnType::BigInt,
    ColumnType::Int,
];

/// How it is run.
#[derive(Clone, Copy)]
pub struct How {
    /// Of the addresses of its memory.
    pub bits: Bits,
    /// By one instance a thread over one memory, on one thread and on all; by one instance
    /// without.
    pub is_shared: bool,
}

/// Measures it with as many points each, and shows a table for each number and, where there are several,
/// what they say together.
///
/// # Errors
/// A module is not there, or answers something else than the native operator.
pub fn run(modules: &Modules, pace: Pace<'_>, counts: &[usize], how: How) -> Result<()> {
    let variants = modules.by_strategy(how.module())?;
    let one = |count: &usize| Ok((*count, compare(how, &variants, pace, *count)?));
    let all: Vec<(usize, Vec<Series>)> = counts.iter().map(one).collect::<Result<_>>()?;
    if all.len() > 1 {
        show::over_counts(&format!("k-means, {}", how.words()), &all);
    }
    Ok(())
}

impl How {
    fn module(self) -> &'static str {
        match (self.is_shared, self.bits) {
            (false, Bits::B64) => "udo_kmeans.64.wasm",
            (false, Bits::B32) => "udo_kmeans.wasm",
            (true, Bits::B64) => "udo_kmeans_shared.64.wasm",
            (true, Bits::B32) => "udo_kmeans_shared.wasm",
        }
    }

    fn is_wide(self) -> bool {
        matches!(self.bits, Bits::B64)
    }

    fn words(self) -> String {
        let bits = if self.is_wide() { 64 } else { 32 };
        match self.is_shared {
            true => format!("by threads, shared {bits}-bit memory"),
            false => format!("{bits}-bit memory"),
        }
    }

    /// On as many threads each; on one without sharing a memory where it is none.
    fn threads(self) -> Vec<Option<usize>> {
        let all = thread::available_parallelism().map_or(2, usize::from);
        match self.is_shared {
            true => vec![Some(1), Some(all.max(2))],
            false => vec![None],
        }
    }
}

/// With one number of points.
fn compare(how: How, variants: &[Variant], pace: Pace<'_>, count: usize) -> Result<Vec<Series>> {
    memory::forget_peak();
    let batches = points(count, BATCH_ROWS);
    let expected = native(&batches, 1)?;
    let sample = |answer: Result<u64>| {
        let answer = answer?;
        ensure!(
            answer == expected,
            "another answer than the native operator's: {answer:x}"
        );
        Ok(())
    };
    let (batches, sample) = (&batches, &sample);
    let mut cells = Vec::new();
    for on in how.threads() {
        let name = |of: &str| match on {
            None => of.to_owned(),
            Some(1) => format!("{of}, 1 thread"),
            Some(threads) => format!("{of}, {threads} threads"),
        };
        let (on, shared) = (on.unwrap_or(1), on.is_some());
        cells.push(Cell::new(name("native"), move || {
            timed(|| sample(native(batches, on))).map(|(ns, ())| ns)
        }));
        for variant in variants {
            cells.push(Cell::new(name(&variant.name), move || {
                let answer = || match shared {
                    true => by_crew(&variant.pool, batches, on),
                    false => by_one(&variant.pool, batches),
                };
                timed(|| sample(answer())).map(|(ns, ())| ns)
            }));
        }
    }
    let to: Vec<String> = cells.iter().map(|cell| cell.name.clone()).collect();
    let is_base = |name: &&String| name.starts_with("native") || name.starts_with("none");
    let to: Vec<&str> = to.iter().filter(is_base).map(String::as_str).collect();
    let auto = BoundsChoice::Auto.resolve(how.is_wide());
    let title = format!("k-means of {count} points, {}; auto is {auto}", how.words());
    let series = measure(&title, cells, pace)?;
    show::table(&title, &series, &to);
    memory::tell_peak();
    Ok(series)
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

fn native(batches: &[[ArrayRef; 3]], threads: usize) -> Result<u64> {
    let produced = native::kmeans::run(batches, threads)?;
    Ok(produced.iter().fold(0, |before, batch| sum(before, batch)))
}

fn by_one(pool: &Arc<Pool>, batches: &[[ArrayRef; 3]]) -> Result<u64> {
    let mut answer = 0;
    through(pool, batches, |batch| answer = sum(answer, &batch))?;
    Ok(answer)
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
