//! What is measured, with wasmtime.

use wasmtime as api;

#[path = "work.rs"]
mod work;

pub use work::*;

/// A function that takes a number.
fn dynamic(engine: &api::Engine) -> api::FuncType {
    api::FuncType::new(engine, [api::ValType::I32], [])
}
