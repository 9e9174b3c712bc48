//! The two runners of this program: what `fathom runner NAME` serves.
//!
//! Everything about requests, time, threads and warmth is in `fathom_runner`,
//! the same for all.

use fathom_record::protocol::{Job, Request};
use fathom_runner::{Emitter, Refusal};

pub(crate) mod fathom;
mod native;

pub use fathom_runner::serve;
pub use native::native;

/// Serves a request with our own engine.
///
/// # Errors
/// Whatever keeps it from being measured or probed.
pub fn fathom(request: &Request, emitter: &Emitter) -> Result<(), Refusal> {
    match &request.job {
        Job::Measure(measure) => fathom::measure(measure, emitter),
        Job::Probe(probe) => fathom::probe(probe, emitter),
    }
}
