//! The holes that a collection has left between objects.
//!
//! What must stay true: each is handed out once.

use std::ops::Range;

/// Holes that are looked at for one object that is longer than a line.
const LOOKED_AT: usize = 32;

/// Holes, the lowest one last. Small objects take the last one, whatever its length is; longer
/// ones look from the other end on for one that is long enough.
#[derive(Debug, Default)]
pub(super) struct Holes {
    /// Empty where one was taken for a longer object.
    all: Vec<Range<u32>>,
    /// How many of them were looked at for longer objects.
    looked_at: usize,
}

impl Holes {
    pub fn clear(&mut self) {
        self.all.clear();
        self.looked_at = 0;
    }

    /// Adds one that lies below all others.
    pub fn push(&mut self, hole: Range<u32>) {
        self.all.push(hole);
    }

    /// The next one for small objects.
    pub fn next(&mut self) -> Option<Range<u32>> {
        while let Some(hole) = self.all.pop() {
            if !hole.is_empty() {
                return Some(hole);
            }
        }
        None
    }

    /// One of so many bytes at least, if there is such among the next few. Those that are too
    /// short are left to small objects, so each is looked at once.
    pub fn long(&mut self, bytes: u32) -> Option<Range<u32>> {
        let rest = self.all.get_mut(self.looked_at..)?;
        let found = position(&rest[..rest.len().min(LOOKED_AT)], bytes);
        self.looked_at += found.map_or(LOOKED_AT, |at| at + 1);
        found.map(|at| std::mem::take(&mut rest[at]))
    }

    /// One of so many bytes at least, wherever it is.
    pub fn any(&mut self, bytes: u32) -> Option<Range<u32>> {
        let found = position(&self.all, bytes)?;
        Some(std::mem::take(&mut self.all[found]))
    }
}

fn position(holes: &[Range<u32>], bytes: u32) -> Option<usize> {
    let is_long = |hole: &Range<u32>| hole.end - hole.start >= bytes;
    holes.iter().position(is_long)
}
