//! WASI preview 1 for the engine.
