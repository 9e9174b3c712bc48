//! The runner of functions and operators in SQL, in WebAssembly and natively: one request of the runner
//! protocol in, events out (docs/PROTOCOL.md). `fathom suite sql` and `sql-calls` measure by it.
//!
//! ```text
//!  request ─┬─ probe ─────► fathom-bench, as of any module
//!           └─ measure ─► calls, kmeans, model, queries, rows ─Work─► fathom-runner ─► events
//! ```
//!
//! The first argument of a request says what is done, the others how much of it
//! (`crates/bench/src/experiment/sql.rs`).

mod calls;
mod kmeans;
mod model;
mod native;
mod points;
#[cfg(feature = "datafusion")]
mod queries;
mod rows;
mod work;

use std::{
    collections::BTreeMap, env, fs, path::Path, process::ExitCode, sync::Arc, thread,
    time::Duration,
};

use anyhow::{Context, Error, Result, anyhow, bail};
use fathom_bench::{generator, worker};
use fathom_guest::{Options, Pool};
use fathom_runner::{
    Emitter, Refusal, measure_module,
    record::{
        Checks, FailureKind,
        protocol::{Event, Hello, Job, Measure, Request},
    },
    serve,
};

use crate::work::{By, Program, Work, done};

/// What k-means may take of memory: 20 million points and as much again.
const MEMORY_BYTES: usize = 4 << 30;
/// Of a call, which for k-means is the whole work.
const DEADLINE: Duration = Duration::from_secs(600);

/// An instance for each call.
const NEW: &str = "new";
/// What has one memory for several threads is called so.
const SHARED: &str = "shared";

fn main() -> ExitCode {
    fathom_guest::keep_freed_memory();
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["runner", "fathom"] => serve(|request, to| ours(request, None, to)),
        ["runner", "fathom", "--clang", clang] => {
            serve(|request, to| ours(request, Some(Path::new(clang)), to))
        }
        ["runner", "native"] => serve(native_code),
        _ => {
            eprintln!("fathom-sql-suite: a runner of `fathom suite sql`, which starts it itself");
            ExitCode::from(2)
        }
    }
}

/// Serves a request with our engine.
fn ours(request: &Request, clang: Option<&Path>, to: &Emitter) -> Result<(), Refusal> {
    let Job::Measure(measure) = &request.job else {
        return worker::fathom(request, clang, to);
    };
    let (_, _, hello) = worker::engine_of(measure, clang)?;
    to.send(&Event::Hello(hello))?;
    measured(measure, to, &By::Wasm(&|reuse| pool(measure, clang, reuse)))
}

/// Serves a request with the same in Rust.
fn native_code(request: &Request, to: &Emitter) -> Result<(), Refusal> {
    let Job::Measure(measure) = &request.job else {
        let message = "native code has no memory to probe";
        return Err(Refusal::new(FailureKind::Unsupported, message));
    };
    to.send(&Event::Hello(Hello {
        engine: "native".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        backend: "ahead of time".into(),
        tier: "optimising".into(),
        checks: Checks::None,
        evidence: "functions of this runner, in Rust".into(),
    }))?;
    measured(measure, to, &By::Native)
}

fn measured(measure: &Measure, to: &Emitter, by: &By<'_>) -> Result<(), Refusal> {
    let mut laps = measure.clone();
    if measure.args.iter().any(|word| word.contains(SHARED)) {
        // Its threads are one query's, which starts them itself.
        laps.cpus = Vec::new();
    }
    let compile = |_: &[u8]| work(measure, by).map(Program).map_err(refused);
    measure_module(&laps, to, compile, |_| BTreeMap::new())
}

/// A module as a request has it, by an engine of its own; nothing is cached.
fn pool(measure: &Measure, clang: Option<&Path>, reuse: bool) -> Result<Arc<Pool>> {
    let (engine, own, _) = worker::engine_of(measure, clang)?;
    let options = Options {
        memory_bytes: MEMORY_BYTES,
        deadline: DEADLINE,
        bounds: own.choice,
        reuse,
        ..Options::default()
    };
    let pool = Pool::of_engine(engine, fs::read(&measure.module)?, options);
    let pool = pool.map_err(|what| anyhow!(what))?;
    generator::shares(pool.module()).map_err(|why| anyhow!(why))?;
    Ok(Arc::new(pool))
}

/// What a request says is done.
fn work<'a>(measure: &Measure, by: &'a By<'_>) -> Result<Work<'a>> {
    let words: Vec<&str> = measure.args.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse::<usize>().with_context(|| word.to_owned());
    match (&words[..], by) {
        (["gcd", rows], _) => rows::gcd(by, number(rows)?),
        (["collatz", rows], _) => rows::collatz(by, number(rows)?),
        (["kmeans", points], _) => kmeans::work(by, number(points)?, None),
        (["kmeans-shared1", points], _) => kmeans::work(by, number(points)?, Some(1)),
        (["kmeans-shared", points], _) => kmeans::work(by, number(points)?, Some(processors())),
        (["copy", columns], By::Native) => Ok(calls::copy(number(columns)?)),
        (["nothing", given, returned, rows, how], By::Wasm(pool)) => {
            let shape = [given, returned, rows].map(|word| number(word));
            let [given, returned, rows] = shape;
            Ok(calls::nothing(pool(*how != NEW)?, given?, returned?, rows?))
        }
        (["function", name, rows, how], By::Wasm(pool)) => {
            let is_new = *how == NEW;
            model::function(pool(!is_new)?, name, number(rows)?, is_new)
        }
        (["operator", points, rows], By::Wasm(pool)) => Ok(model::operator(
            pool(false)?,
            number(points)?,
            number(rows)?,
        )),
        (["create"], By::Wasm(pool)) => {
            Ok(Box::new(|| done(|| Ok(pool(true)?.bytes().len() as u64))))
        }
        #[cfg(feature = "datafusion")]
        ([query, count], _) if query.starts_with("query-") => {
            queries::work(measure, by, query, number(count)?)
        }
        #[cfg(not(feature = "datafusion"))]
        ([query, ..], _) if query.starts_with("query-") => bail!(
            "the runner was built without DataFusion: make sql-suite FEATURES=datafusion builds it"
        ),
        _ => bail!("`{}` is nothing that is done so", words.join(" ")),
    }
}

/// Threads of what has one memory for all of them.
fn processors() -> usize {
    thread::available_parallelism()
        .map_or(2, usize::from)
        .max(2)
}

fn refused(error: Error) -> Refusal {
    let unsupported = |error| Refusal::new(FailureKind::Unsupported, format!("{error:#}"));
    error.downcast::<Refusal>().unwrap_or_else(unsupported)
}
