//! The noise floor: what identical cells differ by.
//!
//! A campaign measures some cells twice under two names, interleaved with all
//! the others: the cell and its A/A control. Whatever ratio their samples
//! show, the true one is 1. Where the interval of that ratio reaches, so may
//! that of any two cells without meaning a thing:
//!
//! * the **bound** of a control is the farther end of its interval from 1, as
//!   `max(|ln low|, |ln high|)`;
//! * the **floor of a workload** is the bound of its own control, or the median
//!   of all bounds where that is larger (one control can be lucky); for a
//!   workload that has no control, the largest bound of all;
//! * the **floor of the geometric mean** is the bound of the geometric mean
//!   over all controlled workloads.
//!
//! Floors are kept by number of threads, since more threads are noisier, and
//! never borrowed from another number.
//!
//! A difference is [`Verdict::Real`] if its 95 % interval excludes 1 **and** it
//! is larger than the floor. The interval answers for chance; the floor answers
//! for what an interval of a few rounds cannot see.

use std::collections::BTreeMap;

use fathom_record::{Cell, CellId};

use crate::NoEstimate;
use crate::figure::Figure;
use crate::order::median;
use crate::ratio::{Logs, Ratio, geomean};
use crate::row::Row;
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

    /// Whether a ratio is farther from 1 than this.
    pub fn is_exceeded_by(self, ratio: f64) -> bool {
        ratio.ln().abs() > self.log
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

/// What a difference is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The interval excludes 1 and the difference exceeds the noise floor.
    Real,
    /// It does not.
    WithinNoise,
    /// There are too few rounds for an interval.
    TooFewSamples,
    /// No A/A control says what the noise is, so nothing is called real.
    Uncontrolled,
}

impl Verdict {
    /// Judges a ratio by the floor that belongs to it.
    pub fn of(ratio: &Ratio, floor: Option<Floor>) -> Verdict {
        match (ratio.interval, floor) {
            (Err(_), _) => Verdict::TooFewSamples,
            (Ok(interval), _) if interval.contains(1.0) => Verdict::WithinNoise,
            (Ok(_), None) => Verdict::Uncontrolled,
            (Ok(_), Some(floor)) if floor.is_exceeded_by(ratio.value) => Verdict::Real,
            (Ok(_), Some(_)) => Verdict::WithinNoise,
        }
    }

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Real => "real",
            Verdict::WithinNoise => "within noise",
            Verdict::TooFewSamples => "too few samples",
            Verdict::Uncontrolled => "uncontrolled",
        }
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

/// The noise floors of a campaign.
#[derive(Clone, Debug, Default)]
pub struct NoiseFloor {
    /// Every A/A control.
    pub controls: Vec<Control>,
    by_threads: BTreeMap<u32, Floors>,
}

#[derive(Clone, Debug, Default)]
struct Floors {
    geomean: Option<Floor>,
    typical: Option<Floor>,
    worst: Option<Floor>,
    workloads: BTreeMap<String, Floor>,
}

impl NoiseFloor {
    /// The floor for one workload (`suite:name`) with a number of instances.
    pub fn workload(&self, workload: &str, threads: u32) -> Option<Floor> {
        let floors = self.by_threads.get(&threads)?;
        match floors.workloads.get(workload) {
            Some(own) => Some(floors.typical.map_or(*own, |typical| own.max(typical))),
            None => floors.worst,
        }
    }

    /// The floor for geometric means with a number of instances.
    pub fn geomean(&self, threads: u32) -> Option<Floor> {
        self.by_threads.get(&threads)?.geomean
    }

    /// Numbers of instances there is a floor for.
    pub fn threads(&self) -> impl Iterator<Item = u32> + '_ {
        self.by_threads.keys().copied()
    }

    /// From the controls among the cells.
    pub(crate) fn measure<'a>(
        cells: impl Iterator<Item = &'a Cell>,
        times: impl Fn(&CellId) -> Option<&'a Times>,
        figure: Figure,
    ) -> NoiseFloor {
        let mut noise = NoiseFloor::default();
        let mut rows: BTreeMap<Row, Vec<Logs>> = BTreeMap::new();
        for cell in cells {
            let Some(original) = &cell.control_of else {
                continue;
            };
            let id = cell.id();
            let pairs = match (times(&id), times(original)) {
                (Some(control), Some(original)) => control.pairs(original, figure),
                _ => Vec::new(),
            };
            let logs = Logs::paired(&pairs, id.as_str());
            noise.controls.push(Control {
                original: original.clone(),
                control: id,
                workload: workload_key(cell),
                threads: cell.threads,
                ratio: logs.as_ref().map(Logs::ratio).map_err(|error| *error),
            });
            if let Ok(logs) = logs {
                rows.entry(Row::of(cell)).or_default().push(logs);
            }
        }
        noise.by_threads = floors(&noise.controls, &rows);
        noise
    }
}

/// A workload's name across suites.
pub fn workload_key(cell: &Cell) -> String {
    format!("{}:{}", cell.suite, cell.workload)
}

fn floors(controls: &[Control], rows: &BTreeMap<Row, Vec<Logs>>) -> BTreeMap<u32, Floors> {
    let mut by_threads: BTreeMap<u32, Floors> = BTreeMap::new();
    let larger = |one: Option<Floor>, other: Floor| Some(one.map_or(other, |one| one.max(other)));
    for control in controls {
        let Some(bound) = control.ratio.as_ref().ok().and_then(Floor::of) else {
            continue;
        };
        let floors = by_threads.entry(control.threads).or_default();
        floors.worst = larger(floors.worst, bound);
        let own = floors.workloads.get(&control.workload).copied();
        floors.workloads.insert(
            control.workload.clone(),
            own.map_or(bound, |own| own.max(bound)),
        );
    }
    for floors in by_threads.values_mut() {
        let bounds: Vec<f64> = floors.workloads.values().map(|floor| floor.log()).collect();
        floors.typical = median(&bounds).map(Floor::from_log);
    }
    for (row, logs) in rows {
        let logs: Vec<&Logs> = logs.iter().collect();
        let Some(bound) = geomean(&logs).ok().as_ref().and_then(Floor::of) else {
            continue;
        };
        let floors = by_threads.entry(row.threads).or_default();
        floors.geomean = larger(floors.geomean, bound);
    }
    by_threads
}
