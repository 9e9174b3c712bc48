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

pub mod built;
pub mod check;
pub mod choose;
mod copies;
pub mod counts;
pub mod date;
pub mod driver;
pub mod engines;
pub mod experiment;
pub mod generator;
pub mod host;
pub mod house;
pub mod http;
pub mod idle;
pub mod judge;
mod layout;
pub mod mistyped;
pub mod near;
pub mod own;
pub mod plan;
pub mod prepare;
pub mod probe;
pub mod request;
pub mod results;
pub mod session;
pub mod settings;
pub mod shard;
pub mod steer;
pub mod suite;
pub mod trial;
mod unrun;
pub mod worker;
