//! Modules nobody wrote, for the engine to agree about.
//!
//! ```text
//!  seed or fuzzer's bytes ─ generate ─► module ─┬─ ours (each exact strategy) ─► Observed
//!                             │                 └─ peer (wasmtime)            ─► Observed
//!                             └─ damage ─► bytes ─ Module::new ─► Ok or Err, never a panic
//! ```
//!
//! Each long target is a file of `src/bin/`, run by `target`: seeds, a clock, what is
//! kept of a failure. `run.py` runs them all.
//!
//! What must stay true: the same seed makes the same module for ever on one
//! version of wasm-smith, so that a failure is a number to run again.

#[cfg(feature = "peer")]
pub mod beside;
pub mod continuations;
pub mod copies;
pub mod damage;
pub mod folders;
pub mod frames;
pub mod generate;
pub mod instructions;
pub mod limits;
pub mod observe;
pub mod operands;
pub mod ours;
#[cfg(feature = "peer")]
pub mod peer;
pub mod pools;
pub mod rewrites;
pub mod signals;
pub mod target;
pub mod wasi;
