//! What "Leaps and bounds" measured of PolyBench: its engines, each in every way that it
//! can be asked to check, with 1, 4, 16 and as many instances as there are processors.
//!
//! What must stay true: what the paper measured and is not to be had is named.

use fathom_record::Experiment;
use fathom_sys::pin;

use super::{
    Command, Design, Environment, Measured,
    design::plain,
    measured::{answered, names, size, suite},
    scaling::{SIDE_BY_SIDE, side_by_side},
    spec,
    suite::QUICK,
};
use crate::{
    choose::{Absent, NATIVE, OWN, Wanted},
    request::RequestError,
};

/// The paper's numbers of instances.
const THREADS: [u32; 3] = [1, 4, 16];
/// The paper's engines, by the names of those that may be here.
const ENGINES: [&str; 5] = [OWN, NATIVE, "wasmtime", "wasm3", "node"];
/// The paper's second compiler for native code, where it was built with it.
const NATIVE_GCC: &str = "native-gcc";

/// How it is measured.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::LeapsAndBounds,
    command: Some(Command::Reproduce),
    help: "Leaps and bounds: analysing WebAssembly's performance with a focus on bounds checking",
    about: "`leaps-and-bounds`: Szewczyk, Stonehouse, Barbalace, Spink: Leaps and bounds, IISWC \
            2022. Five ways to check bounds, those of the paper's engines that are installed, and \
            native code, on PolyBench with 1, 4 and 16 pinned instances. SPEC CPU 2017 may not be \
            distributed: --spec builds the paper's part of your own copy and measures it in a \
            separate campaign; the build lists the programs it leaves out. Its recipes follow the \
            published layout and were never tried on SPEC's sources.",
    on_spec: Some(&spec::DESIGN),
    measured,
    wanted,
    absent: |_| Ok(vec![wavm()]),
    ..SIDE_BY_SIDE
};

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let request = env.request;
    let size = size(request);
    let kernels = names(request, &QUICK);
    let programs = answered(&suite(env.suites()?, "polybench")?, &kernels, &size)?;
    let title = format!("leaps-and-bounds-{size}");
    Ok(side_by_side(title, programs, threads()))
}

/// How many instances at once; the paper's machine had 16 processors, so as many as
/// there are here belong to its form.
pub(super) fn threads() -> Vec<u32> {
    let here = pin::allowed_cpus().map_or(1, |cpus| cpus.len());
    let mut counts = THREADS.to_vec();
    counts.extend(u32::try_from(here).ok());
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The engines that were named, or the paper's, with GCC's build where there is one.
fn wanted(env: &Environment<'_>) -> Vec<Wanted> {
    let build = |home: &crate::home::Home| home.suite("polybench").join("build");
    let built = env.home.map(|home| build(home).join(NATIVE_GCC));
    let has_gcc = built.is_some_and(|folder| folder.join(size(env.request)).is_dir());
    engines(env, has_gcc.then_some(NATIVE_GCC))
}

/// The engines that were named, or the paper's, each in every way it can be asked to
/// check.
pub(super) fn engines(env: &Environment<'_>, more: Option<&str>) -> Vec<Wanted> {
    if !env.request.engines.is_empty() {
        return env.request.engines.clone();
    }
    let mut wanted = vec![plain(OWN), plain(NATIVE)];
    wanted.extend(more.map(plain));
    for (spec, _) in env.outside {
        if ENGINES.contains(&spec.name.as_str()) {
            wanted.extend(spec.strategies.iter().map(|strategy| Wanted {
                strategy: Some(strategy.clone()),
                ..plain(&spec.name)
            }));
        }
    }
    wanted
}

/// An engine of the paper's that no registry has.
pub(super) fn wavm() -> Absent {
    Absent {
        engine: "wavm".to_owned(),
        why: "no package registry has it, and its last release is older than the paper".to_owned(),
        is_wanted: false,
        install: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_numbers_of_instances_are_all_there() {
        let counts = threads();
        assert!(THREADS.iter().all(|count| counts.contains(count)));
        assert!(counts.is_sorted());
    }
}
