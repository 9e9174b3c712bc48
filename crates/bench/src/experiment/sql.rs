//! Functions and operators in SQL: beside the same in Rust (`sql`), and what a call of each is
//! made of (`sql-calls`).
//!
//! ```text
//!  sql        { k-means by points, gcd, collatz, queries } × strategies, LLVM, native
//!  sql-calls  { function × rows of a batch × used again or new } × auto ─▶ a fit (the page)
//!  by the runner of sql/suite, which has our engine in it, and calls modules with Arrow's arrays
//! ```
//!
//! How much is done is a part of a workload's name: its arguments are what the runner is told.
//!
//! What must stay true: the answers of native code and of each row are the same; what one thread
//! does is not measured on several.

use std::path::{Path, PathBuf};

use fathom_engine::Codegen;
use fathom_record::{Compared, Experiment, Variant, campaign::WorkloadNote};

use super::{
    Command, Design, Environment, Measured,
    design::plain,
    measured::{Programs, names},
};
use crate::{
    check::Expected,
    choose::{NATIVE, OWN, Program, Wanted},
    home::Home,
    plan::Task,
    request::{Request, RequestError, Strategies, ensure},
};

const RUNNER: &str = "sql/target/release/fathom-sql-suite";
const MODULES: &str = "sql/target/operators";
/// How files of modules with 64-bit memories end.
const WIDE: &str = ".64.wasm";
/// What users get and the thesis has.
const STRATEGIES: [&str; 7] = [
    "auto",
    "none",
    "trap",
    "guard64",
    "shadow",
    "shadow-compressed",
    "pkeys",
];
const USUAL: [&str; 6] = [
    "kmeans-10000",
    "kmeans-100000",
    "kmeans-1000000",
    "shared-1000000",
    "gcd-204800",
    "collatz-1000000",
];
const QUICK: [&str; 2] = ["kmeans-10000", "gcd-204800"];

type Kind = (&'static str, &'static str, &'static str, &'static str);
/// What comes before the number in a name, what the runner calls it, its module, and why it is
/// there. What is shared has as many instances as there are processors, or one.
const KINDS: [Kind; 12] = [
    ("kmeans", "kmeans", "udo_kmeans.64", KMEANS),
    ("kmeans32", "kmeans", "udo_kmeans", KMEANS),
    ("shared", "kmeans-shared", "udo_kmeans_shared.64", SHARED),
    ("shared1", "kmeans-shared1", "udo_kmeans_shared.64", SHARED),
    ("shared32", "kmeans-shared", "udo_kmeans_shared", SHARED),
    ("shared32-1", "kmeans-shared1", "udo_kmeans_shared", SHARED),
    (
        "gcd",
        "gcd",
        "gcd",
        "rows of little work, in batches of 1024",
    ),
    (
        "collatz",
        "collatz",
        "collatz",
        "rows of more work, 8192 a batch",
    ),
    ("query-kmeans", "query-kmeans", "udo_kmeans.64", QUERY),
    (
        "query-shared",
        "query-kmeans-shared",
        "udo_kmeans_shared.64",
        QUERY,
    ),
    ("query-gcd", "query-gcd", "gcd", QUERY),
    ("query-collatz", "query-collatz", "collatz", QUERY),
];
const KMEANS: &str = "the thesis's k-means by one instance";
const SHARED: &str = "the thesis's k-means by threads, an instance each over one memory";
const QUERY: &str = "a query with a function in WebAssembly; native: in plain SQL";

/// Functions of rows, and an aggregate.
const FUNCTIONS: [&str; 5] = ["gcd", "collatz", "haversine", "initials", "slope"];

/// How both are measured: a kernel is timed by the runner, in a process of its own each.
const BY_RUNNER: Design = Design {
    command: Some(Command::Suite),
    runner: |home| Some(home.root().join(RUNNER)),
    ..Design::USUAL
};

/// How it is measured.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Sql,
    help: "What functions and operators in SQL take beside native ones",
    about: "`sql`: operators and functions as SQL calls them, with Arrow's arrays and no query around \
            them, under each strategy of the thesis, and in Rust: --workloads kmeans-100000,gcd-204800, \
            each with how much it does; also kmeans32, shared, shared1, shared32 and shared32-1 (an \
            instance for each processor, or one, over one memory), collatz, and query-kmeans, query-shared, query-gcd and query-collatz (whole \
            queries beside plain SQL, where the runner has DataFusion). Needs `make sql-runner`.",
    measured,
    wanted,
    suits,
    ..BY_RUNNER
};

