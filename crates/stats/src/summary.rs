//! One campaign in numbers.
//!
//! ```text
//!  Summary ── cells: CellSummary ── times: Result<Times, NoTime>
//!     │                              └─ failures, probe, what was in force
//!     ├────── rows: RowSummary ── to_baseline: RowRatio ── WorkloadRatio…
//!     └────── noise: NoiseFloor
//! ```
//!
//! Ratios between any two rows are made on demand by [`Summary::ratio`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use fathom_record::campaign::{Failure, ProbeRecord};
use fathom_record::protocol::Hello;
use fathom_record::{
    Campaign, Cell, CellId, Estimator, FailureKind, Guarantee, SandboxId, Variant,
};

use crate::NoEstimate;
use crate::figure::{Figure, FigureUnit};
use crate::layout::{self, Layouts};
use crate::noise::NoiseFloor;
use crate::ratio::{Logs, Ratio};
use crate::row::Row;
use crate::serial::Serial;
use crate::table::Table;
use crate::times::{Estimate, Times, gather};
use crate::verdict::Verdict;

/// Everything a report shows of a campaign.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The figure cells are compared by.
    pub compared: Figure,
    /// What the rounds of a cell come to, where times are compared.
    pub estimator: Estimator,
    /// Fingerprint of the host.
    pub host: String,
    /// Every cell, controls too, in the campaign's order.
    pub cells: Vec<CellSummary>,
    /// Every row, in the campaign's order. Controls are no rows.
    pub rows: Vec<RowSummary>,
    /// What identical cells differ by.
    pub noise: NoiseFloor,
    /// Failures of the campaign itself; those of a cell are with the cell.
    pub failures: Vec<Failure>,
    pub(crate) layouts: Layouts,
    by_id: BTreeMap<CellId, usize>,
    by_row: BTreeMap<Row, BTreeMap<String, usize>>,
}

/// One cell.
#[derive(Clone, Debug)]
pub struct CellSummary {
    /// The cell's name in campaign files.
    pub id: CellId,
    /// The engine, its configuration and the workload.
    pub cell: Cell,
    /// Its rounds, or why it has no time.
    pub times: Result<Times, NoTime>,
    /// What its runner last said was in force.
    pub in_force: Option<Hello>,
    /// What went wrong with it, even where its times count.
    pub failures: Vec<Failure>,
    /// What the probe saw of its sandbox.
    pub probe: Option<ProbeRecord>,
}

impl CellSummary {
    /// A figure of the cell, if it has a time at all.
    pub fn estimate(&self, figure: Figure) -> Option<Estimate> {
        self.times.as_ref().ok()?.estimate(figure)
    }
}

/// Why a cell has no time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoTime {
    /// The probe found its sandbox unsound.
    Unsound {
        /// Accesses that broke its promise.
        violations: u64,
    },
    /// A failure took every time of the cell away.
    Failed {
        /// The kind of the first such failure.
        kind: FailureKind,
        /// One line.
        message: String,
    },
    /// It has no whole round.
    NotMeasured,
}

impl fmt::Display for NoTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoTime::Unsound { violations } => {
                write!(f, "unsound: {violations} accesses violated its guarantee")
            }
            NoTime::Failed { kind, message } => write!(f, "{}: {message}", kind.help()),
            NoTime::NotMeasured => f.write_str("not measured"),
        }
    }
}

/// One row.
#[derive(Clone, Debug)]
pub struct RowSummary {
    /// The configuration, suite and size that the row stands for.
    pub row: Row,
    /// Its cells, in the campaign's order.
    pub cells: Vec<CellId>,
    /// The row its ratios are taken to; its own, for the baseline.
    pub baseline: Row,
    /// Its ratio to the baseline.
    pub to_baseline: RowRatio,
    /// What the probe saw of its sandbox.
    pub probe: Option<ProbeRecord>,
    /// Cells that have no time.
    pub without_time: Vec<CellId>,
    /// Whether it takes part in a ranking: WebAssembly that is kept in a
    /// sandbox. Native code and strategies without a promise do not.
    pub is_ranked: bool,
}

/// One row against another.
#[derive(Clone, Debug)]
pub struct RowRatio {
    /// The geometric mean over the workloads both have.
    pub geomean: Result<Ratio, NoEstimate>,
    /// What the mean is worth.
    pub verdict: Verdict,
    /// The difference of the means that would have been found eight times of
    /// ten, relative; absent where there are too few rounds.
    pub detectable: Option<f64>,
    /// Each workload both have, by name.
    pub workloads: Vec<WorkloadRatio>,
    /// Workloads that one of the two has no time for: a mean over fewer
    /// workloads is another mean, and a reader must be told.
    pub missing: Vec<String>,
}

