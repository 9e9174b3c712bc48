//! What a module is before any of it is compiled: its declarations and its bodies, out
//! of the binary.

mod decode;
mod info;
mod select;
mod skeleton;

pub use info::*;
pub use select::NoSuchFunc;

pub(crate) use decode::{Body, decode};
pub(crate) use skeleton::Skeleton;
