//! Modules nobody wrote, for the engine to agree about.
//!
//! ```text
//!  seed or fuzzer's bytes ─ generated ─► module ─┬─ ours (each exact strategy) ─► Observed
//!                                                └─ peer (wasmtime)            ─► Observed
//! ```
//!
//! Each long target is a file of `src/bin/`, run by `target`: seeds, a clock, what is
//! kept of a failure. `run.py` runs them all. What they run is `crates/generated`'s.

#[cfg(feature = "peer")]
pub mod beside;
pub mod node;
#[cfg(feature = "peer")]
pub mod peer;
pub mod target;

pub use fathom_generated::{
    continuations, copies, damage, folders, frames, generate, instructions, limits, observe,
    operands, ours, pools, referring, rewrites, signals, throwing, wasi,
};
