//! The compiler as a child: what it is given, what it says and what it leaves are files in
//! memory.
//!
//! What must stay true: nothing of it outlives us, however we end. It dies with the thread
//! that waits for it, there is no file that could be left, and it may use so much and no
//! more.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use fathom_sys::spawn::{Allowed, spawn_bounded};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::MemfdFlags;
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};

/// How long it is slept between two looks at a child that cannot wake us.
const LOOK: Duration = Duration::from_millis(10);

/// How much of what it says of errors is read.
const SAID_BYTES_MAX: u64 = 64 << 10;

/// What a call may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limit {
    /// Processor time.
    pub cpu: Duration,
    /// Time that passes, on a machine that does other things as well.
    pub wall: Duration,
    /// Memory.
    pub bytes: u64,
}

/// How it ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// By itself.
    With(ExitStatus),
    /// It took longer than it may.
    Late(Duration),
}

/// What a call came to.
#[derive(Debug)]
pub(super) struct Outcome {
    pub ended: Ended,
    /// What it wrote.
    pub out: Vec<u8>,
    /// What it said of errors, the beginning of it.
    pub said: String,
}

/// Runs a command that reads `text`.
///
/// # Errors
/// It cannot be started.
pub(super) fn run(
    command: &mut Command,
    text: &[u8],
    limit: Option<&Limit>,
) -> io::Result<Outcome> {
    let mut given = in_memory(c"fathom-llvm-text")?;
    given.write_all(text)?;
    given.rewind()?;
    let [mut out, mut said] = [
        in_memory(c"fathom-llvm-out")?,
        in_memory(c"fathom-llvm-said")?,
    ];
    command
        .stdin(given)
        .stdout(out.try_clone()?)
        .stderr(said.try_clone()?);
    let allowed = Allowed {
        cpu_seconds: limit.map(|limit| seconds(limit.cpu)),
        memory_bytes: limit.map(|limit| limit.bytes),
    };
    let mut child = spawn_bounded(command, allowed)?;
    let ended = wait(&mut child, limit)?;
    let mut written = Vec::new();
    out.rewind()?;
    out.read_to_end(&mut written)?;
    let mut first = Vec::new();
    said.rewind()?;
    said.take(SAID_BYTES_MAX).read_to_end(&mut first)?;
    Ok(Outcome {
        ended,
        out: written,
        said: String::from_utf8_lossy(&first).into_owned(),
    })
}

fn in_memory(name: &std::ffi::CStr) -> io::Result<File> {
    Ok(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?.into())
}

/// Whole seconds that are not fewer.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// Waits for a child, and ends it and what it has started when its time is over.
fn wait(child: &mut Child, limit: Option<&Limit>) -> io::Result<Ended> {
    let start = Instant::now();
    let group = Pid::from_child(child);
    // Linux before 5.3 has none, and some sandboxes refuse it.
    let over = pidfd_open(group, PidfdFlags::empty()).ok();
    let is_late = loop {
        if has_ended(group)? {
            break false;
        }
        let left = limit.map(|limit| limit.wall.saturating_sub(start.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            break true;
        }
        sleep_until(over.as_ref(), left)?;
    };
    // Not waited for yet, it keeps its number, which is the group's.
    match kill_process_group(group, Signal::KILL) {
        Ok(()) | Err(Errno::SRCH | Errno::PERM) => {}
        Err(error) => return Err(error.into()),
    }
    let status = child.wait()?;
    Ok(match limit {
        Some(limit) if is_late => Ended::Late(limit.wall),
        Some(limit) if status.signal() == Some(Signal::XCPU.as_raw()) => Ended::Late(limit.cpu),
        _ => Ended::With(status),
    })
}

/// Sleeps until a child is over or a time is; for less where the child cannot be watched.
fn sleep_until(over: Option<&OwnedFd>, left: Option<Duration>) -> io::Result<()> {
    let Some(over) = over else {
        std::thread::sleep(left.map_or(LOOK, |left| left.min(LOOK)));
        return Ok(());
    };
    let left = left.and_then(|left| left.try_into().ok());
    match poll(&mut [PollFd::new(over, PollFlags::IN)], left.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn has_ended(pid: Pid) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(pid), options) {
            Ok(status) => return Ok(status.is_some()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
