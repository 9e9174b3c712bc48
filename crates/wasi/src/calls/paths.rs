//! Calls on a path: each acts on one directory entry, found by `path.rs`.

use super::Call;
use super::file::timestamps;
use crate::ctx::WasiCtx;
use crate::errno::Errno;
use crate::memory::GuestMemory;
use crate::path::{self, Entry};
use crate::table::Descriptor;
use crate::types::{self, FileStat, FileType, LookupFlags, Rights, Snapshot};
use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use std::borrow::Cow;
use std::os::fd::{AsFd, BorrowedFd};

/// A path of the guest: the directory it starts at, where it is, its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GuestPath {
    pub(crate) fd: u32,
    pub(crate) ptr: u32,
    pub(crate) len: u32,
}

/// A directory and the bytes of a path that starts there.
struct Lookup<'a> {
    dir: Descriptor,
    path: Cow<'a, [u8]>,
}

impl Lookup<'_> {
    /// Fails if something that is moved from here to `new` could be read or
    /// changed there and not here.
    fn moves_to(&self, new: &Lookup) -> Call {
        match self.dir.perms.cover(new.dir.perms) {
            true => Ok(()),
            false => Err(Errno::Notcapable),
        }
    }

    /// The entry that the path names.
    fn entry(&self) -> Result<Entry<'_>, Errno> {
        Entry::find(self.dir.as_fd(), &self.path)
    }
}

fn lookup<'a>(
    ctx: &WasiCtx,
    mem: &'a GuestMemory,
    at: GuestPath,
    right: Rights,
) -> Result<Lookup<'a>, Errno> {
    let dir = ctx.table().dir(at.fd, right)?;
    let path = mem.path(at.ptr, at.len)?;
    Ok(Lookup { dir, path })
}

