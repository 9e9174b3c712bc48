//! What compiling costs: large modules, compiled once in a process.

use fathom_record::{Experiment, Setting};

use super::{
    Command, Design, Environment, Measured,
    measured::{DEFAULT, suite},
    suite::of_suite,
};
use crate::{choose::Controls, request::RequestError, settings::Choices};

/// How it is measured. A run is only there to prove that what was compiled works, so
/// one is enough.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Compile,
    command: Some(Command::Bench),
    help: "measures compilation alone",
    iterations: 1,
    cell_target: None,
    measured,
    controls: Controls::First,
    ..Design::USUAL
};

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let measured = of_suite(env.request, &suite(env.suites()?, "large")?)?;
    Ok(Measured {
        title: "compile".to_owned(),
        settings: Choices::default().with(Setting::Opt, &["speed", "none"]),
        strategies: vec![DEFAULT],
        natives: Vec::new(),
        ..measured
    })
}
