//! How a runner is asked to measure or probe, and how it answers.
//!
//! The parent starts a runner, writes one [`Request`] line to its standard
//! input and closes it, and reads [`Event`] lines from the descriptor whose
//! number is in the environment under [`EVENTS_FD_ENV`] (3). The runner's
//! standard output and error carry no meaning.
//!
//! ```text
//!  measure   hello, phase(load), phase(compile), iteration…, process, done
//!  probe     hello, call…, done
//!  either    error, at any point, instead of the rest
//! ```
//!
//! A stream without `done` or `error` is a runner that died. A reader ignores
//! fields it does not know; it refuses events it does not know. What a runner
//! cannot find out it says is `unknown`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::setting::Settings;
use crate::vocabulary::{Checks, FailureKind, Metric, Phase, Span};

mod value;

pub use value::{UnknownValue, WireValue};

/// The protocol's version; a runner refuses any other.
pub const PROTOCOL_VERSION: u32 = 1;

/// Names the descriptor to write events to.
pub const EVENTS_FD_ENV: &str = "FATHOM_EVENTS_FD";

/// Set where functions of the module are to be listed in `/tmp/perf-PID.map`, by an engine that
/// can, for who samples the process.
pub const PERF_MAP_ENV: &str = "FATHOM_PERF_MAP";

/// Set where the code of functions of the module is wanted as well: in `jit-PID.dump` in the
/// folder that the runner was started in.
pub const JITDUMP_ENV: &str = "FATHOM_JITDUMP";

/// Set where somebody counts the instructions of the process and of those that it starts: it
/// does nothing with these that takes them away from who counts, as a tracer would.
pub const COUNT_ENV: &str = "FATHOM_COUNT";

/// Why a line of the protocol was refused.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    /// Spoken by a newer or older parent.
    #[error("protocol version {found} is not spoken here (version {PROTOCOL_VERSION} is)")]
    Version {
        /// The version asked for.
        found: u64,
    },
    /// A mode that this side does not serve.
    #[error("no mode '{found}' is served here (measure and probe are)")]
    Mode {
        /// The mode asked for.
        found: String,
    },
    /// Not a line of the protocol.
    #[error("not a line of the protocol: {0}")]
    Malformed(#[from] serde_json::Error),
}

/// The one line a runner is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Always [`PROTOCOL_VERSION`].
    pub protocol: u32,
    /// What to do.
    #[serde(flatten)]
    pub job: Job,
}

/// What a runner is asked to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum Job {
    /// Time a program.
    Measure(Measure),
    /// Call exports of one instance in order and tell what became of each.
    Probe(Probe),
}

impl From<Measure> for Request {
    fn from(measure: Measure) -> Request {
        Request {
            protocol: PROTOCOL_VERSION,
            job: Job::Measure(measure),
        }
    }
}

impl From<Probe> for Request {
    fn from(probe: Probe) -> Request {
        Request {
            protocol: PROTOCOL_VERSION,
            job: Job::Probe(probe),
        }
    }
}

impl Request {
    /// Reads a request, its version first.
    ///
    /// # Errors
    /// [`ProtocolError::Version`] whatever else a line of another version
    /// holds, then [`ProtocolError::Mode`], else [`ProtocolError::Malformed`].
    pub fn parse(line: &[u8]) -> Result<Request, ProtocolError> {
        #[derive(Deserialize)]
        struct Head {
            protocol: u64,
            mode: Option<String>,
        }
        let Head { protocol, mode } = serde_json::from_slice(line)?;
        if protocol != u64::from(PROTOCOL_VERSION) {
            return Err(ProtocolError::Version { found: protocol });
        }
        if let Some(found) = mode.filter(|name| name != "measure" && name != "probe") {
            return Err(ProtocolError::Mode { found });
        }
        Ok(serde_json::from_slice(line)?)
    }

    /// The request as one line with its newline.
    pub fn to_line(&self) -> String {
        to_line(self)
    }
}

/// A program to time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Absolute path of the module, or of the program for the native runner.
    pub module: PathBuf,
    /// Its arguments after its own name.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its environment, all of it.
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// Folders it may use: path on the host, name for the guest.
    #[serde(default)]
    pub dirs: Vec<(PathBuf, String)>,
    /// A file for its standard input; empty input if absent.
    #[serde(default)]
    pub stdin: Option<PathBuf>,
    /// The bounds-check strategy by the runner's name for it.
    pub strategy: String,
    /// How hard to compile, the code generator, and what else was named of the settings;
    /// the engine's own where nothing was.
    #[serde(flatten, serialize_with = "Settings::in_request")]
    pub settings: Settings,
    /// Instances to run at once, 1 or more, a pinned worker thread each.
    pub threads: u32,
    /// Logical CPUs to pin to: worker `i` on `cpus[i % len]`. Not pinned if empty.
    #[serde(default)]
    pub cpus: Vec<u32>,
    /// Uncounted iterations before the first counted one, per thread.
    #[serde(default)]
    pub warmup: u32,
    /// Counted iterations per thread, 1 or more.
    pub iterations: u32,
    /// A folder for the guests' output, made and removed by the parent.
    pub scratch: PathBuf,
    /// Decides code layout where the engine can vary it; changes every round.
    #[serde(default)]
    pub seed: u64,
    /// A folder for compiled modules; compiled afresh if absent. What is timed then
    /// is a compilation that finds its module there, or there is an error.
    #[serde(default)]
    pub cache: Option<PathBuf>,
    /// Whether each iteration goes on with a [`Phase::Cycle`]. A runner that does
    /// not know it leaves it out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cycle: bool,
    /// Bytes of the stack of a continuation, where the engine can be told; its own if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack_bytes: Option<u64>,
    /// A load that the program, a server, is put under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<Load>>,
    /// Allows strategies that check nothing.
    #[serde(default)]
    pub unsafe_no_bounds: bool,
}

