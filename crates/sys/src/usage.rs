//! What a thread, a process and the whole machine have used: processor time,
//! page faults, context switches, memory.
//!
//! Three sources, kept apart because they count different things:
//! [`Usage`] is `getrusage(2)` and `wait4(2)`; [`MemoryUse`] is
//! `/proc/PID/status`; [`CpuTimes`] is `/proc/stat`, with the utilisation
//! formula of "Leaps and bounds", section 4.2.1.
#![allow(unsafe_code)]

use std::{fmt, fs, io, mem::MaybeUninit, os::unix::process::ExitStatusExt, process::ExitStatus};

use rustix::time::{ClockId, clock_gettime};

/// Processor time the calling thread has used, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    clock_ns(ClockId::ThreadCPUTime)
}

/// Processor time all threads of this process have used, in nanoseconds.
pub fn process_cpu_ns() -> u64 {
    clock_ns(ClockId::ProcessCPUTime)
}

fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // Processor clocks start at zero and never run backwards.
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// What `getrusage(2)` knows about a thread, a process or its dead children.
///
/// Without `ru_maxrss`: it is of the process, not of the program. It survives `execve(2)`,
/// so a small program has the peak of whoever started it. [`MemoryUse`] is the program's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time in user mode, nanoseconds (microsecond resolution).
    pub user_ns: u64,
    /// Processor time in the kernel, nanoseconds (microsecond resolution).
    pub system_ns: u64,
    /// Page faults served without I/O.
    pub faults_minor: u64,
    /// Page faults that waited for I/O.
    pub faults_major: u64,
    /// Times the processor was given up because something was not ready.
    pub ctx_voluntary: u64,
    /// Times the processor was taken away.
    pub ctx_involuntary: u64,
}

impl Usage {
    /// The whole process, all threads, living and ended.
    ///
    /// # Errors
    /// What `getrusage(2)` reports; none is known for this argument.
    pub fn of_process() -> io::Result<Self> {
        Self::get(libc::RUSAGE_SELF)
    }

    /// The calling thread alone.
    ///
    /// # Errors
    /// What `getrusage(2)` reports; none is known for this argument.
    pub fn of_thread() -> io::Result<Self> {
        Self::get(libc::RUSAGE_THREAD)
    }

    fn get(who: libc::c_int) -> io::Result<Self> {
        let mut raw = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: `raw` is writable and as large as the kernel's structure;
        // all-zero bytes are a valid `rusage`.
        let raw = unsafe {
            if libc::getrusage(who, raw.as_mut_ptr()) != 0 {
                return Err(io::Error::last_os_error());
            }
            raw.assume_init()
        };
        Ok(Self::from_raw(&raw))
    }

    fn from_raw(raw: &libc::rusage) -> Self {
        let ns = |time: libc::timeval| {
            u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
                + u64::try_from(time.tv_usec).unwrap_or(0) * 1_000
        };
        let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
        Self {
            user_ns: ns(raw.ru_utime),
            system_ns: ns(raw.ru_stime),
            faults_minor: count(raw.ru_minflt),
            faults_major: count(raw.ru_majflt),
            ctx_voluntary: count(raw.ru_nvcsw),
            ctx_involuntary: count(raw.ru_nivcsw),
        }
    }

    /// What was used between an earlier reading and this one.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            faults_minor: self.faults_minor.saturating_sub(earlier.faults_minor),
            faults_major: self.faults_major.saturating_sub(earlier.faults_major),
            ctx_voluntary: self.ctx_voluntary.saturating_sub(earlier.ctx_voluntary),
            ctx_involuntary: self.ctx_involuntary.saturating_sub(earlier.ctx_involuntary),
        }
    }

    /// Processor time in both modes, nanoseconds.
    #[must_use]
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It exited with this status.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
}

impl Ended {
    /// As a shell has it: 128 and its number for a signal.
    pub fn status(self) -> i32 {
        match self {
            Ended::Exited(status) => status,
            Ended::Signalled(signal) => 128 + signal,
        }
    }
}

impl From<ExitStatus> for Ended {
    fn from(status: ExitStatus) -> Self {
        ended(status.into_raw())
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Exited(status) => write!(out, "exit status {status}"),
            Ended::Signalled(signal) => write!(out, "signal {signal}"),
        }
    }
}

