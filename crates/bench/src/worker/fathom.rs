//! Our own engine behind the runner protocol, through its public API alone:
//! nothing here that an embedder could not write.

use std::{fs, path::Path};

use fathom_engine::{
    Bounds, BoundsChoice, Config, Engine, Error, ErrorKind, Func, Linker, Module, Store,
};
use fathom_record::{
    Checks, Elide, FailureKind, Opt,
    protocol::{Event, Hello, Measure, Probe},
};
use fathom_runner::{
    Emitter, Refusal, arguments_of,
    cycle::{Program, RunEnd, Streams},
    measure_module,
};
use fathom_wasi::{
    BuildError, ProcExit, Stream, WasiCtx, WasiCtxBuilder, add_to_linker, uses_threads,
};

use crate::probe::{ServeError, serve};

/// What of a request bears on the engine's configuration.
#[derive(Clone, Debug)]
pub(crate) struct Wish<'a> {
    /// The strategy's name, or `auto`.
    pub strategy: &'a str,
    /// How hard to compile.
    pub opt: Opt,
    /// The code generator; there is one.
    pub backend: Option<&'a str>,
    /// Which checks are left out, where it is not the default.
    pub elide: Option<Elide>,
    /// Allows the strategy which checks nothing.
    pub unsafe_no_bounds: bool,
    /// Layout of functions.
    pub seed: Option<u64>,
    /// Compiled modules.
    pub cache: Option<&'a Path>,
}

/// The engine as a request wants it, and what it says of itself.
pub(crate) fn engine(wish: &Wish<'_>) -> Result<(Engine, Hello), Refusal> {
    let unsupported = |message: String| Refusal::new(FailureKind::Unsupported, message);
    let bounds: BoundsChoice = wish
        .strategy
        .parse()
        .map_err(|error: fathom_engine::bounds::UnknownBounds| unsupported(error.to_string()))?;
    if let Some(backend) = wish.backend.filter(|&name| name != BACKEND) {
        return Err(unsupported(format!(
            "no backend `{backend}`, only {BACKEND}"
        )));
    }
    let config = Config::new()
        .bounds(bounds)
        .opt(match wish.opt {
            Opt::Speed => fathom_engine::Opt::Speed,
            Opt::None => fathom_engine::Opt::None,
        })
        .elide(match wish.elide {
            None => fathom_engine::Elide::default(),
            Some(Elide::Off) => fathom_engine::Elide::Off,
            Some(Elide::Dominated) => fathom_engine::Elide::Dominated,
            Some(Elide::Loops) => fathom_engine::Elide::Loops,
        })
        .allow_unchecked(wish.unsafe_no_bounds)
        .layout_seed(wish.seed)
        .cache_dir(wish.cache.map(Path::to_owned));
    let engine = Engine::new(&config).map_err(refusal)?;
    let hello = Hello {
        engine: "fathom".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        backend: BACKEND.into(),
        tier: match engine.opt() {
            fathom_engine::Opt::Speed => "optimising",
            fathom_engine::Opt::None => "baseline",
        }
        .into(),
        checks: checks(engine.bounds(false)),
        evidence: evidence(&engine, wish.strategy),
    };
    Ok((engine, hello))
}

/// What is in force, and for `auto` why.
fn evidence(engine: &Engine, strategy: &str) -> String {
    if strategy != "auto" {
        let bounds = engine.bounds(false);
        return format!("the engine's plan for 32-bit memories: {bounds}");
    }
    let in_force = |memory64| match engine.fallback(memory64) {
        Some(why) => format!("{}, because {why}", engine.bounds(memory64)),
        None => engine.bounds(memory64).to_string(),
    };
    let (narrow, wide) = (in_force(false), in_force(true));
    format!("auto = {narrow} (32-bit memories), {wide} (64-bit memories)")
}

/// The one code generator.
const BACKEND: &str = "cranelift";

fn checks(bounds: Bounds) -> Checks {
    match bounds {
        Bounds::None => Checks::None,
        Bounds::Clamp => Checks::Clamp,
        Bounds::Trap | Bounds::Guard64(_) | Bounds::Debug => Checks::Explicit,
        Bounds::Shadow(_) | Bounds::ShadowCompressed(..) => Checks::Shadow,
        Bounds::Guard => Checks::GuardPages,
        Bounds::Uffd => Checks::Userfaultfd,
        Bounds::Pkeys => Checks::ProtectionKeys,
    }
}

/// What kind of failure an error of the engine is.
pub(crate) fn refusal(error: Error) -> Refusal {
    let kind = match error.kind() {
        ErrorKind::Invalid { .. } => FailureKind::Invalid,
        ErrorKind::Unsupported { .. } | ErrorKind::Config(_) => FailureKind::Unsupported,
        ErrorKind::Link { .. } => FailureKind::Link,
        ErrorKind::Trap(_) => FailureKind::Trap,
        ErrorKind::Host { .. } | ErrorKind::Resource { .. } => FailureKind::Io,
        _ => FailureKind::Internal,
    };
    Refusal::new(kind, error.to_string())
}

