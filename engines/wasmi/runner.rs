//! Runs WebAssembly on wasmi for fathom, as `crates/runner` describes it.
//!
//!   runner.rs   the engine: what is asked of it, what is in force, compiling
//!   guest.rs    programs: a store, a WASI and an instance for each iteration
//!   probed.rs   one instance whose exports are called
//!
//! `runner --check` prints what would be in force and exits with 0.

use std::process::ExitCode;

use fathom_runner::record::{
    Checks, FailureKind, Opt,
    protocol::{Hello, Measure},
};
use fathom_runner::{
    EngineRequest, Refusal,
    evidence::{OUTSIDE, TINY, observe_checks, observe_interpretation},
    run_engine,
};
use wasmi::errors::ErrorKind;
use wasmi::{CompilationMode, Config, Engine, Error, Linker, Module, Store, TrapCode};

mod guest;
mod probed;

use guest::Program;
use probed::Probed;

/// The version that Cargo.toml asks for, and gets or fails.
const VERSION: &str = "2.0.0";
const STRATEGY: &str = "trap";
const BACKEND: &str = "interpreter";

/// Calls may nest this deep, instead of the engine's 1,000 which programs with
/// recursion exceed.
const CALL_DEPTH_MAX: usize = 100_000;
/// Bytes of the interpreter's own stack, instead of 1,000,000.
const STACK_BYTES_MAX: usize = 64 << 20;

/// The interpreter.
pub struct Wasmi(Engine);

fn main() -> ExitCode {
    run_engine::<Wasmi>()
}

impl fathom_runner::Engine for Wasmi {
    type Program<'a> = Program<'a>;
    type Probed = Probed;

    fn new(request: &EngineRequest<'_>) -> Result<(Self, Hello), Refusal> {
        grant(request)?;
        let mut config = Config::default();
        // Left alone it translates functions when they are first called, which
        // would count as running.
        config.compilation_mode(CompilationMode::Eager);
        config.set_max_stack_height(STACK_BYTES_MAX);
        config.set_max_recursion_depth(CALL_DEPTH_MAX);
        let engine = Engine::new(&config);
        let (checks, seen) = observe(&engine).unwrap_or_else(|why| {
            (
                Checks::Unknown,
                format!("the module to find out with: {why}"),
            )
        });
        let (interpreted, how) = observe_interpretation();
        let hello = Hello {
            engine: "wasmi".into(),
            version: VERSION.into(),
            backend: BACKEND.into(),
            tier: if interpreted { BACKEND } else { "unknown" }.into(),
            checks,
            evidence: format!("{how}; {seen}"),
        };
        Ok((Self(engine), hello))
    }

    fn compile<'a>(&'a self, module: &[u8], measure: &'a Measure) -> Result<Program<'a>, Refusal> {
        let module = Module::new(&self.0, module).map_err(|error| refusal(&error))?;
        Program::new(&self.0, module, measure)
    }

    fn probe(&self, module: &[u8]) -> Result<Probed, Refusal> {
        Probed::new(&self.0, module)
    }
}

fn grant(request: &EngineRequest<'_>) -> Result<(), Refusal> {
    let unsupported = |message| Err(Refusal::new(FailureKind::Unsupported, message));
    match (request.strategy, request.backend) {
        (Some(name), _) if name != STRATEGY => {
            unsupported(format!("wasmi has no strategy \"{name}\": use {STRATEGY}"))
        }
        (_, Some(name)) if name != BACKEND => {
            unsupported(format!("wasmi has no backend \"{name}\": use {BACKEND}"))
        }
        _ if request.opt != Opt::Speed => {
            unsupported("wasmi has one optimisation level".to_owned())
        }
        _ => Ok(()),
    }
}

/// Loads outside a memory.
fn observe(engine: &Engine) -> Result<(Checks, String), Error> {
    let module = Module::new(engine, TINY)?;
    let mut store = Store::new(engine, ());
    let instance = Linker::new(engine).instantiate_and_start(&mut store, &module)?;
    let memory = instance.get_memory(&store, "m");
    let base = memory.map_or(0, |memory| memory.data_ptr(&store).addr());
    let load = instance.get_typed_func::<i32, i32>(&store, "f")?;
    // One that is inside shows that it does load.
    load.call(&mut store, 0)?;
    let load_outside = || {
        let outcome = load.call(&mut store, OUTSIDE);
        outcome.is_err_and(|error| error.as_trap_code() == Some(TrapCode::MemoryOutOfBounds))
    };
    Ok(observe_checks(base, load_outside))
}

/// A trap in the official test suite's words.
fn trap_text(code: TrapCode) -> &'static str {
    match code {
        TrapCode::UnreachableCodeReached => "unreachable",
        TrapCode::TableOutOfBounds => "out of bounds table access",
        TrapCode::IndirectCallToNull => "uninitialized element",
        _ => code.trap_message(),
    }
}

/// What kind of failure an error of the engine is.
fn refusal(error: &Error) -> Refusal {
    if let Some(code) = error.as_trap_code() {
        return Refusal::new(FailureKind::Trap, trap_text(code));
    }
    let kind = match error.kind() {
        ErrorKind::Read(_) | ErrorKind::Wasm(_) => FailureKind::Invalid,
        ErrorKind::Translation(_)
        | ErrorKind::UserLimits(_)
        | ErrorKind::ImplementationLimits(_) => FailureKind::Unsupported,
        ErrorKind::Linker(_) | ErrorKind::Instantiation(_) => FailureKind::Link,
        ErrorKind::Memory(_) | ErrorKind::Table(_) => FailureKind::Io,
        _ => FailureKind::Internal,
    };
    Refusal::new(kind, error.to_string())
}