/// The type of what is at the entry, not following it.
fn entry_type(entry: &Entry) -> Result<FileType, Errno> {
    let stat = rustix::fs::statat(entry.parent(), entry.name(), AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(type_of(&stat))
}

fn type_of(stat: &Stat) -> FileType {
    rustix::fs::FileType::from_raw_mode(stat.st_mode).into()
}

/// `path_create_directory`.
pub(crate) fn path_create_directory(ctx: &WasiCtx, mem: &GuestMemory, at: GuestPath) -> Call {
    let entry = lookup(ctx, mem, at, Rights::PATH_CREATE_DIRECTORY)?;
    let entry = entry.entry()?;
    let mode = Mode::from_raw_mode(0o777);
    Ok(rustix::fs::mkdirat(entry.parent(), entry.name(), mode)?)
}

/// `path_remove_directory`.
pub(crate) fn path_remove_directory(ctx: &WasiCtx, mem: &GuestMemory, at: GuestPath) -> Call {
    let entry = lookup(ctx, mem, at, Rights::PATH_REMOVE_DIRECTORY)?;
    let entry = entry.entry()?;
    let flags = AtFlags::REMOVEDIR;
    Ok(rustix::fs::unlinkat(entry.parent(), entry.name(), flags)?)
}

/// `path_unlink_file`.
pub(crate) fn path_unlink_file(ctx: &WasiCtx, mem: &GuestMemory, at: GuestPath) -> Call {
    let entry = lookup(ctx, mem, at, Rights::PATH_UNLINK_FILE)?;
    let entry = entry.entry()?;
    if entry.wants_dir() {
        return Err(match entry_type(&entry)? {
            FileType::Directory => Errno::Isdir,
            _ => Errno::Notdir,
        });
    }
    let flags = AtFlags::empty();
    Ok(rustix::fs::unlinkat(entry.parent(), entry.name(), flags)?)
}

/// `path_rename`.
pub(crate) fn path_rename(
    ctx: &WasiCtx,
    mem: &GuestMemory,
    old: GuestPath,
    new: GuestPath,
) -> Call {
    let old = lookup(ctx, mem, old, Rights::PATH_RENAME_SOURCE)?;
    let new = lookup(ctx, mem, new, Rights::PATH_RENAME_TARGET)?;
    old.moves_to(&new)?;
    let (old, new) = (old.entry()?, new.entry()?);
    // A folder's own name is busy, whether the other is there or not.
    let is_busy = [old.name(), new.name()].contains(&&b"."[..]);
    let wants_dir = (old.wants_dir() || new.wants_dir()) && !is_busy;
    if wants_dir && entry_type(&old)? != FileType::Directory {
        return Err(Errno::Notdir);
    }
    let (from, to) = (old.parent(), new.parent());
    Ok(rustix::fs::renameat(from, old.name(), to, new.name())?)
}

/// `path_link`. The old path's last component is not followed; asking for that
/// is `Errno::Inval`, because the host cannot do it beneath a directory.
pub(crate) fn path_link(
    ctx: &WasiCtx,
    mem: &GuestMemory,
    flags: u32,
    old: GuestPath,
    new: GuestPath,
) -> Call {
    let flags: LookupFlags = types::flags(flags)?;
    if flags.contains(LookupFlags::SYMLINK_FOLLOW) {
        return Err(Errno::Inval);
    }
    let old = lookup(ctx, mem, old, Rights::PATH_LINK_SOURCE)?;
    let new = lookup(ctx, mem, new, Rights::PATH_LINK_TARGET)?;
    old.moves_to(&new)?;
    let (old, new) = (old.entry()?, new.entry()?);
    // Whether the old one is there, is told before anything of the new one.
    if old.wants_dir() || new.wants_dir() {
        let is_dir = entry_type(&old)? == FileType::Directory;
        if old.wants_dir() && !is_dir {
            return Err(Errno::Notdir);
        }
    }
    refuse_new_dir(&new)?;
    let (from, to) = (old.parent(), new.parent());
    let flags = AtFlags::empty();
    Ok(rustix::fs::linkat(from, old.name(), to, new.name(), flags)?)
}

/// `path_symlink`. A link may point to where the guest cannot follow it; an
/// absolute target, which would mean something else to the host, is refused.
pub(crate) fn path_symlink(
    ctx: &WasiCtx,
    mem: &GuestMemory,
    target: (u32, u32),
    new: GuestPath,
) -> Call {
    let new = lookup(ctx, mem, new, Rights::PATH_SYMLINK)?;
    let new = new.entry()?;
    let target = mem.path(target.0, target.1)?;
    match target.first() {
        None => return Err(Errno::Noent),
        Some(b'/') => return Err(Errno::Notcapable),
        Some(_) => {}
    }
    refuse_new_dir(&new)?;
    Ok(rustix::fs::symlinkat(&*target, new.parent(), new.name())?)
}

/// A link cannot be made where a trailing slash asks for a directory.
fn refuse_new_dir(new: &Entry) -> Call {
    if !new.wants_dir() {
        return Ok(());
    }
    Err(match entry_type(new)? {
        FileType::Directory => Errno::Exist,
        _ => Errno::Notdir,
    })
}

/// `path_readlink`: as much of the link as fits.
pub(crate) fn path_readlink(
    ctx: &WasiCtx,
    mem: &mut GuestMemory,
    at: GuestPath,
    buf: (u32, u32),
    used: u32,
) -> Call {
    mem.check(used, 4)?;
    mem.check(buf.0, buf.1)?;
    let entry = lookup(ctx, mem, at, Rights::PATH_READLINK)?;
    let entry = entry.entry()?;
    if entry.wants_dir() {
        return Err(match entry_type(&entry)? {
            FileType::Directory | FileType::SymbolicLink => Errno::Inval,
            _ => Errno::Notdir,
        });
    }
    let link = rustix::fs::readlinkat(entry.parent(), entry.name(), Vec::new())?;
    let bytes = link.as_bytes();
    let fits = &bytes[..bytes.len().min(buf.1 as usize)];
    mem.write(buf.0, fits)?;
    mem.write_u32(
        used,
        u32::try_from(fits.len()).map_err(|_| Errno::Overflow)?,
    )
}

/// `path_filestat_get`.
pub(crate) fn path_filestat_get(
    ctx: &WasiCtx,
    mem: &mut GuestMemory,
    flags: u32,
    at: GuestPath,
    out: u32,
    snapshot: Snapshot,
) -> Call {
    let flags: LookupFlags = types::flags(flags)?;
    let Lookup { dir, path } = lookup(ctx, mem, at, Rights::PATH_FILESTAT_GET)?;
    let stat = stat(
        dir.as_fd(),
        &path,
        flags.contains(LookupFlags::SYMLINK_FOLLOW),
    )?;
    let (record, len) = FileStat::new(&stat, type_of(&stat)).encode(snapshot);
    mem.write(out, &record[..len])
}

/// The status of what `path` names. One system call when it is a plain name in
/// `dir` and no link to follow, the common case.
fn stat(dir: BorrowedFd<'_>, path: &[u8], follow: bool) -> Result<Stat, Errno> {
    if path::is_plain_name(path) {
        let stat = rustix::fs::statat(dir, path, AtFlags::SYMLINK_NOFOLLOW)?;
        if !follow || type_of(&stat) != FileType::SymbolicLink {
            return Ok(stat);
        }
    }
    Ok(rustix::fs::fstat(open_path(dir, path, follow)?)?)
}

/// Opens what `path` names only to point at it. A trailing slash follows a
/// link, as everywhere.
fn open_path(
    dir: BorrowedFd<'_>,
    path: &[u8],
    follow: bool,
) -> Result<std::os::fd::OwnedFd, Errno> {
    let mut flags = OFlags::PATH;
    flags.set(OFlags::NOFOLLOW, !follow && path.last() != Some(&b'/'));
    path::open(dir, path, flags, Mode::empty())
}

/// `path_filestat_set_times`.
pub(crate) fn path_filestat_set_times(
    ctx: &WasiCtx,
    mem: &GuestMemory,
    flags: u32,
    at: GuestPath,
    times: (u64, u64, u32),
) -> Call {
    let flags: LookupFlags = types::flags(flags)?;
    let times = timestamps(times.0, times.1, times.2)?;
    let Lookup { dir, path } = lookup(ctx, mem, at, Rights::PATH_FILESTAT_SET_TIMES)?;
    let fd = open_path(
        dir.as_fd(),
        &path,
        flags.contains(LookupFlags::SYMLINK_FOLLOW),
    )?;
    Ok(rustix::fs::utimensat(fd, c"", &times, AtFlags::EMPTY_PATH)?)
}
