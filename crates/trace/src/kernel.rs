//! What processes ask of the kernel, seen by programs in the kernel (eBPF).
//!
//! ```text
//!  Tracer::attach ─► maps, programs on tracepoints
//!     probe ──► the functions of a file, which processes that are followed pass
//!     follow ─► what this thread starts from now on is traced, from its execve on,
//!               with all its threads and all that it starts itself
//!     answer ─► Kernel: system calls, threads, what was lost
//! ```
//!
//! What must stay true: nothing stays behind, however this process ends (all is held by
//! descriptors); processes that are not followed pay a look-up for each of their system
//! calls and are not counted; what was lost is counted and told.

mod answer;
mod listing;
pub mod names;

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::marker::PhantomData;

use fathom_sys::bpf::{self, Attached, Kind, Map, Place, Program};

use crate::symbols::{Ends, Found};
pub use answer::{Call, Kernel, Lost, Probed, Thread, Waits};
use listing::Listing;

/// Why the kernel cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The user may not.
    #[error("not permitted to load eBPF programs")]
    Privilege,
    /// The kernel, or this instruction set, has not what is needed.
    #[error("{0}")]
    Lacking(String),
}

impl KernelError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            KernelError::Privilege => {
                "sudo setcap cap_bpf,cap_perfmon+ep $(command -v fathom), or run it as root"
            }
            KernelError::Lacking(_) => {
                "a kernel with CONFIG_BPF_SYSCALL and CONFIG_FTRACE_SYSCALLS, 5.18 or newer"
            }
        }
    }
}

fn lacking(what: &str, error: &io::Error) -> KernelError {
    match error.kind() {
        io::ErrorKind::PermissionDenied => KernelError::Privilege,
        _ => KernelError::Lacking(format!("{what}: {error}")),
    }
}

/// The programs at the entry and the return of functions.
const AT: &str = "probe";
const AFTER: &str = "probe_end";
/// Beside a number: the return is not seen, as in `trace.bpf.c`.
const ENTRY_ONLY: u64 = 1 << 30;

/// What an error says is lacking.
const PROBES: &str = "probes of functions (Linux 6.6 or newer)";

/// The programs in the kernel.
pub struct Tracer {
    maps: Vec<(&'static str, Map)>,
    number: u32,
    attached: Vec<Attached>,
    /// Functions that are probed, by their numbers.
    probed: Vec<String>,
    /// Who follows must be who forks.
    _one_thread: PhantomData<*const ()>,
}

impl Tracer {
    /// Loads and attaches them. Nothing is traced yet.
    ///
    /// # Errors
    /// [`KernelError`], with what to do about it.
    pub fn attach() -> Result<Tracer, KernelError> {
        let numbers = bpf::call_numbers();
        let argument = numbers.argument.ok_or_else(|| {
            let arch = std::env::consts::ARCH;
            KernelError::Lacking(format!("not available on {arch}"))
        })?;
        let listing = Listing::own();
        let mut maps = Vec::new();
        for (name, shape) in &listing.maps {
            let map = Map::new(*shape).map_err(|e| lacking("a map", &e))?;
            maps.push((*name, map));
        }
        let number = std::hash::RandomState::new().build_hasher().finish() as u32;
        let control = answer::control(&numbers, argument, bpf::announcement(number));
        let first = 0u32.to_ne_bytes();
        let map = map_of(&maps, "control").map_err(|e| lacking("a map", &e))?;
        (map.set(&first, &control)).map_err(|e| lacking("a map", &e))?;
        let mut attached = Vec::new();
        let tracepoints = listing.programs.iter();
        for (tracepoint, words) in tracepoints.filter(|(name, _)| ![AT, AFTER].contains(name)) {
            let load = || {
                let code = Listing::code(words, &maps)?;
                Program::new(Kind::Tracepoint, &code, "GPL")?.on_tracepoint(tracepoint)
            };
            attached.push(load().map_err(|e| lacking(tracepoint, &e))?);
        }
        Ok(Tracer {
            maps,
            number,
            attached,
            probed: Vec::new(),
            _one_thread: PhantomData,
        })
    }

    /// From now on what this thread starts is traced.
    pub fn follow(&self) {
        bpf::announce(self.number);
    }

    /// Counts how often what is followed passes these functions of a file, from now on, and
    /// how long they take where their returns may be seen.
    ///
    /// # Errors
    /// [`KernelError`]: the kernel has no such probes.
    pub fn probe(&mut self, found: &Found) -> Result<(), KernelError> {
        let listing = Listing::own();
        let first = self.probed.len() as u64;
        let places = |flag: u64| -> Vec<Place> {
            let numbered = (first..).zip(&found.functions);
            let place = |(number, (_, offset)): (u64, &(String, u64))| Place {
                offset: *offset,
                cookie: number | flag,
            };
            numbered.map(place).collect()
        };
        let attach = |name: &str, places: &[Place]| {
            let program = self.program(&listing, name)?;
            program.on_functions(&found.file, places, name == AFTER)
        };
        let attached = match found.ends {
            Ends::Return => [AFTER, AT]
                .map(|name| attach(name, &places(0)))
                .into_iter()
                .collect::<io::Result<Vec<_>>>(),
            Ends::Entry => attach(AT, &places(ENTRY_ONLY)).map(|one| vec![one]),
        };
        (self.attached).extend(attached.map_err(|error| lacking(PROBES, &error))?);
        let names = found.functions.iter().map(|(name, _)| name.clone());
        self.probed.extend(names);
        Ok(())
    }

    /// Whether functions can be probed here.
    ///
    /// # Errors
    /// [`KernelError`]: they cannot.
    pub fn can_probe(&self) -> Result<(), KernelError> {
        let program = self.program(&Listing::own(), AT);
        program.map(drop).map_err(|error| lacking(PROBES, &error))
    }

    fn program(&self, listing: &Listing, name: &str) -> io::Result<Program> {
        let found = listing.programs.iter().find(|(other, _)| *other == name);
        let (_, words) = found.ok_or_else(|| io::Error::other(format!("no program {name}")))?;
        Program::new(Kind::Functions, &Listing::code(words, &self.maps)?, "GPL")
    }

    /// What was seen of the functions that are probed, by name: several that have one name
    /// are added up.
    ///
    /// # Errors
    /// The kernel's.
    pub fn probed(&self) -> io::Result<BTreeMap<String, Probed>> {
        let entries = map_of(&self.maps, "probes")?.entries()?;
        Ok(answer::probed(&self.probed, &entries))
    }

    /// What was counted so far: all of what has ended, and what still runs up to now.
    ///
    /// # Errors
    /// The kernel's.
    pub fn answer(&self) -> io::Result<Kernel> {
        let map = |name| map_of(&self.maps, name);
        let control = map("control")?.get(&0u32.to_ne_bytes())?;
        let ended = map("threads")?.entries()?;
        let running = map("tasks")?.entries()?;
        let calls = map("calls")?.entries()?;
        Ok(answer::read(
            &control.unwrap_or_default(),
            &ended,
            &running,
            &calls,
        ))
    }
}

fn map_of<'a>(maps: &'a [(&'static str, Map)], name: &str) -> io::Result<&'a Map> {
    let found = maps.iter().find(|(of, _)| *of == name);
    found
        .map(|(_, map)| map)
        .ok_or_else(|| io::Error::other(format!("no map {name}")))
}

#[cfg(test)]
mod tests;
