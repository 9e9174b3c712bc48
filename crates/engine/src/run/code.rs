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
//! writable, for good.
//!
//! What is known of code is found by its page, without a lock, so that the fault
//! handler may ask, too. Who asks about a program counter runs there or has it on a
//! stack: its code is alive, for whose store is alive has its modules.

#![allow(unsafe_code)]

mod chunk;

pub(crate) use chunk::{Chunks, can_append};
use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU8;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError, Weak};

use cranelift_codegen::ir::TrapCode as ClifTrap;
use fathom_sys::cells::Domain;
use fathom_sys::icache;
use fathom_sys::map::{Access, PageBytes, Reservation, page_bytes};
use fathom_sys::pkeys::Key;
use smallvec::SmallVec;

use crate::compile::{Artifact, CodeRange};
use crate::facts::bytes::Bytes;
use crate::facts::error::{Error, Result};
use crate::facts::module::ModuleInfo;

/// Bytes of code all modules of a process can have together; the first that the
/// host has address space for.
const ARENA_BYTES: [usize; 3] = [4 << 30, 1 << 30, 256 << 20];

/// One for each domain: locked code reads its own constants.
static ARENAS: [LazyLock<io::Result<Arena>>; 2] = [
    LazyLock::new(|| Arena::new(Domain::Open)),
    LazyLock::new(|| Arena::new(Domain::Locked)),
];
/// Of each arena, what code there is.
static PAGES: [Pages; 2] = [const { Pages::none() }; 2];

/// The code on each page of an arena: nobody shares a page.
struct Pages {
    /// First address and the one after the last; 0 as long as there is no arena.
    start: AtomicUsize,
    end: AtomicUsize,
    /// A cell for each page, null where there is no code; never unmapped. It points to what is
    /// known of the code there, or, with [`IS_CHUNK`] set, to the lines of a chunk.
    cells: AtomicPtr<AtomicPtr<CodeInfo>>,
}

impl Pages {
    const fn none() -> Pages {
        Pages {
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            cells: AtomicPtr::new(null_mut()),
        }
    }

    /// Those of an arena, once.
    fn begin(&self, addresses: Range<usize>) -> io::Result<()> {
        let count = addresses.len().div_ceil(page_bytes());
        let bytes = PageBytes::round_up(count * size_of::<AtomicPtr<CodeInfo>>());
        let bytes = bytes.ok_or(io::ErrorKind::OutOfMemory)?;
        let cells = Reservation::new(bytes, Access::ReadWrite)?;
        self.cells
            .store(cells.start().as_ptr().cast(), Ordering::Release);
        std::mem::forget(cells);
        self.end.store(addresses.end, Ordering::Release);
        self.start.store(addresses.start, Ordering::Release);
        Ok(())
    }

    fn contains(&self, pc: usize) -> bool {
        let start = self.start.load(Ordering::Acquire);
        start != 0 && (start..self.end.load(Ordering::Acquire)).contains(&pc)
    }

    /// The cell of an address inside.
    fn cell(&self, address: usize) -> &AtomicPtr<CodeInfo> {
        assert!(self.contains(address), "inside the arena");
        let page = (address - self.start.load(Ordering::Acquire)) / page_bytes();
        // SAFETY: there is a cell for each page; zeros are null pointers.
        unsafe { &*self.cells.load(Ordering::Acquire).add(page) }
    }

    /// Say what is on the pages of `addresses`.
    fn set(&self, addresses: &Range<usize>, code: *mut CodeInfo) {
        for address in addresses.clone().step_by(page_bytes()) {
            self.cell(address).store(code, Ordering::Release);
        }
    }
}

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
        PAGES[domain as usize].begin(reservation.addresses())?;
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

    /// Fill a range that was taken with code; what is behind its pages stays writable.
    fn write(&self, text: &[u8], range: Range<usize>) -> io::Result<()> {
        self.reservation.open(range.clone())?;
        let range = range.start..range.start + whole_pages(text.len());
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

/// Bytes of the pages that so many bytes take.
pub(crate) fn whole_pages(bytes: usize) -> usize {
    bytes.max(1).next_multiple_of(page_bytes())
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
    PAGES.iter().any(|pages| pages.contains(pc))
}

/// What is known of a piece of code.
#[derive(Debug)]
pub(crate) struct CodeInfo {
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
    /// The module that the code is of, while it lives.
    pub module: Weak<ModuleInfo>,
}

/// The trap that the instruction at `pc` raises, if it is one that may trap.
/// Async-signal-safe.
pub(crate) fn trap_at(pc: usize) -> Option<ClifTrap> {
    let code = find(pc)?;
    let raw = code.artifact.trap_at((pc - code.addresses.start) as u32)?;
    Some(ClifTrap::from_raw(NonZeroU8::new(raw)?))
}

/// The first instruction of the function, or of the way out to the host or to the compiler,
/// that `pc` is in.
/// Async-signal-safe.
pub(crate) fn start_of(pc: usize) -> Option<usize> {
    let code = find(pc)?;
    let at = (pc - code.addresses.start) as u32;
    let after = code.funcs.partition_point(|(range, _)| range.offset <= at);
    let function = code.funcs[..after].last().map(|(range, _)| *range);
    let exits = code.artifact.exits.iter().flatten().copied();
    let first_call = code.artifact.first_call;
    let around = function
        .into_iter()
        .chain(exits)
        .chain(first_call)
        .find(|range| range.contains(at));
    around.map(|range| code.addresses.start + range.offset as usize)
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

/// The functions that `pc` is in, innermost first: one, and those it was
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
    let mut offset = code.artifact.position_at(at);
    for inlined in code.artifact.inlined_at(at) {
        push(inlined.func, offset);
        offset = Some(inlined.call);
    }
    push(*func, offset);
    places
}

/// The code that `pc` is in. Async-signal-safe.
fn find(pc: usize) -> Option<&'static CodeInfo> {
    let pages = PAGES.iter().find(|pages| pages.contains(pc))?;
    // SAFETY: who asks keeps the code alive (see the module's head), and with it what
    // the cell points to.
    let code = unsafe {
        let cell = pages.cell(pc).load(Ordering::Acquire);
        chunk::resolve(cell, pc).as_ref()?
    };
    code.addresses.contains(&pc).then_some(code)
}

