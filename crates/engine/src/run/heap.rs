//! The heap of a store: the structures and arrays of its instances.
//!
//! ```text
//!  rows of types ▲ base │ no access │ block │ block │ …        one reservation
//!                └──────┴─ 64 KiB ──┴─ 32 KiB ───────► 4 GiB
//!  VmHeap { base, next, end }: compiled code takes from next up to end, itself
//! ```
//!
//! A reference is an offset from the base ([`crate::facts::object`]). Objects never move.
//! A block is divided into lines; a collection marks what something refers to, and the
//! lines that nothing marked is on are holes for the next objects, as in Immix (Blackburn
//! and McKinley, "Immix: a mark-region garbage collector", PLDI 2008). Below the base each
//! type has a row: the types that it is below, by depth, itself the last. So a cast is two
//! loads and a comparison, however deep the types are (Cohen, "Type-extension type tests can
//! be performed in constant time", 1991).
//!
//! What must stay true:
//! - An offset has 32 bits, so an access to an object is inside of the reservation, which
//!   reaches past that by the largest constant offset. Null is offset 0, where nothing is
//!   mapped for as long as [`NULL_BYTES`]: accesses beyond that are compared with null.
//! - What is handed out is zero.
//! - A hole is used from its start up, without gaps, so that where
//!   objects begin can be found by their headers.

#![allow(unsafe_code)]

mod collect;
mod holes;
mod hosts;
mod pauses;
mod space;

use std::collections::HashSet;
use std::ptr::NonNull;
use std::slice::from_raw_parts_mut;
use std::sync::{Arc, Mutex, PoisonError};

use crate::facts::error::{Error, Result};
use crate::facts::object::{self, BYTES_MAX, Cell, Layout, NULL_BYTES};
use crate::facts::quota::{LimitError, Resource};
use crate::facts::types::{TypeHold, TypeId};
use crate::facts::vmctx::VmHeap;
use crate::run::handle::Module;
use crate::run::store::private::Sealed;
use crate::run::store::{Store, StoreOpaque, opaque_mut};
use collect::{Log, Work};
pub(crate) use hosts::Hosts;
pub use pauses::Pauses;
use space::{BLOCK_BYTES, Space};

/// Objects of more bytes have blocks of their own.
const LARGE_BYTES: u64 = 8 << 10;

/// The part of what is live that is to be handed out between two collections at least.
const WORTH: u64 = 16;
/// Collections in a row that are not worth it, and are done nevertheless.
const FUTILE_MAX: u32 = 8;

/// Bytes of objects that are read for each exception, or value of the host, that is made.
const READ_EACH: u64 = 512;

/// How a heap gets memory back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collector {
    /// What nothing refers to is found and used again: objects stay where they are, the stack
    /// is read as it is.
    #[default]
    MarkRegion,
    /// Nothing is: a program that allocates more than its quota in all ends with a trap.
    Null,
}

/// What the structures and arrays of a store take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapStats {
    /// Collections that have ended.
    pub collections: u64,
    /// What their steps took, for each of which the program waited.
    pub pauses: Pauses,
    /// Bytes that count against the quota.
    pub heap_bytes: u64,
    /// Bytes that objects had after the last collection, in lines and blocks.
    pub live_bytes: u64,
}

/// The heap of a store.
pub(crate) struct Heap {
    space: Space,
    /// By number of a type, how its objects are laid out.
    layouts: Vec<Option<Arc<Layout>>>,
    /// What keeps those types, and so their numbers.
    holds: Vec<TypeHold>,
    /// What the host has references to: kept as long as the store.
    held: Mutex<HashSet<u32>>,
    collector: Collector,
    /// Bytes that are handed out between two collections, at least; 0 for a collection at
    /// every allocation.
    between: u64,
    /// What a collection looks at in one step, at least.
    step: u64,
    /// The collection that is under way.
    marking: Option<Marking>,
    /// That of every collection, once there was one: nobody reads what is not written anew.
    log: Option<Log>,
    /// Bytes that are handed out until the next collection.
    until: u64,
    /// Collections in a row that were not worth it.
    futile: u32,
    stats: HeapStats,
}

/// A collection that is under way.
#[derive(Debug)]
struct Marking {
    work: Work,
    /// Bytes that were handed out before its last step.
    handed_out: u64,
}

/// What an allocation may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collecting {
    /// Collect, where it is time.
    Allowed,
    /// References are where nobody would find them.
    Forbidden,
}

fn refused(limit: LimitError) -> Error {
    limit.into()
}

