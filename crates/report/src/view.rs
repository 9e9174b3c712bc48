//! What every format shows, in plain values: the one place where it is decided
//! what a reader is told, in which order and in which words.
//!
//! ```text
//!  View ─┬─ Group, one for each (suite, size, threads)
//!        │    ├─ Row, one for each (sandbox, variant): a bar, a table line
//!        │    │    └─ CellView, one for each workload: a number and its samples
//!        │    └─ Finding: what may be said of two rows
//!        ├─ Fact: host, configuration
//!        ├─ InForceRow: what was asked for beside what was found
//!        ├─ ProbeRow: sandboxes and what was seen of them
//!        └─ FailureRow: what has no time, and why
//! ```
//!
//! What must stay true:
//! * Renderers compute no statistics and choose no words of judgement; they
//!   only lay out what is here.
//! * Names come from users and may hold anything. They are kept as they are;
//!   each renderer escapes for its own format.
//! * A row whose sandbox promises nothing has [`Rank::Unranked`]; one that is
//!   unsound has no number at all.

use std::collections::BTreeMap;

use fathom_record::{CellId, Guarantee, SandboxId};
use fathom_stats::exact::rounds_min;
use fathom_stats::times::{Estimate, Point};
use fathom_stats::{Figure, Ratio, Row as Key, Verdict};

use crate::figures;

mod advice;
mod build;
mod checks;
mod commands;
mod compared_figure;
mod facts;
mod group;
mod halves;
mod headline;
mod sentences;
mod total;

pub use build::from_campaign;
pub use commands::{portable, relative, shell};
pub use compared_figure::{figure, shown};
pub use facts::host_line;
pub use group::OverFirst;
pub use sentences::{Judged, could_have_seen, range, with_ends};
pub use total::COUNTS;

/// A value and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// The ends of its 95 % interval; `None` with too few rounds for one.
    pub ends: Option<(f64, f64)>,
}

impl From<&Ratio> for Interval {
    fn from(ratio: &Ratio) -> Interval {
        Interval {
            value: ratio.value,
            ends: ratio
                .interval
                .ok()
                .map(|interval| (interval.low, interval.high)),
        }
    }
}

impl From<&Estimate> for Interval {
    fn from(estimate: &Estimate) -> Interval {
        Interval {
            value: estimate.median,
            ends: estimate
                .interval()
                .ok()
                .map(|interval| (interval.low, interval.high)),
        }
    }
}

impl Interval {
    /// Half the interval's width as a part of the value.
    pub fn noise(&self) -> Option<f64> {
        let (low, high) = self.ends?;
        let part = (high - low).abs() / 2.0 / self.value.abs();
        part.is_finite().then_some(part)
    }

    /// The furthest that the interval reaches.
    pub fn high(&self) -> f64 {
        self.ends.map_or(self.value, |(_, high)| high)
    }

    /// The nearest that the interval reaches.
    pub fn low(&self) -> f64 {
        self.ends.map_or(self.value, |(low, _)| low)
    }
}

/// A whole campaign as it is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The campaign's name.
    pub title: String,
    /// When it began, as recorded.
    pub date: String,
    /// The version of the tool that measured.
    pub tool: String,
    /// The command that measured, quoted for a shell.
    pub command: String,
    /// The command that goes on with it, quoted for a shell.
    pub resume: String,
    /// A hash of a user's own module.
    pub module_digest: Option<String>,
    /// The file of raw samples, as a reader can reach it.
    pub samples_file: String,
    /// The page of all campaigns, where this one is a page of a site with its samples beside it.
    pub home: Option<String>,
    /// What was measured, in one line.
    pub subject: String,
    /// The host in one line.
    pub host_line: String,
    /// The answer in a paragraph.
    pub headline: String,
    /// What the checks of our engine cost, and how to see why; empty without our engine.
    pub checks: Vec<String>,
    /// The host, fact by fact.
    pub host: Vec<Fact>,
    /// How the campaign measured.
    pub config: Vec<Fact>,
    /// What was asked for and what was found, by sandbox.
    pub in_force: Vec<InForceRow>,
    /// The measurements.
    pub groups: Vec<Group>,
    /// Cells measured twice, and what the two seem to differ by.
    pub controls: Vec<(CellId, Option<Interval>)>,
    /// What the soundness probe saw.
    pub probes: Vec<ProbeRow>,
    /// What has no time.
    pub failures: Vec<FailureRow>,
    /// What a reader must know of the file itself: cut short, resumed.
    pub notes: Vec<String>,
}

