//! Sockets that the guest was given. It can make none itself.

use super::Call;
use super::io::send;
use crate::ctx::WasiCtx;
use crate::errno::Errno;
use crate::memory::{Filled, GuestMemory};
use crate::ranges::{Iovecs, Present};
use crate::table::{Descriptor, HostFile};
use crate::types::{self, FdFlags, RiFlags, Rights, SdFlags};
use rustix::net::{RecvAncillaryBuffer, RecvFlags, RecvMsg, ReturnFlags, Shutdown, SocketFlags};

/// A descriptor that is a socket and allows `right`.
fn socket(ctx: &WasiCtx, fd: u32, right: Rights) -> Result<Descriptor, Errno> {
    let descriptor = ctx.table().get(fd)?;
    if !descriptor.is_socket() {
        return Err(Errno::Notsock);
    }
    descriptor.allows(right)?;
    Ok(descriptor)
}

/// `sock_accept`.
pub(crate) fn sock_accept(
    ctx: &mut WasiCtx,
    mem: &mut GuestMemory,
    fd: u32,
    flags: u32,
    out: u32,
) -> Call {
    let flags: FdFlags = types::flags(flags)?;
    if !FdFlags::NONBLOCK.contains(flags) {
        return Err(Errno::Inval);
    }
    mem.check(out, 4)?;
    let listener = socket(ctx, fd, Rights::SOCK_ACCEPT)?;
    let mut host = SocketFlags::CLOEXEC;
    host.set(SocketFlags::NONBLOCK, flags.contains(FdFlags::NONBLOCK));
    // What is accepted may do what the listener hands on, as for what a directory opens.
    let rights = listener.inheriting;
    let fd = ctx.insert_with(|| {
        let accepted = rustix::net::accept_with(&listener, host)?;
        Descriptor::new(HostFile::Owned(accepted), rights, rights)
    })?;
    mem.write_u32(out, fd)
}

struct Received(RecvMsg);

impl Filled for Received {
    fn bytes(&self) -> usize {
        self.0.bytes
    }
}

/// `sock_recv`, into present ranges.
pub(crate) fn sock_recv(
    ctx: &WasiCtx,
    mem: &mut GuestMemory,
    fd: u32,
    iovecs: &Present<Iovecs>,
    flags: u32,
    out: (u32, u32),
) -> Call {
    let flags: RiFlags = types::flags(flags)?;
    let (len_out, flags_out) = out;
    mem.check(len_out, 4)?;
    mem.check(flags_out, 2)?;
    let socket = socket(ctx, fd, Rights::FD_READ)?;
    let mut host = RecvFlags::empty();
    host.set(RecvFlags::PEEK, flags.contains(RiFlags::PEEK));
    host.set(RecvFlags::WAITALL, flags.contains(RiFlags::WAITALL));
    let Received(message) = mem.scatter(iovecs, |slices| {
        let mut control = RecvAncillaryBuffer::default();
        Ok(Received(rustix::net::recvmsg(
            socket,
            slices,
            &mut control,
            host,
        )?))
    })?;
    let truncated = u16::from(message.flags.contains(ReturnFlags::TRUNC));
    let len = u32::try_from(message.bytes).map_err(|_| Errno::Overflow)?;
    mem.write_u32(len_out, len)?;
    mem.write(flags_out, &truncated.to_le_bytes())
}

/// `sock_send`, from present ranges. No flags are defined.
pub(crate) fn sock_send(
    ctx: &WasiCtx,
    mem: &mut GuestMemory,
    fd: u32,
    iovecs: &Present<Iovecs>,
    flags: u32,
    out: u32,
) -> Call {
    if flags != 0 {
        return Err(Errno::Inval);
    }
    mem.check(out, 4)?;
    let socket = socket(ctx, fd, Rights::FD_WRITE)?;
    let sent = mem.gather(iovecs, |slices| Ok(send(&socket, slices)?))?;
    mem.write_u32(out, u32::try_from(sent).map_err(|_| Errno::Overflow)?)
}

/// `sock_shutdown`.
pub(crate) fn sock_shutdown(ctx: &WasiCtx, fd: u32, how: u32) -> Call {
    let how: SdFlags = types::flags(how)?;
    let read = how.contains(SdFlags::RD);
    let how = match (read, how.contains(SdFlags::WR)) {
        (true, true) => Shutdown::Both,
        (true, false) => Shutdown::Read,
        (false, true) => Shutdown::Write,
        (false, false) => return Err(Errno::Inval),
    };
    let socket = socket(ctx, fd, Rights::SOCK_SHUTDOWN)?;
    Ok(rustix::net::shutdown(socket, how)?)
}