/// Waits for a child and reports what it used. It must not have been waited
/// for yet (in particular not by [`std::process::Child::wait`]).
///
/// # Errors
/// `ECHILD` when it is no child of ours or was waited for before.
pub fn wait_with_usage(pid: u32) -> io::Result<(Ended, Usage)> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut status = 0;
    let mut raw = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both out-pointers are valid for writes of their types.
        let got = unsafe { libc::wait4(pid, &mut status, 0, raw.as_mut_ptr()) };
        if got == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: all-zero bytes are a valid `rusage`, and the kernel filled it.
    let raw = unsafe { raw.assume_init() };
    let usage = Usage::from_raw(&raw);
    Ok((ended(status), usage))
}

fn ended(status: libc::c_int) -> Ended {
    if libc::WIFSIGNALED(status) {
        Ended::Signalled(libc::WTERMSIG(status))
    } else {
        Ended::Exited(libc::WEXITSTATUS(status))
    }
}

/// As [`wait_with_usage`], for a child of [`spawn_traced`] by the same thread, with the
/// memory that its program had used when it ended: the kernel stops the child in front of
/// its end (`PTRACE_O_TRACEEXIT`, ptrace(2)), where its `/proc/PID/status` can still be
/// read. Nothing is known where tracing is not allowed.
///
/// The child runs at its own speed but for its signals and its end, each of which costs a
/// switch to us and back.
///
/// # Errors
/// As [`wait_with_usage`].
///
/// [`spawn_traced`]: crate::spawn::spawn_traced
pub fn wait_with_memory(pid: u32) -> io::Result<(Ended, Usage, MemoryUse)> {
    let child = libc::pid_t::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
    let trace = |request, data: libc::c_int| {
        // SAFETY: none of the requests made here writes to our memory; `data` is a number.
        // What a child that was killed meanwhile answers is seen in the next turn.
        let _ = unsafe { libc::ptrace(request, child, 0_usize, data as usize) };
    };
    let mut memory = MemoryUse::default();
    let mut has_begun = false;
    loop {
        let mut status = 0;
        let mut raw = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: both out-pointers are valid for writes of their types.
        let got = unsafe { libc::wait4(child, &mut status, libc::__WALL, raw.as_mut_ptr()) };
        if got != child {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            return Err(error);
        }
        if !libc::WIFSTOPPED(status) {
            // SAFETY: all-zero bytes are a valid `rusage`, and the kernel filled it.
            let usage = Usage::from_raw(&unsafe { raw.assume_init() });
            return Ok((ended(status), usage, memory));
        }
        let signal = match status >> 16 {
            // It became another program once more: nothing that it need know.
            libc::PTRACE_EVENT_EXEC => 0,
            libc::PTRACE_EVENT_EXIT => {
                memory = MemoryUse::of(pid).unwrap_or_default();
                0
            }
            // The new program's first instruction.
            _ if !has_begun => {
                has_begun = true;
                let options = libc::PTRACE_O_TRACEEXIT | libc::PTRACE_O_TRACEEXEC;
                trace(libc::PTRACE_SETOPTIONS, options);
                0
            }
            _ => libc::WSTOPSIG(status),
        };
        trace(libc::PTRACE_CONT, signal);
    }
}

/// Address space and resident memory of this process, from `/proc/self/status`
/// (`proc_pid_status(5)`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Largest address space so far (`VmPeak`), bytes.
    pub virtual_peak_bytes: Option<u64>,
    /// Largest resident set so far (`VmHWM`), bytes.
    pub rss_peak_bytes: Option<u64>,
}

impl MemoryUse {
    /// Reads this process's figures.
    ///
    /// # Errors
    /// When `/proc` is not mounted or not readable.
    pub fn of_process() -> io::Result<Self> {
        Ok(Self::parse(&fs::read_to_string("/proc/self/status")?))
    }

    /// Reads those of another process.
    ///
    /// # Errors
    /// When it is not there any more.
    pub fn of(pid: u32) -> io::Result<Self> {
        Ok(Self::parse(&fs::read_to_string(format!(
            "/proc/{pid}/status"
        ))?))
    }

