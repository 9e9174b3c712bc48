//! What `fathom run --count` prints: how often a program did what checks and
//! sandboxes are about.

use clap::ValueEnum;
use fathom_engine::{CheckSites, Counts};
use serde::Serialize;

/// How counts are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One line per count
    Table,
    /// One line of JSON
    Json,
}

/// Why there is no number of the instruction that only one strategy executes.
const NO_KEYS: &str = "absent: no strategy in force uses protection keys";

/// The counts as a program reads them.
#[derive(Serialize)]
struct Line {
    loads: u64,
    stores: u64,
    checks_executed: u64,
    checks_removed: u64,
    checks_emitted: u32,
    checks_removed_from_code: u32,
    indirect_calls: u64,
    host_calls: u64,
    growths: u64,
    /// Absent where no strategy in force uses protection keys.
    wrpkru: Option<u64>,
}

/// The counts of a run of a module with these checks in its code.
pub fn text(counts: &Counts, sites: CheckSites, format: Format) -> String {
    match format {
        Format::Table => table(counts, sites),
        Format::Json => json(counts, sites),
    }
}

fn json(counts: &Counts, sites: CheckSites) -> String {
    let line = Line {
        loads: counts.loads,
        stores: counts.stores,
        checks_executed: counts.checks,
        checks_removed: counts.checks_left_out,
        checks_emitted: sites.emitted,
        checks_removed_from_code: sites.left_out,
        indirect_calls: counts.indirect_calls,
        host_calls: counts.host_calls,
        growths: counts.growths,
        wrpkru: key_switches(counts),
    };
    serde_json::to_string(&line).unwrap_or_default()
}

fn table(counts: &Counts, sites: CheckSites) -> String {
    let lines = [
        ("loads", counts.loads, ""),
        ("stores", counts.stores, ""),
        ("checks executed", counts.checks, ""),
        (
            "checks removed",
            counts.checks_left_out,
            "accesses whose check was removed",
        ),
        ("checks emitted", sites.emitted.into(), "in the code"),
        ("", sites.left_out.into(), "removed from the code"),
        ("indirect calls", counts.indirect_calls, ""),
        ("host calls", counts.host_calls, ""),
        ("growths", counts.growths, ""),
    ];
    let numbers: Vec<String> = lines
        .iter()
        .map(|(_, number, _)| grouped(*number))
        .collect();
    let width = numbers.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for ((name, _, remark), number) in lines.iter().zip(&numbers) {
        let line = format!("  {name:15}  {number:>width$}  {remark}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let keys = key_switches(counts).map_or(NO_KEYS.to_owned(), grouped);
    text + &format!("  {:15}  {keys}", "WRPKRU")
}

/// Under the strategy that has them there are two at least.
fn key_switches(counts: &Counts) -> Option<u64> {
    Some(counts.key_switches).filter(|number| *number > 0)
}

/// 1234567 as "1,234,567".
fn grouped(number: u64) -> String {
    fathom_report::figures::count(number as f64)
}
