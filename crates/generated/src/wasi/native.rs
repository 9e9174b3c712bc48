//! The side that is right: the same calls by the host's own, on the twin folder.
//!
//! Paths are resolved by the kernel: beneath the folder (`openat2`) up to the last
//! component, then the call gets the whole path as it was written, so that slashes
//! behind it, `.` and `..` mean what the kernel makes of them.
//!
//! What the interface adds is here once more, from its text and not from our
//! implementation: numbers of descriptors, rights, records, checks of pointers.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno as Host;

use super::guest::DESCRIPTORS;

/// Numbers of the interface's errors.
pub mod errno {
    pub const BADF: u16 = 8;
    pub const FAULT: u16 = 21;
    pub const INVAL: u16 = 28;
    pub const ISDIR: u16 = 31;
    pub const MFILE: u16 = 33;
    pub const NAMETOOLONG: u16 = 37;
    pub const NOENT: u16 = 44;
    pub const NOTDIR: u16 = 54;
    pub const NOTSOCK: u16 = 57;
    pub const PERM: u16 = 63;
    pub const SPIPE: u16 = 70;
    pub const NOTCAPABLE: u16 = 76;
}

/// Rights, by the position of their bits.
pub mod rights {
    pub const READ: u64 = 1 << 1;
    pub const SEEK: u64 = 1 << 2;
    pub const SET_FLAGS: u64 = 1 << 3;
    pub const TELL: u64 = 1 << 5;
    pub const WRITE: u64 = 1 << 6;
    pub const ADVISE: u64 = 1 << 7;
    pub const ALLOCATE: u64 = 1 << 8;
    pub const CREATE_FILE: u64 = 1 << 10;
    pub const OPEN: u64 = 1 << 13;
    pub const READDIR: u64 = 1 << 14;
    pub const PATH_SET_SIZE: u64 = 1 << 19;
    pub const FILESTAT_GET: u64 = 1 << 21;
    pub const SET_SIZE: u64 = 1 << 22;
    pub const SET_TIMES: u64 = 1 << 23;
    pub const POLL: u64 = 1 << 27;
    pub const ALL: u64 = (1 << 30) - 1;

    /// `sync`, `datasync`, `fdstat_set_flags`, `filestat_get`: of everything.
    const COMMON: u64 = 1 | 1 << 4 | SET_FLAGS | FILESTAT_GET | POLL;
    pub const FILE: u64 =
        COMMON | READ | SEEK | TELL | WRITE | ADVISE | ALLOCATE | SET_SIZE | SET_TIMES;
    pub const STREAM: u64 = COMMON | READ | WRITE;
    /// A character device that is no terminal, as here.
    pub const DEVICE: u64 = STREAM | SEEK | TELL;
    /// Those on paths, most of which stand in one row.
    pub const DIRECTORY: u64 =
        COMMON | ADVISE | SET_TIMES | ((1 << 21) - (1 << 9)) | 1 << 24 | 1 << 25 | 1 << 26;
}

pub type Answer = Result<(), u16>;

/// What is expected of a call.
#[derive(Debug, PartialEq, Eq)]
pub enum Expected {
    /// This answer.
    Is(Answer),
    /// An error; the kernel's own number has another reason than ours.
    Fails,
}

impl Expected {
    pub fn allows(&self, got: u32) -> bool {
        match self {
            Expected::Is(Ok(())) => got == 0,
            Expected::Is(Err(errno)) => got == u32::from(*errno),
            Expected::Fails => got != 0,
        }
    }
}

/// The interface's number for one of the host.
pub fn number(error: Host) -> u16 {
    let list = [
        (Host::ACCESS, 2),
        (Host::AGAIN, 6),
        (Host::BADF, 8),
        (Host::BUSY, 10),
        (Host::EXIST, 20),
        (Host::FBIG, 22),
        (Host::INVAL, 28),
        (Host::IO, 29),
        (Host::ISDIR, 31),
        (Host::LOOP, 32),
        (Host::MLINK, 34),
        (Host::NAMETOOLONG, 37),
        (Host::NODEV, 43),
        (Host::NOENT, 44),
        (Host::NOSPC, 51),
        (Host::NOTDIR, 54),
        (Host::NOTEMPTY, 55),
        (Host::OPNOTSUPP, 58),
        (Host::OVERFLOW, 61),
        (Host::PERM, 63),
        (Host::SPIPE, 70),
        (Host::XDEV, 75),
    ];
    let found = list.iter().find(|(host, _)| *host == error);
    found.map_or(29, |(_, number)| *number)
}

/// A descriptor of the twin.
#[derive(Clone)]
pub struct Open {
    pub fd: Rc<OwnedFd>,
    pub kind: FileType,
    pub base: u64,
    pub inheriting: u64,
    pub preopened: bool,
}

impl Open {
    fn new(fd: OwnedFd, base: u64, inheriting: u64) -> Open {
        let kind = kind(&rustix::fs::fstat(&fd).expect("an open descriptor"));
        let sensible = match kind {
            FileType::Directory => rights::DIRECTORY,
            FileType::RegularFile => rights::FILE,
            FileType::CharacterDevice => rights::DEVICE,
            _ => rights::STREAM,
        };
        Open {
            fd: Rc::new(fd),
            kind,
            base: base & sensible,
            inheriting,
            preopened: false,
        }
    }

    /// Whether it is a file, or a device that the host moves about in.
    pub fn has_positions(&self, right: u64) -> bool {
        match self.kind {
            FileType::RegularFile => true,
            FileType::CharacterDevice => self.base & right != 0,
            _ => false,
        }
    }

    pub fn allows(&self, right: u64) -> Answer {
        match self.base & right == right {
            true => Ok(()),
            false => Err(errno::NOTCAPABLE),
        }
    }
}

