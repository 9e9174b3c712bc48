//! `fathom profile`: where the time of a program goes, by function, on several engines and
//! natively.
//!
//! ```text
//!  start    a run of the program, sampled ─► Profile (fathom-trace)
//!  columns  its frames by the names of the module's functions ─► Column (fathom-stats)
//!  lines    or by the lines of their source
//!  show     columns beside each other: a table, JSON
//! ```
//!
//! What must stay true: each sample is in one row; what an engine hides is a row that says
//! so; what keeps one engine from being profiled is a line, and the others are.

pub mod columns;
mod lines;
mod show;
mod start;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use fathom_bench::choose::{NATIVE, Wanted};
use fathom_engine::{Features, Module};
use fathom_report::file::write_whole;
use fathom_stats::sampled::{self, Column, SAMPLES_MIN};
use fathom_sys::handed;
use fathom_trace::profile::names::Names;
use fathom_trace::profile::{Of, Profile, firefox, flame, speedscope};

use crate::inputs;
use crate::invocation::Invocation;
use crate::module::{self, Purpose};
use crate::one_line::{lines, one_line, say};
use crate::report::print;
use crate::run::{Dir, load};
use crate::trace::Given;
use crate::waterfall;
use columns::Kind;
pub(crate) use start::{Program, Ran};

/// Show where the time of a program goes, function by function, on several engines
#[derive(clap::Args)]
#[command(after_help = "\
Samples are taken by the kernel's clock of processor time (perf_event_open), and looked up in what \
engines say of their code (/tmp/perf-PID.map) and in symbol tables. An engine's own code is one \
row, and so are code without a name and the kernel. docs/PROFILE.md says what is seen of which \
engine.")]
pub struct Args {
    /// The program: a module in the binary or the text format
    module: PathBuf,

    /// Arguments of the program; put -- before the first that starts with -
    #[arg(value_name = "ARGS")]
    words: Vec<OsString>,

    /// Engines to profile it on, as NAME[@VERSION][:STRATEGY[:BACKEND]] (see `fathom
    /// engines`) [default: fathom]
    #[arg(long, alias = "engine", value_name = "NAMES", value_delimiter = ',')]
    engines: Vec<Wanted>,

    /// The same program for this machine: what others are compared with
    #[arg(long, value_name = "PROGRAM")]
    native: Option<PathBuf>,

    /// What a row is: lines are known of modules with DWARF (-g), in code of fathom,
    /// fathom:direct and fathom:llvm
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    by: By,

    /// Samples a second of processor time
    #[arg(long, value_name = "HZ", default_value_t = 997, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    frequency: u32,

    /// Run it so many times on each engine, compiled once, and add the samples
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,

    /// Show so many functions, or lines
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,

    /// Print JSON, with every function, or line
    #[arg(long)]
    json: bool,

    /// Write a flame graph of each engine (FILE.svg: of several FILE-ENGINE.svg), or all of them
    /// as speedscope (FILE.json) or the Firefox Profiler (FILE.firefox.json) has them; may be
    /// repeated
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,

    /// Colour flame graphs by how much longer than on NAME, one of those profiled, each function
    /// takes with what it calls
    #[arg(long, value_name = "NAME", requires = "out")]
    difference_from: Option<String>,

    /// Give the program a folder, as `fathom run` does; may be repeated
    #[arg(long, value_name = "HOST[::GUEST][:ro|:rw]")]
    dir: Vec<Dir>,

    /// Set an environment variable; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,

    /// File for the standard input of the program [default: empty]
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
}

/// What a row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum By {
    #[default]
    Function,
    Line,
}

/// Of the processor time so much is sampled, or it is said what helps.
const SEEN_MIN: f64 = 0.95;

/// An engine, or native code, as it is shown.
pub struct Shown {
    /// As it was asked for.
    pub name: String,
    /// What was sampled, by the names of the module's functions.
    pub profile: Profile,
    /// The processor time that the kernel says it took.
    pub cpu_ns: Option<u64>,
    kind: Kind,
    column: Column,
}

