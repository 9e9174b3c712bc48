//! Native programs as an engine: the same loop, a process per iteration.
//!
//! A program of the host cannot be loaded twice into one process, so each
//! iteration starts a process; its start is the instantiate phase, its life
//! the run phase. Like the reference harness's, the figures include what the
//! kernel takes to start and end it (about 100 µs), which is why a workload's
//! own kernel time is what gets compared.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use fathom_record::{
    Checks, FailureKind, Metric,
    protocol::{COUNT_ENV, Event, Hello, Job, Measure, Request},
};
use fathom_runner::{
    Emitter, Refusal,
    cycle::{Program, RunEnd, Streams},
    measure_program, metrics_of,
};
use fathom_sys::{
    marked,
    modes::CpuClock,
    spawn::spawn_traced,
    usage::{Ended, MemoryUse, Usage, wait_with_memory, wait_with_usage},
};

use super::load::{self, Driven};
use crate::{layout::padding::pad, plan::WORKING};

/// A native executable and how to start it.
pub struct NativeProgram {
    /// The executable.
    pub executable: PathBuf,
    /// Its arguments, its own name excluded.
    pub args: Vec<OsString>,
    /// Where it works; where this process does, if absent.
    pub folder: Option<PathBuf>,
    /// What is added to its environment, which is otherwise empty, as a
    /// sandboxed program's is, but for what finds its children.
    pub env: Vec<(OsString, OsString)>,
    /// Where its stack begins; where it does by itself, if 0.
    pub seed: u64,
    /// What all processes so far have used.
    pub used: Mutex<Usage>,
    /// What the first of them had used of memory when it ended. They are all alike, and
    /// looking costs time: it is done once, in the warm-up where there is one.
    pub memory: OnceLock<MemoryUse>,
    /// Whether somebody looks already.
    pub is_looked_at: AtomicBool,
}

/// A process of the program.
pub struct Running {
    child: Child,
    /// Whether it is looked at before it is over.
    is_traced: bool,
}

