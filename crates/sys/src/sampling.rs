//! Where programs are, many times a second of their processor time.
//!
//! ```text
//!  Sampler::of_children ─► an event for each processor, of this thread, not yet counting:
//!     what the thread starts inherits it, and counts from its execve on, with all its
//!     threads and all that it starts itself
//!     drain ◄── a ring for each processor: samples, mappings, forks
//! ```
//!
//! The clock is the kernel's of a thread's processor time (`PERF_COUNT_SW_CPU_CLOCK`), which
//! there is without hardware counters, too. What must stay true: the thread itself is never
//! sampled; a record that did not fit is counted; nothing stays behind, since all is held by
//! descriptors and mappings.

#![allow(unsafe_code)]

mod records;

use std::io;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::map::page_bytes;
use crate::perf::{Attr, open_event};
pub use records::{Event, Mapped, Record, Sample, first};

// From the kernel's uapi/linux/perf_event.h.
const TYPE_SOFTWARE: u32 = 1;
const COUNT_CPU_CLOCK: u64 = 0;
/// Address, process and thread, time, chain of callers.
const SAMPLED: u64 = 1 | (1 << 1) | (1 << 2) | (1 << 5);
const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HV: u64 = 1 << 6;
const MMAP: u64 = 1 << 8;
const COMM: u64 = 1 << 9;
const ENABLE_ON_EXEC: u64 = 1 << 12;
const TASK: u64 = 1 << 13;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const EXCLUDE_CHAIN_OF_KERNEL: u64 = 1 << 21;
const MMAP2: u64 = 1 << 23;
const COMM_EXEC: u64 = 1 << 24;
const FLAGS: u64 = DISABLED
    | INHERIT
    | EXCLUDE_HV
    | MMAP
    | COMM
    | ENABLE_ON_EXEC
    | TASK
    | SAMPLE_ID_ALL
    | EXCLUDE_CHAIN_OF_KERNEL
    | MMAP2
    | COMM_EXEC;

/// Bytes of a ring: with its first page what anybody may lock for a processor
/// (`kernel.perf_event_mlock_kb`, 516 by default).
const RING_BYTES: usize = 512 << 10;

// Where in the first page of a ring is what; the fields are 64 bits.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

/// Samples of what a thread starts.
#[derive(Debug)]
pub struct Sampler {
    rings: Vec<Ring>,
    sees_kernel: bool,
}

impl Sampler {
    /// From now on, what the calling thread starts is sampled, each time that it has used so
    /// many nanoseconds of processor time.
    ///
    /// # Errors
    /// A sentence that says why this host does not allow it.
    pub fn of_children(period_ns: u64) -> Result<Sampler, String> {
        let (rings, sees_kernel) = match rings(FLAGS, period_ns) {
            Ok(rings) => (rings, true),
            // Its own code anybody may look at, unless that is forbidden, too.
            Err(error) if is_denied(&error) => {
                let flags = FLAGS | EXCLUDE_KERNEL;
                let rings = rings_or_reason(flags, period_ns)?;
                (rings, false)
            }
            Err(error) => return Err(explain(&error)),
        };
        Ok(Sampler { rings, sees_kernel })
    }

    /// Whether time in the kernel is sampled. Otherwise it is not seen at all.
    pub fn sees_kernel(&self) -> bool {
        self.sees_kernel
    }

    /// Takes the records that there are, of each processor in its order.
    pub fn drain(&mut self, mut take: impl FnMut(Record)) {
        for ring in &mut self.rings {
            let bytes = ring.take();
            let mut rest = &bytes[..];
            while let Some((record, size)) = first(rest) {
                record.into_iter().for_each(&mut take);
                rest = &rest[size..];
            }
        }
    }
}

fn rings_or_reason(flags: u64, period_ns: u64) -> Result<Vec<Ring>, String> {
    rings(flags, period_ns).map_err(|error| explain(&error))
}

/// One for each processor that there is now.
fn rings(flags: u64, period_ns: u64) -> io::Result<Vec<Ring>> {
    let attr = Attr {
        kind: TYPE_SOFTWARE,
        config: COUNT_CPU_CLOCK,
        sample_period: period_ns,
        sample_type: SAMPLED,
        flags,
        ..Attr::default()
    };
    // SAFETY: a number is asked for.
    let configured = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    let mut rings = Vec::new();
    for cpu in 0..i32::try_from(configured).unwrap_or(1).max(1) {
        match open_event(&attr, Some(cpu)) {
            Ok(event) => rings.push(Ring::new(event)?),
            // It is off.
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(rings)
}

fn is_denied(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM))
}

fn explain(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            "not permitted: set kernel.perf_event_paranoid to 2 or less, or add CAP_PERFMON".into()
        }
        Some(libc::ENOSYS) => "the kernel was built without perf events".into(),
        _ => format!("perf_event_open: {error}"),
    }
}

