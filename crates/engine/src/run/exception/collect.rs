//! Finding the exceptions that nothing refers to any more.
//!
//! An `exnref` can be in a table, a global, an element segment, a value of
//! another exception, a local or an operand. For the last two the stack is read
//! as it is, from here up to the outermost entry into Wasm: every word that
//! equals the address of an exception counts as a reference (Boehm and Weiser,
//! "Garbage collection in an uncooperative environment", 1988). A number that
//! looks like an address keeps an exception for longer; none is freed too early.
//!
//! What must stay true: compiled code keeps an `exnref` as the address itself,
//! in an aligned word of its frame or in a register that the host's calling
//! convention preserves; those are put on the stack before it is read.

#![allow(unsafe_code)]

use fathom_sys::cells::Placed;

use super::{FIRST_COLLECTION, cost_bytes, header};
use crate::facts::quota::Resource;
use crate::facts::types::HeapType;
use crate::run::entry;
use crate::run::store::StoreOpaque;

/// Which exceptions were found to be referred to.
struct Marks {
    /// Addresses of the blocks, ascending, each with its position.
    addresses: Vec<(usize, usize)>,
    /// By position.
    marked: Vec<bool>,
    /// Marked, but their own values not yet looked at.
    pending: Vec<usize>,
}

impl Marks {
    fn new(blocks: &[Placed<[u128]>]) -> Marks {
        let positions = blocks.iter().enumerate();
        let mut addresses: Vec<(usize, usize)> = positions
            .map(|(position, block)| (block.as_ptr() as usize, position))
            .collect();
        addresses.sort_unstable();
        Marks {
            addresses,
            marked: vec![false; blocks.len()],
            pending: Vec::new(),
        }
    }

    fn mark(&mut self, position: usize) {
        if !self.marked[position] {
            self.marked[position] = true;
            self.pending.push(position);
        }
    }

    /// Marks the exception at `word`, if it is the address of one.
    fn word(&mut self, word: usize) {
        let found = self.addresses.binary_search_by_key(&word, |(at, _)| *at);
        if let Ok(found) = found {
            self.mark(self.addresses[found].1);
        }
    }

    fn slots(&mut self, slots: &[u128]) {
        for slot in slots {
            self.word(*slot as usize);
            self.word((*slot >> 64) as usize);
        }
    }
}

impl StoreOpaque {
    /// Free the exceptions that nothing refers to.
    pub(super) fn collect_exceptions(&mut self) {
        let blocks = std::mem::take(&mut self.exceptions.all);
        let mut marks = Marks::new(&blocks);
        for (position, block) in blocks.iter().enumerate() {
            if header(block).held != 0 {
                marks.mark(position);
            }
        }
        self.mark_items(&mut marks);
        entry::for_each_stack_word(|word| marks.word(word));
        while let Some(position) = marks.pending.pop() {
            marks.slots(&blocks[position][1..]);
        }
        let mut marked = marks.marked.into_iter();
        self.exceptions.all = blocks;
        self.exceptions
            .all
            .retain(|_| marked.next().unwrap_or(true));
        self.exceptions.limit = FIRST_COLLECTION.max(2 * self.exceptions.all.len());
        let bytes = self.exceptions.all.iter().map(|b| cost_bytes(b.len()));
        let bytes = bytes.sum();
        let freed = std::mem::replace(&mut self.exceptions.bytes, bytes) - bytes;
        self.account.give_back(Resource::ExceptionBytes, freed);
    }

    fn mark_items(&self, marks: &mut Marks) {
        let exceptions = |heap| matches!(heap, HeapType::Exn | HeapType::NoExn);
        for table in self.tables.iter().filter(|t| exceptions(t.ty.element.heap)) {
            for element in table.elements() {
                marks.word(*element as usize);
            }
        }
        for global in &self.globals {
            marks.slots(std::slice::from_ref(&**global));
        }
        for instance in &self.instances {
            marks.slots(instance.context());
            for element in instance.elements.iter().flat_map(|segment| segment.iter()) {
                marks.word(*element as usize);
            }
        }
    }
}
