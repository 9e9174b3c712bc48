//! `fathom trace`: what a WebAssembly program asks of WASI, and what any program asks of
//! the kernel.
//!
//! ```text
//!  MODULE, our engine     fathom run --trace-wasi    counts and times, in the engine
//!  MODULE, --engines X     rewritten, X's runner      counts, by the module itself
//!  --by symbols           as it is, X's runner       the engine's functions, by probes
//!  -- COMMAND             as it is
//!  each of them           eBPF, where it may         system calls, faults, waiting
//! ```
//!
//! What must stay true: the program's output and exit status are its own; the answer is
//! on standard error or in a file. A level that is not there is named with its reason and
//! what would help.

pub mod calibrate;
pub mod engine;
pub mod picture;
mod process;
pub mod show;
mod symbols;

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, bail};
use fathom_bench::choose::{NATIVE, OWN, Wanted};
use fathom_bench::home::Home;
use fathom_sys::marked::Mark;
use fathom_sys::{handed, regular};
use fathom_trace::kernel::{Kernel, Tracer};
use fathom_trace::rewrite::{Seen, Stream, counting};
use fathom_trace::trace::{KIND, Trace, VERSION, Wasi};

use crate::inputs;
use crate::invocation::Invocation;
use crate::one_line::{one_line, say};
use crate::report::{STDOUT, print};
use crate::run::{Dir, load};

/// Count and time the WASI calls and system calls of a program
#[derive(clap::Args)]
#[command(override_usage = "fathom trace [OPTIONS] <MODULE> [ARGS]...\n       \
                            fathom trace [OPTIONS] -- <COMMAND>...")]
pub struct Args {
    /// Where outside engines are.
    #[arg(skip)]
    home: Option<Home>,

    /// The program: a module in the binary or the text format
    module: Option<PathBuf>,

    /// The program's arguments: everything behind MODULE, options too; without MODULE, any
    /// command and its arguments
    #[arg(last = true, value_name = "ARGS")]
    words: Vec<OsString>,

    /// Engines to trace it on, as NAME[@VERSION][:STRATEGY[:BACKEND]] (see `fathom engines`); `all` for
    /// all installed ones, `native` if MODULE is a native program [default: fathom]
    #[arg(
        long,
        alias = "engine",
        value_name = "NAMES",
        requires = "module",
        value_delimiter = ','
    )]
    engines: Vec<Wanted>,

    /// Levels of tracing; by default all that are available
    #[arg(long, value_name = "LEVELS", value_enum, value_delimiter = ',')]
    by: Vec<Level>,

    /// Functions to count and time by probes of the kernel: a symbol map, for any command
    /// [default with --by symbols: the engine's own]
    #[arg(long, value_name = "FILE")]
    symbols: Option<PathBuf>,

    /// Make the symbol map of an engine, by a module whose WASI calls are known, and print it
    #[arg(long, value_name = "ENGINE", conflicts_with_all = ["module", "words", "engines", "by", "symbols"])]
    discover: Option<Wanted>,

    /// Let a rewritten module time its WASI calls too, by the engine's own clock: two clock
    /// calls more for each
    #[arg(long, requires = "module")]
    times: bool,

    /// Give the program a folder, as `fathom run` does; may be repeated
    #[arg(long, value_name = "HOST[::GUEST][:ro|:rw]", requires = "module")]
    dir: Vec<Dir>,

    /// Set an environment variable; may be repeated
    #[arg(long, value_name = "NAME=VALUE", requires = "module")]
    env: Vec<String>,

    /// File for the standard input of a rewritten program [default: empty]
    #[arg(long, value_name = "FILE", requires = "module")]
    stdin: Option<PathBuf>,

    /// Write JSON to this file (`-` is standard output) instead of tables to standard error;
    /// with several engines, to files in this folder, for `fathom explain`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Do not run the program: write a copy to this file that counts its WASI calls, on any
    /// engine, and prints the counts on standard error at the end
    #[arg(long, value_name = "FILE", requires = "module", conflicts_with_all = ["by", "engines", "out"])]
    rewrite: Option<PathBuf>,

    /// Make so many system calls and print what one takes
    #[arg(long, value_name = "N", hide = true, exclusive = true)]
    calls: Option<u32>,
}

/// What a program is given, and where outside engines are.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// The checkout around.
    pub home: Option<&'a Home>,
    /// Folders.
    pub dirs: &'a [Dir],
    /// Variables, as NAME=VALUE.
    pub env: &'a [String],
    /// A file for its standard input.
    pub stdin: Option<&'a Path>,
    /// Arguments.
    pub words: &'a [OsString],
}

impl Given<'_> {
    /// A program of this machine, given the same: it starts in the first of the folders. What it
    /// reads is for who runs it to say.
    ///
    /// # Errors
    /// There is no such variable.
    pub fn native(&self, program: &Path) -> anyhow::Result<Command> {
        let mut command = Command::new(program);
        command.args(self.words).envs(engine::env(self.env)?);
        if let Some(dir) = self.dirs.first() {
            command.current_dir(dir.host());
        }
        Ok(command)
    }

    /// The file for its standard input.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn input(&self) -> anyhow::Result<Option<Stdio>> {
        let opened = self.stdin.map(|file| {
            let opened = File::open(file).with_context(|| file.display().to_string())?;
            anyhow::Ok(Stdio::from(opened))
        });
        opened.transpose()
    }
}

