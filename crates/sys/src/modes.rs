//! Processor time of a thread or a process that goes on running, in user mode and in the
//! kernel, read by another thread at any moment.
//!
//! ```text
//!  CpuClock ─ read ─▶ CpuReading ─┐
//!           ─ read ─▶ CpuReading ─┴ since ─▶ ByMode { user_ns, system_ns }
//! ```
//!
//! `getrusage(2)` knows the calling thread, the whole process and children that have ended;
//! `/proc/PID/stat` knows others in hundredths of a second. The processor clocks of
//! `clock_getcpuclockid(3)` know anybody, in nanoseconds. Each has three: what the scheduler
//! has counted, and what was sampled at the clock's ticks in user mode and in both.
//!
//! What must stay true: a sum is the scheduler's, which is exact; only how it is split is
//! sampled, as `getrusage(2)` splits it, on kernels that count ticks.
#![allow(unsafe_code)]

use std::{io, mem::MaybeUninit};

/// The processor clock of a thread or a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuClock {
    /// The clock's number but for its kind (`posix-timers_types.h` of Linux).
    base: libc::clockid_t,
}

/// Kinds of processor clocks: user mode and kernel by ticks, user mode by ticks, and both as
/// the scheduler counts.
const BOTH: libc::clockid_t = 0;
const USER: libc::clockid_t = 1;
const SCHEDULED: libc::clockid_t = 2;
/// A thread's clock, not a process's.
const OF_THREAD: libc::clockid_t = 4;

/// What a clock showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuReading {
    scheduled_ns: u64,
    both_ns: u64,
    user_ns: u64,
}

/// Processor time by mode, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByMode {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
}

impl CpuClock {
    /// Of the calling thread; any thread of this process can read it while that lives.
    pub fn of_this_thread() -> CpuClock {
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        CpuClock {
            base: numbered(thread) | OF_THREAD,
        }
    }

    /// Of all threads of a process, until somebody has waited for its end.
    ///
    /// # Errors
    /// A number that no process can have.
    pub fn of_process(pid: u32) -> io::Result<CpuClock> {
        let pid = libc::pid_t::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
        Ok(CpuClock {
            base: numbered(pid),
        })
    }

    /// What it shows.
    ///
    /// # Errors
    /// It has ended.
    pub fn read(self) -> io::Result<CpuReading> {
        Ok(CpuReading {
            scheduled_ns: nanoseconds(self.base | SCHEDULED)?,
            both_ns: nanoseconds(self.base | BOTH)?,
            user_ns: nanoseconds(self.base | USER)?,
        })
    }
}

/// The part of a clock's number that says whose it is: its complement, so that all of them are
/// negative and no other clock's.
fn numbered(id: libc::pid_t) -> libc::clockid_t {
    !id << 3
}

fn nanoseconds(clock: libc::clockid_t) -> io::Result<u64> {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: `time` is writable and as large as the kernel's structure; all-zero bytes are a
    // valid `timespec`. A clock that is not there is an error.
    let time = unsafe {
        if libc::clock_gettime(clock, time.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        time.assume_init()
    };
    // Processor clocks start at zero and never run backwards.
    Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

impl CpuReading {
    /// What went by since an earlier reading; nothing where no tick of the clock fell into it,
    /// so that nobody knows which mode it was.
    pub fn since(&self, earlier: &CpuReading) -> Option<ByMode> {
        let all = self.scheduled_ns.saturating_sub(earlier.scheduled_ns);
        let both = self.both_ns.saturating_sub(earlier.both_ns);
        let user = self.user_ns.saturating_sub(earlier.user_ns).min(both);
        if both == 0 {
            return None;
        }
        let user = u128::from(all) * u128::from(user) / u128::from(both);
        // No more than all of it.
        let user_ns = u64::try_from(user).unwrap_or(all);
        Some(ByMode {
            user_ns,
            system_ns: all - user_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{
        hint::black_box,
        process::{Command, Stdio},
        sync::mpsc,
        thread,
        time::Duration,
    };

    use super::*;
    use crate::usage::thread_cpu_ns;

    fn spin_for(ns: u64) {
        let start = thread_cpu_ns();
        let mut x = 1_u64;
        while thread_cpu_ns() - start < ns {
            for _ in 0..1000 {
                x = black_box(x.wrapping_mul(3));
            }
        }
    }

    #[test]
    fn what_was_scheduled_is_split_as_ticks_were() {
        let reading = |scheduled_ns, both_ns, user_ns| CpuReading {
            scheduled_ns,
            both_ns,
            user_ns,
        };
        let start = reading(1000, 400, 300);
        let by_mode = |user_ns, system_ns| Some(ByMode { user_ns, system_ns });
        assert_eq!(reading(2000, 800, 400).since(&start), by_mode(250, 750));
        assert_eq!(reading(2001, 800, 300).since(&start), by_mode(0, 1001));
        assert_eq!(reading(2000, 400, 300).since(&start), None, "no tick");
        let long = reading(1 << 62, 1 << 62, 1 << 62);
        assert_eq!(long.since(&reading(0, 0, 0)), by_mode(1 << 62, 0));
    }

    #[test]
    fn another_thread_is_read_while_it_runs() {
        let (told, clock) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let busy = thread::spawn(move || {
            told.send(CpuClock::of_this_thread()).unwrap();
            spin_for(100_000_000);
            told.send(CpuClock::of_this_thread()).unwrap();
            ended.recv().ok();
        });
        let clock_of = clock.recv().unwrap();
        let start = clock_of.read().unwrap();
        clock.recv().unwrap();
        let used = clock_of.read().unwrap().since(&start).unwrap();
        assert!(used.user_ns + used.system_ns > 90_000_000, "{used:?}");
        assert!(used.user_ns > used.system_ns, "{used:?}");
        drop(end);
        busy.join().unwrap();
        assert!(clock_of.read().is_err(), "nobody is there");
    }

    #[test]
    fn a_process_is_read_until_it_was_waited_for() {
        let mut child = Command::new("/bin/sh")
            .args(["-c", "read x"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let clock = CpuClock::of_process(child.id()).unwrap();
        let start = clock.read().unwrap();
        thread::sleep(Duration::from_millis(50));
        let used = clock.read().unwrap().scheduled_ns - start.scheduled_ns;
        // It waits, whatever we do; it may not have begun to.
        assert!(used < 50_000_000, "{used}");
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(clock.read().is_err());
        assert!(CpuClock::of_process(u32::MAX).is_err());
    }
}
