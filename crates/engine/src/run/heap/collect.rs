//! Finding the objects that nothing refers to any more, in steps, between which the program
//! runs.
//!
//! ```text
//!  program ───┐    ┌──────┐    ┌──────┐    ┌─────
//!           roots  │     step  │     step  │            a pause each, in an allocation
//!           step ──┘      ─────┘     sweep ┘
//! ```
//!
//! A collection keeps what was referred to when it began, and what was made since (Yuasa,
//! "Real-time garbage collection on general-purpose machines", 1990).
//!
//! The stack is read as it is, as for other references (`run/marks.rs`), and a word of it
//! counts as a reference if either half of it could be one, or if it is an address of
//! something in an object: an optimiser keeps what it needs, and that need not be the
//! reference. Code by LLVM, which may keep less, stores the references for this
//! (`compile/llvm/ir/roots.rs`). References in objects are known by their types.
//!
//! What must stay true:
//! - All roots are read in the first step. Later the program has a reference from there, from
//!   a field, or from an allocation; so no root needs to be read twice.
//! - A reference in an object that is overwritten while a collection is under way is marked
//!   in the next step: compiled code writes it to a log. So what was reachable in the beginning
//!   is found, wherever the program has put it meanwhile. Where the log was full, references
//!   are lost, and a collection begins anew and is done in one go.
//! - What is handed out while one is under way is not freed at its end.
//! - The steps keep up: each looks at [`PACE`] bytes for each that was handed out, and a
//!   collection during which as much was handed out as before it is ended in one go.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use fathom_sys::cells::{Domain, Placed};
use fathom_sys::pkeys::Key;

use super::{BLOCK_BYTES, Collector, Heap, Hosts, Marking, Space};
use crate::facts::object::{self, Cell, HEADER_BYTES, Layout, tag};
use crate::facts::types::HeapType;
use crate::facts::vmctx::VmHeap;
use crate::run::marks::each_root;
use crate::run::store::StoreOpaque;

/// Bytes that are looked at for each that is handed out.
const PACE: u64 = 8;
/// What looking at a reference counts for: it is of four bytes, but leads to another object.
const REFERENCE_WORK: u64 = 16;
/// Elements of an array that are looked at in a row.
const PART: u32 = 4096;

/// Objects that are loaded ahead.
const AHEAD: usize = 8;

/// By number of a type.
type Layouts = [Option<Arc<Layout>>];

/// The bytes of the object at an offset; nothing where none was put.
pub(super) fn size_at(layouts: &Layouts, space: &Space, at: u32) -> Option<u64> {
    let layout = layouts.get(space.read(at) as usize)?.as_ref()?;
    Some(layout.bytes(space.read(at + object::LENGTH as u32)))
}

/// The references that compiled code has overwritten in objects since the last step.
#[derive(Debug)]
pub(super) struct Log(Placed<[u32]>);

/// References that are overwritten between two steps, at most; of more, some are lost.
const LOG: usize = 256 << 10;

impl Log {
    /// For code of a domain. What it does not write to takes no memory.
    fn new(domain: Domain) -> Log {
        Log(Placed::zeros(domain, Key::Inside, LOG))
    }

    /// The first place and the last one.
    fn places(&self) -> (*mut u32, *mut u32) {
        let first = self.0.address().cast::<u32>().as_ptr();
        (first, first.wrapping_add(LOG - 1))
    }

    /// What was written, when that is the next place; nothing where some is lost.
    fn written(&self, next: *mut u32) -> Option<&[u32]> {
        let (first, last) = self.places();
        let count = (next as usize - first as usize) / size_of::<u32>();
        (next != last).then(|| &self.0[..count])
    }
}

/// The objects that were marked and are to be looked at.
#[derive(Debug, Default)]
pub(super) struct Work {
    pending: Vec<u32>,
    /// Arrays of which a part was, with the index of the next element.
    parts: Vec<(u32, u32)>,
}

struct Marker<'a> {
    space: &'a mut Space,
    layouts: &'a Layouts,
    work: &'a mut Work,
    hosts: &'a mut Hosts,
}

impl<'a> Marker<'a> {
    /// A reference that is one for certain.
    fn reference(&mut self, reference: u32) {
        match reference & tag::MASK {
            0 if reference != 0 => self.object(reference),
            tag::HOST => self.hosts.mark(reference),
            _ => {}
        }
    }

    fn object(&mut self, object: u32) {
        if self.space.mark(object) {
            self.work.pending.push(object);
        }
    }

    /// A word that may be a reference, two of them, or an address.
    fn word(&mut self, word: u64) {
        let base = self.space.base().as_ptr() as u64;
        let inside = word.wrapping_sub(base);
        let candidates = [word as u32, (word >> 32) as u32, inside as u32];
        let count = if inside >> 32 == 0 { 3 } else { 2 };
        for candidate in &candidates[..count] {
            self.candidate(*candidate);
        }
    }

