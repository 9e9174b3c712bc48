//! One program's time on one engine, in parts that add up.
//!
//! ```text
//!  native ▕████████████▏
//!  format              ▕███▏        (run₀ − io₀ − faults₀) − (native − ioₙ − faultsₙ)
//!  quality                 ▕█▏      the engine without checks over the format
//!  checks                    ▕█▏    the engine over itself without checks
//!  WASI                        ▕▏   traced
//!  system calls                 ▕█▏ traced, over native's
//!  page faults                    ▕▏  counted, by the price of one, over native's
//!  instance, compile                ▕█▏ phases
//!  start-up                            ▕█▏ of the program that is not run
//!  whole  ▕███████████████████████████████▏  the process, from its start to its end
//! ```
//!
//! A part is a difference of rows in the same round, and of traced runs; each of the two is
//! a series of values whose mean is taken. What must stay true: what a part takes away from
//! the time of a row, another part or the row behind it adds, so that all parts together are
//! the engine's run, its phases and its start-up, whatever tracing saw; the whole is
//! measured by itself, and what is left of it is said.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fathom_record::waterfall::{NOT_RUN, SUITE, TOUCHED, UNTOUCHED};
use fathom_record::{Campaign, Cell, CellId, Metric, Phase, Sandbox};

use crate::interval::{Group, Interval, Sum};
use crate::serial::Serial;
use crate::{NoEstimate, Summary};

mod laps;
mod start;
mod traces;

pub use start::Start;

use laps::{Lap, Laps};
use traces::{Seen, Traces};

/// A part of the bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The native program, from its start to its end.
    Native,
    /// The program's own code without checks, where there is no native program.
    Code,
    /// What the same program takes longer as WebAssembly without checks.
    Format,
    /// What this engine's code takes longer than that, without checks.
    Quality,
    /// What its checks add.
    Checks,
    /// Time in WASI outside system calls.
    Wasi,
    /// System calls.
    Calls,
    /// Page faults.
    Faults,
    /// Making and dropping the instance.
    Instance,
    /// Reading and compiling the module.
    Compile,
    /// The engine's process around all that.
    Start,
}

/// A mean in nanoseconds, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The mean.
    pub ns: f64,
    /// Its 95 % interval.
    pub interval: Result<Interval, NoEstimate>,
}

impl Value {
    /// Whether it cannot be told from nothing.
    pub fn may_be_nothing(&self) -> bool {
        self.interval.is_ok_and(|interval| interval.contains(0.0))
    }
}

/// How often something happened, and what one of it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// The mean over the runs.
    pub count: f64,
    /// Nanoseconds for one.
    pub each_ns: f64,
}

/// A part with its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Which part.
    pub part: Part,
    /// How long, more than what stands before it.
    pub value: Value,
    /// Of what it is, where that is counted.
    pub count: Option<Count>,
}

/// One program's time on one engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Waterfall {
    /// The program on the engine.
    pub cell: Cell,
    /// The engine without checks, where that is another row.
    pub unchecked: Option<Sandbox>,
    /// What stands for the format.
    pub format: Sandbox,
    /// The parts, in the order of the bar.
    pub parts: Vec<Share>,
    /// All of them.
    pub sum: Value,
    /// The engine's process, from its start to its end.
    pub whole: Value,
    /// The whole without the sum.
    pub unexplained: Value,
    /// What the engine's control takes longer than the engine, which is the same.
    pub twice: Option<Value>,
    /// Rounds in which everything was measured.
    pub rounds: usize,
    /// Traced runs; 0 if none.
    pub repeats: usize,
    /// Whether the time in WASI has its system calls in it, since those were not seen.
    pub wasi_has_calls: bool,
    /// Parts that were not told from others, and why.
    pub apart: Vec<(Part, Missing)>,
}

/// Why a part is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Nothing was traced that shows it.
    NotTraced,
    /// It was traced, but what it is subtracted from was not.
    NotBeside(String),
    /// The page faults of a row, or their price, are not known.
    NoPrice,
    /// The engine cannot be had without the instructions of its checks.
    NoUnchecked,
}

/// Why there is nothing to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoWaterfall {
    /// No program was taken apart.
    NoProgram,
    /// A row has no time.
    NoTime(CellId),
    /// No round has all rows.
    NoRound,
}

