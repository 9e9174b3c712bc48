//! Calls with anything for arguments: each returns, none panics, and nothing
//! outside the folder changes.

use super::*;
use crate::calls::poll::PollArgs;
use crate::calls::{args, clock, dirs, paths, poll, process, random, sock};
use crate::types::{Snapshot, Whence};

/// Calls made; enough to meet every pair of edges, a second at most.
const CALLS: usize = 30_000;

/// A small generator (xorshift64*), so that a failure repeats.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.next() % from.len() as u64).unwrap()]
    }

    fn fd(&mut self) -> u32 {
        self.pick(&[0, 1, 2, 3, 3, 3, 4, 5, 6, 7, 99, u32::MAX])
    }

    /// A pointer, often near an edge.
    fn ptr(&mut self) -> u32 {
        let near = (self.next() % 70_000) as u32;
        self.pick(&[near, near, near, 0, 65_535, 65_536, u32::MAX, u32::MAX - 7])
    }

    fn len(&mut self) -> u32 {
        let some = (self.next() % 600) as u32;
        self.pick(&[some, some, some, 0, 1, 65_536, u32::MAX])
    }

    fn flags(&mut self) -> u32 {
        let low = (self.next() % 64) as u32;
        self.pick(&[0, 0, 1, 2, 4, low, u32::MAX])
    }

    /// A size that fills no disk, or none at all.
    fn modest(&mut self) -> u64 {
        let some = self.next() % 100_000;
        self.pick(&[some, some, 0, 1, 1 << 63, u64::MAX])
    }

    /// A size or an offset.
    fn wide(&mut self) -> u64 {
        let some = self.next() % 100_000;
        self.pick(&[some, some, 0, 1, 1 << 63, u64::MAX, i64::MAX as u64])
    }

    fn path(&mut self) -> GuestPath {
        GuestPath {
            fd: self.fd(),
            ptr: self.ptr(),
            len: self.len(),
        }
    }
}

type Step = fn(&mut WasiCtx, &mut GuestMemory, &mut Dice) -> Call;

const ON_FILES: &[Step] = &[
    |c, m, d| args::args_get(c, m, d.ptr(), d.ptr()),
    |c, m, d| args::args_sizes_get(c, m, d.ptr(), d.ptr()),
    |c, m, d| args::environ_get(c, m, d.ptr(), d.ptr()),
    |c, m, d| clock::clock_time_get(c, m, d.flags(), 0, d.ptr()),
    |c, m, d| clock::clock_res_get(c, m, d.flags(), d.ptr()),
    |c, _, d| file::fd_advise(c, d.fd(), d.wide(), d.wide(), d.flags()),
    |c, _, d| file::fd_allocate(c, d.fd(), d.modest(), d.modest()),
    |c, _, d| file::fd_close(c, d.fd()),
    |c, _, d| file::fd_datasync(c, d.fd()),
    |c, m, d| file::fd_fdstat_get(c, m, d.fd(), d.ptr()),
    |c, _, d| file::fd_fdstat_set_flags(c, d.fd(), d.flags()),
    |c, m, d| file::fd_filestat_get(c, m, d.fd(), d.ptr(), Snapshot::Zero),
    |c, _, d| file::fd_filestat_set_size(c, d.fd(), d.wide()),
    |c, _, d| file::fd_filestat_set_times(c, d.fd(), d.wide(), d.wide(), d.flags()),
    |c, m, d| dirs::fd_prestat_get(c, m, d.fd(), d.ptr()),
    |c, m, d| dirs::fd_prestat_dir_name(c, m, d.fd(), d.ptr(), d.len()),
    |c, m, d| {
        dirs::fd_readdir(c, m, d.fd(), (d.ptr(), d.len()), d.wide(), d.ptr(), &|| {
            false
        })
    },
    |c, _, d| file::fd_renumber(c, d.fd().max(3), d.fd().max(3)),
    |c, m, d| file::fd_seek(c, m, d.fd(), d.wide().cast_signed(), Whence::End, d.ptr()),
    |c, m, d| file::fd_seek(c, m, d.fd(), d.wide().cast_signed(), Whence::Set, d.ptr()),
    |c, m, d| file::fd_tell(c, m, d.fd(), d.ptr()),
    |c, m, d| sock::sock_accept(c, m, d.fd(), d.flags(), d.ptr()),
    |c, _, d| sock::sock_shutdown(c, d.fd(), d.flags()),
    // Nothing that can be waited for, so that it returns.
    |c, m, d| {
        let args = PollArgs {
            input: u32::MAX,
            output: d.ptr(),
            count: d.len(),
            nevents: d.ptr(),
        };
        poll::poll_oneoff(c, m, args, Snapshot::One, &|| false)
    },
    |_, _, d| process::proc_raise(d.flags()).unwrap_or(Ok(())),
];

