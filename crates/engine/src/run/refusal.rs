//! Why a memory was not to be had: the limit that was met, and what to do
//! about it, in one line.

use std::io;

use fathom_sys::caps;

use crate::bounds::{Backing, MemoryPlan};
use crate::facts::bytes::Bytes;
use crate::facts::error::Error;

/// What of making a memory failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Finding low addresses for its shadow.
    Shadow,
    /// Setting its address space aside.
    Reserve,
    /// Opening what is readable in front of it.
    Lead,
    /// Registering it with userfaultfd.
    Userfaultfd,
    /// Opening its first pages.
    Open,
    /// Mapping the data segments that it holds at first.
    Image,
}

/// What failed, and what the host said.
pub(crate) type Refused = (Step, io::Error);

/// Mappings that may come and go while they are counted.
const MAPPINGS_MARGIN: u64 = 64;

/// What distributions set `vm.mmap_min_addr` to.
const USUAL_LOWEST: u64 = 65_536;

impl MemoryPlan {
    /// The error of a memory of `pages` pages at first that was refused.
    pub(crate) fn refused(&self, pages: u64, step: Step, error: io::Error) -> Error {
        let (bounds, why) = (self.bounds, self.why(step, &error));
        let what = format!("cannot make a memory of {pages} pages under '{bounds}': {why}");
        Error::resource(what, error)
    }

    /// What failed, at which limit, and the remedy.
    pub(crate) fn why(&self, step: Step, error: &io::Error) -> String {
        let what = match step {
            Step::Shadow => "its shadow at low addresses".to_owned(),
            Step::Reserve => {
                let bytes = self.lead_bytes() + self.reserved_bytes;
                format!("reserving {} of address space", Bytes(bytes))
            }
            Step::Lead => "opening the pages in front of it".to_owned(),
            Step::Userfaultfd => "userfaultfd".to_owned(),
            Step::Open => format!("opening {}", Bytes(self.min_bytes)),
            Step::Image => "mapping its data segments".to_owned(),
        };
        format!("{what}: {}", self.limit(step, error))
    }

    /// The limit and the remedy.
    fn limit(&self, step: Step, error: &io::Error) -> String {
        let is_full = error.kind() == io::ErrorKind::OutOfMemory;
        match step {
            Step::Userfaultfd => {
                return "the kernel or a sandbox forbids it: sysctl vm.unprivileged_userfaultfd=1, \
                        or another strategy"
                    .to_owned();
            }
            Step::Shadow
                if !is_full || caps::lowest_address().is_ok_and(|at| at > USUAL_LOWEST) =>
            {
                return format!(
                    "the lowest address allowed is vm.mmap_min_addr: lower it to {USUAL_LOWEST}, \
                     or choose another strategy"
                );
            }
            _ if !is_full => return "the kernel refuses it".to_owned(),
            _ => {}
        }
        if let Some(limit) = caps::address_space_limit() {
            return format!(
                "the process may have {} in all (RLIMIT_AS), raise it by `ulimit -v`",
                Bytes(limit)
            );
        }
        if let (Ok(most), Ok(now)) = (caps::max_map_count(), caps::mappings())
            && now + MAPPINGS_MARGIN > most
        {
            return format!(
                "the process has {now} mappings of {most} (vm.max_map_count): raise it by sysctl, \
                 or keep fewer memories"
            );
        }
        let is_writable = step == Step::Open || self.backing != Backing::Protect;
        match step {
            Step::Shadow => "no gap is large enough below 64 GiB (other memories under this \
                             strategy, a program at a fixed address): declare a smaller maximum, \
                             or choose guard64"
                .to_owned(),
            _ if is_writable && caps::overcommit() == Ok(2) => {
                // What is opened counts under every strategy.
                let or = match self.backing {
                    Backing::Protect => "ask for less",
                    _ => "choose guard, guard64 or trap",
                };
                format!(
                    "every writable page counts (vm.overcommit_memory=2): set it to 0 or 1, or {or}"
                )
            }
            Step::Open => "the machine or a limit (RLIMIT_DATA, a control group) has no memory \
                           left: ask for less, or raise it"
                .to_owned(),
            _ => "the address space of a process has no such gap left: declare a smaller maximum, \
                  or keep fewer memories"
                .to_owned(),
        }
    }
}
