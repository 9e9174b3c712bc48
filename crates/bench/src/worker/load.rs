//! A server under load: a program like any other, but that what is told of it is how it
//! answers.
//!
//! ```text
//!  main thread  ── the server ───────────────────────────────▶ ends ─▶ its output, a verdict
//!  another      ── ready? ─▶ oha -q RATE ─▶ /quit ─▶ Seen ─────────────┘
//!                          └─ the server's processor clock ─┘ read here
//! ```
//!
//! What must stay true: the server runs where and as every measured program does, and the
//! generator on other processors where there are some; whatever becomes of the generator, the
//! server is told to quit, and a server that ends early ends the generator. Both are children
//! of this process, which its parent ends with all that it started. Processor time is that of
//! what serves alone, a thread of this process or a process of its own, and of the time of the
//! load alone.

pub(crate) mod descriptors;
mod oha;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use fathom_record::{
    FailureKind, Metric,
    protocol::{Event, Load, Measure},
};
use fathom_runner::{
    Refusal,
    cycle::{Program, RunEnd, Streams},
};
use fathom_sys::{
    modes::{ByMode, CpuClock},
    pin::pin_thread_to,
};

/// What is printed of a load by which no request failed.
pub(crate) const NO_FAILURE: &str = "no request failed";
/// How long a server may take until it answers, and one request of ours at most.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often is looked whether something has happened.
const TICK: Duration = Duration::from_millis(5);

/// A program that is put under load each time that it runs.
pub struct Driven<'a, P: Program> {
    /// The program.
    pub server: P,
    load: &'a Load,
    address: SocketAddr,
    scratch: &'a Path,
    clock: Clock<P>,
    tell: Tell<'a>,
}

/// Whose processor time is the server's; asked of the thread that runs it.
pub type Clock<P> = fn(&<P as Program>::Instance) -> io::Result<CpuClock>;

/// Where events go.
type Tell<'a> = &'a (dyn Fn(&Event) -> Result<(), Refusal> + Sync);

impl<'a, P: Program> Driven<'a, P> {
    /// A program that listens, or will, at an address; files go to the scratch folder.
    pub fn new(
        server: P,
        load: &'a Load,
        address: SocketAddr,
        scratch: &'a Path,
        clock: Clock<P>,
        tell: Tell<'a>,
    ) -> Driven<'a, P> {
        Driven {
            server,
            load,
            address,
            scratch,
            clock,
            tell,
        }
    }

    /// Has requests made until the time is up, then ends the server.
    fn drive(&self, clock: CpuClock, is_over: &AtomicBool) -> Result<Outcome, Refusal> {
        let seen = ready(self.address, is_over).and_then(|()| {
            let start = clock.read().ok();
            let seen = self.generate(is_over)?;
            let used = start.and_then(|start| clock.read().ok()?.since(&start));
            Ok(Outcome { seen, used })
        });
        if is_over.load(Ordering::Relaxed) {
            return seen.and_then(|_| Err(ended_early()));
        }
        let told = ask(self.address, "/quit");
        let seen = seen?;
        told.map_err(|error| io_refusal("the server cannot be told to quit", &error))?;
        Ok(seen)
    }

    fn generate(&self, is_over: &AtomicBool) -> Result<oha::Seen, Refusal> {
        let load = self.load;
        let cpus: Vec<usize> = load.cpus.iter().map(|cpu| *cpu as usize).collect();
        if !cpus.is_empty() {
            // What this thread starts is where it is.
            pin_thread_to(&cpus)
                .map_err(|error| io_refusal("the generator's processors", &error))?;
        }
        let (said, complaints) = (self.file("load.json")?, self.file("load.stderr")?);
        let mut command = Command::new(&load.generator);
        command.args(["--no-tui", "--output-format", "json", "-w"]);
        command.args(["-c", &load.connections.to_string()]);
        command.args(["-z", &format!("{}s", load.seconds)]);
        if let Some(rate) = load.rate {
            command.args(["-q", &rate.to_string(), "--latency-correction"]);
        }
        command.arg(format!("http://{}/", self.address));
        command.stdin(Stdio::null()).stdout(said).stderr(complaints);
        let status = run_until(&mut command, is_over)
            .map_err(|error| io_refusal(&load.generator.display().to_string(), &error))?;
        let read = |name| fs::read(self.scratch.join(name)).unwrap_or_default();
        match status {
            None => Err(ended_early()),
            Some(status) if status.success() => oha::read(&read("load.json")),
            Some(status) => {
                let text = read("load.stderr");
                let text = String::from_utf8_lossy(&text);
                let line = text.lines().next().unwrap_or("not a word");
                let message = format!("oha ended with {status}: {line}");
                Err(Refusal::new(FailureKind::Internal, message))
            }
        }
    }

    fn file(&self, name: &str) -> Result<File, Refusal> {
        let path = self.scratch.join(name);
        File::create(&path).map_err(|error| Refusal::file(&path, &error))
    }
}

