//! Our own engine behind the runner protocol, through its public API alone:
//! nothing here that an embedder could not write.

use std::{
    collections::BTreeMap,
    env, fs,
    net::TcpListener,
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use fathom_engine::{
    Bounds, BoundsChoice, Codegen, Config, Engine, Error, ErrorKind, Func, HeapStats, InstancePre,
    Linker, Module, Opt, Pauses, Pool, PoolLimits, Pooled, PooledFunc, ProfilingStrategy, Quota,
    Store, TypedFunc,
};
use fathom_record::{
    Checks, FailureKind, Metric, Settings,
    protocol::{Event, Hello, Measure, PERF_MAP_ENV, Probe},
};
use fathom_runner::{
    Emitter, Refusal, arguments_of,
    cycle::{Program, RunEnd, Streams},
    measure_module,
};
use fathom_sys::modes::CpuClock;
use fathom_wasi::{
    BuildError, DirPerms, FilePerms, ProcExit, Stream, WasiCtx, WasiCtxBuilder, add_to_linker,
    uses_threads,
};

use super::load::{self, Driven, descriptors::needed};
use crate::generator;
use crate::own::OwnStrategy;
use crate::probe::{ServeError, serve};
use crate::settings;

/// What of a request bears on the engine's configuration.
#[derive(Clone, Debug)]
pub(crate) struct EngineRequest<'a> {
    /// The strategy's name, or `auto`.
    pub strategy: &'a str,
    /// What was named of the settings.
    pub settings: &'a Settings,
    /// Where the compiler of a code generator is that needs one.
    pub clang: Option<&'a Path>,
    /// Allows the strategy which checks nothing.
    pub unsafe_no_bounds: bool,
    /// Layout of functions.
    pub seed: Option<u64>,
    /// Compiled modules.
    pub cache: Option<&'a Path>,
    /// Bytes of the stack of a continuation, where it is not the default.
    pub stack_bytes: Option<u64>,
}

/// Whether functions are listed for who samples this process.
fn profiler() -> ProfilingStrategy {
    match env::var_os(PERF_MAP_ENV) {
        Some(_) => ProfilingStrategy::PerfMap,
        None => ProfilingStrategy::None,
    }
}

/// The engine as a request wants it, and what it says of itself.
pub(crate) fn engine(request: &EngineRequest<'_>) -> Result<(Engine, OwnStrategy, Hello), Refusal> {
    let unsupported = |message: String| Refusal::new(FailureKind::Unsupported, message);
    let own: OwnStrategy = request
        .strategy
        .parse()
        .map_err(|error: fathom_engine::UnknownBounds| unsupported(error.to_string()))?;
    let config = settings::config(Config::new(), request.settings).map_err(unsupported)?;
    let config = config
        .clang(request.clang.map(Path::to_owned))
        .bounds(own.choice)
        .allow_unchecked(request.unsafe_no_bounds)
        .quota(QUOTA)
        // What a program of a user's gets: their checks depend on it.
        .memory64_growth_limit(Quota::default().memory_bytes)
        .layout_seed(request.seed)
        .cache_dir(request.cache.map(Path::to_owned))
        .profiler(profiler())
        .end_threads(true);
    let config = match request.stack_bytes {
        Some(bytes) => config.continuation_stack(bytes as usize),
        None => config,
    };
    let engine = Engine::new(&config).map_err(refusal)?;
    settings::in_force(&engine, request.settings).map_err(unsupported)?;
    let hello = Hello {
        engine: "fathom".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        backend: engine.codegen().name().into(),
        tier: match (engine.codegen(), engine.opt()) {
            (codegen, _) if codegen.has_tiers() => "tiering",
            (Codegen::Direct, _) | (_, Opt::None) => "baseline",
            (_, Opt::Speed) => "optimising",
        }
        .into(),
        checks: checks(engine.bounds(false)),
        evidence: evidence(&engine, own),
    };
    Ok((engine, own, hello))
}

