//! Calls on an open file, but reading and writing.

use super::Call;
use crate::ctx::WasiCtx;
use crate::errno::Errno;
use crate::memory::GuestMemory;
use crate::table::Descriptor;
use crate::types::{self, FdFlags, FileStat, FileType, FstFlags, Rights, Snapshot, Whence};
use rustix::fs::{Advice, FallocateFlags, OFlags, SeekFrom, Timespec, Timestamps};
use rustix::fs::{UTIME_NOW, UTIME_OMIT};
use std::borrow::Cow;
use std::num::NonZeroU64;

/// `fd_advise`. Advice on what is no file changes nothing.
pub(crate) fn fd_advise(ctx: &WasiCtx, fd: u32, offset: u64, len: u64, advice: u32) -> Call {
    let advice = match advice {
        0 => Advice::Normal,
        1 => Advice::Sequential,
        2 => Advice::Random,
        3 => Advice::WillNeed,
        4 => Advice::DontNeed,
        5 => Advice::NoReuse,
        _ => return Err(Errno::Inval),
    };
    // The host takes signed values; a range beyond them is beyond any file.
    let end = i64::MAX.cast_unsigned();
    if offset > end || len > end {
        return Err(Errno::Inval);
    }
    let file = ctx.table().file(fd, Rights::FD_ADVISE)?.clone();
    rustix::fs::fadvise(file, offset, NonZeroU64::new(len), advice)?;
    Ok(())
}

/// `fd_allocate`.
pub(crate) fn fd_allocate(ctx: &WasiCtx, fd: u32, offset: u64, len: u64) -> Call {
    let file = ctx.table().file(fd, Rights::FD_ALLOCATE)?.clone();
    rustix::fs::fallocate(file, FallocateFlags::empty(), offset, len)?;
    Ok(())
}

/// `fd_close`.
pub(crate) fn fd_close(ctx: &mut WasiCtx, fd: u32) -> Call {
    ctx.table().remove(fd).map(drop)
}

/// `fd_datasync`.
pub(crate) fn fd_datasync(ctx: &WasiCtx, fd: u32) -> Call {
    let file = ctx.table().get(fd)?;
    file.allows(Rights::FD_DATASYNC)?;
    Ok(rustix::fs::fdatasync(file)?)
}

/// `fd_sync`.
pub(crate) fn fd_sync(ctx: &WasiCtx, fd: u32) -> Call {
    let file = ctx.table().get(fd)?;
    file.allows(Rights::FD_SYNC)?;
    Ok(rustix::fs::fsync(file)?)
}

/// `fd_fdstat_get`.
pub(crate) fn fd_fdstat_get(ctx: &WasiCtx, mem: &mut GuestMemory, fd: u32, stat: u32) -> Call {
    let file = ctx.table().get(fd)?;
    let flags = file.flags()?;
    let record = types::encode_fdstat(file.filetype, flags, file.base, file.inheriting);
    mem.write(stat, &record)
}

/// `fd_fdstat_set_flags`. Append and non-blocking can be changed; how writes
/// are synchronised is settled when the file is opened.
pub(crate) fn fd_fdstat_set_flags(ctx: &mut WasiCtx, fd: u32, flags: u32) -> Call {
    let flags: FdFlags = types::flags(flags)?;
    let mut table = ctx.table();
    let file = table.get_mut(fd)?;
    file.allows(Rights::FD_FDSTAT_SET_FLAGS)?;
    let fixed = FdFlags::DSYNC | FdFlags::RSYNC | FdFlags::SYNC;
    if (flags ^ file.flags()?).intersects(fixed) {
        return Err(Errno::Inval);
    }
    if file.is_inherited() {
        // Only what can be done without touching state that others share.
        if flags.contains(FdFlags::APPEND) {
            return Err(Errno::Notsup);
        }
        file.private_flags = flags;
        return Ok(());
    }
    let mut host = rustix::fs::fcntl_getfl(&file.host)?;
    host.set(OFlags::APPEND, flags.contains(FdFlags::APPEND));
    host.set(OFlags::NONBLOCK, flags.contains(FdFlags::NONBLOCK));
    Ok(rustix::fs::fcntl_setfl(&file.host, host)?)
}

/// `fd_fdstat_set_rights`: they can only be given up.
pub(crate) fn fd_fdstat_set_rights(ctx: &mut WasiCtx, fd: u32, base: u64, inheriting: u64) -> Call {
    let mut table = ctx.table();
    let file = table.get_mut(fd)?;
    let base = Rights::from_bits(base).ok_or(Errno::Notcapable)?;
    let inheriting = Rights::from_bits(inheriting).ok_or(Errno::Notcapable)?;
    if !file.base.contains(base) || !file.inheriting.contains(inheriting) {
        return Err(Errno::Notcapable);
    }
    (file.base, file.inheriting) = (base, inheriting);
    Ok(())
}

