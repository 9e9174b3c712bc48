//! Finding the objects that nothing refers to any more.
//!
//! The stack is read as it is, as for other references (`run/marks.rs`), and a word of it
//! counts as a reference if either half of it could be one, or if it is an address of
//! something in an object: an optimiser keeps what it needs, and that need not be the
//! reference. References in objects are known by their types.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::{BLOCK_BYTES, Collector, Heap, Hosts, Space};
use crate::facts::object::{self, Cell, Layout, tag};
use crate::facts::types::HeapType;
use crate::run::marks::each_root;
use crate::run::store::StoreOpaque;

/// By number of a type.
type Layouts = [Option<Arc<Layout>>];

/// The bytes of the object at an offset; nothing where none was put.
pub(super) fn size_at(layouts: &Layouts, space: &Space, at: u32) -> Option<u64> {
    let layout = layouts.get(space.read(at) as usize)?.as_ref()?;
    Some(layout.bytes(space.read(at + object::LENGTH as u32)))
}

/// The objects that were marked, and whose references were not looked at yet.
struct Marking<'a> {
    heap: &'a mut Heap,
    hosts: &'a mut Hosts,
    layouts: &'a Layouts,
    pending: Vec<u32>,
}

impl Marking<'_> {
    /// A reference that is one for certain.
    fn reference(&mut self, reference: u32) {
        match reference & tag::MASK {
            0 if reference != 0 => self.object(reference),
            tag::HOST => self.hosts.mark(reference),
            _ => {}
        }
    }

    fn object(&mut self, object: u32) {
        let bytes = size_at(self.layouts, &self.heap.space, object);
        let bytes = bytes.expect("an object has a type of its store's");
        if self.heap.space.mark(object, bytes) {
            self.pending.push(object);
        }
    }

    /// A word that may be a reference, two of them, or an address.
    fn word(&mut self, word: u64) {
        let base = self.heap.space.base().as_ptr() as u64;
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
        if let Some(object) = self.heap.space.object_at(word, &size) {
            self.object(object);
        }
    }

    fn slots(&mut self, slots: &[u128]) {
        for slot in slots {
            self.word(*slot as u64);
            self.word((*slot >> 64) as u64);
        }
    }

    /// Marks what marked objects refer to.
    fn finish(&mut self) {
        while let Some(object) = self.pending.pop() {
            let (number, len) = self.heap.header(object);
            let layout = self.layouts[number as usize].as_deref();
            let layout = layout.expect("an object has a type of its store's");
            for field in layout.references(len) {
                let at = object + field.offset;
                match field.cell {
                    Cell::Extern => {
                        let raw = self.heap.space.read_long(at);
                        if raw & tag::INSIDE != 0 {
                            self.reference(raw as u32);
                        }
                    }
                    _ => {
                        let reference = self.heap.space.read(at);
                        self.reference(reference);
                    }
                }
            }
        }
    }

    fn roots(&mut self, store: &StoreOpaque) {
        let is_of = |heap: HeapType| heap.is_any() || heap.is_extern();
        each_root(store, is_of, |word| self.word(word as u64));
        store.exceptions.each_value(|values| self.slots(values));
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
        let is_collected = |heap: &mut Box<Heap>| heap.collector == Collector::MarkRegion;
        let Some(mut heap) = self.heap.take_if(is_collected) else {
            return;
        };
        let began = Instant::now();
        overwrite_what_ended();
        heap.space.note_used(self.runtime.heap.next);
        (self.runtime.heap.next, self.runtime.heap.end) = (0, 0);
        heap.space.begin_marking();
        let held: Vec<u32> = {
            let held = heap.held.get_mut();
            let held = held.unwrap_or_else(PoisonError::into_inner);
            held.iter().copied().collect()
        };
        let mut hosts = std::mem::take(&mut self.hosts);
        let layouts = std::mem::take(&mut heap.layouts);
        let mut marking = Marking {
            heap: &mut heap,
            hosts: &mut hosts,
            layouts: &layouts,
            pending: Vec::new(),
        };
        held.into_iter().for_each(|held| marking.reference(held));
        marking.roots(self);
        marking.finish();
        heap.layouts = layouts;
        let live = heap.space.sweep();
        hosts.sweep();
        self.hosts = hosts;
        heap.until = match heap.step_bytes {
            0 => 0,
            step => step.max(live),
        };
        let paused = began.elapsed();
        let stats = &mut heap.stats;
        stats.pauses.add(paused);
        stats.live_bytes = live;
        self.heap = Some(heap);
    }
}