impl Shown {
    fn of(&self) -> Of<'_> {
        Of {
            name: &self.name,
            is_native: self.kind == Kind::Native,
            profile: &self.profile,
        }
    }
}

impl Args {
    /// What the files to write are; none of them is read.
    fn forms(&self) -> anyhow::Result<Vec<Form>> {
        for out in &self.out {
            let inputs = [Some(&self.module), self.native.as_ref()];
            inputs::spare(out, inputs.into_iter().flatten().map(PathBuf::as_path))?;
        }
        self.out.iter().map(|out| Form::of(out)).collect()
    }
}

/// Profiles.
///
/// # Errors
/// What keeps every engine from being profiled.
pub fn run(args: Args, invocation: &Invocation) -> anyhow::Result<ExitCode> {
    let file = args.module.display().to_string();
    let forms = args.forms()?;
    let wasm = load::program(&args.module, &file)?;
    if let Err(why) = module::check(&wasm, Purpose::Run(None, Features::all())) {
        bail!("{file}: {why}");
    }
    let declared = Module::declarations(&wasm, Features::all()).with_context(|| file.clone())?;
    let names = columns::names(&declared);
    let folder = std::env::current_dir()?;
    let native = args.native.as_ref();
    let native = native.map(|path| waterfall::program(path, &folder));
    let native = native.transpose()?;
    let own = [Wanted::own()];
    let engines = match &args.engines[..] {
        [] => &own[..],
        named => named,
    };
    let subjects = subjects(native.as_deref(), engines)?;
    if args.by == By::Line {
        lines::check(&wasm).with_context(|| file.clone())?;
    }
    if let Some(name) = &args.difference_from {
        check_difference(name, &forms, &subjects)?;
    }
    let home = invocation.home()?;
    let program = Program {
        path: &args.module,
        wasm: &wasm,
        given: Given {
            home: home.as_ref(),
            dirs: &args.dir,
            env: &args.env,
            stdin: args.stdin.as_deref(),
            words: &args.words,
        },
        frequency_hz: args.frequency,
    };
    // One line where it cannot be done at all, before anything is run.
    drop(program.recording()?.end());
    let (shown, mut has_failed) = profiled(&args, &program, &subjects, &names);
    if let Some(signal) = handed::last() {
        return Ok(ExitCode::from((128 + signal) as u8));
    }
    ensure!(!shown.is_empty(), "nothing was profiled");
    let from = args.difference_from.as_deref();
    for (out, form) in args.out.iter().zip(&forms) {
        if let Err(error) = write(out, *form, &file, &shown, from) {
            has_failed = true;
            say(&one_line(&error));
        }
    }
    let baseline = shown.iter().position(|one| one.kind == Kind::Native);
    let columns: Vec<_> = shown.iter().map(|one| one.column.clone()).collect();
    match args.json {
        true => {
            let rows = sampled::rows(&columns, baseline, usize::MAX);
            print(&show::json(&file, &shown, &rows)?)?;
        }
        false => {
            let rows = sampled::rows(&columns, baseline, args.top);
            print(&lines(&show::table(&shown, args.by, &rows)))?;
        }
    }
    Ok(ExitCode::from(u8::from(has_failed)))
}

/// Native code, where there is some, and each engine, by their names.
fn subjects<'a>(
    native: Option<&'a Path>,
    engines: &'a [Wanted],
) -> anyhow::Result<Vec<(String, Subject<'a>)>> {
    if engines.iter().any(|wanted| wanted.engine == NATIVE) {
        bail!("--engines native: name the program: --native PROGRAM");
    }
    let natives = native.map(|path| (NATIVE.to_owned(), Subject::Native(path)));
    let modules = engines
        .iter()
        .map(|one| (one.to_string(), Subject::Module(one)));
    Ok(natives.into_iter().chain(modules).collect())
}

