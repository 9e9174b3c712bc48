//! Paths of the guest, resolved beneath one of its directories.
//!
//! Two rules make a preopened folder a sandbox:
//! 1. Whatever may follow a symbolic link or has more than one component is
//!    resolved by `openat2` with `RESOLVE_BENEATH`: the kernel refuses, at every
//!    step and without a race, to leave the directory by `..`, by an absolute
//!    path or by a link ([`open`]).
//! 2. A call which acts on a directory entry itself (unlink, rename, …) gets
//!    the parent opened by rule 1 and a single component without a slash
//!    ([`Entry`]). The kernel never follows the last component in these calls,
//!    **except when a slash trails it**: slashes are therefore cut and kept
//!    as the fact [`Entry::wants_dir`].
//!
//! Where `openat2` is missing (kernels before 5.6, some seccomp filters),
//! cap-std resolves component by component with the same result.
//! Paths are bytes: what a directory lists can also be opened. A NUL byte is
//! `Errno::Inval`, an attempt to leave is `Errno::Perm`.

use crate::errno::Errno;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{OpenOptions, OpenOptionsExt};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use std::ffi::OsStr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// A rename anywhere on the host makes `openat2` give up with EAGAIN; this
/// often is enough on a busy host, then the guest sees `Errno::Again`.
const ATTEMPTS: usize = 32;

/// Set once `openat2` has answered that it does not exist.
static NO_OPENAT2: AtomicBool = AtomicBool::new(false);

/// Opens `path` beneath `dir`. `flags` as for `open(2)`; close-on-exec and
/// no-controlling-terminal are added.
///
/// # Errors
/// `Errno::Perm` for a path that leaves `dir`, else what the host answers.
pub(crate) fn open(
    dir: BorrowedFd<'_>,
    path: &[u8],
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    if path.is_empty() {
        return Err(Errno::Noent);
    }
    // openat2 refuses what plain open ignores: a mode without creating, and
    // flags beside O_PATH that mean nothing there.
    let pointing = flags.contains(OFlags::PATH);
    let flags = flags | OFlags::CLOEXEC;
    let flags = if pointing {
        flags
    } else {
        flags | OFlags::NOCTTY
    };
    let mode = if flags.contains(OFlags::CREATE) {
        mode
    } else {
        Mode::empty()
    };
    if NO_OPENAT2.load(Ordering::Relaxed) {
        return open_portable(dir, path, flags, mode);
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..ATTEMPTS {
        match rustix::fs::openat2(dir, path, flags, mode, resolve) {
            Ok(fd) => return Ok(fd),
            Err(rustix::io::Errno::AGAIN) => {}
            // The host has no other reason for EXDEV here than an escape.
            Err(rustix::io::Errno::XDEV) => return Err(Errno::Perm),
            Err(rustix::io::Errno::NOSYS) => {
                NO_OPENAT2.store(true, Ordering::Relaxed);
                return open_portable(dir, path, flags, mode);
            }
            // A seccomp filter answers EPERM; so do some files. The portable
            // way finds out which, and costs only those.
            Err(rustix::io::Errno::PERM) => return open_portable(dir, path, flags, mode),
            Err(error) => return Err(error.into()),
        }
    }
    Err(Errno::Again)
}

/// [`open`] without `openat2`, by cap-std.
fn open_portable(
    dir: BorrowedFd<'_>,
    path: &[u8],
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let access = flags & OFlags::RWMODE;
    let append = flags.contains(OFlags::APPEND);
    let create = flags.contains(OFlags::CREATE);
    // cap-std, as the standard library, empties only what it opens for writing.
    let truncates = flags.contains(OFlags::TRUNC);
    let write = access != OFlags::RDONLY || truncates || create;
    let named = OFlags::RWMODE
        | OFlags::APPEND
        | OFlags::CREATE
        | OFlags::EXCL
        | OFlags::TRUNC
        | OFlags::NOFOLLOW;
    let mut options = OpenOptions::new();
    options
        .read(access != OFlags::WRONLY)
        .write(write)
        .append(append)
        .create(create)
        .create_new(create && flags.contains(OFlags::EXCL))
        .truncate(truncates && !append)
        .mode(mode.bits())
        .custom_flags((flags - named).bits().cast_signed());
    options.follow(if flags.contains(OFlags::NOFOLLOW) {
        FollowSymlinks::No
    } else {
        FollowSymlinks::Yes
    });
    let dir = cap_std::fs::Dir::from_std_file(dir.try_clone_to_owned()?.into());
    let file = dir.open_with(OsStr::from_bytes(path), &options)?;
    Ok(file.into_std().into())
}

/// The directory that holds an entry: the guest's own, or one opened for this
/// call.
pub(crate) enum Parent<'a> {
    /// The path had one component.
    Given(BorrowedFd<'a>),
    /// The path had more.
    Opened(OwnedFd),
}

/// A directory entry: its directory and its name, which has no slash.
pub(crate) struct Entry<'a> {
    parent: Parent<'a>,
    name: &'a [u8],
    wants_dir: bool,
}

