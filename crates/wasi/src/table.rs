//! The guest's descriptors.
//!
//! A [`Descriptor`] is a host file with the rights the guest has on it; the
//! [`Table`] numbers them, lowest free number first. The guest's numbers and the
//! host's have nothing to do with each other. Rights only ever shrink:
//! what is opened beneath a directory has at most what that directory hands on.
//! A guest opens only so many: each costs the host one of its own.
//!
//! Threads share a table. A call takes a copy of the descriptor and lets go of
//! the table, so that one which waits is in nobody's way; a file that is closed
//! meanwhile stays open until the call is over. Without other threads a transfer needs
//! neither lock nor copy.

use crate::dir::DirStream;
use crate::errno::Errno;
use crate::perms::Perms;
use crate::pipes::{MemoryInputPipe, MemoryOutputPipe};
use crate::types::{FdFlags, FileType, HOST_DSYNC, Rights};
use rustix::fs::OFlags;
use rustix::net::SocketType;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};

/// A file of the host.
#[derive(Debug)]
pub(crate) enum HostFile {
    /// Ours; closed with the descriptor.
    Owned(OwnedFd),
    /// The process's own standard stream. Other processes may share its state,
    /// so its flags are never changed: see [`Descriptor::private_flags`].
    Stdin,
    /// As `Stdin`.
    Stdout,
    /// As `Stdin`.
    Stderr,
    /// Bytes of the embedder's.
    Input(MemoryInputPipe),
    /// Kept for the embedder.
    Output(MemoryOutputPipe),
}

impl AsFd for HostFile {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            HostFile::Owned(fd) => fd.as_fd(),
            HostFile::Stdin => rustix::stdio::stdin(),
            HostFile::Stdout => rustix::stdio::stdout(),
            HostFile::Stderr => rustix::stdio::stderr(),
            HostFile::Input(pipe) => pipe.as_fd(),
            HostFile::Output(pipe) => pipe.as_fd(),
        }
    }
}

/// An open file of the guest.
#[derive(Clone, Debug)]
pub(crate) struct Descriptor {
    pub(crate) host: Arc<HostFile>,
    pub(crate) filetype: FileType,
    /// What may be done with it.
    pub(crate) base: Rights,
    /// What it hands on to what is opened beneath it.
    pub(crate) inheriting: Rights,
    /// What is allowed in the preopened folder that it is in.
    pub(crate) perms: Perms,
    /// The guest's name for it, when it is a preopened directory.
    pub(crate) preopen: Option<Arc<[u8]>>,
    /// Where `fd_readdir` stands, of a directory.
    pub(crate) dir: Option<Arc<Mutex<DirStream>>>,
    /// For an inherited stream: the flags that the guest set, which are acted
    /// upon here and not by the host.
    pub(crate) private_flags: FdFlags,
}

impl Descriptor {
    /// A file with the rights that make sense on it, within `base`.
    ///
    /// # Errors
    /// What the host answers to `fstat`.
    pub(crate) fn new(
        host: HostFile,
        base: Rights,
        inheriting: Rights,
    ) -> Result<Descriptor, Errno> {
        let filetype = match &host {
            // A stream, which has no positions, whatever it is to the kernel.
            HostFile::Input(_) | HostFile::Output(_) => FileType::Unknown,
            _ => filetype_of(host.as_fd())?,
        };
        let is_directory = filetype == FileType::Directory;
        let is_device = filetype == FileType::CharacterDevice;
        let rights = match is_device && rustix::termios::isatty(host.as_fd()) {
            true => Rights::STREAM,
            false => filetype.rights(),
        };
        Ok(Descriptor {
            host: Arc::new(host),
            filetype,
            base: base & rights,
            inheriting,
            perms: Perms::ALL,
            preopen: None,
            dir: is_directory.then(Arc::default),
            private_flags: FdFlags::empty(),
        })
    }

    /// Whether it is a stream that other processes share with us.
    #[inline]
    pub(crate) fn is_inherited(&self) -> bool {
        matches!(
            *self.host,
            HostFile::Stdin | HostFile::Stdout | HostFile::Stderr
        )
    }

    /// Whether it is a socket.
    #[inline]
    pub(crate) fn is_socket(&self) -> bool {
        matches!(
            self.filetype,
            FileType::SocketStream | FileType::SocketDgram
        )
    }

    /// Fails unless all of `rights` are held.
    #[inline]
    pub(crate) fn allows(&self, rights: Rights) -> Result<(), Errno> {
        if self.base.contains(rights) {
            Ok(())
        } else {
            Err(Errno::Notcapable)
        }
    }

    /// The flags in force.
    pub(crate) fn flags(&self) -> Result<FdFlags, Errno> {
        if self.is_inherited() {
            return Ok(self.private_flags);
        }
        let host = rustix::fs::fcntl_getfl(&self.host)?;
        let mut flags = FdFlags::empty();
        flags.set(FdFlags::APPEND, host.contains(OFlags::APPEND));
        flags.set(FdFlags::NONBLOCK, host.contains(OFlags::NONBLOCK));
        // O_SYNC contains the bit of O_DSYNC, and O_RSYNC equals O_SYNC.
        let sync = host.contains(OFlags::SYNC);
        flags.set(FdFlags::SYNC, sync);
        flags.set(FdFlags::DSYNC, !sync && host.contains(HOST_DSYNC));
        Ok(flags)
    }
}

impl AsFd for Descriptor {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.host.as_fd()
    }
}

