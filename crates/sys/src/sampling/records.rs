//! Records of perf_event_open(2), as its ring holds them: a header of eight bytes, what the
//! kind has, and who it was and when (`sample_id_all`).
//!
//! What must stay true: any bytes are read without a panic; what is cut short is no record.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

// From the kernel's uapi/linux/perf_event.h.
const LOST: u32 = 2;
const COMM: u32 = 3;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
const LOST_SAMPLES: u32 = 13;
const CPUMODE_MASK: u16 = 7;
const CPUMODE_KERNEL: u16 = 1;
const COMM_EXEC: u16 = 1 << 13;
/// Addresses of a chain from here on are marks: what follows is the kernel's, the user's.
const CONTEXT_MAX: u64 = (-4095_i64).cast_unsigned();

const HEADER_BYTES: usize = 8;
/// pid, tid, time: behind every record but samples.
const TRAILER_BYTES: usize = 16;

/// What the kernel says at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The kernel's clock of events; of use for order alone.
    pub time_ns: u64,
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A thread was here.
    Sample(Sample),
    /// A process has a file, or memory of no file, at these addresses from now on.
    Mapped(Mapped),
    /// A process became another program: its memory is new.
    Executed {
        /// Which process.
        pid: u32,
    },
    /// A process or a thread began.
    Forked {
        /// Its process.
        pid: u32,
        /// The process that made it; the same for a thread.
        parent: u32,
    },
    /// So many records did not fit.
    Lost(u64),
}

/// Where a thread was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Its process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// Whether in the kernel.
    pub in_kernel: bool,
    /// Addresses of the program: where it is, or what it asked the kernel for something, and
    /// by the chain of frame pointers who called that, innermost first.
    pub stack: Vec<u64>,
}

/// What is mapped to be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// In which process.
    pub pid: u32,
    /// From here.
    pub start: u64,
    /// For so long.
    pub bytes: u64,
    /// What is mapped, from here of the file on.
    pub offset: u64,
    /// The file, or a name in brackets or behind two slashes where there is none.
    pub file: OsString,
}

/// The first record of some bytes, where it is one that says something, and how many bytes it
/// has. None where they end before it does.
pub fn first(bytes: &[u8]) -> Option<(Option<Record>, usize)> {
    let mut header = Fields(bytes);
    let (kind, word) = (header.u32()?, header.u32()?);
    let (misc, size) = (word as u16, (word >> 16) as usize);
    let body = bytes.get(HEADER_BYTES..size)?;
    Some((record(kind, misc, body), size))
}

fn record(kind: u32, misc: u16, body: &[u8]) -> Option<Record> {
    if kind == SAMPLE {
        return sample(misc, body);
    }
    let (fields, trailer) = body.split_at_checked(body.len().checked_sub(TRAILER_BYTES)?)?;
    let mut trailer = Fields(trailer);
    let (_, time_ns) = (trailer.u64()?, trailer.u64()?);
    let mut fields = Fields(fields);
    let event = match kind {
        MMAP2 => Event::Mapped(mapped(&mut fields)?),
        COMM if misc & COMM_EXEC != 0 => Event::Executed { pid: fields.u32()? },
        FORK => Event::Forked {
            pid: fields.u32()?,
            parent: fields.u32()?,
        },
        LOST => {
            fields.u64()?;
            Event::Lost(fields.u64()?)
        }
        LOST_SAMPLES => Event::Lost(fields.u64()?),
        _ => return None,
    };
    Some(Record { time_ns, event })
}

/// Of the fields that [`super::Sampler`] asks for: address, process, thread, time, chain.
fn sample(misc: u16, body: &[u8]) -> Option<Record> {
    let mut fields = Fields(body);
    let address = fields.u64()?;
    let (pid, tid, time_ns) = (fields.u32()?, fields.u32()?, fields.u64()?);
    let in_kernel = misc & CPUMODE_MASK == CPUMODE_KERNEL;
    let count = usize::try_from(fields.u64()?).ok()?;
    let mut stack = Vec::with_capacity(count.min(fields.0.len() / 8));
    for _ in 0..count {
        let address = fields.u64()?;
        if address < CONTEXT_MAX {
            stack.push(address);
        }
    }
    if stack.is_empty() && !in_kernel {
        stack.push(address);
    }
    let sample = Sample {
        pid,
        tid,
        in_kernel,
        stack,
    };
    Some(Record {
        time_ns,
        event: Event::Sample(sample),
    })
}