impl<'a> Entry<'a> {
    /// Finds the entry that `path`, relative to `dir`, names.
    ///
    /// # Errors
    /// As [`open`], for the part of the path before the last component.
    pub(crate) fn find(dir: BorrowedFd<'a>, path: &'a [u8]) -> Result<Entry<'a>, Errno> {
        let (parent, name, wants_dir) = split(path)?;
        let parent = if parent.is_empty() {
            Parent::Given(dir)
        } else {
            let flags = OFlags::PATH | OFlags::DIRECTORY;
            Parent::Opened(open(dir, parent, flags, Mode::empty())?)
        };
        Ok(Entry {
            parent,
            name,
            wants_dir,
        })
    }

    /// The directory.
    pub(crate) fn parent(&self) -> BorrowedFd<'_> {
        use std::os::fd::AsFd;
        match &self.parent {
            Parent::Given(fd) => *fd,
            Parent::Opened(fd) => fd.as_fd(),
        }
    }

    /// The name in it: one component, never followed when it is a link.
    pub(crate) fn name(&self) -> &'a [u8] {
        self.name
    }

    /// Whether a slash trailed the path, so that it must name a directory.
    pub(crate) fn wants_dir(&self) -> bool {
        self.wants_dir
    }
}

/// Whether `path` is one plain component, for which no parent is opened.
pub(crate) fn is_plain_name(path: &[u8]) -> bool {
    !path.is_empty() && !path.contains(&b'/') && path != b".."
}

