//! Runs WebAssembly on wasmer for fathom, as `crates/runner` describes it.
//!
//!   runner.rs     the engine: what is asked of it, what is in force, compiling
//!   front.rs      which program serves: LLVM is in one of its own
//!   strategy.rs   the two ways in which it checks bounds
//!   guest.rs      programs: a store, a WASI and an instance for each iteration
//!   probed.rs     one instance whose exports are called
//!
//! `runner --check` prints what would be in force and exits with 0.

use std::process::ExitCode;

use fathom_runner::record::{
    Checks, FailureKind, Opt,
    protocol::{EVENTS_FD_ENV, Hello, Measure},
};
use fathom_runner::{
    EngineRequest, Refusal,
    evidence::{OUTSIDE, TINY, observe_checks, observe_interpretation},
    run_engine,
};
use wasmer::sys::{CompilerConfig, Cranelift, EngineBuilder, Singlepass};
use wasmer::{
    CompileError, Engine, Instance, InstantiationError, LinkError, Module, RuntimeError, Store,
    imports,
};
use wasmer_types::TrapCode;

mod front;
mod guest;
mod probed;
mod strategy;

use guest::Program;
use probed::Probed;
use strategy::Strategy;

/// The version that Cargo.toml asks for, and gets or fails.
const VERSION: &str = "7.4.2";

/// The engine with its compiler, and what waits for its files.
pub struct Wasmer {
    engine: Engine,
    tokio: tokio::runtime::Runtime,
}

fn main() -> ExitCode {
    // Without its descriptor for events it says that it is started by fathom.
    let is_asked = std::env::var_os(EVENTS_FD_ENV).is_some();
    if std::env::args_os().len() > 1 || !is_asked {
        return run_engine::<Wasmer>();
    }
    match front::hand_over() {
        Ok(never) => match never {},
        Err(error) => {
            eprintln!("cannot go on as the program for this request: {error}");
            ExitCode::FAILURE
        }
    }
}

impl fathom_runner::Engine for Wasmer {
    type Program<'a> = Program<'a>;
    type Probed = Probed;

    fn new(request: &EngineRequest<'_>) -> Result<(Self, Hello), Refusal> {
        let strategy = Strategy::named(request.strategy.unwrap_or("guard"))?;
        let backend = request.backend.unwrap_or("cranelift");
        let compiler = compiler(backend, request.opt)?;
        let mut engine = EngineBuilder::new(compiler).engine();
        strategy.set(&mut engine);
        let engine = Engine::from(engine);
        let (checks, seen) = observe(&engine).unwrap_or_else(|why| {
            let text = format!("the module to find out with: {}", why.message);
            (Checks::Unknown, text)
        });
        let (tier, shown) = tier(&engine, backend);
        let hello = Hello {
            engine: "wasmer".into(),
            version: VERSION.into(),
            backend: backend.into(),
            tier: tier.into(),
            checks,
            evidence: format!("{shown}; {seen}"),
        };
        let tokio = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| Refusal::new(FailureKind::Internal, error.to_string()))?;
        Ok((Self { engine, tokio }, hello))
    }

    fn compile<'a>(&'a self, module: &[u8], measure: &'a Measure) -> Result<Program<'a>, Refusal> {
        let module = Module::new(&self.engine, module).map_err(|error| refused(&error))?;
        Ok(Program::new(&self.engine, &self.tokio, module, measure))
    }

    fn probe(&self, module: &[u8]) -> Result<Probed, Refusal> {
        Probed::new(&self.engine, module)
    }
}

fn compiler(backend: &str, opt: Opt) -> Result<Box<dyn CompilerConfig>, Refusal> {
    let unsupported = |message| Err(Refusal::new(FailureKind::Unsupported, message));
    if opt != Opt::Speed {
        return unsupported("wasmer is asked for fast code only: use speed".to_owned());
    }
    match backend {
        "cranelift" => Ok(Box::new(Cranelift::new())),
        "singlepass" => Ok(Box::new(Singlepass::new())),
        #[cfg(feature = "llvm")]
        "llvm" => Ok(Box::new(wasmer::sys::LLVM::new())),
        #[cfg(not(feature = "llvm"))]
        "llvm" => unsupported("this wasmer was built without LLVM".to_owned()),
        _ => unsupported(format!(
            "wasmer has no backend \"{backend}\": use cranelift, singlepass or llvm"
        )),
    }
}