/// `fd_filestat_get`.
pub(crate) fn fd_filestat_get(
    ctx: &WasiCtx,
    mem: &mut GuestMemory,
    fd: u32,
    out: u32,
    snapshot: Snapshot,
) -> Call {
    let file = ctx.table().get(fd)?;
    file.allows(Rights::FD_FILESTAT_GET)?;
    let stat = FileStat::new(&rustix::fs::fstat(&file)?, file.filetype);
    let (record, len) = stat.encode(snapshot);
    mem.write(out, &record[..len])
}

/// `fd_filestat_set_size`.
pub(crate) fn fd_filestat_set_size(ctx: &WasiCtx, fd: u32, size: u64) -> Call {
    let file = ctx.table().file(fd, Rights::FD_FILESTAT_SET_SIZE)?.clone();
    Ok(rustix::fs::ftruncate(file, size)?)
}

/// `fd_filestat_set_times`.
pub(crate) fn fd_filestat_set_times(
    ctx: &WasiCtx,
    fd: u32,
    atim_ns: u64,
    mtim_ns: u64,
    flags: u32,
) -> Call {
    let times = timestamps(atim_ns, mtim_ns, flags)?;
    let file = ctx.table().get(fd)?;
    file.allows(Rights::FD_FILESTAT_SET_TIMES)?;
    Ok(rustix::fs::futimens(file, &times)?)
}

/// The host's form of the times and flags of a guest.
///
/// # Errors
/// `Errno::Inval` for unknown flags and for both "this" and "now".
pub(crate) fn timestamps(atim_ns: u64, mtim_ns: u64, flags: u32) -> Result<Timestamps, Errno> {
    let flags: FstFlags = types::flags(flags)?;
    let one = |ns: u64, given: FstFlags, now: FstFlags| {
        let special = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
        match (flags.contains(given), flags.contains(now)) {
            (true, true) => Err(Errno::Inval),
            (false, true) => Ok(special(UTIME_NOW)),
            (false, false) => Ok(special(UTIME_OMIT)),
            (true, false) => Ok(Timespec {
                // At most 1.8e10, and below 1e9: both fit.
                tv_sec: (ns / 1_000_000_000).cast_signed(),
                tv_nsec: (ns % 1_000_000_000).cast_signed(),
            }),
        }
    };
    Ok(Timestamps {
        last_access: one(atim_ns, FstFlags::ATIM, FstFlags::ATIM_NOW)?,
        last_modification: one(mtim_ns, FstFlags::MTIM, FstFlags::MTIM_NOW)?,
    })
}

/// `fd_renumber`.
pub(crate) fn fd_renumber(ctx: &mut WasiCtx, from: u32, to: u32) -> Call {
    ctx.table().renumber(from, to)
}

/// `fd_seek`.
pub(crate) fn fd_seek(
    ctx: &mut WasiCtx,
    mem: &mut GuestMemory,
    fd: u32,
    delta: i64,
    whence: Whence,
    out: u32,
) -> Call {
    let right = if whence == Whence::Cur && delta == 0 {
        Rights::FD_TELL
    } else {
        Rights::FD_SEEK
    };
    let file = seekable(ctx, fd, right)?;
    mem.check(out, 8)?;
    let position = match whence {
        // A negative one is the host's to refuse.
        Whence::Set => SeekFrom::Start(delta.cast_unsigned()),
        Whence::Cur => SeekFrom::Current(delta),
        Whence::End => SeekFrom::End(delta),
    };
    mem.write_u64(out, rustix::fs::seek(&*file, position)?)
}

/// `fd_tell`.
pub(crate) fn fd_tell(ctx: &mut WasiCtx, mem: &mut GuestMemory, fd: u32, out: u32) -> Call {
    let file = seekable(ctx, fd, Rights::FD_TELL)?;
    mem.write_u64(out, rustix::fs::tell(&*file)?)
}

/// A descriptor that has positions; the right to seek is a right to tell.
fn seekable(ctx: &mut WasiCtx, fd: u32, right: Rights) -> Result<Cow<'_, Descriptor>, Errno> {
    let file = ctx.file(fd, Rights::empty())?;
    match file.filetype {
        FileType::RegularFile | FileType::BlockDevice => {}
        // No terminal: the host answers as it does for a native program.
        FileType::CharacterDevice if file.base.contains(Rights::FD_TELL) => {}
        _ => return Err(Errno::Spipe),
    }
    if right == Rights::FD_TELL && file.base.contains(Rights::FD_SEEK) {
        return Ok(file);
    }
    file.allows(right)?;
    Ok(file)
}
