//! What is run: a suite's programs, a program of the user's own, or one of the
//! two built-in experiments, which are programs of a suite measured in a way
//! of their own.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use fathom_bench::{
    check::Expected,
    choose::Program,
    house::House,
    near::Near,
    plan::Folder,
    suite::{Suite, Workload},
};
use fathom_engine::{Bounds, Features, Module};
use fathom_record::{
    Compared, Opt, Variant,
    campaign::{ModuleNote, WorkloadNote},
};

use super::{Args, args::Selection, bounds, library, scaling, startup};
use crate::run::load;

/// The kernels of `--quick`: one of each kind of loop.
pub const QUICK_KERNELS: [&str; 6] = [
    "gemm",
    "atax",
    "lu",
    "floyd-warshall",
    "jacobi-2d",
    "deriche",
];
/// The growth experiment: pages in all, and at a time. One page at once and
/// no growth is what an instance costs that does not grow.
const GROWTHS: [(u32, u32); 4] = [(1, 1), (64, 1), (256, 1), (256, 16)];

/// Where a module that was written as text is kept in the results folder.
const TRANSLATED: &str = "module.wasm";

/// What is run, and how it is measured unless the user says otherwise.
pub struct Target {
    pub kind: Kind,
    /// For folders and headings.
    pub title: String,
    pub programs: Vec<Program<'static>>,
    pub notes: Vec<WorkloadNote>,
    /// A user's own module.
    pub module: Option<ModuleNote>,
    /// Modules that go into the results, by the name of their file: what was written
    /// as text.
    pub written: Vec<(String, Vec<u8>)>,
    pub compared: Compared,
    pub variants: Vec<Variant>,
    pub threads: Vec<u32>,
    pub opts: Vec<Opt>,
    pub strategies: Vec<String>,
    /// Counted iterations, where they do not follow from how long one takes.
    pub iterations: Option<u32>,
    pub has_native: bool,
}

/// What kind of measuring it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// How long programs run.
    Run,
    /// What instances cost that are made, grown and dropped in a loop.
    Growth,
    /// What compiling costs.
    Compile,
    /// What bounds checks cost, on both widths.
    Bounds,
    /// What instances cost that run side by side.
    Scaling,
    /// How long it takes to the first instruction, and from instance to instance.
    Startup,
    /// What a library's programs take on every engine, by group.
    Library,
}

/// Finds what the command line names.
pub fn find(args: &Args, house: Option<&House>) -> anyhow::Result<Target> {
    let here = "no suites here: run it in a clone of Fathom, or name one in FATHOM_HOME";
    if let Some(selection) = args.selection {
        let house = house.context(here)?;
        return match selection {
            Selection::Bounds => bounds::target(args, house),
            Selection::Scaling | Selection::LeapsAndBounds => {
                scaling::target(args, selection, house)
            }
            Selection::Libsodium | Selection::Libsodium2023 => {
                library::target(args, selection, house)
            }
        };
    }
    let name = args.target.as_deref().unwrap_or("polybench");
    let path = Path::new(name);
    if path.extension().is_some() || path.is_file() {
        return module(args, path);
    }
    if name == "startup" {
        return startup::target(args);
    }
    let house = house.context(here)?;
    match name {
        "growth" => growth(args, &suite(house, "wasi")?),
        "compile" => compile(args, house),
        _ => {
            let suite = suite(house, name);
            of_suite(
                args,
                &suite.with_context(|| format!("`{name}` is no suite and no file"))?,
            )
        }
    }
}

/// A suite of the house.
pub fn suite(house: &House, name: &str) -> anyhow::Result<Suite> {
    Ok(Suite::load(&house.suite(name))?)
}

/// The strategies of ours which are measured by default.
fn all_strategies() -> Vec<String> {
    vec!["all".to_owned()]
}

