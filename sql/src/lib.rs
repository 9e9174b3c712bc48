//! WebAssembly inside SQL: functions and operators of users, run by Fathom's engine
//! beside DataFusion's own.
//!
//! ```text
//!  lines ─► script    a statement at a time
//!           │
//!  SQL ─► statement   CREATE FUNCTION … LANGUAGE wasm, f(TABLE (…))
//!           │  else           │ define
//!           ▼                 ▼
//!       DataFusion ──► scalar, aggregate, operator ──► program ─► pool ─► guest ─► batch
//!                      (what it calls)  (a module)  ╰──────── fathom-guest ────────╯
//! ```
//!
//! What must stay true:
//! - Nothing that a guest says is believed: addresses, lengths, offsets and text are checked
//!   before they are read, and what is read is copied.
//! - A guest has its memory and no more: no files, no clock, no other imports.
//! - Each call ends by the function's deadline; a guest that failed is not used again.
//! - A failure ends its query in one line that names the function; the session goes on.

mod aggregate;
mod error;
mod function;
mod lines;
mod operator;
mod program;
mod scalar;
pub mod script;
pub mod session;
pub mod statement;

pub use error::Error;
pub use fathom_guest::{Options, batch, column, keep_freed_memory};
pub use function::Function;
pub use operator::{Exec, Node, Operator, Planner};
pub use program::{Program, Programs};
pub use session::Session;
