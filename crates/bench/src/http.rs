//! The HTTP server of `workloads/http` under load: started on loopback, driven by `oha` at as
//! many requests as it takes and at constant rates, told to quit.
//!
//! ```text
//!  fathom run --tcplisten ADDR server.wasm ─┐
//!  server PORT (native) ────────────────────┴─ ready? ─▶ oha -q RATE ─▶ LoadRun ─▶ /quit
//! ```
//!
//! What must stay true: servers are driven in turn within a round, each afresh; server and
//! generator share no processor where there are two; a server that does not end by itself with
//! status 0, or a generator that counts a failure, is told of.

mod oha;

use std::{
    fs, io,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use fathom_record::{
    Variant,
    load::{LoadHeader, LoadRun},
};
use fathom_sys::{pin, usage::Ended};

use crate::{date, driver::family::Family, host, house::House};

pub use oha::version;

/// How long a server may take until it answers, and until it has ended.
const PATIENCE: Duration = Duration::from_secs(20);
/// The rates of the talk, in requests a second.
const RATES: [u32; 3] = [40_000, 60_000, 80_000];
/// Parts of what the slowest server takes, where that is less than those.
const PARTS: [f64; 3] = [0.5, 0.7, 0.9];

/// Why nothing can be driven.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// A server is not built, or the generator is not installed.
    #[error("{} is not there: `python3 workloads/build.py --suite http`", .0.display())]
    Missing(PathBuf),
    /// The system refuses something.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// The generator failed, or said what cannot be read.
    #[error("oha: {0}")]
    Generator(String),
    /// A server did not begin, or did not end.
    #[error("the server {0}")]
    Server(String),
}

/// What is to be driven, and how.
#[derive(Clone, Debug)]
pub struct Load {
    /// Fathom's own program, which hosts the servers in WebAssembly.
    pub fathom: PathBuf,
    /// The generator.
    pub oha: PathBuf,
    /// The servers.
    pub servers: Vec<Server>,
    /// Connections at once.
    pub connections: u32,
    /// How long each is driven at each rate.
    pub seconds: u32,
    /// The server's processor, and the generator's.
    pub cpus: Vec<usize>,
}

/// A build of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// How its fibers are made.
    pub build: Variant,
    /// The module or program.
    pub program: PathBuf,
}

impl Server {
    /// What runs it.
    pub fn engine(&self) -> &'static str {
        match self.build.is_wasm() {
            true => "fathom",
            false => "native",
        }
    }
}

impl Load {
    /// The house's servers, all builds that there are of `builds`.
    ///
    /// # Errors
    /// [`HttpError::Missing`], [`HttpError::System`].
    pub fn of(house: &House, builds: &[Variant], seconds: u32) -> Result<Load, HttpError> {
        let folder = house.suite("http").join("build");
        let server = |build: &Variant| {
            let name = if build.is_wasm() {
                "server.wasm"
            } else {
                "server"
            };
            let program = folder.join(build.name()).join(name);
            match program.exists() {
                true => Ok(Server {
                    build: *build,
                    program,
                }),
                false => Err(HttpError::Missing(program)),
            }
        };
        let servers = builds.iter().map(server).collect::<Result<_, _>>()?;
        let oha = house.tools().join("oha/bin/oha");
        if !oha.exists() {
            return Err(HttpError::Missing(oha));
        }
        let fathom = std::env::current_exe().map_err(|error| system("Fathom's own path", error))?;
        Ok(Load {
            fathom,
            oha,
            servers,
            connections: 1000,
            seconds,
            cpus: pin::allowed_cpus().unwrap_or_default(),
        })
    }

    /// What a file of its runs begins with.
    ///
    /// # Errors
    /// [`HttpError::Generator`].
    pub fn header(&self, tool: &str) -> Result<LoadHeader, HttpError> {
        Ok(LoadHeader {
            date: date::rfc3339(std::time::SystemTime::now()),
            tool: tool.to_owned(),
            generator: oha::version(&self.oha)?,
            connections: self.connections,
            seconds: self.seconds,
            cpus: self.cpus.iter().map(|cpu| *cpu as u32).collect(),
            host: host::collect(),
        })
    }

    /// Drives each server at each rate, and tells of each. Another one is the first in each
    /// round.
    ///
    /// # Errors
    /// What `tell` answers; what goes wrong with a server is told of.
    pub fn round<E>(
        &self,
        round: u32,
        rates: &[Option<u32>],
        mut tell: impl FnMut(&LoadRun) -> Result<(), E>,
    ) -> Result<Vec<LoadRun>, E> {
        let mut runs = Vec::new();
        for rate in rates {
            for at in turns(self.servers.len(), round) {
                let server = &self.servers[at];
                let run = self.drive(server, round, *rate);
                let run = run.unwrap_or_else(|error| LoadRun {
                    trouble: Some(error.to_string()),
                    ..nothing(server, round, *rate)
                });
                tell(&run)?;
                runs.push(run);
            }
        }
        Ok(runs)
    }

    fn drive(&self, server: &Server, round: u32, rate: Option<u32>) -> Result<LoadRun, HttpError> {
        let address = free_address()?;
        let running = self.start(server, address)?;
        let driven = ready(&running, address).and_then(|()| self.oha(address, rate));
        let peak = peak_bytes(running.id());
        let ended = end(running, address);
        let seen = driven?;
        ended?;
        Ok(LoadRun {
            rss_peak_bytes: peak,
            requests: seen.requests,
            failed: seen.failed,
            per_second: seen.per_second,
            p50_ns: seen.p50_ns,
            p99_ns: seen.p99_ns,
            p999_ns: seen.p999_ns,
            max_ns: seen.max_ns,
            ..nothing(server, round, rate)
        })
    }

