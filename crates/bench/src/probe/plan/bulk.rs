//! Bulk instructions: at every edge, of lengths that begin and end anywhere.

use super::*;

/// Bulk operations inside a memory go no further than this.
const BULK_INSIDE_BYTES: u64 = 65_536;

impl Plan {
    pub(super) fn bulk(&mut self) {
        let len = self.model.len();
        let most = u64::try_from(self.index.space() - 1).unwrap_or(u64::MAX);
        for count in [0, 1, 2, 8, 17, 64, 4096, 1 << 16, most / 2 + 1, most] {
            for edge in self.indices(count, 0) {
                self.fill(edge, count);
                self.copy(edge, 0, count);
                self.copy(0, edge, count);
                self.init(edge, 0, count);
                self.init(edge, 32, count);
                self.init(0, edge, count);
            }
        }
        // Overlapping copies, in both directions, at both ends.
        let end = len.saturating_sub(40);
        for (to, from) in [(0, 1), (1, 0), (end, end + 7), (end + 7, end), (end, end)] {
            self.copy(to, from, 33);
        }
    }

    /// Whether an operation is so far inside that it would take too long to be
    /// tried.
    fn is_too_long(&self, to: u64, from: u64, count: u64) -> bool {
        count > BULK_INSIDE_BYTES && self.is_inside(to, count) && self.is_inside(from, count)
    }

    /// By the specification, not by the plan's rule: see the module head.
    fn is_inside(&self, start: u64, count: u64) -> bool {
        let end = start.checked_add(count);
        end.is_some_and(|end| end <= self.model.len())
    }

    fn bulk_call(
        &mut self,
        name: &'static str,
        operands: [u64; 3],
        types: [Index; 3],
        bytes: Option<Vec<u8>>,
    ) {
        let wanted = match &bytes {
            Some(_) => Wanted::Values(vec![]),
            None => Wanted::Trap,
        };
        let access = self.note(AccessText::Bulk(name, operands), &wanted, None);
        if let Some(bytes) = bytes {
            self.model.write(operands[0], &bytes);
        }
        let args = [0, 1, 2].map(|at| types[at].value(operands[at]));
        self.push(name.to_owned(), &args, wanted, What::Access(access));
        self.restore(operands[0]);
    }

    /// After an operation inside the memory, of more bytes than are watched: who
    /// trapped needlessly has not written them, and nothing that follows may be
    /// taken for wrong for that.
    fn restore_all(&mut self, to: u64, from: u64, count: u64) {
        let is_watched = count <= WATCHED_BYTES - WATCHED_BEFORE;
        if is_watched || !self.is_inside(to, count) || !self.is_inside(from, count) {
            return;
        }
        let range = to..to + count;
        self.digest("restore", &[range.clone(), 0..0, 0..0]);
        self.model.fill(range);
    }

    fn fill(&mut self, to: u64, count: u64) {
        if !self.memory.instructions.have_copy() || self.is_too_long(to, 0, count) {
            return;
        }
        let byte = self.next_value() & 0xff;
        let inside = self.model.contains(to, 0, count);
        let bytes = inside.then(|| vec![byte as u8; count.min(BULK_INSIDE_BYTES) as usize]);
        let types = [self.index, Index::I32, self.index];
        self.bulk_call("fill", [to, byte, count], types, bytes);
        self.restore_all(to, 0, count);
    }

    fn copy(&mut self, to: u64, from: u64, count: u64) {
        if !self.memory.instructions.have_copy() || self.is_too_long(to, from, count) {
            return;
        }
        let inside = self.model.contains(to, 0, count) && self.model.contains(from, 0, count);
        let bytes = inside.then(|| self.model.read(from, count.min(BULK_INSIDE_BYTES)));
        self.bulk_call("copy", [to, from, count], [self.index; 3], bytes);
        self.restore_all(to, from, count);
    }

    fn init(&mut self, to: u64, from: u64, count: u64) {
        // Places in segments are 32-bit, whatever the memory is.
        let is_narrow = from.max(count) <= u64::from(u32::MAX);
        if !self.memory.instructions.have_segment() || !is_narrow {
            return;
        }
        let inside = self.model.contains(to, 0, count)
            && u128::from(from) + u128::from(count) <= u128::from(self.segment_len);
        let bytes = inside.then(|| SEGMENT[from as usize..][..count as usize].to_vec());
        let types = [self.index, Index::I32, Index::I32];
        self.bulk_call("init", [to, from, count], types, bytes);
    }

    /// A dropped segment is empty (spec §4.4.7, `data.drop`).
    pub(super) fn drop_segment(&mut self) {
        if !self.memory.instructions.have_segment() {
            return;
        }
        self.push("drop".to_owned(), &[], Wanted::Values(vec![]), What::Setup);
        self.segment_len = 0;
        for (from, count) in [(0, 0), (0, 1), (1, 0), (32, 0)] {
            self.init(0, from, count);
        }
    }
}
