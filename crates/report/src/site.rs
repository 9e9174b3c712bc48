//! A site of a history, made of files alone: no server, no script, and it is read from a file
//! system as well.
//!
//! ```text
//!  index.html               what changed, trends of means, the list of campaigns
//!  trends/SECTION.html      trends of each workload, every value
//!  campaigns/NAME/          a campaign's report in each form that is a file, and its samples.jsonl
//!  history.json             `fathom history --json` of the site
//!  fathom-site.json         says that it is one
//! ```
//!
//! `campaigns/` is a folder of campaigns itself, so the next site can be made of it and what is
//! new.
//!
//! What must stay true: a site is written beside the place where it is to be, and takes that place
//! whole ([`place`]); what is not ours there is kept.

mod page;
pub mod place;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_record::Estimator;
use fathom_record::campaign::FILE_NAME;

use crate::history::{self, History, Told};
use crate::view::shell;
use crate::{Report, ReportError, write_all};

/// The first page.
const INDEX: &str = "index.html";
/// The folder of campaigns.
const CAMPAIGNS: &str = "campaigns";
/// The folder of sections.
const TRENDS: &str = "trends";
/// The history for programs.
const HISTORY: &str = "history.json";

/// Why there is no site. Each is one line.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// A campaign's report failed, or a file cannot be written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A page failed.
    #[error("rendering a page failed: {0}")]
    Template(#[from] askama::Error),
    /// The history cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A file or a folder cannot be made, copied or moved.
    #[error("{}: {error}", path.display())]
    File {
        /// The file or the folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// There is something else.
    #[error("{}: not empty, and no site of fathom's: name another folder", path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// Somebody asked for an end.
    #[error("stopped; nothing was written")]
    Stopped,
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> SiteError {
    let path = path.to_owned();
    |error| SiteError::File { path, error }
}

/// Writes a site into an empty folder. Rounds are read by an estimator, by default by each
/// campaign's own.
///
/// # Errors
/// If a file cannot be read or written, or `stop` was set.
pub fn write(
    history: &History,
    estimator: Option<Estimator>,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<(), SiteError> {
    place::mark(folder)?;
    let names = unique(history.campaigns.iter().map(of_campaign));
    for (one, name) in history.campaigns.iter().zip(&names) {
        if stop.load(Ordering::Relaxed) {
            return Err(SiteError::Stopped);
        }
        campaign(one, name, estimator, folder)?;
    }
    let sections = unique(history.sections.iter().map(of_section));
    let mut files = Vec::new();
    for (section, name) in history.sections.iter().zip(&sections) {
        let page = page::section(history, section, &names)?;
        files.push((format!("{TRENDS}/{name}.html"), page));
    }
    files.push((
        INDEX.to_owned(),
        page::index(history, &names, &sections, folder)?,
    ));
    files.push((HISTORY.to_owned(), history::json(&here(history, &names))?));
    Ok(write_all(folder, &files)?)
}

/// A campaign's samples and reports.
fn campaign(
    told: &Told,
    name: &str,
    estimator: Option<Estimator>,
    folder: &Path,
) -> Result<(), SiteError> {
    let folder = folder.join(CAMPAIGNS).join(name);
    fs::create_dir_all(&folder).map_err(failed(&folder))?;
    let samples = folder.join(FILE_NAME);
    // Not `fs::copy`, which copies permissions, too: a site is read by others.
    let mut from = fs::File::open(&told.results.samples).map_err(failed(&told.results.samples))?;
    let mut to = fs::File::create(&samples).map_err(failed(&samples))?;
    io::copy(&mut from, &mut to).map_err(failed(&samples))?;
    let mut report = Report::open_by(&folder, None, estimator)?;
    report.view.samples_file = FILE_NAME.to_owned();
    report.view.home = Some(format!("../../{INDEX}"));
    report.view.resume = shell(&["fathom", "bench", "--resume", name]);
    report.save_all(None)?;
    Ok(())
}

/// The history as it is in the site.
fn here(history: &History, names: &[String]) -> History {
    let mut here = history.clone();
    for (one, name) in here.campaigns.iter_mut().zip(names) {
        one.results.folder = Path::new(CAMPAIGNS).join(name);
    }
    here
}

fn of_campaign(one: &Told) -> String {
    slug(&[one.day(), &one.header.name])
}

fn of_section(section: &history::Section) -> String {
    let threads = format!("t{}", section.threads);
    let host = section.host.get(..8).unwrap_or(&section.host);
    slug(&[&section.suite, &section.size, &threads, host])
}

/// A name of letters, digits and dashes, so that it is the same in a path and in a link.
fn slug(parts: &[&str]) -> String {
    const LENGTH_MAX: usize = 80;
    let text = parts.join("-").to_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut name = words.join("-");
    name.truncate(LENGTH_MAX);
    match name.is_empty() {
        true => "unnamed".to_owned(),
        false => name,
    }
}

/// Names of which none is there twice: a number is added where one would be.
fn unique(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let name = |name: String| {
        let others = (2..).map(|number| format!("{name}-{number}"));
        let mut all = std::iter::once(name.clone()).chain(others);
        all.find(|name| seen.insert(name.clone())).unwrap_or(name)
    };
    names.map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_differ() {
        assert_eq!(slug(&["2026-10-01", "../é <b>/x"]), "2026-10-01-b-x");
        assert_eq!(slug(&["", "…"]), "unnamed");
        let names = ["a", "a", "a-2", "b"].map(str::to_owned);
        assert_eq!(unique(names.into_iter()), ["a", "a-2", "a-2-2", "b"]);
    }
}
