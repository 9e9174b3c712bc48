//! Servers under load: a file of lines, the host and the plan first, then a line for each time
//! that a server was driven.
//!
//! What must stay true: a line is complete in itself, so that a file that ends anywhere stays
//! readable; times are nanoseconds.

use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::vocabulary::Variant;

/// The file in a results folder.
pub const FILE_NAME: &str = "load.jsonl";

/// What was planned, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadHeader {
    /// When it began, in UTC.
    pub date: String,
    /// Fathom's version.
    pub tool: String,
    /// The generator, and its version.
    pub generator: String,
    /// Connections at once.
    pub connections: u32,
    /// How long each server is driven at each rate, in seconds.
    pub seconds: u32,
    /// The processors: the server's first, the generator's behind; none: not pinned.
    pub cpus: Vec<u32>,
    /// The machine.
    pub host: Host,
}

/// A server driven at a rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadRun {
    /// From 0.
    pub round: u32,
    /// `fathom`, or `native`.
    pub engine: String,
    /// How its fibers are made.
    pub build: Variant,
    /// Requests a second that were sent; as many as it takes if absent.
    pub rate: Option<u32>,
    /// Answers that came.
    pub requests: u64,
    /// Requests that failed, and answers that were none.
    pub failed: u64,
    /// Answers a second.
    pub per_second: f64,
    /// Latencies: the median, and what one of a hundred, of a thousand and none exceeded.
    pub p50_ns: u64,
    /// See `p50_ns`.
    pub p99_ns: u64,
    /// See `p50_ns`.
    pub p999_ns: u64,
    /// See `p50_ns`.
    pub max_ns: u64,
    /// The server's largest resident set so far.
    pub rss_peak_bytes: Option<u64>,
    /// Why there is nothing to tell of it; then the numbers are 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}