    fn candidate(&mut self, word: u32) {
        if self.hosts.has(word) {
            self.hosts.mark(word);
        }
        if word < 2 * BLOCK_BYTES {
            return;
        }
        let layouts = self.layouts;
        let size = |space: &Space, at: u32| size_at(layouts, space, at);
        if let Some(object) = self.space.object_at(word, &size) {
            self.object(object);
        }
    }

    fn slots(&mut self, slots: &[u128]) {
        for slot in slots {
            self.word(*slot as u64);
            self.word((*slot >> 64) as u64);
        }
    }

    fn roots(&mut self, store: &StoreOpaque) {
        let is_of = |heap: HeapType| heap.is_any() || heap.is_extern();
        each_root(store, is_of, |word| self.word(word as u64));
        store.exceptions.each_value(|values| self.slots(values));
    }

    /// Looks at marked objects, at so many bytes about; whether nothing is left.
    fn look(&mut self, bytes: u64) -> bool {
        let mut looked = 0;
        let mut ahead = [0; AHEAD];
        let mut turn = 0;
        while looked < bytes {
            looked += if let Some(object) = self.next(&mut ahead, &mut turn) {
                self.inside_of(object)
            } else if let Some((array, from)) = self.work.parts.pop() {
                let (layout, len) = self.layout(array);
                match layout {
                    Layout::Array(cell) => self.elements(array, *cell, from, len),
                    Layout::Struct { .. } => unreachable!("only arrays have parts"),
                }
            } else {
                return true;
            };
        }
        let left = ahead.into_iter().filter(|object| *object != 0);
        self.work.pending.extend(left);
        false
    }

    /// The next object to look at: one that the processor was asked to load a few objects ago,
    /// for next to none is in its cache. 0 is none.
    fn next(&mut self, ahead: &mut [u32; AHEAD], turn: &mut usize) -> Option<u32> {
        for _ in 0..AHEAD {
            *turn = (*turn + 1) % AHEAD;
            let later = self.work.pending.pop().unwrap_or(0);
            self.space.prefetch(later);
            let next = std::mem::replace(&mut ahead[*turn], later);
            if next != 0 {
                return Some(next);
            }
        }
        // The first ones are on their way now, or there is none.
        let found = ahead.iter().position(|object| *object != 0)?;
        Some(std::mem::take(&mut ahead[found]))
    }

    /// Marks what an object refers to, or some of it; the bytes that were looked at.
    fn inside_of(&mut self, object: u32) -> u64 {
        let (layout, len) = self.layout(object);
        self.space.keep_lines(object, layout.bytes(len));
        let looked = match layout {
            Layout::Struct { collected, .. } => {
                let fields = collected.iter();
                fields.for_each(|field| self.cell(field.cell, object + field.offset));
                collected.len() as u64 * REFERENCE_WORK
            }
            Layout::Array(cell) if cell.is_collected() => self.elements(object, *cell, 0, len),
            Layout::Array(_) => 0,
        };
        u64::from(HEADER_BYTES) + looked
    }

    fn elements(&mut self, array: u32, cell: Cell, from: u32, len: u32) -> u64 {
        let count = PART.min(len - from);
        for i in from..from + count {
            self.cell(cell, array + HEADER_BYTES + (i << cell.shift()));
        }
        if from + count < len {
            self.work.parts.push((array, from + count));
        }
        u64::from(count) * REFERENCE_WORK
    }

    fn cell(&mut self, cell: Cell, at: u32) {
        match cell {
            Cell::Extern => {
                let raw = self.space.read_long(at);
                if raw & tag::INSIDE != 0 {
                    self.reference(raw as u32);
                }
            }
            _ => {
                let reference = self.space.read(at);
                self.reference(reference);
            }
        }
    }

    /// How an object is laid out, and what stands in the place of its length.
    fn layout(&self, object: u32) -> (&'a Layout, u32) {
        let number = self.space.read(object + object::TYPE as u32);
        let layout = self.layouts[number as usize].as_deref();
        let layout = layout.expect("an object has a type of its store's");
        (layout, self.space.read(object + object::LENGTH as u32))
    }
}

/// Leaves zeros where calls that have ended had their frames: those of a collection come to
/// lie there, with words in them that nobody has written since.
#[inline(never)]
fn overwrite_what_ended() {
    std::hint::black_box([0_u64; 1024]);
}

impl StoreOpaque {
    /// Frees what nothing refers to.
    pub(crate) fn collect_objects(&mut self) {
        self.paused(|store| {
            // What one that is under way keeps may be referred to no more.
            if store.is_marking() {
                store.look(u64::MAX);
            }
            store.begin_marking();
            store.look(u64::MAX);
        });
    }