impl Heap {
    fn new(store: &StoreOpaque) -> Result<Heap> {
        let config = store.engine.config();
        let space = Space::new(store.account.allowance(), store.engine.domain())?;
        Ok(Heap {
            space,
            layouts: Vec::new(),
            holds: Vec::new(),
            held: Mutex::default(),
            collector: config.collector,
            between: config.collection_bytes,
            step: config.collection_step,
            marking: None,
            log: None,
            until: config.collection_bytes,
            futile: 0,
            stats: HeapStats::default(),
        })
    }

    /// Makes a type known: its row, and how its objects are laid out.
    fn register(&mut self, id: TypeId, layout: &Arc<Layout>) -> Result<()> {
        let number = id.number();
        let at = number as usize;
        if self.layouts.len() <= at {
            self.layouts.resize(at + 1, None);
        }
        if self.layouts[at].is_none() {
            let hold = TypeHold::known(id).map_err(|gone| Error::mismatch(gone.to_string()))?;
            self.holds.push(hold);
            self.space.write_row(number, &TypeId::lineage(number))?;
            self.layouts[at] = Some(layout.clone());
        }
        Ok(())
    }

    /// Whether an address is of what nobody can access, behind null. Async-signal-safe.
    pub(crate) fn is_null_access(&self, address: usize) -> bool {
        let offset = address.wrapping_sub(self.space.base().as_ptr() as usize);
        offset < NULL_BYTES as usize
    }

    /// The number of an object's type and what stands in the place of its length.
    pub(crate) fn header(&self, object: u32) -> (u32, u32) {
        let number = self.space.read(object + object::TYPE as u32);
        (number, self.space.read(object + object::LENGTH as u32))
    }

    /// How an object is laid out.
    pub(crate) fn layout(&self, object: u32) -> (&Layout, u32) {
        let (number, len) = self.header(object);
        let layout = self.layouts[number as usize].as_deref();
        (layout.expect("an object has a type of its store's"), len)
    }

    /// Keeps an object as long as the store.
    pub(crate) fn hold(&self, object: u32) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.insert(object);
    }

    /// Shows every word of objects that may be in use.
    pub(crate) fn each_word(&self, mut show: impl FnMut(usize)) {
        let size = |space: &Space, at: u32| collect::size_at(&self.layouts, space, at);
        self.space.each_range(size, |range| {
            let words = range.step_by(size_of::<u64>());
            words.for_each(|at| show(self.space.read_long(at) as usize));
        });
    }

    /// Writes bytes into an object.
    pub(crate) fn write_bytes(&self, object: u32, offset: u32, bytes: &[u8]) {
        let to = self.space.address(object, offset);
        // SAFETY: the caller has found the range inside the object, and Wasm does not run.
        unsafe { to.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
    }

    /// Writes the value of a slot into so many elements of an array that has just been made.
    pub(crate) fn fill_cells(&self, array: u32, cell: Cell, len: u32, value: u128) {
        let to = self.space.address(array, object::HEADER_BYTES);
        // SAFETY: so many elements are in the array, and Wasm does not run.
        unsafe { fill(to.as_ptr(), cell.shift(), len as usize, value) };
    }

    /// Writes the value of a slot into a cell of an object.
    pub(crate) fn write_cell(&self, object: u32, offset: u32, cell: Cell, value: u128) {
        let bytes = value.to_le_bytes();
        self.write_bytes(object, offset, &bytes[..cell.bytes() as usize]);
    }
}

/// Sets elements in a row, each of 1 << shift bytes, to the lowest bytes of a value.
///
/// # Safety
/// They are in an object, at a multiple of their size, vectors at one of eight bytes, and
/// nobody else has them.
pub(crate) unsafe fn fill(to: *mut u8, shift: u32, len: usize, value: u128) {
    let halves = [value as u64, (value >> 64) as u64];
    // SAFETY: the caller's.
    unsafe {
        match shift {
            0 => to.write_bytes(value as u8, len),
            1 => from_raw_parts_mut(to.cast::<u16>(), len).fill(value as u16),
            2 => from_raw_parts_mut(to.cast::<u32>(), len).fill(value as u32),
            3 => from_raw_parts_mut(to.cast::<u64>(), len).fill(halves[0]),
            _ => from_raw_parts_mut(to.cast::<[u64; 2]>(), len).fill(halves),
        }
    }
}

impl StoreOpaque {
    /// How many exceptions, or values of the host, there may be more before all objects are read
    /// to find those that nothing refers to.
    pub(crate) fn worth_reading_objects(&self) -> usize {
        let heap = self.heap.as_ref();
        heap.map_or(0, |heap| (heap.space.taken_bytes() / READ_EACH) as usize)
    }

