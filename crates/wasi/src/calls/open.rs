//! `path_open`.

use super::Call;
use crate::ctx::WasiCtx;
use crate::errno::Errno;
use crate::kernel_files;
use crate::memory::GuestMemory;
use crate::path;
use crate::table::{Descriptor, HostFile};
use crate::types::{self, FdFlags, FileType, HOST_DSYNC, LookupFlags, Oflags, Rights};
use rustix::fs::{Mode, OFlags};
use std::os::fd::AsFd;

/// The guest's arguments to `path_open`, but where the result goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenArgs {
    pub(crate) fd: u32,
    pub(crate) lookup: u32,
    pub(crate) path: u32,
    pub(crate) path_len: u32,
    pub(crate) oflags: u32,
    pub(crate) base: u64,
    pub(crate) inheriting: u64,
    pub(crate) fdflags: u32,
}

/// `path_open`. Rights that the directory does not hand on, and those that make
/// no sense on what is opened, are left out without an error, so programs that
/// ask for everything work.
pub(crate) fn path_open(
    ctx: &mut WasiCtx,
    mem: &mut GuestMemory,
    args: OpenArgs,
    out: u32,
) -> Call {
    let lookup: LookupFlags = types::flags(args.lookup)?;
    let oflags: Oflags = types::flags(args.oflags)?;
    let fdflags: FdFlags = types::flags(args.fdflags)?;
    mem.check(out, 4)?;
    let mut needed = Rights::PATH_OPEN;
    needed.set(Rights::PATH_CREATE_FILE, oflags.contains(Oflags::CREAT));
    needed.set(
        Rights::PATH_FILESTAT_SET_SIZE,
        oflags.contains(Oflags::TRUNC),
    );
    let dir = ctx.table().dir(args.fd, needed)?;
    let base = Rights::from_bits_truncate(args.base) & dir.inheriting;
    let inheriting = Rights::from_bits_truncate(args.inheriting) & dir.inheriting;
    let flags = host_flags(lookup, oflags, fdflags, base)?;
    let name = mem.path(args.path, args.path_len)?;
    let fd = ctx.insert_with(|| {
        let fd = path::open(dir.as_fd(), &name, flags, Mode::from_raw_mode(0o666))?;
        let mut opened = Descriptor::new(HostFile::Owned(fd), base, inheriting)?;
        opened.perms = dir.perms;
        if let FileType::BlockDevice | FileType::CharacterDevice = opened.filetype {
            kernel_files::refuse_device(opened.as_fd())?;
        }
        Ok(opened)
    })?;
    mem.write_u32(out, fd)
}

/// The flags for the host: what the guest wants to do decides how it is opened.
fn host_flags(
    lookup: LookupFlags,
    oflags: Oflags,
    fdflags: FdFlags,
    base: Rights,
) -> Result<OFlags, Errno> {
    if oflags.contains(Oflags::CREAT | Oflags::DIRECTORY) {
        return Err(Errno::Inval);
    }
    let writes = Rights::FD_WRITE | Rights::FD_ALLOCATE | Rights::FD_FILESTAT_SET_SIZE;
    let reads = Rights::FD_READ | Rights::FD_READDIR;
    // No directory is written: where one is asked for, these rights are left out.
    let writes = base.intersects(writes) && !oflags.contains(Oflags::DIRECTORY);
    let mut host = match (base.intersects(reads), writes) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        (_, false) => OFlags::RDONLY,
    };
    host.set(OFlags::CREATE, oflags.contains(Oflags::CREAT));
    host.set(OFlags::DIRECTORY, oflags.contains(Oflags::DIRECTORY));
    host.set(OFlags::EXCL, oflags.contains(Oflags::EXCL));
    host.set(OFlags::TRUNC, oflags.contains(Oflags::TRUNC));
    host.set(
        OFlags::NOFOLLOW,
        !lookup.contains(LookupFlags::SYMLINK_FOLLOW),
    );
    host.set(OFlags::APPEND, fdflags.contains(FdFlags::APPEND));
    host.set(OFlags::NONBLOCK, fdflags.contains(FdFlags::NONBLOCK));
    if fdflags.contains(FdFlags::DSYNC) {
        host |= HOST_DSYNC;
    }
    if fdflags.intersects(FdFlags::SYNC | FdFlags::RSYNC) {
        host |= OFlags::SYNC;
    }
    Ok(host)
}