impl<P: Program<Error: From<Refusal>>> Program for Driven<'_, P> {
    type World = (P::World, File);
    type Instance = (P::Instance, File);
    type Error = P::Error;

    fn enter(&self, streams: Streams) -> Result<Self::World, P::Error> {
        // What is looked at is the verdict alone, whatever the server prints.
        let printed = streams.stderr.try_clone();
        let printed = printed.map_err(|error| io_refusal("its output", &error))?;
        let verdict = streams.stdout;
        let streams = Streams {
            stdout: printed,
            ..streams
        };
        Ok((self.server.enter(streams)?, verdict))
    }

    fn instantiate(&self, (world, verdict): Self::World) -> Result<Self::Instance, P::Error> {
        Ok((self.server.instantiate(world)?, verdict))
    }

    fn run(&self, (server, verdict): &mut Self::Instance) -> Result<RunEnd, P::Error> {
        let is_over = AtomicBool::new(false);
        let clock = (self.clock)(server);
        let clock = clock.map_err(|error| io_refusal("the server's processor clock", &error))?;
        let (ended, driven) = thread::scope(|scope| {
            let driver = scope.spawn(|| self.drive(clock, &is_over));
            let ended = self.server.run(server);
            is_over.store(true, Ordering::Relaxed);
            (ended, driver.join())
        });
        // Why a server fell says more than that nobody answered.
        let ended = ended?;
        if ended.exit != 0 {
            return Ok(ended);
        }
        let panicked = || Refusal::new(FailureKind::Internal, "what drives the server panicked");
        let outcome = driven.map_err(|_| panicked())??;
        writeln!(verdict, "{}", outcome.seen.verdict())
            .map_err(|error| io_refusal("its output", &error))?;
        (self.tell)(&Event::Process {
            metrics: metrics(&outcome),
        })?;
        Ok(ended)
    }

    fn teardown(&self, (server, _): Self::Instance) {
        self.server.teardown(server);
    }
}

/// What came of a load.
struct Outcome {
    seen: oha::Seen,
    /// What the server used meanwhile, where that can be told.
    used: Option<ByMode>,
}

fn metrics(Outcome { seen, used }: &Outcome) -> BTreeMap<Metric, u64> {
    let mut metrics = BTreeMap::from([
        (Metric::AnswersPerS, seen.per_second.round() as u64),
        (Metric::LatencyP50Ns, seen.p50_ns),
        (Metric::LatencyP90Ns, seen.p90_ns),
        (Metric::LatencyP99Ns, seen.p99_ns),
        (Metric::LatencyP999Ns, seen.p999_ns),
        (Metric::LatencyMaxNs, seen.max_ns),
    ]);
    if let (Some(used), 1..) = (used, seen.answers) {
        metrics.insert(Metric::AnswerUserNs, used.user_ns / seen.answers);
        metrics.insert(Metric::AnswerSystemNs, used.system_ns / seen.answers);
    }
    metrics
}

/// The load of a request, and a socket of loopback that listens for it. From now on this process
/// and its children may have as many descriptors as that takes.
///
/// # Errors
/// Several instances at once, which one socket is not for; no such socket; too few descriptors.
pub fn listen(measure: &Measure) -> Result<Option<(&Load, TcpListener)>, Refusal> {
    let Some(load) = &measure.load else {
        return Ok(None);
    };
    if measure.threads != 1 {
        let message = "a server under load is one instance: threads must be 1";
        return Err(Refusal::new(FailureKind::Unsupported, message));
    }
    descriptors::raise(load.connections)?;
    let listener = listener().map_err(|error| io_refusal("no port of loopback", &error))?;
    Ok(Some((load, listener)))
}

/// As `fathom run --tcplisten` opens them.
fn listener() -> io::Result<TcpListener> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    rustix::net::listen(&listener, i32::MAX)?;
    Ok(listener)
}

/// What drives the server of a request, for what is in force; nothing without a load.
///
/// # Errors
/// It does not say.
pub fn driven_by(measure: &Measure) -> Result<String, Refusal> {
    let Some(load) = &measure.load else {
        return Ok(String::new());
    };
    let said = Command::new(&load.generator).arg("--version").output();
    let said = said.map_err(|error| Refusal::file(&load.generator, &error))?;
    let version = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    Ok(format!("; driven by {version}"))
}

/// Where a socket listens.
///
/// # Errors
/// The system does not say.
pub fn address(listener: &TcpListener) -> Result<SocketAddr, Refusal> {
    listener
        .local_addr()
        .map_err(|error| io_refusal("the socket's address", &error))
}

/// Waits until the server answers.
fn ready(address: SocketAddr, is_over: &AtomicBool) -> Result<(), Refusal> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if is_over.load(Ordering::Relaxed) {
            return Err(ended_early());
        }
        if ask(address, "/").is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")) {
            return Ok(());
        }
        thread::sleep(TICK);
    }
    let message = "the server does not answer";
    Err(Refusal::new(FailureKind::Exit, message))
}

fn ended_early() -> Refusal {
    let message = "the server ended before it was told to quit";
    Refusal::new(FailureKind::Exit, message)
}

/// Runs a command to its end; `None` if something else is over before, and it is ended.
fn run_until(command: &mut Command, is_over: &AtomicBool) -> io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if is_over.load(Ordering::Relaxed) {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(TICK);
    }
}

/// One request on a connection of its own.
fn ask(address: SocketAddr, target: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let request = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn io_refusal(what: &str, error: &io::Error) -> Refusal {
    Refusal::new(FailureKind::Io, format!("{what}: {error}"))
}

#[cfg(test)]
mod tests;