const ON_PATHS: &[Step] = &[
    |c, m, d| paths::path_create_directory(c, m, d.path()),
    |c, m, d| paths::path_remove_directory(c, m, d.path()),
    |c, m, d| paths::path_unlink_file(c, m, d.path()),
    |c, m, d| paths::path_rename(c, m, d.path(), d.path()),
    |c, m, d| paths::path_link(c, m, d.flags(), d.path(), d.path()),
    |c, m, d| paths::path_symlink(c, m, (d.ptr(), d.len()), d.path()),
    |c, m, d| paths::path_readlink(c, m, d.path(), (d.ptr(), d.len()), d.ptr()),
    |c, m, d| paths::path_filestat_get(c, m, d.flags(), d.path(), d.ptr(), Snapshot::One),
    |c, m, d| {
        let times = (d.wide(), d.wide(), d.flags());
        paths::path_filestat_set_times(c, m, d.flags(), d.path(), times)
    },
    |c, m, d| {
        let path = d.path();
        let args = OpenArgs {
            fd: path.fd,
            lookup: d.flags(),
            path: path.ptr,
            path_len: path.len,
            oflags: d.flags(),
            base: d.next(),
            inheriting: d.next(),
            fdflags: d.flags(),
        };
        path_open(c, m, args, d.ptr())
    },
];

/// Calls on ranges, which the binding reads before.
fn on_ranges(guest: &mut Guest, dice: &mut Dice) -> Call {
    let memory = GuestMemory::new(&mut guest.bytes);
    let ranges = Iovecs::read(&memory, dice.ptr(), dice.len(), &|| false)?;
    let ranges = ranges.present(&Resident)?;
    let (fd, out) = (dice.fd(), dice.ptr());
    let (offset, kind) = (dice.wide(), dice.next() % 7);
    guest.call(|ctx, mem| match kind {
        0 => io::fd_read(ctx, mem, fd, &ranges, out),
        1 => io::fd_pread(ctx, mem, fd, &ranges, offset, out),
        2 => io::fd_write(ctx, mem, fd, &ranges, out),
        3 => io::fd_pwrite(ctx, mem, fd, &ranges, offset, out),
        4 => sock::sock_recv(ctx, mem, fd, &ranges, 0, (out, out)),
        5 => sock::sock_send(ctx, mem, fd, &ranges, 0, out),
        _ => random::random_get(ctx, mem, &mem.checked(out, 3)?.present(&Resident)?),
    })
}

#[test]
fn anything_is_answered() {
    let mut guest = Guest::new();
    std::fs::write(guest.temp.path().join("outside"), "outside").unwrap();
    let mut dice = Dice(0x5eed);
    let (mut done, mut refused) = (0, 0);
    for call in 0..CALLS {
        // Words, so that paths and lists are sometimes meaningful.
        let at = (dice.next() % 65_000) as usize;
        let words: [&[u8]; 7] = [b"a", b"b/c", b"../outside", b"a/../b", b"\0", b"/", b"d"];
        let word = dice.pick(&words);
        guest.bytes[at..at + word.len()].copy_from_slice(word);
        if call % 1000 == 0 {
            // Whatever was closed is there again.
            let fresh = Guest::new();
            let old = std::mem::replace(&mut guest, fresh);
            let outside = old.temp.path().join("outside");
            assert_eq!(std::fs::read_to_string(outside).unwrap(), "outside");
            std::fs::write(guest.temp.path().join("outside"), "outside").unwrap();
        }
        let step = dice.next() % 10;
        let outcome = match step {
            0..3 => {
                let step = dice.pick(ON_FILES);
                guest.call(|ctx, mem| step(ctx, mem, &mut dice))
            }
            3..7 => {
                let step = dice.pick(ON_PATHS);
                guest.call(|ctx, mem| step(ctx, mem, &mut dice))
            }
            _ => on_ranges(&mut guest, &mut dice),
        };
        match outcome {
            Ok(()) => done += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(
        done > 1000 && refused > 1000,
        "{done} done, {refused} refused"
    );
}