/// Requests over HTTP to a server that listens on a socket of loopback, which its runner
/// gives it, and ends on a request of `/quit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// Absolute path of what makes them: oha.
    pub generator: PathBuf,
    /// Connections at once.
    pub connections: u32,
    /// Requests in a second; as many as are answered if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<u32>,
    /// For so long.
    pub seconds: u32,
    /// Logical CPUs of the generator. Not pinned if empty.
    #[serde(default)]
    pub cpus: Vec<u32>,
}

/// Calls to make, in order, on one instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Absolute path of the module.
    pub module: PathBuf,
    /// The bounds-check strategy by the runner's name for it.
    pub strategy: String,
    /// How hard to compile, the code generator, and what else was named of the settings;
    /// the engine's own where nothing was.
    #[serde(flatten, serialize_with = "Settings::in_request")]
    pub settings: Settings,
    /// Allows strategies that check nothing.
    #[serde(default)]
    pub unsafe_no_bounds: bool,
    /// The calls.
    pub calls: Vec<Call>,
}

/// One call of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Name of the exported function.
    pub export: String,
    /// Its arguments in the text form of [`WireValue`].
    #[serde(default)]
    pub args: Vec<String>,
}

/// One line of a runner's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// What is in force. The first event.
    Hello(Hello),
    /// A phase that happens once per process: load, compile.
    Phase {
        /// The phase that has ended: load or compile.
        phase: Phase,
        /// What it took; the processor time is the whole process's.
        #[serde(flatten)]
        span: Span,
    },
    /// One instance made, run and dropped.
    Iteration(Iteration),
    /// What became of one call of a probe.
    Call {
        /// Its position in the request.
        index: u32,
        /// Results or trap.
        #[serde(flatten)]
        outcome: CallOutcome,
    },
    /// Totals of the process, just before it ends.
    Process {
        /// What could be read; the rest is left out.
        metrics: BTreeMap<Metric, u64>,
    },
    /// The end, without success.
    Error {
        /// What kind of failure.
        kind: FailureKind,
        /// One line for the user.
        message: String,
    },
    /// The end, with success.
    Done,
}

impl Event {
    /// Reads one line.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`] for anything that is not an event.
    pub fn parse(line: &[u8]) -> Result<Event, ProtocolError> {
        Ok(serde_json::from_slice(line)?)
    }

    /// The event as one line with its newline.
    pub fn to_line(&self) -> String {
        to_line(self)
    }

    /// Writes the line at once and flushes.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write_to(&self, mut to: impl Write) -> io::Result<()> {
        to.write_all(self.to_line().as_bytes())?;
        to.flush()
    }
}

/// Configuration in force in a runner, as it found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The engine's name.
    pub engine: String,
    /// Its version as it says itself.
    #[serde(default = "unknown")]
    pub version: String,
    /// The code generator that made the code that runs.
    #[serde(default = "unknown")]
    pub backend: String,
    /// The tier of the code that is timed: `optimising`, `baseline`, `interpreter`…
    #[serde(default = "unknown")]
    pub tier: String,
    /// How accesses are kept inside memory.
    #[serde(default)]
    pub checks: Checks,
    /// How the runner knows.
    #[serde(default = "unknown")]
    pub evidence: String,
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// One instance made, run and dropped on one worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iteration {
    /// The worker, from 0.
    pub thread: u32,
    /// Counts the iterations of this worker from 0, the uncounted ones too.
    pub index: u32,
    /// False while warming up, and after the last counted iteration while
    /// other workers still count.
    pub counted: bool,
    /// Its phases: instantiate, run, teardown.
    pub phases: BTreeMap<Phase, Span>,
    /// The program's exit status.
    pub exit: i32,
    /// Where its standard output was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<PathBuf>,
}

/// What became of one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// It returned these values, in the text form of [`WireValue`].
    Result(Vec<String>),
    /// It trapped with this message.
    Trap(String),
}

fn to_line<T: Serialize>(value: &T) -> String {
    // Maps here have string keys and no writer is involved, so there is
    // nothing that could fail; an unreadable line is still better than a panic.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests;
