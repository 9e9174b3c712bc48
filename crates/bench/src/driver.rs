//! Asking an engine to measure or probe, whatever it is.
//!
//! A [`Driver`] takes one request and returns the whole [`Conversation`], or
//! the one failure it came to. [`ProcessDriver`] does so with a fresh child
//! process; [`mock::MockDriver`] from a script, so that whatever is built on
//! drivers can be tested without an engine or a clock.

use std::{collections::BTreeMap, sync::atomic::AtomicBool, time::Duration};

use fathom_record::{
    FailureKind, Metric, Phase, Span,
    campaign::{CpuTime, Window},
    protocol::{CallOutcome, Hello, Iteration, Request},
};

pub(crate) mod child;
mod conversation;
pub mod family;
pub mod mock;
mod process;
mod watch;

pub use process::ProcessDriver;

/// Something that can be asked to measure or probe.
pub trait Driver {
    /// The command that starts the runner, for the record.
    fn command(&self) -> Vec<String>;

    /// Asks once, and waits for the end of the answer, at most for `limit`.
    /// When `stop` becomes true the answer is given up.
    ///
    /// # Errors
    /// [`DriveError`]; nothing the engine started is running any more.
    fn ask(
        &mut self,
        request: &Request,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<Conversation, DriveError>;
}

/// Why there is no whole answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DriveError {
    /// It was told to stop.
    #[error("stopped")]
    Stopped,
    /// The engine, the program in it or the way to it failed.
    #[error("{message}")]
    Failed {
        /// What kind of failure.
        kind: FailureKind,
        /// One line for the user.
        message: String,
    },
}

impl DriveError {
    /// A failure with its line.
    pub fn failed(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::Failed {
            kind,
            message: one_line(&message.into()),
        }
    }
}

/// A whole answer: everything a runner said between hello and done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    /// What was in force.
    pub hello: Option<Hello>,
    /// Phases that happen once per process.
    pub phases: BTreeMap<Phase, Span>,
    /// Iterations, counted or not, as they came.
    pub iterations: Vec<Iteration>,
    /// What became of a probe's calls, by their position.
    pub calls: BTreeMap<u32, CallOutcome>,
    /// Totals of the process, by itself.
    pub metrics: BTreeMap<Metric, u64>,
    /// What it looked like from outside.
    pub outside: Outside,
}

/// A child as its parent and the kernel saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outside {
    /// From its start to its end, nanoseconds.
    pub wall_ns: Option<u64>,
    /// Its processor time, all threads, nanoseconds.
    pub cpu_ns: Option<u64>,
    /// What all processors did meanwhile.
    pub cpu_host: Option<CpuTime>,
    /// What the processors it was pinned to did meanwhile.
    pub cpu_pinned: Option<CpuTime>,
    /// What was seen while its counted iterations ran.
    pub window: Option<Window>,
}

/// Joins the lines of a message and bounds its length: a failure is one clear
/// line wherever it is shown.
pub(crate) fn one_line(text: &str) -> String {
    const CHARS_MAX: usize = 400;
    let words: Vec<_> = text.split_whitespace().collect();
    let line = words.join(" ");
    let plain = line.chars().map(|c| if c.is_control() { '�' } else { c });
    let mut short: String = plain.clone().take(CHARS_MAX).collect();
    if plain.count() > CHARS_MAX {
        short.push('…');
    }
    short
}