    fn parse(status: &str) -> Self {
        let bytes = |key: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(key))
                .and_then(|rest| rest.trim().strip_suffix("kB"))
                .and_then(|number| number.trim().parse::<u64>().ok())
                .map(|kib| kib * 1024)
        };
        Self {
            virtual_peak_bytes: bytes("VmPeak:"),
            rss_peak_bytes: bytes("VmHWM:"),
        }
    }
}

/// Processor time since the machine started, by processor (`proc_stat(5)`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    all: CpuShare,
    each: Vec<(usize, CpuShare)>,
}

/// How processors spent a stretch of time, milliseconds summed over them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuShare {
    /// User mode, "nice" included.
    pub user_ms: u64,
    /// Kernel mode.
    pub system_ms: u64,
    /// Nothing to do.
    pub idle_ms: u64,
    /// Serving interrupts.
    pub hard_irq_ms: u64,
    /// Serving soft interrupts.
    pub soft_irq_ms: u64,
    /// Something could have run, but the hypervisor ran something else.
    pub steal_ms: u64,
}

impl CpuTimes {
    /// Reads the machine's totals.
    ///
    /// # Errors
    /// When `/proc/stat` is not readable or has no line we know.
    pub fn read() -> io::Result<Self> {
        let ticks_per_s = rustix::param::clock_ticks_per_second().max(1);
        Self::parse(&fs::read_to_string("/proc/stat")?, ticks_per_s)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/stat has no cpu line"))
    }

    fn parse(stat: &str, ticks_per_s: u64) -> Option<Self> {
        let mut times = Self::default();
        let mut has_total = false;
        for line in stat.lines() {
            let Some((name, rest)) = line.strip_prefix("cpu").and_then(|l| l.split_once(' '))
            else {
                continue;
            };
            let share = CpuShare::parse(rest, ticks_per_s)?;
            if name.is_empty() {
                times.all = share;
                has_total = true;
            } else if let Ok(cpu) = name.parse() {
                times.each.push((cpu, share));
            }
        }
        has_total.then_some(times)
    }

    /// What went by since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |cpu| earlier.of(&[cpu]).unwrap_or_default();
        Self {
            all: self.all.since(&earlier.all),
            each: self
                .each
                .iter()
                .map(|(cpu, share)| (*cpu, share.since(&before(*cpu))))
                .collect(),
        }
    }

    /// Processors that are listed.
    pub fn count(&self) -> usize {
        self.each.len()
    }

    /// All processors together.
    pub fn all(&self) -> CpuShare {
        self.all
    }

    /// Some processors together; none if one of them is not listed.
    pub fn of(&self, cpus: &[usize]) -> Option<CpuShare> {
        let find = |wanted: &usize| self.each.iter().find(|(cpu, _)| cpu == wanted);
        cpus.iter().try_fold(CpuShare::default(), |sum, cpu| {
            Some(sum.plus(&find(cpu)?.1))
        })
    }
}

impl CpuShare {
    fn parse(fields: &str, ticks_per_s: u64) -> Option<Self> {
        let fields: Vec<u64> = fields
            .split_whitespace()
            .map_while(|field| field.parse::<u64>().ok())
            .map(|ticks| ticks.saturating_mul(1000) / ticks_per_s)
            .collect();
        let [
            user,
            nice,
            system,
            idle,
            _iowait,
            hard_irq,
            soft_irq,
            rest @ ..,
        ] = &fields[..]
        else {
            return None;
        };
        Some(Self {
            user_ms: user + nice,
            system_ms: *system,
            idle_ms: *idle,
            hard_irq_ms: *hard_irq,
            soft_irq_ms: *soft_irq,
            steal_ms: rest.first().copied().unwrap_or(0),
        })
    }

