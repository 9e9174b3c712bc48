//! What instances cost that are made, grown and dropped in a loop.

use std::time::Duration;

use fathom_record::{Experiment, Variant};

use super::{
    Command, Design, Environment, Measured,
    design::without_tuned,
    measured::{growing, suite},
};
use crate::{
    choose::Controls,
    request::{RequestError, ensure},
};

/// Pages in all, and at a time. One page at once and no growth is what an instance costs
/// that does not grow.
const GROWTHS: [(u32, u32); 4] = [(1, 1), (64, 1), (256, 1), (256, 16)];

/// How it is measured: instances made in a loop are many or show nothing.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Growth,
    command: Some(Command::Bench),
    help: "measures instances that are created, grown and dropped in a loop",
    iterations_max: 1000,
    cell_target: Some(Duration::from_millis(400)),
    measured,
    rows: without_tuned,
    controls: Controls::First,
    ..Design::USUAL
};

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let suite = suite(env.suites()?, "wasi")?;
    ensure(env.request.workloads.is_empty(), || {
        "growth has no kernels".to_owned()
    })?;
    Ok(Measured {
        variants: vec![Variant::Wasm],
        threads: vec![1, 2],
        ..Measured::new("growth".to_owned(), growing(&suite, &GROWTHS)?)
    })
}
