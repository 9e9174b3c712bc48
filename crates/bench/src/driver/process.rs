//! A fresh child for each question.

use std::{
    ffi::OsString,
    path::PathBuf,
    process::Command,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use fathom_record::{
    FailureKind,
    protocol::{Job, Request},
};
use fathom_sys::usage::CpuTimes;

use super::{
    Conversation, DriveError, Driver, Outside,
    child::{Limit, Remains, supervise_watched},
    conversation::understand,
    watch::{Watcher, cpu_time},
};
use crate::layout::padding::pad;

/// Starts the same runner command anew for each question.
#[derive(Clone, Debug)]
pub struct ProcessDriver {
    program: PathBuf,
    args: Vec<OsString>,
}

impl ProcessDriver {
    /// A driver for this program.
    pub fn new(
        program: impl Into<PathBuf>,
        args: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        Self {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
        }
    }

    /// The same program, started by another, which is given it with its
    /// arguments: a tracer.
    #[must_use]
    pub fn under(&self, starter: &[OsString]) -> Self {
        let Some((program, args)) = starter.split_first() else {
            return self.clone();
        };
        let own = std::iter::once(self.program.clone().into_os_string());
        let own = own.chain(self.args.iter().cloned());
        Self {
            program: program.into(),
            args: args.iter().cloned().chain(own).collect(),
        }
    }

    /// Whether this runner starts a process for each iteration: native programs and commands.
    pub(crate) fn starts_processes(&self) -> bool {
        let mut words = self.args.iter().filter_map(|word| word.to_str());
        words.next() == Some("runner") && matches!(words.next(), Some("native" | "command"))
    }

    pub(crate) fn to_command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        command
    }
}

impl Driver for ProcessDriver {
    fn command(&self) -> Vec<String> {
        let program = self.program.as_os_str();
        let words = std::iter::once(program).chain(self.args.iter().map(OsString::as_os_str));
        words
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    fn ask(
        &mut self,
        request: &Request,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<Conversation, DriveError> {
        let mut watcher = Watcher::new(pinned(request));
        let before = CpuTimes::read().ok();
        let started = Instant::now();
        let mut command = self.to_command();
        if let Job::Measure(measure) = &request.job {
            pad(&mut command, measure.seed);
        }
        let line = request.to_line();
        let remains = supervise_watched(
            &mut command,
            line.as_bytes(),
            Limit::Whole(limit),
            stop,
            &mut watcher,
        )
        .map_err(|error| {
            let message = format!("cannot start {}: {error}", self.program.display());
            DriveError::failed(FailureKind::Unsupported, message)
        })?;
        let wall = started.elapsed();
        let mut conversation = understand(&remains, &format!("{limit:?}"))?;
        conversation.outside = Outside {
            window: watcher.window(),
            ..outside(&remains, wall, before, request)
        };
        Ok(conversation)
    }
}

/// The processors that a request pins threads to.
fn pinned(request: &Request) -> Vec<usize> {
    match &request.job {
        Job::Measure(measure) => {
            let count = measure.threads as usize;
            measure
                .cpus
                .iter()
                .take(count)
                .map(|&cpu| cpu as usize)
                .collect()
        }
        Job::Probe(_) => Vec::new(),
    }
}

fn outside(
    remains: &Remains,
    wall: Duration,
    before: Option<CpuTimes>,
    request: &Request,
) -> Outside {
    let pinned = pinned(request);
    let spent = before
        .zip(CpuTimes::read().ok())
        .map(|(before, after)| after.since(&before));
    Outside {
        wall_ns: u64::try_from(wall.as_nanos()).ok(),
        cpu_ns: Some(remains.usage.cpu_ns()),
        cpu_host: spent.as_ref().map(|spent| cpu_time(&spent.all())),
        cpu_pinned: spent
            .as_ref()
            .filter(|_| !pinned.is_empty())
            .and_then(|spent| spent.of(&pinned))
            .map(|share| cpu_time(&share)),
        window: None,
    }
}