    /// Begins a collection, or does its next step, where enough was handed out.
    pub(super) fn collect_where_it_is_time(&mut self) {
        let heap = self.heap.as_deref().expect("its module was prepared");
        let handed_out = heap.space.handed_out();
        let owed = match &heap.marking {
            None if handed_out < heap.until => return,
            // One step an allocation, however much it is.
            _ if heap.between == 0 => 0,
            None => 0,
            Some(_) if handed_out >= 2 * heap.until => u64::MAX,
            Some(marking) => match (handed_out - marking.handed_out) * PACE {
                owed if owed < heap.step => return,
                owed => owed,
            },
        };
        let bytes = owed.max(heap.step);
        self.paused(|store| {
            if !store.is_marking() {
                store.begin_marking();
            }
            store.look(bytes);
        });
    }

    /// So many elements of an array are about to be overwritten, from an index on.
    pub(crate) fn elements_overwritten(&mut self, array: u32, from: u32, len: u32) {
        let Some(mut marker) = self.marker() else {
            return;
        };
        if let (Layout::Array(cell), _) = marker.layout(array)
            && cell.is_collected()
        {
            for i in from..from + len {
                marker.cell(*cell, array + HEADER_BYTES + (i << cell.shift()));
            }
        }
    }

    /// Does work of a collector, where there is one, for which the program waits.
    fn paused(&mut self, work: impl FnOnce(&mut StoreOpaque)) {
        let collects = |heap: &Heap| heap.collector == Collector::MarkRegion;
        if !self.heap.as_deref().is_some_and(collects) {
            return;
        }
        let began = Instant::now();
        work(self);
        let heap = self.heap.as_deref_mut().expect("it was there");
        heap.stats.pauses.add(began.elapsed());
    }

    /// Whether a collection is under way.
    pub(crate) fn is_marking(&self) -> bool {
        !self.runtime.heap.log_next.is_null()
    }

    fn marker(&mut self) -> Option<Marker<'_>> {
        let heap = self.heap.as_deref_mut()?;
        Some(Marker {
            space: &mut heap.space,
            layouts: &heap.layouts,
            work: &mut heap.marking.as_mut()?.work,
            hosts: &mut self.hosts,
        })
    }

    /// Marks what the roots refer to.
    fn begin_marking(&mut self) {
        let mut heap = self.heap.take().expect("there is a heap");
        overwrite_what_ended();
        heap.space.note_used(self.runtime.heap.next);
        let domain = self.engine.domain();
        let log = heap.log.get_or_insert_with(|| Log::new(domain));
        let (log_next, log_last) = log.places();
        self.runtime.heap = VmHeap {
            base: self.runtime.heap.base,
            log_next,
            log_last,
            ..VmHeap::default()
        };
        heap.space.begin_marking();
        let mut hosts = std::mem::take(&mut self.hosts);
        hosts.begin_marking();
        let mut work = Work::default();
        let mut marker = Marker {
            space: &mut heap.space,
            layouts: &heap.layouts,
            work: &mut work,
            hosts: &mut hosts,
        };
        let held = heap.held.get_mut();
        let held = held.unwrap_or_else(PoisonError::into_inner);
        held.iter().for_each(|held| marker.reference(*held));
        marker.roots(self);
        heap.marking = Some(Marking {
            work,
            handed_out: 0,
        });
        self.hosts = hosts;
        self.heap = Some(heap);
    }

    /// Marks what was overwritten, and looks at so many bytes about; all of them where that is
    /// not known.
    fn look(&mut self, bytes: u64) {
        match self.read_log() {
            true => self.look_at_marked(bytes),
            false => {
                self.begin_marking();
                self.look_at_marked(u64::MAX);
            }
        }
    }

    /// Marks what compiled code has overwritten since the last step; whether that is known.
    fn read_log(&mut self) -> bool {
        let heap = self.heap.as_deref_mut().expect("there is a heap");
        let marking = heap.marking.as_mut().expect("it is under way");
        let log = heap.log.as_ref().expect("it was made when that began");
        let mut marker = Marker {
            space: &mut heap.space,
            layouts: &heap.layouts,
            work: &mut marking.work,
            hosts: &mut self.hosts,
        };
        let Some(written) = log.written(self.runtime.heap.log_next) else {
            return false;
        };
        written.iter().for_each(|old| marker.reference(*old));
        (self.runtime.heap.log_next, _) = log.places();
        true
    }

    /// Looks at so many bytes about, and frees what is not marked when nothing is left.
    fn look_at_marked(&mut self, bytes: u64) {
        let mut marker = self.marker().expect("a collection is under way");
        let is_done = marker.look(bytes);
        let heap = self.heap.as_deref_mut().expect("there is a heap");
        if let (false, Some(marking)) = (is_done, &mut heap.marking) {
            marking.handed_out = heap.space.handed_out();
            return;
        }
        heap.marking = None;
        self.runtime.heap.log_next = std::ptr::null_mut();
        let live = heap.space.sweep();
        self.hosts.sweep();
        heap.until = match heap.between {
            0 => 0,
            // As many again in all: the rest is handed out while the next is under way.
            between => between.max(live / 4 * 3),
        };
        heap.stats.collections += 1;
        heap.stats.live_bytes = live;
    }
}
