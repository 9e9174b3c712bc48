//! What coroutines cost: stack switching, Asyncify, state machines; and what "Benchmarking
//! WasmFX" measured of them.
//!
//! ```text
//!  programs × { Asyncify, stack switching, state machines } × { fathom, wasmtime, V8 }
//!           + { our own stacks, state machines } natively
//! ```
//!
//! What must stay true: one engine runs all its builds in the same rounds, so that the ratio
//! of two is the engine's own; what an engine lacks is a failure with its reason.

use std::{fs, time::Duration};

use fathom_record::{Experiment, Variant};

use super::{
    Command, Design, Environment, Measured,
    design::plain,
    measured::{DEFAULT, answered, names, size, suite},
};
use crate::{
    choose::{Controls, NATIVE, OWN, Row, Wanted},
    request::RequestError,
};

/// The ways to make a fiber in WebAssembly.
const BUILDS: [Variant; 3] = [
    Variant::WasmAsyncify,
    Variant::WasmSwitch,
    Variant::WasmState,
];
/// The engines that run programs fast; interpreters are measured where they are named.
const OUTSIDE: [&str; 3] = ["wasmtime", "wasmtime48", "node26"];
/// A first impression.
const QUICK: [&str; 6] = [
    "c10m",
    "generator",
    "create",
    "depth-1",
    "depth-20",
    "live-100",
];
/// What the talk measured.
const TALK: [&str; 5] = ["sieve", "c10m", "skynet", "hello", "c10m-io"];

/// How fibers are measured.
const FIBERS: Design = Design {
    budget: Duration::from_secs(20 * 60),
    iterations: 1,
    cell_target: Some(Duration::from_millis(50)),
    is_by_cell: true,
    controls: Controls::First,
    wanted,
    is_baseline: |row: &Row| row.native == Some(Variant::Native),
    ..Design::USUAL
};

/// How it is measured.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Fibers,
    command: Some(Command::Suite),
    help: "What coroutines cost: stack switching, Asyncify, state machines",
    about: "`fibers`: programs on a C library of fibers, with Asyncify, with stack switching and as \
            state machines written by hand, on Fathom, wasmtime and V8, and native. It measures \
            round trips by depth and by live stacks, creation, memory and code size. The page is \
            written as fibers.md, .html and .csv. Needs `python3 workloads/build.py --suite fibers` (docs/FIBERS.md).",
    measured: |env| measured(env, "fibers", &QUICK, &[]),
    ..FIBERS
};

/// How the talk's programs are measured.
pub(super) static DESIGN_2024: Design = Design {
    experiment: Experiment::BenchmarkingWasmfx,
    command: Some(Command::Reproduce),
    help: "Benchmarking WasmFX: its micro-benchmarks on Asyncify and on stack switching",
    about: "`benchmarking-wasmfx`: Hillerstr\u{f6}m: Benchmarking WasmFX (2024). Its five \
            micro-benchmarks, with Asyncify and with stack switching, on Fathom, wasmtime and V8, \
            beside the talk's tables. Needs `python3 workloads/build.py --suite fibers`; --size \
            large is the talk's ten million. For its HTTP server see `fathom suite http`.",
    measured: |env| measured(env, "benchmarking-wasmfx", &["c10m", "hello"], &TALK),
    ..FIBERS
};

/// The programs that are named, or these of a first impression, or else all of these.
fn measured(
    env: &Environment<'_>,
    title: &str,
    quick: &[&str],
    all: &[&str],
) -> Result<Measured, RequestError> {
    let (request, suite) = (env.request, suite(env.suites()?, "fibers")?);
    let size = size(request);
    let mut names = names(request, quick);
    if names.is_empty() {
        names = all.iter().map(|name| (*name).to_owned()).collect();
    }
    let (programs, mut notes) = answered(&suite, &names, &size)?;
    for (note, program) in notes.iter_mut().zip(&programs) {
        let builds = BUILDS.iter().filter_map(|variant| {
            let file = fs::metadata((program.artifact)(*variant)).ok()?;
            Some((*variant, file.len()))
        });
        note.builds = builds.collect();
    }
    Ok(Measured {
        variants: BUILDS.to_vec(),
        strategies: vec![DEFAULT],
        ..Measured::new(format!("{title}-{size}"), (programs, notes))
    })
}

/// The engines that were named, or those that run programs fast.
fn wanted(env: &Environment<'_>) -> Vec<Wanted> {
    if !env.request.engines.is_empty() {
        return env.request.engines.clone();
    }
    let outside = OUTSIDE.iter().filter(|name| {
        let mut known = env.outside.iter();
        known.any(|(spec, _)| spec.name == **name)
    });
    let own = [OWN].into_iter().chain(outside.copied());
    let natives = [NATIVE, Variant::NativeState.name()];
    own.chain(natives).map(plain).collect()
}
