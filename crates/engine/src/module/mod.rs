//! Modules.
mod decode;
pub mod info;
pub(crate) use decode::*;
pub use info::*;
