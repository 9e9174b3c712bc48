//! The file a campaign leaves behind: lines of JSON, the first its [`Header`].
//!
//! ```text
//!  campaign      format, tool, command, request, host, config, cells  once, first
//!  in_force      what a runner said of itself                         once per cell or more
//!  probe         what the soundness probe saw of a sandbox
//!  sample        one counted iteration                                many
//!  process       once-per-process phases and totals                   seals a cell's round
//!  counts        system calls of a cell, counted in a run that is not timed
//!  traced        what a traced run of a cell saw, which is not timed
//!  failure       a round that has no samples, or a cell that has none
//!  resumed       the campaign went on after a break
//! ```
//!
//! What must stay true:
//! * Lines are appended whole and flushed; nothing is ever rewritten. A file
//!   cut anywhere is readable up to the cut.
//! * A **round of a cell counts once its `process` record is there**. Samples
//!   before it that a break left alone are ignored, and the round is done
//!   again; the later of two samples with the same (cell, round, thread, index)
//!   counts.
//! * [`FORMAT_VERSION`] rises when an older reader would misunderstand. A file
//!   of a higher version is refused in one line; unknown fields are ignored; a file
//!   of a lower one is read as if it had been written today (`before`).

mod before;
mod header;
mod read;
mod rename;
mod shard;
mod traced;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::cell::{Cell, CellId, SandboxId};
use crate::protocol::Hello;
use crate::vocabulary::{FailureKind, Guarantee, Metric, Phase, Span};

pub use header::{ANEW, AbsentNote, Config, Header, ModuleNote, WorkloadNote};
pub use read::{ReadError, parse};
pub use shard::ShardNote;
pub use traced::{Seen, Threads, Traced};
pub use write::{WriteError, Writer};

/// The version of the format written here, and the highest one read.
///
/// 2: what a campaign is about, what is absent and what else decides something has
/// fields of its own. Format 1 had them among the remarks.
pub const FORMAT_VERSION: u32 = 2;

/// The name of the file in a results folder.
pub const FILE_NAME: &str = "samples.jsonl";

/// Everything a campaign recorded, in file order.
#[derive(Clone, Debug, PartialEq)]
pub struct Campaign {
    /// The header, which is the file's first line.
    pub header: Header,
    /// Counted iterations. Use [`Campaign::is_sealed`] to tell whole rounds.
    pub samples: Vec<Sample>,
    /// One for each whole round of each cell.
    pub processes: Vec<Process>,
    /// What runners said of themselves.
    pub in_force: Vec<InForce>,
    /// What went wrong.
    pub failures: Vec<Failure>,
    /// What the soundness probe saw.
    pub probes: Vec<ProbeRecord>,
    /// System calls, counted apart from the times.
    pub counts: Vec<Counts>,
    /// What traced runs saw, apart from the times.
    pub traced: Vec<Traced>,
    /// When it went on after a break.
    pub resumed: Vec<Resumed>,
    /// How the file ends.
    pub tail: Tail,
    /// Bytes of the file up to the end of the last whole record. To go on
    /// with a campaign, cut the file to this length first.
    pub valid_bytes: u64,
    sealed: BTreeSet<(CellId, u32)>,
}

/// How a campaign file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// In a whole line.
    Whole,
    /// In a whole record that lacks its newline.
    NoNewline,
    /// In part of a record, which is ignored.
    Truncated {
        /// Its line, counted from 1.
        line: u64,
        /// Its length in bytes.
        bytes: u64,
    },
}

impl Campaign {
    /// Whether the engine of a cell lacks what its program uses.
    pub fn is_lacking(&self, cell: &CellId) -> bool {
        let mut of_cell = self.failures.iter();
        of_cell.any(|failure| failure.is_lack() && failure.cell.as_ref() == Some(cell))
    }

    /// A campaign with a header and nothing measured yet.
    pub fn new(header: Header) -> Campaign {
        Campaign {
            header,
            samples: Vec::new(),
            processes: Vec::new(),
            in_force: Vec::new(),
            failures: Vec::new(),
            probes: Vec::new(),
            counts: Vec::new(),
            traced: Vec::new(),
            resumed: Vec::new(),
            tail: Tail::Whole,
            valid_bytes: 0,
            sealed: BTreeSet::new(),
        }
    }