/// Splits a path into what must be resolved first, the last component, and
/// whether slashes trailed it. The last component is never `..`: such a path is
/// resolved whole and `.` named in it.
fn split(path: &[u8]) -> Result<(&[u8], &[u8], bool), Errno> {
    if path.is_empty() {
        return Err(Errno::Noent);
    }
    let Some(last) = path.iter().rposition(|&byte| byte != b'/') else {
        return Err(Errno::Perm); // the host's root
    };
    let trimmed = &path[..=last];
    let wants_dir = trimmed.len() < path.len();
    let start = trimmed
        .iter()
        .rposition(|&byte| byte == b'/')
        .map_or(0, |slash| slash + 1);
    match &trimmed[start..] {
        b".." => Ok((trimmed, b".", wants_dir)),
        name => Ok((&trimmed[..start], name, wants_dir)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::os::unix::fs::symlink;

    #[test]
    fn splitting() {
        let ok = |path: &'static str| {
            let (parent, name, wants_dir) = split(path.as_bytes()).unwrap();
            (
                std::str::from_utf8(parent).unwrap(),
                std::str::from_utf8(name).unwrap(),
                wants_dir,
            )
        };
        assert_eq!(ok("a"), ("", "a", false));
        assert_eq!(ok("a/b"), ("a/", "b", false));
        assert_eq!(ok("a/b//"), ("a/", "b", true));
        assert_eq!(ok("/a"), ("/", "a", false));
        assert_eq!(ok("."), ("", ".", false));
        assert_eq!(ok(".."), ("..", ".", false));
        assert_eq!(ok("a/../"), ("a/..", ".", true));
        assert_eq!(split(b""), Err(Errno::Noent));
        assert_eq!(split(b"//"), Err(Errno::Perm));
    }

    /// Every way out, and what both ways of opening answer.
    #[test]
    fn nothing_leaves_the_directory() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        let root = outside.path().join("root");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::write(root.join("file"), "f").unwrap();
        symlink(outside.path(), root.join("absolute")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("../..", root.join("sub/upup")).unwrap();
        symlink("/", root.join("slash")).unwrap();
        symlink("../secret", root.join("secret")).unwrap();
        symlink("../file", root.join("sub/inside")).unwrap();
        symlink("/proc/self/root", root.join("magic")).unwrap();
        let dir = std::fs::File::open(&root).unwrap();
        let absolute = format!("{}/secret", outside.path().display());
        let out = [
            "..",
            "../secret",
            "sub/../../secret",
            "sub/../..",
            "/etc/passwd",
            "/",
            "absolute/secret",
            "up/secret",
            "sub/upup/secret",
            "slash/etc",
            "secret",
            "magic/etc",
            "sub/upup",
            absolute.as_str(),
        ];
        for open in [open, open_portable] {
            for path in out {
                let opened = open(dir.as_fd(), path.as_bytes(), OFlags::RDONLY, Mode::empty());
                assert_eq!(opened.err(), Some(Errno::Perm), "{path}");
            }
            for path in ["file", "sub/../file", "sub/inside", "./sub/./../sub/inside"] {
                let opened = open(dir.as_fd(), path.as_bytes(), OFlags::RDONLY, Mode::empty());
                assert!(opened.is_ok(), "{path}: {opened:?}");
            }
        }
    }

    /// A trailing slash makes the kernel follow a final link: it must not
    /// reach a call on an entry.
    #[test]
    fn trailing_slashes_never_reach_the_kernel() {
        let dir = tempfile::tempdir().unwrap();
        symlink("/", dir.path().join("slash")).unwrap();
        let fd = std::fs::File::open(dir.path()).unwrap();
        let entry = Entry::find(fd.as_fd(), b"slash///").unwrap();
        assert_eq!(entry.name(), b"slash");
        assert!(entry.wants_dir());
        assert!(Entry::find(fd.as_fd(), b"slash/etc").is_err());
    }

    #[test]
    fn both_ways_of_opening_make_files_alike() {
        for open in [open, open_portable] {
            let dir = tempfile::tempdir().unwrap();
            let fd = std::fs::File::open(dir.path()).unwrap();
            let mode = Mode::from_raw_mode(0o666);
            let create = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR;
            open(fd.as_fd(), b"new", create, mode).unwrap();
            let again = open(fd.as_fd(), b"new", create, mode);
            assert_eq!(again.err(), Some(Errno::Exist));
            std::fs::write(dir.path().join("new"), "data").unwrap();
            let truncate = OFlags::TRUNC | OFlags::RDONLY;
            open(fd.as_fd(), b"new", truncate, Mode::empty()).unwrap();
            assert_eq!(std::fs::read(dir.path().join("new")).unwrap(), b"");
            symlink("new", dir.path().join("link")).unwrap();
            let nofollow = OFlags::NOFOLLOW | OFlags::RDONLY;
            let link = open(fd.as_fd(), b"link", nofollow, Mode::empty());
            assert_eq!(link.err(), Some(Errno::Loop));
            let missing = open(fd.as_fd(), b"missing", OFlags::RDONLY, Mode::empty());
            assert_eq!(missing.err(), Some(Errno::Noent));
            let nul = open(fd.as_fd(), b"new\0x", OFlags::RDONLY, Mode::empty());
            assert_eq!(nul.err(), Some(Errno::Inval));
            let not_dir = open(fd.as_fd(), b"new/", OFlags::RDONLY, Mode::empty());
            assert_eq!(not_dir.err(), Some(Errno::Notdir));
        }
    }
}
