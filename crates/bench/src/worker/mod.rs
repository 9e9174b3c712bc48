//! The inside of a runner process.
pub mod cycle;
pub mod native;
