//! A record and its module in parts, and what is left of both when parts are left out.
//!
//! ```text
//!  ddmin    the parts of a list that are needed for something to show
//!  calls    the parts of a record, and a record of some of them
//!  empty    the module with some functions empty
//! ```
//!
//! What must stay true: a record of some parts is a record like any other, and is checked as
//! one. Its hashes are those of the whole, so that only
//! [`candidate`](crate::program::candidate) makes a program of it.

mod calls;
mod ddmin;
mod empty;

pub use calls::Calls;
pub use ddmin::ddmin;
pub use empty::{Body, has_defaults, own, with_empty};