    fn start(&self, server: &Server, address: SocketAddr) -> Result<Family, HttpError> {
        let own = self.cpus.get(..1).filter(|_| self.cpus.len() > 1);
        let mut command = match server.build.is_wasm() {
            true => {
                let mut command = pinned(own, &self.fathom);
                command
                    .arg("run")
                    .args(["--tcplisten", &address.to_string()]);
                command.arg(&server.program);
                command
            }
            false => {
                let mut command = pinned(own, &server.program);
                command.arg(address.port().to_string());
                command
            }
        };
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let what = format!("cannot start {}", server.program.display());
        Family::start(&mut command, None).map_err(|error| system(&what, error))
    }

    fn oha(&self, address: SocketAddr, rate: Option<u32>) -> Result<oha::Seen, HttpError> {
        let others = self.cpus.get(1..).filter(|cpus| !cpus.is_empty());
        let mut command = pinned(others, &self.oha);
        command.args(["--no-tui", "--output-format", "json", "-w"]);
        command.args(["-c", &self.connections.to_string()]);
        command.args(["-z", &format!("{}s", self.seconds)]);
        if let Some(rate) = rate {
            command.args(["-q", &rate.to_string(), "--latency-correction"]);
        }
        command
            .arg(format!("http://{address}/"))
            .stdin(Stdio::null());
        let done = command
            .output()
            .map_err(|error| system("cannot start oha", error))?;
        if !done.status.success() {
            let text = String::from_utf8_lossy(&done.stderr);
            let line = text.lines().next().unwrap_or("failed without a word");
            return Err(HttpError::Generator(line.to_owned()));
        }
        oha::read(&done.stdout)
    }
}

/// The rates to drive all servers at: the talk's where every server takes more, else parts of
/// what the slowest takes.
pub fn rates(peaks: &[LoadRun]) -> Vec<Option<u32>> {
    let whole = peaks.iter().filter(|run| run.trouble.is_none());
    let slowest = whole
        .map(|run| run.per_second)
        .fold(f64::INFINITY, f64::min);
    if !slowest.is_finite() {
        return Vec::new();
    }
    let fits = |rate: &u32| f64::from(*rate) <= slowest * PARTS[2];
    if RATES.iter().all(fits) {
        return RATES.map(Some).to_vec();
    }
    // In hundreds: a rate that can be said.
    let part = |part: f64| ((slowest * part / 100.0).floor() as u32).max(1) * 100;
    PARTS.map(|one| Some(part(one))).to_vec()
}

/// Whose turn it is, of `count` in this round.
fn turns(count: usize, round: u32) -> impl Iterator<Item = usize> {
    (0..count).map(move |turn| (turn + round as usize) % count)
}

fn nothing(server: &Server, round: u32, rate: Option<u32>) -> LoadRun {
    LoadRun {
        round,
        engine: server.engine().to_owned(),
        build: server.build,
        rate,
        requests: 0,
        failed: 0,
        per_second: 0.0,
        p50_ns: 0,
        p99_ns: 0,
        p999_ns: 0,
        max_ns: 0,
        rss_peak_bytes: None,
        trouble: None,
    }
}

fn system(what: &str, source: io::Error) -> HttpError {
    HttpError::System {
        what: what.to_owned(),
        source,
    }
}

/// A command on these processors, where there are some to name.
fn pinned(cpus: Option<&[usize]>, program: &std::path::Path) -> Command {
    let Some(cpus) = cpus else {
        return Command::new(program);
    };
    let list: Vec<String> = cpus.iter().map(usize::to_string).collect();
    let mut command = Command::new("taskset");
    command.args(["-c", &list.join(",")]).arg(program);
    command
}

/// An address of loopback that nobody uses at the moment.
fn free_address() -> Result<SocketAddr, HttpError> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    listener.map_err(|error| system("no free port of loopback", error))
}

/// Waits until the server answers.
fn ready(running: &Family, address: SocketAddr) -> Result<(), HttpError> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Ok(Some(ended)) = running.ended() {
            return Err(HttpError::Server(format!("ended at once: {ended}")));
        }
        if ask(address, "/").is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")) {
            return Ok(());
        }
        sleep(Duration::from_millis(20));
    }
    Err(HttpError::Server("does not answer".to_owned()))
}

/// Tells the server to quit, and waits until it has; else it is ended.
fn end(running: Family, address: SocketAddr) -> Result<(), HttpError> {
    let told = ask(address, "/quit");
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match running.ended() {
            Ok(Some(Ended::Exited(0))) => return Ok(()),
            Ok(Some(ended)) => return Err(HttpError::Server(format!("ended with {ended}"))),
            Ok(None) if told.is_err() => break,
            Ok(None) => sleep(Duration::from_millis(10)),
            Err(error) => return Err(system("cannot wait for the server", error)),
        }
    }
    drop(running);
    Err(HttpError::Server("did not end at /quit".to_owned()))
}

/// One request on a connection of its own.
fn ask(address: SocketAddr, target: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    write!(
        stream,
        "GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// The largest resident set of a process so far.
fn peak_bytes(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests;
