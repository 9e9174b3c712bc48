//! One program's time on one engine, in parts.
//!
//! ```text
//!  the program    native, the format, the engine without checks, the engine
//!  not-run        the same module, whose `_start` returns at once: what is no run
//!  touched        each page of a memory once ┐ what a page fault takes,
//!  untouched      the first page as often    ┘ on this engine
//! ```
//!
//! A process runs its program once, cold, as whoever starts it from a shell does. What is
//! made of the times is in `fathom-stats`, by the names of [`fathom_record::waterfall`].
//!
//! What must stay true: rows come in the order that is told there.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use fathom_engine::{Features, Module};
use fathom_record::{
    Compared, Experiment, Variant,
    campaign::WorkloadNote,
    waterfall::{NOT_RUN, SUITE, TOUCHED, UNTOUCHED},
};
use fathom_sys::regular;
use serde::{Deserialize, Serialize};

use super::{
    Design, Environment, Measured,
    measured::{note, program, size},
    module::of_module,
};
use crate::{
    check::Expected,
    choose::{Absent, Controls, NATIVE, NATIVES, OWN, Program, Wanted},
    empty_start::empty_start,
    engines::Presence,
    plan::Task,
    request::{OwnModule, Request, RequestError, Strategies, ensure},
    suite::Suite,
};

/// What is taken apart.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Apart {
    /// A program of the user's own.
    Module {
        /// The module.
        module: OwnModule,
        /// The same program for the host, where there is one.
        native: Option<PathBuf>,
    },
    /// A workload, with its native build where that is there.
    Workload {
        /// Its suite.
        suite: String,
        /// Its name.
        name: String,
    },
}

/// How it is measured: a cold run in each child, so all rows in all rounds.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Waterfall,
    budget: Duration::from_secs(2 * 60),
    warmup: 0,
    iterations: 1,
    iterations_max: 1,
    cell_target: None,
    traced: TRACED,
    is_traced,
    controls: Controls::First,
    measured,
    wanted,
    absent,
    suits,
    ..Design::USUAL
};

/// Traced runs of each: as many as an interval takes.
const TRACED: u32 = 5;
/// The strategy without checks, ours and other engines'.
const OWN_UNCHECKED: &str = "none";
const UNCHECKED: &str = "guard";
/// Builds of a workload, the one that is preferred first.
const BUILDS: [Variant; 2] = [Variant::WasmSimd, Variant::Wasm];

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let mut measured = match env.request.subject.taken_apart() {
        Some(Apart::Module { module, native }) => {
            ensure(env.request.size.is_none(), || {
                "--size is for suites; a module is run as it is".to_owned()
            })?;
            let mut measured = of_module(module, native.clone());
            add_beside(&mut measured, Some(&module.wasm))?;
            measured
        }
        Some(Apart::Workload { suite, name }) => of_workload(env, suite, name)?,
        None => return Err(RequestError::refused("no program to take apart")),
    };
    measured.title.push_str("-waterfall");
    measured.compared = Compared::Run;
    measured.strategies = vec![Strategies::AUTO];
    Ok(measured)
}

/// A workload of a suite, and its native build where it is there.
fn of_workload(env: &Environment<'_>, suite: &str, name: &str) -> Result<Measured, RequestError> {
    let request = env.request;
    ensure(request.args.is_empty(), || {
        "a suite's programs have arguments of their own".to_owned()
    })?;
    let home = env.suites()?;
    let loaded = Suite::load(&home.suite(suite));
    let suite = loaded.map_err(|source| RequestError::no_suite(home, suite, source))?;
    let chosen = suite.select(&[name.to_owned()])?;
    let workload = chosen[0];
    let size = match (suite.has_sizes(), &request.size) {
        (true, _) => size(request),
        (false, None) => String::new(),
        (false, Some(size)) => {
            let words = format!("suite {} has no sizes, so no `{size}`", suite.name);
            return Err(RequestError::Refused(words));
        }
    };
    let program = program(&suite, workload, &size);
    let build = BUILDS
        .into_iter()
        .find(|build| (program.artifact)(*build).exists());
    let build = build.unwrap_or(BUILDS[0]);
    let is_built = (program.artifact)(Variant::Native).exists();
    let natives: &[Variant] = if is_built { &NATIVES } else { &[] };
    // What is not built is told by whoever looks for all that is measured.
    let wasm = regular::read(&(program.artifact)(build)).ok();
    let title = workload.name.clone();
    let programs = (vec![program], vec![note(&suite, workload, &size)]);
    let mut measured = Measured {
        variants: vec![build],
        natives: natives.to_vec(),
        ..Measured::new(title, programs)
    };
    add_beside(&mut measured, wasm.as_deref())?;
    Ok(measured)
}