/// Those that guard a module's memories; all, where it is refused anyway.
fn strategies_for(wasm: &[u8]) -> Vec<String> {
    let memories =
        Module::declarations(wasm, Features::all()).map_or(Vec::new(), |info| info.memories);
    let all: Vec<Bounds> = Bounds::ALL
        .into_iter()
        .filter(|bounds| !bounds.is_diagnostic())
        .filter(|bounds| memories.iter().all(|ty| bounds.supports(ty.memory64)))
        .collect();
    if memories.iter().all(|ty| !ty.memory64) {
        return all_strategies();
    }
    // The one that `auto` takes first: its control is the noise floor's. With
    // memories of both index types there is no name for it but `auto`.
    let first = match all.contains(&Bounds::GUARD64) {
        true => Bounds::GUARD64.name(),
        false => "auto",
    };
    let others = all.iter().filter(|bounds| **bounds != Bounds::GUARD64);
    std::iter::once(first)
        .chain(others.map(|bounds| bounds.name()))
        .map(str::to_owned)
        .collect()
}

fn of_suite(args: &Args, suite: &Suite) -> anyhow::Result<Target> {
    ensure!(
        args.args.is_empty(),
        "a suite's programs have arguments of their own"
    );
    let mut names = args.kernels.clone();
    if args.pace.quick && names.is_empty() && suite.has_sizes() {
        let quick = suite.workloads.iter().map(|workload| workload.name.clone());
        names = quick
            .filter(|name| QUICK_KERNELS.contains(&name.as_str()))
            .collect();
    }
    let size = match (suite.has_sizes(), &args.size) {
        (false, None) => String::new(),
        (false, Some(size)) => anyhow::bail!("suite {} has no sizes, so no `{size}`", suite.name),
        (true, Some(size)) => size.to_lowercase(),
        (true, None) => if args.pace.quick { "small" } else { "medium" }.to_owned(),
    };
    let chosen = suite.select(&names)?;
    let programs = chosen
        .iter()
        .map(|workload| program(suite, workload, &size))
        .collect();
    let notes = chosen
        .iter()
        .map(|workload| note(suite, workload, &size))
        .collect();
    let title = if size.is_empty() {
        suite.name.clone()
    } else {
        format!("{}-{size}", suite.name)
    };
    Ok(Target {
        kind: Kind::Run,
        title,
        programs,
        notes,
        module: None,
        written: Vec::new(),
        compared: if suite.has_sizes() {
            Compared::Kernel
        } else {
            Compared::Run
        },
        variants: vec![Variant::WasmSimd],
        threads: vec![1],
        opts: vec![Opt::Speed],
        strategies: all_strategies(),
        iterations: None,
        has_native: true,
    })
}

/// A workload of a suite at a size.
pub fn program(suite: &Suite, workload: &Workload, size: &str) -> Program<'static> {
    let name = workload.program.as_ref().unwrap_or(&workload.name).clone();
    let (suite_of, size_of) = (suite.clone(), size.to_owned());
    let folder = match (&workload.inputs, workload.writes) {
        (Some(inputs), _) => Some(Folder::At(suite.folder.join(inputs))),
        (None, true) => Some(Folder::Empty),
        (None, false) => None,
    };
    Program {
        suite: suite.name.clone(),
        name: workload.name.clone(),
        size: size.to_owned(),
        args: workload.args_at(size),
        artifact: Box::new(move |variant: Variant| {
            suite_of.artifact(variant.name(), &size_of, &name)
        }),
        expected: match (workload.answer_at(size), &workload.stdout, &workload.output) {
            (Some(answer), ..) => Expected::Answer(answer.to_ascii_lowercase()),
            (None, Some(text), _) => Expected::Text(text.clone()),
            (None, None, Some(output)) => Expected::Near(Near {
                file: suite.folder.join(&output.file),
                absolute: output.absolute,
                relative: output.relative,
            }),
            // Relative to the results folder, which is not known yet.
            (None, None, None) => {
                Expected::SameAs(PathBuf::from(format!("{}.stdout", workload.name)))
            }
        },
        folder,
        is_cached: false,
    }
}

