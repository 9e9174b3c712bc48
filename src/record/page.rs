//! Recording a page: a browser without a window shows it, with the recorder in front of the
//! scripts of each of its frames and workers.
//!
//! ```text
//!  fathom record PAGE.html ── DevTools protocol ──▶ Chromium
//!     │ files of the page's folder, as http://page.localhost/…  ──▶ page, frames, workers
//!     ◀── what their recorders (src/record/page.cjs) say ──┘
//!     ▼
//!  a folder for each, with what a process of node would have written
//! ```
//!
//! A worker is stopped in front of its first script, since nothing can be evaluated in it
//! before.
//!
//! What must stay true: it comes to an end, whatever the page does; the page's scripts do not
//! find the way to here; of files they see what `site.rs` says.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fathom_replay::record::EVENT_BYTES_MAX;
use fathom_sys::handed;
use serde_json::{Value, json};

use super::devtools::{Browser, Event, NOT_SHOWN, Session, find};
use super::site::{ORIGIN, Site};
use super::{LOOK_EVERY, MODULES, PATIENCE, say};

/// The name of the function that a recorder finds and takes away.
const BINDING: &str = "fathomRecorder";
/// A page that has run nothing for so long has come to its end.
const QUIET: Duration = Duration::from_secs(3);
/// How long one may do nothing until its first module runs.
const BEGINNING: Duration = Duration::from_secs(30);
/// How long a page is recorded where nobody says so.
const LONGEST: Duration = Duration::from_secs(600);
/// How long a page that is busy has to say the last of what it recorded.
const LAST_WORDS: Duration = Duration::from_secs(30);

/// What recorders may say in all.
const BYTES_MAX: u64 = 2 * EVENT_BYTES_MAX;

/// How a page is recorded.
pub struct Options<'a> {
    pub compare: &'a str,
    /// How long, from when it is loaded on; until nothing runs any more where that is not said.
    pub time: Option<Duration>,
    pub has_sandbox: bool,
}

/// A frame or a worker, as the browser tells it apart from others.
#[derive(PartialEq, Eq)]
struct Scope {
    session: Session,
    id: Value,
}

struct Recording<'a> {
    browser: Browser,
    /// Where records go.
    to: &'a Path,
    site: Site,
    recorder: String,
    page: Session,
    scopes: Vec<Scope>,
    /// Folders of recorders, by the name that each has given itself.
    folders: HashMap<String, PathBuf>,
    written: u64,
    loaded: Option<Instant>,
    ran: Option<Instant>,
    /// When the browser last said anything.
    heard: Instant,
    is_over: bool,
}

/// Shows a page, and puts what is recorded of it into folders of a folder.
///
/// # Errors
/// There is no such page, no browser, or it does not run here.
pub fn execute(page: &Path, to: &Path, options: &Options) -> anyhow::Result<()> {
    let site = Site::of(page)?;
    let program = find()?;
    ensure!(
        !options.has_sandbox || !rustix::process::geteuid().is_root(),
        "Chromium has no sandbox when root runs it: record as another user, or, for a page that \
         you trust, with --no-sandbox"
    );
    handed::listen().context("signals")?;
    let mut browser = Browser::start(&program, to, options.has_sandbox)?;
    let version = browser.call(&None, "Browser.getVersion", json!({}))?;
    let host = version["product"].as_str().unwrap_or("a browser");
    let mut recording = Recording {
        recorder: recorder(options.compare, &host.replace('/', " ")),
        browser,
        to,
        site,
        page: None,
        scopes: Vec::new(),
        folders: HashMap::new(),
        written: 0,
        loaded: None,
        ran: None,
        heard: Instant::now(),
        is_over: false,
    };
    recording.show()?;
    recording.watch(options.time)?;
    recording.finish()
}

/// The recorder as one script: its modules, and a function that gives each to the others.
fn recorder(compare: &str, host: &str) -> String {
    let page = include_str!("page.cjs").replace("@COMPARE@", compare);
    let page = page.replace("@HOST@", host);
    let modules = MODULES
        .iter()
        .copied()
        .chain([("environment.cjs", page.as_str())]);
    let functions: String = modules
        .map(|(name, text)| format!("'./{name}': (exports, require) => {{{text}\n}},\n"))
        .collect();
    format!(
        "(() => {{
const modules = {{ {functions} }};
const made = {{}};
const require = (name) => {{
  if (made[name] === undefined) modules[name](made[name] = {{}}, require);
  return made[name];
}};
require('./preload.cjs');
}})();"
    )
}

