//! The values of the host's that Wasm may hold.
//!
//! ```text
//!  ExternRef (Arc) ── passed to Wasm ─► its address, 0 for null
//!                                          │ kept alive by Externs
//!  many of them: those whose address is nowhere any more are let go
//! ```
//!
//! What must stay true: an address that Wasm holds is that of a value in
//! [`Externs`]. So nothing is let go while several values are on their way into
//! Wasm: [`StoreOpaque::collect_externs`] is called before the first of a call's
//! arguments, or of a host function's results, is made an address. The arguments of
//! a host function are in a frame of Wasm's, where the collection sees them.

use std::collections::HashMap;

use crate::facts::error::Result;
use crate::facts::object::tag;
use crate::facts::quota::Resource;
use crate::facts::types::HeapType;
use crate::run::marks::Marks;
use crate::run::store::StoreOpaque;
use crate::run::values::{AnyRef, ExternRef};

/// References of a store before the first collection.
const FIRST_COLLECTION: usize = 4096;

/// What a store keeps for Wasm, by address.
#[derive(Debug)]
pub(crate) struct Externs {
    kept: HashMap<usize, ExternRef>,
    /// How many there may be before the next collection.
    limit: usize,
}

impl Externs {
    /// None yet, in a store that has room for so many.
    pub fn with_room(room: u64) -> Externs {
        let kept = HashMap::new();
        let limit = more(0, room);
        Externs { kept, limit }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

/// How many more there may be before the next collection, where so many are left and
/// there is room for so many: as many again, within what the quota leaves.
fn more(left: usize, room: u64) -> usize {
    let room = usize::try_from(room / 2).unwrap_or(usize::MAX);
    left.max(FIRST_COLLECTION).min(room).max(1)
}

impl StoreOpaque {
    /// What stands for an externref in Wasm; 0 is null.
    ///
    /// # Errors
    /// A new one, beyond the quota.
    pub fn extern_to_raw(&mut self, value: Option<&ExternRef>) -> Result<u64> {
        let Some(value) = value else { return Ok(0) };
        if let Some(raw) = value.as_inside(self) {
            return Ok(raw? | tag::INSIDE);
        }
        let address = value.address();
        if !self.externs.kept.contains_key(&address) {
            self.account.take(Resource::ExternRefs, 1)?;
            self.externs.kept.insert(address, value.clone());
        }
        Ok(address as u64)
    }

    /// The externref that something stands for.
    pub fn extern_from_raw(&self, raw: u64) -> Option<ExternRef> {
        if raw & tag::INSIDE != 0 {
            return AnyRef::from_raw(raw, self).map(ExternRef::inside);
        }
        self.externs.kept.get(&usize::try_from(raw).ok()?).cloned()
    }

    /// Lets go of values that Wasm does not hold any more, where there are many. Not
    /// while one is on its way into Wasm.
    #[inline]
    pub fn collect_externs(&mut self) {
        if self.externs.kept.len() >= self.externs.limit {
            self.collect_many_externs();
        }
    }

    #[cold]
    fn collect_many_externs(&mut self) {
        // An object that nothing refers to would keep what it has.
        self.collect_objects();
        let addresses: Vec<usize> = self.externs.kept.keys().copied().collect();
        let mut marks = Marks::new(addresses.iter().copied());
        marks.roots(self, HeapType::is_extern);
        self.exceptions.each_value(|values| marks.slots(values));
        let mut gone = Vec::new();
        for (address, is_marked) in addresses.into_iter().zip(marks.into_marked()) {
            if !is_marked {
                gone.extend(self.externs.kept.remove(&address));
            }
        }
        let freed = gone.len() as u64;
        self.account.give_back(Resource::ExternRefs, freed);
        let left = self.externs.kept.len();
        let room = self.account.room(Resource::ExternRefs);
        self.externs.limit = left + more(left.max(self.worth_reading_objects()), room);
        // What a value does when it is dropped is the host's: last, with the store
        // in order.
        drop(gone);
    }
}