pub fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// The interface's number for a type.
pub fn type_number(kind: FileType) -> u8 {
    match kind {
        FileType::BlockDevice => 1,
        FileType::CharacterDevice => 2,
        FileType::Directory => 3,
        FileType::RegularFile => 4,
        FileType::Symlink => 7,
        _ => 0,
    }
}

/// The twin's descriptors.
pub struct Native {
    open: Vec<Option<Open>>,
}

impl Native {
    pub fn new(folder: &Path) -> Native {
        let open = |path: &Path, flags: OFlags, base, inheriting| {
            let fd = rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty());
            Some(Open::new(fd.expect("it is there"), base, inheriting))
        };
        let null = |access| {
            let others = rights::ALL & !(rights::READ | rights::WRITE);
            open(Path::new("/dev/null"), OFlags::RDWR, others | access, 0)
        };
        let inheriting = rights::DIRECTORY | rights::FILE;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let mut folder = open(folder, flags, rights::ALL, inheriting);
        if let Some(folder) = &mut folder {
            folder.preopened = true;
        }
        Native {
            open: vec![
                null(rights::READ),
                null(rights::WRITE),
                null(rights::WRITE),
                folder,
            ],
        }
    }

    /// The open descriptors that are folders, or those that are not.
    pub fn numbers(&self, dirs: bool) -> Vec<u32> {
        let all = (0..).zip(&self.open);
        let fitting = all.filter(|(_, open)| {
            let kind = open.as_ref().map(|open| open.kind);
            kind.is_some_and(|kind| (kind == FileType::Directory) == dirs)
        });
        fitting.map(|(number, _)| number).collect()
    }

    pub fn get(&self, fd: u32) -> Result<&Open, u16> {
        let open = self.open.get(fd as usize).and_then(Option::as_ref);
        open.ok_or(errno::BADF)
    }

    pub fn get_mut(&mut self, fd: u32) -> Result<&mut Open, u16> {
        let open = self.open.get_mut(fd as usize).and_then(Option::as_mut);
        open.ok_or(errno::BADF)
    }

    pub fn file(&self, fd: u32, right: u64) -> Result<&Open, u16> {
        let open = self.get(fd)?;
        match open.kind {
            FileType::Directory => Err(errno::ISDIR),
            _ => open.allows(right).map(|()| open),
        }
    }

    pub fn dir(&self, fd: u32, right: u64) -> Result<&Open, u16> {
        let open = self.get(fd)?;
        match open.kind {
            FileType::Directory => open.allows(right).map(|()| open),
            _ => Err(errno::NOTDIR),
        }
    }

    pub fn has_room(&self) -> Answer {
        match self.open.iter().flatten().count() < DESCRIPTORS {
            true => Ok(()),
            false => Err(errno::MFILE),
        }
    }

    pub fn insert(&mut self, fd: OwnedFd, base: u64, inheriting: u64) -> u32 {
        let open = Some(Open::new(fd, base, inheriting));
        let free = self.open.iter().position(Option::is_none);
        match free {
            Some(at) => self.open[at] = open,
            None => self.open.push(open),
        }
        free.unwrap_or(self.open.len() - 1) as u32
    }

    pub fn close(&mut self, fd: u32) -> Answer {
        self.get(fd)?;
        self.open[fd as usize] = None;
        Ok(())
    }

    pub fn renumber(&mut self, from: u32, to: u32) -> Answer {
        self.get(from)?;
        self.get(to)?;
        if from != to {
            self.open[to as usize] = self.open[from as usize].take();
        }
        Ok(())
    }
}

/// The kernel, kept beneath `dir`.
pub fn open_beneath(
    dir: BorrowedFd<'_>,
    path: &[u8],
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, u16> {
    if path.is_empty() {
        return Err(errno::NOENT);
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mode = match flags.contains(OFlags::CREATE) {
        true => mode,
        false => Mode::empty(),
    };
    loop {
        match rustix::fs::openat2(dir, path, flags | OFlags::CLOEXEC, mode, resolve) {
            Err(Host::AGAIN) => {}
            Err(Host::XDEV) => return Err(errno::PERM),
            outcome => return outcome.map_err(number),
        }
    }
}

/// An entry, for a call that is given the whole path.
pub struct Entry {
    /// A slash stands behind a link, which the kernel follows in some calls and
    /// ours follow in none; or behind a file, which is one error or another.
    pub slash_behind_no_dir: bool,
    /// The last component is `..`.
    pub is_parent: bool,
}

/// Resolves `path` up to its last component.
pub fn entry(dir: &Open, path: &[u8]) -> Result<Entry, u16> {
    if path.is_empty() {
        return Err(errno::NOENT);
    }
    let Some(end) = path.iter().rposition(|&byte| byte != b'/') else {
        return Err(errno::PERM);
    };
    let trimmed = &path[..=end];
    let start = trimmed
        .iter()
        .rposition(|&byte| byte == b'/')
        .map_or(0, |at| at + 1);
    let (mut parent, name) = trimmed.split_at(start);
    let is_parent = name == b"..";
    if is_parent {
        parent = trimmed;
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    let mut slash_behind_no_dir = false;
    let folder = match parent.is_empty() {
        true => None,
        false => Some(open_beneath(dir.fd.as_fd(), parent, flags, Mode::empty())?),
    };
    if trimmed.len() < path.len() && !is_parent {
        let folder = folder.as_ref().map_or(dir.fd.as_fd(), AsFd::as_fd);
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        slash_behind_no_dir = stat.is_ok_and(|stat| kind(&stat) != FileType::Directory);
    }
    Ok(Entry {
        slash_behind_no_dir,
        is_parent,
    })
}
