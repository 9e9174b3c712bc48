//! The code arena: where compiled code lives, and what is known of a program
//! counter in it.
//!
//! ```text
//!  ARENAS, one reservation for each domain, never released
//!   |-- module A --|-- free --|-- trampolines --|-- module B --|-- free … --|
//!      read+execute            each a CodeMemory, in page units
//! ```
//!
//! Code is written while its pages are writable and not executable, the
//! instruction caches are told, then the pages become executable and not
//! writable, for good. [`contains`] is all that the
//! fault handler asks; the rest is looked up outside of signal handlers.

#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU8;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock, Weak};

use cranelift_codegen::ir::TrapCode as ClifTrap;
use fathom_sys::cells::Domain;
use fathom_sys::icache;
use fathom_sys::map::{Access, PageBytes, Reservation};
use fathom_sys::pkeys::Key;
use smallvec::SmallVec;

use crate::compile::{Artifact, CodeRange};
use crate::error::{Error, Result};
use crate::module::ModuleInfo;
use crate::refusal::Bytes;

/// Bytes of code all modules of a process can have together; the first that the
/// host has address space for.
const ARENA_BYTES: [usize; 3] = [4 << 30, 1 << 30, 256 << 20];

/// One for each domain: locked code reads its own constants.
static ARENAS: [LazyLock<io::Result<Arena>>; 2] = [
    LazyLock::new(|| Arena::new(Domain::Open)),
    LazyLock::new(|| Arena::new(Domain::Locked)),
];
/// First address and the one after the last of each; 0 as long as there is none.
static ADDRESSES: [[AtomicUsize; 2]; 2] = [const { [const { AtomicUsize::new(0) }; 2] }; 2];
static REGISTRY: RwLock<BTreeMap<usize, Arc<CodeInfo>>> = RwLock::new(BTreeMap::new());

/// Where all code is.
pub(crate) struct Arena {
    reservation: Reservation,
    /// Free ranges by start, coalesced.
    free: Mutex<BTreeMap<usize, usize>>,
}

impl Arena {
    fn new(domain: Domain) -> io::Result<Arena> {
        let mut reserved = Err(io::ErrorKind::OutOfMemory.into());
        for bytes in ARENA_BYTES {
            if reserved.is_err() {
                let bytes = PageBytes::round_up(bytes).ok_or(io::ErrorKind::OutOfMemory)?;
                reserved = Reservation::new(bytes, Access::None);
            }
        }
        let reservation = match domain {
            Domain::Open => reserved?,
            Domain::Locked => reserved?.keyed(Access::None, Key::Fixed)?,
        };
        let bytes = reservation.bytes();
        let [start, end] = &ADDRESSES[domain as usize];
        end.store(reservation.addresses().end, Ordering::Release);
        start.store(reservation.addresses().start, Ordering::Release);
        Ok(Arena {
            reservation,
            free: Mutex::new(BTreeMap::from([(0, bytes.get())])),
        })
    }

    /// Address of an offset.
    fn address(&self, offset: usize) -> *mut u8 {
        let bytes = self.reservation.bytes().get();
        assert!(offset < bytes, "inside the arena");
        // SAFETY: inside, as asserted.
        unsafe { self.reservation.start().as_ptr().add(offset) }
    }

    /// Fill a range that was taken with code.
    fn write(&self, text: &[u8], range: Range<usize>) -> io::Result<()> {
        self.reservation.open(range.clone())?;
        let start = self.address(range.start);
        // SAFETY: the pages were just opened for writing, are as long as the
        // text at least, and belong to nobody else.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), start, text.len()) };
        icache::publish(start as usize..start as usize + text.len())?;
        self.reservation.make_executable(range)
    }

    /// What to say where nothing is left: how much the host had room for.
    fn is_full(&self) -> String {
        let bytes = Bytes(self.reservation.bytes().get() as u64);
        format!("the code arena of {bytes} is full: drop modules that are not used")
    }

