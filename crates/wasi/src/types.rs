//! The constants and records of the interface, in the guest's byte layout.
//!
//! Source: `typenames.witx` of WASI snapshot preview 1. Records are written
//! and read by hand, little endian, at the offsets that the C ABI of that file
//! gives them, so no host structure is ever laid over guest memory.
//!
//! Snapshot 0 (`wasi_unstable`) differs in three places only: the link count
//! of a filestat has 32 bits, the values of `whence` are in another order, and
//! a clock subscription carries an identifier. [`Snapshot`] says which is meant.

use crate::errno::Errno;
use rustix::fs::{FileType as HostType, OFlags, Stat};

/// Which revision of the interface a call was made through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snapshot {
    /// `wasi_unstable`.
    Zero,
    /// `wasi_snapshot_preview1`.
    One,
}

bitflags::bitflags! {
    /// What may be done through a descriptor.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Rights: u64 {
        /// `fd_datasync`.
        const FD_DATASYNC = 1 << 0;
        /// `fd_read` and `sock_recv`; with `FD_SEEK` also `fd_pread`.
        const FD_READ = 1 << 1;
        /// `fd_seek`; implies `FD_TELL`.
        const FD_SEEK = 1 << 2;
        /// `fd_fdstat_set_flags`.
        const FD_FDSTAT_SET_FLAGS = 1 << 3;
        /// `fd_sync`.
        const FD_SYNC = 1 << 4;
        /// `fd_tell`, and `fd_seek` that leaves the offset alone.
        const FD_TELL = 1 << 5;
        /// `fd_write` and `sock_send`; with `FD_SEEK` also `fd_pwrite`.
        const FD_WRITE = 1 << 6;
        /// `fd_advise`.
        const FD_ADVISE = 1 << 7;
        /// `fd_allocate`.
        const FD_ALLOCATE = 1 << 8;
        /// `path_create_directory`.
        const PATH_CREATE_DIRECTORY = 1 << 9;
        /// `path_open` with `Oflags::CREAT`.
        const PATH_CREATE_FILE = 1 << 10;
        /// `path_link`, the descriptor being the source directory.
        const PATH_LINK_SOURCE = 1 << 11;
        /// `path_link`, the descriptor being the target directory.
        const PATH_LINK_TARGET = 1 << 12;
        /// `path_open`.
        const PATH_OPEN = 1 << 13;
        /// `fd_readdir`.
        const FD_READDIR = 1 << 14;
        /// `path_readlink`.
        const PATH_READLINK = 1 << 15;
        /// `path_rename`, the descriptor being the source directory.
        const PATH_RENAME_SOURCE = 1 << 16;
        /// `path_rename`, the descriptor being the target directory.
        const PATH_RENAME_TARGET = 1 << 17;
        /// `path_filestat_get`.
        const PATH_FILESTAT_GET = 1 << 18;
        /// `path_open` with `Oflags::TRUNC`.
        const PATH_FILESTAT_SET_SIZE = 1 << 19;
        /// `path_filestat_set_times`.
        const PATH_FILESTAT_SET_TIMES = 1 << 20;
        /// `fd_filestat_get`.
        const FD_FILESTAT_GET = 1 << 21;
        /// `fd_filestat_set_size`.
        const FD_FILESTAT_SET_SIZE = 1 << 22;
        /// `fd_filestat_set_times`.
        const FD_FILESTAT_SET_TIMES = 1 << 23;
        /// `path_symlink`.
        const PATH_SYMLINK = 1 << 24;
        /// `path_remove_directory`.
        const PATH_REMOVE_DIRECTORY = 1 << 25;
        /// `path_unlink_file`.
        const PATH_UNLINK_FILE = 1 << 26;
        /// `poll_oneoff` on reading and writing.
        const POLL_FD_READWRITE = 1 << 27;
        /// `sock_shutdown`.
        const SOCK_SHUTDOWN = 1 << 28;
        /// `sock_accept`.
        const SOCK_ACCEPT = 1 << 29;
    }

    /// State of a descriptor.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FdFlags: u16 {
        /// Writes go to the end.
        const APPEND = 1 << 0;
        /// Data is on the disk when a write returns.
        const DSYNC = 1 << 1;
        /// Calls that would wait return `Errno::Again`.
        const NONBLOCK = 1 << 2;
        /// Reads are synchronised as writes are.
        const RSYNC = 1 << 3;
        /// Data and metadata are on the disk when a write returns.
        const SYNC = 1 << 4;
    }

    /// How `path_open` opens.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Oflags: u16 {
        /// Make the file when it does not exist.
        const CREAT = 1 << 0;
        /// Fail when it is not a directory.
        const DIRECTORY = 1 << 1;
        /// Fail when it exists.
        const EXCL = 1 << 2;
        /// Empty the file.
        const TRUNC = 1 << 3;
    }

    /// How the last component of a path is resolved.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LookupFlags: u32 {
        /// Follow it when it is a symbolic link.
        const SYMLINK_FOLLOW = 1 << 0;
    }

    /// Which time stamps to set, and to what.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FstFlags: u16 {
        /// Access time to the given value.
        const ATIM = 1 << 0;
        /// Access time to now.
        const ATIM_NOW = 1 << 1;
        /// Modification time to the given value.
        const MTIM = 1 << 2;
        /// Modification time to now.
        const MTIM_NOW = 1 << 3;
    }

    /// Flags given to `sock_recv`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RiFlags: u16 {
        /// Leave the message in the queue.
        const PEEK = 1 << 0;
        /// Wait until the buffers are full.
        const WAITALL = 1 << 1;
    }

    /// Which channels `sock_shutdown` closes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SdFlags: u8 {
        /// Receiving.
        const RD = 1 << 0;
        /// Sending.
        const WR = 1 << 1;
    }
}