impl View {
    /// Whether what happens under load is worth a table: some group ran
    /// several instances at once, and the others are what it is compared with.
    pub fn has_load(&self) -> bool {
        self.groups.iter().any(|group| group.threads > 1)
    }

    /// The difference that would have been found between any two that are compared: the largest
    /// of the groups'. `None` as long as one of them cannot say.
    pub fn detectable(&self) -> Option<f64> {
        let has_times = |row: &&Row| row.cells.iter().any(Option::is_some);
        let compares = |group: &&Group| group.rows.iter().filter(has_times).count() > 1;
        let each = self.groups.iter().filter(compares);
        let seen: Option<Vec<f64>> = each.map(|group| group.detectable).collect();
        seen?.into_iter().max_by(f64::total_cmp)
    }

    /// When sandboxes were probed: `2026-11-19`, `2026-11-19 to 2026-11-22`.
    pub fn probed(&self) -> Option<String> {
        let days = || self.probes.iter().filter_map(|probe| probe.day.as_deref());
        let (first, last) = (days().min()?, days().max()?);
        Some(match first == last {
            true => first.to_owned(),
            false => format!("{first} to {last}"),
        })
    }
}

/// A named value about the host or the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its name.
    pub name: String,
    /// Its value, or why there is none.
    pub value: String,
    /// Whether there is a value.
    pub is_known: bool,
}

/// Cells that can be compared: one suite at one size and one thread count.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Unique in the view, of letters, digits and dashes.
    pub anchor: String,
    /// `polybench · medium · 1 thread`.
    pub title: String,
    /// Suite.
    pub suite: String,
    /// Size; may be empty.
    pub size: String,
    /// Instances at once.
    pub threads: u32,
    /// The answer in a paragraph.
    pub headline: String,
    /// What ratios are to: `native`, or the name of a row.
    pub baseline: String,
    /// What rows are compared by.
    pub figure: Figure,
    /// Whether samples are whole rounds, since the figure has one value in
    /// each.
    pub is_by_round: bool,
    /// Why places are doubtful, if they are: a sentence.
    pub doubt: Option<String>,
    /// No smaller relative difference is called one. `None` without a control, and with
    /// too few rounds of it.
    pub noise_floor: Option<f64>,
    /// Whether a control is measured.
    pub has_control: bool,
    /// The difference between two rows' means that would have been found eight times of ten,
    /// relative: of all ranked rows, or to the baseline where there is one. `None` below five
    /// rounds, and where nothing is compared.
    pub detectable: Option<f64>,
    /// The ranked rows behind the first, over it.
    pub over_first: Vec<OverFirst>,
    /// The workloads, in the campaign's order.
    pub workloads: Vec<Workload>,
    /// The rows: ranked ones first and fastest first, then the others.
    pub rows: Vec<Row>,
    /// What may be said about pairs of rows.
    pub findings: Vec<Finding>,
    /// Whom to choose for what, and whom not to trust: a sentence each.
    pub advice: Vec<String>,
    /// How the tiers of the rows are known; rows point here from 1.
    pub footnotes: Vec<String>,
    /// What so many runs take in all, start and compile included.
    pub totals: Option<Totals>,
}

/// What so many runs take in all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Where rows overtake each other.
    pub sentence: String,
    /// In the order of the group's rows.
    pub rows: Vec<Total>,
}

/// A row's part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Total {
    /// The row's name.
    pub name: String,
    /// For each of [`COUNTS`], nanoseconds; `None` below five rounds.
    pub ns: Option<Vec<f64>>,
}

impl Totals {
    /// What the table is about.
    pub const TITLE: &'static str = "Start, compile and run together";

    /// The heads of its columns behind the name.
    pub fn heads() -> Vec<String> {
        let head = |runs: u64| match runs {
            1 => "1 run".to_owned(),
            runs => format!("{} runs", figures::count(runs as f64)),
        };
        COUNTS.map(head).to_vec()
    }
}

impl Total {
    /// Its fields, as text.
    pub fn fields(&self) -> Vec<String> {
        match &self.ns {
            Some(ns) => ns.iter().map(|ns| figures::time(*ns)).collect(),
            None => vec!["too few".to_owned(); COUNTS.len()],
        }
    }
}

impl Group {
    /// Whether there are times, and of nothing so many that anything could be said.
    pub fn is_early(&self) -> bool {
        let timed = |row: &&Row| row.cells.iter().flatten().count() > 0;
        let mut timed = self.rows.iter().filter(timed).peekable();
        timed.peek().is_some() && !timed.any(sentences::is_known)
    }