    /// First fit.
    fn take(&self, bytes: usize) -> Option<Range<usize>> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, len) = free
            .iter()
            .find(|(_, len)| **len >= bytes)
            .map(|(s, l)| (*s, *l))?;
        free.remove(&start);
        if len > bytes {
            free.insert(start + bytes, len - bytes);
        }
        Some(start..start + bytes)
    }

    fn give_back(&self, range: Range<usize>) {
        // The pages lose their contents and their access; where that fails
        // they are never used again.
        if self.reservation.close(range.clone()).is_err() {
            return;
        }
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut merged = range;
        if let Some(len) = free.remove(&merged.end) {
            merged.end += len;
        }
        let before = free
            .range(..merged.start)
            .next_back()
            .map(|(s, l)| (*s, *l));
        if let Some((start, len)) = before
            && start + len == merged.start
        {
            merged.start = start;
        }
        free.insert(merged.start, merged.len());
    }
}

/// The arena of a domain, reserved once.
///
/// # Errors
/// Where the process has no address space for it.
pub(crate) fn reserve(domain: Domain) -> Result<&'static Arena> {
    ARENAS[domain as usize].as_ref().map_err(|e| {
        let source = e
            .raw_os_error()
            .map_or_else(|| e.kind().into(), io::Error::from_raw_os_error);
        Error::resource("cannot reserve address space for code", source)
    })
}

/// Whether `pc` is in an arena. Async-signal-safe.
pub(crate) fn contains(pc: usize) -> bool {
    ADDRESSES.iter().any(|[start, end]| {
        let start = start.load(Ordering::Acquire);
        start != 0 && (start..end.load(Ordering::Acquire)).contains(&pc)
    })
}

/// What is known of a piece of code.
#[derive(Debug)]
struct CodeInfo {
    addresses: Range<usize>,
    /// Its tables; the text is empty, it is in the arena.
    artifact: Artifact,
    /// Functions in the order of their code: range and function index.
    funcs: Vec<(CodeRange, u32)>,
    /// The module, for names; none for trampolines.
    module: Weak<ModuleInfo>,
}

/// A place in the code of a function.
pub(crate) struct Place {
    /// Function index.
    pub func: u32,
    /// Offset in the module.
    pub offset: Option<u32>,
    /// Its module.
    pub module: Weak<ModuleInfo>,
}

/// The trap that the instruction at `pc` raises, if it is one that may trap.
pub(crate) fn trap_at(pc: usize) -> Option<ClifTrap> {
    let code = find(pc)?;
    let raw = code.artifact.trap_at((pc - code.addresses.start) as u32)?;
    Some(ClifTrap::from_raw(NonZeroU8::new(raw)?))
}

/// Where an exception goes on that comes out of a call.
pub(crate) struct Handler {
    /// Address of its code.
    pub pc: usize,
    /// Bytes from the stack pointer there up to the frame pointer.
    pub frame_bytes: usize,
}

/// The handler of the call that returns to `pc`, if there is one.
pub(crate) fn handler_of(pc: usize) -> Option<Handler> {
    let code = find(pc)?;
    let start = code.addresses.start;
    let site = code.artifact.handler_at((pc - start) as u32)?;
    Some(Handler {
        pc: start + site.handler as usize,
        frame_bytes: site.frame_bytes as usize,
    })
}

/// The functions that `pc` is in, innermost first: one, and the one it was
/// inlined into; none for trampolines.
pub(crate) fn places_of(pc: usize) -> SmallVec<[Place; 2]> {
    let mut places = SmallVec::new();
    let Some(code) = find(pc) else {
        return places;
    };
    let at = (pc - code.addresses.start) as u32;
    let after = code.funcs.partition_point(|(range, _)| range.offset <= at);
    let around = code.funcs[..after].last();
    let Some((_, func)) = around.filter(|(range, _)| range.contains(at)) else {
        return places;
    };
    let mut push = |func, offset| {
        places.push(Place {
            func,
            offset,
            module: code.module.clone(),
        });
    };
    let offset = code.artifact.position_at(at);
    match code.artifact.inlined_at(at) {
        Some(inlined) => {
            push(inlined.func, offset);
            push(*func, Some(inlined.call));
        }
        None => push(*func, offset),
    }
    places
}

