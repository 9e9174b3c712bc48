//! The WebAssembly engine.
pub mod bounds;
mod config;
mod error;
pub mod libcall;
pub mod module;
pub mod trap;
pub mod types;
pub mod vmctx;
