//! WASI calls of an outside engine, seen by the kernel: which map, which file, what a probe
//! costs; and how a map is made.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use fathom_bench::choose::{OWN, Wanted};
use fathom_bench::home::Home;
use fathom_sys::regular;
use fathom_trace::kernel::{Probed, Tracer};
use fathom_trace::symbols::discover::{self, Told, Turn};
use fathom_trace::symbols::{Ends, Found, Functions, SymbolError, SymbolMap};

use super::{Args, Level, engine};

/// What a map's file is called, in the engine's folder; several begin alike.
const NAMES: &str = "symbols";

/// The functions to probe, where that was asked for.
///
/// # Errors
/// There is no map that fits.
pub fn wanted(args: &Args, engine: &Wanted) -> anyhow::Result<Option<Found>> {
    if let Some(file) = &args.symbols {
        let map = read(file)?;
        return Ok(Some(found(&map, args)?));
    }
    if !args.by.contains(&Level::Symbols) {
        return Ok(None);
    }
    ensure!(
        engine.version.is_none(),
        "--by symbols: symbol maps are of pinned versions, and {} is another: --by rewriting",
        engine.name()
    );
    ensure!(
        args.module.is_some(),
        "--by symbols looks at an engine's functions: name it with --engines, or a map with --symbols"
    );
    let home = engine::home(args.home.as_ref())?;
    let maps = maps(home, &engine.engine)?;
    let mut why = format!(
        "{} has no symbol map ({} makes one)",
        engine.engine,
        format_args!("fathom trace --discover {}", engine.engine)
    );
    for map in maps {
        match found(&map, args) {
            Ok(found) => return Ok(Some(found)),
            Err(error) => why = format!("{error:#}"),
        }
    }
    bail!("--by symbols: {why}")
}

/// The maps of an engine, each for some of its versions.
fn maps(home: &Home, engine: &str) -> anyhow::Result<Vec<SymbolMap>> {
    let folder = home.engines().join(engine);
    let files = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(NAMES) && name.ends_with(".toml")
    });
    files.sort();
    files.iter().map(|file| read(file)).collect()
}

fn read(file: &Path) -> anyhow::Result<SymbolMap> {
    let text = regular::read_to_string(file).with_context(|| file.display().to_string())?;
    SymbolMap::parse(&text).with_context(|| file.display().to_string())
}

fn found(map: &SymbolMap, args: &Args) -> anyhow::Result<Found> {
    let mut file = map.file.clone();
    if file.contains("{tools}") {
        let tools = engine::home(args.home.as_ref())?.tools();
        file = file.replace("{tools}", &tools.display().to_string());
    }
    let file = fs::canonicalize(&file).with_context(|| file.clone())?;
    Ok(map.find(&file, &Functions::read(&file)?)?)
}