/// What is in force, and for `auto` why.
fn evidence(engine: &Engine, own: OwnStrategy) -> String {
    let instances = match own.is_pooled {
        true => "; instances of a pool",
        false => "",
    };
    let guards = match engine.spectre() {
        true => "; guards against speculation",
        false => "; no guards against speculation",
    };
    if own.choice != BoundsChoice::Auto {
        let bounds = engine.bounds(false);
        return format!("the engine's plan for 32-bit memories: {bounds}{guards}{instances}");
    }
    let in_force = |memory64| match engine.fallback(memory64) {
        Some(why) => format!("{}, because {why}", engine.bounds(memory64)),
        None => engine.bounds(memory64).to_string(),
    };
    let (narrow, wide) = (in_force(false), in_force(true));
    format!("auto = {narrow} (32-bit memories), {wide} (64-bit memories){guards}{instances}")
}

/// What a store may have: as much memory as one can have at all. Other engines set no
/// limit, and the probe has several memories of 4 GiB in one store.
const QUOTA: Quota = Quota {
    memory_bytes: 1 << 40,
    ..Quota::UNLIMITED
};

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
    let message = match error.kind() {
        ErrorKind::Host { error, .. } => error.to_string(),
        _ => error.to_string(),
    };
    Refusal::new(kind, message)
}

/// The engine as a request to measure wants it, and what it says of itself.
///
/// # Errors
/// What it wants is not to be had.
pub fn engine_of(
    measure: &Measure,
    clang: Option<&Path>,
) -> Result<(Engine, OwnStrategy, Hello), Refusal> {
    engine(&EngineRequest {
        strategy: &measure.strategy,
        settings: &measure.settings,
        clang,
        unsafe_no_bounds: measure.unsafe_no_bounds,
        seed: (measure.seed != 0).then_some(measure.seed),
        cache: measure.cache.as_deref(),
        stack_bytes: measure.stack_bytes,
    })
}

/// Serves a request to measure.
///
/// # Errors
/// Whatever keeps it from being measured.
pub(crate) fn measure(
    measure: &Measure,
    clang: Option<&Path>,
    emitter: &Emitter,
) -> Result<(), Refusal> {
    let (engine, own, mut hello) = engine_of(measure, clang)?;
    hello.evidence += &load::driven_by(measure)?;
    emitter.send(&Event::Hello(hello.clone()))?;
    if measure.cache.is_some() {
        // What is timed is how long it takes to find it.
        let bytes = fs::read(&measure.module);
        let bytes = bytes.map_err(|error| Refusal::file(&measure.module, &error))?;
        Module::new(&engine, &bytes).map_err(refusal)?;
    }
    let compile = |bytes: &[u8]| {
        let module = Module::new(&engine, bytes).map_err(refusal)?;
        if measure.cache.is_some() && !module.from_cache() {
            let why = module.cache_trouble().unwrap_or("it is gone");
            let message = format!("the cache did not keep the module: {why}");
            return Err(Refusal::new(FailureKind::Io, message));
        }
        let unsupported = |why| Refusal::new(FailureKind::Unsupported, why);
        if let Some(shares) = generator::shares(&module).map_err(unsupported)? {
            // Known only now.
            let evidence = format!("{}; {shares}", hello.evidence);
            let hello = hello.clone();
            emitter.send(&Event::Hello(Hello { evidence, ..hello }))?;
        }
        Ok(module)
    };
    let Some((load, listener)) = load::listen(measure)? else {
        let compile = |bytes: &[u8]| Wasm::new(&engine, compile(bytes)?, own, measure, None);
        return measure_module(measure, emitter, compile, Wasm::metrics);
    };
    let address = load::address(&listener)?;
    let tell = |event: &Event| emitter.send(event);
    let compile = |bytes: &[u8]| {
        let server = Wasm::new(&engine, compile(bytes)?, own, measure, Some(&listener))?;
        // Its instance runs on the thread that asks.
        let clock = |_: &Made| Ok(CpuClock::of_this_thread());
        Ok(Driven::new(
            server,
            load,
            address,
            &measure.scratch,
            clock,
            &tell,
        ))
    };
    measure_module(measure, emitter, compile, |driven| driven.server.metrics())
}

