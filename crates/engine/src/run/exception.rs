//! Exceptions: what `throw` raises and an `exnref` refers to.
//!
//! ```text
//!  VmException { tag, referenced, held } | value 0 (16 bytes) | value 1 | …
//! ```
//!
//! One that no `exnref` refers to is dead as soon as it was caught: its values
//! were loaded by the handler. So [`Exceptions`] gives the memory of the last
//! one thrown to the next, unless a clause marked it as referenced. Those are
//! collected (`collect.rs`) when there are many; those that the host has seen
//! live as long as the store.

#![allow(unsafe_code)]

mod collect;

use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

use fathom_sys::cells::Placed;
use fathom_sys::pkeys::Key;

use crate::facts::error::{Error, Result};
use crate::facts::quota::Resource;
use crate::facts::thrown::ExnRef;
use crate::facts::types::TypeId;
use crate::facts::vmctx::{VmException, VmTag};
use crate::run::externs::Tag;
use crate::run::store::{AsContext, AsContextMut, StoreOpaque, opaque_mut};
use crate::run::values::Val;

/// Exceptions of a store before the first collection.
const FIRST_COLLECTION: usize = 1024;

/// The exceptions of a store.
#[derive(Debug)]
pub(crate) struct Exceptions {
    /// Header and values of each, in units of a value.
    all: Vec<Placed<[u128]>>,
    /// How many there may be before the next collection.
    limit: usize,
    /// What was taken of the quota for them.
    bytes: u64,
}

/// What an exception costs beside its header and values: its place in the list, and
/// what an allocator or a collection adds.
const OVERHEAD_BYTES: u64 = 64;

/// What a block of so many words costs.
fn cost_bytes(words: usize) -> u64 {
    size_of::<u128>() as u64 * words as u64 + OVERHEAD_BYTES
}

impl Default for Exceptions {
    fn default() -> Exceptions {
        Exceptions {
            all: Vec::new(),
            limit: FIRST_COLLECTION,
            bytes: 0,
        }
    }
}

impl Exceptions {
    /// Whether there never was one, or all are gone.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Shows the values of each.
    pub fn each_value(&self, mut show: impl FnMut(&[u128])) {
        self.all.iter().for_each(|block| show(&block[1..]));
    }
}

/// The header at the start of a block.
fn header(block: &[u128]) -> &VmException {
    // SAFETY: every block begins with a header, written when it was taken.
    unsafe { &*block.as_ptr().cast() }
}

impl StoreOpaque {
    /// A new exception; its values are whatever was there before, references to
    /// nothing else than exceptions.
    ///
    /// # Errors
    /// Those that something refers to have taken the whole quota.
    pub(crate) fn new_exception(&mut self, tag: NonNull<VmTag>) -> Result<NonNull<VmException>> {
        // SAFETY: tags are alive as long as their store, which this is.
        let ty = unsafe { tag.as_ref() }.type_id;
        let words = 1 + TypeId::param_count(ty);
        let reusable = self.exceptions.all.last().is_some_and(|last| {
            let header = header(last);
            header.referenced == 0 && !header.is_held() && last.len() >= words
        });
        if !reusable {
            if self.exceptions.all.len() >= self.exceptions.limit {
                self.collect_exceptions();
            }
            let bytes = cost_bytes(words);
            if self.account.take(Resource::ExceptionBytes, bytes).is_err() {
                self.collect_exceptions();
                self.account.take(Resource::ExceptionBytes, bytes)?;
            }
            self.exceptions.bytes += bytes;
            let block = Placed::zeros(self.engine.domain(), Key::Inside, words);
            self.exceptions.all.push(block);
        }
        let block = self.exceptions.all.last_mut().expect("one was pushed");
        let raw = NonNull::from(&mut **block).cast::<VmException>();
        // SAFETY: the block has room for a header, which is 16 bytes.
        unsafe {
            raw.write(VmException {
                tag: tag.as_ptr(),
                referenced: 0,
                held: AtomicU32::new(0),
            });
        }
        Ok(raw)
    }
}

impl ExnRef {
    /// An exception with a tag and values.
    ///
    /// # Errors
    /// Values that are not those the tag's type asks for; a tag or a value of
    /// another store; more exceptions than the store may have.
    pub fn new(mut store: impl AsContextMut, tag: Tag, values: &[Val]) -> Result<ExnRef> {
        let opaque = opaque_mut(&mut store);
        opaque.collect_externs();
        opaque.owns(tag.store, "tag")?;
        let ty = tag.ty_in(opaque).0;
        if ty.params().len() != values.len() {
            let (wanted, given) = (ty.params().len(), values.len());
            let message = format!("{wanted} values expected for the tag, {given} given");
            return Err(Error::mismatch(message));
        }
        let mut slots = Vec::with_capacity(values.len());
        for (value, ty) in values.iter().zip(ty.params()) {
            value.check(*ty, opaque)?;
            slots.push(value.to_slot(opaque)?);
        }
        let raw = opaque.new_exception(tag.raw)?;
        let exception = ExnRef {
            store: opaque.id,
            raw,
        };
        // SAFETY: just allocated with room for as many values as its type has.
        unsafe {
            raw.as_ref().hold();
            let first = exception.values_start();
            for (i, slot) in slots.into_iter().enumerate() {
                first.add(i).write(slot);
            }
        }
        Ok(exception)
    }

    /// The exception at an address; nothing for null. It is kept from now on.
    pub(crate) fn from_raw(raw: u64, store: &StoreOpaque) -> Option<ExnRef> {
        let raw = NonNull::new(raw as *mut VmException)?;
        // SAFETY: of this store, hence alive; nobody else writes while the
        // store is borrowed, but this, which is atomic.
        unsafe { raw.as_ref() }.hold();
        let store = store.id;
        Some(ExnRef { store, raw })
    }

    fn values_start(&self) -> *mut u128 {
        // SAFETY: the values follow the header in the same block.
        unsafe { self.raw.as_ptr().add(1).cast() }
    }

    /// The tag that it was thrown with.
    ///
    /// # Panics
    /// This and [`ExnRef::values`]: for an exception of another store.
    pub fn tag(&self, store: impl AsContext) -> Tag {
        let opaque = store.opaque();
        assert_eq!(self.store, opaque.id, "exception of another store");
        // SAFETY: of this store, hence alive; its tag is not null.
        let raw = unsafe { NonNull::new_unchecked(self.raw.as_ref().tag.cast_mut()) };
        Tag {
            store: self.store,
            raw,
        }
    }

    /// The values it carries.
    pub fn values(&self, store: impl AsContext) -> Vec<Val> {
        let opaque = store.opaque();
        let ty = self.tag(&store).ty_in(opaque).0;
        let types = ty.params().iter().enumerate();
        types
            .map(|(i, ty)| {
                // SAFETY: it has as many values as its tag's type, of its types.
                unsafe { Val::from_slot(*self.values_start().add(i), *ty, opaque) }
            })
            .collect()
    }
}
