//! The folder of a campaign that has not begun: what is written there, and whose it is.
//!
//! What must stay true: a folder is taken away only by who made it, and only while there is
//! no campaign in it. Of two processes that want the same folder one makes it, and one of
//! them begins.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use fathom_record::campaign::FILE_NAME;

use super::Prepared;
use crate::{
    experiment::Measured,
    missing_builds,
    plan::Plan,
    request::RequestError,
    results::{Results, ResultsError},
};

/// Makes the modules that a campaign has of its own, where all others are there. Whether their
/// folder was made for them.
pub(super) fn make(plan: &Plan, measured: &Measured, folder: &Path) -> Result<bool, RequestError> {
    let paths = measured.written.iter().map(|(name, _)| folder.join(name));
    let paths: Vec<PathBuf> = paths.collect();
    missing_builds::find(plan, &paths).map_err(RequestError::NotBuilt)?;
    // Copies of folders are written there, too.
    let is_written = !paths.is_empty() || plan.input.dirs.iter().any(|dir| dir.is_read_only);
    let is_own = is_written && claim(folder)?;
    let mut each = paths.iter().zip(&measured.written);
    each.try_for_each(|(path, (_, bytes))| write(path, bytes))?;
    Ok(is_own)
}

/// Writes a module that is made for a campaign.
fn write(path: &Path, bytes: &[u8]) -> Result<(), RequestError> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    let what = || format!("cannot write {}", path.display());
    folder
        .and_then(|()| fs::write(path, bytes))
        .map_err(|error| RequestError::system(what(), error))
}

/// Makes a folder, with those that it is in; whether this process made it, and nobody before.
fn claim(folder: &Path) -> Result<bool, RequestError> {
    let made = || {
        folder.parent().map_or(Ok(()), fs::create_dir_all)?;
        match fs::create_dir(folder) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    };
    made().map_err(|error| RequestError::system(format!("cannot make {}", folder.display()), error))
}

impl Prepared {
    /// Begins the campaign in its folder.
    ///
    /// # Errors
    /// As [`Results::create`]; nothing is left of it then. Where another campaign began there,
    /// all of that one is.
    pub fn begin(&mut self) -> Result<Results, ResultsError> {
        // Where it cannot be made, the file cannot either, and that is said.
        let _ = self.claim();
        let results = Results::create(&self.folder, self.header.clone());
        results.inspect_err(|_| self.take_away())
    }

    /// Makes the folder, if it is not there.
    pub(super) fn claim(&mut self) -> Result<(), RequestError> {
        self.is_own_folder |= claim(&self.folder)?;
        Ok(())
    }

    /// Leaves nothing of a campaign that has not begun, where its folder was made for it.
    pub(super) fn take_away(&self) {
        if self.is_own_folder && !self.folder.join(FILE_NAME).exists() {
            let _ = fs::remove_dir_all(&self.folder);
            // The folder of all results goes, too, if this was its first.
            let _ = self.folder.parent().map(fs::remove_dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_of_who_made_it() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("results/r");
        assert!(claim(&folder).unwrap());
        assert!(!claim(&folder).unwrap(), "somebody made it before");
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        for bad in [file.clone(), file.join("r")] {
            let error = claim(&bad).unwrap_err().to_string();
            assert!(error.starts_with("cannot make "), "{error}");
        }
    }
}
