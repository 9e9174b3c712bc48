//! The inside of a runner process: one request in, events out.
//!
//! `fathom runner NAME` calls [`serve`] with what serves that name; everything
//! about time, threads and warmth is in [`cycle`], the same for all.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{self, Read},
    process::ExitCode,
};

use fathom_record::{
    FailureKind, Metric,
    protocol::{EVENTS_FD_ENV, Event, Job, Measure, Request},
};
use fathom_sys::usage::Usage;

pub mod cycle;
pub(crate) mod fathom;
mod native;

pub use native::native;

use cycle::{CycleError, Laps, Program};

/// Why a request is not served: what becomes the error event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What kind of failure.
    pub kind: FailureKind,
    /// One line.
    pub message: String,
}

impl Refusal {
    /// A refusal with its reason.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
}

/// Where events go. Shared by the measured threads; a line is one write, which
/// a pipe keeps whole up to its atomic size, and the lock beyond that.
#[derive(Debug)]
pub struct Emitter {
    to: std::sync::Mutex<File>,
}

impl Emitter {
    /// Opens the descriptor named in the environment.
    fn from_env() -> Result<Self, String> {
        let number = std::env::var(EVENTS_FD_ENV)
            .ok()
            .and_then(|text| text.parse::<u32>().ok())
            .ok_or(format!(
                "{EVENTS_FD_ENV} does not name a descriptor: this is started by fathom bench"
            ))?;
        let file = OpenOptions::new()
            .write(true)
            .open(format!("/proc/self/fd/{number}"))
            .map_err(|error| format!("descriptor {number} for events: {error}"))?;
        Ok(Self {
            to: std::sync::Mutex::new(file),
        })
    }

    /// Sends one event.
    ///
    /// # Errors
    /// When nobody reads any more.
    pub fn send(&self, event: &Event) -> Result<(), Refusal> {
        let mut to = self
            .to
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        event
            .write_to(&mut *to)
            .map_err(|error| Refusal::new(FailureKind::Io, format!("sending an event: {error}")))
    }
}

/// Serves a request with our own engine.
///
/// # Errors
/// Whatever keeps it from being measured or probed.
pub fn fathom(request: &Request, emitter: &Emitter) -> Result<(), Refusal> {
    match &request.job {
        Job::Measure(measure) => fathom::measure(measure, emitter),
        Job::Probe(probe) => fathom::probe(probe, emitter),
    }
}

/// Reads the request from standard input, serves it, and ends the events with
/// `done` or `error`.
pub fn serve(serve_one: impl FnOnce(&Request, &Emitter) -> Result<(), Refusal>) -> ExitCode {
    let emitter = match Emitter::from_env() {
        Ok(emitter) => emitter,
        Err(why) => {
            eprintln!("fathom runner: {why}");
            return ExitCode::from(2);
        }
    };
    let outcome =
        read_request(io::stdin().lock()).and_then(|request| serve_one(&request, &emitter));
    let (last, status) = match outcome {
        Ok(()) => (Event::Done, ExitCode::SUCCESS),
        Err(Refusal { kind, message }) => (Event::Error { kind, message }, ExitCode::FAILURE),
    };
    match emitter.send(&last) {
        Ok(()) => status,
        Err(_) => ExitCode::FAILURE,
    }
}

fn read_request(mut from: impl Read) -> Result<Request, Refusal> {
    let mut line = Vec::new();
    from.read_to_end(&mut line)
        .map_err(|error| Refusal::new(FailureKind::Io, format!("reading the request: {error}")))?;
    Request::parse(&line).map_err(|error| Refusal::new(FailureKind::Protocol, error.to_string()))
}

/// Runs a program as a request wants it, sending an event per iteration.
fn measure_program<P: Program>(
    program: &P,
    measure: &Measure,
    emitter: &Emitter,
    explain: impl Fn(P::Error) -> Refusal,
) -> Result<(), Refusal> {
    if measure.threads == 0 || measure.iterations == 0 {
        let message = "threads and iterations must be 1 or more";
        return Err(Refusal::new(FailureKind::Protocol, message));
    }
    let laps = Laps {
        threads: measure.threads,
        cpus: measure.cpus.clone(),
        warmup: measure.warmup,
        iterations: measure.iterations,
        scratch: measure.scratch.clone(),
    };
    let report = |iteration| {
        // A parent which no longer reads has given up on us; `done` will fail.
        let _ = emitter.send(&Event::Iteration(iteration));
    };
    cycle::cycle(program, &laps, report).map_err(|error| match error {
        CycleError::Pin { cpu, source } => Refusal::new(
            FailureKind::Unsupported,
            format!("cannot pin a thread to processor {cpu}: {source}"),
        ),
        CycleError::Program(error) => explain(error),
    })
}

/// The part of a process's totals that the kernel counts.
fn metrics_of(usage: &Usage) -> BTreeMap<Metric, u64> {
    BTreeMap::from([
        (Metric::RssPeakBytes, usage.rss_peak_bytes),
        (Metric::FaultsMinor, usage.faults_minor),
        (Metric::FaultsMajor, usage.faults_major),
        (Metric::CtxVoluntary, usage.ctx_voluntary),
        (Metric::CtxInvoluntary, usage.ctx_involuntary),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_must_be_one() {
        let refuse = |text: &str| read_request(text.as_bytes()).unwrap_err();
        assert_eq!(refuse("").kind, FailureKind::Protocol);
        let other = refuse("{\"protocol\":99,\"mode\":\"sing\"}");
        assert!(other.message.contains("version 99"), "{other}");
    }
}