/// Makes a map: runs a module whose calls are known on an engine, with everything probed
/// whose name speaks of WASI or of one of its functions.
///
/// # Errors
/// The engine does not run it, has no symbols, or the kernel may not be asked.
pub fn discover(args: &Args, wanted: &Wanted) -> anyhow::Result<ExitCode> {
    let is_pinned = wanted.engine != OWN && wanted.version.is_none();
    ensure!(is_pinned, "--discover is for pinned outside engines");
    let name = &wanted.engine;
    let tools = engine::home(args.home.as_ref())?.tools();
    let folder = tools.join("engines").join(name);
    let scratch = tempfile::tempdir().context("no folder for the module")?;
    let modules = [Turn::First, Turn::Second].map(|turn| {
        let file = scratch.path().join(format!("{turn:?}.wasm"));
        let module = wat::parse_str(discover::module(turn))?;
        fs::write(&file, module)?;
        Ok::<PathBuf, anyhow::Error>(file)
    });
    let [first, second] = modules;
    let modules = [first?, second?];
    let mut best: Option<(PathBuf, Ends, Told)> = None;
    let mut why = format!("no file in {} has symbols", folder.display());
    for file in files(&folder) {
        let functions = match Functions::read(&file) {
            Ok(functions) => functions,
            Err(SymbolError::NoSymbols { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        let candidates = discover::candidates(&functions);
        if candidates.is_empty() {
            why = format!("no function in {} speaks of WASI", file.display());
            continue;
        }
        say!("{}: {} functions", file.display(), candidates.len());
        let ends = ends(&functions);
        let found = Found {
            file: file.clone(),
            functions: candidates,
            ends,
        };
        let told = told(args, wanted, &modules, found)?;
        let is_better = |(_, _, known): &(_, _, Told)| known.functions.len() < told.functions.len();
        if best.as_ref().is_none_or(is_better) {
            best = Some((file, ends, told));
        }
    }
    let (file, ends, told) = best.with_context(|| format!("{name}: {why}"))?;
    let known = discover::KNOWN.len();
    ensure!(
        !told.functions.is_empty(),
        "{name}: no function was entered as often as the module calls one of {known} WASI functions"
    );
    if !told.unknown.is_empty() {
        say!("not found: {}", told.unknown.join(", "));
    }
    let functions = discover::lasting(told.functions, &Functions::read(&file)?);
    let map = SymbolMap {
        version: version(&folder, name),
        file: file
            .display()
            .to_string()
            .replace(&tools.display().to_string(), "{tools}"),
        ends,
        functions,
    };
    let map = map.text()?;
    let text = format!("# Made by `fathom trace --discover {name}`.\n{map}");
    match &args.out {
        Some(out) => regular::write_output(out, text.as_bytes())
            .with_context(|| out.display().to_string())?,
        None => print!("{text}"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Where calls of a file's functions are seen to end.
fn ends(functions: &Functions) -> Ends {
    match functions.is_go {
        true => Ends::Entry,
        false => Ends::Return,
    }
}

/// What was entered: first all is counted, then what fits is timed, so that of functions
/// that call each other the outer one is known.
fn told(
    args: &Args,
    wanted: &Wanted,
    [first, second]: &[PathBuf; 2],
    mut found: Found,
) -> anyhow::Result<Told> {
    let run = |module: &Path, found: &Found| {
        let mut tracer = attached()?;
        tracer.probe(found).map_err(|error| remedied(&error))?;
        engine::as_it_is(args, wanted, module, Some(&tracer))?;
        Ok::<BTreeMap<String, Probed>, anyhow::Error>(tracer.probed()?)
    };
    let ends = std::mem::replace(&mut found.ends, Ends::Entry);
    let counted = run(first, &found)?;
    found
        .functions
        .retain(|(name, _)| counted.contains_key(name));
    if found.functions.is_empty() {
        return Ok(Told::default());
    }
    found.ends = ends;
    let timed = run(second, &found)?;
    Ok(discover::told([&counted, &timed]))
}

fn attached() -> anyhow::Result<Tracer> {
    Tracer::attach().map_err(|error| remedied(&error))
}

fn remedied(error: &fathom_trace::kernel::KernelError) -> anyhow::Error {
    anyhow::anyhow!("{error} ({})", error.remedy())
}

/// Files of an engine that may have functions, the larger first.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => {
                    let bytes = entry.metadata().map_or(0, |data| data.len());
                    all.push((bytes, entry.path()));
                }
                _ => {}
            }
        }
    }
    all.sort_by(|one, other| other.cmp(one));
    let is_elf = |path: &PathBuf| {
        use std::io::Read;
        let mut head = [0; 4];
        let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
        read.is_ok() && head == *b"\x7fELF"
    };
    all.into_iter()
        .map(|(_, path)| path)
        .filter(is_elf)
        .collect()
}

/// What the installer noted.
fn version(folder: &Path, name: &str) -> String {
    let record = fs::read_to_string(folder.join("record.json")).unwrap_or_default();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap_or_default();
    let version = record["version"]
        .as_str()
        .unwrap_or("of a version that is not known");
    format!("{name} {version}")
}
