//! Where processes spend their time, by function.
//!
//! ```text
//!  Recording ─► Recorded ─► Profile: stacks of frames, and how many samples each has
//!                  │           ├► speedscope, firefox   as a file that others show
//!                  │           └► flame        as a picture
//!                  │               └ difference  from another profile
//!                  └ places      what is mapped where, in the order of time
//!                     ├ functions  a file's, by its symbol table
//!                     └ perf_map   those that a process has named itself
//!  names    what the function of a module is called by each engine
//! ```
//!
//! What must stay true: each sample is in one stack, and nothing is added; what has no name
//! is called so, never guessed; callers are known by the chain of frame pointers alone, so
//! that code without one has none, or wrong ones, and its own time is right nevertheless.

mod difference;
pub mod firefox;
pub mod flame;
mod functions;
pub mod names;
pub mod perf_map;
mod places;
mod ranges;
mod recording;
pub mod speedscope;

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use fathom_sys::sampling::{Event, Sample};

/// The first record of the kernel's.
pub use fathom_sys::sampling::first as first_record;
pub use functions::of as functions_of;
pub use ranges::Ranges;
pub use recording::{Recorded, Recording};

use places::Places;

/// Where a function is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Of the program that is profiled.
    Program,
    /// Code made while it ran, which its process has named.
    Made,
    /// Code made while it ran, without a name.
    Unnamed,
    /// A program's file, or a library's.
    File {
        /// The file's path.
        path: String,
        /// Whether the function's name is known, or the file's alone.
        is_named: bool,
    },
    /// The kernel.
    Kernel,
}

/// A function, or the best that is known of one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    /// What it is called.
    pub name: String,
    /// Where it is.
    pub origin: Origin,
}

impl Frame {
    fn unnamed() -> Frame {
        Frame {
            name: "(code without a name)".to_owned(),
            origin: Origin::Unnamed,
        }
    }

    fn kernel() -> Frame {
        Frame {
            name: "(kernel)".to_owned(),
            origin: Origin::Kernel,
        }
    }
}

/// Where the time went.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Stacks, outermost function first, and their samples.
    pub stacks: BTreeMap<Vec<Frame>, u64>,
    /// Of these the samples that were in code made and named while it ran: by that name, and by
    /// how many bytes behind its start.
    pub made: BTreeMap<String, BTreeMap<u64, u64>>,
    /// What a sample stands for, of processor time.
    pub period_ns: u64,
    /// Samples that did not fit.
    pub lost: u64,
    /// Whether time in the kernel was sampled.
    pub sees_kernel: bool,
    /// What could not be read, and why.
    pub troubles: BTreeSet<String>,
    /// Programs and libraries without symbols of functions.
    pub stripped: BTreeSet<String>,
}

/// A profile, and what it is of.
#[derive(Clone, Copy, Debug)]
pub struct Of<'a> {
    /// The engine, or native code.
    pub name: &'a str,
    /// Whether the program is one of this machine.
    pub is_native: bool,
    /// Where its time went.
    pub profile: &'a Profile,
}

impl Profile {
    /// Looks up what was recorded. Files that its processes have named functions in are
    /// removed.
    pub fn of(recorded: &Recorded) -> Profile {
        let mut profile = Profile {
            period_ns: recorded.period_ns,
            sees_kernel: recorded.sees_kernel,
            lost: recorded.lost(),
            ..Profile::default()
        };
        let places = recorded.each_sample(|sample, places| {
            let address = sample.stack.first().filter(|_| !sample.in_kernel);
            if let Some((offset, name)) =
                address.and_then(|address| places.made(sample.pid, *address))
            {
                let made = profile.made.entry(name.to_owned()).or_default();
                *made.entry(offset).or_default() += 1;
            }
            let stack = stack(sample, places);
            *profile.stacks.entry(stack).or_default() += 1;
        });
        profile.stripped = places.stripped().map(str::to_owned).collect();
        profile.troubles = places.troubles;
        profile
    }

    /// All samples.
    pub fn samples(&self) -> u64 {
        self.stacks.values().sum()
    }