/// One workload of a row against the same of another.
#[derive(Clone, Debug)]
pub struct WorkloadRatio {
    /// The workload's name.
    pub workload: String,
    /// The ratio of its times.
    pub ratio: Ratio,
    /// What it is worth.
    pub verdict: Verdict,
    /// The difference that would have been found eight times of ten, relative;
    /// absent where there are too few rounds.
    pub detectable: Option<f64>,
}

impl Summary {
    /// Estimates everything a campaign holds. Any campaign will do: what it
    /// lacks is absent from the summary, with the reason.
    pub fn from_campaign(campaign: &Campaign) -> Summary {
        let compared = Figure::of_compared(campaign.header.config.compared);
        let cells = cells(campaign, compared);
        let by_id: BTreeMap<CellId, usize> = cells
            .iter()
            .enumerate()
            .map(|(index, cell)| (cell.id.clone(), index))
            .collect();
        let mut by_row: BTreeMap<Row, BTreeMap<String, usize>> = BTreeMap::new();
        for (index, cell) in cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| !cell.cell.is_control())
        {
            by_row
                .entry(Row::of(&cell.cell))
                .or_default()
                .insert(cell.cell.workload.clone(), index);
        }
        let failures = campaign
            .failures
            .iter()
            .filter(|failure| failure.cell.is_none())
            .cloned()
            .collect();
        let host = campaign.header.host.fingerprint();
        let mut summary = Summary {
            compared,
            estimator: campaign.header.config.estimator,
            host,
            cells,
            rows: Vec::new(),
            noise: NoiseFloor::default(),
            failures,
            layouts: Layouts::of(&campaign.header.config),
            by_id,
            by_row,
        };
        summary.noise = summary.noise_in(compared);
        summary.rows = summary.all_rows(campaign.header.config.baseline.as_ref());
        summary
    }

    /// The cell of an id.
    pub fn cell(&self, id: &CellId) -> Option<&CellSummary> {
        self.cells.get(*self.by_id.get(id)?)
    }

    /// The cell of a row for one workload.
    pub fn cell_of(&self, row: &Row, workload: &str) -> Option<&CellSummary> {
        self.cells.get(*self.by_row.get(row)?.get(workload)?)
    }

    /// The workloads of a row by name.
    pub fn workloads_of(&self, row: &Row) -> impl Iterator<Item = &str> {
        self.by_row
            .get(row)
            .into_iter()
            .flat_map(|workloads| workloads.keys().map(String::as_str))
    }

    /// The geometric mean over a row's workloads of a figure's medians, in the
    /// figure's unit: what the row typically takes. `None` if no workload has
    /// it or one of them is zero; says nothing of workloads without a time.
    pub fn typical(&self, row: &Row, figure: Figure) -> Option<f64> {
        let cells = self
            .workloads_of(row)
            .filter_map(|workload| self.cell_of(row, workload));
        let logs: Vec<f64> = cells
            .filter_map(|cell| cell.estimate(figure))
            .map(|estimate| estimate.median.ln())
            .collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        mean.is_finite().then(|| mean.exp())
    }

    /// One row's compared times over another's, workload by workload and in the
    /// mean. The verdicts are those of this one comparison: of many that are
    /// shown together, [`Summary::table`] makes them.
    pub fn ratio(&self, row: &Row, to: &Row) -> RowRatio {
        self.ratio_in(self.compared, &self.noise, row, to)
    }

    /// As [`Summary::ratio`] for any figure that is positive: compile times,
    /// memory. Its noise is not that of the compared times, so the floors come
    /// from the controls' own values of it: see [`Summary::noise_in`].
    pub fn ratio_in(&self, figure: Figure, noise: &NoiseFloor, row: &Row, to: &Row) -> RowRatio {
        Table::of(self, figure, noise, &[vec![(row, to)]])
            .ratios
            .remove(0)
    }

    /// As [`Summary::ratio`] over several suites at once: each pair is one
    /// suite's row and the one it is compared with. All workloads weigh alike.
    pub fn ratio_over(&self, pairs: &[(&Row, &Row)]) -> RowRatio {
        Table::of(self, self.compared, &self.noise, &[pairs.to_vec()])
            .ratios
            .remove(0)
    }

    /// The ratios of rows that are shown together, judged together.
    pub fn table(&self, figure: Figure, noise: &NoiseFloor, pairs: &[(&Row, &Row)]) -> Table {
        let pairs: Vec<Vec<(&Row, &Row)>> = pairs.iter().map(|pair| vec![*pair]).collect();
        self.table_over(figure, noise, &pairs)
    }

    /// The same where each is over several suites at once, as [`Summary::ratio_over`].
    pub fn table_over(
        &self,
        figure: Figure,
        noise: &NoiseFloor,
        pairs: &[Vec<(&Row, &Row)>],
    ) -> Table {
        Table::of(self, figure, noise, pairs)
    }

    /// Every pair of some rows: each row with each one before it. The means are judged such that
    /// whoever is picked out for being first may be told of, too: which of all pairs those are
    /// is not known before.
    pub fn pairs(&self, figure: Figure, noise: &NoiseFloor, rows: &[&Row]) -> Table {
        Table::of_pairs(self, figure, noise, rows)
    }

    /// What identical cells differ by in a figure, and rounds from each other.
    pub fn noise_in(&self, figure: Figure) -> NoiseFloor {
        NoiseFloor::measure(
            self.cells.iter().map(|cell| &cell.cell),
            |id| self.cell(id)?.times.as_ref().ok(),
            figure,
            self.estimator_of(figure),
            self.serial_in(figure),
        )
    }

    /// Disturbances make times longer; of anything else no side is known.
    pub(crate) fn estimator_of(&self, figure: Figure) -> Estimator {
        match figure.unit() {
            FigureUnit::Nanoseconds => self.estimator,
            _ => Estimator::Mean,
        }
    }

    /// How much the rounds of rows' ratios to the first of each group resemble
    /// each other.
    fn serial_in(&self, figure: Figure) -> Serial {
        let mut families: Vec<Vec<Vec<f64>>> = Vec::new();
        let mut sharing = 0;
        let mut bases: Vec<&Row> = Vec::new();
        for row in self.by_row.keys() {
            let is_like = |base: &&&Row| base.is_comparable_to(row) && base.threads == row.threads;
            let Some(base) = bases.iter().find(is_like) else {
                bases.push(row);
                continue;
            };
            let logs = self
                .workloads_of(row)
                .filter_map(|workload| self.logs(figure, row, base, workload));
            families.push(logs.map(|logs| logs.values().to_vec()).collect());
            sharing += 1;
        }
        Serial::of(&families, sharing / bases.len().max(1))
    }

    /// A row against itself with the fewest instances: what it loses (above 1)
    /// when more run at once. `None` for the row with fewest.
    pub fn scaling(&self, row: &Row) -> Option<RowRatio> {
        let alone = self
            .by_row
            .keys()
            .filter(|other| {
                Row {
                    threads: row.threads,
                    ..(*other).clone()
                } == *row
            })
            .min_by_key(|other| other.threads)?;
        (alone.threads < row.threads).then(|| self.ratio(row, alone))
    }

    /// The ranked row with the smallest typical time among those comparable to
    /// `row` with as many instances and every workload timed.
    pub fn best(&self, row: &Row) -> Option<&RowSummary> {
        self.rows
            .iter()
            .filter(|other| {
                other.is_ranked
                    && other.without_time.is_empty()
                    && other.row.threads == row.threads
                    && other.row.is_comparable_to(row)
            })
            .filter_map(|other| Some((self.typical(&other.row, self.compared)?, other)))
            .min_by(|one, other| one.0.total_cmp(&other.0))
            .map(|(_, row)| row)
    }

    /// The rounds of a figure's ratio in one workload, of the first row to the
    /// second; `None` if a value is missing.
    pub(crate) fn logs(&self, figure: Figure, row: &Row, to: &Row, workload: &str) -> Option<Logs> {
        let (one, other) = (self.cell_of(row, workload)?, self.cell_of(to, workload)?);
        let (times, others) = (one.times.as_ref().ok()?, other.times.as_ref().ok()?);
        let systematic = layout::of_ratio(&one.cell, &other.cell, &self.layouts, figure);
        let logs = Logs::between(&times.pairs(others, figure), self.estimator_of(figure)).ok()?;
        let sides = if one.cell == other.cell { 0 } else { 2 };
        Some(logs.with_systematic(systematic).of_figure(figure, sides))
    }

    fn all_rows(&self, baseline: Option<&SandboxId>) -> Vec<RowSummary> {
        let mut rows: Vec<Row> = Vec::new();
        let mut seen = BTreeSet::new();
        for cell in self.cells.iter().filter(|cell| !cell.cell.is_control()) {
            let row = Row::of(&cell.cell);
            if seen.insert(row.clone()) {
                rows.push(row);
            }
        }
        let bases: Vec<Row> = rows
            .iter()
            .map(|row| baseline_of(row, &rows, baseline))
            .collect();
        // A row is not compared with itself: that would take a share of what
        // the others may err by.
        let pairs: Vec<(&Row, &Row)> = rows
            .iter()
            .zip(&bases)
            .filter(|(row, base)| row != base)
            .collect();
        let mut ratios = self
            .table(self.compared, &self.noise, &pairs)
            .ratios
            .into_iter();
        rows.iter()
            .zip(&bases)
            .map(|(row, base)| {
                let to_baseline = match row == base {
                    true => self.ratio(row, base),
                    false => ratios.next().unwrap_or_else(|| self.ratio(row, base)),
                };
                self.row_summary(row, base.clone(), to_baseline)
            })
            .collect()
    }

    fn row_summary(&self, row: &Row, baseline: Row, to_baseline: RowRatio) -> RowSummary {
        let cells: Vec<&CellSummary> = self
            .cells
            .iter()
            .filter(|cell| !cell.cell.is_control() && Row::of(&cell.cell) == *row)
            .collect();
        let probe = cells.iter().find_map(|cell| cell.probe.clone());
        let is_unchecked = row.sandbox.strategy == "none"
            || probe
                .as_ref()
                .is_some_and(|probe| probe.claimed == Guarantee::Unchecked);
        let without_time = cells
            .iter()
            .filter(|cell| cell.times.is_err())
            .map(|cell| cell.id.clone())
            .collect();
        RowSummary {
            row: row.clone(),
            cells: cells.iter().map(|cell| cell.id.clone()).collect(),
            to_baseline,
            baseline,
            is_ranked: row.variant.is_wasm()
                && !is_unchecked
                && probe.as_ref().is_none_or(|p| !p.is_unsound()),
            probe,
            without_time,
        }
    }
}

