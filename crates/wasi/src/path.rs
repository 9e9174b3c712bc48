//! Paths of the guest, resolved beneath one of its directories.
//!
//! Three rules make a preopened folder a sandbox:
//! 1. Whatever may follow a symbolic link or has more than one component is
//!    resolved by `openat2` with `RESOLVE_BENEATH`: the kernel refuses, at every
//!    step and without a race, to leave the directory by `..`, by an absolute
//!    path or by a link ([`open`]).
//! 2. A call which acts on a directory entry itself (unlink, rename, …) gets
//!    the parent opened by rule 1 and a single component without a slash
//!    ([`Entry`]). The kernel never follows the last component in these calls,
//!    **except when a slash trails it**: slashes are therefore cut and kept
//!    as the fact [`Entry::wants_dir`].
//! 3. What is on another mount than the directory is looked at before it is
//!    handed on: an interface of the kernel is refused (`kernel_files.rs`). The
//!    directory was looked at when it was preopened, and what is on its mount is of
//!    its kind; so the kernel is asked to stay on it, which costs nothing, and
//!    only where it cannot ([`open_across`]) is anything else asked.
//!
//! Where `openat2` is missing (kernels before 5.6, some seccomp filters),
//! cap-std resolves component by component with the same result.
//! Paths are bytes: what a directory lists can also be opened. A NUL byte is
//! `Errno::Inval`, an attempt to leave is `Errno::Perm`.

use crate::errno::Errno;
use crate::kernel_files;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{OpenOptions, OpenOptionsExt};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno as Host;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
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
    // A kernel does not learn it later: one vain call is enough.
    if NO_OPENAT2.load(Ordering::Relaxed) {
        return open_portable(dir, path, flags, mode);
    }
    match resolve(dir, path, flags, mode, ResolveFlags::NO_XDEV) {
        Ok(fd) => Ok(fd),
        // Another mount is entered, or the directory left.
        Err(Host::XDEV) => open_across(dir, path, flags, mode),
        Err(Host::NOSYS) => {
            NO_OPENAT2.store(true, Ordering::Relaxed);
            open_portable(dir, path, flags, mode)
        }
        // A seccomp filter answers EPERM; so do some files. The portable
        // way finds out which, and costs only those.
        Err(Host::PERM) => open_portable(dir, path, flags, mode),
        Err(error) => Err(error.into()),
    }
}

/// `openat2` beneath `dir`, again as often as it gives up.
fn resolve(
    dir: BorrowedFd<'_>,
    path: &[u8],
    flags: OFlags,
    mode: Mode,
    more: ResolveFlags,
) -> Result<OwnedFd, Host> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | more;
    // Whenever something is renamed while `..` is followed, the kernel gives up: it cannot
    // tell whether the path has left the directory meanwhile.
    for _ in 1..ATTEMPTS {
        match rustix::fs::openat2(dir, path, flags, mode, resolve) {
            Err(Host::AGAIN) => {}
            outcome => return outcome,
        }
    }
    rustix::fs::openat2(dir, path, flags, mode, resolve)
}

/// [`open`] where another mount may be entered. What is there is pointed at and
/// looked at before it is opened, since opening some devices does something; and
/// again when it is open, since it may have become another meanwhile.
fn open_across(
    dir: BorrowedFd<'_>,
    path: &[u8],
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let checked = |flags: OFlags, mode| {
        let opened = resolve(dir, path, flags, mode, ResolveFlags::empty());
        // The host has no other reason for EXDEV here than an escape.
        let fd = opened.map_err(|error| match error {
            Host::XDEV => Errno::Perm,
            error => error.into(),
        })?;
        kernel_files::refuse_interface(dir, fd.as_fd())?;
        Ok(fd)
    };
    let kept = OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let pointing = checked((flags & kept) | OFlags::PATH, Mode::empty());
    match pointing {
        Ok(fd) if flags.contains(OFlags::PATH) => return Ok(fd),
        Ok(fd) => kernel_files::refuse_device(fd.as_fd())?,
        Err(Errno::Noent) if flags.contains(OFlags::CREATE) => {}
        Err(error) => return Err(error),
    }
    checked(flags, mode)
}

