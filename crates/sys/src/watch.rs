//! A process and the host's memory as they are at this moment, seen from outside.
//!
//! Totals since a start are in [`crate::usage`]; here is what a parent can read of
//! a child while it runs, without stopping it: `/proc/PID/stat`
//! (proc_pid_stat(5)) and `/proc/meminfo` (proc_meminfo(5)).

use std::{fs, io};

/// What a process has used so far and has now, its threads together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessNow {
    /// Processor time, nanoseconds, in steps of the kernel's tick (10 ms as a
    /// rule), with that of children it has waited for.
    pub cpu_ns: u64,
    /// Page faults of both kinds, with those of children it has waited for.
    pub faults: u64,
    /// Address space, bytes.
    pub virtual_bytes: u64,
    /// Resident set, bytes.
    pub rss_bytes: u64,
}

impl ProcessNow {
    /// Reads a process.
    ///
    /// # Errors
    /// When it is gone or `/proc` is not readable.
    pub fn read(pid: u32) -> io::Result<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let ticks_per_s = rustix::param::clock_ticks_per_second().max(1);
        let page_bytes = rustix::param::page_size() as u64;
        Self::parse(&stat, ticks_per_s, page_bytes)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a stat of another form"))
    }

    fn parse(stat: &str, ticks_per_s: u64, page_bytes: u64) -> Option<Self> {
        let stat = Stat::parse(stat)?;
        let number = |field| stat.number(field);
        let sum = |wanted: [usize; 4]| wanted.into_iter().map(number).sum::<Option<u64>>();
        const NS_PER_S: u64 = 1_000_000_000;
        Some(Self {
            faults: sum([10, 11, 12, 13])?,
            cpu_ns: sum([14, 15, 16, 17])?.saturating_mul(NS_PER_S / ticks_per_s),
            virtual_bytes: number(23)?,
            rss_bytes: number(24)?.saturating_mul(page_bytes),
        })
    }
}

/// The fields of `/proc/PID/stat`, as numbered in proc_pid_stat(5), from the state on.
pub(crate) struct Stat<'a>(Vec<&'a str>);

impl<'a> Stat<'a> {
    const STATE: usize = 3;

    pub(crate) fn parse(stat: &'a str) -> Option<Self> {
        // The name may hold anything, a parenthesis too; what follows may not.
        let (_, rest) = stat.rsplit_once(") ")?;
        Some(Self(rest.split_whitespace().collect()))
    }

    pub(crate) fn number(&self, field: usize) -> Option<u64> {
        self.0.get(field - Self::STATE)?.parse().ok()
    }

    /// Whether nothing of it is left but that its parent has not waited for it.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.0.first(), Some(&("Z" | "X")))
    }
}

/// Whether a process has ended.
#[cfg(test)]
pub(crate) fn has_ended(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.map_or(true, |stat| Stat::parse(&stat).unwrap().is_dead())
}

/// Memory of the host that is in use: total minus available.
///
/// # Errors
/// When `/proc/meminfo` is not readable or lacks one of the two.
pub fn memory_used_bytes() -> io::Result<u64> {
    used(&fs::read_to_string("/proc/meminfo")?)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a meminfo of another form"))
}

fn used(meminfo: &str) -> Option<u64> {
    let bytes = |key: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(key))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    };
    Some(bytes("MemTotal:")?.saturating_sub(bytes("MemAvailable:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_behind_the_name() {
        let stat = "7 (a) b (c) S 1 2 3 4 5 6 100 20 3 1 50 25 10 15 20 0 9 0 77 8192 3 18446744";
        let read = ProcessNow::parse(stat, 100, 4096).unwrap();
        assert_eq!(read.faults, 124);
        assert_eq!(read.cpu_ns, 1_000_000_000);
        assert_eq!((read.virtual_bytes, read.rss_bytes), (8192, 3 * 4096));
        assert!(ProcessNow::parse("7 (a) S 1 2", 100, 4096).is_none());
        assert!(ProcessNow::parse("", 100, 4096).is_none());
    }

    #[test]
    fn this_process_and_this_host_can_be_read() {
        let now = ProcessNow::read(std::process::id()).unwrap();
        assert!(now.faults > 0 && now.rss_bytes > 0 && now.virtual_bytes >= now.rss_bytes);
        assert!(memory_used_bytes().unwrap() > 0);
        assert!(ProcessNow::read(u32::MAX).is_err());
        assert_eq!(
            used("MemTotal: 10 kB\nMemFree: 1 kB\nMemAvailable:  4 kB\n"),
            Some(6 * 1024)
        );
        assert_eq!(used("MemTotal: 10 kB\n"), None);
    }
}