fn find(pc: usize) -> Option<Arc<CodeInfo>> {
    let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
    let (_, code) = registry.range(pc + 1..).next()?;
    code.addresses.contains(&pc).then(|| code.clone())
}

/// Executable code; its pages are given back when it is dropped.
#[derive(Debug)]
pub(crate) struct CodeMemory {
    start: *const u8,
    len: usize,
    range: Range<usize>,
    domain: Domain,
    registered: usize,
}

// SAFETY: immutable code.
unsafe impl Send for CodeMemory {}
// SAFETY: immutable code.
unsafe impl Sync for CodeMemory {}

impl CodeMemory {
    /// Copy an artifact's text into the arena of a domain, make it executable and register
    /// what is known of it. Its functions are those from `first_func` on.
    ///
    /// # Errors
    /// Where the arena or the machine's memory is full.
    pub fn publish(
        mut artifact: Artifact,
        domain: Domain,
        first_func: u32,
        module: Weak<ModuleInfo>,
    ) -> Result<CodeMemory> {
        let text = std::mem::take(&mut artifact.text);
        let arena = reserve(domain)?;
        let full = || io::Error::from(io::ErrorKind::OutOfMemory);
        let pages = PageBytes::round_up(text.len().max(1))
            .ok_or_else(|| Error::resource("code", full()))?;
        let range = arena
            .take(pages.get())
            .ok_or_else(|| Error::resource(arena.is_full(), full()))?;
        if let Err(error) = arena.write(&text, range.clone()) {
            arena.give_back(range);
            return Err(Error::resource("cannot make code executable", error));
        }
        let start = arena.address(range.start);
        let addresses = start as usize..start as usize + text.len();
        let registered = register(addresses, artifact, first_func, module);
        Ok(CodeMemory {
            start,
            len: text.len(),
            range,
            domain,
            registered,
        })
    }

    /// Address of the instruction at `offset`.
    pub fn address(&self, offset: u32) -> *const u8 {
        assert!((offset as usize) <= self.len, "offset inside the code");
        // SAFETY: inside, as asserted.
        unsafe { self.start.add(offset as usize) }
    }

    /// Bytes of code.
    pub fn len(&self) -> usize {
        self.len
    }
}

/// Returns the registry's key: the end address, at least one past the start.
fn register(
    addresses: Range<usize>,
    artifact: Artifact,
    first_func: u32,
    module: Weak<ModuleInfo>,
) -> usize {
    let key = addresses.end.max(addresses.start + 1);
    let mut funcs: Vec<(CodeRange, u32)> = artifact
        .functions
        .iter()
        .copied()
        .zip(first_func..)
        .collect();
    funcs.sort_unstable_by_key(|(range, _)| range.offset);
    let info = Arc::new(CodeInfo {
        addresses,
        artifact,
        funcs,
        module,
    });
    REGISTRY
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(key, info);
    key
}

impl Drop for CodeMemory {
    fn drop(&mut self) {
        REGISTRY
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.registered);
        if let Ok(arena) = ARENAS[self.domain as usize].as_ref() {
            arena.give_back(self.range.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_arena_says_how_large_it_is() {
        for bytes in ARENA_BYTES {
            let pages = PageBytes::round_up(bytes).unwrap();
            let Ok(reservation) = Reservation::new(pages, Access::None) else {
                eprintln!("SKIPPED: no address space for {bytes} bytes");
                continue;
            };
            let free = Mutex::new(BTreeMap::from([(0, 4096)]));
            let arena = Arena { reservation, free };
            assert_eq!(arena.take(4097), None);
            let said = format!("the code arena of {} is full", Bytes(bytes as u64));
            assert!(arena.is_full().starts_with(&said), "{}", arena.is_full());
        }
    }
}
