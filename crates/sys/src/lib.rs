//! The edge to the operating system: reservations, protection, userfaultfd, faults, counters, pinning.

pub mod perf;
pub mod pin;
pub mod proc;
pub mod spawn;
pub mod usage;
