//! The WebAssembly engine.
pub mod bounds;
mod compile;
mod config;
mod error;
pub mod libcall;
pub mod module;
mod translate;
pub mod trap;
pub mod types;
pub mod vmctx;
