//! System calls of a cell, counted by tracing it: two runs of different length,
//! neither of which is timed.
//!
//! ```text
//!  start, compile, n instances     ─ strace -c ─▶ calls
//!  start, compile, n + m instances ─ strace -c ─▶ calls
//!                                     difference: the calls of m instances
//! ```
//!
//! The engine cannot know, and every engine is counted alike, but a traced
//! program stops at each of these calls and at every signal, so its time says
//! nothing. strace filters by seccomp: other calls do not stop it.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::AtomicBool,
    time::Duration,
};

use fathom_record::{Cell, FailureKind, campaign::Counts};
use fathom_sys::regular;

use crate::{
    driver::{DriveError, Driver, ProcessDriver},
    plan::{Plan, Task},
    session::scratch,
};

/// The calls that are counted: those by which memory is got, changed and given
/// back, and `ioctl`, by which userfaultfd supplies pages.
pub const CALLS: [&str; 5] = ["mprotect", "mmap", "munmap", "madvise", "ioctl"];
/// Iterations of a worker in the shorter and in the longer run.
const ITERATIONS: [u32; 2] = [2, 12];
const TRACER: &str = "strace";

/// Whether calls can be counted here.
///
/// # Errors
/// One line why not, and what to do about it.
pub fn available() -> Result<(), String> {
    let mut command = Command::new(TRACER);
    command.args([
        "-c",
        "-f",
        "-qq",
        "--seccomp-bpf",
        "-o",
        "/dev/null",
        "true",
    ]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    match command.output() {
        Err(error) => Err(format!(
            "not counted: {TRACER}: {error} (Debian: apt-get install strace)"
        )),
        Ok(output) if !output.status.success() => {
            let said = String::from_utf8_lossy(&output.stderr);
            let why = said.lines().next().unwrap_or("it failed");
            Err(format!("not counted: {}", why.trim()))
        }
        Ok(_) => Ok(()),
    }
}

/// Whether a cell is counted: controls repeat what another cell does.
pub fn is_counted(cell: &Cell) -> bool {
    !cell.is_control()
}

/// Counts the calls of a task.
///
/// # Errors
/// What keeps the task from running under the tracer.
pub fn count(
    plan: &Plan,
    task: &Task,
    driver: &ProcessDriver,
    stop: &AtomicBool,
) -> Result<Counts, DriveError> {
    let limit = Duration::from_millis(plan.config.limit_ms);
    let mut runs = Vec::new();
    for iterations in ITERATIONS {
        let scratch = scratch()?;
        let table = scratch.path().join("calls");
        let request = plan.request(task, 0, plan.laps(iterations), scratch.path());
        let request = request
            .map_err(|error| DriveError::failed(FailureKind::Io, format!("its layout: {error}")))?;
        let conversation = driver.under(&tracer(&table)).ask(&request, limit, stop)?;
        let text = regular::read_to_string(&table).map_err(|error| {
            DriveError::failed(FailureKind::Io, format!("what {TRACER} counted: {error}"))
        })?;
        runs.push((conversation.iterations.len() as u64, parse(&text)));
    }
    let [(few, before), (many, after)] = &runs[..] else {
        return Err(DriveError::failed(FailureKind::Internal, "not two runs"));
    };
    // With several workers the last ones keep each other company for as long as
    // it takes: the longer run is longer by more than was asked for, or by less.
    let instances = many.saturating_sub(*few);
    let calls = CALLS.map(|name| {
        let of = |calls: &BTreeMap<String, u64>| calls.get(name).copied().unwrap_or(0);
        (name.to_owned(), of(after).saturating_sub(of(before)))
    });
    Ok(Counts {
        cell: task.cell.id(),
        instances,
        calls: calls.into(),
        how: format!(
            "counted apart, untimed, by {TRACER} -c over runs of {} and {} iterations a worker; \
             their difference, for each instance",
            ITERATIONS[0], ITERATIONS[1]
        ),
    })
}

fn tracer(table: &Path) -> Vec<OsString> {
    let words = [
        TRACER,
        "-c",
        "-f",
        "-qq",
        "--seccomp-bpf",
        "-U",
        "calls,name",
    ];
    let mut words: Vec<OsString> = words.map(OsString::from).to_vec();
    words.push("-e".into());
    words.push(format!("trace={}", CALLS.join(",")).into());
    words.push("-o".into());
    words.push(table.into());
    words
}

/// The table of counts and names; its rules and its total name no call.
fn parse(table: &str) -> BTreeMap<String, u64> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let count = words.next()?.parse().ok()?;
        let name = words.next().filter(|name| *name != "total")?;
        Some((name.to_owned(), count))
    };
    table.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_the_tracer_is_read() {
        let table = "    calls syscall\n--------- ----------------\n       38 mmap\n        8 mprotect\n\
                     --------- ----------------\n       46 total\n";
        let calls = parse(table);
        assert_eq!((calls["mmap"], calls["mprotect"], calls.len()), (38, 8, 2));
        assert!(parse("strace: Process 7 attached\n").is_empty());
    }

    #[test]
    fn a_child_that_is_traced_is_counted() {
        if let Err(why) = available() {
            eprintln!("SKIPPED: {why}");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("calls");
        let words = tracer(&table);
        let status = Command::new(&words[0])
            .args(&words[1..])
            .arg("true")
            .status();
        assert!(status.unwrap().success());
        let calls = parse(&std::fs::read_to_string(&table).unwrap());
        assert!(calls["mmap"] > 0, "{calls:?}");
    }
}
