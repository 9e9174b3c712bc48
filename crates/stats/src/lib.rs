//! Samples to estimates, intervals, comparisons.
//!
//! ```text
//!  Campaign ──▶ times     a cell's rounds, each one value per figure
//!                 │
//!                 ├──▶ order      medians, quantiles, spread
//!                 ├──▶ halves     the half that is not counted, children that were slowed
//!                 ├──▶ estimator  what rounds come to: their faster half, or all
//!                 ├──▶ ratio      of two cells, of two rows   ◀── interval ◀── moderate, serial, student
//!                 │                                           ◀── layout: what no round shows
//!                 ├──▶ noise      what identical cells differ by
//!                 ├──▶ precision  which cells need further rounds, by their width alone
//!                 ├──▶ table      ratios that are judged together  ◀── verdict
//!                 ▼
//!             Summary (one campaign)     compare (two campaigns)
//!                 ├──▶ merge     shards of one campaign, each of a machine of its own
//!                 ├──▶ medians   plain ones, for tables that compare nothing
//!                 ├──▶ tracing   what traced runs saw of calls
//!                 ├──▶ waterfall one program's time on one engine, in parts
//!                 ├──▶ level     a row as its history has it  ──▶ change_points (many campaigns)
//!                 └──▶ rank      whether rows are in one order on two suites
//!
//!             sampled   counts of samples by function ──▶ shares, ratios
//! ```
//!
//! What must stay true:
//! * No I/O, no clock, no randomness from outside: the same campaign gives the
//!   same numbers, whatever the order of its lines.
//! * The **round** is the unit of observation. Samples of one child are not
//!   independent, so they become one value before anything is estimated.
//! * A cell that answered wrongly or whose sandbox is unsound has no time:
//!   [`CellSummary::times`] is an error, and nothing here can get past it.
//! * No input panics; what cannot be estimated is a [`NoEstimate`].
//!
//! docs/METHODOLOGY.md says the same to users, with the reasons.
//!
//! ```
//! use fathom_stats::{Figure, Summary};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let file = std::fs::File::open("../report/tests/data/suite.jsonl")?;
//! let campaign = fathom_record::campaign::parse(std::io::BufReader::new(file))?;
//! let summary = Summary::from_campaign(&campaign);
//! let with_time = summary.cells.iter().filter_map(|cell| cell.estimate(Figure::Kernel));
//! assert!(with_time.count() > 20);
//! # Ok(())
//! # }
//! ```

pub mod allocation;
pub mod change_points;
pub mod compare;
mod estimator;
pub mod exact;
pub mod figure;
pub mod fit;
pub mod forecast;
pub mod group;
pub mod halves;
pub mod interval;
pub mod layout;
pub mod level;
pub mod medians;
pub mod merge;
mod moderate;
pub mod noise;
pub mod order;
pub mod precision;
pub mod rank;
pub mod ratio;
pub mod rng;
pub mod row;
pub mod sampled;
mod serial;
mod student;
pub mod summary;
pub mod table;
pub mod times;
pub mod tracing;
pub mod verdict;
pub mod waterfall;

pub use change_points::{ChangePoint, Observation, Segmentation};
pub use compare::{Basis, Change, Comparison, compare};
pub use figure::{Figure, FigureUnit};
pub use group::{Against, GroupRatio, Pairing};
pub use halves::{Children, RowHalves};
pub use interval::Interval;
pub use level::{Level, RowLevel};
pub use medians::Medians;
pub use noise::{Floor, NoiseFloor};
pub use rank::RankCorrelation;
pub use ratio::Ratio;
pub use row::Row;
pub use summary::{CellSummary, NoTime, RowRatio, RowSummary, Summary, WorkloadRatio};
pub use table::Table;
pub use times::{Estimate, Times};
pub use tracing::Tracing;
pub use verdict::{DELTA, Verdict};
pub use waterfall::Waterfall;

/// Why there is no estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NoEstimate {
    /// Fewer values than an honest answer needs.
    #[error("too few rounds ({have}, needs {need})")]
    TooFewSamples {
        /// Rounds there are, in the workload that has fewest.
        have: usize,
        /// Rounds it takes.
        need: usize,
    },
    /// A time or a count that must be positive is not: no ratio can be made.
    #[error("a value is zero or not a number")]
    NotPositive,
}
