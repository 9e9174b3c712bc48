//! What a campaign's noise is: the floor that identical cells show, and how much
//! a round resembles the one before.
//!
//! A campaign measures some cells twice under two names, interleaved with all
//! the others: the cell and its A/A control. Whatever ratio their samples
//! show, the true one is 1. Where the interval of that ratio reaches, so may
//! that of any two cells without meaning a thing:
//!
//! * the **bound** of a control is the farther end of its interval from 1, as
//!   `max(|ln low|, |ln high|)`;
//! * the floor of a row's **workload** is the bound of its own control, or the
//!   median of the row's bounds where that is larger (one control can be
//!   lucky);
//! * the floor of a row's **mean** is the bound of the geometric mean over its
//!   controlled workloads;
//! * a row without controls has the largest floors of its engine's rows that
//!   have some, with as many instances; where there are none, the largest of all
//!   rows; a workload that nobody controls has the largest bound of all;
//! * a control with fewer rounds than an interval takes says nothing: it was left out;
//! * the floor of a **ratio** is that of its noisier side.
//!
//! Floors are kept by number of threads, since more threads are noisier, and
//! never borrowed from another number.

use std::collections::BTreeMap;

use fathom_record::{Cell, CellId, Estimator};

use crate::NoEstimate;
use crate::figure::Figure;
use crate::order::median;
use crate::ratio::{self, Logs, Ratio};
use crate::row::Row;
use crate::serial::Serial;
use crate::student::quantile_two_sided;
use crate::times::Times;

/// A difference below which nothing counts.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Floor {
    log: f64,
}

impl Floor {
    /// From the logarithm of a ratio, its sign ignored.
    pub fn from_log(log: f64) -> Floor {
        Floor { log: log.abs() }
    }

    /// As a relative difference: 0.008 for 0.8 %.
    pub fn relative(self) -> f64 {
        self.log.exp_m1()
    }

    /// As the logarithm of a ratio.
    pub fn log(self) -> f64 {
        self.log
    }

    /// The larger of two.
    pub fn max(self, other: Floor) -> Floor {
        Floor {
            log: self.log.max(other.log),
        }
    }

    /// The floor that the interval of a ratio whose true value is 1 gives.
    pub fn of(ratio: &Ratio) -> Option<Floor> {
        let interval = ratio.interval.ok()?;
        let log = interval.low.ln().abs().max(interval.high.ln().abs());
        log.is_finite().then_some(Floor { log })
    }
}

/// One A/A control and what it showed.
#[derive(Clone, Debug)]
pub struct Control {
    /// The cell.
    pub original: CellId,
    /// The cell that repeats it.
    pub control: CellId,
    /// The workload, as `suite:name`.
    pub workload: String,
    /// Instances at once.
    pub threads: u32,
    /// Control to original; the true ratio is 1.
    pub ratio: Result<Ratio, NoEstimate>,
}

/// The noise of a campaign in one figure.
#[derive(Clone, Debug)]
pub struct NoiseFloor {
    /// Every A/A control.
    pub controls: Vec<Control>,
    /// How rounds resemble each other.
    pub(crate) serial: Serial,
    rows: BTreeMap<Row, Floors>,
    by_engine: BTreeMap<(String, u32), Floors>,
    by_threads: BTreeMap<u32, Floors>,
    /// What controls are off by in their errors, squared, by number of instances.
    squares: BTreeMap<u32, Squares>,
}

/// What the errors of ratios are multiplied by, since those of controls were too small;
/// never less than 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inflation {
    /// Those of cells.
    pub cells: f64,
    /// Those of means.
    pub means: f64,
}

/// How far controls are from 1: the sum of the squares, and of how many.
#[derive(Clone, Copy, Debug, Default)]
struct Squares {
    cells: (f64, f64),
    means: (f64, f64),
}

/// How many controls whose errors are as they should be are taken to be there beside those that
/// are: a few say little.
const INFLATION_PRIOR: f64 = 4.0;

impl Squares {
    fn add(sum: &mut (f64, f64), ratio: &Ratio) {
        let Ok(error) = ratio.error else { return };
        // In errors of a normal distribution, however few rounds there are.
        let chance = error.chance_of(ratio.value.ln()).max(f64::MIN_POSITIVE);
        let far = quantile_two_sided(chance, f64::INFINITY);
        sum.0 += far * far;
        sum.1 += 1.0;
    }