impl Rights {
    /// What makes sense on a regular file.
    pub const REGULAR_FILE: Rights = Rights::FD_DATASYNC
        .union(Rights::FD_READ)
        .union(Rights::FD_SEEK)
        .union(Rights::FD_FDSTAT_SET_FLAGS)
        .union(Rights::FD_SYNC)
        .union(Rights::FD_TELL)
        .union(Rights::FD_WRITE)
        .union(Rights::FD_ADVISE)
        .union(Rights::FD_ALLOCATE)
        .union(Rights::FD_FILESTAT_GET)
        .union(Rights::FD_FILESTAT_SET_SIZE)
        .union(Rights::FD_FILESTAT_SET_TIMES)
        .union(Rights::POLL_FD_READWRITE);

    /// What makes sense on a stream: terminals and pipes. Without seek
    /// and tell, by which the C library recognises a terminal; without setting
    /// times, which would be those of the host's `/dev/null`.
    pub const STREAM: Rights = Rights::FD_READ
        .union(Rights::FD_WRITE)
        .union(Rights::FD_FDSTAT_SET_FLAGS)
        .union(Rights::FD_SYNC)
        .union(Rights::FD_DATASYNC)
        .union(Rights::FD_FILESTAT_GET)
        .union(Rights::POLL_FD_READWRITE);

    /// What makes sense on a character device that is no terminal, such as
    /// `/dev/null`: the C library takes one that cannot seek for a terminal.
    pub const DEVICE: Rights = Rights::STREAM.union(Rights::FD_SEEK).union(Rights::FD_TELL);

    /// What makes sense on a socket.
    pub const SOCKET: Rights = Rights::FD_READ
        .union(Rights::FD_WRITE)
        .union(Rights::FD_FDSTAT_SET_FLAGS)
        .union(Rights::FD_FILESTAT_GET)
        .union(Rights::POLL_FD_READWRITE)
        .union(Rights::SOCK_SHUTDOWN)
        .union(Rights::SOCK_ACCEPT);

    /// What makes sense on a directory.
    pub const DIRECTORY: Rights = Rights::FD_FDSTAT_SET_FLAGS
        .union(Rights::FD_SYNC)
        .union(Rights::FD_DATASYNC)
        .union(Rights::FD_ADVISE)
        .union(Rights::PATH_CREATE_DIRECTORY)
        .union(Rights::PATH_CREATE_FILE)
        .union(Rights::PATH_LINK_SOURCE)
        .union(Rights::PATH_LINK_TARGET)
        .union(Rights::PATH_OPEN)
        .union(Rights::FD_READDIR)
        .union(Rights::PATH_READLINK)
        .union(Rights::PATH_RENAME_SOURCE)
        .union(Rights::PATH_RENAME_TARGET)
        .union(Rights::PATH_FILESTAT_GET)
        .union(Rights::PATH_FILESTAT_SET_SIZE)
        .union(Rights::PATH_FILESTAT_SET_TIMES)
        .union(Rights::FD_FILESTAT_GET)
        .union(Rights::FD_FILESTAT_SET_TIMES)
        .union(Rights::PATH_SYMLINK)
        .union(Rights::PATH_REMOVE_DIRECTORY)
        .union(Rights::PATH_UNLINK_FILE)
        .union(Rights::POLL_FD_READWRITE);
}