    /// Adds a record as if it had been read. A header is ignored: a campaign
    /// has one from the beginning.
    pub fn push(&mut self, record: Record) {
        match record {
            Record::Campaign(_) => {}
            Record::InForce(record) => self.in_force.push(record),
            Record::Probe(record) => self.probes.push(record),
            Record::Sample(record) => self.samples.push(record),
            Record::Process(record) => {
                self.sealed.insert((record.cell.clone(), record.round));
                self.processes.push(record);
            }
            Record::Failure(record) => self.failures.push(record),
            Record::Counts(record) => self.counts.push(record),
            Record::Traced(record) => self.traced.push(record),
            Record::Resumed(record) => {
                // The header cannot be written again: it is read with what came later.
                let config = &mut self.header.config;
                config.rounds = record.rounds.unwrap_or(config.rounds);
                self.resumed.push(record);
            }
        }
    }

    /// Whether a round of a cell was measured to its end, so that its samples
    /// count.
    pub fn is_sealed(&self, cell: &CellId, round: u32) -> bool {
        self.sealed.contains(&(cell.clone(), round))
    }

    /// Whether a round of a cell needs no more measuring: it is sealed, it
    /// failed, or the whole cell failed.
    pub fn is_done(&self, cell: &CellId, round: u32) -> bool {
        self.is_sealed(cell, round)
            || self.failures.iter().any(|failure| {
                failure.cell.as_ref() == Some(cell)
                    && failure.round.is_none_or(|failed| failed == round)
            })
    }

    /// The cell of an id.
    pub fn cell(&self, id: &CellId) -> Option<&Cell> {
        self.header.cells.iter().find(|cell| cell.id() == *id)
    }
}

/// One line of a campaign file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// The first line.
    Campaign(Box<Header>),
    /// What a runner said of itself.
    InForce(InForce),
    /// What the soundness probe saw.
    Probe(ProbeRecord),
    /// One counted iteration.
    Sample(Sample),
    /// The end of a cell's round.
    Process(Process),
    /// Something went wrong.
    Failure(Failure),
    /// System calls of a cell.
    Counts(Counts),
    /// What a traced run of a cell saw.
    Traced(Traced),
    /// The campaign went on after a break.
    Resumed(Resumed),
}

/// One counted iteration of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The cell that was sampled.
    pub cell: CellId,
    /// Which round, from 0.
    pub round: u32,
    /// Which worker, from 0.
    pub thread: u32,
    /// Which of the worker's counted iterations, from 0.
    pub index: u32,
    /// The kernel's own time in nanoseconds, where the workload tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_ns: Option<u64>,
    /// The phases of the iteration: instantiate, run, teardown.
    pub phases: BTreeMap<Phase, Span>,
}

/// The end of a cell's round: what is known once per process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// The cell that the child measured.
    pub cell: CellId,
    /// Which round, from 0.
    pub round: u32,
    /// Phases that happen once per process: load, compile.
    #[serde(default)]
    pub phases: BTreeMap<Phase, Span>,
    /// Totals of the process; what could not be read is left out.
    #[serde(default)]
    pub metrics: BTreeMap<Metric, u64>,
    /// What the first worker's iterations before the counted ones took, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup_ns: Option<u64>,
    /// Wall time from starting the child to its end, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ns: Option<u64>,
    /// CPU time of the child, user and system, all threads, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// How all CPUs of the host spent that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_host: Option<CpuTime>,
    /// How the CPUs the child was pinned to spent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pinned: Option<CpuTime>,
    /// What was seen from outside while counted iterations ran; absent where
    /// they were over too soon to be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Box<Window>>,
    /// The layout seed in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl Process {
    /// Of a child of which no more is known.
    pub fn new(cell: CellId, round: u32) -> Process {
        Process {
            cell,
            round,
            phases: BTreeMap::new(),
            metrics: BTreeMap::new(),
            warmup_ns: None,
            wall_ns: None,
            cpu_ns: None,
            cpu_host: None,
            cpu_pinned: None,
            window: None,
            seed: None,
        }
    }
}

/// The stretch of a child's life in which its counted iterations ran, as its
/// parent saw it: start-up, compilation and the end are not in it. What could
/// not be read is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// How long, in nanoseconds.
    pub wall_ns: u64,
    /// Iterations that ended in it, of all workers, counted or not.
    pub iterations: u64,
    /// How all CPUs of the host spent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_host: Option<CpuTime>,
    /// How the CPUs the child was pinned to spent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pinned: Option<CpuTime>,
    /// CPU time of the child and of the children it waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// Page faults of the child and of the children it waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<u64>,
    /// Mean of the child's resident set over the readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_mean_bytes: Option<u64>,
    /// Mean of the child's address space over the readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtual_mean_bytes: Option<u64>,
    /// Mean over the readings of what the host had in use: total minus
    /// available memory (proc_meminfo(5)), as in "Leaps and bounds", section 4.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_used_mean_bytes: Option<u64>,
    /// The same just before the child was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_used_before_bytes: Option<u64>,
    /// How often it was looked.
    pub readings: u32,
}

