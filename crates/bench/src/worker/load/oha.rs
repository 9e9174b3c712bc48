//! What `oha` says of a load, in its JSON.

use std::collections::BTreeMap;

use fathom_record::FailureKind;
use fathom_runner::Refusal;
use serde::Deserialize;

use super::NO_FAILURE;

/// What was seen of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Answers with status 200.
    pub answers: u64,
    /// Other answers, and requests without one, by what they came to.
    pub failed: BTreeMap<String, u64>,
    /// Answers a second.
    pub per_second: f64,
    /// Latencies.
    pub p50_ns: u64,
    /// See `p50_ns`.
    pub p90_ns: u64,
    /// See `p50_ns`.
    pub p99_ns: u64,
    /// See `p50_ns`.
    pub p999_ns: u64,
    /// See `p50_ns`.
    pub max_ns: u64,
}

impl Seen {
    /// Whether requests failed, in a line: what a run is judged by.
    pub fn verdict(&self) -> String {
        let failed: u64 = self.failed.values().sum();
        if failed == 0 && self.answers > 0 {
            return NO_FAILURE.to_owned();
        }
        let each = self.failed.iter();
        let each: Vec<String> = each
            .map(|(what, count)| format!("{count} × {what}"))
            .collect();
        let all = self.answers + failed;
        format!("{failed} of {all} requests failed: {}", each.join(", "))
    }
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
/// The status of an answer.
const OK: &str = "200";

/// The load of an output.
///
/// # Errors
/// `internal` for what cannot be read.
pub fn read(output: &[u8]) -> Result<Seen, Refusal> {
    let output: Output = serde_json::from_slice(output).map_err(|error| {
        let message = format!("what oha says cannot be read: {error}");
        Refusal::new(FailureKind::Internal, message)
    })?;
    let codes = output.status_code_distribution;
    let answers = codes.get(OK).copied().unwrap_or(0);
    let others = codes.into_iter().filter(|(code, _)| code != OK);
    let others = others.map(|(code, count)| (format!("status {code}"), count));
    let errors = output.error_distribution.into_iter();
    let errors = errors.filter(|(what, _)| what != CUT_OFF);
    let latency = |name: &str| {
        let seconds = output.latency_percentiles.get(name).copied().flatten();
        nanoseconds(seconds.unwrap_or(0.0))
    };
    Ok(Seen {
        answers,
        failed: others.chain(errors).collect(),
        per_second: answers as f64 / output.summary.total.max(f64::MIN_POSITIVE),
        p50_ns: latency("p50"),
        p90_ns: latency("p90"),
        p99_ns: latency("p99"),
        p999_ns: latency("p99.9"),
        max_ns: nanoseconds(output.summary.slowest.unwrap_or(0.0)),
    })
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}
