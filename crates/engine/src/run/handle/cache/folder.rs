//! The folder of a cache: whom it belongs to, what may be read there, how much is
//! kept.
//!
//! What is found in it is executed. So it counts as absent, and so does an entry in
//! it, unless it belongs to this user or to root and nobody else may write to it. The
//! folder is opened once for each module and asked by its descriptor: whoever puts
//! another in its place is too late.

use std::ffi::{CStr, CString};
use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_NOW};

/// Bytes that an entry may have: as many as the smallest arena of code.
const ENTRY_BYTES_MAX: u64 = 256 << 20;
/// A half-written entry that is older was left by a writer that died.
const ABANDONED: Duration = Duration::from_secs(3600);
/// Letters of an entry's name; one that is being written has more.
const NAME_LETTERS: usize = 2 * blake3::OUT_LEN;
const UNFINISHED: &str = ".tmp";

/// Why a folder or an entry is not used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unused {
    /// There is none.
    #[error("there is none")]
    Absent,
    /// It is somebody else's.
    #[error("{} belongs to user {owner}, whose code would be run: give it to this one", .what.display())]
    Owner {
        /// What it is.
        what: PathBuf,
        /// The user that it belongs to.
        owner: u32,
    },
    /// Somebody else may write to it.
    #[error("others may write to {} (mode {mode:03o}): chmod go-w", .what.display())]
    Mode {
        /// What it is.
        what: PathBuf,
        /// The permission bits that let others write.
        mode: u32,
    },
    /// It is no plain file: a link, a pipe, a folder.
    #[error("{} is no plain file", .0.display())]
    Kind(PathBuf),
    /// It is larger than an entry can be.
    #[error("{} is larger than an entry may be", .0.display())]
    Large(PathBuf),
    /// The host refuses it.
    #[error("{}: {error}", .what.display())]
    Host {
        /// What it is.
        what: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

/// A folder whose owner is trusted.
pub(super) struct Folder {
    path: PathBuf,
    open: OwnedFd,
    bytes_max: u64,
}

impl Folder {
    /// Open a folder that keeps at most `bytes_max`; make it where there is none and
    /// that is wanted.
    ///
    /// # Errors
    /// It is not to be had, or not to be trusted.
    pub fn open(path: &Path, make: bool, bytes_max: u64) -> Result<Folder, Unused> {
        let failed = |error: io::Error| Unused::of(path, error);
        if make {
            // Not the group's to write, whatever the mask says.
            let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
            made.map_err(|error| Unused::Host {
                what: path.to_owned(),
                error,
            })?;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| failed(e.into()))?;
        trust(
            path,
            &rustix::fs::fstat(&open).map_err(|e| failed(e.into()))?,
        )?;
        Ok(Folder {
            path: path.to_owned(),
            open,
            bytes_max,
        })
    }

    /// The contents of an entry.
    ///
    /// # Errors
    /// There is none, it is no plain file, too large, or not to be trusted.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, Unused> {
        let path = self.path.join(name);
        let failed = |error: io::Error| Unused::of(&path, error);
        // Opening a pipe must not wait for its writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.open, name, flags, Mode::empty());
        let mut file = File::from(opened.map_err(|error| match error {
            rustix::io::Errno::LOOP => Unused::Kind(path.clone()),
            error => failed(error.into()),
        })?);
        let stat = rustix::fs::fstat(&file).map_err(|e| failed(e.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Unused::Kind(path));
        }
        trust(&path, &stat)?;
        let most = ENTRY_BYTES_MAX.min(self.bytes_max);
        let bytes = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        if bytes > most {
            return Err(Unused::Large(path));
        }
        let mut contents = Vec::new();
        // It may have grown since.
        let mut bounded = Read::by_ref(&mut file).take(most);
        bounded.read_to_end(&mut contents).map_err(failed)?;
        touch(&file);
        Ok(contents)
    }

    /// Put an entry in its place, whole or not at all, and make room for it.
    ///
    /// # Errors
    /// What the host says, or an entry that is too large.
    pub fn write(&self, name: &str, unfinished: &str, parts: &[&[u8]]) -> Result<(), Unused> {
        let path = self.path.join(name);
        let bytes: u64 = parts.iter().map(|part| part.len() as u64).sum();
        if bytes > ENTRY_BYTES_MAX.min(self.bytes_max) {
            return Err(Unused::Large(path));
        }
        let written = self.write_beside(unfinished, parts).and_then(|()| {
            Ok(rustix::fs::renameat(
                &self.open, unfinished, &self.open, name,
            )?)
        });
        if let Err(error) = written {
            // Nothing half-written stays, as far as that is in our hands.
            let _ = rustix::fs::unlinkat(&self.open, unfinished, AtFlags::empty());
            return Err(Unused::of(&path, error));
        }
        self.make_room(name)
            .map_err(|error| Unused::of(&path, error))
    }

    fn write_beside(&self, unfinished: &str, parts: &[&[u8]]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let mut file = File::from(rustix::fs::openat(&self.open, unfinished, flags, mode)?);
        parts.iter().try_for_each(|part| file.write_all(part))
    }

    /// Remove the oldest entries until the others fit, and what writers that died
    /// have left. The entry that was written last stays.
    fn make_room(&self, last: &str) -> io::Result<()> {
        let mut entries = Vec::new();
        for item in Dir::read_from(&self.open)? {
            let item = item?;
            let Some(kind) = Kind::of(item.file_name()) else {
                continue;
            };
            let name = item.file_name().to_owned();
            // Another process may have removed it.
            let Ok(stat) = rustix::fs::statat(&self.open, &name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                continue;
            }
            let used = used(&stat);
            match kind {
                Kind::Entry => entries.push((used, stat.st_size.max(0).cast_unsigned(), name)),
                Kind::Unfinished if used.elapsed().is_ok_and(|age| age > ABANDONED) => {
                    self.remove(&name);
                }
                Kind::Unfinished => {}
            }
        }
        let mut sum: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
        entries.sort_unstable();
        for (_, bytes, name) in entries {
            if sum <= self.bytes_max {
                break;
            }
            if name.as_bytes() != last.as_bytes() {
                self.remove(&name);
                sum -= bytes;
            }
        }
        Ok(())
    }

    fn remove(&self, name: &CString) {
        // Another process may have been faster.
        let _ = rustix::fs::unlinkat(&self.open, name, AtFlags::empty());
    }
}

