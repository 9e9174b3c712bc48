//! Code that comes function by function: functions side by side on pages that run already.
//!
//! ```text
//!  PAGES ──▶ lines of a chunk ──▶ what is known of the function on a line
//!             | f | f | g | – | h | h | h | …     64 bytes each; no two share one
//! ```
//!
//! A function on pages of its own would cost two changes of protection, a page at least, and its
//! first lines would be in the same places of the processor's caches as all others'. So code is
//! written to a file whose pages are executable from the first ([`Appended`]).
//!
//! What must stay true: a line is written once, before anybody has an address in it; a child
//! that was forked has chunks of its own, for it shares those of its parent with it.

#![allow(unsafe_code)]

use std::io;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use fathom_sys::appended::Appended;
use fathom_sys::cells::Domain;
use fathom_sys::icache;

use super::{Arena, CodeInfo, PAGES, reserve, whole_pages};
use crate::compile::Artifact;
use crate::facts::error::{Error, Result};
use crate::facts::module::ModuleInfo;

/// In a page's cell: it points to lines.
const IS_CHUNK: usize = 1;

/// Bytes of a line.
const LINE_BYTES: usize = Artifact::ALIGN;

/// Bytes of a module's first chunk, and the most of one that is not for a single function.
const FIRST_BYTES: usize = 64 << 10;
const MOST_BYTES: usize = 1 << 20;

/// The domain that such code is in.
const DOMAIN: Domain = Domain::Open;

/// Whether this host lets code be appended, in chunks of any size: tried once.
pub(crate) fn can_append() -> bool {
    static CAN: LazyLock<bool> = LazyLock::new(|| Chunk::new(MOST_BYTES).is_ok());
    *CAN
}

/// The code on each line of a chunk.
struct Lines {
    start: usize,
    cells: Box<[AtomicPtr<CodeInfo>]>,
}

/// What a page's cell says of the code at `pc`. Async-signal-safe.
///
/// # Safety
/// The cell is that of the page, and the code there is alive.
pub(super) unsafe fn resolve(cell: *mut CodeInfo, pc: usize) -> *mut CodeInfo {
    if cell.addr() & IS_CHUNK == 0 {
        return cell;
    }
    // SAFETY: with the mark it is a chunk's, which is alive as its code is.
    let lines = unsafe { &*cell.map_addr(|address| address & !IS_CHUNK).cast::<Lines>() };
    lines.cells[(pc - lines.start) / LINE_BYTES].load(Ordering::Acquire)
}

/// Pages for functions.
struct Chunk {
    arena: &'static Arena,
    file: Appended,
    range: Range<usize>,
    /// The first byte that nothing was written to.
    used: usize,
    lines: *mut Lines,
    /// What the lines' cells point to.
    infos: Vec<Arc<CodeInfo>>,
    process: u32,
}

// SAFETY: its lines are its own, and are only freed with it.
unsafe impl Send for Chunk {}

impl Chunk {
    /// With room for so many bytes.
    fn new(bytes: usize) -> Result<Chunk> {
        let arena = reserve(DOMAIN)?;
        let bytes = whole_pages(bytes);
        let full = || Error::resource(arena.is_full(), io::ErrorKind::OutOfMemory.into());
        let range = arena.take(bytes).ok_or_else(full)?;
        let laid = Appended::new(bytes).and_then(|file| {
            arena.reservation.lay_code(range.start, &file)?;
            Ok(file)
        });
        let file = laid.map_err(|error| {
            arena.give_back(range.clone());
            Error::resource("cannot map code", error)
        })?;
        let start = arena.address(range.start) as usize;
        let cells = (0..bytes / LINE_BYTES).map(|_| AtomicPtr::new(null_mut()));
        let lines = Box::into_raw(Box::new(Lines {
            start,
            cells: cells.collect(),
        }));
        let marked = lines.map_addr(|address| address | IS_CHUNK).cast();
        PAGES[DOMAIN as usize].set(&(start..start + bytes), marked);
        Ok(Chunk {
            arena,
            file,
            range,
            used: 0,
            lines,
            infos: Vec::new(),
            process: std::process::id(),
        })
    }

    fn has_room_for(&self, bytes: usize) -> bool {
        self.used + bytes <= self.file.bytes() && self.process == std::process::id()
    }

    /// Say what is on the lines of a function at the first byte that is free.
    fn note(&mut self, info: &Arc<CodeInfo>) {
        let lines = self.used / LINE_BYTES..(self.used + info.len()).div_ceil(LINE_BYTES);
        // SAFETY: they are as long as the chunk.
        let cells = unsafe { &(*self.lines).cells };
        for cell in &cells[lines.clone()] {
            cell.store(Arc::as_ptr(info).cast_mut(), Ordering::Release);
        }
        self.used = lines.end * LINE_BYTES;
        self.infos.push(info.clone());
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        let start = self.arena.address(self.range.start) as usize;
        PAGES[DOMAIN as usize].set(&(start..start + self.range.len()), null_mut());
        // SAFETY: made by `new`, freed here only, and no cell has it any more.
        drop(unsafe { Box::from_raw(self.lines) });
        self.arena.give_back(self.range.clone());
    }
}

/// The chunks of a module; their code is alive as long as these.
#[derive(Default)]
pub(crate) struct Chunks(Mutex<Vec<Chunk>>);

impl Chunks {
    /// As [`super::CodeMemory::publish`], for the function `func`, with the calls that `link` writes
    /// into the text, which will be at an address: what is known of it.
    ///
    /// # Errors
    /// As there, and those of `link`.
    pub(crate) fn publish(
        &self,
        mut artifact: Artifact,
        func: u32,
        module: Weak<ModuleInfo>,
        link: impl FnOnce(&mut [u8], usize) -> Result<()>,
    ) -> Result<Arc<CodeInfo>> {
        let mut text = std::mem::take(&mut artifact.text);
        let mut chunks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !chunks
            .last()
            .is_some_and(|last| last.has_room_for(text.len()))
        {
            let last = chunks
                .last()
                .map_or(FIRST_BYTES / 2, |last| last.file.bytes());
            let bytes = (2 * last).min(MOST_BYTES).max(text.len());
            chunks.push(Chunk::new(bytes)?);
        }
        let chunk = chunks.last_mut().expect("there is one");
        let start = chunk.arena.address(chunk.range.start + chunk.used) as usize;
        link(&mut text, start)?;
        let written = chunk.file.write_at(&text, chunk.used);
        let addresses = start..start + text.len();
        let written = written.and_then(|()| icache::publish(addresses.clone()));
        written.map_err(|error| Error::resource("cannot write code", error))?;
        let info = Arc::new(CodeInfo::new(addresses, artifact, func, module));
        chunk.note(&info);
        Ok(info)
    }
}

impl CodeInfo {
    /// What it was published from, but for the text.
    pub(crate) fn tables(&self) -> &Artifact {
        &self.artifact
    }

    /// Address of the instruction at `offset`.
    pub(crate) fn address(&self, offset: u32) -> usize {
        self.addresses.start + offset as usize
    }

    /// Bytes of code.
    pub(crate) fn len(&self) -> usize {
        self.addresses.len()
    }
}
