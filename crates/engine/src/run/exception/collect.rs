//! Finding the exceptions that nothing refers to any more.

use super::{FIRST_COLLECTION, cost_bytes, header};
use crate::facts::quota::Resource;
use crate::facts::types::Hierarchy;
use crate::run::marks::Marks;
use crate::run::store::StoreOpaque;

impl StoreOpaque {
    /// Free the exceptions that nothing refers to.
    pub(super) fn collect_exceptions(&mut self) {
        let blocks = std::mem::take(&mut self.exceptions.all);
        let mut marks = Marks::new(blocks.iter().map(|block| block.as_ptr() as usize));
        for (position, block) in blocks.iter().enumerate() {
            if header(block).is_held() {
                marks.mark(position);
            }
        }
        marks.roots(self, |heap| heap.hierarchy() == Hierarchy::Exn);
        while let Some(position) = marks.next() {
            marks.slots(&blocks[position][1..]);
        }
        let mut marked = marks.into_marked().into_iter();
        self.exceptions.all = blocks;
        self.exceptions
            .all
            .retain(|_| marked.next().unwrap_or(true));
        let left = self.exceptions.all.len();
        let more = left.max(FIRST_COLLECTION);
        self.exceptions.limit = left + more.max(self.worth_reading_objects());
        let bytes = self.exceptions.all.iter().map(|b| cost_bytes(b.len()));
        let bytes = bytes.sum();
        let freed = std::mem::replace(&mut self.exceptions.bytes, bytes) - bytes;
        self.account.give_back(Resource::ExceptionBytes, freed);
    }
}
