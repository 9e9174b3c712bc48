//! What "Leaps and bounds" measured of SPEC CPU 2017, of a user's own copy, which
//! `workloads/spec.py` has built.
//!
//! What must stay true: a program is held against what the copy says that it prints;
//! what was left out is absent with the reason that the build gave.

use std::time::Duration;

use fathom_record::{Compared, Experiment};

use super::{
    Counting, Design, Environment, Measured,
    leaps::{engines, threads, wavm},
    measured::{note, program},
    scaling::{SIDE_BY_SIDE, side_by_side},
};
use crate::{
    choose::Absent,
    request::{Request, RequestError},
    suite::Suite,
};

/// Below a campaign's results: what was built of the copy, by size.
pub const BUILT: &str = "spec";

/// How it is measured. The programs take minutes natively, which warms them up, and one
/// run of each is a round.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::LeapsAndBoundsSpec,
    limit: Duration::from_secs(4 * 3600),
    warmup: 0,
    iterations: 1,
    cell_target: None,
    counting: Counting::Never("not counted: SPEC's programs run too long to be run for that"),
    measured,
    wanted: |env| engines(env, None),
    absent: left_out,
    ..SIDE_BY_SIDE
};

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let request = env.request;
    let size = request.subject.spec_size();
    let suite = suite(request)?;
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    for workload in suite.select(&request.workloads)? {
        let mut one = program(&suite, workload, "");
        size.clone_into(&mut one.size);
        programs.push(one);
        notes.push(note(&suite, workload, ""));
    }
    let title = format!("leaps-and-bounds-spec-{size}");
    Ok(Measured {
        compared: Compared::Run,
        ..side_by_side(title, (programs, notes), threads())
    })
}

/// What a size was built to, if it was.
fn suite(request: &Request) -> Result<Suite, RequestError> {
    let results = request.out.clone().unwrap_or_default();
    let folder = results.join(BUILT).join(request.subject.spec_size());
    Suite::load(&folder).map_err(|source| RequestError::NoSpec { source })
}

/// What the paper ran and could not be built of the copy, or is not to be had.
fn left_out(env: &Environment<'_>) -> Result<Vec<Absent>, RequestError> {
    let absent = suite(env.request)?.absent.into_iter().map(|one| Absent {
        engine: one.name,
        why: one.why,
        is_wanted: false,
        install: None,
    });
    Ok(absent.chain([wavm()]).collect())
}
