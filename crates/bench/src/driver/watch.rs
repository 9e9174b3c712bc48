//! A child watched while its counted iterations run.
//!
//! ```text
//!  start │ compile │ warm-up │ counted … counted │ end
//!                            ├ reading … reading ┤
//!                            └────── window ─────┘
//! ```
//!
//! Every engine is seen alike, and none takes part: the parent looks at `/proc`
//! when events say that counted iterations end, at most every [`STEP`]. Counts
//! are the difference of the first and the last reading, levels (memory) are
//! means over all. What cannot be read is left out.

use std::time::{Duration, Instant};

use fathom_record::campaign::{CpuTime, Window};
use fathom_sys::{
    usage::{CpuShare, CpuTimes},
    watch::{ProcessNow, memory_used_bytes},
};

/// Time between two readings: one costs some 0.2 ms.
const STEP: Duration = Duration::from_millis(40);
/// Windows shorter than this say nothing: the kernel counts processor time in
/// steps of 10 ms.
const WINDOW_MIN: Duration = Duration::from_millis(80);

/// Who is told what a child says while it says it.
pub(crate) trait Watch {
    /// Whole lines of events, just arrived.
    fn saw(&mut self, pid: u32, lines: &[u8]);
}

/// Nobody.
impl Watch for () {
    fn saw(&mut self, _: u32, _: &[u8]) {}
}

/// Watches a measuring child.
pub(crate) struct Watcher {
    pinned: Vec<usize>,
    host_used_before: Option<u64>,
    iterations: u64,
    first: Option<Reading>,
    last: Option<Reading>,
    levels: Levels,
}

/// One look.
struct Reading {
    at: Instant,
    iterations: u64,
    cpus: Option<CpuTimes>,
    process: Option<ProcessNow>,
}

/// Sums of what is averaged, and of how many readings each.
#[derive(Default)]
struct Levels {
    readings: u32,
    rss: Mean,
    virtual_size: Mean,
    host_used: Mean,
}

#[derive(Default)]
struct Mean {
    sum: u128,
    count: u32,
}

impl Mean {
    fn add(&mut self, value: Option<u64>) {
        if let Some(value) = value {
            self.sum += u128::from(value);
            self.count += 1;
        }
    }

    fn value(&self) -> Option<u64> {
        let mean = self.sum.checked_div(u128::from(self.count))?;
        u64::try_from(mean).ok()
    }
}

impl Watcher {
    /// Before the child is started; it will be pinned to these processors.
    pub fn new(pinned: Vec<usize>) -> Self {
        Self {
            pinned,
            host_used_before: memory_used_bytes().ok(),
            iterations: 0,
            first: None,
            last: None,
            levels: Levels::default(),
        }
    }

    fn look(&mut self, pid: u32) {
        let process = ProcessNow::read(pid).ok();
        let reading = Reading {
            at: Instant::now(),
            iterations: self.iterations,
            cpus: CpuTimes::read().ok(),
            process,
        };
        let levels = &mut self.levels;
        levels.readings += 1;
        levels.rss.add(process.map(|now| now.rss_bytes));
        levels
            .virtual_size
            .add(process.map(|now| now.virtual_bytes));
        levels.host_used.add(memory_used_bytes().ok());
        if self.first.is_none() {
            self.first = Some(reading);
        } else {
            self.last = Some(reading);
        }
    }

    /// What was seen, if it was long enough to say something.
    pub fn window(&self) -> Option<Window> {
        let (first, last) = (self.first.as_ref()?, self.last.as_ref()?);
        let wall = last.at.duration_since(first.at);
        if wall < WINDOW_MIN || last.iterations <= first.iterations {
            return None;
        }
        let cpus = first.cpus.as_ref().zip(last.cpus.as_ref());
        let spent = cpus.map(|(before, after)| after.since(before));
        let process = first.process.zip(last.process);
        let grew = |of: fn(&ProcessNow) -> u64| {
            process.map(|(before, after)| of(&after).saturating_sub(of(&before)))
        };
        Some(Window {
            wall_ns: u64::try_from(wall.as_nanos()).ok()?,
            iterations: last.iterations - first.iterations,
            cpu_host: spent.as_ref().map(|spent| cpu_time(&spent.all())),
            cpu_pinned: spent
                .as_ref()
                .filter(|_| !self.pinned.is_empty())
                .and_then(|spent| spent.of(&self.pinned))
                .map(|share| cpu_time(&share)),
            cpu_ns: grew(|now| now.cpu_ns),
            faults: grew(|now| now.faults),
            rss_mean_bytes: self.levels.rss.value(),
            virtual_mean_bytes: self.levels.virtual_size.value(),
            host_used_mean_bytes: self.levels.host_used.value(),
            host_used_before_bytes: self.host_used_before,
            readings: self.levels.readings,
        })
    }
}

