//! The WebAssembly engine.
pub mod bounds;
pub mod libcall;
pub mod module;
pub mod trap;
pub mod types;
pub mod vmctx;