/// Adds the programs beside it.
fn add_beside(measured: &mut Measured, wasm: Option<&[u8]>) -> Result<(), RequestError> {
    let name = measured.programs[0].name.clone();
    let Some(wasm) = wasm else { return Ok(()) };
    ensure(!has_threads(wasm), || {
        format!("{name}: it starts threads, whose times are no parts of one bar")
    })?;
    let not_run = empty_start(wasm).ok_or_else(|| {
        let words = format!("{name}: it has no function _start of its own to take apart");
        RequestError::Refused(words)
    })?;
    let (touched, untouched) = (touching(wasm, true)?, touching(wasm, false)?);
    let all = [
        (NOT_RUN, "the program, whose start returns at once", not_run),
        (TOUCHED, "a write to each page of a memory", touched),
        (UNTOUCHED, "as many writes to one page", untouched),
    ];
    for (name, why, wasm) in all {
        let file = format!("{name}.wasm");
        measured.notes.push(WorkloadNote {
            suite: SUITE.to_owned(),
            name: name.to_owned(),
            why: why.to_owned(),
            ..WorkloadNote::default()
        });
        measured.programs.push(beside(name, &file));
        measured.written.push((file, wasm));
    }
    Ok(())
}

fn has_threads(wasm: &[u8]) -> bool {
    let imports = Module::declarations(wasm, Features::all()).map(|info| info.imports);
    imports.is_ok_and(|all| {
        all.iter()
            .any(|one| (one.module.as_str(), one.name.as_str()) == ("wasi", "thread-spawn"))
    })
}

/// A program that is measured beside others, in a file of the results.
pub(super) fn beside(name: &str, file: &str) -> Program<'static> {
    let artifact = PathBuf::from(file);
    Program {
        suite: SUITE.to_owned(),
        name: name.to_owned(),
        size: String::new(),
        args: Vec::new(),
        artifact: Box::new(move |_| artifact.clone()),
        expected: Expected::Text(String::new()),
        folder: None,
        is_cached: false,
        stack_bytes: None,
        load: None,
    }
}

/// Pages of WebAssembly that are written to.
const PAGES: u32 = 512;

/// A program that writes once to each page of the host in its memory, or as often to the
/// first: in a memory of the kind that the module has.
fn touching(wasm: &[u8], touches: bool) -> Result<Vec<u8>, RequestError> {
    let memories = Module::declarations(wasm, Features::all()).map(|info| info.memories);
    let has_memory64 = memories.is_ok_and(|all| all.first().is_some_and(|ty| ty.memory64));
    let (index, widened) = match has_memory64 {
        true => ("i64", "i64.extend_i32_u"),
        false => ("", "i32.add (i32.const 0)"),
    };
    let mask = if touches { -1 } else { 0 };
    let text = format!(
        "(module (memory {index} {PAGES})
          (func (export \"_start\") (local $at i32)
            (loop $again
              (i32.store8 ({widened} (i32.and (local.get $at) (i32.const {mask})))
                (i32.const 1))
              (local.set $at (i32.add (local.get $at) (i32.const 4096)))
              (br_if $again (i32.lt_u (local.get $at) (i32.const {}))))))",
        PAGES << 16
    );
    wat::parse_str(&text)
        .map_err(|error| RequestError::Refused(format!("a module of Fathom's own: {error}")))
}