/// Serves a request to probe.
///
/// # Errors
/// Whatever keeps the calls from being made; `unsound` when the sandbox leaks.
pub(crate) fn probe(probe: &Probe, clang: Option<&Path>, emitter: &Emitter) -> Result<(), Refusal> {
    let (engine, own, hello) = engine(&EngineRequest {
        strategy: &probe.strategy,
        settings: &probe.settings,
        clang,
        unsafe_no_bounds: probe.unsafe_no_bounds,
        seed: None,
        cache: None,
        stack_bytes: None,
    })?;
    emitter.send(&Event::Hello(hello))?;
    let bytes = fs::read(&probe.module).map_err(|error| Refusal::file(&probe.module, &error))?;
    let mut tell = |index, outcome| {
        let sent = emitter.send(&Event::Call { index, outcome });
        sent.map_err(|refusal| std::io::Error::other(refusal.message))
    };
    serve(&engine, own.is_pooled, &bytes, &probe.calls, &mut tell).map_err(|error| {
        let message = error.to_string();
        match error {
            ServeError::Engine(error) => refusal(error),
            ServeError::Escape(_) => Refusal::new(FailureKind::Unsound, message),
            ServeError::Missing(_) | ServeError::Import(_) => {
                Refusal::new(FailureKind::Link, message)
            }
            ServeError::Other(_) => Refusal::new(FailureKind::Unsupported, message),
            ServeError::Argument(_) => Refusal::new(FailureKind::Protocol, message),
            ServeError::Fence(_) | ServeError::Tell(_) => Refusal::new(FailureKind::Io, message),
        }
    })
}

/// A compiled program, and where its instances come from.
struct Wasm<'a> {
    engine: &'a Engine,
    module: Module,
    /// Its imports, found once as embedders do, and off the clock as other engines' are.
    resolved: InstancePre<Data>,
    pool: Option<(Pool<Data>, PooledFunc<(), ()>)>,
    measure: &'a Measure,
    /// The socket that it listens on, where it is a server.
    listener: Option<&'a TcpListener>,
    /// Of all instances that were run.
    heaps: Mutex<Heaps>,
}

/// What structures and arrays took, of those instances that have a heap.
#[derive(Default)]
struct Heaps {
    instances: u64,
    collections: u64,
    pauses: Pauses,
    bytes_max: u64,
}

impl Heaps {
    fn add(&mut self, ended: &HeapStats) {
        self.instances += 1;
        self.collections += ended.collections;
        self.pauses.extend(&ended.pauses);
        self.bytes_max = self.bytes_max.max(ended.heap_bytes);
    }

    /// Nothing where no instance had one.
    fn metrics(&self) -> Vec<(Metric, u64)> {
        if self.instances == 0 {
            return Vec::new();
        }
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let an_iteration = |sum: u64| (sum + self.instances / 2) / self.instances;
        let p99 = self.pauses.within(990).map(nanos);
        let p99 = p99.map(|p99| (Metric::PauseP99Ns, p99));
        let all = [
            (Metric::Collections, an_iteration(self.collections)),
            (Metric::PausedNs, an_iteration(nanos(self.pauses.total()))),
            (Metric::HeapBytes, self.bytes_max),
        ];
        all.into_iter().chain(p99).collect()
    }
}

/// What an instance has of the host: nothing where it imports nothing of WASI.
type Data = Option<WasiCtx>;

/// An instance, in a store of its own or of a pool, and what starts it.
enum Made {
    Own(Store<Data>, Func),
    Pooled(Pooled<Data>, TypedFunc<(), ()>),
}

/// What a program's entry is called.
const START: &str = "_start";