/// Executable code; its pages are given back when it is dropped.
#[derive(Debug)]
pub(crate) struct CodeMemory {
    start: *const u8,
    len: usize,
    range: Range<usize>,
    domain: Domain,
    /// What the cells of its pages point to.
    info: *mut CodeInfo,
}

// SAFETY: immutable code, and what is known of it.
unsafe impl Send for CodeMemory {}
// SAFETY: immutable code.
unsafe impl Sync for CodeMemory {}

impl CodeMemory {
    /// Copy an artifact's text into the arena of a domain, make it executable and register
    /// what is known of it. Its functions are those from `first_func` on; behind the pages of
    /// the text are so many words that stay writable.
    ///
    /// # Errors
    /// Where the arena or the machine's memory is full.
    pub fn publish(
        mut artifact: Artifact,
        domain: Domain,
        first_func: u32,
        module: Weak<ModuleInfo>,
        words: usize,
    ) -> Result<CodeMemory> {
        let text = std::mem::take(&mut artifact.text);
        let arena = reserve(domain)?;
        let full = || io::Error::from(io::ErrorKind::OutOfMemory);
        let pages = PageBytes::round_up(whole_pages(text.len()) + words * size_of::<usize>())
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
        let info = CodeInfo::new(addresses.clone(), artifact, first_func, module);
        let info = Box::into_raw(Box::new(info));
        PAGES[domain as usize].set(&addresses, info);
        Ok(CodeMemory {
            start,
            len: text.len(),
            range,
            domain,
            info,
        })
    }

    /// Address of the instruction at `offset`.
    pub fn address(&self, offset: u32) -> *const u8 {
        assert!((offset as usize) <= self.len, "offset inside the code");
        // SAFETY: inside, as asserted.
        unsafe { self.start.add(offset as usize) }
    }

    /// The word at `index` of those behind the text, of which there are more.
    pub fn word(&self, index: usize) -> &AtomicUsize {
        let at = self.range.start + whole_pages(self.len) + index * size_of::<usize>();
        assert!(at < self.range.end, "a word of this code");
        let arena = ARENAS[self.domain as usize].as_ref();
        let address = arena.expect("this code is in it").address(at);
        // SAFETY: in pages of this code's that are writable as long as it lives, aligned, and
        // only accessed as a whole.
        unsafe { AtomicUsize::from_ptr(address.cast()) }
    }

    /// What it was published from, but for the text.
    pub fn tables(&self) -> &Artifact {
        // SAFETY: made by `publish`, and not freed before this is dropped.
        &unsafe { &*self.info }.artifact
    }

    /// What it was published from.
    pub fn artifact(&self) -> Artifact {
        let mut artifact = self.tables().clone();
        // SAFETY: executable code is readable, and nobody writes to it.
        artifact.text = unsafe { std::slice::from_raw_parts(self.start, self.len) }.to_vec();
        artifact
    }

    /// Bytes of code.
    pub fn len(&self) -> usize {
        self.len
    }
}

impl CodeInfo {
    fn new(
        addresses: Range<usize>,
        artifact: Artifact,
        first_func: u32,
        module: Weak<ModuleInfo>,
    ) -> CodeInfo {
        let functions = artifact.functions.iter().copied();
        let mut funcs: Vec<(CodeRange, u32)> = functions.zip(first_func..).collect();
        funcs.sort_unstable_by_key(|(range, _)| range.offset);
        CodeInfo {
            addresses,
            artifact,
            funcs,
            module,
        }
    }
}

impl Drop for CodeMemory {
    fn drop(&mut self) {
        let start = self.start as usize;
        PAGES[self.domain as usize].set(&(start..start + self.len), null_mut());
        // SAFETY: made by `publish`, freed here only, and no cell has it any more.
        drop(unsafe { Box::from_raw(self.info) });
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
