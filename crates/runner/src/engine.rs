//! A program which is the runner of one engine.

use std::collections::BTreeMap;
use std::process::ExitCode;

use fathom_record::{
    Opt,
    protocol::{Event, Hello, Job, Measure, Request},
};

use crate::{Emitter, Probed, Refusal, cycle::Program, measure_module, probe_module, serve};

/// What of a request decides how an engine is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineRequest<'a> {
    /// The bounds-check strategy; the engine's default if absent.
    pub strategy: Option<&'a str>,
    /// The code generator; the engine's default if absent.
    pub backend: Option<&'a str>,
    /// How hard to compile.
    pub opt: Opt,
}

/// An engine, made as a request says.
pub trait Engine: Sized {
    /// A compiled module that can be run.
    type Program<'a>: Program<Error = Refusal>
    where
        Self: 'a;
    /// An instance whose exports can be called.
    type Probed: Probed;

    /// Makes it, and says what is in force.
    ///
    /// # Errors
    /// `unsupported` for what it cannot grant.
    fn new(request: &EngineRequest<'_>) -> Result<(Self, Hello), Refusal>;

    /// Compiles a module to be run as the request wants.
    ///
    /// # Errors
    /// `invalid` where the engine refuses the module.
    fn compile<'a>(
        &'a self,
        module: &[u8],
        measure: &'a Measure,
    ) -> Result<Self::Program<'a>, Refusal>;

    /// Makes an instance to be probed, with a fresh memory for each that it
    /// imports.
    ///
    /// # Errors
    /// Whatever keeps it from being made.
    fn probe(&self, module: &[u8]) -> Result<Self::Probed, Refusal>;
}

/// The `main` of an engine's runner: with `--check` it prints what would be in
/// force, else it serves one request.
pub fn run_engine<E: Engine>() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|a| a == "--check") {
        return check::<E>();
    }
    serve(serve_engine::<E>)
}

fn check<E: Engine>() -> ExitCode {
    let default = EngineRequest {
        strategy: None,
        backend: None,
        opt: Opt::default(),
    };
    match E::new(&default) {
        Ok((_, hello)) => {
            let Hello {
                engine,
                version,
                tier,
                checks,
                evidence,
                ..
            } = hello;
            println!("{engine} {version}: {tier}, {checks} ({evidence})");
            ExitCode::SUCCESS
        }
        Err(refusal) => {
            eprintln!("{refusal}");
            ExitCode::FAILURE
        }
    }
}

fn serve_engine<E: Engine>(request: &Request, emitter: &Emitter) -> Result<(), Refusal> {
    let (strategy, settings) = match &request.job {
        Job::Measure(measure) => (&measure.strategy, &measure.settings),
        Job::Probe(probe) => (&probe.strategy, &probe.settings),
    };
    let (engine, hello) = E::new(&EngineRequest {
        strategy: Some(strategy),
        backend: settings.backend(),
        opt: settings.opt(),
    })?;
    // First, so that a failure to compile or to run is told of an engine that is known.
    emitter.send(&Event::Hello(hello))?;
    match &request.job {
        Job::Measure(measure) => {
            let compile = |bytes: &[u8]| engine.compile(bytes, measure);
            measure_module(measure, emitter, compile, |_| BTreeMap::new())
        }
        Job::Probe(probe) => probe_module(probe, emitter, |bytes| engine.probe(bytes)),
    }
}
