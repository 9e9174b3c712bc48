//! Processes that come of one command, found by a mark in their environment.
//!
//! A process group is left by `setsid(2)`, and a parent is lost when it ends; the environment
//! that a process began with stays. What must stay true: a child whose environment is made anew
//! is given the mark too ([`pass_on`]); no two marks of a machine are the same; nothing that carries
//! a mark outlives its [`Mark`].

use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// Carries the mark.
const MARK_ENV: &str = "FATHOM_CHILD";
/// How long killed leftovers are waited for.
const SWEEP_MAX: Duration = Duration::from_secs(2);

/// The mark of a command and of what comes of it, which is ended when this is dropped.
#[derive(Debug)]
pub struct Mark(String);

impl Mark {
    /// Marks a command that is not yet started.
    pub fn on(command: &mut Command) -> Self {
        let mark = Self::fresh();
        command.env(MARK_ENV, &mark.0);
        mark
    }

    /// Of one length, so that stacks begin where they do whoever is started.
    fn fresh() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let since_epoch = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        Self(format!(
            "{:08x}-{:016x}-{:032x}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed),
            since_epoch.as_nanos()
        ))
    }

    /// Kills what carries the mark until nothing does.
    fn sweep(&self) {
        let started = Instant::now();
        loop {
            let marked = self.processes();
            if marked.is_empty() || started.elapsed() > SWEEP_MAX {
                return;
            }
            for pid in marked {
                let _ = kill_process(pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn processes(&self) -> Vec<Pid> {
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let numbered = |name: &OsStr| {
            std::str::from_utf8(name.as_bytes())
                .ok()?
                .parse::<i32>()
                .ok()
        };
        entries
            .flatten()
            .filter_map(|entry| Pid::from_raw(numbered(&entry.file_name())?))
            .filter(|pid| {
                // The dead have no environment, and other users' is not readable.
                fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero()))
                    .is_ok_and(|environ| self.is_in(&environ))
            })
            .collect()
    }

    fn is_in(&self, environ: &[u8]) -> bool {
        environ.split(|&byte| byte == 0).any(|entry| {
            let value = entry
                .strip_prefix(MARK_ENV.as_bytes())
                .and_then(|rest| rest.strip_prefix(b"="));
            value == Some(self.0.as_bytes())
        })
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.sweep();
    }
}

/// Gives the mark of this process, where it has one, to a command whose environment was
/// made anew: its children are found by it.
pub fn pass_on(command: &mut Command) {
    if let Some(mark) = std::env::var_os(MARK_ENV) {
        command.env(MARK_ENV, mark);
    }
}