/// What a campaign records of a workload.
pub fn note(suite: &Suite, workload: &Workload, size: &str) -> WorkloadNote {
    WorkloadNote {
        suite: suite.name.clone(),
        name: workload.name.clone(),
        why: workload.why.clone(),
        answer: workload.answer_at(size).map(str::to_owned),
        category: workload.category.clone(),
        bytes: None,
    }
}

fn module(args: &Args, path: &Path) -> anyhow::Result<Target> {
    let bytes = load::read(path).context("no module to measure")?;
    ensure!(
        args.kernels.is_empty(),
        "--kernels is for suites; a module is run as it is"
    );
    ensure!(
        args.size.is_none(),
        "--size is for suites; a module is run as it is"
    );
    let strategies = strategies_for(&bytes);
    let path = std::path::absolute(path)?;
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let is_text = fs::metadata(&path)?.len() != bytes.len() as u64;
    // Relative to the results folder, like the reference.
    let artifact = if is_text {
        PathBuf::from(TRANSLATED)
    } else {
        path.clone()
    };
    let program = Program {
        suite: "module".to_owned(),
        name,
        size: String::new(),
        args: args.args.clone(),
        artifact: Box::new(move |_| artifact.clone()),
        expected: Expected::SameAs(PathBuf::from("output.stdout")),
        folder: None,
        is_cached: false,
    };
    Ok(Target {
        kind: Kind::Run,
        title: path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        programs: vec![program],
        notes: Vec::new(),
        module: Some(ModuleNote {
            path,
            bytes: bytes.len() as u64,
            digest: digest(&bytes),
            args: args.args.clone(),
        }),
        written: is_text
            .then(|| (TRANSLATED.to_owned(), bytes))
            .into_iter()
            .collect(),
        compared: Compared::Run,
        variants: vec![Variant::Wasm],
        threads: vec![1],
        opts: vec![Opt::Speed],
        strategies,
        iterations: None,
        has_native: false,
    })
}

fn growth(args: &Args, suite: &Suite) -> anyhow::Result<Target> {
    ensure!(args.kernels.is_empty(), "growth has no kernels");
    let (programs, notes) = growing(suite, &GROWTHS)?;
    Ok(Target {
        kind: Kind::Growth,
        title: "growth".to_owned(),
        programs,
        notes,
        module: None,
        written: Vec::new(),
        compared: Compared::Kernel,
        variants: vec![Variant::Wasm],
        threads: vec![1, 2],
        opts: vec![Opt::Speed],
        strategies: all_strategies(),
        iterations: None,
        has_native: true,
    })
}

/// Programs that grow to some pages, some at a time.
pub fn growing(
    suite: &Suite,
    growths: &[(u32, u32)],
) -> anyhow::Result<(Vec<Program<'static>>, Vec<WorkloadNote>)> {
    let chosen = suite.select(&["grow".to_owned()])?;
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    for (pages, step) in growths {
        let name = format!("grow-{pages}-by-{step}");
        let mut program = program(suite, chosen[0], "");
        program.args = vec![pages.to_string(), step.to_string()];
        program.expected = Expected::SameAs(PathBuf::from(format!("{name}.stdout")));
        notes.push(WorkloadNote {
            suite: suite.name.clone(),
            name: name.clone(),
            why: format!("an instance grown to {pages} pages, {step} at a time, each touched"),
            answer: None,
            category: None,
            bytes: None,
        });
        program.name = name;
        programs.push(program);
    }
    Ok((programs, notes))
}

fn compile(args: &Args, house: &House) -> anyhow::Result<Target> {
    let mut target = of_suite(args, &suite(house, "large")?)?;
    target.kind = Kind::Compile;
    target.title = "compile".to_owned();
    target.opts = vec![Opt::Speed, Opt::None];
    target.strategies = vec!["guard".to_owned()];
    target.iterations = Some(1);
    target.has_native = false;
    Ok(target)
}

/// FNV-1a over the bytes: tells modules apart, no more is asked of it.
fn digest(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}
