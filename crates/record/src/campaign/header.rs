//! The first line of a campaign's file: what is measured, where, and how.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ShardNote;
use crate::cell::{Cell, SandboxId};
use crate::experiment::Experiment;
use crate::host::Host;
use crate::vocabulary::{Compared, Estimator, Variant};

/// The first line: what is measured, where, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub format: u32,
    /// The version of the tool that wrote it.
    pub tool: String,
    /// The campaign's name.
    pub name: String,
    /// When it began, UTC, as RFC 3339.
    pub date: String,
    /// The command line with what `fathom.toml` added, for readers.
    pub command: Vec<String>,
    /// What was asked for, as data: what the campaign goes on by. It is kept as it is, and
    /// read by who plans, so that what is asked by a newer version hides no samples. Older
    /// files have their command line alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// The machine that was measured on.
    #[serde(default)]
    pub host: Host,
    /// Rounds, limits and what else decides how it is measured.
    pub config: Config,
    /// What the workloads are, for readers of the report.
    #[serde(default)]
    pub workloads: Vec<WorkloadNote>,
    /// What is measured, in the order of a round.
    pub cells: Vec<Cell>,
}

/// Of [`Config::layouts`]: another layout in every round.
pub const ANEW: u32 = 0;

/// How a campaign measures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// What it is about.
    #[serde(default)]
    pub experiment: Experiment,
    /// What is compared between cells.
    #[serde(default)]
    pub compared: Compared,
    /// What the rounds of a cell come to.
    #[serde(default, skip_serializing_if = "is_mean")]
    pub estimator: Estimator,
    /// Rounds planned; each cell is measured once in each.
    pub rounds: u32,
    /// Uncounted iterations per thread before the counted ones.
    pub warmup: u32,
    /// Counted iterations per thread and round.
    pub iterations: u32,
    /// Time limit of one child in milliseconds.
    #[serde(default)]
    pub limit_ms: u64,
    /// Logical CPUs that children are pinned to; empty if they are not.
    #[serde(default)]
    pub cpus: Vec<u32>,
    /// Decides the order in rounds and the layout of code.
    #[serde(default)]
    pub seed: u64,
    /// Whether code layout varies from round to round.
    #[serde(default)]
    pub layout_varies: bool,
    /// How many layouts the code of each build has in the campaign's rounds, drawn one
    /// after the other; [`ANEW`] for another in every round. One layout where absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub layouts: BTreeMap<Variant, u32>,
    /// Whether programs are replays of records (`fathom replay`), without their host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replays: bool,
    /// The engine whose times ratios are taken to, by preference `native`.
    #[serde(default)]
    pub baseline: Option<SandboxId>,
    /// A user's own module, where it is what was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<ModuleNote>,
    /// Whether programs may print anything, since they print something else each time
    /// or the user said so.
    #[serde(default, skip_serializing_if = "is_false")]
    pub any_output: bool,
    /// The folder in which the command was given, which its relative paths are of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// Time for all of it in milliseconds, where it was limited: the rounds are then
    /// the most there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ms: Option<u64>,
    /// What should have been measured and could not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<AbsentNote>,
    /// Why system calls were not counted, where they belong to the experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncounted: Option<String>,
    /// What counted instructions, where they are what is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<String>,
    /// What each engine was: a hash of the files that it was started from, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub engines: BTreeMap<String, String>,
    /// Which part it is of a campaign on several machines, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardNote>,
    /// Anything else worth keeping, by name; nothing is decided by it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, String>,
}

/// Something that should have been measured and could not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbsentNote {
    /// What: an engine, or a program.
    pub engine: String,
    /// Why; one line.
    pub why: String,
    /// What `fathom engines install` calls it, where that gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
}

/// A user's own module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleNote {
    /// Where it was.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    /// A digest of its content in hexadecimal digits.
    pub digest: String,
    /// The arguments that the module was given.
    #[serde(default)]
    pub args: Vec<String>,
}

/// What a workload is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadNote {
    /// The suite that the workload is of.
    pub suite: String,
    /// The workload's name in the suite.
    pub name: String,
    /// One line why it is there.
    #[serde(default)]
    pub why: String,
    /// The answer expected at the campaign's size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The group of its suite that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The length of its module in bytes, where it was made for the campaign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How often a run of it resumes a fiber, where that is what it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trips: Option<u64>,
    /// The length of its builds in bytes, where they are compared.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub builds: BTreeMap<Variant, u64>,
}

fn is_mean(estimator: &Estimator) -> bool {
    *estimator == Estimator::Mean
}

fn is_false(answer: &bool) -> bool {
    !answer
}