    /// Why no noise floor is known, if none is: a sentence.
    pub fn no_floor(&self) -> Option<String> {
        match (self.noise_floor, self.has_control) {
            (Some(_), _) => None,
            (None, true) if self.is_early() => None,
            (None, true) => Some(format!(
                "The noise floor is not known yet: it takes {} rounds.",
                rounds_min(self.figure)
            )),
            (None, false) => {
                Some("No control was measured, so no noise floor is known.".to_owned())
            }
        }
    }

    /// What a reader must know of rows, rows of the same caveat together.
    pub fn caveats(&self) -> Vec<String> {
        let mut caveats: Vec<(&str, Vec<&str>)> = Vec::new();
        for row in &self.rows {
            for caveat in &row.caveats {
                match caveats.iter_mut().find(|(known, _)| known == caveat) {
                    Some((_, names)) => names.push(&row.name),
                    None => caveats.push((caveat, vec![&row.name])),
                }
            }
        }
        caveats
            .into_iter()
            .map(|(caveat, names)| format!("{}: {caveat}", names.join(", ")))
            .collect()
    }

    /// What rows are compared by, as the beginning of a sentence.
    pub fn what(&self) -> String {
        figures::sentence(&self.figure.noun())
    }

    /// Whether it holds a single workload, whose times can be shown as such.
    pub fn is_single(&self) -> bool {
        self.workloads.len() == 1
    }
}

/// A workload of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// Why it is there; may be empty.
    pub why: String,
}

/// A row's place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// Sound WebAssembly, counted from 1.
    Place {
        /// The place.
        place: usize,
        /// Whether others have the same, since none was shown to differ from
        /// the first of them.
        is_shared: bool,
        /// Whether the campaign cannot tell at all what parts it from the others.
        is_doubtful: bool,
    },
    /// Native code: what is compared with.
    Reference,
    /// Left out of the order and shown last; the row's `caveats` say why.
    Unranked,
}

/// How a bar is drawn; the label says the same in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Our engine.
    Ours,
    /// Another engine.
    Other,
    /// Native code.
    Native,
    /// A sandbox that does not trap wherever the specification says.
    Inexact,
}

/// A sandbox and a variant over the workloads of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Unique in the view, of letters, digits and dashes.
    pub anchor: String,
    /// What it is, of which the names below are made.
    pub key: Key,
    /// The engine: `fathom`, `wasmtime`; with its version only where a campaign
    /// has several of it.
    pub engine: String,
    /// The version that was in force, whatever it is; empty where nobody said.
    pub in_force: String,
    /// Its version as found, for tables; empty for our own, for native code,
    /// and where it is unknown or already part of `engine`.
    pub version: String,
    /// Strategy and what else tells it apart: `guard`, `guard · no SIMD`.
    pub detail: String,
    /// How sentences call it: as short as the group allows.
    pub name: String,
    /// How accesses were found to be checked.
    pub checks: String,
    /// What the strategy promises, where the probe has a record.
    pub guarantee: Option<Guarantee>,
    /// The place in the order.
    pub rank: Rank,
    /// How it is drawn.
    pub kind: Kind,
    /// The tier of the code that was timed.
    pub tier: String,
    /// The group's footnote that says how the tier is known, from 1.
    pub footnote: Option<usize>,
    /// Why it is out of the order, or what else a reader must know of it.
    pub caveats: Vec<String>,
    /// Geometric mean of the ratios to the baseline.
    pub to_baseline: Option<Interval>,
    /// The same to our engine without checks, where that was measured.
    pub to_unchecked: Option<Interval>,
    /// The same to the row alone, where fewer instances were measured too.
    pub to_alone: Option<Interval>,
    /// Its slower half of rounds over its faster half: the geometric mean over its workloads;
    /// absent below five rounds.
    pub slow_half: Option<f64>,
    /// The same of its controls.
    pub slow_half_of_control: Option<f64>,
    /// Whether more of its children are slow than chance and the machine explain.
    pub is_slow_by_itself: bool,
    /// Instances made, run and dropped in a second by all workers together.
    pub throughput_per_s: Option<f64>,
    /// The workload with the highest ratio to the baseline, and that ratio.
    pub worst: Option<(String, f64)>,
    /// Cells by workload, in the group's order; `None` where there is no time.
    pub cells: Vec<Option<CellView>>,
    /// What else it costs, typically over its workloads: geometric means of
    /// the cells' medians for times and bytes, plain means for counts and
    /// shares, which may be 0. Absent where nothing was recorded.
    pub costs: BTreeMap<Figure, f64>,
    /// The 95 % intervals of those that are drawn; absent below five rounds.
    pub cost_ends: BTreeMap<Figure, (f64, f64)>,
}

