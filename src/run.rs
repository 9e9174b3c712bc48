//! `fathom run`: one WASI program on our engine.
//!
//! The exit status is the program's own; 134 after a trap, as after `abort`
//! in a shell; 1 for whatever kept it from running. Signals are the
//! process's: Ctrl-C ends it as it ends any program, and a program that writes
//! to a pipe which nobody reads ends with 141.

pub mod code;
pub mod codegen;
mod count;
mod dir;
mod frames;
pub mod invoke;
mod limits;
pub mod load;
mod watch;

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use code::Code;
pub use dir::Dir;
use fathom_bench::generator;
use fathom_engine::{
    Allowance, BoundsChoice, Codegen, Compilation, Engine, ErrorKind, Func, Guarantee, Instance,
    Linker, Module, ProfilingStrategy, Store, TrapCode, Val,
};
use fathom_wasi::{ProcExit, ThreadError, ThreadOptions, WasiCtx, WasiCtxBuilder, Watch};
use limits::{Deadline, Limits, TIMED_OUT};

use crate::inputs;
use crate::invocation::Invocation;
use crate::library;
use crate::module::{self, Purpose};
use crate::one_line::{say, say_lines};

/// What a shell shows for SIGABRT, and other runtimes for a trap.
const TRAPPED: u8 = 134;

/// A wrong command line.
const USAGE: u8 = 2;

/// Run a WASI program on our engine.
#[derive(clap::Args)]
pub struct Args {
    /// The program: a module in the binary or the text format
    module: PathBuf,

    /// Give the program a folder, under the same or another name: read-only (ro) or writable
    /// (rw, the default). May be repeated. The last `::` separates the names; to a name that
    /// itself ends in :ro or :rw append another
    #[arg(long, value_name = "HOST[::GUEST][:ro|:rw]")]
    dir: Vec<Dir>,

    /// Listen on this address and give the program the socket. Its descriptor follows those
    /// of the folders: it is 3 if there are none. May be repeated
    #[arg(long, value_name = "ADDRESS:PORT")]
    tcplisten: Vec<SocketAddr>,

    /// Set an environment variable, or pass on one of yours; may be repeated
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<OsString>,

    /// Call this exported function with ARGS and print its results, instead of running the
    /// program
    #[arg(long, value_name = "FUNCTION")]
    invoke: Option<String>,

    /// Call this exported function first, without arguments; may be repeated
    #[arg(long, value_name = "FUNCTION")]
    setup: Vec<String>,

    /// What the module imports and nobody provides traps when it is called
    #[arg(long)]
    stub_imports: bool,

    /// Allow a strategy that checks nothing: the program can then reach all of this process
    #[arg(long)]
    unsafe_no_bounds: bool,

    /// Keep compiled modules in this folder
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,

    /// Count loads, stores, checks, calls and growths, and print the counts on standard error
    /// at the end. The program runs slower
    #[arg(long, value_name = "FORMAT", value_enum, num_args = 0..=1, require_equals = true,
        default_missing_value = "table")]
    count: Option<count::Format>,

    /// Write the names and addresses of compiled functions to /tmp/perf-PID.map for `perf`;
    /// the file is not removed
    #[arg(long)]
    perf_map: bool,

    /// Count and time what the program calls of WASI, and write it to this file at its
    /// end; `fathom trace` reads it
    #[arg(long, value_name = "FILE", hide = true)]
    trace_wasi: Option<PathBuf>,

    /// Show the strategy in use and the compile time
    #[arg(long, short)]
    verbose: bool,

    /// Have linear memories on huge pages, where the host has them on request
    #[arg(long)]
    huge_pages: bool,

    /// When functions are compiled [default: lazy; eager with --cache, --count, --perf-map or
    /// --codegen llvm]
    #[arg(long, value_name = "WHEN", value_parser = compilation_parser())]
    compilation: Option<Compilation>,

    #[command(flatten)]
    limits: Limits,

    #[command(flatten)]
    code: Code,

    /// The program's arguments: everything behind MODULE, options too
    #[arg(value_name = "ARGS")]
    args: Vec<OsString>,
}