/// The type of an open file.
pub(crate) fn filetype_of(fd: BorrowedFd<'_>) -> Result<FileType, Errno> {
    let stat = rustix::fs::fstat(fd)?;
    let filetype = FileType::from(rustix::fs::FileType::from_raw_mode(stat.st_mode));
    if filetype == FileType::SocketStream {
        return socket_type_of(fd);
    }
    Ok(filetype)
}

fn socket_type_of(fd: BorrowedFd<'_>) -> Result<FileType, Errno> {
    match rustix::net::sockopt::socket_type(fd)? {
        SocketType::DGRAM => Ok(FileType::SocketDgram),
        _ => Ok(FileType::SocketStream),
    }
}

/// The descriptors by their numbers.
#[derive(Debug)]
pub(crate) struct Table {
    slots: Vec<Option<Descriptor>>,
    /// No slot before this one is free.
    free_from: usize,
    open: usize,
    /// Being opened: each has a place among `max`.
    reserved: usize,
    max: usize,
}

impl Table {
    /// An empty one, in which the guest can have `max` descriptors open.
    pub(crate) fn new(max: usize) -> Table {
        Table {
            slots: Vec::new(),
            free_from: 0,
            open: 0,
            reserved: 0,
            max,
        }
    }

    /// Keeps a place for a descriptor that is about to be opened.
    ///
    /// # Errors
    /// `Errno::Mfile` when the guest has as many as it may.
    pub(crate) fn reserve(&mut self) -> Result<(), Errno> {
        if self.open + self.reserved >= self.max {
            return Err(Errno::Mfile);
        }
        self.reserved += 1;
        Ok(())
    }

    /// Gives the place back, to be filled by [`Table::insert`] or not.
    pub(crate) fn release(&mut self) {
        self.reserved -= 1;
    }

    /// Puts `descriptor` at the lowest free number, however many there are.
    ///
    /// # Errors
    /// `Errno::Nfile` when the numbers, which have 31 bits, are used up.
    pub(crate) fn insert(&mut self, descriptor: Descriptor) -> Result<u32, Errno> {
        // The lowest, as POSIX has it: programs close 0 and open what is to be 0.
        let later = &self.slots[self.free_from..];
        let free = later.iter().position(Option::is_none);
        let index = self.free_from + free.unwrap_or(later.len());
        let fd = i32::try_from(index).map_err(|_| Errno::Nfile)?;
        if index == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[index] = Some(descriptor);
        self.free_from = index + 1;
        self.open += 1;
        Ok(fd.cast_unsigned())
    }

    /// The descriptor `fd`.
    ///
    /// # Errors
    /// `Errno::Badf` when there is none.
    pub(crate) fn get(&self, fd: u32) -> Result<Descriptor, Errno> {
        self.slots
            .get(fd as usize)
            .and_then(Option::clone)
            .ok_or(Errno::Badf)
    }

    /// The descriptor `fd` itself, to change it.
    ///
    /// # Errors
    /// `Errno::Badf` when there is none.
    pub(crate) fn get_mut(&mut self, fd: u32) -> Result<&mut Descriptor, Errno> {
        self.slots
            .get_mut(fd as usize)
            .and_then(Option::as_mut)
            .ok_or(Errno::Badf)
    }

    /// The descriptor `fd`, which must be no directory and allow `rights`.
    ///
    /// # Errors
    /// `Errno::Badf`, `Errno::Isdir`, `Errno::Notcapable`.
    #[inline]
    pub(crate) fn file(&self, fd: u32, rights: Rights) -> Result<&Descriptor, Errno> {
        let slot = self.slots.get(fd as usize);
        let descriptor = slot.and_then(Option::as_ref).ok_or(Errno::Badf)?;
        if descriptor.filetype == FileType::Directory {
            return Err(Errno::Isdir);
        }
        descriptor.allows(rights)?;
        Ok(descriptor)
    }

    /// The descriptor `fd`, which must be a directory and allow `rights`.
    ///
    /// # Errors
    /// `Errno::Badf`, `Errno::Notdir`, `Errno::Notcapable`.
    pub(crate) fn dir(&self, fd: u32, rights: Rights) -> Result<Descriptor, Errno> {
        let descriptor = self.get(fd)?;
        if descriptor.filetype != FileType::Directory {
            return Err(Errno::Notdir);
        }
        descriptor.allows(rights)?;
        Ok(descriptor)
    }

    /// Takes the descriptor `fd` out.
    ///
    /// # Errors
    /// `Errno::Badf` when there is none.
    pub(crate) fn remove(&mut self, fd: u32) -> Result<Descriptor, Errno> {
        let index = fd as usize;
        let taken = self.slots.get_mut(index).and_then(Option::take);
        let taken = taken.ok_or(Errno::Badf)?;
        self.free_from = self.free_from.min(index);
        self.open -= 1;
        // Handed on, so that it is closed when the table is no longer locked: closing
        // may wait.
        Ok(taken)
    }

    /// Moves `from` to `to`, which must be open too and is closed.
    ///
    /// # Errors
    /// `Errno::Badf` when one of them is not open; then nothing has changed.
    pub(crate) fn renumber(&mut self, from: u32, to: u32) -> Result<(), Errno> {
        // Both, before anything moves. An unused number is refused, where dup2 would
        // take it: another thread may be about to get it.
        self.get(from)?;
        self.get(to)?;
        if from != to {
            let moved = self.remove(from)?;
            self.slots[to as usize] = Some(moved);
        }
        Ok(())
    }
}
