//! Cells, measured in rounds: every round has each once, in an order of its own, so that what
//! changes on the machine meets all of them alike.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fathom_stats::rng::Rng;

/// The seed of the orders, so that a run can be repeated.
const SEED: u64 = 19;

/// How long to measure.
#[derive(Clone, Copy)]
pub struct Pace {
    /// Rounds at most.
    pub rounds: usize,
    /// Seconds after which none begins.
    pub seconds: u64,
}

/// What is measured.
pub struct Cell<'a> {
    /// What tables call it.
    pub name: String,
    sample: Box<dyn FnMut() -> Result<f64> + 'a>,
}

impl<'a> Cell<'a> {
    /// One whose sample is a time in nanoseconds.
    pub fn new(name: impl Into<String>, sample: impl FnMut() -> Result<f64> + 'a) -> Cell<'a> {
        Cell {
            name: name.into(),
            sample: Box::new(sample),
        }
    }
}

/// Nanoseconds of a cell, round by round.
pub struct Series {
    /// What tables call it.
    pub name: String,
    /// By round.
    pub ns: Vec<f64>,
}

/// Measures them, after one sample each that does not count.
///
/// # Errors
/// A sample fails.
pub fn measure(mut cells: Vec<Cell<'_>>, pace: Pace) -> Result<Vec<Series>> {
    let series = |cell: &Cell<'_>| Series {
        name: cell.name.clone(),
        ns: Vec::new(),
    };
    let mut all: Vec<Series> = cells.iter().map(series).collect();
    for cell in &mut cells {
        (cell.sample)().with_context(|| cell.name.clone())?;
    }
    let mut rng = Rng::new(SEED, cells.len() as u64);
    let begun = Instant::now();
    for _ in 0..pace.rounds {
        if begun.elapsed() >= Duration::from_secs(pace.seconds) {
            break;
        }
        for at in shuffled(cells.len(), &mut rng) {
            let cell = &mut cells[at];
            let ns = (cell.sample)().with_context(|| cell.name.clone())?;
            all[at].ns.push(ns);
        }
    }
    Ok(all)
}

fn shuffled(count: usize, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        order.swap(at, rng.below(at + 1));
    }
    order
}

/// Nanoseconds of what is done once.
///
/// # Errors
/// It fails.
pub fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    let begun = Instant::now();
    let done = work()?;
    Ok((begun.elapsed().as_nanos() as f64, done))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_has_each_cell_once() {
        let mut counts = [0; 3];
        let cells = counts.iter_mut().enumerate();
        let cells = cells.map(|(i, count)| {
            Cell::new(i.to_string(), move || {
                *count += 1;
                Ok(f64::from(*count))
            })
        });
        let pace = Pace {
            rounds: 4,
            seconds: 60,
        };
        let series = measure(cells.collect(), pace).unwrap();
        // The first sample does not count.
        assert!(
            series
                .iter()
                .all(|series| series.ns == [2.0, 3.0, 4.0, 5.0])
        );
    }
}