impl fmt::Display for NoWaterfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoWaterfall::NoProgram => f.write_str("no program was measured"),
            NoWaterfall::NoTime(cell) => write!(f, "{cell} has no time"),
            NoWaterfall::NoRound => f.write_str("no round is whole"),
        }
    }
}

/// The rows of a campaign by what they are for.
struct Rows<'a> {
    engine: &'a Cell,
    unchecked: &'a Cell,
    format: &'a Cell,
    native: Option<&'a Cell>,
}

impl<'a> Rows<'a> {
    fn of(campaign: &'a Campaign) -> Option<Rows<'a>> {
        let cells = campaign.header.cells.iter();
        let cells = cells.filter(|cell| cell.suite != SUITE && !cell.is_control());
        let (wasm, native): (Vec<&Cell>, Vec<&Cell>) =
            cells.partition(|cell| cell.variant.is_wasm());
        let engine = *wasm.first()?;
        let is_same = |other: &&&Cell| {
            let (one, other) = (&engine.sandbox, &other.sandbox);
            one.engine == other.engine && one.settings.backend() == other.settings.backend()
        };
        Some(Rows {
            engine,
            unchecked: wasm.get(1).filter(is_same).copied().unwrap_or(engine),
            format: wasm.last()?,
            native: native.first().copied(),
        })
    }

    fn wasm(&self) -> [&'a Cell; 3] {
        [self.engine, self.unchecked, self.format]
    }

    fn all(&self) -> impl Iterator<Item = &'a Cell> {
        self.wasm().into_iter().chain(self.native)
    }
}

/// A program beside, on the row of a cell.
fn beside(cell: &Cell, workload: &str) -> CellId {
    Cell {
        suite: SUITE.to_owned(),
        workload: workload.to_owned(),
        size: String::new(),
        ..cell.clone()
    }
    .id()
}

impl Waterfall {
    /// Of a campaign that measured one.
    ///
    /// # Errors
    /// [`NoWaterfall`] where a row is missing without which there is no bar.
    pub fn of(campaign: &Campaign, summary: &Summary) -> Result<Waterfall, NoWaterfall> {
        let rows = Rows::of(campaign).ok_or(NoWaterfall::NoProgram)?;
        let laps = Laps::of(campaign, summary);
        let not_run = beside(rows.engine, NOT_RUN);
        let needed = rows.all().map(Cell::id).chain([not_run.clone()]);
        let needed: Vec<CellId> = needed.collect();
        if let Some(id) = needed.iter().find(|id| laps.rounds(id).is_empty()) {
            return Err(NoWaterfall::NoTime(id.clone()));
        }
        let is_priced = rows.wasm().iter().all(|cell| laps.is_priced(cell))
            && rows.native.is_none_or(|cell| laps.has_faults(&cell.id()));
        let mut wanted = needed;
        if is_priced {
            let beside = |cell: &Cell| [NOT_RUN, TOUCHED, UNTOUCHED].map(|name| beside(cell, name));
            wanted.extend(rows.wasm().into_iter().flat_map(beside));
        }
        let rounds = laps.common(&wanted);
        if rounds.is_empty() {
            return Err(NoWaterfall::NoRound);
        }
        let traces = Traces::of(campaign, &rows);
        let figures = Figures {
            rows: &rows,
            laps: &laps,
            rounds: &rounds,
            traces: &traces,
            is_priced,
            not_run,
        };
        Ok(figures.waterfall())
    }
}

/// All that parts are made of.
struct Figures<'a> {
    rows: &'a Rows<'a>,
    laps: &'a Laps,
    rounds: &'a BTreeSet<u32>,
    traces: &'a Traces,
    is_priced: bool,
    not_run: CellId,
}