/// [`open`] without `openat2`, by cap-std. Whatever it is, it is looked at.
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
        // The standard library refuses both together.
        .truncate(truncates && !append)
        .mode(mode.bits())
        .custom_flags((flags - named).bits().cast_signed());
    options.follow(if flags.contains(OFlags::NOFOLLOW) {
        FollowSymlinks::No
    } else {
        FollowSymlinks::Yes
    });
    let root = cap_std::fs::Dir::from_std_file(dir.try_clone_to_owned()?.into());
    let file = root.open_with(OsStr::from_bytes(path), &options)?;
    let fd = OwnedFd::from(file.into_std());
    kernel_files::refuse_interface(dir, fd.as_fd())?;
    Ok(fd)
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

    /// From the host's root, where everything is beneath the folder.
    #[test]
    fn the_kernels_interfaces_are_not_in_the_folder() {
        let temp = tempfile::tempdir_in("/tmp").unwrap();
        let own = temp.path().strip_prefix("/").unwrap().to_str().unwrap();
        symlink("../../proc/self/mem", temp.path().join("mem")).unwrap();
        symlink("../../proc", temp.path().join("proc")).unwrap();
        symlink("../../dev", temp.path().join("dev")).unwrap();
        std::fs::write(temp.path().join("file"), "f").unwrap();
        let root = std::fs::File::open("/").unwrap();
        let refused = [
            "proc",
            "proc/self/mem",
            "proc/self/maps",
            "proc/self/environ",
            "proc/sys/kernel/hostname",
            "proc/self/../self/task",
            "proc/thread-self/mem",
            "dev/../proc/self/mem",
            &format!("{own}/mem"),
            &format!("{own}/proc/self/maps"),
        ];
        for open in [open, open_portable] {
            for flags in [OFlags::RDONLY, OFlags::PATH, OFlags::RDONLY | OFlags::TRUNC] {
                for path in refused {
                    // What is no directory cannot be emptied either.
                    let opened = open(root.as_fd(), path.as_bytes(), flags, Mode::empty());
                    let error = opened.err().unwrap_or_else(|| panic!("{path} {flags:?}"));
                    let truncates = flags.contains(OFlags::TRUNC);
                    assert!(error == Errno::Perm || truncates, "{path}: {error:?}");
                }
            }
            // Links that the kernel makes up lead nowhere, whatever they point to.
            for path in [
                "proc/self/root/etc",
                "proc/self/cwd",
                "proc/self/fd/0",
                "proc/self/exe",
            ] {
                let opened = open(root.as_fd(), path.as_bytes(), OFlags::RDONLY, Mode::empty());
                assert!(opened.is_err(), "{path}");
            }
            // Passing through one is no harm, nor is another mount.
            for path in [
                "proc/../etc/passwd",
                "dev/null",
                "dev",
                &format!("{own}/dev/zero"),
            ] {
                let opened = open(root.as_fd(), path.as_bytes(), OFlags::RDONLY, Mode::empty());
                assert!(opened.is_ok(), "{path}: {opened:?}");
            }
        }
        // A device is pointed at before it is opened.
        let across = open(root.as_fd(), b"dev/tty", OFlags::RDONLY, Mode::empty());
        assert_eq!(across.err(), Some(Errno::Perm));
        // Whoever was given the interface itself has it.
        let proc = std::fs::File::open("/proc").unwrap();
        for open in [open, open_portable] {
            let opened = open(proc.as_fd(), b"self/status", OFlags::RDONLY, Mode::empty());
            assert!(opened.is_ok(), "{opened:?}");
        }
    }

    /// Creating, across mounts and not.
    #[test]
    fn another_mount_is_no_obstacle() {
        let Ok(shm) = tempfile::tempdir_in("/dev/shm") else {
            return;
        };
        let path = shm.path().strip_prefix("/").unwrap().to_str().unwrap();
        let root = std::fs::File::open("/").unwrap();
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR;
        let mode = Mode::from_raw_mode(0o600);
        let name = format!("{path}/new");
        for open in [open, open_portable] {
            open(root.as_fd(), name.as_bytes(), flags, mode).unwrap();
            let again = open(root.as_fd(), name.as_bytes(), flags, mode);
            assert_eq!(again.err(), Some(Errno::Exist));
            std::fs::remove_file(shm.path().join("new")).unwrap();
            let missing = open(root.as_fd(), name.as_bytes(), OFlags::RDONLY, mode);
            assert_eq!(missing.err(), Some(Errno::Noent));
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
