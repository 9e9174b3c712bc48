//! Results folders: read a campaign, write a file whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Take, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use fathom_record::campaign::{self, FILE_NAME};
use fathom_record::{Campaign, Header};

/// Most bytes of samples that are read.
const SAMPLES_BYTES_MAX: u64 = 2 << 30;

/// Why a results folder cannot be read. Each is one line.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such file or folder, or it cannot be opened.
    #[error("{}: {error}", path.display())]
    Open {
        /// What was asked for.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A folder without a campaign.
    #[error("{}: no {FILE_NAME} in this folder; is it a results folder?", path.display())]
    NoSamples {
        /// The folder.
        path: PathBuf,
    },
    /// A file that cannot be understood.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: campaign::ReadError,
    },
}

/// Where a campaign is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    /// Its folder.
    pub folder: PathBuf,
    /// Its file of samples.
    pub samples: PathBuf,
}

impl Results {
    /// Finds a campaign by its folder or by its file of samples.
    ///
    /// # Errors
    /// If there is no such folder, or no samples in it.
    pub fn find(path: &Path) -> Result<Results, LoadError> {
        let meta = fs::metadata(path).map_err(|error| LoadError::Open {
            path: path.to_owned(),
            error,
        })?;
        let kind = meta.file_type();
        if kind.is_char_device() || kind.is_block_device() {
            let message = "a device, where a regular file is needed";
            let error = io::Error::new(io::ErrorKind::InvalidInput, message);
            let path = path.to_owned();
            return Err(LoadError::Open { path, error });
        }
        if !meta.is_dir() {
            let folder = match path.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
                _ => PathBuf::from("."),
            };
            return Ok(Results {
                folder,
                samples: path.to_owned(),
            });
        }
        let samples = path.join(FILE_NAME);
        let path = path.to_owned();
        match fs::metadata(&samples) {
            Err(_) => Err(LoadError::NoSamples { path }),
            // Opening a pipe would wait for somebody who writes to it.
            Ok(meta) if !meta.is_file() => {
                let message = "not a regular file";
                let error = io::Error::new(io::ErrorKind::InvalidInput, message);
                let path = samples;
                Err(LoadError::Open { path, error })
            }
            Ok(_) => Ok(Results {
                folder: path,
                samples,
            }),
        }
    }

    /// Reads the campaign.
    ///
    /// # Errors
    /// If the file cannot be opened, or is no campaign, or a newer one.
    pub fn load(&self) -> Result<Campaign, LoadError> {
        let mut from = self.open()?;
        let campaign = self.parse(&mut from);
        match from.get_ref().limit() {
            // A pipe, whose length nobody knew.
            0 => Err(self.too_large()),
            _ => campaign,
        }
    }

    /// Reads the campaign's first line alone: what is measured, where, and how.
    ///
    /// # Errors
    /// As [`Results::load`].
    pub fn header(&self) -> Result<Header, LoadError> {
        let line = self.line(&mut self.open()?)?;
        Ok(self.parse(line.as_slice())?.header)
    }

    /// Whether one of the two files is how the other begins, line by line: they are one campaign,
    /// as far as each of them has it. A last line that was cut off in a break counts for nothing.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub fn begins_as(&self, other: &Results) -> Result<bool, LoadError> {
        let (mut mine, mut its) = (self.open()?, other.open()?);
        loop {
            let (line, its_line) = (self.line(&mut mine)?, other.line(&mut its)?);
            if !line.ends_with(b"\n") || !its_line.ends_with(b"\n") {
                return Ok(true);
            }
            if line != its_line {
                return Ok(false);
            }
        }
    }

    fn line(&self, from: &mut impl BufRead) -> Result<Vec<u8>, LoadError> {
        let mut line = Vec::new();
        let read = from.read_until(b'\n', &mut line);
        read.map_err(|error| self.failed(error))?;
        Ok(line)
    }

    fn open(&self) -> Result<BufReader<Take<File>>, LoadError> {
        let failed = |error| self.failed(error);
        let file = File::open(&self.samples).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() >= SAMPLES_BYTES_MAX {
            return Err(self.too_large());
        }
        Ok(BufReader::new(file.take(SAMPLES_BYTES_MAX)))
    }

    fn parse(&self, from: impl BufRead) -> Result<Campaign, LoadError> {
        campaign::parse(from).map_err(|error| LoadError::Read {
            path: self.samples.clone(),
            error,
        })
    }

    fn too_large(&self) -> LoadError {
        let kind = io::ErrorKind::FileTooLarge;
        self.failed(io::Error::new(kind, "2 GiB of samples or more"))
    }

    fn failed(&self, error: io::Error) -> LoadError {
        LoadError::Open {
            path: self.samples.clone(),
            error,
        }
    }
}

