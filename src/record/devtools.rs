//! A browser that is told what to do, in the DevTools protocol, through a pipe: messages of
//! JSON, each with a zero behind it.
//!
//! What must stay true: it is gone when this is dropped, with all of its processes, and what it
//! writes lies in the folder that it is given.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use fathom_sys::spawn::{EXTRA_FD, spawn_in_group};
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use super::process::deeper_stack;

/// Names of browsers that have the protocol.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// How long an answer may take: a browser that begins reads its profile first.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long it may take to end.
const PARTING: Duration = Duration::from_secs(5);

/// The event that a page is not there, with why.
pub const NOT_SHOWN: &str = "fathom.notShown";

/// Whose message it is: a page, a worker, or the browser.
pub type Session = Option<String>;

/// Something that happened.
#[derive(Debug)]
pub struct Event {
    pub session: Session,
    pub method: String,
    pub params: Value,
}

pub struct Browser {
    child: Child,
    pipe: UnixStream,
    messages: Receiver<Value>,
    /// What came while an answer was waited for.
    events: VecDeque<Event>,
    last_id: u64,
    log: PathBuf,
}

/// The one that is installed.
pub fn find() -> anyhow::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = NAMES
        .iter()
        .flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)));
    all.into_iter().find(|file| file.is_file()).context(
        "pages are recorded in Chromium, which is not installed (Debian: apt-get install chromium)",
    )
}

impl Browser {
    /// Starts one whose files are in a folder.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(program: &Path, folder: &Path, has_sandbox: bool) -> anyhow::Result<Browser> {
        let (pipe, of_browser) = UnixStream::pair()?;
        let home = folder.join("browser");
        fs::create_dir(&home)?;
        let log = home.join("log");
        // It reads from one number and writes to the next: both are the same socket.
        let next = EXTRA_FD + 1;
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("exec \"$0\" \"$@\" {next}>&{EXTRA_FD}")])
            .arg(program)
            .args(["--headless", "--remote-debugging-pipe", "--disable-gpu"])
            .args(["--no-first-run", "--no-default-browser-check"])
            .args(["--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--disable-extensions"])
            .args(deeper_stack().map(|option| format!("--js-flags={option}")))
            .args((!has_sandbox).then_some("--no-sandbox"))
            .arg(format!("--user-data-dir={}", home.display()))
            .arg("about:blank")
            .env("HOME", &home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?);
        let child = spawn_in_group(&mut command, Some(of_browser.as_fd()))
            .with_context(|| program.display().to_string())?;
        drop(of_browser);
        let reader = BufReader::new(pipe.try_clone()?);
        let (said, messages) = channel();
        std::thread::spawn(move || {
            for message in reader.split(0) {
                let Some(message) = message.ok().and_then(|m| serde_json::from_slice(&m).ok())
                else {
                    return;
                };
                if said.send(message).is_err() {
                    return;
                }
            }
        });
        Ok(Browser {
            child,
            pipe,
            messages,
            events: VecDeque::new(),
            last_id: 0,
            log,
        })
    }

    /// Tells it something, and does not wait for the answer.
    pub fn send(&mut self, session: &Session, method: &str, params: Value) -> anyhow::Result<u64> {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.as_str().into();
        }
        let mut bytes = serde_json::to_vec(&message)?;
        bytes.push(0);
        if self.pipe.write_all(&bytes).is_err() {
            return Err(self.ended());
        }
        Ok(self.last_id)
    }

    /// Tells it something; the answer.
    ///
    /// # Errors
    /// It has ended, does not answer, or answers that it cannot.
    pub fn call(
        &mut self,
        session: &Session,
        method: &str,
        params: Value,
    ) -> anyhow::Result<Value> {
        let answer = self.call_within(session, method, params, PATIENCE)?;
        answer.with_context(|| format!("the browser does not answer ({method})"))
    }

    /// The same, or nothing where that takes longer.
    pub fn call_within(
        &mut self,
        session: &Session,
        method: &str,
        params: Value,
        patience: Duration,
    ) -> anyhow::Result<Option<Value>> {
        let id = self.send(session, method, params)?;
        let end = Instant::now() + patience;
        while let Some(mut message) = self.message(end)? {
            if message["id"] == id {
                let error = &message["error"];
                ensure!(
                    error.is_null(),
                    "the browser: {method}: {}",
                    error["message"]
                );
                return Ok(Some(message["result"].take()));
            }
            self.events.extend(event_of(message));
        }
        Ok(None)
    }

    /// What happened, where it does until then.
    ///
    /// # Errors
    /// It has ended.
    pub fn next(&mut self, until: Instant) -> anyhow::Result<Option<Event>> {
        if let Some(event) = self.events.pop_front() {
            return Ok(Some(event));
        }
        while let Some(message) = self.message(until)? {
            if let Some(event) = event_of(message) {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    fn message(&mut self, until: Instant) -> anyhow::Result<Option<Value>> {
        match (self.messages).recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    /// Why it is not there any more.
    fn ended(&mut self) -> anyhow::Error {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let told = log.lines().find(|line| line.contains("sandbox"));
        let told = told.or(log.lines().last()).unwrap_or_default();
        anyhow::anyhow!("the browser ended: {told}")
    }
}

/// An event; of answers that nobody waits for, only that a page cannot be shown.
fn event_of(mut message: Value) -> Option<Event> {
    let why = message["result"]["errorText"].take();
    if why.is_string() {
        return Some(Event {
            session: None,
            method: NOT_SHOWN.to_owned(),
            params: json!({ "description": why }),
        });
    }
    let method = message["method"].as_str()?.to_owned();
    Some(Event {
        session: message["sessionId"].as_str().map(str::to_owned),
        method,
        params: message["params"].take(),
    })
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Its processes end, and write no more into their folder.
        let _ = self.send(&None, "Browser.close", json!({}));
        let end = Instant::now() + PARTING;
        while Instant::now() < end && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(super::LOOK_EVERY);
        }
        let group = Pid::from_child(&self.child);
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
        let _ = self.child.wait();
    }
}
