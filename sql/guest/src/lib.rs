//! Functions and operators in WebAssembly, called with Arrow's arrays: what stands between a
//! module and a query engine, and needs none.
//!
//! ```text
//!  Pool ─take─► Guest ─give─► batch::Input   copied into its memory
//!   │            │ call       by its Deadline; text of any length in parts
//!   │            └─take─────► batch::Output  checked, and copied out of it
//!   └─crew─► Guest, Guest, … over one shared memory, for a thread each
//! ```
//!
//! What must stay true:
//! - Nothing that a guest says is believed: addresses, lengths, offsets and text are checked
//!   before they are read, and what is read is copied.
//! - A guest has its memory and no more: no files, no clock, no other imports.
//! - Each call ends by its deadline; a guest that failed is not used again.

pub mod batch;
pub mod column;
mod crew;
mod deadline;
mod freed;
mod guest;
mod options;
mod parts;
mod pool;

pub use freed::keep_freed_memory;
pub use guest::{Guest, Stop};
pub use options::Options;
pub use parts::{Part, Refused};
pub use pool::Pool;
