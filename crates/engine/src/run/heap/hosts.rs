//! Values of the host's that were made references of the heap (`any.convert_extern`).

use std::collections::HashMap;

use crate::facts::object::tag;

/// Each has a number, for a reference has 32 bits and an `externref` 64.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    /// By number; 0 for one that is free.
    raws: Vec<u64>,
    numbers: HashMap<u64, u32>,
    free: Vec<u32>,
    /// By number, in a collection.
    marked: Vec<bool>,
}

impl Hosts {
    /// The reference that stands for an `externref` that is not null.
    pub fn reference(&mut self, raw: u64) -> u32 {
        let Hosts { raws, numbers, .. } = self;
        let number = *numbers.entry(raw).or_insert_with(|| {
            let number = self.free.pop().unwrap_or_else(|| {
                raws.push(0);
                self.marked.push(false);
                raws.len() as u32 - 1
            });
            raws[number as usize] = raw;
            number
        });
        number << tag::HOST_SHIFT | tag::HOST
    }

    /// What a reference stands for.
    pub fn raw(&self, reference: u32) -> u64 {
        self.raws[(reference >> tag::HOST_SHIFT) as usize]
    }

    /// Whether a word may be one of these references.
    pub fn has(&self, word: u32) -> bool {
        word & tag::MASK == tag::HOST && ((word >> tag::HOST_SHIFT) as usize) < self.raws.len()
    }

    pub fn mark(&mut self, reference: u32) {
        self.marked[(reference >> tag::HOST_SHIFT) as usize] = true;
    }

    /// A collection begins, or anew.
    pub fn begin_marking(&mut self) {
        self.marked.fill(false);
    }

    /// A collection ends: lets go of those that were not marked.
    pub fn sweep(&mut self) {
        for (number, marked) in self.marked.iter_mut().enumerate() {
            if !std::mem::take(marked) && self.raws[number] != 0 {
                self.numbers.remove(&self.raws[number]);
                self.raws[number] = 0;
                self.free.push(number as u32);
            }
        }
    }

    /// Shows each.
    pub fn each(&self, show: impl FnMut(usize)) {
        self.raws.iter().map(|raw| *raw as usize).for_each(show);
    }
}
