//! Drivers.
pub(crate) mod child;
