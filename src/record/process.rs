//! Recording a program: node, deno or bun run it, with the recorder loaded in front of it
//! through their variables of the environment, so that programs below it have it too.
//!
//! What must stay true: the program gets the signals that we get, and does not outlive us.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use fathom_report::figures;
use fathom_sys::handed::{Running, Waiting};
use fathom_sys::usage::Ended;

use super::{MODULES, PATIENCE, say};
use crate::invocation::Invocation;

/// How often something is said of a program that runs for long.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// What says where the recorder runs.
const ENVIRONMENT: (&str, &str) = ("environment.cjs", include_str!("environment.cjs"));

/// Runs the program, with the recorder in front of it.
///
/// # Errors
/// It cannot be run, or nothing can be recorded of it.
pub fn execute(
    command: &[OsString],
    compare: &str,
    folder: &Path,
    invocation: &Invocation,
) -> anyhow::Result<Ended> {
    let (program, args) = command.split_first().context("no program to record")?;
    let name = Path::new(program).file_stem().unwrap_or_default();
    if ["chromium", "google-chrome", "firefox"]
        .iter()
        .any(|other| name == *other)
    {
        bail!(
            "{}: a page is recorded by: fathom record PAGE.html",
            name.display()
        );
    }
    let is_allowed = |word: &OsString| word == "-A" || word == "--allow-all";
    if name == "deno" && !args.iter().any(is_allowed) {
        bail!("deno: what is recorded needs permissions: deno run --allow-all …");
    }
    let recorder = folder.join("recorder");
    fs::create_dir(&recorder)?;
    for (file, text) in MODULES.into_iter().chain([ENVIRONMENT]) {
        fs::write(recorder.join(file), text)?;
    }
    let preload = recorder.join("preload.cjs").display().to_string();
    // Both take a backslash in quotes for an escape.
    let quoted = preload.replace('\\', r"\\").replace('"', "\\\"");
    let (path, first) = match name == "node" && program == OsStr::new("node") {
        true => (node(invocation)?, deeper_stack()),
        false => (program.clone(), None),
    };
    let mut command = Command::new(&path);
    command
        .arg0(program)
        .args(first)
        .args(args)
        .env("FATHOM_RECORD_FOLDER", folder)
        .env("FATHOM_RECORD_COMPARE", compare);
    let preloading = [
        ("NODE_OPTIONS", " ", format!("--require \"{quoted}\"")),
        ("BUN_OPTIONS", " ", format!("\"--preload={quoted}\"")),
    ];
    // Deno has no option for it in the variable that it shares with node.
    let deeper = deeper_stack().map(|option| ("DENO_V8_FLAGS", ",", option.to_owned()));
    for (variable, between, option) in preloading.into_iter().chain(deeper) {
        let own = std::env::var_os(variable);
        let mut all = own.clone().unwrap_or_default();
        if own.is_some() {
            all.push(between);
        }
        all.push(option);
        command
            .env(variable, all)
            .envs(own.map(|own| (format!("FATHOM_RECORD_{variable}"), own)));
    }
    let mut progress = Progress::new(folder);
    // One that was told to end and is busy, or does not care, is killed.
    let tell = |waiting| match waiting {
        Waiting::IsKilled => say("fathom: the program goes on after a signal: killing it"),
        Waiting::Runs(time) => progress.tell(time),
    };
    let ended = Running::start(&mut command).and_then(|run| run.wait_or_kill(PATIENCE, tell));
    ended.with_context(|| path.display().to_string())
}

/// What is said on a terminal while a program is recorded for long.
struct Progress<'a> {
    folder: &'a Path,
    /// When something is said again; never where nobody watches.
    next: Option<Duration>,
}

impl<'a> Progress<'a> {
    fn new(folder: &'a Path) -> Self {
        let next = io::stderr().is_terminal().then_some(TELL_EVERY);
        Progress { folder, next }
    }

    fn tell(&mut self, time: Duration) {
        let Some(next) = self.next.filter(|next| time >= *next) else {
            return;
        };
        self.next = Some(next + TELL_EVERY);
        let files = fs::read_dir(self.folder).into_iter().flatten().flatten();
        let bytes: u64 = files
            .filter_map(|file| file.metadata().ok())
            .filter(Metadata::is_file)
            .map(|meta| meta.len())
            .sum();
        let bytes = figures::bytes(bytes as f64);
        say(&format!(
            "fathom: recording for {} s: {bytes} so far",
            next.as_secs()
        ));
    }
}

/// A call goes through functions of the recorder, so that it takes more of the stack: what
/// V8 is told to use, where the process has it.
pub fn deeper_stack() -> Option<&'static str> {
    const NEEDED_BYTES: u64 = 8 << 20;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Stack);
    let has_it = limit.current.is_none_or(|bytes| bytes >= NEEDED_BYTES);
    has_it.then_some("--stack-size=3900")
}

/// The node that is measured, where it is installed; the machine's otherwise.
fn node(invocation: &Invocation) -> anyhow::Result<OsString> {
    let home = invocation.home()?;
    let installed = home.map(|home| home.tools().join("engines/node/bin/node"));
    let installed = installed.filter(|node| node.is_file());
    Ok(installed.map_or(OsString::from("node"), PathBuf::into_os_string))
}