    fn inflation(&self) -> Inflation {
        let of = |(sum, count): (f64, f64), prior: f64| {
            let square = (sum + INFLATION_PRIOR * prior) / (count + INFLATION_PRIOR);
            square.max(1.0)
        };
        let cells = of(self.cells, 1.0);
        let means = of(self.means, cells);
        Inflation {
            cells: cells.sqrt(),
            means: means.sqrt(),
        }
    }
}

impl Inflation {
    /// None.
    pub(crate) const NONE: Inflation = Inflation {
        cells: 1.0,
        means: 1.0,
    };

    /// The larger of each.
    pub(crate) fn max(self, other: Inflation) -> Inflation {
        Inflation {
            cells: self.cells.max(other.cells),
            means: self.means.max(other.means),
        }
    }
}

impl Default for NoiseFloor {
    fn default() -> NoiseFloor {
        NoiseFloor {
            controls: Vec::new(),
            serial: Serial::NONE,
            rows: BTreeMap::new(),
            by_engine: BTreeMap::new(),
            by_threads: BTreeMap::new(),
            squares: BTreeMap::new(),
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Floors {
    geomean: Option<Floor>,
    typical: Option<Floor>,
    worst: Option<Floor>,
    workloads: BTreeMap<String, Floor>,
}

impl NoiseFloor {
    /// The largest floor of any row for one workload (`suite:name`) with a
    /// number of instances.
    pub fn workload(&self, workload: &str, threads: u32) -> Option<Floor> {
        self.by_threads.get(&threads)?.workload(workload)
    }

    /// The largest floor of any row's geometric mean with a number of instances.
    pub fn geomean(&self, threads: u32) -> Option<Floor> {
        self.by_threads.get(&threads)?.geomean
    }

    /// The smallest floor of any row's geometric mean with a number of instances: what
    /// the host itself lets be seen.
    pub fn least(&self, threads: u32) -> Option<Floor> {
        let rows = self.rows.iter().filter(|(row, _)| row.threads == threads);
        let floors = rows.filter_map(|(_, floors)| floors.geomean);
        floors.min_by(|one, other| one.log.total_cmp(&other.log))
    }

    /// Numbers of instances there is a floor for.
    pub fn threads(&self) -> impl Iterator<Item = u32> + '_ {
        self.by_threads.keys().copied()
    }

    /// What errors are multiplied by with a number of instances.
    pub fn inflation(&self, threads: u32) -> Inflation {
        let squares = self.squares.get(&threads).copied();
        squares.unwrap_or_default().inflation()
    }

    /// That of a ratio: its noisier side's.
    pub(crate) fn inflation_of(&self, row: &Row, to: &Row) -> Inflation {
        let (one, other) = (self.inflation(row.threads), self.inflation(to.threads));
        one.max(other)
    }

    /// The floor of a row's workload, or of its mean: its own where it has
    /// controls, else its engine's.
    pub(crate) fn of_row(&self, row: &Row, workload: Option<&str>) -> Option<Floor> {
        let any = self.by_threads.get(&row.threads)?;
        let engine = (row.sandbox.engine.clone(), row.threads);
        let own = self.rows.get(row).or_else(|| self.by_engine.get(&engine));
        let own = own.unwrap_or(any);
        match workload {
            Some(workload) => own.workload(&format!("{}:{workload}", row.suite)),
            None => own.geomean.or(any.geomean),
        }
    }

    /// The floor of a ratio: that of its noisier side.
    pub(crate) fn of_ratio(&self, row: &Row, to: &Row, workload: Option<&str>) -> Option<Floor> {
        let (one, other) = (self.of_row(row, workload)?, self.of_row(to, workload)?);
        Some(one.max(other))
    }

    /// From the controls among the cells.
    pub(crate) fn measure<'a>(
        cells: impl Iterator<Item = &'a Cell>,
        times: impl Fn(&CellId) -> Option<&'a Times>,
        figure: Figure,
        estimator: Estimator,
        serial: Serial,
    ) -> NoiseFloor {
        let mut noise = NoiseFloor {
            serial,
            ..NoiseFloor::default()
        };
        let mut rows: BTreeMap<Row, Vec<(Control, Logs)>> = BTreeMap::new();
        for cell in cells {
            let Some(original) = &cell.control_of else {
                continue;
            };
            let id = cell.id();
            let pairs = match (times(&id), times(original)) {
                (Some(control), Some(original)) => control.pairs(original, figure),
                _ => Vec::new(),
            };
            let logs = Logs::between(&pairs, estimator).map(|logs| logs.of_figure(figure, 2));
            let control = Control {
                original: original.clone(),
                control: id,
                workload: workload_key(cell),
                threads: cell.threads,
                ratio: Err(NoEstimate::TooFewSamples { have: 0, need: 1 }),
            };
            match logs {
                Ok(logs) => rows.entry(Row::of(cell)).or_default().push((control, logs)),
                Err(error) => noise.controls.push(Control {
                    ratio: Err(error),
                    ..control
                }),
            }
        }
        for (row, controls) in rows {
            noise.add(row, controls);
        }
        noise
    }

    /// Adds the controls of a row.
    fn add(&mut self, row: Row, controls: Vec<(Control, Logs)>) {
        let (mut controls, logs): (Vec<Control>, Vec<Logs>) = controls.into_iter().unzip();
        let ratios = ratio::each(&logs, self.serial);
        for (control, ratio) in controls.iter_mut().zip(ratios) {
            control.ratio = ratio;
        }
        let whole = logs.iter().filter(|logs| logs.are_enough());
        let whole: Vec<Logs> = whole.cloned().collect();
        let mean = ratio::mean(&whole, self.serial);
        let mean = mean.ok();
        let squares = self.squares.entry(row.threads).or_default();
        for ratio in controls.iter().filter_map(|one| one.ratio.as_ref().ok()) {
            Squares::add(&mut squares.cells, ratio);
        }
        if let Some(mean) = &mean {
            Squares::add(&mut squares.means, mean);
        }
        let floors = Floors::of(&controls, mean.as_ref().and_then(Floor::of));
        self.controls.extend(controls);
        let Some(floors) = floors else {
            return;
        };
        let all = self.by_threads.entry(row.threads).or_default();
        all.raise(&floors);
        let engine = (row.sandbox.engine.clone(), row.threads);
        self.by_engine.entry(engine).or_default().raise(&floors);
        self.rows.insert(row, floors);
    }
}

/// A workload's name across suites.
pub fn workload_key(cell: &Cell) -> String {
    format!("{}:{}", cell.suite, cell.workload)
}

impl Floors {
    /// From a row's controls; `None` if none of them has an interval.
    fn of(controls: &[Control], geomean: Option<Floor>) -> Option<Floors> {
        let mut floors = Floors {
            geomean,
            ..Floors::default()
        };
        for control in controls {
            if let Some(bound) = control.ratio.as_ref().ok().and_then(Floor::of) {
                raise(&mut floors.worst, bound);
                floors.workloads.insert(control.workload.clone(), bound);
            }
        }
        let bounds: Vec<f64> = floors.workloads.values().map(|floor| floor.log()).collect();
        floors.typical = Some(Floor::from_log(median(&bounds)?));
        Some(floors)
    }

    fn workload(&self, workload: &str) -> Option<Floor> {
        match self.workloads.get(workload) {
            Some(own) => Some(self.typical.map_or(*own, |typical| own.max(typical))),
            None => self.worst,
        }
    }

    /// To the larger of each.
    fn raise(&mut self, other: &Floors) {
        for (own, other) in [
            (&mut self.geomean, other.geomean),
            (&mut self.typical, other.typical),
            (&mut self.worst, other.worst),
        ] {
            if let Some(other) = other {
                raise(own, other);
            }
        }
        for (workload, floor) in &other.workloads {
            let own = self.workloads.entry(workload.clone()).or_insert(*floor);
            *own = own.max(*floor);
        }
    }
}

fn raise(floor: &mut Option<Floor>, other: Floor) {
    *floor = Some(floor.map_or(other, |one| one.max(other)));
}
