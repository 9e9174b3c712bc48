//! One engine, and how it ends on a program: a fresh child each time, with a time limit.

use std::fmt;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::Context;
use fathom_bench::choose::Wanted;
use fathom_bench::driver::{DriveError, Driver, ProcessDriver};
use fathom_bench::home::Home;
use fathom_record::FailureKind;
use fathom_record::protocol::{Job, Request};
use fathom_sys::{handed, regular};

use super::Halt;
use crate::one_line::clipped;
use crate::trace::{Given, engine};

/// A program that is tried.
const FILE: &str = "reduced.wasm";

/// An engine.
pub struct Side {
    /// What it is called.
    pub name: String,
    /// When nothing more is tried.
    pub deadline: Option<Instant>,
    limit: Duration,
    driver: ProcessDriver,
    request: Request,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself.
    Own { status: i32, stdout: Vec<u8> },
    /// Otherwise.
    Failed { kind: FailureKind, message: String },
}

/// What is one kind of difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Another answer, or another status.
    Answer,
    /// What became of it instead.
    Failure(FailureKind),
}

impl Side {
    /// An engine that is there.
    ///
    /// # Errors
    /// It is not.
    pub fn of(wanted: &Wanted, home: Option<&Home>, limit: Duration) -> anyhow::Result<Side> {
        let given = Given {
            home,
            dirs: &[],
            env: &[],
            stdin: None,
            words: &[],
        };
        let scratch = tempfile::tempdir().context("no folder for a module")?;
        let prepared = engine::prepared(&given, wanted, FILE.as_ref(), &[], scratch.path());
        let (driver, request) = prepared?;
        Ok(Side {
            name: wanted.name(),
            deadline: None,
            limit,
            driver,
            request,
        })
    }

    /// Runs a program.
    pub fn run(&mut self, wasm: &[u8]) -> Result<Ending, Halt> {
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        let limit = self
            .deadline
            .map_or(self.limit, |at| left(at).min(self.limit));
        if limit.is_zero() {
            return Err(Halt::Budget);
        }
        let scratch = tempfile::tempdir().context("no folder for a module")?;
        let mut request = self.request.clone();
        if let Job::Measure(measure) = &mut request.job {
            measure.module = scratch.path().join("module").join(FILE);
            measure.scratch = scratch.path().to_owned();
            fs::create_dir(scratch.path().join("module"))?;
            fs::write(&measure.module, wasm).context("a copy of the module")?;
        }
        let told = handed::is_told();
        let asked = self.driver.ask(&request, limit, told);
        // A terminal tells the child, too: what became of it then says nothing.
        if told.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(Halt::Told);
        }
        if self.deadline.is_some_and(|at| left(at).is_zero()) {
            return Err(Halt::Budget);
        }
        let failed = |kind, message: &str| Ending::Failed {
            kind,
            message: message.to_owned(),
        };
        Ok(match asked {
            Err(DriveError::Stopped) => return Err(Halt::Told),
            Err(DriveError::Failed { kind, message }) => failed(kind, &message),
            Ok(conversation) => match conversation.iterations.last() {
                None => failed(FailureKind::Protocol, "it reported no run"),
                Some(run) => Ending::Own {
                    status: run.exit,
                    stdout: match &run.stdout {
                        Some(file) => regular::read(file).context("what it wrote")?,
                        None => Vec::new(),
                    },
                },
            },
        })
    }
}

impl Ending {
    /// Whether it printed this and ended with status 0.
    pub fn is_well(&self, answer: &str) -> bool {
        matches!(self, Ending::Own { status: 0, stdout } if stdout == answer.as_bytes())
    }

    /// The hash that it printed, where it ended well, in the place of the one in this answer.
    pub fn answer(&self, made: &str) -> Option<u32> {
        let Ending::Own { status: 0, stdout } = self else {
            return None;
        };
        let (head, _) = made.rsplit_once(' ')?;
        let said = std::str::from_utf8(stdout).ok()?;
        let hash = said.strip_prefix(head)?.strip_prefix(' ')?;
        u32::from_str_radix(hash.strip_suffix('\n')?, 16).ok()
    }

    /// What kind of difference it is, where it is the engine's.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Ending::Own { .. } => Some(Kind::Answer),
            Ending::Failed { kind, .. } => match kind {
                FailureKind::Unsupported
                | FailureKind::Lacking
                | FailureKind::Link
                | FailureKind::Io
                | FailureKind::Protocol => None,
                other => Some(Kind::Failure(*other)),
            },
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Failed { message, .. } => f.write_str(message),
            Ending::Own { status, stdout } => {
                let said = String::from_utf8_lossy(stdout);
                let line = clipped(said.lines().last().unwrap_or_default());
                write!(f, "it prints '{line}' and ends with status {status}")
            }
        }
    }
}