impl Unused {
    fn of(what: &Path, error: io::Error) -> Unused {
        match error.kind() {
            io::ErrorKind::NotFound => Unused::Absent,
            _ => Unused::Host {
                what: what.to_owned(),
                error,
            },
        }
    }
}

/// What a name in the folder says of a file. Others are nobody's of ours.
enum Kind {
    Entry,
    Unfinished,
}

impl Kind {
    fn of(name: &CStr) -> Option<Kind> {
        let (hash, rest) = name.to_str().ok()?.split_at_checked(NAME_LETTERS)?;
        let is_hash = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        match rest {
            _ if !hash.bytes().all(is_hash) => None,
            "" => Some(Kind::Entry),
            rest if rest.starts_with('.') && rest.ends_with(UNFINISHED) => Some(Kind::Unfinished),
            _ => None,
        }
    }
}

/// The name of a file that becomes the entry `name`; `number` is the writer's.
pub(super) fn unfinished(name: &str, number: u64) -> String {
    format!("{name}.{}.{number}{UNFINISHED}", std::process::id())
}

/// Whether what it says can be believed: nobody but this user and root can have
/// written it.
fn trust(what: &Path, stat: &Stat) -> Result<(), Unused> {
    let owner = stat.st_uid;
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        let what = what.to_owned();
        return Err(Unused::Owner { what, owner });
    }
    let mode = Mode::from_raw_mode(stat.st_mode);
    if mode.intersects(Mode::WGRP | Mode::WOTH) {
        let what = what.to_owned();
        let mode = mode.as_raw_mode();
        return Err(Unused::Mode { what, mode });
    }
    Ok(())
}

/// When an entry was used last: what decides which goes first.
fn used(stat: &Stat) -> SystemTime {
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds)
}

fn touch(file: &File) {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    let times = Timestamps {
        last_access: now,
        last_modification: now,
    };
    // Of root's entries it cannot be done, and then they are as old as they are.
    let _ = rustix::fs::futimens(file, &times);
}
