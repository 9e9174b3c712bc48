//! How many requests an HTTP server on fibers serves, and how fast: with Asyncify, with
//! stack switching and natively.
//!
//! ```text
//!  { peak, requests a second, the same over more connections }
//!                   × { Asyncify, stack switching, native } ─▶ a server each,
//!                     driven by oha for so many seconds
//! ```
//!
//! A demand is a program: its name says how many requests are sent in a second and over how many
//! connections, and `peak` sends as many as are answered. Which demands there are is not derived from what servers take,
//! since a campaign is planned before anything is measured: the same rates in each round, on
//! each machine and after a break are what makes its cells comparable. Whoever wants others
//! names them as any workload; the report says which would suit, from the peaks that it has.
//!
//! What must stay true: all servers are sent the same; a request that fails is a wrong answer,
//! so that its server has no latency; what this process has too few descriptors for is not
//! measured and told of by name.

use std::{path::PathBuf, time::Duration};

use fathom_record::{
    BadDemand, Compared, Demand, Experiment, Variant, campaign::WorkloadNote, protocol::Load,
};

use super::{
    Command, Design, Environment, Measured,
    design::plain,
    measured::{DEFAULT, Programs, names, size},
};
use crate::{
    check::Expected,
    choose::{Absent, Controls, NATIVE, OWN, Program, Row, Wanted},
    home::Home,
    request::{Request, RequestError, ensure},
    worker::{NO_FAILURE, lacks_descriptors as lacks},
};

const NAME: &str = "http";
/// The two highest rates are the talk's; its third is more than two processors serve. The last
/// has ten times as many fibers and the lowest rate's requests.
const DEMANDS: [&str; 5] = ["peak", "20000", "40000", "60000", "20000@10000"];
/// A first impression.
const QUICK: [&str; 2] = ["peak", "20000"];
const BUILDS: [Variant; 2] = [Variant::WasmAsyncify, Variant::WasmSwitch];
/// For how long each server is driven, by size.
const SECONDS: [(&str, u32); 3] = [("small", 1), ("medium", 10), ("large", 60)];

/// How it is measured: one drive is one child, and of a server started anew.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Http,
    command: Some(Command::Suite),
    help: "How many requests an HTTP server on fibers serves, and how fast",
    about: "`http`: an HTTP/1.1 server in C on the library of fibers: with Asyncify and with stack \
            switching in Fathom, and native. oha drives it over loopback, at the highest rate that \
            it serves and at constant rates, the same for all: --workloads \
            peak,20000,40000,60000,20000@10000. Connections are 1000 unless a name says how many \
            behind @, up to 20000. --size says for how long: small is 1 second, medium 10, large \
            60. What a server takes of its processor is told for each answer, and its latencies. \
            The table is written as http.md, .html and .csv. Needs `python3 workloads/build.py \
            --suite http`.",
    budget: Duration::from_secs(20 * 60),
    limit: Duration::from_secs(180),
    warmup: 0,
    iterations: 1,
    iterations_max: 1,
    cell_target: None,
    controls: Controls::First,
    measured,
    wanted,
    absent,
    is_baseline: |row: &Row| row.native == Some(Variant::Native),
    ..Design::USUAL
};

fn measured(env: &Environment<'_>) -> Result<Measured, RequestError> {
    applies(env)?;
    let (request, home) = (env.request, env.suites()?);
    let size = size(request);
    let seconds = SECONDS.iter().find(|(name, _)| *name == size);
    let Some((_, seconds)) = seconds else {
        let known = SECONDS.map(|(name, _)| name).join(", ");
        let words = format!("http has no size {size}; it has: {known}");
        return Err(RequestError::Refused(words));
    };
    if let Some(limit) = request.duration.limit {
        ensure(limit > Duration::from_secs(u64::from(*seconds)), || {
            format!("--time-limit: a server is driven for {seconds} s (--size {size})")
        })?;
    }
    let demands = demands(request)?;
    let lacks = |demand: &&Demand| lacks(demand.connections).is_none();
    let here: Vec<Demand> = demands.iter().filter(lacks).copied().collect();
    ensure(!here.is_empty(), || why_absent(&demands[0]))?;
    Ok(Measured {
        compared: Compared::Run,
        variants: BUILDS.to_vec(),
        strategies: vec![DEFAULT],
        natives: vec![Variant::Native],
        ..Measured::new(
            format!("{NAME}-{size}"),
            servers(home, &here, &size, *seconds),
        )
    })
}

/// Refuses what a server under load has no use for.
fn applies(env: &Environment<'_>) -> Result<(), RequestError> {
    let (request, duration) = (env.request, &env.request.duration);
    ensure(request.threads.is_empty(), || {
        "--threads does not apply to http: a server has one".to_owned()
    })?;
    ensure(
        duration.iterations.is_none() && duration.warmup.is_none(),
        || {
            "--iterations and --warmup do not apply to http: a server is driven once, for as long as \
         --size says"
            .to_owned()
        },
    )?;
    let is_served = |wanted: &&Wanted| wanted.engine == OWN || wanted.engine == NATIVE;
    match request.engines.iter().find(|wanted| !is_served(wanted)) {
        None => Ok(()),
        Some(other) => Err(RequestError::Refused(format!(
            "--engines {other}: http is served by {OWN} and {NATIVE}; runners of other engines \
             have no listening socket to give"
        ))),
    }
}