/// The tier, and how it is known: the compiler that the engine names as its own,
/// and that there is machine code. A function must have run.
fn tier(engine: &Engine, backend: &str) -> (&'static str, String) {
    let compiler = engine.deterministic_id();
    let (interpreted, code) = observe_interpretation();
    let shown = format!("the engine's compiler is {compiler}; {code}");
    let tier = match backend {
        _ if interpreted || !compiler.starts_with(backend) => "unknown",
        "cranelift" | "llvm" => "optimising",
        _ => "baseline",
    };
    (tier, shown)
}

/// Loads outside a memory.
fn observe(engine: &Engine) -> Result<(Checks, String), Refusal> {
    let internal =
        |error: &dyn std::fmt::Display| Refusal::new(FailureKind::Internal, error.to_string());
    let module = Module::new(engine, TINY).map_err(|error| refused(&error))?;
    let mut store = Store::new(engine.clone());
    let instance = Instance::new(&mut store, &module, &imports! {})
        .map_err(|error| not_instantiated(&error))?;
    let memory = instance
        .exports
        .get_memory("m")
        .map_err(|error| internal(&error))?;
    let base = memory.view(&store).data_ptr().addr();
    let load = instance
        .exports
        .get_typed_function::<i32, i32>(&store, "f")
        .map_err(|error| internal(&error))?;
    // One that is inside shows that it does load, and installs the fault handler.
    load.call(&mut store, 0).map_err(|error| failed(&error))?;
    let load_outside = || {
        let outcome = load.call(&mut store, OUTSIDE);
        outcome.is_err_and(|error| error.to_trap() == Some(TrapCode::HeapAccessOutOfBounds))
    };
    Ok(observe_checks(base, load_outside))
}

/// A trap in the official test suite's words.
fn trap_text(code: TrapCode) -> String {
    match code {
        TrapCode::StackOverflow => "call stack exhausted",
        TrapCode::HeapAccessOutOfBounds => "out of bounds memory access",
        TrapCode::TableAccessOutOfBounds => "out of bounds table access",
        TrapCode::IndirectCallToNull => "uninitialized element",
        TrapCode::BadSignature => "indirect call type mismatch",
        TrapCode::IntegerOverflow => "integer overflow",
        TrapCode::IntegerDivisionByZero => "integer divide by zero",
        TrapCode::BadConversionToInteger => "invalid conversion to integer",
        TrapCode::UnreachableCodeReached => "unreachable",
        TrapCode::UnalignedAtomic => "unaligned atomic",
        _ => code.message(),
    }
    .to_owned()
}

/// A module that the engine does not take.
fn refused(error: &CompileError) -> Refusal {
    let kind = match error {
        // The module is valid: it was validated before any code was generated.
        CompileError::Codegen(_)
        | CompileError::UnsupportedFeature(_)
        | CompileError::UnsupportedTarget(_) => FailureKind::Unsupported,
        CompileError::Resource(_) => FailureKind::Io,
        _ => FailureKind::Invalid,
    };
    Refusal::new(kind, error.to_string())
}

/// An instance that was not made.
fn not_instantiated(error: &InstantiationError) -> Refusal {
    match error {
        InstantiationError::Start(error) | InstantiationError::Link(LinkError::Trap(error)) => {
            failed(error)
        }
        InstantiationError::Link(LinkError::Import(..)) => {
            Refusal::new(FailureKind::Link, error.to_string())
        }
        InstantiationError::Link(LinkError::Resource(_)) => {
            Refusal::new(FailureKind::Io, error.to_string())
        }
        InstantiationError::CpuFeature(_) => {
            Refusal::new(FailureKind::Unsupported, error.to_string())
        }
        _ => Refusal::new(FailureKind::Internal, error.to_string()),
    }
}

/// A call that did not return.
fn failed(error: &RuntimeError) -> Refusal {
    match error.clone().to_trap() {
        Some(code) => Refusal::new(FailureKind::Trap, trap_text(code)),
        None => Refusal::new(FailureKind::Internal, error.message()),
    }
}
