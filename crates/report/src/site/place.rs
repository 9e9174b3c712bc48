//! Where a site is: written beside the place, and then put there whole.
//!
//! ```text
//!  public              the site as it was          ──▶ the new one (rename)
//!  .public.fathom-PID  the new one, being written  ──▶ gone
//! ```
//!
//! What must stay true: whatever fails, the old site is as it was and nothing half-written is
//! left; nothing is removed that is no site of ours; what somebody else put into the site's folder
//! (`.git`, `CNAME`) is moved into the new one.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{CAMPAIGNS, HISTORY, INDEX, SiteError, TRENDS, failed};
use crate::write_whole;

/// The file that says that a folder is a site.
pub const MARK: &str = "fathom-site.json";

/// What a site has at its top.
const OURS: [&str; 5] = [MARK, INDEX, HISTORY, CAMPAIGNS, TRENDS];

#[derive(Serialize, Deserialize)]
struct Mark {
    format: u32,
    tool: String,
}

/// Says that a folder is a site.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn mark(folder: &Path) -> Result<(), SiteError> {
    let mark = Mark {
        format: 1,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let path = folder.join(MARK);
    write_whole(&path, &serde_json::to_vec(&mark)?).map_err(failed(&path))
}

fn is_site(folder: &Path) -> bool {
    let mark = fs::read(folder.join(MARK)).ok();
    mark.is_some_and(|bytes| serde_json::from_slice::<Mark>(&bytes).is_ok())
}

/// A folder for a site until it is at its place; removed if it never gets there.
#[derive(Debug)]
pub struct Beside {
    place: PathBuf,
    folder: PathBuf,
    /// Where the old one is before it is removed.
    old: PathBuf,
}

impl Beside {
    /// For a site at a place.
    ///
    /// # Errors
    /// If there is something else, or no folder can be made beside it.
    pub fn of(place: &Path) -> Result<Beside, SiteError> {
        // A link stays, and leads to the new site.
        let place = fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
        let is_empty = match fs::read_dir(&place) {
            // A branch that is to have a site, and has nothing yet.
            Ok(entries) => entries.flatten().all(|entry| entry.file_name() == ".git"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) => return Err(failed(&place)(error)),
        };
        if !is_empty && !is_site(&place) {
            return Err(SiteError::NotOurs { path: place });
        }
        let parent = match place.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(parent).map_err(failed(parent))?;
        let name = place.file_name().ok_or(io::ErrorKind::InvalidInput.into());
        let name = name.map_err(failed(&place))?;
        let folder = parent.join(hidden(name, "fathom"));
        fs::create_dir(&folder).map_err(failed(&place))?;
        let old = parent.join(hidden(name, "old"));
        Ok(Beside { place, folder, old })
    }

    /// Where to write.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Puts it at its place, and what was there away.
    ///
    /// # Errors
    /// If a folder cannot be moved; the old site is at its place then.
    pub fn publish(self) -> Result<(), SiteError> {
        let old = &self.old;
        let had_one = match fs::rename(&self.place, old) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(failed(&self.place)(error)),
        };
        let moved = match had_one {
            true => keep(old, &self.folder),
            false => Ok(()),
        };
        let placed =
            moved.and_then(|()| fs::rename(&self.folder, &self.place).map_err(failed(&self.place)));
        if !had_one {
            return placed;
        }
        if placed.is_err() {
            // The first error is the one worth telling.
            let _ = keep(&self.folder, old);
            let _ = fs::rename(old, &self.place);
            return placed;
        }
        fs::remove_dir_all(old).map_err(failed(old))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // Best effort: after publishing there is none.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn hidden(name: &std::ffi::OsStr, what: &str) -> OsString {
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{what}-{}", std::process::id()));
    hidden
}

/// Moves what is not ours from one folder to another.
fn keep(from: &Path, to: &Path) -> Result<(), SiteError> {
    for entry in fs::read_dir(from).map_err(failed(from))? {
        let name = entry.map_err(failed(from))?.file_name();
        if !OURS.iter().any(|own| name == *own) {
            let path = from.join(&name);
            fs::rename(&path, to.join(&name)).map_err(failed(&path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
        let mut names: Vec<String> = entries.map(|entry| name(entry).unwrap()).collect();
        names.sort();
        names
    }

    fn put(place: &Path, index: &str) {
        let beside = Beside::of(place).unwrap();
        mark(beside.folder()).unwrap();
        fs::write(beside.folder().join(INDEX), index).unwrap();
        beside.publish().unwrap();
    }

    #[test]
    fn a_site_takes_its_place_whole_and_keeps_what_is_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("deep/public");
        put(&place, "one");
        fs::create_dir(place.join(".git")).unwrap();
        fs::write(place.join("CNAME"), "example.org").unwrap();
        fs::create_dir(place.join(TRENDS)).unwrap();
        put(&place, "two");
        assert_eq!(fs::read_to_string(place.join(INDEX)).unwrap(), "two");
        assert_eq!(names(&place), [".git", "CNAME", MARK, INDEX]);
        assert_eq!(names(&folder.path().join("deep")), ["public"]);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&place, &link).unwrap();
        put(&link, "three");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(place.join(INDEX)).unwrap(), "three");
    }

    #[test]
    fn what_is_never_published_is_never_there() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("public");
        put(&place, "one");
        let beside = Beside::of(&place).unwrap();
        fs::write(beside.folder().join(INDEX), "half").unwrap();
        drop(beside);
        assert_eq!(names(folder.path()), ["public"]);
        assert_eq!(fs::read_to_string(place.join(INDEX)).unwrap(), "one");
    }

    #[test]
    fn what_is_no_site_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("home");
        fs::create_dir(&place).unwrap();
        // An empty folder is as good as none.
        drop(Beside::of(&place).unwrap());
        fs::write(place.join(".git"), "gitdir: elsewhere").unwrap();
        drop(Beside::of(&place).unwrap());
        fs::write(place.join("thesis.tex"), "years of work").unwrap();
        let refused = Beside::of(&place).unwrap_err().to_string();
        assert!(refused.ends_with("home: not empty, and no site of fathom's: name another folder"));
        fs::write(place.join(MARK), "{}").unwrap();
        assert!(Beside::of(&place).is_err());
        assert!(Beside::of(&place.join("thesis.tex")).is_err());
        assert_eq!(names(folder.path()), ["home"]);
    }
}