/// System calls of a cell. They are counted by tracing, which slows a program
/// down, so no time is taken meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// The cell whose system calls were counted.
    pub cell: CellId,
    /// Instances that the calls are of: those that a longer run made more than
    /// a shorter one, so that start-up and compilation are not in them.
    pub instances: u64,
    /// By name, what the longer run called more often than the shorter one.
    pub calls: BTreeMap<String, u64>,
    /// How they were counted.
    pub how: String,
}

/// A difference of two readings of `/proc/stat`, in milliseconds summed over
/// CPUs (proc_stat(5)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTime {
    /// User mode, nice time included.
    pub user_ms: u64,
    /// Kernel mode.
    pub system_ms: u64,
    /// Serving interrupts.
    pub hardirq_ms: u64,
    /// Serving softirqs.
    pub softirq_ms: u64,
    /// Idle.
    pub idle_ms: u64,
    /// Something could have run, but the hypervisor ran something else.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub steal_ms: u64,
}

impl CpuTime {
    /// CPU utilisation by formula (1) of "Leaps and bounds":
    /// `(us + sys + hi + si) / (us + sys + hi + si + id)`, from 0 to 1.
    /// `None` if no time passed.
    pub fn utilisation(&self) -> Option<f64> {
        let busy = [
            self.user_ms,
            self.system_ms,
            self.hardirq_ms,
            self.softirq_ms,
        ];
        let busy: f64 = busy.into_iter().map(|ms| ms as f64).sum();
        let total = busy + self.idle_ms as f64;
        (total > 0.0).then(|| busy / total)
    }
}

/// What a runner said was in force for a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InForce {
    /// The cell that the runner was started for.
    pub cell: CellId,
    /// What it said.
    #[serde(flatten)]
    pub hello: Hello,
    /// The command that starts the runner.
    #[serde(default)]
    pub runner: Vec<String>,
}

/// A round, a cell, or the campaign itself that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Which cell; absent for the campaign itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellId>,
    /// Which round; absent if the cell as a whole was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// The kind of failure; it decides whether the cell keeps its times.
    pub kind: FailureKind,
    /// One line for the user.
    pub message: String,
}

impl Failure {
    /// Whether an engine lacks what its program uses, so that a cell of it has no round.
    pub fn is_lack(&self) -> bool {
        self.kind == FailureKind::Lacking
    }
}

/// What the soundness probe saw of a sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// The sandbox that was probed.
    pub sandbox: SandboxId,
    /// What its strategy promises.
    pub claimed: Guarantee,
    /// The strongest guarantee that nothing seen contradicts.
    pub observed: Guarantee,
    /// Accesses tried.
    pub accesses: u64,
    /// Accesses that contradict the claim.
    pub violations: u64,
    /// Those of them that are forgiven: of an engine that is not ours, accesses
    /// inside its memory that trapped.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub needless: u64,
    /// Some of those, one line each.
    #[serde(default)]
    pub examples: Vec<String>,
    /// Instructions that were not tried, because the engine refuses them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    /// When it was probed, UTC, as RFC 3339: a verdict holds until the engine, its
    /// configuration, the kernel or the processor changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The part of the probe that there was time for, per cent; absent where it is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_percent: Option<u8>,
}

impl ProbeRecord {
    /// Whether the sandbox keeps less than it promises, and is not forgiven.
    pub fn is_unsound(&self) -> bool {
        (self.violations > 0 || self.observed < self.claimed) && !self.is_overcautious()
    }

    /// Whether all that is wrong with it is that it traps inside its memory too:
    /// not exact, but contained.
    pub fn is_overcautious(&self) -> bool {
        self.needless > 0
            && self.violations == self.needless
            && self.observed >= Guarantee::Contained
    }

    /// What it is to be taken for: what it promises, unless it is less and
    /// forgiven.
    pub fn guarantee(&self) -> Guarantee {
        match self.is_overcautious() {
            true => self.observed.min(self.claimed),
            false => self.claimed,
        }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A campaign that went on after a break.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// When, UTC, as RFC 3339.
    pub date: String,
    /// The command line.
    pub command: Vec<String>,
    /// The rounds that the campaign has from here on, where they were changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
}

#[cfg(test)]
mod tests;
