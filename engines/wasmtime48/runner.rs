//! Runs WebAssembly on the crate wasmtime, with its stack switching, for fathom, as
//! `crates/runner` describes it.
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
    evidence::{OUTSIDE, TINY, observe_checks},
    run_engine,
};
use wasmtime::component::Component;
use wasmtime::{Config, Engine, Error, Instance, Module, OptLevel, Store, Trap};

mod guest;
mod probed;

use guest::Program;
use probed::Probed;

/// The version that Cargo.toml asks for, and gets or fails.
const VERSION: &str = "48.0.8";
const BACKEND: &str = "cranelift";

/// What a component begins with (component model, Binary.md).
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// In a compiled module's image where it was optimised: the setting's name, a variant's number,
/// the length of its name, its name.
const OPTIMISED: &[u8] = b"opt_level\0\x05speed";

/// The engine.
pub struct Wasmtime(Engine);

fn main() -> ExitCode {
    run_engine::<Wasmtime>()
}

impl fathom_runner::Engine for Wasmtime {
    type Program<'a> = Program<'a>;
    type Probed = Probed;

    fn new(request: &EngineRequest<'_>) -> Result<(Self, Hello), Refusal> {
        let config = configured(request)?;
        let engine = Engine::new(&config)
            .map_err(|error| Refusal::new(FailureKind::Unsupported, line_of(&error)))?;
        let (tier, checks, evidence) = observe(&engine, request.opt).unwrap_or_else(|why| {
            let evidence = format!("the module to find out with: {}", line_of(&why));
            ("unknown", Checks::Unknown, evidence)
        });
        let hello = Hello {
            engine: "wasmtime48".into(),
            version: VERSION.into(),
            backend: BACKEND.into(),
            tier: tier.into(),
            checks,
            evidence,
        };
        Ok((Self(engine), hello))
    }

    fn compile<'a>(&'a self, module: &[u8], measure: &'a Measure) -> Result<Program<'a>, Refusal> {
        if module.starts_with(COMPONENT) {
            let component = Component::from_binary(&self.0, module).map_err(invalid)?;
            return Program::of_component(&self.0, &component, measure);
        }
        Program::new(&self.0, compiled(&self.0, module)?, measure)
    }

    fn probe(&self, module: &[u8]) -> Result<Probed, Refusal> {
        Probed::new(&self.0, &compiled(&self.0, module)?)
    }
}

/// What is granted of a request. No disk cache is configured, so every compile is a compile.
fn configured(request: &EngineRequest<'_>) -> Result<Config, Refusal> {
    let unsupported = |message| Err(Refusal::new(FailureKind::Unsupported, message));
    let mut config = Config::new();
    match request.strategy {
        None | Some("guard") => {}
        Some("trap") => {
            config.memory_reservation(0).memory_guard_size(0);
        }
        Some(name) => {
            let message = format!("wasmtime48 has no strategy \"{name}\": use guard or trap");
            return unsupported(message);
        }
    }
    if let Some(name) = request.backend.filter(|name| *name != BACKEND) {
        let message = format!("wasmtime48 has no backend \"{name}\": use {BACKEND}");
        return unsupported(message);
    }
    config
        .cranelift_opt_level(match request.opt {
            Opt::None => OptLevel::None,
            Opt::Speed => OptLevel::Speed,
        })
        .wasm_function_references(true)
        .wasm_exceptions(true)
        .wasm_stack_switching(true);
    Ok(config)
}

fn compiled(engine: &Engine, module: &[u8]) -> Result<Module, Refusal> {
    Module::from_binary(engine, module).map_err(invalid)
}

fn invalid(error: Error) -> Refusal {
    Refusal::new(FailureKind::Invalid, line_of(&error))
}

/// What the code says of its making, and what catches a load outside a memory.
fn observe(engine: &Engine, opt: Opt) -> Result<(&'static str, Checks, String), Error> {
    let module = Module::from_binary(engine, TINY)?;
    let image = module.serialize()?;
    let is_optimised = image.windows(OPTIMISED.len()).any(|at| at == OPTIMISED);
    let (tier, shown) = match (is_optimised, opt) {
        (true, Opt::Speed) => ("optimising", "the compiled code says opt_level speed"),
        (false, Opt::None) => ("unoptimised", "the compiled code says opt_level none"),
        _ => ("unknown", "the compiled code contradicts what was asked"),
    };
    let mut store = Store::new(engine, ());
    let instance = Instance::new(&mut store, &module, &[])?;
    let memory = instance.get_memory(&mut store, "m");
    let base = memory.map_or(0, |memory| memory.data_ptr(&store).addr());
    let load = instance.get_typed_func::<i32, i32>(&mut store, "f")?;
    // One that is inside shows that it does load.
    load.call(&mut store, 0)?;
    let load_outside = || {
        let outcome = load.call(&mut store, OUTSIDE);
        outcome.is_err_and(|error| error.downcast_ref() == Some(&Trap::MemoryOutOfBounds))
    };
    let (checks, seen) = observe_checks(base, load_outside);
    Ok((tier, checks, format!("{shown}; {seen}")))
}

/// A trap in the official test suite's words.
fn trap_text(trap: Trap) -> String {
    match trap {
        Trap::UnreachableCodeReached => "unreachable".to_owned(),
        Trap::TableOutOfBounds => "out of bounds table access".to_owned(),
        _ => trap.to_string().replace("wasm trap: ", ""),
    }
}

/// An error with its causes in one line.
fn line_of(error: &Error) -> String {
    format!("{error:#}").replace('\n', " ")
}

/// What kind of failure an error is that ended a call.
fn failed(error: &Error) -> Refusal {
    match error.downcast_ref::<Trap>() {
        Some(trap) => Refusal::new(FailureKind::Trap, trap_text(*trap)),
        None => Refusal::new(FailureKind::Internal, line_of(error)),
    }
}

/// What kind of failure an error is that kept an instance from being made.
fn not_instantiated(error: &Error) -> Refusal {
    match error.downcast_ref::<Trap>() {
        Some(trap) => Refusal::new(FailureKind::Trap, trap_text(*trap)),
        None => Refusal::new(FailureKind::Link, line_of(error)),
    }
}
