//! What traced runs saw: calls and their time, as it was recorded.
//!
//! What must stay true: what seeing costs stands beside what was seen and is not taken off
//! before somebody asks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cell::CellId;

/// What a traced run of a cell saw, start-up and compilation included. Tracing slows a
/// program down, so no time of such a run is taken. What was not seen is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traced {
    /// The cell that was run.
    pub cell: CellId,
    /// Which of its traced runs, from 0.
    pub repeat: u32,
    /// WASI calls, with their system calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wasi: Option<Seen>,
    /// System calls of the thread that ran the program, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<BTreeMap<String, Seen>>,
    /// The WASI calls of a run of its own, by function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<BTreeMap<String, Seen>>,
    /// What all threads of the process asked of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<Threads>,
}

/// What all threads of a process, and all that it started, asked of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Threads {
    /// How many there were.
    pub count: u64,
    /// Their system calls, by name.
    pub calls: BTreeMap<String, Seen>,
    /// How often one of them waited in a system call.
    pub waits: u64,
}

/// Calls that were seen, and their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// How many.
    pub count: u64,
    /// What they took together, as it was recorded, in nanoseconds; 0 where that was not
    /// seen.
    pub total_ns: u64,
    /// What seeing a call adds to its recorded time, in nanoseconds; below 0 where more of
    /// a call is not seen than seeing adds.
    pub each_ns: f64,
}

impl Seen {
    /// What they took together without being seen, in nanoseconds.
    pub fn net_ns(&self) -> f64 {
        self.total_ns as f64 - self.count as f64 * self.each_ns
    }
}
