//! What a CI system is told of a comparison: a JUnit file, and annotations.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use fathom_report::cases::{Case, annotations, junit};
use fathom_report::compare_json::Outcome;
use fathom_report::write_whole;

use crate::inputs::{has, start};
use crate::one_line::say;

/// Options of who runs a comparison after each change.
#[derive(clap::Args)]
pub struct Options {
    /// Write a JUnit file: a slowdown that counts, or a time that was lost, is a failure; what is
    /// too noisy to say is skipped
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print annotations for GitHub on standard error; also without this where GITHUB_ACTIONS is
    /// true
    #[arg(long)]
    annotations: bool,
}

/// Whether a file that begins so is a JUnit file.
fn is_junit(start: &[u8]) -> bool {
    start.trim_ascii_start().starts_with(b"<") && has(start, b"<testsuite")
}

impl Options {
    /// Refuses a file that cannot be written before anything is measured for it, and takes away
    /// what an earlier comparison wrote, which says nothing of one that fails.
    pub fn prepare(&self) -> anyhow::Result<()> {
        let Some(path) = &self.junit else {
            return Ok(());
        };
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let is_there = folder.is_none_or(Path::is_dir);
        let file = path.display();
        ensure!(is_there, "--junit {file}: there is no such folder");
        ensure!(!path.is_dir(), "--junit {file}: it is a folder");
        if path.is_file() {
            let is_ours = start(path).is_some_and(|start| start.is_empty() || is_junit(&start));
            ensure!(
                is_ours,
                "--junit {file}: what is there is no JUnit file: write to another file"
            );
            fs::remove_file(path).with_context(|| format!("--junit {file}"))?;
        }
        Ok(())
    }

    /// Tells all that is asked for.
    pub fn tell(&self, title: &str, cases: &[Case], outcome: Outcome) -> anyhow::Result<()> {
        let is_github = || std::env::var_os("GITHUB_ACTIONS").is_some_and(|is| is == "true");
        if self.annotations || is_github() {
            for line in annotations::render(cases, outcome == Outcome::TooNoisy) {
                say(&line);
            }
        }
        if let Some(path) = &self.junit {
            write_whole(path, junit::render(title, cases).as_bytes())
                .with_context(|| format!("--junit {}", path.display()))?;
        }
        Ok(())
    }
}