/// How calls are measured.
pub(super) static DESIGN_CALLS: Design = Design {
    experiment: Experiment::SqlCalls,
    help: "What a call, a row and an instance of each function in SQL cost",
    about: "`sql-calls`: the examples of sql/operators in batches of many sizes, by an instance that \
            is used again and by new ones, and a fit to them; what CREATE FUNCTION waits for; plain \
            copies. --workloads names functions: nothing, gcd, collatz, haversine, initials, slope, \
            udo_kmeans, create, copy. The table is written as sql-calls.md, .html and .csv. Needs \
            `make sql-runner`.",
    measured: calls,
    wanted: |env| both(env.request),
    // Copies are of the machine, all else is of modules.
    suits: |task| task.cell.variant.is_wasm() != task.cell.workload.starts_with("copy-"),
    is_baseline: |row| row.native.is_none(),
    ..BY_RUNNER
};

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let (request, home) = (env.request, env.suites()?);
    applies(request)?;
    let mut named = names(request, &QUICK);
    if named.is_empty() {
        named = USUAL.map(str::to_owned).to_vec();
    }
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    for name in &named {
        let ((_, what, module, why), count) = kind(name)?;
        let args = vec![what.to_owned(), count.to_string()];
        program(home, name, args, module, why, &mut programs, &mut notes)?;
    }
    let strategies = STRATEGIES.iter().map(|name| name.parse());
    let strategies: Result<Vec<Strategies>, _> = strategies.collect();
    Ok(Measured {
        strategies: strategies.map_err(|error| RequestError::Refused(format!("{error}")))?,
        ..of("sql", (programs, notes))
    })
}

/// What a name means, and how much of it.
fn kind(name: &str) -> Result<(Kind, u32), RequestError> {
    let found = name.rsplit_once('-').and_then(|(kind, count)| {
        let kind = KINDS.into_iter().find(|(known, ..)| *known == kind)?;
        // One name for one number.
        let number: u32 = count.parse().ok().filter(|number| *number > 0)?;
        (number.to_string() == count).then_some((kind, number))
    });
    found.ok_or_else(|| {
        let known = KINDS.map(|(kind, ..)| kind).join(", ");
        RequestError::Refused(format!(
            "sql has no workload `{name}`: it is one of {known}, and how much, such as kmeans-10000"
        ))
    })
}

/// Queries with the strategy and the settings that functions in SQL have; `guard64`, which is in the
/// list, on memories that it is for.
fn suits(task: &Task) -> bool {
    let sandbox = &task.cell.sandbox;
    let is_wide = task.artifact.to_string_lossy().ends_with(WIDE);
    match task.cell.workload.starts_with("query-") {
        _ if !task.cell.variant.is_wasm() => true,
        true => sandbox.strategy == "auto" && sandbox.settings.said().is_empty(),
        false => is_wide || !sandbox.strategy.starts_with("guard64"),
    }
}

fn calls(env: &Environment<'_>) -> Result<Measured, RequestError> {
    let (request, home) = (env.request, env.suites()?);
    applies(request)?;
    let all = all_calls();
    let group = |name: &str| name.split('-').next().unwrap_or_default().to_owned();
    let is_asked = |name: &str| {
        let mut asked = request.workloads.iter();
        request.workloads.is_empty() || asked.any(|one| *one == group(name) || one == name)
    };
    for one in &request.workloads {
        let is_known = all
            .iter()
            .any(|(name, ..)| *one == group(name) || one == name);
        ensure(is_known, || format!("sql-calls has no workload `{one}`"))?;
    }
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    for (name, module, words) in all.iter().filter(|(name, ..)| is_asked(name)) {
        let args = words.split(' ').map(str::to_owned).collect();
        let why = "a shape of what the fits rest on";
        program(home, name, args, module, why, &mut programs, &mut notes)?;
    }
    Ok(Measured {
        strategies: vec![Strategies::AUTO],
        ..of("sql-calls", (programs, notes))
    })
}

/// The name of each workload, its module, and what the runner is told. The page reads the names
/// (`fathom-report`'s `pages/sql_calls.rs`).
fn all_calls() -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    let mut add = |name: String, module: &str, words: String| {
        all.push((name, module.to_owned(), words));
    };
    for (given, returned) in [(1, 1), (8, 1), (1, 8), (4, 4)] {
        for rows in [0, 16, 128, 1024, 8192] {
            let words = format!("nothing {given} {returned} {rows} reused");
            add(
                format!("nothing-{given}x{returned}-{rows}"),
                "nothing",
                words,
            );
        }
    }
    add(
        "nothing-1x1-0-new".to_owned(),
        "nothing",
        "nothing 1 1 0 new".to_owned(),
    );
    for name in FUNCTIONS {
        for rows in [0, 32, 128, 1024, 8192] {
            let words = format!("function {name} {rows}");
            add(format!("{name}-{rows}"), name, format!("{words} reused"));
            add(format!("{name}-{rows}-new"), name, format!("{words} new"));
        }
    }
    // None, and so many that k-means makes all its rounds.
    add(
        "udo_kmeans-0-32".to_owned(),
        "udo_kmeans.64",
        "operator 0 32".to_owned(),
    );
    for points in [16_384, 32_768, 65_536] {
        for rows in [32, 128, 1024, 8192] {
            let words = format!("operator {points} {rows}");
            add(
                format!("udo_kmeans-{points}-{rows}"),
                "udo_kmeans.64",
                words,
            );
        }
    }
    for name in FUNCTIONS.iter().chain(&["nothing", "udo_kmeans"]) {
        for module in [(*name).to_owned(), format!("{name}.64")] {
            add(format!("create-{module}"), &module, "create".to_owned());
        }
    }
    for columns in [1, 8] {
        add(
            format!("copy-{columns}"),
            "nothing",
            format!("copy {columns}"),
        );
    }
    all
}