/// The row to take ratios to: of the chosen engine, else of native code, else
/// the first, always of the same suite and size and with as many instances.
fn baseline_of(row: &Row, rows: &[Row], chosen: Option<&SandboxId>) -> Row {
    let comparable = || {
        rows.iter()
            .filter(|other| other.is_comparable_to(row) && other.threads == row.threads)
    };
    let chosen = |other: &&Row| chosen.is_some_and(|chosen| other.sandbox.id() == *chosen);
    // A chosen engine may have several rows: native and tuned native, SIMD and
    // not. Like is compared with like where that can be.
    comparable()
        .filter(chosen)
        .min_by_key(|other| {
            (
                other.variant != Variant::Native,
                other.variant != row.variant,
            )
        })
        .or_else(|| comparable().find(|other| other.variant == Variant::Native))
        .or_else(|| comparable().next())
        .unwrap_or(row)
        .clone()
}

fn cells(campaign: &Campaign, compared: Figure) -> Vec<CellSummary> {
    let mut times = gather(campaign, compared);
    let mut failures: BTreeMap<&CellId, Vec<&Failure>> = BTreeMap::new();
    for failure in &campaign.failures {
        if let Some(cell) = &failure.cell {
            failures.entry(cell).or_default().push(failure);
        }
    }
    let in_force: BTreeMap<&CellId, &Hello> = campaign
        .in_force
        .iter()
        .map(|record| (&record.cell, &record.hello))
        .collect();
    let probes = probes(campaign);
    campaign
        .header
        .cells
        .iter()
        .map(|cell| {
            let id = cell.id();
            let failures: Vec<Failure> = failures
                .get(&id)
                .into_iter()
                .flatten()
                .map(|failure| (*failure).clone())
                .collect();
            let probe = probes.get(&cell.sandbox.id()).map(|probe| (*probe).clone());
            CellSummary {
                times: verdict_on(times.remove(&id), &failures, probe.as_ref()),
                in_force: in_force.get(&id).map(|hello| (*hello).clone()),
                cell: cell.clone(),
                id,
                failures,
                probe,
            }
        })
        .collect()
}

