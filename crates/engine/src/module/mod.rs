//! Modules.
pub mod info;
pub use info::*;
