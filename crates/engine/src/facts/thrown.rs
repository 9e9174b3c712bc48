//! What an exception is to those who only hand it on: a reference to it, and the
//! error that it becomes where nothing caught it.
//!
//! What can be done with one is in `exception.rs`, where its store is.

#![allow(unsafe_code)]

use std::ptr::NonNull;

use crate::facts::error::{Error, ErrorKind};
use crate::facts::trap::Frame;
use crate::facts::vmctx::VmException;

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

/// An exception that nothing in Wasm caught.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("uncaught exception{}", at(.frames))]
pub struct Uncaught {
    /// The exception.
    pub exception: ExnRef,
    /// Frames that were live where it was thrown, innermost first.
    pub frames: Vec<Frame>,
}

fn at(frames: &[Frame]) -> String {
    frames
        .first()
        .map(|f| format!(" in {f}"))
        .unwrap_or_default()
}

impl From<ExnRef> for Error {
    /// To be returned by a host function: raised in the Wasm that called it.
    fn from(exception: ExnRef) -> Error {
        let frames = Vec::new();
        ErrorKind::Exception(Box::new(Uncaught { exception, frames })).into()
    }
}
