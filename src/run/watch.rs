//! `fathom run --trace-wasi FILE`: what the program called, for `fathom trace`.

use std::path::Path;

use anyhow::Context;
use fathom_trace::times::Times;
use fathom_trace::trace::{Cost, Wasi};
use fathom_wasi::Watch;

/// Writes what was seen to a file.
///
/// # Errors
/// It cannot be written.
pub fn write(watch: &Watch, file: &Path) -> anyhow::Result<()> {
    let mut wasi = Wasi::in_process();
    for calls in watch.calls() {
        let used = calls.buckets.iter().rposition(|count| *count > 0);
        let times = Times {
            count: calls.results.iter().map(|(_, count)| count).sum(),
            total_ns: calls.total_ns,
            min_ns: calls.min_ns,
            max_ns: calls.max_ns,
            buckets: calls.buckets[..used.map_or(0, |last| last + 1)].to_vec(),
        };
        wasi.add(calls.name, &calls.results, calls.bytes, &times);
    }
    let (call_ns, least_ns) = Watch::cost_ns();
    wasi.cost = Some(Cost {
        call_ns,
        least_ns,
        plain_ns: None,
    });
    let text = serde_json::to_string(&wasi)?;
    std::fs::write(file, text).with_context(|| file.display().to_string())
}