impl Row {
    /// Engine with its version, for tables.
    pub fn engine_and_version(&self) -> String {
        format!("{} {}", self.engine, self.version)
            .trim_end()
            .to_owned()
    }

    /// Engine and detail in one text.
    pub fn label(&self) -> String {
        if self.detail.is_empty() {
            self.engine.clone()
        } else {
            format!("{} {}", self.engine, self.detail)
        }
    }

    /// Whether it is in the order.
    pub fn is_ranked(&self) -> bool {
        matches!(self.rank, Rank::Place { .. })
    }
}

/// One cell: the number, and how to get it again.
#[derive(Clone, Debug, PartialEq)]
pub struct CellView {
    /// Unique in the view, of letters, digits and dashes.
    pub anchor: String,
    /// The stable id, by which its samples are found in the file.
    pub id: CellId,
    /// The group's figure, in its unit.
    pub estimate: Interval,
    /// Its ratio to the baseline.
    pub to_baseline: Option<Interval>,
    /// What the difference to the baseline is worth.
    pub verdict: Option<Verdict>,
    /// Every counted sample of the group's figure; `ns` is in its unit.
    pub samples: Vec<Point>,
    /// Everything that is known about it, figure by figure.
    pub figures: Vec<(Figure, Estimate)>,
    /// The command that measures this cell alone.
    pub command: String,
}

/// What may be said about two rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// One sentence.
    pub text: String,
    /// Whether a difference was shown.
    pub is_real: bool,
}

/// A sandbox: what was asked for and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForceRow {
    /// Its id.
    pub sandbox: SandboxId,
    /// Asked for: strategy, level, back end.
    pub asked: String,
    /// Found: engine and version.
    pub version: String,
    /// Found: back end.
    pub backend: String,
    /// Found: tier.
    pub tier: String,
    /// Found: checks.
    pub checks: String,
    /// How it is known.
    pub evidence: String,
    /// The command that starts the runner, quoted for a shell.
    pub runner: String,
}

impl InForceRow {
    /// Version, back end, tier and checks as found, for tables.
    pub fn found(&self) -> [&str; 4] {
        [&self.version, &self.backend, &self.tier, &self.checks]
    }
}

/// What the soundness probe saw of a sandbox.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeRow {
    /// Its id.
    pub sandbox: SandboxId,
    /// What is promised.
    pub claimed: Guarantee,
    /// What was seen.
    pub observed: Guarantee,
    /// Accesses tried.
    pub accesses: u64,
    /// Accesses that contradict the promise.
    pub violations: u64,
    /// Those of them that are forgiven: accesses inside that trapped.
    pub needless: u64,
    /// Instructions that were not tried.
    pub without: Vec<String>,
    /// The part that there was time for, per cent; none where it is all.
    pub part_percent: Option<u8>,
    /// Some of them.
    pub examples: Vec<String>,
    /// Whether less was seen than is promised.
    pub is_unsound: bool,
    /// Whether it is less only in that it traps inside its memory too.
    pub is_overcautious: bool,
    /// The day it was probed, where that is recorded.
    pub day: Option<String>,
}

impl ProbeRow {
    /// The day it was probed, as text.
    pub fn day(&self) -> &str {
        self.day.as_deref().unwrap_or(figures::NONE)
    }

    /// Accesses tried, as text.
    pub fn tried(&self) -> String {
        figures::count(self.accesses as f64)
    }

    /// What was found, as text.
    pub fn found(&self) -> String {
        let found = match (self.is_unsound, self.is_overcautious) {
            (true, _) => "✗ unsound",
            (false, true) => "! contained, not exact",
            (false, false) => "✓ as claimed",
        };
        let found = match self.part_percent {
            Some(part) => format!("{found} so far ({part} %)"),
            None => found.to_owned(),
        };
        match self.without.is_empty() {
            true => found,
            false => format!("{found}, without {}", sentences::listed(&self.without)),
        }
    }

    /// Accesses that contradict the promise, as text.
    pub fn broken(&self) -> String {
        figures::count(self.violations as f64)
    }
}

/// Something that has no time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureRow {
    /// What failed: a cell's id, or the campaign.
    pub what: String,
    /// Which rounds: `all rounds`, `round 2`.
    pub rounds: String,
    /// The kind's name.
    pub kind: String,
    /// One line.
    pub message: String,
}

impl FailureRow {
    /// All of it in a line.
    pub fn line(&self) -> String {
        let FailureRow {
            what,
            rounds,
            kind,
            message,
        } = self;
        format!("{what} ({rounds}): {kind}: {message}")
    }
}
