//! The calls of the interface, one file a topic.
//!
//! Each call is a function over the guest's state and its memory: it knows
//! nothing of the engine, and `bind.rs` knows nothing of files. A call returns
//! `Err` with the number that the guest gets. A call that has a result writes
//! it through a pointer, which it checks before it acts.

pub(crate) mod args;
pub(crate) mod clock;
pub(crate) mod dirs;
pub(crate) mod file;
pub(crate) mod io;
pub(crate) mod open;
pub(crate) mod paths;
pub(crate) mod poll;
pub(crate) mod process;
pub(crate) mod random;
pub(crate) mod sock;

/// What a call returns.
pub(crate) type Call = Result<(), crate::errno::Errno>;
