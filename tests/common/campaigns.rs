//! Campaigns of several nights, made of a committed one.

#![allow(dead_code)]

use std::fs;
use std::path::Path;

use fathom_stats::rng::Rng;
use serde_json::Value;

/// What a night's campaign is, beside noise of its own.
#[derive(Clone, Debug)]
pub struct Night {
    /// Its number, from 0: its date, and its seed.
    pub at: usize,
    /// How much longer wasmtime takes.
    pub slower: f64,
    /// Which wasmtime it was.
    pub version: &'static str,
    /// The machine's kernel.
    pub kernel: &'static str,
    /// A workload that was not measured.
    pub without: Option<&'static str>,
    /// The answer of all workloads.
    pub answer: &'static str,
    /// Whether wasmtime was asked for by its version.
    pub is_named: bool,
}

impl Night {
    /// As any other.
    pub fn of(at: usize) -> Night {
        Night {
            at,
            slower: 1.0,
            version: "48.0.8",
            kernel: "Linux 6.18.0",
            without: None,
            answer: "0123456789abcdef",
            is_named: false,
        }
    }
}

/// Campaigns of as many nights in a folder, `night-00` and on.
pub fn nights(folder: &Path, count: usize, of: impl Fn(usize) -> Night) {
    for at in 0..count {
        night(&folder.join(format!("night-{at:02}")), &of(at));
    }
}

/// A night's campaign: every row is off by up to 1 % that all its rounds have in common.
pub fn night(folder: &Path, night: &Night) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/report/tests/data/suite.jsonl");
    let lines = fs::read_to_string(file).unwrap();
    let lines = lines.lines().filter_map(|line| of_night(line, night));
    let mut text: String = lines.map(|line| line + "\n").collect();
    if night.is_named {
        let id = format!("\"wasmtime@{}/", night.version);
        text = text.replace("\"wasmtime/", &id);
    }
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("samples.jsonl"), text).unwrap();
}

fn of_night(line: &str, night: &Night) -> Option<String> {
    let mut record: Value = serde_json::from_str(line).unwrap();
    if record["record"] == "campaign" {
        header(&mut record, night);
        return Some(record.to_string());
    }
    let cell = record["cell"].as_str().unwrap_or_default().to_owned();
    if night.without.is_some_and(|gone| cell.contains(gone)) {
        return None;
    }
    let is_wasmtime = cell.starts_with("wasmtime");
    if record["record"] == "in_force" && is_wasmtime {
        record["version"] = Value::from(night.version);
    }
    let slower = if is_wasmtime { night.slower } else { 1.0 };
    // A cell's own: its control is off by as much, as on a quiet machine.
    let name = cell.trim_end_matches("/control");
    let stream = name
        .bytes()
        .fold(7_u64, |hash, byte| hash * 31 % 1_000_003 + u64::from(byte));
    let off = 1.0 + 0.01 * (Rng::new(night.at as u64, stream).unit() - 0.5);
    for place in ["/kernel_ns", "/phases/run/wall_ns"] {
        if let Some(ns) = record.pointer_mut(place)
            && let Some(number) = ns.as_u64()
        {
            *ns = Value::from((number as f64 * slower * off) as u64);
        }
    }
    Some(record.to_string())
}

fn header(header: &mut Value, night: &Night) {
    header["date"] = Value::from(format!("2026-10-{:02}T12:00:00Z", night.at + 1));
    header["host"]["kernel"] = Value::from(night.kernel);
    header["config"]["seed"] = Value::from(night.at);
    for workload in header["workloads"].as_array_mut().unwrap() {
        workload["answer"] = Value::from(night.answer);
    }
    let cells = header["cells"].as_array_mut().unwrap();
    cells.retain(|cell| night.without.is_none_or(|gone| cell["workload"] != gone));
    for cell in cells.iter_mut() {
        if night.is_named && cell["engine"] == "wasmtime" {
            cell["version"] = Value::from(night.version);
        }
    }
}
