//! Processes that come of one command, found by a mark in their environment.
//!
//! A process group is left by `setsid(2)`, and a parent is lost when it ends; the environment
//! that a process began with stays. What must stay true: a child whose environment is made anew
//! is given the mark too ([`pass_on`]); no two marks of a machine are the same; nothing that carries
//! a mark outlives its [`Mark`].

use std::{
    ffi::OsStr,
    fs,
    io::Read as _,
    os::unix::ffi::OsStrExt,
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};

use crate::watch::Stat;

/// Carries the mark.
const MARK_ENV: &str = "FATHOM_CHILD";
/// How long killed leftovers are waited for.
const SWEEP_MAX: Duration = Duration::from_secs(2);
/// The longest environment that is looked at, in bytes: as much as the kernel gives arguments
/// and environment together where the stack's limit is that of most systems (execve(2)).
const ENVIRON_MAX: usize = 2 << 20;

/// The mark of a command and of what comes of it, which is ended when this is dropped.
#[derive(Debug)]
pub struct Mark {
    value: String,
    /// Who carries it began then or later: ticks since the machine did.
    began: u64,
}

impl Mark {
    /// Marks a command that is not yet started.
    pub fn on(command: &mut Command) -> Self {
        let mark = Self::fresh();
        command.env(MARK_ENV, &mark.value);
        mark
    }

    /// Of one length, so that stacks begin where they do whoever is started.
    fn fresh() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let since_epoch = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        let value = format!(
            "{:08x}-{:016x}-{:032x}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed),
            since_epoch.as_nanos()
        );
        let since_boot = Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap_or_default();
        let ticks = since_boot.as_secs_f64() * clock_ticks_per_second() as f64;
        Self {
            value,
            began: ticks as u64,
        }
    }

    /// Kills what carries the mark until nothing does.
    fn sweep(&self) {
        let started = Instant::now();
        loop {
            let (marked, is_unsure) = self.look();
            if (marked.is_empty() && !is_unsure) || started.elapsed() > SWEEP_MAX {
                return;
            }
            for pid in marked {
                let _ = kill_process(pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Who carries the mark, and whether there is somebody of whom it cannot be said yet.
    fn look(&self) -> (Vec<Pid>, bool) {
        let (mut marked, mut is_unsure) = (Vec::new(), false);
        let mut room = vec![0; ENVIRON_MAX];
        let Ok(entries) = fs::read_dir("/proc") else {
            return (marked, is_unsure);
        };
        let numbered = |name: &OsStr| str::from_utf8(name.as_bytes()).ok()?.parse::<i32>().ok();
        for entry in entries.flatten() {
            let Some(pid) = numbered(&entry.file_name()).and_then(Pid::from_raw) else {
                continue;
            };
            // Other users' is not readable; where there is none it is empty or, on newer kernels,
            // there is said to be no such process. It is one read: a second one may be of another
            // program.
            let environ = fs::File::open(entry.path().join("environ"));
            let environ = match environ.and_then(|mut environ| environ.read(&mut room)) {
                Ok(length) => &room[..length],
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => &[],
                Err(_) => continue,
            };
            if self.is_in(environ) {
                marked.push(pid);
            } else if environ.is_empty() {
                let stat = fs::read_to_string(entry.path().join("stat"));
                is_unsure |= stat.is_ok_and(|stat| is_between(&stat, self.began));
            }
        }
        (marked, is_unsure)
    }

    fn is_in(&self, environ: &[u8]) -> bool {
        environ.split(|&byte| byte == 0).any(|entry| {
            let value = entry
                .strip_prefix(MARK_ENV.as_bytes())
                .and_then(|rest| rest.strip_prefix(b"="));
            value == Some(self.value.as_bytes())
        })
    }
}

/// Whether a process that was read without an environment, by its `/proc/PID/stat` (proc(5)), has
/// one again or is about to: it was or is in the middle of an `execve(2)`, or dies. Who began
/// before that tick is not asked about: somebody else's may hang while it dies.
fn is_between(stat: &str, began: u64) -> bool {
    /// `PF_KTHREAD` of the kernel's `linux/sched.h`: a thread of the kernel never has one.
    const IS_OF_THE_KERNEL: u64 = 0x0020_0000;
    let Some(stat) = Stat::parse(stat) else {
        return false;
    };
    let number = |field| stat.number(field);
    // The kernel sets where the code begins after where the environment ends.
    let (flags, code, environ) = (number(9), number(26), (number(50), number(51)));
    let is_later = number(22).is_some_and(|start| start >= began);
    let is_of_the_kernel = flags.is_none_or(|flags| flags & IS_OF_THE_KERNEL != 0);
    let is_empty = code != Some(0) && environ.0 == environ.1;
    is_later && !stat.is_dead() && !is_of_the_kernel && !is_empty
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::has_ended;

    /// Who executes one program after the other is found between two of them.
    #[test]
    fn nobody_gets_by_between_two_programs() {
        let again = "[ $0 = 20000 ] || exec sh -c \"$AGAIN\" $(($0 + 1))";
        for _ in 0..30 {
            let mut command = Command::new("sh");
            let mark = Mark::on(&mut command);
            let script = "sh -c \"$AGAIN\" 1 >/dev/null 2>&1 & echo $!";
            command.env("AGAIN", again).args(["-c", script]);
            let output = command.output().unwrap();
            std::thread::sleep(Duration::from_millis(3));
            drop(mark);
            let pid = String::from_utf8(output.stdout).unwrap();
            assert!(has_ended(pid.trim()), "{pid}");
        }
    }

    #[test]
    fn who_has_no_environment_yet_is_told_from_who_never_has_one() {
        let stat = |state: &str, flags: u64, [code, start, end]: [u64; 3]| {
            let (before, began, after) = ("0 ".repeat(12), "70 0 0 0", "0 ".repeat(23));
            format!(
                "7 (a) b) {state} 1 7 7 0 -1 {flags} {before}{began} {code} {after}{start} {end} 0\n"
            )
        };
        let is = |stat: String| is_between(&stat, 70);
        assert!(is(stat("R", 0x0040_0000, [0, 0, 0])));
        assert!(is(stat("R", 0x0040_0000, [0, 4096, 4096])));
        assert!(is(stat("S", 0x0040_0000, [64, 4000, 4096])));
        assert!(is(stat("R", 4, [0, 0, 0])));
        assert!(!is_between(&stat("R", 4, [0, 0, 0]), 71));
        assert!(!is(stat("S", 0x0020_8040, [0, 0, 0])));
        assert!(!is(stat("Z", 4, [0, 0, 0])));
        assert!(!is(stat("S", 0x0040_0000, [64, 4096, 4096])));
        assert!(!is("7 (cut".to_owned()));
        let mut command = Command::new("sleep");
        let mut bare = command.arg("300").env_clear().spawn().unwrap();
        let path = |name: &str| format!("/proc/{}/{name}", bare.id());
        while fs::read(path("cmdline")).unwrap() != b"sleep\x00300\x00" {}
        let own = fs::read_to_string(path("stat")).unwrap();
        bare.kill().unwrap();
        bare.wait().unwrap();
        assert!(!is_between(&own, 0), "{own}");
    }
}
