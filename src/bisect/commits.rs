//! Commits of an engine in the place of its releases: each in a work tree of its own, where the
//! user's command builds it.
//!
//! ```text
//!  repository ── git worktree add --detach ──▶ TEMPORARY/COMMIT ── sh -c BUILD ──▶ a build
//! ```
//!
//! What must stay true: the user's own work tree, index and branches stay as they are; what was
//! added is taken away again.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use fathom_bench::choose::Wanted;
use fathom_bench::driver::family::{self, End};
use fathom_sys::usage::Ended;
use tempfile::TempDir;

/// Stands for the commit in the command and in what is built.
const COMMIT: &str = "{commit}";
/// Stands for the work tree.
const TREE: &str = "{tree}";
/// How long a build may take.
const BUILD_MOST: Duration = Duration::from_hours(24);

/// Commits, and how each is built.
pub struct Commits {
    repository: PathBuf,
    trees: TempDir,
    command: String,
    /// What is built, with the places of a commit still open.
    engine: Wanted,
    built: BTreeMap<String, Result<(), String>>,
}

impl Commits {
    /// Of a repository; `engine` says what is built.
    ///
    /// # Errors
    /// There is no repository, or all commits would be one build.
    pub fn of(repository: &Path, command: String, engine: &Wanted) -> anyhow::Result<Commits> {
        let build = engine.build.as_deref();
        let varies = build.is_some_and(|build| build.contains(TREE) || build.contains(COMMIT));
        ensure!(
            varies,
            "--engine {engine}: with --build it is NAME=WHAT, and {TREE} in WHAT is where a commit is built"
        );
        let top = line_of(repository, &["rev-parse", "--show-toplevel"]);
        let top = top.with_context(|| format!("--repo {}", repository.display()))?;
        Ok(Commits {
            repository: PathBuf::from(top),
            trees: tempfile::Builder::new()
                .prefix("fathom-bisect-")
                .tempdir()?,
            command,
            engine: engine.clone(),
            built: BTreeMap::new(),
        })
    }

    /// From the good commit to the bad one, these first and last, along first parents.
    ///
    /// # Errors
    /// There is no such commit, or neither is an ancestor of the other.
    pub fn between(&self, good: &str, bad: &str) -> anyhow::Result<Vec<String>> {
        let commit = |name: &str| {
            let full = format!("{name}^{{commit}}");
            let found = self.line(&["rev-parse", "--verify", "--quiet", "--short=12", &full]);
            found.map_err(|_| {
                anyhow::anyhow!("{name}: no such commit in {}", self.repository.display())
            })
        };
        let (good, bad) = (commit(good)?, commit(bad)?);
        let is_before = |one: &str, other: &str| {
            let words = ["merge-base", "--is-ancestor", one, other];
            git(&self.repository, &words).is_ok_and(|output| output.status.success())
        };
        let (from, to) = match (is_before(&good, &bad), is_before(&bad, &good)) {
            (true, _) => (&good, &bad),
            (false, true) => (&bad, &good),
            (false, false) => bail!("{good} and {bad}: neither is an ancestor of the other"),
        };
        let range = format!("{from}..{to}");
        let words = [
            "rev-list",
            "--first-parent",
            "--reverse",
            "--abbrev-commit",
            "--abbrev=12",
            &range,
        ];
        let after = text_of(&self.repository, &words)?;
        let mut all = vec![from.clone()];
        all.extend(after.lines().map(str::to_owned));
        if from != &good {
            all.reverse();
        }
        Ok(all)
    }

    /// Builds a commit, once; why it cannot be, in one line.
    pub fn build(&mut self, commit: &str, stop: &AtomicBool) -> Result<(), String> {
        if let Some(known) = self.built.get(commit) {
            return known.clone();
        }
        let built = self.checked_out(commit, stop);
        self.built.insert(commit.to_owned(), built.clone());
        built
    }

    fn checked_out(&self, commit: &str, stop: &AtomicBool) -> Result<(), String> {
        let tree = self.tree(commit);
        let place = tree.display().to_string();
        let words = ["worktree", "add", "--quiet", "--detach", &place, commit];
        text_of(&self.repository, &words).map_err(|error| format!("{commit}: {error:#}"))?;
        say!("{commit}: building");
        let mut command = Command::new("sh");
        command.arg("-c").arg(self.placed(&self.command, commit));
        let failed = |error: io::Error| format!("{commit}: sh: {error}");
        let log = self.trees.path().join(format!("{commit}.log"));
        let said = File::create(&log).map_err(failed)?;
        command.current_dir(&tree).stdin(Stdio::null());
        command
            .stdout(said.try_clone().map_err(failed)?)
            .stderr(said);
        // What it started ends with it, and with us.
        let why = match family::run(&mut command, BUILD_MOST, stop).map_err(failed)? {
            End::Own(Ended::Exited(0)) => return Ok(()),
            End::Own(ended) => {
                let said = fs::read(&log).unwrap_or_default();
                last_line(&said).unwrap_or_else(|| ended.to_string())
            }
            End::Cancelled => "stopped".to_owned(),
            End::TimedOut | End::Flooded => "not within a day".to_owned(),
        };
        Err(format!("{commit}: it does not build: {why}"))
    }

    /// The engine of a commit.
    pub fn engine(&self, commit: &str) -> Wanted {
        Wanted {
            engine: self.name(commit),
            build: (self.engine.build.as_deref()).map(|build| self.placed(build, commit)),
            ..self.engine.clone()
        }
    }

    /// What it is called.
    pub fn name(&self, commit: &str) -> String {
        format!("{}-{commit}", self.engine.engine)
    }

    fn tree(&self, commit: &str) -> PathBuf {
        self.trees.path().join(commit)
    }

    fn placed(&self, words: &str, commit: &str) -> String {
        let tree = self.tree(commit).display().to_string();
        words.replace(COMMIT, commit).replace(TREE, &tree)
    }

    fn line(&self, words: &[&str]) -> anyhow::Result<String> {
        line_of(&self.repository, words)
    }
}

impl Drop for Commits {
    fn drop(&mut self) {
        for commit in self.built.keys() {
            let tree = self.tree(commit).display().to_string();
            let _ = git(&self.repository, &["worktree", "remove", "--force", &tree]);
        }
    }
}

fn git(repository: &Path, words: &[&str]) -> anyhow::Result<Output> {
    let mut command = Command::new("git");
    command.arg("-C").arg(repository).args(words);
    command.stdin(Stdio::null()).output().context("git")
}

fn text_of(repository: &Path, words: &[&str]) -> anyhow::Result<String> {
    let output = git(repository, words)?;
    let why = || last_line(&output.stderr).unwrap_or_else(|| output.status.to_string());
    ensure!(output.status.success(), "git: {}", why());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn line_of(repository: &Path, words: &[&str]) -> anyhow::Result<String> {
    let text = text_of(repository, words)?;
    let line = text.lines().next().unwrap_or_default();
    Ok(line.to_owned())
}

/// The last line that has anything in it.
fn last_line(said: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(said);
    let last = said.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(last.trim().to_owned())
}
