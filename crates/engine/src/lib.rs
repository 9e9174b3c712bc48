//! The WebAssembly engine.