/// The engine, itself without the instructions of its checks, the format, native code.
fn wanted(env: &Environment<'_>) -> Vec<Wanted> {
    let (engine, format) = engine_and_format(env.request);
    let unchecked = match engine.engine.as_str() {
        OWN => Some(OWN_UNCHECKED),
        _ => env
            .outside
            .iter()
            .find(|(spec, _)| engine.is(spec))
            .filter(|(spec, _)| spec.strategies.iter().any(|one| one == UNCHECKED))
            .filter(|(spec, _)| {
                engine.strategy.as_ref().or(spec.strategies.first()) != Some(&UNCHECKED.to_owned())
            })
            .map(|_| UNCHECKED),
    };
    let mut rows = vec![engine.clone()];
    let unchecked = unchecked.map(|strategy| Wanted {
        strategy: Some(strategy.to_owned()),
        ..engine
    });
    for row in unchecked.into_iter().chain([format]) {
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    if has_native(env) {
        rows.push(super::design::plain(NATIVE));
    }
    rows
}

/// What the user names, or ours, without checks for the format.
fn engine_and_format(request: &Request) -> (Wanted, Wanted) {
    let own = |strategy: &str| Wanted {
        strategy: Some(strategy.to_owned()),
        ..Wanted::own()
    };
    let mut engine = request.engines.first().cloned().unwrap_or_else(Wanted::own);
    if engine.engine == OWN && engine.strategy.is_none() {
        engine = own("auto");
    }
    let format = request.engines.get(1).cloned();
    (engine, format.unwrap_or_else(|| own(OWN_UNCHECKED)))
}

fn has_native(env: &Environment<'_>) -> bool {
    match env.request.subject.taken_apart() {
        Some(Apart::Module { native, .. }) => native.is_some(),
        Some(Apart::Workload { suite, name }) => {
            let suite = env.suites().ok().map(|home| home.suite(suite));
            let suite = suite.and_then(|folder| Suite::load(&folder).ok());
            suite.is_some_and(|suite| is_built_natively(&suite, name, env.request))
        }
        None => false,
    }
}

fn is_built_natively(suite: &Suite, name: &str, request: &Request) -> bool {
    let size = match suite.has_sizes() {
        true => size(request),
        false => String::new(),
    };
    let chosen = suite.select(&[name.to_owned()]).unwrap_or_default();
    let native = |workload| (program(suite, workload, &size).artifact)(Variant::Native);
    chosen
        .iter()
        .any(|workload| Path::exists(&native(workload)))
}

/// Nothing is taken apart by the rows that are left: an engine that is missing is refused.
fn absent(env: &Environment<'_>) -> Result<Vec<Absent>, RequestError> {
    for wanted in &env.request.engines {
        let found = env.outside.iter().find(|(spec, _)| wanted.is(spec));
        if let Some((spec, Presence::Absent { why })) = found {
            let words = format!("{}: {}", spec.id(), spec.not_here(why));
            return Err(RequestError::Refused(words));
        }
    }
    Ok(Vec::new())
}

/// Native code has no programs beside it, and those need no controls.
fn suits(task: &Task) -> bool {
    let is_beside = task.cell.suite == SUITE;
    !is_beside || (task.cell.variant.is_wasm() && !task.cell.is_control())
}

/// What is run, and the same that is not run; native code has no such thing.
fn is_traced(task: &Task) -> bool {
    let cell = &task.cell;
    !cell.is_control() && (cell.suite != SUITE || cell.workload == NOT_RUN)
}

#[cfg(test)]
mod tests {
    use fathom_engine::{Config, Engine, Linker, Store};

    use super::*;
    use crate::experiment::Subject;
    use crate::request::Library;

    fn request(engines: &[&str]) -> Request {
        let module = OwnModule {
            path: "/m.wasm".into(),
            wasm: Vec::new(),
            is_made: false,
            args: Vec::new(),
            library: Library::default(),
        };
        let native = Some(PathBuf::from("/m"));
        let subject = Subject::apart(Apart::Module { module, native });
        Request {
            engines: engines.iter().map(|word| word.parse().unwrap()).collect(),
            ..Request::new(subject, "/".into())
        }
    }

    fn rows(engines: &[&str]) -> String {
        let request = request(engines);
        let env = Environment {
            request: &request,
            home: None,
            outside: &[],
        };
        let words: Vec<String> = wanted(&env).iter().map(ToString::to_string).collect();
        words.join(" ")
    }

    #[test]
    fn rows_come_in_the_order_of_what_they_are_for() {
        assert_eq!(rows(&[]), "fathom:auto fathom:none native");
        assert_eq!(rows(&["fathom:trap"]), "fathom:trap fathom:none native");
        assert_eq!(rows(&["fathom:none"]), "fathom:none native");
        let with_format = rows(&["fathom", "wasm2c:guard"]);
        assert_eq!(with_format, "fathom:auto fathom:none wasm2c:guard native");
        assert_eq!(rows(&["other"]), "other fathom:none native");
    }

    #[test]
    fn a_memory_is_touched_or_not_whatever_its_width() {
        for (program, width) in [("(module (memory 1))", 32), ("(module (memory i64 1))", 64)] {
            let program = wat::parse_str(program).unwrap();
            for touches in [true, false] {
                let wasm = touching(&program, touches).unwrap();
                let info = Module::declarations(&wasm, Features::all()).unwrap();
                assert_eq!(info.memories[0].memory64, width == 64);
                let engine = Engine::new(&Config::new()).unwrap();
                let module = Module::new(&engine, &wasm).unwrap();
                let mut store = Store::new(&engine, ());
                let linker = Linker::new(&engine);
                let instance = linker.instantiate(&mut store, &module).unwrap();
                let start = instance.get_func(&store, "_start").unwrap();
                start.call(&mut store, &[], &mut []).unwrap();
            }
        }
    }
}