/// Runs the program.
///
/// # Errors
/// Whatever keeps it from being run: a module that is missing, malformed or
/// asks for what there is not, a folder that cannot be read.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    if let BoundsChoice::Named(bounds) = args.code.bounds
        && bounds.guarantee() == Guarantee::Unchecked
        && !args.unsafe_no_bounds
    {
        say(&format!(
            "fathom: --bounds {bounds} is no sandbox: the program could read and write outside its memory; add --unsafe-no-bounds if you trust it"
        ));
        return Ok(ExitCode::from(USAGE));
    }
    let file = args.module.display().to_string();
    if let Some(output) = &args.trace_wasi {
        inputs::spare(output, [args.module.as_path()])?;
    }
    let deadline = args.limits.start(&file);
    let wasm = args.wasm(&file)?;
    let config = (args.limits.config(args.code.config(invocation)?))
        .allow_unchecked(args.unsafe_no_bounds)
        .count(args.count.is_some())
        .codegen(args.code.codegen_of_run(args.compilation())?)
        .compilation(args.compilation())
        .cache_dir(args.cache.clone())
        .end_threads(true)
        .huge_pages(args.huge_pages)
        .profiler(args.profiler());
    let engine = Engine::new(&config)?;
    let is_asked_for = args.compilation == Some(Compilation::Lazy) || args.code.names_tiers();
    if let (true, Some(why)) = (is_asked_for, engine.not_lazy()) {
        say(&format!("fathom: all functions are compiled first: {why}"));
    }
    let start = Instant::now();
    let module = Module::new(&engine, &wasm).with_context(|| file.clone())?;
    if let Some(trouble) = module.cache_trouble() {
        say(&format!("fathom: the cache was not used: {trouble}"));
    }
    if args.verbose {
        say_how(&args, &engine, &module, start.elapsed());
    } else if let Some(failures) = generator::failures(&module) {
        let other = Codegen::default();
        say(&format!("fathom: {failures}; compiled by {other} instead"));
    }
    let watch = args.trace_wasi.as_ref().map(|_| Watch::new());
    deadline.runs();
    let outcome = execute(&args, &module, context(&args)?, &deadline, watch.as_ref());
    deadline.over();
    if let (Some(watch), Some(file)) = (&watch, &args.trace_wasi) {
        watch::write(watch, file)?;
    }
    if args.verbose && engine.compilation() == Compilation::Lazy {
        say_compiled(&module);
    }
    let ended = match outcome {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => ending(&file, &wasm, error, &deadline),
    };
    if let Some(format) = args.count {
        say_lines(&count::text(&engine.counts(), module.check_sites(), format));
    }
    ended
}

impl Args {
    /// The module, which can be run as far as its first sections tell.
    fn wasm(&self, file: &str) -> anyhow::Result<Vec<u8>> {
        let mut wasm = load::read(&self.module)?;
        if self.stub_imports {
            // Before a large module is written anew.
            module::check(&wasm, Purpose::RunStubbed(self.invoke.as_deref()))
                .map_err(|why| anyhow::anyhow!("{file}: {why}"))?;
            wasm = library::stubbed(&wasm, file)?;
        }
        let purpose = Purpose::Run(self.invoke.as_deref(), self.code.features);
        match module::check(&wasm, purpose) {
            Ok(()) => Ok(wasm),
            Err(why) => anyhow::bail!("{file}: {why}"),
        }
    }

    /// Who is told where functions are.
    fn profiler(&self) -> ProfilingStrategy {
        match self.perf_map {
            true => ProfilingStrategy::PerfMap,
            false => ProfilingStrategy::None,
        }
    }

    /// When functions are compiled: for what looks at all of the code, all of them first.
    fn compilation(&self) -> Compilation {
        let default = match self.count.is_some() || self.perf_map {
            true => Compilation::Eager,
            false => Compilation::Lazy,
        };
        self.compilation.unwrap_or(default)
    }
}

fn compilation_parser() -> impl TypedValueParser<Value = Compilation> {
    let choices = Compilation::ALL.map(|when| PossibleValue::new(when.name()).help(when.help()));
    PossibleValuesParser::new(choices).try_map(|name| name.parse::<Compilation>())
}

fn say_how(args: &Args, engine: &Engine, module: &Module, compiled_in: std::time::Duration) {
    let memory64 = module.info().memories.first().is_some_and(|ty| ty.memory64);
    let bounds = engine.bounds(memory64);
    let because = match engine.fallback(memory64) {
        Some(why) => format!(", because {why}"),
        None => String::new(),
    };
    let how = match engine.compilation() {
        _ if module.from_cache() => "from the cache",
        Compilation::Eager => "compiled",
        Compilation::Lazy => "and stubs of functions, which are compiled when they are called,",
    };
    let guards = match engine.spectre() {
        true => "",
        false => "; no guards against speculation",
    };
    say(&format!(
        "fathom: bounds {} = {bounds}{because}: {}{guards}; opt {}; cpu {}; {} bytes of code {how} in {:.1} ms",
        args.code.bounds,
        bounds.help(),
        engine.opt(),
        engine.cpu(),
        module.code_bytes(),
        compiled_in.as_secs_f64() * 1e3,
    ));
    // Of what is compiled when it is called, there is nothing to say yet.
    if engine.compilation() == Compilation::Eager {
        say_left(module);
    }
}

