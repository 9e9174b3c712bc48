//! Plan, rounds, samples: drives engines through the runner protocol.
//!
//! ```
//! use fathom_bench::suite::Suite;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let suite = Suite::load(std::path::Path::new("../../workloads/polybench"))?;
//! for workload in suite.select(&["gemm".to_owned()])? {
//!     assert!(workload.is_checked(), "{} has an expected answer", workload.name);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//!  Request ─▶ prepare ─▶ Prepared ─▶ Session ─▶ Results
//!               ▲ experiment: a design each
//! ```

pub mod check;
pub mod choose;
pub mod counts;
pub mod date;
pub mod driver;
mod empty_start;
pub mod engines;
pub mod experiment;
pub mod generator;
pub mod home;
pub mod host;
pub mod idle;
pub mod instructions;
pub mod judge;
mod layout;
pub mod missing_builds;
pub mod mistyped;
pub mod own;
pub mod plan;
pub mod prepare;
pub mod probe;
mod readonly_dirs;
pub mod request;
pub mod results;
pub mod scratch;
pub mod session;
pub mod settings;
pub mod shard;
pub mod steadiness;
pub mod stopping;
pub mod suite;
pub mod tolerance;
pub mod trial;
pub mod worker;