/// Ways to look at a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Level {
    /// WASI calls, counted by the module itself: any engine, no privilege
    Rewriting,
    /// WASI calls, counted and timed in our engine
    Process,
    /// System calls, page faults and waiting, by eBPF: needs privilege
    Kernel,
    /// WASI functions of an outside engine, by its symbols and probes of the kernel: needs
    /// privilege
    Symbols,
}

/// What running it brought.
struct Ran {
    command: Vec<String>,
    status: i32,
    wall_ns: u64,
    wasi: Option<Wasi>,
    missing: Vec<String>,
    /// What it has left: seen in the trace, and ended when that is made.
    left: Option<Mark>,
}

/// Traces.
///
/// # Errors
/// What keeps the program from being run.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    if let Some(count) = args.calls {
        return Ok(calibrate::calls(count));
    }
    for output in args.out.iter().chain(&args.rewrite) {
        inputs::spare(output, args.inputs())?;
    }
    if let (Some(module), Some(out)) = (&args.module, &args.rewrite) {
        return rewrite(module, out, args.seen());
    }
    if args.module.is_none() && args.words.is_empty() && args.discover.is_none() {
        say!("fathom: trace: name a MODULE, or a COMMAND after --");
        return Ok(ExitCode::from(2));
    }
    let args = Args {
        home: invocation.home()?,
        ..args
    };
    if let Some(wanted) = &args.discover {
        return symbols::discover(&args, wanted);
    }
    let engines = match args.engines.as_slice() {
        [Wanted { engine, .. }] if engine == "all" => engine::installed(&args)?,
        [] => vec![Wanted::own()],
        named => named.to_vec(),
    };
    if let [engine] = &engines[..] {
        args.out.as_deref().map_or(Ok(()), inputs::has_place)?;
        let trace = traced(&args, engine)?;
        tell(&trace, args.out.as_deref())?;
        // As a shell has it.
        return Ok(ExitCode::from((trace.status & 0xff) as u8));
    }
    let folder = args.out.clone();
    let folder = folder.context("several engines need --out FOLDER for their traces")?;
    let is_printed = folder == Path::new(STDOUT);
    if !is_printed {
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    let mut failed = false;
    for engine in &engines {
        match traced(&args, engine) {
            Ok(trace) if is_printed => tell(&trace, Some(&folder))?,
            Ok(trace) => tell(&trace, Some(&unused(&folder, &trace)))?,
            Err(error) => {
                failed = true;
                let error = error.context(engine.name());
                say(&one_line(&error));
            }
        }
        if let Some(signal) = handed::last() {
            return Ok(ExitCode::from((128 + signal) as u8));
        }
    }
    Ok(ExitCode::from(u8::from(failed)))
}

/// A file of the folder that is not there yet, named by what is in it.
fn unused(folder: &Path, trace: &Trace) -> PathBuf {
    let module = trace.module.as_deref().unwrap_or_default();
    let stem = Path::new(module).file_stem().unwrap_or_default();
    let engine = trace.engine.as_deref().unwrap_or_default();
    let name = format!("{}-{engine}", stem.to_string_lossy());
    let files = (1..).map(|n| folder.join(format!("{name}-{n}.json")));
    let mut files = files.filter(|file| !file.exists());
    files.next().unwrap_or_default()
}

/// Writes the answer to its place.
fn tell(trace: &Trace, file: Option<&Path>) -> anyhow::Result<()> {
    match file {
        Some(file) if file == Path::new(STDOUT) => {
            print(&(serde_json::to_string(trace)? + "\n"))?;
        }
        Some(file) => {
            let text = serde_json::to_string(trace)? + "\n";
            regular::write_output(file, text.as_bytes())
                .with_context(|| file.display().to_string())?;
        }
        None => {
            show::text(trace).lines().for_each(say);
        }
    }
    Ok(())
}

