//! What is probed: something that makes calls and tells what became of them.
//! The one that matters is a runner in a child of its own.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fathom_record::protocol::{Call, CallOutcome, Event, Probe, Request};
use fathom_record::{FailureKind, Sandbox};
use fathom_sys::usage::Ended;

use crate::driver::ProcessDriver;
use crate::driver::{
    child::{Limit, Remains, supervise},
    family::End,
};
use crate::scratch::Scratch;

/// How long a call may take, and making an instance, unless the user says otherwise.
pub const TIME_LIMIT: Duration = Duration::from_secs(120);

/// Something that can be probed.
pub trait Subject {
    /// Makes the calls, in order, on one instance of a module.
    ///
    /// # Errors
    /// When the subject could not be started or asked. What it does then is
    /// never an error: see [`Ending`].
    fn call_all(&mut self, module: &[u8], calls: Vec<Call>) -> Result<Answers, SubjectError>;
}

/// What became of some calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// Of each call, in order; fewer than there were calls unless it is done.
    pub outcomes: Vec<CallOutcome>,
    /// How it ended.
    pub ending: Ending,
}

/// How a subject's answers ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With the last call.
    Done,
    /// It found bytes changed that are not the memory's.
    Escaped(String),
    /// It died during the next call.
    Died(String),
    /// It said that it does not want to, before or between calls.
    Refused(String),
    /// It ended before the first call and said nothing.
    Stillborn(String),
}

/// Why a subject could not be probed at all.
#[derive(Debug, thiserror::Error)]
pub enum SubjectError {
    /// It does not start, or its module cannot be written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The user wants to stop.
    #[error("interrupted")]
    Cancelled,
    /// It or this machine cannot do what even the simplest scenario needs.
    #[error("{0}")]
    Refused(String),
    /// It does not speak the protocol.
    #[error("does not speak the protocol: {0}")]
    Protocol(String),
}

/// An engine's runner, started anew for each scenario.
pub struct Runner<'a> {
    /// Starts it.
    pub driver: &'a ProcessDriver,
    /// Strategy, level and code generator to ask for.
    pub sandbox: &'a Sandbox,
    /// How long a call may take, and all that comes before the first: what takes
    /// longer hangs.
    pub time_limit: Duration,
    /// Set when the user wants to stop.
    pub cancel: &'a AtomicBool,
}

impl Runner<'_> {
    fn request(&self, module: &Path, calls: Vec<Call>) -> Request {
        Request::from(Probe {
            module: module.to_owned(),
            strategy: self.sandbox.strategy.clone(),
            settings: self.sandbox.settings.clone(),
            unsafe_no_bounds: true,
            calls,
        })
    }
}

impl Subject for Runner<'_> {
    fn call_all(&mut self, module: &[u8], calls: Vec<Call>) -> Result<Answers, SubjectError> {
        let folder = Scratch::new()?;
        let path = folder.path().join("probe.wasm");
        std::fs::write(&path, module)?;
        let asked = calls.len();
        let request = self.request(&path, calls).to_line();
        let mut command = self.driver.to_command();
        let remains = supervise(
            &mut command,
            request.as_bytes(),
            // Its compiler may take long, and so may many calls: neither hangs.
            Limit::Silence(self.time_limit),
            self.cancel,
        )?;
        if remains.end == End::Cancelled {
            return Err(SubjectError::Cancelled);
        }
        read_answers(&remains, asked, self.time_limit)
    }
}

/// Reads a runner's events; what is missing at their end is told by how it ended.
fn read_answers(
    remains: &Remains,
    asked: usize,
    time_limit: Duration,
) -> Result<Answers, SubjectError> {
    let mut outcomes = Vec::with_capacity(asked);
    for line in remains.events.split_inclusive(|byte| *byte == b'\n') {
        // A line without its end is what a runner that died left behind.
        if !line.ends_with(b"\n") {
            break;
        }
        let event =
            Event::parse(line).map_err(|error| SubjectError::Protocol(error.to_string()))?;
        match event {
            Event::Call { index, outcome } if index as usize == outcomes.len() => {
                outcomes.push(outcome);
            }
            Event::Call { index, .. } => {
                let text = format!("call {index} was answered as call {}", outcomes.len());
                return Err(SubjectError::Protocol(text));
            }
            Event::Error { kind, message } => {
                let ending = match kind {
                    FailureKind::Unsound => Ending::Escaped(message),
                    _ => Ending::Refused(message),
                };
                return Ok(Answers { outcomes, ending });
            }
            Event::Done if outcomes.len() < asked => {
                let text = format!("{} of {asked} calls were answered", outcomes.len());
                return Err(SubjectError::Protocol(text));
            }
            Event::Done => {
                let ending = Ending::Done;
                return Ok(Answers { outcomes, ending });
            }
            Event::Hello(_) | Event::Phase { .. } | Event::Iteration(_) | Event::Process { .. } => {
            }
        }
    }
    let how = match remains.end {
        End::Own(Ended::Signalled(signal)) => format!("died of signal {signal}"),
        End::Own(Ended::Exited(status)) => format!("ended with status {status}"),
        End::TimedOut => format!("said nothing for {} s", time_limit.as_secs()),
        End::Flooded => "wrote more than any runner should".to_owned(),
        End::Cancelled => return Err(SubjectError::Cancelled),
    };
    // Before the first answer it is the engine that does not start, not a call.
    let ending = if outcomes.is_empty() {
        let said = String::from_utf8_lossy(&remains.stderr_tail);
        let last = said.lines().rfind(|line| !line.trim().is_empty());
        Ending::Stillborn(format!(
            "{how} before the first call: {}",
            last.unwrap_or("")
        ))
    } else {
        Ending::Died(how)
    };
    Ok(Answers { outcomes, ending })
}
