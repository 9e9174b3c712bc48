//! The inside of a runner process: one request in, events out.
//!
//! What every runner written in Rust does in the same way, ours and those of
//! outside engines: it is small and knows no engine.
//!
//! ```text
//! serve      reads the request, ends the events with done or error
//!   measure  load, compile, the measured threads, the process's totals
//!     cycle  pinned threads which make, run and drop instances
//!   probe    calls of one instance, in order
//! ```

pub mod cycle;
mod events;
mod measure;
mod probe;

pub use events::{Emitter, Refusal, serve};
pub use measure::{measure_module, measure_program, metrics_of};
pub use probe::{Probed, probe_module};
