//! A child and all that comes of it: started in one way, and ended in one way.
//!
//! ```text
//!   fathom ──▶ child ──▶ its children      the child's process group
//!                 │          └──▶ …        (one signal reaches them all)
//!                 └──▶ who left the group  the mark in their environment
//! ```
//!
//! What must stay true: when a [`Family`] has ended (by [`Family::end`], or because it was
//! dropped), the child has been reaped and nothing that it started is running. Its process
//! group is killed, and then every process that carries its mark, so that leaving the group
//! is no escape.

use std::{
    io,
    os::fd::{BorrowedFd, OwnedFd},
    process::{Child, Command},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use fathom_sys::{
    marked::Mark,
    spawn::spawn_in_group,
    usage::{Ended, Usage, wait_with_usage},
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
    },
};

/// How often cancellation is looked at.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// How a child came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, or by a signal that was not ours.
    Own(Ended),
    /// It was killed: its time was up.
    TimedOut,
    /// It was killed: the user wants to stop.
    Cancelled,
    /// It was killed: it wrote more events than any runner should.
    Flooded,
}

/// A running child with all that it starts.
#[derive(Debug)]
pub struct Family {
    child: Child,
    /// Ends what has left the group, after the child.
    _mark: Mark,
    is_over: bool,
}

impl Family {
    /// Starts a command, with `extra` open in it as [`EXTRA_FD`].
    ///
    /// It is killed when the *thread* which called this ends, however that happens.
    ///
    /// # Errors
    /// It cannot be started.
    ///
    /// [`EXTRA_FD`]: fathom_sys::spawn::EXTRA_FD
    pub fn start(command: &mut Command, extra: Option<BorrowedFd<'_>>) -> io::Result<Family> {
        let mark = Mark::on(command);
        Ok(Family {
            child: spawn_in_group(command, extra)?,
            _mark: mark,
            is_over: false,
        })
    }

    /// The child's number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The child, for its streams.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// A descriptor that can be read when the child is over.
    pub(crate) fn pidfd(&self) -> io::Result<OwnedFd> {
        Ok(pidfd_open(
            Pid::from_child(&self.child),
            PidfdFlags::empty(),
        )?)
    }

    /// How the child ended, if it has; it is not reaped.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn ended(&self) -> io::Result<Option<Ended>> {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let seen = waitid(WaitId::Pid(Pid::from_child(&self.child)), look)?;
        Ok(seen.and_then(|seen| {
            let signal = seen.terminating_signal().map(Ended::Signalled);
            seen.exit_status().map(Ended::Exited).or(signal)
        }))
    }

    /// Waits until the child is over (`None`), its time is up or the user wants to stop.
    fn wait(&self, limit: Duration, stop: &AtomicBool) -> io::Result<Option<End>> {
        let deadline = Instant::now() + limit;
        let pidfd = self.pidfd()?;
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(Some(End::Cancelled));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Some(End::TimedOut));
            }
            let left = left.min(TICK);
            let limit = Timespec {
                tv_sec: 0,
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            let mut over = [PollFd::new(&pidfd, PollFlags::IN)];
            match poll(&mut over, Some(&limit)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Ends all of it: what the child was, and what it used with the children it waited for.
    ///
    /// # Errors
    /// The child cannot be waited for; everything is ended all the same.
    pub fn end(mut self) -> io::Result<(Ended, Usage)> {
        self.kill()
    }

    fn kill(&mut self) -> io::Result<(Ended, Usage)> {
        self.is_over = true;
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        wait_with_usage(self.child.id())
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = self.kill();
        }
    }
}

/// Runs a command, whose streams are as it says, to its end or to the limit's.
///
/// # Errors
/// When the child cannot be started or watched. What the child does is never an error
/// here: see [`End`].
pub fn run(command: &mut Command, limit: Duration, stop: &AtomicBool) -> io::Result<End> {
    let family = Family::start(command, None)?;
    let waited = family.wait(limit, stop);
    let reaped = family.end();
    Ok(match waited? {
        Some(end) => end,
        None => End::Own(reaped?.0),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_child_is_looked_at_before_it_is_reaped() {
        let family = Family::start(&mut shell("exit 3"), None).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while family.ended().unwrap().is_none() {
            assert!(Instant::now() < deadline);
        }
        assert_eq!(family.ended().unwrap(), Some(Ended::Exited(3)));
        assert_eq!(family.end().unwrap().0, Ended::Exited(3));
    }

    #[test]
    fn nobody_outlives_a_family_that_is_dropped_or_over_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let pids = folder.path().join("pids");
        let both = "sleep 300 & echo $! >> PIDS; setsid sleep 300 & echo $! >> PIDS; ";
        let both = both.replace("PIDS", &pids.display().to_string());
        let mut waits = shell(&format!("{both} wait"));
        let end = run(
            &mut waits,
            Duration::from_millis(500),
            &AtomicBool::new(false),
        );
        assert_eq!(end.unwrap(), End::TimedOut);
        let dropped = Family::start(&mut shell(&format!("{both} wait")), None).unwrap();
        let written = || fs::read_to_string(&pids).unwrap_or_default();
        let deadline = Instant::now() + Duration::from_secs(20);
        while written().lines().count() < 4 {
            assert!(Instant::now() < deadline, "{}", written());
        }
        drop(dropped);
        let runs = |pid: &str| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
            stat.is_ok_and(|stat| !stat.contains(") Z "))
        };
        while written().lines().any(runs) {
            assert!(Instant::now() < deadline, "still running: {}", written());
        }
    }
}