/// Serves a request to measure.
///
/// # Errors
/// Whatever keeps it from being measured.
pub(crate) fn measure(measure: &Measure, emitter: &Emitter) -> Result<(), Refusal> {
    let (engine, hello) = engine(&Wish {
        strategy: &measure.strategy,
        opt: measure.opt,
        backend: measure.backend.as_deref(),
        elide: measure.elide,
        unsafe_no_bounds: measure.unsafe_no_bounds,
        seed: (measure.seed != 0).then_some(measure.seed),
        cache: measure.cache.as_deref(),
    })?;
    emitter.send(&Event::Hello(hello))?;
    let compile = |bytes: &[u8]| {
        let module = Module::new(&engine, bytes).map_err(refusal)?;
        if uses_threads(&module) {
            let message = "the program starts threads of its own, which are not measured";
            return Err(Refusal::new(FailureKind::Link, message));
        }
        let mut linker = Linker::new(&engine);
        add_to_linker(&mut linker, |state: &mut WasiCtx| state);
        Ok(Wasm {
            engine: &engine,
            module,
            linker,
            measure,
        })
    };
    measure_module(measure, emitter, compile, |program| {
        Some(program.module.code_bytes() as u64)
    })
}

/// Serves a request to probe.
///
/// # Errors
/// Whatever keeps the calls from being made; `unsound` when the sandbox leaks.
pub(crate) fn probe(probe: &Probe, emitter: &Emitter) -> Result<(), Refusal> {
    let (engine, hello) = engine(&Wish {
        strategy: &probe.strategy,
        opt: probe.opt,
        backend: probe.backend.as_deref(),
        elide: probe.elide,
        unsafe_no_bounds: probe.unsafe_no_bounds,
        seed: None,
        cache: None,
    })?;
    emitter.send(&Event::Hello(hello))?;
    let bytes = fs::read(&probe.module).map_err(|error| Refusal::file(&probe.module, &error))?;
    let mut tell = |index, outcome| {
        let sent = emitter.send(&Event::Call { index, outcome });
        sent.map_err(|refusal| std::io::Error::other(refusal.message))
    };
    serve(&engine, &bytes, &probe.calls, &mut tell).map_err(|error| {
        let message = error.to_string();
        match error {
            ServeError::Engine(error) => refusal(error),
            ServeError::Escape(_) => Refusal::new(FailureKind::Unsound, message),
            ServeError::Missing(_) | ServeError::Import(_) => {
                Refusal::new(FailureKind::Link, message)
            }
            ServeError::Argument(_) => Refusal::new(FailureKind::Protocol, message),
            ServeError::Fence(_) | ServeError::Tell(_) => Refusal::new(FailureKind::Io, message),
        }
    })
}

/// A compiled WASI program.
struct Wasm<'a> {
    engine: &'a Engine,
    module: Module,
    linker: Linker<WasiCtx>,
    measure: &'a Measure,
}

impl Wasm<'_> {
    fn state(&self, streams: Streams) -> Result<WasiCtx, Refusal> {
        let refused = |error: BuildError| Refusal::new(FailureKind::Io, error.to_string());
        let mut builder = WasiCtxBuilder::new()
            .stdout(streams.stdout)
            .stderr(streams.stderr)
            .args(&arguments_of(self.measure))
            .map_err(refused)?;
        if let Some(file) = streams.stdin {
            builder = builder.stdin(Stream::from(file));
        }
        for (key, value) in &self.measure.env {
            builder = builder.env(key, value).map_err(refused)?;
        }
        for (host, guest) in &self.measure.dirs {
            builder = builder.preopen_dir(host, guest).map_err(refused)?;
        }
        builder.build().map_err(refused)
    }
}

impl Program for Wasm<'_> {
    type Instance = (Store<WasiCtx>, Func);
    type Error = Refusal;

    fn instantiate(&self, streams: Streams) -> Result<Self::Instance, Refusal> {
        let mut store = Store::new(self.engine, self.state(streams)?);
        let instance = self
            .linker
            .instantiate(&mut store, &self.module)
            .map_err(refusal)?;
        let start = instance.get_func(&store, "_start").ok_or_else(|| {
            Refusal::new(
                FailureKind::Link,
                "the module has no function _start to run",
            )
        })?;
        Ok((store, start))
    }

    fn run(&self, (store, start): &mut Self::Instance) -> Result<RunEnd, Refusal> {
        let exit = match start.call(store, &[], &mut []) {
            Ok(()) => 0,
            Err(error) => match error.downcast_ref::<ProcExit>() {
                Some(&ProcExit(status)) => status.cast_signed(),
                None => return Err(refusal(error)),
            },
        };
        Ok(RunEnd { exit, cpu_ns: None })
    }

    fn teardown(&self, instance: Self::Instance) {
        drop(instance);
    }
}
