//! What is measured, with our engine.

use fathom_engine as api;

#[path = "work.rs"]
mod work;

pub use work::*;

/// A function that takes a number.
fn dynamic(_: &api::Engine) -> api::FuncType {
    api::FuncType::new([api::ValType::I32], [])
}