impl<'a> Wasm<'a> {
    fn new(
        engine: &'a Engine,
        module: Module,
        own: OwnStrategy,
        measure: &'a Measure,
        listener: Option<&'a TcpListener>,
    ) -> Result<Wasm<'a>, Refusal> {
        if uses_threads(&module) {
            let message = "the program starts threads of its own, which are not measured";
            return Err(Refusal::new(FailureKind::Link, message));
        }
        let mut linker: Linker<Data> = Linker::new(engine);
        if module.imports().next().is_some() {
            add_to_linker(&mut linker, |data: &mut Data| {
                data.as_mut()
                    .expect("there is one where functions have one")
            })
            .map_err(refusal)?;
        }
        let pool = match own.is_pooled {
            true => Some(pool(&linker, &module, measure).map_err(refusal)?),
            false => None,
        };
        let resolved = linker.instantiate_pre(&module).map_err(refusal)?;
        Ok(Wasm {
            engine,
            module,
            resolved,
            pool,
            measure,
            listener,
            heaps: Mutex::default(),
        })
    }

    /// What can be told of the process at its end.
    fn metrics(&self) -> BTreeMap<Metric, u64> {
        let heaps = self.heaps.lock().unwrap_or_else(PoisonError::into_inner);
        let code = (Metric::CodeBytes, self.module.code_bytes() as u64);
        [code].into_iter().chain(heaps.metrics()).collect()
    }

    fn data(&self, streams: Streams) -> Result<Data, Refusal> {
        match self.module.imports().next() {
            Some(_) => self.state(streams).map(Some),
            None => Ok(None),
        }
    }

    fn state(&self, streams: Streams) -> Result<WasiCtx, Refusal> {
        let refused = |error: BuildError| Refusal::new(FailureKind::Io, error.to_string());
        let mut builder = WasiCtxBuilder::new()
            .stdout(streams.stdout)
            .stderr(streams.stderr)
            .args(arguments_of(self.measure))
            .map_err(refused)?;
        if let Some(file) = streams.stdin {
            builder = builder.stdin(Stream::from(file));
        }
        for (key, value) in &self.measure.env {
            builder = builder.env(key, value).map_err(refused)?;
        }
        for (host, guest) in &self.measure.dirs {
            let (dir, file) = (DirPerms::all(), FilePerms::all());
            builder = (builder.preopened_dir(host, guest, dir, file)).map_err(refused)?;
        }
        if let Some(listener) = self.listener {
            let again = listener.try_clone();
            let again = again.map_err(|error| Refusal::new(FailureKind::Io, error.to_string()))?;
            builder = builder.preopened_socket(again);
        }
        if let Some(load) = &self.measure.load {
            // A descriptor for each connection, which is waited for in both directions at most.
            let count = needed(load.connections) as usize;
            builder = builder.max_descriptors(count).max_subscriptions(2 * count);
        }
        builder.build().map_err(refused)
    }

    fn make(&self, data: Data) -> Result<Made, Refusal> {
        if let Some((pool, start)) = &self.pool {
            let pooled = pool.instantiate(data).map_err(refusal)?;
            let start = pooled.func(start).map_err(refusal)?;
            return Ok(Made::Pooled(pooled, start));
        }
        let mut store = Store::new(self.engine, data);
        let instance = self.resolved.instantiate(&mut store).map_err(refusal)?;
        let start = instance.get_func(&store, START).ok_or_else(|| {
            Refusal::new(
                FailureKind::Link,
                "the module has no function _start to run",
            )
        })?;
        if start.typed::<(), ()>(&store).is_err() {
            let message = "the module's function _start takes or gives values";
            return Err(Refusal::new(FailureKind::Link, message));
        }
        Ok(Made::Own(store, start))
    }
}

/// A pool for as many threads as there are, and its entry.
fn pool(
    linker: &Linker<Data>,
    module: &Module,
    measure: &Measure,
) -> fathom_engine::Result<(Pool<Data>, PooledFunc<(), ()>)> {
    let limits = PoolLimits {
        lanes: measure.threads as usize,
        ..PoolLimits::default()
    };
    let pool = Pool::new(linker, module, limits)?;
    let start = pool.func(START)?;
    Ok((pool, start))
}

impl Program for Wasm<'_> {
    type World = Data;
    type Instance = Made;
    type Error = Refusal;

    fn enter(&self, streams: Streams) -> Result<Data, Refusal> {
        self.data(streams)
    }

    fn instantiate(&self, data: Data) -> Result<Made, Refusal> {
        self.make(data)
    }

    fn instantiate_bare(&self) -> Option<Result<Made, Refusal>> {
        match self.module.imports().next() {
            Some(_) => None,
            None => Some(self.make(None)),
        }
    }

    fn run(&self, made: &mut Made) -> Result<RunEnd, Refusal> {
        let ended = match made {
            Made::Own(store, start) => start.call(store, &[], &mut []),
            Made::Pooled(pooled, start) => start.call(pooled, ()),
        };
        let exit = match ended {
            Ok(()) => 0,
            Err(error) => match error.downcast_ref::<ProcExit>() {
                Some(&ProcExit(status)) => status.cast_signed(),
                None => return Err(refusal(error)),
            },
        };
        Ok(RunEnd { exit, cpu_ns: None })
    }

    fn teardown(&self, made: Made) {
        // A pool has no modules with structures and arrays.
        if let Made::Own(store, _) = &made
            && let stats = store.heap_stats()
            && stats.heap_bytes > 0
        {
            let mut heaps = self.heaps.lock().unwrap_or_else(PoisonError::into_inner);
            heaps.add(&stats);
        }
        drop(made);
    }
}
