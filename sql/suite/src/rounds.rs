//! Cells, measured in rounds: every round has each once, in an order of its own, so that what
//! changes on the machine meets all of them alike.

use std::{
    fs::OpenOptions,
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use fathom_stats::rng::Rng;

/// The seed of the orders, so that a run can be repeated.
const SEED: u64 = 19;

/// How long to measure, and where samples are kept.
#[derive(Clone, Copy)]
pub struct Pace<'a> {
    /// Rounds at most.
    pub rounds: usize,
    /// Seconds after which none begins but the first.
    pub seconds: u64,
    /// To which each sample is appended, a line of JSON.
    pub samples: Option<&'a Path>,
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
/// A sample fails, or cannot be kept.
pub fn measure(title: &str, mut cells: Vec<Cell<'_>>, pace: Pace<'_>) -> Result<Vec<Series>> {
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
    for round in 0..pace.rounds {
        if round > 0 && begun.elapsed() >= Duration::from_secs(pace.seconds) {
            break;
        }
        for at in shuffled(cells.len(), &mut rng) {
            let cell = &mut cells[at];
            let ns = (cell.sample)().with_context(|| cell.name.clone())?;
            all[at].ns.push(ns);
            keep(pace.samples, title, &all[at])?;
        }
    }
    Ok(all)
}

/// The last sample of a series. Names have no quotes in them.
fn keep(to: Option<&Path>, title: &str, series: &Series) -> Result<()> {
    let Some(path) = to else {
        return Ok(());
    };
    let (cell, round) = (&series.name, series.ns.len());
    let ns = series.ns.last().unwrap_or(&0.0);
    let opened = OpenOptions::new().create(true).append(true).open(path);
    let mut file = opened.with_context(|| path.display().to_string())?;
    writeln!(
        file,
        r#"{{"table":"{title}","cell":"{cell}","round":{round},"ns":{ns:.1}}}"#
    )?;
    Ok(())
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
        let folder = std::env::temp_dir().join(format!("fathom-rounds-{}", std::process::id()));
        let pace = Pace {
            rounds: 4,
            seconds: 60,
            samples: Some(&folder),
        };
        let series = measure("a table", cells.collect(), pace).unwrap();
        let kept = std::fs::read_to_string(&folder).unwrap();
        std::fs::remove_file(&folder).unwrap();
        assert_eq!(kept.lines().count(), 12);
        let line = r#"{"table":"a table","cell":"2","round":4,"ns":5.0}"#;
        assert!(kept.lines().any(|kept| kept == line), "{kept}");
        // The first sample does not count.
        assert!(
            series
                .iter()
                .all(|series| series.ns == [2.0, 3.0, 4.0, 5.0])
        );
    }
}
