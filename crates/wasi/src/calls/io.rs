//! Reading and writing: one system call each, on guest memory itself.

use super::Call;
use crate::ctx::WasiCtx;
use crate::errno::Errno;
use crate::memory::GuestMemory;
use crate::ranges::{Iovecs, Present};
use crate::table::{Descriptor, HostFile};
use crate::types::{FdFlags, FileType, Rights};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::{SendAncillaryBuffer, SendFlags};
use std::borrow::Cow;
use std::io::IoSlice;

/// `fd_read`, into present ranges.
// A frame between a system call and Wasm takes 6 ns, see `run/host.rs` of the engine.
#[inline(always)]
pub(crate) fn fd_read(
    ctx: &mut WasiCtx,
    mem: &mut GuestMemory,
    fd: u32,
    iovecs: &Present<Iovecs>,
    nread: u32,
) -> Call {
    let file = ctx.file(fd, Rights::FD_READ)?;
    // Before the transfer: bytes that were taken from a pipe cannot be put back.
    mem.check(nread, 4)?;
    wait_unless_nonblocking(&file, PollFlags::IN)?;
    let got = mem.scatter(iovecs, |slices| match slices {
        [one] => Ok(rustix::io::read(&*file, &mut one[..])?),
        many => Ok(rustix::io::readv(&*file, many)?),
    })?;
    mem.write_u32(nread, count(got)?)
}

/// `fd_pread`, into present ranges.
pub(crate) fn fd_pread(
    ctx: &mut WasiCtx,
    mem: &mut GuestMemory,
    fd: u32,
    iovecs: &Present<Iovecs>,
    offset: u64,
    nread: u32,
) -> Call {
    let file = positioned(ctx, fd, Rights::FD_READ)?;
    mem.check(nread, 4)?;
    let got = mem.scatter(iovecs, |slices| match slices {
        [one] => Ok(rustix::io::pread(&*file, &mut one[..], offset)?),
        many => Ok(rustix::io::preadv(&*file, many, offset)?),
    })?;
    mem.write_u32(nread, count(got)?)
}

/// `fd_write`, from present ranges.
// As `fd_read`.
#[inline(always)]
pub(crate) fn fd_write(
    ctx: &mut WasiCtx,
    mem: &mut GuestMemory,
    fd: u32,
    iovecs: &Present<Iovecs>,
    nwritten: u32,
) -> Call {
    let file = ctx.file(fd, Rights::FD_WRITE)?;
    mem.check(nwritten, 4)?;
    wait_unless_nonblocking(&file, PollFlags::OUT)?;
    let put = mem.gather(iovecs, |slices| match (slices, &*file.host) {
        (slices, HostFile::Output(pipe)) => pipe.write(slices),
        // write(2) to a socket that nobody reads would end the host by SIGPIPE.
        (slices, _) if file.is_socket() => Ok(send(&file, slices)?),
        ([one], _) => Ok(rustix::io::write(&*file, one)?),
        (many, _) => Ok(rustix::io::writev(&*file, many)?),
    })?;
    mem.write_u32(nwritten, count(put)?)
}

/// `fd_pwrite`, from present ranges.
pub(crate) fn fd_pwrite(
    ctx: &mut WasiCtx,
    mem: &mut GuestMemory,
    fd: u32,
    iovecs: &Present<Iovecs>,
    offset: u64,
    nwritten: u32,
) -> Call {
    let file = positioned(ctx, fd, Rights::FD_WRITE)?;
    mem.check(nwritten, 4)?;
    let put = mem.gather(iovecs, |slices| match slices {
        [one] => Ok(rustix::io::pwrite(&*file, one, offset)?),
        many => Ok(rustix::io::pwritev(&*file, many, offset)?),
    })?;
    mem.write_u32(nwritten, count(put)?)
}

/// Writes to a socket. One whose peer is gone raises no SIGPIPE in the host.
#[cold]
pub(crate) fn send(socket: &Descriptor, slices: &[IoSlice<'_>]) -> rustix::io::Result<usize> {
    let mut control = SendAncillaryBuffer::default();
    rustix::net::sendmsg(socket, slices, &mut control, SendFlags::NOSIGNAL)
}

/// A file that has positions: `Errno::Spipe` for streams, as the host answers.
fn positioned(ctx: &mut WasiCtx, fd: u32, right: Rights) -> Result<Cow<'_, Descriptor>, Errno> {
    let file = ctx.file(fd, right)?;
    match file.filetype {
        FileType::RegularFile | FileType::BlockDevice => {
            file.allows(Rights::FD_SEEK)?;
            Ok(file)
        }
        FileType::CharacterDevice if file.base.contains(Rights::FD_SEEK) => Ok(file),
        _ => Err(Errno::Spipe),
    }
}

/// An inherited stream which the guest has set to non-blocking is not so on
/// the host, where others share it: ask first instead.
#[inline]
fn wait_unless_nonblocking(file: &Descriptor, events: PollFlags) -> Call {
    if !file.is_inherited() || !file.private_flags.contains(FdFlags::NONBLOCK) {
        return Ok(());
    }
    poll_once(file, events)
}

#[cold]
fn poll_once(file: &Descriptor, events: PollFlags) -> Call {
    let mut fds = [PollFd::new(file, events)];
    let now = Timespec::default();
    match rustix::event::poll(&mut fds, Some(&now))? {
        0 => Err(Errno::Again),
        _ => Ok(()),
    }
}

/// A number of bytes as the guest gets it. The host transfers less than 2 GiB
/// a call.
fn count(bytes: usize) -> Result<u32, Errno> {
    u32::try_from(bytes).map_err(|_| Errno::Overflow)
}
