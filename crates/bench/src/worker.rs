//! The runners of this program: what `fathom runner NAME` serves.
//!
//! Everything about requests, time, threads and warmth is in `fathom_runner`,
//! the same for all.

use std::path::Path;

use fathom_record::protocol::{Job, Request};
use fathom_runner::{Emitter, Refusal};

mod command;
pub(crate) mod fathom;
mod load;
mod native;

pub use command::{check_command, command};
pub use fathom::engine_of;
pub use fathom_runner::serve;
pub(crate) use load::{NO_FAILURE, descriptors::lacks as lacks_descriptors};
pub use native::native;

/// Serves a request with our own engine; `clang` is where the compiler of the other code
/// generator is.
///
/// # Errors
/// Whatever keeps it from being measured or probed.
pub fn fathom(request: &Request, clang: Option<&Path>, emitter: &Emitter) -> Result<(), Refusal> {
    match &request.job {
        Job::Measure(measure) => fathom::measure(measure, clang, emitter),
        Job::Probe(probe) => fathom::probe(probe, clang, emitter),
    }
}