/// What is named, or all there is, each once.
///
/// # Errors
/// What names no demand.
fn demands(request: &Request) -> Result<Vec<Demand>, RequestError> {
    let named = names(request, &QUICK);
    let all = match named.is_empty() {
        true => DEMANDS.map(str::to_owned).to_vec(),
        false => named,
    };
    let mut demands = Vec::new();
    for name in all {
        let demand = name.parse().map_err(|error: BadDemand| {
            RequestError::Refused(format!("http has no workload `{name}`: {error}"))
        })?;
        if !demands.contains(&demand) {
            demands.push(demand);
        }
    }
    Ok(demands)
}

/// The demands that this process has too few descriptors for.
fn absent(env: &Environment<'_>) -> Result<Vec<Absent>, RequestError> {
    let absent = |demand: &Demand| {
        Some(Absent {
            engine: format!("{NAME} {demand}"),
            why: lacks(demand.connections)?,
            is_wanted: !env.request.workloads.is_empty(),
            install: None,
        })
    };
    Ok(demands(env.request)?.iter().filter_map(absent).collect())
}

fn why_absent(demand: &Demand) -> String {
    let why = lacks(demand.connections).unwrap_or_default();
    format!("{NAME} {demand}: {why}")
}

/// A server for each demand.
fn servers(home: &Home, demands: &[Demand], size: &str, seconds: u32) -> Programs {
    let generator = home.tools().join("oha/bin/oha");
    let folder = home.suite(NAME).join("build");
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    for demand in demands {
        let Demand { rate, connections } = *demand;
        let load = Load {
            generator: generator.clone(),
            connections,
            rate,
            seconds,
            cpus: Vec::new(),
        };
        let sent = match rate {
            None => "as many requests as are answered".to_owned(),
            Some(rate) => format!("{rate} requests a second"),
        };
        notes.push(WorkloadNote {
            suite: NAME.to_owned(),
            name: demand.to_string(),
            why: format!("{sent}, on {connections} connections, for {seconds} s"),
            ..WorkloadNote::default()
        });
        let folder = folder.clone();
        programs.push(Program {
            suite: NAME.to_owned(),
            name: demand.to_string(),
            size: size.to_owned(),
            args: Vec::new(),
            artifact: Box::new(move |variant| artifact(folder.clone(), variant)),
            expected: Expected::Text(NO_FAILURE.to_owned()),
            folder: None,
            is_cached: false,
            stack_bytes: None,
            load: Some(load),
        });
    }
    (programs, notes)
}

fn artifact(folder: PathBuf, variant: Variant) -> PathBuf {
    let name = match variant.is_wasm() {
        true => "server.wasm",
        false => "server",
    };
    folder.join(variant.name()).join(name)
}

/// The engines that were named, or both.
fn wanted(env: &Environment<'_>) -> Vec<Wanted> {
    match env.request.engines.as_slice() {
        [] => [OWN, NATIVE].map(plain).to_vec(),
        named => named.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Subject;

    fn refused(change: impl Fn(&mut Request)) -> String {
        let subject = Subject::named(Command::Suite, NAME).unwrap();
        let mut request = Request::new(subject, PathBuf::from("/"));
        change(&mut request);
        let env = Environment {
            request: &request,
            home: None,
            outside: &[],
        };
        applies(&env).map_or_else(|error| error.to_string(), |()| String::new())
    }

    fn asked(workloads: &[&str], is_quick: bool) -> Result<Vec<String>, String> {
        let subject = Subject::named(Command::Suite, NAME).unwrap();
        let mut request = Request::new(subject, PathBuf::from("/"));
        request.workloads = workloads.iter().map(|name| (*name).to_owned()).collect();
        request.duration.is_quick = is_quick;
        let demands = demands(&request).map_err(|error| error.to_string())?;
        Ok(demands.iter().map(Demand::to_string).collect())
    }

    #[test]
    fn what_is_sent_is_what_is_named_each_once() {
        assert_eq!(asked(&[], false).unwrap(), DEMANDS);
        assert_eq!(asked(&[], true).unwrap(), QUICK);
        let named = ["7@2", "peak", "7", "7@2"];
        assert_eq!(asked(&named, true).unwrap(), ["7@2", "peak", "7"]);
        for (name, why) in [
            ("1e4", "it is peak, or how many requests a second"),
            ("5@20001", "connections are 1 to 20000"),
            ("5@1000", "it is called `5`"),
        ] {
            let error = asked(&["peak", name], false).unwrap_err();
            let words = format!("http has no workload `{name}`: {why}");
            assert!(error.starts_with(&words), "{error}");
        }
    }

    #[test]
    fn what_does_not_apply_is_refused() {
        assert_eq!(refused(|_| {}), "");
        assert!(refused(|request| request.threads = vec![1]).starts_with("--threads"));
        assert!(
            refused(|request| request.duration.iterations = Some(2)).starts_with("--iterations")
        );
        let named = |name: &str| refused(|request| request.engines = vec![plain(name)]);
        assert_eq!((named(OWN), named(NATIVE)), (String::new(), String::new()));
        assert!(named("wasmtime").starts_with("--engines wasmtime: "));
    }
}
