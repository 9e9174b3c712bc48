//! The calls, without an engine: a guest is a context, some bytes for its
//! memory, and a temporary folder preopened as descriptor 3.

mod anything;
mod files;
mod kernel;
mod paths;
mod perms;
mod polls;
mod socks;

use crate::calls::open::{OpenArgs, path_open};
use crate::calls::paths::GuestPath;
use crate::calls::{Call, file, io};
use crate::ctx::{WasiCtx, WasiCtxBuilder};
use crate::errno::Errno;
use crate::memory::GuestMemory;
use crate::perms::{DirPerms, FilePerms};
use crate::ranges::{Iovecs, Present, Resident};
use crate::types::{LookupFlags, Oflags, Rights};
use std::path::PathBuf;

/// Where results go in the guest's memory.
const OUT: u32 = 0;
/// Where lists of ranges are.
const LIST: u32 = 256;
/// Where data is.
const DATA: u32 = 1024;
/// Where paths are written, one after the other.
const PATHS: u32 = 32 << 10;

/// Writes a list of ranges, each a pointer and a length, as a guest does.
pub(crate) fn list(ranges: &[(u32, u32)], memory: &mut [u8], at: usize) {
    for (i, (ptr, len)) in ranges.iter().enumerate() {
        memory[at + i * 8..][..4].copy_from_slice(&ptr.to_le_bytes());
        memory[at + i * 8 + 4..][..4].copy_from_slice(&len.to_le_bytes());
    }
}

struct Guest {
    ctx: WasiCtx,
    bytes: Vec<u8>,
    next_path: u32,
    /// The preopened folder is `root` in it.
    temp: tempfile::TempDir,
}

impl Guest {
    fn new() -> Guest {
        Guest::with(|builder| builder)
    }

    fn with(more: impl FnOnce(WasiCtxBuilder) -> WasiCtxBuilder) -> Guest {
        Guest::in_folder(tempfile::tempdir().unwrap(), more)
    }

    fn in_folder(
        temp: tempfile::TempDir,
        more: impl FnOnce(WasiCtxBuilder) -> WasiCtxBuilder,
    ) -> Guest {
        let root = temp.path().join("root");
        std::fs::create_dir(&root).unwrap();
        let builder = WasiCtxBuilder::new()
            .preopened_dir(root, "/", DirPerms::all(), FilePerms::all())
            .unwrap();
        Guest {
            ctx: more(builder).build().unwrap(),
            bytes: vec![0; 64 << 10],
            next_path: PATHS,
            temp,
        }
    }

    /// A host path in the preopened folder.
    fn host(&self, path: &str) -> PathBuf {
        self.temp.path().join("root").join(path)
    }

    /// Puts a path into the memory, relative to the preopened folder.
    fn path(&mut self, path: &str) -> GuestPath {
        let (ptr, len) = (self.next_path, u32::try_from(path.len()).unwrap());
        self.bytes[ptr as usize..][..path.len()].copy_from_slice(path.as_bytes());
        self.next_path += len;
        if self.next_path > 60 << 10 {
            self.next_path = PATHS;
        }
        GuestPath { fd: 3, ptr, len }
    }

    /// Runs `call` on the state and the memory.
    fn call<R>(&mut self, call: impl FnOnce(&mut WasiCtx, &mut GuestMemory) -> R) -> R {
        call(&mut self.ctx, &mut GuestMemory::new(&mut self.bytes))
    }

    fn u32(&self, at: u32) -> u32 {
        u32::from_le_bytes(self.bytes[at as usize..][..4].try_into().unwrap())
    }

    fn u64(&self, at: u32) -> u64 {
        u64::from_le_bytes(self.bytes[at as usize..][..8].try_into().unwrap())
    }

    /// One range of `len` bytes at [`DATA`].
    fn range(&mut self, len: u32) -> Present<Iovecs> {
        let one = Iovecs::one(&GuestMemory::new(&mut self.bytes), DATA, len);
        one.and_then(|one| one.present(&Resident)).unwrap()
    }

    fn open(&mut self, path: &str, oflags: Oflags, base: Rights) -> Result<u32, Errno> {
        self.open_as(path, LookupFlags::SYMLINK_FOLLOW, oflags, base, 0)
    }

    fn open_as(
        &mut self,
        path: &str,
        lookup: LookupFlags,
        oflags: Oflags,
        base: Rights,
        fdflags: u32,
    ) -> Result<u32, Errno> {
        let path = self.path(path);
        let args = OpenArgs {
            fd: path.fd,
            lookup: lookup.bits(),
            path: path.ptr,
            path_len: path.len,
            oflags: u32::from(oflags.bits()),
            base: base.bits(),
            inheriting: Rights::all().bits(),
            fdflags,
        };
        self.call(|ctx, mem| path_open(ctx, mem, args, OUT))?;
        Ok(self.u32(OUT))
    }

    /// Makes a file of the guest's with all rights.
    fn create(&mut self, path: &str) -> u32 {
        let rights = Rights::REGULAR_FILE;
        self.open(path, Oflags::CREAT, rights).unwrap()
    }

    fn write(&mut self, fd: u32, data: &[u8]) -> Result<u32, Errno> {
        self.bytes[DATA as usize..][..data.len()].copy_from_slice(data);
        let range = self.range(u32::try_from(data.len()).unwrap());
        self.call(|ctx, mem| io::fd_write(ctx, mem, fd, &range, OUT))?;
        Ok(self.u32(OUT))
    }

    fn read(&mut self, fd: u32, len: u32) -> Result<Vec<u8>, Errno> {
        let range = self.range(len);
        self.call(|ctx, mem| io::fd_read(ctx, mem, fd, &range, OUT))?;
        let got = self.u32(OUT) as usize;
        Ok(self.bytes[DATA as usize..][..got].to_vec())
    }

    fn close(&mut self, fd: u32) -> Result<(), Errno> {
        file::fd_close(&mut self.ctx, fd)
    }
}
