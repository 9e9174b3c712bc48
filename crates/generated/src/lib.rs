//! Modules, calls and folders that nobody wrote, and what must hold of them.
//!
//! ```text
//!  seed ─► generate, instructions, operands, referring … ─► module ─► ours (a way to run it) ─► Observed
//!                                                  └ damage ─► bytes ─► Module::new ─► Ok or Err
//!  seed ─► continuations, copies, frames, limits, throwing ─► module, and a model of what it does
//!  seed ─► folders, pools, signals, wasi ─► what a process does with the engine, and what it sees
//! ```
//!
//! A small number of each runs in this crate's tests, without anybody to agree with. The targets of
//! `fuzz` run them for hours, and beside wasmtime.
//!
//! What must stay true: the same seed makes the same module for ever on one
//! version of wasm-smith, so that a failure is a number to run again.

#![allow(
    missing_docs,
    reason = "a library for tests, whose names say what there is"
)]

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
pub mod pools;
pub mod referring;
pub mod rewrites;
pub mod signals;
pub mod throwing;
pub mod wasi;