impl Figures<'_> {
    /// A value of each round.
    fn each(&self, of: impl Fn(u32) -> f64) -> Vec<f64> {
        self.rounds.iter().map(|round| of(*round)).collect()
    }

    fn lap(&self, id: &CellId, round: u32) -> Lap {
        self.laps.of_round(id, round)
    }

    /// The time of a row's page faults in a round.
    fn faults_ns(&self, cell: &Cell, round: u32) -> f64 {
        if !self.is_priced {
            return 0.0;
        }
        // Native code has its price from the row that is nearest to it.
        let priced = match cell.variant.is_wasm() {
            true => cell,
            false => self.rows.format,
        };
        self.faults(cell, round) * self.price_ns(priced, round)
    }

    /// Page faults of a row's run.
    fn faults(&self, cell: &Cell, round: u32) -> f64 {
        let own = self.lap(&cell.id(), round).faults.unwrap_or(0.0);
        let alone = match cell.variant.is_wasm() {
            true => self.lap(&beside(cell, NOT_RUN), round).faults,
            false => None,
        };
        (own - alone.unwrap_or(0.0)).max(0.0)
    }

    fn price_ns(&self, cell: &Cell, round: u32) -> f64 {
        let lap = |name| self.lap(&beside(cell, name), round);
        let (touched, untouched) = (lap(TOUCHED), lap(UNTOUCHED));
        let faults = touched.faults.unwrap_or(0.0) - untouched.faults.unwrap_or(0.0);
        match faults > 0.0 {
            true => ((touched.run_ns - untouched.run_ns) / faults).max(0.0),
            false => 0.0,
        }
    }

    /// What a row's own code takes in a round, system calls and WASI included.
    fn code_ns(&self, cell: &Cell, round: u32) -> f64 {
        self.lap(&cell.id(), round).run_ns - self.faults_ns(cell, round)
    }

    /// What one row's own code takes more than another's.
    fn over(&self, cell: &Cell, other: &Cell) -> Value {
        let rounds = self.each(|round| self.code_ns(cell, round) - self.code_ns(other, round));
        let (own, others) = (self.traces.io(cell), self.traces.io(other));
        value(rounds, difference(&others, &own))
    }

    fn waterfall(&self) -> Waterfall {
        let rows = self.rows;
        let sum = |round| self.sum_ns(round);
        let whole = |round| self.lap(&rows.engine.id(), round).wall_ns;
        let control = rows.engine.control().id();
        let twice: Vec<f64> = (self.rounds.iter())
            .filter_map(|round| Some((self.laps.get(&control, *round)?.wall_ns, whole(*round))))
            .map(|(control, whole)| control - whole)
            .collect();
        let is_unchecked = rows.unchecked.sandbox != rows.engine.sandbox;
        Waterfall {
            cell: rows.engine.clone(),
            unchecked: is_unchecked.then(|| rows.unchecked.sandbox.clone()),
            format: rows.format.sandbox.clone(),
            parts: self.parts(),
            sum: value(self.each(sum), Vec::new()),
            whole: value(self.each(whole), Vec::new()),
            unexplained: value(self.each(|round| whole(round) - sum(round)), Vec::new()),
            twice: (!twice.is_empty()).then(|| value(twice, Vec::new())),
            rounds: self.rounds.len(),
            repeats: self.traces.repeats,
            wasi_has_calls: self.traces.has_wasi && !self.traces.has_calls,
            apart: self.apart(),
        }
    }

    /// All parts of a round; what is traced cancels out.
    fn sum_ns(&self, round: u32) -> f64 {
        let lap = self.lap(&self.rows.engine.id(), round);
        lap.run_ns + lap.instance_ns + lap.compile_ns + self.lap(&self.not_run, round).rest_ns()
    }

    fn parts(&self) -> Vec<Share> {
        let rows = self.rows;
        let engine = rows.engine.id();
        let plain = |part, value| Share {
            part,
            value,
            count: None,
        };
        let phases = |of: fn(&Lap) -> f64| {
            value(self.each(|round| of(&self.lap(&engine, round))), Vec::new())
        };
        let mut parts = Vec::new();
        match rows.native {
            Some(native) => {
                let whole = self.each(|round| self.lap(&native.id(), round).run_ns);
                parts.push(plain(Part::Native, value(whole, Vec::new())));
                parts.push(plain(Part::Format, self.over(rows.format, native)));
            }
            None => {
                let own = self.each(|round| self.code_ns(rows.format, round));
                let io = difference(&[], &self.traces.io(rows.format));
                parts.push(plain(Part::Code, value(own, io)));
            }
        }
        if rows.unchecked.sandbox != rows.format.sandbox {
            let over = self.over(rows.unchecked, rows.format);
            parts.push(plain(Part::Quality, over));
        }
        if rows.engine.sandbox != rows.unchecked.sandbox {
            let over = self.over(rows.engine, rows.unchecked);
            parts.push(plain(Part::Checks, over));
        }
        parts.extend(self.traced());
        parts.extend(self.is_priced.then(|| self.page_faults()));
        parts.push(plain(Part::Instance, phases(|lap| lap.instance_ns)));
        parts.push(plain(Part::Compile, phases(|lap| lap.compile_ns)));
        let start = self.each(|round| self.lap(&self.not_run, round).rest_ns());
        parts.push(plain(Part::Start, value(start, Vec::new())));
        parts
    }

    /// What tracing tells from the rest of the run.
    fn traced(&self) -> Vec<Share> {
        let (traces, engine) = (self.traces, self.rows.engine);
        let native = |of: fn(&Seen) -> f64| {
            let cell = self.rows.native;
            cell.map_or_else(Vec::new, |cell| traces.each(cell, of))
        };
        let mut parts = Vec::new();
        if traces.has_wasi {
            let ns = traces.each(engine, |seen| seen.wasi_ns);
            let count = mean(&traces.each(engine, |seen| seen.wasi_count));
            parts.push(Share {
                part: Part::Wasi,
                count: of_each(count, mean(&ns)),
                value: value(Vec::new(), ns),
            });
        }
        if traces.has_calls {
            let ns = traces.each(engine, |seen| seen.calls_ns);
            let count = mean(&traces.each(engine, |seen| seen.calls_count));
            parts.push(Share {
                part: Part::Calls,
                count: of_each(count, mean(&ns)),
                value: value(Vec::new(), difference(&ns, &native(|seen| seen.calls_ns))),
            });
        }
        parts
    }

    fn page_faults(&self) -> Share {
        let Rows { engine, native, .. } = self.rows;
        let own = self.each(|round| self.faults_ns(engine, round));
        let native = |round| native.map_or(0.0, |cell| self.faults_ns(cell, round));
        let count = mean(&self.each(|round| self.faults(engine, round)));
        let more = self.each(|round| self.faults_ns(engine, round) - native(round));
        Share {
            part: Part::Faults,
            value: value(more, Vec::new()),
            count: of_each(count, mean(&own)),
        }
    }

    fn apart(&self) -> Vec<(Part, Missing)> {
        let (rows, traces) = (self.rows, self.traces);
        let mut apart = Vec::new();
        let is_seen = |seen: fn(&Seen) -> f64| {
            let all = traces.each(rows.engine, seen);
            all.iter().any(|ns| *ns > 0.0)
        };
        if !traces.has_wasi {
            let missing = match is_seen(|seen| seen.wasi_ns) {
                true => Missing::NotBeside("system calls".to_owned()),
                false => Missing::NotTraced,
            };
            apart.push((Part::Wasi, missing));
        }
        if !traces.has_calls {
            apart.push((Part::Calls, Missing::NotTraced));
        }
        if !self.is_priced {
            apart.push((Part::Faults, Missing::NoPrice));
        }
        if rows.unchecked.sandbox == rows.engine.sandbox
            && rows.format.sandbox != rows.engine.sandbox
        {
            apart.push((Part::Checks, Missing::NoUnchecked));
        }
        apart
    }
}

