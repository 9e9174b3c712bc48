//! A campaign in which instructions are counted: what is otherwise than where time is taken.

use std::time::Duration;

use fathom_record::{Compared, Yardstick};

use crate::{
    experiment::Measured,
    idle,
    instructions::Counter,
    request::{Request, RequestError, ensure},
};

/// Rounds, unless told otherwise: what the two agree in is how well a count is known.
pub(super) const ROUNDS: u32 = 2;
/// How many times as long a cell may take.
const SLOWED: u32 = 10;

/// What counts, where instructions are asked for.
pub(super) fn counter(request: &Request) -> Result<Option<Counter>, RequestError> {
    match request.metric {
        Yardstick::Time => Ok(None),
        Yardstick::Instructions => Counter::find().map(Some).map_err(RequestError::Refused),
    }
}

/// Instructions are compared in the place of times, of what runs alone.
pub(super) fn compared(measured: &mut Measured) -> Result<(), RequestError> {
    ensure(measured.threads.iter().all(|count| *count == 1), || {
        "--metric instructions: of one instance at once, --threads 1".to_owned()
    })?;
    let serves = measured.programs.iter().any(|one| one.load.is_some());
    ensure(!serves, || {
        "--metric instructions: not of servers under a load, which decides what they do".to_owned()
    })?;
    measured.compared = Compared::Instructions;
    Ok(())
}

/// Iterations that a runner is asked for first, and how long a cell may take.
pub(super) fn lengths(request: &Request) -> (u32, Duration) {
    let (design, duration) = (request.subject.design(), &request.duration);
    let (iterations, slowed) = match request.metric {
        Yardstick::Time => (duration.iterations.unwrap_or(design.iterations), 1),
        // The counter asks for as many more as it takes.
        Yardstick::Instructions => (1, SLOWED),
    };
    let limit = duration.limit.unwrap_or(design.limit * slowed);
    (iterations, limit)
}

/// How long to wait for idle processors: however busy a machine is, instructions are as many.
pub(super) fn wait_idle(request: &Request) -> Duration {
    let usual = match request.metric {
        Yardstick::Time => idle::LIMIT,
        Yardstick::Instructions => Duration::ZERO,
    };
    request.duration.wait_idle.unwrap_or(usual)
}