    /// Samples by the function that they were in.
    pub fn own(&self) -> BTreeMap<&Frame, u64> {
        let mut own = BTreeMap::new();
        for (stack, count) in &self.stacks {
            if let Some(frame) = stack.last() {
                *own.entry(frame).or_default() += count;
            }
        }
        own
    }

    /// The same with each frame as `renamed` has it.
    #[must_use]
    pub fn map(self, mut renamed: impl FnMut(Frame) -> Frame) -> Profile {
        let mut stacks = BTreeMap::new();
        for (stack, count) in self.stacks {
            let stack = stack.into_iter().map(&mut renamed).collect();
            *stacks.entry(stack).or_default() += count;
        }
        Profile { stacks, ..self }
    }

    /// Adds another of the same program on the same engine.
    pub fn add(&mut self, other: Profile) {
        for (stack, count) in other.stacks {
            *self.stacks.entry(stack).or_default() += count;
        }
        for (name, samples) in other.made {
            let made = self.made.entry(name).or_default();
            for (offset, count) in samples {
                *made.entry(offset).or_default() += count;
            }
        }
        self.period_ns = other.period_ns;
        self.lost += other.lost;
        self.sees_kernel = other.sees_kernel;
        self.troubles.extend(other.troubles);
        self.stripped.extend(other.stripped);
    }
}

/// Samples of one function, by how many bytes behind its start they were taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Within {
    /// How many, by offset.
    pub samples: BTreeMap<u64, u64>,
    /// Those of all functions of the program.
    pub all: u64,
}

impl Within {
    /// Of the functions that processes have named: whether a name is that of the one meant;
    /// none where it is no function of the program.
    pub fn of(profile: &Profile, is_meant: impl Fn(&str) -> Option<bool>) -> Within {
        let mut within = Within::default();
        for (name, samples) in &profile.made {
            let is_meant = is_meant(name);
            for (offset, count) in samples.iter().filter(|_| is_meant.is_some()) {
                within.all += count;
                if is_meant == Some(true) {
                    *within.samples.entry(*offset).or_default() += count;
                }
            }
        }
        within
    }

    /// Those of the function.
    pub fn own(&self) -> u64 {
        self.samples.values().sum()
    }
}

impl Recorded {
    /// Each sample with what was where when it was taken; what is known of places then.
    fn each_sample(&self, mut seen: impl FnMut(&Sample, &mut Places<'_>)) -> Places<'_> {
        // Of those without a sample, too, so that no file of theirs stays.
        let pids = self.records.iter().filter_map(|one| match &one.event {
            Event::Sample(sample) => Some(sample.pid),
            Event::Executed { pid } | Event::Forked { pid, .. } => Some(*pid),
            Event::Mapped(_) | Event::Lost(_) => None,
        });
        let since = self.since.unwrap_or(SystemTime::UNIX_EPOCH);
        let mut places = Places::of(&pids.collect(), since, &self.files);
        for record in &self.records {
            match &record.event {
                Event::Sample(sample) => seen(sample, &mut places),
                Event::Mapped(mapped) => places.mapped(mapped),
                Event::Executed { pid } => places.executed(*pid),
                Event::Forked { pid, parent } => places.forked(*pid, *parent),
                Event::Lost(_) => {}
            }
        }
        places
    }

    /// Samples that did not fit.
    fn lost(&self) -> u64 {
        let counts = self.records.iter().map(|record| match record.event {
            Event::Lost(count) => count,
            _ => 0,
        });
        counts.sum()
    }
}

/// The functions of a sample, outermost first. A caller that is nowhere ends the chain: what
/// is beyond it was found by no chain of frames.
fn stack(sample: &Sample, places: &mut Places<'_>) -> Vec<Frame> {
    let mut frames = Vec::new();
    frames.extend(sample.in_kernel.then(Frame::kernel));
    for (depth, address) in sample.stack.iter().enumerate() {
        // A caller goes on behind its call.
        let address = match depth {
            0 => *address,
            _ => address.saturating_sub(1),
        };
        match places.frame(sample.pid, address) {
            Some(frame) => frames.push(frame),
            None if depth == 0 && frames.is_empty() => frames.push(Frame::unnamed()),
            None => break,
        }
    }
    frames.reverse();
    frames
}
