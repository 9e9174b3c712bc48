//! Samples of what this thread starts, taken from the kernel by another thread meanwhile.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use fathom_sys::regular;
use fathom_sys::sampling::{Event, Mapped, Record, Sampler};

/// So often the rings are emptied: at 10,000 samples a second, of chains of 127 frames, one
/// is full after 50 ms.
const REST: Duration = Duration::from_millis(10);
/// Files that are held open.
const FILES_MAX: usize = 256;
/// Words of chains beyond which samples are counted as lost, 2 GiB of them.
const WORDS_MAX: usize = 1 << 28;

/// Samples being taken.
pub struct Recording {
    over: Arc<AtomicBool>,
    taker: JoinHandle<Bounded>,
    since: SystemTime,
    sees_kernel: bool,
    period_ns: u64,
}

/// Samples taken, and what is needed to understand them.
#[derive(Debug, Default)]
pub struct Recorded {
    /// In the order of time.
    pub records: Vec<Record>,
    /// Files that were mapped, opened while they were, since some are removed by who made them.
    pub files: BTreeMap<OsString, File>,
    /// When it began.
    pub since: Option<SystemTime>,
    /// Whether time in the kernel was sampled.
    pub sees_kernel: bool,
    /// What a sample stands for, of processor time.
    pub period_ns: u64,
}

impl Recording {
    /// Samples what the calling thread starts from now on, so often a second.
    ///
    /// # Errors
    /// A sentence that says why this host does not allow it.
    pub fn start(frequency_hz: u32) -> Result<Recording, String> {
        let period_ns = 1_000_000_000 / u64::from(frequency_hz.max(1));
        // A file's clock may be behind by a tick.
        let since = SystemTime::now() - Duration::from_millis(20);
        let mut sampler = Sampler::of_children(period_ns)?;
        let sees_kernel = sampler.sees_kernel();
        let over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&over);
        let taken = move || {
            let mut kept = Bounded::default();
            loop {
                let is_over = told.load(Ordering::Acquire);
                sampler.drain(|record| kept.keep(record));
                if is_over {
                    return kept.ended();
                }
                std::thread::park_timeout(REST);
            }
        };
        let taker = std::thread::Builder::new()
            .name("samples".into())
            .spawn(taken)
            .map_err(|error| format!("no thread to take samples: {error}"))?;
        Ok(Recording {
            over,
            taker,
            since,
            sees_kernel,
            period_ns,
        })
    }

    /// Ends it, when what was started has ended.
    pub fn end(self) -> Recorded {
        self.over.store(true, Ordering::Release);
        self.taker.thread().unpark();
        let Bounded {
            mut records, files, ..
        } = self.taker.join().unwrap_or_default();
        records.sort_by_key(|record| record.time_ns);
        Recorded {
            records,
            files,
            since: Some(self.since),
            sees_kernel: self.sees_kernel,
            period_ns: self.period_ns,
        }
    }
}

/// Records within a bound.
#[derive(Default)]
struct Bounded {
    records: Vec<Record>,
    files: BTreeMap<OsString, File>,
    words: usize,
    lost: u64,
}

impl Bounded {
    fn keep(&mut self, record: Record) {
        if let Event::Sample(sample) = &record.event {
            self.words += sample.stack.len() + 8;
            if self.words > WORDS_MAX {
                self.lost += 1;
                return;
            }
        }
        if let Event::Mapped(mapped) = &record.event {
            self.hold(mapped);
        }
        self.records.push(record);
    }

    /// Opens a file while it is there; one that is gone by its mapping, which needs privilege
    /// (proc_pid_map_files(5)).
    fn hold(&mut self, mapped: &Mapped) {
        let path = Path::new(&mapped.file);
        let has_room = self.files.len() < FILES_MAX;
        if !path.is_absolute() || !has_room || self.files.contains_key(&mapped.file) {
            return;
        }
        let (start, end) = (mapped.start, mapped.start.saturating_add(mapped.bytes));
        let mapping = format!("/proc/{}/map_files/{start:x}-{end:x}", mapped.pid);
        let opened = regular::open(path).or_else(|_| File::open(mapping));
        if let Ok(opened) = opened {
            self.files.insert(mapped.file.clone(), opened);
        }
    }

    fn ended(mut self) -> Bounded {
        if self.lost > 0 {
            let (time_ns, event) = (u64::MAX, Event::Lost(self.lost));
            self.records.push(Record { time_ns, event });
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_file_that_is_removed_is_held() {
        let recording = match Recording::start(1000) {
            Ok(recording) => recording,
            Err(why) => {
                eprintln!("SKIPPED: {why}");
                return;
            }
        };
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        std::fs::copy("/bin/sleep", &program).unwrap();
        let status = Command::new(&program).arg("0.2").status().unwrap();
        assert!(status.success());
        std::fs::remove_file(&program).unwrap();
        let recorded = recording.end();
        assert!(recorded.files.contains_key(program.as_os_str()));
        let times: Vec<u64> = recorded.records.iter().map(|one| one.time_ns).collect();
        assert!(times.is_sorted() && !times.is_empty());
    }
}