/// Functions that are not by the generator that was asked for, or are not optimised.
fn say_left(module: &Module) {
    if let Some(shares) = codegen::shares(module) {
        say(&shares);
    }
    say_over_budget(module);
    for refused in module.fallbacks().iter().filter(|one| one.is_refused) {
        let name = module.info().func_name(refused.func).unwrap_or_default();
        let (func, why) = (refused.func, &refused.why);
        say(&format!(
            "fathom: function {func} '{name}' is Cranelift's: {why}"
        ));
    }
}

/// Functions that are not optimised.
fn say_over_budget(module: &Module) {
    for over in module.over_budget() {
        let name = module.info().func_name(over.func).unwrap_or_default();
        say(&format!(
            "fathom: function {} '{name}' of {} bytes is not optimised: it would take {} {} or \
             more, and may take {}; --compile-budget allows more",
            over.func, over.bytes, over.count, over.work, over.allowed,
        ));
    }
}

/// What was compiled of a module while it ran.
fn say_compiled(module: &Module) {
    let (all, compiled) = module.compiled_functions();
    say(&format!(
        "fathom: {compiled} of {all} functions were compiled; {} bytes of code",
        module.code_bytes()
    ));
    let last = module.functions_of_last_tier();
    let better = [
        (
            "optimised",
            module.optimised_functions(),
            module.entered_loops(),
        ),
        ("compiled by LLVM", last.0, last.1),
    ];
    for (how, functions, loops) in better {
        if functions + loops > 0 {
            say(&format!(
                "fathom: {functions} functions were {how} while they ran, and {loops} from the head \
                 of a loop on"
            ));
        }
    }
    say_left(module);
}

/// What the command line gives the program.
fn context(args: &Args) -> anyhow::Result<WasiCtx> {
    let name = args.module.file_name().unwrap_or(args.module.as_os_str());
    let mut builder = WasiCtxBuilder::new()
        .inherit_stdio()
        .ends_on_broken_pipe(true)
        .arg(name.as_bytes())?
        .args(args.args.iter().map(|arg| arg.as_bytes()))?;
    for pair in &args.env {
        let bytes = pair.as_bytes();
        builder = match bytes.iter().position(|byte| *byte == b'=') {
            Some(at) => builder.env(&bytes[..at], &bytes[at + 1..])?,
            // What is not set here is not set there.
            None => match std::env::var_os(pair) {
                Some(value) => builder.env(bytes, value.as_bytes())?,
                None => builder,
            },
        };
    }
    for dir in &args.dir {
        builder = (dir.give(builder)).with_context(|| format!("--dir {dir}"))?;
    }
    for address in &args.tcplisten {
        let listener = listener(*address).with_context(|| format!("--tcplisten {address}"))?;
        builder = builder.preopened_socket(listener);
    }
    Ok(builder.build()?)
}

/// A socket that connections come to. It does not wait for them, since the program does.
fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    // As many may wait to be accepted as the host allows, instead of 128.
    rustix::net::listen(&listener, i32::MAX)?;
    Ok(listener)
}

/// Ends as a program does whose output nobody reads.
fn broken_pipe() -> Failure {
    fathom_engine::Error::host(ProcExit(141)).into()
}

/// Why a program did not end by itself.
enum Failure {
    /// The engine's: a trap, an exit, a missing import. In the thread of this
    /// number, where it is not the main one.
    Engine(Option<u32>, fathom_engine::Error),
    /// The command line does not fit the module.
    Misfit(String),
}

impl From<fathom_engine::Error> for Failure {
    fn from(error: fathom_engine::Error) -> Failure {
        Failure::Engine(None, error)
    }
}

impl From<ThreadError> for Failure {
    fn from(failure: ThreadError) -> Failure {
        Failure::Engine(failure.thread, failure.error)
    }
}

fn execute(
    args: &Args,
    module: &Module,
    context: WasiCtx,
    deadline: &Deadline,
    watch: Option<&Watch>,
) -> Result<(), Failure> {
    let engine = module.engine();
    let allowance = Allowance::new(args.limits.quota());
    let mut linker = Linker::new(engine);
    match watch {
        None => fathom_wasi::add_to_linker(&mut linker, |ctx: &mut WasiCtx| ctx)?,
        Some(watch) => {
            fathom_wasi::add_to_linker_watched(&mut linker, |ctx: &mut WasiCtx| ctx, watch)?;
        }
    }
    if !fathom_wasi::uses_threads(module) {
        let mut store = Store::within(engine, context, &allowance);
        store.set_interrupt(deadline.interrupt());
        let instance = linker.instantiate(&mut store, module)?;
        return start(args, &mut store, instance);
    }
    // What the main thread says of the command line is no error of the engine.
    let main = |store: &mut Store<WasiCtx>, instance| match start(args, store, instance) {
        Ok(()) => Ok(None),
        Err(Failure::Misfit(why)) => Ok(Some(why)),
        Err(Failure::Engine(_, error)) => Err(error),
    };
    let options = ThreadOptions {
        threads_max: args.limits.max_threads,
        interrupt: deadline.interrupt().clone(),
        allowance,
    };
    let misfit = options.run(module, &linker, move || context.clone(), main)?;
    misfit.map_or(Ok(()), |why| Err(Failure::Misfit(why)))
}

