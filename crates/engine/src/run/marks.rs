//! Which of a store's blocks something still refers to.
//!
//! A reference can be in a table, a global, an element segment, a value of an
//! exception, a field of an object, a local or an operand. For the last three the stack is read as it is,
//! from here up to the outermost entry into Wasm: every word that equals an address
//! counts as a reference (Boehm and Weiser, "Garbage collection in an uncooperative
//! environment", 1988), and so are the stacks of continuations. A number that looks like an address keeps a block for
//! longer; none is freed too early.
//!
//! What must stay true: compiled code keeps a reference as the address itself, in
//! an aligned word of its frame or in a register that the host's calling convention
//! preserves; those are put on the stack before it is read.

use crate::facts::types::HeapType;
use crate::run::entry;
use crate::run::store::StoreOpaque;

/// Which blocks were found to be referred to.
pub(crate) struct Marks {
    /// Addresses of the blocks, ascending, each with its position.
    addresses: Vec<(usize, usize)>,
    /// By position.
    marked: Vec<bool>,
    /// Marked, but what is in them not yet looked at.
    pending: Vec<usize>,
}

impl Marks {
    /// None of the blocks at these addresses.
    pub fn new(addresses: impl Iterator<Item = usize>) -> Marks {
        let positions = addresses.enumerate();
        let mut addresses: Vec<(usize, usize)> = positions.map(|(at, block)| (block, at)).collect();
        addresses.sort_unstable();
        Marks {
            marked: vec![false; addresses.len()],
            addresses,
            pending: Vec::new(),
        }
    }

    /// Marks the block of a position.
    pub fn mark(&mut self, position: usize) {
        if !self.marked[position] {
            self.marked[position] = true;
            self.pending.push(position);
        }
    }

    /// Marks the block at `word`, if there is one.
    fn word(&mut self, word: usize) {
        let found = self.addresses.binary_search_by_key(&word, |(at, _)| *at);
        if let Ok(found) = found {
            self.mark(self.addresses[found].1);
        }
    }

    /// Marks what values may refer to.
    pub fn slots(&mut self, slots: &[u128]) {
        for slot in slots {
            self.word(*slot as usize);
            self.word((*slot >> 64) as usize);
        }
    }

    /// Marks what a store's roots of such types refer to, and what its objects do.
    pub fn roots(&mut self, store: &StoreOpaque, is_of: impl Fn(HeapType) -> bool) {
        each_root(store, is_of, |word| self.word(word));
        if let Some(heap) = &store.heap {
            heap.each_word(|word| self.word(word));
        }
        store.hosts.each(|word| self.word(word));
    }

    /// One that was marked and whose values are to be looked at.
    pub fn next(&mut self) -> Option<usize> {
        self.pending.pop()
    }

    /// Whether each is marked, by position.
    pub fn into_marked(self) -> Vec<bool> {
        self.marked
    }
}

/// Shows every word of a store's tables of such elements, of its globals, its instances and
/// this thread's stacks.
pub(crate) fn each_root(
    store: &StoreOpaque,
    is_of: impl Fn(HeapType) -> bool,
    mut show: impl FnMut(usize),
) {
    for table in store.tables.iter().filter(|t| is_of(t.ty.element.heap)) {
        let elements = table.elements().iter();
        elements.for_each(|element| show(*element as usize));
    }
    let slots = |slots: &[u128], show: &mut dyn FnMut(usize)| {
        for slot in slots {
            show(*slot as usize);
            show((*slot >> 64) as usize);
        }
    };
    for global in &store.globals {
        slots(std::slice::from_ref(&**global), &mut show);
    }
    for instance in &store.instances {
        slots(instance.context(), &mut show);
        let elements = instance.elements.iter().flat_map(|segment| segment.iter());
        elements.for_each(|element| show(*element as usize));
    }
    entry::for_each_stack_word(&mut show);
    if !store.stacks.is_empty() {
        let running = entry::running_conts(store);
        store.stacks.each_word(&running, show);
    }
}