/// `O_DSYNC`. rustix 1.1 gives its `OFlags::DSYNC` the value of `O_SYNC`,
/// which contains this bit; 0x1000 is that of x86-64 and AArch64
/// (`asm-generic/fcntl.h`).
pub(crate) const HOST_DSYNC: OFlags = OFlags::from_bits_retain(0x1000);

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FileType {
    /// None of the others; a pipe, for one.
    Unknown = 0,
    /// A block device.
    BlockDevice = 1,
    /// A character device, such as a terminal.
    CharacterDevice = 2,
    /// A directory.
    Directory = 3,
    /// A regular file.
    RegularFile = 4,
    /// A datagram socket.
    SocketDgram = 5,
    /// A stream socket.
    SocketStream = 6,
    /// A symbolic link.
    SymbolicLink = 7,
}

impl FileType {
    /// The rights that make sense on a file of this type; a terminal has those of a
    /// stream.
    #[must_use]
    pub fn rights(self) -> Rights {
        match self {
            FileType::Directory => Rights::DIRECTORY,
            FileType::RegularFile | FileType::BlockDevice => Rights::REGULAR_FILE,
            FileType::SocketDgram | FileType::SocketStream => Rights::SOCKET,
            FileType::CharacterDevice => Rights::DEVICE,
            FileType::Unknown | FileType::SymbolicLink => Rights::STREAM,
        }
    }
}

impl From<HostType> for FileType {
    fn from(host: HostType) -> FileType {
        match host {
            HostType::RegularFile => FileType::RegularFile,
            HostType::Directory => FileType::Directory,
            HostType::Symlink => FileType::SymbolicLink,
            HostType::CharacterDevice => FileType::CharacterDevice,
            HostType::BlockDevice => FileType::BlockDevice,
            HostType::Socket => FileType::SocketStream,
            HostType::Fifo | HostType::Unknown => FileType::Unknown,
        }
    }
}

/// From where `fd_seek` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whence {
    /// The start.
    Set,
    /// The current offset.
    Cur,
    /// The end.
    End,
}

impl Whence {
    /// Reads the guest's value.
    ///
    /// # Errors
    /// `Errno::Inval` for a value that the snapshot does not define.
    pub fn decode(value: u32, snapshot: Snapshot) -> Result<Whence, Errno> {
        match (snapshot, value) {
            (Snapshot::One, 0) | (Snapshot::Zero, 2) => Ok(Whence::Set),
            (Snapshot::One, 1) | (Snapshot::Zero, 0) => Ok(Whence::Cur),
            (Snapshot::One, 2) | (Snapshot::Zero, 1) => Ok(Whence::End),
            _ => Err(Errno::Inval),
        }
    }
}

/// A set of flags out of a guest's integer.
///
/// # Errors
/// `Errno::Inval` for bits that the interface does not define.
pub(crate) fn flags<F>(value: u32) -> Result<F, Errno>
where
    F: bitflags::Flags,
    F::Bits: TryFrom<u32>,
{
    let bits = F::Bits::try_from(value).map_err(|_| Errno::Inval)?;
    F::from_bits(bits).ok_or(Errno::Inval)
}

/// Size of a `fdstat` record in bytes.
pub const FDSTAT_BYTES: usize = 24;

/// The `fdstat` record.
#[must_use]
pub fn encode_fdstat(
    filetype: FileType,
    flags: FdFlags,
    base: Rights,
    inheriting: Rights,
) -> [u8; FDSTAT_BYTES] {
    let mut out = [0; FDSTAT_BYTES];
    out[0] = filetype as u8;
    out[2..4].copy_from_slice(&flags.bits().to_le_bytes());
    out[8..16].copy_from_slice(&base.bits().to_le_bytes());
    out[16..24].copy_from_slice(&inheriting.bits().to_le_bytes());
    out
}