impl Recording<'_> {
    /// Has the browser show a page, and tell of it.
    fn show(&mut self) -> anyhow::Result<()> {
        let browser = &mut self.browser;
        if self.site.folder.is_some() {
            let patterns = json!([{ "urlPattern": format!("{ORIGIN}*") }]);
            browser.call(&None, "Fetch.enable", json!({ "patterns": patterns }))?;
        }
        let made = browser.call(
            &None,
            "Target.createTarget",
            json!({ "url": "about:blank" }),
        )?;
        let target = json!({ "targetId": made["targetId"], "flatten": true });
        let attached = browser.call(&None, "Target.attachToTarget", target)?;
        self.page = attached["sessionId"].as_str().map(str::to_owned);
        self.prepare(&self.page.clone(), "page")?;
        // All of that is in force once this is answered.
        (self.browser).call(&self.page, "Runtime.evaluate", json!({ "expression": "0" }))?;
        // It is answered when the page has come, which is asked for here.
        let address = json!({ "url": self.site.address });
        (self.browser).send(&self.page, "Page.navigate", address)?;
        Ok(())
    }

    /// Has the recorder in front of the scripts of a page or frame, or a worker stop there.
    fn prepare(&mut self, session: &Session, kind: &str) -> anyhow::Result<()> {
        let begins = match kind.ends_with("worker") {
            true => [
                ("Debugger.enable", json!({})),
                (
                    "Debugger.setInstrumentationBreakpoint",
                    json!({ "instrumentation": "beforeScriptExecution" }),
                ),
            ],
            false => [
                ("Page.enable", json!({})),
                (
                    "Page.addScriptToEvaluateOnNewDocument",
                    json!({ "source": self.recorder }),
                ),
            ],
        };
        let told = [
            ("Runtime.enable", json!({})),
            ("Runtime.addBinding", json!({ "name": BINDING })),
        ];
        // Of its own frames and workers, each of which waits, too.
        let below = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        let goes_on = [
            ("Target.setAutoAttach", below),
            ("Runtime.runIfWaitingForDebugger", json!({})),
        ];
        self.send_all(session, told.into_iter().chain(begins).chain(goes_on))
    }

    /// Puts the recorder into a worker that has stopped there, and lets it go on.
    fn begin_worker(&mut self, session: &Session) -> anyhow::Result<()> {
        let source = json!({ "expression": self.recorder });
        let all = [
            ("Runtime.evaluate", source),
            ("Debugger.disable", json!({})),
        ];
        self.send_all(session, all)
    }

    fn send_all<'a>(
        &mut self,
        session: &Session,
        all: impl IntoIterator<Item = (&'a str, Value)>,
    ) -> anyhow::Result<()> {
        for (method, params) in all {
            self.browser.send(session, method, params)?;
        }
        Ok(())
    }

    /// Looks on until it is over.
    fn watch(&mut self, time: Option<Duration>) -> anyhow::Result<()> {
        let began = Instant::now();
        while !self.is_over && handed::last().is_none() {
            // One at a time: a page may have something to say without end.
            if let Some(event) = self.browser.next(Instant::now() + LOOK_EVERY)? {
                self.happened(event)?;
            }
            // One that waits for something of it without end has begun, too.
            let loaded = self.loaded.unwrap_or(began + BEGINNING).elapsed();
            match (time, self.ran) {
                (Some(time), _) if loaded >= time => return Ok(()),
                (Some(_), _) => {}
                (None, _) if began.elapsed() >= LONGEST => {
                    say(&format!(
                        "fathom: the page goes on after {} s: that is what is recorded; \
                         --for records longer",
                        LONGEST.as_secs()
                    ));
                    return Ok(());
                }
                (None, None) if self.heard.elapsed() >= BEGINNING => return Ok(()),
                (None, Some(ran)) if ran.elapsed() >= QUIET && loaded >= QUIET => {
                    if self.is_quiet()? {
                        return Ok(());
                    }
                }
                (None, _) => {}
            }
        }
        Ok(())
    }

    /// Whether nothing runs in any frame or worker: a busy one does not answer, and says
    /// nothing until it is not.
    fn is_quiet(&mut self) -> anyhow::Result<bool> {
        let ran = self.ran;
        let has_answered = self.in_each_scope("0", QUIET);
        let end = Instant::now() + QUIET;
        while Instant::now() < end
            && let Some(event) = self.browser.next(Instant::now())?
        {
            self.happened(event)?;
        }
        Ok(has_answered && self.ran == ran)
    }

    /// Evaluates something everywhere, one after the other; whether none was busy.
    fn in_each_scope(&mut self, expression: &str, patience: Duration) -> bool {
        let mut has_answered = true;
        for Scope { session, id } in &self.scopes {
            let params = json!({ "expression": expression, "contextId": id });
            let answer = (self.browser).call_within(session, "Runtime.evaluate", params, patience);
            // An error is that of one which is gone, and nothing is lost.
            has_answered &= !matches!(answer, Ok(None));
        }
        has_answered
    }

    /// Has recorders say the last of what they have.
    fn finish(&mut self) -> anyhow::Result<()> {
        let patience = match handed::last() {
            Some(_) => PATIENCE,
            None => LAST_WORDS,
        };
        let end = "dispatchEvent(new Event('fathomrecorderend')), 0";
        self.in_each_scope(end, patience);
        let over = Instant::now() + patience;
        while Instant::now() < over
            && let Some(event) = self.browser.next(Instant::now())?
        {
            if event.method == "Runtime.bindingCalled" {
                self.said(&event.params)?;
            }
        }
        Ok(())
    }

    fn happened(&mut self, event: Event) -> anyhow::Result<()> {
        let Event {
            session,
            method,
            params,
        } = event;
        self.heard = Instant::now();
        match method.as_str() {
            "Runtime.bindingCalled" => self.said(&params)?,
            "Fetch.requestPaused" => self.requested(&params)?,
            "Target.attachedToTarget" => self.attached(&params)?,
            "Debugger.paused" => self.begin_worker(&session)?,
            "Page.loadEventFired" => {
                self.loaded.get_or_insert_with(Instant::now);
            }
            "Runtime.executionContextCreated" => self.scopes.push(Scope {
                session,
                id: params["context"]["id"].clone(),
            }),
            "Runtime.executionContextDestroyed" => {
                let id = params["executionContextId"].clone();
                let gone = Scope { session, id };
                self.scopes.retain(|scope| *scope != gone);
            }
            "Runtime.executionContextsCleared" => {
                self.scopes.retain(|scope| scope.session != session);
            }
            "Target.detachedFromTarget" => {
                let gone = params["sessionId"].as_str();
                self.scopes.retain(|scope| scope.session.as_deref() != gone);
                self.is_over |= self.page.as_deref() == gone;
            }
            // Nobody is there to answer.
            "Page.javascriptDialogOpening" => {
                let yes = json!({ "accept": true });
                (self.browser).send(&session, "Page.handleJavaScriptDialog", yes)?;
            }
            NOT_SHOWN => bail!("the page cannot be shown: {}", shown(&params)),
            "Inspector.targetCrashed" => bail!("the page crashed"),
            "Runtime.consoleAPICalled" => {
                let words = params["args"].as_array().into_iter().flatten();
                let words: Vec<String> = words.map(shown).collect();
                say(&format!("page: {}", words.join(" ")));
            }
            "Runtime.exceptionThrown" => {
                let details = &params["exceptionDetails"];
                let thrown = shown(&details["exception"]);
                say(&format!(
                    "page: {} {thrown}",
                    details["text"].as_str().unwrap_or("")
                ));
            }
            _ => {}
        }
        Ok(())
    }

    /// A page, a frame or a worker is there, and waits.
    fn attached(&mut self, params: &Value) -> anyhow::Result<()> {
        let session = params["sessionId"].as_str().map(str::to_owned);
        if session == self.page || session.is_none() {
            return Ok(());
        }
        let kind = params["targetInfo"]["type"].as_str();
        self.prepare(&session, kind.unwrap_or_default())
    }

    /// A recorder says something: its name, and a part of a file or nothing.
    fn said(&mut self, params: &Value) -> anyhow::Result<()> {
        let said = params["payload"].as_str().unwrap_or_default();
        let mut words = said.split(' ');
        let token = words.next().unwrap_or_default();
        self.ran = Some(Instant::now());
        let (Some(name), Some(bytes)) = (words.next(), words.next()) else {
            return Ok(());
        };
        let is_plain = |text: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.';
            text.bytes().all(plain) && !text.starts_with('.')
        };
        let bytes = STANDARD.decode(bytes).context("what a page has recorded")?;
        self.written += bytes.len() as u64;
        ensure!(
            is_plain(name) && is_plain(token) && self.written <= BYTES_MAX,
            "the page says what no recorder does"
        );
        let number = self.folders.len();
        let folder = match self.folders.get(token) {
            Some(folder) => folder,
            None => {
                let folder = self.to.join(format!("page{number}"));
                fs::create_dir(&folder)?;
                self.folders.entry(token.to_owned()).or_insert(folder)
            }
        };
        let mut file = File::options()
            .append(true)
            .create(true)
            .open(folder.join(name))?;
        Ok(file.write_all(&bytes)?)
    }

    /// Answers what is asked of the page's folder.
    fn requested(&mut self, params: &Value) -> anyhow::Result<()> {
        let address = params["request"]["url"].as_str().unwrap_or_default();
        let answer = match self.site.read(address) {
            Some((bytes, kind)) => json!({
                "requestId": params["requestId"],
                "responseCode": 200,
                "responseHeaders": [{ "name": "content-type", "value": kind }],
                "body": STANDARD.encode(bytes),
            }),
            None => json!({ "requestId": params["requestId"], "responseCode": 404 }),
        };
        self.browser.send(&None, "Fetch.fulfillRequest", answer)?;
        Ok(())
    }
}

/// A value of a page's, in words.
fn shown(value: &Value) -> String {
    match (&value["value"], value["description"].as_str()) {
        (Value::String(text), _) => text.clone(),
        (Value::Null, Some(text)) => text.lines().next().unwrap_or_default().to_owned(),
        (other, _) => other.to_string(),
    }
}
