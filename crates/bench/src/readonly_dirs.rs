//! Folders that programs may not change: each is given as a copy.
//!
//! Not every engine can be told to keep a folder read-only, and engines that are compared
//! must be given the same. So all of them work on a copy in the folder of the results, and
//! the user's own stays as it is, whatever an engine makes of a promise.

use std::{fs, io, os::unix::fs::symlink, path::Path};

use crate::{plan::Input, request::RequestError};

/// Where the copies are, in the folder of the results.
const COPIES: &str = "dirs";

/// Replaces folders that are only to be read by copies of them, made anew.
///
/// # Errors
/// [`RequestError::System`] for one that cannot be copied.
pub(crate) fn give(input: &mut Input, results: &Path) -> Result<(), RequestError> {
    for (number, dir) in input.dirs.iter_mut().enumerate() {
        if !dir.is_read_only {
            continue;
        }
        let to = results.join(COPIES).join(number.to_string());
        let made = remove(&to).and_then(|()| copy(&dir.host, &to));
        made.map_err(|error| {
            RequestError::system(format!("--dir: cannot copy {}", dir.host.display()), error)
        })?;
        dir.host = to;
    }
    Ok(())
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, to) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &to)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, to)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Dir;

    #[test]
    fn a_folder_that_is_only_read_is_copied_and_another_is_not() {
        let temp = tempfile::tempdir().unwrap();
        let data = temp.path().join("data");
        fs::create_dir_all(data.join("inner")).unwrap();
        fs::write(data.join("inner/file"), "kept").unwrap();
        symlink("inner/file", data.join("link")).unwrap();
        let dir = |is_read_only| Dir {
            host: data.clone(),
            guest: ".".to_owned(),
            is_read_only,
        };
        let mut input = Input {
            dirs: vec![dir(false), dir(true)],
            ..Input::default()
        };
        // The second time as on going on: from the folder as it is now.
        for text in ["kept", "new"] {
            fs::write(data.join("inner/file"), text).unwrap();
            input.dirs[1].host = data.clone();
            give(&mut input, &temp.path().join("r")).unwrap();
            let given = &input.dirs[1].host;
            assert!(input.dirs[0].host == data && *given != data);
            assert_eq!(fs::read_to_string(given.join("link")).unwrap(), text);
            fs::write(given.join("inner/file"), "changed").unwrap();
            assert_eq!(fs::read_to_string(data.join("inner/file")).unwrap(), text);
        }
    }
}