fn mapped(fields: &mut Fields<'_>) -> Option<Mapped> {
    let (pid, _) = (fields.u32()?, fields.u32()?);
    let (start, bytes, offset) = (fields.u64()?, fields.u64()?, fields.u64()?);
    // Device, inode and its generation, or a build id; protection and flags.
    for _ in 0..4 {
        fields.u64()?;
    }
    let name = fields.0.split(|byte| *byte == 0).next()?;
    Some(Mapped {
        pid,
        start,
        bytes,
        offset,
        file: OsString::from_vec(name.to_vec()),
    })
}

/// What is left to read.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u32(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_ne_bytes(*first))
    }

    fn u64(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_ne_bytes(*first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(kind: u32, misc: u16, body: &[u64]) -> Vec<u8> {
        let size = (HEADER_BYTES + body.len() * 8) as u32;
        let head = [kind, u32::from(misc) | (size << 16)];
        let head = head.iter().flat_map(|word| word.to_ne_bytes());
        head.chain(body.iter().flat_map(|word| word.to_ne_bytes()))
            .collect()
    }

    fn pair(low: u32, high: u32) -> u64 {
        let [low, high] = [low, high].map(u32::to_ne_bytes);
        let mut both = [0; 8];
        both[..4].copy_from_slice(&low);
        both[4..].copy_from_slice(&high);
        u64::from_ne_bytes(both)
    }

    fn all() -> Vec<(Vec<u8>, Option<Event>)> {
        let trailer = [pair(7, 8), 99];
        let with = |fields: &[u64]| [fields, &trailer[..]].concat();
        let name = u64::from_ne_bytes(*b"/lib/x\0\0");
        let mapping = [pair(7, 8), 0x1000, 0x2000, 0x3000, 0, 0, 0, 0, name];
        let user = (-512_i64).cast_unsigned();
        let sampled = |in_kernel, stack: &[u64]| {
            Event::Sample(Sample {
                pid: 7,
                tid: 8,
                in_kernel,
                stack: stack.to_vec(),
            })
        };
        vec![
            (
                framed(SAMPLE, 2, &[0x10, pair(7, 8), 99, 3, user, 0x10, 0x20]),
                Some(sampled(false, &[0x10, 0x20])),
            ),
            (
                framed(SAMPLE, 1, &[u64::MAX, pair(7, 8), 99, 0]),
                Some(sampled(true, &[])),
            ),
            (
                framed(SAMPLE, 2, &[0x10, pair(7, 8), 99, 0]),
                Some(sampled(false, &[0x10])),
            ),
            (
                framed(MMAP2, 2, &with(&mapping)),
                Some(Event::Mapped(Mapped {
                    pid: 7,
                    start: 0x1000,
                    bytes: 0x2000,
                    offset: 0x3000,
                    file: "/lib/x".into(),
                })),
            ),
            (
                framed(COMM, COMM_EXEC, &with(&[pair(7, 8), 0])),
                Some(Event::Executed { pid: 7 }),
            ),
            (framed(COMM, 0, &with(&[pair(7, 8), 0])), None),
            (
                framed(FORK, 0, &with(&[pair(9, 7), pair(10, 8), 98])),
                Some(Event::Forked { pid: 9, parent: 7 }),
            ),
            (framed(LOST, 0, &with(&[1, 5])), Some(Event::Lost(5))),
            (framed(LOST_SAMPLES, 0, &with(&[6])), Some(Event::Lost(6))),
            (framed(4, 0, &with(&[pair(7, 7), pair(8, 8), 98])), None),
        ]
    }

    #[test]
    fn each_kind_is_understood() {
        for (bytes, event) in all() {
            let (record, size) = first(&bytes).unwrap();
            assert_eq!(size, bytes.len());
            let time_ns = 99;
            assert_eq!(record, event.map(|event| Record { time_ns, event }));
        }
    }

    #[test]
    fn what_is_cut_short_or_wrong_is_no_record() {
        for (bytes, _) in all() {
            for end in 0..bytes.len() {
                assert_eq!(first(&bytes[..end]), None);
                // A header that says it is whole.
                let mut cut = bytes[..end].to_vec();
                if let Some(size) = cut.get_mut(6..8) {
                    size.copy_from_slice(&(end as u16).to_ne_bytes());
                    let _ = first(&cut);
                }
            }
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                other[at] = 0xff;
                let _ = first(&other);
            }
        }
        // One that would never end.
        assert_eq!(first(&[0; 16]), None);
    }
}