/// Why a native run failed.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// It does not start.
    #[error("cannot start {}: {source}", path.display())]
    Start {
        /// The executable.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It cannot be waited for.
    #[error("cannot wait for the program: {0}")]
    Wait(io::Error),
    /// A signal ended it.
    #[error("ended by signal {0}")]
    Signal(i32),
    /// The load that it was put under.
    #[error(transparent)]
    Load(#[from] Refusal),
}

impl Program for NativeProgram {
    type World = Streams;
    type Instance = Running;
    type Error = NativeError;

    fn enter(&self, streams: Streams) -> Result<Streams, NativeError> {
        Ok(streams)
    }

    fn instantiate(&self, streams: Streams) -> Result<Running, NativeError> {
        let mut command = Command::new(&self.executable);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
            .args(&self.args)
            .env_clear()
            .envs(self.env.iter().map(|(key, value)| (key, value)));
        marked::pass_on(&mut command);
        pad(&mut command, self.seed);
        command
            .stdin(streams.stdin.map_or_else(Stdio::null, Stdio::from))
            .stdout(streams.stdout)
            .stderr(streams.stderr);
        // Who is counted has a tracer already.
        let is_counted = std::env::var_os(COUNT_ENV).is_some();
        let is_traced = !is_counted && !self.is_looked_at.swap(true, Ordering::Relaxed);
        let child = match is_traced {
            true => spawn_traced(&mut command),
            false => command.spawn(),
        };
        let child = child.map_err(|source| NativeError::Start {
            path: self.executable.clone(),
            source,
        })?;
        Ok(Running { child, is_traced })
    }

    fn run(&self, running: &mut Running) -> Result<RunEnd, NativeError> {
        let pid = running.child.id();
        let (ended, usage) = match running.is_traced {
            false => wait_with_usage(pid).map_err(NativeError::Wait)?,
            true => {
                let waited = wait_with_memory(pid).map_err(NativeError::Wait)?;
                let (ended, usage, memory) = waited;
                self.memory.get_or_init(|| memory);
                (ended, usage)
            }
        };
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.user_ns += usage.user_ns;
        used.system_ns += usage.system_ns;
        used.faults_minor += usage.faults_minor;
        used.faults_major += usage.faults_major;
        used.ctx_voluntary += usage.ctx_voluntary;
        used.ctx_involuntary += usage.ctx_involuntary;
        match ended {
            Ended::Exited(exit) => Ok(RunEnd {
                exit,
                cpu_ns: Some(usage.cpu_ns()),
            }),
            Ended::Signalled(signal) => Err(NativeError::Signal(signal)),
        }
    }

    fn teardown(&self, running: Running) {
        drop(running);
    }
}

/// Serves a request with a native program.
///
/// # Errors
/// Whatever keeps it from being measured.
pub fn native(request: &Request, emitter: &Emitter) -> Result<(), Refusal> {
    let Job::Measure(measure) = &request.job else {
        let message = "native code has no memory to probe";
        return Err(Refusal::new(FailureKind::Unsupported, message));
    };
    emitter.send(&Event::Hello(Hello {
        engine: "native".into(),
        version: compiler(&measure.module).unwrap_or_else(|| "unknown".into()),
        backend: "ahead of time".into(),
        tier: "optimising".into(),
        checks: Checks::None,
        evidence: format!(
            "the compiler's name for itself in the executable{}",
            load::driven_by(measure)?
        ),
    }))?;
    // The program opens its socket itself, at once where this one was.
    let load = load::listen(measure)?;
    let load = load.map(|(load, listener)| Ok((load, load::address(&listener)?)));
    let load = load.transpose()?;
    let port = load.map(|(_, address)| address.port().to_string());
    let args = measure.args.iter().chain(&port);
    let mut program = NativeProgram {
        executable: measure.module.clone(),
        args: args.map(Into::into).collect(),
        env: measure
            .env
            .iter()
            .map(|(key, value)| (key.into(), value.into()))
            .collect(),
        folder: measure
            .dirs
            .iter()
            .find(|(_, guest)| guest == WORKING)
            .map(|(host, _)| host.clone()),
        seed: measure.seed,
        used: Mutex::default(),
        memory: OnceLock::new(),
        // Where the only run is a timed one nothing is to disturb it; a server's start and
        // end are not what is told of it.
        is_looked_at: AtomicBool::new(
            load.is_none() && measure.warmup == 0 && measure.iterations == 1,
        ),
    };
    match load {
        None => return measured(&program, measure, emitter),
        Some((load, address)) => {
            let tell = |event: &Event| emitter.send(event);
            let clock = |running: &Running| CpuClock::of_process(running.child.id());
            let driven = Driven::new(program, load, address, &measure.scratch, clock, &tell);
            measure_program(&driven, measure, emitter, explained)?;
            program = driven.server;
        }
    }
    tell_of_processes(&program, emitter)
}

/// Measures a program, and tells what its processes used.
pub(super) fn measured(
    program: &NativeProgram,
    measure: &Measure,
    emitter: &Emitter,
) -> Result<(), Refusal> {
    measure_program(program, measure, emitter, explained)?;
    tell_of_processes(program, emitter)
}

fn tell_of_processes(program: &NativeProgram, emitter: &Emitter) -> Result<(), Refusal> {
    let used = *program.used.lock().unwrap_or_else(PoisonError::into_inner);
    let mut metrics = metrics_of(&used);
    let peak = program
        .memory
        .get()
        .and_then(|memory| memory.rss_peak_bytes);
    metrics.extend(peak.map(|bytes| (Metric::RssPeakBytes, bytes)));
    emitter.send(&Event::Process { metrics })
}

fn explained(error: NativeError) -> Refusal {
    let kind = match &error {
        NativeError::Load(refusal) => refusal.kind,
        NativeError::Signal(_) => FailureKind::Crash,
        NativeError::Start { .. } => FailureKind::Invalid,
        NativeError::Wait(_) => FailureKind::Io,
    };
    Refusal::new(kind, error.to_string())
}

/// What an executable says it was compiled by: the text of `.comment`, found
/// without reading the section table, as compilers write it in the clear.
fn compiler(executable: &Path) -> Option<String> {
    let bytes = std::fs::read(executable).ok()?;
    let starts: [&[u8]; 2] = [b"clang version ", b"GCC: ("];
    let at = starts.iter().find_map(|start| {
        bytes
            .windows(start.len())
            .position(|window| window == *start)
    })?;
    let text = bytes[at..]
        .iter()
        .take(100)
        .take_while(|byte| (b' '..=b'~').contains(*byte));
    let text: String = text.map(|&byte| char::from(byte)).collect();
    Some(compiler_name(&text))
}

/// "clang version 20.1.2" of what clang writes, without the address of its
/// sources; "GCC 12.2.0" of "GCC: (Debian 12.2.0-14) 12.2.0".
fn compiler_name(text: &str) -> String {
    if let Some(packaged) = text.strip_prefix("GCC: (") {
        let (_, version) = packaged.split_once(") ").unwrap_or(("", packaged));
        return format!("GCC {version}");
    }
    text.split(" (").next().unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        io::{Read, Seek},
    };

    use super::*;

    fn shell(script: &str) -> NativeProgram {
        NativeProgram {
            executable: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            env: vec![("FROM".into(), "here".into())],
            folder: None,
            seed: 0,
            used: Mutex::default(),
            memory: OnceLock::new(),
            is_looked_at: AtomicBool::new(false),
        }
    }

    fn run_once(program: &NativeProgram) -> (Result<RunEnd, NativeError>, String) {
        let (streams, mut printed) = streams();
        let mut child = program.instantiate(streams).unwrap();
        let end = program.run(&mut child);
        program.teardown(child);
        let mut text = String::new();
        printed.rewind().unwrap();
        printed.read_to_string(&mut text).unwrap();
        (end, text)
    }

    /// Files without names, and one of them again to read what was printed.
    fn streams() -> (Streams, File) {
        let stdout = tempfile::tempfile().unwrap();
        let printed = stdout.try_clone().unwrap();
        let streams = Streams {
            stdin: None,
            stdout,
            stderr: tempfile::tempfile().unwrap(),
        };
        (streams, printed)
    }

    #[test]
    fn output_status_and_cost_are_the_programs_own() {
        let program = shell("echo $FROM; read x || exit 3");
        let (end, printed) = run_once(&program);
        assert_eq!(printed, "here\n");
        let end = end.unwrap();
        assert_eq!(end.exit, 3);
        assert!(end.cpu_ns.is_some() && program.used.lock().unwrap().faults_minor > 0);
    }

    #[test]
    fn memory_is_the_programs_own_whatever_we_use() {
        let ours = std::hint::black_box(vec![1_u8; 64 << 20]);
        let program = shell("exit 0");
        for _ in 0..2 {
            run_once(&program).0.unwrap();
            let peak = program.memory.get().unwrap().rss_peak_bytes.unwrap();
            assert!((64 << 10..16 << 20).contains(&peak), "{peak}");
        }
        drop(ours);
    }

    #[test]
    fn compilers_have_their_name_and_version() {
        let clang = "clang version 20.1.2 (https://sources 0123)";
        assert_eq!(compiler_name(clang), "clang version 20.1.2");
        let gcc = "GCC: (Debian 12.2.0-14+deb12u1) 12.2.0";
        assert_eq!(compiler_name(gcc), "GCC 12.2.0");
        assert_eq!(compiler_name("GCC: (odd"), "GCC odd");
    }

    #[test]
    fn a_crash_and_a_missing_program_are_failures() {
        assert!(matches!(
            run_once(&shell("kill -SEGV $$")).0,
            Err(NativeError::Signal(11))
        ));
        let mut missing = shell("");
        missing.executable = "/no/such/program".into();
        let error = missing.instantiate(streams().0).err().unwrap();
        assert!(
            error
                .to_string()
                .starts_with("cannot start /no/such/program: ")
        );
    }
}