    fn combine(&self, other: &Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            user_ms: with(self.user_ms, other.user_ms),
            system_ms: with(self.system_ms, other.system_ms),
            idle_ms: with(self.idle_ms, other.idle_ms),
            hard_irq_ms: with(self.hard_irq_ms, other.hard_irq_ms),
            soft_irq_ms: with(self.soft_irq_ms, other.soft_irq_ms),
            steal_ms: with(self.steal_ms, other.steal_ms),
        }
    }

    fn since(&self, earlier: &Self) -> Self {
        self.combine(earlier, u64::saturating_sub)
    }

    fn plus(&self, other: &Self) -> Self {
        self.combine(other, u64::saturating_add)
    }

    /// Share of the time in use, in 0..=1: `(us + sys + hi + si) / (us + sys +
    /// hi + si + id)`, formula (1) of the paper. None when no time went by.
    #[must_use]
    pub fn busy(&self) -> Option<f64> {
        let used = self.user_ms + self.system_ms + self.hard_irq_ms + self.soft_irq_ms;
        let all = used + self.idle_ms;
        (all > 0).then(|| used as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_time_advances_with_work_and_not_with_sleep() {
        let before = thread_cpu_ns();
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(thread_cpu_ns() - before < 15_000_000);
        let mut x = 1_u64;
        while thread_cpu_ns() - before < 2_000_000 {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        assert!(process_cpu_ns() >= 2_000_000);
    }

    #[test]
    fn touching_memory_is_counted() {
        let before = Usage::of_thread().unwrap();
        let touched = std::hint::black_box(vec![1_u8; 16 << 20]);
        let used = Usage::of_thread().unwrap().since(&before);
        assert!(used.faults_minor > 0);
        drop(touched);
    }

    #[test]
    #[expect(clippy::zombie_processes, reason = "reaped by the function under test")]
    fn a_child_is_reaped_with_its_status_and_its_cost() {
        let child = std::process::Command::new("sh")
            .args(["-c", "exit 3"])
            .spawn()
            .unwrap();
        let (ended, usage) = wait_with_usage(child.id()).unwrap();
        assert_eq!(ended, Ended::Exited(3));
        assert!(usage.faults_minor > 0);
        assert!(wait_with_usage(child.id()).is_err(), "reaped twice");
    }

    #[test]
    #[expect(clippy::zombie_processes, reason = "reaped by the function under test")]
    fn a_childs_memory_is_its_own_and_not_that_of_who_started_it() {
        let ours = std::hint::black_box(vec![1_u8; 64 << 20]);
        for (script, expected) in [
            ("exit 3", Ended::Exited(3)),
            // Its own signals reach it.
            (
                "trap 'exit 5' USR1; kill -USR1 $$; exit 1",
                Ended::Exited(5),
            ),
            ("kill -TERM $$", Ended::Signalled(15)),
            // A script that becomes another program, twice.
            ("exec sh -c 'exec sh -c \"exit 7\"'", Ended::Exited(7)),
        ] {
            let mut command = std::process::Command::new("sh");
            let child = crate::spawn::spawn_traced(command.args(["-c", script])).unwrap();
            let (ended, _, memory) = wait_with_memory(child.id()).unwrap();
            assert_eq!(ended, expected, "{script}");
            let peak = memory.rss_peak_bytes.expect("children can be traced");
            assert!((64 << 10..16 << 20).contains(&peak), "{script}: {peak}");
        }
        drop(ours);
    }

    #[test]
    fn status_is_read_in_bytes() {
        let parsed = MemoryUse::parse("Name:\tx\nVmPeak:\t    12 kB\nVmHWM:\t 3 kB\n");
        assert_eq!(parsed.virtual_peak_bytes, Some(12 * 1024));
        assert_eq!(parsed.rss_peak_bytes, Some(3 * 1024));
        assert_eq!(MemoryUse::parse("VmPeak: twelve"), MemoryUse::default());
    }

    #[test]
    fn utilisation_is_the_papers_formula() {
        let a =
            CpuTimes::parse("cpu  10 0 10 100 7 0 0 0 0 0\ncpu0 1 0 0 0 0 0 0\n", 1000).unwrap();
        let later = "cpu  20 10 20 150 9 5 5 3 0 0\ncpu0 3 0 0 2 0 0 0\nintr 5\n";
        let spent = CpuTimes::parse(later, 1000).unwrap().since(&a);
        assert_eq!(spent.all().busy(), Some(40.0 / 90.0));
        assert_eq!(spent.all().steal_ms, 3);
        assert_eq!(spent.of(&[0]).unwrap().busy(), Some(0.5));
        assert_eq!(spent.of(&[1]), None);
        assert_eq!(a.since(&a).all().busy(), None);
        assert_eq!(a.count(), 1);
        assert!(CpuTimes::parse("cpu 1 2", 100).is_none());
        assert!(CpuTimes::read().unwrap().of(&[0]).is_some());
    }
}