/// What prepares a library (WASI's application ABI: a reactor).
const INITIALIZE: &str = "_initialize";

/// Calls what the command line asks for, which is there: `module::check` has seen it.
fn start(args: &Args, store: &mut Store<WasiCtx>, instance: Instance) -> Result<(), Failure> {
    // A library prepares itself before anything of it is called, once.
    let called = args.setup.iter().chain(&args.invoke);
    let is_called = called.into_iter().any(|name| name == INITIALIZE);
    if !is_called && let Some(initialize) = instance.get_func(&*store, INITIALIZE) {
        initialize.call(&mut *store, &[], &mut [])?;
    }
    for name in &args.setup {
        call_named(store, instance, name, &[], false)?;
    }
    if let Some(name) = &args.invoke {
        return call_named(store, instance, name, &args.args, true);
    }
    match instance.get_func(&*store, "_start") {
        Some(start) if start.typed::<(), ()>(&*store).is_err() => Err(Failure::Misfit(
            "its function _start takes or gives values, which that of a program does not; call it \
             by --invoke _start"
                .to_owned(),
        )),
        Some(start) => Ok(start.call(&mut *store, &[], &mut [])?),
        None => Err(Failure::Misfit("it exports no function to run".to_owned())),
    }
}

fn call_named(
    store: &mut Store<WasiCtx>,
    instance: Instance,
    name: &str,
    args: &[OsString],
    prints: bool,
) -> Result<(), Failure> {
    let func: Option<Func> = instance.get_func(&*store, name);
    let func = func.ok_or_else(|| Failure::Misfit(format!("it exports no function {name}")))?;
    let ty = func.ty(&*store);
    let params = invoke::parse(name, &ty, args).map_err(Failure::Misfit)?;
    let mut results: Vec<Val> = ty
        .results()
        .iter()
        .map(|ty| Val::default_for(*ty))
        .collect();
    func.call(&mut *store, &params, &mut results)?;
    if !prints {
        return Ok(());
    }
    let lines: String = results.iter().map(|r| invoke::display(r) + "\n").collect();
    let mut stdout = io::stdout().lock();
    match (stdout.write_all(lines.as_bytes())).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(broken_pipe()),
        Err(error) => Err(Failure::Misfit(format!("standard output: {error}"))),
        Ok(()) => Ok(()),
    }
}

/// The exit status after an error, said on standard error where it is not the
/// program's own doing.
fn ending(
    file: &str,
    wasm: &[u8],
    failure: Failure,
    deadline: &Deadline,
) -> anyhow::Result<ExitCode> {
    let (thread, error) = match failure {
        Failure::Misfit(why) => anyhow::bail!("{file}: {why}"),
        Failure::Engine(thread, error) => (thread, error),
    };
    if let Some(ProcExit(status)) = error.downcast_ref() {
        // As POSIX: a parent sees the low eight bits.
        return Ok(ExitCode::from((status & 0xff) as u8));
    }
    let thread = thread.map_or(String::new(), |tid| format!("thread {tid}: "));
    if let Some(what) = error.trap().and_then(|trap| deadline.explain(trap)) {
        say(&format!("fathom: {file}: {thread}{what}"));
        return Ok(ExitCode::from(TIMED_OUT));
    }
    let (status, what) = match error.trap() {
        Some(trap) => (TRAPPED, format!("trap: {}", frames::in_a_line(trap))),
        None if error.exception().is_some() => (TRAPPED, error.to_string()),
        // Where it happened is told by the frames.
        None => match error.kind() {
            ErrorKind::Host { error, .. } => (1, error.to_string().replace('\n', " ")),
            _ => (1, error.to_string().replace('\n', " ")),
        },
    };
    say(&format!("fathom: {file}: {thread}{what}"));
    // That it was over there is no fault of who called.
    if error
        .trap()
        .is_none_or(|trap| trap.code != TrapCode::OutOfFuel)
    {
        frames::say_frames(file, error.frames(), wasm);
    }
    Ok(ExitCode::from(status))
}
