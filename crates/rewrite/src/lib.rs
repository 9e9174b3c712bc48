//! Modules written again: what programs that rewrite WebAssembly have in common.
//!
//! ```text
//!  sections   the sections of a module, as they are filled and put together
//!  shape      what a module declares: its types and index spaces
//!  closed     a module whose imports become its own
//!   └ layout    where everything of it is then
//!  program    a library made a program: stubs for imports, a function called from `_start`
//!   └ output    what it writes at its end, through WASI
//! ```
//!
//! What must stay true: functions of the module's own keep their code; only indices in it
//! change, and only by what is imported in front of them. What is written is as valid as
//! what was read, but is not validated here.

pub mod closed;
pub mod layout;
pub mod output;
pub mod program;
pub mod sections;
pub mod shape;

use wasm_encoder::reencode;

/// Why a module cannot be written again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It is no module of this version.
    #[error("malformed: {0}")]
    Module(String),
    /// A component.
    #[error("it is a component, not a module")]
    Component,
}

impl From<wasmparser::Error> for Malformed {
    fn from(error: wasmparser::Error) -> Malformed {
        Malformed::Module(error.to_string())
    }
}

impl From<reencode::Error> for Malformed {
    fn from(error: reencode::Error) -> Malformed {
        match error {
            reencode::Error::ParseError(error) => error.into(),
            other => Malformed::Module(other.to_string()),
        }
    }
}