/// Writes a file so that readers see the old one or the whole new one: into a
/// neighbour, which then takes its name (rename(2)). A link is followed; what
/// is no plain file (`/dev/stdout`, a pipe) is written to as it is, never
/// replaced.
///
/// # Errors
/// If it cannot be written; the neighbour is removed and the old file is as it
/// was.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let resolved;
    let path = match fs::metadata(path) {
        Ok(meta) if meta.is_file() => {
            resolved = fs::canonicalize(path)?;
            resolved.as_path()
        }
        Ok(meta) if meta.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => {
            return fs::OpenOptions::new()
                .write(true)
                .open(path)?
                .write_all(content);
        }
        Err(_) => path,
    };
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a file's name"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}", std::process::id()));
    let neighbour = path.with_file_name(hidden);
    let written = File::create(&neighbour)
        .and_then(|mut file| {
            file.write_all(content)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&neighbour, path));
    if written.is_err() {
        // Best effort: the first error is the one worth telling.
        let _ = fs::remove_file(&neighbour);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_or_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write_whole(&link, b"linked").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"linked");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(write_whole(folder.path(), b"three").is_err());
        let left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left.len(), 2, "{left:?}");
    }

    #[test]
    fn what_is_no_plain_file_is_written_to_and_stays() {
        let (reader, writer) = std::io::pipe().unwrap();
        let path = PathBuf::from(format!("/proc/self/fd/{}", writer.as_raw_fd()));
        write_whole(&path, b"through").unwrap();
        drop(writer);
        assert_eq!(io::read_to_string(reader).unwrap(), "through");
    }

    #[test]
    fn a_copy_is_how_its_campaign_begins() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &str| {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            Results::find(&path).unwrap()
        };
        let whole = file("whole", "head\nfirst\nsecond\n");
        for copy in [
            "head\nfirst\nsecond\n",
            "head\nfirst\n",
            "head\nfirst\nsec",
            "head\nfi",
        ] {
            let copy = file("copy", copy);
            assert!(copy.begins_as(&whole).unwrap() && whole.begins_as(&copy).unwrap());
        }
        for other in [
            "head\nfirst\nthird\n",
            "head\nthird\n",
            "other\nfirst\nsecond\n",
        ] {
            let other = file("other", other);
            assert!(!other.begins_as(&whole).unwrap() && !whole.begins_as(&other).unwrap());
        }
    }

    #[test]
    fn bad_results_are_one_line_each() {
        let folder = tempfile::tempdir().unwrap();
        let said = |path: &Path| {
            let error = Results::find(path).and_then(|results| results.load().map(drop));
            let text = error.unwrap_err().to_string();
            assert!(!text.contains('\n'), "{text}");
            text.replace(&folder.path().display().to_string(), "DIR")
        };
        assert_eq!(
            said(&folder.path().join("gone")),
            "DIR/gone: No such file or directory (os error 2)"
        );
        assert_eq!(
            said(folder.path()),
            "DIR: no samples.jsonl in this folder; is it a results folder?"
        );
        let file = folder.path().join(FILE_NAME);
        fs::write(&file, b"").unwrap();
        assert_eq!(
            said(folder.path()),
            "DIR/samples.jsonl: not a campaign: the file has no whole first line"
        );
        fs::write(&file, b"{\"record\":\"campaign\",\"format\":99}\n").unwrap();
        assert_eq!(
            said(folder.path()),
            "DIR/samples.jsonl: written in format 99, this version reads up to 2: use a newer fathom"
        );
        fs::write(&file, b"\x7fELF\n").unwrap();
        assert!(said(folder.path()).starts_with("DIR/samples.jsonl: not a campaign:"));
        let large = File::create(&file).unwrap();
        large.set_len(SAMPLES_BYTES_MAX).unwrap();
        assert_eq!(
            said(folder.path()),
            "DIR/samples.jsonl: 2 GiB of samples or more"
        );
        assert_eq!(
            said(Path::new("/dev/zero")),
            "/dev/zero: a device, where a regular file is needed"
        );
    }
}
