//! Folders for what a process and its children write, gone when nobody needs them.
//!
//! A folder goes with its [`Scratch`]. Who is killed removes nothing, so what must stay true is
//! that every folder is locked while somebody uses it: the kernel takes a dead process's locks
//! away, and who makes its first folder removes those that nobody holds (`flock(2)`).

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use tempfile::TempDir;

/// What the names of all of them begin with.
const PREFIX: &str = "fathom-scratch-";

/// A younger one may not be locked yet.
const YOUNG: Duration = Duration::from_secs(60);

/// Where it was looked for what dead processes left.
static SWEPT: LazyLock<Mutex<BTreeSet<PathBuf>>> = LazyLock::new(Mutex::default);

/// A folder of one process; it goes with this.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// A new one in another folder.
    ///
    /// # Errors
    /// It cannot be made there.
    pub fn new_in(parent: &Path) -> io::Result<Scratch> {
        let swept = SWEPT.lock();
        if swept.is_ok_and(|mut swept| swept.insert(parent.to_owned())) {
            sweep(parent, YOUNG);
        }
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        let lock = opened(folder.path())?;
        flock(&lock, FlockOperation::LockExclusive)?;
        Ok(Scratch {
            folder,
            _lock: lock,
        })
    }

    /// A new one among the temporary folders of the machine.
    ///
    /// # Errors
    /// It cannot be made there.
    pub fn new() -> io::Result<Scratch> {
        Scratch::new_in(&std::env::temp_dir())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn opened(folder: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(open(folder, flags, Mode::empty())?.into())
}

/// Removes what processes left that were killed: folders of this user's that nobody holds.
fn sweep(parent: &Path, young: Duration) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    let of_ours = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
    });
    for path in of_ours.map(|entry| entry.path()) {
        // What cannot be looked at or removed is not in anybody's way.
        let _ = remove_if_left(&path, young);
    }
}

fn remove_if_left(path: &Path, young: Duration) -> io::Result<()> {
    let folder = opened(path)?;
    let about = folder.metadata()?;
    let age = about.modified()?.elapsed().unwrap_or_default();
    let is_own = about.uid() == rustix::process::geteuid().as_raw();
    if !is_own || age < young {
        return Ok(());
    }
    flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
    fs::remove_dir_all(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_nobody_holds_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let held = Scratch::new_in(parent.path()).unwrap();
        fs::write(held.path().join("some"), "thing").unwrap();
        let left = parent.path().join(format!("{PREFIX}left"));
        fs::create_dir_all(left.join("deep")).unwrap();
        let other = parent.path().join("fathom-other");
        fs::create_dir(&other).unwrap();
        let link = parent.path().join(format!("{PREFIX}link"));
        std::os::unix::fs::symlink(&other, &link).unwrap();
        sweep(parent.path(), YOUNG);
        assert!(
            left.exists(),
            "it may be somebody's who is about to lock it"
        );
        sweep(parent.path(), Duration::ZERO);
        assert!(!left.exists());
        assert!(held.path().join("some").exists() && other.exists() && link.is_symlink());
        let path = held.path().to_owned();
        drop(held);
        assert!(!path.exists());
    }
}