/// The probe record of each sandbox: the last, but for one that found it
/// unsound, which stands.
fn probes(campaign: &Campaign) -> BTreeMap<SandboxId, &ProbeRecord> {
    let mut probes: BTreeMap<SandboxId, &ProbeRecord> = BTreeMap::new();
    for probe in &campaign.probes {
        let known = probes.entry(probe.sandbox.clone()).or_insert(probe);
        if !known.is_unsound() {
            *known = probe;
        }
    }
    probes
}

fn verdict_on(
    times: Option<Times>,
    failures: &[Failure],
    probe: Option<&ProbeRecord>,
) -> Result<Times, NoTime> {
    if let Some(probe) = probe.filter(|probe| probe.is_unsound()) {
        return Err(NoTime::Unsound {
            violations: probe.violations,
        });
    }
    let failed = |failure: &Failure| NoTime::Failed {
        kind: failure.kind,
        message: failure.message.clone(),
    };
    if let Some(failure) = failures.iter().find(|failure| failure.kind.voids_cell()) {
        return Err(failed(failure));
    }
    let mut times = times.unwrap_or_default();
    for failure in failures {
        if let Some(round) = failure.round {
            times.rounds.remove(&round);
            times.samples.retain(|point| point.round != round);
        }
    }
    match (times.rounds.is_empty(), failures.first()) {
        (false, _) => Ok(times),
        (true, Some(failure)) => Err(failed(failure)),
        (true, None) => Err(NoTime::NotMeasured),
    }
}