/// That flame graphs will have something to differ from.
fn check_difference(
    name: &str,
    forms: &[Form],
    subjects: &[(String, Subject<'_>)],
) -> anyhow::Result<()> {
    ensure!(
        forms.contains(&Form::Flame),
        "--difference-from colours flame graphs: --out FILE.svg"
    );
    let names: Vec<&str> = subjects.iter().map(|(name, _)| name.as_str()).collect();
    ensure!(
        names.contains(&name) && names.iter().any(|other| *other != name),
        "--difference-from {name}: it and another one are to be profiled, not only {}",
        names.join(", ")
    );
    Ok(())
}

/// Each of them; whether one could not be profiled, or ended in another way than it should.
fn profiled(
    args: &Args,
    program: &Program<'_>,
    subjects: &[(String, Subject<'_>)],
    names: &Names,
) -> (Vec<Shown>, bool) {
    let mut shown = Vec::new();
    let mut has_failed = false;
    for (name, subject) in subjects {
        match subject.profile(name, program, args, names) {
            Ok((one, is_well)) => {
                has_failed |= !is_well;
                shown.push(one);
            }
            Err(error) => {
                has_failed = true;
                say(&one_line(&error.context(name.clone())));
            }
        }
        if handed::last().is_some() {
            break;
        }
    }
    (shown, has_failed)
}

/// What is profiled.
enum Subject<'a> {
    Native(&'a Path),
    Module(&'a Wanted),
}

impl Subject<'_> {
    /// Processes of so many runs in all.
    fn processes(&self, runs: u32) -> u32 {
        match self {
            Subject::Native(_) => runs,
            Subject::Module(_) => 1,
        }
    }

    fn ran(&self, program: &Program<'_>, runs: u32) -> anyhow::Result<Ran> {
        match self {
            Subject::Native(path) => program.native(path),
            Subject::Module(wanted) => program.module(wanted, runs),
        }
    }

    /// That lines are known of it.
    fn check_lines(&self) -> anyhow::Result<()> {
        match self {
            Subject::Native(_) => bail!("no lines: they are those of the module's DWARF"),
            Subject::Module(wanted) => lines::check_engine(wanted),
        }
    }

    /// Of so many runs; whether all of them ended as they should.
    fn profile(
        &self,
        name: &str,
        program: &Program<'_>,
        args: &Args,
        names: &Names,
    ) -> anyhow::Result<(Shown, bool)> {
        if args.by == By::Line {
            self.check_lines()?;
        }
        let mut profile = Profile::default();
        let mut cpu_ns = Some(0);
        let mut trouble = None;
        for _ in 0..self.processes(args.repeat) {
            let ran = self.ran(program, args.repeat)?;
            profile.add(Profile::of(&ran.recorded));
            cpu_ns = cpu_ns.zip(ran.cpu_ns).map(|(all, one)| all + one);
            trouble = trouble.or(ran.trouble);
            if trouble.is_some() || handed::last().is_some() {
                break;
            }
        }
        let kind = match self {
            Subject::Native(_) => Kind::Native,
            Subject::Module(_) => Kind::Engine,
        };
        if let Some(trouble) = &trouble {
            say(&format!("fathom: {name}: {trouble}"));
        }
        remark(name, kind, &profile, cpu_ns);
        let profile = columns::named(profile, kind, names);
        let column = match (args.by, self) {
            (By::Line, Subject::Module(wanted)) => lines::column(program, wanted, &profile, names)?,
            _ => columns::column(&profile, kind),
        };
        let shown = Shown {
            name: name.to_owned(),
            profile,
            cpu_ns,
            kind,
            column,
        };
        Ok((shown, trouble.is_none()))
    }
}

/// Says what is missing, a line each.
fn remark(name: &str, kind: Kind, profile: &Profile, cpu_ns: Option<u64>) {
    let samples = profile.samples();
    if samples < SAMPLES_MIN {
        say(&format!(
            "fathom: {name}: {samples} samples; shares need {SAMPLES_MIN} or more: --repeat runs \
             it more often, --frequency samples more often"
        ));
    }
    if !profile.sees_kernel && samples > 0 {
        say(&format!(
            "fathom: {name}: time in the kernel is not seen: not permitted \
             (kernel.perf_event_paranoid, CAP_PERFMON)"
        ));
    }
    if profile.lost > 0 {
        say(&format!(
            "fathom: {name}: {} samples were lost",
            profile.lost
        ));
    }
    if kind == Kind::Native {
        for file in &profile.stripped {
            say(&format!(
                "fathom: {name}: {file} has no symbols of functions: it is stripped"
            ));
        }
    }
    for trouble in &profile.troubles {
        say(&format!("fathom: {name}: {trouble}"));
    }
    if let Some(cpu_ns) = cpu_ns.filter(|_| profile.sees_kernel && samples >= SAMPLES_MIN) {
        let seen = (samples * profile.period_ns) as f64 / cpu_ns.max(1) as f64;
        let advice = match seen < SEEN_MIN {
            true => ": starts and ends of processes, and what threads do last, are not seen",
            false => "",
        };
        say(&format!(
            "fathom: {name}: {samples} samples, {:.1} % of {:.0} ms of processor time{advice}",
            100.0 * seen,
            cpu_ns as f64 / 1e6
        ));
    }
}

/// What a file is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Flame,
    Firefox,
    Speedscope,
}

impl Form {
    /// By how the file's name ends: the first that fits.
    const ALL: [(&str, Form); 3] = [
        (".svg", Form::Flame),
        (".firefox.json", Form::Firefox),
        (".json", Form::Speedscope),
    ];

    /// Of a file that can be written when there is something to write.
    fn of(out: &Path) -> anyhow::Result<Form> {
        let folder = out.parent().filter(|folder| *folder != Path::new(""));
        let folder = folder.unwrap_or(Path::new("."));
        ensure!(
            folder.is_dir(),
            "--out {}: there is no folder {}",
            out.display(),
            folder.display()
        );
        let name = out.file_name().unwrap_or_default().as_encoded_bytes();
        let ends = |ending: &str| name.len() > ending.len() && name.ends_with(ending.as_bytes());
        let found = Form::ALL.into_iter().find(|(ending, _)| ends(ending));
        found.map(|(_, form)| form).with_context(|| {
            let all = Form::ALL.map(|(ending, _)| format!("FILE{ending}"));
            format!("--out {}: one of {}", out.display(), all.join(", "))
        })
    }
}

fn write(
    out: &Path,
    form: Form,
    module: &str,
    shown: &[Shown],
    from: Option<&str>,
) -> anyhow::Result<()> {
    let to = |path: &Path, text: String| {
        write_whole(path, text.as_bytes()).with_context(|| path.display().to_string())
    };
    let exporter = concat!("fathom ", env!("CARGO_PKG_VERSION"));
    let profiles: Vec<Of<'_>> = shown.iter().map(Shown::of).collect();
    match form {
        Form::Speedscope => to(out, speedscope::text(module, exporter, &profiles)?),
        Form::Firefox => to(out, firefox::text(module, exporter, &profiles)),
        Form::Flame => {
            let profiled = |name| shown.iter().find(|one| one.name == name);
            let base = from.map(|name| {
                let base = profiled(name).map(Shown::of);
                base.with_context(|| format!("no {}: {name} was not profiled", out.display()))
            });
            let base = base.transpose()?;
            let drawn = shown.iter().filter(|one| from != Some(&*one.name));
            let drawn: Vec<&Shown> = drawn.collect();
            for one in &drawn {
                let path = match drawn.len() {
                    1 => out.to_owned(),
                    _ => beside(out, &one.name),
                };
                to(&path, flame::svg(module, one.of(), base))?;
            }
            Ok(())
        }
    }
}

/// A file's name with an engine's before its extension.
fn beside(out: &Path, engine: &str) -> PathBuf {
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    let engine = engine.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    out.with_file_name(format!("{stem}-{engine}.svg"))
}
