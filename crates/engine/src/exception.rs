//! Exceptions: what `throw` raises and an `exnref` refers to.

#![allow(unsafe_code)]

use std::ptr::NonNull;

use crate::store::StoreOpaque;
use crate::vmctx::VmException;

/// An exception of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExnRef {
    pub(crate) store: u64,
    pub(crate) raw: NonNull<VmException>,
}

// SAFETY: the address is only used together with its store.
unsafe impl Send for ExnRef {}
// SAFETY: as above.
unsafe impl Sync for ExnRef {}

impl ExnRef {
    /// The exception at an address; nothing for null.
    pub(crate) fn from_raw(raw: u64, store: &StoreOpaque) -> Option<ExnRef> {
        let store = store.id;
        NonNull::new(raw as *mut VmException).map(|raw| ExnRef { store, raw })
    }
}