/// The part of `fstat`'s answer that the interface has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Type of the file.
    pub filetype: FileType,
    /// Number of hard links.
    pub nlink: u64,
    /// Size in bytes.
    pub size: u64,
    /// Access time, nanoseconds since 1970.
    pub atim_ns: u64,
    /// Modification time, nanoseconds since 1970.
    pub mtim_ns: u64,
    /// Time of the last change of status, nanoseconds since 1970.
    pub ctim_ns: u64,
}

impl FileStat {
    /// Takes over the host's answer. Times before 1970 become 0, times past
    /// 2554 the greatest that fits.
    #[must_use]
    #[allow(
        clippy::useless_conversion,
        reason = "a link count has 32 bits on aarch64 and riscv64"
    )]
    pub fn new(stat: &Stat, filetype: FileType) -> FileStat {
        fn ns(seconds: i64, nanoseconds: u64) -> u64 {
            u64::try_from(seconds).map_or(0, |s| {
                s.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
            })
        }
        FileStat {
            dev: stat.st_dev,
            ino: stat.st_ino,
            filetype,
            nlink: u64::from(stat.st_nlink),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            atim_ns: ns(stat.st_atime, stat.st_atime_nsec),
            mtim_ns: ns(stat.st_mtime, stat.st_mtime_nsec),
            ctim_ns: ns(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// The record in the layout of the snapshot; the second value is its
    /// length in bytes.
    #[must_use]
    pub fn encode(&self, snapshot: Snapshot) -> ([u8; 64], usize) {
        let mut out = [0; 64];
        out[0..8].copy_from_slice(&self.dev.to_le_bytes());
        out[8..16].copy_from_slice(&self.ino.to_le_bytes());
        out[16] = self.filetype as u8;
        let rest = match snapshot {
            Snapshot::One => {
                out[24..32].copy_from_slice(&self.nlink.to_le_bytes());
                32
            }
            Snapshot::Zero => {
                let nlink = u32::try_from(self.nlink).unwrap_or(u32::MAX);
                out[20..24].copy_from_slice(&nlink.to_le_bytes());
                24
            }
        };
        let fields = [self.size, self.atim_ns, self.mtim_ns, self.ctim_ns];
        for (index, field) in fields.into_iter().enumerate() {
            out[rest + index * 8..][..8].copy_from_slice(&field.to_le_bytes());
        }
        (out, rest + 32)
    }
}

/// Size of a directory entry's head in bytes; the name follows it.
pub const DIRENT_BYTES: usize = 24;

/// The head of a directory entry.
#[must_use]
pub fn encode_dirent(next: u64, ino: u64, name_len: u32, filetype: FileType) -> [u8; DIRENT_BYTES] {
    let mut out = [0; DIRENT_BYTES];
    out[0..8].copy_from_slice(&next.to_le_bytes());
    out[8..16].copy_from_slice(&ino.to_le_bytes());
    out[16..20].copy_from_slice(&name_len.to_le_bytes());
    out[20] = filetype as u8;
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whence_differs_between_the_snapshots() {
        assert_eq!(Whence::decode(0, Snapshot::One), Ok(Whence::Set));
        assert_eq!(Whence::decode(0, Snapshot::Zero), Ok(Whence::Cur));
        assert_eq!(Whence::decode(1, Snapshot::Zero), Ok(Whence::End));
        assert_eq!(Whence::decode(3, Snapshot::One), Err(Errno::Inval));
    }

    #[test]
    fn unknown_flag_bits_are_invalid() {
        assert_eq!(flags::<Oflags>(1 << 4), Err(Errno::Inval));
        assert_eq!(flags::<Oflags>(1 << 16), Err(Errno::Inval));
        assert_eq!(flags::<Oflags>(3), Ok(Oflags::CREAT | Oflags::DIRECTORY));
        assert_eq!(flags::<SdFlags>(256 + 1), Err(Errno::Inval));
    }

    #[test]
    fn filestat_layouts() {
        let stat = FileStat {
            dev: 1,
            ino: 2,
            filetype: FileType::RegularFile,
            nlink: 3,
            size: 4,
            atim_ns: 5,
            mtim_ns: 6,
            ctim_ns: 7,
        };
        let (one, len) = stat.encode(Snapshot::One);
        assert_eq!(len, 64);
        assert_eq!((one[16], one[24], one[32], one[56]), (4, 3, 4, 7));
        let (zero, len) = stat.encode(Snapshot::Zero);
        assert_eq!(len, 56);
        assert_eq!((zero[16], zero[20], zero[24], zero[48]), (4, 3, 4, 7));
    }
}