    /// Has a heap for the objects of a module, where it has types of such.
    ///
    /// # Errors
    /// The host has no address space, or the process too many types.
    pub(crate) fn prepare_heap(&mut self, module: &Module) -> Result<()> {
        let info = module.info();
        if !info.has_objects {
            return Ok(());
        }
        if self.heap.is_none() {
            let heap = Heap::new(self)?;
            self.runtime.heap = VmHeap {
                base: heap.space.base().as_ptr(),
                ..VmHeap::default()
            };
            self.heap = Some(Box::new(heap));
        }
        let heap = self.heap.as_deref_mut().expect("it was made");
        for (id, layout) in info.type_ids.iter().zip(&info.layouts) {
            if let Some(layout) = layout {
                heap.register(*id, layout)?;
            }
        }
        Ok(())
    }

    /// A new object of a type, zero but for its header.
    ///
    /// # Errors
    /// It is larger than an object may be, or the heap would be beyond the quota.
    pub(crate) fn new_object(
        &mut self,
        number: u32,
        len: u32,
        collecting: Collecting,
    ) -> Result<u32> {
        let heap = self.heap.as_deref_mut().expect("its module was prepared");
        let layout = heap.layouts[number as usize].as_ref();
        let layout = layout.expect("a type of the module's").clone();
        let bytes = layout.bytes(len);
        if bytes > BYTES_MAX {
            return Err(refused(LimitError::Quota {
                resource: Resource::HeapBytes,
                wanted: bytes,
                limit: BYTES_MAX,
            }));
        }
        let object = self.allocate(bytes, collecting)?;
        let heap = self.heap.as_deref_mut().expect("it is there");
        heap.space.write(object + object::TYPE as u32, number);
        heap.space
            .write(object + object::LENGTH as u32, layout.length(len));
        Ok(object)
    }

    fn allocate(&mut self, bytes: u64, collecting: Collecting) -> Result<u32> {
        let heap = self.heap.as_deref_mut().expect("its module was prepared");
        heap.space.note_used(self.runtime.heap.next);
        let may_collect =
            collecting == Collecting::Allowed && heap.collector == Collector::MarkRegion;
        if may_collect {
            self.collect_where_it_is_time();
        }
        match self.take(bytes) {
            // There may be room once what nobody refers to is gone.
            Err(_) if may_collect && self.pays_to_collect() => {
                self.collect_objects();
                self.take(bytes).map_err(refused)
            }
            taken => taken.map_err(refused),
        }
    }

    /// Whether a collection is worth its work, which is that of what is live, because so much
    /// was handed out since the last one. A heap that is all but full would be collected for
    /// every object, so of those that are not worth it there are few in a row.
    fn pays_to_collect(&mut self) -> bool {
        let Some(heap) = self.heap.as_deref_mut() else {
            return false;
        };
        let is_worth = heap.space.handed_out() >= heap.stats.live_bytes / WORTH;
        heap.futile = if is_worth { 0 } else { heap.futile + 1 };
        let pays = heap.futile <= FUTILE_MAX;
        if !pays {
            heap.futile = 0;
        }
        pays
    }

    /// Takes memory for an object, and leaves compiled code the rest of a hole.
    fn take(&mut self, bytes: u64) -> Result<u32, LimitError> {
        let heap = self.heap.as_deref_mut().expect("its module was prepared");
        let object = match bytes > LARGE_BYTES {
            true => heap.space.take_large(bytes)?,
            false => heap.space.take(bytes as u32)?,
        };
        let hole = match heap.between {
            // Compiled code asks each time.
            0 => 0..0,
            _ => heap.space.rest(),
        };
        self.runtime.heap.next = u64::from(hole.start);
        self.runtime.heap.end = u64::from(hole.end);
        Ok(object)
    }
}

impl<T> Store<T> {
    /// What its structures and arrays take, and what collecting them took.
    pub fn heap_stats(&self) -> HeapStats {
        let Some(heap) = &self.opaque().heap else {
            return HeapStats::default();
        };
        HeapStats {
            heap_bytes: heap.space.taken_bytes(),
            ..heap.stats.clone()
        }
    }

    /// Finds the structures and arrays that nothing refers to now.
    pub fn collect(&mut self) {
        opaque_mut(self).collect_objects();
    }
}

impl std::fmt::Debug for Heap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stats = &self.stats;
        f.debug_struct("Heap")
            .field("stats", stats)
            .finish_non_exhaustive()
    }
}
