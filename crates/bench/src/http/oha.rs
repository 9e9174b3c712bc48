//! What `oha` says of a run, in its JSON.

use std::{collections::BTreeMap, path::Path, process::Command};

use serde::Deserialize;

use super::HttpError;

/// What was seen of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Answers with status 200.
    pub requests: u64,
    /// Other answers, and requests without one.
    pub failed: u64,
    /// Answers a second.
    pub per_second: f64,
    /// Latencies.
    pub p50_ns: u64,
    /// See `p50_ns`.
    pub p99_ns: u64,
    /// See `p50_ns`.
    pub p999_ns: u64,
    /// See `p50_ns`.
    pub max_ns: u64,
}

/// What is read of its output; times are seconds.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    summary: Summary,
    latency_percentiles: BTreeMap<String, Option<f64>>,
    status_code_distribution: BTreeMap<String, u64>,
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    total: f64,
    slowest: Option<f64>,
}

/// A request that was cut off by the run's end is no failure.
const CUT_OFF: &str = "aborted due to deadline";

/// The run of an output.
///
/// # Errors
/// [`HttpError::Generator`] for what cannot be read.
pub fn read(output: &[u8]) -> Result<Seen, HttpError> {
    let bad = |error: serde_json::Error| HttpError::Generator(format!("its output: {error}"));
    let output: Output = serde_json::from_slice(output).map_err(bad)?;
    let codes = output.status_code_distribution;
    let requests = codes.get("200").copied().unwrap_or(0);
    let others: u64 = codes
        .iter()
        .filter(|(code, _)| *code != "200")
        .map(|(_, count)| count)
        .sum();
    let errors = output.error_distribution.iter();
    let errors: u64 = errors
        .filter(|(what, _)| *what != CUT_OFF)
        .map(|(_, count)| count)
        .sum();
    let percentile = |name: &str| {
        let seconds = output.latency_percentiles.get(name).copied().flatten();
        nanoseconds(seconds.unwrap_or(0.0))
    };
    Ok(Seen {
        requests,
        failed: others + errors,
        per_second: requests as f64 / output.summary.total.max(f64::MIN_POSITIVE),
        p50_ns: percentile("p50"),
        p99_ns: percentile("p99"),
        p999_ns: percentile("p99.9"),
        max_ns: nanoseconds(output.summary.slowest.unwrap_or(0.0)),
    })
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// What the generator says it is.
///
/// # Errors
/// [`HttpError::Generator`] if it does not run.
pub fn version(program: &Path) -> Result<String, HttpError> {
    let bad = |error: std::io::Error| HttpError::Generator(error.to_string());
    let done = Command::new(program)
        .arg("--version")
        .output()
        .map_err(bad)?;
    Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
}
