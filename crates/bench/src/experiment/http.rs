//! How many requests an HTTP server on fibers serves, and how fast: with Asyncify, with
//! stack switching and natively.
//!
//! ```text
//!  { peak, requests a second } × { Asyncify, stack switching, native } ─▶ a server each,
//!  driven by oha for so many seconds
//! ```
//!
//! A rate is a program: its name says how many requests are sent in a second, and `peak`
//! sends as many as are answered. Which rates there are is not derived from what servers take,
//! since a campaign is planned before anything is measured: the same rates in each round, on
//! each machine and after a break are what makes its cells comparable. Whoever wants others
//! names them as any workload; the report says which would suit, from the peaks that it has.
//!
//! What must stay true: all servers are sent the same; a request that fails is a wrong answer,
//! so that its server has no latency.

use std::{path::PathBuf, time::Duration};

use fathom_record::{Compared, Experiment, Variant, campaign::WorkloadNote, protocol::Load};

use super::{
    Command, Design, Environment, Measured,
    design::plain,
    measured::{DEFAULT, Programs, names, size},
};
use crate::{
    check::Expected,
    choose::{Controls, NATIVE, OWN, Program, Row, Wanted},
    home::Home,
    request::{RequestError, ensure},
    worker::NO_FAILURE,
};

const NAME: &str = "http";
/// As many requests as are answered.
const PEAK: &str = "peak";
/// The two higher ones are the talk's; its third is more than two processors serve.
const RATES: [&str; 4] = [PEAK, "20000", "40000", "60000"];
/// A first impression.
const QUICK: [&str; 2] = [PEAK, "20000"];
const BUILDS: [Variant; 2] = [Variant::WasmAsyncify, Variant::WasmSwitch];
const CONNECTIONS: u32 = 1000;
/// For how long each server is driven, by size.
const SECONDS: [(&str, u32); 3] = [("small", 1), ("medium", 10), ("large", 60)];

/// How it is measured: one drive is one child, and of a server started anew.
pub(super) static DESIGN: Design = Design {
    experiment: Experiment::Http,
    command: Some(Command::Suite),
    help: "How many requests an HTTP server on fibers serves, and how fast",
    about: "`http`: an HTTP/1.1 server in C on the library of fibers: with Asyncify and with stack \
            switching in Fathom, and native. oha drives it over loopback with 1000 connections, at \
            the highest rate that it serves and at constant rates, the same for all: --workloads \
            peak,20000,40000,60000. --size says for how long: small is 1 second, medium 10, large \
            60. The table is written as http.md, .html and .csv. Needs `python3 workloads/build.py \
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
    let named = names(request, &QUICK);
    let mut names: Vec<String> = Vec::new();
    let all = match named.is_empty() {
        true => RATES.map(str::to_owned).to_vec(),
        false => named,
    };
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(Measured {
        compared: Compared::Run,
        variants: BUILDS.to_vec(),
        strategies: vec![DEFAULT],
        natives: vec![Variant::Native],
        ..Measured::new(
            format!("{NAME}-{size}"),
            servers(home, &names, &size, *seconds)?,
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

/// A server for each rate that is named.
fn servers(
    home: &Home,
    names: &[String],
    size: &str,
    seconds: u32,
) -> Result<Programs, RequestError> {
    let generator = home.tools().join("oha/bin/oha");
    let folder = home.suite(NAME).join("build");
    let (mut programs, mut notes) = (Vec::new(), Vec::new());
    for name in names {
        let rate = rate(name)?;
        let load = Load {
            generator: generator.clone(),
            connections: CONNECTIONS,
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
            name: name.clone(),
            why: format!("{sent}, on {CONNECTIONS} connections, for {seconds} s"),
            ..WorkloadNote::default()
        });
        let folder = folder.clone();
        programs.push(Program {
            suite: NAME.to_owned(),
            name: name.clone(),
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
    Ok((programs, notes))
}

fn artifact(folder: PathBuf, variant: Variant) -> PathBuf {
    let name = match variant.is_wasm() {
        true => "server.wasm",
        false => "server",
    };
    folder.join(variant.name()).join(name)
}

/// The rate of a name; none for the peak.
fn rate(name: &str) -> Result<Option<u32>, RequestError> {
    if name == PEAK {
        return Ok(None);
    }
    match name.parse() {
        // One name for one rate: no sign, no zeros before it.
        Ok(rate) if rate > 0 && format!("{rate}") == name => Ok(Some(rate)),
        _ => Err(RequestError::Refused(format!(
            "http has no workload `{name}`: it is {PEAK}, or how many requests a second, such as \
             20000"
        ))),
    }
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
    use crate::{experiment::Subject, request::Request};

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

    #[test]
    fn a_rate_has_one_name() {
        assert_eq!(rate(PEAK).unwrap(), None);
        assert_eq!(rate("20000").unwrap(), Some(20_000));
        for name in ["", "0", "+5", "05", "1e4", "-1", "9999999999", "Peak"] {
            let error = rate(name).unwrap_err().to_string();
            assert!(error.contains(&format!("`{name}`")), "{error}");
        }
        assert!(RATES.iter().chain(&QUICK).all(|name| rate(name).is_ok()));
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