/// What both are, whatever is done.
fn of(title: &str, programs: Programs) -> Measured {
    Measured {
        compared: Compared::Kernel,
        variants: vec![Variant::Wasm],
        natives: vec![Variant::Native],
        ..Measured::new(title.to_owned(), programs)
    }
}

fn program(
    home: &Home,
    name: &str,
    args: Vec<String>,
    module: &str,
    why: &str,
    programs: &mut Vec<Program<'static>>,
    notes: &mut Vec<WorkloadNote>,
) -> Result<(), RequestError> {
    let module = home.root().join(MODULES).join(format!("{module}.wasm"));
    let runner = home.root().join(RUNNER);
    is_there(&runner)?;
    is_there(&module)?;
    notes.push(WorkloadNote {
        suite: "sql".to_owned(),
        name: name.to_owned(),
        why: why.to_owned(),
        bytes: module.metadata().ok().map(|module| module.len()),
        ..WorkloadNote::default()
    });
    programs.push(Program {
        suite: "sql".to_owned(),
        name: name.to_owned(),
        size: String::new(),
        args,
        artifact: Box::new(move |variant| match variant.is_wasm() {
            true => module.clone(),
            false => runner.clone(),
        }),
        expected: Expected::SameAs(PathBuf::from(format!("{name}.stdout"))),
        folder: None,
        is_cached: false,
        stack_bytes: None,
        load: None,
    });
    Ok(())
}

fn is_there(file: &Path) -> Result<(), RequestError> {
    ensure(file.is_file(), || {
        format!(
            "{} is not there: `make sql-runner` builds it",
            file.display()
        )
    })
}

/// Refuses what the runner has no use for.
fn applies(request: &Request) -> Result<(), RequestError> {
    ensure(request.size.is_none(), || {
        "--size: how much is done is a part of a workload's name".to_owned()
    })?;
    let is_other = |wanted: &&Wanted| wanted.engine != OWN && wanted.engine != NATIVE;
    ensure(request.threads.is_empty(), || {
        "--threads: a workload's name says how many it has".to_owned()
    })?;
    match request.engines.iter().find(is_other) {
        None => Ok(()),
        Some(other) => Err(RequestError::Refused(format!(
            "--engines {other}: functions in SQL are called by {OWN} and {NATIVE}"
        ))),
    }
}

/// Ours under the strategies, by LLVM under the first, and native code.
fn wanted(env: &Environment<'_>) -> Vec<Wanted> {
    let request = env.request;
    let mut wanted = both(request);
    let is_usual = request.strategies.is_empty() && request.settings.settings().next().is_none();
    if request.engines.is_empty() && is_usual {
        let by_llvm = Wanted {
            strategy: Some("auto".to_owned()),
            backend: Some(Codegen::Llvm.name().to_owned()),
            ..Wanted::own()
        };
        wanted.insert(1, by_llvm);
    }
    wanted
}

/// The engines that were named, or both.
fn both(request: &Request) -> Vec<Wanted> {
    match request.engines.as_slice() {
        [] => [OWN, NATIVE].map(plain).to_vec(),
        named => named.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_and_how_much() {
        for name in USUAL.iter().chain(&QUICK) {
            assert!(kind(name).is_ok(), "{name}");
        }
        let ((_, what, module, _), count) = kind("query-shared-8192").unwrap();
        assert_eq!(
            (what, module, count),
            ("query-kmeans-shared", "udo_kmeans_shared.64", 8192)
        );
        for name in [
            "",
            "kmeans",
            "kmeans-0",
            "kmeans-01",
            "kmeans-1e4",
            "fft-8",
            "-8",
        ] {
            let error = kind(name).unwrap_err().to_string();
            assert!(error.contains(&format!("`{name}`")), "{error}");
        }
    }

    #[test]
    fn each_call_has_a_name_of_its_own() {
        let all = all_calls();
        let mut names: Vec<&String> = all.iter().map(|(name, ..)| name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }
}