/// What the kernel writes to, of one processor.
#[derive(Debug)]
struct Ring {
    start: NonNull<u8>,
    bytes: usize,
    /// The event, which ends with it.
    _event: OwnedFd,
}

// SAFETY: the mapping is this struct's own; whichever thread has it may read from it.
unsafe impl Send for Ring {}

impl Ring {
    fn new(event: OwnedFd) -> io::Result<Ring> {
        let bytes = page_bytes() + RING_BYTES.max(page_bytes());
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let start = unsafe {
            mmap(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &event,
                0,
            )
        }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Ring {
            start,
            bytes,
            _event: event,
        })
    }

    /// A field of the first page.
    fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: inside the mapping's first page and aligned; kernel and program both read
        // and write it as a whole.
        unsafe { self.start.add(at).cast::<AtomicU64>().as_ref() }
    }

    /// What was written since it was last asked; the kernel has the room again.
    fn take(&mut self) -> Vec<u8> {
        let data_bytes = self.bytes - page_bytes();
        let (head, tail) = (
            self.word(DATA_HEAD).load(Ordering::Acquire),
            self.word(DATA_TAIL).load(Ordering::Relaxed),
        );
        let count = usize::try_from(head.wrapping_sub(tail)).unwrap_or(0);
        let count = count.min(data_bytes);
        let from = (tail % data_bytes as u64) as usize;
        let first = count.min(data_bytes - from);
        let mut bytes = vec![0; count];
        // SAFETY: both parts are inside the mapping, behind its first page, and the kernel
        // writes nothing between tail and head until the tail is moved below.
        unsafe {
            let data = self.start.add(page_bytes()).as_ptr();
            data.add(from).copy_to(bytes.as_mut_ptr(), first);
            data.copy_to(bytes.as_mut_ptr().add(first), count - first);
        }
        self.word(DATA_TAIL).store(head, Ordering::Release);
        bytes
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: this struct's own mapping, to which no reference is left.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// A child that has computed for a while.
    struct Spun {
        pid: u32,
        records: Vec<Record>,
        /// Its processor time, and what this thread took meanwhile.
        cpu_ns: u64,
        own_ns: u64,
    }

    impl Spun {
        fn samples(&self) -> u64 {
            events(&self.records, &|event| matches!(event, Event::Sample(_)))
        }
    }

    fn events(records: &[Record], is: &dyn Fn(&Event) -> bool) -> u64 {
        records.iter().filter(|record| is(&record.event)).count() as u64
    }

    fn spun(sampler: &mut Sampler) -> Spun {
        let spin = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; (exit 3)";
        let mut command = Command::new("sh");
        let before = crate::usage::thread_cpu_ns();
        let mut child = command
            .args(["-c", spin])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id();
        let (_, usage) = crate::usage::wait_with_usage(pid).unwrap();
        let _ = child.try_wait();
        let own_ns = crate::usage::thread_cpu_ns() - before;
        let mut records = Vec::new();
        sampler.drain(|record| records.push(record));
        Spun {
            pid,
            records,
            cpu_ns: usage.cpu_ns(),
            own_ns,
        }
    }

    #[test]
    fn what_a_child_does_is_seen() {
        let mut sampler = match Sampler::of_children(1_000_000) {
            Ok(sampler) => sampler,
            Err(why) => {
                eprintln!("SKIPPED: {why}");
                return;
            }
        };
        // A machine that stands still for a while has one sample of that at most, though its
        // time is counted: one run of several is not so disturbed.
        let runs = std::iter::repeat_with(|| spun(&mut sampler)).take(8);
        let mut last = String::new();
        let undisturbed = runs.into_iter().find(|spun| {
            let (all, seen) = (spun.cpu_ns, spun.samples() * 1_000_000);
            last = format!("{seen} of {all}");
            seen * 10 > all * 8 && seen < all + 5_000_000 + spun.own_ns
        });
        let Spun { pid, records, .. } = undisturbed.expect(&last);
        let count = |is: &dyn Fn(&Event) -> bool| events(&records, is);
        assert!(count(&|event| matches!(event, Event::Executed { pid: one } if *one == pid)) == 1);
        assert!(
            count(&|event| matches!(event, Event::Forked { parent, .. } if *parent == pid)) > 0
        );
        let is_libc = |event: &Event| match event {
            Event::Mapped(mapped) => mapped.file.to_string_lossy().contains("libc"),
            _ => false,
        };
        assert!(count(&is_libc) > 0, "{records:?}");
        assert_eq!(count(&|event| matches!(event, Event::Lost(_))), 0);
        // Nothing is told twice, nor of this thread.
        let mut further = 0;
        sampler.drain(|_| further += 1);
        assert_eq!(further, 0);
        let own = std::process::id();
        let is_own = |event: &Event| matches!(event, Event::Sample(sample) if sample.pid == own);
        assert_eq!(count(&is_own), 0);
    }
}
