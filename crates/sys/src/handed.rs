//! Signals that end a program, handed on to the one that this process runs and waits for.
//!
//! ```text
//!  Ctrl-C on a terminal   the kernel tells all of its programs: nobody hands it on
//!  kill(2)                ─▶ this process ─▶ its program; a second time it is killed
//! ```
//!
//! What must stay true: what was ignored when this process began stays ignored, here and in
//! what it runs; a signal that comes before there is a program is handed on when there is
//! one; what the program has started ends with it.

use std::io;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use crate::marked::Mark;
use crate::spawn::ends_with_us;
use crate::usage::{Ended, Usage, wait_with_usage};

/// How often somebody who may not wait for ever looks whether a program has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

const SIGNALS: [libc::c_int; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];
/// `si_code` of a signal that the kernel sends by itself, as a terminal does.
const SI_KERNEL: libc::c_int = 0x80;

/// Who is told; 0 while there is nobody.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// The last signal that came; 0 before the first.
static LAST: AtomicI32 = AtomicI32::new(0);
/// Whether one came at all.
static IS_TOLD: AtomicBool = AtomicBool::new(false);
/// Whether one was sent by a process.
static IS_SENT: AtomicBool = AtomicBool::new(false);

/// From here on these signals do not end this process; those that it ignores stay ignored.
///
/// # Errors
/// What `sigaction(2)` says.
pub fn listen() -> io::Result<()> {
    for signal in SIGNALS {
        // SAFETY: actions of zeroes are actions; the handler takes what SA_SIGINFO gives, and
        // calls nothing but kill(2).
        let done = unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut before);
            if before.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = heard as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
            libc::sigaction(signal, &action, std::ptr::null_mut())
        };
        if done != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Whether a signal came.
pub fn is_told() -> &'static AtomicBool {
    &IS_TOLD
}

/// The last signal that came.
pub fn last() -> Option<i32> {
    match LAST.load(Ordering::SeqCst) {
        0 => None,
        signal => Some(signal),
    }
}

/// A program that this process runs and waits for: it gets our signals, ends with the thread
/// that started it, and leaves nothing that it started.
#[must_use = "it is to be waited for"]
pub struct Running {
    child: Child,
    start: Instant,
    _told: Told,
    mark: Mark,
}

/// Signals are handed on while this is there.
struct Told;

impl Drop for Told {
    fn drop(&mut self) {
        PROGRAM.store(0, Ordering::SeqCst);
    }
}

/// A program that has ended.
#[derive(Debug)]
pub struct Run {
    /// How it ended.
    pub ended: Ended,
    /// What it used, with all that it started and waited for.
    pub usage: Usage,
    /// Nanoseconds from its start.
    pub wall_ns: u64,
    /// What it has left, until this is dropped.
    pub left: Mark,
}

impl Running {
    /// Starts a program. From here on signals do not end this process.
    ///
    /// # Errors
    /// What [`listen`] and [`Command::spawn`] report.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        listen()?;
        let mark = Mark::on(command);
        let start = Instant::now();
        let child = ends_with_us(command).spawn()?;
        PROGRAM.store(child.id().cast_signed(), Ordering::SeqCst);
        if let Some(signal) = last() {
            send(signal);
        }
        Ok(Self {
            child,
            start,
            _told: Told,
            mark,
        })
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// What `wait4(2)` says.
    pub fn wait(self) -> io::Result<Run> {
        let (ended, usage) = wait_with_usage(self.child.id())?;
        Ok(Run {
            ended,
            usage,
            wall_ns: u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX),
            left: self.mark,
        })
    }

    /// Waits for its end, and kills it where it goes on for so long after a signal; what is given
    /// is told of both.
    ///
    /// # Errors
    /// What `wait4(2)` says.
    pub fn wait_or_kill(
        mut self,
        patience: Duration,
        mut tell: impl FnMut(Waiting),
    ) -> io::Result<Ended> {
        let (began, mut told) = (Instant::now(), None);
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status.into());
            }
            if last().is_some() && told.get_or_insert_with(Instant::now).elapsed() > patience {
                tell(Waiting::IsKilled);
                self.child.kill()?;
                return self.child.wait().map(Ended::from);
            }
            tell(Waiting::Runs(began.elapsed()));
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

/// What a program does that is waited for.
#[derive(Clone, Copy, Debug)]
pub enum Waiting {
    /// It runs, and has for so long. Told every few milliseconds.
    Runs(Duration),
    /// It went on after a signal, and is killed now.
    IsKilled,
}

fn send(signal: libc::c_int) {
    let pid = PROGRAM.load(Ordering::SeqCst);
    if pid > 0 {
        // SAFETY: kill(2) may be called anywhere (signal-safety(7)).
        unsafe { libc::kill(pid, signal) };
    }
}

extern "C" fn heard(signal: libc::c_int, info: *const libc::siginfo_t, _: *const libc::c_void) {
    // SAFETY: errno is this thread's own; the kernel gives what SA_SIGINFO asks for.
    let (errno, code) = unsafe { (*libc::__errno_location(), (*info).si_code) };
    LAST.store(signal, Ordering::SeqCst);
    IS_TOLD.store(true, Ordering::SeqCst);
    if code != SI_KERNEL {
        let again = IS_SENT.swap(true, Ordering::SeqCst);
        send(if again { libc::SIGKILL } else { signal });
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_program_started_is_left() {
        let left = std::env::temp_dir().join(format!("fathom-left-{}", std::process::id()));
        let script = "exec >/dev/null 2>&1; sleep 300 & echo $! >> LEFT; setsid sleep 300 & echo $! >> LEFT; exit 4";
        let script = script.replace("LEFT", &left.display().to_string());
        let mut command = Command::new("sh");
        let run = Running::start(command.args(["-c", &script])).unwrap();
        assert_eq!(run.wait().unwrap().ended, Ended::Exited(4));
        let pids = std::fs::read_to_string(&left).unwrap();
        std::fs::remove_file(&left).unwrap();
        assert_eq!(pids.lines().count(), 2);
        for pid in pids.lines() {
            assert!(crate::watch::has_ended(pid), "{pid}");
        }
    }
}
