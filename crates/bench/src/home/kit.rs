//! What a program carries with it: the descriptions and installers of engines and the
//! sources of suites, as one run of bytes.
//!
//! ```text
//!  for each file:  path \0  'x' or '-'  length (8 bytes, little-endian)  contents
//! ```
//!
//! It is unpacked into `DATA/VERSION-HASH`, once: into a folder beside, which is then
//! renamed. So a folder of that name is whole. What engines are installed from it is in
//! `DATA/tools`, for every version.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

/// The files that a program carries.
#[derive(Clone, Copy, Debug)]
pub struct Kit {
    version: &'static str,
    bytes: &'static [u8],
}

/// Why it cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum KitError {
    /// The system refused something.
    #[error("{}: engines and workloads cannot be unpacked there", folder.display())]
    System {
        /// The folder it was to be in.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The bytes are not what is written above.
    #[error("the files packed into this program are damaged: build it again")]
    Damaged,
}

struct File {
    path: &'static str,
    is_executable: bool,
    contents: &'static [u8],
}

impl Kit {
    /// What the program of this version carries.
    pub const fn new(version: &'static str, bytes: &'static [u8]) -> Kit {
        Kit { version, bytes }
    }

    /// The folder with it, and a line about that where it was unpacked just now.
    pub(super) fn unpacked(&self, data: &Path) -> Result<(PathBuf, Option<String>), KitError> {
        let hash = blake3::hash(self.bytes).to_hex();
        let root = data.join(format!("{}-{}", self.version, &hash[..8]));
        if root.is_dir() {
            return Ok((root, None));
        }
        let files = self.files()?;
        let system = |source| KitError::System {
            folder: root.clone(),
            source,
        };
        write(&files, data, &root).map_err(system)?;
        let megabytes = self.bytes.len() as f64 / 1e6;
        let line = format!(
            "fathom: engines and workloads of this version are unpacked into {} ({megabytes:.1} MB)",
            root.display()
        );
        Ok((root, Some(line)))
    }

    fn files(&self) -> Result<Vec<File>, KitError> {
        let mut files = Vec::new();
        let mut left = self.bytes;
        while !left.is_empty() {
            let (file, rest) = next(left).ok_or(KitError::Damaged)?;
            files.push(file);
            left = rest;
        }
        Ok(files)
    }

    /// One with these files, for tests.
    #[cfg(test)]
    pub(super) fn packed(version: &'static str, files: &[(&str, &[u8])]) -> Kit {
        let mut bytes = Vec::new();
        for (path, contents) in files {
            bytes.extend_from_slice(path.as_bytes());
            bytes.extend_from_slice(b"\0-");
            bytes.extend_from_slice(&(contents.len() as u64).to_le_bytes());
            bytes.extend_from_slice(contents);
        }
        Kit::new(version, bytes.leak())
    }
}

/// The first file, and what follows it.
fn next(bytes: &'static [u8]) -> Option<(File, &'static [u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let path = std::str::from_utf8(&bytes[..end]).ok()?;
    let mode = *bytes.get(end + 1)?;
    let length = bytes.get(end + 2..end + 10)?;
    let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
    let rest = &bytes[end + 10..];
    let (contents, rest) = rest.split_at_checked(length)?;
    let is_plain = |part| matches!(part, Component::Normal(_));
    let file = File {
        path,
        is_executable: mode == b'x',
        contents,
    };
    Path::new(path)
        .components()
        .all(is_plain)
        .then_some((file, rest))
}

/// Writes a whole home at `root`, or nothing there.
fn write(files: &[File], data: &Path, root: &Path) -> io::Result<()> {
    fs::create_dir_all(data.join("tools"))?;
    let beside = data.join(format!(".unpacking-{}", std::process::id()));
    let _ = fs::remove_dir_all(&beside);
    let written = write_into(files, &beside).and_then(|()| match fs::rename(&beside, root) {
        // Another process was quicker.
        Err(_) if root.is_dir() => Ok(()),
        renamed => renamed,
    });
    let _ = fs::remove_dir_all(&beside);
    written
}

fn write_into(files: &[File], folder: &Path) -> io::Result<()> {
    for file in files {
        let path = folder.join(file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, file.contents)?;
        if file.is_executable {
            fs::set_permissions(&path, Permissions::from_mode(0o755))?;
        }
    }
    symlink("../tools", folder.join(".tools"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kit_that_is_cut_or_leads_out_is_refused() {
        let whole = Kit::packed("1", &[("a/b", b"contents"), ("c", b"")]);
        assert_eq!(whole.files().unwrap().len(), 2);
        for end in [1, 4, 12, 15] {
            let cut = Kit::new("1", &whole.bytes[..end]);
            assert!(cut.files().is_err(), "{end}");
        }
        for path in ["../a", "/a"] {
            assert!(Kit::packed("1", &[(path, b"x")]).files().is_err(), "{path}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_is_one_line() {
        let data = tempfile::NamedTempFile::new().unwrap();
        let kit = Kit::packed("1", &[("a", b"x")]);
        let error = kit.unpacked(&data.path().join("sub")).unwrap_err();
        assert!(error.to_string().contains("cannot be unpacked"), "{error}");
    }
}