/// One run on one engine.
fn traced(args: &Args, engine: &Wanted) -> anyhow::Result<Trace> {
    let mut missing = Vec::new();
    // Before anything is traced, since that takes others time, too.
    let found = symbols::wanted(args, engine)?;
    let kernel_cost = wants_kernel(&args.by).then(calibrate::kernel).flatten();
    let probe_cost = found
        .as_ref()
        .and_then(|found| calibrate::probe(found.ends));
    let mut tracer = kernel(args, &mut missing)?;
    if let (Some(found), Some(tracer)) = (&found, &mut tracer) {
        let probed = tracer.probe(found);
        probed.map_err(|error| anyhow::anyhow!("{error} ({})", error.remedy()))?;
    }
    let mut ran = ran(args, engine, tracer.as_ref())?;
    if let (Some(_), Some(tracer)) = (&found, &tracer) {
        let probed = tracer.probed().context("reading the kernel's counts")?;
        ran.wasi = Some(Wasi::by_symbols(probed, probe_cost));
    }
    let kernel = match &tracer {
        Some(tracer) if wants_kernel(&args.by) => {
            Some(tracer.answer().context("reading the kernel's counts")?)
        }
        _ => None,
    };
    // What still runs was counted.
    drop(ran.left);
    missing.extend(ran.missing);
    missing.extend(kernel.as_ref().and_then(lost));
    let is_module = args.module.is_some();
    Ok(Trace {
        fathom: KIND.to_owned(),
        version: VERSION,
        command: ran.command,
        engine: is_module.then(|| engine.name()),
        module: (args.module.as_ref()).map(|module| module.display().to_string()),
        args: if is_module {
            texts(&args.words)
        } else {
            Vec::new()
        },
        status: ran.status,
        wall_ns: ran.wall_ns,
        wasi: ran.wasi,
        kernel,
        kernel_cost,
        missing,
    })
}

/// Words as a report shows them; what is no UTF-8 is replaced.
fn texts(words: &[OsString]) -> Vec<String> {
    let texts = words.iter().map(|word| word.to_string_lossy().into_owned());
    texts.collect()
}

impl Args {
    fn given(&self) -> Given<'_> {
        Given {
            home: self.home.as_ref(),
            dirs: &self.dir,
            env: &self.env,
            stdin: self.stdin.as_deref(),
            words: &self.words,
        }
    }

    /// The files that are read, and those that the program may read.
    fn inputs(&self) -> impl Iterator<Item = &Path> {
        let files = [&self.module, &self.symbols, &self.stdin];
        let words = self.words.iter().map(Path::new);
        files
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .chain(words)
    }

    /// What a rewritten module looks at.
    fn seen(&self) -> Seen {
        match self.times {
            true => Seen::Times,
            false => Seen::Counts,
        }
    }
}

fn rewrite(module: &Path, out: &Path, seen: Seen) -> anyhow::Result<ExitCode> {
    let wasm = load::read(module)?;
    let wasm =
        counting(&wasm, Stream::Stderr, seen).with_context(|| module.display().to_string())?;
    match out == Path::new(STDOUT) {
        true => std::io::stdout()
            .write_all(&wasm)
            .context("standard output")?,
        false => regular::write_output(out, &wasm).with_context(|| out.display().to_string())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn wants_kernel(by: &[Level]) -> bool {
    by.is_empty() || by.contains(&Level::Kernel)
}

/// The tracer, where it was not left out; why there is none, if it may be missing.
fn kernel(args: &Args, missing: &mut Vec<String>) -> anyhow::Result<Option<Tracer>> {
    let by = &args.by;
    let has_symbols = by.contains(&Level::Symbols) || args.symbols.is_some();
    let is_named = by.contains(&Level::Kernel) || has_symbols;
    if !wants_kernel(by) && !has_symbols {
        return Ok(None);
    }
    match Tracer::attach() {
        Ok(tracer) => Ok(Some(tracer)),
        Err(error) => {
            let what = format!("system calls: {error} ({})", error.remedy());
            if is_named {
                bail!(what);
            }
            missing.push(what);
            Ok(None)
        }
    }
}

fn ran(args: &Args, engine: &Wanted, tracer: Option<&Tracer>) -> anyhow::Result<Ran> {
    let Some(module) = &args.module else {
        let of_commands = [Level::Kernel, Level::Symbols];
        if let Some(level) = args.by.iter().find(|level| !of_commands.contains(level)) {
            bail!("--by {level:?} looks at modules; name one instead of a command");
        }
        return process::command(&args.words, tracer);
    };
    if engine.engine == NATIVE {
        return process::native(args, module, tracer);
    }
    let own = engine.engine == OWN;
    let named = |level| args.by.contains(&level);
    if named(Level::Process) && named(Level::Rewriting) {
        bail!("--by: process and rewriting both count WASI calls; name one of them");
    }
    if named(Level::Process) && !own {
        bail!(
            "--by process is our engine's; for {}: rewriting",
            engine.engine
        );
    }
    let has_symbols = named(Level::Symbols) || args.symbols.is_some();
    if has_symbols && (named(Level::Rewriting) || named(Level::Process)) {
        bail!("--by: symbols, process and rewriting all count WASI calls; name one of them");
    }
    if has_symbols && !own {
        return engine::as_it_is(args, engine, module, tracer);
    }
    if own && !named(Level::Rewriting) {
        return process::own(args, engine, module, tracer);
    }
    engine::rewritten(args, engine, module, tracer)
}

/// A line where the counts are not whole.
fn lost(kernel: &Kernel) -> Option<String> {
    let lost = kernel.lost;
    lost.any().then(|| {
        format!(
            "lost: {} threads not followed, {} system calls not counted, counts of {} threads",
            lost.tasks, lost.calls, lost.threads
        )
    })
}