/// The first without the second: as many values each, or none where one is not there.
fn difference(first: &[f64], second: &[f64]) -> Vec<f64> {
    let len = first.len().max(second.len());
    let at = |list: &[f64], n: usize| list.get(n).copied().unwrap_or(0.0);
    (0..len).map(|n| at(first, n) - at(second, n)).collect()
}

fn mean(values: &[f64]) -> f64 {
    match values.len() {
        0 => 0.0,
        len => values.iter().sum::<f64>() / len as f64,
    }
}

/// Of so many, of which each took its part of a time.
fn of_each(count: f64, ns: f64) -> Option<Count> {
    (count > 0.0).then(|| Count {
        count,
        each_ns: ns / count,
    })
}

/// The mean of rounds and that of traced runs, together.
pub(crate) fn value(rounds: Vec<f64>, traced: Vec<f64>) -> Value {
    let groups = [rounds, traced];
    let groups = groups.iter().filter(|values| !values.is_empty());
    let groups: Vec<(f64, Group)> = groups
        .map(|values| (1.0, Group::of(values, values.len(), 0.0, Serial::NONE)))
        .collect();
    let sum = Sum::of(&groups);
    Value {
        ns: sum.estimate,
        interval: sum.interval(),
    }
}

#[cfg(test)]
mod tests;
