//! Samples of what this thread starts, taken from the kernel by another thread meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use fathom_sys::sampling::{Event, Record, Sampler};

/// So often the rings are emptied: at 10,000 samples a second, of chains of 127 frames, one
/// is full after 50 ms.
const REST: Duration = Duration::from_millis(10);
/// Words of chains beyond which samples are counted as lost, 2 GiB of them.
const WORDS_MAX: usize = 1 << 28;

/// Samples being taken.
pub struct Recording {
    over: Arc<AtomicBool>,
    taker: JoinHandle<Vec<Record>>,
    since: SystemTime,
    sees_kernel: bool,
    period_ns: u64,
}

/// Samples taken, and what is needed to understand them.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// In the order of time.
    pub records: Vec<Record>,
    /// When it began.
    pub since: SystemTime,
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
            let mut kept = Kept::default();
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
        let mut records = self.taker.join().unwrap_or_default();
        records.sort_by_key(|record| record.time_ns);
        Recorded {
            records,
            since: self.since,
            sees_kernel: self.sees_kernel,
            period_ns: self.period_ns,
        }
    }
}

/// Records within a bound.
#[derive(Default)]
struct Kept {
    records: Vec<Record>,
    words: usize,
    lost: u64,
}

impl Kept {
    fn keep(&mut self, record: Record) {
        if let Event::Sample(sample) = &record.event {
            self.words += sample.stack.len() + 8;
            if self.words > WORDS_MAX {
                self.lost += 1;
                return;
            }
        }
        self.records.push(record);
    }

    fn ended(mut self) -> Vec<Record> {
        if self.lost > 0 {
            let (time_ns, event) = (u64::MAX, Event::Lost(self.lost));
            self.records.push(Record { time_ns, event });
        }
        self.records
    }
}