impl Watch for Watcher {
    fn saw(&mut self, pid: u32, lines: &[u8]) {
        let mut has_counted = false;
        for line in lines.split(|&byte| byte == b'\n') {
            if says(line, b"event", b"\"iteration\"") {
                self.iterations += 1;
                has_counted |= says(line, b"counted", b"true");
            }
        }
        let before = self.last.as_ref().or(self.first.as_ref());
        let is_due = before.is_none_or(|reading| reading.at.elapsed() >= STEP);
        if has_counted && is_due {
            self.look(pid);
        }
    }
}

/// Whether a line of JSON has `"key": value`, for a value that cannot be the
/// beginning of another. Much cheaper than reading the line, and as good: no
/// text that an engine chooses comes before these two.
fn says(line: &[u8], key: &[u8], value: &[u8]) -> bool {
    let quoted = line.windows(key.len() + 2).position(|window| {
        window[0] == b'"' && window[key.len() + 1] == b'"' && window[1..=key.len()] == *key
    });
    let Some(at) = quoted else { return false };
    let rest = line[at + key.len() + 2..].trim_ascii_start();
    let rest = rest.strip_prefix(b":").unwrap_or_default();
    rest.trim_ascii_start().starts_with(value)
}

/// A share of `/proc/stat` as it is recorded.
pub(crate) fn cpu_time(share: &CpuShare) -> CpuTime {
    CpuTime {
        user_ms: share.user_ms,
        system_ms: share.system_ms,
        hardirq_ms: share.hard_irq_ms,
        softirq_ms: share.soft_irq_ms,
        idle_ms: share.idle_ms,
        steal_ms: share.steal_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = b"{\"event\":\"iteration\",\"thread\":0,\"index\":3,\"counted\":true}\n";

    #[test]
    fn lines_are_told_apart_however_they_are_spaced() {
        assert!(says(LINE, b"event", b"\"iteration\""));
        assert!(says(b"{\"counted\" : true}", b"counted", b"true"));
        assert!(!says(b"{\"counted\":false}", b"counted", b"true"));
        assert!(!says(b"{\"event\":\"done\"}", b"event", b"\"iteration\""));
        assert!(!says(b"\"counted\"", b"counted", b"true"));
        assert!(!says(b"", b"counted", b"true"));
    }

    #[test]
    fn a_window_is_between_the_first_and_the_last_counted_iteration() {
        let mut watcher = Watcher::new(vec![0]);
        let me = std::process::id();
        watcher.saw(me, b"{\"event\":\"hello\"}\n");
        assert!(watcher.first.is_none());
        watcher.saw(me, LINE);
        assert!(watcher.window().is_none(), "one reading is no window");
        std::thread::sleep(WINDOW_MIN);
        watcher.saw(me, &[LINE, LINE].concat());
        let window = watcher.window().unwrap();
        assert_eq!((window.iterations, window.readings), (2, 2));
        assert!(window.wall_ns >= 80_000_000);
        assert!(window.rss_mean_bytes.is_some() && window.host_used_before_bytes.is_some());
        assert!(window.cpu_host.is_some() && window.faults.is_some());
    }

    #[test]
    fn a_child_that_cannot_be_read_has_a_window_without_it() {
        let mut watcher = Watcher::new(Vec::new());
        watcher.saw(u32::MAX, LINE);
        std::thread::sleep(WINDOW_MIN);
        watcher.saw(u32::MAX, LINE);
        let window = watcher.window().unwrap();
        assert_eq!((window.faults, window.rss_mean_bytes), (None, None));
        assert_eq!(window.cpu_pinned, None);
    }
}
