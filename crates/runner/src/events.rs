//! The two ends of a runner: the request from standard input, the events to
//! the descriptor that the parent named.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    path::Path,
    process::ExitCode,
};

use fathom_record::{
    FailureKind,
    protocol::{EVENTS_FD_ENV, Event, ProtocolError, Request},
};

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
    /// A refusal with its reason. Of a reason of several lines the others
    /// follow the first on its line.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        let mut message: String = message.into();
        if message.contains(['\n', '\r']) {
            let lines = message.lines().map(str::trim);
            message = lines
                .filter(|l| !l.is_empty())
                .collect::<Vec<_>>()
                .join(" ");
        }
        Self { kind, message }
    }

    /// A file that cannot be read or written.
    pub fn file(path: &Path, error: &io::Error) -> Self {
        Self::new(FailureKind::Io, format!("{}: {error}", path.display()))
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
        // By its name, not by its number: a number that names nothing is an error here,
        // where taking it over would close whatever it names.
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
    // To the end, not to the newline: a parent that dies in the middle has asked for
    // nothing.
    from.read_to_end(&mut line)
        .map_err(|error| Refusal::new(FailureKind::Io, format!("reading the request: {error}")))?;
    Request::parse(&line).map_err(|error| {
        let kind = match error {
            ProtocolError::Version { .. } | ProtocolError::Mode { .. } => FailureKind::Unsupported,
            ProtocolError::Malformed(_) => FailureKind::Internal,
        };
        Refusal::new(kind, error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_must_be_one() {
        let refuse = |text: &str| read_request(text.as_bytes()).unwrap_err();
        assert_eq!(refuse("").kind, FailureKind::Internal);
        let other = refuse("{\"protocol\":99,\"mode\":\"sing\"}");
        assert!(other.message.contains("version 99"), "{other}");
        let other = refuse("{\"protocol\":1,\"mode\":\"sing\"}");
        assert_eq!(other.kind, FailureKind::Unsupported);
        assert!(other.message.contains("sing"), "{other}");
    }

    #[test]
    fn a_reason_is_one_line() {
        let refusal = Refusal::new(FailureKind::Link, "it failed\n\nCaused by:\n    0: that\n");
        assert_eq!(refusal.message, "it failed Caused by: 0: that");
    }
}
