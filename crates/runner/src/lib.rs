//! The inside of a runner process: one request in, events out.
//!
//! What every runner written in Rust does in the same way, ours and those of
//! outside engines: it is small and knows no engine.
//!
//! ```text
//! run_engine   for an engine in a program of its own: --check, or serve
//!  serve       reads the request, ends the events with done or error
//!   measure    load, compile, the measured threads, the process's totals
//!    cycle     pinned threads which make, run and drop instances
//!   probe      calls of one instance, in order
//!   evidence   what is in force, observed
//! ```

pub mod cycle;
mod engine;
mod events;
pub mod evidence;
mod measure;
mod probe;

pub use engine::{Engine, Wish, run_engine};
pub use events::{Emitter, Refusal, serve};
pub use fathom_record as record;
pub use measure::{arguments_of, measure_module, measure_program, metrics_of};
pub use probe::{Probed, probe_module};
