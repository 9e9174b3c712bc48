//! Calls on an open directory: preopened ones by name, and listing.

use super::Call;
use crate::ctx::WasiCtx;
use crate::errno::Errno;
use crate::memory::GuestMemory;
use crate::ranges::Stopped;
use crate::types::Rights;
use std::os::fd::AsFd;
use std::sync::{Arc, PoisonError};

/// `fd_prestat_get`: tag 0 (a directory), the length of its name at 4.
pub(crate) fn fd_prestat_get(ctx: &WasiCtx, mem: &mut GuestMemory, fd: u32, out: u32) -> Call {
    let name = preopen_name(ctx, fd)?;
    let len = u32::try_from(name.len()).map_err(|_| Errno::Overflow)?;
    mem.write_u64(out, u64::from(len) << 32)
}

/// `fd_prestat_dir_name`.
pub(crate) fn fd_prestat_dir_name(
    ctx: &WasiCtx,
    mem: &mut GuestMemory,
    fd: u32,
    path: u32,
    path_len: u32,
) -> Call {
    let name = preopen_name(ctx, fd)?;
    if name.len() > path_len as usize {
        return Err(Errno::Nametoolong);
    }
    mem.write(path, &name)
}

fn preopen_name(ctx: &WasiCtx, fd: u32) -> Result<Arc<[u8]>, Errno> {
    // Guests count up from 3 until they meet this error.
    ctx.table().get(fd)?.preopen.ok_or(Errno::Badf)
}

/// `fd_readdir`, until `stopped`.
pub(crate) fn fd_readdir(
    ctx: &WasiCtx,
    mem: &mut GuestMemory,
    fd: u32,
    (buf, buf_len): (u32, u32),
    cookie: u64,
    used: u32,
    stopped: Stopped,
) -> Call {
    let dir = ctx.table().dir(fd, Rights::FD_READDIR)?;
    mem.check(used, 4)?;
    // A lock of its own, since two threads may list one directory: the table's is free
    // meanwhile.
    let stream = dir.dir.as_ref().ok_or(Errno::Notdir)?;
    let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
    mem.check(buf, buf_len)?;
    // Inside the range that was checked, so the sum does not wrap.
    let put = |at: u32, bytes: &[u8]| mem.write(buf + at, bytes);
    let read = stream.read(dir.as_fd(), cookie, buf_len, put, stopped)?;
    mem.write_u32(used, read)
}
