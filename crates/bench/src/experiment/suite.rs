//! How long the programs of a suite run.

use std::time::Duration;

use fathom_engine::Codegen;
use fathom_record::{Compared, Experiment};

use super::{
    Design, Environment, Measured,
    measured::{note, program, size},
};
use crate::{
    request::{Request, RequestError, ensure},
    suite::Suite,
};

/// The kernels of a first impression: one of each kind of loop.
pub(super) const QUICK: [&str; 6] = [
    "gemm",
    "atax",
    "lu",
    "floyd-warshall",
    "jacobi-2d",
    "deriche",
];

/// How programs are timed that run for long enough. A clean clone takes several minutes
/// to build before it, and is to be done in twenty. Children scatter as iterations do,
/// and start as fast, so rounds say more.
pub(super) const TIMED: Design = Design {
    budget: Duration::from_secs(11 * 60),
    iterations: 1,
    iterations_max: 5,
    cell_target: Some(Duration::from_millis(20)),
    generators: |_| &[Codegen::Llvm],
    ..Design::USUAL
};

/// How it is measured.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Suite,
    measured,
    ..TIMED
};

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let (home, name) = (env.suites()?, env.request.subject.suite());
    let suite = Suite::load(&home.suite(name));
    let suite = suite.map_err(|source| RequestError::no_suite(home, name, source))?;
    of_suite(env.request, &suite)
}

/// The programs of a suite.
pub(super) fn of_suite(request: &Request, suite: &Suite) -> Result<Measured, RequestError> {
    let has_sizes = suite.has_sizes();
    let mut names = request.workloads.clone();
    if request.duration.is_quick && names.is_empty() && has_sizes {
        let all = suite.workloads.iter().map(|workload| workload.name.clone());
        names = all.filter(|name| QUICK.contains(&name.as_str())).collect();
    }
    let size = match (has_sizes, &request.size) {
        (true, _) => size(request),
        (false, None) => String::new(),
        (false, Some(size)) => {
            let words = format!("suite {} has no sizes, so no `{size}`", suite.name);
            return Err(RequestError::Refused(words));
        }
    };
    let chosen = suite.select(&names)?;
    let programs = chosen.iter().map(|one| program(suite, one, &size));
    let notes = chosen.iter().map(|one| note(suite, one, &size));
    let title = match size.as_str() {
        "" => suite.name.clone(),
        size => format!("{}-{size}", suite.name),
    };
    let mut measured = Measured::new(title, (programs.collect(), notes.collect()));
    if !has_sizes {
        measured.compared = Compared::Run;
    }
    if !suite.variants.is_empty() {
        let variants = suite.variants.iter().copied();
        (measured.variants, measured.natives) = variants.partition(|variant| variant.is_wasm());
    }
    ensure(request.args.is_empty(), || {
        "a suite's programs have arguments of their own".to_owned()
    })?;
    Ok(measured)
}
